# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a call asks for, checked: no name from outside becomes a path or a word unchecked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ansible_collections.margrave.edge.plugins.module_utils._digests import sha256
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._fence import Fence
from ansible_collections.margrave.edge.plugins.module_utils._masking import secrets_of, texts_in
from ansible_collections.margrave.edge.plugins.module_utils._record import (
    as_dict,
    field,
    record,
    replace,
)
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
RELEASE = re.compile(r"[0-9a-f]{64}")
# Kubernetes' own rule for the name of a namespace.
NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
REPOSITORY = re.compile(r"oci://[A-Za-z0-9][A-Za-z0-9._:-]*(/[A-Za-z0-9._-]+)+")
COMPONENT = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
# It goes into logs as it is.
TRACE = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@record
class Wanted:
    """One component as it is wanted."""

    name: str
    archive: str
    digest: str
    variables: Mapping[str, str]
    timeout: int | None
    values: Mapping[str, Any] = field(factory=dict)
    repository: str = ""
    revision: str = ""


@record
class Request:
    """One call's parameters."""

    deployment: str
    name: str
    application: str
    version: str | None
    revision: str | None
    release: str | None
    # Whether the caller named the release, or it is the revision's one and only.
    names_release: bool
    components: tuple[Wanted, ...]
    health: Mapping[str, int]
    policy: Mapping[str, Any]
    logins: Mapping[str, dict]
    fence: Fence | None
    force: bool
    request_id: str | None
    trace: str | None = None
    profile: str | None = None
    namespace: str = ""
    adopt: bool = False
    remove_volumes: bool = False
    to_release: str = "previous"
    # Texts that nothing may repeat; long ones first.
    secrets: tuple[str, ...] = ()
    # The release that is known to be stable; empty where none is, None where nobody watches that.
    proven: str | None = None
    # Seconds that the release has to run undisturbed, as it was found unstable.
    prove: int = 0
    # Seconds after which the call ends by itself; 0 where nobody set any.
    deadline: int = 0

    @property
    def lasting_secrets(self) -> list[str]:
        """Those that the release's own variables and values hold; logins are stored nowhere."""
        held = [*texts_in([[one.variables, one.values] for one in self.components])]
        return [one for one in self.secrets if any(one in text for text in held)]

    @property
    def inputs(self) -> str:
        """A digest of what is to run: contents, where charts come from, variables and values."""
        return _digest([as_dict(replace(one, archive="", timeout=None)) for one in self.components])

    def project(self, component: str) -> str:
        """Compose's project, or Helm's release, of a component that has none yet: nobody else's."""
        plain = re.sub(r"[^a-z0-9_-]", "-", component.lower())
        # Two components that differ in what Compose cannot tell apart must not share a project.
        if plain != component:
            plain += "-" + sha256(component.encode()).hexdigest()[:6]
        if self.profile == "helm":
            plain = _short(re.sub(r"[^a-z0-9-]", "-", plain))
        return f"margrave-{short_of(self.deployment)}-{plain}"


def short_of(deployment: str) -> str:
    """A deployment in a name: its id's beginning for people, and a part that all of it makes.

    Ids that people write by hand often differ in their last digits alone.
    """
    return deployment[:8] + sha256(deployment.encode()).hexdigest()[:8]


def read(params: Mapping[str, Any]) -> Request:
    """The request, or ConfigError with the parameter that is wrong."""
    deployment = str(params["deployment"]).lower()
    _must(UUID, deployment, "deployment", "a UUID")
    given = _read(params, deployment)
    return given if given.revision or not given.components else _with_revision(given)


