"""Grids of middleware after they were measured, in whole or in part: all from the store alone."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import middleware_runs as made
from middleware_grids import grid_of
from middleware_runs import US
from real import PATIENCE_S
from tautochrone.answer import figure
from tautochrone.answer.console import make_console
from tautochrone.answer.document import TypedCell
from tautochrone.answer.render import page, terminal
from tautochrone.campaign import answer
from tautochrone.campaign.answer import figures
from tautochrone.campaign.results import CampaignResults, gather_results
from tautochrone.measure.campaign.agenda import Agenda, make_agenda
from tautochrone.measure.campaign.campaign import condition, open_campaign
from tautochrone.middleware.offered import MiddlewareFootprintPresentation, MiddlewareThroughputPresentation
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

ENDS = {"transport": ("tcp", "omniorb"), "place": ("same", "different")}
CALL_NS = {"tcp": 20 * US, "omniorb": 30 * US}
LIBRARY = {"text": 4_000_000, "rodata": 500_000, "data": 100_000, "bss": 50_000}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def measure(store: Store, verb: str, share: float = 1.0, repetitions: int = 1, **typed: Any) -> Agenda:
    """Sealed runs of this share of a grid's slots, in their order."""
    document = replace(grid_of(verb, typed, ENDS), seed=5, repetitions=repetitions)
    agenda = make_agenda(document, store)
    points = tuple(agenda.points.values())
    for at, slot in enumerate(agenda.slots[: round(len(agenda.slots) * share)]):
        point = agenda.points[slot.key]
        options = point.options
        transport, place = str(options["transport"]), str(options["place"])
        told = {"plan": condition(agenda.campaign, agenda.document, points, point, slot).as_stored}
        call_ns = CALL_NS[transport] * (3 if place == "different" else 1)
        if verb == "throughput":
            made.throughput(store, transport=transport, place=place, call_ns=call_ns, seed=at, **told)
        elif verb == "latency":
            clients = int(options["clients"])
            made.latency(
                store, transport=transport, place=place, clients=clients, trip_ns=call_ns, seed=at, **told
            )
        else:
            servants = int(options["servants"])
            library = LIBRARY if transport == "omniorb" else None
            made.footprint(
                store, transport=transport, place=place, servants=servants, library=library, **told
            )
    return agenda


def results(store: Store) -> CampaignResults:
    return gather_results(open_campaign(store, "plan-latest"))


def charts(text: str) -> dict[str, Any]:
    """The charts' specifications that lie in a page."""
    found: dict[str, Any] = json.loads(text.partition('id="charts">')[2].partition("</script>")[0])
    return found


def printed(found: CampaignResults, capsys: pytest.CaptureFixture[str]) -> str:
    terminal.show(make_console(), answer.document(found))
    return capsys.readouterr().out


