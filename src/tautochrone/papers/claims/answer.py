"""What is said of a claim."""

from dataclasses import dataclass
from typing import Literal

from tautochrone.papers.document import Claim

Answer = Literal["holds", "does not hold", "can't be told"]


@dataclass(frozen=True)
class Finding:
    """What a test found.

    Attributes:
        evidence: in a sentence or two, with the numbers; of what can't be told, why.
        in_short: the numbers alone, for a table: "412 us < 578 us"; of what can't be told, the reason in a
            few words.
    """

    answer: Answer
    evidence: str
    in_short: str


@dataclass(frozen=True)
class Asked:
    """A claim, asked of one system of ours, or of an ordinary and a real-time one.

    Attributes:
        systems: by the names of `systems.System`; none: there is none that it could be asked of.
    """

    claim: Claim
    systems: tuple[str, ...]
    finding: Finding
