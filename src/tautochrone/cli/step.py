"""`tauto step`: what `tauto probe step` does, and the header that code is written with."""

from __future__ import annotations

from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from tautochrone.cli.probe import verb_of_experiment
from tautochrone.experiments import EXPERIMENTS
from tautochrone.target.target import STEP

_HEADER = Path(__file__).parent.parent / "step" / "tautochrone_step.h"


def _show_header(asked: bool) -> None:
    if asked:
        typer.echo(_HEADER.read_text(), nl=False)
        raise typer.Exit


def verb(**typed: Any) -> None:
    """Measure as `tauto probe step` does; the header was asked for before."""
    typed.pop("header", None)
    _of_probe(**typed)


_of_probe = verb_of_experiment(EXPERIMENTS[STEP])
_header = Parameter(
    "header",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--header",
            callback=_show_header,
            is_eager=True,
            help="Print tautochrone_step.h, with which the code is written in C and C++.",
        ),
    ],
)
_parameters = [*signature(_of_probe).parameters.values(), _header]
verb.__doc__ = (_of_probe.__doc__ or "").replace("tauto probe step", "tauto step")
verb.__signature__ = signature(verb).replace(parameters=_parameters)  # type: ignore[attr-defined]
verb.__annotations__ = {one.name: one.annotation for one in _parameters}
