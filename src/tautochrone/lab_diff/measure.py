"""Measuring two virtual machines the same way, and then again while their kernels trace themselves."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tautochrone.base.errors import MeasuringError
from tautochrone.base.faults import attempt, tried
from tautochrone.base.own_folder import own_folder
from tautochrone.lab_diff.calls import Call, read_calls, with_stacks, worst_with_calls
from tautochrone.lab_diff.differences import Loop, compare, loops_of
from tautochrone.lab_diff.question import SIDES, DiffQuestion
from tautochrone.lab_diff.results import DiffResults
from tautochrone.lab_diff.window import ReleaseWindow, WindowEvent, functions_of, lost, read_events
from tautochrone.machine.facts import gather
from tautochrone.measure.cell import Cell
from tautochrone.measure.conditions import Conditions
from tautochrone.measure.execute import Watch, run_cell
from tautochrone.measure.lab.crew import Crew
from tautochrone.measure.lab.jobs import LabJob, RefusedJob, SealedCell, measure_on
from tautochrone.run.facts import FactTable
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.open import open_target
from tautochrone.target.target import Target

MEASURING_TASK = "tauto-cyclic"
"""What the probe calls its measuring threads."""

_NOT_TRACED = 9
_TRACING = "/sys/kernel/tracing"
_BUFFER_KIB = 16384
_LEAST_US = 1
LONG_FUNCTIONS = (
    "free_pcppages_bulk", "rmqueue_bulk", "free_unref_page_list", "free_pgtables", "unmap_page_range",
    "unmap_vmas", "zap_huge_pmd", "copy_page_range", "clear_huge_page", "folio_zero_user",
    "prep_compound_page", "__free_pages_ok", "do_huge_pmd_anonymous_page", "split_huge_page_to_list",
    "rcu_do_batch", "__do_softirq", "handle_softirqs", "exit_mmap", "tlb_finish_mmu",
)  # fmt: skip
"""Known to take long, some of them with interrupts off, so that no stack ever shows them. Each is called so
seldom that timing it costs next to nothing; one that a kernel does not have is left out."""

_BEGIN = f"""
[ -e {_TRACING}/tracing_on ] || mount -t tracefs tracefs {_TRACING}
cd {_TRACING} || exit {_NOT_TRACED}
echo 0 >tracing_on && echo nop >current_tracer && echo mono >trace_clock || exit {_NOT_TRACED}
echo {_BUFFER_KIB} >buffer_size_kb
echo >trace
"""
_STACKS = f"""
echo 1 >options/stacktrace &&
echo 'comm=="{MEASURING_TASK}"' >events/sched/sched_waking/filter &&
echo 'next_comm=="{MEASURING_TASK}"' >events/sched/sched_switch/filter &&
echo 1 >events/sched/sched_waking/enable &&
echo 1 >events/sched/sched_switch/enable &&
echo 1 >tracing_on || exit {_NOT_TRACED}
"""
_CALLS = f"""
for option in abstime proc tail; do echo 1 >options/funcgraph-$option || exit {_NOT_TRACED}; done
echo 0 >options/funcgraph-irqs
echo {_LEAST_US} >tracing_thresh
echo >set_ftrace_filter
for name in $FUNCTIONS; do echo $name >>set_ftrace_filter; done 2>/dev/null
grep -q '^[^#]' set_ftrace_filter && echo function_graph >current_tracer || exit {_NOT_TRACED}
echo 1 >tracing_on
cat set_ftrace_filter
"""
_READ = f"""
cd {_TRACING} || exit {_NOT_TRACED}
echo 0 >tracing_on
cat per_cpu/cpu*/stats trace
"""


def _run(target: Target, script: str) -> str:
    program = target.start_agent(["guard", "--", "/bin/sh", "-c", script])
    try:
        said = b"".join(iter(program.read, b""))
        code = program.wait(1.0)
        if code != 0:
            words = "; ".join(map(str, program.messages()[-2:])) or f"its shell ended with {code}"
            raise MeasuringError(f"the kernel of {target.name} does not trace itself: {words}")
        return said.decode(errors="replace")
    finally:
        program.release()


_LATE = 0.5
"""A release at least so late, as a part of the worst one, has its functions timed."""
_MOST_LATE = 40
_TRACED = "traced"

Begin = Callable[[Cell], Watch]
"""Told what is measured next; what it gives is told how far that is."""


@dataclass(frozen=True)
class Plain:
    """Measure a case as it is."""

    system: str
    cell: Cell
    store: Path

    def do(self, watch: Watch) -> SealedCell:
        """Seal its run."""
        with open_target(self.system) as target:
            return measure_on(target, self.cell, self.store, gather(target.files()), watch)


@dataclass(frozen=True)
class Looked(SealedCell):
    """What came of a traced run; the run itself is not kept.

    Attributes:
        lost: events for which the kernel had no room: the earliest ones.
    """

    loops: tuple[Loop, ...] = ()
    events: tuple[WindowEvent, ...] = ()
    calls: tuple[Call, ...] = ()
    functions: tuple[str, ...] = ()
    lost: int = 0


@dataclass(frozen=True)
class Look:
    """Measure a case once more, while the kernel traces itself.

    Attributes:
        functions: whose calls are timed; None: stacks are noted.
    """

    system: str
    cell: Cell
    facts: FactTable
    functions: tuple[str, ...] | None = None

    def do(self, watch: Watch) -> Looked:
        """Boot, have it trace itself, measure, read the trace."""
        # With something in force already, which tracing is, nobody boots it again.
        under = Conditions(self.facts, deployment={"name": _TRACED})
        with own_folder("tauto-lab-diff-") as folder, open_target(self.system) as target:
            target.renew()
            traced: tuple[str, ...] = ()
            if self.functions is None:
                _run(target, _BEGIN + _STACKS)
            else:  # as many of these as the kernel can
                names = " ".join(dict.fromkeys((*self.functions, *LONG_FUNCTIONS)))
                traced = tuple(_run(target, f"FUNCTIONS='{names}'" + _BEGIN + _CALLS).split())
            run = run_cell(self.cell, Store(folder), target, self.facts, watch, under)
            if run.manifest.ended == "interrupted":
                raise KeyboardInterrupt
            text, loops = _run(target, _READ), tuple(loops_of(run))
        if self.functions is None:
            return Looked(run.id, loops=loops, events=read_events(text), lost=lost(text))
        return Looked(run.id, loops=loops, calls=read_calls(text), functions=traced, lost=lost(text))


def measure(
    question: DiffQuestion, store: Store, crew: Crew, begin: Begin = lambda _: lambda _: None
) -> DiffResults:
    """Measure both, compare them, and look into the worst release where they differ.

    Five runs, or two where nothing differs or is to be looked into.
    """
    jobs = (
        (side, Plain(question.system(side), question.cell(side, blamed=True), store.path)) for side in SIDES
    )
    plain = _do(crew, jobs, begin)
    runs = (StoredRun.read(store.path / plain["A"].run), StoredRun.read(store.path / plain["B"].run))
    compared = tried(
        lambda: tuple(compare(loops_of(runs[0]), loops_of(runs[1]), question.threshold_of(runs)))
    )
    found = DiffResults(question, runs, compared)
    if compared.error or not question.traced or not found.differ:
        return found
    try:
        return attempt(
            "What held the worst release up",
            lambda: _look_into(found, crew, begin),
            lambda fault: replace(found, not_traced=fault.notice),
        )
    except MeasuringError as error:
        return replace(found, not_traced=str(error))


def _look_into(found: DiffResults, crew: Crew, begin: Begin) -> DiffResults:
    question = found.question
    facts = {side: run.manifest.facts for side, run in zip(SIDES, found.runs, strict=True)}
    cells = {
        side: replace(question.cell(side), title=f"{question.name(side)}, stacks noted") for side in SIDES
    }
    looks = ((side, Look(question.system(side), cells[side], facts[side])) for side in SIDES)
    looked = _do(crew, looks, begin)
    stacks = {
        side: with_stacks(_of(one.loops, found.loop(side).source), one.events)
        for side, one in looked.items()
        if isinstance(one, Looked)
    }
    slower = found.slower
    functions = functions_of(_late(stacks[slower]))
    cell = replace(question.cell(slower), title=f"{question.name(slower)}, calls timed")
    timing = Look(question.system(slower), cell, facts[slower], functions)
    timed = _do(crew, iter([(slower, timing)]), begin)[slower]
    assert isinstance(timed, Looked)
    loop = _of(timed.loops, found.loop(slower).source)
    return replace(
        found,
        stacks=stacks,
        timed=worst_with_calls(loop, timed.calls, MEASURING_TASK),
        functions=timed.functions,
        lost=sum(one.lost for one in (*looked.values(), timed) if isinstance(one, Looked)),
    )


def _late(found: Sequence[ReleaseWindow]) -> list[ReleaseWindow]:
    """Return the releases that were served about as late as the worst one."""
    latest = sorted(found, key=lambda one: -one.latency_ns)[:_MOST_LATE]
    return [one for one in latest if one.latency_ns >= _LATE * latest[0].latency_ns]


def _of(loops: Sequence[Loop], source: str) -> Loop:
    return next(one for one in loops if one.source == source)


def _do(crew: Crew, jobs: Iterator[tuple[str, Plain | Look]], begin: Begin) -> dict[str, SealedCell]:
    """Return all of these, by side.

    Raises:
        TautoError: what came of the first that was refused or went wrong.
        KeyboardInterrupt: stopped.
    """
    done: dict[str, SealedCell] = {}
    wrong: dict[str, RefusedJob] = {}
    known: Iterator[tuple[tuple[str, Watch], LabJob]] = (((side, begin(job.cell)), job) for side, job in jobs)
    for (side, _), answer in crew.do(known, lambda one, progress: one[1](progress)):
        if isinstance(answer, RefusedJob):
            wrong[side] = answer
        elif isinstance(answer, SealedCell):
            done[side] = answer
    if crew.stopped or any(one.stopped for one in done.values()):
        raise KeyboardInterrupt
    for side in sorted(wrong):
        raise wrong[side].error
    return done
