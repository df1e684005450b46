"""Whatever was measured, a verb that reads runs ends as designed: an answer, or a refusal with its reason.

`make check` tries few runs with each verb, `make test-long` many, others each time. Say how many, and which:

    TAUTO_EXAMPLES=2000 .venv/bin/pytest tests/test_any_runs.py -m long -k tail --hypothesis-seed=7
"""

import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser

import tautochrone as tc
from any_runs import KINDS, ODD_TITLES, Made, made, of_plan, store_made
from browsers import look, see_legends_within
from in_process import Ended, tauto
from remembered import remembered
from schemas import valid
from shaped_samples import MS, SHAPES, S, Samples
from tautochrone.answer.series import Envelope, merge_envelopes
from tautochrone.command.batch import Batch
from tautochrone.command.permission import Permission
from tautochrone.machine.facts import gather
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.local import LocalTarget

ANSWERED = (0, 6, 7)
REFUSED = (2, 4, 5)
WIDTHS = (None, 60, 200)
_PERMITTED = Permission(priority=True, memory_lock=True), ""

QUICK = settings(suppress_health_check=list(HealthCheck))
QUICK_PAGES = settings(QUICK, phases=[Phase.explicit])
LONG = settings(settings.get_profile("long"), suppress_health_check=list(HealthCheck))


class Stored:
    """Runs in a store of their own, and what to ask of them.

    Attributes:
        runs: those of which something could be kept, oldest first.
        folder: for what verbs write.
    """

    def __init__(self, folder: Path, all_made: list[Made], around: Callable[[int], dict[str, Any]]) -> None:
        self.store = Store(folder / "store")
        self.folder = folder
        stored = [store_made(self.store, one, around(at)) for at, one in enumerate(all_made)]
        self.runs: list[StoredRun] = [run for run in stored if run is not None]
        self.ids = [run.id for run in self.runs]

    def ask(self, *arguments: str, columns: int | None = None) -> Ended:
        """Call tauto, and see that it ends as designed."""
        ended = tauto(*arguments, store=self.store.path, columns=columns)
        assert ended.code in (*ANSWERED, *REFUSED), f"{ended.arguments}: {ended.code}, {ended.fault}"
        assert "Traceback" not in ended.err, ended.err
        assert "Warning" not in ended.err, ended.err
        if ended.code in REFUSED:
            told = [line for line in ended.err.splitlines() if line.strip()]
            assert any(line.startswith("tauto: ") and len(line) > 20 for line in told), told
            assert len(told) > 1, f"refused without advice: {ended.arguments}: {ended.code}, {told}"
        return ended

    def answers(self, *arguments: str) -> Any:
        """The answer as JSON, as everybody reads it and as its schema says; None where it was refused."""
        ended = self.ask(*arguments, "--json")
        if ended.code not in ANSWERED:
            return None
        json.loads(ended.out, parse_constant=_no_number)
        return valid(ended.out)

    def page(self, *arguments: str) -> Path | None:
        """The page that was written, its charts being JSON; None where that was refused."""
        path = self.folder / f"{arguments[0]}.html"
        path.unlink(missing_ok=True)
        ended = self.ask(*arguments, "-o", str(path))
        if ended.code not in ANSWERED:
            return None
        text = path.read_text(encoding="utf-8")
        for part in text.split('<script type="application/json" id="charts">')[1:]:
            json.loads(part.partition("</script>")[0], parse_constant=_no_number)
        return path

    def everywhere(self, *arguments: str) -> None:
        """In a pipe, on a narrow terminal, and on a wide one."""
        for columns in WIDTHS:
            ended = self.ask(*arguments, columns=columns)
            for number in ("nan", "inf "):
                assert f" {number}" not in ended.out, ended.out


def _no_number(text: str) -> NoReturn:
    raise AssertionError(f"{text} is no JSON")


def list_(stored: Stored) -> None:
    stored.everywhere("list")
    told = {one["id"]: one for one in stored.answers("list")["runs"]}
    assert set(told) >= set(stored.ids)
    for run in stored.runs:
        assert told[run.id]["samples"] == sum(book.recorded for book in run.manifest.books)


