"""The house is the one that CONTRIBUTING.md draws: floors, features apart from each other, compositions."""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from where import ROOT

LAB = ROOT / "src" / "tautochrone"


def listed() -> dict[str, list[str]]:
    """The folders that are drawn, by the kind that the drawing gives them."""
    drawn = (ROOT / "CONTRIBUTING.md").read_text().partition("src/tautochrone/")[2].partition("\ntests/")[0]
    kinds = re.split(r"^  (floors|features|compositions):.*$", drawn, flags=re.MULTILINE)[1:]
    return {
        kind: re.findall(r"(?:^ {4}|(?<=/) {2})(\w+)(?=/)", folders, re.MULTILINE)
        for kind, folders in zip(kinds[::2], kinds[1::2], strict=True)
    }


@cache
def modules() -> dict[str, Path]:
    """Every module below the package, by its dotted name."""
    return {
        ".".join(path.relative_to(LAB).with_suffix("").parts).removesuffix(".__init__"): path
        for path in LAB.rglob("*.py")
        if path.parent != LAB
    }


_IMPORT = re.compile(r"^ *from tautochrone(?:\.([\w.]+))? import (\([^)]*\)|[^\n(]+)", re.MULTILINE)
"""As the formatter writes it; to parse all files takes seconds."""


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """The module and the name of each import of ours in a file, also of those inside functions."""
    for module, names in _IMPORT.findall(path.read_text()):
        for name in re.sub(r"#.*|[()]", "", names).split(","):
            if words := name.split():  # a comma may be the last
                yield module, words[0]


@cache
def edges(path: Path) -> set[str]:
    """The modules that a file imports."""
    known = modules()
    return {inner if (inner := f"{module}.{name}") in known else module for module, name in imported(path)}


