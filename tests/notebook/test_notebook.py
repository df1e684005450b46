"""`import tautochrone as tc`: what a notebook has, without copies, with errors for people, shown as HTML."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tautochrone as tc
from report_runs import latencies, store_run
from selection_runs import deployed
from selection_runs import latencies as alike
from tautochrone.notebook import functions
from tautochrone.notebook import run as notebook_run
from tautochrone.notebook.answers import DrawnChart, Shown
from tautochrone.notebook.run import Interval, interval_of
from tautochrone.run.store import Store
from tautochrone.statistics.summary import BINNED

PARTS = ("Returns:", "Raises:", "Source:")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    store = Store(folder)
    store_run(store, [latencies(1, 4_000, 42_000), latencies(2, 3_500, 61_000)], "idle")
    store_run(store, [latencies(3, 9_000, 310_000), latencies(4, 8_000, 184_000)], "cpu+memory")
    store_run(store, [latencies(5, 9_000, 310_000)], "idle", histogram=True)
    return folder


@pytest.fixture(scope="module")
def idle(folder: Path) -> tc.Run:
    return tc.open("latest~2", store=folder)


class _Readable(HTMLParser):
    """Collects the text, and sees that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(shown: Any) -> str:
    """The text of what a notebook shows."""
    parser = _Readable()
    parser.feed(shown._repr_html_().partition("<svg")[0])
    return " ".join(parser.text)


