"""`tauto probe EXPERIMENT`: run one experiment and store it. Each verb is made of the experiment's entry."""

from __future__ import annotations

from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from tautochrone.cli.probe import all as every
from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption, TitleOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tautochrone.experiments import Experiment, Option

_TYPES: dict[str, Any] = {"flag": bool, "count": int | None, "file": Path | None}
"""What a value is read as; all others are texts, which the probe reads."""

_COMMON: dict[str, tuple[Any, object]] = {
    "load": (Loads, None),
    "on": (On, None),
    "deployment": (DeploymentName, None),
    "title": (TitleOption, None),
    "as_json": (JsonOption, False),
    "store": (StoreOption, None),
}
"""What every verb takes beside the options of its experiment."""


class _Experiments(TyperGroup):
    """The verbs, which are made when somebody asks for one of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names in the order of help."""
        self._make()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return one of them."""
        self._make()
        return super().get_command(ctx, cmd_name)

    def _make(self) -> None:
        if not self.commands:
            self.commands.update(get_group(_verbs()).commands)


app = typer.Typer(
    help="Run one experiment on this machine and store it.",
    no_args_is_help=True,
    rich_markup_mode=None,
    cls=_Experiments,
)


def _verbs() -> typer.Typer:
    from tautochrone.experiments import EXPERIMENTS

    verbs = typer.Typer(rich_markup_mode=None)
    for experiment in EXPERIMENTS.values():
        if experiment.has_verb:
            verbs.command(experiment.name, short_help=experiment.summary, help=experiment.help)(
                _verb(experiment)
            )
    verbs.command("all", short_help="Every experiment once, one report.")(every.verb)
    return verbs


def _verb(experiment: Experiment) -> Callable[..., None]:
    """The function that measures this experiment, with the signature that its options make."""

    def verb(**typed: Any) -> None:
        from tautochrone.cli.probe.particular import PARTICULAR
        from tautochrone.command.probe import Asked, measure

        asked = Asked(
            experiment,
            {
                one.name: str(value) if one.kind == "file" else value
                for one in experiment.options
                if one.in_verb and (value := typed[_identifier(one)]) is not None and value is not False
            },
            typed["title"],
            Beside(typed["load"], typed["on"], typed["deployment"]),
            typed["store"],
            typed["as_json"],
        )
        PARTICULAR.get(experiment.name, measure)(asked)

    parameters = [*_own(experiment), *_common()]
    verb.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    verb.__annotations__ = {one.name: one.annotation for one in parameters}
    return verb


def _own(experiment: Experiment) -> Iterator[Parameter]:
    """What a person is asked for first stands first."""
    shown = [one for one in experiment.options if one.in_verb]
    for one in sorted(shown, key=lambda option: not option.positional):
        read_as = _TYPES.get(one.kind, str | None)
        default: object = False if one.kind == "flag" else None
        if one.positional:
            described: Any = typer.Argument(metavar=one.stands_for, help=one.told, show_default=False)
            read_as, default = (Path if one.kind == "file" else str), Parameter.empty
        else:
            described = typer.Option(
                f"--{one.name}",
                metavar=one.stands_for or None,
                help=one.told,
                autocompletion=_completion(one),
            )
        yield Parameter(
            _identifier(one),
            Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[read_as, described],
        )


def _common() -> Iterator[Parameter]:
    for name, (annotation, default) in _COMMON.items():
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _identifier(option: Option) -> str:
    return option.name.replace("-", "_")


def _completion(option: Option) -> Callable[[str], list[str]] | None:
    """What completes a value that is one of several."""
    if not option.choices:
        return None

    def completed(incomplete: str) -> list[str]:
        return [one for one in option.choices if one.startswith(incomplete)]

    return completed
