"""The stable machine interface: the fields of a line, what they hold, and that any program can read them."""

import json
import os
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.lines import artifact_line, body_texts, dump_line, exported, join_texts, with_body
from memosite.archive.model import Archive
from memosite.facts.parsed import Ref
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


def line(archive: Archive, ref: Ref, *, base_url: str | None = None) -> dict[str, object]:
    """Return the line of one artifact."""
    return artifact_line(archive.artifacts[ref], archive, base_url=base_url)


def lines(archive: Archive, *, base_url: str | None = None) -> list[dict[str, object]]:
    """Return the lines of all artifacts that have one, in order of arrival."""
    return [artifact_line(artifact, archive, base_url=base_url) for artifact in exported(archive)]


def body(archive: Archive, shelf: Shelf, ref: Ref) -> str:
    """Return what stands in `body` of one artifact."""
    return join_texts(shelf.text(text.sha256) for text in body_texts(archive.artifacts[ref]))


# The fields


def test_each_kind_of_artifact_has_exactly_the_fields_of_the_contract_in_its_order() -> None:
    """Who reads the columns of one line may read those of all."""
    with open_folders(*EXAMPLE_SOURCES) as (archive, _):
        found = lines(archive)
    assert {entry["kind"] for entry in found} == {"memo", "note", "transcript", "library", "document", "record"}
    assert all(list(entry) == FIELDS for entry in found)


def test_a_memo_is_told_as_it_was_written_and_as_it_was_resolved(tmp_path: Path) -> None:
    """Names as written stand beside positions as resolved, UTC beside the offset."""
    write_memo(
        tmp_path / "memos/read",
        NAME,
        sender="old-engineer",
        to="director, strategist",
        subject="The gate is green",
        sent="2026-05-01T09:00:00-04:00",
        body="All tests pass.",
        action_required=True,
        thread_id="gates",
        metadata={"tags": ["build", "ci"]},
    )
    with open_folders(tmp_path, aliases={"old-engineer": "engineer"}) as (archive, _):
        found = line(archive, ("memo", NAME), base_url="https://memos.example/a/")
        digest = archive.artifacts[("memo", NAME)].copies[0].file.sha256
    assert found == {
        "v": 1,
        "id": NAME,
        "kind": "memo",
        "system": "memodef",
        "url": f"https://memos.example/a/memos/{NAME}/",
        "subject": "The gate is green",
        "short_subject": "The gate is green",
        "summary": "All tests pass.",
        "chars": 15,
        "from": "old-engineer",
        "to": ["director", "strategist"],
        "date": "2026-05-01T13:00:00Z",
        "offset": "-04:00",
        "thread": "gates",
        "parent": None,
        "ghost_parent": None,
        "mailbox": "read",
        "copies": [
            {
                "source": tmp_path.name,
                "path": f"memos/read/{NAME}.openthing",
                "mailbox": "read",
                "sha256": digest,
                "received": None,
            }
        ],
        "action": "open",
        "recipients": [{"position": "director", "action": "open"}, {"position": "strategist", "action": "open"}],
        "positions": ["director", "engineer", "strategist"],
        "tags": ["build", "ci"],
        "findings": [],
        "sha256": digest,
    }


def test_a_reply_names_its_parent_and_a_reply_to_nothing_names_the_ghost_as_written(tmp_path: Path) -> None:
    """A ghost is told by its name, from which a reader can find it elsewhere; its id may have been changed."""
    inbox, name = tmp_path / "memos/inbox", "0900--director--engineer--re"
    first = write_memo(inbox, NAME).stem
    reply = write_memo(inbox, f"2026-05-02-{name}", in_reply_to=f"{first}.openthing").stem
    lost = write_memo(inbox, f"2026-05-03-{name}", in_reply_to="the gate (draft).openthing").stem
    with open_folders(tmp_path) as (archive, _):
        answer, stray = line(archive, ("memo", reply)), line(archive, ("memo", lost))
    assert (answer["parent"], answer["ghost_parent"], answer["thread"]) == (first, None, first)
    assert (stray["parent"], stray["ghost_parent"]) == (None, "the gate (draft)")


