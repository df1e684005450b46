"""What a setting was worth here: pairs of runs that are alike but for one thing, and what came of it.

A pair is of one machine, one experiment with its parameters and one load. What differs between its runs is
told in things: a knob of a deployment with the knobs that go with it, the kernel as a whole, or the answer of
one check of the audit. One thing: the pair is about that. Several: it is about none of them, which is said.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from tautochrone.machine.audit import (
    ABOUT_THE_KERNEL,
    COMPANIONS,
    EFFECTS,
    FOLLOWERS,
    NO_SETTINGS,
    OF_THE_KERNEL,
    knobs_of,
)

KERNEL = "kernel"
LOAD_CPUS = "CPUs of the load"

_MOST_STATES = 12  # of one experiment, the latest ones: each is compared with each

Answers = Mapping[str, tuple[str, str]]
"""By code of a check, level and title of its finding."""


@dataclass(frozen=True)
class MeasuredUnder:
    """Under what one run was measured.

    Attributes:
        created: when, ISO 8601, UTC.
        alike: what must be the same for two runs to be compared: machine, experiment, parameters, load.
        answers: what the audit says of its facts.
        settings: by knob of its deployment, the value before it was applied and under it.
        load_cpus: where a deployment kept the load; None: anywhere, or there was none.
        booted: the kernel's command line.
        about_a_loop: whether it tells how late the cycles of a control loop begin.
    """

    run: str
    created: str
    alike: str
    load: str = ""
    kernel: str = ""
    answers: Answers = field(default_factory=dict)
    settings: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    load_cpus: str | None = None
    booted: str = ""
    about_a_loop: bool = False


@dataclass(frozen=True)
class TurnedCompanion:
    """A knob that was turned with another one."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Thing:
    """One thing that differs between two runs.

    Attributes:
        codes: the findings that it is about.
        companions: knobs that were turned with it.
        by_deployment: whether a deployment changed it, and so nothing that nobody saw.
    """

    name: str
    before: str
    after: str
    codes: tuple[str, ...]
    companions: tuple[TurnedCompanion, ...] = ()
    by_deployment: bool = False


@dataclass(frozen=True)
class StatePair:
    """Two states of the machine under one experiment, and their runs, the latest first.

    Attributes:
        things: what differs, at least one.
        rebooted: whether the kernel's command line differs too.
    """

    before: tuple[MeasuredUnder, ...]
    after: tuple[MeasuredUnder, ...]
    things: tuple[Thing, ...]
    rebooted: bool = False


def find_pairs(runs: Iterable[MeasuredUnder], now: Answers) -> dict[str, StatePair]:
    """The pair that tells most about each finding.

    One that differs in a single thing goes before one that differs in several, a deployment's knob before a
    setting that was found changed, a control loop before another experiment, a loaded run before an idle one,
    and later runs before earlier ones.

    Args:
        runs: of one machine; of other machines they are never compared with each other.
        now: the audit's answers at present. The pair goes from what is now to the other, or where all is well
            now, from the other to this.

    Returns:
        By code of a finding; a code is left out that no pair is about.
    """
    best: dict[str, tuple[tuple[object, ...], StatePair]] = {}
    alike: dict[str, list[MeasuredUnder]] = {}
    for run in runs:
        alike.setdefault(run.alike, []).append(run)
    for group in alike.values():
        for older, newer in combinations(_states(group), 2):
            things = differences(older[0], newer[0])
            for thing in things:
                for code in thing.codes:
                    pair = _turned(
                        StatePair(older, newer, things, older[0].booted != newer[0].booted), code, now
                    )
                    rank = _rank(pair, thing)
                    if code in now and (code not in best or rank > best[code][0]):
                        best[code] = rank, pair
    return {code: pair for code, (_, pair) in best.items()}


def differences(before: MeasuredUnder, after: MeasuredUnder) -> tuple[Thing, ...]:
    """What differs between two runs that are alike otherwise; things that come together are one."""
    knobs = _knobs(before, after)
    codes = {code: pair for code, pair in _answers(before, after).items() if code not in NO_SETTINGS}
    things = [*_knob_things(knobs)]
    explained = {code for knob in knobs for code in EFFECTS.get(knob, ())}
    if before.kernel != after.kernel:
        about = tuple(code for code in ABOUT_THE_KERNEL if code in codes)
        things.append(Thing(KERNEL, before.kernel, after.kernel, about))
        explained |= OF_THE_KERNEL
    explained |= {follower for code in codes for follower in FOLLOWERS.get(code, ()) if code not in explained}
    things += [
        Thing(code, was[1], became[1], (code,))
        for code, (was, became) in codes.items()
        if code not in explained
    ]
    return tuple(things)


