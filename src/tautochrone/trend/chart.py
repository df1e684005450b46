"""One number of run after run: points with their intervals, the levels between lasting changes."""

from collections.abc import Sequence

from tautochrone.answer.charts.grammar import Chart, Layer, Row, Rows, fixed
from tautochrone.answer.charts.scales import Scale, linear, shapes, time
from tautochrone.answer.charts.theme import INK, MUTED, series_tone
from tautochrone.answer.typeset import micro
from tautochrone.base.words import capital
from tautochrone.trend import words
from tautochrone.trend.judge import TrendLine, TrendPoint
from tautochrone.trend.values import TrendMetric

_HEIGHT_PX, _LABELS = 220, 6
_MOST_LETTERED = 12
_PER_MILLION = 1e6
_ROOM = 1.15  # of shares, above the largest


def chart(line: TrendLine, metric: TrendMetric, name: str) -> Chart:
    """Draw one line of runs, in the order in which they were measured; ``name`` it for who can't see it."""
    y = _y(line, metric)
    labels = _labels(line.points)
    x = linear(
        0.5,
        len(line.points) + 0.5,
        "Run, and when it was measured (UTC)",
        values=list(labels),
        labelExpr="".join(f"datum.value == {at} ? '{text}' : " for at, text in labels.items()) + "''",
        labelOverlap="greedy",
        labelSeparation=8,
    )
    rows = [_row(at, one, metric, y) for at, one in enumerate(line.points)]
    color = series_tone(0)
    sure = Rows([row for row in rows if row["low"] is not None], x=x.of("index"), y=y.of("low"))
    layers = [
        *_changes(line, x),
        *_levels(line, metric, x, y),
        sure.rule(y2="high", strokeWidth=1.5, opacity=0.55, color=color),
        Rows(rows, x=x.of("index"), y=y.of("at")).point(
            size=42,
            color=color,
            shape=shapes("kind", {"known": "circle", "at least": "triangle-up"}),
            tooltip=[
                "run",
                ("when", "when (UTC)"),
                ("words", metric.name),
                ("interval", "95 % interval"),
                "samples",
                "changed",
            ],
        ),
    ]
    said = words.sentences(line, metric)
    told = micro(f"{metric.text} of {len(line.points)} runs, {name}. {' '.join(said)}")
    return Chart(layers, _HEIGHT_PX, told)


def lettered(line: TrendLine) -> list[tuple[str, TrendPoint]]:
    """Return the runs at which facts changed, each with the letter that marks it; of many the latest."""
    marked = [one for one in line.points if one.changed][-_MOST_LETTERED:]
    return [(chr(ord("a") + at), one) for at, one in enumerate(marked)]


def _y(line: TrendLine, metric: TrendMetric) -> Scale:
    ends = [
        float(end)
        for one in line.points
        for end in (one.value.value, one.value.low, one.value.high)
        if end is not None
    ]
    return axis(ends, metric)


def axis(values: Sequence[float], metric: TrendMetric) -> Scale:
    """Return the scale of a number, of times or of a million releases, that holds all these values."""
    if metric.is_share:
        made = linear(
            0,
            max(values) * _PER_MILLION * _ROOM or 1.0,
            "Missed of a million releases" if metric.kind == "misses" else "Late of a million cycles",
            grid=True,
            format="~s",
        )
        return Scale({**made.scale, "nice": True}, made.axis)
    return time(values, capital(metric.text))


def standing(value: float | None, metric: TrendMetric, y: Scale) -> float | None:
    """Return where a value stands on the scale of its metric."""
    if value is None:
        return None
    return value * _PER_MILLION if metric.is_share else y.standing(value)


def _row(at: int, one: TrendPoint, metric: TrendMetric, y: Scale) -> Row:
    value = one.value
    # An interval that has no upper end reaches the top.
    top = y.high if value.low is not None and value.high is None else value.high
    return {
        "index": at + 1,
        "at": standing(value.value, metric, y),
        "low": standing(value.low, metric, y),
        "high": standing(top, metric, y),
        "kind": "at least" if value.beyond else "known",
        "run": one.run,
        "when": words.date_of(one),
        "words": micro(words.shown(value, metric)),
        "interval": micro(words.interval(value, metric)) or "none",
        "samples": f"{value.samples:,}",
        "changed": words.changed_words(one.changed) or "nothing",
    }


def _levels(line: TrendLine, metric: TrendMetric, x: Scale, y: Scale) -> list[Layer]:
    """The level of each stretch between two steps, and a line where it changes."""
    steps = line.steps or ()
    if not steps:
        return []
    ends = [0, *(step.index for step in steps), len(line.points)]
    levels = [steps[0].before, *(step.after for step in steps)]
    segments = [
        {"index": begin + 0.5, "end": end + 0.5, "at": standing(level, metric, y)}
        for begin, end, level in zip(ends, ends[1:], levels, strict=False)
    ]
    marks = [{"index": step.index + 0.5} for step in steps]
    level = Rows(segments, x=x.of("index"), x2="end", y=y.of("at"))
    return [
        Rows(marks, x=x.of("index")).rule(strokeWidth=1.5, color=series_tone(1)),
        level.rule(strokeWidth=2.5, strokeDash=[6, 3], color=series_tone(1)),
    ]


def _changes(line: TrendLine, x: Scale) -> list[Layer]:
    """A letter at the top of each run at which facts changed."""
    number = {one.run: at for at, one in enumerate(line.points)}
    marks = [{"index": number[one.run] + 0.5, "letter": letter} for letter, one in lettered(line)]
    if not marks:
        return []
    base = Rows(marks, x=x.of("index"))
    look = {"align": "left", "baseline": "top", "dx": 3, "fontSize": 12, "fontWeight": 600, "color": INK}
    return [base.rule(strokeDash=[2, 3], strokeWidth=1, color=MUTED), base.text("letter", y=fixed(0), **look)]


def _labels(points: Sequence[TrendPoint]) -> dict[int, str]:
    """By the number of a run its day; the first runs of some days. Of a single day the hours of some runs."""
    days = [one.created[:10] for one in points]
    if len(set(days)) > 1:
        firsts = [at for at, day in enumerate(days) if not at or day != days[at - 1]]
        texts = days
    else:
        firsts = list(range(len(points)))
        texts = [one.created[11:16] for one in points]
    every = max(1, -(-len(firsts) // _LABELS))
    return {at + 1: texts[at] for at in firsts[::every]}
