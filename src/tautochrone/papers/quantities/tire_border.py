"""Where a map of tires turns from meeting every deadline to missing them, and how sure that is.

What is found on a grid of sizes is known to a step of the grid, and a single tire that missed may just have
been disturbed. So each number here has an interval of its own:

- A *border* lies from the largest tire below the first miss (up to there nothing was missed) to the first
  size by which more than chance was missed: by then `SURE` tires missed some, or one missed most of its
  deadlines. Of two systems that miss alike, one would have all of the first six tires that missed in
  2 / 2^6 = 3 % of cases (a sign test), so one that meets everything up to the other's end is the better one.
- A *transition* is how many times as many masses the first tire from which on most deadlines are missed has,
  compared with the largest below which none is. It is no wider than the grid shows, and no narrower than
  from the second tire that missed to the last that met most: the first one alone decides nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from tautochrone.tire.grid_judge import MapCell

SURE = 6
_MOST = 0.5


@dataclass(frozen=True)
class Interval:
    """From where to where; without end: `math.inf`."""

    low: float
    high: float


def teams(cells: Iterable[MapCell]) -> dict[int, list[MapCell]]:
    """What was measured, by number of threads, the smallest tire first."""
    measured = sorted((one for one in cells if one.trials), key=lambda one: (one.threads, one.nodes))
    return {threads: list(own) for threads, own in groupby(measured, key=lambda one: one.threads)}


def misses_most(cell: MapCell) -> bool:
    """Whether more than half of the deadlines were missed, in every repetition."""
    return all(one.missed > _MOST * one.due for one in cell.trials)


def border(own: Sequence[MapCell]) -> Interval:
    """Of one number of threads: see above. In masses; the upper end is no longer met."""
    met = 0
    for cell in own:
        if cell.missed:
            break
        met = cell.nodes
    missed = 0
    for cell in own:
        missed += bool(cell.missed)
        if misses_most(cell) or missed >= SURE:
            return Interval(float(met), float(cell.nodes))
    return Interval(float(met), math.inf)


def transition(own: Sequence[MapCell]) -> Interval | None:
    """Of one number of threads: see above. None: no border lies between the sizes that were measured."""
    missed = [one.nodes for one in own if one.missed]
    if not missed or misses_most(own[0]):
        return None
    first = missed[0]
    below = [one.nodes for one in own if one.nodes < first]
    not_most = [one.nodes for one in own if not misses_most(one)]
    above = [one.nodes for one in own if one.nodes > not_most[-1]]
    narrowest = not_most[-1] / missed[1] if len(missed) > 1 else 1.0
    widest = above[0] / below[-1] if above and below else math.inf
    return Interval(max(1.0, narrowest), widest)
