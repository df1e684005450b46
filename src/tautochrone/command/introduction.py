"""Before measuring: on what."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from tautochrone.run.facts import Facts


def introduce(console: Console, facts: Facts) -> None:
    """Say what is going to be measured on."""
    cpu, kernel, confinement = facts.cpu, facts.kernel, facts.confinement
    places = (confinement.hypervisor, confinement.container)
    place = next((name for name in places if name not in (None, "none")), None)
    parts = [
        f"{cpu.model or 'CPU of unknown model'}, {cpu.online_count or 'N/A'} CPUs on line",
        f"Linux {kernel.release}, preemption {kernel.preemption or 'not known'}",
        f"clock source {facts.clock.source or 'not known'}",
    ]
    if place:
        parts.append(f"inside {place}")
    console.print("\n".join(parts), highlight=False, style="dim")
