"""Reads a study from its file.

    title = "…"              # and short, year, cited, asks
    [conditions]             # machine, cpu, memory, loads, timing, samples, deployments, notes
    [conditions.systems]     # by name, which version of it
    [cannot]                 # "kernel space on this machine" = "why"

    [[table]]
    name = "Table 6"
    title = "Preemption latency"
    systems = "rows"         # or "columns"
    unit = "us"              # of all entries; rows and columns may have another
    ours = { of = "latency", measure = "preemption_latency_ns" }
    columns = [{ label = "Maximum, idle", ours = { load = "idle", statistic = "max" } }, …]
    rows = [""]              # the same; a text is a label alone
    [table.published]        # by system: rows of columns
    "Linux 2.4" = [[104, 4446, 48, 760]]

    [[figure]]               # name, title, chart, shows, panels, settings, marks, and
    series = [{ label = "idle", ours = { of = "latency", load = "idle", statistic = "values" } }]
    [figure.said]            # a table without a name: numbers that the text gives

    [[claim]]                # name, where, says, found, about, test, given, and
    ours = { lower = {…}, higher = [{…}, {…}] }

A table has ``why_not`` where entries of ours have no query, ``notes`` below it, and ``given = true`` where
it says what was measured, and not what came of it. A query (`document.Query`) has ``of`` and ``statistic``,
and may have ``measure``, ``source``, ``load``, ``deployment``, ``options`` of the experiment, ``spread`` (a
second statistic, in parentheses) and ``given``, what its statistic is to know. One of ``marks``, numbers
drawn into a figure, has ``system``, ``label``, ``x``, ``y`` and ``words``. What a claim's ``given`` may say
is in docs/claims.md; its ``reading`` says which numbers are our reading, and ``besides = true`` that the
question is ours.

The query of an entry is made of the table's, the row's and the column's; one that says ``false`` has none. In
a column's ``of = "period error, {}"`` the row's stands for the braces: "period error, user space".
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any

from tautochrone.base.toml import toml_of
from tautochrone.papers.document import (
    Claim,
    Conditions,
    Drawn,
    Figure,
    Heading,
    Mark,
    Number,
    Paper,
    Printed,
    Query,
    Table,
)

# An entry of a published table, read as a number where it is one.


_NUMBER = r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[0-9]+)?|10\^[0-9]+"
_PLAIN = re.compile(_NUMBER)
_RANGE = re.compile(rf"({_NUMBER})\s*[\u2013-]\s*({_NUMBER})")
_SPREAD = re.compile(rf"({_NUMBER})\s*\(({_NUMBER})\)")
_BEYOND = re.compile(rf"[>≥]\s*({_NUMBER})")


def printed(entry: Number | str) -> Printed:
    """What an entry says: ``104``, ``">10^6"``, ``"3.5 - 4.0"``, ``"0.586 (0.025)"``, ``"10.000"``, ``"Y"``.

    The two ends of a range have a dash of any length between them.
    """
    text = str(entry)
    if isinstance(entry, str):
        if found := _RANGE.fullmatch(text):
            low, high = (_number(one) for one in found.groups())
            return Printed(text, (low + high) / 2, low, high)
        if found := _SPREAD.fullmatch(text):
            return Printed(text, _number(found[1]), spread=_number(found[2]))
        if found := _BEYOND.fullmatch(text):
            return Printed(text, _number(found[1]), beyond=True)
        return Printed(text, _number(text) if _PLAIN.fullmatch(text) else None)
    return Printed(text, float(entry))


def _number(text: str) -> float:
    plain = text.replace(",", "")
    base, power, exponent = plain.partition("^")
    return float(base) ** int(exponent) if power else float(plain)


_QUERY = {one.name for one in fields(Query)}
_ENTRY = {"label", "unit", "ours"}


@cache
def read(name: str) -> Paper:
    """The study of this name.

    Raises:
        ValueError: its file says something that can't be: a fault of this program.
    """
    text = (files("tautochrone.papers") / f"{name}.toml").read_text(encoding="utf-8")
    return parse(text, name)


def parse(text: str, name: str) -> Paper:
    """The text of a study's file.

    Raises:
        ValueError: it says something that can't be.
    """
    told = toml_of(text)
    known = {"title", "short", "year", "cited", "asks", "conditions", "cannot", "table", "figure", "claim"}
    _see_known(told, known, name)
    return Paper(
        name=name,
        title=told["title"],
        short=told["short"],
        year=told["year"],
        cited=told["cited"],
        asks=told["asks"],
        conditions=_conditions(told["conditions"]),
        tables=tuple(_table(one, f"{name}, {one.get('name')}") for one in told["table"]),
        figures=tuple(_figure(one, f"{name}, {one.get('name')}") for one in told["figure"]),
        claims=tuple(_claim(one, f"{name}, claim {one.get('name')}") for one in told["claim"]),
        cannot=told.get("cannot", {}),
    )


def _conditions(told: Mapping[str, Any]) -> Conditions:
    return Conditions(**{**told, "notes": tuple(told.get("notes", ()))})


def _table(told: Mapping[str, Any], where: str) -> Table:
    _see_known(
        told,
        {
            "name", "title", "systems", "unit", "ours", "rows", "columns", "published", "why_not", "given",
            "notes", "decimals",
        },
        where,
    )  # fmt: skip
    rows = [_entry(one, where) for one in told.get("rows", [""])]
    columns = [_entry(one, where) for one in told["columns"]]
    common = told.get("ours", {})
    ours = tuple(
        tuple(_query([common, row.get("ours", {}), column.get("ours", {})], where) for column in columns)
        for row in rows
    )
    return Table(
        name=told.get("name", ""),
        title=told.get("title", ""),
        rows=tuple(Heading(one["label"], one.get("unit", "")) for one in rows),
        columns=tuple(Heading(one["label"], one.get("unit", told.get("unit", ""))) for one in columns),
        systems=told["systems"],
        published=_published(told["published"], len(rows), len(columns), where),
        ours=ours,
        why_not=told.get("why_not", ""),
        given=told.get("given", False),
        notes=tuple(told.get("notes", ())),
        decimals=told.get("decimals", 0),
    )


def _published(told: Mapping[str, Any], rows: int, columns: int, where: str) -> Mapping[str, Any]:
    for system, values in told.items():
        if [len(row) for row in values] != [columns] * rows:
            raise ValueError(f"{where}: the values of {system} are not {rows} rows of {columns}")
    return {
        system: tuple(tuple(printed(one) for one in row) for row in values) for system, values in told.items()
    }


def _entry(told: str | Mapping[str, Any], where: str) -> Mapping[str, Any]:
    if isinstance(told, str):
        return {"label": told}
    _see_known(told, _ENTRY, where)
    return told


def _figure(told: Mapping[str, Any], where: str) -> Figure:
    _see_known(
        told,
        {"name", "title", "chart", "shows", "series", "marks", "panels", "settings", "said", "ours"},
        where,
    )
    common = told.get("ours", {})
    series = []
    for one in told.get("series", ()):
        query = _query([common, one.get("ours", {})], where)
        if query is None:
            raise ValueError(f"{where}: a series without a query")
        series.append(Drawn(one.get("label", ""), query))
    said = told.get("said")
    return Figure(
        name=told["name"],
        title=told["title"],
        chart=told["chart"],
        shows=told["shows"],
        series=tuple(series),
        marks=tuple(_mark(one) for one in told.get("marks", ())),
        panels=told.get("panels", ""),
        settings=told.get("settings", {}),
        said=None if said is None else _table(said, where),
    )


def _mark(told: Mapping[str, Any]) -> Mark:
    return Mark(told["system"], told.get("label", ""), told.get("x"), told.get("y"), told["words"])


def _claim(told: Mapping[str, Any], where: str) -> Claim:
    _see_known(
        told,
        {"name", "where", "says", "found", "about", "test", "ours", "given", "reading", "besides"},
        where,
    )
    queries: dict[str, tuple[Query, ...]] = {}
    for name, own in told.get("ours", {}).items():
        several: Sequence[Mapping[str, Any]] = own if isinstance(own, list) else [own]
        found = [_query([one], where) for one in several]
        if None in found:
            raise ValueError(f"{where}: {name} is no query")
        queries[name] = tuple(one for one in found if one is not None)
    return Claim(
        name=told["name"],
        where=told["where"],
        says=told["says"],
        found=told["found"],
        about=told["about"],
        test=told["test"],
        queries=queries,
        given=told.get("given", {}),
        reading=told.get("reading", ""),
        besides=told.get("besides", False),
    )


def _query(parts: Iterable[Mapping[str, Any] | bool], where: str) -> Query | None:
    merged: dict[str, Any] = {}
    for part in parts:
        if isinstance(part, bool):
            return None
        _see_known(part, _QUERY, where)
        options = {**merged.get("options", {}), **{k: str(v) for k, v in part.get("options", {}).items()}}
        given = {**merged.get("given", {}), **part.get("given", {})}
        told = {"of": str(part["of"]).replace("{}", str(merged.get("of", "")))} if "of" in part else {}
        merged = {**merged, **part, **told, "options": options, "given": given}
    return Query(**merged) if "of" in merged and "statistic" in merged else None


def _see_known(told: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = set(told) - known
    if unknown:
        raise ValueError(f"{where}: unknown: {', '.join(sorted(unknown))}")