def _with_revision(request: Request) -> Request:
    """The same with a revision of its own, and the release that follows from it."""
    content = [request.application, request.profile, request.namespace, request.inputs]
    revision = f"sha256:{_digest(content)}"
    release = request.release or sha256(revision.encode()).hexdigest()
    return replace(request, revision=revision, release=release)


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _read(params: Mapping[str, Any], deployment: str) -> Request:
    revision, release = params.get("revision"), params.get("release")
    if revision is not None:
        _must(DIGEST, revision, "revision", "sha256: and 64 hex digits")
        release = release or sha256(revision.encode()).hexdigest()
    if release is not None:
        _must(RELEASE, release, "release", "64 hex digits")
    to_release = params.get("to_release") or "previous"
    if to_release != "previous":
        _must(RELEASE, to_release, "to_release", "previous or 64 hex digits")
    return Request(
        deployment=deployment,
        name=params.get("name") or "",
        application=params.get("application") or "",
        version=params.get("version"),
        revision=revision,
        release=release,
        names_release=bool(params.get("release")),
        components=_components(params.get("components") or []),
        health=params.get("health") or {},
        policy=params.get("policy") or {},
        logins={one["host"]: one for one in params.get("registries") or []},
        fence=_fence(params.get("fence")),
        force=bool(params.get("force")),
        request_id=params.get("request_id"),
        trace=_trace(params.get("trace")),
        profile=params.get("profile"),
        namespace=_namespace(params.get("namespace")),
        adopt=bool(params.get("adopt")),
        remove_volumes=params.get("volumes") == "remove",
        to_release=to_release,
        secrets=secrets_of(params),
        proven=_proven(params.get("proven")),
        prove=max(0, params.get("prove") or 0),
        deadline=max(0, params.get("deadline") or 0),
    )


def _proven(given: str | None) -> str | None:
    if given:
        _must(RELEASE, given, "proven", "64 hex digits, or empty")
    return given


def _short(name: str) -> str:
    """Helm's names have 53 characters at most, and 26 are taken."""
    if len(name) <= 27:
        return name
    return name[:20] + "-" + sha256(name.encode()).hexdigest()[:6]


def _namespace(given: str | None) -> str:
    if given:
        _must(NAMESPACE, given, "namespace", "small letters, digits and dashes")
    return given or "default"


def _trace(given: str | None) -> str | None:
    if given:
        _must(TRACE, given, "trace", "letters, digits and ._:-, 128 at most")
    return given or None


def _fence(given: Mapping[str, Any] | None) -> Fence | None:
    if not given:
        return None
    runner = str(given["runner"]).lower()
    _must(UUID, runner, "fence.runner", "a UUID")
    return Fence(runner, int(given["epoch"]), int(given["seq"]))


def _components(given: list) -> tuple[Wanted, ...]:
    names = [one["name"] for one in given]
    for name in names:
        _must(COMPONENT, name, "components.name", "letters, digits, dots, dashes")
        if names.count(name) > 1:
            raise ConfigError("component-twice", f"components: {name} is there twice", "keep one")
    for one in given:
        if one.get("digest") or not one.get("repository"):
            _must(DIGEST, one.get("digest") or "", f"components.{one['name']}.digest", "sha256:…")
        elif not REPOSITORY.fullmatch(one["repository"]) or not one.get("revision"):
            raise ConfigError(
                "parameter",
                f"components.{one['name']}: {one['repository']} {one.get('revision') or ''} is no"
                " chart of an OCI registry",
                "give repository: oci://HOST/PATH and revision: VERSION",
            )
    return tuple(
        Wanted(
            name=one["name"],
            archive=one.get("archive") or "",
            digest=one.get("digest") or "",
            variables={key: _text(value) for key, value in (one.get("variables") or {}).items()},
            timeout=one.get("timeout"),
            values=one.get("values") or {},
            repository=one.get("repository") or "",
            revision=one.get("revision") or "",
        )
        for one in given
    )


def _text(value: object) -> str:
    """A value as Compose sees it: YAML's own words for truth and nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _must(pattern: re.Pattern, text: str, where: str, rule: str) -> None:
    if not pattern.fullmatch(text):
        raise ConfigError("parameter", f'{where}: "{text}" is not {rule}', f"give {rule}")
