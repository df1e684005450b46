"""The command `tauto`: its verbs, in groups.

Verbs are imported when one of them is asked for (`group.py`), so that `tauto --help` answers at once.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.options import RENAMED_VERBS, renamed
from tautochrone.base.room import see_to_room
from tautochrone.base.words import near, printable
from tautochrone.cli.group import LateGroup, group, use_store
from tautochrone.command.ending import run_to_exit_code
from tautochrone.command.options import StoreOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tautochrone.cli.group import Rows

_EXIT_CODES = """\
Exit codes of tauto:
    0  done
    1  failed while measuring, or no memory
    2  usage, or a machine that can't be reached or that somebody else has
    3  not permitted
    4  store or output
    5  damaged
    6  found: a requirement that does not hold, --fail-on
    7  a requirement that is not shown
    8  your own code crashed, hung, or ended the run
   70  a fault in tauto
  130  stopped by Ctrl-C
  141  nobody reads the output
"""

_SEES_FOR_ITSELF = ("tune",)  # shows a deployment that is in force

_HELP = ("-h", "--help")
_OUTPUTS = ("--out", "-o", "--junit", "--markdown", "--bins", "--figure")

_NUMBERS = {"int": "a whole number", "float": "a number"}


def _below(said: str, rows: "Mapping[str, tuple[str, str]]", *, with_store: bool = True) -> tuple[Any, str]:
    return group(said, lambda: rows, with_store=with_store), said


_VERBS: "Rows" = {
    "answer": ("command.answer:answer", "Without a verb: measure for 40 s and tell a verdict."),
    "check": ("check.verb:check", "Tell whether a control loop holds rate and deadline."),
    "run": ("first.verb:run", "Carry out a plan: every case, then one report."),
    "reproduce": ("papers.verb:reproduce", "Measure a paper again: its numbers beside ours."),
    "list": ("cli.list:list_runs", "List the runs, newest first."),
    "show": ("command.show:show", "Show one run: latencies, conditions, warnings."),
    "tail": ("cli.tail:tail", "Estimate how often rare or unseen latencies occur."),
    "blame": ("blame.verb:blame", "Tell what made the cycles of a run late."),
    "bound": ("bound.verb:bound", "Say what a run shows of the bound on its latency."),
    "plan-samples": ("cli.tail:plan_samples", "Say how long to measure to show how rare a miss is."),
    "report": ("cli.report:report", "Write one HTML page about runs or a plan run."),
    "compare": ("comparison.verb:compare", "Compare runs, cases or plan runs with the first one."),
    "select": ("selection.verb:select", "Select among deployments, kernels or systems."),
    "trend": ("trend.verb:trend", "Show one number of the runs over time."),
    "figure": ("cli.figure:figure", "Draw one chart at publication size."),
    "export": ("cli.list:export", "Write one run as CSV, Parquet, JSON or Perfetto trace."),
    "pack": ("bundle.verb:pack", "Pack runs, plans and their report into one file."),
    "unpack": ("bundle.verb:unpack", "Unpack runs of others into the store."),
    "import": ("foreign.verb:import_files", "Import files of cyclictest, rtla and others as runs."),
    "recover": ("cli.list:recover", "Complete runs that were cut off."),
    "schema": ("cli.docs:schema", "Print the JSON Schema of an answer."),
    "doctor": ("doctor.verb:doctor", "Check a machine for settings that cost deadlines."),
    "docs": ("cli.docs:docs", "Show the documentation: a page, or a verb."),
    "analyse": ("analyse.verb:analyse", "Say whether a set of tasks meets its deadlines."),
    "step": ("cli.step:step", "Tell whether your own code ends its step in time."),
    "watch": ("cli.step:watch", "Tell whether your own program keeps its rate."),
    "soak": ("cli.soak:app", "Measure for hours to weeks, also while you are away."),
    "live": ("live.verb:verb", "Show a run while it is measured, also as a page."),
    "probe": ("cli.probe:app", "Run one experiment on this machine and store it."),
    "runs": _below(
        "Remove runs, tag them, write a note on one.",
        {
            "rm": ("cli.runs:remove", "Remove runs, or all runs of a plan run."),
            "tag": ("cli.runs:tag", "Tag a run; a tag is a name of the run."),
            "untag": ("cli.runs:untag", "Remove tags from a run."),
            "note": ("cli.runs:note", "Write a note on a run."),
        },
    ),
    "store": _below(
        "Bring the runs of several stores together.",
        {
            "merge": ("merging.verb:merge", "Bring the runs of other stores into this one."),
            "sync": ("merging.verb:sync", "Give this store and another the runs each lacks."),
        },
    ),
    "tire": _below(
        "Measure how large a simulated tire may be.",
        {
            "fast": ("tire.verbs:fast", "Time as fast as possible, over n and threads."),
            "map": ("tire.verbs:misses", "Missed deadlines over n and threads, hard and soft."),
            "limit": ("tire.limit_verb:verb", "The largest tire that meets every deadline."),
            "model": ("tire.verbs:model", "The model of the step's time, fitted and tried."),
            "view": ("tire.view_verb:verb", "See the tire fall, live, in the browser."),
        },
    ),
    "middleware": _below(
        "Measure calls over CORBA, DDS, ZeroMQ and sockets.",
        {
            "throughput": ("middleware.verbs:throughput", "Operations per second, by type and length."),
            "latency": ("middleware.verbs:latency", "A high-priority client beside n lower ones."),
            "footprint": ("middleware.verbs:footprint", "What library, program and server need."),
        },
    ),
    "lab": _below(
        "Boot real kernels in QEMU, repeatable to the bit.",
        {
            "kernels": ("virtual_lab.verbs:kernels", "The kernels that guests can be booted with."),
            "fetch": ("virtual_lab.verbs:fetch", "Fetch kernels, Debian's or your own, and QEMU."),
            "forget": ("virtual_lab.verbs:forget", "Remove what was fetched for virtual machines."),
            "matrix": ("virtual_lab.verbs:matrix", "Kernels, deployments and loads, side by side."),
            "diff": ("lab_diff.verb:verb", "Where two machines first differ under a load, and why."),
        },
    ),
    "load": _below(
        "Show the background loads, and try one.",
        {
            "list": ("cli.load:list_loads", "List the loads, what they do and their options."),
            "try": ("cli.load:try_load", "Run a load for some seconds and show what it did."),
        },
        with_store=False,
    ),
    "tune": _below(
        "Show, apply and put back settings of the CPUs.",
        {
            "list": ("tune.verb:list_deployments", "List them, and which ones this machine can have."),
            "show": ("tune.verb:show", "Show every setting, and what a deployment asks for."),
            "apply": ("tune.verb:apply", "Apply one and leave it in force. Needs root."),
            "restore": ("tune.verb:restore", "Put back what was applied, or left by a kill."),
        },
        with_store=False,
    ),
}

_GROUPS = {
    "Measure": ("answer", "check", "step", "watch", "probe", "soak", "run", "live", "load"),
    "Judge": ("show", "tail", "plan-samples", "analyse"),
    "Compare": ("compare", "select", "trend"),
    "Explain": ("blame", "bound", "doctor", "docs"),
    "Share": ("list", "runs", "report", "figure", "export", "schema", "import", "pack", "unpack", "store"),
    "Machine": ("tune", "lab", "recover"),
    "Research": ("reproduce", "tire", "middleware"),
}
"""The groups of the help, in its order; a verb that stands in none is of the last."""

_TOLD_WITH = {"unpack": ("pack", "Pack runs and their report into one file; unpack one.")}
"""Verbs that share a line of the first help with the one before, and what that line says."""

_REFUSAL: Any = typer.BadParameter.__mro__[1]
"""What is wrong with the words of a command: a class that typer keeps to itself."""

_MOST_VERBS = 3
"""That are named for an option."""


def _options(verb: Any) -> list[str]:
    return [name for one in verb.params for name in one.opts if name.startswith("-")]


_ABOUT = """\
Usage: tauto [--store FOLDER] [VERB] [OPTIONS]
Tell whether this machine keeps the deadlines of a real-time control loop.
"""

_BELOW = """\
--store FOLDER    Where the runs are. [TAUTO_STORE, else your data folder]
tauto help VERB; tauto help exit-codes; tauto --version; --install-completion
"""


class _Root(LateGroup):
    """The root of all verbs, which says what is wrong with a value in the words of this program."""

    rows = staticmethod(lambda: _VERBS)

    def invoke(self, ctx: Any) -> Any:
        """Invoke the verb; one that needs a number and gets none is told so, as one that lacks an option."""
        try:
            return self._invoke(ctx)
        except _REFUSAL as refusal:
            if not hasattr(refusal, "option_name"):
                raise
            if not hasattr(refusal, "possibilities"):
                raise UsageError(refusal.message.rstrip("."), "The same with -h lists the options.") from None
            verb = refusal.ctx.command_path if refusal.ctx else "tauto"
            if new := renamed(verb.removeprefix("tauto "), refusal.option_name):
                raise UsageError(
                    f"{verb} has no option {refusal.option_name} any more: it is called {new[0]}",
                    f"Write {new[1]}.",
                ) from None
            raise UsageError(
                f"{verb} has no option {printable(refusal.option_name)}", self._meant(ctx, refusal, verb)
            ) from None

    def meant(self, ctx: Any, name: str) -> str:
        """Return which verb was probably meant, also of a group, or by its old name."""
        if name in self.found:
            return f"Did you mean tauto {name}?"
        if name in RENAMED_VERBS:
            return f"It is called tauto {RENAMED_VERBS[name]} now."
        verbs = {f"tauto {one}": one for one in self.found}
        for first, (where, _) in self.found.items():
            if first == "soak":
                continue  # its verbs are called as those of probe
            command = self.get_command(ctx, first) if where else None
            verbs |= {f"tauto {first} {one}": one for one in getattr(command, "found", ())}
        found = [words for words, one in verbs.items() if one == name]
        if not found and (like := near(name, list(verbs.values()))):
            above = [f"tauto {like}"] if like in self.found else []
            found = above or [words for words, one in verbs.items() if one == like]
        return f"Did you mean {' or '.join(found)}?" if found else ""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - click's signature
        """Write the help of all: the verbs in groups, on one screen."""
        formatter.write(f"{_ABOUT}\n")
        rest = [name for name in self.found if not any(name in names for names in _GROUPS.values())]
        last = next(reversed(_GROUPS))
        for heading, names in _GROUPS.items():
            shown = [one for one in names if one in self.found] + (rest if heading == last else [])
            with_others = {first: (f"{first}, {name}", said) for name, (first, said) in _TOLD_WITH.items()}
            for at, name in enumerate(one for one in shown if one not in _TOLD_WITH):
                names_shown, said = with_others.get(name, (name, self.found[name][1]))
                formatter.write(f"{'' if at else heading:10}{names_shown:14}{said}\n")
        formatter.write(_BELOW)

    def _invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as refusal:
            if isinstance(refusal.__cause__, ValueError) and hasattr(refusal.__cause__, "errors"):
                (first, *_) = refusal.__cause__.errors()
                if what := _NUMBERS.get(str(first["type"]).partition("_")[0]):
                    refusal.message = f"'{first['input']}' is not {what}."
            raise

    def _meant(self, ctx: Any, refusal: Any, verb: str) -> str:
        """Return which option or verb was probably meant: one that has it comes before one spelt alike."""
        option = refusal.option_name
        if option in _options(self):
            return f"It stands before the verb: tauto {option}."
        verbs = [f"tauto {name}" for name in self.found if option in _options(self.get_command(ctx, name))]
        if verbs:
            more = " and others" if len(verbs) > _MOST_VERBS else ""
            return f"{', '.join(verbs[:_MOST_VERBS])}{more} {'has' if len(verbs) == 1 else 'have'} it."
        known = [] if refusal.ctx is None else [name.lstrip("-") for name in _options(refusal.ctx.command)]
        meant = near(option.lstrip("-"), known)
        return f"Did you mean --{meant}?" if meant else f"{verb} -h lists its options."


app = typer.Typer(
    name="tauto",
    cls=_Root,
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

    Without a verb, tauto measures this machine for 40 seconds and shows a verdict and a report.
    """
    use_store(store)
    if context.invoked_subcommand not in _SEES_FOR_ITSELF and (line := _forgotten_deployment()):
        typer.echo(line, err=True)


