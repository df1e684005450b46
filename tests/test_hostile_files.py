"""Whatever stands where a file is expected, each verb ends as designed, and other runs stay readable."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser

import streams
from browsers import look
from golden.asked import Desk
from golden.record import RUNS
from hostile import NO_FILES, damaged, ends_as_designed, mutated, run
from machine_trees import REALTIME_PC, plant, with_cpus
from report_runs import latencies, store_run
from tautochrone.answer.html import title as title_of_page
from tautochrone.base import faults
from tautochrone.run import store as stores
from tautochrone.run.catalogue import catalogue
from tautochrone.run.folder import StoredRun
from tautochrone.run.held import HELD, goes_on
from tautochrone.run.recover import recover
from tautochrone.run.store import Store

FEW = settings(max_examples=4)
MANY = settings.get_profile("long")
VALUES = latencies(1, 8_000, 90_000)[:300]
PLAN = {
    "title": "Repetitions", "campaign": "plan-20260101T000000Z-0000", "key": "k", "cell": "aaaa",
    "repetition": 1, "block": 1, "position": 1, "repetitions": 1, "seed": 9, "order": "random",
    "heading": "latency", "varied": ["period"], "options": {"period": "1ms"}, "system": "local",
    "deployment": "as-is", "cells": {"aaaa": "latency, 1ms, idle"},
}  # fmt: skip
AROUND = {"plan": PLAN, "deployment": {"name": "d", "settings": []}, "load_reports": []}


@pytest.fixture(scope="module")
def good() -> Iterator[Store]:
    """Runs that nobody touches: samples of two sources, and a histogram, each measured by a plan."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store_run(store, [VALUES, VALUES + 5], around=AROUND, warning=("code", "text", "advice"))
        store_run(store, [VALUES], histogram=True, around=AROUND)
        for more in (1, 2):
            store_run(store, [VALUES + more])
        yield store


@pytest.fixture(params=[FEW, pytest.param(MANY, marks=pytest.mark.long)], ids=["few", "many"])
def tried(request: pytest.FixtureRequest) -> settings:
    """How much a property is tried."""
    found: settings = request.param
    return found


@pytest.fixture
def store(good: Store, tmp_path: Path) -> Store:
    return Store(Path(shutil.copytree(good.path, tmp_path / "store")))


def see(store: Path, victim: str, other: str, *, deeply: bool = False) -> list[int]:
    """What each reader makes of a run, and that those of all runs go on without it."""
    with tempfile.TemporaryDirectory() as out:
        named = [
            ends_as_designed(*words, store=store)[0]
            for words in (
                ("show", victim),
                ("tail", victim),
                ("compare", other, victim),
                ("export", victim, "--csv", "--out", f"{out}/x.csv"),
                *((("report", victim, "--out", f"{out}/r.html"), ("trend", "max")) if deeply else ()),
                *((("report", "plan-latest", "--out", f"{out}/p.html"),) if deeply else ()),
            )
        ]
    of_all = [run(*words, store=store) for words in (("list",), ("list", "--json"), ("trend", "max"))]
    assert [code for code, _ in of_all] == [0, 0, 0], of_all
    return named


@pytest.mark.slow
@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("name", ["run.json", "samples.parquet"])
def test_what_is_no_file_of_a_run_is_told_and_spoils_no_other(store: Store, name: str, kind: str) -> None:
    victim, other, *_ = store.folders()
    (victim / name).unlink()
    NO_FILES[kind](victim / name)
    for words in (("show", victim.name), ("tail", victim.name), ("export", victim.name, "--csv")):
        code, said = ends_as_designed(*words, store=store.path)
        assert code in (4, 5), (words, said)
        assert str(victim) in said
    assert ends_as_designed("show", other.name, store=store.path)[0] == 0
    assert ends_as_designed("trend", "max", store=store.path)[0] == 0
    assert ends_as_designed("list", store=store.path)[0] == 0
    states = {entry.id: entry.state for entry in catalogue(store)}
    assert states[other.name] == "sealed"
    assert states.get(victim.name, "damaged") == ("damaged" if name == "run.json" else "sealed")


