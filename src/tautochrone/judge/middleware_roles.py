"""Clients by their role: one of the highest priority by itself, the lower ones together.

So two runs compare whatever the number of their lower clients, and 50 of these are one thing and not fifty.
"""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from tautochrone.run.records import Header

LOWER = "lower clients"
_LOW = "low"


class NamedSource(Protocol):
    """Something of one source."""

    @property
    def name(self) -> str:
        """The source's."""


_Part = TypeVar("_Part", bound=NamedSource)


def by_role(header: Header, parts: Iterable[_Part]) -> dict[str, tuple[_Part, ...]]:
    """What is one thing, in the order in which it came: the lower clients; otherwise each source."""
    lower = {source.label for source in header.sources if source.role == _LOW}
    found: dict[str, list[_Part]] = {}
    for one in parts:
        found.setdefault(LOWER if one.name in lower else one.name, []).append(one)
    return {name: tuple(own) for name, own in found.items()}
