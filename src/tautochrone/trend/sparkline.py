"""Values in one line of text, in their order."""

from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int) -> str:
    """One character for each value, the least lowest; of more than ``width`` the largest of neighbours.

    Equal values stand in the middle. Empty of none.
    """
    if not values:
        return ""
    columns = min(width, len(values))
    bounds = [at * len(values) // columns for at in range(columns + 1)]
    kept = [max(values[bounds[at] : bounds[at + 1]]) for at in range(columns)]
    low, high = min(kept), max(kept)
    if low == high:
        return _BLOCKS[len(_BLOCKS) // 2] * columns
    steps = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round((value - low) / (high - low) * steps)] for value in kept)
