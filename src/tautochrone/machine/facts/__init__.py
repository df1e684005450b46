"""Under which conditions a run was measured: everything a later reader needs to know.

What can't be known is None, never a guess. The host's name, serial numbers and addresses are not
gathered: a run may be shown to anybody. (`gather(hostname=True)` stores the name on request.)
"""

from pathlib import Path
from typing import Any

import msgspec

from tautochrone.machine.cpulist import online_cpus
from tautochrone.machine.facts import cpus, kernel
from tautochrone.machine.facts.table import FACTS, HOSTNAME
from tautochrone.machine.files import Files, LocalFiles, ReadOnce
from tautochrone.machine.tree import Tree
from tautochrone.run.facts import Facts, FactTable

__all__ = ["FactTable", "Facts", "gather", "observe"]


def observe(place: Path | Files = Path("/"), *, hostname: bool = False) -> Facts:
    """Read the facts about a system.

    Args:
        place: the machine's files, or the folder where its ``/proc``, ``/sys`` and ``/boot`` lie; a folder
            with copies serves as well.
        hostname: keep the host's name too. By default it is not stored.

    Returns:
        The facts. What can't be known is None; nothing is raised.
    """
    tree = Tree(ReadOnce(LocalFiles(place) if isinstance(place, Path) else place))
    read_ahead(tree)
    found: dict[str, dict[str, Any]] = {}
    for row in (*FACTS, *([HOSTNAME] if hostname else [])):
        names = row.names.split()
        value = row.find(tree, *row.places)
        for name, one in zip(names, value if len(names) > 1 else (value,), strict=True):
            group, _, fact = name.partition(".")
            found.setdefault(group, {})[fact] = one
    found["reading"]["refused"] = tuple(tree.refused)
    return Facts(**{group.name: group.type(**found[group.name]) for group in msgspec.structs.fields(Facts)})


def gather(place: Path | Files = Path("/"), *, hostname: bool = False) -> FactTable:
    """Return what `observe` finds as JSON values, to be stored with a run: group -> name -> value.

    The host's name is not stored unless asked for; neither are serial numbers.
    """
    return observe(place, hostname=hostname).to_table()


def read_ahead(tree: Tree) -> None:
    """Announce what will be read, so that a far machine is asked in a few round trips.

    There are three steps, as what each finds tells where to look next. Nothing here is needed for the facts
    to be right: what is missing is read one by one; `tests/machine/test_machine_reads.py` counts how
    much that is.
    """
    paths = [path for row in FACTS for path in (*row.places, *row.also)]
    tree.files.prefetch(tuple(path for path in paths if "{cpu}" not in path))
    online = online_cpus(tree)
    of_cpus = [path.format(cpu=cpu) for cpu in online for path in paths if "{cpu}" in path]
    found = (kernel.configuration_path, kernel.vulnerability_paths, kernel.fair_server_paths,
             cpus.first_cpu_paths, cpus.interrupt_paths)  # fmt: skip
    tree.files.prefetch((*of_cpus, *(path for look in found for path in look(tree))))
    tree.files.prefetch(cpus.idle_and_cache_paths(tree))
