"""The exact schedule of a task set: who executes when, event by event, in whole nanoseconds.

Every job takes its whole execution time; there is no release jitter, no blocking and no overhead. A job that
misses its deadline goes on until it is done, and the next job of its task waits for it. Among equal
priorities the job that was released first goes first; among equal deadlines too; released together, the
order of the file decides.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tautochrone.schedulability.taskset import Policy, Task, TaskSet, compare_to_one

# What was measured of a task set, in the form in which it can stand beside the expected schedule.


@dataclass(frozen=True)
class MeasuredJob:
    """One job of a measured run.

    Instants count from the same zero as a timeline's: the common start, so that without an offset release k
    of a task is at k periods.
    """

    task: str
    release_ns: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class JobPart:
    """A stretch of a measured job: it was executing, or another job had its CPU."""

    job: MeasuredJob
    start_ns: int
    end_ns: int
    executing: bool


def parts(jobs: Sequence[MeasuredJob], cpu_of: Mapping[str, int]) -> list[JobPart]:
    """Tell when each job was executing, as far as the starts and ends of all jobs tell.

    A job that began and ended between the start and the end of another one on the same CPU preempted it:
    so it is on one CPU under any preemptive policy. What runs outside the task set is not seen.

    Args:
        jobs: of the whole set; those of tasks that ``cpu_of`` does not name are left out.
        cpu_of: the CPU of each task.
    """
    found: list[JobPart] = []
    by_cpu: dict[int, list[MeasuredJob]] = {}
    for job in jobs:
        if job.task in cpu_of:
            by_cpu.setdefault(cpu_of[job.task], []).append(job)
    for of_cpu in by_cpu.values():
        # By start, the outer one of two that begin together first; so those within follow at once.
        ordered = sorted(of_cpu, key=lambda job: (job.start_ns, -job.end_ns))
        for at, job in enumerate(ordered):
            within = []
            for other in ordered[at + 1 :]:
                if other.start_ns >= job.end_ns:
                    break
                if other.end_ns <= job.end_ns:
                    within.append(other)
            found += _split(job, within)
    return sorted(found, key=lambda part: (part.start_ns, part.end_ns))


def _split(job: MeasuredJob, within: Sequence[MeasuredJob]) -> list[JobPart]:
    found: list[JobPart] = []
    now = job.start_ns
    for other in within:
        if other.end_ns <= now:
            continue  # inside one that was already taken out
        away = bool(found) and not found[-1].executing
        # One that was already waiting when another ended follows it: the time between them is a switch.
        start = now if away and other.release_ns <= now else max(other.start_ns, now)
        if start > now:
            found.append(JobPart(job, now, start, executing=True))
        if found and not found[-1].executing and found[-1].end_ns == start:
            found[-1] = JobPart(job, found[-1].start_ns, other.end_ns, executing=False)
        else:
            found.append(JobPart(job, start, other.end_ns, executing=False))
        now = other.end_ns
    if now < job.end_ns:
        found.append(JobPart(job, now, job.end_ns, executing=True))
    return found


MOST_JOBS = 20_000
"""How many releases a simulation takes in unless it is told where to end."""

_Key = tuple[int, ...]


@dataclass(frozen=True)
class Job:
    """One release of a task. Instants count from the start of the schedule."""

    task: str
    index: int
    cpu: int
    release_ns: int
    deadline_ns: int
    completion_ns: int | None
    """None: not completed when the window ended."""

    @property
    def response_ns(self) -> int | None:
        """Release to completion."""
        return None if self.completion_ns is None else self.completion_ns - self.release_ns


@dataclass(frozen=True)
class Slice:
    """A stretch in which one job had its CPU without a break."""

    task: str
    job: int
    cpu: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Preemption:
    """A break in the execution of a job, and the tasks of the jobs that ran in it, one entry for each job."""

    task: str
    job: int
    cpu: int
    start_ns: int
    end_ns: int
    by: tuple[str, ...]


@dataclass(frozen=True)
class Timeline:
    """A schedule from 0 to ``until_ns``; jobs by release, slices and preemptions by start."""

    tasks: tuple[Task, ...]
    policy: Policy
    until_ns: int
    complete: bool
    """Whether the window shows everything that ever happens: afterwards the schedule repeats itself. Where a
    CPU is asked for more than it has, nothing repeats: the backlog grows."""
    jobs: tuple[Job, ...]
    slices: tuple[Slice, ...]
    preemptions: tuple[Preemption, ...]

    def of(self, task: str) -> tuple[Job, ...]:
        """Return the jobs of one task."""
        return tuple(job for job in self.jobs if job.task == task)

    def lanes(self) -> tuple[Task, ...]:
        """Return the tasks as they are drawn from top to bottom: by CPU, the most urgent first."""
        if self.policy == "edf":
            return tuple(sorted(self.tasks, key=lambda task: (task.cpu, task.deadline_ns)))
        return tuple(sorted(self.tasks, key=lambda task: (task.cpu, -(task.priority or 0))))

    def missed(self) -> tuple[Job, ...]:
        """Return the jobs that were not completed at their deadline, if that lies in the window."""
        return tuple(
            job
            for job in self.jobs
            if job.deadline_ns <= self.until_ns
            and (job.completion_ns is None or job.completion_ns > job.deadline_ns)
        )

    def worst_response_ns(self, task: str) -> int | None:
        """Return the longest response of this task's completed jobs; None if none was completed."""
        return max((job.response_ns for job in self.of(task) if job.response_ns is not None), default=None)

    def until(self, end_ns: int) -> "Timeline":
        """Return the first part of the same schedule, for a picture."""
        if end_ns >= self.until_ns:
            return self
        return replace(
            self,
            until_ns=end_ns,
            complete=False,
            jobs=tuple(_cut_job(job, end_ns) for job in self.jobs if job.release_ns < end_ns),
            slices=tuple(
                replace(part, end_ns=min(part.end_ns, end_ns))
                for part in self.slices
                if part.start_ns < end_ns
            ),
            preemptions=tuple(
                replace(gap, end_ns=min(gap.end_ns, end_ns))
                for gap in self.preemptions
                if gap.start_ns < end_ns
            ),
        )


