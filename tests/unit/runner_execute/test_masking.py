"""Answers of nodes and of Ansible are kept without the secrets that the calls carried."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from runner.execute.masking import SHORTEST, Masking

SECRET = 'pa"ss\nwörd'

# The ways in which Ansible, its modules, shells, Go programs and HTTP clients write a text.
WRITERS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "json": json.dumps,
    "json, unicode kept": lambda text: json.dumps(text, ensure_ascii=False),
    "json within json": lambda text: json.dumps(json.dumps({"value": text})),
    "json of Go": lambda text: (
        json.dumps(text, ensure_ascii=False)
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    ),
    "repr": repr,
    "repr, ascii": ascii,
    "repr within json": lambda text: json.dumps(repr({"value": text})),
    "repr of bytes": lambda text: repr(text.encode()),
    "yaml, single quotes": lambda text: yaml.safe_dump(text, default_style="'", width=10_000),
    "yaml, double quotes": lambda text: yaml.safe_dump(text, default_style='"', width=10_000),
    "yaml, folded": lambda text: yaml.safe_dump(text, default_style='"', width=20),
    "shell": shlex.quote,
    "shell, escaped quote": lambda text: "'" + text.replace("'", "'\\''") + "'",
    "one line": lambda text: " ".join(text.split()),
    "compose": lambda text: text.replace("$", "$$"),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 for urls": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 of a login": lambda text: base64.b64encode(f"user:{text}".encode()).decode(),
    "base64 of a longer login": lambda text: base64.b64encode(f"an-user:{text}".encode()).decode(),
    "base64 of a header": lambda text: base64.b64encode(f"x {text}\n".encode()).decode(),
    "url": lambda text: quote(text, safe=""),
    "path of a url": quote,
    "form": quote_plus,
    "url, small digits": lambda text: re.sub(
        "%..", lambda found: found[0].lower(), quote(text, safe="")
    ),
    "html": html.escape,
}

AWKWARD = [
    SECRET,
    'it\'s $HOME & <b>"quoted"</b>',
    "back\\slash \\n and 'both' \"quotes\"",
    "two words, three: words, many many words that a line cannot hold",
    "tab\there, bell\x07, nbsp\xa0, line\u2028end, emoji \U0001f511",
    "s3cr3t/with+signs=and?more",
    "{{ lookup('env', 'HOME') }}",
    "123456789",
    "-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQ\nEFAASCAUAwggE8AgEAAkEAq\n-----END KEY-----",
]


def test_secrets_are_masked_wherever_an_answer_repeats_them() -> None:
    """In texts, keys, lists and mappings, as they are or quoted; other words and the names of the
    protocol stay."""
    said = {
        "error": {"message": f"values.db: {SECRET} is no number", "code": "chart"},
        "lines": [f"got {json.dumps(SECRET)}", 7, None, "longer-secret and longer"],
        "longer-secret": True,
        "state": "state is known",
    }

    found = Masking(("abc", SECRET, "longer-secret", "state"))(said)

    assert found == {
        "error": {"message": "values.db: [redacted] is no number", "code": "chart"},
        "lines": ['got "[redacted]"', 7, None, "[redacted] and longer"],
        "[redacted]": True,
        "state": "[redacted] is known",
    }
    assert Masking(())(said) is said
    assert Masking(("abc",))("abcabc") == "abcabc"


@pytest.mark.parametrize("secret", AWKWARD)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_secret_is_masked_in_each_form_in_which_a_program_writes_it(writer, secret) -> None:
    """No word of it is left that is long enough to be one."""
    written = WRITERS[writer](secret)
    found = Masking((secret,))(f"before: {written}: after")
    assert "[redacted]" in found
    assert found.startswith("before: ")
    assert found.endswith(": after")
    left = found.removeprefix("before: ").removesuffix(": after").replace("[redacted]", "")
    words = [word for word in secret.split() if len(word) >= SHORTEST]
    assert not [word for word in words if word in left]
    if writer.startswith("base64"):
        assert len(left) <= 14  # the parts beside the secret, and the padding
    else:
        assert len(left) < 20


@given(
    st.text(st.characters(exclude_categories=("Cs",)), min_size=SHORTEST, max_size=40).filter(
        lambda text: len(text.strip()) >= SHORTEST  # blanks around it count for nothing
    ),
    st.sampled_from(sorted(WRITERS)),
)
def test_no_quoting_keeps_a_secret_readable(secret: str, writer: str) -> None:
    """Whatever it is made of, a mask stands in its place."""
    assert "[redacted]" in Masking((secret,))(f"<<{WRITERS[writer](secret)}>>")


def test_a_line_of_a_secret_of_many_lines_is_masked_alone() -> None:
    """Programs show the line that they complain of; a short line is too common to be masked."""
    key = AWKWARD[-1] + "\ntrue"
    found = Masking((key,))("line 2: 'MIIBVgIBADANBgkqhkiG9w0BAQ' is true\n")
    assert found == "line 2: '[redacted]' is true\n"
