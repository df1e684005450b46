"""How long to measure, as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tautochrone.answer.tail import sample_plan
from tautochrone.answer.views.grids import view
from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_confidence, parse_frequency, parse_quantile, parse_rate_hz
from tautochrone.judge.reduced import reduce_run
from tautochrone.judge.tail.sample_plan import SamplePlan, effect_in, plan_samples
from tautochrone.notebook.shown import Shown

if TYPE_CHECKING:
    from tautochrone.run.folder import Run


def planned(
    quantile: float | str | None,
    misses: str | None,
    confidence: float | str,
    rate: str | None,
    like: Run | None,
) -> Shown[SamplePlan]:
    """How many samples it takes, by the ways there are of saying it."""
    q = parse_quantile(quantile) if isinstance(quantile, str) else quantile
    sure = parse_confidence(confidence) if isinstance(confidence, str) else confidence
    if (q is not None and not 0 < q < 1) or not 0 < sure < 1:
        raise UsageError("A quantile and a confidence lie above 0 and below 1", "Write 0.99999 and 0.95.")
    often = None if misses is None else parse_frequency(misses)
    rates = () if rate is None else (parse_rate_hz(rate),)
    found = plan_samples(q, often, rates_hz=rates, confidence=sure)
    if like is not None:
        effect = effect_in(like.id, reduce_run(like), 1 - min(found.shares))
        found = plan_samples(q, often, rates_hz=rates, confidence=sure, effect=effect, like=like.id)
    title = sample_plan.headline(found, sample_plan.question(q, misses))
    return Shown(found, title, (), (view(sample_plan.grid(found)),))
