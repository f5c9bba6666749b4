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

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
LINKED = (
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
"""The documents whose links are followed."""
SHOWN = (
    README,
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs/guide").glob("*.md")),
)
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
def test_links_lead_to_files_and_headings(document: Path) -> None:
    """Every relative link and picture is there."""
    assert broken_links(document, ROOT) == []


@pytest.mark.parametrize("document", SHOWN, ids=shown)
def test_commands_are_those_that_memosite_knows(document: Path) -> None:
    """Every command line has a command, options and values that the parser takes."""
    assert unknown_commands(document.read_text(encoding="utf-8")) == []


def test_the_readme_is_short() -> None:
    """At most 1,000 words, half of them the table of commands: the details are in the guide."""
    assert len(README.read_text(encoding="utf-8").split()) <= 1_000


def test_the_readme_has_a_row_for_each_command() -> None:
    """Each command is in the README's table, in one short line, and no other is."""
    rows = re.findall(r"^\| `memosite ([a-z-]+)[^`]*` \| (.+) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(command for command, _ in rows) == sorted(command_parsers(parser()))
    assert max(len(what) for _, what in rows) <= 80


def test_the_guide_shows_an_example_of_each_command() -> None:
    """`init` is shown where it is explained; all others have an example in the guide's first page."""
    guide = (ROOT / "docs/guide/README.md").read_text(encoding="utf-8")
    examples = {words[0] for words in shell_commands(guide)}
    assert command_parsers(parser()).keys() - examples <= {"init"}


def test_the_guide_leads_to_all_of_its_pages() -> None:
    """Each page of the guide has a link in its first page and in the README."""
    pages = {page.name for page in (ROOT / "docs/guide").glob("*.md")} - {"README.md"}
    guide = links((ROOT / "docs/guide/README.md").read_text(encoding="utf-8"))
    assert pages <= set(guide)
    assert {f"docs/guide/{page}" for page in pages} <= set(links(README.read_text(encoding="utf-8")))


def test_the_configuration_in_the_guide_is_one(tmp_path: Path) -> None:
    """The example of memosite.yml is read without an error, and names every key that the table explains."""
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


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("[a](other.md) [b](other.md#two-words) ![c](picture.png) [d](folder/) [e](https://example.org/no#where)", []),
        ("[a](other.md#a-heading-1) [b](#here)\n\n# Here\n", []),
        ("`[a](absent.md)`\n\n```sh\n[b](absent.md)\n```\n", []),
        ("[a](absent.md)", ["absent.md"]),
        ("![a](absent.png)", ["absent.png"]),
        ("[a](other.md#absent)", ["other.md#absent"]),
        ("[a](other.md#in-code)", ["other.md#in-code"]),
        ("[a](#absent)", ["#absent"]),
        ("[a](folder/#absent)", ["folder/#absent"]),
        ("[a](picture.png#absent)", ["picture.png#absent"]),
        ("[a](../outside.md)", ["../outside.md"]),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, text: str, broken: list[str]) -> None:
    """The check itself: files, pictures and headings that are not there, and files outside the repo."""
    root = tmp_path / "repo"
    (root / "folder").mkdir(parents=True)
    (root / "other.md").write_text("# A heading\n\n## `Two` words!\n\n# A heading\n\n```sh\n# in code\n```\n")
    (root / "picture.png").touch()
    (tmp_path / "outside.md").touch()
    (root / "document.md").write_text(text)
    assert broken_links(root / "document.md", root) == broken


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("```sh\nmemosite build -o out && echo done   # a comment\n~/bin/memosite watch feed --once | cat\n```\n", 0),
        ("`memosite build [SITE] [-o DIR]`, `memosite COMMAND --help`, `memosite --version`, `memosite-check`", 0),
        ("```yaml\nmemosite: paint\n```\n", 0),
        ("```sh\nmemosite paint\n```\n", 1),
        ("```sh\ncd x && memosite build --colour red\n```\n", 1),
        ("```sh\nmemosite build --prof\n```\n", 1),
        ("```sh\nmemosite export --format pdf > file\n```\n", 1),
        ("```sh\nmemosite diff\n```\n", 1),
        ("Run `memosite paint`, or `memosite build --colour`.", 2),
    ],
)
def test_a_command_that_memosite_lacks_is_found(text: str, count: int) -> None:
    """The check itself: commands, options and values that the parser refuses."""
    assert len(unknown_commands(text)) == count
