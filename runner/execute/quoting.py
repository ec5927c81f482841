"""The forms in which programs write a text: quoted, escaped or encoded. Pure."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote, quote_plus

_SHELL_SAFE: Final = re.compile(r"([^\w@%+=:,./-])")
_PERCENT: Final = re.compile(r"%[0-9A-F]{2}")
_GO_JSON: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_C: Final = {
    "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r",
    '"': '\\"', "\\": "\\\\",
}  # fmt: skip
_YAML: Final = _C | {
    "\0": "\\0", "\x1b": "\\e", "\x85": "\\N", "\xa0": "\\_", "\u2028": "\\L", "\u2029": "\\P",
}  # fmt: skip


def forms_of(text: str) -> set[str]:
    """Return the text as it is and as programs write it, also quoted twice."""
    quoted = {text, *_quoted(text)}
    twice = {again for form in quoted for again in _quoted_again(form)}
    return quoted | twice | set(_encoded(text))


def _quoted(text: str) -> Iterator[str]:
    for form in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield form
        yield "".join(_GO_JSON.get(char, char) for char in form)
    for form in (_inside_repr(text), ascii(text)[1:-1], repr(text.encode())[2:-1]):
        yield form
        yield form.replace("'", "\\'")
    yield _escaped(text, _C, upper=False)  # Go's %q
    yield _escaped(text, _YAML, upper=True)
    yield text.replace("'", "''")  # YAML between single quotes
    yield text.replace("'", "'\"'\"'")  # a shell, as Python's shlex writes it
    yield text.replace("'", "'\\''")
    yield _SHELL_SAFE.sub(r"\\\1", text)  # printf %q
    yield text.replace("$", "$$")  # a Compose file


def _quoted_again(form: str) -> Iterator[str]:
    """Quote what is quoted: an error in JSON repeats what a program had put between quotes."""
    yield json.dumps(form)[1:-1]
    yield json.dumps(form, ensure_ascii=False)[1:-1]
    yield _inside_repr(form)
    yield _inside_repr(form).replace("'", "\\'")


def _inside_repr(text: str) -> str:
    """Return Python's escapes without those of quotes, which depend on the text around it."""
    return repr(text + "'\"")[1:-4].replace("\\'", "'")


def _escaped(text: str, short: Mapping[str, str], *, upper: bool) -> str:
    return "".join(short.get(char) or _escaped_char(char, upper=upper) for char in text)


def _escaped_char(char: str, *, upper: bool) -> str:
    number = ord(char)
    if " " <= char <= "~" or (not upper and char.isprintable()):
        return char
    letter, digits = ("x", 2) if number < 0x100 else ("u", 4) if number < 0x10000 else ("U", 8)
    if not upper and 0x80 <= number < 0x100:
        letter, digits = "u", 4  # Go keeps \x for bytes that are no text
    return f"\\{letter}{number:0{digits}{'X' if upper else 'x'}}"


def _encoded(text: str) -> Iterator[str]:
    yield html.escape(text)
    yield html.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
    for form in (quote(text), quote(text, safe=""), quote_plus(text)):
        yield form
        yield _PERCENT.sub(lambda found: found[0].lower(), form)
    data = text.encode()
    yield base64.b64encode(data).decode()
    yield base64.urlsafe_b64encode(data).decode()
    for shift in range(3):
        form = _shifted(data, shift)
        yield form
        yield form.replace("+", "-").replace("/", "_")


def _shifted(data: bytes, shift: int) -> str:
    """Return the part of the base64 text that is the same whatever stands around the data.

    `shift` is the number of bytes before it, modulo three: a login or a header is encoded as a
    whole.
    """
    first, last = -(-shift * 8 // 6), (shift + len(data)) * 8 // 6
    return base64.b64encode(b"\0" * shift + data).decode()[first:last]
