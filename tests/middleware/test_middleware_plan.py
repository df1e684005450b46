"""The lab's plan of middleware: grids, estimates, where both ends run, what is refused beforehand."""

from pathlib import Path
from typing import Any

import pytest

from cells import worded
from middleware_grids import grid_of, options_typed
from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.experiments import EXPERIMENTS, Options
from tautochrone.measure.campaign.refusals import refusals, see_meant
from tautochrone.measure.cell import Load
from tautochrone.measure.document.document import PlanDocument, parse
from tautochrone.measure.document.expand import PlanPoint, expand
from tautochrone.measure.document.require import requirements
from tautochrone.measure.document.stored import from_stored, to_stored
from tautochrone.measure.loads.spec import parse_load
from tautochrone.measure.placing import measured_cpus, measured_on, placed_loads
from tautochrone.middleware.question import (
    Transport,
    chosen_transports,
    left_out,
    places_of,
    see_pinned,
    transports_of,
)
from tautochrone.target.local import LocalTarget
from tautochrone.target.program import Message, ProbeAnswer

ENDS = {
    "transport": ("tcp", "omniorb"),
    "place": ("same", "different"),
    "cpus": ("0,1",),
    "patience": ("2s",),
}


def points_of(verb: str, **typed: Any) -> tuple[PlanPoint, ...]:
    return expand(grid_of(verb, typed, ENDS, {"loads": "cpu"}))


class Asked(LocalTarget):
    """Its probe answers with these; what it was asked is kept."""

    def __init__(self, *answers: ProbeAnswer) -> None:
        super().__init__(Path("/bin/true"))
        self.answers = list(answers)
        self.words: list[tuple[str, ...]] = []

    def ask(self, arguments, patience_s: float = 30.0) -> ProbeAnswer:  # type: ignore[no-untyped-def]
        self.words.append(tuple(arguments))
        return self.answers.pop(0)


def test_latency_is_a_grid_over_transports_places_and_clients() -> None:
    points = points_of("latency")
    cells = {(one.options["transport"], one.options["place"], one.options["clients"]) for one in points}
    assert len(points) == len(cells) == 2 * 2 * 7
    assert {one.load.name for one in points} == {"cpu"}
    first = points[0].prepared
    assert first.options.words[:4] == ("--transport", "tcp", "--clients", "0")
    assert {"--cpus", "--place", "--patience"} <= set(first.options.words)
    assert "transport tcp" in points[0].name
    assert "clients 0" in points[0].name


def test_a_grid_that_a_run_kept_is_the_same_plan() -> None:
    document = grid_of("latency", {"clients": "0..3", "calls": 100}, ENDS)
    again = from_stored(to_stored(document))
    assert again.grid == "middleware-latency"
    assert [point.key for point in expand(again)] == [point.key for point in expand(document)]


def test_a_whole_latency_cell_takes_400_seconds_whatever_the_clients() -> None:
    for point in points_of("latency"):
        assert point.prepared.expected_s == pytest.approx(400, rel=0.01)
    one = {**ENDS, "transport": ("tcp",), "place": ("same",)}
    (quick,) = expand(grid_of("latency", {"clients": "9", "calls": 100}, one))
    assert 10 <= quick.prepared.expected_s < 13


def test_throughput_takes_longer_with_more_rows_and_never_longer_than_their_limit() -> None:
    def seconds(**options: object) -> float:
        given: Options = {"transport": "tcp", **{k.replace("_", "-"): v for k, v in options.items()}}  # type: ignore[dict-item]
        return EXPERIMENTS["middleware-throughput"].prepare(given, Path()).expected_s

    assert seconds(types="octet") < seconds(types="octet,short") < seconds()
    assert seconds(directions="one-way") < seconds(directions="both")
    assert seconds(lengths="1") < seconds(lengths="1,1000000")
    assert seconds(types="octet", directions="two-way", count=10**9, row_limit="3s") < 5


