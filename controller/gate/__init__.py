"""What may stand in the deployments repository: rules for files, and the hook that holds them.

What lives here: Git as a program (`git_command`), the rules for a file at its place (`checking`),
and the pre-receive hook with what it reads (`pre_receive`, `pushed`).
May use: margrave. Never: anything heavier, because each push waits for the hook to start.
"""
