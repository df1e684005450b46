"""What is gathered about a machine."""

import gzip
import json
import os
from pathlib import Path

import pytest
from msgspec.structs import fields

from machine_trees import CONFIG, CPUINFO, REALTIME_PC, plant
from tautochrone.base.errors import DamagedError
from tautochrone.machine.cpulist import format_cpu_list, parse_boot_cpus, parse_cpu_list, parse_cpu_mask
from tautochrone.machine.facts import FACTS, HOSTNAME, gather, observe
from tautochrone.machine.facts.cpus import count_system_management_interrupts
from tautochrone.machine.tree import LocalFiles, Tree
from tautochrone.run import facts as records
from tautochrone.run.facts import Facts, FactTable

GROUPS = {
    "machine", "kernel", "cpu", "isolation", "power", "interrupts", "clock", "memory", "confinement",
    "limits",     "tracing", "firmware", "reading",
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0", (0,)),
        ("0-3,6", (0, 1, 2, 3, 6)),
        ("", ()),
        ("(null)", ()),
        ("8,2-3", (2, 3, 8)),
        ("x", None),
        ("0-4000000000", None),
        ("100000", None),
        ("0,3-1", None),
        (None, None),
    ],
)
def test_cpu_lists_are_read_as_the_kernel_writes_them(text: str | None, cpus: tuple[int, ...] | None) -> None:
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", ()),
        ("1,3-4", (1, 3, 4)),
        ("managed_irq,domain,2-N", (2, 3, 4, 5, 6, 7)),
        ("nohz,N", (7,)),
        ("all", tuple(range(8))),
        ("0-7:1/2", (0, 2, 4, 6)),
        ("1-N:2/3,0", (0, 1, 2, 4, 5, 7)),
        ("ALL:1/4", (0, 4)),
        ("0-7:1/0", ()),
        ("0-99999999", ()),
    ],
)
def test_boot_parameters_name_cpus_in_the_kernels_ways(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_boot_cpus(text, range(8)) == cpus


@pytest.mark.parametrize(
    ("cpus", "text"), [((), ""), ((4,), "4"), ((0, 1, 2, 5), "0-2,5"), ((3, 1, 2, 3), "1-3")]
)
def test_cpu_lists_are_written_as_the_kernel_does(cpus: tuple[int, ...], text: str) -> None:
    assert format_cpu_list(cpus) == text


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("3", (0, 1)),
        ("f,00000001", (0, 32, 33, 34, 35)),
        ("0", ()),
        ("", None),
        ("x", None),
        (None, None),
    ],
)
def test_cpu_masks_are_read_as_the_kernel_writes_them(text: str | None, cpus: tuple[int, ...] | None) -> None:
    assert parse_cpu_mask(text) == cpus


def test_a_whole_machine_is_described(tmp_path: Path) -> None:
    facts = observe(plant(tmp_path))
    assert (facts.machine.vendor, facts.machine.product) == ("Example", "Controller 7")
    assert (facts.machine.architecture, facts.kernel.release) == ("x86_64", "6.1.0-rt")
    assert (facts.kernel.realtime, facts.kernel.realtime_found_by) == (True, "the kernel's version string")
    assert facts.kernel.tick_hz == 1000
    assert facts.kernel.options_from == "/boot/config-6.1.0-rt"
    assert (facts.cpu.model, facts.cpu.online_count, facts.cpu.cores) == ("Example CPU 3000", 2, 2)
    assert (facts.cpu.threads_per_core, facts.cpu.sockets, facts.cpu.numa_nodes) == (1, 1, 1)
    assert (facts.cpu.isolated, facts.cpu.nohz_full) == ("1", "")
    assert facts.cpu.caches == ("L1 data 32K, CPU 0",)
    assert (facts.power.governors, facts.power.governor_cpus) == (("performance",), ("0-1",))
    assert (facts.power.minimum_khz, facts.power.maximum_khz, facts.power.boost) == (
        800_000,
        3_400_000,
        False,
    )
    assert facts.power.idle_states == ("POLL", "C1", "C6")
    assert facts.power.idle_exit_latencies_us == (0, 2, 133)
    assert facts.power.idle_enabled_cpus == ("0-1", "0-1", "")
    assert facts.memory.total_bytes == 16_000_000 * 1024
    assert facts.confinement.virtual is False
    assert facts.confinement.stolen_seconds == 0
    assert facts.confinement.cpu_seconds == 100
    assert (facts.limits.rt_priority, facts.limits.memory_lock_bytes) == (99, -1)
    assert facts.reading.effective_uid == 1000


