"""FMUs in the loop: the outputs are those of the model, and what it does to itself costs only itself."""

import platform
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fmus import MODES, OFFSET, OUTPUTS, fmu
from real import a_cpu, measuring, only_run, policy_options, sealed, skip_or_fail, tauto
from step_models import MODELS, built
from tautochrone.base.options import Options, words
from tautochrone.experiments import EXPERIMENTS
from tautochrone.experiments.fmu import FmuFacts
from tautochrone.experiments.step_files import FMU, made_for_run
from tautochrone.experiments.step_inputs import KeptInputs
from tautochrone.judge.step_run import fmu_of, step_event
from tautochrone.run.folder import StoredRun
from tautochrone.target.local import find_probe
from where import ROOT

pytestmark = pytest.mark.slow

OF_CODE, WARMUP, COUNT, PERIOD_S = 8, 100, 100, 0.002
VERSIONS = pytest.mark.parametrize("version", [2, 3])


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """An FMU of each version."""
    folder = tmp_path_factory.mktemp("fmus")
    return {version: fmu(version, folder) for version in (2, 3)}


@contextmanager
def command(code: object, more: Options, *others: str) -> Iterator[list[str]]:
    """The command that tauto starts for this code, with the files that it makes for it."""
    options: dict[str, object] = {
        "code": str(code),
        "cpus": a_cpu(),
        "count": COUNT,
        "period": "2ms",
        "overrun": "replay",
        **more,
    }
    prepared = EXPERIMENTS["step"].prepare(options, Path())  # type: ignore[arg-type]
    with made_for_run("step", prepared.options) as own:
        yield [str(find_probe()), "step", *words(own), *policy_options(), *others]


def run_of(store: Path, code: object, more: Options, **environment: str) -> tuple[StoredRun | None, int, str]:
    """The sealed run, if there is one, exit code and messages."""
    given = ("env", *(f"{name}={value}" for name, value in environment.items()))
    with command(code, more) as told, measuring(*given, *told) as probe:
        exit_code, said = probe.end()
        return (sealed(probe.stream, store) if probe.stream else None), exit_code, said


def column(run: StoredRun | None, name: str) -> np.ndarray:
    assert run is not None
    return run.reals(f"out.{name}", 0)


@VERSIONS
@pytest.mark.parametrize("mode", ["plain", "warns", "works", "events"])
def test_outputs_are_exactly_those_of_the_model(
    fmus: dict[int, Path], tmp_path: Path, version: int, mode: str
) -> None:
    table = tmp_path / "in.csv"
    table.write_text("time_s,u,n\n0,1.1,0\n0.05,-2.5,3\n0.3,7,-9\n")
    more: Options = {"input": f"mode={MODES.index(mode)}, b=true", "inputs": str(table)}
    run, code, said = run_of(tmp_path / "store", fmus[version], more)
    assert (code, said) == (0, "")
    assert run is not None
    assert run.names_of_reals == tuple(f"out.{name}" for name in OUTPUTS)
    x, expected = 0.0, []
    for k in range(WARMUP + COUNT):
        u, n = (1.1, 0) if k < 25 else (-2.5, 3) if k < 150 else (7.0, -9)
        x += PERIOD_S * u
        expected.append((2 * u + OFFSET, x, k * PERIOD_S + PERIOD_S, -n, k + 1, 0.0))
    for name, values in zip(
        ("y", "x", "time out", "n_out", "steps", "b_out"), np.array(expected).T, strict=True
    ):
        assert (column(run, name) == values[WARMUP:]).all(), name
    counted = column(run, "events")
    if version == 2:
        assert (counted == 0).all()
    else:
        events = 10 if mode == "events" else 0  # two iterations each; those of the discrete input come on top
        assert counted[-1] - counted[0] == 2 * (events + 1)


@VERSIONS
def test_a_step_that_returns_early_is_carried_on(fmus: dict[int, Path], tmp_path: Path, version: int) -> None:
    run, code, _ = run_of(tmp_path, fmus[version], {"input": f"u=3,mode={MODES.index('early')}"})
    assert code == 0
    ends = (WARMUP + 1 + np.arange(COUNT)) * PERIOD_S
    if version == 3:  # FMI 2 knows no early return
        assert column(run, "time out") == pytest.approx(ends, rel=1e-12)
        assert column(run, "x") == pytest.approx(3 * ends, rel=1e-9)


