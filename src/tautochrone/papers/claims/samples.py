"""The samples that a query means, as the tests of difference take them."""

from dataclasses import replace

from tautochrone.papers.claims.evidence import Place
from tautochrone.papers.measured import Measurements, matches
from tautochrone.papers.quantities.general import sources_of
from tautochrone.run.folder import Run
from tautochrone.statistics.difference.sides import Side, Source


def side_of(place: Place, measurements: Measurements) -> Side:
    """Its runs that have samples, and in each its sources.

    Releases of a source that has no sample at all are given to another one of its run, so that they count.

    Raises:
        UsageError: a run has no such measure.
        DamagedError: samples can't be read.
    """
    found: list[list[Source]] = []
    for run in measurements.runs_of(place.query, place.system):
        own = [one.as_source() for one in sources_of(place.query, measurements, run)]
        silent = _lost_without_sample(place, run)
        if own:
            lost = None if own[0].lost is None else own[0].lost + silent
            found.append([replace(own[0], lost=lost), *own[1:]])
    return found


def lost_of(place: Place, measurements: Measurements) -> int:
    """Releases that are known to have no sample, of all its runs.

    Raises:
        UsageError: a run has no such measure.
        DamagedError: samples can't be read.
    """
    return sum(source.missing for run in side_of(place, measurements) for source in run)


def repetition(place: Place, measurements: Measurements, number: int) -> Measurements:
    """The same with one run of each point that a place means."""
    own = {one.key for one in measurements.points_of(place.query, place.system)}
    runs = {key: tuple(runs[number : number + 1]) for key, runs in measurements.runs.items() if key in own}
    return replace(measurements, runs=runs)


def _lost_without_sample(place: Place, run: Run) -> int:
    periods = run.manifest.header.periods_ns
    return sum(
        (book.missed or 0) + (book.dropped or 0)
        for book in run.manifest.books
        if book.source in periods and not book.recorded and matches(place.query.source, book.name)
    )
