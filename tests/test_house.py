"""The lab's floors are those that CONTRIBUTING.md lists, and imports run downward only."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
LAB = ROOT / "src" / "tautochrone"
_OURS = re.compile(r"^\s*(?:from|import) tautochrone\.(\w+)|^\s*from tautochrone import (.+)$", re.MULTILINE)


def floors() -> dict[str, int]:
    """By the name of a folder or a module, how far up it is."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    listed = text.partition("src/tautochrone/")[2].partition("\ntests/")[0]
    found: dict[str, int] = {}
    for height, names in enumerate(re.findall(r"^  ((?:\w+(?:\.py|/) ?)+)", listed, re.MULTILINE)):
        found.update(dict.fromkeys(re.findall(r"\w+(?=\.py|/)", names), height))
    return found


def imports(path: Path) -> set[str]:
    """What of the lab a file imports: the first name below the package."""
    return {
        name.strip()
        for module, names in _OURS.findall(path.read_text())
        for name in (module or names).split(",")
    }


def test_every_part_of_the_lab_is_on_a_floor() -> None:
    parts = {path.stem for path in LAB.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert parts - {"__init__", "__pycache__"} == set(floors())


def test_imports_run_downward_only() -> None:
    floor = floors()
    upward = [
        f"{path.relative_to(LAB)} imports {name}"
        for path in LAB.rglob("*.py")
        if (here := path.relative_to(LAB).parts[0].removesuffix(".py")) in floor
        for name in imports(path)
        if name in floor and floor[name] > floor[here]
    ]
    assert upward == []


def test_files_that_a_person_names_are_written_in_one_place() -> None:
    """`run/output.py` knows what must not be replaced."""
    writing = re.compile(r"\.write_(?:text|bytes)\(|(?:open|open_file)\([^)]*[\"'][wa]b?[\"']")
    others = [
        str(path.relative_to(LAB))
        for folder in ("cli", "notebook", "report")
        for path in (LAB / folder).rglob("*.py")
        if writing.search(path.read_text())
    ]
    assert others == []
