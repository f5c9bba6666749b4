"""Formats of records (wyren, MIF, memory layers) and their YAML: what is read, what is told; spite comes to an end."""

import json
import re
from collections import Counter
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memosite.facts.file import File
from memosite.facts.findings import Rule, Severity
from memosite.facts.names import short_hash
from memosite.facts.parsed import DocumentHead, Parsed, RecordCard, RecordFile, Relation
from memosite.facts.times import read_moment
from memosite.formats import adapters
from memosite.formats.fields import FINDINGS
from memosite.formats.memory_layer import LayerPlace, layer_place
from memosite.formats.mif import INVERSE
from memosite.formats.mif import parse as mif
from memosite.formats.mif.fields import LINKS, after, predicate_of, read_target, show_moment
from memosite.formats.mif.fields import read_body as read_links
from memosite.formats.systems import begins_as_record
from memosite.formats.wyren import SECTIONS
from memosite.formats.wyren.outline import OUTLINE_CHARS, read_outline
from memosite.formats.wyren.parse import read_tags
from memosite.formats.yaml_text import INVALID, NODES, REPEATED, YAML_CHARS, YAML_DEPTH, read_yaml, split_head
from memosite.markdown.tokens import read_body
from tests.support.cases import card_of, check_promises
from tests.support.files import write_text
from tests.support.sites import build_site

PLACE = ".wyren/memory.md"
CALM = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


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


def test_the_key_is_the_section_and_the_digest_of_the_text_and_what_wyren_forbids_is_told() -> None:
    """SPEC 3: whatever becomes of tags, order, line and fence; thirty lines a section, sixty in all, no code."""
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
    bullets = "".join(f"- Rope {number}\n" for number in range(31))
    parsed = read(f"## Decisions\n{bullets}## Scope changes\n{bullets}\n```\ncode\n```\n")
    assert {finding.severity for finding in parsed.findings} == {Severity.WARNING}
    told = [(finding.rule.id, finding.location.line) for finding in parsed.findings]
    assert told == [("wyren-long", 61), ("wyren-section-long", 1), ("wyren-section-long", 33), ("wyren-code", 66)]
    for name, shown in (("R" * 60, "R" * 60), ("R" * 61, "R" * 59 + "…")):
        long, _ = read(f"## {name}\n{bullets}## Scope changes\n{bullets}").findings[-2:]
        assert long.message.startswith(f'"{shown}" has ')
    bullets = "".join(f"- Rope {number}\n" for number in range(29))
    assert read(f"## Decisions\n{bullets}## Scope changes\n{bullets}\n\n\n\n").findings == ()
    assert len(read("## Decisions\n" + "```\nx\n```\n" * 1_000).findings) == FINDINGS
    parsed = read("## Decisions\n" + f"- {'x' * 97}\n" * 5_000)
    assert [finding.rule.id for finding in parsed.findings] == ["wyren-long", "wyren-section-long", "file-bounded"]
    assert len(cards_of(parsed)) == OUTLINE_CHARS // 100 - 1


def test_comments_and_placeholders_are_no_records() -> None:
    """Their keys count, so that published ones stay; what says something, however short, is an entry."""
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
    for text, section in [
        *((said, "Decisions") for said in ("(none)", "_None yet._", "**none** so far", "n/a", "N/A", "—", "…", "...")),
        *((said, "Decisions") for said in ("TBD", "(empty)", "Nothing to report.", "[ ] TODO", "No entries yet")),
        *((said, "Decisions") for said in ("<fact>", "<file or area>: <what is meant> [session <id>, turn <n>]")),
        ("No open questions at this time [session 7a2e, turn 3]", "Open questions"),
        ("No changes", "Scope changes"),
        ("No rejected path", "Rejected paths"),
    ]:
        assert cards_of(read(f"## {section}\n- {text}\n- Rope\n"))[0].title == "Rope"
        assert cards_of(read(f"## {section}\n{text}\n")) == ()
    for text, section in [
        *(("No changes on the quay road", "Scope changes"), ("No changes", "Decisions")),
        *(("None of the cranes may run at night", "Decisions"), ("`<seat>`", "Decisions")),
        *(("<https://harbour.example/>", "Decisions"), ("Use <b>steel</b>", "Decisions")),
        *(("todo.md is the list", "Decisions"), ("No", "Open questions"), ("[session 7a2e, turn 3]", "Decisions")),
        ("🎉", "Decisions"),
    ]:
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


