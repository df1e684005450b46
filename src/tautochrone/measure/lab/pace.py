"""How long a case takes on the host's clock: a guest's own time runs at another pace.

What the host's clock says of a virtual machine is told to who waits, and never stands in a result. The paces
are those of one host; what is measured corrects them while it goes on.
"""

from tautochrone.base.errors import TautoError
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.target.address import DEFAULT_SHIFT, LabAddress, read_address

_BOOT_S = {"x86_64": 6.0, "aarch64": 3.0}
_IDLE, _BUSY, _BUSY_IN_TURNS = 0.5, 4.0, 15.0
"""Seconds on the host for one of the guest, at the usual shift; the last where several CPUs take turns."""


def boot_s(point: PlanPoint) -> float:
    """Until its system is there; 0 where it is a machine that runs anyway."""
    address = _address(point.address)
    if address is None:
        return 0.0
    return _BOOT_S["aarch64" if address.kernel.endswith("/arm64") else "x86_64"]


def measuring_s(point: PlanPoint) -> float:
    """Return how long its measuring takes."""
    address = _address(point.address)
    guest_s = point.prepared.expected_s
    if address is None:
        return guest_s
    shift = DEFAULT_SHIFT if address.shift is None else address.shift
    # A CPU that works executes as many instructions as fit into guest time; one that sleeps costs nothing.
    busy = _BUSY if address.cpus == 1 else _BUSY_IN_TURNS
    pace = busy * 2.0 ** (DEFAULT_SHIFT - shift) if point.load.parts else _IDLE
    return guest_s * pace


def _address(where: str) -> LabAddress | None:
    try:
        address = read_address(where)
    except TautoError:
        return None
    return address if isinstance(address, LabAddress) else None
