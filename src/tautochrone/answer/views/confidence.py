"""How sure the numbers are, said of each CPU and run by itself.

The bound is that of Wilks (1941): the largest of n samples against the share that may still lie above it.
It is never pooled: cycles of different CPUs, rates or loads are not samples of one thing.
"""

from collections.abc import Sequence

from tautochrone.answer.series import Series, runs_of
from tautochrone.answer.typeset import duration, number, percent
from tautochrone.answer.views import losses
from tautochrone.base.words import plural
from tautochrone.statistics.quantiles import CONFIDENCE, exceedance_bound

ASSUMES = (
    "This assumes cycles that are independent and like those to come; neighbouring cycles are not quite "
    "independent, so take it as the least doubt there is."
)


def one_in(one: Series) -> int | None:
    """At most 1 cycle in so many starts later than the worst one seen; None where releases are lacking, or
    may be."""
    if one.lost or one.missed is None or not one.count:
        return None
    bound = exceedance_bound(one.count, 0, CONFIDENCE)
    return max(1, int(1 / bound)) if bound > 0 else one.count


def view(series: Sequence[Series]) -> list[str]:
    """Sentences about the worst of all series and what it rests on; empty without series."""
    if not series:
        return []
    worst = max(series, key=lambda one: one.maximum_ns)
    several = len(runs_of(series)) > 1
    where = worst.source + (f" in the run “{worst.run}”" if several else "")
    opening = f"The worst start of all was {duration(worst.maximum_ns)} late, on {where}."
    rarity = one_in(worst)
    if rarity is None:
        why = "releases have no sample there" if worst.lost else "how many releases were missed is not known"
        claim = f"How rare a later one is can't be said, because {why}."
    else:
        claim = (
            f"It is the worst of {plural(worst.count, 'cycle')} there. With {percent(CONFIDENCE)} "
            "confidence, for this CPU and this run by itself, at most 1 cycle in "
            f"{number(rarity)} starts later. {ASSUMES}"
        )
    lacking = losses.sentences(series)
    return [f"{opening} {claim}", *([" ".join(lacking)] if lacking else [])]
