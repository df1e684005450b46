"""A comparison as JSON; times in nanoseconds, shares as fractions."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tautochrone.answer.phrasing import comparison as words
from tautochrone.judge.comparison.compare import Comparison, Pair
from tautochrone.judge.comparison.conditions import Change
from tautochrone.judge.comparison.metric import Metric, Part
from tautochrone.judge.comparison.passing import Judged

SCHEMA = 1


def as_table(comparison: Comparison, lacking: Sequence[str] = ()) -> dict[str, Any]:
    """All of it."""
    cells = bool(comparison.pairs[0].cell)
    return {
        "schema": SCHEMA,
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
        "sentences": words.sentences(comparison),
        "lacking": list(lacking),
        "pairs": [_pair(one) for one in comparison.pairs],
        "gates": [_gate(one) for one in comparison.gates],
    }


def _change(one: Change) -> dict[str, Any]:
    return {
        "fact": one.name,
        "of": one.aspect,
        "between_sides": one.between,
        "values": [own[0] if len(own) == 1 else list(own) for own in one.values],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "cell": pair.cell or None,
        "first": pair.first.name,
        "second": pair.second.name,
        "runs": [list(pair.first.ids), list(pair.second.ids)],
        "comparison": pair.standing.kind,
        "causes": list(pair.standing.causes),
        "objections": [asdict(one) for one in pair.standing.objections],
        "conditions": [_change(one) for one in pair.changes.of_conditions] if pair.cell else None,
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


def _part(part: Part) -> dict[str, Any]:
    return {
        "source": part.source,
        "samples": list(part.samples),
        "lost": list(part.lost),
        "later_than_first": part.superiority,
        "effect": part.size,
        "metrics": [_metric(one) for one in part.metrics],
        "tests": [asdict(one) for one in part.tests],
    }


def _metric(one: Metric) -> dict[str, Any]:
    return {
        "name": one.name,
        "first": one.first,
        "second": one.second,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "ratio": one.ratio,
        "ratio_low": one.ratio_low,
        "ratio_high": one.ratio_high,
        "p": one.p,
        "p_adjusted": one.adjusted,
        "basis": one.basis or None,
        "verdict": one.verdict or None,
        "note": one.note or None,
    }


def _gate(one: Judged) -> dict[str, Any]:
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
        "why": words.gate_why(one),
    }
