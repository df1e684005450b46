"""A comparison in tables: the sides, what differs in the conditions, and what in the numbers."""

from collections.abc import Iterator, Mapping, Sequence

from tautochrone.answer import environment
from tautochrone.answer.document import TableColumn, TypedCell, TypedTable, Unit, columns, count, micros
from tautochrone.answer.document import words as cell
from tautochrone.answer.labels import label_runs
from tautochrone.answer.phrasing.differences import p_value
from tautochrone.answer.typeset import number, plain
from tautochrone.base.units import format_part, format_percent, format_ratio
from tautochrone.base.words import plural, upper_first
from tautochrone.comparison import phrasing as words
from tautochrone.judge.comparison.compare import Comparison, MeasureCompared, SidePair
from tautochrone.judge.comparison.conditions import ChangedFact, Changes
from tautochrone.judge.comparison.gate import MISSES
from tautochrone.judge.comparison.metric import ComparedMetric, SourcePart, Verdict
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.statistics.difference.two_sample import TwoSample

# What the sides are called: letters, and in as few words as will do what each is.


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(at: int) -> str:
    """Return ``A``, …, ``Z``, ``S27``."""
    return LETTERS[at] if at < len(LETTERS) else f"S{at + 1}"


def labels(sides: Sequence[ComparedSide]) -> list[str]:
    """Return one for each side, after its first run; different ones where the sides differ."""
    return label_runs([side.manifests[0] for side in sides])


_LOST, _CLIPPED = "lost", "clipped"
_PERCENT = " %"
_ALPHA = 0.05
_MOST_IN_FULL = 16  # sources of all measures
_SHOWN = ("better", "worse", "higher", "lower")
_NOT_SET = ("deployment.", "parameters.", "virtual.", "recorder")
_SETS = ("kernel.options", "kernel.mitigations", "warnings", "clock.tsc_flags", "cpu.caches")
"""Lists in which the order says nothing, so that only what differs need be shown."""

_WORD_LISTS = ("command_line",)
_MOST_PARTS = 12  # of a list without anything in common
_SHORT = {"Kolmogorov-Smirnov": "KS", "Anderson-Darling": "AD"}


def sides(comparison: Comparison) -> TypedTable:
    """Return which is which."""
    earlier = any(side.earlier for side in comparison.sides)
    rows = tuple(
        (
            cell(side.name),
            cell(label),
            cell(side.named or legend(side)),
            count(len(side.runs)),
            *([count(len(side.earlier))] if earlier else []),
        )
        for side, label in zip(comparison.sides, labels(comparison.sides), strict=True)
    )
    heads = columns("", "what", "named", "runs", *(["others alike in the store"] if earlier else []))
    return TypedTable("", heads, rows)


def conditions(comparison: Comparison) -> TypedTable:
    """Return the facts that differ, what matters most first: one row for each, one column for each side."""
    changes = comparison.changes
    rows = tuple((cell(_name(one)), *map(cell, _values(one))) for one in changes.of_conditions)
    heads = columns("", *(side.name for side in comparison.sides))
    return TypedTable("What differs in the conditions", heads, rows, tuple(_notes_on(changes)))


def _notes_on(changes: Changes) -> list[str]:
    """Return what was compared, and what is not in the table."""
    found = []
    if not changes.of_conditions:
        found.append(f"None of {changes.facts:,} facts that are known of the runs differs.")
    if changes.by_itself:
        named = ", ".join(map(_fact, changes.by_itself))
        found.append(f"Differ between any two runs, and so say nothing: {named}.")
    return found


def _name(change: ChangedFact) -> str:
    """Return a fact in words, and whether it is the runs of one side that differ in it."""
    return _fact(change.name) if change.between else f"{_fact(change.name)} (among the runs of one side)"


def _fact(name: str) -> str:
    """Return ``kernel.command_line`` is ``kernel command line``."""
    group, _, rest = name.partition(".")
    if group in ("parameters", "ruler") and rest:
        return environment.words(rest)
    return f"{environment.words(group)} {environment.words(rest)}" if rest else environment.words(group)


def _values(change: ChangedFact) -> list[str]:
    """Return what each side has; of long lists only what differs."""
    own = change.values
    if all(len(values) == 1 for values in own):
        lists = [_as_set(change.name, values[0]) for values in own]
        known = [set(one) for one in lists if one is not None]
        if len(known) == len(lists) and max(map(len, known)) > 1:
            common = set.intersection(*known)
            return [_rest([part for part in one or () if part not in common], common) for one in lists]
    return [" / ".join(_value(change.name, value) for value in values) for values in own]


def _rest(parts: Sequence[str], common: set[str]) -> str:
    shown = [plain(environment.show("", part)) for part in parts[:_MOST_PARTS]]
    more = [f"{len(parts) - _MOST_PARTS} more"] if len(parts) > _MOST_PARTS else []
    said = ", ".join([*shown, *more])
    if not common:
        return said or "none"
    return f"also {said}" if said else "without these"


def _as_set(name: str, value: object) -> list[str] | None:
    if name.endswith(_WORD_LISTS) and isinstance(value, str):
        return value.split()
    return [str(part) for part in value] if isinstance(value, tuple) and name in _SETS else None


