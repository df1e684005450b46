"""How idle CPUs sleep, and how fast CPUs run: idle states, the limit on their latency, the governor."""

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.machine.cpulist import CPUS, online_cpus
from tautochrone.machine.facts.cpus import NO_LIMIT_US, latency_limit_us
from tautochrone.machine.knob.knob import BootAdvice, Knob, check_word
from tautochrone.machine.settings import Change, Hold, Write
from tautochrone.machine.tree import Tree

_ANY = "any"
_ONLY_POLLING = "0us"
_SHALLOW = "intel_idle.max_cstate=0 processor.max_cstate=1 (which leaves C1)"
_SHALLOW_ELSEWHERE = "cpuidle.off=1 (which leaves WFI on Arm)"
NO_STATES = "an emulated CPU has no idle states: halted, it goes on with its next instruction at once"
_STATE_FILES = ("latency", "disable", "default_status")
_NO_LIMIT = "none"
_NO_SPEED = "<unsupported>"
"""What the kernel says of a speed that the governor does not take."""

_DEVICE = "/dev/cpu_dma_latency"
_POLICIES = f"{CPUS}/cpufreq"


@dataclass(frozen=True)
class _State:
    folder: str
    latency_us: int
    disabled: bool


def _us(canonical: str) -> int:
    return int(canonical.removesuffix("us"))


