"""Deployments by name: the built-in six, files, and those in the user's folder."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.machine.deployment.builtin import BuiltIn, built_in
from tautochrone.machine.deployment.deployment import Deployment
from tautochrone.machine.deployment.read import read_deployment
from tautochrone.machine.files import Files
from tautochrone.machine.tree import Tree


def choose(name: str, files: Files) -> Deployment:
    """The deployment of this name on this machine, or in this file.

    Args:
        name: CHM, HM, HMI, M, MI or Single; the path of a TOML file; or the name of one in `own_folder`.
        files: of the machine on which it is meant to be applied.

    Raises:
        UsageError: there is none, this machine can't have it, or its file is wrong.
    """
    six = built_in(Tree(files))
    for one in six:
        if one.deployment.name.lower() == name.lower():
            return _possible(one)
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        return read_deployment(path)
    for own in own_files():
        if own.stem == name:
            return read_deployment(own)
    names = [*(one.deployment.name for one in six), *(own.stem for own in own_files())]
    near = get_close_matches(name, names, 1)
    advice = (
        f"Did you mean {near[0]}?" if near else f"There are {', '.join(names)}, and TOML files by their path."
    )
    raise UsageError(f"there is no deployment '{name}'", advice)


def own_folder() -> Path:
    """Where a user keeps deployments: ``deployments`` in the configuration folder of Tautochrone."""
    from platformdirs import user_config_path

    return user_config_path("tautochrone") / "deployments"


def own_files() -> Iterator[Path]:
    """The files in `own_folder`, sorted."""
    yield from sorted(own_folder().glob("*.toml"))


def _possible(one: BuiltIn) -> Deployment:
    if one.cannot:
        raise UsageError(
            f"this machine can't have the deployment {one.deployment.name}: {one.cannot}",
            "`tauto deploy list` shows which it can have.",
        )
    return one.deployment
