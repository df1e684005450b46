"""Which charts stand on the page, in which order, split into which panels, with which words below them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from tautochrone.answer.blocks import Figure, Panel, made
from tautochrone.answer.charts import course, cumulative, histogram, rows
from tautochrone.answer.charts.scales import dash_of
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.evidence import MeasuredEvidence
from tautochrone.answer.numbers import loss_caption
from tautochrone.answer.phrasing.course import sentences
from tautochrone.answer.series import Series, is_signed, merge, runs_of, sources_of
from tautochrone.answer.typeset import duration, number

TOGETHER = "all sources together"
_MOST_SOURCES = 4  # more than these are put together, or their lines could not be told apart
_MOST_PANELS = 12
ENVELOPE = "Each stretch of time shows its least and its largest value; no extreme is left out."
_SIGNED = "There are values below 0: the axis of time is linear close to 0 and logarithmic to both sides."
_OWN_RANGES = "The runs are too far apart for one scale: each has its own."
_OFTEN = "How often each value occurred"


def compose(measured: MeasuredEvidence, prefix: str) -> list[Figure]:
    """Return the figures of one measure; their panels' ids begin with ``prefix``."""
    if not measured.loop:
        several = len(sources_of(measured.series)) > _MOST_PANELS
        return [made(_OFTEN, lambda: (_cpus if several else _one_panel_each)(measured, prefix))]
    drawn = [(_OFTEN, _histogram), ("How late the completed cycles began", _cumulative)]
    if any(one.envelope is not None for one in measured.series):
        drawn.append(("When it was late", _timeline))
    if any(one.maxima is not None for one in measured.series):
        drawn.append(("When it was worse than before", _worst_so_far))
    drawn.append(("Side by side", _cpus))
    return [made(title, partial(draw, measured, prefix)) for title, draw in drawn]


def few(series: Sequence[Series]) -> Sequence[Series]:
    """Return the series themselves, or, where there are too many sources, one series per run."""
    return series if len(sources_of(series)) <= _MOST_SOURCES else merge(series, TOGETHER)


def _histogram(measured: MeasuredEvidence, prefix: str) -> Figure:
    series = few(measured.series)
    panels = histograms(series, measured.title, prefix)
    total = sum(one.count for one in measured.series)
    caption = (
        f"All {number(total)} samples; nothing is cut off at either end. Both axes are logarithmic, so that "
        "a single late cycle shows beside thousands that were in time.",
        *_to_both_sides(series),
        *loss_caption(measured.series),
    )
    return Figure(_OFTEN, panels, caption)


def histograms(
    series: Sequence[Series],
    title: str,
    prefix: str,
    *,
    of: Sequence[str] = (),
    named: bool = False,
    height: int = 240,
) -> tuple[Panel, ...]:
    """Return a panel for each source, or those ``of`` them, on common axes; ``named``: the only one, too."""
    sources = sources_of(series)
    return tuple(
        Panel(
            f"{prefix}-histogram",
            source if named or len(sources) > 1 or source == TOGETHER else "",
            histogram.chart(
                [one for one in series if one.source == source],
                within=series,
                title=title,
                legend=False,
                height=height,
            ),
            index,
        )
        for index, source in enumerate(of or sources)
    )


def _one_panel_each(measured: MeasuredEvidence, prefix: str) -> Figure:
    """Draw each source by itself, for experiments without a period, such as the readings of clocks."""
    still = [one.source for one in measured.series if _is_always_0(one)]
    stepped = [one for one in measured.series if not _is_always_0(one)]
    if not stepped:
        return Figure(_OFTEN, (), (f"Always 0: {', '.join(still)}.",))
    panels = histograms(stepped, measured.title, prefix, named=True, height=130)
    caption = [
        f"All {number(sum(one.count for one in stepped))} values; both axes are logarithmic.",
        *_to_both_sides(stepped),
    ]
    if still:
        caption.append(f"Always 0, so not on a logarithmic axis: {', '.join(still)}.")
    return Figure(_OFTEN, panels, tuple(caption))


def _is_always_0(one: Series) -> bool:
    return one.maximum_ns == 0 and int(one.bins.low_ns.min()) == 0


def _to_both_sides(series: Sequence[Series]) -> tuple[str, ...]:
    return (_SIGNED,) if is_signed(series) else ()


