"""From a query to a number: the table of statistics, one file for each kind of experiment."""

from collections.abc import Mapping
from dataclasses import replace

from tautochrone.papers.measured import (
    Absent,
    Found,
    MeasuredValue,
    NeverMeasuredError,
    NotMeasuredError,
    QueryPlace,
)
from tautochrone.papers.quantities.general import GENERAL, Statistic, quantile
from tautochrone.papers.quantities.latencies import LATENCIES
from tautochrone.papers.quantities.middleware import MIDDLEWARE
from tautochrone.papers.quantities.releases import REPEATED
from tautochrone.papers.quantities.selection import DEPLOYMENT, SELECTION, TASKSET
from tautochrone.papers.quantities.tire import TIRE
from tautochrone.papers.quantities.tire_model import TIRE_MODEL

STATISTICS: Mapping[str, Statistic] = {
    **GENERAL, **LATENCIES, **REPEATED, **MIDDLEWARE, **DEPLOYMENT, **SELECTION, **TASKSET, **TIRE,
    **TIRE_MODEL,
}  # fmt: skip
"""By name, without quantiles, which are named ``p99.999``."""


def evaluate(place: QueryPlace) -> Found:
    """Return the number that a query means on one of our systems."""
    query = place.query
    statistic = statistic_of(query.statistic)
    if statistic is None:
        raise ValueError(f"there is no statistic '{query.statistic}'")
    if not place.runs:
        return Absent(place.why_none)
    try:
        found = statistic(place)
    except NotMeasuredError as error:
        return Absent(str(error), never=isinstance(error, NeverMeasuredError))
    if not query.spread:
        return found
    beside = evaluate(place.asking(statistic=query.spread, spread=""))
    return replace(found, spread=beside.value if isinstance(beside, MeasuredValue) else None)


def statistic_of(name: str) -> Statistic | None:
    """Return the statistic of this name; None: there is none."""
    return STATISTICS[name] if name in STATISTICS else quantile(name)
