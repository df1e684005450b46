"""What is known about a run beside its samples: the file ``run.json``."""

import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import json_of, read_text
from tautochrone.run.conditions import LOCAL, RunConditions
from tautochrone.run.facts import Facts, FactTable, KernelFacts
from tautochrone.run.layout import table_layouts
from tautochrone.run.records import Count, Event, Footer, Header, Stored, converted

Content = dict[str, object]

SCHEMA = 2
"""Version of ``run.json``. It changes where an old key gets a new meaning, and a step then leads to it."""

MEASURING, SEALED, RECOVERED = "measuring", "sealed", "recovered"
STATE_WORDS = {SEALED: "complete"}
"""States that people are told by another word than what is stored."""
STATES = (MEASURING, SEALED, RECOVERED)

MOST_BYTES = 64 << 20
"""What a ``run.json`` may have. Those that tauto writes are far smaller."""

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,199}")
_ANY = "any"  # system of a case that any machine of a fleet measures, with the tags that these have
COUNTED_SOMETIMES = ("released", "missed", "dropped", "overruns", "warmup", "cpu_time_ns", "kept")
"""What only some experiments count of a source."""


def sum_if_known(counts: Iterable[int | None]) -> int | None:
    """Return what several sources count together; None where it is not known of one of them."""
    known = list(counts)
    return None if not known or None in known else sum(count or 0 for count in known)


@dataclass(frozen=True)
class Books:
    """What one source says it did. None: this experiment does not count it, or it is not known.

    Of a run that was cut off, ``missed`` and ``overruns`` are those that are known of: at least so many.

    Attributes:
        released: releases between the warm-up and the end.
        completed: releases that were served.
        missed: releases that were skipped because the thread was still late from an earlier one.
        recorded: samples in the data.
        dropped: samples taken but not in the data, because a buffer was full.
        overruns: completed releases that woke at or after the next one.
        warmup: releases before the counting began.
        cpu_time_ns: CPU time the source used.
        kept: of the samples recorded, those that are kept as whole rows beside histograms.
    """

    source: Count
    name: str
    completed: Count
    recorded: Count
    released: Count | None = None
    missed: Count | None = None
    dropped: Count | None = None
    overruns: Count | None = None
    warmup: Count | None = None
    cpu_time_ns: Count | None = None
    kept: Count | None = None

    def problems(self) -> list[str]:
        """Return what does not add up, in words; empty when the books balance."""
        found = []
        released, missed = self.released, self.missed
        if released is not None and missed is not None and released != self.completed + missed:
            gap = released - self.completed - missed
            found.append(
                f"{self.name}: released {released:,}, but completed {self.completed:,} and "
                f"missed {missed:,} ({gap:+,})"
            )
        dropped = self.dropped or 0
        if self.completed != self.recorded + dropped:
            gap = self.completed - self.recorded - dropped
            found.append(
                f"{self.name}: completed {self.completed:,}, but recorded {self.recorded:,} and "
                f"dropped {dropped:,} ({gap:+,})"
            )
        counts = asdict(self)
        found += [
            f"{self.name}: {name} is {counts[name]:,}"
            for name in ("completed", "recorded", *COUNTED_SOMETIMES)
            if (counts[name] or 0) < 0
        ]
        return found


@dataclass(frozen=True)
class Warning:  # noqa: A001 - the word people know it by
    """Something that makes the numbers mean less than they seem to, and what to do about it."""

    code: str
    text: str
    advice: str = ""


PROBE = "probe"
"""Code of what the probe warns of; where it gives a code of its own, that follows."""
PROBE_DROPPED = f"{PROBE}-dropped"
"""Code of the probe's word why it dropped samples, where no buffer was full."""

STILL_MEASURED = "still-measured"
"""Code of the warning of a copy of a run that is being measured."""

DISK_FULL = "disk-full"
SOAK_GAP = "soak-gap"
"""Code of the warning of a long run that kept counts alone where the disk had no more room."""


@dataclass(frozen=True)
class Extremes:
    """The smallest and the largest value of one measure of one source.

    Attributes:
        maximum_at_ns: the measure's ``from`` instant of the largest value (the first, if it came several
            times), on the stream's clock. For a scheduling latency that is the release.
        minimum_ns: for a histogram, the lower edge of the lowest bin that holds a sample.
    """

    source: Count
    measure: str
    count: Count
    minimum_ns: Count
    maximum_ns: Count
    maximum_at_ns: Count


