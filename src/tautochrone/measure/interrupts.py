"""Ctrl-C and SIGTERM, from the start of a probe until its run is sealed."""

import signal
from types import FrameType
from typing import Any

from tautochrone.target.program import RunningProbe

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class HeldInterrupts:
    """While they are held, one ends the probe, not the lab: the last samples and the footer are to come.

    One that comes before the probe or after it is kept in mind: what was begun (a probe on its way, a
    deployment being put back, a run being sealed) comes to its end first. The next one ends the lab where it
    is.

    Attributes:
        asked: whether one came.
        late: whether one came when the probe had ended already.
        insisted: whether a second one came before the probe had ended, and ended it at once.
    """

    def __init__(self) -> None:
        """None came, and none is held yet."""
        self.asked = False
        self.late = False
        self.insisted = False
        self._probe: RunningProbe | None = None
        self._probe_has_ended = False
        self._before: dict[signal.Signals, Any] = {}

    def hold(self) -> None:
        """From now on."""
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._on_signal)

    def release(self) -> None:
        """As it was before; nothing, if they are not held."""
        while self._before:
            signal.signal(*self._before.popitem())

    def end(self, probe: RunningProbe) -> None:
        """This is the probe that one ends; at once, if one came before."""
        self._probe = probe
        if self.asked:
            probe.stop()

    def probe_has_ended(self) -> None:
        """There is no probe to end any more."""
        self._probe = None
        self._probe_has_ended = True

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        again = self.late if self._probe_has_ended else self.asked
        self.asked = True
        self.late = self._probe_has_ended
        if self._probe is not None:
            self.insisted = again
            self._probe.stop()
        elif again:
            raise KeyboardInterrupt
