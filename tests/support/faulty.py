"""tauto in this process with faults put into its parts, and what it then leaves."""

import html
from pathlib import Path

import pytest

from tautochrone.cli.app import app
from tautochrone.command.ending import run_to_exit_code

WORDS = "no such part"


class FaultyCommand:
    """`tauto` in this process, where parts of it can be made to fail."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]) -> None:
        self.store, self.state = folder / "store", folder / "state"
        self._patch, self._output = patch, output
        patch.setenv("XDG_STATE_HOME", str(self.state))
        patch.setenv("TAUTO_STORE", str(self.store))
        patch.chdir(folder)

    def break_(self, *parts: str) -> None:
        """Each function, named with its module, fails from now on as nobody expected."""

        def fail(*_: object, **__: object) -> object:
            raise ValueError(WORDS)

        for part in parts:
            self._patch.setattr(f"tautochrone.{part}", fail)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        code = run_to_exit_code(lambda: app(args=[*arguments], prog_name="tauto"))
        out, err = self._output.readouterr()
        return code, out, err

    def kept(self) -> list[str]:
        """The faults that were kept, each with its traceback."""
        return [one.read_text() for one in sorted(self.state.glob("tautochrone/fault-*.txt"))]


def notice(part: str) -> str:
    return f"This part could not be made: {part} (ValueError: {WORDS})"


def see_kept(tauto: FaultyCommand, err: str) -> None:
    """One fault, in one file, which is named, however many parts it cost."""
    (kept,) = tauto.kept()
    assert f"ValueError: {WORDS}" in kept
    assert "Traceback" in kept
    (path,) = tauto.state.glob("tautochrone/fault-*.txt")
    assert str(path) in err
    assert "please report it" in err
    assert "Traceback" not in err


def read(page: Path) -> str:
    return html.unescape(page.read_text())
