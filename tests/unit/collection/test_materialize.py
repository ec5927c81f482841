"""Package files, configs and secrets become read-only mounts of stored content."""

from __future__ import annotations

import ast
import copy
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _materialize, _model
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._materialize import Content, Rights


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a package with a file and a folder."""
    package = tmp_path / "components" / "app"
    (package / "settings").mkdir(parents=True)
    (package / "settings" / "app.conf").write_text("a=1\n")
    (package / "token.txt").write_text("token\n")
    return package


def _bind(source: object, target: str, **more: Any) -> dict[str, Any]:
    return {"type": "bind", "source": str(source), "target": target, **more}


def _placed(
    model: dict[str, Any], package: Path, **environment: str
) -> tuple[dict[str, Any], list[Content]]:
    """Return the service `web` after materialisation, and the contents to store."""
    contents: list[Content] = []

    def place(content: Content) -> str:
        contents.append(content)
        return f"/kept/{content.name}"

    before = copy.deepcopy(model)
    found = _materialize.materialized("app", model, str(package), environment, place)
    assert model == before
    assert not {"configs", "secrets"} & found.keys()
    return found["services"]["web"], contents


def test_a_mount_of_the_package_is_kept_elsewhere_and_read_only(package: Path) -> None:
    """A mount of the package is read-only, whether or not the author asked for it."""
    mount = _bind(package / "settings", "/etc/app", bind={"create_host_path": True})

    web, contents = _placed({"services": {"web": {"volumes": [mount]}}}, package)

    assert contents == [Content("settings", path=str(package / "settings"))]
    assert web["volumes"] == [
        _bind("/kept/settings", "/etc/app", read_only=True, bind={"create_host_path": False})
    ]


def test_mounts_that_are_not_of_the_package_stay(package: Path) -> None:
    """Volumes and allowed paths of the node are mounted unchanged."""
    volumes = [_bind("/srv/data", "/data"), {"type": "volume", "source": "v", "target": "/v"}]

    web, contents = _placed({"services": {"web": {"volumes": volumes}}}, package)

    assert (web["volumes"], contents) == (volumes, [])


def test_configs_and_secrets_become_mounts(package: Path) -> None:
    """Configs and secrets are mounted at Compose's default targets, with their given rights."""
    model = {
        "services": {
            "web": {
                "configs": [{"source": "inline"}, {"source": "named", "target": "/etc/named"}],
                "secrets": [
                    {"source": "token", "mode": "0440", "uid": "1000", "gid": "1001"},
                    {"source": "word", "target": "deep/word", "mode": 0o400},
                ],
            }
        },
        "configs": {
            "inline": {"name": "p_inline", "content": "costs $$5"},
            "named": {"environment": "NAMED"},
        },
        "secrets": {
            "token": {"file": str(package / "token.txt")},
            "word": {"environment": "WORD"},
        },
    }

    web, contents = _placed(model, package, NAMED="n$x", WORD="")

    assert contents == [
        Content("inline", text="costs $5"),
        Content("named", text="n$x"),
        Content("token.txt", path=str(package / "token.txt"), rights=Rights(0o440, 1000, 1001)),
        Content("word", rights=Rights(0o400)),
    ]
    assert [mount["target"] for mount in web["volumes"]] == [
        "/inline",
        "/etc/named",
        "/run/secrets/token",
        "/run/secrets/deep/word",
    ]
    assert all(mount["read_only"] for mount in web["volumes"])
    assert not {"configs", "secrets"} & web.keys()


def test_dollar_signs_in_names_survive(package: Path) -> None:
    """A path with a dollar sign is unescaped on the disk and escaped in the model."""
    (package / "a$b").write_text("x")

    web, contents = _placed(
        {"services": {"web": {"volumes": [_bind(package / "a$$b", "/x")]}}}, package
    )

    assert contents[0].path == str(package / "a$b")
    assert web["volumes"][0]["source"] == "/kept/a$$b"
    assert _model.host_paths({"services": {"web": web}}) == ["/kept/a$b"]


