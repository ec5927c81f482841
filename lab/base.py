"""The base system of all nodes: Debian, prepared by the role edge_node, kept for reuse."""

from __future__ import annotations

import json
import platform
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab import cgroups, claims, machine, mirror, network, recipe, seed, ssh
from lab.commands import run
from lab.engines import KINDS, Engine, Kind
from lab.errors import LabError
from lab.layout import BASE_LOCK, Layout, cache_folder
from lab.locks import held
from lab.node import Boot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lab.record import Record

HERE = Path(__file__).parent
# In a checkout the roles stand beside the lab, in an installed package among the runner's files.
ROLES = (HERE.parent / "roles", HERE.parent / "runner" / "_ansible" / "roles")

# No lab of an operator can have this name.
WORKSHOP = Layout(".base")


def ready(engine: Engine, progress: Callable[[str], None]) -> Path:
    """The folder of the base system; built first when there is none of this recipe."""
    kind = KINDS[engine]
    folder = _folder(kind)
    if folder.is_dir():
        return folder
    with held(BASE_LOCK):
        if not folder.is_dir():
            started = time.monotonic()
            progress(f"building the base system of {engine} nodes (once; a minute or two)")
            _remove_old(folder, kind)
            _build(folder, kind, progress)
            progress(f"base system is ready ({time.monotonic() - started:.0f} s), kept in {folder}")
    return folder


def roles() -> Path:
    for folder in ROLES:
        if (folder / "edge_node").is_dir():
            return folder
    raise LabError(f"{ROLES[0]}/edge_node: the role that prepares nodes is missing")


def _folder(kind: Kind) -> Path:
    role = [] if kind.role is None else [roles() / "edge_node"]
    sources = [*role, recipe.NODE_FILES, *kind.files]
    identity = recipe.identity(sources, kind, platform.machine())
    return cache_folder() / f"{kind.base}-{identity}"


def _remove_old(folder: Path, kind: Kind) -> None:
    """Drop half-built and outdated bases, except those a lab still stands on."""
    kept = claims.bases_in_use()
    for other in folder.parent.glob(f"{kind.base}-*"):
        if str(other) not in kept:
            shutil.rmtree(other)


def _build(folder: Path, kind: Kind, progress: Callable[[str], None]) -> None:
    draft = folder.with_name(f"{folder.name}.new")
    draft.parent.mkdir(parents=True, exist_ok=True)
    source = mirror.find()
    progress(f"  Debian {kind.suite} from {source}")
    _bootstrap(source, draft, kind)
    draft.chmod(0o755)
    _furnish(draft, kind)
    if kind.role is not None:
        progress("  role edge_node on a booted node")
        _prepare(draft, kind)
    _strip(draft)
    draft.rename(folder)


def _prepare(draft: Path, kind: Kind) -> None:
    """Boot the base itself once, and let the role do to it what it does to any machine."""
    record = claims.claim(WORKSHOP).with_nodes(["base"])
    _take_down(record)  # what a killed build left
    try:
        _boot(draft, record, kind.storage)
        _apply_role(record.address("base"), kind.role or {})
        ssh.run(
            WORKSHOP,
            record.address("base"),
            "systemctl poweroff",
            stdin=None,
            timeout=20,
            check=False,
        )
        machine.wait_until_off(record.subnet.interface(record.nodes["base"]))
    finally:
        _take_down(record)
        shutil.rmtree(WORKSHOP.kept, ignore_errors=True)


def _bootstrap(source: str, draft: Path, kind: Kind) -> None:
    try:
        run(recipe.bootstrap(source, draft, kind, mirror.apt_options()), timeout=900)
    except LabError as error:
        raise LabError(
            f"no Debian {kind.suite} from {source}: {error.message}",
            "see whether that mirror can be reached, or name another: MARGRAVE_LAB_MIRROR=URL",
        ) from error


def _furnish(root: Path, kind: Kind) -> None:
    """Add the lab's own files, and switch off what a lab node has no use for."""
    for folder in (recipe.NODE_FILES, *kind.files):
        _copy(folder, root)
    units = root / "etc/systemd/system"
    for name in recipe.MASKED:
        (units / name).unlink(missing_ok=True)
        (units / name).symlink_to("/dev/null")
    wants = units / "sysinit.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "lab-cgroups.service").symlink_to("../lab-cgroups.service")
    _strip(root)


def _copy(source: Path, root: Path) -> None:
    """Files with their modes; folders that are there keep theirs, whatever the source's say."""
    for file in sorted(one for one in source.rglob("*") if one.is_file()):
        target = root / file.relative_to(source)
        target.parent.mkdir(mode=file.parent.stat().st_mode & 0o777, parents=True, exist_ok=True)
        shutil.copy(file, target)


def _strip(root: Path) -> None:
    """Remove what makes a system this one and no other; every node gets it from its seed."""
    for pattern in (
        *("etc/ssh/ssh_host_*", "root/.ssh", "root/.ansible", "var/log/journal/*", "var/log/*.log"),
        *("var/lib/systemd/random-seed", "var/cache/apt/*.bin", "etc/resolv.conf"),
    ):
        for found in root.glob(pattern):
            shutil.rmtree(found) if found.is_dir() else found.unlink()
    # Empty, not missing: systemd makes a new one, and does not take the boot for the first of all.
    (root / "etc/machine-id").write_text("")


def _boot(draft: Path, record: Record, storage: str) -> None:
    number = record.nodes["base"]
    subnet, places = record.subnet, WORKSHOP.node("base")
    WORKSHOP.key.unlink(missing_ok=True)
    seed.make_key(WORKSHOP.key, "lab")
    authorized = WORKSHOP.key.with_suffix(".pub").read_text()
    seed.write(places.seed, "base", subnet.gateway, authorized)
    _copy(places.seed, draft)
    ssh.write_known_hosts(
        WORKSHOP.known_hosts, {record.address("base"): seed.public_host_key(places.seed)}
    )
    machine.make_disk(places.image)
    network.make_bridge(subnet)
    network.connect(subnet, "base", number)
    machine.start(
        Boot(
            machine=subnet.interface(number),
            namespace=subnet.namespace("base"),
            base=draft,
            places=places,
            groups=cgroups.make(WORKSHOP.name, "base"),
            storage=storage,
            layered=False,
            old_cgroups=cgroups.is_v1(),
            own_scope=cgroups.host_has_systemd(),
        )
    )
    ssh.wait_for_banner(record.address("base"))


def _apply_role(address: str, variables: Mapping[str, Any]) -> None:
    scratch = WORKSHOP.run / "ansible"
    scratch.mkdir(parents=True, exist_ok=True)
    settings = scratch / "ansible.cfg"
    settings.write_text("")  # none of the caller's
    options = ssh.command(WORKSHOP, address)[1:-1]
    env = {
        "ANSIBLE_CONFIG": str(settings),
        "ANSIBLE_HOME": str(scratch),
        "ANSIBLE_ROLES_PATH": str(roles()),
        "ANSIBLE_SSH_ARGS": " ".join(options),
        "ANSIBLE_PIPELINING": "true",
        "ANSIBLE_NOCOLOR": "true",
    }
    beside = Path(sys.executable).with_name("ansible-playbook")
    program = str(beside) if beside.exists() else "ansible-playbook"
    told = json.dumps({**variables, "ansible_user": "root"})
    run(
        [program, "-i", f"{address},", "-e", told, HERE / "base_playbook.yml"],
        env=env,
        timeout=300,
    )


def _take_down(record: Record) -> None:
    claims.dismantle(WORKSHOP, record.subnet)
    shutil.rmtree(WORKSHOP.run, ignore_errors=True)
