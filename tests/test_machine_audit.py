"""What the audit says of good, bad and unreadable machines."""

from pathlib import Path

import pytest

from machine_trees import CONFIG, CPUINFO, LIMITS, REALTIME_PC, STATUS, plant
from tautochrone.machine.audit import CHECKS, LEVELS, Finding, audit, audit_facts
from tautochrone.machine.audit.kernel import _HEAVY, _LIGHT
from tautochrone.machine.facts import Facts, gather
from tautochrone.machine.facts.collect import ReadingFacts
from tautochrone.machine.facts.kernel import RELEVANT_OPTIONS

Changes = dict[str, str | None]

_CPUS = "/sys/devices/system/cpu"
_SOURCE = "/sys/devices/system/clocksource/clocksource0"
_HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
GUEST: Changes = {"/proc/cpuinfo": CPUINFO.replace("fpu", "fpu hypervisor")}
PLAIN: Changes = {
    "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC",
    "/boot/config-6.1.0-rt": "CONFIG_PREEMPT=y\n",
}
NEW: Changes = {"/proc/sys/kernel/osrelease": "6.12.3"}
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
    ("clock-source", {"/proc/cpuinfo": CPUINFO.replace(" nonstop_tsc", "")}, "note"),
    ("clock-source", {f"{_SOURCE}/current_clocksource": "arch_sys_counter"}, "good"),
    ("clock-source", {f"{_SOURCE}/*": None}, "unknown"),
    ("virtual-machine", {}, "good"),
    ("virtual-machine", GUEST, "warning"),
    ("virtual-machine", {"/proc/cpuinfo": None}, "unknown"),
    ("steal-time", {}, None),
    ("steal-time", GUEST, "note"),
    ("steal-time", {**GUEST, "/proc/stat": "cpu 1 0 1 90 0 0 0 8 0 0\n"}, "warning"),
    ("steal-time", {**GUEST, "/proc/stat": None}, "unknown"),
    ("container", {}, None),
    ("container", {"/.dockerenv": ""}, "note"),
    ("container", {"/proc/self/cgroup": "0::/kubepods/pod1"}, "note"),
    ("cpu-quota", {}, "good"),
    ("cpu-quota", {"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/cpu.max": "50000 100000"}, "warning"),
    ("cpu-quota", {"/proc/self/cgroup": "0::/a", "/sys/fs/cgroup/a/cpu.max": "max 100000"}, "good"),
    ("cpu-quota", {"/proc/self/cgroup": "0::/a"}, "unknown"),
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
    ("idle-states", {f"{_CPUS}/cpu0/cpuidle/*": None, f"{_CPUS}/cpu1/cpuidle/*": None}, "unknown"),
    (
        "idle-states",
        {f"{_CPUS}/cpu0/cpuidle/*": None, f"{_CPUS}/cpu1/cpuidle/*": None, "/proc/cmdline": "idle=poll"},
        "good",
    ),
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
]


def found(root: Path, code: str) -> Finding | None:
    return next((finding for finding in audit(root) if finding.code == code), None)


@pytest.mark.parametrize(("code", "changes", "level"), CASES)
def test_each_check_tells_good_from_bad_from_unreadable(
    tmp_path: Path, code: str, changes: Changes, level: str | None
) -> None:
    finding = found(plant(tmp_path, changes), code)
    assert (finding.level if finding else None) == level


def test_every_check_is_tried_both_ways() -> None:
    levels: dict[str, set[str | None]] = {}
    for code, _, level in CASES:
        levels.setdefault(code, set()).add(level)
    assert len(levels) == len(CHECKS)
    assert all(len(of_one) > 1 for of_one in levels.values())


def test_a_well_set_up_machine_has_no_warnings(tmp_path: Path) -> None:
    findings = audit(plant(tmp_path))
    assert [finding.code for finding in findings if finding.level == "warning"] == []


@pytest.mark.parametrize("changes", [{}, {**PLAIN, **GUEST, **NO_PERMISSION}, {"/*": None}])
def test_every_finding_is_complete(tmp_path: Path, changes: Changes) -> None:
    findings = audit(plant(tmp_path, changes))
    assert findings
    for finding in findings:
        assert finding.code
        assert finding.title
        assert finding.observed
        assert finding.why
        assert finding.source
        assert finding.level in LEVELS
        assert finding.certainty in ("sure", "likely")
        assert "None" not in finding.observed + finding.title
        assert finding.advice or finding.level in ("good", "note")
        assert finding.observed.endswith((".", ")"))
    codes = [finding.code for finding in findings]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("changes", [{}, {**PLAIN, **GUEST, **NEW}])
