"""The runner's configuration: defaults, findings, and what stops the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from margrave.errors import SettingsError
from runner import settings

MINIMAL = '[site]\nname = "harbor"\n[git]\nremote = "https://git.example/d.git"\n'


def load(tmp_path: Path, text: str, **environ: str) -> settings.RunnerSettings:
    """Settings from this text and environment."""
    file = tmp_path / "margrave.toml"
    file.write_text(text)
    return settings.load(file, environ)


def test_two_lines_are_a_configuration(tmp_path: Path) -> None:
    """Everything else has a default, and paths begin at the file."""
    loaded = load(tmp_path, MINIMAL)
    assert loaded.state.dir == tmp_path / "state"
    assert (loaded.poll.interval, loaded.drift.interval) == ("30s", "60s")
    assert loaded.http.bind == "127.0.0.1:8801"


def test_all_findings_of_a_configuration_come_at_once(tmp_path: Path) -> None:
    """Unknown keys, wrong values and missing ones, together."""
    with pytest.raises(SettingsError) as raised:
        load(tmp_path, '[site]\nname = "No Label"\n[pol]\nx = 1\n[poll]\ninterval = "soon"\n')
    text = str(raised.value)
    for word in ("/site/name", "/pol", "/poll/interval", "/git"):
        assert word in text


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ('[http]\nbind = "0.0.0.0:8801"\n', "/http/bind"),
        ('[controller]\nurl = "http://controller.example"\ntoken = "t"\n', "/controller/url"),
        ('[controller]\nurl = "https://controller.example"\n', "/controller"),
        ('[controller]\nurl = "controller.example:8800"\ntoken = "t"\n', "/controller/url"),
        ('[controller]\nurl = "https://controller:x"\ntoken = "t"\n', "/controller/url"),
        ('[controller]\ncert = "c.pem"\n', "/controller: certificate and key belong together"),
        ('[controller]\nca_file = "gone.pem"\n', "/controller/ca_file: .*gone.pem cannot be read"),
        ('cert = "gone.pem"\nkey = "gone.key"\n', "/git/cert: .*gone.pem cannot be read"),
        ('[http.tls]\ncert = "c.pem"\n', "/http/tls"),
    ],
)
def test_what_is_unsafe_stops_the_start(tmp_path: Path, more: str, pointer: str) -> None:
    """Each with the key and the cure."""
    with pytest.raises(SettingsError, match=pointer):
        load(tmp_path, MINIMAL + more)


def test_insecure_is_possible_in_so_many_words(tmp_path: Path) -> None:
    """And by environment as well as by file."""
    text = MINIMAL + '[http]\nbind = "0.0.0.0:8801"\n'
    loaded = load(tmp_path, text, MARGRAVE_HTTP__INSECURE="true")
    assert loaded.http.insecure


def test_a_password_in_the_remote_is_refused(tmp_path: Path) -> None:
    """It would be shown wherever the remote is named."""
    with pytest.raises(SettingsError, match="holds a password"):
        load(tmp_path, MINIMAL.replace("git.example", "u:p@git.example"))


@pytest.mark.parametrize("interval", ["0s", "25h", "999999999h"])
def test_an_interval_that_no_timer_can_be_set_by_is_a_finding(
    tmp_path: Path, interval: str
) -> None:
    """Never without a pause, and at least once a day; it is told at the start."""
    sections = [f'[{name}]\ninterval = "{interval}"\n' for name in ("poll", "drift", "heartbeat")]
    with pytest.raises(SettingsError) as raised:
        load(tmp_path, MINIMAL + "".join(sections))
    assert {one.pointer for one in raised.value.findings} == {
        "/poll/interval",
        "/drift/interval",
        "/heartbeat/interval",
    }
    assert {one.message for one in raised.value.findings} == {"is not between 1s and 24h"}
