"""What `tauto doctor` prints, and how it ends."""

import io
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

import streams
from machine_trees import CPUINFO, plant
from ssh_servers import ssh_server
from tautochrone.base.errors import StoreError, UsageError
from tautochrone.doctor.findings import findings_view
from tautochrone.doctor.verb import _closing, doctor
from tautochrone.machine.audit import audit_facts
from tautochrone.machine.facts import gather, observe
from tautochrone.machine.settings import InForce
from tautochrone.run.facts import Facts, ReadingFacts
from tautochrone.run.store import Store
from tautochrone.tune.answer import how_back

GUEST = {"/proc/cpuinfo": CPUINFO.replace("fpu", "fpu hypervisor")}


def latencies(seed: int, median_ns: int, count: int) -> npt.NDArray[np.int64]:
    values = np.random.default_rng(seed).lognormal(np.log(median_ns), 0.3, count)
    return np.asarray(values, dtype=np.int64)


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAUTO_STORE", str(tmp_path_factory.mktemp("store")))


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    app.command()(doctor)
    return app


def run(app: typer.Typer, root: Path, *options: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["--root", str(root), *options], catch_exceptions=False)
    return result.exit_code, result.stdout


def terminal(root: Path, width: int, *, colour: bool, explain: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="standard" if colour else None
    )
    for part in findings_view(audit_facts(observe(root)), explain=explain):
        console.print(part)
    return out.getvalue()


def test_a_pipe_gets_plain_lines_with_the_level_as_a_word(app: typer.Typer, tmp_path: Path) -> None:
    code, text = run(app, plant(tmp_path, GUEST))
    assert code == 0
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines[0] == "Example Controller 7, Example CPU 3000, 2 CPUs, Linux 6.1.0-rt"
    assert lines[1].startswith("1 warning, 0 unknown, ")
    assert "warning: virtual-machine: This is a virtual machine" in lines
    assert not any(line.startswith("    source: ") for line in lines)
    _, explained = run(app, plant(tmp_path, GUEST), "--explain")
    assert (
        "    source: Documentation/core-api/real-time/hardware.rst, Virtualization" in explained.splitlines()
    )


def test_levels_are_grouped_the_most_urgent_first(app: typer.Typer, tmp_path: Path) -> None:
    _, text = run(app, plant(tmp_path, {**GUEST, "/proc/timer_list": None}))
    words = [line.partition(":")[0] for line in text.splitlines() if not line.startswith(" ")]
    order = [word for word in words if word in ("warning", "unknown", "note", "good")]
    assert order == sorted(order, key=["warning", "unknown", "note", "good"].index)
    assert set(order) == {"warning", "unknown", "note", "good"}


def test_json_holds_findings_and_facts(app: typer.Typer, tmp_path: Path) -> None:
    root = plant(tmp_path, GUEST)
    code, text = run(app, root, "--json")
    answer = json.loads(text)
    assert code == 0
    assert answer["schema"]["name"] == "doctor"
    assert [finding["code"] for finding in answer["findings"]] == [
        finding.code for finding in audit_facts(observe(root))
    ]
    assert Facts.from_table(answer["facts"]) == observe(root)


@pytest.mark.parametrize(
    ("changes", "options", "expected"),
    [
        (GUEST, (), 0),
        (GUEST, ("--fail-on", "warning"), 6),
        (GUEST, ("--fail-on", "warning", "--json"), 6),
        ({}, ("--fail-on", "warning"), 0),
        ({"/proc/timer_list": None}, ("--fail-on", "warning"), 0),
        ({"/proc/timer_list": None}, ("--fail-on", "unknown"), 6),
    ],
)
def test_the_exit_code_tells_a_script(
    app: typer.Typer, tmp_path: Path, changes: dict[str, str | None], options: tuple[str, ...], expected: int
) -> None:
    assert run(app, plant(tmp_path, changes), *options)[0] == expected


def test_what_is_to_be_typed_names_the_machine_as_a_shell_takes_it() -> None:
    guest = "lab:debian-rt,append=isolcpus=1 nohz_full=1"
    (told,) = _closing(Facts(), guest, None, explain=False)
    assert told.endswith(f"tauto doctor --explain --on '{guest}'")
    refused = Facts(reading=ReadingFacts(refused=("/boot/config",)))
    told = "\n".join(_closing(refused, None, Path("a copy"), explain=False))
    assert "tauto)\" doctor --root 'a copy'\n" in told
    assert told.endswith("tauto doctor --explain --root 'a copy'")
    assert how_back(guest).endswith(f"tauto tune restore --on '{guest}'")
    for left in (True, False):
        force = InForce("MI", "2026-11-24T10:15:00Z", None, left)
        assert force.told(guest).endswith(f"To put it back: tauto tune restore --on '{guest}'")
        assert force.told("local").endswith("To put it back: tauto tune restore")


