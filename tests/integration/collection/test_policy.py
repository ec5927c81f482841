"""What the policy does not allow reaches nothing on a real node."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import Lab
from tests.support import compose_vectors
from tests.support.shop import ENGINES, Shop, Step

pytestmark = pytest.mark.lab

IMAGE = "registry.margrave.lab:5000/shell:1"
TRACE = "/root/margrave-was-here"
PROFILE = "/etc/profile.d/margrave-was-here.sh"
DATA = "/srv/margrave-test"
PLANT = "ln -sfn /root /data/link; echo done >/data/planted; exec tail -f /dev/null"
HOSTILE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a volume in memory that binds the node's root": (
        {
            "services": {"web": {"command": f"touch /x{TRACE}", "volumes": ["all:/x"]}},
            "volumes": {"all": {"driver_opts": {"type": "tmpfs", "o": "bind", "device": "/"}}},
        },
        {},
    ),
    "a log that is a file of the node": (
        {
            "services": {
                "web": {
                    "command": f"echo touch {TRACE}",
                    "logging": {
                        "driver": "k8s-file",
                        "options": {"path": PROFILE[1:]},
                    },
                }
            }
        },
        {},
    ),
    "a device beside the allowed ones": (
        {"services": {"web": {"devices": ["/dev/serial/by-id/../../kmsg:/dev/x"]}}},
        {"devices": ["/dev/serial/by-id/*"]},
    ),
    "a folder below one that it writes to": (
        {
            "services": {
                "web": {"command": ["sh", "-c", PLANT], "volumes": [f"{DATA}:/data"]},
                "other": {"volumes": [f"{DATA}/link:/x"], "depends_on": ["web"]},
            }
        },
        {"host_paths": [DATA]},
    ),
}
ORDINARY = {
    "services": {
        "web": {
            "command": ["sh", "-c", "touch /memory/x /kept/x && exec tail -f /dev/null"],
            "healthcheck": {"test": ["CMD", "test", "-e", "/kept/x"], "interval": "1s"},
            "volumes": ["memory:/memory", "kept:/kept", "./page.html:/page.html:ro"],
            "tmpfs": ["/run:size=1m,mode=0755"],
            "cap_drop": ["ALL"],
            "cap_add": ["NET_BIND_SERVICE"],
            "security_opt": ["no-new-privileges:true"],
            "ulimits": {"nofile": {"soft": 1024, "hard": 2048}},
            "mem_limit": "64m",
            "pids_limit": 50,
            "sysctls": {"net.core.somaxconn": "256"},
            "logging": {"driver": "json-file", "options": {"max-size": "1m"}},
            "hostname": "web",
            "extra_hosts": ["db.site:10.0.0.2"],
            "stop_grace_period": "0s",
            "networks": {"back": {"aliases": ["shop"]}},
            "configs": ["page"],
            "secrets": ["password"],
        },
        # Docker puts configs into a container only where it may write.
        "sealed": {"read_only": True, "tmpfs": "/tmp", "network_mode": "none"},
    },
    "volumes": {
        "memory": {
            "driver_opts": {"type": "tmpfs", "device": "tmpfs", "o": "size=1m,uid=0,mode=0700"}
        },
        "kept": {},
    },
    "networks": {"back": {"internal": True}},
    "configs": {"page": {"content": "hello"}},
    "secrets": {"password": {"file": "./password"}},
}


@pytest.fixture(scope="module")
def image(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An image with a shell."""
    folder = tmp_path_factory.mktemp("images")
    (folder / "shell" / "tags" / "1").mkdir(parents=True)
    (folder / "shell" / "image.toml").write_text('command = ["/bin/sh"]\n')
    lab.push_images(folder)
    return IMAGE


@pytest.fixture
def data(shop: Shop) -> Iterator[str]:
    """A folder of the node that a site may open, with one folder in it."""
    shop.ssh(f"rm -rf {DATA} {TRACE} {PROFILE} && mkdir -p {DATA}/inner")
    yield DATA
    shop.ssh(f"rm -rf {DATA} {TRACE} {PROFILE}")


