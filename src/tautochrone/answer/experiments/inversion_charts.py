"""Three threads and a lock, as Figure 2 of garre2014, and how long the high thread waited for each lock."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.answer.charts.grammar import Chart, Row, Rows, Told, field, fixed
from tautochrone.answer.charts.lanes import BLUE, RED
from tautochrone.answer.charts.scales import bands, by_run, colors, lanes, linear, shapes, time, worded_lines
from tautochrone.answer.charts.theme import INK, MUTED
from tautochrone.answer.typeset import duration
from tautochrone.judge.inversion import ENDLESS, THREADS, Doing, LockVerdict, Scene, Span

_SCENE_LANE_PX, _SCENE_BAR_PX = 34, 22
_LETTER_PX, _NARROWEST_PX = 6, 300  # of a panel on a page
_DOING: dict[Doing, str] = {
    "works": "works",
    "waits": "waits for the lock",
    "spins": "spins for the lock",
    "held up": "can't run",
}
_DOING_TONES = dict(zip(_DOING, (BLUE, RED, RED, MUTED), strict=True))


def scenario(scene: Scene, *, until_ns: int) -> Chart:
    """Draw what threads high, middle and low did, from when low has the lock to ``until_ns``, in ns."""
    last = {span.thread: span for span in scene.spans}
    rows = [_span(span, until_ns, is_last=last[span.thread] == span) for span in scene.spans]
    x = linear(0, until_ns / 1e6, "ms since low has the lock", tickCount=6, format="~r", grid=True)
    y = bands("thread", THREADS, fixed=True, grid=False)
    told: list[Told] = ["thread", ("words", "what")]
    held = {"thread": "low", "start": 0, "end": scene.released_ns / 1e6, "words": "has the lock"}
    middle, end = (field(name, "quantitative") for name in ("middle", "end"))
    layers = [
        Rows(rows, x=x.of("start"), x2="end", y=y).bar(
            height=_SCENE_BAR_PX,
            fillOpacity=0.3,
            strokeWidth=1,
            clip=True,
            color=colors("doing", _DOING_TONES),
            stroke=colors("doing", _DOING_TONES),
            tooltip=told,
        ),
        Rows(rows, x=middle, y=y).text("inside", clip=True),
        Rows(rows, x=end, y=y).text("beside", clip=True, align="left", dx=5),
        Rows([held], x=x.of("start"), x2="end", y=y).rule(
            strokeWidth=3, color=INK, yOffset=_SCENE_BAR_PX // 2 + 3, clip=True, tooltip=told
        ),
    ]
    did = [
        f"{span.thread} {_DOING[span.doing]} from {duration(span.start_ns)} to {duration(span.end_ns)}"
        for span in scene.spans
    ]
    released = f"low gives it back at {duration(scene.released_ns)}"
    words = f"Since low has the lock: {'; '.join(did)}; {released}."
    return Chart(layers, _SCENE_LANE_PX * len(THREADS), words)


def _span(span: Span, until_ns: int, *, is_last: bool) -> Row:
    full = f"{_DOING[span.doing]}, {duration(span.lasts_ns)}"
    words = (full, _DOING[span.doing])
    inside = _fitting(words, span.lasts_ns / until_ns)
    return {
        "thread": span.thread,
        "doing": span.doing,
        "start": span.start_ns / 1e6,
        "end": span.end_ns / 1e6,
        "middle": (span.start_ns + span.end_ns) / 2e6,
        "words": full,
        "inside": inside,
        "beside": _fitting(words, 1 - span.end_ns / until_ns) if is_last and not inside else "",
    }


def _fitting(words: Sequence[str], share: float) -> str:
    """The first of ``words`` that fit this share of the chart's width; "" if none does."""
    return next((text for text in words if len(text) * _LETTER_PX <= share * _NARROWEST_PX), "")


# Lock beside lock.

WAITED, GAVE_UP = "had the lock", "gave up"
LOCK_MARKS = {WAITED: "circle", GAVE_UP: "triangle-right"}


@dataclass(frozen=True)
class LockRow:
    """One lock of one run, with its repetitions."""

    run: str
    name: str
    verdict: LockVerdict


def blocking(rows: Sequence[LockRow], limits: Sequence[tuple[str, int]]) -> Chart:
    """Draw how long the high thread was kept waiting, a line of dots per lock and run, one per repetition.

    Args:
        rows: with repetitions each.
        limits: lines across all of them: words and ns.
    """
    runs = list(dict.fromkeys(row.run for row in rows))
    names = list(dict.fromkeys(row.name for row in rows))
    dots = [dot for row in rows for dot in _repetitions(row)]
    x = time([*(float(dot["at"]) for dot in dots), *(ns for _, ns in limits)], "kept waiting")
    points = Rows(
        dots,
        x=x.of("at"),
        y=bands("name", names, labelFontSize=11, labelLimit=180),
        yOffset=lanes("run", runs),
        color=by_run(runs),
        shape=shapes("end", LOCK_MARKS),
    )
    lines = [{"at": ns, "words": words} for words, ns in limits]
    above = {"y": fixed(0), "align": "left", "baseline": "bottom", "dx": 3, "dy": -3}
    layers = [
        points.point(size=50, opacity=0.7, tooltip=[("name", "lock"), "run", ("words", "kept waiting")]),
        *worded_lines(lines, {"x": x.of("at")}, above, strokeDash=[4, 3], opacity=0.7),
    ]
    said = [
        f"{row.name}{f', {row.run}' if row.run else ''}: worst {least}{duration(row.verdict.worst_ns)}"
        for row in rows
        for least in ("at least " if row.verdict.gave_up else "",)
    ]
    words = f"How long the high thread was kept waiting. {'; '.join(said)}."
    return Chart(layers, len(names) * (16 * len(runs) + 10) + 10, words)


def _repetitions(row: LockRow) -> Iterator[Row]:
    for value, story in zip(row.verdict.blocking_ns, row.verdict.stories, strict=True):
        endless = story == ENDLESS
        yield {
            "run": row.run,
            "name": row.name,
            "at": max(1, int(value)),
            "end": GAVE_UP if endless else WAITED,
            "words": f"at least {duration(int(value))}" if endless else duration(int(value)),
        }
