"""What the site has beside docs/*.md: the verbs, and files of the tree that the pages lead to."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from tautochrone.cli.manual import reference, slug, verbs

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
    "../examples": "examples.md",
}
"""What of the tree has a page, by how the pages in docs/ lead to it."""
_LINK = re.compile(
    r"\[((?:[^\[\]]|\[[^]]*\]\([^)]*\))*)\]\(((?:\.\./|docs/)[^)#\s]*|[\w-]+\.md)(#[^)\s]*)?\)"
)


def on_config(config: Any) -> Any:
    """Put the verbs, and what lies outside docs/, into the navigation."""
    config.nav = _placed(config.nav)
    return config


def _placed(part: Any) -> Any:
    if isinstance(part, list):
        return [_placed(one) for one in part]
    if isinstance(part, dict):
        return {name: _placed(below) for name, below in part.items()}
    if part == "verbs":
        pages = [page for page in reference(verbs()) if page != "verbs/index.md"]
        return ["verbs/index.md", *({page[6:-3]: page} for page in pages)]
    return OUTSIDE.get(part, part)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are generated."""
    pages = reference(verbs())
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        pages[OUTSIDE[f"../{name}"]] = (ROOT / name).read_text(encoding="utf-8")
    pages["examples.md"] = _examples()
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def _examples() -> str:
    parts = ["# Example files\n\nThey lie in `examples/` of the source tree.\n"]
    recipes = {one for one in (ROOT / "examples" / "ci").iterdir() if one.is_file()}
    for path in sorted({*(ROOT / "examples").rglob("*.toml"), *recipes}):
        name, content = path.relative_to(ROOT / "examples"), path.read_text(encoding="utf-8").rstrip()
        parts.append(f"## {name}\n\n```{path.suffix.removeprefix('.')}\n{content}\n```\n")
    return "\n".join(parts)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead to the page of what lies outside docs/; a link to any other file becomes its words."""
    above = page.file.src_uri in OUTSIDE.values()  # written to be read one folder above docs/

    def linked(found: re.Match[str]) -> str:
        words, target, anchor = found.groups("")
        place = f"../{target}" if above and not target.startswith("docs/") else target.removeprefix("docs/")
        if place in OUTSIDE:
            return f"[{words}]({OUTSIDE[place]}{anchor})"
        if place.startswith("../examples/") and (ROOT / place.removeprefix("../")).is_file():
            return f"[{words}](examples.md#{slug(place.removeprefix('../examples/'))})"
        if place.startswith("../examples/"):
            return f"[{words}](examples.md)"
        return words if place.startswith("../") else f"[{words}]({place}{anchor})"

    return _LINK.sub(linked, markdown)
