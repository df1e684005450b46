"""Operations per second by type (schmidt2002, Figure 2): a part two-way, a part one-way."""

from collections.abc import Iterator, Sequence

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, Sign
from tautochrone.answer.theme import PAGE
from tautochrone.middleware import rates_chart as charts
from tautochrone.middleware.numbers import rate
from tautochrone.middleware.rates_chart import Dot
from tautochrone.middleware.throughput import answered, drained
from tautochrone.middleware.throughput_judge import Row, throughput_of
from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.report.figures.middleware_lanes import Measured, key, measured, references
from tautochrone.papers.report.figures.study import Study
from tautochrone.target.middleware import ONE_WAY, TWO_WAY

_TICK = "M10 1h2v10h-2z"
_WORDS = {TWO_WAY: "two-way, answered", ONE_WAY: "one-way, drained by the server"}
_SCALE = "The scale is logarithmic: equal distances are equal ratios, further to the right is faster."
_ONE_RUN = "Pale bars are 95 % intervals, of one run from the means of 30 batches."


def draw(figure: Figure, measurements: Measurements, prefix: str, study: Study) -> list[blocks.Figure]:
    """One part for each direction."""
    lanes = measured(figure, measurements)
    rows = {one.name: [row for run in one.runs for row in throughput_of(run).rows] for one in lanes}
    return [
        part
        for direction in (TWO_WAY, ONE_WAY)
        for part in _part(figure, lanes, rows, direction, prefix, study)
    ]


def _part(
    figure: Figure,
    lanes: Sequence[Measured],
    rows: dict[str, list[Row]],
    direction: str,
    prefix: str,
    study: Study,
) -> Iterator[blocks.Figure]:
    dots = list(_dots(lanes, rows, direction))
    if not dots:
        return
    published = references(figure, 1.0, direction)
    chart = charts.by_type(
        dots, PAGE, within=charts.span(dots, published), title=charts.OPERATIONS, references=published
    )
    signs = key([one for one in lanes if any(dot.lane == one.name for dot in dots)], published)
    if any(dot.sent is not None for dot in dots):
        signs.append(Sign("sent: not yet with the server", path=_TICK))
    caption = [_SCALE]
    if any(dot.low is not None for dot in dots):
        caption.append(_ONE_RUN)
    if published:
        caption.append(f"Black lines: {study.words}.")
    yield blocks.Figure(
        figure.title,
        (Panel(f"{prefix}-{direction}", _WORDS[direction], chart),),
        tuple(caption),
        tuple(signs),
    )


def _dots(lanes: Sequence[Measured], rows: dict[str, list[Row]], direction: str) -> Iterator[Dot]:
    every = (row.name for own in rows.values() for row in own if row.direction == direction)
    for name in dict.fromkeys(every):
        for lane in lanes:
            own = [row for row in rows[lane.name] if (row.direction, row.name) == (direction, name)]
            through, left = drained(own), answered(own)
            if through is None or left is None:
                continue
            sent = left.value if direction == ONE_WAY else None
            words = rate(through.value) + (f" ({rate(sent)} sent)" if sent else "")
            yield Dot(lane.name, lane.mark, name, through.value, through.low, through.high, sent, words=words)
