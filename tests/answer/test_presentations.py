"""Runs with many rows, several measures, signed values, periods of their own, and rows that are absent."""

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import streams
from report_runs import latencies, store_run
from tautochrone.answer import composition, evidence, figure, report, show
from tautochrone.answer.charts.histogram import display_bins, display_edges
from tautochrone.answer.charts.signs import unit_path
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.document import Document, TypedCell, TypedTable, columns, count, micros, time, words
from tautochrone.answer.document import part as document_part
from tautochrone.answer.evidence import MeasuredEvidence
from tautochrone.answer.experiments import presentation_of
from tautochrone.answer.phrasing import mechanisms as costs
from tautochrone.answer.render import page as document_page
from tautochrone.answer.render import terminal
from tautochrone.answer.render.terminal import split
from tautochrone.answer.show import sketch
from tautochrone.base.errors import DamagedError, UsageError
from tautochrone.judge.mechanisms import mechanisms
from tautochrone.judge.verdict import judge_runs
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import PROBE_DROPPED, Books
from tautochrone.run.recover import recover
from tautochrone.run.store import Store

EXPERIMENTS = (
    "switch", "rhealstone", "inversion", "period", "response", "interrupt", "timerlat", "kernel", "taskset",
    "tire",
)  # fmt: skip
ABSENT = [{"name": "suspend-resume", "why": "POSIX has no such call"}]
MS = 1_000_000
BOTH_WAYS = [
    {"name": "there_ns", "table": "samples", "from": "scheduled_ns", "to": "wake_ns", "meaning": "there"},
    {"name": "back_ns", "table": "samples", "from": "wake_ns", "to": "scheduled_ns", "meaning": "and back"},
]
"""The second measure has every value of the first with the other sign."""


def sources(count: int, **more: Any) -> list[dict[str, Any]]:
    """Sources as an experiment of stages describes them."""
    policy = {"policy": "fifo", "priority": 90, "cpu": 0}
    return [
        {
            "source": at,
            "name": f"mechanism {at}, cpu0 to cpu1",
            "what": f"the way of waking number {at}",
            "role": "sender",
            "requested": policy,
            "obtained": policy,
            "partners": [{"role": "receiver", "requested": policy, "obtained": policy}],
            **more,
        }
        for at in range(count)
    ]


def many_rows(folder: Path, count: int = 20) -> StoredRun:
    """A run of an experiment that nothing presents, with rows that a system can't give."""
    header = {"measures": BOTH_WAYS, "sources": sources(count), "absent": ABSENT}
    values = [latencies(at, 4_000 + 500 * at, 90_000)[:400] for at in range(count)]
    return store_run(
        Store(folder), values, experiment="many", period_ns=None, header_extra=header, title="many rows"
    )


def signed(folder: Path) -> StoredRun:
    """Errors on both sides of 0, with 0 among them, and one far out on each side."""
    generator = np.random.default_rng(3)
    values = [np.rint(generator.normal(0, 3_000, 2_000)).astype(np.int64) for _ in range(2)]
    for each in values:
        each[:3] = -250_000, 0, 400_000
    error = {**BOTH_WAYS[0], "name": "period_error_ns", "meaning": "error of the period"}
    return store_run(
        Store(folder), values, experiment="even", period_ns=None, header_extra={"measures": [error]}
    )


def shown(run: StoredRun, columns: int | None) -> str:
    """What `tauto show` prints on a terminal of this width, or in a pipe."""
    out = StringIO()
    console = (
        Console(file=out, width=columns, force_terminal=True, color_system=None, highlight=False)
        if columns
        else Console(file=out, width=10_000, highlight=False)
    )
    terminal.show(console, show.document(evidence.gather([run]), whole=not console.is_terminal))
    return out.getvalue()


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_has_what_presents_it(experiment: str) -> None:
    presentation = presentation_of(experiment)

    assert presentation is not None
    assert callable(presentation.tables)
    assert callable(presentation.figures)