@pytest.mark.slow
def test_a_campaign_of_throughput_has_figure_2_and_says_which_is_faster(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(store, "throughput", repetitions=3)
    found = results(store)
    text = page.text(answer.document(found))
    assert {"grid-two-way", "grid-one-way", "grid-calls-0"} <= set(charts(text))
    assert "Two-way calls, octet, one CPU: TCP is fastest" in text
    assert "Two-way calls, octet, two CPUs: TCP is fastest" in text
    said = printed(found, capsys)
    for name in ("TCP, one CPU", "TCP, two CPUs", "omniORB, one CPU", "omniORB, two CPUs"):
        assert f"\n{name} " in said
    assert said.index("TCP, one CPU") < said.index("omniORB, one CPU")


@pytest.mark.slow
def test_a_campaign_of_latency_has_figures_4_to_6_and_a_verdict(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(store, "latency", clients="0,1,2,5,9")
    found = results(store)
    text = page.text(answer.document(found))
    assert {"grid-c0-average", "grid-c0-jitter", "grid-c0-worst", "grid-low-average"} <= set(charts(text))
    assert "C0&#39;s average shows no rise: " in text
    said = printed(found, capsys)
    assert "Rise in us per lower client (95 % interval)" in said
    assert "The lower clients' average rises by" in said
    table = next(line for line in said.splitlines() if line.startswith("omniORB, two CPUs "))
    assert len(table.split("  ")) >= 6  # a number of clients each


@pytest.mark.slow
def test_a_campaign_of_memory_has_figure_7(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    measure(store, "footprint", servants="1,10")
    found = results(store)
    assert {panel.id for one in figures(found, "f") for panel in one.panels} == {
        "f-library",
        "f-program",
        "f-resident",
    }
    said = printed(found, capsys)
    assert "libomniorb.a, static library" in said
    assert "omniORB, one CPU, 10 servants" in said
    assert "48.8" in said


def test_tables_of_repeated_footprints_have_the_memory_of_one_and_the_same_run(store: Store) -> None:
    runs = [
        made.footprint(store, servants=servants, base=base)
        for servants, base in ((1, 4_000_000), (10, 4_000_000), (1, 4_800_000), (10, 6_000_000))
    ]
    _, memory, growth = MiddlewareFootprintPresentation().tables(runs, [""] * len(runs))
    private = memory.rows[0][3].value
    *_, served, per_servant = growth.rows[-1]
    assert (memory.rows[0][1].value, served.value) == (10, private)
    assert per_servant.value == pytest.approx(50_000 / 1_024)
    for table in (memory, growth):
        assert "Of several runs with as many servants, the first." in table.notes
    once = MiddlewareFootprintPresentation().tables(runs[:2], [""] * 2)
    assert not any("first" in note for table in once for note in table.notes)


@pytest.mark.parametrize(
    ("made_up", "rate"),
    [({"unanswered": ("two-way octet",)}, 1), ({"unconfirmed": 60}, 4)],
)
def test_a_run_in_which_no_call_got_through_counts_as_none_a_second(
    store: Store, made_up: dict[str, Any], rate: int
) -> None:
    told = {"transport": "udp", "types": (("octet", 0),), "calls": 60}
    runs = [made.throughput(store, **told), made.throughput(store, **told, **made_up)]
    shown = MiddlewareThroughputPresentation()

    def octet(several: list[StoredRun]) -> tuple[TypedCell, ...]:
        table = shown.tables(several, ["" for _ in several])[0]
        assert not any("ended before" in note for note in table.notes)
        return table.rows[0]

    good, none, both = (octet(several) for several in ([runs[0]], [runs[1]], runs))
    assert (none[rate].value, none[5].value, both[5].value) == (0, 60, 60)
    assert both[rate].value == pytest.approx(float(good[rate].value or 0) / 2)
    shown.figures(runs, ["a", "b"], "x")


def test_the_interval_of_two_unlike_runs_has_no_rates_below_0(store: Store) -> None:
    told = {"types": (("octet", 0),), "calls": 60}
    runs = [made.throughput(store, **told, call_ns=one) for one in (20 * US, 40 * US)]
    shown = MiddlewareThroughputPresentation()
    assert shown.tables(runs, ["", ""])[0].rows[0][2].shown.startswith("0 to ")
    assert all(panel.chart for one in shown.figures(runs, ["a", "b"], "x") for panel in one.panels)


@pytest.mark.slow
def test_an_unfinished_campaign_shows_what_there_is_and_what_is_missing(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(store, "latency", share=0.5, clients="0,5")
    found = results(store)
    assert len(found.manifests) == 4
    assert sum(len(lane.runs) for lane in found.grid.lanes) == 4  # type: ignore[union-attr]
    said = printed(found, capsys)
    assert "It is not measured yet." in said
    assert page.text(answer.document(found)).count("4 of 8 measured") == 1


@pytest.mark.slow
def test_what_a_campaign_concludes_is_there_as_json(store: Store) -> None:
    measure(store, "latency", clients="0,1,5")
    told = json.loads(json.dumps(answer.as_table(results(store))))["grid"]
    assert told["kind"] == "middleware-latency"
    lane = next(one for one in told["lanes"] if one["name"] == "TCP, one CPU")
    assert [run["clients"] for run in sorted(lane["runs"], key=lambda run: run["clients"])] == [0, 1, 5]
    high = lane["runs"][0]["c0"]["round_trip_ns"]
    assert high["variance"] == pytest.approx(high["standard_deviation"] ** 2)
    assert set(lane["per_client_ns"]) == {"c0_average", "c0_jitter", "low_average", "low_jitter"}


@pytest.mark.slow
def test_a_campaign_in_a_terminal_loads_nothing_that_draws() -> None:
    program = "import sys, tautochrone.campaign.answer; print('altair' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert told.stdout.strip() == "False"


@pytest.mark.slow
def test_a_figure_of_a_campaign_is_drawn_alone(store: Store, tmp_path: Path) -> None:
    measure(store, "throughput")
    found = results(store)
    kinds = figure.kinds_of_in_words(lambda prefix: figures(found, prefix))
    assert "two-way" in kinds
    drawn = figure.draw_of(lambda prefix: figures(found, prefix), "two-way")
    assert figure.save(drawn, tmp_path / "two-way.png").stat().st_size > 10_000
