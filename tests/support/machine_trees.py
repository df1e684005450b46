"""Fake machines as file trees: a well set-up real-time PC, and changes to it."""

from collections.abc import Mapping
from pathlib import Path

from tautochrone.machine.tree import Kind

_CPUS = "/sys/devices/system/cpu"

CONFIG = """\
CONFIG_PREEMPT_RT=y
CONFIG_HZ=1000
CONFIG_HZ_PERIODIC=y
CONFIG_HIGH_RES_TIMERS=y
# CONFIG_KASAN is not set
"""

STATUS = """\
Name:\tpython
Uid:\t1000\t1000\t1000\t1000
CapEff:\t0000000000000000
Cpus_allowed_list:\t0-1
"""

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max locked memory         unlimited            unlimited            bytes
Max realtime priority     99                   99
Max realtime timeout      unlimited            unlimited            us
"""

CPUINFO = """\
processor\t: 0
model name\t: Example CPU 3000
flags\t\t: fpu tsc constant_tsc nonstop_tsc rdtscp

processor\t: 1
model name\t: Example CPU 3000
flags\t\t: fpu tsc constant_tsc nonstop_tsc rdtscp
"""


def _cpu(number: int) -> dict[str, str]:
    folder = f"{_CPUS}/cpu{number}"
    return {
        f"{folder}/topology/core_cpus_list": str(number),
        f"{folder}/topology/physical_package_id": "0",
        f"{folder}/cache/index0/level": "1",
        f"{folder}/cache/index0/type": "Data",
        f"{folder}/cache/index0/size": "32K",
        f"{folder}/cache/index0/shared_cpu_list": str(number),
        f"{folder}/cpufreq/scaling_governor": "performance",
        f"{folder}/cpufreq/scaling_driver": "intel_pstate",
        f"{folder}/cpufreq/cpuinfo_min_freq": "800000",
        f"{folder}/cpufreq/cpuinfo_max_freq": "3400000",
        f"{folder}/cpuidle/state0/name": "POLL",
        f"{folder}/cpuidle/state0/latency": "0",
        f"{folder}/cpuidle/state0/disable": "0",
        f"{folder}/cpuidle/state1/name": "C1",
        f"{folder}/cpuidle/state1/latency": "2",
        f"{folder}/cpuidle/state1/disable": "0",
        f"{folder}/cpuidle/state2/name": "C6",
        f"{folder}/cpuidle/state2/latency": "133",
        f"{folder}/cpuidle/state2/disable": "1",
    }


REALTIME_PC: dict[str, str] = {
    "/proc/sys/kernel/ostype": "Linux",
    "/proc/sys/kernel/osrelease": "6.1.0-rt",
    "/proc/sys/kernel/version": "#1 SMP PREEMPT_RT Debian 6.1.90-1 (2024-05-03)",
    "/proc/sys/kernel/arch": "x86_64",
    "/proc/sys/kernel/hostname": "secret-name",
    "/proc/cmdline": "quiet isolcpus=managed_irq,domain,1 -- init-word",
    "/boot/config-6.1.0-rt": CONFIG,
    "/sys/class/dmi/id/sys_vendor": "Example",
    "/sys/class/dmi/id/product_name": "Controller 7",
    f"{_CPUS}/vulnerabilities/meltdown": "Not affected",
    f"{_CPUS}/online": "0-1",
    f"{_CPUS}/isolated": "1",
    f"{_CPUS}/nohz_full": "(null)",
    f"{_CPUS}/smt/active": "0",
    f"{_CPUS}/smt/control": "off",
    f"{_CPUS}/cpuidle/current_driver": "intel_idle",
    f"{_CPUS}/cpuidle/current_governor": "menu",
    f"{_CPUS}/intel_pstate/no_turbo": "1",
    "/sys/devices/system/node/online": "0",
    "/proc/cpuinfo": CPUINFO,
    "/proc/self/status": STATUS,
    "/proc/self/limits": LIMITS,
    "/proc/self/timerslack_ns": "1",
    "/proc/self/cgroup": "0::/",
    "/proc/self/uid_map": "         0          0 4294967295",
    "/proc/timer_list": "cpu: 0\n  .hres_active    : 1\n",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm",
    "/proc/irq/default_smp_affinity": "1",
    "/proc/irq/24/effective_affinity_list": "0",
    "/proc/irq/24/eth0/.keep": "",
    "/proc/sys/kernel/nmi_watchdog": "0",
    "/proc/sys/kernel/soft_watchdog": "0",
    "/proc/sys/kernel/watchdog_cpumask": "0-1",
    "/proc/meminfo": "MemTotal:       16000000 kB\nSwapTotal:             0 kB\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]",
    "/proc/sys/vm/compact_unevictable_allowed": "0",
    "/proc/sys/kernel/numa_balancing": "0",
    "/proc/stat": "cpu  100 0 50 9850 0 0 0 0 0 0\n",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000",
    "/proc/sys/kernel/sched_rt_period_us": "1000000",
    "/sys/kernel/tracing/current_tracer": "nop",
    "/sys/kernel/tracing/events/enable": "0",
    "/sys/kernel/tracing/tracing_on": "1",
    "/sys/devices/virtual/workqueue/cpumask": "1",
    "/sys/class/tty/console/active": "tty0",
    **_cpu(0),
    **_cpu(1),
}


def with_cpus(count: int) -> dict[str, str]:
    """The real-time PC with so many CPUs, the last one isolated, and an interrupt for each."""
    everything = {name: text for cpu in range(count) for name, text in _cpu(cpu).items()}
    interrupts = {f"/proc/irq/{100 + cpu}/effective_affinity_list": "0" for cpu in range(count)}
    handlers = {f"/proc/irq/{100 + cpu}/device/.keep": "" for cpu in range(count)}
    limits = {f"{_CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us": "0" for cpu in range(count)}
    return {
        **everything,
        **interrupts,
        **handlers,
        **limits,
        f"{_CPUS}/online": f"0-{count - 1}",
        f"{_CPUS}/isolated": str(count - 1),
    }


class PlantedFiles:
    """The real-time PC with changes, held in memory; a change to None leaves a file out.

    A name that ends in ``*`` leaves out everything that begins so.
    """

    are_of_this_machine = False
    are_of_emulated_cpus = False

    def __init__(self, changes: Mapping[str, str | None] | None = None) -> None:
        files: dict[str, str | None] = {**REALTIME_PC, **(changes or {})}
        left_out = tuple(name[:-1] for name in files if name.endswith("*"))
        self.texts = {
            name: text
            for name, text in files.items()
            if text is not None and not name.endswith("*") and not (left_out and name.startswith(left_out))
        }
        self._names: dict[str, set[str]] = {}
        for path in self.texts:
            folder, _, name = path.rpartition("/")
            self._names.setdefault(folder, set()).add(name)
            while folder:
                folder, _, name = folder.rpartition("/")
                self._names.setdefault(folder, set()).add(f"{name}/")

    def read(self, path: str) -> bytes:
        if path not in self.texts:
            raise FileNotFoundError(path)
        return self.texts[path].encode()

    def names(self, path: str) -> tuple[str, ...]:
        if path.rstrip("/") not in self._names:
            raise FileNotFoundError(path)
        return tuple(self._names[path.rstrip("/")])

    def kind(self, path: str) -> Kind | None:
        return "file" if path in self.texts else "folder" if path.rstrip("/") in self._names else None

    def prefetch(self, paths: tuple[str, ...]) -> None:
        """Nothing to do: they are near."""


def plant(root: Path, changes: Mapping[str, str | None] | None = None) -> Path:
    """Write the files of `PlantedFiles` below `root`."""
    made: set[str] = set()
    for name, text in PlantedFiles(changes).texts.items():
        folder = f"{root}/{name.rpartition('/')[0]}"
        if folder not in made:
            Path(folder).mkdir(parents=True, exist_ok=True)
            made.add(folder)
        Path(f"{root}/{name}").write_text(text)
    return root
