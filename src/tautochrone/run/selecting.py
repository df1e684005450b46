"""Which runs of a list are meant: filters that all must hold."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.base.words import suggestion
from tautochrone.run.catalogue import CUT_OFF, DAMAGED, NEWER, REFUSED, CatalogueEntry
from tautochrone.run.conditions import LOCAL, whole_name
from tautochrone.run.manifest import MEASURING, RECOVERED, SEALED, STATE_WORDS

_DAYS = re.compile(r"([0-9]{1,6})d")
_LONGEST_DAY = len("2026-11-24")
"""In letters; an instant has more, however it is written."""
_STATES = (SEALED, RECOVERED, MEASURING, CUT_OFF, REFUSED, NEWER, DAMAGED)

AS_IS = "as-is"
"""What stands for no deployment."""


def selected(
    entries: Sequence[CatalogueEntry],
    *,
    experiment: str | None = None,
    load: str | None = None,
    tag: str | None = None,
    machine: str | None = None,
    kernel: str | None = None,
    deployment: str | None = None,
    state: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[CatalogueEntry]:
    """Return the entries that all filters let through, in their order; None lets all through.

    Args:
        load: the whole load, or one of its parts, with or without the options of that part.
        machine: the host's name, or the machine as it was reached: ``local``, ``ssh:board``.
        kernel: its release, or the numbers that it begins with: ``6.1`` is not ``6.12``.
        deployment: its name, whether all of it was obtained or a part; ``as-is``: none.
        state: as it is stored.
        since, until: between which a run began, both included; no run of unknown beginning.
    """
    tests: list[Callable[[CatalogueEntry], bool]] = []
    if experiment is not None:
        tests.append(lambda one: one.experiment == experiment)
    if load is not None:
        tests.append(lambda one: load in _names_of(one.load))
    if tag is not None:
        tests.append(lambda one: tag in one.tags)
    if machine is not None:
        tests.append(lambda one: machine in (one.machine, one.remote or LOCAL))
    if kernel is not None:
        release = re.compile(rf"{re.escape(kernel)}(?![0-9])")
        tests.append(lambda one: release.match(one.kernel) is not None)
    if deployment is not None:
        name = "" if deployment == AS_IS else deployment
        tests.append(lambda one: name in (one.deployment, whole_name(one.deployment)))
    if state is not None:
        tests.append(lambda one: one.state == state)
    if since is not None:
        tests.append(lambda one: (at := begun(one)) is not None and at >= since)
    if until is not None:
        tests.append(lambda one: (at := begun(one)) is not None and at <= until)
    return [one for one in entries if all(test(one) for test in tests)]


def parse_state(text: str) -> str:
    """Read a state as lists show it, or with hyphens; return it as it is stored.

    Raises:
        UsageError: there is no such state.
    """
    shown = {STATE_WORDS.get(one, one).replace(" ", "-"): one for one in _STATES}
    word = text.strip().lower().replace(" ", "-")
    if word not in shown and word not in _STATES:
        raise UsageError(f"--state {text[:40]!r} is no state of a run", suggestion(word, list(shown)))
    return shown.get(word, word)


def _names_of(load: str) -> set[str]:
    parts = load.split("+")
    return {load, *parts, *(part.partition(":")[0] for part in parts)}


def begun(entry: CatalogueEntry) -> datetime | None:
    """Return when a run began; None where its manifest tells no instant."""
    try:
        at = datetime.fromisoformat(entry.created)
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def parse_instant(text: str, option: str, *, end_of_day: bool = False) -> datetime:
    """Read ``2026-11-24``, ``2026-11-24T10:30`` (UTC), or how long ago: ``90min``, ``2h``, ``7d``.

    Args:
        end_of_day: a day without a time means its end.

    Raises:
        UsageError: it is neither.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return _ago(text, option)
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    if end_of_day and len(text) <= _LONGEST_DAY:
        at += timedelta(days=1, microseconds=-1)
    return at


def _ago(text: str, option: str) -> datetime:
    try:
        days = _DAYS.fullmatch(text)
        ago = (
            timedelta(days=int(days[1])) if days else timedelta(microseconds=parse_duration_ns(text) // 1000)
        )
        return datetime.now(UTC) - ago
    except (TautoError, OverflowError):
        raise UsageError(
            f"{option} {text[:40]!r} is not an instant",
            "Give a day (2026-11-24), an instant in UTC (2026-11-24T10:30), or how long ago (2h, 7d).",
        ) from None