def test_every_folder_of_the_lab_is_drawn() -> None:
    drawn = [folder for folders in listed().values() for folder in folders]
    there = {path.name for path in LAB.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert sorted(drawn) == sorted(there)
    assert {path.name for path in LAB.glob("*.py")} == {"__init__.py"}


def test_floors_import_downward_features_no_feature_and_compositions_what_is_drawn_before() -> None:
    drawn = listed()
    height = {name: at for at, name in enumerate(drawn["floors"])}
    height |= dict.fromkeys(drawn["features"], len(height))
    height |= {name: len(height) + at for at, name in enumerate(drawn["compositions"])}
    wrong = sorted(
        f"{name} imports {other}"
        for name, path in modules().items()
        for other in edges(path)
        if (here := name.partition(".")[0]) != (there := other.partition(".")[0])
        if there in height
        if height[there] > height[here] or {here, there} <= set(drawn["features"])
    )
    assert wrong == []


PAGES = ("CONTRIBUTING.md", "docs/recipes.md")
TO_WRITE = re.compile("NAME|ARCH|CASE|switch|[Tt][Aa][Oo]_|tao[.]")
"""What the reader of a recipe is to write: `NAME`, and the examples `switch` and `tao`."""
SOURCES = ("src", "probe", "agent", "middleware", "step", "kmod", "tests", "scripts")
CODE = re.compile(
    r"^(src|probe|agent|middleware|step|kmod|tests/support)/.*[.](py|c|cpp|h|build)$|^tests/conftest|^scripts/[\w.-]+$"
)
THEIRS = {"TAO_seq", "SERVER_DECLARED", "_var", "hypothesis", "ruff"}
"""What other projects call so."""


def named(page: str) -> set[str]:
    """What a page has between backticks, outside of its blocks of code."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    return {" ".join(one.split()) for one in re.findall(r"`([^`]+)`", text)}


@pytest.fixture(scope="module")
def files() -> set[str]:
    """Every file of ours and every folder, the latter with a slash behind."""
    there = [path for top in (*SOURCES, "docs", "bench", "examples") for path in (ROOT / top).rglob("*")]
    there += [path for path in ROOT.iterdir() if path.is_file()]
    shown = {f"{path.relative_to(ROOT)}{'/' if path.is_dir() else ''}" for path in there}
    return shown | {f"{top}/" for top in (*SOURCES, "docs", "bench", "examples")}


def is_there(name: str, files: set[str]) -> bool:
    """Whether a path, or the end of one, is that of a file or a folder."""
    return any(f"/{one}".endswith(f"/{name}") for one in files)


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_recipe_names_exists(page: str, files: set[str]) -> None:
    """Of one that the reader is to write, the folder does."""
    paths = {
        one for one in named(page) if re.fullmatch(r"[\w.-]+(/[\w.*-]*)+|[\w-]+[.](c|h|py|build|toml)", one)
    }
    paths = {one for one in paths if not one.startswith(("build/", "."))}
    assert paths
    looked_for = {
        re.sub(r"[^/]+/?$", "", one) if TO_WRITE.search(one) and not is_there(one, files) else one
        for one in paths
        if "*" not in one
    }
    assert {one for one in looked_for if one and not is_there(one, files)} == set()


def test_every_source_that_any_page_names_exists(files: set[str]) -> None:
    pages = ["README.md", *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]
    sources = {
        one
        for page in pages
        for one in named(page)
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)+[.](py|c|h|cpp)", one)
    }
    assert {one for one in sources if not TO_WRITE.search(one) and not is_there(one, files)} == set()


def test_every_name_in_a_recipe_is_one_of_the_code(files: set[str]) -> None:
    """A function, a class, a constant, an attribute, a structure, with or without its call."""
    form = re.compile(r"(?:struct |enum )?([A-Za-z_]\w*)(?:\(.*\))?")
    known = {
        word
        for one in files
        if CODE.search(one)
        for word in set(re.findall(r"\w+", (ROOT / one).read_text()))
    }
    for page in PAGES:
        names = {found[1] for one in named(page) if (found := form.fullmatch(one)) is not None}
        assert names
        assert {one for one in names - THEIRS - known if not TO_WRITE.search(one)} == set(), page


@pytest.mark.parametrize("page", PAGES)
def test_a_name_in_a_recipe_stands_in_the_file_that_is_named_with_it(page: str, files: set[str]) -> None:
    """Such as "`KNOBS` (`machine/knob/__init__.py`)", or "`NAMES` of `papers/studies.py`"."""
    text = (ROOT / page).read_text()
    pairs = re.findall(r"`(\w+)`(?:\s+(?:of|in)\s+|\s+\()`([\w./-]+[.](?:py|c|h|sh))`", text)
    assert pairs
    for name, place in pairs:
        found = [ROOT / one for one in files if f"/{one}".endswith(f"/{place}")]
        assert any(re.search(rf"\b{name}\b", path.read_text()) for path in found), (name, place)


def test_no_imports_run_in_a_circle() -> None:
    try:
        TopologicalSorter({name: edges(path) - {name} for name, path in modules().items()}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_files_that_a_person_names_are_written_in_one_place() -> None:
    """`run/output.py` knows what must not be replaced."""
    writing = re.compile(r"\.write_(?:text|bytes)\(|(?:open|open_file)\([^)]*[\"'][wa]b?[\"']")
    drawn = listed()
    lowest = drawn["floors"].index("judge")
    folders = [*drawn["floors"][lowest:], *drawn["features"], *drawn["compositions"]]
    others = [
        str(path.relative_to(LAB))
        for folder in folders
        for path in (LAB / folder).rglob("*.py")
        if writing.search(path.read_text())
    ]
    assert others == []


def test_every_kind_of_grid_is_offered_where_it_is_registered() -> None:
    from tautochrone.campaign.kinds import KINDS, kind_named

    for name in KINDS:
        found = kind_named(name)
        assert found is not None
        assert found.title
    assert kind_named("of a later version") is None


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for name, path in modules().items():
        for public in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(), re.MULTILINE):
            places.setdefault(public, []).append(name)
    places["Run"].remove("notebook.run")  # what a notebook calls so: `import tautochrone as tc; tc.Run`
    assert {name: where for name, where in places.items() if len(where) != 1 and where} == {}


@pytest.mark.slow
def test_every_benchmark_finds_what_it_imports() -> None:
    """They are run by hand, so nothing else would tell."""
    benches = sorted((ROOT / "bench").glob("[!_]*.py"))
    assert len(benches) > 10
    names = [one.stem for one in benches]
    code = (
        "import sys\n"
        f"for name in {[*names, 'judgement.questions']}:\n"
        "    path = sys.path[:]\n"
        "    sys.path[:0] = ['src', 'bench']\n"
        "    __import__(name)\n"
        "    sys.path[:] = path"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
