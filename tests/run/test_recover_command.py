"""`tauto recover` as a person uses it: on a store with runs that were cut off."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from streams import frames, make_stream
from tautochrone.cli.app import app
from tautochrone.run.store import Store

LATENCIES = list(range(1_000, 1_200))


def leave_behind(store: Path, stream: bytes) -> Path:
    """A run whose writer went away without sealing it."""
    writer = Store(store).create("cyclic", "scheduling latency")
    writer.append(stream)
    writer.close()
    return writer.path


def recover(store: Path) -> Result:
    return CliRunner().invoke(app, ["recover", "--store", str(store)])


def test_a_run_without_its_end_is_sealed_and_can_be_opened(tmp_path: Path) -> None:
    left = leave_behind(tmp_path, b"".join(frames([LATENCIES], footer=False)))
    ended = recover(tmp_path)
    assert ended.exit_code == 0
    assert f"{left.name}: 200 samples recovered" in ended.stdout
    assert Store(tmp_path).open("latest").values().tolist() == LATENCIES


def test_a_second_time_there_is_nothing_left_to_do(tmp_path: Path) -> None:
    leave_behind(tmp_path, make_stream([LATENCIES]))
    recover(tmp_path)
    ended = recover(tmp_path)
    assert (ended.exit_code, ended.stdout) == (0, "Nothing to recover: no run was cut off.\n")


def test_a_run_whose_books_do_not_balance_is_refused_and_kept(tmp_path: Path) -> None:
    left = leave_behind(tmp_path, make_stream([LATENCIES], books_extra={0: {"recorded": 7}}))
    before = (left / "stream.tauto").read_bytes()
    ended = recover(tmp_path)
    assert ended.exit_code == 5
    assert "does not balance" in ended.stderr
    assert (left / "stream.tauto").read_bytes() == before


def test_the_store_can_be_named_before_the_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAUTO_STORE", "/nowhere")  # put back afterwards: the option sets it for this process
    left = leave_behind(tmp_path, make_stream([LATENCIES]))
    ended = CliRunner().invoke(app, ["--store", str(tmp_path), "recover"])
    assert f"{left.name}: 200 samples recovered" in ended.stdout
