"""The datagrams in which a probe sends its tire (``probe/tire/live.h``, docs/tire-view.md), and their books.

What arrived and what did not: pure but for what it counts.
"""

import struct
from dataclasses import dataclass

MAGIC = b"TIRE"
VERSION = 1
HEADER = struct.Struct("<4sHHIIIIHHIQQQQqqqqqq")
SOLVERS = ("single", "semaphore", "mutex-pi", "halo")
MOST_BYTES = 65535  # of any datagram

_POSITION_BYTES = 8
_LARGEST_M = 1e6  # whatever is farther away is no tire, and no number that JSON knows


@dataclass(frozen=True)
class State:
    """A tire, as one datagram has it, in that order. Times are nanoseconds on the probe's monotonic clock.

    Attributes:
        sequence: of the datagram: 0, 1, 2, …
        nodes: masses of the tire; every `stride`-th of them is in `xy_m`.
        run: the same in all datagrams of a run, another one in the next.
        step: steps after which the positions were so.
        steps: steps that are done; more than `step` where none left time to copy positions.
        released: steps that were due so far, without the warm-up.
        scheduled_ns: the release of the step before.
        step_ns: longest T_s since the datagram before.
        dispatch_ns: longest T_i since then.
        worst_step_ns: longest T_s of all.
        worst_dispatch_ns: longest T_i of all.
        xy_m: x and y in turn, in metres; none: it is over.
    """

    sequence: int
    stride: int
    nodes: int
    radius_um: int
    threads: int
    solver: str
    run: int
    step: int
    steps: int
    released: int
    missed: int
    scheduled_ns: int
    period_ns: int
    step_ns: int
    dispatch_ns: int
    worst_step_ns: int
    worst_dispatch_ns: int
    xy_m: tuple[float, ...]

    @property
    def over(self) -> bool:
        """Return whether the run has ended."""
        return not self.xy_m


def read_state(data: bytes) -> State | None:
    """Return what a datagram says; None: it is none of these, or of another version, or damaged."""
    if len(data) < HEADER.size:
        return None
    (
        magic, version, count, sequence, stride, nodes, radius_um, threads, solver, *told
    ) = HEADER.unpack_from(data)  # fmt: skip
    if magic != MAGIC or version != VERSION or len(data) != HEADER.size + count * _POSITION_BYTES:
        return None
    if (
        stride == 0
        or (count and not (count - 1) * stride < nodes <= count * stride)
        or solver >= len(SOLVERS)
    ):
        return None
    xy_m = struct.unpack(f"<{2 * count}f", data[HEADER.size :])
    state = State(sequence, stride, nodes, radius_um, threads, SOLVERS[solver], *[*told, xy_m])
    in_reach = all(-_LARGEST_M < one < _LARGEST_M for one in xy_m)
    return state if in_reach and state.period_ns > 0 and state.step <= state.steps else None


SILENCE_S = 3.0
"""A sender that says nothing for so long has no right to be the only one any more."""

_MOST_MISSING = 100_000

Sender = tuple[str, int]
"""Address and port."""


@dataclass
class DatagramCounts:
    """Datagrams of the run that is shown; the last two: of the receiver, since it began.

    Attributes:
        received: all that arrived, once each, late ones too.
        lost: numbers that were passed over and did not come later.
        before: numbers below the first one that arrived, where the receiver may have come later than
            the sender.
        late: arrived after one with a higher number; they are not lost.
        twice: arrived though they had arrived already; not among the received.
        unreadable: of another kind or version, or damaged.
        others: of another sender or run than the one that is shown.
    """

    received: int = 0
    lost: int = 0
    before: int = 0
    late: int = 0
    twice: int = 0
    unreadable: int = 0
    others: int = 0


@dataclass(frozen=True)
class Arrival:
    """A state that is newer than all before it.

    Attributes:
        lost: how many numbers between the one before and this one are missing at this moment.
        begins: it is the first of its run.
    """

    state: State
    lost: int
    begins: bool


class Reception:
    """Takes datagrams of one run, from one sender, and tells what is missing.

    The sender is the one whose datagram comes first. Another one, or another run, takes its place when
    the run is over, or when nothing came of it for `SILENCE_S`; until then it is counted, and nothing more.
    """

    def __init__(self, *, from_start: bool) -> None:
        """Begin with nothing received.

        Args:
            from_start: the receiver was there before the sender, so what is missing before the first datagram
                was lost.
        """
        self.counts = DatagramCounts()
        self.newest: State | None = None
        self.last_s: float | None = None
        self._from_start = from_start
        self._sender: Sender | None = None
        self._first = 0
        self._missing: set[int] = set()

    def take(self, data: bytes, sender: Sender, now_s: float) -> Arrival | None:
        """Book a datagram.

        Args:
            now_s: on any clock that never goes back.

        Returns:
            The state, if it is the newest one.
        """
        state = read_state(data)
        if state is None:
            self.counts.unreadable += 1
            return None
        if not self._is_shown(state, sender):
            if not self._may_take_over(now_s):
                self.counts.others += 1
                return None
            if self.newest is not None and state.run != self.newest.run:
                self._begin_anew()
        self._sender, self.last_s = sender, now_s
        return self._book(state)

    def _is_shown(self, state: State, sender: Sender) -> bool:
        return self.newest is not None and sender == self._sender and state.run == self.newest.run

    def _may_take_over(self, now_s: float) -> bool:
        if self.newest is None or self.newest.over or self.last_s is None:
            return True
        return now_s - self.last_s >= SILENCE_S

    def _begin_anew(self) -> None:
        self.counts = DatagramCounts(unreadable=self.counts.unreadable, others=self.counts.others)
        self.newest = None
        self._first = 0
        self._missing.clear()

    def _book(self, state: State) -> Arrival | None:
        newest = self.newest
        if newest is not None and state.sequence <= newest.sequence:
            self._book_old(state.sequence)
            return None
        self.counts.received += 1
        expected = newest.sequence + 1 if newest is not None else 0
        missing = range(expected, state.sequence)
        room = max(0, _MOST_MISSING - len(self._missing))
        self._missing.update(missing[max(0, len(missing) - room) :])
        self.newest = state
        if newest is None and not self._from_start:
            self._first = state.sequence
            self.counts.before = len(missing)
            return Arrival(state, 0, begins=True)
        self.counts.lost += len(missing)
        return Arrival(state, len(missing), begins=newest is None)

    def _book_old(self, sequence: int) -> None:
        counts = self.counts
        if sequence not in self._missing:
            counts.twice += 1
            return
        self._missing.discard(sequence)
        counts.received += 1
        counts.late += 1
        if sequence < self._first:
            counts.before -= 1
        else:
            counts.lost -= 1
