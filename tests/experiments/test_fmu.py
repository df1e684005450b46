"""FMUs that can't be run are refused before anything is unpacked or measured, with the reason."""

import zipfile
from pathlib import Path

import pytest

from fmus import description, fmu, platform_folder, variables_of
from tautochrone.base.errors import UsageError
from tautochrone.experiments.fmu import ModelDescription, number_of, read_description
from tautochrone.experiments.fmu_folder import facts_of, read_fmu, see_over_time, values_of, write_folder
from tautochrone.experiments.step_inputs import read_inputs

MACHINE = "x86_64"
LIBRARY = "binaries/x86_64-linux/known.so"


def archive(folder: Path, **files: str) -> Path:
    """An archive with these files; `_` stands for what a name of an argument can't have."""
    out = folder / "model.fmu"
    with zipfile.ZipFile(out, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    return out


def model(version: int = 3, variables: str | None = None, kind: str = "CoSimulation") -> str:
    own = variables_of(version) if variables is None else variables
    return description(version, own, abilities="", kind=kind)


BOMB = '<!DOCTYPE bomb [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"anything": ""}, "is no FMU: it has no modelDescription.xml"),
        ({"modelDescription.xml": "no xml"}, "can't be read: syntax error"),
        ({"modelDescription.xml": BOMB + model()[39:]}, "it has a document type"),
        ({"modelDescription.xml": "<a>" * 100}, "nested too deeply"),
        ({"modelDescription.xml": "<other/>"}, "FMI version unknown"),
        ({"modelDescription.xml": model().replace("3.0", "1.0", 1)}, "FMI version 1.0"),
        ({"modelDescription.xml": model(kind="ModelExchange")}, "for model exchange only"),
        ({"modelDescription.xml": model(kind="ScheduledExecution")}, "not for co-simulation"),
        ({"modelDescription.xml": model(variables='<Float64 name="a"/>')}, "it lacks 'valueReference'"),
        (
            {"modelDescription.xml": model(variables='<Float64 name="a" valueReference="-1"/>')},
            "value reference of 'a' is -1",
        ),
        (
            {"modelDescription.xml": '<?xml version="1.0" encoding="x"?>' + model()[39:]},
            "unknown encoding: x",
        ),
        (
            {
                "modelDescription.xml": model(
                    variables='<Int8 name="a" valueReference="1" causality="input" start="128"/>'
                )
            },
            "the start of the input 'a' is '128': it is a whole number from -128 to 127",
        ),
        (
            {"modelDescription.xml": model()},
            "no library for this machine (x86_64, Linux): it has none at all",
        ),
        (
            {
                "modelDescription.xml": model(),
                "binaries/win64/known.dll": "",
                "binaries/darwin64/known.dylib": "",
            },
            "it has some for darwin64, win64",
        ),
        ({"../escaped": ""}, "a file outside of itself: '../escaped'"),
        ({"resources/../../escaped": ""}, "outside of itself"),
        ({"/tmp/escaped": ""}, "outside of itself"),
        ({"C:/escaped": ""}, "outside of itself"),
        ({"resources\\..\\..\\escaped": ""}, "outside of itself"),
    ],
)
def test_what_can_not_be_run_is_refused(tmp_path: Path, files: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_fmu(archive(tmp_path, **files), MACHINE)
    assert why in str(refused.value)
    assert refused.value.advice


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.fmu").write_bytes(content)
    with pytest.raises(UsageError, match="can't be unpacked"):
        read_fmu(tmp_path / "model.fmu", MACHINE)
    with pytest.raises(UsageError, match="can't be read"):
        read_fmu(tmp_path, MACHINE)


def test_a_damaged_file_in_it_is_refused(tmp_path: Path) -> None:
    own = archive(tmp_path, **{"modelDescription.xml": model(), LIBRARY: "a library" * 9})
    content = own.read_bytes()
    own.write_bytes(content.replace(b"a librarya", b"a LIBRARYa", 1))
    (folder := tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="can't be unpacked: Bad CRC-32"):
        write_folder(own, MACHINE, folder, {}, ())


def test_a_damaged_description_is_refused_however_it_is_compressed(tmp_path: Path) -> None:
    own = tmp_path / "model.fmu"
    with zipfile.ZipFile(own, "w", zipfile.ZIP_LZMA) as made:
        made.writestr("modelDescription.xml", model())
    content = bytearray(own.read_bytes())
    content[60:200] = b"\xff" * 140
    own.write_bytes(content)
    with pytest.raises(UsageError, match="can't be unpacked"):
        read_fmu(own, MACHINE)


def test_a_link_in_it_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "model.fmu"
    link = zipfile.ZipInfo("resources/link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(own, "w") as made:
        made.writestr("modelDescription.xml", model())
        made.writestr(LIBRARY, "")
        made.writestr(link, "/etc/passwd")
    (folder := tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="has a link"):
        write_folder(own, MACHINE, folder, {}, ())


@pytest.mark.slow
@pytest.mark.parametrize("version", [2, 3])
def test_only_what_the_run_needs_is_unpacked(tmp_path: Path, version: int) -> None:
    folders = {f"binaries/{platform_folder(version)}/more.so": b"x", "resources/deep/data": b"y"}
    own = fmu(version, tmp_path, files={**folders, "binaries/win64/known.dll": b"z", "sources/a.c": b"c"})
    (folder := tmp_path / "out").mkdir()
    write_folder(own, platform_folder(3).removesuffix("-linux"), folder, {"u": 2.0, "mode": 1.0}, ())
    there = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
    binaries = f"binaries/{platform_folder(version)}"
    assert there == {
        "description", "resources/offset.txt", "resources/deep/data", f"{binaries}/known.so",
        f"{binaries}/more.so",
    }  # fmt: skip
    lines = [line.split("\t") for line in (folder / "description").read_text().splitlines()]
    assert ["fmi", str(version)] in lines
    real = "Real" if version == 2 else "Float64"
    assert ["input", real, "0", "u", "", "2.0"] in lines
    assert ["output", real, "4", "time out"] in lines
    assert [one[0] for one in lines if one[0] == "start"] == ["start"]


def known(version: int = 3, variables: str | None = None) -> ModelDescription:
    return read_description(model(version, variables).encode(), "model.fmu")


def test_values_are_of_the_types_of_their_variables() -> None:
    found = values_of(known(), {"u": "1e3", "b": "true", "n": "-7", "mode": "2"})
    assert found == {"u": 1000.0, "b": 1.0, "n": -7.0, "mode": 2.0}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"n": "1.5"}, "n=1.5: it is a whole number from -2147483648 to 2147483647"),
        ({"n": "3e9"}, "it is a whole number"),
        ({"b": "2"}, "b=2: it is true or false"),
        ({"u": "fast"}, "u=fast: it is a number"),
        ({"y": "1"}, "the variable 'y' of the FMU is of causality 'output'"),
        ({"w": "1"}, "the FMU has no variable 'w'"),
    ],
)
def test_a_value_that_a_variable_can_not_have_is_refused(given: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError) as refused:
        values_of(known(), given)
    assert why in str(refused.value)


