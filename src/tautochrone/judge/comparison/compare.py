"""Two or more sides: what changed in the conditions, what in the numbers, and which gate is broken."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tautochrone.base.errors import UsageError
from tautochrone.judge.comparison import gate as passing
from tautochrone.judge.comparison import samples
from tautochrone.judge.comparison.conditions import Changes, changes, common_changes
from tautochrone.judge.comparison.gate import Gate, Judged
from tautochrone.judge.comparison.gate import parse as parse_gate
from tautochrone.judge.comparison.metric import ComparedMetric, SourcePart, Verdict, judged
from tautochrone.judge.comparison.numbers import ComparisonQuestion, compare_part
from tautochrone.judge.comparison.samples import MeasuredSide
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.judge.comparison.standing import Standing, standing
from tautochrone.judge.naming import measure_named


@dataclass(frozen=True)
class MeasureCompared:
    """One measure of two sides; ``left_out``: sources that only one of them has."""

    name: str
    meaning: str
    parts: tuple[SourcePart, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class SidePair:
    """A side beside the first one; ``cell``: of a plan run, empty otherwise."""

    first: ComparedSide
    second: ComparedSide
    standing: Standing
    measures: tuple[MeasureCompared, ...]
    changes: Changes
    cell: str = ""

    def metrics(self) -> Iterable[tuple[MeasureCompared, SourcePart, ComparedMetric]]:
        """All of its numbers."""
        return (
            (measure, part, metric)
            for measure in self.measures
            for part in measure.parts
            for metric in part.metrics
        )

    def found(self, *verdicts: Verdict) -> list[tuple[MeasureCompared, SourcePart, ComparedMetric]]:
        """The numbers with one of these verdicts."""
        return [one for one in self.metrics() if one[2].verdict in verdicts]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The answer; the first side is the one that the others are compared with.

    Attributes:
        gates: what came of each, for each pair and source that it is about.
        compared: numbers whose p-values were adjusted together.
    """

    sides: tuple[ComparedSide, ...]
    changes: Changes
    pairs: tuple[SidePair, ...]
    gates: tuple[Judged, ...]
    confidence: float
    compared: int


def compare(
    sides: Sequence[ComparedSide],
    *,
    confidence: float = 0.95,
    gates: Sequence[Gate | str] = (),
    measure: str | None = None,
    sources: Sequence[str] = (),
    tests: bool = True,
) -> Comparison:
    """Compare each side with the first.

    Args:
        sides: at least two; `earlier.with_earlier` adds runs of a store that tell the spread from run to run.
        confidence: of the intervals; all verdicts together are right with it.
        gates: what may not become worse by more than so much.
        measure: only this one, with or without its ``_ns``; None: all that the sides have in common.
        sources: only these; empty: all that both sides have.
        tests: whether the distributions are tested as a whole, too.

    Raises:
        UsageError: there are fewer than two sides, one without a sample, or no such measure
            or source on both.
    """
    if len(sides) < 2:
        raise UsageError("One side can't be compared with anything", "Name two: tauto compare A B")
    asked, question = _asked(gates, confidence, tests=tests, charts=True)
    whole = tuple(sides)
    found = changes(whole)
    return _answer(whole, found, _pairs(whole, found, question, measure, sources), asked, confidence)


def compare_pairs(
    named: Sequence[tuple[str, ComparedSide, ComparedSide]],
    *,
    confidence: float = 0.95,
    gates: Sequence[Gate | str] = (),
    measure: str | None = None,
    sources: Sequence[str] = (),
    tests: bool = False,
) -> Comparison:
    """Compare case by case: pairs that each have a name of their own, judged together.

    Args:
        named: the name of each case, and its two sides. They are read and let go one after the other.
        confidence, gates, measure, sources, tests: as of `compare`.
    """
    if not named:
        raise UsageError("The two have no case in common", "Compare single cases: PLAN-RUN/CASE")
    asked, question = _asked(gates, confidence, tests=tests, charts=False)
    pairs: list[SidePair] = []
    for name, first, second in named:
        (pair,) = _pairs((first, second), changes((first, second)), question, measure, sources)
        pairs.append(replace(pair, cell=name))
    common = common_changes([pair.changes for pair in pairs])
    return _answer((named[0][1], named[0][2]), common, pairs, asked, confidence)


def _asked(
    gates: Sequence[Gate | str], confidence: float, *, tests: bool, charts: bool
) -> tuple[tuple[Gate, ...], ComparisonQuestion]:
    asked = tuple(parse_gate(one) if isinstance(one, str) else one for one in gates)
    quantiles = tuple(gate.q for gate in asked if gate.q is not None)
    return asked, ComparisonQuestion(confidence, quantiles, tests, charts)


