"""What a node says is kept without the secrets that its call carried."""

from __future__ import annotations

import json

from runner.execute.masking import masked

SECRET = 'pa"ss\nwörd'


def test_secrets_are_masked_wherever_an_answer_repeats_them() -> None:
    """In texts, lists and mappings, as they are or quoted; what else was said stays."""
    said = {
        "error": {"message": f"values.db: {SECRET} is no number", "code": "chart"},
        "lines": [f"got {json.dumps(SECRET)}", 7, None, "longer-secret and longer"],
    }

    found = masked(said, ("longer-secret", SECRET, "abc"))

    assert found == {
        "error": {"message": "values.db: [redacted] is no number", "code": "chart"},
        "lines": ['got "[redacted]"', 7, None, "[redacted] and longer"],
    }
    assert masked(said, ()) is said
    assert masked("abcabc", ("abc",)) == "abcabc"
