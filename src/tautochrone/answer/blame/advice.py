"""What would help against the causes of a run's late cycles, and what each would be worth, by estimate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tautochrone.answer import document as doc
from tautochrone.answer.document import Recommendation
from tautochrone.answer.phrasing import blame as words
from tautochrone.base.words import listed
from tautochrone.judge.blame import BlamedRun, CauseRemedy, WithoutCauses, remedy_of, without_causes
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.machine.audit import audit_facts
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.blame import CauseShare

TITLE = "What would help"

_MOST, _MOST_NAMED, _LEAST_SHARE = 5, 3, 0.01
_ESTIMATE = (
    "What a remedy would be worth is an estimate: each late cycle is taken to have been earlier by the "
    "excess that these causes have in it. With one cause gone, another may take its place."
)


@dataclass(frozen=True)
class CauseAdvice:
    """Causes against which the same helps, those with the most excess first.

    Attributes:
        shares: of the excess, each with its cause.
        remedy: what can be done about them.
        without: what that would be worth; None: it can't be told.
    """

    shares: tuple[CauseShare, ...]
    remedy: CauseRemedy
    without: WithoutCauses | None


def advice_of(
    run: StoredRun, found: BlamedRun, reduced: Sequence[Reduced] | None = None
) -> list[CauseAdvice]:
    """Return it for the causes with the most excess, what helps most first.

    Args:
        reduced: the measure that is late, where it was read already.

    Raises:
        DamagedError: the samples can't be read.
    """
    telling = [one for one in found.blame.causes if one.excess_ns and one.share >= _LEAST_SHARE]
    if not found.recorded or not telling:
        return []
    findings = audit_facts(run.manifest.known)
    parts = reduce_run(run, found.measure) if reduced is None else reduced
    together: dict[str, list[CauseShare]] = {}
    for one in telling:
        together.setdefault(what_to_do(remedy_of(one.cause, one.actor, findings)), []).append(one)
    advice = []
    for own in together.values():
        causes = {(one.cause, one.actor) for one in own}
        known = own[0].cause != "unexplained"
        worth = without_causes(parts, found, causes) if known else None
        advice.append(CauseAdvice(tuple(own), remedy_of(own[0].cause, own[0].actor, findings), worth))
    advice.sort(key=lambda one: -sum(share.share for share in one.shares))
    return advice[:_MOST]


def parts(advised: Sequence[tuple[str, Sequence[CauseAdvice]]]) -> list[doc.DocumentPart]:
    """Return the part of a page about what would help each run, by its label."""
    several = len(advised) > 1
    return [
        doc.part(
            f"{TITLE} against late cycles{f', {label}' if several else ''}",
            partial(blocks, own),
            id=f"late-help-{at}",
        )
        for at, (label, own) in enumerate(advised, start=1)
    ]


def blocks(advice: Sequence[CauseAdvice]) -> Iterator[doc.Block]:
    """Yield what to do about each cause, that with the most excess first."""
    if not advice:
        return
    yield doc.Subheading(TITLE)
    yield doc.Recommendations(
        tuple(
            recommendation(
                _causes(one.shares),
                one.remedy,
                "" if one.without is None else f"{words.without(one.without)}.",
            )
            for one in advice
        )
    )
    if any(one.without is not None for one in advice):
        yield doc.Sentence(_ESTIMATE, "note")


def _causes(shares: Sequence[CauseShare]) -> str:
    """Return ``23 % kdamond.0 (not preemptible), kdamond.0 (interrupts off) and 2 more``."""
    names = [words.name(one) for one in shares[:_MOST_NAMED]]
    more = len(shares) - len(names)
    named = listed([*names, f"{more} more"] if more else names)
    return f"{words.percent(sum(one.share for one in shares))} {named}"


def as_table(advice: Sequence[CauseAdvice]) -> list[dict[str, object]]:
    """Return it as programs read it; times in nanoseconds."""
    return [
        {
            "causes": [
                {"cause": share.cause, "actor": share.actor, "share": share.share} for share in one.shares
            ],
            "kind": one.remedy.kind,
            "findings": [finding.code for finding in one.remedy.findings],
            "settings": list(one.remedy.knobs),
            "do": what_to_do(one.remedy),
            "estimate_without": None
            if one.without is None
            else {
                "quantile": one.without.q,
                "quantile_ns": list(one.without.quantile_ns),
                "largest_ns": list(one.without.largest_ns),
                "late": [one.without.late, one.without.late_without],
            },
        }
        for one in advice
    ]


# What is said of what can be done about a cause of late cycles.

_DO = {
    "nmi": (
        "Switch the NMI watchdog off (sysctl kernel.nmi_watchdog=0), and end what samples by NMI, "
        "such as perf."
    ),
    "local-timer": (
        "Keep the kernel's timers off this CPU: isolate it, and boot with rcu_nocbs=CPUS; where a thread "
        "computes without sleeping, with nohz_full=CPUS, too. The function names the timer."
    ),
    "other-cpu": (
        "Another CPU interrupted this one. Isolate it, and keep threads that share memory with the "
        "loop from mapping and unmapping it."
    ),
    "thermal": "Cool the machine, or limit its frequency.",
    "device-interrupt": ("Send the interrupt to another CPU: echo CPUS > /proc/irq/NUMBER/smp_affinity_list"),
    "network": (
        "Send the network card's interrupts to other CPUs, and received packets too: "
        "/sys/class/net/DEVICE/queues/rx-*/rps_cpus"
    ),
    "timers": "Start what sets these timers on other CPUs, or isolate this one.",
    "rcu": "Offload the RCU callbacks of this CPU: boot with rcu_nocbs=CPUS",
    "balancing": "Isolate the CPU: the scheduler does not balance its threads then.",
    "deferred": "Send the interrupts that raise this work to other CPUs.",
    "work-item": (
        "Keep the kernel's deferred work away: /sys/devices/virtual/workqueue/cpumask. What is bound "
        "to this CPU stays: the function names its driver."
    ),
    "interrupt-thread": (
        "Send the interrupt to another CPU, or give its thread a priority below the loop's: chrt -f "
        "-p PRIORITY PID"
    ),
    "stopper": (
        "The kernel stopped this CPU to move a thread or change code: leave hotplug, affinities and "
        "tracing alone while the loop runs."
    ),
    "watchdog": "Switch the lockup watchdogs off: sysctl kernel.watchdog=0",
    "higher-priority": (
        "Give the loop a higher priority than this thread, or keep the thread on other CPUs: taskset "
        "-cp CPUS PID"
    ),
    "not-preemptible": (
        "Run a kernel with PREEMPT_RT, which can be preempted here, or keep this thread on other CPUs."
    ),
    "interrupts-off": ("Run a kernel with PREEMPT_RT, or keep this thread, or what it calls, on other CPUs."),
    "idle-exit": "Keep the CPU from sleeping deeply: a deployment with c-states, or latency-limit.",
    "frequency": "Hold the frequency: governor performance.",
    "smi": (
        "Switch off in the firmware's set-up what raises SMIs: USB legacy support, power and error reporting."
    ),
    "steal": (
        "The host ran something else. Pin the virtual CPU to a CPU of the host that runs nothing "
        "else, at a real-time priority."
    ),
    "fault": "Lock the memory (mlockall) and touch it before the loop starts.",
    "stopped": (
        "Something stopped the thread: a signal, a debugger, or the limit of real-time threads, which "
        "kernel.sched_rt_runtime_us=-1 lifts."
    ),
    "work": (
        "The work itself took longer than usual: look at its data, at caches, and at the CPU's frequency."
    ),
    "unexplained": (
        "No recorded event explains it: firmware, hypervisor, memory, or what the recorder can't see. "
        "hwlatdetect tells the first two."
    ),
}


def what_to_do(remedy: CauseRemedy) -> str:
    """Return what to do: what the audit says of this machine or else what helps in general."""
    if remedy.findings:
        return remedy.findings[0].advice
    return _DO[remedy.kind]


def recommendation(cause: str, remedy: CauseRemedy, worth: str = "") -> Recommendation:
    """Return it as an answer shows it.

    Args:
        cause: in words, "61 % irq eth0".
        worth: what it would be worth, or was; empty: not known.
    """
    found = f": {remedy.findings[0].title}" if remedy.findings else ""
    also = f" Settings: {', '.join(remedy.knobs)} (tauto tune show)." if remedy.knobs else ""
    told = what_to_do(remedy)
    stop = "" if not also or told.endswith(".") else "."
    return Recommendation(f"{cause}{found}", f"{told}{stop}{also}", worth)
