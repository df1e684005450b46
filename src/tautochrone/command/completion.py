"""What a shell completes: each function returns what may stand for a value that was begun.

They look at folders and tables alone: a key that is pressed waits for them.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MOST_RUNS = 50
"""Of the newest runs, that are offered."""


class _Offered(str):
    """A name that is offered; typer asks it once more how it begins, and would mind the letters' case."""

    __slots__ = ()

    def startswith(self, begun: str, *bounds: int) -> bool:  # type: ignore[override]
        return self.casefold().startswith(begun.casefold(), *bounds)


def beginning(begun: str, names: Iterable[str], before: str = "") -> list[str]:
    """Return the names that begin like this, in letters of any case, each after what stands before."""
    return [_Offered(f"{before}{name}") for name in names if name.casefold().startswith(begun.casefold())]


def of(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Return what completes one of these names."""

    def completed(incomplete: str) -> list[str]:
        return beginning(incomplete, names)

    return completed


def loads(incomplete: str) -> list[str]:
    """Complete a load; after a plus sign, the next of several."""
    from tautochrone.measure.loads.kinds import KINDS, PRESETS, TAKES_THE_REST

    before, plus, begun = incomplete.rpartition("+")
    names = ["idle", *KINDS, *(f"{name}:" for name in TAKES_THE_REST), *PRESETS]
    return beginning(begun, names, f"{before}{plus}")


def runs(incomplete: str) -> list[str]:
    """Complete a run: `latest`, or the ids of the newest."""
    from tautochrone.base.errors import StoreError
    from tautochrone.run.place import default_store, run_folders

    found: list[str] = []
    with suppress(StoreError):
        found = [folder.name for folder in reversed(run_folders(default_store()))]
    return beginning(incomplete, ["latest", "latest~1"]) + beginning(incomplete, found)[:_MOST_RUNS]


def experiments(incomplete: str) -> list[str]:
    """Complete the name of an experiment."""
    from tautochrone.experiments import EXPERIMENTS

    return beginning(incomplete, EXPERIMENTS)


def deployments(incomplete: str) -> list[str]:
    """Complete a deployment: built in, your own, or a TOML file."""
    from tautochrone.machine.named_deployments import NAMES, own_files

    return beginning(incomplete, [*NAMES, *(one.stem for one in own_files())]) + files(incomplete)


def fetchable(incomplete: str) -> list[str]:
    """Complete what `tauto lab fetch` brings."""
    return [*kernels(incomplete), *beginning(incomplete, ["qemu"])]


def kernels(incomplete: str) -> list[str]:
    """Complete the name of a kernel of the virtual lab; after a comma, the next of several."""
    from tautochrone.target.address import known_kernels
    from tautochrone.target.virtual.kernels import own_kernels

    before, comma, begun = incomplete.rpartition(",")
    return beginning(begun, [*known_kernels(), *own_kernels()], f"{before}{comma}")


def targets(incomplete: str) -> list[str]:
    """Complete a machine: this one, a virtual one, or the beginning of an address."""
    kind, colon, begun = incomplete.partition(":")
    if not colon or kind.casefold() != "lab":
        return beginning(incomplete, ["local", "lab:", "ssh:"])
    names = [name.replace(":", "-") for name in kernels("")]
    return beginning(begun, names, "lab:")


def papers(incomplete: str) -> list[str]:
    """Complete the name of a paper."""
    from importlib.resources import files as resources

    plans = (one.name for one in resources("tautochrone.papers").iterdir())
    suffix = ".plan.toml"
    names = sorted(name.removesuffix(suffix) for name in plans if name.endswith(suffix))
    return beginning(incomplete, [*(one for one in names if not one.endswith(".quick")), "all"])


def files(incomplete: str) -> list[str]:
    """Complete the path of a TOML file: a plan, a task set, a deployment; folders end with a slash."""
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    kept = "" if str(folder) == "." and not incomplete.startswith("./") else f"{str(folder).rstrip('/')}/"
    found: list[str] = []
    with suppress(OSError):
        found += [
            f"{kept}{one.name}{'/' if one.is_dir() else ''}"
            for one in sorted(folder.iterdir())
            if not one.name.startswith(".") and (one.suffix == ".toml" or one.is_dir())
        ]
    return [name for name in found if name.startswith(incomplete)]