def test_importing_loads_nothing_and_names_what_there_is() -> None:
    code = (
        "import sys, tautochrone as tc; print(sorted(n for n in dir(tc) if n[0] != '_'));"
        "print([n for n in ('numpy', 'pyarrow', 'typing', 'tautochrone.run') if n in sys.modules])"
    )
    environment = {"PYTHONPATH": str(Path(tc.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    names, loaded = map(ast.literal_eval, done.stdout.splitlines())
    assert set(names) >= {"Run", "TautoError", "compare", "open", "plan_samples", "runs", "select"}
    assert loaded == []
    assert set(tc.__all__) <= set(dir(tc))
    assert (Path(tc.__file__).parent / "py.typed").exists()
    with pytest.raises(AttributeError, match="opne"):
        tc.opne  # noqa: B018 - it is the looking up that fails


def test_the_samples_are_one_chunk_each_and_views_of_one_memory(idle: tc.Run) -> None:
    table = idle.samples
    assert table.column_names == ["source", "scheduled_ns", "latency_ns"]
    assert table.num_rows == 6_000
    assert table.nbytes == 20 * 6_000
    for column in table.columns:
        assert column.num_chunks == 1
        column.chunk(0).to_numpy(zero_copy_only=True)
    whole = table["latency_ns"].chunk(0).to_numpy(zero_copy_only=True)
    for values in (idle.values(), idle.values("latency", 1), idle.values(source="cpu0")):
        assert np.shares_memory(values, whole)
        assert not values.flags.writeable
    np.testing.assert_array_equal(idle.values("latency_ns", "cpu1"), latencies(2, 3_500, 61_000))
    np.testing.assert_array_equal(idle.values(source=0), latencies(1, 4_000, 42_000))
    assert np.array_equal(np.unique(table["source"].to_numpy()), [0, 1])
    assert idle.values("scheduled_ns").dtype == np.int64


def test_a_run_tells_what_it_is(idle: tc.Run) -> None:
    assert dict(idle.measures) == {"latency_ns": "scheduling latency"}
    assert dict(idle.sources) == {0: "cpu0", 1: "cpu1"}
    assert idle.facts["cpu"]["model"] == "Test CPU"
    assert idle.conditions["load"] == "idle"
    assert [one.released for one in idle.books] == [3_000, 3_000]
    assert "6,000" in read(idle)
    assert "61 us" in repr(idle)


def test_a_quantile_has_its_interval(idle: tc.Run) -> None:
    found = idle.quantile(0.99)
    everything = np.sort(np.concatenate([latencies(1, 4_000, 42_000), latencies(2, 3_500, 61_000)]))
    assert found.value_ns == everything[5_940 - 1]
    assert found.low_ns is not None
    assert found.high_ns is not None
    assert found.low_ns < found.value_ns < found.high_ns
    wider = idle.quantile(0.99, confidence=0.999)
    assert wider.low_ns is not None
    assert wider.low_ns <= found.low_ns
    assert idle.quantile(0.99, source="cpu0").samples == 3_000
    assert idle.quantile(0.99999).low_ns is None
    assert "at 95\xa0% confidence" in read(found)


def test_releases_without_a_sample_are_later_than_every_quantile(tmp_path: Path) -> None:
    values = alike(1, 9_000, count=1_000)
    values[::20] = 1_200_000  # every twentieth takes the next release along
    run = tc.open(deployed(Store(tmp_path), "M", values).path)
    found = run.quantile(0.99)
    assert (found.lost, found.value_ns, found.high_ns) == (50, None, None)
    assert "later than every sample (its whole interval, too" in found.sentence()
    assert "no interval: it takes " in run.quantile(0.9999).sentence()
    median = run.quantile(0.5)
    assert median.value_ns == np.sort(values)[525 - 1]


def test_likeness_of_neighbours_widens_the_interval(tmp_path: Path) -> None:
    """Stretches of 100 that are alike: each says little more than one sample."""
    generator = np.random.default_rng(3)
    levels = np.repeat(generator.lognormal(np.log(9_000), 0.3, 100), 100)
    together = (levels * generator.lognormal(0, 0.01, 10_000)).astype(np.int64)

    def width(values: np.ndarray[Any, Any], name: str) -> float:
        run = tc.open(deployed(Store(tmp_path / name), "M", values).path)
        found = run.quantile(0.5)
        assert found.low_ns is not None
        assert found.high_ns is not None
        return found.high_ns - found.low_ns

    assert width(together, "a") > 4 * width(generator.permutation(together), "b")


def test_a_run_that_kept_a_histogram_has_bins_and_says_so(folder: Path) -> None:
    run = tc.open("latest", store=folder)
    assert run.bins.column_names == ["source", "measure", "low_ns", "high_ns", "count"]
    assert sum(run.bins["count"].to_pylist()) == 3_000
    for ask in (lambda: run.samples, run.values):
        with pytest.raises(tc.TautoError, match="kept a histogram") as refused:
            ask()
        assert "bins" in refused.value.advice
    low = min(run.bins["low_ns"].to_pylist())
    (summary,) = run.summary().result.values()
    assert (summary.minimum, summary.resolution) == (low, BINNED)
    with pytest.raises(tc.TautoError, match="has samples and no histogram"):
        _ = tc.open("latest~1", store=folder).bins
    median = run.quantile(0.5)
    assert median.design_effect == 1
    assert median.low_ns in run.bins["low_ns"].to_pylist()
    assert median.high_ns in run.bins["high_ns"].to_pylist()
    assert run.tail().result.sources[0].refusal is not None


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda run: run.quantile(99), r"quantile\(99"),
        (lambda run: run.values("lateness"), "no column 'lateness'"),
        (lambda run: run.quantile(0.5, "lateness"), "no measure 'lateness'"),
        (lambda run: run.values(source="cpu7"), "no source 'cpu7'"),
        (lambda run: run.chart("pie"), "no figure 'pie'"),
        (lambda run: run.check("latency < 3 apples"), "requirement"),
        (lambda run: run.tail("soon"), "'soon' is not a duration"),
        (tc.compare, "1 side to compare"),
        (tc.select, "nothing to select from"),
        (lambda run: tc.select(run, run), "named twice"),
        (lambda run: tc.plan_samples(99.9), "above 0 and below 1"),
        (lambda run: tc.plan_samples(), "one of them"),
    ],
)
def test_errors_are_those_for_people(idle: tc.Run, ask: Callable[[tc.Run], Any], words: str) -> None:
    with pytest.raises(tc.TautoError, match=words) as refused:
        ask(idle)
    assert refused.value.advice


def test_a_run_that_is_not_there_is_told(folder: Path) -> None:
    with pytest.raises(tc.TautoError, match="There is no run 'nope'"):
        tc.open("nope", store=folder)


def test_the_list_of_runs_is_an_arrow_table(folder: Path, tmp_path: Path) -> None:
    table = tc.runs(folder)
    assert table.num_rows == 3
    assert table["load"].to_pylist() == ["idle", "cpu+memory", "idle"]
    assert table["worst_ns"][0].as_py() == 61_000
    assert table.schema.field("created").type == pa.timestamp("ms", "UTC")
    assert tc.open(Path(table["path"][0].as_py())).id == table["id"][0].as_py()
    assert tc.runs(tmp_path / "none").num_rows == 0


