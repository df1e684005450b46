"""``tauto tune``: how a machine's CPUs are used: what it can have, apply it, put it back."""

from __future__ import annotations

import shlex
import signal
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.words import on_machine
from tautochrone.command import completion
from tautochrone.command.beside import On
from tautochrone.command.options import JsonOption
from tautochrone.command.told import tell_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from tautochrone.answer.document import Document
    from tautochrone.machine.deployment.apply import Application, Deployed
    from tautochrone.machine.settings import InForce
    from tautochrone.target.target import Target

_NAME = typer.Argument(
    metavar="NAME|FILE",
    help="A deployment from `tauto tune list`, or the path of a TOML file.",
    autocompletion=completion.deployments,
)


def list_deployments(on: On = None, as_json: JsonOption = False) -> None:
    """List the deployments, and which of them this machine can have.

    Examples:
        tauto tune list
    """
    from tautochrone.machine.deployment.apply import survey
    from tautochrone.machine.tree import ReadOnce, Tree
    from tautochrone.tune import answer

    with _target(on) as target:
        prospects = survey(Tree(ReadOnce(target.files())))
        force, unseen = _in_force(target)
    if as_json:
        content = {
            "in_force": None if force is None else asdict(force),
            "deployments": [asdict(one) for one in prospects],
        }
        tell_json("tune-list", lambda: content)
        return
    _show(answer.possible(prospects, on, force, unseen))


def show(name: Annotated[str | None, _NAME] = None, on: On = None, as_json: JsonOption = False) -> None:
    """Show every setting as it is now; with a name, also what that deployment asks for and how to get it.

    Examples:
        tauto tune show
        tauto tune show HMI
    """
    from tautochrone.machine.deployment import choose
    from tautochrone.machine.deployment.apply import settings_of
    from tautochrone.machine.tree import ReadOnce, Tree
    from tautochrone.tune import answer

    with _target(on) as target:
        files = ReadOnce(target.files())
        deployment = choose(name, files) if name is not None else None
        rows = settings_of(deployment, Tree(files))
        force, unseen = _in_force(target)
    if as_json:
        content = {
            "in_force": None if force is None else asdict(force),
            "deployment": None if deployment is None else asdict(deployment),
            "settings": [asdict(row) for row in rows],
        }
        tell_json("tune-show", lambda: content)
        return
    if deployment is None:
        _show(answer.settings(rows, on, force, unseen))
    else:
        _show(answer.wanted(deployment, rows, on, force, unseen))


def apply(name: Annotated[str, _NAME], on: On = None, as_json: JsonOption = False) -> None:
    """Apply a deployment and leave it in force, until `tauto tune restore`. Needs root.

    To measure under a deployment, name it there: `tauto --deployment MI` puts everything back by itself.

    Examples:
        tauto tune apply HMI
        tauto tune apply quiet.toml --on ssh:root@board
    """
    from tautochrone.answer.document import whole
    from tautochrone.machine.deployment import as_condition, choose
    from tautochrone.machine.deployment.apply import Application
    from tautochrone.tune import answer

    with _target(on) as target:
        _refuse_virtual(target, name)
        _refuse_second(target)
        deployment = choose(name, target.files())
        done = apply_and_leave(Application(deployment, target.files(), target.change_settings), on)
    if as_json:
        tell_json("tune-apply", lambda: as_condition(deployment, done.obtained))
        return
    _show(
        whole(
            "What was obtained",
            lambda: answer.applied(deployment, done.obtained, on, changed=done.changed),
            lambda: (
                answer.came_of(deployment, changed=done.changed)
                + (f" {answer.how_back(on)}" if done.changed else "")
            ),
        )
    )


def restore(on: On = None, as_json: JsonOption = False) -> None:
    """Put back what `tauto tune apply`, or a tauto that was killed, has left in force.

    Examples:
        tauto tune restore
    """
    from tautochrone.machine.settings import SettingError

    with _target(on) as target:
        force = target.in_force()
        left = () if force is None else target.restore()
    if as_json:
        restored = None if force is None else asdict(force)
        tell_json("tune-restore", lambda: {"restored": restored, "not_put_back": list(left)})
    elif force is None:
        typer.echo("No deployment is in force; there is nothing to put back.")
    if left:
        raise SettingError(
            f"this could not be put back: {'; '.join(left)}", "Put it back by hand, or reboot."
        )
    if force is not None and not as_json:
        typer.echo(f"The deployment {force.name}, in force since {force.since}, was put back.")


def _target(on: str | None) -> AbstractContextManager[Target]:
    from tautochrone.target.open import open_target

    return open_target(on)


def apply_and_leave(application: Application, on: str | None) -> Deployed:
    """Apply and leave; whatever goes wrong, Ctrl-C too, undoes what was done so far."""
    from tautochrone.machine.deployment.apply import is_not_permitted, not_permitted
    from tautochrone.tune.answer import typed

    left = False
    try:
        done = application.apply()
        with _undisturbed():
            application.leave()
            left = True
    except BaseException as error:
        if left:
            raise  # it is in force, and nobody is there any more who could undo it at once
        with _undisturbed():
            application.undo()
        if is_not_permitted(error, application.files):
            again = f'Type sudo "$(command -v tauto)" tune apply {typed(application.deployment)}'
            raise not_permitted(application.deployment, again if on in (None, "local") else "") from error
        raise
    return done


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C does not keep anything from being put back."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _refuse_virtual(target: Target, name: str) -> None:
    if target.virtual() is not None:
        raise UsageError(
            f"{target.name} is gone when this command ends, and what was applied with it",
            f"Measure under the deployment: tauto probe cyclic{on_machine(target.name)} "
            f"--deployment {shlex.quote(name)}",
        )


def _refuse_second(target: Target) -> None:
    from tautochrone.machine.settings import SettingError

    force, _ = _in_force(target)
    if force is None:
        return
    if force.keeper is not None:
        raise SettingError(
            f"{force.by_whom} has applied the deployment {force.name}",
            "Wait until it ends, or stop it.",
        )
    raise SettingError(
        f"the deployment {force.name} is in force since {force.since}",
        f"`tauto tune restore{on_machine(target.name)}` puts it back; then apply the other.",
    )


def _in_force(target: Target) -> tuple[InForce | None, str]:
    """Return what is in force; or, where that can't be seen, why."""
    from tautochrone.machine.settings import SettingError

    try:
        return target.in_force(), ""
    except SettingError as error:
        return None, str(error)


def _show(document: Document) -> None:
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render.terminal import show as show_document

    show_document(make_console(), document)
