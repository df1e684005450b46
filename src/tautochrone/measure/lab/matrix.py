"""The kernel matrix: kernels, each as it can preempt, times loads; a plan made of a verb's options."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.experiments import EXPERIMENTS, Value
from tautochrone.experiments.usual import FIRST
from tautochrone.measure.document.document import USUAL, ExperimentEntry, PlanDocument
from tautochrone.measure.lab.preemption import chosen_for
from tautochrone.measure.loads.spec import parse_load
from tautochrone.target.address import (
    PREEMPTION_MODELS,
    LabAddress,
    canonical_kernel,
    is_debian,
    read_lab_address,
)
from tautochrone.target.virtual.kernels import Kernel, find_kernel, known_names

MATRIX = "lab-matrix"
"""What such a grid is about; its report is made by that."""

EXPERIMENT = "cyclic"


@dataclass(frozen=True)
class Machine:
    """What a row is measured on.

    Attributes:
        kernel: its canonical name.
        preemption: the model that it is booted with; None: the one that it has.
        shift: an instruction takes 2**shift ns; None: as usual.
        cpus, threads: virtual CPUs, and how many of them are on one core.
    """

    kernel: str
    preemption: str | None = None
    shift: int | None = None
    cpus: int = 1
    threads: int = 1

    @property
    def system(self) -> str:
        """As people write it after --on."""
        append = "" if self.preemption is None else f"preempt={self.preemption}"
        return LabAddress(self.kernel, self.cpus, self.threads, self.shift, append=append).where


def machine_of(system: str) -> Machine:
    """Return the row of a system."""
    address = read_lab_address(system.removeprefix("lab:"))
    asked = [word.partition("=")[2] for word in address.append.split() if word.startswith("preempt=")]
    model = asked[-1] if asked else None
    return Machine(address.kernel, model, address.shift, address.cpus, address.threads)


def kernel_names_of(text: str | None) -> tuple[str, ...]:
    """Return the kernels that are meant, each once; None: all that were fetched.

    Raises:
        UsageError: one is not here and can't be fetched, or none is here.
    """
    if text is None:
        if not (there := known_names()):
            raise UsageError("No kernel was fetched", "Run `tauto lab fetch debian:stock debian:rt`, once.")
        return tuple(there)
    names = tuple(dict.fromkeys(canonical_kernel(name) for name in _parts(text, "--kernels")))
    for name in names:
        if not is_debian(name):
            find_kernel(name)
    return names


def models_of(text: str) -> tuple[str, ...]:
    """Return the preemption models in a list with commas.

    Raises:
        UsageError: there is no such model.
    """
    asked = tuple(_parts(text, "--preempt"))
    for model in asked:
        if model not in PREEMPTION_MODELS:
            raise UsageError(
                f"--preempt '{model}' is not known", f"There are: {', '.join(PREEMPTION_MODELS)}."
            )
    return asked


def machines_of(
    kernels: Sequence[Kernel], models: Sequence[str], shift: int | None, cpus: int = 1, threads: int = 1
) -> tuple[Machine, ...]:
    """Return each kernel with each model that it can be booted with."""
    return tuple(
        Machine(kernel.name, model, shift, cpus, threads)
        for kernel in kernels
        for model in chosen_for(kernel, models)
    )


def loads_of(text: str) -> tuple[str, ...]:
    """Names of loads in a list with commas; what can only belong to the load before it does."""
    specs: list[str] = []
    for part in _parts(text, "--load", once=False):
        head, equals, _ = part.partition("=")
        of_value = bool(specs) and "=" in specs[-1] and part[:1].isdigit()
        if specs and (of_value or (equals and ":" not in head)):
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    return tuple(dict.fromkeys(parse_load([spec]).name for spec in specs))


def deployments_of(text: str | None) -> tuple[str, ...]:
    """Return the names of deployments in a list with commas; none: the one that changes nothing."""
    return (USUAL["deployments"],) if text is None else tuple(_parts(text, "--deployment"))


def document_of(
    machines: Sequence[Machine],
    loads: Sequence[str],
    options: dict[str, Value],
    deployments: Sequence[str] = (USUAL["deployments"],),
) -> PlanDocument:
    """Return the plan that measures each machine under each load, once: a machine that repeats needs no more.

    Of several CPUs the first one is measured that a deployment measures on.

    Args:
        options: of the experiment.
    """
    known = EXPERIMENTS[EXPERIMENT].known
    title = EXPERIMENTS[EXPERIMENT].title_of(options)
    if any(machine.cpus > 1 for machine in machines):
        options = {**options, "cpus": FIRST}
    return PlanDocument(
        path=Path(),
        text="",
        title=f"Kernel matrix: {title}",
        seed=None,
        repetitions=1,
        order="listed",
        axes={
            "systems": tuple(machine.system for machine in machines),
            "deployments": tuple(deployments),
            "loads": tuple(loads),
        },
        entries=(
            ExperimentEntry(0, EXPERIMENT, "", {name: (options[name],) for name in known if name in options}),
        ),
        grid=MATRIX,
    )


def _parts(text: str, option: str, *, once: bool = True) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"{option} '{text}': a name is missing beside a comma", "Write names with commas.")
    return list(dict.fromkeys(parts)) if once else parts
