"""What is to be measured for a plan, before it is: the cases in their order, and the time they take."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tautochrone.base.units import format_percent, format_rate, format_span
from tautochrone.base.words import plural, upper_first
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement.of_share import length_to_show
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.estimate import Forecast, TimeEstimate, estimate, long_duration, point_s
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.campaign.outlook import forecast_of
from tautochrone.measure.document.expand import AS_IS, PlanPoint
from tautochrone.measure.document.require import Required
from tautochrone.measure.lab.matrix import MATRIX
from tautochrone.target.address import is_of_lab

# Whether what is planned can show what is required, told before anything is measured.


@dataclass(frozen=True)
class Planned:
    """One requirement of the cases that sample at one pace and for as long.

    Attributes:
        cells: how many these are.
        rate_hz: at which each source samples; None: that is not known before, as are the times.
        planned_s: how long that is, over all repetitions, which are counted together; those of a guest are
            its first one again, and count once.
        single_s: how long one repetition is; a tail is fitted to each by itself.
        counted_s: how long it takes to show it by counting, if no sample passes the limit.
        least_s: how long one repetition must be at least for its tail to be extrapolated so far.
        once: there are repetitions that do not count.
        at_most: it is a budget, of which one case may have all.
    """

    requirement: Requirement
    cells: int
    rate_hz: float | None = None
    planned_s: float | None = None
    single_s: float | None = None
    counted_s: float | None = None
    least_s: float | None = None
    once: bool = False
    at_most: bool = False

    @property
    def can_show(self) -> bool | None:
        """Return whether what is planned can show that it holds; None: that is not known."""
        if self.planned_s is None or self.counted_s is None:
            return None
        return _enough(self.planned_s, self.counted_s) or self._by_tail

    @property
    def _by_tail(self) -> bool:
        return bool(self.single_s and self.least_s and _enough(self.single_s, self.least_s))

    @property
    def sentence(self) -> str:
        """For people."""
        of = f"{self.requirement.text}: of {plural(self.cells, 'case')}"
        of += " on guests, whose repetitions count once," if self.once else ""
        if self.planned_s is None or self.counted_s is None or self.rate_hz is None or not self.least_s:
            return f"{of.rstrip(',')}."
        of = f"{of} at {format_rate(self.rate_hz)}"
        sure = f"{format_percent(self.requirement.confidence)} confidence"
        takes = f"It takes {format_span(self.counted_s, up=True)} without a late one to show it at {sure}"
        planned = f"planned: {'at most ' if self.at_most else ''}{format_span(self.planned_s)}"
        if _enough(self.planned_s, self.counted_s):
            return f"{of}. {takes}; {planned}."
        if self._by_tail:
            return f"{of}. {takes}; {planned}, enough only if its tail can be extrapolated."
        sooner, span = self.least_s < self.counted_s, format_span(self.least_s, up=True)
        least = f", or {span} at a time if its tail can be extrapolated" if sooner else ""
        return f"{of}. {takes}{least}; {planned}, too short to show it."


def planned(
    required: Required, points: Mapping[str, PlanPoint], repetitions: int, budget_s: float | None = None
) -> list[Planned]:
    """Return what is required, in the order of the plan; cases of one pace and length are taken together,
    those of guests by themselves.

    Args:
        budget_s: in place of the repetitions; None: there is none.
    """
    repeats = repetitions > 1 or budget_s is not None
    found: dict[tuple[str, float | None, float | None, bool], list[Requirement]] = {}
    for key, point in points.items():
        once = repeats and is_of_lab(point.address)
        for one in required.get(key, ()):
            pace = EXPERIMENTS[point.experiment].pace_of(point.options, one.source)
            seconds = None if pace is None else pace.samples * pace.period_s
            place = (one.text, None if pace is None else 1 / pace.period_s, seconds, once)
            found.setdefault(place, []).append(one)
    return [
        _planned(
            Planned(own[0], len(own), rate_hz, None, seconds, once=once),
            1 if once else repetitions,
            None if once else budget_s,
        )
        for (_, rate_hz, seconds, once), own in found.items()
    ]


def _planned(known: Planned, repetitions: int, budget_s: float | None) -> Planned:
    """Return what is known with how long it is planned, and must be."""
    if known.single_s is None:
        return known
    planned_s = known.single_s * repetitions if budget_s is None else budget_s
    planned = replace(known, planned_s=planned_s, at_most=budget_s is not None)
    if known.rate_hz is None or known.requirement.kind == "mean":
        return planned
    return replace(
        planned,
        counted_s=length_to_show(known.requirement, known.rate_hz, counted=True),
        least_s=length_to_show(known.requirement, known.rate_hz, counted=False),
    )


def _enough(planned_s: float, needed_s: float) -> bool:
    return planned_s >= needed_s * (1 - 1e-9)


_GAP = 2


def show_agenda(console: Console, agenda: Agenda, at_once: int = 1) -> None:
    """Print all slots, what is finished, and the time that the rest takes."""
    console.print(Text(agenda.document.title, style="bold"))
    console.print(_families(agenda) if agenda.document.grid and _size(agenda) else _cells(agenda))
    for sentence in _sentences(agenda, at_once):
        console.print(Text(sentence), soft_wrap=True)
    _show_required(console, agenda)


def _show_required(console: Console, agenda: Agenda) -> None:
    if not agenda.required:
        return
    console.print(Text("Required:"))
    for one in _planned_of(agenda):
        style = "yellow" if one.can_show is False else ""
        console.print(Text(f"  {one.sentence}", style=style), soft_wrap=True)


def _planned_of(agenda: Agenda) -> list[Planned]:
    document = agenda.document
    return planned(agenda.required, agenda.points, document.repetitions, document.budget_s)


def introduce_agenda(console: Console, agenda: Agenda, at_once: int = 1) -> None:
    """Before measuring: how much there is to do, how long that takes, and in which plan run.

    Args:
        at_once: how many cases are measured at the same time.
    """
    finished = len(agenda.finished)
    if not agenda.left:
        console.print(
            f"{agenda.document.title}: "
            + (
                f"the only case of {agenda.campaign.id} is finished. Measure it anew with --again."
                if len(agenda.slots) == 1
                else f"all {len(agenda.slots):,} cases of {agenda.campaign.id} are finished. "
                "Measure them anew with --again."
            ),
            soft_wrap=True,
        )
        return
    rest = _rest(agenda, at_once)
    if not agenda.ahead:
        console.print(
            f"{agenda.document.title}: all that can be measured of {agenda.campaign.id} is finished, "
            f"{finished:,} of {plural(len(agenda.slots), 'case')}; {_refused(agenda)}.",
            soft_wrap=True,
        )
        return
    done = f", {finished} finished before" if finished else ""
    done += f", {_refused(agenda)}" if len(agenda.ahead) < len(agenda.left) else ""
    seed = "" if agenda.document.order == "listed" else f"Seed {agenda.campaign.seed}, "
    together = f", {at_once} at once" if at_once > 1 else ""
    console.print(
        f"{agenda.document.title}: {plural(len(agenda.slots), 'case')}{done}{together}; {_takes(rest)}, "
        f"until {_clock(rest)}. {seed}{agenda.campaign.id}.",
        style="dim",
        soft_wrap=True,
    )


def as_table(agenda: Agenda, at_once: int = 1) -> dict[str, object]:
    """Return the same as JSON has it; times in seconds."""
    rest = _rest(agenda, at_once)
    finished, refused = agenda.finished, agenda.campaign.refused
    return {
        "title": agenda.document.title,
        "plan": str(agenda.document.path),
        "campaign": agenda.campaign.id if agenda.continues else None,
        "key": agenda.campaign.key,
        "seed": agenda.campaign.seed,
        "order": agenda.document.order,
        "repetitions": agenda.document.repetitions,
        "expected_s": round(rest.seconds, 1),
        "at_most": rest.at_most,
        **({"required": _required(agenda)} if agenda.required else {}),
        "ends": rest.ends.isoformat(timespec="seconds"),
        "cells": [
            {
                "position": slot.position,
                "block": slot.block,
                "cell": slot.key,
                "name": point.name,
                "system": point.system,
                "deployment": point.deployment.name,
                "load": point.load.name,
                "experiment": point.experiment,
                "options": dict(point.options),
                "arguments": list(point.prepared.options.words),
                "expected_s": round(point_s(point), 1),
                "run": finished[slot.key, slot.block].id if (slot.key, slot.block) in finished else None,
                **({"refused": refused[slot.key]} if slot.key in refused else {}),
            }
            for slot in agenda.slots
            for point in (agenda.points[slot.key],)
        ],
    }


def _required(agenda: Agenda) -> list[dict[str, object]]:
    return [
        {
            "requirement": one.requirement.text,
            "cells": one.cells,
            "rate_hz": one.rate_hz,
            "planned_s": one.planned_s,
            "counted_s": one.counted_s,
            "least_s": one.least_s,
            "can_show": one.can_show,
        }
        for one in _planned_of(agenda)
    ]


def _cells(agenda: Agenda) -> Table:
    points = agenda.points.values()
    several = {
        "system": len({point.system for point in points}) > 1 or any(p.system != "local" for p in points),
        "deployment": any(point.deployment.name != AS_IS for point in points),
        "block": agenda.document.repetitions > 1,
    }
    finished, refused = agenda.finished, agenda.campaign.refused
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column("", justify="right")
    if several["block"]:
        table.add_column("block", justify="right")
    table.add_column("what", overflow="fold")
    table.add_column("load", overflow="fold")
    for name in ("deployment", "system"):
        if several[name]:
            table.add_column(name, overflow="fold")
    table.add_column("takes", justify="right", no_wrap=True)
    for slot in agenda.slots:
        point = agenda.points[slot.key]
        done = (slot.key, slot.block) in finished
        words = [str(slot.position)]
        words += [str(slot.block)] if several["block"] else []
        words += [", ".join(filter(None, (point.heading, point.varied))), point.load.name]
        words += [point.deployment.short] if several["deployment"] else []
        words += [point.system] if several["system"] else []
        takes = "refused before" if slot.key in refused else long_duration(point_s(point))
        words += ["finished" if done else takes]
        table.add_row(*(Text(word) for word in words), style="dim" if done else "")
    return table


def _size(agenda: Agenda) -> str:
    """Return the option of a grid's experiment that says how much is measured; empty: it has none."""
    return EXPERIMENTS[next(iter(agenda.points.values())).experiment].size


