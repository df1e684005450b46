"""Rhealstone: Table 1 of garre2014, the six components, the figure, and every row beside the published."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.answer.blocks import Figure
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.rows import SummaryLine
from tautochrone.answer.document import TypedCell, TypedTable, columns, count, formatted, micros, words
from tautochrone.answer.labels import titled
from tautochrone.judge.rhealstone import (
    COMPONENTS,
    INTERRUPT,
    PREEMPTION,
    PUBLISHED,
    SHUFFLE,
    TASK_SWITCH,
    Component,
    Rating,
    Rhealstone,
    judge_rhealstone,
)
from tautochrone.judge.rows import rows_of
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.summary import Summary

_NUMBERS = ("none", "one", "two", "three", "four", "five", "six")
_GARRE = {TASK_SWITCH: "task switch", PREEMPTION: "preemption", SHUFFLE: "IPC (semaphore shuffle)"}
_WORST_IS_NO_BOUND = "The worst of the samples that were taken is no bound for the next."


@dataclass(frozen=True)
class RhealstonePresentation:
    """Presentation of the experiment `rhealstone`."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return Table 1 with two lines for each run, then each run's components and figure."""
        judged = [judge_rhealstone(run) for run in runs]
        said = [_table_1(judged, labels)]
        for one, label in zip(judged, labels, strict=True):
            said += [_components(one, label), _figure(one, label)]
        return said

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw every row, with what the paper printed for other systems."""
        groups: dict[str, list[SummaryLine]] = {}
        for rank, (run, label) in enumerate(zip(runs, labels, strict=True)):
            for row, line in _lines(run, label, rank):
                groups.setdefault(row if row in _GARRE else "the others", []).append(line)
        panels = {
            _GARRE.get(name, name): [*held, *rows.printed(PUBLISHED, name)] for name, held in groups.items()
        }
        caption = (
            "Grey ticks: the worst cases that garre2014 printed in its Table 1, for an i7-3930K of 3.2 GHz "
            "in 2014; for the preemption of Linux it says more than 1 ms. They are of another machine."
        )
        return rows.summary_figure("How long each operation takes", panels, prefix, caption)


def _table_1(judged: Sequence[Rhealstone], labels: Sequence[str]) -> TypedTable:
    rows = []
    for one, label in zip(judged, labels, strict=True):
        held = {component.name: component.summary for component in one.components}
        before = f"{label}, " if label else ""
        summaries = [held[name] for name in _GARRE]
        rows.append((words(f"{before}worst"), *(_ns(own.maximum if own else None) for own in summaries)))
        rows.append(
            (words(f"{before}average"), *(_ns(round(own.mean) if own else None) for own in summaries))
        )
    title = "Worst case and average in ns, as in Table 1 of garre2014"
    return TypedTable(title, columns("", *_GARRE.values()), tuple(rows), (_WORST_IS_NO_BOUND,))


def _ns(value: int | None) -> TypedCell:
    return TypedCell(value, "ns", "" if value is None else f"{value:,}")


def why_not(component: Component) -> str:
    """Return why a component was not measured; empty if it was."""
    return {
        "": "",
        "told": component.told,
        "ended": "the run ended before its turn",
        "not asked": "the run was not asked for rows on one CPU",
        "not named": (
            "measure it with tauto probe interrupt, then tauto probe rhealstone --interrupt RUN, with that "
            "run's id"
        ),
        "empty": f"run {component.run} has no sample of it",
        "unreadable": f"run {component.run} can't be read: {component.told}",
    }[component.absent]


def _components(one: Rhealstone, label: str) -> TypedTable:
    rows = [_row(component.name, component.summary) for component in one.components]
    rows.append(_row("datagram: one message keeps its sender", one.datagram))
    rows += [_row(f"{name}, across CPUs", summary) for name, summary in one.across.items()]
    notes = [
        f"N/A, {component.name}: {why_not(component)}." for component in one.components if component.absent
    ]
    if one.across:
        notes.append("Rows across two CPUs are wake-ups there; the figure is of one CPU, as it was defined.")
    title = titled("The Rhealstone components in us", label)
    return TypedTable(title, columns("", "average", "worst", "samples"), tuple(rows), tuple(notes))


def _row(name: str, summary: Summary | None) -> tuple[TypedCell, ...]:
    if summary is None:
        return (words(name), micros(None), micros(None), count(0))
    return (words(name), micros(summary.mean), micros(summary.maximum), count(summary.count))


def _figure(one: Rhealstone, label: str) -> TypedTable:
    rows = [*_rates("objective", one.objective)]
    if one.weighted is not None:
        weights = ", ".join(f"{weight:g}" for weight in one.weighted.weights)
        rows += _rates(f"application-specific, weights {weights}", one.weighted)
    size = f", messages of {one.message_bytes:,} bytes" if one.message_bytes is not None else ""
    rows.append((words(f"datagram throughput{size}"), _per_second(one.throughput_kb_s, "kB/s")))
    notes = [
        "Rhealstones per second: one over the average time of the components; with weights, the sum of the "
        "weights over the sum of weight x time."
    ]
    if one.objective.missing:
        notes.append(
            f"N/A without {' and '.join(one.objective.missing)}. A figure of fewer components can't be set "
            "beside one of six."
        )
    if one.weighted is not None:
        notes.append(f"Weights in this order: {', '.join(COMPONENTS)}.")
    return TypedTable(titled("Rhealstone", label), columns("", "value"), tuple(rows), tuple(notes))


def _rates(name: str, rating: Rating) -> Iterator[tuple[TypedCell, TypedCell]]:
    yield words(name), _per_second(rating.per_second, "per s")
    if rating.partial_per_second is not None:
        components = (
            "one component" if len(rating.measured) == 1 else f"{_NUMBERS[len(rating.measured)]} components"
        )
        yield words(f"{name}, of {components} only"), _per_second(rating.partial_per_second, "per s")


def _per_second(value: float | None, unit: str) -> TypedCell:
    return formatted(value, f"{{:,.0f}} {unit}")


def _lines(run: StoredRun, label: str, rank: int) -> Iterator[tuple[str, SummaryLine]]:
    """Yield each line with the name of its row, to group by."""
    component = next((one for one in judge_rhealstone(run).components if one.name == INTERRUPT), None)
    for row in rows_of(run):
        if row.summary is not None:
            yield row.name, SummaryLine(row.beside(label), row.summary, rank=rank)
    if component is not None and component.summary is not None:
        name = f"{component.name}\n{label}" if label else component.name
        yield component.name, SummaryLine(name, component.summary, rank=rank)
