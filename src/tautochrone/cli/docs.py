"""``tauto docs`` and ``tauto schema``: the documentation and the JSON Schemas that came with this version."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.base.words import near

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN = re.compile(r'src="(diagrams/[^"]+)"')
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^]]*\]\([^)]*\))*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def docs(
    topic: Annotated[
        list[str] | None, typer.Argument(help="A page (tails), or a verb (probe cyclic). [the list of pages]")
    ] = None,
    show_path: Annotated[
        bool, typer.Option("--path", help="Print the path of the page instead of showing it.")
    ] = False,
    man: Annotated[
        Path | None,
        typer.Option(
            "--man",
            metavar="FOLDER",
            help="Write the man pages into this folder, such as ~/.local/share/man/man1.",
        ),
    ] = None,
) -> None:
    """Show the documentation of this version: a page, a verb, or the list of pages.

    A page opens in the browser where there is a desktop. Elsewhere it is shown in the terminal, through the
    pager; in a pipe it is Markdown.

    Examples:
        tauto docs probe cyclic
        tauto docs --man ~/.local/share/man/man1
    """
    if man is not None:
        _write_man(man)
        return
    name = _found(" ".join(topic or ["index"]))
    if show_path:
        typer.echo(_source(name))
    elif not sys.stdout.isatty():
        typer.echo(_text(name), nl=False)
    elif os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"):
        from tautochrone.command.told import open_in_browser

        page = _as_html(name)
        typer.echo(page)
        open_in_browser(page.as_uri())
    else:
        _through_pager(_text(name))


def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Name of the schema, as an answer has it under schema.name."),
    ] = None,
) -> None:
    """Print the JSON Schema of an answer; without a name, list the names.

    Examples:
        tauto schema show
    """
    import json

    from tautochrone.base.schemas import names, read

    if name is not None:
        typer.echo(json.dumps(read(name), indent=2, ensure_ascii=False))
        return
    for one in names():
        typer.echo(f"{one:<14} {read(one)['description']}")


def _folder() -> Path:
    """Return where the pages lie: beside the package when it is installed, else in the source tree."""
    package = Path(__file__).resolve().parent.parent
    for place in (package / "pages", package.parent.parent / "docs"):
        if (place / "index.md").exists():
            return place
    raise StoreError(
        "The documentation is not there", f"It was to lie in {package / 'pages'}: install again."
    )


def _written() -> dict[str, Path]:
    """Return the pages that people wrote, and the changelog, which lies above them."""
    place = _folder()
    changes = place.parent / "CHANGELOG.md"
    pages = {path.name: path for path in sorted(place.glob("*.md"))}
    return pages | ({changes.name: changes} if changes.exists() else {})


@cache
def _generated() -> Mapping[str, str]:
    from tautochrone.cli.manual import reference, verbs

    return reference(verbs())


def _found(topic: str) -> str:
    """Return the name of a topic's page: one that is written comes before the reference of a verb."""
    word = topic.strip().lower().removeprefix("tauto ").removesuffix(".md")
    pages = {name.removesuffix(".md").lower(): name for name in _written()}
    if word in pages:
        return pages[word]
    verbs = {name.removeprefix("verbs/").removesuffix(".md"): name for name in _generated()}
    first = word.removeprefix("verbs/").partition(" ")[0]
    inner = re.findall(r"^## tauto (.+)$", _generated().get(verbs.get(first, ""), ""), re.MULTILINE)
    if first in verbs and word.removeprefix("verbs/") in (first, *inner):
        last = word.rpartition(" ")[2]
        return pages.get(last, verbs[first])
    meant = near(word, inner) or near(word.replace(" ", "-"), [*pages, *verbs])
    raise UsageError(
        f"There is no page '{topic}'",
        f"Did you mean: tauto docs {meant}?" if meant else "tauto docs lists the pages.",
    )


def _source(name: str) -> Path:
    """Return the file of a page; that of a verb is generated, and lies with the pages for the browser."""
    return _written().get(name) or _as_html(name)


def _text(name: str) -> str:
    return _generated()[name] if name in _generated() else _written()[name].read_text(encoding="utf-8")


def _through_pager(text: str) -> None:
    from rich.markdown import Markdown

    from tautochrone.answer.console import make_console

    os.environ.setdefault("LESS", "FRX")  # colours, and no page for what fits a screen
    console = make_console()
    with console.pager(styles=True):
        console.print(
            Markdown(re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)), width=min(console.width, 100)
        )


def _write_man(folder: Path) -> None:
    from importlib.metadata import version

    from tautochrone.cli.manual import man_pages, verbs
    from tautochrone.run.output import output

    _make(folder, f"man pages to {folder}", "Choose another place with --man.")
    pages = man_pages(verbs(), version("tautochrone"))
    for name, text in pages.items():
        with output(folder / name, "the man page", "--man") as file:
            file.write(text.encode())
    typer.echo(f"{len(pages)} man pages in {folder}")


def _make(folder: Path, what: str, advice: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"Can't write {what}: {error.strerror}", advice) from error


def _as_html(name: str) -> Path:
    """Write every page for the browser, so that links between them work, and return the file of one."""
    from tautochrone.base.installation import user_folder
    from tautochrone.run.output import output

    place = user_folder("cache") / "pages"
    _make(place / "verbs", f"the pages to {place}", "Set XDG_CACHE_HOME to a folder that can be written.")
    known = {*_written(), *_generated()}
    for page in known:
        with output(place / page.replace(".md", ".html"), "the page") as file:
            file.write(_html(page, known).encode())
    return place / name.replace(".md", ".html")


def _html(page: str, known: set[str]) -> str:
    """Return a page for the browser; a link to what was not installed becomes its words."""
    from markdown_it import MarkdownIt

    def linked(found: re.Match[str]) -> str:
        words, target, anchor = found.groups("")
        inside = os.path.normpath(Path(page).parent / target.removeprefix("../"))
        if target.endswith(".md") and inside in known:
            return f"[{words}]({inside_up}{inside.removesuffix('.md')}.html{anchor})"
        there = (_folder() / target).resolve()
        return f"[{words}]({there.as_uri()})" if there.exists() else words

    inside_up = "../" * page.count("/")
    text = _LINK.sub(linked, _SHOWN.sub(lambda one: f'src="{(_folder() / one[1]).as_uri()}"', _text(page)))
    shown = MarkdownIt("commonmark", {"html": True}).enable("table")
    shown.add_render_rule("heading_open", _heading)
    title = re.sub(r"[`#]", "", text.partition("\n")[0]).strip()
    return _PAGE.format(title=title, up=inside_up, body=shown.render(text))


def _heading(renderer: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    from tautochrone.cli.manual import slug

    tokens[at].attrSet("id", slug(re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", tokens[at + 1].content)))
    return str(renderer.renderToken(tokens, at, options, env))


_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark }}
body {{ max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.55 system-ui, sans-serif }}
pre, code {{ font-family: ui-monospace, monospace; font-size: .9em }}
pre {{ overflow-x: auto; padding: .7rem 1rem; background: color-mix(in srgb, currentColor 7%, transparent) }}
table {{ display: block; overflow-x: auto; border-collapse: collapse }}
th, td {{ padding: .25rem .6rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top }}
img {{ max-width: 100% }}
</style><nav><a href="{up}index.html">Tautochrone</a></nav>{body}</html>
"""
