"""How long what is under way still takes, for who looks on."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable


class Outlook(ABC):
    """What is still to come of something that begins now."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """It begins now."""
        self._clock, self._start_s, self._share = clock, clock(), 0.0

    @property
    def spent_s(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._start_s

    @property
    @abstractmethod
    def left_s(self) -> float:
        """Seconds that it still takes."""

    @property
    def share(self) -> float:
        """Return how much of the time has passed, from 0 to 1; it never falls, whatever is learnt."""
        spent_s = self.spent_s
        whole_s = spent_s + self.left_s
        self._share = max(self._share, spent_s / whole_s if whole_s else 1.0)
        return self._share


class Countdown(Outlook):
    """Of what takes about so many seconds, whatever happens."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """It begins now."""
        super().__init__(clock)
        self._seconds = seconds

    @property
    def left_s(self) -> float:
        """Return what is left of them."""
        return max(0.0, self._seconds - self.spent_s)
