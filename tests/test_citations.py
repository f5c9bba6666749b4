"""Every citation of the contract, such as "SPEC 2.2" or "FEEDS, window", leads to a section of docs/spec."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias

REPO = Path(__file__).parent.parent
SPEC = REPO / "docs" / "spec" / "memosite.md"
FEEDS = REPO / "docs" / "spec" / "feeds.md"
CITING = ("memosite", "tests", "benchmarks", "templates", "static", "docs", "scripts", "*.md", "demo", "test")
CONTRACT = {SPEC, FEEDS}
NOT_OURS = {"node_modules", "__pycache__"}

Section: TypeAlias = frozenset[frozenset[str]]

_NUMBER = r"\d+(?:\.\d+)?"
_TOPICS = r"[\w`:, -]+?"
_SPEC = re.compile(
    rf"\bSPEC (?P<numbers>{_NUMBER}(?:(?:, | and ){_NUMBER})*)"
    rf"(?:, (?P<topics>{_TOPICS})(?=[;)\"]|$)| \((?P<bracketed>{_TOPICS})\))?"
)
_FEEDS = re.compile(rf"\bFEEDS, (?P<topics>{_TOPICS})(?=[;)\"]|$)")
_STEP = re.compile(r"watch (\d+)")
_HEADING = re.compile(r"^(#+) (?:(\d+(?:\.\d+)?)\.? )?(.+)$", re.MULTILINE)
_NAME = re.compile(r"\*\*(.+?)\*\*|^([A-Z][\w ]+):$", re.MULTILINE)
_COMMANDS = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def words(text: str) -> frozenset[str]:
    """The words of a name, without the letter that makes a plural."""
    return frozenset(word.rstrip("s") for word in re.findall(r"\w+", text.lower()))


def section(text: str) -> Section:
    """What a stretch of the contract is about: its headings, bold terms, introductory lines and commands, as words."""
    names = [match[3] for match in _HEADING.finditer(text)]
    names += [match[1] or match[2] for match in _NAME.finditer(text)]
    listings = (match[1] for match in _COMMANDS.finditer(text))
    names += [line.split()[0] for listing in listings for line in listing.splitlines() if line[:1].strip()]
    return frozenset(map(words, names))


def is_about(section: Section, topic: str) -> bool:
    """Whether all words of a topic stand in one of the names."""
    wanted = words(topic)
    return bool(wanted) and any(wanted <= name for name in section)


@cache
def sections() -> dict[str, Section]:
    """The numbered sections of the main contract; each reaches to the next one that is not below it."""
    text = SPEC.read_text()
    headings = [match for match in _HEADING.finditer(text) if match[2]]
    found = {}
    for place, heading in enumerate(headings):
        following = (other.start() for other in headings[place + 1 :] if len(other[1]) <= len(heading[1]))
        found[heading[2]] = section(text[heading.start() : next(following, len(text))])
    return found


@cache
def feeds() -> Section:
    """The contract of feeds, as one section."""
    return section(FEEDS.read_text())


@cache
def steps() -> int:
    """How many steps a watch goes through."""
    listed = FEEDS.read_text().partition("### Steps\n")[2].partition("\n### ")[0]
    return len(re.findall(r"^\d+\. ", listed, re.MULTILINE))


def problems(text: str) -> Iterator[str]:
    """What is wrong with the citations of a text."""
    flat = re.sub(r"\s+", " ", text)
    for match in _SPEC.finditer(flat):
        numbers = re.findall(_NUMBER, match["numbers"])
        unknown = [number for number in numbers if number not in sections()]
        yield from (f"{match[0]}: there is no section {number}" for number in unknown)
        cited = [sections()[number] for number in numbers if number not in unknown]
        for topic in topics(match["topics"] or match["bracketed"]) if cited else ():
            if not any(is_about(one, topic) for one in cited):
                yield f"{match[0]}: the section has no heading or bold term {topic!r}"
    for match in _FEEDS.finditer(flat):
        for topic in topics(match["topics"]):
            step = _STEP.fullmatch(topic)
            if not 1 <= int(step[1]) <= steps() if step else not is_about(feeds(), topic):
                yield f"{match[0]}: there is no heading, bold term or step {topic!r}"


def topics(written: str | None) -> list[str]:
    """The topics that a citation names besides a number."""
    return re.split(r", | and ", written) if written else []


def texts(file: Path) -> Iterator[str]:
    """What of a file may cite: of a program its strings and comments, of any other file all of it."""
    try:
        text = file.read_bytes().decode()
    except UnicodeDecodeError:
        return
    if file.suffix != ".py":
        yield text
        return
    if not re.search("SPEC|FEEDS", text):  # most programs; to parse each takes long
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    comments = (
        token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT
    )
    yield "\n".join(token.string.lstrip("# ") for token in comments)


def citing() -> list[Path]:
    """Every file of the project that may cite the contract."""
    found = [path for name in CITING for path in REPO.glob(name)]
    files = [file for path in found for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    return sorted(file for file in set(files) - CONTRACT if NOT_OURS.isdisjoint(file.parts))


def test_every_citation_resolves() -> None:
    """In code, tests, findings, templates and documentation."""
    found = [(file.relative_to(REPO).as_posix(), text) for file in citing() for text in texts(file)]
    wrong = [f"{name}: {problem}" for name, text in found for problem in problems(text)]
    assert wrong == []
    cited = [match for _, text in found for match in _SPEC.finditer(re.sub(r"\s+", " ", text))]
    assert len(cited) > 200
    assert len([match for match in cited if match["topics"] or match["bracketed"]]) > 50


RIGHT = (
    *(" 2.2", " 2.2, 9", " 1, 3, 4 and 10", " 2.2, memory-store; another document, 17)"),
    *(" 3, identity\n    and copies)", " 3 (dates)", " 8, check)", " 8, in its order. What follows is no topic"),
    " 3 lets a memo write them",
)
"""One or several sections, with what of them is meant, also over several lines."""
OF_FEEDS = ("window)", "`memosite watch`)", "watch 5)", "content:encoded)", "which feeds and item)")
"""They have no numbers."""
WRONG = (
    f"({'SPEC'} 11)", f"({'SPEC'} 2.2 and 2.4)", f"see {'SPEC'} 0", f"({'SPEC'} 3, melodies)",
    f"({'SPEC'} 3, identity and melodies)", f"{'SPEC'} 2.2 (melodies)",
    f"another document, 17; {'SPEC'} 2.2, positions", f"({'FEEDS'}, melodies)", f"({'FEEDS'}, watch 6)",
)  # fmt: skip


def test_wrong_citations_are_found_in_strings_and_comments(tmp_path: Path) -> None:
    """And no right one: else the test above would prove nothing. The contract refers to sections that it has."""
    # Of a program: names such as a constant FEEDS are no citations.
    for text in (*(f"({'SPEC'}{cited}" for cited in RIGHT), *(f"({'FEEDS'}, {cited}" for cited in OF_FEEDS)):
        assert list(problems(text)) == [], text
    assert [planted for planted in WRONG if not list(problems(planted))] == []
    own = set(re.findall(rf"(?:section|see) ({_NUMBER})\b", SPEC.read_text()))
    assert own and own <= sections().keys()
    program = tmp_path / "program.py"
    program.write_text(f'X = f"{{X}}; {"SPEC"} 91"\nFEEDS, melodies = 1, 2\n# as {"SPEC"}\n# 92 says\n')
    found = [problem for text in texts(program) for problem in problems(text)]
    assert found == [f"{'SPEC'} 91: there is no section 91", f"{'SPEC'} 92: there is no section 92"]
