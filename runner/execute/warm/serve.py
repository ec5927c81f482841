"""The warm process: imports Ansible once, then forks for each run that a launcher hands over.

usage: serve.py SOCKET

Measured: what a run pays for imports, plugin loading and settings is paid here, once. Settings
are read at import, so a changed environment means a new process. It ends with its parent.
"""

from __future__ import annotations

import array
import contextlib
import gc
import os
import select
import signal
import socket
import sys
from pathlib import Path

# Each run's own: everything else in the environment is the same as at import.
FDS = 3
# What Ansible takes along where it finds it, thirteen megabytes: another way to nodes than ours,
# the ciphers of its vault, which holds nothing of ours, OpenSSL's digests beside Python's own, and
# the size of a terminal. It goes without where they are missing.
UNUSED = ("paramiko", "cryptography", "_hashlib", "_curses")
KINDS = ("prefetch", "install", "update", "rollback", "delete")


def main() -> None:
    """Warm up, then serve until the parent's end of our standard input closes."""
    path = Path(sys.argv[1])
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    warm_up()
    # Children end by themselves; nobody waits for them, the launcher learns the code by the line.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    gc.freeze()  # what is in memory now stays shared with every fork
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    listener.bind(str(fresh))
    listener.listen(64)
    fresh.rename(path)  # who sees the socket can use it
    # Standard input is a pipe from the runner: it becomes readable when the runner is gone.
    while 0 not in select.select([listener.fileno(), 0], [], [])[0]:
        line, _ = listener.accept()
        with line:
            if os.fork() == 0:
                listener.close()
                serve(line)


def warm_up() -> None:
    """Import what each run needs."""
    for name in UNUSED:
        sys.modules[name] = None  # type: ignore[assignment] # as if it were not installed
    from ansible.plugins.loader import (
        action_loader,
        become_loader,
        callback_loader,
        connection_loader,
        init_plugin_loader,
        inventory_loader,
        shell_loader,
        strategy_loader,
        vars_loader,
    )

    init_plugin_loader()
    list(shell_loader.all(class_only=True))
    # After the first plugin: what Ansible's table of modules left free when it had been read is
    # filled by this import, a megabyte and a half of it.
    from ansible.cli import playbook  # noqa: F401 - the import is the work

    # Every play lists these whole to read their options, which is a third of a run's own time.
    for loader in (connection_loader, become_loader, vars_loader):
        list(loader.all(class_only=True))
    for loader, name in (
        (callback_loader, "ansible.builtin.default"),
        (callback_loader, "ansible.builtin.junit"),  # listed by each run, and slow to import
        (strategy_loader, "ansible.builtin.linear"),
        (connection_loader, "ansible.builtin.ssh"),
        (shell_loader, "ansible.builtin.sh"),
        (become_loader, "ansible.builtin.sudo"),
        (inventory_loader, "ansible.builtin.yaml"),
        (action_loader, "ansible.builtin.normal"),
        *((action_loader, f"margrave.edge.workload_{kind}") for kind in KINDS),
    ):
        loader.get(name, class_only=True)
    from ansible_collections.margrave.edge.plugins.plugin_utils.node_code import node_code

    node_code()  # reads and packs the collection's code, once for all runs


def serve(line: socket.socket) -> None:
    """In the fork: become the run that the launcher described, and tell its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    code = 250
    try:
        words = take_over(line)
        code = play(words)
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
            line.sendall(str(code).encode())
        os._exit(code)


def take_over(line: socket.socket) -> list[str]:
    """Folder, environment and the three standard descriptors of the launcher; its command."""
    head, descriptors = receive_head(line)
    message = b""
    wanted = int.from_bytes(head, "big")
    while len(message) < wanted:
        message += line.recv(wanted - len(message)) or exit_lost()
    folder, pids, count, *rest = message.decode("utf-8", "surrogateescape").split("\0")
    note(pids)
    os.chdir(folder)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    words, settings = rest[: int(count)], rest[int(count) :]
    os.environ.clear()
    for one in settings:
        name, _, value = one.partition("=")
        os.environ[name] = value
    return words


def receive_head(line: socket.socket) -> tuple[bytes, list[int]]:
    """The first eight bytes, which carry the descriptors."""
    descriptors = array.array("i")
    head, ancillary, _, _ = line.recvmsg(8, socket.CMSG_SPACE(FDS * descriptors.itemsize))
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(data[: FDS * descriptors.itemsize])
    return head, list(descriptors)


def exit_lost() -> bytes:
    """The launcher is gone before it said all: nothing to do."""
    os._exit(1)


def note(path: str) -> None:
    """Write this process into the run's list, as the launcher does with its own."""
    ticks = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(") ")[2].split()[19]
    with Path(path).open("a", encoding="ascii") as file:
        file.write(f"{os.getpid()} {ticks}\n")


def play(words: list[str]) -> int:
    """ansible-playbook's own main, its exit taken as a number."""
    import ansible.cli
    from ansible.cli import playbook

    # warm_up has done it; a second time only warns.
    ansible.cli.init_plugin_loader = lambda *_: None
    sys.argv = words
    try:
        playbook.main(words)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


if __name__ == "__main__":
    main()
