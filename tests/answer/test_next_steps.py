"""What the first answer leads on to: the questions that it leaves open."""

import shlex

from tautochrone.answer.conclusion import next_steps
from tautochrone.judge.verdict import MeasuredLoop, judge
from tautochrone.run.facts import Facts

FACTS = Facts.from_table({"cpu": {"online_count": 4}, "kernel": {"realtime": False}})
HOLDS = MeasuredLoop(1_000_000, "cpu0", 0, "idle", 20_000, 0, 0, 0, 40_000)
MISSED = MeasuredLoop(1_000_000, "cpu0", 0, "cpu", 20_000, 3, 0, 3, 4_000_000)


def commands(*loops: MeasuredLoop, on: str = "local", run: str | None = "20261122T100000Z-abcd") -> list[str]:
    return [step.command for step in next_steps(judge(loops), FACTS, on, run)]


def test_a_loop_that_holds_leads_to_the_loop_of_ones_own_and_to_rare_starts() -> None:
    assert [command.split()[1] for command in commands(HOLDS)] == ["check", "tail", "reproduce"]
    assert "--rate 1kHz" in commands(HOLDS)[0]


def test_a_missed_deadline_leads_to_its_cause_first_and_to_what_may_help() -> None:
    found = commands(HOLDS, MISSED)
    assert found[:3] == [
        "tauto doctor",
        "tauto --deployment MI",
        "tauto lab matrix --kernels debian:stock,debian:rt",
    ]
    assert len(found) == 6


def test_commands_name_the_machine_that_was_measured() -> None:
    found = commands(MISSED, on="ssh:root@board")
    assert all(
        "--on ssh:root@board" in one for one in found if one.split()[1] in ("doctor", "check", "reproduce")
    )


def test_a_machine_is_named_as_a_shell_takes_it() -> None:
    """The parameters of a guest's kernel have blanks between them."""
    guest = "lab:debian-rt,append=isolcpus=1 nohz_full=1"
    for one in commands(HOLDS, MISSED, on=guest):
        words = shlex.split(one)
        assert "--on" not in words or words[words.index("--on") + 1 :] == [guest]


def test_a_machine_of_one_cpu_is_not_told_to_isolate_one_nor_a_real_time_kernel_to_try_one() -> None:
    facts = Facts.from_table({"cpu": {"online_count": 1}, "kernel": {"realtime": True}})
    found = [step.command for step in next_steps(judge([MISSED]), facts)]
    assert [command.split()[1] for command in found] == ["doctor", "check", "reproduce"]
