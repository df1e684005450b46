"""Which transports a machine has: its probe is asked, so that it may be one far away."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.measure.document.document import suggestion
from tautochrone.target.middleware import THROUGHPUT
from tautochrone.target.target import Target

ALL = "all"
_YES, _NO = "yes", "no"
_OF_STANDARD = {"corba": "omniorb", "dds": "cyclonedds", "zmq": "zeromq", "0mq": "zeromq"}
_NEEDS = "it needs "  # and Debian's packages that it is built with


@dataclass(frozen=True)
class Transport:
    """One that the probe knows.

    Attributes:
        why: it is not to be had there; empty: it is.
    """

    name: str
    why: str = ""


def transports_of(target: Target) -> tuple[Transport, ...]:
    """Those that the machine's probe knows, in its order.

    Raises:
        UsageError: it knows none.
        MeasuringError: the connection was lost.
    """
    answer = target.ask([THROUGHPUT, "--transports"])
    lines = [line.split(maxsplit=2) for line in answer.text.splitlines()] if answer.exit_code == 0 else []
    found = tuple(_read(words) for words in lines if len(words) > 1 and words[1] in (_YES, _NO))
    if not found:
        said = f": {answer.messages[-1].rstrip('.')}" if answer.messages else ""
        raise UsageError(f"the probe of {target.name} has no middleware{said}", "Run `make setup`.")
    return found


def _read(words: Sequence[str]) -> Transport:
    if words[1] == _YES:
        return Transport(words[0])
    return Transport(words[0], words[2] if len(words) > 2 else "it is not built there")


def chosen_transports(
    text: str | None, there: Sequence[Transport]
) -> tuple[tuple[str, ...], tuple[Transport, ...]]:
    """The transports to be measured, and those of all that are left out, since they are not to be had.

    Args:
        text: a list with commas, or "all"; None: all.

    Raises:
        UsageError: a name is not known, or one that was asked for, or every one, is not to be had.
    """
    built = tuple(one.name for one in there if not one.why)
    if text is None or text.strip() == ALL:
        lacking = tuple(one for one in there if one.why)
        if not built:
            raise UsageError(f"no transport is to be had: {_told(there[0])}", _advice(there[:1]))
        return built, lacking
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    known = {one.name: one for one in there}
    for name in names:
        if name not in known:
            meant = _OF_STANDARD.get(name.lower())
            advice = f"Of {name.upper()}, there is {meant}." if meant in known else None
            raise UsageError(f"--transport '{name}' is not known", advice or suggestion(name, [*known, ALL]))
    lacking = tuple(known[name] for name in names if known[name].why)
    if lacking:
        raise UsageError(f"--transport {_told(lacking[0])}", _advice(lacking))
    return names, ()


def left_out(lacking: Sequence[Transport]) -> str:
    """What is told of transports that are not to be had."""
    return f"Left out: {'; '.join(map(_told, lacking))}. {_advice(lacking)}"


def _told(one: Transport) -> str:
    return f"{one.name}: {one.why.rstrip('.')}"


def _advice(lacking: Sequence[Transport]) -> str:
    needed = [one.why.removeprefix(_NEEDS) for one in lacking if one.why.startswith(_NEEDS)]
    packages = dict.fromkeys(name for words in needed for name in words.rstrip(".").split())
    install = f"sudo apt install {' '.join(packages)}, then" if packages else "Run"
    return f"{install} `make setup`."