@pytest.mark.parametrize(
    ("made", "message", "advice"),
    [
        (lambda: options_typed("latency", clients="5..1"), "--clients 5..1", "1..5"),
        (lambda: options_typed("latency", clients="many"), "--clients 'many'", "0..10"),
        (lambda: options_typed("latency", clients="0,999"), "too many clients", "255"),
        (lambda: options_typed("latency", calls=0), "--calls 0", "1 or more"),
        (lambda: options_typed("throughput", types="lnog"), "--types 'lnog'", "long"),
        (lambda: options_typed("throughput", lengths="0,4"), "0 elements", "1 or more"),
        (lambda: options_typed("throughput", types="octet,void", lengths="4"), "is a sequence", "octets"),
        (lambda: options_typed("throughput", directions="up"), "--directions 'up'", "one-way"),
        (lambda: options_typed("throughput", count=0), "--count 0", "1 or more"),
        (lambda: options_typed("footprint", servants="0,1"), "--servants 0,1", "1 or more"),
        (lambda: places_of("sam", (0, 1), ""), "--place 'sam'", "same"),
        (lambda: places_of("different", (1,), " of MI"), "one of MI", "--place same"),
        (lambda: see_pinned(("same",), (0, 1, 2)), "--cpus 0,1,2", "0,1"),
        (lambda: see_pinned(("same", "free"), (0, 1)), "pins nobody", "--cpus"),
    ],
)
def test_what_can_not_be_names_its_option_and_what_to_write(made, message: str, advice: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError) as refused:
        made()
    assert message in str(refused.value)
    assert advice in refused.value.advice


def test_both_places_are_measured_where_there_are_two_cpus_and_otherwise_that_is_told() -> None:
    assert places_of(None, (0, 1), "") == (("same", "different"), "")
    places, told = places_of(None, (1,), " that deployment MI measures on")
    assert places == ("same",)
    assert "one CPU that deployment MI measures on" in told
    assert places_of("free", (1,), "") == (("free",), "")


LIST = "tcp yes\nzeromq yes 4.3.4\nomniorb no omniidl libomniorb4-dev g++\n"


def test_the_machine_itself_says_which_transports_it_has() -> None:
    there = transports_of(Asked(ProbeAnswer(0, LIST, ())))
    assert [(one.name, one.is_there) for one in there] == [
        ("tcp", True),
        ("zeromq", True),
        ("omniorb", False),
    ]
    for text in (None, "all"):
        names, lacking = chosen_transports(text, there)
        assert names == ("tcp", "zeromq")
        assert "omniorb" in left_out(lacking)
        assert "apt install omniidl libomniorb4-dev g++, then `make setup`" in left_out(lacking)
    assert chosen_transports("zeromq, tcp,zeromq", there) == (("zeromq", "tcp"), ())


@pytest.mark.parametrize(
    ("text", "message", "advice"),
    [
        ("tcp,zeromp", "--transport 'zeromp' is not known", "zeromq"),
        ("omniorb,tcp", "--transport omniorb", "apt install omniidl"),
    ],
)
def test_a_transport_that_is_not_to_be_had_is_refused_with_what_to_install(
    text: str, message: str, advice: str
) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        chosen_transports(text, transports_of(Asked(ProbeAnswer(0, LIST, ()))))
    assert advice in refused.value.advice


def test_where_no_transport_is_to_be_had_that_is_told() -> None:
    with pytest.raises(UsageError, match="has no middleware: no such command"):
        transports_of(Asked(ProbeAnswer(2, "", (Message("no such command."),))))
    with pytest.raises(UsageError, match="no transport is to be had: tcp: it was not built") as refused:
        chosen_transports(None, [Transport("tcp", is_there=False)])
    assert "make setup" in refused.value.advice


def prepared(name: str, **options: object) -> tuple[tuple[str, ...], dict[str, object]]:
    given: Options = {key.replace("_", "-"): value for key, value in options.items()}  # type: ignore[misc]
    found = EXPERIMENTS[name].prepare(given, Path())
    return found.options.words, found.conditions.stored


def test_a_server_elsewhere_is_kept_with_the_run_and_is_no_argument_of_the_probe() -> None:
    arguments, conditions = prepared(
        "middleware-latency", transport="tcp", server_on="ssh:root@board", server_cpus="1", clients=9
    )
    assert conditions == {"server_on": "ssh:root@board", "server_cpus": "1"}
    assert arguments == ("--transport", "tcp", "--clients", "9")


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ({"place": "same"}, "middleware throughput, tcp, on one CPU"),
        ({"place": "different", "server_on": "ssh:board"}, "middleware throughput, tcp, server on ssh:board"),
        (
            {"place": "free", "server": "10.0.0.2:9"},
            "middleware throughput, tcp, server 10.0.0.2:9, unpinned",
        ),
    ],
)
def test_a_title_tells_the_server_that_is_apart_and_no_cpus_that_it_shared(
    options: dict[str, object], title: str
) -> None:
    given = {"transport": "tcp", **{key.replace("_", "-"): value for key, value in options.items()}}
    assert EXPERIMENTS["middleware-throughput"].prepare(given, Path()).title == title  # type: ignore[arg-type]


