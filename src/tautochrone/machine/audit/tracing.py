"""Checks of tracing: what watches the kernel costs it time."""

from tautochrone.machine.audit.finding import Finding, Question
from tautochrone.machine.facts import Facts


def tracing(facts: Facts) -> Finding:
    """Is the kernel being traced now?"""
    seen = facts.tracing
    question = Question(
        "tracing",
        why="Tracers and trace events add work to every place that they watch, in interrupts and task "
        "switches "
        "too. The kernel's guide: built in, but not used in production.",
        source="Documentation/core-api/real-time/kernel-configuration.rst, CONFIG_TRACING; "
        "Documentation/trace/ftrace.rst",
    )
    active = _active(facts)
    if active:
        return question.warning(
            "The kernel is being traced",
            f"{'; '.join(active)}.",
            "End what traces (trace-cmd, perf, rtla, bpftrace). Then: sudo trace-cmd reset, or: echo 0 | "
            "sudo "
            "tee /sys/kernel/tracing/events/enable; echo nop | sudo tee /sys/kernel/tracing/current_tracer",
        )
    if seen.tracer is None:
        if seen.built_in is False:
            return question.good("Nothing traces the kernel", "It was built without tracing.")
        place = "/sys/kernel/tracing/current_tracer"
        return question.unknown(
            "Whether the kernel is being traced is unknown",
            f"{facts.reading.reason(place)}.",
            "As root: mount -t tracefs nodev /sys/kernel/tracing (if it is empty), then: cat "
            "/sys/kernel/tracing/current_tracer /sys/kernel/tracing/events/enable (nop and 0: nothing "
            "traces)",
        )
    if seen.instances:
        return question.note(
            "Somebody has prepared to trace the kernel",
            f"Trace instances: {', '.join(seen.instances)}. What they watch was not looked at.",
            "See who uses them: ls /sys/kernel/tracing/instances",
            "likely",
        )
    return question.good("Nothing traces the kernel", "No tracer, no trace event, no kernel probe is active.")


def _active(facts: Facts) -> list[str]:
    seen = facts.tracing
    active = []
    if seen.tracer not in (None, "", "nop"):
        active.append(f"tracer {seen.tracer}")
    if seen.events:
        kept = "" if seen.recording is not False else " (nothing is recorded, but each is still reached)"
        active.append(f"trace events enabled{kept}")
    if seen.kernel_probes:
        active.append(f"{seen.kernel_probes} kernel probe{'' if seen.kernel_probes == 1 else 's'} defined")
    if seen.stack_tracer:
        active.append("kernel.stack_tracer_enabled is 1")
    if seen.bpf_statistics:
        active.append("kernel.bpf_stats_enabled is 1")
    return active
