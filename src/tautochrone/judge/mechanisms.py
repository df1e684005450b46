"""What the mechanisms of a system cost, one line each: switching, waking, and what a lock lets happen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tautochrone.base.units import format_duration
from tautochrone.base.words import sentence
from tautochrone.judge.inversion import LockVerdict, judge_run
from tautochrone.run.folder import Integers, Run

Where = Literal["same", "other"]


@dataclass(frozen=True)
class Mechanism:
    """One line.

    Attributes:
        what: the mechanism, in words.
        typical_ns: median; None if it was not measured.
        worst_ns: the largest of these samples, which is no bound for the next.
        meaning: what to make of it.
        why_not: why it was not measured; empty if it was.
        warns: whether the meaning is a warning.
    """

    what: str
    typical_ns: int | None
    worst_ns: int | None
    meaning: str
    why_not: str = ""
    warns: bool = False


@dataclass(frozen=True)
class _Row:
    """A row of an experiment: the beginning of its source's name, and where its threads are."""

    experiment: str
    source: str
    where: Where
    what: str
    meaning: str


_ROWS = (
    _Row(
        "switch",
        "yield",
        "same",
        "Switch between two equal threads",
        "What changing threads costs by itself (sched_yield).",
    ),
    _Row(
        "switch",
        "hand-over",
        "same",
        "Mutex passes to a more urgent thread",
        "What a lock costs that somebody waits for: unlock, switch, lock.",
    ),
    _Row(
        "response",
        "semaphore",
        "same",
        "Semaphore wakes a thread, same CPU",
        "From the post to the first time stamp of the thread that waited.",
    ),
    _Row(
        "response",
        "semaphore",
        "other",
        "Semaphore wakes a thread, other CPU",
        "The same, and the wake-up of the other CPU.",
    ),
)
_LOCKS = {
    "plain mutex": "Waiting for a plain mutex",
    "inheriting mutex": "Waiting for an inheriting mutex",
    "ceiling mutex": "Waiting for a ceiling mutex",
}
EXPERIMENTS = ("switch", "response", "inversion")
"""Those that the lines come from."""


def mechanisms(runs: Sequence[Run], lacking: Mapping[str, str]) -> tuple[Mechanism, ...]:
    """The lines, from the first run of each experiment.

    Args:
        runs: any; those of other experiments are passed over.
        lacking: why an experiment was not measured, by its name.

    Returns:
        Always the same lines; what was not measured says why. None at all where nothing was even tried.
    """
    found = {run.manifest.experiment: run for run in reversed(runs)}
    if not any(name in found or name in lacking for name in EXPERIMENTS):
        return ()
    costs = tuple(_cost(row, found.get(row.experiment), lacking) for row in _ROWS)
    return (*costs, *_locks(found.get("inversion"), lacking.get("inversion", "It was not measured.")))


def _cost(row: _Row, run: Run | None, lacking: Mapping[str, str]) -> Mechanism:
    why = lacking.get(row.experiment, "It was not measured.")
    source = _source(run, row) if run is not None else None
    if run is None or source is None:
        return Mechanism(row.what, None, None, row.meaning, _why_absent(run, row) or why)
    values = np.asarray(run.values(source=source))
    if not len(values):
        return Mechanism(row.what, None, None, row.meaning, "It ended before a sample was taken.")
    return Mechanism(row.what, _median(values), int(values.max()), row.meaning)


def _source(run: Run, row: _Row) -> int | None:
    """The first source of this kind and place: names are like "yield, cpu0" and "semaphore, cpu0 to cpu1"."""
    for source, name in run.sources.items():
        kind, _, cpus = name.partition(", cpu")
        if kind.split(" ")[0] == row.source and (" to " in cpus) == (row.where == "other"):
            return source
    return None


def _why_absent(run: Run | None, row: _Row) -> str:
    absent = run.manifest.header.get("absent", []) if run is not None else []
    for one in absent:
        name = str(one["name"])
        if name.startswith(row.source) or (row.where == "other" and "CPU" in name):
            why = str(one["why"])
            return sentence(why)
    return ""


def _locks(run: Run | None, why: str) -> tuple[Mechanism, ...]:
    verdicts = {one.lock: one for one in judge_run(run)} if run is not None else {}
    parameters = run.manifest.header.get("parameters", {}) if run is not None else {}
    held = _of(parameters.get("critical_ns"))
    work = _of(parameters.get("middle_ns"))
    return tuple(
        _lock(what, verdicts[lock], held, work)
        if lock in verdicts
        else Mechanism(what, None, None, "", _why_no_lock(run, lock) or why)
        for lock, what in _LOCKS.items()
    )


def _of(duration_ns: object) -> str:
    return f" of {format_duration(duration_ns)}" if isinstance(duration_ns, int) else ""


def _why_no_lock(run: Run | None, lock: str) -> str:
    absent = run.manifest.header.get("absent", []) if run is not None else []
    why = next((str(one["why"]) for one in absent if str(one["name"]).startswith(lock)), "")
    return sentence(why) if why else ""


def _lock(what: str, verdict: LockVerdict, held: str, work: str) -> Mechanism:
    meaning = {
        "open": f"Open to priority inversion: beyond the critical section{held} an urgent thread waited for "
        f"work{work} that has nothing to do with the lock.",
        "safe": f"Safe from priority inversion: it waited for the critical section{held}, "
        "not for other work.",
        "not shown": f"Not shown: {verdict.why_not_shown or 'the scenario did not come about'}.",
    }[verdict.standing]
    return Mechanism(what, verdict.median_ns, verdict.worst_ns, meaning, warns=verdict.standing == "open")


def _median(values: Integers) -> int:
    return int(np.quantile(values, 0.5, method="inverted_cdf"))
