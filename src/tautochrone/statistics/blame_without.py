"""What a distribution would be without one of the causes of its late cycles: an estimate.

Each late cycle is taken to have been earlier by the excess that the cause has in it; all other cycles
stay as they were. That is no measurement: with the cause gone, another may take its place (an
interrupt that came later would still have come), and what the cause did to the caches is not known. A
late cycle whose events were not kept stays as it was, so that the estimate rather promises too little.
"""

from collections.abc import Callable, Sequence

import numpy as np

from tautochrone.statistics.blame import LateCycle, Part
from tautochrone.statistics.counts import Counts, counts_of, merge


def without(counts: Counts, cycles: Sequence[LateCycle], removed: Callable[[Part], bool]) -> Counts:
    """Return the counts as they would be without some parts of late cycles.

    Args:
        counts: of all latencies of the sources that the cycles are of; at least one.
        cycles: late cycles with their parts. One whose latency the counts don't have is passed over.
        removed: whether a part would be gone.
    """
    left = counts.count.copy()
    moved: list[int] = []
    for cycle in cycles:
        becomes = latency_without(cycle, removed)
        at = int(np.searchsorted(counts.value, cycle.latency_ns))  # of a histogram: its bin's upper edge
        if becomes >= cycle.latency_ns or at == len(left) or not left[at]:
            continue
        if counts.exact and counts.value[at] != cycle.latency_ns:
            continue
        left[at] -= 1
        moved.append(becomes)
    if not moved:
        return counts
    held = left > 0
    rest = Counts(counts.value[held], left[held], exact=counts.exact)
    return merge([rest, counts_of(np.array(moved, np.int64))])


def latency_without(cycle: LateCycle, removed: Callable[[Part], bool]) -> int:
    """Return what the latency of a cycle would be without the excess of some of its parts."""
    return max(0, cycle.latency_ns - sum(part.excess_ns for part in cycle.parts if removed(part)))