def test_an_empty_tree_gives_only_unknowns(tmp_path: Path) -> None:
    table = gather(tmp_path)
    assert set(table) == GROUPS
    known = {
        (group, name) for group, facts in table.items() for name, value in facts.items() if value is not None
    }
    assert known == {("reading", "refused")}


def test_facts_survive_json(tmp_path: Path) -> None:
    root = plant(tmp_path)
    stored = json.loads(json.dumps(gather(root)))
    assert stored == gather(root)
    assert Facts.from_table(stored) == observe(root)


def test_facts_of_another_version_are_read_as_far_as_they_go() -> None:
    facts = Facts.from_table({"cpu": {"online": "0-3", "of_a_later_version": 1}, "another_group": {}})
    assert facts.cpu.online == "0-3"
    assert facts.kernel.release is None


def test_facts_of_an_earlier_version_are_upgraded_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def from_1(table: FactTable) -> FactTable:
        return {"cpu": {"online": table["cpu"]["on_line"]}}

    def from_2(table: FactTable) -> FactTable:
        return {**table, "kernel": {"release": "upgraded"}}

    monkeypatch.setattr(records, "UPGRADES", (from_1, from_2))
    facts = Facts.from_table({"cpu": {"on_line": "0-3"}})
    assert (facts.cpu.online, facts.kernel.release) == ("0-3", "upgraded")
    facts = Facts.from_table({"cpu": {"online": "0"}, "reading": {"version": 2}})
    assert (facts.cpu.online, facts.kernel.release) == ("0", "upgraded")
    assert Facts.from_table({"reading": {"version": 3}}) == Facts()


def test_every_fact_of_the_records_is_found_by_one_row_of_the_table() -> None:
    found = [name for names, *_ in (*FACTS, HOSTNAME) for name in names.split()]
    there = {f"{group.name}.{fact.name}" for group in fields(Facts) for fact in fields(group.type)}
    assert len(found) == len(set(found))
    assert set(found) == there - {"reading.refused"}


def test_the_hosts_name_is_stored_only_on_request(tmp_path: Path) -> None:
    root = plant(tmp_path)
    assert "secret-name" not in json.dumps(gather(root))
    assert gather(root, hostname=True)["machine"]["hostname"] == "secret-name"


def test_words_for_init_are_not_taken_for_kernel_parameters(tmp_path: Path) -> None:
    assert observe(plant(tmp_path)).kernel.command_line == "quiet isolcpus=managed_irq,domain,1"


def test_a_packed_configuration_is_read(tmp_path: Path) -> None:
    root = plant(tmp_path, {"/boot/config-6.1.0-rt": None})
    (root / "proc/config.gz").write_bytes(gzip.compress(CONFIG.encode()))
    kernel = observe(root).kernel
    assert kernel.options_from == "/proc/config.gz"
    assert (kernel.option("HZ"), kernel.option("KASAN"), kernel.option("PREEMPT_RT")) == ("1000", "n", "y")


@pytest.mark.parametrize("damage", [b"", b"not gzip", gzip.compress(CONFIG.encode(), mtime=0)[:20]])
def test_a_damaged_configuration_is_unknown(tmp_path: Path, damage: bytes) -> None:
    root = plant(tmp_path, {"/boot/config-6.1.0-rt": None})
    (root / "proc/config.gz").write_bytes(damage)
    assert observe(root).kernel.option("HZ") is None


