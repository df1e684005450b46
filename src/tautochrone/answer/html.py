"""What every page consists of besides its own words: style, scripts, the charts' specifications."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import CodeType
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined, nodes
from jinja2.bccache import Bucket, BytecodeCache
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from markupsafe import Markup, escape

from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts.theme import PAGE, style_sheet
from tautochrone.answer.typeset import POWER, typeset
from tautochrone.base.errors import StoreError
from tautochrone.base.faults import Fault, attempt, now
from tautochrone.base.installation import own_version, user_folder
from tautochrone.base.words import printable
from tautochrone.run.files import write_text
from tautochrone.run.manifest import Manifest
from tautochrone.run.output import output

# The program that draws a page's charts: Vega, Vega-Lite and vega-embed as one script.


_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_END = "\n/* whole */\n"
"""By which a script that was written in part is told from a whole one."""


@cache
def bundle() -> str:
    """Return the script: from the user's cache folder, or made and, where possible, put there."""
    with suppress(OSError, UnicodeDecodeError, StoreError):
        kept = _place_of_bundle().read_text(encoding="utf-8")
        if kept.endswith(_END):
            return kept
    import vl_convert

    made = str(vl_convert.javascript_bundle(_SNIPPET)) + _END
    with suppress(OSError, StoreError):
        path = _place_of_bundle()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, made)
    return made


def _place_of_bundle() -> Path:
    released = re.sub(r"[^0-9A-Za-z.]", "-", version("vl-convert-python"))
    return user_folder("cache") / f"charts-{released}.js"


def render(template: str, **words: Any) -> str:
    """Return the text of a page: one file that holds everything it needs and asks no network for anything.

    Words that come `Later` are made where the template first uses them. Between ``{% part TITLE %}`` and
    ``{% endpart %}`` what fails unexpectedly costs no more than what stands there.
    """
    return (
        templates()
        .get_template(template)
        .render(
            **{"band": None, **words},
            version=own_version() or "(not installed)",
            style=Markup(style()),
            script=Markup(asset("script.js")),
        )
    )


def plain(headline: str, said: str, notice: str) -> str:
    """Return a page without form, for an answer whose page can't be made: headline, notice, and words.

    It needs nothing that made pages need, for that is what failed.
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
        f"<title>{escape(headline)}</title></head>\n<body>\n<h1>{escape(headline)}</h1>\n"
        f'<p role="alert"><b>{escape(notice)}</b></p>\n'
        f'<pre style="white-space: pre-wrap">{escape(said)}</pre>\n</body>\n</html>\n'
    )


def style() -> str:
    """Return the style sheet of all pages, with the colours of their charts."""
    return style_sheet() + asset("style.css")


def written() -> str:
    """Return when a page is written."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def title(make: Callable[[], str]) -> str:
    """Return the title of a page; where it can't be made, what every page is."""
    return attempt("Title", lambda: typeset(printable(make())), lambda _: "Report of Tautochrone")


def write(text: str, out: Path) -> Path:
    """Write a page."""
    with output(out, "the report") as file:
        file.write(text.encode(errors="replace"))  # what was typed may be any bytes
    return out


def masthead(*manifests: Manifest) -> str:
    """Return the machine, its kernel and the day of the first run; of several machines, how many they are."""
    first = manifests[0]
    machines = {manifest.conditions.remote for manifest in manifests}
    if len(machines) > 1:
        return f"{len(machines)} machines · {first.created[:10]}"
    parts = [
        first.conditions.remote,
        first.known.machine.product,
        first.known.cpu.model,
        first.header.system.words or " ".join(filter(None, (first.kernel.name, first.kernel.release))),
        first.created[:10],
    ]
    return " · ".join(str(part) for part in parts if part)


class _Context(Context):
    """Makes what comes later when it is asked for."""

    def resolve_or_missing(self, key: str) -> object:
        """Return the value of a name in a template."""
        return now(super().resolve_or_missing(key))


class _Part(Extension):
    """``{% part TITLE %}``: where what follows fails unexpectedly, a notice stands in its place."""

    tags = {"part"}  # noqa: RUF012 - as jinja2 has it

    def parse(self, parser: Parser) -> nodes.Node:
        """Return the call of `_made` with what stands until ``endpart``."""
        line = next(parser.stream).lineno
        title = parser.parse_expression()
        body = parser.parse_statements(("name:endpart",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_made", [title]), [], [], body).set_lineno(line)

    def _made(self, title: str, caller: Callable[[], str]) -> str:
        charts: dict[str, object] = self.environment.globals["charts"]  # type: ignore[assignment]
        before = dict(charts)

        def notice(fault: Fault) -> str:
            charts.clear()
            charts.update(before)  # what lost its place can't be drawn
            return Markup('<div class="ending" role="alert"><p>{}</p></div>').format(fault.notice)

        return attempt(title, caller, notice)


class _Compiled(BytecodeCache):
    """Templates as they were compiled, for every page that this process makes."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take a template that was compiled before."""
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template."""
        self._kept[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


def _place(charts: dict[str, object], panel: Panel) -> str:
    """Return the id of the element that a panel's chart is drawn in, and keep the chart."""
    charts[panel.id] = panel.chart.specification(PAGE)
    return panel.id


def templates(*more: BaseLoader) -> Environment:
    """Make the templates of pages; ``more`` are found before those of the report."""
    made = Environment(
        loader=ChoiceLoader([*more, PackageLoader("tautochrone.answer")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_Part],
        bytecode_cache=_COMPILED,
    )
    made.context_class = _Context
    charts: dict[str, object] = {}

    made.globals |= {
        "charts": charts,
        "place": partial(_place, charts),
        "bundle": lambda: Markup(bundle()),
        "specifications": lambda: Markup(_embedded(charts)),
        "now": now,
        "kind_of": lambda block: type(block).__name__,
    }
    made.filters["typeset"] = _typeset
    return made


def _typeset(text: str) -> Markup:
    """Return words as a page has them, with powers of ten set as such."""
    return Markup(POWER.sub(r"10<sup>\1</sup>", str(escape(typeset(printable(text))))))


def asset(name: str) -> str:
    """Return a file of the templates: a script, a style sheet."""
    return (files("tautochrone.answer") / "templates" / name).read_text(encoding="utf-8")


def own_page(package: str, template: str, style_file: str, scripts: Sequence[str], **more: object) -> str:
    """Return a page that is the same for every run, from the folder ``page`` of a package."""

    def own(name: str) -> Markup:
        return Markup((files(package) / "page" / name).read_text(encoding="utf-8"))

    found = templates(PackageLoader(package, "page")).get_template(template)
    version_here = own_version() or "(not installed)"
    drawn_by = [Markup(asset("words.js")), *map(own, scripts)]
    return found.render(
        version=version_here, style=Markup(style()) + own(style_file), scripts=drawn_by, **more
    )


def _embedded(content: dict[str, object]) -> str:
    """Return JSON that can't end the script element it stands in, whatever words a run carries."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