def simulate(task_set: TaskSet, until_ns: int | None = None) -> Timeline:
    """Return the schedule of every CPU.

    Args:
        task_set: priorities are needed under the policy ``fixed``.
        until_ns: where to end. Otherwise the window after which everything repeats, or, if it holds more than
            `MOST_JOBS` releases, the longest window that does not.
    """
    end, complete = (until_ns, until_ns >= repeats_ns(task_set)) if until_ns else _window(task_set)
    complete = complete and all(compare_to_one(task_set.on_cpu(cpu).tasks) <= 0 for cpu in task_set.cpus)
    jobs: list[Job] = []
    slices: list[Slice] = []
    for cpu in task_set.cpus:
        of_cpu = _simulate_cpu(task_set.on_cpu(cpu), end)
        jobs += of_cpu[0]
        slices += of_cpu[1]
    order = {task.name: at for at, task in enumerate(task_set.tasks)}
    jobs.sort(key=lambda job: (job.release_ns, order[job.task]))
    slices.sort(key=lambda part: (part.start_ns, part.cpu))
    return Timeline(
        task_set.tasks, task_set.policy, end, complete, tuple(jobs), tuple(slices), _preemptions(slices)
    )


def repeats_ns(task_set: TaskSet) -> int:
    """Return how long to look so that all is seen that ever happens where no CPU is asked for too much.

    That is the hyperperiod if all start together, else twice that after the last first release (Leung and
    Merrill 1980).
    """
    hyperperiod = task_set.hyperperiod_ns
    last = max(task.offset_ns for task in task_set.tasks)
    return last + 2 * hyperperiod if last else hyperperiod


def _window(task_set: TaskSet) -> tuple[int, bool]:
    whole = repeats_ns(task_set)
    if releases(task_set, whole) <= MOST_JOBS:
        return whole, True
    low, high = 1, whole  # at 1 there is at most one release of each task
    while high - low > 1:
        middle = (low + high) // 2
        if releases(task_set, middle) <= MOST_JOBS:
            low = middle
        else:
            high = middle
    longest = max(task.period_ns for task in task_set.tasks)
    return (low - low % longest if low > longest else low), False