@pytest.mark.parametrize(
    ("changes", "model", "found_by"),
    [
        (
            {"/sys/kernel/debug/sched/preempt": "none voluntary (full) lazy"},
            "full",
            "/sys/kernel/debug/sched/preempt",
        ),
        ({"/proc/cmdline": "preempt=voluntary"}, "voluntary", "preempt= on the kernel's command line"),
        ({"/proc/sys/kernel/version": "#1 SMP PREEMPT", "/boot/config-6.1.0-rt": None}, "full", "version"),
        (
            {"/proc/sys/kernel/version": "#1 SMP", "/boot/config-6.1.0-rt": None},
            "none or voluntary",
            "version",
        ),
        (
            {
                "/proc/sys/kernel/version": "#1 SMP PREEMPT",
                "/proc/sys/kernel/osrelease": "6.18.1",
                "/boot/config-6.1.0-rt": None,
            },
            "full or lazy",
            "version",
        ),
        (
            {
                "/proc/sys/kernel/version": "#1 SMP PREEMPT_RT Debian",
                "/boot/config-6.1.0-rt": "CONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_RT=y\n",
            },
            "full",
            "configuration",
        ),
        ({"/boot/config-6.1.0-rt": None}, None, None),
    ],
)
def test_the_preemption_model_comes_from_the_surest_place(
    tmp_path: Path, changes: dict[str, str | None], model: str | None, found_by: str | None
) -> None:
    dynamic = {
        "/proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Debian",
        "/boot/config-6.1.0-rt": "CONFIG_PREEMPT_DYNAMIC=y\nCONFIG_PREEMPT_NONE=y\n",
    }
    kernel = observe(plant(tmp_path, {**dynamic, **changes})).kernel
    assert kernel.preemption == model
    assert found_by is None or found_by in (kernel.preemption_found_by or "")


@pytest.mark.parametrize("version", ["#1 SMP PREEMPT RT Fri", "#1 SMP PREEMPT_RT Fri"])
def test_old_and_new_realtime_version_strings_count(tmp_path: Path, version: str) -> None:
    root = plant(tmp_path, {"/proc/sys/kernel/version": version, "/boot/config-6.1.0-rt": None})
    assert observe(root).kernel.realtime is True


def test_only_allowed_cpus_that_are_on_line_count(tmp_path: Path) -> None:
    root = plant(tmp_path, {"/proc/self/status": "Cpus_allowed_list:\t1-31\n"})
    assert (observe(root).cpu.allowed, observe(root).cpu.allowed_count) == ("1", 1)


def test_a_board_is_named_by_its_device_tree(tmp_path: Path) -> None:
    arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n"
    root = plant(
        tmp_path,
        {"/sys/class/dmi/*": None, "/proc/device-tree/model": "Example Board 4\0", "/proc/cpuinfo": arm},
    )
    facts = observe(root)
    assert facts.machine.product == "Example Board 4"
    assert facts.cpu.model == "Cortex-A72"
    assert facts.clock.tsc_flags is None


@pytest.mark.parametrize(
    ("cores", "name"),
    [
        ([("0x41", "0xd05")] * 4 + [("0x41", "0xd0b")] * 4, "Cortex-A55, Cortex-A76"),
        ([("0x41", "0xfff")], "ARM implementer 0x41, part 0xfff"),
        ([("0x51", "0xd08")] * 2, "ARM implementer 0x51, part 0xd08"),
    ],
)
def test_a_processor_of_arm_is_named_by_its_cores(
    tmp_path: Path, cores: list[tuple[str, str]], name: str
) -> None:
    cpuinfo = "\n".join(
        f"processor\t: {cpu}\nmodel name\t: ARMv7 Processor rev 4 (v7l)\n"
        f"CPU implementer\t: {implementer}\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {part}\n"
        for cpu, (implementer, part) in enumerate(cores)
    )
    assert observe(plant(tmp_path, {"/proc/cpuinfo": f"{cpuinfo}\nHardware\t: BCM2711\n"})).cpu.model == name


@pytest.mark.parametrize(
    ("cpuinfo", "architecture"),
    [
        ("flags\t\t: fpu lm tsc\n", "x86_64"),
        ("flags\t\t: fpu tsc\n", "i686"),
        ("CPU implementer\t: 0x41\nCPU architecture: 8\n", "aarch64"),
        ("CPU architecture: 7\n", "armv7l"),
        ("hart\t: 0\nisa\t\t: rv64imafdc\n", "riscv64"),
        ("", None),
    ],
)
def test_an_older_kernels_architecture_shows_in_its_cpus(
    tmp_path: Path, cpuinfo: str, architecture: str | None
) -> None:
    root = plant(tmp_path, {"/proc/sys/kernel/arch": None, "/proc/cpuinfo": cpuinfo})
    assert observe(root).machine.architecture == architecture


