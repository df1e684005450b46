"""One experiment as the lab knows it: all that verbs, plans, requirements and estimates derive from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options
from tautochrone.base.toml import shown
from tautochrone.experiments.conditions import NOTHING_KNOWN, CellConditions
from tautochrone.experiments.option import Given, Option, see_values, unified

MISSES = "misses"
"""What a requirement says of releases that are missed; among the measures of what has releases."""

Own = tuple[Options, CellConditions, str]
"""What an experiment makes of all options: the probe's, what else to keep with the run, and its title; empty:
the usual one."""


@dataclass(frozen=True)
class Prepared:
    """An experiment with its options, ready to become a case.

    Attributes:
        options: the probe's.
        title: what it is, for people, without the conditions.
        expected_s: how long the measuring takes.
        conditions: what else to keep with the run.
    """

    options: Given
    title: str
    expected_s: float
    conditions: CellConditions = NOTHING_KNOWN


@dataclass(frozen=True)
class Pace:
    """How many samples a source takes, where that is known before.

    Attributes:
        samples: in one repetition.
        period_s: between two of them.
    """

    samples: float
    period_s: float


@dataclass(frozen=True)
class RunsOn:
    """Where an experiment's threads run, and how urgent they are.

    Attributes:
        option: that says it.
        usual: how many CPUs it takes by itself; None: all.
        most: how many it can take; None: all.
        levels_below: how many levels of priority below its highest-priority thread its other threads reach.
        levels: the option that says how many levels more; empty: there is none.
        threads: the option that says how many threads there are, each on a CPU of its own while there are
            enough; empty: there is none.
    """

    option: str
    usual: int | None = None
    most: int | None = None
    levels_below: int = 0
    levels: str = ""
    threads: str = ""


@dataclass(frozen=True)
class InSuite:
    """An experiment's part in `tauto probe all`.

    Attributes:
        turn: when it is measured: the ruler first, and whatever takes the result of another after that.
        title: what it is called there.
        whole: the options, usually.
        quick: the options of `--quick`.
        instead: options that are added where it can't be measured otherwise; empty: there are none.
        ordinary: whether it can be measured with ordinary priority, too, where no other is permitted.
        takes: options that name a run of the suite, each with the measure that this run must have.
        prepare: makes the probe's options of those of the suite, on this CPU; None: they are prepared as any.
    """

    turn: int
    title: str
    whole: Options = field(default_factory=dict)
    quick: Options = field(default_factory=dict)
    instead: Options = field(default_factory=dict)
    ordinary: bool = False
    takes: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Options, int], Own] | None = None


def _as_given(options: Given, _folder: Path) -> Own:
    """Most experiments: all options are the probe's."""
    return options, NOTHING_KNOWN, ""


def _nothing(_options: Given) -> tuple[str, ...]:
    """Most experiments: the title is all."""
    return ()


