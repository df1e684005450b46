"""Which transport is faster: said only where repetitions show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tautochrone.statistics.difference.between_runs import FEWEST_RUNS, between_runs
from tautochrone.statistics.difference.ranking import Ranking, rank

_STEP_PS = 1


@dataclass(frozen=True)
class Order:
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
        """The first and whoever can't be told apart from it; empty where nothing was tested."""
        return () if self.ranking is None else self.ranking.best

    @property
    def runner_up(self) -> str | None:
        """The first of those that are shown to be slower than the best; None: there is none."""
        best = self.best
        return next((name for name in self.names if best and name not in best), None)


def order_of(times_ns: Mapping[str, Sequence[float]]) -> Order | None:
    """Order candidates by the mean times of their runs; None where there are not two.

    All pairs are tested as two small samples of runs (`between_runs`), adjusted together (Holm).

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
        whole_ps = {name: [round(one * 1e3) for one in own] for name, own in held.items()}
        p = {
            (first, second): between_runs(whole_ps[names[first]], whole_ps[names[second]], _STEP_PS, 0.95).p
            for first, second in combinations(range(len(names)), 2)
        }
        ranking = rank(names, [means[name] for name in names], p)
    return Order(tuple(names), tuple(means[name] for name in names), ranking)
