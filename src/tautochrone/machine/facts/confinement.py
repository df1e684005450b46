"""What stands between this process and the hardware: virtual machine, container, control group."""

import re
from dataclasses import dataclass

from tautochrone.machine.facts.isolation import CGROUPS
from tautochrone.machine.tree import Tree

# Maker or product in DMI -> hypervisor, as systemd-detect-virt(1) tells them apart.
_DMI = {
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
_TICKS_PER_SECOND = 100  # USER_HZ, the unit of /proc/stat on every architecture in use


@dataclass(frozen=True)
class ConfinementFacts:
    """Virtual machine, container, control group."""

    virtual: bool | None = None
    """Whether this is a virtual machine, as far as a guest can see."""
    hypervisor: str | None = None
    virtual_found_by: str | None = None
    stolen_seconds: float | None = None
    """CPU time since boot in which the host ran something else while a CPU here was ready to run."""
    cpu_seconds: float | None = None
    """CPU time since boot, all CPUs, idle time included."""
    container: str | None = None
    """``docker``, ``podman``, …, ``none`` if there is no sign of one."""
    user_namespace: bool | None = None
    """Whether this process lives in a user namespace of its own: capabilities held there don't count for the
    scheduler."""
    cgroup: str | None = None
    cgroup_version: int | None = None
    cpu_quota_us: int | None = None
    """CPU time per `cpu_quota_period_us` that ordinary threads of this group may use; -1 for no limit."""
    cpu_quota_period_us: int | None = None
    memory_limit_bytes: int | None = None
    """The lowest limit of this group and those above it, at which memory is taken back or a process is ended;
    -1 for none."""
    memory_throttle_bytes: int | None = None
    """The lowest ``memory.high``, above which threads that ask for memory are slowed; -1 for none."""
    rt_budget_us: int | None = None
    """``cpu.rt_runtime_us`` of this group (cgroup v1 with CONFIG_RT_GROUP_SCHED); None elsewhere."""


def observe_confinement(tree: Tree) -> ConfinementFacts:
    """Look for a hypervisor, a container, a control group's limits."""
    virtual, hypervisor, found_by = _virtual(tree)
    stolen, total = _cpu_time(tree)
    groups = _groups(tree)
    path, version, folder = _cpu_group(groups)
    quota_us, period_us = _quota(tree, folder, path, version)
    return ConfinementFacts(
        virtual=virtual,
        hypervisor=hypervisor,
        virtual_found_by=found_by,
        stolen_seconds=stolen,
        cpu_seconds=total,
        container=_container(tree, groups),
        user_namespace=_user_namespace(tree),
        cgroup=path,
        cgroup_version=version,
        cpu_quota_us=quota_us,
        cpu_quota_period_us=period_us,
        memory_limit_bytes=_memory_limit(tree, groups, "memory.limit_in_bytes", "memory.max"),
        memory_throttle_bytes=_memory_limit(tree, groups, None, "memory.high"),
        rt_budget_us=tree.integer(f"{folder}{path}/cpu.rt_runtime_us") if version == 1 else None,
    )


def _virtual(tree: Tree) -> tuple[bool | None, str | None, str | None]:
    if set((tree.text(_PCI_DEVICES) or "").split()) >= _LABS_DEVICES:
        return True, VIRTUAL_LAB, "the devices through which the lab speaks to its guests"
    # Rented machines without a hypervisor carry the same maker's name as rented guests.
    metal = ".metal" in (tree.text("/sys/class/dmi/id/product_name") or "")
    for name in ("sys_vendor", "product_name", "board_vendor", "bios_vendor"):
        text = tree.text(f"/sys/class/dmi/id/{name}") or ""
        for mark, kind in _DMI.items():
            if mark in text and not metal:
                return True, kind, f"DMI {name}"
    if announced := tree.text("/sys/hypervisor/type"):
        return True, announced.capitalize(), "/sys/hypervisor/type"
    if compatible := tree.text("/proc/device-tree/hypervisor/compatible"):
        return True, compatible.split("\0")[0], "device tree"
    cpuinfo = tree.text("/proc/cpuinfo")
    clocks = tree.text("/sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    if re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo or "", re.MULTILINE):
        guessed = next((kind for mark, kind in _GUEST_CLOCKS.items() if mark in clocks), None)
        return True, guessed, "the CPU's hypervisor flag"
    return (None, None, None) if cpuinfo is None else (False, None, None)


def _cpu_time(tree: Tree) -> tuple[float | None, float | None]:
    line = re.match(r"cpu\s+([\d ]+)", tree.text("/proc/stat") or "")
    ticks = [int(number) for number in line[1].split()] if line else []
    if len(ticks) < 8:  # user nice system idle iowait irq softirq steal, see proc_stat(5)
        return None, None
    return ticks[7] / _TICKS_PER_SECOND, sum(ticks[:8]) / _TICKS_PER_SECOND


def _groups(tree: Tree) -> list[tuple[str, str]]:
    lines = (tree.text("/proc/self/cgroup") or "").splitlines()
    parts = [line.split(":", 2) for line in lines]
    return [(part[1], part[2]) for part in parts if len(part) == 3]


def _cpu_group(groups: list[tuple[str, str]]) -> tuple[str | None, int | None, str]:
    """Path, version and mount point of the group that limits CPU time."""
    for controllers, path in groups:
        if "cpu" in controllers.split(","):
            return path.rstrip("/"), 1, f"/sys/fs/cgroup/{controllers}"
    for controllers, path in groups:
        if not controllers:
            return path.rstrip("/"), 2, "/sys/fs/cgroup"
    return None, None, ""


def _quota(tree: Tree, folder: str, path: str | None, version: int | None) -> tuple[int | None, int | None]:
    """The tightest quota of the group and those above it."""
    if path is None:
        return None, None
    quotas: list[tuple[int, int]] = []
    steps = path.split("/")
    for depth in range(len(steps), 0, -1):
        group = f"{folder}{'/'.join(steps[:depth])}"
        quota_us: int | None
        period_us: int | None
        if version == 1:
            quota_us = tree.integer(f"{group}/cpu.cfs_quota_us")
            period_us = tree.integer(f"{group}/cpu.cfs_period_us")
        else:
            words = (tree.text(f"{group}/cpu.max") or "").split()
            quota_us = None if len(words) != 2 else -1 if words[0] == "max" else int(words[0])
            period_us = int(words[1]) if len(words) == 2 else None
        if quota_us is not None and period_us:
            quotas.append((quota_us, period_us))
    limited = [pair for pair in quotas if pair[0] >= 0]
    if limited:
        return min(limited, key=lambda pair: pair[0] / pair[1])
    # The root group of version 2 has no cpu.max: nothing limits it.
    return quotas[0] if quotas else (-1, None) if version == 2 and not path else (None, None)


def _memory_limit(tree: Tree, groups: list[tuple[str, str]], old_name: str | None, name: str) -> int | None:
    """The lowest value of this file in the group and those above it; -1 if none limits, None if none is
    there."""
    found = []
    for controllers, path in groups:
        version_1 = "memory" in controllers.split(",")
        if controllers and not version_1:
            continue
        wanted = old_name if version_1 else name
        folders = [f"/sys/fs/cgroup/{controllers}"] if version_1 else list(CGROUPS)
        steps = path.rstrip("/").split("/")
        found += [
            tree.text(f"{folder}{'/'.join(steps[:depth])}/{wanted}")
            for folder in folders
            for depth in range(len(steps), 0, -1)
            if wanted
        ]
    known = [text for text in found if text == "max" or (text or "").isdecimal()]
    limits = [int(text) for text in known if text is not None and text != "max"]
    limited = [limit for limit in limits if limit < _NO_LIMIT_BYTES]
    return min(limited) if limited else -1 if known else None


def _container(tree: Tree, groups: list[tuple[str, str]]) -> str | None:
    if tree.exists("/run/.containerenv"):
        return "podman"
    if tree.exists("/.dockerenv"):
        return "docker"
    if name := tree.text("/run/systemd/container"):
        return name
    if "microsoft" in (tree.text("/proc/sys/kernel/osrelease") or "").lower():
        return "wsl"
    paths = " ".join(path for _, path in groups)
    for mark, kind in _CONTAINER_GROUPS.items():
        if f"/{mark}" in paths:
            return kind
    return "none" if groups else None


def _user_namespace(tree: Tree) -> bool | None:
    mapping = tree.text("/proc/self/uid_map")
    return None if mapping is None else mapping.split() != ["0", "0", "4294967295"]
