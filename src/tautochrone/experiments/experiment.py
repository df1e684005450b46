"""One experiment as the lab knows it."""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns, parse_period_ns, parse_rate_hz
from tautochrone.experiments.companion import Beside, alone

Number = TypeVar("Number", int, float)
Value = str | int | float | bool
Options = Mapping[str, Value]
"""By the name of the option without its dashes: ``{"period": "1ms", "wake-latency-us": 0}``."""

RECORDING = ("drain", "ring")
FLAGS = ("no-memory-lock", "without-handler", "rehearse", "overload", "soft", "one-way", "memory-lock")
"""Options that take no value, of any experiment."""


@dataclass(frozen=True)
class Prepared:
    """An experiment with its options, ready to become a cell.

    Attributes:
        arguments: of the probe, after the experiment's name.
        title: what it is, for people, without the conditions.
        expected_s: how long the measuring takes.
        conditions: what else to keep with the run.
    """

    arguments: tuple[str, ...]
    title: str
    expected_s: float
    conditions: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunsOn:
    """Where an experiment's threads run, and how urgent they are.

    Attributes:
        option: says it: "cpus", or "cpu" where it can only be one.
        usual: how many CPUs it takes by itself; None: all.
        most: how many it can take; None: all.
        levels_below: how many levels of priority below its most urgent thread its other threads reach.
        levels: the option that says how many levels more; empty: there is none.
        usual_levels: how many these are where it is not given.
        threads: the option that says how many threads there are, each on a CPU of its own while there are
            enough; empty: there is none.
    """

    option: str
    usual: int | None = None
    most: int | None = None
    levels_below: int = 0
    levels: str = ""
    usual_levels: int = 0
    threads: str = ""


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes:
        name: the probe's.
        options: the probe's options that decide what is measured, without dashes.
        title: of its options, what is measured, for people.
        expected_s: of its options, how long that takes.
        own: options of the lab, which the probe does not have.
        prepare_own: makes arguments and conditions of these; the folder is that of relative paths.
        contradicting: pairs of options of which one at most can be given.
        runs_on: where its threads run, and how urgent they are; None: nobody chooses it, or each task does.
        size: the option that says how much is computed: what is too much for one size is so for every larger
            one. Empty: it has none.
        needs: options without which there is nothing to measure.
        beside: starts what runs beside the probe.
    """

    name: str
    options: tuple[str, ...]
    title: Callable[[Options], str]
    expected_s: Callable[[Options], float]
    own: tuple[str, ...] = ()
    prepare_own: Callable[[Options, Path], tuple[Options, Mapping[str, Any], str]] | None = None
    contradicting: tuple[tuple[str, str], ...] = ()
    runs_on: RunsOn | None = None
    size: str = ""
    needs: tuple[str, ...] = ()
    beside: Beside = alone

    @property
    def known(self) -> tuple[str, ...]:
        """All options that it takes."""
        return (*self.own, *(one for one in self.options if one not in self.own))

    def prepare(self, options: Options, folder: Path) -> Prepared:
        """The options as arguments of the probe.

        Args:
            options: known ones; False means that a flag is not given.
            folder: where relative paths begin.

        Raises:
            UsageError: a flag has a value, an option has none, or one of the lab's own is wrong. Options are
                named as on a command line; `without_dashes` is for a plan.
        """
        for name, value in options.items():
            if (name in FLAGS) != isinstance(value, bool):
                raise UsageError(
                    f"'{name}' is {shown(value)}",
                    "It takes true or false, without quotes."
                    if name in FLAGS
                    else "It takes a value, not true or false.",
                )
        return self.ready(
            *(self.prepare_own(options, folder) if self.prepare_own is not None else (options,))
        )

    def ready(self, given: Options, conditions: Mapping[str, Any] | None = None, title: str = "") -> Prepared:
        """What `prepare` returns, of options that are all the probe's own.

        Args:
            conditions: what else to keep with the run.
            title: what it is; empty: by its options.
        """
        return Prepared(
            words(given), title or self.title(given), max(0.0, self.expected_s(given)), conditions or {}
        )


def words(options: Options) -> tuple[str, ...]:
    """Options as the probe takes them; a flag that is False is left out."""
    found: list[str] = []
    for name, value in options.items():
        if value is not False:
            found += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return tuple(found)


_OPTION = re.compile(r"--([a-z][a-z-]*)")


def options_named_in(message: str) -> list[str]:
    """The options that a message names, without their dashes."""
    return _OPTION.findall(message)


def without_dashes(message: str, only: Container[str] | None = None) -> str:
    """A message about options as it is for a plan, where they have no dashes.

    Args:
        only: these options; None: whatever looks like one.
    """
    return _OPTION.sub(lambda match: match[1] if only is None or match[1] in only else match[0], message)


def shown(value: object) -> str:
    """A value as it is written in TOML, for messages."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return f"'{value}'" if isinstance(value, str) else str(value)


def seconds(options: Options, name: str, usual: str) -> float:
    """The time of an option, or its usual one.

    Raises:
        UsageError: it is no time.
    """
    return _read(parse_duration_ns, options, name, usual) / 1e9


def period_s(options: Options, name: str, usual: str) -> float:
    """The period of an option, which may be given as a rate, or its usual one.

    Raises:
        UsageError: it is neither.
    """
    return _read(parse_period_ns, options, name, usual) / 1e9


def periods_s(options: Options, name: str, usual: str) -> list[float]:
    """The periods of an option, joined by commas, or the usual ones.

    Raises:
        UsageError: one of them is none.
    """
    periods = str(options.get(name, usual)).split(",")
    return [_read(parse_period_ns, {name: one}, name, usual) / 1e9 for one in periods]


def rate_hz(options: Options, name: str, usual: int) -> float:
    """The rate of an option, or its usual one; a number alone is of Hz.

    Raises:
        UsageError: it is no rate.
    """
    value = str(options.get(name, usual))
    return float(value) if value.isascii() and value.isdecimal() else _read(parse_rate_hz, options, name, "")


def rhythm_s(options: Options, usual_hz: int) -> float:
    """The period of what takes `period` or `rate`.

    Raises:
        UsageError: it can't be read.
    """
    if "period" in options:
        return period_s(options, "period", "")
    return 1 / max(1.0, rate_hz(options, "rate", usual_hz))


def _read(parse: Callable[[str], Number], options: Options, name: str, usual: str) -> Number:
    try:
        return parse(str(options.get(name, usual)))
    except UsageError as error:
        raise UsageError(f"--{name}: {error}", error.advice) from error


def count(options: Options, name: str, usual: int) -> int:
    """The number of an option, or its usual one; what is no number is the usual one."""
    value = options.get(name, usual)
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else usual
