"""Numbers of a grid of tires (garre2014, sections 4.3 and 4.4): masses times threads, also those in words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from math import isinf, log, sqrt
from statistics import fmean

from tautochrone.base.words import capital, plural
from tautochrone.experiments.tire_threads import WORDS, count_of, said
from tautochrone.judge.tire_run import configuration, result_event
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.papers.document import Datum, Query
from tautochrone.papers.measured import MeasuredValue, NotMeasuredError, QueryPlace
from tautochrone.papers.quantities.general import Statistic
from tautochrone.papers.quantities.tire_model import border, teams, transition
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.quantiles import between
from tautochrone.tire.grid_results import FastCell, MapCell, boundaries, fast_cell, map_cell

ANY, BEST = "any", "best"
"""What a query may give for threads: the least of all numbers of threads, or the most."""

_MOSTLY = 0.5
_NONE = "No tire of this kind was measured."


def fast_cells(place: QueryPlace) -> tuple[FastCell, ...]:
    """Return the tires that were simulated as fast as possible, also those that are not measured."""
    return tuple(starmap(fast_cell, _places(place)))


def map_cells(place: QueryPlace) -> tuple[MapCell, ...]:
    """Return the tires that were simulated at a rate, also those that are not measured."""
    return tuple(starmap(map_cell, _places(place)))


def _places(place: QueryPlace) -> Iterator[tuple[int, int, Sequence[StoredRun], str]]:
    """Yield masses, threads, runs and why there are none of all that a query means, by threads and masses.

    A word that comes to a number of threads that is there already is left out: it says nothing more.
    """
    facts = _facts(place)
    found: dict[tuple[int, int], list[StoredRun]] = {}
    whys: dict[tuple[int, int], str] = {}
    for point in place.points:
        runs = place.measurements.runs.get(point.key, ())
        if (where := _where(point, runs, facts)) is not None:
            found.setdefault(where, []).extend(runs)
            whys.setdefault(where, place.measurements.reasons.get(point.key, NOT_YET))
    for (nodes, threads), own in sorted(found.items(), key=lambda one: one[0][::-1]):
        yield nodes, threads, own, "" if own else whys[nodes, threads]


def team_of(word: Datum, place: QueryPlace) -> int | None:
    """Return how many threads a number or a word means on a system of ours; None: it is not known."""
    facts = _facts(place)
    if word in WORDS and facts is None:
        return None
    return count_of(word, facts or Facts(), _cpus(facts))


def _facts(place: QueryPlace) -> Facts | None:
    told = next((one.facts for one in place.measurements.systems if one.name == place.system), Facts())
    return None if told == Facts() else told


def _cpus(facts: Facts | None) -> Sequence[int]:
    return (parse_cpu_list(facts.cpu.allowed) if facts is not None else None) or (0,)


def _where(point: PlanPoint, runs: Sequence[StoredRun], facts: Facts | None) -> tuple[int, int] | None:
    """Return masses and threads of a point: as its runs say, or as its words mean on this machine."""
    if runs:
        what = configuration(runs[0])
        return what.nodes, what.threads
    threads = point.options.get("threads", 1)
    if threads in WORDS and facts is None:
        return None
    count = count_of(threads, facts or Facts(), _cpus(facts))
    return None if count is None else (int(point.options.get("nodes", 0)), count)


def _elapsed(place: QueryPlace) -> MeasuredValue:
    """Return what a simulation takes as fast as possible, the median of its repetitions; of several, in all.

    ``given.above``: only where these are more threads than that word comes to.
    """
    if "above" in place.given:
        words = [place.given[one] for one in ("threads", "above")]
        counts = [team_of(one, place) for one in words]
        if counts[0] is not None and counts[0] == counts[1]:
            raise NotMeasuredError(f"{capital(said(words[0]))} is {said(words[1])} here: {counts[0]}.")
    cells = _chosen_fast(place)
    if not cells:
        raise NotMeasuredError(_NONE)
    spreads = [one.elapsed for one in cells]
    known = [one for one in spreads if one is not None]
    several = len(cells) == 1 and len(cells[0].trials) > 1
    return MeasuredValue(
        sum(one.middle for one in known),
        "ns",
        repetitions=min(len(one.trials) for one in cells),
        least=float(known[0].least) if several else None,
        largest=float(known[0].largest) if several else None,
        note="" if len(cells) == 1 else f"{len(cells)} tires in all",
    )


def _chosen_fast(place: QueryPlace) -> Sequence[FastCell]:
    cells = [one for one in fast_cells(place) if one.trials]
    if "threads" not in place.given:
        return cells
    wanted = team_of(place.given["threads"], place)
    return [one for one in cells if one.threads == wanted]


def _oscillation(place: QueryPlace) -> MeasuredValue:
    """Return by which share a time lies off what its two neighbours in size suggest: root mean square."""
    cells = _chosen_fast(place)
    off: list[float] = []
    for threads in sorted({one.threads for one in cells}):
        own = ((one.nodes, one.elapsed.middle) for one in cells if one.threads == threads and one.elapsed)
        # Logarithms of the time for each mass: a straight line has none of its slope left in them.
        each = [log(ns / nodes) for nodes, ns in own if ns > 0]
        off += [
            here - (before + after) / 2 for before, here, after in zip(each, each[1:], each[2:], strict=False)
        ]
    if len(off) < 2:
        raise NotMeasuredError("Too few sizes were measured to see how a curve runs.")
    return MeasuredValue(sqrt(fmean(one**2 for one in off)), note=f"{len(off)} sizes with neighbours")


Cells = Sequence[MapCell]
Team = Callable[[Datum], int | None]


def _of_maps(of: Callable[[Query, Cells, Team], MeasuredValue]) -> Statistic:
    """Make a statistic of the measured tires of a map, which is told how many threads a word means."""

    def evaluate(place: QueryPlace) -> MeasuredValue:
        cells = _chosen_map(place)
        if not cells:
            raise NotMeasuredError(_NONE)
        return of(place.query, cells, lambda word: team_of(word, place))

    return evaluate


def _missed(_query: Query, cells: Cells, _team_of: Team) -> MeasuredValue:
    """Count missed deadlines: of each tire in its worst repetition, of several tires in all."""
    return MeasuredValue(
        float(sum(one.missed or 0 for one in cells)),
        samples=sum(one.due for one in cells),
        repetitions=min(len(one.trials) for one in cells),
        note=f"of {sum(one.due for one in cells):,} deadlines",
    )


def _chosen_map(place: QueryPlace) -> Sequence[MapCell]:
    cells = [one for one in map_cells(place) if one.trials]
    if "threads" in place.given:
        wanted = team_of(place.given["threads"], place)
        return [one for one in cells if one.threads == wanted]
    if "threads-up-to" in place.given:
        most = team_of(place.given["threads-up-to"], place)
        return [one for one in cells if most is not None and one.threads <= most]
    return cells


def _met_up_to(place: QueryPlace) -> MeasuredValue:
    """Return the largest tire up to which no deadline was missed, with ``given.threads`` threads.

    `ANY`: whatever the number of threads; `BEST`: with the number that serves best. Its interval is that of
    `tire_model.border`.
    """
    words = place.given.get("threads", ANY)
    if words in (ANY, BEST):
        place = place.asking(given={k: v for k, v in place.given.items() if k != "threads"})
    cells = _chosen_map(place)
    found = [one for one in boundaries(cells) if one.measured]
    if not found:
        raise NotMeasuredError(_NONE)
    pick = min if words == ANY else max
    chosen = pick(found, key=lambda one: (one.reliable.nodes if one.reliable else 0, one.first_miss is None))
    first = chosen.first_miss.nodes if chosen.first_miss is not None else None
    borders = [border(own) for own in teams(cells).values()]
    low, high = pick(low for low, _ in borders), pick(high for _, high in borders)
    told = [] if chosen.reliable is None else [f"with {_team(chosen.threads)}"]
    if first is None:
        told.append("no larger one was measured")
    elif chosen.reliable is None:
        told.append(f"the smallest tire, {first:,} masses, missed some")
    else:
        told.append(f"the next larger one, {first:,}, missed some")
    if first is not None and high > first:
        chance = "which may be chance" if isinf(high) else f"by {high:,.0f} it is no chance"
        told.append(chance)
    return MeasuredValue(
        0.0 if chosen.reliable is None else float(chosen.reliable.nodes),
        samples=0 if chosen.reliable is None else chosen.reliable.due,
        repetitions=1 if chosen.reliable is None else len(chosen.reliable.trials),
        interval=(low, high),
        beyond=first is None,
        note="; ".join(told),
    )


def _first_miss(query: Query, cells: Cells, _team_of: Team) -> MeasuredValue:
    """Return the smallest tire that missed a deadline; with ``given.of = "threads"``, its threads."""
    missed = sorted((one.nodes, one.threads) for one in cells if one.missed)
    if not missed:
        raise NotMeasuredError("No deadline was missed in any of them.")
    nodes, threads = missed[0]
    of_threads = query.given.get("of") == "threads"
    return MeasuredValue(float(threads if of_threads else nodes), note=f"{nodes:,} masses, {_team(threads)}")


def _most_threads(query: Query, cells: Cells, team: Team) -> MeasuredValue:
    """Return up to how many threads most tires meet all deadlines; in times of ``given.each``."""
    unit = team(query.given.get("each", 1)) or 1
    most, beyond = 0, True
    for threads in sorted({one.threads for one in cells}):
        own = [one for one in cells if one.threads == threads]
        if sum(one.missed == 0 for one in own) <= _MOSTLY * len(own):
            beyond = False
            break
        most = threads
    if not most:
        raise NotMeasuredError(
            "Most tires missed deadlines with the fewest threads already: it is not the threads."
        )
    note = "no larger number was measured" if beyond else f"with {_team(threads)} most tires missed some"
    return MeasuredValue(most / unit, beyond=beyond, note=note)


def _transition(_query: Query, cells: Cells, _team_of: Team) -> MeasuredValue:
    """Return how many times as many masses lie between meeting all deadlines and missing most, at the widest.

    See `tire_model.transition`; of all numbers of threads the widest.
    """
    own = teams(cells)
    found = [one for one in map(transition, own.values()) if one is not None]
    if not found:
        raise NotMeasuredError("No border lies between the sizes that were measured.")
    low, high = max(low for low, _ in found), max(high for _, high in found)
    told = f"the widest of {len(found)} of {len(own)} numbers of threads"
    if isinf(high):
        told = f"{told}; its ends were not both measured"
    return MeasuredValue(low if isinf(high) else high, interval=(low, high), beyond=isinf(high), note=told)


def _share_that_misses(query: Query, cells: Cells, team: Team) -> MeasuredValue:
    """Return the share that missed a deadline, of tires with more threads than ``given.above`` comes to.

    Its interval is Clopper and Pearson's, of tires as if each were by itself.
    """
    least = team(query.given.get("above", 0))
    above = [one for one in cells if least is not None and one.threads > least]
    if not above:
        raise NotMeasuredError(_NONE)
    missed = sum(bool(one.missed) for one in above)
    return MeasuredValue(
        missed / len(above),
        samples=len(above),
        interval=between(len(above), missed, 0.95),
        note=f"{missed} of {len(above)} tires",
    )


def _taken(place: QueryPlace) -> MeasuredValue:
    """Return how often a thread that did not wait lost its CPU in a step: N_switch of equation (2)."""
    lost, steps = 0, 0
    for run in place.runs:
        result = result_event(run)
        done = sum(book.completed for book in run.manifest.books)
        told = [one.involuntary for one in result.threads.values()] if result is not None else []
        if not told or not done or any(one is None for one in told):
            continue
        lost += sum(one or 0 for one in told)
        steps += done
    if not steps:
        raise NotMeasuredError("This system does not tell how often a thread lost its CPU.")
    times = "once" if lost == 1 else f"{lost:,} times"
    return MeasuredValue(lost / steps, samples=steps, note=f"{times} in {steps:,} steps of threads")


def _team(threads: int) -> str:
    return plural(threads, "thread")


TIRE: Mapping[str, Statistic] = {
    "elapsed": _elapsed,
    "oscillation": _oscillation,
    "missed deadlines": _of_maps(_missed),
    "met up to": _met_up_to,
    "first miss": _of_maps(_first_miss),
    "most threads": _of_maps(_most_threads),
    "transition": _of_maps(_transition),
    "tires that miss": _of_maps(_share_that_misses),
    "CPU taken": _taken,
}
