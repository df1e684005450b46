"""Which CPUs do the kernel's work that may be done anywhere."""

from collections.abc import Sequence

from tautochrone.machine.knob.cpus import (
    check_cpus,
    cpus_of,
    format_cpu_mask,
    named_cpus,
    parse_cpu_mask,
    present_cpus,
    written,
)
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree

_MASK = "/sys/devices/virtual/workqueue/cpumask"
_REQUESTED = f"{_MASK}_requested"


class Workqueues(Plain):
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

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        check_cpus(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        return written(named_cpus(wanted, tree))

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
