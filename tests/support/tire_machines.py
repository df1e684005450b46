"""Simulated machines for the search for the largest tire, and the search on them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tautochrone.tire.limit_course import LimitCourse, LimitTry, least_nodes
from tautochrone.tire.limit_judge import LateStep, Limit, LimitTrial, Parts, Speed
from tautochrone.tire.limit_question import LimitQuestion

PERIOD_NS = 10_000_000
QUESTION = LimitQuestion(period_ns=PERIOD_NS, steps=6_000)
SPEED = Speed(nodes=4_096, step_ns=4_096.0, bytes_per_node=64)  # 1 ns a mass: 10,000,000 fill the period


@dataclass
class Machine:
    """A simulated machine: the response of step k of a tire, in ns.

    Attributes:
        ns_per_node: of a typical step.
        noise: relative deviation of steps, normal.
        rare: probability that a step is late by a spike of 2 periods, whatever the masses.
        cliff: masses from which on each step takes twice as long, such as those that a cache can't hold.
    """

    ns_per_node: float = 1.7
    noise: float = 0.0
    rare: float = 0.0
    cliff: int = 1 << 40
    bands: tuple[tuple[int, int], ...] = ()
    seed: int = 1
    steps_run: int = 0
    generator: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.generator = np.random.default_rng(self.seed)

    def make(self, number: int, wanted: LimitTry, question: LimitQuestion) -> LimitTrial:
        typical = wanted.nodes * self.ns_per_node * (2 if wanted.nodes >= self.cliff else 1)
        if any(low <= wanted.nodes < high for low, high in self.bands):
            typical *= 3
        count = wanted.steps
        computing = typical * (1 + self.noise * np.abs(self.generator.standard_normal(count)))
        dispatch = np.full(count, 20_000.0) + 2 * PERIOD_NS * (self.generator.random(count) < self.rare)
        response = computing + dispatch
        late = np.flatnonzero(response >= question.period_ns)
        done = count if len(late) <= question.misses else int(late[question.misses]) + 1
        first = int(late[0]) if len(late) else None
        known = done >= 10
        self.steps_run += done
        return LimitTrial(
            number=number,
            nodes=wanted.nodes,
            purpose=wanted.purpose,
            asked=wanted.steps,
            steps=done,
            missed=min(len(late), question.misses + 1),
            allowed=question.misses,
            typical_ns=float(np.median(response[:done])) if known else None,
            worst_ns=int(response[:done].max()),
            late_step=None
            if first is None
            else LateStep(
                first + 1,
                "thread 0, cpu0",
                Parts(float(dispatch[first]), float(computing[first]), 0.0),
                Parts(20_000.0, float(np.median(computing[:done])), 0.0) if known else None,
            ),
            took_s=done * question.period_ns / 1e9,
        )


def search(
    machine: Machine,
    question: LimitQuestion = QUESTION,
    speed: Speed = SPEED,
    threads: int = 1,
    watch: Callable[[LimitCourse, list[LimitTrial]], None] = lambda *_: None,
) -> Limit:
    trials: list[LimitTrial] = []
    while True:
        state = LimitCourse(question, threads, [speed, speed], trials)
        watch(state, trials)
        wanted = state.next()
        if isinstance(wanted, str):
            return Limit(threads, question, speed, tuple(trials), wanted)
        assert least_nodes(threads) <= wanted.nodes <= state.masses.most
        assert wanted.nodes % 4 == 0
        trials.append(machine.make(len(trials) + 1, wanted, question))


def largest(limit: Limit) -> int:
    assert limit.largest is not None
    return limit.largest.nodes
