"""The papers whose runs need the machine for themselves: deployments change it, urgent tires fill it."""

from pathlib import Path

import pytest

from real import needs_priorities, skip_or_fail, two_cpus
from reproduced import reproduced
from tautochrone.target.open import open_target

pytestmark = pytest.mark.alone


def in_force() -> object:
    with open_target("local") as target:  # closed again, so that no keeper stays
        return target.in_force()


@pytest.mark.slow
def test_the_deployments_paper_has_its_counterpart_and_leaves_the_machine_as_it_was(tmp_path: Path) -> None:
    needs_priorities("the papers")
    two_cpus()
    if in_force() is not None:
        skip_or_fail("a deployment is in force")

    reproduced("delgado2020", tmp_path)

    assert in_force() is None


@pytest.mark.slow
def test_the_paper_of_the_tire_has_its_counterpart(tmp_path: Path) -> None:
    needs_priorities("the papers")

    reproduced("garre2014", tmp_path)
