"""What a person sees of middleware: lanes, sentences, refusals before anything is measured."""

from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import middleware_runs as made
from middleware_grids import options_typed
from middleware_presented import cell
from middleware_servers import needs
from real import tauto
from tautochrone.answer import evidence, figure
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.document import Document
from tautochrone.answer.render import terminal
from tautochrone.answer.render.terminal import show_blocks
from tautochrone.answer.show import document
from tautochrone.base.errors import StoreError, UsageError
from tautochrone.campaign.answer import grid_parts
from tautochrone.cli.list import run_list
from tautochrone.experiments import EXPERIMENTS
from tautochrone.judge.comparison.facts import facts_of
from tautochrone.judge.middleware_setting import as_obtained, setting_of
from tautochrone.middleware import (
    footprint,
    latency_tables,
    latency_words,
    throughput_answer,
)
from tautochrone.middleware.figures import latency_figures
from tautochrone.middleware.footprint import footprint_of
from tautochrone.middleware.lanes import lanes_of, warnings
from tautochrone.middleware.latency_judge import latency_of
from tautochrone.middleware.offered import MiddlewareResults
from tautochrone.middleware.throughput_judge import throughput_of
from tautochrone.run.catalogue import catalogue
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import Header
from tautochrone.run.store import Store
from tautochrone.target.middleware import THROUGHPUT
from tautochrone.trend.record import records
from tautochrone.trend.values import parse_metric


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def with_header(run: StoredRun, **ends: Any) -> StoredRun:
    """The same run, whose threads obtained what is given: ``client`` and ``server``, ``policy``."""
    header = run.manifest.header.stored
    sources = []
    for source in header["sources"]:
        own = {**source, "obtained": {**source["obtained"]}, "requested": {**source["requested"]}}
        if "client" in ends:
            own["obtained"]["cpu"] = ends["client"]
        if "server" in ends:
            own["partners"] = [
                {**one, "obtained": {**one["obtained"], "cpu": ends["server"]}} for one in source["partners"]
            ]
        if "policy" in ends:
            own["requested"] |= {"policy": ends["policy"], "priority": None}
        sources.append(own)
    parameters = {**header["parameters"], **ends.get("parameters", {})}
    changed = Header.of({**header, "sources": sources, "parameters": parameters})
    return StoredRun(run.path, replace(run.manifest, header=changed))


def beside(store: Store, server: int, seed: int = 1, **around: Any) -> StoredRun:
    """Of a server that was started apart on the client's own machine, pinned to this CPU."""
    run = made.throughput(store, seed=seed, server_on="local", **around)
    return with_header(run, client=0, server=server, parameters={"server": "127.0.0.1:4711"})


def test_the_place_on_one_machine_is_what_both_ends_had(store: Store) -> None:
    same, apart = beside(store, 0), beside(store, 1)
    assert setting_of(same.manifest).where == "one CPU, server local"
    assert setting_of(apart.manifest).where == "two CPUs, server local"
    assert as_obtained(apart.manifest)["place"] == "different"
    assert facts_of(apart.manifest)["parameters.place"] == "different"
    lanes = lanes_of([same, apart], throughput_of)
    assert [lane.name for lane in lanes] == ["TCP, one CPU, server local", "TCP, two CPUs, server local"]


def test_of_two_machines_there_is_no_place(store: Store) -> None:
    run = made.throughput(store, server_on="ssh:far")
    assert setting_of(run.manifest).where == "pinned, server ssh:far"
    assert as_obtained(run.manifest)["place"] == "pinned"


def test_an_unpinned_server_has_the_place_that_was_asked_for(store: Store) -> None:
    run = with_header(
        made.throughput(store, place="free", server_on="local"),
        client=None,
        server=None,
        parameters={"server": "127.0.0.1:4711"},
    )
    assert setting_of(run.manifest).where == "not pinned, server local"


