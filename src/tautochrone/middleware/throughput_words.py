"""Which transport is faster, where that is shown, and what was lost, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tautochrone.base.words import listed
from tautochrone.middleware.lanes import rate
from tautochrone.middleware.throughput_judge import Kind, name_of
from tautochrone.middleware.throughput_tables import ThroughputLane, drained, kinds_of, of_lane, rows_of
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS, of_runs
from tautochrone.statistics.difference.ranking import Ranking, rank
from tautochrone.target.middleware import ONE_WAY, TWO_WAY

# Which transport is faster: said only where repetitions show it.


@dataclass(frozen=True)
class TransportOrder:
    """Candidates by the time of one call, least first.

    Attributes:
        names: in their order.
        times_ns: of each, mean over its runs.
        ranking: which can't be told apart; None: somebody has fewer than `FEWEST_RUNS` runs, so that
            nothing is known of how much runs differ.
    """

    names: tuple[str, ...]
    times_ns: tuple[float, ...]
    ranking: Ranking | None

    @property
    def best(self) -> tuple[str, ...]:
        """Return the first and whoever can't be told apart from it; empty where nothing was tested."""
        return () if self.ranking is None else self.ranking.best

    @property
    def runner_up(self) -> str | None:
        """Return the first of those that are shown to be slower than the best; None: there is none."""
        best = self.best
        return next((name for name in self.names if best and name not in best), None)


def order_of(times_ns: Mapping[str, Sequence[float]]) -> TransportOrder | None:
    """Order candidates by the mean times of their runs; None where there are not two.

    All pairs are tested as two small samples of runs (`of_runs`), adjusted together (Holm).

    Args:
        times_ns: of each candidate the time of one call in each of its runs.
    """
    held = {name: own for name, own in times_ns.items() if own}
    if len(held) < 2:
        return None
    means = {name: sum(own) / len(own) for name, own in held.items()}
    names = sorted(held, key=lambda name: means[name])
    ranking = None
    if min(map(len, held.values())) >= FEWEST_RUNS:
        p = {
            (first, second): found.p
            for first, second in combinations(range(len(names)), 2)
            if (found := of_runs(held[names[first]], held[names[second]])) is not None
        }
        ranking = rank(names, [means[name] for name in names], p)
    return TransportOrder(tuple(names), tuple(means[name] for name in names), ranking)


_UNTESTED = (
    f"These are the orders of these runs. From {FEWEST_RUNS} repetitions of each on, it is said which are "
    "shown to be faster."
)


def sentences(lanes: Sequence[ThroughputLane]) -> list[str]:
    """Return which transport is faster, where that is shown; and what was lost."""
    said, untested = [], False
    for where in dict.fromkeys(lane.setting.where for lane in lanes):
        own = {lane.without_place: lane for lane in lanes if lane.setting.where == where}
        for direction, kind in _spoken_of(list(own.values())):
            told = order_of({name: _times(lane, direction, kind) for name, lane in own.items()})
            if told is not None:
                untested = untested or told.ranking is None
                values = {
                    name: through.value
                    for name, lane in own.items()
                    if (through := drained(of_lane(lane, direction, kind))) is not None
                }
                said.append(_about(told, values, direction, kind, where))
    if untested:
        said.append(_UNTESTED)
    return [*said, *_losses(lanes)]


def as_table(lanes: Sequence[ThroughputLane]) -> dict[str, object]:
    """Return what is concluded, as JSON has it."""
    return {
        "lanes": [
            {
                **lane.told,
                "rows": [
                    {
                        "run": run.id,
                        "direction": row.direction,
                        "type": row.kind,
                        "length": row.length,
                        "calls": row.calls,
                        "per_s": None if row.rate is None else row.rate.value,
                        "drained_per_s": None if row.drained is None else row.drained.value,
                        "megabytes_per_s": row.megabytes_per_s,
                        "lost": row.lost,
                    }
                    for run in lane.runs
                    for row in run.rows
                ],
            }
            for lane in lanes
        ]
    }


def _losses(lanes: Sequence[ThroughputLane]) -> Iterator[str]:
    for lane in lanes:
        rows = rows_of([lane])
        lost = sum(row.lost or 0 for row in rows)
        if lost:
            sent = sum(row.calls + (row.lost or 0 if row.direction == TWO_WAY else 0) for row in rows)
            worst = max(rows, key=lambda row: row.lost or 0)
            yield (
                f"{lane.name}: {lost:,} of {sent:,} calls were lost; most of them {worst.direction} "
                f"{worst.name} ({worst.lost:,})."
            )


def _times(lane: ThroughputLane, direction: str, kind: Kind) -> list[float]:
    """Return the times of one operation in each run, in ns."""
    rates = [row.drained for row in of_lane(lane, direction, kind)]
    return [1e9 / one.value for one in rates if one is not None]


def _spoken_of(lanes: Sequence[ThroughputLane]) -> Iterator[tuple[str, Kind]]:
    """Yield an octet in both directions, and the longest sequence."""
    kinds = kinds_of(lanes)
    if ("octet", 0) in kinds:
        yield TWO_WAY, ("octet", 0)
        yield ONE_WAY, ("octet", 0)
    long = [kind for kind in kinds if kind[1]]
    if long:
        yield TWO_WAY, max(long, key=lambda kind: (kind[1], kind[0] == "octets"))


def _about(told: TransportOrder, values: Mapping[str, float], direction: str, kind: Kind, where: str) -> str:
    """Say who is fastest, with the operations per second that the tables have of each."""
    way = "Two-way calls" if direction == TWO_WAY else "One-way calls that got through"
    head = f"{way}, {name_of(*kind)}, {where}: "
    if told.ranking is None:
        return f"{head}{', '.join(f'{name} {rate(values[name])}' for name in told.names)} per second."
    best, second = told.best, told.runner_up
    if second is None:
        return f"{head}no difference is shown between {listed(told.names)}, at 95 % confidence for all pairs."
    if len(best) == 1:
        ratio = values[best[0]] / values[second]
        return (
            f"{head}{best[0]} is fastest with {rate(values[best[0]])} per second, {ratio:.3g} times "
            f"as fast as {second}; shown at 95 % confidence for all pairs."
        )
    return (
        f"{head}{listed(best)} are fastest, with {rate(values[best[0]])} per second and less, and "
        f"can't be told apart; {second} is shown to be slower ({rate(values[second])})."
    )
