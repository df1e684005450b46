"""The verbs as pages: Markdown for the reference, roff for `man`, both from the command line itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFORMATTED = "\b"
"""Stands alone on the first line of a paragraph of help whose lines stay as they are."""


@dataclass(frozen=True)
class Verb:
    """A verb or a group of verbs, as its help shows it."""

    path: tuple[str, ...]
    summary: str
    usage: str
    paragraphs: tuple[str, ...]
    arguments: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str], ...]
    below: tuple[tuple[str, str], ...]
    epilog: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return what is typed: ``tauto probe cyclic``."""
        return " ".join(self.path)


def verbs() -> list[Verb]:
    """Return every verb in the order of help, the root first and each group before its own verbs."""
    from tautochrone.cli.app import _EXIT_CODES, app

    root, *others = _walk(typer.main.get_command(app), ("tauto",), "")
    codes = root.epilog or (f"{_PREFORMATTED}\n{_EXIT_CODES}",)
    return [replace(root, epilog=codes), *others]


def _walk(command: Any, path: tuple[str, ...], summary: str, above: Any = None) -> Iterator[Verb]:
    context = typer.Context(command, info_name=path[-1], parent=above, help_option_names=["-h", "--help"])
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    below = [(name, command.get_command(context, name)) for name in names]
    below = [(name, one) for name, one in below if not one.hidden]
    lines = {name: _summary(command, name, one) for name, one in below}
    yield Verb(
        path,
        summary or next(iter(_paragraphs(command.help)), ""),  # Python leaves docstrings out with -OO
        " ".join([*path, *command.collect_usage_pieces(context)]),
        tuple(_paragraphs(command.help)),
        tuple(_records(command, context, "argument")),
        tuple(_records(command, context, "option")),
        tuple(lines.items()),
        tuple(_paragraphs(command.epilog)),
    )
    for name, one in below:
        yield from _walk(one, (*path, name), lines[name], context)


def _summary(group: Any, name: str, command: Any) -> str:
    """Return the line that help has of a verb."""
    found = getattr(group, "found", {}).get(name)
    return str(found[1]) if found else str(command.get_short_help_str(limit=200))


def _records(command: Any, context: Any, kind: str) -> Iterator[tuple[str, str]]:
    for one in command.get_params(context):
        if one.param_type_name == kind and (record := one.get_help_record(context)):
            yield record[0], " ".join(record[1].split())


def _paragraphs(text: str | None) -> list[str]:
    """Return the paragraphs of a help text, each on one line unless its lines are to stay."""
    parts = re.split(r"\n[ \t]*\n", (text or "").strip("\n"))
    return [
        part if part.lstrip().startswith(_PREFORMATTED) else " ".join(part.split())
        for part in parts
        if part.strip()
    ]


def _lines(paragraph: str) -> tuple[str, list[str]] | None:
    """Return the title and the lines of a paragraph whose lines stay; None: it is to be filled."""
    if not paragraph.lstrip().startswith(_PREFORMATTED):
        return None
    lines = [line.rstrip() for line in paragraph.lstrip().removeprefix(_PREFORMATTED).strip("\n").split("\n")]
    return (lines[0].rstrip(":"), lines[1:]) if lines[0].endswith(":") else ("", lines)


def reference(shown: list[Verb]) -> dict[str, str]:
    """Return the pages of the reference: one for each verb of the root, with the verbs below it."""
    tops = {one.path[1]: one for one in shown if len(one.path) == 2}
    pages = {
        f"verbs/{name}.md": "\n".join(_markdown(one) for one in shown if one.path[1:2] == (name,))
        for name in tops
    }
    root = shown[0]
    rows = "".join(f"| [`tauto {name}`]({name}.md) | {_escaped(said)} |\n" for name, said in root.below)
    pages["verbs/index.md"] = (
        f"# The verbs\n\n{_words(root.paragraphs)}"
        "This page and those of the verbs are generated from the command line of this version; "
        f"`tauto VERB --help` shows the same.\n\n| verb | what it does |\n|---|---|\n{rows}\n"
        f"## Options before the verb\n\n{_list(root.options)}{_words(root.epilog)}"
    )
    return pages


