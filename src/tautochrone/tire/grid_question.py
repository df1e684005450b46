"""A grid of tires: a plan over numbers of masses and threads and over policies, made of a verb's options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_rate, parse_duration_ns, parse_period_ns
from tautochrone.base.words import listed, plural
from tautochrone.experiments import Value
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.grid import chosen_of, grid_document
from tautochrone.measure.ranges import ascending, parse_counts, parts, range_of, values

MASSES_UNIT = 4  # masses are multiples of it
MASSES_MOST = 1 << 28
"""What the probe takes at most."""

_MOST_NAMED = 3


def parse_nodes(text: str) -> tuple[int, ...]:
    """Return numbers of masses, ascending, each once.

    Raises:
        UsageError: a part can't be read, a range is empty, or a number is no multiple of 4.
    """
    found: list[int] = []
    named: list[int] = []
    for part in parts(text, "--nodes"):
        found += values(part, MASSES_UNIT, "--nodes", "400,800, 100..5900/580 or 1000..128000:15")
        match = range_of(part)
        if match and match[3] == "/" and int(match[4]) % MASSES_UNIT:
            raise UsageError(
                f"--nodes {part}: steps of {match[4]} give masses that are no multiples of {MASSES_UNIT}",
                f"Take steps of {' or '.join(_around(int(match[4])))}.",
            )
        named += [int(match[1]), *([int(match[2])] if match[3] == ":" else [])] if match else [int(part)]
    _see_multiples(named)
    if max(found) > MASSES_MOST:
        raise UsageError(f"--nodes {max(found)}: too many masses", f"Take at most {MASSES_MOST:,}.")
    return ascending(found, "--nodes")


def parse_threads(text: str) -> tuple[int, ...]:
    """Return numbers of threads, ascending, each once."""
    found = parse_counts(text, "--threads", "1,2,4 or 1..12")
    if 0 in found:
        raise UsageError(f"--threads {text}: 0 threads compute nothing", "Give 1 or more.")
    return found


def teams_of(threads: Sequence[int]) -> str:
    """Say ``1, 2 and 4 threads``."""
    return plural(threads[0], "thread") if len(threads) == 1 else f"{listed(list(map(str, threads)))} threads"


def _see_multiples(named: Sequence[int]) -> None:
    wrong = [value for value in named if value % MASSES_UNIT or value < MASSES_UNIT]
    if not wrong:
        return
    if min(wrong) < MASSES_UNIT:
        raise UsageError(f"--nodes {min(wrong)}: a tire has at least {MASSES_UNIT} masses", "Take 4 or more.")
    some, more = wrong[:_MOST_NAMED], len(wrong) - _MOST_NAMED
    raise UsageError(
        f"--nodes: {', '.join(map(str, some))}{f' and {more} more' if more > 0 else ''} "
        f"{'is no multiple' if len(wrong) == 1 else 'are no multiples'} of {MASSES_UNIT}",
        f"Nearest: {'; '.join(' or '.join(_around(value)) for value in some)}.",
    )


def _around(value: int) -> list[str]:
    below = value // MASSES_UNIT * MASSES_UNIT
    return [str(one) for one in (below, below + MASSES_UNIT) if one >= MASSES_UNIT]


FAST, MAP = "tire-fast", "tire-map"
"""What a grid is about; its report is made by that."""

LOCKING = ("semaphore", "mutex-pi")
ONE_THREAD = "single"
SOLVERS = (*LOCKING, "halo", ONE_THREAD)
EXPERIMENT = "tire"
AUTO = "auto"
_PRETEST_THREADS = 40


@dataclass(frozen=True)
class TireGrid:
    """What is varied, ascending, and what is the same in all cases.

    Attributes:
        fixed: options of the experiment that all cases have.
    """

    kind: str
    title: str
    nodes: tuple[int, ...]
    threads: tuple[int, ...]
    policies: tuple[str, ...]
    fixed: Mapping[str, Value] = field(default_factory=dict)

    @property
    def without(self) -> dict[int, tuple[int, ...]]:
        """Return the masses that are too few, by the number of threads: a thread computes one at least."""
        too_few = {count: tuple(one for one in self.nodes if one < count) for count in self.threads}
        return {count: nodes for count, nodes in too_few.items() if nodes}

    @property
    def cells(self) -> int:
        """Return how many are measured in each repetition."""
        left_out = sum(map(len, self.without.values()))
        return (len(self.nodes) * len(self.threads) - left_out) * len(self.policies)


@dataclass(frozen=True)
class Common:
    """What all cases of a grid have in common, as a person gave it."""

    solver: str
    step: str
    duration: str
    cpus: str | None = None
    memory_lock: bool = True

    def __post_init__(self) -> None:
        """See that it can be."""
        chosen_of(self.solver, SOLVERS, "--solver")
        lengths = {"--step": (parse_period_ns, self.step), "--duration": (parse_duration_ns, self.duration)}
        for option, (parse, text) in lengths.items():
            if parse(text) == 0:
                raise UsageError(f"{option} {text}: nothing would be computed", "Give a time above 0.")

    @property
    def options(self) -> dict[str, Value]:
        """Return the options of the experiment that say it."""
        return {
            "solver": self.solver,
            "step": self.step,
            "duration": self.duration,
            **({"cpus": self.cpus} if self.cpus is not None else {}),
            **({} if self.memory_lock else {"no-memory-lock": True}),
        }


@dataclass(frozen=True)
class Usual:
    """What a map measures by itself; ``quick``: in about a minute."""

    nodes: str
    step: str
    duration: str
    quick_nodes: str
    quick_duration: str


LOCKING_MAP = Usual("4000..1024000:17", "10ms", "60s", "16000..1024000:7", "5s")
"""Of solvers with a lock for each mass: garre2014, Figures 9 to 13, end at 60,000."""

ARRAY_MAP = Usual("250000..16000000:13", "10ms", "60s", "500000..16000000:6", "5s")
PRETEST = Usual("40..200/40", "500us", "10s", "40,200", "2s")
"""Figure 8."""


def usual_map(solver: str) -> Usual:
    """Return the usual map of a solver."""
    return LOCKING_MAP if solver in LOCKING else ARRAY_MAP


def document_of(
    grid: TireGrid, axes: Mapping[str, str | None], repetitions: int = 1, seed: int | None = None
) -> PlanDocument:
    """Return the plan that measures the grid in randomised blocks.

    Raises:
        UsageError: no case is left, since there are more threads than masses everywhere.
    """
    if not grid.cells:
        raise UsageError(
            f"{grid.threads[0]} threads for {grid.nodes[-1]} masses: a thread computes one mass at least",
            "Take fewer threads, or more masses.",
        )
    options: dict[str, Sequence[Value]] = {
        "nodes": grid.nodes,
        "threads": grid.threads,
        "policy": grid.policies,
        **{name: (value,) for name, value in grid.fixed.items()},
    }
    document = grid_document(
        grid.kind,
        grid.title,
        EXPERIMENT,
        options,
        axes,
        name=EXPERIMENT,
        exclusions=[
            {"threads": (str(count),), "nodes": tuple(map(str, nodes))}
            for count, nodes in grid.without.items()
        ],
    )
    return replace(document, repetitions=repetitions, seed=seed)


@dataclass(frozen=True)
class Varied:
    """What a grid varies, as a person gave it.

    Attributes:
        threads: numbers of them; None: the usual ones, which are those of the team.
    """

    nodes: tuple[int, ...]
    threads: str | None
    team: Sequence[int]
    policies: tuple[str, ...]


def fast_grid(varied: Varied, common: Common) -> TireGrid:
    """Return the grid of tires as fast as possible: garre2014, 4.3."""
    return TireGrid(
        FAST,
        f"Tire as fast as possible, {common.duration} simulated, {common.solver}",
        varied.nodes,
        _threads_for(common.solver, varied),
        varied.policies,
        {"pace": "real-fast", **common.options},
    )


def map_grid(varied: Varied, common: Common, *, soft: bool) -> TireGrid:
    """Return the grid of tires at a rate, deadlines counted: garre2014, 4.4.

    A case that can't keep its rate at all is measured like the others (``overload``): it tells by how much.

    Args:
        soft: every case is measured to its end; otherwise to its first miss.
    """
    rate = format_rate(1e9 / parse_period_ns(common.step))
    return TireGrid(
        MAP,
        f"Tire at {rate}, {'soft' if soft else 'hard'} real time, {common.duration}, {common.solver}",
        varied.nodes,
        _threads_for(common.solver, varied),
        varied.policies,
        {"pace": "real-time", "overrun": "skip" if soft else "stop", "overload": True, **common.options},
    )


def _threads_for(solver: str, varied: Varied) -> tuple[int, ...]:
    if solver != ONE_THREAD:
        return chosen_threads(varied.threads, varied.team)
    found = chosen_threads(varied.threads, (1,))
    if found != (1,):
        raise UsageError(
            f"--threads {varied.threads}: solver {ONE_THREAD} has one thread",
            "Leave --threads out, or take another solver.",
        )
    return found


def chosen_threads(text: str | None, usual: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of threads that were asked for; ``auto``, also within a list, is the usual ones."""
    auto = ",".join(map(str, usual))
    parts = [auto if part.strip() == AUTO else part for part in (text or AUTO).split(",")]
    return parse_threads(",".join(parts))


def pretest_threads(team: Sequence[int]) -> tuple[int, ...]:
    """Return up to 40, where garre2014 saw the first miss, and up to four for each logical CPU."""
    most = max(_PRETEST_THREADS, 2 * max(team))
    steps = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512)
    return tuple(one for one in steps if one <= most)
