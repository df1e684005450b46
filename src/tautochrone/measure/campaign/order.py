"""In which order a plan's cases are measured: randomised complete blocks.

Each repetition is a block that holds every point once (Montgomery, Design and Analysis of Experiments,
chapter 4), so that what drifts meanwhile (temperature, other users, fragmented memory) falls on all points
alike and is not taken for a difference between them.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from secrets import randbits

from tautochrone.measure.document.document import Order

SEED_BITS = 32


@dataclass(frozen=True)
class Slot:
    """One place in the order.

    Attributes:
        position: in the whole, from 1.
        block: the repetition, from 1.
        key: of the point.
    """

    position: int
    block: int
    key: str


def draw_seed() -> int:
    """A seed that nobody chose."""
    return randbits(SEED_BITS)


def arrange(keys: Sequence[str], repetitions: int, seed: int, order: Order = "random") -> tuple[Slot, ...]:
    """Return all slots, block after block.

    Within a block the points stand by the SHA-256 of "seed:block:key", in ASCII. So the order is the same
    with every version of Python, and that of a block does not depend on how many blocks follow.

    Args:
        keys: of the points, all different.
        repetitions: how many blocks.
        seed: of the order.
        order: "listed" leaves each block as the keys stand.
    """
    slots: list[Slot] = []
    for block in range(1, repetitions + 1):
        shuffled = sorted(keys, key=lambda key, block=block: _rank(seed, block, key))  # type: ignore[misc]
        for key in keys if order == "listed" else shuffled:
            slots.append(Slot(len(slots) + 1, block, key))
    return tuple(slots)


def _rank(seed: int, block: int, key: str) -> bytes:
    return hashlib.sha256(f"{seed}:{block}:{key}".encode("ascii")).digest()
