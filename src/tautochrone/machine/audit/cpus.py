"""Checks of the CPUs: how they save power, what they share, which of them may be used."""

import math

from tautochrone.base.words import plural
from tautochrone.machine.audit.finding import AuditAnswer, Check, good, note, unread, warning
from tautochrone.machine.cpulist import CPUS, format_cpu_list, parse_cpu_list
from tautochrone.run.facts import Facts

_RT_GUIDE = "Documentation/core-api/real-time"
_SYSFS = "Documentation/ABI/testing/sysfs-devices-system-cpu"
# C1 is left within about 2 us on common processors; the states below it take tens to hundreds.
_DEEP_US = 10
# Governors that leave the frequency where it is, unless the driver itself moves it.
_STEADY = {"performance", "userspace", "powersave"}
_SELF_MOVING_DRIVERS = {"intel_pstate", "amd-pstate-epp"}
_SHOWN = 4


_SHALLOW = (
    "processor.max_cstate=1 intel_idle.max_cstate=1 (intel_idle.max_cstate=0 only hands over to the ACPI "
    "driver)"
)
_SHALLOW_ELSEWHERE = "cpuidle.off=1, with which an idle CPU only waits for an interrupt (WFI on Arm)"


def _may_be_x86(facts: Facts) -> bool:
    return facts.machine.architecture in (None, "x86_64", "i686", "i386")


def _polls(facts: Facts) -> str:
    """Return by which parameter idle CPUs poll; empty: they do not."""
    if _may_be_x86(facts):
        return "idle=poll" if facts.kernel.parameter("idle") == "poll" else ""
    return "nohlt" if facts.kernel.parameter("nohlt") is not None else ""


def _idle_states(facts: Facts) -> AuditAnswer:
    power = facts.power
    if polls := _polls(facts):
        return good("CPUs never sleep", f"{polls} is on the kernel's command line.")
    if not power.idle_states or power.idle_exit_latencies_us is None or power.idle_enabled_cpus is None:
        return _without_idle_driver(facts)
    allowed = set(parse_cpu_list(facts.cpu.allowed) or parse_cpu_list(facts.cpu.online) or ())
    enabled = [
        (name, latency_us, own)
        for name, latency_us, cpus in zip(
            power.idle_states, power.idle_exit_latencies_us, power.idle_enabled_cpus, strict=True
        )
        if (own := allowed & set(parse_cpu_list(cpus) or ()))
    ]
    states = ", ".join(f"{name} ({latency_us} us)" for name, latency_us, _ in enabled) or "none"
    observed = (
        f"Enabled, with exit latency: {states}. Driver {power.idle_driver or 'unknown'}, governor "
        f"{power.idle_governor or 'unknown'}."
    )
    deepest_us = max((latency_us for _, latency_us, _ in enabled), default=0)
    entered_us = max(
        (
            latency_us
            for _, latency_us, own in enabled
            if any(latency_us <= _limit_us(facts, cpu) for cpu in own)
        ),
        default=0,
    )
    if entered_us < deepest_us:
        observed = f"{observed} Held at the moment: {'; '.join(_held_limits(facts))}."
    if entered_us < _DEEP_US <= deepest_us:
        return note(
            f"A sleeping CPU could need up to {deepest_us} us to wake up, but that is forbidden now",
            observed,
            "What a program holds lasts as long as it runs. To be independent of it: sudo cpupower idle-set "
            f"-D {_DEEP_US}",
        )
    if entered_us >= _DEEP_US:
        return warning(
            f"A sleeping CPU needs up to {entered_us} us to wake up",
            observed,
            f"Until the next boot: sudo cpupower idle-set -D {_DEEP_US}. For good: "
            f"{_SHALLOW if _may_be_x86(facts) else _SHALLOW_ELSEWHERE}. While a program runs: it holds "
            "/dev/cpu_dma_latency open with 0 written to it.",
        )
    if facts.confinement.virtual:
        return note(
            "The guest's idle states are shallow; the host's are not visible",
            f"{observed} When the guest idles, the host decides how deeply the real CPU sleeps.",
            "Look on the host: cpupower idle-info",
        )
    return good("Idle states are left quickly", observed)