def test_where_sequences_alone_are_measured_it_is_said_why_one_is_absent(store: Store) -> None:
    types = (("longs", 1), ("longs", 100_000))
    why = "it does not fit into one message of this transport"
    absent = {f"{way} longs 100000": why for way in ("two-way", "one-way")}
    runs = [
        made.throughput(store, types=types),
        made.throughput(store, transport="udp", types=types, absent=absent),
    ]
    notes = [note for grid in throughput_answer.tables(lanes_of(runs, throughput_of)) for note in grid.notes]
    assert sum(why in note for note in notes) == 1


@pytest.mark.slow
def test_sentences_and_tables_tell_the_same_rate(store: Store) -> None:
    runs = [
        made.throughput(store, transport=transport, call_ns=call_ns, rest_ns=3, seed=seed)
        for transport, call_ns in (("tcp", 300), ("unix", 470))
        for seed in (1, 2, 3)
    ]
    lanes = lanes_of(runs, throughput_of)
    told = next(one for one in throughput_answer.sentences(lanes) if "One-way" in one)
    table = next(one for one in throughput_answer.tables(lanes) if one.title.startswith("One-way"))
    drained = cell(table, "TCP, one CPU", "octet").partition(" ")[0]
    assert f"with {drained} per second" in told


def test_a_policy_without_priorities_is_said_once_and_is_in_no_title(store: Store) -> None:
    runs = [
        with_header(made.latency(store, transport=transport, clients=2), policy="other")
        for transport in ("tcp", "udp")
    ]
    (said,) = [one for one in warnings(runs) if "policy other" in one]
    assert "no higher than the lower clients" in said
    assert not [one for one in warnings([made.latency(store, clients=2)]) if "policy other" in one]
    grids = latency_tables.tables(lanes_of(runs, latency_of))
    assert not [grid.title for grid in grids if "highest priority" in grid.title]


def test_what_is_not_known_names_no_lane(store: Store) -> None:
    known = made.latency(store, clients=1)
    unknown = with_header(known, parameters={"priority": None})
    known = with_header(known, parameters={"priority": 90})
    names = [lane.name for lane in lanes_of([known, unknown], latency_of)]
    assert names == ["TCP, one CPU, priority 90", "TCP, one CPU"]


@pytest.mark.slow
def test_rises_that_are_not_excluded_are_told_of_each_lane(store: Store) -> None:
    wild = [
        made.latency(
            store, transport=transport, clients=clients, trip_ns=trip_ns * (1 + 9 * (at % 2)), seed=at
        )
        for transport, trip_ns in (("tcp", 40_000), ("udp", 30_000))
        for at, clients in enumerate((0, 1, 2, 5))
    ]
    said = " ".join(latency_words.sentences(lanes_of(wild, latency_of)))
    assert "TCP, one CPU more than double; UDP, one CPU more than double" in said
    calm = [
        made.latency(store, transport=transport, clients=clients, calls=400, spread=0.01, seed=at)
        for transport in ("tcp", "udp")
        for at, clients in enumerate((0, 1, 2, 5))
    ]
    said = " ".join(latency_words.sentences(lanes_of(calm, latency_of)))
    assert "%" in said
    assert "0%" not in said


def test_one_call_has_no_jitter_and_a_table_of_nothing_is_a_line(store: Store) -> None:
    runs = [made.latency(store, transport=one, clients=2, calls=1) for one in ("tcp", "udp")]
    grids = latency_tables.tables(lanes_of(runs, latency_of))
    assert not [grid for grid in grids if "99 %" in grid.title]
    assert [note for grid in grids for note in grid.notes if note.startswith("Too few: ")]
    each = next(grid for grid in grids if grid.title.startswith("Round trips of each client"))
    assert cell(each, "C1", "jitter") == "N/A"


def test_each_drawing_says_what_it_is_of(store: Store) -> None:
    runs = [made.latency(store, clients=clients) for clients in (0, 2)]
    lanes = lanes_of(runs, latency_of)
    axes = {
        panel.id: panel.chart.specification(PAGE)["description"]
        for one in latency_figures(lanes, "f")
        for panel in one.panels
    }
    assert axes["f-c0-average"].startswith("average round trip")
    assert axes["f-c0-jitter"].startswith("standard deviation of the round trip")
    assert axes["f-c0-worst"].startswith("worst round trip")


