"""The policy's table for Compose applications. Data, no logic.

Each row names a place of the resolved Compose model and what may stand there under the default
policy. `*` is any name, `[]` any item of a list, `[bind]` an item of a list whose `type` is `bind`.
What has no row is refused.
"""

from __future__ import annotations

from margrave.policy.compose_rows import (
    ANY,
    AS_PRIVILEGED,
    BRIDGE_OPTIONS,
    FOREIGN,
    HOST_NAMESPACE,
    NAME,
    NO_CLIMBING,
    NOT_FOR_NODES,
    NUMBER,
    OFF,
    PRIVATE_SUBNET,
    RESERVED_LABELS,
    TMPFS_OPTION,
    UP_TO_100,
    below,
    check,
    closed,
    free,
    match,
    namespace,
)

FLAG_OFF = match(OFF, "privileged", "is denied", "`false`")
IN_CONTAINER = match(NO_CLIMBING, None, "must not hold `..`", "a path without `..`")
LABEL = check("labels", None, "any label but " + ", ".join(f"`{p}…`" for p in RESERVED_LABELS))
OBJECT_NAME = match(NAME, None, "is not a plain name", "letters, digits, `_`, `.`, `-`")
DEVICE = check("device", "devices", "a path that matches a pattern of `devices`")
FILE = check("path", "host_paths", "a file of the package, or a path below one of `host_paths`")
REPLICAS = match(UP_TO_100, None, "is more than 100", "up to 100")
GPUS = closed("devices", "needs * in devices")
HOOK = {
    "command": ANY,
    "environment": ANY,
    "image": check("image", "registries", "an image of an allowed registry"),
    "per_replica": ANY,
    "privileged": FLAG_OFF,
    "user": ANY,
    "working_dir": ANY,
}
LOG_OPTIONS = (
    "cache-disabled",
    "compress",
    "env",
    "env-regex",
    "labels",
    "labels-regex",
    "max-file",
    "max-size",
    "mode",
)

