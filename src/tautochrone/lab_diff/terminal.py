"""Two virtual machines in the terminal, and as JSON."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from tautochrone.answer.console import show_part
from tautochrone.answer.terminal import band_lines, show_grid
from tautochrone.lab_diff import tables
from tautochrone.lab_diff.calls import Call
from tautochrone.lab_diff.differences import Comparison
from tautochrone.lab_diff.measure import SIDES
from tautochrone.lab_diff.results import NOT_THE_RESULT, Results
from tautochrone.lab_diff.window import Window


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
    for part in show_grid(console, tables.machines(results)):
        console.print(part)


def _show_differences(console: Console, results: Results) -> None:
    console.print()
    for sentence in (*results.differences(), *results.explanation()):
        console.print(Text(sentence), soft_wrap=not console.is_terminal)
    grids = (tables.steps(results), tables.waits(results), tables.functions(results))
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
