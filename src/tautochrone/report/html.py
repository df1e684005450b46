"""What every page consists of besides its own words: style, scripts, the charts' specifications."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tautochrone.errors import StoreError
from tautochrone.report.bundle import bundle
from tautochrone.report.views import conditions
from tautochrone.run.manifest import Manifest
from tautochrone.version import own_version


def render(template: str, specifications: dict[str, Any], **words: Any) -> str:
    """The text of a page: one file that holds everything it needs and asks no network for anything.

    Args:
        template: its name.
        specifications: of the charts, by the id of the element that each is drawn in.
        words: what else the template shows; `band`, where it has runs of the virtual lab.
    """
    return (
        _templates()
        .get_template(template)
        .render(
            **{"band": None, **words},
            version=own_version() or "(not installed)",
            style=Markup(style()),
            script=Markup(_asset("script.js")),
            bundle=Markup(bundle()) if specifications else "",
            specifications=Markup(_embedded(specifications)),
        )
    )


def part(template: str, **words: Any) -> Markup:
    """A part of a page as finished HTML, of a template of its own."""
    return Markup(_templates().get_template(template).render(**words))


def style() -> str:
    """The style sheet of all pages, with the colours of `theme.PAGE`."""
    return _asset("style.css")


def write(text: str, out: Path) -> Path:
    """Write a page.

    Raises:
        StoreError: that is not possible.
    """
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"Can't write the report to {out}: {error.strerror}", "Choose another place with --out."
        ) from error
    return out


def masthead(*manifests: Manifest) -> str:
    """The machine, its kernel and the day of the first run; of several machines, how many they are."""
    first = manifests[0]
    machines = {conditions.where(manifest) for manifest in manifests}
    if len(machines) > 1:
        return f"{len(machines)} machines · {first.created[:10]}"
    machine = first.facts.get("machine") or {}
    kernel = first.header.get("system") or first.facts.get("kernel") or {}
    cpu = (first.facts.get("cpu") or {}).get("model")
    parts = [
        conditions.where(first),
        machine.get("product"),
        cpu,
        " ".join(str(kernel[key]) for key in ("name", "release") if kernel.get(key)),
        first.created[:10],
    ]
    return " · ".join(str(part) for part in parts if part)


def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("tautochrone.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _asset(name: str) -> str:
    return (files("tautochrone.report") / "templates" / name).read_text(encoding="utf-8")


def _embedded(content: dict[str, Any]) -> str:
    """JSON that can't end the script element it stands in, whatever words a run carries."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
