"""Settings of the kernel: those that are one file with a few words in it, and RT throttling."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.machine.cpulist import CPUS, online_cpus
from tautochrone.machine.knob.knob import BootAdvice, Knob, check_word
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree


@dataclass(frozen=True)
class SettingFile:
    """A file that has the setting, and what it holds for each word that people use."""

    path: str
    words: Mapping[str, str]


@dataclass(frozen=True)
class FileKnob(Knob):
    """A setting in the first of some files that a machine has.

    Attributes:
        places: where it is, by kernel or driver.
        missing: why some machines do not have it.
        at_boot: word -> kernel parameter or firmware setting that does the same for good.
    """

    name: str
    summary: str
    places: tuple[SettingFile, ...]
    missing: str
    at_boot: Mapping[str, str] = field(default_factory=dict)

    def available(self, tree: Tree) -> str | None:
        return None if self._place(tree) else self.missing

    def read(self, tree: Tree) -> str | None:
        """Return the word for what the file holds, or what it holds."""
        place = self._place(tree)
        held = tree.chosen(place.path) or tree.text(place.path) if place else None
        if place is None or held is None:
            return None
        return next((word for word, text in place.words.items() if text == held), held)

    def check(self, wanted: str) -> None:
        check_word(wanted, list(dict.fromkeys(word for place in self.places for word in place.words)))

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        place = self._place(tree)
        if place is None or self.read(tree) == wanted:
            return ()
        return (Write(place.path, place.words[wanted], undo=tree.chosen(place.path)),)

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        """Return the same by hand, and at boot."""
        place = self._place(tree)
        now = f"echo {place.words[wanted]} | sudo tee {place.path}" if place else ""
        return BootAdvice(now=now, at_boot=self.at_boot.get(wanted, ""))

    def _place(self, tree: Tree) -> SettingFile | None:
        return next((place for place in self.places if tree.text(place.path)), None)


_BOTH = "/proc/sys/kernel/watchdog"
_EACH = ("/proc/sys/kernel/soft_watchdog", "/proc/sys/kernel/nmi_watchdog")


@dataclass(frozen=True)
class Watchdog(FileKnob):
    """The lock-up detectors.

    While the switch for both is off, whoever reads one of the others turns that off for good: the kernel then
    takes what is in force for what was asked for (kernel/watchdog.c, proc_watchdog_common). So those that are
    on are put back too, each after the switch for both, and none is read before.
    """

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Each that is on, then both."""
        if self.read(tree) == wanted:
            return ()
        if wanted == "on":
            return (Write(_BOTH, "1"),)
        running = [path for path in _EACH if tree.text(path) == "1"]
        return tuple(Write(path, "0", undo="1") for path in (*running, _BOTH))


_ON_OFF = {"on": "1", "off": "0"}

BOOST = FileKnob(
    "boost",
    "clock rates above the rated one (turbo): on or off",
    (
        SettingFile(f"{CPUS}/cpufreq/boost", _ON_OFF),
        SettingFile(f"{CPUS}/intel_pstate/no_turbo", {"on": "0", "off": "1"}),
    ),
    "this machine's clock is not steered by Linux, or has no boost",
    {"off": "the firmware's setting for turbo or boost"},
)
TIMER_MIGRATION = FileKnob(
    "timer-migration",
    "whether timers of idle CPUs may move to busy ones: on or off",
    (SettingFile("/proc/sys/kernel/timer_migration", _ON_OFF),),
    "this kernel does not move timers between CPUs",
)
NUMA_BALANCING = FileKnob(
    "numa-balancing",
    "moving memory after the tasks that use it, by page faults: on or off",
    (SettingFile("/proc/sys/kernel/numa_balancing", _ON_OFF),),
    "this kernel does not balance memory between nodes",
    {"off": "numa_balancing=disable"},
)
_HUGE = ("always", "madvise", "never")
HUGE_PAGES = FileKnob(
    "transparent-hugepages",
    "large pages made behind the programs' backs: always, madvise or never",
    (SettingFile("/sys/kernel/mm/transparent_hugepage/enabled", {word: word for word in _HUGE}),),
    "this kernel is built without transparent huge pages",
    {word: f"transparent_hugepage={word}" for word in _HUGE},
)
WATCHDOG = Watchdog(
    "watchdog",
    "the kernel's lock-up detectors, which run on every CPU: on or off",
    (SettingFile(_BOTH, _ON_OFF),),
    "this kernel is built without lock-up detectors",
    {"off": "nowatchdog"},
)


# How much of a CPU real-time threads may take from all others.

_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"
_PERIOD = "/proc/sys/kernel/sched_rt_period_us"
_FAIR = "/sys/kernel/debug/sched/fair_server"
_OFF = "off"
_NO_LIMIT = "-1"


