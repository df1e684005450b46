"""One run of the experiment `tire` (garre2014, sections 4.3 and 4.4): what ran, and what came of it.

A step has until the next release. It is *late* if it was finished at that release or after it; a release is
*passed over* if the threads were still busy with an earlier step, so that its step was never computed. Either
way a deadline is missed. All threads have the same books: they decide together at the end of each step.

What every single step took is in ``tire.steps``.
"""

from dataclasses import dataclass

from msgspec import Struct, field

from tautochrone.base.words import plural
from tautochrone.machine.cpulist import format_cpu_list
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.quantiles import exceedance_bound

EXPERIMENT = "tire"
REAL_FAST, REAL_TIME = "real-fast", "real-time"


@dataclass(frozen=True)
class Configuration:
    """What was computed, by whom and how. Runs that differ in one of these are different measurements.

    Attributes:
        step_ns: simulated time of one step; in real time also from one release to the next.
        vector: the instructions that solver `halo` computed with, such as "avx512"; empty for the others.
        cpus: the CPU of each thread; None where it was free to run on any.
    """

    nodes: int
    threads: int
    solver: str
    step_ns: int
    policy: str
    pace: str
    vector: str
    system: str
    cpus: tuple[int | None, ...]


@dataclass(frozen=True)
class Model:
    """The tire that was computed; None: not told.

    Attributes:
        stiffness_per_mass: of a ring spring, in 1/s^2.
        damping_permille: of a spring's damper: a thousandth of step times stiffness.
        state_bytes: of positions and velocities, all copies.
        rehearsed_ns: the fastest step before the start, of a few.
    """

    nodes: int
    springs: int | None
    stiffness_per_mass: int | None
    damping_permille: int | None
    state_bytes: int | None
    rehearsed_ns: int | None


@dataclass(frozen=True)
class Misses:
    """The deadlines of one real-time run.

    Attributes:
        released: steps that were due; None if that is not known.
        late: steps that were finished at the next release or after it.
        passed_over: steps that were never computed, because the threads were late from an earlier one.
        exact: False where the run was cut off: then there were at least so many.
    """

    released: int | None
    late: int
    passed_over: int
    exact: bool = True

    @property
    def missed_steps(self) -> int:
        """All deadlines that were missed."""
        return self.late + self.passed_over

    @property
    def share(self) -> float | None:
        """At most so many of all steps miss their deadline, at 95 % confidence; None if nothing tells."""
        return exceedance_bound(self.released, self.missed_steps) if self.exact and self.released else None


class ThreadResult(Struct, frozen=True):
    """What one thread did in the measured part; None: this system can't tell.

    Attributes:
        nodes: masses that it computed.
        voluntary: switches in which it gave its CPU away, as to wait.
        involuntary: switches in which its CPU was taken from it.
    """

    source: int = 0
    nodes: int | None = None
    voluntary: int | None = field(name="voluntary_switches", default=None)
    involuntary: int | None = field(name="involuntary_switches", default=None)


class Result(Struct, frozen=True):
    """The event ``result``: what the simulation came to.

    Attributes:
        steps: that were computed since the beginning.
        checksum: CRC-32C of all positions: the same for every solver and number of threads.
        finite: whether every position is a number.
    """

    steps: int = 0
    checksum: int = field(name="positions_crc32c", default=0)
    finite: bool = True
    of_threads: tuple[ThreadResult, ...] = field(name="threads", default=())

    @property
    def threads(self) -> dict[int, ThreadResult]:
        """What each thread did, by its source."""
        return {one.source: one for one in self.of_threads}


@dataclass(frozen=True)
class RealFast:
    """A run as fast as possible.

    Attributes:
        simulated_ns: how long they are in the simulation.
        elapsed_ns: how long they took.
        rows: stretches of steps that were timed in one.
        complete: False where the run ended early, or rows were lost: then it is not the whole simulation.
    """

    steps: int
    simulated_ns: int
    elapsed_ns: int
    rows: int
    complete: bool

    @property
    def speed(self) -> float | None:
        """Simulated time over elapsed time: from 1 on, the mean step takes no longer than it lasts."""
        return self.simulated_ns / self.elapsed_ns if self.elapsed_ns else None

    @property
    def step_ns(self) -> float | None:
        """The mean time of a step; None without steps."""
        return self.elapsed_ns / self.steps if self.steps else None


def configuration(run: StoredRun) -> Configuration:
    """What a run was asked to compute, and where its threads ran."""
    header = run.manifest.header
    parameters = header.parameters
    sources, threads = header.sources, header.number("threads")
    return Configuration(
        nodes=header.number("nodes") or 0,
        threads=len(sources) if threads is None else threads,
        solver=str(parameters.get("solver", "")),
        step_ns=header.number("step_ns") or 0,
        policy=str(parameters.get("policy", "")),
        pace=str(parameters.get("pace", REAL_TIME)),
        vector=str(parameters.get("vector") or ""),
        system=header.system.words,
        cpus=tuple(source.held_to for source in sources),
    )


def model(run: StoredRun) -> Model:
    """The tire that a run computed, as its header describes it."""
    header, nodes = run.manifest.header, configuration(run).nodes
    told, bytes_per_node = header.model, header.model.bytes_per_node
    return Model(
        nodes=nodes,
        springs=header.number("springs"),
        stiffness_per_mass=told.stiffness_per_mass,
        damping_permille=told.damping_permille,
        state_bytes=None if bytes_per_node is None else nodes * bytes_per_node,
        rehearsed_ns=header.rehearsal.fastest_ns,
    )


def words(run: StoredRun) -> str:
    """What computed, in words: ``400 masses, halo, 2 threads on CPUs 0-1``."""
    what = configuration(run)
    known = sorted({cpu for cpu in what.cpus if cpu is not None})
    where = f" on CPU{'' if len(known) == 1 else 's'} {format_cpu_list(known)}" if known else ""
    team = plural(what.threads, "thread")
    return f"{what.nodes:,} masses, {what.solver}, {team}{where}"


def deadline_misses(run: StoredRun) -> Misses:
    """The deadlines of a real-time run, from its books."""
    manifest = run.manifest
    first = min(manifest.books, key=lambda book: book.source, default=None)
    if first is None:
        return Misses(None, 0, 0, exact=False)
    known = manifest.footer is not None and None not in (first.released, first.missed, first.overruns)
    return Misses(first.released, first.overruns or 0, first.missed or 0, exact=known)


def result_event(run: StoredRun) -> Result | None:
    """What the simulation came to; None where the run was cut off before it was told."""
    told = run.manifest.event("result")
    return told.told(Result) if told is not None else None


def real_fast(run: StoredRun) -> RealFast:
    """The time that a real-fast run took: that of its first thread; all of them meet after every step."""
    source = min(run.sources)
    steps, elapsed_ns = run.column("steps", source), run.values("elapsed_ns", source)
    book = next(one for one in run.manifest.books if one.source == source)
    done = int(steps.sum())
    return RealFast(
        steps=done,
        simulated_ns=done * configuration(run).step_ns,
        elapsed_ns=int(elapsed_ns.sum()),
        rows=len(elapsed_ns),
        complete=run.manifest.ended == "complete" and not book.dropped,
    )
