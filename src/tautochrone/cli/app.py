"""The command `tauto`: its verbs.

The verbs' modules import nothing heavy before they are called, so that `tauto --help` answers at once.
"""

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tautochrone.analyse.verb import analyse
from tautochrone.base.errors import UsageError
from tautochrone.check.verb import check
from tautochrone.cli import lab, middleware, probe, tire
from tautochrone.cli.export import export
from tautochrone.cli.figure import figure
from tautochrone.cli.list import list_runs
from tautochrone.cli.load import load
from tautochrone.cli.plan_samples import plan_samples
from tautochrone.cli.recover import recover
from tautochrone.cli.report import report
from tautochrone.cli.tail import tail
from tautochrone.command.answer import answer
from tautochrone.command.ending import run_to_exit_code
from tautochrone.command.forgotten import forgotten_deployment
from tautochrone.command.options import StoreOption
from tautochrone.command.show import show
from tautochrone.comparison.verb import compare
from tautochrone.deploy.verb import deploy
from tautochrone.doctor.verb import doctor
from tautochrone.first.verb import run
from tautochrone.papers.verb import reproduce
from tautochrone.selection.verb import select
from tautochrone.trend.verb import trend

_EXIT_CODES = (
    "Exit codes: 0 done, 1 failed while measuring, 2 usage, or a machine that can't be reached, "
    "3 not permitted, 4 store or output, 5 damaged, "
    "6 found: a requirement that does not hold, --fail-on, analyse --fail, 7 a requirement that is not "
    "shown, 70 a fault in tauto, 130 stopped by Ctrl-C, 141 nobody reads the output."
)

_SEES_FOR_ITSELF = ("deploy",)  # shows a deployment that is in force

_OUTPUTS = ("--out", "-o", "--junit", "--markdown", "--bins", "--figure")

_NUMBERS = {"int": "a whole number", "float": "a number"}


class _Root(TyperGroup):
    """The root of all verbs, which says what is wrong with a value in the words of this program."""

    def invoke(self, ctx: Any) -> Any:
        """Invoke the verb; one that needs a number and gets none is told so."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as refusal:
            if isinstance(refusal.__cause__, ValueError) and hasattr(refusal.__cause__, "errors"):
                (first, *_) = refusal.__cause__.errors()
                if what := _NUMBERS.get(str(first["type"]).partition("_")[0]):
                    refusal.message = f"'{first['input']}' is not {what}."
            raise


app = typer.Typer(
    name="tauto",
    cls=_Root,
    epilog=_EXIT_CODES,
    rich_markup_mode=None,  # plain help: drawing boxes costs more than the 0.3 s that help may take
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"tauto {version('tautochrone')}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    store: StoreOption = None,
    version: Annotated[  # noqa: ARG001 - its callback answers
        bool, typer.Option("--version", "-V", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Tell whether this machine keeps a real-time control loop's deadlines.

    Without a verb, tauto measures this machine for about a minute and shows a verdict and a report.
    """
    _use_store(store)
    if context.invoked_subcommand not in _SEES_FOR_ITSELF and (line := forgotten_deployment()):
        typer.echo(line, err=True)


def _use_store(store: StoreOption = None) -> None:
    if store is not None:
        os.environ["TAUTO_STORE"] = str(store)


# In the order of help, which puts groups of verbs last.
app.command("answer")(answer)
app.command("check")(check)
app.command("run")(run)
app.command("reproduce")(reproduce)
app.command("list")(list_runs)
app.command("show")(show)
app.command("tail")(tail)
app.command("plan-samples")(plan_samples)
app.command("report")(report)
app.command("compare")(compare)
app.command("select")(select)
app.command("trend")(trend)
app.command("figure")(figure)
app.command("export")(export)
app.command("recover")(recover)
app.command("doctor")(doctor)
app.command("analyse")(analyse)
app.add_typer(probe.app, name="probe", callback=_use_store)
app.add_typer(tire.app, name="tire", callback=_use_store)
app.add_typer(middleware.app, name="middleware", callback=_use_store)
app.add_typer(lab.app, name="lab", callback=_use_store)
app.add_typer(load, name="load")
app.add_typer(deploy, name="deploy")


def with_verb(arguments: list[str]) -> list[str]:
    """Put in the verb `answer` where none is given, so that its options work without naming it."""
    at = 0
    while at < len(arguments) and arguments[at].partition("=")[0] == "--store":
        at += 1 if "=" in arguments[at] else 2
    if at > len(arguments):
        return arguments  # a lone --store: typer says what is missing
    of_root = {"-h", "--help", "--version", "-V", "--install-completion", "--show-completion"}
    if at < len(arguments) and (arguments[at] in of_root or not arguments[at].startswith("-")):
        return arguments
    return [*arguments[:at], "answer", *arguments[at:]]


def _see_outputs_named(arguments: list[str]) -> None:
    """Refuse an output without a name, such as ``--out "$UNSET"``, which would be the current folder."""
    for word, following in zip(arguments, [*arguments[1:], None], strict=True):
        if word == "--":
            return
        option, assigned, value = word.partition("=")
        if option in _OUTPUTS and (value if assigned else following) == "":
            raise UsageError(f"{option} needs a name: an empty one was given", "Name it, or leave it out.")


def _run(arguments: list[str]) -> None:
    _see_outputs_named(arguments)
    try:
        app(args=arguments, prog_name="tauto")
    except SystemExit as end:
        if end.code == UsageError.exit_code and (meant := _meant(arguments)):
            typer.echo(f"Did you mean {' or '.join(meant)}?", err=True)
        raise


def _meant(arguments: list[str]) -> list[str]:
    """The verbs of groups that are called like the first word; none where it is a verb, or an option."""
    word = next((one for one in arguments if not one.startswith("-")), "")
    verbs = {one.name for one in app.registered_commands} | {one.name for one in app.registered_groups}
    if word in verbs:
        return []
    return [
        f"tauto {name} {word}"
        for name, group in typer.main.get_group(app).commands.items()
        if isinstance(group, TyperGroup) and word in group.list_commands(typer.Context(group))
    ]


def main() -> None:
    """Run `tauto` with this process's arguments, and end the process."""
    arguments = with_verb(sys.argv[1:])
    sys.exit(run_to_exit_code(lambda: _run(arguments)))
