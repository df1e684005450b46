"""The question of a check, as a person writes it, and its cases: the loop beside each load."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options
from tautochrone.base.units import (
    format_duration,
    format_limit,
    format_rate,
    format_span,
    parse_confidence,
    parse_duration_ns,
    parse_frequency,
    parse_period_ns,
)
from tautochrone.command.beside import chosen_cpus
from tautochrone.experiments import EXPERIMENTS, Prepared, Value
from tautochrone.experiments.requirement import Requirement
from tautochrone.experiments.taskset_options import of_task_set
from tautochrone.experiments.usual import BLAME, FIRST
from tautochrone.judge.requirement.of_share import length_to_show
from tautochrone.judge.verdict import FEWEST_CYCLES
from tautochrone.machine.cpulist import named_cpus, parse_cpu_list
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.tree import Tree
from tautochrone.measure.cautions import REAL_TIME
from tautochrone.measure.cell import Cell, Load
from tautochrone.run.facts import Facts
from tautochrone.schedulability.taskset import Task, TaskSet
from tautochrone.target.target import CODE, STEP

CONDITION = "check"
"""Under this name a run says what it was measured for."""

SHORT_S, USUAL_S = 60.0, 30.0
"""Of a check that says no length: twice as long as needed up to the first, or else the second."""

NONE = "0"
CROWDED = 0.95
"""Of a CPU: what real-time threads get at most, unless the system was told otherwise."""

_MARGIN = 2.0  # neighbours that are alike count for less
_SHORTEST_S = 10.0
_SHORTEST_PERIOD_NS = 10_000
_NS_PER_S = 1_000_000_000
_USUAL_PRIORITY = 90
_USUAL_WARMUP, _WARMUP_S = 100, 1.0  # of the user's own code, whichever is less
_FIXED = ("fifo", "rr")


@dataclass(frozen=True)
class CheckQuestion:
    """What is asked of a loop.

    Attributes:
        work_ns: of each; None: only its start is looked at.
        deadline_ns: after the release; of the end of the work, or of the start.
        of_its_own: whether the deadline was given; otherwise it is the period.
        requirement: that its misses must meet.
        why_so_long: how that came about, in words; empty if it was given.
        cpus: where they run, as it was given; None: not said.
        counted: whether only what is counted may decide, and no extrapolated tail.
        of_the_end: whether it is about the end of work, also of runs that do not tell how much it is.
        blame: which cycles are late, whose causes are recorded; None: of no cycle.
        code: what is called in each cycle, as the probe takes it: ``PATH.so:NAME``; None: nothing of the
            user's.
        instances: of the code, released at once, each in a process of its own; they must all meet it.
    """

    period_ns: int
    work_ns: int | None
    deadline_ns: int
    of_its_own: bool
    requirement: Requirement
    duration_ns: int
    why_so_long: str = ""
    policy: str | None = None
    priority: int | None = None
    cpus: str | None = None
    memory_lock: bool = True
    counted: bool = False
    of_the_end: bool = False
    blame: str | None = None
    code: str | None = None
    instances: int = 1

    @property
    def rate_hz(self) -> float:
        """Return releases in a second."""
        return _NS_PER_S / self.period_ns

    @property
    def share(self) -> float:
        """Return the share of a CPU that the work alone needs."""
        return (self.work_ns or 0) / self.period_ns

    @property
    def words(self) -> str:
        """Return the question without its requirement: ``a 1 kHz loop with 300 us of work, …``."""
        loop = f"a {format_rate(self.rate_hz)} loop{f' of {self.code_name}' if self.code else ''}"
        if self.instances > 1:
            loop += f", {self.instances} instances"
        by = format_limit(self.deadline_ns)
        if not self.of_the_end:
            return f"{loop} that begins at most {by} after each release"
        if self.work_ns is None:
            return f"{loop} that is done at most {by} after each release"
        return f"{loop} with {format_duration(self.work_ns)} of work, done at most {by} after each release"

    @property
    def code_name(self) -> str:
        """Return ``lib.so:controller``, without folders."""
        return (self.code or "").rpartition("/")[2]

    @property
    def demand(self) -> str:
        """Return the requirement in words."""
        often = self.requirement.frequency
        sure = f"{self.requirement.confidence * 100:.7g} % confidence"
        if often is None or not often.count:
            return "no miss in what is measured"
        return f"at most {often.text.strip()} missed, at {sure}"

    @property
    def cautions(self) -> tuple[str, ...]:
        """Return what to say before it is measured."""
        found = []
        if self.policy in REAL_TIME and self.share > CROWDED:
            found.append(
                f"The work alone is {self.share:.0%} of a CPU. Linux stops real-time threads that use more "
                "than 95 % of one (from 6.12 on only while ordinary threads wait for it), unless "
                "kernel.sched_rt_runtime_us is -1: that shows as misses."
            )
        return tuple(found)

    @property
    def as_condition(self) -> dict[str, object]:
        """Return what to keep with a run, as JSON has it."""
        return {
            "period_ns": self.period_ns,
            "work_ns": self.work_ns,
            "deadline_ns": self.deadline_ns,
            "requirement": self.requirement.text,
            "confidence": self.requirement.confidence,
            **({"code": self.code_name} if self.code else {}),
            **({"instances": self.instances} if self.instances > 1 else {}),
        }

    def of_instances(self, instances: int) -> "CheckQuestion":
        """Return the same of so many instances; one runs on the first of the CPUs that are named."""
        cpus = self.cpus
        if instances == 1 and cpus is not None and cpus not in ("any", FIRST):
            cpus = None if cpus == "all" else str(chosen_cpus(cpus, "0 or 0,2-3")[0])
        return replace(self, instances=instances, cpus=cpus)

    def at(self, *, period_ns: int | None = None, work_ns: int | None = None) -> "CheckQuestion":
        """Return the same question of another rate, or of other work; a deadline of its own stays."""
        period = period_ns or self.period_ns
        deadline = self.deadline_ns if self.of_its_own else period
        return replace(
            self,
            period_ns=period,
            work_ns=self.work_ns if work_ns is None else work_ns,
            deadline_ns=deadline,
            requirement=replace(self.requirement, text=_text(deadline, self.requirement), limit_ns=deadline),
        )


@dataclass(frozen=True)
class AskedCheck:
    """What a person typed, a rate or a period as `period`; None: nothing."""

    period: str
    work: str | None = None
    deadline: str | None = None
    misses: str | None = None
    confidence: str = "95%"
    duration: str | None = None
    cpus: str | None = None
    policy: str | None = None
    priority: int | None = None
    counted: bool = False
    blame: str | None = None
    code: str | None = None


def question_of(asked: AskedCheck) -> CheckQuestion:
    """Read the question."""
    period_ns = parse_period_ns(asked.period)
    if period_ns < _SHORTEST_PERIOD_NS:
        raise UsageError(
            f"a period of {format_duration(period_ns)} is too short for a thread that sleeps",
            f"Ask for at most {format_rate(_NS_PER_S / _SHORTEST_PERIOD_NS)}.",
        )
    if asked.code is not None and asked.work is not None:
        raise UsageError("--code and --work contradict each other", "The code is the work: leave --work out.")
    work_ns = None if asked.work is None else parse_duration_ns(asked.work)
    deadline_ns = period_ns if asked.deadline is None else parse_duration_ns(asked.deadline)
    _see_that_it_fits(period_ns, work_ns, deadline_ns)
    often = parse_frequency(asked.misses or NONE)
    share = often.share(_NS_PER_S / period_ns)
    if share is not None and share >= 1:
        raise UsageError(f"--misses '{asked.misses}': that is every release, or more", "Allow fewer.")
    requirement = Requirement(
        text="",
        kind="misses",
        strict=False,
        confidence=parse_confidence(asked.confidence),
        limit_ns=deadline_ns,
        frequency=often,
    )
    requirement = replace(requirement, text=_text(deadline_ns, requirement))
    duration_ns, why = _duration(asked, requirement, period_ns)
    return CheckQuestion(
        period_ns=period_ns,
        work_ns=work_ns,
        deadline_ns=deadline_ns,
        of_its_own=asked.deadline is not None,
        requirement=requirement,
        duration_ns=duration_ns,
        why_so_long=why,
        policy=asked.policy.lower() if asked.policy is not None else None,
        priority=asked.priority,
        cpus=asked.cpus,
        counted=asked.counted,
        of_the_end=work_ns is not None or asked.code is not None,
        blame=asked.blame,
        code=asked.code,
    )


def _text(deadline_ns: int, requirement: Requirement) -> str:
    often = requirement.frequency
    beyond = f"misses beyond {format_limit(deadline_ns).replace(' ', '')}"
    return f"{beyond} <= {often.text.strip()}" if often is not None and often.count else f"{beyond} = 0"


def _see_that_it_fits(period_ns: int, work_ns: int | None, deadline_ns: int) -> None:
    if deadline_ns == 0:
        raise UsageError("--deadline: nothing is done in no time", "Give a time, such as 800us.")
    if work_ns is None:
        return
    if work_ns == 0:
        raise UsageError("--work: no work is no work", "Leave it out to look at the start alone.")
    if work_ns >= deadline_ns:
        raise UsageError(
            f"The work alone takes {format_duration(work_ns)}, and the deadline is "
            f"{format_limit(deadline_ns)}: that can't hold",
            "Give it less --work or a later --deadline.",
        )
    if work_ns >= period_ns:
        raise UsageError(
            f"The work alone takes {format_duration(work_ns)} of each {format_duration(period_ns)}: that is "
            "all of a CPU, or more",
            "Give it less --work or a lower --rate.",
        )


def _duration(asked: AskedCheck, requirement: Requirement, period_ns: int) -> tuple[int, str]:
    if asked.duration is not None:
        duration_ns = parse_duration_ns(asked.duration)
        if duration_ns < period_ns:
            raise UsageError(
                f"--duration {asked.duration} is shorter than one period of {format_duration(period_ns)}",
                "Lengthen it.",
            )
        return duration_ns, ""
    rate_hz = _NS_PER_S / period_ns
    shortest_s = max(_SHORTEST_S, FEWEST_CYCLES / rate_hz)
    often = requirement.frequency
    if often is not None and not often.count:
        return round(max(shortest_s, USUAL_S) * _NS_PER_S), f"{format_span(USUAL_S)}, as no length was given"
    needed = {"if none is missed": length_to_show(requirement, rate_hz, counted=True)}
    if not asked.counted:
        needed["with its tail"] = length_to_show(requirement, rate_hz, counted=False)
    for how, seconds in needed.items():
        if seconds <= SHORT_S:
            chosen_s = max(shortest_s, min(SHORT_S, seconds * _MARGIN))
            return _whole(chosen_s), f"{format_span(chosen_s)}, which can show it {how}"
    counted_s = needed["if none is missed"]
    chosen_s = max(shortest_s, USUAL_S)
    return (
        _whole(chosen_s),
        f"{format_span(chosen_s)}; to show it takes {format_span(counted_s, up=True)} without a miss "
        "(--duration)",
    )


def _whole(seconds: float) -> int:
    """Round a length to whole milliseconds."""
    return -int(-seconds * 1000 // 1) * 1_000_000


def cells(
    question: CheckQuestion,
    loads: Sequence[Load],
    cpu: int,
    command: tuple[str, ...] = (),
    *,
    deployment: Deployment | None = None,
) -> tuple[Cell, ...]:
    """Return one case for each load.

    Args:
        cpu: where a loop with work runs, unless the question says so itself.
        command: what a person typed.
        deployment: under which all of them are measured.
    """
    return tuple(cell_of(question, load, cpu, command, deployment=deployment) for load in loads)


def cell_of(
    question: CheckQuestion,
    load: Load,
    cpu: int,
    command: tuple[str, ...] = (),
    *,
    deployment: Deployment | None = None,
    **told: Value,
) -> Cell:
    """Return the case of one load; `told`: what else to keep with its run about the check."""
    rate = format_rate(question.rate_hz)
    if question.code is not None:
        experiment, prepared, work = STEP, _step(question, cpu), f", {question.code_name}"
    elif question.work_ns is None:
        experiment, work = "cyclic", ""
        prepared = EXPERIMENTS[experiment].prepare(_of_a_loop(question, question.cpus), Path())
    else:
        experiment, prepared = "taskset", _taskset(question, cpu)
        work = f", {format_duration(question.work_ns)} of work"
    under = f", {deployment.name}" if deployment is not None else ""
    return Cell(
        experiment=experiment,
        options=prepared.options,
        title=f"check: {rate}{work}, {load.name}{under}",
        load=load,
        expected_s=prepared.expected_s,
        command=command,
        conditions=replace(
            prepared.conditions, own={**prepared.conditions.own, CONDITION: {**question.as_condition, **told}}
        ),
        deployment=deployment,
    )


def first_cpu(facts: Facts, deployment: Deployment | None, tree: Tree) -> int:
    """Return where a loop with work runs: the first CPU that the deployment measures on, or that there is."""
    named = named_cpus(deployment.measure, tree) if deployment is not None and deployment.measure else ()
    return min(named or parse_cpu_list(facts.cpu.allowed) or (0,))


def _step(question: CheckQuestion, cpu: int) -> Prepared:
    assert question.code is not None
    several = {"instances": question.instances} if question.instances > 1 else {}
    options = {**_of_a_loop(question, question.cpus or str(cpu)), **several}
    warmup = max(1, min(_USUAL_WARMUP, round(_WARMUP_S * question.rate_hz)))
    return EXPERIMENTS[STEP].prepare({**options, CODE: question.code, "warmup": warmup}, Path())


def _of_a_loop(question: CheckQuestion, cpus: str | None) -> Options:
    return {
        "period": f"{question.period_ns}ns",
        "duration": f"{question.duration_ns}ns",
        **_common(question),
        **({"cpus": cpus} if cpus is not None else {}),
        **({"priority": question.priority} if question.priority is not None else {}),
        # A release that is served a period late may still be in time.
        **({"overrun": "replay"} if question.deadline_ns > question.period_ns else {}),
    }


def _taskset(question: CheckQuestion, cpu: int) -> Prepared:
    assert question.work_ns is not None
    if question.cpus in ("all", "any"):
        raise UsageError(
            f"--cpus {question.cpus}: a loop with work is kept to the CPUs that are named",
            "Write them: 0 or 0,2-3.",
        )
    cpus = (cpu,) if question.cpus is None else chosen_cpus(question.cpus, "0 or 0,2-3")
    policy = question.policy or "fifo"
    if policy not in (*_FIXED, "other", "deadline"):
        raise UsageError(f"--policy {policy}: there is no such policy", "Choose fifo, rr, other or deadline.")
    fixed = policy != "deadline"
    tasks = tuple(
        Task(
            name=f"cpu{one}",
            period_ns=question.period_ns,
            deadline_ns=question.deadline_ns,
            execution_ns=question.work_ns,
            priority=(question.priority or _USUAL_PRIORITY) if fixed else None,
            cpu=one,
        )
        for one in cpus
    )
    options: dict[str, Value] = {"duration": f"{question.duration_ns}ns", **_common(question)}
    task_set = TaskSet(tasks, "fixed" if fixed else "edf", title="check")
    return EXPERIMENTS["taskset"].ready(*of_task_set(task_set, options))


def _common(question: CheckQuestion) -> Options:
    return {
        **({"policy": question.policy} if question.policy is not None else {}),
        **({} if question.memory_lock else {"no-memory-lock": True}),
        **({} if question.blame is None else {BLAME.name: question.blame}),
    }
