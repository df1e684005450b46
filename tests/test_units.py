"""Durations as people write them, exact in nanoseconds."""

import pytest

from tautochrone.errors import UsageError
from tautochrone.units import format_duration, format_rate, format_us, parse_duration_ns


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("250us", 250_000),
        ("1.5 ms", 1_500_000),
        ("10s", 10**10),
        ("7ns", 7),
        ("2min", 12 * 10**10),
        ("0.1us", 100),
    ],
)
def test_durations_are_read_exactly(text: str, ns: int) -> None:
    assert parse_duration_ns(text) == ns


@pytest.mark.parametrize("text", ["", "5", "ms", "1e3us", "-1ms", "1.5ns", "five s", "1 hour"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_duration_ns(text)
    assert refusal.value.exit_code == 2
    assert refusal.value.advice


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1 us"),
        (12_345, "12.35 us"),
        (999_960, "1 ms"),
        (2 * 10**9, "2 s"),
        (-1500, "-1.5 us"),
    ],
)
def test_durations_are_shown_in_the_unit_of_their_size(ns: int, text: str) -> None:
    assert format_duration(ns) == text


def test_rates_and_columns() -> None:
    assert format_rate(1000) == "1 kHz"
    assert format_rate(100) == "100 Hz"
    assert format_rate(2500) == "2.5 kHz"
    assert format_us(1_234_567) == "1,234.567"
