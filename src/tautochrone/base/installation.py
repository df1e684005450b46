"""What is installed here: which version, and where it keeps a user's files."""

from pathlib import Path
from typing import Literal

from tautochrone.base.errors import StoreError

_VARIABLES = {
    "data": "XDG_DATA_HOME",
    "config": "XDG_CONFIG_HOME",
    "cache": "XDG_CACHE_HOME",
    "state": "XDG_STATE_HOME",
}


def user_folder(kind: Literal["data", "config", "cache", "state"]) -> Path:
    """Return tauto's own folder of a kind, which need not be there yet.

    Raises:
        StoreError: this user has no home directory, as a number in a container may have none.
    """
    import platformdirs

    try:
        return Path(getattr(platformdirs, f"user_{kind}_path")("tautochrone"))
    except RuntimeError as error:
        raise StoreError(
            "This user has no home directory, in which tauto keeps its files",
            f"Set HOME, or {_VARIABLES[kind]}, to a folder that is this user's"
            f"{'; or name a store, with --store or TAUTO_STORE' if kind == 'data' else ''}.",
        ) from error


def own_version() -> str | None:
    """Return the version as it was installed; None: it runs from its sources alone."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tautochrone")
    except PackageNotFoundError:
        return None
