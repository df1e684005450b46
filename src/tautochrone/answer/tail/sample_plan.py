"""How long to measure: as a document, and as JSON."""

from tautochrone.answer.document import Document, TypedTable, columns, count, formatted, part, words
from tautochrone.base.units import format_percent, format_rate, format_ratio, format_span
from tautochrone.judge.tail.sample_plan import PRECISION, Need, SamplePlan


def question(q: float | None, misses: str | None) -> str:
    """Return what is to be shown, in words, of a quantile or else of how often something may be late."""
    if q is not None:
        return f"{format_percent(q)} of all cycles are not later than a limit"
    return f"no more cycles are late than {(misses or '').strip()}"


def headline(plan: SamplePlan, asked: str) -> str:
    """Return what stands above the table."""
    return f"To show, at {format_percent(plan.confidence)} confidence, that {asked}"


def document(plan: SamplePlan, asked: str) -> Document:
    """Return the table; ``asked``: what is to be shown, in words."""
    return Document(headline(plan, asked), (part("How long", lambda: [table(plan)]),))


def table(plan: SamplePlan) -> TypedTable:
    """Return a row for each way of showing it."""
    alike = len(set(plan.shares)) == 1
    rates = [format_rate(rate) for rate in plan.rates_hz]
    rows = []
    for need in plan.needs:
        times = [format_span(seconds, up=True) for seconds in plan.seconds(need)]
        cells = (
            [count(need.samples[0]), *map(formatted, plan.seconds(need), times)]
            if alike
            else [
                formatted(samples, f"{time}: {samples:,}")
                for time, samples in zip(times, need.samples, strict=True)
            ]
        )
        rows.append((words(_way(need)), *cells))
    heads = columns("by", *(("samples",) if alike else ()), *(f"at {rate}" for rate in rates))
    return TypedTable("", heads, tuple(rows), tuple(_notes(plan, alike=alike)))


def as_table(plan: SamplePlan, asked: str) -> dict[str, object]:
    """Return the same as JSON has it."""
    return {
        "asked": asked,
        "confidence": plan.confidence,
        "like": plan.like or None,
        "design_effect": plan.effect,
        "needs": [
            {
                "kind": need.kind,
                "exceeding": need.exceeding if need.kind in ("largest", "exceeding") else None,
                "relative_precision": PRECISION if need.kind == "precision" else None,
                "at": [
                    {
                        "rate_hz": rate,
                        "share_above": share,
                        "samples": count,
                        "independent_samples": independent,
                        "seconds": seconds,
                    }
                    for rate, share, count, independent, seconds in zip(
                        plan.rates_hz,
                        plan.shares,
                        need.samples,
                        need.independent,
                        plan.seconds(need),
                        strict=True,
                    )
                ],
            }
            for need in plan.needs
        ],
    }


def _way(need: Need) -> str:
    if need.kind == "largest":
        return "none later: by the largest"
    if need.kind == "exceeding":
        return f"{need.exceeding:,} later allowed"
    if need.kind == "interval":
        return "an interval on both sides"
    return f"their share, within {format_percent(PRECISION)}"


def _notes(plan: SamplePlan, *, alike: bool) -> list[str]:
    said = []
    if not alike:
        said.append("How long, and how many samples.")
    if plan.like:
        said.append(
            f"In {plan.like} late samples came in clusters: {format_ratio(plan.effect)} count as one here."
            if plan.effect >= 1.05
            else f"In {plan.like} late samples came in clusters no more often than by chance."
        )
    else:
        said.append("For independent samples; --like RUN accounts for the correlation of samples in a run.")
    said.append(
        "Each CPU, load, kernel and machine needs this many. A missed release counts as a later one. None "
        "later: Wilks (1941); some later: Clopper and Pearson (1934)."
    )
    return said