def test_a_folder_without_proc_is_refused(app: typer.Typer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder 'proc'"):
        run(app, tmp_path)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("explain", [False, True])
def test_a_terminal_shows_every_word_within_its_width(tmp_path: Path, width: int, explain: bool) -> None:
    root = plant(tmp_path, {**GUEST, "/proc/timer_list": None})
    text = terminal(root, width, colour=False, explain=explain)
    assert max(len(line) for line in text.splitlines()) <= width
    words = text.split()
    assert "…" not in "".join(words).replace("domain,…", "")
    for finding in audit_facts(observe(root)):
        shown = [finding.title]
        if finding.level != "good" or explain:
            shown += [finding.observed, finding.advice]
        if finding.level == "warning" or explain:
            shown += [finding.why]
        if explain:
            shown += [finding.source]
        for statement in shown:
            assert "".join(statement.split()) in "".join(words)


def test_the_level_is_told_by_word_and_by_colour(tmp_path: Path) -> None:
    root = plant(tmp_path, {**GUEST, "/proc/timer_list": None})
    coloured = terminal(root, 80, colour=True)
    plain = terminal(root, 80, colour=False)
    for word, red_green_code in (
        ("WARNING", "1;31"),
        ("unknown", "1;35"),
        ("note", "1;33"),
        ("good", "1;32"),
    ):
        assert f"\n{word}" in plain
        assert f"\x1b[{red_green_code}m{word}" in coloured


def test_a_finding_names_the_setting_that_changes_it(app: typer.Typer, tmp_path: Path) -> None:
    _, text = run(app, plant(tmp_path, {"/sys/devices/system/cpu/cpu1/cpuidle/state2/disable": "0"}))
    assert "    setting: c-states" in text.splitlines()
    assert "tauto tune show" in text.splitlines()[-2]


@pytest.fixture
def weighed(tmp_path: Path) -> tuple[Path, Path]:
    """A machine, and a store with two runs of it that differ in its C-states."""
    root, place = plant(tmp_path / "machine", GUEST), tmp_path / "store"
    setting = {"knob": "c-states", "requested": "0us", "before": "any", "obtained": "0us", "reason": ""}
    for seed, median_ns, deployment in (
        (1, 60_000, None),
        (2, 20_000, {"name": "M", "settings": [setting]}),
    ):
        conditions = {"load": "idle", **({"deployment": deployment} if deployment else {})}
        with Store(place).create("cyclic", "t", conditions, gather(root)) as writer:
            writer.append(streams.make_stream([latencies(seed, median_ns, 90_000)]))
            writer.seal()
    return root, place


@pytest.mark.slow
def test_what_it_was_worth_here_stands_with_the_finding(app: typer.Typer, weighed: tuple[Path, Path]) -> None:
    root, place = weighed
    _, text = run(app, root, "--store", str(place))
    (line,) = [line for line in text.splitlines() if line.startswith("    here: ")]
    assert "c-states any → 0us, idle: scheduling latency within" in line
    _, text = run(app, root, "--store", str(place), "--json")
    worths = {one["code"]: one["worth"] for one in json.loads(text)["findings"]}
    assert worths["idle-states"]["shown"] == "once"
    assert worths["idle-states"]["before"][0]["quantile"]["q"] == 0.999
    assert worths["swap"] is None
    _, quiet = run(app, root)
    assert "here: " not in quiet


def test_a_store_that_can_not_be_read_matters_only_where_it_was_named(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = plant(tmp_path / "machine")
    no_folder = tmp_path / "file"
    no_folder.write_text("")
    with pytest.raises(StoreError):
        run(app, root, "--store", str(no_folder))
    monkeypatch.setenv("TAUTO_STORE", str(no_folder))
    assert run(app, root)[0] == 0


def test_a_target_and_a_folder_are_not_both_taken(app: typer.Typer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two different machines"):
        run(app, plant(tmp_path), "--on", "local")


def test_this_machine_as_a_target_is_the_same_machine(app: typer.Typer) -> None:
    here = json.loads(CliRunner().invoke(app, ["--json"], catch_exceptions=False).stdout)
    there = json.loads(CliRunner().invoke(app, ["--json", "--on", "local"], catch_exceptions=False).stdout)
    codes = [[finding["code"] for finding in answer["findings"]] for answer in (here, there)]
    assert codes[0] == codes[1]
    assert here["facts"]["cpu"] == there["facts"]["cpu"]


@pytest.mark.slow
def test_a_machine_that_ssh_reaches_is_examined_as_from_within(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = json.loads(CliRunner().invoke(app, ["--json"], catch_exceptions=False).stdout)
    with ssh_server("openssh", tmp_path) as server:
        monkeypatch.setenv("HOME", str(server.home))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        result = CliRunner().invoke(app, ["--json", "--on", server.where], catch_exceptions=False)
    there = json.loads(result.stdout)
    ask_the_system = {"high-resolution-timers"}  # only who runs there can ask for the timers' resolution
    of_the_session = {"realtime-permission", "memory-lock-permission", "timer-slack", "allowed-cpus"}
    levels = [
        {
            one["code"]: one["level"]
            for one in answer["findings"]
            if one["code"] not in ask_the_system | of_the_session
        }
        for answer in (here, there)
    ]
    assert levels[0] == levels[1]
    for group in ("machine", "isolation", "power", "memory"):
        assert here["facts"][group] == there["facts"][group]


def test_this_machine_can_be_examined(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, [], catch_exceptions=False)
    assert result.exit_code == 0
    assert "preempt-rt" in result.stdout
    assert "Traceback" not in result.output