def test_a_phase_is_an_option_like_others_and_the_usual_one_is_not_named() -> None:
    assert "phase" not in options_typed("latency", clients="2")
    assert points_of("latency", clients="2", phase="together") == points_of("latency", clients="2")
    both = points_of("latency", clients="2", phase="together,spread")
    assert {one.options["phase"] for one in both} == {"together", "spread"}
    spread = EXPERIMENTS["middleware-latency"].prepare({"transport": "tcp", "phase": "spread"}, Path())
    assert spread.title == "middleware latency, tcp, phase spread"
    with pytest.raises(UsageError, match="--phase"):
        options_typed("latency", clients="2", phase="sprad")


@pytest.mark.parametrize(
    ("options", "message", "advice"),
    [
        ({}, "no transport", 'transport = "tcp"'),
        ({"transport": "tpc"}, "'tpc' is not known", "Did you mean 'tcp'?"),
        ({"transport": "tcp", "server_on": "board"}, "--server-on board", "ssh:[user@]"),
        ({"transport": "tcp", "server_on": "local", "server": "::1:99"}, "one that runs", "Leave one"),
        ({"transport": "tcp", "server_address": "10.0.0.2"}, "--server-address", "Add --server-on"),
        ({"transport": "tcp", "server_on": "local", "server_cpus": "x"}, "--server-cpus 'x'", "0-1"),
        ({"transport": "tcp", "clients": 50, "priority": 50}, "none for 50 clients", "--priority 51"),
        ({"transport": "tcp", "one_way": "yes"}, "'one-way' is 'yes'", "true or false"),
    ],
)
def test_what_the_lab_can_tell_of_a_cell_is_refused(
    options: dict[str, object], message: str, advice: str
) -> None:
    with pytest.raises(UsageError) as refused:
        prepared("middleware-latency", **options)
    assert message in str(refused.value)
    assert advice in refused.value.advice


PLAN = """\
title = "ORBs"
require = ["response of C0 p99 < 5ms", "misses of C0 = 0"]

[[experiment]]
name = "middleware-latency"
transport = ["omniorb", "tcp"]
clients = [0, 9]
calls = 400

[[experiment]]
name = "middleware-throughput"
transport = "tcp"
types = "octet"
require = "call of 'two-way octet' p99 < 1ms"
"""


def test_a_plan_requires_something_of_one_client() -> None:
    document = parse(PLAN, Path("p.plan.toml"))
    points = expand(document)
    required = requirements(document, points)
    of_latency = [one for one in points if one.experiment == "middleware-latency"]
    assert len(points) == 5
    assert all([one.source for one in required[point.key]] == ["C0", "C0"] for point in of_latency)
    assert [one.source for one in required[points[-1].key]] == ["two-way octet"]


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        ('transport = "tpc"', 6, "transport 'tpc' is not known"),
        ('transport = "tcp"\nserver-on = "pigeon:loft"', 7, "server-on pigeon:loft"),
        ('transport = "tcp"\nclinets = 3', 7, "'clinets' is not an option"),
    ],
)
def test_a_mistake_in_a_plan_is_told_with_its_place(change: str, line: int, message: str) -> None:
    text = PLAN.replace('transport = ["omniorb", "tcp"]', change)
    with pytest.raises(UsageError, match=message) as refused:
        expand(parse(text, Path("p.plan.toml")))
    assert str(refused.value).startswith(f"p.plan.toml:{line}: ")
    assert "--" not in str(refused.value) + refused.value.advice


def latency_plan(lines: str) -> tuple[PlanDocument, tuple[PlanPoint, ...]]:
    document = parse(f'[[experiment]]\nname = "middleware-latency"\n{lines}', Path("p.plan.toml"))
    return document, expand(document)


NOT_BUILT = ProbeAnswer(2, "", (Message("--transport omniorb: it is not there.", "Install it."),))
WRONG = ProbeAnswer(2, "", (Message("--patience sometimes: not a duration."),))
WOULD_MEASURE = ProbeAnswer(2, "", (Message("--out /dev/null/no-output: it can't be opened."),))


