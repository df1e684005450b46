"""What each check of the audit has to answer, on changes to a well set-up machine."""

from machine_trees import CONFIG, CPUINFO, LIMITS, STATUS

Changes = dict[str, str | None]

_CPUS = "/sys/devices/system/cpu"
_SOURCE = "/sys/devices/system/clocksource/clocksource0"
_TRACING = "/sys/kernel/tracing"
_PART = "/sys/fs/cgroup/loops"
_CHECK = "/sys/devices/system/machinecheck/machinecheck0"
_ASPM = "/sys/module/pcie_aspm/parameters/policy"
_HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
GUEST: Changes = {"/proc/cpuinfo": CPUINFO.replace("fpu", "fpu hypervisor")}
LAB_GUEST: Changes = {
    **GUEST,
    "/proc/bus/pci/devices": "0018\t1af41110\t0\n0020\t149830c8\t0\n",
}
PLAIN: Changes = {
    "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC",
    "/boot/config-6.1.0-rt": "CONFIG_PREEMPT=y\n",
}
ADJUSTABLE: Changes = {"/proc/cpuinfo": CPUINFO.replace("nonstop_tsc", "nonstop_tsc tsc_adjust")}
IDLE_TICK: Changes = {"/boot/config-6.1.0-rt": CONFIG.replace("HZ_PERIODIC", "NO_HZ_IDLE")}
_COBALT = "/sys/module/xenomai/parameters"
COBALT: Changes = {
    "/proc/xenomai/version": "3.2.1",
    "/proc/xenomai/clock/coreclk": "gravity: irq=99 kernel=1341 user=1341\n devices: timer=lapic",
    f"{_COBALT}/watchdog_timeout": "4",
    f"{_COBALT}/smi": "detect",
}
EVL: Changes = {
    "/sys/class/evl/control/abi": "33",
    "/sys/devices/virtual/clock/monotonic/gravity": "0i 0k 0u",
    "/sys/module/evl/parameters/watchdog_timeout": "4",
}
PER_CPU: Changes = {
    "/proc/irq/14/arm-pmu/.keep": "",
    "/proc/irq/14/effective_affinity_list": "",
    "/proc/irq/14/smp_affinity_list": "0-1",
}
TICKLESS: Changes = {f"{_CPUS}/nohz_full": "1"}
PARTITIONED: Changes = {
    "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory",
    f"{_PART}/cpuset.cpus": "1",
}
POLLING: Changes = {f"{_CHECK}/check_interval": "300", f"{_CHECK}/ignore_ce": "0"}
NEW: Changes = {"/proc/sys/kernel/osrelease": "6.12.3"}
WITHOUT_STATES: Changes = {f"{_CPUS}/cpu{cpu}/cpuidle/*": None for cpu in (0, 1)}
OFFLOADING: Changes = {"/boot/config-6.1.0-rt": CONFIG + "CONFIG_RCU_NOCB_CPU_DEFAULT_ALL=y\n"}
BY_EFI: Changes = {"/sys/firmware/efi/fw_platform_size": "64"}
GROUPED: Changes = {"/boot/config-6.1.0-rt": CONFIG + "CONFIG_RT_GROUP_SCHED=y\n"}
NO_PERMISSION: Changes = {
    "/proc/self/limits": LIMITS.replace("99                   99", "0                    0").replace(
        "memory         unlimited", "memory         65536    "
    )
}


def status(capabilities: str) -> str:
    return STATUS.replace("0000000000000000", capabilities)


