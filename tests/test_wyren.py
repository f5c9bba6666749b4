"""wyren: each case is read as expected, and whatever bytes a memory holds give a result."""

import json
import re
from collections import Counter
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
from memosite.formats.wyren import SECTIONS
from memosite.formats.wyren.outline import OUTLINE_CHARS, read_outline
from memosite.formats.wyren.parse import read_tags
from tests.support.cases import check_promises
from tests.support.files import write_text
from tests.support.sites import build_site

PLACE = ".wyren/memory.md"
CALM = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(text: str, path: str = PLACE) -> Parsed:
    """Read a text as a file."""
    return adapters.parse(File(source="harbour", path=path, data=text.encode()))


def cards_of(parsed: Parsed) -> tuple[RecordCard, ...]:
    """The records of a file."""
    assert isinstance(parsed.fact, RecordFile)
    return parsed.fact.records


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("path", [PLACE, ".relay/memory.md", "yard/.wyren/memory.md"])
def test_one_known_section_makes_a_memory(section: str, path: str) -> None:
    """Any of them, in the folder of today or of before."""
    (card,) = cards_of(read(f"## {section}\n- Steel rope [session 7a2e, turn 1]\n", path))
    assert (card.type, card.title, card.sessions) == (section, "Steel rope", ("7a2e",))


def test_the_key_is_the_section_and_the_digest_of_the_text_without_tags() -> None:
    """SPEC 3: whatever becomes of tags, order and line; a fence around the whole changes no record but its line."""
    (card,) = cards_of(read("## Rejected paths\n- Hemp rope: rots [session 7a2e, turn 12]\n"))
    assert card.key == f"rejected-paths.{short_hash('Hemp rope: rots')}"
    moved = cards_of(
        read("## Decisions\n- Other\n\n## Rejected paths\n- Hemp rope: rots [session 7a2e, turn 12; updated b, turn 2]")
    )
    assert moved[1].key == card.key
    (card,) = cards_of(read("## Decisions\n- Steel rope [session current]\n"))
    assert (card.title, card.fields) == ("Steel rope", (("Session", "current"),))
    assert card.key == f"decisions.{short_hash('Steel rope [session current]')}"
    plain = "## Decisions\n- Steel rope [session 7a2e, turn 1]\n- Green paint\n"
    fenced = read(f"```markdown\n{plain}```\n")
    assert [finding.rule.id for finding in fenced.findings] == ["wyren-fenced"]
    assert fenced.findings[0].severity is Severity.NOTE
    assert [(card.key, card.title) for card in cards_of(fenced)] == [
        (card.key, card.title) for card in cards_of(read(plain))
    ]
    assert [card.line for card in cards_of(fenced)] == [3, 4]
    text = "## Handoff notes\n- [2026-05-04T08:00:00Z] Crane 12 waits.\n\nFree words\n- and a list\n"
    stamped, rest = cards_of(read(text))
    assert stamped.created is not None
    assert (stamped.created.utc, stamped.title) == ("2026-05-04T08:00:00Z", "Crane 12 waits.")
    assert rest.created is None
    assert rest.line == 4


def test_what_wyren_forbids_is_told_at_its_line() -> None:
    """Thirty lines a section, sixty in all, no code; blank lines at the end do not count, and much is one fault."""
    bullets = "".join(f"- Rope {number}\n" for number in range(31))
    parsed = read(f"## Decisions\n{bullets}## Scope changes\n{bullets}\n```\ncode\n```\n")
    assert {finding.severity for finding in parsed.findings} == {Severity.WARNING}
    told = [(finding.rule.id, finding.location.line) for finding in parsed.findings]
    assert told == [("wyren-long", 61), ("wyren-section-long", 1), ("wyren-section-long", 33), ("wyren-code", 66)]
    bullets = "".join(f"- Rope {number}\n" for number in range(29))
    assert read(f"## Decisions\n{bullets}## Scope changes\n{bullets}\n\n\n\n").findings == ()
    assert len(read("## Decisions\n" + "```\nx\n```\n" * 1_000).findings) == FINDINGS
    parsed = read("## Decisions\n" + f"- {'x' * 97}\n" * 5_000)
    assert [finding.rule.id for finding in parsed.findings] == ["wyren-long", "wyren-section-long", "file-bounded"]
    assert len(cards_of(parsed)) == OUTLINE_CHARS // 100 - 1