@dataclass(frozen=True)
class Manifest:
    """The facts of a run.

    Attributes:
        schema: version of this description.
        id: the run's name, also that of its folder.
        state: "measuring", "sealed" (complete, the books balance) or "recovered" (from the whole frames of a
            stream that was cut off or damaged).
        created: when it began, ISO 8601, UTC.
        title: what it is, for people.
        experiment: which experiment the probe ran.
        conditions: under what it ran, such as its load.
        parameters: what the experiment was asked to do.
        facts: what is known about the machine, as it is stored: group, name, value. `known` has it typed.
        header: the stream's header.
        footer: the stream's footer, or None if there was none.
        books: one per source.
        extremes: one per source and measure that has samples.
        warnings: what limits the meaning of the numbers.
        ended: how the measuring ended, or None if that is not known.
        damage: what is missing, in words, or None.
        events: what happened during the run, ``progress`` left out.
        lab: version of the lab that measured it, or None if it is not known. What a lab asks is part of the
            history of a virtual machine, and so of what is measured there.
    """

    schema: Count
    id: str
    state: str
    created: str
    title: str
    experiment: str
    conditions: RunConditions
    parameters: dict[str, object]
    facts: FactTable
    header: Header
    footer: Footer | None = None
    books: tuple[Books, ...] = ()
    extremes: tuple[Extremes, ...] = ()
    warnings: tuple[Warning, ...] = ()
    ended: str | None = None
    damage: str | None = None
    events: tuple[Event, ...] = ()
    lab: str | None = None

    @cached_property
    def known(self) -> Facts:
        """Return what is known about the machine."""
        return Facts.from_table(self.facts)

    @property
    def told_state(self) -> str:
        """Return the state as people are told it, and how it ended where that says more."""
        if any(one.code == STILL_MEASURED for one in self.warnings):
            return MEASURING
        state = STATE_WORDS.get(self.state, self.state)
        return state if self.ended in (None, "", state) else f"{state}, {self.ended}"

    @property
    def kernel(self) -> KernelFacts:
        """What is known about the kernel: by the facts, or by the stream's header where they do not know."""
        if self.known.kernel.release is not None:
            return self.known.kernel
        system = self.header.system
        return KernelFacts(name=system.name, release=system.release, version=system.version)

    def event(self, name: str) -> Event | None:
        """Return the first event of this name; None if there is none."""
        return next((one for one in self.events if one.event == name), None)

    @property
    def machine_name(self) -> str:
        """Return how the machine was reached, else its name in a fleet of Slurm, else that of its host.

        Empty where it has none: the machine that tauto ran on, whichever that was.
        """
        system = self.conditions.plan.system
        is_name = system != LOCAL and ":" not in system and system.partition("+")[0] != _ANY
        return self.conditions.remote or (system if is_name else "") or self.known.machine.hostname or ""

    @property
    def command(self) -> tuple[str, ...]:
        """Return the words of the command that measured the run; empty if that is not known."""
        return tuple(self.conditions.command or ())

    @property
    def typed(self) -> str:
        """Return the command that measured the run, as a shell takes it; empty if it is not known."""
        return shlex.join(self.command)

    def asked(self, option: str) -> str | None:
        """Return the value of an option of the command that measured the run; None: it was not given.

        Of one that was given twice the last counts, as it did then; behind ``--`` stand the words of others.
        """
        words = self.command
        own = words[: words.index("--")] if "--" in words else words
        found = None
        for at, word in enumerate(own, start=1):
            if word == option:
                found = own[at] if at < len(own) else None
            elif word.startswith(f"{option}="):
                found = word.partition("=")[2]
        return found

    def to_json(self) -> str:
        """The text of ``run.json``: indented, keys in a fixed order, for people as much as for programs.

        What a person typed may be any bytes; those that are no UTF-8 become U+FFFD.
        """
        content = {one.name: getattr(self, one.name) for one in fields(self)}
        text = json.dumps(content, indent=2, ensure_ascii=False, default=_as_stored) + "\n"
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """Read the file ``run.json``.

        Raises:
            OSError: it can't be read, or is no file of that size.
            DamagedError: it is not text, not JSON, not a manifest, or of another schema.
        """
        try:
            return cls.from_json(read_text(path, MOST_BYTES))
        except UnicodeDecodeError as error:
            raise DamagedError("run.json is not text") from error

    @classmethod
    def from_json(cls, text: str) -> "Manifest":
        """Read the text of ``run.json``. Keys that this version does not know are left out.

        Raises:
            DamagedError: it is not JSON, not a manifest, or of another schema.
        """
        try:
            content = json_of(text)
        except ValueError as error:
            raise DamagedError(f"run.json can't be read: {error}") from error
        if not isinstance(content, dict) or "schema" not in content:
            raise DamagedError("run.json does not describe a run")
        content = upgraded(content)
        if not isinstance(content.get("state"), str) or content["state"] not in STATES:
            raise DamagedError(f"run.json has an unknown state: {content.get('state')!r}")
        manifest = converted(content, cls, "run.json")
        manifest.header.keep(content["header"])
        manifest.conditions.keep(content["conditions"])
        if manifest.footer is not None:
            manifest.footer.keep(content["footer"])
        events: Any = content.get("events") or ()
        for event, told in zip(manifest.events, events, strict=True):
            event.keep(told)
        try:
            manifest._check()
        except DamagedError as error:
            raise DamagedError(f"run.json is malformed: {error}") from error
        return manifest

    def _check(self) -> None:
        """See that the parts agree with each other."""
        if not _ID.fullmatch(self.id):
            raise DamagedError(f"{self.id[:80]!r} can't be the id of a run")
        _ = self.known
        for extreme in self.extremes:
            if extreme.count < 0:
                raise DamagedError(f"an extreme of {extreme.count} samples")
            if extreme.minimum_ns > extreme.maximum_ns:
                raise DamagedError(f"an extreme whose minimum {extreme.minimum_ns} is above its maximum")
        if self.state != MEASURING:
            self._check_sources()

    def _check_sources(self) -> None:
        """See that books, extremes and the header speak of the same sources, each once."""
        described = [source.source for source in self.header.sources]
        booked = [book.source for book in self.books]
        if len(set(described)) < len(described) or sorted(described) != sorted(booked):
            raise DamagedError("header and accounting do not name the same sources")
        if not {extreme.source for extreme in self.extremes} <= set(booked):
            raise DamagedError("an extreme is of a source that has no book")
        layouts = table_layouts(self.header)
        measured = {measure.name for layout in layouts for measure in layout.measures}
        if unknown := {extreme.measure for extreme in self.extremes} - measured:
            raise DamagedError(
                f"an extreme is of a measure that the header does not describe: {min(unknown)!r}"
            )
        for book in self.books:
            if any((getattr(book, name) or 0) < 0 for name in ("completed", "recorded", *COUNTED_SOMETIMES)):
                raise DamagedError(f"a count in the book of source {book.source} is below 0")