HOSTILE = ("- [session ", "- ", "```\n", "\n", "`", "[2026", "<!--", "<!---->", "`<!--``")


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
@example("- a\n<!-- c -->\n- (none)\n- a")
def test_no_word_of_a_section_is_dropped_and_a_comment_takes_no_key_along(text: str) -> None:
    """What stands in a section stands in a block; what begins where something began has its key, and none has two."""
    outline = read_outline("## Decisions\n" + text, with_comments=True)
    found = "".join(block.text for section in outline.sections for block in section.blocks)
    for word in ("text", "7a2e", "2026-05-04T08:00:00Z"):
        assert found.count(word) == text.count(word)
    text = "## Decisions\n" + text.replace("## Handoff notes", "## Weather").replace("\r", "")
    before: dict[int, str] = {}
    taken: Counter[str] = Counter()
    for section in read_outline(text, with_comments=True).sections:
        for block in section.blocks if section.name else ():
            slug = "-".join(re.findall(r"[a-z]+", section.name.lower())) or "section"
            key = f"{slug}.{short_hash(read_tags(block.text).keyed or block.text)}"
            taken[key] += 1
            before[block.line] = f"{key}-{taken[key]}" if taken[key] > 1 else key
    cards = cards_of(read(text))
    assert len({card.key for card in cards}) == len(cards)
    assert [card.key for card in cards if card.line in before and card.section != "Memory"] == [
        before[card.line] for card in cards if card.line in before and card.section != "Memory"
    ]


EARLY = """\
id: 0b7c1f5e-2a44-4c19-9d3e-5f60718293a4
type: semantic
namespace: learnings/project
created: 2026-02-03T08:15:00Z
title: Quay
"""
LATE = "id: 0b7c1f5e-2a44-5c19-9d3e-5f60718293a4\ntype: semantic\ncreated: 2026-02-03T08:15:00Z\n"


def read_mif(fields: str, body: str = "", path: str = "memories/quay.memory.md") -> Parsed:
    """Read a record with this frontmatter."""
    return adapters.parse(File(source="harbour", path=path, data=f"---\n{fields}---\n{body}".encode()))


def rows_of(parsed: Parsed) -> dict[str, str]:
    """What is shown of a record, by label."""
    return dict(card_of(parsed).fields)


def test_a_rule_is_told_at_the_line_of_its_field_and_not_asked_of_another_version() -> None:
    """As the validation rules of 0.1 have it; a citation's checks hold wherever there is one."""
    for line, rule in [
        ("id: x1", "mif-id"), ("id: 0B7C1F5E-2A44-4C19-9D3E-5F60718293A4", "mif-id"),
        ("id: 0b7c1f5e-2a44-1c19-9d3e-5f60718293a4", "mif-id"), ("type: fact", "mif-type"), ("type:", "mif-type"),
        ("namespace: learnings", "mif-namespace"), ("namespace: learnings/", "mif-namespace"),
        ("created: 2026-02-31", "mif-created"), ("created: null", "mif-created"), ('title: "  "', "mif-title"),
        ("citations: [{type: book, title: A, url: https://a.example.org}]", "mif-citation"),
        ("citations: [{type: blog, title: '', url: https://a.example.org}]", "mif-citation"),
        ("citations: [{type: blog, title: A, url: a.example.org}]", "mif-citation"),
        ("citations: [{type: blog, title: A, url: 'https://'}]", "mif-citation"),
        ("confidence: 1.01", "mif-confidence"), ("provenance: {confidence: high}", "mif-confidence"),
        ("temporal: {valid_from: 2026-02-02, recorded_at: 2026-02-01}", "mif-valid-from"),
        ("tags: [Quay]", "mif-tag"), ("tags: [two words]", "mif-tag"),
        ("code_refs: [{file: /src/quay.py}]", "mif-code-path"),
        ("code_refs: [{file: 'file:///src/quay.py'}]", "mif-code-path"),
        ("citations: [{type: blog, title: A, url: https://a.example.org, relevance: -0.1}]", "mif-citation-detail"),
        ("citations: [{type: blog, title: A, url: https://a.example.org, date: 2026-02}]", "mif-citation-detail"),
        ("citations: [{type: blog, title: A, url: https://a.example.org, accessed: noon}]", "mif-citation-detail"),
    ]:  # fmt: skip
        name = line.partition(":")[0]
        kept = [one for one in EARLY.splitlines() if not one.startswith(f"{name}:")]
        (finding,) = read_mif("\n".join([*kept, line]) + "\n").findings
        assert finding.rule.id == rule
        assert finding.location.line == len(kept) + 2 or (finding.location.line is None and f"{name}:" in EARLY)
    for line in [
        *("", "namespace: _semantic", "namespace: github-sdlc/docs/lights", "tags: [Two Words, area/north]"),
        "temporal: {validFrom: 2026-03-01T00:00:00Z, recordedAt: 2026-02-01T00:00:00Z}",
        "citations: [{citationType: 'port:log', citationRole: source, title: A, url: 'urn:example:log'}]",
        "provenance: {sourceType: user_explicit}",
    ]:
        parsed = read_mif(f"{LATE}{line}\n", path="docs/quay.md")
        assert parsed.findings == ()
        assert card_of(parsed).title == "quay"


