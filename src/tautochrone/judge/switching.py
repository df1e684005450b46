"""The context switch of schmidt2002 (section 3.1, Table 1), from a run of the experiment `switch`."""

from dataclasses import dataclass

from tautochrone.judge.rows import DURATION, Published, SourceRow, absent_rows, rows_of
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.means import Difference, difference_of_means
from tautochrone.statistics.summary import Summary

SUSPEND, YIELD, HANDOVER, ALONE, CLOCK = (
    "suspend-resume", "yield", "hand-over", "mutex alone", "clock alone",
)  # fmt: skip
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
class Switching:
    """What a run says of context switches; None, or left out, is what it did not measure.

    Attributes:
        across: hand-overs to a thread on another CPU, which are wake-ups and no context switches.
        absent: row and reason.
    """

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
        yielding=here[YIELD].summary if YIELD in here else None,
        clock=here[CLOCK].summary if CLOCK in here else None,
        synchronized=tuple(
            found
            for protocol in PROTOCOLS
            if (
                found := _synchronized(
                    run, protocol, here.get(f"{HANDOVER} {protocol}"), here.get(f"{ALONE} {protocol}")
                )
            )
        ),
        across=tuple(row for row in rows if row.across and row.summary is not None),
        absent=absent_rows(run),
    )


def _synchronized(
    run: StoredRun, protocol: str, handover: SourceRow | None, alone: SourceRow | None
) -> Synchronized | None:
    if handover is None or alone is None or handover.summary is None or alone.summary is None:
        return None
    if run.is_histogram:
        switch = Difference(handover.summary.mean - alone.summary.mean, None, None, 0.95)
    else:
        switch = difference_of_means(
            run.values(DURATION, handover.source), run.values(DURATION, alone.source)
        )
    return Synchronized(protocol, handover.summary, alone.summary, switch)


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
