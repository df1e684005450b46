"""Options among the arguments of a command, as the probe reads them."""

from collections.abc import Sequence


def value_of(arguments: Sequence[str], name: str) -> str | None:
    """The value of an option, given as ``--name value`` or as ``--name=value``; None: it is not given.

    Args:
        name: without its dashes.
    """
    for at, word in enumerate(arguments):
        if word == f"--{name}" and at + 1 < len(arguments):
            return arguments[at + 1]
        if word.startswith(f"--{name}="):
            return word.partition("=")[2]
    return None
