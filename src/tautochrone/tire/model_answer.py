"""The model of the step in words, tables and figures (garre2014, 4.5, equation 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.document import TypedCell, TypedTable, columns, count, formatted, micros, words
from tautochrone.base.words import plural, sentence
from tautochrone.statistics.regression import Estimate
from tautochrone.tire import model_words
from tautochrone.tire.grid_question import teams_of
from tautochrone.tire.grid_results import TireResults, tire_kind
from tautochrone.tire.model_fit import TOLERANCE, ModelFit
from tautochrone.tire.model_judge import Attempt, ModelResults, ModelStudy
from tautochrone.tire.model_measured import MechanismLatency

_UNKNOWN = TypedCell(None, "number")
_ROLES = {"fitted": "fit", "tested": "test", "outside": "outside"}
_ABOUT_VERDICTS = (
    "Off where tested: median size of the error at the points that were not fitted on. The p of three tests: "
    "how often chance alone gives errors that follow the masses so much."
)
_ABOUT_CONSTANTS = (
    "T_spring and T_mass come from the stamps within the step, N_ipc T_ipc from its red parts; T_switch and "
    "T_ipc are medians of the mechanism experiments. N_ipc fitted is N_ipc T_ipc over T_ipc, so it also has "
    "what a lock costs that is free. N_ipc counted is the share of accesses at which a thread slept."
)
_PAPER = (
    "The paper has about 400 ns for T_spring and 80 ns for T_mass, on an i7-3930K with GCC 4.4.3 -O2, and "
    "takes the worst latencies of its Table 1 for T_switch and T_ipc."
)
_ABOUT_VARIANTS = (
    "Nothing here decides whether the equation holds. T_lock is a lock that is free, with the copy of a "
    "mass; N_blocked is counted. T_start is what a step costs before its first mass, such as caches that "
    "have gone cold while the thread slept; the equation has none."
)
_ABOUT_POINTS = (
    "Measured: mean T_s of the steps and threads of a run, until the thread has written its masses, without "
    "the clock's readings; median of the repetitions. Shares are those of the prediction. Meeting: from "
    "there until the last thread has written, which the equation does not have."
)


def _verdicts(model: ModelResults) -> TypedTable:
    lines = []
    for study in model.studies:
        for attempt in study.attempts:
            fits = {id(fit): fit for fit in (attempt.whole, attempt.within) if fit is not None}
            lines += [_verdict(study, plural(attempt.threads, "thread"), fit) for fit in fits.values()]
        if study.together is not None:
            lines.append(_verdict(study, f"{teams_of(study.together.threads)} as one", study.together))
    heads = columns(
        "", "masses", "equation", "off where tested", "most off", "at masses", "runs p", "trend p",
        "lack of fit p",
    )  # fmt: skip
    return TypedTable("Where equation (2) holds", heads, tuple(lines), (_ABOUT_VERDICTS,))


def _verdict(study: ModelStudy, team: str, fit: ModelFit) -> tuple[TypedCell, ...]:
    structure = fit.structure
    worst = structure.worst if structure is not None else None
    lack = structure.lack if structure is not None else None
    return (
        words(f"{study.policy}, {team}"),
        words(_range(fit.nodes)),
        words("holds" if fit.holds else "refused"),
        formatted(fit.held_out, "{:.1%}", "share"),
        formatted(worst.error if worst is not None else None, "{:+.1%}", "share"),
        count(worst.nodes if worst is not None else None),
        formatted(structure.runs_p if structure is not None else None, "{:.1g}"),
        formatted(structure.trend_p if structure is not None else None, "{:.1g}"),
        formatted(lack.p if lack is not None else None, "{:.1g}"),
    )


def _constants(model: ModelResults) -> TypedTable:
    lines: list[tuple[TypedCell, ...]] = []
    for study in model.studies:
        shown = {id(fit): fit for one in study.attempts if (fit := model_words.fit_shown(study, one)).holds}
        for fit in shown.values():
            lines += _fitted(study, fit)
        lines.append(_latency(study, study.switch, ""))
        lines.append(_switches(study))
        for attempt in study.attempts:
            lines += _locks(study, attempt)
    notes = [
        _ABOUT_CONSTANTS,
        *(sentence(study.switch.note) for study in model.studies if study.switch.note),
        *(f"Not in the store: {what}." for what in model.lacking),
        _PAPER,
    ]
    if not any(model_words.fit_shown(study, one).holds for study in model.studies for one in study.attempts):
        notes.insert(0, "T_spring, T_mass and N_ipc T_ipc are not given: the equation holds nowhere here.")
    heads = columns("", "value", "95 % interval", "from")
    return TypedTable("Constants, times in ns", heads, tuple(lines), tuple(notes))


def _constant(name: str, value: TypedCell, interval: TypedCell, origin: str) -> tuple[TypedCell, ...]:
    return words(name), value, interval, words(origin)


def _fitted(study: ModelStudy, fit: ModelFit) -> Iterator[tuple[TypedCell, ...]]:
    constants = fit.constants
    if constants is None:
        return
    at = f"{study.policy}, {teams_of(fit.threads)}"
    masses = f"{_range(fit.nodes)} masses"
    runs = f"{plural(constants.spring.count, 'run')} with {masses}"
    yield _constant(f"T_spring, {at}", *_valued(constants.spring), f"forces / (2e+1), {runs}")
    yield _constant(f"T_mass, {at}", *_valued(constants.mass), f"integration / e, {runs}")
    for threads, access in constants.access.items():
        name = f"N_ipc T_ipc, {study.policy}, {plural(threads, 'thread')}"
        yield _constant(name, *_valued(access), f"red / 4e, {plural(access.count, 'run')} with {masses}")


def _latency(study: ModelStudy, latency: MechanismLatency, of: str) -> tuple[TypedCell, ...]:
    name = f"{latency.name}, {study.policy}{of}"
    if latency.typical is None:
        return _constant(name, _UNKNOWN, _UNKNOWN, latency.note)
    return _constant(name, *_valued(latency.typical, 0), f"{latency.row}; {', '.join(latency.runs)}")


def _switches(study: ModelStudy) -> tuple[TypedCell, ...]:
    counts = [one.switches for attempt in study.attempts for one in attempt.points]
    known = [one for one in counts if one is not None]
    name = f"N_switch, {study.policy}"
    if not known or len(known) < len(counts):
        return _constant(name, _UNKNOWN, _UNKNOWN, "this system does not count them")
    span = f"counted per step and thread, {min(known):.2g} to {max(known):.2g}"
    return _constant(name, formatted(sum(known) / len(known), "{:.2g}"), _UNKNOWN, span)


def _locks(study: ModelStudy, attempt: Attempt) -> Iterator[tuple[TypedCell, ...]]:
    of = f", {plural(attempt.threads, 'thread')}"
    yield _latency(study, attempt.ipc, of)
    fitted = model_words.fitted_share(study, attempt)
    if fitted is not None:
        yield _constant(f"N_ipc fitted, {study.policy}{of}", *_valued(fitted), "N_ipc T_ipc / T_ipc")
    origin = "voluntary switches at locks, per access"
    yield _constant(
        f"N_ipc counted, {study.policy}{of}", formatted(attempt.counted, "{:.2g}"), _UNKNOWN, origin
    )


def _variants(model: ModelResults) -> Iterator[TypedTable]:
    lines = []
    for study in model.studies:
        for attempt in study.attempts:
            name = words(f"{study.policy}, {plural(attempt.threads, 'thread')}")
            lines.append(
                (name, words("as printed"), formatted(attempt.whole.held_out, "{:.1%}", "share"), words(""))
            )
            line = attempt.line.variant if attempt.line is not None else None
            for variant in filter(None, (attempt.split, line)):
                said = ", ".join(f"{of} {_with_interval(one)}" for of, one in variant.constants.items())
                lines.append(
                    (
                        name,
                        words(variant.formula),
                        formatted(variant.held_out, "{:.1%}", "share"),
                        words(said),
                    )
                )
    if lines:
        yield TypedTable(
            "Beside it: what else would explain the step, over all masses",
            columns("", "equation", "off where tested", "fitted, in ns"),
            tuple(lines),
            (_ABOUT_VARIANTS,),
        )


def _all_points(model: ModelResults) -> Iterator[TypedTable]:
    drawn = [
        (study, one) for study in model.studies for one in study.attempts if model_words.rows(study, one)
    ]
    for at, (study, attempt) in enumerate(drawn):
        yield _points(study, attempt, [_ABOUT_POINTS] if at == len(drawn) - 1 else [])


def _points(study: ModelStudy, attempt: Attempt, notes: list[str]) -> TypedTable:
    fit = model_words.fit_shown(study, attempt)
    lines = tuple(_point(row, shares=fit.holds) for row in model_words.rows(study, attempt))
    heads = columns(
        "masses", "point", "measured", "predicted", "error", "switches %", "locks %", "springs %", "moving %",
        "meeting",
    )  # fmt: skip
    if not fit.holds:
        notes = ["The prediction is that of a fit that is refused.", *notes]
    title = f"{study.policy}, {plural(attempt.threads, 'thread')}: T_s in us"
    return TypedTable(title, heads, lines, tuple(notes))


def _point(row: model_words.ModelRow, *, shares: bool) -> tuple[TypedCell, ...]:
    terms = row.predicted
    parts = (terms.switching_ns, terms.locks_ns, terms.springs_ns, terms.masses_ns)
    of = [part / terms.step_ns * 100 for part in parts] if shares else [None] * len(parts)
    return (
        count(row.nodes),
        words(_ROLES[row.role]),
        micros(row.measured_ns),
        micros(terms.step_ns),
        formatted(row.error, "{:+.1%}", "share"),
        *(formatted(one, "{:.1f}") for one in of),
        micros(row.meeting_ns),
    )


def _range(nodes: Sequence[int]) -> str:
    return f"{nodes[0]:,}" if len(nodes) == 1 else f"{nodes[0]:,} to {nodes[-1]:,}"


def _valued(one: Estimate, digits: int = 3) -> tuple[TypedCell, TypedCell]:
    """Return the cases of an estimate and of its interval, to so many digits; 0: whole numbers."""
    interval = TypedCell(None, "number", _interval(one, digits), one.low, one.high)
    return TypedCell(one.value, "number", _figures(one.value, digits)), interval


def _with_interval(one: Estimate) -> str:
    between = _interval(one, 3)
    return f"{_figures(one.value, 3)} ({between})" if between else _figures(one.value, 3)


def _interval(one: Estimate, digits: int) -> str:
    if one.low is None or one.high is None:
        return ""
    return f"{_figures(one.low, digits)} to {_figures(one.high, digits)}"


def _figures(value: float, digits: int) -> str:
    return f"{value:,.0f}" if not digits or abs(value) >= 1000 else f"{value:#.{digits}g}".rstrip(".")


EQUATION = "T_s = N_switch T_switch + 4e N_ipc T_ipc + (2e+1) T_spring + e T_mass"


def sentences(results: TireResults) -> list[str]:
    """Return what was found, in plain text."""
    model = results.model
    if model is None:
        return []
    return [
        f"{EQUATION}: equation (2) of garre2014, for one thread with e masses.",
        model_words.headline(model.studies),
        *(sentence for study in model.studies for sentence in model_words.sentences_of(study)),
        model_words.criteria(),
    ]


def tables(results: TireResults) -> list[TypedTable]:
    """Return where it holds, its constants, what would explain more, and every point."""
    model = results.model
    if model is None:
        return []
    return [_verdicts(model), _constants(model), *_variants(model), *_all_points(model)]


def figures(results: TireResults, prefix: str) -> list[Figure]:
    """Draw predicted against measured, and the difference, for each policy."""
    from tautochrone.tire import model_charts as charts

    found = []
    for study in results.model.studies if results.model is not None else ():
        drawn = {one.threads: own for one in study.attempts if (own := model_words.rows(study, one))}
        together = [row for own in drawn.values() for row in own]
        if not together:
            continue
        counts = list(drawn)
        refused = {one.threads for one in study.attempts if not model_words.fit_shown(study, one).holds}
        found.append(
            Figure(
                f"Predicted and measured step, {study.policy}",
                tuple(
                    Panel(
                        f"{prefix}-{study.policy}-times",
                        f"{plural(count, 'thread')}{', refused' if count in refused else ''}",
                        charts.model_times(own, within=together, threads=counts),
                        count,
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
                        f"{prefix}-{study.policy}-errors",
                        "",
                        charts.model_errors(together, threads=counts),
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


def concluded(results: TireResults) -> dict[str, object]:
    """Return fits, refusals, constants where it holds, and every point, as JSON has it."""
    model = results.model
    if model is None:
        return {}
    return {
        "equation": EQUATION,
        "criteria": model_words.criteria(),
        "headline": model_words.headline(model.studies),
        "mechanisms": list(model.mechanisms),
        "policies": [
            {
                "policy": study.policy,
                "switch": asdict(study.switch),
                "sentences": model_words.sentences_of(study),
                "threads": [_attempt(study, one) for one in study.attempts],
                "together": study.together and _fit(study.together),
            }
            for study in model.studies
        ],
    }


def _attempt(study: ModelStudy, attempt: Attempt) -> dict[str, object]:
    fitted = model_words.fitted_share(study, attempt)
    return {
        "threads": attempt.threads,
        "whole": _fit(attempt.whole),
        "within": attempt.within and _fit(attempt.within),
        "ipc": asdict(attempt.ipc),
        "n_ipc_fitted": fitted and asdict(fitted),
        "n_ipc_counted": attempt.counted,
        "split": attempt.split and asdict(attempt.split),
        "line": attempt.line and asdict(attempt.line),
        "points": [
            {**asdict(row), "predicted_ns": row.predicted.step_ns} for row in model_words.rows(study, attempt)
        ],
        "runs": [one.run for one in attempt.points],
    }


def _fit(fit: ModelFit) -> dict[str, object]:
    """Return a fit, without constants where it is refused: they are none."""
    table = asdict(replace(fit, predictions=(), constants=fit.constants if fit.holds else None))
    del table["predictions"]
    return {**table, "holds": fit.holds}


KIND = tire_kind("The model of the step", sentences, tables, figures, concluded)
