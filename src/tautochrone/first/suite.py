"""What `tauto probe all` measures: each experiment once, from the ruler to a set of tasks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tautochrone.experiments import EXPERIMENTS, Options, Prepared, Value
from tautochrone.experiments.special import of_task_set
from tautochrone.judge.rhealstone import INTERRUPT_MEASURE
from tautochrone.machine.deployment.deployment import Deployment
from tautochrone.measure.cell import IDLE, Cell, Load
from tautochrone.run.folder import Run
from tautochrone.schedulability.taskset import Task, TaskSet

_MS = 1_000_000
_INTERRUPT_RATE_HZ = 100  # of laurich2004


@dataclass(frozen=True)
class _Lengths:
    """How much of each experiment; the others are as long as they usually are."""

    clock_count: int
    cyclic: str
    count: int
    inversion_count: int
    response_repetitions: int
    response_warmup: int
    interrupt: str
    taskset: str


_WHOLE = _Lengths(
    clock_count=100_000,
    cyclic="60s",
    count=10_000,
    inversion_count=10,
    response_repetitions=50,
    response_warmup=10,
    interrupt="60s",
    taskset="30s",
)
_QUICK = _Lengths(
    clock_count=20_000,
    cyclic="8s",
    count=2_000,
    inversion_count=3,
    response_repetitions=5,
    response_warmup=2,
    interrupt="8s",
    taskset="5s",
)


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
    deployment: Deployment | None = None,
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
        deployment: under which all of them are measured.
    """
    some = _QUICK if quick else _WHOLE
    pageable: Options = {} if memory_lock else {"no-memory-lock": True}
    own: Options = {"policy": policy} if policy != "fifo" else {}

    def prepared(experiment: str, **options: Value) -> Prepared:
        return EXPERIMENTS[experiment].prepare({**_dashed(options), **pageable}, Path())

    def cell(experiment: str, title: str, found: Prepared) -> Cell:
        return Cell(
            experiment=experiment,
            arguments=found.arguments,
            title=f"{title}, {load.name}",
            load=load,
            expected_s=found.expected_s,
            command=command,
            conditions=found.conditions,
            deployment=deployment,
        )

    loop = {"period": "1ms", "duration": some.cyclic, "policy": policy}
    timer = {"rate": _INTERRUPT_RATE_HZ, "duration": some.interrupt, **own}
    exchanges = {"repetitions": some.response_repetitions, "warmup": some.response_warmup}
    tasks = of_task_set(delgado_set(min(cpus)), {"duration": some.taskset, "policy": policy, **pageable})
    # Where the timer's handler can't be seen, the preemption latency alone.
    preemption = cell("interrupt", "interrupt latency", prepared("interrupt", **timer, without_handler=True))
    return (
        cell("clock", "clocks", prepared("clock", count=some.clock_count)),
        cell("cyclic", "scheduling latency, 1 kHz", prepared("cyclic", **loop)),
        cell("switch", "context switch", prepared("switch", count=some.count)),
        replace(cell("interrupt", "interrupt latency", prepared("interrupt", **timer)), instead=preemption),
        cell("rhealstone", "Rhealstone", prepared("rhealstone", count=some.count)),
        cell("inversion", "priority inversion", prepared("inversion", count=some.inversion_count)),
        cell("period", "error of the period", prepared("period", **own)),
        cell("response", "response time", _on(len(cpus), prepared("response", **exchanges))),
        cell("taskset", "task set of delgado2020", EXPERIMENTS["taskset"].ready(*tasks)),
    )


def _on(cpus: int, response: Prepared) -> Prepared:
    """The rows of two CPUs are left out where there is one."""
    return response if cpus > 1 else replace(response, expected_s=response.expected_s / 2)


def _dashed(options: Options) -> Options:
    return {name.replace("_", "-"): value for name, value in options.items()}


def with_interrupts(cell: Cell, runs: Sequence[Run]) -> Cell:
    """Rhealstone with the interrupt latency that was measured before, if it was, as `--interrupt` has it."""
    known = [run for run in runs if INTERRUPT_MEASURE in run.measures and run.count(INTERRUPT_MEASURE)]
    if cell.experiment != "rhealstone" or not known:
        return cell
    return replace(
        cell, command=("tauto", "probe", "rhealstone", "--interrupt", known[-1].id, *cell.arguments)
    )