@pytest.mark.slow
@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_stream_is_recovered_never_and_waited_for_never(store: Store, kind: str) -> None:
    before = store.runs()
    raw = store.create("cyclic", "to be cut off").path / "stream.tauto"
    raw.unlink()
    NO_FILES[kind](raw)
    assert all(outcome.state in ("refused", "removed") for outcome in recover(store))
    assert ends_as_designed("list", store=store.path)[0] == 0
    assert len(store.runs()) == len(before)


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_stands_for_the_programs_that_go_on_is_never_waited_for(store: Store, kind: str) -> None:
    writer = store.create("cyclic", "to be cut off")
    writer.close()
    NO_FILES[kind](writer.path / HELD)
    assert not goes_on(writer.path)


def test_a_store_with_links_in_circles_and_pipes_is_read(store: Store) -> None:
    (store.path / "20260101T000000Z-circle-0000").symlink_to("20260101T000000Z-circle-0000")
    (store.path / "20260101T000000Z-nowhere-0000").symlink_to("nowhere")
    os.mkfifo(store.path / "20260101T000000Z-pipe-0000")
    assert {entry.state for entry in catalogue(store)} == {"sealed"}
    assert ends_as_designed("list", store=store.path)[0] == 0


def rewrite(store: Store, run_number: int, text: str) -> tuple[Path, Path]:
    victim, other = store.folders()[run_number], store.folders()[1 - run_number]
    (victim / "run.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    return victim, other


@pytest.mark.slow
def test_a_manifest_with_any_node_replaced_ends_as_designed(good: Store, tried: settings) -> None:
    @tried
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(shutil.copytree(good.path, Path(folder, "store"))))
            number = data.draw(st.integers(0, 1))
            text = (store.folders()[number] / "run.json").read_text()
            victim, other = rewrite(store, number, data.draw(mutated(text)))
            see(store.path, victim.name, other.name, deeply=tried is MANY)

    holds()


GRIDS = {
    "tire-grid": "plan-latest",
    "tire-model": "plan-latest",
    "tire-limit": "limit-latest",
    "middleware": "plan-latest",
    "lab": "matrix-latest",
    "plan": "plan-latest",
}
"""Stores of the golden corpus whose runs are cases of one plan, matrix or search, and what it is called."""


@pytest.mark.slow
@pytest.mark.parametrize("grid", GRIDS)
def test_a_grid_of_which_a_run_is_not_as_it_was_ends_as_designed(grid: str, tried: settings) -> None:
    runs = sorted(path.name for path in (RUNS / grid).iterdir() if path.is_dir())

    @settings(tried, max_examples=tried.max_examples if tried is MANY else 2)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(shutil.copytree(RUNS / grid, Path(folder, "store")))
            path = store / data.draw(st.sampled_from(runs))
            path /= data.draw(st.sampled_from(["run.json", "run.json", "samples.parquet"]))
            if path.suffix == ".json":
                text = data.draw(mutated(path.read_text()))
                path.write_bytes(text.encode("utf-8", "surrogatepass"))
            else:
                path.write_bytes(data.draw(damaged(path.read_bytes())))
            for words in (("report", GRIDS[grid], "--out", f"{folder}/r.html"), ("show", path.parent.name)):
                ends_as_designed(*words, store=store)

    holds()


SAID = (
    "", "\0\0", "-", "-1", "one two three", "\n\n[", "9" * 40, "0-8000000000", "1,0,1", "\ud800", "nan",
)  # fmt: skip


@pytest.mark.slow
def test_a_machine_whose_files_say_anything_can_be_looked_at(tmp_path: Path, tried: settings) -> None:
    """In the process of the verbs; files that are no text, too."""
    known = {**REALTIME_PC, **with_cpus(2)}
    paths = st.sampled_from(sorted(known))
    desk = Desk(tmp_path / "desk")

    @tried
    @example(dict.fromkeys(known, "9" * 40))
    @example(dict.fromkeys(known, "-1"))
    @given(st.dictionaries(paths, st.sampled_from(SAID), min_size=1, max_size=8))
    def holds(said: dict[str, str]) -> None:
        root = desk.folder / "odd"
        shutil.rmtree(root, ignore_errors=True)
        plant(root, with_cpus(2))
        for path, text in said.items():
            (root / path.lstrip("/")).write_bytes(text.encode("utf-8", "surrogatepass"))
        with desk.at("odd", "single"):
            for words in (("tune", "list"), ("tune", "show"), ("tune", "show", "MI"), ("doctor",)):
                ends_as_designed(*words, store=desk.folder / "runs" / "single")

    holds()