def test_validity_is_told_as_of_the_records_own_dates_in_the_writers_calendar() -> None:
    """No clock is asked: the same record says the same for ever."""
    for fields, shown in [
        ("valid_from: 2026-01-24", "from 2026-01-24"),
        ("valid_from: 2026-01-24, valid_until: null", "from 2026-01-24, no end"),
        ("valid_from: '2026-01-24T14:30:00-04:00'", "from 2026-01-24 14:30 -04:00"),
        ("valid_until: 2026-04-24", "until 2026-04-24"),
        ("valid_from: 2026-01-24, valid_until: 2026-04-24", "2026-01-24 to 2026-04-24"),
        ("ttl: P1D", "until 2026-02-04 (ttl P1D from created)"),
        (
            "valid_from: 2026-01-24, recorded_at: '2026-01-24T10:30:00Z', ttl: P90D",
            "2026-01-24 to 2026-04-24 (ttl P90D from recorded_at)",
        ),
        (
            "valid_until: 2026-03-01, recorded_at: '2026-01-24T10:30:00Z', ttl: P90D",
            "until 2026-03-01; ttl P90D from recorded_at ends 2026-04-24",
        ),
        ("recorded_at: '2026-01-24T10:30:00Z', ttl: PT2H", "until 2026-01-24 12:30 UTC (ttl PT2H from recorded_at)"),
        ("valid_from: 2026-01-24, ttl: P999999Y", "from 2026-01-24; ttl P999999Y"),
    ]:
        assert rows_of(read_mif(f"{EARLY}temporal: {{{fields}}}\n"))["Valid"] == shown
    for start, duration, end in [
        ("2026-01-31", "P1M", "2026-02-28"),
        ("2024-02-29", "P1Y", "2025-02-28"),
        ("2026-01-24T22:00:00-04:00", "P1D", "2026-01-25 22:00 -04:00"),
        ("2026-01-24", "P1Y2M1W3DT4H5M6S", "2027-04-03 04:05"),
        ("2026-01-24", "P0.5D", "2026-01-24 12:00"),
        *(
            ("2026-01-24", text, None)
            for text in ("", "P", "PT", "90D", "P1D2M", "P-1D", "p1d", "P99999999999D", "P999999Y")
        ),
    ]:
        moment = read_moment(start)
        assert moment is not None
        later = after(moment, duration)
        assert (later and show_moment(later)) == end


