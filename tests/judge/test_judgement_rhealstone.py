"""The Rhealstone figure, against values worked out by hand."""

import shlex

import pytest

from tautochrone.base.errors import UsageError
from tautochrone.judge.rhealstone import COMPONENTS, PUBLISHED, rate, read_weights
from tautochrone.run.conditions import RunConditions
from tautochrone.run.manifest import MEASURING, SCHEMA, Manifest, upgraded
from tautochrone.run.records import Header

MICROSECONDS = dict(zip(COMPONENTS, (2e3, 3e3, 1e3, 4e3, 8e3, 6e3), strict=True))


def test_the_objective_figure_is_one_over_the_mean_time() -> None:
    # 2 + 3 + 1 + 4 + 8 + 6 = 24 us, mean 4 us
    found = rate(MICROSECONDS)
    assert found.per_second == pytest.approx(250_000)
    assert found.partial_per_second is None
    assert found.measured == COMPONENTS
    assert found.missing == ()


def test_weights_count_each_component_as_often_as_the_application_uses_it() -> None:
    # (5x2 + 0x3 + 2x1 + 1x4 + 0x8 + 2x6) / 10 = 28 / 10 us
    found = rate(MICROSECONDS, (5, 0, 2, 1, 0, 2))
    assert found.per_second == pytest.approx(1e6 / 2.8)
    assert found.measured == ("task switch", "interrupt latency", "semaphore shuffle", "message latency")


def test_only_the_proportion_of_the_weights_matters() -> None:
    assert rate(MICROSECONDS, (10, 0, 4, 2, 0, 4)).per_second == pytest.approx(
        rate(MICROSECONDS, (5, 0, 2, 1, 0, 2)).per_second
    )


def test_a_missing_component_leaves_no_figure_but_one_that_says_of_how_many() -> None:
    # without the interrupt latency: 23 us over five
    found = rate(MICROSECONDS | {"interrupt latency": None})
    assert found.per_second is None
    assert found.partial_per_second == pytest.approx(5e6 / 23)
    assert found.missing == ("interrupt latency",)
    assert len(found.measured) == 5


def test_a_missing_component_without_weight_is_not_missed() -> None:
    # 2 + 3 + 4 + 8 + 6 = 23 us over five
    found = rate(MICROSECONDS | {"interrupt latency": None}, (1, 1, 0, 1, 1, 1))
    assert found.per_second == pytest.approx(5e6 / 23)
    assert found.missing == ()


def test_nothing_measured_is_no_figure() -> None:
    found = rate({})
    assert found.per_second is None
    assert found.partial_per_second is None
    assert found.missing == COMPONENTS


def test_a_faster_component_never_lowers_the_figure() -> None:
    whole = rate(MICROSECONDS).per_second
    assert whole is not None
    for name in COMPONENTS:
        faster = rate(MICROSECONDS | {name: MICROSECONDS[name] / 2}).per_second
        assert faster is not None
        assert faster > whole


@pytest.mark.parametrize("text", ["", "1,2,3", "1,1,1,1,1,1,1", "1,1,1,1,1,-1", "a,1,1,1,1,1", "0,0,0,0,0,0",
                                  "inf,1,1,1,1,1", "nan,1,1,1,1,1"])  # fmt: skip
def test_weights_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not six weights"):
        read_weights(text)


def test_weights_are_read_in_the_order_of_the_components() -> None:
    assert read_weights("5,0,2,1.5,0,2") == (5.0, 0.0, 2.0, 1.5, 0.0, 2.0)


WEIGHTED = ["tauto", "probe", "rhealstone", "--weights", "1, 1, 1, 1, 1, 2", "--title", "a b"]


def test_an_option_is_found_in_the_command_that_measured() -> None:
    def made(command: str | list[str]) -> Manifest:
        told = upgraded(
            {"schema": 1 if isinstance(command, str) else SCHEMA, "conditions": {"command": command}}
        )
        return Manifest(
            SCHEMA, "an-id", MEASURING, "2026-01-01T00:00:00+00:00", "a run", "rhealstone",
            conditions=RunConditions.of(told["conditions"]), parameters={}, facts={}, header=Header(),
        )  # fmt: skip

    # Runs of schema 1 have one string, without the quotes that were typed.
    for command in (WEIGHTED, " ".join(WEIGHTED)):
        assert made(command).asked("--weights") == "1, 1, 1, 1, 1, 2"
        assert made(command).asked("--title") == "a b"
        assert made(command).asked("--count") is None
    assert shlex.split(made(WEIGHTED).typed) == WEIGHTED
    assert made("tauto probe rhealstone").typed == "tauto probe rhealstone"
    equals = "--weights=2,1,1,1,1,1 --count 5"
    for command in (equals, equals.split()):
        assert made(command).asked("--weights") == "2,1,1,1,1,1"
        assert made(command).asked("--count") == "5"
    for command in ("tauto --weights", ["tauto", "--weights"], [], ["--", "--weights", "1"]):
        assert made(command).asked("--weights") is None
    twice = made(["tauto", "--weights", "1,1,1,1,1,1", "--weights=2,1,1,1,1,1", "--count", "5"])
    assert (twice.asked("--weights"), twice.asked("--count")) == ("2,1,1,1,1,1", "5")
    watched = made(["tauto", "watch", "--title", "mine", "--", "./controller", "--title", "its", "--count=3"])
    assert (watched.asked("--title"), watched.asked("--count")) == ("mine", None)


def test_table_1_of_garre2014_is_as_printed() -> None:
    printed = {one.system.split()[0]: tuple(one.values_ns.values()) for one in PUBLISHED}
    assert printed == {
        "RTAI": (12060, 14855, 12986),
        "Xenomai": (1422, 2922, 1282),
        "RT-Preempt": (27085, 15986, 19776),
        "Linux": (13200, 1_000_000, 12453),
    }
