"""The outputs of the user's own code in a report: what an unstable controller gives can be drawn, too."""

import json
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from tautochrone.run.folder import StoredRun
from tautochrone.step.outputs import figure_of


def words_of(values: list[float]) -> str:
    """Return what is said of an output with these values, after seeing that a browser can read its chart."""
    header = SimpleNamespace(
        parameters={},
        by_number={0: SimpleNamespace(start_ns=0)},
        number=lambda _: 0,
        schedule=SimpleNamespace(period_ns=1_000_000),
    )
    run = SimpleNamespace(
        names_of_reals=["out.y"],
        manifest=SimpleNamespace(header=header, books=[0]),
        column=lambda *_: np.arange(len(values)) * 1_000_000,
        reals=lambda *_: np.array(values),
    )
    (panel,) = figure_of(cast("StoredRun", run), "", 0, "x").panels
    for layer in panel.chart.layers:
        json.dumps([layer.values, layer.encoding], default=str, allow_nan=False)
    return panel.chart.description


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1.0, 2.0, 4.0], "y: 1 to 4 in 3 steps; 4 after the last one."),
        (
            [1.0, -2.0, 1.7e308, -1.7e308, float("inf"), float("nan")],
            "y: -2 to 1 in 2 steps; nan after the last one. 4 steps without a number that can be drawn.",
        ),
        ([float("nan")], "y: no value is a number that can be drawn."),
    ],
)
def test_what_is_no_number_that_can_be_drawn_is_left_out_and_told(values: list[float], said: str) -> None:
    assert words_of(values) == said
