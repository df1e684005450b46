"""`tauto live` as a person types it: what is refused, and how."""

import signal
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from real import PATIENCE_S, policy_options, start_tauto, tauto
from schemas import valid
from soaks import Soak, begin_soak
from tautochrone.run.store import Store

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (("live", "--token", "token"), "none is served", 2),
        (("live", "--web", "--token", "short"), "16 letters", 2),
        (("live", "--web", "--token", "none"), "can't be read", 2),
        (("live", "--listen", "board.example"), "not an address", 2),
        (("live", "--listen", "203.0.113.7:8119"), "not an address of this machine", 2),
        (("live", "2020"), "no run", 4),
        (("soak", "cyclic", "--until", "1 per day"), "does not say what is enough", 2),
        (("soak", "cyclic", "--until", "latency p99.9 < 1ms shown"), "how often in a time", 2),
        (("soak", "cyclic", "--until", "response above 1ms < 1 per day shown"), "does not measure", 2),
        (("soak", "cyclic", "--every", "10min", "--until", "1 per day shown"), "by the minute", 2),
    ],
)
def test_what_can_not_be_shown_is_refused_before_anything_begins(
    tmp_path: Path, arguments: tuple[str, ...], said: str, code: int
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "short").write_text("abc")
    store = tmp_path / "store"
    with begin_soak(Store(store), Soak(intervals=1)):
        found = [str(tmp_path / one) if one in ("token", "short", "none") else one for one in arguments]
        ended = tauto(*found, store=store)
    assert ended.returncode == code, ended.stderr
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(list(store.iterdir())) == 1  # nothing was measured


@pytest.mark.slow
def test_how_it_stands_is_told_once_for_programs(tmp_path: Path) -> None:
    with begin_soak(Store(tmp_path), Soak(intervals=5, cpus=2)):
        ended = tauto("live", "--json", store=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    found = valid(ended.stdout)
    assert (found["state"], len(found["sources"]), found["late_events"]["begun"]) == ("measuring", 2, 0)
    assert found["sources"][0]["released"] == 5_000


@pytest.mark.slow
def test_a_soak_ends_when_its_rule_is_decided_and_keeps_why(tmp_path: Path) -> None:
    rule = "latency max < 1ns refuted"  # each cycle is later
    options = ["--foreground", "--for", "600s", "--every", "1s", "--cpus", "0", *policy_options()]
    ended = tauto("soak", "cyclic", "--period", "5ms", *options, "--until", rule, store=tmp_path)
    assert ended.returncode == 6, ended.stderr
    assert f"Until '{rule}': refuted." in ended.stderr
    (run,) = Store(tmp_path).runs()
    told = run.manifest.conditions.stored["soak"]
    assert isinstance(told, dict)
    assert (told["until"], told["ended_because"]) == (rule, f"refuted: {rule}")


@pytest.mark.slow
def test_a_view_that_others_reach_has_a_token_and_says_so(tmp_path: Path) -> None:
    with begin_soak(Store(tmp_path), Soak(intervals=3)):
        watching = start_tauto("live", "--listen", "0.0.0.0:0", store=tmp_path)
        try:
            assert watching.stderr is not None
            address = watching.stderr.readline().split()[-1]
            assert "tunnel" in watching.stderr.readline()
            whole, _, token = address.partition("?token=")
            assert len(token) >= 32
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"{whole}metrics", timeout=PATIENCE_S)
            asked = urllib.request.Request(f"{whole}metrics", headers={"Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
                assert b"tautochrone_cycles_released_total" in answer.read()
        finally:
            watching.send_signal(signal.SIGINT)
            assert watching.wait(PATIENCE_S) == 130
        assert watching.stdout is not None
        assert token not in watching.stdout.read() + watching.stderr.read()
