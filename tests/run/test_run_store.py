"""Finding runs: by id, by its beginning, by age, by path; the list; the export."""

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import streams
from real import tauto
from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.base.installation import own_version
from tautochrone.run.catalogue import catalogue
from tautochrone.run.export import export
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.run.store import ANSWER, Store, default_store


def add(store: Store, stream: bytes, title: str = "a run", experiment: str = "cyclic") -> StoredRun:
    with store.create(experiment, title, conditions={"load": "idle"}) as writer:
        writer.append(stream)
        return writer.seal()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "deep" / "runs")


def test_the_store_can_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TAUTO_STORE", str(tmp_path))
    assert default_store() == tmp_path
    monkeypatch.delenv("TAUTO_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_store() == tmp_path / "data" / "tautochrone" / "runs"


def test_ids_say_when_and_what_and_sort_by_age(store: Store) -> None:
    runs = [
        add(store, streams.make_stream([[1]]), experiment=name) for name in ("cyclic", "clock", "zeta", "a")
    ]
    assert all(re.fullmatch(r"\d{8}T\d{6}Z-[a-z]+-[0-9a-f]{4}", run.id) for run in runs)
    assert [run.id for run in store.runs()] == [run.id for run in runs]


def test_a_run_knows_which_version_of_the_lab_measured_it(store: Store) -> None:
    run = add(store, streams.make_stream([[1]]))
    assert run.manifest.lab == own_version()
    older = json.loads((run.path / "run.json").read_text())
    del older["lab"]
    assert Manifest.from_json(json.dumps(older)) == replace(run.manifest, lab=None)


def test_a_run_is_found_by_id_beginning_age_and_path(store: Store) -> None:
    runs = [add(store, streams.make_stream([[k]])) for k in range(3)]
    for run in runs:
        assert store.open(run.id).path == run.path
        assert store.open(str(run.path)).id == run.id
    assert store.open("latest").id == runs[2].id
    assert store.open("latest~2").id == runs[0].id
    shorter = runs[1].path.rename(store.path / "mine")
    assert store.open("mi").path == shorter


@pytest.mark.parametrize("damage", ["", "[", "\xff", '{"schema": 999999}'])
def test_a_run_that_latest_passes_over_is_named(store: Store, damage: str) -> None:
    told: list[str] = []
    older, newer = (add(store, streams.make_stream([[k]])) for k in range(2))
    telling = Store(store.path, told.append)
    assert telling.open("latest").id == newer.id
    assert told == []
    (newer.path / "run.json").write_bytes(damage.encode("latin-1"))
    assert telling.open("latest").id == older.id
    assert told == [f"latest passes over 1 newer run that can't be read: {newer.id}"]
    (older.path / "run.json").write_bytes(damage.encode("latin-1"))
    with pytest.raises(StoreError):
        telling.open("latest~1")
    assert told[1:] == [f"latest~1 passes over 2 runs that can't be read: {older.id}, {newer.id}"]


def test_a_run_that_is_not_there_is_answered_with_near_ones(store: Store) -> None:
    with pytest.raises(StoreError, match="There are no runs") as empty:
        store.open("latest")
    assert "tauto" in empty.value.advice
    run = add(store, streams.make_stream([[1]]))
    other = add(store, streams.make_stream([[1]]))
    with pytest.raises(StoreError, match="There is no run") as missing:
        store.open(run.id[:-4] + "zzzz")
    assert run.id in missing.value.advice
    with pytest.raises(StoreError, match="There is no run"):
        store.open("")
    with pytest.raises(StoreError, match="2 runs begin with '20'") as several:
        store.open("20")
    assert other.id in str(several.value)
    with pytest.raises(StoreError, match="only 2 runs") as too_far:
        store.open("latest~2")
    assert "latest~1" in too_far.value.advice
    with pytest.raises(StoreError, match="There is no run in"):
        store.open("./nothing")


def test_latest_passes_over_runs_that_can_not_be_read(store: Store) -> None:
    run = add(store, streams.make_stream([[1]]))
    damaged = add(store, streams.make_stream([[1]]))
    (damaged.path / "run.json").write_text("{")
    with store.create("cyclic", "live"):
        assert store.open("latest").id == run.id
    with pytest.raises(StoreError, match="was cut off") as cut:
        store.open(store.folders()[-1].name)
    assert "tauto recover" in cut.value.advice
    with pytest.raises(DamagedError, match="is damaged"):
        store.open(damaged.id)


@pytest.mark.parametrize("name", ["", "../up", "Cyclic", "-a", "a b"])
def test_an_experiment_name_that_can_not_name_a_folder_is_refused(store: Store, name: str) -> None:
    with pytest.raises(UsageError):
        store.create(name, "bad name")


def test_the_list_shows_every_run_in_whatever_state(store: Store) -> None:
    sealed = add(store, streams.make_stream([[100, 3_200_000, 100], [50]]), title="two sources")
    damaged = add(store, streams.make_stream([[1]]))
    (damaged.path / "run.json").write_bytes(b"\xff\xfe")
    cut = store.create("cyclic", "cut")
    cut.append(b"x")
    cut.close()
    (store.path / "not a run").mkdir()
    (store.path / "a file").write_text("")
    with store.create("cyclic", "live") as live:
        entries = catalogue(store)
    assert [(entry.id, entry.state) for entry in entries] == [
        (sealed.id, "sealed"),
        (damaged.id, "damaged"),
        (cut.path.name, "cut off"),
        (live.path.name, "measuring"),
    ]
    first = entries[0]
    assert (first.title, first.experiment, first.conditions.stored) == (
        "two sources",
        "cyclic",
        {"load": "idle"},
    )
    assert (first.sources, first.samples, first.missed, first.worst_ns) == (2, 4, 3, 3_200_000)
    assert (first.warnings, first.ended, first.created) == (0, "complete", sealed.manifest.created)
    assert (entries[2].samples, entries[2].missed, entries[2].worst_ns) == (None, None, None)


def test_the_list_of_an_empty_or_missing_store_is_empty(store: Store) -> None:
    assert catalogue(store) == []
    store.path.mkdir(parents=True)
    assert catalogue(store) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "7",
        "[]",
        '{"schema": "x"}',
        '{"schema": 1, "state": "odd"}',
        "[" * 100_000,
    ],
)
def test_a_damaged_manifest_does_not_spoil_the_list(store: Store, text: str) -> None:
    good = add(store, streams.make_stream([[2**62]], overrun="replay"))
    bad = add(store, streams.make_stream([[1]]))
    (bad.path / "run.json").write_text(text)
    assert [(entry.id, entry.state, entry.worst_ns) for entry in catalogue(store)] == [
        (good.id, "sealed", 2**62),
        (bad.id, "damaged", None),
    ]


