"""Grids of middleware as a verb makes them of what was typed."""

from collections.abc import Mapping, Sequence
from typing import Any

from tautochrone.base.options import Value
from tautochrone.experiments import Given
from tautochrone.measure.document.document import PlanDocument
from tautochrone.middleware import question, verbs


def options_typed(verb: str, **typed: Any) -> Mapping[str, Sequence[Value]]:
    """The grid's options without its ends, after these of the verb were typed."""
    return question.options_of(f"middleware-{verb}", given(verb, typed))


def grid_of(
    verb: str,
    typed: Mapping[str, Any],
    ends: Mapping[str, Sequence[Value]],
    axes: Mapping[str, str | None] | None = None,
) -> PlanDocument:
    """The plan that the verb carries out."""
    return question.document_of(f"middleware-{verb}", {**options_typed(verb, **typed), **ends}, axes or {})


def given(verb: str, typed: Mapping[str, Any]) -> Given:
    own = {name.replace("_", "-"): value for name, value in typed.items()}
    table = {one.name: one for one in verbs.OPTIONS[f"middleware-{verb}"]}
    return Given(own, table)