def _value(name: str, value: object) -> str:
    if value is None:
        return "not set" if name.startswith(_NOT_SET) else "not known"
    return plain(environment.show(name.rpartition(".")[2], value))


def numbers_of(comparison: Comparison) -> list[TypedTable]:
    """Return all tables of numbers; of plan runs the one of all cases."""
    if comparison.of_cells:
        return [cells(comparison)]
    if is_long(comparison):
        return [by_source(comparison)]
    return [numbers(*one, comparison.confidence) for one in _parts(comparison)]


def is_long(comparison: Comparison) -> bool:
    """Return whether there are too many sources for a table of each."""
    return len(list(_parts(comparison))) > _MOST_IN_FULL


def by_source(comparison: Comparison) -> TypedTable:
    """Return many sources in one table: the change of each number."""
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
        rows.append((cell(", ".join(filter(None, where))), *cells_of))
    first = comparison.sides[0].name
    notes = (
        f"The change against {first}. In brackets: no difference shown; too few: there is no interval. One "
        "source with its intervals, tests and reasons: --source NAME.",
    )
    return TypedTable("Source by source", columns("", *names), tuple(rows), notes)


def _in_short(one: ComparedMetric | None) -> TypedCell:
    """Return the change in per cent, and its verdict where there is one."""
    if one is None or one.ratio is None or one.name == MISSES:
        return _short(one)
    said = words.share(one.ratio - 1)
    return TypedCell(one.ratio - 1, "share", _BESIDE_VERDICT[one.verdict].format(said), left=True)


_BESIDE_VERDICT: dict[Verdict, str] = {
    "better": "{} better",
    "worse": "{} worse",
    "higher": "{} higher",
    "lower": "{} lower",
    "no difference shown": "({})",
    "too few samples": "({}) too few",
    "too few runs": "({}) too few",
    "not comparable": "{} not comparable",
    "": "({})",
}
"""How a change is written with its verdict, where there is room for a word."""


def why_not(comparison: Comparison) -> list[str]:
    """Return why numbers have no verdict or no interval, each reason once with its numbers."""
    if comparison.of_cells or is_long(comparison):
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
    """Return ``p99.9 (cpu0; cpu1), p99 (cpu0)``: each set of numbers once, with where they are."""
    alike: dict[str, list[str]] = {}
    for where, names in places.items():
        alike.setdefault(", ".join(names), []).append(where)
    return "; ".join(
        f"{names} ({'; '.join(filter(None, where))})" if any(where) else names
        for names, where in alike.items()
    )


def _parts(comparison: Comparison) -> Iterator[tuple[SidePair, MeasureCompared, SourcePart]]:
    for pair in comparison.pairs:
        for measure in pair.measures:
            for part in measure.parts:
                yield pair, measure, part


def numbers(pair: SidePair, measure: MeasureCompared, part: SourcePart, confidence: float) -> TypedTable:
    """Return one source of one measure; without ratios and with fewer digits, a row stands in 80 columns."""
    first, second = pair.first.name, pair.second.name
    sure = format_percent(confidence)
    heads = (
        *columns("", first, second, f"{second} - {first}", f"{sure} interval"),
        TableColumn("ratio", spare=True),
        *columns("p", "verdict"),
    )
    rows = tuple(map(_row, part.metrics))
    return TypedTable(f"{_title(pair, measure, part)} in us", heads, rows, tuple(_notes(pair, part)))


def _title(pair: SidePair, measure: MeasureCompared, part: SourcePart) -> str:
    meaning = upper_first(measure.meaning)
    cell = f"{pair.cell}: " if pair.cell else ""
    return f"{cell}{meaning}, {part.source}, {pair.second.name} against {pair.first.name}"


def _row(one: ComparedMetric) -> tuple[TypedCell, ...]:
    unknown = one.second is None and one.first is None
    brief = "not shown" if one.verdict == "no difference shown" else ""
    return (
        cell(words.name_of(one)),
        value(one, one.first),
        value(one, one.second),
        _changed(one, one.difference),
        _interval(one),
        TypedCell(one.ratio, "number", "" if one.ratio is None else _ratio(one.ratio)),
        TypedCell(one.adjusted, "number", "" if one.adjusted is None else p_value(one.adjusted)),
        TypedCell(one.verdict or ("not tested" if not unknown else None), brief=brief),
    )


def value(one: ComparedMetric, of_side: float | None) -> TypedCell:
    """Return the number of one side: us, or of losses per cent."""
    if one.name != MISSES:
        return micros(of_side, _CLIPPED if "among clipped" in one.notes else _LOST)
    return TypedCell(of_side, "share", "not known" if of_side is None else _percent(of_side))


def _unit(one: ComparedMetric) -> Unit:
    return "share" if one.name == MISSES else "ns"


def _changed(one: ComparedMetric, by: float | None) -> TypedCell:
    if by is None:
        return TypedCell(None, _unit(one))
    brief = f"{_in_brief(one, by)}{_PERCENT if one.name == MISSES else ''}"
    return TypedCell(by, _unit(one), _difference(one, by), brief=brief)


