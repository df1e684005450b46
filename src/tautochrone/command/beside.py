"""The options of every verb that measures: on which machine, under which deployment, beside which load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tautochrone.machine.deployment import Deployment
    from tautochrone.measure.cell import Load
    from tautochrone.target.target import Target

Loads = Annotated[
    list[str] | None,
    typer.Option(
        "--load",
        metavar="SPEC",
        help="What runs beside it, such as cpu+memory or comms; repeatable. `tauto load list` [idle]",
    ),
]
On = Annotated[
    str | None,
    typer.Option(
        "--on", metavar="TARGET", help="The machine: local, ssh:[user@]host[:port], or lab:KERNEL. [local]"
    ),
]
DeploymentName = Annotated[
    str | None,
    typer.Option(
        "--deployment", metavar="NAME|FILE", help="Apply it, measure, put it back. `tauto deploy` [as it is]"
    ),
]


@dataclass(frozen=True)
class Beside:
    """What stands around a measurement, as a person gave it; None: nothing was given."""

    load: list[str] | None = None
    on: str | None = None
    deployment: str | None = None

    def chosen_load(self) -> Load:
        """The background load.

        Raises:
            UsageError: there is none of this name, or an option of it does not exist.
        """
        from tautochrone.measure.loads.spec import parse_load

        return parse_load(self.load or [])

    def axes(self) -> dict[str, str | None]:
        """What a plan of one verb is carried out on, under and beside; None: the usual one.

        Raises:
            UsageError: there is no such load.
        """
        return {"systems": self.on, "deployments": self.deployment, "loads": self.chosen_load().name}

    def target(self) -> AbstractContextManager[Target]:
        """The machine under test, for as long as the block lasts; see `open_target`."""
        from tautochrone.target.open import open_target

        return open_target(self.on)

    def chosen_deployment(self, target: Target) -> Deployment | None:
        """The deployment, as it is on this machine.

        Raises:
            UsageError: there is none of this name.
        """
        if self.deployment is None:
            return None
        from tautochrone.machine.deployment import choose

        return choose(self.deployment, target.files())
