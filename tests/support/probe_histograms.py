"""Rows as the probe keeps them with `--record histogram`: bins of each measure, and each new maximum of one.

As probe/record/histogram.c and probe/record/drain.c have them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.run.columns import UNKNOWN

Integers = npt.NDArray[np.int64]

_BINS, _EXTREMES = 0, 1
_SUB_BITS, _TOP = 8, 1 << 36
_COLUMNS = (("measure", "u64", "1"), ("low_ns", "i64", "ns"), ("high_ns", "i64", "ns"), ("count", "u64", "1"))


def record_histograms(header: dict[str, Any]) -> None:
    """Make the header of a run that keeps its rows that of one with histograms."""
    header["parameters"]["record"] = "histogram"
    columns = [{"name": name, "type": kind, "unit": unit, "meaning": ""} for name, kind, unit in _COLUMNS]
    (table,) = header["tables"]
    header["tables"] = [{"name": "histogram", "columns": columns}, {**table, "name": "extremes"}]
    header["measures"] = [{**measure, "table": "extremes"} for measure in header["measures"]]


def measured(header: Mapping[str, Any], rows: Integers) -> Iterator[Integers]:
    """Yield the values of each measure, `UNKNOWN` where a row lacks it."""
    names = [column["name"] for column in header["tables"][-1]["columns"]]
    for measure in header["measures"]:
        start, end = (rows[:, names.index(measure[moment])] for moment in ("from", "to"))
        yield np.where((start == UNKNOWN) | (end == UNKNOWN), UNKNOWN, end - start)


def parts(header: Mapping[str, Any], rows: list[Integers]) -> Iterator[tuple[int, int, Integers]]:
    """Yield blocks of rows, each with its table and source: maxima, and bins since the last time, twice."""
    for half in (0, 1):
        for source, own in enumerate(rows):
            rising = np.zeros(len(own), np.bool_)
            for values in measured(header, own):
                before = np.concatenate([[UNKNOWN], np.maximum.accumulate(values)])[:-1]
                rising |= values > before
            yield _EXTREMES, source, own[rising & (_half_of(own) == half)]
        for source, own in enumerate(rows):
            for at, values in enumerate(measured(header, own)):
                bins = _bins_of(values[(values != UNKNOWN) & (_half_of(own) == half)])
                yield _BINS, source, np.insert(bins, 0, at, axis=1)


def _half_of(rows: Integers) -> npt.NDArray[np.bool_]:
    return np.arange(len(rows)) >= len(rows) // 2


def _bins_of(values: Integers) -> Integers:
    """Return rows of lowest value, highest value and count."""
    size = np.where(values >= 0, values, -1 - values)  # negative ones lie mirrored
    shift = np.maximum(np.frexp(size.astype(np.float64))[1] - 1 - _SUB_BITS, 0)
    low = size >> shift << shift
    high = low + (np.int64(1) << shift) - 1
    low[size >= _TOP], high[size >= _TOP] = _TOP, np.iinfo(np.int64).max
    ends = (np.where(values >= 0, low, -1 - high), np.where(values >= 0, high, -1 - low))
    edges, counts = np.unique(np.column_stack(ends), axis=0, return_counts=True)
    return np.column_stack([edges, counts]).astype(np.int64)
