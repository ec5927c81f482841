"""Findings for files that could not be read, whatever the reason."""

from __future__ import annotations

from typing import Final

from margrave.errors import DocumentError, MargraveError
from margrave.findings import Finding
from margrave.yaml_text import SIZE_LIMIT

DEFECT: Final = "defect"  # the code of findings about errors that nobody foresaw
MOST: Final = 20  # findings kept of one file: the file has to be edited long before they are read
_LONGEST: Final = 300  # characters of an error's text
_CURE: Final = "correct or remove the file, and report the error: the controller's log has it"


def findings_of(path: str, error: Exception) -> list[Finding]:
    """Return what operators are shown of an error in a file, in characters that can be stored."""
    if isinstance(error, DocumentError):
        return list(error.findings[:MOST])
    if isinstance(error, MargraveError):
        return [Finding("", error.message, error.cure, file=path)]
    return [_defect(path, "cannot be read", error)]


def component_finding(path: str, component: str, error: Exception) -> Finding:
    """Return the finding of a component whose images and ports could not be found out."""
    return _defect(path, f"images and ports of component {component} are not known", error)


def too_large(path: str) -> list[Finding]:
    """Return the finding of a file that is too large to be read at all."""
    return [Finding("", f"is larger than {SIZE_LIMIT} bytes", "split it", file=path)]


def _defect(path: str, words: str, error: Exception) -> Finding:
    text = f"{type(error).__name__}: {error}".encode("ascii", "backslashreplace").decode()
    shown = "".join(character if character.isprintable() else " " for character in text)
    return Finding("", f"{words}: {shown[:_LONGEST]}", _CURE, DEFECT, file=path)
