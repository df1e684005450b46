"""What the audit says of good, bad and unreadable machines."""

import re
from inspect import getattr_static
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import pytest
from msgspec.structs import fields

from audit_cases import CASES, GUEST, NEW, NO_PERMISSION, PLAIN, Changes, status
from machine_trees import CONFIG, REALTIME_PC, STATUS, PlantedFiles, plant
from tautochrone.machine.audit import (
    CHECKS,
    COMPANIONS,
    EFFECTS,
    FOLLOWERS,
    NO_SETTINGS,
    OF_THE_KERNEL,
    audit_facts,
)
from tautochrone.machine.audit.finding import LEVELS, Finding
from tautochrone.machine.audit.kernel import _HEAVY, _LIGHT, _NOT_IN_DELGADO
from tautochrone.machine.facts import gather, observe
from tautochrone.machine.facts.kernel import RELEVANT_OPTIONS
from tautochrone.machine.knob import KNOBS
from tautochrone.machine.tree import Files
from tautochrone.run.facts import (
    ConfinementFacts,
    Facts,
    FirmwareFacts,
    KernelFacts,
    MachineFacts,
    ReadingFacts,
)
from where import ROOT

_CPUS = "/sys/devices/system/cpu"
_SOURCES = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
_CLOCK = _SOURCES.replace("available", "current")
_C1 = f"{_CPUS}/cpu0/cpuidle/state1/latency"
_LIMIT = f"{_CPUS}/cpu{{}}/power/pm_qos_resume_latency_us"
PASSIVE: Changes = {f"{_CPUS}/cpu{cpu}/cpufreq/scaling_driver": "intel_cpufreq" for cpu in (0, 1)}
ARM: Changes = {"/proc/sys/kernel/arch": "aarch64"}
FOUR: Changes = {f"{_CPUS}/online": "0-3"} | {
    f"{_CPUS}/cpu{cpu}/topology/core_cpus_list": f"{cpu % 2},{cpu % 2 + 2}" for cpu in range(4)
}
DEEP: Changes = {f"{_CPUS}/cpu{cpu}/cpuidle/state2/disable": "0" for cpu in (0, 1)}
HELD: Changes = {_LIMIT.format(cpu): "n/a" for cpu in (0, 1)}
BY_PARTITION: Changes = {"/sys/fs/cgroup/cpuset.cpus.isolated": "1"}


def audit(place: Path | Files = Path("/")) -> tuple[Finding, ...]:
    return audit_facts(observe(place))


def found(place: Path | Files, code: str) -> Finding | None:
    return next((finding for finding in audit(place) if finding.code == code), None)


@pytest.fixture(scope="module")
def machines() -> list[Facts]:
    """What is observed of each machine of `CASES`."""
    return [observe(PlantedFiles(changes)) for _, changes, _ in CASES]


@pytest.mark.parametrize(
    ("number", "code", "level"), [(number, code, level) for number, (code, _, level) in enumerate(CASES)]
)
def test_each_check_tells_good_from_bad_from_unreadable(
    machines: list[Facts], number: int, code: str, level: str | None
) -> None:
    finding = next((finding for finding in audit_facts(machines[number]) if finding.code == code), None)
    assert (finding.level if finding else None) == level


def test_every_check_is_tried_both_ways() -> None:
    levels: dict[str, set[str | None]] = {}
    for code, _, level in CASES:
        levels.setdefault(code, set()).add(level)
    assert set(levels) == {check.code for check in CHECKS}
    assert all(len(of_one) > 1 for of_one in levels.values())


def test_a_well_set_up_machine_has_no_warnings() -> None:
    findings = audit(PlantedFiles())
    assert [finding.code for finding in findings if finding.level == "warning"] == []


@pytest.mark.parametrize("changes", [{}, {**PLAIN, **GUEST, **NO_PERMISSION}, {"/*": None}])
def test_every_finding_is_complete(changes: Changes) -> None:
    findings = audit(PlantedFiles(changes))
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


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {**PLAIN, **GUEST, **NEW}])
def test_no_single_missing_file_leaves_a_hole_in_a_sentence(changes: Changes) -> None:
    for missing in REALTIME_PC:
        for finding in audit(PlantedFiles({**changes, missing: None})):
            assert "None" not in f"{finding.title} {finding.observed} {finding.advice}", missing


def test_warnings_come_first_then_the_unknown() -> None:
    levels = [finding.level for finding in audit(PlantedFiles({**PLAIN, **GUEST, **NO_PERMISSION}))]
    assert levels == sorted(levels, key=LEVELS.index)
    assert levels[0] == "warning"


def test_an_unreadable_machine_is_unknown_not_good(tmp_path: Path) -> None:
    levels = {finding.code: finding.level for finding in audit(tmp_path)}
    assert set(levels.values()) == {"unknown", "note"}
    assert levels["frequency-governor"] == "note"


