"""How long a plan's cases take, with what is around each: deployment, start of a load, sealing.

Before anything is measured that is what the experiments say of themselves. A forecast learns from every case
that is finished, from the cases of its family most: those that differ from it in their size alone.
"""

import math
from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import fmean, median

from tautochrone.experiments import EXPERIMENTS
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.document.expand import AS_IS, PlanPoint
from tautochrone.measure.lab.pace import boot_s, measuring_s

_AROUND_S, _LOAD_S, _DEPLOYMENT_S = 0.4, 0.8, 0.8
_ENDS_AT_ONCE_S = 0.2  # a case that is to end at its first miss, if that is at its beginning
_UNKNOWN = 0.5


@dataclass(frozen=True)
class TimeEstimate:
    """Time for some slots.

    Attributes:
        seconds: in all.
        ends: when that is over, on the clock on the wall here.
        at_most: whether it is less where cases end early.
    """

    seconds: float
    ends: datetime
    at_most: bool = False


def point_s(point: PlanPoint) -> float:
    """Seconds for one point, with what is around its measuring."""
    return measuring_s(point) + _around_s(point)


def _around_s(point: PlanPoint) -> float:
    load_s = _LOAD_S if point.load.parts else 0.0
    deployment_s = _DEPLOYMENT_S if point.deployment.name != AS_IS else 0.0
    return boot_s(point) + _AROUND_S + load_s + deployment_s


def may_end_early(point: PlanPoint) -> bool:
    """Return whether it ends at its first miss, if it has one."""
    return point.options.get("overrun") == "stop"


@dataclass
class _Family:
    """What was seen of the points that differ in their size alone.

    Attributes:
        usual_s: the middle of what its points are expected to take: the weight of what is not seen yet.
        ratios: of each point that was measured to its end, how many times as long as expected it took; and
            how long it was expected to take.
        factor: the middle of these.
        sizes: that were measured, ascending.
        ended: whether those of a size ended early, by the size.
    """

    usual_s: float
    ratios: list[tuple[float, float]] = field(default_factory=list)
    factor: float = 1.0
    sizes: list[float] = field(default_factory=list)
    ended: dict[float, list[bool]] = field(default_factory=dict)

    def add(self, size: float, *, early: bool) -> None:
        if size not in self.ended:
            insort(self.sizes, size)
        self.ended.setdefault(size, []).append(early)

    def ends_early(self, size: float) -> float | None:
        """Return how likely that is, between the nearest size below and above; None where they don't tell.

        What is too much for one size is too much for larger ones; what one size can do, smaller ones can.
        """
        at = bisect_right(self.sizes, size)
        below = self.sizes[at - 1] if at else None
        above = below if below == size else next(iter(self.sizes[at : at + 1]), None)
        low = None if below is None else fmean(self.ended[below])
        high = None if above is None else fmean(self.ended[above])
        if below is None or low is None:
            return 0.0 if high == 0 else None
        if above is None or high is None:
            return 1.0 if low == 1 else None
        return low if low == high else low + (high - low) * math.log(size / below) / math.log(above / below)


class Forecast:
    """How long points take, told better with each one that was measured."""

    def __init__(self, points: Iterable[PlanPoint]) -> None:
        """Begin with what the experiments say of these points."""
        expected: dict[object, list[float]] = {}
        for point in points:
            expected.setdefault(_family(point), []).append(measuring_s(point))
        self._families = {key: _Family(median(all_s)) for key, all_s in expected.items()}
        self._usual_s = median(one.usual_s for one in self._families.values()) if self._families else 0.0
        self._ratios: list[tuple[float, float]] = []
        self._early_s: list[float] = []
        self._weighed = True

    def learn(self, point: PlanPoint, took_s: float | None, *, early: bool) -> None:
        """Take in a measurement.

        Args:
            took_s: with what is around the measuring; None: not known.
            early: it ended at its first miss.
        """
        family = self._families[_family(point)]
        family.add(_size(point), early=early)
        if took_s is None:
            return
        if early:
            insort(self._early_s, took_s)
            return
        expected_s = measuring_s(point)
        if expected_s > 0:
            ratio = (max(0.0, took_s - _around_s(point)) / expected_s, expected_s)
            insort(family.ratios, ratio)
            insort(self._ratios, ratio)
            self._weighed = False

    def _weigh(self) -> None:
        """What is not known of a family is taken from all of them, and weighs as much as one usual point.

        Middles are taken: one case that was disturbed says little about the others, and a small one, too.
        """
        common = _middle([*self._ratios, (1.0, self._usual_s)])
        for family in self._families.values():
            family.factor = _middle([*family.ratios, (common, family.usual_s)])
        self._weighed = True

    def seconds(self, point: PlanPoint) -> float:
        """For one point, with what is around it; of one that may end early, by how likely it does."""
        if not self._weighed:
            self._weigh()
        family = self._families[_family(point)]
        whole_s = measuring_s(point) * family.factor + _around_s(point)
        if not may_end_early(point):
            return whole_s
        early_s = median(self._early_s) if self._early_s else _around_s(point) + _ENDS_AT_ONCE_S
        likely = self._ends_early(family, _size(point))
        return likely * min(whole_s, early_s) + (1 - likely) * whole_s

    def _ends_early(self, family: _Family, size: float) -> float:
        """By its own family, or else by the others."""
        own = family.ends_early(size)
        if own is not None:
            return own
        told = [one.ends_early(size) for one in self._families.values()]
        known = [one for one in told if one is not None]
        return fmean(known) if known else _UNKNOWN


def _middle(weighted: Iterable[tuple[float, float]]) -> float:
    """Return the median of values with weights."""
    ordered = sorted(weighted)
    half = sum(weight for _, weight in ordered) / 2
    below = 0.0
    for at, (value, weight) in enumerate(ordered):
        below += weight
        if math.isclose(below, half) and at + 1 < len(ordered):
            return (value + ordered[at + 1][0]) / 2
        if below >= half:
            return value
    raise ValueError("no values")


def _family(point: PlanPoint) -> object:
    size = EXPERIMENTS[point.experiment].size
    if not size:
        return point.key
    options = tuple((name, value) for name, value in point.options.items() if name != size)
    return point.system, point.deployment.name, point.load.name, point.entry, options


def _size(point: PlanPoint) -> float:
    value = point.options.get(EXPERIMENTS[point.experiment].size)
    return float(value) if isinstance(value, (int, float)) and value > 0 else 1.0


def estimate(
    slots: Sequence[Slot],
    points: Mapping[str, PlanPoint],
    now: datetime,
    forecast: Forecast | None = None,
    at_once: int = 1,
) -> TimeEstimate:
    """Time for these slots, begun now (with its time zone).

    Args:
        forecast: what was learnt; None: nothing, and then as if no case ended early.
        at_once: how many are measured at the same time.
    """
    seconds = sum(
        point_s(points[slot.key]) if forecast is None else forecast.seconds(points[slot.key])
        for slot in slots
    )
    seconds /= max(1, min(at_once, len(slots)))
    less = forecast is None and any(may_end_early(points[slot.key]) for slot in slots)
    return TimeEstimate(seconds, now + timedelta(seconds=seconds), less)


def long_duration(seconds: float) -> str:
    """A time for waiting: ``45 s``, ``12 min``, ``3 h 20 min``, ``2 days 4 h``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} days {hours} h" if hours else f"{days} days"
