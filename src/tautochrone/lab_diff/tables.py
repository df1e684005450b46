"""The tables of two virtual machines: side by side, how far apart, and the worst release in its parts."""

from collections.abc import Iterator

from tautochrone.answer.blocks import Grid
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration
from tautochrone.lab_diff.measure import SIDES
from tautochrone.lab_diff.results import NOT_THE_RESULT, Results, latency
from tautochrone.lab_diff.window import Window

_NA = "N/A"
_MOST_FUNCTIONS = 12


def machines(results: Results) -> Grid:
    """A and B."""
    return Grid(
        "",
        ("", "machine", "kernel", "releases", "missed", "median", "worst", "at release", "the other there"),
        tuple(_machine(results, side) for side in SIDES),
        words=("machine", "kernel"),
    )


def _machine(results: Results, side: str) -> tuple[str, ...]:
    loop = results.loop(side)
    other = results.loop(SIDES[1 - SIDES.index(side)])
    virtual = results.manifests[SIDES.index(side)].conditions.get("virtual") or {}
    served = loop.latency_ns[loop.latency_ns >= 0]
    return (
        side,
        results.found.question.name(side),
        str(virtual.get("release") or _NA),
        number(len(loop.latency_ns)),
        number(loop.missed),
        format_duration(float(sorted(served.tolist())[len(served) // 2])) if len(served) else _NA,
        latency(loop.worst_ns) if loop.worst is not None else _NA,
        number(loop.worst) if loop.worst is not None else _NA,
        latency(other.latency(loop.worst)) if loop.worst is not None else _NA,
    )


def steps(results: Results) -> Grid:
    """From where on they differ by how much."""
    one = results.worst
    return Grid(
        "How far they are apart",
        ("more than", "first at release", "after", "on A", "on B", "releases", "of"),
        tuple(
            (
                format_duration(step.more_than_ns),
                number(step.first) if step.first is not None else "none",
                format_duration(step.first * one.a.period_ns) if step.first is not None else "",
                latency(one.a.latency(step.first)) if step.first is not None else "",
                latency(one.b.latency(step.first)) if step.first is not None else "",
                number(step.count),
                number(one.compared),
            )
            for step in one.steps
        ),
        ("A release that one of them missed differs by more than any of these.",),
    )


def waits(results: Results) -> Grid | None:
    """The worst release of each run whose stacks were noted; None: there is none."""
    rows = tuple(_rows_of_waits(results))
    if not rows:
        return None
    return Grid(
        "The worst release, with stacks noted",
        (
            "",
            "release",
            "latency",
            "untraced worst",
            "interrupts off",
            "not preempted",
            "switch and return",
            "inside",
            "of task",
        ),
        rows,
        (NOT_THE_RESULT,),
        words=("inside", "of task"),
    )


def _rows_of_waits(results: Results) -> Iterator[tuple[str, ...]]:
    for side in SIDES:
        window = results.worst_window(side)
        if window is None:
            continue
        loop = results.loop(side)
        yield (
            results.name(side),
            number(window.number),
            format_duration(window.latency_ns),
            latency(loop.worst_ns),
            _time(window.before_waking_ns),
            _time(window.before_switch_ns),
            _time(window.after_switch_ns),
            _inside(window),
            window.task or _NA,
        )


def _inside(window: Window) -> str:
    return window.chain[-1] if window.chain else "a program, or idle" if window.waking else _NA


def functions(results: Results) -> Grid | None:
    """What the timed functions took of the worst release; None: none was timed."""
    timed = results.found.timed
    if timed is None or not timed.shares:
        return None
    loop = results.loop(results.slower)
    return Grid(
        f"The worst release of {results.name(results.slower)}, with timed calls",
        ("function", "by itself", "with its callees", "calls", "called by"),
        tuple(
            (
                one.function,
                format_duration(one.self_ns),
                format_duration(one.total_ns),
                number(one.calls),
                one.chain[-2] if len(one.chain) > 1 else "-",
            )
            for one in timed.shares[:_MOST_FUNCTIONS]
        ),
        (
            f"Release {timed.window.number:,} of the run with timed calls: "
            f"{format_duration(timed.latency_ns)}; without tracing, the worst is {latency(loop.worst_ns)}. "
            f"{len(results.found.functions)} functions were timed: those on the stacks of late releases, and "
            "some that are known to take long. "
            "What a function called and is not among them counts as its own.",
        ),
        words=("called by",),
    )


def _time(ns: int | None) -> str:
    return _NA if ns is None else format_duration(ns)
