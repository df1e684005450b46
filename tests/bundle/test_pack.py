"""A packed file brings runs, plans and report elsewhere whole, once, and nothing else."""

import errno
import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streams import make_stream
from tautochrone.base.errors import DamagedError, StoreError, TautoError, UsageError
from tautochrone.bundle import unpack as unpacking
from tautochrone.bundle.pack import pack
from tautochrone.bundle.unpack import unpack
from tautochrone.cli.app import app
from tautochrone.run.catalogue import catalogue
from tautochrone.run.folder import StoredRun
from tautochrone.run.remarks import Remarks, read_remarks, write_remarks
from tautochrone.run.store import Store

PLAN = 'title = "Two"\n[[experiment]]\nname = "cyclic"\nduration = "1s"\n'


def stored(store: Store, latencies: list[int], **options: object) -> StoredRun:
    """A run of one source."""
    with store.create(
        "cyclic", "scheduling latency", {"load": "idle"}, {"machine": {"hostname": "rig"}}
    ) as run:
        run.append(make_stream([latencies], **options))  # type: ignore[arg-type]
        return run.seal()


@pytest.fixture
def here(tmp_path: Path) -> Store:
    """A store with a run of samples and one with a histogram."""
    store = Store(tmp_path / "here")
    stored(store, [5_000, 7_000, 6_000])
    stored(store, [9_000] * 50, histogram=True)
    return store


@pytest.fixture
def there(tmp_path: Path) -> Store:
    """A store of somebody else."""
    return Store(tmp_path / "there")


@pytest.fixture
def packed(here: Store, tmp_path: Path) -> Path:
    """Both runs, a plan and a report in one file."""
    plan = tmp_path / "mine.toml"
    plan.write_text(PLAN)
    path = tmp_path / "runs.zip"
    pack(here.runs(), [plan], lambda: "<html>report</html>", path)
    return path


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_runs_arrive_to_the_byte_and_are_listed(packed: Path, here: Store, there: Store) -> None:
    done = unpack(packed, there)
    assert done.new == tuple(run.id for run in here.runs())
    assert content(there.path) == content(here.path)
    assert [(one.id, one.state) for one in catalogue(there)] == [
        (one.id, one.state) for one in catalogue(here)
    ]
    assert [run.manifest.facts for run in there.runs()] == [{"machine": {"hostname": "rig"}}] * 2


def test_the_same_file_can_be_unpacked_again(packed: Path, there: Store) -> None:
    first = unpack(packed, there)
    before = content(there.path)
    again = unpack(packed, there)
    assert (again.new, again.known) == ((), first.new)
    assert content(there.path) == before


