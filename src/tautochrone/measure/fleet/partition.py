"""Nodes of Slurm, as a fleet's file names them: ``slurm:PARTITION``, and with commas how they are asked for.

slurm:rt                       any node of the partition, whole (--exclusive)
slurm:rt,constraint=imx8       of those with this feature
slurm:rt,node=board3           this node
slurm:lab,licence=board:1      counted by a licence, as where boards hang on shared hosts; nodes are shared
slurm:                         the cluster's usual partition
"""

import re

from tautochrone.base.errors import UsageError
from tautochrone.base.words import suggestion

SLURM = "slurm:"
_OPTIONS = {"constraint": "--constraint", "node": "--nodelist", "licence": "--licenses"}
_VALUE = re.compile(r"[A-Za-z0-9_.:@&|*\[\]()-]+")


def read_partition(text: str) -> tuple[str, ...]:
    """Return the options of sbatch that ask for a machine of Slurm.

    Raises:
        UsageError: malformed.
    """
    name, *options = text.removeprefix(SLURM).split(",")
    if name and not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        raise UsageError(f"{text}: '{name}' is not the name of a partition", "Write slurm:PARTITION.")
    words = [f"--partition={name}"] if name else []
    for option in options:
        key, _, value = option.partition("=")
        if key not in _OPTIONS:
            raise UsageError(f"{text}: there is no option '{key}'", suggestion(key, _OPTIONS))
        if not _VALUE.fullmatch(value):
            raise UsageError(f"{text}: '{key}' lacks its value", f"Write {key}=VALUE.")
        if key == "node" and "[" in value:
            raise UsageError(f"{text}: these are several nodes", "Name one; each is a machine of its own.")
        words.append(f"{_OPTIONS[key]}={value}")
    shared = any(word.startswith("--licenses=") for word in words)
    return (*words, *(() if shared else ("--exclusive",)))
