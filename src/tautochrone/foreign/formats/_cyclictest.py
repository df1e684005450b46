"""What the three formats of cyclictest share: its command line, and what its loop does."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from tautochrone.foreign.recording import LOAD, MICROSECOND, has_flag, option_of, whole

TOOL = "cyclictest"
EXPERIMENT = "cyclic"

_USUAL_INTERVAL_US, _USUAL_DISTANCE_US = 1_000, 500

UNKNOWN = (
    LOAD,
    "hardware, firmware and clock source",
    "kernel options and command line",
    "policy, priority and memory lock as they were obtained",
    "releases that were skipped",
)


@dataclass(frozen=True)
class CyclictestCommand:
    """A command line of cyclictest, as far as it tells how was measured."""

    words: tuple[str, ...] = ()
    intervals_ns: tuple[int | None, ...] = field(default=())

    @classmethod
    def of(cls, line: str, threads: int) -> "CyclictestCommand":
        """Read a command line; of so many threads."""
        try:
            words = tuple(shlex.split(line))
        except ValueError:
            words = tuple(line.split())
        return cls(words, _intervals_ns(words, threads))

    @property
    def priority(self) -> int | None:
        """Return the priority of the first thread, as it was asked for; None: not given."""
        given = option_of(self.words, "p", "prio") or option_of(self.words, "p", "priority")
        return int(given) if given is not None and given.isdecimal() else None

    @property
    def policy(self) -> str:
        """Return the policy that was asked for; empty: not given."""
        return option_of(self.words, "y", "policy") or ("fifo" if self.priority else "")

    @property
    def histogram_end(self) -> int | None:
        """Return where its histogram ends, in its unit; None: it has none."""
        given = option_of(self.words, "h", "histogram") or option_of(self.words, "H", "histofall")
        return int(given) if given is not None and given.isdecimal() else None


def _intervals_ns(words: Sequence[str], threads: int) -> tuple[int | None, ...]:
    """Return the interval of each thread: each later one's is longer by the distance, but for histograms.

    Timers that begin anew after each wake-up (-r, -s) have no schedule.
    """
    if has_flag(words, "r", "relative") or has_flag(words, "s", "system"):
        return (None,) * threads
    first = whole(option_of(words, "i", "interval") or _USUAL_INTERVAL_US, "--interval", least=1)
    given = option_of(words, "d", "distance")
    histogram = option_of(words, "h", "histogram") or option_of(words, "H", "histofall")
    distance: int | None = _USUAL_DISTANCE_US if given is None else whole(given, "--distance")
    if histogram:
        distance = 0
    elif given is None and has_flag(words, "S", "smp"):
        distance = None  # it depends on the version
    further = [None if distance is None else (first + k * distance) * MICROSECOND for k in range(1, threads)]
    return (first * MICROSECOND, *further)[:threads]


def source_name(cpu: int | None, thread: int, cpus: Sequence[int | None]) -> str:
    """Return what a thread is called: its CPU where each has one of its own, as tauto calls it."""
    return f"cpu{cpu}" if cpu is not None and cpus.count(cpu) == 1 else f"thread{thread}"
