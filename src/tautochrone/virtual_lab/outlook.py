"""How far a campaign is whose slots are carried out several at once."""

from collections.abc import Sequence

from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.campaign.outlook import Outlook, forecast_of


class OutlookAtOnce(Outlook):
    """Told of every slot as it begins and ends, in any order; learns from each."""

    def __init__(self, agenda: Agenda, slots: Sequence[Slot], hands: int) -> None:
        """Begin with these slots ahead.

        Args:
            hands: how many are carried out at once.
        """
        super().__init__(agenda, slots)
        self._hands = max(1, hands)
        self._under_way: dict[int, tuple[Slot, float]] = {}

    def begin(self, slot: Slot) -> None:
        """A slot begins. Those before it that were not measured were refused."""
        self._ahead = self._ahead[self._ahead.index(slot) + 1 :]
        self._under_way[slot.position] = slot, self._clock()
        self._rest_s = self._needed_s(self._ahead)

    def end(self, slot: Slot, ended: str | None) -> None:
        """The slot has ended."""
        _, begun_s = self._under_way.pop(slot.position)
        self._learn(slot, ended, begun_s)

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
        """How many of the slots are behind."""
        return self._whole - len(self._ahead) - len(self._under_way)

    def seconds(self, slots: Sequence[Slot]) -> float:
        """How long these take, shared out."""
        return self._needed_s(slots) / self._hands


def longest_first(agenda: Agenda, slots: Sequence[Slot]) -> list[Slot]:
    """The slots in the order in which they end soonest where several are carried out at once."""
    forecast = forecast_of(agenda)
    return sorted(slots, key=lambda slot: -forecast.seconds(agenda.points[slot.key]))
