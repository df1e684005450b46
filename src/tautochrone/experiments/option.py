"""An option of an experiment, written once, and options as they were given, read as what they are."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options, Value, number, text, words
from tautochrone.base.quantity import share_of
from tautochrone.base.units import given_period, parse_duration_ns, parse_period_ns, parse_rate_hz
from tautochrone.base.words import same_letters, suggestion

Number = TypeVar("Number", int, float)
Kind = Literal["time", "period", "rate", "count", "choice", "text", "texts", "flag", "file", "lateness"]
"""What a value is. A period is a length of time or a rate; a rate is of Hz, where it is a number alone. Texts
are parts between commas, which a verb also takes one by one. A lateness is a length of time, or a share of
all cycles."""

_FINEST_SHARES = 10**9
"""The probe knows no share of cycles that is finer."""

Taker = Literal["probe", "lab", "verb"]
"""Who takes an option: the probe; the lab, which makes something else of it; or the verb alone, so that plans
don't have it."""


@dataclass(frozen=True)
class Option:
    """One option of an experiment.

    Attributes:
        name: without dashes, as on the command line, in plans, and for the probe.
        kind: what its value is.
        help: what it does, as a whole phrase that ends with a full stop; empty where the choices say it.
        default: what holds where it is not given: the probe's own value, or words for it. Empty: nothing.
        choices: all that it can be.
        metavar: what stands for its value in help; empty: what its kind says. Of a flag: what its opposite
            is called.
        taker: who takes it.
        positional: the verb takes it without its name.
        in_verb: whether the verb of the experiment has it; otherwise plans alone, or another verb.
        instead_of: the option, a period, that this is another way to give; empty: it is none.
    """

    name: str
    kind: Kind
    help: str = ""
    default: str = ""
    choices: tuple[str, ...] = ()
    metavar: str = ""
    taker: Taker = "probe"
    positional: bool = False
    in_verb: bool = True
    instead_of: str = ""

    @property
    def told(self) -> str:
        """Return what help says of it: what it does, and its default in brackets."""
        unit = "Hz" if self.kind == "rate" and self.default.isdigit() else ""
        return " ".join(filter(None, (self.help, f"[{self.default}{unit}]" if self.default else "")))

    @property
    def stands_for(self) -> str:
        """Return what stands for its value in help; empty: what its type says."""
        of_kind = {"time": "TIME", "period": "TIME", "rate": "RATE", "file": "FILE"}
        return self.metavar or "|".join(self.choices) or of_kind.get(self.kind, "")


def but(options: Iterable[Option], *names: str) -> tuple[Option, ...]:
    """Return the options without those of these names."""
    return tuple(one for one in options if one.name not in names)


def unified(own: Options, table: Mapping[str, Option]) -> Options:
    """Return options as they are known further on: choices in their own letters, a rate as the period.

    Raises:
        UsageError: a period is given in two ways.
    """
    found = dict(own)
    for name, value in own.items():
        if isinstance(value, str) and name in table and table[name].kind == "choice":
            found[name] = same_letters(value, table[name].choices)
    for period in {one.instead_of for one in table.values() if one.instead_of}:
        ways = [one.name for one in table.values() if one.instead_of == period and one.name in found]
        if ways:
            said = given_period({name: found.pop(name, None) for name in (*ways, period)})
            found[period] = said if said is not None else ""
    return found


def see_values(own: Options, table: Mapping[str, Option]) -> None:
    """Refuse a value that is none of the choices, or no lateness.

    Raises:
        UsageError: with the choice that was probably meant.
    """
    for name, value in own.items():
        option = table.get(name)
        if option is not None and option.kind == "choice" and str(value) not in option.choices:
            raise UsageError(f"--{name} '{value}' is not known", suggestion(str(value), option.choices))
        if option is not None and option.kind == "lateness" and not _is_lateness(str(value)):
            raise UsageError(
                f"--{name} {value}: neither a length of time nor a share of the cycles",
                "Write 50us: later than that is late; or 99.9%: what is later than 99.9% of all is late.",
            )


def _is_lateness(text: str) -> bool:
    """Whether the probe takes it; ``recording_options.c`` reads it the same."""
    if "%" in text:
        share = share_of(text)
        return share is not None and 0 < share < 1 and (share * _FINEST_SHARES).denominator == 1
    try:
        return parse_duration_ns(text) > 0
    except UsageError:
        return False


@dataclass(frozen=True, eq=False)
class Given(Mapping[str, Value]):
    """Options of one experiment as they were given; what is not given is read as its default.

    As a mapping it has only what was given, in that order.

    Attributes:
        own: what was given, by name.
        table: the options that the experiment has, by name.
    """

    own: Options
    table: Mapping[str, Option] = field(repr=False)

    def __getitem__(self, name: str) -> Value:
        """Return what was given."""
        return self.own[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names that were given."""
        return iter(self.own)

    def __len__(self) -> int:
        """Return how many were given."""
        return len(self.own)

    @property
    def words(self) -> tuple[str, ...]:
        """Return the options as the probe takes them."""
        return words(self.own)

    def having(self, options: Options) -> "Given":
        """Return these options with others added, or in their place."""
        return replace(self, own={**self.own, **options})

    def without(self, *names: str) -> "Given":
        """Return these options but those of these names."""
        return replace(self, own={name: value for name, value in self.items() if name not in names})

    def text(self, name: str) -> str:
        """Return the value as text, or the default."""
        return self.given(name) or self.table[name].default

    def given(self, name: str) -> str | None:
        """Return the value as text; None: it is not given."""
        return text(self.own, name)

    def is_set(self, name: str) -> bool:
        """Return whether a flag is given."""
        return self.own.get(name) is True

    def count(self, name: str) -> int:
        """Return the whole number; what is none is read as the default, and the probe refuses it itself."""
        found = number(self.own, name)
        return found if found is not None else int(self.table[name].default or 0)

    def seconds(self, name: str) -> float:
        """Return the length of time."""
        return _read(parse_duration_ns, name, self.text(name)) / 1e9

    def period_s(self, name: str) -> float:
        """Return the period, which may be given as a rate."""
        return _read(parse_period_ns, name, self.text(name)) / 1e9

    def rate_hz(self, name: str) -> float:
        """Return the rate; a number alone is of Hz."""
        value = self.text(name)
        return float(value) if value.isascii() and value.isdecimal() else _read(parse_rate_hz, name, value)


def _read(parse: Callable[[str], Number], name: str, value: str) -> Number:
    try:
        return parse(value)
    except UsageError as error:
        raise UsageError(f"--{name}: {error}", error.advice) from error


def parts_s(name: str, values: str) -> list[float]:
    """Return the periods of an option that takes several, joined by commas."""
    return [_read(parse_period_ns, name, one) / 1e9 for one in values.split(",")]