def _forgotten_deployment() -> str | None:
    """Return a line about a deployment that a killed tauto left in force here; None: there is none.

    Costs one look at a file where there is nothing to tell.
    """
    from tautochrone.machine.settings import journal_path

    if not Path(journal_path()).exists():
        return None
    from tautochrone.base.errors import TautoError
    from tautochrone.target.local import LocalTarget

    try:
        target = LocalTarget()
        try:
            force = target.in_force()
        finally:
            target.close()
    except TautoError as error:
        return f"A deployment may be in force here: {error}. As root, `tauto tune restore` puts it back."
    return None if force is None or force.left or force.keeper is not None else force.told()


def with_verb(arguments: list[str]) -> list[str]:
    """Put in the verb `answer` where none is given, and let `help VERB` ask for the help of a verb."""
    at = 0
    while at < len(arguments) and arguments[at].partition("=")[0] == "--store":
        at += 1 if "=" in arguments[at] else 2
    if at > len(arguments):
        return arguments  # a lone --store: typer says what is missing
    if arguments[at : at + 1] == ["help"]:
        return [*arguments[:at], *(one for one in arguments[at + 1 :] if one not in _HELP), "--help"]
    of_root = {*_HELP, "--version", "-V", "--install-completion", "--show-completion"}
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
    if arguments == ["exit-codes", "--help"]:
        typer.echo(_EXIT_CODES, nl=False)
        return
    _see_outputs_named(arguments)
    app(args=arguments, prog_name="tauto")


def main() -> None:
    """Run `tauto` with this process's arguments, and end the process."""
    see_to_room()
    arguments = with_verb(sys.argv[1:])
    sys.exit(run_to_exit_code(lambda: _run(arguments)))
