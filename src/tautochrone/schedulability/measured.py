"""What was measured of a task set, in the form in which it can stand beside the expected schedule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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
class Part:
    """A stretch of a measured job: it was executing, or another job had its CPU."""

    job: MeasuredJob
    start_ns: int
    end_ns: int
    executing: bool


def parts(jobs: Sequence[MeasuredJob], cpu_of: Mapping[str, int]) -> list[Part]:
    """When each job was executing, as far as the starts and ends of all jobs tell.

    A job that began and ended between the start and the end of another one on the same CPU preempted it:
    so it is on one CPU under any preemptive policy. What runs outside the task set is not seen.

    Args:
        jobs: of the whole set; those of tasks that ``cpu_of`` does not name are left out.
        cpu_of: the CPU of each task.
    """
    found: list[Part] = []
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


def _split(job: MeasuredJob, within: Sequence[MeasuredJob]) -> list[Part]:
    found: list[Part] = []
    now = job.start_ns
    for other in within:
        if other.end_ns <= now:
            continue  # inside one that was already taken out
        away = bool(found) and not found[-1].executing
        # One that was already waiting when another ended follows it: the time between them is a switch.
        start = now if away and other.release_ns <= now else max(other.start_ns, now)
        if start > now:
            found.append(Part(job, now, start, executing=True))
        if found and not found[-1].executing and found[-1].end_ns == start:
            found[-1] = Part(job, found[-1].start_ns, other.end_ns, executing=False)
        else:
            found.append(Part(job, start, other.end_ns, executing=False))
        now = other.end_ns
    if now < job.end_ns:
        found.append(Part(job, now, job.end_ns, executing=True))
    return found
