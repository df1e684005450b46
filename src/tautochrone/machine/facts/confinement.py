"""Facts about what stands between a process and the hardware: virtual machine, container, control group."""

import re
from collections.abc import Iterator

from tautochrone.machine.tree import Tree

CGROUPS = ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
"""Where cgroup v2 is mounted: alone, or beside version 1."""

# Maker or product in DMI -> hypervisor, as systemd-detect-virt(1) tells them apart.
_HYPERVISORS = {
    "QEMU": "QEMU",
    "KVM": "KVM",
    "VMware": "VMware",
    "innotek GmbH": "VirtualBox",
    "VirtualBox": "VirtualBox",
    "Xen": "Xen",
    "Bochs": "Bochs",
    "Parallels": "Parallels",
    "BHYVE": "bhyve",
    "Hyper-V": "Hyper-V",
    "Virtual Machine": "Hyper-V",
    "Amazon EC2": "Amazon EC2",
    "Google Compute Engine": "Google Compute Engine",
    "OpenStack": "OpenStack",
    "Apple Virtualization": "Apple Virtualization",
}
# Clock sources that only a guest has.
_GUEST_CLOCKS = {"kvm-clock": "KVM", "xen": "Xen", "hyperv_clocksource": "Hyper-V"}
_CONTAINER_GROUPS = {"kubepods": "kubernetes", "docker": "docker", "libpod": "podman", "lxc": "lxc"}
VIRTUAL_LAB = "the virtual lab"
"""What stands for the hypervisor of a guest of the virtual lab."""

_PCI_DEVICES = "/proc/bus/pci/devices"
_LABS_DEVICES = {"1af41110", "149830c8"}  # a mailbox, and the serial card through which it speaks
_NO_LIMIT_BYTES = 1 << 62  # cgroup v1 says "none" by nearly 2^63
TICKS_PER_SECOND = 100  # USER_HZ, the unit of /proc/stat on every architecture in use
_DMI = tuple(
    f"/sys/class/dmi/id/{name}" for name in ("sys_vendor", "product_name", "board_vendor", "bios_vendor")
)
_PRODUCT = _DMI[1]
_DEVICE_TREE = "/proc/device-tree/hypervisor/compatible"
_BOARD = "/proc/device-tree/compatible"
_BOARDS = {"linux,dummy-virt": None, "riscv-virtio": "QEMU", "qemu,": "QEMU"}
"""What boards that only hypervisors make are called in a device tree -> which; None: several make it."""
_ANNOUNCED = "/sys/hypervisor/type"
_CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"


def virtual(tree: Tree) -> tuple[bool | None, str | None, str | None]:
    """Return whether this is a virtual machine, of which hypervisor, and what says so."""
    if set((tree.text(_PCI_DEVICES) or "").split()) >= _LABS_DEVICES:
        return True, VIRTUAL_LAB, "the devices through which the virtual lab speaks to its guests"
    # Rented machines without a hypervisor carry the same maker's name as rented guests.
    metal = ".metal" in (tree.text(_PRODUCT) or "")
    for path in _DMI:
        text = tree.text(path) or ""
        for mark, kind in _HYPERVISORS.items():
            if mark in text and not metal:
                return True, kind, f"DMI {path.rpartition('/')[2]}"
    if announced := tree.text(_ANNOUNCED):
        return True, announced.capitalize(), _ANNOUNCED
    if compatible := tree.text(_DEVICE_TREE):
        return True, compatible.split("\0")[0], "device tree"
    board = tree.text(_BOARD) or ""
    if found := next((mark for mark in _BOARDS if mark in board), None):
        return True, _BOARDS[found], "device tree"
    cpuinfo = tree.text("/proc/cpuinfo")
    clocks = tree.text(_CLOCKS) or ""
    if re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo or "", re.MULTILINE):
        guessed = next((kind for mark, kind in _GUEST_CLOCKS.items() if mark in clocks), None)
        return True, guessed, "the CPU's hypervisor flag"
    return (None, None, None) if cpuinfo is None else (False, None, None)


def cpu_time(tree: Tree, statistics: str) -> tuple[float | None, float | None]:
    """Return the stolen and the whole CPU time since boot, in seconds."""
    line = re.match(r"cpu\s+([\d ]+)", tree.text(statistics) or "")
    ticks = [int(number) for number in line[1].split()] if line else []
    if len(ticks) < 8:  # user nice system idle iowait irq softirq steal, see proc_stat(5)
        return None, None
    return ticks[7] / TICKS_PER_SECOND, sum(ticks[:8]) / TICKS_PER_SECOND


def _groups(tree: Tree) -> list[tuple[str, str]]:
    lines = (tree.text("/proc/self/cgroup") or "").splitlines()
    parts = [line.split(":", 2) for line in lines]
    return [(part[1], part[2]) for part in parts if len(part) == 3]


