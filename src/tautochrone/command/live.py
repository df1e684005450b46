"""What is seen while measuring: a bar, current and worst latency, misses. Quiet when not a terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tautochrone.base.units import format_duration

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import ProgressColumn

    from tautochrone.measure.cell import Cell
    from tautochrone.measure.execute import CellProgress
    from tautochrone.measure.outlook import Outlook

_SHOWN_FROM_S = 2.0

Watch = Callable[["CellProgress"], None]
"""Called with the progress of a case."""


@contextmanager
def watching(cells: "tuple[Cell, ...]") -> "Iterator[Callable[[Cell], Watch]]":
    """Show a bar over several cases, on standard error.

    Yields:
        A function that gives, for each case as it begins, the watcher to pass to `run_cell`.
    """
    from rich.progress import TimeRemainingColumn

    whole_s = sum(cell.expected_s or 0.0 for cell in cells)
    before_s = 0.0
    with _bars(TimeRemainingColumn(compact=True), whole_s) as bars:
        task = bars.add_task("", total=whole_s or None, numbers="")

        def begin(cell: "Cell") -> Watch:
            nonlocal before_s
            start_s = before_s
            before_s += cell.expected_s or 0.0
            bars.update(task, description=cell.title, completed=start_s, numbers="")

            def watch(progress: "CellProgress") -> None:
                done_s = start_s + min(progress.elapsed_s, cell.expected_s or progress.elapsed_s)
                bars.update(task, completed=done_s, numbers=_numbers(progress))

            return watch

        yield begin
        bars.update(task, completed=whole_s)


@contextmanager
def watching_campaign(outlook: "Outlook", how: str = "about") -> "Iterator[Callable[[Cell], Watch]]":
    """Show the same over a plan run, whose remaining time is the outlook's.

    Args:
        outlook: of the plan run.
        how: what it tells: "about", or "at most".
    """
    from rich.progress import TextColumn

    from tautochrone.measure.campaign.estimate import long_duration

    with _bars(TextColumn("{task.fields[left]}"), outlook.left_s) as bars:
        task = bars.add_task("", total=1.0, numbers="", left="")

        def show(title: str, numbers: str) -> None:
            left = f"{how} {long_duration(outlook.left_s)} left"
            bars.update(task, description=title, completed=outlook.share, left=left, numbers=numbers)

        def begin(cell: "Cell") -> Watch:
            show(cell.title, "")
            return lambda progress: show(cell.title, _numbers(progress))

        yield begin


def _bars(left: "ProgressColumn", whole_s: float) -> "RichProgress":
    """Return a bar, the time left, numbers and a title, in one line."""
    from rich.progress import BarColumn, TextColumn

    columns = (BarColumn(bar_width=12), TextColumn("{task.percentage:>3.0f} %"), left)
    return _lines(columns, "{task.description}", hidden=whole_s < _SHOWN_FROM_S)


def _lines(columns: "Sequence[ProgressColumn]", title: str, *, hidden: bool = False) -> "RichProgress":
    """Return lines of these columns, numbers and a title; without a terminal they are not shown."""
    from rich.progress import Progress, TextColumn
    from rich.table import Column

    from tautochrone.answer.console import make_console

    console = make_console(stderr=True)
    # The title takes what the numbers leave; a narrow terminal cuts it first.
    rest_of_line = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    return Progress(
        *columns,
        TextColumn("{task.fields[numbers]}"),
        TextColumn(title, table_column=rest_of_line),
        console=console,
        transient=True,
        expand=True,
        disable=hidden or not console.is_terminal,
    )


def _numbers(progress: "CellProgress") -> str:
    if progress.worst_ns is None or progress.last_ns is None:
        return progress.waiting
    missed = f", missed {progress.missed:,}" if progress.missed else ""
    return f"now {format_duration(progress.last_ns)}, worst {format_duration(progress.worst_ns)}{missed}"


class FleetBars:
    """A line for each machine of a fleet; without a terminal, only what must be said."""

    def __init__(self, bars: "RichProgress", slots: Mapping[str, int]) -> None:
        """Begin with so many cases ahead of each machine."""
        self._bars = bars
        width = max(map(len, slots))
        self._tasks = {
            name: bars.add_task(name.ljust(width), total=count, numbers="", title="")
            for name, count in slots.items()
        }

    def show(self, name: str, done: int, title: str) -> None:
        """How many cases it has measured, and which one it measures; empty: none."""
        self._bars.update(self._tasks[name], completed=done, title=title, numbers="")

    def progress(self, name: str, progress: "CellProgress") -> None:
        """How far the case is."""
        self._bars.update(self._tasks[name], numbers=_numbers(progress))

    def say(self, words: str) -> None:
        """Above the lines, and where there are none, too."""
        self._bars.console.print(words, style="red", highlight=False, markup=False, soft_wrap=True)


@contextmanager
def watching_fleet(slots: Mapping[str, int]) -> Iterator[FleetBars]:
    """Show a line for each machine, on standard error.

    Args:
        slots: by the machine's name, how many cases it may measure.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=12), MofNCompleteColumn())
    with _lines(columns, "{task.fields[title]}") as bars:
        yield FleetBars(bars, slots)
