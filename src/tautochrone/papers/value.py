"""A number of ours, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """What was measured.

    Attributes:
        value: in `unit`; of a range its middle.
        unit: what it is counted in: "ns", "bytes", "1/s", "s"; "" where it has none.
        samples: that it rests on; 0 where none are counted.
        repetitions: runs that it rests on.
        least, largest: of the repetitions; None: there is one, or it can't be told.
        low, high: a range that is the value; None: it is none.
        interval: at 95 %, where the number has one of its own (a rate, a share, a border that is known to a
            step of a grid); None: it has none, or `claims.estimate` makes it from the samples.
        spread: what is shown in parentheses beside it; None: nothing.
        beyond: only a bound is known: it is at least this.
        text: what it says where it is no number: "yes".
        note: what a reader must know of it.
    """

    value: float | None
    unit: str = ""
    samples: int = 0
    repetitions: int = 1
    least: float | None = None
    largest: float | None = None
    low: float | None = None
    high: float | None = None
    interval: tuple[float, float] | None = None
    spread: float | None = None
    beyond: bool = False
    text: str = ""
    note: str = ""


@dataclass(frozen=True)
class Absent:
    """There is no number, and why: a sentence."""

    why: str


Found = Value | Absent


def ends_of(each: Sequence[float]) -> tuple[float | None, float | None]:
    """The least and the largest of the repetitions' numbers; neither, where there is one repetition."""
    return (min(each), max(each)) if len(each) > 1 else (None, None)