def test_an_address_is_encoded_and_a_folder_is_not(tmp_path: Path) -> None:
    """An address must work as it stands; a folder is a path on disk."""
    write_memo(tmp_path / "memos/inbox", "grüße")
    with open_folders(tmp_path) as (archive, _):
        ref: Ref = ("memo", "grüße")
        assert line(archive, ref)["url"] == "memos/grüße/"
        assert line(archive, ref, base_url="https://x.example/")["url"] == "https://x.example/memos/gr%C3%BC%C3%9Fe/"


def test_what_has_no_sender_has_null_and_no_recipients() -> None:
    """Transcripts, libraries and documents are sent to nobody."""
    with open_folders(*EXAMPLE_SOURCES) as (archive, _):
        found = [entry for entry in lines(archive) if entry["kind"] not in {"memo", "note"}]
    empty = ("from", "thread", "parent", "ghost_parent", "mailbox", "action")
    assert found
    assert all(entry[name] is None for entry in found for name in empty)
    assert all(entry["to"] == entry["recipients"] == [] for entry in found)


def test_a_note_asks_nothing_of_anybody_even_if_it_says_so(tmp_path: Path) -> None:
    """Memos to file have no recipients, whatever their fields hold; the finding tells of it."""
    note = write_memo(tmp_path / "notes/engineer", NAME, to="director", action_required=True).stem
    with open_folders(tmp_path) as (archive, _):
        found = line(archive, ("note", note))
    assert (found["from"], found["to"]) == ("engineer", ["director"])
    assert (found["recipients"], found["action"], found["mailbox"]) == ([], None, None)
    assert found["findings"] == ["note-action", "note-recipient"]


def test_a_finding_that_occurs_twice_is_named_once(tmp_path: Path) -> None:
    """`findings` are rules, not places."""
    reserved: dict[str, Any] = {"x.memodef.b": 1, "x.memodef.a": 1}
    write_memo(tmp_path / "memos/inbox", NAME, sent="2026-05-01T09:00", **reserved)
    with open_folders(tmp_path) as (archive, _):
        assert line(archive, ("memo", NAME))["findings"] == ["date-without-zone", "field-reserved"]


def test_a_file_that_cannot_be_parsed_has_no_line(tmp_path: Path) -> None:
    """It has a page and findings; a line would hold nothing but guesses."""
    write_memo(tmp_path / "memos/inbox", NAME)
    write_text(tmp_path / "memos/inbox/2026-05-02-0900--a--b--broken.openthing", '{"type": ')
    write_text(tmp_path / "transcripts/a/2026-05-02-0900--a--broken.openthing", "[")
    with open_folders(tmp_path) as (archive, _):
        assert len(archive.artifacts) == 3
        assert [entry["id"] for entry in lines(archive)] == [NAME]


def test_lines_come_in_order_of_arrival() -> None:
    """A reader that has seen so many lines finds what is new behind them."""
    with open_folders(*EXAMPLE_SOURCES) as (archive, _):
        arrivals = [artifact.arrival for artifact in exported(archive)]
        ids = [artifact.id for artifact in exported(archive)]
        assert [entry["id"] for entry in lines(archive)] == ids
    assert arrivals == sorted(arrivals)


def test_a_broadcast_names_each_copy_with_its_mailbox(tmp_path: Path) -> None:
    """One artifact, as many copies as repos."""
    for repo, box in (("alpha", "memos/inbox"), ("beta", "memos/read"), ("gamma", "memos")):
        write_memo(tmp_path / repo / box, NAME, to="all")
    with open_folders(*(tmp_path / name for name in ("alpha", "beta", "gamma"))) as (archive, _):
        copies = line(archive, ("memo", NAME))["copies"]
    assert isinstance(copies, list)
    assert [(copy["source"], copy["mailbox"]) for copy in copies] == [
        ("alpha", "inbox"),
        ("beta", "read"),
        ("gamma", "flat"),
    ]


# The body


def test_the_body_is_the_body_file_and_a_short_text_beside_it_is_the_summary(tmp_path: Path) -> None:
    """The envelope of a long memo holds a line on what the file says."""
    write_memo(tmp_path / "memos/inbox", NAME, body="In short: yes.", body_ref=f"{NAME}.body.md")
    write_text(tmp_path / f"memos/inbox/{NAME}.body.md", "# Yes\n\nAt length.\n")
    with open_folders(tmp_path) as (archive, shelf):
        assert body(archive, shelf, ("memo", NAME)) == "# Yes\n\nAt length.\n"
        assert line(archive, ("memo", NAME))["summary"] == "In short: yes."


