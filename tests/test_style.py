"""Holds the words of docs/style.md: on pages, in help texts, in findings, and in strings that become these."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import html

from memosite.commands.arguments import command_parsers, parser
from memosite.formats.systems import ALL_RULES

ROOT = Path(__file__).parent.parent

_ROW = re.compile(r"^\| (?P<first>[^|]+) \| (?P<second>[^|]+) \|(?: (?P<third>[^|]+) \|)?$", re.MULTILINE)
_ORDINARY = frozenset(
    (
        "answer", "box", "closed", "done", "double", "fault", "fold", "gone", "history", "laid", "message", "part",
        "place", "put", "receipt", "say", "talk", "tell", "the whole", "thing", "what is asked for",
    )
)  # fmt: skip
"""Words that style.md replaces in one meaning, and that have others."""
_WHEREABOUTS = r"(?:lies?|lying|stands?|standing) (?:in|on|at|under|below|beside|outside|there|here|twice|apart)"
_FOREIGN = re.compile("known broken state", re.IGNORECASE)
"""What a memory system calls a part of its files."""
_CONTENT = (
    "script", "style", "code", "pre", "*[@dir='auto']", "*[contains(@class, 'prose')]",
    "dl[@class='details']/dd", "nav[@class='neighbours']//a", "figure//a", "select[@data-by]",
)  # fmt: skip
"""What of a page is not said by memosite: texts of people, names of files, and what is shown as written."""


def _tables() -> tuple[list[str], list[str]]:
    """The words that a concept is not called by, and what is replaced, from docs/style.md."""
    concepts, _, replaced = (ROOT / "docs/style.md").read_text(encoding="utf-8").partition("## Replacements")
    words = [word for row in _ROW.finditer(concepts) if row["third"] for word in row["third"].split(", ")]
    phrases = [row["first"] for row in _ROW.finditer(replaced)]
    return words, phrases


def _banned() -> re.Pattern[str]:
    words, phrases = _tables()
    assert len(words) > 40 and len(phrases) > 55
    found = {re.escape(word) + "s?" for word in words if word not in _ORDINARY | {"Not"}}
    for phrase in phrases:
        pieces = re.split(r"…|\{\}|[;:.`]|\(memosite check\)", phrase)
        found |= {re.escape(piece.strip(" ,")) for piece in pieces if len(piece.strip(" ,")) > 12}
    return re.compile(
        rf"(?<![\w.`-])(?:{'|'.join(sorted(found, key=len, reverse=True))}|{_WHEREABOUTS})(?![\w`-])", re.IGNORECASE
    )


BANNED = _banned()


def faults(said: str) -> list[str]:
    """What of a text is not in the style."""
    line = " ".join(said.split())
    return [line[max(0, one.start() - 30) : one.end() + 30] for one in BANNED.finditer(line)]


def test_what_is_not_in_the_style_is_found_and_no_string_of_the_program_says_it() -> None:
    """Whole words and phrases, in both numbers; so that what the example does not show is held, too."""
    for said, count in [
        ("The seats; no ghost", 2),
        ("It lies in read/, and stands there twice.", 2),
        ("Every memo is told once. Skip to the text", 1),
        ("so every memo is told once.", 1),
        ("position, missing memo, is in read/, a lie, seating, ghosted", 0),
    ]:
        assert len(faults(said)) == count
    for strings in [_templates, _strings, _scripts]:
        assert not {place: found for place, said in strings() if (found := faults(said))}, strings


def test_no_page_says_it(example_site: Path) -> None:
    """Of all pages of the example, apart from what people wrote."""
    wrong = {}
    for path in sorted(example_site.rglob("*.html")):
        found = faults(_visible(path))
        if found:
            wrong[path.relative_to(example_site).as_posix()] = found
    assert not wrong


def _visible(path: Path) -> str:
    """The words of a page that are memosite's own, with labels that are only heard."""
    tree: Any = html.document_fromstring(path.read_bytes())
    said = [*tree.xpath("//@aria-label"), *tree.xpath("//button/@title")]
    for content in tree.xpath(" | ".join(f"//body//{one}" for one in _CONTENT)):
        tail = content.tail or ""
        content.clear(keep_tail=False)
        content.tail = f" {tail}"
    return " ".join(map(str, (*said, *tree.xpath("//body//text()"))))


def test_no_help_text_says_it_and_rules_say_a_problem_and_one_action() -> None:
    """Help texts begin with a verb or name a thing; a remedy has 12 words at most; both are sentences."""
    for command in (parser(), *command_parsers(parser()).values()):
        said = command.format_help()
        assert not faults(said), command.prog
        assert not re.search(r"\b(?:say|tell)s?\b", said), command.prog
    for rule in ALL_RULES:
        assert not faults(rule.meaning) and not faults(rule.remedy), rule.id
        assert rule.meaning.endswith(".") and rule.remedy.endswith(".") and len(rule.remedy.split()) <= 12, rule.id


def _templates() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "templates").glob("*.html")):
        text = re.sub(r"\{% block shape %\}.*?\{% endblock %\}", " ", path.read_text(encoding="utf-8"))
        text = re.sub(r"\{#.*?#\}|\{%.*?%\}|<[^>]*>", " ", text, flags=re.DOTALL)
        yield path.name, re.sub(r"\{\{.*?\}\}", lambda one: " ".join(re.findall(r'(?<!== )"([^"]*)"', one[0])), text)


def _strings() -> Iterator[tuple[str, str]]:
    """The strings of the program that hold words, without docstrings and names of other formats."""
    for path in sorted((ROOT / "memosite").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
        docs |= {id(one.slice) for one in ast.walk(tree) if isinstance(one, ast.Subscript)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or id(node) in docs:
                continue
            said = node.value
            if isinstance(said, str) and " " in said.strip() and not said.startswith("tuple["):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", _FOREIGN.sub("", said)


def _scripts() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "static").glob("*.js")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = re.sub(r"^\s*(?:/?\*|//).*|\s// .*|/\*\*? .*? \*/", "", line)
            yield f"{path.name}:{number}", " ".join(map("".join, re.findall(r'"([^"]* [^"]*)"|`([^`]* [^`]*)`', code)))
