"""What made cycles of a check late, where its runs recorded that."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.answer import document as doc
from tautochrone.answer.blame import advice, section
from tautochrone.answer.phrasing.blame import headline, name_of
from tautochrone.base.words import listed, plural
from tautochrone.judge.blame import BlamedRun, blame_of
from tautochrone.judge.late_causes import LateCause, main_cause
from tautochrone.run.folder import StoredRun

_MOST = 3


@dataclass(frozen=True)
class CheckCauses:
    """What made cycles late in the run that decides.

    Attributes:
        missed: cycles beyond the deadline whose events were recorded, in all runs.
        causes: how many of them each cause made late, that of most first.
        found: the causes in the run that decides.
        advice: what would help there.
    """

    missed: int
    causes: tuple[tuple[LateCause, int], ...]
    found: BlamedRun
    advice: tuple[advice.CauseAdvice, ...]

    @property
    def sentence(self) -> str:
        """Return what made cycles miss; where none did, what made the latest ones late."""
        if not self.missed:
            return headline(self.found)
        told = [f"{name_of(*cause)} ({times:,})" for cause, times in self.causes[:_MOST]]
        more = len(self.causes) - len(told)
        told += [f"{more} more"] if more > 0 else []
        return f"What made {plural(self.missed, 'recorded cycle')} miss the deadline: {listed(told)}."

    def blocks(self) -> Iterator[doc.Block]:
        """Yield the causes in short, and what would help."""
        yield doc.Subheading(section.TITLE)
        yield from section.short(self.found)
        yield from advice.blocks(self.advice)

    def as_table(self) -> dict[str, object]:
        """Return what programs read."""
        return {
            "run": self.found.run,
            "sentence": self.sentence,
            "beyond_deadline": self.missed,
            "causes": [
                {"cause": cause, "actor": actor, "cycles": times} for (cause, actor), times in self.causes
            ],
            "advice": advice.as_table(self.advice),
        }


def causes_of(runs: Sequence[StoredRun], decides: StoredRun | None, deadline_ns: int) -> CheckCauses | None:
    """Return what made cycles late; None where no run recorded it.

    Raises:
        DamagedError: the late cycles can't be read.
    """
    blamed = {run.id: found for run in runs if (found := blame_of(run)) is not None and found.recorded}
    if not blamed:
        return None
    late = Counter(
        main_cause(one)
        for found in blamed.values()
        for one in found.blame.cycles
        if one.latency_ns > deadline_ns
    )
    chosen = (
        decides
        if decides is not None and decides.id in blamed
        else next(run for run in runs if run.id in blamed)
    )
    ordered = sorted(late.items(), key=lambda one: (-one[1], one[0]))
    found = blamed[chosen.id]
    return CheckCauses(late.total(), tuple(ordered), found, tuple(advice.advice_of(chosen, found)))
