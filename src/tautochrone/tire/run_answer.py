"""What a run of the tire shows: its tables, and what has to be said below them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.answer.document import TypedCell, TypedTable, columns, count, formatted, micros, time, words
from tautochrone.base.units import format_duration, rounded
from tautochrone.base.words import plural
from tautochrone.judge import tire_run
from tautochrone.tire.steps import PARTS, Account, ThreadAccount, account

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.run.folder import StoredRun
    from tautochrone.statistics.summary import Summary


_THIS = "this run"
_THREADS = (
    "T_i: from the release until this thread runs. T_s: from there until the last thread has written, so "
    "that it holds the wait for the others. T_w is the same for all of them."
)
_SHARES = (
    "Shares of the whole time. Not yet running: released, or done with a late step, and waiting for its CPU. "
    "Node-steps per second: while it computed. Waits: context switches in which it gave its CPU away, the "
    "sleep until the next release among them; preemptions: those in which its CPU was taken from it."
)
_FAST = (
    "Simulated / elapsed: above 1 the mean step takes less time than it simulates. Rests between rows, which "
    "keep a real-time thread from locking the machine up, are not in the elapsed time; what the system takes "
    "from a thread within a row is."
)
_CPU_TIME = (
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
_MODEL = (
    "Fastest rehearsed: of a few steps as fast as possible, before the start. State: positions and "
    "velocities, all copies."
)
_EQUATION = (
    "Each row has a worst of its own, which need not be of one step; T_w's worst is its least. The worst "
    "step is the one with the longest T_i + T_s."
)
_TOGETHER = "All threads together: a step begins with the first one that runs."


def _about_worst(seen: Account, label: str) -> str:
    took = format_duration(seen.worst.dispatch_ns + seen.worst.step_ns)
    where = f"{label}: the" if label else "The"
    sentence = f"{where} longest step, released {seen.worst_at_s:,.3f} s after the start, took {took}"
    culprit = seen.culprit
    if culprit is None:
        return f"{sentence}."
    who = f"{culprit.thread}, which wrote last," if len(seen.threads) > 1 else "the thread"
    spent = f"{format_duration(culprit.took_ns)} {PARTS[culprit.part]}"
    return f"{sentence}: {who} spent {spent}, where the median is {format_duration(culprit.usual_ns)}."


def _about_positions(runs: Sequence[StoredRun]) -> Iterator[str]:
    found: dict[tuple[int, int, int | None, int], list[int]] = {}
    for run in runs:
        result, what = tire_run.result_event(run), tire_run.configuration(run)
        if result is None:
            continue
        stiffness = tire_run.model(run).stiffness_per_mass
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


@dataclass(frozen=True)
class TirePresentation:
    """Presentation of the experiment `tire`."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return where the time of runs at a rate went, and how fast real-fast ones were.

        Of a histogram neither is known; its summary is told as that of any run.
        """
        fast, at_rate = _by_pace(runs, labels)
        paced = [(run, label, account(run)) for run, label in at_rate]
        tables = [_deadlines(paced)] if paced else []
        for _, label, seen in paced:
            if seen is not None:
                tables += _account_tables(seen, label)
        if fast:
            tables.append(_real_fast(fast))
        tables += [_fast_threads(run, label) for run, label in fast]
        return [*tables, _models(runs, labels)]

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw the blocks of Figure 4, steps over time, shares of each thread, and how long steps took."""
        from tautochrone.tire import run_figures

        fast, paced = _by_pace(runs, labels)
        return [
            *run_figures.blocks(paced, f"{prefix}-blocks"),
            *run_figures.over_time(paced, f"{prefix}-over-time"),
            *run_figures.shares(paced, f"{prefix}-shares"),
            *run_figures.distribution(paced, f"{prefix}-steps"),
            *run_figures.speed(fast, f"{prefix}-speed"),
        ]


def _by_pace(
    runs: Sequence[StoredRun], labels: Sequence[str]
) -> tuple[list[tuple[StoredRun, str]], list[tuple[StoredRun, str]]]:
    every = [(run, label) for run, label in zip(runs, labels, strict=True) if not run.is_histogram]
    fast = [one for one in every if tire_run.configuration(one[0]).pace == tire_run.REAL_FAST]
    return fast, [one for one in every if one not in fast]


