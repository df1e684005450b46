"""The model of the step in words, tables and figures (garre2014, 4.5, equation 2)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tautochrone.tire.grid_results import tire_kind
from tautochrone.tire.model_rows import fit_shown, fitted_share, rows
from tautochrone.tire.model_tables import tables_of
from tautochrone.tire.model_verdict import TOLERANCE
from tautochrone.tire.model_words import criteria, headline, sentences_of, team_of

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure, Grid
    from tautochrone.tire.grid_results import TireResults
    from tautochrone.tire.model_fit import Fit
    from tautochrone.tire.model_judge import Attempt, Study

EQUATION = "T_s = N_switch T_switch + 4e N_ipc T_ipc + (2e+1) T_spring + e T_mass"


def sentences(results: TireResults) -> list[str]:
    """What was found, in plain text."""
    model = results.model
    if model is None:
        return []
    return [
        f"{EQUATION}: equation (2) of garre2014, for one thread with e masses.",
        headline(model.studies),
        *(sentence for study in model.studies for sentence in sentences_of(study)),
        criteria(),
    ]


def tables(results: TireResults) -> list[Grid]:
    """Where it holds, its constants, what would explain more, and every point."""
    return tables_of(results.model) if results.model is not None else []


def figures(results: TireResults, prefix: str) -> list[Figure]:
    """Predicted against measured, and the difference, for each policy."""
    from tautochrone.answer.blocks import Figure, Panel, Place
    from tautochrone.answer.charts import lines as charts

    found = []
    for study in results.model.studies if results.model is not None else ():
        drawn = {one.threads: own for one in study.attempts if (own := rows(study, one))}
        together = [row for own in drawn.values() for row in own]
        if not together:
            continue
        counts = list(drawn)
        refused = {one.threads for one in study.attempts if not fit_shown(study, one).holds}
        found.append(
            Figure(
                f"Predicted and measured step, {study.policy}",
                tuple(
                    Panel(
                        Place(f"{prefix}-{study.policy}-times", count),
                        f"{team_of(count)}{', refused' if count in refused else ''}",
                        charts.model_times(own, within=together, threads=counts),
                    )
                    for count, own in drawn.items()
                ),
                (
                    "The line is what the equation has for each point, with the constants of where it holds; "
                    "where it holds nowhere, with those that were fitted and refused. T_s is without the "
                    "meeting.",
                ),
                charts.key_of_times(),
            )
        )
        found.append(
            Figure(
                f"What is left over, {study.policy}",
                (
                    Panel(
                        Place(f"{prefix}-{study.policy}-errors"),
                        "",
                        charts.model_errors(together, threads=counts, tolerance=TOLERANCE),
                    ),
                ),
                (
                    f"Each mark is the median of the repetitions, the stroke beside it what they span. Grey: "
                    f"{TOLERANCE:.0%} to both sides, within which a point is not held against the equation.",
                ),
                charts.key_of_errors(counts),
            )
        )
    return found


def concluded(results: TireResults) -> dict[str, Any]:
    """Fits, refusals, constants where it holds, and every point, as JSON has it."""
    model = results.model
    if model is None:
        return {}
    return {
        "equation": EQUATION,
        "criteria": criteria(),
        "headline": headline(model.studies),
        "mechanisms": list(model.mechanisms),
        "policies": [_study(study) for study in model.studies],
    }


def _study(study: Study) -> dict[str, Any]:
    return {
        "policy": study.policy,
        "switch": asdict(study.switch),
        "sentences": sentences_of(study),
        "threads": [_attempt(study, one) for one in study.attempts],
        "together": _fit(study.together) if study.together is not None else None,
    }


def _attempt(study: Study, attempt: Attempt) -> dict[str, Any]:
    within, fitted = attempt.within, fitted_share(study, attempt)
    return {
        "threads": attempt.threads,
        "whole": _fit(attempt.whole),
        "within": _fit(within) if within is not None else None,
        "ipc": asdict(attempt.ipc),
        "n_ipc_fitted": asdict(fitted) if fitted is not None else None,
        "n_ipc_counted": attempt.counted,
        "split": asdict(attempt.split) if attempt.split is not None else None,
        "line": asdict(attempt.line) if attempt.line is not None else None,
        "points": [{**asdict(row), "predicted_ns": row.predicted.step_ns} for row in rows(study, attempt)],
        "runs": [one.run for one in attempt.points],
    }


def _fit(fit: Fit) -> dict[str, Any]:
    """Without constants where it is refused: they are none."""
    constants = fit.constants if fit.holds else None
    return {
        "threads": list(fit.threads),
        "nodes": list(fit.nodes),
        "holds": fit.holds,
        "refused": list(fit.refused),
        "held_out": fit.held_out,
        "structure": asdict(fit.structure) if fit.structure is not None else None,
        "constants": asdict(constants) if constants is not None else None,
    }


KIND = tire_kind("The model of the step", sentences, tables, figures, concluded)
