"""`tauto watch`: what `tauto probe watch` does with a program, and what its loops are marked with."""

from __future__ import annotations

import shlex
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.words import suggestion
from tautochrone.cli.probe import verb_of_experiment
from tautochrone.command import completion
from tautochrone.experiments import EXPERIMENTS
from tautochrone.target.target import WATCH

_HEADERS = {
    one: Path(__file__).parent.parent / "step" / f"tautochrone_loop.{ending}"
    for one, ending in (("c", "h"), ("rust", "rs"), ("python", "py"))
}
_EXAMPLES = """
Examples:
    tauto watch --rate 1kHz -- ./controller --gain 3
    tauto watch --rate 1kHz --pid 1234 --thread control
"""


def _show_header(language: str | None) -> None:
    if language is None:
        return
    if language not in _HEADERS:
        raise UsageError(f"--header '{language}' is not known", suggestion(language, list(_HEADERS)))
    typer.echo(_HEADERS[language].read_text(), nl=False)
    raise typer.Exit


def verb(**typed: Any) -> None:
    """Measure as `tauto probe watch` does; the header was shown before."""
    typed.pop("header", None)
    program = typed.pop("program")
    if not program and typed["pid"] is None:
        raise UsageError(
            "no PROGRAM is named, and no --pid",
            "Write it last: tauto watch --rate 1kHz -- ./controller --gain 3.",
        )
    _of_probe(**typed, program=shlex.join(program) if program else None)


_of_probe = verb_of_experiment(EXPERIMENTS[WATCH])
_program = Parameter(
    "program",
    Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROGRAM [ARGUMENTS]",
            help="The program, and all that follows it. [what --pid names]",
            show_default=False,
        ),
    ],
)
_header = Parameter(
    "header",
    Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        str | None,
        typer.Option(
            "--header",
            metavar="|".join(_HEADERS),
            callback=_show_header,
            is_eager=True,
            autocompletion=completion.of(tuple(_HEADERS)),
            help="Print the file with which a program marks its loops, in C and C++, Rust or Python.",
        ),
    ],
)
_others = [one for one in signature(_of_probe).parameters.values() if one.name != "program"]
_parameters = [_program, *_others, _header]
verb.__doc__ = (_of_probe.__doc__ or "").partition("\nExamples:")[0] + _EXAMPLES
verb.__signature__ = signature(verb).replace(parameters=_parameters)  # type: ignore[attr-defined]
verb.__annotations__ = {one.name: one.annotation for one in _parameters}
verb.context_settings = {"allow_interspersed_args": False}  # type: ignore[attr-defined]