def test_an_inverse_leads_back_and_nothing_of_the_frontmatter_is_lost() -> None:
    """Each name is its inverse's inverse; the key is the id or the file's name, and decay is as of the last date."""
    # MIF 1.0 derives the stored name from the shown one. Brackets, the shown text, a heading.
    assert all(INVERSE[inverse] == name for name, inverse in INVERSE.items())
    assert all(predicate_of(name) == name for name in INVERSE)
    assert INVERSE["relates-to"] == "relates-to"
    assert INVERSE["blocked-by"] == "blocks"
    fields = f"{LATE}relationships:\n- {{type: uses, target: /a.md}}\n- {{type: Supersedes, target: /b.md}}\n"
    body = "## Relationships\n- supersedes [B](/b.md)\n- uses [A](/a.md)\n- uses [C](/c.md)\n"
    assert card_of(read_mif(fields, body, "docs/quay.md")).relations == (
        Relation(predicate="uses", target="/a.md", label="A"),
        Relation(predicate="supersedes", target="/b.md", label="B"),
        Relation(predicate="uses", target="/c.md", label="C"),
    )
    for name in ["RelatesTo", "relatesTo", "relates_to", "relates-to", " relates  to ", "RELATES_TO"]:
        assert predicate_of(name) == "relates-to"
    assert predicate_of("farm:BreedsWith") == "farm:breeds-with"
    for text in ["light", "[[light]]", "[[light|The light]]", "[[light#north]]", "light#^block"]:
        assert read_target(text) == "light"
    card = card_of(read_mif(f"{EARLY}draught: 2.10\nprovenance: {{agent: a, mood: on}}\nlist: [1, [2, {{x: null}}]]\n"))
    assert '"draught": "2.10"' in card.extra
    assert '"mood": "on"' in card.extra
    assert '"agent"' not in card.extra
    assert '"2"' in card.extra
    assert card_of(read_mif(LATE, path="docs/quay.md")).key == "0b7c1f5e-2a44-5c19-9d3e-5f60718293a4"
    assert card_of(read_mif(LATE.replace("id: ", "id: urn:mif:"), path="docs/quay.md")).key.startswith("0b7c1f5e")
    assert card_of(read_mif("type: semantic\nnamespace: a/b\n")).key == "quay"
    assert not mif.matches(File(source="harbour", path="memos/inbox/x.body.md", data=f"---\n{LATE}---".encode()))
    decay = "decay: {model: step, half_life: P7D, strength: 0.4}"
    rows = rows_of(
        read_mif(f"{EARLY}modified: 2026-02-05T00:00:00Z\ntemporal: {{last_accessed: 2026-02-04, {decay}}}\n")
    )
    assert rows["Decay"] == "step, half-life P7D, strength 0.4 as of 2026-02-05"
    assert rows_of(read_mif(f"{EARLY}decay: {{model: none}}\n"))["Decay"] == "none"
    links = read_links("".join(f"- uses [[a{number}]] @[[b{number}]], see [[c{number}]]\n" for number in range(10_000)))
    assert [len(found) for found in (links.relations, links.entities, links.mentions)] == [LINKS] * 3