def show(stored: Stored) -> None:
    for run in stored.runs:
        stored.everywhere("show", run.id)
        stored.ask("show", run.id, "--intervals")
        told = stored.answers("show", run.id)
        recorded = {book["name"]: book["recorded"] for book in told["books"]}
        for book in told["books"]:
            assert book["problems"] == []
            assert book["completed"] == book["recorded"] + book["dropped"]
            assert None in (book["released"], book["missed"]) or (
                book["released"] == book["completed"] + book["missed"]
            )
        for at, measure in enumerate(told["measures"]):
            for source in measure["sources"]:
                lacking = recorded[source["name"]] - source["summary"]["count"]
                assert lacking == 0 or (at > 0 and lacking > 0)


def tail(stored: Stored) -> None:
    for run in stored.runs:
        stored.everywhere("tail", run.id)
        stored.ask("tail", run.id, "--limit", "100us", "--limit", "1ms", "--confidence", "99%")
        stored.answers("tail", run.id)
        stored.ask("plan-samples", "--quantile", "99.99", "--like", run.id)


def report(stored: Stored) -> None:
    for run in stored.runs:
        stored.page("report", run.id)
    stored.page("report", *stored.ids)


def figure(stored: Stored) -> None:
    for names in ([stored.ids[0]], stored.ids):
        kinds = stored.ask("figure", *names, "--kind", "list").out.splitlines()
        assert kinds
        for at, line in enumerate(kinds):
            path = stored.folder / f"chart.{('png', 'pdf')[at] if at < 2 else 'svg'}"
            ended = stored.ask("figure", *names, "--kind", line.split()[0], "--out", str(path))
            if ended.code == 0 and path.suffix == ".svg":
                text = path.read_text(encoding="utf-8")
                ElementTree.fromstring(text)
                assert "NaN" not in text
                assert "undefined" not in text


def export(stored: Stored) -> None:
    for run in stored.runs:
        recorded = sum(book.recorded for book in run.manifest.books)
        path = stored.folder / "exported"
        for more in ([], ["--extremes"]):
            for form in ("csv", "parquet", "json"):
                ended = stored.ask("export", run.id, f"--{form}", "--out", str(path), *more)
                if ended.code in REFUSED:
                    continue
                if form == "json":
                    json.loads(path.read_text(), parse_constant=_no_number)
                elif not run.is_histogram:
                    text = path.read_bytes()
                    rows = text.count(b"\n") - 1 if form == "csv" else pq.read_metadata(path).num_rows
                    assert rows == recorded


def compare(stored: Stored) -> None:
    sides = [stored.ids[0], ",".join(stored.ids[1:])] if len(stored.ids) > 1 else [*stored.ids, *stored.ids]
    stored.everywhere("compare", *sides)
    stored.answers("compare", *sides)
    stored.page("compare", *stored.ids)
    gates = ["--fail-on", "p99 +10%", "--fail-on", "max +50%", "--fail-on", "misses +0.1%"]
    junit, markdown = stored.folder / "junit.xml", stored.folder / "summary.md"
    ended = stored.ask(
        "compare", *sides, *gates, "--strict", "--junit", str(junit), "--markdown", str(markdown)
    )
    if ended.code in ANSWERED:
        ElementTree.fromstring(junit.read_text(encoding="utf-8"))
        assert markdown.read_text(encoding="utf-8").strip()


def select(stored: Stored) -> None:
    stored.everywhere("select", *stored.ids)
    stored.answers("select", *stored.ids, "--by", "run")
    stored.page("select", *stored.ids)
    stored.ask("select", *stored.ids, "--metric", "max", "--per", "100")
    stored.ask("select", *stored.ids, "--metric", "misses")


def trend(stored: Stored) -> None:
    measure = stored.runs[0].measures[0].removesuffix("_ns")
    for metric in (f"{measure} p99.9", f"{measure} max", "misses"):
        stored.everywhere("trend", metric)
        stored.answers("trend", metric, "--by", "machine")
        stored.page("trend", metric)


