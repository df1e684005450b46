"""Other machines that take part in what is measured on one: opened once, and closed with it."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tautochrone.target.target import Target

Open = Callable[[str], "AbstractContextManager[Target]"]


class Companions:
    """The companions of one target, by the names that people write after --on.

    Connecting takes a second, and may ask for a password: it is done once for a command, not for each cell.
    """

    def __init__(self) -> None:
        """None yet."""
        self._open: dict[str, tuple[Target, ExitStack]] = {}

    def get(self, where: str, open_target: Open) -> "Target":
        """The machine of this name, opened if it is not.

        Raises:
            TautoError: it can't be opened.
        """
        if where not in self._open:
            with ExitStack() as opening:
                target = opening.enter_context(open_target(where))
                self._open[where] = target, opening.pop_all()
        return self._open[where][0]

    def forget(self, where: str) -> None:
        """Close it: the connection to it was lost."""
        if where in self._open:
            _, opened = self._open.pop(where)
            opened.close()

    def close(self) -> None:
        """Close all of them."""
        for where in list(self._open):
            self.forget(where)
