"""What stands around a measurement: on which machine and CPUs, under which deployment, beside which load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command.options import deployment_option, load_option, on_option
from tautochrone.experiments.usual import BLAME

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tautochrone.machine.deployment import Deployment
    from tautochrone.measure.cell import Load
    from tautochrone.run.facts import Facts
    from tautochrone.target.target import Target

Loads = Annotated[
    list[str] | None,
    load_option("Background load, such as cpu+memory or comms; repeatable. `tauto load list` [idle]"),
]
On = Annotated[
    str | None,
    on_option(
        "Machine to measure: local, ssh:[user@]host[:port], lab:KERNEL, or labgrid:PLACE. [local]", "TARGET"
    ),
]
DeploymentName = Annotated[
    str | None,
    deployment_option(
        "Settings to apply while measuring, then put back. `tauto tune list` [none]", "NAME|FILE"
    ),
]
BlameOption = Annotated[
    str | None, typer.Option("--blame", metavar=BLAME.metavar, help=f"{BLAME.help} [{BLAME.default}]")
]


@dataclass(frozen=True)
class Beside:
    """What stands around a measurement, as a person gave it; None: nothing was given.

    Attributes:
        yes: fetch what a virtual machine needs without asking.
    """

    load: list[str] | None = None
    on: str | None = None
    deployment: str | None = None
    yes: bool = False

    def chosen_load(self) -> Load:
        """Return the background load."""
        from tautochrone.measure.loads.spec import parse_load

        return parse_load(self.load or [])

    def axes(self) -> dict[str, str | None]:
        """Return what a plan of one verb is carried out on, under and beside; None: the usual one."""
        return {"systems": self.on, "deployments": self.deployment, "loads": self.chosen_load().name}

    def target(self, *, kernel_half: bool = False, only_look: bool = False) -> AbstractContextManager[Target]:
        """Return the machine under test, for as long as the block lasts; see `open_to_measure`, `provide`.

        Args:
            only_look: nothing is measured in this block, so the machine may be somebody else's at the moment.
        """
        from tautochrone.command.lab_needs import provide
        from tautochrone.target.open import open_target, open_to_measure

        provide([self.on], yes=self.yes, kernel_half=kernel_half)
        return (open_target if only_look else open_to_measure)(self.on)

    def chosen_deployment(self, target: Target) -> Deployment | None:
        """Return the deployment, as it is on this machine."""
        if self.deployment is None:
            return None
        from tautochrone.machine.deployment import choose

        return choose(self.deployment, target.files())


@dataclass(frozen=True)
class Usable:
    """The CPUs of the machine under test that a grid is measured on, where nobody names others.

    Attributes:
        cpus: in ascending order; at least one.
        left_open: there is a deployment, and it does not say where it is measured: it may take some of them
            off line.
    """

    facts: Facts
    cpus: tuple[int, ...]
    left_open: bool


def usable_cpus(beside: Beside) -> Usable:
    """Return what `usable_on` does, of a machine that is opened for that."""
    with beside.target(only_look=True) as target:
        return usable_on(target, beside)


def usable_on(target: Target, beside: Beside) -> Usable:
    """Return the CPUs that the deployment measures on, else those that the probe may use."""
    from tautochrone.machine.cpulist import named_cpus, parse_cpu_list
    from tautochrone.machine.facts import observe
    from tautochrone.machine.tree import Tree

    facts = observe(target.files())
    deployment = beside.chosen_deployment(target)
    measure = deployment.measure if deployment is not None else None
    if measure is not None:
        return Usable(facts, named_cpus(measure, Tree(target.files())), left_open=False)
    return Usable(facts, parse_cpu_list(facts.cpu.allowed) or (0,), left_open=deployment is not None)


def chosen_cpus(text: str, or_else: str) -> tuple[int, ...]:
    """Return what a person wrote after --cpus, in that order, each once.

    Args:
        or_else: what may also stand there, for the advice.

    Raises:
        UsageError: it is no list of CPUs.
    """
    from tautochrone.machine.cpulist import parse_cpu_list

    chosen = [parse_cpu_list(part.strip()) for part in text.split(",")]
    if not all(chosen):
        raise UsageError(f"--cpus '{text}' is not a list of CPUs", f"Write it as {or_else}.")
    return tuple(dict.fromkeys(cpu for part in chosen for cpu in part or ()))
