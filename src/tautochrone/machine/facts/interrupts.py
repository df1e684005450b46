"""Who else interrupts a CPU: devices, watchdogs."""

from dataclasses import dataclass

from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.machine.tree import Tree

_SERVED = "effective_affinity_list"


@dataclass(frozen=True)
class InterruptFacts:
    """Sources of interrupts that can be steered."""

    default_affinity: str | None = None
    """CPU mask, hexadecimal, that new interrupts get."""
    on_isolated_cpus: tuple[str, ...] | None = None
    """Interrupts served on isolated CPUs, as ``number name``; None if no CPU is isolated, or unknown."""
    nmi_watchdog: bool | None = None
    soft_watchdog: bool | None = None
    watchdog_cpus: str | None = None
    irqbalance: bool | None = None
    """Whether a daemon moves interrupts from CPU to CPU, as its socket in ``/run`` shows."""


def observe_interrupts(tree: Tree, isolated: str | None) -> InterruptFacts:
    """Read where interrupts go; `isolated` is the list of isolated CPUs."""
    soft = tree.flag("/proc/sys/kernel/soft_watchdog")
    watchdog = tree.flag("/proc/sys/kernel/watchdog")
    return InterruptFacts(
        default_affinity=tree.text("/proc/irq/default_smp_affinity"),
        on_isolated_cpus=_on_cpus(tree, parse_cpu_list(isolated) or ()),
        nmi_watchdog=tree.flag("/proc/sys/kernel/nmi_watchdog"),
        soft_watchdog=soft if soft is not None else watchdog,
        watchdog_cpus=tree.text("/proc/sys/kernel/watchdog_cpumask"),
        irqbalance=_balanced(tree),
    )


def irq_paths(tree: Tree) -> tuple[str, ...]:
    """What is read of each interrupt."""
    numbers = [name for name in tree.names("/proc/irq") if name.isdecimal()]
    return tuple(
        path for number in numbers for path in (f"/proc/irq/{number}", f"/proc/irq/{number}/{_SERVED}")
    )


def _balanced(tree: Tree) -> bool | None:
    if not tree.names("/run"):
        return None
    return any(name.startswith("irqbalance") for name in tree.names("/run/irqbalance"))


def _on_cpus(tree: Tree, cpus: tuple[int, ...]) -> tuple[str, ...] | None:
    numbers = [name for name in tree.names("/proc/irq") if name.isdecimal()]
    if not cpus or not numbers:
        return None
    there = []
    for number in numbers:
        folder = f"/proc/irq/{number}"
        served = tree.first_text(f"{folder}/{_SERVED}", f"{folder}/smp_affinity_list")
        # Each handler has a folder of its name here. An interrupt without one never fires.
        handlers = tree.folders(folder)
        if handlers and set(parse_cpu_list(served) or ()) & set(cpus):
            there.append(f"{number} {handlers[0]}")
    return tuple(there)
