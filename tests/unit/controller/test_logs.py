"""Lines for people and for log stores."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from controller import logs
from controller.settings import Log


@pytest.fixture
def restored() -> Iterator[None]:
    """What the test run itself logs with is put back."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    root.handlers[:] = []  # basicConfig closes those that it finds
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logs.ACCESS.setLevel(logging.NOTSET)


@pytest.mark.usefixtures("restored")
def test_json_lines_carry_the_request(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line is one object, with the id of the request that it was written for."""
    logs.configure(Log(format="json"))
    log = logging.getLogger("controller.test")
    with logs.working_for("abc-1"):
        log.warning("two\nlines of %s", "text")
    log.info("for nobody")
    try:
        raise ValueError("no")
    except ValueError:
        log.exception("failed")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line.get("request_id") for line in lines] == ["abc-1", None, None]
    assert (lines[0]["level"], lines[0]["message"]) == ("warning", "two\nlines of text")
    assert "ValueError: no" in lines[2]["exception"]


@pytest.mark.usefixtures("restored")
def test_text_lines_name_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    """In lines for people the id stands at the end."""
    logs.configure(Log())
    with logs.working_for("abc-2"):
        logging.getLogger("controller.test").info("done")
    assert capsys.readouterr().err.endswith("INFO controller.test done [abc-2]\n")
