"""The operator's command `margrave`: nouns and verbs over the HTTP API.

Lives here: what an operator types, how answers are shown, what an exit code means, and the
checks of `margrave lint`. May use `margrave` (documents, digests), click, rich and httpx.
Never imports another room: their own commands are found through the entry points
`margrave.commands`. Never speaks SQL, Git or Ansible.
"""
