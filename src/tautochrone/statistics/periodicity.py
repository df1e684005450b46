"""How evenly something periodic comes: errors of the period, early and late.

Koh and Choi (2013, section 3.1) give the mean error as a size, plus or minus. With an absolute schedule the
signed mean is close to 0 whatever happens, because a late start makes one period too long and the next one
too short.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Periodicity:
    """The errors of a period in nanoseconds.

    Attributes:
        count: how many errors.
        mean_size_ns: mean of their absolute values; what the paper calls the mean error.
        deviation_ns: standard deviation of the signed errors, n - 1 in the denominator; None of one value.
        earliest_ns: the most negative one (a period that was too short), 0 if there is none.
        latest_ns: the most positive one (a period that was too long), 0 if there is none.
    """

    count: int
    mean_size_ns: float
    deviation_ns: float | None
    earliest_ns: int
    latest_ns: int

    @property
    def worst_ns(self) -> int:
        """The larger of the two sizes."""
        return max(-self.earliest_ns, self.latest_ns)


def periodicity(errors_ns: npt.NDArray[np.integer[Any]]) -> Periodicity | None:
    """Summarise signed errors, shape (n,), in nanoseconds; None if there are none."""
    if len(errors_ns) == 0:
        return None
    return Periodicity(
        count=len(errors_ns),
        mean_size_ns=float(np.abs(errors_ns).mean()),
        deviation_ns=float(errors_ns.std(ddof=1)) if len(errors_ns) > 1 else None,
        earliest_ns=min(0, int(errors_ns.min())),
        latest_ns=max(0, int(errors_ns.max())),
    )
