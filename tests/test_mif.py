"""MIF: each rule holds where it is broken, and what times, links and relations mean; whole records are cases."""

import pytest

from memosite.facts.file import File
from memosite.facts.parsed import Parsed, Relation
from memosite.facts.times import read_moment
from memosite.formats import adapters
from memosite.formats.fields import FINDINGS
from memosite.formats.mif import INVERSE
from memosite.formats.mif import parse as mif
from memosite.formats.mif.fields import LINKS, after, predicate_of, read_body, read_target, show_moment
from tests.support.cases import card_of

EARLY = """\
id: 0b7c1f5e-2a44-4c19-9d3e-5f60718293a4
type: semantic
namespace: learnings/project
created: 2026-02-03T08:15:00Z
title: Quay
"""
LATE = "id: 0b7c1f5e-2a44-5c19-9d3e-5f60718293a4\ntype: semantic\ncreated: 2026-02-03T08:15:00Z\n"


def read(fields: str, body: str = "", path: str = "memories/quay.memory.md") -> Parsed:
    """Read a record with this frontmatter."""
    return adapters.parse(File(source="harbour", path=path, data=f"---\n{fields}---\n{body}".encode()))


def rows_of(parsed: Parsed) -> dict[str, str]:
    """What is shown of a record, by label."""
    return dict(card_of(parsed).fields)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("id: x1", "mif-id"),
        ("id: 0B7C1F5E-2A44-4C19-9D3E-5F60718293A4", "mif-id"),
        ("id: 0b7c1f5e-2a44-1c19-9d3e-5f60718293a4", "mif-id"),
        ("type: fact", "mif-type"),
        ("type:", "mif-type"),
        ("namespace: learnings", "mif-namespace"),
        ("namespace: learnings/", "mif-namespace"),
        ("created: 2026-02-31", "mif-created"),
        ("created: null", "mif-created"),
        ('title: "  "', "mif-title"),
        ("citations: [{type: book, title: A, url: https://a.example.org}]", "mif-citation"),
        ("citations: [{type: blog, title: '', url: https://a.example.org}]", "mif-citation"),
        ("citations: [{type: blog, title: A, url: a.example.org}]", "mif-citation"),
        ("citations: [{type: blog, title: A, url: 'https://'}]", "mif-citation"),
        ("confidence: 1.01", "mif-confidence"),
        ("provenance: {confidence: high}", "mif-confidence"),
        ("temporal: {valid_from: 2026-02-02, recorded_at: 2026-02-01}", "mif-valid-from"),
        ("tags: [Quay]", "mif-tag"),
        ("tags: [two words]", "mif-tag"),
        ("code_refs: [{file: /src/quay.py}]", "mif-code-path"),
        ("code_refs: [{file: 'file:///src/quay.py'}]", "mif-code-path"),
        ("citations: [{type: blog, title: A, url: https://a.example.org, relevance: -0.1}]", "mif-citation-detail"),
        ("citations: [{type: blog, title: A, url: https://a.example.org, date: 2026-02}]", "mif-citation-detail"),
        ("citations: [{type: blog, title: A, url: https://a.example.org, accessed: noon}]", "mif-citation-detail"),
    ],
)
def test_a_broken_rule_is_told_at_the_line_of_its_field(line: str, rule: str) -> None:
    """As the validation rules of 0.1 have it; a citation's checks hold wherever there is one."""
    name = line.partition(":")[0]
    kept = [one for one in EARLY.splitlines() if not one.startswith(f"{name}:")]
    (finding,) = read("\n".join([*kept, line]) + "\n").findings
    assert finding.rule.id == rule
    assert finding.location.line == len(kept) + 2 or (finding.location.line is None and f"{name}:" in EARLY)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "namespace: _semantic",
        "namespace: github-sdlc/docs/lights",
        "tags: [Two Words, area/north]",
        "temporal: {validFrom: 2026-03-01T00:00:00Z, recordedAt: 2026-02-01T00:00:00Z}",
        "citations: [{citationType: 'port:log', citationRole: source, title: A, url: 'urn:example:log'}]",
        "provenance: {sourceType: user_explicit}",
    ],
)
def test_what_only_early_mif_demands_is_not_asked_of_version_one(line: str) -> None:
    """No title, no namespace, any UUID, tags as one likes, facts told ahead of time."""
    parsed = read(f"{LATE}{line}\n", path="docs/quay.md")
    assert parsed.findings == ()
    assert card_of(parsed).title == "quay"


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
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
    ],
)
def test_validity_is_told_as_of_the_records_own_dates(fields: str, shown: str) -> None:
    """No clock is asked: the same record says the same for ever."""
    assert rows_of(read(f"{EARLY}temporal: {{{fields}}}\n"))["Valid"] == shown


