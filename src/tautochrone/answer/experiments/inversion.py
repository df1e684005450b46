"""Priority inversion: which locks are open to it, and what the threads did (garre2014, 3.2 and Figure 2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts.grammar import Chart, Row, Rows, Told, field, fixed
from tautochrone.answer.charts.lanes import BLUE, RED
from tautochrone.answer.charts.rows import key_of
from tautochrone.answer.charts.scales import bands, by_run, colors, lanes, linear, shapes, time, worded_lines
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK, MUTED
from tautochrone.answer.document import UNKNOWN, TypedCell, TypedTable, columns, formatted, millis, words
from tautochrone.answer.phrasing.mechanisms import locks_headline, why_not_shown
from tautochrone.answer.typeset import duration
from tautochrone.base.units import format_duration
from tautochrone.judge.inversion import (
    ENDLESS,
    THREADS,
    Doing,
    LockVerdict,
    Scene,
    Span,
    judge_run,
    repetitions,
    scene,
    typical,
)
from tautochrone.run.folder import StoredRun

# Three threads and a lock, as Figure 2 of garre2014, and how long the high thread waited for each
# lock.


_SCENE_LANE_PX, _SCENE_BAR_PX = 34, 22
_LETTER_PX, _NARROWEST_PX = 6, 300  # of a panel on a page
_DOING: dict[Doing, str] = {
    "works": "works",
    "waits": "waits for the lock",
    "spins": "spins for the lock",
    "held up": "can't run",
}
_DOING_TONES = dict(zip(_DOING, (BLUE, RED, RED, MUTED), strict=True))


def scenario(scene: Scene, *, until_ns: int) -> Chart:
    """Draw what threads high, middle and low did, from when low has the lock to ``until_ns``, in ns."""
    last = {span.thread: span for span in scene.spans}
    rows = [_span(span, until_ns, is_last=last[span.thread] == span) for span in scene.spans]
    x = linear(0, until_ns / 1e6, "ms since low has the lock", tickCount=6, format="~r", grid=True)
    y = bands("thread", THREADS, fixed=True, grid=False)
    told: list[Told] = ["thread", ("words", "what")]
    held = {"thread": "low", "start": 0, "end": scene.released_ns / 1e6, "words": "has the lock"}
    middle, end = (field(name, "quantitative") for name in ("middle", "end"))
    layers = [
        Rows(rows, x=x.of("start"), x2="end", y=y).bar(
            height=_SCENE_BAR_PX,
            fillOpacity=0.3,
            strokeWidth=1,
            clip=True,
            color=colors("doing", _DOING_TONES),
            stroke=colors("doing", _DOING_TONES),
            tooltip=told,
        ),
        Rows(rows, x=middle, y=y).text("inside", clip=True),
        Rows(rows, x=end, y=y).text("beside", clip=True, align="left", dx=5),
        Rows([held], x=x.of("start"), x2="end", y=y).rule(
            strokeWidth=3, color=INK, yOffset=_SCENE_BAR_PX // 2 + 3, clip=True, tooltip=told
        ),
    ]
    did = [
        f"{span.thread} {_DOING[span.doing]} from {duration(span.start_ns)} to {duration(span.end_ns)}"
        for span in scene.spans
    ]
    released = f"low gives it back at {duration(scene.released_ns)}"
    words = f"Since low has the lock: {'; '.join(did)}; {released}."
    return Chart(layers, _SCENE_LANE_PX * len(THREADS), words)


def _span(span: Span, until_ns: int, *, is_last: bool) -> Row:
    full = f"{_DOING[span.doing]}, {duration(span.lasts_ns)}"
    words = (full, _DOING[span.doing])
    inside = _fitting(words, span.lasts_ns / until_ns)
    return {
        "thread": span.thread,
        "doing": span.doing,
        "start": span.start_ns / 1e6,
        "end": span.end_ns / 1e6,
        "middle": (span.start_ns + span.end_ns) / 2e6,
        "words": full,
        "inside": inside,
        "beside": _fitting(words, 1 - span.end_ns / until_ns) if is_last and not inside else "",
    }


def _fitting(words: Sequence[str], share: float) -> str:
    """Return the first of ``words`` that fit this share of the chart's width; "" if none does."""
    return next((text for text in words if len(text) * _LETTER_PX <= share * _NARROWEST_PX), "")


# Lock beside lock.

WAITED, GAVE_UP = "had the lock", "gave up"
LOCK_MARKS = {WAITED: "circle", GAVE_UP: "triangle-right"}


@dataclass(frozen=True)
class LockRow:
    """One lock of one run, with its repetitions."""

    run: str
    name: str
    verdict: LockVerdict