def _families(agenda: Agenda) -> Table:
    """The cases of a grid, of which there may be thousands: a line for all that differ in size alone."""
    first = next(iter(agenda.points.values()))
    size = _size(agenda)
    heads = [name for name in first.varying if name != size]
    place = {key: at for at, key in enumerate(agenda.points)}
    families: dict[tuple[str, ...], list[Slot]] = {}
    for slot in sorted(agenda.slots, key=lambda slot: place[slot.key]):
        options = agenda.points[slot.key].options
        families.setdefault(tuple(str(options[name]) for name in heads), []).append(slot)
    finished, forecast = agenda.finished, _forecast(agenda)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for head in (*heads, size, "cases", "finished", "the rest takes"):
        table.add_column(head, justify="right", no_wrap=True)
    for values, slots in families.items():
        sizes = sorted({int(str(agenda.points[slot.key].options[size])) for slot in slots})
        left = [slot for slot in slots if (slot.key, slot.block) not in finished]
        rest = estimate(left, agenda.points, datetime.now().astimezone(), forecast)
        table.add_row(
            *values,
            f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}",
            f"{len(slots):,}",
            f"{len(slots) - len(left):,}",
            _takes(rest) if left else "",
        )
    return table


def _sentences(agenda: Agenda, at_once: int) -> Iterator[str]:
    rest = _rest(agenda, at_once)
    blocks = plural(agenda.document.repetitions, "repetition")
    blocks += " or more" if agenda.document.budget_s is not None else ""
    done = f"{len(agenda.finished)} of {len(agenda.slots)} finished"
    yield f"{plural(len(agenda.points), 'case')} in {blocks}; {done}."
    if len(agenda.ahead) < len(agenda.left):
        yield f"{upper_first(_refused(agenda))}."
    if agenda.left and not agenda.ahead and agenda.document.budget_s is None:
        yield "All that can be measured is finished."
    if agenda.document.budget_s is not None:
        yield (
            f"They are measured until what is open is told, for {long_duration(rest.seconds)} at most; begun "
            f"now, it ends by about {_clock(rest)}."
        )
    elif agenda.ahead:
        yield f"The rest takes {_takes(rest)}; begun now, it ends at {_clock(rest)}."
        if rest.at_most:
            yield "It is less where cases miss a deadline: such a case ends there."
    if agenda.document.grid == MATRIX:
        yield "They are measured in any order: what comes of one depends on no other."
    elif agenda.document.order == "listed":
        yield "The order is that of the plan: what drifts meanwhile falls on some cases more than on others."
    elif agenda.continues or agenda.document.seed is not None:
        yield f"The order is that of seed {agenda.campaign.seed}."
    else:
        yield (
            f"The order was drawn with seed {agenda.campaign.seed}; another is drawn when it is measured, "
            f"unless you give --seed {agenda.campaign.seed}."
        )
    if agenda.continues and agenda.left:
        yield f"It continues {agenda.campaign.id}; --again begins a new one."


def _rest(agenda: Agenda, at_once: int = 1) -> TimeEstimate:
    now, budget_s = datetime.now().astimezone(), agenda.document.budget_s
    if budget_s is not None:
        return TimeEstimate(budget_s, now + timedelta(seconds=budget_s), at_most=True)
    return estimate(agenda.ahead, agenda.points, now, _forecast(agenda), at_once)


def _forecast(agenda: Agenda) -> Forecast | None:
    """Return what is known from the cases that are finished; None: none is."""
    return forecast_of(agenda) if agenda.finished else None


def _refused(agenda: Agenda) -> str:
    """Return the cases that were refused the last time, and take no time if they are again."""
    count = len(agenda.left) - len(agenda.ahead)
    return f"{count:,} refused before {'is' if count == 1 else 'are'} tried again"


def _takes(rest: TimeEstimate) -> str:
    return f"{'at most' if rest.at_most else 'about'} {long_duration(rest.seconds)}"


def _clock(rest: TimeEstimate) -> str:
    """Return the hour as clocks show it then, with the day where it is another one."""
    ends = rest.ends.astimezone()
    same_day = ends.date() == datetime.now().astimezone().date()
    return f"{ends:%H:%M}" if same_day else f"{ends:%A %d %B, %H:%M}"