def test_values_over_time_are_of_inputs_only(tmp_path: Path) -> None:
    for head, row, why in (
        ("mode", "1", "causality 'parameter'"),
        ("n", "0.5", "n is 0.5: it is a whole number"),
    ):
        (tmp_path / "in.csv").write_text(f"t,{head}\n0,{row}\n")
        with pytest.raises(UsageError, match=why):
            see_over_time(known(), read_inputs(tmp_path / "in.csv"))


def test_arrays_texts_and_what_is_beyond_64_are_counted_as_left_out() -> None:
    outputs = "".join(f'<Float64 name="y{at}" valueReference="{at}" causality="output"/>' for at in range(70))
    others = (
        '<Float64 name="m" valueReference="90" causality="output"><Dimension start="3"/></Float64>'
        '<String name="s" valueReference="91" causality="output"/>'
    )
    assert facts_of(known(variables=outputs + others)).outputs_left_out == 6 + 2


def test_an_enumeration_is_the_whole_number_that_the_interface_has() -> None:
    has = 'name="e" valueReference="1" causality="input"'
    old = f'<ScalarVariable {has}><Enumeration start="2"/></ScalarVariable>'
    new = f'<Enumeration {has} start="2"/>'
    for version, kind, variables in ((2, "Integer", old), (3, "Int64", new)):
        (one,) = known(version, variables).variables
        assert (one.kind, one.start, one.discrete) == (kind, 2.0, True)
    assert number_of("UInt8", "255") == 255


def test_a_start_that_is_not_needed_is_not_read() -> None:
    largest = f'<UInt64 name="counter" valueReference="1" causality="output" start="{2**64 - 1}"/>'
    assert [one.name for one in known(variables=largest).variables] == ["counter"]