def test_comments_and_placeholders_are_no_records() -> None:
    """Neither bullets in comments nor comments in bullets; their keys count, so that published ones stay."""
    text = "## Decisions\n<!-- newest last -->\n- Steel <!-- ask Ada --> rope\n<!--\n- Hemp\n## Lore\n-->\n"
    text += "- (none yet)\n- Keep `<!-- more -->`\n- <fact> [session <id>, turn <n>]\n- No decisions so far.\n"
    text += "- No night work\n- a <!-- b\n"
    assert [(card.section, card.title) for card in cards_of(read(text))] == [
        ("Decisions", "Steel rope"), ("Decisions", "Keep <!-- more -->"), ("Decisions", "No night work"),
        ("Decisions", "a <!-- b"),
    ]  # fmt: skip
    text = "## Decisions\n- (none)\n- Rope <!-- thin -->\n- Tar\n<!--\n- Rope\n-->\n- Rope [session 7a2e, turn 1]\n"
    digests = [short_hash(said) for said in ("Rope <!-- thin -->", "Tar\n<!--", "Rope")]
    assert [card.key for card in cards_of(read(text))] == [
        f"decisions.{digests[0]}", f"decisions.{digests[1]}", f"decisions.{digests[2]}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "section"),
    [
        *((said, "Decisions") for said in ("(none)", "_None yet._", "**none** so far", "n/a", "N/A", "—", "…", "...")),
        *((said, "Decisions") for said in ("TBD", "(empty)", "Nothing to report.", "[ ] TODO", "No entries yet")),
        *((said, "Decisions") for said in ("<fact>", "<file or area>: <what is meant> [session <id>, turn <n>]")),
        ("No open questions at this time [session 7a2e, turn 3]", "Open questions"),
        ("No changes", "Scope changes"),
        ("No rejected path", "Rejected paths"),
    ],
)
def test_what_only_says_that_there_is_none_is_a_placeholder(text: str, section: str) -> None:
    """As a bullet and as other text."""
    assert cards_of(read(f"## {section}\n- {text}\n- Rope\n"))[0].title == "Rope"
    assert cards_of(read(f"## {section}\n{text}\n")) == ()


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("No changes on the quay road", "Scope changes"),
        ("No changes", "Decisions"),
        ("None of the cranes may run at night", "Decisions"),
        ("`<seat>`", "Decisions"),
        ("<https://harbour.example/>", "Decisions"),
        ("Use <b>steel</b>", "Decisions"),
        ("todo.md is the list", "Decisions"),
        ("No", "Open questions"),
        ("[session 7a2e, turn 3]", "Decisions"),
        ("🎉", "Decisions"),
    ],
)
def test_what_says_something_is_an_entry(text: str, section: str) -> None:
    """However short."""
    found = cards_of(read(f"## Decisions\n- Rope\n## {section}\n- {text}\n"))
    assert len(found) == 2


def test_former_pages_of_comments_are_tombstones(tmp_path: Path) -> None:
    """What an earlier version published of a comment says that it was removed; no other address changes."""
    memory = tmp_path / "quay/.wyren/memory.md"
    write_text(memory, "## Decisions\n- Tar\n<!-- newest last -->\n\n- (none)\n- Rope [session current]\n")
    output = build_site(tmp_path)
    ids = [f"quay.decisions.{short_hash(said)}" for said in ("Tar\n<!-- newest last -->", "Rope [session current]")]
    former = [f"quay.decisions.{short_hash(said)}" for said in ("(none)", "<!-- newest last -->")]
    with (output / "archive/ledger.jsonl").open("a") as ledger:
        for number, id_ in enumerate(former, 3):
            line = {"v": 1, "n": number, "kind": "record", "id": id_, "key": f"{number:016}", "system": "wyren"}
            ledger.write(json.dumps(line) + "\n")
    build_site(tmp_path)
    pages = {id_: (output / f"records/wyren/{id_}/index.html").read_text() for id_ in (*ids, *former)}
    assert ["This item was removed" in pages[id_] for id_ in (*ids, *former)] == [False, False, True, True]
    assert all("newest last" not in page for page in pages.values())


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
        "<!--" * 47_000,
        "<!---->" * 27_000,
        "`<!--``" * 27_000,
        "- <!--\n" * 27_000,
    ],
    ids=[
        *("tags", "markers", "blanks", "nesting", "fences", "lines", "ticks", "tabs", "rule", "heading", "stamps"),
        *("opened", "comments", "code-or-comment", "bullets-opened"),
    ],
)
def test_hostile_memories_come_to_an_end(text: str) -> None:
    """Every pass is linear."""
    for section in ("Decisions", "Handoff notes"):
        parsed = read(f"## {section}\n{text}")
        check_promises(parsed, PLACE, f"## {section}\n{text}".encode())


PIECES = st.sampled_from(
    [
        *("## Decisions\n", "## Handoff notes\n", "### Sub\n", "# Title\n", "---\n", "_Last distilled: x_\n", "- a"),
        *("* b", "1. c", "2) d", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\r", "\u2028", "\0", "text", "```", "~~~~"),
        *("```js\n", "```markdown\n", "`", "[", "]", ";", " [session 7a2e, turn 1]", " [raised session x]"),
        *("[2026-05-04T08:00:00Z] ", " [session current]", "<!--", "-->", "<!-- c -->", "(none)", "<fact>"),
    ]
)


@CALM
@given(st.lists(PIECES, max_size=30).map("".join))
def test_no_word_of_a_section_is_dropped(text: str) -> None:
    """Bullets and other text alike: what stands in a section stands in a block, or is a heading."""
    outline = read_outline("## Decisions\n" + text, with_comments=True)
    found = "".join(block.text for section in outline.sections for block in section.blocks)
    for word in ("text", "7a2e", "2026-05-04T08:00:00Z"):
        assert found.count(word) == text.count(word)


@CALM
@given(st.lists(PIECES, max_size=30).map("".join))
@example("- a\n<!-- c -->\n- (none)\n- a")
def test_a_comment_takes_no_key_along(text: str) -> None:
    """What begins where something began when comments counted has the key of that; no two entries have one key."""
    text = "## Decisions\n" + text.replace("## Handoff notes", "## Weather").replace("\r", "")
    before: dict[int, str] = {}
    taken: Counter[str] = Counter()
    for section in read_outline(text, with_comments=True).sections:
        for block in section.blocks if section.name else ():
            slug = "-".join(re.findall(r"[a-z]+", section.name.lower())) or "section"
            key = f"{slug}.{short_hash(read_tags(block.text).keyed)}"
            taken[key] += 1
            before[block.line] = f"{key}-{taken[key]}" if taken[key] > 1 else key
    cards = cards_of(read(text))
    assert len({card.key for card in cards}) == len(cards)
    assert [card.key for card in cards if card.line in before and card.section != "Memory"] == [
        before[card.line] for card in cards if card.line in before and card.section != "Memory"
    ]
