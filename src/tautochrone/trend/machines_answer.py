"""Machines side by side: a page with a column for each, the odd ones named, and the same as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from statistics import median

from tautochrone.answer.blocks import Mark, all_made
from tautochrone.answer.document import (
    Block,
    Document,
    DocumentPart,
    Drawing,
    Grounds,
    Sentence,
    Subheading,
    TableColumn,
    TypedCell,
    TypedTable,
    Unit,
    columns,
    count,
    part,
)
from tautochrone.answer.document import words as cell
from tautochrone.base.units import format_percent, format_ratio
from tautochrone.base.words import capital, plural, some
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.difference.ranking import FEWEST
from tautochrone.trend.levels import CONFIDENCE, FEWEST_MACHINES, MachineLevel, levels_of
from tautochrone.trend.machines import ALPHA, MachineCase, Machines, MachineStanding
from tautochrone.trend.machines_chart import figure
from tautochrone.trend.words import number

_MOST_CASES, _MOST_NAMED, _MOST_COLUMNS = 40, 10, 8
_ALWAYS = ("experiment", "period_ns", "load")


def document(found: Machines, manifests: Sequence[Manifest]) -> Document:
    """Return the answer; the manifests are those of the runs that it is about."""
    there = {run for case in found.cases for board in case.boards for run in board.runs}
    about = [one for one in manifests if one.id in there] or list(manifests)
    return Document(
        headline=f"{capital(found.metric.text)} on {plural(len(found.machines), 'machine')}",
        parts=(
            part("In short", lambda: _in_short(found)),
            part("A column for each machine", lambda: _side_by_side(found), id="side-by-side"),
            *_cases(found),
            part("How to read this", lambda: _closing(found), id="about"),
        ),
        grounds=Grounds(tuple(sorted(about, key=lambda one: one.created))),
    )


def _in_short(found: Machines) -> Iterator[Block]:
    odd = [(case, board) for case in found.cases for board in case.boards if board.differs]
    boards = [board for case in found.cases for board in case.boards]
    judged = sum(one.standing is not None for one in boards)
    if not found.cases:
        yield Sentence("No case was measured on more than one machine.", "strong")
        return
    if odd:
        names = dict.fromkeys(board.machine for _, board in odd)
        differ = "differs from its" if len(names) == 1 else "differ from their"
        yield Sentence(f"{some(list(names), _MOST_NAMED)} {differ} peers.", "strong")
    elif found.too_many:
        yield Sentence("No machine can be shown to differ: there are too many cases.", "strong")
        yield Sentence(
            f"{plural(found.judged, 'group')} of peers are looked at. Ask for fewer: --plan, --experiment."
        )
    elif judged:
        yield Sentence("No machine is shown to differ from its peers.", "strong")
    else:
        yield Sentence(
            f"No machine is judged: it takes {FEWEST} of one case, half of which have different values, "
            "under one kernel, or each under one.",
            "strong",
        )
    for case, board in odd[:_MOST_NAMED]:
        yield Sentence(f"{capital(_said(case, found))}: {_difference(board, found)}")
    if (more := len(odd) - _MOST_NAMED) > 0:
        yield Sentence(f"{plural(more, 'more difference')} in the tables.")


def _difference(board: MachineStanding, found: Machines) -> str:
    peers = board.peers or 0.0
    least = "at least " if board.at_least else ""
    times = f"{least}{format_ratio(board.value / peers)} times " if peers else ""
    return (
        f"{board.machine} has {least}{number(board.value, found.metric)}, {times}the median of "
        f"{plural(board.alike, 'machine')}, {number(peers, found.metric)} (p = {board.p:.2g})."
    )


def _said(case: MachineCase, found: Machines) -> str:
    """What tells a case from the others, and what it always is called by."""
    names = [name for name in case.name if case.name[name]]
    told = [
        name for name in names if name in _ALWAYS or len({one.name.get(name, "") for one in found.cases}) > 1
    ]
    shown = [
        case.name[name]
        if name in ("experiment", "measure", "source", "load")
        else f"{name.removesuffix('_ns').replace('_', ' ')} {case.name[name]}"
        for name in told
    ]
    return ", ".join(shown)


def _side_by_side(found: Machines) -> Iterator[Block]:
    """Yield a row for each case; of a machine under several kernels, the worst value."""
    if not found.cases:
        return
    names = found.machines
    rows = []
    for case in _shown(found):
        of = {name: [board for board in case.boards if board.machine == name] for name in names}
        rows.append(
            (
                cell(capital(_said(case, found))),
                TypedCell(_middle(case.boards), _unit(found), number(_middle(case.boards), found.metric)),
                *(_worst(of[name], found) for name in names),
            )
        )
    heads = (TableColumn("case"), TableColumn("median"), *(TableColumn(name) for name in names))
    left_out = len(found.cases) - len(rows)
    notes = (f"{plural(left_out, 'more case')} not shown.",) if left_out > 0 else ()
    yield TypedTable("", heads, tuple(rows), notes, "dense" if len(names) > _MOST_COLUMNS else "")


def _worst(boards: Sequence[MachineStanding], found: Machines) -> TypedCell:
    if not boards:
        return TypedCell(None, _unit(found), "-")
    return _value(max(boards, key=lambda one: (one.differs, one.value)), found)


def _value(board: MachineStanding, found: Machines) -> TypedCell:
    said = f"{'over ' if board.at_least else ''}{number(board.value, found.metric)}"
    mark: Mark = "missed" if board.differs else ""
    return TypedCell(board.value, _unit(found), said, mark=mark, strong=board.differs)


def _shown(found: Machines) -> list[MachineCase]:
    """Return the cases that there is room for; of too many those first that have an odd machine."""
    if len(found.cases) <= _MOST_CASES:
        return list(found.cases)
    return sorted(found.cases, key=lambda case: not any(one.differs for one in case.boards))[:_MOST_CASES]


def _cases(found: Machines) -> Iterator[DocumentPart]:
    for at, case in enumerate(_shown(found), start=1):
        title = capital(_said(case, found))
        yield part(title, partial(_nested, case, found, title, f"machines-{at}"), id=f"case-{at}")


def _nested(case: MachineCase, found: Machines, title: str, prefix: str) -> Iterator[Block]:
    """Yield kernels, in them models of CPU, in them machines; and how much these differ."""
    yield Subheading(title)
    levels = levels_of(case, found.metric)
    figures = all_made(title, lambda: filter(None, [figure(case, levels, found.metric, prefix)]))
    yield from map(Drawing, figures)
    drawn = {(one.kernel, one.model): one.drawn for one in levels if one.drawn}
    rows: list[tuple[TypedCell, ...]] = []
    for kernel in dict.fromkeys(board.kernel for board in case.boards):
        of_kernel = [board for board in case.boards if board.kernel == kernel]
        rows.append(_group(f"kernel {kernel}", of_kernel, found))
        models = list(dict.fromkeys(board.model for board in of_kernel))
        for model in models:
            of_model = [board for board in of_kernel if board.model == model]
            if len(models) > 1:
                rows.append(_group(f"· {model}", of_model, found))
            rows += [_row(board, drawn.get((kernel, model), {}), found) for board in of_model]
    heads = columns("", "runs", found.metric.name, "from, to", "partly pooled", "peers", "times", "p")
    kept = [at for at, head in enumerate(heads) if drawn or head.head != "partly pooled"]
    cells = tuple(tuple(row[at] for at in kept) for row in rows)
    yield TypedTable("", tuple(heads[at] for at in kept), cells, layout="upright")
    if levels:
        yield _levels(levels, found)


def _levels(levels: Sequence[MachineLevel], found: Machines) -> TypedTable:
    """Return how much machines of a kind differ, and how much runs of one machine."""
    sure = format_percent(CONFIDENCE)
    heads = columns(
        "", "machines", "runs", f"{found.metric.name} ({sure})", "machine to machine", "run to run",
        "one machine more",
    )  # fmt: skip
    several = len({one.kernel for one in levels}) > 1
    rows = tuple(_level(one, found, several=several) for one in levels)
    left_out = dict.fromkeys(
        f"{name} under {one.kernel}" if several else name for one in levels for name in one.left_out
    )
    notes = [f"Without {some(list(left_out), _MOST_NAMED)}."] if left_out else []
    if any(one.within is None for one in levels):
        notes.append("Where no machine has two runs, machine to machine has run to run in it.")
    return TypedTable("How much machines differ, and runs of one machine", heads, rows, tuple(notes))


def _level(one: MachineLevel, found: Machines, *, several: bool) -> tuple[TypedCell, ...]:
    names = [f"kernel {one.kernel}"] if several or not one.model else []
    said = number(one.value, found.metric)
    return (
        cell(", ".join([*names, one.model or "all models"])),
        count(one.machines),
        count(one.runs),
        _between(one.low, one.high, found, said),
        _spread(one.between, one, found),
        cell("not known") if one.within is None else _spread(one.within, one, found),
        _between(one.next_low, one.next_high, found),
    )


def _between(low: float, high: float, found: Machines, value: str = "") -> TypedCell:
    said = f"{number(low, found.metric)} to {number(high, found.metric)}"
    return TypedCell(None, _unit(found), f"{value} ({said})" if value else said, low, high, left=True)


def _spread(deviation: float, one: MachineLevel, found: Machines) -> TypedCell:
    share = f", {format_ratio(deviation / one.value * 100, 2)} %" if one.value > 0 else ""
    return TypedCell(deviation, _unit(found), f"{number(deviation, found.metric)}{share}", left=True)


def _group(name: str, boards: Sequence[MachineStanding], found: Machines) -> tuple[TypedCell, ...]:
    return (
        TypedCell(f"{name}: {plural(len(boards), 'machine')}", strong=True),
        count(sum(len(board.runs) for board in boards)),
        TypedCell(_middle(boards), _unit(found), number(_middle(boards), found.metric)),
        _range([one.value for one in boards], found),
        *[cell("")] * 4,
    )


def _row(board: MachineStanding, drawn: Mapping[str, float], found: Machines) -> tuple[TypedCell, ...]:
    peers, pooled = board.peers, drawn.get(board.machine)
    return (
        cell(f"·· {board.machine}"),
        count(len(board.runs)),
        _value(board, found),
        _range([one.value or 0.0 for one in board.values], found),
        cell("") if pooled is None else TypedCell(pooled, _unit(found), number(pooled, found.metric)),
        cell("") if peers is None else TypedCell(peers, _unit(found), number(peers, found.metric)),
        cell("")
        if not peers
        else TypedCell(board.value / peers, "number", format_ratio(board.value / peers)),
        TypedCell(None, "number", "too few")
        if board.p is None
        else TypedCell(board.p, "number", f"{board.p:.2g}"),
    )


def _range(values: Sequence[float], found: Machines) -> TypedCell:
    if len(values) < 2:
        return cell("")
    return _between(min(values), max(values), found)


def _middle(boards: Sequence[MachineStanding]) -> float:
    return median(board.value for board in boards)


def _unit(found: Machines) -> Unit:
    return "share" if found.metric.is_share else "ns"


def _closing(found: Machines) -> Iterator[Block]:
    said = [
        "The number of a machine is the median of its runs. It is compared with the machines of the same "
        f"kernel and model of CPU where these are {FEWEST} or more and differ, else with those of the same "
        "kernel, else with all, if no machine has several kernels; each counts by its latest runs, as many "
        "as the one with fewest has.",
        f"{FEWEST_MACHINES} machines or more of one kernel and one model of CPU are taken for a sample of "
        "such machines: how much they differ is told apart from how much runs of one machine do (random "
        "effects, Paule and Mandel, 1982). One machine more, measured as often as these, is expected where "
        f"said with {format_percent(CONFIDENCE)}. Partly pooled: the number of a machine, drawn towards its "
        "kind by as much as its runs leave open. Machines that differ from their peers are left out. "
        "Kernels and models are not pooled, but for rows of all models.",
        f"A machine differs where at most {format_percent(ALPHA)} of such comparisons would find any "
        "machine as far from the median, in median absolute deviations, if all peers were alike; "
        f"{plural(found.judged, 'group')} of peers counted (Bonferroni). That takes the "
        f"{'roots' if found.metric.is_share else 'logarithms'} of alike machines for normal and independent. "
        "Numbers with longer tails, such as latency max, and rare misses name alike machines more often.",
        "A machine is known by how tauto reached it (--on), or by its host's name where runs store it, or "
        "else by its product: boards of one product that measured themselves are one machine here.",
    ]
    if found.alone:
        said.append(f"{plural(found.alone, 'case')} measured on one machine only left out.")
    if found.too_few:
        said.append(f"{plural(found.too_few, 'run')} with too few samples for {found.metric.text} left out.")
    if found.unread:
        said.append(f"{plural(found.unread, 'run')} whose samples can't be read left out.")
    for one in said:
        yield Sentence(one, "note")


def as_table(found: Machines) -> Mapping[str, object]:
    """Return what programs read; times in nanoseconds, misses as shares of the releases."""
    return {
        "metric": found.metric.text,
        "unit": "share" if found.metric.is_share else "ns",
        "machines": list(found.machines),
        "alone": found.alone,
        "too_few_samples": found.too_few,
        "unread": found.unread,
        "cases": [
            {
                "name": _said(case, found),
                "parameters": dict(case.name),
                "machines": [
                    {
                        "machine": board.machine,
                        "kernel": board.kernel,
                        "cpu": board.model,
                        "runs": list(board.runs),
                        "value": board.value,
                        "at_least": board.at_least,
                        "peers": board.peers,
                        "alike": board.alike,
                        "distance": None if board.standing is None else asdict(board.standing)["distance"],
                        "p": board.p,
                        "differs": board.differs,
                    }
                    for board in case.boards
                ],
                "levels": [asdict(one) for one in levels_of(case, found.metric)],
            }
            for case in found.cases
        ],
    }