def test_the_same_runs_give_the_same_bytes(here: Store, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        pack(here.runs(), [], lambda: "report", tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_runs_that_another_process_brings_meanwhile_are_known(
    packed: Path, there: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_there = unpacking._is_there
    first = iter((True, False))

    def before(extracted: Path, place: Path) -> bool:
        """Look, and have the other one bring all runs right after."""
        found = is_there(extracted, place)
        if next(first, False):
            unpack(packed, there)
        return found

    monkeypatch.setattr(unpacking, "_is_there", before)
    done = unpack(packed, there)
    assert (len(done.new), len(done.known)) == (0, 2)


def test_another_run_of_that_name_is_not_replaced(packed: Path, here: Store, there: Store) -> None:
    unpack(packed, there)
    first, second = here.runs()
    changed = there.path / second.id / "run.json"
    changed.write_text(changed.read_text().replace("scheduling latency", "something else"))
    before = content(there.path)
    with pytest.raises(StoreError, match="another run"):
        unpack(packed, there)
    assert content(there.path) == before
    assert first.id in [run.id for run in there.runs()]


def test_tags_and_notes_go_along_and_those_of_a_run_that_is_there_stay(
    here: Store, there: Store, tmp_path: Path
) -> None:
    first, second = here.runs()
    remarks = Remarks(("before-update",), "BIOS 1.14")
    write_remarks(first.path, remarks)
    pack(here.runs(), [], lambda: "", tmp_path / "runs.zip")
    unpack(tmp_path / "runs.zip", there)
    assert there.open("before-update").id == first.id
    assert [read_remarks(run.path) for run in there.runs()] == [remarks, Remarks()]
    write_remarks(there.path / first.id, Remarks(note="mine"))
    assert unpack(tmp_path / "runs.zip", there).known == (first.id, second.id)
    assert read_remarks(there.path / first.id) == Remarks(note="mine")


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        '{"tags": ["latest"]}',
        '{"tags": ["../x"]}',
        '{"note": "\\u001b[2J"}',
        '{"note": "%s"}' % ("x" * 10_001),
    ],
    ids=lambda content: content[:20],
)
def test_remarks_that_nobody_could_have_made_are_refused(
    packed: Path, here: Store, there: Store, content: str
) -> None:
    name = f"runs/{here.runs()[0].id}/remarks.json"
    path = rewritten(packed, lambda entries, manifest: _add(manifest, entries, name, content.encode()))
    with pytest.raises(DamagedError, match="is damaged"):
        unpack(path, there)
    assert there.folders() == []


def test_a_file_of_the_first_schema_is_read(packed: Path, there: Store) -> None:
    path = rewritten(packed, lambda _, manifest: manifest.update(schema=1))
    assert len(unpack(path, there).new) == 2


def test_plans_and_report_go_where_they_are_asked_for(packed: Path, there: Store, tmp_path: Path) -> None:
    unpack(packed, there, tmp_path / "out")
    assert content(tmp_path / "out") == {"mine.toml": PLAN.encode(), "report.html": b"<html>report</html>"}
    (tmp_path / "out" / "mine.toml").write_text("mine")
    with pytest.raises(StoreError, match="there already"):
        unpack(packed, there, tmp_path / "out")
    assert (tmp_path / "out" / "mine.toml").read_text() == "mine"


def test_a_report_without_room_is_not_left_in_part(
    packed: Path, there: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def full(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == "report.html":
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="The disk is full"):
        unpack(packed, there, tmp_path / "out")
    assert content(tmp_path / "out").keys() == {"mine.toml"}


@pytest.mark.parametrize(("name", "text"), [("other.toml", "x = 1\n"), ("plän (1).toml", PLAN)])
def test_what_is_no_plan_or_could_not_be_unpacked_is_not_packed(
    here: Store, tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UsageError):
        pack(here.runs(), [path], lambda: "", tmp_path / "runs.zip")
    assert not (tmp_path / "runs.zip").exists()


# Files that somebody made to do harm, or that were damaged on the way.


def rewritten(packed: Path, change: Callable[[dict[str, bytes], dict[str, object]], None]) -> Path:
    """A file with other entries or another manifest; each change gets both."""
    with zipfile.ZipFile(packed) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries["manifest.json"])
    change(entries, manifest)
    if "manifest.json" in entries:
        entries["manifest.json"] = json.dumps(manifest).encode()
    path = packed.with_name("changed.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name, held in entries.items():
            archive.writestr(name, held)
    return path


def _add(manifest: dict[str, object], entries: dict[str, bytes], name: str, held: bytes) -> None:
    entries[name] = held
    told = manifest["files"]
    assert isinstance(told, list)
    told.append({"path": name, "bytes": len(held), "sha256": hashlib.sha256(held).hexdigest()})


NAMES = [
    "../evil.txt",
    "/etc/evil",
    "runs/../../evil.parquet",
    "runs/ID/../../../evil.parquet",
    "runs/ID/evil.sh",
    "runs/ID/.hidden.parquet",
    "runs/other/run.json",
    "plans/../evil.toml",
    "plans/unknown.toml",
    "plans/mine.toml/evil.toml",
    "C:\\evil",
    "runs/ID/samples.parquet\0",
    "report.html/x",
]


@pytest.mark.filterwarnings("ignore:Duplicate name")  # what stands behind a NUL is left out
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_leads_elsewhere_is_refused(
    packed: Path, here: Store, there: Store, tmp_path: Path, name: str
) -> None:
    wanted = name.replace("ID", here.runs()[0].id)
    before = set(tmp_path.rglob("*"))
    path = rewritten(packed, lambda entries, manifest: _add(manifest, entries, wanted, b"evil"))
    with pytest.raises(DamagedError):
        unpack(path, there, tmp_path / "out")
    assert there.folders() == []
    assert set(tmp_path.rglob("*")) - before <= {path, there.path}


def test_what_to_do_is_said_of_a_file_that_is_not_there(there: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read") as refusal:
        unpack(tmp_path / "none.zip", there)
    assert refusal.value.advice == "Name a file that tauto pack wrote."


def test_a_link_is_refused(packed: Path, there: Store, tmp_path: Path) -> None:
    path = tmp_path / "link.zip"
    with zipfile.ZipFile(packed) as archive, zipfile.ZipFile(path, "w") as changed:
        for entry in archive.infolist():
            if entry.filename.endswith("run.json"):
                entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            changed.writestr(entry, archive.read(entry.filename))
    with pytest.raises(DamagedError, match="not a plain file"):
        unpack(path, there)
    assert there.folders() == []


@pytest.mark.slow
def test_a_bomb_is_stopped_at_the_size_that_its_manifest_states(packed: Path, there: Store) -> None:
    def swell(entries: dict[str, bytes], _manifest: dict[str, object]) -> None:
        name = next(name for name in entries if name.endswith("samples.parquet"))
        entries[name] = b"\0" * (64 << 20)

    with pytest.raises(DamagedError, match="another size"):
        unpack(rewritten(packed, swell), there)


def test_more_than_the_disk_has_is_refused_before_anything_is_written(packed: Path, there: Store) -> None:
    """A header may state any size; the entry behind it is small."""
    size = 1 << 60
    path = packed.with_name("huge.zip")
    with zipfile.ZipFile(packed) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries["manifest.json"])
    name = next(one for one in entries if one.endswith("samples.parquet"))
    next(one for one in manifest["files"] if one["path"] == name)["bytes"] = size
    entries["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w", allowZip64=True) as changed:
        for one, held in entries.items():
            changed.writestr(one, held)
        changed.getinfo(name).file_size = size
    with pytest.raises(TautoError, match=r"bytes|size|damaged"):
        unpack(path, there)
    assert not [one for one in there.path.rglob("*") if one.is_file()]


@pytest.mark.parametrize(
    "change",
    [
        lambda entries, _: entries.pop("manifest.json"),
        lambda entries, _: entries.update({"stranger": b"x"}),
        lambda entries, _: entries.pop(next(one for one in entries if one.endswith("samples.parquet"))),
        lambda _, manifest: manifest.update(schema=99),
        lambda _, manifest: manifest.update(kind="other"),
        lambda _, manifest: manifest.update(files="no"),
        lambda _, manifest: manifest["runs"].append("missing"),
        lambda _, manifest: manifest["plans"].append("\033[2Jmissing.toml"),  # which would be shown
        lambda _, manifest: manifest["runs"].append("../../etc"),
        lambda _, manifest: manifest["files"].append(manifest["files"][0]),
        lambda _, manifest: manifest["files"][0].update(sha256="0" * 64),
        lambda _, manifest: manifest["files"][0].update(bytes=-1),
    ],
    ids=lambda _: "",
)
def test_a_manifest_that_does_not_fit_its_file_is_refused(
    packed: Path, there: Store, change: Callable[[dict[str, bytes], dict[str, object]], object]
) -> None:
    path = rewritten(packed, lambda entries, manifest: (change(entries, manifest), None)[1])
    with pytest.raises(DamagedError):
        unpack(path, there)
    assert there.folders() == []


def test_a_run_that_is_none_is_refused_though_its_hashes_are_right(packed: Path, there: Store) -> None:
    def spoil(entries: dict[str, bytes], manifest: dict[str, object]) -> None:
        name = [name for name in entries if name.endswith("run.json")][-1]
        entries[name] = b'{"schema": 2}'
        told = manifest["files"]
        assert isinstance(told, list)
        own = next(one for one in told if one["path"] == name)
        own.update(bytes=len(entries[name]), sha256=hashlib.sha256(entries[name]).hexdigest())

    with pytest.raises(DamagedError, match="is damaged"):
        unpack(rewritten(packed, spoil), there)
    assert there.folders() == []


@pytest.mark.slow
def test_a_file_cut_off_or_changed_anywhere_is_refused_or_whole(
    packed: Path, here: Store, tmp_path: Path
) -> None:
    whole = packed.read_bytes()
    expected = content(here.path)
    for number, at in enumerate(range(0, len(whole), max(1, len(whole) // 60))):
        place = Store(tmp_path / f"store{number}")
        for held in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x5A]) + whole[at + 1 :]):
            path = tmp_path / "changed.zip"
            path.write_bytes(held)
            try:
                unpack(path, place)
            except TautoError:
                assert place.folders() == []
            else:
                assert content(place.path) == expected
                break


def test_nothing_is_left_of_what_was_refused(packed: Path, there: Store) -> None:
    def spoil(entries: dict[str, bytes], _manifest: dict[str, object]) -> None:
        name = [name for name in entries if name.endswith("run.json")][-1]
        entries[name] = entries[name].replace(b"idle", b"busy")

    with pytest.raises(DamagedError, match="not what its manifest says"):
        unpack(rewritten(packed, spoil), there)
    assert list(there.path.iterdir()) == []


# The verbs.


@pytest.mark.slow
def test_the_verbs_pack_the_latest_run_with_its_report_and_unpack_it(
    here: Store, there: Store, tmp_path: Path
) -> None:
    path = tmp_path / "run.zip"
    result = CliRunner().invoke(app, ["--store", str(here.path), "pack", "latest", "-o", str(path)])
    assert result.exit_code == 0, result.output
    with zipfile.ZipFile(path) as archive:
        assert b"<html" in archive.read("report.html")
    result = CliRunner().invoke(app, ["--store", str(there.path), "unpack", str(path), "--json"])
    assert json.loads(result.stdout)["new"] == [here.runs()[-1].id]
    result = CliRunner().invoke(app, ["--store", str(there.path), "show", "latest", "--json"])
    assert json.loads(result.stdout)["id"] == here.runs()[-1].id
