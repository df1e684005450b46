"""How long a search still takes at most: what is left of its time."""

import time
from collections.abc import Callable


class Outlook:
    """Of a search that ends after so many seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """It begins now."""
        self._seconds, self._clock, self._begun_s = seconds, clock, clock()

    @property
    def left_s(self) -> float:
        """Seconds."""
        return max(0.0, self._seconds - (self._clock() - self._begun_s))

    @property
    def share(self) -> float:
        """How much of the time has passed, from 0 to 1."""
        return min(1.0, (self._clock() - self._begun_s) / self._seconds)
