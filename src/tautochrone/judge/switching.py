"""The context switch of schmidt2002 (section 3.1, Table 1), from a run of the experiment `switch`."""

from dataclasses import dataclass

from tautochrone.judge.rows import DURATION, Published, SourceRow, absent_rows, rows_of
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.means import Difference, difference_of_means
from tautochrone.statistics.summary import Summary

SUSPEND, YIELD, HANDOVER, ALONE, CLOCK = (
    "suspend-resume", "yield", "hand-over", "mutex alone", "clock alone",
)  # fmt: skip
SUSPEND_ALONE = f"{SUSPEND} alone"
PROTOCOLS = ("none", "inherit")


@dataclass(frozen=True)
class Synchronized:
    """The synchronized suspend-resume test with one mutex protocol, all on one CPU.

    Attributes:
        protocol: "none" or "inherit".
        handover: the whole interval: unlock, switch, lock.
        alone: lock and unlock in one thread.
        switch: the difference of their means, which is the context switch. Its interval is None for a
            histogram, which does not keep the order of the samples.
    """

    protocol: str
    handover: Summary
    alone: Summary
    switch: Difference


@dataclass(frozen=True)
class Suspended:
    """The suspend-resume test.

    Attributes:
        resumed: the whole interval: resume, switch, suspend, switch.
        alone: suspend and resume of a thread that has nothing to do.
        switch: half of the difference of their means, which is the context switch.
    """

    resumed: Summary
    alone: Summary
    switch: Difference

    @property
    def jitter_ns(self) -> float:
        """Return half of the standard deviation of the whole interval."""
        return self.resumed.standard_deviation / 2


@dataclass(frozen=True)
class Switching:
    """What a run says of context switches; None, or left out, is what it did not measure.

    Attributes:
        suspended: the suspend-resume test, where the system can suspend another thread.
        across: hand-overs to a thread on another CPU, which are wake-ups and no context switches.
        absent: row and reason.
    """

    suspended: Suspended | None
    yielding: Summary | None
    clock: Summary | None
    synchronized: tuple[Synchronized, ...]
    across: tuple[SourceRow, ...]
    absent: dict[str, str]


def judge_switching(run: StoredRun) -> Switching:
    """Put the rows of one run together."""
    rows = list(rows_of(run))
    here = {row.name: row for row in rows if not row.across}
    return Switching(
        suspended=_suspended(run, here.get(SUSPEND), here.get(SUSPEND_ALONE)),
        yielding=here[YIELD].summary if YIELD in here else None,
        clock=here[CLOCK].summary if CLOCK in here else None,
        synchronized=tuple(
            Synchronized(protocol, *found)
            for protocol in PROTOCOLS
            if (found := _less(run, here.get(f"{HANDOVER} {protocol}"), here.get(f"{ALONE} {protocol}")))
        ),
        across=tuple(row for row in rows if row.across and row.summary is not None),
        absent=absent_rows(run),
    )


def _less(
    run: StoredRun, whole: SourceRow | None, alone: SourceRow | None
) -> tuple[Summary, Summary, Difference] | None:
    """Return a row, what it has besides the switch, and how much their means differ."""
    if whole is None or alone is None or whole.summary is None or alone.summary is None:
        return None
    if run.is_histogram:
        less = Difference(whole.summary.mean - alone.summary.mean, None, None, 0.95)
    else:
        less = difference_of_means(run.values(DURATION, whole.source), run.values(DURATION, alone.source))
    return whole.summary, alone.summary, less


def _suspended(run: StoredRun, resumed: SourceRow | None, alone: SourceRow | None) -> Suspended | None:
    found = _less(run, resumed, alone)
    if found is None:
        return None
    two = found[2]
    low, high = (None if one is None else one / 2 for one in (two.low, two.high))
    return Suspended(found[0], found[1], Difference(two.value / 2, low, high, two.confidence))


def _schmidt(system: str, yielding_us: float, synchronized_us: float) -> Published:
    return Published(
        "schmidt2002",
        system,
        "Pentium III, 866 MHz",
        2002,
        {YIELD: yielding_us * 1e3, HANDOVER: synchronized_us * 1e3},
    )


PUBLISHED = (
    _schmidt("VxWorks 5.4", 0.649, 0.821),
    _schmidt("QNX RTP 6.0", 0.470, 0.861),
    _schmidt("Timesys Linux/RT 2.2.14", 0.645, 2.88),
    _schmidt("Linux 2.2.14", 0.548, 2.559),
    _schmidt("Windows NT 4.0", 1.056, 1.914),
    _schmidt("Windows 2000", 1.075, 2.810),
)
"""Table 1 of schmidt2002: averages of the yield test and of the synchronized suspend-resume test."""
