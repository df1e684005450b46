"""Many runs at once."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tautochrone.run.folder import Run


def read_runs(folders: Iterable[Path]) -> list[Run]:
    """The runs in these folders, in this order. What all of them know of the machine is in memory once.

    Raises:
        StoreError, DamagedError: a run can't be read.
    """
    runs: list[Run] = []
    facts: list[dict[str, Any]] = []
    for folder in folders:
        run = Run.read(folder)
        known = next((one for one in facts if one == run.manifest.facts), None)
        if known is None:
            facts.append(run.manifest.facts)
        else:
            run.manifest = replace(run.manifest, facts=known)
        runs.append(run)
    return runs
