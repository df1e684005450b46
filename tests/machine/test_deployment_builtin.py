"""The six of delgado2020, Table 1, on machines of many shapes."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from deployment_machines import CPUS, plant_machine
from tautochrone.machine.deployment import BuiltIn, built_in
from tautochrone.machine.named_deployments import NAMES
from tautochrone.machine.tree import LocalFiles, Tree
from tautochrone.tune import verb

PAPERS = ((0, 2), (1, 3))
"""Two cores with two threads each, numbered as Intel does."""


def six(root: Path, cores: Sequence[Sequence[int]], **options: object) -> dict[str, BuiltIn]:
    tree = Tree(LocalFiles(plant_machine(root, cores, **options)))  # type: ignore[arg-type]
    return {one.deployment.name: one for one in built_in(tree)}


def test_the_papers_machine_has_the_papers_table(tmp_path: Path) -> None:
    found = six(tmp_path, PAPERS)
    table = {name: one.deployment.settings for name, one in found.items()}
    assert tuple(found) == NAMES
    assert all(one.cannot is None and one.same_as is None for one in found.values())
    assert table == {
        "CHM": {"c-states": "any", "smt": "on", "online": "0-3", "isolated": "none"},
        "HM": {"c-states": "0us", "smt": "on", "online": "0-3", "isolated": "none"},
        "HMI": {"c-states": "0us", "smt": "on", "online": "0-3", "isolated": "1-3", "interrupts": "0"},
        "M": {"c-states": "0us", "smt": "off", "online": "0-1", "isolated": "none"},
        "MI": {"c-states": "0us", "smt": "off", "online": "0-1", "isolated": "1", "interrupts": "0"},
        "Single": {"c-states": "0us", "smt": "off", "online": "0", "isolated": "none"},
    }


@pytest.mark.parametrize(
    ("name", "measure", "load"),
    [
        ("CHM", "0-3", "0-3"),
        ("HM", "0-3", "0-3"),
        ("HMI", "1,3", "0"),  # CPU 2 is isolated, and shares its core with all that goes on on CPU 0
        ("M", "0-1", "0-1"),
        ("MI", "1", "0"),
        ("Single", "0", "0"),
    ],
)
def test_measuring_is_on_isolated_cpus_and_loads_on_the_rest(
    tmp_path: Path, name: str, measure: str, load: str
) -> None:
    deployment = six(tmp_path, PAPERS)[name].deployment
    assert (deployment.measure, deployment.load) == (measure, load)


def test_one_cpu_can_only_be_single(tmp_path: Path) -> None:
    found = six(tmp_path, [[0]])
    assert {name for name, one in found.items() if one.cannot} == {"HMI", "MI"}
    assert "one CPU" in str(found["MI"].cannot)
    assert found["HM"].same_as == "M"
    assert found["M"].same_as == "Single"
    assert found["Single"].deployment.measure == "0"


def test_without_smt_hm_is_m_and_says_so(tmp_path: Path) -> None:
    found = six(tmp_path, [[0], [1]])
    assert {name: one.same_as for name, one in found.items() if one.same_as} == {"HM": "M", "HMI": "MI"}
    assert "the same as M" in found["HM"].note
    assert found["HM"].deployment.settings == found["M"].deployment.settings
    assert "smt" not in found["HM"].deployment.settings
    assert found["MI"].deployment.settings["isolated"] == "1"


def test_one_core_with_two_threads_can_isolate_only_with_smt(tmp_path: Path) -> None:
    found = six(tmp_path, [[0, 1]])
    assert found["HMI"].cannot is None
    assert (found["HMI"].deployment.measure, found["HMI"].deployment.load) == ("1", "0")
    assert found["MI"].cannot
    assert found["M"].same_as == "Single"


def test_eight_cores_keep_the_first_for_everything_else(tmp_path: Path) -> None:
    found = six(tmp_path, [[cpu] for cpu in range(8)])
    assert found["MI"].deployment.settings["isolated"] == "1-7"
    assert found["MI"].deployment.measure == "1-7"
    assert found["Single"].deployment.settings["online"] == "0"


def test_unlike_cores_keep_the_one_that_cannot_leave(tmp_path: Path) -> None:
    cores = [[0], [1], [2], [3], [4, 5], [6, 7]]
    found = six(tmp_path, cores, fixed=(4,), capacities=(400,) * 4 + (1024,) * 4)
    assert found["Single"].deployment.settings["online"] == "4"
    assert found["M"].deployment.settings["online"] == "0-4,6"
    assert found["MI"].deployment.settings["isolated"] == "0-3,6"
    assert found["HMI"].deployment.settings["isolated"] == "0-3,5-7"
    assert found["HMI"].deployment.measure == "0-3,6-7"


def test_siblings_that_are_off_line_are_not_guessed(tmp_path: Path) -> None:
    off = {f"{CPUS}/online": "0-1", f"{CPUS}/smt/control": "off"}
    found = six(tmp_path, PAPERS, more=off)
    assert "SMT is off" in str(found["HMI"].cannot)
    assert found["HM"].deployment.settings == {"c-states": "0us", "smt": "on", "isolated": "none"}
    assert found["HM"].deployment.measure == "0-3"
    assert found["MI"].cannot is None
    assert found["MI"].deployment.settings["isolated"] == "1"


def test_what_is_shown_of_a_machine_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Counted(LocalFiles):
        def read(self, path: str) -> bytes:
            read[path] += 1
            return super().read(path)

    read: Counter[str] = Counter()
    files = Counted(plant_machine(tmp_path, PAPERS))
    far = SimpleNamespace(files=lambda: files, in_force=lambda: None)
    monkeypatch.setattr(verb, "_target", lambda _: nullcontext(far))
    for show in (verb.list_deployments, lambda: verb.show("MI")):
        read.clear()
        show()
        assert set(read.values()) == {1}
