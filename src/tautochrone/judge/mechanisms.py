"""What the mechanisms of a system cost, one line each: switching, waking, and what a lock lets happen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tautochrone.base.words import sentence
from tautochrone.judge.inversion import LockVerdict, judge_run
from tautochrone.judge.rows import ACROSS_CPUS, absent_rows, parse_row
from tautochrone.run.folder import StoredRun

Where = Literal["same", "other"]


Kind = Literal["switch", "handover", "wake", "wake across", "plain lock", "inheriting lock", "ceiling lock"]


@dataclass(frozen=True)
class Mechanism:
    """One line.

    Attributes:
        kind: which mechanism.
        typical_ns: median; None if it was not measured.
        worst_ns: the largest of these samples, which is no bound for the next.
        lock: of a lock, what was seen; None: nothing.
        critical_ns, middle_ns: of a lock, lengths of the critical section and of the work of the middle task.
        absent: why it was not measured, as the probe or the command tells it; "ended": the run did before a
            sample was taken; "unknown": nobody says why. Empty: it was measured.
    """

    kind: Kind
    typical_ns: int | None = None
    worst_ns: int | None = None
    lock: LockVerdict | None = None
    critical_ns: int | None = None
    middle_ns: int | None = None
    absent: Literal["", "told", "ended", "unknown"] = ""
    told: str = ""

    @property
    def warns(self) -> bool:
        """Whether it is a warning."""
        return self.lock is not None and self.lock.standing == "open"


@dataclass(frozen=True)
class _Row:
    """A row of an experiment: the first word of its source's name, and where its threads are."""

    experiment: str
    source: str
    where: Where
    kind: Kind


_ROWS = (
    _Row("switch", "yield", "same", "switch"),
    _Row("switch", "hand-over", "same", "handover"),
    _Row("response", "semaphore", "same", "wake"),
    _Row("response", "semaphore", "other", "wake across"),
)
_LOCKS: dict[str, Kind] = {
    "plain mutex": "plain lock",
    "inheriting mutex": "inheriting lock",
    "ceiling mutex": "ceiling lock",
}
EXPERIMENTS = ("switch", "response", "inversion")
"""Those that the lines come from."""


def mechanisms(runs: Sequence[StoredRun], lacking: Mapping[str, str]) -> tuple[Mechanism, ...]:
    """The lines, from the first run of each experiment.

    Args:
        lacking: why an experiment was not measured, by its name.

    Returns:
        Always the same lines; what was not measured says why. None at all where nothing was even tried.
    """
    found = {run.manifest.experiment: run for run in reversed(runs)}
    if not any(name in found or name in lacking for name in EXPERIMENTS):
        return ()
    costs = tuple(_cost(row, found.get(row.experiment), lacking) for row in _ROWS)
    return (*costs, *_locks(found.get("inversion"), lacking.get("inversion", "")))


def _cost(row: _Row, run: StoredRun | None, lacking: Mapping[str, str]) -> Mechanism:
    source = _source(run, row) if run is not None else None
    if run is None or source is None:
        return _absent(row.kind, _why_absent(run, row) or lacking.get(row.experiment, ""))
    values = np.asarray(run.values(source=source))
    if not len(values):
        return Mechanism(row.kind, absent="ended")
    median = int(np.quantile(values, 0.5, method="inverted_cdf"))
    return Mechanism(row.kind, median, int(values.max()))


def _absent(kind: Kind, why: str) -> Mechanism:
    return Mechanism(kind, absent="told" if why else "unknown", told=why)


def _source(run: StoredRun, row: _Row) -> int | None:
    """The first source of this kind and place."""
    for source, name in run.sources.items():
        parsed = parse_row(name)
        if _kind_of(name) == row.source and parsed.across == (row.where == "other"):
            return source
    return None


def _kind_of(name: str) -> str:
    """The first word of the name of a row."""
    return parse_row(name).name.partition(" ")[0]


def _why_absent(run: StoredRun | None, row: _Row) -> str:
    for name, why in absent_rows(run).items() if run is not None else ():
        if _kind_of(name) == row.source or (row.where == "other" and name in ACROSS_CPUS):
            return sentence(why)
    return ""


def _locks(run: StoredRun | None, why: str) -> tuple[Mechanism, ...]:
    verdicts = {one.lock: one for one in judge_run(run)} if run is not None else {}
    parameters = run.manifest.header.parameters if run is not None else {}
    told = (parameters.get(name) for name in ("critical_ns", "middle_ns"))
    held, work = (one if isinstance(one, int) else None for one in told)
    return tuple(
        Mechanism(kind, verdicts[lock].median_ns, verdicts[lock].worst_ns, verdicts[lock], held, work)
        if lock in verdicts
        else _absent(kind, _why_no_lock(run, lock) or why)
        for lock, kind in _LOCKS.items()
    )


def _why_no_lock(run: StoredRun | None, lock: str) -> str:
    absent = absent_rows(run) if run is not None else {}
    why = next((why for name, why in absent.items() if parse_row(name).name == lock), "")
    return sentence(why) if why else ""