def _deadlines(seen: Sequence[tuple[StoredRun, str, Account | None]]) -> TypedTable:
    heads = columns(
        "", "steps due", "missed", "late", "passed over", "missed at most", "longest step (us)",
        "million node-steps/s", "positions",
    )  # fmt: skip
    known = [(one, label) for _, label, one in seen if one is not None]
    notes = (
        _DEADLINES,
        *([_NODE_STEPS] if any(one.nodes_per_s is not None for one, _ in known) else []),
        *(_about_worst(one, label) for one, label in known),
        *_about_positions([run for run, _, _ in seen]),
    )
    return TypedTable("Deadlines", heads, tuple(_deadline_row(*one) for one in seen), notes)


def _at_most(share: float | None) -> TypedCell:
    return TypedCell(share, "share", "" if share is None else f"{rounded(share * 100, 3, up=True):.3g}%")


def _deadline_row(run: StoredRun, label: str, seen: Account | None) -> tuple[TypedCell, ...]:
    name, positions = words(label or _THIS), _positions(run)
    if seen is None:
        return (name, *(TypedCell(None, "count"),) * 7, positions)
    misses = seen.misses
    least = "" if misses.exact else "at least "
    return (
        name,
        count(misses.released),
        *(
            TypedCell(one, "count", f"{least}{count(one).shown}")
            for one in (misses.missed_steps, misses.late, misses.passed_over)
        ),
        _at_most(misses.share),
        micros(seen.response.maximum),
        _millions(seen.nodes_per_s),
        positions,
    )


def _account_tables(seen: Account, label: str) -> Iterator[TypedTable]:
    suffix = f", {label}" if label else ""
    yield _equation(seen, f"T = T_i + T_s + T_w in us, T = {format_duration(seen.period_ns)}{suffix}")
    if len(seen.threads) > 1:
        each = columns(
            "", "masses", "T_i median", "T_i 99 %", "T_i worst", "T_s median", "T_s 99 %", "T_s worst",
            "worst step, T_i", "worst step, T_s",
        )  # fmt: skip
        rows = tuple(map(_thread_row, seen.threads))
        yield TypedTable(f"T_i and T_s of each thread in us{suffix}", each, rows, (_THREADS,))
    heads = columns(
        "", "computing", "reading and writing", "waiting for others", "not yet running", "idle",
        "million node-steps/s", "waits per step", "preemptions per step",
    )  # fmt: skip
    rows = tuple(map(_share_row, seen.threads))
    yield TypedTable(f"Where the time of each thread went{suffix}", heads, rows, (_SHARES,))


def _equation(seen: Account, title: str) -> TypedTable:
    period_ns, response = seen.period_ns, seen.response
    left = (
        micros(period_ns - response.mean),
        *(_quantile(response, q, less_than_ns=period_ns) for q in (0.5, 0.99)),
        micros(period_ns - response.maximum),
    )
    rows = (
        (words("T_i, until the first thread runs"), *_four(seen.dispatch), micros(seen.worst.dispatch_ns)),
        (words("T_s, until the last one has written"), *_four(seen.step), micros(seen.worst.step_ns)),
        (words("T_w, left until the next release"), *left, micros(seen.worst.room_ns)),
    )
    notes = (_EQUATION, _TOGETHER) if len(seen.threads) > 1 else (_EQUATION,)
    heads = columns("", "mean", "median", "99 %", "worst", "in the worst step")
    return TypedTable(title, heads, rows, notes)


def _thread_row(one: ThreadAccount) -> tuple[TypedCell, ...]:
    worst = (one.worst.dispatch_ns, one.worst.step_ns) if one.worst is not None else (None, None)
    return (
        words(one.name),
        count(one.nodes),
        *_four(one.dispatch)[1:],
        *_four(one.step)[1:],
        *map(micros, worst),
    )


def _share_row(one: ThreadAccount) -> tuple[TypedCell, ...]:
    shares = one.shares
    parts = (shares.computing, shares.exchanging, shares.waiting, shares.dispatch, shares.idle)
    return (
        words(one.name),
        *(formatted(part, "{:.2%}", "share") for part in parts),
        _millions(one.nodes_per_s),
        formatted(one.voluntary, "{:.3f}"),
        formatted(one.involuntary, "{:.3f}"),
    )


