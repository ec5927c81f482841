"""Listings that need no engine: files, mounts, processes, kernel settings, network, and reach."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import stat
import subprocess

SMALL = 64 * 1024
# File systems with listings of their own, and other programs' storage.
SKIPPED = (
    "/proc", "/sys", "/dev", "/run/host",
    "/var/lib/containers", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet",
    "/var/lib/etcd",
)  # fmt: skip
SYSCTLS = "/proc/sys"
NAMESPACES = ("net", "pid", "ipc", "uts", "mnt")
# The default set of podman, Docker and containerd together: who has more was given it.
CAPABILITIES = 0xA80425FB
SITE = "10.66.0.1"  # stands for another network of the site
LIMITS = ("Max nice priority", "Max realtime priority")
# Paths that every engine puts something over, of those that a node of the lab has.
MASKED = {"/proc/keys", "/proc/sys", "/sys/firmware"}
PLAIN_DEVICE = re.compile(
    r"/dev/(null|zero|full|random|urandom|tty|console|ptmx|pts/.*|shm/.*|mqueue|termination-log)"
)


def files(root: str):
    """Yield each path below the root with type, mode, owner, size, time, content."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if root == "/" and entry.path in SKIPPED:
                continue
            try:
                yield entry.path, described(entry)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
            except OSError:
                continue


def described(entry) -> list:
    """Describe a file so that every change of it shows."""
    info = entry.stat(follow_symlinks=False)
    found = [stat.filemode(info.st_mode), info.st_uid, info.st_gid]
    if stat.S_ISLNK(info.st_mode):
        return [*found, os.readlink(entry.path)]
    if stat.S_ISCHR(info.st_mode) or stat.S_ISBLK(info.st_mode):
        return [*found, info.st_rdev]
    if stat.S_ISREG(info.st_mode):
        found += [info.st_size, info.st_mtime_ns]
        if info.st_size <= SMALL:
            with open(entry.path, "rb") as file:
                found.append(hashlib.sha256(file.read()).hexdigest())
    return found


def mounts(pid):
    """Yield the mount points of a process: what is mounted from where and how."""
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            left, _, right = line.rstrip("\n").partition(" - ")
            _number, _parent, device, root, point, options, *_tags = left.split(" ")
            kind, source, _more = right.split(" ", 2)
            yield point, [device, root, options, kind, source]


def processes(containers: set):
    """Yield the node's own processes by command line: those in these mount namespaces are not."""
    listing = (os.getpid(), os.getppid())
    for pid in pids():
        words = command_line(pid)
        if words and pid not in listing and space(pid, "mnt") not in containers:
            yield words, 1


def pids():
    """Yield the numbers of all processes."""
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def command_line(pid: int) -> str:
    """Return a process' words; empty for a kernel thread or one that has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def space(pid, kind: str) -> str:
    """Return the identity of a process' namespace; empty when it has ended."""
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return ""


def sysctls():
    """Yield every kernel setting that can be written, in the node's own namespaces."""
    for folder, _folders, names in os.walk(SYSCTLS):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if os.stat(path).st_mode & 0o222:
                    with open(path, "rb") as file:
                        yield path[len(SYSCTLS) + 1 :], file.read(4096).decode("utf-8", "replace")
            except OSError:
                continue


def links():
    """Yield the addresses and routes of the node's own network."""
    for words in ("-o address", "route"):
        done = subprocess.run(["ip", *words.split()], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            yield f"{words}: {line.split('valid_lft')[0].strip()}", 1
    done = subprocess.run(["ip", "route", "get", SITE], capture_output=True, text=True)
    yield f"way to {SITE}", done.stdout.split("uid")[0].strip()


def cgroups():
    """Yield the control groups."""
    for path in glob.glob("/sys/fs/cgroup/systemd/**/", recursive=True):
        yield path, 1


class Reach:
    """Rights of a container beyond a plain one's; `others` are processes of other deployments."""

    def __init__(self, others, roots, *, filtered: bool) -> None:
        self._others = [(1, "the node"), *others]
        self._roots = tuple(roots)  # paths of the node that its mounts may come from
        self._filtered = filtered  # whether the engine gives a filter of system calls by itself
        self._host = dict(mounts("self"))

    def of(self, pid: int):
        """Yield a line about everything that the process should not have."""
        yield from self._rights(pid)
        for kind in NAMESPACES:
            for other, name in self._others:
                if space(pid, kind) == space(other, kind):
                    yield f"shares the {kind} namespace of {name}"
        yield from self._mounted(pid)
        for path in sorted(MASKED - {point for point, _ in mounts(pid)}):
            yield f"sees {path} unmasked"
        for path, value in files(f"/proc/{pid}/root/dev"):
            name = path.split("/root", 1)[1]
            if value[0][0] in "bc" and not PLAIN_DEVICE.fullmatch(name):
                yield f"has the device {name}"

    def _rights(self, pid: int):
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            status = {key: text.strip() for key, _, text in (line.partition(":") for line in file)}
        extra = int(status.get("CapBnd", "0"), 16) & ~CAPABILITIES
        if extra:
            yield f"has capabilities {extra:#x}"
        if self._filtered and status.get("Seccomp") == "0":
            yield "has no filter of system calls"
        with open(f"/proc/{pid}/oom_score_adj", encoding="utf-8") as file:
            if int(file.read()) < 0:
                yield "is spared when memory is short"
        with open(f"/proc/{pid}/limits", encoding="utf-8") as file:
            for line in file:
                name = line[:25].strip()
                if name in LIMITS and line[25:].split()[:2] != ["0", "0"]:
                    yield f"has another limit: {name}"

    def _mounted(self, pid: int):
        for point, (device, root, _options, kind, source) in mounts(pid):
            if plain(point, root, kind):
                continue
            path = self._path(device, root)
            if not any(path == top or path.startswith(top + "/") for top in self._roots):
                yield f"has {path} ({kind} {source}) at {point}"

    def _path(self, device: str, root: str) -> str:
        """Return the node's shortest path of what is mounted."""
        found = []
        for point, (other, top, *_rest) in self._host.items():
            top = top.rstrip("/")
            if other == device and (root.startswith(top + "/") or root == top):
                found.append(os.path.normpath(f"{point}/{root[len(top) :]}"))
        return min(found, key=len, default=f"{device}:{root}")


def plain(point: str, root: str, kind: str) -> bool:
    """Tell whether a mount is one that every container has, without a file behind it."""
    if kind == "overlay":
        return point == "/"
    if kind in ("proc", "sysfs", "devpts", "mqueue"):
        return point.startswith(("/proc", "/sys", "/dev"))
    if kind in ("cgroup", "cgroup2"):
        return point.startswith("/sys/fs/cgroup")
    return kind == "tmpfs" and (root == "/" or point.startswith(("/proc", "/sys", "/dev")))