def _markdown(verb: Verb) -> str:
    depth = "#" * (len(verb.path) - 1)
    parts = [f"{depth} {verb.name}\n\n{_words(verb.paragraphs)}```\n{verb.usage}\n```\n\n"]
    if verb.below:
        parts += [f"| verb | what it does |\n|---|---|\n{''.join(_row(verb, one) for one in verb.below)}\n"]
    for head, entries in (("Arguments", verb.arguments), ("Options", verb.options)):
        parts += [f"**{head}**\n\n{_list(entries)}"] if entries else []
    return "".join([*parts, _words(verb.epilog)])


def _row(verb: Verb, entry: tuple[str, str]) -> str:
    name, said = entry
    return f"| [`{verb.name} {name}`](#{slug(f'{verb.name} {name}')}) | {_escaped(said)} |\n"


def _list(entries: tuple[tuple[str, str], ...]) -> str:
    return "".join(f"- `{name}`  \n  {_escaped(said)}\n" for name, said in entries) + "\n"


def _words(paragraphs: tuple[str, ...]) -> str:
    shown = []
    for one in paragraphs:
        if (kept := _lines(one)) is None:
            shown.append(_escaped(one))
            continue
        title, lines = kept
        shown += [f"**{title}**"] if title else []
        shown.append("\n".join(["```", *lines, "```"]))
    return "".join(f"{one}\n\n" for one in shown)


def _escaped(text: str) -> str:
    """Return the text with what Markdown would take for markup escaped, outside of backquotes."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([\\*_<|])", r"\\\1", one) for one in pieces[::2]]
    return "`".join(pieces)


def slug(heading: str, separator: str = "-") -> str:
    """Return the anchor of a heading, as the site, the page in the browser and forges make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def man_pages(shown: list[Verb], version: str) -> dict[str, str]:
    """Return the man pages, by the names of their files: `tauto.1`, and one for each verb."""
    pages = {}
    for one in shown:
        near_it = [
            other
            for other in shown
            if other.path == one.path[:-1]
            or other.path[:-1] == one.path
            or (len(one.path) > len(("tauto", "verb")) and other.path[:-1] == one.path[:-1])
        ]
        also = ["-".join(other.path) for other in near_it if other != one]
        pages[f"{'-'.join(one.path)}.1"] = _man(one, also, version)
    return pages


def _man(verb: Verb, also: list[str], version: str) -> str:
    name = "-".join(verb.path)
    lines = [
        f'.TH {_roff(name.upper())} 1 "" "tauto {_roff(version)}" "Tautochrone"',
        ".SH NAME",
        f"{_roff(name)} \\- {_roff(verb.summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_roff(verb.name)}",
        _roff(verb.usage.removeprefix(verb.name).strip()),
        ".SH DESCRIPTION",
        *_man_words(verb.paragraphs),
    ]
    for head, entries in (
        ("ARGUMENTS", verb.arguments),
        ("OPTIONS", verb.options),
        ("COMMANDS", tuple((f"{verb.name} {below}", said) for below, said in verb.below)),
    ):
        lines += [f".SH {head}", *_man_list(entries)] if entries else []
    if verb.epilog:
        lines += _man_words(verb.epilog)
    if also:
        lines += [
            ".SH SEE ALSO",
            ",\n".join(f".BR {_roff(one)} (1)" for one in also).replace(" (1),", " (1),"),
        ]
    return "".join(f"{line}\n" for line in lines if line)


def _man_list(entries: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, said in entries:
        yield from (".TP", f".B {_roff(name)}", _roff(said) or r"\&")


def _man_words(paragraphs: tuple[str, ...]) -> Iterator[str]:
    for one in paragraphs:
        if (kept := _lines(one)) is None:
            yield from (".PP", _roff(one))
            continue
        title, lines = kept
        yield from (f".SH {_roff(title.upper())}" if title else ".PP", ".nf")
        yield from (_roff(line) or r"\&" for line in lines)
        yield ".fi"


def _roff(text: str) -> str:
    r"""Return the text with what roff would take for markup escaped: ``\``, ``-``, a first ``.`` or ``'``."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("`", "\\(ga")
    escaped = escaped.replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti")
    escaped = re.sub(r"[^\x00-\x7f]", lambda one: f"\\[u{ord(one[0]):04X}]", escaped)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
