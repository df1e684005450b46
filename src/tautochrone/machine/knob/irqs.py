"""The interrupts of devices, and where they may be served."""

from dataclasses import dataclass

from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.machine.tree import Tree

_IRQS = "/proc/irq"
_BALANCER = "irqbalance"
_BALANCER_GROUP = f"/system.slice/{_BALANCER}.service/cgroup.procs"


@dataclass(frozen=True)
class Interrupt:
    """One that has a handler; the others never come.

    Attributes:
        number: its number.
        handler: the first of its handlers' names.
        path: the file with its CPUs.
        text: what that file holds.
        cpus: the CPUs on which it may be served.
    """

    number: str
    handler: str
    path: str
    text: str
    cpus: tuple[int, ...]


def interrupts(tree: Tree) -> list[Interrupt]:
    """All device interrupts whose CPUs can be read."""
    numbers = [name for name in tree.names(_IRQS) if name.isdecimal()]
    paths = {number: f"{_IRQS}/{number}/smp_affinity_list" for number in numbers}
    tree.files.prefetch((*(f"{_IRQS}/{number}" for number in numbers), *paths.values()))
    found = []
    for number, path in paths.items():
        text = tree.text(path)
        cpus = parse_cpu_list(text)
        handlers = tree.folders(f"{_IRQS}/{number}")
        if text and cpus and handlers:
            found.append(Interrupt(number, handlers[0], path, text, cpus))
    return found


def balancer_process(tree: Tree) -> str | None:
    """The process of irqbalance, which moves interrupts as it sees fit; None: not seen."""
    sockets = (name.removeprefix(_BALANCER).removesuffix(".sock") for name in tree.names(f"/run/{_BALANCER}"))
    told = (tree.text(f"/run/{_BALANCER}.pid"), tree.text(f"/sys/fs/cgroup{_BALANCER_GROUP}"), *sockets)
    pids = (pid for text in told if text for pid in text.split())
    return next((pid for pid in pids if tree.text(f"/proc/{pid}/comm") == _BALANCER), None)