def test_mount_points_inside_a_folder_are_made_with_it(package: Path) -> None:
    """Mount points below a package folder are created with it, unless the package has them."""
    volumes = [
        _bind(package / "settings", "/app"),
        {"type": "volume", "source": "v", "target": "/app/data"},
        _bind(package / "token.txt", "/app/deep/token"),
        _bind(package / "token.txt", "/app/app.conf"),
        {"type": "volume", "source": "v", "target": "/apple"},
    ]
    web = {"volumes": volumes, "tmpfs": ["/app/cache:size=1m"]}

    _web, contents = _placed({"services": {"web": web}}, package)

    assert contents[0].points == (("cache", True), ("data", True), ("deep/token", False))


@pytest.mark.parametrize(
    ("service", "more", "finding"),
    [
        ({"volumes": [_bind("PACKAGE/gone", "/x")]}, {}, "volumes: gone is not in the package"),
        (
            {"secrets": [{"source": "s"}]},
            {"secrets": {"s": {"environment": "GONE"}}},
            "secrets: s needs the variable GONE",
        ),
        (
            {"configs": [{"source": "c"}]},
            {"configs": {"c": {"file": "PACKAGE/gone"}}},
            "configs: c is gone, which is not in the package",
        ),
        (
            {"secrets": [{"source": "s"}]},
            {"secrets": {"s": {"external": True}}},
            "external ones need Swarm",
        ),
        (
            {"configs": [{"source": "c", "uid": "app"}]},
            {"configs": {"c": {"content": ""}}},
            "has uid app, which is not a number",
        ),
        (
            {"configs": [{"source": "c", "mode": "4755"}]},
            {"configs": {"c": {"content": ""}}},
            "has mode 4755, which is not between 0 and 777",
        ),
        (
            {"secrets": [{"source": "s", "mode": 0o2755}]},
            {"secrets": {"s": {"file": "PACKAGE/token.txt"}}},
            "has mode 2755, which is not between 0 and 777",
        ),
        (
            {"configs": [{"source": "c", "gid": "-1"}]},
            {"configs": {"c": {"content": ""}}},
            "has gid -1, which is not between 0 and 4294967294",
        ),
        (
            {"configs": [{"source": "c", "uid": "4294967295"}]},
            {"configs": {"c": {"content": ""}}},
            "has uid 4294967295, which is not between 0 and 4294967294",
        ),
        (
            {"configs": [{"source": ".."}]},
            {"configs": {"..": {"content": ""}}},
            "configs: .. is not a file name",
        ),
        ({"configs": [{"source": "c"}]}, {}, "configs: c is not defined"),
    ],
    ids=[
        "no file",
        "no variable",
        "no config file",
        "external",
        "named owner",
        "set user id",
        "set group id",
        "negative group",
        "no such user",
        "folder above",
        "undefined",
    ],
)
def test_what_has_no_content_is_refused(
    package: Path, service: dict[str, Any], more: dict[str, Any], finding: str
) -> None:
    """A mount without content is refused with its place and reason."""
    text = str({"services": {"web": service}, **more}).replace("PACKAGE", str(package))
    model = ast.literal_eval(text)

    with pytest.raises(ConfigError) as refused:
        _placed(model, package)

    assert refused.value.code == "mount-source"
    assert finding in refused.value.message
    assert "components.app: services.web." in refused.value.message


def test_only_variables_of_configs_and_secrets_in_use_are_asked_for() -> None:
    """A config or secret that no service uses needs no variable."""
    model = {
        "services": {"web": {"configs": [{"source": "c"}], "secrets": [{"source": "s"}]}},
        "configs": {"c": {"environment": "C"}, "unused": {"environment": "UNUSED"}},
        "secrets": {"s": {"environment": "S"}},
    }

    assert _materialize.variables(model) == {"C", "S"}
