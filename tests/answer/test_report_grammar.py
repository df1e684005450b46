"""The grammar of charts: colours are tones until a theme is known, rows stand once, a zoom is for pages."""

import json
import re

import numpy as np
import pytest

from tautochrone.answer import figure
from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import scales, signs, theme
from tautochrone.answer.charts.grammar import Chart, Legend, Rows, Stack, Zoom, literal
from tautochrone.answer.charts.theme import (
    DARK,
    INK,
    LIGHT,
    PAGE,
    PAPER,
    PRINT,
    Colours,
    heat_tone,
    series_tone,
)

X = scales.linear(0, 10, "x").of("x")


def dots(**look: object) -> Chart:
    rows = [{"x": np.int64(at), "color": series_tone(at)} for at in range(3)]
    return Chart([Rows(rows, x=X, color=literal("color")).point(**look)], 40, "Three dots.")


def test_one_chart_has_the_colours_of_the_theme_in_which_it_is_drawn() -> None:
    chart = dots(stroke=INK)

    on_page, on_paper = (json.dumps(chart.specification(one)) for one in (PAGE, PAPER))

    assert all(words in on_page for words in ("var(--ink)", "var(--series-2)", "container"))
    assert "var(" not in on_paper
    assert all(colour in on_paper for colour in (PAPER.colours.ink, PAPER.colours.series[2]))


def test_a_value_belongs_to_the_mark_and_a_channel_to_the_row() -> None:
    (layer,) = dots(size=30, tooltip=["x", ("color", "which")]).specification(PAGE)["layer"]

    assert layer["mark"] == {"type": "point", "filled": True, "opacity": 1, "size": 30}
    assert layer["encoding"]["color"] == {"field": "color", "type": "nominal", "scale": None, "legend": None}
    assert layer["encoding"]["tooltip"] == [
        {"field": "x", "type": "nominal"},
        {"field": "color", "type": "nominal", "title": "which"},
    ]


def test_rows_that_layers_share_stand_once_and_are_plain_numbers() -> None:
    base = Rows([{"x": np.float64(2)}], x=X)

    drawn = Chart([base.rule(), base.point()], 40, "").specification(PAPER)

    assert list(drawn["datasets"].values()) == [[{"x": 2.0}]]
    assert json.dumps(drawn)


def test_a_legend_has_as_many_columns_as_the_theme_has_room_for() -> None:
    said = Legend(["a name of twenty five"] * 4, {})

    assert said.within(PAPER.wide(400))["columns"] == 2
    assert said.within(PAPER.wide(100))["columns"] == 1
    assert said.within(PAGE)["columns"] == {"expr": "max(1, floor(width / 187))"}


def test_a_page_can_be_zoomed_and_paper_can_not() -> None:
    plain = dots()
    chart = Chart(plain.layers, plain.height, "", Zoom("zoom", 0, (1.0, 2.0)))

    (parameter,) = chart.specification(PAGE)["params"]
    assert parameter["value"] == {"x": [1.0, 2.0]}
    assert parameter["views"] == [chart.specification(PAGE)["layer"][0]["name"]]
    assert "params" not in chart.specification(PAPER)


def test_stacked_charts_share_their_data_sets() -> None:
    drawn = Stack([("above", dots()), ("", dots())], "Twice.").specification(PAPER)

    assert [panel.get("title") for panel in drawn["vconcat"]] == ["above", None]
    assert len(drawn["datasets"]) == 1


@pytest.mark.parametrize("kind", ["area", "bar", "circle", "line", "point", "rect", "rule", "tick"])
def test_every_mark_is_drawn(kind: str) -> None:
    layer = getattr(Rows([{"x": 1}], x=X), kind)(color=INK)

    assert figure.encode(Chart([layer], 30, ""), "svg").startswith(b"<svg")


def test_kinds_of_figures_are_told_and_not_read_from_names() -> None:
    def figures(prefix: str) -> list[Figure]:
        panels = [Panel(f"{prefix}-cpu2", "one", dots())]
        panels += [Panel(f"{prefix}-time", f"{at}", dots(), at) for at in (3, 12)]
        return [Figure("Dots", tuple(panels), ())]

    kinds = figure.kinds_of_in_words(figures)
    assert list(kinds) == ["cpu2", "time", "time-3", "time-12"]
    assert kinds["time-12"] == "Dots: 12"
    assert len(figure.draw_of(figures, "time")["vconcat"]) == 2
    assert "vconcat" not in figure.draw_of(figures, "time-3")


def test_a_key_on_paper_has_every_sign_in_its_tone() -> None:
    key = (signs.Sign("one", path=signs.CIRCLE, tone=heat_tone(4)), signs.Sign("two", dash="4 3"))

    svg = figure.encode(signs.key(key, 300), "svg").decode()

    assert PAPER.colours.heat[4] in svg
    assert all(sign.label in svg for sign in key)


def test_the_style_sheet_has_every_variable_of_a_chart_for_each_medium() -> None:
    variables = set(re.findall(r"var\((--[a-z0-9-]+)\)", str(PAGE)))

    light, dark, print_ = re.findall(r":root \{([^}]*)\}", theme.style_sheet())

    for part in (light, dark, print_):
        assert set(re.findall(r"(--[a-z0-9-]+):", part)) == variables


def _lightness(colour: str) -> float:
    """The relative luminance of a CSS colour: 0 black, 1 white (WCAG 2)."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * one for one in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colours", [LIGHT, DARK, PRINT, PAPER.colours])
def test_colours_stand_apart_from_what_they_are_drawn_upon(colours: Colours) -> None:
    paper = _lightness(colours.paper)

    def contrast(colour: str) -> float:
        low, high = sorted((paper, _lightness(colour)))
        return (high + 0.05) / (low + 0.05)

    assert contrast(colours.ink) > 12
    assert contrast(colours.muted) > 4.5
    assert all(contrast(one) > 2 for one in colours.series)
    shades = [_lightness(one) for one in colours.heat[1:]]
    assert shades in (sorted(shades), sorted(shades, reverse=True))
    assert len(set(colours.series)) == len(colours.series)
