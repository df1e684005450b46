"""``tauto recover``: seals what a kill, a full disk or a power cut left behind."""

import typer

from tautochrone.command.options import StoreOption, open_store


def recover(store: StoreOption = None) -> None:
    """Seal runs that were cut off.

    Every whole frame of them is kept. A run that is being measured right now is left alone. Exit code 5: at
    least one could not be sealed; it is kept as it is, and why is told.
    """
    from tautochrone.base.errors import DamagedError
    from tautochrone.run.recover import REFUSED
    from tautochrone.run.recover import recover as recover_runs

    outcomes = recover_runs(open_store(store, mend=False))
    if not outcomes:
        typer.echo("Nothing to recover: no run was cut off.")
    for outcome in outcomes:
        is_refused = outcome.state == REFUSED
        typer.echo(f"{outcome.id}: {outcome.text}", err=is_refused)
        if outcome.advice:
            typer.echo(f"  {outcome.advice}", err=is_refused)
    if any(outcome.state == REFUSED for outcome in outcomes):
        raise typer.Exit(DamagedError.exit_code)