def cpu_quota(tree: Tree) -> tuple[str | None, int | None, int | None, int | None]:
    """Return the group that limits CPU time, its version, and the tightest quota and period."""
    path, version, folder = _cpu_group(_groups(tree))
    return path, version, *_quota(tree, folder, path, version)


def rt_budget_us(tree: Tree) -> int | None:
    """Return the time for real-time threads of a group of cgroup v1."""
    path, version, folder = _cpu_group(_groups(tree))
    return tree.integer(f"{folder}{path}/cpu.rt_runtime_us") if version == 1 else None


def _cpu_group(groups: list[tuple[str, str]]) -> tuple[str | None, int | None, str]:
    """Path, version and mount point of the group that limits CPU time."""
    for controllers, path in groups:
        if "cpu" in controllers.split(","):
            return path.rstrip("/"), 1, f"/sys/fs/cgroup/{controllers}"
    for controllers, path in groups:
        if not controllers:
            return path.rstrip("/"), 2, "/sys/fs/cgroup"
    return None, None, ""


def _with_those_above(folder: str, path: str) -> Iterator[str]:
    """Yield the folder of a group, then of those above it."""
    steps = path.split("/")
    return (f"{folder}{'/'.join(steps[:depth])}" for depth in range(len(steps), 0, -1))


def _quota(tree: Tree, folder: str, path: str | None, version: int | None) -> tuple[int | None, int | None]:
    """Return the tightest quota of the group and those above it."""
    if path is None:
        return None, None
    quotas: list[tuple[int, int]] = []
    for group in _with_those_above(folder, path):
        quota_us: int | None
        period_us: int | None
        if version == 1:
            quota_us = tree.integer(f"{group}/cpu.cfs_quota_us")
            period_us = tree.integer(f"{group}/cpu.cfs_period_us")
        else:
            found = re.fullmatch(r"(max|\d+) (\d+)", tree.text(f"{group}/cpu.max") or "")
            quota_us = None if found is None else -1 if found[1] == "max" else int(found[1])
            period_us = None if found is None else int(found[2])
        if quota_us is not None and period_us:
            quotas.append((quota_us, period_us))
    limited = [pair for pair in quotas if pair[0] >= 0]
    if limited:
        return min(limited, key=lambda pair: pair[0] / pair[1])
    # In version 2 only groups whose parent has the controller on have cpu.max, and the root group never has.
    is_seen = not path or tree.exists(f"{folder}{path}/cgroup.controllers")
    return quotas[0] if quotas else (-1, None) if version == 2 and is_seen else (None, None)


def memory_limit_bytes(tree: Tree) -> int | None:
    """Return the lowest limit of this process's group and those above it; -1 for none."""
    return _memory_limit(tree, "memory.limit_in_bytes", "memory.max")


def memory_throttle_bytes(tree: Tree) -> int | None:
    """Return the lowest ``memory.high``; -1 for none."""
    return _memory_limit(tree, None, "memory.high")


def _memory_limit(tree: Tree, old_name: str | None, name: str) -> int | None:
    """The lowest value of this file in the group and those above it; -1 if none limits, None if none is
    there."""
    found = []
    for controllers, path in _groups(tree):
        version_1 = "memory" in controllers.split(",")
        if controllers and not version_1:
            continue
        wanted = old_name if version_1 else name
        folders = [f"/sys/fs/cgroup/{controllers}"] if version_1 else list(CGROUPS)
        groups = [group for folder in folders for group in _with_those_above(folder, path.rstrip("/"))]
        found += [tree.text(f"{group}/{wanted}") for group in groups if wanted]
    known = [text for text in found if text == "max" or (text or "").isdecimal()]
    limits = [int(text) for text in known if text is not None and text != "max"]
    limited = [limit for limit in limits if limit < _NO_LIMIT_BYTES]
    return min(limited) if limited else -1 if known else None


def container(tree: Tree) -> str | None:
    """Return which kind of container this is; ``none`` if there is no sign of one."""
    if tree.exists("/run/.containerenv"):
        return "podman"
    if tree.exists("/.dockerenv"):
        return "docker"
    if name := tree.text("/run/systemd/container"):
        return name
    if "microsoft" in (tree.text("/proc/sys/kernel/osrelease") or "").lower():
        return "wsl"
    groups = _groups(tree)
    paths = " ".join(path for _, path in groups)
    for mark, kind in _CONTAINER_GROUPS.items():
        if f"/{mark}" in paths:
            return kind
    return "none" if groups else None


def user_namespace(tree: Tree, uid_map: str) -> bool | None:
    """Return whether this process lives in a user namespace of its own."""
    mapping = tree.text(uid_map)
    return None if mapping is None else mapping.split() != ["0", "0", "4294967295"]