def releases(task_set: TaskSet, until_ns: int) -> int:
    """Return how many jobs are released before this instant."""
    return sum(max(0, -((task.offset_ns - until_ns) // task.period_ns)) for task in task_set.tasks)


@dataclass
class _Running:
    """A job while it is simulated."""

    task: Task
    index: int
    release_ns: int
    left_ns: int
    slices: list[Slice] = field(default_factory=list)


def _simulate_cpu(task_set: TaskSet, end_ns: int) -> tuple[list[Job], list[Slice]]:
    urgency = _urgency(task_set)
    coming = [
        (task.offset_ns, at, 0) for at, task in enumerate(task_set.tasks) if task.offset_ns < end_ns
    ]  # the next release of each task
    heapq.heapify(coming)
    ready: list[tuple[_Key, _Running]] = []
    jobs: list[Job] = []
    slices: list[Slice] = []
    now = 0
    while coming or ready:
        if not ready:
            now = max(now, coming[0][0])
        while coming and coming[0][0] <= now:
            release, at, index = heapq.heappop(coming)
            task = task_set.tasks[at]
            job = _Running(task, index, release, task.execution_ns)
            heapq.heappush(ready, (urgency(at, task, release, index), job))
            if release + task.period_ns < end_ns:
                heapq.heappush(coming, (release + task.period_ns, at, index + 1))
        running = ready[0][1]
        stop = min(now + running.left_ns, end_ns, coming[0][0] if coming else end_ns)
        if stop > now:
            _execute(running, now, stop, slices)
        now = stop
        if running.left_ns == 0:
            heapq.heappop(ready)
            jobs.append(_record(running, now))
        if now >= end_ns:
            break
    jobs += [_record(running, None) for _, running in ready]
    return jobs, slices


def _urgency(task_set: TaskSet) -> Callable[[int, Task, int, int], _Key]:
    """Return what a job is sorted by: the least goes first. No two jobs have the same."""
    if task_set.policy == "edf":
        return lambda at, task, release, index: (release + task.deadline_ns, release, at, index)
    return lambda at, task, release, index: (-(task.priority or 0), release, at, index)


def _execute(running: _Running, start_ns: int, end_ns: int, slices: list[Slice]) -> None:
    running.left_ns -= end_ns - start_ns
    last = slices[-1] if slices else None
    if last and (last.task, last.job, last.end_ns) == (running.task.name, running.index, start_ns):
        slices[-1] = replace(last, end_ns=end_ns)
    else:
        slices.append(Slice(running.task.name, running.index, running.task.cpu, start_ns, end_ns))


def _record(running: _Running, completion_ns: int | None) -> Job:
    task, release = running.task, running.release_ns
    return Job(task.name, running.index, task.cpu, release, release + task.deadline_ns, completion_ns)


def _cut_job(job: Job, end_ns: int) -> Job:
    done = job.completion_ns is not None and job.completion_ns <= end_ns
    return job if done else replace(job, completion_ns=None)


def _preemptions(slices: Sequence[Slice]) -> tuple[Preemption, ...]:
    """Return the breaks between two slices of one job: a job leaves its CPU for higher-priority ones only."""
    found = []
    by_cpu: dict[int, list[Slice]] = {}
    last_of: dict[tuple[str, int], int] = {}
    for part in slices:
        line = by_cpu.setdefault(part.cpu, [])
        before = last_of.get((part.task, part.job))
        if before is not None:
            between = dict.fromkeys((one.task, one.job) for one in line[before + 1 :])
            gap = line[before].end_ns, part.start_ns
            found.append(Preemption(part.task, part.job, part.cpu, *gap, tuple(task for task, _ in between)))
        last_of[part.task, part.job] = len(line)
        line.append(part)
    return tuple(sorted(found, key=lambda gap: (gap.start_ns, gap.cpu)))
