"""How a verdict speaks of a loop: of the starts of its cycles, or of whole cycles with its own work."""

from dataclasses import dataclass

from tautochrone.base.units import format_duration


@dataclass(frozen=True)
class Words:
    """The phrases that differ.

    Attributes:
        cycles: what the samples are.
        kept: a loop of which all of them were in time; ``not_kept``: one of which some were not.
        was_kept: begins the list of loads beside which it was.
        held: the same of a rate.
        worst_is: about the worst of them, with a place for its time.
        left_for: what the rest of the period is for.
        is_later: what hardly any other one is.
        overran: what came of those that were served too late.
        meaning: what the verdict is about.
    """

    cycles: str
    kept: str
    not_kept: str
    was_kept: str
    held: str
    worst_is: str
    left_for: str
    is_later: str
    overran: str
    meaning: str

    def worst(self, ns: int) -> str:
        """About the worst of them, as it ends a sentence."""
        return self.worst_is.format(format_duration(ns))


STARTS = Words(
    cycles="cycles",
    kept="kept its rate",
    not_kept="did not keep its rate",
    was_kept="It was kept",
    held="held in every cycle",
    worst_is="the worst start was {} late",
    left_for=" for the work",
    is_later="starts later than that",
    overran="came a whole period late or more",
    meaning="This is the start of each cycle only: add the time your own work takes, at its worst.",
)
WHOLE = Words(
    cycles="steps",
    kept="met every deadline",
    not_kept="did not meet every deadline",
    was_kept="Every deadline was met",
    held="held in every step",
    worst_is="the longest took {}",
    left_for="",
    is_later="takes longer than that",
    overran="ended at the next release or later",
    meaning="This is the whole of each step, from its release to its end; its deadline is the next release.",
)
