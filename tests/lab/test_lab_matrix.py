"""`tauto lab matrix`: which machines it is about, several cells at once, and its report; without a guest."""

import json
import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec import to_builtins
from msgspec.structs import replace as replace_field

from real import children, policy_options, tauto, wait_until
from report_runs import FACTS, store_run
from tautochrone.answer import figure
from tautochrone.answer.console import make_console
from tautochrone.answer.render import page, terminal
from tautochrone.base.errors import UsageError
from tautochrone.campaign import answer
from tautochrone.campaign.answer import figures
from tautochrone.campaign.results import gather_results
from tautochrone.measure.campaign.agenda import Agenda, make_agenda
from tautochrone.measure.campaign.campaign import condition, open_campaign
from tautochrone.measure.campaign.carry_out import CampaignOutcome
from tautochrone.measure.campaign.outlook import CampaignOutlook
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.lab.at_once import carry_out_at_once, see_independent, survey
from tautochrone.measure.lab.crew import Crew
from tautochrone.measure.lab.matrix import Machine, document_of, loads_of, machine_of, machines_of
from tautochrone.measure.lab.preemption import not_obtained, obtained, why_one_row
from tautochrone.run.facts import Facts
from tautochrone.run.files import RAW_STREAM
from tautochrone.run.store import Store
from tautochrone.target.virtual.kernels import Kernel
from tautochrone.virtual_lab.matrix_results import MatrixResults
from tautochrone.virtual_lab.matrix_view import details, sentences

US = 1_000
STOCK, RT = Machine("debian:stock", "none"), Machine("debian:rt")
WORST = {("debian:stock", "idle"): 12, ("debian:stock", "fork"): 2400, ("debian:rt", "idle"): 15}
VIRTUAL = {
    "machine": "0123456789abcdef",
    "release": "6.1.0",
    "package": "linux_6.1",
    "qemu": "7.2",
    "shift": 1,
    "repeatable": True,
}
OPTIONS: dict[str, str | int | float | bool] = {"period": "250us", "duration": "2s"}


def kernel(folder: Path, *options: str) -> Kernel:
    config = folder / "config"
    config.write_text("".join(f"CONFIG_{one}=y\n" for one in options) + "# CONFIG_PREEMPT_NONE is not set\n")
    return Kernel("debian:stock", "x86_64", "6.1.0", None, config, None, None, config, "0" * 64)


@pytest.mark.parametrize(
    ("built", "rows", "why"),
    [
        (("PREEMPT_VOLUNTARY", "PREEMPT_DYNAMIC"), ["none", "full"], ""),
        (("PREEMPT_RT", "PREEMPT_LAZY", "PREEMPT_DYNAMIC"), [None], "a PREEMPT_RT kernel"),
        (("PREEMPT_VOLUNTARY",), [None], "was built for voluntary preemption only"),
        ((), [None], "is not known without its configuration"),
    ],
)
def test_a_kernel_has_a_row_for_each_model_that_it_can_be_booted_with(
    tmp_path: Path, built: Sequence[str], rows: list[str | None], why: str
) -> None:
    found = kernel(tmp_path, *built)
    assert [one.preemption for one in machines_of([found], ["none", "full"], None)] == rows
    assert why in why_one_row(found)


def test_a_row_is_a_machine_as_one_writes_it_after_on() -> None:
    for machine, system in (
        (Machine("debian:stock", "none"), "lab:debian-stock,preempt=none"),
        (Machine("debian:rt/arm64", shift=0), "lab:debian-rt/arm64,shift=0"),
        (Machine("mine", "full", 2), "lab:mine,shift=2,preempt=full"),
    ):
        assert machine.system == system
        assert machine_of(system) == machine


def test_what_was_asked_for_is_not_taken_for_what_the_kernel_does() -> None:
    def facts(model: str, by: str, **more: Any) -> Facts:
        line = "quiet preempt=lazy"
        kernel = {"preemption": model, "preemption_found_by": by, "command_line": line, **more}
        return Facts.from_table({"kernel": kernel})

    read_back = "/sys/kernel/debug/sched/preempt"
    assert obtained(facts("full", read_back)) == "full"
    assert "booted with preempt=lazy" in str(not_obtained(facts("full", read_back)))
    assert not_obtained(facts("lazy", read_back)) is None
    assert obtained(facts("lazy", "preempt= on the kernel's command line")) is None
    assert obtained(facts("full", "the kernel's configuration", realtime=True)) == "rt"


def test_a_list_of_loads_keeps_their_options() -> None:
    assert loads_of("idle, fork:bytes=64MB,cpus=0,1 ,cpu+memory") == (
        "idle",
        "fork:bytes=64MB,cpus=0,1",
        "cpu+memory",
    )
    with pytest.raises(UsageError, match="there is no load 'forks'"):
        loads_of("idle,forks")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--repetitions", "3"], "repeats to the bit"),
        (["--kernels", "debian:rt,suse"], "there is no kernel 'suse'"),
        (["--load", "idle,,fork"], "a name is missing"),
        (["--preempt", "ful"], "--preempt 'ful' is not known"),
    ],
)
def test_what_can_not_be_is_refused_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.setenv("TAUTO_KERNELS", str(tmp_path / "kernels"))
    refused = tauto("lab", "matrix", "--yes", *options, store=tmp_path / "store")
    assert refused.returncode == 2, refused.stdout
    assert message in refused.stderr
    assert not (tmp_path / "kernels").exists()
    assert not (tmp_path / "store").exists()


