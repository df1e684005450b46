"""A full disk and a store that can't be written: what was sealed stays, what was whole is recovered."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import streams
from real import mount_small_disk, skip_or_fail
from tautochrone.base.errors import StoreError
from tautochrone.run.catalogue import catalogue
from tautochrone.run.export import export
from tautochrone.run.recover import recover
from tautochrone.run.store import Store
from where import ROOT

DISK_BYTES = 1 << 20
# Latencies that can't be packed small, so that a sealed run needs much of the space its stream did.
LATENCIES = np.random.default_rng(5).integers(1, 2**40, 100_000)
STREAM = streams.make_stream([LATENCIES], overrun="replay", rows_per_frame=1_000)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    mounted = mount_small_disk(tmp_path, f"size={DISK_BYTES}")
    yield mounted
    subprocess.run(["umount", str(mounted)], check=True)


def write(store: Store, stream: bytes) -> None:
    """Write a run piece by piece, as it would arrive."""
    with store.create("cyclic", "too long") as writer:
        for at in range(0, len(stream), 10_000):
            writer.append(stream[at : at + 10_000])


@pytest.mark.slow
def test_a_disk_that_fills_up_while_measuring_costs_nothing_that_was_whole(small_disk: Path) -> None:
    store = Store(small_disk)
    with store.create("cyclic", "before") as writer:
        writer.append(streams.make_stream([[1, 2, 3]]))
        before = writer.seal()
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(DISK_BYTES // 2))

    with pytest.raises(StoreError, match="The disk is full") as full:
        write(store, STREAM)
    assert "tauto recover" in full.value.advice
    arrived = (store.folders()[-1] / "stream.tauto").stat().st_size
    assert 0 < arrived < DISK_BYTES // 2

    # Still full, nothing is lost, and the message says what to do.
    (outcome,) = recover(store)
    assert outcome.state == "refused"
    assert "The disk is full" in outcome.text
    assert "tauto recover" in outcome.advice
    assert [entry.state for entry in catalogue(store)] == ["sealed", "cut off"]
    assert store.open(before.id).values().tolist() == [1, 2, 3]
    assert not list(small_disk.rglob("*.part"))

    ballast.unlink()
    (outcome,) = recover(store)
    assert outcome.state == "recovered"
    recovered = store.open("latest").values()
    assert len(recovered) >= (arrived // 16_024 - 1) * 1_000
    assert recovered.tolist() == LATENCIES[: len(recovered)].tolist()


def test_a_disk_without_room_for_the_sealed_run_keeps_the_stream(small_disk: Path) -> None:
    part = streams.make_stream([LATENCIES[:40_000]], overrun="replay", rows_per_frame=1_000)
    writer = Store(small_disk).create("cyclic", "no room to seal")
    writer.append(part)
    (small_disk / "ballast").write_bytes(bytes(DISK_BYTES // 4))
    with pytest.raises(StoreError, match="The disk is full: sealing the run"):
        writer.seal()
    assert (writer.path / "stream.tauto").read_bytes() == part
    (small_disk / "ballast").unlink()
    (outcome,) = recover(Store(small_disk))
    assert outcome.state == "sealed"
    assert Store(small_disk).open("latest").values().tolist() == LATENCIES[:40_000].tolist()


def test_no_room_to_begin_a_run_leaves_none_behind(small_disk: Path) -> None:
    store = Store(small_disk / "runs")
    store.path.mkdir()
    with pytest.raises(OSError, match="No space"):
        (small_disk / "ballast").write_bytes(bytes(2 * DISK_BYTES))
    with pytest.raises(StoreError, match="The disk is full"):
        store.create("cyclic", "no room", facts={"text": "x" * 10_000})
    (small_disk / "ballast").unlink()
    assert catalogue(store) == []
    assert store.folders() == []


def test_no_room_for_a_stream_leaves_no_folder_behind(tmp_path: Path) -> None:
    disk = mount_small_disk(tmp_path, "nr_inodes=3")  # of the disk itself, the store and the run
    try:
        store = Store(disk / "runs")
        with pytest.raises(StoreError, match="The disk is full"):
            store.create("cyclic", "no room")
        assert store.folders() == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_no_room_for_an_export_leaves_no_half_of_one(small_disk: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "store").create("cyclic", "long") as writer:
        writer.append(STREAM)
        run = writer.seal()
    with pytest.raises(StoreError, match="No space left"):
        export(run, "csv", small_disk / "out.csv")
    assert list(small_disk.iterdir()) == []


def test_a_store_that_can_not_be_written_says_so_and_can_still_be_read(tmp_path: Path) -> None:
    disk = mount_small_disk(tmp_path, "size=1m")
    try:
        store = Store(disk)
        with store.create("cyclic", "before") as writer:
            writer.append(streams.make_stream([[1, 2, 3]]))
            writer.seal()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(StoreError, match="is not allowed") as refused:
            store.create("cyclic", "after")
        assert "--store or TAUTO_STORE" in refused.value.advice
        assert store.open("latest").values().tolist() == [1, 2, 3]
        assert [entry.state for entry in catalogue(store)] == ["sealed"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_store_below_a_file_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    store = Store(tmp_path / "file" / "runs")
    with pytest.raises(StoreError, match=r"file/runs .*a part of that path is a file") as refused:
        store.create("cyclic", "nowhere")
    assert "--store" in refused.value.advice
    with pytest.raises(StoreError, match="its folder is not there") as refused:
        Store(Path("/proc/tautochrone-test")).create("cyclic", "nowhere")
    assert "--store" in refused.value.advice
    with pytest.raises(StoreError, match="can't be read"):
        store.folders()


@pytest.mark.slow
def test_full_disks_without_root() -> None:
    """Who is not root may be it in a namespace of his own, where he may mount."""
    if os.geteuid() == 0:
        return  # they ran as they are
    inside = ["unshare", "--user", "--map-root-user", "--mount"]
    tried = subprocess.run(
        [*inside, "mount", "-t", "tmpfs", "x", "/mnt"], capture_output=True, text=True, check=False
    )
    if tried.returncode:
        skip_or_fail(f"needs root or a user namespace: {tried.stderr.strip()}")
    files = [str(ROOT / "tests" / name) for name in ("run/test_run_full_disk.py", "test_end_to_end.py")]
    ran = subprocess.run(
        [*inside, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "disk", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert "skipped" not in ran.stdout
