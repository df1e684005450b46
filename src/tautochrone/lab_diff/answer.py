"""The answer about two virtual machines: as a document, and as JSON."""

import shlex
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from tautochrone.answer import document as doc
from tautochrone.answer.blame import compared
from tautochrone.answer.blocks import made
from tautochrone.answer.document import words as cell
from tautochrone.base.faults import Later
from tautochrone.base.units import format_duration
from tautochrone.lab_diff.calls import Call
from tautochrone.lab_diff.differences import MISSING, SourceDifference
from tautochrone.lab_diff.question import SIDES
from tautochrone.lab_diff.results import NOT_THE_RESULT, SAME_INSTANT, DiffResults, latency
from tautochrone.lab_diff.window import ReleaseWindow
from tautochrone.statistics.quantiles import rank

_MOST_FUNCTIONS = 12


def document(results: DiffResults) -> doc.Document:
    """Tell where the two differ, and what held the worst release up."""
    manifests = tuple(results.manifests)
    names = tuple(results.name(side) for side in SIDES)
    closely = [f"{side} closely: tauto show {one.id}" for side, one in zip(SIDES, manifests, strict=True)]
    return doc.Document(
        headline=Later(lambda: results.headline),
        parts=(
            doc.part("In short", lambda: [doc.Sentence(SAME_INSTANT)], only="page"),
            doc.part("Where they differ", lambda: _differences(results), id="answers"),
            doc.part("Latency of each release", lambda: _over_time(results), only="page"),
            doc.part("How far they are apart", lambda: [steps(results)] if results.differ else []),
            doc.part(compared.TITLE, lambda: _causes(results), id="causes"),
            doc.part("What the kernel was doing", lambda: _explanation(results), id="explanation"),
            doc.part("The calls", lambda: _calls(results), only="page"),
            doc.part("The worst release", lambda: filter(None, (functions(results), waits(results)))),
            doc.part("What next", lambda: [doc.Sentence(one, "note") for one in closely], only="text"),
        ),
        grounds=doc.Grounds(
            manifests,
            places=tuple(zip(SIDES, names, strict=True)),
            heads=(("Side", False), ("Machine", False), ("What", False)),
            labels=names,
            deployments=Later(lambda: None),
            commands=(
                shlex.join(results.question.command) or "tauto lab diff A B",
                *(f"tauto show {one.id}" for one in manifests),
                f"tauto report {' '.join(one.id for one in manifests)}",
            ),
            again="The plain runs repeat: measure them again",
        ),
    )


def _differences(results: DiffResults) -> Iterator[doc.Block]:
    yield machines(results)
    yield doc.Statements(tuple(map(doc.Sentence, results.differences())))


def _over_time(results: DiffResults) -> list[doc.Block]:
    from tautochrone.lab_diff import charts

    return [doc.Drawing(made("Latency of each release", lambda: charts.latencies(results)))]


def _causes(results: DiffResults) -> list[doc.Block]:
    found = results.causes
    if found is None:
        return []
    names = (results.name("A"), results.name("B"))
    said = doc.Statements(tuple(map(doc.Sentence, compared.sentences(found, names[1]))))
    return [said, compared.table(found, *names)] if found.causes else [said]


def _explanation(results: DiffResults) -> list[doc.Block]:
    found = tuple(map(doc.Sentence, results.explanation()))
    return [doc.Statements(found)] if found else []


def _calls(results: DiffResults) -> list[doc.Block]:
    from tautochrone.lab_diff import charts

    drawn = charts.calls(results)
    return [] if drawn is None else [doc.Drawing(drawn)]


def machines(results: DiffResults) -> doc.TypedTable:
    """Return A and B."""
    heads = doc.columns(
        "", "machine", "kernel", "releases", "missed", "median", "worst", "at release", "the other there"
    )
    return doc.TypedTable("", heads, tuple(_machine(results, side) for side in SIDES))


def _machine(results: DiffResults, side: str) -> tuple[doc.TypedCell, ...]:
    loop = results.loop(side)
    other = results.loop(SIDES[1 - SIDES.index(side)])
    virtual = results.manifests[SIDES.index(side)].conditions.virtual
    served = np.sort(loop.latency_ns[loop.latency_ns != MISSING])
    found = loop.worst is not None
    return (
        cell(side),
        cell(results.question.name(side)),
        doc.TypedCell(virtual.release if virtual is not None else None),
        doc.count(len(loop.latency_ns)),
        doc.count(loop.missed),
        doc.time(int(served[rank(len(served), 0.5) - 1]) if len(served) else None),
        _latency(loop.worst_ns) if found else doc.time(None),
        doc.count(loop.worst),
        _latency(other.latency(loop.worst)) if loop.worst is not None else doc.time(None),
    )


def _latency(ns: int | None) -> doc.TypedCell:
    return doc.TypedCell(ns, "ns", latency(ns))


