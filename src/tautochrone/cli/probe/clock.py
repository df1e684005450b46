"""`tauto probe clock`: the ruler."""

from typing import Annotated

import typer

from tautochrone.cli.options import JsonOption, StoreOption
from tautochrone.cli.probe.common import Count, NoMemoryLock, Record, Title, arguments, measure


def verb(
    clocks: Annotated[str | None, typer.Option(help="Names, joined by commas. [all]")] = None,
    count: Count = None,
    record: Record = None,
    no_memory_lock: NoMemoryLock = False,
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Cost and resolution of each clock of this system."""
    given = {"--clocks": clocks, "--count": count, "--record": record}
    measure("clock", arguments(given, no_memory_lock), title or "clocks", "idle", None, store, as_json)
