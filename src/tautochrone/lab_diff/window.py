"""One release that was served late: what held it up, as the events around it tell."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Literal

# Events of the kernel's own trace (tracefs): what happened when, and from which chain of functions.


_NS_PER_S = 1_000_000_000
_EVENT = re.compile(
    r"\s*(?P<task>.+)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+(?P<flags>\S+)\s+(?P<s>\d+)\.(?P<fraction>\d+): "
    r"(?P<name>\w+): (?P<words>.*)"
)
_FRAME = " => "
_COLUMN = re.compile(r"#[\s|/]*_-+=> (?P<name>\S+)")
_OVERRUN = re.compile(r"^overrun: (\d+)$", re.MULTILINE)
_DEPTH = "preempt-depth"


@dataclass(frozen=True)
class WindowEvent:
    """One event.

    Attributes:
        instant_ns: on CLOCK_MONOTONIC, to the microsecond: the kernel prints no more.
        task, pid: what the CPU was doing.
        preemption_depth: how often preemption was switched off, the event's own included; None: not told.
        words: what else it says, as the kernel prints it.
        stack: the functions that led to it, innermost first.
    """

    instant_ns: int
    cpu: int
    task: str
    pid: int
    preemption_depth: int | None
    name: str
    words: str
    stack: tuple[str, ...]


def read_events(text: str) -> tuple[WindowEvent, ...]:
    """Return the events of a trace, with the stack that follows each, in their order."""
    depth_at = _depth_column(text)
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in text.splitlines():
        if not line.startswith(_FRAME):
            if head := _EVENT.match(line):
                found.append((head, []))
        elif found:
            found[-1][1].append(line.removeprefix(_FRAME).strip())
    return tuple(_event(head, frames, depth_at) for head, frames in found)


def lost(text: str) -> int:
    """Return how many events the buffers could not keep, where their ``stats`` stand with the trace."""
    return sum(map(int, _OVERRUN.findall(text)))


def _event(head: re.Match[str], frames: list[str], depth_at: int | None) -> WindowEvent:
    fraction = head["fraction"][:9].ljust(9, "0")
    return WindowEvent(
        instant_ns=int(head["s"]) * _NS_PER_S + int(fraction),
        cpu=int(head["cpu"]),
        task=head["task"].strip(),
        pid=int(head["pid"]),
        preemption_depth=_depth(head["flags"], depth_at),
        name=head["name"],
        words=head["words"],
        stack=tuple(frames),
    )


def _depth_column(text: str) -> int | None:
    """Find the column by the head of the trace: kernels differ in how many flags they print before it."""
    names = [found["name"] for found in map(_COLUMN.match, text.splitlines()[:40]) if found]
    return names.index(_DEPTH) if _DEPTH in names else None


def _depth(flags: str, at: int | None) -> int | None:
    if at is None or at >= len(flags):
        return None
    return 0 if flags[at] == "." else int(flags[at], 16) if flags[at] in "0123456789abcdef" else None


WAKING, SWITCH = "sched_waking", "sched_switch"
_MARGIN_NS = 1_000
"""Events are printed in whole microseconds."""
_INTERRUPT_ENTRY = re.compile(r"asm_(sysvec|common)_\w+|el[01][ht]_(64|32)_(irq|fiq)")

_ENTRY = re.compile(
    r"entry_\w+|do_syscall_\w+|x64_sys_call|__(x64|se|do|arm64)_sys_\w+|el0\w*|do_el0\w*|invoke_syscall\w*"
    r"|asm_\w+|__wake_up_parent|ret_from_fork\w*|secondary_startup\w*|start_kernel|x86_64_start\w*|rest_init"
    r"|arch_call_rest_init"
)
"""Through these every call of the kernel comes; `__wake_up_parent` stands behind one that never returns."""
_FROM_USER = re.compile(r"el0\w*")
_LOCKS = re.compile(
    r"_+raw_\w+|_*(rt_)?(spin|read|write)_(un)?lock\w*|_*(rcu|srcu)_read_\w*lock\w*|_*local_bh_\w+|migrate_\w+"
    r"|lock_\w+|rt_mutex_\w+|preempt_count_\w+|trace_\w+"
)
"""What ends a section, and not what the section is about."""
_SCHEDULE = re.compile(
    r"_*schedule\w*|preempt_schedule\w*|_*cond_resched\w*|dynamic_\w*resched|trace_event\w*|_*traceiter\w*"
    r"|irqentry_exit\w*|raw_irqentry\w*|arm64_preempt\w*"
)
_SLEEPS = re.compile(
    r"do_nanosleep|\w*hrtimer_nanosleep|common_nsleep\w*|do_futex|futex_\w+|do_wait\w*|kernel_wait\w*|\w*poll\w*"
    r"|pipe_(read|write)|vfs_(read|write)|ksys_(read|write)|new_sync_\w+|do_select|kthread|worker_thread|rcu_gp_\w+"
    r"|smpboot_thread_fn|do_idle|cpu_startup_entry|\w*idle\w*|do_sigtimedwait|rescuer_thread|kswapd|kcompactd"
)
"""In these one sleeps: their time is not work, and a sleeper's call lasts as long as any wait."""
IDLE = "<idle>"
"""What the kernel's trace calls the task of a CPU that has nothing to do."""

Cause = Literal["interrupts", "preemption", "switch"]


