"""An application reaches no further into the node than the site's policy allows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _policy
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

from controller.admission.reach import Reach
from margrave.documents.extensions import Policy

DENY: dict[str, Any] = {
    "privileged": "deny",
    "host_paths": [],
    "devices": [],
    "host_namespaces": "deny",
    "capabilities": [],
    "registries": ["*"],
}
FOLDER = "/var/lib/margrave/deployments/x/releases/y/components/web"


def _model(**service: Any) -> dict[str, Any]:
    return {"name": "p", "services": {"web": {"image": "registry.site/web:1", **service}}}


def _check(model: dict[str, Any], **policy: Any) -> None:
    _policy.check("web", model, FOLDER, {**DENY, **policy})


def _network(**network: Any) -> dict[str, Any]:
    return {"name": "p", "services": {}, "networks": {"n": {"name": "p_n", **network}}}


def _volume(options: dict[str, str], **volume: Any) -> dict[str, Any]:
    whole = {"name": "p_d", "driver_opts": options, **volume}
    return {"name": "p", "services": {}, "volumes": {"d": whole}}


CASES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (_model(privileged=True), "privileged: is denied", {"privileged": "allow"}),
    (
        _model(volumes=[{"type": "bind", "source": "/etc"}]),
        "/etc is not in host_paths",
        {"host_paths": ["/etc"]},
    ),
    (
        _model(volumes=[{"type": "bind", "source": FOLDER + "/../../../secret"}]),
        "not in host_paths",
        {"host_paths": ["/var/lib/margrave"]},
    ),
    (_model(network_mode="host"), "network_mode: host", {"host_namespaces": "allow"}),
    (_model(pid="host"), "pid: host", {"host_namespaces": "allow"}),
    (_model(cap_add=["NET_ADMIN"]), "NET_ADMIN", {"capabilities": ["CAP_NET_ADMIN"]}),
    (_model(devices=["/dev/ttyS0:/dev/x"]), "/dev/ttyS0", {"devices": ["/dev/ttyS*"]}),
    (_model(security_opt=["seccomp:unconfined"]), "as good as", {"privileged": "allow"}),
    (
        {"name": "p", "services": {}, "volumes": {"d": {"name": "other", "external": True}}},
        "other is not of this application",
        {"host_paths": ["volume:other"]},
    ),
    (
        {
            "name": "p",
            "services": {},
            "volumes": {"d": {"name": "p_d", "driver_opts": {"device": "/etc", "o": "bind"}}},
        },
        "driver_opts.device: /etc",
        {"host_paths": ["/etc"]},
    ),
    (
        {"name": "p", "services": {}, "secrets": {"s": {"file": "/etc/shadow"}}},
        "secrets.s.file: /etc/shadow",
        {"host_paths": ["/etc/shadow"]},
    ),
    (_model(image="docker.io/x"), "registry docker.io", {"registries": ["*.io"]}),
    (
        _network(name="host", external=True),
        "networks.n: host is denied by host_namespaces",
        {"host_namespaces": "allow"},
    ),
    (
        _network(name="other_default", external=True),
        "other_default is not of this application",
        {"host_paths": ["network:other_default"]},
    ),
    (
        _model(network_mode="other_default"),
        "network_mode: other_default is not of this application",
        {"host_paths": ["network:other_default"]},
    ),
    (
        _network(driver="macvlan", driver_opts={"parent": "eth0"}),
        "networks.n.driver: macvlan reaches beyond",
        {"host_namespaces": "allow"},
    ),
    (
        _network(driver_opts={"com.docker.network.bridge.name": "br0"}),
        "networks.n.driver_opts.com.docker.network.bridge.name: reaches beyond",
        {"host_namespaces": "allow"},
    ),
    (
        _network(ipam={"driver": "dhcp"}),
        "networks.n.ipam.driver: reaches beyond",
        {"host_namespaces": "allow"},
    ),
    (
        _volume({"type": "overlay", "device": "overlay", "o": "lowerdir=/etc"}),
        "volumes.d.driver_opts: overlay needs / in host_paths",
        {"host_paths": ["/"]},
    ),
    (
        _volume({"type": "nfs", "device": ":/x", "o": "addr=10.0.0.1"}),
        "volumes.d.driver_opts: nfs needs / in host_paths",
        {"host_paths": ["/"]},
    ),
    (
        _volume({"type": "overlay", "device": "/srv", "o": "lowerdir=/etc"}),
        "volumes.d.driver_opts",
        {"host_paths": ["/"]},
    ),
    (
        _volume({}, driver="sshfs"),
        "volumes.d.driver: sshfs needs / in host_paths",
        {"host_paths": ["/"]},
    ),
    (
        _model(post_start=[{"command": ["x"], "privileged": True}]),
        "post_start.privileged: is denied",
        {"privileged": "allow"},
    ),
    (
        _model(pre_start=[{"command": ["x"], "image": "docker.io/x"}]),
        "pre_start.image: registry docker.io",
        {"registries": ["*"]},
    ),
    (
        _model(security_opt=["label=type:spc_t"]),
        "security_opt: label=type:spc_t is as good as",
        {"privileged": "allow"},
    ),
    (
        _model(security_opt=["seccomp=/etc/all.json"]),
        "security_opt: seccomp=/etc/all.json is as good as",
        {"privileged": "allow"},
    ),
    (_model(runtime="other"), "runtime: is as good as", {"privileged": "allow"}),
    (_model(cgroup_parent="/"), "cgroup_parent: is as good as", {"privileged": "allow"}),
    (_model(annotations={"a": "b"}), "annotations: is as good as", {"privileged": "allow"}),
    (_model(use_api_socket=True), "use_api_socket: is as good as", {"privileged": "allow"}),
    (
        _model(logging={"driver": "k8s-file", "options": {"path": "/etc/x"}}),
        "logging.options.path: /etc/x is not in host_paths",
        {"host_paths": ["/etc"]},
    ),
]


@pytest.mark.parametrize(("model", "finding", "allowance"), CASES)
def test_reaching_out_is_refused_until_allowed(
    model: dict[str, Any], finding: str, allowance: dict[str, Any]
) -> None:
    """Each way out of the package is named, and open only by its own key of the policy."""
    strict = {"registries": ["registry.site"]}
    with pytest.raises(ConfigError) as refused:
        _check(model, **strict)

    assert finding in refused.value.message
    _check(model, **{**strict, **allowance})


def _as_written(model: dict[str, Any]) -> str:
    """The file that resolves to the model: its own networks and volumes have no names yet."""
    written = json.loads(json.dumps(model))
    for kind in ("networks", "volumes"):
        for one in written.get(kind, {}).values():
            if one["name"].startswith("p_"):
                del one["name"]
    return json.dumps(written)


@pytest.mark.parametrize(
    ("model", "finding", "allowance"), [one for one in CASES if "secrets" not in one[0]]
)
def test_a_plan_says_the_same(
    model: dict[str, Any], finding: str, allowance: dict[str, Any]
) -> None:
    """What a node refuses of the model is refused of the file already, and opened by the same."""
    strict = {"registries": ["registry.site"]}
    reach = Reach({"compose.yaml": _as_written(model)}, {})

    told = [f"{where}: {words}" for where, words in reach.beyond(Policy(**strict))]

    assert [one for one in told if finding in one], told
    assert list(reach.beyond(Policy(**{**strict, **allowance}))) == []


def test_a_folder_that_is_allowed_opens_no_other() -> None:
    """A volume of an allowed folder may not bring another one with it."""
    layered = _volume({"type": "overlay", "device": "/srv", "o": "lowerdir=/etc"})
    with pytest.raises(ConfigError, match="lowerdir=/etc needs / in host_paths"):
        _check(layered, host_paths=["/srv"])


@pytest.mark.parametrize("option", ["no-new-privileges:true", "no-new-privileges", "mask=/proc/x"])
def test_more_confinement_is_never_refused(option: str) -> None:
    """What takes something away from a service needs no allowance."""
    _check(_model(security_opt=[option]))


def test_what_is_an_applications_own_needs_no_allowance() -> None:
    """Networks and volumes of its own, also in memory or with a size of packet that fits."""
    options = {"type": "tmpfs", "device": "tmpfs", "o": "size=1m"}
    _check({**_volume(options), **_network(driver_opts={"com.docker.network.driver.mtu": "1400"})})
    _check(_model(network_mode="service:web"))
    _check(_model(network_mode="none"))


@pytest.mark.parametrize(
    "service",
    [
        {"build": {"context": "."}},
        {"pid": "container:abc"},
        {"volumes_from": ["container:abc"]},
        {"external_links": ["abc"]},
        {"provider": {"type": "any-program"}},
        {"models": ["any-model"]},
    ],
    ids=["build", "processes", "volumes", "names", "programs of the node", "AI models"],
)
def test_some_ways_are_never_open(service: dict[str, Any]) -> None:
    """No policy opens building on the node or joining foreign containers."""
    everything = {"privileged": "allow", "host_namespaces": "allow", "host_paths": ["/"]}
    with pytest.raises(ConfigError):
        _check(_model(**service), **everything)


def test_a_model_is_not_run_even_where_no_service_asks_for_it() -> None:
    """Compose hands each of a file's AI models to a program of the node."""
    with pytest.raises(ConfigError, match=r"models\.llm: a program of the node"):
        _check({**_model(), "models": {"llm": {"model": "ai/any"}}})


def test_all_findings_at_once() -> None:
    """An author learns of everything in one go."""
    with pytest.raises(ConfigError) as refused:
        _check(_model(privileged=True, pid="host"))

    assert refused.value.message.count("components.web: services.web.") == 2


def test_own_files_may_be_mounted() -> None:
    """What lies in the package may be mounted without any allowance."""
    _check(_model(volumes=[{"type": "bind", "source": FOLDER + "/nginx.conf"}]))


@pytest.mark.parametrize(
    ("image", "registry"),
    [
        ("nginx", "docker.io"),
        ("library/nginx:1", "docker.io"),
        ("registry.site:5000/a/b@sha256:0", "registry.site:5000"),
        ("localhost/a", "localhost"),
    ],
)
def test_registry_of_an_image_name(image: str, registry: str) -> None:
    """An image name means the registry that engines read in it."""
    assert registry == _policy.registry_of(image)
