"""`docs/howto/chart.md` on a node with Kubernetes and two with podman: one application."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.docs import box
from tests.integration.docs.accounts import unexecuted
from tests.integration.docs.pages import Page, tree_paths
from tests.integration.docs.reader import ROOT, start_of_site
from tests.support import charted_site
from tests.support.charts import KUBECTL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab import Lab
    from tests.integration.docs.reader import Reader

pytestmark = [pytest.mark.lab, pytest.mark.full]

PAGE = Page("chart")
[DESCRIPTION] = PAGE.texts("yaml")
LINT = PAGE.line(" app lint ")
PLAN, DEPLOY, DEPLOY_CHART = PAGE.block("$ margrave deployment plan").lines
IMAGE = "registry.margrave.lab:5000/storefront-web:1.0.0"
# The reader's own chart and Compose file, which a page cannot show.
FILES = {
    "chart/Chart.yaml": "apiVersion: v2\nname: thermo\nversion: 1.0.0\n",
    "chart/values.yaml": f"image: {IMAGE}\nmeasuring: {{interval: 10}}\n",
    "chart/templates/thermo.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers:
        - name: thermo
          image: {{ .Values.image | quote }}
          env: [{name: INTERVAL, value: {{ .Values.measuring.interval | quote }}}]
          readinessProbe: {exec: {command: [/bin/health]}, periodSeconds: 1, timeoutSeconds: 5}
""",
    "compose/compose.yaml": f"""\
services:
  thermo:
    image: {IMAGE}
    environment: {{INTERVAL: "${{INTERVAL}}"}}
    healthcheck: {{test: [CMD, /bin/health], interval: 1s, start_period: 10s}}
""",
}

# A site may allow the one, and a chart may ignore the other: they are warnings.
WARNINGS = ("ClusterRole", "measuring.intervall")


@pytest.fixture(scope="module")
def package(reader: Reader, lab: Lab, kubernetes_node: str) -> Iterator[Path]:
    """Return the package of the page; the site has three nodes, one with Kubernetes."""
    package = reader.folder / "apps/thermo/1.0.0"
    reader.write(package / "margo.yaml", DESCRIPTION)
    for name, text in FILES.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    reader.words |= {
        "https://git.example/apps.git": str(reader.folder / "apps"),
        "examples/apps/showcase": str(ROOT / "examples/apps/showcase"),
    }
    reader.follow(start_of_site())
    nodes = (box.NODE, "harbor-1", kubernetes_node)
    for node in nodes:
        # What a runner of an earlier test may have left there.
        lab.ssh(node, "rm -f /etc/sudoers.d/margrave-* /var/lib/margrave/fence.json", check=True)
        add = "margrave node add --site harbor --yes --identity ~/.ssh/id_ed25519"
        reader.type(add, more=f"{node} {lab.node(node).address}")
    yield package
    for node in nodes:
        reader.type(f"margrave node remove --site harbor --forget --yes {node}")
    charted_site.clean(lab, kubernetes_node)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("chart/templates/thermo.yaml", "metadata: {name: {{ .Release.Name }}}",
         "metadata: {name: x, annotations: {helm.sh/hook: post-install}}", "hook"),
        ("chart/templates/thermo.yaml", "kind: Deployment", "kind: ClusterRole", "ClusterRole"),
        ("chart/templates/thermo.yaml", "spec:\n  selector",
         'spec: {{ lookup "v1" "Secret" "" "" }}\n  selector', "lookup"),
        ("margo.yaml", "pointer: measuring.interval", "pointer: measuring.intervall",
         "measuring.intervall"),
        ("margo.yaml", "path: ./chart", "path: ./charts", "charts"),
        ("chart/Chart.yaml", "name: thermo\n", "", "name"),
    ],
)  # fmt: skip
def test_lint_finds_a_mistake(
    reader: Reader, package: Path, file: str, old: str, new: str, words: str
) -> None:
    """Forbidden content, and a description that does not fit, are named with their file."""
    path = package / file
    whole = path.read_text()
    assert old in whole
    path.write_text(whole.replace(old, new, 1))
    line = LINT.replace("examples/apps/showcase", str(reader.folder / "apps"))
    try:
        found = reader.type(line, 0 if words in WARNINGS else 1)
        assert "thermo/1.0.0/" in found and words in found, found
    finally:
        path.write_text(whole)


def test_a_chart(reader: Reader, package: Path, lab: Lab, kubernetes_node: str) -> None:
    """Most nodes run Compose, so that is what the site gets; the chart is asked for by name."""
    [tree] = PAGE.texts("")
    assert [path for path in tree_paths(tree) if not (reader.folder / path).exists()] == []
    reader.executed.add(tree)
    reader.type(LINT)
    assert "compose" in reader.type(PLAN)
    reader.type(DEPLOY)
    wrong = reader.type(DEPLOY_CHART.replace("thermo-helm", "thermo-hlm"), 3)
    assert "thermo-helm" in wrong, wrong
    # Without a name of its own the chart would take the place of what runs.
    taken = reader.type(DEPLOY_CHART.replace(" --name thermo-kube", ""), 1)
    assert "it runs as compose, and cannot become helm" in taken, taken
    reader.type(DEPLOY_CHART)
    pods = lab.ssh(kubernetes_node, f"{KUBECTL} get pods -o jsonpath={{..env}}", check=True).stdout
    assert '"name":"INTERVAL","value":"10"' in pods
    names = lab.ssh(box.NODE, "podman ps --format '{{.Names}}'").stdout
    names += lab.ssh("harbor-1", "podman ps --format '{{.Names}}'").stdout
    assert "thermo" in names
    assert unexecuted("chart", reader.executed) == []
