"""The knobs that are one file each."""

from tautochrone.machine.knob.file_knob import FileKnob, Place

_ON_OFF = {"on": "1", "off": "0"}
_CPUS = "/sys/devices/system/cpu"

BOOST = FileKnob(
    "boost",
    "clock rates above the rated one (turbo): on or off",
    (
        Place(f"{_CPUS}/cpufreq/boost", _ON_OFF),
        Place(f"{_CPUS}/intel_pstate/no_turbo", {"on": "0", "off": "1"}),
    ),
    "this machine's clock is not steered by Linux, or has no boost",
    {"off": "the firmware's setting for turbo or boost"},
)
TIMER_MIGRATION = FileKnob(
    "timer-migration",
    "whether timers of idle CPUs may move to busy ones: on or off",
    (Place("/proc/sys/kernel/timer_migration", _ON_OFF),),
    "this kernel does not move timers between CPUs",
)
NUMA_BALANCING = FileKnob(
    "numa-balancing",
    "moving memory after the tasks that use it, by page faults: on or off",
    (Place("/proc/sys/kernel/numa_balancing", _ON_OFF),),
    "this kernel does not balance memory between nodes",
    {"off": "numa_balancing=disable"},
)
HUGE_PAGES = FileKnob(
    "transparent-hugepages",
    "large pages made behind the programs' backs: always, madvise or never",
    (
        Place(
            "/sys/kernel/mm/transparent_hugepage/enabled",
            {"always": "always", "madvise": "madvise", "never": "never"},
        ),
    ),
    "this kernel is built without transparent huge pages",
    {word: f"transparent_hugepage={word}" for word in ("always", "madvise", "never")},
)
