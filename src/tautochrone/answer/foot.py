"""What pages say of the runs below an answer: warnings, conditions, audit, facts, how to repeat it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from tautochrone.answer import conditions, environment, html, warnings
from tautochrone.answer import document as doc
from tautochrone.base.faults import Later
from tautochrone.base.words import plural
from tautochrone.machine.audit import audit_facts
from tautochrone.machine.audit.finding import Finding
from tautochrone.run.facts import Facts
from tautochrone.run.manifest import Manifest

# The audit of every machine that runs were measured on, from the facts stored with them.


def audit_runs(manifests: Sequence[Manifest]) -> dict[str, tuple[Finding, ...]]:
    """Return the findings of each machine and kernel, also of servers, by a name that tells them apart.

    A machine whose findings changed between two runs is there twice, told apart by the time.
    """
    found: dict[tuple[str, tuple[Finding, ...]], str] = {}
    for manifest in manifests:
        began = when(manifest)
        for machine, facts in (
            (machine_name(manifest), manifest.known if manifest.facts else None),
            (server_name(manifest), _of_server(manifest)),
        ):
            if facts is not None:
                found.setdefault((machine, audit_facts(facts)), began)
    often = Counter(machine for machine, _ in found)
    return {
        machine if often[machine] == 1 else f"{machine}, {began} UTC": findings
        for (machine, findings), began in found.items()
    }


def machine_name(manifest: Manifest) -> str:
    """Return how it was reached if it was not this one, product or else CPU model, and kernel."""
    return _name(manifest.conditions.place, manifest.known) or "machine not known"


def server_name(manifest: Manifest) -> str:
    """Return the same of the server's machine; empty where there is no other one."""
    where = manifest.conditions.server_place
    return _name(f"the server's machine {where}", _of_server(manifest) or Facts()) if where else ""


def _of_server(manifest: Manifest) -> Facts | None:
    stored = manifest.conditions.server_facts
    return Facts.from_table(stored) if stored else None


def _name(where: str, facts: Facts) -> str:
    release = " ".join(part for part in (facts.kernel.name, facts.kernel.release) if part)
    return ", ".join(part for part in (where, facts.machine.product or facts.cpu.model, release) if part)


def one_of_each(manifests: Sequence[Manifest]) -> list[Manifest]:
    """Return one run of each machine and kernel, without a deployment if there is such a run."""
    found: dict[tuple[str, str], Manifest] = {}
    for manifest in sorted(manifests, key=lambda one: one.conditions.deployment is not None):
        found.setdefault((machine_name(manifest), server_name(manifest)), manifest)
    return list(found.values())


_MOST_WARNINGS = 6
_LEVELS = (
    ("unknown: could not be seen from here", ("unknown",)),
    ("to know when reading these numbers", ("warning", "note")),
    ("good: as a real-time system should be", ("good",)),
)
Audits = Mapping[str, Sequence[Finding]]
"""The findings of each machine, by its name."""


def foot(grounds: doc.Grounds) -> tuple[doc.DocumentPart, ...]:
    """Return the parts of a page about its runs; none where it does not say how to repeat it."""
    if not grounds.commands:
        return ()
    manifests = grounds.manifests
    places = grounds.places or (("", ""),) * len(manifests)
    placed = list(zip(manifests, places, strict=True))
    labels = grounds.labels or [
        one.id if where == one.id else f"{where}, {one.id}" for one, (where, _) in placed
    ]
    machines = one_of_each(manifests) if grounds.one_of_each else manifests
    found = Later(audit_runs, machines)
    notices = grounds.notices or Later(warnings.warnings, manifests, labels)
    deployments = grounds.deployments or _first(conditions.deployments, manifests, labels)
    loads = grounds.loads or _first(conditions.loads, manifests, labels)
    return (
        warned(notices),
        doc.part("The conditions", lambda: filter(None, [deployments.get()]), id="environment"),
        doc.part("Loads", lambda: filter(None, [loads.get()])),
        audited(found, _LEVELS),
        doc.part("Facts", lambda: _facts(machines, several=len(found.get()) > 1)),
        doc.part("The runs", lambda: [doc.Sentence(_balance(manifests))], id="runs"),
        doc.part("All runs", lambda: [_runs(placed, grounds.heads)]),
        doc.part("How to repeat it", lambda: _again(grounds), id="reproduce"),
    )


def masthead(grounds: doc.Grounds) -> str | Later[str]:
    """Return what stands at the top of the page."""
    if grounds.masthead is not None:
        return grounds.masthead
    return Later(html.masthead, *grounds.manifests) if grounds.manifests else ""


def lacking(found: Sequence[tuple[str, str]]) -> doc.TypedTable:
    """Return what was to be measured and was not, and why."""
    rows = tuple((doc.words(what), doc.words("N/A"), doc.words(why)) for what, why in found)
    return doc.TypedTable("", doc.columns("What", "Result", "Why"), rows)


