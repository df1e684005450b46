"""What an FMU says of itself: its modelDescription.xml (FMI 2.0 and 3.0), read with limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from msgspec import Struct

from tautochrone.base.errors import UsageError

INTEGERS: Mapping[str, tuple[int, int]] = {
    "Integer": (-(2**31), 2**31 - 1),
    **{f"Int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
REALS = ("Real", "Float64", "Float32")
BOOLEAN = "Boolean"
_ENUMERATION = {"2": "Integer", "3": "Int64"}
"""What the interface takes an enumeration for, by the version of the standard."""

_MOST_VARIABLES = 1_000_000
_DEPTH = 64


@dataclass(frozen=True)
class Variable:
    """A variable with one number.

    Attributes:
        kind: as the functions of its type are called: Real, Float64.
        reference: its value reference.
        start: of an input, what it begins with; None: the FMU does not say.
        discrete: it changes at events only.
    """

    name: str
    kind: str
    reference: int
    causality: str = "local"
    start: float | None = None
    discrete: bool = False


class FmuFacts(Struct, frozen=True):
    """What a run keeps of an FMU beside its file.

    Attributes:
        fmi: the version of the standard, 2.0 or 3.0.
        outputs_left_out: how many of its outputs are not kept: arrays, texts, and those beyond the limit.
    """

    fmi: str
    model: str
    tool: str
    outputs_left_out: int = 0


@dataclass
class ModelDescription:
    """What is known of an FMU.

    Attributes:
        version: 2 or 3.
        identifier: the name of its library, without what the system puts behind it.
        can: of the abilities "vary", "events", "early", those that it has (docs/step.md).
        variables: those with one number.
        others: the names of variables that have none: texts, arrays, clocks; and their causality.
    """

    fmi: str = ""
    model: str = ""
    tool: str = ""
    token: str = ""
    identifier: str = ""
    is_exchanged: bool = False
    can: set[str] = field(default_factory=set)
    variables: list[Variable] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)

    @property
    def version(self) -> int:
        """Return the standard's major version."""
        return int(self.fmi[:1])


_ABILITIES = {
    "canHandleVariableCommunicationStepSize": "vary",
    "hasEventMode": "events",
    "mightReturnEarlyFromDoStep": "early",
}


class _Reader:
    """Takes the elements as they come, and keeps what is needed of them."""

    def __init__(self) -> None:
        self.found = ModelDescription()
        self.path: list[str] = []
        self.variable: dict[str, str] | None = None
        self.kind = ""
        self.is_array = False

    def doctype(self, *_: object) -> None:
        """Refuse what entities without end are made of; the standard has no use for it."""
        raise ValueError("it has a document type")

    def start(self, name: str, has: dict[str, str]) -> None:
        """Take an element as it begins."""
        self.path.append(name)
        if len(self.path) > _DEPTH:
            raise ValueError("it is nested too deeply")
        found = self.found
        if self.path == ["fmiModelDescription"]:
            found.fmi = has.get("fmiVersion", "")
            found.model, found.tool = has.get("modelName", ""), has.get("generationTool", "")
            found.token = has.get("instantiationToken", has.get("guid", ""))
        elif self.path == ["fmiModelDescription", "CoSimulation"]:
            found.identifier = has.get("modelIdentifier", "")
            found.can = {ability for said, ability in _ABILITIES.items() if has.get(said) in ("true", "1")}
        elif self.path == ["fmiModelDescription", "ModelExchange"]:
            found.is_exchanged = True
        elif self.path[1:2] == ["ModelVariables"]:
            self._variable(name, has)

    def _variable(self, name: str, has: dict[str, str]) -> None:
        if len(self.path) == 3:
            self.variable, self.kind, self.is_array = has, name, False
        elif len(self.path) == 4 and self.variable is not None and self.found.fmi.startswith("2"):
            if name != "Annotations":
                self.kind = name
                self.variable = {**self.variable, **({"start": has["start"]} if "start" in has else {})}
        elif len(self.path) == 4 and name == "Dimension":
            self.is_array = True

    def end(self, _name: str) -> None:
        """Take a variable that is whole."""
        if len(self.path) == 3 and self.variable is not None:
            self._keep(self.variable)
            self.variable = None
        self.path.pop()

    def _keep(self, has: dict[str, str]) -> None:
        name, causality = has.get("name", ""), has.get("causality", "local")
        if len(self.found.variables) + len(self.found.others) >= _MOST_VARIABLES:
            raise ValueError(f"it has more than {_MOST_VARIABLES:,} variables")
        kind = _ENUMERATION.get(self.found.fmi[:1], "") if self.kind == "Enumeration" else self.kind
        known = kind in REALS or kind in INTEGERS or kind == BOOLEAN
        if not known or self.is_array or not name.isprintable() or not name:
            self.found.others[name] = causality
            return
        usual = "continuous" if kind in REALS else "discrete"
        reference = int(has["valueReference"])
        if not 0 <= reference < 2**32:
            raise ValueError(f"the value reference of '{name}' is {reference}")
        discrete = has.get("variability", usual) != "continuous"
        start = None
        if causality == "input" and has.get("start"):
            try:
                start = number_of(kind, has["start"])
            except ValueError as error:
                raise ValueError(f"the start of the input '{name}' is '{has['start']}': {error}") from error
        self.found.variables.append(Variable(name, kind, reference, causality, start, discrete))


def number_of(kind: str, said: str) -> float:
    """Return a value of this type as a number.

    Raises:
        ValueError: it is none; the message says what it has to be.
    """
    if kind == BOOLEAN:
        truth = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}.get(said.strip().lower())
        if truth is None:
            raise ValueError("it is true or false")
        return truth
    try:
        found = float(said)
    except ValueError as error:
        raise ValueError("it is a number") from error
    if kind not in INTEGERS:
        return found
    low, high = INTEGERS[kind]
    if not found.is_integer() or not low <= found <= high:
        raise ValueError(f"it is a whole number from {low} to {high}")
    return found


def read_description(content: bytes, name: str) -> ModelDescription:
    """Read a modelDescription.xml.

    Args:
        content: of the file.
        name: of the FMU, for messages.

    Raises:
        UsageError: it can't be read, is of another version, or can't be co-simulated.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(
            f"{name}: its modelDescription.xml can't be read: {why}", "Export the FMU once more."
        ) from error
    found = reader.found
    if found.fmi[:2] not in ("2.", "3."):
        raise UsageError(
            f"{name} is an FMU of FMI version {found.fmi or 'unknown'}",
            "Export it for FMI 2.0 or 3.0, as co-simulation.",
        )
    if not found.identifier:
        only = "for model exchange only" if found.is_exchanged else "not for co-simulation"
        raise UsageError(f"{name} is an FMU {only}", "Export it as co-simulation, with its own solver.")
    if not (found.identifier + found.token).isprintable() or "/" in found.identifier:
        raise UsageError(f"{name}: its library or its token has no usable name", "Export the FMU once more.")
    return found