@VERSIONS
@pytest.mark.parametrize(
    ("mode", "how"),
    [
        (
            "terminates",
            "ended the run in step 150: the FMU asked to end the simulation at the simulated time 0.3",
        ),
        ("discards", "DoStep returned Discard at the simulated time 0.30"),
        ("fails", "DoStep returned Error at the simulated time 0.300000 s"),
        ("is_fatal", "DoStep returned Fatal at the simulated time 0.300000 s"),
        ("crashes", "was ended by signal 11 (Segmentation fault) in step 150"),
        ("allocates", "step 150"),
    ],
)
def test_how_an_fmu_ends_is_told_and_the_rows_before_are_kept(
    fmus: dict[int, Path], tmp_path: Path, version: int, mode: str, how: str
) -> None:
    more: Options = {"input": f"mode={MODES.index(mode)}", "budget": "500ms", "no-memory-lock": True}
    for attempt in range(3):  # a step that a busy machine does not serve for half a second ends the run, too
        run, code, said = run_of(tmp_path / str(attempt), fmus[version], more)
        if how in said:
            break
    assert code == OF_CODE
    assert how in said
    assert f"known{version}.fmu" in said
    assert run is not None
    (books,) = run.manifest.books
    assert books.problems() == []
    assert books.completed in (50, 51)
    assert (column(run, "steps")[:50] == WARMUP + 1 + np.arange(50)).all()


@VERSIONS
def test_an_fmu_that_does_not_initialise_is_refused(
    fmus: dict[int, Path], tmp_path: Path, version: int
) -> None:
    run, code, said = run_of(tmp_path, fmus[version], {"input": f"mode={MODES.index('no_instance')}"})
    assert (run, code) == (None, OF_CODE)
    assert "its init failed: fmi" in said
    assert "EnterInitializationMode returned Error" in said


@VERSIONS
def test_what_an_fmu_logs_is_told_and_bounded(fmus: dict[int, Path], tmp_path: Path, version: int) -> None:
    _, code, said = run_of(tmp_path, fmus[version], {"input": f"mode={MODES.index('talks')}"})
    lines = said.splitlines()
    assert (code, len(lines)) == (0, 101)
    assert lines[0] == "known: Warning [told] step 0 of it"
    assert lines[-1] == "known: further messages are left out"


@VERSIONS
@pytest.mark.parametrize("vary", [True, False])
def test_missed_releases_are_made_good_or_told(tmp_path: Path, version: int, vary: bool) -> None:
    own = fmu(version, tmp_path, vary=vary)
    # It stalls in a step that a busy machine may let come late, after many that were missed.
    more: Options = {"input": f"u=1,mode={MODES.index('stalls')}", "overrun": "skip", "count": 1000}
    run, code, _ = run_of(tmp_path / "store", own, more)
    assert code == 0
    assert run is not None
    (books,) = run.manifest.books
    assert books.missed is not None
    assert books.missed >= 3
    start_ns = run.manifest.header.sources[0].start_ns
    assert start_ns is not None
    k = WARMUP + (run.column("scheduled_ns", 0) - start_ns) // 2_000_000
    times, steps = column(run, "time out"), column(run, "steps")
    if vary:
        assert times == pytest.approx((k + 1) * PERIOD_S, rel=1e-9)
        assert step_event(run).behind == 0
    else:
        assert times == pytest.approx(steps * PERIOD_S, rel=1e-9)
        assert step_event(run).behind == k[-1] + 1 - steps[-1] >= 3


def library(name: str) -> ModuleType:
    if find_spec(name.partition(".")[0]) is None:
        skip_or_fail(f"needs {name}, which make setup-test installs")
    return import_module(name)


@VERSIONS
@pytest.mark.parametrize(("u", "period_us"), [(3.0, 2000), (-0.1, 3100)])
def test_another_master_gets_the_same_outputs(
    fmus: dict[int, Path], tmp_path: Path, version: int, u: float, period_us: int
) -> None:
    more: Options = {"input": f"u={u},n=7", "period": f"{period_us}us", "warmup": 0}
    run, code, _ = run_of(tmp_path, fmus[version], more)
    assert code == 0
    period_s = period_us / 1e6
    found = library("fmpy").simulate_fmu(
        str(fmus[version]),
        validate=False,
        stop_time=COUNT * period_s,
        step_size=period_s,
        output_interval=period_s,
        start_values={"u": u, "n": 7},
        output=["y", "x", "n_out", "b_out", "steps"],
        early_return_allowed=True,
        use_event_mode=True,
    )[1:]
    for name in ("y", "x", "n_out", "b_out", "steps"):
        assert column(run, name) == pytest.approx(found[name].astype(float), rel=1e-12), name


PYTHON_MODEL = """
from pythonfmu3.fmi3slave import Fmi3Slave, Fmi3Causality, Fmi3Variability, Float64

class Summing(Fmi3Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.time, self.u, self.x = 0.0, 1.0, 0.0
        independent = {"causality": Fmi3Causality.independent, "variability": Fmi3Variability.continuous}
        self.register_variable(Float64("time", **independent))
        self.register_variable(Float64("u", causality=Fmi3Causality.input, start=1.0))
        self.register_variable(Float64("x", causality=Fmi3Causality.output))

    def do_step(self, current_time, step_size):
        self.x += step_size * self.u
        return True
"""


