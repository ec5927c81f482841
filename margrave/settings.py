"""One TOML file, environment over it, secrets from files: all findings at once, or the settings.

Pure: the text, the environment and a way to read secret files come in as values.
"""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from margrave.errors import SettingsError
from margrave.findings import Finding, did_you_mean, pointer
from margrave.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PREFIX: Final = "MARGRAVE_"
Schema = TypeVar("Schema", bound=BaseModel)


def load(
    schema: type[Schema],
    text: str | None,
    environ: Mapping[str, str],
    read_file: Callable[[str], str],
    where: str = "margrave.toml",
) -> Schema:
    """The settings, or SettingsError with everything that is wrong in file and environment."""
    values, findings = _from_text(text, where)
    findings += _overlay(schema, values, environ, read_file)
    findings += _secrets_from_files(schema, values, read_file, (), where)
    try:
        settings = schema.model_validate(values)
    except ValidationError as error:
        findings += [_finding(schema, one, where) for one in error.errors()]
        raise SettingsError(findings) from error
    if findings:
        raise SettingsError(findings)
    return settings


def _from_text(text: str | None, where: str) -> tuple[dict[str, Any], list[Finding]]:
    try:
        return (tomllib.loads(text) if text else {}), []
    except tomllib.TOMLDecodeError as error:
        return {}, [Finding("", f"is not TOML: {error}", "check it here", file=where)]


def _overlay(
    schema: type[BaseModel],
    values: dict[str, Any],
    environ: Mapping[str, str],
    read_file: Callable[[str], str],
) -> list[Finding]:
    """Put MARGRAVE_<SECTION>__<KEY> over the file; only names with `__` are configuration."""
    findings = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or "__" not in name:
            continue
        path = [part.lower() for part in name.removeprefix(PREFIX).split("__")]
        raw, path = environ[name], _without_file(schema, path)
        if path[-1] == "":
            path = path[:-1]
            try:
                raw = read_file(raw).rstrip("\n")
            except (OSError, UnicodeDecodeError) as error:
                findings.append(_unreadable(name, environ[name], error))
                continue
        if path[-1] == "json":  # MARGRAVE_REGISTRIES__JSON: a list has no keys of its own
            path = path[:-1]
        kind = _field_type(schema, path)
        if kind is None:
            findings.append(Finding("", f"{name} names no setting", _cure(schema, path)))
            continue
        try:
            _put(values, path, _typed(raw, kind))
        except ValueError:
            findings.append(Finding("", f"{name}: {raw!r} is not JSON", 'write ["a", "b"]'))
    return findings


def _without_file(schema: type[BaseModel], path: list[str]) -> list[str]:
    """The path of a secret whose variable ends in _FILE, marked by an empty last part."""
    if path[-1].endswith("_file") and _field_type(schema, path) is None:
        return [*path[:-1], path[-1].removesuffix("_file"), ""]
    return path


def _secrets_from_files(
    schema: type[BaseModel],
    values: dict[str, Any],
    read_file: Callable[[str], str],
    path: tuple[str, ...],
    where: str,
) -> list[Finding]:
    """In the file too a secret may be given as `<key>_file`."""
    findings = []
    for key in list(values):
        section = _section(schema, key)
        if section and isinstance(values[key], dict):
            findings += _secrets_from_files(section, values[key], read_file, (*path, key), where)
        name = key.removesuffix("_file")
        if key == name or key in schema.model_fields or name not in schema.model_fields:
            continue
        if not _holds(schema.model_fields[name].annotation, Secret):
            continue
        named = str(values.pop(key))
        try:
            values[name] = read_file(named).rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            findings.append(_unreadable(".".join((*path, key)), named, error, where))
    return findings


def _section(schema: type[BaseModel], key: str) -> type[BaseModel] | None:
    field = schema.model_fields.get(key)
    if field is None:
        return None
    kinds = (field.annotation, *get_args(field.annotation))
    return next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)


def _field_type(schema: type[BaseModel], path: list[str]) -> Any:
    """The annotation of the setting at the path, or None when there is no such setting."""
    section: type[BaseModel] | None = schema
    for part in path[:-1]:
        section = _section(section, part) if section else None
    field = section.model_fields.get(path[-1]) if section else None
    return field.annotation if field else None


def _holds(annotation: Any, kind: type) -> bool:
    return annotation is kind or any(_holds(one, kind) for one in get_args(annotation))


def _typed(raw: str, annotation: Any) -> Any:
    """Text as the setting wants it; pydantic turns numbers and truths, lists come as JSON."""
    if any(getattr(k, "__origin__", k) in (list, tuple, dict) for k in _alternatives(annotation)):
        return json.loads(raw)
    return raw


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    origin = getattr(annotation, "__origin__", None)
    if origin in (list, tuple, dict) or not get_args(annotation):
        return (annotation,)
    return get_args(annotation)


def _put(values: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        below = values.get(part)
        if not isinstance(below, dict):
            below = values[part] = {}
        values = below
    values[path[-1]] = value


def _finding(schema: type[BaseModel], error: Any, where: str) -> Finding:
    path = [part for part in error["loc"] if not str(part).startswith("function-")]
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return Finding(pointer(path), "names no setting", _cure(schema, path), file=where)
    return Finding(pointer(path), message[0].lower() + message[1:], file=where)


def _cure(schema: type[BaseModel], path: list[Any]) -> str:
    section: type[BaseModel] | None = schema
    for part in path[:-1]:
        section = (_section(section, str(part)) if section else None) or None
    known = (section or schema).model_fields
    wrong = str(path[-1] if section else path[0])
    return did_you_mean(wrong, known)


def _unreadable(
    name: str, path: str, error: OSError | UnicodeDecodeError, where: str = ""
) -> Finding:
    reason = str(error.strerror or error) if isinstance(error, OSError) else "it is not UTF-8 text"
    message = f"{name}: {path} cannot be read: {reason}"
    return Finding("", message, "check path and permissions", file=where)
