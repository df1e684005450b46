"""Where tauto keeps a user's files: in the folders that the system has for that, below the home directory."""

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