def sections(parts: Sequence[doc.DocumentPart]) -> list[list[doc.DocumentPart]]:
    """Return the parts of each section; those of the first one have no heading but the headline."""
    found: list[list[doc.DocumentPart]] = [[]]
    for one in parts:
        if one.id:
            found.append([])
        found[-1].append(one)
    return found


def warned(notices: Later[Sequence[doc.Notice]]) -> doc.DocumentPart:
    """Return what to know before trusting the numbers; many are folded away."""

    def blocks() -> Iterator[doc.Block]:
        found = tuple(notices.get())
        if found:
            yield doc.Notices(found[:_MOST_WARNINGS])
        if rest := found[_MOST_WARNINGS:]:
            yield doc.Disclosure(f"{len(rest)} more", (doc.Notices(rest),))

    def heading() -> doc.Sentence:
        things = plural(len(notices.get()), "thing")
        return doc.Sentence(f"{things} to know before trusting these numbers", mark="tight")

    return doc.part("Warnings", blocks, id="warnings", heading=Later(heading))


def audited(found: Later[Audits], levels: Sequence[tuple[str, tuple[str, ...]]]) -> doc.DocumentPart:
    """Return the audit of the machines; of each of these levels its findings, folded away."""

    def blocks() -> Iterator[doc.Block]:
        machines = found.get()
        told = [(title, warnings.findings(machines, *of)) for title, of in levels]
        if any(notices for _, notices in told):
            yield doc.Subheading(f"The audit of {'these machines' if len(machines) > 1 else 'this machine'}")
        for title, notices in told:
            if notices:
                yield doc.Disclosure(f"{len(notices)} {title}", (doc.Notices(tuple(notices)),))

    return doc.part("The audit", blocks)


def facts(manifests: Sequence[Manifest], *, several: bool) -> Iterator[doc.Block]:
    """Yield all that is known about the machines; of ``several``, values stand side by side."""
    groups = environment.facts(manifests)
    if not groups:
        yield doc.Sentence("This run stored no facts about its machine.")
        return
    yield doc.PropertyGroups(tuple(groups))
    order = " Values that differ between the runs stand in the order of the runs." if several else ""
    yield doc.Sentence(f"N/A: this system does not say, or may not be asked.{order}", "note")


def _facts(machines: Sequence[Manifest], *, several: bool) -> Iterator[doc.Block]:
    yield doc.Subheading("Facts")
    whose = "these machines" if several else "this machine"
    yield doc.Disclosure(f"All that is known about {whose}", tuple(facts(machines, several=several)))


def _first(
    tables_of: Callable[[Sequence[Manifest], Sequence[str]], Sequence[doc.TypedTable]],
    manifests: Sequence[Manifest],
    labels: Sequence[str],
) -> Later[doc.TypedTable | None]:
    """Return the first of these tables; None: there is none."""
    return Later(lambda: next(iter(tables_of(manifests, labels)), None))


def _balance(manifests: Sequence[Manifest]) -> str:
    """Return whether the accounting of all of them balances."""
    found = [book for manifest in manifests for book in manifest.books]
    wrong = sum(bool(book.problems()) for book in found)
    if wrong:
        of = f"{wrong} of {plural(len(found), 'source')}"
        return f"The accounting of {of} does not balance: tauto show says by how much."
    return (
        f"The accounting of {plural(len(found), 'source')} balances: released = completed + missed, "
        "completed = recorded + dropped."
    )


def _runs(
    placed: Sequence[tuple[Manifest, tuple[str, str]]], heads: Sequence[tuple[str, bool]]
) -> doc.Disclosure:
    rows = tuple(
        (
            *(
                doc.TypedCell(said, "number" if right else "text")
                for said, (_, right) in zip(own, heads, strict=False)
            ),
            doc.words(manifest.title),
            doc.words(when(manifest)),
            doc.count(sum(book.recorded for book in manifest.books)),
            doc.time(_worst(manifest)),
            doc.TypedCell(manifest.id, "code"),
        )
        for manifest, own in placed
    )
    table = doc.TypedTable(
        "", doc.columns(*(head for head, _ in heads), "When (UTC)", "Samples", "Worst", "Run"), rows
    )
    title = "The run" if len(rows) == 1 else f"All {len(rows)} runs, in the order in which they were measured"
    return doc.Disclosure(title, (table,))


def when(manifest: Manifest) -> str:
    """Return the instant at which a run began."""
    return manifest.created[:19].replace("T", " ")


def _worst(manifest: Manifest) -> int | None:
    """Return the largest value of its first measure."""
    first = manifest.extremes[0].measure if manifest.extremes else ""
    return max((one.maximum_ns for one in manifest.extremes if one.measure == first), default=None)


def _again(grounds: doc.Grounds) -> Iterator[doc.Block]:
    yield doc.Sentence(
        f"The runs lie in the store of the machine that wrote this page. {grounds.again}, write this page "
        "anew, or look at one run closely:"
    )
    yield doc.Commands(grounds.commands)
