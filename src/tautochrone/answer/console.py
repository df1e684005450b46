"""Where text for people goes: standard output or standard error, as a terminal or a pipe has it.

Imports little but rich, so that a verb that needs no chart begins at once.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec

from rich.console import Console
from rich.containers import Lines
from rich.segment import Segment
from rich.text import Text

from tautochrone.answer.typeset import NO_BREAK, unbroken
from tautochrone.base.faults import Fault, attempt
from tautochrone.base.words import printable

_PIPE_WIDTH = 10_000
_NARROWEST = 20  # columns; a terminal that says fewer, such as COLUMNS=0, breaks the lines itself
_Given = ParamSpec("_Given")
_BLANK_END = re.compile(r"[ \t]+(?=\n)")
_JOINT = "\ue000"  # of one column; rich breaks a line at a no-break space as at any other


class Words(Text):
    """A text of which a terminal breaks the lines, but never between a number and its unit."""

    def wrap(self, console: Console, width: int, **how: Any) -> Lines:
        """Return the lines, which have ordinary spaces only, so that they can be copied and searched."""
        joined = self.copy()
        joined.plain = unbroken(self.plain).replace(NO_BREAK, _JOINT)
        lines = joined.wrap(console, width, **how)
        for line in lines:
            line.plain = line.plain.replace(_JOINT, " ")
        return lines


class _Console(Console):
    """One that lets the command end as it ends everywhere when nobody reads any more.

    What a text has of characters that a terminal would obey is shown as U+FFFD.
    """

    def on_broken_pipe(self) -> None:
        """Tell whoever runs the command; rich would end it here, with a code of its own.

        Raises:
            BrokenPipeError: always.
        """
        raise BrokenPipeError

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(
            one if one.control else one._replace(text=printable(one.text)) for one in buffer
        )


class _Piped(_Console):
    """One for pipes and files: rich fills up the last column with spaces, which are of no use there."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return _BLANK_END.sub("", super()._render_buffer(buffer))


def make_console(*, stderr: bool = False) -> Console:
    """Return a console in colour on a terminal; in a pipe plain, and so wide that no line is broken."""
    console = _Console(highlight=False, stderr=stderr)
    if console.is_terminal:
        if console.width < _NARROWEST:
            console.width = _NARROWEST
        return console
    return _Piped(highlight=False, stderr=stderr, width=_PIPE_WIDTH, no_color=True)


def show_part(
    console: Console, part: str, show: Callable[_Given, object], *given: _Given.args, **named: _Given.kwargs
) -> None:
    """Print a part of an answer; where that fails unexpectedly, a notice stands in its place.

    Nothing is written before ``show`` ended, so that what goes wrong with the output is no fault of the
    part.
    """

    def notice(fault: Fault) -> None:
        console.print(Text(f"\n{fault.notice}", style="bold red"), soft_wrap=True)

    with console:
        attempt(part, lambda: show(*given, **named), notice)