def test_a_manifest_of_another_schema_is_listed_as_what_it_is(store: Store) -> None:
    run = add(store, streams.make_stream([[1]]))
    (run.path / "run.json").write_text('{"schema": 3, "state": "sealed"}')
    (entry,) = catalogue(store)
    assert entry.state in ("newer", "damaged")
    with pytest.raises(DamagedError, match="has schema 3") as refused:
        store.open(run.id)
    assert "version of tauto" in refused.value.advice


@pytest.mark.parametrize("extra", ['"books": 7', '"books": [3]', '"extremes": [{}]', '"conditions": []'])
def test_a_manifest_with_odd_parts_is_listed_as_far_as_it_goes(store: Store, extra: str) -> None:
    run = add(store, streams.make_stream([[1]]))
    (run.path / "run.json").write_text(f'{{"schema": 1, "state": "sealed", "title": "odd", {extra}}}')
    (entry,) = catalogue(store)
    assert entry.title == "odd"
    assert entry.state == "sealed"


def test_names_of_folders_are_not_patterns(store: Store) -> None:
    run = add(store, streams.make_stream([[1]]))
    odd = {"r[1]*", "it's", "r1x", "sp ace", "back\\slash", "{a,b}", "quest?on", "ä"}
    for name in odd:
        shutil.copytree(run.path, store.path / name)
    assert {entry.id for entry in catalogue(store)} == {run.id, *odd}
    assert all(entry.state == "sealed" for entry in catalogue(store))


@pytest.mark.slow
def test_a_thousand_runs_are_listed_oldest_first(store: Store) -> None:
    run = add(store, streams.make_stream([[1_000] * 3] * 2))
    text = (run.path / "run.json").read_text()
    for number in range(1_000):
        folder = store.path / f"20250101T{number:06d}Z-cyclic-0000"
        folder.mkdir()
        (folder / "run.json").write_text(text)
    entries = catalogue(store)
    assert len(entries) == 1_001
    assert [entry.id for entry in entries] == sorted(entry.id for entry in entries)
    assert {(entry.state, entry.samples, entry.worst_ns) for entry in entries} == {("sealed", 6, 1_000)}


