"""Under what a case is measured: its deployment, applied and put back, and the facts as they are under it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from tautochrone.machine.cpulist import format_cpu_list
from tautochrone.machine.deployment import Deployment, as_condition
from tautochrone.machine.deployment.apply import (
    Deployed,
    deployed,
    is_not_permitted,
    not_permitted,
    places,
    read_knobs,
)
from tautochrone.machine.facts import gather
from tautochrone.machine.settings import InForce, SettingError, journal_path
from tautochrone.machine.tree import Tree
from tautochrone.run.conditions import Obtained
from tautochrone.run.facts import Facts, FactTable
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.target.local import LocalTarget
from tautochrone.target.target import ANYWHERE, Placement, Target

NOT_OBTAINED = "deployment-not-obtained"
"""Code of the warning about a setting that a deployment asked for and did not get."""

_APPLIED_BEFORE = "applied before, and still in force"


@dataclass(frozen=True)
class Conditions:
    """What holds while a case is measured.

    Attributes:
        facts: about the machine, under the deployment if there is one.
        deployment: as it is stored with the run; None: there is none.
        warnings: what the deployment asked for and did not get.
        measure: CPUs of the measuring threads, as a CPU list; None: as the experiment chooses.
        load: CPUs of the loads, as a CPU list; None: all.
        probe_placement, load_placement: where the programs begin.
    """

    facts: FactTable
    deployment: dict[str, object] | None = None
    warnings: tuple[RunWarning, ...] = ()
    measure: str | None = None
    load: str | None = None
    probe_placement: Placement = ANYWHERE
    load_placement: Placement = ANYWHERE

    @cached_property
    def known(self) -> Facts:
        """Return the facts, typed."""
        return Facts.from_table(self.facts)


@contextmanager
def conditions_of(deployment: Deployment | None, target: Target, facts: FactTable) -> Iterator[Conditions]:
    """Apply a deployment for as long as the block lasts; without one, everything is as it is.

    A virtual machine is booted afresh first.

    Args:
        facts: about the machine as it is; gathered anew under a deployment.

    Raises:
        UsageError, SettingError: the deployment can't be applied; what was changed is put back.
        NotPutBackError: something could not be put back, whatever else went wrong.
    """
    booted_with = target.renew(deployment)
    if deployment is None:
        yield _as_it_is(target, facts)
        return
    try:
        with deployed(deployment, target.files(), target.change_settings) as held:
            yield _under(deployment, held, gather(target.files()), booted_with)
    except BaseException as error:
        if is_not_permitted(error, target.files()):
            again = 'Type the same as root, with sudo "$(command -v tauto)" in place of tauto'
            raise not_permitted(deployment, again if isinstance(target, LocalTarget) else "") from error
        raise


def _under(deployment: Deployment, held: Deployed, facts: FactTable, booted_with: str) -> Conditions:
    boot = {"booted_with": booted_with} if booted_with else {}
    return Conditions(
        facts=facts,
        deployment={**as_condition(deployment, held.obtained), **boot},
        warnings=tuple(_warnings(deployment, held)),
        measure=_written(held.measure_cpus),
        load=_written(held.load_cpus),
        probe_placement=Placement(held.places.joins, held.places.threads_join),
        load_placement=Placement(held.places.load_joins),
    )


def _as_it_is(target: Target, facts: FactTable) -> Conditions:
    """Somebody may have applied a deployment before, with `tauto tune apply`.

    What it asked for is not known any more, so what every setting is now is kept.
    """
    if target.virtual() is not None:  # it was just booted; and TAUTO_JOURNAL is not to be heard in a guest
        return Conditions(facts)
    files = target.files()
    if files.kind(journal_path()) is None:
        return Conditions(facts)
    found, where = _in_force(target), places(files)
    held = None
    if found is not None:
        now = tuple(Obtained(knob, None, None, value) for knob, value in read_knobs(Tree(files)).items())
        held = as_condition(
            Deployment(found.name, _APPLIED_BEFORE), tuple(one for one in now if one.obtained is not None)
        )
    return Conditions(
        facts,
        held,
        probe_placement=Placement(where.joins, where.threads_join),
        load_placement=Placement(where.load_joins),
    )


def _in_force(target: Target) -> InForce | None:
    """One that only root may name is in force all the same: who may not read the journal can measure."""
    try:
        return target.in_force()
    except SettingError as error:
        if not isinstance(error.__cause__, PermissionError):
            raise
        return InForce("unknown to this user", "", None, left=True)


def _warnings(deployment: Deployment, held: Deployed) -> Iterator[RunWarning]:
    for one in held.obtained:
        if one.requested is not None and one.reason:
            yield RunWarning(
                NOT_OBTAINED,
                f"the deployment {deployment.name} asked for {one.knob} {one.requested}, and it is "
                f"{one.obtained if one.obtained is not None else 'not known'}: {one.reason}",
                "The numbers hold for what was obtained.",
            )


def _written(cpus: tuple[int, ...] | None) -> str | None:
    return None if cpus is None else format_cpu_list(cpus)
