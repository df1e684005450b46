"""Files that a person names with --out and its like: replaced whole, and nothing but a file is replaced."""

import errno
import io
import os
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import streams
from real import PATIENCE_S, TAUTO, sealed, skip_or_fail, tauto
from tautochrone.answer import figure, html, outcome
from tautochrone.answer.outcome import Case, Outcome
from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.run.export import export
from tautochrone.run.output import output

OUTCOME = Outcome("a test", (Case("group", "name", "passed", "held"),))
CHART = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}


def _export(folder: Path, out: Path) -> None:
    export(sealed(streams.make_stream([[5, 6]]), folder / "store"), "csv", out)


WRITERS: dict[str, Callable[[Path, Path], object]] = {
    "export": _export,
    "report": lambda _, out: html.write("<p>page</p>", out),
    "figure": lambda _, out: figure.save(CHART, out),
    "junit": lambda _, out: outcome.write_junit(OUTCOME, out),
    "markdown": lambda _, out: outcome.write_markdown(OUTCOME, out),
}


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Path], object]:
    return lambda out: WRITERS[request.param](tmp_path, out)


def test_a_link_stays_and_the_file_it_leads_to_is_replaced(
    write: Callable[[Path], object], tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name, former in (("old.svg", b"former"), ("new.svg", None)):
        place, link = tmp_path / "elsewhere" / name, tmp_path / name
        if former is not None:
            place.write_bytes(former)
            place.chmod(0o640)
        link.symlink_to(Path("elsewhere") / name)
        write(link)
        assert link.readlink() == Path("elsewhere") / name
        assert not place.is_symlink()
        assert place.stat().st_size > 0
        assert former is None or (
            place.read_bytes() != former and stat.S_IMODE(place.stat().st_mode) == 0o640
        )
    assert sorted(one.name for one in (tmp_path / "elsewhere").iterdir()) == ["new.svg", "old.svg"]


def test_a_device_is_written_to(write: Callable[[Path], object], tmp_path: Path) -> None:
    node = tmp_path / "null.svg"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        node.open("wb").close()
    except PermissionError:
        skip_or_fail("a device node can't be made or opened here")
    link = tmp_path / "link.svg"
    link.symlink_to(node)
    for out in (node, link):
        write(out)
        assert stat.S_ISCHR(node.lstat().st_mode)
        assert node.stat().st_rdev == os.makedev(1, 3)
        assert link.is_symlink()


def test_a_fifo_is_written_to(write: Callable[[Path], object], tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.svg"
    os.mkfifo(fifo)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()), daemon=True)
    reader.start()
    write(fifo)
    reader.join(PATIENCE_S)
    assert read[0]
    assert stat.S_ISFIFO(fifo.lstat().st_mode)


def test_a_folder_is_refused(write: Callable[[Path], object], tmp_path: Path) -> None:
    folder = tmp_path / "folder.svg"
    folder.mkdir()
    with pytest.raises(StoreError, match=r"Can't write .*folder\.svg: Is a directory"):
        write(folder)
    assert list(folder.iterdir()) == []


def test_what_was_there_stays_when_writing_fails(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"former")
    for failure in (OSError(errno.EIO, "Input/output error"), ValueError()):
        with pytest.raises(type(failure)) as raised:
            _write_half(out, failure)
        assert raised.value is failure  # what the writer reads is not blamed on the output
        assert out.read_bytes() == b"former"
        assert list(tmp_path.iterdir()) == [out]


def _write_half(out: Path, failure: Exception) -> None:
    with output(out) as file:
        file.write(b"half")
        raise failure


def test_what_the_output_refuses_is_told_as_such_while_it_is_written_and_when_it_ends() -> None:
    for size in (1, 1 << 20):
        with pytest.raises(StoreError, match="Can't write /dev/full: No space left"):
            write_zeros(Path("/dev/full"), size)


def write_zeros(out: Path, size: int) -> None:
    with output(out) as file:
        file.write(bytes(size))


def test_samples_that_can_not_be_read_are_not_blamed_on_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    run = sealed(streams.make_stream([[5, 6]]), tmp_path / "store")
    monkeypatch.setattr(Path, "open", lambda *_: Failing())
    with pytest.raises(DamagedError, match=r"samples\.parquet is damaged: .*Input/output error"):
        export(run, "parquet", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_links_that_lead_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(StoreError, match="symbolic links"), output(tmp_path / "a"):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("verb", [("export", "latest", "--csv"), ("pack", "latest")])
def test_a_device_stays_a_device(tmp_path: Path, verb: tuple[str, ...]) -> None:
    sealed(streams.make_stream([[5, 6]]), tmp_path)
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    done = tauto(*verb, "--out", str(link), store=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert link.readlink() == Path("/dev/null")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_what_the_shell_has_opened_is_written_to_behind_what_is_there(tmp_path: Path, name: str) -> None:
    sealed(streams.make_stream([[5, 6]]), tmp_path / "store")
    log = tmp_path / "log"
    log.write_text("former\n")
    before = log.stat().st_ino
    environment = os.environ | {"TAUTO_STORE": str(tmp_path / "store")}
    with log.open("ab") as opened:
        command = [*TAUTO, "export", "latest", "--csv", "--out", name]
        subprocess.run(command, stdout=opened, env=environment, check=True)
    lines = log.read_text().splitlines()
    assert (lines[0], len(lines), log.stat().st_ino) == ("former", 4, before)