def test_samples_are_exported_as_csv(store: Store, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    run = add(store, streams.make_stream([[5, 6], [2**62]], overrun="replay"))
    export(run, "csv")
    lines = list(csv.reader(io.StringIO(capfdbinary.readouterr().out.decode())))
    assert lines == [
        ["source", "scheduled_ns", "latency_ns"],
        ["0", "1000000000", "5"],
        ["0", "1001000000", "6"],
        ["1", "1000000000", str(2**62)],
    ]


@pytest.mark.slow
def test_samples_are_exported_as_json_with_the_manifest(store: Store, tmp_path: Path) -> None:
    run = add(store, streams.make_stream([[7] * 25_000, [2**62]], overrun="replay"))
    export(run, "json", tmp_path / "out.json")
    exported = json.loads((tmp_path / "out.json").read_text())
    assert exported["run"] == json.loads(run.manifest.to_json())
    assert len(exported["samples"]) == 25_001
    row = {"source": 1, "scheduled_ns": 1_000_000_000, "latency_ns": 2**62}
    assert row in exported["samples"]


def test_samples_are_exported_as_parquet(store: Store, tmp_path: Path) -> None:
    run = add(store, streams.make_stream([[5, 6]]))
    export(run, "parquet", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").column("latency_ns").to_pylist() == [5, 6]


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_run_without_samples_is_exported_without_rows(store: Store, kind: str) -> None:
    out = io.BytesIO()
    export(add(store, streams.make_stream([[]])), kind, out)
    if kind == "csv":
        assert out.getvalue() == b"source,scheduled_ns,latency_ns\n"
    else:
        assert json.loads(out.getvalue())["samples"] == []


def test_a_histogram_is_exported_as_its_bins(store: Store) -> None:
    out = io.BytesIO()
    export(add(store, streams.make_stream([[5, 5, 7]], histogram=True)), "csv", out)
    assert out.getvalue() == b"source,low_ns,high_ns,count\n0,5,5,2\n0,7,7,1\n"


def test_an_export_that_can_not_be_made_says_why(store: Store, tmp_path: Path) -> None:
    run = add(store, streams.make_stream([[5, 6]]))
    with pytest.raises(UsageError, match="'xls' is not a format"):
        export(run, "xls")
    with pytest.raises(StoreError, match="Can't write"):
        export(run, "csv", tmp_path / "no folder" / "out.csv")
    (run.path / "samples.parquet").unlink()
    for kind in ("csv", "parquet", "json"):
        with pytest.raises(DamagedError, match="is missing"):
            export(run, kind, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_latest_after_a_first_answer_is_its_loop_and_show_shows_the_verdict(tmp_path: Path) -> None:
    place = Store(tmp_path)
    for experiment, verdict in (("clock", False), ("cyclic", True), ("switch", False)):
        told = {ANSWER: {"id": "one", "verdict": verdict}}
        with place.create(experiment, f"of {experiment}", told) as writer:
            writer.append(streams.make_stream([[5_000] * 100]))
            writer.seal()
    assert place.open("latest").manifest.experiment == "cyclic"
    runs = place.runs()
    shown = tauto("show", store=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert all(f"{run.id}  of {run.manifest.experiment}" in shown.stdout for run in runs)
    assert "1 kHz was not shown on CPU 0." in shown.stdout
    assert runs[1].id in tauto("tail", "--json", store=tmp_path).stdout
    assert "Its runs" not in tauto("show", runs[1].id, store=tmp_path).stdout
    add(place, streams.make_stream([[5, 6]]))
    assert "Its runs" not in tauto("show", store=tmp_path).stdout


def test_the_lock_of_a_killed_process_goes_with_the_next_one_and_a_held_one_stays(store: Store) -> None:
    killed = store.path / ".alone-killed"
    with store.alone("held", "One plan"):
        killed.touch()
        with store.alone("other", "Another plan"):
            assert not killed.exists()
            with pytest.raises(StoreError, match="by another tauto"), store.alone("held", "One plan"):
                pass
        assert [one.name for one in store.path.iterdir()] == [".alone-held"]
    assert not store.path.exists()
