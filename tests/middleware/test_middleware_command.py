"""`tauto middleware …` on the real programs: both places, going on, what is missing, what is refused."""

import inspect
import json
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from middleware_servers import needs
from real import (
    PATIENCE_S,
    a_cpu,
    needs_priorities,
    only_run,
    policy_options,
    start_tauto,
    tauto,
    two_cpus,
    wait_until,
)
from tautochrone.experiments import EXPERIMENTS
from tautochrone.measure.campaign.campaign import FINISHED, campaigns
from tautochrone.middleware import verbs
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

FEW = ["--types", "octet", "--directions", "two-way", "--count", "100"]
SHORT = ["--calls", "5", "--place", "same"]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def told(run: StoredRun) -> dict[str, Any]:
    found: dict[str, Any] = run.manifest.conditions.stored["plan"]
    return found


def sealed_runs(store: Path) -> list[StoredRun]:
    return [run for run in Store(store).runs() if run.manifest.state == "sealed"]


def slots(store: Path) -> Counter[tuple[object, ...]]:
    """How often each cell and repetition is finished."""
    return Counter(
        (*(told(run)["options"][name] for name in ("transport", "place", "clients")), told(run)["repetition"])
        for run in sealed_runs(store)
        if run.manifest.ended in FINISHED
    )


