"""Units in which studies print times."""

_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def in_ns(value: float, unit: str) -> float:
    """A published time in ns.

    Raises:
        ValueError: it is no unit of time: a fault of the study's file.
    """
    if unit not in _NS:
        raise ValueError(f"'{unit}' is no unit of time")
    return value * _NS[unit]
