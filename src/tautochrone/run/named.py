"""Finding one of several things by its id, or by so much of it as tells it from the others."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from tautochrone.base.errors import StoreError

_SHOWN = 5
_SHORTEST_ID = 16  # the instant; the rest only where it takes more to be the only one
_T = TypeVar("_T")


def one_named(there: Mapping[str, _T], name: str, kind: str) -> _T | None:
    """Return the one with this id, or the only one whose id begins with it; None if there is none.

    Args:
        there: by id.
        kind: what these are, for people, in the plural.

    Raises:
        StoreError: several begin with it.
    """
    if name in there:
        return there[name]
    matching = [one for one in there if one.startswith(name)] if name else []
    if len(matching) > 1:
        raise StoreError(
            f"{len(matching)} {kind} begin with '{name}': {some_of(matching)}", "Write more of it."
        )
    return there[matching[0]] if matching else None


def shortest_ids(ids: Sequence[str]) -> list[str]:
    """Return the shortest beginning of each id that no other id has."""
    ordered = sorted(set(ids))
    shared = [0, *(_shared(*pair) for pair in pairwise(ordered)), 0]
    least = {one: max(_SHORTEST_ID, shared[at] + 1, shared[at + 1] + 1) for at, one in enumerate(ordered)}
    return [one[: least[one]] for one in ids]


def _shared(one: str, other: str) -> int:
    """Return how many letters two ids have in common at their beginning."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )


def some_of(ids: Sequence[str]) -> str:
    """Return the last few, and how many there are more."""
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[-_SHOWN:]) + more


def latest_named(there: Mapping[str, object], otherwise: str) -> str:
    """Advice for who named none of these: the latest of them, or what to do where there is none."""
    names = list(there)[-_SHOWN:]
    return f"There are: {', '.join(names)}." if names else otherwise
