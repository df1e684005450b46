"""A machine whose probes and loads are real, and whose settings are files in a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cells import worded
from real import a_cpu, policy_options
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.settings import Change, SettingError, Write
from tautochrone.machine.tree import Files, LocalFiles
from tautochrone.measure.cell import Cell
from tautochrone.measure.loads.spec import parse_load
from tautochrone.target.local import LocalTarget
from tautochrone.target.program import RunningLoad, RunningProbe
from tautochrone.target.target import ANYWHERE, Placement

NUMA = "/proc/sys/kernel/numa_balancing"
FACTS: Mapping[str, Any] = {"cpu": {"allowed": a_cpu()}}
QUIET = Deployment("quiet", "without page moving", {"numa-balancing": "off"}, measure=a_cpu(), load=a_cpu())


class FakeSettings:
    """Changes to a tree of files; what is told, in order, goes into a list."""

    def __init__(self, root: Path, log: list[str]) -> None:
        self._root, self._log = root, log
        self._before: list[tuple[Path, str]] = []
        self.left: tuple[str, ...] = ()
        self.refuses = False

    def apply(self, change: Change) -> None:
        assert isinstance(change, Write)
        if self.refuses:
            raise SettingError("the kernel refused it")
        path = self._root / change.path.lstrip("/")
        self._before.append((path, path.read_text()))
        path.write_text(change.value)
        self._log.append("applied")

    def undo(self) -> tuple[str, ...]:
        for path, text in reversed(self._before):
            path.write_text(text)
        self._log.append("undone")
        return self.left

    def leave(self) -> None:
        raise AssertionError("nobody asked for that")


class FakeMachine(LocalTarget):
    """Probes and loads are real; the files, and what changes them, are a tree."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.log: list[str] = []
        self.tree = root
        self.settings = FakeSettings(root, self.log)
        self.asked: list[str] = []
        for path, text in {
            NUMA: "1\n",
            "/sys/devices/system/cpu/online": f"0-{a_cpu()}\n",
            "/sys/devices/system/cpu/present": f"0-{a_cpu()}\n",
            "/sys/devices/system/cpu/possible": f"0-{a_cpu()}\n",
        }.items():
            place = root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def files(self) -> Files:
        return LocalFiles(self.tree)

    def change_settings(self, name: str) -> FakeSettings:
        self.log.append(f"begun {name}")
        return self.settings

    def start_load(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningLoad:
        self.log.append(f"load {' '.join(arguments)}")
        return super().start_load(arguments, placement)

    def start_probe(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningProbe:
        self.log.append(f"probe {' '.join(arguments)}")
        return super().start_probe(arguments, placement)

    @property
    def setting(self) -> str:
        return (self.tree / NUMA.lstrip("/")).read_text().strip()


def cell(deployment: Deployment | None = QUIET, load: str = "cpu") -> Cell:
    words = ("--period", "1ms", "--count", "50", *policy_options())
    return worded("cyclic", words, "a loop", parse_load([load]), 0.2, deployment=deployment)
