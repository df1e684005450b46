"""Having a guest's kernel trace itself: the scripts for it, and what they print.

Two ways to look, which disturb little. *Stacks*: an event when the measuring thread is made ready, and one
when the CPU goes to it, each with the kernel's stack; nothing else is touched. *Calls*: a few functions,
found on those stacks, tell when they return how long they took. To trace all functions would slow a guest
down several times, and other things would then be late.
"""

from collections.abc import Sequence

from tautochrone.base.errors import MeasuringError
from tautochrone.target.machine import MachineWithPrograms
from tautochrone.target.target import ANYWHERE, Target

MEASURING_TASK = "tauto-cyclic"
"""What the probe calls its measuring threads."""

_NOT_TRACED = 9
_TRACING = "/sys/kernel/tracing"
_BUFFER_KIB = 16384
_LEAST_US = 1
LONG_FUNCTIONS = (
    "free_pcppages_bulk", "rmqueue_bulk", "free_unref_page_list", "free_pgtables", "unmap_page_range",
    "unmap_vmas", "zap_huge_pmd", "copy_page_range", "clear_huge_page", "folio_zero_user",
    "prep_compound_page", "__free_pages_ok", "do_huge_pmd_anonymous_page", "split_huge_page_to_list",
    "rcu_do_batch", "__do_softirq", "handle_softirqs", "exit_mmap", "tlb_finish_mmu",
)  # fmt: skip
"""Known to take long, some of them with interrupts off, so that no stack ever shows them. Each is called so
seldom that timing it costs next to nothing; one that a kernel does not have is left out."""

_BEGIN = f"""
[ -e {_TRACING}/tracing_on ] || mount -t tracefs tracefs {_TRACING}
cd {_TRACING} || exit {_NOT_TRACED}
echo 0 >tracing_on && echo nop >current_tracer && echo mono >trace_clock || exit {_NOT_TRACED}
echo {_BUFFER_KIB} >buffer_size_kb
echo >trace
"""
_STACKS = f"""
echo 1 >options/stacktrace &&
echo 'comm=="{MEASURING_TASK}"' >events/sched/sched_waking/filter &&
echo 'next_comm=="{MEASURING_TASK}"' >events/sched/sched_switch/filter &&
echo 1 >events/sched/sched_waking/enable &&
echo 1 >events/sched/sched_switch/enable &&
echo 1 >tracing_on || exit {_NOT_TRACED}
"""
_CALLS = f"""
for option in abstime proc tail; do echo 1 >options/funcgraph-$option || exit {_NOT_TRACED}; done
echo 0 >options/funcgraph-irqs
echo {_LEAST_US} >tracing_thresh
echo >set_ftrace_filter
for name in $FUNCTIONS; do echo $name >>set_ftrace_filter; done 2>/dev/null
grep -q '^[^#]' set_ftrace_filter && echo function_graph >current_tracer || exit {_NOT_TRACED}
echo 1 >tracing_on
cat set_ftrace_filter
"""
_READ = f"""
cd {_TRACING} || exit {_NOT_TRACED}
echo 0 >tracing_on
cat per_cpu/cpu*/stats trace
"""


def trace_stacks(target: Target) -> None:
    """From now on, note the stack where the measuring thread is made ready and where the CPU goes to it.

    Raises:
        MeasuringError: the kernel can't, or the guest has died.
    """
    _run(target, _BEGIN + _STACKS)


def trace_calls(target: Target, functions: Sequence[str]) -> tuple[str, ...]:
    """From now on, note the calls of these functions, as far as the kernel can, which are returned.

    Raises:
        MeasuringError: the kernel can't, or the guest has died.
    """
    names = " ".join(dict.fromkeys((*functions, *LONG_FUNCTIONS)))
    return tuple(_run(target, f"FUNCTIONS='{names}'" + _BEGIN + _CALLS).split())


def read_trace(target: Target) -> str:
    """End tracing; what was noted, as the kernel prints it.

    Raises:
        MeasuringError: the guest has died.
    """
    return _run(target, _READ)


def _run(target: Target, script: str) -> str:
    """What a shell in the guest prints."""
    if not isinstance(target, MachineWithPrograms):
        raise MeasuringError(f"no programs can be started on {target.name}")
    program = target.start(["guard", "--", "/bin/sh", "-c", script], ANYWHERE)
    try:
        said = b"".join(iter(program.read, b""))
        code = program.wait(1.0)
        if code != 0:
            words = "; ".join(program.messages()[-2:]) or f"its shell ended with {code}"
            raise MeasuringError(f"the kernel of {target.name} does not trace itself: {words}")
        return said.decode(errors="replace")
    finally:
        program.release()
