"""System management interrupts while a run was measured: the firmware's, which the kernel can't see."""

from collections.abc import Iterator

from tautochrone.base.words import plural
from tautochrone.machine.facts.cpus import count_system_management_interrupts
from tautochrone.machine.tree import Files, Tree
from tautochrone.run.facts import Facts
from tautochrone.run.manifest import Warning as RunWarning

SMIS = "smis"
"""Name of the condition, and code of the warning."""

_COUNTER_VALUES = 1 << 32


class SmiCounter:
    """Counts from its beginning on, where the processor counts and the counter may be read."""

    def __init__(self, files: Files, facts: Facts) -> None:
        """Begin.

        Args:
            files: the machine's.
            facts: about it; they say whether the counter can be read.
        """
        readable = facts.firmware.smi_count is not None
        self._tree = Tree(files) if readable else None
        self._first = self._count()

    def since(self) -> int | None:
        """Return how many there were since the beginning; None: not known."""
        last = self._count()
        return None if last is None or self._first is None else (last - self._first) % _COUNTER_VALUES

    def _count(self) -> int | None:
        return None if self._tree is None else count_system_management_interrupts(self._tree)


def caution_of_smis(count: int | None) -> Iterator[RunWarning]:
    """A warning if there were any: each stops all CPUs, for tens of microseconds to milliseconds."""
    if count:
        came = plural(count, "system management interrupt")
        yield RunWarning(
            SMIS,
            f"{came} came while this was measured",
            "The firmware stops all CPUs for each, and the kernel can't see it. Look in the firmware's "
            "settings for power management, USB legacy support and error reporting.",
        )