def test_what_is_measured_in_kernel_space_is_shown_as_what_it_mirrors_and_names_its_counterpart(
    tmp_path: Path,
) -> None:
    error = {**BOTH_WAYS[0], "name": "period_error_ns", "meaning": "error of the period"}
    own = {"measure": "period", "periods": "10ms,30ms"}
    run = store_run(
        Store(tmp_path),
        [np.array([-300, 500]), np.array([700])],
        experiment="kernel",
        names=["10 ms, cpu0", "30 ms, cpu0"],
        header_extra={"measures": [error], "parameters": own},
        around={"target": "lab:debian:rt"},
    )
    presentation = presentation_of("kernel")
    assert presentation is not None
    (table,) = presentation.tables([run], [""])
    assert table.title == "In kernel space: error of the period"
    assert [row[0].shown for row in table.rows] == ["10 ms, cpu0", "30 ms, cpu0"]
    assert "tauto probe period --periods 10ms,30ms --on lab:debian:rt" in table.notes[-1]


def test_what_has_no_presentation_is_shown_by_the_general_summary() -> None:
    assert presentation_of("cyclic") is None
    assert presentation_of("clock") is None


def test_a_column_is_as_it_was_recorded_also_where_the_file_keeps_the_measure_only(tmp_path: Path) -> None:
    run = store_run(Store(tmp_path), [np.array([5, 7]), np.array([11])])

    scheduled, wake = run.column("scheduled_ns", 0), run.column("wake_ns", 0)

    assert scheduled.tolist() == [streams.START_NS, streams.START_NS + MS]
    assert (wake - scheduled).tolist() == [5, 7]
    assert run.column("wake_ns", 1).tolist() == [streams.START_NS + 11]
    with pytest.raises(UsageError) as refused:
        run.column("slept_ns", 0)
    assert "scheduled_ns, wake_ns" in refused.value.advice


def test_a_histogram_has_no_columns(tmp_path: Path) -> None:
    run = store_run(Store(tmp_path), [np.array([5, 7])], histogram=True)

    with pytest.raises(UsageError, match="kept a histogram"):
        run.column("wake_ns", 0)


def cut_off(folder: Path, periods_ns: Sequence[int], counts: Sequence[int]) -> tuple[Books, ...]:
    """The books of a run without an end, whose stages ran one after the other, each with its own period."""
    header = {
        "sources": [one | {"period_ns": p} for one, p in zip(sources(len(counts)), periods_ns, strict=True)]
    }
    frames = list(streams.frames([[]] * len(counts), None, footer=False, header_extra=header))
    start_ns = streams.START_NS
    for source, (period_ns, many) in enumerate(zip(periods_ns, counts, strict=True)):
        scheduled = start_ns + np.arange(many, dtype=np.int64) * period_ns
        late = np.where(np.arange(many) == 1, period_ns, 5_000)  # one is a whole period late
        if many:
            rows = np.stack([scheduled, scheduled + late], axis=1)
            frames.append(streams.frame(streams.ROWS, len(frames), rows.tobytes(), source=source))
        start_ns += (many + 50) * period_ns
    writer = Store(folder).create("period", "cut", {"load": "idle"})
    writer.append(b"".join(frames))
    writer.close()
    recover(Store(folder))
    (run,) = Store(folder).runs()
    return run.manifest.books


def test_the_books_of_a_cut_off_run_are_rebuilt_by_the_period_of_each_source(tmp_path: Path) -> None:
    slow, fast, never = cut_off(tmp_path, (30 * MS, MS, 10 * MS), (8, 40, 0))

    assert (slow.released, slow.missed, slow.overruns) == (8, 0, 1)
    assert (fast.released, fast.missed, fast.overruns) == (40, 0, 1)
    assert (never.released, never.recorded) == (None, 0)


def test_a_source_with_a_period_must_count_its_releases(tmp_path: Path) -> None:
    header = {"sources": sources(1, period_ns=MS)}

    with pytest.raises(DamagedError, match="releases and misses are not counted"):
        store_run(Store(tmp_path), [np.array([5])], period_ns=None, header_extra=header)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"sources": [{"source": 0, "name": "a", "period_ns": "1ms"}]}, "period_ns"),
        ({"sources": [{"source": 0, "name": "a", "what": 7}]}, "what"),
        ({"sources": [{"source": 0, "name": "a", "partners": [7]}]}, "partners"),
        ({"absent": [{"name": "yield"}]}, "why"),
    ],
)
def test_a_header_of_another_shape_is_damage(tmp_path: Path, part: dict[str, Any], words: str) -> None:
    with pytest.raises(DamagedError, match=words):
        store_run(Store(tmp_path), [np.array([5])], header_extra=part)


