"""What the probe's tire refuses: one clear message with what to do, before any output is there."""

import os
import re
import resource
import subprocess
from pathlib import Path

import pytest

from real import PATIENCE_S, is_one_refusal, needs_priorities, policy_options, probe
from tautochrone.target.local import find_probe

FAILED, USAGE, NOT_PERMITTED = 1, 2, 3
NOBODY = 65534

REFUSALS = [
    (["--nodes", "10"], ["--nodes 10", "multiple of 4"]),
    (["--nodes", "0"], ["--nodes 0", "at least 4"]),
    (["--nodes", "8", "--threads", "9"], ["--threads 9", "8 masses"]),
    (["--threads", "0"], ["--threads 0", "at least 1"]),
    (["--solver", "single", "--threads", "2"], ["--solver single", "one thread"]),
    (["--stiffness", "1000000"], ["--stiffness 1000000", "10000.000 us", "stable", "below"]),
    (["--stiffness", "0"], ["--stiffness 0", "above 0"]),
    (["--count", "5", "--duration", "1s"], ["--count and --duration contradict"]),
    (["--count", "0"], ["--count is 0"]),
    (["--duration", "1ms"], ["shorter than one step"]),
    (["--step", "0s"], ["--step must be more than 0"]),
    (["--step", "1ns", "--count", "5", "--overload"], ["--step 1 ns", "clock resolves"]),
    (["--step", "9999ns", "--nodes", "8"], ["--step must be 10us or more", "--overload"]),
    (["--step", "10us", "--nodes", "400000"], ["400000 masses takes at least", "--overload"]),
    (["--pace", "real-fast", "--warmup", "5"], ["--warmup belongs to --pace real-time"]),
    (["--pace", "real-fast", "--overrun", "stop"], ["--overrun belongs to --pace real-time"]),
    (["--pace", "real-fast", "--overload"], ["--overload belongs to --pace real-time"]),
    (["--pace", "real-fast", "--record", "histogram"], ["--record histogram", "--record raw"]),
    (["--spin", "10s"], ["--spin", "--budget"]),
    (["--duration", "292y"], ["not a duration"]),
    (["--count", "9000000000000000"], ["the run would end after the clock does"]),
]  # fmt: skip


@pytest.mark.parametrize(("options", "words"), REFUSALS, ids=[" ".join(options) for options, _ in REFUSALS])
def test_is_refused(options: list[str], words: list[str], tmp_path: Path) -> None:
    out = tmp_path / "stream"
    ended = probe("tire", *policy_options(), "--out", str(out), *options)
    assert ended.returncode == USAGE, ended.stderr
    assert is_one_refusal(ended.stderr)
    for word in words:
        assert word in ended.stderr
    assert not out.exists()


@pytest.mark.parametrize(("cpus", "words"), [("0", "2 threads on 1 CPU:"), ("any", "--cpus any:")])
def test_spinning_on_a_shared_cpu_is_refused_with_real_time_priority(cpus: str, words: str) -> None:
    needs_priorities("a thread that spins above others")
    options = ("--threads", "2", "--cpus", cpus, "--spin", "50us", "--policy", "fifo")
    ended = probe("tire", *options)
    assert ended.returncode == USAGE
    assert words in ended.stderr


def limited(
    *options: str, limit: int, value: int, user: int | None = None
) -> subprocess.CompletedProcess[str]:
    """The tire as far as a limit on the process, or on its user, lets it come."""

    def before() -> None:
        resource.setrlimit(limit, (value, value))
        if user is not None:
            os.setuid(user)

    return subprocess.run(
        [str(find_probe()), "tire", *options],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        preexec_fn=before,
    )


@pytest.mark.slow
def test_masses_that_no_memory_holds_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "stream"
    options = (*policy_options(), "--nodes", "10000000", "--out", str(out))
    ended = limited(*options, limit=resource.RLIMIT_AS, value=300_000_000)
    assert ended.returncode in (USAGE, NOT_PERMITTED)
    assert "no memory for 10000000 masses" in ended.stderr
    assert "fewer masses" in ended.stderr
    assert not out.exists()


def test_where_some_of_the_threads_can_t_be_made_those_that_were_go_home() -> None:
    if os.geteuid() != 0:
        pytest.skip("a limit on threads needs a user without other processes; only root becomes one")
    options = ("--policy", "other", "--no-memory-lock", "--threads", "30", "--count", "5")
    ended = limited(*options, limit=resource.RLIMIT_NPROC, value=8, user=NOBODY)
    assert ended.returncode == FAILED
    assert re.search(r"thread [1-9] of 30 can't be started", ended.stderr)
