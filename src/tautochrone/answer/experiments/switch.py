"""Context switches: Table 1 of schmidt2002, how its third column comes about, rows beside the paper's."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.blocks import Figure
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.rows import SummaryLine
from tautochrone.answer.document import TypedCell, TypedTable, columns, micros, micros_between, words
from tautochrone.answer.labels import titled
from tautochrone.base.units import format_us
from tautochrone.judge.rows import rows_of
from tautochrone.judge.switching import (
    HANDOVER,
    PROTOCOLS,
    PUBLISHED,
    SUSPEND,
    YIELD,
    Switching,
    judge_switching,
)
from tautochrone.run.folder import StoredRun

_BESIDES = "what the intervals contain besides"
_GROUPS = {YIELD: YIELD, SUSPEND: SUSPEND} | {f"{HANDOVER} {protocol}": HANDOVER for protocol in PROTOCOLS}
"""In which group of the figure a row stands, by its name."""
_JITTER = (
    "Average, and in parentheses jitter: the standard deviation. (The paper prints this jitter in us and "
    "says what jitter is only for its other tests: the variance.) Synchronized: the average is that of the "
    "hand-over less that of the mutex alone, the jitter is the hand-over's."
)
_HALF = (
    "Suspend-resume: half of what it takes to resume a thread of higher priority that suspends itself again, "
    "less the two calls alone, for it has two switches. The jitter is half of the whole interval's."
)
_ACROSS = (
    "Across CPUs nothing is switched away from: it is a wake-up on another CPU, and no context switch in the "
    "paper's sense."
)


@dataclass(frozen=True)
class SwitchPresentation:
    """Presentation of the experiment `switch`."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return Table 1 with a line for each run, then each run's synchronized test."""
        judged = [judge_switching(run) for run in runs]
        said = [_table_1(judged, labels)]
        for one, label in zip(judged, labels, strict=True):
            if one.synchronized or one.across:
                said.append(_how_it_comes_about(one, label))
        return said

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw every row, with what the paper printed for other systems."""
        groups: dict[str, list[SummaryLine]] = {SUSPEND: [], YIELD: [], HANDOVER: [], _BESIDES: []}
        for rank, (run, label) in enumerate(zip(runs, labels, strict=True)):
            for row in rows_of(run):
                if row.summary is not None:
                    line = SummaryLine(row.beside(label), row.summary, rank=rank)
                    groups[_GROUPS.get(row.name, _BESIDES)].append(line)
        panels = {name: [*held, *rows.printed(PUBLISHED, name)] for name, held in groups.items() if held}
        caption = (
            "Grey ticks: the averages that schmidt2002 printed in its Table 1, for a Pentium III of 866 MHz "
            "in 2002. They are of another machine, and the hand-over's have the mutex alone subtracted."
        )
        return rows.summary_figure("How long a context switch takes", panels, prefix, caption)


def _table_1(judged: Sequence[Switching], labels: Sequence[str]) -> TypedTable:
    protocols = list(dict.fromkeys(held.protocol for one in judged for held in one.synchronized))
    heads = columns("", SUSPEND, YIELD, *(f"synchronized, mutex {name}" for name in protocols))
    rows = [
        (
            words(label or "this run"),
            micros(None)
            if one.suspended is None
            else _with_jitter(one.suspended.switch.value, one.suspended.jitter_ns),
            micros(None)
            if one.yielding is None
            else _with_jitter(one.yielding.mean, one.yielding.standard_deviation),
            *(_synchronized_cell(one, name) for name in protocols),
        )
        for one, label in zip(judged, labels, strict=True)
    ]
    absent = {f"{name}: {why}." for one in judged for name, why in one.absent.items()}
    title = "Context switch in us: average (jitter), as in Table 1 of schmidt2002"
    half = (_HALF,) if any(one.suspended for one in judged) else ()
    notes = (_JITTER, *half, *(f"N/A, {sentence}" for sentence in sorted(absent)))
    return TypedTable(title, heads, tuple(rows), notes)


def _synchronized_cell(one: Switching, protocol: str) -> TypedCell:
    found = next((held for held in one.synchronized if held.protocol == protocol), None)
    return (
        micros(None) if found is None else _with_jitter(found.switch.value, found.handover.standard_deviation)
    )


def _with_jitter(average_ns: float, jitter_ns: float) -> TypedCell:
    return TypedCell(average_ns, "ns", f"{format_us(average_ns)} ({format_us(jitter_ns)})")


def _how_it_comes_about(one: Switching, label: str) -> TypedTable:
    rows = [
        (
            words(f"mutex {held.protocol}"),
            *map(micros, (held.handover.mean, held.alone.mean, held.switch.value)),
            micros_between(held.switch.low, held.switch.high),
            micros(held.handover.maximum),
        )
        for held in one.synchronized
    ]
    rows += [
        (words(row.label), *map(micros, (row.summary.mean, None, None, None, row.summary.maximum)))
        for row in one.across
        if row.summary is not None
    ]
    notes = [
        "Every interval, also that of the mutex alone, contains one reading of the clock: the difference has "
        "none."
    ]
    if one.clock is not None:
        notes.append(f"Two readings with nothing between them: {format_us(one.clock.mean)} us on average.")
    if any(held.switch.low is None for held in one.synchronized):
        notes.append("No interval: too few samples, or a histogram, which does not keep their order.")
    if one.across:
        notes.append(_ACROSS)
    title = titled("The synchronized suspend-resume test in us", label)
    heads = columns("", "hand-over", "mutex alone", "context switch", "95 % interval", "worst hand-over")
    return TypedTable(title, heads, tuple(rows), tuple(notes))