def _answer(
    sides: tuple[ComparedSide, ...],
    found: Changes,
    pairs: Sequence[SidePair],
    gates: Sequence[Gate],
    confidence: float,
) -> Comparison:
    pairs = tuple(_with_verdicts(pairs, confidence))
    compared = sum(metric.adjusted is not None for pair in pairs for _, _, metric in pair.metrics())
    judged_gates = tuple(_judge_gates(pairs, gates, confidence))
    return Comparison(sides, found, pairs, judged_gates, confidence, compared)


def _pairs(
    sides: tuple[ComparedSide, ...],
    found: Changes,
    question: ComparisonQuestion,
    measure: str | None,
    sources: Sequence[str],
) -> list[SidePair]:
    """Each side beside the first, without verdicts. Of each measure all sides are read once."""
    measures = _measures(sides, measure)
    compared: list[list[MeasureCompared]] = [[] for _ in sides[1:]]
    for name in measures:
        first = samples.read(sides[0], name)
        for at, side in enumerate(sides[1:]):
            compared[at].append(
                _measure((sides[0], side), name, (first, samples.read(side, name)), question, sources)
            )
    return [
        SidePair(sides[0], side, standing(found, sides, at), tuple(compared[at - 1]), found)
        for at, side in enumerate(sides[1:], start=1)
    ]


def _measures(sides: Sequence[ComparedSide], wanted: str | None) -> list[str]:
    for side in sides:
        empty = [run.id for run in side.runs if not any(book.recorded for book in run.manifest.books)]
        if empty:
            raise UsageError(f"The run {empty[0]} has no sample", "Leave it out, or measure it again.")
    common = samples.common_measures(sides)
    if wanted is not None:
        named = measure_named(wanted, common)
        if named is None:
            there = ", ".join(common) or "none"
            raise UsageError(f"The sides have no measure '{wanted}' in common", f"They have: {there}.")
        return [named]
    if not common:
        kinds = " and ".join(dict.fromkeys(run.manifest.experiment for side in sides for run in side.runs))
        raise UsageError(
            f"The sides have no measure in common: they are of {kinds}", "Compare runs of one experiment."
        )
    return common


def _measure(
    sides: tuple[ComparedSide, ComparedSide],
    name: str,
    measured: tuple[MeasuredSide, MeasuredSide],
    question: ComparisonQuestion,
    wanted: Sequence[str],
) -> MeasureCompared:
    first, second = measured
    loop = all(samples.is_loop(side) for side in sides)
    chosen = samples.parts(first, second, loop=loop, wanted=wanted)
    if not chosen:
        names = [", ".join(dict.fromkeys([*one.names()])) or "none" for one in measured]
        about = f" '{', '.join(wanted)}'" if wanted else ""
        raise UsageError(
            f"{sides[0].name} and {sides[1].name} have no source{about} in common",
            f"{sides[0].name} has {names[0]}; {sides[1].name} has {names[1]}.",
        )
    parts = [compare_part(first, second, source, _step_ns(sides), question) for source in chosen]
    left_out = () if samples.TOGETHER in chosen or wanted else _only_one_has(measured)
    return MeasureCompared(
        name,
        sides[0].runs[0].manifest.header.meaning_of(name),
        tuple(part for part in parts if part is not None),
        left_out,
    )


def _only_one_has(measured: tuple[MeasuredSide, MeasuredSide]) -> tuple[str, ...]:
    names = [one.names() for one in measured]
    return tuple(
        name for name in dict.fromkeys([*names[0], *names[1]]) if not all(name in own for own in names)
    )


def _step_ns(sides: Sequence[ComparedSide]) -> float:
    """The coarser clock's step."""
    steps = [float(manifest.header.clock.step_ns or 0) for side in sides for manifest in side.manifests]
    return max(steps, default=0.0)


def _with_verdicts(pairs: Sequence[SidePair], confidence: float) -> list[SidePair]:
    """All numbers of all pairs are judged together."""
    every = [(pair, part) for pair in pairs for measure in pair.measures for part in measure.parts]
    parts = iter(judged([part for _, part in every], confidence, [pair.standing.void for pair, _ in every]))
    return [
        replace(
            pair,
            measures=tuple(
                replace(measure, parts=tuple(next(parts) for _ in measure.parts)) for measure in pair.measures
            ),
        )
        for pair in pairs
    ]


def _judge_gates(pairs: Sequence[SidePair], gates: Sequence[Gate], confidence: float) -> Iterator[Judged]:
    about = [
        (gate, pair, measure, part)
        for gate in gates
        for pair in pairs
        for measure in pair.measures
        if gate.is_of(measure.name, pair.measures[0].name)
        for part in measure.parts
    ]
    for gate in gates:
        if not any(one[0] is gate for one in about):
            there = ", ".join(dict.fromkeys(measure.name for pair in pairs for measure in pair.measures))
            raise UsageError(f"--fail-on '{gate.text}': no side has this measure", f"There are: {there}.")
    for gate, pair, measure, part in about:
        name = pair.cell or pair.second.name
        yield passing.judge(
            gate,
            name,
            measure.name,
            part,
            confidence,
            void=pair.standing.void,
            among=len(about),
            look=pair.second.look,
        )
