"""Latency and jitter of the highest-priority client beside lower ones (schmidt2002, 3.3, MT_Cubit).

The paper says that jitter is the variance of the latency, and prints microseconds: here the word means the
standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from tautochrone.judge.middleware_setting import CallSetting, setting_of
from tautochrone.judge.reduced import reduce_run, summary_of_any
from tautochrone.middleware.lanes import Lane
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import sum_if_known
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.means import student
from tautochrone.statistics.quantiles import CONFIDENCE
from tautochrone.statistics.summary import Summary

# Whether something rises with the number of clients: a line through what the runs say, with
# confidence.


FEWEST_POINTS, FEWEST_PLACES = 4, 3


@dataclass(frozen=True)
class Slope:
    """A line through points.

    Attributes:
        value: rise per step along the axis, by least squares.
        low, high: its interval; None: there are too few points for one. It comes from how far the points lie
            from the line, and so holds what varies from run to run and what is no straight line.
        at_first, at_last: the mean of the points at the least and at the largest place.
        first, last: these places.
        missed: calls that no point holds, for they had no time.
    """

    value: float
    low: float | None
    high: float | None
    at_first: float
    at_last: float
    first: int
    last: int
    missed: int = 0

    @property
    def rises(self) -> bool:
        """Return whether it is shown to rise."""
        return self.low is not None and self.low > 0

    @property
    def falls(self) -> bool:
        """Return whether it is shown to fall."""
        return self.high is not None and self.high < 0

    @property
    def rise_at_most(self) -> float | None:
        """Return the rise over all places that the points do not exclude; None: they exclude none."""
        return None if self.high is None else self.high * (self.last - self.first)


def slope_of(places: Sequence[int], values: Sequence[float]) -> Slope | None:
    """Fit a line by least squares; None where all points stand at one place, or there is none.

    Args:
        places: of each point, as the number of clients, shape (n,).
        values: shape (n,). Repetitions are points of their own. The interval is Student's at `CONFIDENCE`,
            with n - 2 degrees of freedom. It takes `FEWEST_POINTS` points at `FEWEST_PLACES` places.
    """
    known = sorted(set(places))
    if len(known) < 2:
        return None
    x, y = np.asarray(places, np.float64), np.asarray(values, np.float64)
    from_centre = x - x.mean()
    squares = float(from_centre @ from_centre)
    value = float(from_centre @ y) / squares
    low = high = None
    if len(x) >= FEWEST_POINTS and len(known) >= FEWEST_PLACES:
        left = y - y.mean() - value * from_centre
        freedom = len(x) - 2
        error = math.sqrt(float(left @ left) / freedom / squares)
        reach = student(freedom, CONFIDENCE) * error
        low, high = value - reach, value + reach
    return Slope(
        value, low, high, float(y[x == known[0]].mean()), float(y[x == known[-1]].mean()), known[0], known[-1]
    )


ROUND_TRIP, RESPONSE, RELEASE = "round_trip_ns", "response_ns", "latency_ns"
REQUEST, REPLY = "request_ns", "reply_ns"
MEASURES = {
    ROUND_TRIP: "round trip",
    RESPONSE: "response, from the release",
    RELEASE: "release to sent",
    REQUEST: "request, one way",
    REPLY: "reply, one way",
}
"""The measures in words, the paper's first."""

HIGH, LOW = "high", "low"


@dataclass(frozen=True)
class Clients:
    """One client, or several of a role together.

    Attributes:
        name: "C0", or of several "C1 to C50".
        period_ns: between two calls; None: not known, or not the same for all.
        measured: by measure; one that has no samples is left out.
        released, missed, dropped: None: not known.
    """

    name: str
    count: int
    period_ns: int | None
    measured: Mapping[str, Summary] = field(default_factory=dict)
    released: int | None = None
    missed: int | None = None
    dropped: int | None = None

    @property
    def round_trip(self) -> Summary | None:
        """Return what the paper shows."""
        return self.measured.get(ROUND_TRIP)