def test_only_runs_about_a_loop_are_judged(tmp_path: Path) -> None:
    response = {**BOTH_WAYS[0], "name": "response_ns"}
    other = store_run(
        Store(tmp_path),
        [latencies(1, 4_000, 9_000)],
        experiment="taskset",
        header_extra={"measures": [response]},
    )
    loop = store_run(Store(tmp_path), [latencies(1, 4_000, 9_000)])

    assert judge_runs([other]) is None
    verdict = judge_runs([other, loop])
    assert verdict is not None
    assert len(verdict.loops) == 1


@pytest.mark.slow
def test_absent_rows_are_na_in_every_table_with_the_reason(tmp_path: Path) -> None:
    run = many_rows(tmp_path, count=3)

    html = document_page.text(report.of_evidence(evidence.gather([run])))
    for text in (shown(run, None), shown(run, 80), shown(run, 220)):
        assert "suspend-resume: N/A, POSIX has no such call" in text
    for text in (shown(run, None), shown(run, 220), shown(many_rows(tmp_path), 80)):
        rows = [line.split() for line in text.splitlines() if line.startswith("suspend-resume ")]
        assert len(rows) == len(BOTH_WAYS)
        assert all(set(cells[1:]) == {"N/A"} for cells in rows)
    assert html.count("POSIX has no such call") == len(BOTH_WAYS)


@pytest.mark.slow
def test_what_a_source_is_stands_where_there_is_room(tmp_path: Path) -> None:
    run = many_rows(tmp_path, count=3)

    assert "the way of waking number 2" in shown(run, 220)
    assert "the way of waking" not in shown(run, 80)
    pipe = next(line for line in shown(run, None).splitlines() if line.startswith("mechanism 2"))
    assert float(pipe.split()[-1].replace(",", "")) > 0
    assert "the way of waking number 2" in document_page.text(report.of_evidence(evidence.gather([run])))


@pytest.mark.slow
def test_many_sources_and_measures_stay_readable_on_80_columns(tmp_path: Path) -> None:
    text = shown(many_rows(tmp_path), 80)

    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert sum(line.startswith("mechanism ") for line in text.splitlines()) == 20 * len(BOTH_WAYS)
    assert text.count("Worst of") == 1


@pytest.mark.slow
def test_many_sources_make_no_wall_of_charts(tmp_path: Path) -> None:
    seen = evidence.gather([many_rows(tmp_path)])

    panels = [panel for one in seen.measured for fig in composition.compose(one, "m") for panel in fig.panels]

    assert len(panels) == len(BOTH_WAYS)
    assert document_page.text(report.of_evidence(seen)).count('class="chart"') == len(BOTH_WAYS)


def test_measures_stand_in_the_order_of_the_header(tmp_path: Path) -> None:
    seen = evidence.gather([many_rows(tmp_path, count=2)])

    assert [one.measure for one in seen.measured] == ["there_ns", "back_ns"]
    assert seen.measured[0].series[0].maximum_ns == -min(
        one.bins.low_ns.min()
        for one in seen.measured[1].series
        if one.source == seen.measured[0].series[0].source
    )


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> MeasuredEvidence:
    (measured,) = evidence.gather([signed(tmp_path_factory.mktemp("store"))]).measured
    return measured


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["histogram", "cumulative", "cpus"])
def test_every_chart_shows_values_on_both_sides_of_0(errors: MeasuredEvidence, kind: str) -> None:
    chart = figure.draw(errors, kind)

    scales = [scale for scale in find(chart.specification(PAGE), "scale") if scale.get("type") == "symlog"]
    svg = figure.encode(chart, "svg").decode()
    assert scales
    assert all(scale["constant"] > 0 for scale in scales)
    assert "\u2212100 µs" in svg
    assert "NaN" not in svg


@pytest.mark.slow
def test_a_signed_measure_over_time_has_an_axis_to_both_sides(tmp_path: Path) -> None:
    run = store_run(Store(tmp_path), [np.array([-250_000, 0, 3_000, -2_000, 400_000] * 50)])

    chart = figure.draw(evidence.gather([run]).measured[0], "time")

    assert any(scale.get("type") == "symlog" for scale in find(chart.specification(PAGE), "scale"))
    assert "NaN" not in figure.encode(chart, "svg").decode()


