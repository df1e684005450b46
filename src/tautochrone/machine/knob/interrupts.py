"""Which CPUs serve the interrupts of devices, and do the kernel's work that may be done anywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.machine.cpulist import (
    cpus_of,
    format_cpu_list,
    format_cpu_mask,
    parse_cpu_list,
    parse_cpu_mask,
    present_cpus,
    written,
)
from tautochrone.machine.knob.knob import Advice, NamesCpus
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree

_IRQS = "/proc/irq"
_BALANCER = "irqbalance"
_BALANCER_GROUP = f"/system.slice/{_BALANCER}.service/cgroup.procs"
_DEFAULT = "/proc/irq/default_smp_affinity"
_NAMED = 4
_MASK = "/sys/devices/virtual/workqueue/cpumask"
_REQUESTED = f"{_MASK}_requested"


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


class Interrupts(NamesCpus):
    """The CPUs on which device interrupts may be served, those that come later included.

    Some can't be moved: the kernel manages them, or they belong to one CPU. They are left, counted and told.
    """

    name = "interrupts"
    summary = "the CPUs that may take interrupts of devices: 0 or 0-1 or all or all but 2"

    def available(self, tree: Tree) -> str | None:
        """See `Knob`."""
        return None if tree.exists(_DEFAULT) else "this kernel can't move interrupts"

    def read(self, tree: Tree) -> str | None:
        """The CPUs that any of them, or a new one, may take; see `Knob`."""
        default = parse_cpu_mask(tree.text(_DEFAULT))
        if default is None:
            return None
        taking = {cpu for one in interrupts(tree) for cpu in one.cpus}
        return written(tuple(cpu for cpu in present_cpus(tree) if cpu in taking or cpu in default))

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """The mask for new ones, then each that may come elsewhere; see `Knob`."""
        if self.read(tree) == wanted:
            return ()
        cpus = cpus_of(wanted)
        # The mask may name CPUs that could be there and are not.
        default = set(parse_cpu_mask(tree.text(_DEFAULT)) or ()) & set(present_cpus(tree))
        new = () if default == set(cpus) else (Write(_DEFAULT, format_cpu_mask(cpus)),)
        return (
            *new,
            *(
                Write(one.path, wanted, may_refuse=True)
                for one in interrupts(tree)
                if _elsewhere(one.cpus, cpus)
            ),
        )

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """See `Knob`."""
        return Advice(
            now=f"for i in /proc/irq/*/smp_affinity_list; do echo {wanted} | sudo tee $i; done",
            at_boot=f"irqaffinity={wanted}" if wanted != written(present_cpus(tree)) else "",
        )

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """How many could not be moved, and which; see `Knob`."""
        every = interrupts(tree)
        stayed = [one for one in every if _elsewhere(one.cpus, cpus_of(wanted))]
        reasons = []
        if stayed:
            names = ", ".join(f"{one.number} {one.handler}" for one in stayed[:_NAMED])
            more = f" and {len(stayed) - _NAMED} more" if len(stayed) > _NAMED else ""
            cpus = format_cpu_list(cpu for one in stayed for cpu in one.cpus)
            reasons.append(
                f"{len(stayed)} of {len(every)} interrupts can't be moved and may come on CPU {cpus}: "
                f"{names}{more}"
            )
        if balanced := self.outlook(wanted, tree):
            reasons.append(balanced)
        return "; ".join(reasons)

    def outlook(self, wanted: str, tree: Tree) -> str:
        """It knows nothing of control groups, and looks every ten seconds; see `Knob`."""
        balancer = balancer_process(tree)
        return (
            f"irqbalance (process {balancer}) moves them back: systemctl stop irqbalance" if balancer else ""
        )


def _elsewhere(cpus: Sequence[int], wanted: Sequence[int]) -> bool:
    return not set(cpus) <= set(wanted)


class Workqueues(NamesCpus):
    """The CPUs of the unbound workqueues."""

    name = "workqueues"
    summary = "the CPUs for the kernel's own deferred work that may run anywhere: 0 or 0-1 or all"

    def available(self, tree: Tree) -> str | None:
        """See `Knob`."""
        return None if tree.exists(_MASK) else "this kernel does not show its workqueues"

    def read(self, tree: Tree) -> str | None:
        """The CPUs of the mask; see `Knob`."""
        cpus = parse_cpu_mask(tree.text(_MASK))
        return None if cpus is None else written(tuple(cpu for cpu in present_cpus(tree) if cpu in cpus))

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """One write. From Linux 6.8 on the mask is what was asked for less the CPUs that are isolated now, so
        what was asked for is what is put back; see `Knob`.
        """
        if self.read(tree) == wanted:
            return ()
        return (Write(_MASK, format_cpu_mask(cpus_of(wanted)), undo=tree.text(_REQUESTED)),)

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """See `Knob`."""
        return Advice(now=f"echo {format_cpu_mask(cpus_of(wanted))} | sudo tee {_MASK}")
