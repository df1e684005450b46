"""FMUs of both versions, made of C when a test wants them."""

import platform
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

from real import skip_or_fail
from where import ROOT

MODEL = ROOT / "tests" / "data" / "fmu_model.c"
OFFSET = 0.5
MODES = (
    "plain", "works", "events", "terminates", "discards", "fails", "is_fatal", "crashes", "allocates",
    "early", "warns", "no_instance", "talks", "stalls",
)  # fmt: skip

_REAL, _INTEGER, _BOOLEAN = ("Real", "Float64"), ("Integer", "Int32"), ("Boolean", "Boolean")
VARIABLES: tuple[tuple[str, tuple[str, str], int, str, str, str], ...] = (
    ("u", _REAL, 0, "input", "continuous", "0"),
    ("y", _REAL, 2, "output", "continuous", ""),
    ("x", _REAL, 3, "output", "continuous", ""),
    ("time out", _REAL, 4, "output", "continuous", ""),
    ("n", _INTEGER, 5, "input", "discrete", "0"),
    ("n_out", _INTEGER, 6, "output", "discrete", ""),
    ("mode", _INTEGER, 7, "parameter", "fixed", "0"),
    ("steps", _INTEGER, 8, "output", "discrete", ""),
    ("events", _INTEGER, 9, "output", "discrete", ""),
    ("b", _BOOLEAN, 10, "input", "discrete", "false"),
    ("b_out", _BOOLEAN, 11, "output", "discrete", ""),
    ("offset", _REAL, 1, "parameter", "fixed", "0.5"),
)
"""Name, type in both versions, value reference, causality, variability, start."""
OUTPUTS = tuple(name for name, _, _, causality, _, _ in VARIABLES if causality == "output")


def description(version: int, variables: str, *, abilities: str, kind: str = "CoSimulation") -> str:
    """Return a modelDescription.xml with these variables."""
    token = "guid" if version == 2 else "instantiationToken"
    outputs = "".join(
        f'<Unknown index="{at}"/>' if version == 2 else f'<Output valueReference="{reference}"/>'
        for at, (_, _, reference, causality, _, _) in enumerate(VARIABLES, 1)
        if causality == "output"
    )
    outputs = f"<Outputs>{outputs}</Outputs>" if version == 2 else outputs
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<fmiModelDescription fmiVersion="{version}.0" '
        f'modelName="Known" {token}="{{token}}" generationTool="tests &amp; trials">'
        f'<{kind} modelIdentifier="known" {abilities}/><ModelVariables>{variables}</ModelVariables>'
        f"<ModelStructure>{outputs}</ModelStructure></fmiModelDescription>"
    )


def variables_of(version: int) -> str:
    """Return the variables of the model as XML."""
    found = []
    for name, types, reference, causality, variability, start in VARIABLES:
        has = f'name={quoteattr(name)} valueReference="{reference}" causality="{causality}"'
        has += f' variability="{variability}"'
        begins = f' start="{start}"' if start else ""
        inner, outer = f"<{types[0]}{begins}/>", f"{has}{begins}"
        found.append(
            f"<ScalarVariable {has}>{inner}</ScalarVariable>" if version == 2 else f"<{types[1]} {outer}/>"
        )
    return "".join(found)


def platform_folder(version: int) -> str:
    """Return the folder of libraries for this machine."""
    machine = platform.machine()
    return {2: {"x86_64": "linux64"}.get(machine, f"{machine}-linux"), 3: f"{machine}-linux"}[version]


def compiled(version: int, folder: Path, source: Path = MODEL) -> Path:
    """Return the library of the model."""
    if shutil.which("cc") is None:
        skip_or_fail("needs cc, to build the FMU that is run")
    library = folder / f"known{version}.so"
    command = [
        "cc",
        "-O2",
        "-Wall",
        "-Wno-unused-parameter",
        "-Werror",
        "-shared",
        "-fPIC",
        f"-DFMI={version}",
    ]
    subprocess.run([*command, "-o", str(library), str(source)], check=True)
    return library


def fmu(
    version: int,
    folder: Path,
    name: str = "",
    *,
    vary: bool = True,
    files: Mapping[str, bytes] | None = None,
) -> Path:
    """Return an FMU of the model in this folder.

    Args:
        vary: it says that communication steps may have different lengths.
        files: instead of what it would have, by their names in the archive; empty content: that is left out.
    """
    out = folder / (name or f"known{version}.fmu")
    abilities = 'canHandleVariableCommunicationStepSize="true"' if vary else ""
    if version == 3:
        abilities += ' hasEventMode="true" mightReturnEarlyFromDoStep="true"'
    content = {
        "modelDescription.xml": description(version, variables_of(version), abilities=abilities).encode(),
        "resources/offset.txt": str(OFFSET).encode(),
        f"binaries/{platform_folder(version)}/known.so": compiled(version, folder).read_bytes(),
        **(files or {}),
    }
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in content.items():
            if data:
                archive.writestr(path, data)
    return out
