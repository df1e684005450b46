"""The answer of a comparison: as a document, as JSON, and what came of its gates."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tautochrone.answer import document as doc
from tautochrone.answer.blame import compared
from tautochrone.answer.blocks import Mark
from tautochrone.answer.outcome import Case, Outcome, Standing
from tautochrone.base.faults import Later, keep
from tautochrone.base.words import plural, upper_first
from tautochrone.comparison import phrasing as words
from tautochrone.comparison import tables
from tautochrone.comparison.figures import figures
from tautochrone.judge.comparison.compare import Comparison, SidePair
from tautochrone.judge.comparison.conditions import ChangedFact
from tautochrone.judge.comparison.gate import Judged, Passing
from tautochrone.judge.comparison.metric import ComparedMetric, SourcePart
from tautochrone.judge.late_causes import ComparedCauses
from tautochrone.run.manifest import Manifest

_MOST_SENTENCES = 12
_OF_METRIC = (
    "name", "first", "second", "difference", "low", "high", "ratio", "ratio_low", "ratio_high", "p",
)  # fmt: skip
_MARKS: dict[Passing, Mark] = {"broken": "missed", "kept": "holds", "not shown": "not-shown", "void": "tight"}
_STANDINGS: dict[Passing, Standing] = {
    "broken": "failed",
    "kept": "passed",
    "not shown": "skipped",
    "void": "not shown",
}


def document(
    comparison: Comparison, lacking: Sequence[str] = (), command: Sequence[str] = ()
) -> doc.Document:
    """Return what a comparison comes to: conditions first, then numbers, gates, and charts.

    ``lacking`` says, of plan runs, what is only on one side.
    """
    placed = _placed(comparison)
    return doc.Document(
        headline=Later(words.headline, comparison),
        parts=(
            doc.part("The sides", lambda: [] if comparison.of_cells else [tables.sides(comparison)]),
            doc.part("In short", lambda: _in_short(comparison, lacking)),
            doc.part("The gates", lambda: _gates(comparison), id="gates", decides=True),
            doc.part("What differs in the conditions", lambda: [tables.conditions(comparison)], id="changes"),
            doc.part("What differs in the numbers", lambda: _numbers(comparison), id="numbers"),
            *(
                [doc.part(compared.TITLE, lambda: [causes_table(comparison)], id="causes")]
                if _with_known_causes(comparison)
                else []
            ),
            doc.part("How sure it is", lambda: [_how_sure(comparison)]),
            doc.part("Beside each other", lambda: _figures(comparison), id="figures", only="page"),
        ),
        grounds=doc.Grounds(
            manifests=tuple(manifest for manifest, _, _ in placed),
            places=tuple((side, cell) for _, side, cell in placed),
            heads=(("Side", False), ("Cell", False), ("What", False)),
            one_of_each=True,
            commands=(
                shlex.join(command) or "tauto compare A B",
                *(f"tauto show {manifest.id}" for manifest, _, _ in placed[:4]),
            ),
            again="Compare anew",
        ),
    )


def _in_short(comparison: Comparison, lacking: Sequence[str]) -> Iterator[doc.Block]:
    said = [doc.Sentence(one) for one in (*words.worth(comparison), *sentences_on_causes(comparison))]
    yield from said[:_MOST_SENTENCES]
    if more := said[_MOST_SENTENCES:]:
        yield doc.Disclosure(plural(len(more), "more sentence"), tuple(more))
    yield from map(doc.Sentence, lacking)


def sentences_on_causes(comparison: Comparison) -> Iterator[str]:
    """Say of each pair which cause of late cycles came or went, and what can't be told."""
    for pair in comparison.measured:
        if pair.causes is not None:
            where = f"{pair.cell}: " if pair.cell else ""
            yield from (f"{where}{one}" for one in compared.sentences(pair.causes, pair.second.name))


def _with_known_causes(comparison: Comparison) -> list[tuple[SidePair, ComparedCauses]]:
    return [
        (pair, pair.causes) for pair in comparison.measured if pair.causes is not None and pair.causes.causes
    ]


def causes_table(comparison: Comparison) -> doc.TypedTable:
    """Return the causes of late cycles, side by side, where they are known."""
    known = _with_known_causes(comparison)
    (pair, causes) = known[0]
    if len(comparison.measured) == 1:
        names = ("first", "second") if pair.cell else (pair.first.name, pair.second.name)
        return compared.table(causes, *names)
    rows = tuple(
        (doc.words(pair.cell or pair.second.name), *compared.row(one))
        for pair, causes in known
        for one in causes.causes
    )
    names = ("first", "second") if comparison.measured[0].cell else (pair.first.name, "other side")
    heads = doc.columns("case" if pair.cell else "side", "cause", *names, *compared.HEADS)
    return doc.TypedTable(compared.TITLE, heads, rows, (compared.note(causes),))


def _gates(comparison: Comparison) -> Iterator[doc.Block]:
    if comparison.gates:
        several = len(comparison.pairs) > 1
        yield doc.Statements(
            tuple(
                doc.Sentence(words.gate(one, several=several), mark=_MARKS[one.passing])
                for one in comparison.gates
            )
        )
        if looked := words.looks(comparison):
            yield doc.Sentence(looked, "note")


