"""A wall clock that jumps in the middle of a run: the monotonic clock decides, so nothing shows it.

A library of our own lets each look at the wall clock jump by years; a guest of the virtual lab, whose clock
is set for real, is in `lab/test_lab_clock_jump.py`.
"""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from preload import environment_with
from real import PATIENCE_S, policy_options, sealed
from tautochrone.target.local import find_probe

pytestmark = pytest.mark.slow

JUMPING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>

int clock_gettime(clockid_t which, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    static atomic_int looks;
    if (real == NULL)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const int failed = real(which, now);
    if (failed == 0 && which == CLOCK_REALTIME) {
        const int look = looks++;
        now->tv_sec += (look % 2 == 0 ? -1 : 1) * 86400L * 365 * (1 + look % 7);
    }
    return failed;
}
"""
_MINUTE_NS = 60 * 10**9
EXPERIMENTS = (
    ("cyclic", "--period", "1ms", "--count", "200"),
    ("cyclic", "--period", "1ms", "--count", "200", "--record", "histogram"),
    ("period", "--count", "20", "--periods", "10ms"),
    ("response", "--count", "5", "--repetitions", "3", "--period", "2ms"),
    ("switch", "--count", "50"),
    ("rhealstone", "--count", "20"),
    ("inversion", "--count", "3"),
    ("tire", "--nodes", "48", "--threads", "1", "--count", "50"),
)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=" ".join)
def test_a_run_is_whole_whatever_the_wall_clock_says(tmp_path: Path, experiment: tuple[str, ...]) -> None:
    ended = subprocess.run(
        [str(find_probe()), *experiment, *policy_options(), "--out", "-"],
        env=environment_with(JUMPING, tmp_path),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()
    run = sealed(ended.stdout, tmp_path / "store")
    assert run.manifest.ended == "complete"
    for book in run.manifest.books:
        assert book.problems() == []
        assert book.recorded > 0
    values = np.concatenate(run.histogram()[:2]) if run.is_histogram else run.values()
    assert np.abs(values).max() < _MINUTE_NS  # where the wall clock jumps by years
    told = datetime.fromtimestamp(run.manifest.header.epoch.realtime_ns / 1e9, UTC)
    assert abs(told - datetime.now(UTC)) > timedelta(days=300)  # it did jump
