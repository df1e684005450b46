"""Every knob on a tree of files: is it there, what is it, how is it changed, what else helps."""

import struct
from collections.abc import Mapping
from pathlib import Path

import pytest

from deployment_machines import CPUS, V1, V2, FakeSettings, plant_machine, snapshot
from tautochrone.base.errors import UsageError
from tautochrone.machine.cpulist import format_cpu_mask, parse_cpu_mask
from tautochrone.machine.knob import KNOBS
from tautochrone.machine.knob.knob import Knob
from tautochrone.machine.settings import Hold, KeepAffinities, MoveTasks, PinAgain, Write
from tautochrone.machine.tree import LocalFiles, Tree

FAIR = "/sys/kernel/debug/sched/fair_server"
POLICY = f"{CPUS}/cpufreq/policy0"
PAPERS = ((0, 2), (1, 3))
HAS_ALL: Mapping[str, str] = {
    f"{POLICY}/scaling_governor": "powersave",
    f"{POLICY}/scaling_available_governors": "performance powersave",
    f"{CPUS}/cpufreq/boost": "1",
}


def knob(name: str) -> Knob:
    return next(one for one in KNOBS if one.name == name)


def tree_of(root: Path) -> Tree:
    return Tree(LocalFiles(root))


@pytest.mark.parametrize("cgroup", [1, 2])
@pytest.mark.parametrize(
    ("name", "before", "wanted"),
    [
        ("smt", "on", "off"),
        ("online", "0-3", "0-1"),
        ("isolated", "none", "1,3"),
        ("interrupts", "0-3", "0,2"),
        ("workqueues", "0-3", "0"),
        ("c-states", "any", "2us"),
        ("governor", "powersave", "performance"),
        ("boost", "on", "off"),
        ("rt-throttling", "950ms/1s", "900ms/2s"),
        ("watchdog", "on", "off"),
        ("timer-migration", "on", "off"),
        ("numa-balancing", "on", "off"),
        ("transparent-hugepages", "madvise", "never"),
    ],
)
def test_every_knob_is_read_changed_read_back_and_put_back(
    tmp_path: Path, name: str, before: str, wanted: str, cgroup: int
) -> None:
    tree = tree_of(plant_machine(tmp_path, PAPERS, cgroup=cgroup, more=HAS_ALL))
    one, held, settings = knob(name), snapshot(tmp_path), FakeSettings(tmp_path)
    assert one.available(tree) is None
    assert one.read(tree) == before
    assert one.canonical(before, tree) == before
    assert not one.changes(before, tree)
    for change in one.changes(one.canonical(wanted, tree), tree):
        settings.apply(change)
    assert one.read(tree) == wanted
    assert not one.changes(wanted, tree)
    settings.undo()
    assert snapshot(tmp_path) == held


def test_all_knobs_are_in_that_test_and_have_names_and_summaries(tmp_path: Path) -> None:
    assert len({one.name for one in KNOBS}) == len(KNOBS) == 15
    assert all(one.summary for one in KNOBS)


def test_a_bare_machine_says_what_it_has_not_and_why(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    for one in KNOBS:
        assert one.available(tree), one.name
        assert one.read(tree) is None, one.name
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], cgroup=None))
    unavailable = {one.name: one.available(tree) for one in KNOBS if one.available(tree)}
    assert unavailable.keys() == {"smt", "isolated", "tickless", "latency-limit", "governor", "boost"}
    assert unavailable["smt"] == "this machine has no SMT"


@pytest.mark.parametrize(("held", "read"), [("(null)", "none"), ("", "none"), ("1-3", "1-3")])
def test_the_tick_of_a_busy_cpu_is_stopped_at_boot_only(tmp_path: Path, held: str, read: str) -> None:
    tree = tree_of(plant_machine(tmp_path, PAPERS, more={f"{CPUS}/nohz_full": held}))
    one = knob("tickless")
    assert one.read(tree) == read
    assert one.available(tree) == "it is chosen when the kernel boots"
    assert not one.changes("1,3", tree)
    assert one.advice(one.canonical("all but 0", tree), tree).at_boot == "nohz_full=1-3"
    assert one.advice("none", tree).at_boot == "boot without nohz_full"


