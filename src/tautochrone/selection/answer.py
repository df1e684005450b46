"""The answer of a selection: as a document, and as JSON."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial

from tautochrone.answer import conditions
from tautochrone.answer import document as doc
from tautochrone.answer.blocks import all_made
from tautochrone.answer.phrasing.differences import quantile_notes
from tautochrone.base.faults import Later
from tautochrone.base.words import plural
from tautochrone.run.folder import StoredRun
from tautochrone.selection import across_answer, tables, words
from tautochrone.selection.across import Across
from tautochrone.selection.across_answer import found_across
from tautochrone.selection.figures import figures
from tautochrone.selection.judge import Against, LostSelection, Selected, Selection
from tautochrone.selection.late import LateCandidate
from tautochrone.selection.traits import block_of
from tautochrone.statistics.difference.quantile_difference import QuantileDifference
from tautochrone.statistics.difference.two_sample import TwoSample

_MOST_IN_FULL = 12  # selections
_OF_TEST = (
    "dof", "critical", "statistic", "p", "rejected", "width_ns", "alpha", "total", "joined", "below", "above",
    "beyond_ns",
)  # fmt: skip


def document(selected: Selected, command: Sequence[str] = ()) -> doc.Document:
    """Return each selection: the ranking, the tests, and what can mislead."""
    placed = _placed(selected)
    together = Later(found_across, selected.selections)
    many = len(selected.selections) > _MOST_IN_FULL
    sections = [
        one
        for at, selection in enumerate(selected.selections, start=1)
        for one in _section(selection, at, several=len(selected.selections) > 1, many=many)
    ]
    sections += [
        doc.part(words.title_of(one.contest, one.source), partial(_fail, one)) for one in selected.lost
    ]
    return doc.Document(
        headline=Later(_headline, selected, together),
        parts=(
            *_across(selected, together),
            doc.part("In short", lambda: _in_short(selected, many=many)),
            *sections,
        ),
        grounds=doc.Grounds(
            manifests=tuple(run.manifest for _, run in placed),
            places=tuple((name, str(block_of(run) or "")) for name, run in placed),
            heads=(("Candidate", False), ("Repetition", True), ("What", False)),
            deployments=Later(_deployments, placed),
            commands=(shlex.join(command) or "tauto select RUN...", f"tauto show {placed[0][1].id}"),
            again="Select anew",
        ),
    )


Together = Later[tuple[list[Across], list[str]]]


def _headline(selected: Selected, together: Together) -> str:
    found, _ = together.get()
    if _is_whole(selected, found):
        return across_answer.answer(found[0])
    if (count := len(selected.contests)) > 1:
        return f"Which {selected.contests[0].by}? {plural(count, 'selection')}"
    selected.see_whole()
    return words.answer(selected.selections[0])


def _is_whole(selected: Selected, found: Sequence[Across]) -> bool:
    """Return whether one choice for several machines answers everything that is asked."""
    return len(found) == 1 and len(found[0].selections) == len(selected.contests)


def _fail(lost: LostSelection) -> list[doc.Block]:
    lost.tried.get()
    return []


def _in_short(selected: Selected, *, many: bool) -> Iterator[doc.Block]:
    if len(selected.selections) > 1:
        yield from (doc.Sentence(f"{words.title(one)}: {words.answer(one)}") for one in selected.selections)
    if many:
        yield doc.Sentence("These are the answers; the page has the rest: --out FILE", "note")
    yield from (doc.Sentence(f"Not selected among: {one}", "note") for one in selected.alone)


def _across(selected: Selected, together: Together) -> Iterator[doc.DocumentPart]:
    """Yield the choice for several machines, where runs of several are given."""

    def blocks() -> Iterator[doc.Block]:
        found, apart = together.get()
        yield from map(doc.Sentence, apart)
        for one in found:
            yield from across_answer.blocks(one, told=_is_whole(selected, found))

    if any(one.board for one in selected.contests):
        yield doc.part("One choice for all machines", blocks, id="across")


def _section(selection: Selection, at: int, *, several: bool, many: bool) -> Iterator[doc.DocumentPart]:
    title = f"Which {selection.contest.by}? {words.title(selection)}"
    prefix = f"selection-{at - 1}"
    only: doc.Medium = "page" if many else ""

    def ranked() -> Iterator[doc.Block]:
        yield doc.Subheading(title)
        if several:
            yield doc.Sentence(words.answer(selection))
        yield tables.ranking(selection)

    yield doc.part(title, ranked, id=f"selection-{at}", only=only)
    yield doc.part("Its figures", lambda: _figures(selection, prefix), only="page")
    yield doc.part(f"The test of selection {at}", lambda: _printed(selection), only=only)
    yield doc.part(f"What can mislead in selection {at}", lambda: _beside(selection), only=only)


def _figures(selection: Selection, prefix: str) -> list[doc.Block]:
    return [doc.Drawing(one) for one in all_made("Its figures", lambda: figures(selection, prefix))]


def _printed(selection: Selection) -> Iterator[doc.Block]:
    """Return the paper's test, and what its rule selects by it."""

    def known() -> Iterator[doc.Block]:
        if said := words.of_the_test(selection):
            yield doc.Disclosure("What to know about this test", tuple(map(doc.Sentence, said)))

    return doc.each(
        f"The test against {selection.reference}",
        lambda: [tables.as_printed(selection)],
        lambda: [doc.Sentence(words.as_printed(selection))],
        known,
    )