def check(stored: Stored) -> None:
    junit, markdown = stored.folder / "junit.xml", stored.folder / "summary.md"
    with _measured(stored.runs):
        for asked in (["--misses", "0"], ["--misses", "1 per hour", "--deadline", "100us"], ["--counted"]):
            stored.page("check", "--rate", "1kHz", *asked)
        stored.answers(
            "check", "--rate", "1kHz", "--misses", "1 in 1000", "-o", str(stored.folder / "x.html")
        )
        ended = stored.ask("check", "--rate", "1kHz", "--junit", str(junit), "--markdown", str(markdown))
    assert ended.code in ANSWERED
    ElementTree.fromstring(junit.read_text(encoding="utf-8"))
    assert markdown.read_text(encoding="utf-8").strip()


def answer(stored: Stored) -> None:
    with _measured(stored.runs):
        stored.page("answer")
        stored.ask("answer", columns=80)


@cache
def _facts() -> dict[str, Any]:
    return gather(LocalTarget().files())


@contextmanager
def _measured(runs: list[StoredRun]) -> Iterator[None]:
    """Verbs that measure find these runs measured, and look at the machine once."""
    measured = Batch(tuple(runs), (), False, ())
    with (
        mock.patch("tautochrone.command.batch.run_batch", return_value=measured),
        mock.patch("tautochrone.machine.facts.gather", return_value=_facts()),
        mock.patch("tautochrone.command.permission.find_permission", return_value=_PERMITTED),
    ):
        yield


def campaign(stored: Stored) -> None:
    name = "plan-latest"
    path, junit, markdown = (stored.folder / f"summary.{end}" for end in ("html", "xml", "md"))
    ended = stored.ask("report", name, "-o", str(path), "--junit", str(junit), "--markdown", str(markdown))
    if ended.code in ANSWERED:
        ElementTree.fromstring(junit.read_text(encoding="utf-8"))
        assert markdown.read_text(encoding="utf-8").strip()
    stored.page("report", name)
    for kind in stored.ask("figure", name, "--kind", "list").out.splitlines():
        stored.ask("figure", name, "--kind", kind.split()[0], "--out", str(stored.folder / "chart.svg"))
    stored.page("select", name)
    stored.everywhere("compare", f"{name}/aaaa", f"{name}/bbbb")


def notebook(stored: Stored) -> None:
    place = str(stored.store.path)
    assert tc.runs(place).num_rows >= len(stored.runs)
    for name in stored.ids:
        run = tc.open(name, place)
        measure = next(iter(run.measures))
        for make in (
            lambda run=run: run,
            lambda run=run: run.samples.num_rows,
            lambda run=run: run.bins.num_rows,
            lambda run=run: run.values(),
            lambda run=run: run.quantile(0.999),
            lambda run=run: run.summary(),
            lambda run=run: run.tail("100us"),
            lambda run=run: run.course(),
            lambda run=run, measure=measure: run.check(f"{measure} p99 < 100us"),
            lambda run=run: run.check("misses < 1 per hour"),
            lambda run=run: run.chart_kinds,
            *(lambda run=run, kind=kind: run.chart(kind) for kind in run.chart_kinds),
        ):
            _in_a_cell(make)
    _in_a_cell(lambda: tc.compare(*stored.ids, store=place))
    _in_a_cell(lambda: tc.select(*stored.ids, store=place))
    _in_a_cell(lambda: tc.plan_samples("p99.99", like=stored.ids[0], store=place))


