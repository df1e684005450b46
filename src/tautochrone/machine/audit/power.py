"""Checks of power saving."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.machine.facts import Facts

# C1 is left within about 2 us on common processors; the states below it take tens to hundreds.
_DEEP_US = 10
# Governors that leave the frequency where it is, unless the driver itself moves it.
_STEADY = {"performance", "userspace", "powersave"}
_SELF_MOVING_DRIVERS = {"intel_pstate", "amd-pstate-epp"}


def idle_states(facts: Facts) -> Finding:
    """How long does it take to leave the deepest idle state?"""
    power = facts.power
    question = Question(
        "idle-states",
        why="A CPU that sleeps deeply needs its exit latency before the first instruction of the woken "
        "thread. With C-states on, delgado2020 saw tasks of 100 us period miss deadlines.",
        source="Documentation/admin-guide/pm/cpuidle.rst; delgado2020 III.B, III.C; "
        "Documentation/core-api/real-time/kernel-configuration.rst (cap at C1)",
    )
    if not power.idle_states or power.idle_exit_latencies_us is None or power.idle_enabled_cpus is None:
        return _without_idle_driver(facts, question)
    allowed = set(parse_cpu_list(facts.cpu.allowed) or parse_cpu_list(facts.cpu.online) or ())
    enabled = [
        (name, latency_us)
        for name, latency_us, cpus in zip(
            power.idle_states, power.idle_exit_latencies_us, power.idle_enabled_cpus, strict=True
        )
        if allowed & set(parse_cpu_list(cpus) or ())
    ]
    states = ", ".join(f"{name} ({latency_us} us)" for name, latency_us in enabled) or "none"
    observed = (
        f"Enabled, with exit latency: {states}. Driver {power.idle_driver or 'unknown'}, governor "
        f"{power.idle_governor or 'unknown'}."
    )
    deepest_us = max((latency_us for _, latency_us in enabled), default=0)
    limit_us = power.latency_limit_us
    if limit_us is not None and 0 <= limit_us < deepest_us and deepest_us >= _DEEP_US:
        return question.note(
            f"A sleeping CPU could need up to {deepest_us} us to wake up, but programs forbid it now",
            f"{observed} Held to {limit_us} us at the moment; see latency-limit.",
            "It lasts as long as the program that holds it. To be independent of it: sudo cpupower idle-set "
            "-D "
            f"{_DEEP_US}",
        )
    if deepest_us >= _DEEP_US:
        return question.warning(
            f"A sleeping CPU needs up to {deepest_us} us to wake up",
            observed,
            f"Until the next boot: sudo cpupower idle-set -D {_DEEP_US}. For good: processor.max_cstate=1 "
            "intel_idle.max_cstate=1 (intel_idle.max_cstate=0 only hands over to the ACPI driver). While a "
            "program runs: it holds /dev/cpu_dma_latency open with 0 written to it.",
        )
    if facts.confinement.virtual:
        return question.note(
            "The guest's idle states are shallow; the host's are not visible",
            f"{observed} When the guest idles, the host decides how deeply the real CPU sleeps.",
            "Look on the host: cpupower idle-info",
        )
    return question.good("Idle states are left quickly", observed)


def frequency_governor(facts: Facts) -> Finding:
    """Does the clock frequency stay where it is?"""
    power = facts.power
    question = Question(
        "frequency-governor",
        why="A loop that sleeps most of the time looks idle to a governor that follows the load: the clock "
        "goes down, and the next cycle runs slower or waits for the change. What counts is that the "
        "frequency is constant.",
        source="Documentation/core-api/real-time/kernel-configuration.rst; "
        "Documentation/admin-guide/pm/cpufreq.rst",
    )
    if not power.governors:
        if facts.confinement.virtual:
            return question.note(
                "The host decides the clock frequency",
                "No frequency scaling is visible in this guest.",
                "Look on the host: cpupower frequency-info",
            )
        return question.note(
            "No frequency scaling by the kernel",
            f"{facts.reading.reason('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')}; the "
            "frequency is fixed, or the firmware changes it.",
            "Look into the firmware's power settings.",
            "likely",
        )
    pairs = zip(power.governors, power.governor_cpus or (), strict=False)
    observed = (
        f"{'; '.join(f'{name} on CPU {cpus}' for name, cpus in pairs)}. Driver "
        f"{power.frequency_driver or 'unknown'}."
    )
    moving = [name for name in power.governors if not _is_steady(name, power.frequency_driver)]
    if moving:
        return question.warning(
            f"The clock frequency follows the load ({', '.join(moving)})",
            observed,
            "Until the next boot: sudo cpupower frequency-set -g performance. For good: "
            "cpufreq.default_governor=performance",
        )
    if "powersave" in power.governors:
        return question.note(
            "The clock frequency is constant, but low",
            observed,
            "For speed: sudo cpupower frequency-set -g performance",
        )
    return question.good("The clock frequency does not follow the load", observed)


def boost(facts: Facts) -> Finding | None:
    """May the CPU clock itself above its base frequency?"""
    question = Question(
        "boost",
        why="Above the base frequency the clock depends on temperature and on what the other cores do. The "
        "same code takes longer when they are busy: good for the mean, bad for repeatable worst cases.",
        source="Documentation/admin-guide/pm/cpufreq.rst, Frequency Boost Support",
    )
    if facts.power.boost is None:
        return None
    if not facts.power.boost:
        return question.good("Frequency boost is off", "The clock stays at or below the base frequency.")
    switch = (
        "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
        if facts.power.frequency_driver == "intel_pstate"
        else "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
    )
    return question.note(
        "Frequency boost is on", "The clock may rise above the base frequency.", f"To try: {switch}"
    )


def latency_limit(facts: Facts) -> Finding | None:
    """Does somebody hold idle states back at this moment?"""
    power = facts.power
    question = Question(
        "latency-limit",
        why="A program that holds /dev/cpu_dma_latency keeps all CPUs out of idle states that take longer to "
        "leave. What is measured meanwhile holds only as long as that program runs.",
        source="Documentation/power/pm_qos_interface.rst; Documentation/ABI/testing/sysfs-devices-power, "
        "pm_qos_resume_latency_us",
    )
    held = []
    if power.latency_limit_us is not None and power.latency_limit_us >= 0:
        held.append(f"all CPUs to {power.latency_limit_us} us, through /dev/cpu_dma_latency")
    pairs = zip(power.resume_limits_us or (), power.resume_limit_cpus or (), strict=False)
    held += [f"CPU {cpus} to {limit_us} us, through pm_qos_resume_latency_us" for limit_us, cpus in pairs]
    if not held:
        return None
    return question.note(
        "Idle states are held back at the moment",
        f"Held: {'; '.join(held)}.",
        "If it should be so, let the product hold them back too. Who does it: sudo fuser -v "
        "/dev/cpu_dma_latency",
    )


def thermal_throttling(facts: Facts) -> Finding | None:
    """Was a CPU slowed because of heat?"""
    count = facts.power.thermal_throttles
    question = Question(
        "thermal-throttling",
        why="A CPU that is too hot lowers its clock or skips cycles, whatever the governor says, until it "
        "has "
        "cooled down. Code then takes longer than was ever measured in a cool cabinet.",
        source="Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle; "
        "Documentation/core-api/real-time/hardware.rst, Firmware",
    )
    if count is None:
        return None
    if count == 0:
        return question.good(
            "No CPU was slowed because of heat", "All thermal_throttle counts are 0 since boot."
        )
    return question.warning(
        "A CPU was slowed because of heat",
        f"{count:,} times since boot.",
        "Cool it better, or keep the clock below what heats it: sudo cpupower frequency-set -u FREQUENCY. "
        "Watch: "
        "grep . /sys/devices/system/cpu/cpu*/thermal_throttle/*_count",
        "likely",
    )


def _is_steady(governor: str, driver: str | None) -> bool:
    # With these drivers `powersave` is the name of their own load-following algorithm.
    return governor in _STEADY and not (governor == "powersave" and driver in _SELF_MOVING_DRIVERS)


def _without_idle_driver(facts: Facts, question: Question) -> Finding:
    if facts.kernel.parameter("idle") == "poll":
        return question.good("CPUs never sleep", "idle=poll is on the kernel's command line.")
    if facts.confinement.virtual:
        return question.note(
            "The host's idle states are not visible",
            "The guest has no idle states of its own. When it idles, the host decides how deeply the CPU "
            "sleeps.",
            "Look on the host: cpupower idle-info",
        )
    return question.unknown(
        "Idle states are unknown",
        f"{facts.reading.reason('/sys/devices/system/cpu/cpu0/cpuidle')}: the architecture's default is "
        "used, or the firmware decides.",
        "Look into the firmware's power settings (C-states), and try: sudo cpupower idle-info",
    )
