"""The limit on how long an idle CPU may take to wake up, for as long as somebody holds it."""

import struct
from collections.abc import Sequence

from tautochrone.base.units import parse_duration_ns
from tautochrone.machine.knob.c_states import has_idle_states
from tautochrone.machine.knob.knob import Advice, Plain
from tautochrone.machine.settings import Change, Hold
from tautochrone.machine.tree import Tree

_NONE = "none"
_DEVICE = "/dev/cpu_dma_latency"
_NO_LIMIT_US = 2_000_000_000  # PM_QOS_CPU_LATENCY_DEFAULT_VALUE


class LatencyLimit(Plain):
    """What programs do for themselves: hold ``/dev/cpu_dma_latency`` open.

    It can't be left in force: it ends with who holds it. For that there is `c-states`.
    Source: the kernel's Documentation/power/pm_qos_interface.rst.
    """

    name = "latency-limit"
    summary = "what idle CPUs may take to wake up, held while measuring: none, or a time such as 20us"

    def available(self, tree: Tree) -> str | None:
        """It is a limit on the choice of idle states; see `Knob`."""
        if not tree.exists(_DEVICE):
            return f"this kernel has no {_DEVICE}"
        return (
            None if has_idle_states(tree) else "this kernel offers no idle states, so a limit has no effect"
        )

    def read(self, tree: Tree) -> str | None:
        """The strictest limit that anybody holds; see `Knob`."""
        held = tree.data(_DEVICE) or b""
        if len(held) != struct.calcsize("<i"):
            return None
        limit_us = struct.unpack("<i", held)[0]
        return _NONE if limit_us >= _NO_LIMIT_US else f"{limit_us}us"

    def check(self, wanted: str) -> None:
        """See `Knob`."""
        if wanted != _NONE:
            parse_duration_ns(wanted)

    def canonical(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        self.check(wanted)
        return _NONE if wanted == _NONE else f"{parse_duration_ns(wanted) // 1000}us"

    def changes(self, wanted: str, tree: Tree) -> Sequence[Change]:
        """What others hold stays; see `Knob`."""
        if wanted in (_NONE, self.read(tree)):
            return ()
        return (Hold(_DEVICE, struct.pack("<i", int(wanted.removesuffix("us")))),)

    def advice(self, wanted: str, tree: Tree) -> Advice:
        """See `Knob`."""
        if wanted == _NONE:
            return Advice()
        return Advice(now=f"sudo cpupower idle-set -D {int(wanted.removesuffix('us')) + 1}")

    def shortfall(self, wanted: str, tree: Tree) -> str:
        """See `Knob`."""
        return "another program holds a stricter limit"
