"""Soaks on a small disk, beside a follower and a live server, and what must hold after each fault."""

import hashlib
import os
import shutil
import signal
import subprocess
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from real import PATIENCE_S, TAUTO, children, wait_until
from real_soaks import held_folders
from tautochrone.run import files, pieces
from tautochrone.run.folder import StoredRun
from tautochrone.run.held import HELD
from tautochrone.run.intervals import Following, Interval
from tautochrone.run.so_far import is_measured
from tautochrone.run.store import Store

PIECE_S, LEAST_FREE_BYTES = 3.0, 4 << 20
_MARK = "TAUTO_TEST_SOAK"
_SHORT_PIECES = f"""
from tautochrone.measure import soak
begin = soak.Soak.__init__
def with_short_pieces(self, *words, **more):
    begin(self, *words, piece_s={PIECE_S}, least_free_bytes={LEAST_FREE_BYTES}, **more)
soak.Soak.__init__ = with_short_pieces
"""
"""Python reads it before a program: a soak makes a piece each hour, and is careful below 64 MB."""

ENDINGS = {
    0: "complete",
    1: "what measured was killed or lost",
    4: "the store can't be read or written now",
    130: "ended on request",
    -signal.SIGKILL: "killed",
}
"""How a command may end here."""


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


@dataclass
class Ground:
    """Where soaks are measured: a small disk, and a folder for all that tauto writes elsewhere.

    Attributes:
        complete: of each run that is complete the checksum of each of its files.
        places: the folders in which its programs go on without tauto.
    """

    folder: Path
    disk: Path
    environment: dict[str, str]
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    complete: dict[Path, dict[str, str]] = field(default_factory=dict)
    places: set[Path] = field(default_factory=set)
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _number: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        for name in ("said", "tmp", "state", "first"):
            (self.folder / name).mkdir()
        (self.folder / "first" / "sitecustomize.py").write_text(_SHORT_PIECES)
        self.environment = self.environment | {
            _MARK: self.mark,
            "TAUTO_STORE": str(self.store),
            "TMPDIR": str(self.folder / "tmp"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "PYTHONPATH": os.pathsep.join(
                [str(self.folder / "first"), *filter(None, [os.environ.get("PYTHONPATH")])]
            ),
        }

    @property
    def store(self) -> Path:
        return self.disk / "store"

    def start(self, *words: str) -> tuple[subprocess.Popen[bytes], Path]:
        """Start tauto; returns it, and the file that has what it says."""
        path = self.folder / "said" / f"{next(self._number):04}-{words[0]}"
        with path.open("wb") as said:
            started = subprocess.Popen(
                [*TAUTO, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        self._started.append(started)
        return started, path

    def run(self, *words: str) -> str:
        """Return what tauto says; it ends well."""
        started, said = self.start(*words)
        assert started.wait(PATIENCE_S) == 0, said.read_text()
        return said.read_text()

    def fill(self, leave_bytes: int) -> None:
        """Take the room of the disk but for so much."""
        at = 0
        with (self.disk / "ballast").open("wb") as ballast:
            for step in (1 << 20, 1 << 12):
                with suppress(OSError):
                    while shutil.disk_usage(self.disk).free >= leave_bytes + step:
                        os.posix_fallocate(ballast.fileno(), at, step)
                        at += step

    def make_room(self) -> None:
        (self.disk / "ballast").unlink()

    def see_kept(self, run: Path, seen: Sequence[Interval], state: str | None) -> None:
        """A run is complete, its accounting balances, and it has each interval that was seen before."""
        found = StoredRun.read(run)
        manifest = found.manifest
        codes = {one.code for one in manifest.warnings}
        assert state in (None, manifest.state), manifest.damage
        if manifest.state == "recovered":
            assert codes >= {"cut-off", "soak-gap"}
            assert any("last seen at" in one.text for one in manifest.warnings)
        else:
            assert not codes & {"cut-off", "soak-gap"}
        for book in manifest.books:
            told = found.intervals(book.source)
            assert book.released == book.completed + (book.missed or 0)
            assert book.completed == book.recorded + (book.dropped or 0)
            assert found.histogram(book.source)[2].sum() == book.recorded
            assert (told["from_ns"][1:] == told["until_ns"][:-1]).all()
            lost = book.completed - told["completed"].sum()
            assert lost >= 0 if manifest.state == "recovered" else lost == 0
            if book.dropped:
                assert codes & {"disk-full", "dropped"}
            rows = {
                int(told["from_ns"][at]): tuple(int(told[name][at]) for name in _COUNTS)
                for at in range(len(told["from_ns"]))
            }
            for one in seen:
                if one.source == book.source:
                    assert rows[one.from_ns] == (one.until_ns, one.completed, one.missed, one.dropped)
        self.complete[run] = _checksums(run)

    def see_nothing_changed(self) -> None:
        """What was complete is as it was."""
        for run, checksums in self.complete.items():
            assert _checksums(run) == checksums
        assert {one.manifest.id for one in Store(self.store).runs()} == {one.name for one in self.complete}

    def see_nothing_left(self) -> None:
        """No process, file or lock is left, and nobody showed a traceback."""
        wait_until(lambda: not list(self.processes()), "nothing of it runs")
        assert not any(one.exists() for one in self.places)
        left = [
            path
            for run in self.store.iterdir()
            if run.is_dir()
            for path in run.iterdir()
            if path.suffix == files.PART_SUFFIX
            or path.name in (files.RAW_STREAM, files.STOP, HELD, pieces.FOLDER)
        ]
        assert left == []
        assert list((self.folder / "tmp").iterdir()) == []
        assert list((self.folder / "state").rglob("fault-*")) == []
        for said in (self.folder / "said").iterdir():
            assert "Traceback" not in said.read_text(errors="replace"), said

    def kill_all(self) -> None:
        """Whatever still runs."""
        for one in self._started:
            one.kill()
            one.wait()
        for pid in self.processes():
            kill(pid)
        for place in self.places:
            shutil.rmtree(place, ignore_errors=True)
        self._started.clear()

    def processes(self) -> Iterator[int]:
        mark = f"{_MARK}={self.mark}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


_COUNTS = ("until_ns", "completed", "missed", "dropped")


def _checksums(run: Path) -> dict[str, str]:
    return {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in run.iterdir()}


@dataclass
class Soaking:
    """A soak that is measured, and who looks on.

    Attributes:
        run: its folder.
        typed: the command. keeper: the process that it started, which measures.
        url: of the live server.
    """

    ground: Ground
    run: Path
    typed: subprocess.Popen[bytes]
    keeper: int
    follower: subprocess.Popen[bytes] = field(init=False)
    live: subprocess.Popen[bytes] = field(init=False)
    url: str = ""

    def __post_init__(self) -> None:
        self.follower, _ = self.ground.start("soak", "follow", self.run.name)
        self.serve()

    def serve(self) -> None:
        """Start a live server."""
        self.live, said = self.ground.start("live", self.run.name, "--listen", "127.0.0.1:0")
        wait_until(lambda: self.live.poll() is not None or "\n" in said.read_text(), "it is shown")
        self.url = said.read_text().partition("shown at ")[2].split()[0]

    def probe(self) -> int:
        """Return the process that takes the time stamps, on this machine."""
        for pid in self.ground.processes():
            with suppress(OSError):
                if "tauto-probe" in Path(f"/proc/{pid}/exe").readlink().name:
                    return pid
        raise AssertionError("no probe runs")

    def seen(self) -> list[Interval]:
        """Return the intervals that are whole."""
        self.ground.places.update(held_folders(self.run))
        return Following(self.run).new()

    def wait_for_intervals(self, so_many: int) -> None:
        wait_until(lambda: len(self.seen()) >= so_many, f"{so_many} intervals are there")

    def wait_for_the_end(self) -> None:
        """All end by themselves, each as it may."""
        for one in (self.typed, self.follower, self.live):
            assert one.wait(PATIENCE_S) in ENDINGS, one.args

    def released(self) -> float:
        """Return the releases that the live server tells."""
        with urllib.request.urlopen(f"{self.url}metrics", timeout=PATIENCE_S) as answer:
            lines = answer.read().decode().splitlines()
        name = "tautochrone_cycles_released_total{"
        return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


@contextmanager
def soaking(ground: Ground, *where: str) -> Iterator[Soaking]:
    """A soak in intervals of a second, in pieces of three; whatever is left of it is killed at the end."""
    known = set(Store(ground.store).folders())
    usual = ["--period", "5ms", "--policy", "other", "--no-memory-lock", "--cpus", "any", "--every", "1s"]
    typed, said = ground.start("soak", "cyclic", "--for", "1h", *usual, *where)
    try:
        wait_until(lambda: typed.poll() is not None or bool(_measured(ground.store)), "it measures")
        assert typed.poll() is None, said.read_text()
        (run,) = _measured(ground.store)
        assert run not in known
        (keeper,) = children(typed.pid)
        yield Soaking(ground, run, typed, keeper)
    finally:
        ground.kill_all()


def _measured(store: Path) -> list[Path]:
    return [one for one in Store(store).folders() if is_measured(one)]
