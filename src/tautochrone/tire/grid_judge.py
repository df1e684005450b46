"""What came of many tires of different sizes, computed by different numbers of threads.

*As fast as possible* (garre2014, 4.3): the time that each took. *At a rate* (its 4.4): the deadlines that
each missed, where the boundary lies for each number of threads, and how sure that is. Nothing here is
interpolated: what is said of a number of masses was measured with that number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tautochrone.judge.tire_run import deadline_misses, miss_bound, real_fast
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.summary import Spread, spread

STOPPED = "overrun"
"""How a run ended that was to end at its first miss, and had one."""

STEP = "step_ns"
"""The measure T_s."""

CLASSES = ((0, 0), (1, 1), (2, 10), (11, 100), (101, 1000), (1001, None))
"""Numbers of missed deadlines that a map tells apart, from and to; None: without end."""


@dataclass(frozen=True)
class FastTrial:
    """One simulation as fast as possible."""

    run: str
    elapsed_ns: int
    simulated_ns: int
    steps: int


@dataclass(frozen=True)
class MapTrial:
    """One simulation at its rate.

    Attributes:
        due: steps whose deadline came; of a trial that was to end at its first miss, until there.
        missed: of these.
        stopped: it ended at its first miss.
        too_slow: even the fastest step took longer than the period, of the rehearsal, which waits for no
            release, and of the run: this rate can't be kept here at all.
        worst_ns: the longest time from a release to the end of its step; None: there was none.
    """

    run: str
    due: int
    missed: int
    stopped: bool
    too_slow: bool
    worst_ns: int | None


@dataclass(frozen=True)
class FastCell:
    """One number of masses and of threads; without trials it is not measured, and ``why`` may say more."""

    nodes: int
    threads: int
    trials: tuple[FastTrial, ...] = ()
    why: str = ""

    @property
    def elapsed(self) -> Spread | None:
        """In ns, over the repetitions; None: not measured."""
        return spread([one.elapsed_ns for one in self.trials]) if self.trials else None


@dataclass(frozen=True)
class MapCell:
    """One number of masses and of threads; without trials it is not measured, and ``why`` may say more."""

    nodes: int
    threads: int
    trials: tuple[MapTrial, ...] = ()
    why: str = ""

    @property
    def missed(self) -> int | None:
        """Misses of the worst repetition; None: not measured."""
        return max((one.missed for one in self.trials), default=None)

    @property
    def due(self) -> int:
        """Deadlines in all repetitions together."""
        return sum(one.due for one in self.trials)

    @property
    def too_slow(self) -> bool:
        """Whether every repetition found that the rate can't be kept at all."""
        return bool(self.trials) and all(one.too_slow for one in self.trials)


@dataclass(frozen=True)
class Boundary:
    """Of one number of threads: up to where no deadline was missed.

    Attributes:
        met: the largest tire without a miss; None: none.
        first_miss: the smallest one with a miss; None: none. Where it lies below `met`, chance decides
            between the two.
        reliable: the largest tire without a miss below the first one that had some.
        share: of the tire `reliable`: at most so many of its steps miss their deadline, at 95 % confidence.
        measured: how many sizes were.
    """

    threads: int
    met: MapCell | None
    first_miss: MapCell | None
    reliable: MapCell | None
    share: float | None
    measured: int

    @property
    def is_clear(self) -> bool:
        """Whether every measured size below the first miss met all, and every one from there on missed."""
        return self.met is None or self.first_miss is None or self.met.nodes < self.first_miss.nodes


@dataclass(frozen=True)
class Ratio:
    """How two policies compare for one number of threads, over the sizes that both have.

    Attributes:
        by_nodes: the one's time over the other's, of the repetitions' medians.
        longer, shorter: in how many sizes every repetition of the one took longer, or shorter, than every one
            of the other. Of single measurements that says nothing, so both are 0.
    """

    threads: int
    by_nodes: Mapping[int, float]
    longer: int = 0
    shorter: int = 0

    @property
    def middle(self) -> float:
        """The median over the sizes."""
        return median(self.by_nodes.values())


def fast_trial(run: Run) -> FastTrial:
    """What a real-fast run took.

    Raises:
        DamagedError: its samples can't be read.
    """
    found = real_fast(run)
    return FastTrial(run.id, found.elapsed_ns, found.simulated_ns, found.steps)


def map_trial(run: Run) -> MapTrial:
    """What deadlines a real-time run missed."""
    manifest = run.manifest
    misses = deadline_misses(run)
    first = run.measures[0]
    return MapTrial(
        run=run.id,
        due=misses.released or 0,
        missed=misses.missed_steps,
        stopped=manifest.ended == STOPPED,
        too_slow=_is_too_slow(manifest),
        worst_ns=max((one.maximum_ns for one in manifest.extremes if one.measure == first), default=None),
    )


def _is_too_slow(manifest: Manifest) -> bool:
    rehearsed_ns = manifest.header.rehearsal.fastest_ns
    period_ns = manifest.header.schedule.period_ns
    if rehearsed_ns is None or period_ns is None:
        return False
    steps_ns = [one.minimum_ns for one in manifest.extremes if one.measure == STEP]
    return bool(min([rehearsed_ns, *steps_ns]) > period_ns)


def boundaries(cells: Iterable[MapCell]) -> tuple[Boundary, ...]:
    """Of each number of threads, fewest first."""
    found: dict[int, list[MapCell]] = {}
    for cell in cells:
        found.setdefault(cell.threads, []).append(cell)
    return tuple(_boundary(threads, own) for threads, own in sorted(found.items()))


def _boundary(threads: int, cells: Sequence[MapCell]) -> Boundary:
    measured = sorted((one for one in cells if one.trials), key=lambda one: one.nodes)
    met = [one for one in measured if one.missed == 0]
    first_miss = next((one for one in measured if one.missed), None)
    below = [one for one in met if first_miss is None or one.nodes < first_miss.nodes]
    reliable = below[-1] if below else None
    return Boundary(
        threads,
        met[-1] if met else None,
        first_miss,
        reliable,
        miss_bound(0, reliable.due) if reliable is not None and reliable.due else None,
        len(measured),
    )


def ratios(over: Sequence[FastCell], under: Sequence[FastCell]) -> tuple[Ratio, ...]:
    """How long the one takes in times of the other, of each number of threads, fewest first."""
    others = {(one.threads, one.nodes): one for one in under}
    pairs: dict[int, list[tuple[FastCell, FastCell]]] = {}
    for cell in sorted(over, key=lambda one: (one.threads, one.nodes)):
        other = others.get((cell.threads, cell.nodes))
        if other is not None and cell.trials and other.trials:
            pairs.setdefault(cell.threads, []).append((cell, other))
    return tuple(_ratio(threads, own) for threads, own in pairs.items())


def _ratio(threads: int, pairs: Sequence[tuple[FastCell, FastCell]]) -> Ratio:
    by_nodes, longer, shorter = {}, 0, 0
    for one, other in pairs:
        mine, its = (spread([trial.elapsed_ns for trial in cell.trials]) for cell in (one, other))
        by_nodes[one.nodes] = mine.middle / max(1.0, its.middle)
        if min(len(one.trials), len(other.trials)) > 1:
            longer += mine.least > its.largest
            shorter += mine.largest < its.least
    return Ratio(threads, by_nodes, longer, shorter)


def class_of(missed: int) -> int:
    """Which of `CLASSES` a number of misses is in."""
    return next(at for at, (_, last) in enumerate(CLASSES) if last is None or missed <= last)
