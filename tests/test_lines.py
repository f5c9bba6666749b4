"""The stable machine interface: the fields of a line, what they hold, and that any program can read them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.lines import artifact_line, body_texts, dump_line, exported, join_texts, with_body
from memosite.archive.model import Archive
from memosite.facts.parsed import Kind, Ref
from memosite.store.shelf import Shelf
from tests.support.archives import open_folders
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.sites import EXAMPLE_SOURCES

FIELDS = [
    *("v", "id", "kind", "system", "url", "subject", "short_subject", "summary", "chars", "from", "to", "date"),
    *("offset", "thread", "parent", "ghost_parent", "mailbox", "copies", "action", "recipients", "positions"),
    *("tags", "findings", "sha256"),
]
NAME = "2026-05-01-0900--engineer--director--gate"
REPLY = "0900--director--engineer--re"
SUBJECT = "a\nb\u2028c\u2029d\u0085e\x0bf\x0cg\x1ch\x1ei"
LONG = "word " * 60


class Lines:
    """The lines of an archive, and its texts."""

    def __init__(self, archive: Archive, shelf: Shelf) -> None:
        self.archive, self._shelf = archive, shelf

    def of(self, id_: str, kind: Kind = "memo", base_url: str | None = None) -> dict[str, object]:
        """The line of one artifact."""
        return artifact_line(self.archive.artifacts[kind, id_], self.archive, base_url=base_url)

    def all(self, base_url: str | None = None) -> list[dict[str, object]]:
        """The lines of all artifacts that have one, in order of arrival."""
        return [artifact_line(artifact, self.archive, base_url=base_url) for artifact in exported(self.archive)]

    def body(self, ref: Ref) -> str:
        """What stands in `body` of one artifact."""
        return join_texts(self._shelf.text(text.sha256) for text in body_texts(self.archive.artifacts[ref]))


@pytest.fixture(scope="module")
def example() -> Iterator[Lines]:
    """The demonstration."""
    with open_folders(*EXAMPLE_SOURCES) as (archive, shelf):
        yield Lines(archive, shelf)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lines]:
    """A repo with memos that are each odd in one way."""
    root = tmp_path_factory.mktemp("lines") / "desk"
    inbox = root / "memos/inbox"
    write_memo(inbox, NAME)
    write_memo(inbox, f"2026-05-02-{REPLY}", in_reply_to=f"{NAME}.openthing")
    write_memo(inbox, f"2026-05-03-{REPLY}", in_reply_to="the gate (draft).openthing")
    write_memo(inbox, "grüße")
    write_memo(root / "notes/engineer", "noted", to="director", action_required=True)
    write_memo(inbox, "reserved", sent="2026-05-01T09:00", extra={"x.memodef.b": 1, "x.memodef.a": 1})
    write_text(inbox / "2026-05-02-0900--a--b--broken.openthing", '{"type": ')
    write_text(root / "transcripts/a/2026-05-02-0900--a--broken.openthing", "[")
    write_memo(inbox, "subject", subject=SUBJECT)
    for name, inline, long in (
        ("short", "In short: yes.", "# Yes\n\nAt length.\n"), ("both", LONG, "At length.\n"), ("twice", LONG, LONG)
    ):  # fmt: skip
        write_memo(inbox, name, body=inline, body_ref=f"{name}.body.md")
        write_text(inbox / f"{name}.body.md", long)
    write_memo(inbox, "bytes").rename(inbox / os.fsdecode(b"caf\xe9.openthing"))
    with open_folders(root) as (archive, shelf):
        yield Lines(archive, shelf)


def test_each_kind_of_artifact_has_exactly_the_fields_of_the_contract_in_its_order(example: Lines) -> None:
    """Who reads the columns of one line may read those of all; lines come in order of arrival, and are read back."""
    found = example.all(base_url="https://x.example/")
    assert {entry["kind"] for entry in found} == {"memo", "note", "transcript", "library", "document", "record"}
    assert all(list(entry) == FIELDS + ["session"] * ("session" in entry) for entry in found)
    assert {entry["system"] for entry in found if "session" in entry} == {"claude-code", "specstory"}
    assert all(json.loads(dump_line(entry).encode("utf-8")) == entry for entry in found)
    arrivals = {artifact.id: artifact.arrival for artifact in exported(example.archive)}
    assert [entry["id"] for entry in found] == sorted(arrivals, key=arrivals.__getitem__)
    unsent = [entry for entry in found if entry["kind"] not in {"memo", "note"}]
    empty = ("from", "thread", "parent", "ghost_parent", "mailbox", "action")
    assert all(entry[name] is None for entry in unsent for name in empty)
    assert all(entry["to"] == entry["recipients"] == [] for entry in unsent)


def test_a_memo_is_told_as_it_was_written_and_resolved_with_each_copy(tmp_path: Path) -> None:
    """Names as written stand beside positions as resolved, UTC beside the offset."""
    write_memo(
        tmp_path / "memos/read", NAME, sender="old-engineer", to="director, strategist", subject="The gate is green",
        sent="2026-05-01T09:00:00-04:00", body="All tests pass.", action_required=True, thread_id="gates",
        metadata={"tags": ["build", "ci"]},
    )  # fmt: skip
    with open_folders(tmp_path, aliases={"old-engineer": "engineer"}) as (archive, shelf):
        found = Lines(archive, shelf).of(NAME, base_url="https://memos.example/a/")
        digest = archive.artifacts[("memo", NAME)].copies[0].file.sha256
    path = f"memos/read/{NAME}.openthing"
    copy = {"source": tmp_path.name, "path": path, "mailbox": "read", "sha256": digest, "received": None}
    assert found == {
        "v": 1, "id": NAME, "kind": "memo", "system": "memodef", "url": f"https://memos.example/a/memos/{NAME}/",
        "subject": "The gate is green", "short_subject": "The gate is green", "summary": "All tests pass.", "chars": 15,
        "from": "old-engineer", "to": ["director", "strategist"], "date": "2026-05-01T13:00:00Z", "offset": "-04:00",
        "thread": "gates", "parent": None, "ghost_parent": None, "mailbox": "read", "copies": [copy], "action": "open",
        "recipients": [{"position": "director", "action": "open"}, {"position": "strategist", "action": "open"}],
        "positions": ["director", "engineer", "strategist"], "tags": ["build", "ci"], "findings": [], "sha256": digest,
    }  # fmt: skip
    tmp_path = tmp_path / "copies"
    # One artifact, as many copies as repos.
    boxes = {"alpha": "inbox", "beta": "read", "gamma": "flat"}
    for repo, box in boxes.items():
        write_memo(tmp_path / repo / "memos" / box.replace("flat", ""), NAME, to="all")
    with open_folders(*(tmp_path / name for name in boxes)) as (archive, shelf):
        copies = Lines(archive, shelf).of(NAME)["copies"]
    assert isinstance(copies, list)
    assert {copy["source"]: copy["mailbox"] for copy in copies} == boxes


def test_a_body_has_all_that_is_written_once(desk: Lines, example: Lines) -> None:
    """A short text beside a body file is its summary; two long texts are both there, unless they are equal."""
    assert desk.body(("memo", "short")) == "# Yes\n\nAt length.\n"
    assert desk.of("short")["summary"] == "In short: yes."
    assert desk.body(("memo", "both")) == f"{LONG}\n\n* * *\n\nAt length.\n"
    assert desk.body(("memo", "twice")) == LONG
    document: Ref = ("document", "governance.decisions.2026-03-02-replace-stackmaster.md")
    assert example.body(document).startswith("\n# Replace Stackmaster 7 by Koha\n")  # without frontmatter
    libraries = [artifact.ref for artifact in exported(example.archive) if artifact.kind == "library"]
    assert [example.body(ref) for ref in libraries] == [""]


def test_odd_memos_have_lines_that_tell_of_it_and_each_is_one_line(desk: Lines) -> None:
    """A note asks nothing, rules are named once, addresses are encoded, and a missing parent is named as written."""
    assert desk.of("grüße")["url"] == "memos/grüße/"
    address = desk.of("grüße", base_url="https://x.example/")["url"]
    assert address == "https://x.example/memos/gr%C3%BC%C3%9Fe/"
    found = desk.of("noted", "note")
    assert (found["from"], found["to"]) == ("engineer", ["director"])
    assert (found["recipients"], found["action"], found["mailbox"]) == ([], None, None)
    assert found["findings"] == ["note-action", "note-recipient"]
    assert desk.of("reserved")["findings"] == ["date-without-zone", "field-reserved"]
    assert len(desk.archive.artifacts) - len(desk.all()) == 2
    assert not [entry["id"] for entry in desk.all() if "broken" in str(entry["id"])]
    answer, stray = desk.of(f"2026-05-02-{REPLY}"), desk.of(f"2026-05-03-{REPLY}")
    assert (answer["parent"], answer["ghost_parent"], answer["thread"]) == (NAME, None, NAME)
    assert (stray["parent"], stray["ghost_parent"]) == (None, "the gate (draft)")
    text = dump_line(desk.of("subject"))
    assert len(text.splitlines()) == 1
    assert json.loads(text)["subject"] == SUBJECT
    texts = [dump_line(entry) for entry in desk.all(base_url="https://x.example/")]
    assert "memos/inbox/caf\ufffd.openthing" in [json.loads(text.encode())["copies"][0]["path"] for text in texts]
    assert dump_line({"v": 1, "subject": "Grüße, 世界 🌍 שלום"}) == '{"v": 1, "subject": "Grüße, 世界 🌍 שלום"}'
    entry = {"v": 1, "id": "a"}
    assert list(with_body(entry, "text").items()) == [("v", 1), ("id", "a"), ("body", "text")]
    assert "body" not in entry


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters()))
def test_any_text_is_read_back_exactly_and_any_line_can_be_written_as_utf8(text: str, odd: str) -> None:
    """Nothing that is a character is lost. Lone surrogates are U+FFFD then."""
    dumped = dump_line({"body": text})
    assert json.loads(dumped)["body"] == text
    assert len(dumped.splitlines()) == 1
    assert "\ufffd" in dump_line({"body": f"{odd}\ud800"}).encode("utf-8").decode("utf-8")
