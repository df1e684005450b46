"""The coloured blocks of Figure 4 of garre2014, of a few steps: what each thread did, one after the other.

Windows are cut around steps that tell something: the worst one, a typical one, the first that missed its
deadline. Blocks are drawn, so a window holds at most some hundreds of them for each thread.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tautochrone.tire.steps import COLUMNS, Integers, TeamSteps, ThreadSteps, team_of

Kind = Literal["dispatch", "reading", "forces", "integration", "computing", "writing", "waiting", "idle"]
"""``computing``: forces and integration in one, of a solver that does not do one after the other."""

_KINDS: tuple[Kind, ...] = ("dispatch", "reading", "forces", "integration", "writing", "waiting", "idle")

_BEFORE, _AFTER = 1, 2  # periods around a step
_APART = 4  # steps
_MOST_PERIODS = 12
"""A typical step is drawn on the scale of the worst one up to this many periods."""
_MOST_DUE = 500
"""Releases in a window: a step may last for years, and more lines can't be told apart."""


@dataclass(frozen=True)
class ThreadActivity:
    """One thread doing one thing, in ns since the window's own release.

    Attributes:
        thread: its place among the threads of the run.
        step: counted from the start, from 0.
    """

    thread: int
    kind: Kind
    step: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Due:
    """A release, which is also the deadline of the step before.

    Attributes:
        at_ns: since the window's own release.
        met: whether the step before was done; None where there was none, or a full buffer lost it.
        passed_over: the threads were busy with an earlier step, so that none was computed for this release.
    """

    at_ns: int
    step: int
    met: bool | None
    passed_over: bool


@dataclass(frozen=True)
class StepWindow:
    """Some steps of all threads.

    Attributes:
        step: which one it is about, counted from the start, from 0.
        at_s: its release, in seconds since the start.
        begin_ns: where the window begins, in ns since that release.
        blocks: those that touch it, cut to it, none of them empty.
    """

    step: int
    at_s: float
    response_ns: int
    begin_ns: int
    end_ns: int
    blocks: tuple[ThreadActivity, ...]
    due: tuple[Due, ...]


@dataclass(frozen=True)
class Windows:
    """The worst step; a typical one; the first missed deadline, unless it is seen beside the worst step."""

    worst: StepWindow
    typical: StepWindow
    first_missed: StepWindow | None

    @property
    def one_scale(self) -> bool:
        """Return whether the worst and the typical step are drawn on one scale."""
        return self.worst.end_ns - self.worst.begin_ns == self.typical.end_ns - self.typical.begin_ns

    @property
    def every(self) -> tuple[StepWindow, ...]:
        """Return all that there are."""
        return tuple(one for one in (self.worst, self.typical, self.first_missed) if one is not None)


@dataclass(frozen=True)
class _Frame:
    """What to cut out: ``begin_ns`` and ``end_ns`` count from the release."""

    release_ns: int
    response_ns: int
    begin_ns: int
    end_ns: int


def windows_of(threads: Callable[[], Iterable[ThreadSteps]], start_ns: int) -> Windows | None:
    """Cut the windows; None without a step that all threads have.

    Args:
        threads: reads them one after the other; called twice, so that not all of them are in memory at once.
        start_ns: the first release that counts: steps and seconds count from it.
    """
    team = team_of(threads())
    if team is None or not len(team):
        return None
    frames = _frames(team, start_ns)
    cut: list[list[ThreadSteps]] = [[] for _ in frames]
    for thread in threads():
        for frame, own in zip(frames, cut, strict=True):
            own.append(_touching(thread, frame))
    last_ns = int(team.scheduled_ns[-1]) + team.period_ns
    windows = [_window(frame, own, start_ns, last_ns) for frame, own in zip(frames, cut, strict=True)]
    return Windows(windows[0], windows[1], windows[2] if len(windows) > 2 else None)


def _frames(team: TeamSteps, start_ns: int) -> list[_Frame]:
    """Return windows on the worst step, a typical one, and the first late one where it is apart."""
    period_ns, response_ns = team.period_ns, team.response_ns
    worst = _frame(team, int(response_ns.argmax()), start_ns, None)
    length = worst.end_ns - worst.begin_ns
    scale = length if length <= _MOST_PERIODS * period_ns else None
    frames = [worst, _frame(team, _typical(response_ns), start_ns, scale)]
    late = np.flatnonzero(response_ns >= period_ns)
    if len(late):
        first = _frame(team, int(late[0]), start_ns, scale)
        if not worst.begin_ns <= first.release_ns - worst.release_ns < worst.end_ns:
            frames.append(first)
    return frames


