"""What docs/comparing.md says of the paper's test is what that test does."""

import pytest

import difference_examples as examples
from where import ROOT

DOCS = " ".join((ROOT / "docs" / "comparing.md").read_text().split())


def test_what_is_better_is_rejected_and_a_stall_is_not_seen() -> None:
    identical, stalled = examples.identical(), examples.stalled()
    better, superior = examples.quicker()
    assert not identical.rejected
    assert not stalled.rejected
    assert stalled.statistic == identical.statistic
    assert stalled.beyond_ns > 4_900_000
    assert f"has a statistic of **{identical.statistic:.1f}** and is not rejected" in DOCS
    assert f"the statistic is **{stalled.statistic:.1f}** again" in DOCS
    assert better.rejected
    assert f"a statistic of **{better.statistic:.1f}** and is rejected" in DOCS
    assert f"in only {superior:.0%}".replace("%", " %") in DOCS
    assert (
        f"fills {identical.dof} bins, so that statistics above {identical.critical:.2f} are rejected" in DOCS
    )


@pytest.mark.parametrize("samples", [10_000, 100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_the_statistic_grows_as_the_table_says(samples: int) -> None:
    raw, scaled = examples.growing(samples)
    assert f"| {samples:,} | {raw:.0f} | {scaled:.1f} |" in DOCS


@pytest.mark.slow
@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_equal_runs_are_rejected_as_often_as_the_page_says(alike: float) -> None:
    assert f"**{100 * examples.rejected_of_identical(alike):.0f} %**" in DOCS