@pytest.mark.parametrize(
    ("start", "duration", "end"),
    [
        ("2026-01-31", "P1M", "2026-02-28"),
        ("2024-02-29", "P1Y", "2025-02-28"),
        ("2026-01-24T22:00:00-04:00", "P1D", "2026-01-25 22:00 -04:00"),
        ("2026-01-24", "P1Y2M1W3DT4H5M6S", "2027-04-03 04:05"),
        ("2026-01-24", "P0.5D", "2026-01-24 12:00"),
        *(
            ("2026-01-24", text, None)
            for text in ("", "P", "PT", "90D", "P1D2M", "P-1D", "p1d", "P99999999999D", "P999999Y")
        ),
    ],
)
def test_a_duration_is_added_in_the_writers_calendar(start: str, duration: str, end: str | None) -> None:
    """Months by their names, days by the clock on the wall; what is none, or leads out of it, adds nothing."""
    moment = read_moment(start)
    assert moment is not None
    later = after(moment, duration)
    assert (later and show_moment(later)) == end


def test_an_inverse_leads_back() -> None:
    """Each name in the table is the inverse of its inverse; a relation and its mirror in the text are one."""
    assert all(INVERSE[inverse] == name for name, inverse in INVERSE.items())
    assert all(predicate_of(name) == name for name in INVERSE)
    assert INVERSE["relates-to"] == "relates-to"
    assert INVERSE["blocked-by"] == "blocks"
    fields = f"{LATE}relationships:\n- {{type: uses, target: /a.md}}\n- {{type: Supersedes, target: /b.md}}\n"
    body = "## Relationships\n- supersedes [B](/b.md)\n- uses [A](/a.md)\n- uses [C](/c.md)\n"
    assert card_of(read(fields, body, "docs/quay.md")).relations == (
        Relation(predicate="uses", target="/a.md", label="A"),
        Relation(predicate="supersedes", target="/b.md", label="B"),
        Relation(predicate="uses", target="/c.md", label="C"),
    )


@pytest.mark.parametrize("name", ["RelatesTo", "relatesTo", "relates_to", "relates-to", " relates  to ", "RELATES_TO"])
def test_a_relation_has_one_name_however_it_is_written(name: str) -> None:
    """MIF 1.0 derives the stored name from the shown one."""
    assert predicate_of(name) == "relates-to"
    assert predicate_of("farm:BreedsWith") == "farm:breeds-with"


@pytest.mark.parametrize("text", ["light", "[[light]]", "[[light|The light]]", "[[light#north]]", "light#^block"])
def test_a_target_is_read_without_what_it_is_dressed_in(text: str) -> None:
    """Brackets, the shown text, a heading."""
    assert read_target(text) == "light"


def test_nothing_of_the_frontmatter_is_lost() -> None:
    """It is kept to be shown; the key is the id or the file's name, and decay is as of the last date."""
    card = card_of(read(f"{EARLY}draught: 2.10\nprovenance: {{agent: a, mood: on}}\nlist: [1, [2, {{x: null}}]]\n"))
    assert '"draught": "2.10"' in card.extra
    assert '"mood": "on"' in card.extra
    assert '"agent"' not in card.extra
    assert '"2"' in card.extra
    assert card_of(read(LATE, path="docs/quay.md")).key == "0b7c1f5e-2a44-5c19-9d3e-5f60718293a4"
    assert card_of(read(LATE.replace("id: ", "id: urn:mif:"), path="docs/quay.md")).key.startswith("0b7c1f5e")
    assert card_of(read("type: semantic\nnamespace: a/b\n")).key == "quay"
    assert not mif.matches(File(source="harbour", path="memos/inbox/x.body.md", data=f"---\n{LATE}---\n".encode()))
    decay = "decay: {model: step, half_life: P7D, strength: 0.4}"
    rows = rows_of(read(f"{EARLY}modified: 2026-02-05T00:00:00Z\ntemporal: {{last_accessed: 2026-02-04, {decay}}}\n"))
    assert rows["Decay"] == "step, half-life P7D, strength 0.4 as of 2026-02-05"
    assert rows_of(read(f"{EARLY}decay: {{model: none}}\n"))["Decay"] == "none"
    links = read_body("".join(f"- uses [[a{number}]] @[[b{number}]], see [[c{number}]]\n" for number in range(10_000)))
    assert [len(found) for found in (links.relations, links.entities, links.mentions)] == [LINKS] * 3


@pytest.mark.parametrize(
    "line", ["- uses [" * 20_000, "[[" * 100_000, "`" * 200_000 + "[", "- uses [[a]]" + " " * 200_000 + "x [[b]]"]
)
def test_a_hostile_line_is_read_in_passing(line: str) -> None:
    """Links that are never closed, code that is none, white space without end."""
    assert len(read_body(line).relations) <= 1


@pytest.mark.parametrize(
    "fields",
    ["tags:\n" + "- A B\n" * 4_000, "citations:\n" + "- {type: x}\n" * 1_000, "conflicts:\n" + "- {a: b}\n" * 1_500],
    ids=["tags", "citations", "conflicts"],
)
def test_one_fault_many_times_has_a_bounded_list_of_findings(fields: str) -> None:
    """A file with more of them has one fault."""
    assert len(read(EARLY + fields).findings) == FINDINGS
