"""Where runs are kept: the folder, and the folders in it. Loads nothing else, for those who only look."""

import os
from pathlib import Path

from tautochrone.base.errors import StoreError
from tautochrone.base.user_folders import user_folder

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
