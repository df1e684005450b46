"""How many times the measuring so far would probably tell a comparison that is open."""

import math
from collections.abc import Callable, Sequence

from tautochrone.papers.claims.compare import Compared, PlacePair, is_bare_extreme

Needed = Callable[[Compared], float | None]
"""How many times the measuring would probably tell one pair; None: not known."""


def of_less(takes: int, factor: float) -> Needed:
    """Return what tells one number to be below another; of a largest one so many samples do."""

    def needed(compared: Compared) -> float | None:
        first = compared.first
        if is_bare_extreme(first) and first.samples and takes:
            return max(1.0, takes / first.samples)
        ratio = compared.ratio is not None
        return times_needed(compared, [factor if ratio else 0.0], ratio=ratio)

    return needed


def of_alike(margin: float | None, margin_is: float | None) -> Needed:
    """Return what tells two numbers to be the same within a share, or within so much."""

    def needed(compared: Compared) -> float | None:
        if margin is None or compared.ratio is None:
            edges = () if margin_is is None else (-margin_is, margin_is)
            return times_needed(compared, edges, ratio=False)
        return times_needed(compared, [1 / (1 + margin), 1 + margin], ratio=True)

    return needed


def times_needed(compared: Compared, edges: Sequence[float], *, ratio: bool) -> float | None:
    """Return how many times the measuring would probably clear an interval of all edges; None: not known.

    Its reach shrinks with the root of the measuring, which takes an interval that measuring makes narrower.

    Args:
        ratio: whether the edges are of the ratio; otherwise they are of the difference.
    """
    if compared.first.at_least or compared.second.at_least:
        return None  # of missed releases no measuring says how late they were
    unsure = compared.unsure
    if unsure is not None:
        return unsure.needed / unsure.effective if unsure.effective > 0 else None
    value, low, high = compared.difference, compared.least, compared.most
    if ratio:
        value, low, high = compared.ratio or math.nan, compared.low, compared.high
    if compared.basis not in ("repetitions", "blocks", "independent", "own") or not edges:
        return None
    reach, gap = max(high - value, value - low), min(abs(value - edge) for edge in edges)
    return max(1.0, (reach / gap) ** 2) if gap > 0 and math.isfinite(reach) else None


def times_risen(rise: float, low: float, factor: float) -> float | None:
    """Return how many times the measuring would probably tell whether a line rises by more than a factor."""
    gap = abs(math.log(rise / factor))
    return max(1.0, (math.log(rise / low) / gap) ** 2) if gap > 0 and low > 0 else None


def takes_of(pairs: Sequence[PlacePair], of: Callable[[Compared], float | None]) -> float | None:
    """Return how many times the measuring would probably tell all pairs that are open; None: not known."""
    known = [of(one.compared) for one in pairs if one.side == "open" and isinstance(one.compared, Compared)]
    found = [one for one in known if one is not None]
    return max(found) if found and len(found) == len(known) else None