def _states(group: Sequence[MeasuredUnder]) -> list[tuple[MeasuredUnder, ...]]:
    """The runs of each state of the machine, the latest run first; the states by their latest run."""
    states: dict[tuple[object, ...], list[MeasuredUnder]] = {}
    for run in sorted(group, key=lambda one: one.created, reverse=True):
        settings = {code: answer for code, answer in run.answers.items() if code not in NO_SETTINGS}
        state = (
            run.kernel,
            run.booted,
            run.load_cpus,
            tuple(sorted(run.settings.items(), key=lambda item: item[0])),
            tuple(sorted(settings.items())),
        )
        states.setdefault(state, []).append(run)
    return [tuple(runs) for runs in list(states.values())[:_MOST_STATES]][::-1]


def _knobs(before: MeasuredUnder, after: MeasuredUnder) -> dict[str, tuple[str, str]]:
    """The knobs that differ. Where only one run names one, the other had it as it was before that."""
    found = {}
    for knob in dict.fromkeys((*before.settings, *after.settings)):
        was, became = _value(knob, before, after), _value(knob, after, before)
        if was is not None and became is not None and was != became:
            found[knob] = was, became
    if before.load_cpus != after.load_cpus and before.load not in ("", "idle"):
        found[LOAD_CPUS] = before.load_cpus or "all", after.load_cpus or "all"
    return found


def _value(knob: str, run: MeasuredUnder, other: MeasuredUnder) -> str | None:
    return run.settings[knob][1] if knob in run.settings else other.settings[knob][0]


def _knob_things(knobs: Mapping[str, tuple[str, str]]) -> list[Thing]:
    with_others = {
        companion: knob
        for knob, companions in COMPANIONS.items()
        for companion in (*companions, *([LOAD_CPUS] if knob == "isolated" else []))
        if knob in knobs and companion in knobs
    }
    return [
        Thing(
            name=knob,
            before=was,
            after=became,
            codes=tuple(code for code in EFFECTS.get(knob, ()) if knob in knobs_of(code)),
            companions=tuple(
                TurnedCompanion(one, *knobs[one]) for one, main in with_others.items() if main == knob
            ),
            by_deployment=True,
        )
        for knob, (was, became) in knobs.items()
        if knob not in with_others
    ]


def _answers(
    before: MeasuredUnder, after: MeasuredUnder
) -> dict[str, tuple[tuple[str, str], tuple[str, str]]]:
    """The answers that differ, both of them known."""
    none = ("none", "nothing to say")
    found = {}
    for code in dict.fromkeys((*before.answers, *after.answers)):
        was, became = before.answers.get(code, none), after.answers.get(code, none)
        if was != became and "unknown" not in (was[0], became[0]):
            found[code] = was, became
    return found


def _turned(pair: StatePair, code: str, now: Answers) -> StatePair:
    """The pair with what is now first, or last where that is good; else with what was before a deployment
    first."""
    first, second = pair.before[0].answers.get(code), pair.after[0].answers.get(code)
    present = now.get(code)
    if present is not None and first != second and present in (first, second):
        wrong = present == (first if present[0] == "good" else second)
    else:
        thing = next(one for one in pair.things if code in one.codes)
        originals = [
            run.settings[thing.name][0]
            for run in (pair.before[0], pair.after[0])
            if thing.name in run.settings
        ]
        wrong = thing.after in originals and thing.before not in originals
    if not wrong:
        return pair
    things = tuple(
        replace(
            thing,
            before=thing.after,
            after=thing.before,
            companions=tuple(TurnedCompanion(one.name, one.after, one.before) for one in thing.companions),
        )
        for thing in pair.things
    )
    return StatePair(pair.after, pair.before, things, pair.rebooted)


def _rank(pair: StatePair, thing: Thing) -> tuple[object, ...]:
    newest = sorted((pair.before[0].created, pair.after[0].created))
    run = pair.before[0]
    return -len(pair.things), thing.by_deployment, run.about_a_loop, run.load not in ("", "idle"), *newest