def test_two_long_texts_are_both_in_the_body(tmp_path: Path) -> None:
    """A summary holds 240 characters; what is longer would be lost."""
    inline = "word " * 60
    write_memo(tmp_path / "memos/inbox", NAME, body=inline, body_ref=f"{NAME}.body.md")
    write_text(tmp_path / f"memos/inbox/{NAME}.body.md", "At length.\n")
    with open_folders(tmp_path) as (archive, shelf):
        assert body(archive, shelf, ("memo", NAME)) == f"{inline}\n\n* * *\n\nAt length.\n"


def test_a_text_given_twice_is_in_the_body_once(tmp_path: Path) -> None:
    """Some tools write the whole body into both places."""
    text = "word " * 60
    write_memo(tmp_path / "memos/inbox", NAME, body=text, body_ref=f"{NAME}.body.md")
    write_text(tmp_path / f"memos/inbox/{NAME}.body.md", text)
    with open_folders(tmp_path) as (archive, shelf):
        assert body(archive, shelf, ("memo", NAME)) == text


def test_a_document_has_its_text_and_a_library_has_none() -> None:
    """A document's text is without its frontmatter."""
    with open_folders(*EXAMPLE_SOURCES) as (archive, shelf):
        libraries = [artifact.ref for artifact in exported(archive) if artifact.kind == "library"]
        document: Ref = ("document", "governance.decisions.2026-03-02-replace-stackmaster.md")
        assert body(archive, shelf, document).startswith("\n# Replace Stackmaster 7 by Koha\n")
        assert [body(archive, shelf, ref) for ref in libraries] == [""]


def test_the_body_is_the_last_field() -> None:
    """Lines with and without bodies have the same fields in front."""
    entry = {"v": 1, "id": "a"}
    assert list(with_body(entry, "text").items()) == [("v", 1), ("id", "a"), ("body", "text")]
    assert "body" not in entry


# The JSON


def test_every_line_is_one_line_for_every_way_of_splitting(tmp_path: Path) -> None:
    """Programs differ in what ends a line; none of it may stand in one."""
    subject = "a\nb\u2028c\u2029d\u0085e\x0bf\x0cg\x1ch\x1ei"
    write_memo(tmp_path / "memos/inbox", NAME, subject=subject)
    with open_folders(tmp_path) as (archive, _):
        text = dump_line(line(archive, ("memo", NAME)))
    assert len(text.splitlines()) == 1
    assert json.loads(text)["subject"] == subject


def test_letters_stand_as_they_are() -> None:
    """Lines can be read and searched by people; only what would break them is escaped."""
    assert dump_line({"v": 1, "subject": "Grüße, 世界 🌍 שלום"}) == '{"v": 1, "subject": "Grüße, 世界 🌍 שלום"}'


def test_a_name_that_is_not_utf8_does_not_break_its_line(tmp_path: Path) -> None:
    """A file's name may hold any bytes; a line holds characters only."""
    write_memo(tmp_path / "memos/inbox", NAME)
    folder = tmp_path / "memos" / "inbox"
    (folder / f"{NAME}.openthing").rename(folder / os.fsdecode(b"caf\xe9.openthing"))
    with open_folders(tmp_path) as (archive, _):
        texts = [dump_line(entry) for entry in lines(archive, base_url="https://x.example/")]
    assert [json.loads(text.encode())["copies"][0]["path"] for text in texts] == ["memos/inbox/caf\ufffd.openthing"]


def test_every_line_of_the_example_is_read_back_as_it_was() -> None:
    """JSON in, JSON out; in UTF-8."""
    with open_folders(*EXAMPLE_SOURCES) as (archive, _):
        for entry in lines(archive, base_url="https://x.example/"):
            assert json.loads(dump_line(entry).encode("utf-8")) == entry


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_read_back_exactly(text: str) -> None:
    """Nothing that is a character is lost."""
    dumped = dump_line({"body": text})
    assert json.loads(dumped)["body"] == text
    assert len(dumped.splitlines()) == 1


@given(st.text(st.characters()))
def test_any_line_can_be_written_as_utf8(text: str) -> None:
    """Lone surrogates too; they are U+FFFD then."""
    assert "\ufffd" in dump_line({"body": f"{text}\ud800"}).encode("utf-8").decode("utf-8")
