"""The figures of a reproduction: every one there, ours in colour, published numbers as marks."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproductions import Made, measured
from tautochrone.answer.charts.signs import unit_path
from tautochrone.answer.charts.theme import PAGE, series_tone
from tautochrone.papers.document import DrawnSeries, Paper, PublishedFigure, PublishedMark, Query
from tautochrone.papers.figures import CHARTS, DrawnFigure, captions, draw, draw_all, looks
from tautochrone.papers.figures.looks import Study, study_of
from tautochrone.papers.folder import names, width, with_lengths, written
from tautochrone.papers.studies import NAMES, read

PAPERS = NAMES
STUDY = Study("Somebody (2001)", ("Alpha", "Beta"))
CURVES = PublishedFigure(
    "Figure 7",
    "How late",
    "cumulative",
    "curves",
    (DrawnSeries("unloaded", Query("loop", "samples", load="idle")),
     DrawnSeries("loaded", Query("loop", "samples", load="comms"))),
    (PublishedMark("Alpha", "unloaded", 40.0, 0.97, "97 %, Table 1"),
     PublishedMark("Beta", "loaded", 90.0, 1.0, "maximum, Table 1")),
    settings={"unit": "us", "published_samples": 10_000},
)  # fmt: skip
STRIPS = PublishedFigure(
    "Figure 4",
    "How long",
    "strips",
    "dots",
    (DrawnSeries("user space", Query("mail", "mean")),),
    (PublishedMark("Alpha", "user space", 2605.0, None, "mean, section 3"),),
    settings={"unit": "ns"},
)
WHY = "The probe may not use SCHED_FIFO here."

SETTINGS: dict[str, frozenset[str]] = {
    "cumulative": frozenset({"unit", "axis", "top", "published_samples"}),
    "histogram-panels": frozenset({"unit", "axis"}),
    "middleware-clients": frozenset({"unit", "axis", "clients"}),
    "middleware-footprint": frozenset(),
    "middleware-rates": frozenset(),
    "quantile-plot": frozenset(),
    "schedule": frozenset(),
    "strips": frozenset({"unit", "axis"}),
    "tire-fast": frozenset({"role", "policy"}),
    "tire-map": frozenset({"role", "policy", "kind"}),
    "tire-model": frozenset(),
}


def samples(seed: int, median_ns: int = 20_000, count: int = 1_000) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).lognormal(np.log(median_ns), 0.3, count).astype(np.int64)


def specification(drawn: DrawnFigure) -> str:
    return json.dumps([panel.chart.specification(PAGE) for part in drawn.parts for panel in part.panels])


def rows_of(drawn: DrawnFigure, panel: int, layer: int) -> list[dict[str, Any]]:
    spec = drawn.parts[0].panels[panel].chart.specification(PAGE)
    data = spec["layer"][layer].get("data") or spec["data"]
    rows: list[dict[str, Any]] = data["values"] if "values" in data else spec["datasets"][data["name"]]
    return rows


def said(drawn: DrawnFigure) -> str:
    return " ".join(sentence for part in drawn.parts for sentence in (*part.caption, *part.notes))


def known_papers() -> list[Paper]:
    return [read(name) for name in PAPERS]


def test_every_figure_of_every_study_has_a_chart_that_draws_it() -> None:
    charts = {figure.chart for paper in known_papers() for figure in paper.figures}

    assert charts <= set(CHARTS)


def test_every_setting_of_every_figure_is_one_that_its_chart_reads() -> None:
    unread = [
        (paper.name, figure.name, name)
        for paper in known_papers()
        for figure in paper.figures
        for name in figure.settings
        if name not in SETTINGS[figure.chart] | {"print"}
    ]

    assert set(SETTINGS) == set(CHARTS)
    assert not unread


@pytest.mark.parametrize("name", PAPERS)
def test_where_nothing_was_measured_every_figure_is_there_and_says_why(name: str, tmp_path: Path) -> None:
    paper = read(name)
    wanted = {series.query.of for figure in paper.figures for series in figure.series}
    nothing = measured(tmp_path, [Made(of, "local", why=WHY) for of in sorted(wanted)])

    drawn = draw_all(paper, nothing)

    assert [one.figure.name for one in drawn] == [figure.name for figure in paper.figures]
    for one in drawn:
        assert any(part.panels for part in one.parts)
        assert WHY in said(one) or not one.figure.series
        assert "this machine" not in [sign.label for part in one.parts for sign in part.key]


def test_no_chart_draws_a_number_that_was_neither_measured_nor_published(tmp_path: Path) -> None:
    nothing = measured(tmp_path, [Made("loop", "local", why=WHY)])

    drawn = draw(CURVES, nothing, STUDY)
    lines, ends, marks = (rows_of(drawn, 0, layer) for layer in range(3))

    assert not lines
    assert not ends
    assert [row["at"] for row in marks] == [40_000.0, 90_000.0]


def test_published_numbers_are_black_marks_and_the_key_says_whose_they_are(tmp_path: Path) -> None:
    one_system = measured(tmp_path, [Made("loop", load="idle", repetitions=[[samples(1)]])])

    drawn = draw(CURVES, one_system, STUDY)
    labels = [sign.label for sign in drawn.parts[0].key]

    assert labels[-3:] == ["Published by Somebody (2001):", "Alpha, unloaded", "Beta, loaded"]
    assert "97 %, Table 1; maximum, Table 1" in said(drawn)
    assert unit_path(looks.published_path(0, 0)) in specification(drawn)
    assert unit_path(looks.published_path(1, 1)) in specification(drawn)


def test_published_marks_of_all_systems_and_series_differ_in_shape() -> None:
    paths = {looks.published_path(rank, series) for rank in range(6) for series in range(4)}

    assert len(paths) == 24


def test_a_system_keeps_its_colour_and_shape_where_the_one_before_it_is_missing(tmp_path: Path) -> None:
    both = measured(
        tmp_path,
        [Made("loop", "local", why=WHY), Made("loop", "lab:debian-rt", repetitions=[[samples(1)]])],
    )

    drawn = draw(CURVES, both, STUDY)
    ours = [sign for sign in drawn.parts[0].key if sign.tone and sign.tone.role == "series"]
    color = drawn.parts[0].panels[0].chart.specification(PAGE)["layer"][0]["encoding"]["color"]["scale"]

    assert [(sign.label, sign.tone) for sign in ours] == [("lab:debian-rt", series_tone(1))]
    assert color["domain"] == ["this machine", "lab:debian-rt"]


def test_a_missing_series_is_named_with_its_reason_and_the_others_are_drawn(tmp_path: Path) -> None:
    half = measured(
        tmp_path,
        [
            Made("loop", load="idle", repetitions=[[samples(1)]]),
            Made("loop", load="comms", why="No network."),
        ],
    )

    drawn = draw(CURVES, half, STUDY)

    assert "Not measured: this machine, loaded. No network." in said(drawn)
    assert {row["source"] for row in rows_of(drawn, 0, 0)} == {"unloaded"}


def test_a_curve_has_the_true_shares_and_ends_at_the_largest_sample(tmp_path: Path) -> None:
    values = samples(3)
    loop = measured(tmp_path, [Made("loop", load="idle", repetitions=[[values]])])

    drawn = draw(replace(CURVES, settings={**CURVES.settings, "top": 0.03}), loop, STUDY)
    linear, rare = rows_of(drawn, 0, 0), rows_of(drawn, 1, 0)

    assert [panel.title for panel in drawn.parts[0].panels] == [
        "the latest 3\u00a0%",
        "the latest 3\u00a0%, by rarity",
    ]
    for row in linear[1:]:
        assert row["share"] == pytest.approx((values <= row["at"]).mean(), abs=1e-6)
        assert row["share"] >= 0.97
    assert linear[-1]["at"] == rare[-1]["at"] == values.max()
    assert rare[-1]["later"] == pytest.approx(1 / len(values))


def test_a_published_maximum_stands_at_the_share_of_one_published_sample(tmp_path: Path) -> None:
    loop = measured(tmp_path, [Made("loop", load="idle", repetitions=[[samples(3)]])])

    drawn = draw(replace(CURVES, settings={**CURVES.settings, "top": 0.03}), loop, STUDY)

    assert [row["later"] for row in rows_of(drawn, 1, 2)] == [pytest.approx(0.03), pytest.approx(1e-4)]


def test_a_published_share_that_a_linear_axis_cant_tell_from_all_is_on_the_axis_of_rarity_alone(
    tmp_path: Path,
) -> None:
    loop = measured(tmp_path, [Made("loop", load="idle", repetitions=[[samples(3)]])])
    marks = (*CURVES.marks, PublishedMark("Alpha", "unloaded", 70.0, 0.99999, "99.999 %, Table 1"))
    figure = replace(CURVES, marks=marks)

    whole = draw(figure, loop, STUDY)
    top = draw(replace(figure, settings={**CURVES.settings, "top": 0.03}), loop, STUDY)

    assert 70_000.0 not in [row["at"] for row in rows_of(whole, 0, 2)]
    assert "left out" in said(whole)
    assert "99.999 %" not in said(whole)
    assert 70_000.0 not in [row["at"] for row in rows_of(top, 0, 2)]
    assert 70_000.0 in [row["at"] for row in rows_of(top, 1, 2)]


def test_published_marks_that_would_cover_one_another_stand_above_each_other(tmp_path: Path) -> None:
    loop = measured(tmp_path, [Made("loop", load="idle", repetitions=[[samples(3)]])])
    marks = tuple(PublishedMark(system, "unloaded", 7.0, 1.0, "maximum") for system in ("Alpha", "Beta"))

    drawn = draw(replace(CURVES, marks=marks), loop, STUDY)
    layers = drawn.parts[0].panels[0].chart.specification(PAGE)["layer"][2:]

    assert [layer["mark"]["yOffset"] for layer in layers] == [0, -9]


def test_many_published_marks_are_explained_by_system_and_by_series() -> None:
    systems = ("Alpha", "Beta", "Gamma")
    marks = [PublishedMark(one, label, 1.0, 1.0, "") for one in systems for label in ("unloaded", "loaded")]

    key = looks.key_of_published(marks, CURVES, Study("Somebody (2001)", systems))

    assert [sign.label for sign in key[1:4]] == list(systems)
    assert key[4].label == "open: unloaded; with a dot: loaded"


PANELS = PublishedFigure(
    "Figure 4", "How late", "histogram-panels", "bins",
    (DrawnSeries("MI", Query("loop", "samples", load="idle")),
     DrawnSeries("Single", Query("loop", "samples", load="comms"))),
    (PublishedMark("Alpha", "MI", 71.0, None, "maximum, Table 5"),),
    settings={"unit": "us"},
)  # fmt: skip


def test_a_published_maximum_of_what_was_not_measured_here_has_a_panel_that_says_so(tmp_path: Path) -> None:
    single = measured(
        tmp_path,
        [Made("loop", load="comms", repetitions=[[samples(1)]]), Made("loop", load="idle", why="One core.")],
    )

    drawn = draw(PANELS, single, STUDY)

    assert [panel.title for panel in drawn.parts[0].panels] == ["MI: not measured here", "Single"]
    assert "71" in specification(drawn)
    assert "Not measured: this machine, MI. One core." in said(drawn)


def test_systems_that_lack_the_same_for_the_same_reason_are_named_together(tmp_path: Path) -> None:
    lab = ("lab:debian-stock", "lab:debian-rt")
    nothing = measured(tmp_path, [Made("mail", system, why="One core.") for system in lab])

    drawn = draw(STRIPS, nothing, STUDY)

    assert "Not measured: lab:debian-stock and lab:debian-rt. One core." in said(drawn)


def test_captions_say_what_was_measured_where_and_when_or_why_nothing_was(tmp_path: Path) -> None:
    paper = read("laurich2004")
    mail = measured(tmp_path, [Made("mail", repetitions=[[samples(5, 6_000, 50)]])])
    drawn = [
        draw(STRIPS, mail, STUDY),
        draw(replace(STRIPS, marks=()), measured(tmp_path / "no", [Made("mail", why=WHY)]), STUDY),
    ]

    text = captions(paper, drawn)

    assert "## Figure 4\n\nHow long. Each dot is one repetition" in text
    assert re.search(r"Measured \d{4}-\d\d-\d\d on this machine", text)
    assert f"Nothing was drawn. Not measured: this machine. {WHY}" in text


def test_units_in_the_words_of_a_figure_are_typeset(tmp_path: Path) -> None:
    mail = measured(tmp_path, [Made("mail", repetitions=[[samples(5, 6_000, 50)]])])

    drawn = draw(
        replace(STRIPS, marks=(PublishedMark("Alpha", "user space", 1.0, None, "less than 5 us"),)),
        mail,
        STUDY,
    )

    assert "5\u00a0µs" in said(drawn)


def test_words_are_as_wide_as_in_helvetica() -> None:
    assert width("AV 1", 10) == pytest.approx(6.67 + 6.67 + 2.78 + 5.56)
    assert width("AV", 10, bold=True) == pytest.approx(7.22 + 6.67)


def test_each_line_of_words_in_an_svg_says_how_long_it_is() -> None:
    one = '<text font-size="10px">a &amp; b</text>'
    two = '<text font-size="10px" font-weight="600"><tspan>tau1</tspan><tspan x="0">priority</tspan></text>'

    assert f'textLength="{width("a & b", 10):.1f}"' in with_lengths(one)
    assert with_lengths(two).count("textLength") == 2


def test_two_repetitions_are_two_curves(tmp_path: Path) -> None:
    loop = measured(tmp_path, [Made("loop", load="idle", repetitions=[[samples(1)], [samples(2)]])])

    drawn = draw(CURVES, loop, STUDY)

    assert {row["line"] for row in rows_of(drawn, 0, 0)} == {0, 1}


def test_a_strip_has_a_dot_for_each_repetition_and_a_published_lane(tmp_path: Path) -> None:
    values = samples(5, 6_000, 50)
    mail = measured(tmp_path, [Made("mail", repetitions=[[values]])])

    drawn = draw(STRIPS, mail, STUDY)
    bars, dots, marks = (rows_of(drawn, 0, layer) for layer in range(3))

    assert [row["at"] for row in dots] == values.tolist()
    assert bars[0]["at"] == pytest.approx(values.mean())
    assert [row["at"] for row in marks] == [2605.0]
    assert marks[0]["y"] < min(row["y"] for row in dots)


def test_the_words_for_a_study_name_its_first_author_and_whether_there_are_more() -> None:
    named = {paper.name: study_of(paper).words for paper in known_papers()}

    assert named["laurich2004"] == "Laurich (2004)"
    assert named["garre2014"].startswith("Garre et al. (2014")


def test_files_are_named_so_that_they_stand_in_order() -> None:
    def named(name: str) -> list[str]:
        return list(names(DrawnFigure(replace(CURVES, name=name), (), 170)).values())

    assert named("Figure 7") == ["figure-07.svg", "figure-07.pdf"]
    assert named("Figure 12") == ["figure-12.svg", "figure-12.pdf"]


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "width_mm"), [({}, 170), ({"print": "column"}, 85)])
def test_files_are_vectors_as_wide_as_a_page_or_a_column(
    settings: dict[str, str], width_mm: int, tmp_path: Path
) -> None:
    mail = measured(tmp_path, [Made("mail", repetitions=[[samples(5, 6_000, 50)]])])

    content = written(draw(replace(STRIPS, settings={**STRIPS.settings, **settings}), mail, STUDY))
    svg, pdf = content["figure-04.svg"].decode(), content["figure-04.pdf"]
    box = re.search(rb"/MediaBox ?\[ ?0 0 ([0-9.]+)", pdf)

    width = re.search(r'<svg[^>]*? width="([0-9.]+)mm"', svg)
    assert width is not None
    assert float(width[1]) == pytest.approx(width_mm, abs=2)
    assert box is not None
    assert float(box[1]) == pytest.approx(width_mm / 25.4 * 72, abs=6)
    assert "<image" not in svg
    assert "<title>Figure 4: How long</title><desc>How long." in svg
    assert all("textLength" in text for text in re.findall(r"<text.*?</text>", svg) if "tspan" not in text)
    assert "var(--" not in svg
