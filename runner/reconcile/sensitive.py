"""What a call carries and no record keeps: registry logins and resolved secrets.

A parameter's value `secret://NAME` is the name of a file in the site's secrets folder. Into change
detection a secret enters as an HMAC with the site's own key, so that a rotated one is an update
and nothing about it can be guessed from a database or a report.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from margrave.documents.deployment import Deployment
from margrave.errors import MargraveError, SecretsUnread
from margrave.names import is_label
from margrave.sections import RegistryLogin
from runner.reconcile.secret_folder import SecretFolder

PREFIX: Final = "secret://"
_KEY_BYTES: Final = 32


class NoLogin(MargraveError):
    """A registry's password cannot be read: the site's trouble, whatever release is wanted."""


class Secrets:
    """The site's secrets: a file each in its folder, else those that travel in Git."""

    def __init__(
        self,
        folder: Path | None,
        key_file: Path,
        in_git: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        noted = key_file.with_name("secrets.names")
        self._folder = SecretFolder(folder, noted) if folder is not None else None
        self._key_file = key_file
        self._own_key = b""
        self._in_git = in_git

    def value(self, name: str) -> str:
        """Return the secret without its final newline, or raise MargraveError.

        SecretsUnread where nobody can tell now whether it is there and what it is.
        """
        if not is_label(name.lower().replace("_", "-").replace(".", "-")):
            raise MargraveError(f'secret "{name}" has no proper name', "letters, digits, - _ .")
        # The folder first: what an operator has put at the site is meant for it.
        found = self._in_folder(name)
        if found is None:
            found = self._in_git().get(name)
        if found is None:
            raise MargraveError(f"secret {name} is not at this site", self._where())
        return found

    def _in_folder(self, name: str) -> str | None:
        if self._folder is None:
            return None
        return self._folder.value(name, elsewhere=lambda: name in self._in_git())

    def _where(self) -> str:
        if self._folder is not None:
            return f"put it into {self._folder}, or encrypted into Git below secrets/"
        return "put it into secrets.dir, or encrypted into Git with secrets.age_key set"

    def resolved(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The same, names of secrets replaced by their values."""
        return {
            key: self.value(one.removeprefix(PREFIX)) if is_name(one) else one
            for key, one in given.items()
        }

    def release_of(self, deployment: Deployment) -> str:
        """SHA-256 over the revision and, where there are any, the HMAC of its secrets."""
        names = _names(deployment)
        text = deployment.revision
        if names:
            text += " " + self._hmac(names)
        return hashlib.sha256(text.encode()).hexdigest()

    def _hmac(self, names: Sequence[str]) -> str:
        mac = hmac.new(self._key(), digestmod=hashlib.sha256)
        for name in names:
            try:
                value = self.value(name)
            except SecretsUnread:
                raise
            except MargraveError:
                value = ""  # a secret that is gone is a change too; the call says what is missing
            mac.update(f"{name}\0{len(value)}\0{value}\0".encode())
        return mac.hexdigest()

    def _key(self) -> bytes:
        """Return the site's own key, made at first use; what was read once stays in memory."""
        try:
            self._own_key = self._own_key or self._key_file.read_bytes()
        except FileNotFoundError:
            self._own_key = self._new_key()
        except OSError as error:
            message = f"the key of the site's secrets cannot be read now: {error.strerror}"
            raise SecretsUnread(message, f"let the runner read {self._key_file}") from error
        return self._own_key

    def _new_key(self) -> bytes:
        made = secrets.token_bytes(_KEY_BYTES)
        descriptor = os.open(self._key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(made)
            file.flush()
            os.fsync(file.fileno())
        return made


class Sensitive:
    """Adds to a call what it needs and what is stored nowhere."""

    def __init__(self, kept: Secrets, registries: Sequence[RegistryLogin]) -> None:
        self._kept = kept
        self._registries = registries

    def __call__(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that take the place of stored ones in a call."""
        added: dict[str, Any] = {}
        if arguments.get("components"):
            added["components"] = [self._filled(one) for one in arguments["components"]]
        told = [one for one in map(_of_node, self._registries) if len(one) > 1]
        return {**added, "registries": told} if told else added

    def _filled(self, component: Mapping[str, Any]) -> dict[str, Any]:
        """A component with its secrets: in Compose's variables, or in a chart's values."""
        given = {key: component[key] for key in ("variables", "values") if key in component}
        return {**component, **{key: self._kept.resolved(one) for key, one in given.items()}}


def hidden(stored: Mapping[str, Any], sent: Mapping[str, Any]) -> tuple[str, ...]:
    """The secrets among what is sent, long ones first: what is stored does not have them."""
    found = {str(one["password"]) for one in sent.get("registries") or () if "password" in one}
    pairs = zip(stored.get("components") or (), sent.get("components") or (), strict=False)
    for before, after in pairs:
        for key in ("variables", "values"):
            there = (after.get(key) or {}).items()
            found |= {str(value) for name, value in there if value != before[key][name]}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def _of_node(registry: RegistryLogin) -> dict[str, Any]:
    """What a node has to know of a registry beyond its name; often nothing."""
    found: dict[str, Any] = {"host": registry.host}
    if registry.insecure:
        found["insecure"] = True
    if registry.username and registry.password_file:
        found["username"] = registry.username
        found["password"] = _password(registry.host, registry.password_file)
    return found


def _password(host: str, file: Path) -> str:
    """A registry's password, or NoLogin."""
    try:
        return file.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        message = f"the password of {host} cannot be read: {why}"
        raise NoLogin(message, f"let the runner read {file}") from error


def is_name(value: object) -> bool:
    """Whether a parameter's value names a secret."""
    return isinstance(value, str) and value.startswith(PREFIX)


def _names(deployment: Deployment) -> list[str]:
    return sorted({one.removeprefix(PREFIX) for one in deployment.values.values() if is_name(one)})
