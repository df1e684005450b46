"""What is known of a case before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from tautochrone.experiments.taskset_run import KeptTaskSet
    from tautochrone.run.conditions import PlanCell
    from tautochrone.target.middleware_server import ServerPlace


class WordedTeam(Struct, frozen=True):
    """A number of threads that a plan gave in a word.

    Attributes:
        threads: the word.
        before: what the plan lists before it.
    """

    threads: str
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellConditions:
    """What is known of a case before it runs, and kept with its run.

    Attributes:
        server: where its server runs, if that is on a target of its own.
        which_cpus: the word of a plan for the CPUs that are measured; None: the plan has none.
        team: the word of a plan for the number of threads; None: the plan has none.
        task_set: the tasks that it measures, and their analysis.
        limit_ns: the latency that is required.
        node: where it is measured, if its system is any machine of several.
        plan: the plan of which it is a part.
        own: what a feature keeps with its runs, by the name of that record, as JSON has it.
    """

    server: ServerPlace | None = None
    which_cpus: str | None = None
    team: WordedTeam | None = None
    task_set: KeptTaskSet | None = None
    limit_ns: int | None = None
    node: str | None = None
    plan: PlanCell | None = None
    own: Mapping[str, object] = field(default_factory=dict)

    @property
    def stored(self) -> dict[str, object]:
        """Return the same as a run keeps it."""
        server = self.server.stored if self.server is not None else {}
        plan = {"plan": self.plan.as_stored} if self.plan is not None else {}
        names = [one.name for one in fields(self) if one.name not in ("server", "plan", "own")]
        others = {name: msgspec.to_builtins(getattr(self, name)) for name in names}
        held = {name: value for name, value in others.items() if value is not None}
        return {**server, **held, **plan, **self.own}


NOTHING_KNOWN = CellConditions()
