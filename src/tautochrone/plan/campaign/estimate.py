"""How long a plan's cells take, with what is around each: deployment, start of a load, sealing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tautochrone.plan.campaign.order import Slot
from tautochrone.plan.document.expand import AS_IS, Point

_AROUND_S, _LOAD_S, _DEPLOYMENT_S = 0.4, 0.8, 0.8


@dataclass(frozen=True)
class Estimate:
    """Time for some slots.

    Attributes:
        seconds: in all.
        ends: when that is over, on the clock on the wall here.
    """

    seconds: float
    ends: datetime


def point_s(point: Point) -> float:
    """Seconds for one point, with what is around its measuring."""
    load_s = _LOAD_S if point.load.parts else 0.0
    deployment_s = _DEPLOYMENT_S if point.deployment.name != AS_IS else 0.0
    return point.prepared.expected_s + _AROUND_S + load_s + deployment_s


def estimate(slots: Sequence[Slot], points: Mapping[str, Point], now: datetime) -> Estimate:
    """Time for these slots, begun now (with its time zone)."""
    seconds = sum(point_s(points[slot.key]) for slot in slots)
    return Estimate(seconds, now + timedelta(seconds=seconds))


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
