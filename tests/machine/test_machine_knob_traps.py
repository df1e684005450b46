"""What a kernel changes beside what was asked for, or forgets: told by its sources, played by files."""

from pathlib import Path

import pytest

from deployment_machines import CPUS, V2, FakeSettings, plant_machine, snapshot
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.deployment.apply import deployed
from tautochrone.machine.knob import KNOBS
from tautochrone.machine.knob.knob import Knob
from tautochrone.machine.settings import PinAgain, Write
from tautochrone.machine.tree import LocalFiles, Tree

FAIR = "/sys/kernel/debug/sched/fair_server"
RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"
POLICY = f"{CPUS}/cpufreq/policy0"
TWO = ((0,), (1,))


def knob(name: str) -> Knob:
    return next(one for one in KNOBS if one.name == name)


def tree_of(root: Path) -> Tree:
    return Tree(LocalFiles(root))


def fair_servers(*cpus: int) -> dict[str, str]:
    files = {f"{FAIR}/cpu{cpu}/runtime": "50000000" for cpu in cpus}
    return files | {f"{FAIR}/cpu{cpu}/period": "1000000000" for cpu in cpus}


def test_real_time_threads_get_their_share_before_cpus_leave_or_are_isolated() -> None:
    names = [one.name for one in KNOBS]
    assert names.index("rt-throttling") < min(names.index(name) for name in ("smt", "online", "isolated"))


def test_the_limit_is_lifted_before_fair_servers_and_set_again_behind_them(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, TWO, more=fair_servers(0, 1)))
    off = [one for one in knob("rt-throttling").changes("off", tree) if isinstance(one, Write)]
    assert [(one.path, one.value, one.may_refuse) for one in off] == [
        (RUNTIME, "-1", False),
        (f"{FAIR}/cpu0/runtime", "0", True),
        (f"{FAIR}/cpu1/runtime", "0", True),
    ]
    share = [one for one in knob("rt-throttling").changes("900ms/1s", tree) if isinstance(one, Write)]
    assert (share[0].path, share[0].value) == (RUNTIME, "-1")
    assert (share[-1].path, share[-1].value) == (RUNTIME, "900000")


def test_fair_servers_of_cpus_off_line_are_left_alone(tmp_path: Path) -> None:
    more = {**fair_servers(0, 1), f"{CPUS}/online": "0", f"{CPUS}/cpu1/online": "0"}
    tree = tree_of(plant_machine(tmp_path, TWO, more=more))
    paths = [one.path for one in knob("rt-throttling").changes("off", tree) if isinstance(one, Write)]
    assert f"{FAIR}/cpu0/runtime" in paths
    assert f"{FAIR}/cpu1/runtime" not in paths


def test_a_fair_server_that_refuses_is_told_and_ends_nothing(tmp_path: Path) -> None:
    files = LocalFiles(plant_machine(tmp_path, TWO, more=fair_servers(0, 1)))
    settings = FakeSettings(tmp_path, refuses=lambda one: one.path.startswith(FAIR))
    wanted = Deployment("mine", settings={"rt-throttling": "off"})
    with deployed(wanted, files, lambda _: settings) as done:
        (share,) = done.obtained
    assert share.obtained == "950ms/1s"
    assert "keeps a share" in share.reason


def test_the_mask_of_the_workqueues_is_put_back_as_it_was_asked_for(tmp_path: Path) -> None:
    """From Linux 6.8 on the mask lacks the CPUs that are isolated now."""
    mask = "/sys/devices/virtual/workqueue/cpumask"
    tree = tree_of(plant_machine(tmp_path, TWO, more={mask: "1", f"{mask}_requested": "3"}))
    assert knob("workqueues").changes("1", tree) == (Write(mask, "2", undo="3"),)


