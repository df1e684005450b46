"""`tauto soak EXPERIMENT`: measure for hours to weeks. Its verbs are made of the experiments' entries."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from tautochrone.cli.group import group
from tautochrone.experiments.option import Option
from tautochrone.experiments.usual import EVERY, RECORD

if TYPE_CHECKING:
    from collections.abc import Callable

    from tautochrone.cli.group import Rows
    from tautochrone.command.verbs import Typed
    from tautochrone.experiments import Experiment
    from tautochrone.judge.requirement.until import RuleWatcher

FOR = Option(
    "for", "time", "Length of the soak; Ctrl-C, or `tauto soak stop`, ends it earlier.", "24h", taker="verb"
)
UNTIL = Option(
    "until",
    "text",
    "End it when this is decided, such as '1 per day shown or refuted'.",
    metavar="RULE",
    taker="verb",
)
UNATTENDED = Option(
    "unattended",
    "time",
    "How long it goes on when tauto is gone or the connection is lost; 0s: not at all.",
    "as --for",
    taker="verb",
)
ROOM = Option(
    "unattended-room",
    "text",
    "How much may wait on the machine meanwhile; beyond, samples are dropped and counted.",
    "64MiB",
    metavar="SIZE",
    taker="verb",
)
FOREGROUND = Option(
    "foreground", "flag", "Measure in this very process, which must then last as long.", taker="verb"
)
INTERVAL = replace(
    EVERY, help="Length of an interval, of which a histogram and counts are kept.", default="60s"
)
_NEEDED = {EVERY.name, "duration"}
_UNABLE = ("tire", "taskset", "watch")
"""Experiments whose sources end by themselves, or have no histograms."""
_MOST_TURNS = 10_000
_LEAST_ROOM_BYTES = 1 << 20
_FIXED = ("record", "every", "duration", "count", "rounds", "drain", "length")
"""Options of experiments that a soak decides."""


def _rows() -> Rows:
    from tautochrone.experiments import EXPERIMENTS

    able = [
        one
        for one in EXPERIMENTS.values()
        if one.has_verb and one.name not in _UNABLE and one.table.keys() >= _NEEDED
    ]
    rows: dict[str, tuple[str | Callable[..., None], str]] = {
        one.name: (_verb_of(one), one.summary) for one in able
    }
    return {
        **rows,
        "follow": ("soak.follow:follow", "Show how far a soak is, until it ends."),
        "resume": ("soak.follow:resume", "Take over a soak whose tauto was killed."),
        "stop": ("soak.follow:stop", "End a soak; what was measured is complete."),
    }


def _verb_of(experiment: Experiment) -> Callable[..., None]:
    from tautochrone.command.verbs import OF_PROBE, verb_of

    def do(typed: Typed) -> None:
        _soak(experiment, typed)

    code = " lib.so:controller" if any(one.positional for one in experiment.options) else ""
    do.__doc__ = (
        f"{experiment.summary} For hours to weeks.\n\n"
        "It is measured by a process of its own, so that a closed terminal does not end it. Of each minute "
        "and source a histogram, the counts and the largest samples are kept, and each hour is safe. "
        "`tauto show`, `tail`, `compare`, `report` and others read the run, also while it is measured. "
        "Loads may take turns: --load 8h:cpu,8h:network+storage.\n\n"
        "Examples:\n"
        f"    tauto soak {experiment.name}{code} --for 9d --load 8h:cpu,8h:network\n"
    )
    own = [one for one in experiment.options if one.in_verb and one.name not in _FIXED]
    return verb_of([FOR, UNTIL, INTERVAL, *own, UNATTENDED, ROOM, FOREGROUND], OF_PROBE, do)


def _soak(experiment: Experiment, typed: Typed) -> None:
    """Measure here, or have another process do it and follow that."""
    from tautochrone.base.errors import UsageError
    from tautochrone.base.units import parse_duration_ns, parse_size_bytes
    from tautochrone.command.probe import AskedExperiment, measure
    from tautochrone.experiments.option import Given
    from tautochrone.measure.soak import Soak, parse_schedule
    from tautochrone.soak.keeper import BEGAN, RESUMES, kept_by_another, tell_began

    length = typed.options.text(FOR.name)
    phases = parse_schedule(typed.beside.load or [])
    for_s = parse_duration_ns(length) / 1e9
    if for_s * len(phases) > _MOST_TURNS * sum(one.length_s for one in phases):
        raise UsageError(
            f"in {length} the loads would take more than {_MOST_TURNS:,} turns",
            "Give each load longer turns.",
        )
    every = typed.options.text(INTERVAL.name)
    if parse_duration_ns(every) < 1_000_000_000:
        raise UsageError(f"--every {every}: an interval is shorter than 1s", "Give 1s or more; 60s is usual.")
    unattended_s = parse_duration_ns(typed.options.given(UNATTENDED.name) or length) / 1e9
    room_bytes = parse_size_bytes(typed.options.text(ROOM.name))
    if room_bytes < _LEAST_ROOM_BYTES:
        raise UsageError(f"--{ROOM.name} {typed.options.text(ROOM.name)}: less than 1MiB", "64MiB is usual.")
    watcher = _watcher(typed.options.given(UNTIL.name), experiment, parse_duration_ns(every))
    if FOREGROUND.name not in typed.options and BEGAN not in os.environ:
        kept_by_another(typed.store, as_json=typed.as_json)
        return
    given = {name: value for name, value in typed.options.items() if name in experiment.table}
    own = {**given, RECORD.name: "histogram", EVERY.name: every, "duration": length}
    soak = Soak(
        for_s,
        phases,
        unattended_s=unattended_s,
        room_bytes=room_bytes,
        resumes=os.environ.pop(RESUMES, ""),
        began=tell_began,
    )
    if watcher is not None:
        soak.ask, soak.until = watcher.ask, watcher.rule.text
    asked = AskedExperiment(
        experiment,
        Given(own, experiment.table),
        typed.title,
        replace(typed.beside, load=None),
        typed.store,
        typed.as_json,
        soak,
    )
    try:
        measure(asked)
    except typer.Exit:  # it was ended: by the rule, if that is decided, otherwise by Ctrl-C
        if watcher is None or watcher.state is None or not watcher.state.ends:
            raise
    if watcher is not None:
        _tell_decided(watcher)


def _watcher(text: str | None, experiment: Experiment, every_ns: int) -> RuleWatcher | None:
    """Return what judges the rule; what it can't judge is refused before anything is measured."""
    if text is None:
        return None
    from tautochrone.base.errors import UsageError
    from tautochrone.judge.requirement.until import MINUTE_NS, RuleWatcher, parse_rule

    rule = parse_rule(text)
    if every_ns > MINUTE_NS:
        raise UsageError(
            f"--until '{text}' counts by the minute, and --every is longer", "Give --every 60s or less."
        )
    if rule.requirement.measure and rule.requirement.measure not in experiment.measures:
        known = ", ".join(one.removesuffix("_ns") for one in experiment.measures)
        raise UsageError(f"--until '{text}': {experiment.name} does not measure that", f"There is: {known}.")
    return RuleWatcher(rule)


def _tell_decided(watcher: RuleWatcher) -> None:
    """Say how the rule stands, and end with its code: shown, refuted, or the time is over."""
    from tautochrone.answer.phrasing.looks import rule_sentence
    from tautochrone.judge.requirement.until import EXIT_CODES

    typer.echo(rule_sentence(watcher.rule, watcher.state), err=True)
    if code := EXIT_CODES["open" if watcher.state is None else watcher.state.outcome]:
        raise typer.Exit(code)


app = group("Measure for hours to weeks, in intervals.", _rows)
