"""The worked example is executed as it stands, on the real probe, and says what it should."""

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from real import PATIENCE_S, needs_priorities
from where import ROOT

EXAMPLE = ROOT / "examples" / "first-steps.ipynb"
SOURCES = ROOT / "src"
STANDINGS = r"latency p99 < 500us: (holds|does not hold|not shown)"


def test_the_example_is_stored_without_outputs() -> None:
    notebook = nbformat.read(EXAMPLE, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) > 10
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


@pytest.mark.slow
def test_the_example_runs_and_shows_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    needs_priorities("cyclic in the example")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "TMPDIR", "TAUTO_STORE"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(EXAMPLE, as_version=4)
    NotebookClient(notebook, timeout=int(PATIENCE_S), kernel_name="python3").execute()
    shown = [_shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    text = "\n".join(shown)
    assert text.count("<svg") >= 3
    for words in (
        "source', 'scheduled_ns', 'latency_ns",
        "at 95 % confidence",
        "What was tested",
        "over time",
        "What differs in the conditions",
        "as Table 4 of delgado2020",
        "Not told apart from the best: ",
    ):
        assert words in text, words
    assert re.search(STANDINGS, text.replace("&lt;", "<"))
    assert "Traceback" not in text
    assert list((tmp_path / "TAUTO_STORE").iterdir()) == []  # it has a store of its own
    if folder := os.environ.get("TAUTO_TEST_KEEP"):
        nbformat.write(notebook, Path(folder) / EXAMPLE.name)


def _shown(cell: Any) -> str:
    found = []
    for output in cell.outputs:
        data = output.get("data", {})
        found += [
            output.get("text", ""),
            *(data.get(kind, "") for kind in ("text/html", "image/svg+xml", "text/plain")),
        ]
    return "\n".join(found)
