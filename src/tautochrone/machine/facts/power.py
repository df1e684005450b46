"""How the machine saves power: idle states, clock frequency, heat."""

import re
from dataclasses import dataclass

from tautochrone.machine.cpulist import format_cpu_list, parse_cpu_list
from tautochrone.machine.tree import Tree

_CPUS = "/sys/devices/system/cpu"
LATENCY_LIMIT = "/dev/cpu_dma_latency"
_NO_LIMIT_US = 2_000_000_000  # PM_QOS_CPU_LATENCY_DEFAULT_VALUE in linux/pm_qos.h

FREQUENCY_FILES = ("scaling_governor", "cpuinfo_min_freq", "cpuinfo_max_freq")
THROTTLE_FILES = ("core_throttle_count", "package_throttle_count")


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
    latency_limit_us: int | None = None
    """The longest exit latency that programs allow now, by holding ``/dev/cpu_dma_latency``; -1 for any."""
    resume_limits_us: tuple[int, ...] | None = None
    """The exit latencies that single CPUs are held to (``pm_qos_resume_latency_us``); None if none is."""
    resume_limit_cpus: tuple[str, ...] | None = None
    """For each of `resume_limits_us` the CPUs."""
    thermal_throttles: int | None = None
    """How often a CPU was slowed because of heat since boot: the largest count of all CPUs on line (x86)."""


def observe_power(tree: Tree) -> PowerFacts:
    """Read cpufreq, cpuidle, what holds idle states back, and throttling."""
    online = online_cpus(tree)
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
    held = _resume_limits(tree, online)
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
        latency_limit_us=_latency_limit_us(tree),
        resume_limits_us=tuple(held) or None,
        resume_limit_cpus=tuple(format_cpu_list(cpus) for cpus in held.values()) or None,
        thermal_throttles=_throttles(tree, online),
    )


def online_cpus(tree: Tree) -> tuple[int, ...]:
    """The CPUs on line; empty if that can't be read."""
    return parse_cpu_list(tree.text(f"{_CPUS}/online")) or ()


def idle_folders(tree: Tree, cpu: int) -> list[str]:
    """The folders of the idle states of a CPU, shallowest first."""
    folder = f"{_CPUS}/cpu{cpu}/cpuidle"
    return [f"{folder}/{name}" for name in tree.names(folder) if re.fullmatch(r"state\d+", name)]


def describing_cpus(tree: Tree, online: tuple[int, ...]) -> dict[int, int]:
    """For each CPU the one whose idle states it shares: the first of its speed.

    Idle states come from tables of the processor or the board, one for each kind of core. So their names and
    latencies are read once per kind, and only whether they are disabled for each CPU.
    """
    first: dict[int | None, int] = {}
    return {cpu: first.setdefault(tree.integer(f"{_CPUS}/cpu{cpu}/cpu_capacity"), cpu) for cpu in online}


def _boost(tree: Tree) -> bool | None:
    boost = tree.flag(f"{_CPUS}/cpufreq/boost")
    if boost is not None:
        return boost
    no_turbo = tree.flag(f"{_CPUS}/intel_pstate/no_turbo")
    return None if no_turbo is None else not no_turbo


def _idle(tree: Tree, online: tuple[int, ...]) -> tuple[dict[str, int], dict[str, list[int]]]:
    latencies_us: dict[str, int] = {}
    enabled: dict[str, list[int]] = {}
    described: dict[str, tuple[str, int] | None] = {}
    for cpu, describing in describing_cpus(tree, online).items():
        for folder in idle_folders(tree, cpu):
            model = folder.replace(f"/cpu{cpu}/", f"/cpu{describing}/")
            if model not in described:
                described[model] = _state(tree, model)
            state = described[model] or _state(tree, folder)
            if state is None:
                continue
            name, latency_us = state
            latencies_us[name] = max(latency_us, latencies_us.get(name, 0))
            enabled.setdefault(name, [])
            if not tree.flag(f"{folder}/disable"):
                enabled[name].append(cpu)
    return latencies_us, enabled


def _state(tree: Tree, folder: str) -> tuple[str, int] | None:
    name, latency_us = tree.text(f"{folder}/name"), tree.integer(f"{folder}/latency")
    return None if name is None or latency_us is None else (name, latency_us)


def _latency_limit_us(tree: Tree) -> int | None:
    # Opening the device asks for the default, which is no limit; so to look changes nothing.
    data = tree.data(LATENCY_LIMIT)
    if data is None or len(data) != 4:
        return None
    limit_us = int.from_bytes(data, "little", signed=True)
    return -1 if limit_us >= _NO_LIMIT_US else limit_us


def _resume_limits(tree: Tree, online: tuple[int, ...]) -> dict[int, list[int]]:
    """Limit -> CPUs that are held to it. "n/a" stands for none at all, 0 for any."""
    held: dict[int, list[int]] = {}
    for cpu in online:
        text = tree.text(f"{_CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us")
        if text == "n/a":
            held.setdefault(0, []).append(cpu)
        elif text is not None and text.isdecimal() and int(text) > 0:
            held.setdefault(int(text), []).append(cpu)
    return held


def _throttles(tree: Tree, online: tuple[int, ...]) -> int | None:
    counts = [
        tree.integer(f"{_CPUS}/cpu{cpu}/thermal_throttle/{name}") for cpu in online for name in THROTTLE_FILES
    ]
    known = [count for count in counts if count is not None]
    return max(known, default=None)
