"""The loads whose work the kernel does, as the kernel itself counts it."""

from pathlib import Path

import pytest

from loads import most_resident_bytes, report_of, resident_bytes, running, to_its_end, tree
from real import a_cpu, skip_or_fail, wait_until

MIB = 1024 * 1024


@pytest.mark.slow
def test_exit_has_one_process_at_a_time_with_all_of_the_memory() -> None:
    with running("exit", "--bytes", "64MiB") as load:
        families = [tree(load.pid) for _ in range(20)]
        most = most_resident_bytes(load.pid, 1.0, enough=0.5 * 64 * MIB)
        report = load.end()
    assert max(map(len, families)) == 2
    assert 0.5 * 64 * MIB < most < 1.5 * 64 * MIB
    assert report["bytes"] == report["operations"] * 64 * MIB > 0


@pytest.mark.slow
def test_munmap_fills_its_memory_and_gives_it_back_at_once() -> None:
    with running("munmap", "--bytes", "128MiB", "--cpus", a_cpu()) as load:
        wait_until(lambda: resident_bytes(load.pid) > 0.7 * 128 * MIB, "its memory is filled")
        wait_until(lambda: resident_bytes(load.pid) < 0.3 * 128 * MIB, "its memory is given back")
        wait_until(lambda: resident_bytes(load.pid) > 0.7 * 128 * MIB, "it is filled again")
        report = load.end()
    assert report["operations"] >= 1


def test_thp_got_the_huge_pages_that_it_says() -> None:
    """The kernel counts the same ones, and those of others."""
    if _vmstat("thp_fault_alloc") is None:
        skip_or_fail("this kernel has no huge pages, or does not count them")
    before = _vmstat("thp_fault_alloc"), _vmstat("thp_split_pmd")
    for duration in ("300ms", "3s", "20s"):  # where the CPU is taken, the shorter ones may split none
        options = ("--bytes", "32MiB", "--cpus", a_cpu(), "--duration", duration)
        report = report_of(to_its_end("thp", *options).stdout)
        if report["splits"]:
            break
    made, split = (
        (_vmstat(name) or 0) - (old or 0)
        for name, old in zip(("thp_fault_alloc", "thp_split_pmd"), before, strict=True)
    )
    assert 0 < report["huge_pages"] <= min(made, report["huge_pages_asked_for"])
    assert 0 < report["splits"] <= split
    assert report["collapses"] is None or report["collapses"] <= report["splits"]


def _vmstat(name: str) -> int | None:
    lines = [line.split() for line in Path("/proc/vmstat").read_text().splitlines()]
    return next((int(value) for key, value in lines if key == name), None)


@pytest.mark.slow
def test_pipe_wakes_its_receivers_and_passes_what_it_says() -> None:
    with running("pipe", "--groups", "1", "--members", "2", "--cpus", a_cpu()) as load:
        assert load.running["threads"] == 4
        files = [task / "io" for task in Path(f"/proc/{load.pid}/task").iterdir()]
        wait_until(lambda: sum(map(_received, files)) > 100_000, "messages arrive")
        moved = sum(map(_received, files))
        report = load.end()
    assert report["message_bytes"] == 100
    assert report["bytes"] == report["operations"] * 100 > 0.9 * moved


def _received(io: Path) -> int:
    return next(int(line.split()[1]) for line in io.read_text().splitlines() if line.startswith("rchar"))
