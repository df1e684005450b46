"""A long run over its time: its heat map, its loads in turn, what its clock did, and what its minutes say."""

from collections.abc import Iterator, Sequence

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Figure, Panel, PanelPlace, all_made
from tautochrone.answer.charts.hours import heat_map, key_of_heat
from tautochrone.base.units import format_duration, format_span
from tautochrone.base.words import plural
from tautochrone.judge.soak import ClockEvent, SoakRun, SoakSource
from tautochrone.run.columns import UNKNOWN
from tautochrone.statistics.tails.maxima import FEWEST

TITLE = "Over the hours"
_CONFIDENCE = 0.95
_MOST_DRAWN = 8
_MOST_EVENTS = 5
_QUANTILES = (0.5, 0.999)

Soaks = Sequence[tuple[str, SoakRun]]
"""Long runs with their labels."""


def parts(soaks: Soaks) -> Iterator[doc.DocumentPart]:
    """Yield the sections of a report."""
    if soaks:
        yield doc.part(TITLE, lambda: _blocks(soaks), id="hours")


def short(soaks: Soaks) -> Iterator[doc.Block]:
    """Yield the same for a terminal."""
    for _, soak in soaks:
        yield doc.Subheading(f"{TITLE}:")
        yield doc.Statements(tuple(map(doc.Sentence, _sentences(soak))))
        yield from _tables(soak, "")


def levels(soak: SoakRun) -> Iterator[doc.Block]:
    """Yield what is exceeded once in so long, as far as the intervals tell it."""
    if table := _of_maxima(soak, ""):
        yield table
    else:
        yield doc.Sentence(
            f"The worst of {FEWEST} intervals or more, of which neighbours are not alike, would tell what is "
            "exceeded how rarely.",
            "note",
        )


def _blocks(soaks: Soaks) -> Iterator[doc.Block]:
    for at, (label, soak) in enumerate(soaks):
        if label:
            yield doc.Subheading(label)
        yield doc.Statements(tuple(map(doc.Sentence, _sentences(soak))))
        for figure in all_made("The heat maps", lambda: _figures(soak, at)):  # noqa: B023 - called at once
            yield doc.Drawing(figure)
        yield from _tables(soak, label)


def _figures(soak: SoakRun, at: int) -> Iterator[Figure]:
    drawn = sorted(soak.sources, key=_worst, reverse=True)[:_MOST_DRAWN]
    panels = tuple(
        Panel(PanelPlace(f"hours-{at}", number), one.name, heat_map(soak, one))
        for number, one in enumerate(drawn)
    )
    stretch = format_span(soak.slice_s)
    caption = [
        f"Each column is {stretch}; its colour says which share of its samples lies there. The black line is "
        "the worst sample of the stretch, which is exact."
    ]
    if len(soak.changes) > 1:
        caption.append("A dashed line stands where another load began.")
    if len(drawn) < len(soak.sources):
        caption.append(f"Drawn are the {len(drawn)} of {len(soak.sources)} sources with the largest samples.")
    yield Figure("Heat map over time", panels, tuple(caption), key_of_heat())


def _worst(one: SoakSource) -> int:
    return int(one.worst_ns.max(initial=UNKNOWN))


def _sentences(soak: SoakRun) -> Iterator[str]:
    intervals = max((len(one.end_s) for one in soak.sources), default=0)
    yield (
        f"Measured for {format_span(soak.span_s)} in {plural(intervals, 'interval')} of "
        f"{format_span(soak.every_s)} each."
    )
    if soak.ended_because:
        yield f"It ended itself: {soak.ended_because}."
    held = [one for one in soak.sources if len(one.end_s) and _worst(one) != UNKNOWN]
    if held:
        worst = max(held, key=_worst)
        at = int(worst.worst_ns.argmax())
        yield (
            f"The worst sample of all, {format_duration(_worst(worst))}, came in interval {at + 1} of "
            f"{worst.name}, {format_span(float(worst.start_s[at]))} after the start."
        )
        misses = [(int((one.missed > 0).sum()), one) for one in held]
        if any(count for count, _ in misses):
            said = ", ".join(f"{count:,} on {one.name}" for count, one in misses if count)
            yield f"Intervals with missed cycles: {said}."
    events = list(dict.fromkeys(_clock(event) for one in soak.sources[:1] for event in one.clock))
    yield from events[:_MOST_EVENTS]
    if len(events) > _MOST_EVENTS:
        yield f"The clock was set, or the machine suspended, {len(events) - _MOST_EVENTS} more times."


def _clock(event: ClockEvent) -> str:
    when = f"in interval {event.interval + 1}, {format_span(event.time_s)} after the start"
    if event.what == "suspended":
        return f"The machine was suspended for {format_span(event.by_s)} {when}; nothing was due meanwhile."
    way = "forward" if event.by_s > 0 else "back"
    return f"The wall clock was set {way} by {format_span(abs(event.by_s))} {when}; releases go on as before."


def _tables(soak: SoakRun, label: str) -> Iterator[doc.Block]:
    if len(soak.turns) > 1:
        yield _of_loads(soak, label)
    if levels := _of_maxima(soak, label):
        yield levels


def _of_loads(soak: SoakRun, label: str) -> doc.TypedTable:
    rows = []
    for turn in soak.turns:
        quantiles = [turn.counts.quantile(q) if turn.counts.total else None for q in _QUANTILES]
        rows.append(
            (
                doc.words(turn.load),
                doc.count(turn.intervals),
                doc.count(turn.completed),
                doc.count(turn.missed),
                *(doc.micros(None if one is None else float(one)) for one in quantiles),
                doc.micros(turn.worst_ns),
            )
        )
    title = "Under each load" + (f", {label}" if label else "") + ", times in us"
    heads = doc.columns("load", "intervals", "completed", "missed", "median", "99.9 %", "max")
    notes = ("An interval in which the load changed counts for the load that ended in it.",)
    return doc.TypedTable(title, heads, tuple(rows), notes)


def _of_maxima(soak: SoakRun, label: str) -> doc.TypedTable | None:
    rows = [
        (
            doc.words(one.name),
            doc.words(name),
            doc.micros(level[0]),
            doc.micros(level[1]),
            doc.micros(level[2]),
        )
        for one in soak.sources[:_MOST_DRAWN]
        for name, level in soak.levels(one, _CONFIDENCE)
    ]
    if not rows:
        return None
    title = "What is exceeded once in so long" + (f", {label}" if label else "") + ", times in us"
    heads = doc.columns("source", "once in one", "level", "from", "to")
    notes = (
        "By the generalised extreme value distribution of the worst of each interval of "
        f"{format_span(soak.every_s)}, or of so many together that neighbours are not alike, with its 95 % "
        "profile-likelihood interval (Coles 2001, section 3.3). It assumes intervals to come like "
        "those measured, and takes no account of missed cycles.",
    )
    return doc.TypedTable(title, heads, tuple(rows), notes)
