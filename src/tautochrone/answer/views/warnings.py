"""What to know before trusting the numbers: runs that ended early, warnings, the audit's findings."""

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from tautochrone.answer.document import Notice
from tautochrone.answer.typeset import micro
from tautochrone.answer.views.virtual import IN_THE_LAB, is_said_here, is_virtual
from tautochrone.base.words import lower_first, upper_first
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.manifest import SEALED, Manifest

_T = TypeVar("_T")
_Kind = TypeVar("_Kind", bound=Hashable)
_QUANTITY = re.compile(r"\d[\d,]*(?:\.\d+)?(?:%| (?:ns|us|ms|s)\b)")
_FACTORS = {"%": 1.0, " ns": 1.0, " us": 1e3, " ms": 1e6, " s": 1e9}
_ENDINGS = {
    "interrupted": "was stopped early by a signal",
    "overrun": "stopped at its first overrun, as asked",
    "watchdog": "was stopped by its watchdog: a measuring thread ran past its budget",
    "failed": "failed while measuring",
}


def incomplete(manifests: Sequence[Manifest]) -> str:
    """What a headline over these runs must begin with, so that nobody takes it for more; or nothing."""
    words = _partly(manifests)
    if not any(is_virtual(manifest) for manifest in manifests):
        return words
    return f"{IN_THE_LAB}, {lower_first(words)}" if words else IN_THE_LAB


def _partly(manifests: Sequence[Manifest]) -> str:
    if any(manifest.state != SEALED or manifest.damage for manifest in manifests):
        return "From incomplete data"
    if any(manifest.ended in _ENDINGS for manifest in manifests):
        return "From a run that ended early"
    return ""


def endings(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[str]:
    """One sentence for each run that did not run to its planned end or is not whole."""
    sentences = []
    for manifest, label in zip(manifests, labels, strict=True):
        name = f"The run “{label}” ({manifest.id})"
        if manifest.state == "recovered":
            missing = f" Missing: {micro(manifest.damage)}." if manifest.damage else ""
            sentences.append(
                f"{name} was cut off and recovered from its whole frames.{missing.replace('..', '.')}"
            )
        elif manifest.state == "measuring":
            sentences.append(f"{name} is still being measured; this page shows a part of it.")
        elif manifest.damage:
            sentences.append(f"{name} is damaged: {micro(manifest.damage)}.")
        if manifest.ended in _ENDINGS:
            reason = manifest.footer.reason if manifest.footer is not None else None
            sentences.append(f"{name} {_ENDINGS[manifest.ended]}{f': {reason}' if reason else ''}.")
    return sentences


def warnings(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Notice]:
    """The runs' warnings but those that a band above all says; one that several runs share is said once."""
    found = [
        (warning.text, (warning.code, warning.advice), label)
        for manifest, label in zip(manifests, labels, strict=True)
        for warning in manifest.warnings
        if not is_said_here(warning.code)
    ]
    shared = len(manifests)
    return [
        Notice(
            "",
            micro(upper_first(text)),
            micro(advice),
            "" if len(runs) == shared else ", ".join(runs),
        )
        for text, (_, advice), runs in said_once(found)
    ]


def said_once(found: Sequence[tuple[str, _Kind, _T]]) -> list[tuple[str, _Kind, list[_T]]]:
    """One sentence for all that differ in how much only: "used 88% to 100% of its CPU".

    Args:
        found: a sentence, what else has to be the same, and who says it.

    Returns:
        Each sentence once, in the order in which they came first, with all who say it.
    """
    groups: dict[tuple[str, _Kind], list[tuple[str, _T]]] = {}
    for text, kind, who in found:
        groups.setdefault((_QUANTITY.sub("#", text), kind), []).append((text, who))
    return [
        (_spanned([text for text, _ in own]), kind, [who for _, who in own])
        for (_, kind), own in groups.items()
    ]


def _spanned(texts: Sequence[str]) -> str:
    """One of the texts, with the least and the largest where their quantities differ."""
    columns = zip(*(_QUANTITY.findall(text) for text in texts), strict=True)
    spans = iter([_span(column) for column in columns])
    return _QUANTITY.sub(lambda _: next(spans), texts[0])


def _span(quantities: Sequence[str]) -> str:
    least, largest = min(quantities, key=_amount), max(quantities, key=_amount)
    return least if least == largest else f"{least} to {largest}"


def _amount(quantity: str) -> float:
    digits = quantity.rstrip("% nums")
    return float(digits.replace(",", "")) * _FACTORS[quantity.removeprefix(digits)]


def findings(found: Mapping[str, Sequence[Finding]], *levels: str) -> list[Notice]:
    """The audits' findings of these levels; one that several machines share is said once.

    Args:
        found: the findings of each machine, by its name; the name is said where there are several.
        levels: which to take, in this order.
    """
    where: dict[Finding, list[str]] = {}
    for machine, own in found.items():
        for finding in own:
            where.setdefault(finding, []).append(machine)
    return [
        Notice(
            title=one.title,
            text=micro(f"{one.observed} {one.why}".strip() if level != "good" else one.observed),
            advice=micro(one.advice),
            runs="; ".join(
                [
                    *([one.certainty] if one.certainty != "sure" else []),
                    *(machines if len(machines) < len(found) else []),
                ]
            ),
            source=one.source,
        )
        for level in levels
        for one, machines in where.items()
        if one.level == level
    ]
