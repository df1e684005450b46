"""Which CPUs are on line, one by one (`Online`) or the second threads of all cores (`Smt`)."""

from collections.abc import Iterator, Sequence

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import (
    CPUS,
    cpus_of,
    format_cpu_list,
    named_cpus,
    online_cpus,
    parse_cpu_list,
    present_cpus,
    written,
)
from tautochrone.machine.knob.file_knob import check_word
from tautochrone.machine.knob.interrupts import interrupts
from tautochrone.machine.knob.isolated import cpusets_below, cpusets_root
from tautochrone.machine.knob.knob import Advice, NamesCpus, Plain
from tautochrone.machine.settings import Change, KeepAffinities, Write
from tautochrone.machine.tree import Tree

_CONTROL = f"{CPUS}/smt/control"
_WORDS = ("on", "off")


class Online(NamesCpus):
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


class Smt(Plain):
    """Whether the second thread of each core is on line."""

    name = "smt"
    summary = "several CPUs on each core (SMT, Hyper-Threading): on or off"

    def available(self, tree: Tree) -> str | None:
        """See `Knob`."""
        control = tree.text(_CONTROL)
        if control == "forceoff":
            return "SMT was turned off at boot (nosmt=force)"
        if control in (None, "notsupported", "notimplemented"):
            return "this machine has no SMT" if not _siblings(tree) else "this kernel can't turn SMT off"
        return None

    def read(self, tree: Tree) -> str | None:
        """`on` or `off`, which a machine without SMT is too; see `Knob`."""
        control = tree.text(_CONTROL)
        if control in (None, "notimplemented"):
            return None if not online_cpus(tree) else "on" if _siblings(tree) else "off"
        if control in ("forceoff", "notsupported"):
            return "off"
        return "on" if control != "off" else "off"  # from Linux 6.6 on it can be a number of threads

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        check_word(wanted, _WORDS)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        self.check(wanted)
        return wanted

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Before `off`: what leaves, and what is off line and would come with the next `on`; see `Knob`."""
        control = tree.text(_CONTROL)
        if control == wanted or self.available(tree):
            return ()
        if wanted == "on":
            return (Write(_CONTROL, "on"),)
        online = online_cpus(tree)
        off_line = (f"{CPUS}/cpu{cpu}/online" for cpu in present_cpus(tree) if cpu not in online)
        return (
            *keep_before_leaving(_siblings(tree), tree),
            *(Write(path, "0", may_refuse=True) for path in off_line),
            Write(_CONTROL, "off"),
        )

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """See `Knob`."""
        return Advice(
            now=f"echo {wanted} | sudo tee {_CONTROL}",
            at_boot="nosmt, or the firmware's setting" if wanted == "off" else "boot without nosmt",
        )


def _siblings(tree: Tree) -> set[int]:
    """The CPUs on line that are not the first of their core."""
    return {cpu for cores in cores_on_line(tree) for cpu in cores[1:]}


def cores_on_line(tree: Tree) -> list[tuple[int, ...]]:
    """The CPUs on line, by core. A CPU whose core is unknown is one by itself."""
    cores: dict[int, tuple[int, ...]] = {}
    for cpu in online_cpus(tree):
        folder = f"{CPUS}/cpu{cpu}/topology"
        threads = parse_cpu_list(
            tree.first_text(f"{folder}/core_cpus_list", f"{folder}/thread_siblings_list")
        ) or (cpu,)
        cores.setdefault(min(threads), tuple(sorted({*threads, cpu})))
    return [tuple(one for one in threads if one in online_cpus(tree)) for threads in cores.values()]


def keep_before_leaving(leaving: set[int], tree: Tree) -> list[Change]:
    """Note what these CPUs' leaving changes: each file is written with what it holds; undo does so again.

    Interrupts move to other CPUs and stay there; idle states are registered anew, all enabled; threads lose
    the CPU from their masks, or their masks altogether; the cpusets of cgroup v1 shrink, and stay so.
    """
    if not leaving:
        return []
    return [
        *_interrupts(leaving, tree),
        *_idle_states(leaving, tree),
        KeepAffinities(),
        *_cpusets(leaving, tree),
    ]


def _interrupts(leaving: set[int], tree: Tree) -> Iterator[Change]:
    for one in interrupts(tree):
        if leaving & set(one.cpus):
            yield Write(one.path, one.text, may_refuse=True)


def _idle_states(leaving: set[int], tree: Tree) -> Iterator[Change]:
    for cpu in sorted(leaving):
        folder = f"{CPUS}/cpu{cpu}/cpuidle"
        for state in tree.folders(folder):
            if tree.flag(f"{folder}/{state}/disable"):
                yield Write(f"{folder}/{state}/disable", "1")


def _cpusets(leaving: set[int], tree: Tree) -> Iterator[Change]:
    root = cpusets_root(tree)
    for group in cpusets_below(root, tree) if root else ():
        cpus = tree.text(f"{group}/cpuset.cpus")
        if cpus and leaving & set(parse_cpu_list(cpus) or ()):
            yield Write(f"{group}/cpuset.cpus", cpus)
