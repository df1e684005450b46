"""Datagrams of a tire (docs/tire-view.md), made without one, and sent."""

import socket
import struct
from collections.abc import Iterable
from typing import Any

from tautochrone.command.address import Address

PERIOD_NS = 1_000_000
USUAL: dict[str, Any] = {
    "magic": b"TIRE", "version": 1, "count": None, "sequence": 0, "stride": 1, "nodes": 4,
    "radius_um": 300_000, "threads": 1, "solver": 3, "run": 7,
    "step": 0, "steps": 0, "released": 0, "missed": 0, "scheduled_ns": 0, "period_ns": PERIOD_NS,
    "step_ns": 5_000, "dispatch_ns": 20_000, "worst_step_ns": 5_000, "worst_dispatch_ns": 20_000,
}  # fmt: skip
SQUARE = (0.3, 0.8, 0.0, 1.1, -0.3, 0.8, 0.0, 0.5)
"""The tire of four masses before it falls."""


def datagram(xy_m: Iterable[float] = SQUARE, **fields: Any) -> bytes:
    """One with these fields; the others as usual."""
    values = USUAL | fields
    positions = tuple(xy_m)
    if values["count"] is None:
        values["count"] = len(positions) // 2
    return struct.pack("<4sHHIIIIHHIQQQQqqqqqq", *values.values()) + struct.pack(
        f"<{len(positions)}f", *positions
    )


def numbered(sequence: int, **fields: Any) -> bytes:
    """Of a run in which ten steps pass between two datagrams, and none is missed."""
    steps = 10 * sequence
    usual = {"step": steps, "steps": steps, "released": steps, "scheduled_ns": steps * PERIOD_NS}
    return datagram(sequence=sequence, **(usual | fields))


def send(to: Address, datagrams: Iterable[bytes], sender: socket.socket | None = None) -> None:
    """From a socket of its own, unless one is given."""
    one = sender or socket.socket(to.family, socket.SOCK_DGRAM)
    try:
        for data in datagrams:
            one.sendto(data, (to.host, to.port))
    finally:
        if sender is None:
            one.close()