def _real_fast(seen: Sequence[tuple[StoredRun, str]]) -> TypedTable:
    heads = columns(
        "", "simulated (s)", "elapsed (s)", "simulated / elapsed", "steps", "step, mean (us)",
        "million node-steps/s", "steps per row", "positions",
    )  # fmt: skip
    cut = [
        f"{label or 'This run'}: not the whole simulation; it ended early, or rows were lost."
        for run, label in seen
        if not tire_run.real_fast(run).complete
    ]
    notes = (_FAST, *cut, *_about_positions([run for run, _ in seen]))
    return TypedTable("As fast as possible", heads, tuple(_fast_row(*one) for one in seen), notes)


def _fast_row(run: StoredRun, label: str) -> tuple[TypedCell, ...]:
    seen, what = tire_run.real_fast(run), tire_run.configuration(run)
    return (
        words(label or _THIS),
        _seconds(seen.simulated_ns, "{:,.3f}"),
        _seconds(seen.elapsed_ns),
        TypedCell(None if seen.speed is None else float(f"{seen.speed:.4g}"), "number"),
        count(seen.steps),
        micros(seen.step_ns),
        _millions(what.nodes * seen.steps / (seen.elapsed_ns / 1e9) if seen.elapsed_ns else None),
        count(round(seen.steps / seen.rows) if seen.rows else None),
        _positions(run),
    )


def _fast_threads(run: StoredRun, label: str) -> TypedTable:
    result, seen = tire_run.result_event(run), tire_run.real_fast(run)
    rows = []
    for book in run.manifest.books:
        told = (result.threads.get(book.source) if result else None) or tire_run.ThreadResult()
        had_ns = book.cpu_time_ns
        switches = [
            one / seen.steps if one is not None and seen.steps else None
            for one in (told.voluntary, told.involuntary)
        ]
        rows.append(
            (
                words(book.name),
                count(told.nodes),
                _seconds(had_ns),
                _seconds(None if had_ns is None else max(0, seen.elapsed_ns - had_ns)),
                *(formatted(one, "{:.3f}") for one in switches),
            )
        )
    heads = columns("", "masses", "CPU time (s)", "off CPU (s)", "waits per step", "preemptions per step")
    title = f"Each thread, as fast as possible{f', {label}' if label else ''}"
    return TypedTable(title, heads, tuple(rows), (_CPU_TIME,))


def _models(runs: Sequence[StoredRun], labels: Sequence[str]) -> TypedTable:
    heads = columns(
        "", "masses", "springs", "step", "stiffness / mass (1/s^2)", "state (MB)", "solver", "vectors",
        "fastest rehearsed (us)",
    )  # fmt: skip
    rows = tuple(_model_row(run, label) for run, label in zip(runs, labels, strict=True))
    return TypedTable("What was computed", heads, rows, (_MODEL,))


def _model_row(run: StoredRun, label: str) -> tuple[TypedCell, ...]:
    what, tire = tire_run.configuration(run), tire_run.model(run)
    return (
        words(label or _THIS),
        count(tire.nodes),
        count(tire.springs),
        time(what.step_ns),
        TypedCell(tire.stiffness_per_mass, "number"),
        formatted(None if tire.state_bytes is None else tire.state_bytes / 1e6, "{:,.3f}"),
        words(what.solver),
        words(what.vector or "-"),
        micros(tire.rehearsed_ns),
    )


def _four(summary: Summary) -> tuple[TypedCell, ...]:
    middle = (_quantile(summary, q) for q in (0.5, 0.99))
    return (micros(summary.mean), *middle, micros(summary.maximum))


def _quantile(summary: Summary, q: float, *, less_than_ns: int | None = None) -> TypedCell:
    """Return a quantile, or what it leaves of a time."""
    value = summary.quantile(q)
    return micros(value if value is None or less_than_ns is None else less_than_ns - value, "too few")


def _seconds(ns: int | None, form: str = "{:,.6f}") -> TypedCell:
    return formatted(None if ns is None else ns / 1e9, form)


def _millions(per_s: float | None) -> TypedCell:
    return formatted(None if per_s is None else per_s / 1e6, "{:,.2f}")


def _positions(run: StoredRun) -> TypedCell:
    result = tire_run.result_event(run)
    if result is None:
        return TypedCell(None, "code")
    return TypedCell(f"{result.checksum:08x}{'' if result.finite else ', not finite'}", "code")
