"""The tables about tails, for terminals and pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.blocks import Grid
from tautochrone.answer.phrasing import tail as words
from tautochrone.base.units import format_duration, format_percent
from tautochrone.judge.tail.source import FAR, LASTING, TOO_FAR, AtLimit, AtRate, SourceTail

NOTES = (
    "By counting alone: the upper bound of Clopper and Pearson (1934), whatever the distribution; it asks "
    "only that what comes is like what was measured. Samples that come together count as fewer.",
    f"What comes more rarely than once in {FAR:.0f} times the measuring rests on the form of the fit alone; "
    f"more rarely than once in {TOO_FAR:.0f} times, it stands in brackets and should not be relied on.",
)
"""What all of these tables rest on; the second only where something is fitted."""

_NONE = "N/A"
_RATES = ("without", "once per hour", "interval", "later than the period")


def checks(one: SourceTail) -> Grid:
    """What was looked at before fitting and after it."""
    rows = [words.check_line(check) for check in one.tail.checks]
    return Grid(
        "What was looked at",
        ("check", "passed", "p", "what was found"),
        tuple(rows),
        words=("what was found",),
    )


def limits(one: SourceTail) -> Grid:
    """How rare values above each limit are: counted, by the fit, and by counting alone."""
    name, confidence = words.noun(one), format_percent(one.confidence)
    fitted = one.refusal is None
    head = (
        "later than",
        f"of {one.due:,}",
        *((f"chance per {name}", f"{confidence} interval", "so once in", "between") if fitted else ()),
        "by counting alone, at most",
        *(("once in",) if _has_bound_in_time(one) else ()),
    )
    rows = tuple(_limit_row(one, at, fitted=fitted) for at in one.limits)
    title = f"How likely a {name} above a limit is ({confidence} confidence)"
    return Grid(title, head, rows, tuple(_limit_notes(one)), head[-1:])


def levels(one: SourceTail) -> Grid | None:
    """What is exceeded once in so long; None where nothing is said."""
    if not one.levels:
        return None
    maxima = {at.samples: at for at in one.levels_by_maxima}
    head = (
        "once per" if one.period_ns is not None else "once in",
        "later than",
        f"{format_percent(one.confidence)} interval",
        *(("by block maxima",) if maxima else ()),
        "times measured",
        "which is",
    )
    rows = tuple(
        (
            at.name or f"{at.samples:,.0f} samples",
            _level(at),
            _interval(at),
            *((_level(maxima[at.samples]),) if maxima else ()),
            words.distance(at.samples, one.due),
            words.why_none(at) or words.SAYS[at.reach],
        )
        for at in one.levels
    )
    return Grid("What is exceeded how often", head, rows, (), ("times measured",))


def notes(*, fitted: bool) -> tuple[str, ...]:
    """What the tables rest on, once for all of them; ``fitted``: whether anything was."""
    return NOTES if fitted else NOTES[:1]


@dataclass(frozen=True)
class Row:
    """One of many sources: what its row of the overview says, so that its samples need not be kept."""

    worst_ns: int
    run: str
    cells: tuple[str, ...]
    rates: tuple[str, ...]


def row(one: SourceTail, run: str = "") -> Row:
    """The row of one source; ``run``: the label of the run that it is of."""
    rates = () if one.period_ns is None else _overview_rates(one)
    return Row(one.worst_ns, run, _overview_row(one), rates)


def overview(rows: Sequence[Row], confidence: float) -> Grid:
    """A row for each of many sources, the worst first."""
    several, periodic = len({one.run for one in rows}) > 1, any(one.rates for one in rows)
    head = (
        *(("run",) if several else ()),
        *("source", "samples", "largest", "tail"),
        *(_RATES if periodic else ()),
    )
    lines = tuple(
        (
            *((one.run,) if several else ()),
            *one.cells,
            *((one.rates or (_NONE,) * len(_RATES)) if periodic else ()),
        )
        for one in sorted(rows, key=lambda one: -one.worst_ns)
    )
    note = "Tail: the form of what was fitted, or why nothing was."
    if periodic:
        note += (
            " Without: releases that have no sample. Later than the period: by counting alone, "
            f"{format_percent(confidence)} sure, at most."
        )
    return Grid("Every source, the worst first", head, lines, (note,))


def _overview_row(one: SourceTail) -> tuple[str, ...]:
    peaks = one.tail.peaks
    tail = _NONE if peaks is None else words.kind(peaks)
    if one.refusal is not None:
        tail = f"refused: {one.refusal.refuses}"
    return one.name, f"{one.samples:,}", format_duration(one.worst_ns), tail


def _overview_rates(one: SourceTail) -> tuple[str, ...]:
    hour = one.at_time("hour", LASTING["hour"])
    bound = None if one.period_ns is None else one.at_limit(one.period_ns).bound
    return (
        _NONE if one.lost is None else f"{one.lost:,}",
        _NONE if hour is None else _level(hour),
        _NONE if hour is None or hour.level is None else _interval(hour),
        _NONE if bound is None else words.one_in(bound),
    )


def _limit_row(one: SourceTail, at: AtLimit, *, fitted: bool) -> tuple[str, ...]:
    cells = [format_duration(at.limit_ns), f"{at.later:,}"]
    if fitted and at.share is None:
        cells += [_NONE] * 4
    elif fitted and at.share is not None:
        said = words.probability(at.share.value)
        once = words.once_in(at.share.value, one.rate_hz)
        between, times = words.chance_between(at.share), words.once_between(at.share, one.rate_hz)
        far = at.reach == "too far"
        cells += [
            f"({said})" if far else said,
            f"({between})" if far else between,
            f"({once})" if far else once,
            f"({times})" if far else times,
        ]
    cells.append(_NONE if at.bound is None else words.one_in(at.bound))
    if _has_bound_in_time(one):
        cells.append(_NONE if at.bound is None else words.once_in(at.bound, one.rate_hz))
    return tuple(cells)


def _has_bound_in_time(one: SourceTail) -> bool:
    """Beside a fit there is no room for it, and its times would be taken for those of the fit."""
    return one.refusal is not None and one.rate_hz is not None


def _limit_notes(one: SourceTail) -> list[str]:
    if one.lost is None:
        return ["How many releases were missed is not known, so no bound can be given."]
    return [sentence for sentence in (words.dependence(one), words.losses(one)) if sentence]


def _level(at: AtRate) -> str:
    if at.level is None:
        return _NONE
    said = words.time(at.level.value_ns)
    return f"({said})" if at.reach == "too far" else said


def _interval(at: AtRate) -> str:
    if at.level is None:
        return ""
    said = words.interval(at.level.low_ns, at.level.high_ns)
    return f"({said})" if at.reach == "too far" else said
