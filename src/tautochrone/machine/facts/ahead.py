"""Says in advance what an observation will read, so that a far machine is asked in a few round trips.

Nothing here is needed for the facts to be right: what is missing in these lists is read one by one.
`tests/test_machine_facts.py` counts how much that is.
"""

from tautochrone.machine.facts.firmware import MACHINE_CHECK, PCIE_POLICY
from tautochrone.machine.facts.interrupts import irq_paths
from tautochrone.machine.facts.isolation import CGROUPS, CPUSET_1, WORKQUEUES
from tautochrone.machine.facts.kernel import FAIR_SERVER, VULNERABILITIES, fair_server_paths
from tautochrone.machine.facts.power import (
    FREQUENCY_FILES,
    LATENCY_LIMIT,
    THROTTLE_FILES,
    describing_cpus,
    idle_folders,
    online_cpus,
)
from tautochrone.machine.facts.tracing import PLACES
from tautochrone.machine.tree import Tree

_CPUS = "/sys/devices/system/cpu"
_CLOCK = "/sys/devices/system/clocksource/clocksource0"
_KERNEL = "/proc/sys/kernel"
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"

_FILES = (
    *(f"/sys/class/dmi/id/{name}" for name in (
        "sys_vendor", "product_name", "board_vendor", "board_name", "bios_vendor", "bios_version",
        "bios_date",
    )),
    *(f"{_KERNEL}/{name}" for name in (
        "arch", "ostype", "osrelease", "version", "printk", "numa_balancing", "nmi_watchdog", "soft_watchdog",
        "watchdog", "watchdog_cpumask", "sched_rt_runtime_us", "sched_rt_period_us", "timer_migration",
        "stack_tracer_enabled", "bpf_stats_enabled",
    )),
    *(f"/proc/{name}" for name in (
        "cmdline", "config.gz", "cpuinfo", "meminfo", "stat", "uptime", "timer_list", "self/status",
        "self/limits", "self/cgroup", "self/uid_map", "self/timerslack_ns", "irq/default_smp_affinity",
        "device-tree/model", "device-tree/hypervisor/compatible", "bus/pci/devices",
    )),
    *(f"/proc/sys/vm/{name}" for name in (
        "swappiness", "compact_unevictable_allowed", "compaction_proactiveness",
    )),
    *(f"{_CPUS}/{name}" for name in (
        "online", "isolated", "nohz_full", "smt/control", "smt/active", "cpufreq/boost",
        "intel_pstate/no_turbo",
        "cpuidle/current_driver", "cpuidle/current_governor", "cpuidle/current_governor_ro",
    )),
    *(f"{_CLOCK}/{name}" for name in ("current_clocksource", "available_clocksource")),
    *(f"{_HUGE_PAGES}/{name}" for name in ("enabled", "defrag")),
    *(f"{place}/{name}" for place in PLACES for name in (
        "current_tracer", "events/enable", "tracing_on", "kprobe_events",
    )),
    *(f"{group}/{name}" for group in CGROUPS for name in ("cgroup.controllers", "cpuset.cpus.isolated")),
    f"{CPUSET_1}/cpuset.sched_load_balance", WORKQUEUES, LATENCY_LIMIT, PCIE_POLICY,
    f"{MACHINE_CHECK}/ignore_ce", f"{MACHINE_CHECK}/check_interval",
    "/sys/kernel/realtime", "/sys/kernel/debug/sched/preempt", "/sys/kernel/mm/ksm/run",
    "/sys/devices/system/node/online", "/sys/hypervisor/type", "/run/systemd/container",
)  # fmt: skip
_FOLDERS = (
    "/proc/irq", "/run", "/run/irqbalance", "/sys/firmware", VULNERABILITIES, FAIR_SERVER, *CGROUPS,
    *(f"{place}/instances" for place in PLACES),
)  # fmt: skip


def read_ahead(tree: Tree) -> None:
    """Announce what will be read, in three steps, as what each finds tells where to look next."""
    files = tree.files
    files.prefetch((*_FILES, *_FOLDERS))
    online = online_cpus(tree)
    release = tree.text("/proc/sys/kernel/osrelease")
    files.prefetch(
        (
            *(path for cpu in online for path in _of_cpu(cpu)),
            *(f"{_CPUS}/cpu{cpu}/cpufreq/scaling_driver" for cpu in online[:1]),
            *(f"{_CPUS}/cpu{cpu}/cache" for cpu in online[:1]),
            *(f"{VULNERABILITIES}/{name}" for name in tree.names(VULNERABILITIES)),
            *((f"/boot/config-{release}",) if release else ()),
            *fair_server_paths(tree),
            *(irq_paths(tree) if tree.text(f"{_CPUS}/isolated") else ()),
        )
    )
    describing = describing_cpus(tree, online)
    caches = [f"{_CPUS}/cpu{cpu}/cache" for cpu in online[:1]]
    files.prefetch(
        (
            *(f"{folder}/disable" for cpu in online for folder in idle_folders(tree, cpu)),
            *(
                f"{folder}/{name}"
                for cpu in set(describing.values())
                for folder in idle_folders(tree, cpu)
                for name in ("name", "latency")
            ),
            *(
                f"{folder}/{index}/{name}"
                for folder in caches
                for index in tree.names(folder)
                for name in ("level", "type", "size", "shared_cpu_list")
            ),
        )
    )


def _of_cpu(cpu: int) -> tuple[str, ...]:
    folder = f"{_CPUS}/cpu{cpu}"
    return (
        f"{folder}/topology/core_cpus_list",
        f"{folder}/topology/physical_package_id",
        f"{folder}/cpu_capacity",
        f"{folder}/cpuidle",
        f"{folder}/power/pm_qos_resume_latency_us",
        *(f"{folder}/cpufreq/{name}" for name in FREQUENCY_FILES),
        *(f"{folder}/thermal_throttle/{name}" for name in THROTTLE_FILES),
    )
