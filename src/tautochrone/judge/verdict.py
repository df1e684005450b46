"""The verdict: a loop of this rate, on this CPU, run in this way.

The rule, stated so that anybody can apply it by hand: a rate is *missed* on a CPU if any cycle was skipped or
began a whole period late or more; it is *tight* if the worst start took more than half of the period;
otherwise it *holds*, as far as was measured. Nothing is said below `FEWEST_CYCLES` cycles, where samples were
lost, or where the misses are not known: the run was cut off, or its tool does not count them.

Of a loop that was measured with its own work, whole cycles are judged and not their starts: it is missed if
any cycle was skipped or was done at the next release or later, and tight above nine tenths of the period,
since no work comes on top.

Loads are judged together, because a loop has to hold under each of them. Everything else that differs
(period, policy, priority, way of waiting, kernel, machine) makes another loop.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

from tautochrone.judge import tire_run
from tautochrone.judge.explained import is_explained
from tautochrone.judge.step_run import code_name
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Books, Manifest
from tautochrone.run.records import Header, Settings
from tautochrone.statistics.quantiles import CONFIDENCE, exceedance_bound
from tautochrone.target.target import STEP, WATCH

Standing = Literal["holds", "tight", "missed", "not shown"]
WORST_FIRST: tuple[Standing, ...] = ("missed", "not shown", "tight", "holds")

FEWEST_CYCLES = 300
"""With so many, a flawless run leaves at most 1 in 100 cycles open at 95 % confidence."""

IDLE = "idle"
TIGHT_SHARE, TIGHT_SHARE_WITH_WORK = 0.5, 0.9


@dataclass(frozen=True, order=True)
class LoopOutcome:
    """How a loop ran.

    Attributes:
        policy, priority: as they were obtained; empty: not known, or it has none.
        wait: how it waited for its releases, where it did not just sleep: "spin", "hybrid" or "timer".
        overrun: what it does after an overrun, where that is not what a loop usually does.
        unlocked: whether its memory was not locked.
        wake_limit_us: wake-up latency to which idle CPUs were held.
        deployment: under which it ran.
    """

    policy: str = ""
    priority: str = ""
    wait: str = ""
    overrun: str = ""
    unlocked: bool = False
    wake_limit_us: str = ""
    deployment: str = ""


NO_WAY = LoopOutcome()


@dataclass(frozen=True)
class MeasuredLoop:
    """One source of one periodic run, reduced to what the verdict rests on.

    Attributes:
        where: what tells machines and kernels apart, such as the kernel's release; empty if there is one.
        way: how the loop ran.
        load: what ran beside it, in words; "idle" if nothing was started.
        missed: releases that were skipped; None if that is not known.
        overruns: cycles that began at or after the next release; None if that is not known.
        cut_off: the run has no end, so that there may have been more misses than are known of; otherwise
            misses that are not known are those that its tool never counts.
        rested: those of `missed` that fell into a rest of a spinning thread.
        with_work: the loop did its own work, and each cycle was measured to the end of that: then `overruns`
            are cycles that were done at the next release or later, `worst_ns` is the longest from its release
            to its end, and `source` says in words what worked and where.
    """

    period_ns: int
    source: str
    cpu: int | None
    load: str
    completed: int
    missed: int | None
    dropped: int
    overruns: int | None
    worst_ns: int | None
    cut_off: bool = False
    rested: int = 0
    way: LoopOutcome = NO_WAY
    where: str = ""
    with_work: bool = False

    @property
    def standing(self) -> Standing:
        """What this run shows by itself."""
        worst_ns = self.worst_ns or 0
        if self.missed or self.overruns or worst_ns >= self.period_ns:
            return "missed"
        unknown = self.cut_off or self.missed is None or self.overruns is None
        if unknown or self.dropped or self.completed < FEWEST_CYCLES:
            return "not shown"
        share = TIGHT_SHARE_WITH_WORK if self.with_work else TIGHT_SHARE
        return "tight" if worst_ns > share * self.period_ns else "holds"


@dataclass(frozen=True)
class LoopVerdict:
    """What is said about one loop, over all loads that it ran beside.

    Attributes:
        way: how it ran.
        loads: each load with its own standing and worst latency.
        with_work: whole cycles were judged, not their starts.
        missed: of a loop with its work the deadlines that were missed; ``due``: all that there were.
        runs: what it rests on.
    """

    rate_hz: float
    source: str
    cpu: int | None
    standing: Standing
    worst_ns: int
    left_ns: int
    samples: int
    where: str = ""
    way: LoopOutcome = NO_WAY
    loads: tuple[tuple[str, Standing, int], ...] = field(default=())
    with_work: bool = False
    missed: int = 0
    due: int = 0
    runs: tuple[MeasuredLoop, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The answer: what is said about each loop, slowest rate first."""

    loops: tuple[LoopVerdict, ...]