@pytest.mark.parametrize(
    ("control", "read", "reason"),
    [
        ("on", "on", None),
        ("off", "off", None),
        ("2", "on", None),
        ("forceoff", "off", "nosmt=force"),
        ("notsupported", "off", "can't turn SMT off"),
    ],
)
def test_smt_in_all_its_states(tmp_path: Path, control: str, read: str, reason: str | None) -> None:
    tree = tree_of(plant_machine(tmp_path, PAPERS, more={f"{CPUS}/smt/control": control}))
    assert knob("smt").read(tree) == read
    assert reason in str(knob("smt").available(tree)) if reason else knob("smt").available(tree) is None


def test_what_was_off_line_before_smt_stays_off_line_after(tmp_path: Path) -> None:
    more = {f"{CPUS}/online": "0-2", f"{CPUS}/cpu3/online": "0"}
    tree = tree_of(plant_machine(tmp_path, PAPERS, more=more))
    held, settings = snapshot(tmp_path), FakeSettings(tmp_path)
    for change in knob("smt").changes("off", tree):
        settings.apply(change)
    assert knob("online").read(tree) == "0-1"
    settings.undo()
    assert snapshot(tmp_path) == held


def test_what_a_leaving_cpu_takes_with_it_is_noted_before(tmp_path: Path) -> None:
    more = {
        f"{V1}/docker/cpuset.cpus": "0-1",
        f"{V1}/docker/inner/cpuset.cpus": "1",
        f"{V1}/other/cpuset.cpus": "0",
        f"{CPUS}/cpu1/cpuidle/state2/disable": "1",
    }
    irqs = {24: "0-1", 25: "0", 26: "1"}
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], cgroup=1, irqs=irqs, more=more))
    changes = list(knob("online").changes("0", tree))
    assert changes == [
        Write("/proc/irq/24/smp_affinity_list", "0-1", may_refuse=True),
        Write("/proc/irq/26/smp_affinity_list", "1", may_refuse=True),
        Write(f"{CPUS}/cpu1/cpuidle/state2/disable", "1"),
        KeepAffinities(),
        Write(f"{V1}/docker/inner/cpuset.cpus", "1"),
        Write(f"{V1}/docker/cpuset.cpus", "0-1"),
        Write(f"{CPUS}/cpu1/online", "0"),
    ]
    assert not knob("online").changes("0-1", tree)


def test_cpus_come_before_others_leave(tmp_path: Path) -> None:
    more = {f"{CPUS}/online": "0,2", f"{CPUS}/cpu1/online": "0"}
    tree = tree_of(plant_machine(tmp_path, [[0], [1], [2]], fixed=(), more=more))
    paths = [one.path for one in knob("online").changes("1", tree) if isinstance(one, Write)]
    hot = [path for path in paths if path.endswith("/online")]
    assert hot == [f"{CPUS}/cpu{cpu}/online" for cpu in (1, 2, 0)]


def test_only_cpus_that_can_leave_may_be_left_out(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, [[0], [1]]))
    assert knob("online").canonical("all", tree) == "0-1"
    assert knob("online").canonical("all but 1", tree) == "0"
    for wrong in ("1", "all but 0"):
        with pytest.raises(UsageError, match="CPU 0 of this machine can't go offline"):
            knob("online").canonical(wrong, tree)
    with pytest.raises(UsageError, match="there is no CPU 7"):
        knob("online").canonical("0,7", tree)
    fixed = tree_of(plant_machine(tmp_path / "fixed", [[0]]))
    assert knob("online").available(fixed) == "no CPU of this machine can go offline"