@pytest.mark.parametrize(
    ("changes", "hypervisor"),
    [
        ({"/sys/class/dmi/id/sys_vendor": "QEMU"}, "QEMU"),
        ({"/sys/class/dmi/id/sys_vendor": "VMware, Inc."}, "VMware"),
        ({"/sys/hypervisor/type": "xen"}, "Xen"),
        ({"/proc/device-tree/hypervisor/compatible": "linux,kvm\0"}, "linux,kvm"),
        ({"/proc/device-tree/compatible": "linux,dummy-virt\0"}, None),  # KVM on Arm tells nothing else
        ({"/proc/device-tree/compatible": "riscv-virtio\0"}, "QEMU"),
        (
            {
                "/proc/cpuinfo": CPUINFO.replace("fpu", "fpu hypervisor"),
                "/sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc kvm-clock",
            },
            "KVM",
        ),
        ({"/proc/cpuinfo": CPUINFO.replace("fpu", "fpu hypervisor")}, None),
    ],
)
def test_a_hypervisor_shows(tmp_path: Path, changes: dict[str, str | None], hypervisor: str | None) -> None:
    confinement = observe(plant(tmp_path, changes)).confinement
    assert (confinement.virtual, confinement.hypervisor) == (True, hypervisor)


def test_rented_hardware_is_not_taken_for_a_guest(tmp_path: Path) -> None:
    rented = {"/sys/class/dmi/id/sys_vendor": "Amazon EC2", "/sys/class/dmi/id/product_name": "m5.metal"}
    assert observe(plant(tmp_path, rented)).confinement.virtual is False


def test_the_tightest_quota_above_a_group_counts(tmp_path: Path) -> None:
    nested = {
        "/proc/self/cgroup": "0::/a/b",
        "/sys/fs/cgroup/a/b/cpu.max": "max 100000",
        "/sys/fs/cgroup/a/cpu.max": "150000 100000",
    }
    confinement = observe(plant(tmp_path, nested)).confinement
    assert (confinement.cpu_quota_us, confinement.cpu_quota_period_us) == (150_000, 100_000)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/sys/fs/cgroup/cpu.max", "much 100000"),
        ("/sys/fs/cgroup/cpu.max", "100000"),
        ("/proc/self/limits", "Max locked memory         \nMax realtime priority     none\n"),
    ],
)
def test_a_limit_that_is_no_number_is_unknown(tmp_path: Path, path: str, text: str) -> None:
    facts = observe(plant(tmp_path, {path: text}))
    if path.endswith("limits"):
        assert (facts.limits.memory_lock_bytes, facts.limits.rt_priority) == (None, None)
    else:
        assert facts.confinement.cpu_quota_us == -1  # nothing limits the root group


def test_an_old_control_group_is_read(tmp_path: Path) -> None:
    old = {
        "/proc/self/cgroup": "4:memory:/m\n3:cpu,cpuacct:/docker/abc\n",
        "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "50000",
        "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000",
        "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.rt_runtime_us": "0",
    }
    confinement = observe(plant(tmp_path, old)).confinement
    assert (confinement.cgroup_version, confinement.container) == (1, "docker")
    assert (confinement.cpu_quota_us, confinement.rt_budget_us) == (50_000, 0)


def test_nonsense_in_any_file_is_unknown_but_never_an_error(tmp_path: Path) -> None:
    for text in ("", "\0\0", "-", "one two three", "\n\n[", "9" * 40):
        root = plant(tmp_path / str(abs(hash(text))), dict.fromkeys(REALTIME_PC, text))
        assert set(gather(root)) == GROUPS


