"""wyren: each case is read as expected, and whatever bytes a memory holds give a result."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memosite.facts.file import File
from memosite.facts.findings import Severity
from memosite.facts.names import short_hash
from memosite.facts.parsed import Parsed, RecordCard, RecordFile
from memosite.formats import adapters
from memosite.formats.fields import FINDINGS
from memosite.formats.wyren import parse as wyren
from memosite.formats.wyren.outline import OUTLINE_CHARS, SECTIONS, read_outline
from tests.support.cases import CASES, check_case, check_promises, inputs_of, read_case

INPUTS = inputs_of("wyren")
PLACE = ".wyren/memory.md"
CALM = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(text: str, path: str = PLACE) -> Parsed:
    """Read a text as a file."""
    return adapters.parse(File(source="harbour", path=path, data=text.encode()))


def cards_of(parsed: Parsed) -> tuple[RecordCard, ...]:
    """The records of a file."""
    assert isinstance(parsed.fact, RecordFile)
    return parsed.fact.records


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_a_case_is_read_as_its_expectation_says(path: Path) -> None:
    """The records and the findings of each input are those written beside it."""
    check_case(path)


@pytest.mark.parametrize("name", ["elsewhere-without-tags", "no-known-section", "known-word-in-text-only"])
def test_a_memory_md_of_another_kind_is_no_wyren_memory(name: str) -> None:
    """The name alone says nothing, nor does a section that any file may have."""
    parsed, at = read_case(CASES / "wyren" / f"{name}.md")
    assert not wyren.matches(File(source="harbour", path=at, data=(CASES / "wyren" / f"{name}.md").read_bytes()))
    assert not isinstance(parsed.fact, RecordFile)


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("path", [PLACE, ".relay/memory.md", "yard/.wyren/memory.md"])
def test_one_known_section_makes_a_memory(section: str, path: str) -> None:
    """Any of them, in the folder of today or of before."""
    (card,) = cards_of(read(f"## {section}\n- Steel rope [session 7a2e, turn 1]\n", path))
    assert (card.type, card.title, card.sessions) == (section, "Steel rope", ("7a2e",))


def test_the_key_is_the_section_and_the_digest_of_the_text_without_tags() -> None:
    """SPEC 3: whatever becomes of tags, order and line, the record keeps its address."""
    (card,) = cards_of(read("## Rejected paths\n- Hemp rope: rots [session 7a2e, turn 12]\n"))
    assert card.key == f"rejected-paths.{short_hash('Hemp rope: rots')}"
    moved = cards_of(
        read("## Decisions\n- Other\n\n## Rejected paths\n- Hemp rope: rots [session 7a2e, turn 12; updated b, turn 2]")
    )
    assert moved[1].key == card.key


def test_a_fence_around_the_whole_changes_no_record_but_its_line() -> None:
    """The fence is no code; it is told in a note."""
    plain = "## Decisions\n- Steel rope [session 7a2e, turn 1]\n- Green paint\n"
    fenced = read(f"```markdown\n{plain}```\n")
    assert [finding.rule.id for finding in fenced.findings] == ["wyren-fenced"]
    assert fenced.findings[0].severity is Severity.NOTE
    assert [(card.key, card.title) for card in cards_of(fenced)] == [
        (card.key, card.title) for card in cards_of(read(plain))
    ]
    assert [card.line for card in cards_of(fenced)] == [3, 4]


def test_what_wyren_forbids_is_a_warning() -> None:
    """Thirty lines a section, sixty in all, no code: each told at its line."""
    bullets = "".join(f"- Rope {number}\n" for number in range(31))
    parsed = read(f"## Decisions\n{bullets}## Scope changes\n{bullets}\n```\ncode\n```\n")
    assert {finding.severity for finding in parsed.findings} == {Severity.WARNING}
    told = [(finding.rule.id, finding.location.line) for finding in parsed.findings]
    assert told == [("wyren-long", 61), ("wyren-section-long", 1), ("wyren-section-long", 33), ("wyren-code", 66)]


def test_a_memory_at_its_limits_has_no_finding() -> None:
    """Thirty lines and sixty are allowed; blank lines at the end do not count."""
    bullets = "".join(f"- Rope {number}\n" for number in range(29))
    assert read(f"## Decisions\n{bullets}## Scope changes\n{bullets}\n\n\n\n").findings == ()


def test_a_handoff_note_with_a_time_is_a_record_of_its_own_with_that_date() -> None:
    """What people write freely stays together."""
    text = "## Handoff notes\n- [2026-05-04T08:00:00Z] Crane 12 waits.\n\nFree words\n- and a list\n"
    stamped, rest = cards_of(read(text))
    assert stamped.created is not None
    assert (stamped.created.utc, stamped.title) == ("2026-05-04T08:00:00Z", "Crane 12 waits.")
    assert rest.created is None
    assert rest.line == 4


def test_a_memory_beyond_all_measure_is_read_up_to_a_bound() -> None:
    """It says so, and comes to an end."""
    parsed = read("## Decisions\n" + f"- {'x' * 97}\n" * 5_000)
    assert [finding.rule.id for finding in parsed.findings] == ["wyren-long", "wyren-section-long"]
    assert len(cards_of(parsed)) == OUTLINE_CHARS // 100 - 1


def test_a_thousand_pieces_of_code_are_a_bounded_list_of_findings() -> None:
    """One fault, many times."""
    assert len(read("## Decisions\n" + "```\nx\n```\n" * 1_000).findings) == FINDINGS


@pytest.mark.parametrize(
    "text",
    [
        "- [session " * 18_000,
        "- " * 90_000,
        "[session a" + " " * 180_000,
        "- a\n" + "".join(" " * depth + "- x\n" for depth in range(0, 1_200, 2)),
        "```\n" * 45_000,
        "\n" * 190_000,
        "`" * 190_000,
        "\t" * 190_000 + "x",
        "- " + "_" * 190_000,
        "# " + "?" * 190_000 + "x",
        "[2026" * 38_000,
    ],
    ids=["tags", "markers", "blanks", "nesting", "fences", "lines", "ticks", "tabs", "rule", "heading", "stamps"],
)
def test_hostile_memories_come_to_an_end(text: str) -> None:
    """Every pass is linear."""
    for section in ("Decisions", "Handoff notes"):
        parsed = read(f"## {section}\n{text}")
        check_promises(parsed, PLACE, f"## {section}\n{text}".encode())


PATHS = st.sampled_from(
    [PLACE, ".relay/memory.md", "docs/memory.md", ".wyren/broadcast/a.md", "x/.relay/broadcast/skills/a/SKILL.md"]
)
PIECES = st.sampled_from(
    [
        *("## Decisions\n", "## Handoff notes\n", "### Sub\n", "# Title\n", "---\n", "_Last distilled: x_\n"),
        *("- a", "* b", "1. c", "2) d", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\u2028", "\0", "text"),
        *("```", "~~~~", "```js\n", "```markdown\n", "`", "[", "]", ";"),
        *(" [session 7a2e, turn 1]", " [raised session x]", "[2026-05-04T08:00:00Z] "),
    ]
)


def check(path: str, data: bytes) -> Parsed:
    """Read a file twice, with this adapter and with all, and hold the outcome to what is promised."""
    outcome = adapters.parse(File(source="s", path=path, data=data))
    assert outcome == adapters.parse(File(source="s", path=path, data=data))
    check_promises(outcome, path, data)
    file = File(source="s", path=path, data=data)
    wyren.matches(file)
    check_promises(wyren.parse(file), path, data)
    return outcome


@CALM
@given(PATHS, st.binary(max_size=200))
@example(PLACE, b"\xef\xbb\xbf## Decisions\r- a")
@example(".wyren/broadcast/a.md", b"---\na: \xff\n---\n")
def test_any_bytes_never_raise(path: str, data: bytes) -> None:
    """Under any name."""
    check(path, data)


@CALM
@given(PATHS, st.lists(PIECES, max_size=30).map("".join))
@example(PLACE, "```\n## Decisions\n```\n```")
@example(PLACE, "## Decisions\n- a\n  ```\nb\n- c")
def test_any_memory_never_raises(path: str, text: str) -> None:
    """Made of what memories are made of, in any disorder."""
    check(path, ("## Decisions\n" + text).encode())


@CALM
@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_word_of_a_section_is_dropped(text: str) -> None:
    """Bullets and other text alike: what stands in a section stands in a block, or is a heading."""
    outline = read_outline("## Decisions\n" + text)
    found = "".join(block.text for section in outline.sections for block in section.blocks)
    for word in ("text", "7a2e", "2026-05-04T08:00:00Z"):
        assert found.count(word) == text.count(word)
