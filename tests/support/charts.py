"""The storefront as a chart: packed, pushed to the lab's registry, and looked at in its pods."""

from __future__ import annotations

import json
import subprocess
import textwrap
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab import kubernetes
from tests.support.shop import Shop, Step

if TYPE_CHECKING:
    from lab import Lab

KUBECTL = "kubectl --kubeconfig /etc/kubernetes/admin.conf"
HELM = "helm --kubeconfig /etc/kubernetes/admin.conf"
NAMESPACE = "shop"
SECRET = "ssh-dont-tell-0123456789"

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: {{ .Values.web.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: web
          image: {{ .Values.image | quote }}
          env:
            - {name: GREETING, valueFrom: {configMapKeyRef: {name: web, key: greeting}}}
          readinessProbe: {exec: {command: [/bin/health]}, periodSeconds: 1, timeoutSeconds: 5}
"""
WORDS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {greeting: {{ .Values.web.greeting | quote }}}
"""
DATA = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {helm.sh/resource-policy: keep}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
"""
VALUES = "image: {image}\nweb: {{replicas: 1, greeting: nobody}}\n"


def write_chart(folder: Path, version: str, image: str, **more: str) -> Path:
    """A chart's folder; `more` are further files by name, underscores being slashes."""
    files = {
        "Chart.yaml": f"apiVersion: v2\nname: storefront\nversion: {version}\n",
        "values.yaml": VALUES.format(image=image),
        "templates/web.yaml": WEB,
        "templates/words.yaml": WORDS,
        "templates/data.yaml": DATA,
        **{name.replace("__", "/") + ".yaml": text for name, text in more.items()},
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def push(lab: Lab, chart: Path, beside: Path) -> None:
    """Pack a chart and push it to the lab's registry, as charts/storefront."""
    helm, home = str(kubernetes.helm()), {"HOME": str(beside), "PATH": "/usr/bin:/bin"}
    subprocess.run([helm, "package", str(chart), "-d", str(beside)], env=home, check=True)
    packed = max(beside.glob("storefront-*.tgz"), key=lambda one: one.stat().st_mtime)
    where = f"oci://{lab.registry_address}/charts"
    subprocess.run([helm, "push", str(packed), where, "--plain-http"], env=home, check=True)


@dataclass
class ChartShop(Shop):
    """The storefront as a Helm release on a node with Kubernetes."""

    node: str = "kube-1"
    values: dict[str, Any] = field(default_factory=dict)

    def content(self, version: str, greeting: str = "hello", timeout: int = 60) -> dict[str, Any]:
        """Parameters of install and update for a version."""
        wanted = {"web.greeting": greeting, **self.values}
        named = f"{version} {json.dumps(wanted, sort_keys=True)} {self.packages[version]}"
        return {
            "deployment": self.deployment,
            "name": "storefront",
            "application": "com-example-storefront",
            "version": version,
            "revision": f"sha256:{sha256(named.encode()).hexdigest()}",
            "profile": "helm",
            "namespace": NAMESPACE,
            "components": [
                {
                    "name": "storefront",
                    "src": str(self.packages[version]),
                    "values": wanted,
                    "timeout": timeout,
                }
            ],
        }

    def kubectl(self, words: str) -> str:
        """What kubectl prints."""
        return self.ssh(f"{KUBECTL} -n {NAMESPACE} {words}")

    def page(self) -> dict[str, Any]:
        """What the storefront answers through the API server."""
        name = self.kubectl(
            "get pods -l app=web --field-selector status.phase=Running -o name"
            " --sort-by=.metadata.creationTimestamp"
        ).split()[-1]
        where = f"/api/v1/namespaces/{NAMESPACE}/pods/{name.partition('/')[2]}:8000/proxy/"
        found: dict[str, Any] = json.loads(self.ssh(f"{KUBECTL} get --raw {where}"))
        return found

    def info(self) -> Step:
        """A look at this deployment."""
        return Step("workload_info", {"deployment": self.deployment})

    def clean(self) -> None:
        """Leave the node as it was."""
        self.ssh(
            textwrap.dedent(
                f"""
                {HELM} list -aqn {NAMESPACE} | xargs -r {HELM} uninstall -n {NAMESPACE} >/dev/null
                {KUBECTL} delete namespace {NAMESPACE} --ignore-not-found >/dev/null
                rm -rf /var/lib/margrave/* /run/margrave
                """
            )
        )
