"""Which differing fact matters most to latencies, and what it is a part of."""

from fnmatch import fnmatchcase
from typing import Literal

from tautochrone.judge.comparison.facts import OF_SERVER

Aspect = Literal["question", "loop", "machine", "kernel", "deployment", "load", "lab", "other"]
"""What a fact is a part of. "question": what is measured; "loop": how the measured thread runs."""

_ORDER: tuple[tuple[str, Aspect, bool], ...] = (
    # pattern, aspect, and whether it is a cause by itself, not only a consequence or a detail
    ("experiment", "question", True),
    ("measure.*", "question", True),
    ("state", "question", True),
    ("ruler.clock", "question", True),
    ("kept", "question", True),
    ("virtual.machine", "kernel", False),
    ("virtual.image", "kernel", False),
    ("target", "machine", True),
    ("server", "machine", True),
    ("kernel.release", "kernel", True),
    ("kernel.version", "kernel", True),
    ("kernel.preemption", "kernel", True),
    ("kernel.realtime", "kernel", True),
    ("machine.product", "machine", True),
    ("cpu.model", "machine", True),
    ("cpu.microcode", "machine", True),
    ("machine.firmware", "machine", True),
    ("kernel.command_line", "kernel", True),
    ("deployment", "deployment", False),
    ("deployment.*", "deployment", True),
    ("power.governors", "deployment", True),
    ("power.boost", "deployment", True),
    ("power.frequency_driver", "deployment", True),
    ("power.minimum_khz", "deployment", True),
    ("power.maximum_khz", "deployment", True),
    ("power.idle_*", "deployment", True),
    ("power.latency_limit_us", "deployment", True),
    ("power.*", "deployment", True),
    ("cpu.isolated", "deployment", True),
    ("cpu.nohz_full", "deployment", True),
    ("isolation.*", "deployment", True),
    ("cpu.smt_*", "deployment", True),
    ("load", "load", True),
    ("parameters.period_ns", "loop", True),
    ("schedule.period_ns", "loop", True),
    ("parameters.policy", "loop", True),
    ("parameters.priority", "loop", True),
    ("obtained.policy", "loop", True),
    ("obtained.priority", "loop", True),
    ("obtained.*", "loop", True),
    ("parameters.count", "other", False),
    ("parameters.cpus", "other", False),
    ("parameters.warmup", "other", False),
    ("parameters.ring_rows", "other", False),
    ("parameters.drain", "other", False),
    ("parameters.record", "other", False),
    ("parameters.stagger_ns", "other", False),
    ("parameters.budget_ns", "other", False),
    ("parameters.*", "loop", True),
    ("sources", "loop", False),
    ("interrupts.*", "deployment", True),
    ("limits.rt_*", "deployment", True),
    ("clock.source", "deployment", True),
    ("kernel.mitigations", "kernel", True),
    ("kernel.*", "kernel", False),
    ("virtual.cpus", "machine", True),
    ("virtual.shift", "machine", True),
    ("virtual.qemu", "machine", True),
    ("virtual.*", "machine", False),
    ("cpu.allowed*", "deployment", False),
    ("cpu.online*", "deployment", True),
    ("cpu.*", "machine", True),
    ("memory.total_bytes", "machine", False),
    ("memory.*", "deployment", True),
    ("machine.hostname", "machine", False),
    ("machine.*", "machine", False),
    ("confinement.*", "machine", True),
    ("firmware.*", "machine", False),
    ("clock.*", "machine", False),
    ("limits.*", "other", False),
    ("tracing.*", "deployment", True),
    ("probe.version", "lab", True),
    ("lab.version", "lab", False),
    ("warnings", "other", False),
)


def rank_of(name: str) -> int:
    """The place of a fact among all, the most important first. Of a server's machine as of its client's."""
    own = name.removeprefix(OF_SERVER)
    return next((at for at, rule in enumerate(_ORDER) if fnmatchcase(own, rule[0])), len(_ORDER))


def aspect_of(name: str) -> Aspect:
    """What a fact is a part of."""
    rank = rank_of(name)
    return _ORDER[rank][1] if rank < len(_ORDER) else "other"


def is_a_cause(name: str) -> bool:
    """Whether a difference in this fact alone may change a latency, and is no mere label of one that does."""
    rank = rank_of(name)
    return rank < len(_ORDER) and _ORDER[rank][2]
