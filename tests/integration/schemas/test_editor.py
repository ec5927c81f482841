"""The editors' own server, yaml-language-server, finds the schema that a document names."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

import pytest

from tests.integration.schemas.conftest import Install

ROOT = Path(__file__).parents[3]
PACKAGE = "yaml-language-server@1"
LIMIT = 60  # seconds; Node starts slowly where much else runs


class Quiet(SimpleHTTPRequestHandler):
    """Serves files as the controller serves its schemas."""

    def log_message(self, *_: object) -> None:
        """Nothing to say."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server of the folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class Editor:
    """An editor with one document open, as the Language Server Protocol has it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._to: IO[bytes] = process.stdin
        self._from: IO[bytes] = process.stdout
        self._send(id=1, method="initialize", params={"processId": None, "capabilities": {}})
        while self._receive().get("id") != 1:
            pass
        self._send(method="initialized", params={})

    def complaints(self, name: str, text: str) -> list[tuple[int, str]]:
        """Line, from 1, and words of what the server underlines in the document."""
        document = {"uri": f"file:///{name}", "languageId": "yaml", "version": 1, "text": text}
        self._send(method="textDocument/didOpen", params={"textDocument": document})
        while True:
            told = self._receive()
            if "id" in told and "method" in told:  # it asks for settings: there are none
                wanted = told.get("params", {}).get("items", [])
                self._send(id=told["id"], result=[{} for _ in wanted])
            elif told.get("params", {}).get("uri") == document["uri"]:
                found = told["params"]["diagnostics"]
                return [(one["range"]["start"]["line"] + 1, one["message"]) for one in found]

    def _send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._to.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._to.flush()

    def _receive(self) -> dict[str, Any]:
        length = 0
        while line := self._from.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the server ended"
        found: dict[str, Any] = json.loads(self._from.read(length))
        return found


@pytest.mark.full
def test_an_editor_underlines_what_is_wrong(install: Install) -> None:
    """The page's example is clean; broken, it is told at its line with our cure."""
    program = install(PACKAGE, "yaml-language-server")
    page = (ROOT / "docs" / "editors.md").read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    with (
        serving(ROOT) as address,
        subprocess.Popen(
            [str(program), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process,
    ):
        limit = threading.Timer(LIMIT, process.kill)
        limit.start()
        try:
            editor = Editor(process)
            good = example.replace("http://127.0.0.1:8800", address)
            bad = good.replace("batch: canary", "batch: most").replace("1m0s", "5m")
            clean, told = editor.complaints("a.yaml", good), editor.complaints("b.yaml", bad)
        finally:
            limit.cancel()
            process.kill()

    assert clean == []
    lines = bad.splitlines()
    assert [(lines[line - 1].strip(), words) for line, words in told] == [
        ("timeout: 5m", "write minutes and seconds, such as 5m0s"),
        ("strategy: {batch: most}", "write all, canary, a number or a percentage"),
    ]
