"""Where the mean of a series changes: the segmentation of least squares with a penalty for each segment.

Killick, Fearnhead and Eckley (2012), "Optimal detection of changepoints with a linear computational cost",
Journal of the American Statistical Association 107: PELT, as the package ``ruptures`` has it (Truong, Oudre
and Vayatis, 2020, Signal Processing 167).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_Search = Callable[[Any, float, int], Any]


def segments(series: Floats, penalty: float, least_length: int = 2) -> list[int]:
    """The first position of each segment after the first one, ascending.

    Args:
        series: shape (n,).
        penalty: by how much each further segment must lessen the sum of squares.
        least_length: of a segment.
    """
    if len(series) < 2 * least_length or not may_change(series, penalty, least_length):
        return []
    before = np.asarray(
        compiled_search()(np.ascontiguousarray(series, np.float64)[:, None], penalty, least_length)
    )
    found = []
    position = int(before[len(series)])
    while position > 0:
        found.append(position)
        position = int(before[position])
    return found[::-1]


def may_change(series: Floats, penalty: float, least_length: int = 1) -> bool:
    """Whether it is worth searching: False only if no segmentation pays its penalty.

    If k changes lessen the sum of squares by more than k penalties, then at least one of the k + 1 segments
    contributes more than k / (k + 1) of a penalty, and that is at least a half.
    """
    sums = np.concatenate([[0.0], np.cumsum(series - series.mean())])
    length = np.arange(len(sums))[None, :] - np.arange(len(sums))[:, None]
    gain = (sums[None, :] - sums[:, None]) ** 2 / np.maximum(length, 1)
    return bool(gain[length >= least_length].max(initial=0.0) > penalty / 2)


@cache
def compiled_search() -> _Search:
    """The compiled search alone: the whole package imports statistics that take it a second."""
    from importlib.machinery import PathFinder
    from importlib.util import find_spec, module_from_spec

    package = find_spec("ruptures")
    places = [
        f"{place}/detection/_detection" for place in (package and package.submodule_search_locations) or ()
    ]
    spec = PathFinder.find_spec("ekcpd", places)
    if spec is None or spec.loader is None:
        return by_the_package
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        search: _Search = module.ekcpd_pelt_L2
    except (ImportError, AttributeError):
        return by_the_package
    return search


def by_the_package(signal: Any, penalty: float, least_length: int) -> list[int]:
    """The same through the package's front door, should another version of it be built differently."""
    import ruptures  # type: ignore[import-untyped]

    ends = ruptures.KernelCPD(kernel="linear", min_size=least_length).fit_predict(signal, pen=penalty)
    before = [0] * (len(signal) + 1)
    for first, last in zip([0, *ends[:-1]], ends, strict=True):
        before[last] = first
    return before
