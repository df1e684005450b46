"""Events of the kernel's own trace (tracefs): what happened when, and from which chain of functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
class Event:
    """One event.

    Attributes:
        instant_ns: on CLOCK_MONOTONIC, to the microsecond: the kernel prints no more.
        task, pid: what the CPU was doing.
        preemption_depth: how often preemption was switched off, the event's own included; None: not told.
        name: such as ``sched_switch``.
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

    def says(self, field: str) -> str | None:
        """The value of one of its fields; None: it has none of this name."""
        found = re.search(rf"(?:^|\s){field}=(\S+)", self.words)
        return found[1] if found else None


def read_events(text: str) -> tuple[Event, ...]:
    """The events of a trace, with the stack that follows each, in their order."""
    depth_at = _depth_column(text)
    return tuple(_event(head, frames, depth_at) for head, frames in _with_stacks(text))


def lost(text: str) -> int:
    """How many events the buffers could not keep, where their ``stats`` stand with the trace."""
    return sum(map(int, _OVERRUN.findall(text)))


def _with_stacks(text: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    head: re.Match[str] | None = None
    frames: list[str] = []
    for line in text.splitlines():
        if line.startswith(_FRAME):
            frames.append(line.removeprefix(_FRAME).strip())
        elif found := _EVENT.match(line):
            if head is not None:
                yield head, frames
            head, frames = found, []
    if head is not None:
        yield head, frames


def _event(head: re.Match[str], frames: list[str], depth_at: int | None) -> Event:
    fraction = head["fraction"][:9].ljust(9, "0")
    return Event(
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
    """Kernels differ in how many flags they print before it; the head of the trace names them in order."""
    names = [found["name"] for found in map(_COLUMN.match, text.splitlines()[:40]) if found]
    return names.index(_DEPTH) if _DEPTH in names else None


def _depth(flags: str, at: int | None) -> int | None:
    if at is None or at >= len(flags):
        return None
    return 0 if flags[at] == "." else int(flags[at], 16) if flags[at] in "0123456789abcdef" else None
