"""What a run on a virtual machine of the lab is, in the warnings that every report of it shows."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tautochrone.machine.tree import Files
from tautochrone.measure.cpu_use import IDLE_AT, read_times, spent_between
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import Header
from tautochrone.target.target import Virtual

VIRTUAL, BUSY = "virtual", "virtual_busy"
"""Names of the conditions: what machine it was, in which share of its time each CPU was busy.

The first is also the code of the warning that says what its numbers are.
"""

NOT_REPEATABLE, NEARLY_REPEATABLE = "virtual-not-repeatable", "virtual-nearly-repeatable"
FUNCTIONAL, SHARED, PROBLEM = "virtual-functional", "virtual-shared", "virtual-problem"

_BUSY_SHARE = 0.05


class BusyCpus:
    """How busy each CPU of a virtual machine is, from its beginning on; asks nothing where there is one."""

    def __init__(self, files: Files, virtual: Virtual | None) -> None:
        """Begin."""
        self._files = files if virtual is not None and virtual.cpus > 1 else None
        self._first = read_times(files) if self._files is not None else {}

    def since(self) -> list[float] | None:
        """In which share of its time each CPU was not idle; empty: not known. None: there is one only.

        The kernel does not tell of one that is off line, which does nothing.
        """
        if self._files is None:
            return None
        spent = spent_between(self._first, read_times(self._files))
        shares = {
            cpu: round(1.0 - sum(one[at] for at in IDLE_AT) / sum(one), 4)
            for cpu, one in spent.items()
            if sum(one)
        }
        return [shares.get(cpu, 0.0) for cpu in range(max(spent, default=-1) + 1)]


def as_condition(virtual: Virtual | None) -> dict[str, object]:
    """Return what is stored with a run."""
    return {} if virtual is None else {VIRTUAL: asdict(virtual)}


def cautions_of_virtual(virtual: Virtual | None) -> Iterator[RunWarning]:
    """Yield what the numbers of a virtual machine are, and what they are not."""
    if virtual is None:
        return
    if virtual.shift is None:
        yield RunWarning(
            VIRTUAL,
            "measured on a virtual machine whose time is the host's: its CPUs are emulated in turns, and the "
            "host's own work is in every number",
            "Take it as a trial of what happens, not of how long it takes.",
        )
    else:
        turns = f"; {_how_they_share(virtual)}" if virtual.cpus > 1 else ""
        yield RunWarning(
            VIRTUAL,
            f"measured on a virtual machine whose time is the number of executed instructions, "
            f"{_instruction(virtual.shift)} each: it has the length of the kernel's paths and of its "
            "non-preemptible sections, not caches, memory, system management interrupts or idle states"
            f"{turns}",
            "Compare kernels and settings with it; measure on the hardware before you trust a deadline.",
        )
    for problem in virtual.problems:
        yield RunWarning(PROBLEM, f"the virtual machine did not boot as it should: {problem}")
    if virtual.shift is not None and not virtual.repeatable:
        yield RunWarning(
            NEARLY_REPEATABLE,
            f"this run usually repeats, but not surely: where several of its {virtual.cpus} CPUs wake at the "
            "same instant, a busy host may change the order in which they take turns",
            "With one CPU, or several of x86-64 and QEMU 10, a run repeats.",
        )
    elif not virtual.repeatable:
        yield RunWarning(
            NOT_REPEATABLE,
            f"this run does not repeat: with {virtual.cpus} CPUs of x86-64 there is no instruction counting",
            "Run `tauto lab fetch qemu`: QEMU 10 repeats with several CPUs, too.",
        )


def _how_they_share(virtual: Virtual) -> str:
    if virtual.turn_us is None:
        return f"its {virtual.cpus} CPUs take turns on one clock, so a latency may contain another one's work"
    return (
        f"its {virtual.cpus} CPUs share one stream of instructions in turns of {virtual.turn_us} us, like "
        "hardware threads of one core"
    )


def cautions_of_busy_cpus(
    shares: Sequence[float] | None, header: Header, virtual: Virtual | None
) -> Iterator[RunWarning]:
    """Where several CPUs worked, each waited for the others: there is one clock for all instructions.

    In short turns they make a path longer by as many times as they are; without, they put all that they do
    until something is due into it.

    A measured CPU is hardly ever busy: it is the one that waits. So those count, whatever their share.

    Args:
        shares: of its time in which each CPU was busy; None: there is one CPU only.
        header: of the stream, which tells where was measured.
        virtual: the machine.
    """
    if shares is None:
        return
    busy = {cpu: share for cpu, share in enumerate(shares) if share > _BUSY_SHARE}
    measured = header.measured_cpus
    at_work = sorted(measured | busy.keys())
    if len(at_work) > 1:
        told = ", ".join(
            f"CPU {cpu} {' and '.join(_what_it_did(busy.get(cpu), measured=cpu in measured))}"
            for cpu in at_work
        )
        if virtual is not None and virtual.turn_us is not None:
            yield RunWarning(
                SHARED,
                f"{len(at_work)} CPUs were measured or busy ({told}): where they work at the same time, a "
                f"path is up to {len(at_work)} times as long as alone, known to a round of turns "
                f"({len(at_work) * virtual.turn_us} us)",
                "Compare machines with the same CPUs at work.",
            )
            return
        yield RunWarning(
            FUNCTIONAL,
            f"a functional run: {len(at_work)} CPUs were measured or busy ({told}), and virtual CPUs take "
            "turns on one clock, so a latency here contains what the others did meanwhile",
            "Let one CPU work at a time, or leave smp= out, where the numbers shall mean something.",
        )


def _what_it_did(share: float | None, *, measured: bool) -> Iterator[str]:
    if measured:
        yield "measured"
    if share is not None:
        yield f"{share:.0%} busy"


def _instruction(shift: int) -> str:
    return f"{1 << shift} ns"