@pytest.mark.long
@pytest.mark.parametrize("store_name", ["experiments", "single"])
def test_long_a_page_of_a_hostile_run_is_drawn_by_a_browser(browser: Browser, store_name: str) -> None:
    """Of each run of the corpus, with any node of its manifest replaced: what is not refused is drawn."""
    names = sorted(path.name for path in (RUNS / store_name).iterdir() if path.is_dir())

    @MANY
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            name = data.draw(st.sampled_from(names))
            store = Path(folder, "store")
            shutil.copytree(RUNS / store_name / name, store / name)
            path, out = store / name / "run.json", Path(folder, "page.html")
            path.write_bytes(data.draw(mutated(path.read_text())).encode("utf-8", "surrogatepass"))
            code, _ = ends_as_designed("report", name, "--out", str(out), store=store)
            if code:
                return
            seen = look(browser, out)
            try:
                assert seen.errors == []
                assert seen.page.locator(".chart .undrawn").all_text_contents() == []
                assert seen.requests == [out.as_uri()]
            finally:
                seen.page.close()

    holds()


FOUND: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "an object for a scalar of a source": (("header", "sources", 0, "obtained", "timer_slack_ns"), {}),
    "a minimum above the maximum": (("extremes", 0, "maximum_ns"), 0),
    "billions of CPUs": (("facts", "cpu", "online"), "0-8000000000"),
    "billions of allowed CPUs": (("facts", "cpu", "allowed"), "0-8000000000"),
    "CPUs of work queues": (("facts", "isolation"), {"workqueue_cpus": "0-8000000000"}),
    "a control character in a name": (("title",), "a\x01b"),
    "a NUL for a policy": (("parameters", "policy"), "\0"),
    "an escape in a label": (("header", "sources", 0, "label"), "a\x1b[2J"),
}
"""What a random search or a person found, and what ended the process, took all memory or lost an answer."""


@pytest.mark.slow
@pytest.mark.parametrize("found", FOUND)
def test_what_was_found_once_ends_as_designed(store: Store, tmp_path: Path, found: str) -> None:
    *at, last = FOUND[found][0]
    for folder in store.folders()[:2]:
        content = json.loads((folder / "run.json").read_text())
        within = content
        for key in at:
            within = within.setdefault(key, {}) if isinstance(within, dict) else within[key]
        within[last] = FOUND[found][1]
        (folder / "run.json").write_text(json.dumps(content))
    first, second, *_ = [folder.name for folder in store.folders()]
    for words in (
        *(("trend", of) for of in ("max", "median")),
        ("show", first),
        ("report", first, "--out", str(tmp_path / "r.html")),
        ("compare", first, second),
        ("figure", first, second, "--kind", "cumulative", "--out", str(tmp_path / "f.svg")),
        ("figure", first, "--kind", "histogram", "--out", str(tmp_path / "f.png")),
    ):
        code, said = ends_as_designed(*words, store=store.path)
        assert (code == 5) == (found == "a minimum above the maximum" and words[0] != "trend"), said


def test_a_figure_of_a_selection_among_one_run_says_so(store: Store) -> None:
    code, said = ends_as_designed("figure", "latest", "--kind", "top", store=store.path)
    assert (code, "--kind top compares runs" in said) == (2, True), said


def test_a_name_of_a_column_that_is_no_text_is_damage(store: Store, tmp_path: Path) -> None:
    path = store.folders()[0] / "samples.parquet"
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[content.index(b"latency_ns", footer) + 2] = 0xA8
    path.write_bytes(content)
    code, said = ends_as_designed(
        "export", path.parent.name, "--csv", "--out", str(tmp_path / "x.csv"), store=store.path
    )
    assert (code, str(path) in said) == (5, True), said


@pytest.mark.parametrize("number", ["1e400", "NaN", "-Infinity", "1" + "0" * 5_000, str(2**64)])
def test_numbers_that_nothing_can_hold_are_named(store: Store, number: str) -> None:
    content = json.loads((store.folders()[0] / "run.json").read_text())
    content["parameters"]["period_ns"] = "@@"
    victim, _ = rewrite(store, 0, json.dumps(content).replace('"@@"', number))
    code, said = ends_as_designed("show", victim.name, store=store.path)
    assert code == 5
    assert number[:20] in said
    assert str(victim) in said


def test_an_id_that_leads_out_of_the_store_is_refused(store: Store) -> None:
    content = json.loads((store.folders()[0] / "run.json").read_text())
    victim, _ = rewrite(store, 0, json.dumps(content | {"id": "../../x"}))
    code, said = ends_as_designed("report", victim.name, store=store.path)
    assert code == 5
    assert "can't be the id of a run" in said
    assert not (store.path.parent / "x").exists()


