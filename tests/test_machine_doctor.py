"""What `tauto doctor` prints, and how it ends."""

import io
import json
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from machine_trees import CPUINFO, plant
from tautochrone.cli.doctor import doctor, findings_view
from tautochrone.errors import UsageError
from tautochrone.machine.audit import audit
from tautochrone.machine.facts import Facts, observe

GUEST = {"/proc/cpuinfo": CPUINFO.replace("fpu", "fpu hypervisor")}


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
    for part in findings_view(audit(root), explain=explain):
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
    assert "    source: Documentation/core-api/real-time/hardware.rst, Virtualization" in lines


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
    assert answer["schema"] == 1
    assert [finding["code"] for finding in answer["findings"]] == [finding.code for finding in audit(root)]
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
    for finding in audit(root):
        shown = [finding.title, finding.observed]
        if finding.level in ("warning", "unknown") or explain:
            shown += [finding.why, finding.source]
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


def test_this_machine_can_be_examined(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, [], catch_exceptions=False)
    assert result.exit_code == 0
    assert "preempt-rt" in result.stdout
    assert "Traceback" not in result.output
