"""Deployments from TOML: what is right is read, what is wrong is told with its line and the fix."""

from pathlib import Path

import pytest

from deployment_machines import plant_machine
from tautochrone.base.errors import UsageError
from tautochrone.machine.deployment import ORIGIN, choose, read_deployment
from tautochrone.machine.deployment.apply import canonical_settings
from tautochrone.machine.tree import LocalFiles, Tree
from tautochrone.measure.document.deployed import deployment_of, meaning_of
from where import ROOT

EXAMPLES = ROOT / "examples" / "deployments"


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_a_file_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'title = "quiet"\nmeasure = 1\nload = "all but 1"\n'
        '[settings]\nisolated = 1\nwatchdog = false\nc-states = "10us"\n',
    )
    deployment = read_deployment(path)
    assert (deployment.name, deployment.title, deployment.origin) == ("mine", "quiet", str(path))
    assert (deployment.measure, deployment.load) == ("1", "all but 1")
    assert deployment.settings == {"isolated": "1", "watchdog": "off", "c-states": "10us"}


@pytest.mark.parametrize(
    ("text", "line", "said", "advice"),
    [
        ('titel = "x"\n', 1, "no 'titel'", "Did you mean 'title'?"),
        (
            'title = "x"\n\n[settings]\nc-state = "0us"\n',
            4,
            "no setting 'c-state'",
            "Did you mean 'c-states'?",
        ),
        ('[settings]\n# why\nsmt = "of"\n', 3, "smt: 'of' is none of", "Did you mean 'off'?"),
        ('[settings]\nc-states = "10"\n', 2, "c-states: '10' is not a duration", "with its unit"),
        ('[settings]\nisolated = "1-"\n', 2, "isolated: '1-' is not a list", "none"),
        ('[settings]\nlatency-limit = "1h"\n', 2, "latency-limit: '1h' limits nothing", "Write none"),
        ('[settings]\nonline = "none"\n', 2, "online: 'none' is not a list", "all but 0"),
        ('[settings]\nrt-throttling = "950ms"\n', 2, "not a share of time", "950ms/1s"),
        ("[settings]\ngovernor = 1.5\n", 2, "governor: 1.5 is not a text", 'governor = "'),
        ('measure = "one"\n', 1, "measure: 'one' is not a list", "0-3,6"),
        ('settings = "x"\n', 1, "must be a table", "[settings]"),
        ("title = [1]\n", 1, "'title' must be a text", "title ="),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_fix(
    tmp_path: Path, text: str, line: int, said: str, advice: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_deployment(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert said in str(caught.value)
    assert advice in caught.value.advice


def test_what_is_no_toml_and_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mine\.toml:1: this is no valid TOML"):
        read_deployment(written(tmp_path, "title =\n"))
    with pytest.raises(UsageError, match="Can't read"):
        read_deployment(tmp_path / "gone.toml")


def test_a_value_that_this_machine_cannot_have_is_told_with_its_line(tmp_path: Path) -> None:
    tree = Tree(LocalFiles(plant_machine(tmp_path / "machine", [[0], [1]])))
    for setting, said in (
        ('isolated = "7"', "there is no CPU 7"),
        ('isolated = "all"', "leaves none for everything else"),
        ('online = "1"', "CPU 0 of this machine can't go offline"),
    ):
        path = written(tmp_path, f'title = "x"\n[settings]\n{setting}\n')
        with pytest.raises(UsageError, match=rf"mine\.toml:3: .*{said}"):
            canonical_settings(read_deployment(path), tree)


@pytest.mark.parametrize(
    ("text", "said", "advice"),
    [
        ('[[experiment]]\nname = "cyclic"\n', "is a plan, not a deployment", "tauto run"),
        ('[[task]]\nname = "a"\n', "is a task set, not a deployment", "tauto analyse"),
    ],
)
def test_a_file_of_another_kind_is_told_as_such(tmp_path: Path, text: str, said: str, advice: str) -> None:
    folder = tmp_path / "my plans"
    folder.mkdir()
    path = written(folder, text)
    with pytest.raises(UsageError, match=said) as caught:
        read_deployment(path)
    assert f"{advice} '{path}'." in caught.value.advice


def test_names_are_found_built_in_by_path_and_in_the_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = LocalFiles(plant_machine(tmp_path / "machine", [[0], [1]]))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own = tmp_path / "config" / "tautochrone" / "deployments"
    own.mkdir(parents=True)
    (own / "bench.toml").write_text('title = "mine"\n')
    assert choose("mi", files).name == "MI"
    assert choose("bench", files).title == "mine"
    (own / "mi.toml").write_text('title = "another"\n')
    (own / "MI.toml").write_text('title = "hidden"\n')
    for name, origin in (("mi", str(own / "mi.toml")), ("MI", ORIGIN), ("Mi", ORIGIN)):
        assert choose(name, files).origin == origin
        in_plan = deployment_of(meaning_of(name, tmp_path).name, tmp_path, files)
        assert in_plan is not None
        assert in_plan.origin == origin
    assert choose(str(own / "bench.toml"), files).name == "bench"
    with pytest.raises(UsageError) as caught:
        choose("bensh", files)
    assert "Did you mean 'bench'?" in caught.value.advice
    one_cpu = LocalFiles(plant_machine(tmp_path / "small", [[0]]))
    with pytest.raises(UsageError, match="can't have the deployment MI: it has one CPU"):
        choose("MI", one_cpu)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_are_right(tmp_path: Path, path: Path) -> None:
    tree = Tree(LocalFiles(plant_machine(tmp_path, [[0], [1], [2], [3]])))
    assert canonical_settings(read_deployment(path), tree)


def test_there_are_two_examples() -> None:
    assert len(list(EXAMPLES.glob("*.toml"))) == 2
