"""A plan's deployments: known by name before anything runs, and made for a machine once it is known."""

import json
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.words import suggestion
from tautochrone.machine.deployment import Deployment, built_in, choose, read_deployment
from tautochrone.machine.named_deployments import NAMES, own_files, without_a_file
from tautochrone.machine.tree import Files, Tree
from tautochrone.measure.document.expand import AS_IS, NamedDeployment


def meaning_of(name: str, folder: Path) -> NamedDeployment:
    """Return what is meant by a name, or by a file, whose path begins at the folder.

    Raises:
        UsageError: no deployment has this name, or its file is wrong.
    """
    if (known := without_a_file(name, (AS_IS, *NAMES))) is not None:
        return NamedDeployment(known)
    path = _path(name, folder)
    if path is None:
        raise UsageError(
            f"there is no deployment '{name}'",
            suggestion(name, (AS_IS, *NAMES, *(one.stem for one in own_files()))),
        )
    found = read_deployment(path)
    meant = [sorted(found.settings.items()), found.measure, found.load]
    return NamedDeployment(name, json.dumps(meant))


def deployment_of(name: str, folder: Path, files: Files) -> Deployment | None:
    """Return the deployment for the machine that has these files; None: as it is."""
    if name == AS_IS:
        return None
    path = None if name in NAMES else _path(name, folder)
    return choose(name if path is None else str(path), files)


def same_here(files: Files) -> dict[str, tuple[str, str]]:
    """Return the built-in deployments that are the same as another one on the machine that has these files.

    Returns:
        by name the other's, and why they are the same.
    """
    return {
        one.deployment.name: (one.same_as, one.note)
        for one in built_in(Tree(files))
        if one.same_as is not None
    }


def _path(name: str, folder: Path) -> Path | None:
    if name.endswith(".toml"):
        return folder / name
    return next((one for one in own_files() if one.stem == name), None)
