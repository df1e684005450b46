"""What all tests of imports use."""

from pathlib import Path

import pytest

from tautochrone.run.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "store")
