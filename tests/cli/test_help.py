"""Help: it fits the screen, every verb has examples, and these are command lines that tauto takes."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from tautochrone.base.options import RENAMED_OPTIONS, RENAMED_VERBS
from tautochrone.cli import app as command_line
from tautochrone.experiments import EXPERIMENTS

ROOT: Any = typer.main.get_group(command_line.app)
WIDTH = 80


def below(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every group and verb below one, with the names that lead to it."""
    for name in command.list_commands(None):
        inner = command.get_command(None, name)
        yield (*names, name), inner
        if hasattr(inner, "list_commands"):
            yield from below(inner, *names, name)


EVERY = dict(below(ROOT))
VERBS_ALONE = {" ".join(names): one for names, one in EVERY.items() if not hasattr(one, "list_commands")}
GROUPS = {" ".join(names): one for names, one in EVERY.items() if hasattr(one, "list_commands")}


def help_of(command: Any, name: str) -> list[str]:
    context = command.make_context(f"tauto {name}".strip(), [], resilient_parsing=True, terminal_width=WIDTH)
    return str(command.get_help(context)).splitlines()


def parse(line: str) -> str:
    """Read a command line as tauto does, carrying nothing out; the verb that it is for."""
    words = command_line.with_verb(shlex.split(line)[1:])
    command: Any = ROOT
    context = command.make_context("tauto", words)
    while hasattr(command, "list_commands"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, rest, parent=context)
    return str(context.command_path).removeprefix("tauto ")


def test_the_first_help_fits_a_screen_in_groups() -> None:
    lines = help_of(ROOT, "")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= WIDTH
    for heading in ("Measure", "Judge", "Compare", "Explain", "Share", "Machine", "Research"):
        assert sum(line.startswith(f"{heading} ") for line in lines) == 1
    shared = command_line._TOLD_WITH
    said_with = {name: said for verb, (first, said) in shared.items() for name in (verb, first)}
    for name, (_, said) in ROOT.found.items():
        (line,) = (
            one for one in lines if name in one[10:24].replace(",", "").split() and one[:1] in " MJCESR"
        )
        assert line.endswith(said_with.get(name, said))


def test_every_verb_stands_in_one_group_of_the_first_help() -> None:
    grouped = [name for names in command_line._GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert set(ROOT.found) <= set(grouped)


@pytest.mark.parametrize("name", ["", *GROUPS])
def test_a_group_says_what_each_verb_does_in_one_line(name: str) -> None:
    command = GROUPS.get(name, ROOT)
    lines = help_of(command, name)
    shared = {} if name else command_line._TOLD_WITH
    said_with = {told: said for verb, (first, said) in shared.items() for told in (verb, first)}
    for verb, (_, own) in command.found.items():
        said = said_with.get(verb, own)
        (line,) = (one for one in lines if one.split()[-len(said.split()) :] == said.split() and verb in one)
        assert len(line) <= WIDTH
        assert said.endswith((".", "?"))


@pytest.mark.slow
def test_the_help_of_a_verb_is_as_wide_as_the_screen_and_has_examples() -> None:
    for name, command in VERBS_ALONE.items():
        lines = help_of(command, name)
        assert max(map(len, lines)) <= WIDTH, name
        epilog = [line.strip() for line in (command.epilog or "").splitlines()]
        examples = [line for line in epilog if line.startswith("tauto")]
        assert 1 <= len(examples) <= 2, name
        for example in examples:
            assert f"      {example}" in lines
            assert parse(example) == name


@pytest.mark.parametrize("verb_and_option", RENAMED_OPTIONS)
def test_an_option_that_was_renamed_is_refused_with_its_new_name(verb_and_option: tuple[str, str]) -> None:
    verb, old = verb_and_option
    new, *_ = RENAMED_OPTIONS[verb_and_option].split()
    verbs = [VERBS_ALONE[verb]] if verb else VERBS_ALONE.values()
    own = {name for command in verbs for one in command.params for name in one.opts}
    assert new in own
    assert old not in own


def test_a_verb_that_was_renamed_is_a_verb_by_its_new_name_alone() -> None:
    assert set(RENAMED_VERBS.values()) <= set(ROOT.found)
    assert not set(RENAMED_VERBS) & set(ROOT.found)


def test_what_is_asked_for_is_called_the_same_everywhere() -> None:
    for name, command in VERBS_ALONE.items():
        own = {option for one in command.params for option in one.opts if option.startswith("--")}
        assert not own & {"--seconds", "--cpu", "--loads", "--fail", "--wake-latency-us"}, name
        assert ("--period" in own) == ("--rate" in own), name


def test_what_must_be_given_names_no_usual_value() -> None:
    for name, command in VERBS_ALONE.items():
        for one in command.params:
            assert not (one.required and str(one.help).endswith("]")), f"tauto {name}: {one.help}"


def test_a_usual_rate_or_time_has_its_unit() -> None:
    for name, command in VERBS_ALONE.items():
        for one in command.params:
            assert one.metavar not in ("RATE", "TIME") or not re.search(r"\[\d+]$", str(one.help)), (
                f"tauto {name}: {one.help}"
            )


def test_probe_all_names_what_it_leaves_out() -> None:
    told = " ".join(help_of(EVERY["probe", "all"], "probe all"))
    named = re.search(r"Left out are (.*?):", told)
    assert named is not None
    left = {name for name, one in EXPERIMENTS.items() if one.has_verb and one.suite is None}
    assert set(re.findall(r"\w+", named[1])) - {"and"} == left
