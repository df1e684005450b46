"""A trend in sentences: what was found in each line, with its numbers."""

from collections.abc import Sequence

from tautochrone.base.units import format_duration
from tautochrone.base.words import capital, plural, some
from tautochrone.statistics.quantiles import CONFIDENCE, samples_needed
from tautochrone.trend.judge import (
    ALPHA,
    FEWEST,
    WATCHED,
    FactChange,
    LevelStep,
    Trend,
    TrendLine,
    TrendPoint,
)
from tautochrone.trend.values import TrendMetric, TrendValue

_ALWAYS = ("period_ns",)
_MOST_FACTS, _MOST_TOLD, _LONGEST = 3, 6, 60
_PER_MILLION = 1e6
_WHOLE_FROM = 1000


def describe(line: TrendLine, trend: Trend) -> str:
    """What tells a line from the others of this trend: ``cyclic, period 1 ms, idle, deployment MI``."""
    others = trend.lines
    words = [f"{line.experiment} in the virtual lab" if line.virtual else line.experiment]
    alike = [one for one in others if one.experiment == line.experiment]
    for name, value in line.parameters.items():
        if name in _ALWAYS or len({one.parameters.get(name) for one in alike}) > 1:
            words.append(f"{name.removesuffix('_ns').replace('_', ' ')} {value}")
    if line.source:
        words.append(line.source)
    if len({one.measure for one in alike}) > 1:
        words.append(line.measure.removesuffix("_ns"))
    words += [
        line.traits[name] if name == "load" else f"{name} {line.traits[name]}"
        for name in reversed(trend.by)
        if len({one.traits[name] for one in others}) > 1
    ]
    return ", ".join(words)


def common(trend: Trend) -> str:
    """What all lines have in common; empty where they have nothing."""
    shared = []
    for name in trend.by:
        values = {line.traits[name] for line in trend.lines}
        if len(values) == 1:
            shared.append(f"{name} {values.pop()}")
    return f"All of {'; '.join(shared)}." if shared else ""


def number(value: float, metric: TrendMetric) -> str:
    """A value with its unit: a time, or of misses how many of a million releases."""
    if not metric.is_share:
        return format_duration(value)
    if not value:
        return "none"
    number = value * _PER_MILLION
    return f"{number:,.0f} of 1e6" if number >= _WHOLE_FROM else f"{number:.4g} of 1e6"


def shown(value: TrendValue, metric: TrendMetric) -> str:
    """A point's value; one that lies beyond every sample is at least that."""
    words = number(value.value or 0.0, metric)
    return f"over {words}" if value.beyond else words


def interval(value: TrendValue, metric: TrendMetric) -> str:
    """``40.1 us to 43 us``, ``40.1 us and more`` where it ends beyond every sample; empty without one."""
    if value.low is None:
        return ""
    if value.high is None:
        return f"{number(value.low, metric)} and more"
    return f"{number(value.low, metric)} to {number(value.high, metric)}"


def sentences(line: TrendLine, metric: TrendMetric) -> list[str]:
    """What was found, step after step; then what limits it."""
    found = [_step(step, line, metric) for step in line.steps or ()]
    count = len(line.points)
    if line.steps is None and count:
        found.append(
            "One run: there is nothing to compare it with."
            if count == 1
            else f"{count} runs: a lasting change is searched for from {FEWEST} on."
        )
    elif not line.steps and count:
        found.append(f"No lasting change found in {count:,} runs.")
    if latest := _latest(line, metric):
        found.append(latest)
    if others := _others(line):
        found.append(others)
    if line.expected is not None:
        low, high = (number(one, metric) for one in line.expected)
        found.append(f"The next run is expected between {low} and {high} (95 %) if nothing changes.")
    return [*found, *_limits(line, metric)]


def changed_words(changed: Sequence[FactChange], most: int = _MOST_FACTS) -> str:
    """``kernel.release 6.1.0-25 -> 6.1.0-27; and 2 more facts``; empty of none."""
    words = [fact_words(one) for one in changed[:most]]
    rest = len(changed) - most
    if rest > 0:
        words.append(f"and {plural(rest, 'more fact')}")
    return "; ".join(words)


def fact_words(one: FactChange) -> str:
    """One fact that changed; of long lists what is gone and what is new."""
    before, after = _plain(one.before), _plain(one.after)
    if len(before) + len(after) > _LONGEST:
        old, new = ([word.strip(",") for word in text.split()] for text in (before, after))
        gone = [word for word in old if word not in new]
        come = [word for word in new if word not in old]
        said = [
            f"without {_short(' '.join(gone))}" if gone else "",
            f"with {_short(' '.join(come))}" if come else "",
        ]
        return f"{one.name} {', '.join(filter(None, said)) or 'in another order'}"
    return f"{one.name} {before} -> {after}"


def date_of(point: TrendPoint) -> str:
    """The day and the hour at which a run began, UTC."""
    return point.created[:16].replace("T", " ")


