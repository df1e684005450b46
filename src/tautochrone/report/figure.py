"""One chart as a file for a paper or a slide: SVG, PNG or PDF."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import altair as alt

from tautochrone.errors import StoreError, UsageError
from tautochrone.report import composition
from tautochrone.report.charts import axes, cpus, cumulative, histogram, timeline
from tautochrone.report.evidence import Evidence, Measured
from tautochrone.report.series import Series, merge
from tautochrone.report.theme import PAPER

Kind = Literal["histogram", "cumulative", "time", "cpus"]
FORMATS = ("svg", "png", "pdf")
_PNG_SCALE = 3.0  # 640 px wide at 3: 300 dots per inch at 6.4 inches


def draw(measured: Measured, kind: Kind) -> alt.TopLevelMixin:
    """The chart of this kind, at publication size."""
    series = composition.few(measured.series)
    title = measured.title
    drawers: dict[str, Callable[[], alt.TopLevelMixin]] = {
        "histogram": lambda: histogram.chart(_per_run(series), PAPER, title=title, height=300),
        "cumulative": lambda: cumulative.both(series, PAPER, title=title),
        "time": lambda: _time(measured),
        "cpus": lambda: cpus.chart(measured.series, PAPER, title=title),
    }
    return drawers[kind]()


def left_out(seen: Evidence, measured: Measured, kind: Kind) -> list[str]:
    """One sentence for each run that is not in the figure, and why."""
    sentences = []
    with_time = [one for one in measured.series if one.envelope is not None]
    shown = with_time if kind == "time" and with_time else measured.series
    drawn = {one.run for one in shown}
    for manifest, label in zip(seen.manifests, seen.labels, strict=True):
        if label in drawn:
            continue
        if manifest.experiment != measured.experiment:
            why = (
                f"it ran the experiment {manifest.experiment}, and this figure is about {measured.experiment}"
            )
        elif any(one.run == label for one in measured.series):
            why = "it kept a histogram, so it has no latencies over time"
        else:
            why = "it has no sample"
        sentences.append(f"Not in the figure: {label} ({manifest.id}); {why}.")
    return sentences


def save(chart: alt.TopLevelMixin, out: Path) -> Path:
    """Write the chart in the format that the name of ``out`` ends with.

    Raises:
        UsageError: another ending.
        StoreError: the file can't be written.
    """
    content = encode(chart, format_of(out))
    try:
        out.write_bytes(content)
    except OSError as error:
        raise StoreError(
            f"Can't write the figure to {out}: {error.strerror}", "Choose another place with --out."
        ) from error
    return out


def format_of(out: Path) -> str:
    """The format by the name's ending.

    Raises:
        UsageError: it is none of `FORMATS`.
    """
    ending = out.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise UsageError(
            f"A figure can't be written as '{out.name}'", "End the name with .svg, .png or .pdf."
        )
    return ending


def encode(chart: alt.TopLevelMixin, format: str) -> bytes:  # noqa: A002 - the word people know it by
    """The chart's bytes as svg, png or pdf. Nothing is fetched from anywhere."""
    import vl_convert

    specification = chart.to_dict()
    if format == "svg":
        text = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
        return text.encode()
    if format == "png":
        return bytes(
            vl_convert.vegalite_to_png(specification, scale=_PNG_SCALE, ppi=72, allowed_base_urls=[])
        )
    return bytes(vl_convert.vegalite_to_pdf(specification, allowed_base_urls=[]))


def _per_run(series: Sequence[Series]) -> Sequence[Series]:
    return merge(series, composition.TOGETHER)


def _time(measured: Measured) -> alt.TopLevelMixin:
    series = [one for one in measured.series if one.envelope is not None]
    kept = [one for one in measured.series if one.maxima is not None]
    if not series and kept:
        return timeline.worst_so_far(kept, PAPER, title=measured.meaning, height=240)
    if not series:
        raise UsageError(
            "When these values occurred is not known: the experiment has no common start",
            "Draw another kind of figure.",
        )
    together = merge(series, composition.TOGETHER)
    if len(together) == 1:
        return timeline.chart(together, PAPER, title=measured.meaning, height=240)
    ranges = timeline.ranges(together)
    panels = [
        (
            one.run,
            timeline.layers_of(
                [one],
                PAPER,
                within=together,
                range_of=ranges[one.run],
                title=measured.meaning,
                legend=False,
            ),
            150,
        )
        for one in together
    ]
    return axes.stack(panels, PAPER, timeline.describe(together))
