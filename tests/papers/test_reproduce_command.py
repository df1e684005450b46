"""`tauto reproduce`, measured for moments: the folder, stopping, going on, several papers, no permission."""

import json
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from real import TAUTO, needs_priorities, skip_or_fail, start_tauto, wait_until
from reproduced import PATIENCE_S, reproduced, tauto, tiny
from schemas import valid
from tautochrone.papers.studies import read
from tautochrone.run.store import Store

CLOSED_PIPE = 141
ORDINARY = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all")

BRIEF = """
title = "koh2013, in brief"
order = "listed"
[[experiment]]
name = "period"
title = "period error, user space, 10 ms"
periods = "10ms"
count = {first}
[[experiment]]
name = "period"
title = "period error, user space, 50 ms"
periods = "50ms"
count = {second}
"""


def brief(folder: Path, first: int = 3, second: int = 3) -> Path:
    path = folder / "brief.plan.toml"
    path.write_text(BRIEF.format(first=first, second=second))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laurich2004", "schmidt2002", "koh2013"])  # others: test_reproduce_alone
def test_every_table_and_figure_of_a_paper_has_its_counterpart(name: str, tmp_path: Path) -> None:
    needs_priorities("the papers")

    reproduced(name, tmp_path)


@pytest.mark.slow
def test_what_is_finished_is_not_measured_again_and_the_folder_is_written_anew(tmp_path: Path) -> None:
    needs_priorities("the papers")
    store = tmp_path / "store"
    command = ("reproduce", "koh2013", "--plan", str(brief(tmp_path)))

    first = start_tauto(*command, store=store)
    assert first.stdout is not None
    assert "2 cases" in first.stdout.readline()
    first.stdout.close()  # as `head -1` does: the report is there nevertheless
    assert first.wait(PATIENCE_S) in (0, CLOSED_PIPE)
    (folder,) = store.glob("report-koh2013-plan-*")
    runs = {run.id for run in Store(store).runs()}
    page = folder / "report.html"
    assert "By another plan" in page.read_text()
    page.unlink()
    second = tauto(*command, store=store)

    assert second.returncode == 0, second.stderr
    assert len(runs) == 2
    assert {run.id for run in Store(store).runs()} == runs
    assert f"Report: {page}" in second.stdout
    assert page.exists()
    assert "are finished" in second.stdout
    listed = tauto("list", "--json", store=store)
    # The folder of the report is none.
    assert {one["id"] for one in json.loads(listed.stdout)["runs"]} == runs
    told = tauto("report", "plan-latest", "--out", str(tmp_path / "plan.html"), store=store)
    assert "It is a plan run of koh2013" in told.stderr
    assert "tauto reproduce" in told.stderr
    assert "It measures koh2013 anew" in (tmp_path / "plan.html").read_text()


@pytest.mark.slow
def test_one_that_is_stopped_reports_what_is_there_and_goes_on_where_it_was(tmp_path: Path) -> None:
    needs_priorities("the papers")
    store, out = tmp_path / "store", tmp_path / "out"
    command = ("reproduce", "koh2013", "--plan", str(brief(tmp_path, second=40)), "--out", str(out))

    process = start_tauto(*command, store=store)
    wait_until(lambda: len(Store(store).runs()) == 1, "the first cell is measured")
    wait_until(
        lambda: any(store.glob("*/raw.stream*")) or len(Store(store).folders()) > 1, "the second begins"
    )
    process.send_signal(signal.SIGINT)
    told, said = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130, said
    assert re.search(r"Stopped\. 1 of 2 cases is left, about \d+ s\. To go on, type the same again", said)
    assert str(out / "report.html") in told
    assert (out / "report.html").exists()
    finished = {run.id for run in Store(store).runs() if run.manifest.ended == "complete"}
    resumed = tauto(*command, store=store)
    assert resumed.returncode == 0, resumed.stderr
    assert "1 finished before" in resumed.stdout
    complete = {run.id for run in Store(store).runs() if run.manifest.ended == "complete"}
    assert finished < complete
    assert len(complete) == 2


@pytest.mark.slow
def test_several_papers_end_with_their_claims_in_one_table_and_a_page_that_leads_to_each(
    tmp_path: Path,
) -> None:
    needs_priorities("the papers")
    store, out, plans = tmp_path / "store", tmp_path / "out", tmp_path / "plans"
    plans.mkdir()
    names = ("koh2013", "schmidt2002")
    for name in names:
        parts = tiny(name).read_text().split("[[experiment]]")
        (plans / f"{name}.plan.toml").write_text("[[experiment]]".join(parts[:2]))

    done = tauto("reproduce", *names, "--plan", str(plans), "--out", str(out), store=store)

    assert done.returncode == 0, done.stderr
    page = (out / "index.html").read_text()
    assert (out / "claims.md").read_text().count("\n## ") == 1
    for name in names:
        assert (out / name / "report.html").exists()
        assert f'href="{name}/report.html"' in page
    table = done.stdout.partition("Do the papers' claims hold here?")[2]
    for name in names:
        paper = read(name)
        rows = [line for line in table.splitlines() if line.startswith(name)]
        assert len(rows) >= len(paper.claims)
        assert all(any(claim.says in row for row in rows) for claim in paper.claims)
    assert f"All of them: {out / 'index.html'}" in done.stdout

    again = tauto("reproduce", *names, "--plan", str(plans), "--out", str(out), "--json", store=store)
    assert again.returncode == 0, again.stderr
    told = valid(again.stdout)
    assert told["schema"]["name"] == "reproduce-all"
    assert [one["paper"] for one in told["papers"]] == [*names]
    assert told["not_measured"] == {}


@pytest.mark.slow
def test_who_is_not_permitted_is_told_so_and_nothing_is_written() -> None:
    if os.geteuid() != 0:
        skip_or_fail("needs root, to become an ordinary user")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        plan = brief(Path(folder))
        plan.chmod(0o644)
        done = subprocess.run(
            [*ORDINARY, *TAUTO, "reproduce", "koh2013", "--plan", str(plan), "--out", f"{folder}/out"],
            env={**os.environ, "HOME": folder, "TAUTO_STORE": f"{folder}/store"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 3, done.stderr
        assert "this user" in done.stderr
        assert not Path(folder, "out").exists()