def _step(step: LevelStep, line: TrendLine, metric: TrendMetric) -> str:
    first = line.points[step.index]
    sides = (
        line.points[step.index - step.runs_before : step.index],
        line.points[step.index : step.index + step.runs_after],
    )
    # A level among releases without a sample is above every other, also above larger samples.
    beyond = [2 * sum(one.value.beyond for one in side) >= len(side) for side in sides]
    rose = step.after > step.before if beyond[0] == beyond[1] else beyond[1]
    verb = "rose" if rose else "fell"
    by = f" ({(step.after / step.before - 1) * 100:+.0f} %)" if step.before > 0 and not step.at_least else ""
    before, after = (
        f"above every sample (at least {number(level, metric)})" if above else number(level, metric)
        for level, above in zip((step.before, step.after), beyond, strict=True)
    )
    levels = f"from {before} to {after}{by}"
    said = f"{metric.name} {verb} {levels} with {first.run} ({date_of(first)} UTC)"
    runs = f"{step.runs_before} runs before, {step.runs_after} after."
    if step.shown:
        said = f"{capital(said)}: {runs}"
    else:
        said = f"Perhaps {said}: {runs} A line that is looked at after every run needs more runs to show it."
    if step.changed:
        return f"{said} Changed there: {changed_words(step.changed)}."
    if step.near:
        return f"{said} Changed one run before or after: {changed_words(step.near)}."
    return f"{said} No fact that is known of it changed there."


def _others(line: TrendLine) -> str:
    """What changed along the line where the number did not."""
    told = {change for step in line.steps or () for change in (*step.changed, *step.near)}
    said = [
        f"{fact_words(change)} ({one.created[:10]})"
        for one in line.points
        for change in one.changed
        if change not in told
    ]
    if not said:
        return ""
    where = "Changed elsewhere" if line.steps else "Changed along it"
    return f"{where}: {some(said, _MOST_TOLD, '; ', '; and ')}."


def _latest(line: TrendLine, metric: TrendMetric) -> str:
    """Whether the last run lies above all others since the last step; by chance it does in 1 of n."""
    since = line.steps[-1].index if line.steps else 0
    own = line.points[since:]
    if len(own) < FEWEST:
        return ""
    last, before = own[-1].value, [one.value for one in own[:-1]]
    if last.value is None or any(one.beyond or (one.value or 0.0) >= last.value for one in before):
        return ""
    return (
        f"The latest run is the highest of {len(own)}: {shown(last, metric)}. By chance alone that is so in "
        f"1 of {len(own)}."
    )


def _limits(line: TrendLine, metric: TrendMetric) -> list[str]:
    values = [one.value for one in line.points]
    said = []
    if line.too_few and metric.q is not None:
        needed = samples_needed(metric.q, CONFIDENCE)
        said.append(
            f"{plural(line.too_few, 'run')} with too few samples for it left out: it needs {needed:,}."
        )
    if line.unread:
        said.append(f"{plural(line.unread, 'run')} whose samples can't be read left out.")
    beyond = sum(one.beyond for one in values)
    lost = sum(bool(one.lost) for one in values)
    if beyond:
        where = f"In {plural(beyond, 'run')} it lies"
        said.append(
            f"{where} beyond the end of a histogram or among releases that have no sample: the number is at "
            "least the value."
            if any(one.beyond and not one.exact for one in values)
            else f"{where} among releases that have no sample, which count as later than all: the value is "
            "the largest sample, and the number is at least that."
        )
    elif lost and metric.kind == "quantile":
        is_clipped = any(one.lost and not one.exact for one in values)
        beyond_the_end = " and samples beyond the end of a histogram" if is_clipped else ""
        said.append(
            f"In {plural(lost, 'run')} releases without a sample{beyond_the_end} count as later than all."
        )
    elif lost and metric.kind == "max":
        said.append(
            f"In {plural(lost, 'run')} releases were missed or dropped, which have no sample and no place "
            "here."
        )
    if cut := sum(not one.certain for one in values):
        said.append(f"Not all that was missed is known of {plural(cut, 'run')}.")
    if (coarse := sum(not one.exact for one in values)) and metric.kind == "quantile":
        said.append(f"Of {plural(coarse, 'run')} there is a histogram: a value is the upper edge of its bin.")
    sizes = [one.samples for one in values]
    if metric.kind == "max" and max(sizes, default=0) > 2 * min(sizes, default=0):
        said.append(
            f"The runs have from {min(sizes):,} to {max(sizes):,} samples; the largest of more is larger."
        )
    if line.restless:
        names = ", ".join(line.restless[:_MOST_FACTS])
        said.append(f"Differs from run to run: {names}.")
    return said


def how_sure() -> str:
    """What the numbers rest on, once for all lines."""
    return (
        "Intervals are those of each run's own samples at 95 % confidence, as if these were independent. "
        "Changes are looked for between runs. However often a line is looked at, one that has none ever "
        f"shows one in at most {100 - WATCHED * 100:g} % of cases if its runs are independent of each other, "
        f"and oftener if they wander; a single look finds one, perhaps, in {ALPHA * 100:g} %."
    )


def _plain(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return ", ".join(str(one) or "none" for one in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split()) or "none"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3].rstrip()}..."
