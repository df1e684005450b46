"""`tauto step`: what `tauto probe step` does, the search for a rate, and the header to write code with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from tautochrone.base.errors import UsageError
from tautochrone.cli.probe import verb_of_experiment
from tautochrone.command import completion
from tautochrone.experiments import EXPERIMENTS
from tautochrone.target.target import STEP

_HEADER = Path(__file__).parent.parent / "step" / "tautochrone_step.h"


def _show_header(asked: bool) -> None:
    if asked:
        typer.echo(_HEADER.read_text(), nl=False)
        raise typer.Exit


_SEARCHES = ("rate", "instances")
_OF_A_SEARCH = ("misses", "within")
_KEPT = ("code", "rate", "period", "duration", "cpus", "policy", "priority", "blame")
_BESIDE = ("load", "on", "deployment", "as_json", "store")
"""Options of `tauto check`, which makes the search."""


def verb(**typed: Any) -> None:
    """Measure as `tauto probe step` does, or search as `tauto check --code` does."""
    typed.pop("header", None)
    search = typed.pop("search")
    of_search = {name: typed.pop(name) for name in _OF_A_SEARCH}
    if search is not None:
        _find(search, of_search, typed)
    elif given := next((name for name, value in of_search.items() if value is not None), None):
        raise UsageError(f"--{given} is about a search", "Say --search rate as well.")
    else:
        _of_probe(**typed)


def _find(search: str, of_search: Mapping[str, Any], typed: Mapping[str, Any]) -> None:
    from tautochrone.check.verb import check
    from tautochrone.command.options import one_of

    one_of("--search", search, _SEARCHES)
    others = (name for name, value in typed.items() if value not in (None, False))
    if other := next((name for name in others if name not in (*_KEPT, *_BESIDE, "yes")), None):
        raise UsageError(
            f"--{other.replace('_', '-')} is about one run, and a search makes several", "Leave it out."
        )
    passed = {name: typed[name] for name in (*_KEPT, *_BESIDE)} | dict(of_search)
    if passed["rate"] is None and passed["period"] is None:
        passed["period"] = EXPERIMENTS[STEP].table["period"].default
    check(search=search, **passed)


def _text(name: str, metavar: str, told: str, words: Sequence[str] = ()) -> Parameter:
    option = typer.Option(
        f"--{name}", metavar=metavar, help=told, autocompletion=completion.of(words) if words else None
    )
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option])


_of_probe = verb_of_experiment(EXPERIMENTS[STEP])
_own = (
    Parameter(
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
    ),
    _text(
        "search",
        "rate|instances",
        "Find the highest rate that the code holds, or how many instances hold it.",
        _SEARCHES,
    ),
    _text("misses", "HOW-OFTEN", "Of a search: misses allowed at most: '1 per hour', '1 in 1e6', 0. [0]"),
    _text("within", "TIME", "Of a search: approximate time for all trials. [1min]"),
)
_parameters = [*signature(_of_probe).parameters.values(), *_own]
_example = "tauto step controller.so:controller --search rate --load cpu"
verb.__doc__ = (
    (_of_probe.__doc__ or "")
    .replace(EXPERIMENTS[STEP].examples[-1], _example)
    .replace("tauto probe step", "tauto step")
)
verb.__signature__ = signature(verb).replace(parameters=_parameters)  # type: ignore[attr-defined]
verb.__annotations__ = {one.name: one.annotation for one in _parameters}
