"""`tauto runs`, and the filters of `tauto list`."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from in_process import Ended, tauto
from report_runs import idle_and_loaded
from streams import make_stream
from tautochrone.run import files, pieces, removal
from tautochrone.run.remarks import change_remarks, read_remarks, with_tags
from tautochrone.run.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    place = tmp_path / "store"
    place.mkdir()
    idle_and_loaded(place)
    return place


def _ids(store: Path, *filters: str) -> list[str]:
    ended = tauto("list", *filters, "--json", store=store)
    assert ended.code == 0, ended.err
    return [one["id"] for one in json.loads(ended.out)["runs"]]


def _sealed(store: Path) -> dict[str, bytes]:
    names = [path for path in store.rglob("*") if path.is_file() and path.name != "remarks.json"]
    return {str(path): path.read_bytes() for path in names}


@pytest.mark.slow
def test_a_tag_is_a_name_of_its_run_until_another_has_it(store: Path) -> None:
    before, (newest, oldest, *_) = _sealed(store), _ids(store)
    assert tauto("runs", "tag", newest, "mine", store=store).code == 0
    assert json.loads(tauto("show", "mine", "--json", store=store).out)["id"] == newest
    assert _ids(store, "--tag", "mine") == [newest]
    assert tauto("runs", "tag", oldest, "mine", store=store).code == 0
    refused = tauto("show", "mine", store=store)
    assert (refused.code, newest in refused.err, oldest in refused.err) == (4, True, True)
    assert tauto("runs", "untag", oldest, "mine", store=store).code == 0
    assert json.loads(tauto("show", "mine", "--json", store=store).out)["id"] == newest
    assert tauto("runs", "untag", oldest, "mine", store=store).code == 2
    assert _sealed(store) == before


@pytest.mark.parametrize(
    "tag", ["", "latest", "latest~1", "plan-x", "../x", "1a", "a b", "a\n", "a" * 65, "\ud800", "all", "ä"]
)
def test_a_tag_that_could_mean_something_else_is_refused(tag: str, store: Path) -> None:
    assert tauto("runs", "tag", "latest", "--", tag, store=store).code == 2
    assert not list(store.glob("*/remarks.json"))


def test_a_note_is_shown_and_can_be_removed(store: Path, tmp_path: Path) -> None:
    before = _sealed(store)
    assert tauto("runs", "note", "latest", "BIOS <b>1.14</b>", store=store).code == 0
    page = tmp_path / "page.html"
    assert "BIOS <b>1.14</b>" in tauto("show", "latest", store=store).out
    assert "BIOS <b>1.14</b>" in tauto("list", store=store).out
    assert tauto("report", "latest", "-o", str(page), store=store).code == 0
    assert "BIOS &lt;b&gt;1.14&lt;/b&gt;" in page.read_text()
    assert tauto("runs", "note", "latest", "\x1b[31m", store=store).code == 2
    assert tauto("runs", "note", "latest", "", store=store).code == 0
    assert _sealed(store) == before
    assert not list(store.glob("*/remarks.json"))


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "[]", '{"tags": "x"}', '{"tags": ["a b"]}', '{"note": 5}', "\x00"])
def test_a_damaged_file_of_remarks_hides_no_run(content: str, store: Path) -> None:
    run = store / _ids(store)[0]
    (run / "remarks.json").write_text(content)
    assert run.name in _ids(store)
    assert tauto("show", run.name, store=store).code == 0
    refused = tauto("runs", "note", run.name, "x", store=store)
    assert (refused.code, "remarks.json" in refused.err) == (5, True)
    assert (run / "remarks.json").read_text() == content


def test_a_full_disk_is_told_and_loses_no_remark(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tauto("runs", "tag", "latest", "kept", store=store).code == 0
    full = OSError(28, "No space left on device")

    def no_space(descriptor: int) -> None:
        raise full

    monkeypatch.setattr(os, "fsync", no_space)
    refused = tauto("runs", "tag", "latest", "more", store=store)
    assert (refused.code, "full" in refused.err) == (4, True)
    monkeypatch.undo()
    assert _ids(store, "--tag", "kept")
    assert not list(store.glob("*/*.part"))


@pytest.mark.slow
def test_of_several_who_tag_a_run_at_once_none_loses_its_tag(store: Path) -> None:
    run = store / _ids(store)[0]
    names = [f"tag{number}" for number in range(32)]

    def tag(name: str) -> None:
        change_remarks(run, lambda before: with_tags(before, [name]))

    with ThreadPoolExecutor(4) as several:
        list(several.map(tag, names))
    assert read_remarks(run).tags == tuple(sorted(names))


def _remove(store: Path, *words: str) -> Ended:
    return tauto("runs", "rm", *words, store=store)


@pytest.mark.slow
def test_of_two_who_remove_what_a_kill_left_both_go_on(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (store / _ids(store)[0]).rename(rest := store / ".removed-by-a-killed-one")
    unlink = os.unlink

    def late(name: str, **within: int) -> None:
        for one in rest.glob("*"):
            os.remove(one)  # noqa: PTH107 - as the other one does
        unlink(name, **within)

    monkeypatch.setattr(os, "unlink", late)
    removal.remove_rests(store)
    assert not rest.exists()


@pytest.mark.slow
def test_removing_asks_or_needs_yes(store: Path) -> None:
    (newest, *others) = _ids(store)
    assert _remove(store, newest).code == 2
    assert newest in _ids(store)
    assert _remove(store, newest, "--yes").code == 0
    assert _ids(store) == others
    assert not list(store.glob(".removed-*"))


@pytest.mark.slow
def test_only_runs_are_removed(store: Path, tmp_path: Path) -> None:
    (newest, second, *_) = before = _ids(store)
    (store / newest / "thesis.txt").write_text("mine")
    (store / "folder").mkdir()
    (store / "20990101T000000Z-cyclic-0000").symlink_to(tmp_path)
    for words in (
        [newest], [second, newest], ["folder"], ["20990101T000000Z-cyclic-0000"], ["none"],
        [str(store / second)], ["."], [".."], [""],
    ):  # fmt: skip
        assert _remove(store, *words, "--yes").code in (2, 4), words
    assert [one for one in _ids(store) if one in before] == before


def test_a_run_that_is_being_written_is_refused(store: Path) -> None:
    run = store / _ids(store)[0]
    descriptor = files.create_locked(run / files.RAW_STREAM)
    try:
        refused = _remove(store, run.name, "--yes")
    finally:
        os.close(descriptor)
    assert (refused.code, "being written" in refused.err) == (4, True)
    assert (run / "run.json").is_file()


def test_a_soak_that_was_cut_off_is_removed_with_its_pieces(tmp_path: Path) -> None:
    with Store(tmp_path).create("cyclic", "a soak") as writer:
        writer.append(make_stream([[1_000] * 100], footer=False))
        writer.end_piece()
    assert (writer.path / pieces.FOLDER).is_dir()
    assert _remove(tmp_path, writer.path.name, "--yes").code == 0
    assert not writer.path.exists()


@pytest.mark.slow
def test_what_a_killed_removal_left_is_no_run_and_goes_with_the_next(store: Path) -> None:
    (newest, second, *_) = _ids(store)
    (store / newest).rename(store / f".removed-{newest}")
    assert newest not in _ids(store)
    assert _remove(store, second, "--yes").code == 0
    assert not list(store.glob(".removed-*"))


@pytest.mark.slow
def test_filters_of_the_list(store: Path) -> None:
    every = _ids(store)
    entries = json.loads(tauto("list", "--json", store=store).out)["runs"]
    assert _ids(store, "--experiment", "cyclic", "--since", "2000-01-01") == [
        one["id"] for one in entries if one["experiment"] == "cyclic"
    ]
    assert _ids(store, "--load", "idle") == [
        one["id"] for one in entries if one["conditions"].get("load") == "idle"
    ]
    assert _ids(store, "--limit", "1") == every[:1]
    assert _ids(store, "--until", "2000-01-01") == []
    last = max(one["created"] for one in entries)[:10]
    assert _ids(store, "--until", last) == _ids(store, "--until", last.replace("-", "")) == every
    assert _ids(store, "--machine", "nowhere") == []
    assert "None of" in tauto("list", "--tag", "nothing", store=store).out
    assert "experiments: cyclic" in tauto("list", "--experiment", "cyclc", store=store).out
    for words in (["--since", "soon"], ["--limit", "0"], ["--until", "9999999d"]):
        assert tauto("list", *words, store=store).code == 2
    assert tauto("list", "--plan", "plan-2000", store=store).code == 4
