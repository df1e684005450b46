"""A grid: a plan over some options of one experiment, made of a verb's options."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.words import same_letters, suggestion
from tautochrone.experiments import EXPERIMENTS, Value
from tautochrone.measure.document.document import USUAL, Exclusion, ExperimentEntry, PlanDocument


def grid_document(
    kind: str,
    title: str,
    experiment: str,
    options: Mapping[str, Sequence[Value]],
    axes: Mapping[str, str | None],
    *,
    name: str = "",
    exclusions: Sequence[Mapping[str, tuple[str, ...]]] = (),
) -> PlanDocument:
    """Return the plan that measures the grid once, in randomised order.

    Args:
        kind: its report is made by that.
        options: of the experiment, each with its values.
        axes: systems, deployments and loads, one of each; None: the usual one.
        name: what a case is called, before what varies; empty: as the experiment says.
        exclusions: combinations that are left out.
    """
    known = EXPERIMENTS[experiment].known
    return PlanDocument(
        path=Path(),
        text="",
        title=title,
        seed=None,
        repetitions=1,
        order="random",
        axes={axis: (axes.get(axis) or usual,) for axis, usual in USUAL.items()},
        entries=(
            ExperimentEntry(
                0, experiment, name, {one: tuple(options[one]) for one in known if one in options}
            ),
        ),
        exclusions=tuple(Exclusion(number, matches) for number, matches in enumerate(exclusions)),
        grid=kind,
    )


def chosen_of(text: str, known: Sequence[str], option: str) -> tuple[str, ...]:
    """Names in a list with commas, each once.

    Raises:
        UsageError: a name is not known.
    """
    found = tuple(dict.fromkeys(same_letters(part.strip(), known) for part in text.split(",")))
    for name in found:
        if name not in known:
            raise UsageError(f"{option} '{name}' is not known", suggestion(name, known))
    return found
