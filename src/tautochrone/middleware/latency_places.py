"""The runs of a lane by how many lower-priority clients they have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tautochrone.middleware.lanes import Lane
from tautochrone.middleware.latency_judge import ROUND_TRIP, Clients, LatencyRun
from tautochrone.statistics.summary import Summary

LatencyLane = Lane[LatencyRun]


@dataclass(frozen=True)
class Place:
    """The runs of a lane with so many lower clients."""

    clients: int
    runs: tuple[LatencyRun, ...]

    def worst(self, of: Callable[[LatencyRun], Clients | None], measure: str = ROUND_TRIP) -> Summary | None:
        """The summary of the run with the worst call."""
        found = [summary for run in self.runs if (one := of(run)) and (summary := one.measured.get(measure))]
        return max(found, key=lambda one: one.maximum, default=None)

    def all(self, of: Callable[[LatencyRun], Clients | None]) -> list[Summary]:
        """The round trips of each run."""
        return [one.round_trip for run in self.runs if (one := of(run)) and one.round_trip is not None]

    def missed(self, of: Callable[[LatencyRun], Clients | None]) -> int | None:
        """In all runs."""
        known = [one.missed for run in self.runs if (one := of(run)) and one.missed is not None]
        return sum(known) if known else None


def high_of(run: LatencyRun) -> Clients | None:
    """C0."""
    return run.high


def low_of(run: LatencyRun) -> Clients | None:
    """The lower clients together; None where there is none."""
    return run.low


def places_of(lane: LatencyLane) -> list[Place]:
    """By the number of lower clients, ascending."""
    found: dict[int, list[LatencyRun]] = {}
    for run in lane.runs:
        found.setdefault(run.clients, []).append(run)
    return [Place(clients, tuple(found[clients])) for clients in sorted(found)]


def average(summary: Summary) -> float:
    """The paper's latency."""
    return summary.mean


def jitter(summary: Summary) -> float:
    """The paper's jitter."""
    return summary.standard_deviation
