"""A comparison in tables: the sides, what differs in the conditions, and what in the numbers."""

from collections.abc import Iterator, Mapping, Sequence

from tautochrone.answer.blocks import Grid
from tautochrone.answer.labels import label_runs
from tautochrone.answer.phrasing import comparison as words
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_percent, format_us
from tautochrone.base.words import plural, upper_first
from tautochrone.judge.comparison.compare import Comparison, MeasureCompared, Pair
from tautochrone.judge.comparison.gate import MISSES
from tautochrone.judge.comparison.metric import Metric, Part
from tautochrone.judge.comparison.side import Side
from tautochrone.statistics.difference.two_sample import TwoSample

# What the sides are called: letters, and in as few words as will do what each is.


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(at: int) -> str:
    """``A``, …, ``Z``, ``S27``."""
    return LETTERS[at] if at < len(LETTERS) else f"S{at + 1}"


def labels(sides: Sequence[Side]) -> list[str]:
    """One for each side, after its first run; different ones where the sides differ."""
    return label_runs([side.manifests[0] for side in sides])


_NA = "N/A"
_LOST = "lost"
_LEAST_P = 0.001
_ALPHA = 0.05
_MOST_IN_FULL = 16  # sources of all measures
_SHOWN = ("better", "worse", "higher", "lower")
_SHORT = {"Kolmogorov-Smirnov": "KS", "Anderson-Darling": "AD"}


def sides(comparison: Comparison, labels: Sequence[str]) -> Grid:
    """Which is which."""
    earlier = any(side.earlier for side in comparison.sides)
    rows = tuple(
        (
            side.name,
            label,
            side.named or legend(side),
            number(len(side.runs)),
            *([number(len(side.earlier))] if earlier else []),
        )
        for side, label in zip(comparison.sides, labels, strict=True)
    )
    heads = ("", "what", "named", "runs", *(["others alike in the store"] if earlier else []))
    return Grid("", heads, rows, words=("what", "named"))


def numbers_of(comparison: Comparison, *, narrow: bool = False) -> list[Grid]:
    """All tables of numbers; of campaigns the one of all cells.

    Args:
        narrow: so that a row stands in one line of 80 columns: no ratios, fewer digits, shorter words.
    """
    if comparison.pairs[0].cell:
        return [cells(comparison)]
    if is_long(comparison):
        return [by_source(comparison)]
    return [numbers(*one, comparison.confidence, narrow=narrow) for one in _parts(comparison)]


def is_long(comparison: Comparison) -> bool:
    """Whether there are too many sources for a table of each."""
    return len(list(_parts(comparison))) > _MOST_IN_FULL


def by_source(comparison: Comparison) -> Grid:
    """Many sources in one table: the change of each number."""
    names = list(
        dict.fromkeys(words.name_of(metric) for pair in comparison.pairs for _, _, metric in pair.metrics())
    )
    several = len(comparison.pairs) > 1
    rows = []
    for pair, measure, part in _parts(comparison):
        by_name = {words.name_of(one): one for one in part.metrics}
        where = [part.source, measure.name.removesuffix("_ns") if len(pair.measures) > 1 else ""]
        where.append(pair.second.name if several else "")
        cells_of = (_in_short(by_name.get(name)) for name in names)
        rows.append((", ".join(filter(None, where)), *cells_of))
    first = comparison.sides[0].name
    notes = (
        f"The change against {first}. In brackets: no difference shown; too few: there is no interval. One "
        "source with its intervals, tests and reasons: --source NAME.",
    )
    return Grid("Source by source", ("", *names), tuple(rows), notes, words=tuple(names))


def _in_short(one: Metric | None) -> str:
    """The change in per cent, and its verdict where there is one."""
    if one is None:
        return "-"
    if one.ratio is None or one.name == MISSES:
        return _short(one)
    said = f"{(one.ratio - 1) * 100:+.3g} %"
    if one.verdict in ("no difference shown", ""):
        return f"({said})"
    if one.verdict in ("too few samples", "too few runs"):
        return f"({said}) too few"
    return f"{said} {one.verdict}"


