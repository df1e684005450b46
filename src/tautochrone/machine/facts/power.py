"""How the machine saves power: idle states and clock frequency."""

import re
from dataclasses import dataclass

from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.tree import Tree

_CPUS = "/sys/devices/system/cpu"


@dataclass(frozen=True)
class PowerFacts:
    """Frequency scaling and idle states of the CPUs on line. Lists with a common prefix are parallel."""

    frequency_driver: str | None = None
    governors: tuple[str, ...] | None = None
    governor_cpus: tuple[str, ...] | None = None
    """For each of `governors` the CPUs that it governs."""
    minimum_khz: int | None = None
    maximum_khz: int | None = None
    boost: bool | None = None
    idle_driver: str | None = None
    idle_governor: str | None = None
    idle_states: tuple[str, ...] | None = None
    idle_exit_latencies_us: tuple[int, ...] | None = None
    """For each of `idle_states` the time to leave it, as the driver states it (the longest of all CPUs)."""
    idle_enabled_cpus: tuple[str, ...] | None = None
    """For each of `idle_states` the CPUs on which it is enabled; empty if on none."""


def observe_power(tree: Tree) -> PowerFacts:
    """Read cpufreq and cpuidle."""
    online = parse_cpu_list(tree.text(f"{_CPUS}/online")) or ()
    governed: dict[str, list[int]] = {}
    limits_khz: list[tuple[int | None, int | None]] = []
    for cpu in online:
        folder = f"{_CPUS}/cpu{cpu}/cpufreq"
        if governor := tree.text(f"{folder}/scaling_governor"):
            governed.setdefault(governor, []).append(cpu)
            limits_khz.append(
                (tree.integer(f"{folder}/cpuinfo_min_freq"), tree.integer(f"{folder}/cpuinfo_max_freq"))
            )
    latencies_us, enabled = _idle(tree, online)
    return PowerFacts(
        frequency_driver=tree.text(f"{_CPUS}/cpu{online[0] if online else 0}/cpufreq/scaling_driver"),
        governors=tuple(governed) or None,
        governor_cpus=tuple(format_cpu_list(cpus) for cpus in governed.values()) or None,
        minimum_khz=min((low for low, _ in limits_khz if low is not None), default=None),
        maximum_khz=max((high for _, high in limits_khz if high is not None), default=None),
        boost=_boost(tree),
        idle_driver=tree.text(f"{_CPUS}/cpuidle/current_driver"),
        idle_governor=tree.first_text(
            f"{_CPUS}/cpuidle/current_governor", f"{_CPUS}/cpuidle/current_governor_ro"
        ),
        idle_states=tuple(latencies_us) or None,
        idle_exit_latencies_us=tuple(latencies_us.values()) or None,
        idle_enabled_cpus=tuple(format_cpu_list(enabled[name]) for name in latencies_us) or None,
    )


def _boost(tree: Tree) -> bool | None:
    boost = tree.flag(f"{_CPUS}/cpufreq/boost")
    if boost is not None:
        return boost
    no_turbo = tree.flag(f"{_CPUS}/intel_pstate/no_turbo")
    return None if no_turbo is None else not no_turbo


def _idle(tree: Tree, online: tuple[int, ...]) -> tuple[dict[str, int], dict[str, list[int]]]:
    latencies_us: dict[str, int] = {}
    enabled: dict[str, list[int]] = {}
    for cpu in online:
        folder = f"{_CPUS}/cpu{cpu}/cpuidle"
        for state in (name for name in tree.names(folder) if re.fullmatch(r"state\d+", name)):
            name = tree.text(f"{folder}/{state}/name")
            latency_us = tree.integer(f"{folder}/{state}/latency")
            if name is None or latency_us is None:
                continue
            latencies_us[name] = max(latency_us, latencies_us.get(name, 0))
            enabled.setdefault(name, [])
            if not tree.flag(f"{folder}/{state}/disable"):
                enabled[name].append(cpu)
    return latencies_us, enabled