def test_the_audit_needs_only_stored_facts() -> None:
    root = PlantedFiles({**PLAIN, **GUEST})
    assert audit_facts(Facts.from_table(gather(root))) == audit(root)


def test_a_run_older_than_the_settings_of_a_core_does_not_say_that_it_has_none() -> None:
    facts = Facts(kernel=KernelFacts(co_kernel="Xenomai 3.2.1"))
    assert not any(one.code.startswith("core-") for one in audit_facts(facts))


def test_an_unknown_says_what_may_not_be_read() -> None:
    findings = audit_facts(Facts(reading=ReadingFacts(refused=("/proc/timer_list",))))
    timers = next(finding for finding in findings if finding.code == "high-resolution-timers")
    assert timers.observed == "/proc/timer_list may not be read by this user."
    assert "As root" in timers.advice


@pytest.mark.parametrize(
    ("code", "changes", "said"),
    [
        ("smt", {f"{_CPUS}/online": "0"}, "1 CPU on 1 core."),
        ("smt", {f"{_CPUS}/online": "0", **GUEST}, "1 virtual CPU."),
        ("thermal-throttling", {f"{_CPUS}/cpu0/thermal_throttle/core_throttle_count": "1"}, "1 time since"),
        ("numa-balancing", {"/proc/sys/kernel/numa_balancing": "1"}, "is on; 1 node."),
        ("cpu-quota", {"/sys/fs/cgroup/cpu.max": "100000 100000"}, ": 1 CPU."),
        ("cpu-quota", {"/sys/fs/cgroup/cpu.max": "150000 100000"}, ": 1.5 CPUs."),
        ("cpu-quota", {"/sys/fs/cgroup/cpu.max": "12800000 100000"}, ": 128 CPUs."),
        ("clock-source", {_CLOCK: "hpet"}, "A slower clock was chosen"),
        ("clock-source", {_CLOCK: "hpet", _SOURCES: "hpet acpi_pm"}, "does not trust"),
        ("boost", {f"{_CPUS}/intel_pstate/no_turbo": "0", **PASSIVE}, "intel_pstate/no_turbo"),
        ("idle-states", {**DEEP, **HELD}, "us to wake up, but that is forbidden now Enabled"),
        ("idle-states", {**DEEP, **HELD, _LIMIT.format(1): "133"}, "needs up to 133 us"),
        ("idle-states", {**DEEP, **dict.fromkeys(HELD, "50"), _C1: "40"},
         "needs up to 40 us"),
        ("idle-states", DEEP, "intel_idle.max_cstate=1"),
        ("idle-states", {**DEEP, **ARM}, "For good: cpuidle.off=1,"),
        ("idle-states", {**DEEP, **ARM, "/proc/cmdline": "nohlt"}, "never sleep nohlt is on"),
        ("preempt-rt", {**PLAIN, "/proc/sys/kernel/arch": "armv7l"}, "a patch, where this"),
        ("isolation", {f"{_CPUS}/isolated": ""}, "irqaffinity=0"),
        ("isolation", {f"{_CPUS}/isolated": "", **FOUR}, "isolcpus=managed_irq,domain,1,3 rcu_nocbs=1,3 "),
        ("isolation", {f"{_CPUS}/isolated": "", **BY_PARTITION}, "CPU 1, CPU 1 by cpuset partition."),
        ("isolation", BY_PARTITION, "isolated CPU 1. "),  # from 6.12 on it names those of isolcpus=, too
    ],
)  # fmt: skip
def test_what_a_finding_says(code: str, changes: Changes, said: str) -> None:
    """One as one, and many without powers of ten; what is so, and advice that fits."""
    finding = found(PlantedFiles(changes), code)
    assert finding is not None
    assert said in f"{finding.title} {finding.observed} {finding.advice}"


def test_interrupts_are_sent_to_cpus_that_are_not_isolated() -> None:
    changes = {f"{_CPUS}/isolated": "0", "/proc/cmdline": "isolcpus=0"}
    finding = found(PlantedFiles(changes), "device-interrupts")
    assert finding is not None
    assert finding.level == "warning"
    assert finding.advice.startswith("Move each: echo 1 | ")


def test_before_6_12_throttling_stops_spinning_threads() -> None:
    finding = found(PlantedFiles(), "realtime-throttling")
    assert finding is not None
    assert "950 ms of a period of 1000 ms" in finding.observed
    assert finding.certainty == "sure"


def test_from_6_12_on_the_fair_server_replaces_throttling() -> None:
    finding = found(PlantedFiles({**NEW, "/boot/config-6.12.3": CONFIG}), "realtime-throttling")
    assert finding is not None
    assert "deadline server" in finding.observed
    assert "RT throttling stops" not in finding.observed
    assert finding.certainty == "likely"  # the release alone does not prove it