@pytest.mark.parametrize(
    ("soft", "nmi", "running"), [("1", "1", ["soft", "nmi"]), ("1", "0", ["soft"]), ("0", "0", [])]
)
def test_each_lock_up_detector_that_is_on_is_put_back(
    tmp_path: Path, soft: str, nmi: str, running: list[str]
) -> None:
    """To read one while both are off turns it off for good."""
    kernel = "/proc/sys/kernel"
    more = {f"{kernel}/watchdog": "1", f"{kernel}/soft_watchdog": soft, f"{kernel}/nmi_watchdog": nmi}
    tree = tree_of(plant_machine(tmp_path, TWO, more=more))
    assert knob("watchdog").changes("off", tree) == (
        *(Write(f"{kernel}/{one}_watchdog", "0", undo="1") for one in running),
        Write(f"{kernel}/watchdog", "0", undo="1"),
    )
    assert knob("watchdog").changes("on", tree) == ()


@pytest.mark.parametrize(
    ("governor", "held"),
    [
        ("powersave", {"energy_performance_preference": "balance_power"}),
        ("userspace", {"scaling_setspeed": "1200000"}),
    ],
)
def test_what_goes_with_the_governor_comes_back_after_it(
    tmp_path: Path, governor: str, held: dict[str, str]
) -> None:
    """The preference between speed and energy, and the speed that was chosen."""
    more = {
        f"{POLICY}/scaling_governor": governor,
        f"{POLICY}/scaling_available_governors": f"performance {governor}",
        f"{POLICY}/scaling_setspeed": "<unsupported>",
        **{f"{POLICY}/{name}": text for name, text in held.items()},
    }
    tree = tree_of(plant_machine(tmp_path, TWO, more=more))
    assert knob("governor").changes("performance", tree) == (
        *(Write(f"{POLICY}/{name}", text, may_refuse=True) for name, text in held.items()),
        Write(f"{POLICY}/scaling_governor", "performance"),
    )


@pytest.mark.parametrize(
    ("cpuinfo", "said"),
    [("flags\t\t: fpu tsc", "intel_idle.max_cstate=0 "), ("Features\t: fp asimd", "cpuidle.off=1 ")],
)
def test_boot_parameters_against_idle_states_are_those_of_the_architecture(
    tmp_path: Path, cpuinfo: str, said: str
) -> None:
    tree = tree_of(plant_machine(tmp_path, TWO, more={"/proc/cpuinfo": cpuinfo}))
    assert knob("c-states").advice("0us", tree).at_boot.startswith(said)


def test_an_idle_state_that_the_driver_leaves_disabled_is_none(tmp_path: Path) -> None:
    states = ((0, "POLL"), (2, "C1"), (4, "C1E"))
    more = {
        f"{CPUS}/cpu{cpu}/cpuidle/state2/{name}": text
        for cpu in (0, 1)
        for name, text in (("disable", "1"), ("default_status", "disabled"))
    }
    tree = tree_of(plant_machine(tmp_path, TWO, states=states, more=more))
    assert knob("c-states").read(tree) == "any"
    assert not knob("c-states").changes("any", tree)
    settings, before = FakeSettings(tmp_path), snapshot(tmp_path)
    for change in knob("c-states").changes("0us", tree):
        settings.apply(change)
    assert knob("c-states").read(tree) == "0us"
    settings.undo()
    assert snapshot(tmp_path) == before


def test_irqbalance_is_told_though_all_interrupts_have_moved(tmp_path: Path) -> None:
    more = {"/run/irqbalance.pid": "77", "/proc/77/comm": "irqbalance"}
    files = LocalFiles(plant_machine(tmp_path, TWO, more=more))
    wanted = Deployment("mine", settings={"interrupts": "0"})
    with deployed(wanted, files, lambda _: FakeSettings(tmp_path)) as done:
        (moved,) = done.obtained
    assert moved.obtained == "0"
    assert "systemctl stop irqbalance" in moved.reason


@pytest.mark.parametrize("cgroup", [1, 2])
def test_isolating_ends_with_pinning_those_again_that_the_kernel_let_out(tmp_path: Path, cgroup: int) -> None:
    tree = tree_of(plant_machine(tmp_path, TWO, cgroup=cgroup))
    assert knob("isolated").changes("1", tree)[-1] == PinAgain()


def test_the_partition_holds_the_controller_that_it_needs(tmp_path: Path) -> None:
    tree = tree_of(plant_machine(tmp_path, TWO))
    held = Write(f"{V2}/tautochrone/cgroup.subtree_control", "+cpuset", undo="-cpuset", may_refuse=True)
    assert held in knob("isolated").changes("1", tree)
