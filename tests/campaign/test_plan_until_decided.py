"""`until = "decided"`: a plan that is measured until its requirements are decided, within its budget."""

import json
import signal
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import msgspec
import numpy as np
import pytest
from rich.console import Console
from test_run_command import a_cpu

import streams
from real import PATIENCE_S, needs_priorities, start_tauto, tauto, wait_until
from report_runs import FACTS
from schemas import valid
from tautochrone.base.errors import UsageError
from tautochrone.campaign.deciding import measure_until_decided
from tautochrone.campaign.results import gather_results
from tautochrone.campaign.undecided import RequirementDecider
from tautochrone.measure.campaign.agenda import Agenda, make_agenda
from tautochrone.measure.campaign.campaign import first_look_of
from tautochrone.measure.campaign.deciding import Deciding
from tautochrone.measure.campaign.estimate import Forecast
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.document.document import parse
from tautochrone.papers.claims.looks import ClaimDecider, Looks
from tautochrone.papers.document import Claim, Paper, Query
from tautochrone.run.conditions import PlanCell
from tautochrone.run.store import Store

RUN_S = 0.5
PLAN = """
title = "long enough"
until = "decided"
budget = "{budget}"
order = "listed"
require = {require}
[[experiment]]
name = "cyclic"
period = "{period}"
duration = "500ms"
cpus = "{cpu}"
[[experiment]]
name = "switch"
count = 500
require = []
"""


