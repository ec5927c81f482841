"""What Git says when it fails: the one line that tells why. Pure."""

from __future__ import annotations

from typing import Final

# It ends with these whatever was the matter; why stands above them.
_ALWAYS: Final = (
    "fatal: Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
)


_LOGIN: Final = (
    "terminal prompts disabled",
    "Authentication failed",
    "returned error: 401",
    "returned error: 403",
)


def refuses_login(said: str) -> bool:
    """Whether Git's words mean that the remote took neither user nor password."""
    return any(words in said for words in _LOGIN)


def reason(said: str) -> str:
    """Its first `fatal:`, else the last line that says something of this failure."""
    words = said.replace("stderr:", "").strip(" '\n")  # GitPython's wrapping
    lines = [line.strip() for line in words.splitlines()]
    lines = [line for line in lines if line and line not in _ALWAYS]
    fatal = [line for line in lines if line.startswith("fatal:")]
    return (fatal or lines[-1:] or ["git gave no reason"])[0]
