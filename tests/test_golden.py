"""What people and programs see of stored runs is what it was: the golden corpus, in `golden/`.

Each case is a verb as typed, asked in this process about runs that an earlier version stored. What came of it
is kept in `golden/answers`: what the terminal shows, the page with its charts, Markdown, JSON, CSV and so on.
Where a difference is wanted, the message says what accepts it.
"""

import difflib
import json
import re
from collections.abc import Iterator

import pytest

from golden.asked import Desk
from golden.cases import ANSWERS, CASES, Case, kept_of
from golden.record import RUNS
from remembered import remembered

_LINES = 40
"""So much of a difference is shown of each file."""

_QUICK = ("experiments", "single")
_STORES = sorted(path.name for path in RUNS.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with remembered():
        yield Desk(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=() if case.quick else pytest.mark.slow, id=case.name) for case in CASES],
)
def test_the_answer_is_what_it_was(case: Case, desk: Desk) -> None:
    before, answer = kept_of(case), case.answer(desk)
    told = [_difference(case, ending, before, answer) for ending in sorted(before | answer)]
    if differ := "\n".join(part for part in told if part):
        accept = f".venv/bin/python tests/golden/record.py --accept {case.name}"
        pytest.fail(f"{differ}\nIf that is wanted: {accept}", pytrace=False)


def _difference(case: Case, ending: str, before: dict[str, str], now: dict[str, str]) -> str:
    if before.get(ending) == now.get(ending):
        return ""
    name = f"{case.name}.{ending}"
    lines = list(
        difflib.unified_diff(
            before.get(ending, "").splitlines(),
            now.get(ending, "").splitlines(),
            f"kept/{name}",
            f"now/{name}",
            n=1,
            lineterm="",
        )
    )
    left = len(lines) - _LINES
    return "\n".join([*lines[:_LINES], *([f"... {left} more lines"] if left > 0 else [])])


def test_nothing_is_kept_that_nobody_asks_for() -> None:
    asked = {f"{case.name}.{ending}" for case in CASES for ending in kept_of(case)}
    kept = {str(path.relative_to(ANSWERS)) for path in ANSWERS.rglob("*") if path.is_file()}
    assert kept == asked
    assert all(kept_of(case) for case in CASES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "store",
    [pytest.param(store, marks=() if store in _QUICK else pytest.mark.slow) for store in _STORES],
)
def test_runs_of_an_earlier_version_load(store: str, desk: Desk) -> None:
    ended = desk.ask(store, "list", "--json", columns=None)
    assert ended.code == 0, ended.err
    stored = {path.parent.name: json.loads(path.read_text()) for path in (RUNS / store).glob("*/run.json")}
    listed = {one["id"]: one for one in json.loads(ended.out)["runs"]}
    assert listed.keys() == stored.keys()
    for name, manifest in stored.items():
        assert listed[name]["samples"] == sum(book["recorded"] for book in manifest["books"])
        told = desk.ask(store, "show", name, "--json", columns=None)
        assert told.code == 0, told.err
        assert json.loads(told.out)["id"] == name


def test_the_stored_runs_name_no_machine_of_ours() -> None:
    for path in RUNS.glob("*/*/run.json"):
        text = path.read_text()
        manifest = json.loads(text)
        assert manifest["facts"]["machine"].get("hostname") is None
        folders = {path.split("/")[1] for path in re.findall(r'"(/[^"\s]+)', text)}
        assert folders <= {"boot", "proc", "sys"}, path
