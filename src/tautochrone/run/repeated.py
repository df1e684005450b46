"""Runs that repeat to the bit, as those of a guest whose time is counted: of them one tells all."""

import hashlib
import json
from collections.abc import Iterable

from tautochrone.run.folder import StoredRun


def each_once(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """Return the runs without those of a guest that repeat an earlier one to the bit.

    Samples that are counted twice would make a number surer than it is.
    """
    found: dict[str, StoredRun] = {}
    for run in runs:
        found.setdefault(_content(run), run)
    return list(found.values())


def _content(run: StoredRun) -> str:
    """Return what tells its content from that of other runs: its id, where no other one repeats it."""
    conditions = run.manifest.conditions
    virtual = conditions.virtual
    if virtual is None or not virtual.is_counted:
        return run.id
    told = [
        virtual.machine,
        conditions.load,
        conditions.deployment_name,
        run.manifest.experiment,
        run.manifest.header.parameters,
    ]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode())
    for file in sorted(run.path.glob("*.parquet")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