def _without_idle_driver(facts: Facts) -> AuditAnswer:
    if facts.confinement.virtual:
        return note(
            "The host's idle states are not visible",
            "The guest has no idle states of its own. When it idles, the host decides how deeply the CPU "
            "sleeps.",
            "Look on the host: cpupower idle-info",
        )
    if facts.kernel.parameter("cpuidle.off") == "1":
        return good("Idle CPUs only wait for an interrupt", "cpuidle.off=1 is on the kernel's command line.")
    return unread(
        "Idle states are unknown",
        f"{CPUS}/cpu0/cpuidle",
        more=": the architecture's default is used, or the firmware decides.",
        advice="Look into the firmware's power settings (C-states), and try: sudo cpupower idle-info",
    )


def _limit_us(facts: Facts, cpu: int) -> float:
    """Return the longest exit latency that a CPU may have now."""
    power, limit_us = facts.power, facts.power.latency_limit_us
    pairs = zip(power.resume_limits_us or (), power.resume_limit_cpus or (), strict=False)
    own = [limit_us for limit_us, cpus in pairs if cpu in (parse_cpu_list(cpus) or ())]
    return min([*own, *([limit_us] if limit_us is not None and limit_us >= 0 else [])], default=math.inf)


def _held_limits(facts: Facts) -> list[str]:
    power, limit_us = facts.power, facts.power.latency_limit_us
    pairs = zip(power.resume_limits_us or (), power.resume_limit_cpus or (), strict=False)
    of_all = [f"all CPUs to {limit_us} us, through /dev/cpu_dma_latency"]
    return [
        *(of_all if limit_us is not None and limit_us >= 0 else []),
        *(f"CPU {cpus} to {limit_us} us, through pm_qos_resume_latency_us" for limit_us, cpus in pairs),
    ]


def _moving_governors(facts: Facts) -> list[str]:
    """With some drivers `powersave` is the name of their own load-following algorithm."""
    steady = _STEADY - ({"powersave"} if facts.power.frequency_driver in _SELF_MOVING_DRIVERS else set())
    return [name for name in facts.power.governors or () if name not in steady]


def _governors(facts: Facts) -> dict[str, object]:
    power = facts.power
    pairs = zip(power.governors or (), power.governor_cpus or (), strict=False)
    governed = "; ".join(f"{name} on CPU {cpus}" for name, cpus in pairs)
    return {
        "observed": f"{governed}. Driver {power.frequency_driver or 'unknown'}.",
        "moving": ", ".join(_moving_governors(facts)),
    }


def _is_on(facts: Facts) -> bool:
    """Return whether logical CPUs share cores."""
    return bool(facts.cpu.smt_active) or (facts.cpu.threads_per_core or 0) > 1


def _cores(facts: Facts) -> dict[str, object]:
    cpu = facts.cpu
    shown = _shared_with_isolated(facts) or cpu.siblings or ()
    more = ", …" if len(shown) > _SHOWN else ""
    examples = f": CPU {'; '.join(shown[:_SHOWN])}{more} share one each" if shown else ""
    return {
        "logical": _so_many(cpu.online_count, "logical CPU"),
        "virtual": _so_many(cpu.online_count, "virtual CPU"),
        "cpus": _so_many(cpu.online_count, "CPU"),
        "cores": _so_many(cpu.cores, "core"),
        "examples": examples,
    }


def _so_many(count: int | None, noun: str) -> str:
    return f"an unknown number of {noun}s" if count is None else plural(count, noun)


def _shared_with_isolated(facts: Facts) -> tuple[str, ...]:
    """Return the cores of which some CPUs are isolated and some are not, as CPU lists."""
    isolated = set(parse_cpu_list(facts.cpu.isolated) or ())
    cores = {text: set(parse_cpu_list(text) or ()) for text in facts.cpu.siblings or ()}
    return tuple(text for text, cpus in cores.items() if cpus & isolated and not cpus <= isolated)


def _not_allowed(facts: Facts) -> set[int]:
    online, allowed = (parse_cpu_list(text) for text in (facts.cpu.online, facts.cpu.allowed))
    return set() if online is None or allowed is None else set(online) ^ set(allowed)


