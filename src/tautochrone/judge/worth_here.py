"""What settings were worth on one machine, from the runs of a store.

Quick enough for `tauto doctor` with a thousand runs: of each its manifest alone is looked at, equal facts are
audited once, and samples are read only of the few pairs that were chosen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.judge.worth import Answers, MeasuredUnder, StatePair, find_pairs
from tautochrone.machine.audit import audit_facts
from tautochrone.machine.audit.finding import Finding
from tautochrone.run import files
from tautochrone.run.conditions import HeldDeployment
from tautochrone.run.facts import Facts
from tautochrone.run.manifest import RECOVERED, SEALED, Manifest

if TYPE_CHECKING:
    from tautochrone.judge.worth_measured import Worth


MOST_WEIGHED = 6
"""Pairs whose samples are read; of further findings nothing is said."""

# Of the parameters: how much was measured, and where, which the comparison of common sources sees to.
_NOT_ALIKE = {"count", "warmup", "ring_rows", "drain", "cpus", "cpu"}
# Of the facts: what grows while a machine runs.
_GROWING = {
    "confinement": {"stolen_seconds", "cpu_seconds"},
    "power": {"thermal_throttles"},
    "firmware": {"uptime_s", "smi_count"},
}


def worth_here(
    folders: Sequence[Path], facts: Facts, findings: Sequence[Finding], most: int = MOST_WEIGHED
) -> dict[str, Worth]:
    """What the settings behind these findings were worth on this machine.

    Runs that can't be read, lost samples or were measured on another machine are left out. Of the findings,
    the most urgent first, the first ``most`` with a pair are weighed.

    Returns:
        By code of a finding; empty where no two runs are alike but for something.
    """
    machine = _identity(facts)
    if not any(machine):
        return {}
    now = _answers_of(findings)
    known = dict(_described(folders, machine))
    pairs = find_pairs(known.values(), now)
    if not pairs:
        return {}
    from tautochrone.judge.worth_measured import not_attributable

    found: dict[str, Worth] = {}
    places = {folder.name: folder for folder in folders}
    weighed: dict[int, Worth | None] = {}
    for finding in findings:
        pair = pairs.get(finding.code)
        if pair is None:
            continue
        if len(pair.things) > 1:
            found[finding.code] = not_attributable(pair)
            continue
        if id(pair) not in weighed and len(weighed) < most:
            weighed[id(pair)] = _weigh(pair, places)
        if (worth := weighed.get(id(pair))) is not None:
            found[finding.code] = worth
    return found


def _weigh(pair: StatePair, places: Mapping[str, Path]) -> Worth | None:
    from tautochrone.judge.worth_measured import MOST_RUNS, weigh
    from tautochrone.run.folder import StoredRun

    try:
        before, after = (
            [StoredRun.read(places[one.run]) for one in side[:MOST_RUNS]]
            for side in (pair.before, pair.after)
        )
        return weigh(pair, before, after)
    except (StoreError, DamagedError):
        return None


def _described(folders: Iterable[Path], machine: Sequence[object]) -> Iterable[tuple[str, MeasuredUnder]]:
    audited: dict[str, Answers] = {}
    for folder in folders:
        try:
            manifest = Manifest.read(folder / files.MANIFEST)
            if _is_whole(manifest) and _identity(manifest.known) == tuple(machine):
                yield folder.name, _conditions(folder.name, manifest, audited)
        except (OSError, DamagedError):
            continue  # a run that can't be read says nothing; `tauto list` tells of it


def _is_whole(manifest: Manifest) -> bool:
    return (
        manifest.state in (SEALED, RECOVERED)
        and manifest.damage is None
        and not any(book.dropped for book in manifest.books)
    )


def _conditions(name: str, manifest: Manifest, audited: dict[str, Answers]) -> MeasuredUnder:
    conditions, header, known = manifest.conditions, manifest.header, manifest.known
    deployment = conditions.deployment or HeldDeployment()
    parameters = {key: value for key, value in manifest.parameters.items() if key not in _NOT_ALIKE}
    steady = {
        group: {key: value for key, value in values.items() if key not in _GROWING.get(group, ())}
        for group, values in manifest.facts.items()
    }
    text = json.dumps(steady, sort_keys=True)
    if text not in audited:
        audited[text] = _answers_of(audit_facts(known))
    alike = [manifest.experiment, parameters, conditions.load or "", header.version, conditions.target]
    return MeasuredUnder(
        run=name,
        created=manifest.created,
        alike=json.dumps(alike, sort_keys=True),
        load=conditions.load or "",
        kernel=known.kernel.release or "unknown",
        answers=audited[text],
        settings={
            one.knob: (one.before, one.obtained)
            for one in deployment.settings
            if one.before is not None  # not known of a deployment that was in force before
        },
        load_cpus=deployment.load,
        booted=known.kernel.command_line or "",
        about_a_loop=header.is_about_a_loop,
    )


def _identity(facts: Facts) -> tuple[object, ...]:
    """What tells machines apart: the firmware's names for it, the processor's."""
    machine = facts.machine
    return machine.vendor, machine.product, machine.board, facts.cpu.model


def _answers_of(findings: Iterable[Finding]) -> Answers:
    return {finding.code: (finding.level, finding.title) for finding in findings}
