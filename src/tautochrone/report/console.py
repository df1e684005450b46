"""Where text for people goes: standard output or standard error, as a terminal or a pipe has it.

Imports nothing but rich, so that a verb that needs no chart begins at once.
"""

import re
from collections.abc import Iterable

from rich.console import Console
from rich.segment import Segment

_PIPE_WIDTH = 10_000
_BLANK_END = re.compile(r"[ \t]+(?=\n)")


class _Console(Console):
    """One that lets the command end as it ends everywhere when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Tell whoever runs the command; rich would end it here, with a code of its own.

        Raises:
            BrokenPipeError: always.
        """
        raise BrokenPipeError


class _Piped(_Console):
    """One for pipes and files: rich fills up the last column with spaces, which are of no use there."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return _BLANK_END.sub("", super()._render_buffer(buffer))


def make_console(*, stderr: bool = False) -> Console:
    """In colour on a terminal; in a pipe plain, and wide enough that no line is broken."""
    console = _Console(highlight=False, stderr=stderr)
    if console.is_terminal:
        return console
    return _Piped(highlight=False, stderr=stderr, width=_PIPE_WIDTH, no_color=True)