class RtThrottling(Knob):
    """RT throttling, and what took its place in Linux 6.12: the fair server, which reserves time for others.

    The fair server can be read and set only where debugfs is mounted. Where it is, its numbers are the ones
    that hold, so they are what is read.
    """

    name = "rt-throttling"
    summary = "what real-time threads may take of each CPU: off (all of it), or a share such as 950ms/1s"

    def available(self, tree: Tree) -> str | None:
        return None if tree.exists(_RUNTIME) else "this kernel does not throttle real-time threads"

    def read(self, tree: Tree) -> str | None:
        """`off` or RUNTIME/PERIOD, of the CPU that throttles most; None: it can't be seen."""
        shares = [share for folder in _fair_servers(tree) if (share := _fair_share(folder, tree))]
        if shares:
            runtime_ns, period_ns = min(shares, key=lambda share: share[0] / share[1])
            return _written(runtime_ns, period_ns)
        runtime_us, period_us = tree.integer(_RUNTIME), tree.integer(_PERIOD)
        if runtime_us is None or period_us is None:
            return None
        if runtime_us < 0 or runtime_us >= period_us:
            return None if _unseen_fair_server(tree) else _OFF
        return _written(runtime_us * 1000, period_us * 1000)

    def check(self, wanted: str) -> None:
        if wanted != _OFF:
            _parsed(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        self.check(wanted)
        return _OFF if wanted == _OFF else _written(*_parsed(wanted))

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """The limit is lifted while the period changes, as it must never be the longer one; see `Knob`.

        And before the fair servers: the kernel counts what they were promised, loses count when CPUs go off
        line or are isolated, and then finds less room than it asks for, unless there is no limit.
        """
        runtime_ns, period_ns = (None, None) if wanted == _OFF else _parsed(wanted)
        servers: list[Change] = []
        for folder in _fair_servers(tree):
            left_ns = None if runtime_ns is None or period_ns is None else period_ns - runtime_ns
            server = _set(f"{folder}/runtime", left_ns, f"{folder}/period", period_ns, "0", tree)
            servers += (replace(one, may_refuse=True) for one in server)
        runtime_us, period_us = (None if ns is None else ns // 1000 for ns in (runtime_ns, period_ns))
        limit = _set(_RUNTIME, runtime_us, _PERIOD, period_us, _NO_LIMIT, tree)
        if not servers or tree.text(_RUNTIME) == _NO_LIMIT:
            return (*servers, *limit)
        lifted = Write(_RUNTIME, _NO_LIMIT)
        if runtime_us is None:
            return (lifted, *servers)
        return (lifted, *servers, *(limit or [Write(_RUNTIME, str(runtime_us))]))

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        """See `Knob`: the same by hand, and in the same order."""
        if wanted == _OFF:
            settings, served = "kernel.sched_rt_runtime_us=-1", "echo 0 | sudo tee $f/runtime"
        else:
            runtime_ns, period_ns = _parsed(wanted)
            settings = f"kernel.sched_rt_runtime_us=-1 kernel.sched_rt_period_us={period_ns // 1000} "
            settings += f"kernel.sched_rt_runtime_us={runtime_ns // 1000}"
            served = f"echo 0 | sudo tee $f/runtime; echo {period_ns} | sudo tee $f/period; "
            served += f"echo {period_ns - runtime_ns} | sudo tee $f/runtime"
        servers = f"; for f in {_FAIR}/cpu*; do {served}; done" if _fair_servers(tree) else ""
        return BootAdvice(now=f"sudo sysctl {settings}{servers}")

    def shortfall(self, wanted: str, tree: Tree) -> str:
        if _fair_servers(tree):
            return "the kernel keeps a share of each CPU for ordinary threads"
        return _unseen_fair_server(tree)


def _unseen_fair_server(tree: Tree) -> str:
    """Return what may throttle beside what is read, in words; empty: nothing, or it is seen."""
    release = re.match(r"(\d+)\.(\d+)", tree.text("/proc/sys/kernel/osrelease") or "")
    if release is None or (int(release[1]), int(release[2])) < (6, 12) or _fair_servers(tree):
        return ""
    return (
        "from Linux 6.12 on the fair server throttles, and it can't be seen here: "
        "mount -t debugfs none /sys/kernel/debug shows it to root"
    )


def _fair_servers(tree: Tree) -> list[str]:
    """Of the CPUs on line: the others serve nobody, and can't be set."""
    there = set(tree.folders(_FAIR))
    return [f"{_FAIR}/cpu{cpu}" for cpu in online_cpus(tree) if f"cpu{cpu}" in there]


def _fair_share(folder: str, tree: Tree) -> tuple[int, int] | None:
    """Return what is left to real-time threads of the server's period."""
    runtime_ns, period_ns = tree.integer(f"{folder}/runtime"), tree.integer(f"{folder}/period")
    return None if runtime_ns is None or not period_ns else (period_ns - runtime_ns, period_ns)


def _set(
    runtime_path: str, runtime: int | None, period_path: str, period: int | None, lifted: str, tree: Tree
) -> list[Write]:
    now = tree.text(runtime_path)
    value = lifted if runtime is None else str(runtime)
    if period is None or tree.integer(period_path) == period:
        return [] if now == value else [Write(runtime_path, value)]
    return [Write(runtime_path, lifted), Write(period_path, str(period)), Write(runtime_path, value)]


def _parsed(text: str) -> tuple[int, int]:
    """Runtime and period in nanoseconds, whole microseconds."""
    runtime, _, period = text.partition("/")
    advice = "Write off, or a share such as 950ms/1s."
    if not period:
        raise UsageError(f"'{text}' is not a share of time", advice)
    runtime_ns, period_ns = parse_duration_ns(runtime), parse_duration_ns(period)
    if not 0 < runtime_ns <= period_ns or runtime_ns % 1000 or period_ns % 1000:
        raise UsageError(f"'{text}' is not a share of time in whole microseconds", advice)
    return runtime_ns, period_ns


def _written(runtime_ns: int, period_ns: int) -> str:
    """Write the share, or that all of it is allowed: the kernel then throttles nothing."""
    return _OFF if runtime_ns == period_ns else f"{_exact(runtime_ns)}/{_exact(period_ns)}"


def _exact(ns: int) -> str:
    """Write it in the largest unit in which it is a whole number."""
    scales = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
    return next(f"{ns // scale}{unit}" for unit, scale in scales.items() if ns % scale == 0)
