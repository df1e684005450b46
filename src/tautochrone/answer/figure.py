"""One chart as a file for a paper or a slide: SVG, PNG or PDF."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tautochrone.answer import composition
from tautochrone.answer.blame import section
from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import course, cumulative, histogram, rows, signs
from tautochrone.answer.charts.grammar import Chart, Specification, Stack, top_level
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import PAPER
from tautochrone.answer.evidence import Evidence, MeasuredEvidence
from tautochrone.answer.series import merge
from tautochrone.base.errors import UsageError
from tautochrone.base.room import see_room_for_drawing
from tautochrone.base.words import printable
from tautochrone.run.output import output

GENERAL = ("histogram", "cumulative", "time", "cpus")
"""The kinds of figure that every measure has."""

_GENERALLY = {
    "histogram": "how often each time was measured",
    "cumulative": "the share of times that are at most so long",
    "time": "times over the course of the run",
    "cpus": "the spread of times on each CPU",
}

FORMATS = ("svg", "png", "pdf")
_PNG_SCALE = 3.0  # 640 px wide at 3: 300 dots per inch at 6.4 inches
_PREFIX = "f"
_SPACING = 24
_WIDTH_PX = 640
_APART = {"scale": dict.fromkeys(("x", "y", "color", "shape", "strokeDash"), "independent")}

_Drawn = list[tuple[Figure, Panel]]
"""Panels, each with the figure that it is of."""


def kinds(seen: Evidence) -> list[str]:
    """Return every kind of figure of these runs: the general ones, then those of what presents them."""
    return list(kinds_in_words(seen))


def _of_late_cycles(seen: Evidence) -> list[Figure]:
    return list(section.figures(seen.blamed, _PREFIX))


def kinds_in_words(seen: Evidence) -> dict[str, str]:
    """Return the same, each with what it shows."""
    titles = {
        name: words
        for one in seen.presented.values()
        for name, words in _titles(one.figures(_PREFIX)).items()
    }
    titles |= _titles(_of_late_cycles(seen))
    return {kind: _GENERALLY.get(kind) or titles.get(kind, "") for kind in (*GENERAL, *titles)}


def kinds_of_in_words(figures: Callable[[str], Sequence[Figure]]) -> dict[str, str]:
    """Return every kind of figure that these are, each with what it shows."""
    return _titles(figures(_PREFIX))


def _titles(figures: Sequence[Figure]) -> dict[str, str]:
    """Return what each figure is called; a panel by itself with its own title, too."""
    return {
        name: ": ".join(filter(None, (found[0][0].title, found[0][1].title if len(found) == 1 else "")))
        for name, found in _kinds(figures).items()
    }


def choose(seen: Evidence, measure: str | None = None) -> MeasuredEvidence:
    """Return the measure to draw: the one of this name, or else the first; of a loop, if there is one.

    Raises:
        UsageError: there is no such measure, or no sample at all.
    """
    if not seen.measured:
        raise UsageError("There is no sample to draw", "Look at the run with `tauto show`.")
    if measure is None:
        return seen.measured[0]
    for one in seen.measured:
        if one.measure == measure:
            return one
    names = ", ".join(dict.fromkeys(one.measure for one in seen.measured))
    raise UsageError(f"No run here has a measure '{measure}'", f"There is: {names}.")


def draw_kind(
    seen: Evidence, kind: str, measure: str | None = None, *, others: Sequence[str] = ()
) -> tuple[Specification, MeasuredEvidence]:
    """Draw the figure of this kind at publication size, and what it is about.

    ``others`` are kinds that are drawn elsewhere, for the advice.

    Raises:
        UsageError: there is no such kind, no such measure, or no sample.
    """
    if kind in GENERAL:
        measured = choose(seen, measure)
        return draw(measured, kind).specification(PAPER), measured
    for experiment, presented in seen.presented.items():
        found = _kinds(presented.figures(_PREFIX)).get(kind)
        if found is not None:
            return _stacked(found), seen.of(experiment)[0]
    of_late_cycles = _kinds(_of_late_cycles(seen)).get(kind)
    if of_late_cycles is not None:
        return _stacked(of_late_cycles), choose(seen, seen.blamed[0][1].measure)
    known = ", ".join([*kinds(seen), *others])
    raise UsageError(f"There is no figure '{kind}' of this", f"Choose from {known}.")


def draw(measured: MeasuredEvidence, kind: str) -> Chart | Stack:
    """Draw the chart of a general kind, at publication size."""
    series = composition.few(measured.series)
    title = measured.title
    drawers: dict[str, Callable[[], Chart | Stack]] = {
        "histogram": lambda: histogram.chart(merge(series, composition.TOGETHER), title=title, height=300),
        "cumulative": lambda: cumulative.both(
            series, title=title, counted=cumulative.LATE if measured.loop else cumulative.LARGE
        ),
        "time": lambda: _time(measured),
        "cpus": lambda: rows.cpus(measured.series, title=title),
    }
    return drawers[kind]()


def draw_of(figures: Callable[[str], Sequence[Figure]], kind: str | None) -> Specification:
    """Draw one kind of the figures of a plan run, or the first, at publication size.

    Raises:
        UsageError: there is no such kind, or no figure at all.
    """
    there = _kinds(figures(_PREFIX))
    if not there:
        raise UsageError("There is nothing to draw", "Measure at least one case to its end.")
    if kind is not None and kind not in there:
        raise UsageError(f"There is no figure '{kind}' of this", f"Choose from {', '.join(there)}.")
    return _stacked(there[next(iter(there)) if kind is None else kind])


def _kinds(figures: Sequence[Figure]) -> dict[str, _Drawn]:
    """Return what can be asked for: the panels of each kind together, and of several each by itself.

    A panel's kind is what its id says behind the prefix that figures have here.
    """
    together: dict[str, _Drawn] = {}
    for figure in figures:
        for panel in figure.panels:
            together.setdefault(panel.kind.removeprefix(f"{_PREFIX}-"), []).append((figure, panel))
    alone = {
        f"{kind}-{panel.number}": [(figure, panel)]
        for kind, found in together.items()
        for figure, panel in found
        if len(found) > 1
    }
    return {**together, **alone}


def _stacked(found: _Drawn) -> Specification:
    """Return panels of a page below each other and below their key, in the colours and the size of paper."""
    return stacked([([panel for _, panel in found], found[0][0].key)], _WIDTH_PX)


def stacked(
    groups: Sequence[tuple[Sequence[Panel], Sequence[Sign]]],
    width: int,
    *,
    columns: int = 1,
    spacing: int = _SPACING,
    title_of_one: bool = False,
) -> Specification:
    """Return figures of a page below each other, each below its key, in the colours of paper.

    A group has the panels of a figure and its key. ``width`` is that of a panel without its axes;
    ``title_of_one`` gives a panel that is the only one its title, too.
    """
    theme = PAPER.wide(width)
    every = [panel for panels, _ in groups for panel in panels]
    several = len(every) > 1
    if not several and not any(key for _, key in groups) and not (title_of_one and every[0].title):
        return every[0].chart.specification(theme)
    held: Specification = {}
    parts: list[Specification] = []
    for panels, key in groups:
        if key:
            whole = columns * width + (columns - 1) * _SPACING
            parts.append(signs.key(key, whole).within(PAPER.wide(whole), held))
        charts = []
        for panel in panels:
            chart = panel.chart.within(theme, held)
            if panel.title and (several or title_of_one):
                chart["title"] = {"text": panel.title, "frame": "group"}
            charts.append(chart)
        if columns == 1:
            parts += charts
        else:
            beside = [charts[at : at + columns] for at in range(0, len(charts), columns)]
            parts += [{"hconcat": row, "spacing": _SPACING, "resolve": _APART} for row in beside]
    return top_level(theme, {"vconcat": parts, "spacing": spacing, "resolve": _APART}, held)


def left_out(seen: Evidence, measured: MeasuredEvidence, kind: str) -> list[str]:
    """Return one sentence for each run that is not in the figure, and why."""
    sentences = []
    with_time = [one for one in measured.series if one.envelope is not None]
    shown = with_time if kind == "time" and with_time else measured.series
    drawn = {one.run for one in shown}
    for manifest, label in zip(seen.manifests, seen.labels, strict=True):
        if label in drawn:
            continue
        if manifest.experiment != measured.experiment:
            why = (
                f"it ran the experiment {manifest.experiment}, and this figure is about {measured.experiment}"
            )
        elif any(one.run == label for one in measured.series):
            why = "it kept a histogram, so it has no latencies over time"
        else:
            why = "it has no sample"
        sentences.append(f"Not in the figure: {label} ({manifest.id}); {why}.")
    return sentences


def save(chart: Chart | Stack | Specification, out: Path) -> Path:
    """Write the chart in the format that the name of ``out`` ends with."""
    content = encode(chart, format_of(out))
    with output(out, "the figure") as file:
        file.write(content)
    return out


def format_of(out: Path) -> str:
    """Return the format by the name's ending.

    Raises:
        UsageError: it is none of `FORMATS`.
    """
    ending = out.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise UsageError(
            f"A figure can't be written as '{out.name}'", "End the name with .svg, .png or .pdf."
        )
    return ending


def encode(chart: Chart | Stack | Specification, format: str) -> bytes:  # noqa: A002 - the word people know it by
    """Return the chart's bytes as svg, png or pdf. Nothing is fetched from anywhere."""
    see_room_for_drawing()
    import vl_convert

    content = _printable(chart if isinstance(chart, dict) else chart.specification(PAPER))
    if format == "svg":
        text = vl_convert.vegalite_to_svg(content, allowed_base_urls=[])
        return text.encode()
    if format == "png":
        return bytes(vl_convert.vegalite_to_png(content, scale=_PNG_SCALE, ppi=72, allowed_base_urls=[]))
    return bytes(vl_convert.vegalite_to_pdf(content, allowed_base_urls=[]))


def _printable(part: Any) -> Any:
    """Return a part of a chart without the characters that no XML can have: they would end the process."""
    if isinstance(part, str):
        return printable(part)
    if isinstance(part, Mapping):
        return {name: _printable(value) for name, value in part.items()}
    return list(map(_printable, part)) if isinstance(part, (list, tuple)) else part


def _time(measured: MeasuredEvidence) -> Chart | Stack:
    series = [one for one in measured.series if one.envelope is not None]
    kept = [one for one in measured.series if one.maxima is not None]
    if not series and kept:
        return course.worst_so_far(kept, title=measured.meaning, height=240)
    if not series:
        raise UsageError(
            "When these values occurred is not known: the experiment has no common start",
            "Draw another kind of figure.",
        )
    together = merge(series, composition.TOGETHER)
    if len(together) == 1:
        return course.envelope(together, title=measured.meaning, height=240)
    ranges = course.ranges(together)
    panels = [
        (
            one.run,
            course.envelope(
                [one], within=together, range_of=ranges[one.run], title=measured.meaning, legend=False
            ),
        )
        for one in together
    ]
    return Stack(panels, course.describe(together))