def _unknown(_options: Given, _source: str) -> Pace | None:
    """Most experiments: sources differ, or nobody knows."""
    return None


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes:
        name: the probe's.
        summary: what it measures, in a line of the list of verbs.
        help: what it measures, for the help of its verb: a paragraph, or several.
        options: in the order of help, and of the words that the probe gets.
        measures: what it can measure, as the stream names it, the main measure first; and `MISSES`, where
            there are releases to be missed. Requirements are of these.
        title: what these options measure, for people, in a word or two.
        length_s: how long measuring with these options takes; 0: nobody knows.
        measured: which of the measures these options measure; None: all of them, always.
        pace: at which pace a source samples; None: its sources differ in that, or nobody knows. The source is
            the one that it is asked of; empty: all, and then the slowest decides.
        particulars: what else its options say of it, for people, in parts.
        heading: what it is called above what presents it; empty: its name.
        presentation: what it shows beyond the general summary, as ``module:Class``; empty: nothing.
        lead: what an answer about one run begins with, as ``module:function``; empty: nothing.
        presents_sources: whether that tells of every source, so that a terminal leaves the summary out.
        prepare_own: makes the probe's options and conditions of all options; the folder is that of relative
            paths.
        contradicting: pairs of options of which one at most can be given.
        runs_on: where its threads run, and how urgent they are; None: nobody chooses it, or each task does.
        size: the option that says how much is computed: what is too much for one size is so for every larger
            one. Empty: it has none.
        needs: options without which there is nothing to measure.
        unused: options that the probe reads for every experiment, and that mean nothing to this one.
        examples: command lines for the help of its verb.
        has_verb: whether it is measured by ``tauto probe NAME``.
        verb: what that does beside measuring, as ``module:function``; empty: nothing.
        grids: grids over its options, each by its kind: where it is offered, as ``module:name``.
        place: where it stands among those that people are told of.
        suite: its part in ``tauto probe all``; None: it has none.
        asks: the question that it answers, for the list of experiments in the docs.
        asked_by: the study that asked it, and where.
        page: its page in the docs; empty: the one with its name.
    """

    name: str
    summary: str
    help: str
    options: tuple[Option, ...]
    measures: tuple[str, ...]
    title: Callable[[Given], str]
    length_s: Callable[[Given], float]
    measured: Callable[[Given], tuple[str, ...]] | None = None
    pace: Callable[[Given, str], Pace | None] = _unknown
    particulars: Callable[[Given], tuple[str, ...]] = _nothing
    heading: str = ""
    presentation: str = ""
    lead: str = ""
    presents_sources: bool = False
    prepare_own: Callable[[Given, Path], Own] = _as_given
    contradicting: tuple[tuple[str, str], ...] = ()
    runs_on: RunsOn | None = None
    size: str = ""
    needs: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    has_verb: bool = True
    verb: str = ""
    grids: Mapping[str, str] = field(default_factory=dict)
    place: int = 100
    suite: InSuite | None = None
    asks: str = ""
    asked_by: str = ""
    page: str = ""

    @cached_property
    def table(self) -> Mapping[str, Option]:
        """Return all its options by name."""
        return {one.name: one for one in self.options}

    @property
    def can_be_ordinary(self) -> bool:
        """Return whether it can be measured without real-time priority, as far as anybody says so."""
        return "policy" not in self.table or (self.suite is not None and self.suite.ordinary)

    @cached_property
    def known(self) -> tuple[str, ...]:
        """Return the names of the options that a plan can have."""
        return tuple(one.name for one in self.options if one.taker != "verb")

    def given(self, options: Options) -> Given:
        """Return options of this experiment, with its defaults behind them."""
        return Given(unified(options, self.table), self.table)

    def title_of(self, options: Options) -> str:
        """Return what these options measure, for people."""
        given = self.given(options)
        return ", ".join(filter(None, (self.title(given), *self.particulars(given))))

    def expected_s(self, options: Options) -> float:
        """Return how long measuring with these options takes."""
        return max(0.0, self.length_s(self.given(options)))

    def measures_of(self, options: Options) -> tuple[str, ...]:
        """Return what these options measure, and `MISSES` where releases can be missed."""
        return self.measured(self.given(options)) if self.measured is not None else self.measures

    def pace_of(self, options: Options, source: str = "") -> Pace | None:
        """Return at which pace a source samples, or, without a source, the slowest of all; None: unknown."""
        return self.pace(self.given(options), source)

    def prepare(self, options: Options, folder: Path) -> Prepared:
        """Make options ready for the probe.

        Args:
            options: known ones; False means that a flag is not given.
            folder: where relative paths begin.

        Raises:
            UsageError: a flag has a value, an option has none, an empty or an unknown one, or one of tauto's
                own is wrong. Options are named as on a command line; `without_dashes` is for a plan.
        """
        for name, value in options.items():
            is_flag = self.table[name].kind == "flag"
            if is_flag != isinstance(value, bool):
                raise UsageError(
                    f"'{name}' is {shown(value)}",
                    "It takes true or false, without quotes."
                    if is_flag
                    else "It takes a value, not true or false.",
                )
            if value == "" and self.table[name].kind not in ("text", "texts"):
                raise UsageError(f"'{name}' is empty", "Give it a value, or leave it out.")
        given = self.given(options)
        see_values(given, self.table)
        return self.ready(*self.prepare_own(given, folder))

    def ready(self, given: Options, conditions: CellConditions = NOTHING_KNOWN, title: str = "") -> Prepared:
        """Return what `prepare` returns, of options that are all the probe's own.

        Args:
            conditions: what else to keep with the run.
            title: what it is; empty: by its options.
        """
        own = self.given(given)
        return Prepared(own, title or self.title_of(own), self.expected_s(own), conditions)