def test_the_worst_alone_is_called_so(store: Store) -> None:
    runs = [made.latency(store, clients=clients, calls=5) for clients in (0, 2)]
    titles = [one.title for one in latency_figures(lanes_of(runs, latency_of), "f")]
    assert "C0, worst round trips" in titles
    assert "C0, rare and worst round trips" not in titles


@pytest.mark.slow
def test_kinds_of_figures_have_a_word_beside_them(store: Store) -> None:
    words = figure.kinds_in_words(evidence.gather([made.throughput(store)]))
    assert list(words) == figure.kinds(evidence.gather([made.throughput(store)]))
    assert all(words.values())


def test_a_compiler_is_told_with_its_option(store: Store) -> None:
    run = footprint_of(made.footprint(store))
    assert run.built == "gcc 12.2.0, -O2"


def test_resident_memory_says_with_how_many_servants(store: Store) -> None:
    lanes = lanes_of([made.footprint(store, servants=10)], footprint_of)
    assert [one.title for one in footprint.figures(lanes, "f")][-1].endswith(", with 10 servants")


def test_of_servers_of_one_size_none_is_the_smallest(store: Store) -> None:
    runs = [made.footprint(store, transport=name) for name in ("tcp", "udp")]
    (said,) = footprint.sentences(lanes_of(runs, footprint_of))
    assert said.startswith("Running server, resident: all have the same size, ")


def test_facts_are_no_objects(store: Store) -> None:
    sizes = {"text": 1, "rodata": 2, "data": 3, "bss": 4}
    run = made.footprint(store, library=sizes)
    facts = facts_of(run.manifest)
    assert facts["footprint.libraries.libomniorb.a.text"] == 1
    for one in (run, made.throughput(store)):
        assert not [name for name, value in facts_of(one.manifest).items() if "{" in str(value)]


def test_what_names_a_line_of_a_trend_is_short(store: Store) -> None:
    made.throughput(store)
    (record,) = records(store)
    assert not {"rows", "transport_title"} & set(record.parameters)


def test_a_measure_may_be_written_in_words() -> None:
    assert parse_metric("round trip p99", ["round_trip_ns"]).measure == "round_trip_ns"
    with pytest.raises(UsageError):
        parse_metric("no such thing p99", ["round_trip_ns"])


@pytest.mark.parametrize(("rate", "hz"), [("1kHz", "1000"), ("50 Hz", "50"), ("1ms", "1000"), (30, "30")])
def test_rates_may_have_a_unit(rate: str | int, hz: str) -> None:
    options = {"transport": "tcp", "rate-high": rate}
    arguments = EXPERIMENTS["middleware-latency"].prepare(options, Path()).options.words
    assert arguments[arguments.index("--rate-high") + 1] == hz


def test_a_rate_that_is_no_whole_number_is_refused() -> None:
    with pytest.raises(UsageError, match="whole number of Hz"):
        EXPERIMENTS["middleware-latency"].prepare({"transport": "tcp", "rate-low": "1.5Hz"}, Path())


def refused() -> Iterator[tuple[Any, str]]:
    yield lambda: options_typed("throughput", lengths="100000000"), "too long"
    yield lambda: options_typed("throughput", lengths="1..25"), "25 lengths"
    yield lambda: options_typed("throughput", directions="oneway"), "not known"
    yield (
        lambda: EXPERIMENTS["middleware-latency"].prepare(
            {"transport": "tcp", "policy": "fifo", "clients": 100}, Path()
        ),
        "101 priorities",
    )