_SMT_OFF = (
    "Until the next boot: echo off | sudo tee /sys/devices/system/cpu/smt/control. For good: boot with "
    "nosmt, or switch it off in the firmware. Or leave the other thread of the loop's core idle."
)

CHECKS = (
    Check(
        code="idle-states",
        of_hardware=True,
        why="A CPU that sleeps deeply needs its exit latency before the first instruction of the woken "
        "thread. With C-states on, delgado2020 saw tasks of 100 us period miss deadlines.",
        source="Documentation/admin-guide/pm/cpuidle.rst; delgado2020 III.B, III.C; "
        f"{_RT_GUIDE}/kernel-configuration.rst (cap at C1)",
        answers=_idle_states,
    ),
    Check(
        code="latency-limit",
        of_hardware=True,
        why="A program that holds /dev/cpu_dma_latency keeps all CPUs out of idle states that take longer to "
        "leave. What is measured meanwhile holds only as long as that program runs.",
        source="Documentation/power/pm_qos_interface.rst; Documentation/ABI/testing/sysfs-devices-power, "
        "pm_qos_resume_latency_us",
        numbers=lambda f: {"held": "; ".join(_held_limits(f))},
        answers=(
            note(
                "Idle states are held back at the moment",
                "Held: {held}.",
                "If it should be so, let the product hold them back too. Who does it: sudo fuser -v "
                "/dev/cpu_dma_latency",
                when=_held_limits,
            ),
        ),
    ),
    Check(
        code="frequency-governor",
        of_hardware=True,
        why="A loop that sleeps most of the time looks idle to a governor that follows the load: the clock "
        "goes down, and the next cycle runs slower or waits for the change. What counts is that the "
        "frequency is constant.",
        source=f"{_RT_GUIDE}/kernel-configuration.rst; Documentation/admin-guide/pm/cpufreq.rst",
        numbers=_governors,
        answers=(
            warning(
                "The clock frequency follows the load ({moving})",
                "{observed}",
                "Until the next boot: sudo cpupower frequency-set -g performance. For good: "
                "cpufreq.default_governor=performance",
                when=_moving_governors,
            ),
            note(
                "The clock frequency is constant, but low",
                "{observed}",
                "For speed: sudo cpupower frequency-set -g performance",
                when=lambda f: "powersave" in (f.power.governors or ()),
            ),
            good(
                "The clock frequency does not follow the load", "{observed}", when=lambda f: f.power.governors
            ),
            note(
                "The host decides the clock frequency",
                "No frequency scaling is visible in this guest.",
                "Look on the host: cpupower frequency-info",
                when=lambda f: f.confinement.virtual,
            ),
            AuditAnswer(
                "note",
                "No frequency scaling by the kernel",
                "; the frequency is fixed, or the firmware changes it.",
                "Look into the firmware's power settings.",
                "likely",
                places=(f"{CPUS}/cpu0/cpufreq/scaling_governor",),
            ),
        ),
    ),
    Check(
        code="boost",
        of_hardware=True,
        why="Above the base frequency the clock depends on temperature and on what the other cores do. The "
        "same code takes longer when they are busy: good for the mean, bad for repeatable worst cases.",
        source="Documentation/admin-guide/pm/cpufreq.rst, Frequency Boost Support",
        needs="power.boost",
        numbers=lambda f: {
            "switch": f"echo 1 | sudo tee {CPUS}/intel_pstate/no_turbo"
            if f.power.frequency_driver in ("intel_pstate", "intel_cpufreq")
            else f"echo 0 | sudo tee {CPUS}/cpufreq/boost"
        },
        answers=(
            note(
                "Frequency boost is on",
                "The clock may rise above the base frequency.",
                "To try: {switch}",
                when=lambda f: f.power.boost,
            ),
            good("Frequency boost is off", "The clock stays at or below the base frequency."),
        ),
    ),
    Check(
        code="thermal-throttling",
        of_hardware=True,
        why="A CPU that is too hot lowers its clock or skips cycles, whatever the governor says, until it "
        "has cooled down. Code then takes longer than was ever measured in a cool cabinet.",
        source=f"{_SYSFS}, thermal_throttle; {_RT_GUIDE}/hardware.rst, Firmware",
        needs="power.thermal_throttles",
        numbers=lambda f: {"throttled": plural(f.power.thermal_throttles or 0, "time")},
        answers=(
            warning(
                "A CPU was slowed because of heat",
                "{throttled} since boot.",
                "Cool it better, or keep the clock below what heats it: sudo cpupower frequency-set -u "
                f"FREQUENCY. Watch: grep . {CPUS}/cpu*/thermal_throttle/*_count",
                "likely",
                when=lambda f: f.power.thermal_throttles,
            ),
            good("No CPU was slowed because of heat", "All thermal_throttle counts are 0 since boot."),
        ),
    ),
    Check(
        code="smt",
        of_hardware=True,
        why="Two logical CPUs of a core share its execution units and caches. What one runs slows the other "
        "by an amount that nobody controls. Worst case with and without, in delgado2020 (us): 73 and 47 "
        "with Xenomai, 66 and 61 with PREEMPT_RT.",
        source=f"delgado2020 III.C, tables 2 and 3 (HM, M); {_SYSFS}, smt",
        numbers=_cores,
        answers=(
            unread(
                "Whether logical CPUs share cores is unknown",
                f"{CPUS}/smt/active",
                advice="Try: lscpu --extended",
                when=lambda f: f.cpu.smt_active is None and f.cpu.threads_per_core is None,
            ),
            warning(
                "Isolated CPUs share cores with others (SMT is on)",
                "{logical} on {cores}{examples}.",
                _SMT_OFF,
                "likely",
                when=lambda f: _is_on(f) and _shared_with_isolated(f),
            ),
            warning(
                "Logical CPUs share cores (SMT is on)",
                "{logical} on {cores}{examples}.",
                _SMT_OFF,
                "likely",
                when=_is_on,
            ),
            note(
                "The guest sees one thread per core; the host may share cores",
                "{virtual}. Whether two of them share a real core can't be seen in here.",
                "Look on the host: lscpu --extended, and where the virtual CPUs are pinned.",
                when=lambda f: f.confinement.virtual,
            ),
            good("No logical CPUs share a core", "{cpus} on {cores}."),
        ),
    ),
    Check(
        code="unlike-cores",
        of_hardware=True,
        why="A loop on a slow core takes longer, and wakes up later, than on a fast one. What was measured "
        "on one kind says nothing about the other, and the scheduler moves threads between them that are not "
        "pinned.",
        source="Documentation/scheduler/sched-capacity.rst",
        numbers=lambda f: {
            "speeds": ", ".join(map(str, f.cpu.capacities or ())),
            "kinds": "; ".join(f.cpu.kinds or ()),
        },
        answers=(
            note(
                "The cores are not alike",
                "Relative speeds: {speeds}.",
                "Pin the loop, and measure the CPU that it is pinned to. Which is which: grep . "
                f"{CPUS}/cpu*/cpu_capacity",
                when=lambda f: len(f.cpu.capacities or ()) > 1,
            ),
            note(
                "The cores are not alike",
                "CPUs by the kind of their core: {kinds}.",
                "Pin the loop, and measure the CPU that it is pinned to. Which is which: grep . "
                "/sys/devices/cpu_*/cpus",
                when=lambda f: len(f.cpu.kinds or ()) > 1,
            ),
        ),
    ),
    Check(
        code="allowed-cpus",
        why="Only allowed CPUs can be measured. What runs on the others still shares caches and memory with "
        "them.",
        source="sched_setaffinity(2), cpuset(7)",
        needs="cpu.online cpu.allowed",
        numbers=lambda f: {
            "missing": format_cpu_list(_not_allowed(f) & set(parse_cpu_list(f.cpu.online) or ()))
        },
        answers=(
            note(
                "This process may not use every CPU",
                "Allowed: CPU {cpu.allowed}; not allowed: CPU {missing}.",
                "To reach the others: taskset -c {cpu.online} tauto … (if a cpuset forbids it, change the "
                "container or slice)",
                when=_not_allowed,
            ),
        ),
    ),
)
