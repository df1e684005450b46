"""Two or more sides: what changed in the conditions, what in the numbers, and which gate is broken."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later, tried
from tautochrone.judge.comparison import gate as passing
from tautochrone.judge.comparison import numbers
from tautochrone.judge.comparison.conditions import Changes, changes, common_changes
from tautochrone.judge.comparison.gate import Gate, Judged
from tautochrone.judge.comparison.gate import parse as parse_gate
from tautochrone.judge.comparison.metric import ComparedMetric, SourcePart, Verdict, judged
from tautochrone.judge.comparison.numbers import ComparisonQuestion, MeasuredSide, compare_part
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.judge.comparison.standing import Standing, standing
from tautochrone.judge.late_causes import ComparedCauses, compared_causes
from tautochrone.judge.naming import measure_named
from tautochrone.run.repeated import are_of_one_guest, each_once


@dataclass(frozen=True)
class MeasureCompared:
    """One measure of two sides.

    Attributes:
        left_out: sources that only one of them has.
        lost: sources whose comparison failed unexpectedly, and why; an empty name: of all of them.
    """

    name: str
    meaning: str
    parts: tuple[SourcePart, ...]
    left_out: tuple[str, ...] = ()
    lost: tuple[tuple[str, Later[object]], ...] = ()


@dataclass(frozen=True, eq=False)
class SidePair:
    """A side beside the first one.

    Attributes:
        cell: of a plan run, empty otherwise.
        tried_causes: of late cycles; None where a run of the two does not tell them.
    """

    first: ComparedSide
    second: ComparedSide
    tried_standing: Later[Standing]
    measures: tuple[MeasureCompared, ...]
    tried_changes: Later[Changes]
    cell: str = ""
    tried_causes: Later[ComparedCauses | None] = field(default_factory=lambda: tried(lambda: None))

    @property
    def causes(self) -> ComparedCauses | None:
        """Return what made cycles late on the two; None: a run does not tell, or it could not be judged."""
        return None if self.tried_causes.error else self.tried_causes.get()

    @property
    def standing(self) -> Standing:
        """What the comparison of the two is worth."""
        return self.tried_standing.get()

    @property
    def changes(self) -> Changes:
        """What differs in the conditions."""
        return self.tried_changes.get()

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

    A part of it that failed unexpectedly fails for each who asks for it, and the others stand.

    Attributes:
        measured: the numbers of each pair, without verdicts.
    """

    sides: tuple[ComparedSide, ...]
    measured: tuple[SidePair, ...]
    confidence: float
    tried_changes: Later[Changes]
    tried_pairs: Later[tuple[SidePair, ...]]
    tried_gates: Later[tuple[Judged, ...]]

    @property
    def of_cells(self) -> bool:
        """Whether it is of plan runs, case by case."""
        return bool(self.measured[0].cell)

    @property
    def changes(self) -> Changes:
        """What differs in the conditions; case by case, in those of all cases."""
        return self.tried_changes.get()

    @property
    def pairs(self) -> tuple[SidePair, ...]:
        """Each side beside the first, with verdicts."""
        return self.tried_pairs.get()

    @property
    def gates(self) -> tuple[Judged, ...]:
        """What came of each gate, for each pair and source that it is about."""
        return self.tried_gates.get()

    @property
    def compared(self) -> int:
        """How many numbers there are whose p-values were adjusted together."""
        return sum(metric.adjusted is not None for pair in self.pairs for _, _, metric in pair.metrics())

    def see_whole(self) -> None:
        """Fail as the comparison of a measure or a source did, for those who speak of all of them."""
        _see_whole(self.measured)


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
    whole = _each_once(sides)
    found = tried(changes, whole)
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
    for name, *both in named:
        sides = _each_once(both)
        (pair,) = _pairs(sides, tried(changes, sides), question, measure, sources)
        pairs.append(replace(pair, cell=name))
    common = tried(lambda: common_changes([pair.changes for pair in pairs]))
    return _answer((named[0][1], named[0][2]), common, pairs, asked, confidence)


def _each_once(sides: Sequence[ComparedSide]) -> tuple[ComparedSide, ...]:
    """Return the sides without the repetitions of guests, which are no new samples.

    Where all ran on one and the same guest, as two versions of a program did, nothing else differs: there
    repetitions tell that nothing varies from run to run.
    """
    if are_of_one_guest(run for side in sides for run in side.runs):
        return tuple(sides)
    return tuple(replace(side, runs=tuple(each_once(side.runs))) for side in sides)


def _asked(
    gates: Sequence[Gate | str], confidence: float, *, tests: bool, charts: bool
) -> tuple[tuple[Gate, ...], ComparisonQuestion]:
    asked = tuple(parse_gate(one) if isinstance(one, str) else one for one in gates)
    quantiles = tuple(gate.q for gate in asked if gate.q is not None)
    return asked, ComparisonQuestion(confidence, quantiles, tests, charts)


def _answer(
    sides: tuple[ComparedSide, ...],
    found: Later[Changes],
    measured: Sequence[SidePair],
    gates: Sequence[Gate],
    confidence: float,
) -> Comparison:
    pairs = tried(_with_verdicts, measured, confidence)
    judged_gates = tried(lambda: tuple(_judge_gates(pairs.get(), gates, confidence)))
    return Comparison(sides, tuple(measured), confidence, found, pairs, judged_gates)


