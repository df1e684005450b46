"""A requirement in one line: ``latency p99.999 < 500us``, ``misses < 1 per hour``.

The grammar, in which spaces may be left out around the comparison::

    MEASURE QUANTILE  <|<=  TIME          [at CONFIDENCE]     latency p99.9 <= 800us at 99%
    MEASURE max       <|<=  TIME                              latency max < 100us
    MEASURE mean      <|<=  TIME          [at CONFIDENCE]     latency mean < 20us
    MEASURE above TIME  <|<=  HOW-OFTEN   [at CONFIDENCE]     latency above 100us < 1 in 1e6
    misses [beyond TIME]  <|<=  HOW-OFTEN [at CONFIDENCE]     misses < 1 per hour
    misses [beyond TIME]  =  0                                misses beyond 800us = 0

A measure is named as in the stream, with or without its ``_ns``. Behind it, or behind ``misses``, may stand
of which source it is required, as the run names it, in quotes where there is a blank in it; ``*`` stands for
any letters. Without that all sources are meant::

    response of C0 p99.9 < 2ms        misses of 'C*' = 0        call of 'two-way octet' p99 < 100us
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.base.units import (
    Frequency,
    parse_confidence,
    parse_duration_ns,
    parse_frequency,
    parse_quantile,
)
from tautochrone.base.words import suggestion
from tautochrone.experiments.experiment import MISSES
from tautochrone.experiments.registry import EXPERIMENTS
from tautochrone.statistics.quantiles import CONFIDENCE

Kind = Literal["quantile", "max", "mean", "above", "misses"]

MEASURES = tuple(
    dict.fromkeys(measure for one in EXPERIMENTS.values() for measure in one.measures if measure != MISSES)
)
"""Of all experiments; a test sees that the probe has no other."""

_FORMS = (
    "Write 'latency p99.999 < 500us', 'latency max < 100us', 'latency mean < 20us', 'latency above 100us < 1 "
    "in 1e6', 'misses < 1 per hour' or 'misses = 0'; 'at 99%' may follow."
)
_LINE = re.compile(r"\s*(?P<subject>.*?)\s*(?P<operator><=|=<|≤|<|==?)\s*(?P<limit>.*?)\s*", re.DOTALL)
_AT = re.compile(r"(?P<limit>.*?)\s+(?:at|with)\s+(?P<confidence>[0-9.]+\s*%?)(?:\s+confidence)?", re.DOTALL)
_SUBJECT = re.compile(
    r"(?P<measure>[A-Za-z][A-Za-z0-9_-]*)"
    r"(?:\s+of\s+(?P<source>'[^']+'|\"[^\"]+\"|[^\s'\"]+))?"
    r"(?:\s+(?P<word>above|beyond|over|>)\s*(?P<beyond>.+)|\s+(?P<what>\S+))?"
)


@dataclass(frozen=True)
class Requirement:
    """What must hold.

    Attributes:
        text: as it was written.
        kind: what is looked at: a quantile, the largest, the mean, how often a measure is above a time, or
            how often a deadline is missed.
        measure: its name in the stream; empty for misses, which are of the measure that ends when the work
            of a release does.
        strict: whether it must stay below its limit; otherwise it may reach it.
        confidence: with which it must be shown, as a fraction.
        q: which quantile.
        limit_ns: of a quantile, the largest or the mean; of ``above`` and ``misses beyond``, the time that
            must not be passed. None of misses: the deadline that the run had, or else its period.
        frequency: how often it may be passed, of ``above`` and ``misses``.
        source: the name of the source that it is about, with ``*`` for any letters; empty: all of them.
    """

    text: str
    kind: Kind
    measure: str = ""
    strict: bool = True
    confidence: float = CONFIDENCE
    q: float | None = None
    limit_ns: int | None = None
    frequency: Frequency | None = None
    source: str = ""

    def is_about(self, source: str) -> bool:
        """Return whether it is required of the source of this name."""
        pattern = ".*".join(map(re.escape, self.source.split("*")))
        return not self.source or re.fullmatch(pattern, source, re.IGNORECASE) is not None


def parse(text: str, confidence: float = CONFIDENCE) -> Requirement:
    """Read a requirement.

    Args:
        text: one line.
        confidence: where it says none itself.

    Raises:
        UsageError: it can't be read; the message says what is wrong, the advice what may stand there.
    """
    try:
        return _parse(text, confidence)
    except UsageError as error:
        raise UsageError(f"requirement '{text}': {error}", error.advice) from error


def _parse(text: str, confidence: float) -> Requirement:
    line = _LINE.fullmatch(" ".join(text.split()))
    if line is None or not line["subject"]:
        upward = line is None and ">" in text
        raise UsageError("it is not met by being late" if upward else "it has no comparison", _FORMS)
    limit, sure = line["limit"], confidence
    if at := _AT.fullmatch(limit):
        limit, sure = at["limit"], parse_confidence(at["confidence"])
    subject = _SUBJECT.fullmatch(line["subject"])
    if subject is None:
        raise UsageError(f"'{line['subject']}' does not name one number of a run", _FORMS)
    found = _of_subject(text, subject, line["operator"], limit, sure)
    return replace(found, source=(subject["source"] or "").strip("'\""))


def _of_subject(text: str, subject: re.Match[str], operator: str, limit: str, sure: float) -> Requirement:
    never = operator in ("=", "==")
    strict = operator == "<"
    if subject["measure"].lower() in (MISSES, "miss"):
        return _misses(text, subject, limit, sure, strict=strict, never=never)
    if never:
        raise UsageError("only misses can be required to be '= 0'", _FORMS)
    measure = _measure(subject["measure"])
    if subject["word"]:
        beyond = parse_duration_ns(subject["beyond"])
        often = parse_frequency(limit)
        if strict and not often.count:
            raise UsageError("nothing is fewer than none", f"Write <= {limit}.")
        return Requirement(text, "above", measure, strict, sure, limit_ns=beyond, frequency=often)
    if not subject["what"]:
        raise UsageError(f"it does not say what of {subject['measure']}: p99.9, max, mean", _FORMS)
    return _of_value(text, measure, subject["what"].lower(), limit, sure, strict=strict)


def _misses(
    text: str, subject: re.Match[str], limit: str, sure: float, *, strict: bool, never: bool
) -> Requirement:
    if subject["what"]:
        raise UsageError(f"'{subject['what']}' says nothing of misses", _FORMS)
    beyond = parse_duration_ns(subject["beyond"]) if subject["beyond"] else None
    often = parse_frequency(limit)
    if never and often.count:
        raise UsageError(f"misses = {limit} would be no less than that either", "Write misses <= …")
    if not often.count:
        if strict and not never:
            raise UsageError("nothing is fewer than no miss", "Write misses = 0.")
        strict = False
    return Requirement(text, "misses", "", strict, sure, limit_ns=beyond, frequency=often)


def _of_value(text: str, measure: str, what: str, limit: str, sure: float, *, strict: bool) -> Requirement:
    limit_ns = parse_duration_ns(limit)
    if what in ("max", "maximum", "worst"):
        return Requirement(text, "max", measure, strict, sure, limit_ns=limit_ns)
    if what in ("mean", "average"):
        return Requirement(text, "mean", measure, strict, sure, limit_ns=limit_ns)
    return Requirement(text, "quantile", measure, strict, sure, q=parse_quantile(what), limit_ns=limit_ns)


def _measure(name: str) -> str:
    wanted = name.lower().replace("-", "_")
    full = wanted if wanted.endswith("_ns") else f"{wanted}_ns"
    if full in MEASURES:
        return full
    known = [one.removesuffix("_ns") for one in MEASURES]
    every = f"There are: {', '.join(known)}; and misses."
    raise UsageError(f"no experiment measures '{name}'", suggestion(full.removesuffix("_ns"), known, every))
