"""Configuration: one file, environment over it, every finding at once."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from margrave.errors import SettingsError
from margrave.secret import Secret
from margrave.settings import load


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Http(_Part):
    bind: str = "127.0.0.1:8800"


class _Git(_Part):
    password: Secret | None = None
    poll: int = 30


class _Hooks(_Part):
    secrets: list[Secret] = []


class _Settings(_Part):
    http: _Http = _Http()
    git: _Git = _Git()
    hooks: _Hooks = _Hooks()
    registries: list[dict[str, str]] = []


def _files(path: str) -> str:
    if path == "/run/secret":
        return "sesame\n"
    if path == "/run/binary":
        return b"\xff".decode()
    raise FileNotFoundError(2, "No such file or directory")


def _load(text: str | None = None, **environ: str) -> _Settings:
    return load(_Settings, text, environ, _files)


def test_environment_stands_over_the_file() -> None:
    """A variable with `__` overrides its key; one without is no configuration."""
    settings = _load("[git]\npoll = 5\n", MARGRAVE_GIT__POLL="9", MARGRAVE_URL="ignored")

    assert settings.git.poll == 9


def test_secrets_come_from_files_and_never_print() -> None:
    """`_FILE` works in the environment, `_file` in the file; a secret prints as [redacted]."""
    by_env = _load(MARGRAVE_GIT__PASSWORD_FILE="/run/secret")
    by_file = _load('[git]\npassword_file = "/run/secret"\n')

    assert by_env.git.password == by_file.git.password == Secret("sesame")
    assert "sesame" not in repr(by_env)


def test_lists_are_json() -> None:
    """Lists and registries come as JSON."""
    settings = _load(
        MARGRAVE_HOOKS__SECRETS='["a", "b"]', MARGRAVE_REGISTRIES__JSON='[{"host": "r"}]'
    )

    assert [one.reveal() for one in settings.hooks.secrets] == ["a", "b"]
    assert settings.registries == [{"host": "r"}]


def test_all_findings_come_at_once_with_their_cure() -> None:
    """A wrong file and a wrong environment are told together, with the nearest right name."""
    text = '[http]\nbnd = "x"\n[gti]\nx = 1\n[git]\npoll = "often"\n'

    with pytest.raises(SettingsError) as refused:
        _load(text, MARGRAVE_GIT__PASSWORD_FILE="/gone", MARGRAVE_GIT__PASWORD="x")

    told = "\n".join(str(one) for one in refused.value.findings)
    assert 'margrave.toml: /http/bnd: names no setting (did you mean "bind"?)' in told
    assert 'margrave.toml: /gti: names no setting (did you mean "git"?)' in told
    assert "margrave.toml: /git/poll: input should be a valid integer" in told
    assert "MARGRAVE_GIT__PASSWORD_FILE: /gone cannot be read: No such file or directory" in told
    assert 'MARGRAVE_GIT__PASWORD names no setting (did you mean "password"?)' in told


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/gone", "No such file or directory"), ("/run/binary", "it is not UTF-8 text")],
)
def test_a_secret_file_that_cannot_be_read_is_named(path: str, reason: str) -> None:
    """The finding has the configuration file, the key, the path that it names, and the reason."""
    with pytest.raises(SettingsError) as refused:
        _load(f'[git]\npassword_file = "{path}"\n', MARGRAVE_GIT__PASSWORD_FILE=path)

    findings = [str(finding) for finding in refused.value.findings]
    cure = "(check path and permissions)"
    assert findings == [
        f"MARGRAVE_GIT__PASSWORD_FILE: {path} cannot be read: {reason} {cure}",
        f"margrave.toml: git.password_file: {path} cannot be read: {reason} {cure}",
    ]


def test_what_is_no_toml_is_told_with_its_line() -> None:
    """A file that cannot be parsed is one finding."""
    with pytest.raises(SettingsError, match="is not TOML"):
        _load("[http\n")