SERVICE = {
    **free(
        "services.*",
        "attach command cpu_count cpu_percent cpu_period cpu_quota cpu_shares cpus cpuset"
        " depends_on develop dns dns_opt dns_search domainname entrypoint env_file"
        " environment expose extra_hosts hostname init label_file mac_address mem_limit"
        " mem_reservation mem_swappiness memswap_limit pids_limit platform profiles"
        " pull_refresh_after read_only restart shm_size stdin_open"
        " stop_signal tty user working_dir",
    ),
    **free("services.*.healthcheck", "disable interval retries start_interval start_period test"),
    "services.*.healthcheck.timeout": ANY,
    **free("services.*.ports[]", "app_protocol host_ip mode name protocol published target"),
    **free(
        "services.*.networks.*",
        "aliases gw_priority interface_name ipv4_address ipv6_address link_local_ips mac_address"
        " priority",
    ),
    **free("services.*.deploy", "endpoint_mode mode placement restart_policy"),
    **free("services.*.deploy", "rollback_config update_config"),
    **free("services.*.deploy.resources.limits", "cpus memory pids"),
    **free("services.*.deploy.resources.reservations", "cpus generic_resources memory pids"),
    "services.*": check("service", None, "a service with an image"),
    "services.*.annotations": closed("privileged"),
    "services.*.blkio_config.weight": ANY,
    "services.*.blkio_config.weight_device[].path": DEVICE,
    "services.*.blkio_config.weight_device[].weight": ANY,
    "services.*.blkio_config.weight_device[].Path": DEVICE,
    "services.*.blkio_config.weight_device[].Weight": ANY,
    "services.*.build": closed(None, "nodes do not build; push an image and name it"),
    "services.*.cap_add[]": check(
        "capability", "capabilities", "what every container has, or one of `capabilities`"
    ),
    "services.*.cap_drop[]": ANY,
    "services.*.cgroup": namespace("private"),
    "services.*.cgroup_parent": closed("privileged"),
    "services.*.container_name": OBJECT_NAME,
    "services.*.cpu_rt_period": closed("privileged"),
    "services.*.cpu_rt_runtime": closed("privileged"),
    "services.*.credential_spec": closed(None, NOT_FOR_NODES),
    "services.*.deploy.labels": LABEL,
    "services.*.deploy.replicas": REPLICAS,
    "services.*.deploy.resources.reservations.devices": GPUS,
    "services.*.device_cgroup_rules": GPUS,
    "services.*.devices[]": check("device_entry", "devices", DEVICE.about),
    "services.*.devices[].permissions": match("[rwm]{1,3}", None, "is not rwm", "`rwm`"),
    "services.*.devices[].source": DEVICE,
    "services.*.devices[].target": IN_CONTAINER,
    "services.*.external_links": closed(None, FOREIGN),
    "services.*.gpus": GPUS,
    "services.*.group_add[]": match(
        "(?!keep-groups$)[a-zA-Z0-9_.-]+", "privileged", AS_PRIVILEGED, "anything but `keep-groups`"
    ),
    "services.*.image": HOOK["image"],
    "services.*.ipc": namespace(f"none|private|shareable|service:{NAME}"),
    "services.*.isolation": match("default|", None, NOT_FOR_NODES, "`default`"),
    "services.*.labels": LABEL,
    "services.*.links[]": check("service_name", None, "a service of the application"),
    "services.*.logging.driver": match(
        "journald|json-file|k8s-file|local|none|",
        "privileged",
        "is not journald, json-file, k8s-file, local or none, and privileged is denied",
        "`journald`, `json-file`, `k8s-file`, `local`, `none`",
    ),
    **below(
        "services.*.logging.options",
        {option: match("[^\\x00-\\x1f]*", None, "is no line", "text") for option in LOG_OPTIONS},
    ),
    # The engine keeps this in its own memory, and runs the template with functions that fill it.
    "services.*.logging.options.max-buffer-size": match(
        r"(?i:[0-9]{1,5}k?b?|[0-9]{1,2}mb?)", "privileged", "is more than 99m", "up to `99m`"
    ),
    "services.*.logging.options.tag": match(
        r"([^{\x00-\x1f]|\{\{ ?\.[a-zA-Z]+ ?\}\})*",
        "privileged",
        "has more than text and fields of the container, and privileged is denied",
        "text with fields like `{{.Name}}`",
    ),
    "services.*.logging.options.path": check(
        "host_path", "host_paths", "a path below one of `host_paths`"
    ),
    "services.*.logging.options.*": closed("privileged"),
    "services.*.models": closed(None, NOT_FOR_NODES),
    "services.*.network_mode": check(
        "network_mode", "host_namespaces", "`none`, `private`, `service:…`"
    ),
    "services.*.networks.*.driver_opts": closed("host_namespaces", HOST_NAMESPACE),
    "services.*.oom_kill_disable": match(OFF, "privileged", AS_PRIVILEGED, "`false`"),
    "services.*.oom_score_adj": match(NUMBER, "privileged", AS_PRIVILEGED, "0 or more"),
    "services.*.pid": namespace(f"private|service:{NAME}"),
    "services.*.privileged": FLAG_OFF,
    "services.*.provider": closed(None, NOT_FOR_NODES),
    "services.*.pull_policy": match(
        "always|never|missing|if_not_present|refresh|daily|weekly|every_[0-9wdhms]+|",
        None,
        "nodes do not build; push an image and name it",
        "anything but `build`",
    ),
    "services.*.runtime": closed("privileged"),
    "services.*.scale": REPLICAS,
    "services.*.security_opt[]": match(
        # Of `seccomp=builtin`, too, some versions of Compose read a file of the package.
        r"(no-new-privileges|mask)([:=].*)?",
        "privileged",
        AS_PRIVILEGED,
        "`no-new-privileges`, `mask=…`",
    ),
    "services.*.stop_grace_period": check("grace", None, "up to 4 minutes"),
    "services.*.storage_opt.size": ANY,
    "services.*.sysctls.*": check(
        "sysctl", "privileged", "`net.…`, and what belongs to a container's own IPC namespace"
    ),
    "services.*.tmpfs[]": match(
        rf"(?!.*\.\.)/[^:\x00-\x1f]*(:({TMPFS_OPTION}(,{TMPFS_OPTION})*)?)?",
        "privileged",
        "has options that a container's own memory does not need, and privileged is denied",
        "a path, with `size`, `mode`, `uid`, `gid`, `ro`, `rw`, `exec`, `noexec`, `nosuid`,"
        " `nodev`",
    ),
    "services.*.ulimits.*": ANY,
    "services.*.ulimits.nice": closed("privileged"),
    "services.*.ulimits.rtprio": closed("privileged"),
    "services.*.use_api_socket": match(OFF, "privileged", AS_PRIVILEGED, "`false`"),
    "services.*.userns_mode": namespace("auto|private"),
    "services.*.uts": namespace("private"),
    "services.*.volumes_from[]": check("volumes_from", None, "a service of the application"),
}
for hook in ("pre_start", "post_start", "pre_stop"):
    SERVICE.update(below(f"services.*.{hook}[]", HOOK))
for limit in ("device_read_bps", "device_read_iops", "device_write_bps", "device_write_iops"):
    # Compose writes these two with a capital in what it resolves, and reads them without.
    for path, rate in (("path", "rate"), ("Path", "Rate")):
        SERVICE[f"services.*.blkio_config.{limit}[].{path}"] = DEVICE
        SERVICE[f"services.*.blkio_config.{limit}[].{rate}"] = ANY