def matrix(*machines: Machine) -> PlanDocument:
    return document_of(machines, ["idle", "fork"], OPTIONS)


def measure_some(
    store: Store, document: PlanDocument, period_ns: int | None = 1_000_000, **virtual: Any
) -> Agenda:
    """Sealed runs of what stands in `WORST`; the rest was refused."""
    agenda = make_agenda(document, store)
    points = tuple(agenda.points.values())
    refused = {point.key: "No such load there." for point in points[-1:]}
    for slot in agenda.slots:
        point = agenda.points[slot.key]
        machine = machine_of(point.system)
        worst = WORST.get((machine.kernel, point.load.name))
        if worst is None:
            continue
        told = replace_field(condition(agenda.campaign, document, points, point, slot), refused=refused)
        realtime = machine.kernel == "debian:rt"
        kernel_facts = {"release": "6.1.0", "realtime": realtime, "preemption": "none"}
        store_run(
            store,
            [np.append(np.full(3_999, 7 * US), worst * US)],
            point.load.name,
            facts={**FACTS, "kernel": kernel_facts},
            warning=("virtual", "measured on a virtual machine", "Compare with it."),
            title=point.name,
            around={"plan": to_builtins(told), "virtual": VIRTUAL | virtual},
            period_ns=period_ns,
        )
    return agenda


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.mark.slow
@pytest.mark.parametrize(("repeatable", "chance"), [(True, "is chance."), (False, "may be chance.")])
def test_a_matrix_promises_no_more_than_its_machines_keep(
    store: Store, repeatable: bool, chance: str
) -> None:
    measure_some(store, matrix(STOCK, RT), repeatable=repeatable)
    found = gather_results(open_campaign(store, "matrix-latest"))
    assert isinstance(found.grid, MatrixResults)
    assert sentences(found.grid)[0].endswith(chance)


@pytest.mark.slow
def test_misses_that_are_not_counted_are_not_told_as_none(store: Store) -> None:
    measure_some(store, matrix(STOCK, RT), period_ns=None)
    found = gather_results(open_campaign(store, "matrix-latest"))
    assert isinstance(found.grid, MatrixResults)
    assert found.grid.rows[0].cells[0].missed is None
    (cases,) = details(found.grid)
    missed = [column.head for column in cases.columns].index("missed")
    assert {row[missed].shown for row in cases.rows} == {"N/A"}


@pytest.mark.slow
def test_an_unfinished_matrix_tells_factors_and_what_is_missing(store: Store) -> None:
    agenda = measure_some(store, matrix(STOCK, RT))
    assert agenda.campaign.id.startswith("matrix-")
    found = gather_results(open_campaign(store, "matrix-latest"))
    assert isinstance(found.grid, MatrixResults)
    assert [row.name for row in found.grid.rows] == ["debian:stock, none", "debian:rt"]
    assert [row.preemption for row in found.grid.rows] == ["none", "rt"]
    assert found.lacking == (
        ("scheduling latency, period 250us, fork, lab:debian-rt", "No such load there."),
    )
    rows = json.loads(json.dumps(answer.as_table(found)))["grid"]["rows"]
    assert rows[1]["cells"][0]["times_the_best"] == 1.25
    assert (rows[0]["cells"][1]["worst"], rows[0]["cells"][1]["rare"]) == (2400 * US, 7 * US)
    assert rows[1]["cells"][1]["worst"] is None
    assert rows[0]["cells"][1]["command"] == (
        "tauto probe cyclic --on lab:debian-stock,preempt=none --load fork --period 250us --duration 2s"
    )
    console = make_console()
    with console.capture() as shown:
        terminal.show(console, answer.document(found))
    assert "15.000 (1.2x)" in shown.get()
    assert "0123456789abcdef" in shown.get()