def judge(loops: Iterable[MeasuredLoop]) -> Verdict:
    """Say what the measured loops show: one line per loop, slowest rate first."""
    ordered = sorted(loops, key=_identity)
    several_places = len({loop.where for loop in ordered}) > 1
    lines = tuple(_judge_one(list(group), several_places) for _, group in groupby(ordered, key=_identity))
    return Verdict(lines)


def wilks_share(samples: int, confidence: float = CONFIDENCE) -> float:
    """Share of cycles that may still lie above the largest of `samples`, at the given confidence.

    The distribution-free tolerance limit of Wilks (Annals of Mathematical Statistics 12, 1941): the largest
    of n independent samples covers at least the share (1 - confidence)^(1/n).
    """
    return exceedance_bound(samples, 0, confidence)


def _identity(loop: MeasuredLoop) -> tuple[int, str, LoopOutcome, int, str]:
    cpu = loop.cpu if loop.cpu is not None else -1
    return -loop.period_ns, loop.where, loop.way, cpu, loop.source


def _judge_one(loops: Sequence[MeasuredLoop], several_places: bool) -> LoopVerdict:
    first = loops[0]
    worst_ns = max((loop.worst_ns or 0 for loop in loops), default=0)
    standing = _worst_standing(loops)
    return LoopVerdict(
        rate_hz=1e9 / first.period_ns,
        source=first.source,
        cpu=first.cpu,
        standing=standing,
        worst_ns=worst_ns,
        left_ns=max(0, first.period_ns - worst_ns),
        samples=sum(loop.completed for loop in loops),
        where=first.where if several_places else "",
        way=first.way,
        loads=_by_load(loops),
        with_work=first.with_work,
        missed=sum((loop.missed or 0) + (loop.overruns or 0) for loop in loops),
        due=sum(loop.completed + (loop.missed or 0) for loop in loops),
        runs=tuple(loops),
    )


def _by_load(loops: Sequence[MeasuredLoop]) -> tuple[tuple[str, Standing, int], ...]:
    """Each load once, idle first, with the worst of its runs."""
    ordered = groupby(loads_in_order(loops), key=lambda loop: loop.load)
    groups = [(load, list(group)) for load, group in ordered]
    return tuple(
        (load, _worst_standing(group), max(loop.worst_ns or 0 for loop in group)) for load, group in groups
    )


def _worst_standing(loops: Sequence[MeasuredLoop]) -> Standing:
    return min((loop.standing for loop in loops), key=WORST_FIRST.index)


def loads_in_order(loops: Sequence[MeasuredLoop]) -> list[MeasuredLoop]:
    """Return the idle ones first."""
    return sorted(loops, key=lambda loop: (loop.load != IDLE, loop.load))


def judge_runs(runs: Iterable[StoredRun]) -> Verdict | None:
    """The verdict over all runs that are about a control loop, or None if there is none among them."""
    loops = [loop for run in runs for loop in measured_loops(run)]
    return judge(loops) if loops else None


def is_a_loop_with_work(header: Header) -> bool:
    """Whether a run tells how long the cycles of a loop take with all of its threads' work in them."""
    return header.experiment in (tire_run.EXPERIMENT, STEP) and bool(header.periods_ns)


