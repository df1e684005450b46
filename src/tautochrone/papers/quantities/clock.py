"""What taking the time costs (garre2014, 3.4)."""

from collections.abc import Mapping
from statistics import median

from tautochrone.papers.document import Query
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.general import Statistic
from tautochrone.papers.value import Absent, Found, Value, ends_of

_USUAL = "monotonic"


def _cost(query: Query, measurements: Measurements, system: str) -> Found:
    """Of one reading of the clock that the source names: the median of batches of readings."""
    wanted = query.source or _USUAL
    found = [
        float(cost)
        for run in measurements.runs_of(query, system)
        for one in run.manifest.header.get("sources", ())
        if one.get("name") == wanted and (cost := (one.get("calibration") or {}).get("cost_ns")) is not None
    ]
    if not found:
        return Absent(f"The clock {wanted} was not measured.")
    least, largest = ends_of(found)
    return Value(
        median(found),
        "ns",
        repetitions=len(found),
        least=least,
        largest=largest,
    )


CLOCK: Mapping[str, Statistic] = {"cost": _cost}