def _typical(response_ns: Integers) -> int:
    """Return the step nearest to the median of those that are not beside the worst one."""
    worst = int(response_ns.argmax())
    apart = np.flatnonzero(np.abs(np.arange(len(response_ns)) - worst) > _APART)
    candidates = apart if len(apart) else np.arange(len(response_ns))
    distance = np.abs(response_ns[candidates] - np.median(response_ns))
    return int(candidates[distance.argmin()])


def _frame(team: TeamSteps, at: int, start_ns: int, length_ns: int | None) -> _Frame:
    """Return a window around the step ``at``; ``length_ns`` None: so long that all of it is seen."""
    period_ns, release, response = team.period_ns, int(team.scheduled_ns[at]), int(team.response_ns[at])
    begin = max(-_BEFORE * period_ns, start_ns - release)
    end = (response // period_ns + 1 + _AFTER) * period_ns if length_ns is None else begin + length_ns
    return _Frame(release, response, begin, end)


def _window(frame: _Frame, threads: Sequence[ThreadSteps], start_ns: int, last_ns: int) -> StepWindow:
    blocks = (_blocks(thread, place, frame, start_ns) for place, thread in enumerate(threads))
    return StepWindow(
        step=(frame.release_ns - start_ns) // threads[0].period_ns,
        at_s=(frame.release_ns - start_ns) / 1e9,
        response_ns=frame.response_ns,
        begin_ns=frame.begin_ns,
        end_ns=frame.end_ns,
        blocks=tuple(block for one in blocks for block in one),
        due=tuple(_due(threads, frame, start_ns, last_ns)),
    )


def _blocks(thread: ThreadSteps, place: int, frame: _Frame, start_ns: int) -> Iterator[ThreadActivity]:
    instants = (thread.ready_ns, *(getattr(thread, name) for name in COLUMNS[1:]))
    edges = np.stack([*instants, thread.finished_ns + thread.blue_ns], axis=1)
    numbers = ((thread.scheduled_ns - start_ns) // thread.period_ns).tolist()
    for step, row in zip(numbers, (edges - frame.release_ns).tolist(), strict=True):
        lasting = [one for one in zip(_KINDS, row[:-1], row[1:], strict=True) if one[1] < one[2]]
        in_one = not any(kind == "forces" for kind, _, _ in lasting)
        for kind, first, last in lasting:
            from_ns, until_ns = max(first, frame.begin_ns), min(last, frame.end_ns)
            if from_ns < until_ns:
                together = in_one and kind == "integration"
                yield ThreadActivity(place, "computing" if together else kind, step, from_ns, until_ns)


def _touching(thread: ThreadSteps, frame: _Frame) -> ThreadSteps:
    """Return the steps that lie in the window, even in part or by their idle time, and those just before."""
    until_ns = frame.release_ns + frame.end_ns
    ends = thread.finished_ns + thread.blue_ns
    from_ns = frame.release_ns + frame.begin_ns - 2 * thread.period_ns
    first = int(np.searchsorted(ends, from_ns, side="right"))
    return thread.between(int(thread.scheduled_ns[first]) if first < len(thread) else until_ns, until_ns)


def _due(threads: Sequence[ThreadSteps], frame: _Frame, start_ns: int, last_ns: int) -> Iterator[Due]:
    """Yield the releases inside the window, up to the last deadline of the run: all, or every so many-th."""
    period_ns, release = threads[0].period_ns, frame.release_ns
    recorded = {
        own: end
        for thread in threads
        for own, end in zip(thread.scheduled_ns.tolist(), thread.finished_ns.tolist(), strict=True)
    }
    releases = sorted(recorded)

    def is_passed_over(at: int) -> bool:
        """Return whether the release is not recorded because the step before was not done at it."""
        before = bisect_left(releases, at) - 1
        return at not in recorded and before >= 0 and recorded[releases[before]] >= at

    def met(own: int) -> bool | None:
        if own in recorded:
            return bool(recorded[own] < own + period_ns)
        return False if is_passed_over(own) else None

    first = release + (frame.begin_ns // period_ns + 1) * period_ns if frame.begin_ns < 0 else release
    last = min(release + frame.end_ns, last_ns + 1)
    apart = max(1, -(-(last - first) // (_MOST_DUE * period_ns)))
    for at in range(first, last, apart * period_ns):
        yield Due(at - release, (at - start_ns) // period_ns, met(at - period_ns), is_passed_over(at))
