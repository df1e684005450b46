"""What it would be worth if causes of late cycles were gone: an estimate of the distribution without them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tautochrone.judge.reduced import Reduced, all_counts
from tautochrone.statistics.blame import Blame, Cause, Part
from tautochrone.statistics.blame_without import latency_without, without
from tautochrone.statistics.quantiles import QUANTILES, samples_needed


@dataclass(frozen=True)
class WithoutCauses:
    """A run's latencies as they were, and as they are estimated to be without some causes; in ns.

    Attributes:
        q: the rarest of the usual quantiles that there are enough samples for.
        quantile_ns, largest_ns: as they were, and without the causes.
        late, late_without: late cycles whose events were kept, and those of them that would still be as late
            as the least late one.
    """

    q: float
    quantile_ns: tuple[int, int]
    largest_ns: tuple[int, int]
    late: int
    late_without: int


def without_causes(
    reduced: Sequence[Reduced], blame: Blame, causes: Collection[tuple[Cause, str]]
) -> WithoutCauses | None:
    """Return the estimate; None where a run has no samples, or no late cycle with its events.

    Args:
        reduced: the measure that is late, of all sources.
        causes: classes, each with its actor.
    """
    if not reduced or not blame.cycles:
        return None

    def removed(part: Part) -> bool:
        return (part.cause, part.actor) in causes

    was = all_counts(tuple(reduced))
    becomes = without(was, blame.cycles, removed)
    q = max((one for one in QUANTILES if samples_needed(one) <= was.total), default=QUANTILES[0])
    least = min(one.latency_ns for one in blame.cycles)
    return WithoutCauses(
        q,
        (was.quantile(q), becomes.quantile(q)),
        (int(was.value[-1]), int(becomes.value[-1])),
        len(blame.cycles),
        sum(latency_without(one, removed) >= least for one in blame.cycles),
    )
