"""Which CPUs are kept free of everything that is not sent to them, by boot parameter or control groups."""

import re
from collections.abc import Iterator, Sequence

from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import (
    CPUS,
    NONE,
    cpus_of,
    format_cpu_list,
    named_cpus,
    online_cpus,
    parse_boot_cpus,
    parse_cpu_list,
    present_cpus,
    written,
)
from tautochrone.machine.knob.knob import BootAdvice, NamesCpus
from tautochrone.machine.settings import Change, KeepAffinities, MakeFolder, MoveTasks, PinAgain, Write
from tautochrone.machine.tree import Tree

GROUP = "tautochrone"
"""The name of the control group that a deployment makes."""

Groups = tuple[str, str, str]
"""The files that a measuring process joins, that its measuring threads join, and that loads join (empty: they
stay where they are)."""

_TICKLESS = f"{CPUS}/nohz_full"
_BALANCE = "cpuset.sched_load_balance"
_CONTAINER = "this is a container, which sees only its part of the control groups: isolate on its host"
_AT_BOOT = ("isolcpus", "rcu_nocbs")
"""Not nohz_full: it makes each entry into the kernel dearer, and pays only for threads that never sleep, says
the kernel's Documentation/core-api/real-time/kernel-configuration.rst (CONFIG_NO_HZ)."""


def _partitions_root(tree: Tree) -> str | None:
    """Return the folder of cgroup v2 where it has the controller of CPUs; None: it has it not."""
    mounts = (place for place, kind, _ in _mounts(tree) if kind == "cgroup2")
    return next(
        (place for place in mounts if "cpuset" in (tree.text(f"{place}/cgroup.controllers") or "").split()),
        None,
    )


def cpusets_root(tree: Tree) -> str | None:
    """Return the folder of the cpusets of cgroup v1; None: there are none."""
    return next(
        (place for place, kind, options in _mounts(tree) if kind == "cgroup" and "cpuset" in options), None
    )


def cpusets_below(root: str, tree: Tree) -> Iterator[str]:
    """Yield all groups below this one, those inside others first."""
    for name in tree.folders(root):
        yield from cpusets_below(f"{root}/{name}", tree)
        yield f"{root}/{name}"


def _mounts(tree: Tree) -> Iterator[tuple[str, str, list[str]]]:
    for line in (tree.text("/proc/mounts") or "").splitlines():
        words = line.split()
        if len(words) > 3:
            yield words[1], words[2], words[3].split(",")


class _Partition:
    """An isolated partition of cgroup v2, from Linux 6.1 on.

    Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, "cpuset.cpus.partition" and "Threads".
    """

    def __init__(self, root: str, tree: Tree) -> None:
        self.root, self.group, self.tree = root, f"{root}/{GROUP}", tree

    def refusal(self) -> str | None:
        """Return why it can't be done here, in words; None: it can."""
        # The root of all groups has no type.
        return _CONTAINER if self.tree.exists(f"{self.root}/cgroup.type") else None

    def isolated_cpus(self) -> set[int]:
        """Return the CPUs that are isolated so, whoever did it."""
        told = self.tree.text(f"{self.root}/cpuset.cpus.isolated")  # Linux 6.8
        if told is None and self.tree.text(f"{self.group}/cpuset.cpus.partition") == "isolated":
            told = self.tree.text(f"{self.group}/cpuset.cpus.effective")
        return set(parse_cpu_list(told) or ())

    def changes(self, cpus: str) -> Sequence[Change]:
        """Make the partition.

        It is threaded, so that single threads can join it: the rest of their process stays in the root group,
        which alone may be the parent of threaded groups and have other children. Where another group claims
        the CPUs too, the list of exclusive ones (Linux 6.7) goes before its claim. What older kernels refuse
        is seen in `shortfall`.
        """
        group, control = self.group, f"{self.root}/cgroup.subtree_control"
        enabled = "cpuset" in (self.tree.text(control) or "").split()
        return (
            KeepAffinities(),
            *(() if enabled else (Write(control, "+cpuset", undo="-cpuset"),)),
            MakeFolder(group),
            Write(f"{group}/cgroup.type", "threaded", undo="threaded"),
            Write(f"{group}/cpuset.cpus", cpus, undo=cpus),
            Write(f"{group}/cpuset.cpus.exclusive", cpus, undo=cpus, may_refuse=True),
            Write(f"{group}/cpuset.cpus.partition", "isolated", undo="member", may_refuse=True),
            # Its own subtree needs no CPUs, but as long as it has them nobody can take the controller from
            # the root: systemd does when it starts a unit that needs none, and the partition would be gone.
            Write(f"{group}/cgroup.subtree_control", "+cpuset", undo="-cpuset", may_refuse=True),
            PinAgain(),
        )

    def groups(self) -> Groups | None:
        """Return where programs must begin; None: our group is not there."""
        threads = f"{self.group}/cgroup.threads"
        return (f"{self.root}/cgroup.procs", threads, "") if self.tree.exists(threads) else None

    def shortfall(self) -> str:
        """Return what the kernel says against our partition; empty: nothing is known."""
        state = self.tree.text(f"{self.group}/cpuset.cpus.partition") or ""
        said = re.search(r"invalid(?: \((.*)\))?", state)
        if said:
            return f"the kernel finds the partition invalid: {said[1] or 'it does not say why'}"
        return "this kernel has no isolated partitions: Linux 6.1 has" if state == "member" else ""


