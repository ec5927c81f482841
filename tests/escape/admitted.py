"""Route through the controller: the catalogue reads a package, admission plans its deployment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from margrave import yaml_text
from margrave.errors import MargraveError
from tests.escape.catalogue import COMPONENT, Expectation, Package
from tests.escape.verdicts import Verdict
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works

VERSION = "1.0.0"


class Controller:
    """A controller whose catalogue holds packages of the suite."""

    def __init__(self, folder: Path, registry: FakeRegistry, packages: Iterable[Package]) -> None:
        self._works = Works(folder / "state", registry)
        self._sites: dict[str, str] = {}
        for package in packages:
            write_package(folder / "apps" / app_of(package), package)
        self._works.catalog.add({"name": "escape", "url": str(folder / "apps")})
        answer = self._works.catalog.sync("escape")
        self._findings = [
            f"{finding['file']}: {finding['message']}"
            for finding in answer["findings"]
            if finding["severity"] == "error"
        ]

    def close(self) -> None:
        """Close its database."""
        self._works.store.close()

    def refusal(self, package: Package) -> str:
        """Findings with which the package is refused, in a line; empty when it is let in."""
        app = app_of(package)
        found = [finding for finding in self._findings if finding.startswith(f"{app}/")]
        try:
            body = {"app": app, "targets": {"sites": [self._site(package.policy)]}}
            plan = self._works.admission.plan(body, ADA)
            found += [f"{finding['code']} {finding['message']}" for finding in plan["findings"]]
        except MargraveError as error:
            found.append(str(error))
        return "; ".join(found)

    def _site(self, policy: Mapping[str, Any]) -> str:
        """A site with that policy."""
        text = str(sorted(policy.items()))
        if text not in self._sites:
            self._sites[text] = f"site-{len(self._sites)}"
            self._works.sites.create({"name": self._sites[text]}, ADA)
            if policy:
                self._works.sites.change(self._sites[text], {"policy": dict(policy)}, ADA)
        return self._sites[text]


@contextmanager
def controller(folder: Path, packages: Iterable[Package]) -> Iterator[Controller]:
    """A controller with a registry that knows every image."""
    registry = FakeRegistry().start()
    admission = Controller(folder, registry, packages)
    try:
        yield admission
    finally:
        admission.close()
        registry.stop()


def app_of(package: Package) -> str:
    """Application id of a package: ids have no underscores."""
    return package.name.replace("_", "-")


def write_package(folder: Path, package: Package) -> None:
    """Write the package with its description, as its author would publish it."""
    package.write(folder / "content")
    (folder / "margo.yaml").write_text(yaml_text.dump(_description(package)))


def _description(package: Package) -> dict[str, Any]:
    app = app_of(package)
    kind = package.kind
    values = package.variables if kind == "compose" else package.values
    names = {pointer: f"p{number}" for number, pointer in enumerate(values)}
    types = {name: _type(values[pointer]) for pointer, name in names.items()}
    settings = [{"parameter": name, "name": name, "schema": kind} for name, kind in types.items()]
    described = {
        "apiVersion": "v1",
        "id": app,
        "metadata": {
            "name": app,
            "version": VERSION,
            "catalog": {"organization": [{"name": "Margrave tests"}]},
        },
        "deploymentProfiles": [
            {
                "type": kind,
                "id": f"{app}-{kind}",
                "components": [
                    {
                        "name": COMPONENT,
                        "properties": {
                            "repository": f"oci://registry.margrave.lab:5000/{app}",
                            "revision": VERSION,
                        },
                        "x-margrave-extensions": {"path": "./content"},
                    }
                ],
            }
        ],
    }
    if names:
        described["parameters"] = {
            names[pointer]: {
                "value": value,
                "targets": [{"pointer": pointer, "components": [COMPONENT]}],
            }
            for pointer, value in values.items()
        }
        described["configuration"] = {
            "sections": [{"name": "All", "settings": settings}],
            "schema": [{"name": kind, "dataType": kind} for kind in sorted(set(types.values()))],
        }
    return described


def _type(value: object) -> str:
    return "boolean" if isinstance(value, bool) else "string"


def judge_admission(admission: Controller, package: Package, engine: str) -> Verdict:
    """Compare the controller's answer with the package's expectation."""
    refusal = admission.refusal(package)
    findings = []
    if package.admission == Expectation.REFUSED and not refusal:
        findings.append("was let in")
    if package.expect is Expectation.RUNS and refusal:
        findings.append(f"was refused: {refusal}")
    end = f"refused: {refusal[:200]}" if refusal else "let in"
    return Verdict(package.name, "admission", engine, end, tuple(findings))
