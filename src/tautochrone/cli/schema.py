"""`tauto schema`: the JSON Schemas of what verbs answer under --json."""

from typing import Annotated

import typer


def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Name of the schema, as an answer has it under schema.name."),
    ] = None,
) -> None:
    """Print the JSON Schema of an answer; without a name, list the names.

    Examples:
        tauto schema show
    """
    import json

    from tautochrone.base.schemas import names, read

    if name is not None:
        typer.echo(json.dumps(read(name), indent=2, ensure_ascii=False))
        return
    for one in names():
        typer.echo(f"{one:<14} {read(one)['description']}")
