"""Deployments as a terminal shows them."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tautochrone.machine.deployment import Deployment
from tautochrone.machine.deployment.apply import KnobSetting, Prospect
from tautochrone.run.conditions import Obtained

_STYLES = {
    "yes": "green",
    "in part": "yellow",
    "no": "red",
    "as it is": "green",
    "run time": "green",
    "at boot": "yellow",
    "can't": "red",
}
_WHOLE = ("setting", "name", "here", "how")  # columns of short words, which are never broken


def deployment_list(prospects: Iterable[Prospect]) -> Sequence[RenderableType]:
    """Return which deployments a machine can have."""
    table = _table("name", "here", "what", "remark")
    origins: dict[str, list[str]] = {}
    for one in prospects:
        table.add_row(Text(one.name, style="bold"), _styled(one.can), Text(one.title), Text(one.reason))
        if one.origin:
            origins.setdefault(one.origin, []).append(one.name)
    sources = "\n".join(f"{', '.join(names)}: {origin}" for origin, names in origins.items())
    return table, Text(f"\n{sources}", style="dim"), Text("One in full: tauto deploy show NAME")


def settings_table(
    deployment: Deployment | None, rows: Sequence[KnobSetting], on: str | None = None
) -> Sequence[RenderableType]:
    """Return all settings; with a deployment, what it asks for, what stays, and what does the same by hand.

    What is typed by hand stands below the table, on lines of its own, so that it can be copied.

    Args:
        on: the machine, as --on has it.
    """
    if deployment is None:
        table = _table("setting", "now", "what it is, and its values")
        for row in rows:
            table.add_row(Text(row.knob, style="bold"), _value(row.now), Text(row.summary))
        return (table,)
    asked = [row for row in rows if row.wanted is not None]
    why = any(row.reason for row in asked)
    table = _table("setting", "now", "wanted", "how", *(["why"] if why else []))
    for row in asked:
        words = [Text(row.reason)] if why else []
        table.add_row(
            Text(row.knob, style="bold"), _value(row.now), Text(row.wanted or ""), _styled(row.how), *words
        )
    origin = f"  ({deployment.origin})" if deployment.origin else ""
    heading = Text.assemble((deployment.name, "bold"), f"  {deployment.title}{origin}")
    places = (
        f"Measuring threads on CPU {deployment.measure or 'as each experiment chooses'}, "
        f"loads on CPU {deployment.load or 'as they like'}"
    )
    named = deployment.origin if deployment.origin.endswith(".toml") else deployment.name
    closing = (
        f"\nTo measure under it: tauto probe cyclic --deployment {named}{_on(on)}"
        f"\nTo leave it in force: tauto deploy apply {named}{_on(on)}"
    )
    return heading, Text(places), Text(), table, *_stays(rows), *_by_hand(asked), Text(closing)


def _stays(rows: Iterable[KnobSetting]) -> Iterator[Text]:
    left = ", ".join(f"{row.knob} {row.now or 'N/A'}" for row in rows if row.wanted is None)
    if left:
        yield Text(f"\nStays as it is: {left}", style="dim")


def _by_hand(rows: Sequence[KnobSetting]) -> Iterator[Text]:
    """By hand nothing is put back: that is what a deployment is for."""
    for heading, words in (
        ("By hand, until the next boot", {row.knob: row.now_type for row in rows if row.now_type}),
        ("At boot, for good", {row.knob: row.at_boot for row in rows if row.at_boot}),
    ):
        if words:
            yield Text(f"\n{heading}", style="bold")
        yield from (Text(f"{knob}: {typed}") for knob, typed in words.items())


def outcome_table(
    deployment: Deployment, obtained: Iterable[Obtained], on: str | None = None
) -> Sequence[RenderableType]:
    """Return what came of applying one."""
    obtained = tuple(obtained)
    why = any(one.reason for one in obtained)
    table = _table("setting", "before", "asked for", "obtained", *(["why not"] if why else []))
    for one in obtained:
        table.add_row(
            Text(one.knob, style="bold"),
            _value(one.before),
            Text(one.requested or ""),
            Text(one.obtained or "N/A", style="yellow" if one.reason else "green"),
            *([Text(one.reason)] if why else []),
        )
    closing = f"\n{deployment.name} is in force. To put everything back: tauto deploy restore{_on(on)}"
    return table, Text(closing)


def _on(machine: str | None) -> str:
    return f" --on {machine}" if machine else ""


def _value(text: str | None) -> Text:
    return Text(text) if text else Text("N/A", style="dim")


def _styled(word: str) -> Text:
    return Text(word, style=_STYLES.get(word, ""))


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name in _WHOLE)
    return table