@dataclass(frozen=True)
class LatencyRun:
    """One run: the highest-priority client, and the lower ones together.

    Attributes:
        low: None where there is none.
        each: every client by itself, round trips alone, in the order of the priorities.
    """

    id: str
    setting: CallSetting
    clients: int
    high: Clients
    low: Clients | None
    each: tuple[Clients, ...]


def clients_of(run: StoredRun) -> int:
    """Return how many lower clients a run has."""
    told = run.manifest.header.parameters.get("clients")
    if isinstance(told, int):
        return told
    return sum(source.role == LOW for source in run.manifest.header.sources)


def latency_of(run: StoredRun) -> LatencyRun:
    """Reduce a run; it may have been cut off, or have kept a histogram."""
    manifest = run.manifest
    roles = {
        source.source: source.role or (HIGH if at == 0 else LOW)
        for at, source in enumerate(manifest.header.sources)
    }
    counted = {
        measure: {one.source: one.counts for one in reduce_run(run, measure)}
        for measure in MEASURES
        if measure in run.measures
    }
    high = [source for source, role in roles.items() if role == HIGH]
    low = [source for source, role in roles.items() if role == LOW]
    trips = counted.get(ROUND_TRIP, {})
    return LatencyRun(
        id=run.id,
        setting=setting_of(manifest),
        clients=clients_of(run),
        high=_together(run, high, counted),
        low=_together(run, low, counted) if low else None,
        each=tuple(_together(run, [source], {ROUND_TRIP: trips}) for source in (*high, *low)),
    )


def _together(run: StoredRun, sources: Iterable[int], counted: Mapping[str, Mapping[int, Counts]]) -> Clients:
    wanted = list(sources)
    books = {book.source: book for book in run.manifest.books}
    own = [books[source] for source in wanted if source in books]
    periods = {run.manifest.header.periods_ns.get(source) for source in wanted}
    measured = {}
    for measure, found in counted.items():
        parts = [found[source] for source in wanted if source in found]
        if parts:
            measured[measure] = summary_of_any(merge(parts))
    names = [book.name for book in own]
    return Clients(
        name=f"{names[0]} to {names[-1]}" if len(names) > 1 else "".join(names),
        count=len(wanted),
        period_ns=periods.pop() if len(periods) == 1 else None,
        measured=measured,
        released=sum_if_known(book.released for book in own),
        missed=sum_if_known(book.missed for book in own),
        dropped=sum_if_known(book.dropped for book in own),
    )


# The runs of a lane by how many lower-priority clients they have.


LatencyLane = Lane[LatencyRun]
Role = Callable[[LatencyRun], Clients | None]
"""Takes C0 of a run, or its lower clients together; None where there is none."""

high_of: Role = attrgetter("high")
low_of: Role = attrgetter("low")
average: Callable[[Summary], float] = attrgetter("mean")
jitter: Callable[[Summary], float] = attrgetter("standard_deviation")
"""The paper's latency and jitter."""


@dataclass(frozen=True)
class LatencyPlace:
    """The runs of a lane with so many lower clients."""

    clients: int
    runs: tuple[LatencyRun, ...]

    def worst(self, of: Role, measure: str = ROUND_TRIP) -> Summary | None:
        """Return the summary of the run with the worst call."""
        found = [summary for run in self.runs if (one := of(run)) and (summary := one.measured.get(measure))]
        return max(found, key=lambda one: one.maximum, default=None)

    def all(self, of: Role) -> list[Summary]:
        """Return the round trips of each run."""
        return [one.round_trip for run in self.runs if (one := of(run)) and one.round_trip is not None]

    def missed(self, of: Role) -> int | None:
        """Return how many calls were missed in all runs."""
        known = [one.missed for run in self.runs if (one := of(run)) and one.missed is not None]
        return sum(known) if known else None


def places_of(lane: LatencyLane) -> list[LatencyPlace]:
    """Return the runs of a lane by the number of lower clients, ascending."""
    found: dict[int, list[LatencyRun]] = {}
    for run in lane.runs:
        found.setdefault(run.clients, []).append(run)
    return [LatencyPlace(clients, tuple(found[clients])) for clients in sorted(found)]
