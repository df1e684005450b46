"""Groups whose verbs are imported when one of them is asked for, so that `tauto --help` answers at once."""

from __future__ import annotations

import os
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar

import typer
from typer.core import TyperGroup

from tautochrone.base.errors import UsageError
from tautochrone.base.words import near, printable
from tautochrone.command.options import StoreOption

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rows = Mapping[str, tuple["str | Callable[..., None]", str]]
    """By the name of a verb: its function, or ``module:name`` of it or of a group; and its line in help."""

_EXAMPLES = "\nExamples:\n"
"""In the docstring of a verb: what follows is shown as it stands, each line a command."""


class LateGroup(TyperGroup):
    """A group that knows the names of its verbs, and imports one when it is asked for."""

    rows: ClassVar[Callable[[], Rows]]

    def __init__(self, **attributes: Any) -> None:
        """Keep the names; nothing is imported yet."""
        super().__init__(**attributes)
        self.found = type(self).rows()
        self.commands: dict[str, Any] = dict.fromkeys(self.found)

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of help."""
        return list(self.found)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - click's signature
        """Return the verb; None: there is none of this name."""
        if cmd_name in self.found and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _command(cmd_name, *self.found[cmd_name])
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is named; one that there is not is told with what was probably meant.

        Raises:
            UsageError: there is no such verb.
        """
        name = args[0]
        if ctx.resilient_parsing or name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        raise UsageError(
            f"{ctx.command_path} has no verb '{printable(name)}'",
            self.meant(ctx, name) or f"{ctx.command_path} -h lists its verbs.",
        )

    def meant(self, ctx: Any, name: str) -> str:
        """Return which verb was probably meant; empty: none is like it."""
        root = ctx.find_root()
        meant = near(name, self.found)
        if meant and name not in root.command.found:
            return f"Did you mean {ctx.command_path} {meant}?"
        return str(root.command.meant(root, name))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - click's signature
        """Write the verbs with what help says of each."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, said) for name, (_, said) in self.found.items()])


def _command(name: str, where: str | Callable[..., None], said: str) -> Any:
    found: Any = where
    if isinstance(where, str):
        module, _, attribute = where.partition(":")
        found = getattr(import_module(f"tautochrone.{module}"), attribute)
    if isinstance(found, typer.Typer):
        return typer.main.get_group(found)
    text, _, examples = cleandoc(found.__doc__ or "").partition(_EXAMPLES)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    # A line of \b alone keeps the lines below it as they are.
    epilog = f"\b\nExamples:\n{examples.rstrip()}" if examples else None
    settings = getattr(found, "context_settings", None)
    alone.command(name, short_help=said, help=text.rstrip(), epilog=epilog, context_settings=settings)(found)
    return typer.main.get_command(alone)


def use_store(store: StoreOption = None) -> None:
    """Take the store that is named before the verb."""
    if store is not None:
        os.environ["TAUTO_STORE"] = str(store)


def group(said: str, rows: Callable[[], Rows] | Rows, *, with_store: bool = True) -> typer.Typer:
    """Return a group of verbs.

    Args:
        with_store: `--store` may stand before the verb.
    """

    class Own(LateGroup):
        pass

    Own.rows = staticmethod(rows if callable(rows) else lambda: rows)
    return typer.Typer(
        help=said,
        no_args_is_help=True,
        rich_markup_mode=None,
        cls=Own,
        callback=use_store if with_store else None,
        subcommand_metavar="VERB [OPTIONS]",
    )