def test_a_file_that_is_almost_a_record_is_one_and_its_finding_is_true() -> None:
    """Whatever stands before the fields or is wrong with their spelling: nothing is dropped, no field said to miss."""
    for text, rule, is_read in (
        (f"\n---\n{EARLY}---\nRope.\n", "frontmatter-late 2", True),
        (f"\ufeff \n\t\n---\n{EARLY}---\nRope.\n".replace("\n", "\r\n"), "frontmatter-late 3", True),
        (f"---  \n{EARLY}---\t\nRope.\n", "", True),
        (f"---\n{indent(EARLY, '  ')}---\nRope.\n", "", True),
        (f"---\n{EARLY.replace('id', 'ID')}---\nRope.\n", "mif-field 2", True),
        (f"\n---\n{EARLY}\nRope.\n", "frontmatter-invalid 2", True),
        (f"---\n{EARLY.replace('semantic', 'Semantic')}---\nRope.\n", "mif-type 3", True),
        (f"---\n{EARLY.replace('id: ', 'id:')}---\nRope.\n", "frontmatter-invalid 2", False),
        (f"{EARLY}\nRope.\n", "frontmatter-late 1", False),
        (f"# Quay\n\n---\n{EARLY}---\nRope.\n", "frontmatter-late 1", False),
        (f"```yaml\n{EARLY}```\nRope.\n", "frontmatter-late 1", False),
        (f"  ---\n{EARLY}---\nRope.\n", "frontmatter-late 1", False),
        (f"+++\n{EARLY}+++\nRope.\n", "frontmatter-late 1", False),
    ):
        parsed = read(text, "memories/quay.memory.md")
        found = [f"{one.rule.id} {one.location.line}" for one in parsed.findings]
        assert (rule in found) if rule else not found, (text, found)
        assert not any("missing" in one.message for one in parsed.findings), parsed.findings
        card = card_of(parsed)
        shown = f"{card} {parsed.shelve[-1].decode()}"
        assert "Rope." in shown and "Quay" in shown, text
        assert "0b7c1f5e-2a44-4c19-9d3e-5f60718293a4" in shown or rule.startswith("frontmatter"), text
        assert (card.key == "0b7c1f5e-2a44-4c19-9d3e-5f60718293a4") is is_read, text
    wide = File(source="harbour", path="quay.memory.md", data=f"---\n{EARLY}---\n".encode("utf-16"))
    assert {one.rule.id for one in adapters.parse(wide).findings} == {"utf8-invalid", "frontmatter-late"}
    assert card_of(adapters.parse(wide)).type == "untyped"
    late = read("\n\n---\ntitle: The quay\nstatus: accepted\n---\n# Rope\n", "decisions/quay.md")
    assert isinstance(late.fact, DocumentHead) and (late.fact.title, late.fact.status) == ("The quay", "accepted")
    assert [(one.rule.id, one.location.line) for one in late.findings] == [("frontmatter-late", 3)]
    line = read("\n---\nA line above and one below.\n---\n", "decisions/quay.md")
    assert line.shelve[-1].startswith(b"\n---\nA line") and not line.findings
    for text in (f"\n---\n{LATE}---\nRope.\n", f"---\n{LATE.replace('type', 'Type')}---\nRope.\n"):
        assert begins_as_record(text.encode()) and card_of(read(text, "docs/quay.md")).type == "semantic"


