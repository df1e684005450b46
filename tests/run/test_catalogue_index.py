"""The index of a large store is never believed over the runs: with it every list is as without it."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from streams import make_stream
from tautochrone.run import index
from tautochrone.run.catalogue import CatalogueEntry, catalogue
from tautochrone.run.place import run_names
from tautochrone.run.recover import recover
from tautochrone.run.remarks import Remarks, write_remarks
from tautochrone.run.selecting import selected
from tautochrone.run.store import Store


def run_in(store: Store, host: str, latency: int = 5_000, **conditions: object) -> Path:
    facts = {"machine": {"hostname": host}, "kernel": {"release": "6.12.3-rt"}}
    with store.create("cyclic", f"on {host}", {"load": "idle", **conditions}, facts) as run:
        run.append(make_stream([[latency, 7_000]]))
        return run.seal().path


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store whose index has been made, of two runs on each of two boards."""
    monkeypatch.setattr(index, "FEWEST", 1)
    monkeypatch.setattr(index, "_YOUNGEST_NS", -1)
    made = Store(tmp_path / "store")
    for host in ("a", "b"):
        run_in(made, host)
        run_in(made, host, load="cpu", plan={"campaign": f"plan-{host}", "title": "Two"})
    catalogue(made)
    assert (made.path / index.INDEX).is_file()
    return made


def told(entries: list[CatalogueEntry]) -> list[dict[str, object]]:
    """All that entries say, their conditions too."""
    names = [name for name in CatalogueEntry.__struct_fields__ if name != "given"]
    return [{name: getattr(one, name) for name in names} | {"under": one.conditions} for one in entries]


def _in_place(store: Store) -> None:
    """Another title of the same length, and the same time of the last change."""
    path = store.folders()[1] / "run.json"
    before, text = path.stat(), path.read_text()
    path.write_text(text.replace("on a", "on z"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _forged(store: Store) -> None:
    """An index that says something else of a run that has changed since."""
    with sqlite3.connect(store.path / index.INDEX) as file:
        file.execute("UPDATE run SET stamp = x'00', content = (SELECT content FROM run LIMIT 1)")


CHANGES: dict[str, Callable[[Store], object]] = {
    "nothing": lambda _: None,
    "a run more": lambda store: run_in(store, "c"),
    "a run less": lambda store: shutil.rmtree(store.folders()[0]),
    "a tag": lambda store: write_remarks(store.folders()[0], Remarks(("mine",), "a note")),
    "a manifest changed in place": _in_place,
    "a manifest damaged": lambda store: (store.folders()[0] / "run.json").write_text("{"),
    "a manifest gone": lambda store: (store.folders()[0] / "run.json").unlink(),
    "another run under its name": lambda store: shutil.copytree(
        store.folders()[-1], store.folders()[0], dirs_exist_ok=True
    ),
    "a run begun": lambda store: store.create("cyclic", "cut off").close(),
    "the index is text": lambda store: (store.path / index.INDEX).write_text("no index " * 500),
    "the index is empty": lambda store: (store.path / index.INDEX).write_bytes(b""),
    "the index is a folder": lambda store: (
        (store.path / index.INDEX).unlink(),
        (store.path / index.INDEX).mkdir(),
    ),
    "the index lies": _forged,
    "the index is of another version": lambda store: index.write_rows(store.path, 1, []),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_list_is_what_the_runs_say_whatever_the_index_says(
    change: Callable[[Store], object], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(store)
    by_index = [told(catalogue(store)) for _ in range(2)]
    monkeypatch.setattr(index, "FEWEST", 1_000)
    assert by_index[0] == by_index[1] == told(catalogue(store))


@pytest.mark.slow
def test_only_new_runs_are_read_and_gone_ones_are_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    kept = catalogue.__globals__["_read"]
    monkeypatch.setitem(
        catalogue.__globals__, "_read", lambda base, names: (read.extend(names), kept(base, names))[1]
    )
    catalogue(store)
    assert read == []
    new = run_in(store, "c")
    shutil.rmtree(store.folders()[0])
    catalogue(store)
    assert read == [new.name]
    with sqlite3.connect(store.path / index.INDEX) as file:
        assert {name for (name,) in file.execute("SELECT id FROM run")} == set(run_names(store.path))


def test_a_store_that_may_not_be_written_is_listed_without_an_index(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store.path / index.INDEX).unlink()
    refuses = sqlite3.OperationalError("attempt to write a readonly database")
    monkeypatch.setattr(index, "_connected", lambda *_: (_ for _ in ()).throw(refuses))
    assert len(catalogue(store)) == 4


@pytest.mark.slow
def test_filters_of_the_list_read_no_manifest(store: Store) -> None:
    shutil.move(run_in(store, "c", deployment={"name": "MI", "settings": []}), store.path / "moved")
    entries = catalogue(store)
    recover(store)
    for wanted, count in (
        ({"kernel": "6.12"}, 5),
        ({"kernel": "6.1"}, 0),
        ({"kernel": "6.12.3-rt"}, 5),
        ({"deployment": "MI"}, 1),
        ({"deployment": "as-is"}, 4),
        ({"machine": "b", "load": "cpu"}, 1),
        ({"state": "sealed"}, 5),
        ({"state": "recovered"}, 0),
    ):
        assert len(selected(entries, **wanted)) == count, wanted  # type: ignore[arg-type]
    assert json.loads((entries[0].path / "run.json").read_text())["title"] == entries[0].title


@pytest.mark.slow
def test_an_index_that_is_a_link_is_left_alone(store: Store, tmp_path: Path) -> None:
    """In a store that several users write, it may lead to a database of ours."""
    (link := store.path / index.INDEX).unlink()
    with sqlite3.connect(mine := tmp_path / "mine.sqlite") as file:
        file.execute("CREATE TABLE run (kept)")
    before = mine.read_bytes()
    link.symlink_to(mine)
    assert len(catalogue(store)) == 4
    assert mine.read_bytes() == before