def _in_a_cell(make: Callable[[], Any]) -> None:
    """As a notebook shows it, also in words; or refused with advice."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            shown = make()
            for form in ("_repr_html_", "_repr_mimebundle_"):
                if hasattr(shown, form):
                    assert getattr(shown, form)()
            assert repr(shown)
        except tc.TautoError as error:
            refused = error
        else:
            return
    assert len(str(refused)) > 10
    assert refused.advice, refused


VERBS = (
    list_, show, tail, report, figure, export, compare, select, trend, check, answer, campaign, notebook,
)  # fmt: skip
_ONE = (list_, show, tail, export)
"""Look at each run by itself."""
_DRAWN = (report, figure, compare, select, check, answer, campaign, notebook)
"""Draw pages and charts: too much for `make check`."""


def hold(verb: Callable[[Stored], None], all_made: list[Made]) -> None:
    """See that a verb ends as designed for these runs."""
    with tempfile.TemporaryDirectory() as folder, remembered():
        stored = Stored(Path(folder), all_made, of_plan if verb is campaign else lambda _: {})
        if stored.runs:
            verb(stored)


def any_made(verb: Callable[[Stored], None], most: int) -> st.SearchStrategy[list[Made]]:
    """Runs to ask this verb about: where several are looked at, often of one kind."""
    if verb in _ONE:
        return st.lists(made(most=most), min_size=1, max_size=1)
    alike = st.sampled_from(KINDS).flatmap(lambda kind: st.lists(made((kind,), most), min_size=1, max_size=4))
    return alike | st.lists(made(most=most), min_size=1, max_size=4)


_SOME_OF_ALL = [
    Made(
        sources=(
            Samples("heavy", 300, missed=7, dropped=3),
            Samples(),
            Samples("two-valued", 64, dropped=1),
            Samples("late", 2),
        ),
        title=ODD_TITLES[0],
    ),
    Made(sources=(Samples("signed", 40, missed=2),), histogram=True, cut=1, load="cpu", title=ODD_TITLES[1]),
]
_OF_A_TASK_SET = [
    Made("taskset", sources=(Samples("exponential", 200), Samples("late", 30)), title=ODD_TITLES[2]),
    Made("taskset", sources=(Samples("bursts", 120, missed=3),), load="cpu", title=ODD_TITLES[5]),
]
_OF_MECHANISMS = [
    Made("response", sources=(Samples("lattice", 60), Samples("zero", 9)), title=ODD_TITLES[3]),
    Made("kernel, response", sources=(Samples("heavy", 80),), title=ODD_TITLES[4]),
]
_OF_OWN_CODE = [
    Made(
        "step", sources=(Samples(count=60, missed=2), Samples("late", 9)), histogram=True, title=ODD_TITLES[0]
    ),
    Made("step, exchange", sources=(Samples("heavy", 80, dropped=3, seed=2),), title=ODD_TITLES[1]),
    Made("watch", sources=(Samples("bursts", 120), Samples("zero", 9)), load="cpu", ended="failed"),
]
_OF_INTERRUPTS = [
    Made("interrupt", sources=(Samples("heavy", 80),), title=ODD_TITLES[2]),
    Made("interrupt", sources=(Samples("ramp", 60, missed=2),), load="cpu"),
]
_FOUND = {
    "running maxima before the first bins": (
        tail,
        Made(sources=(Samples(count=40),) * 2, histogram=True, cut=6),
    ),
    "running maxima after the last bins": (
        show,
        Made(sources=(Samples("ramp", 40),), histogram=True, cut=1),
    ),
    "a cut between the bins of two measures": (
        show,
        Made("watch", sources=(Samples(count=40),), histogram=True, cut=9),
    ),
    "nearly all releases are missed": (show, Made(sources=(Samples("spikes", 3_000, 10 * S),))),
    "a step of a tire lasts for years": (report, Made("tire", sources=(Samples("huge", 300, seed=4),))),
    "nothing of an inversion lasts": (report, Made("inversion", sources=(Samples("zero", 33),))),
}
"""Runs with which a verb once failed."""


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=pytest.mark.slow) if verb in _DRAWN else verb for verb in VERBS]
)
def test_any_runs_are_answered_or_refused(verb: Callable[[Stored], None]) -> None:
    @settings(QUICK, max_examples=_QUICKLY.get(verb, 1))
    @example(_SOME_OF_ALL)
    @given(any_made(verb, 64))
    def holds(all_made: list[Made]) -> None:
        hold(verb, all_made)

    holds()


_QUICKLY = {list_: 4, show: 4, tail: 4, export: 4, trend: 2}
"""How many runs are tried in `make check` and `make test`; where charts are drawn, one beside the above."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "all_made",
    [_OF_A_TASK_SET, _OF_MECHANISMS, _OF_OWN_CODE],
    ids=["taskset", "mechanisms", "own code"],
)
@pytest.mark.parametrize("verb", [show, tail, figure, export, notebook])
def test_other_experiments_are_answered_or_refused(
    verb: Callable[[Stored], None], all_made: list[Made]
) -> None:
    hold(verb, all_made)


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "one"), _FOUND.values(), ids=_FOUND.keys())
def test_what_once_failed_is_answered_or_refused(verb: Callable[[Stored], None], one: Made) -> None:
    hold(verb, [one])


