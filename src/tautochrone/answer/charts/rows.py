"""Row beside row on one scale: what was measured of each CPU, mechanism, case of a plan or data type.

Most rows show the marks of a summary, from the median to the worst value, joined by a thin line.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, literal
from tautochrone.answer.charts.scales import Scale, bands, beside, by_run, lanes, shapes, time
from tautochrone.answer.charts.signs import CIRCLE, DIAMOND, SQUARE, TRIANGLE_RIGHT, Sign
from tautochrone.answer.charts.theme import MUTED, series_tone
from tautochrone.answer.series import Series, is_signed, runs_of, sources_of, usual_size_ns
from tautochrone.answer.typeset import duration
from tautochrone.judge.rows import Published
from tautochrone.statistics.summary import Summary

SUMMARY_MARKS = {"median": "circle", "99 %": "square", "worst": "triangle-right"}
CELL_MARKS = {"median": "circle", "99.9 %": "diamond", "99.999 %": "square", "max": "triangle-right"}
CPU_MARKS = {"median": "circle", "99 %": "square", "99.9 %": "diamond", "max": "triangle-right"}
"""What the marks of each kind of chart mean, and their shapes; `key_of` has their signs for a page's key."""

_OUTLINES = {"circle": CIRCLE, "square": SQUARE, "diamond": DIAMOND, "triangle-right": TRIANGLE_RIGHT}
_LEAST = {"min": "triangle-left"}  # where values lie on both sides of 0
_QUANTILES = {0.5: "median", 0.99: "99 %", 0.999: "99.9 %", 0.99999: "99.999 %"}
_ROOM_TO_LEFT = 0.85  # of the least value, so that its mark keeps off the names
_ROOM_TO_RIGHT = 0.85  # of the scale: up to there a word has room
_ROW_PX, _TALL_ROW_PX = 30, 38
_LONGEST_LINE, _FEW_LANES = 30, 5


def key_of(marks: Mapping[str, str], shown: Collection[str] | None = None) -> tuple[Sign, ...]:
    """Return the key of a chart's marks: of all, or of those that are shown."""
    return tuple(
        Sign(name, path=_OUTLINES[shape]) for name, shape in marks.items() if shown is None or name in shown
    )