def test_an_fmu_in_python_runs(tmp_path: Path) -> None:
    """Its library has no Python of its own, so that of this process is loaded before."""
    builder = library("pythonfmu3.builder").FmuBuilder
    python = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("LDLIBRARY"))
    if not python.exists() or python.suffix == ".a" or platform.machine() != "x86_64":
        skip_or_fail("needs a shared library of Python, on x86-64")
    script = tmp_path / "summing.py"
    script.write_text(PYTHON_MODEL)
    own: Path = builder.build_FMU(script, dest=tmp_path)
    run, code, said = run_of(tmp_path / "store", own, {"input": "u=2"}, LD_PRELOAD=str(python))
    assert code == 0, said
    expected = np.cumsum(np.full(WARMUP + COUNT, PERIOD_S * 2.0))[WARMUP:]
    assert (column(run, "x") == expected).all()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of models."""
    return built(MODELS, tmp_path_factory.mktemp("models"))


def test_a_library_has_inputs_and_outputs_too(models: Path, tmp_path: Path) -> None:
    run, code, said = run_of(tmp_path, f"{models}:doubles", {"input": "in0=1.5"})
    assert (code, said) == (0, "")
    assert (column(run, "twice") == 3).all()
    assert (column(run, "sum") == 1.5 * (WARMUP + 1 + np.arange(COUNT))).all()


def test_fewer_outputs_are_kept_where_that_is_wanted(models: Path, tmp_path: Path) -> None:
    for kept in (0, 1):
        run, _, _ = run_of(tmp_path, f"{models}:doubles", {"outputs": kept})
        assert run is not None
        assert run.names_of_reals == ("out.twice", "out.sum")[:kept]


def test_rows_are_as_wide_as_the_outputs_can_be(models: Path, fmus: dict[int, Path]) -> None:
    for code, room in ((f"{models}:nothing", 0), (f"{models}:doubles", 64), (fmus[2], len(OUTPUTS))):
        with command(code, {}) as told:
            assert told[told.index("--outputs") + 1] == str(room)


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (
            "doubles",
            "speed=1",
            "--input speed: the code has no such input.\ntauto-probe: advice: Its inputs: in0.",
        ),
        ("nothing", "in0=1", "--input in0: the code has no such input."),
    ],
)
def test_an_input_that_the_code_has_not_is_refused(
    models: Path, tmp_path: Path, model: str, given: str, said: str
) -> None:
    run, code, told = run_of(tmp_path, f"{models}:{model}", {"input": given})
    assert (run, code) == (None, 2)
    assert said in told


def test_the_example_is_built_and_run(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        skip_or_fail("needs cc, to build the FMU that is run")
    subprocess.run([str(ROOT / "examples" / "step" / "heater.sh")], cwd=tmp_path, check=True)
    run, code, said = run_of(tmp_path / "store", tmp_path / "heater.fmu", {"input": "power=2000,loss=0"})
    assert code == 0, said
    expected = 20 + np.cumsum(np.full(WARMUP + COUNT, PERIOD_S * 2000 / 50000))[WARMUP:]
    assert column(run, "temperature") == pytest.approx(expected, rel=1e-12)


@VERSIONS
def test_a_plan_and_a_verb_measure_an_fmu_and_leave_nothing_behind(
    fmus: dict[int, Path], tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room := tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(room))
    monkeypatch.setattr(tempfile, "tempdir", None)
    own = tmp_path / "own.fmu"
    own.write_bytes(fmus[version].read_bytes())
    (tmp_path / "in.csv").write_text("t,u\n0,2\n")
    options = policy_options()
    lock = "no-memory-lock = true\n" if "--no-memory-lock" in options else ""
    plan = tmp_path / "own.toml"
    plan.write_text(
        'title = "FMU"\nrepetitions = 1\n[[experiment]]\nname = "step"\ncode = "own.fmu"\nperiod = "2ms"\n'
        f'input = "n=4"\ninputs = "in.csv"\ncount = {COUNT}\npolicy = "{options[1]}"\n{lock}'
    )
    store = tmp_path / "store"
    done = tauto("run", str(plan), store=store)
    assert done.returncode == 0, done.stderr
    run = only_run(store)
    assert (column(run, "y") == 4 + OFFSET).all()
    assert (column(run, "n_out") == -4).all()
    assert fmu_of(run.manifest) == FmuFacts(f"{version}.0", "Known", "tests & trials")
    kept = run.manifest.conditions.told(KeptInputs.CONDITION, KeptInputs)
    assert kept is not None
    assert (kept.constants, kept.file) == ({"n": "4"}, str(tmp_path / "in.csv"))
    assert FMU in run.manifest.conditions.stored
    said = tauto("show", store=store).stdout
    assert f"The FMU has the model Known, of FMI {version}.0, made by tests & trials." in said
    csv = tauto("export", "latest", "--csv", store=store).stdout.splitlines()
    names = csv[0].split(",")
    assert float(csv[-1].split(",")[names.index("out.y")]) == 4 + OFFSET
    page = tmp_path / "report.html"
    assert tauto("report", "-o", str(page), store=store).returncode == 0
    assert "Outputs" in page.read_text()
    assert list(room.iterdir()) == []
