"""Rhealstone: Table 1 of garre2014, the six components, the figure, and every row beside the published."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.answer.blocks import Figure, Grid
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.rows import SummaryLine
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_us
from tautochrone.judge.rhealstone import (
    COMPONENTS,
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

_NA = "N/A"
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six")
_GARRE = {TASK_SWITCH: "task switch", PREEMPTION: "preemption", SHUFFLE: "IPC (semaphore shuffle)"}
_WORST_IS_NO_BOUND = "The worst of the samples that were taken is no bound for the next."


@dataclass(frozen=True)
class RhealstonePresentation:
    """Presentation of the experiment `rhealstone`."""

    def grids(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[Grid]:
        """Table 1 with two lines for each run; then each run's components and figure."""
        judged = [judge_rhealstone(run) for run in runs]
        said = [_table_1(judged, labels)]
        for one, label in zip(judged, labels, strict=True):
            said += [_components(one, label), _figure(one, label)]
        return said

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Every row, with what the paper printed for other systems."""
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


def _table_1(judged: Sequence[Rhealstone], labels: Sequence[str]) -> Grid:
    rows = []
    for one, label in zip(judged, labels, strict=True):
        held = {component.name: component.summary for component in one.components}
        before = f"{label}, " if label else ""
        rows.append((f"{before}worst", *(_ns(held[name], "worst") for name in _GARRE)))
        rows.append((f"{before}average", *(_ns(held[name], "average") for name in _GARRE)))
    return Grid(
        "Worst case and average in ns, as in Table 1 of garre2014",
        ("", *_GARRE.values()),
        tuple(rows),
        (_WORST_IS_NO_BOUND,),
    )


def _ns(summary: Summary | None, which: str) -> str:
    if summary is None:
        return _NA
    return number(summary.maximum if which == "worst" else round(summary.mean))


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


def _components(one: Rhealstone, label: str) -> Grid:
    title = "The Rhealstone components in us"
    rows = [_row(component.name, component.summary) for component in one.components]
    rows.append(_row("datagram: one message keeps its sender", one.datagram))
    rows += [_row(f"{name}, across CPUs", summary) for name, summary in one.across.items()]
    notes = [
        f"N/A, {component.name}: {why_not(component)}." for component in one.components if component.absent
    ]
    if one.across:
        notes.append("Rows across two CPUs are wake-ups there; the figure is of one CPU, as it was defined.")
    return Grid(
        f"{title}, {label}" if label else title,
        ("", "average", "worst", "samples"),
        tuple(rows),
        tuple(notes),
    )


def _row(name: str, summary: Summary | None) -> tuple[str, ...]:
    if summary is None:
        return (name, _NA, _NA, "0")
    return (name, format_us(summary.mean), format_us(summary.maximum), number(summary.count))


def _figure(one: Rhealstone, label: str) -> Grid:
    rows = [*_rates("objective", one.objective)]
    if one.weighted is not None:
        weights = ", ".join(f"{weight:g}" for weight in one.weighted.weights)
        rows += _rates(f"application-specific, weights {weights}", one.weighted)
    size = f", messages of {number(one.message_bytes)} bytes" if one.message_bytes is not None else ""
    rows.append(
        (
            f"datagram throughput{size}",
            _NA if one.throughput_kb_s is None else f"{number(round(one.throughput_kb_s))} kB/s",
        )
    )
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
    title = "Rhealstone"
    return Grid(f"{title}, {label}" if label else title, ("", "value"), tuple(rows), tuple(notes))


def _rates(name: str, rating: Rating) -> Iterator[tuple[str, str]]:
    yield (name, _NA if rating.per_second is None else f"{number(round(rating.per_second))} per s")
    if rating.partial_per_second is not None:
        of = _NUMBERS[len(rating.measured)]
        plural = "component" if len(rating.measured) == 1 else "components"
        yield (f"{name}, of {of} {plural} only", f"{number(round(rating.partial_per_second))} per s")


def _lines(run: StoredRun, label: str, rank: int) -> Iterator[tuple[str, SummaryLine]]:
    """With the name of the row, to group by."""
    component: Component | None = next(
        (one for one in judge_rhealstone(run).components if one.name == "interrupt latency"), None
    )
    for row in rows_of(run):
        if row.summary is not None:
            yield row.name, SummaryLine(row.beside(label), row.summary, rank=rank)
    if component is not None and component.summary is not None:
        name = f"{component.name}\n{label}" if label else component.name
        yield component.name, SummaryLine(name, component.summary, rank=rank)