def find(content: Any, key: str) -> list[dict[str, Any]]:
    """Every object of this name in a specification."""
    if isinstance(content, list):
        return [one for part in content for one in find(part, key)]
    if not isinstance(content, dict):
        return []
    own = [content[key]] if isinstance(content.get(key), dict) else []
    return own + [one for part in content.values() for one in find(part, key)]


def test_no_signed_value_is_lost_in_the_bins_of_a_chart(errors: MeasuredEvidence) -> None:
    for one in errors.series:
        edges = display_edges(errors.series)
        bins = display_bins(one.bins, edges)
        assert bins.count.sum() == one.count == 2_000
        assert bins.low_ns[0] <= -250_000
        assert 0 in bins.low_ns
        assert len(bins.count) < 400


def test_signed_values_can_be_sketched(errors: MeasuredEvidence) -> None:
    out = StringIO()
    Console(file=out, width=100).print("\n".join(sketch(errors.series, 60)))

    lines = out.getvalue().splitlines()
    assert lines[0].count("█") >= 1
    assert "-250 us" in lines[0]
    assert "400 us" in lines[0]


@pytest.mark.slow
def test_a_signed_measure_with_only_negative_values_is_drawn(tmp_path: Path) -> None:
    seen = evidence.gather([many_rows(tmp_path, count=2)])

    for kind in ("histogram", "cumulative", "cpus"):
        assert "NaN" not in figure.encode(figure.draw(seen.measured[1], kind), "svg").decode()


WIDE = TypedTable(
    "As the paper prints it",
    columns("", *(f"column {at} (us)" for at in range(9))),
    (
        (words("first row"), *[TypedCell(1_250.0, "ns", "1.250 (0.010)")] * 9),
        (words("N/A row"), *[micros(None)] * 9),
    ),
    ("A note.",),
)


@pytest.mark.parametrize("width", [30, 80, 200])
def test_a_wide_table_is_split_into_parts_that_fit_and_nothing_is_lost(width: int) -> None:
    parts = split(WIDE, width)

    assert [column.head for part in parts for column in part.columns[1:]] == [
        column.head for column in WIDE.columns[1:]
    ]
    assert all(part.columns[0].head == "" and part.rows[0][0].shown == "first row" for part in parts)
    assert [part.notes for part in parts if part.notes] == [WIDE.notes]
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None)
    for piece in terminal.show_table(console, WIDE):
        console.print(piece)
    assert max(len(line) for line in out.getvalue().splitlines()) <= width


def test_columns_of_numbers_stand_to_the_right() -> None:
    rows = (
        (count(1), micros(-3_200), words("yes"), micros(None)),
        (count(2), micros(None), words("5 no"), micros(None)),
    )

    table = TypedTable("", columns("what", "us", "word", "none"), rows)
    assert table.right == [False, True, False, True]


def test_a_page_sets_microseconds_in_heads_and_titles_too() -> None:
    table = TypedTable("Times in us", columns("", "mean (us)"), ((words("bus"), time(12_000)),))
    html = document_page.text(Document("An answer in us", (document_part("Times", lambda: [table]),)))

    assert "An answer in µs</h1>" in html
    assert '<p class="title">Times in µs</p>' in html
    assert '<th scope="col" class="num">mean (µs)</th>' in html
    assert '<th scope="row">bus</th><td class="num">12\u00a0µs</td>' in html.replace("\n", "")


def period_run(folder: Path) -> StoredRun:
    """As the probe's experiment `period` writes it, as far as the lab looks."""
    error = {**BOTH_WAYS[0], "name": "period_error_ns", "meaning": "error of the period"}
    values = [np.array([-3_000, 0, 5_000, -2_000] * 30), np.array([-9_000, 0, 8_000] * 30)]
    return store_run(
        Store(folder), values, experiment="period", header_extra={"measures": [error]}, names=["a", "b"]
    )


@pytest.mark.slow
def test_what_presents_an_experiment_comes_first_and_the_summaries_are_folded(tmp_path: Path) -> None:
    run = period_run(tmp_path)

    text, html = shown(run, 80), document_page.text(report.of_evidence(evidence.gather([run])))

    assert text.index("mean error") < text.index("Error of the period in us")
    folded = html.partition("<details><summary>Every source in numbers</summary>")[2]
    assert html.index('class="grid"') < html.index('class="chart"') < html.index("Every source in numbers")
    assert 'class="dense"' in folded


