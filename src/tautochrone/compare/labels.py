"""What the sides are called: letters, and in as few words as will do what each is."""

from collections.abc import Sequence

from tautochrone.answer.labels import label_runs
from tautochrone.judge.comparison.side import Side

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(at: int) -> str:
    """``A``, …, ``Z``, ``S27``."""
    return LETTERS[at] if at < len(LETTERS) else f"S{at + 1}"


def labels(sides: Sequence[Side]) -> list[str]:
    """One for each side, after its first run; different ones where the sides differ."""
    return label_runs([side.manifests[0] for side in sides])
