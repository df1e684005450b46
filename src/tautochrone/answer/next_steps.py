"""What to ask after the first answer: the questions that its verdict leaves open, each with its command."""

from collections.abc import Iterator
from dataclasses import dataclass

from tautochrone.base.units import format_rate
from tautochrone.judge.verdict import Verdict
from tautochrone.run.facts import Facts

LOCAL = "local"
_OF_LAB = "lab:"


@dataclass(frozen=True)
class Step:
    """One of them: a question, and what answers it."""

    question: str
    command: str


def next_steps(
    verdict: Verdict | None, facts: Facts, target: str = LOCAL, loop: str | None = None
) -> list[Step]:
    """The next questions, the nearest first.

    Args:
        verdict: of the loops; None: none was judged.
        facts: about the machine.
        target: where was measured, as `--on` has it.
        loop: the id of a run of a loop; None: there is none.
    """
    return list(_steps(verdict, facts, target, loop))


def _steps(verdict: Verdict | None, facts: Facts, target: str, loop: str | None) -> Iterator[Step]:
    on = "" if target == LOCAL else f" --on {target}"
    loops = verdict.loops if verdict is not None else ()
    if any(one.standing != "holds" for one in loops):
        yield Step("What on this machine costs latency, and what to do about it?", f"tauto doctor{on}")
        if (facts.cpu.online_count or 1) > 1:
            yield Step(
                "Would it help to isolate a CPU? The same once more, and put back afterwards (root):",
                f"tauto --deployment MI{on}",
            )
        if not target.startswith(_OF_LAB) and not facts.kernel.realtime:
            yield Step(
                "Would another kernel? In the virtual lab that takes no reboot.",
                "tauto lab matrix --kernels debian:stock,debian:rt",
            )
    rate = format_rate(min((one.rate_hz for one in loops), default=1000.0)).replace(" ", "")
    yield Step(
        "Does your own loop hold, with its work and its deadline?",
        f'tauto check --rate {rate} --work 300us --deadline 800us --misses "1 per hour"{on}',
    )
    if loop is not None:
        yield Step("How rare is a start that is later than all of these?", f"tauto tail {loop}")
    yield Step(
        "How does this machine stand beside those of a published study?",
        f"tauto reproduce laurich2004 --quick{on}",
    )
