"""What the firmware may do behind the kernel's back, and what the kernel does to watch the hardware."""

import os
import re
from dataclasses import dataclass

from tautochrone.machine.tree import Tree

MACHINE_CHECK = "/sys/devices/system/machinecheck/machinecheck0"
MSR = "/dev/cpu/0/msr"
PCIE_POLICY = "/sys/module/pcie_aspm/parameters/policy"

# MSR_SMI_COUNT: system management interrupts since reset, on Intel processors since Nehalem (Intel 64 and
# IA-32
# Architectures Software Developer's Manual, volume 4). AMD has no counter that can be read without being
# armed.
_SMI_COUNT, _SMI_BITS = 0x34, 32


@dataclass(frozen=True)
class FirmwareFacts:
    """Firmware, and the polling of hardware for errors."""

    uptime_s: float | None = None
    smi_count: int | None = None
    """System management interrupts since the processor was reset; None where it does not count them, or where
    the counter can't be read."""
    smi_counter: bool | None = None
    """Whether this kind of processor counts them; None if its maker is unknown."""
    efi: bool | None = None
    """Whether the machine was booted by EFI."""
    corrected_errors_ignored: bool | None = None
    """Whether corrected hardware errors are not looked for (x86)."""
    error_poll_interval_s: int | None = None
    """How often each CPU looks for hardware errors that were corrected (x86); 0 for never."""
    pcie_policy: str | None = None
    """How PCI Express links save power: ``default`` (as the firmware left it), ``performance``, …"""


def observe_firmware(tree: Tree) -> FirmwareFacts:
    """Read what shows of the firmware."""
    maker = re.search(r"^vendor_id\s*:\s*(\S+)", tree.text("/proc/cpuinfo") or "", re.MULTILINE)
    counts = None if maker is None else maker[1] == "GenuineIntel"
    uptime = re.match(r"\d+(\.\d+)?", tree.text("/proc/uptime") or "")
    return FirmwareFacts(
        uptime_s=float(uptime[0]) if uptime else None,
        smi_count=count_system_management_interrupts(tree) if counts else None,
        smi_counter=counts,
        efi=None if not tree.names("/sys/firmware") else "efi" in tree.names("/sys/firmware"),
        corrected_errors_ignored=tree.flag(f"{MACHINE_CHECK}/ignore_ce"),
        error_poll_interval_s=tree.integer(f"{MACHINE_CHECK}/check_interval"),
        pcie_policy=tree.chosen(PCIE_POLICY),
    )


def count_system_management_interrupts(tree: Tree) -> int | None:
    """How many there were since reset, as an Intel processor counts them.

    Read on CPU 0 alone: they stop all CPUs, and reading another CPU's counter would interrupt it.

    Returns:
        The count, modulo 2^32; None for another machine than this one, without the module ``msr``, or
        without the right to read it.
    """
    if not tree.is_live:
        return None
    try:
        descriptor = os.open(MSR, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.pread(descriptor, 8, _SMI_COUNT)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return int.from_bytes(data, "little") % (1 << _SMI_BITS) if len(data) == 8 else None
