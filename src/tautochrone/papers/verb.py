"""`tauto reproduce`: a paper measured anew, what it published beside it."""

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command import completion, options
from tautochrone.command.lab_needs import YesOption

_LEAST_S = 1


def reproduce(
    name: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME|FOLDER...",
            help="Name of a paper, all, or the folder of your own paper. [list the papers]",
            show_default=False,
            autocompletion=completion.papers,
        ),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="SYSTEM",
            help="Machine to measure, as a column: lab:debian-rt, ssh:root@board; repeatable. [local]",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Make the same tables and figures from shorter runs: minutes, not hours."
        ),
    ] = False,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="PLAN.toml",
            help="Another plan with the paper's titles, or a folder with a NAME.plan.toml for each.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Measure what is open, in short runs, until it is told or so long: 30min."
        ),
    ] = None,
    repetitions: options.RepetitionsOption = None,
    jobs: options.JobsOption = None,
    again: options.AgainOption = False,
    dry_run: options.DryRunOption = False,
    as_json: options.JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Where report, figures and tables go; otherwise the store."
        ),
    ] = None,
    open_it: options.OpenReportOption = False,
    yes: YesOption = False,
    store: options.StoreOption = None,
) -> None:
    """Measure a paper again: its tables and figures beside ours, and whether its claims hold here.

    A folder with NAME.toml and NAME.plan.toml is a paper of your own; docs/papers.md says what they hold.

    Without a name, list the papers and how long each takes. At full length each has as many samples as
    in the paper; finished cases are not measured again: after Ctrl-C or a crash, run the same command
    again. When everything is measured, the same command writes the report and its folder again: a page,
    the figures as SVG and PDF, the tables as CSV, Markdown and LaTeX.

    With --budget each claim is looked at after 1, 2, 4 ... repetitions, at a level that stays right however
    often one looks; what can be told soonest is measured first, and a case whose claims are told no more.

    Exit code 0: everything possible was measured, whether the claims hold or not; 1: a case went wrong
    while measuring; 3: nothing at all was permitted; 4: the store or the folder can't be written; 130:
    stopped by Ctrl-C, with a report of what is there.

    Examples:
        tauto reproduce laurich2004 --quick
        tauto reproduce laurich2004 --budget 30min
    """
    from tautochrone.campaign.verb import Wanted, hands
    from tautochrone.papers.reproducing import Order, ReproductionWay, list_papers, reproduce_papers
    from tautochrone.papers.studies import chosen

    names = chosen(name or [])
    if plan is not None and quick:
        raise UsageError("--plan and --quick both say what is measured", "Leave one of them out.")
    if plan is not None and len(names) != 1 and not plan.is_dir():
        raise UsageError(
            f"--plan {plan} is of one paper", "Name that one, or a folder with NAME.plan.toml for each."
        )
    if not names:
        list_papers(as_json=as_json)
        return
    if budget is not None and jobs is not None:
        raise UsageError(
            "--budget measures one case after the other, so that each says what is measured next",
            "Leave --jobs out. Of guests --quick --jobs does as much: a repetition of a guest is the same "
            "run, to the bit.",
        )
    way = ReproductionWay(quick, plan, tuple(on or ()), repetitions, budget or "")
    if way.budget_s is not None and way.budget_s < _LEAST_S:
        raise UsageError(f"--budget {budget}: nothing can be measured in it", f"Give {_LEAST_S} s or more.")
    wanted = Wanted(again, dry_run, as_json, None, open_it, hands(jobs), yes=yes)
    reproduce_papers(names, Order(way, wanted, store, out))
