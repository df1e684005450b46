"""What each of the three threads did in one repetition, worked out from its instants, to be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tautochrone.judge.inversion import CEILING, ENDLESS, INHERITED, Repetitions, stories

Thread = Literal["high", "middle", "low"]
Doing = Literal["works", "waits", "spins", "held up"]

THREADS: tuple[Thread, ...] = ("high", "middle", "low")


@dataclass(frozen=True)
class Span:
    """One thread doing one thing; in ns since low had the lock."""

    thread: Thread
    doing: Doing
    start_ns: int
    end_ns: int

    @property
    def lasts_ns(self) -> int:
        """From start to end."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Scene:
    """One repetition.

    Attributes:
        spans: what each thread did, by their starts, none of them empty. Low has the lock in all of its own.
        released_ns: when low gave the lock back.
    """

    spans: tuple[Span, ...]
    released_ns: int


def scene(seen: Repetitions, index: int) -> Scene:
    """The repetition ``index`` as it went.

    Low has no instants of its own between taking the lock and giving it back: it is taken to work when
    neither of the others had its CPU.
    """
    story = stories(seen)[index]
    origin = int(seen.taken_ns[index])
    ready, requested, began, ended, released, obtained = (
        int(instants[index]) - origin
        for instants in (
            seen.ready_ns, seen.requested_ns, seen.middle_began_ns, seen.middle_ended_ns, seen.released_ns,
            seen.obtained_ns,
        )
    )  # fmt: skip
    # Where high has another CPU, middle begins, and low goes on in its place once high waits.
    halted = [(requested, released)] if story == INHERITED and began < released else []
    middle = _without((began, ended), halted)
    others = [*middle, (requested, obtained)] if story == ENDLESS else middle
    low = _without((0, released), others)
    waits: Doing = "spins" if story == ENDLESS else "held up" if story == CEILING else "waits"
    spans = [Span("high", waits, ready, obtained)]
    spans += [Span("middle", "works", *part) for part in middle]
    spans += [Span("low", "works", *part) for part in low]
    spans += [Span("low", "held up", *part) for part in _without((0, released), low)]
    spans = sorted((span for span in spans if span.lasts_ns > 0), key=lambda span: span.start_ns)
    return Scene(tuple(spans), released)


def typical(seen: Repetitions) -> int:
    """The repetition with the median blocking time, the lower of two; there must be one."""
    return int(seen.blocking_ns.argsort(kind="stable")[(len(seen) - 1) // 2])


def _without(whole: tuple[int, int], taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of an interval without others, which do not overlap each other."""
    begins = [whole[0], *(min(max(end, whole[0]), whole[1]) for _, end in sorted(taken))]
    ends = [*(min(max(start, whole[0]), whole[1]) for start, _ in sorted(taken)), whole[1]]
    return [(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end]