def test_no_single_missing_file_leaves_a_hole_in_a_sentence(tmp_path: Path, changes: Changes) -> None:
    for number, missing in enumerate(REALTIME_PC):
        for finding in audit(plant(tmp_path / str(number), {**changes, missing: None})):
            assert "None" not in f"{finding.title} {finding.observed} {finding.advice}", missing


def test_warnings_come_first_then_the_unknown(tmp_path: Path) -> None:
    levels = [finding.level for finding in audit(plant(tmp_path, {**PLAIN, **GUEST, **NO_PERMISSION}))]
    assert levels == sorted(levels, key=LEVELS.index)
    assert levels[0] == "warning"


def test_an_unreadable_machine_is_unknown_not_good(tmp_path: Path) -> None:
    levels = {finding.code: finding.level for finding in audit(tmp_path)}
    assert set(levels.values()) == {"unknown", "note"}
    assert levels["frequency-governor"] == "note"


def test_the_audit_needs_only_stored_facts(tmp_path: Path) -> None:
    root = plant(tmp_path, {**PLAIN, **GUEST})
    assert audit_facts(Facts.from_table(gather(root))) == audit(root)


def test_an_unknown_says_what_may_not_be_read() -> None:
    findings = audit_facts(Facts(reading=ReadingFacts(refused=("/proc/timer_list",))))
    timers = next(finding for finding in findings if finding.code == "high-resolution-timers")
    assert timers.observed == "/proc/timer_list may not be read by this user."
    assert "As root" in timers.advice


def test_before_6_12_throttling_stops_spinning_threads(tmp_path: Path) -> None:
    finding = found(plant(tmp_path), "realtime-throttling")
    assert finding is not None
    assert "950 ms of a period of 1000 ms" in finding.observed
    assert finding.certainty == "sure"


def test_from_6_12_on_the_fair_server_replaces_throttling(tmp_path: Path) -> None:
    finding = found(plant(tmp_path, {**NEW, "/boot/config-6.12.3": CONFIG}), "realtime-throttling")
    assert finding is not None
    assert "deadline server" in finding.observed
    assert "RT throttling stops" not in finding.observed
    assert finding.certainty == "likely"  # the release alone does not prove it


def test_group_scheduling_keeps_throttling_after_6_12(tmp_path: Path) -> None:
    grouped = {**NEW, "/boot/config-6.12.3": CONFIG + "CONFIG_RT_GROUP_SCHED=y\n"}
    finding = found(plant(tmp_path, grouped), "realtime-throttling")
    assert finding is not None
    assert "RT throttling stops it as well after 950 ms" in finding.observed


def test_the_fair_server_seen_in_debugfs_is_sure(tmp_path: Path) -> None:
    seen = {"/sys/kernel/debug/sched/fair_server/cpu0/runtime": "50000000"}
    finding = found(plant(tmp_path, seen), "realtime-throttling")
    assert finding is not None
    assert (finding.level, finding.certainty) == ("note", "sure")


def test_capabilities_of_a_user_namespace_do_not_count(tmp_path: Path) -> None:
    rootless = {
        **NO_PERMISSION,
        "/proc/self/status": status("000001ffffffffff"),
        "/proc/self/uid_map": "         0       1000          1",
    }
    root = plant(tmp_path, rootless)
    warned = {finding.code for finding in audit(root) if finding.level == "warning"}
    assert {"realtime-permission", "memory-lock-permission"} <= warned


def test_idle_states_of_cpus_that_are_not_allowed_do_not_count(tmp_path: Path) -> None:
    elsewhere = {
        f"{_CPUS}/cpu1/cpuidle/state2/disable": "0",
        "/proc/self/status": STATUS.replace("0-1", "0"),
    }
    finding = found(plant(tmp_path, elsewhere), "idle-states")
    assert finding is not None
    assert finding.level == "good"


def test_the_advice_names_the_kernel_package_of_the_architecture(tmp_path: Path) -> None:
    finding = found(plant(tmp_path, {**PLAIN, "/proc/sys/kernel/arch": "aarch64"}), "preempt-rt")
    assert finding is not None
    assert "linux-image-rt-arm64" in finding.advice


def test_every_option_that_is_judged_is_also_kept() -> None:
    assert set(_HEAVY + _LIGHT) <= set(RELEVANT_OPTIONS)


def test_this_machine_can_be_audited() -> None:
    findings = audit()
    assert {"preempt-rt", "clock-source", "realtime-permission"} <= {finding.code for finding in findings}
