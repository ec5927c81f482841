"""An application reaches no further into the node than the site's policy allows."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _policy
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

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


@pytest.mark.parametrize(
    "service",
    [{"build": {"context": "."}}, {"pid": "container:abc"}, {"volumes_from": ["container:abc"]}],
    ids=["build", "another's processes", "another's volumes"],
)
def test_some_ways_are_never_open(service: dict[str, Any]) -> None:
    """No policy opens building on the node or joining foreign containers."""
    everything = {"privileged": "allow", "host_namespaces": "allow", "host_paths": ["/"]}
    with pytest.raises(ConfigError):
        _check(_model(**service), **everything)


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
