"""`tauto step` and `tauto watch`: what `tauto probe` does with the user's own code, and the headers for it.

`tauto step` also makes the search of `tauto check --code`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.words import suggestion
from tautochrone.cli.probe import verb_of_experiment
from tautochrone.command import completion
from tautochrone.experiments import EXPERIMENTS
from tautochrone.target.target import STEP, WATCH

_FOLDER = Path(__file__).parent.parent / "step"
_HEADER_OF_STEP = _FOLDER / "tautochrone_step.h"
_HEADERS_OF_LOOP = {
    one: _FOLDER / f"tautochrone_loop.{ending}"
    for one, ending in (("c", "h"), ("rust", "rs"), ("python", "py"))
}
_SEARCHES = ("rate", "instances")
_OF_A_SEARCH = ("misses", "within")
_KEPT = ("code", "rate", "period", "duration", "cpus", "policy", "priority", "blame")
_BESIDE = ("load", "on", "deployment", "as_json", "store")
"""Options of `tauto check`, which makes the search."""

_probe_step, _probe_watch = (verb_of_experiment(EXPERIMENTS[name]) for name in (STEP, WATCH))


def step(**typed: Any) -> None:
    """Measure as `tauto probe step` does, or search as `tauto check --code` does."""
    typed.pop("header", None)
    search = typed.pop("search")
    of_search = {name: typed.pop(name) for name in _OF_A_SEARCH}
    if search is not None:
        _find(search, of_search, typed)
    elif given := next((name for name, value in of_search.items() if value is not None), None):
        raise UsageError(f"--{given} is about a search", "Say --search rate as well.")
    else:
        _probe_step(**typed)


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


def watch(**typed: Any) -> None:
    """Measure as `tauto probe watch` does; the header was shown before."""
    typed.pop("header", None)
    program = typed.pop("program")
    if not program and typed["pid"] is None:
        raise UsageError(
            "no PROGRAM is named, and no --pid",
            "Write it last: tauto watch --rate 1kHz -- ./controller --gain 3.",
        )
    _probe_watch(**typed, program=shlex.join(program) if program else None)


def _show_header_of_step(asked: bool) -> None:
    if asked:
        typer.echo(_HEADER_OF_STEP.read_text(), nl=False)
        raise typer.Exit


def _show_header_of_loop(language: str | None) -> None:
    if language is None:
        return
    if language not in _HEADERS_OF_LOOP:
        raise UsageError(f"--header '{language}' is not known", suggestion(language, list(_HEADERS_OF_LOOP)))
    typer.echo(_HEADERS_OF_LOOP[language].read_text(), nl=False)
    raise typer.Exit


def _parameter(name: str, kind: Any, described: Any, default: object = None) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, described])


def _text(name: str, metavar: str, told: str, words: Sequence[str] = ()) -> Parameter:
    option = typer.Option(
        f"--{name}", metavar=metavar, help=told, autocompletion=completion.of(words) if words else None
    )
    return _parameter(name, str | None, option)


def _make(verb: Callable[..., None], parameters: Sequence[Parameter], help_text: str) -> None:
    """Give a verb the options that it has, and its help."""
    verb.__doc__ = help_text
    verb.__signature__ = signature(verb).replace(parameters=parameters)  # type: ignore[attr-defined]
    verb.__annotations__ = {one.name: one.annotation for one in parameters}


_header_of_step = typer.Option(
    "--header",
    callback=_show_header_of_step,
    is_eager=True,
    help="Print tautochrone_step.h, with which the code is written in C and C++.",
)
_example = "tauto step controller.so:controller --search rate --load cpu"
_make(
    step,
    [
        *signature(_probe_step).parameters.values(),
        _parameter("header", bool, _header_of_step, default=False),
        _text(
            "search",
            "rate|instances",
            "Find the highest rate that the code holds, or how many instances hold it.",
            _SEARCHES,
        ),
        _text("misses", "HOW-OFTEN", "Of a search: misses allowed at most: '1 per hour', '1 in 1e6', 0. [0]"),
        _text("within", "TIME", "Of a search: approximate time for all trials. [1min]"),
    ],
    (_probe_step.__doc__ or "")
    .replace(EXPERIMENTS[STEP].examples[-1], _example)
    .replace("tauto probe step", "tauto step"),
)

_program = typer.Argument(
    metavar="PROGRAM [ARGUMENTS]",
    help="The program, and all that follows it. [what --pid names]",
    show_default=False,
)
_header_of_loop = typer.Option(
    "--header",
    metavar="|".join(_HEADERS_OF_LOOP),
    callback=_show_header_of_loop,
    is_eager=True,
    autocompletion=completion.of(tuple(_HEADERS_OF_LOOP)),
    help="Print the file with which a program marks its loops, in C and C++, Rust or Python.",
)
_examples = """
Examples:
    tauto watch --rate 1kHz -- ./controller --gain 3
    tauto watch --rate 1kHz --pid 1234 --thread control
"""
_make(
    watch,
    [
        _parameter("program", list[str] | None, _program),
        *(one for one in signature(_probe_watch).parameters.values() if one.name != "program"),
        _parameter("header", str | None, _header_of_loop),
    ],
    (_probe_watch.__doc__ or "").partition("\nExamples:")[0] + _examples,
)
watch.context_settings = {"allow_interspersed_args": False}  # type: ignore[attr-defined]