def why_not(comparison: Comparison) -> list[str]:
    """Why numbers have no verdict or no interval: each reason once, with the numbers that it is about."""
    if comparison.pairs[0].cell or is_long(comparison):
        return []
    about: dict[str, dict[str, list[str]]] = {}
    for pair, measure, part in _parts(comparison):
        where = ", ".join(
            filter(
                None,
                (
                    pair.second.name if len(comparison.pairs) > 1 else "",
                    measure.name.removesuffix("_ns") if len(pair.measures) > 1 else "",
                    part.source if len(measure.parts) > 1 else "",
                ),
            )
        )
        for one in part.metrics:
            if one.notes:
                about.setdefault(words.note(one), {}).setdefault(where, []).append(words.name_of(one))
    return [f"{_about(places)}: {note}" for note, places in about.items()]


def _about(places: Mapping[str, Sequence[str]]) -> str:
    """``p99.9 (cpu0; cpu1), p99 (cpu0)``: each set of numbers once, with where they are."""
    alike: dict[str, list[str]] = {}
    for where, names in places.items():
        alike.setdefault(", ".join(names), []).append(where)
    return "; ".join(
        f"{names} ({'; '.join(filter(None, where))})" if any(where) else names
        for names, where in alike.items()
    )


def _parts(comparison: Comparison) -> Iterator[tuple[Pair, MeasureCompared, Part]]:
    for pair in comparison.pairs:
        for measure in pair.measures:
            for part in measure.parts:
                yield pair, measure, part


