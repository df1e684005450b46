"""The trial of options: what the probe is asked, for how long, and what is no refusal."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from cells import given
from tautochrone.base.errors import MeasuringError
from tautochrone.experiments import EXPERIMENTS
from tautochrone.measure import trial
from tautochrone.measure.trial import refusal_of
from tautochrone.target.local import LocalTarget
from tautochrone.target.middleware_server import Server
from tautochrone.target.program import ProbeAnswer, Program
from tautochrone.target.target import ANYWHERE


class Asked(LocalTarget):
    """A machine whose probe takes everything, and that keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Sequence[str], float]] = []

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> ProbeAnswer:
        self.asked.append((arguments, patience_s))
        return ProbeAnswer(0, "", ())


class Elsewhere(Asked):
    """One on which the code of the user's has an environment of its own."""

    started: ClassVar[list[tuple[str, Mapping[str, str]]]] = []

    def own_code(self, code: str) -> str:
        self.environment = {"LD_LIBRARY_PATH": "/own"}
        return code

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        self.started.append((Path(command[0]).name, environment))
        raise MeasuringError("nothing is started")


class Lost(LocalTarget):
    """A machine to which the connection is lost."""

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> ProbeAnswer:
        raise MeasuringError("the connection is lost")


def test_a_lost_connection_is_no_refusal() -> None:
    with pytest.raises(MeasuringError, match="the connection is lost"):
        refusal_of(Lost(), "cyclic", given("cyclic", ("--period", "1ms")))


def test_a_program_to_be_watched_is_not_started_for_a_trial(tmp_path: Path) -> None:
    target = Asked()
    own = EXPERIMENTS["watch"].prepare({"program": "true"}, tmp_path)
    assert refusal_of(target, "watch", own.options, own.conditions) is None
    assert target.asked == []


def test_code_of_the_users_own_has_a_minute_to_begin() -> None:
    target = Asked()
    assert refusal_of(target, "step", given("step", ("--code", "/lib.so:own"))) is None
    assert refusal_of(target, "cyclic", given("cyclic", ("--period", "1ms"))) is None
    assert [patience_s for _, patience_s in target.asked] == [90.0, 30.0]


def test_what_the_server_takes_is_not_given_to_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def serving(*_: object) -> Iterator[Server]:
        yield Server({"transport": "tcp", "server": "10.0.0.2:7"})

    monkeypatch.setattr(trial, "serving", serving)
    target = Asked()
    own = given("middleware-throughput", ("--transport", "tcp", "--service-time", "1ms"))
    assert refusal_of(target, "middleware-throughput", own) is None
    ((arguments, _),) = target.asked
    assert "--server" in arguments
    assert "--service-time" not in arguments


def test_the_environment_of_the_users_own_code_is_that_of_its_probe_alone() -> None:
    target = Elsewhere()
    for start in (target.start, target.start_agent):
        assert refusal_of(target, "step", given("step", ("--code", "/lib.so:own"))) is None
        with pytest.raises(MeasuringError):
            start([], ANYWHERE)
    assert refusal_of(target, "cyclic", given("cyclic", ("--period", "1ms"))) is None
    with pytest.raises(MeasuringError):
        target.start([], ANYWHERE)
    own = {"LD_LIBRARY_PATH": "/own"}
    assert target.started == [("tauto-probe", own), ("tauto-agent", {}), ("tauto-probe", {})]
