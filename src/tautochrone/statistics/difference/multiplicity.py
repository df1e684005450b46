"""Many comparisons at once: by chance alone, one of twenty is below 0.05."""

from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float]) -> list[float]:
    """Each p adjusted so that comparing it with alpha keeps the chance of any false alarm at alpha.

    Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979.
    It asks nothing of how the comparisons depend on each other.

    Args:
        p: of each comparison, between 0 and 1, any order; may be empty.

    Returns:
        The adjusted ones in the same order, at most 1.

    Raises:
        ValueError: one is not between 0 and 1.
    """
    if any(not 0 <= one <= 1 for one in p):
        raise ValueError("a p-value lies between 0 and 1")
    order = np.argsort(p, kind="stable")
    steps = np.asarray(p, float)[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(p) else steps
    return [float(one) for one in adjusted]