def test_what_is_not_built_there_is_no_mistake_of_a_plan() -> None:
    document, points = latency_plan('transport = ["omniorb", "tcp"]\n')
    target = Asked(NOT_BUILT, WOULD_MEASURE, NOT_BUILT)
    refused = refusals(points, target)
    assert set(refused) == {points[0].key}
    see_meant(document, points, refused, target)
    assert target.words[-1][:3] == ("middleware-latency", "--transport", "omniorb")


def test_a_wrong_value_is_a_mistake_of_a_plan_though_no_transport_has_a_usual_value() -> None:
    document, points = latency_plan('transport = "tcp"\npatience = "sometimes"\n')
    target = Asked(WRONG, WOULD_MEASURE)
    refused = refusals(points, target)
    with pytest.raises(UsageError, match=r"p\.plan\.toml:4: middleware-latency: patience sometimes"):
        see_meant(document, points, refused, target)
    assert target.words[-1][:3] == ("middleware-latency", "--transport", "tcp")


def test_cells_that_differ_in_their_clients_alone_are_tried_once() -> None:
    _, points = latency_plan('transport = ["tcp", "unix"]\nclients = [0, 1, 9, 50]\n')
    target = Asked(WOULD_MEASURE, WOULD_MEASURE)
    assert refusals(points, target) == {}
    assert len(target.words) == 2


@pytest.mark.parametrize(
    ("words", "cpus", "measured"),
    [
        (("--place", "same"), "1-3", (1,)),
        (("--place", "different"), "1-3", (1, 2)),
        ((), "1-3", (1,)),
        (("--place", "different", "--cpus", "3,1"), "0", (3, 1)),
        (("--place", "free"), "1-3", (0, 1, 2, 3)),
    ],
)
def test_both_ends_run_on_the_cpus_of_the_deployment(
    words: tuple[str, ...], cpus: str, measured: tuple[int, ...]
) -> None:
    cell = worded("middleware-latency", ("--transport", "tcp", *words), "")
    placed = measured_on(cell, cpus)
    assert measured_cpus(placed, "0-3") == measured
    assert placed.options.words.count("--cpus") == (0 if "free" in words else 1)


@pytest.mark.parametrize(
    ("words", "priority"),
    [(("--clients", "0"), 80), (("--clients", "50"), 39), (("--clients", "9", "--priority", "20"), 10)],
)
def test_tasks_beside_are_less_urgent_than_every_client(words: tuple[str, ...], priority: int) -> None:
    load: Load = parse_load(["tasks"])
    cell = worded("middleware-latency", ("--transport", "tcp", *words), "", load=load)
    (part,) = placed_loads(cell, (0,), None)
    assert part.option("priority") == str(priority)


def test_no_priority_is_left_below_too_many_clients() -> None:
    words = ("--transport", "tcp", "--clients", "50", "--priority", "51")
    cell = worded("middleware-latency", words, "", load=parse_load(["tasks"]))
    with pytest.raises(UsageError) as refused:
        placed_loads(cell, (0,), None)
    assert "at least 52" in refused.value.advice


def test_what_is_measured_depends_on_whether_both_ways_are() -> None:
    assert "request_ns" not in EXPERIMENTS["middleware-latency"].measures_of({})
    assert {"request_ns", "reply_ns"} < set(EXPERIMENTS["middleware-latency"].measures_of({"one-way": True}))
    assert EXPERIMENTS["middleware-throughput"].measures_of({}) == ("call_ns",)


def test_the_pace_is_that_of_the_client_that_is_asked_of_and_otherwise_of_the_slowest() -> None:
    options: Options = {"clients": 9, "calls": 400}
    urgent, all_of_them = (EXPERIMENTS["middleware-latency"].pace_of(options, name) for name in ("C0", ""))
    assert urgent is not None
    assert all_of_them is not None
    assert (urgent.samples, urgent.period_s) == (800, 0.05)
    assert (all_of_them.samples, all_of_them.period_s) == (400, 0.1)
    assert EXPERIMENTS["middleware-latency"].pace_of({**options, "clients": 0}) == urgent


def test_a_lost_connection_is_not_taken_for_a_missing_transport() -> None:
    class Lost(Asked):
        def ask(self, arguments, patience_s: float = 30.0) -> ProbeAnswer:  # type: ignore[no-untyped-def]
            raise MeasuringError("the connection was lost")

    with pytest.raises(MeasuringError):
        transports_of(Lost())