def _marked(summary: Summary, marks: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return what is marked of a summary, in ns; a quantile with too few samples has no mark."""
    quantiles = [
        (_QUANTILES[one.q], one.value)
        for one in summary.quantiles
        if _QUANTILES.get(one.q) in marks and one.value is not None
    ]
    least = [("min", summary.minimum)] if "min" in marks else []
    return [*least, *quantiles, (list(marks)[-1], summary.maximum)]


def _in_words(marked: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{what} {duration(value)}" for what, value in marked)


def _joined(
    points: Sequence[Row],
    x: Scale,
    marks: Mapping[str, str],
    tooltip: Sequence[object],
    *,
    size: int,
    opacity: float = 0.55,
    legend: bool = False,
    **channels: Any,
) -> list[Layer]:
    """Draw the marks of each row, hollow unless ``filled``, and a line from its least to its largest."""
    base = Rows(points, **channels)
    shape = shapes("what", marks, with_legend=legend)
    layers = [base.rule(x=x.of("min(at)"), x2="max(at)", strokeWidth=1.5, opacity=opacity)]
    for filled in (True, False):
        if own := [one for one in points if one.get("filled", True) == filled]:
            look = {"size": size} if filled else {"filled": False, "size": size - 8, "strokeWidth": 1.8}
            stands = Rows(own, **channels, x=x.of("at"), shape=shape)
            layers.append(stands.point(**look, tooltip=tooltip))
    return layers


# CPU beside CPU.


def cpus(series: Sequence[Series], *, title: str = "Latency", legend: bool = True) -> Chart:
    """Draw median, rare quantiles and maximum of every source and run on one scale of time.

    A quantile for which there are too few samples has no mark.
    """
    runs, sources = runs_of(series), sources_of(series)
    marks = {**_LEAST, **CPU_MARKS} if is_signed(series) else CPU_MARKS
    marked = {id(one): _of_series(one, marks) for one in series}
    found = [(one, what, value) for one in series for what, value in marked[id(one)]]
    x = time([value for _, _, value in found], title, knee_ns=usual_size_ns(series))
    points = [
        {
            "run": one.run,
            "source": one.source,
            "what": what,
            "at": x.standing(value),
            "words": duration(value),
        }
        for one, what, value in found
    ]
    layers = _joined(
        points,
        x,
        marks,
        ["source", "run", ("what", "which"), ("words", "value")],
        size=70,
        legend=legend,
        y=bands("source", sources, padding=(0.25, 0.15), labelLimit=190),
        yOffset=lanes("run", runs),
        color=by_run(runs, with_legend=legend and len(runs) > 1),
    )
    said = [f"{one.source}, {one.run}: {_in_words(marked[id(one)])}" for one in series]
    words = "Median, rare quantiles and maximum per source. " + "; ".join(said) + "."
    return Chart(layers, len(sources) * (22 * len(runs) + 16) + 16, words)


def _of_series(one: Series, marks: Mapping[str, str]) -> list[tuple[str, int]]:
    assert one.summary is not None, "the per-CPU chart needs a summary of each series"
    return _marked(one.summary, marks)


# Case beside case of a plan.


@dataclass(frozen=True)
class CellLine:
    """One case, by a name that no other has, with a lane for each of its repetitions, by their numbers."""

    name: str
    rank: int
    repetitions: tuple[tuple[int, Summary], ...]

    def marks(self) -> Iterator[tuple[int, str, int]]:
        """Yield the number of a repetition, what is marked of it, and where, in ns."""
        for number, summary in self.repetitions:
            for what, value in _marked(summary, CELL_MARKS):
                yield number, what, value


def cells(lines: Sequence[CellLine], *, span_ns: Sequence[float], title: str) -> Chart:
    """Draw each repetition's median, rare quantiles and maximum; ``span_ns`` is what all panels hold."""
    least = min(span_ns)
    x = time([*span_ns, least * _ROOM_TO_LEFT if least > 0 else least], title)
    numbers = sorted({number for line in lines for number, _ in line.repetitions})
    points = [
        {
            "name": _two_lines(line.name),
            "said": line.name,
            "repetition": number,
            "what": what,
            "at": x.standing(value),
            "words": duration(value),
            "color": series_tone(line.rank),
        }
        for line in lines
        for number, what, value in line.marks()
    ]
    layers = _joined(
        points,
        x,
        CELL_MARKS,
        [("said", "cell"), "repetition", ("what", "which"), ("words", "value")],
        size=60 if len(numbers) <= _FEW_LANES else 30,
        opacity=0.45,
        y=bands("name", [_two_lines(line.name) for line in lines], padding=(0.3, 0.2), labelLimit=230),
        yOffset=lanes("repetition", numbers, 0.1, fixed=True),
        color=literal("color"),
    )
    row = min(78, max(30, 10 * len(numbers) + 12))
    said = [
        f"{line.name}: worst {duration(max(summary.maximum for _, summary in line.repetitions))} of "
        f"{len(line.repetitions)} repetitions"
        for line in lines
    ]
    words = "Median, rare quantiles and maximum of each repetition of each case. " + "; ".join(said) + "."
    return Chart(layers, row * len(lines) + row // 2, words)


def extent_of_cells(lines: Sequence[CellLine]) -> list[float]:
    """Return the values, in ns, that a scale for these lines must hold."""
    return [float(value) for line in lines for _, _, value in line.marks()]


def _two_lines(name: str) -> str:
    """Return a long name broken at the comma next to its middle."""
    commas = [at for at in range(len(name)) if name.startswith(", ", at)]
    if len(name) <= _LONGEST_LINE or not commas:
        return name
    at = min(commas, key=lambda comma: abs(comma - len(name) // 2))
    return f"{name[: at + 1]}\n{name[at + 2 :]}"


# Mechanism beside mechanism, once for each placement.


@dataclass(frozen=True)
class MechanismLane:
    """One mechanism in one placement, "one CPU" or "two CPUs"; lanes of a mechanism lie together."""

    mechanism: str
    placement: str
    summary: Summary

    def marks(self) -> list[tuple[str, int]]:
        """Return what is marked, and where, in ns."""
        return [(what, max(value, 1)) for what, value in _marked(self.summary, SUMMARY_MARKS)]

    def words(self) -> str:
        """Return the marks in words."""
        return _in_words(_marked(self.summary, SUMMARY_MARKS))


def mechanisms(
    measured: Sequence[MechanismLane],
    *,
    span_ns: Sequence[float],
    title: str,
    rank: int = 0,
    legend: bool = True,
) -> Chart:
    """Draw median, 99 % and worst; the first placement has filled marks, the others have hollow ones.

    The scale holds ``span_ns``, the values of all panels of the figure.
    """
    names = list(dict.fromkeys(lane.mechanism for lane in measured))
    placements = list(dict.fromkeys(lane.placement for lane in measured))
    x = time(span_ns, title)
    y = bands("mechanism", names, padding=(0.3, 0.15), labelLimit=140)
    offset = lanes("placement", placements, None, fixed=True)
    points = [
        {
            "mechanism": lane.mechanism,
            "placement": lane.placement,
            "what": what,
            "at": at,
            "words": duration(value),
            "filled": lane.placement == placements[0],
        }
        for lane in measured
        for (what, at), (_, value) in zip(lane.marks(), _marked(lane.summary, SUMMARY_MARKS), strict=True)
    ]
    layers = _joined(
        points,
        x,
        SUMMARY_MARKS,
        ["mechanism", ("placement", "on"), ("what", "which"), ("words", "value")],
        size=60,
        legend=legend,
        y=y,
        yOffset=offset,
        color=series_tone(rank),
    )
    if len(placements) > 1:
        first = {lane.placement: lane for lane in reversed(measured)}
        layers += [_placement(lane, x, y, offset) for lane in first.values()]
    said = "; ".join(f"{lane.mechanism} on {lane.placement}: {lane.words()}" for lane in measured)
    height = len(names) * (17 * len(placements) + 12) + 12
    return Chart(layers, height, f"Median, 99 % and worst of each mechanism. {said}.")


def _placement(lane: MechanismLane, x: Scale, y: Channel, offset: Channel) -> Layer:
    """Return the placement in words, right of the lane or, where there is no room, left of it."""
    stands = [at for _, at in lane.marks()]
    to_right = x.place(max(stands)) < _ROOM_TO_RIGHT
    at = max(stands) if to_right else min(stands)
    row = {"mechanism": lane.mechanism, "placement": lane.placement, "at": at}
    words = Rows([row], x=x.of("at"), y=y, yOffset=offset)
    return words.text("placement", baseline="middle", color=MUTED, **beside(to_right, 11))


def extent_of_mechanisms(measured: Sequence[MechanismLane]) -> list[float]:
    """Return the values, in ns, that a scale for these lanes must hold."""
    return [float(at) for lane in measured for _, at in lane.marks()]


# Row beside row, with what papers printed.


@dataclass(frozen=True)
class SummaryLine:
    """One row: measured, with a summary, or published, with ``words`` of its system, machine and year.

    No two have one name; a line break begins its second line.
    """

    name: str
    summary: Summary | None = None
    published_ns: float | None = None
    words: str = ""
    rank: int = 0

    @property
    def said(self) -> str:
        """Return its name in one line."""
        return self.name.replace("\n", ", ")


def summaries(lines: Sequence[SummaryLine], *, span_ns: Sequence[float], title: str) -> Chart:
    """Draw median, 99 % and worst of each row; faint strokes are what papers printed.

    The scale holds ``span_ns``, the values of all panels of the figure.
    """
    x = time([*span_ns, min(span_ns) * _ROOM_TO_LEFT], title)
    y = bands("name", [line.name for line in lines], labelLimit=190)
    points = [
        {
            "name": line.name,
            "said": line.said,
            "what": what,
            "at": max(value, 1),
            "words": duration(value),
            "color": series_tone(line.rank),
        }
        for line in lines
        if line.summary is not None
        for what, value in _marked(line.summary, SUMMARY_MARKS)
    ]
    printed = [
        {"name": line.name, "at": line.published_ns, "words": f"{duration(line.published_ns)}, {line.words}"}
        for line in lines
        if line.published_ns is not None
    ]
    tooltip = [("said", "row"), ("what", "which"), ("words", "value")]
    strokes = Rows(printed, x=x.of("at"), y=y)
    layers = [
        *_joined(points, x, SUMMARY_MARKS, tooltip, size=70, y=y, color=literal("color")),
        strokes.tick(
            thickness=3, size=14, color=MUTED, opacity=0.55, tooltip=["name", ("words", "published")]
        ),
    ]
    row = _TALL_ROW_PX if any("\n" in line.name for line in lines) else _ROW_PX
    said = [
        f"{line.said}, published: {duration(line.published_ns)}"
        if line.summary is None
        else f"{line.said}: median {duration(_middle(line.summary))}, worst {duration(line.summary.maximum)}"
        for line in lines
        if line.summary is not None or line.published_ns is not None
    ]
    words = f"Median, 99 % and worst of each row. {'; '.join(said)}."
    return Chart(layers, row * len(lines) + row // 2, words)


def printed(published: Sequence[Published], row: str) -> list[SummaryLine]:
    """Return a line for each number that papers printed of this row."""
    return [
        SummaryLine(
            f"{one.system} ({one.year})", None, one.values_ns[row], f"{one.paper}, {one.machine}, {one.year}"
        )
        for one in published
        if row in one.values_ns
    ]


def summary_figure(
    title: str, groups: Mapping[str, Sequence[SummaryLine]], prefix: str, caption: str
) -> list[Figure]:
    """Return the figure of a panel for each group of lines, by its title, on one scale; none of none."""
    span_ns = [value for lines in groups.values() for value in extent_of_summaries(lines)]
    panels = tuple(
        Panel(f"{prefix}-rows", name, summaries(lines, span_ns=span_ns, title="duration"), at)
        for at, (name, lines) in enumerate(groups.items())
    )
    return [Figure(title, panels, (caption,), key_of(SUMMARY_MARKS))] if panels else []


def extent_of_summaries(lines: Sequence[SummaryLine]) -> list[float]:
    """Return the values, in ns, that a scale for these lines must hold."""
    found: list[float] = []
    for line in lines:
        if line.summary is not None:
            found += [max(1.0, one) for one in (_middle(line.summary), float(line.summary.maximum))]
        if line.published_ns is not None:
            found.append(line.published_ns)
    return found


def _middle(summary: Summary) -> float:
    value = summary.quantile(0.5)
    return float(summary.minimum if value is None else value)
