"""Whether what is planned can show what is required, told before anything is measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.answer.typeset import plural
from tautochrone.base.units import format_percent, format_rate, format_span
from tautochrone.experiments.measures import pace_of
from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement.of_share import length_to_show
from tautochrone.measure.document.expand import Point
from tautochrone.measure.document.require import Required


@dataclass(frozen=True)
class Planned:
    """One requirement of the cells that sample at one pace and for as long.

    Attributes:
        cells: how many these are.
        rate_hz: at which each source samples; None: that is not known before, as are the times.
        planned_s: how long that is, over all repetitions, which are counted together.
        single_s: how long one repetition is; a tail is fitted to each by itself.
        counted_s: how long it takes to show it by counting, if no sample passes the limit.
        least_s: how long one repetition must be at least for its tail to be extrapolated so far.
    """

    requirement: Requirement
    cells: int
    rate_hz: float | None = None
    planned_s: float | None = None
    single_s: float | None = None
    counted_s: float | None = None
    least_s: float | None = None

    @property
    def can_show(self) -> bool | None:
        """Whether what is planned can show that it holds; None: that is not known."""
        if self.planned_s is None or self.counted_s is None:
            return None
        return _enough(self.planned_s, self.counted_s) or self._by_tail

    @property
    def _by_tail(self) -> bool:
        return bool(self.single_s and self.least_s and _enough(self.single_s, self.least_s))

    @property
    def sentence(self) -> str:
        """For people."""
        of = f"{self.requirement.text}: of {plural(self.cells, 'cell')}"
        if self.planned_s is None or self.counted_s is None or self.rate_hz is None or not self.least_s:
            return f"{of}."
        of = f"{of} at {format_rate(self.rate_hz)}"
        sure = f"{format_percent(self.requirement.confidence)} confidence"
        takes = f"It takes {format_span(self.counted_s)} without a late one to show it at {sure}"
        planned = f"planned: {format_span(self.planned_s)}"
        if _enough(self.planned_s, self.counted_s):
            return f"{of}. {takes}; {planned}."
        if self._by_tail:
            return f"{of}. {takes}; {planned}, enough only if its tail can be extrapolated."
        sooner = self.least_s < self.counted_s
        least = (
            f", or {format_span(self.least_s)} at a time if its tail can be extrapolated" if sooner else ""
        )
        return f"{of}. {takes}{least}; {planned}, too short to show it."


def planned(required: Required, points: Mapping[str, Point], repetitions: int) -> list[Planned]:
    """What is required, in the order of the plan; cells of one pace and length are taken together."""
    found: dict[tuple[str, float | None, float | None], list[Requirement]] = {}
    for key, point in points.items():
        for one in required.get(key, ()):
            pace = pace_of(point.experiment, point.options, one.source)
            seconds = None if pace is None else pace.samples * pace.period_s
            place = (one.text, None if pace is None else 1 / pace.period_s, seconds)
            found.setdefault(place, []).append(one)
    return [_planned(own, rate_hz, seconds, repetitions) for (_, rate_hz, seconds), own in found.items()]


def sentences(
    required: Required, points: Mapping[str, Point], repetitions: int
) -> Iterator[tuple[str, bool | None]]:
    """Each requirement in a sentence, and whether what is planned can show that it holds."""
    for one in planned(required, points, repetitions):
        yield one.sentence, one.can_show


def as_table(required: Required, points: Mapping[str, Point], repetitions: int) -> list[dict[str, Any]]:
    """The same as JSON has it; times in seconds."""
    return [
        {
            "requirement": one.requirement.text,
            "cells": one.cells,
            "rate_hz": one.rate_hz,
            "planned_s": one.planned_s,
            "counted_s": one.counted_s,
            "least_s": one.least_s,
            "can_show": one.can_show,
        }
        for one in planned(required, points, repetitions)
    ]


def _planned(
    own: Sequence[Requirement], rate_hz: float | None, single_s: float | None, repetitions: int
) -> Planned:
    first = own[0]
    planned_s = None if single_s is None else single_s * repetitions
    if rate_hz is None or planned_s is None or first.kind == "mean":
        return Planned(first, len(own), rate_hz, planned_s, single_s)
    return Planned(
        first,
        len(own),
        rate_hz,
        planned_s,
        single_s,
        length_to_show(first, rate_hz, counted=True),
        length_to_show(first, rate_hz, counted=False),
    )


def _enough(planned_s: float, needed_s: float) -> bool:
    return planned_s >= needed_s * (1 - 1e-9)
