"""What ansible-runner starts: asks the warm process to play, else becomes ansible-playbook.

usage: launch.py SOCKET PIDS COMMAND ARGUMENT...

It starts once for each run, so it imports next to nothing: the C socket module, and no site.
Its process, and the one that the warm process forks for it, are noted in PIDS.
"""

import os
import sys
from _socket import AF_UNIX, SCM_RIGHTS, SOCK_STREAM, SOL_SOCKET, socket

LOST = 137  # the forked process was killed: what the shell says of SIGKILL


def note(path: str, pid: int) -> None:
    """Append the process and its start to the run's list; see processes.noted."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:  # noqa: PTH123
        ticks = stat.read().rpartition(") ")[2].split()[19]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, f"{pid} {ticks}\n".encode())
    os.close(descriptor)


def ask(path: str, pids: str, words: list[str]) -> int | None:
    """The exit code of the run in the warm process, or None when there is no warm process."""
    line = socket(AF_UNIX, SOCK_STREAM)
    try:
        line.connect(path)
    except OSError:
        return None
    settings = [f"{name}={value}" for name, value in os.environ.items()]
    parts = [os.getcwd(), pids, str(len(words)), *words, *settings]  # noqa: PTH109 - no pathlib here
    message = "\0".join(parts).encode("utf-8", "surrogateescape")
    descriptors = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    head = len(message).to_bytes(8, "big")
    line.sendmsg([head], [(SOL_SOCKET, SCM_RIGHTS, descriptors)])
    line.sendall(message)
    answer = line.recv(16)
    return int(answer) if answer else LOST


def main() -> int:
    """Run the command, warm or plain."""
    path, pids, *words = sys.argv[1:]
    note(pids, os.getpid())
    code = ask(path, pids, words)
    if code is None:
        os.execvp(words[0], words)  # noqa: S606 - no shell, and PATH is the run's own
    return code


if __name__ == "__main__":
    sys.exit(main())