@pytest.fixture
def tcp_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing but tcp was built."""
    needs("tcp")
    beside = Path(os.environ.get("TAUTO_MIDDLEWARE") or find_probe().resolve().parent)
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "tauto-middleware-tcp").symlink_to(beside / "tauto-middleware-tcp")
    monkeypatch.setenv("TAUTO_MIDDLEWARE", str(folder))


@pytest.mark.parametrize(
    ("verb", "experiment", "left_to_plans"),
    [
        (verbs.throughput, "middleware-throughput", {"warmup", "row-limit"}),
        (verbs.latency, "middleware-latency", {"warmup", "rate-high", "rate-low", "phase"}),
        (verbs.footprint, "middleware-footprint", {"patience", "service-time", "no-memory-lock"}),
    ],
)
def test_the_verbs_have_the_options_of_their_experiments(
    verb: Any, experiment: str, left_to_plans: set[str]
) -> None:
    given = {name.replace("_", "-") for name in inspect.signature(verb).parameters}
    of_plans = {
        "server", "budget", "wake-latency", "housekeeping", "record", "keep-above", "every", "drain", "ring",
    }  # fmt: skip
    assert set(EXPERIMENTS[experiment].known) - of_plans - left_to_plans <= given


@pytest.mark.slow
def test_throughput_measures_each_transport_on_one_cpu_and_on_two(store: Path) -> None:
    needs("unix")
    first, second = two_cpus().split(",")
    done = tauto(
        "middleware", "throughput", "--transport", "tcp,unix", *FEW, *policy_options(), "--json", store=store
    )
    assert done.returncode == 0, done.stderr
    assert not json.loads(done.stdout)["lacking"]
    found = {}
    for run in sealed_runs(store):
        parameters = run.manifest.header.stored["parameters"]
        (source,) = run.manifest.header.stored["sources"]
        ends = source["obtained"]["cpu"], source["partners"][0]["obtained"]["cpu"]
        found[parameters["transport"], parameters["place"]] = ends
        assert run.count("call_ns") == 100
    on_two = (int(first), int(second))
    assert found == {
        (name, place): on_two if place == "different" else (on_two[0],) * 2
        for name in ("tcp", "unix")
        for place in ("same", "different")
    }


@pytest.mark.slow
def test_latency_that_was_stopped_and_killed_goes_on_and_measures_no_cell_twice(store: Path) -> None:
    needs("unix")
    words = [
        "middleware", "latency", "--transport", "tcp,unix", *SHORT, "--clients", "0..2", *policy_options(),
    ]  # fmt: skip
    for end, at_least in ((signal.SIGINT, 1), (signal.SIGKILL, 3)):
        lab = start_tauto(*words, store=store)
        try:
            wait_until(lambda least=at_least: sum(slots(store).values()) >= least, "some cells are finished")  # type: ignore[misc]
            lab.send_signal(end)
            _, complaint = lab.communicate(timeout=PATIENCE_S)
        except BaseException:
            lab.kill()
            lab.communicate()
            raise
        if end == signal.SIGINT:
            assert lab.returncode == 130
            assert "of 6 cases are left" in complaint
            assert "To go on, type the same again: tauto middleware latency" in complaint
    assert sum(slots(store).values()) < 6

    done = tauto(*words, store=store)
    assert done.returncode == 0, done.stderr
    assert set(slots(store).values()) == {1}
    assert len(slots(store)) == 6
    assert len(campaigns(Store(store))) == 1
    assert "all 6 cases" in tauto(*words, store=store).stdout


@pytest.mark.slow
def test_every_client_is_as_urgent_as_its_servant_and_each_less_than_the_one_before(store: Path) -> None:
    needs_priorities("priorities of clients")
    needs("tcp")
    done = tauto(
        "middleware", "latency", "--transport", "tcp", *SHORT, "--clients", "3", "--priority", "70",
        "--one-way", store=store,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = only_run(store)
    assert {"request_ns", "reply_ns"} < set(run.measures)
    ends = {
        one["name"]: (one["obtained"]["priority"], one["partners"][0]["obtained"]["priority"])
        for one in run.manifest.header.stored["sources"]
    }
    assert ends == {f"C{number}": (70 - number, 70 - number) for number in range(4)}


@pytest.mark.slow
def test_without_priorities_they_are_not_known_and_it_is_measured_all_the_same(store: Path) -> None:
    needs("tcp")
    done = tauto(
        "middleware", "latency", "--transport", "tcp", *SHORT, "--clients", "1", "--policy", "other",
        "--no-memory-lock", store=store,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    header = only_run(store).manifest.header.stored
    assert header["parameters"]["priority"] is None
    for one in header["sources"]:
        assert {end["obtained"]["policy"] for end in (one, one["partners"][0])} == {"other"}


@pytest.mark.slow
def test_a_deployment_says_on_which_cpu_both_ends_run(store: Path, tmp_path: Path) -> None:
    needs("tcp")
    deployment = tmp_path / "last.toml"
    deployment.write_text(f'title = "the last CPU"\nmeasure = "{a_cpu()}"\n')
    done = tauto(
        "middleware", "throughput", "--transport", "tcp", *FEW, "--deployment", str(deployment),
        *policy_options(), store=store,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "one CPU that deployment last measures on" in done.stderr
    (source,) = only_run(store).manifest.header.stored["sources"]
    assert [one["obtained"]["cpu"] for one in (source, source["partners"][0])] == [int(a_cpu())] * 2


@pytest.mark.slow
@pytest.mark.usefixtures("tcp_alone")
def test_what_is_not_built_is_told_once_with_what_to_install(store: Path) -> None:
    shown = tauto("middleware", "latency", "--dry-run", "--place", "same", store=store)
    assert shown.returncode == 0, shown.stderr
    assert "7 cases in 1 repetition" in shown.stdout
    assert shown.stderr.count("Left out: ") == 1
    assert "omniorb" in shown.stderr
    assert "apt install libzmq3-dev" in shown.stderr
    refused = tauto("middleware", "latency", "--transport", "omniorb,tcp", store=store)
    assert refused.returncode == 2
    assert "--transport omniorb" in refused.stderr
    assert "make setup" in refused.stderr
    assert not store.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("tcp_alone")
def test_a_plan_measures_what_there_is_and_names_the_rest(store: Path, tmp_path: Path) -> None:
    plan = tmp_path / "orbs.plan.toml"
    permitted = "fifo" in policy_options()
    plan.write_text(
        f'[defaults]\npolicy = "{"fifo" if permitted else "other"}"\n'
        f"no-memory-lock = {'false' if permitted else 'true'}\n"
        '[[experiment]]\nname = "middleware-latency"\ntransport = ["omniorb", "tcp"]\n'
        "calls = 5\nclients = 1\n"
        'require = ["response of C0 max < 1ns", "round_trip of C0 max < 10s", "misses of C7 = 0"]\n'
    )
    done = tauto("run", str(plan), "--json", store=store)
    assert done.returncode == 6, done.stderr
    results = json.loads(done.stdout)
    (lacking,) = results["lacking"]
    assert "omniorb" in lacking["cell"]
    assert "install omniidl" in lacking["why"]
    said = {(one["requirement"], one["standing"]) for one in results["required"] if one["runs"]}
    assert said == {
        ("response of C0 max < 1ns", "does not hold"),
        ("round_trip of C0 max < 10s", "not shown"),  # ten calls say nothing of those to come
        ("misses of C7 = 0", "not shown"),
    }
    assert any("there is: C0, C1" in one["why"] for one in results["required"])


@pytest.mark.slow
def test_a_mistake_of_a_plan_is_told_with_its_line(store: Path, tmp_path: Path) -> None:
    needs("tcp")
    plan = tmp_path / "orbs.plan.toml"
    text = '[[experiment]]\nname = "middleware-throughput"\ntransport = "tcp"\ntypes = "lnog"\n'
    plan.write_text(text + 'policy = "other"\nno-memory-lock = true\n')
    refused = tauto("run", str(plan), store=store)
    assert refused.returncode == 2
    assert "orbs.plan.toml:4: middleware-throughput: types lnog" in refused.stderr


@pytest.mark.slow
def test_a_dry_run_tells_that_the_whole_length_takes_hours(store: Path) -> None:
    needs("tcp")
    words = ["--transport", "tcp", "--place", "same", "--dry-run"]
    shown = tauto("middleware", "latency", *words, store=store)
    assert shown.returncode == 0, shown.stderr
    assert "about 47 min" in shown.stdout
    assert "0 to 50" in shown.stdout
    quick = tauto("middleware", "latency", "--quick", *words, "--json", store=store)
    cells = json.loads(quick.stdout)["cells"]
    assert {one["options"]["place"] for one in cells} == {"same"}
    assert sorted(one["options"]["clients"] for one in cells) == [0, 1, 2, 5, 9]
    assert all(11 <= one["expected_s"] < 14 for one in cells)
    assert not store.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "options", "message"),
    [
        ("latency", ["--transport", "tpc"], "Did you mean 'tcp'?"),
        ("latency", ["--transport", "tcp,,udp"], "'' is not known"),
        ("latency", ["--clients", "9..1"], "1..9"),
        ("latency", ["--place", "both"], "same, different, free"),
        ("latency", ["--place", "free", "--cpus", "0"], "pins nobody"),
        ("latency", ["--cpus", "first"], "not a list of CPUs"),
        ("latency", ["--cpus", "0", "--place", "different"], "two CPUs"),
        ("latency", ["--policy", "fair"], "fifo, rr, other"),
        ("latency", ["--patience", "2"], "--patience"),
        ("latency", ["--calls", "0"], "--calls 0"),
        ("latency", ["--server-on", "board"], "--server-on board"),
        ("latency", ["--transport", "tcp", "--overrun", "sometimes"], "--overrun"),
        ("latency", ["--transport", "tcp", "--clients", "0,50", "--priority", "20"], "--priority 51"),
        ("throughput", ["--types", "lnog"], "Did you mean 'long'?"),
        ("throughput", ["--lengths", "0"], "1 or more"),
        ("throughput", ["--directions", "up"], "one-way"),
        ("throughput", ["--load", "gravity"], "no load 'gravity'"),
        ("footprint", ["--servants", "0"], "1 or more"),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_measured(
    store: Path, verb: str, options: list[str], message: str
) -> None:
    needs("tcp")
    if "--priority" in options:
        needs_priorities("priorities of clients")
    refused = tauto("middleware", verb, *options, store=store)
    assert refused.returncode == 2, refused.stdout
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) <= 3
    assert not Store(store).runs()
