"""Calls of functions as the kernel's function graph tracer tells them, and how they contain each other."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from tautochrone.lab_diff.differences import MISSING, Loop
from tautochrone.lab_diff.window import ReleaseWindow, WindowEvent, windows, without_entry

_CALL = re.compile(
    r"\s*(?P<s>\d+)\.(?P<fraction>\d{6})\s*\|\s*(?P<cpu>\d+)\)\s+(?P<task>.+)-(?P<pid>\d+)\s*\|"
    r"(?:\s*\S+\s*\|)?\s*(?:[+!#*@$]\s*)?(?P<us>\d+(?:\.\d+)?) us\s*\|"
    r"(?P<indent>\s*)\}\s*/\*\s*(?P<name>[\w.]+)"
)
_NS_PER_S, _NS_PER_US = 1_000_000_000, 1_000
_ROUNDED_NS = 2 * _NS_PER_US
"""Instants are printed in whole microseconds, so a call may seem to begin before the one it is part of."""
_INDENT = 2


@dataclass(frozen=True)
class Call:
    """One call of a function.

    Attributes:
        begin_ns, end_ns: on CLOCK_MONOTONIC.
        depth: how many of the traced functions it was called through.
        inner: the traced functions that it called, in their order; only where calls are nested.
    """

    begin_ns: int
    end_ns: int
    cpu: int
    task: str
    pid: int
    depth: int
    function: str
    inner: tuple["Call", ...] = ()

    @property
    def total_ns(self) -> int:
        """Return the time with what it called."""
        return self.end_ns - self.begin_ns

    @property
    def self_ns(self) -> int:
        """Return the time without the traced functions that it called."""
        return max(0, self.total_ns - sum(one.total_ns for one in self.inner))


def read_calls(text: str) -> tuple[Call, ...]:
    """Return all calls that had returned, in the order in which they returned.

    Args:
        text: of a trace by `function_graph` with `tracing_thresh`, which tells each call when it returns, and
            the options funcgraph-abstime, funcgraph-proc and funcgraph-tail.
    """
    return tuple(_call(found) for found in map(_CALL.match, text.splitlines()) if found is not None)


def _call(found: re.Match[str]) -> Call:
    end_ns = int(found["s"]) * _NS_PER_S + int(found["fraction"]) * _NS_PER_US
    begin_ns = end_ns - round(float(found["us"]) * _NS_PER_US)
    depth = max(0, len(found["indent"]) // _INDENT - 1)
    cpu, pid = int(found["cpu"]), int(found["pid"])
    return Call(begin_ns, end_ns, cpu, found["task"].strip(), pid, depth, found["name"])


def calls_in(
    calls: Sequence[Call], from_ns: int, to_ns: int, without: Sequence[int] = ()
) -> tuple[Call, ...]:
    """Return what of the calls falls into a stretch of time, each with its own calls; outermost first.

    Only of processes that ran then, which shows in calls that began or ended: one that slept all the while
    was in a call, too.

    Args:
        without: these processes, by number.
    """
    ran = {call.pid for call in calls if from_ns < call.begin_ns < to_ns or from_ns < call.end_ns < to_ns}
    found: list[_Nest] = []
    open_by_pid: dict[int, list[_Nest]] = {}
    for call in reversed(calls):  # so that each comes after the one it was called by
        if call.pid not in ran or call.pid in without or call.end_ns <= from_ns or call.begin_ns >= to_ns:
            continue
        around = open_by_pid.setdefault(call.pid, [])
        while around and not _contains(around[-1][0], call):
            around.pop()
        clipped = replace(call, begin_ns=max(call.begin_ns, from_ns), end_ns=min(call.end_ns, to_ns))
        nest: _Nest = (call, clipped, [])
        (around[-1][2] if around else found).append(nest)
        around.append(nest)
    return _nested(found)


_Nest = tuple[Call, Call, list["_Nest"]]
"""A call, what of it falls into the stretch, and the calls inside it, the last one first."""


def _nested(nests: Sequence[_Nest]) -> tuple[Call, ...]:
    return tuple(replace(call, inner=_nested(inner)) for _, call, inner in reversed(nests))


def _contains(outer: Call, inner: Call) -> bool:
    return outer.depth < inner.depth and outer.begin_ns <= inner.begin_ns + _ROUNDED_NS


@dataclass(frozen=True)
class CallShare:
    """What one function took of a stretch of time, over all of its calls there.

    Attributes:
        self_ns: without the traced functions that it called.
        chain: through which it was called when that took longest, outermost first, itself last.
    """

    function: str
    calls: int
    self_ns: int
    total_ns: int
    chain: tuple[str, ...]


def shares(nested: Sequence[Call]) -> tuple[CallShare, ...]:
    """Return the functions of some nested calls, the one with most time of its own first."""
    found: dict[str, list[tuple[Call, tuple[str, ...]]]] = {}
    for call, chain in _walk(nested, ()):
        found.setdefault(call.function, []).append((call, chain))
    every = [
        CallShare(
            function,
            len(own),
            sum(call.self_ns for call, _ in own),
            sum(call.total_ns for call, chain in own if function not in chain[:-1]),
            max(own, key=lambda one: one[0].total_ns)[1],
        )
        for function, own in found.items()
    ]
    return tuple(sorted(every, key=lambda one: (-one.self_ns, -one.total_ns, one.function)))


def _walk(nested: Sequence[Call], around: tuple[str, ...]) -> Iterator[tuple[Call, tuple[str, ...]]]:
    for call in nested:
        chain = (*around, call.function)
        yield call, chain
        yield from _walk(call.inner, chain)


# What held the worst release up gets a name: stacks say inside what it was, timed calls how long.


_MOST_OF_IT = 0.5


@dataclass(frozen=True)
class Traced:
    """The worst release of a run that was traced; such a run is not the plain one, and no result.

    Attributes:
        window: the release and, where stacks were noted, what they tell.
        nested: the timed calls that fall into it, outermost first; empty where none were timed.
    """

    window: ReleaseWindow
    nested: tuple[Call, ...] = ()

    @property
    def latency_ns(self) -> int:
        """Return the latency of this release, tracing included."""
        return self.window.latency_ns

    @property
    def shares(self) -> tuple[CallShare, ...]:
        """Return what each function took of the wait, most first."""
        return shares(self.nested)


@dataclass(frozen=True)
class Name:
    """What the kernel was doing.

    Attributes:
        chain: the functions through which it came there, outermost first, the name itself last.
        ns, of_ns: how long it was inside this function, of how long a wait; None: not timed.
    """

    chain: tuple[str, ...]
    ns: int | None = None
    of_ns: int | None = None

    @property
    def function(self) -> str:
        """Return the name."""
        return self.chain[-1]

    @property
    def callers(self) -> tuple[str, ...]:
        """Tell who called it, outermost first."""
        return self.chain[:-1]


def with_stacks(loop: Loop, events: Sequence[WindowEvent]) -> list[ReleaseWindow]:
    """Return every completed release of a run whose stacks were noted."""
    samples = [
        (number, loop.release_ns(number), loop.release_ns(number) + latency_ns)
        for number, latency_ns in enumerate(loop.latency_ns.tolist())
        if latency_ns != MISSING
    ]
    return windows(samples, events, loop.cpu)


def worst_with_calls(loop: Loop, calls: Sequence[Call], measuring_task: str) -> Traced | None:
    """Return the worst release of a run whose calls were timed; None: none was completed."""
    number = loop.worst
    if number is None:
        return None
    release_ns = loop.release_ns(number)
    stamp_ns = release_ns + int(loop.latency_ns[number])
    own = [one for one in calls if loop.cpu in (None, one.cpu)]
    measuring = {one.pid for one in own if one.task == measuring_task}
    return Traced(
        ReleaseWindow(number, release_ns, stamp_ns, None, None),
        calls_in(own, release_ns, stamp_ns, tuple(measuring)),
    )


def name_of(
    stacks: ReleaseWindow | None, timed: Traced | None, functions: Collection[str] = ()
) -> Name | None:
    """Return the name of what held the worst release up; None: nothing of the kernel did, or it is not known.

    The function in which most of the wait passed by itself, where calls were timed; otherwise, or where the
    stacks look deeper into it, the innermost one inside which all of the wait passed.
    """
    looked = without_entry(stacks.chain) if stacks is not None else ()
    first = timed.shares[0] if timed is not None and timed.shares else None
    if timed is None or first is None or first.self_ns < _MOST_OF_IT * timed.latency_ns:
        if not looked:
            return None
        known = [one for one in timed.shares if one.function == looked[-1]] if timed is not None else []
        return Name(looked, known[0].total_ns, timed.latency_ns) if timed and known else Name(looked)
    if first.function in looked[:-1] and looked[-1] not in functions:
        return Name(looked)  # what the stacks saw inside it was not timed
    return Name(_joined(looked, first.chain), first.total_ns, timed.latency_ns)


def _joined(looked: tuple[str, ...], chain: tuple[str, ...]) -> tuple[str, ...]:
    return (*looked[: looked.index(chain[0])], *chain) if chain[0] in looked else chain
