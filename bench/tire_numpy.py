"""The tire (docs/tire.md) as a good NumPy program computes it: to the last bit as the probe does.

Whole arrays and no loop over masses; each spring is computed once; every result goes into an array that is
there already; positions and velocities lie in one array of four rows, so that one call serves them all.

`python bench/tire_numpy.py NODES STEPS` prints the seconds it took and the checksum of the positions.
"""

import sys
import time
from dataclasses import dataclass

import google_crc32c
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_RADIUS_M, _DROP_M, _GRAVITY_M_S2 = 0.3, 0.5, 9.81
_RING_SHORTENED, _DAMPING_FACTOR, _MOST_SPRINGS = 0.25, 1.5, 6
_LEAST_LENGTH_SQUARED = 1e-300
_PI = 3.14159265358979323846


@dataclass(frozen=True)
class Spring:
    """`struct tire_spring` of the probe: what a spring adds to a velocity in one step."""

    stiffness: float
    pull: float
    damping: float


class Tire:
    """Rows x, y, vx, vy; a column for each mass, and the first one once more at the end."""

    def __init__(self, nodes: int, step_s: float = 0.01) -> None:
        stiffness = 2 / (_MOST_SPRINGS * _DAMPING_FACTOR * step_s * step_s) / 2
        sine = float(_sine(np.array(_PI / nodes)))
        chord = 2 * _RADIUS_M * sine
        tension = _RING_SHORTENED * chord
        damping = _DAMPING_FACTOR * step_s * stiffness * step_s
        push = step_s * stiffness
        self.ring = Spring(push, push * (chord - tension), damping)
        self.spoke = Spring(push, push * (2 * _RADIUS_M + 2 * tension * sine), damping)
        self.step_s, self.fall = step_s, step_s * _GRAVITY_M_S2
        self._now = np.zeros((4, nodes + 1))
        self._now[:2, :-1] = _places(nodes)
        self._next = np.empty_like(self._now)
        self._rings = np.empty((2, nodes + 1))  # the last one stands before the first one, too
        self._spokes = np.empty((2, nodes // 2))
        self._between = np.empty((4, nodes))
        self._length = np.empty(nodes)
        self._square = np.empty(nodes)
        self._above = np.empty(nodes, dtype=bool)

    @property
    def state(self) -> Array:
        return self._now[:, :-1]

    @property
    def checksum(self) -> int:
        """As the probe's stream has it: all x, then all y."""
        return int(google_crc32c.value(np.ascontiguousarray(self.state[:2], dtype="<f8").tobytes()))

    def step(self) -> None:
        now, new, half = self._now, self._next, self._spokes.shape[1]
        now[:, -1] = now[:, 0]
        self._pull(self.ring, now[:, :-1], now[:, 1:], self._rings[:, 1:])
        self._pull(self.spoke, now[:, :half], now[:, half:-1], self._spokes)
        self._rings[:, 0] = self._rings[:, -1]
        change = self._between[:2]
        np.subtract(self._rings[:, 1:], self._rings[:, :-1], out=change)
        change[:, :half] += self._spokes
        change[:, half:] -= self._spokes
        change[1] -= self.fall
        np.multiply(now[2:], self.step_s, out=new[2:])
        np.add(now[:2], new[2:], out=new[:2])
        np.add(now[2:, :-1], change, out=new[2:, :-1])
        np.greater(new[1, :-1], 0, out=self._above)
        if not self._above.all():
            self._rest_on_the_floor(new)
        self._now, self._next = new, now

    def _pull(self, spring: Spring, a: Array, b: Array, change: Array) -> None:
        count = a.shape[1]
        between, length, square = self._between[:, :count], self._length[:count], self._square[:count]
        np.subtract(b, a, out=between)
        np.multiply(between[0], between[0], out=length)
        np.multiply(between[1], between[1], out=square)
        length += square
        length += _LEAST_LENGTH_SQUARED
        np.sqrt(length, out=length)
        np.divide(spring.pull, length, out=length)
        np.subtract(spring.stiffness, length, out=length)
        np.multiply(between[:2], length, out=change)
        between[2:] *= spring.damping
        change += between[2:]

    def _rest_on_the_floor(self, new: Array) -> None:
        below = ~self._above
        y, vy = new[1, :-1], new[3, :-1]
        y[below] = 0
        vy[below & ~(vy > 0)] = 0


def _sine(angle: Array) -> Array:
    """The probe's own, term by term: that of a C library differs from one to the next."""
    square, total = angle * angle, np.ones_like(angle)
    for term in range(18, 1, -2):
        total = 1 - square / (term * (term + 1)) * total
    return angle * total


def _cosine(angle: Array) -> Array:
    square, total = angle * angle, np.ones_like(angle)
    for term in range(18, 1, -2):
        total = 1 - square / (term * (term - 1)) * total
    return total


def _places(nodes: int) -> Array:
    """All from one eighth of the circle, mass 0 rightmost, so that left and right are mirror images."""
    quarter = nodes // 4
    along = np.arange(quarter)
    back = quarter - along
    angle = 2 * _PI * np.minimum(along, back) / nodes
    less = _RADIUS_M * _sine(angle)
    more = np.where(along == back, less, _RADIUS_M * _cosine(angle))
    forth, side = np.where(along < back, more, less), np.where(along < back, less, more)
    middle = _DROP_M + _RADIUS_M
    return np.array(
        [
            np.concatenate([forth, -side, -forth, side]),
            np.concatenate([middle + side, middle + forth, middle - side, middle - forth]),
        ]
    )


def main() -> None:
    nodes, steps = int(sys.argv[1]), int(sys.argv[2])
    tire = Tire(nodes)
    begin = time.perf_counter()
    for _ in range(steps):
        tire.step()
    print(time.perf_counter() - begin, tire.checksum)


if __name__ == "__main__":
    main()
