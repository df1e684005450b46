"""What made cycles late: the section of a run, with its tables and figures, and JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

from msgspec import structs

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Figure, Panel, made
from tautochrone.answer.charts import blame as charts
from tautochrone.answer.phrasing import blame as words
from tautochrone.base.faults import Later
from tautochrone.base.words import plural
from tautochrone.judge.blame import BlamedRun
from tautochrone.statistics.blame import CauseShare, LateCycle, Part

TITLE = "What made cycles late"

_MOST_CAUSES, _MOST_CYCLES, _MOST_PARTS = 20, 8, 3
_LEAST_SHARE = 0.001
_STACKS = "Functions of the kernel that kept the CPU"


def parts(blamed: Sequence[tuple[str, BlamedRun]]) -> list[doc.DocumentPart]:
    """Return the part of a page about each run whose late cycles were recorded, by its label."""
    several = len(blamed) > 1
    return [
        doc.part(
            f"{TITLE}, {label}" if several else TITLE,
            partial(blocks, found, f"late-{at}"),
            id=f"late-{at}",
        )
        for at, (label, found) in enumerate(blamed, start=1)
    ]


def blocks(found: BlamedRun, prefix: str, *, headline: bool = True) -> Iterator[doc.Block]:
    """Yield what a run's late cycles were made of; ``prefix`` begins the ids of the figures' panels."""
    if headline:
        yield doc.Sentence(words.headline(found), "strong")
    if found.recorded and found.blame.causes:
        yield doc.Drawing(Later(lambda: causes_figure(found, prefix)))
        yield cause_table(found)
        if frames := charts.frames_of(found.blame.cycles):
            yield doc.Drawing(Later(lambda: flame_figure(found, frames, prefix)))
        yield doc.Drawing(Later(lambda: timeline_figure(found, prefix)))
        yield cycle_table(found)
    said = (words.late_is(found.setup), words.excess_is(found), *words.how_recorded(found))
    yield doc.statements(filter(None, said), "note")


def short(found: BlamedRun) -> Iterator[doc.Block]:
    """Yield the same in a few lines."""
    yield doc.Sentence(words.headline(found))
    if not found.recorded:
        yield from (doc.Sentence(one, "note") for one in words.how_recorded(found))
    elif found.blame.causes:
        yield doc.Sentence(f"Its causes and worst cycles: tauto blame {found.run}", "note")


def figures(blamed: Sequence[tuple[str, BlamedRun]], prefix: str) -> Iterator[Figure]:
    """Yield the figures of runs whose late cycles were recorded, each with its label."""
    several = len(blamed) > 1
    for at, (label, found) in enumerate(blamed, start=1):
        if not found.recorded or not found.blame.causes:
            continue
        number, title = (at, label) if several else (None, "")
        yield causes_figure(found, prefix, title, number)
        if frames := charts.frames_of(found.blame.cycles):
            yield flame_figure(found, frames, prefix, title, number)
        yield timeline_figure(found, prefix, title, number)


def causes_figure(found: BlamedRun, prefix: str, title: str = "", number: int | None = None) -> Figure:
    """Return the chart of what each cause has in the excess."""
    shares = found.blame.causes
    return made(
        "Excess by cause",
        lambda: Figure(
            "Excess by cause",
            (Panel(f"{prefix}-blame", title, charts.causes(shares), number),),
            (f"The line is the {words.confidence(found)} interval of the share.",),
            charts.key_of([one.cause for one in shares[: charts.MOST_CAUSES]]),
        ),
    )


def flame_figure(
    found: BlamedRun,
    frames: Sequence[charts.StackFrame],
    prefix: str,
    title: str = "",
    number: int | None = None,
) -> Figure:
    """Return the chart of the kernel's functions in which threads kept the CPU."""
    share = sum(one.excess_ns for one in frames) / found.blame.excess_ns
    return made(
        _STACKS,
        lambda: Figure(
            _STACKS,
            (Panel(f"{prefix}-blame-stacks", title, charts.flame(frames), number),),
            (
                "A function stands on the one that called it, and is as wide as the excess in it, with all "
                f"that it called. Stacks are known of {words.percent(share)} of the excess: of threads that "
                "kept the CPU, where an interrupt came or where they gave it away.",
            ),
            charts.key_of([one.cause for one in frames]),
        ),
    )


def timeline_figure(found: BlamedRun, prefix: str, title: str = "", number: int | None = None) -> Figure:
    """Return the chart of the worst cycles on their CPUs."""
    worst = _worst(found)
    lanes = []
    for one in worst:
        since, name = _since(found, one), _source(found, one)
        at = "" if since is None else f", {since:,.6f} s after the start"
        lanes.append(charts.CycleLane(f"{name}{at}", one))
    return made(
        "The worst cycles",
        lambda: Figure(
            "The worst cycles",
            (Panel(f"{prefix}-blame-cycles", title, charts.timelines(lanes), number),),
            (
                "Who had the CPU from the release to the stamp of the thread. The first broken line is where "
                "the handler of the timer began, the second is where the thread got the CPU.",
            ),
            charts.key_of([part.cause for one in worst for part in one.parts]),
        ),
    )