def plan(folder: Path, require: str, budget: str = "8s", period: str = "5ms") -> str:
    path = folder / "p.plan.toml"
    path.write_text(PLAN.format(require=require, budget=budget, period=period, cpu=a_cpu()))
    return str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('until = "decided"\nrequire = "misses = 0"', r"p\.toml:1: 'until' stands here without 'budget'"),
        ('budget = "1min"\nrequire = "misses = 0"', "'budget' stands here without 'until'"),
        ('until = "decided"\nbudget = "1min"', "nothing is required"),
        ('until = "settled"\nbudget = "1min"\nrequire = "misses = 0"', "'until' is"),
        ('until = "decided"\nbudget = "soon"\nrequire = "misses = 0"', "soon"),
        ('until = "decided"\nbudget = "1ms"\nrequire = "misses = 0"', "nothing can be measured"),
    ],
)
def test_a_plan_says_until_what_and_how_long_at_most(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(text + '\n[[experiment]]\nname = "cyclic"\n', Path("p.toml"))


def test_cases_at_once_are_refused(tmp_path: Path) -> None:
    ended = tauto("run", plan(tmp_path, '"misses = 0"'), "--jobs", "2", store=tmp_path / "store")
    assert (ended.returncode, "one case after the other" in ended.stderr) == (2, True)


@pytest.mark.parametrize(
    ("plans", "first"),
    [
        ([PlanCell(repetition=1, first_look=2)], 2),
        ([PlanCell(repetition=1), PlanCell(repetition=2, first_look=1)], 1),
        ([PlanCell(repetition=3, repetitions=2)], 2),  # older runs do not say it
        ([PlanCell(repetition=1), PlanCell(repetition=2, repetitions=2)], None),
        ([], None),
    ],
)
def test_the_store_tells_that_a_plan_was_measured_until_it_was_decided(
    plans: list[PlanCell], first: int | None
) -> None:
    entries = [SimpleNamespace(conditions=SimpleNamespace(plan=one)) for one in plans]
    assert first_look_of(SimpleNamespace(entries=entries)) == first  # type: ignore[arg-type]


TWO_LOADS = """
until = "decided"
budget = "1h"
order = "listed"
seed = 1
loads = ["idle", "cpu"]
require = ["latency max < 1h", "misses < 1 per year"]
repetitions = {}
[[experiment]]
name = "cyclic"
title = "loop"
"""
DECIDERS = [RequirementDecider, lambda: ClaimDecider(_paper(), Looks(1))]


def _paper() -> Paper:
    place = {"load": "cpu", "measure": "latency_ns"}
    never, always = (
        Claim(
            name, "1", "says", "found", "each", "within", {"value": (Query("loop", "max", **place),)}, given
        )
        for name, given in (("never", {"at-most": "1h", "takes": 10**9}), ("always", {"at-most": "1h"}))
    )
    return SimpleNamespace(claims=(never, always))  # type: ignore[return-value]


def _agenda(store: Store, repetitions: int = 1) -> Agenda:
    return make_agenda(parse(TWO_LOADS.format(repetitions), store.path / "p.plan.toml"), store)


def _measure(store: Store, agenda: Agenda, slots: Iterable[Slot], refused: Mapping[str, str]) -> None:
    for slot in slots:
        plan = agenda.cell(slot).conditions.plan
        assert plan is not None
        plan = msgspec.structs.replace(plan, first_look=1, refused=dict(refused))
        samples = np.random.default_rng(slot.position).integers(10_000, 15_000, 500)
        with store.create(
            "cyclic", "latency", {"load": "idle", "plan": msgspec.to_builtins(plan)}, FACTS
        ) as writer:
            writer.append(streams.make_stream([samples]))
            writer.seal()


@pytest.mark.slow
@pytest.mark.parametrize("decider", DECIDERS)
def test_other_repetitions_in_the_plan_do_not_move_the_looks(tmp_path: Path, decider: Any) -> None:
    store = Store(tmp_path)
    begun = _agenda(store)
    _measure(store, begun, begun.slots, {})
    agenda = _agenda(store, 3)
    one = next(
        one
        for one in decider().open_questions(agenda, agenda.campaign, ())
        if agenda.slots[1].key in one.keys
    )
    assert one.look == 1
    deciding = Deciding(agenda, 1e6, Forecast(agenda.points.values()))
    done = {slot.key: {1} for slot in begun.slots}
    step = deciding.next([one], done)
    assert step is not None
    assert [(slot.key, slot.block) for slot in step[1]] == [(agenda.slots[1].key, 2)]
    decided = deciding.decided([one], done)
    (judged, *_) = gather_results(agenda.campaign, decided=decided).judged
    assert "Look 1, at 1 repetition, judged at 97.5 %" in judged.reason


@pytest.mark.parametrize("decider", DECIDERS)
def test_what_was_refused_is_tried_again(tmp_path: Path, decider: Any) -> None:
    """The rest is told, so that nothing else would open the systems."""
    store = Store(tmp_path)
    begun = _agenda(store)
    idle, cpu = begun.slots
    _measure(store, begun, [idle], {cpu.key: "Not permitted."})
    agenda = replace(_agenda(store), required={cpu.key: begun.required[cpu.key]})

    class OpenedError(Exception):
        """The systems are opened."""

    def open_all(wanted: Agenda, *_: object) -> NoReturn:
        assert cpu.key in {slot.key for slot in wanted.left}
        raise OpenedError

    with pytest.raises(OpenedError), ExitStack() as stack:
        measure_until_decided(agenda, 60.0, decider(), store, Console(file=StringIO()), stack, open_all)


@pytest.mark.slow
def test_a_report_judges_a_budget_that_ended_at_its_first_look_as_the_run_did(tmp_path: Path) -> None:
    needs_priorities("a loop")
    store = tmp_path / "store"
    told = valid(tauto("run", plan(tmp_path, '"misses < 1 per hour"', "1s"), "--json", store=store).stdout)
    page = tmp_path / "page.html"
    tauto("report", told["campaign"], "--out", str(page), store=store)
    level = "judged at 97.5 %, so that all looks together are right in 95 %."
    (then,) = told["required"]
    assert level in then["why"]
    assert level in page.read_text().replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.slow
def test_what_is_decided_is_measured_no_more_and_what_is_open_within_the_budget(tmp_path: Path) -> None:
    needs_priorities("a loop")
    store = tmp_path / "store"
    command = ("run", plan(tmp_path, '["latency p90 < 1h", "misses < 1 per hour"]'), "--json")

    told = valid(tauto(*command, store=store).stdout)
    runs = {run.id for run in Store(store).runs()}
    standing = {one["requirement"]: one for one in told["required"]}
    # A release that is passed over is later than any limit: of many, a tenth may be, on a busy machine.
    latency = standing["latency p90 < 1h"]
    assert latency["standing"] == "holds" or "passed over" in latency["why"]
    assert "so that all looks together are right in 95 %" in standing["misses < 1 per hour"]["why"]
    assert all(run.manifest.experiment == "cyclic" for run in Store(store).runs())  # else nothing is required
    assert len(runs) * RUN_S <= told["budget"]["budget_s"]
    assert (
        told["budget"]["spent_s"] <= told["budget"]["budget_s"] + 10 * RUN_S
    )  # its last run may take longer

    # The same plan with what was decided alone has nothing to measure; the store has it.
    if standing["latency p90 < 1h"]["standing"] == "holds":
        again = tauto("run", plan(tmp_path, '"latency p90 < 1h"'), store=store)
        assert again.returncode == 0, again.stderr
        assert "All requirements that can be asked here are told" in again.stdout
        assert {run.id for run in Store(store).runs()} == runs


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_measured_and_the_same_command_goes_on(tmp_path: Path) -> None:
    needs_priorities("a loop")
    store = tmp_path / "store"
    # At a period that nothing keeps a loop for, so that none is missed, which would decide it.
    command = ("run", plan(tmp_path, '"misses < 1 per hour"', "1h", "100ms"))

    begun = start_tauto(*command, store=store)
    wait_until(lambda: len(_complete(store)) >= 2, "two repetitions are complete")
    begun.send_signal(signal.SIGINT)
    _, said = begun.communicate(timeout=PATIENCE_S)
    kept = _complete(store)
    assert begun.returncode == 130
    assert "What was measured is kept. To go on, type the same again" in said

    again = plan(tmp_path, '"misses < 1 per hour"', "5s", "100ms")
    ended = tauto("run", again, "--json", store=store)
    assert kept < _complete(store)
    assert json.loads(ended.stdout)["campaign"]
    assert len({run.manifest.conditions.plan.campaign for run in Store(store).runs()}) == 1


def _complete(store: Path) -> set[str]:
    return (
        {run.id for run in Store(store).runs() if run.manifest.ended == "complete"}
        if store.exists()
        else set()
    )
