"""How much of a CPU real-time threads may take from all others."""

import re
from collections.abc import Sequence
from dataclasses import replace

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.machine.cpulist import online_cpus
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree

_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"
_PERIOD = "/proc/sys/kernel/sched_rt_period_us"
_FAIR = "/sys/kernel/debug/sched/fair_server"
_OFF = "off"
_NO_LIMIT = "-1"


class RtThrottling(Plain):
    """RT throttling, and what took its place in Linux 6.12: the fair server, which reserves time for others.

    The fair server can be read and set only where debugfs is mounted. Where it is, its numbers are the ones
    that hold, so they are what is read.
    """

    name = "rt-throttling"
    summary = "what real-time threads may take of each CPU: off (all of it), or a share such as 950ms/1s"

    def available(self, tree: Tree) -> str | None:
        """See `Knob`."""
        return None if tree.exists(_RUNTIME) else "this kernel does not throttle real-time threads"

    def read(self, tree: Tree) -> str | None:
        """`off` or RUNTIME/PERIOD, of the CPU that throttles most; None: it can't be seen; see `Knob`."""
        shares = [share for folder in _fair_servers(tree) if (share := _fair_share(folder, tree))]
        if shares:
            runtime_ns, period_ns = min(shares, key=lambda share: share[0] / share[1])
            return _OFF if runtime_ns == period_ns else _written(runtime_ns, period_ns)
        runtime_us, period_us = tree.integer(_RUNTIME), tree.integer(_PERIOD)
        if runtime_us is None or period_us is None:
            return None
        if runtime_us < 0:
            return None if _unseen_fair_server(tree) else _OFF
        return _written(runtime_us * 1000, period_us * 1000)

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        if wanted != _OFF:
            _parsed(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
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

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """See `Knob`."""
        if wanted == _OFF:
            settings, served = "kernel.sched_rt_runtime_us=-1", 0
        else:
            runtime_ns, period_ns = _parsed(wanted)
            settings = f"kernel.sched_rt_period_us={period_ns // 1000} "
            settings += f"kernel.sched_rt_runtime_us={runtime_ns // 1000}"
            served = period_ns - runtime_ns
        server = f"; for f in {_FAIR}/cpu*/runtime; do echo {served} | sudo tee $f; done"
        return Advice(now=f"sudo sysctl {settings}{server if _fair_servers(tree) else ''}")

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        if _fair_servers(tree):
            return "the kernel keeps a share of each CPU for ordinary threads"
        return _unseen_fair_server(tree)


def _unseen_fair_server(tree: Tree) -> str:
    """What may throttle beside what is read, in words; empty: nothing, or it is seen."""
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
    """What is left to real-time threads of the server's period."""
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
    return f"{_exact(runtime_ns)}/{_exact(period_ns)}"


def _exact(ns: int) -> str:
    unit, scale = next(
        (unit, scale)
        for unit, scale in (("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1))
        if ns % scale == 0
    )
    return f"{ns // scale}{unit}"
