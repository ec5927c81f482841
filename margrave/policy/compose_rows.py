"""Kinds of rows of the policy's table, and patterns of the values that rows allow."""

from __future__ import annotations

from collections import namedtuple

# kind    how `allows` is to be read: `any`, `match`, `closed`, `namespace` or `check`
# allows  a regular expression for `match` and `namespace`, the name of a judge for `check`
# opens   the key of the site's policy that allows the rest, or None where nothing does
# reason  why the rest is refused
# about   what the reference page says of the allowed values
Row = namedtuple("Row", ("kind", "allows", "opens", "reason", "about"))

ANY = Row("any", "", None, "", "anything")
AS_PRIVILEGED = "is as good as privileged, which is denied"
HOST_NAMESPACE = "reaches beyond the application, denied by host_namespaces"
FOREIGN = "belongs to another application"
NOT_FOR_NODES = "is nothing that a node runs for an application"

NAME = "[a-zA-Z0-9][a-zA-Z0-9_.-]*"
NO_CLIMBING = r"(?!(.*/)?\.\.(/|$))[^\x00-\x1f]*"
UP_TO_100 = "0*([0-9]{1,2}|100)"
NUMBER = r"\+?[0-9]+(\.[0-9]+)?"
OFF = "(?i:false|no|off|n|)"
SIZE = r"(?i:[0-9]+(\.[0-9]+)?\s?([kmgt]i?)?b?)"
MEMORY_OPTION = (
    r"((size|nr_blocks)=[0-9]+[kmgKMG%]?|(nr_)?inodes=[0-9]+[kmgKMG]?|(uid|gid)=[0-9]+|mode=[0-7]+"
    r"|rw|noexec|nosuid|nodev|noatime|nodiratime)"
)
MEMORY_OPTIONS = f"({MEMORY_OPTION}(,{MEMORY_OPTION})*)?"
TMPFS_OPTION = f"({MEMORY_OPTION}|ro|exec)"
PRIVATE_SUBNET = (
    r"10(\.[0-9]{1,3}){3}/([89]|[12][0-9]|3[0-2])"
    r"|172\.(1[6-9]|2[0-9]|3[01])(\.[0-9]{1,3}){2}/(1[2-9]|2[0-9]|3[0-2])"
    r"|192\.168(\.[0-9]{1,3}){2}/(1[6-9]|2[0-9]|3[0-2])"
    r"|(?i:f[cd][0-9a-f]{2}:[0-9a-f:]*)/(4[89]|[5-9][0-9]|1[01][0-9]|12[0-8])"
)

# A reference to a registry, so no transport of podman like `dir:/etc` or `docker-archive:/x`.
IMAGE = (
    r"((\[[0-9a-fA-F:]+\]|[a-zA-Z0-9][a-zA-Z0-9_.-]*)(:[0-9]+)?/)?"
    r"[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9]+:[0-9a-f]{32,128})?"
)
PROJECT = "[a-z0-9][a-z0-9_-]*"
DEVICE_NAME = "[a-zA-Z0-9_.-]+/[a-zA-Z0-9_.-]+=[a-zA-Z0-9_.:-]+"  # like vendor.com/class=name
BIND_OPTIONS = "r?bind(,(ro|rw|noexec|nosuid|nodev))*"
# `bridge` and `default` are the engine's own network, which containers of others share.
OWN_NETWORKS = ("", "none", "private")
BRIDGE_OPTIONS = (
    "com.docker.network.bridge.enable_icc",
    "com.docker.network.bridge.enable_ip_masquerade",
    "com.docker.network.driver.mtu",
    "isolate",
    "mtu",
)
LONGEST_GRACE = 240  # seconds; a node waits five minutes for an application to stop
DURATION_UNITS = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
# The kernel keeps these for each container, in its own network or IPC namespace.
SYSCTLS = r"net\.[a-zA-Z0-9_.-]+|kernel\.(shm[a-z_]+|msg[a-z]+|sem)|fs\.mqueue\.[a-z_]+"

# Labels by which engines, Compose and Margrave know what is whose; the one that packages may write.
RESERVED_LABELS = ("margrave.", "com.docker.compose.", "io.podman.", "io.containers.")
PACKAGE_LABELS = ("margrave.probe",)
# Capabilities that every container has anyway, so `cap_drop: [ALL]` may give them back.
COMMON_CAPABILITIES = (
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
)


def match(
    pattern: str, opens: str | None = None, reason: str = "is not allowed", about: str = ""
) -> Row:
    """Return a row for plain values that match a regular expression as a whole."""
    return Row("match", pattern, opens, reason, about or f"`{pattern}`")


def closed(opens: str | None = None, reason: str = AS_PRIVILEGED) -> Row:
    """Return a row for a key that has to be absent or empty."""
    return Row("closed", "", opens, reason, "nothing")


def check(
    function: str, opens: str | None = None, about: str = "", reason: str = "is not allowed"
) -> Row:
    """Return a row whose values a function of the check judges."""
    return Row("check", function, opens, reason, about)


def below(place: str, rows: dict[str, Row]) -> dict[str, Row]:
    """Return rows with their keys set below a place."""
    return {f"{place}.{key}": row for key, row in rows.items()}


def free(place: str, keys: str) -> dict[str, Row]:
    """Return rows for keys below a place that may hold anything."""
    return {f"{place}.{key}": ANY for key in keys.split()}


def namespace(private: str) -> Row:
    """Return a row for a namespace that is the container's own or another service's."""
    about = ", ".join(f"`{value}`" for value in private.split("|"))
    return Row(
        "namespace",
        f"{private}|",
        "host_namespaces",
        HOST_NAMESPACE,
        about.replace(f":{NAME}", ":…"),
    )
