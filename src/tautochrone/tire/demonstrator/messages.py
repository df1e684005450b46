"""What the page is told, as JSON. Counts are since the run began: one message less does no harm."""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.tire.demonstrator.reception import DatagramCounts, State

UNITS_PER_M = 10_000
"""Positions are whole tenths of a millimetre: less than a pixel, and short."""

_MOST_HISTORY = 3_000  # half a minute, as wide as the strip


@dataclass(frozen=True)
class PageWords:
    """What a page says about where its numbers come from.

    Attributes:
        what: one line about the run.
        receives_at: where datagrams are expected, as the probe's --send takes it.
    """

    what: str
    receives_at: str


def hello(server: str, words: PageWords, counts: DatagramCounts, history: Sequence[list[int]]) -> str:
    """The first message.

    Args:
        server: another one after each start, so that a page sees that the counts began anew.
        history: of `History.points`.
    """
    return _text(
        kind="hello", server=server, what=words.what, receives_at=words.receives_at,
        reception=counts.as_table(), history=history,
    )  # fmt: skip


def state(newest: State, counts: DatagramCounts) -> str:
    """A state that has just arrived, or, where it is over, how it ended."""
    return _text(
        kind="state", run=newest.run, nodes=newest.nodes, stride=newest.stride,
        radius=_units(newest.radius_um / 1e6), threads=newest.threads, solver=newest.solver,
        step=newest.step, steps=newest.steps, released=newest.released, missed=newest.missed,
        period_ns=newest.period_ns, over=newest.over, worst_step_ns=newest.worst_step_ns,
        worst_dispatch_ns=newest.worst_dispatch_ns, point=point(newest, counts),
        xy=[_units(one) for one in newest.xy_m], reception=counts.as_table(),
    )  # fmt: skip


def reception(counts: DatagramCounts, silent_s: float | None) -> str:
    """How things stand, also when nothing arrives.

    Args:
        silent_s: since the last datagram that was taken; None: none was.
    """
    return _text(kind="reception", reception=counts.as_table(), silent_s=silent_s)


def skipped(count: int) -> str:
    """So many messages were left out for this page, which is too slow for them."""
    return _text(kind="skipped", count=count)


def ended(words: str) -> str:
    """The server ends, and what came of the run."""
    return _text(kind="ended", words=words)


def point(newest: State, counts: DatagramCounts) -> list[int]:
    """A place on the strip: release (us), T_s, T_i, steps, missed so far, sequence, lost so far."""
    return [
        newest.scheduled_ns // 1000, newest.step_ns, newest.dispatch_ns, newest.steps, newest.missed,
        newest.sequence, counts.lost,
    ]  # fmt: skip


class History:
    """The strip of the last half minute, for pages that come later."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self._points: deque[list[int]] = deque(maxlen=_MOST_HISTORY)

    def add(self, newest: State, counts: DatagramCounts, *, begins: bool) -> None:
        """One more state."""
        if begins:
            self._points.clear()
        self._points.append(point(newest, counts))

    @property
    def points(self) -> list[list[int]]:
        """Oldest first; see `point`."""
        return list(self._points)


def _units(metres: float) -> int:
    return round(metres * UNITS_PER_M)


def _text(**content: Any) -> str:
    return json.dumps(content, separators=(",", ":"))
