"""What pages, terminals and comparisons show of runs of middleware."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from test_report_terminal import on_terminal, tauto

import middleware_runs as made
from browsers import new_page
from middleware_presented import notes, over_clients, recorded, said, shown
from tautochrone.answer import evidence, figure, report
from tautochrone.answer.render import page as document_page
from tautochrone.base.errors import UsageError
from tautochrone.comparison import tables
from tautochrone.judge.comparison.compare import compare
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.run.store import Store
from tautochrone.selection.candidates import draw_up, read


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def shape(told: Any) -> Any:
    """Names and kinds of what is told, and of a list of objects what any of them has."""
    if isinstance(told, dict):
        return {name: shape(value) for name, value in told.items() if name != "meaning"}
    if isinstance(told, list):
        return [shape(told[0])] if told else []
    return "number" if isinstance(told, (int, float)) and not isinstance(told, bool) else type(told).__name__


_ALSO_TOLD = ("started", "dropped")
"""The second on a busy machine: C0 goes on while other clients are late, and its rows come too quickly."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "options"),
    [
        ("throughput", ["--types", "octet", "--count", "20"]),
        ("latency", ["--clients", "2", "--calls", "2", "--rate-high", "200", "--rate-low", "100"]),
        ("footprint", ["--servants", "2"]),
    ],
)
def test_the_runs_of_these_tests_are_as_the_probe_writes_them(
    store: Store, tmp_path: Path, experiment: str, options: list[str]
) -> None:
    ours = {
        "throughput": lambda: made.throughput(store, types=(("octet", 0),)),
        "latency": lambda: made.latency(store, clients=2),
        "footprint": lambda: made.footprint(store, transport="tcp", servants=2),
    }[experiment]().manifest
    real = recorded(tmp_path / "real", experiment, "tcp", *options).manifest
    assert shape(ours.header.stored["sources"]) == shape(real.header.stored["sources"])
    assert [len(one["partners"]) for one in ours.header.stored["sources"]] == [
        len(one["partners"]) for one in real.header.stored["sources"]
    ]
    for name in set(real.header.stored) - {"tables", "measures", "absent"}:
        assert shape(ours.header.stored[name]) == shape(real.header.stored[name]), name
    assert (
        ours.header.stored["parameters"]["transport_title"]
        == real.header.stored["parameters"]["transport_title"]
    )
    told = [one.event for one in real.events if one.event not in _ALSO_TOLD]
    assert told == [one.event for one in ours.events]
    for kind in ("result", "memory"):
        assert [shape(one.stored) for one in ours.events if one.event == kind] == [
            shape(one.stored) for one in real.events if one.event == kind
        ]


def test_sections_and_resident_memory_are_shown_with_what_is_lacking(store: Store) -> None:
    library = {"text": 9 * 1024 * 1024, "rodata": 1024, "data": 2048, "bss": 4096}
    runs = [
        *(made.footprint(store, library=library, servants=servants) for servants in (1, 10)),
        made.footprint(store, transport="tcp", absent={"libraries": "sockets are the system's own"}),
    ]
    grids = shown(*runs)
    assert [row[:2] for row in said(grids[0])] == [
        ("TCP", "static library"),
        ("TCP", "tauto-servants-tcp-dynamic, linked dynamically"),
        ("omniORB", "libomniorb.a, static library"),
        ("omniORB", "tauto-servants-omniorb-dynamic, linked dynamically"),
    ]
    assert said(grids[0])[0][2:] == ("N/A",) * 5
    assert said(grids[0])[2][2:] == ("9,216.0", "1.0", "2.0", "4.0", "9,223.0")
    assert "N/A, TCP, static library: sockets are the system's own." in notes(grids)
    assert grids[1].title == "Memory of the running server in KiB"
    assert "48.8" in [row[-1] for row in said(grids[2])]


def test_a_program_that_can_not_be_linked_statically_is_shown_with_the_reason(store: Store) -> None:
    library = {"text": 1000, "rodata": 100, "data": 10, "bss": 1}
    why = "it can't be linked with libzeromq.a"
    sizes = shown(made.footprint(store, transport="zeromq", library=library, absent={"static": why}))[0]
    assert ("ZeroMQ", "program, static", *("N/A",) * 5) in said(sizes)
    assert f"N/A, ZeroMQ, program, static: {why}." in sizes.notes
    usual = shown(made.footprint(store, transport="tcp"))[0]
    assert "program, static" not in [row[1] for row in said(usual)]


def test_a_run_that_does_not_tell_the_sizes_of_files_says_so(store: Store) -> None:
    grids = shown(made.footprint(store, told=False))
    assert "the run does not tell the sizes of files" in notes(grids)
    assert len(grids) == 3


