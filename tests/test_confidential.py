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
    {}, {LEGAL: "public"}, {LEGAL: " Public "}, {"metadata": {}}, {"metadata": None},
    {"metadata": {"retention_policy": None}}, {"metadata": {"retention_policy": "keep for ever"}},
    {"body": "x.legal.confidentiality: secret, and metadata.retention_policy private"},
]  # fmt: skip
ODD = (
    '{"x.legal.confidentiality": "secret", "x.legal.confidentiality": "public"}',
    '{"x.legal.confidentiality": "public", "x.legal.confidentiality": "secret"}',
    '{"x.legal.confidentialit\\u0079": "secret"}', '\ufeff{"metadata": {"retention_policy": "private"}}',
    '{"body": "a\tb\nc", "metadata": {"retention_policy": "private"}}', '{"from": "a"', "[]", "",
)  # fmt: skip


def test_marks_in_json_and_of_transcripts_that_are_raw() -> None:
    """Of any type, in any case, twice, escaped, unreadable; not what says `public`, or redacted, or writes of it."""
    for fields in (*MARKED, *UNMARKED):
        assert is_confidential(envelope(**fields)) is (fields in MARKED), fields
    for text in ODD:
        assert is_confidential(file("memos/one.openthing", text)), text
    assert not is_raw_transcript(envelope(metadata={"redaction_status": " Redacted"}))
    for metadata in ({"redaction_status": "raw"}, {"redaction_status": ["redacted"]}, {}, None, "redacted"):
        assert is_raw_transcript(envelope(metadata=metadata))
    assert is_raw_transcript(file("transcripts/a.openthing", "no JSON"))


MARKED_HEADS = (
    "x.legal.confidentiality: secret", '"x.legal.confidentiality": "secret"',
    "x:\n  legal:\n    confidentiality: secret",
    "metadata:\n  retention_policy: private", "metadata: {retention_policy: private, a: b}",
    "retention_policy:\n  - private", "retention_policy: [private]", "retention_policy: |\n  private",
    "retention_policy: >-\n  private", "retention_policy: !!str private", "retention_policy: !!binary cHJpdmF0ZQ==",
    "retention_policy: {kind: private}", "retention_policy: 5", "retention_policy:", "retention_policy: &a private",
    "k: &a private\nretention_policy: *a", "k: &a {retention_policy: private}\n<<: *a",
    "k: &a retention_policy\n*a : private", 'retention_policy: "priv\\\n  ate"', 'retention_policy: "priv\\x61te"',
    '"retention\\x5fpolicy": private', '"retention_\\\n  policy": private', "? retention_policy\n: private",
    "? confidentiality\n: privileged", "? [confidentiality]\n: privileged", "a:\n- b: [{retention_policy: private}]",
    "retention_policy: keep\nretention_policy: private", "retention_policy: private\nretention_policy: keep",
    "a: b: c\nretention_policy: [private]", "a: b: c\n? retention_policy\n: private",
    'a: b: c\n"retention\\u005fpolicy": private', "retention_policy:\tprivate", "a: b\nretention_policy:private",
    "retention_policy: private\nk: " + "[" * 5000, "k: " + "x" * 70_000 + "\n? retention_policy\n: private",
)  # fmt: skip
UNMARKED_HEADS = (
    "x.legal.confidentiality: public", "x.legal.confidentiality: 'Public'  # says the office", "retention_policy: keep",
    "title: on confidentiality", "retention_policy: >-\n  keep", "retention_policy: !!str keep",
    "retention_policy: '5 years'", "retention_policy: null", "k: &a keep\nretention_policy: *a", "k: &a [*a]",
    "? confidentiality\n: public", "a: b: c\nretention_policy: keep\nx.legal.confidentiality: 'public' # yes",
    "k: " + "x" * 70_000 + "\nretention_policy: keep",
)  # fmt: skip


@pytest.mark.parametrize("head", [*MARKED_HEADS, *UNMARKED_HEADS])
def test_marks_in_front_matter(head: str) -> None:
    """Of documents, records and bodies, in whatever way YAML may be written."""
    for end in ("---\n\nText.\n", "...\nText.\n", ""):
        assert is_confidential(file("decisions/one.md", f"---\n{head}\n{end}")) is (head in MARKED_HEADS)
    assert not is_confidential(file("decisions/one.md", f"# One\n\n{head}\n"))


MARKED_LINES = (
    '{"x.legal.confidentiality": "secret"}', '{"retention_policy": ["private"]}', '{"retention_policy": 5}',
    '{"a": [{"retention_policy": {"kind": "private"}}]}', '{"\\u0072etention_policy": "private"}',
    '{"retention_policy": "priv\\u0061te"}', '{"retention_policy": "priv', '{"\\u0072etention_policy": "private"',
    '{"retention_policy": ["private"', "[" * 100_000 + '{"retention_policy": "private"}',
)  # fmt: skip
UNMARKED_LINES = (
    "no line of JSON", '{"retention_policy": "keep", "body": "on retention_policy: private"}',
    '{"retention_policy": null}', '{"retention_policy": "keep"',
)  # fmt: skip


@pytest.mark.parametrize("line", [*MARKED_LINES, *UNMARKED_LINES])
def test_marks_in_a_line_of_json(line: str) -> None:
    """Lines are JSON; in a broken one the word is a mark if nothing harmless stands behind it."""
    data = f'{{"event": "x"}}\r\n{line}\r\n'
    assert is_confidential(file(".memory/events.jsonl", data)) is (line in MARKED_LINES)
