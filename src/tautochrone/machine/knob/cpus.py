"""Which CPUs are online, and which serve the interrupts of devices and the kernel's own work."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.base.words import some
from tautochrone.machine.cpulist import (
    CPUS,
    cpus_of,
    format_cpu_list,
    format_cpu_mask,
    named_cpus,
    online_cpus,
    parse_cpu_list,
    parse_cpu_mask,
    present_cpus,
    written,
)
from tautochrone.machine.knob.isolated import cpusets_below, cpusets_root
from tautochrone.machine.knob.knob import BootAdvice, Knob, NamesCpus, check_word
from tautochrone.machine.settings import Change, KeepAffinities, Write
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
    """Return all device interrupts whose CPUs can be read."""
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
    """Return the process of irqbalance, which moves interrupts as it sees fit; None: not seen."""
    sockets = (name.removeprefix(_BALANCER).removesuffix(".sock") for name in tree.names(f"/run/{_BALANCER}"))
    told = (tree.text(f"/run/{_BALANCER}.pid"), tree.text(f"/sys/fs/cgroup{_BALANCER_GROUP}"), *sockets)
    pids = (pid for text in told if text for pid in text.split())
    return next((pid for pid in pids if tree.text(f"/proc/{pid}/comm") == _BALANCER), None)


class InterruptCpus(NamesCpus):
    """The CPUs on which device interrupts may be served, those that come later included.

    Some can't be moved: the kernel manages them, or they belong to one CPU. They are left, counted and told.
    """

    name = "interrupts"
    summary = "the CPUs that may take interrupts of devices: 0 or 0-1 or all or all but 2"

    def available(self, tree: Tree) -> str | None:
        return None if tree.exists(_DEFAULT) else "this kernel can't move interrupts"

    def read(self, tree: Tree) -> str | None:
        """Return the CPUs that any of them, or a new one, may take."""
        default = parse_cpu_mask(tree.text(_DEFAULT))
        if default is None:
            return None
        taking = {cpu for one in interrupts(tree) for cpu in one.cpus}
        return written(tuple(cpu for cpu in present_cpus(tree) if cpu in taking or cpu in default))

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """The mask for new ones, then each that may come elsewhere."""
        if self.read(tree) == wanted:
            return ()
        cpus = cpus_of(wanted)
        # The mask may name CPUs that could be there and are not.
        default = set(parse_cpu_mask(tree.text(_DEFAULT)) or ()) & set(present_cpus(tree))
        new = () if default == set(cpus) else (Write(_DEFAULT, format_cpu_mask(cpus)),)
        stray = (one for one in interrupts(tree) if _elsewhere(one.cpus, cpus))
        return (*new, *(Write(one.path, wanted, may_refuse=True) for one in stray))

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        return BootAdvice(
            now=f"for i in /proc/irq/*/smp_affinity_list; do echo {wanted} | sudo tee $i; done",
            at_boot=f"irqaffinity={wanted}" if wanted != written(present_cpus(tree)) else "",
        )

    def parameters(self, wanted: str, tree: Tree) -> tuple[str, ...]:
        return tuple(filter(None, [self.advice(self.canonical(wanted, tree), tree).at_boot]))

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """Return how many could not be moved, and which."""
        every = interrupts(tree)
        stayed = [one for one in every if _elsewhere(one.cpus, cpus_of(wanted))]
        reasons = []
        if stayed:
            names = [f"{one.number} {one.handler}" for one in stayed]
            cpus = format_cpu_list(cpu for one in stayed for cpu in one.cpus)
            reasons.append(
                f"{len(stayed)} of {len(every)} interrupts can't be moved and may come on CPU {cpus}: "
                + some(names, _NAMED)
            )
        if balanced := self.outlook(wanted, tree):
            reasons.append(balanced)
        return "; ".join(reasons)

    def outlook(self, wanted: str, tree: Tree) -> str:
        """It knows nothing of control groups, and looks every ten seconds."""
        balancer = balancer_process(tree)
        told = f"irqbalance (process {balancer}) moves them back: systemctl stop irqbalance"
        return told if balancer else ""


def _elsewhere(cpus: Sequence[int], wanted: Sequence[int]) -> bool:
    return not set(cpus) <= set(wanted)


class Workqueues(NamesCpus):
    """The CPUs of the unbound workqueues."""

    name = "workqueues"
    summary = "the CPUs for the kernel's own deferred work that may run anywhere: 0 or 0-1 or all"

    def available(self, tree: Tree) -> str | None:
        return None if tree.exists(_MASK) else "this kernel does not show its workqueues"

    def read(self, tree: Tree) -> str | None:
        cpus = parse_cpu_mask(tree.text(_MASK))
        return None if cpus is None else written(tuple(cpu for cpu in present_cpus(tree) if cpu in cpus))

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """One write. From Linux 6.8 on the mask is what was asked for less the CPUs that are isolated now, so
        what was asked for is what is put back; see `Knob`.
        """
        if self.read(tree) == wanted:
            return ()
        return (Write(_MASK, format_cpu_mask(cpus_of(wanted)), undo=tree.text(_REQUESTED)),)

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        return BootAdvice(now=f"echo {format_cpu_mask(cpus_of(wanted))} | sudo tee {_MASK}")


# Which CPUs are online, one by one (`Online`) or the second threads of all cores (`Smt`).

_CONTROL = f"{CPUS}/smt/control"


class Online(NamesCpus):
    """The CPUs that the system uses at all."""

    name = "online"
    summary = "the CPUs online: 0-3,6 or all or all but 2"

    def available(self, tree: Tree) -> str | None:
        if any(tree.exists(_switch(cpu)) for cpu in named_cpus("all", tree)):
            return None
        return "no CPU of this machine can go offline"

    def read(self, tree: Tree) -> str | None:
        return written(online_cpus(tree)) if online_cpus(tree) else None

    def canonical(self, wanted: str, tree: Tree) -> str:
        """Return the list, with no CPU left out that can't leave."""
        cpus = named_cpus(wanted, tree)
        fixed = [cpu for cpu in online_cpus(tree) if cpu not in cpus and not tree.exists(_switch(cpu))]
        if fixed:
            raise UsageError(
                f"CPU {format_cpu_list(fixed)} of this machine can't go offline",
                "Name it among those that stay.",
            )
        return written(cpus)

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Those that come first, so that there is always one. What SMT keeps away may refuse."""
        cpus, online = set(cpus_of(wanted)), set(online_cpus(tree))
        leaving = online - cpus
        return (
            *(Write(_switch(cpu), "1", may_refuse=True) for cpu in sorted(cpus - online)),
            *keep_before_leaving(leaving, tree),
            *(Write(_switch(cpu), "0") for cpu in sorted(leaving, reverse=True)),
        )

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        stay, online = set(cpus_of(wanted)), set(online_cpus(tree))
        steps = [(1, cpu) for cpu in sorted(stay - online)] + [(0, cpu) for cpu in sorted(online - stay)]
        first = named_cpus("all", tree)[: len(stay)]
        return BootAdvice(
            now="; ".join(f"echo {on} | sudo tee {_switch(cpu)}" for on, cpu in steps),
            # maxcpus= takes CPUs in their order, so it can't leave one out between others.
            at_boot=f"maxcpus={len(stay)}" if online - stay and stay == set(first) else "",
        )

    def shortfall(self, wanted: str, tree: Tree) -> str:
        missing = set(cpus_of(wanted)) - set(online_cpus(tree))
        told = f"CPU {format_cpu_list(missing)} did not come online: SMT is off, or it is broken"
        return told if missing else ""


def _switch(cpu: int) -> str:
    return f"{CPUS}/cpu{cpu}/online"


class Smt(Knob):
    """Whether the second thread of each core is online."""

    name = "smt"
    summary = "several CPUs on each core (SMT, Hyper-Threading): on or off"

    def available(self, tree: Tree) -> str | None:
        control = tree.text(_CONTROL)
        if control == "forceoff":
            return "SMT was turned off at boot (nosmt=force)"
        if control in (None, "notsupported", "notimplemented"):
            return "this machine has no SMT" if not _siblings(tree) else "this kernel can't turn SMT off"
        return None

    def read(self, tree: Tree) -> str | None:
        """`on` or `off`, which a machine without SMT is too."""
        control = tree.text(_CONTROL)
        if control in (None, "notimplemented"):
            return None if not online_cpus(tree) else "on" if _siblings(tree) else "off"
        if control in ("forceoff", "notsupported"):
            return "off"
        return "on" if control != "off" else "off"  # from Linux 6.6 on it can be a number of threads

    def check(self, wanted: str) -> None:
        check_word(wanted, ("on", "off"))

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Before `off`: what leaves, and what is offline and would come with the next `on`."""
        control = tree.text(_CONTROL)
        if control == wanted or self.available(tree):
            return ()
        if wanted == "on":
            return (Write(_CONTROL, "on"),)
        online = online_cpus(tree)
        off_line = (_switch(cpu) for cpu in present_cpus(tree) if cpu not in online)
        return (
            *keep_before_leaving(_siblings(tree), tree),
            *(Write(path, "0", may_refuse=True) for path in off_line),
            Write(_CONTROL, "off"),
        )

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        return BootAdvice(
            now=f"echo {wanted} | sudo tee {_CONTROL}",
            at_boot="nosmt, or the firmware's setting" if wanted == "off" else "boot without nosmt",
        )


