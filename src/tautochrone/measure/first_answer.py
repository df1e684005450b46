"""What `tauto` alone measures: the ruler, a control loop at two rates, idle and beside a load, mechanisms."""

from dataclasses import replace
from pathlib import Path
from secrets import token_hex

from tautochrone.experiments import EXPERIMENTS, Options
from tautochrone.experiments.usual import BLAME
from tautochrone.machine.deployment import Deployment
from tautochrone.measure.cell import IDLE, Cell, Load
from tautochrone.measure.loads.kinds import BUILT_IN_PAIR
from tautochrone.measure.loads.spec import parse_load
from tautochrone.run.store import ANSWER

_SEMAPHORE: Options = {
    "mechanisms": "semaphore",
    "period": "1ms",
    "repetitions": 20,
    "count": 20,
    "warmup": 5,
}


def first_answer(
    seconds: float,
    policy: str = "fifo",
    command: tuple[str, ...] = (),
    *,
    memory_lock: bool = True,
    load: Load | None = None,
    deployment: Deployment | None = None,
    blame: str | None = None,
) -> tuple[Cell, ...]:
    """Return the cases of the first answer.

    Args:
        seconds: for the loops: two fifths for 1 kHz idle, two for 1 kHz loaded, one for 10 kHz.
        policy: of the measuring threads; "other" where real-time priority is not permitted.
        command: what a person typed to get them.
        memory_lock: False where locked memory is not permitted.
        load: beside which the loaded loops run; None: the built-in one.
        deployment: under which all of them are measured.
        blame: of the loops, which cycles are late, whose causes are recorded; None: of no cycle.
    """
    slow_ms = max(500, round(seconds * 1000 * 2 / 5))
    fast_ms = max(250, round(seconds * 1000 / 5))
    loaded = parse_load([BUILT_IN_PAIR]) if load is None else load
    answer = token_hex(4)
    pageable: Options = {} if memory_lock else {"no-memory-lock": True}

    def cell(experiment: str, title: str, options: Options, beside: Load = IDLE) -> Cell:
        prepared = EXPERIMENTS[experiment].prepare({**options, **pageable}, Path())
        return Cell(
            experiment,
            prepared.options,
            title,
            beside,
            prepared.expected_s,
            command,
            replace(prepared.conditions, own={ANSWER: {"id": answer, "verdict": experiment == "cyclic"}}),
            deployment=deployment,
        )

    def loop(period: str, duration_ms: int, what: str, beside: Load) -> Cell:
        options: Options = {
            "period": period,
            "duration": f"{duration_ms}ms",
            "policy": policy,
            **({} if blame is None else {BLAME.name: blame}),
        }
        return cell("cyclic", f"scheduling latency, {what}", options, beside)

    return (
        cell("clock", "clocks", {"count": 20_000}),
        loop("1ms", slow_ms, "1 kHz, idle", IDLE),
        *((loop("1ms", slow_ms, f"1 kHz, load {loaded.name}", loaded),) if loaded != IDLE else ()),
        loop("100us", fast_ms, f"10 kHz, load {loaded.name}", loaded),
        # About a second each: what `judge.mechanisms` makes its lines of. They need real-time priority.
        cell("switch", "context switch", {"place": "same", "mutex": "none", "count": 2000}),
        cell("response", "semaphore", _SEMAPHORE),
        cell("inversion", "priority inversion", {"count": 3, "warmup": 0, "patience": "25ms"}),
    )
