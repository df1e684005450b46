"""How the golden corpus asks: the one place that knows Python names of the program.

Everything else is typed, as people type it.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from math import inf
from pathlib import Path
from typing import Any
from unittest import mock

import tautochrone
from audit_cases import GUEST, NO_PERMISSION, PLAIN
from deployment_machines import plant_machine
from in_process import Ended, tauto
from machine_trees import plant, with_cpus
from tautochrone.base.errors import MeasuringError
from tautochrone.command.batch import Batch
from tautochrone.command.permission import Permission
from tautochrone.machine.tree import Files, LocalFiles
from tautochrone.measure.lab.jobs import SealedCell
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.program import ProbeAnswer, Program
from tautochrone.target.target import Target

HERE = Path(__file__).resolve().parent
COLUMNS = 100

_NAMED = re.compile(r"@([a-z0-9-]+?)(?:#(\d+))?(?=$|[,/])")
_PERMITTED = Permission(priority=True, memory_lock=True), ""


class StillMachine(Target):
    """A machine of which only its files are there: nothing can be started, so nothing is measured.

    Its probe refuses no options, and has two transports.
    """

    def __init__(self, name: str, root: Path) -> None:
        super().__init__("tauto-probe", "tauto-agent")
        self.name = name
        self._tree = root

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        raise MeasuringError(f"{command[1]}: nothing can be started here")

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> ProbeAnswer:
        return ProbeAnswer(0, "tcp yes\nunix yes\n" if "--transports" in arguments else "", ())

    def files(self) -> Files:
        return LocalFiles(self._tree)

    def in_force(self) -> None:
        return None


class Desk:
    """A folder with the runs, the plans and machines to look at, from which verbs are called.

    Attributes:
        folder: the working folder; what verbs write lies in `out` there.
    """

    def __init__(self, folder: Path) -> None:
        """Copy what is asked about: some verbs write beside it."""
        self.folder = folder.resolve()
        for name in ("runs", "plans"):
            shutil.copytree(HERE / name, self.folder / name)
        plant(self.folder / "good")
        plant(self.folder / "poor", {**GUEST, **PLAIN, **NO_PERMISSION})
        plant(self.folder / "guest", with_cpus(2))
        plant_machine(self.folder / "cores", [(0, 2), (1, 3)])
        plant_machine(self.folder / "one", [(0,)])

    def ask(self, store: str, *words: str, columns: int | None = COLUMNS) -> Ended:
        """Call tauto; `@cyclic#1` among the words is the second run of this experiment in the store."""
        place = self.folder / "runs" / store
        given = [_NAMED.sub(lambda found: _run(place, found[1], int(found[2] or 0)), word) for word in words]
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        (self.folder / "out").mkdir()
        with chdir(self.folder), mock.patch.dict("os.environ", self._around()):
            return tauto(*given, store=place, columns=columns)

    def _around(self) -> dict[str, str]:
        """Return an environment without kernels, virtual machines, colours: nothing can be measured."""
        empty = str(self.folder / "empty")
        return {"NO_COLOR": "1", "PATH": empty, "XDG_CACHE_HOME": empty, "HOME": empty}

    @contextmanager
    def measured(self, store: str, experiments: Sequence[str]) -> Iterator[None]:
        """Verbs that measure find these runs measured, on the machine that they are of."""
        place = self.folder / "runs" / store
        named = {
            _NAMED.sub(lambda found: _run(place, found[1], int(found[2] or 0)), one) for one in experiments
        }
        runs = tuple(run for run in reversed(list(Store(place).runs())) if run.id in named)
        whole = StoredRun.read(
            HERE / "runs" / "experiments" / _run(HERE / "runs" / "experiments", "cyclic", 0)
        )
        facts = {**whole.manifest.facts, **runs[0].manifest.facts}
        with ExitStack() as stack:
            for name, value in {
                "tautochrone.command.batch.run_batch": Batch(runs, (), False, ()),
                "tautochrone.machine.facts.gather": facts,
                "tautochrone.command.permission.find_permission": _PERMITTED,
                "tautochrone.lab_diff.measure._do": {
                    side: SealedCell(run.id) for side, run in zip("AB", runs, strict=False)
                },
            }.items():
                stack.enter_context(mock.patch(name, return_value=value))
            # How often a bar is drawn, which is no part of an answer, depends on how busy this machine is.
            stack.enter_context(mock.patch("tautochrone.command.live._SHOWN_FROM_S", inf))
            yield

    @contextmanager
    def at(self, machine: str, store: str) -> Iterator[None]:
        """Verbs find this machine, in the state in which the first run of the store was measured."""

        @contextmanager
        def opened(where: str | None) -> Iterator[Target]:
            yield StillMachine(where or "local", self.folder / machine)

        first = min((self.folder / "runs" / store).glob("*/run.json"))
        facts = json.loads(first.read_text())["facts"]
        with ExitStack() as stack:
            for place in (
                "target.open.open_target",
                "target.open.open_to_measure",
                "measure.campaign.sites.open_to_measure",
            ):
                stack.enter_context(mock.patch(f"tautochrone.{place}", opened))
            stack.enter_context(mock.patch("tautochrone.machine.facts.gather", return_value=facts))
            yield


def _run(place: Path, experiment: str, number: int) -> str:
    return sorted(path.name for path in place.glob(f"*-{experiment}-*"))[number]


def notebook(desk: Desk, store: str, show: Callable[[Any, str], Any]) -> str:
    """Return what a notebook shows of something: its HTML and its words."""
    place = str(desk.folder / "runs" / store)
    shown = show(tautochrone, place)
    html = shown._repr_html_() if hasattr(shown, "_repr_html_") else ""
    return f"{html}<pre>\n{shown!r}\n</pre>"