def _pairs(
    sides: tuple[ComparedSide, ...],
    found: Later[Changes],
    question: ComparisonQuestion,
    measure: str | None,
    sources: Sequence[str],
) -> list[SidePair]:
    """Each side beside the first, without verdicts. Of each measure all sides are read once."""
    measures = _measures(sides, measure)
    compared: list[list[MeasureCompared]] = [[] for _ in sides[1:]]
    for name in measures:
        first = tried(numbers.read, sides[0], name)
        for at, side in enumerate(sides[1:]):
            both = (first, tried(numbers.read, side, name))
            measured = tried(_measure, (sides[0], side), name, both, question, sources)
            if measured.error:
                meaning = sides[0].runs[0].manifest.header.meaning_of(name)
                compared[at].append(MeasureCompared(name, meaning, (), lost=(("", measured),)))
            else:
                compared[at].append(measured.get())
    return [_pair(sides, at, tuple(compared[at - 1]), found, question) for at in range(1, len(sides))]


def _pair(
    sides: tuple[ComparedSide, ...],
    at: int,
    measures: tuple[MeasureCompared, ...],
    found: Later[Changes],
    question: ComparisonQuestion,
) -> SidePair:
    worth = tried(lambda: standing(found.get(), sides, at))
    causes = tried(lambda: compared_causes(sides[0], sides[at], question.confidence, void=worth.get().void))
    return SidePair(sides[0], sides[at], worth, measures, found, tried_causes=causes)


def _measures(sides: Sequence[ComparedSide], wanted: str | None) -> list[str]:
    for side in sides:
        empty = [run.id for run in side.runs if not any(book.recorded for book in run.manifest.books)]
        if empty:
            raise UsageError(f"The run {empty[0]} has no sample", "Leave it out, or measure it again.")
    common = numbers.common_measures(sides)
    if wanted is not None:
        named = measure_named(wanted, common)
        if named is None:
            there = ", ".join(common) or "none"
            raise UsageError(f"The sides have no measure '{wanted}' in common", f"They have: {there}.")
        return [named]
    if not common:
        kinds = list(dict.fromkeys(run.manifest.experiment for side in sides for run in side.runs))
        if len(kinds) > 1:
            raise UsageError(
                f"The sides have no measure in common: they are of {' and '.join(kinds)}",
                "Compare runs of one experiment.",
            )
        each = [f"{side.name} has {', '.join(numbers.common_measures([side])) or 'none'}" for side in sides]
        raise UsageError(
            f"The sides have no measure in common: {'; '.join(each)}", "Compare runs that measure the same."
        )
    return common


def _measure(
    sides: tuple[ComparedSide, ComparedSide],
    name: str,
    read: tuple[Later[MeasuredSide], Later[MeasuredSide]],
    question: ComparisonQuestion,
    wanted: Sequence[str],
) -> MeasureCompared:
    measured = first, second = read[0].get(), read[1].get()
    loop = all(numbers.is_loop(side) for side in sides)
    chosen = numbers.parts(first, second, loop=loop, wanted=wanted)
    if not chosen:
        names = [", ".join(dict.fromkeys([*one.names()])) or "none" for one in measured]
        about = f" '{', '.join(wanted)}'" if wanted else ""
        raise UsageError(
            f"{sides[0].name} and {sides[1].name} have no source{about} in common",
            f"{sides[0].name} has {names[0]}; {sides[1].name} has {names[1]}.",
        )
    # The coarser clock's step.
    step_ns = max(float(one.header.clock.step_ns or 0) for side in sides for one in side.manifests)
    parts = {source: tried(compare_part, first, second, source, step_ns, question) for source in chosen}
    left_out = () if numbers.TOGETHER in chosen or wanted else _only_one_has(measured)
    return MeasureCompared(
        name,
        sides[0].runs[0].manifest.header.meaning_of(name),
        tuple(part for one in parts.values() if not one.error and (part := one.get()) is not None),
        left_out,
        tuple((source, one) for source, one in parts.items() if one.error),
    )


def _see_whole(pairs: Iterable[SidePair]) -> None:
    for pair in pairs:
        for measure in pair.measures:
            for _, part in measure.lost:
                part.get()


def _only_one_has(measured: tuple[MeasuredSide, MeasuredSide]) -> tuple[str, ...]:
    names = [one.names() for one in measured]
    return tuple(
        name for name in dict.fromkeys([*names[0], *names[1]]) if not all(name in own for own in names)
    )


def _with_verdicts(pairs: Sequence[SidePair], confidence: float) -> tuple[SidePair, ...]:
    """All numbers of all pairs are judged together."""
    every = [(pair, part) for pair in pairs for measure in pair.measures for part in measure.parts]
    parts = iter(judged([part for _, part in every], confidence, [pair.standing.void for pair, _ in every]))
    return tuple(
        replace(
            pair,
            measures=tuple(
                replace(measure, parts=tuple(next(parts) for _ in measure.parts)) for measure in pair.measures
            ),
        )
        for pair in pairs
    )


def _judge_gates(pairs: Sequence[SidePair], gates: Sequence[Gate], confidence: float) -> Iterator[Judged]:
    if gates:
        _see_whole(pairs)
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
        name, void, look = pair.cell or pair.second.name, pair.standing.void, pair.second.look
        yield passing.judge(
            gate, name, measure.name, part, confidence, void=void, among=len(about), look=look
        )