def test_tables_of_a_presentation_are_in_the_json_of_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tautochrone.command.show import show

    run = period_run(tmp_path)
    show(run.id, as_json=True, store=tmp_path)

    said = json.loads(capsys.readouterr().out)
    assert said["tables"][0]["rows"]
    assert said["absent"] == []


@pytest.mark.slow
def test_figures_of_a_presentation_are_drawn_by_their_names(tmp_path: Path) -> None:
    seen = evidence.gather([period_run(tmp_path)])

    own = [kind for kind in figure.kinds(seen) if kind not in figure.GENERAL]
    drawn, measured = figure.draw_kind(seen, own[0])

    assert own
    assert measured.experiment == "period"
    assert "var(--" not in json.dumps(drawn)
    assert figure.encode(drawn, "svg").startswith(b"<svg")


def test_an_unknown_figure_is_refused_with_all_that_there_are(tmp_path: Path) -> None:
    seen = evidence.gather([period_run(tmp_path)])

    with pytest.raises(UsageError) as refused:
        figure.draw_kind(seen, "pie")

    assert all(kind in refused.value.advice for kind in figure.kinds(seen))


def test_a_figure_can_be_of_another_measure(tmp_path: Path) -> None:
    seen = evidence.gather([many_rows(tmp_path, count=2)])

    assert figure.draw_kind(seen, "cpus", "back_ns")[1].measure == "back_ns"
    with pytest.raises(UsageError) as refused:
        figure.draw_kind(seen, "cpus", "sideways_ns")
    assert "there_ns, back_ns" in refused.value.advice


def test_a_sign_of_a_page_keeps_its_outline_on_paper() -> None:
    assert unit_path("M0 6h22") == "M-1 0h2"
    assert unit_path("M11 1l5 9H6z") == "M0 -0.4545l0.4545 0.8182H-0.4545z"


def test_samples_that_the_probe_dropped_for_its_own_reason_are_not_blamed_on_the_buffer(
    tmp_path: Path,
) -> None:
    told = (PROBE_DROPPED, "3 samples were dropped: their handler was not seen.", "")
    run = store_run(Store(tmp_path), [np.array([5, 6])], dropped={0: 3}, warning=told)

    (warning,) = [one for one in run.manifest.warnings if one.code == "dropped"]
    assert "buffer" not in warning.text
    assert "another warning says why" in warning.text


def test_mechanisms_have_a_line_each_and_what_is_lacking_says_why(tmp_path: Path) -> None:
    switch = store_run(
        Store(tmp_path),
        [np.array([900, 1_000, 1_100]), np.array([1_700, 1_800, 9_000])],
        experiment="switch",
        period_ns=None,
        names=["yield, cpu0", "hand-over none, cpu0"],
    )
    one_cpu = store_run(
        Store(tmp_path),
        [np.array([2_000, 2_200])],
        experiment="response",
        period_ns=None,
        names=["semaphore, cpu0"],
        header_extra={"absent": [{"name": "on two CPUs", "why": "there is only one"}]},
    )

    lines = {costs.what(one): one for one in mechanisms([switch, one_cpu], {"inversion": "Not permitted."})}

    assert (
        lines["Switch between two equal threads"].typical_ns,
        lines["Switch between two equal threads"].worst_ns,
    ) == (
        1_000,
        1_100,
    )
    assert lines["Mutex handover to a higher-priority thread"].worst_ns == 9_000
    assert lines["Semaphore wake-up, same CPU"].typical_ns == 2_000
    assert costs.why_not(lines["Semaphore wake-up, different CPU"]) == "There is only one."
    assert lines["Waiting for a plain mutex"].typical_ns is None
    assert costs.why_not(lines["Waiting for a plain mutex"]) == "Not permitted."


@pytest.mark.slow
def test_without_mechanisms_there_is_no_table_of_them(tmp_path: Path) -> None:
    loop = store_run(Store(tmp_path), [latencies(1, 4_000, 9_000)])

    assert mechanisms([loop], {}) == ()
    assert "Mechanisms" not in document_page.text(
        report.of_evidence(evidence.gather([loop]), report.BesideRuns(judge_runs([loop])))
    )
