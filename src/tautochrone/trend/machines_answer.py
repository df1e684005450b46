"""Machines side by side: a page with a column for each, the odd ones named, and the same as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from statistics import median

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Mark
from tautochrone.base.units import format_percent
from tautochrone.base.words import capital, plural
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.difference.ranking import FEWEST
from tautochrone.trend.machines import ALPHA, MachineCase, Machines, MachineStanding
from tautochrone.trend.words import number

_MOST_CASES, _MOST_NAMED, _MOST_COLUMNS = 40, 10, 8
_ALWAYS = ("experiment", "period_ns", "load")


def document(found: Machines, manifests: Sequence[Manifest]) -> doc.Document:
    """Return the answer; the manifests are those of the runs that it is about."""
    there = {run for case in found.cases for board in case.boards for run in board.runs}
    about = [one for one in manifests if one.id in there] or list(manifests)
    return doc.Document(
        headline=f"{capital(found.metric.text)} on {plural(len(found.machines), 'machine')}",
        parts=(
            doc.part("In short", lambda: _in_short(found)),
            doc.part("A column for each machine", lambda: _side_by_side(found), id="side-by-side"),
            *_cases(found),
            doc.part("How to read this", lambda: _closing(found), id="about"),
        ),
        grounds=doc.Grounds(tuple(sorted(about, key=lambda one: one.created))),
    )


def _in_short(found: Machines) -> Iterator[doc.Block]:
    odd = [(case, board) for case in found.cases for board in case.boards if board.differs]
    boards = [board for case in found.cases for board in case.boards]
    judged = sum(one.standing is not None for one in boards)
    if not found.cases:
        yield doc.Sentence("No case was measured on more than one machine.", "strong")
        return
    if odd:
        names = dict.fromkeys(board.machine for _, board in odd)
        yield doc.Sentence(
            f"{_named(list(names))} {'differs from its' if len(names) == 1 else 'differ from their'} peers.",
            "strong",
        )
    elif found.too_many:
        yield doc.Sentence("No machine can be shown to differ: there are too many cases.", "strong")
        yield doc.Sentence(
            f"{plural(found.judged, 'group')} of peers are looked at. Ask for fewer: --plan, --experiment."
        )
    elif judged:
        yield doc.Sentence("No machine is shown to differ from its peers.", "strong")
    else:
        yield doc.Sentence(
            f"No machine is judged: it takes {FEWEST} of one case, half of which have different values.",
            "strong",
        )
    for case, board in odd[:_MOST_NAMED]:
        yield doc.Sentence(f"{capital(_said(case, found))}: {_difference(board, found)}")
    if (more := len(odd) - _MOST_NAMED) > 0:
        yield doc.Sentence(f"{plural(more, 'more difference')} in the tables.")


def _difference(board: MachineStanding, found: Machines) -> str:
    peers = board.peers or 0.0
    times = f"{board.value / peers:.3g} times " if peers else ""
    least = "at least " if board.at_least else ""
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


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _side_by_side(found: Machines) -> Iterator[doc.Block]:
    """Yield a row for each case; of a machine under several kernels, the worst value."""
    if not found.cases:
        return
    names = found.machines
    rows = []
    for case in _shown(found):
        of = {name: [board for board in case.boards if board.machine == name] for name in names}
        rows.append(
            (
                doc.words(capital(_said(case, found))),
                doc.TypedCell(_middle(case.boards), _unit(found), number(_middle(case.boards), found.metric)),
                *(_worst(of[name], found) for name in names),
            )
        )
    heads = (doc.TableColumn("case"), doc.TableColumn("median"), *(doc.TableColumn(name) for name in names))
    left_out = len(found.cases) - len(rows)
    notes = (f"{plural(left_out, 'more case')} not shown.",) if left_out > 0 else ()
    yield doc.TypedTable("", heads, tuple(rows), notes, "dense" if len(names) > _MOST_COLUMNS else "")


def _worst(boards: Sequence[MachineStanding], found: Machines) -> doc.TypedCell:
    if not boards:
        return doc.TypedCell(None, _unit(found), "-")
    return _value(max(boards, key=lambda one: (one.differs, one.value)), found)


def _value(board: MachineStanding, found: Machines) -> doc.TypedCell:
    said = f"{'over ' if board.at_least else ''}{number(board.value, found.metric)}"
    mark: Mark = "missed" if board.differs else ""
    return doc.TypedCell(board.value, _unit(found), said, mark=mark, strong=board.differs)


def _shown(found: Machines) -> list[MachineCase]:
    """Return the cases that there is room for; of too many those first that have an odd machine."""
    if len(found.cases) <= _MOST_CASES:
        return list(found.cases)
    return sorted(found.cases, key=lambda case: not any(one.differs for one in case.boards))[:_MOST_CASES]


def _cases(found: Machines) -> Iterator[doc.DocumentPart]:
    for at, case in enumerate(_shown(found), start=1):
        title = capital(_said(case, found))
        yield doc.part(title, partial(_nested, case, found, title), id=f"case-{at}")


def _nested(case: MachineCase, found: Machines, title: str) -> Iterator[doc.Block]:
    """Yield kernels, in them models of CPU, in them machines."""
    yield doc.Subheading(title)
    rows: list[tuple[doc.TypedCell, ...]] = []
    for kernel in dict.fromkeys(board.kernel for board in case.boards):
        of_kernel = [board for board in case.boards if board.kernel == kernel]
        rows.append(_group(f"kernel {kernel}", of_kernel, found))
        models = list(dict.fromkeys(board.model for board in of_kernel))
        for model in models:
            of_model = [board for board in of_kernel if board.model == model]
            if len(models) > 1:
                rows.append(_group(f"· {model}", of_model, found))
            rows += [_row(board, found) for board in of_model]
    heads = doc.columns("", "runs", found.metric.name, "from, to", "peers", "times", "p")
    yield doc.TypedTable("", heads, tuple(rows), layout="upright")


def _group(name: str, boards: Sequence[MachineStanding], found: Machines) -> tuple[doc.TypedCell, ...]:
    return (
        doc.TypedCell(f"{name}: {plural(len(boards), 'machine')}", strong=True),
        doc.count(sum(len(board.runs) for board in boards)),
        doc.TypedCell(_middle(boards), _unit(found), number(_middle(boards), found.metric)),
        _range([one.value for one in boards], found),
        doc.words(""),
        doc.words(""),
        doc.words(""),
    )


def _row(board: MachineStanding, found: Machines) -> tuple[doc.TypedCell, ...]:
    peers = board.peers
    return (
        doc.words(f"·· {board.machine}"),
        doc.count(len(board.runs)),
        _value(board, found),
        _range([one.value or 0.0 for one in board.values], found),
        doc.words("") if peers is None else doc.TypedCell(peers, _unit(found), number(peers, found.metric)),
        doc.words("")
        if not peers
        else doc.TypedCell(board.value / peers, "number", f"{board.value / peers:.3g}"),
        doc.TypedCell(None, "number", "too few")
        if board.p is None
        else doc.TypedCell(board.p, "number", f"{board.p:.2g}"),
    )


def _range(values: Sequence[float], found: Machines) -> doc.TypedCell:
    if len(values) < 2:
        return doc.words("")
    low, high = min(values), max(values)
    said = f"{number(low, found.metric)} to {number(high, found.metric)}"
    return doc.TypedCell(None, _unit(found), said, low, high, left=True)


def _middle(boards: Sequence[MachineStanding]) -> float:
    return median(board.value for board in boards)


def _unit(found: Machines) -> doc.Unit:
    return "share" if found.metric.is_share else "ns"


def _closing(found: Machines) -> Iterator[doc.Block]:
    said = [
        "The number of a machine is the median of its runs. It is compared with the machines of the same "
        f"kernel and model of CPU where these are {FEWEST} or more and differ, else with those of the same "
        "kernel, else with all, each by its latest runs, as many as the one with fewest has. "
        "Levels are nested; nothing is pooled over them.",
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
        yield doc.Sentence(one, "note")


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
            }
            for case in found.cases
        ],
    }
