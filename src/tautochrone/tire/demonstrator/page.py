"""The page itself: one file that holds everything it needs, in the look of the report."""

from functools import cache
from importlib.resources import files

from jinja2 import PackageLoader
from markupsafe import Markup

from tautochrone.answer import html
from tautochrone.base.version import own_version

_HERE = "tautochrone.tire.demonstrator"


@cache
def page() -> str:
    """Its HTML text, the same for every run: what it shows it is told by the server."""
    found = html.templates(PackageLoader(_HERE, "page"))
    return found.get_template("view.html.j2").render(
        version=own_version() or "(not installed)",
        style=Markup(html.style() + _asset("view.css")),
        scripts=[Markup(_asset(name)) for name in ("words.js", "tire.js", "strip.js", "view.js")],
    )


def _asset(name: str) -> str:
    return (files(_HERE) / "page" / name).read_text(encoding="utf-8")
