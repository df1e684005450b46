"""The audit of every machine that runs were measured on, from the facts stored with them."""

from collections import Counter
from collections.abc import Sequence

from tautochrone.machine.audit import Finding, audit_facts
from tautochrone.machine.facts import Facts
from tautochrone.report.views.conditions import where
from tautochrone.run.manifest import Manifest


def audit_runs(manifests: Sequence[Manifest]) -> dict[str, tuple[Finding, ...]]:
    """The findings of each machine and kernel, by a name that tells them apart.

    A machine whose findings changed between two runs is there twice, told apart by the time.
    """
    found: dict[tuple[str, tuple[Finding, ...]], str] = {}
    for manifest in manifests:
        if manifest.facts:
            findings = audit_facts(Facts.from_table(manifest.facts))
            when = manifest.created[:19].replace("T", " ")
            found.setdefault((machine_name(manifest), findings), when)
    often = Counter(machine for machine, _ in found)
    return {
        machine if often[machine] == 1 else f"{machine}, {when} UTC": findings
        for (machine, findings), when in found.items()
    }


def machine_name(manifest: Manifest) -> str:
    """How it was reached if it was not this one, product or else CPU model, and kernel."""
    facts = manifest.facts
    machine = (facts.get("machine") or {}).get("product") or (facts.get("cpu") or {}).get("model")
    kernel = facts.get("kernel") or {}
    release = " ".join(str(kernel[key]) for key in ("name", "release") if kernel.get(key))
    named = (where(manifest), machine, release)
    return ", ".join(str(part) for part in named if part) or "machine not known"


def one_of_each(manifests: Sequence[Manifest]) -> list[Manifest]:
    """One run of each machine and kernel, if there is one without a deployment: how it is by itself."""
    found: dict[str, Manifest] = {}
    for manifest in sorted(manifests, key=lambda one: isinstance(one.conditions.get("deployment"), dict)):
        found.setdefault(machine_name(manifest), manifest)
    return list(found.values())
