"""The audit of every machine that runs were measured on, from the facts stored with them."""

from collections import Counter
from collections.abc import Sequence

from tautochrone.machine.audit import audit_facts
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.facts import Facts
from tautochrone.run.manifest import Manifest


def audit_runs(manifests: Sequence[Manifest]) -> dict[str, tuple[Finding, ...]]:
    """The findings of each machine and kernel, by a name that tells them apart; of servers' machines, too.

    A machine whose findings changed between two runs is there twice, told apart by the time.
    """
    found: dict[tuple[str, tuple[Finding, ...]], str] = {}
    for manifest in manifests:
        when = manifest.created[:19].replace("T", " ")
        for machine, facts in (
            (machine_name(manifest), manifest.known if manifest.facts else None),
            (server_name(manifest), _of_server(manifest)),
        ):
            if facts is not None:
                found.setdefault((machine, audit_facts(facts)), when)
    often = Counter(machine for machine, _ in found)
    return {
        machine if often[machine] == 1 else f"{machine}, {when} UTC": findings
        for (machine, findings), when in found.items()
    }


def machine_name(manifest: Manifest) -> str:
    """How it was reached if it was not this one, product or else CPU model, and kernel."""
    return _name(manifest.conditions.place, manifest.known) or "machine not known"


def server_name(manifest: Manifest) -> str:
    """The same of the server's machine; empty where there is no other one."""
    where = manifest.conditions.server_place
    return _name(f"the server's machine {where}", _of_server(manifest) or Facts()) if where else ""


def _of_server(manifest: Manifest) -> Facts | None:
    stored = manifest.conditions.server_facts
    return Facts.from_table(stored) if stored else None


def _name(where: str, facts: Facts) -> str:
    release = " ".join(part for part in (facts.kernel.name, facts.kernel.release) if part)
    return ", ".join(part for part in (where, facts.machine.product or facts.cpu.model, release) if part)


def one_of_each(manifests: Sequence[Manifest]) -> list[Manifest]:
    """One run of each machine and kernel, if there is one without a deployment: how it is by itself."""
    found: dict[tuple[str, str], Manifest] = {}
    for manifest in sorted(manifests, key=lambda one: one.conditions.deployment is not None):
        found.setdefault((machine_name(manifest), server_name(manifest)), manifest)
    return list(found.values())
