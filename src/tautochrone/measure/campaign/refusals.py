"""What of a plan is refused, found out before anything is measured, and whose mistake that is."""

from collections.abc import Container, Mapping, Sequence

from tautochrone.base.errors import NotPermittedError, TautoError, UsageError
from tautochrone.base.options import without_dashes
from tautochrone.experiments import EXPERIMENTS, Given
from tautochrone.experiments.tasks import TASKS
from tautochrone.measure.cell import Load
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import PlanPoint, place_of
from tautochrone.measure.trial import refusal_of
from tautochrone.target.middleware_server import ServerPlace
from tautochrone.target.target import Target

_Alike = tuple[str, tuple[str, ...], ServerPlace | None]
"""What points are told apart by where a refusal is the same: experiment, options, place of the server."""

_TRIAL = "10min"  # it is ended once it runs, and to fill most of a large memory takes a while


def refusals(points: Sequence[PlanPoint], target: Target) -> dict[str, TautoError]:
    """Return what the probe refuses there, by the key of the point.

    Of points that differ in their size alone, such as in how many masses, the first one is tried: what is
    not permitted to one is not to the others, and there may be thousands. A size that is too large is refused
    when its turn comes.
    """
    said: dict[_Alike, TautoError | None] = {}
    for point in points:
        alike = _but_its_size(point)
        if alike not in said:
            prepared = point.prepared
            said[alike] = refusal_of(target, point.experiment, prepared.options, prepared.conditions)
    found = {point.key: said[_but_its_size(point)] for point in points}
    return {key: error for key, error in found.items() if error is not None}


def as_keys_of(
    document: PlanDocument, points: Sequence[PlanPoint], refused: Mapping[str, TautoError]
) -> dict[str, TautoError]:
    """The same refusals; what would be permitted is told as options, which a plan's file has as keys."""
    if document.grid:
        return dict(refused)
    experiments = {point.key: EXPERIMENTS[point.experiment] for point in points}
    return {
        key: _as_keys(error, {option.name for option in experiments[key].options})
        for key, error in refused.items()
    }


def _as_keys(error: TautoError, options: Container[str]) -> TautoError:
    advice = without_dashes(error.advice, only=options)
    if not isinstance(error, NotPermittedError) or advice == error.advice:
        return error
    return NotPermittedError(
        str(error), f"{advice} That goes into the plan, under [defaults] or its [[experiment]]."
    )


def _but_its_size(point: PlanPoint) -> _Alike:
    size = EXPERIMENTS[point.experiment].size
    options = point.prepared.options
    if size in point.varying:
        options = options.without(size)
    return (point.experiment, options.words, point.prepared.conditions.server)


def see_meant(
    document: PlanDocument, points: Sequence[PlanPoint], refused: Mapping[str, TautoError], target: Target
) -> None:
    """Tell what the probe refuses because the plan says it wrong, from what this system does not have.

    An experiment that is refused even without what it can do without is not to be had here; that is no
    mistake of the plan.

    Raises:
        UsageError: with the file and the line of the option that is refused.
    """
    missing: dict[_Alike, bool] = {}
    for point in points:
        error = refused.get(point.key)
        if not isinstance(error, UsageError):
            continue
        bare = _bare(point)
        known = (point.experiment, bare.words, point.prepared.conditions.server)
        if known not in missing:
            refused_bare = refusal_of(target, point.experiment, bare, point.prepared.conditions)
            missing[known] = TASKS not in point.options and isinstance(refused_bare, UsageError)
        if not missing[known]:
            said = str(error) if document.grid else f"{point.experiment}: {without_dashes(str(error))}"
            raise document.mistake(_place(document, point, error.about), said, error.advice)


def _bare(point: PlanPoint) -> Given:
    """Return what the experiment can't be without, and all the rest as usual."""
    experiment = EXPERIMENTS[point.experiment]
    return experiment.given({one: point.options[one] for one in experiment.needs if one in point.options})


def load_refusals(points: Sequence[PlanPoint], target: Target) -> dict[str, TautoError]:
    """Return what is refused of the loads, by the key of the point: each is started once, and ended.

    Programs of others (`stress-ng:`, `command:`) are not started for a trial: nobody knows what they do.
    """
    said = {load: _try_load(target, load) for load in dict.fromkeys(point.load for point in points)}
    found = {point.key: said[point.load] for point in points}
    return {key: error for key, error in found.items() if error is not None}


def see_loads_meant(
    document: PlanDocument, points: Sequence[PlanPoint], refused: Mapping[str, TautoError]
) -> None:
    """A load's value that is refused is a mistake of the plan; that a load is not to be had here is none.

    Raises:
        UsageError: with the file and the line of the load.
    """
    for point in points:
        error = refused.get(point.key)
        if isinstance(error, UsageError) and error.about:
            raise document.mistake(
                place_of(document, "loads", point.load_spec, point.entry),
                f"load '{point.load.name}': {without_dashes(str(error))}",
                error.advice,
            )


def _try_load(target: Target, load: Load) -> TautoError | None:
    for part in load.parts:
        if part.command:
            continue
        try:
            target.start_load(part.having("duration", _TRIAL).words).end()
        except (UsageError, NotPermittedError) as error:
            return error
    return None


def _place(document: PlanDocument, point: PlanPoint, option: str) -> tuple[str | int, ...]:
    """Return where the option is written; the experiment, if it is not or there is none."""
    own: tuple[str | int, ...] = ("experiment", point.entry)
    keys = (option, option.replace("-", "_"))
    places = [place for key in keys for place in ((*own, key), ("defaults", key))]
    return next((place for place in places if option and document.has(place)), own)
