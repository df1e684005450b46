"""Which of the kernel's own tracers a kernel has, by its configuration."""

from tautochrone.target.virtual.kernels import Kernel, built_in

_TRACERS = {
    "timerlat": "TIMERLAT_TRACER",
    "osnoise": "OSNOISE_TRACER",
    "function": "FUNCTION_TRACER",
    "function_graph": "FUNCTION_GRAPH_TRACER",
}


def tracers_of(kernel: Kernel) -> tuple[str, ...] | None:
    """As tracefs calls them; None: it is not known how the kernel was configured."""
    built = built_in(kernel)
    return tuple(name for name, option in _TRACERS.items() if option in built) if built else None
