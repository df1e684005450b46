"""Two virtual machines in the terminal, and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.console import show_part
from tautochrone.answer.render.terminal import band_lines
from tautochrone.answer.terminal import show_grid
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration
from tautochrone.lab_diff.calls import Call
from tautochrone.lab_diff.differences import Comparison
from tautochrone.lab_diff.measure import SIDES
from tautochrone.lab_diff.results import NOT_THE_RESULT, Results, latency
from tautochrone.lab_diff.window import Window

# The tables of two virtual machines: side by side, how far apart, and the worst release in its
# parts.


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


def show_results(console: Console, results: Results) -> None:
    """Print the answer, where they differ, and what held the worst release up."""
    wrap = not console.is_terminal
    for line in band_lines(results.manifests):
        console.print(line, soft_wrap=wrap)
    console.print(Text(f"\n{results.headline}", style="bold"), soft_wrap=wrap)
    for title, show in (("The machines", _show_machines), ("Where they differ", _show_differences)):
        show_part(console, title, show, console, results)
    for side, manifest in zip(SIDES, results.manifests, strict=True):
        console.print(Text(f"{side} closely: tauto show {manifest.id}", style="dim"), soft_wrap=True)


def _show_machines(console: Console, results: Results) -> None:
    for part in show_grid(console, machines(results)):
        console.print(part)


def _show_differences(console: Console, results: Results) -> None:
    console.print()
    for sentence in (*results.differences(), *results.explanation()):
        console.print(Text(sentence), soft_wrap=not console.is_terminal)
    grids = (steps(results), waits(results), functions(results))
    for grid in grids if results.differ else ():
        for part in show_grid(console, grid) if grid is not None else ():
            console.print(part)


def as_table(results: Results) -> dict[str, Any]:
    """The same as JSON has it; times in nanoseconds."""
    found, question = results.found, results.found.question
    name, timed = results.named, results.found.timed
    return {
        "a": {"machine": question.system("A"), "run": results.manifests[0].id},
        "b": {"machine": question.system("B"), "run": results.manifests[1].id},
        "load": question.load.name,
        "headline": results.headline,
        "identical": results.identical,
        "slower": results.slower if results.differ else None,
        "loops": [_comparison(one) for one in found.compared],
        "name": None if name is None else {**asdict(name), "function": name.function},
        "traced_runs": {
            "about": NOT_THE_RESULT,
            "why_not": found.not_traced or None,
            "lost_events": found.lost,
            "stacks": {side: _window(results.worst_window(side)) for side in SIDES},
            "timed": None
            if timed is None
            else {
                "release": timed.window.number,
                "latency_ns": timed.latency_ns,
                "functions": [asdict(one) for one in timed.shares],
                "calls": [_call(one, timed.window.release_ns) for one in timed.nested],
            },
        },
        "sentences": [*results.differences(), *results.explanation()],
        "warnings": list(dict.fromkeys(one.text for both in results.manifests for one in both.warnings)),
    }


def _comparison(one: Comparison) -> dict[str, Any]:
    return {
        "source": one.a.source,
        "releases": one.compared,
        "threshold_ns": one.threshold_ns,
        "identical": one.identical,
        "first": one.first,
        "differing": one.differing,
        "steps": [asdict(step) for step in one.steps],
        "worst": {
            side: {"release": loop.worst, "latency_ns": loop.worst_ns, "missed": loop.missed}
            for side, loop in zip(SIDES, (one.a, one.b), strict=True)
        },
    }


def _window(window: Window | None) -> dict[str, Any] | None:
    if window is None:
        return None
    return {
        "release": window.number,
        "latency_ns": window.latency_ns,
        "before_waking_ns": window.before_waking_ns,
        "before_switch_ns": window.before_switch_ns,
        "after_switch_ns": window.after_switch_ns,
        "cause": window.cause,
        "sections_that_forbid_preemption": window.held,
        "task": window.task,
        "interrupted": window.interrupted,
        "given_up": window.given_up,
        "inside": window.chain,
    }


def _call(call: Call, since_ns: int) -> dict[str, Any]:
    return {
        "function": call.function,
        "task": call.task,
        "begin_ns": call.begin_ns - since_ns,
        "total_ns": call.total_ns,
        "self_ns": call.self_ns,
        "inner": [_call(one, since_ns) for one in call.inner],
    }