def _as_stored(part: Any) -> dict[str, object]:
    return part.stored if isinstance(part, Stored) else asdict(part)


# What older versions stored, brought up to this one.


def is_readable(schema: object) -> TypeGuard[int]:
    """Return whether this version reads a ``run.json`` of that version."""
    return isinstance(schema, int) and not isinstance(schema, bool) and schema in (*_STEPS, SCHEMA)


def upgraded(content: Content) -> Content:
    """Return the content of a ``run.json`` as this version stores it.

    Raises:
        DamagedError: its version is not known.
    """
    schema = content.get("schema")
    if not is_readable(schema):
        raise DamagedError(
            f"run.json has schema {schema}; this version reads {min(_STEPS)} to {SCHEMA}",
            "Read it with the version of tauto that wrote it.",
        )
    for step in range(schema, SCHEMA):
        content = {**_STEPS[step](content), "schema": step + 1}
    return content


def _words_and_options(content: Content) -> Content:
    """Schema 1 had one text for the command, and the options of a load only in the text of what was asked."""
    conditions = content.get("conditions")
    if not isinstance(conditions, dict):
        return content
    found = dict(conditions)
    if isinstance(command := conditions.get("command"), str):
        found["command"] = _words_of(command)
    if isinstance(reports := conditions.get("load_reports"), list):
        found["load_reports"] = [_with_options(one) if isinstance(one, dict) else one for one in reports]
    return {**content, "conditions": found}


def _words_of(command: str) -> list[str]:
    """Return the words of a command. A value with spaces in it is taken to go on until the next option."""
    found: list[str] = []
    for word in command.split():
        last, before = ["", "", *found][:-3:-1]
        goes_on = "=" in last if last.startswith("--") else before.startswith("--")
        if goes_on and not word.startswith("--"):
            found[-1] = f"{last} {word}"
        else:
            found.append(word)
    return found


def _with_options(report: Content) -> Content:
    """Return the report of a load with the options that its text names, without those of a program."""
    asked = report.get("asked")
    if not isinstance(asked, str) or "options" in report:
        return report
    own = asked.partition(" -- ")[0].split()[1:]
    pairs = zip(own[::2], own[1::2], strict=False)
    return {**report, "options": {name.removeprefix("--"): value for name, value in pairs}}


_STEPS: Mapping[int, Callable[[Content], Content]] = {1: _words_and_options}
"""By the version that a step begins with."""
