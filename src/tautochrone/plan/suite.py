"""What `tauto probe all` measures: each experiment once, from the ruler to a set of tasks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tautochrone.judgement.rhealstone import INTERRUPT_MEASURE
from tautochrone.judgement.taskset_run import CONDITION, as_condition
from tautochrone.plan.cell import IDLE, Cell, Load
from tautochrone.plan.tasks import tasks_option
from tautochrone.run.folder import Run
from tautochrone.schedulability.analysis import analyse
from tautochrone.schedulability.taskset import Task, TaskSet

_MS = 1_000_000


@dataclass(frozen=True)
class _Lengths:
    """How much of each experiment.

    Attributes:
        expected_s: of the experiments whose length depends on how fast the machine is: switch, rhealstone,
            inversion.
    """

    clock_count: int
    cyclic_s: int
    switch_count: int
    rhealstone_count: int
    inversion_count: int
    period_count: int
    response_repetitions: int
    response_warmup: int
    interrupt_s: int
    taskset_s: int
    expected_s: tuple[float, float, float]


_WHOLE = _Lengths(
    clock_count=100_000,
    cyclic_s=60,
    switch_count=10_000,
    rhealstone_count=10_000,
    inversion_count=10,
    period_count=50,
    response_repetitions=50,
    response_warmup=10,
    interrupt_s=60,
    taskset_s=30,
    expected_s=(3.0, 3.0, 8.0),
)
_QUICK = _Lengths(
    clock_count=20_000,
    cyclic_s=8,
    switch_count=2_000,
    rhealstone_count=2_000,
    inversion_count=3,
    period_count=50,
    response_repetitions=5,
    response_warmup=2,
    interrupt_s=8,
    taskset_s=5,
    expected_s=(1.0, 1.0, 3.0),
)
_PERIODS_MS = (10, 30, 50)  # of koh2013
_RESPONSE_PERIOD_MS, _RESPONSE_COUNT, _RESPONSE_ROWS = 10, 10, 20
_INTERRUPT_RATE_HZ = 100  # of laurich2004


def delgado_set(cpu: int) -> TaskSet:
    """The task set of Delgado and Choi (2020), table 6, on this CPU."""
    tasks = tuple(
        Task(name, period_ms * _MS, period_ms * _MS, execution_ms * _MS, priority, cpu)
        for name, period_ms, execution_ms, priority in (
            ("tau1", 10, 3, 99),
            ("tau2", 20, 5, 80),
            ("tau3", 40, 10, 50),
        )
    )
    return TaskSet(tasks, "fixed", title="Delgado and Choi (2020), table 6")


def suite(
    quick: bool,
    load: Load = IDLE,
    command: tuple[str, ...] = (),
    *,
    cpus: tuple[int, ...] = (0, 1),
    policy: str = "fifo",
    memory_lock: bool = True,
) -> tuple[Cell, ...]:
    """The cells, one per experiment.

    Args:
        quick: short lengths, for about a minute in all; otherwise about seven minutes.
        load: what runs beside all of them.
        command: what a person typed to get them.
        cpus: the CPUs that may be used.
        policy: "other" where real-time priority is not permitted; then only what needs no priorities can be
            measured, and the rest is refused by the probe.
        memory_lock: False where locked memory is not permitted.
    """
    some = _QUICK if quick else _WHOLE
    pageable = () if memory_lock else ("--no-memory-lock",)
    own_policy = ("--policy", policy) if policy != "fifo" else ()
    switch_s, rhealstone_s, inversion_s = some.expected_s

    def cell(experiment: str, title: str, expected_s: float, *arguments: str) -> Cell:
        words = f"{title}, {load.name}"
        return Cell(experiment, (*arguments, *pageable), words, load, expected_s, command)

    return (
        cell("clock", "clocks", 1.0, "--count", str(some.clock_count)),
        cell(
            "cyclic",
            "scheduling latency, 1 kHz",
            some.cyclic_s + 0.2,
            *("--period", "1ms", "--duration", f"{some.cyclic_s}s", "--policy", policy),
        ),
        cell("switch", "context switch", switch_s, "--count", str(some.switch_count)),
        _interrupt(
            cell("interrupt", "interrupt latency", some.interrupt_s + 0.5), some.interrupt_s, own_policy
        ),
        cell("rhealstone", "Rhealstone", rhealstone_s, "--count", str(some.rhealstone_count)),
        cell("inversion", "priority inversion", inversion_s, "--count", str(some.inversion_count)),
        cell(
            "period",
            "error of the period",
            (some.period_count + 2) * sum(_PERIODS_MS) / 1000,
            *("--count", str(some.period_count), *own_policy),
        ),
        _response(
            some, cell("response", "response time", 0, "--period", f"{_RESPONSE_PERIOD_MS}ms"), len(cpus)
        ),
        _taskset(cell("taskset", "task set of delgado2020", some.taskset_s + 0.5), some, min(cpus), policy),
    )


def with_interrupts(cell: Cell, runs: Sequence[Run]) -> Cell:
    """Rhealstone with the interrupt latency that was measured before, if it was, as `--interrupt` has it."""
    known = [run for run in runs if INTERRUPT_MEASURE in run.measures and run.count(INTERRUPT_MEASURE)]
    if cell.experiment != "rhealstone" or not known:
        return cell
    return replace(
        cell, command=("tauto", "probe", "rhealstone", "--interrupt", known[-1].id, *cell.arguments)
    )


def _response(some: _Lengths, cell: Cell, cpus: int) -> Cell:
    lengths = {
        "--count": _RESPONSE_COUNT,
        "--repetitions": some.response_repetitions,
        "--warmup": some.response_warmup,
    }
    exchanges = some.response_repetitions * (_RESPONSE_COUNT + some.response_warmup)
    rows = _RESPONSE_ROWS if cpus > 1 else _RESPONSE_ROWS // 2
    words = tuple(word for name, value in lengths.items() for word in (name, str(value)))
    expected_s = rows * exchanges * _RESPONSE_PERIOD_MS / 1000
    return replace(cell, arguments=(*cell.arguments, *words), expected_s=expected_s)


def _interrupt(cell: Cell, seconds: int, policy: tuple[str, ...]) -> Cell:
    """Where the timer's handler can't be seen, the preemption latency alone."""
    words = ("--rate", str(_INTERRUPT_RATE_HZ), "--duration", f"{seconds}s", *policy)
    whole = replace(cell, arguments=(*cell.arguments, *words))
    return replace(whole, instead=replace(whole, arguments=(*whole.arguments, "--without-handler")))


def _taskset(cell: Cell, some: _Lengths, cpu: int, policy: str) -> Cell:
    task_set = delgado_set(cpu)
    words = (
        "--tasks",
        tasks_option(task_set, policy),
        "--duration",
        f"{some.taskset_s}s",
        "--policy",
        policy,
    )
    conditions = {CONDITION: as_condition(analyse(task_set))}
    return replace(cell, arguments=(*cell.arguments, *words), conditions=conditions)