class _Shield:
    """The cpusets of cgroup v1: all else is moved into a group without the CPUs. See `_Partition`.

    Nothing spreads work over them any more. What `cset shield` does; see cpusets(7), "Sched load balance".
    """

    def __init__(self, root: str | None, tree: Tree) -> None:
        self.root, self.group, self.tree = root, f"{root}/{GROUP}", tree

    def refusal(self) -> str | None:
        if self.root is None:
            return "there are no cpusets here"
        # Only the root of all groups has an agent.
        return None if self.tree.exists(f"{self.root}/release_agent") else _CONTAINER

    def isolated_cpus(self) -> set[int]:
        """Return the CPUs on line over which no group spreads its threads."""
        if self.root is None or self.tree.flag(f"{self.root}/{_BALANCE}") is not False:
            return set()
        isolated = set(online_cpus(self.tree))
        for group in cpusets_below(self.root, self.tree):
            if self.tree.flag(f"{group}/{_BALANCE}"):
                isolated -= self._cpus_of(group)
        return isolated

    def changes(self, cpus: str) -> Sequence[Change]:
        """Take the CPUs out of all groups, then move what is in none into a group without them."""
        root, group, tree = str(self.root), self.group, self.tree
        isolated = set(parse_cpu_list(cpus) or ())
        claims = {one: self._cpus_of(one) for one in cpusets_below(root, tree)}
        rest = format_cpu_list(set(online_cpus(tree)) - isolated)
        mems = tree.text(f"{root}/cpuset.mems") or "0"
        return (
            KeepAffinities(),
            *(
                Write(f"{one}/cpuset.cpus", format_cpu_list(held - isolated))
                for one, held in claims.items()
                if held & isolated and held - isolated
            ),
            MakeFolder(group),
            Write(f"{group}/cpuset.cpus", rest, undo=rest),
            Write(f"{group}/cpuset.mems", mems, undo=mems),
            MoveTasks(f"{root}/tasks", f"{group}/tasks"),
            Write(f"{root}/{_BALANCE}", "0"),
            PinAgain(),
        )

    def groups(self) -> Groups | None:
        """Return where programs must begin: the measuring threads in the root group, which has all CPUs."""
        if self.root is None or not self.tree.exists(f"{self.group}/tasks"):
            return None
        everybody = f"{self.group}/cgroup.procs"
        return everybody, f"{self.root}/tasks", everybody

    def shortfall(self) -> str:
        """Return which groups can do without none of the CPUs."""
        below = cpusets_below(self.root, self.tree) if self.root else ()
        claims = ", ".join(one for one in below if not one.endswith(f"/{GROUP}"))
        return f"other cpusets have these CPUs too: {claims}" if claims else ""

    def _cpus_of(self, group: str) -> set[int]:
        return set(parse_cpu_list(self.tree.text(f"{group}/cpuset.cpus")) or ())