def steps(results: DiffResults) -> doc.TypedTable:
    """Say from where on they differ by how much."""
    one = results.worst
    heads = doc.columns("more than", "first at release", "after", "on A", "on B", "releases", "of")
    rows = []
    for step in one.steps:
        where = (doc.TypedCell(None, "count", "none"), *[cell("")] * 3)
        if (first := step.first) is not None:
            both = (_latency(loop.latency(first)) for loop in (one.a, one.b))
            where = (doc.count(first), doc.time(first * one.a.period_ns), *both)
        rows.append((doc.time(step.more_than_ns), *where, doc.count(step.count), doc.count(one.compared)))
    note = "A release that one of them missed differs by more than any of these."
    return doc.TypedTable("How far they are apart", heads, tuple(rows), (note,))


def waits(results: DiffResults) -> doc.TypedTable | None:
    """Return the worst release of each run whose stacks were noted; None: there is none."""
    heads = doc.columns(
        "", "release", "latency", "untraced worst", "interrupts off", "not preempted", "switch and return",
        "inside", "of task",
    )  # fmt: skip
    rows = tuple(_rows_of_waits(results))
    title = "The worst release, with stacks noted"
    return doc.TypedTable(title, heads, rows, (NOT_THE_RESULT,)) if rows else None


def _rows_of_waits(results: DiffResults) -> Iterator[tuple[doc.TypedCell, ...]]:
    for side in SIDES:
        window = results.worst_window(side)
        if window is None:
            continue
        yield (
            cell(results.name(side)),
            doc.count(window.number),
            doc.time(window.latency_ns),
            _latency(results.loop(side).worst_ns),
            doc.time(window.before_waking_ns),
            doc.time(window.before_switch_ns),
            doc.time(window.after_switch_ns),
            _inside(window),
            doc.TypedCell(window.task or None),
        )


def _inside(window: ReleaseWindow) -> doc.TypedCell:
    if window.chain:
        return cell(window.chain[-1])
    return doc.TypedCell("a program, or idle" if window.waking else None)


def functions(results: DiffResults) -> doc.TypedTable | None:
    """Return what the timed functions took of the worst release; None: none was timed."""
    timed = results.timed
    if timed is None or not timed.shares:
        return None
    loop = results.loop(results.slower)
    rows = tuple(
        (
            cell(one.function),
            doc.time(one.self_ns),
            doc.time(one.total_ns),
            doc.count(one.calls),
            cell(one.chain[-2] if len(one.chain) > 1 else "-"),
        )
        for one in timed.shares[:_MOST_FUNCTIONS]
    )
    note = (
        f"Release {timed.window.number:,} of the run with timed calls: "
        f"{format_duration(timed.latency_ns)}; without tracing, the worst is {latency(loop.worst_ns)}. "
        f"{len(results.functions)} functions were timed: those on the stacks of late releases, and "
        "some that are known to take long. "
        "What a function called and is not among them counts as its own."
    )
    title = f"The worst release of {results.name(results.slower)}, with timed calls"
    heads = doc.columns("function", "by itself", "with its callees", "calls", "called by")
    return doc.TypedTable(title, heads, rows, (note,))


def as_table(results: DiffResults) -> dict[str, object]:
    """Return what programs read; times in nanoseconds."""
    question = results.question
    name, timed = results.named, results.timed
    return {
        "a": {"machine": question.system("A"), "run": results.manifests[0].id},
        "b": {"machine": question.system("B"), "run": results.manifests[1].id},
        "load": question.load.name,
        "headline": results.headline,
        "identical": results.identical,
        "slower": results.slower if results.differ else None,
        "loops": [_comparison(one) for one in results.compared],
        "name": None if name is None else {**asdict(name), "function": name.function},
        "traced_runs": {
            "about": NOT_THE_RESULT,
            "why_not": results.not_traced or None,
            "lost_events": results.lost,
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
        **({} if results.causes is None else {"late_cycles": compared.as_table(results.causes)}),
        "sentences": [*results.differences(), *results.explanation()],
        "warnings": list(dict.fromkeys(one.text for both in results.manifests for one in both.warnings)),
    }


def _comparison(one: SourceDifference) -> dict[str, object]:
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


def _window(window: ReleaseWindow | None) -> dict[str, object] | None:
    if window is None:
        return None
    names = ("latency_ns", "before_waking_ns", "before_switch_ns", "after_switch_ns", "cause")
    return {
        "release": window.number,
        **{name: getattr(window, name) for name in names},
        "sections_that_forbid_preemption": window.held,
        **{name: getattr(window, name) for name in ("task", "interrupted", "given_up")},
        "inside": window.chain,
    }


def _call(call: Call, since_ns: int) -> dict[str, object]:
    return {
        "function": call.function,
        "task": call.task,
        "begin_ns": call.begin_ns - since_ns,
        "total_ns": call.total_ns,
        "self_ns": call.self_ns,
        "inner": [_call(one, since_ns) for one in call.inner],
    }
