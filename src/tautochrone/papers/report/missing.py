"""Why numbers are missing, said once where several tables lack theirs for the same reason."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tautochrone.papers.report.sheet import Sheet

_SEVERAL = 3  # tables that lack numbers for one reason


def said_once(sheets: Sequence[Sheet | None]) -> tuple[list[Sheet | None], tuple[str, ...]]:
    """The tables, which refer by number to a reason of several; and these reasons."""
    tables = Counter(why for one in sheets if one is not None for _, why in one.footnotes)
    shared = {why: at + 1 for at, why in enumerate(why for why in tables if tables[why] >= _SEVERAL)}
    return [None if one is None else _referring(one, shared) for one in sheets], tuple(shared)


def _referring(sheet: Sheet, shared: dict[str, int]) -> Sheet:
    return replace(
        sheet,
        footnotes=tuple((letter, why) for letter, why in sheet.footnotes if why not in shared),
        elsewhere=tuple((letter, shared[why]) for letter, why in sheet.footnotes if why in shared),
    )
