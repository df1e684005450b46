"""One name for one thing: what has another name, another spelling or another case is understood or told."""

import shlex
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from report_runs import store_run
from tautochrone.base.errors import UsageError
from tautochrone.base.units import given_period
from tautochrone.cli import app as command_line
from tautochrone.command import completion
from tautochrone.experiments import EXPERIMENTS
from tautochrone.measure.document.document import read
from tautochrone.measure.document.expand import expand
from tautochrone.run.store import Store


def run(words: str) -> None:
    """Carry a command line out as `tauto` does; a refusal is raised."""
    arguments = command_line.with_verb(shlex.split(words))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["tauto", *arguments])
        with suppress(SystemExit):
            command_line._run(arguments)


@pytest.mark.parametrize(
    ("words", "wrong", "advice"),
    [
        ("cyclic", "tauto has no verb 'cyclic'", "Did you mean tauto probe cyclic?"),
        ("Cyclic --period 1ms", "tauto has no verb 'Cyclic'", "Did you mean tauto probe cyclic?"),
        ("apply MI", "tauto has no verb 'apply'", "Did you mean tauto tune apply?"),
        ("shw", "tauto has no verb 'shw'", "Did you mean tauto show?"),
        ("matrx", "tauto has no verb 'matrx'", "Did you mean tauto lab matrix?"),
        ("deploy list", "tauto has no verb 'deploy'", "It is called tauto tune now."),
        ("probe cyclc", "tauto probe has no verb 'cyclc'", "Did you mean tauto probe cyclic?"),
        ("probe check", "tauto probe has no verb 'check'", "Did you mean tauto check?"),
        ("tune xyzzy", "tauto tune has no verb 'xyzzy'", "tauto tune -h lists its verbs."),
        ("--seconds 5", "tauto answer has no option --seconds any more: it is called --duration", "50s"),
        ("load try cpu --seconds=5", "no option --seconds any more: it is called --duration", "3s"),
        ("check --rate 1kHz --seconds 5", "any more: it is called --within", "--within 60s"),
        ("lab matrix --loads idle", "it is called --load", "--load idle,exit"),
        ("analyse x.toml --fail", "it is called --fail-on", "--fail-on misses"),
        ("probe period --cpu 1", "it is called --cpus", "--cpus 1"),
        ("probe switch --wake-latency-us 0", "it is called --wake-latency", "--wake-latency 0us"),
        ("probe interrupt --cpu 1", "it is called --cpus", "--cpus 1"),
        ("probe cyclic --polcy fifo", "tauto probe cyclic has no option --polcy", "Did you mean --policy?"),
        ("probe cyclic --policy fifoo", "--policy 'fifoo' is not known", "Did you mean 'fifo'?"),
        ("probe cyclic --record RAWW", "--record 'RAWW' is not known", "Did you mean 'raw'?"),
        ("tire map --policy OTHR --dry-run", "--policy 'OTHR' is not known", "Did you mean 'other'?"),
        ("doctor --fail-on WARNIGN", "--fail-on 'WARNIGN' is not known", "Did you mean 'warning'?"),
        ("analyse x.toml --fail-on always", "--fail-on 'always' is not known", "There are: never, misses."),
        (
            "check --rate 1kHz --search foo",
            "--search 'foo' is not known",
            "There are: rate, work, instances.",
        ),
    ],
)
def test_what_has_another_name_is_told_with_the_right_one(words: str, wrong: str, advice: str) -> None:
    with pytest.raises(UsageError) as refused:
        run(words)
    assert wrong in str(refused.value)
    assert advice in refused.value.advice


@pytest.mark.parametrize(
    "words",
    [
        "check --rate 1kHz --period 1ms",
        "probe cyclic --rate 1kHz --period 1ms",
        "probe response --rate 1kHz --period 1ms",
        "probe tire --rate 1kHz --step 1ms",
        "probe tire --rate 1kHz --period 1ms",
        "tire map --period 1ms --step 1ms --dry-run",
        "tire limit --rate 1kHz --step 1ms",
        "lab matrix --rate 1kHz --period 1ms --dry-run",
        "lab diff debian:rt debian:stock --rate 1kHz --period 1ms",
        "plan-samples --misses '1 in 1000' --rate 1kHz --period 1ms",
    ],
)
def test_a_rate_and_a_period_at_once_are_refused_everywhere(words: str) -> None:
    with pytest.raises(UsageError, match="two ways to say the same"):
        run(words)


@pytest.mark.parametrize(
    ("asked", "understood"),
    [
        ({}, None),
        ({"rate": None, "period": None}, None),
        ({"rate": "1kHz"}, "1kHz"),
        ({"rate": 250, "period": None}, "250Hz"),
        ({"rate": "1ms"}, "1ms"),
        ({"period": "1ms"}, "1ms"),
        ({"period": "1kHz"}, "1kHz"),
    ],
)
def test_a_period_is_given_as_a_period_or_as_its_rate(
    asked: dict[str, object], understood: str | None
) -> None:
    assert given_period(asked) == understood