def has_instances(header: Header) -> bool:
    """Whether its sources are instances of a step, each with steps of its own, and no threads of one loop."""
    return header.experiment == STEP and len(header.sources) > 1


def meets_after_each_step(header: Header) -> bool:
    """Whether its sources are threads of one loop with work: what a step took is the same for all of them."""
    return is_a_loop_with_work(header) and not has_instances(header)


def measured_loops(run: StoredRun) -> list[MeasuredLoop]:
    """Each source of a run that is about a control loop, or all of them as one where they are its threads;
    empty for all others."""
    header = run.manifest.header
    if is_explained(run.manifest):
        return []  # its times are no plain times
    if is_a_loop_with_work(header):
        if has_instances(header):
            name = code_name(run.manifest)
            own = [_loop(run, book, with_work=True, alone=True) for book in run.manifest.books]
            return [replace(one, source=f"{name} on {one.source}") for one in own]
        # They agree on every release, and so have the same books.
        loops = [_loop(run, book, with_work=True) for book in run.manifest.books]
        return loops[:1] and [max(loops, key=lambda loop: loop.dropped)]
    periods = header.periods_ns
    books = [book for book in run.manifest.books if book.source in periods]
    if header.experiment == WATCH:  # each has a loop of its own
        return [_loop(run, book, with_work=True, alone=True) for book in books]
    return [_loop(run, book) for book in books] if header.is_about_a_loop else []


def _loop(run: StoredRun, book: Books, *, with_work: bool = False, alone: bool = False) -> MeasuredLoop:
    manifest = run.manifest
    source = manifest.header.by_number.get(book.source)
    obtained = source.obtained if source is not None else Settings()
    stated = manifest.footer.books or () if manifest.footer is not None else ()
    rested = {one.source: one.rested or 0 for one in stated}
    worst_ns = (
        one.maximum_ns
        for one in manifest.extremes
        if one.measure == run.measures[0] and ((with_work and not alone) or one.source == book.source)
    )
    return MeasuredLoop(
        period_ns=manifest.header.periods_ns[book.source],
        source=_worker(run, book) if with_work and not alone else book.name,
        cpu=None if with_work else obtained.cpu,
        load=manifest.conditions.load or "not known",
        completed=book.completed,
        missed=book.missed,
        dropped=book.dropped or 0,
        overruns=book.overruns,
        worst_ns=max(worst_ns, default=None),
        cut_off=manifest.footer is None and not run.has_intervals,
        rested=rested.get(book.source, 0),
        way=_way(manifest, obtained),
        where=_where(manifest),
        with_work=with_work,
    )


def _worker(run: StoredRun, book: Books) -> str:
    """Return what worked, and where."""
    if run.manifest.experiment == tire_run.EXPERIMENT:
        return tire_run.words(run)
    source = run.manifest.header.by_number.get(book.source)
    cpu = source.obtained.cpu if source is not None else None
    return f"{code_name(run.manifest)} on {'any CPU' if cpu is None else f'CPU {cpu}'}"


def _way(manifest: Manifest, obtained: Settings) -> LoopOutcome:
    parameters, process = manifest.header.parameters, manifest.header.process.obtained
    wait = parameters.get("wait")
    overrun, limit_us = parameters.get("overrun"), process.get("wake_latency_limit_us")
    return LoopOutcome(
        policy=str(obtained.policy or parameters.get("policy") or ""),
        priority=str(obtained.priority or ""),
        wait=str(wait) if wait in ("spin", "hybrid", "timer") else "",
        overrun="" if overrun in ("skip", None) else str(overrun),
        unlocked=process.get("memory_locked") is False,
        wake_limit_us="" if limit_us is None else str(limit_us),
        deployment=manifest.conditions.deployment_name,
    )


def _where(manifest: Manifest) -> str:
    """What tells machines and kernels apart."""
    known = manifest.known
    core = manifest.header.system.core
    parts = (manifest.conditions.remote, known.cpu.model, known.kernel.release, core)
    return ", ".join(part for part in parts if part)
