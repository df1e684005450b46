"""What is computed of the same numbers again and again, computed once: for tests that show it in many ways.

Only pure functions of the statistics are remembered, by the content of what they are given. What reads,
judges and shows is done anew each time.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pytest

_FUNCTIONS = {
    "tautochrone.judge.tail.source": ("analyse",),
    "tautochrone.judge.course": (
        "change_points", "detectable", "patterns_of", "oscillations_of", "periods_of", "associations",
    ),
    "tautochrone.judge.comparison.numbers": ("quantile_differences", "two_samples"),
    "tautochrone.selection.judge": ("two_samples",),
    "tautochrone.selection.places": ("pairwise_differences",),
}  # fmt: skip


@contextmanager
def remembered() -> Iterator[None]:
    """Remember until the end of the block."""
    from tautochrone.statistics.tails.generalised_pareto import Profile

    known: dict[bytes, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, functions in _FUNCTIONS.items():
            module = import_module(name)
            for function in functions:
                patch.setattr(module, function, _once(getattr(module, function), known))
        for method in ("level", "chance"):
            patch.setattr(Profile, method, _once(getattr(Profile, method), known))
        yield


def _once(function: Callable[..., Any], known: dict[bytes, Any]) -> Callable[..., Any]:
    def found(*given: Any, **named: Any) -> Any:
        told = hashlib.blake2b(f"{function.__module__}.{function.__qualname__}".encode())
        _tell((given, sorted(named.items())), told)
        key = told.digest()
        if key not in known:
            known[key] = function(*given, **named)
        return known[key]

    return found


def _tell(node: Any, told: "hashlib.blake2b") -> None:
    """Add the content; of a run's blocks their bounds, ends and means, which tell runs apart, are enough."""
    if isinstance(node, np.ndarray):
        told.update(f"{node.dtype} {node.shape}".encode())
        if node.ndim == 1:
            told.update(np.ascontiguousarray(node).tobytes())
    elif is_dataclass(node):
        told.update(type(node).__qualname__.encode())
        for field in fields(node):
            _tell(getattr(node, field.name), told)
    elif isinstance(node, list | tuple):
        told.update(f"{len(node)} of them".encode())
        for one in node:
            _tell(one, told)
    elif hasattr(node, "__dict__") and not callable(node):
        _tell(sorted(vars(node).items()), told)
    else:
        told.update(pickle.dumps(node))