@pytest.mark.parametrize("rate", ["fast", "0Hz", "0", "1.5"])
def test_a_rate_that_is_none_is_refused(rate: str) -> None:
    with pytest.raises(UsageError, match=r"--rate: .*not a rate"):
        given_period({"rate": rate})


@pytest.mark.parametrize(
    ("experiment", "options", "understood"),
    [
        ("cyclic", {"policy": "FIFO", "wait": "Spin"}, {"policy": "fifo", "wait": "spin"}),
        ("cyclic", {"rate": "4kHz"}, {"period": "4kHz"}),
        ("cyclic", {"rate": 100}, {"period": "100Hz"}),
        ("response", {"rate": "1kHz"}, {"period": "1kHz"}),
        ("tire", {"rate": "1kHz"}, {"step": "1kHz"}),
        ("tire", {"period": "1ms"}, {"step": "1ms"}),
    ],
)
def test_the_probe_gets_a_choice_in_its_own_letters_and_a_rate_as_the_period(
    experiment: str, options: dict[str, str | int], understood: dict[str, str]
) -> None:
    assert dict(EXPERIMENTS[experiment].prepare(options, Path()).options) == understood


def plan(folder: Path, name: str, *lines: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text("\n".join(["[[experiment]]", *lines]) + "\n")
    return path


def test_the_keys_of_plans_are_called_as_the_options(tmp_path: Path) -> None:
    forms = (('rate = "4kHz"',), ("rate = 4000",), ('rate = "250us"',), ('period = "250us"',))
    periods = set()
    for at, form in enumerate(forms):
        (case,) = expand(read(plan(tmp_path, str(at), 'name = "cyclic"', 'policy = "RR"', *form)))
        assert case.prepared.options["policy"] == "rr"
        assert "rate" not in case.prepared.options
        periods.add(case.prepared.options.period_s("period"))
    assert periods == {250e-6}
    with pytest.raises(UsageError, match="rate and period are two ways"):
        expand(read(plan(tmp_path, "both", 'name = "cyclic"', 'rate = "1kHz"', 'period = "1ms"')))
    with pytest.raises(UsageError) as refused:
        read(plan(tmp_path, "old", 'name = "interrupt"', "cpu = 1"))
    assert refused.value.advice == "It is called 'cpus' now."
    with pytest.raises(UsageError) as refused:
        expand(read(plan(tmp_path, "choice", 'name = "cyclic"', 'policy = "fife"')))
    assert refused.value.advice == "Did you mean 'fifo'?"


@pytest.mark.slow
def test_every_verb_that_reads_one_run_reads_the_latest_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path / "store")
    store_run(store, [np.arange(500) % 97 + 3_000])
    latest = store_run(store, [np.arange(700) % 97 + 3_000])
    monkeypatch.setenv("TAUTO_STORE", str(store.path))
    monkeypatch.chdir(tmp_path)
    run("export --csv --out samples.csv")
    assert len((tmp_path / "samples.csv").read_text().splitlines()) == 701
    run("show --json")
    assert latest.id in capsys.readouterr().out
    run("tail --json")
    assert latest.id in capsys.readouterr().out
    run("report")
    assert (tmp_path / f"report-{latest.id}.html").exists()
    run("figure --kind cumulative")
    assert (tmp_path / f"cumulative-{latest.id}.svg").exists()


@pytest.mark.slow
def test_help_of_a_verb_by_its_name_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    run("help tail")
    by_name = capsys.readouterr().out
    run("tail --help")
    assert by_name == capsys.readouterr().out
    assert "Examples:" in by_name
    run("help")
    assert "Measure   answer" in capsys.readouterr().out
    run("help exit-codes")
    codes = capsys.readouterr().out
    assert "  3  not permitted\n" in codes
    with pytest.raises(UsageError, match="no verb 'xyzzy'"):
        run("help xyzzy")


def test_a_shell_completes_names_of_all_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")
    older, newer = (store_run(store, [np.arange(50) + 3_000]).id for _ in range(2))
    (tmp_path / "plans").mkdir()
    (tmp_path / "nightly.toml").touch()
    (tmp_path / "notes.txt").touch()
    monkeypatch.setenv("TAUTO_STORE", str(store.path))
    monkeypatch.chdir(tmp_path)
    assert completion.runs("latest") == ["latest", "latest~1"]
    assert completion.runs(older[:8]) == [newer, older]
    assert completion.runs("xyzzy") == []
    assert completion.loads("cpu+mem")[0] == "cpu+memory"
    assert "command:" in completion.loads("com")
    assert completion.experiments("CYC") == ["cyclic"]
    assert completion.deployments("hm") == ["HM", "HMI"]
    assert "debian:rt" in completion.kernels("debian:stock,debian:rt"[13:])
    assert completion.kernels("debian:stock,debian:r")[0] == "debian:stock,debian:rt"
    assert "lab:debian-rt" in completion.targets("lab:debian-r")
    assert completion.targets("l") == ["local", "lab:"]
    assert completion.files("n") == ["nightly.toml"]
    assert completion.files("./pl") == ["./plans/"]
    assert "koh2013" in completion.papers("k")
    assert completion.of(("fifo", "rr"))("F") == ["fifo"]
