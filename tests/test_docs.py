"""Checks the documentation: links lead to files and headings, and memosite knows the commands that are shown."""

import argparse
import contextlib
import io
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from memosite.commands.arguments import command_parsers, parser
from memosite.config.loading import load_config
from tests.support.files import ROOT

README = ROOT / "README.md"
LINKED = (
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
"""The documents whose links are followed."""
SHOWN = (
    README, ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/guide").glob("*.md")),
)  # fmt: skip
"""The documents that tell users which commands to run."""

_FENCED = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\]\(<?([^()<>\s]+(?:\([^()\s]*\))?)>?(?:\s+\"[^\"]*\")?\)")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_ENDS_A_COMMAND = re.compile(r"[|&;<>()]+")


def links(markdown: str) -> list[str]:
    """The targets of all links and pictures of a text, those in code apart."""
    return [str(found) for found in _LINK.findall(_CODE.sub("", _FENCED.sub("", markdown)))]


def anchors(markdown: str) -> set[str]:
    """The fragments that lead to headings, made as GitHub makes them; a heading that comes again is numbered."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in _HEADING.findall(_FENCED.sub("", markdown)):
        text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def broken_links(document: Path, root: Path) -> list[str]:
    """The relative links of a document that lead to no file below `root`, or to no heading of it."""
    found = links(document.read_text(encoding="utf-8"))
    relative = (link for link in found if not re.match(r"[a-z][a-z0-9+.-]*:", link))
    return [link for link in relative if not leads_somewhere(document, link, root)]


def leads_somewhere(document: Path, link: str, root: Path) -> bool:
    """Whether a relative link leads to a file or folder below `root` and, with a fragment, to a heading there."""
    path, _, fragment = link.partition("#")
    target = (document.parent / unquote(path)).resolve() if path else document
    if not target.exists() or not target.is_relative_to(root.resolve()):
        return False
    return not fragment or (target.suffix == ".md" and fragment in anchors(target.read_text(encoding="utf-8")))


def shell_commands(markdown: str) -> Iterator[list[str]]:
    """The words after `memosite`, or its path, of each command of it in blocks of shell."""
    for block in _FENCED.finditer(markdown):
        if block["language"] != "sh":
            continue
        for line in block["text"].replace("\\\n", " ").splitlines():
            words = shlex.shlex(line, posix=True, punctuation_chars=True)
            words.whitespace_split = True
            command: list[str] = []
            for word in (*words, ";"):
                if not _ENDS_A_COMMAND.fullmatch(word):
                    command.append(word)
                    continue
                if command and command[0].rpartition("/")[2] == "memosite":
                    yield command[1:]
                command = []


def inline_commands(markdown: str) -> Iterator[str]:
    """What follows `memosite` in code within a sentence or a table; it may be a usage, or cut short."""
    for code in _CODE.findall(_FENCED.sub("", markdown)):
        name, _, rest = code.partition(" ")
        if name == "memosite" and rest:
            yield rest


def unknown_commands(markdown: str) -> list[str]:
    """The commands of a text that memosite would refuse, and usages with a command or option that it lacks."""
    known = command_parsers(parser()) | {"COMMAND": argparse.ArgumentParser()}  # it stands for any, and has --help
    refused = []
    for words in shell_commands(markdown):
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
                parser().parse_args(words)
        except SystemExit as error:
            if error.code:
                refused.append(f"memosite {shlex.join(words)}: {said.getvalue().splitlines()[-1]}")
                continue
        options = {word.partition("=")[0] for word in words if _OPTION.match(word) and " " not in word}
        if not words[0].startswith("-") and not options <= known[words[0]]._option_string_actions.keys():
            refused.append(f"memosite {shlex.join(words)}: an option cut short")
    for usage in inline_commands(markdown):
        name = usage.split()[0]
        command = parser() if name.startswith("-") else known.get(name)
        if command is None or not set(_OPTION.findall(usage)) <= command._option_string_actions.keys():
            refused.append(f"memosite {usage}")
    return refused


def shown(document: Path) -> str:
    """A document's name in the output of pytest."""
    return document.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", LINKED, ids=shown)
def test_links_lead_to_files_and_headings_and_commands_are_known(document: Path) -> None:
    """Every relative link and picture is there; command lines have what the parser takes, where users read them."""
    assert broken_links(document, ROOT) == []
    if document in SHOWN:
        assert unknown_commands(document.read_text(encoding="utf-8")) == []


def test_readme_and_guide_know_each_command_and_page_and_the_example_of_a_configuration_is_one(tmp_path: Path) -> None:
    """The README is short; the guide shows all but `init`, and its memosite.yml has every key of the table."""
    readme = README.read_text(encoding="utf-8")
    assert len(readme.split()) <= 1_000
    rows = re.findall(r"^\| `memosite ([a-z-]+)[^`]*` \| (.+) \|$", readme, re.MULTILINE)
    assert sorted(command for command, _ in rows) == sorted(command_parsers(parser()))
    assert max(len(what) for _, what in rows) <= 80
    guide = (ROOT / "docs/guide/README.md").read_text(encoding="utf-8")
    assert command_parsers(parser()).keys() - {words[0] for words in shell_commands(guide)} <= {"init"}
    pages = {page.name for page in (ROOT / "docs/guide").glob("*.md")} - {"README.md"}
    assert pages <= set(links(guide)) and {f"docs/guide/{page}" for page in pages} <= set(links(readme))
    page = (ROOT / "docs/guide/configuration.md").read_text(encoding="utf-8")
    (example,) = (block["text"] for block in _FENCED.finditer(page) if block["language"] == "yaml")
    site = tmp_path / "site"
    for folder in (site / "governance", site / "theme", tmp_path / "engine"):
        folder.mkdir(parents=True)
    (site / "memosite.yml").write_text(example)
    config = load_config(site)
    assert [source.name for source in config.sources] == ["governance", "engine", "spec"]
    table = page.partition("| key | meaning | default |")[2].partition("\n\n")[0]
    keys = {key for row in table.splitlines() for key in _CODE.findall(row.split(" | ")[0])}
    assert len(keys) >= 20
    assert {key for key in keys - {"output"} if not re.search(rf"\b{key.rpartition('.')[2]}:", example)} == set()


def test_a_link_that_leads_nowhere_and_a_command_that_memosite_lacks_are_found(tmp_path: Path) -> None:
    """The checks themselves: files, headings and files outside; commands, options and values."""
    root = tmp_path / "repo"
    (root / "folder").mkdir(parents=True)
    (root / "other.md").write_text("# A heading\n\n## `Two` words!\n\n# A heading\n\n```sh\n# in code\n```\n")
    (root / "picture.png").touch()
    (tmp_path / "outside.md").touch()
    good = "[a](other.md) [b](other.md#two-words) ![c](picture.png) [d](folder/) [e](https://example.org/no#where)"
    good += " [f](other.md#a-heading-1) [g](#here)\n\n# Here\n\n`[h](absent.md)`\n\n```sh\n[i](absent.md)\n```\n\n"
    bad = ["absent.md", "other.md#absent", "other.md#in-code", "#absent", "folder/#absent", "picture.png#absent"]
    bad += ["../outside.md", "absent.png"]
    (root / "document.md").write_text(good + " ".join(f"[x]({link})" for link in bad[:-1]) + f" ![x]({bad[-1]})")
    assert broken_links(root / "document.md", root) == bad
    for text, count in [
        ("```sh\nmemosite build -o out && echo done   # a comment\n~/bin/memosite watch feed --once | cat\n```\n", 0),
        ("`memosite build [SITE] [-o DIR]`, `memosite COMMAND --help`, `memosite --version`, `memosite-check`", 0),
        ("```yaml\nmemosite: paint\n```\n", 0),
        ("```sh\nmemosite paint\n```\n", 1),
        ("```sh\ncd x && memosite build --colour red\n```\n", 1),
        ("```sh\nmemosite build --prof\n```\n", 1),
        ("```sh\nmemosite export --format pdf > file\n```\n", 1),
        ("```sh\nmemosite why\n```\n", 1),
        ("Run `memosite paint`, or `memosite build --colour`.", 2),
    ]:
        assert len(unknown_commands(text)) == count


# SECURITY.md names tests for what it promises, and people find it

SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
MODULES = {path.stem for path in (ROOT / "tests").glob("test_*.py")}


def named_tests(text: str) -> list[str]:
    """The test modules that a text names."""
    return re.findall(r"`(test_\w+)(?:\.py)?`", text)


def promises(text: str) -> list[tuple[str, list[str]]]:
    """The promises of the table, each with its tests."""
    table = text.partition("| promise | tests |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = (line.strip("| ").rpartition(" | ") for line in table.splitlines())
    return [(promise, named_tests(tests)) for promise, _, tests in rows]


def test_the_tests_that_documents_name_are_there() -> None:
    """A test that was renamed is renamed there, too."""
    for document in ["SECURITY.md", "docs/reliability.md", "ARCHITECTURE.md"]:
        found = named_tests((ROOT / document).read_text(encoding="utf-8").replace("tests/test_", "test_"))
        assert found, document
        assert set(found) - MODULES == set(), document


def test_each_promise_has_a_test_and_people_find_it() -> None:
    """In the table, and in each section on what may be published; from where they begin to read."""
    assert len(promises(SECURITY)) >= 10
    assert [promise for promise, tests in promises(SECURITY) if not tests] == []
    below = SECURITY.partition("## What is promised")[2].partition("\n## ")[0]
    sections = re.split(r"^### ", below, flags=re.MULTILINE)[1:]
    assert [section.splitlines()[0] for section in sections] == ["Secrets", "Audience", "Erasure", "Supply chain"]
    assert [section for section in sections if not re.search(r"^Tests: `test_", section, re.MULTILINE)] == []
    text = "| promise | tests |\n|---|---|\n| Safe | `test_a`, `test_b.py` |\n| Fast | none |\n\n`test_c`"
    assert promises(text) == [("Safe", ["test_a", "test_b"]), ("Fast", [])], "the check itself"
    for document in (ROOT / "README.md", ROOT / "docs/guide/README.md"):
        found = re.findall(r"\]\(([^)#]*SECURITY\.md)", document.read_text(encoding="utf-8"))
        assert {(document.parent / link).resolve() for link in found} == {ROOT / "SECURITY.md"}
