"""An answer that is drawn again in its place while somebody looks at it."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Page(io.StringIO):
    """What is drawn, as if it went to the terminal that it will be shown on."""

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def redrawing(*, live: bool) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Takes what draws and lets it: each time in place of the last on a terminal, else below it.

    What is taller than the terminal is cut while it changes, and stands there whole at the end.
    """
    if not live:
        yield lambda draw: draw()
        return
    # Here, because a table that is printed once needs none of it.
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False) as shown:

        def redraw(draw: Callable[[], None]) -> None:
            page = _Page()
            with contextlib.redirect_stdout(page):
                draw()
            shown.update(Text.from_ansi(page.getvalue().rstrip("\n"), no_wrap=True), refresh=True)

        try:
            yield redraw
        finally:
            shown.vertical_overflow = "visible"
