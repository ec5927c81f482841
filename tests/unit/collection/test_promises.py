"""What modules take, what their documentation says, and what the docs list is the same."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.margrave.edge.plugins.module_utils import _errors, _spec
from ansible_collections.margrave.edge.plugins.module_utils._result import Result

WORKLOADS = {f"workload_{kind}" for kind in ("delete", "install", "prefetch", "rollback", "update")}
ROOT = Path(__file__).resolve().parents[3]
EDGE = ROOT / "collections/ansible_collections/margrave/edge"
MODULES = sorted(path.stem for path in (EDGE / "plugins/modules").glob("*.py"))


def _constants(path: Path) -> dict[str, str]:
    tree = ast.parse(path.read_text())
    return {
        node.targets[0].id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def _documented(module: str) -> dict[str, Any]:
    """A module's options, those of its fragments too."""
    text = yaml.safe_load(_constants(EDGE / f"plugins/modules/{module}.py")["DOCUMENTATION"])
    options: dict[str, Any] = {}
    for fragment in text["extends_documentation_fragment"]:
        _, _, file, *part = fragment.split(".")
        constant = part[0].upper() if part else "DOCUMENTATION"
        parts = _constants(EDGE / f"plugins/doc_fragments/{file}.py")
        options.update(yaml.safe_load(parts[constant])["options"])
    return {**options, **text.get("options", {})}


def _same(spec: dict[str, Any], documented: dict[str, Any], where: str) -> None:
    assert set(spec) == set(documented), where
    for name, one in spec.items():
        told = documented[name]
        for key in ("type", "required", "default", "choices", "elements"):
            assert one.get(key) == told.get(key), f"{where}.{name}.{key}"
        if "options" in one:
            _same(one["options"], told["suboptions"], f"{where}.{name}")


@pytest.mark.parametrize("module", ["workload_prefetch", "workload_install", "workload_update"])
def test_documentation_is_the_specification(module: str) -> None:
    """Options, types, defaults and choices are documented as they are checked."""
    _same(_spec.apply(), _documented(module), module)


@pytest.mark.parametrize("module", MODULES)
def test_docs_name_every_option(module: str) -> None:
    """docs/modules.md has each module and each of its options."""
    page = (ROOT / "docs/modules.md").read_text()

    assert f"`{module}`" in page
    missing = [name for name in _documented(module) if name not in page]
    assert missing == []


def test_docs_name_every_class() -> None:
    """docs/modules.md has each class of error that a module can answer with."""
    page = (ROOT / "docs/modules.md").read_text()
    kinds = {one.kind for one in _errors.EdgeError.__subclasses__()}

    assert [kind for kind in sorted(kinds) if f"| `{kind}` |" not in page] == []


@pytest.mark.parametrize("module", [name for name in MODULES if name in WORKLOADS])
def test_answers_are_documented_alike(module: str) -> None:
    """Ansible has no fragments for what modules return: each names all of it, in the same words."""
    told = yaml.safe_load(_constants(EDGE / f"plugins/modules/{module}.py")["RETURN"])
    model = yaml.safe_load(_constants(EDGE / "plugins/modules/workload_install.py")["RETURN"])

    answered = set(Result().as_dict()) - {"changed"}  # that one is every module's
    assert set(told) >= answered
    assert {name: told[name]["description"] for name in answered} == {
        name: model[name]["description"] for name in answered
    }


def test_no_package_shadows_the_standard_library() -> None:
    """Nothing below collections/ or plugins/ is a regular package."""
    found = [*(ROOT / "collections").rglob("__init__.py"), *(ROOT / "plugins").rglob("__init__.py")]

    assert found == []


def test_nothing_of_ours_is_imported_on_a_node() -> None:
    """What travels to a node imports Ansible, itself and the standard library of Python 3.9."""
    allowed = ("ansible.module_utils", "ansible_collections.margrave.edge.plugins.module_utils")
    foreign = []
    for folder in ("modules", "module_utils"):
        for path in (EDGE / "plugins" / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 9))):
                name = node.module if isinstance(node, ast.ImportFrom) else None
                if name and name.split(".")[0] in ROOMS and not name.startswith(allowed):
                    foreign.append(f"{path.name}: {name}")

    assert foreign == []


ROOMS = {"ansible", "ansible_collections", "controller", "lab", "margrave", "runner", "webhook"}
