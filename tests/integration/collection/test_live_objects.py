"""What runs on a real Kubernetes is what a chart was rendered to, whatever happened in between."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _objects

from lab import Lab
from tests.support import charts
from tests.support.charts import ChartShop

pytestmark = [pytest.mark.lab, pytest.mark.full]

# The way of common libraries: names and labels by helpers, everything confined, all kinds beside.
HELPERS = """
{{- define "labels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/name: web
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}
{{- define "selected" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/name: web
{{- end -}}
"""
BESIDE = """
apiVersion: v1
kind: Secret
metadata:
  name: dice
  labels: {{ include "labels" . | nindent 4 }}
type: Opaque
data:
  thrown: {{ randAlphaNum 20 | b64enc }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: web
  labels: {{ include "labels" . | nindent 4 }}
automountServiceAccountToken: false
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects:
  - {kind: ServiceAccount, name: web, namespace: {{ .Release.Namespace | quote }} }
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  ports: [{name: http, port: 80, targetPort: 8000}]
  selector: {{ include "selected" . | nindent 4 }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec:
  podSelector:
    matchLabels: {{ include "selected" . | nindent 6 }}
  policyTypes: [Ingress]
  ingress: [{}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{ include "selected" . | nindent 6 }}
{{- if eq .Chart.Version "1.0.0" }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: only-in-the-first}
data: {a: "1"}
{{- end }}
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {{ include "labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.web.replicas }}
  selector:
    matchLabels: {{ include "selected" . | nindent 6 }}
  template:
    metadata:
      labels: {{ include "labels" . | nindent 8 }}
      annotations:
        checksum/words: {{ .Values.web.greeting | sha256sum }}
    spec:
      serviceAccountName: web
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 1
      securityContext: {fsGroup: 1001, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: web
          image: {{ .Values.image | quote }}
          securityContext:
            allowPrivilegeEscalation: false
            capabilities: {drop: [ALL]}
            privileged: false
            readOnlyRootFilesystem: true
            runAsNonRoot: true
            runAsUser: 1001
          env:
            - {name: GREETING, valueFrom: {configMapKeyRef: {name: web, key: greeting}}}
            - {name: THROWN, valueFrom: {secretKeyRef: {name: dice, key: thrown}}}
          resources: {limits: {memory: 64Mi}, requests: {cpu: 10m}}
          readinessProbe: {exec: {command: [/bin/health]}, periodSeconds: 1, timeoutSeconds: 5}
          volumeMounts: [{name: scratch, mountPath: /scratch}]
      volumes:
        - {name: scratch, emptyDir: {sizeLimit: 1Mi}}
"""


def _files() -> dict[str, str]:
    return {"templates/_helpers.tpl": HELPERS, "templates/beside.yaml": BESIDE}


@pytest.fixture
def shop(
    lab: Lab, kubernetes_node: str, chart_folders: dict[str, Path], tmp_path: Path
) -> Iterator[ChartShop]:
    """A deployment of a chart of many kinds that is not there yet."""
    packages = {}
    for version, folder in chart_folders.items():
        image = (folder / "values.yaml").read_text().split()[1]
        made = charts.write_chart(tmp_path / version, version, image, templates__web=WEB)
        for name, text in _files().items():
            (made / name).write_text(text)
        packages[version] = made
    shop = ChartShop(lab, tmp_path, packages, kubernetes_node)
    shop.clean()
    yield shop
    shop.clean()


def _rendered(shop: ChartShop) -> list[dict[str, Any]]:
    """The objects that were kept when the current release was made ready."""
    current = f"/var/lib/margrave/deployments/{shop.deployment}/current"
    text = shop.ssh(f"cat {current}/storefront.rendered/manifest.yaml")
    return [json.loads(each) for each in text.split("---\n") if each.strip()]


def _owned(shop: ChartShop) -> dict[str, dict[str, Any]]:
    """The objects in the namespace that Helm made, by kind and name."""
    kinds = (
        "deployments,configmaps,secrets,serviceaccounts,roles,rolebindings,services"
        ",networkpolicies,poddisruptionbudgets,persistentvolumeclaims"
    )
    found = json.loads(shop.kubectl(f"get {kinds} -o json"))["items"]
    return {
        f"{each['kind']}/{each['metadata']['name']}": each
        for each in found
        if "meta.helm.sh/release-name" in each["metadata"].get("annotations", {})
    }


def _differences(stated: Any, live: Any, path: str) -> Iterator[str]:
    """What an object states and does not have."""
    if isinstance(stated, dict) and isinstance(live, dict):
        for key, value in stated.items():
            yield from _differences(value, live.get(key), f"{path}.{key}")
    elif isinstance(stated, list) and isinstance(live, list) and len(stated) == len(live):
        for number, value in enumerate(stated):
            yield from _differences(value, live[number], f"{path}[{number}]")
    elif stated != live:
        yield f"{path}: {live} instead of {stated}"


def _assert_equal(shop: ChartShop) -> None:
    """Each rendered object is there with all that it states, and nothing else of the release is."""
    rendered = {f"{each['kind']}/{each['metadata']['name']}": each for each in _rendered(shop)}
    live = _owned(shop)
    assert set(live) == set(rendered)
    assert [
        difference
        for name, each in rendered.items()
        for difference in _differences(each, live[name], name)
    ] == []


def test_live_objects_equal_the_rendered_ones(shop: ChartShop) -> None:
    """After an install, an update, a rollback, a failed update and healing; what is thrown by dice
    keeps its value."""
    installed = shop.one(shop.install("1.0.0"))
    assert installed["state"] == "INSTALLED", installed["error"]
    _assert_equal(shop)
    first = _rendered(shop)

    updated = shop.one(shop.update("1.1.0"))
    assert updated["state"] == "INSTALLED", updated["error"]
    _assert_equal(shop)
    assert _rendered(shop) != first

    back = shop.one(shop.rollback())
    assert back["state"] == "INSTALLED", back["error"]
    _assert_equal(shop)
    assert _rendered(shop) == first

    failed = shop.one(shop.update("1.2.0"))
    assert failed["rolled_back"] is True, failed
    _assert_equal(shop)
    assert _rendered(shop) == first

    shop.kubectl("delete secret dice")
    shop.kubectl("delete configmap only-in-the-first")
    shop.kubectl("set env deployment web EXTRA=1")
    healed = shop.one(shop.install("1.0.0"))
    assert (healed["state"], healed["changed"]) == ("INSTALLED", True), healed["error"]
    _assert_equal(shop)
    assert _rendered(shop) == first
    assert shop.one(shop.install("1.0.0"))["changed"] is False


def test_a_release_of_an_earlier_version_runs_on(shop: ChartShop) -> None:
    """Made by Helm from the chart itself: it is left alone, healed as it is, and gone back to."""
    shop.one(shop.install("1.0.0"))
    _make_former(shop)
    pods = "get pods -o jsonpath={.items[*].metadata.uid}"
    before, dice = shop.kubectl(pods), shop.kubectl("get secret dice -o jsonpath={.data.thrown}")

    same = shop.one(shop.install("1.0.0"))
    assert (same["state"], same["changed"]) == ("INSTALLED", False), same["error"]

    shop.kubectl("delete secret dice")
    healed = shop.one(shop.install("1.0.0"))
    assert (healed["state"], healed["changed"]) == ("INSTALLED", True), healed["error"]
    assert shop.kubectl("get secret dice -o jsonpath={.data.thrown}") == dice
    assert shop.kubectl(pods) == before
    _assert_equal(shop)

    shop.one(shop.update("1.1.0"))
    back = shop.one(shop.rollback())
    assert back["state"] == "INSTALLED", back["error"]
    assert shop.kubectl("get secret dice -o jsonpath={.data.thrown}") == dice
    _assert_equal(shop)


def _make_former(shop: ChartShop) -> None:
    """Leave the release as an earlier version would: Helm has the chart itself, nothing is kept."""
    current = f"/var/lib/margrave/deployments/{shop.deployment}/current"
    shop.ssh(
        textwrap.dedent(
            f"""
            set -e
            cd {current}/
            rm -r storefront.rendered
            name=$({charts.HELM} list -qn {charts.NAMESPACE})
            {charts.HELM} upgrade $name components/storefront -n {charts.NAMESPACE} \
              --values storefront.values.json --labels margrave.deployment={shop.deployment} >&2
            {charts.KUBECTL} -n {charts.NAMESPACE} rollout status deployment web >&2
            """
        )
    )
    release = json.loads(shop.ssh(f"cat {current}/release.json"))
    (part,) = release["components"]
    part["number"] += 1
    part["services"]["shop/Secret/dice"] = _objects.facets(_owned(shop)["Secret/dice"])
    shop.ssh(f"cat > {current}/release.json <<'END'\n{json.dumps(release)}\nEND")