class Isolated(NamesCpus):
    """CPUs on which nothing runs but what is pinned there: by boot parameter, or by control groups.

    What was isolated at boot counts, and can't be given back before the next boot.
    """

    name = "isolated"
    or_none = True
    summary = "the CPUs kept for measuring threads: 1-3 or all but 0 or none"

    def available(self, tree: Tree) -> str | None:
        return _means(tree).refusal()

    def read(self, tree: Tree) -> str | None:
        """Those on line, by whatever means."""
        online = online_cpus(tree)
        isolated = _by_boot(tree) | _means(tree).isolated_cpus()
        return written(tuple(cpu for cpu in online if cpu in isolated)) if online else None

    def canonical(self, wanted: str, tree: Tree) -> str:
        cpus = named_cpus(wanted, tree, or_none=True)
        if cpus and not set(online_cpus(tree)) - set(cpus):
            raise UsageError(
                f"isolating CPU {format_cpu_list(cpus)} leaves none for everything else",
                "Leave one out, such as 0.",
            )
        return written(cpus)

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """What boot did not isolate goes into a group, as far as it is on line."""
        missing = (set(cpus_of(wanted)) & set(online_cpus(tree))) - set(cpus_of(self.read(tree) or ""))
        if not missing or self.available(tree):
            return ()
        return _means(tree).changes(format_cpu_list(missing))

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        """Return the boot parameters, less those that are there."""
        if wanted == "none":
            words = [name for name in _AT_BOOT if _parameter(name, tree)]
            return BootAdvice(at_boot=f"boot without {' '.join(words)}" if words else "")
        there = {name: set(parse_boot_cpus(_parameter(name, tree), present_cpus(tree))) for name in _AT_BOOT}
        lacking = [name for name in _AT_BOOT if not set(cpus_of(wanted)) <= there[name]]
        return BootAdvice(at_boot=" ".join(_boot_words(name, wanted) for name in lacking))

    def parameters(self, wanted: str, tree: Tree) -> tuple[str, ...]:
        cpus = self.canonical(wanted, tree)
        return () if cpus == NONE else tuple(_boot_words(name, cpus) for name in _AT_BOOT)

    def shortfall(self, wanted: str, tree: Tree) -> str:
        asked = set(cpus_of(wanted))
        surplus = _by_boot(tree) - asked
        if surplus:
            return f"CPU {format_cpu_list(surplus)} is isolated by the boot parameter isolcpus"
        others = _means(tree).isolated_cpus() - asked
        if others:
            return f"CPU {format_cpu_list(others)} is isolated by a control group that is not ours"
        lacking = asked - set(cpus_of(self.read(tree) or ""))
        if lacking and not lacking & set(online_cpus(tree)):
            return f"CPU {format_cpu_list(lacking)} is offline"
        return _means(tree).shortfall()


class Tickless(NamesCpus):
    """CPUs whose periodic tick stops while one thread runs on them: chosen at boot, by ``nohz_full=``."""

    name = "tickless"
    or_none = True
    summary = (
        "the CPUs without a periodic tick while one thread runs, chosen at boot: 1-3 or all but 0 or none"
    )

    def available(self, tree: Tree) -> str | None:
        if tree.text(_TICKLESS) is None:
            return "this kernel can't stop the tick of a busy CPU"
        return "it is chosen when the kernel boots"

    def read(self, tree: Tree) -> str | None:
        cpus = parse_cpu_list(tree.text(_TICKLESS))
        return None if cpus is None else written(cpus)

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """None: there is no way but to boot."""
        return ()

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        return BootAdvice(at_boot="boot without nohz_full" if wanted == NONE else f"nohz_full={wanted}")

    def parameters(self, wanted: str, tree: Tree) -> tuple[str, ...]:
        cpus = self.canonical(wanted, tree)
        return () if cpus == NONE else (f"nohz_full={cpus}",)


def _means(tree: Tree) -> _Partition | _Shield:
    """Partitions where cgroup v2 has the CPUs, else cpusets."""
    root = _partitions_root(tree)
    return _Partition(root, tree) if root else _Shield(cpusets_root(tree), tree)


def groups(tree: Tree) -> Groups | None:
    """Return where programs must begin; None: our group is not there."""
    return _means(tree).groups()


def _by_boot(tree: Tree) -> set[int]:
    return set(parse_cpu_list(tree.text(f"{CPUS}/isolated")) or ())


def _parameter(name: str, tree: Tree) -> str:
    words = re.findall(rf"(?:^|\s){name}=(\S+)", tree.text("/proc/cmdline") or "")
    return words[-1] if words else ""


def _boot_words(name: str, cpus: str) -> str:
    return f"{name}=managed_irq,domain,{cpus}" if name == "isolcpus" else f"{name}={cpus}"