@pytest.mark.parametrize(
    ("wanted", "canonical"),
    [("0us", "0us"), ("1us", "0us"), ("10us", "2us"), ("133us", "any"), ("1ms", "any"), ("any", "any")],
)
def test_c_states_are_those_within_the_limit(tmp_path: Path, wanted: str, canonical: str) -> None:
    tree = tree_of(plant_machine(tmp_path, [[0], [1]]))
    assert knob("c-states").canonical(wanted, tree) == canonical


def test_the_first_idle_state_stays_and_that_is_told(tmp_path: Path) -> None:
    arm = ((1, "WFI"), (500, "retention"))
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], states=arm))
    one, settings = knob("c-states"), FakeSettings(tmp_path)
    for change in one.changes(one.canonical("0us", tree), tree):
        settings.apply(change)
    assert one.read(tree) == "1us"
    assert "takes 1 us to leave" in one.shortfall("0us", tree)
    assert (tmp_path / f"{CPUS}/cpu0/cpuidle/state0/disable".lstrip("/")).read_text() == "0"


def test_the_deepest_of_all_cpus_is_read(tmp_path: Path) -> None:
    more = {f"{CPUS}/cpu0/cpuidle/state{state}/disable": "1" for state in (1, 2)}
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], more=more))
    assert knob("c-states").read(tree) == "133us"
    assert len(knob("c-states").changes("any", tree)) == 2
    assert len(knob("c-states").changes("0us", tree)) == 2


def test_the_wake_up_latency_is_held(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, [[0], [1]]))
    one = knob("latency-limit")
    assert one.available(tree) == "this kernel has no /dev/cpu_dma_latency"
    assert one.read(tree) is None
    device = tmp_path / "dev" / "cpu_dma_latency"
    device.parent.mkdir()
    device.write_bytes(struct.pack("<i", 2_000_000_000))
    assert one.available(tree) is None
    assert one.read(tree) == "none"
    assert one.changes("20us", tree) == (Hold("/dev/cpu_dma_latency", struct.pack("<i", 20)),)
    device.write_bytes(struct.pack("<i", 20))
    assert one.read(tree) == "20us"
    assert one.changes("20us", tree) == one.changes("none", tree) == ()


def test_without_idle_states_neither_they_nor_a_limit_can_be_had(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], states=(), more={"/dev/cpu_dma_latency": ""}))
    assert knob("c-states").available(tree) == "this kernel offers no idle states to choose from"
    assert knob("c-states").read(tree) is None
    assert "no effect" in str(knob("latency-limit").available(tree))


def test_a_partition_is_made_in_the_order_that_the_kernel_wants(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, PAPERS))
    names = [
        one.path.removeprefix(V2) + (f"={one.value}" if isinstance(one, Write) else "/")
        for one in knob("isolated").changes("1,3", tree)
        if not isinstance(one, KeepAffinities | MoveTasks | Hold | PinAgain)
    ]
    assert names == [
        "/cgroup.subtree_control=+cpuset",
        "/tautochrone/",
        "/tautochrone/cgroup.type=threaded",
        "/tautochrone/cpuset.cpus=1,3",
        "/tautochrone/cpuset.cpus.exclusive=1,3",
        "/tautochrone/cpuset.cpus.partition=isolated",
        "/tautochrone/cgroup.subtree_control=+cpuset",  # so that nobody takes the controller from the root
    ]
    enabled = tree_of(plant_machine(tmp_path, PAPERS, more={f"{V2}/cgroup.subtree_control": "cpuset cpu"}))
    assert len(knob("isolated").changes("1,3", enabled)) == 8


@pytest.mark.parametrize("cgroup", [1, 2])
def test_a_container_cannot_isolate(tmp_path: Path, cgroup: int) -> None:
    plant_machine(tmp_path, PAPERS, cgroup=cgroup)
    if cgroup == 2:
        (tmp_path / V2.lstrip("/") / "cgroup.type").write_text("domain")
    else:
        (tmp_path / V1.lstrip("/") / "release_agent").unlink()
    tree = tree_of(tmp_path)
    assert "container" in str(knob("isolated").available(tree))
    assert knob("isolated").changes("1", tree) == ()


