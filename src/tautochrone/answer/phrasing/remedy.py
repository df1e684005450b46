"""What is said of what can be done about a cause of late cycles."""

from tautochrone.answer.document import Recommendation
from tautochrone.judge.remedy import CauseRemedy, RemedyKind

_DO: dict[RemedyKind, str] = {
    "nmi": (
        "Switch the NMI watchdog off (sysctl kernel.nmi_watchdog=0), and end what samples by NMI, "
        "such as perf."
    ),
    "local-timer": (
        "Keep the kernel's timers off this CPU: boot with nohz_full=CPUS and rcu_nocbs=CPUS, and "
        "isolate it. The function names the timer."
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
