"""The virtual lab: real kernels boot, repeat to the bit, differ as they do, and agree with another tool."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from lab import Measured, come_out_alike, cyclictest, measure, what_repeats

pytestmark = [pytest.mark.lab, pytest.mark.slow]

STOCK, RT = "debian-stock", "debian-rt"
ARM, TWO = "debian-rt/arm64,smp=4,turn=50us", "debian-rt,smp=2,turn=50us"
"""Turns of 10 us double the host's time; that they are the usual ones is seen in `test_lab_target`."""
COUNTS = {ARM: 200, TWO: 300}
"""Releases; usually 1,000, within which processes end. Small ones end sooner."""
Measure = Callable[[str, str], Measured]


def count_of(on: str) -> int:
    return COUNTS.get(on, 1000)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measure:
    """What was measured on this kernel beside this load; measured once."""
    known: dict[tuple[str, str], Measured] = {}

    def one(on: str, load: str) -> Measured:
        if (on, load) not in known:
            known[on, load] = measure(on, load, count_of(on), tmp_path_factory.mktemp("store"))
        return known[on, load]

    return one


@pytest.mark.parametrize(
    ("on", "load", "is_rt", "cpus"),
    [(STOCK, "exit", False, "0"), (RT, "exit", True, "0"), (ARM, "idle", True, "0-3")],
)
def test_a_kernel_boots_and_is_measured_as_a_machine_is(
    on: str, load: str, is_rt: bool, cpus: str, measured: Measure
) -> None:
    run, facts = measured(on, load).run, measured(on, load).facts
    assert facts["kernel"]["release"].startswith("6.1.")
    assert facts["cpu"]["online"] == cpus
    assert facts["kernel"]["realtime"] is is_rt
    virtual = run.manifest.conditions.stored["virtual"]
    assert virtual["release"] == facts["kernel"]["release"]
    assert virtual["repeatable"] == (on != ARM)
    assert [book.released for book in run.manifest.books] == [count_of(on)] * (4 if on == ARM else 1)


@pytest.mark.parametrize(
    ("on", "load"),
    [
        (RT, "exit"),
        pytest.param(ARM, "idle", marks=pytest.mark.long),  # tauto does not promise it
        pytest.param(TWO, "exit:bytes=64MiB", marks=pytest.mark.long),  # `test_lab_deployments` has two CPUs
    ],
)
def test_a_run_repeats_bit_for_bit(
    on: str, load: str, measured: Measure, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def made() -> Iterator[tuple[object, ...]]:
        yield what_repeats(measured(on, load).run)
        while True:
            yield what_repeats(measure(on, load, count_of(on), tmp_path_factory.mktemp("again")).run)

    runs = made()
    assert come_out_alike(lambda: next(runs), lambda: next(runs))


def test_rt_is_at_least_fifty_times_better_in_the_worst_case_when_processes_end(measured: Measure) -> None:
    stock, rt = (measured(on, "exit").run.values().max() for on in (STOCK, RT))
    assert stock >= 50 * rt, f"{stock} ns against {rt} ns"


@pytest.mark.parametrize(
    ("on", "load"),
    [
        (RT, "exit"),
        pytest.param(RT, "idle", marks=pytest.mark.long),
        pytest.param(STOCK, "exit", marks=pytest.mark.long),
    ],
)
def test_cyclictest_in_the_same_guest_agrees(on: str, load: str, measured: Measure) -> None:
    ours_us = measured(on, load).run.values() / 1000
    theirs = cyclictest(on, load, count_of(on))
    every_us = np.repeat(list(theirs), list(theirs.values())) + 0.5  # it cuts the fraction off
    assert abs(np.median(ours_us) - np.median(every_us)) <= 2
    # What is rare, timers that coincide, may fall into one of the two runs alone.
    assert ours_us.max() >= 0.7 * max(theirs)