@pytest.mark.slow
def test_the_page_has_the_matrix_its_runs_and_how_to_have_one_cell_again(
    store: Store, tmp_path: Path
) -> None:
    measure_some(store, matrix(STOCK, RT))
    found = gather_results(open_campaign(store, "matrix-latest"))
    text = page.text(answer.document(found))
    for words in (
        "3 of 4 measured",
        "Several at once, in any order",
        "No such load there.",
        "not measured",
        "idle: the worst latency is ",
        "Measured on a virtual machine",
        "tauto probe cyclic --on lab:debian-stock,preempt=none --load fork",
        *(run.id for run in store.runs()),
    ):
        assert words in text
    for kind in ("matrix", "load"):
        drawn = figure.draw_of(lambda prefix: figures(found, prefix), kind)
        figure.save(drawn, tmp_path / f"{kind}.svg")
    done = tauto("report", "matrix-latest", "--out", str(tmp_path / "one.html"), store=store.path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.html").read_text()[:15] == text[:15]


def here(duration: str, *loads: str) -> PlanDocument:
    """The same on this machine: a plan that several processes can carry out without a guest."""
    words = policy_options()[1:]
    options: dict[str, Any] = {"period": "1ms", "duration": duration, "policy": words[0]}
    document = document_of([RT], loads, {**options, **({"no-memory-lock": True} if len(words) > 1 else {})})
    return replace(document, axes={**document.axes, "systems": ("local",)}, grid="")


def carry_out(
    document: PlanDocument, store: Store, crew: Crew, log: list[str] | None = None
) -> CampaignOutcome:
    agenda = make_agenda(document, store)
    found = survey(document, list(agenda.points.values()), crew)
    assert not found.refused

    def cells(slot: Any) -> Any:
        return agenda.points[slot.key], agenda.cell(slot)

    def begin(*_: Any) -> Any:
        seen.append("begin")
        return lambda _: None

    seen = [] if log is None else log
    return carry_out_at_once(
        agenda.left, cells, found.open, store, crew, begin, found.refused, lambda *_: seen.append("end")
    )


@pytest.mark.slow
def test_several_are_measured_at_once_and_what_is_finished_is_not_measured_again(store: Store) -> None:
    document = here("500ms", "idle", "cpu")
    log: list[str] = []
    with Crew(2) as crew:
        outcome = carry_out(document, store, crew, log)
    assert log == ["begin", "begin", "end", "end"]
    assert len(outcome.runs) == 2
    assert not outcome.left
    assert not outcome.unmeasured
    assert make_agenda(document, store).left == ()


def disturbed(store: Store, loads: Sequence[str], disturb: Callable[[], None]) -> CampaignOutcome:
    """What came of cells that take long, disturbed as soon as all of them are being measured."""

    def streams() -> list[Path]:
        return [one for one in store.path.glob(f"*/{RAW_STREAM}") if one.stat().st_size]

    def watch() -> None:
        wait_until(lambda: len(streams()) == len(loads), "all are being measured")
        disturb()

    before = set(children(os.getpid()))
    thread = threading.Thread(target=watch)
    with Crew(len(loads)) as crew:
        thread.start()
        outcome = carry_out(here("60s", *loads), store, crew)
        thread.join()
    assert set(children(os.getpid())) <= before
    return outcome


@pytest.mark.slow
def test_a_signal_ends_all_and_keeps_what_they_have_measured(store: Store) -> None:
    outcome = disturbed(store, ("idle", "cpu"), lambda: os.kill(os.getpid(), signal.SIGINT))
    assert outcome.stopped
    assert len(outcome.left) == 2
    assert [run.manifest.ended for run in store.runs()] == ["interrupted", "interrupted"]


@pytest.mark.slow
def test_a_process_that_is_killed_costs_its_cell_alone(store: Store) -> None:
    before = set(children(os.getpid()))  # a later process need not have a larger number

    def kill_the_worker() -> None:
        (worker,) = set(children(os.getpid())) - before
        os.kill(worker, signal.SIGKILL)

    outcome = disturbed(store, ("idle",), kill_the_worker)
    assert [str(one.error) for one in outcome.unmeasured] == ["The process that measured it was ended"]
    assert not outcome.stopped
    assert not outcome.left


def test_several_hands_share_the_time_that_is_left(store: Store) -> None:
    agenda = make_agenda(matrix(STOCK, RT), store)
    alone_s = CampaignOutlook(agenda, agenda.slots).left_s
    outlook = CampaignOutlook(agenda, agenda.slots, 2)
    assert outlook.left_s == pytest.approx(alone_s / 2)
    for slot in agenda.slots[:2]:
        outlook.begin(slot)
    assert outlook.finished == 0
    outlook.end(agenda.slots[1], "complete")
    assert outlook.finished == 1
    assert outlook.left_s >= CampaignOutlook(agenda, agenda.slots[:1]).left_s - 1


@pytest.mark.slow
def test_a_plan_is_not_measured_at_once_on_a_machine_that_others_disturb(
    store: Store, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[[experiment]]\nname = "cyclic"\nduration = "100ms"\n')
    refused = tauto("run", str(plan), "--jobs", "2", store=store.path)
    assert refused.returncode == 2
    assert "--jobs: local is no guest of the virtual lab" in refused.stderr


@pytest.mark.parametrize(("shift", "why"), [(1, None), (None, "has the host's time")])
def test_several_cpus_are_measured_at_once_where_their_clock_counts_instructions(
    shift: int | None, why: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual = SimpleNamespace(shift=shift, repeatable=False)
    opened = nullcontext(SimpleNamespace(virtual=lambda: virtual))
    monkeypatch.setattr("tautochrone.measure.lab.at_once.open_target", lambda _: opened)
    agenda: Any = SimpleNamespace(points={"a": SimpleNamespace(system="lab:NAME,smp=4")})
    with nullcontext() if why is None else pytest.raises(UsageError, match=why):
        see_independent(agenda)
