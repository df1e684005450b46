"""The program that draws a page's charts: Vega, Vega-Lite and vega-embed as one script.

To put it together takes a second, and it depends on nothing but the version of vl-convert. So it is kept.
"""

import re
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import platformdirs

from tautochrone.run.files import write_text

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_END = "\n/* whole */\n"
"""By which a script that was written in part is told from a whole one."""


@cache
def bundle() -> str:
    """The script: from the user's cache folder, or made and, where possible, put there."""
    path = _place()
    with suppress(OSError, UnicodeDecodeError):
        kept = path.read_text(encoding="utf-8")
        if kept.endswith(_END):
            return kept
    import vl_convert

    made = str(vl_convert.javascript_bundle(_SNIPPET)) + _END
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, made)
    return made


def _place() -> Path:
    released = re.sub(r"[^0-9A-Za-z.]", "-", version("vl-convert-python"))
    return platformdirs.user_cache_path("tautochrone") / f"charts-{released}.js"