class CStates(Knob):
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
        if tree.files.are_of_emulated_cpus:
            return NO_STATES
        return None if _states(tree) else "this kernel offers no idle states to choose from"

    def read(self, tree: Tree) -> str | None:
        """`any`, or the longest time to leave an enabled state; an emulated CPU takes none."""
        if tree.files.are_of_emulated_cpus:
            return _ONLY_POLLING
        cpus = _states(tree)
        if not cpus:
            return None
        if not any(state.disabled for states in cpus for state in states):
            return _ANY
        deepest_us = (
            max((one.latency_us for one in states if not one.disabled), default=states[0].latency_us)
            for states in cpus
        )
        return f"{max(deepest_us)}us"

    def check(self, wanted: str) -> None:
        if wanted != _ANY:
            parse_duration_ns(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """Return the time of the deepest state within the limit; `any` where all are."""
        self.check(wanted)
        if wanted == _ANY:
            return _ANY
        if tree.files.are_of_emulated_cpus:
            return _ONLY_POLLING
        limit_us = parse_duration_ns(wanted) // 1000
        latencies_us = {state.latency_us for states in _states(tree) for state in states}
        within = {latency for latency in latencies_us if latency <= limit_us}
        if within and within == latencies_us:
            return _ANY
        return f"{max(within, default=limit_us)}us"

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Disable what is deeper and enable the rest."""
        limit_us = None if wanted == _ANY else _us(wanted)
        return tuple(
            Write(f"{state.folder}/disable", "0" if state.disabled else "1")
            for states in _states(tree)
            for number, state in enumerate(states)
            if state.disabled != (number > 0 and limit_us is not None and state.latency_us > limit_us)
        )

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        """See `Knob`. The paper saw the kernel pass over intel_idle.max_cstate, and used the firmware.

        cpupower-idle-set(1), -D: states with an equal or higher latency are disabled. The kernel does not
        recommend idle=poll, for its heat (kernel-parameters.txt); processor.max_cstate=1 leaves C1.
        """
        if tree.files.are_of_emulated_cpus:
            return BootAdvice()
        if wanted == _ANY:
            return BootAdvice(now="sudo cpupower idle-set -E")
        if wanted != _ONLY_POLLING:
            return BootAdvice(now=f"sudo cpupower idle-set -D {_us(wanted) + 1}")
        shallow, poll = (_SHALLOW, "idle=poll (x86)") if _may_be_x86(tree) else (_SHALLOW_ELSEWHERE, "nohlt")
        polling = f"{poll} leaves polling alone, but every CPU gets hot and never rests"
        if not _states(tree):  # then an idle CPU just halts, which only polling avoids
            return BootAdvice(at_boot=polling)
        return BootAdvice(
            now=f"for s in {CPUS}/cpu*/cpuidle/state[1-9]*/disable; do echo 1 | sudo tee $s; done",
            at_boot=f"{shallow}, or the firmware's setting; {polling}",
        )

    def shortfall(self, wanted: str, tree: Tree) -> str:
        shallowest_us = max((states[0].latency_us for states in _states(tree)), default=0)
        if wanted == _ANY or shallowest_us <= _us(wanted):
            return ""
        return f"the shallowest idle state takes {shallowest_us} us to leave, and the kernel always has it"


def _may_be_x86(tree: Tree) -> bool:
    return re.search(r"^flags\s*:", tree.text("/proc/cpuinfo") or "flags:", re.MULTILINE) is not None


def _states(tree: Tree) -> list[list[_State]]:
    """Return the idle states of each CPU on line that has any, the shallowest first."""
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


class LatencyLimit(Knob):
    """What programs do for themselves: hold ``/dev/cpu_dma_latency`` open.

    It can't be left in force: it ends with who holds it. For that there is `c-states`.
    Source: the kernel's Documentation/power/pm_qos_interface.rst.
    """

    name = "latency-limit"
    summary = "what idle CPUs may take to wake up, held while measuring: none, or a time such as 20us"

    def available(self, tree: Tree) -> str | None:
        """It is a limit on the choice of idle states."""
        if not tree.exists(_DEVICE):
            return f"this kernel has no {_DEVICE}"
        return None if _states(tree) else "this kernel offers no idle states, so a limit has no effect"

    def read(self, tree: Tree) -> str | None:
        """Return the strictest limit that anybody holds."""
        limit_us = latency_limit_us(tree, _DEVICE)
        return None if limit_us is None else _NO_LIMIT if limit_us == -1 else f"{limit_us}us"

    def check(self, wanted: str) -> None:
        if wanted != _NO_LIMIT and parse_duration_ns(wanted) // 1000 >= NO_LIMIT_US:
            raise UsageError(
                f"'{wanted}' limits nothing: the kernel takes 2000 s and more for no limit", "Write none."
            )

    def canonical(self, wanted: str, tree: Tree) -> str:
        self.check(wanted)
        return _NO_LIMIT if wanted == _NO_LIMIT else f"{parse_duration_ns(wanted) // 1000}us"

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """What others hold stays."""
        if wanted in (_NO_LIMIT, self.read(tree)):
            return ()
        return (Hold(_DEVICE, struct.pack("<i", _us(wanted))),)

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        if wanted == _NO_LIMIT:
            return BootAdvice()
        return BootAdvice(now=f"sudo cpupower idle-set -D {_us(wanted) + 1}")

    def shortfall(self, wanted: str, tree: Tree) -> str:
        return "another program holds a stricter limit"


class Governor(Knob):
    """The cpufreq governor of all CPUs on line."""

    name = "governor"
    summary = "how the clock rate is chosen: performance, powersave, schedutil, …, as the driver has them"

    def available(self, tree: Tree) -> str | None:
        return None if _folders(tree) else "the clock rate of this machine is not steered by Linux"

    def read(self, tree: Tree) -> str | None:
        """Return the governor; several are told with commas between."""
        held = {tree.text(f"{folder}/scaling_governor") for folder in _folders(tree)}
        return ",".join(sorted(one for one in held if one)) or None

    def check(self, wanted: str) -> None:
        if not wanted.replace("_", "").isalnum():
            raise UsageError(f"'{wanted}' is not a governor", "Write performance, or what the driver has.")

    def canonical(self, wanted: str, tree: Tree) -> str:
        self.check(wanted)
        for folder in _folders(tree):
            if offered := tree.text(f"{folder}/scaling_available_governors"):
                check_word(wanted, offered.split())
        return wanted

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """One write for each set of CPUs that share a clock; see `Knob`.

        Before it what goes with the governor is written with what it holds, to be put back after it: the
        preference between speed and energy, as with `performance` intel_pstate and amd-pstate in their active
        modes set the highest, and not all of them remember what it was; and the speed of `userspace`, which
        begins with that at hand.
        """
        return tuple(
            change
            for folder in _folders(tree)
            if tree.text(f"{folder}/scaling_governor") != wanted
            for change in (*_going_with_it(folder, tree), Write(f"{folder}/scaling_governor", wanted))
        )

    def advice(self, wanted: str, tree: Tree) -> BootAdvice:
        return BootAdvice(
            now=f"sudo cpupower frequency-set -g {wanted}", at_boot=f"cpufreq.default_governor={wanted}"
        )


def _going_with_it(folder: str, tree: Tree) -> list[Write]:
    paths = (f"{folder}/energy_performance_preference", f"{folder}/scaling_setspeed")
    held = ((path, tree.text(path)) for path in paths)
    return [Write(path, text, may_refuse=True) for path, text in held if text and text != _NO_SPEED]


def _folders(tree: Tree) -> list[str]:
    shared = [f"{_POLICIES}/{name}" for name in tree.folders(_POLICIES) if name.startswith("policy")]
    own = (f"{CPUS}/{name}/cpufreq" for name in tree.folders(CPUS) if name.removeprefix("cpu").isdecimal())
    return [folder for folder in shared or own if tree.text(f"{folder}/scaling_governor")]