def test_a_shield_takes_the_cpus_out_of_other_groups_too(tmp_path: Path) -> None:
    more = {f"{V1}/docker/cpuset.cpus": "0-3", f"{V1}/docker/inner/cpuset.cpus": "2-3"}
    more |= {
        f"{V1}/docker/inner/cpuset.sched_load_balance": "0",
        f"{V1}/docker/cpuset.sched_load_balance": "1",
    }
    tree = tree_of(plant_machine(tmp_path, PAPERS, cgroup=1, more=more))
    held, settings = snapshot(tmp_path), FakeSettings(tmp_path)
    for change in knob("isolated").changes("1,3", tree):
        settings.apply(change)
    assert knob("isolated").read(tree) == "1,3"
    folder = tmp_path / V1.lstrip("/")
    assert (folder / "docker/inner/cpuset.cpus").read_text() == "2"
    assert (folder / "docker/cpuset.cpus").read_text() == "0,2"
    assert (folder / "tautochrone/cpuset.cpus").read_text() == "0,2"
    assert (folder / "tautochrone/tasks").read_text() == "1\n2\n"
    settings.undo()
    assert snapshot(tmp_path) == held


def test_boot_parameters_are_recognised_and_those_that_lack_are_advised(tmp_path: Path) -> None:
    more = {f"{CPUS}/isolated": "2-3", "/proc/cmdline": "isolcpus=managed_irq,domain,2-3 rcu_nocbs=1-3"}
    tree = tree_of(plant_machine(tmp_path, [[0], [1], [2], [3]], more=more))
    one = knob("isolated")
    assert one.read(tree) == "2-3"
    assert one.changes("2-3", tree) == ()
    assert one.advice("2-3", tree).at_boot == ""
    assert one.advice("1-3", tree).at_boot == "isolcpus=managed_irq,domain,1-3"
    assert any(isinstance(change, Write) and change.value == "1" for change in one.changes("1-3", tree))
    assert one.advice("none", tree).at_boot == "boot without isolcpus rcu_nocbs"


def test_what_is_typed_by_hand_does_what_the_knob_does(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, [[0, 1], [2, 3]], more={f"{CPUS}/online": "0-2"}))
    online = knob("online")
    one_of_each = online.advice("0,2", tree)
    assert one_of_each.now == f"echo 0 | sudo tee {CPUS}/cpu1/online"
    assert one_of_each.at_boot == ""  # maxcpus=2 would give 0 and 1, which share a core
    assert online.advice("0", tree).at_boot == "maxcpus=1"
    assert online.advice("0-3", tree).now == f"echo 1 | sudo tee {CPUS}/cpu3/online"
    assert knob("c-states").advice("10us", tree).now == "sudo cpupower idle-set -D 11"
    words = knob("rt-throttling").advice("400ms/500ms", tree).now
    lifted = "sudo sysctl kernel.sched_rt_runtime_us=-1"  # the kernel refuses a period shorter than 950 ms
    assert words == f"{lifted} kernel.sched_rt_period_us=500000 kernel.sched_rt_runtime_us=400000"
    (tmp_path / f"{FAIR}/cpu0".lstrip("/")).mkdir(parents=True)
    words = knob("rt-throttling").advice("400ms/500ms", tree).now
    steps = [step.split()[-5::4] for step in words.partition(" do ")[2].split(";")[:3]]
    assert steps == [["0", "$f/runtime"], ["500000000", "$f/period"], ["100000000", "$f/runtime"]]
    assert knob("rt-throttling").advice("off", tree).now.count("echo 0 | sudo tee $f/runtime") == 1


