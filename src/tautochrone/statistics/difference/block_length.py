"""How long blocks of neighbouring samples must be for a block bootstrap."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]


def ranks(values: Integers) -> Floats:
    """The rank of each sample, from 1; ties share their mean. Shape (n,) both."""
    _, position, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    found: Floats = (last - (count - 1) / 2)[position]
    return found


def autocovariance(series: Floats, lags: int) -> Floats:
    """Mean product of a sample with the one so many places later, both less the mean; shape (lags + 1,).

    Divided by the number of samples at every lag, as is usual (the estimate is then never indefinite).
    """
    size = 1 << (len(series) + lags).bit_length()
    spectrum = np.fft.rfft(series - series.mean(), size)
    products = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, size)
    found: Floats = products[: lags + 1] / len(series)
    return found


def block_length(series: Floats, total: int | None = None) -> float:
    """The block length that estimates the variance of a mean best, for the circular block bootstrap.

    Politis and White, Automatic Block-Length Selection for the Dependent Bootstrap, Econometric Reviews 23,
    2004, section 3, with the correction of Patton, Politis and White, Econometric Reviews 28, 2009. The lag
    from which on nothing is significant is found as in the program of these authors.

    Args:
        series: samples in the order in which they were taken, shape (n,), n at least 10.
        total: the length is for so many samples that go on like these; None: for these.

    Returns:
        A number of samples, at least 1; at most a third of ``total``, and 3 sqrt(``total``).
    """
    n, total = len(series), total or len(series)
    window = max(5, int(math.log10(n)))
    farthest = min(math.ceil(math.sqrt(n)) + window, n - 2)
    covariance = autocovariance(series, farthest)
    if covariance[0] <= 0:
        return 1.0
    m = _significant_lags(series, covariance, window)
    lag = np.arange(1, m + 1)
    taper = np.minimum(1.0, 2 * (1 - lag / m))  # the flat-top window of Politis and Romano (1995)
    weighted = 2 * taper * covariance[1 : m + 1]
    long_run = covariance[0] + weighted.sum()
    if long_run <= 0:
        return 1.0
    ratio = 2 * float((weighted * lag).sum()) ** 2 / (4 / 3 * long_run**2)
    longest = math.ceil(min(3 * math.sqrt(total), total / 3))
    return max(1.0, min(math.cbrt(ratio * total), longest))


def _significant_lags(series: Floats, covariance: Floats, window: int) -> int:
    """Twice the first lag from which on ``window`` correlations are not significant."""
    n, farthest = len(series), len(covariance) - 1
    squares = np.cumsum((series - series.mean()) ** 2)
    lag = np.arange(farthest + 1)
    beyond, before = squares[-1] - squares[lag], squares[n - 2 - lag]
    scale = np.sqrt(np.maximum(beyond * before, np.finfo(float).tiny))
    insignificant = np.abs(covariance) * n / scale < 2 * math.sqrt(math.log10(n) / n)
    together = np.lib.stride_tricks.sliding_window_view(insignificant[:-1], window).all(axis=1)
    if not together.any():
        return farthest
    return min(2 * max(int(together.argmax()), 1), farthest)
