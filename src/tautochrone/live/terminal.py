"""The live view in a terminal, drawn anew as it changes; at a pipe plain lines, one for each step."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from tautochrone.answer.phrasing.looks import MINUTES_A_DAY, limits_a_day
from tautochrone.base.units import format_duration
from tautochrone.base.words import plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tautochrone.live.picture import Gathering, Totals

_BARS = " ▁▂▃▄▅▆▇█"
_SHOWN_LATE, _SHOWN_SOURCES = 5, 16


def plain_line(gathering: Gathering) -> str:
    """Return how it stands in one line, for a pipe or a log."""
    every, newest = gathering.totals.values(), gathering.newest_s
    released, bad = sum(one.released for one in every), _bad(gathering)
    at = "N/A" if newest is None else f"{_instant(newest):%Y-%m-%d %H:%M:%S}"
    now = gathering.course[-1].worst_ns if gathering.course else None
    parts = [
        at, gathering.state, f"now {_time(now)}", f"worst {_time(_worst(gathering))}",
        f"late or missed {bad:,} of {released:,}",
    ]  # fmt: skip
    return "  ".join([*parts, gathering.until] if gathering.until else parts)


def screen(gathering: Gathering, width: int) -> RenderableType:
    """Return what is drawn."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    about = gathering.about
    bad = _bad(gathering)
    head = Text(f"{about.title or about.run}", style="bold")
    head.append(f"  {gathering.state}", style="dim")
    lines: list[RenderableType] = [
        head,
        Text(f"{about.run}  load: {about.load or 'idle'}{_warmth(gathering)}", style="dim"),
    ]
    told = Text(f"Worst {_time(_worst(gathering))}; late or missed ")
    told.append(f"{bad:,}", style="bold red" if bad else "")
    told.append(f" of {sum(one.released for one in gathering.totals.values()):,} cycles.")
    if events := gathering.events_per_day():
        begun, low, high = events
        rate = limits_a_day(low / MINUTES_A_DAY, high / MINUTES_A_DAY)
        told.append(f" {plural(begun, 'late event')}, {rate} a day (95 %, at any time).")
    lines.append(told)
    if gathering.until:
        lines.append(Text(gathering.until))
    lines.append(Text(_course(gathering, max(10, width - 2))))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", "released", "missed", "late", "now", "worst"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    names = {one.number: one.name for one in about.sources}
    worst_first = sorted(gathering.totals.items(), key=lambda one: -(one[1].worst_ns or 0))
    for number, one in sorted(worst_first[:_SHOWN_SOURCES]):
        table.add_row(names.get(number, str(number)), *_cells(one))
    if len(worst_first) > _SHOWN_SOURCES:
        table.add_row(f"and {len(worst_first) - _SHOWN_SOURCES} more")
    lines.append(table)
    for _, late in list(gathering.late)[-_SHOWN_LATE:][::-1]:
        where = names.get(late.source, str(late.source))
        cause = f"  {late.cause}" if late.cause else ""
        lines.append(
            Text(
                f"late {_instant(late.at_s):%H:%M:%S}  {where}  {_time(late.latency_ns)}{cause}", style="red"
            )
        )
    return Group(*lines)


def _cells(one: Totals) -> list[str]:
    counts = [f"{one.released:,}", f"{one.missed:,}", f"{one.late:,}"]
    return [*counts, _time(one.now_ns), _time(one.worst_ns)]


def _course(gathering: Gathering, width: int) -> str:
    """Return the worst of the last steps as bars, over the logarithm of the times."""
    from math import log

    worst = [one.worst_ns for one in gathering.course if one.worst_ns is not None and one.worst_ns > 0][
        -width:
    ]
    if not worst:
        return ""
    least, span = log(min(worst)), max(log(max(worst)) - log(min(worst)), 1e-9)
    return "".join(_BARS[1 + int((log(one) - least) / span * (len(_BARS) - 2))] for one in worst)


def _warmth(gathering: Gathering) -> str:
    parts = [] if gathering.temperature_c is None else [f"{gathering.temperature_c:.0f} °C"]
    if khz := gathering.frequency_khz.values():
        parts.append(f"{min(khz) // 1000:,} to {max(khz) // 1000:,} MHz")
    return "".join(f"  {one}" for one in parts)


def _bad(gathering: Gathering) -> int:
    return sum(one.late + one.missed for one in gathering.totals.values())


def _worst(gathering: Gathering) -> int | None:
    return max((one.worst_ns for one in gathering.totals.values() if one.worst_ns is not None), default=None)


def _time(ns: int | None) -> str:
    return "N/A" if ns is None else format_duration(ns)


def _instant(unix_s: float) -> datetime:
    return datetime.fromtimestamp(unix_s).astimezone()
