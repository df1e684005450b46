"""`tauto probe clock`: the ruler."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import Count, NoMemoryLock, Record, Title, measure


def verb(
    clocks: Annotated[str | None, typer.Option(help="Names, joined by commas. [all]")] = None,
    count: Count = None,
    record: Record = None,
    no_memory_lock: NoMemoryLock = False,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Cost and resolution of each clock of this system."""
    given = {
        "clocks": clocks,
        "count": count,
        "record": record,
        "no-memory-lock": no_memory_lock,
    }
    measure("clock", given, title, Beside(load, on, deployment), store, as_json)
