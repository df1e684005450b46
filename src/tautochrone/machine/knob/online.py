"""Which CPUs are on line."""

from collections.abc import Sequence

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import format_cpu_list
from tautochrone.machine.knob.cpus import CPUS, check_cpus, cpus_of, named_cpus, online_cpus, written
from tautochrone.machine.knob.hotplug import keep_before_leaving
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree


class Online(Plain):
    """The CPUs that the system uses at all."""

    name = "online"
    summary = "the CPUs on line: 0-3,6 or all or all but 2"

    def available(self, tree: Tree) -> str | None:
        """See `Knob`."""
        if any(tree.exists(_switch(cpu)) for cpu in named_cpus("all", tree)):
            return None
        return "no CPU of this machine can go off line"

    def read(self, tree: Tree) -> str | None:
        """See `Knob`."""
        return written(online_cpus(tree)) if online_cpus(tree) else None

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        check_cpus(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """The list, with no CPU left out that can't leave; see `Knob`."""
        cpus = named_cpus(wanted, tree)
        fixed = [cpu for cpu in online_cpus(tree) if cpu not in cpus and not tree.exists(_switch(cpu))]
        if fixed:
            raise UsageError(
                f"CPU {format_cpu_list(fixed)} of this machine can't go off line",
                "Name it among those that stay.",
            )
        return written(cpus)

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Those that come first, so that there is always one. What SMT keeps away may refuse; see `Knob`."""
        cpus, online = set(cpus_of(wanted)), set(online_cpus(tree))
        leaving = online - cpus
        return (
            *(Write(_switch(cpu), "1", may_refuse=True) for cpu in sorted(cpus - online)),
            *keep_before_leaving(leaving, tree),
            *(Write(_switch(cpu), "0") for cpu in sorted(leaving, reverse=True)),
        )

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """See `Knob`."""
        stay, online = set(cpus_of(wanted)), set(online_cpus(tree))
        steps = [(1, cpu) for cpu in sorted(stay - online)] + [(0, cpu) for cpu in sorted(online - stay)]
        first = named_cpus("all", tree)[: len(stay)]
        return Advice(
            now="; ".join(f"echo {on} | sudo tee {_switch(cpu)}" for on, cpu in steps),
            # maxcpus= takes CPUs in their order, so it can't leave one out between others.
            at_boot=f"maxcpus={len(stay)}" if online - stay and stay == set(first) else "",
        )

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        missing = set(cpus_of(wanted)) - set(online_cpus(tree))
        return (
            f"CPU {format_cpu_list(missing)} did not come on line: SMT is off, or it is broken"
            if missing
            else ""
        )


def _switch(cpu: int) -> str:
    return f"{CPUS}/cpu{cpu}/online"