for kind in ("configs", "secrets"):
    SERVICE.update(free(f"services.*.{kind}[]", "gid mode uid"))
    SERVICE[f"services.*.{kind}[].source"] = check("declared_name", None, f"one of `{kind}`")
    SERVICE[f"services.*.{kind}[].target"] = IN_CONTAINER

MOUNTS = {
    "services.*.volumes[bind].bind.create_host_path": ANY,
    "services.*.volumes[bind].bind.propagation": match(
        "r?private|", "privileged", AS_PRIVILEGED, "`rprivate`, `private`"
    ),
    "services.*.volumes[bind].bind.recursive": ANY,
    "services.*.volumes[bind].bind.selinux": match("[zZ]|", None, "is not z or Z", "`z`, `Z`"),
    "services.*.volumes[bind]": check(
        "bind", "privileged", "`selinux` for files of the package only: it relabels what it names"
    ),
    "services.*.volumes[bind].source": check(
        "path",
        "host_paths",
        "a file or folder of the package (mounted read-only), or a path below one of `host_paths`",
    ),
    "services.*.volumes[volume].source": check("declared_name", None, "one of `volumes`"),
    "services.*.volumes[volume].volume.labels": LABEL,
    "services.*.volumes[volume].volume.nocopy": ANY,
    "services.*.volumes[volume].volume.subpath": match(
        "(?!/)" + NO_CLIMBING,
        None,
        "has to be relative, without ..",
        "a relative path without `..`",
    ),
    **free("services.*.volumes[tmpfs].tmpfs", "mode size"),
}
for mount in ("bind", "volume", "tmpfs"):
    MOUNTS[f"services.*.volumes[{mount}].type"] = ANY
    MOUNTS[f"services.*.volumes[{mount}].target"] = IN_CONTAINER
    MOUNTS.update(free(f"services.*.volumes[{mount}]", "consistency read_only"))

NETWORKS = {
    **free("networks.*", "attachable enable_ipv4 enable_ipv6 external internal"),
    "networks.*": check(
        "network", "host_paths", "a network of the application, or one that `network:NAME` allows"
    ),
    "networks.*.name": OBJECT_NAME,
    "networks.*.driver": match("bridge|", "host_namespaces", HOST_NAMESPACE, "`bridge`"),
    "networks.*.driver_opts.*": check(
        "bridge_option",
        "host_namespaces",
        ", ".join(f"`{option}`" for option in BRIDGE_OPTIONS),
        HOST_NAMESPACE,
    ),
    "networks.*.ipam.driver": match(
        "default|host-local|", "host_namespaces", HOST_NAMESPACE, "`default`, `host-local`"
    ),
    "networks.*.ipam.options": closed("host_namespaces", HOST_NAMESPACE),
    "networks.*.ipam.config[].subnet": match(
        PRIVATE_SUBNET,
        "host_namespaces",
        "is not a private network, so it would take the node's routes to others; denied by"
        " host_namespaces",
        "a private network: in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, or a /48 and longer in"
        " fc00::/7",
    ),
    **free("networks.*.ipam.config[]", "aux_addresses gateway ip_range"),
    "networks.*.labels": LABEL,
}
VOLUMES = {
    "volumes.*": check(
        "volume", "host_paths", "a volume of the application, or one that `volume:NAME` allows"
    ),
    "volumes.*.name": OBJECT_NAME,
    "volumes.*.external": ANY,
    "volumes.*.driver": match("local|", "host_paths", "needs / in host_paths", "`local`"),
    "volumes.*.driver_opts": check(
        "volume_options",
        "host_paths",
        "memory (`type: tmpfs`) or a plain volume with `size`, `mode`, `uid`, `gid`, `nr_inodes`,"
        " `noexec`, `nosuid`, `nodev`; or a bind mount of a path below one of `host_paths`",
    ),
    "volumes.*.labels": LABEL,
}
FILES = {}
for kind in ("configs", "secrets"):
    FILES[f"{kind}.*.name"] = OBJECT_NAME
    FILES[f"{kind}.*.content"] = ANY
    FILES[f"{kind}.*.environment"] = ANY
    FILES[f"{kind}.*.file"] = FILE
    FILES[f"{kind}.*.external"] = match(OFF, None, "is not of this application", "`false`")
    FILES[f"{kind}.*.labels"] = LABEL
    for key in ("driver", "driver_opts", "template_driver"):
        FILES[f"{kind}.*.{key}"] = closed(None, NOT_FOR_NODES)

TABLE = {
    "name": check(
        "project_name", None, "the deployment's own project; what is written is not used"
    ),
    "version": ANY,
    "models": closed(None, NOT_FOR_NODES),
    **SERVICE,
    **MOUNTS,
    **NETWORKS,
    **VOLUMES,
    **FILES,
}
