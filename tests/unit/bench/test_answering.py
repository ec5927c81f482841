"""What stands behind the figures of the comparison: whether the application answers."""

from __future__ import annotations

from bench.compare import answering
from tests.support.small_server import Asked, SmallServer, Told


class Application(SmallServer):
    """It answers, and breaks off in the middle where it is asked to."""

    def answer(self, asked: Asked) -> Told:
        """As the storefront does."""
        if asked.path == "/cut":
            return Told(body={"version": "1.0.0"}, headers={"Content-Length": "99"})
        return Told(body={"version": "1.0.0"} if asked.path == "/" else b"<html>")


def test_silence_is_told_as_silence() -> None:
    """An answer that breaks off, no JSON, nobody there: nothing answers, and nothing is raised."""
    application = Application().start()
    base = f"http://{application.address}"
    answers = [answering(f"{base}{path}") for path in ("/", "/cut", "/other")]
    application.stop()

    assert answers == ["1.0.0", None, None]
    assert answering(base) is None
