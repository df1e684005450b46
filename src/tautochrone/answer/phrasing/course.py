"""The course of a run in sentences: what was found, with its numbers, and what was looked for in vain."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from tautochrone.base.units import format_duration
from tautochrone.base.words import listed, plural, upper_first, verb
from tautochrone.judge.course import FEWEST, Course, Courses
from tautochrone.statistics.course.association import Association, groups
from tautochrone.statistics.course.change_points import LevelChange
from tautochrone.statistics.course.spikes import Apart, SpikePeriod

# What is known to come with a certain period: a clue for whoever looks for the cause, and no more.


_HISTOGRAM = "The run kept a histogram: what happened when is not known, but for each new maximum."
_UNDATED = "The run has a histogram only: what happened when is not known."
_S, _MS = 1_000_000_000, 1_000_000
_TICKS_HZ = (100, 250, 300, 1000)
_KNOWN = {
    # kernel/time/clocksource.c, WATCHDOG_INTERVAL
    _S // 2: "the kernel's watchdog of clock sources looks every 0.5 s",
    # Documentation/admin-guide/sysctl/vm.rst, stat_interval; Documentation/scheduler/sched-rt-group.rst
    _S: "work that is due once a second, such as the kernel's statistics of memory (vm.stat_interval) or RT "
    "throttling (sched_rt_period_us)",
    # Documentation/admin-guide/lockup-watchdogs.rst: 2 * watchdog_thresh / 5, of which 10 s is usual
    4 * _S: "the kernel's watchdog of soft lockups comes every 4 s unless watchdog_thresh was changed",
    # Documentation/admin-guide/sysctl/vm.rst, dirty_writeback_centisecs
    5 * _S: "the kernel writes back changed pages every 5 s unless dirty_writeback_centisecs was changed",
}
_WITHIN = 1e-3


def clue(period_ns: float, error_ns: float, release_ns: float | None, tick_hz: int | None) -> str:
    """Return a sentence about what may be behind a period, or nothing.

    The period is known to ``error_ns``; ``release_ns`` lies between two releases, if there is a schedule,
    and ``tick_hz`` is how often the kernel's timer interrupts, if known.
    """
    close = max(2 * error_ns, 1e-9 * period_ns)
    if close > 0.02 * period_ns:
        return ""
    close = max(close, _WITHIN * period_ns)
    for hz in (tick_hz,) if tick_hz else _TICKS_HZ:
        tick = Fraction(_S, hz)
        if abs(period_ns - tick) <= close:
            known = f"this kernel's tick has that period (CONFIG_HZ={hz})"
            return known if tick_hz else f"a kernel's tick may have that period (CONFIG_HZ={hz})"
        beat = _meeting(tick, release_ns)
        if beat is not None and tick_hz and abs(period_ns - beat) <= close:
            return (
                f"releases every {_ms(release_ns)} meet a tick of {_ms(float(tick))} (CONFIG_HZ={hz}) "
                "in the same way again after that time"
            )
    for known_ns, words in _KNOWN.items():
        if abs(period_ns - known_ns) <= close:
            return words
    whole = round(period_ns / _S)
    if whole >= 1 and abs(period_ns - whole * _S) <= close:
        return "whole seconds point to a program or a daemon that does something at that rate"
    return ""


def _meeting(tick: Fraction, release_ns: float | None) -> Fraction | None:
    """Return after what time releases and ticks meet as before; None if one of them says it."""
    if release_ns is None or release_ns <= 0:
        return None
    ratio = Fraction(int(release_ns)) / tick
    after = tick * ratio.numerator
    return None if ratio.numerator == 1 or ratio.denominator == 1 else after


def _ms(ns: float | None) -> str:
    return f"{(ns or 0) / _MS:.6g} ms"


_NAMED = 4  # names that are listed
_MOST_TIMES = 6
_MOST_PERIODS = 5
_MOST_APART = 3
_STEADY = 3
_LARGE = 0.2  # a change of the level that a reader expects to be seen
_ORDER = ("median", "p99", "maximum")
_WHAT = {"median": "the median", "p99": "the 99 % quantile"}

_Held = tuple[Course, LevelChange]


def sentences(found: Courses) -> list[str]:
    """Return all of it: changes, periods, sources together, samples apart, and what was not found."""
    if found.intervals:
        return []
    if found.histogram:
        return [_HISTOGRAM if found.dated else _UNDATED]
    searched = [one for one in found.sources if one.searched]
    if not searched:
        return [_too_few(found.sources)] if found.sources else []
    return [
        *_changes(found, searched),
        *_periods(found, searched),
        *_nothing(searched),
        *_together(found),
        *_apart(found),
    ]


def _too_few(sources: Sequence[Course]) -> str:
    most = max(one.count for one in sources)
    return (
        f"{plural(most, 'sample')} {verb(most, 'is')} too few to search for changes and periods over time; "
        f"{FEWEST:,} of one source are needed."
    )


def _changes(found: Courses, searched: Sequence[Course]) -> Iterator[str]:
    steady, rest = [], []
    for course in searched:
        throughout = _throughout(course)
        steady += [(course, throughout)] if throughout else []
        rest += [
            (course, change)
            for change in course.changes
            if not (throughout and change.of in ("median", "p99"))
        ]
    for course, changes in steady[:_MOST_TIMES]:
        yield _drifts(course, changes, len(found.sources))
    if len(steady) > _MOST_TIMES:
        yield f"So it is with {plural(len(steady) - _MOST_TIMES, 'more source')}."
    times = _at_once(rest)
    largest = sorted(times, key=lambda held: max(_relative(change) for _, change in held), reverse=True)
    shown = sorted(largest[:_MOST_TIMES], key=lambda held: held[0][1].at_ns)
    for held in shown:
        yield _changed(found, held)
    if len(times) > len(shown):
        yield f"The level changed at {plural(len(times) - len(shown), 'more time')}, by less."


def _throughout(course: Course) -> list[LevelChange]:
    """Return the changes of a median that only ever rises, or only falls; none if they are few or both."""
    changes = [one for one in course.changes if one.of == "median"]
    rises = {one.after > one.before for one in changes}
    return changes if len(changes) >= _STEADY and len(rises) == 1 else []


def _drifts(course: Course, changes: Sequence[LevelChange], sources: int) -> str:
    first, last = changes[0], changes[-1]
    rises = "rises" if last.after > first.before else "falls"
    return (
        f"The median{_of(course, sources)} {rises} throughout, from {format_duration(first.before)} at "
        f"first to {format_duration(last.after)} in the end, steadily or in {len(changes)} steps."
    )


def _at_once(held: Sequence[_Held]) -> list[list[_Held]]:
    """Return changes that may have come at the same time, in the order of time."""
    times: list[list[_Held]] = []
    for one in sorted(held, key=lambda held: held[1].at_ns):
        near = 2 * one[1].within_ns
        if times and one[1].at_ns - times[-1][0][1].at_ns <= near:
            times[-1].append(one)
        else:
            times.append([one])
    return times


def _relative(change: LevelChange) -> float:
    small, large = sorted((abs(change.before), abs(change.after)))
    return math.log((large + 1) / (small + 1))


def _changed(found: Courses, held: Sequence[_Held]) -> str:
    courses = list({id(course): course for course, _ in held}.values())
    chosen = max(held, key=lambda one: _relative(one[1]))[0]
    own = {change.of: change for course, change in held if course is chosen}
    changes = [own[of] for of in _ORDER if of in own]
    parts = [_rose(change, changes[:k]) for k, change in enumerate(changes)]
    most = f" (most of {chosen.name})" if len(courses) > 1 else ""
    digits = min(3, max(0, math.ceil(-math.log10(max(changes[0].within_ns, 1) / 1e9))))
    at = f"{(changes[0].at_ns - found.start_ns) / 1e9:,.{digits}f} s"
    return f"At {at}{_who(courses, found.sources)}: {listed(parts)}{most}."


def _rose(change: LevelChange, said: Sequence[LevelChange]) -> str:
    """Say in which direction and how far; without the verb where the one before said it."""
    up = change.after > change.before
    rose = "" if said and (said[-1].after > said[-1].before) == up else " rises" if up else " falls"
    share = f" ({(change.after / change.before - 1) * 100:+.0f} %)" if change.before > 0 else ""
    what = _WHAT.get(change.of) or f"the usual worst of each {format_duration(change.within_ns)}"
    return f"{what}{rose} from {format_duration(change.before)} to {format_duration(change.after)}{share}"


def _periods(found: Courses, searched: Sequence[Course]) -> Iterator[str]:
    groups_: list[list[tuple[Course, SpikePeriod]]] = []
    for course, period in ((one, period) for one in searched for period in one.periods):
        group = next((one for one in groups_ if _alike(one[0][1], period)), None)
        if group is None:
            groups_.append([(course, period)])
        else:
            group.append((course, period))
    # The clearest of the most sources first; then they are told from the shortest on.
    groups_.sort(
        key=lambda group: (-len({course.source for course, _ in group}), min(one.p for _, one in group))
    )
    for group in sorted(groups_[:_MOST_PERIODS], key=lambda group: group[0][1].period_ns):
        clearest = min(group, key=lambda one: (one[1].p, -one[1].spikes))
        who = list({course.source: course for course, _ in group}.values())
        yield _period(found, who, *clearest)
    if len(groups_) > _MOST_PERIODS:
        yield f"Besides, {plural(len(groups_) - _MOST_PERIODS, 'more period')}; tauto show --json has them."


def _alike(first: SpikePeriod, second: SpikePeriod) -> bool:
    close = 1e-3 * first.period_ns + 2 * (first.resolution_ns + second.resolution_ns)
    return first.kind == second.kind and abs(first.period_ns - second.period_ns) <= close


def _period(found: Courses, courses: Sequence[Course], course: Course, period: SpikePeriod) -> str:
    who = _who(courses, found.sources)
    length = exactly(period.period_ns, period.resolution_ns)
    typical, usual = format_duration(period.typical_ns), format_duration(period.usual_ns)
    on = f" (of {course.name})" if len(courses) > 1 else ""
    if period.kind == "spikes":
        which = "all" if period.spikes == period.of else f"{period.spikes:,}"
        said = (
            f"A spike every {length}{who}: of the {period.of:,} largest samples{on}, {which} come with it, "
            f"in {period.hit:,} of {period.periods:,} periods, typically {typical} where {usual} is usual"
        )
    elif period.kind == "pattern":
        releases = period.period_ns / course.period_ns if course.period_ns else 0
        every = f" ({_whole(releases)} releases)" if releases else ""
        said = (
            f"A pattern every {length}{every}{who}: the median{on} is up to {typical} in one part of it, and "
            f"down to {usual} in another"
        )
        if releases and releases < 4:
            said += "; something faster than the releases can look so"
    else:
        said = f"The level goes up and down every {length}{who}: the median{on} between {usual} and {typical}"
    hint = clue(period.period_ns, period.resolution_ns, course.period_ns, found.tick_hz)
    return f"{said} ({_chance(period.p)}). {upper_first(hint)}{'.' if hint else ''}".strip()


def _whole(value: float) -> str:
    near = round(value)
    return f"{near:,}" if abs(value - near) < 0.01 * max(1, near) / 10 else f"{value:,.2f}"


def exactly(ns: float, error_ns: float) -> str:
    """Return a period to as many digits as are known: four, or up to seven where they say something."""
    unit, scale = next(
        (one for one in (("s", 1e9), ("ms", 1e6), ("us", 1e3)) if ns >= one[1] * 0.9995), ("ns", 1.0)
    )
    known = min(7, max(2, math.floor(math.log10(ns / max(error_ns, 1e-9 * ns)) + 0.5)))
    for digits in range(min(4, known), known + 1):
        decimals = max(0, digits - 1 - math.floor(math.log10(ns / scale) + 1e-4))
        if abs(round(ns / scale, decimals) * scale - ns) <= 2 * error_ns:
            break
    return f"{ns / scale:.{decimals}f} {unit}"


def _chance(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.1g}"


def _nothing(searched: Sequence[Course]) -> Iterator[str]:
    changed = any(course.changes for course in searched)
    periodic = any(course.periods for course in searched)
    if changed and periodic:
        return
    count = sum(course.count for course in searched)
    least = [course.least_change for course in searched if course.least_change is not None]
    seen = f"; a change of the median below {_percent(max(least))} would not be seen" if least else ""
    if max(least, default=0) > _LARGE:
        seen = (
            f"; the level wanders so much that only changes of the median above {_percent(max(least))} could "
            "be told from it"
        )
    if max(least, default=0) >= 1:
        seen = "; they vary so much that a median twice as large would not be seen"
    if not changed and not periodic:
        yield f"No change, no period found in {count:,} samples{seen}."
    elif not changed:
        yield f"No change of the level found in {count:,} samples{seen}."
    else:
        yield f"No period found in {count:,} samples."


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _together(found: Courses) -> Iterator[str]:
    if len([one for one in found.sources if one.searched]) < 2:
        return
    shown = [one for one in found.pairs if one.shown]
    if not shown:
        if found.pairs:
            yield "No two sources have their largest samples at the same time more often than by chance."
        return
    for group in groups(shown):
        pairs = [one for one in shown if one.first in group]
        clearest = max(pairs, key=lambda one: one.together / max(1, one.of))
        own = [found.sources[index] for index in group]
        who = f"{len(group)} of {len(found.sources)} sources ({_names(own)})"
        if len(own) == 2:
            who = listed([one.name for one in own])
        yield f"{who} have large samples at the same time: {_share(found, clearest)}."


def _share(found: Courses, pair: Association) -> str:
    first, second = found.sources[pair.first].name, found.sources[pair.second].name
    by_chance = "fewer than 0.1" if pair.expected < 0.1 else f"{pair.expected:.1f}"
    return (
        f"of the {pair.of:,} times when {second} is late most, {first} is, too, in {pair.together:,} "
        f"(within {format_duration(pair.window_ns)}; {by_chance} by chance; {_chance(pair.p)})"
    )


def _apart(found: Courses) -> Iterator[str]:
    held = [(course, course.apart) for course in found.sources if course.apart is not None]
    held.sort(key=lambda one: -one[1].factor)
    for course, one in held[:_MOST_APART]:
        yield _stands_apart(course, one, len(found.sources))
    if len(held) > _MOST_APART:
        yield f"So it is with {plural(len(held) - _MOST_APART, 'more source')}, by less."


def _stands_apart(course: Course, one: Apart, sources: int) -> str:
    factor = f"{one.factor:.0f}" if one.factor >= 10 else f"{math.floor(one.factor * 10) / 10:g}"
    rest = f"{factor} times the next, {format_duration(one.next_ns)}"
    if one.count == 1:
        return f"The largest sample{_of(course, sources)}, {format_duration(one.most_ns)}, is {rest}."
    low, high = format_duration(one.least_ns), format_duration(one.most_ns)
    return f"The {one.count} largest samples{_of(course, sources)} ({low} to {high}) are at least {rest}."


def _of(course: Course, sources: int) -> str:
    return f" of {course.name}" if sources > 1 else ""


def _who(courses: Sequence[Course], every: Sequence[Course]) -> str:
    """Say whom it is about, after a comma; nothing where there is only one source."""
    if len(every) == 1:
        return ""
    if len(courses) == len(every):
        return f", all {len(every)} sources" if len(every) > 2 else ", both sources"
    if len(courses) <= 2:
        return f", {listed([one.name for one in courses])}"
    return f", {len(courses)} of {len(every)} sources ({_names(courses)})"


def _names(courses: Sequence[Course]) -> str:
    names = [one.name for one in courses[:_NAMED]]
    return ", ".join(names) + (", …" if len(courses) > _NAMED else "")
