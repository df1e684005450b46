"""Charts as files: SVG, PNG and PDF that other programs can read."""

import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

from report_runs import idle_and_loaded, latencies, store_run
from tautochrone.answer import evidence, figure
from tautochrone.answer.charts.theme import PAPER
from tautochrone.answer.evidence import MeasuredEvidence
from tautochrone.base.errors import StoreError, UsageError
from tautochrone.run.store import Store

KINDS = figure.GENERAL


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> MeasuredEvidence:
    return evidence.gather(idle_and_loaded(tmp_path_factory.mktemp("store"))).measured[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_an_svg_is_xml_with_units_and_the_runs_names(
    measured: MeasuredEvidence, kind: str, tmp_path: Path
) -> None:
    path = figure.save(figure.draw(measured, kind), tmp_path / f"{kind}.svg")

    root = ElementTree.fromstring(path.read_text())
    words = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(word.endswith("µs") for word in words)
    assert "idle" in words
    assert "cpu+memory" in words


@pytest.mark.slow
def test_a_png_has_enough_dots_for_print(measured: MeasuredEvidence, tmp_path: Path) -> None:
    content = figure.save(figure.draw(measured, "histogram"), tmp_path / "f.png").read_bytes()

    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width >= 1_800
    assert height >= 800


@pytest.mark.slow
def test_a_pdf_is_a_pdf(measured: MeasuredEvidence, tmp_path: Path) -> None:
    content = figure.save(figure.draw(measured, "cumulative"), tmp_path / "f.PDF").read_bytes()

    assert content.startswith(b"%PDF-")
    assert len(content) > 5_000


@pytest.mark.slow
@pytest.mark.parametrize("format", figure.FORMATS)
def test_characters_that_no_xml_can_have_are_replaced(format: str) -> None:  # noqa: A002
    """The library would end the whole process."""
    odd = {"data": {"values": [{"run": "a\x01\x1b\ud800\ufffeb"}]}, "mark": "text"}
    content = figure.encode({**odd, "encoding": {"text": {"field": "run"}}}, format)
    assert format != "svg" or "a\ufffd\ufffd\ufffd\ufffdb" in content.decode()


def test_another_ending_is_refused_with_the_endings_there_are(
    measured: MeasuredEvidence, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as refused:
        figure.save(figure.draw(measured, "cpus"), tmp_path / "figure.gif")

    assert ".svg, .png or .pdf" in refused.value.advice


def test_a_place_that_can_not_be_written_is_said(measured: MeasuredEvidence, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Can't write the figure"):
        figure.save(figure.draw(measured, "cpus"), tmp_path / "nowhere" / "figure.svg")


def test_a_histogram_run_shows_its_running_maxima_over_time(tmp_path: Path) -> None:
    run = store_run(Store(tmp_path), [latencies(1, 4_000, 50_000)], histogram=True)

    svg = figure.encode(figure.draw(evidence.gather([run]).measured[0], "time"), "svg").decode()

    assert "worst so far" in svg


@pytest.mark.slow
def test_the_cumulative_figure_has_the_whole_curve_and_its_top(measured: MeasuredEvidence) -> None:
    svg = figure.encode(figure.draw(measured, "cumulative"), "svg").decode()

    assert "All completed cycles" in svg
    assert "The latest tenth of them, enlarged" in svg


def test_runs_over_time_have_a_panel_each_so_that_no_label_covers_another_run(
    measured: MeasuredEvidence,
) -> None:
    drawn = figure.draw(measured, "time").specification(PAPER)

    assert [panel["title"] for panel in drawn["vconcat"]] == ["idle", "cpu+memory"]


def test_what_is_left_out_of_a_figure_is_said(tmp_path: Path) -> None:
    store = Store(tmp_path)
    clock = store_run(store, [latencies(1, 40, 90)], experiment="clock", period_ns=None, title="clocks")
    raw = store_run(store, [latencies(2, 4_000, 50_000)], "idle")
    bins = store_run(store, [latencies(3, 4_000, 50_000)], "cpu", histogram=True)
    seen = evidence.gather([clock, raw, bins])

    (of_histogram,) = figure.left_out(seen, seen.measured[0], "histogram")
    of_time = figure.left_out(seen, seen.measured[0], "time")

    assert clock.manifest.id in of_histogram
    assert "clock" in of_histogram
    assert len(of_time) == 2
    assert "kept a histogram" in of_time[1]
