"""Answers under --json, held against the JSON Schemas that are shipped."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tautochrone.base import schemas


def valid(text: str) -> dict[str, Any]:
    """Return an answer that its schema describes whole: also no key that the schema does not know."""
    answer: dict[str, Any] = json.loads(text)
    assert isinstance(answer, dict), "an answer is an object"
    assert answer["schema"] == schemas.key_of(answer["schema"]["name"])
    wrong = [
        f"{answer['schema']['name']}: {error.json_path}: {error.message[:300]}"
        for error in _validator(answer["schema"]["name"]).iter_errors(answer)
    ]
    assert not wrong, "\n".join(wrong[:10])
    return answer


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(_closed(schemas.read(name)))


def _closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        closed.setdefault("additionalProperties", False)
    return closed
