"""How rare a late cycle is: tables, a document, the section of a run's page, and JSON."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from tautochrone.answer import document as doc
from tautochrone.answer import soak
from tautochrone.answer.blocks import all_made
from tautochrone.answer.phrasing import tail as words
from tautochrone.answer.tail.figures import is_fitted, of_source
from tautochrone.base.faults import Fault
from tautochrone.base.units import format_limit, format_percent
from tautochrone.base.words import upper_first
from tautochrone.judge.tail.source import FAR, LASTING, TOO_FAR, AtLimit, AtRate, SourceTail
from tautochrone.judge.tail.tails import RunTails

# The tables about tails, for terminals and pages.


NOTES = (
    "By counting alone: the upper bound of Clopper and Pearson (1934), for any distribution; it assumes only "
    "that later cycles are like the measured ones. Clustered samples count as fewer.",
    f"Values rarer than once in {FAR:.0f} times the measured time rest on the form of the fit alone; those "
    f"rarer than once in {TOO_FAR:.0f} times are in brackets and should not be relied on.",
)
"""What all of these tables rest on; the second only where something is fitted."""

_RATES = ("without", "once per hour", "interval", "later than the period")


def checks(one: SourceTail) -> doc.TypedTable:
    """Return what was looked at before fitting and after it."""
    heads = doc.columns("check", "passed", "p", "what was found")
    rows = tuple(
        (
            doc.words(check.name),
            doc.words("yes" if check.passed else "no"),
            doc.formatted(check.p, words.p_value(check.p)) if check.p is not None else doc.words(""),
            doc.words(words.finding(check)),
        )
        for check in one.tail.checks
    )
    return doc.TypedTable("What was tested", heads, rows)


def limits(one: SourceTail) -> doc.TypedTable:
    """Return how rare values above each limit are: counted, by the fit, and by counting alone."""
    name, confidence = words.noun(one), format_percent(one.confidence)
    fitted = one.refusal is None
    heads = doc.columns(
        "later than",
        f"of {one.due:,}",
        "in events",
        *((f"chance per {name}", f"{confidence} interval", "so once in", "between") if fitted else ()),
        "by counting alone, at most",
        *(("once in",) if _has_bound_in_time(one) else ()),
    )
    rows = tuple(_limit_row(one, at, fitted=fitted) for at in one.limits)
    title = f"How likely a {name} above a limit is ({confidence} confidence)"
    notes = [words.dependence(one), words.losses(one)]
    if one.lost is None:
        notes = ["How many releases were missed is not known, so no bound can be given."]
    return doc.TypedTable(title, heads, rows, tuple(filter(None, notes)))


def levels(one: SourceTail) -> doc.TypedTable | None:
    """Return what is exceeded once in so long; None where nothing is said."""
    if not one.levels:
        return None
    maxima = {at.samples: at for at in one.levels_by_maxima}
    heads = doc.columns(
        "once per" if one.period_ns is not None else "once in",
        "later than",
        f"{format_percent(one.confidence)} interval",
        *(("by block maxima",) if maxima else ()),
        "times measured",
        "which is",
    )
    rows = tuple(
        (
            doc.words(at.name or f"{at.samples:,.0f} samples"),
            _level(at),
            _interval(at),
            *((_level(maxima[at.samples]),) if maxima else ()),
            doc.words(words.distance(at.samples, one.due)),
            doc.words(words.why_none(at) or words.SAYS[at.reach]),
        )
        for at in one.levels
    )
    return doc.TypedTable("What is exceeded how often", heads, rows)


@dataclass(frozen=True)
class OverviewRow:
    """One of many sources: what its row of the overview says, so that its samples need not be kept."""

    worst_ns: int
    run: str
    cells: tuple[doc.TypedCell, ...]
    rates: tuple[doc.TypedCell, ...]


def row(one: SourceTail, run: str = "") -> OverviewRow:
    """Return the row of one source; ``run``: the label of the run that it is of."""
    rates = () if one.period_ns is None else _overview_rates(one)
    return OverviewRow(one.worst_ns, run, _overview_row(one), rates)


def overview(rows: Sequence[OverviewRow], confidence: float) -> doc.TypedTable:
    """Return a row for each of many sources, the worst first."""
    several, periodic = len({one.run for one in rows}) > 1, any(one.rates for one in rows)
    heads = doc.columns(
        *(("run",) if several else ()),
        *("source", "samples", "largest", "tail"),
        *(_RATES if periodic else ()),
    )
    lines = tuple(
        (
            *((doc.words(one.run),) if several else ()),
            *one.cells,
            *((one.rates or (doc.TypedCell(None),) * len(_RATES)) if periodic else ()),
        )
        for one in sorted(rows, key=lambda one: -one.worst_ns)
    )
    note = "Tail: the form of what was fitted, or why nothing was."
    if periodic:
        note += (
            " Without: releases that have no sample. Later than the period: by counting alone, "
            f"{format_percent(confidence)} sure, at most."
        )
    return doc.TypedTable("Every source, the worst first", heads, lines, (note,))


def _overview_row(one: SourceTail) -> tuple[doc.TypedCell, ...]:
    peaks = one.tail.peaks
    tail = None if peaks is None else words.kind(peaks)
    if one.refusal is not None:
        tail = f"refused: {one.refusal.refuses}"
    return doc.words(one.name), doc.count(one.samples), doc.time(one.worst_ns), doc.TypedCell(tail)


def _overview_rates(one: SourceTail) -> tuple[doc.TypedCell, ...]:
    hour = one.at_time("hour", LASTING["hour"])
    bound = None if one.period_ns is None else one.at_limit(one.period_ns).bound
    return (
        doc.count(one.lost),
        doc.TypedCell(None, "ns") if hour is None else _level(hour),
        doc.TypedCell(None, "ns") if hour is None or hour.level is None else _interval(hour),
        _bound(bound),
    )


def _limit_row(one: SourceTail, at: AtLimit, *, fitted: bool) -> tuple[doc.TypedCell, ...]:
    cells = [doc.TypedCell(at.limit_ns, "ns", format_limit(at.limit_ns)), _later(at), doc.count(at.events)]
    if fitted and at.share is None:
        cells += [doc.TypedCell(None, "share")] * 4
    elif fitted and at.share is not None:
        share, rate_hz = at.share, one.rate_hz
        cells += [
            doc.TypedCell(share.value, "share", _reaching(words.probability(share.value), at)),
            doc.TypedCell(None, "share", _reaching(words.chance_between(share), at), share.low, share.high),
            _once(share.value, _reaching(words.once_in(share.value, rate_hz), at)),
            _once(share.high, _reaching(words.once_between(share, rate_hz), at)),
        ]
    cells.append(_bound(at.bound))
    if _has_bound_in_time(one):
        seldom = None if at.bound is None else words.once_in(at.bound, one.rate_hz, up=False)
        cells.append(doc.TypedCell(seldom))
    return (*cells[:-1], replace(cells[-1], left=True))


def _later(at: AtLimit) -> doc.TypedCell:
    cell = doc.count(at.later)
    return replace(cell, text=f"\u2264 {cell.shown}") if at.at_most and at.later else cell


def _once(share: float, said: str) -> doc.TypedCell:
    """Say how rare this share is: once in so many samples."""
    return doc.TypedCell(1 / share if share > 0 else None, "number", said, left=True)


def _bound(share: float | None) -> doc.TypedCell:
    return doc.TypedCell(share, "share", "" if share is None else words.one_in(share))


def _reaching(said: str, at: AtLimit | AtRate) -> str:
    """Put in brackets what lies too far beyond the measuring."""
    return f"({said})" if at.reach == "too far" else said


def _has_bound_in_time(one: SourceTail) -> bool:
    """Return whether there is room for it: beside a fit its times would be taken for those of the fit."""
    return one.refusal is not None and one.rate_hz is not None


def _level(at: AtRate) -> doc.TypedCell:
    if at.level is None:
        return doc.TypedCell(None, "ns")
    return doc.TypedCell(at.level.value_ns, "ns", _reaching(words.time(at.level.value_ns), at))


def _interval(at: AtRate) -> doc.TypedCell:
    if at.level is None:
        return doc.words("")
    low_ns, high_ns = at.level.low_ns, at.level.high_ns
    return doc.TypedCell(None, "ns", _reaching(words.interval(low_ns, high_ns), at), low_ns, high_ns)


MOST_WHOLE, MOST_DRAWN = 3, 2
"""So many sources are told whole; of more, a row each, and the worst ones whole."""

_Told = tuple[str, str, "SourceTail"]
"""The label of a run, what it measured, and a source."""


def document(tails: RunTails) -> doc.Document:
    """Return what is said about each source, or, of many, a table of all and the worst one whole."""
    told = Section()
    told.take("", tails)
    noun, sure = words.noun(tails.sources[0]), format_percent(tails.sources[0].confidence)
    others = "The others, each by itself: --source NAME."
    return doc.Document(
        f"How rare a late {noun} is: {tails.meaning}",
        (
            doc.part("The run", lambda: [doc.Sentence(f"{tails.run}, {sure} confidence", "note")]),
            *of_intervals(tails),
            *told.parts(),
            doc.part("The others", lambda: [doc.Sentence(others, "note")] if told.is_in_short else []),
        ),
    )


def of_intervals(tails: RunTails) -> Iterator[doc.DocumentPart]:
    """Yield what the worst of its intervals say of a long run."""
    if (found := tails.soak) is not None:
        yield doc.part("By the worst of its intervals", lambda: soak.levels(found))


class Section:
    """Takes runs one by one; of many sources it keeps only those that are told whole."""

    def __init__(self) -> None:
        """Begin with no run."""
        self._rows: list[OverviewRow] = []
        self._kept: list[_Told] = []
        self._fitted = False
        self._lost: list[str] = []

    @property
    def is_in_short(self) -> bool:
        """Return whether there are too many sources to tell each whole."""
        return len(self._rows) > MOST_WHOLE

    def take(self, label: str, found: RunTails) -> None:
        """Take one run more, under its label."""
        own = [(label, found.meaning, one) for one in found.sources]
        self._rows += [row(one, label) for one in found.sources]
        self._fitted = self._fitted or any(one.refusal is None for one in found.sources)
        self._kept = _worth_telling([*self._kept, *own], len(self._rows))

    def lose(self, fault: Fault) -> None:
        """Tell that the tails of one run more could not be found."""
        self._lost.append(fault.notice)

    def parts(self, prefix: str = "tail") -> Iterator[doc.DocumentPart]:
        """Lay them out; none without a source. The ids of the charts begin with ``prefix``."""
        yield doc.part("How rare a late cycle is", self._overview, id="tail")
        several = len({row.run for row in self._rows}) > 1
        for at, (label, meaning, one) in enumerate(self._kept):
            title = f"{label}, {one.name}" if several else one.name
            yield _part(title, one, f"{prefix}-{at}", meaning, only="page" if at and self.is_in_short else "")
        notes = NOTES if self._fitted else NOTES[:1]
        yield doc.part("Notes", lambda: [doc.Sentence(one, "note") for one in notes if self._kept])

    def _overview(self) -> Iterator[doc.Block]:
        yield from map(doc.Lost, self._lost)
        if self.is_in_short:
            yield overview(self._rows, self._kept[0][2].confidence)


def _worth_telling(every: list[_Told], count: int) -> list[_Told]:
    """Return all of a few; of many the worst, and the worst of those with a fit, which have a chart."""
    if count <= MOST_WHOLE:
        return every
    order = sorted(every, key=lambda part: -part[2].worst_ns)
    drawn = [part for part in order[1:] if is_fitted(part[2])]
    return [order[0], *drawn[: MOST_DRAWN - 1]]


def _part(title: str, one: SourceTail, prefix: str, meaning: str, *, only: doc.Medium) -> doc.DocumentPart:
    """Return one source, told whole."""

    def blocks() -> Iterator[doc.Block]:
        yield doc.Subheading(title)
        answer, why = words.answer(one)
        yield doc.Sentence(answer, "lead" if one.refusal is None else "strong")
        if why:
            yield doc.Sentence(why)
        yield doc.Sentence(" ".join([f"{upper_first(words.measured(one))}.", *words.fit(one)]), "note")
        figures = all_made("What is exceeded how often", lambda: of_source(one, prefix, meaning))
        yield from map(doc.Drawing, figures[:1])
        yield from filter(None, (limits(one), levels(one)))
        if (looked_at := replace(checks(one), title="")).rows:
            refused = ", up to the refusal" if one.refusal is not None else ""
            yield doc.Disclosure(f"What was tested{refused}", (looked_at,))
        yield from map(doc.Drawing, figures[1:])

    return doc.part(title, blocks, only=only)


def as_table(tails: RunTails) -> dict[str, object]:
    """Return the same as JSON has it; times in nanoseconds, None for what is not known or has no end."""
    return {
        "run": tails.run,
        "measure": tails.measure,
        "meaning": tails.meaning,
        "unit": "ns",
        "confidence": tails.sources[0].confidence,
        "sources": [_source(one) for one in tails.sources],
    }


def _source(one: SourceTail) -> dict[str, object]:
    tail = one.tail
    return {
        "name": one.name,
        "samples": one.samples,
        "lost": one.lost,
        "rate_hz": one.rate_hz,
        "seconds": one.seconds,
        "maximum_ns": one.worst_ns,
        "headline": words.headline(one),
        "sentences": [*words.fit(one), *filter(None, [words.losses(one)])],
        "refusal": None
        if (refusal := one.refusal) is None
        else {
            "code": refusal.refuses,
            "reason": words.finding(refusal),
            "advice": words.advice(refusal),
        },
        "checks": [
            {"name": one.name, "passed": one.passed, "p": one.p, "sentence": words.finding(one)}
            for one in tail.checks
        ],
        "peaks": None if tail.peaks is None else _plain(tail.peaks, "excess_ns"),
        "maxima": None if tail.maxima is None else _plain(tail.maxima, "maximum_ns"),
        "agree": tail.agree,
        "limits": [
            {name: value for name, value in asdict(at).items() if name != "at_most" or at.at_most}
            for at in one.limits
        ],
        "levels": [_level_as_table(at) for at in one.levels],
        "levels_by_maxima": [_level_as_table(at) for at in one.levels_by_maxima],
    }


def _level_as_table(at: AtRate) -> dict[str, object]:
    held = None if at.level is None else {name: _finite(value) for name, value in asdict(at.level).items()}
    return {
        "per": at.name or None,
        "samples": at.samples,
        "level": held,
        "reach": at.reach,
        "why": words.why_none(at) or None,
    }


def _plain(fitted: object, without: str) -> dict[str, object]:
    return {name: _finite(value) for name, value in vars(fitted).items() if name != without}


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
