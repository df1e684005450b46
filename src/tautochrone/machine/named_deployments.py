"""The names of deployments: the six of delgado2020, and a user's own; loads nothing else, for completion."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tautochrone.base.errors import StoreError
from tautochrone.base.installation import user_folder

NAMES = ("CHM", "HM", "HMI", "M", "MI", "Single")
"""Of delgado2020, Table 1."""


def own_folder() -> Path:
    """Return where a user keeps deployments: ``deployments`` in the configuration folder of Tautochrone."""
    return user_folder("config") / "deployments"


def own_files() -> Iterator[Path]:
    """Yield the files in `own_folder`, sorted; none where a user has no home, or may not read it."""
    with suppress(StoreError, OSError):
        yield from sorted(own_folder().glob("*.toml"))


def without_a_file(name: str, known: Iterable[str]) -> str | None:
    """Return which of the known ones is meant; None: none of them.

    Capitals don't count, but where they alone tell it from a user's own.
    """
    own = [one.stem for one in own_files()]
    return next(
        (one for one in known if one == name or (one.lower() == name.lower() and name not in own)), None
    )
