"""The sentence of a run of the user's own code: how rare a long step is, where the samples support it."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from streams import make_stream
from tautochrone.base.units import parse_duration_ns
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.step.answer import sentences

_MEASURE = {"table": "samples", "from": "scheduled_ns", "to": "wake_ns"}
MEDIAN_NS, SPREAD = 200_000, 0.06
_RARE = re.compile(
    r"; 1 in (?P<once>[\d,]+) is expected to take longer than (?P<level>\S+ \S+) "
    r"\(95 %: (?P<low>\S+)(?P<unit> \S+)? to (?P<high>\S+ \S+)\)"
)


def made(folder: Path, steps: int, first_ns: int = MEDIAN_NS) -> StoredRun:
    """A run whose steps take log-normal times, each by itself, but for the first."""
    times = np.exp(np.random.default_rng(7).normal(math.log(MEDIAN_NS), SPREAD, steps)).astype(np.int64)
    times[0] = first_ns
    names = ("response_ns", "execution_ns")
    measures = [{**_MEASURE, "name": name, "meaning": name} for name in names]
    stream = make_stream([times], experiment="step", rows_per_frame=4096, header_extra={"measures": measures})
    with Store(folder).create("step", "made up", conditions={"load": "cpu+memory"}) as writer:
        writer.append(stream)
        return writer.seal()


@pytest.mark.slow
def test_a_rare_step_is_told_with_its_interval_and_the_law_lies_in_it(tmp_path: Path) -> None:
    (said,) = sentences(made(tmp_path, 200_000))
    assert said.startswith("step on CPU 0 holds 1 kHz beside the load cpu+memory: a step takes 2")
    found = _RARE.search(said)
    assert found is not None, said
    assert found["once"] == "1,000,000"
    unit = found["unit"] or found["high"].split()[1]
    low, level, high = map(parse_duration_ns, (f"{found['low']} {unit}", found["level"], found["high"]))
    of_the_law = MEDIAN_NS * math.exp(SPREAD * norm.isf(1e-6))
    assert low <= level <= high
    assert low <= of_the_law <= high


def test_too_few_steps_tell_nothing_of_rare_ones(tmp_path: Path) -> None:
    (said,) = sentences(made(tmp_path, 60))
    assert "1 in" not in said
    assert said.endswith(" at most.")


def test_one_missed_step_is_told_as_one(tmp_path: Path) -> None:
    (said,) = sentences(made(tmp_path, 60, first_ns=1_500_000))
    assert "; 1 of 61 steps was missed; 1 ended at the next release or later" in said