def test_hostile_memories_lines_and_fields_come_to_an_end() -> None:
    """Every pass is linear: links that are never closed, code that is none, white space; one fault many times."""
    for text in [
        *(piece * (190_000 // len(piece)) for piece in HOSTILE),
        *(
            before + piece * 180_000 + "x"
            for before, piece in (("[session a", " "), ("", "\t"), ("- ", "_"), ("# ", "?"))
        ),
        "- a\n" + "".join(" " * depth + "- x\n" for depth in range(0, 1_200, 2)),
        "- <!--\n" * 9_000,
    ]:
        for section in ("Decisions", "Handoff notes"):
            parsed = read(f"## {section}\n{text}")
            check_promises(parsed, PLACE, f"## {section}\n{text}".encode())
    for line in ["- uses [" * 20_000, "[[" * 100_000, "`" * 200_000 + "[", "- uses [[a]]" + " " * 200_000 + "x [[b]]"]:
        assert len(read_links(line).relations) <= 1
    for fields in [
        "tags:\n" + "- A B\n" * 4_000,
        "citations:\n" + "- {type: x}\n" * 1_000,
        "conflicts:\n" + "- {a: b}\n" * 1_500,
    ]:
        assert len(read_mif(EARLY + fields).findings) == FINDINGS


FOLDER = ".claude/memory/decisions/"
META = {"created": "2026-05-04T08:12:30Z", "category": "decisions", "summary": "rope"}


def read_layer(values: Any, path: str = FOLDER + "rope.json") -> Parsed:
    """Read an object as a file."""
    return adapters.parse(File(source="harbour", path=path, data=json.dumps(values).encode()))


def text_of(parsed: Parsed) -> str:
    """The text of the one record of a file."""
    return parsed.shelve[1].decode()


def test_the_folder_tells_place_and_key_of_a_file_of_a_memory_layer_whose_content_is_bounded() -> None:
    """Two files never get one key; a broken field names its clause; nobody reads a thousand headings."""
    parsed = read_layer({"meta": META, "content": 1}, ".claude/memory/handoffs/rope.json")
    assert [(finding.rule.id, finding.severity) for finding in parsed.findings] == [
        ("memory-layer-folder", Severity.WARNING)
    ]
    assert (card_of(parsed).key, card_of(parsed).type) == ("handoffs.rope", "decisions")
    data = b'{"meta": {"category": "context", "summary": 7, "created": "soon"}, "content": {}}'
    parsed = adapters.parse(File(source="harbour", path=".claude/memory/context/a.json", data=data))
    assert {one.rule.id for one in parsed.findings} == {"field-type", "date-invalid"}
    assert {one.clause.partition(",")[0] for one in parsed.findings} == {"memory-layer format"}
    for path, place in [
        (".claude/memory/context/x.json", LayerPlace(category="context", is_archived=False)),
        ("a/b/.plan/memory/archive/handoffs/x.json", LayerPlace(category="handoffs", is_archived=True)),
        (".cui/memory/interfaces/x.json", LayerPlace(category="interfaces", is_archived=False)),
        # The root, `memory` and the category must all be there
        *((path, None) for path in ("x.json", "memory/context/x.json", ".claude/context/x.json")),
        *((f".claude/memory/{path}", None) for path in ("x.json", "lessons/x.json", "context/deeper/x.json")),
        *((path, None) for path in (".claude/memory/archive/x.json", ".other/memory/context/x.json")),
    ]:
        assert layer_place(path) == place
    for name in ["x", "archive/x"]:
        text = text_of(
            read_layer({"meta": META, "content": {"decision": f"{name}\n~~~\ncode", "rationale": "because"}})
        )
        assert [heading.text for heading in read_body(text).headings] == ["Decision", "Rationale"]
    content = {f"k{number}": number for number in range(5_000)}
    text = text_of(read_layer({"meta": META, "content": content}))
    assert text.count("\n## ") < 250
    assert '"k4999": 4999' in text
    text = text_of(read_layer({"meta": META, "content": list(range(5_000))}))
    assert "4999" in text
    assert "- 4999" not in text
    value: Any = list(range(2_000))
    for _ in range(90):
        value = [value]
    text = text_of(read_layer({"meta": META, "content": {"tree": value}}))
    assert len(text) < 2 * len(json.dumps(value))
    text = text_of(read_layer({"meta": META, "content": {"types": {"a": "`" * 50}, "events": ["b"]}}))
    assert [heading.text for heading in read_body(text).headings] == ["Types", "Events"]
    keys = ["zebra", "constraints", "rationale", "decision"]
    text = text_of(read_layer({"meta": META, "content": dict.fromkeys(keys, "x")}))
    assert [heading.text for heading in read_body(text).headings] == ["Decision", "Rationale", "Constraints", "Zebra"]


def places(source: str) -> list[tuple[Rule, int | None]]:
    """What is wrong with a source, by rule and line."""
    return [(problem.rule, problem.line) for problem in read_yaml(source).problems]


def test_yaml_is_read_as_texts_each_with_its_line_and_within_bounds() -> None:
    """Types would turn a version into a number; only a plain null is nothing; what is too much, a finding."""
    written = {"a": "1.10", "b": "on", "c": "2026-02-03T08:15:00+01:00", "d": "'null'", "1": "0x1f", "null": "y"}
    read = read_yaml("".join(f"{key}: {value}\n" for key, value in written.items()))
    assert read.fields == {**written, "d": "null"}
    assert read_yaml("a: null\nb: ~\nc:\nd: ''\n").fields == {"a": None, "b": None, "c": None, "d": ""}
    read = read_yaml('a: 1\nb: x\x07y\nc: "\\ud800"\n')
    assert read.fields == {"a": "1", "b": "x\ufffdy", "c": "\ufffd"}
    assert places('a: 1\nb: x\x07y\nc: "\\ud800"\n') == [(INVALID, 2)]
    assert places("a: 1\nb: {c: 1, c: 2}\na: 3\n") == [(REPEATED, 2), (REPEATED, 3)]
    assert read_yaml("a: 1\na: 3\nb: *x\n").fields == {"a": "3"}
    assert places("a: 1\na: 3\nb: *x\n") == [(REPEATED, 2), (INVALID, 3)]
    read = read_yaml('a: "x\u2028y"\nb:\n- c: 1\n  d: [e,\n    {f: g}]\n', line=2)
    lines = [(("a",), 2), (("b",), 3), (("b", 0), 4), (("b", 0, "c"), 4), (("b", 0, "d"), 5)]
    lines += [(("b", 0, "d", 0), 5), (("b", 0, "d", 1), 6), (("b", 0, "d", 1, "f"), 6)]
    assert list(read.lines.items()) == lines
    closed = split_head("---\na: 1\n---\n# Text\n")
    assert closed is not None
    assert (closed.source, closed.line, closed.body, closed.is_closed) == ("a: 1\n", 2, "# Text\n", True)
    for rest in ("\nText\n", "# Text\n"):
        open_ = split_head(f"---\na: 1\n{rest}")
        assert open_ is not None
        assert (open_.source, open_.body, open_.is_closed) == ("a: 1\n", rest, False)
    assert split_head("a: 1\n---\n") is None
    assert split_head("----\na: 1\n---\n") is None
    assert "a" in read_yaml("a: " + "[" * (YAML_DEPTH - 1) + "]" * (YAML_DEPTH - 1)).fields
    assert places("a: 1\nb: " + "[" * YAML_DEPTH + "]" * YAML_DEPTH) == [(INVALID, 2)]
    many = "b:\n" + "- x\n" * NODES
    assert read_yaml(f"a: 1\n{many}c: 2\n").fields == {"a": "1", "c": "2"}
    assert [rule for rule, _ in places(f"a: 1\n{many}c: 2\n")] == [INVALID]
    read = read_yaml("a: 1\n" + "b: 2 # comment\n" * YAML_CHARS)
    assert read.fields == {"a": "1", "b": "2"}
    assert len(read.problems) <= 20
    for source in [
        "[" * YAML_CHARS, "a: {" * (YAML_CHARS // 4), "- " * (YAML_CHARS // 2), '"' * (YAML_CHARS - 9) + ": a: b",
        "".join(f"k{number}: *x\n" for number in range(6_000)),
        "".join(f"k{number}: x\n" for number in range(6_000)) + "z: *x\n", "k:\n" + "  - a: b: c\n" * 5_000,
        "k: *" + " " * (YAML_CHARS - 9),
    ]:  # fmt: skip
        assert 1 <= len(read_yaml(source).problems) <= 20


def test_what_cannot_be_read_as_it_is_written_is_mended_or_left_out() -> None:
    """At the top, below a key and in a list; with a finding at its line."""
    for written, meant in [
        *(('"a "quoted" b"', 'a "quoted" b'), ("'it's'", "it's"), ('"never closed', "never closed")),
        *(("what: it is", "what: it is"), ("@somebody", "@somebody"), ("`code` first", "`code` first")),
        ('"one" and "two"', 'one" and "two'),
    ]:
        read = read_yaml(f"a: 1\nb: {written}\nc:\n  d:\n  - e: {written}\n    f: 2\n  g:\n    - {written}\nh: 3\n")
        assert read.fields["b"] == meant
        assert read.fields["c"]["d"] == [{"e": meant, "f": "2"}]
        assert read.fields["h"] == "3"
        assert {(problem.rule, problem.line) for problem in read.problems} >= {(INVALID, 2), (INVALID, 5)}
    for field in [
        *("a: &x [1]", "a: *x", "a: !!python/object:os.system x", "a: !x y", "a: [1, 2", "a: {b", "a: {[1]: 2}")
    ]:
        read = read_yaml(f"first: 1\n{field}\nlast: 2\n")
        assert read.fields == {"first": "1", "last": "2"}
        assert read.unread == {"a"}
        assert [(problem.rule, problem.line) for problem in read.problems] == [(INVALID, 2)]
    for source in ["- a\n- b\n", "just words\n", "[1, 2]\n"]:
        read = read_yaml(source)
        assert read.fields == {}
        assert [problem.rule for problem in read.problems] == [INVALID]


class PlainDumper(yaml.SafeDumper):
    """Writes YAML without aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - whatever it is
        """Always."""
        return True


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
VALUES = st.recursive(
    st.none() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@CALM
@given(st.dictionaries(TEXTS, VALUES, max_size=6))
def test_yaml_that_a_machine_wrote_is_read_as_it_was_meant(values: dict[str, Any]) -> None:
    """Whatever the texts hold, and nothing is found wrong with it."""
    read = read_yaml(yaml.dump(values, Dumper=PlainDumper, allow_unicode=True, sort_keys=False))
    assert read.fields == values
    assert read.problems == ()
