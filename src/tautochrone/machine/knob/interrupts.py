"""Which CPUs serve the interrupts of devices."""

from collections.abc import Sequence

from tautochrone.machine.cpulist import format_cpu_list
from tautochrone.machine.knob.cpus import (
    check_cpus,
    cpus_of,
    format_cpu_mask,
    named_cpus,
    parse_cpu_mask,
    present_cpus,
    written,
)
from tautochrone.machine.knob.irqs import balancer_process, interrupts
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree

_DEFAULT = "/proc/irq/default_smp_affinity"
_NAMED = 4


class Interrupts(Plain):
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

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        check_cpus(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        return written(named_cpus(wanted, tree))

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
