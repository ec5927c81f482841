"""Full listing of a node, printed as JSON; runs on the node with its own Python.

Its argument is JSON: the engine, the ids of the deployments under test and the text that
nobody may read. Each part maps a name to a value that changes when the thing changes.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import stat
import subprocess
import sys

SMALL = 64 * 1024
# Own file systems with listings of their own, or other people's storage (see `noise.py`).
SKIPPED = ("/proc", "/sys", "/dev", "/var/lib/containers", "/var/lib/docker", "/run/host")
SYSCTLS = "/proc/sys"
NAMESPACES = ("net", "pid", "ipc", "uts", "mnt")
# The default set of podman and Docker together: a container that has more was given it.
CAPABILITIES = 0xA80425FB
LABEL = "margrave.deployment"


def main() -> None:
    """Print the listing."""
    asked = json.loads(sys.argv[1])
    engine = Engine(asked["engine"])
    print(  # noqa: T201
        json.dumps(
            {
                "files": dict(files("/")),
                "devices": dict(files("/dev")),
                "volumes": dict(foreign_data(engine, asked["own"])),
                "mounts": dict(mounts("self")),
                "processes": dict(processes(engine)),
                "sysctls": dict(sysctls()),
                "links": dict(links()),
                "cgroups": dict(cgroups()),
                "objects": dict(engine.objects()),
                "reach": dict(reach(engine, asked["own"])),
                "leaks": dict(leaks(engine, asked["own"], asked["marker"])),
            }
        )
    )


class Engine:
    """The node's container engine, asked by its command."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.containers = self._inspect("container", "ps -aq")
        self.networks = self._inspect("network", "network ls -q")
        self.volumes = self._inspect("volume", "volume ls -q")

    def objects(self):
        """Containers, networks and volumes by kind and name, as what they are."""
        for one in self.containers:
            began = one["State"]["StartedAt"]
            yield f"container {container_name(one)}", [one["Id"], began, labels(one)]
        for one in self.networks:
            attached = sorted(each.get("Name") or each["name"] for each in inhabitants(one))
            yield f"network {name_of(one)}", [identity(one), labels(one), attached]
        for one in self.volumes:
            yield f"volume {one['Name']}", [one.get("CreatedAt"), labels(one), one.get("Options")]
        for line in self._lines("images --no-trunc --format {{.Repository}}:{{.Tag}}@{{.ID}}"):
            yield f"image {line}", ""

    def logs(self, container: str) -> str:
        """Output of a container, as far as the engine keeps it."""
        done = subprocess.run(
            [self.name, "logs", container], capture_output=True, text=True, errors="replace"
        )
        return done.stdout + done.stderr

    def _inspect(self, kind: str, listing: str):
        ids = self._lines(listing)
        if not ids:
            return []
        done = subprocess.run([self.name, kind, "inspect", *ids], capture_output=True, text=True)
        return json.loads(done.stdout or "[]") or []

    def _lines(self, words: str) -> list[str]:
        done = subprocess.run([self.name, *words.split()], capture_output=True, text=True)
        return sorted(set(done.stdout.split("\n")) - {""})


def container_name(one) -> str:
    return str(one["Name"]).lstrip("/")


def name_of(network) -> str:
    return str(network.get("Name") or network.get("name"))


def identity(network) -> str:
    return str(network.get("Id") or network.get("id"))


def inhabitants(network):
    return (network.get("Containers") or network.get("containers") or {}).values()


def labels(one) -> dict:
    found = one.get("Labels") or one.get("labels") or (one.get("Config") or {}).get("Labels") or {}
    return {
        key: found[key]
        for key in (LABEL, "margrave.component", "com.docker.compose.project")
        if key in found
    }


def owner(one) -> str:
    return str(labels(one).get(LABEL) or "")


def files(root: str):
    """Path and what the file is: type, mode, owner, size, times, target or hash."""
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


def foreign_data(engine: Engine, own):
    """Files in volumes of others."""
    for one in engine.volumes:
        if owner(one) not in own:
            for path, value in files(str(one["Mountpoint"])):
                yield path, value


def mounts(pid: str):
    """Mount points of a process, as what is mounted from where and how."""
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            left, _, right = line.rstrip("\n").partition(" - ")
            _number, _parent, device, root, point, options, *_tags = left.split(" ")
            kind, source, _more = right.split(" ", 2)
            yield point, [device, root, options, kind, source]


def processes(engine: Engine):
    """Processes of the node itself, by command line: those of containers are their own."""
    inside = {space(one["State"]["Pid"], "mnt") for one in engine.containers if running(one)}
    for pid in pids():
        words = command_line(pid)
        if words and space(pid, "mnt") not in inside:
            yield words, 1


def running(container) -> bool:
    return bool(container["State"].get("Pid"))


