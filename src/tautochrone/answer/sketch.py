"""A histogram in one line of text per source: a first look, logarithmic in both directions."""

import math
from collections.abc import Sequence

import numpy as np
from rich.table import Table
from rich.text import Text

from tautochrone.answer.series import Bins, Floats, Series, usual_size_ns
from tautochrone.base.units import format_duration

_BLOCKS = " ▁▂▃▄▅▆▇█"


def sketch(series: Sequence[Series], width: int) -> Table:
    """One line per series on a common logarithmic axis of ``width`` characters.

    With values below 0 the axis is logarithmic to both sides of 0. The height of a character is the logarithm
    of its count; a single sample is already visible.
    """
    least = min(int(one.bins.low_ns[0]) for one in series)
    knee = usual_size_ns(series) if least < 0 else 0.0
    low = least if knee else max(1, least)
    high = max(low + 1, *(one.maximum_ns for one in series))
    counts = [_columns(one.bins, low, high, width, knee) for one in series]
    most = max(max(line) for line in counts)
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for index, (one, line) in enumerate(zip(series, counts, strict=True)):
        left, right = (format_duration(low), format_duration(high)) if index == 0 else ("", "")
        text = Text("".join(_block(count, most) for count in line), style="cyan")
        table.add_row(one.source, Text(left, style="dim"), text, Text(right, style="dim"))
    return table


def _columns(bins: Bins, low: int, high: int, width: int, knee: float) -> list[int]:
    def bent(values: Floats) -> Floats:
        return np.sign(values) * np.log1p(np.abs(values) / knee) if knee else np.log(values)

    start, end = bent(np.array([low, high], np.float64))
    at = (bent(np.clip(bins.low_ns, low, high).astype(np.float64)) - start) / (end - start) * (width - 1)
    return [int(count) for count in np.bincount(at.astype(np.int64), weights=bins.count, minlength=width)]


def _block(count: int, most: int) -> str:
    if count == 0:
        return _BLOCKS[0]
    share = math.log(count + 1) / math.log(most + 1)
    return _BLOCKS[max(1, round(share * (len(_BLOCKS) - 1)))]
