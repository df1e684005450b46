"""How deep idle CPUs may sleep."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.base.units import parse_duration_ns
from tautochrone.machine.knob.cpus import CPUS, online_cpus
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree

_ANY = "any"
_ONLY_POLLING = "0us"
_POLL = "idle=poll (x86) leaves polling alone, but every CPU gets hot and never rests"
_STATE_FILES = ("latency", "disable", "default_status")


@dataclass(frozen=True)
class _State:
    folder: str
    latency_us: int
    disabled: bool


class CStates(Plain):
    """The deepest idle state, by the time that the driver states for leaving it.

    ``0us`` leaves only polling: what delgado2020 III.B asks for, a CPU that does not leave its operating
    state. The first state is never disabled, as the kernel falls back to it where all are: on Arm that is
    WFI, of 1 us.
    """

    name = "c-states"
    summary = (
        "the deepest idle state allowed, by the time to leave it: any, or a time such as 0us (only polling)"
    )

    def available(self, tree: Tree) -> str | None:
        """See `Knob`."""
        return None if has_idle_states(tree) else "this kernel offers no idle states to choose from"

    def read(self, tree: Tree) -> str | None:
        """`any`, or the longest time to leave an enabled state; see `Knob`."""
        cpus = _states(tree)
        if not cpus:
            return None
        if not any(state.disabled for states in cpus for state in states):
            return _ANY
        return f"{max(max(_enabled(states)) for states in cpus)}us"

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        if wanted != _ANY:
            parse_duration_ns(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """The time of the deepest state within the limit; `any` where all are; see `Knob`."""
        self.check(wanted)
        if wanted == _ANY:
            return _ANY
        limit_us = parse_duration_ns(wanted) // 1000
        latencies_us = {state.latency_us for states in _states(tree) for state in states}
        within = {latency for latency in latencies_us if latency <= limit_us}
        if within and within == latencies_us:
            return _ANY
        return f"{max(within, default=limit_us)}us"

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Disable what is deeper and enable the rest; see `Knob`."""
        limit_us = None if wanted == _ANY else int(wanted.removesuffix("us"))
        return tuple(
            Write(f"{state.folder}/disable", "0" if state.disabled else "1")
            for states in _states(tree)
            for number, state in enumerate(states)
            if state.disabled != (number > 0 and limit_us is not None and state.latency_us > limit_us)
        )

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """See `Knob`. The paper saw the kernel pass over intel_idle.max_cstate, and used the firmware.

        cpupower-idle-set(1), -D: states with an equal or higher latency are disabled. The kernel does not
        recommend idle=poll, for its heat (kernel-parameters.txt); processor.max_cstate=1 leaves C1.
        """
        if wanted == _ANY:
            return Advice(now="sudo cpupower idle-set -E")
        if wanted != _ONLY_POLLING:
            return Advice(now=f"sudo cpupower idle-set -D {int(wanted.removesuffix('us')) + 1}")
        if not has_idle_states(tree):  # then an idle CPU halts, which only polling avoids
            return Advice(at_boot=_POLL)
        return Advice(
            now=f"for s in {CPUS}/cpu*/cpuidle/state[1-9]*/disable; do echo 1 | sudo tee $s; done",
            at_boot="intel_idle.max_cstate=0 processor.max_cstate=1 (which leaves C1), or the firmware's "
            f"setting; {_POLL}",
        )

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        shallowest_us = max((states[0].latency_us for states in _states(tree)), default=0)
        if wanted != _ANY and shallowest_us > int(wanted.removesuffix("us")):
            return (
                f"the shallowest idle state takes {shallowest_us} us to leave, and the kernel always has it"
            )
        return ""


def has_idle_states(tree: Tree) -> bool:
    """Whether a driver offers states to choose from. Without one an idle CPU just halts."""
    return bool(_states(tree))


def _states(tree: Tree) -> list[list[_State]]:
    """The idle states of each CPU on line that has any, the shallowest first."""
    folders = {cpu: f"{CPUS}/cpu{cpu}/cpuidle" for cpu in online_cpus(tree)}
    tree.files.prefetch(tuple(folders.values()))
    states = {
        cpu: [f"{folder}/{name}" for name in tree.folders(folder) if name.startswith("state")]
        for cpu, folder in folders.items()
    }
    tree.files.prefetch(
        tuple(f"{one}/{name}" for several in states.values() for one in several for name in _STATE_FILES)
    )
    found = [[_state(one, tree) for one in several] for several in states.values()]
    return [[state for state in several if state is not None] for several in found if any(several)]


def _state(folder: str, tree: Tree) -> _State | None:
    """One that the driver itself leaves disabled (C1E or C6 of some servers) is none: not all go together."""
    latency_us, disabled = tree.integer(f"{folder}/latency"), tree.flag(f"{folder}/disable")
    if latency_us is None or disabled is None:
        return None
    if disabled and tree.text(f"{folder}/default_status") == "disabled":
        return None
    return _State(folder, latency_us, disabled)


def _enabled(states: list[_State]) -> list[int]:
    return [state.latency_us for state in states if not state.disabled] or [states[0].latency_us]
