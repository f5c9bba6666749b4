"""docs/spec and the program agree on which commands, options and settings there are, and which are not built yet."""

import argparse
import re
from pathlib import Path

import pytest
import yaml

from memosite.commands.arguments import parser
from memosite.config.loading import FEEDS_KEYS, KEYS

SPEC = Path(__file__).parent.parent / "docs" / "spec"
MAIN = (SPEC / "memosite.md").read_text()
FEEDS = (SPEC / "feeds.md").read_text()
MARK = "not built yet"
OF_EVERY_COMMAND = {"--help", "--quiet", "--site", "--cache", "--secrets", "--audience"}


def listing(language: str) -> str:
    """The one listing in a language of the main contract."""
    found = re.findall(rf"^```{language}\n(.*?)^```", MAIN, re.MULTILINE | re.DOTALL)
    assert found
    return str(found[0])


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command of the program."""
    actions = [one for one in parser()._actions if isinstance(one, argparse._SubParsersAction)]
    return dict(actions[0].choices)


def options(command: argparse.ArgumentParser) -> set[str]:
    """The options of a command, by their long names, or else by their short ones."""
    named = [one.option_strings for one in command._actions if one.option_strings]
    return {next((name for name in names if name.startswith("--")), names[0]) for names in named}


def written(lines: str) -> dict[str, set[str]]:
    """The options that lines of the listing give each command; `-o` is what it is short for."""
    found: dict[str, set[str]] = {}
    for line in filter(str.strip, lines.splitlines()):
        given = re.findall(r"(?<![\w-])--?[a-z-]+", line.partition("#")[0])
        found.setdefault(line.split()[0], set()).update("--output" if name == "-o" else name for name in given)
    return found


BUILT = "\n".join(line for line in listing("text").splitlines() if MARK not in line)
UNBUILT = "\n".join(line for line in listing("text").splitlines() if MARK in line)


def test_the_commands_are_those_of_the_contract() -> None:
    """Those that are marked are not there, and all others are."""
    assert set(written(BUILT)) == set(commands())
    assert set(written(UNBUILT)) - set(written(BUILT)) == set(written(UNBUILT)) - set(commands())


@pytest.mark.parametrize("name", sorted(set(commands()) - {"watch"}))
def test_the_options_are_those_of_the_contract(name: str) -> None:
    """Each command has the options of its line, and those of every command."""
    has = {"--output" if one == "-o" else one for one in options(commands()[name])}
    assert has - OF_EVERY_COMMAND == written(BUILT)[name]
    assert not has & written(UNBUILT).get(name, set())
    not_all = {"--site", "--cache", "--secrets", "--audience"} if name in {"init", "mark-read", "completion"} else set()
    assert OF_EVERY_COMMAND - has == not_all


def test_the_options_of_watch_are_those_of_the_contract_of_feeds() -> None:
    """It has its own list there."""
    named = set(re.findall(r"(?<=[` ])--[a-z-]+", FEEDS.partition("## `memosite watch")[2]))
    assert options(commands()["watch"]) - OF_EVERY_COMMAND == named - OF_EVERY_COMMAND


def test_the_settings_are_those_of_the_contract() -> None:
    """The example in the contract has each key, and a comment on each that is not built."""
    example = re.sub(r"<memo id>", "a-memo", listing("yaml"))
    values = yaml.safe_load(example)
    lines = {line.partition(":")[0]: line for line in example.splitlines() if re.match(r"\w", line)}
    assert set(values) == set(lines) == set(KEYS)
    assert {key for key, line in lines.items() if f"# {MARK};" in line} == set()
    assert set(values["feeds"]) == set(FEEDS_KEYS)


@pytest.mark.parametrize("text", [MAIN, FEEDS], ids=["memosite", "feeds"])
def test_what_is_not_built_is_marked_in_one_way(text: str) -> None:
    """So that it can be found, and removed, by searching for the mark."""
    marked = re.findall(r"\*Not built yet(?:\.|: [^*]+\.)\*", text)
    assert len(marked) == text.count("Not built")
