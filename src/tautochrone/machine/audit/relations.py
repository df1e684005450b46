"""What hangs together: knobs of deployments and the answers that they change, answers that follow others."""

EFFECTS: dict[str, tuple[str, ...]] = {
    "c-states": ("idle-states",),
    "latency-limit": ("latency-limit", "idle-states"),
    "governor": ("frequency-governor",),
    "smt": ("smt", "allowed-cpus"),
    "online": ("allowed-cpus", "smt", "isolation", "unlike-cores"),
    "isolated": (
        "isolation",
        "cpuset-partitions",
        "workqueues",
        "rcu-callbacks",
        "device-interrupts",
        "default-interrupt-affinity",
        "allowed-cpus",
        "smt",
    ),
    "interrupts": ("device-interrupts", "default-interrupt-affinity"),
    "workqueues": ("workqueues",),
    "rt-throttling": ("realtime-throttling", "realtime-group-budget"),
    "boost": ("boost",),
    "watchdog": ("lockup-watchdogs",),
    "timer-migration": ("timer-migration",),
    "numa-balancing": ("numa-balancing",),
    "transparent-hugepages": ("transparent-huge-pages",),
}
"""By knob the codes of the findings whose answers may change with it, the one that it is about first."""

COMPANIONS: dict[str, tuple[str, ...]] = {
    "smt": ("online",),
    "isolated": ("interrupts", "workqueues"),
}
"""By knob those that are turned with it, because it would be half of a thing without them."""

FOLLOWERS: dict[str, tuple[str, ...]] = {
    "isolation": EFFECTS["isolated"][1:],
    "latency-limit": ("idle-states",),
}
"""By code the codes of other findings whose answers change with it."""

OF_THE_KERNEL = frozenset(
    {
        "preempt-rt",
        "preemption-model",
        "kernel-debugging",
        "delgado2020-options",
        "tick",
        "mitigations",
        "high-resolution-timers",
        "tsc-stability",
        "tracing",
        "efi-runtime",
        "realtime-throttling",
        "realtime-group-budget",
        "compaction",
    }
)
"""Codes whose answers may change with another kernel, the most telling of which are `ABOUT_THE_KERNEL`."""

ABOUT_THE_KERNEL = ("preempt-rt", "preemption-model")

NO_SETTINGS = frozenset({"steal-time", "thermal-throttling", "firmware-interrupts"})
"""Codes of findings that tell what has happened, not how the machine is set."""


def knobs_of(code: str) -> tuple[str, ...]:
    """The knobs that are about what this finding says."""
    about = tuple(knob for knob, codes in EFFECTS.items() if codes[0] == code)
    return about or tuple(
        knob for knob, codes in EFFECTS.items() if code in codes and knob in ("interrupts", "workqueues")
    )
