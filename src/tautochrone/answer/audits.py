"""The audit of every machine that runs were measured on, from the facts stored with them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tautochrone.judge.circumstances import server_facts, server_of, target_of
from tautochrone.machine.audit import Finding, audit_facts
from tautochrone.machine.facts import Facts
from tautochrone.run.manifest import Manifest


def audit_runs(manifests: Sequence[Manifest]) -> dict[str, tuple[Finding, ...]]:
    """The findings of each machine and kernel, by a name that tells them apart; of servers' machines, too.

    A machine whose findings changed between two runs is there twice, told apart by the time.
    """
    found: dict[tuple[str, tuple[Finding, ...]], str] = {}
    for manifest in manifests:
        when = manifest.created[:19].replace("T", " ")
        for machine, facts in (
            (machine_name(manifest), manifest.facts),
            (server_name(manifest), server_facts(manifest.conditions)),
        ):
            if facts:
                found.setdefault((machine, audit_facts(Facts.from_table(facts))), when)
    often = Counter(machine for machine, _ in found)
    return {
        machine if often[machine] == 1 else f"{machine}, {when} UTC": findings
        for (machine, findings), when in found.items()
    }


def machine_name(manifest: Manifest) -> str:
    """How it was reached if it was not this one, product or else CPU model, and kernel."""
    return _name(target_of(manifest.conditions), manifest.facts) or "machine not known"


def server_name(manifest: Manifest) -> str:
    """The same of the server's machine; empty where there is no other one."""
    where = server_of(manifest.conditions)
    return _name(f"the server's machine {where}", server_facts(manifest.conditions)) if where else ""


def _name(where: str, facts: Mapping[str, Any]) -> str:
    machine = (facts.get("machine") or {}).get("product") or (facts.get("cpu") or {}).get("model")
    kernel = facts.get("kernel") or {}
    release = " ".join(str(kernel[key]) for key in ("name", "release") if kernel.get(key))
    return ", ".join(str(part) for part in (where, machine, release) if part)


def one_of_each(manifests: Sequence[Manifest]) -> list[Manifest]:
    """One run of each machine and kernel, if there is one without a deployment: how it is by itself."""
    found: dict[tuple[str, str], Manifest] = {}
    for manifest in sorted(manifests, key=lambda one: isinstance(one.conditions.get("deployment"), dict)):
        found.setdefault((machine_name(manifest), server_name(manifest)), manifest)
    return list(found.values())
