"""Command lines, made without being run."""

from __future__ import annotations

from pathlib import Path

from lab import recipe, ssh
from lab.engines import KINDS, Engine
from lab.layout import Layout
from lab.node import Boot


def boot(**changes: object) -> list[str]:
    values = {
        "machine": "mgv0n11",
        "namespace": "mgv0-a",
        "base": Path("/base"),
        "places": Layout("x").node("a"),
    }
    return Boot(**{**values, **changes}).command()  # type: ignore[arg-type]


def test_a_node_boots_in_a_mount_namespace_of_its_own() -> None:
    """Mounts are private before anything is mounted, and the process can be found by its word."""
    words = boot(groups=[Path("/g/1"), Path("/g/2")])
    assert words[:5] == ["setsid", "--fork", "unshare", "--mount", "--propagation"]
    assert "--machine=mgv0n11" in words
    assert "layered" in words
    assert "/g/1:/g/2" in words
    assert words[-1] == "--boot"


def test_hosts_differ_in_what_a_node_is_told() -> None:
    """Old control groups are named to systemd; with systemd on the host the node gets a scope."""
    assert boot(old_cgroups=True)[-1] == "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"
    assert "--keep-unit" in boot()
    assert "--keep-unit" not in boot(own_scope=True)
    assert "bare" in boot(layered=False)


def test_layers_of_containers_lie_on_the_disk_and_not_on_an_overlay() -> None:
    """Each engine's own folder is a real one of the node's disk, wherever that engine keeps it."""
    disk = Layout("x").node("a").mount / "containers"
    for kind in KINDS.values():
        assert f"--bind={disk}:{kind.storage}" in boot(storage=kind.storage)


def test_ssh_trusts_the_known_key_alone_and_reads_no_settings() -> None:
    """Neither the user's configuration nor the user's agent has a say."""
    words = ssh.command(Layout("x"), "10.231.0.11")
    assert words[:3] == ["ssh", "-F", "/dev/null"]
    assert "StrictHostKeyChecking=yes" in words
    assert "IdentityAgent=none" in words
    assert words[-1] == "root@10.231.0.11"


def test_one_word_is_shell_text_and_several_stay_words() -> None:
    """Quoting is added exactly where the shell of the node would take words apart."""
    assert ssh.remote_words(["podman ps | wc -l"]) == "podman ps | wc -l"
    assert ssh.remote_words(["sh", "-c", "echo 'a  b'"]) == """sh -c 'echo '"'"'a  b'"'"''"""


def test_a_fingerprint_reads_as_ssh_keygen_prints_it() -> None:
    """SHA-256 in base64 without padding."""
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
    assert ssh.fingerprint(key) == "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"


def test_the_base_is_made_anew_when_recipe_or_role_change(tmp_path: Path) -> None:
    """Names and content of all files count, and the machine's architecture."""
    (tmp_path / "tasks").mkdir()
    file = tmp_path / "tasks" / "main.yml"
    file.write_text("one")
    podman, docker = KINDS[Engine.PODMAN], KINDS[Engine.DOCKER]
    first = recipe.identity([tmp_path], podman, "x86_64")
    assert recipe.identity([tmp_path], podman, "x86_64") == first
    assert recipe.identity([tmp_path], podman, "aarch64") != first
    assert recipe.identity([tmp_path], docker, "x86_64") != first
    file.write_text("two")
    assert recipe.identity([tmp_path], podman, "x86_64") != first


def test_the_base_comes_from_the_given_mirror_with_the_given_options() -> None:
    """Suite, folder and mirror stand last, in this order."""
    proxy = ['Acquire::http::Proxy "p"']
    words = recipe.bootstrap("http://mirror/debian", Path("/new"), KINDS[Engine.DOCKER], proxy)
    assert words[-3:] == ["trixie", "/new", "http://mirror/debian"]
    assert '--aptopt=Acquire::http::Proxy "p"' in words