def blocking(rows: Sequence[LockRow], limits: Sequence[tuple[str, int]]) -> Chart:
    """Draw how long the high thread was kept waiting, a line of dots per lock and run, one per repetition."""
    runs = list(dict.fromkeys(row.run for row in rows))
    names = list(dict.fromkeys(row.name for row in rows))
    dots = [dot for row in rows for dot in _repetitions(row)]
    x = time([*(float(dot["at"]) for dot in dots), *(ns for _, ns in limits)], "kept waiting")
    points = Rows(
        dots,
        x=x.of("at"),
        y=bands("name", names, labelFontSize=11, labelLimit=180),
        yOffset=lanes("run", runs),
        color=by_run(runs),
        shape=shapes("end", LOCK_MARKS),
    )
    lines = [{"at": ns, "words": words} for words, ns in limits]
    above = {"y": fixed(0), "align": "left", "baseline": "bottom", "dx": 3, "dy": -3}
    layers = [
        points.point(size=50, opacity=0.7, tooltip=[("name", "lock"), "run", ("words", "kept waiting")]),
        *worded_lines(lines, {"x": x.of("at")}, above, strokeDash=[4, 3], opacity=0.7),
    ]
    said = [
        f"{row.name}{f', {row.run}' if row.run else ''}: worst {least}{duration(row.verdict.worst_ns)}"
        for row in rows
        for least in ("at least " if row.verdict.gave_up else "",)
    ]
    words = f"How long the high thread was kept waiting. {'; '.join(said)}."
    return Chart(layers, len(names) * (16 * len(runs) + 10) + 10, words)


def _repetitions(row: LockRow) -> Iterator[Row]:
    for value, story in zip(row.verdict.blocking_ns, row.verdict.stories, strict=True):
        endless = story == ENDLESS
        yield {
            "run": row.run,
            "name": row.name,
            "at": max(1, int(value)),
            "end": GAVE_UP if endless else WAITED,
            "words": f"at least {duration(int(value))}" if endless else duration(int(value)),
        }


_COLUMNS = columns("lock", "open to inversion?", "times", "median (ms)", "worst (ms)", "bounded by")
_ANSWERS = {"open": "yes", "safe": "no", "not shown": "inconclusive"}
_TITLES = {
    "inverted": "open: the middle task works while high waits",
    "endless": "open: high spins on the CPU that low needs",
    "inherited": "safe: low goes before the middle task while high waits",
    "ceiling": "safe: low goes before both until it gives the lock back",
}
_MEASURED = (
    "Yes: the middle task did all of its work while the high thread was kept waiting, or low never came to "
    "run. That is read from the order of instants, not from a length. Times: in how many repetitions."
)


@dataclass(frozen=True)
class InversionPresentation:
    """Presentation of the experiment `inversion`."""

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:
        """Return one table per run; its title says which locks are safe."""
        return [_table(run, label) for run, label in zip(runs, labels, strict=True)]

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:
        """Draw what the threads did, one panel for each way in which it went; and every blocking time."""
        judged = [(run, label, judge_run(run)) for run, label in zip(runs, labels, strict=True)]
        judged = [one for one in judged if any(len(lock.blocking_ns) for lock in one[2])]
        if not judged:
            return []
        names = [f"threads-{index}" if len(judged) > 1 else "threads" for index in range(len(judged))]
        drawn = [_scenario(*one, f"{prefix}-{name}") for one, name in zip(judged, names, strict=True)]
        return [*(figure for figure in drawn if figure is not None), _waits(judged, f"{prefix}-waits")]


def _table(run: StoredRun, label: str) -> TypedTable:
    notes = [f"{one.name}: N/A, {one.why}." for one in run.manifest.header.absent]
    if run.is_histogram:
        note = "Nothing is judged: the run kept a histogram, and the order of instants is lost. Record raw."
        return TypedTable(_titled("Priority inversion", label), _COLUMNS, (), (note, *notes))
    verdicts = judge_run(run)
    places = {one.where for one in verdicts}
    rows: list[tuple[TypedCell, ...]] = [
        (
            words(f"{one.lock}, {one.where}" if len(places) > 1 else one.lock),
            words(_ANSWERS[one.standing]),
            formatted(
                one.times_open if one.times_shown else None, f"{one.times_open:,} of {one.times_shown:,}"
            ),
            _waited(one, one.median_ns),
            _waited(one, one.worst_ns),
            words(one.bound or UNKNOWN),
        )
        for one in verdicts
    ]
    rows += [
        (words(one.name), words(UNKNOWN), formatted(None, ""), millis(None), millis(None), words(UNKNOWN))
        for one in run.manifest.header.absent
    ]
    for one in verdicts:
        if why := why_not_shown(one):
            total = len(one.stories)
            left = f"{total - one.times_shown:,} of {total:,} repetitions show nothing: "
            notes.append(f"{one.lock}: {left if one.times_shown < total or not total else ''}{why}.")
    if any(one.gave_up for one in verdicts):
        patience = format_duration(_parameter(run, "patience_ns"))
        never = "; it would never have had the lock" if any(one.endless for one in verdicts) else ""
        notes.append(f"At least: the high thread gave up after {patience}{never}.")
    notes += [_how(run, places), _MEASURED]
    return TypedTable(_titled(locks_headline(verdicts), label), _COLUMNS, tuple(rows), tuple(notes))


