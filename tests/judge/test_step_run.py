"""What was counted of the steps of a user's code."""

from types import SimpleNamespace
from typing import cast

import numpy as np

from tautochrone.judge.step_run import StepCount, step_counts
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun


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
