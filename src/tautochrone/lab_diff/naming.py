"""What held the worst release up gets a name: stacks say inside what it was, timed calls how long."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tautochrone.lab_diff.calls import Call, Share, calls_in, shares
from tautochrone.lab_diff.differences import MISSING, Loop
from tautochrone.lab_diff.events import Event
from tautochrone.lab_diff.window import Window, windows, without_entry

_MOST_OF_IT = 0.5


@dataclass(frozen=True)
class Traced:
    """The worst release of a run that was traced; such a run is not the plain one, and no result.

    Attributes:
        window: the release and, where stacks were noted, what they tell.
        nested: the timed calls that fall into it, outermost first; empty where none were timed.
    """

    window: Window
    nested: tuple[Call, ...] = ()

    @property
    def latency_ns(self) -> int:
        """Of this release, tracing included."""
        return self.window.latency_ns

    @property
    def shares(self) -> tuple[Share, ...]:
        """What each function took of the wait, most first."""
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
        """The name."""
        return self.chain[-1]

    @property
    def callers(self) -> tuple[str, ...]:
        """Who called it, outermost first."""
        return self.chain[:-1]


def samples_of(loop: Loop) -> list[tuple[int, int, int]]:
    """Number, release and first time stamp of each completed release."""
    return [
        (number, loop.release_ns(number), loop.release_ns(number) + latency_ns)
        for number, latency_ns in enumerate(loop.latency_ns.tolist())
        if latency_ns != MISSING
    ]


def with_stacks(loop: Loop, events: Sequence[Event]) -> list[Window]:
    """Every completed release of a run whose stacks were noted."""
    return windows(samples_of(loop), events, loop.cpu)


def worst_with_calls(loop: Loop, calls: Sequence[Call], measuring_task: str) -> Traced | None:
    """The worst release of a run whose calls were timed; None: none was completed."""
    number = loop.worst
    if number is None:
        return None
    release_ns = loop.release_ns(number)
    stamp_ns = release_ns + int(loop.latency_ns[number])
    own = [one for one in calls if loop.cpu in (None, one.cpu)]
    measuring = {one.pid for one in own if one.task == measuring_task}
    return Traced(
        Window(number, release_ns, stamp_ns, None, None),
        calls_in(own, release_ns, stamp_ns, tuple(measuring)),
    )


def name_of(stacks: Window | None, timed: Traced | None, functions: Collection[str] = ()) -> Name | None:
    """The name of what held the worst release up; None: nothing of the kernel did, or it is not known.

    The function in which most of the wait passed by itself, where calls were timed; otherwise, or where the
    stacks look deeper into it, the innermost one inside which all of the wait passed.

    Args:
        functions: those whose calls were timed.
    """
    looked = without_entry(stacks.chain) if stacks is not None else ()
    first = timed.shares[0] if timed is not None and timed.shares else None
    if timed is None or first is None or first.self_ns < _MOST_OF_IT * timed.latency_ns:
        return _timed(Name(looked), timed) if looked else None
    if first.function in looked[:-1] and looked[-1] not in functions:
        return Name(looked)  # what the stacks saw inside it was not timed
    return Name(_joined(looked, first.chain), first.total_ns, timed.latency_ns)


def _timed(name: Name, timed: Traced | None) -> Name:
    """With its time, where the calls that were timed have it."""
    found = [one for one in timed.shares if one.function == name.function] if timed is not None else []
    if timed is None or not found:
        return name
    return Name(name.chain, found[0].total_ns, timed.latency_ns)


def _joined(looked: tuple[str, ...], chain: tuple[str, ...]) -> tuple[str, ...]:
    """The chain of timed calls, with those before it that only the stacks saw."""
    for at, function in enumerate(looked):
        if function == chain[0]:
            return (*looked[:at], *chain)
    return chain
