"""Durations as people write them, exact in nanoseconds."""

import math
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautochrone.base.errors import UsageError
from tautochrone.base.units import (
    format_duration,
    format_limit,
    format_part,
    format_rate,
    format_ratio,
    format_span,
    format_us,
    parse_confidence,
    parse_duration_ns,
    parse_frequency,
    parse_percent,
    parse_period_ns,
    parse_quantile,
    parse_rate_hz,
    parse_share,
    parse_size_bytes,
    rounded,
)
from where import ROOT

_TABLE = ROOT / "probe" / "test" / "quantities.txt"
"""The probe's unit tests read the same table."""
_READERS: dict[str, Callable[[str], float]] = {
    "duration": parse_duration_ns,
    "period": parse_period_ns,
    "rate": parse_rate_hz,
    "size": parse_size_bytes,
    "share": lambda text: round(parse_share(text) * 10**12),
}


def _cases() -> list[tuple[str, str, str]]:
    lines = _TABLE.read_text(encoding="utf-8").split("\n")
    cut = (line.partition(" |") for line in lines if line and not line.startswith("#"))
    return [(kind, *rest.rpartition("| ")[::2]) for kind, _, rest in cut]


@pytest.mark.parametrize(("kind", "text", "wanted"), _cases())
def test_the_table_of_the_probe_is_read_alike(kind: str, text: str, wanted: str) -> None:
    if wanted != "refused":
        assert _READERS[kind](text) == (float(wanted) if "." in wanted else int(wanted))
        return
    with pytest.raises(UsageError) as refusal:
        _READERS[kind](text)
    assert refusal.value.exit_code == 2
    assert refusal.value.advice


@pytest.mark.slow
@pytest.mark.parametrize("parse", [*_READERS.values(), parse_frequency, parse_confidence, parse_quantile])
@given(text=st.text("0159.,_eE+-%/ \t\u00a0\u0661 hinmsukHzBKMGipérdox", max_size=30))
def test_any_text_is_read_or_refused(parse: Callable[[str], object], text: str) -> None:
    for one in (text, "9" * 5000 + text, "0." + "0" * 5000 + text):
        with suppress(UsageError):
            parse(one)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1 us"),
        (12_345, "12.35 us"),
        (999_960, "1 ms"),
        (999_600, "999.6 us"),
        (2 * 10**9, "2 s"),
        (-1500, "-1.5 us"),
    ],
)
def test_durations_are_shown_in_the_unit_of_their_size(ns: int, text: str) -> None:
    assert format_duration(ns) == text


@pytest.mark.parametrize(
    "ns", [0, 7, 999, 1_000, 999_999, 1_000_001, 1_000_002, 10**9, 10**9 + 1, 3_600 * 10**9]
)
def test_a_limit_is_shown_to_the_nanosecond(ns: int) -> None:
    assert parse_duration_ns(format_limit(ns)) == ns


def test_rates_and_columns() -> None:
    assert format_rate(1000) == "1 kHz"
    assert format_rate(100) == "100 Hz"
    assert format_rate(2500) == "2.5 kHz"
    assert [format_ratio(one, 2) for one in (3.74, 150.2, 18_400)] == ["3.7", "150", "18,000"]
    assert format_us(1_234_567) == "1,234.567"


@pytest.mark.parametrize("parse", [parse_frequency, parse_share])
def test_a_number_alone_that_could_be_per_cent_or_a_fraction_is_refused(
    parse: Callable[[str], object],
) -> None:
    with pytest.raises(UsageError) as refusal:
        parse("0.1")
    assert "0.1% ('1 in 1000')" in refusal.value.advice
    assert "10% ('1 in 10')" in refusal.value.advice
    for text in ("0.1%", "1 in 1000", "10%", "1 in 10", "0"):
        parse(text)
    for text in ("1e-6", "0.999", "1", "5", "1.0"):
        with pytest.raises(UsageError):
            parse(text)


def test_an_allowance_in_per_cent_may_be_more_than_all() -> None:
    assert parse_percent("150%") == 1.5
    assert parse_percent("0.1 %") == 0.001
    for text in ("0.1", "150", "-5%", ""):
        with pytest.raises(UsageError):
            parse_percent(text)


def test_a_confidence_is_at_least_a_half_and_never_certain() -> None:
    assert [parse_confidence(text) for text in ("95", "95%", "0.95", "99.9 %")] == [0.95, 0.95, 0.95, 0.999]
    for text in ("5", "100", "0.05", "1", "high"):
        with pytest.raises(UsageError, match="confidence"):
            parse_confidence(text)


