"""How far a plan run is while it goes on, and how long the rest of it takes."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.estimate import Forecast, may_end_early
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.measure.lab.pace import boot_s, measuring_s
from tautochrone.measure.outlook import Outlook
from tautochrone.run import files
from tautochrone.run.catalogue import CatalogueEntry

STOPPED_AT_A_MISS = "overrun"
"""How a run ended that was to end at its first miss, and had one."""

_LONGEST = 50.0
"""A run that seems to have taken so many times as long as expected was copied later: nobody knows."""


class CampaignOutlook(Outlook):
    """Of a plan run: told of every slot as it begins and ends, in any order; learns from each."""

    def __init__(
        self,
        agenda: Agenda,
        slots: Sequence[Slot],
        hands: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with these slots ahead, and what the store tells of those before.

        Args:
            hands: how many are carried out at once.
        """
        super().__init__(clock)
        self._points = agenda.points
        self._forecast = forecast_of(agenda)
        self._ahead = list(slots)
        self._whole = len(slots)
        self._hands = max(1, hands)
        self._under_way: dict[int, tuple[Slot, float]] = {}
        self._rest_s = self._needed_s(self._ahead)

    def begin(self, slot: Slot) -> None:
        """A slot begins. Those before it that were not measured were refused."""
        self._ahead = self._ahead[self._ahead.index(slot) + 1 :]
        self._under_way[slot.position] = slot, self._clock()
        self._rest_s = self._needed_s(self._ahead)

    def end(self, slot: Slot, ended: str | None) -> None:
        """The slot has ended.

        Args:
            ended: how its run ended; None: it has none, or not a whole one.
        """
        _, begun_s = self._under_way.pop(slot.position)
        if ended is None:
            return
        early = ended == STOPPED_AT_A_MISS
        self._forecast.learn(self._points[slot.key], self._clock() - begun_s, early=early)
        self._rest_s = self._needed_s(self._ahead)

    @property
    def left_s(self) -> float:
        """How long the rest takes: as long as the work shared out, or as the longest of what is under way."""
        now_s = self._clock()
        under_way_s = [
            max(0.0, self._needed_s([slot]) - (now_s - begun_s)) for slot, begun_s in self._under_way.values()
        ]
        return max([(self._rest_s + sum(under_way_s)) / self._hands, *under_way_s])

    @property
    def finished(self) -> int:
        """Return how many of the slots are behind."""
        return self._whole - len(self._ahead) - len(self._under_way)

    def seconds(self, slots: Sequence[Slot]) -> float:
        """Return how long these take, by what is known now, shared out."""
        return self._needed_s(slots) / self._hands

    def _needed_s(self, slots: Sequence[Slot]) -> float:
        return sum(self._forecast.seconds(self._points[slot.key]) for slot in slots)


def forecast_of(agenda: Agenda) -> Forecast:
    """Return what the finished runs of a plan run teach about the rest of it."""
    forecast = Forecast(agenda.points.values())
    for (key, _), entry in agenda.finished.items():
        point = agenda.points[key]
        early = may_end_early(point) and entry.ended == STOPPED_AT_A_MISS
        forecast.learn(point, _took_s(entry, point), early=early)
    return forecast


def _took_s(entry: CatalogueEntry, point: PlanPoint) -> float | None:
    """From its beginning until it was sealed, and how long its system booted before that; None: not known."""
    try:
        sealed_s = (entry.path / files.MANIFEST).stat().st_mtime
        took_s = sealed_s - datetime.fromisoformat(entry.created).timestamp()
    except (OSError, ValueError):
        return None
    return took_s + boot_s(point) if 0 <= took_s <= _LONGEST * (measuring_s(point) + 1) else None


def longest_first(agenda: Agenda, slots: Sequence[Slot]) -> list[Slot]:
    """Return the slots in the order in which they end soonest where several are carried out at once."""
    forecast = forecast_of(agenda)
    return sorted(slots, key=lambda slot: -forecast.seconds(agenda.points[slot.key]))
