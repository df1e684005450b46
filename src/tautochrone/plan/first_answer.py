"""What `tauto` alone measures: the ruler, a control loop at two rates, idle and beside a load, mechanisms."""

from tautochrone.plan.cell import IDLE, Cell, Load

BUILT_IN_LOAD = "cpu+memory"
_LOAD_LASTS_LONGEST = "10min"  # it ends with the lab; this is for when both are forgotten
_LOAD_BYTES = 256 * 1024 * 1024


def built_in_load(cpus: str = "all") -> Load:
    """Arithmetic on every chosen CPU, and memory that is allocated, touched, copied and freed beside it."""
    common = ("--cpus", cpus, "--duration", _LOAD_LASTS_LONGEST)
    return Load(BUILT_IN_LOAD, (("cpu", *common), ("memory", *common, "--bytes", str(_LOAD_BYTES))))


def first_answer(
    seconds: float, policy: str = "fifo", command: tuple[str, ...] = (), *, memory_lock: bool = True
) -> tuple[Cell, ...]:
    """The cells of the first answer.

    Args:
        seconds: for the loops: two fifths for 1 kHz idle, two for 1 kHz loaded, one for 10 kHz.
        policy: of the measuring threads; "other" where real-time priority is not permitted.
        command: what a person typed to get them.
        memory_lock: False where locked memory is not permitted.
    """
    slow_ms = max(500, round(seconds * 1000 * 2 / 5))
    fast_ms = max(250, round(seconds * 1000 / 5))
    load = built_in_load()
    pageable = () if memory_lock else ("--no-memory-lock",)

    def loop(period: str, duration_ms: int, what: str, beside: Load) -> Cell:
        arguments = ("--period", period, "--duration", f"{duration_ms}ms", "--policy", policy, *pageable)
        title = f"scheduling latency, {what}"
        return Cell("cyclic", arguments, title, beside, duration_ms / 1000 + 0.2, command)

    return (
        Cell("clock", ("--count", "20000", *pageable), "clocks", IDLE, 1.0, command),
        loop("1ms", slow_ms, "1 kHz, idle", IDLE),
        loop("1ms", slow_ms, f"1 kHz, load {load.name}", load),
        loop("100us", fast_ms, f"10 kHz, load {load.name}", load),
        *_mechanisms(command, pageable),
    )


def _mechanisms(command: tuple[str, ...], pageable: tuple[str, ...]) -> tuple[Cell, ...]:
    """About a second each: what `judgement.mechanisms` makes its lines of. They need real-time priority."""
    return (
        Cell(
            "switch",
            ("--place", "same", "--mutex", "none", "--count", "2000", *pageable),
            "context switch",
            IDLE,
            0.5,
            command,
        ),
        Cell(
            "response",
            (
                *("--mechanisms", "semaphore", "--period", "1ms"),
                *("--repetitions", "20", "--count", "20", "--warmup", "5", *pageable),
            ),
            "semaphore",
            IDLE,
            1.2,
            command,
        ),
        Cell(
            "inversion",
            ("--count", "3", "--warmup", "0", "--patience", "25ms", *pageable),
            "priority inversion",
            IDLE,
            1.5,
            command,
        ),
    )
