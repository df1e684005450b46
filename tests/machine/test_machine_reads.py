"""How often files are read to observe a machine: each costs a round trip on a far one, if not announced."""

from collections import Counter
from pathlib import Path

import pytest

from machine_trees import plant, with_cpus
from tautochrone.machine.facts import observe
from tautochrone.machine.tree import Kind, LocalFiles


class CountedFiles(LocalFiles):
    """Files that count what is asked of them, and what of that was not announced."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.asked: list[str] = []
        self.announced: set[str] = set()
        self.announcements = 0

    def read(self, path: str) -> bytes:
        self.asked.append(path)
        return super().read(path)

    def names(self, path: str) -> tuple[str, ...]:
        self.asked.append(path)
        return super().names(path)

    def kind(self, path: str) -> Kind | None:
        self.asked.append(path)
        return super().kind(path)

    def prefetch(self, paths: tuple[str, ...]) -> None:
        self.announced |= set(paths)
        self.announcements += 1

    @property
    def single(self) -> list[str]:
        """What costs a round trip of its own on a far machine."""
        return [path for path in self.asked if path not in self.announced]


def counted(root: Path, cpus: int) -> CountedFiles:
    files = CountedFiles(plant(root, with_cpus(cpus)))
    facts = observe(files)
    assert facts.cpu.online_count == cpus
    assert facts.power.idle_enabled_cpus == (f"0-{cpus - 1}", f"0-{cpus - 1}", "")
    return files


@pytest.mark.slow
def test_a_machine_of_128_cpus_is_read_in_a_bounded_number_of_round_trips(tmp_path: Path) -> None:
    small, large = counted(tmp_path / "small", 4), counted(tmp_path / "large", 128)
    assert large.announcements <= 5
    assert len(large.single) <= 20, large.single
    assert len(large.single) == len(small.single)
    assert len(large.asked) <= 300 + 16 * 128
    often = {path for path, times in Counter(large.asked).items() if times > 2}  # as a file, as a folder
    assert often == set()