def _cumulative(measured: MeasuredEvidence, prefix: str) -> Figure:
    series = few(measured.series)
    sources = sources_of(series)
    panels = (
        Panel(
            f"{prefix}-whole",
            "all completed cycles",
            cumulative.whole(series, title=measured.title, legend=False),
        ),
        Panel(
            f"{prefix}-top",
            "the latest tenth of them, enlarged",
            cumulative.top(series, title=measured.title, legend=False),
        ),
    )
    dashes = (" ".join(map(str, dash_of(at))) for at in range(len(sources)))
    key = tuple(
        Sign(source, dash="" if dash == "1 0" else dash) for source, dash in zip(sources, dashes, strict=True)
    )
    caption = (
        "The share of the completed cycles that began at most so late; enlarged, each step up is ten times "
        "rarer. The mark at the end of a line is the worst of all its cycles.",
        *loss_caption(measured.series),
    )
    return Figure("How late the completed cycles began", panels, caption, key if len(sources) > 1 else ())


def _timeline(measured: MeasuredEvidence, prefix: str) -> Figure:
    with_time = [one for one in measured.series if one.envelope is not None]
    series: Sequence[Series] = few(with_time)
    if len(series) > _MOST_PANELS:
        series = merge(with_time, TOGETHER)
    panels, ranges = timelines(series, measured.meaning, prefix), course.ranges(series)
    own = (_OWN_RANGES,) if len(runs_of(series)) > 1 and len(ranges[series[0].run]) < len(series) else ()
    caption = (ENVELOPE, *own, *_marked(series), *_worst_sentences(with_time))
    return Figure("When it was late", panels, caption, notes=tuple(over_time(measured)))


def timelines(series: Sequence[Series], title: str, prefix: str) -> tuple[Panel, ...]:
    """Return a panel for each series that has instants, those of a run on one scale."""
    name, ranges = _panel_name(series), course.ranges(series)
    return tuple(
        Panel(
            f"{prefix}-time",
            name(one) if len(series) > 1 else "",
            course.envelope([one], within=series, range_of=ranges[one.run], title=title, legend=False),
            index,
        )
        for index, one in enumerate(series)
    )


def over_time(measured: MeasuredEvidence) -> list[str]:
    """Return what stands out in the course of each run, in sentences; which run, where there are several."""
    several = len(measured.courses) > 1
    return [
        f"{label}: {sentence}" if several else sentence
        for label, found in measured.courses
        if not found.histogram
        for sentence in sentences(found)
    ]


def _marked(series: Sequence[Series]) -> Iterator[str]:
    marks = [one.marks for one in series if one.marks is not None]
    if any(one.change_s for one in marks):
        levels = (
            ", the lines beside it are the median before and after" if any(one.level for one in marks) else ""
        )
        yield f"A dashed line marks a change of level{levels}."
    if any(one.spike_s for one in marks):
        yield "The small marks at the top show when a spike of the period was due."


def _worst_so_far(measured: MeasuredEvidence, prefix: str) -> Figure:
    series = [one for one in measured.series if one.maxima is not None]
    panel = Panel(f"{prefix}-maxima", "", course.worst_so_far(series, title=measured.meaning, legend=False))
    runs = ", ".join(runs_of(series))
    kept = f"{runs}: kept a histogram, so only the instant of each new worst is known."
    return Figure("When it was worse than before", (panel,), (kept, *_worst_sentences(series)))


def _worst_sentences(series: Sequence[Series]) -> list[str]:
    sentences = []
    for run in runs_of(series):
        worst = max((one for one in series if one.run == run), key=lambda one: one.maximum_ns)
        if worst.worst_at_s is not None:
            when = f" ({worst.worst_at_utc})" if worst.worst_at_utc else ""
            sentences.append(
                f"Worst of {run}: {duration(worst.maximum_ns)} on {worst.source}, "
                f"{worst.worst_at_s:,.3f} s after the start{when}."
            )
    return sentences


def _cpus(measured: MeasuredEvidence, prefix: str) -> Figure:
    panel = Panel(f"{prefix}-cpus", "", rows.cpus(measured.series, title=measured.title, legend=False))
    caption = ("A quantile for which there are too few samples has no mark.", *loss_caption(measured.series))
    return Figure("Side by side", (panel,), caption, rows.key_of(rows.CPU_MARKS))


def _panel_name(series: Sequence[Series]) -> Callable[[Series], str]:
    several_runs, several_sources = len(runs_of(series)) > 1, len(sources_of(series)) > 1
    if several_runs and several_sources:
        return lambda one: f"{one.run}, {one.source}"
    return (lambda one: one.run) if several_runs else (lambda one: one.source)
