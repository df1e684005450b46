"""A coarse clock: its steps found, and taken out where they are small.

Readings of a clock that advances in steps of 172 ns lie on a lattice, or within 1 ns of one. A continuous
distribution does not fit a lattice however good it is, so each value is put somewhere within its step, by a
random number with a fixed seed, for fitting and for the goodness of fit.
"""

from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.arrays import Floats, Integers

_SPAN = 1 << 19
_LEAST_STEP = 4
_ALIKE = 0.5
_FEWEST = 64
"""Values: of fewer, those at random are alike as well at one of so many frequencies."""
_SEED = 1


@dataclass(frozen=True)
class Lattice:
    """Where values lie.

    Attributes:
        step_ns: distance of two neighbouring places; 1 where there is no coarser one.
        origin_ns: one of the places.
    """

    step_ns: float
    origin_ns: float

    def edge(self, value: int) -> int:
        """A value between the place of this one and the next higher place: a threshold for those above."""
        if self.step_ns == 1:
            return value
        place = int(self._place(np.array([value]))[0])
        return int(self.origin_ns + (place + 0.5) * self.step_ns)

    def spread(self, value: Integers) -> Floats:
        """Each value somewhere within its step, shape (n,): the same for the same values."""
        random = np.random.default_rng(_SEED).random(len(value))
        if self.step_ns == 1:
            # Down from each value, so that what is above a whole number stays above it.
            return value + (random - 1)
        return self.origin_ns + self.step_ns * (self._place(value) + (random - 0.5))

    def _place(self, value: Integers) -> Integers:
        return np.round((value - self.origin_ns) / self.step_ns).astype(np.int64)


def lattice(value: Integers) -> Lattice:
    """Find the step of a clock in values of the tail, shape (n,).

    On a lattice the characteristic function of the values is close to 1 in size at the step's frequency,
    whatever their distribution. Without a lattice it is small at all frequencies that are higher than one
    over their spread, of which the median of their distances from the smallest is a measure that a few very
    large ones do not change. Both are those of the values near the smallest; the others take no part.
    """
    if len(value) < _FEWEST:
        return Lattice(1, 0)
    origin = int(value.min())
    near = value[value - origin < _SPAN] - origin
    middle = float(np.median(near))
    if middle <= _LEAST_STEP or len(near) < _FEWEST:
        return Lattice(1, origin)
    size = int(near.max()) + 1
    # Zeros behind make neighbouring frequencies close enough to each other.
    padded = 1 << max(10, int(2 * size - 1).bit_length())
    wave = np.fft.rfft(np.bincount(near, minlength=size), padded) / len(near)
    first, last = int(np.ceil(padded / middle)), padded // _LEAST_STEP
    size_of = np.abs(wave[first : last + 1])
    if not len(size_of):
        return Lattice(1, origin)
    high = np.flatnonzero(size_of > _ALIKE)
    if not len(high):
        return Lattice(1, origin)
    # The lowest frequency of all that stand out; the others are its multiples.
    top = int(high[0])
    while top + 1 < len(size_of) and size_of[top + 1] >= size_of[top]:
        top += 1
    return _refined(near, origin, (first + top) / padded, 1 / padded)


def _refined(near: Integers, origin: int, frequency: float, width: float) -> Lattice:
    """The lattice at the frequency near this one at which the values agree best."""
    distinct, count = np.unique(near, return_counts=True)
    for _ in range(3):
        tried = frequency + width * np.linspace(-1, 1, 21)
        wave = np.exp(-2j * np.pi * np.multiply.outer(tried, distinct)) @ count
        best = int(np.argmax(np.abs(wave)))
        frequency, width = float(tried[best]), width / 10
    return Lattice(1 / frequency, origin - float(np.angle(wave[best])) / (2 * np.pi * frequency))


def places(value: Integers) -> int:
    """How many distinct values, when those within 2 ns of each other are one, shape (n,), n at least 1.

    A step of a clock that is no whole number of nanoseconds gives two or three values next to each other;
    what goes on for longer is no step.
    """
    distinct = np.unique(value)
    starts = np.flatnonzero(np.diff(distinct, prepend=distinct[0] - 9) > 2)
    ends = np.append(starts[1:], len(distinct)) - 1
    return int((1 + (distinct[ends] - distinct[starts]) // 3).sum())