@dataclass(frozen=True)
class ReleaseWindow:
    """One release of one loop, from when it was due to its thread's first time stamp.

    Attributes:
        waking: the timer's handler makes the thread ready; None: not in the trace.
        switch: the CPU goes to the thread; None: not in the trace.
        held: how many locks or sections that forbid preemption the interrupted code was in; None: not told.
    """

    number: int
    release_ns: int
    first_stamp_ns: int
    waking: WindowEvent | None
    switch: WindowEvent | None
    held: int | None = None

    @property
    def latency_ns(self) -> int:
        """Return the time from release to first time stamp."""
        return self.first_stamp_ns - self.release_ns

    @property
    def before_waking_ns(self) -> int | None:
        """Return the time in which the timer's interrupt was not taken: interrupts were off."""
        return None if self.waking is None else max(0, self.waking.instant_ns - self.release_ns)

    @property
    def before_switch_ns(self) -> int | None:
        """Return the time ready and not let in: preemption was off, or the kernel has none there."""
        if self.waking is None or self.switch is None:
            return None
        return max(0, self.switch.instant_ns - self.waking.instant_ns)

    @property
    def after_switch_ns(self) -> int | None:
        """Return the switch itself, and the way back into the program."""
        return None if self.switch is None else max(0, self.first_stamp_ns - self.switch.instant_ns)

    @property
    def cause(self) -> Cause | None:
        """Return which of the three took longest; None: not known."""
        interrupts, preemption, switch = self.before_waking_ns, self.before_switch_ns, self.after_switch_ns
        if interrupts is None or preemption is None or switch is None:
            return None
        parts: list[tuple[int, Cause]] = [
            (interrupts, "interrupts"), (preemption, "preemption"), (switch, "switch"),
        ]  # fmt: skip
        return max(parts)[1]

    @property
    def interrupted(self) -> tuple[str, ...]:
        """Return what the timer's interrupt came into, outermost first; empty: no kernel, or not known."""
        return () if self.waking is None or self.task == IDLE else tuple(reversed(_below(self.waking.stack)))

    @property
    def given_up(self) -> tuple[str, ...]:
        """Tell where the CPU was given up at last, outermost first, without the scheduler's own functions."""
        if self.switch is None:
            return ()
        return tuple(reversed(_without(_SCHEDULE, _below(self.switch.stack))))

    @property
    def chain(self) -> tuple[str, ...]:
        """Return the functions that held it up, outermost first; the last one is the name of it.

        While interrupts were off nobody looked in: it is what switched them on again, less the lock's own
        function. Otherwise it is what both looks, at the interrupt and at the switch, found on the stack:
        all of the time passed inside.
        """
        inside = tuple(reversed(_without(_LOCKS, tuple(reversed(self.interrupted)))))
        if self.cause != "preemption" or not self.given_up:
            return inside
        common = _common(inside, self.given_up)
        if without_entry(common):
            return common
        # It went on until the kernel was left: all of it passed in the first function behind the entry.
        return inside[: len(inside) - len(without_entry(inside)) + 1]

    @property
    def task(self) -> str | None:
        """Return whose time it was."""
        return self.waking.task if self.waking is not None else None


def windows(
    samples: Iterable[tuple[int, int, int]], events: Sequence[WindowEvent], cpu: int | None = None
) -> list[ReleaseWindow]:
    """Return what the trace has on each of these releases.

    Args:
        samples: number, release and first time stamp of each, by time.
        events: of waking and switching to the measuring thread, with stacks.
        cpu: of the loop; None: any.
    """
    own = [one for one in events if cpu in (None, one.cpu)]
    depths = [one.preemption_depth for one in own if one.name == WAKING and one.preemption_depth is not None]
    least = min(depths, default=None)
    instants, found = [one.instant_ns for one in own], []
    for number, release_ns, stamp_ns in samples:
        first = bisect_left(instants, release_ns - _MARGIN_NS)
        inside = own[first : bisect_right(instants, stamp_ns + _MARGIN_NS, lo=first)]
        waking = next((one for one in inside if one.name == WAKING), None)
        switch = next((one for one in reversed(inside) if one.name == SWITCH), None)
        depth = waking.preemption_depth if waking is not None else None
        held = depth - least if depth is not None and least is not None else None
        found.append(ReleaseWindow(number, release_ns, stamp_ns, waking, switch, held))
    return found


def functions_of(found: Iterable[ReleaseWindow]) -> tuple[str, ...]:
    """Return the functions on the stacks of these, for a second look that times them.

    Not the innermost one of each, in which the interrupt merely happened to come, unless all of the time
    passed inside it: such are called too often to be timed without slowing everything down.
    """
    names: dict[str, None] = {}
    for one in found:
        chain = one.chain
        for name in (*chain, *one.interrupted[:-1], *one.given_up):
            if not any(_is(kind, name) for kind in (_LOCKS, _INTERRUPT_ENTRY, _ENTRY, _SLEEPS)):
                names[name] = None
    return tuple(names)


def without_entry(chain: Sequence[str]) -> tuple[str, ...]:
    """Return the stack without the functions through which every call of the kernel comes."""
    return _without(_ENTRY, chain)


def _is(kind: re.Pattern[str], function: str) -> bool:
    """Return whether it is of this kind, whatever the compiler added to its name (``.constprop.0``)."""
    return kind.fullmatch(function.partition(".")[0]) is not None


def _below(stack: Sequence[str]) -> tuple[str, ...]:
    """Return what was interrupted, innermost first: the frames below the entry of the first interrupt."""
    for at, frame in enumerate(stack):
        if _is(_INTERRUPT_ENTRY, frame):
            return () if _FROM_USER.match(frame) else tuple(stack[at + 1 :])
    return tuple(stack)


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return tuple(name for name, _ in pairs)


def _without(kind: re.Pattern[str], frames: Sequence[str]) -> tuple[str, ...]:
    return tuple(dropwhile(lambda frame: _is(kind, frame), frames))
