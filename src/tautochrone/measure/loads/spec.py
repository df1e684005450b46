"""Background loads as people write them, such as ``cpu+memory`` or ``fork:bytes=256MB,cpus=1``."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from tautochrone.base.errors import UsageError
from tautochrone.base.units import (
    parse_duration_ns,
    parse_period_ns,
    parse_rate_hz,
    parse_share,
    parse_size_bytes,
)
from tautochrone.base.words import suggestion
from tautochrone.measure.cell import IDLE, Load, LoadPart
from tautochrone.measure.loads.kinds import (
    BUILT_IN_PAIR,
    COMMAND,
    KINDS,
    PRESETS,
    STRESS_NG,
    TAKES_THE_REST,
)

_QUANTITIES: Mapping[str, Callable[[str], int]] = {
    "bytes": parse_size_bytes,
    "block": parse_size_bytes,
    "period": parse_period_ns,
    "work": parse_duration_ns,
    "pause": parse_duration_ns,
}
"""How the values of loads are read, of which the key says what they are."""

_PAIR_BYTES = 256 * 1024 * 1024


def parse_load(specs: Sequence[str]) -> Load:
    """Read what a person wants to run beside a measurement.

    Each spec is one or more parts joined by ``+``; several specs are joined likewise. A part is a name, or
    ``name:key=value,…``; a value may hold commas, as in ``cpus=0,1``. ``stress-ng:ARGUMENTS`` and
    ``command:PROGRAM ARGUMENTS`` take the rest of their spec, split into words as a shell does. ``idle`` is
    nothing, and stands alone. None of them, or an empty list, is ``idle`` too.

    Raises:
        UsageError: which part can't be read, and what is known.
    """
    parts = [part for spec in specs for part in _parts(spec)]
    if not parts or parts == [IDLE.name]:
        return IDLE
    if IDLE.name in parts:
        raise UsageError(
            f"load '{'+'.join(parts)}': idle is no load beside others",
            "Leave it out, or measure twice: once idle, once under the load.",
        )
    name = "+".join(sorted(parts, key=_takes_the_rest))  # stable; so the name can be read again
    programs = [one for part in parts for one in _resolved(part)]
    if parts == BUILT_IN_PAIR.split("+"):
        programs[1] = programs[1].having("bytes", str(_PAIR_BYTES))
    return Load(name, tuple(programs))


def bare(name: str) -> str:
    """Return what a load is called without its options: ``fork+cpu`` of ``fork:bytes=64MB+cpu``."""
    return "+".join(part.partition(":")[0] for part in _parts(name))


def _parts(spec: str) -> Iterator[str]:
    """Yield the parts of one spec, without surrounding white space."""
    rest = spec.strip()
    if not rest:
        raise UsageError("an empty load", f"Choose from {_known()}.")
    while rest:
        if _takes_the_rest(rest):
            head, _, words = rest.partition(":")
            yield f"{head.strip()}:{words.strip()}"
            return
        part, plus, rest = (one.strip() for one in rest.partition("+"))
        if not part or (plus and not rest):
            raise UsageError(f"load '{spec}': a part is missing beside +", "Write it like cpu+memory.")
        yield part


def _takes_the_rest(part: str) -> bool:
    head, colon, _ = part.partition(":")
    return bool(colon) and head.strip() in TAKES_THE_REST


def _resolved(part: str) -> list[LoadPart]:
    """Return the program that a part names; several for a paper's load."""
    name, colon, rest = (one.strip() for one in part.partition(":"))
    if name in TAKES_THE_REST:
        return [_command(name, rest)]
    if name in PRESETS and not colon:
        return [one for inner in _parts(PRESETS[name][0]) for one in _resolved(inner)]
    if name in PRESETS:
        raise UsageError(
            f"load '{part}': {name} takes no options", f"Write its loads yourself: {PRESETS[name][0]}."
        )
    if name not in KINDS:
        raise UsageError(f"there is no load '{name}'", suggestion(name, _names()))
    return [LoadPart(name, tuple(_options(part, name, rest)))]


def _command(name: str, rest: str) -> LoadPart:
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise UsageError(
            f"load '{name}:{rest}': {str(error).lower()}", "Close the quotation, or escape it with \\."
        ) from None
    if not words:
        example = "--vm 2 --vm-bytes 64M" if name == STRESS_NG else "hackbench -l 1000"
        raise UsageError(f"load '{name}' does not say what to run", f"Write it like {name}:{example}.")
    return LoadPart(COMMAND, command=(*([STRESS_NG] if name == STRESS_NG else []), *words))


def _options(part: str, name: str, rest: str) -> Iterator[tuple[str, str]]:
    """Read ``key=value,key=value``; what has no ``=`` belongs to the value before it."""
    pairs: list[list[str]] = []
    for piece in rest.split(",") if rest else ():
        key, equals, value = (one.strip() for one in piece.partition("="))
        if equals:
            pairs.append([key, value])
        elif pairs:
            pairs[-1][1] += f",{key}"
        else:
            raise UsageError(f"load '{part}': '{piece}' is no key=value", suggestion(key, KINDS[name].keys))
    for key, value in pairs:
        if key not in KINDS[name].keys:
            raise UsageError(
                f"load '{part}': {name} has no option '{key}'", suggestion(key, KINDS[name].keys)
            )
        if not value.strip(","):
            raise UsageError(f"load '{part}': {key} has no value", f"It is {KINDS[name].keys[key]}.")
        try:
            _see_quantity(name, key, value)
        except UsageError as error:
            raise UsageError(f"load '{part}': {key}: {error}", error.advice) from error
        yield key, value
    keys = [key for key, _ in pairs]
    if twice := [key for at, key in enumerate(keys) if key in keys[:at]]:
        raise UsageError(f"load '{part}': {twice[0]} is given twice", "Leave one of them out.")


def _see_quantity(name: str, key: str, value: str) -> None:
    """Refuse what the probe could not read; it sees itself what is too much or too little."""
    if key == "bytes" and ("%" in value or " in " in value):
        parse_share(value)
    elif key == "rate" and name == "irq" and not (value.isascii() and value.isdecimal()):
        parse_rate_hz(value)
    elif parse := _QUANTITIES.get(key):
        parse(value)


def _names() -> list[str]:
    return [IDLE.name, BUILT_IN_PAIR, *KINDS, *(f"{name}:…" for name in TAKES_THE_REST), *PRESETS]


def _known() -> str:
    return ", ".join(_names())
