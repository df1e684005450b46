"""Which CPUs are kept free of everything that is not sent to them."""

import re
from collections.abc import Sequence
from types import ModuleType

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.knob import partition, shield
from tautochrone.machine.knob.cgroups import partitions_root
from tautochrone.machine.knob.cpus import CPUS, check_cpus, cpus_of, named_cpus, online_cpus, written
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change
from tautochrone.machine.tree import Tree

_AT_BOOT = ("isolcpus", "rcu_nocbs")
"""Not nohz_full: it makes each entry into the kernel dearer, and pays only for threads that never sleep, says
the kernel's Documentation/core-api/real-time/kernel-configuration.rst (CONFIG_NO_HZ)."""


class Isolated(Plain):
    """CPUs on which nothing runs but what is pinned there: by boot parameter, or by control groups.

    What was isolated at boot counts, and can't be given back before the next boot.
    """

    name = "isolated"
    summary = "the CPUs kept for measuring threads: 1-3 or all but 0 or none"

    def available(self, tree: Tree) -> str | None:
        """See `Knob`."""
        refusal: str | None = _means(tree).refusal(tree)
        return refusal

    def read(self, tree: Tree) -> str | None:
        """Those on line, by whatever means; see `Knob`."""
        online = online_cpus(tree)
        isolated = _by_boot(tree) | _means(tree).isolated_cpus(tree)
        return written(tuple(cpu for cpu in online if cpu in isolated)) if online else None

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        check_cpus(wanted, or_none=True)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        cpus = named_cpus(wanted, tree, or_none=True)
        if cpus and not set(online_cpus(tree)) - set(cpus):
            raise UsageError(
                f"isolating CPU {format_cpu_list(cpus)} leaves none for everything else",
                "Leave one out, such as 0.",
            )
        return written(cpus)

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """What boot did not isolate goes into a group; see `Knob`."""
        missing = set(cpus_of(wanted)) - set(cpus_of(self.read(tree) or ""))
        if not missing or self.available(tree):
            return ()
        changes: Sequence[Change] = _means(tree).changes(format_cpu_list(missing), tree)
        return changes

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """The boot parameters, less those that are there; see `Knob`."""
        if wanted == "none":
            words = [name for name in _AT_BOOT if _parameter(name, tree)]
            return Advice(at_boot=f"boot without {' '.join(words)}" if words else "")
        there = {name: set(parse_cpu_list(_cpus_in(_parameter(name, tree))) or ()) for name in _AT_BOOT}
        lacking = [name for name in _AT_BOOT if not set(cpus_of(wanted)) <= there[name]]
        return Advice(at_boot=" ".join(_boot_words(name, wanted) for name in lacking))

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        asked = set(cpus_of(wanted))
        surplus = _by_boot(tree) - asked
        if surplus:
            return f"CPU {format_cpu_list(surplus)} is isolated by the boot parameter isolcpus"
        others = _means(tree).isolated_cpus(tree) - asked
        if others:
            return f"CPU {format_cpu_list(others)} is isolated by a control group that is not ours"
        reason: str = _means(tree).shortfall(tree)
        return reason


def _means(tree: Tree) -> ModuleType:
    """Partitions where cgroup v2 has the CPUs, else cpusets."""
    return partition if partitions_root(tree) else shield


def groups(tree: Tree) -> tuple[str, str, str] | None:
    """See `partition.groups`."""
    found: tuple[str, str, str] | None = _means(tree).groups(tree)
    return found


def _by_boot(tree: Tree) -> set[int]:
    return set(parse_cpu_list(tree.text(f"{CPUS}/isolated")) or ())


def _parameter(name: str, tree: Tree) -> str:
    words = re.findall(rf"(?:^|\s){name}=(\S+)", tree.text("/proc/cmdline") or "")
    return words[-1] if words else ""


def _cpus_in(value: str) -> str:
    """The CPUs of ``isolcpus=managed_irq,domain,1-3``."""
    return ",".join(word for word in value.split(",") if word[:1].isdecimal())


def _boot_words(name: str, cpus: str) -> str:
    return f"{name}=managed_irq,domain,{cpus}" if name == "isolcpus" else f"{name}={cpus}"
