"""The settings of a machine, each a knob; here the table of them."""

from tautochrone.machine.knob.cpus import InterruptCpus, Online, Smt, Workqueues
from tautochrone.machine.knob.isolated import Isolated, Tickless
from tautochrone.machine.knob.kernel import (
    BOOST,
    HUGE_PAGES,
    NUMA_BALANCING,
    TIMER_MIGRATION,
    WATCHDOG,
    RtThrottling,
)
from tautochrone.machine.knob.knob import Knob
from tautochrone.machine.knob.power import CStates, Governor, LatencyLimit

KNOBS: tuple[Knob, ...] = (
    RtThrottling(),
    Smt(),
    Online(),
    Isolated(),
    Tickless(),
    InterruptCpus(),
    Workqueues(),
    CStates(),
    LatencyLimit(),
    Governor(),
    BOOST,
    WATCHDOG,
    TIMER_MIGRATION,
    NUMA_BALANCING,
    HUGE_PAGES,
)
"""In the order in which they are applied: first what the kernel refuses once CPUs have gone or are isolated,
as it then loses count of what it has promised to real-time threads; then which CPUs there are, then who is
kept away from them, as a CPU that comes or goes takes interrupts and threads with it; last what each CPU
does."""
