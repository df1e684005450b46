"""What a machine's deployments and settings are, as documents."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Mark
from tautochrone.base.words import on_machine, plural
from tautochrone.machine.deployment import ORIGIN, Deployment
from tautochrone.machine.deployment.apply import KnobSetting, Prospect
from tautochrone.machine.settings import InForce
from tautochrone.run.conditions import Obtained

_MARKS: dict[str, Mark] = {
    "yes": "holds",
    "in part": "tight",
    "no": "missed",
    "as it is": "holds",
    "run time": "holds",
    "at boot": "tight",
    "can't": "missed",
}


def possible(
    prospects: Sequence[Prospect], on: str | None, force: InForce | None, unseen: str
) -> doc.Document:
    """Return which deployments a machine can have; `on`: the machine, as --on has it."""
    whole = sum(one.can == "yes" for one in prospects)
    return doc.Document(
        f"This machine can have {whole} of {plural(len(prospects), 'deployment')} as a whole.",
        (
            doc.part("The deployments", lambda: _prospects(prospects, on)),
            doc.part("What is in force", lambda: _force(force, unseen, on)),
        ),
    )


def _prospects(prospects: Sequence[Prospect], on: str | None) -> Iterator[doc.Block]:
    rows = [
        (_strong(one.name), _marked(one.can), doc.words(one.title), doc.words(one.reason))
        for one in prospects
    ]
    yield doc.TypedTable("", doc.columns("name", "here", "what", "remark"), tuple(rows))
    origins: dict[str, list[str]] = {}
    for one in prospects:
        if one.origin:
            origins.setdefault(one.origin, []).append(one.name)
    for origin, names in origins.items():
        yield doc.Sentence(f"{', '.join(names)}: {origin}", "note")
    yield doc.Sentence(f"One in full: tauto tune show NAME{on_machine(on)}")


def settings(rows: Sequence[KnobSetting], on: str | None, force: InForce | None, unseen: str) -> doc.Document:
    """Return all settings as they are now; `on`: the machine, as --on has it."""
    table = doc.TypedTable(
        "",
        doc.columns("setting", "now", "what it is, and its values"),
        tuple((_strong(row.knob), _value(row.now), doc.words(row.summary)) for row in rows),
    )
    unknown = sum(row.now is None for row in rows)
    untold = f", {unknown} of which this machine does not tell" if unknown else ""
    return doc.Document(
        f"{plural(len(rows), 'setting')}{untold}.",
        (
            doc.part("The settings", lambda: (table,)),
            doc.part("What is in force", lambda: _force(force, unseen, on)),
        ),
    )


def wanted(
    deployment: Deployment, rows: Sequence[KnobSetting], on: str | None, force: InForce | None, unseen: str
) -> doc.Document:
    """Return what a deployment asks for, what stays, and what does the same by hand.

    What is typed by hand stands below the table, on lines of its own, so that it can be copied.

    Args:
        on: the machine, as --on has it.
    """
    asked = [row for row in rows if row.wanted is not None]
    origin = f"  ({deployment.origin})" if deployment.origin else ""
    return doc.Document(
        f"{deployment.name}  {deployment.title}{origin}",
        (
            doc.part("Its settings", lambda: _asked(deployment, asked)),
            doc.part("What stays as it is", lambda: _stays(rows)),
            doc.part("By hand", lambda: _by_hand(asked)),
            doc.part("How to have it", lambda: _ways(deployment, on)),
            doc.part("What is in force", lambda: _force(force, unseen, on)),
        ),
    )


def _asked(deployment: Deployment, asked: Sequence[KnobSetting]) -> Iterator[doc.Block]:
    measure = f"on CPU {deployment.measure}" if deployment.measure else "where each experiment chooses"
    load = f"on CPU {deployment.load}" if deployment.load else "on all CPUs"
    yield doc.Sentence(f"Measuring threads {measure}, loads {load}")
    why = any(row.reason for row in asked)
    yield doc.TypedTable(
        "",
        doc.columns("setting", "now", "wanted", "how", *(["why"] if why else [])),
        tuple(
            (
                *(_strong(row.knob), _value(row.now), doc.words(row.wanted or ""), _marked(row.how)),
                *([doc.words(row.reason)] if why else []),
            )
            for row in asked
        ),
    )


def _stays(rows: Iterable[KnobSetting]) -> Iterator[doc.Block]:
    left = ", ".join(f"{row.knob} {row.now or doc.UNKNOWN}" for row in rows if row.wanted is None)
    if left:
        yield doc.Sentence(f"Stays as it is: {left}", "note")


def _by_hand(rows: Sequence[KnobSetting]) -> Iterator[doc.Block]:
    """Yield what is typed by hand. Nothing of it is put back: that is what a deployment is for."""
    for heading, typed in (
        ("By hand, until the next boot", {row.knob: row.now_type for row in rows if row.now_type}),
        ("At boot, for good", {row.knob: row.at_boot for row in rows if row.at_boot}),
    ):
        if typed:
            yield doc.Subheading(heading)
            yield doc.Statements(tuple(doc.Sentence(f"{knob}: {words}") for knob, words in typed.items()))


def _ways(deployment: Deployment, on: str | None) -> Iterator[doc.Block]:
    named = typed(deployment)
    yield doc.Sentence(f"To measure under it: tauto probe cyclic --deployment {named}{on_machine(on)}")
    yield doc.Sentence(f"To leave it in force: tauto tune apply {named}{on_machine(on)}")


def typed(deployment: Deployment) -> str:
    """Return how a deployment is typed: one of the six by its name, one of a file by that."""
    return deployment.name if deployment.origin in ("", ORIGIN) else shlex.quote(deployment.origin)


def applied(
    deployment: Deployment, obtained: Sequence[Obtained], on: str | None, *, changed: bool
) -> doc.Document:
    """Return what came of applying one; `changed`: there is something to put back."""
    why = any(one.reason for one in obtained)
    table = doc.TypedTable(
        "",
        doc.columns("setting", "before", "asked for", "obtained", *(["why not"] if why else [])),
        tuple(
            (
                *(_strong(one.knob), _value(one.before), doc.words(one.requested or "")),
                doc.TypedCell(one.obtained, mark="tight" if one.reason else "holds"),
                *([doc.words(one.reason)] if why else []),
            )
            for one in obtained
        ),
    )
    back = [doc.Sentence(how_back(on))] if changed else []
    return doc.Document(
        came_of(deployment, changed=changed),
        (doc.part("What was obtained", lambda: (table,)), doc.part("How to put it back", lambda: back)),
    )


def came_of(deployment: Deployment, *, changed: bool) -> str:
    """Return whether it is in force: one that has changed nothing has nothing to put back."""
    if changed:
        return f"{deployment.name} is in force."
    return f"{deployment.name} changed nothing, so no deployment is in force."


def how_back(on: str | None) -> str:
    """Return how what was applied to a machine is put back."""
    return f"To put everything back: tauto tune restore{on_machine(on)}"


def _force(force: InForce | None, unseen: str, on: str | None) -> Iterator[doc.Block]:
    if force is not None:
        yield doc.Sentence(force.told(on))
    if unseen:
        yield doc.Sentence(f"Whether a deployment is in force can't be seen: {unseen}")


def _value(text: str | None) -> doc.TypedCell:
    return doc.TypedCell(text or None)


def _strong(name: str) -> doc.TypedCell:
    return doc.TypedCell(name, strong=True)


def _marked(word: str) -> doc.TypedCell:
    return doc.TypedCell(word, mark=_MARKS.get(word, ""))
