"""Memory of a running server: what it says of itself, that it grows with its servants; sizes of the build."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from middleware_real import TRANSPORTS
from middleware_servers import needs, unmet_server
from real import PATIENCE_S, needs_priorities, only_run, policy_options, sealed, tauto
from tautochrone.base.stream import EVENT, FrameReader, json_payload
from tautochrone.middleware.footprint import footprint_of
from tautochrone.target.local import find_probe
from tautochrone.target.middleware_server import ServerPlace, footprint_condition

KIB = 1024
CALLS = 3
MOMENTS = ("started", "connected", "served")


def footprint(transport: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    needs(transport)
    words = ["--transport", transport, "--calls", str(CALLS), *arguments]
    return subprocess.run(
        [str(find_probe()), "middleware-footprint", *words],
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def read(transport: str, *arguments: str) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """The stream, and what was read of memory, by moment."""
    ended = footprint(transport, *arguments, *policy_options()[:2], "--out", "-")
    assert ended.returncode == 0, ended.stderr.decode()
    events = [json_payload(frame) for frame in FrameReader().feed(ended.stdout) if frame.type == EVENT]
    return ended.stdout, {one["at"]: one for one in events if one["event"] == "memory"}


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_grows_with_its_servants(transport: str, tmp_path: Path) -> None:
    few, many = (read(transport, "--servants", str(count)) for count in (2, 40))
    for count, (stream, memory) in ((2, few), (40, many)):
        assert tuple(memory) == MOMENTS
        run = sealed(stream, tmp_path)
        [book] = run.manifest.books
        if transport != "udp":
            assert book.completed == book.recorded == count * CALLS
        partners = run.manifest.header.stored["sources"][0]["partners"]
        assert len({one["thread"] for one in partners}) == count
        assert [memory[at]["calls"] for at in MOMENTS] == [0, 0, book.completed]
        for one in memory.values():
            assert one["servants"] == count
            assert one["threads"] > count
            assert one["locked_bytes"] == 0
            assert 0 < one["anonymous_bytes"] <= one["resident_bytes"] <= one["peak_bytes"]
            assert one["private_bytes"] <= one["proportional_bytes"] <= one["resident_bytes"]
    assert many[1]["served"]["threads"] >= few[1]["served"]["threads"] + 38
    # A thread that has run has touched a page of its stack, at least.
    for name in ("resident_bytes", "anonymous_bytes"):
        assert many[1]["served"][name] > few[1]["served"][name] + 38 * 4 * KIB


def test_locked_memory_is_resident_to_its_last_page(tmp_path: Path) -> None:
    needs_priorities("locked memory is for who may have them")
    usual, locked = (read("tcp", "--servants", "8", *more)[1]["served"] for more in ((), ("--memory-lock",)))
    assert usual["locked_bytes"] == 0
    # Every thread has a stack of a few hundred KiB, of which it touches some pages.
    assert locked["locked_bytes"] > 8 * 128 * KIB
    assert locked["resident_bytes"] > usual["resident_bytes"] + 8 * 64 * KIB


def test_what_is_read_is_what_the_system_says_of_the_server() -> None:
    words = ("--servants", "4", "--policy", "other", "--no-memory-lock")
    with unmet_server("tcp", *words) as (process, address):
        status = Path(f"/proc/{process.pid}/status").read_text()
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        _, memory = read("tcp", "--servants", "4", "--server", address)

    def of(text: str, key: str) -> int:
        return KIB * int(re.findall(rf"^{key}:\s+(\d+)", text, re.MULTILINE)[0])

    # It has accepted a connection and answered since: some pages more.
    for key, name in (("Rss", "resident_bytes"), ("Anonymous", "anonymous_bytes")):
        assert of(rollup, key) <= memory["started"][name] <= of(rollup, key) + 512 * KIB
    assert memory["started"]["threads"] == int(re.findall(r"^Threads:\s+(\d+)", status, re.MULTILINE)[0])


@pytest.mark.parametrize(
    ("wrong", "option"),
    [
        (("--servants", "0"), "--servants"),
        (("--servants", "257"), "--servants"),
        (("--calls", "0"), "--calls"),
        (("--memory-lock", "--no-memory-lock"), "--memory-lock"),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_written(
    wrong: tuple[str, ...], option: str, tmp_path: Path
) -> None:
    out = tmp_path / "stream"
    refused = footprint("tcp", *wrong, "--policy", "other", "--out", str(out))
    assert refused.returncode == 2
    assert option in refused.stderr.decode()
    assert not out.exists()


# ---- What the build weighed ---------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["omniorb", "cyclonedds", "tcp"])
def test_a_run_of_the_lab_has_the_sizes_of_library_and_server(transport: str, tmp_path: Path) -> None:
    needs(transport)
    plan = tmp_path / "plan.toml"
    options = {"transport": transport, "servants": 2, "calls": CALLS, "policy": "other"}
    lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
    plan.write_text("\n".join(["[[experiment]]", 'name = "middleware-footprint"', *lines, ""]))
    done = tauto("run", str(plan), store=tmp_path / "store")
    assert done.returncode == 0, done.stderr
    found = footprint_of(only_run(tmp_path / "store"))
    assert [one.moment for one in found.memory] == list(MOMENTS)
    linked = {one.linked: one for one in found.programs}
    dynamic = linked["dynamic"]
    assert dynamic.total is not None
    assert dynamic.total > 20 * KIB
    if transport == "tcp":
        assert found.library is None
        assert "system" in found.absent["libraries"]
    else:
        assert found.library is not None
        assert found.library.total is not None
        assert found.library.total > 500 * KIB
    if transport == "omniorb":
        assert found.library.name == "libomniORB4.a + libomnithread.a"
        static = linked["static"].total
        assert static is not None
        assert static > dynamic.total + found.library.total // 2  # type: ignore[union-attr, operator]


def test_sizes_of_what_runs_elsewhere_are_not_made_up() -> None:
    tcp = {"transport": "tcp"}
    for place, target in ((None, "ssh:board"), (ServerPlace("ssh:board"), "local")):
        told = footprint_condition("middleware-footprint", tcp, place, target)
        assert told is not None
        assert told["libraries"] == told["programs"] == []
        assert "another machine" in told["absent"]["program"]
    assert footprint_condition("middleware-latency", tcp, None, "local") is None


def test_without_the_note_of_the_build_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAUTO_MIDDLEWARE", str(tmp_path))
    told = footprint_condition("middleware-footprint", {"transport": "tcp"}, None, "local")
    assert told is not None
    assert "readelf" in told["absent"]["libraries"]
    (tmp_path / "sizes").mkdir()
    note = {"built": {"compiler": "gcc 12"}, "transports": {"tcp": {"libraries": [], "programs": []}}}
    (tmp_path / "sizes" / "middleware.json").write_text(json.dumps(note))
    told = footprint_condition("middleware-footprint", {"transport": "tcp"}, None, "local")
    assert told == {"libraries": [], "programs": [], "built": {"compiler": "gcc 12"}}
    other = footprint_condition("middleware-footprint", {"transport": "omniorb"}, None, "local")
    assert other is not None
    assert "not built" in other["absent"]["program"]
