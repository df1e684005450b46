"""How the clock rate of the CPUs is chosen."""

from collections.abc import Sequence

from tautochrone.base.errors import UsageError
from tautochrone.machine.knob.cpus import CPUS
from tautochrone.machine.knob.file_knob import check_word
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree

_POLICIES = f"{CPUS}/cpufreq"


class Governor(Plain):
    """The cpufreq governor of all CPUs on line."""

    name = "governor"
    summary = "how the clock rate is chosen: performance, powersave, schedutil, …, as the driver has them"

    def available(self, tree: Tree) -> str | None:
        """See `Knob`."""
        return None if _folders(tree) else "the clock rate of this machine is not steered by Linux"

    def read(self, tree: Tree) -> str | None:
        """The governor; several are told with commas between; see `Knob`."""
        held = {tree.text(f"{folder}/scaling_governor") for folder in _folders(tree)}
        return ",".join(sorted(one for one in held if one)) or None

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        if not wanted.replace("_", "").isalnum():
            raise UsageError(f"'{wanted}' is not a governor", "Write performance, or what the driver has.")

    def canonical(self, wanted: str, tree: Tree) -> str:
        """The word itself; see `Knob`."""
        self.check(wanted)
        for folder in _folders(tree):
            if offered := tree.text(f"{folder}/scaling_available_governors"):
                check_word(wanted, offered.split())
        return wanted

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """One write for each set of CPUs that share a clock; see `Knob`.

        Before it the preference between speed and energy is written with what it holds, to be put back
        after the governor: with `performance`, intel_pstate and amd-pstate in their active modes set the
        highest, and not all of them remember what it was.
        """
        return tuple(
            change
            for folder in _folders(tree)
            if tree.text(f"{folder}/scaling_governor") != wanted
            for change in (*_preference(folder, tree), Write(f"{folder}/scaling_governor", wanted))
        )

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """See `Knob`."""
        return Advice(
            now=f"sudo cpupower frequency-set -g {wanted}", at_boot=f"cpufreq.default_governor={wanted}"
        )


def _preference(folder: str, tree: Tree) -> list[Write]:
    path = f"{folder}/energy_performance_preference"
    held = tree.text(path)
    return [Write(path, held, may_refuse=True)] if held else []


def _folders(tree: Tree) -> list[str]:
    shared = [f"{_POLICIES}/{name}" for name in tree.folders(_POLICIES) if name.startswith("policy")]
    own = (f"{CPUS}/{name}/cpufreq" for name in tree.folders(CPUS) if name.removeprefix("cpu").isdecimal())
    return [folder for folder in shared or own if tree.text(f"{folder}/scaling_governor")]
