"""Differences between two listings of a node, without the noise that every node makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Listing = Mapping[str, Mapping[str, Any]]

# Differences that packages do not cause, each with its reason. Patterns match whole names.
NOISE: Mapping[str, Mapping[str, str]] = {
    "files": {
        r"/var/lib/margrave(/deployments|/fences)?": "a folder's time changes with its entries",
        r"/var/lib/margrave/fence\.json": "the claim of the node by a runner",
        r"/run/margrave(-.*|/.*)?": "locks, notes and the code of calls",
        r"/var/log/journal/.*|/run/log/journal/.*|/run/systemd/journal/.*": "the journal",
        r"/var/log/(wtmp|lastlog|btmp)|/run/utmp|/var/lib/wtmpdb/.*": "logins by SSH",
        r"/run/motd\.dynamic|/run/systemd/(sessions|users)(/.*)?|/run/user(/.*)?": "logins by SSH",
        r"/run/systemd/transient(/.*)?|/run/systemd/units(/.*)?": "health checks are timers",
        r"/run/(containers|libpod|crun|runc|netns|docker|containerd)(/.*)?": "engines' own state",
        r"/run|/tmp|/root|/root/\.ansible(/.*)?|/tmp/(ansible|\.ansible).*": "calls by Ansible",
        r"/tmp/runc-process\d+": "a health check that runc starts",
        r"/(run/lock|tmp)/.*(netavark|podman|aardvark).*": "engines' own locks",
        r"/var/lib/cni(/.*)?|/opt/containerd(/.*)?|/var/log/(pods|containers)(/.*)?": (
            "engines' own state and logs"
        ),
        r"/etc/containers/networks(/.*)?": "definitions of podman's networks, compared as objects",
    },
    "devices": {r"/dev/(pts/.*|char|shm|shm/.*|mqueue)": "terminals and shared memory of logins"},
    "mounts": {
        r"/run/(containers|netns|docker|user)/.*": "mounts of engines and logins",
        r"/(var/lib/(containers|docker|kubelet)|run/containerd)/.*": "mounts of engines",
        r"/run/credentials/.*": "services that start",
    },
    "processes": {
        r"sshd.*|sftp-server.*|/usr/lib/openssh.*|.*python3 - .*|.*python3 .*ansible.*|\(sd-.*": (
            "calls by SSH"
        ),
        r"/usr/lib/systemd/systemd.*|\(systemd.*|/usr/bin/dbus-daemon.*": "the node's own",
        r"/usr/bin/podman .*system service.*": "podman's service starts when it is asked",
        r"/usr/bin/(conmon|containerd-shim.*|docker-proxy) .*": "one per container or port",
        r".*/(aardvark-dns|netavark) .*|/usr/sbin/docker-proxy .*": "names on a bridge, ports",
        r"/usr/bin/containerd-shim-runc-v2.*|/usr/bin/docker-init.*": "one per container",
        r"/usr/bin/podman (healthcheck|container cleanup) .*": "health checks and ended containers",
        r"runc init|/usr/bin/runc.*|/usr/bin/crun.*|catatonit.*|podman .*": "engines at work",
    },
    "sysctls": {
        r"kernel/ns_last_pid|kernel/random/.*|fs/(dentry|inode|file|aio).*": "counters",
        r"net/(ipv[46]|netfilter|nf_conntrack).*/(conf|neigh)/.*": "settings of single interfaces",
        r"net/netfilter/.*|net/nf_conntrack.*": "the machine's connections are tracked as needed",
        r"net/ipv[46]/(conf/all/forwarding|conf/default/.*|ip_forward|conf/all/.*)": (
            "engines switch forwarding on with the first network"
        ),
        r"kernel/pty/nr|fs/quota/.*|fs/binfmt_misc.*|vm/stat_refresh": "counters",
    },
    "links": {
        r".*\b(podman\d+|br-[0-9a-f]{12}|veth[0-9a-z]+|docker0|fe80::).*": "engines' bridges"
    },
    "cgroups": {
        r".*/k8s\.io/[0-9a-f]{64}/?": "one per container",
        r".*(libpod|docker|machine\.slice|user\.slice|session-|\.timer|podman|crun).*": (
            "one per container, login and health check"
        ),
        r".*/init\.scope.*": "the service manager's own",
        r"/sys/fs/cgroup/systemd/(system\.slice/.*\.(service|scope|socket|mount)/?.*)": "services",
    },
    "objects": {},
    "volumes": {},
    "reach": {
        r".*: has /usr/(bin|libexec/podman)/(tini-static|docker-init|catatonit) \([a-z]+ [a-z]+\)"
        r" at /(sbin/docker-init|run/podman-init)": "the engines' own first process (init: true)",
    },
    "leaks": {},
}
_COMPILED = {part: re.compile("|".join(known) or "$^") for part, known in NOISE.items()}


def between(before: Listing, after: Listing, own: Sequence[str]) -> list[str]:
    """Lines about everything that differs outside of these deployments' own objects."""
    return [
        f"{part}: {name}: {words}"
        for part in after
        for name, words in _of_part(part, before.get(part, {}), after[part], own)
        if not _COMPILED[part].fullmatch(name)
    ]


def started(after: Listing, own: Sequence[str]) -> list[str]:
    """Objects of the engine that belong to these deployments."""
    return [name for name, value in after["objects"].items() if value[0] in own]


def _of_part(
    part: str, before: Mapping[str, Any], after: Mapping[str, Any], own: Sequence[str]
) -> Iterator[tuple[str, str]]:
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new or _is_own(part, name, old, new, own):
            continue
        if old is None:
            yield name, "appeared"
        elif new is None:
            yield name, "vanished"
        else:
            yield name, f"was {old}, is {new}"


def _is_own(part: str, name: str, old: Any, new: Any, own: Sequence[str]) -> bool:
    """Tell whether a thing belongs to one of the deployments under test, before and after."""
    if part == "objects":
        return all(value[0] in own for value in (old, new) if value is not None)
    return part == "files" and any(_of_deployment(name, ident) for ident in own)


def _of_deployment(path: str, ident: str) -> bool:
    roots = (f"/var/lib/margrave/deployments/{ident}", f"/var/lib/margrave/fences/{ident}")
    return any(path == root or path.startswith((f"{root}/", f"{root}.")) for root in roots)