@pytest.mark.slow
def test_a_check_compares_no_work_with_one_that_took_no_time() -> None:
    hold(
        check,
        [
            Made("watch", sources=(Samples("alike", 64, MS),), load="cpu"),
            Made("watch", sources=(Samples("zero", 64),)),
        ],
    )


def test_a_source_whose_clock_was_set_back_is_drawn_beside_another() -> None:
    back, on = (
        Envelope(np.array(times), np.array([1, 2, 3]), np.array([4, 5, 6]))
        for times in ([5.0, 3.0, 1.0], [6.0, 5.0, 4.0])
    )
    merged = merge_envelopes([back, on])
    assert (merged.low_ns.min(), merged.high_ns.max()) == (1, 6)


def test_a_source_with_a_gap_of_years_is_drawn_in_no_more_stretches_than_it_has() -> None:
    times = np.array([0.001, 0.002, 0.003, 1e9])
    one = Envelope(times, np.arange(4), np.arange(4) + 5)
    merged = merge_envelopes([one, one])
    assert len(merged.time_s) <= len(times)
    assert (merged.low_ns.min(), merged.high_ns.max()) == (0, 8)


@pytest.mark.long
@pytest.mark.parametrize("verb", VERBS)
def test_long_any_runs_are_answered_or_refused(verb: Callable[[Stored], None]) -> None:
    @LONG
    @given(any_made(verb, 20_000))
    def holds(all_made: list[Made]) -> None:
        hold(verb, all_made)

    holds()


_WITH_PAGES = ("report", "compare", "select", "trend", "check", "answer", "campaign")


@pytest.mark.slow
@pytest.mark.parametrize(
    "tried", [QUICK_PAGES, pytest.param(LONG, marks=pytest.mark.long)], ids=["one", "any"]
)
@pytest.mark.parametrize("verb", _WITH_PAGES)
def test_a_browser_draws_every_chart_of_any_page(browser: Browser, verb: str, tried: settings) -> None:
    @tried
    @example(_SOME_OF_ALL)
    @example(_OF_A_TASK_SET)
    @example(_OF_MECHANISMS)
    @example(_OF_OWN_CODE)
    @example(_OF_INTERRUPTS)
    @given(any_made(report, 300))
    def holds(all_made: list[Made]) -> None:
        _see_drawn(browser, verb, all_made)

    holds()


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", _WITH_PAGES)
def test_long_a_browser_draws_each_kind_of_run_of_each_shape(browser: Browser, verb: str, kind: str) -> None:
    """A report of every shape; other pages of the shapes that are furthest from a quiet machine's."""
    for at, shape in enumerate(SHAPES if verb == "report" else ("two-valued", "huge", "late", "zero")):
        first = Samples(shape, 300, missed=7, dropped=3, seed=at)
        title = ODD_TITLES[at % len(ODD_TITLES)]
        few = Samples(shape, at % 4, 30 * MS)
        for all_made in (
            [Made(kind, sources=(first, few, Samples()), title=title)],
            [Made(kind, sources=(first,), title=title), Made(kind, sources=(few, first), load="cpu", cut=1)],
        )[verb in ("compare", "select") :]:
            _see_drawn(browser, verb, all_made)


def _see_drawn(browser: Browser, verb: str, all_made: list[Made]) -> None:
    """The page that a verb makes of these runs, if it makes one, as a browser shows it."""
    with tempfile.TemporaryDirectory() as folder:
        stored = Stored(Path(folder), all_made, of_plan if verb == "campaign" else lambda _: {})
        path = _page_of(verb, stored) if stored.runs else None
        if path is None:
            return
        seen = look(browser, path)
        try:
            assert seen.errors == [], all_made
            assert seen.page.locator(".chart .undrawn").all_text_contents() == [], all_made
            assert seen.requests == [path.as_uri()]
            see_legends_within(seen.page)
        finally:
            seen.page.close()


def _page_of(verb: str, stored: Stored) -> Path | None:
    if verb == "campaign":
        return stored.page("report", "plan-latest")
    if verb in ("check", "answer"):
        with _measured(stored.runs):
            return stored.page(verb, *(("--rate", "1kHz", "--misses", "0") if verb == "check" else ()))
    return stored.page(verb, *(["misses"] if verb == "trend" else stored.ids))
