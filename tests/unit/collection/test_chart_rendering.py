"""A chart is rendered once, without access to the cluster, and installed as it was checked."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import (
    _charted,
    _driver,
    _kubernetes,
    _objects,
    _release,
    _rendering,
    _request,
    _stage,
)
from ansible_collections.margrave.edge.plugins.module_utils._archive import digest_of
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Place
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._programs import Programs, Ran
from ansible_collections.margrave.edge.plugins.module_utils._release import Release

from lab import kubernetes
from margrave import yaml_text

ID = "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f"
ADMIN = "/etc/kubernetes/admin.conf"
WORDS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: words}
data:
"""
CHART = {
    "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: '7'\n",
    "values.yaml": "greeting: hello\n",
    "templates/words.yaml": WORDS + "  greeting: {{ .Values.greeting | quote }}\n",
}
# Each another way to look something up that no search of the templates' text finds.
FINDS = '{{ lookup "v1" "Secret" "kube-system" "" | len }}'
HIDDEN = {
    "behind a brace": '{{ list "}" (lookup "v1" "Secret" "kube-system" "") | last | len }}',
    "in a file that becomes a template": '{{ tpl (.Files.Get "finds.txt") . }}',
}


@pytest.fixture(scope="module")
def helm() -> Iterator[str]:
    """Helm, as it is built for the lab, where every user may start it."""
    program = kubernetes.helm()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield str(shutil.copy2(program, folder))


@dataclass
class Node:
    """A node whose Helm renders for real; what needs a cluster is answered here."""

    helm: str
    manifest: str = ""
    history: list[dict[str, Any]] = field(default_factory=list)
    replaced: list[dict[str, Any]] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    services: list[dict[str, Any]] = field(default_factory=list)
    commands: list[tuple[list[str], dict[str, str], bool]] = field(default_factory=list)

    def run(
        self,
        command: list[str],
        limit: float,
        environment: dict[str, str],
        handles: tuple[int, ...] = (),
        as_nobody: bool = False,
        given: bytes = b"",
        folder: str | None = None,
    ) -> Ran:
        """Run helm where it needs no cluster; note every command."""
        self.commands.append((command, dict(environment), as_nobody))
        if command[0] == "kubectl":
            if command[2:4] == ["get", "PersistentVolumeClaim"]:
                return Ran(0, json.dumps({"kind": "List", "items": self.claims}), "")
            if command[2] == "get" and command[3].startswith("services,"):
                return Ran(0, json.dumps({"kind": "List", "items": self.services}), "")
            if command[2] == "replace":
                self.replaced += json.loads(given)["items"]
            # As with an extension of the API away: all else is listed.
            return Ran(int(command[2] == "api-resources"), self._kubectl(command[2], given), "")
        if command[1] in ("template", "show"):
            drop = as_nobody
            return REAL(Programs(), command, limit, environment, handles, drop, given, folder)
        told = {
            "history": json.dumps(self.history),
            "get": self.manifest,
            "upgrade": "{}",
            "list": "[]",
        }
        return Ran(0, told.get(command[1], ""), "")

    @staticmethod
    def _kubectl(word: str, given: bytes) -> str:
        if word == "version":
            return json.dumps({"serverVersion": {"gitVersion": "v1.33.0"}})
        if word == "api-resources":
            return "ingresses   ing   networking.k8s.io/v1   true   Ingress\n"
        if word != "create":
            return ""
        texts = given.decode().split("\n---\n")
        values = [yaml_text.parse(text.removeprefix("---\n"), "it").value for text in texts]
        return "\n".join(json.dumps(value) for value in values if value)

    def charts_given(self) -> list[str]:
        """Paths of the charts that Helm was given for the cluster."""
        return [command[3] for command, _, _ in self.commands if command[1] == "upgrade"]

    def prints(self, chart: str) -> str:
        """Render a chart that was given."""
        return subprocess.run(
            [self.helm, "template", "x", chart], capture_output=True, text=True, check=True
        ).stdout


REAL = Programs.run


