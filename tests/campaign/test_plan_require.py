"""What a plan requires: read with its lines, judged by cell, no part of what is measured."""

import json
import re
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import numpy as np
import pytest
from test_run_command import a_cpu, policy

import streams
from real import tauto
from report_runs import FACTS
from tautochrone.answer.render import page
from tautochrone.base.errors import UsageError
from tautochrone.campaign import agenda as planned
from tautochrone.campaign import answer
from tautochrone.campaign.results import CampaignResults, gather_results
from tautochrone.experiments import EXPERIMENTS
from tautochrone.measure.campaign.agenda import Agenda, make_agenda
from tautochrone.measure.campaign.campaign import key_of, open_campaign
from tautochrone.measure.document.document import parse
from tautochrone.measure.document.expand import expand
from tautochrone.measure.document.require import REQUIRE, stored
from tautochrone.measure.fleet.fleet import Fleet, FleetMachine, on_fleet
from tautochrone.measure.lab.pace import boot_s
from tautochrone.run.store import Store

CYCLIC = '[[experiment]]\nname = "cyclic"\n'
SWITCH = '[[experiment]]\nname = "switch"\n'
CELLS = {"aaaa": "latency, idle", "bbbb": "latency, cpu"}


def agenda(text: str, folder: Path = Path()) -> Agenda:
    return make_agenda(parse(text, folder / "p.toml"), Store(folder / "no-store"))


def required(text: str) -> list[list[str]]:
    """Of each point, in their order."""
    made = agenda(text)
    told = stored(made.required)
    return [told.get(key, []) for key in made.points]


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as refused:
        agenda(text)
    return str(refused.value)


def test_a_requirement_at_the_top_is_one_of_every_experiment_that_measures_it() -> None:
    text = 'require = "latency p99.9 < 500us"\n' + CYCLIC + 'period = ["1ms", "2ms"]\n' + SWITCH
    assert required(text) == [["latency p99.9 < 500us"]] * 2 + [[]]


