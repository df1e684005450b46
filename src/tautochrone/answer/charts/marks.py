"""Which values of a summary are marked on a chart of rows."""

from tautochrone.statistics.summary import Summary

_SHOWN = {0.5: "median", 0.99: "99 %"}


def marks(summary: Summary) -> list[tuple[str, int]]:
    """Median, 99 % and worst, in ns. A quantile for which there are too few samples has no mark."""
    quantiles = [
        (_SHOWN[quantile.q], quantile.value)
        for quantile in summary.quantiles
        if quantile.q in _SHOWN and quantile.value is not None
    ]
    return [*quantiles, ("worst", summary.maximum)]
