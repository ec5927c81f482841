"""Charts, drawn here as SVG: no script, no style of their own, words beside every colour."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Segments = Sequence[tuple[str, str, int]]  # (word, tone, number)

OUTCOMES: Final = (
    ("succeeded", "good"),
    ("pending", "busy"),
    ("held", "held"),
    ("rolled-back", "warn"),
    ("failed", "bad"),
    ("rollback-failed", "bad"),
)
DAY_WORDS: Final = (
    ("succeeded", "succeeded", "good"),
    ("deleted", "deleted", "quiet"),
    ("rolled_back", "rolled back", "warn"),
    ("failed", "failed tries", "bad"),
)
WIDE: Final = 600
BAND: Final = 1120  # as wide as a page: one unit is about a pixel


def progress(
    outcomes: Mapping[str, int], unknown: Mapping[str, int], of: str = "of the deployments"
) -> Markup:
    """How far a rollout is: one bar, a piece for each outcome, and the numbers as words.

    `unknown` are those among them of which nobody knows whether it still holds: a piece of its own.
    """
    parts = [
        (word.replace("-", " "), tone, outcomes.get(word, 0) - unknown.get(word, 0))
        for word, tone in OUTCOMES
    ]
    parts.append(("not heard of", "unknown", sum(unknown.values())))
    return bar([part for part in parts if part[2]], of)


def bar(parts: Segments, of: str) -> Markup:
    """One bar of several parts with its legend; nothing when there is nothing to show."""
    total = sum(number for _, _, number in parts)
    if not total:
        return Markup("")
    drawn, legend, x = [], [], 0.0
    for word, tone, number in parts:
        width = WIDE * number / total
        shape = Markup('<rect class="{}" x="{}" width="{}" height="12"><title>{}</title></rect>')
        # A gap of one between the parts tells them apart without their colours.
        words = f"{number} {word}"
        drawn.append(shape.format(tone, _short(x), _short(max(1.5, width - 1)), words))
        item = Markup('<li><span class="key {}"></span><b>{}</b> {}</li>')
        legend.append(item.format(tone, number, word))
        x += width
    told = ", ".join(f"{number} {word}" for word, _, number in parts)
    return Markup(
        '<figure class="chart"><svg viewBox="0 0 {} 12" class="bar" preserveAspectRatio="none"'
        ' role="img" aria-label="{}">{}</svg><ul class="legend">{}</ul></figure>'
    ).format(WIDE, f"{told} {of}", Markup("").join(drawn), Markup("").join(legend))


def days(told: Sequence[Mapping[str, Any]]) -> Markup:
    """A column for each day: how often placements succeeded, went back, failed, were deleted."""
    most = max((sum(day[key] for key, _, _ in DAY_WORDS) for day in told), default=0)
    if not most:
        return Markup('<p class="empty">Nothing was installed, updated or deleted yet.</p>')
    step = WIDE / len(told)
    drawn = [_day(day, place, step, most) for place, day in enumerate(told)]
    known = [day for day in told if day["known"]]
    sums = [(word, tone, sum(day[key] for day in known)) for key, word, tone in DAY_WORDS]
    legend = [
        Markup('<li><span class="key {}"></span><b>{}</b> {}</li>').format(tone, number, word)
        for word, tone, number in sums
    ]
    words = ", ".join(f"{number} {word}" for word, _, number in sums)
    if len(known) < len(told):
        legend.append(Markup('<li><span class="key none"></span>not known any more</li>'))
        words += f"; {len(told) - len(known)} days are not known any more"
    return Markup(
        '<figure class="chart"><svg viewBox="0 0 {} 142" role="img" aria-label="{}">{}</svg>'
        '<ul class="legend">{}<li>days in UTC</li></ul></figure>'
    ).format(
        WIDE,
        f"The last {len(told)} days in UTC: {words}; at most {most} a day",
        Markup("").join(drawn),
        Markup("").join(legend),
    )


def _day(day: Mapping[str, Any], place: int, step: float, most: int) -> Markup:
    """One column, from the bottom up; where not all was counted, that it is not known."""
    x, y = place * step, 120.0
    words = [f"{day[key]} {word}" for key, word, _ in DAY_WORDS if day[key]] or ["nothing"]
    columns = []
    shape = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')
    if not day["known"]:
        words = ["not known any more"]
        columns.append(shape.format("none", _short(x + 4), 0, _short(step - 8), 119))
    for key, _, tone in DAY_WORDS:
        if day[key] and day["known"]:
            tall = max(day[key] / most * 112, 2)
            y -= tall
            columns.append(
                shape.format(tone, _short(x + 4), _short(y), _short(step - 8), _short(tall - 1))
            )
    label = Markup('<text x="{}" y="138" text-anchor="middle">{}</text>')
    date = label.format(_short(x + step / 2), day["day"][8:]) if place % 2 else Markup("")
    whole = Markup(
        '<g><title>{}</title><rect class="back" x="{}" width="{}" height="120"/>{}{}</g>'
    )
    title = f"{day['day']} UTC: {', '.join(words)}"
    return whole.format(title, _short(x), _short(step), Markup("").join(columns), date)


def spans(told: Mapping[str, Any]) -> Markup:
    """A day as a band: when a site was heard of, when it was silent, and what nobody knows."""
    since, until = _at(told["since"]), _at(told["until"])
    whole = (until - since).total_seconds()
    drawn = [Markup('<rect class="none" width="{}" height="18"/>').format(BAND)]
    listed = list(told["spans"])
    silent = 0.0
    for place, one in enumerate(listed):
        begin = max(since, _at(one["from"]))
        end = _at(listed[place + 1]["from"]) if place + 1 < len(listed) else until
        length = (end - begin).total_seconds()
        if length <= 0:
            continue
        fresh = one["freshness"] == "fresh"
        silent += 0 if fresh else length
        x = (begin - since).total_seconds() / whole * BAND
        y, tall = (0, 18) if fresh else (6, 6)  # silence is thin as well as grey
        title = f"{'heard of' if fresh else 'silent'} from {one['from'][11:16]} UTC"
        shape = Markup(
            '<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>'
        )
        size = (_short(x), y, _short(max(1.0, length / whole * BAND)), tall)
        drawn.append(shape.format("good" if fresh else "unknown", *size, title))
    ticks = []
    for hours in range(0, 25, 6):
        at = until - timedelta(hours=24 - hours)
        anchor = {0: "start", 24: "end"}.get(hours, "middle")
        label = Markup('<text x="{}" y="34" text-anchor="{}">{}</text>')
        ticks.append(label.format(_short(BAND * hours / 24), anchor, f"{at:%H:%M}"))
    words = f"silent for {_share(silent, whole)} of the last day" if told["spans"] else "not known"
    return Markup(
        '<figure class="chart"><svg class="band" viewBox="0 0 {} 38" role="img"'
        ' aria-label="{}">{}{}</svg>'
        '<ul class="legend"><li><span class="key good"></span>heard of</li>'
        '<li><span class="key unknown"></span>silent</li>'
        '<li><span class="key none"></span>not known</li><li>times in UTC</li></ul></figure>'
    ).format(BAND, f"Freshness: {words}", Markup("").join(drawn), Markup("").join(ticks))


def durations(told: Sequence[Mapping[str, Any]], words: Any) -> Markup:
    """The middle and the slow end of each kind of operation, as bars on one scale."""
    if not told:
        return Markup('<p class="empty">No operation came through yet.</p>')
    most = max(float(one["p90"]) for one in told) or 1.0
    rows = []
    for place, one in enumerate(told):
        y = place * 34
        middle, slow = (max(2.0, float(one[key]) / most * 300) for key in ("p50", "p90"))
        shape = Markup(
            '<g><title>{}</title><text x="0" y="{}">{}</text><rect class="soft" x="100" y="{}"'
            ' width="{}" height="14"/><rect class="busy" x="100" y="{}" width="{}" height="14"/>'
            '<text x="{}" y="{}">{}</text></g>'
        )
        text = f"{words(one['p50'])}, slow {words(one['p90'])}"
        title = f"{one['kind']}: {one['number']} that came through; half within {text}"
        places = (title, y + 16, one["kind"], y + 5, _short(slow), y + 5, _short(middle))
        rows.append(shape.format(*places, _short(108 + slow), y + 16, text))
    label = "; ".join(
        f"{one['kind']}: half within {words(one['p50'])}, nine in ten within {words(one['p90'])}"
        for one in told
    )
    return Markup(
        '<figure class="chart"><svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
        '<ul class="legend"><li><span class="key busy"></span>half are done within</li>'
        '<li><span class="key soft"></span>nine in ten are</li></ul></figure>'
    ).format(WIDE, len(told) * 34, label, Markup("").join(rows))


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _share(part: float, whole: float) -> str:
    return f"{part / whole * 100:.0f} %"
