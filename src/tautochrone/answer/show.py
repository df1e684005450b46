"""A run as `tauto show` tells it: what presents its experiment, a summary per source, conditions, books."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from tautochrone.answer import conditions, environment, numbers, soak, warnings
from tautochrone.answer import document as doc
from tautochrone.answer.blame import section
from tautochrone.answer.blocks import Figure
from tautochrone.answer.evidence import Evidence, MeasuredEvidence
from tautochrone.answer.experiments import lead_of, presents_sources, title_of
from tautochrone.answer.numbers import MissingRow, quantile_name
from tautochrone.answer.phrasing import course
from tautochrone.answer.series import Bins, Floats, Series, usual_size_ns
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural, upper_first
from tautochrone.judge.middleware_setting import as_obtained
from tautochrone.run.manifest import Books, Manifest
from tautochrone.run.remarks import Remarks

_MOST_SKETCHED, _MOST_DATED = 12, 8
_MOST_LINES = 24  # of sources of which a presentation has spoken already
_SKETCH_SCALE, _NARROWEST_SKETCH, _WIDEST_SKETCH = 26, 16, 60
_NOT_SETTINGS = {"command", "load", "target", "ring_rows"}  # told elsewhere, or of no consequence
_USUAL = {  # what goes without saying
    "stagger_ns": 0,
    "drain": "live",
    "record": "raw",
    "wait": "sleep",
    "budget_ns": 2_000_000_000,
    "memory_lock": True,
    "clocks": "all",
}


def document(seen: Evidence, *, intervals: bool = False, whole: bool = True) -> doc.Document:
    """Return one run: what presents its experiment first, then each measure.

    ``whole`` tells each source of a presented experiment in numbers, too; ``intervals`` adds the
    confidence interval of each quantile.
    """
    (manifest,) = seen.manifests
    return doc.Document(
        manifest.title if manifest.asked("--title") is not None else upper_first(manifest.title),
        (
            doc.part("The run", lambda: _head(manifest)),
            doc.part("The answer", lambda: _lead(seen)),
            doc.part("Tags and note", lambda: remarked(seen.remarks, [""])),
            *_numbers(seen, intervals=intervals, whole=whole),
            doc.part(soak.TITLE, lambda: soak.short(seen.soaks)),
            doc.part("Cycles kept whole", lambda: seen.kept),
            doc.part(section.TITLE, lambda: _blamed(seen)),
            doc.part("What is absent", lambda: _absent(seen)),
            doc.part("Deployments and loads", lambda: beside([manifest], [""])),
            doc.part("Settings", lambda: _settings(manifest)),
            doc.part("Accounting", lambda: _books(seen)),
            doc.part("Warnings", lambda: _warnings(manifest)),
        ),
        grounds=doc.Grounds((manifest,)),
    )


def _head(manifest: Manifest) -> Iterator[doc.Block]:
    load = manifest.conditions.load
    under, remote = manifest.conditions.deployment_name, manifest.conditions.remote
    parts = [
        manifest.id,
        manifest.told_state,
        f"load {load}" if load else None,
        f"deployment {under}" if under else None,
        f"on {remote}" if remote else None,
    ]
    yield doc.Sentence(", ".join(one for one in parts if one), "note")
    yield from (doc.Sentence(one, "alarm") for one in warnings.endings([manifest], [manifest.title]))


def _lead(seen: Evidence) -> Iterator[doc.Block]:
    for one in seen.presented.values():
        for run in one.runs:
            yield from (doc.Sentence(said, "strong") for said in lead_of(run))


def remarked(remarks: Sequence[Remarks], labels: Sequence[str]) -> Iterator[doc.Block]:
    """Yield what people added to runs: tags and a note."""
    for one, label in zip(remarks, labels, strict=True):
        of_run = f"{label}: " if label else ""
        if one.tags:
            yield doc.Sentence(f"{of_run}Tags: {', '.join(one.tags)}", "note")
        if one.note:
            yield doc.Sentence(f"{of_run}Note: {one.note}")


def _numbers(seen: Evidence, *, intervals: bool, whole: bool) -> Iterator[doc.DocumentPart]:
    (manifest,) = seen.manifests
    yield doc.part("What was lost", lambda: map(doc.Lost, seen.lost))
    for name, presented in seen.presented.items():
        yield doc.part(title_of(name), presented.tables)
    folded = bool(seen.presented) and not whole and not intervals
    left_out = 0
    for one in seen.measured:
        if _is_told(one, presented=bool(seen.presented), folded=folded, intervals=intervals):
            left_out = max(left_out, len(one.series))
        else:
            yield doc.part(one.heading, _measure(seen, one, intervals=intervals, short=folded))
        yield doc.part(f"{one.heading} over time", partial(_course, one))
    if left_out:
        each = f"Each of the {left_out} sources" if left_out > 1 else "The source"
        pipe = ", or in a pipe" if folded else ""
        said = f"{each} in numbers: tauto show {manifest.id} --intervals{pipe}."
        yield doc.part("The rest", lambda: [doc.Sentence(said, "note")])
    if not seen.measured and not seen.lost:
        missed = sum(book.missed or 0 for book in manifest.books)
        of = f"; {plural(missed, 'release was', 'releases were')} missed" if missed else ""
        yield doc.part("Samples", lambda: [doc.Sentence(f"No sample was recorded{of}.")])


def _is_told(measured: MeasuredEvidence, *, presented: bool, folded: bool, intervals: bool) -> bool:
    """Return whether what presents the experiment has told this measure: of a single source always."""
    told = presented and not intervals and presents_sources(measured.experiment)
    return (told and (folded or len(measured.series) == 1)) or (folded and len(measured.series) > _MOST_LINES)


def _measure(
    seen: Evidence, measured: MeasuredEvidence, *, intervals: bool, short: bool
) -> Callable[[], list[doc.Block]]:
    """Return one measure; ``short``: only what fits a narrow terminal."""

    def blocks() -> list[doc.Block]:
        (manifest,) = seen.manifests
        absent = [] if seen.presented else numbers.absent_rows([manifest], [""])
        found: list[doc.Block] = [
            doc.Subheading(f"{measured.title} in us"),
            source_table(measured.series, manifest.books, absent, intervals=intervals, short=short),
            *(doc.Sentence(one, "strong") for one in numbers.loss_caption(measured.series)),
        ]
        if len(measured.series) <= _MOST_SKETCHED and not seen.presented:
            drawn = Figure("", (), ())
            found.append(doc.Drawing(drawn, sketch=lambda width: _fitting_sketch(measured.series, width)))
        return found

    return blocks


def source_table(
    series: Sequence[Series],
    books: Sequence[Books],
    absent: Sequence[MissingRow],
    *,
    intervals: bool = False,
    short: bool = False,
) -> doc.TypedTable:
    """Return a line for each source, without columns that say nothing; ``short``: for a narrow terminal."""
    own = {book.name: book for book in books}
    lines = [dict(_entries(one, own.get(one.source), intervals=intervals)) for one in series]
    heads = [
        head
        for head in (lines[0] if lines else {})
        if any(line.get(head, _NOTHING).shown not in ("", doc.UNKNOWN) for line in lines)
        if not (short and head.spare)
    ]
    rows = [
        (doc.words(one.source), *(line.get(head, _NOTHING) for head in heads))
        for one, line in zip(series, lines, strict=True)
    ]
    rows += [(doc.words(one.name), *[_NOTHING] * len(heads)) for one in absent]
    notes = () if short else (*numbers.resolutions(series), *_too_few(series))
    return doc.TypedTable("", (doc.TableColumn("source"), *heads), tuple(rows), notes, "dense")


_NOTHING = doc.micros(None)


def _entries(one: Series, book: Books | None, *, intervals: bool) -> Iterator[numbers.Told]:
    """Yield the numbers of one source, in the order in which they are shown."""
    yield doc.TableColumn("released", spare=True), doc.count(book.released if book else None)
    yield doc.TableColumn("completed"), doc.count(book.completed if book else None)
    yield doc.TableColumn("missed"), doc.count(book.missed if book else None)
    if one.summary is None:
        return
    yield from numbers.columns_of(one.summary, intervals=intervals)
    if one.what:
        yield doc.TableColumn("what", spare=True), doc.words(one.what)


def _too_few(series: Sequence[Series]) -> Iterator[str]:
    needed = {
        quantile_name(quantile.q): quantile.samples_needed
        for one in series
        if one.summary is not None
        for quantile in one.summary.quantiles
        if quantile.low is None
    }
    if needed:
        said = ", ".join(f"{name} needs {count:,}" for name, count in needed.items())
        yield f"{numbers.TOO_FEW}: {said} samples"


def _course(measured: MeasuredEvidence) -> Iterator[doc.Block]:
    """Yield what stands out over time."""
    sentences = [sentence for _, found in measured.courses for sentence in course.sentences(found)]
    if sentences:
        yield doc.Subheading("Over time:")
        yield doc.statements(sentences)


def _blamed(seen: Evidence) -> Iterator[doc.Block]:
    """Yield what made cycles late, in short."""
    for _, found in seen.blamed:
        yield doc.Subheading(f"{section.TITLE}:")
        yield from section.short(found)


def _absent(seen: Evidence) -> Iterator[doc.Block]:
    if not seen.presented:
        for one in numbers.absent_rows(seen.manifests, seen.labels):
            yield doc.Sentence(numbers.absent_sentence(one), "note")


def beside(manifests: Sequence[Manifest], labels: Sequence[str]) -> Iterator[doc.Block]:
    """Yield what stood around the measuring: deployments, and what loads did."""
    yield from conditions.deployments(manifests, labels)
    yield from conditions.loads(manifests, labels)


def _settings(manifest: Manifest) -> Iterator[doc.Block]:
    settings = {**as_obtained(manifest), **manifest.conditions.stored}
    said = [
        f"{environment.words(name)} {environment.show(name, value)}"
        for name, value in settings.items()
        if name not in _NOT_SETTINGS and isinstance(value, (str, int, float)) and value != _USUAL.get(name)
    ]
    if said:
        yield doc.Sentence(f"Measured with: {', '.join(said)}.")
    sources = manifest.header.by_number
    for source, wait in environment.hybrid_waits(manifest).items():
        who = sources[source].label if source in sources else str(source)
        yield doc.Sentence(f"Hybrid wait, {who}: {wait}.")


_ALWAYS = {name: name.replace("-", "") for name in ("recorded", "dropped", "overruns", "warm-up")}


def _books(seen: Evidence) -> Iterator[doc.Block]:
    (manifest,) = seen.manifests
    problems = [problem for book in manifest.books for problem in book.problems()]
    if problems:
        yield doc.Sentence("The accounting does not balance:", "strong")
        yield doc.Statements(tuple(doc.Sentence(problem, mark="missed") for problem in problems))
    elif manifest.books:
        totals = {
            name: sum(count or 0 for count in counts)
            for name, of in _ALWAYS.items()
            if (counts := [getattr(book, of) for book in manifest.books])
            if any(count is not None for count in counts)
        }
        stated = manifest.footer.books if manifest.footer is not None else ()
        totals["handler not seen"] = sum(one.unseen or 0 for one in stated or ())
        totals["budget used up"] = sum(one.budget_overruns or 0 for one in stated or ())
        said = ", ".join(f"{name} {count:,}" for name, count in totals.items() if count or name in _ALWAYS)
        yield doc.Sentence(f"The accounting balances: {said}.")
    yield from map(doc.Sentence, _worst(seen))


def _worst(seen: Evidence) -> Iterator[str]:
    """Tell the first measure's worst sample of each source, or, of many, of all of them."""
    for measured in seen.measured[:1]:
        dated = [one for one in measured.series if one.worst_at_s is not None]
        if len(dated) > _MOST_DATED:
            dated = [max(dated, key=lambda one: one.maximum_ns)]
        for one in dated:
            at = f"{one.worst_at_s:,.3f} s after the start"
            yield f"Worst of {one.source}: {format_duration(one.maximum_ns)}, {at}."


