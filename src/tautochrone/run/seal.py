"""Turns a raw stream into a run: Parquet and a manifest, the raw stream removed last.

Killed at any point, it leaves either the raw stream, from which it can be done
again, or a finished run. Nothing is removed before what replaces it is durable.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tautochrone.base.errors import DamagedError
from tautochrone.base.units import format_duration
from tautochrone.run import files
from tautochrone.run.books import problems, rebuilt
from tautochrone.run.intake import Intake
from tautochrone.run.layout import is_histogram, periods_ns
from tautochrone.run.manifest import MEASURING, RECOVERED, SCHEMA, SEALED, Books, Manifest
from tautochrone.run.manifest import Warning as RunWarning


def seal(folder: Path, ended_hint: str | None = None) -> Manifest:
    """Seal the run in a folder from its raw stream, whose lock the caller holds.

    Args:
        folder: the run's folder, with a raw stream in it.
        ended_hint: how the measuring ended as far as the caller knows; the footer knows better.

    Returns:
        The manifest as written: "sealed", or "recovered" if the stream is not complete.

    Raises:
        DamagedError: the books do not balance, or nothing is whole; the raw stream is kept.
        StoreError: the disk refuses; the raw stream is kept.
    """
    draft = _draft(folder)
    with files.store_errors("sealing the run", folder):
        if draft is not None and draft.state != MEASURING:
            _remove_raw(folder)  # killed between the last two steps
            return draft
        with ExitStack() as stack:
            intake = Intake(folder, stack)
            for writer in intake.writers:
                writer.finish()
            manifest = _manifest(folder.name, draft, intake, ended_hint)
            text = manifest.to_json()
            Manifest.from_json(text)  # what can't be read again is refused while the stream is there
            for writer in intake.writers:
                writer.publish()
            files.sync_folder(folder)
        files.write_text(folder / files.MANIFEST, text)
        _remove_raw(folder)
    return manifest


def _remove_raw(folder: Path) -> None:
    files.remove_parts(folder)
    (folder / files.RAW_STREAM).unlink()
    files.sync_folder(folder)


def _draft(folder: Path) -> Manifest | None:
    """The manifest that was written when the run began; None if it is not there or can't be read."""
    try:
        return Manifest.read(folder / files.MANIFEST)
    except (OSError, DamagedError):
        return None


def _manifest(name: str, draft: Manifest | None, intake: Intake, ended_hint: str | None) -> Manifest:
    draft = draft or _substitute(name, intake.header)
    books = _books(intake)
    parameters = intake.header.get("parameters")
    told_why = any("samples were dropped" in warning.text for warning in draft.warnings)
    warnings = (*draft.warnings, *_warnings(intake, books, told_why=told_why))
    return replace(
        draft,
        state=SEALED if intake.missing is None else RECOVERED,
        parameters={**draft.parameters, **(parameters if isinstance(parameters, dict) else {})},
        header=intake.header,
        footer=intake.footer,
        books=books,
        extremes=intake.extremes(),
        warnings=tuple(dict.fromkeys(warnings)),
        ended=_text(intake.footer, "ended") or ended_hint,
        damage=intake.missing,
        events=tuple(intake.events),
    )


def _books(intake: Intake) -> tuple[Books, ...]:
    tallies = intake.tallies()
    periods = periods_ns(intake.header)
    if intake.books is None:
        return rebuilt(
            intake.names,
            tallies,
            intake.dropped,
            periods,
            intake.progress,
            overruns_seen=intake.overruns_seen,
        )
    counted = {source: tally.samples for source, tally in tallies.items()}
    if found := problems(intake.books, counted, intake.names, periodic=periods):
        raise DamagedError(
            "The books do not balance: " + "; ".join(found),
            "The raw stream is kept as it is. Measure again; if it comes back, the probe has a fault.",
        )
    return intake.books


def _warnings(intake: Intake, books: tuple[Books, ...], *, told_why: bool) -> Iterator[RunWarning]:
    """``told_why``: the probe has said why it dropped samples; otherwise its buffer was full."""
    if intake.missing is not None:
        lost = f"The run is not complete: {intake.missing}."
        if intake.footer is None and is_histogram(intake.header):
            lost += " What its histogram held since it was last written, ten seconds at most, is lost."
            lost += "".join(_last_sign(intake.names[k], seen) for k, seen in sorted(intake.progress.items()))
        if intake.footer is None and periods_ns(intake.header):
            lost += " Misses and overruns are those that are known of; there may have been more."
        yield RunWarning("cut-off", lost, "What is here is whole. Measure again for the rest.")
    for book in books:
        if book.dropped and told_why:
            yield RunWarning(
                "dropped",
                f"{_samples(book.dropped)} of {book.name} taken but lost; another warning says why.",
                "Quantiles and maximum do not know these samples.",
            )
        elif book.dropped:
            yield RunWarning(
                "dropped",
                f"{_samples(book.dropped)} of {book.name} taken but lost, because the buffer was full.",
                "Give --ring more rows, or lengthen the period. Quantiles and maximum do not know these "
                "samples.",
            )


def _samples(count: int) -> str:
    return f"{count:,} sample" if count == 1 else f"{count:,} samples"


def _last_sign(name: str, seen: dict[str, Any]) -> str:
    completed, missed, worst = (seen.get(key) for key in ("completed", "missed", "worst_ns"))
    if not isinstance(completed, int) or not isinstance(worst, int):
        return ""
    skipped = f", {missed:,} missed" if isinstance(missed, int) else ""
    return f" {name} was last seen at {completed:,} completed{skipped}, worst {format_duration(worst)}."


def _substitute(name: str, header: dict[str, Any]) -> Manifest:
    """A manifest for a run whose own was lost: what the stream's header tells."""
    experiment = _text(header, "experiment") or "unknown"
    epoch = header.get("epoch")
    realtime_ns = epoch.get("realtime_ns") if isinstance(epoch, dict) else None
    if not isinstance(realtime_ns, int) or not 0 <= realtime_ns < 2**63:
        realtime_ns = 0
    moment = datetime.fromtimestamp(realtime_ns / 1e9, UTC)
    return Manifest(
        schema=SCHEMA,
        id=name,
        state=MEASURING,
        created=moment.isoformat(timespec="seconds"),
        title=experiment,
        experiment=experiment,
        conditions={},
        parameters={},
        facts={},
        header=header,
    )


def _text(content: dict[str, Any] | None, key: str) -> str | None:
    value = (content or {}).get(key)
    return value if isinstance(value, str) else None
