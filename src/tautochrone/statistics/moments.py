"""Mean and standard deviation of integers up to 64 bits, without overflow and without losing digits."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

_CHUNK = 1 << 18
_LOW_HALF = np.uint64(0xFFFF_FFFF)
_HALF = np.uint64(32)


def mean_and_deviation(values: npt.NDArray[np.integer[Any]], minimum: int) -> tuple[float, float]:
    """Mean and standard deviation (of these samples: divided by n) of integers.

    Args:
        values: shape (n,), n at least 1, any integer type, any order.
        minimum: the smallest of them.

    Returns:
        The mean, correctly rounded, and the standard deviation.
    """
    # Distances from the minimum fit 64 unsigned bits whatever the signs, and keep small spreads exact.
    total = sum(_exact_sum(above) for above in _above(values, minimum))
    n = len(values)
    centre = total / n
    squares = math.fsum(_sum_of_squares(above, centre) for above in _above(values, minimum))
    return (minimum * n + total) / n, math.sqrt(squares / n)


def mean_and_deviation_of(
    values: npt.NDArray[np.integer[Any]], counts: npt.NDArray[np.integer[Any]]
) -> tuple[float, float]:
    """The same of distinct values, ascending, and how often each came; both of shape (m,), m at least 1."""
    minimum, n = int(values[0]), int(counts.sum())
    above = values.astype(np.uint64) - np.uint64(minimum % 2**64)
    if int(above[-1]) * n < 2**63:
        total = int(np.dot(above.astype(np.int64), counts))
    else:
        total = sum(a * k for a, k in zip(above.tolist(), counts.tolist(), strict=True))
    squares = (above.astype(np.float64) - total / n) ** 2 * counts
    chunks = (float(squares[at : at + _CHUNK].sum()) for at in range(0, len(squares), _CHUNK))
    return (minimum * n + total) / n, math.sqrt(math.fsum(chunks) / n)


def _above(values: npt.NDArray[np.integer[Any]], minimum: int) -> Iterator[npt.NDArray[np.uint64]]:
    """How far each value lies above the minimum, exactly, a chunk at a time."""
    base = np.uint64(minimum % 2**64)
    for at in range(0, len(values), _CHUNK):
        yield values[at : at + _CHUNK].astype(np.uint64) - base


def _exact_sum(chunk: npt.NDArray[np.uint64]) -> int:
    """The sum as one of Python's integers: the halves of 2**18 numbers can't overflow."""
    return (int((chunk >> _HALF).sum()) << 32) + int((chunk & _LOW_HALF).sum())


def _sum_of_squares(chunk: npt.NDArray[np.uint64], centre: float) -> float:
    from_centre = chunk.astype(np.float64) - centre
    return float(np.dot(from_centre, from_centre))
