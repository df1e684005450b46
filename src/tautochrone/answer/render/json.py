"""A table as JSON has it: what its cells say, and which of its columns are of words."""

from tautochrone.answer.document import TypedTable


def table(shown: TypedTable) -> dict[str, object]:
    """Return title, heads, rows of texts, notes, and the heads of the columns that are of words."""
    heads = [one.head for one in shown.columns]
    return {
        "title": shown.title,
        "columns": heads,
        "rows": [[cell.shown for cell in row] for row in shown.rows],
        "notes": list(shown.notes),
        "words": [head for head, right in zip(heads[1:], shown.right[1:], strict=True) if not right],
    }
