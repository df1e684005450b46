"""The user's own code as fast as possible, beside the same code at its rate (garre2014, 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.answer.document import TypedCell, TypedTable, columns, micros, words
from tautochrone.answer.numbers import quantile_of
from tautochrone.base.units import format_duration, format_ratio
from tautochrone.judge.explained import is_explained
from tautochrone.judge.reduced import reduce_run, summary_in
from tautochrone.judge.step_run import CPU_TIME, EXECUTION, code_name, is_real_fast, step_period_ns
from tautochrone.judge.verdict import IDLE

if TYPE_CHECKING:
    from tautochrone.run.folder import StoredRun
    from tautochrone.statistics.summary import Summary

_MEANT = (
    "Simulated / computed: the time that a step simulates, over its mean execution; what the system needs is "
    "not in it. At a rate each step begins after a sleep, with what others left of the caches; as fast as "
    "possible it begins where the last one ended."
)


@dataclass(frozen=True)
class _Speed:
    """What a run says of the steps' execution.

    Attributes:
        factor: how much faster than real time the mean step is; None: no step took any time.
    """

    seen: Summary
    period_ns: int

    @property
    def factor(self) -> float | None:
        return self.period_ns / self.seen.mean if self.seen.mean else None


def sentence(run: StoredRun) -> str:
    """Return how long a step takes without a pause, and how much faster than real time that is."""
    speed = _speed_of(run)
    if speed is None:
        return f"{code_name(run.manifest)}: nothing is known of its steps."
    name, load = run.manifest.header.sources[0].label, str(run.manifest.conditions.load)
    where = f"on CPU {name.removeprefix('cpu')}" if name.startswith("cpu") else f"on {name}"
    beside = "without a load" if load == IDLE else f"beside the load {load}"
    rare = speed.seen.quantile(0.999)
    tail = f" (99.9 %: {format_duration(rare)})" if rare is not None else ""
    said = (
        f"{code_name(run.manifest)} as fast as possible {where} {beside}: a step takes "
        f"{format_duration(speed.seen.mean)} in the mean{tail}, {format_duration(speed.seen.maximum)} at most"
    )
    if speed.factor is None:
        return f"{said}."
    return f"{said}; {_times(speed.factor)} real time, {format_duration(speed.period_ns)} a step."


def _times(factor: float) -> str:
    return (
        f"{format_ratio(factor)} times as fast as"
        if factor >= 1
        else f"{format_ratio(1 / factor)} times slower than"
    )


def tables(runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
    """Return all runs but explained ones side by side, where one of them was as fast as possible."""
    if not any(is_real_fast(run) for run in runs):
        return []
    own = ((run, label) for run, label in zip(runs, labels, strict=True) if not is_explained(run.manifest))
    seen = ((run, label, _speed_of(run)) for run, label in own)
    rows = tuple(_row(run, label, speed) for run, label, speed in seen if speed is not None)
    heads = columns("", "pace", "mean", "median", "99.9 %", "worst", "own CPU, mean", "simulated / computed")
    return [TypedTable("Real-fast against real-time: execution of a step in us", heads, rows, (_MEANT,))]


def _row(run: StoredRun, label: str, speed: _Speed) -> tuple[TypedCell, ...]:
    own = summary_in(reduce_run(run, CPU_TIME))
    factor = speed.factor
    return (
        words(label or code_name(run.manifest)),
        words("as fast as possible" if is_real_fast(run) else f"each {format_duration(speed.period_ns)}"),
        micros(speed.seen.mean),
        *(quantile_of(speed.seen, q) for q in (0.5, 0.999)),
        micros(speed.seen.maximum),
        micros(None if own is None else own.mean),
        TypedCell(None if factor is None else float(f"{factor:.4g}"), "number"),
    )


def _speed_of(run: StoredRun) -> _Speed | None:
    seen = summary_in(reduce_run(run, EXECUTION))
    return None if seen is None else _Speed(seen, step_period_ns(run))