@pytest.mark.slow
def test_every_figure_can_be_drawn_alone(store: Store, tmp_path: Path) -> None:
    throughput = [
        made.throughput(store, transport=name, place=place, types=made.ALL_TYPES, calls=50)
        for name in ("tcp", "zeromq", "omniorb")
        for place in ("same", "different")
    ]
    latency = [*over_clients(store, 0), *over_clients(store, 0, transport="udp")]
    library = {"text": 1000, "rodata": 100, "data": 10, "bss": 1}
    memory = [made.footprint(store, library=library), made.footprint(store, transport="tcp")]
    for runs, wanted in (
        (throughput, {"throughput-two-way", "throughput-one-way", "throughput-lengths-longs-two-way"}),
        (latency, {"latency-c0-average", "latency-c0-jitter", "latency-low-average"}),
        (memory, {"footprint-library", "footprint-program", "footprint-resident"}),
        (throughput[:1], {"throughput-calls"}),
        (latency[3:4], {"latency-spread"}),
    ):
        seen = evidence.gather(runs)
        kinds = set(figure.kinds(seen)) - set(figure.GENERAL)
        assert wanted <= kinds
        for kind in sorted(wanted):
            drawn, _ = figure.draw_kind(seen, kind)
            out = figure.save(drawn, tmp_path / f"{kind}.svg")
            assert out.read_bytes().startswith(b"<svg")


@pytest.mark.slow
def test_runs_without_a_rate_draw_nothing_and_fail_nowhere(store: Store) -> None:
    runs = [made.throughput(store, histogram=True), made.throughput(store, rows_kept=0)]
    seen = evidence.gather(runs[:1])
    assert not [one for one in figure.kinds(seen) if one.startswith("throughput-two")]
    assert "No sample was recorded" in document_page.text(report.of_evidence(evidence.gather(runs[1:])))


@pytest.fixture(scope="module")
def many_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 97 sources."""
    folder = tmp_path_factory.mktemp("many")
    store = Store(folder)
    runs = [
        made.throughput(store, types=made.ALL_TYPES),
        made.latency(store, clients=50, calls=50),
        made.footprint(store),
    ]
    return document_page.write(report.document(runs), folder / "report.html")


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1366])
def test_a_page_of_many_sources_draws_and_does_not_run_over(
    many_sources: Path, browser: Browser, width: int
) -> None:
    opened = new_page(browser, (width, 900))
    errors: list[str] = []
    opened.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(many_sources.as_uri())
    opened.wait_for_function("document.documentElement.dataset.charts === 'drawn'")
    assert errors == []
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert opened.locator("figure").count() <= 8  # by no means one for each of the 97 sources
    opened.close()


@pytest.mark.slow
def test_a_terminal_has_no_line_for_each_of_fifty_clients_and_a_pipe_has(store: Store) -> None:
    run = made.latency(store, clients=50, calls=20)
    shown_there = on_terminal(store.path, "show", run.id, columns=100)
    assert shown_there.count("\n") < 70
    assert "Each of the 51 sources in numbers: tauto show" in shown_there
    piped = tauto(store.path, "show", run.id).stdout
    assert piped.count("\nC37 ") == 3


@pytest.mark.slow
def test_lower_clients_are_compared_as_one_whatever_their_number(store: Store) -> None:
    first, second = made.latency(store, clients=9), made.latency(store, clients=50, transport="omniorb")
    comparison = compare([ComparedSide("A", (first,)), ComparedSide("B", (second,))], tests=False)
    (pair,) = comparison.pairs
    assert [[part.source for part in measure.parts] for measure in pair.measures] == [
        ["C0", "lower clients"]
    ] * 3
    with pytest.raises(UsageError, match="C7"):
        compare([ComparedSide("A", (first,)), ComparedSide("B", (second,))], sources=["C7"])


@pytest.mark.slow
def test_many_sources_are_compared_in_one_table(store: Store) -> None:
    runs = [made.throughput(store, transport=name, types=made.ALL_TYPES) for name in ("tcp", "unix")]
    comparison = compare(
        [ComparedSide(name, (run,)) for name, run in zip("AB", runs, strict=True)], tests=False
    )
    (grid,) = tables.numbers_of(comparison)
    assert len(grid.rows) == 44
    assert grid.rows[0][0].shown == "two-way void"
    one = compare(
        [ComparedSide(name, (run,)) for name, run in zip("AB", runs, strict=True)],
        sources=["two-way octet"],
        tests=False,
    )
    (alone,) = tables.numbers_of(one)
    assert "95 % interval" in [column.head for column in alone.columns]


def test_transports_stand_for_election_by_c0(store: Store) -> None:
    runs = [made.latency(store, transport=name, clients=4) for name in ("tcp", "unix", "omniorb")]
    (contest,) = draw_up(runs).contests
    assert contest.by == "transport"
    assert list(contest.members) == ["transport tcp", "transport unix", "transport omniorb"]
    assert [source for source, _ in read(contest)] == ["C0", "lower clients"]


@pytest.mark.slow
def test_a_trend_of_fifty_clients_is_two_lines(store: Store) -> None:
    for _ in range(3):
        made.latency(store, clients=50, calls=20)
    said = tauto(store.path, "trend", "round_trip", "median").stdout
    assert "in 2 lines" in said
    assert "lower clients" in said
