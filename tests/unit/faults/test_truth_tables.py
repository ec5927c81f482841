"""The truth test reads the tables of pages by the headings of their columns."""

from __future__ import annotations

from tests.faults.truth.tables import rows_of

PAGE = """
<table><thead><tr><th scope="col">Node</th><th scope="col" class="w">Health</th><th>Seen</th></tr>
</thead><tbody>
<tr class="unknown"><th><a href="/sites/harbor/nodes/harbor-1?a=1&amp;b=2">harbor-1</a></th>
<td><span class="badge bad"><span class="sign">A</span>degraded</span>, drift</td>
<td><time datetime="2026-11-20T06:00:00Z">now</time></td></tr>
<tr class="note bad"><td colspan="3">no answer</td></tr>
</tbody></table>
<table class="list rows"><thead><tr><th scope="col">Name
<th scope="col">Version<tbody>
<tr id="r1"><th scope="row"><a href="/deployments/1">shop</a>
<td>1.0.0
<tr><th>other<td><code title="abcdef">abc</code>
</table>
"""


def test_cells_are_found_by_their_heading() -> None:
    """Words, badges, links, times and marks of a row; notes are no rows."""
    first, *_ = rows_of(PAGE)

    assert first.text("Node") == "harbor-1"
    assert first.link("Node") == "/sites/harbor/nodes/harbor-1?a=1&b=2"
    assert first.badge("Health") == "degraded"
    assert first.time("Seen") == "2026-11-20T06:00:00Z"
    assert first.is_marked("unknown")
    assert first.text("Version") == ""


def test_a_table_may_leave_out_its_end_tags() -> None:
    """Long lists are written so, to stay small."""
    _, second, third = rows_of(PAGE)

    assert (second.text("Name"), second.text("Version")) == ("shop", "1.0.0")
    assert (third.text("Name"), third.title("Version")) == ("other", "abcdef")
    assert not second.is_marked("unknown")
