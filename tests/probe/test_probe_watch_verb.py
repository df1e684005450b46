"""`tauto watch`: the answer about the user's own program, from the real probe; and the examples."""

import json
from errno import EACCES
from hashlib import sha256
from pathlib import Path

import pytest

from real import only_run, tauto
from tautochrone.base.errors import UsageError
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.step_code import CodeFile, read_program
from tautochrone.judge.verdict import judge_runs
from tautochrone.run.store import Store
from watch_programs import EXAMPLES, HEADERS, PROGRAM, program_of

OF_CODE, USAGE = 8, 2


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program of known behaviour."""
    (path,) = program_of(PROGRAM, tmp_path_factory.mktemp("program"))
    return path


@pytest.fixture(scope="module")
def measured(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run of two loops, 500 times a second."""
    store = tmp_path_factory.mktemp("measured") / "store"
    done = tauto("watch", "--rate", "500", "--loops", "2", "--", program, "two", "600", "2000", store=store)
    assert done.returncode == 0, done.stderr
    return store


@pytest.mark.slow
def test_the_answer_says_of_each_loop_whether_it_holds_its_rate(measured: Path) -> None:
    run = only_run(measured)
    verdict = judge_runs([run])
    assert verdict is not None
    assert {loop.source for loop in verdict.loops} == {"fast", "slow"}
    held = {
        "holds": "holds 500 Hz",
        "tight": "holds 500 Hz with little room",
        "missed": "does not hold 500 Hz",
    }
    said = tauto("show", run.id, store=measured).stdout
    for loop in verdict.loops:
        assert f"\n{loop.source} {held[loop.standing]} without a load: a step takes " in said
    for row in ("start latency", "execution", "response", "interval"):
        assert f"\nfast  {row} " in said
        assert f"\nslow  {row} " in said


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb",
    [
        ("check", "--rate", "500Hz", "--runs", "latest"),
        ("tail", "latest", "--measure", "execution_ns"),
        ("export", "latest", "--csv", "--out", "{}/rows.csv"),
        ("report", "latest", "--out", "{}/page.html"),
        ("show", "latest", "--json"),
    ],
)
def test_other_verbs_take_its_runs(measured: Path, tmp_path: Path, verb: tuple[str, ...]) -> None:
    done = tauto(*(word.format(tmp_path) for word in verb), store=measured)
    assert done.returncode in ((0, 6, 7) if verb[0] == "check" else (0,)), done.stderr
    assert "Traceback" not in done.stderr
    if verb[0] == "export":
        assert (tmp_path / "rows.csv").read_text().count("\n") > 2 * 300


@pytest.mark.slow
def test_the_run_keeps_which_version_of_the_program_it_was(measured: Path, program: str) -> None:
    kept = only_run(measured).manifest.conditions.stored[CodeFile.CONDITION]
    content = Path(program).read_bytes()
    assert kept == {
        "name": "watch_program",
        "path": program,
        "sha256": sha256(content).hexdigest(),
        "bytes": len(content),
    }


@pytest.mark.slow
def test_a_program_without_a_rate_is_told_by_its_intervals(program: str, tmp_path: Path) -> None:
    done = tauto("watch", "--", program, "plain", "400", "2000", store=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\ncontrol: a step takes " in done.stdout
    assert "; one begins every " in done.stdout
    assert judge_runs([only_run(tmp_path)]) is None


@pytest.mark.slow
def test_a_crash_has_an_exit_code_of_its_own_and_the_run_is_kept(program: str, tmp_path: Path) -> None:
    done = tauto("watch", "--warmup", "0", "--", program, "crashes", "400", "2000", store=tmp_path)
    run = only_run(tmp_path)
    assert (done.returncode, run.manifest.ended, run.count()) == (OF_CODE, "failed", 50)
    assert "watch_program was ended by signal 11 (Segmentation fault) in step 50" in done.stderr
    assert "in step 50 of the loop control" in tauto("show", run.id, store=tmp_path).stdout
    listed = json.loads(tauto("show", run.id, "--json", store=tmp_path).stdout)
    assert any(one["event"] == "watch" and one["signal"] == 11 for one in listed["events"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["controller.c", "controller_manager.cpp", "controller.rs", "controller.py"])
def test_the_examples_are_built_and_run(name: str, tmp_path: Path) -> None:
    command = program_of(EXAMPLES / name, tmp_path)
    done = tauto("watch", "--period", "1ms", "--", *command, "400", store=tmp_path / "store")
    assert done.returncode == 0, done.stderr
    (books,) = only_run(tmp_path / "store").manifest.books
    loop = "controller_manager" if name.endswith("cpp") else "control"
    assert (books.name, books.released, books.missed, books.warmup) == (loop, 300, 0, 100)


@pytest.mark.slow
def test_a_plan_names_a_program_beside_it(program: str, tmp_path: Path) -> None:
    (tmp_path / "own").write_bytes(Path(program).read_bytes())
    (tmp_path / "own").chmod(0o755)
    plan = tmp_path / "own.toml"
    plan.write_text(
        'title = "Own program"\nrepetitions = 1\n[[experiment]]\n'
        'name = "watch"\nprogram = "./own plain 400 2000"\nperiod = "2ms"\n'
    )
    done = tauto("run", str(plan), store=tmp_path / "store")
    assert done.returncode == 0, done.stderr
    command = f"{tmp_path}/own plain 400 2000"
    assert only_run(tmp_path / "store").manifest.header.parameters["program"] == command


@pytest.mark.slow
def test_what_can_not_begin_leaves_nothing_in_the_store(program: str, tmp_path: Path) -> None:
    done = tauto("watch", "--", program, "silent", "1", "1", store=tmp_path)
    assert done.returncode == OF_CODE
    assert "ended before a loop of it began" in done.stderr
    assert "tauto watch --header c" in done.stderr
    assert Store(tmp_path).runs() == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--", "./no-such-program"), "there is no program ./no-such-program"),
        (("--header", "pyton"), "Did you mean 'python'?"),
        ((), "PROGRAM"),
        (("--rate", "1kHz", "--period", "2ms", "--", "true"), "--period"),
    ],
)
def test_a_word_that_is_wrong_is_told(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = tauto("watch", *words, store=tmp_path)
    assert done.returncode == USAGE
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("language", "ending"), [("c", "h"), ("rust", "rs"), ("python", "py")])
def test_the_headers_are_shown_as_they_are_installed(language: str, ending: str, tmp_path: Path) -> None:
    done = tauto("watch", "--header", language, store=tmp_path)
    assert (done.returncode, done.stdout) == (0, (HEADERS / f"tautochrone_loop.{ending}").read_text())


def test_a_program_is_found_from_the_folder_of_the_plan_and_its_arguments_stay(tmp_path: Path) -> None:
    own = tmp_path / "own program"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    found, command = read_program("'./own program' --gain '3 4'", tmp_path)
    assert (found.name, found.path) == ("own program", str(own))
    assert command == f"'{own}' --gain '3 4'"
    with pytest.raises(UsageError, match="no program"):
        EXPERIMENTS["watch"].prepare({}, tmp_path)
    with pytest.raises(UsageError, match="names no program"):
        read_program("'unclosed", tmp_path)


def test_a_program_that_can_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own := tmp_path / "own").write_text("#!/bin/sh\n")
    own.chmod(0o711)

    def refused(*_: object) -> None:
        raise PermissionError(EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)  # root reads everything
    with pytest.raises(UsageError, match="can't be read: Permission denied"):
        read_program("./own", tmp_path)