def cause_table(found: BlamedRun) -> doc.TypedTable:
    """Return a row for each cause, that with the most excess first."""
    heads = (
        doc.TableColumn("cause"),
        doc.TableColumn("class", spare=True),
        *doc.columns("share", f"{words.confidence(found)} interval", "late cycles", "excess"),
        doc.TableColumn("longest", spare=True),
        doc.TableColumn("thread", spare=True),
        doc.TableColumn("function", spare=True),
    )
    causes = found.blame.causes
    shown = [one for one in causes[:_MOST_CAUSES] if one.share >= _LEAST_SHARE or one.cause == "unexplained"]
    rows = [_cause_row(one) for one in shown]
    kept = [at for at in range(len(heads)) if at == 0 or any(row[at].shown for row in rows)]
    left_out = len(causes) - len(rows)
    return doc.TypedTable(
        "Causes, by their share of the excess",
        tuple(heads[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in rows),
        (f"{plural(left_out, 'more cause')} with less excess: --json lists all.",) if left_out else (),
        "upright",
    )


def _cause_row(one: CauseShare) -> tuple[doc.TypedCell, ...]:
    within = doc.TypedCell(None, "share", words.interval(one), one.lower, one.upper, left=True)
    return (
        doc.TypedCell(words.actor(one), brief=words.name(one)),
        doc.words(words.CLASSES[one.cause]),
        doc.TypedCell(one.share, "share", words.percent(one.share)),
        within if words.interval(one) else doc.words(""),
        doc.count(one.cycles),
        doc.time(one.excess_ns),
        doc.time(one.longest_ns),
        doc.words(words.policy(one.priority)),
        doc.words(", ".join(function for function in one.functions[:2] if function not in words.actor(one))),
    )


def cycle_table(found: BlamedRun) -> doc.TypedTable:
    """Return the worst cycles, with the parts that took most of each."""
    heads = (
        *doc.columns("source", "s after the start", "latency", "excess"),
        doc.TableColumn("most of it", cut=True),
    )
    rows = tuple(
        (
            doc.words(_source(found, one)),
            doc.formatted(_since(found, one), "{:,.6f}"),
            doc.time(one.latency_ns),
            doc.time(one.excess_ns),
            doc.words(_most_of(one)),
        )
        for one in _worst(found)
    )
    return doc.TypedTable("The worst cycles", heads, rows)


def _worst(found: BlamedRun) -> Sequence[LateCycle]:
    return sorted(found.blame.cycles, key=lambda one: -one.latency_ns)[:_MOST_CYCLES]


def _since(found: BlamedRun, one: LateCycle) -> float | None:
    return None if found.start_ns is None else (one.release_ns - found.start_ns) / 1e9


def _source(found: BlamedRun, one: LateCycle) -> str:
    return found.sources.get(one.source, str(one.source))


def _most_of(one: LateCycle) -> str:
    excess: Counter[str] = Counter()
    for part in one.parts:
        excess[words.name(part)] += part.excess_ns
    told = [f"{name} {doc.time(ns).shown}" for name, ns in excess.most_common(_MOST_PARTS) if ns]
    return ", ".join(told) + ("" if one.complete else " (incomplete)")


# For programs.


def as_table(found: BlamedRun) -> dict[str, object]:
    """Return what made cycles late as programs read it; times in nanoseconds."""
    blame = found.blame
    return {
        "run": found.run,
        "headline": words.headline(found),
        "measure": found.measure,
        "recorder": {
            "name": found.setup.recorder,
            "why": found.setup.why,
            "threshold_ns": found.setup.threshold_ns,
            "share": found.setup.share,
            "kinds": list(found.setup.kinds),
            "missing": list(map(structs.asdict, found.setup.missing)),
            "cost": None if found.setup.cost is None else structs.asdict(found.setup.cost),
        },
        "late": blame.late,
        "kept": len(blame.cycles),
        "incomplete": found.incomplete,
        "lost_events": found.lost_events,
        "counted": asdict(found.counted),
        "typical": [
            {"source": found.sources.get(source, str(source)), "typical_ns": typical}
            for source, typical in blame.typical_ns.items()
        ],
        "confidence": blame.confidence,
        "excess_ns": blame.excess_ns,
        "causes": [
            {**asdict(one), "name": words.name(one), "policy": words.policy(one.priority) or None}
            for one in blame.causes
        ],
        "cycles": [_cycle_as_table(found, one) for one in blame.cycles],
    }


def _cycle_as_table(found: BlamedRun, one: LateCycle) -> dict[str, object]:
    return {
        "source": _source(found, one),
        "cpu": one.cpu,
        "thread": one.thread,
        "release_ns": one.release_ns,
        "since_start_ns": None if found.start_ns is None else one.release_ns - found.start_ns,
        "latency_ns": one.latency_ns,
        "excess_ns": one.excess_ns,
        "lost": one.lost,
        "left_out": one.left_out,
        "parts": [_part_as_table(part) for part in one.parts],
    }


def _part_as_table(one: Part) -> dict[str, object]:
    return {
        "phase": one.phase,
        "cause": one.cause,
        "actor": one.actor,
        "function": one.function,
        "priority": one.priority,
        "start_ns": one.start_ns,
        "net_ns": one.net_ns,
        "excess_ns": one.excess_ns,
        "stack": list(one.stack),
    }
