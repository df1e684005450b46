"""The kernel's lock-up detectors: one switch for both, and one for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.machine.knob.file_knob import FileKnob, Place
from tautochrone.machine.settings import Change, Write
from tautochrone.machine.tree import Tree

_BOTH = "/proc/sys/kernel/watchdog"
_EACH = ("/proc/sys/kernel/soft_watchdog", "/proc/sys/kernel/nmi_watchdog")


@dataclass(frozen=True)
class Watchdog(FileKnob):
    """The lock-up detectors.

    While the switch for both is off, whoever reads one of the others turns that off for good: the kernel then
    takes what is in force for what was asked for (kernel/watchdog.c, proc_watchdog_common). So those that are
    on are put back too, each after the switch for both, and none is read before.
    """

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """Each that is on, then both; see `Knob`."""
        if self.read(tree) == wanted:
            return ()
        if wanted == "on":
            return (Write(_BOTH, "1"),)
        running = [path for path in _EACH if tree.text(path) == "1"]
        return tuple(Write(path, "0", undo="1") for path in (*running, _BOTH))


WATCHDOG = Watchdog(
    "watchdog",
    "the kernel's lock-up detectors, which run on every CPU: on or off",
    (Place(_BOTH, {"on": "1", "off": "0"}),),
    "this kernel is built without lock-up detectors",
    {"off": "nowatchdog"},
)
