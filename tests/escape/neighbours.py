"""Surroundings of hostile packages on a node: another deployment, and files to steal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.escape.catalogue import IDLE, MARKER, NEIGHBOUR
from tests.support.charts import HELM, KUBECTL
from tests.support.shop import Step

COMPOSE = f"""
services:
  web:
    image: {IDLE}
    command: [sh, -c, "echo kept > /data/kept; exec /bin/idle"]
    volumes: ["data:/data"]
    restart: unless-stopped
volumes: {{data: {{}}}}
"""
CHART = f"""
apiVersion: v1
kind: Secret
metadata: {{name: neighbour}}
stringData: {{marker: {MARKER}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: neighbour}}
data: {{marker: {MARKER}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {{name: neighbour}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: neighbour, annotations: {{helm.sh/resource-policy: keep}}}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data-my-store-0, annotations: {{helm.sh/resource-policy: keep}}}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Mi}}}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: neighbour}}
spec: {{selector: {{app: neighbour}}, ports: [{{port: 80}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: neighbour}}
spec:
  selector: {{matchLabels: {{app: neighbour}}}}
  template:
    metadata: {{labels: {{app: neighbour}}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{{name: web, image: "{IDLE}"}}]
"""
# A network of the site that packages try to take over, and files of the node that they try to read;
# Compose runs as a user who can read the first three.
FIXTURES = f"""
device=$(ip -o -4 address | awk '$2 !~ /^(lo|podman|docker|br-|cni)/ {{print $2; exit}}')
ip route replace 10.66.0.0/16 dev "$device"
mkdir -p /dev/serial/by-id
test -e /etc/escape.env && exit
echo ESCAPE_SECRET={MARKER} > /etc/escape.env
cat > /etc/escape.yaml <<'END'
services:
  theirs: {{image: "{IDLE}", environment: {{SHOWN: {MARKER}}}}}
END
echo '{{"defaultAction": "SCMP_ACT_ALLOW"}}' > /etc/escape.json
(umask 077; echo {MARKER} > /root/escape-secret)
"""
# Remove everything that packages leave behind when they got through.
RESTORE = """
find /root /etc /srv /var/lib -name '*escape-*' ! -name escape-secret ! -path '/var/lib/docker/*' \
  ! -path '/var/lib/containers/*' ! -path '/var/lib/containerd/*' -delete 2>/dev/null
rm -rf /etc/profile.d/escape*.sh
sysctl -qw vm.swappiness=60
"""
# Everything, also what carries no label of ours because a package got rid of it. A volume that is
# a mount of the node's own is unmounted first: its removal would remove what it shows.
ENGINE_SWEEP = """
ENGINE ps -aq | xargs -r ENGINE rm -f >/dev/null 2>&1
for one in $(ENGINE volume ls -q); do
  umount -l "$(ENGINE volume inspect -f '{{.Mountpoint}}' "$one")" 2>/dev/null
  ENGINE volume rm -f "$one" >/dev/null 2>&1
done
ENGINE network prune -f >/dev/null 2>&1
rm -rf /var/lib/margrave/* /run/margrave
"""
CLUSTER_SWEEP = f"""
{HELM} list -aqA | xargs -r {HELM} uninstall >/dev/null 2>&1
{KUBECTL} delete pods,deployments,statefulsets,jobs,cronjobs,secrets,configmaps,pvc --all \
  --grace-period=1 >/dev/null 2>&1
rm -rf /var/lib/margrave/* /run/margrave
"""


REMOVE_FIXTURES = "ip route del 10.66.0.0/16; rm -f /etc/escape.* /root/escape-secret"


class ComposeNeighbour:
    """A deployment with a container, a network and a volume with data."""

    def __init__(self, engine: str) -> None:
        self._engine = engine

    def install(self, folder: Path) -> Step:
        """Return the call that installs it."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "compose.yaml").write_text(COMPOSE)
        return _install("compose", folder)

    def sweep(self) -> str:
        """Return the shell script that removes all deployments from the node."""
        return ENGINE_SWEEP.replace("ENGINE", self._engine)


class ChartNeighbour:
    """A deployment with a secret, settings, an account, a claim and a pod."""

    def install(self, folder: Path) -> Step:
        """Return the call that installs it."""
        (folder / "templates").mkdir(parents=True, exist_ok=True)
        (folder / "Chart.yaml").write_text("apiVersion: v2\nname: neighbour\nversion: 1.0.0\n")
        (folder / "templates/all.yaml").write_text(CHART)
        return _install("helm", folder, namespace="default")

    def sweep(self) -> str:
        """Return the shell script that removes all deployments from the node."""
        return CLUSTER_SWEEP


def _install(profile: str, folder: Path, **more: Any) -> Step:
    component = {"name": "neighbour", "src": str(folder), "timeout": 60}
    arguments = {
        "deployment": NEIGHBOUR,
        "name": "neighbour",
        "application": "neighbour",
        "version": "1.0.0",
        "profile": profile,
        "components": [component],
        **more,
    }
    return Step("workload_install", arguments)
