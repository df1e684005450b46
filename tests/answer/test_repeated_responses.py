"""What a response that was really measured gives of koh2013: a number for each repetition within a run."""

import subprocess
from pathlib import Path

import pytest

from real import PATIENCE_S, policy_options, sealed
from reproductions import Made, measured
from tautochrone.papers.document import read
from tautochrone.papers.measured import MeasuredSystem, MeasuredValue, Measurements
from tautochrone.papers.quantities import evaluate
from tautochrone.papers.quantities.releases import each_repetition
from tautochrone.target.local import find_probe


def test_a_response_has_a_number_for_each_repetition_of_a_run(tmp_path: Path) -> None:
    ended = subprocess.run(
        [
            str(find_probe()), "response", "--mechanisms", "semaphore,fifo", "--period", "1ms", "--place",
            "same", "--waiter", "same", "--repetitions", "4", "--count", "3", *policy_options(), "--out", "-",
        ],
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    run = sealed(ended.stdout, tmp_path)
    query = read("koh2013").tables[0].ours[3][1]
    assert query
    point = measured(tmp_path / "made", [Made(query.of)]).points
    samples = Measurements((MeasuredSystem("local"),), point, {next(iter(point)): [run]})
    found = each_repetition(query, samples, "local")
    assert isinstance(found, tuple), found.why
    assert len(found) == 4
    mean = evaluate(query, samples, "local")
    assert isinstance(mean, MeasuredValue)
    # Where the machine was busy a repetition may lack a sample: then the mean is that of the repetitions.
    assert (mean.samples, mean.repetitions) == (run.count("koh_semaphore_ns", 0), 4)
    assert mean.value == pytest.approx(sum(found) / 4)
