"""Two runs of the same loop, release by release: where their latencies first differ, and by how much."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import UsageError
from tautochrone.run.folder import StoredRun

Integers = npt.NDArray[np.int64]
MISSING = -1
"""In place of the latency of a release that has no sample: it was passed over."""
STEPS_NS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True)
class Loop:
    """One source of one run, by release.

    Attributes:
        start_ns: release 0, on the clock of its machine.
        latency_ns: of each release; `MISSING` where it was missed.
    """

    source: str
    cpu: int | None
    start_ns: int
    period_ns: int
    latency_ns: Integers

    def release_ns(self, number: int) -> int:
        """Tell when a release was due, on the clock of its machine."""
        return self.start_ns + number * self.period_ns

    @property
    def worst(self) -> int | None:
        """Return the release with the largest latency, the first of them; None: none was completed."""
        at = int(self.latency_ns.argmax()) if len(self.latency_ns) else 0
        return at if len(self.latency_ns) and self.latency_ns[at] != MISSING else None

    def latency(self, number: int) -> int | None:
        """Return the latency of a release; None: it was missed, or there is none of this number."""
        if number >= len(self.latency_ns) or self.latency_ns[number] == MISSING:
            return None
        return int(self.latency_ns[number])

    @property
    def worst_ns(self) -> int | None:
        """Return the largest latency; None: no release was completed."""
        return None if self.worst is None else self.latency(self.worst)

    @property
    def missed(self) -> int:
        """Return how many releases were passed over."""
        return int((self.latency_ns == MISSING).sum())


@dataclass(frozen=True)
class DifferenceStep:
    """From which release on the two differ by more than so much, and at how many releases they do."""

    more_than_ns: int
    first: int | None
    count: int


@dataclass(frozen=True)
class SourceDifference:
    """One source of both runs.

    Attributes:
        threshold_ns: what counts as a difference.
        steps: for the threshold and for larger ones.
        identical: every release has the same latency, to the nanosecond, or was missed in both.
    """

    a: Loop
    b: Loop
    threshold_ns: int
    steps: tuple[DifferenceStep, ...]
    identical: bool

    @property
    def first(self) -> int | None:
        """Return the first release that differs by more than the threshold; None: there is none."""
        return self.steps[0].first

    @property
    def differing(self) -> int:
        """Return how many releases differ by more than the threshold."""
        return self.steps[0].count

    @property
    def largest(self) -> int | None:
        """Return the release that both served and that differs most; None: there is none."""
        of_a, of_b = self.a.latency_ns[: self.compared], self.b.latency_ns[: self.compared]
        both = (of_a != MISSING) & (of_b != MISSING)
        return int(np.where(both, np.abs(of_a - of_b), -1).argmax()) if both.any() else None

    @property
    def compared(self) -> int:
        """Return how many releases both have."""
        return min(len(self.a.latency_ns), len(self.b.latency_ns))


def loops_of(run: StoredRun) -> list[Loop]:
    """Return the loops of a run of `cyclic` that kept every sample."""
    header = run.manifest.header
    period_ns = header.schedule.period_ns or 1
    books = {book.source: book for book in run.manifest.books}
    loops = []
    for source in header.sources:
        number, start_ns = source.source, source.start_ns or 0
        instants, values = run.instants(number), run.values(source=number)
        at = (instants - start_ns) // period_ns
        count = books[number].released if number in books else None
        latency_ns = np.full(count if count is not None else int(at.max(initial=-1)) + 1, MISSING, np.int64)
        latency_ns[at] = values
        loops.append(Loop(source.label, source.obtained.cpu, start_ns, period_ns, latency_ns))
    return loops


def compare(a: Sequence[Loop], b: Sequence[Loop], threshold_ns: int) -> list[SourceDifference]:
    """Compare source by source, release k of one with release k of the other.

    Raises:
        UsageError: they have different sources or periods.
    """
    if [one.source for one in a] != [one.source for one in b]:
        raise UsageError(
            f"The two have different loops: {_names(a)} and {_names(b)}", "Give both machines the same CPUs."
        )
    return [_compared(one, other, threshold_ns) for one, other in zip(a, b, strict=True)]


def _compared(a: Loop, b: Loop, threshold_ns: int) -> SourceDifference:
    count = min(len(a.latency_ns), len(b.latency_ns))
    of_a, of_b = a.latency_ns[:count], b.latency_ns[:count]
    apart = np.abs(of_a - of_b)
    one_missed = (of_a == MISSING) != (of_b == MISSING)
    apart[one_missed] = np.iinfo(np.int64).max  # more than any threshold
    sizes = [threshold_ns, *(size for size in STEPS_NS if size > threshold_ns)]
    return SourceDifference(
        a,
        b,
        threshold_ns,
        tuple(_step(apart, size) for size in sizes),
        identical=len(a.latency_ns) == len(b.latency_ns) and not apart.any(),
    )


def _step(apart: Integers, more_than_ns: int) -> DifferenceStep:
    beyond = apart > more_than_ns
    return DifferenceStep(more_than_ns, int(beyond.argmax()) if beyond.any() else None, int(beyond.sum()))


def _names(loops: Sequence[Loop]) -> str:
    return ", ".join(one.source for one in loops) or "none"
