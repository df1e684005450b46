"""Which of two largest samples is larger: more than which of two single samples was.

Of two systems that are alike, one has the larger largest sample all the same. So the largest of each batch
are ranked: where the two are alike, the m highest of all batches belong to one side with a probability that
is known (the precedence test: Nelson, Tables for a Precedence Life Test, Technometrics 5, 1963). Of 30
batches on each side it takes six at the top of all, at 95 % and to either side.
"""

from tautochrone.papers.claims.estimate import Estimate


def on_top(lower: Estimate, higher: Estimate, factor: float) -> tuple[int, float] | None:
    """How many batches of the one lie above all samples of the other, and how probable that is by chance.

    Args:
        factor: of the lower one, which is multiplied by it.

    Returns:
        None where the order of samples is not known, or the lower one missed releases, which are later.
    """
    if lower.maxima is None or higher.maxima is None or lower.lost:
        return None
    above = int((higher.maxima > factor * lower.maxima.max()).sum())
    own, every = len(higher.maxima), len(higher.maxima) + len(lower.maxima)
    chance = 1.0
    for number in range(above):
        chance *= (own - number) / (every - number)
    return above, chance


def is_larger(lower: Estimate, higher: Estimate, factor: float, confidence: float) -> bool:
    """Whether it is shown, of two sides, that the second tends to the larger largest samples."""
    found = on_top(lower, higher, factor)
    return found is not None and found[1] <= (1 - confidence) / 2