def test_irqbalance_is_told(tmp_path: Path) -> None:
    more = {"/run/irqbalance.pid": "812", "/proc/812/comm": "irqbalance"}
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], more=more))
    assert "irqbalance (process 812)" in knob("interrupts").shortfall("0", tree)
    gone = tree_of(plant_machine(tmp_path, [[0], [1]], more={"/proc/812/comm": "bash"}))
    assert "irqbalance" not in knob("interrupts").shortfall("0", gone)


def test_interrupts_without_a_handler_are_left_alone(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], more={"/proc/irq/99/smp_affinity_list": "0-1"}))
    paths = [change.path for change in knob("interrupts").changes("0", tree) if isinstance(change, Write)]
    assert [path.split("/")[3] for path in paths] == ["default_smp_affinity", "24", "25"]


@pytest.mark.parametrize(
    ("rt", "fair", "read"),
    [
        ("950000", "50000000", "950ms/1s"),
        ("-1", "50000000", "950ms/1s"),
        ("-1", "0", "off"),
        ("950000", "100000000", "900ms/1s"),
    ],
)
def test_the_fair_server_is_what_throttles_where_it_can_be_seen(
    tmp_path: Path, rt: str, fair: str, read: str
) -> None:
    more = {"/proc/sys/kernel/sched_rt_runtime_us": rt, "/proc/sys/kernel/osrelease": "6.12.1"}
    for cpu in (0, 1):
        more |= {f"{FAIR}/cpu{cpu}/runtime": fair, f"{FAIR}/cpu{cpu}/period": "1000000000"}
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], more=more))
    one, settings = knob("rt-throttling"), FakeSettings(tmp_path)
    assert one.read(tree) == read
    for wanted in ("off", "700ms/2s"):
        for change in one.changes(wanted, tree):
            settings.apply(change)
        assert one.read(tree) == wanted


@pytest.mark.parametrize("runtime", ["-1", "1000000"])
def test_throttling_that_cannot_be_seen_is_not_called_off(tmp_path: Path, runtime: str) -> None:
    more = {"/proc/sys/kernel/sched_rt_runtime_us": runtime, "/proc/sys/kernel/osrelease": "6.12.1"}
    tree = tree_of(plant_machine(tmp_path, [[0], [1]], more=more))
    assert knob("rt-throttling").read(tree) is None
    assert "debugfs" in knob("rt-throttling").shortfall("off", tree)
    old = {**more, "/proc/sys/kernel/osrelease": "6.11.0"}
    assert knob("rt-throttling").read(tree_of(plant_machine(tmp_path, [[0], [1]], more=old))) == "off"
    assert knob("rt-throttling").canonical("1s/1s", tree) == "off"


def test_the_runtime_is_never_longer_than_the_period_on_the_way(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, [[0], [1]]))
    writes = [one for one in knob("rt-throttling").changes("9ms/10ms", tree) if isinstance(one, Write)]
    assert [one.value for one in writes] == ["-1", "10000", "9000"]
    with pytest.raises(UsageError, match="not a share of time"):
        knob("rt-throttling").check("2s/1s")


def test_a_governor_that_the_driver_has_not_is_refused(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, [[0]], more=HAS_ALL))
    with pytest.raises(UsageError) as caught:
        knob("governor").canonical("perfomance", tree)
    assert "Did you mean 'performance'?" in caught.value.advice


def test_turbo_of_intel_is_the_other_way_round(tmp_path: Path) -> None:
    path = f"{CPUS}/intel_pstate/no_turbo"
    tree = tree_of(plant_machine(tmp_path, [[0]], more={path: "0"}))
    assert knob("boost").read(tree) == "on"
    assert knob("boost").changes("off", tree) == (Write(path, "1"),)


@pytest.mark.parametrize(
    ("cpus", "mask"), [((0,), "1"), ((0, 1, 33), "2,00000003"), ((31,), "80000000"), ((32,), "1,00000000")]
)
def test_masks_are_written_as_the_kernel_does(cpus: tuple[int, ...], mask: str) -> None:
    assert format_cpu_mask(cpus) == mask
    assert parse_cpu_mask(mask) == cpus
