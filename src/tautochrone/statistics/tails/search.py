"""Where a profile likelihood crosses its limit."""

import math
from collections.abc import Callable

_DOUBLINGS = 60
_TRIALS = 60
_CLOSE = 1e-3


def cross(drop: Callable[[float], float], top: float, step: float, allowed: float) -> float:
    """Where, going from the top in steps that double, the drop of a likelihood first passes what is allowed.

    Near its top a drop is a parabola, so its square root is close to a straight line, on which the crossing
    is looked for: by false position (the Illinois variant), and by halving where the drop is infinite on one
    side.

    Args:
        drop: how far the log-likelihood is below its top; grows on the way.
        top: where it is about 0.
        step: the first step; its sign is the direction.
        allowed: the drop that is looked for, above 0.

    Returns:
        The place, to about one part in a thousand of its distance from the top; infinite where the drop never
        is that large.
    """
    target = math.sqrt(allowed)

    def height(at: float) -> float:
        found = drop(at)
        return math.sqrt(max(0.0, found)) - target if not math.isnan(found) else math.inf

    inside, low = top, -target
    for _ in range(_DOUBLINGS):
        outside = inside + step
        high = height(outside)
        if high >= 0:
            break
        inside, low, step = outside, high, 2 * step
    else:
        return math.copysign(math.inf, step)
    side = 0
    for _ in range(_TRIALS):
        if abs(outside - inside) <= _CLOSE * abs(outside - top) or high == 0:
            break
        share = 0.5 if math.isinf(high) else low / (low - high)
        middle = inside + share * (outside - inside)
        found = height(middle)
        if abs(found) <= _CLOSE * target / 2:
            return middle
        if found < 0:
            inside, low = middle, found
            high, side = (high / 2 if side < 0 else high), -1
        else:
            outside, high = middle, found
            low, side = (low / 2 if side > 0 else low), 1
    return (inside + outside) / 2