def _warnings(manifest: Manifest) -> Iterator[doc.Block]:
    if notices := warnings.warnings([manifest], [""]):
        yield doc.Notices(tuple(notices))


# A histogram in one line of text per source: a first look, logarithmic in both directions.


_BLOCKS = " ▁▂▃▄▅▆▇█"


def _fitting_sketch(series: Sequence[Series], columns: int | None) -> list[str]:
    """Draw a sketch as wide as the terminal; none where that is too narrow, or is no terminal."""
    if columns is None:
        return []
    width = min(_WIDEST_SKETCH, columns - _SKETCH_SCALE - max(len(one.source) for one in series))
    return sketch(series, width) if width >= _NARROWEST_SKETCH else []


def sketch(series: Sequence[Series], width: int) -> list[str]:
    """Return one line per series on a common logarithmic axis of ``width`` characters.

    With values below 0 the axis is logarithmic to both sides of 0. The height of a character is the logarithm
    of its count; a single sample is already visible.
    """
    least = min(int(one.bins.low_ns[0]) for one in series)
    knee = usual_size_ns(series) if least < 0 else 0.0
    low = least if knee else max(1, least)
    high = max(low + 1, *(one.maximum_ns for one in series))
    counts = [_columns(one.bins, low, high, width, knee) for one in series]
    most = max(max(line) for line in counts)
    names = max(len(one.source) for one in series)
    left, right = format_duration(low), format_duration(high)
    return [
        f"{one.source:{names}} {'' if index else left:{len(left)}} "
        f"{''.join(_block(count, most) for count in line)} {'' if index else right}".rstrip()
        for index, (one, line) in enumerate(zip(series, counts, strict=True))
    ]


def _columns(bins: Bins, low: int, high: int, width: int, knee: float) -> list[int]:
    def bent(values: Floats) -> Floats:
        return np.sign(values) * np.log1p(np.abs(values) / knee) if knee else np.log(values)

    start, end = bent(np.array([low, high], np.float64))
    at = (bent(np.clip(bins.low_ns, low, high).astype(np.float64)) - start) / (end - start) * (width - 1)
    return [int(count) for count in np.bincount(at.astype(np.int64), weights=bins.count, minlength=width)]


def _block(count: int, most: int) -> str:
    if count == 0:
        return _BLOCKS[0]
    share = math.log(count + 1) / math.log(most + 1)
    return _BLOCKS[max(1, round(share * (len(_BLOCKS) - 1)))]