def numbers(
    pair: Pair, measure: MeasureCompared, part: Part, confidence: float, *, narrow: bool = False
) -> Grid:
    """One source of one measure."""
    first, second = pair.first.name, pair.second.name
    sure = format_percent(confidence)
    heads = ["", first, second, f"{second} - {first}", f"{sure} interval", "ratio", "p", "verdict"]
    rows = [_row(one, narrow=narrow) for one in part.metrics]
    kept = [at for at, head in enumerate(heads) if not (narrow and head == "ratio")]
    return Grid(
        f"{_title(pair, measure, part)} in us",
        tuple(heads[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in rows),
        tuple(_notes(pair, part)),
        words=(f"{sure} interval", "verdict"),
    )


def _title(pair: Pair, measure: MeasureCompared, part: Part) -> str:
    meaning = upper_first(measure.meaning)
    cell = f"{pair.cell}: " if pair.cell else ""
    return f"{cell}{meaning}, {part.source}, {pair.second.name} against {pair.first.name}"


def _row(one: Metric, *, narrow: bool) -> tuple[str, ...]:
    unknown = one.second is None and one.first is None
    verdict = "not shown" if narrow and one.verdict == "no difference shown" else one.verdict
    return (
        words.name_of(one),
        value(one, one.first),
        value(one, one.second),
        _NA if one.difference is None else _difference(one, one.difference, brief=narrow),
        _interval(one, brief=narrow),
        _NA if one.ratio is None else _ratio(one.ratio),
        _NA if one.adjusted is None else _p(one.adjusted),
        verdict or ("not tested" if not unknown else _NA),
    )


def value(one: Metric, of_side: float | None) -> str:
    """Of one side: us, or of losses per cent."""
    if of_side is None:
        return "not known" if one.name == MISSES else _LOST
    return _percent(of_side) if one.name == MISSES else format_us(of_side)


def _difference(one: Metric, difference: float, *, brief: bool = False) -> str:
    if one.name == MISSES:
        return f"{difference * 100:+.3g} %"
    if brief:
        size = abs(difference) / 1e3
        return f"{difference / 1e3:+,.{sum(size < limit for limit in (10, 100, 1000))}f}"
    return f"{difference / 1e3:+,.3f}"


def _interval(one: Metric, *, brief: bool) -> str:
    if one.low is None and one.high is None:
        return "none"
    ends = [
        "beyond all" if end is None else _difference(one, end, brief=brief) for end in (one.low, one.high)
    ]
    if brief:
        return f"{ends[0]}..{ends[1]}".replace(" %..", "..")
    return f"{ends[0]} to {ends[1]}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.3f}" if 0.1 <= ratio < 10 else f"{ratio:.3g}"


def _percent(share: float) -> str:
    return "none" if share == 0 else f"{share * 100:.3g} %"


def _p(p: float) -> str:
    return f"< {_LEAST_P}" if p < _LEAST_P else f"{p:.3f}"


def _notes(pair: Pair, part: Part) -> Iterator[str]:
    first, second = pair.first.name, pair.second.name
    lost = [f"{number(one)} lost" if one is not None else "an unknown number lost" for one in part.lost]
    yield (
        f"{first}: {plural(part.samples[0], 'sample')}, {lost[0]}; {second}: "
        f"{plural(part.samples[1], 'sample')}, {lost[1]}."
    )
    yield _effect(first, second, part)


def _effect(first: str, second: str, part: Part) -> str:
    """How large the difference is, what the tests of the whole distributions say, and how that goes with the
    verdicts."""
    chance = f"{part.superiority * 100:.3g} %"
    said = (
        f"A release of {second} is later than one of {first} with a chance of {chance} (50 %: neither is), "
        f"a {part.size} effect (Vargha and Delaney, 2000)"
    )
    if part.tests:
        said += f"; {'; '.join(map(_test, part.tests))}"
    shown = any(one.verdict in _SHOWN for one in part.metrics)
    differ = part.size != "negligible" or any(_tells(test) for test in part.tests)
    of_runs = any(test.whole_runs and _tells(test) for test in part.tests)
    if shown or of_runs or not differ:
        return f"{said}."
    return f"{said}: what differs within these runs is not shown to be of their conditions."


def _tells(test: TwoSample) -> bool:
    return test.p is not None and test.p <= _ALPHA


def _test(test: TwoSample) -> str:
    name = _SHORT[test.name]
    if test.p is None:
        return (
            f"{name} {test.statistic:.4g}, no p-value: the order of the samples is not known, or they are few"
        )
    how = ", of whole runs" if test.whole_runs else ""
    return f"{name} {test.statistic:.4g}, p {_p(test.p)} (not adjusted{how})"


def cells(comparison: Comparison) -> Grid:
    """Campaigns, cell by cell: the change of each number."""
    names = list(
        dict.fromkeys(words.name_of(metric) for pair in comparison.pairs for _, _, metric in pair.metrics())
    )
    rows = tuple(row for pair in comparison.pairs for row in _cell_rows(pair, names))
    notes = (
        f"{comparison.sides[1].named} against {comparison.sides[0].named}. In brackets: no difference "
        "shown. Misses: in percentage points of the releases.",
    )
    heads = ("cell", "source", "runs", *names)
    return Grid("Cell by cell", heads, rows, notes, words=("source", "runs", *names))


def _cell_rows(pair: Pair, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for measure in pair.measures:
        for part in measure.parts:
            by_name = {words.name_of(one): one for one in part.metrics}
            source = part.source if len(pair.measures) == 1 else f"{part.source}, {measure.name}"
            runs = f"{len(pair.first.runs)}, {len(pair.second.runs)}"
            yield (pair.cell, source, runs, *(_short(by_name.get(name)) for name in names))


def _short(one: Metric | None) -> str:
    if one is None:
        return "-"
    said = words.bare_change(one)
    if one.verdict in ("no difference shown", ""):
        return f"({said})"
    if one.verdict in ("too few samples", "too few runs"):
        return "too few" if one.difference is None else f"({said}) too few"
    return f"{said} {one.verdict}"


def gates(comparison: Comparison) -> list[str]:
    """What came of each gate."""
    several = len(comparison.pairs) > 1
    return [f"{words.gate(one, several=several)}" for one in comparison.gates]


def legend(side: Side) -> str:
    """A side in one line."""
    more = f" and {len(side.runs) - 1} more" if len(side.runs) > 1 else ""
    return f"{side.ids[0]}{more}"
