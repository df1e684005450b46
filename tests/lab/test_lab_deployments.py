"""Deployments on guests of the virtual lab: obtained at boot, repeatable, and what a guest can't have."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cells import worded
from deployment_machines import plant_machine
from lab import come_out_alike, guest_kernel, lab_qemu, what_repeats
from real import tauto
from tautochrone.base.errors import UsageError
from tautochrone.machine.deployment import Deployment, choose
from tautochrone.machine.deployment.apply import boot_parameters
from tautochrone.machine.knob import KNOBS
from tautochrone.machine.tree import FutureFiles, LocalFiles, Tree
from tautochrone.measure.execute import run_cell
from tautochrone.measure.loads.spec import parse_load
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.address import read_lab_address
from tautochrone.target.virtual.target import boot

COUNT, LOAD = 300, "exit:bytes=64MiB"
"""A process ends each 50 ms."""
STOCK, RT_OF_THREADS = "debian-stock,smp=2,turn=50us", "debian-rt,smp=4,threads=2,turn=50us"
"""Turns of 10 us, as usual, double the host's time."""
CORES = {STOCK: [[0], [1]], RT_OF_THREADS: [[0, 1], [2, 3]]}


def under(name: str, on: str, folder: Path) -> StoredRun:
    """`cyclic` on the first measured CPU, beside processes that end on the others, in a guest of its own."""
    if not lab_qemu():
        pytest.skip("several CPUs that repeat need QEMU 10")
    guest_kernel(read_lab_address(on).kernel)
    deployment = choose(name, LocalFiles(plant_machine(folder / "machine", CORES[on])))
    words = (
        "--period",
        "1ms",
        "--count",
        str(COUNT),
        "--cpus",
        (deployment.measure or "0").partition(",")[0],
    )
    cell = worded("cyclic", words, "a loop", parse_load([LOAD]), expected_s=COUNT / 1e3)
    with closing(boot(read_lab_address(on))) as target:
        return run_cell(replace(cell, deployment=deployment), Store(folder / "store"), target, {})


def before(cpus: str) -> Tree:
    return Tree(FutureFiles({f"/sys/devices/system/cpu/{name}": cpus for name in ("online", "present")}))


def test_what_only_boot_can_do_is_asked_of_the_kernel() -> None:
    asked = {"isolated": "all but 0", "tickless": "1-3", "interrupts": "0", "c-states": "0us", "smt": "on"}
    assert boot_parameters(Deployment("mine", settings=asked), before("0-3")) == (
        "isolcpus=managed_irq,domain,1-3",
        "rcu_nocbs=1-3",
        "nohz_full=1-3",
        "irqaffinity=0",
    )
    nothing = {"isolated": "none", "tickless": "none", "interrupts": "all", "online": "0"}
    assert boot_parameters(Deployment("mine", settings=nothing), before("0-3")) == ()
    with pytest.raises(UsageError, match="leaves none for everything else"):
        boot_parameters(Deployment("mine", settings={"isolated": "all"}), before("0-3"))


def test_an_emulated_cpu_has_no_c_states_to_choose_from() -> None:
    states = next(one for one in KNOBS if one.name == "c-states")
    assert (states.read(before("0-1")), states.canonical("10us", before("0-1"))) == ("0us", "0us")
    assert "no idle states" in str(states.available(before("0-1")))
    with pytest.raises(UsageError, match="can't have the deployment CHM: an emulated CPU has no idle states"):
        choose("CHM", before("0-1").files)


@pytest.mark.lab
@pytest.mark.slow
def test_isolation_keeps_the_loads_paths_away_in_the_same_way_each_time(tmp_path: Path) -> None:
    shared = under("M", STOCK, tmp_path / "M")
    isolated = under("MI", STOCK, tmp_path / "MI")
    assert shared.values().max() > 10 * isolated.values().max()
    numbers = iter(range(9))

    def again() -> tuple[object, ...]:
        return what_repeats(under("MI", STOCK, tmp_path / f"again {next(numbers)}"))

    assert come_out_alike(lambda: what_repeats(isolated), again)


@pytest.mark.lab
@pytest.mark.slow
def test_a_guest_is_booted_for_its_deployment_and_has_all_of_it(tmp_path: Path) -> None:
    run = under("HMI", RT_OF_THREADS, tmp_path)
    held, virtual = run.manifest.conditions.deployment, run.manifest.conditions.virtual
    assert held is not None
    assert virtual is not None
    assert {one.knob: one.obtained for one in held.settings if one.requested is not None} == {
        "smt": "on",
        "online": "0-3",
        "isolated": "1-3",
        "interrupts": "0",
        "c-states": "0us",
    }
    assert not [one.reason for one in held.settings if one.reason]
    words = "isolcpus=managed_irq,domain,1-3 rcu_nocbs=1-3 irqaffinity=0"
    assert held.booted_with == words
    assert words in str(virtual.command_line)
    assert words in str(run.manifest.known.kernel.command_line)
    with closing(boot(read_lab_address(RT_OF_THREADS))) as target:
        as_it_is = target.virtual()
        assert target.renew(Deployment("mine", settings={"isolated": "1"}))
        assert target.virtual().machine == as_it_is.machine == virtual.machine
        assert target.renew() == ""
        assert target.virtual() == as_it_is
    given = boot(read_lab_address(f"{RT_OF_THREADS},append=isolcpus=3"))
    assert given.renew(Deployment("mine", settings={"isolated": "1"})) == "rcu_nocbs=1"
    given.close()


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.long
def test_a_matrix_of_deployments_says_what_a_guest_cannot_have_and_can_be_selected_from(
    tmp_path: Path,
) -> None:
    guest_kernel("debian:stock")
    words = ("--kernels", "debian:stock", "--preempt", "voluntary", "--deployment", "CHM,M,MI")
    options = ("--smp", "2", "--load", "exit", "--period", "1ms", "--duration", "1s")
    done = tauto("lab", "matrix", *words, *options, "--json", store=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["deployment"]: row for row in json.loads(done.stdout)["grid"]["rows"]}
    assert "an emulated CPU has no idle states" in rows["CHM"]["cells"][0]["why"]
    assert rows["CHM"]["cells"][0]["worst"] is None
    assert rows["M"]["cells"][0]["worst"] > rows["MI"]["cells"][0]["worst"]
    assert rows["MI"]["booted_with"].startswith("isolcpus=")
    chosen = tauto("select", "matrix-latest", "--metric", "p90", "--json", store=tmp_path)
    assert chosen.returncode == 0, chosen.stderr
    assert {one["name"] for one in json.loads(chosen.stdout)["selections"][0]["candidates"]} == {"M", "MI"}