def test_group_scheduling_keeps_throttling_after_6_12() -> None:
    grouped = {**NEW, "/boot/config-6.12.3": CONFIG + "CONFIG_RT_GROUP_SCHED=y\n"}
    finding = found(PlantedFiles(grouped), "realtime-throttling")
    assert finding is not None
    assert "RT throttling stops it as well after 950 ms" in finding.observed


def test_the_fair_server_seen_in_debugfs_is_sure() -> None:
    seen = {"/sys/kernel/debug/sched/fair_server/cpu0/runtime": "50000000"}
    finding = found(PlantedFiles(seen), "realtime-throttling")
    assert finding is not None
    assert (finding.level, finding.certainty) == ("note", "sure")


def test_capabilities_of_a_user_namespace_do_not_count() -> None:
    rootless = {
        **NO_PERMISSION,
        "/proc/self/status": status("000001ffffffffff"),
        "/proc/self/uid_map": "         0       1000          1",
    }
    root = PlantedFiles(rootless)
    warned = {finding.code for finding in audit(root) if finding.level == "warning"}
    assert {"realtime-permission", "memory-lock-permission"} <= warned


def test_idle_states_of_cpus_that_are_not_allowed_do_not_count() -> None:
    elsewhere = {
        f"{_CPUS}/cpu1/cpuidle/state2/disable": "0",
        "/proc/self/status": STATUS.replace("0-1", "0"),
    }
    finding = found(PlantedFiles(elsewhere), "idle-states")
    assert finding is not None
    assert finding.level == "good"


def test_the_advice_names_the_kernel_package_of_the_architecture() -> None:
    finding = found(PlantedFiles({**PLAIN, "/proc/sys/kernel/arch": "aarch64"}), "preempt-rt")
    assert finding is not None
    assert "linux-image-rt-arm64" in finding.advice


def test_every_option_that_is_judged_is_also_kept() -> None:
    assert set(_HEAVY + _LIGHT + _NOT_IN_DELGADO) <= set(RELEVANT_OPTIONS)


def with_firmware(**seen: object) -> Facts:
    machine = MachineFacts(architecture="x86_64")
    return Facts(
        machine=machine,
        confinement=ConfinementFacts(virtual=False),
        firmware=FirmwareFacts(**seen),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("seen", "level", "word"),
    [
        ({"smi_count": 0, "uptime_s": 7200.0, "smi_counter": True}, "good", "2.0 hours"),
        ({"smi_count": 412, "uptime_s": 7200.0, "smi_counter": True}, "note", "412"),
        ({"smi_count": 90_000, "uptime_s": 86_400.0, "smi_counter": True}, "warning", "90,000"),
        ({"smi_count": None, "smi_counter": True}, "unknown", "/dev/cpu/0/msr"),
        ({"smi_count": None, "smi_counter": False}, "unknown", "no counter"),
    ],
)
def test_system_management_interrupts_are_judged_by_their_count(
    seen: dict[str, object], level: str, word: str
) -> None:
    finding = next(one for one in audit_facts(with_firmware(**seen)) if one.code == "firmware-interrupts")
    assert finding.level == level
    assert word in finding.observed


def test_a_limit_that_a_program_holds_hides_deep_idle_states_and_says_so(tmp_path: Path) -> None:
    root = plant(tmp_path, {f"{_CPUS}/cpu1/cpuidle/state2/disable": "0"})
    (root / "dev").mkdir()
    (root / "dev/cpu_dma_latency").write_bytes((5).to_bytes(4, "little"))
    states, limit = found(root, "idle-states"), found(root, "latency-limit")
    assert states is not None
    assert limit is not None
    assert (states.level, limit.level) == ("note", "note")
    assert "133 us" in states.title
    assert "all CPUs to 5 us" in limit.observed
    (root / "dev/cpu_dma_latency").write_bytes((2_000_000_000).to_bytes(4, "little"))
    states = found(root, "idle-states")
    assert found(root, "latency-limit") is None
    assert states is not None
    assert states.level == "warning"


def test_an_isolated_cpu_that_shares_its_core_is_named() -> None:
    shared = {f"{_CPUS}/cpu{cpu}/topology/core_cpus_list": "0-1" for cpu in (0, 1)}
    finding = found(PlantedFiles({**shared, f"{_CPUS}/smt/active": "1"}), "smt")
    assert finding is not None
    assert finding.title.startswith("Isolated CPUs share cores")
    assert "CPU 0-1 share" in finding.observed