def test_what_may_not_be_read_is_named() -> None:
    # /proc/timer_list is for root alone on every kernel that has it.
    if not Path("/proc/timer_list").exists():
        pytest.skip("this kernel has no /proc/timer_list")
    tree = Tree()
    as_root = os.geteuid() == 0
    if as_root:
        os.seteuid(65534)
    try:
        text = tree.text("/proc/timer_list")
    finally:
        if as_root:
            os.seteuid(0)
    assert text is None
    assert tree.refused == ["/proc/timer_list"]


def test_this_machine_is_described() -> None:
    table = gather()
    assert json.loads(json.dumps(table)) == table
    assert table["kernel"]["release"] == os.uname().release
    assert table["machine"]["architecture"] == os.uname().machine
    assert table["machine"]["hostname"] is None
    assert parse_cpu_list(table["cpu"]["allowed"]) == tuple(sorted(os.sched_getaffinity(0)))
    assert table["memory"]["total_bytes"] > 0
    assert table["clock"]["resolution_ns"] >= 1
    kinds = {type(value) for facts in table.values() for value in facts.values()}
    assert kinds <= {str, int, float, bool, list, type(None)}


def test_stored_facts_of_the_wrong_kind_are_damage_and_not_a_fault() -> None:
    table = observe(Path("/")).to_table()
    assert Facts.from_table(table).to_table() == table
    for group, name, wrong in (
        ("cpu", "online", 7),
        ("kernel", "release", 6.1),
        ("limits", "rtprio_soft", "many"),
    ):
        if name not in table[group]:
            name = next(iter(table[group]))  # noqa: PLW2901 - any name of the group will do
            wrong = {"not": "a fact"}  # noqa: PLW2901
        with pytest.raises(DamagedError, match=f"{group}.{name}"):
            Facts.from_table({**table, group: {**table[group], name: wrong}})
    with pytest.raises(DamagedError, match="the facts cpu"):
        Facts.from_table({"cpu": 7})  # type: ignore[dict-item]
    assert Facts.from_table({"reading": {"version": "odd"}}) == Facts()


def test_what_single_cpus_are_held_to_is_grouped(tmp_path: Path) -> None:
    held = {f"{_POWER.format(cpu)}": text for cpu, text in ((0, "n/a"), (1, "n/a"))}
    power = observe(plant(tmp_path, held)).power
    assert (power.resume_limits_us, power.resume_limit_cpus) == ((0,), ("0-1",))


_POWER = "/sys/devices/system/cpu/cpu{}/power/pm_qos_resume_latency_us"


def test_idle_states_of_unlike_cores_are_read_for_each_kind(tmp_path: Path) -> None:
    cpus = "/sys/devices/system/cpu"
    unlike = {
        f"{cpus}/cpu0/cpu_capacity": "1024",
        f"{cpus}/cpu1/cpu_capacity": "446",
        f"{cpus}/cpu1/cpuidle/state1/latency": "40",
    }
    assert observe(plant(tmp_path, unlike)).power.idle_exit_latencies_us == (0, 40, 133)


def test_a_copied_tree_has_no_counter_of_system_management_interrupts(tmp_path: Path) -> None:
    intel = {"/proc/cpuinfo": CPUINFO.replace("model name", "vendor_id\t: GenuineIntel\nmodel name")}
    root = plant(tmp_path, intel)
    firmware = observe(root).firmware
    assert (firmware.smi_counter, firmware.smi_count) == (True, None)
    assert count_system_management_interrupts(Tree(LocalFiles(root))) is None


@pytest.mark.parametrize("told", ["1", None])  # None: by kernels before 6.8
def test_partitions_are_listed_with_their_state(tmp_path: Path, told: str | None) -> None:
    group = "/sys/fs/cgroup/unified"
    root = plant(
        tmp_path,
        {
            "/sys/devices/system/cpu/isolated": "",
            f"{group}/cgroup.controllers": "cpuset",
            f"{group}/cpuset.cpus.isolated": told,
            f"{group}/loops/cpuset.cpus.partition": "isolated",
            f"{group}/loops/cpuset.cpus": "1",
            f"{group}/rest/cpuset.cpus.partition": "member",
        },
    )
    facts = observe(root)
    assert facts.isolation.partitions == ("loops: isolated, CPU 1",)
    assert (facts.isolation.partitioned, facts.cpu.isolated) == ("1", "1")
