"""How a study is called where there is little room."""

import re

from tautochrone.paper.document import Paper

_NAME = re.compile(r"([a-z]+)([0-9]{4})[a-z]?")
_PERSON = re.compile(r"(?:[A-Z]\.[ -]?)+ ?[^\W\d_][\w'\u2019-]+")


def short(paper: Paper) -> str:
    """Who and when: ``Laurich (2004)``, ``Schmidt et al. (2002)``."""
    found = _NAME.fullmatch(paper.name)
    if found is None:
        return paper.name
    several = len(_PERSON.findall(paper.cited)) > 1
    return f"{found[1].capitalize()}{' et al.' if several else ''} ({found[2]})"
