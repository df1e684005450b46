"""Where runs are kept, and how one of several is named by its id. Loads nothing else, for who only looks."""

import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from tautochrone.base.errors import StoreError
from tautochrone.base.installation import user_folder

REPORTS = "report-"
"""What the names of reports begin with that lie beside the runs, files and folders, and that of no run."""

_NO_RUN = (".", REPORTS)


def default_store() -> Path:
    """Where runs are kept if nobody says otherwise: TAUTO_STORE, or the user's data folder."""
    named = os.environ.get("TAUTO_STORE")
    return Path(named) if named else user_folder("data") / "runs"


def run_folders(store: Path) -> list[Path]:
    """The folders of all runs, oldest first, whatever state they are in; none where there is no store.

    Raises:
        StoreError: the store can't be read.
    """
    return [store / name for name in run_names(store)]


def run_names(store: Path) -> list[str]:
    """Return the names of the same folders, which are the ids of the runs.

    Raises:
        StoreError: the store can't be read.
    """
    try:
        with os.scandir(store) as entries:
            names = [
                entry.name
                for entry in entries
                if is_text(entry.name) and not entry.name.startswith(_NO_RUN) and _is_folder(entry)
            ]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(
            f"The store {store} can't be read: {error.strerror}",
            "Name another with --store or TAUTO_STORE, or ask for access to this one.",
        ) from error
    return sorted(names, key=_age)


def is_text(name: str) -> bool:
    """Return whether a name is UTF-8, as those of all runs are; DuckDB reads no other."""
    return name.isascii() or all(not "\ud800" <= letter <= "\udfff" for letter in name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that leads round in a circle


def _age(name: str) -> tuple[str, str, str]:
    """Sorts ids by the moment they were made: the second, then its fraction, whatever the experiment."""
    moment, _, rest = name.partition("-")
    return moment, rest.rpartition("-")[2], name


# One of several things by its id, or by so much of it as tells it from the others.

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


def shortest_ids(ids: Sequence[str], among: Sequence[str] = ()) -> list[str]:
    """Return the shortest beginning of each id that no other id has, neither of these nor among others."""
    ordered = sorted({*ids, *among})
    found = []
    for one in ids:
        at = bisect_left(ordered, one)
        beside = (*ordered[max(0, at - 1) : at], *ordered[at + 1 : at + 2])
        found.append(one[: max(_SHORTEST_ID, *(_shared(one, other) + 1 for other in beside), 0)])
    return found


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
