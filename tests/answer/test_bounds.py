"""A bound as people read it still bounds: it is rounded outwards, or to what promises less."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tautochrone.answer.phrasing import requirement, tail
from tautochrone.base.units import parse_duration_ns
from tautochrone.comparison import phrasing as comparison

_SLACK = 1e-6


def _read(said: str) -> float:
    """Return a share, or an increase of one, as it was said."""
    if said == "all":
        return 1.0
    number = float(re.sub(r"^1 in | times$|[ %,]", "", said))
    if said.startswith("1 in "):
        return 1 / number
    return number - 1 if said.endswith("times") else number / 100


def _nanoseconds(said: str) -> float:
    number, unit = said.split()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


@given(share=st.floats(1e-11, 1, exclude_max=True), at_most=st.booleans())
def test_a_bound_of_a_share(share: float, at_most: bool) -> None:
    found = _read(requirement.share_words(share, at_most=at_most))
    assert found >= share * (1 - _SLACK) if at_most else found <= share * (1 + _SLACK)


@given(st.floats(1e-4, 1))
def test_how_seldom_is_at_most(share: float) -> None:
    assert parse_duration_ns(tail.once_in(share, 1_000.0, up=False)) <= 1e6 / share * (1 + _SLACK)


@given(st.tuples(st.floats(1, 9e10), st.floats(1, 9e10)).map(sorted))
def test_the_ends_of_an_interval(ends: list[float]) -> None:
    low, high = map(_nanoseconds, tail.interval(*ends).split(" to "))
    assert low <= ends[0] * (1 + _SLACK)
    assert high >= ends[1] * (1 - _SLACK)


@given(increase=st.floats(-0.99, 1_000), up=st.booleans())
def test_a_bound_of_an_increase(increase: float, up: bool) -> None:
    found = _read(comparison.share(increase, up=up))
    assert found >= increase - _SLACK if up else found <= increase + _SLACK