def test_a_run_that_tells_no_instant_is_listed_without_one(tmp_path: Path) -> None:
    path = store_run(Store(tmp_path), [latencies(1, 4_000, 42_000)], "idle").path / "run.json"
    path.write_text(re.sub('"created": "[^"]*"', '"created": "yesterday"', path.read_text()))
    assert tc.runs(tmp_path)["created"].to_pylist() == [None]


@pytest.mark.slow
def test_answers_show_as_html_and_as_text(idle: tc.Run, folder: Path) -> None:
    loaded = tc.open("latest~1", store=folder)
    answers: dict[str, Shown[Any]] = {
        "summary": idle.summary(),
        "tail": idle.tail("100us"),
        "course": idle.course(),
        "check": idle.check("latency p99 < 1ms"),
        "compare": tc.compare(idle, loaded, store=folder),
        "plan": tc.plan_samples("p99.999", like=idle),
        "select": tc.select(idle, loaded, by="load"),
    }
    for name, shown in answers.items():
        text = read(shown)
        assert shown.title.split(" us")[0][:20] in repr(shown), name
        assert len(text) > 60, name
        assert "color:#" not in shown._repr_html_().partition("<svg")[0], name  # those of the notebook
    assert answers["check"].result.standing == "holds"
    assert answers["summary"].result["cpu1"].maximum == 61_000
    assert answers["select"].result.selections[0].ranking.ranked[0].name == "idle"
    assert "which load" in answers["select"].title.lower()
    assert len(answers["select"].charts) == 1


def test_text_of_a_run_can_not_become_markup(tmp_path: Path) -> None:
    run = deployed(Store(tmp_path), "M", alike(1, 9_000, count=100), title="<script>alert(1)</script>")
    shown = tc.open(run.path)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.slow
def test_a_chart_is_drawn_here_and_needs_no_network(idle: tc.Run, tmp_path: Path) -> None:
    chart = idle.chart("cumulative")
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"image/svg+xml", "text/plain"}
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "var(--" not in bundle["image/svg+xml"]
    assert "http" not in bundle["image/svg+xml"].replace("http://www.w3.org", "")
    assert chart.save(tmp_path / "chart.pdf").read_bytes().startswith(b"%PDF")
    assert DrawnChart(chart.altair().to_dict()).svg.startswith("<svg")
    assert set(idle.chart_kinds) >= {"histogram", "cumulative", "time", "cpus", "tail"}


@pytest.mark.slow
def test_an_interval_covers_the_quantile_as_often_as_it_says() -> None:
    from tautochrone.judge.reduced import Reduced
    from tautochrone.statistics.counts import counts_of

    generator = np.random.default_rng(5)
    missed = 0
    for _ in range(400):
        values = generator.integers(0, 10**9, 2_000)
        part = Reduced(0, "cpu0", counts_of(values), None, 1_000_000, 0)
        found = interval_of([part], 0.99, 0.95)
        assert found.low_ns is not None
        assert found.high_ns is not None
        missed += not found.low_ns <= 0.99 * 10**9 <= found.high_ns
    assert 4 <= missed <= 32  # of 400 with at most 0.05 each: more come with a chance of 0.005


def _public() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in ("open", "runs", "compare", "select", "plan_samples"):
        yield f"tc.{name}", getattr(functions, name)
    for name, member in inspect.getmembers(notebook_run.Run):
        if name.startswith("_") or name == "stored":
            continue
        if inspect.isfunction(member):
            yield f"Run.{name}", member


@pytest.mark.parametrize(("name", "function"), [pytest.param(*one, id=one[0]) for one in _public()])
def test_every_public_function_says_arguments_units_errors_and_source(
    name: str, function: Callable[..., Any]
) -> None:
    text = inspect.getdoc(function) or ""
    for part in PARTS:
        assert part in text, part
    asked = [one for one in inspect.signature(function).parameters if one != "self"]
    if asked:
        assert "Args:" in text
    for one in asked:
        assert f"{one}:" in text, one
    assert any(unit in text for unit in ("ns", " s.", "fraction", "samples")), "units"


def test_every_public_property_and_answer_is_documented() -> None:
    for kind in (notebook_run.Run, Interval, Shown, DrawnChart):
        assert inspect.getdoc(kind)
        for name, member in vars(kind).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                assert inspect.getdoc(member), name
    for name in ("samples", "bins"):
        text = inspect.getdoc(getattr(notebook_run.Run, name)) or ""
        for part in ("hape (", "Raises:", "Source:", "ns"):
            assert part in text, (name, part)