@pytest.mark.slow
def test_samples_of_another_type_are_damage(store: Store) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = store.folders()[0] / "samples.parquet"
    table = pq.read_table(path)
    for odd in (pa.array(["x"] * len(table)), pa.array([None] * len(table), pa.int64())):
        pq.write_table(table.set_column(table.schema.names.index("latency_ns"), "latency_ns", odd), path)
        code, said = ends_as_designed("show", path.parent.name, store=store.path)
        assert code == 5
        assert str(path) in said


@pytest.mark.slow
def test_samples_with_bytes_changed_or_cut_off_end_as_designed(good: Store, tried: settings) -> None:
    @tried
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(shutil.copytree(good.path, Path(folder, "store"))))
            victim, other, *_ = store.folders()
            path = victim / "samples.parquet"
            path.write_bytes(data.draw(damaged(path.read_bytes())))
            see(store.path, victim.name, other.name)

    holds()


def stream_frames(**options: Any) -> list[bytes]:
    events = [
        {"event": "progress", "sources": [{"source": 0, "completed": 5, "missed": 0, "recorded": 5}]},
        {"event": "throttled", "time_ns": 5, "source": 0},
    ]
    return list(streams.frames([VALUES[:100]], events=events, dropped={0: 3}, **options))


def recovered_as_designed(content: bytes) -> None:
    """Recovery seals what is whole, so that it can be read, or says why not and keeps the stream."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        with store.create("cyclic", "cut off") as writer:
            writer.append(content)
        outcomes = recover(store)
        states = {outcome.state for outcome in outcomes}
        assert states <= {"sealed", "recovered", "refused", "removed"}
        for outcome in outcomes:
            if outcome.state in ("sealed", "recovered"):
                assert StoredRun.read(outcome.path).manifest.state == outcome.state
                assert ends_as_designed("show", outcome.path.name, store=store.path)[0] == 0
            elif outcome.state == "refused":
                assert (outcome.path / "stream.tauto").read_bytes() == content
        assert ends_as_designed("list", store=store.path)[0] == 0


@pytest.mark.slow
def test_a_stream_whose_words_are_replaced_is_sealed_or_refused(tried: settings) -> None:
    @tried
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        frames = stream_frames(histogram=data.draw(st.booleans()))
        number = data.draw(st.sampled_from([at for at, one in enumerate(frames) if one[4] != streams.ROWS]))
        text = data.draw(mutated(frames[number][24:].decode())).encode("utf-8", "surrogatepass")
        frames[number] = streams.frame(frames[number][4], number, text + b" " * (-len(text) % 8))
        recovered_as_designed(b"".join(frames))

    holds()


@pytest.mark.slow
def test_a_stream_with_bytes_changed_or_cut_off_is_sealed_or_refused(tried: settings) -> None:
    tried(given(damaged(b"".join(stream_frames())))(recovered_as_designed))()


@pytest.mark.parametrize("version", [0, 2, 99, -1, 1.5, 2**70, "1", "next", None, True, [1], {}])
def test_a_stream_of_another_version_is_refused_and_kept(version: object, tmp_path: Path) -> None:
    frames = stream_frames()
    header = json.loads(frames[0][24:])
    frames[0] = streams.json_frame(frames[0][4], 0, header | {"stream": version})
    recovered_as_designed(b"".join(frames))
    store = Store(tmp_path)
    with store.create("cyclic", "of another version") as writer:
        writer.append(b"".join(frames))
    (outcome,) = recover(store)
    assert outcome.state == "refused" or version is True


def test_a_histogram_cut_off_before_its_first_part_ends_as_designed(tmp_path: Path) -> None:
    whole = list(streams.frames([VALUES], histogram=True, footer=False))
    kept = [one for one in whole if one[4] != streams.ROWS or one[5] == 1]  # the running maxima
    head = [streams.frame(one[4], at, one[24:], table=one[5]) for at, one in enumerate(kept)]
    store = Store(tmp_path)
    with store.create("cyclic", "cut off") as writer:
        writer.append(b"".join(head))
    (outcome,) = recover(store)
    assert outcome.state == "recovered"
    for verb in (("show",), ("tail",), ("report", "--out", str(tmp_path / "page.html"))):
        ends_as_designed(*verb, outcome.path.name, store=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "rows", "state"),
    [("progress", 0, "sealed"), ("dropped", 7, "sealed"), ("throttled", 0, "recovered")],
)
def test_only_events_that_must_be_kept_can_be_too_many(
    tmp_path: Path, event: str, rows: int, state: str
) -> None:
    """Progress is told each second, losses ten times a second, and a run lasts days."""
    told = {"event": event, "source": 0, "rows": rows, "sources": [{"source": at} for at in range(7_000)]}
    with Store(tmp_path).create("cyclic", "soak") as writer:
        book = {0: {"dropped": 90 * rows, "completed": len(VALUES) + 90 * rows}}
        writer.append(b"".join(streams.frames([VALUES], None, events=[told] * 90, books_extra=book)))
        manifest = writer.seal().manifest
    assert (manifest.state, manifest.damage is None) == (state, state == "sealed"), manifest.damage
    assert state == "recovered" or manifest.books[0].dropped == 90 * rows


@pytest.mark.slow
def test_bytes_that_are_no_text_end_as_designed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = os.fsdecode(b"a\xff")
    with store.create("cyclic", odd, {"command": ["tauto", "--title", odd]}) as writer:
        writer.append(streams.make_stream([VALUES]))
        made = writer.seal().manifest
    assert (made.title, made.asked("--title")) == ("a\ufffd", "a\ufffd")
    assert title_of_page(lambda: "a\x1b") == "a\ufffd"
    (store.path / odd).mkdir()
    shutil.copy(store.path / made.id / "run.json", store.path / odd)
    assert ends_as_designed("list", store=store.path)[0] == 0
    monkeypatch.setattr(sys, "argv", ["tauto", odd])
    page = tmp_path / "page.html"
    assert ends_as_designed("compare", "latest", "latest~1", "--out", str(page), store=store.path)[0] == 0
    assert "a?" in page.read_text()
    code, said = ends_as_designed("list", store=tmp_path / odd)
    assert (code, "not UTF-8" in said) == (4, True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert (kept := faults.keep(ValueError(odd)).file) is not None
    faults.forget()
    assert "ValueError" in kept.read_text()


READERS = {
    "plan": ("run", "{}", "--dry-run"),
    "task set": ("analyse", "{}"),
    "deployment": ("tune", "show", "{}"),
}
HOSTILE_TOML = {
    "a number of 5,000 digits": b"seed = 1" + b"0" * 5_000,
    "nested without end": b"a = " + b"[" * 100_000,
    "no number": b"repetitions = nan\n[[task]]\nperiod = inf\n[settings]\nsmt = -inf",
    "a date": b"title = 1979-05-27\n[[task]]\nname = 1979-05-27\n[settings]\nsmt = 07:32:00",
    "tables for values": b"title = {a = 1}\n[[experiment]]\nname = [[]]\n[[task]]\nname = {}\n[settings.smt]",
    "not text": b'title = "\xff\xfe"',
    "a NUL": b'title = "\x00"',
    "another version": b'schema = 99\nversion = "2.0"\n[settings]\n[[task]]\nname = "a"\nperiod = "1ms"',
}


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", [*NO_FILES, *HOSTILE_TOML])
def test_a_file_that_people_write_is_refused_by_its_name(tmp_path: Path, reader: str, content: str) -> None:
    path = tmp_path / "mine.toml"
    if content in HOSTILE_TOML:
        path.write_bytes(HOSTILE_TOML[content])
    else:
        NO_FILES[content](path)
    words = [word.format(path) for word in READERS[reader]]
    code, said = ends_as_designed(*words, store=tmp_path / "store")
    if reader == "deployment" and content == "an empty file":
        return  # it asks for nothing, and is called as its file is
    assert code == 2, said
    assert str(path) in said


@pytest.mark.slow
def test_a_clock_that_was_set_back_is_told_with_the_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [entry.id for entry in catalogue(store)]

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Earlier":
            return cls.fromtimestamp((datetime.now(UTC) - timedelta(days=400)).timestamp(), tz)

    assert "clock-set-back" not in {one.code for run in store.runs() for one in run.manifest.warnings}
    monkeypatch.setattr(stores, "datetime", Earlier)
    made = store_run(store, [VALUES])
    (warning,) = [one for one in made.manifest.warnings if one.code == "clock-set-back"]
    assert before[-1] in warning.text
    assert [entry.id for entry in catalogue(store)] == [made.id, *before]
    assert store.open("latest").id == before[-1]
    assert ends_as_designed("trend", "max", store=store.path)[0] == 0