@pytest.fixture
def node(helm: str, monkeypatch: pytest.MonkeyPatch) -> Node:
    """A node with Kubernetes and no other engine."""
    made = Node(helm)
    monkeypatch.setattr(Programs, "run", lambda _self, *args, **more: made.run(*args, **more))
    monkeypatch.setattr(_kubernetes, "required", lambda: Place(helm, "kubectl", ADMIN))
    monkeypatch.setattr(_driver, "here", lambda: ["helm"])
    return made


def _archive(files: dict[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return whole.getvalue()


def _packed(**files: str) -> bytes:
    """A subchart as helm packs it."""
    whole = io.BytesIO()
    texts = {"Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", **files}
    with tarfile.open(fileobj=whole, mode="w:gz") as tar:
        for name, text in texts.items():
            entry = tarfile.TarInfo(f"sub/{name}")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return whole.getvalue()


def _staged(
    tmp_path: Path, more: dict[str, Any], privileged: str = "deny", **values: Any
) -> tuple[Call, Release]:
    """Make a chart of these files ready."""
    texts = {**CHART, **more}
    archive = _archive(
        {name: data if isinstance(data, bytes) else data.encode() for name, data in texts.items()}
    )
    component = {"name": "web", "archive": "", "digest": digest_of(archive), "values": values}
    request = _request.read(
        {
            "deployment": ID,
            "profile": "helm",
            "namespace": "shop",
            "policy": {"registries": ["*"], "privileged": privileged},
            "components": [component],
        }
    )
    layout = Layout(str(tmp_path / "state"), str(tmp_path / "run"))
    call = Call(request, "install", layout, check=False)
    return call, _stage.stage(call, call.noted(), {"web": archive})


def _kept(call: Call, release: Release) -> list[dict[str, Any]]:
    path = _release.rendered_path(call.folder, release.release, "web")
    return _rendering.load(path) or []


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=list(HIDDEN))
def test_a_chart_has_no_access_to_the_cluster(tmp_path: Path, node: Node, hidden: str) -> None:
    """However a lookup hides, whoever renders has no way into the cluster and finds nothing."""
    text = WORDS.replace("words", "found") + f"  found: '{hidden}'\n"
    files = {"templates/found.yaml": text, "finds.txt": FINDS}

    call, release = _staged(tmp_path, files)

    objects = {each["metadata"]["name"]: each for each in _kept(call, release)}
    assert objects["found"]["data"]["found"] == "0"
    rendering = [each for each in node.commands if each[0][1] in ("template", "show")]
    assert rendering
    for command, environment, as_nobody in rendering:
        assert as_nobody
        assert ADMIN not in command
        assert environment["KUBECONFIG"] == _kubernetes.NOWHERE
    assert [command for command, _, _ in node.commands if "/components/" in " ".join(command)] == []


def test_a_packed_subchart_has_none_either(tmp_path: Path, node: Node) -> None:
    """Its templates are not read before they are rendered."""
    text = WORDS.replace("words", "sub") + f'  found: "{FINDS}"\n'
    packed = _packed(**{"templates/sub.yaml": text})

    call, release = _staged(tmp_path, {"charts/sub-1.0.0.tgz": packed})

    assert {each["metadata"]["name"]: each["data"] for each in _kept(call, release)} == {
        "sub": {"found": "0"},
        "words": {"greeting": "hello"},
    }


def test_the_checked_objects_are_installed(tmp_path: Path, node: Node) -> None:
    """A chart that is another one each time it is rendered is rendered once, attempts included."""
    text = WORDS.replace("words", "dice") + "  dice: {{ randAlphaNum 20 }}\n  at: '{{ now }}'\n"
    files = {"templates/dice.yaml": text}

    call, release = _staged(tmp_path, files)
    objects = _kept(call, release)
    again, release = _staged(tmp_path, files)
    again.driver._make(release, release.parts[0], [], 5.0)  # type: ignore[attr-defined]

    assert len(objects) == 2
    assert _kept(again, release) == objects
    rendered = [command for command, _, _ in node.commands if command[1] == "template"]
    assert len(rendered) == 1
    charts = node.charts_given()
    assert len(charts) == 3
    assert len({node.prints(chart) for chart in charts}) == 1
    texts = node.prints(charts[0]).split("---\n# Source: web/templates/manifest.yaml\n")
    assert sorted(
        (json.loads(text) for text in texts if text), key=lambda each: each["metadata"]["name"]
    ) == sorted(objects, key=lambda each: each["metadata"]["name"])


def test_other_values_are_rendered_anew(tmp_path: Path, node: Node) -> None:
    """An attempt with other values is another rendering, also below the same name."""
    call, release = _staged(tmp_path, {}, greeting="hei")
    path = _release.rendered_path(call.folder, release.release, "web")
    before = _rendering.inputs_of(path)

    other, changed = _staged(tmp_path, {}, greeting="moin")

    assert _kept(other, changed)[0]["data"] == {"greeting": "moin"}
    assert before != _rendering.inputs_of(
        _release.rendered_path(other.folder, changed.release, "web")
    )


def test_the_release_in_helm_is_called_like_the_chart(tmp_path: Path, node: Node) -> None:
    """`helm list` shows the application's chart and versions."""
    _staged(tmp_path, {})

    about = subprocess.run(
        [node.helm, "show", "chart", node.charts_given()[0]],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {"name: web", "version: 1.2.3", 'appVersion: "7"'} <= set(about.stdout.splitlines())


@pytest.mark.parametrize(
    ("hook", "finding"),
    [("pre-install", "is a hook"), ("post-upgrade,pre-delete", "is a hook"), ("test", None)],
)
def test_hooks_but_those_of_tests_are_refused(
    tmp_path: Path, node: Node, hook: str, finding: str | None
) -> None:
    """What `helm test` would run never runs here, and is not installed."""
    text = WORDS.replace("{name: words}", f"{{name: it, annotations: {{helm.sh/hook: '{hook}'}}}}")

    if finding is not None:
        with pytest.raises(ConfigError, match=finding):
            _staged(tmp_path, {"templates/hook.yaml": text})
        return
    call, release = _staged(tmp_path, {"templates/hook.yaml": text})
    assert [each["metadata"]["name"] for each in _kept(call, release)] == ["words"]


CLOSED = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: closed}
spec: {podSelector: {}}
"""


def test_a_running_release_of_an_earlier_version_is_left_as_it_is(
    tmp_path: Path, node: Node
) -> None:
    """Its objects are those that Helm has, and the list of fields holds for the next change."""
    call, release = _staged(tmp_path, {})
    path = Path(_release.rendered_path(call.folder, release.release, "web"))
    shutil.rmtree(path)
    part = release.parts[0]
    part.number, node.manifest = 7, CLOSED

    with pytest.raises(ConfigError, match="may select pods of other deployments"):
        call.driver.refuse(call.folder, release, part)
    Path(call.folder.link("current")).symlink_to(f"releases/{release.release}")
    call.driver.refuse(call.folder, release, part)

    assert [each["metadata"]["name"] for each in _kept(call, release)] == ["closed"]
    assert node.charts_given()[-1] == str(path)


def test_what_was_added_by_hand_is_taken_away(tmp_path: Path, node: Node) -> None:
    """Helm would merge: a key that is not in the chart, and never was, would stay."""
    call, release = _staged(tmp_path, {})
    (rendered,) = _kept(call, release)
    live = {**rendered, "metadata": {**rendered["metadata"]}}
    part = release.parts[0]
    part.number, node.history = 1, [{"revision": 1, "status": "deployed"}]
    part.services = {_charted.place(live): _objects.facets(live)}
    live["data"] = {**live["data"], "added": "by hand"}

    call.driver._make(release, part, [live], 5.0)  # type: ignore[attr-defined]

    (replaced,) = node.replaced
    assert replaced["data"] == rendered["data"]
    assert replaced["metadata"]["annotations"]["meta.helm.sh/release-name"] == part.project


SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: db}]}
  volumeClaimTemplates: [{metadata: {name: data}}]
"""


def test_another_deployments_claim_is_not_taken_over(tmp_path: Path, node: Node) -> None:
    """A stateful set would mount a claim of the name that it makes up, whoever made that."""
    node.claims = [
        {"kind": "PersistentVolumeClaim", "metadata": {"namespace": "shop", "name": "data-db-0"}}
    ]
    files = {"templates/set.yaml": SET}

    with pytest.raises(ConfigError, match="data-db-0 is there and not of this deployment"):
        _staged(tmp_path, files)
    node.claims[0]["metadata"]["labels"] = {"margrave.deployment": ID}
    _staged(tmp_path, files)


def test_pods_are_not_selected_by_another_deployment(tmp_path: Path, node: Node) -> None:
    """A pod may not join another deployment's Service, unless the policy gives it everything; its
    own Service may select it."""
    node.services = [
        {
            "kind": "Service",
            "metadata": {
                "namespace": "shop",
                "name": "db",
                "annotations": {"meta.helm.sh/release-name": "margrave-0123456789abcdef-db"},
            },
            "spec": {"selector": {"app": "db"}},
        }
    ]
    files = {"templates/set.yaml": SET.partition("  volumeClaimTemplates")[0]}

    with pytest.raises(ConfigError, match="are selected by Service/db, which is not of this"):
        _staged(tmp_path, files)
    _staged(tmp_path, files, privileged="allow")
    own = f"margrave-{_request.short_of(ID)}-web"
    node.services[0]["metadata"]["annotations"] = {"meta.helm.sh/release-name": own}
    _staged(tmp_path, files)


def test_templates_know_the_clusters_capabilities(tmp_path: Path, node: Node) -> None:
    """Its version and its kinds, as charts ask for them, also with an extension of the API away."""
    asks = (
        '  version: "{{ .Capabilities.KubeVersion }}"\n'
        '  ingress: "{{ .Capabilities.APIVersions.Has "networking.k8s.io/v1/Ingress" }}"\n'
    )
    text = WORDS.replace("words", "offers") + asks

    call, release = _staged(tmp_path, {"templates/offers.yaml": text})

    offers = next(each for each in _kept(call, release) if each["metadata"]["name"] == "offers")
    assert offers["data"] == {"version": "v1.33.0", "ingress": "true"}


ODD = "two\nlines\n---\nkind: Pod\n\x7f\x85\u2028\ufeff\U0001f600 {{ .Values }} \\ \" ' #"


def test_every_character_survives(tmp_path: Path, helm: str) -> None:
    """Helm prints the objects that are kept, and sees no others in what they hold."""
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd"}, "data": {"a": ODD}}
    ]
    path = tmp_path / "web.rendered"

    _rendering.store(str(path), {"name": "web", "version": "1.0.0"}, objects)
    printed = subprocess.run(
        [helm, "template", "x", str(path)], capture_output=True, text=True, check=True
    ).stdout

    assert _rendering.load(str(path)) == objects
    assert printed.count("# Source:") == 1
    assert json.loads(printed.partition("manifest.yaml\n")[2]) == objects[0]
    through_yaml = yaml_text.parse(printed.partition("manifest.yaml\n")[2], "it").value
    assert through_yaml == objects[0]


def test_a_damaged_rendering_is_not_used(tmp_path: Path) -> None:
    """After a power cut, or when somebody changed it."""
    path = tmp_path / "web.rendered"
    _rendering.store(str(path), {}, [{"kind": "ConfigMap"}], "inputs")
    manifest = path / "manifest.yaml"

    assert _rendering.load(str(path)) == [{"kind": "ConfigMap"}]
    assert _rendering.inputs_of(str(path)) == "inputs"
    assert {each.stat().st_mode & 0o077 for each in path.rglob("*") if each.is_file()} == {0}
    manifest.write_bytes(manifest.read_bytes()[:-3])
    assert _rendering.load(str(path)) is None
    assert _rendering.load(str(tmp_path / "nothing")) is None
