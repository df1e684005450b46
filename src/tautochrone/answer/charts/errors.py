"""Signed errors in the order in which they came: a stem from 0 to each, and the band of their mean size."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration

_HEIGHT = 130


@dataclass(frozen=True)
class Points:
    """Errors to draw: ``index`` counts from 1, shape (n,) each; the mean size and count are of all errors."""

    index: npt.NDArray[np.int64]
    error_ns: npt.NDArray[np.int64]
    count: int
    mean_size_ns: float

    @property
    def reach_ns(self) -> int:
        """The largest size."""
        return int(np.abs(self.error_ns).max())


def thin(errors_ns: npt.NDArray[np.integer[Any]], most: int) -> Points | None:
    """At most ``most`` errors: the largest of each stretch, so that none that matters is left out.

    None if there are no errors.
    """
    count = len(errors_ns)
    if count == 0:
        return None
    sizes = np.abs(errors_ns)
    bounds = np.linspace(0, count, min(most, count) + 1).astype(np.int64)
    kept = np.array([low + int(sizes[low:high].argmax()) for low, high in pairwise(bounds)])
    return Points(kept + 1, errors_ns[kept].astype(np.int64), count, float(sizes.mean()))


def chart(points: Points, theme: Theme, *, reach_ns: int, rank: int = 0) -> alt.LayerChart:
    """One panel.

    Args:
        reach_ns: the largest size over all panels, so that they share a scale.
        rank: of the run, for its colour.
    """
    color = theme.series[rank % len(theme.series)]
    reach_us = max(reach_ns / 1e3, 0.01) * 1.05
    rows = [
        {"index": int(at), "error": error / 1e3, "zero": 0, "words": _signed(int(error))}
        for at, error in zip(points.index, points.error_ns, strict=True)
    ]
    mean_us = points.mean_size_ns / 1e3
    scale = alt.Scale(domain=[-reach_us, reach_us], nice=False)
    y = alt.Y("error:Q", scale=scale, axis=alt.Axis(title="error in µs", tickCount=5, grid=True))
    x = alt.X(
        "index:Q",
        scale=alt.Scale(domain=[0.5, points.count + 0.5], nice=False),
        axis=alt.Axis(title="period number", tickMinStep=1, format=",d"),
    )
    band = (
        alt.Chart(alt.InlineData(values=[{"low": -mean_us, "high": mean_us}]))
        .mark_rect(color=theme.muted, opacity=0.16)
        .encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x)
    stems = base.mark_rule(color=color, opacity=0.5).encode(y=y, y2=alt.Y2("zero:Q"))
    heads = base.mark_circle(color=color, size=18, opacity=1).encode(
        y=y, tooltip=[alt.Tooltip("index:Q", title="period"), alt.Tooltip("words:N", title="error")]
    )
    words = f"{points.count:,} errors of the period, mean size {duration(round(points.mean_size_ns))}."
    return axes.finish([band, stems, heads], theme, _HEIGHT, words)


def _signed(error_ns: int) -> str:
    sign = "+" if error_ns > 0 else "\u2212" if error_ns < 0 else ""
    return sign + duration(abs(error_ns))
