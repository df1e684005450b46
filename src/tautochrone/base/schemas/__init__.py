"""The JSON Schemas of what verbs answer under ``--json``: a file for each kind of answer, beside this one.

What several answers have stands in the file of one, and the others refer to it (``$ref``).
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tautochrone.base.errors import UsageError
from tautochrone.base.words import suggestion

_HERE = Path(__file__).resolve().parent


def names() -> tuple[str, ...]:
    """Return the names of all schemas, in the order of the alphabet."""
    return tuple(sorted(path.stem for path in _HERE.glob("*.json")))


def read(name: str) -> dict[str, Any]:
    """Return the schema of this name, with what it refers to in it.

    Raises:
        UsageError: there is none.
    """
    if name not in names():
        raise UsageError(f"There is no schema '{name}'", suggestion(name, names()))
    content: dict[str, Any] = _whole(_file(name), name)
    return content


@cache
def _file(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((_HERE / f"{name}.json").read_text(encoding="utf-8"))
    return content


def _whole(part: Any, name: str) -> Any:
    """Return a part of the schema of this name, with what is referred to in place of each reference."""
    if isinstance(part, list):
        return [_whole(one, name) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" not in part:
        return {key: _whole(value, name) for key, value in part.items()}
    file, _, path = part["$ref"].partition("#/")
    owner = file.removesuffix(".json") or name
    found: Any = _file(owner)
    for key in path.split("/"):
        found = found[key]
    return _whole(found, owner)


def key_of(name: str) -> dict[str, object]:
    """Return the value of ``schema`` in an answer: the name of its schema, and the version."""
    version = _file(name)["properties"]["schema"]["properties"]["version"]["const"]
    return {"name": name, "version": int(version)}


def with_schema(name: str, content: Mapping[str, object]) -> dict[str, object]:
    """Return an answer with the key ``schema`` first."""
    return {"schema": key_of(name), **content}
