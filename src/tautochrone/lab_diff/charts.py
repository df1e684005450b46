"""The figures: both loops over the same releases, and the calls during the worst wait.

Each call stands below the one that it was called by.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts.course import band
from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told, fixed, literal
from tautochrone.answer.charts.scales import Scale, beside, by_run, seconds, time, worded_lines
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import PAPER_TONE, heat_tone, ink_upon, series_tone
from tautochrone.answer.typeset import duration, number
from tautochrone.base.units import format_percent
from tautochrone.lab_diff.calls import Call, shares
from tautochrone.lab_diff.differences import MISSING, Loop
from tautochrone.lab_diff.question import SIDES
from tautochrone.lab_diff.results import NOT_THE_RESULT, DiffResults

_LATENCIES = (
    "Each stretch of time shows its least and its largest value; no extreme is left out. Missed releases "
    "have no value."
)
_CALLS = (
    "From the release to the first time stamp of its thread. Each bar is a call, below the one that it was "
    "called by; its shade says what share of the wait passed in all calls of this function, without what it "
    "called."
)
_STRETCHES_OF_LOOP = 320
_HEADROOM_OF_TWO, _FOOTROOM_OF_TWO = 2.2, 2.0


def latencies(results: DiffResults) -> Figure:
    """Draw the loop that was served latest, on both machines."""
    loops = [(results.name(side), results.loop(side)) for side in SIDES]
    drawn = _two_loops(loops, results.worst.first)
    key = tuple(Sign(name, dash="", tone=series_tone(at)) for at, (name, _) in enumerate(loops))
    return Figure("Latency of each release", (Panel("diff-latencies", "", drawn),), (_LATENCIES,), key)


def calls(results: DiffResults) -> Figure | None:
    """Draw the worst wait of the slower machine; None: none was timed."""
    timed = results.timed
    if timed is None or not timed.nested:
        return None
    drawn = _calls(timed.nested, timed.window.release_ns, timed.latency_ns)
    title = f"What the kernel of {results.name(results.slower)} did for {duration(timed.latency_ns)}"
    return Figure(title, (Panel("diff-calls", "", drawn),), (_CALLS, NOT_THE_RESULT), _key_of_calls())


def _two_loops(loops: Sequence[tuple[str, Loop]], first: int | None) -> Chart:
    """Draw the latencies of loops over seconds since release 0.

    Args:
        first: the first release that differs; None: none does.
    """
    rows = [row for name, loop in loops for row in _stretches_of(name, loop)]
    y = time(
        [*(row["low"] / _FOOTROOM_OF_TWO for row in rows), *(row["high"] * _HEADROOM_OF_TWO for row in rows)]
        or [1],
        "latency, least to largest",
        sparse=True,
    )
    last_s = max((row["t"] for row in rows), default=1.0)
    x = seconds(last_s, "time since release 0 (s)").of("t")
    color = by_run([name for name, _ in loops])
    high = max((loop for _, loop in loops), key=lambda loop: loop.worst_ns or 0)
    layers = band(rows, x, y, 1.2, color=color)
    if first is not None:
        at_s = first * loops[0][1].period_ns / 1e9
        row = {"t": at_s, "words": f"first difference: release {number(first)}"}
        words = {"y": fixed(2), "baseline": "top", **beside(True)}
        layers += worded_lines([row], {"x": x}, words, strokeWidth=1.2, strokeDash=[5, 3])
    for name, loop in loops:
        layers += _worst_of(name, loop, color, x, y, last_s, above=loop is high)
    return Chart(layers, 230, _describe_loops(loops, first))


def _describe_loops(loops: Sequence[tuple[str, Loop]], first: int | None) -> str:
    parts = [
        f"{name}: largest {duration(loop.worst_ns)} at release {number(loop.worst)}" for name, loop in loops
    ]
    apart = f"They first differ at release {number(first)}." if first is not None else "They do not differ."
    return f"Latency over time since release 0, of both machines. {'; '.join(parts)}. {apart}"


def _stretches_of(name: str, loop: Loop) -> Iterator[Row]:
    length = max(1, -(-len(loop.latency_ns) // _STRETCHES_OF_LOOP))
    for start in range(0, len(loop.latency_ns), length):
        served = loop.latency_ns[start : start + length]
        served = served[served != MISSING]
        if len(served):
            yield {
                "run": name,
                "t": round(start * loop.period_ns / 1e9, 6),
                "low": max(1, int(served.min())),
                "high": max(1, int(served.max())),
            }


def _worst_of(
    name: str, loop: Loop, color: Channel, x: Channel, y: Scale, last_s: float, *, above: bool
) -> list[Layer]:
    """Return the largest latency and its words, upon a halo, since the loops run below them."""
    if loop.worst is None or loop.worst_ns is None:
        return []
    t = loop.worst * loop.period_ns / 1e9
    words = f"{duration(loop.worst_ns)} at {number(loop.worst)}"
    point = {"run": name, "t": t, "high": max(1, loop.worst_ns), "words": words}
    base = Rows([point], x=x, y=y.of("high"), color=color)
    place = {**beside(t < last_s / 2, 7), "dy": -7 if above else 14, "fontWeight": 600}
    halo = {"stroke": PAPER_TONE, "strokeWidth": 5, "strokeJoin": "round"}
    return [base.point(size=40), base.text("words", **place, **halo), base.text("words", **place)]


# Calls: a bar for each, below the one that it was called by.

_CALL_PX = 24
_CALL_FILLED = 0.92  # of a row; the rest is the gap below it
_MOST_BARS, _MOST_TICKS = 600, 9
_LEAST_SHARE = 0.002  # of the wait: a shorter bar would be a line
_LETTER_SHARE = 0.0105  # of the width of the chart, about what a letter takes
_SHADES = (0.02, 0.1, 0.3, 0.6)
"""Of the wait, what passed in all calls of a function and in nothing that it called: where a shade begins."""


def _calls(nested: Sequence[Call], release_ns: int, latency_ns: int) -> Chart:
    """Draw timed calls over the wait of one release, a bar for each."""
    shades = {one.function: bisect_right(_SHADES, one.self_ns / latency_ns) for one in shares(nested)}
    # The longest is drawn however short it is, or there would be nothing.
    least = min(_LEAST_SHARE * latency_ns, max(one.total_ns for one in nested))
    found = [
        (call, depth, _call(call, depth, release_ns, latency_ns, shades[call.function]))
        for call, depth in _deep(nested, 0, least)
    ]
    found = sorted(found, key=lambda one: -one[0].total_ns)[:_MOST_BARS]
    rows = [row for _, _, row in found]
    deepest = max(depth for _, depth, _ in found) + 1
    x = _since_release(latency_ns).of("begin")
    y = Scale({"domain": [0, deepest], "reverse": True, "nice": False}, None)
    boxes = Rows(rows, x=x, x2="end", y=y.of("top"), y2="bottom", color=literal("fill"))
    told: list[Told] = ["function", ("total", "with its callees"), ("self", "by itself"), "task"]
    named = Rows([row for row in rows if row["words"]], x=x, y=y.of("middle"), color=literal("ink"))
    layers = [
        boxes.rect(stroke=PAPER_TONE, strokeWidth=0.7, tooltip=told),
        named.text("words", align="left", baseline="middle", dx=5, fontSize=11),
    ]
    return Chart(layers, deepest * _CALL_PX, _describe_calls(nested, latency_ns))


def _key_of_calls() -> tuple[Sign, ...]:
    edges = [format_percent(share) for share in _SHADES]
    words = [f"below {edges[0]}", *(f"from {edge}" for edge in edges)]
    return tuple(Sign(text, path="M5 1h12v10H5z", tone=heat_tone(at)) for at, text in enumerate(words))


def _describe_calls(nested: Sequence[Call], latency_ns: int) -> str:
    chain = [max(nested, key=lambda one: one.total_ns)]
    while chain[-1].inner:
        chain.append(max(chain[-1].inner, key=lambda one: one.total_ns))
    said = ", in it ".join(f"{one.function} {duration(one.total_ns)}" for one in chain)
    return f"Calls during a wait of {duration(latency_ns)}; the longest: {said}."


def _since_release(latency_ns: int) -> Scale:
    """Return the scale from the release to the end of the wait, with about eight round instants."""
    sizes = (size * 10**power for power in range(12) for size in (1, 2, 5))
    step = next(one for one in sizes if one * _MOST_TICKS >= latency_ns)
    axis = time([latency_ns], "time since the release", grid=False).axis or {}
    ticks = list(range(0, latency_ns + 1, step))
    return Scale({"domain": [0, latency_ns], "nice": False}, {**axis, "values": ticks})


def _deep(nested: Sequence[Call], depth: int, least_ns: float) -> Iterator[tuple[Call, int]]:
    """Yield every call that took at least so long, and how many others it is within."""
    for call in nested:
        if call.total_ns >= least_ns:
            yield call, depth
            yield from _deep(call.inner, depth + 1, least_ns)


def _call(call: Call, depth: int, release_ns: int, latency_ns: int, shade: int) -> Mapping[str, object]:
    share = call.total_ns / latency_ns
    label = f"{call.function} {duration(call.total_ns)}"
    return {
        "begin": call.begin_ns - release_ns,
        "end": call.end_ns - release_ns,
        "top": depth,
        "bottom": depth + _CALL_FILLED,
        "middle": depth + _CALL_FILLED / 2,
        "fill": heat_tone(shade),
        "ink": ink_upon(shade),
        "function": call.function,
        "total": duration(call.total_ns),
        "self": duration(call.self_ns),
        "task": f"{call.task}, {call.pid}",
        "words": next((one for one in (label, call.function) if len(one) * _LETTER_SHARE < share), ""),
    }
