"""The outputs of the user's code, as they were kept with each step: charts over simulated time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts.course import STRETCHES, band
from tautochrone.answer.charts.grammar import Chart
from tautochrone.answer.charts.scales import linear
from tautochrone.answer.charts.theme import series_tone
from tautochrone.base.words import plural, verb
from tautochrone.judge.step_run import OUTPUT, fmu_of, is_real_fast, step_event, step_period_ns

if TYPE_CHECKING:
    import numpy.typing as npt

    from tautochrone.run.folder import StoredRun

_MOST = 8
_LARGEST = 1e300
"""What is drawn at most: the distance of two such numbers is a number, too."""
_CAPTION = (
    "Each value is that after the step of this simulated time, k times the period; the warm-up is left out. "
    "Where there are more steps than room, the area goes from the least to the largest value."
)


def figure_of(run: StoredRun, label: str, rank: int, prefix: str) -> Figure:
    """Return the first outputs of a run as charts."""
    names = run.names_of_reals
    times_s = _simulated_s(run)
    panels = tuple(
        Panel(
            f"{prefix}-outputs-{rank}",
            name.removeprefix(OUTPUT),
            _chart(times_s, run.reals(name, 0), name.removeprefix(OUTPUT), rank),
            at,
        )
        for at, name in enumerate(names[:_MOST])
    )
    others = f" {plural(len(names) - _MOST, 'further output')}: tauto export." if len(names) > _MOST else ""
    title = f"Outputs of {label}" if label else "Outputs"
    title += ": the first instance" if len(run.manifest.books) > 1 else ""
    return Figure(title, panels, (_CAPTION + others,))


def has_simulated_time(run: StoredRun) -> bool:
    """Return whether rows tell their simulated time: as fast as possible, only where every step has a row."""
    return not is_real_fast(run) or run.count() == sum(book.completed or 0 for book in run.manifest.books)


def _simulated_s(run: StoredRun) -> npt.NDArray[np.float64]:
    header = run.manifest.header
    if is_real_fast(run):
        first = int(header.number("warmup") or 0)
        return (np.arange(run.count()) + first) * step_period_ns(run) / 1e9
    source = header.by_number[0]
    scheduled_ns = run.column("scheduled_ns", 0)
    first_ns = source.start_ns if source.start_ns is not None else int(scheduled_ns[0])
    warmup_ns = (header.number("warmup") or 0) * (header.schedule.period_ns or 0)
    return (scheduled_ns - first_ns + warmup_ns) / 1e9


def _chart(times_s: npt.NDArray[np.float64], values: npt.NDArray[np.float64], name: str, rank: int) -> Chart:
    known = np.abs(values) < _LARGEST
    if not known.any():
        return Chart([], 40, f"{name}: no value is a number that can be drawn.")
    at_s, own = times_s[known], values[known]
    starts = np.unique(np.linspace(0, len(own), STRETCHES, endpoint=False).astype(np.int64))
    lows, highs = np.minimum.reduceat(own, starts), np.maximum.reduceat(own, starts)
    rows = [
        {"at": round(at, 9), "low": low, "high": high, "words": f"{high:.6g}"}
        for at, low, high in zip(at_s[starts].tolist(), lows.tolist(), highs.tolist(), strict=True)
    ]
    low, high = float(own.min()), float(own.max())
    room = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    last_s = float(at_s[-1]) if len(own) > 1 else float(at_s[0]) + 1
    x = linear(float(at_s[0]), last_s, "simulated time (s)", tickCount=6, format="~r", labelFlush=True).of(
        "at"
    )
    y = linear(low - room, high + room, None, tickCount=4, format="~r", grid=True)
    left_out = len(values) - len(own)
    others = f" {plural(left_out, 'step')} without a number that can be drawn." if left_out else ""
    words = (
        f"{name}: {low:.6g} to {high:.6g} in {plural(len(own), 'step')}; {values[-1]:.6g} after the last one."
    )
    return Chart(band(rows, x, y, 1.4, [("words", name)], color=series_tone(rank)), 110, words + others)


def sentences(run: StoredRun) -> Iterator[str]:
    """Yield what is to be known of the FMU and of its outputs."""
    fmu = fmu_of(run.manifest)
    if fmu is not None:
        tool = f", made by {fmu.tool}" if fmu.tool else ""
        yield f"The FMU has the model {fmu.model or 'without a name'}, of FMI {fmu.fmi}{tool}."
        if fmu.outputs_left_out:
            left_out = fmu.outputs_left_out
            yield (
                f"{plural(left_out, 'output')} of it {verb(left_out, 'is')} not kept: arrays, texts, and "
                "what is beyond 64."
            )
    behind = step_event(run).behind
    if behind:
        yield (
            f"Its simulated time ends {plural(behind, 'period')} behind: releases were missed, and the FMU "
            "says that it can't make a longer step."
        )
