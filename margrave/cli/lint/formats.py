"""Findings as other programs read them: plain JSON, SARIF, and what forges show beside a change."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import margrave
from margrave.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from margrave.findings import Finding

_FIELDS: Final = ("file", "line", "column", "pointer", "severity", "message", "cure")
_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"
# What a rule is about; a code that is not here is told by its name alone.
RULES: Final = {
    "advice": "What the standard only advises is worth a look",
    "circle": "Deployments do not wait for each other",
    "component": "A component is there and holds what its name says",
    "empty": "There is something to check",
    "extension": "Extensions of others mean nothing here",
    "generation": "Documents are of Margo 1.0.0-rc.3",
    "invalid": "A value is as its document requires",
    "missing": "What is to be checked is there",
    "name": "Names are DNS labels",
    "policy": "Nodes allow what a package asks for",
    "place": "A document lies where its content says",
    "surprise": "YAML reads what its author means",
    "twice": "Ids, names and versions stand once",
    "unknown": "Keys and names are known",
    "unreadable": "Files can be read",
}


def plain(findings: Sequence[Finding]) -> dict[str, Any]:
    """The answer of `margrave lint -o json`."""
    return {"findings": [{key: _plain(getattr(one, key)) for key in _FIELDS} for one in findings]}


def _plain(value: object) -> object:
    """YAML's writer knows no text that is a member of an enumeration too."""
    return str(value) if isinstance(value, str) else value


def sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """SARIF 2.1.0: one run, a rule for each code that occurs."""
    codes = sorted({one.code for one in findings})
    driver = {
        "name": "margrave lint",
        "version": margrave.__version__,
        "rules": [
            {"id": code, "shortDescription": {"text": RULES.get(code, code)}} for code in codes
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, codes.index(one.code)) for one in findings],
    }
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


def _result(one: Finding, rule: int) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(one.file)}}
    if one.line:
        physical["region"] = {"startLine": one.line, "startColumn": max(one.column, 1)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if one.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": one.pointer}]
    return {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": str(one.severity),
        "message": {"text": _sentence(one)},
        "locations": [location],
        "partialFingerprints": {"margrave/v1": _fingerprint(one)},
    }


def github(findings: Sequence[Finding]) -> str:
    """Workflow commands, which GitHub (and Gitea and Forgejo) show at the line of a change."""
    return "".join(_command(one) for one in findings)


def _command(one: Finding) -> str:
    about = {"file": one.file, "line": one.line, "col": one.column, "title": one.pointer}
    given = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in about.items() if value)
    return f"::{one.severity} {given}::{_escaped(_sentence(one))}\n"


def gitlab(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """GitLab's code quality report."""
    return [
        {
            "description": _sentence(one),
            "check_name": one.code,
            "fingerprint": _fingerprint(one),
            "severity": "major" if one.severity is Severity.ERROR else "minor",
            "location": {"path": one.file, "lines": {"begin": max(one.line, 1)}},
        }
        for one in findings
    ]


def line(one: Finding) -> str:
    """For eyes: one line, whatever control characters the document holds."""
    text = f"{one.severity}: {one}"
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda found: repr(found[0])[1:-1], text)


def _sentence(one: Finding) -> str:
    words = f"{one.pointer}: {one.message}" if one.pointer else one.message
    return f"{words} ({one.cure})" if one.cure else words


def _uri(file: str) -> str:
    """Relative as it was written; a path from the root as a file's URI."""
    path = PurePath(file).as_posix()
    return ("file://" if path.startswith("/") else "") + quote(path)


def _escaped(value: object, more: str = "") -> str:
    """Percent-encoded where the command's own syntax would end."""
    return "".join(
        f"%{ord(letter):02X}" if letter in "%\r\n" + more else letter for letter in str(value)
    )


def _fingerprint(one: Finding) -> str:
    """The same finding after lines above it came or went."""
    told = "\0".join((one.file, one.pointer, one.code, one.message))
    return hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()
