"""tauto in this process with faults put into its parts, and what it then leaves."""

import html
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import FrameType, FunctionType
from typing import Any
from unittest import mock

import pytest

import tautochrone
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


def called(run: Callable[[], object], since: str, within: Sequence[str]) -> list[str]:
    """The functions of these packages that are called from a function on and not before, by module and name.

    Only those that a module has under their own name, so that they can be made to fail.
    """
    first, last = f"tautochrone.{since}".rsplit(".", 1)
    before: set[str] = set()
    found: dict[str, None] = {}
    begun = False

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal begun
        if event != "call":
            return
        module, name = str(frame.f_globals.get("__name__")), frame.f_code.co_name
        begun = begun or (module, name) == (first, last)
        if module.startswith(tuple(f"tautochrone.{one}" for one in within)):
            known = frame.f_globals.get(name)
            if isinstance(known, FunctionType) and known.__code__ is frame.f_code:
                whole = f"{module.removeprefix('tautochrone.')}.{name}"
                if begun:
                    found[whole] = None
                else:
                    before.add(whole)

    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    assert begun, f"{since} was not called"
    return [one for one in found if one not in before]


@cache
def _know_all() -> None:
    for one in walk_packages(tautochrone.__path__, "tautochrone."):
        import_module(one.name)


@contextmanager
def everywhere_broken(function: str) -> Iterator[None]:
    """A function fails as nobody expected, in all modules that know it."""
    _know_all()  # or a module that is loaded meanwhile would keep what fails
    module, name = f"tautochrone.{function}".rsplit(".", 1)
    real = getattr(sys.modules[module], name)

    def fail(*_: object, **__: object) -> Any:
        raise ValueError(WORDS)

    with ExitStack() as stack:
        for one in [one for known, one in list(sys.modules.items()) if known.startswith("tautochrone.")]:
            for known in [known for known, value in list(vars(one).items()) if value is real]:
                stack.enter_context(mock.patch.object(one, known, fail))
        yield