def _beside(selection: Selection) -> Iterator[doc.Block]:
    def cautions() -> Iterator[doc.Block]:
        if said := tuple(map(doc.Sentence, words.cautions(selection))):
            yield doc.Statements(said)

    def late() -> Iterator[doc.Block]:
        if selection.late:
            yield tables.late(selection)

    return doc.each(
        f"What differs from {selection.reference}",
        lambda: [tables.beside(selection)],
        lambda: [tables.differences(selection)],
        late,
        cautions,
    )


def _deployments(placed: Sequence[tuple[str, StoredRun]]) -> doc.TypedTable | None:
    """Return every setting of every deployment, each once; None without any."""
    rows: dict[tuple[doc.TypedCell, ...], None] = {}
    for name, run in placed:
        for table in conditions.deployments([run.manifest], [""]):
            rows |= dict.fromkeys((doc.words(name), *row) for row in table.rows)
    heads = doc.columns("", "setting", "before", "asked for", "obtained", "as asked")
    return doc.TypedTable("Deployments", heads, tuple(rows)) if rows else None


def _placed(selected: Selected) -> list[tuple[str, StoredRun]]:
    """Return every run once, with the name of the candidate that it is of."""
    found: dict[str, tuple[str, StoredRun]] = {}
    for contest in selected.contests:
        for name, runs in contest.members.items():
            for run in runs:
                found.setdefault(run.id, (name, run))
    return list(found.values())


def as_table(selected: Selected) -> dict[str, object]:
    """Return what programs read; times in nanoseconds."""
    selected.see_whole()
    together, _ = found_across(selected.selections)
    return {
        **({"across": list(map(across_answer.as_table, together))} if together else {}),
        "selections": [_selection(one) for one in selected.selections],
        "alone": list(selected.alone),
    }


def _selection(one: Selection) -> dict[str, object]:
    contest = one.contest
    return {
        "by": contest.by,
        "experiment": contest.experiment,
        "measure": contest.measure,
        "source": one.source,
        "circumstances": contest.circumstances,
        "also_differ": [*contest.confounded, *contest.alongside],
        "metric": one.metric.name,
        "confidence": 1 - one.alpha,
        "reference": one.reference,
        "why_reference": one.why_reference,
        "selected_as_printed": one.chosen_as_printed,
        "best": list(one.best),
        "difference_shown": not one.ranking.none_shown,
        "ranking": [asdict(ranked) for ranked in one.ranking.ranked],
        "pairs_tested": one.ranking.comparisons,
        "pairs_untested": one.ranking.untested,
        "candidates": [
            {
                "name": candidate.name,
                "runs": list(candidate.runs),
                "samples": candidate.counts.total,
                "without_sample": candidate.lost,
                "maximum": int(candidate.counts.value[-1]),
                **_against(one, one.of(candidate.name)),
            }
            for candidate in one.candidates
        ],
        **({"late_cycles": [_late(candidate) for candidate in one.late]} if one.late else {}),
        "sentences": words.sentences(one),
    }


def _late(one: LateCandidate) -> dict[str, object]:
    late, of = one.late
    causes = [{"cause": cause, "actor": actor, "late": times} for (cause, actor), times in one.causes]
    return {"name": one.name, "threshold_ns": one.threshold_ns, "late": late, "of": of, "causes": causes}


def _against(selection: Selection, one: Against) -> dict[str, object]:
    test, plot = one.chi_square, one.plot
    return {
        "chi_square": {name: getattr(test, name) for name in _OF_TEST},
        "regression": {name: getattr(plot, name) for name in ("slope", "intercept_ns", "r_squared")},
        "kolmogorov_smirnov": _test(one.kolmogorov_smirnov, one.p_ks),
        "anderson_darling": _test(one.anderson_darling, one.p_ad),
        "later_than_reference": one.superiority,
        "effect": one.size,
        "differences": [_difference(held) for held in one.differences],
        "is_reference": one.name == selection.reference,
    }


def _difference(held: QuantileDifference) -> dict[str, object]:
    table = asdict(held)
    del table["notes"]
    return {**table, "note": quantile_notes(held.q, held.notes)}


def _test(test: TwoSample | None, adjusted: float | None) -> dict[str, object] | None:
    return None if test is None else {**asdict(test), "p_adjusted": adjusted}
