"""How sure the numbers are, said plainly."""

from collections.abc import Sequence

from tautochrone.report.series import Series
from tautochrone.report.typeset import duration, number, percent, plural
from tautochrone.statistics.summary import exceedance_bound

_CONFIDENCE = 0.95


def view(series: Sequence[Series]) -> list[str]:
    """Sentences about how many cycles the worst case rests on; empty without series."""
    if not series:
        return []
    total = sum(one.count for one in series)
    fewest = min(series, key=lambda one: one.count)
    worst = max(series, key=lambda one: one.maximum_ns)
    # Said of all series at once, so each gets its share of the doubt (Bonferroni).
    bound = exceedance_bound(fewest.count, 0, 1 - (1 - _CONFIDENCE) / len(series))
    one_in = int(1 / bound) if bound > 0 else fewest.count
    where = "" if len(series) == 1 else " on any of these CPUs, in any of these runs,"
    return [
        f"The worst of {plural(total, 'cycle')} was {duration(worst.maximum_ns)}. "
        f"With {percent(_CONFIDENCE)} confidence, at most 1 cycle in {number(max(one_in, 1))}{where} "
        "is later than the worst seen there, as long as the machine and its load stay as they were."
    ]
