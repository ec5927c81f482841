"""A node holds a component's model against the site's policy before it runs it."""

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
CONTENT = "/var/lib/margrave/deployments/x/content/0123"


def _model(**service: Any) -> dict[str, Any]:
    return {"name": "p", "services": {"web": {"image": "registry.site/web:1", **service}}}


def _bind(source: str) -> dict[str, Any]:
    return _model(volumes=[{"type": "bind", "source": source, "target": "/x"}])


def test_all_findings_at_once() -> None:
    """An author learns of everything in one go, with component, place and fix."""
    with pytest.raises(ConfigError) as refused:
        _policy.check("web", _model(privileged=True, pid="host"), FOLDER, DENY)

    assert refused.value.message == (
        "components.web: services.web.pid: host is denied by host_namespaces; "
        "components.web: services.web.privileged: is denied"
    )
    assert "widen host_namespaces, privileged in the policy" in refused.value.cure


def test_the_fix_says_when_no_policy_allows_it() -> None:
    """Nobody looks for a key of the policy that does not exist."""
    with pytest.raises(ConfigError) as refused:
        _policy.check("web", _model(build={"context": "."}), FOLDER, DENY)

    assert refused.value.cure == "change the application: no policy allows this"


def test_own_files_may_be_mounted_from_any_of_their_folders() -> None:
    """Files of the package need no allowance, wherever the node keeps them."""
    _policy.check("web", _bind(f"{FOLDER}/nginx.conf"), FOLDER, DENY)
    _policy.check("web", _bind(f"{CONTENT}/nginx.conf"), (FOLDER, CONTENT), DENY)

    with pytest.raises(ConfigError, match="is not in host_paths"):
        _policy.check("web", _bind(f"{CONTENT}/nginx.conf"), FOLDER, DENY)


def test_no_path_leads_out_of_a_folder() -> None:
    """A path that climbs is refused, even into a folder that the site opened."""
    policy = {**DENY, "host_paths": ["/var/lib/margrave"]}

    with pytest.raises(ConfigError, match="is not an absolute path without"):
        _policy.check("web", _bind(f"{FOLDER}/../../../secret"), FOLDER, policy)


def test_a_stored_model_has_our_own_labels() -> None:
    """Labels that a package may not write are on everything that is stored to be run."""
    model = _model(labels={"margrave.deployment": "x", "margrave.revision": "1"})
    model["volumes"] = {"d": {"name": "p_d", "labels": {"margrave.deployment": "x"}}}

    _policy.check_stored("web", model, FOLDER, DENY)

    with pytest.raises(ConfigError, match=r"margrave\.deployment: is a label"):
        _policy.check("web", model, FOLDER, DENY)


def test_a_stored_model_is_held_against_the_policy_of_now() -> None:
    """A site that narrows its policy refuses what was stored before."""
    model = _model(labels={"margrave.deployment": "x"}, pid="host")

    _policy.check_stored("web", model, FOLDER, {**DENY, "host_namespaces": "allow"})
    with pytest.raises(ConfigError, match="pid: host is denied"):
        _policy.check_stored("web", model, FOLDER, DENY)


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
