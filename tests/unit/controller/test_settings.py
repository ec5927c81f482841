"""The controller's configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from controller import settings
from margrave.errors import MargraveError, SettingsError
from runner import settings as runner_settings
from tests.support.authority import Authority


def loaded(folder: Path, text: str, **environ: str) -> settings.ControllerSettings:
    path = folder / "margrave.toml"
    path.write_text(text)
    return settings.load(path, environ)


def test_paths_start_at_the_file(tmp_path: Path) -> None:
    """Relative paths mean the folder of the file, wherever the command was started."""
    found = loaded(tmp_path, '[catalog]\nlocal_roots = ["apps"]\n')
    assert found.catalog.local_roots == (tmp_path / "apps",)
    assert found.database_url == f"sqlite:///{tmp_path}/state/margrave.db"
    assert found.repository == tmp_path / "state" / "git" / "deployments.git"


def test_environment_stands_above_the_file(tmp_path: Path) -> None:
    """MARGRAVE_<SECTION>__<KEY> wins over the file."""
    found = loaded(
        tmp_path,
        '[http]\nbind = "127.0.0.1:1"\n',
        MARGRAVE_HTTP__BIND="127.0.0.1:2",
        MARGRAVE_GIT__REMOTE="https://forge/x.git",
    )
    assert found.http.bind == "127.0.0.1:2"
    assert found.repository.name == "remote.git"


@pytest.mark.parametrize("load", [settings.load, runner_settings.load])
@pytest.mark.parametrize(
    ("cert", "key", "client_ca", "pointer", "words"),
    [
        ("gone.pem", "one.key", "authority.pem", "/http/tls/cert", "gone.pem cannot be read"),
        ("one.pem", "gone.key", "authority.pem", "/http/tls/key", "gone.key cannot be read"),
        ("one.pem", "two.key", "authority.pem", "/http/tls/key", "is not the key of"),
        ("one.pem", "one.key", "gone.pem", "/http/tls/client_ca", "gone.pem cannot be read"),
    ],
)
def test_a_file_of_the_server_that_cannot_be_used_is_named(
    tmp_path: Path,
    load: Callable[..., object],
    cert: str,
    key: str,
    client_ca: str,
    pointer: str,
    words: str,
) -> None:
    """Certificate, key and client authority, at the start of a controller and of a runner."""
    authority = Authority(tmp_path)
    authority.pair("one")
    authority.pair("two")
    path = tmp_path / "margrave.toml"
    tls = f'[http.tls]\ncert = "{cert}"\nkey = "{key}"\nclient_ca = "{client_ca}"\n'
    site = "" if load is settings.load else '[site]\nname = "harbor"\n'
    text = f'{site}[git]\nremote = "{tmp_path}"\n{tls}'
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load(path, {})
    [finding] = caught.value.findings
    assert (finding.pointer, finding.file) == (pointer, str(path))
    assert words in finding.message


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ('[http]\nbid = "x"\n[git]\nmode = "odd"\n', ["/git/mode", "/http/bid"]),
        ('[http]\nbind = "0.0.0.0:8800"\n', ["/http/bind"]),
        ('[http]\nbind = "18820"\n', ["/http/bind"]),
        ('[http]\nbind = "[::1]"\n', ["/http/bind"]),
        ('[http]\nbind = "127.0.0.1:99999"\n', ["/http/bind"]),
        ('[http]\ntrusted_proxies = ["proxy"]\n', ["/http/trusted_proxies"]),
        ('[http.tls]\ncert = "c"\n', ["/http/tls"]),
        ('[http.tls]\nclient_ca = "c"\n', ["/http/tls/client_ca"]),
        ('[git]\nmode = "branch"\n', ["/git/mode"]),
        ('[git]\npoll_interval = "often"\n', ["/git/poll_interval"]),
    ],
)
def test_findings(tmp_path: Path, text: str, pointers: list[str]) -> None:
    """What may not be started with is told at its place, all of it at once."""
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, text)
    assert sorted(one.pointer for one in caught.value.findings) == pointers


def test_insecure_in_so_many_words(tmp_path: Path) -> None:
    """An open door without TLS needs http.insecure."""
    assert loaded(tmp_path, '[http]\nbind = "0.0.0.0:8800"\ninsecure = true\n').http.insecure


def test_no_file(tmp_path: Path) -> None:
    """A file that is not there is told with the cure."""
    with pytest.raises(MargraveError, match="margrave init"):
        settings.load(tmp_path / "none.toml", {})


@pytest.mark.parametrize("bind", ["18820", ":8800", "127.0.0.1", "::1:8800", "localhost:http"])
def test_a_malformed_bind_is_named_as_such(tmp_path: Path, bind: str) -> None:
    """What is no host and port is not called an open door."""
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, f'[http]\nbind = "{bind}"\n')
    (finding,) = caught.value.findings
    assert finding.message == f'"{bind}" is not an address to listen on'
    assert finding.cure == "write host:port, such as 127.0.0.1:8800 or [::1]:8800"