def pids():
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def command_line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def space(pid, kind: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return ""


def sysctls():
    """Every kernel setting that can be read, in the node's own namespaces."""
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
    """Network interfaces in the node's own namespace, with their addresses, and its routes."""
    for words in ("-o address", "route"):
        done = subprocess.run(["ip", *words.split()], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            yield f"{words}: {line.split('valid_lft')[0].strip()}", 1


def cgroups():
    """Control groups outside of engines' own."""
    for path in glob.glob("/sys/fs/cgroup/systemd/**/", recursive=True):
        yield path, 1


def reach(engine: Engine, own):
    """What containers of the deployments under test have beyond a plain container's, each a line."""
    for one in engine.containers:
        if owner(one) in own and running(one):
            for words in beyond(engine, one, own):
                yield f"{container_name(one)}: {words}", 1


def beyond(engine: Engine, one, own):
    pid = one["State"]["Pid"]
    for kind in NAMESPACES:
        for other, name in ((1, "the node"), *others(engine, own)):
            if space(pid, kind) == space(other, kind):
                yield f"shares the {kind} namespace of {name}"
    status = status_of(pid)
    extra = int(status.get("CapBnd", "0"), 16) & ~CAPABILITIES
    if extra:
        yield f"has capabilities {extra:#x}"
    if status.get("Seccomp") == "0":
        yield "has no seccomp filter"
    with open(f"/proc/{pid}/oom_score_adj", encoding="utf-8") as file:
        if int(file.read()) < 0:
            yield "is spared when memory is short"
    yield from mounted(engine, pid, own)
    masked = {point for point, _ in mounts(pid)}
    if "/proc/sysrq-trigger" not in masked or "/proc/kcore" not in masked:
        yield "sees unmasked parts of /proc"
    for path, value in files(f"/proc/{pid}/root/dev"):
        name = path.split("/root", 1)[1]
        if value[0][0] in "bc" and not PLAIN_DEVICE.fullmatch(name):
            yield f"has the device {name}"
    for network in engine.networks:
        if owner(network) not in own and name_of(network) not in ("none",):
            attached = {each.get("Name") or each["name"] for each in inhabitants(network)}
            if container_name(one) in attached:
                yield f"is attached to the network {name_of(network)}"


PLAIN_DEVICE = re.compile(
    r"/dev/(null|zero|full|random|urandom|tty|console|ptmx|pts/.*|shm/.*|mqueue)"
)
# Mounts that every container has, by what is mounted.
PLAIN_KINDS = ("proc", "sysfs", "tmpfs", "devpts", "mqueue", "overlay", "cgroup", "cgroup2")


def mounted(engine: Engine, pid: int, own):
    """Mounts of a container that come from neither its engine's files nor its own volumes."""
    roots = [
        *(str(each["Mountpoint"]) for each in engine.volumes if owner(each) in own),
        *(f"/var/lib/margrave/deployments/{each}" for each in own),
    ]
    for point, (device, root, _options, kind, source) in mounts(pid):
        path = path_of(device, root)
        if kind in PLAIN_KINDS and plain(point, root, kind):
            continue
        if any(path == each or path.startswith(each + "/") for each in (*roots, *ENGINES_OWN)):
            continue
        yield f"has {path} ({kind} {source}) at {point}"


ENGINES_OWN = (
    "/run/containers/storage",
    "/var/lib/containers/storage/overlay-containers",
    "/var/lib/docker/containers",
    "/run/docker",
    "/run/lock/escape-none",
)


def plain(point: str, root: str, kind: str) -> bool:
    """Whether a mount without a file behind it is where an engine puts one."""
    if kind == "overlay":
        return point == "/"
    if kind in ("proc", "sysfs", "devpts", "mqueue"):
        return point.startswith(("/proc", "/sys", "/dev"))
    if kind in ("cgroup", "cgroup2"):
        return point.startswith("/sys/fs/cgroup")
    return root == "/" or point.startswith(("/proc", "/sys", "/dev"))


HOST_MOUNTS = dict(mounts("self"))


def path_of(device: str, root: str) -> str:
    """The node's own path of what is mounted, where the node has mounted the same device."""
    best = ""
    for point, (other, other_root, *_rest) in HOST_MOUNTS.items():
        if other == device and (root == other_root or root.startswith(other_root.rstrip("/") + "/")):
            path = os.path.normpath(f"{point}/{root[len(other_root.rstrip('/')) :]}")
            if not best or len(path) < len(best):
                best = path
    return best or f"{device}:{root}"


def others(engine: Engine, own):
    return [
        (one["State"]["Pid"], container_name(one))
        for one in engine.containers
        if running(one) and owner(one) not in own
    ]


def status_of(pid: int) -> dict[str, str]:
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return {
            name: value.strip() for name, _, value in (line.partition(":") for line in file)
        }


def leaks(engine: Engine, own, marker: str):
    """Places of the deployments under test that show the text nobody may read."""
    for one in engine.containers:
        if owner(one) in own:
            if marker in json.dumps(one):
                yield f"the settings of {container_name(one)} show it", 1
            if marker in engine.logs(one["Id"]):
                yield f"the output of {container_name(one)} shows it", 1
    for ident in own:
        for path in glob.glob(f"/var/lib/margrave/deployments/{ident}/**", recursive=True):
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    if marker.encode() in file.read(SMALL):
                        yield f"{path} holds it", 1


main()
