"""The names of deployments: the six of delgado2020, and a user's own; loads nothing else, for completion."""

from collections.abc import Iterator
from pathlib import Path

NAMES = ("CHM", "HM", "HMI", "M", "MI", "Single")
"""Of delgado2020, Table 1."""


def own_folder() -> Path:
    """Return where a user keeps deployments: ``deployments`` in the configuration folder of Tautochrone."""
    from platformdirs import user_config_path

    return user_config_path("tautochrone") / "deployments"


def own_files() -> Iterator[Path]:
    """Yield the files in `own_folder`, sorted."""
    yield from sorted(own_folder().glob("*.toml"))
