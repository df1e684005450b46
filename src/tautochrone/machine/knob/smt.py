"""Simultaneous multithreading: two or more CPUs that share a core."""

from collections.abc import Sequence

from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.machine.knob.cpus import CPUS, online_cpus, present_cpus
from tautochrone.machine.knob.file_knob import check_word
from tautochrone.machine.knob.hotplug import keep_before_leaving
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree

_CONTROL = f"{CPUS}/smt/control"
_WORDS = ("on", "off")


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
