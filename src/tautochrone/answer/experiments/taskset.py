"""A task set: expected against measured, and tables 7 and 8 of delgado2020. Figures: ``taskset_figures``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Grid
from tautochrone.answer.experiments import taskset_notes
from tautochrone.answer.typeset import number
from tautochrone.base.words import plural
from tautochrone.experiments.taskset_outcome import Outcome, Spread, verdict
from tautochrone.experiments.taskset_run import expected_of, outcomes_of

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.run.folder import Run

_UNKNOWN = "N/A"
_EXPECTED = (
    "task",
    "jobs",
    "expected (ms)",
    "worst (ms)",
    "difference (ms)",
    "deadline (ms)",
    "late",
    "missed",
    "execution (ms)",
    "CPU time, mean (ms)",
    "CPU time, max (ms)",
)
_STATISTICS = ("average", "maximum", "minimum", "std dev")
_LETTERS = (
    "P: from one start to the next. R: response, from release to end. J: distance of P from the period, as a "
    "size."
)


@dataclass(frozen=True)
class TasksetPresentation:
    """Presentation of the experiment `taskset`."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:
        """For each run expected against measured; for all side by side what the paper's tables have."""
        seen = [outcomes_of(run) for run in runs]
        grids = [
            self._expected(run, label, outcomes)
            for run, label, outcomes in zip(runs, labels, seen, strict=True)
            if outcomes
        ]
        return [*grids, *self._periodicity(labels, seen)]

    def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:
        """The schedule of each run, and the responses of each task."""
        from tautochrone.answer.experiments import taskset_figures

        kept = [(run, label) for run, label in zip(runs, labels, strict=True) if not run.is_histogram]
        return [
            *taskset_figures.schedules(kept, f"{prefix}-schedule"),
            *taskset_figures.responses(kept, f"{prefix}-responses"),
        ]

    def _expected(self, run: Run, label: str, outcomes: Sequence[Outcome]) -> Grid:
        rows = tuple(
            (
                one.task.name,
                number(one.jobs),
                _ms(one.expected_ns),
                _ms(one.response.maximum_ns if one.response else None),
                _UNKNOWN if one.difference_ns is None else f"{one.difference_ns / 1e6:+.3f}",
                _ms(one.task.deadline_ns),
                number(one.late),
                number(one.missed),
                _ms(one.task.execution_ns),
                _ms(one.executed.mean_ns if one.executed else None),
                _ms(one.executed.maximum_ns if one.executed else None),
            )
            for one in outcomes
        )
        expected = expected_of(run)
        notes = (
            verdict(outcomes),
            *taskset_notes.about_analysis(expected, outcomes),
            *taskset_notes.about_run(run, expected, outcomes),
        )
        title = "Response times, expected and measured"
        return Grid(f"{title}, {label}" if label else title, _EXPECTED, rows, notes)

    def _periodicity(self, labels: Sequence[str], seen: Sequence[Sequence[Outcome]]) -> Iterator[Grid]:
        names = list(dict.fromkeys(one.task.name for outcomes in seen for one in outcomes))
        if not names:
            return
        heads = [f"{letter} (ms), {label}".removesuffix(", ") for label in labels for letter in "PRJ"]
        rows: list[tuple[str, ...]] = []
        for name in names:
            columns: list[tuple[str, ...]] = []
            for outcomes in seen:
                one = next((one for one in outcomes if one.task.name == name), None)
                spreads = (one.period, one.response, one.jitter) if one else (None, None, None)
                columns += [_statistics(spread) for spread in spreads]
            rows += [
                (f"{name}, {word}", *(column[at] for column in columns))
                for at, word in enumerate(_STATISTICS)
            ]
        left_out = sum(one.left_out for outcomes in seen for one in outcomes)
        notes = [_LETTERS]
        if left_out:
            pairs = plural(left_out, "pair")
            notes.append(f"Left out of P and J: {pairs} of starts with a missed release between them.")
        yield Grid("Periods, response times and jitter", ("task", *heads), tuple(rows), tuple(notes))


def _statistics(spread: Spread | None) -> tuple[str, ...]:
    """In the order of the paper's tables."""
    if spread is None:
        return (_UNKNOWN,) * len(_STATISTICS)
    values = (spread.mean_ns, spread.maximum_ns, spread.minimum_ns, spread.deviation_ns)
    return tuple(_ms(value) for value in values)


def _ms(ns: float | None) -> str:
    return _UNKNOWN if ns is None else f"{ns / 1e6:,.3f}"