def _waited(one: LockVerdict, ns: float | None) -> TypedCell:
    cell = millis(ns)
    return replace(cell, text=f"at least {cell.shown}") if one.gave_up and ns is not None else cell


def _how(run: StoredRun, places: set[str]) -> str:
    lengths = (
        f"Critical section of {format_duration(_parameter(run, 'critical_ns'))}, middle task of "
        f"{format_duration(_parameter(run, 'middle_ns'))}."
    )
    if len(places) == 1 and " to " not in (place := next(iter(places))):
        return f"{lengths} All three threads on {place}."
    return f"{lengths} Of two CPUs, low and middle are on the first, high on the second."


def _scenario(run: StoredRun, label: str, verdicts: Sequence[LockVerdict], prefix: str) -> Figure | None:
    """Draw one panel for each story that was told, by its first lock; the caption names the others."""
    told: dict[tuple[str, str], list[tuple[int, LockVerdict]]] = {}
    for source, one in zip(run.sources, verdicts, strict=True):
        if len(one.blocking_ns) and (story := max(one.stories, key=one.stories.count)) in _TITLES:
            told.setdefault((story, one.where), []).append((source, one))
    panels = tuple(_panels(run, told, prefix))
    if not panels:
        return None
    several_places = len({where for _, where in told}) > 1
    alike = [
        f"As with the {members[0][1].lock}{f', {where}' if several_places else ''}, so with: "
        f"{', '.join(one.lock for _, one in members[1:])}."
        for (_, where), members in told.items()
        if len(members) > 1
    ]
    caption = (
        "The repetition with the median blocking time. The black line: low has the lock. It is taken to work "
        "when nobody else has its CPU.",
        *alike,
    )
    return Figure(_titled("What the three threads did", label), panels, caption)


def _panels(
    run: StoredRun, told: dict[tuple[str, str], list[tuple[int, LockVerdict]]], prefix: str
) -> Iterator[Panel]:
    several_places = len({where for _, where in told}) > 1
    scenes = {}
    for (story, where), members in told.items():
        source, _ = members[0]
        seen = repetitions(run, source)
        drawn = scene(seen, typical(seen))
        if drawn.spans:  # on a clock too coarse to tell its instants apart nothing lasts
            scenes[story, where] = drawn
    ends = {key: max(span.end_ns for span in one.spans) for key, one in scenes.items()}
    bounded = max((end for (story, _), end in ends.items() if story != "endless"), default=0)
    for index, (key, one) in enumerate(scenes.items()):
        story, where = key
        lock = told[key][0][1].lock
        name = f"{lock}, {where}" if several_places else lock
        until_ns = ends[key] if story == "endless" else bounded
        yield Panel(
            prefix, f"{name}: {_TITLES[story]}", scenario(one, until_ns=round(until_ns * 1.02)), index
        )


def _waits(judged: Sequence[tuple[StoredRun, str, Sequence[LockVerdict]]], prefix: str) -> Figure:
    several_places = len({one.where for _, _, verdicts in judged for one in verdicts}) > 1
    rows = [
        LockRow(label, f"{one.lock}, {one.where}" if several_places else one.lock, one)
        for _, label, verdicts in judged
        for one in verdicts
        if len(one.blocking_ns)
    ]
    lengths = {(_parameter(run, "critical_ns"), _parameter(run, "middle_ns")) for run, _, _ in judged}
    limits: list[tuple[str, int]] = []
    caption = ["Every repetition, from when the high thread is ready until it has the lock."]
    if len(lengths) == 1:
        critical_ns, middle_ns = lengths.pop()
        limits = [("critical section", critical_ns), ("with the middle task", critical_ns + middle_ns)]
    else:
        caption.append("The runs differ in the critical section or the middle task, so neither is drawn.")
    key: tuple[Sign, ...] = ()
    if any(row.verdict.gave_up for row in rows):
        key = key_of(LOCK_MARKS)
        caption.append("Gave up: what it waited, not what it would take.")
    panel = Panel(prefix, "", blocking(rows, limits))
    return Figure("How long the high thread was kept waiting", (panel,), tuple(caption), key)


def _parameter(run: StoredRun, name: str) -> int:
    return run.manifest.header.number(name) or 0


def _titled(words: str, label: str) -> str:
    return f"{label}: {words}" if label else words