def test_cpusets_of_version_1_that_divide_the_cpus_are_seen() -> None:
    shield = {f"{_CPUS}/isolated": "", "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance": "0"}
    finding = found(PlantedFiles(shield), "isolation")
    assert finding is not None
    assert (finding.level, finding.certainty) == ("good", "likely")


def test_the_shares_of_the_fair_servers_are_told_where_they_show() -> None:
    server = "/sys/kernel/debug/sched/fair_server"
    shares = {f"{server}/cpu0/runtime": "50000000", f"{server}/cpu1/runtime": "20000000"}
    finding = found(PlantedFiles(shares), "realtime-throttling")
    assert finding is not None
    assert "20 ms or 50 ms" in finding.observed
    off = dict.fromkeys(shares, "0")
    finding = found(PlantedFiles({**NEW, **off, "/boot/config-6.12.3": CONFIG}), "realtime-throttling")
    assert finding is not None
    assert "nothing stops" in finding.title
    assert "sysctl" not in finding.advice  # it throttles nothing there any more
    assert "echo 50000000 >$f/runtime" in finding.advice


def test_masks_in_advice_leave_the_isolated_cpus_out() -> None:
    wide = {
        f"{_CPUS}/online": "0-39",
        f"{_CPUS}/isolated": "1,36-39",
        "/proc/irq/default_smp_affinity": "ff,ffffffff",
    }
    finding = found(PlantedFiles(wide), "default-interrupt-affinity")
    assert finding is not None
    assert "echo f,fffffffd |" in finding.advice
    assert "irqaffinity=0,2-35" in finding.advice


def test_every_knob_that_a_finding_names_exists() -> None:
    names = {knob.name for knob in KNOBS}
    assert set(EFFECTS) <= names
    for knob, others in COMPANIONS.items():
        assert {knob, *others} <= names
    codes = {code for code, _, _ in CASES}
    assert {code for of_one in EFFECTS.values() for code in of_one} <= codes
    assert {*FOLLOWERS, *OF_THE_KERNEL, *NO_SETTINGS} <= codes


def test_a_finding_names_the_knob_that_changes_it() -> None:
    knobs = {finding.code: finding.knobs for finding in audit(PlantedFiles())}
    assert knobs["idle-states"] == ("c-states",)
    assert knobs["isolation"] == ("isolated",)
    assert knobs["swap"] == ()
    guest = PlantedFiles({**GUEST, f"{_CPUS}/smt/control": "notsupported"})
    assert {finding.code: finding.knobs for finding in audit(guest)}["smt"] == ()


def test_this_machine_can_be_audited() -> None:
    findings = audit()
    assert {"preempt-rt", "clock-source", "realtime-permission"} <= {finding.code for finding in findings}


def test_the_documentation_lists_every_check() -> None:
    text = (ROOT / "docs" / "audit.md").read_text()
    table = [line for line in text.splitlines() if line.startswith("| ")]
    told = {code for line in table for code in re.findall(r"`([a-z0-9-]+)`", line.split("|")[2])}
    assert told == {code for code, _, _ in CASES}


class Watched:
    """A group of facts that keeps which of them are read."""

    def __init__(self, group: str, facts: Any, read: set[str]) -> None:
        self._group, self._facts, self._read = group, facts, read

    def __getattr__(self, name: str) -> Any:
        own = getattr_static(type(self._facts), name)
        if isinstance(own, property):
            return own.fget and own.fget(self)
        if isinstance(own, FunctionType):
            return MethodType(own, self)
        self._read.add(f"{self._group}.{name}")
        return getattr(self._facts, name)


def facts_read(machines: list[Facts]) -> dict[str, set[str]]:
    """By code the facts that its checks read on any of the machines of `CASES`."""
    read: dict[str, set[str]] = {}
    for facts, (code, _, _) in zip(machines, CASES, strict=True):
        own = read.setdefault(code, set())
        watched = Facts(
            **{one.name: Watched(one.name, getattr(facts, one.name), own) for one in fields(Facts)}
        )
        for check in CHECKS:
            if check.code == code:
                check.ask(watched)
    return read


def test_the_documentation_names_the_facts_that_a_check_reads(machines: list[Facts]) -> None:
    text = (ROOT / "docs" / "audit.md").read_text()
    reads = facts_read(machines)
    groups = {group.name for group in fields(Facts)}
    named = 0
    for line in (line.split("|") for line in text.splitlines() if line.startswith("| ")):
        read = [fact for code in re.findall(r"`([a-z0-9-]+)`", line[2]) for fact in reads.get(code, ())]
        plain = re.sub(r"`[^`]*`", "", line[3])  # files are between backquotes
        for group, name in re.findall(r"\b([a-z]+)\.([a-z_]*)", plain):
            if group in groups:
                assert any(fact.startswith(f"{group}.{name}") for fact in read), line[3]
                named += 1
    assert named > 40
