"""From runs to what the verdict rests on."""

from collections.abc import Iterable
from dataclasses import replace

from tautochrone.judge import tire_run
from tautochrone.judge.explained import is_explained
from tautochrone.judge.step_run import code_name
from tautochrone.judge.verdict import LoopOutcome, MeasuredLoop, Verdict, judge
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Books, Manifest
from tautochrone.run.records import Header, Settings
from tautochrone.target.target import STEP, WATCH


def judge_runs(runs: Iterable[StoredRun]) -> Verdict | None:
    """The verdict over all runs that are about a control loop, or None if there is none among them."""
    loops = [loop for run in runs for loop in measured_loops(run)]
    return judge(loops) if loops else None


def is_a_loop_with_work(header: Header) -> bool:
    """Whether a run tells how long the cycles of a loop take with all of its threads' work in them."""
    return header.experiment in (tire_run.EXPERIMENT, STEP) and bool(header.periods_ns)


def measured_loops(run: StoredRun) -> list[MeasuredLoop]:
    """Each source of a run that is about a control loop, or all of them as one where they are its threads;
    empty for all others."""
    header = run.manifest.header
    if is_explained(run.manifest):
        return []  # its times are no plain times
    if is_a_loop_with_work(header):
        if header.experiment == STEP and len(run.manifest.books) > 1:  # instances, each with steps of its own
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
