"""The datagrams in which a probe sends its tire (``probe/tire/live.h``, docs/tire-view.md)."""

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
    """A tire, as one datagram has it. Times are nanoseconds on the probe's monotonic clock.

    Attributes:
        sequence: of the datagram: 0, 1, 2, …
        run: the same in all datagrams of a run, another one in the next.
        nodes: masses of the tire; every `stride`-th of them is in `xy_m`.
        solver: its name.
        step: steps after which the positions were so.
        steps: steps that are done; more than `step` where none left time to copy positions.
        released: steps that were due so far, without the warm-up.
        missed: deadlines so far.
        scheduled_ns: the release of the step before.
        step_ns: longest T_s since the datagram before.
        dispatch_ns: longest T_i since then.
        worst_step_ns: longest T_s of all.
        worst_dispatch_ns: longest T_i of all.
        xy_m: x and y in turn, in metres; none: it is over.
    """

    sequence: int
    run: int
    nodes: int
    stride: int
    radius_um: int
    threads: int
    solver: str
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
        """Whether the run has ended."""
        return not self.xy_m


def read_state(data: bytes) -> State | None:
    """What a datagram says; None: it is none of these, or of another version, or damaged."""
    if len(data) < HEADER.size:
        return None
    (
        magic, version, count, sequence, stride, nodes, radius_um, threads, solver, run, step, steps,
        released, missed, scheduled_ns, period_ns, step_ns, dispatch_ns, worst_step_ns, worst_dispatch_ns,
    ) = HEADER.unpack_from(data)  # fmt: skip
    if magic != MAGIC or version != VERSION or len(data) != HEADER.size + count * _POSITION_BYTES:
        return None
    makes_sense = (
        stride > 0 and (count == 0 or (count - 1) * stride < nodes <= count * stride)
        and solver < len(SOLVERS) and period_ns > 0 and step <= steps
    )  # fmt: skip
    xy_m = _floats(data[HEADER.size :])
    if not makes_sense or not all(-_LARGEST_M < one < _LARGEST_M for one in xy_m):
        return None
    return State(
        sequence=sequence, run=run, nodes=nodes, stride=stride, radius_um=radius_um, threads=threads,
        solver=SOLVERS[solver], step=step, steps=steps, released=released, missed=missed,
        scheduled_ns=scheduled_ns, period_ns=period_ns, step_ns=step_ns, dispatch_ns=dispatch_ns,
        worst_step_ns=worst_step_ns, worst_dispatch_ns=worst_dispatch_ns, xy_m=xy_m,
    )  # fmt: skip


def _floats(data: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(data) // 4}f", data)
