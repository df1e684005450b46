"""What has to be said below the tables of the tire."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tautochrone.answer.typeset import plural
from tautochrone.base.units import format_duration
from tautochrone.judge.tire_run import configuration, model, real_fast, result_event
from tautochrone.tire.account import PARTS, Account

if TYPE_CHECKING:
    from tautochrone.run.folder import Run

THREADS = (
    "T_i: from the release until this thread runs. T_s: from there until the last thread has written, so "
    "that it holds the wait for the others. T_w is the same for all of them."
)
SHARES = (
    "Shares of the whole time. Not yet running: released, or done with a late step, and waiting for its CPU. "
    "Node-steps per second: while it computed. Waits: context switches in which it gave its CPU away, the "
    "sleep until the next release among them; preemptions: those in which its CPU was taken from it."
)
FAST = (
    "Simulated / elapsed: above 1 the mean step takes less time than it simulates. Rests between rows, which "
    "keep a real-time thread from locking the machine up, are not in the elapsed time; what the system takes "
    "from a thread within a row is."
)
CPU_TIME = (
    "CPU time: of the thread over the whole run, with what it spent spinning for the others. Off CPU: the "
    "rest of the elapsed time, in which it slept for the others, or its CPU was taken from it, by other "
    "threads or by the system's limit on real-time ones. Waits and preemptions: context switches in which it "
    "gave its CPU away, and in which that was taken from it."
)
_POSITIONS = (
    "Positions: CRC-32C of all positions at the end. The same tire, step and number of steps give the same "
    "one with every solver and any number of threads."
)
_DEADLINES = (
    "The deadline of a step is the next release. Late: done at it or after it (T_w <= 0). Passed over: never "
    "computed, because the threads were busy with an earlier step. Missed at most: of all steps, at 95 % "
    "confidence, if they are independent of each other and those to come are like them."
)
_NODE_STEPS = "Node-steps per second: masses times steps, over T_s."
MODEL = (
    "Fastest rehearsed: of a few steps as fast as possible, before the start. State: positions and "
    "velocities, all copies."
)
_EQUATION = (
    "Each row has a worst of its own, which need not be of one step; T_w's worst is its least. The worst "
    "step is the one with the longest T_i + T_s."
)
_TOGETHER = "All threads together: a step begins with the first one that runs."


def about_deadlines(seen: Sequence[Account]) -> Iterator[str]:
    """What the columns mean, as far as they are needed."""
    yield _DEADLINES
    if any(one.nodes_per_s is not None for one in seen):
        yield _NODE_STEPS


def about_worst(seen: Account, label: str) -> Iterator[str]:
    """What made the worst step long."""
    took = format_duration(seen.worst.dispatch_ns + seen.worst.step_ns)
    where = f"{label}: the" if label else "The"
    sentence = f"{where} longest step, released {seen.worst_at_s:,.3f} s after the start, took {took}"
    culprit = seen.culprit
    if culprit is None:
        yield f"{sentence}."
        return
    who = f"{culprit.thread}, which wrote last," if len(seen.threads) > 1 else "the thread"
    spent = f"{format_duration(culprit.took_ns)} {PARTS[culprit.part]}"
    yield f"{sentence}: {who} spent {spent}, where the median is {format_duration(culprit.usual_ns)}."


def about_equation(seen: Account) -> tuple[str, ...]:
    """How to read the three rows."""
    return (_EQUATION, _TOGETHER) if len(seen.threads) > 1 else (_EQUATION,)


def about_positions(runs: Sequence[Run]) -> Iterator[str]:
    """Whether runs of the same tire came to the same positions."""
    found: dict[tuple[int, int, int | None, int], list[int]] = {}
    for run in runs:
        result, what = result_event(run), configuration(run)
        if result is None:
            continue
        stiffness = model(run).stiffness_per_mass
        found.setdefault((what.nodes, what.step_ns, stiffness, result.steps), []).append(result.checksum)
        if not result.finite:
            yield f"{run.id}: there are positions that are no numbers; its simulation is worth nothing."
    if found:
        yield _POSITIONS
    for (nodes, step_ns, _, steps), sums in found.items():
        if len(set(sums)) > 1:
            after = f"{nodes:,} masses after {plural(steps, 'step')} of {format_duration(step_ns)}"
            yield (
                f"The positions of {after} differ between these runs, and must not: a solver, or the "
                "memory, is at fault."
            )


def about_endings(seen: Sequence[tuple[Run, str]]) -> Iterator[str]:
    """Which of the real-fast runs are not the whole simulation."""
    for run, label in seen:
        if not real_fast(run).complete:
            yield f"{label or 'This run'}: not the whole simulation; it ended early, or rows were lost."


def share(value: float) -> str:
    """A small share of all steps, as in a table: ``0.0499%``."""
    return f"{value * 100:.3g}%"
