"""The storefront on each engine, and what a person might do to it there."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.support import charts
from tests.support.charts import ChartShop
from tests.support.shop import Shop


@dataclass
class Engined(Shop):
    """The storefront on a node with this container engine."""

    def damage(self) -> None:
        """Remove what answers, as a person with a shell might."""
        self.ssh(f"{self.engine} rm -f $({self.engine} ps -qf name=web)")

    def data(self) -> str:
        """Names of the deployment's volumes."""
        label = f"label=margrave.deployment={self.deployment}"
        return self.ssh(f"{self.engine} volume ls -q --filter {label}")

    def stranger(self) -> str:
        """What runs here and is not the deployment's."""
        return self.ssh(f"{self.engine} ps -a --format '{{{{.Names}}}}'")

    def add_stranger(self) -> None:
        """Let something run here that is not the deployment's."""
        self.ssh(f"{self.engine} run -d --name foreign registry.margrave.lab:5000/idle:1")

    def forget_images(self) -> None:
        """Let what it needs be fetched anew."""
        self.ssh(f"{self.engine} image prune --all --force")


@dataclass
class Charted(ChartShop):
    """The storefront on a node with Kubernetes."""

    values: dict[str, object] = field(default_factory=lambda: {"web.replicas": 1})

    def damage(self) -> None:
        """Remove what answers."""
        self.kubectl("delete deployment web --wait=true")

    def data(self) -> str:
        """Names of the deployment's claims."""
        return self.kubectl("get pvc -o name")

    def stranger(self) -> str:
        """What was deployed here by others."""
        return self.kubectl("get configmap -o name -l foreign")

    def add_stranger(self) -> None:
        """Let something be here that is not the deployment's."""
        self.ssh(f"{charts.KUBECTL} create namespace {charts.NAMESPACE}")
        self.kubectl("create configmap foreign")
        self.kubectl("label configmap foreign foreign=yes")
