"""The errors that reach a person: one clear message, what to do about it, an exit code."""


class TautoError(Exception):
    """A failure that a person can act on.

    Args:
        message: what is wrong, and where.
        advice: what to do about it, one sentence; empty if there is nothing to do.
        about: the option that is wrong, without its dashes; empty: it is no option, or nobody knows which.
    """

    exit_code = 1

    def __init__(self, message: str, advice: str = "", *, about: str = "") -> None:
        super().__init__(message)
        self.advice = advice
        self.about = about


class MeasuringError(TautoError):
    """Something went wrong while measuring."""

    exit_code = 1


class UnreachableError(MeasuringError):
    """The machine that was named can't be reached: nothing was measured, and the name may be wrong."""

    exit_code = 2


class UsageError(TautoError):
    """The command, an option or a file was given wrong."""

    exit_code = 2


class NotPermittedError(TautoError):
    """The system does not allow it to this user."""

    exit_code = 3


class CodeFailedError(MeasuringError):
    """The user's own code ended the run: it crashed, did not come back, or asked for it."""

    exit_code = 8


class StoreError(TautoError):
    """The store can't be read, written, or is full; or the run is not in it."""

    exit_code = 4


class DamagedError(TautoError):
    """A stream or a run is damaged, or its accounting does not balance."""

    exit_code = 5
