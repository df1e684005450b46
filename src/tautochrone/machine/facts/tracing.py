"""Whether the kernel is being traced now."""

from dataclasses import dataclass

from tautochrone.machine.tree import Tree

PLACES = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
"""Where tracefs is mounted, the second on older kernels."""


@dataclass(frozen=True)
class TracingFacts:
    """Tracers, events, probes. From `tracer` on all None where tracefs is not mounted or may not be read."""

    built_in: bool | None = None
    """Whether the kernel was built with tracing; None if its configuration can't be read."""
    stack_tracer: bool | None = None
    """Whether every kernel function measures its stack (``kernel.stack_tracer_enabled``)."""
    bpf_statistics: bool | None = None
    """Whether the run time of every BPF program is taken (``kernel.bpf_stats_enabled``)."""
    tracer: str | None = None
    """The current tracer; ``nop`` for none."""
    events: bool | None = None
    """Whether any trace event is enabled."""
    recording: bool | None = None
    """Whether the ring buffer takes what comes (``tracing_on``)."""
    instances: tuple[str, ...] | None = None
    """Trace instances beside the main one, as tools such as rtla make them."""
    kernel_probes: int | None = None
    """Dynamic probes (kprobes) set through tracefs."""


def observe_tracing(tree: Tree, built: str | None) -> TracingFacts:
    """Read tracefs, where it is; `built` is the kernel's build option TRACING."""
    built_in = None if built is None else built == "y"
    place = next((one for one in PLACES if tree.text(f"{one}/current_tracer") is not None), None)
    stack_tracer = tree.flag("/proc/sys/kernel/stack_tracer_enabled")
    bpf_statistics = tree.flag("/proc/sys/kernel/bpf_stats_enabled")
    if place is None:
        return TracingFacts(built_in, stack_tracer=stack_tracer, bpf_statistics=bpf_statistics)
    enabled = tree.text(f"{place}/events/enable")
    probes = tree.text(f"{place}/kprobe_events")
    return TracingFacts(
        built_in=built_in,
        tracer=tree.text(f"{place}/current_tracer"),
        events=None if not enabled else enabled[0] != "0",  # 0, 1, or X: some of them
        recording=tree.flag(f"{place}/tracing_on"),
        instances=tree.folders(f"{place}/instances"),
        kernel_probes=None if probes is None else len(probes.splitlines()),
        stack_tracer=stack_tracer,
        bpf_statistics=bpf_statistics,
    )