def test_those_of_an_experiment_stand_in_place_of_the_plans() -> None:
    text = (
        'require = ["latency max < 1ms", "duration max < 1ms"]\n'
        + CYCLIC
        + 'require = ["misses = 0"]\n'
        + CYCLIC
        + 'title = "free"\nrequire = []\n'
        + CYCLIC
        + 'title = "common"\n'
        + SWITCH
    )
    assert required(text) == [["misses = 0"], [], ["latency max < 1ms"], ["duration max < 1ms"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('title = "x"\nrequire = "latncy p99 < 1us"\n' + CYCLIC, "p.toml:2: requirement 'latncy p99"),
        (
            'require = [\n "misses = 0",\n "latency < 1us"]\n' + CYCLIC,
            "p.toml:3: requirement 'latency < 1us'",
        ),
        (CYCLIC + "\nrequire = 5\n", "p.toml:4: 'require' has 5 in it"),
        ("require = []\n" + CYCLIC, "p.toml:1: 'require' is an empty list"),
        (
            CYCLIC + 'require = "response p99 < 1ms"\n',
            "p.toml:3: requirement 'response p99 < 1ms': cyclic does",
        ),
        (
            'require = "misses = 0"\n' + SWITCH,
            "p.toml:1: requirement 'misses = 0': no experiment of this plan",
        ),
        (
            '[[experiment]]\nname = "watch"\nprogram = "true"\nrequire = "misses = 0"\n',
            "p.toml:4: requirement 'misses = 0': watch does not measure releases that are missed",
        ),
        (
            'require = "latency max < 1ms"\n' + CYCLIC + 'require = "misses = 0"\n',
            "p.toml:1: 'latency max < 1ms' is required of no experiment",
        ),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, said: str) -> None:
    assert refusal(text).startswith(said)


def test_a_requirement_is_no_part_of_what_is_measured() -> None:
    plain, other = (parse(text + CYCLIC, Path("p.toml")) for text in ("", 'require = "latency max < 1ms"\n'))
    assert len({key_of(expand(one), one.order, one.seed) for one in (plain, other)}) == 1


def test_runs_keep_what_was_required_of_every_cell() -> None:
    made = agenda('require = "latency max < 1ms"\n' + CYCLIC + SWITCH)
    told = made.cell(made.slots[0]).conditions.stored["plan"]
    (key,) = (key for key, point in made.points.items() if point.experiment == "cyclic")
    assert told[REQUIRE] == {key: ["latency max < 1ms"]}
    assert REQUIRE not in agenda(CYCLIC).cell(agenda(CYCLIC).slots[0]).conditions.stored["plan"]


def test_what_is_measured_depends_on_the_options() -> None:
    assert EXPERIMENTS["tire"].measures_of({"pace": "real-fast"}) == ("elapsed_ns",)
    assert "response_ns" in EXPERIMENTS["tire"].measures_of({})
    assert EXPERIMENTS["kernel"].measures_of({"measure": "period"}) == EXPERIMENTS["period"].measures_of({})
    assert "misses" not in EXPERIMENTS["response"].measures_of({"period": "0s"})


@pytest.mark.parametrize(
    ("duration", "repetitions", "can_show", "said"),
    [
        ("60s", 1, True, "30 s without a late one to show it at 95 % confidence; planned: 60 s."),
        ("25s", 1, True, "planned: 25 s, enough only if its tail"),
        ("5s", 1, False, "too short to show it"),
        ("10s", 3, True, "; planned: 30 s."),
    ],
)
def test_a_dry_run_says_whether_the_time_can_show_it(
    duration: str, repetitions: int, can_show: bool, said: str
) -> None:
    made = agenda(
        f'repetitions = {repetitions}\nrequire = "latency p99.99 < 1ms"\n{CYCLIC}duration = "{duration}"\n'
    )
    (one,) = planned.planned(made.required, made.points, repetitions)
    assert one.can_show is can_show
    assert said in one.sentence


def test_a_dry_run_counts_the_repetitions_of_a_guest_once() -> None:
    made = agenda(
        'repetitions = 3\nsystems = ["local", "lab:debian-rt"]\nrequire = "latency p99.99 < 1ms"\n'
        f'{CYCLIC}duration = "10s"\n'
    )
    here, guest = planned.planned(made.required, made.points, 3)
    assert (here.cells, here.planned_s, here.can_show) == (1, 30, True)
    assert (guest.cells, guest.planned_s, guest.can_show) == (1, 10, True)
    assert "of 1 case on guests, whose repetitions count once, at 1 kHz. It takes 30 s" in guest.sentence
    assert "planned: 10 s" in guest.sentence


def test_a_dry_run_of_a_plan_until_it_is_decided_has_its_budget_ahead() -> None:
    made = agenda(
        'systems = ["local", "lab:debian-rt"]\nuntil = "decided"\nbudget = "2min"\n'
        f'require = "latency p99.99 < 1ms"\n{CYCLIC}duration = "10s"\n'
    )
    told = planned.as_table(made)
    assert (told["expected_s"], told["at_most"]) == (120, True)
    here, guest = planned.planned(made.required, made.points, 1, made.document.budget_s)
    assert (here.planned_s, here.can_show) == (120, True)
    assert here.sentence.endswith("planned: at most 2 min.")
    assert (guest.planned_s, guest.sentence.count("at most")) == (10, 0)  # there is one look at it


@pytest.mark.parametrize("place", ["each", "any"])
def test_a_guest_of_a_fleet_is_a_guest_by_whatever_name(
    tmp_path: Path, place: Literal["each", "any"]
) -> None:
    text = f'repetitions = 3\nrequire = "latency p99.99 < 1ms"\n{CYCLIC}duration = "10s"\n'
    board, guest = FleetMachine("lab:no-address", "ssh:root@board"), FleetMachine("guest", "lab:debian-rt")

    def seconds(*machines: FleetMachine) -> dict[str, float | None]:
        """Return the time that counts, by the systems of the cases; and see to what boots."""
        document = on_fleet(parse(text, tmp_path / "p.toml"), Fleet(machines, place))
        made = make_agenda(document, Store(tmp_path / "no-store"))
        boots = [point for point in made.points.values() if boot_s(point)]
        assert [one.once for one in planned.planned(made.required, made.points, 3)].count(True) == len(boots)
        return {
            point.system: planned.planned({key: made.required[key]}, {key: point}, 3)[0].planned_s
            for key, point in made.points.items()
        }

    assert seconds(guest) == {("guest" if place == "each" else "any"): 10}
    both = {"lab:no-address": 30, "guest": 10} if place == "each" else {"any": 30}
    assert seconds(guest, board) == both


def measure(
    store: Store, cell: str, values: Any, require: object = None, told: Any = None, **options: Any
) -> str:
    load = CELLS[cell].rpartition(", ")[2]
    plan = {
        "title": "Required", "campaign": "plan-20260101T000000Z-0000", "key": "k", "cell": cell,
        "repetition": 1, "block": 1, "position": 1, "repetitions": 1, "seed": 9, "order": "random",
        "heading": "latency", "varied": [], "options": {}, "system": "local", "deployment": "as-is",
        "cells": CELLS, **({REQUIRE: require} if require is not None else {}), **(told or {}),
    }  # fmt: skip
    with store.create("cyclic", CELLS[cell], {"load": load, "plan": plan}, FACTS) as writer:
        writer.append(streams.make_stream([values], **options))
        return writer.seal().id


def results(store: Store, **more: Any) -> CampaignResults:
    return gather_results(open_campaign(store, "plan-latest"), **more)


def standings(found: CampaignResults) -> dict[tuple[str, str], str]:
    return {(one.cell, one.text): one.standing for one in found.judged}


def test_each_cell_is_judged_by_what_the_latest_run_kept(tmp_path: Path) -> None:
    store, values = Store(tmp_path), np.random.default_rng(1).permutation(np.arange(10_000, 15_000))
    before = {"aaaa": ["latency max < 1us"]}
    now = {"aaaa": ["latency max < 20us"], "bbbb": ["latency median < 11us", "misses < 1 per year"]}
    measure(store, "aaaa", values, before)
    measure(store, "bbbb", values, now)
    found = results(store)
    assert standings(found) == {
        ("aaaa", "latency max < 20us"): "holds",
        ("bbbb", "latency median < 11us"): "does not hold",
        ("bbbb", "misses < 1 per year"): "not shown",
    }
    assert found.exit_code == 6
    assert [case.standing for case in found.outcome.cases] == ["passed", "failed", "not shown"]


@pytest.mark.slow
def test_what_makes_a_verdict_less_sure_is_told(tmp_path: Path) -> None:
    store, often = Store(tmp_path), {"aaaa": ["latency p99 < 20us"]}
    values = np.random.default_rng(1).permutation(np.arange(10_000, 15_000))
    cut = measure(store, "aaaa", values, often, footer=False)
    measure(store, "aaaa", values, often)

    def said(require: Any = None) -> str:
        return page.text(answer.document(results(store, required=require)))

    assert f"1 run did not come to its end and is not counted, whatever was late there: {cut}." in said()
    assert "judged before" not in said()
    measure(store, "aaaa", values, often, {"repetition": 2, "block": 2, "repetitions": 2})
    assert "They were judged before, at 1 repetition of each case." in said()
    assert "judged before" not in said({"aaaa": ["latency max < 20us"]})  # of which chance decides nothing


@pytest.mark.slow
def test_what_the_plan_says_now_wins_over_what_was_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    measure(store, "aaaa", np.arange(10_000, 15_000), {"aaaa": ["latency max < 1us"]})
    assert results(store).exit_code == 6
    assert results(store, required={"aaaa": ["latency max < 20us"]}).exit_code == 0
    assert results(store, required={}).judged == ()


def test_a_cell_that_was_not_measured_is_not_shown(tmp_path: Path) -> None:
    store = Store(tmp_path)
    both = {"aaaa": ["latency max < 20us"], "bbbb": ["latency max < 20us"]}
    measure(store, "aaaa", np.arange(10_000, 15_000), both)
    refused = results(store, reasons=[("bbbb", "Not permitted.")])
    assert refused.exit_code == 7
    assert refused.judged[1].reason == "Not measured: Not permitted."
    assert [case.standing for case in refused.outcome.cases] == ["passed", "skipped"]
    wrong = results(store, reasons=[("bbbb", "It broke.")], wrong=["bbbb"])
    assert [case.standing for case in wrong.outcome.cases] == ["passed", "error"]


def test_a_case_that_failed_went_wrong_also_if_it_was_once_stopped(tmp_path: Path) -> None:
    store, both = Store(tmp_path), {"aaaa": ["latency max < 20us"], "bbbb": ["latency max < 20us"]}
    for ends in (("interrupted", "failed"), ("failed", "interrupted")):
        for cell, ended in zip(CELLS, ends, strict=True):
            measure(store, cell, np.arange(10_000, 11_000), both, ended=ended)
    assert [case.standing for case in results(store).outcome.cases] == ["error", "skipped"]


def test_without_requirements_every_cell_is_a_case(tmp_path: Path) -> None:
    store = Store(tmp_path)
    measure(store, "aaaa", np.arange(10_000, 15_000))
    found = results(store)
    assert found.exit_code == 0
    assert [(case.group, case.standing) for case in found.outcome.cases] == [
        (CELLS["aaaa"], "passed"),
        (CELLS["bbbb"], "skipped"),
    ]


def test_what_another_version_required_and_this_one_can_not_read_is_not_shown(tmp_path: Path) -> None:
    store = Store(tmp_path)
    measure(store, "aaaa", np.arange(10_000, 15_000), {"aaaa": ["latency p99 ~ 3 bananas"]})
    (one,) = results(store).judged
    assert one.standing == "not shown"
    assert "bananas" in one.reason


@pytest.mark.slow
def test_the_page_says_what_does_not_hold_near_its_top(tmp_path: Path) -> None:
    store = Store(tmp_path)
    measure(store, "aaaa", np.arange(10_000, 15_000), {"aaaa": ["latency max < 12us", "latency max < 20us"]})
    text = page.text(answer.document(results(store)))
    assert "Of 2 requirements 1 does not hold, 1 holds." in text
    assert text.index('id="required"') < text.index("Scheduling latency in")
    assert text.index("latency max &lt; 12us") < text.index("latency max &lt; 20us")


@pytest.mark.slow
def test_a_plan_is_judged_anew_without_being_measured_anew(tmp_path: Path) -> None:
    plan, junit, summary = tmp_path / "p.toml", tmp_path / "j.xml", tmp_path / "s.md"

    def run(requirement: str, *options: str) -> tuple[int, str]:
        plan.write_text(
            f'require = {requirement}\n[defaults]\n{policy()}{CYCLIC}cpus = "{a_cpu()}"\n'
            'duration = "400ms"\noverrun = "replay"\n'  # none is lost, however busy the machine is
        )
        done = tauto("run", str(plan), *options, store=tmp_path / "store")
        return done.returncode, done.stdout + done.stderr

    told = ("--junit", str(junit), "--markdown", str(summary))
    code, said = run('["latency p50 < 10s", "latency p99.999 < 10s"]', *told)
    assert code == 7, said
    assert re.search(r"^holds +latency p50 < 10s ", said, re.MULTILINE)
    assert ElementTree.parse(junit).getroot().get("failures") == "1"
    assert "| holds |" in summary.read_text()
    code, said = run('"latency max < 1ns"', "--json")
    assert code == 6, said
    (one,) = json.loads(said[said.index("{") : said.rindex("}") + 1])["required"]
    assert one["standing"] == "does not hold"
    assert len(Store(tmp_path / "store").runs()) == 1
