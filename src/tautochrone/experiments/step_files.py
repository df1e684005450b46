"""What a run of `step` needs beside its code: inputs, and the folder of an FMU."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tautochrone.base.errors import MeasuringError, UsageError
from tautochrone.base.options import text
from tautochrone.base.own_folder import own_folder
from tautochrone.base.reading import open_file
from tautochrone.experiments.step_code import is_fmu
from tautochrone.experiments.step_inputs import MOST_SIGNALS, KeptInputs, constants_of, read_inputs, table_of
from tautochrone.target.target import STEP

if TYPE_CHECKING:
    from tautochrone.base.options import Options
    from tautochrone.experiments.fmu import ModelDescription
    from tautochrone.experiments.option import Given

CODE, INPUT, INPUTS, OUTPUTS = "code", "input", "inputs", "outputs"
FMU = "fmu"
"""The condition that has what a run keeps of an FMU (`FmuFacts`)."""

_UNPACKED = "unpacked"


def kept_with_run(options: Given, folder: Path) -> tuple[Options, Mapping[str, object]]:
    """See that inputs and FMU can be used, before anything is measured.

    Args:
        options: of the experiment, with the code where it is.
        folder: where relative paths begin.

    Returns:
        The options with whole paths, and the conditions of the run.

    Raises:
        UsageError: they can't.
    """
    constants = constants_of(text(options, INPUT) or "")
    path = folder / str(options[INPUTS]) if INPUTS in options else None
    timed = read_inputs(path) if path is not None else None
    conditions: dict[str, object] = {}
    if is_fmu(code := str(options[CODE])):
        from tautochrone.experiments.fmu_folder import facts_of, read_fmu, see_over_time, values_of

        found = read_fmu(Path(code), None)
        conditions[FMU] = msgspec.to_builtins(facts_of(found))
        values = values_of(found, constants)
        if timed is not None:
            see_over_time(found, timed)
    else:
        values = _numbers(constants)
    if values or timed is not None:
        table_of(_driven(values, None), timed, *_pace(options))
        file, digest = (str(path), timed.digest) if timed is not None else ("", "")
        conditions[KeptInputs.CONDITION] = msgspec.to_builtins(KeptInputs(constants, file, digest))
    return ({INPUTS: str(path.absolute())} if path is not None else {}), conditions


@contextmanager
def made_for_run(experiment: str, options: Given, machine: str = os.uname().machine) -> Iterator[Options]:
    """Make the files that tauto-step reads; outside they are gone. Other experiments need none.

    Args:
        machine: what kind of machine it runs on.

    Yields:
        The probe's options.

    Raises:
        UsageError: what they are made of can't be used.
        MeasuringError: they can't be written.
    """
    if experiment != STEP:
        yield options
        return
    code = str(options[CODE])
    constants = constants_of(text(options, INPUT) or "")
    timed = read_inputs(Path(str(options[INPUTS]))) if INPUTS in options else None
    own = {name: value for name, value in options.items() if name not in (INPUT, INPUTS)}
    if not is_fmu(code):
        own.setdefault(OUTPUTS, MOST_SIGNALS if _may_have_signals(code) else 0)
    found: ModelDescription | None = None
    with own_folder("tauto-step-") as folder:
        try:
            if is_fmu(code):
                from tautochrone.experiments.fmu_folder import outputs_of, read_fmu, values_of, write_folder

                found = read_fmu(Path(code), machine)
                values = values_of(found, constants)
                (unpacked := folder / _UNPACKED).mkdir()
                over_time = timed.names if timed is not None else ()
                write_folder(Path(code), machine, unpacked, values, over_time)
                own[_UNPACKED] = str(unpacked)
                own.setdefault(OUTPUTS, len(outputs_of(found)))
            else:
                values = _numbers(constants)
            if (driven := _driven(values, found)) or timed is not None:
                table = folder / "inputs"
                table.write_bytes(table_of(driven, timed, *_pace(options)))
                own[INPUTS] = str(table)
        except OSError as error:
            raise MeasuringError(f"files for the step can't be written: {error.strerror}") from error
        yield own


def _may_have_signals(code: str) -> bool:
    """Return whether a library has the name of that function; rows are as wide as its outputs can be.

    That it can't be read is told when it is loaded.
    """
    library, _, name = code.rpartition(":")
    try:
        with open_file(Path(library)) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return content.find(f"{name}_signals\0".encode()) >= 0
    except (OSError, ValueError):
        return False


def _driven(values: Mapping[str, float], found: ModelDescription | None) -> Mapping[str, float]:
    """Return the constants that are inputs; parameters of an FMU are set once."""
    if found is None:
        return values
    inputs = {one.name for one in found.variables if one.causality == "input"}
    return {name: value for name, value in values.items() if name in inputs}


def _numbers(constants: Mapping[str, str]) -> dict[str, float]:
    found = {}
    for name, said in constants.items():
        try:
            found[name] = float(said)
        except ValueError as error:
            raise UsageError(f"--input {name}={said}: it is no number") from error
        if not math.isfinite(found[name]):
            raise UsageError(f"--input {name}={said}: it is not finite")
    return found


def _pace(options: Given) -> tuple[int, int]:
    """Return the period in ns, and how many steps there are.

    Raises:
        UsageError: there is no end of them.
    """
    period_ns = round(options.period_s("period") * 1e9)
    if not period_ns:
        raise UsageError("--period 0: steps without end", "Give a time, such as 1ms.")
    count = options.count("count") or round(options.seconds("duration") * 1e9) // period_ns
    return period_ns, count + options.count("warmup")