def _numbers(comparison: Comparison) -> Iterator[doc.Block]:
    yield from tables.numbers_of(comparison)
    for pair in comparison.measured:
        for measure in pair.measures:
            for source, part in measure.lost:
                what = ", ".join(filter(None, (pair.cell, upper_first(measure.meaning), source)))
                if part.error is not None:
                    yield doc.Lost(keep(part.error, what).notice)


def _how_sure(comparison: Comparison) -> doc.Statements:
    reasons = (doc.Sentence(one, "note") for one in tables.why_not(comparison))
    return doc.Statements((*reasons, *map(doc.Sentence, words.how_sure(comparison))))


def _figures(comparison: Comparison) -> Iterator[doc.Block]:
    cells = comparison.of_cells
    names = [side.named for side in comparison.sides] if cells else tables.labels(comparison.sides)
    key = tuple(f"{side.name}: {name}" for side, name in zip(comparison.sides, names, strict=True))
    for figure in figures(comparison, key):
        yield doc.Drawing(figure, () if cells else key)


def _placed(comparison: Comparison) -> list[tuple[Manifest, str, str]]:
    """Return every run once, with its side and its case."""
    found: dict[str, tuple[Manifest, str, str]] = {}
    for pair in comparison.measured:
        for side in (pair.first, pair.second):
            for manifest in side.manifests:
                found.setdefault(manifest.id, (manifest, side.name, pair.cell))
    return list(found.values())


def as_table(comparison: Comparison, lacking: Sequence[str] = ()) -> dict[str, object]:
    """Return what programs read; times in nanoseconds, shares as fractions."""
    cells = comparison.of_cells
    return {
        "headline": words.headline(comparison),
        "confidence": comparison.confidence,
        "compared": comparison.compared,
        "sides": [
            {
                "name": side.name,
                "named": side.named,
                **({} if cells else {"runs": list(side.ids), "earlier": [run.id for run in side.earlier]}),
            }
            for side in comparison.sides
        ],
        "conditions": [_change(one) for one in comparison.changes.of_conditions],
        "vary_by_themselves": list(comparison.changes.by_itself),
        "facts": comparison.changes.facts,
        "sentences": [*words.sentences(comparison), *sentences_on_causes(comparison)],
        "lacking": list(lacking),
        "pairs": [_pair(one) for one in comparison.pairs],
        "gates": [_gate(one) for one in comparison.gates],
    }


def _change(one: ChangedFact) -> dict[str, object]:
    return {
        "fact": one.name,
        "of": one.aspect,
        "between_sides": one.between,
        "values": [own[0] if len(own) == 1 else list(own) for own in one.values],
    }


def _pair(pair: SidePair) -> dict[str, object]:
    return {
        "cell": pair.cell or None,
        "first": pair.first.name,
        "second": pair.second.name,
        "runs": [list(pair.first.ids), list(pair.second.ids)],
        "comparison": pair.standing.kind,
        "causes": list(pair.standing.causes),
        "objections": [
            {"code": one.code, "sentence": words.objection(one), "voids": one.voids}
            for one in pair.standing.objections
        ],
        "conditions": [_change(one) for one in pair.changes.of_conditions] if pair.cell else None,
        **({} if pair.causes is None else {"late_cycles": compared.as_table(pair.causes)}),
        "measures": [
            {
                "name": measure.name,
                "meaning": measure.meaning,
                "left_out": list(measure.left_out),
                "sources": [_part(part) for part in measure.parts],
            }
            for measure in pair.measures
        ],
    }


def _part(part: SourcePart) -> dict[str, object]:
    return {
        "source": part.source,
        "samples": list(part.samples),
        "lost": list(part.lost),
        "later_than_first": part.superiority,
        "effect": part.size,
        "metrics": [_metric(one) for one in part.metrics],
        "tests": [asdict(one) for one in part.tests],
    }


def _metric(one: ComparedMetric) -> dict[str, object]:
    return {
        **{name: getattr(one, name) for name in _OF_METRIC},
        "p_adjusted": one.adjusted,
        "basis": one.basis or None,
        "verdict": one.verdict or None,
        "note": words.note(one) or None,
    }


def _gate(one: Judged) -> dict[str, object]:
    return {
        "gate": one.gate.text,
        "side": one.side,
        "measure": one.measure,
        "source": one.source,
        "result": one.passing,
        "allowed": one.allowed,
        "at_least": one.least,
        "at_most": one.most,
        "confidence_of_each_end": one.confidence,
        "runs_needed": one.runs_needed,
        "look": one.look,
        "why": words.gate_why(one),
    }


def outcome(comparison: Comparison, *, strict: bool) -> Outcome:
    """Return one case for each gate and source; without ``strict``, one not shown either way is skipped."""
    return Outcome(words.headline(comparison), tuple(_case(one, strict=strict) for one in comparison.gates))


def exit_code(comparison: Comparison, *, strict: bool) -> int:
    """Return 6 if a gate is broken, 7 if one could not be judged or (``strict``) be shown, else 0."""
    standings = {_standing(one, strict=strict) for one in comparison.gates}
    if "failed" in standings:
        return 6
    return 7 if "not shown" in standings else 0


def _case(judged: Judged, *, strict: bool) -> Case:
    where = ", ".join((f"compare {judged.side}", judged.measure, judged.source))
    return Case(where, judged.gate.text, _standing(judged, strict=strict), words.gate_why(judged))


def _standing(judged: Judged, *, strict: bool) -> Standing:
    if judged.passing == "not shown" and strict:
        return "not shown"
    return _STANDINGS[judged.passing]
