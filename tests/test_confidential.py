"""Tests which files are marked as not for everybody: as they are read, and as git has them from before (SPEC 9)."""

import json
from typing import Any

import pytest

from memosite.facts.contents import is_confidential, is_raw_transcript
from memosite.facts.file import File


def file(path: str, text: str | bytes) -> File:
    """A file of some source."""
    return File(source="desk", path=path, data=text.encode() if isinstance(text, str) else text)


def envelope(**fields: object) -> File:
    """An envelope with these fields."""
    return file("memos/inbox/one.openthing", json.dumps({"from": "a", "to": "b"} | fields))


LEGAL = "x.legal.confidentiality"


MARKED: list[dict[str, Any]] = [
    *({LEGAL: value} for value in ("internal", "attorney-client", "", None, False, {"level": "public"}, ["public"])),
    {" X.Legal.Confidentiality ": "secret"},
    {"x.legal": {"confidentiality": "secret"}},
    {"x": {"legal": {"confidentiality": "secret"}}},
    {"metadata": {LEGAL: "secret"}},
    *({"metadata": {"retention_policy": value}} for value in ("confidential", "private", "  Ephemeral\n", ["keep"])),
    *({"metadata": {"retention_policy": value}} for value in ({"policy": "keep"}, 0, False)),
    {"x.memo.metadata": {"retention_policy": "private"}},
    {"retention_policy": "private"},
    {"meta": {"retention_policy": "private"}, "content": {}},
]
UNMARKED: list[dict[str, Any]] = [
    {},
    {LEGAL: "public"},
    {LEGAL: " Public "},
    {"metadata": {}},
    {"metadata": None},
    {"metadata": {"retention_policy": None}},
    {"metadata": {"retention_policy": "keep for ever"}},
    {"body": "x.legal.confidentiality: secret, and metadata.retention_policy private"},
]
ODD = (
    '{"x.legal.confidentiality": "secret", "x.legal.confidentiality": "public"}',
    '{"x.legal.confidentiality": "public", "x.legal.confidentiality": "secret"}',
    '{"x.legal.confidentialit\\u0079": "secret"}',
    '\ufeff{"metadata": {"retention_policy": "private"}}',
    '{"body": "a\tb\nc", "metadata": {"retention_policy": "private"}}',
    '{"from": "a"',
    "[]",
    "",
)


def test_marks_in_json() -> None:
    """Of any type, in any case; what nobody can understand counts as a mark.

    What says `public`, what has no policy or another one, and what only writes of marks, has none. Keys that are there
    twice, escaped keys, control characters, and what cannot be read at all, count as marks.
    """
    for fields in (*MARKED, *UNMARKED):
        assert is_confidential(envelope(**fields)) is (fields in MARKED), fields
    for text in ODD:
        assert is_confidential(file("memos/one.openthing", text)), text


@pytest.mark.parametrize(
    ("head", "is_marked"),
    [
        ("x.legal.confidentiality: secret", True),
        ("x.legal.confidentiality: public", False),
        ("x.legal.confidentiality: 'Public'  # says the office", False),
        ('"x.legal.confidentiality": "secret"', True),
        ("x:\n  legal:\n    confidentiality: secret", True),
        ("metadata:\n  retention_policy: private", True),
        ("metadata: {retention_policy: private, a: b}", True),
        ("retention_policy:\n  - private", True),
        ("retention_policy: keep", False),
        ("title: on confidentiality", False),
        ("retention_policy: [private]", True),
        ("retention_policy: |\n  private", True),
        ("retention_policy: >-\n  private", True),
        ("retention_policy: >-\n  keep", False),
        ("retention_policy: !!str private", True),
        ("retention_policy: !!str keep", False),
        ("retention_policy: !!binary cHJpdmF0ZQ==", True),
        ("retention_policy: {kind: private}", True),
        ("retention_policy: 5", True),
        ("retention_policy: '5 years'", False),
        ("retention_policy: null", False),
        ("retention_policy:", True),
        ("retention_policy: &a private", True),
        ("k: &a private\nretention_policy: *a", True),
        ("k: &a keep\nretention_policy: *a", False),
        ("k: &a {retention_policy: private}\n<<: *a", True),
        ("k: &a [*a]", False),
        ("k: &a retention_policy\n*a : private", True),
        ('retention_policy: "priv\\\n  ate"', True),
        ('retention_policy: "priv\\x61te"', True),
        ('"retention\\x5fpolicy": private', True),
        ('"retention_\\\n  policy": private', True),
        ("? retention_policy\n: private", True),
        ("? confidentiality\n: privileged", True),
        ("? confidentiality\n: public", False),
        ("? [confidentiality]\n: privileged", True),
        ("a:\n- b: [{retention_policy: private}]", True),
        ("retention_policy: keep\nretention_policy: private", True),
        ("retention_policy: private\nretention_policy: keep", True),
        ("a: b: c\nretention_policy: [private]", True),
        ("a: b: c\n? retention_policy\n: private", True),
        ('a: b: c\n"retention\\u005fpolicy": private', True),
        ("a: b: c\nretention_policy: keep\nx.legal.confidentiality: 'public' # yes", False),
        ("retention_policy:\tprivate", True),
        ("a: b\nretention_policy:private", True),
        ("retention_policy: private\nk: " + "[" * 5000, True),
        ("k: " + "x" * 70_000 + "\n? retention_policy\n: private", True),
        ("k: " + "x" * 70_000 + "\nretention_policy: keep", False),
    ],
)
def test_marks_in_front_matter(head: str, *, is_marked: bool) -> None:
    """Of documents, records and bodies, in whatever way YAML may be written."""
    for end in ("---\n\nText.\n", "...\nText.\n", ""):
        assert is_confidential(file("decisions/one.md", f"---\n{head}\n{end}")) is is_marked
    assert not is_confidential(file("decisions/one.md", f"# One\n\n{head}\n"))


@pytest.mark.parametrize(
    ("line", "is_marked"),
    [
        ('{"x.legal.confidentiality": "secret"}', True),
        ("no line of JSON", False),
        ('{"retention_policy": ["private"]}', True),
        ('{"retention_policy": 5}', True),
        ('{"a": [{"retention_policy": {"kind": "private"}}]}', True),
        ('{"\\u0072etention_policy": "private"}', True),
        ('{"retention_policy": "priv\\u0061te"}', True),
        ('{"retention_policy": "keep", "body": "on retention_policy: private"}', False),
        ('{"retention_policy": null}', False),
        ('{"retention_policy": "keep"', False),
        ('{"retention_policy": "priv', True),
        ('{"\\u0072etention_policy": "private"', True),
        ('{"retention_policy": ["private"', True),
        ("[" * 100_000 + '{"retention_policy": "private"}', True),
    ],
)
def test_marks_in_a_line_of_json(line: str, *, is_marked: bool) -> None:
    """Lines are JSON; in a broken one the word is a mark if nothing harmless stands behind it."""
    assert is_confidential(file(".memory/events.jsonl", f'{{"event": "x"}}\r\n{line}\r\n')) is is_marked


def test_a_transcript_is_raw_unless_it_says_that_it_was_redacted() -> None:
    """In any case; another status, one of another type and none count as raw."""
    assert not is_raw_transcript(envelope(metadata={"redaction_status": " Redacted"}))
    for metadata in ({"redaction_status": "raw"}, {"redaction_status": ["redacted"]}, {}, None, "redacted"):
        assert is_raw_transcript(envelope(metadata=metadata))
    assert is_raw_transcript(file("transcripts/a.openthing", "no JSON"))
