"""What came of a search, from the store alone, and what it says in sentences; and how sure that is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tautochrone.base.units import format_duration, format_rate, format_ratio
from tautochrone.base.words import plural, verb
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.quantiles import exceedance_bound
from tautochrone.tire.limit_judge import CROWDED, Limit, Limiter, LimitTrial
from tautochrone.tire.limit_search import LimitFindings, LimitSearch

_FEWEST_STEPS = 300
"""With so many, a flawless trial leaves at most 1 in 100 steps open at 95 % confidence."""

_PARTS = {"computing": "computing", "waiting": "waiting for the others", "dispatch": "late starts"}
_RARE_PARTS = {
    "computing": "a rare interruption",
    "waiting": "a rare wait for the others",
    "dispatch": "a rare late start",
}


def answer(limit: Limit) -> str:
    """Return the answer as one sentence."""
    largest, team = limit.largest, plural(limit.threads, "thread")
    if largest is not None:
        unless = f" but {largest.missed:,}" if largest.missed else ""
        steps = plural(largest.steps, "step")
        sentence = f"With {team}, {largest.nodes:,} masses met every deadline{unless} in {steps}"
        return f"{sentence}; the search is not finished." if limit.end == "unfinished" else f"{sentence}."
    if limit.end == "unfinished":
        short = f"; in short trials {limit.met_so_far:,} masses did" if limit.met_so_far else ""
        return f"With {team} the search is not finished: no trial of full length met so far{short}."
    least = "none was tried"
    if (missed := limit.smallest_missed) is not None:
        least = f"even {missed.nodes:,} masses missed in a trial of {plural(missed.asked, 'step')}"
    return f"With {team} no tire met every deadline of this rate: {least}."


def claim(limit: Limit) -> str:
    """Return how sure the answer is; empty without one.

    The masses were chosen because their trial met. Of trials of full length the j-th is therefore also given
    at the confidence 1 - alpha / (j (j + 1)): summed over all j that is alpha, however many are made.
    """
    trial = limit.largest
    if trial is None:
        return ""
    confidence = limit.question.confidence
    misses = "No miss" if not trial.missed else f"{trial.missed:,} missed"
    late = one_in(exceedance_bound(trial.steps, trial.missed, confidence))
    words = (
        f"{misses} in {plural(trial.steps, 'step')}: with {confidence * 100:g} % confidence, for this trial "
        f"by itself, fewer than {late} is late."
    )
    made = limit.decided.index(trial) + 1
    if made > 1:
        chosen = 1 - (1 - confidence) / (made * (made + 1))
        wider = one_in(exceedance_bound(trial.steps, trial.missed, chosen))
        words += (
            f" {made} trials of full length were made until it met: allowing for that, fewer than {wider}."
        )
    if trial.steps < _FEWEST_STEPS:
        words += f" So few steps say little: a --duration of {_FEWEST_STEPS:,} steps or more says more."
    return words


def one_in(share: float) -> str:
    """Return a share of steps that is not exceeded: ``1 step in 2,003``."""
    return f"1 step in {int(1 / share):,}" if share < 1 else "all steps"


def limited_by(limit: Limit) -> str:
    """Return what limits, in few words."""
    if limit.end == "memory":
        return "memory"
    return "not known yet" if limit.end == "unfinished" else name_of(limit.limiter)


def name_of(limiter: Limiter | None) -> str:
    """Return what made a step late, in few words."""
    if limiter is None:
        return "not known"
    if limiter.rare is None:
        return f"{_PARTS[limiter.part]}, or an accident"
    return (_RARE_PARTS if limiter.rare else _PARTS)[limiter.part]


def explanation(limit: Limit) -> Iterator[str]:
    """Say what bounds the answer and why, sentence by sentence."""
    if limit.end == "memory":
        yield "That is the largest tire that there is memory for, so the rate allows at least as many masses."
    missed = limit.smallest_missed
    if missed is not None:
        yield _missed(limit, missed)
        yield from _why(limit, missed)
    if limit.end == "given up":
        yield (
            f"{len(limit.decided)} trials of full length were made, and no more are: the range is wider than "
            f"the resolution of {limit.question.resolution * 100:g} %."
        )
    yield from _accidents(limit)


def _missed(limit: Limit, missed: LimitTrial) -> str:
    largest = limit.largest
    more = f" ({format_ratio((missed.nodes / largest.nodes - 1) * 100, 2)} % more)" if largest else ""
    words = f"The smallest tire that missed had {missed.nodes:,} masses{more}"
    late = missed.late_step
    if late is None:
        return (
            f"{words}: {missed.missed:,} of its releases {verb(missed.missed, 'was')} passed over, since a "
            "step of the warm-up, which is not recorded, was late."
        )
    words += (
        f": step {late.number:,} of {missed.asked:,} began {format_duration(late.parts.dispatch_ns)} after "
        f"its release (T_i) and took {format_duration(late.parts.step_ns)} (T_s)"
    )
    if (typical := late.typical) is not None:
        words += (
            f", where half of the steps have {format_duration(typical.dispatch_ns)} and "
            f"{format_duration(typical.step_ns)} at most"
        )
    return f"{words}."


def _why(limit: Limit, missed: LimitTrial) -> Iterator[str]:
    limiter, late = limit.limiter_of(missed), missed.late_step
    if limiter is None or late is None:
        return
    period = format_duration(limit.question.period_ns)
    if limiter.rare is None:
        yield "The trial ended after too few steps to tell whether that is usual or was an accident."
    elif limiter.rare:
        yield _RARE_REASONS[limiter.part]
        yield from _room(limit)
    elif late.typical is None:
        yield f"What limits is {_PARTS[limiter.part]}: so many masses by themselves fill the {period}."
    elif limiter.part == "computing":
        share = late.typical.computing_ns / limit.question.period_ns
        yield (
            f"What limits is computing: half of the steps compute for "
            f"{format_duration(late.typical.computing_ns)} or longer, {share:.0%} of the {period}."
        )
    elif limiter.part == "waiting":
        yield (
            f"What limits is waiting for the others: reading, writing, locks and waiting take "
            f"{format_duration(late.typical.waiting_ns)} of a typical step, computing "
            f"{format_duration(late.typical.computing_ns)}."
        )
    else:
        yield (
            f"What limits is dispatch: half of the steps begin {format_duration(late.typical.dispatch_ns)} "
            f"or more after their release, of the {period}."
        )


_RARE_REASONS = {
    "dispatch": "That was a rare event of the system and not the solver's limit: the thread was not let run. "
    "Ask tauto doctor what here can do that.",
    "computing": "That was a rare event of the system and not the solver's limit: something took the "
    "CPU or its memory away while it computed. Ask tauto doctor what here can do that.",
    "waiting": "That was a rare event: it waited for the other threads far longer than it usually does.",
}


def _room(limit: Limit) -> Iterator[str]:
    trial, full_at = limit.largest, limit.full_at
    if trial is not None and trial.typical_ns is not None and full_at is not None:
        yield (
            f"Half of the steps of {trial.nodes:,} masses end {format_duration(trial.typical_ns)} after "
            "their release or sooner; by that alone the period would be full at about "
            f"{_rounded(full_at):,} masses."
        )


def _accidents(limit: Limit) -> Iterator[str]:
    below = limit.missed_below
    if below:
        named = ", ".join(f"{trial.nodes:,}" for trial in below)
        once = "A trial" if len(below) == 1 else f"{len(below)} trials"
        yield (
            f"{once} below the answer missed, too ({named} masses), and met when made once more: the same "
            "tire may meet and miss, so the boundary is a range."
        )
    late, steps = limit.accidents
    if late > 1:
        yield (
            f"In {late:,} trials a step was late although typical steps leave room: about 1 step in "
            f"{steps // late:,}, whatever the masses."
        )


def _rounded(value: int) -> int:
    """Round to two digits: no more is known of it."""
    scale: int = 10 ** max(0, len(str(value)) - 2)
    return round(value / scale) * scale


@dataclass(frozen=True)
class LimitResults:
    """A search and its answers."""

    search: LimitSearch
    limits: tuple[Limit, ...]
    runs: tuple[StoredRun, ...]

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """Return the manifests of the runs."""
        return tuple(run.manifest for run in self.runs)

    @property
    def finished(self) -> bool:
        """Return whether every number of threads has its answer."""
        return all(limit.end != "unfinished" for limit in self.limits)

    @property
    def headline(self) -> str:
        """Return the answer, in one line."""
        rate = format_rate(1e9 / self.search.question.period_ns)
        if not any(limit.largest for limit in self.limits):
            return f"No tire met every deadline at {rate}" + ("" if self.finished else " so far")
        known = [
            (f"{limit.largest.nodes:,} masses" if limit.largest else "none")
            + f" with {plural(limit.threads, 'thread')}"
            for limit in self.limits
            if limit.largest or limit.end != "unfinished"
        ]
        return f"{rate}: {', '.join(known)}"

    def findings(self) -> Iterator[str]:
        """Say what else limits here that the trials alone don't tell."""
        if (share := self._real_time_share()) is None:
            return
        filled = [limit.threads for limit in self.limits if _fills(limit, share)]
        if filled:
            yield (
                f"Linux lets real-time threads run for {format_duration(share * 1e9)} of each second "
                "(sched_rt_runtime_us): near the limit that stops them, whatever the solver could do."
            )

    def _real_time_share(self) -> float | None:
        """Return the share of the time that real-time threads are granted; None: all of it, or unknown."""
        for manifest in self.manifests:
            runtime_ns, window_ns = manifest.header.process.obtained.throttling_ns or (0, 0)
            policy = manifest.header.parameters.get("policy")
            if policy in ("fifo", "rr") and runtime_ns:
                return runtime_ns / window_ns
        return None


def _fills(limit: Limit, share: float) -> bool:
    """Return whether typical steps of what missed come near what real-time threads are granted."""
    missed = limit.smallest_missed
    if missed is None or limit.largest is None or not limit.largest.typical_ns:
        return False
    typical_ns = limit.largest.typical_ns * missed.nodes / limit.largest.nodes
    return typical_ns >= max(CROWDED, share - 0.1) * limit.question.period_ns


def results_of(search: LimitSearch, found: Sequence[LimitFindings]) -> LimitResults:
    """Return what the runs say, as far as they were made."""
    runs = sorted((run for own in found for run in own.runs), key=lambda run: run.manifest.created)
    return LimitResults(search, tuple(own.limit for own in found), tuple(runs))
