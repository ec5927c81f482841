"""A lab node's own Kubernetes: real programs, built once from their Go modules, and kept.

Debian brings containerd and the plugins of its network; API server, controllers, scheduler, kubelet
and kubectl are one program here that is what it is called by, so that they are linked once.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lab.commands import environment, run
from lab.errors import LabError, NotPossibleHere
from lab.layout import RUN, cache_folder
from lab.locks import held
from lab.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.fleet import Lab

SOURCES = Path(__file__).with_name("kubernetes_programs")
VERSION = "1.33.0"
HELM = "v3.18.0"  # of the same Kubernetes, so that the compiler has less to do
ETCD = "v3.6.0"
PARTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl")
UNITS = ("containerd", "etcd", *(part for part in PARTS if part != "kubectl"))
# containerd begins each pod with it (config.toml). Kubernetes' distributions bring theirs along, so
# that a pod can start while no registry answers.
SANDBOX_IMAGE = "registry.margrave.lab:5000/idle:1"
LOCK = RUN / ".locks" / ".kubernetes"
# From nothing on two processors; most of it is the compiler's.
BUILD_LIMIT = 3600.0
READY_LIMIT = 180.0


def programs() -> Path | None:
    """The folder of the built programs, or None while they are not built."""
    folder = _folder()
    return folder if folder.is_dir() else None


def build(progress: Callable[[str], None] = lambda _: None) -> Path:
    """Build what is not built yet; minutes, once for each version."""
    folder = _folder()
    if folder.is_dir():
        return folder
    with held(LOCK):
        if not folder.is_dir():
            if shutil.which("go", path=environment()["PATH"]) is None:
                raise NotPossibleHere("Go is not installed", "install Go 1.24 or newer")
            progress(f"building Kubernetes {VERSION}, etcd and Helm (once; a quarter of an hour)")
            draft = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            _kubernetes(draft)
            _etcd(draft)
            shutil.copy2(helm(), draft)
            draft.rename(folder)
    return folder


def helm() -> Path:
    """Build Helm alone, if it is not built yet, and return the program."""
    folder = cache_folder().parent / f"helm-{HELM}"
    if folder.is_dir():
        return folder / "helm"
    with held(LOCK.with_name(".helm")):
        if not folder.is_dir():
            draft = folder.with_name(f"{folder.name}.new")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            flags = ("-trimpath", "-ldflags=-s -w")
            _go(draft, "install", *flags, f"helm.sh/helm/v3/cmd/helm@{HELM}", GOBIN=str(draft))
            draft.rename(folder)
    return folder / "helm"


def install(lab: Lab, node: str, progress: Callable[[str], None] = lambda _: None) -> None:
    """Make a node of the engine `kubernetes` one that runs pods; returns when it is ready."""
    folder = build(progress)
    started = time.monotonic()
    if lab.ssh(node, "test -x /usr/local/bin/helm", check=False).returncode:
        _send(lab, node, folder)
        links = "; ".join(f"ln -sf kubernetes /usr/local/bin/{part}" for part in PARTS)
        lab.ssh(node, f"{links}; systemctl daemon-reload")
    lab.ssh(node, f"systemctl enable --now {' '.join(UNITS)}")
    until(lambda: _is_ready(lab, node), f"Kubernetes of {node} to be ready", READY_LIMIT)
    _fetch_sandbox_image(lab, node)
    progress(f"Kubernetes {VERSION} runs on {node} ({time.monotonic() - started:.0f} s)")


def _is_ready(lab: Lab, node: str) -> bool:
    """Nodes and the account that pods need; both come a while after the API server."""
    asked = (
        "kubectl --kubeconfig /etc/kubernetes/admin.conf get serviceaccount default -o name"
        " && kubectl --kubeconfig /etc/kubernetes/admin.conf wait --for=condition=Ready nodes --all"
        " --timeout=1s"
    )
    return lab.ssh(node, asked, check=False).returncode == 0


def _fetch_sandbox_image(lab: Lab, node: str) -> None:
    """Fetch the image that containerd begins pods with, where no pod has needed it yet."""
    lab.ssh(
        node,
        f"ctr -n k8s.io images ls -q | grep -qxF {SANDBOX_IMAGE} || ctr -n k8s.io images pull"
        f" --hosts-dir /etc/containerd/certs.d {SANDBOX_IMAGE} >/dev/null",
    )


def _send(lab: Lab, node: str, folder: Path) -> None:
    """Pack the programs through the connection."""
    with subprocess.Popen(
        [*lab.ssh_command(node), "tar -xf - -C /usr/local/bin"],
        stdin=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        with tarfile.open(fileobj=process.stdin, mode="w|") as tar:
            for file in sorted(folder.iterdir()):
                tar.add(file, arcname=file.name)
        process.stdin.close()
        if process.wait(timeout=120):
            raise LabError(f"{node}: the programs of Kubernetes could not be copied to it")


def _folder() -> Path:
    digest = hashlib.sha256(repr((VERSION, HELM, ETCD)).encode())
    for file in sorted(SOURCES.rglob("*.go")):
        digest.update(file.read_bytes())
    return cache_folder().parent / f"kubernetes-{VERSION}-{digest.hexdigest()[:12]}"


def _kubernetes(target: Path) -> None:
    """With the versions of Kubernetes' own go.mod, whose parts are modules of their own here."""
    _go(target, "mod", "download", f"k8s.io/kubernetes@v{VERSION}")
    cache = Path(_go(target, "env", "GOMODCACHE").strip())
    upstream = cache / f"k8s.io/kubernetes@v{VERSION}"
    work = _workshop(target, "kubernetes")
    lines = ["module lab.margrave/kubernetes"]
    for line in (upstream / "go.mod").read_text().splitlines():
        name, arrow, _place = line.partition(" => ./staging/src/")
        of_its_own = f"{name} => {name.strip()} v0.{VERSION.partition('.')[2]}"
        lines += [] if line.startswith("module ") else [of_its_own if arrow else line]
    lines.append(f"require k8s.io/kubernetes v{VERSION}")
    (work / "go.mod").write_text("\n".join(lines) + "\n")
    (work / "go.sum").write_bytes((upstream / "go.sum").read_bytes())
    major, minor, _patch = VERSION.split(".")
    told = {"gitVersion": f"v{VERSION}", "gitMajor": major, "gitMinor": minor}
    marks = " ".join(f"-X k8s.io/component-base/version.{key}={text}" for key, text in told.items())
    _compile(work, target / "kubernetes", marks)


def _etcd(target: Path) -> None:
    work = _workshop(target, "etcd")
    _go(work, "mod", "init", "lab.margrave/etcd")
    _go(work, "mod", "edit", "-require", f"go.etcd.io/etcd/server/v3@{ETCD}")
    _go(work, "mod", "tidy")
    _compile(work, target / "etcd")


def _workshop(target: Path, name: str) -> Path:
    work = target.with_name(f"{target.name}.{name}")
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(SOURCES / name, work)
    return work


def _compile(work: Path, program: Path, marks: str = "") -> None:
    _go(work, "build", "-mod=mod", "-trimpath", f"-ldflags=-s -w {marks}", "-o", str(program), ".")
    shutil.rmtree(work)


def _go(folder: Path, *words: str, **more: str) -> str:
    # Whoever works on this machine meanwhile goes first.
    command = ["nice", "-n", "15", "go", f"-C={folder}", *words]
    return run(command, timeout=BUILD_LIMIT, env={"CGO_ENABLED": "0", **more})
