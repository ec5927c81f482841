"""Who is asking and what they may do: roles, tokens, passwords, sign-in.

Lives here: identities, password hashing, the limit on sign-in attempts. May use: margrave, argon2,
the store. Never: routes or pages; those ask here.
"""
