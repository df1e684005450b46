"""Runs that repeat another one, as those of a guest whose time is counted: of them one tells all."""

import json
from collections.abc import Iterable

import msgspec

from tautochrone.run.folder import StoredRun

_FILES = ("code", "inputs", "task_set")
"""Conditions that are files of the user's, which may be others under the same name."""


def each_once(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """Return the runs without those of a guest that repeat an earlier one.

    They are the same to the bit, or nearly so, and samples that are counted twice would make a number surer
    than it is.
    """
    found: dict[str, StoredRun] = {}
    for run in runs:
        found.setdefault(_measured(run), run)
    return list(found.values())


def are_of_one_guest(runs: Iterable[StoredRun]) -> bool:
    """Return whether all were measured on one guest whose time is counted, whatever the user's code was."""
    virtuals = [run.manifest.conditions.virtual for run in runs]
    counted = [one for one in virtuals if one is not None and one.is_counted]
    guests = {msgspec.structs.replace(one, machine=None, image=None) for one in counted}
    return len(guests) == 1 and len(counted) == len(virtuals)


def _measured(run: StoredRun) -> str:
    """Return what tells a run from those that it repeats, or that repeat it: of a real machine its id."""
    conditions, header = run.manifest.conditions, run.manifest.header
    virtual = conditions.virtual
    if virtual is None or not virtual.is_counted:
        return run.id
    # Deployments boot it with parameters of their own; it is the same machine.
    told = [
        *(virtual.machine, virtual.image, virtual.command_line, conditions.load, conditions.deployment_name),
        *(run.manifest.experiment, header.parameters, *map(conditions.stored.get, _FILES)),
    ]
    return json.dumps(told, sort_keys=True, default=str)
