"""`tauto run`: carry out a plan."""

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.command import completion
from tautochrone.command.lab_needs import YesOption
from tautochrone.command.options import (
    AgainOption,
    DryRunOption,
    JobsOption,
    JsonOption,
    OpenReportOption,
    PlanReportOption,
    RepetitionsOption,
    StoreOption,
    deployment_option,
    load_option,
    on_option,
)
from tautochrone.command.told import JunitOption, MarkdownOption

_PLAN = typer.Argument(
    metavar="PLAN.toml", help="The plan file.", show_default=False, autocompletion=completion.files
)


def run(
    plan: Annotated[Path, _PLAN],
    on: Annotated[
        list[str] | None,
        on_option("Measure on this system instead of the plan's; repeatable.", "SYSTEM"),
    ] = None,
    fleet: Annotated[
        str | None,
        typer.Option(
            "--fleet",
            metavar="FILE[,tag=TAG]",
            help="Measure on the machines of this fleet side by side: fleet.toml,tag=rt,place=any.",
            autocompletion=completion.files,
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option("--engine", metavar="slurm", help="Let Slurm carry out the cases, as an array of jobs."),
    ] = None,
    deployment: Annotated[
        list[str] | None,
        deployment_option("Measure under this deployment instead of the plan's; repeatable.", "NAME"),
    ] = None,
    load: Annotated[
        list[str] | None,
        load_option("Measure beside this load instead of the plan's; repeatable."),
    ] = None,
    repetitions: RepetitionsOption = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random order, to repeat an order.")] = None,
    jobs: JobsOption = None,
    again: AgainOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    out: PlanReportOption = None,
    open_it: OpenReportOption = False,
    yes: YesOption = False,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    store: StoreOption = None,
) -> None:
    """Carry out a plan: every case in every repetition, then one report with the cases side by side.

    Finished cases are not measured again: after Ctrl-C or a crash, run the same command again. Cases
    that are not permitted or not available here are skipped, and the reason is shown. Exit code 0: all
    that could be measured was, and holds what the plan requires; 1: a case went wrong while measuring,
    or a machine of the fleet is in quarantine;
    3: nothing at all was permitted; 6: a requirement of the plan does not hold; 7: one is not shown.

    Examples:
        tauto run nightly.toml
        tauto run nightly.toml --fleet fleet.toml,tag=rt --dry-run
    """
    from tautochrone.campaign.fleet import chosen_fleet, see_without_budget
    from tautochrone.campaign.undecided import budget_of
    from tautochrone.campaign.verb import Wanted, carry_through, hands
    from tautochrone.measure.campaign.agenda import with_options
    from tautochrone.measure.document.document import read
    from tautochrone.measure.document.expand import override
    from tautochrone.measure.fleet.fleet import on_fleet

    document = with_options(read(plan), repetitions, seed)
    document = override(document, on or (), deployment or (), load or ())
    machines = chosen_fleet(fleet, engine, on or (), jobs)
    document = document if machines is None else on_fleet(document, machines)
    wanted = Wanted(again, dry_run, as_json, out, open_it, hands(jobs), junit, markdown, yes)
    if machines is not None:
        see_without_budget(document)
    carry_through(document, store, wanted, budget=budget_of(document, wanted), fleet=machines)
