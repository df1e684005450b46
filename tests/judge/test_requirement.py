"""Requirements as people write them."""

import re

import pytest

from tautochrone.base.errors import UsageError
from tautochrone.experiments.requirement import MEASURES, Requirement, parse
from where import ROOT


def meant(text: str) -> tuple[object, ...]:
    one = parse(text)
    return one.kind, one.measure, one.q, one.limit_ns, one.strict, one.confidence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("latency p99.999 < 500us", ("quantile", "latency_ns", 0.99999, 500_000, True, 0.95)),
        ("latency_ns p99.9<=0.8ms at 99%", ("quantile", "latency_ns", 0.999, 800_000, False, 0.99)),
        (
            "  response   median < 1 ms with 90 % confidence ",
            ("quantile", "response_ns", 0.5, 10**6, True, 0.9),
        ),
        ("Interrupt-Latency max < 100us", ("max", "interrupt_latency_ns", None, 100_000, True, 0.95)),
        ("latency mean < 20us", ("mean", "latency_ns", None, 20_000, True, 0.95)),
        ("latency above 100us < 1 in 1e6", ("above", "latency_ns", None, 100_000, True, 0.95)),
        ("latency > 100us <= 1 per hour", ("above", "latency_ns", None, 100_000, False, 0.95)),
        ("misses beyond 800us <= 1 per hour", ("misses", "", None, 800_000, False, 0.95)),
        ("misses < 1 per hour", ("misses", "", None, None, True, 0.95)),
        ("misses = 0", ("misses", "", None, None, False, 0.95)),
    ],
)
def test_what_is_required_is_read(text: str, expected: tuple[object, ...]) -> None:
    assert meant(text) == expected
    assert parse(text).text == text


@pytest.mark.parametrize(
    ("text", "source", "rest"),
    [
        ("response of C0 p99.9 < 2ms", "C0", "response p99.9 < 2ms"),
        ("misses of 'C*' = 0", "C*", "misses = 0"),
        ("misses of C0 beyond 1ms <= 1 per hour", "C0", "misses beyond 1ms <= 1 per hour"),
        ('call of "two-way octet" max < 1ms', "two-way octet", "call max < 1ms"),
        ("latency of cpu1 above 100us < 1 in 1e6", "cpu1", "latency above 100us < 1 in 1e6"),
    ],
)
def test_one_source_may_be_meant(text: str, source: str, rest: str) -> None:
    assert parse(text).source == source
    assert parse(text).text == text
    assert meant(text) == meant(rest)
    assert parse(rest).source == ""


def test_a_name_of_sources_means_itself_but_for_its_stars() -> None:
    assert parse("misses of 'C*' = 0").is_about("C12")
    assert parse("misses of c0 = 0").is_about("C0")
    assert not parse("misses of C0 = 0").is_about("C01")
    assert not parse("latency of 'a.b[1]' max < 1ms").is_about("axb1")
    assert parse("latency of 'a.b[1]' max < 1ms").is_about("a.b[1]")
    assert parse("misses = 0").is_about("anything")


def test_how_often_may_be_said_of_time_and_of_cycles() -> None:
    def share(text: str) -> float | None:
        often = parse(text).frequency
        assert often is not None
        return often.share(1000)

    assert share("misses < 1 per hour") == pytest.approx(1 / 3.6e6)
    assert share("misses <= 1 in 1e6") == pytest.approx(1e-6)
    assert share("misses = 0") == 0


def test_a_confidence_that_is_written_goes_before_the_usual_one() -> None:
    assert parse("misses < 1 per hour", 0.9).confidence == 0.9
    assert parse("misses < 1 per hour at 99 %", 0.9).confidence == 0.99


@pytest.mark.parametrize(
    ("text", "wrong", "advice"),
    [
        ("latncy max < 3us", "no experiment measures 'latncy'", "Did you mean 'latency'?"),
        ("latency < 3us", "does not say what of latency", "p99.999"),
        ("latency", "no comparison", "misses = 0"),
        ("< 3us", "no comparison", "misses = 0"),
        ("", "no comparison", "misses = 0"),
        ("latency p99 > 500us", "not met by being late", "latency p99.999 < 500us"),
        ("latency p99 = 3us", "only misses", "misses = 0"),
        ("latency p100 < 3us", "largest of all values", "99.999"),
        ("latency p99 < 3 lightyears", "not a duration", "250us"),
        ("latency p99 < 3us at 100%", "not a confidence", "95%"),
        ("misses < 0", "nothing is fewer than no miss", "misses = 0"),
        ("misses = 3 in 5", "no less", "<="),
        ("misses p99 < 3us", "says nothing of misses", "misses = 0"),
        ("latency of C0 < 3us", "does not say what of latency", "p99.999"),
        ("latency of 'two way p99 < 3us", "does not name one number of a run", "misses = 0"),
        ("misses < often", "how often", "1 per hour"),
        ("misses < 0.1", "how often", "0.1% ('1 in 1000') or 10% ('1 in 10')"),
        ("latency above 5us < 0", "nothing is fewer than none", "Write <= 0."),
        ("latency above 5us <= 1e-6", "how often", "0.0001% ('1 in 1000000')"),
        ("latency 0.1 < 3us", "could be a fraction or per cent", "p0.1, or p10"),
    ],
)
def test_what_can_t_be_read_is_refused_with_its_text_and_what_may_stand_there(
    text: str, wrong: str, advice: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(text)
    assert wrong in str(refusal.value)
    assert str(refusal.value).startswith(f"requirement '{text}'")
    assert advice in refusal.value.advice


def test_every_measure_of_the_probe_can_be_required_and_no_other() -> None:
    house = ROOT
    files = [
        path
        for folder in ("probe", "middleware", "step")
        for path in (house / folder).rglob("*.c")
        if path.parent.name != "test"
    ]
    # {"latency_ns", "scheduling latency", 0, 1}: a name, a meaning, and two instants, which no column has.
    described = re.compile(r'\{"([a-z_]+_ns)", "[^"]*",\s[\w +]+,\s+[\w +]+\}')
    found = {
        name
        for path in files
        for name in described.findall(path.read_text(encoding="utf-8"))
        if "NULL}" not in name
    }
    columns = {
        name
        for path in files
        for name in re.findall(r'\{"([a-z_]+_ns)", "[^"]*", NULL\}', path.read_text(encoding="utf-8"))
    }
    assert found - columns == set(MEASURES)
    assert isinstance(parse("latency max < 1us"), Requirement)