# Code, what is changed on the well set-up machine, the level that the finding must have (None: no finding).
CASES: list[tuple[str, Changes, str | None]] = [
    ("preempt-rt", {}, "good"),
    ("preempt-rt", PLAIN, "warning"),
    ("preempt-rt", {**PLAIN, "/proc/xenomai/version": "3.1"}, "note"),
    ("preempt-rt", {"/proc/sys/kernel/version": None, "/boot/*": None}, "unknown"),
    ("preemption-model", {}, None),
    ("preemption-model", PLAIN, "good"),
    ("preemption-model", {**PLAIN, "/sys/kernel/debug/sched/preempt": "none voluntary full (lazy)"}, "good"),
    ("preemption-model", {**PLAIN, "/sys/kernel/debug/sched/preempt": "none (voluntary) full"}, "warning"),
    ("preemption-model", {"/proc/sys/kernel/version": "#1 SMP", "/boot/*": None}, "warning"),
    ("preemption-model", {**PLAIN, "/boot/*": None}, "unknown"),
    ("kernel-debugging", {}, "good"),
    ("kernel-debugging", {"/boot/config-6.1.0-rt": CONFIG + "CONFIG_PROVE_LOCKING=y\n"}, "warning"),
    ("kernel-debugging", {"/boot/config-6.1.0-rt": CONFIG + "CONFIG_DEBUG_PREEMPT=y\n"}, "note"),
    (
        "kernel-debugging",
        {"/boot/config-6.1.0-rt": CONFIG + "CONFIG_KASAN=y\nCONFIG_KASAN_HW_TAGS=y\n"},
        "good",
    ),
    ("kernel-debugging", {"/boot/*": None}, "unknown"),
    ("mitigations", {}, "good"),
    ("mitigations", {f"{_CPUS}/vulnerabilities/spectre_v2": "Mitigation: Retpolines"}, "note"),
    ("mitigations", {f"{_CPUS}/vulnerabilities/*": None}, None),
    ("high-resolution-timers", {}, "good"),
    ("high-resolution-timers", {"/proc/timer_list": " .hres_active    : 0\n"}, "warning"),
    ("high-resolution-timers", {"/proc/timer_list": None}, "unknown"),
    ("clock-source", {}, "good"),
    ("clock-source", {f"{_SOURCE}/current_clocksource": "hpet"}, "warning"),
    ("clock-source", {f"{_SOURCE}/current_clocksource": "kvm-clock"}, "note"),
    ("clock-source", {f"{_SOURCE}/current_clocksource": "arch_sys_counter"}, "good"),
    ("clock-source", {f"{_SOURCE}/*": None}, "unknown"),
    ("virtual-machine", {}, "good"),
    ("virtual-machine", GUEST, "warning"),
    ("virtual-machine", LAB_GUEST, "note"),
    ("virtual-machine", {"/proc/cpuinfo": None}, "unknown"),
    ("steal-time", {}, None),
    ("steal-time", GUEST, "note"),
    ("steal-time", {**GUEST, "/proc/stat": "cpu 1 0 1 90 0 0 0 8 0 0\n"}, "warning"),
    ("steal-time", {**GUEST, "/proc/stat": None}, "unknown"),
    ("steal-time", LAB_GUEST, None),
    ("idle-states", LAB_GUEST, None),
    ("tsc-stability", LAB_GUEST, None),
    ("container", {}, None),
    ("container", {"/.dockerenv": ""}, "note"),
    ("container", {"/proc/self/cgroup": "0::/kubepods/pod1"}, "note"),
    ("cpu-quota", {}, "good"),
    ("cpu-quota", {"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/cpu.max": "50000 100000"}, "warning"),
    ("cpu-quota", {"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/cpu.max": "max 100000"}, "good"),
    ("cpu-quota", {"/proc/self/cgroup": "0::/a"}, "unknown"),
    ("cpu-quota", {"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/cgroup.controllers": "pids"}, "good"),
    ("cpu-quota", {"/proc/self/cgroup": None}, None),
    ("realtime-permission", {}, "good"),
    ("realtime-permission", NO_PERMISSION, "warning"),
    ("realtime-permission", {**NO_PERMISSION, "/proc/self/status": status("0000000000800000")}, "good"),
    ("realtime-permission", {"/proc/self/limits": None, "/proc/self/status": None}, "unknown"),
    ("memory-lock-permission", {}, "good"),
    ("memory-lock-permission", NO_PERMISSION, "warning"),
    ("memory-lock-permission", {**NO_PERMISSION, "/proc/self/status": status("0000000000004000")}, "good"),
    ("memory-lock-permission", {"/proc/self/limits": None, "/proc/self/status": None}, "unknown"),
    ("realtime-throttling", {}, "note"),
    ("realtime-throttling", {"/proc/sys/kernel/sched_rt_runtime_us": "-1"}, "note"),
    ("realtime-throttling", NEW, "note"),
    ("realtime-throttling", {"/proc/sys/kernel/sched_rt_runtime_us": None}, "unknown"),
    ("realtime-group-budget", {}, None),
    ("realtime-group-budget", GROUPED, None),
    ("realtime-group-budget", {**GROUPED, "/proc/self/cgroup": "0::/user.slice"}, "note"),
    (
        "realtime-group-budget",
        {**GROUPED, "/proc/self/cgroup": "0::/a", "/proc/cmdline": "rt_group_sched=0"},
        None,
    ),
    (
        "realtime-group-budget",
        {**GROUPED, "/proc/self/cgroup": "1:cpu:/a", "/sys/fs/cgroup/cpu/a/cpu.rt_runtime_us": "0"},
        "warning",
    ),
    (
        "realtime-group-budget",
        {**GROUPED, "/proc/self/cgroup": "1:cpu:/", "/sys/fs/cgroup/cpu/cpu.rt_runtime_us": "950000"},
        "good",
    ),
    ("realtime-time-limit", {}, None),
    (
        "realtime-time-limit",
        {"/proc/self/limits": "Max realtime timeout      200000    200000    us"},
        "note",
    ),
    ("timer-slack", {}, "good"),
    ("timer-slack", {"/proc/self/timerslack_ns": "50000"}, "note"),
    ("timer-slack", {"/proc/self/timerslack_ns": None}, "unknown"),
    ("idle-states", {}, "good"),
    ("idle-states", {f"{_CPUS}/cpu1/cpuidle/state2/disable": "0"}, "warning"),
    ("idle-states", GUEST, "note"),
    ("idle-states", WITHOUT_STATES, "unknown"),
    ("idle-states", {**WITHOUT_STATES, "/proc/cmdline": "idle=poll"}, "good"),
    ("idle-states", {**WITHOUT_STATES, "/proc/cmdline": "cpuidle.off=1"}, "good"),
    ("frequency-governor", {}, "good"),
    ("frequency-governor", {f"{_CPUS}/cpu1/cpufreq/scaling_governor": "powersave"}, "warning"),
    ("frequency-governor", {f"{_CPUS}/cpu1/cpufreq/scaling_governor": "schedutil"}, "warning"),
    (
        "frequency-governor",
        {
            f"{_CPUS}/cpu{cpu}/cpufreq/scaling_{name}": value
            for cpu in (0, 1)
            for name, value in (("driver", "acpi-cpufreq"), ("governor", "powersave"))
        },
        "note",
    ),
    ("frequency-governor", {f"{_CPUS}/cpu0/cpufreq/*": None, f"{_CPUS}/cpu1/cpufreq/*": None}, "note"),
    ("boost", {}, "good"),
    ("boost", {f"{_CPUS}/intel_pstate/no_turbo": "0"}, "note"),
    ("boost", {f"{_CPUS}/intel_pstate/no_turbo": None, f"{_CPUS}/cpufreq/boost": "1"}, "note"),
    ("boost", {f"{_CPUS}/intel_pstate/no_turbo": None}, None),
    ("smt", {}, "good"),
    ("smt", {f"{_CPUS}/smt/active": "1"}, "warning"),
    ("smt", GUEST, "note"),
    (
        "smt",
        {f"{_CPUS}/smt/active": None, f"{_CPUS}/cpu0/topology/*": None, f"{_CPUS}/cpu1/topology/*": None},
        "unknown",
    ),
    ("isolation", {}, "good"),
    ("isolation", {f"{_CPUS}/isolated": ""}, "note"),
    ("isolation", {f"{_CPUS}/isolated": "", "/sys/fs/cgroup/cpuset.cpus.isolated": "1"}, "good"),
    ("isolation", {f"{_CPUS}/isolated": "", f"{_CPUS}/online": "0"}, None),
    ("isolation", {f"{_CPUS}/isolated": None}, "unknown"),
    ("allowed-cpus", {}, None),
    ("allowed-cpus", {"/proc/self/status": STATUS.replace("0-1", "0")}, "note"),
    ("device-interrupts", {}, "good"),
    ("device-interrupts", {"/proc/irq/24/effective_affinity_list": "0-1"}, "warning"),
    ("device-interrupts", {"/proc/irq/25/effective_affinity_list": "1"}, "good"),  # nobody handles it
    ("device-interrupts", {**PER_CPU, "/proc/irq/14/effective_affinity_list": None}, "warning"),
    ("device-interrupts", PER_CPU, "good"),
    ("device-interrupts", {"/proc/irq/*": None}, "unknown"),
    ("device-interrupts", {f"{_CPUS}/isolated": ""}, None),
    ("lockup-watchdogs", {}, "good"),
    ("lockup-watchdogs", {"/proc/sys/kernel/nmi_watchdog": "1"}, "note"),
    (
        "lockup-watchdogs",
        {"/proc/sys/kernel/nmi_watchdog": None, "/proc/sys/kernel/soft_watchdog": None},
        "unknown",
    ),
    ("firmware-interrupts", {}, "unknown"),
    ("firmware-interrupts", GUEST, None),
    ("firmware-interrupts", {"/proc/sys/kernel/arch": "aarch64"}, None),
    ("transparent-huge-pages", {}, "good"),
    ("transparent-huge-pages", {_HUGE: "always [madvise] never"}, "good"),
    ("transparent-huge-pages", {_HUGE: "[always] madvise never"}, "warning"),
    ("transparent-huge-pages", {_HUGE: None}, "good"),  # the configuration shows that the kernel has none
    ("transparent-huge-pages", {_HUGE: None, "/boot/*": None}, "unknown"),
    ("compaction", {}, "good"),
    ("compaction", {"/proc/sys/vm/compact_unevictable_allowed": "1"}, "warning"),
    ("compaction", {"/proc/sys/vm/compact_unevictable_allowed": None}, None),
    ("swap", {}, "good"),
    ("swap", {"/proc/meminfo": "SwapTotal:       1048576 kB\n"}, "note"),
    ("swap", {"/proc/meminfo": None}, "unknown"),
    ("numa-balancing", {}, "good"),
    ("numa-balancing", {"/proc/sys/kernel/numa_balancing": "1"}, "warning"),
    ("numa-balancing", {"/proc/sys/kernel/numa_balancing": None}, None),
    ("same-page-merging", {}, None),
    ("same-page-merging", {"/sys/kernel/mm/ksm/run": "1"}, "note"),
    ("tsc-stability", {}, "note"),
    ("tsc-stability", ADJUSTABLE, "good"),
    ("tsc-stability", {**ADJUSTABLE, "/proc/sys/kernel/osrelease": "5.10.1"}, "note"),  # trusted from 5.17 on
    ("tsc-stability", {"/proc/cmdline": "tsc=nowatchdog"}, "good"),
    ("tsc-stability", {"/proc/cpuinfo": CPUINFO.replace(" constant_tsc", "")}, "warning"),
    ("tsc-stability", {"/proc/cpuinfo": CPUINFO.replace(" nonstop_tsc", "")}, "note"),
    ("tsc-stability", {f"{_SOURCE}/current_clocksource": "hpet"}, None),
    ("core-watchdog", {}, None),
    ("core-watchdog", COBALT, "good"),
    ("core-watchdog", {**COBALT, f"{_COBALT}/watchdog_timeout": None}, "warning"),
    ("core-watchdog", EVL, "good"),
    ("core-watchdog", {"/proc/rtai/scheduler": "LXRT"}, None),
    ("core-timer", COBALT, "note"),
    ("core-timer", EVL, "warning"),
    ("core-smi", COBALT, "note"),
    ("core-smi", {**COBALT, f"{_COBALT}/smi": "enabled"}, "note"),
    ("core-smi", EVL, None),
    ("tick", {}, "good"),
    ("tick", {"/boot/*": None}, "unknown"),
    ("tick", IDLE_TICK, "note"),
    ("tick", {**IDLE_TICK, "/proc/cmdline": "nohz=off"}, "good"),
    ("tick", {f"{_CPUS}/nohz_full": "1"}, "note"),
    ("timer-migration", {}, None),
    ("timer-migration", {"/proc/sys/kernel/timer_migration": "1"}, None),
    ("timer-migration", {**TICKLESS, "/proc/sys/kernel/timer_migration": "1"}, "note"),
    ("timer-migration", {**TICKLESS, "/proc/sys/kernel/timer_migration": "0"}, "good"),
    ("tracing", {}, "good"),
    ("tracing", {f"{_TRACING}/current_tracer": "function"}, "warning"),
    ("tracing", {f"{_TRACING}/events/enable": "X"}, "warning"),
    ("tracing", {f"{_TRACING}/kprobe_events": "p:one do_sys_open"}, "warning"),
    ("tracing", {"/proc/sys/kernel/stack_tracer_enabled": "1"}, "warning"),
    ("tracing", {"/proc/sys/kernel/bpf_stats_enabled": "1"}, "warning"),
    ("tracing", {f"{_TRACING}/instances/timerlat/trace": ""}, "note"),
    ("tracing", {f"{_TRACING}/*": None}, "good"),  # the configuration shows that it has none
    ("tracing", {f"{_TRACING}/*": None, "/boot/*": None}, "unknown"),
    ("tracing", {f"{_TRACING}/*": None, "/sys/kernel/debug/tracing/current_tracer": "wakeup"}, "warning"),
    ("console", {}, "good"),
    ("console", {"/sys/class/tty/console/active": "tty0 ttyS0"}, "note"),
    ("console", {"/sys/class/tty/console/active": "ttynull0"}, "good"),
    ("console", {"/sys/class/tty/console/active": None}, None),
    ("delgado2020-options", {}, "good"),
    ("delgado2020-options", {"/boot/config-6.1.0-rt": CONFIG + "CONFIG_SCHED_MC=y\n"}, "note"),
    ("delgado2020-options", {"/boot/*": None}, None),
    ("memory-limit", {}, None),
    ("memory-limit", {"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/memory.max": "1073741824"}, "note"),
    ("memory-limit", {"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/memory.high": "1048576"}, "warning"),
    ("memory-limit", {"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/memory.max": "max"}, None),
    ("latency-limit", {}, None),
    ("latency-limit", {f"{_CPUS}/cpu1/power/pm_qos_resume_latency_us": "20"}, "note"),
    ("latency-limit", {f"{_CPUS}/cpu1/power/pm_qos_resume_latency_us": "n/a"}, "note"),
    ("latency-limit", {f"{_CPUS}/cpu1/power/pm_qos_resume_latency_us": "0"}, None),
    ("thermal-throttling", {}, None),
    ("thermal-throttling", {f"{_CPUS}/cpu0/thermal_throttle/core_throttle_count": "0"}, "good"),
    ("thermal-throttling", {f"{_CPUS}/cpu1/thermal_throttle/package_throttle_count": "7"}, "warning"),
    ("unlike-cores", {}, None),
    ("unlike-cores", {"/sys/devices/cpu_core/cpus": "0", "/sys/devices/cpu_atom/cpus": "1"}, "note"),
    ("unlike-cores", {f"{_CPUS}/cpu0/cpu_capacity": "1024", f"{_CPUS}/cpu1/cpu_capacity": "446"}, "note"),
    ("cpuset-partitions", {}, None),
    ("cpuset-partitions", {**PARTITIONED, f"{_PART}/cpuset.cpus.partition": "member"}, None),
    ("cpuset-partitions", {**PARTITIONED, f"{_PART}/cpuset.cpus.partition": "isolated"}, "good"),
    (
        "cpuset-partitions",
        {
            **PARTITIONED,
            f"{_PART}/cpuset.cpus.partition": "root invalid (Cpu list in cpuset.cpus not exclusive)",
        },
        "warning",
    ),
    ("workqueues", {}, "good"),
    ("workqueues", {"/sys/devices/virtual/workqueue/cpumask": "3"}, "note"),
    ("workqueues", {"/sys/devices/virtual/workqueue/cpumask": None}, "unknown"),
    ("workqueues", {f"{_CPUS}/isolated": ""}, None),
    ("rcu-callbacks", {}, "note"),
    ("rcu-callbacks", {"/proc/cmdline": "isolcpus=1 rcu_nocbs=1"}, "good"),
    ("rcu-callbacks", {"/proc/cmdline": "isolcpus=1 rcu_nocbs=all"}, "good"),
    ("rcu-callbacks", {"/proc/cmdline": "isolcpus=1 rcu_nocbs=1-N"}, "good"),
    ("rcu-callbacks", {"/proc/cmdline": "isolcpus=1 rcu_nocbs=0-1:1/1"}, "good"),
    ("rcu-callbacks", {"/proc/cmdline": "isolcpus=1 rcu_nocbs"}, "note"),
    ("rcu-callbacks", TICKLESS, "good"),
    ("rcu-callbacks", OFFLOADING, "good"),
    ("rcu-callbacks", {**OFFLOADING, "/proc/cmdline": "isolcpus=1 rcu_nocbs=0"}, "note"),
    ("rcu-callbacks", {**OFFLOADING, f"{_CPUS}/nohz_full": "0"}, "note"),
    ("rcu-callbacks", {f"{_CPUS}/isolated": ""}, None),
    ("default-interrupt-affinity", {}, "good"),
    ("default-interrupt-affinity", {"/proc/irq/default_smp_affinity": "00000000,00000003"}, "note"),
    ("default-interrupt-affinity", {f"{_CPUS}/isolated": ""}, None),
    ("irqbalance", {}, None),
    ("irqbalance", {"/run/irqbalance/irqbalance812.sock": ""}, "note"),
    ("efi-runtime", {}, None),
    ("efi-runtime", BY_EFI, "note"),
    ("efi-runtime", {**BY_EFI, "/proc/cmdline": "efi=debug,noruntime"}, "good"),
    ("efi-runtime", {**BY_EFI, "/proc/cmdline": "noefi"}, "good"),
    (
        "efi-runtime",
        {**BY_EFI, "/boot/config-6.1.0-rt": CONFIG + "CONFIG_EFI_DISABLE_RUNTIME=y\n"},
        "good",
    ),
    ("efi-runtime", {**BY_EFI, "/proc/sys/kernel/osrelease": "5.10.0-28-rt-amd64"}, "good"),
    (
        "efi-runtime",
        {**BY_EFI, "/proc/sys/kernel/osrelease": "5.10.0-28-rt-amd64", "/proc/cmdline": "efi=runtime"},
        "note",
    ),
    ("machine-check-polling", {}, None),
    ("machine-check-polling", POLLING, "note"),
    ("machine-check-polling", {**POLLING, f"{_CHECK}/ignore_ce": "1"}, "good"),
    ("machine-check-polling", {**POLLING, f"{_CHECK}/check_interval": "0"}, "good"),
    ("pcie-power", {}, None),
    ("pcie-power", {_ASPM: "[default] performance powersave powersupersave"}, "note"),
    ("pcie-power", {_ASPM: "default [performance] powersave powersupersave"}, "good"),
    (
        "pcie-power",
        {_ASPM: "[default] performance powersave powersupersave", "/proc/cmdline": "pcie_aspm=off"},
        "note",
    ),
    ("pcie-power", {**GUEST, _ASPM: "[default] performance powersave powersupersave"}, None),
    ("proactive-compaction", {}, None),
    ("proactive-compaction", {"/proc/sys/vm/compaction_proactiveness": "20"}, "note"),
    ("proactive-compaction", {"/proc/sys/vm/compaction_proactiveness": "0"}, "good"),
]