@pytest.mark.parametrize(("ask", "why"), list(refused()))
def test_what_can_not_be_is_refused_before_a_machine_is_asked(ask: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        ask()


def test_as_many_clients_as_there_are_priorities() -> None:
    assert options_typed("latency", clients="98")["clients"] == (98,)
    EXPERIMENTS["middleware-latency"].prepare({"transport": "tcp", "policy": "rr", "clients": 98}, Path())
    EXPERIMENTS["middleware-latency"].prepare({"transport": "tcp", "policy": "other", "clients": 99}, Path())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--cpus", "0,4095"], "not online"),
        (["--cpus", "0,0"], "twice"),
        (["--place", "same", "--server-on", "ssh:nowhere.invalid"], "about CPUs of one machine"),
        (["--place", "same", "--server-on", "local", "--server-cpus", "0"], "both say where the server is"),
        (["--transport", "corba"], "omniorb"),
        (["--transport", "dds"], "cyclonedds"),
        (["--directions", "oneway"], "Did you mean 'one-way'?"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would(tmp_path: Path, given: list[str], why: str) -> None:
    needs("tcp")
    words = given if "--transport" in given else ["--transport", "tcp", *given]
    ended = tauto("middleware", "throughput", *words, "--dry-run", store=tmp_path / "store")
    assert ended.returncode == UsageError.exit_code
    assert why in ended.stderr


@pytest.mark.slow
def test_a_length_that_one_transport_can_not_carry_leaves_the_others(tmp_path: Path) -> None:
    needs("tcp")
    needs("udp")
    ended = tauto(
        *("middleware", "throughput", "--transport", "tcp,udp", "--types", "longs", "--lengths", "100000"),
        *("--count", "20", "--place", "free", "--policy", "other", "--no-memory-lock"),
        store=tmp_path / "store",
    )
    assert ended.returncode == 0, ended.stderr
    assert "Operations per second, TCP" in ended.stdout
    assert ended.stdout.count("UDP carries at most") == 1


def test_a_campaign_is_no_run(store: Store) -> None:
    made.throughput(store)
    with pytest.raises(StoreError, match="plan run") as told:
        store.open("plan-20260101T000000Z-abcd")
    assert told.value.advice == "See it whole: tauto report plan-20260101T000000Z-abcd."


@pytest.mark.parametrize("width", [100, 128, 170])
def test_an_id_is_never_cut(store: Store, width: int) -> None:
    ids = [
        made.latency(store, clients=2, title="middleware latency, transport tcp, " + "long " * 30).id
        for _ in range(2)
    ]
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    show_blocks(console, tuple(run_list(catalogue(store))))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    shown = [line.split()[0] for line in printed.splitlines()[1:]]
    assert len(shown) == len(ids)
    assert all([one for one in ids if one.startswith(name)] for name in shown)
    assert "\u2026" not in "".join(shown)


@pytest.mark.slow
def test_a_terminal_has_the_conclusion_first_and_no_single_calls(store: Store) -> None:
    runs = [made.throughput(store, transport=one) for one in ("tcp", "unix")]
    results = MiddlewareResults(THROUGHPUT, tuple(lanes_of(runs, throughput_of)))
    console = Console(file=StringIO(), width=200)
    terminal.show(console, Document("", tuple(grid_parts(results))))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert printed.strip().startswith("Two-way calls, octet, one CPU: ")
    assert "Single calls in us" not in printed
    assert "Single calls: in the report, and tauto show RUN." in printed
    assert [
        one for one in throughput_answer.tables(results.lanes) if one.title.startswith("Single calls in us")
    ]


@pytest.mark.slow
def test_a_terminal_shows_the_samples_of_a_run_once(store: Store) -> None:
    run = made.latency(store, clients=2)
    seen = evidence.gather([run])
    console = Console(file=StringIO(), width=160, force_terminal=True, color_system=None)
    terminal.show(console, document(seen, whole=not console.is_terminal))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "Latency and jitter in us" in printed
    assert "\nRound trip in us" not in printed
    assert f"Each of the 3 sources in numbers: tauto show {run.id} --intervals, or in a pipe." in printed
