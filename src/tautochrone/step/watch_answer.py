"""What a run of the user's own program shows: whether its loops keep their rate, and how long steps take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Figure, made
from tautochrone.answer.composition import histograms
from tautochrone.answer.document import TypedTable, columns, micros, words
from tautochrone.answer.evidence import series_of_run
from tautochrone.answer.labels import titled
from tautochrone.answer.numbers import quantile_of
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural
from tautochrone.judge.reduced import reduce_run, summary_in
from tautochrone.judge.step_run import EXECUTION, LATENCY, RESPONSE, code_name, watch_event
from tautochrone.judge.verdict import measured_loops
from tautochrone.step.answer import held, takes

if TYPE_CHECKING:
    from tautochrone.answer.document import TypedCell
    from tautochrone.judge.reduced import Reduced
    from tautochrone.run.folder import StoredRun

INTERVAL = "interval_ns"
_PARTS = (
    (LATENCY, "start latency", "from the release until the step begins"),
    (EXECUTION, "execution", "from its begin to its end, with what preempted the step"),
    (RESPONSE, "response", "from the release to the end of the step; its deadline is the next release"),
    (INTERVAL, "interval", "from the begin of the step before to the begin of this one"),
)
_OTHERWISE = (
    "where there is none, it is the first begin + k * period, by the earliest step of the warm-up: the "
    "latency is a comparison with that one."
)


def _meaning(run: StoredRun) -> str:
    """Return what a step and its release are, by what it was watched by."""
    by = str(run.manifest.header.parameters.get("by") or "")
    if not by:
        step, release = "TAUTO_BEGIN to TAUTO_END", "that the program told with TAUTO_BEGIN_AT"
    elif ":" in by:
        _, begin, end = by.split(":", 2)
        step, release = f"its probe {begin} to its probe {end}", f"that the second argument of {begin} has"
    elif by == "sleep":
        step, release = (
            "the end of a sleep to the next sleep",
            "that clock_nanosleep was asked to sleep until",
        )
    else:
        step = f"the end of the system call {by} to the next one"
        return f"A step goes from {step}. Its release is not told: {_OTHERWISE}"
    return f"A step goes from {step}. Its release is the instant {release}; {_OTHERWISE}"


def sentences(run: StoredRun) -> list[str]:
    """Return the answer, of each loop: whether it holds its rate, how long a step takes; and how it ended."""
    parts = {one.name: one for one in reduce_run(run, EXECUTION)}
    loops = [loop for loop in measured_loops(run) if loop.source in parts]
    said = [held(run, loop, (parts[loop.source],)) for loop in loops]
    event = watch_event(run)
    left_out = event.loops_left_out
    return [
        *(said or _without_rate(run, list(parts.values()))),
        *([f"{plural(left_out, 'loop')} of the program began too late to be recorded."] if left_out else []),
        *([event.why] if event.why else []),
    ]


def _without_rate(run: StoredRun, parts: Sequence[Reduced]) -> Iterator[str]:
    """Yield what is known of loops whose period nobody told."""
    intervals = {one.source: one for one in reduce_run(run, INTERVAL)}
    for one in parts:
        seen = summary_in([intervals[one.source]]) if one.source in intervals else None
        usual, rare = (None if seen is None else seen.quantile(q) for q in (0.5, 0.999))
        every = f"; one begins every {format_duration(usual)}" if usual is not None else ""
        yield f"{one.name}: {takes([one])}{every}{f' (99.9 %: {format_duration(rare)})' if rare else ''}."


@dataclass(frozen=True)
class WatchPresentation:
    """Presentation of the experiment `watch`."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return for each run the times of the steps, loop by loop."""
        return [_times(run, label) for run, label in zip(runs, labels, strict=True) if run.count()]

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw how often each time occurred."""
        series = [
            replace(one, source=f"{one.source}: {said}")
            for rank, (run, label) in enumerate(zip(runs, labels, strict=True))
            for name, said, _ in _PARTS
            if name in run.measures and run.count(name)
            for one in series_of_run(run, label, rank, name, reduce_run(run, name))
        ]
        title = "How long steps took"

        def drawn() -> Figure:
            panels = histograms(series, "Time", f"{prefix}-watch", named=True, height=130)
            return Figure(title, panels, ("Every step is there.",))

        return [made(title, drawn)] if series else []


def _times(run: StoredRun, label: str) -> TypedTable:
    heads = columns("", "", "median", "99 %", "99.9 %", "least", "worst")
    parts = [(name, said) for name, said, _ in _PARTS if name in run.measures and run.count(name)]
    rows = tuple(
        _row(one, said)
        for book in run.manifest.books
        for name, said in parts
        for one in reduce_run(run, name)
        if one.source == book.source
    )
    known = {name for name, _ in parts}
    meant = " ".join(f"{said.capitalize()}: {meaning}." for name, said, meaning in _PARTS if name in known)
    notes = (meant, _meaning(run), *_irregular(run))
    return TypedTable(titled(f"The steps of {code_name(run.manifest)} in us", label), heads, rows, notes)


def _row(one: Reduced, said: str) -> tuple[TypedCell, ...]:
    seen = summary_in([one])
    quantiles = (quantile_of(seen, q) for q in (0.5, 0.99, 0.999))
    ends = (None, None) if seen is None else (seen.minimum, seen.maximum)
    return (words(one.name), words(said), *quantiles, *map(micros, ends))


def _irregular(run: StoredRun) -> Iterator[str]:
    names = {book.source: book.name for book in run.manifest.books}
    for one in watch_event(run).loops:
        name = names.get(one.source, "")
        if one.irregular:
            yield f"{name}: {one.irregular:,} times the begin and the end of a step did not alternate."
        if one.backwards:
            yield f"{name}: {plural(one.backwards, 'step')} had no larger number k than the step before."
