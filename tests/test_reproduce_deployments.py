"""`tauto reproduce delgado2020`: its deployments change the machine, and leave it as it was."""

from pathlib import Path

import pytest

from real import needs_priorities, skip_or_fail, two_cpus
from tautochrone.target.local import LocalTarget
from test_reproduce_command import reproduced, see_whole


@pytest.mark.slow
def test_every_table_and_figure_of_the_deployments_paper_has_its_counterpart(tmp_path: Path) -> None:
    needs_priorities("the papers")
    two_cpus()
    if LocalTarget().in_force() is not None:
        skip_or_fail("a deployment is in force")
    store, out = tmp_path / "store", tmp_path / "out"

    see_whole("delgado2020", out, reproduced("delgado2020", store, out), store)

    assert LocalTarget().in_force() is None
