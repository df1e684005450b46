"""What a response that was really measured gives of koh2013: a number for each repetition within a run."""

import subprocess
from pathlib import Path

import pytest

from real import PATIENCE_S, policy_options, sealed
from reproductions import Made, measured
from tautochrone.papers.measured import MeasuredSystem, MeasuredValue, Measurements, QueryPlace
from tautochrone.papers.quantities import evaluate
from tautochrone.papers.quantities.releases import each_repetition
from tautochrone.papers.studies import read
from tautochrone.run.folder import StoredRun
from tautochrone.target.local import find_probe


def responses(folder: Path) -> StoredRun:
    """Three responses in each of four repetitions, none of them missed, for which there are a few tries."""
    for attempt in range(20):
        ended = subprocess.run(
            [
                str(find_probe()), "response", "--mechanisms", "semaphore,fifo", "--period", "1ms", "--place",
                "same", "--waiter", "same", "--repetitions", "4", "--count", "3", *policy_options(),
                "--out", "-",
            ],
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        run = sealed(ended.stdout, folder / str(attempt))
        if run.count("koh_semaphore_ns", 0) == 12:
            break
    return run


def test_a_response_has_a_number_for_each_repetition_of_a_run(tmp_path: Path) -> None:
    run = responses(tmp_path)
    query = read("koh2013").tables[0].ours[3][1]
    assert query
    point = measured(tmp_path / "made", [Made(query.of)]).points
    samples = Measurements((MeasuredSystem("local"),), point, {next(iter(point)): [run]})
    place = QueryPlace(query, "local", samples)
    found = each_repetition(place)
    assert len(found) == 4 if isinstance(found, tuple) else pytest.fail(found.why)
    mean = evaluate(place)
    assert isinstance(mean, MeasuredValue)
    assert (mean.samples, mean.repetitions) == (12, 4)
    assert mean.value == pytest.approx(run.values("koh_semaphore_ns", 0).mean())
