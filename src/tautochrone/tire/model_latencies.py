"""T_switch and T_ipc of equation (2) of garre2014: what the mechanism experiments measured of them.

Both are medians. The paper explains its worst cases with the worst latencies of its Table 1; here a mean step
is explained, to which a switch contributes what it usually takes. (The mean of a mechanism's samples would
also hold the interrupts that fell into some of them, and those are no part of a switch.)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from tautochrone.judge.rows import DURATION, Row, rows_of
from tautochrone.run.folder import Run
from tautochrone.statistics.proportion import Estimate

SWITCH, IPC = "T_switch", "T_ipc"


@dataclass(frozen=True)
class _Origin:
    """A row of an experiment, and the measure that is meant."""

    experiment: str
    row: str
    measure: str = DURATION


_SWITCH = (_Origin("rhealstone", "task switch"),)
_IPC = {
    "semaphore": (
        _Origin("rhealstone", "semaphore shuffle"),
        _Origin("response", "semaphore", "one_way_ns"),  # where there are no priorities
    ),
    "mutex-pi": (_Origin("switch", "hand-over inherit"),),
}
"""By the solver's lock."""

_NOT_UNDER = (
    "no experiment measures a switch under policy {policy}, where nothing makes a thread give way to another"
)


@dataclass(frozen=True)
class Latency:
    """One of the two.

    Attributes:
        name: "T_switch" or "T_ipc".
        typical: median in ns; of several runs, the median of theirs, from the lowest to the highest end of
            their intervals. None if it was not measured.
        worst_ns: the largest sample.
        row: of the experiment, with the CPUs.
        runs: their ids.
        policy: under which it was measured.
        note: why it is None, or what is not as asked for.
    """

    name: str
    typical: Estimate | None
    worst_ns: int | None = None
    row: str = ""
    runs: tuple[str, ...] = ()
    policy: str = ""
    note: str = ""


def switch_latency(runs: Sequence[Run], policy: str) -> Latency:
    """From one thread to another of equal priority on the same CPU.

    Under a policy without priorities that can't be measured. Then what another policy needed stands for it,
    and the note says so: the kernel's path is the same but for the choice of the next thread.
    """
    found = list(_rows(runs, _SWITCH, policy, across=False))
    if found:
        return _latency(SWITCH, found, policy)
    not_under = _NOT_UNDER.format(policy=policy)
    for other in ("fifo", "rr"):
        if instead := list(_rows(runs, _SWITCH, other, across=False)):
            return _latency(SWITCH, instead, other, f"measured under {other}; {not_under}")
    return Latency(SWITCH, None, note="not measured" if policy in ("fifo", "rr") else not_under)


def ipc_latency(runs: Sequence[Run], policy: str, solver: str, *, across: bool) -> Latency:
    """A lock of this solver's kind handed to the thread that sleeps at it, on one CPU or ``across`` two."""
    found = list(_rows(runs, _IPC.get(solver, ()), policy, across=across))
    if found:
        return _latency(IPC, found, policy)
    return Latency(IPC, None, note=f"not measured {'across CPUs' if across else 'on one CPU'}")


def _rows(
    runs: Sequence[Run], origins: Sequence[_Origin], policy: str, *, across: bool
) -> Iterator[tuple[Run, Row]]:
    """Those that were measured under this policy."""
    for run in runs:
        if (run.manifest.header.get("parameters") or {}).get("policy") != policy:
            continue
        for origin in origins:
            if run.manifest.experiment == origin.experiment:
                for row in rows_of(run, origin.measure):
                    if row.name == origin.row and row.across == across and row.summary is not None:
                        yield run, row


def _latency(name: str, found: Sequence[tuple[Run, Row]], policy: str, note: str = "") -> Latency:
    summaries = [row.summary for _, row in found if row.summary is not None]
    known = [
        (one.low, one.value, one.high, one.confidence)
        for summary in summaries
        for one in summary.quantiles
        if one.q == 0.5 and one.low is not None and one.value is not None and one.high is not None
    ]
    if not known:
        return Latency(name, None, note="too few samples for a median")
    lows, values, highs, confidences = zip(*known, strict=True)
    run, row = found[0]
    return Latency(
        name,
        Estimate(float(median(values)), float(min(lows)), float(max(highs)), confidences[0], len(values)),
        max(summary.maximum for summary in summaries),
        f"{run.manifest.experiment}: {run.sources[row.source]}",
        tuple(dict.fromkeys(run.id for run, _ in found)),
        policy,
        note,
    )
