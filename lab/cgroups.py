"""A control group per node, where no systemd of the host makes one.

Without it the init systems of all nodes would share the host's groups, and the stop of a service
in one node would end the service of that name in the others.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from lab.waiting import until

ROOT = Path("/sys/fs/cgroup")
TOP = "margrave-lab"


def host_has_systemd() -> bool:
    return Path("/run/systemd/system").is_dir()


def is_v1() -> bool:
    """Whether nodes have to use the old hierarchy, one tree per controller."""
    return not (ROOT / "cgroup.controllers").exists()


def hierarchies() -> list[Path]:
    """The roots of all trees: one with cgroup v2, one per controller with v1."""
    if not is_v1():
        return [ROOT]
    return sorted(
        one for one in ROOT.iterdir() if not one.is_symlink() and (one / "cgroup.procs").exists()
    )


def make(lab: str, node: str) -> list[Path]:
    """The node's group in every tree; none where the host's systemd makes scopes itself."""
    if host_has_systemd():
        return []
    groups = []
    for tree in hierarchies():
        group = tree
        for part in _place(lab, node).parts:
            _delegate(group)
            group = group / part
            group.mkdir(exist_ok=True)
            _inherit_processors(group)
        groups.append(group)
    return groups


def remove(lab: str, node: str = "") -> None:
    """Remove the groups of a node, or of the whole lab, once their processes have ended."""
    for tree in hierarchies():
        group = tree / _place(lab, node)
        if group.exists():
            until(lambda folder=group: _removed(folder), f"{group} to be empty", timeout=20)  # type: ignore[misc]
        top = tree / TOP
        if not node and top.exists() and not any(one.is_dir() for one in top.iterdir()):
            _removed(top)


def _place(lab: str, node: str) -> Path:
    """Below a tree's root; by their endings no name is a file of the kernel's (`tasks`)."""
    return Path(TOP, f"{lab}.lab", f"{node}.node" if node else "")


def _removed(group: Path) -> bool:
    try:
        for inner in group.iterdir():
            if inner.is_dir() and not _removed(inner):
                return False
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:  # busy: the last process is on its way out
        return False
    return True


def _delegate(group: Path) -> None:
    """With cgroup v2 a group below has only the controllers its parent hands on."""
    if is_v1():
        return
    for controller in (group / "cgroup.controllers").read_text().split():
        with suppress(OSError):  # in use elsewhere in the tree: the node does without
            (group / "cgroup.subtree_control").write_text(f"+{controller}")


def _inherit_processors(group: Path) -> None:
    """A new v1 cpuset starts empty and takes no process before it has processors and memory."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        file = group / name
        if is_v1() and file.exists() and not file.read_text().strip():
            file.write_text((group.parent / name).read_text())
