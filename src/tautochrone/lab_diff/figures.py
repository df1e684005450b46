"""The figures: both loops over time, and the calls during the worst wait."""

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import series_tone
from tautochrone.answer.typeset import duration
from tautochrone.lab_diff import charts
from tautochrone.lab_diff.measure import SIDES
from tautochrone.lab_diff.results import NOT_THE_RESULT, Results

_LATENCIES = (
    "Each stretch of time shows its least and its largest value; no extreme is left out. Missed releases "
    "have no value."
)
_CALLS = (
    "From the release to the first time stamp of its thread. Each bar is a call, below the one that it was "
    "called by; its shade says what share of the wait passed in all calls of this function, without what it "
    "called."
)


def latencies(results: Results) -> Figure:
    """Of the loop that was served latest, on both machines."""
    loops = [(results.name(side), results.loop(side)) for side in SIDES]
    drawn = charts.two_loops(loops, results.worst.first)
    key = tuple(Sign(name, dash="", tone=series_tone(at)) for at, (name, _) in enumerate(loops))
    return Figure("Latency of each release", (Panel(Place("diff-latencies"), "", drawn),), (_LATENCIES,), key)


def calls(results: Results) -> Figure | None:
    """During the worst wait of the slower machine; None: none was timed."""
    timed = results.found.timed
    if timed is None or not timed.nested:
        return None
    drawn = charts.calls(timed.nested, timed.window.release_ns, timed.latency_ns)
    title = f"What the kernel of {results.name(results.slower)} did for {duration(timed.latency_ns)}"
    return Figure(
        title, (Panel(Place("diff-calls"), "", drawn),), (_CALLS, NOT_THE_RESULT), charts.key_of_calls()
    )
