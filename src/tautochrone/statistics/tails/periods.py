"""Whether large samples come at regular intervals.

For events that come independently of each other the squared size of the Fourier transform of their instants,
over their number, is exponentially distributed with mean 1 at every frequency: Bartlett, The Spectral
Analysis of Point Processes, Journal of the Royal Statistical Society B 25, 1963. It is looked for a frequency
at which it is far larger, first in the instants, then, for periods that are short against the run, in the
intervals between events.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.tails.parts import Floats, Integers

P = 1e-4

_BINS = 1 << 17
_TURNS = 10
_NEIGHBOURS = 50
_OWN = 3
_MULTIPLES = 12
_HARMONICS = 12
_CHANCE = 4.0
_MOST = 1_000


@dataclass(frozen=True)
class Period:
    """A period in the instants of events.

    Attributes:
        samples: its length, in samples.
        share: how much of the events keep to it, about, from 0 to 1.
        p: how often independent events look as regular.
    """

    samples: float
    share: float
    p: float


def period(number: Integers, samples: int) -> Period | None:
    """The period of events.

    Args:
        number: the sample of each event, ascending, shape (k,).
        samples: how many there are in all.

    Returns:
        The longest period that stands out at `P`; None if none does, or with fewer than 8 events.
    """
    if len(number) < 8:
        return None
    gaps = np.diff(number)
    mean = samples / len(number)
    found = _search(number - number[0], samples, _TURNS)
    if found is None and samples > _BINS:
        # Intervals that are exponentially distributed have power at low frequencies, which are left out.
        reach = min(samples, int(20 * mean))
        found = _search(gaps[gaps < reach], reach, 20 * 16)
    return found


def _search(at: Integers, span: int, fewest_turns: int) -> Period | None:
    if len(at) < 8:
        return None
    # Whole samples in each bin, or the samples' own rate would show at a wrong frequency.
    width = -(-span // _BINS)
    bins = -(-span // width)
    wave = np.fft.rfft(np.bincount(at // width, minlength=bins))
    power = np.abs(wave) ** 2 / len(at)
    power = (power / np.maximum(1.0, _around(power)))[fewest_turns:]
    if not len(power):
        return None
    limit = -np.log(P / (2 * len(power)))
    high = np.flatnonzero(power > limit)
    if not len(high):
        return None
    first = int(high[0])
    while first + 1 < len(power) and power[first + 1] > power[first]:
        first += 1
    turns = fewest_turns + first
    harmonic = _refine(at, bins * width / turns, bins * width)
    length = _fundamental(at, harmonic)
    share = float(np.abs(wave[turns])) / len(at)
    return Period(length, min(1.0, share), float(min(1.0, 2 * len(power) * np.exp(-power[first]))))


def _around(power: Floats) -> Floats:
    """The mean of the neighbours of each frequency, without itself: bursts have power at all low ones."""
    reached = np.concatenate([[0.0], np.cumsum(power)])
    at = np.arange(len(power))

    def total(reach: int) -> tuple[Floats, Floats]:
        low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(power))
        return reached[high] - reached[low], (high - low).astype(np.float64)

    wide, wide_count = total(_NEIGHBOURS)
    own, own_count = total(_OWN)
    mean: Floats = (wide - own) / np.maximum(1.0, wide_count - own_count)
    return mean


def _refine(at: Integers, length: float, span: int) -> float:
    """The length near this one at which the events' phases agree best."""
    turns = span / length + np.linspace(-1, 1, 201)
    return float(span / turns[int(np.argmax(np.abs(_transform(at, turns / span))))])


def _fundamental(at: Integers, length: float) -> float:
    """The period of which this one is a part: events on a comb have the same power at all its harmonics.

    Of this length and those in a simple ratio to it the one whose harmonics, up to one frequency for all,
    have most power together; one that is counted must have more than chance gives.
    """
    best, most = length, -np.inf
    highest = min(0.5, _HARMONICS / length)
    # Bins that are no divisor of a period make it look twice or three times as long, too.
    for tried in sorted({length * n / d for n in range(1, _MULTIPLES + 1) for d in (1, 2, 3)}):
        harmonics = np.arange(1, int(highest * tried + 1e-6) + 1) / tried
        power = np.abs(_transform(at, harmonics)) ** 2 / min(len(at), _MOST)
        gained = float((power - _CHANCE).sum())
        if gained > most:
            best, most = tried, gained
    return best


def _transform(at: Integers, frequencies: Floats) -> npt.NDArray[np.complex128]:
    phases = np.exp(2j * np.pi * np.multiply.outer(frequencies, at[:_MOST]))
    summed: npt.NDArray[np.complex128] = phases.sum(axis=1)
    return summed