def _package(folder: Path, model: dict[str, Any]) -> Path:
    """Write a component whose services run the image with the shell."""
    folder.mkdir(parents=True)
    services = {
        name: {"image": IMAGE, "command": "tail -f /dev/null", **service}
        for name, service in model["services"].items()
    }
    (folder / "compose.yaml").write_text(json.dumps({**model, "services": services}))
    (folder / "page.html").write_text("hello")
    (folder / "password").write_text("secret")
    return folder


def _install(shop: Shop, name: str, model: dict[str, Any], policy: dict[str, Any]) -> Step:
    if name not in shop.packages:
        shop.packages = {**shop.packages, name: _package(shop.folder / name, model)}
    return shop.install(name, policy=policy)


@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_a_hostile_package_is_refused_and_leaves_no_trace(
    shop: Shop, image: str, data: str
) -> None:
    """Mounts in disguise, log files, devices and links end before anything runs."""
    answers = shop.call(
        *(_install(shop, name, model, policy) for name, (model, policy) in HOSTILE.items())
    )

    assert [answer["error"]["code"] for answer in answers] == ["policy"] * len(HOSTILE)
    left = shop.ssh(f"ls {TRACE} {PROFILE} {data}/link 2>&1 || true")
    assert left.count("No such file") == 3, left
    assert shop.ssh(f"{shop.engine} ps -aq --filter label=margrave.deployment") == ""


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_a_planted_link_is_not_followed(shop: Shop, image: str, data: str) -> None:
    """Neither a release that comes later nor mending follows a link that a container left."""
    policy = {"host_paths": [data]}
    writer = {"services": {"web": {"command": ["sh", "-c", PLANT], "volumes": [f"{data}:/data"]}}}
    reader = {"services": {"web": {"volumes": [f"{data}/link:/x"]}}}
    inner = {"services": {"web": {"volumes": [f"{data}/inner:/x"]}}}

    planted = shop.one(_install(shop, "writer", writer, policy))
    shop.ssh(f"timeout 20 sh -c 'until test -e {data}/planted; do sleep 0.1; done'")
    followed = shop.one(_install(shop, "reader", reader, policy))
    fine = shop.one(_install(shop, "inner", inner, policy))
    shop.ssh(f"{shop.engine} rm -f $({shop.engine} ps -qf label=margrave.deployment)")
    shop.ssh(f"rm -rf {data}/inner && ln -s /root {data}/inner")
    mended = shop.one(_install(shop, "inner", inner, policy))

    assert planted["error"] is None
    assert followed["error"]["code"] == "link-in-path", followed["error"]
    assert f"{data}/link is a symbolic link" in followed["error"]["message"]
    assert fine["error"] is None
    assert mended["error"]["code"] == "link-in-path", mended["error"]


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_an_ordinary_package_runs(shop: Shop, image: str) -> None:
    """Limits, memory, own networks, secrets and a hardened service need no allowance."""
    answer = shop.one(_install(shop, "ordinary", ORDINARY, {}))

    assert answer["error"] is None
    assert answer["state"] == "INSTALLED"


@pytest.mark.full
@pytest.mark.parametrize("shop", ENGINES, indirect=True)
def test_stored_models_are_what_compose_makes(shop: Shop) -> None:
    """The models that unit tests judge equal those of the node's Compose."""
    told = shop.ssh("docker-compose version --short || docker compose version --short").strip()
    version = ".".join(told.removeprefix("v").split(".")[:2])
    command = f"python3 -c {shlex.quote(compose_vectors.RESOLVE)} /usr/bin/docker-compose"

    questions = compose_vectors.questions(version)
    done = shop.lab.ssh(shop.node, command, input=questions, timeout=300, check=True)

    assert compose_vectors.resolved(done.stdout) == compose_vectors.versions()[version]
