"""Verbs whose options derive from the entry of an experiment, and what a person typed after one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import Parameter, Signature
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tautochrone.command import completion
from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.lab_needs import YesOption
from tautochrone.command.options import (
    AgainOption,
    JsonOption,
    OpenReportOption,
    ReportOption,
    StoreOption,
    TitleOption,
)
from tautochrone.experiments.option import Given, Option, see_values, unified

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from tautochrone.base.options import Options, Value
    from tautochrone.measure.document.document import PlanDocument

_TYPES: dict[str, object] = {
    "flag": bool,
    "count": int | None,
    "file": Path | None,
    "texts": list[str] | None,
}
"""What a value is read as; all others are texts, which the probe or the lab reads."""

_COMMON: dict[str, tuple[object, object]] = {
    "load": (Loads, None),
    "on": (On, None),
    "deployment": (DeploymentName, None),
    "title": (TitleOption, None),
    "again": (AgainOption, False),
    "dry_run": (
        Annotated[
            bool, typer.Option("--dry-run", help="Show the cases and how long they take; measure nothing.")
        ],
        False,
    ),
    "as_json": (JsonOption, False),
    "out": (ReportOption, None),
    "open_it": (OpenReportOption, False),
    "yes": (YesOption, False),
    "store": (StoreOption, None),
}
"""What verbs take beside the options of an experiment, in the order of help."""

OF_PROBE = frozenset(_COMMON) - {"again", "dry_run", "out", "open_it"}
OF_GRID = frozenset(_COMMON) - {"title"}

SEED = Option("seed", "count", "Seed of the random order, to repeat an order.", taker="verb")
QUICK = "quick"


def repetitions(usual: int) -> Option:
    """Return the option that says how often each case is measured."""
    return Option("repetitions", "count", "Number of times each case is measured.", str(usual), taker="verb")


def several(option: Option, forms: str = "", usual: str = "", metavar: str = "LIST") -> Option:
    """Return the option of a verb that measures several values of it.

    Args:
        forms: how they may be written, as a whole phrase; empty: the choices are listed.
        usual: what is measured where none is given; empty: as the entry has it.
    """
    told = forms or f"Some of {', '.join(option.choices)}."
    return replace(
        option, kind="text", help=f"{option.help} {told}", metavar=metavar, default=usual or option.default
    )


def quick(values: Options, more: str = "") -> Option:
    """Return the option `--quick`, which stands for other values.

    Args:
        more: what is to be known beside the values, as a whole phrase.
    """
    told = " ".join(f"--{name} {value}" for name, value in values.items())
    return Option(QUICK, "flag", f"Short for {told}.{more and ' '}{more}", taker="verb")


@dataclass(frozen=True)
class Typed:
    """What a person typed after a verb.

    Attributes:
        options: of the experiment and of the verb; what is not given is read as the verb's default.
        beside: what stands around the measurement.
    """

    options: Given
    beside: Beside
    title: str | None = None
    again: bool = False
    dry_run: bool = False
    as_json: bool = False
    out: Path | None = None
    open_it: bool = False
    store: Path | None = None


def planned(document: PlanDocument, given: Given) -> PlanDocument:
    """Return the plan with the repetitions and the seed that were typed."""
    from tautochrone.measure.campaign.agenda import with_options

    seed = given.count(SEED.name) if SEED.name in given else None
    return with_options(document, given.count("repetitions"), seed)


def verb_of(
    options: Sequence[Option],
    common: AbstractSet[str],
    do: Callable[[Typed], None],
    quickly: Options | None = None,
) -> Callable[..., None]:
    """Return the function of a verb, with the signature that its options make.

    Args:
        options: in the order of help.
        common: what it takes beside them, of `OF_PROBE` and `OF_GRID`.
        do: does what was asked for, and its docstring is the verb's help.
        quickly: the defaults that `--quick` puts in the place of the usual ones.
    """

    def verb(**typed: Any) -> None:
        own: Options = {
            one.name: _as_value(value)
            for one in options
            if (value := typed.pop(_identifier(one))) is not None and value is not False and value != []
        }
        usual = (quickly or {}) if QUICK in own else {}
        table = {
            one.name: replace(one, default=str(usual[one.name])) if one.name in usual else one
            for one in options
        }
        own = unified(own, table)
        see_values(own, table)
        beside = Beside(typed.pop("load"), typed.pop("on"), typed.pop("deployment"), yes=typed.pop("yes"))
        do(Typed(Given(own, table), beside, **typed))

    parameters = [
        *_parameters(options),
        *(
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, (annotation, default) in _COMMON.items()
            if name in common
        ),
    ]
    verb.__doc__ = do.__doc__
    verb.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    verb.__annotations__ = {one.name: one.annotation for one in parameters}
    return verb


def _as_value(typed: Any) -> Value:
    """Return what was typed as plans have it."""
    if isinstance(typed, list):
        return ",".join(typed)
    return str(typed) if isinstance(typed, Path) else typed


def _parameters(options: Sequence[Option]) -> Iterator[Parameter]:
    """Yield what a person is asked for first stands first."""
    for one in sorted(options, key=lambda option: not option.positional):
        read_as = _TYPES.get(one.kind, str | None)
        default: object = False if one.kind == "flag" else None
        if one.positional:
            described: object = typer.Argument(metavar=one.stands_for, help=one.told, show_default=False)
            read_as, default = (Path if one.kind == "file" else str), Parameter.empty
            if one.default:  # something else may take its place
                read_as, default = str | None, None
        else:
            is_pair = one.kind == "flag" and one.metavar
            described = typer.Option(
                f"--{one.name}/--{one.metavar}" if is_pair else f"--{one.name}",
                metavar=None if is_pair else one.stands_for or None,
                help=one.told,
                autocompletion=completion.of(one.choices) if one.choices else None,
            )
        yield Parameter(
            _identifier(one),
            Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[read_as, described],
        )


def _identifier(option: Option) -> str:
    name = option.name.replace("-", "_")
    return f"{name}_" if iskeyword(name) else name
