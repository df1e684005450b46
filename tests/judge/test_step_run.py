"""What was counted of the steps of a user's code."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

import streams
from report_runs import FACTS
from tautochrone.judge.step_run import StepCount, step_counts
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.step.answer import sentences


def test_the_step_with_most_is_named_by_its_place_among_all_steps_also_where_some_are_not_known() -> None:
    counted = np.array([UNKNOWN, 1, UNKNOWN, 7, 0])
    table = SimpleNamespace(columns=[SimpleNamespace(name="cycles")])
    header = SimpleNamespace(tables=[table])
    run = SimpleNamespace(
        is_histogram=False,
        manifest=SimpleNamespace(header=header),
        count=lambda: len(counted),
        column=lambda name, source: counted,
    )
    assert step_counts(cast("StoredRun", run)) == [StepCount("cycles", 8, 2, 7, 3, 1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("instances", [1, 2])
def test_the_answer_of_a_histogram_is_made_of_its_bins(tmp_path: Path, instances: int) -> None:
    measure = {**streams.RESPONSE["measures"][0], "name": "execution_ns", "table": "extremes"}
    steps = np.full(1_000, 70_001)
    with Store(tmp_path).create("step", "steps", {"load": "idle"}, FACTS) as writer:
        writer.append(
            streams.make_stream(
                [steps] * instances,
                experiment="step",
                histogram=True,
                parameters={"code": "lib.so:step"},
                header_extra={"measures": [measure]},
            )
        )
        run = writer.seal()
    (said,) = sentences(run)
    assert "holds 1 kHz without a load: a step takes 70 us, 70 us at most." in said
