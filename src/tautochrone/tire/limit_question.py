"""What a search for the largest tire is asked: rate, length, resolution, misses, confidence; where, how."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tautochrone.base import units
from tautochrone.base.errors import UsageError
from tautochrone.experiments import Value
from tautochrone.machine.deployment import Deployment
from tautochrone.measure.cell import IDLE, Load

_USUAL_RATE = "100Hz"
_FINEST, _COARSEST = 0.0001, 0.5
_LEAST_SURE, _MOST_SURE = 0.5, 0.999999
_MEANING = 1  # changes when the same words come to mean another search
_KEY_LETTERS = 16


@dataclass(frozen=True)
class LimitQuestion:
    """What is searched for.

    Attributes:
        period_ns: from one release to the next; also the simulated time of a step.
        steps: of a trial of full length, which decides.
        misses: so many missed deadlines of a trial of full length are allowed.
        resolution: the search ends when the largest that met and the smallest that missed are so close.
        memory_bytes: room for the state of all masses; None: not known.
    """

    period_ns: int
    steps: int
    misses: int = 0
    resolution: float = 0.01
    confidence: float = 0.95
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Wish:
    """What a person wants to know, on which machine and under which conditions.

    Attributes:
        threads: the numbers of them, each searched for by itself.
        options: of the experiment, in all runs: cpus, priority, no-memory-lock.
    """

    question: LimitQuestion
    solver: str
    policy: str
    threads: tuple[int, ...]
    options: Mapping[str, Value] = field(default_factory=dict)
    load: Load = IDLE
    deployment: Deployment | None = None
    system: str = "local"

    @property
    def title(self) -> str:
        """Return the search in words."""
        rate = units.format_rate(1e9 / self.question.period_ns)
        words = [f"the largest tire at {rate}", f"solver {self.solver}", f"policy {self.policy}"]
        words += [f"load {self.load.name}"] if self.load.parts else []
        words += [f"deployment {self.deployment.name}"] if self.deployment else []
        words += [f"on {self.system}"] if self.system != "local" else []
        return ", ".join(words)

    @property
    def key(self) -> str:
        """Return the same for every search that would make the same trials."""
        question = self.question
        under = self.deployment
        meant = [
            _MEANING,
            [question.period_ns, question.steps, question.misses, question.resolution],
            [self.solver, self.policy, self.threads, sorted(self.options.items())],
            [part.words for part in self.load.parts],
            under and [under.name, sorted(under.settings.items()), under.measure, under.load],
            self.system,
        ]
        return hashlib.sha256(json.dumps(meant).encode()).hexdigest()[:_KEY_LETTERS]


def question_of(
    step: str | None, duration: str, resolution: str, misses: int, confidence: str
) -> LimitQuestion:
    """Return the question.

    Args:
        step: its length or its rate; None: 100 Hz.
    """
    period_ns = units.parse_period_ns(_USUAL_RATE if step is None else step)
    if period_ns == 0:
        raise UsageError("--step must be more than 0", "Write a time, such as 10ms.")
    steps = units.parse_duration_ns(duration) // period_ns
    if steps < 1:
        raise UsageError(
            f"--duration {duration}: the trial that decides would not have a single step of "
            f"{units.format_duration(period_ns)}",
            "Lengthen it.",
        )
    if not 0 <= misses < steps:
        raise UsageError(
            f"--misses {misses}: of {steps:,} steps none to {steps - 1:,} may be missed", "Give fewer, or 0."
        )
    return LimitQuestion(
        period_ns=period_ns,
        steps=steps,
        misses=misses,
        resolution=_within("--resolution", resolution, units.parse_share, _FINEST, _COARSEST),
        confidence=_within("--confidence", confidence, units.parse_confidence, _LEAST_SURE, _MOST_SURE),
    )


def _within(option: str, text: str, parse: Callable[[str], float], least: float, most: float) -> float:
    try:
        share = parse(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error}", error.advice) from error
    if not least <= share <= most:
        raise UsageError(
            f"{option} '{text}' is not a share from {least * 100:g}% to {most * 100:g}%",
            "Write a number with %.",
        )
    return share
