"""What pages, terminals and comparisons show of runs of middleware."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, sync_playwright

import middleware_runs as made
from middleware_runs import US
from middleware_servers import needs
from real import PATIENCE_S, policy_options, sealed
from tautochrone.errors import UsageError
from tautochrone.judgement.comparison.compare import compare
from tautochrone.judgement.comparison.side import Side
from tautochrone.judgement.middleware.faster import order_of
from tautochrone.judgement.middleware.latency import RESPONSE, ROUND_TRIP, latency_of
from tautochrone.judgement.middleware.names import ONE_WAY, TWO_WAY
from tautochrone.judgement.middleware.slope import slope_of
from tautochrone.judgement.middleware.throughput import throughput_of
from tautochrone.judgement.selection.candidates import draw_up, read
from tautochrone.report import evidence, figure, page
from tautochrone.report.comparison import tables
from tautochrone.report.presentations import Grid, presentation_of
from tautochrone.run.folder import Run
from tautochrone.run.store import Store
from tautochrone.target.local import find_probe
from test_report_page import CHROMIUM, QUIET
from test_report_terminal import on_terminal, tauto


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def shown(*runs: Run) -> list[Grid]:
    presentation = presentation_of(runs[0].manifest.experiment)
    assert presentation is not None
    return presentation.grids(runs, [str(at) for at in range(len(runs))])


def cell(grid: Grid, row: str, column: str) -> str:
    found = next(cells for cells in grid.rows if cells[0] == row)
    return found[grid.columns.index(column)]


def notes(grids: list[Grid]) -> str:
    return " ".join(note for grid in grids for note in grid.notes)


def shape(told: Any) -> Any:
    """Names and kinds of what is told, and of a list of objects what any of them has."""
    if isinstance(told, dict):
        return {name: shape(value) for name, value in told.items() if name != "meaning"}
    if isinstance(told, list):
        return [shape(told[0])] if told else []
    return "number" if isinstance(told, (int, float)) and not isinstance(told, bool) else type(told).__name__


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
    assert shape(ours.header["sources"]) == shape(real.header["sources"])
    assert [len(one["partners"]) for one in ours.header["sources"]] == [
        len(one["partners"]) for one in real.header["sources"]
    ]
    for name in set(real.header) - {"tables", "measures", "absent"}:
        assert shape(ours.header[name]) == shape(real.header[name]), name
    assert ours.header["parameters"]["transport_title"] == real.header["parameters"]["transport_title"]
    assert [one["event"] for one in real.events if one["event"] != "started"] == [
        one["event"] for one in ours.events
    ]
    for kind in ("result", "memory"):
        assert [shape(one) for one in ours.events if one["event"] == kind] == [
            shape(one) for one in real.events if one["event"] == kind
        ]


def recorded(folder: Path, experiment: str, transport: str, *options: str) -> Run:
    """A run of the real thing."""
    needs(transport)
    words = [f"middleware-{experiment}", "--transport", transport, *options, *policy_options(), "--out", "-"]
    ended = subprocess.run(
        [str(find_probe()), *words],
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return sealed(ended.stdout, folder)


# ---- Throughput ------------------------------------------------------------


def test_a_rate_is_calls_over_the_time_from_the_first_to_the_last(store: Store) -> None:
    run = throughput_of(made.throughput(store, calls=900, call_ns=20 * US, rest_ns=5 * US))
    row = run.row(TWO_WAY, "octet")
    assert row is not None
    assert row.rate is not None
    assert row.elapsed_ns is not None
    assert row.rate.value == pytest.approx(900 / row.elapsed_ns * 1e9)
    assert row.rate.value == pytest.approx(1e9 / (25 * US), rel=0.02)
    assert row.rate.low is not None
    assert row.rate.high is not None
    assert row.rate.low < row.rate.value < row.rate.high
    assert row.rate.high - row.rate.low < 0.05 * row.rate.value


def test_the_interval_of_a_rate_covers_the_true_one_about_as_often_as_it_says(tmp_path: Path) -> None:
    covered = 0
    for seed in range(40):
        made_of = made.throughput(
            Store(tmp_path), types=(("octet", 0),), directions=("two-way",), calls=600, rest_ns=0, seed=seed
        )
        row = throughput_of(made_of).rows[0]
        assert row.rate is not None
        assert row.rate.low is not None
        assert row.rate.high is not None
        mean_ns = (20 * US + 0.5) * np.exp(0.1**2 / 2)
        covered += row.rate.low <= 1e9 / mean_ns <= row.rate.high
    assert covered >= 33  # of 40 at 95 %: fewer have a chance below 1 in 1,000


def test_one_way_calls_have_two_numbers_and_what_the_server_never_had_is_lost(store: Store) -> None:
    run = made.throughput(store, transport="udp", unconfirmed=100, calls=400)
    row = throughput_of(run).row(ONE_WAY, "octet")
    assert row is not None
    assert row.rate is not None
    assert row.drained is not None
    assert row.drained.value == pytest.approx(row.rate.value * 300 / 400 / 2.5, rel=0.001)
    table = shown(run)[0]
    assert cell(table, "octet", "lost") == "100"
    assert cell(table, "octet", "one-way sent") != cell(table, "octet", "one-way drained")
    assert "UDP, one CPU: 600 of 4,800 calls were lost; most of them one-way" in notes([table])


@pytest.mark.slow
def test_datagrams_that_the_server_never_had_are_lost_though_nobody_waits_for_them(tmp_path: Path) -> None:
    options = ("--types", "octet", "--directions", "one-way", "--place", "same", "--count", "20000")
    row = throughput_of(recorded(tmp_path, "throughput", "udp", *options)).row(ONE_WAY, "octet")
    assert row is not None
    assert row.confirmed is not None
    assert 0 < row.confirmed < row.calls == 20_000  # no buffer holds so many while the client has the CPU
    assert row.lost == row.calls - row.confirmed


def test_of_a_run_that_was_cut_off_nobody_knows_what_one_way_calls_were_lost(store: Store) -> None:
    reduced = throughput_of(made.throughput(store, rows_kept=10))
    assert {row.lost for row in reduced.rows if row.direction == ONE_WAY} == {None}


def test_a_row_that_a_transport_can_not_give_is_shown_with_the_reason(store: Store) -> None:
    why = "a datagram holds at most 65,507 bytes"
    absent = {f"{way} longs 16384": why for way in ("two-way", "one-way")}
    run = made.throughput(store, transport="udp", types=made.ALL_TYPES, absent=absent)
    table = shown(run)[0]
    assert cell(table, "longs 16,384", "two-way") == "N/A"
    assert cell(table, "longs 4,096", "two-way") != "N/A"
    assert f"N/A, UDP, two-way longs 16384, one-way longs 16384: {why}." in notes([table])


def test_bytes_per_second_count_each_argument_once(store: Store) -> None:
    run = made.throughput(store, types=(("longs", 1), ("longs", 1024)), rest_ns=0)
    row = throughput_of(run).row(TWO_WAY, "longs", 1024)
    assert row is not None
    assert row.rate is not None
    assert row.megabytes_per_s == pytest.approx(row.rate.value * 4096 / 1e6)
    sequences = next(grid for grid in shown(run) if "MB/s" in grid.title)
    assert sequences.columns == ("", "1", "1,024")
    assert [row[0] for row in sequences.rows] == ["longs, two-way", "longs, one-way, drained"]


def test_a_run_cut_off_half_way_has_the_rates_of_what_it_did(store: Store) -> None:
    run = made.throughput(store, rows_kept=9)
    found = throughput_of(run)
    assert [row.rate is not None for row in found.rows] == [True] * 9 + [False] * 3
    table = shown(run)[0]
    assert cell(table, "octet", "one-way drained") == "N/A"
    assert cell(table, "octet", "one-way sent") != "N/A"
    assert "the run ended before these had a call: one-way long to one-way struct, 3 rows" in notes([table])
    assert "before the server told what it had received" in notes([table])


def test_a_stream_that_was_cut_off_is_shown_as_far_as_it_goes(store: Store) -> None:
    run = made.throughput(store, footer=False)
    assert run.manifest.state == "recovered"
    assert all(row.rate is not None for row in throughput_of(run).rows)
    late = made.latency(store, clients=3, footer=False)
    assert cell(shown(late)[0], "C0, round trip", "calls") == "200"


def test_a_histogram_has_the_times_of_calls_and_no_rate(store: Store) -> None:
    run = made.throughput(store, histogram=True)
    table = shown(run)[0]
    assert cell(table, "octet", "two-way") == "N/A"
    assert "No rate: a histogram" in notes([table])
    assert any("Single calls" in grid.title and len(grid.rows) == 12 for grid in shown(run))


def test_transports_stand_beside_each_other_sockets_first(store: Store) -> None:
    runs = [
        made.throughput(store, transport=transport, place=place)
        for transport in ("omniorb", "tcp")
        for place in ("different", "same")
    ]
    two_way = shown(*runs)[0]
    assert [row[0] for row in two_way.rows] == [
        "TCP, one CPU",
        "TCP, two CPUs",
        "omniORB, one CPU",
        "omniORB, two CPUs",
    ]


def test_which_is_faster_is_said_only_where_repetitions_show_it(store: Store) -> None:
    def runs(times: dict[str, int], repetitions: int) -> list[Run]:
        return [
            made.throughput(
                store,
                transport=name,
                types=(("octet", 0),),
                call_ns=round(call_ns * (1 + 0.02 * at)),
                seed=at,
            )
            for name, call_ns in times.items()
            for at in range(repetitions)
        ]

    single = notes(shown(*runs({"tcp": 20 * US, "omniorb": 40 * US}, 1)))
    assert "From 3 repetitions of each on" in single
    assert "fastest" not in single
    several = notes(shown(*runs({"tcp": 20 * US, "omniorb": 40 * US}, 3)))
    assert "Two-way calls, octet, one CPU: TCP is fastest" in several
    assert "shown at 95 % confidence for all pairs" in several
    alike = notes(shown(*runs({"tcp": 20 * US, "omniorb": 20_100}, 3)))
    assert "no difference is shown between TCP and omniORB" in alike


def test_an_order_needs_two_candidates() -> None:
    assert order_of({"TCP": [1.0, 2.0, 3.0]}) is None
    assert order_of({"TCP": [1.0], "UDP": []}) is None


# ---- Latency ---------------------------------------------------------------


def test_jitter_is_the_standard_deviation_and_the_variance_is_told(store: Store) -> None:
    run = made.latency(store, clients=3, calls=2000)
    trip = latency_of(run).high.round_trip
    assert trip is not None
    values = run.values(ROUND_TRIP, 0)
    assert trip.standard_deviation == pytest.approx(values.std())
    grids = shown(run)
    assert cell(grids[0], "C0, round trip", "jitter") == f"{values.std() / 1e3:.3f}"
    assert cell(grids[0], "C0, round trip", "99.9 % (interval)").startswith("5")
    assert "Jitter is the standard deviation: the paper calls it the variance" in notes(grids)
    assert f"C0 {values.var() / 1e6:.3g} us^2" in notes(grids)


def test_a_quantile_without_enough_calls_is_told_with_what_it_needs(store: Store) -> None:
    grids = shown(made.latency(store, clients=0, calls=200))
    assert cell(grids[0], "C0, round trip", "99.9 % (interval)") == "too few"
    assert "Too few: 99.9 % needs 3,688 calls." in notes(grids)


def test_what_a_late_call_waited_shows_from_the_release_and_not_in_the_round_trip(store: Store) -> None:
    run = made.latency(store, clients=2, late={10: 3_000 * US})
    high = latency_of(run).high.measured
    assert high[RESPONSE].maximum > 3_000 * US > 10 * high[ROUND_TRIP].maximum
    assert "C0's worst answer came 3." in notes(shown(run))


def test_calls_without_an_answer_are_counted_and_told(store: Store) -> None:
    run = made.latency(store, transport="udp", clients=2, missed=7)
    assert latency_of(run).high.missed == 7
    assert "C0: 7 of 207 calls missed" in notes(shown(run))


@pytest.mark.parametrize(
    ("had", "said"),
    [
        ({"priority": 10}, "the thread serving C1 had priority 10, and 89 was asked for"),
        ({"policy": "other"}, "the thread serving C1 had policy other, and fifo was asked for"),
        ({"cpu": 3}, "the thread serving C1 had CPU 3, and 0 was asked for"),
    ],
)
def test_a_serving_thread_that_is_not_as_asked_is_a_warning(
    store: Store, had: dict[str, object], said: str
) -> None:
    assert f"Warning: {said}." in notes(shown(made.latency(store, clients=2, served=had)))
    assert "Warning" not in notes(shown(made.latency(store, clients=2)))


def test_a_serving_thread_that_changed_while_serving_is_a_warning(store: Store) -> None:
    said = notes(shown(made.latency(store, clients=2, served_after={"priority": 1})))
    assert "Warning: the thread serving C1 had priority 89 before the calls and 1 after them." in said


def test_a_server_elsewhere_is_named_instead_of_the_place(store: Store) -> None:
    near, far = made.latency(store, clients=2), made.latency(store, clients=2, server="10.0.0.2")
    assert "TCP, pinned, server 10.0.0.2" in [row[0] for row in shown(near, far)[0].rows]
    on_board = made.latency(store, clients=2, server="10.0.0.2", server_on="ssh:board", place="free")
    assert "TCP, not pinned, server ssh:board" in shown(on_board)[0].title
    beside = made.latency(store, clients=2, server="127.0.0.1", server_on="local", place="different")
    assert "TCP, two CPUs, server local" in shown(beside)[0].title  # it is there that the client is, too


def test_transports_against_a_server_elsewhere_are_ordered_as_such(store: Store) -> None:
    runs = [
        made.throughput(store, transport=name, place=place, types=(("octet", 0),), server_on="ssh:board")
        for name in ("tcp", "udp")
        for place in ("same", "free")
    ]
    said = notes(shown(*runs))
    assert "Two-way calls, octet, pinned, server ssh:board: TCP " in said
    assert "Two-way calls, octet, not pinned, server ssh:board: TCP " in said
    assert "CPU" not in said


def test_clients_that_are_not_released_together_are_told_as_such(store: Store) -> None:
    usual, spread = made.latency(store, clients=2), made.latency(store, clients=2, phase="spread")
    assert "phase" not in shown(usual)[0].title
    assert "TCP, one CPU, phase spread" in shown(spread)[0].title
    assert "TCP, one CPU, phase together" in [row[0] for row in shown(usual, spread)[0].rows]


def test_fifty_clients_are_folded_and_none_of_the_worst_is_left_out(store: Store) -> None:
    run = made.latency(store, clients=50, calls=40)
    each = next(grid for grid in shown(run) if "each client" in grid.title)
    worst = max(latency_of(run).each, key=lambda one: one.round_trip.maximum if one.round_trip else 0)
    names = [row[0] for row in each.rows]
    assert len(names) <= 12
    assert {"C0", "C1", "C50", worst.name} <= set(names)
    assert f"Left out: {51 - len(names)} clients" in notes([each])


def over_clients(store: Store, rise_ns: float, **more: object) -> list[Run]:
    return [
        made.latency(store, clients=clients, calls=300, high_rise_ns=rise_ns, seed=clients, **more)  # type: ignore[arg-type]
        for clients in (0, 1, 2, 5, 9, 20)
    ]


def test_a_flat_c0_shows_no_rise_with_how_much_is_excluded(store: Store) -> None:
    said = notes(shown(*over_clients(store, 0)))
    assert "TCP, one CPU: C0's average shows no rise" in said
    assert "so that 20 clients add" in said
    assert "the lower clients' average rises by 2" in said


def test_a_c0_that_rises_is_told_with_by_how_much(store: Store) -> None:
    runs = over_clients(store, 500)
    assert "TCP, one CPU: C0's average rises by 0.4" in notes(shown(*runs))
    trips = [latency_of(run) for run in runs]
    means = [one.high.round_trip.mean for one in trips if one.high.round_trip is not None]
    found = slope_of([one.clients for one in trips], means)
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 500 < found.high


def test_three_runs_are_too_few_for_a_slope_with_confidence(store: Store) -> None:
    said = notes(shown(*over_clients(store, 0)[:3]))
    assert "too few runs to say more" in said
    assert "C0's average shows no rise" not in said


def test_the_slope_is_that_of_least_squares() -> None:
    exact = slope_of([0, 1, 2, 5], [10.0, 12.0, 14.0, 20.0])
    assert exact is not None
    assert (exact.value, exact.low, exact.high) == (pytest.approx(2), pytest.approx(2), pytest.approx(2))
    assert slope_of([5, 5], [1.0, 2.0]) is None
    few = slope_of([0, 5, 5], [1.0, 2.0, 2.0])
    assert few is not None
    assert few.low is None


def test_a_slope_of_noise_alone_is_shown_about_as_rarely_as_it_says() -> None:
    generator = np.random.default_rng(8)
    places = [0, 1, 2, 5, 9, 20, 50]
    found = [slope_of(places, generator.normal(40, 2, 7).tolist()) for _ in range(400)]
    shown_wrongly = sum(one is not None and (one.rises or one.falls) for one in found)
    assert 5 <= shown_wrongly <= 40  # of 400 at 5 %: 20


# ---- Memory ----------------------------------------------------------------


def test_sections_and_resident_memory_are_shown_with_what_is_lacking(store: Store) -> None:
    library = {"text": 9 * 1024 * 1024, "rodata": 1024, "data": 2048, "bss": 4096}
    runs = [
        *(made.footprint(store, library=library, servants=servants) for servants in (1, 10)),
        made.footprint(store, transport="tcp", absent={"libraries": "sockets are the system's own"}),
    ]
    grids = shown(*runs)
    assert [row[:2] for row in grids[0].rows] == [
        ("TCP", "static library"),
        ("TCP", "tauto-servants-tcp-dynamic, linked dynamically"),
        ("omniORB", "libomniorb.a, static library"),
        ("omniORB", "tauto-servants-omniorb-dynamic, linked dynamically"),
    ]
    assert grids[0].rows[0][2:] == ("N/A",) * 5
    assert grids[0].rows[2][2:] == ("9,216.0", "1.0", "2.0", "4.0", "9,223.0")
    assert "N/A, TCP, static library: sockets are the system's own." in notes(grids)
    assert grids[1].title == "Memory of the running server in KiB"
    assert "48.8" in [row[-1] for row in grids[2].rows]


def test_a_program_that_can_not_be_linked_statically_is_shown_with_the_reason(store: Store) -> None:
    library = {"text": 1000, "rodata": 100, "data": 10, "bss": 1}
    why = "it can't be linked with libzeromq.a"
    sizes = shown(made.footprint(store, transport="zeromq", library=library, absent={"static": why}))[0]
    assert ("ZeroMQ", "program, static", *("N/A",) * 5) in sizes.rows
    assert f"N/A, ZeroMQ, program, static: {why}." in sizes.notes
    usual = shown(made.footprint(store, transport="tcp"))[0]
    assert "program, static" not in [row[1] for row in usual.rows]


def test_a_run_that_does_not_tell_the_sizes_of_files_says_so(store: Store) -> None:
    grids = shown(made.footprint(store, told=False))
    assert "the run does not tell the sizes of files" in notes(grids)
    assert len(grids) == 3


# ---- Figures, pages, terminals, comparisons --------------------------------


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


def test_runs_without_a_rate_draw_nothing_and_fail_nowhere(store: Store) -> None:
    runs = [made.throughput(store, histogram=True), made.throughput(store, rows_kept=0)]
    seen = evidence.gather(runs[:1])
    assert not [one for one in figure.kinds(seen) if one.startswith("throughput-two")]
    assert "No sample was recorded" in page.page(evidence.gather(runs[1:]), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield started
        started.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1366])
def test_a_page_of_many_sources_draws_and_does_not_run_over(
    store: Store, browser: Browser, tmp_path: Path, width: int
) -> None:
    runs = [
        made.throughput(store, types=made.ALL_TYPES),
        made.latency(store, clients=50, calls=50),
        made.footprint(store),
    ]
    path = page.render(runs, None, out=tmp_path / "report.html")
    opened = browser.new_page(viewport={"width": width, "height": 900})
    errors: list[str] = []
    opened.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto(path.as_uri())
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
    comparison = compare([Side("A", (first,)), Side("B", (second,))], tests=False)
    (pair,) = comparison.pairs
    assert [[part.source for part in measure.parts] for measure in pair.measures] == [
        ["C0", "lower clients"]
    ] * 3
    with pytest.raises(UsageError, match="C7"):
        compare([Side("A", (first,)), Side("B", (second,))], sources=["C7"])


@pytest.mark.slow
def test_many_sources_are_compared_in_one_table(store: Store) -> None:
    runs = [made.throughput(store, transport=name, types=made.ALL_TYPES) for name in ("tcp", "unix")]
    comparison = compare([Side(name, (run,)) for name, run in zip("AB", runs, strict=True)], tests=False)
    (grid,) = tables.numbers_of(comparison)
    assert len(grid.rows) == 44
    assert grid.rows[0][0] == "two-way void"
    one = compare(
        [Side(name, (run,)) for name, run in zip("AB", runs, strict=True)],
        sources=["two-way octet"],
        tests=False,
    )
    (alone,) = tables.numbers_of(one)
    assert "95 % interval" in alone.columns


def test_transports_stand_for_election_by_c0(store: Store) -> None:
    runs = [made.latency(store, transport=name, clients=4) for name in ("tcp", "unix", "omniorb")]
    (contest,) = draw_up(runs).contests
    assert contest.by == "transport"
    assert list(contest.members) == ["transport tcp", "transport unix", "transport omniorb"]
    assert [source for source, _ in read(contest)] == ["C0", "lower clients"]


def test_a_trend_of_fifty_clients_is_two_lines(store: Store) -> None:
    for _ in range(3):
        made.latency(store, clients=50, calls=20)
    said = tauto(store.path, "trend", "round_trip", "median").stdout
    assert "in 2 lines" in said
    assert "lower clients" in said