def _difference(one: ComparedMetric, difference: float) -> str:
    if one.name == MISSES:
        return f"{_in_brief(one, difference)}{_PERCENT}"
    return f"{difference / 1e3:+,.3f}"


def _in_brief(one: ComparedMetric, difference: float) -> str:
    """Write a difference with fewer digits, and without a unit."""
    if one.name == MISSES:
        return f"{difference * 100:+.3g}"
    size = abs(difference) / 1e3
    return f"{difference / 1e3:+,.{sum(size < limit for limit in (10, 100, 1000))}f}"


def _interval(one: ComparedMetric) -> TypedCell:
    if one.low is None and one.high is None and one.basis != "these runs":
        return TypedCell(None, _unit(one), "none", left=True)
    open_ends = ((one.low, "below all"), (one.high, "above all"))
    ends = [beyond if end is None else _difference(one, end) for end, beyond in open_ends]
    brief = [beyond if end is None else _in_brief(one, end) for end, beyond in open_ends]
    return TypedCell(
        None,
        _unit(one),
        f"{ends[0]} to {ends[1]}",
        one.low,
        one.high,
        left=True,
        brief=f"{brief[0]}..{brief[1]}{_PERCENT if one.name == MISSES and one.high is not None else ''}",
    )


def _ratio(ratio: float) -> str:
    return f"{ratio:.3f}" if 0.1 <= ratio < 10 else format_ratio(ratio)


def _percent(share: float) -> str:
    return "none" if share == 0 else format_part(share)


def _notes(pair: SidePair, part: SourcePart) -> Iterator[str]:
    first, second = pair.first.name, pair.second.name
    lost = [f"{number(one)} lost" if one is not None else "an unknown number lost" for one in part.lost]
    yield (
        f"{first}: {plural(part.samples[0], 'sample')}, {lost[0]}; {second}: "
        f"{plural(part.samples[1], 'sample')}, {lost[1]}."
    )
    yield _effect(first, second, part)


def _effect(first: str, second: str, part: SourcePart) -> str:
    """Say how large the difference is, what the tests of distributions say, and how verdicts go with it."""
    chance = format_part(part.superiority)
    said = (
        f"A release of {second} is later than one of {first} in {chance} of pairs (50 %: no tendency), "
        f"a {part.size} effect (Vargha and Delaney, 2000)"
    )
    if part.tests:
        said += f"; {'; '.join(map(_test, part.tests))}"
    shown = any(one.verdict in _SHOWN for one in part.metrics)
    differ = part.size != "negligible" or any(_tells(test) for test in part.tests)
    of_runs = any(test.whole_runs and _tells(test) for test in part.tests)
    if shown or of_runs or not differ:
        return f"{said}."
    return f"{said}: the difference between these runs is not shown to come from their conditions."


def _tells(test: TwoSample) -> bool:
    return test.p is not None and test.p <= _ALPHA


def _test(test: TwoSample) -> str:
    name, statistic = _SHORT[test.name], format_ratio(test.statistic, 4)
    if test.p is None:
        return f"{name} {statistic}, no p-value: the order of the samples is not known, or they are few"
    how = ", of whole runs" if test.whole_runs else ""
    return f"{name} {statistic}, p {p_value(test.p)} (not adjusted{how})"


def cells(comparison: Comparison) -> TypedTable:
    """Return the change of each number, case by case, for plan runs."""
    names = list(
        dict.fromkeys(words.name_of(metric) for pair in comparison.pairs for _, _, metric in pair.metrics())
    )
    rows = tuple(row for pair in comparison.pairs for row in _cell_rows(pair, names))
    notes = (
        f"{comparison.sides[1].named} against {comparison.sides[0].named}. In brackets: no difference "
        "shown. Misses: in percentage points of the releases.",
    )
    return TypedTable("Case by case", columns("case", "source", "runs", *names), rows, notes)


def _cell_rows(pair: SidePair, names: Sequence[str]) -> Iterator[tuple[TypedCell, ...]]:
    for measure in pair.measures:
        for part in measure.parts:
            by_name = {words.name_of(one): one for one in part.metrics}
            source = part.source if len(pair.measures) == 1 else f"{part.source}, {measure.name}"
            runs = f"{len(pair.first.runs)}, {len(pair.second.runs)}"
            named = map(cell, (pair.cell, source, runs))
            yield (*named, *(_short(by_name.get(name)) for name in names))


def _short(one: ComparedMetric | None) -> TypedCell:
    if one is None:
        return cell("-")
    if one.difference is None and one.verdict in ("too few samples", "too few runs"):
        return cell("too few")
    said = words.bare_change(one)
    with_verdict = _BESIDE_VERDICT[one.verdict].format(said)
    return TypedCell(one.difference, _unit(one), with_verdict, one.low, one.high, left=True)


def legend(side: ComparedSide) -> str:
    """Return a side in one line."""
    more = f" and {len(side.runs) - 1} more" if len(side.runs) > 1 else ""
    return f"{side.ids[0]}{more}"
