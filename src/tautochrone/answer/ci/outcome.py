"""What was judged, one case for each requirement and cell, in the words of programs that run tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tautochrone.run.output import output

Standing = Literal["passed", "failed", "not shown", "skipped", "error"]
STANDINGS: tuple[Standing, ...] = ("failed", "error", "not shown", "skipped", "passed")
"""The worst first, as readers want them."""

WORDS: dict[Standing, str] = {
    "failed": "does not hold",
    "error": "went wrong",
    "not shown": "not shown",
    "skipped": "skipped",
    "passed": "holds",
}

_DOES_NOT_HOLD, _NOT_SHOWN = 6, 7


@dataclass(frozen=True)
class Case:
    """One thing that was judged.

    Attributes:
        group: what it belongs to: a cell of a plan, a question; the name of a JUnit suite.
        name: what was judged: "latency p99.999 < 500us".
        standing: "skipped" where nothing was measured to judge it by, "error" where measuring went wrong.
        message: why, in one line.
        detail: more, over several lines.
        seconds: how long that was measured; None: not known.
    """

    group: str
    name: str
    standing: Standing
    message: str
    detail: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """Everything that was judged in one call of `tauto`.

    Attributes:
        title: of the whole, for people.
    """

    title: str
    cases: tuple[Case, ...]

    def count(self, standing: Standing) -> int:
        """How many stand so."""
        return sum(case.standing == standing for case in self.cases)

    @property
    def sentence(self) -> str:
        """``1 does not hold, 2 not shown, 3 hold.``"""
        failed, wrong, unknown, skipped, passed = (self.count(standing) for standing in STANDINGS)
        said = [
            f"{failed} {'does' if failed == 1 else 'do'} not hold" if failed else "",
            f"{wrong} went wrong" if wrong else "",
            f"{unknown} not shown" if unknown else "",
            f"{skipped} skipped" if skipped else "",
            f"{passed} {'holds' if passed == 1 else 'hold'}" if passed else "",
        ]
        return (", ".join(filter(None, said)) or "Nothing was judged") + "."

    @property
    def exit_code(self) -> int:
        """0: all hold; 6: one does not; 7: none does not, and one is not shown or was not measured."""
        if self.count("failed"):
            return _DOES_NOT_HOLD
        return 0 if self.count("passed") == len(self.cases) else _NOT_SHOWN

    def worst_first(self) -> list[Case]:
        """The cases, those that do not hold first."""
        return sorted(self.cases, key=lambda case: STANDINGS.index(case.standing))


def grouped(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """The cases of each group, in the order in which the groups come."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.group, []).append(case)
    return found


def save(text: str, path: Path, option: str, *, append: bool = False) -> Path:
    """Write a file that an option named.

    Raises:
        StoreError: that is not possible.
    """
    with output(path, option=option, append=append) as file:
        file.write(text.encode(errors="replace"))  # what was typed may be any bytes
    return path