@pytest.mark.parametrize(
    ("text", "q"),
    [
        ("p99.999", 0.99999),
        ("99.999", 0.99999),
        ("0.99999", 0.99999),
        ("P50", 0.5),
        ("median", 0.5),
        ("99%", 0.99),
    ],
)
def test_quantiles_are_read_in_each_usual_way(text: str, q: float) -> None:
    assert parse_quantile(text) == q


def test_a_maximum_is_no_quantile_and_that_is_said() -> None:
    for text in ("p100", "max", "100%"):
        with pytest.raises(UsageError, match="largest of all"):
            parse_quantile(text)
    for text in ("0.1", "0.49"):
        with pytest.raises(UsageError, match="could be a fraction or per cent"):
            parse_quantile(text)
    assert parse_quantile("p0.1") == 0.001
    for text in ("0", "1", "p0", "p101", "worst", "p"):
        with pytest.raises(UsageError, match="not a quantile"):
            parse_quantile(text)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("1 per hour", 1 / 3.6e6),
        ("1/h", 1 / 3.6e6),
        ("1 an hour", 1 / 3.6e6),
        ("2 per day", 2 / 86.4e6),
        ("1 per 10 min", 1 / 6e5),
        ("1 in 1e6", 1e-6),
        ("3 of 1,000,000", 3e-6),
        ("1 per 1000000", 1e-6),
        ("0.01%", 1e-4),
        ("1 per 100ms", 1e-2),
        ("0.5 per day", 0.5 / 86.4e6),
        ("once a week", 1 / 604.8e6),
        ("0", 0),
        ("none", 0),
    ],
)
def test_how_often_is_a_share_of_the_cycles_at_1_khz(text: str, share: float) -> None:
    assert parse_frequency(text).share(1000) == pytest.approx(share)


def test_how_often_in_time_needs_a_rate_and_in_cycles_none() -> None:
    assert parse_frequency("1 per hour").share(None) is None
    assert parse_frequency("1 in 1e6").share(None) == 1e-6


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "5",
        "99.9",
        "often",
        "1 per fortnight",
        "2 in 1",
        "1 in 0",
        "1 per 0 s",
        "-1 per h",
    ],
)
def test_what_does_not_say_how_often_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_frequency(text)
    assert "1 per hour" in refusal.value.advice


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "250 ms"),
        (59.94, "59.9 s"),
        (150, "2.5 min"),
        (11_520, "3.2 h"),
        (86_400 * 3, "3 days"),
        (86_400 * 123.4, "123 days"),
        (31_557_600 * 2.345, "2.3 years"),
        (31_557_600 * 12_345, "12,300 years"),
        (31_557_600 * 1.234e9, "1.2e9 years"),
    ],
)
def test_long_spans_are_shown_in_the_unit_people_use(seconds: float, text: str) -> None:
    assert format_span(seconds) == text


@given(value=st.floats(1e-12, 1e12) | st.floats(-1e12, -1e-12), digits=st.integers(1, 6), up=st.booleans())
def test_a_bound_is_rounded_outwards_and_by_less_than_a_digit(value: float, digits: int, up: bool) -> None:
    found, nearest = rounded(value, digits, up=up), rounded(value, digits)
    slack = 1e-8 * abs(value)
    assert found >= value - slack if up else found <= value + slack
    assert abs(found - value) <= 10.0 ** (math.floor(math.log10(abs(value))) + 1 - digits) + slack
    assert nearest in (found, rounded(value, digits, up=not up))


@pytest.mark.parametrize(
    ("share", "text"),
    [(1, "100 %"), (0.99996, "99.9 %"), (0.42, "42 %"), (1.2e-8, "0.0000012 %"), (0, "0 %")],
)
def test_a_part_is_not_shown_as_all_and_not_as_a_power_of_ten(share: float, text: str) -> None:
    assert format_part(share) == text


def test_how_long_to_measure_is_rounded_up() -> None:
    assert format_span(474.385, up=True) == "8 min"
    assert format_span(299.572, up=True) == "5 min"
    assert format_span(29.9572, up=True) == "30 s"
    assert format_span(99.96 * 86_400 * 365.25, up=True) == "100 years"
    assert format_span(3 * 3600, up=True) == "3 h"
    assert format_span(0) == "0 ns"
