"""Where things lie, for tests that read the project's own files."""

from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
DATA = SUPPORT.parent / "data"
ROOT = SUPPORT.parent.parent
