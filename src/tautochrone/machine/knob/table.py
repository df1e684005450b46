"""The table of knobs."""

from tautochrone.machine.knob.c_states import CStates
from tautochrone.machine.knob.files import BOOST, HUGE_PAGES, NUMA_BALANCING, TIMER_MIGRATION
from tautochrone.machine.knob.governor import Governor
from tautochrone.machine.knob.interrupts import Interrupts
from tautochrone.machine.knob.isolated import Isolated
from tautochrone.machine.knob.knob import Knob
from tautochrone.machine.knob.latency_limit import LatencyLimit
from tautochrone.machine.knob.online import Online
from tautochrone.machine.knob.rt_throttling import RtThrottling
from tautochrone.machine.knob.smt import Smt
from tautochrone.machine.knob.watchdog import WATCHDOG
from tautochrone.machine.knob.workqueues import Workqueues

KNOBS: tuple[Knob, ...] = (
    RtThrottling(),
    Smt(),
    Online(),
    Isolated(),
    Interrupts(),
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