def _siblings(tree: Tree) -> set[int]:
    """Return the CPUs online that are not the first of their core."""
    return {cpu for cores in cores_on_line(tree) for cpu in cores[1:]}


def cores_on_line(tree: Tree) -> list[tuple[int, ...]]:
    """Return the CPUs online, by core. A CPU whose core is unknown is one by itself."""
    cores: dict[int, tuple[int, ...]] = {}
    for cpu in online_cpus(tree):
        folder = f"{CPUS}/cpu{cpu}/topology"
        threads = parse_cpu_list(
            tree.first_text(f"{folder}/core_cpus_list", f"{folder}/thread_siblings_list")
        ) or (cpu,)
        cores.setdefault(min(threads), tuple(sorted({*threads, cpu})))
    return [tuple(one for one in threads if one in online_cpus(tree)) for threads in cores.values()]


def keep_before_leaving(leaving: set[int], tree: Tree) -> Iterator[Change]:
    """Note what these CPUs' leaving changes: each file is written with what it holds; undo does so again.

    Interrupts move to other CPUs and stay there; idle states are registered anew, all enabled; threads lose
    the CPU from their masks, or their masks altogether; the cpusets of cgroup v1 shrink, and stay so.
    """
    if not leaving:
        return
    for one in interrupts(tree):
        if leaving & set(one.cpus):
            yield Write(one.path, one.text, may_refuse=True)
    for cpu in sorted(leaving):
        folder = f"{CPUS}/cpu{cpu}/cpuidle"
        for state in tree.folders(folder):
            if tree.flag(f"{folder}/{state}/disable"):
                yield Write(f"{folder}/{state}/disable", "1")
    yield KeepAffinities()
    root = cpusets_root(tree)
    for group in cpusets_below(root, tree) if root else ():
        cpus = tree.text(f"{group}/cpuset.cpus")
        if cpus and leaving & set(parse_cpu_list(cpus) or ()):
            yield Write(f"{group}/cpuset.cpus", cpus)
