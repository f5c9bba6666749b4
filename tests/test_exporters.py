"""Exports: where they are written, JSON Lines and CSV, the maildir as a folder, and the memory it all takes."""

import csv
import hashlib
import io
import json
import os
import stat
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from memosite.archive.lines import artifact_line, exported
from memosite.archive.model import Archive
from memosite.commands.export import FORMS, MARKER, export
from memosite.commands.export_forms import Export
from memosite.facts.errors import ConfigError, OutputError
from memosite.store.shelf import Shelf
from tests.support.archives import open_folders
from tests.support.files import write_text
from tests.support.memos import send, write_memo
from tests.support.sites import EXAMPLE_SOURCES

NAME = "2026-05-01-0900--engineer--director--gate"


def write(archive: Archive, shelf: Shelf, target: Path | BinaryIO, format_: str, *, with_body: bool = False) -> None:
    """Export without an address, in one format."""
    job = Export(
        archive=archive, shelf=shelf, with_body=with_body, base_url=None, archive_id="test",
        authority="memosite.invalid,2026",
    )  # fmt: skip
    export(job, format_, target)


def export_repo(repo: Path, target: Path, format_: str, *, with_body: bool = False) -> None:
    """Read one repo and export it."""
    with open_folders(repo) as (archive, shelf):
        write(archive, shelf, target, format_, with_body=with_body)


def tree(folder: Path) -> Mapping[str, tuple[str, int]]:
    """Return digest and time of every file below a folder."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), int(path.stat().st_mtime))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MARKER
    }


def messages(maildir: Path) -> list[str]:
    """Return the messages' files, below the folder."""
    return [name for name in tree(maildir) if "/" in name]


# Where it is written


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repo of one memo."""
    write_memo(tmp_path / "repo/memos/inbox", NAME)
    return tmp_path / "repo"


def test_equal_archives_give_equal_bytes_wherever_they_are_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither clock nor time zone nor an earlier export has a say; `export > file` and `-o file` are the same."""
    for zone, folder in (("UTC", "a"), ("Asia/Kathmandu", "b"), ("America/Lima", "b")):
        monkeypatch.setenv("TZ", zone)
        (tmp_path / folder).mkdir(exist_ok=True)
        with open_folders(*EXAMPLE_SOURCES) as (archive, shelf):
            for format_ in (*FORMS, "maildir"):
                write(archive, shelf, tmp_path / folder / format_, format_, with_body=True)
            for format_ in FORMS:
                stream = io.BytesIO()
                write(archive, shelf, stream, format_, with_body=True)
                assert (tmp_path / folder / format_).read_bytes() == stream.getvalue() != b""
    assert tree(tmp_path / "a/maildir") == tree(tmp_path / "b/maildir") != {}
    for format_ in FORMS:
        assert (tmp_path / "a" / format_).read_bytes() == (tmp_path / "b" / format_).read_bytes()


def test_a_failed_export_leaves_the_last_one_and_a_target_that_cannot_be_written_is_named(
    repo: Path, tmp_path: Path
) -> None:
    """A reader sees a whole export or none; no folder is made, nor replaced; an unknown format is a mistake."""
    target = tmp_path / "out"
    target.write_bytes(b"the last export")
    for format_ in ("jsonl", "csv", "mbox"):
        with open_folders(repo) as (archive, _), Shelf() as empty, pytest.raises(KeyError):
            write(archive, empty, target, format_, with_body=True)
        assert target.read_bytes() == b"the last export"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "repo"]
    for format_ in (*FORMS, "maildir"):
        with pytest.raises(OutputError, match=r"no/such/out: cannot be written \(No such file or directory\)"):
            export_repo(repo, tmp_path / "no/such/out", format_)
    with pytest.raises(OutputError, match="found a folder"):
        export_repo(repo, tmp_path, "jsonl")
    with open_folders(repo) as (archive, shelf):
        with pytest.raises(ConfigError, match="name it with -o"):
            write(archive, shelf, io.BytesIO(), "maildir")
        with pytest.raises(ConfigError, match="expected jsonl, mbox, maildir, csv"):
            write(archive, shelf, io.BytesIO(), "pdf")


def test_a_pipe_is_written_to_and_a_link_stays_a_link(repo: Path, tmp_path: Path) -> None:
    """`-o /dev/stdout`, run by root, replaces no device; what a link leads to has the rights of a new file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        export_repo(repo, pipe, "jsonl")
        assert json.loads(os.read(reader, 65_536))["id"] == NAME
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    there = write_text(tmp_path / "there/other", "").with_name("out")
    (tmp_path / "out").symlink_to(there)
    export_repo(repo, tmp_path / "out", "jsonl")
    assert (tmp_path / "out").is_symlink()
    assert json.loads(there.read_text(encoding="utf-8"))["id"] == NAME
    assert there.stat().st_mode == there.with_name("other").stat().st_mode


# JSON Lines and CSV


def test_json_lines_are_those_of_the_archive_and_a_table_has_as_many_rows_and_no_formula(tmp_path: Path) -> None:
    """Bodies where asked for, RFC 4180, lists joined; foreign words are texts and change no terminal."""
    target = tmp_path / "out.jsonl"
    with open_folders(*EXAMPLE_SOURCES) as (archive, shelf):
        expected = [artifact_line(artifact, archive, base_url=None) for artifact in exported(archive)]
        write(archive, shelf, target, "jsonl")
        assert [json.loads(text) for text in target.read_text(encoding="utf-8").splitlines()] == expected
        write(archive, shelf, target, "jsonl", with_body=True)
        write(archive, shelf, tmp_path / "out.csv", "csv")
    found = [json.loads(text) for text in target.read_text(encoding="utf-8").splitlines()]
    assert [list(entry)[-1] for entry in found] == ["body"] * len(expected)
    assert sum(len(entry["body"]) > 0 for entry in found) > 40
    assert target.read_bytes().endswith(b"}\n")
    text = (tmp_path / "out.csv").read_bytes().decode("utf-8")
    table = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert text.endswith("\r\n")
    assert len(table) == len(expected) + 1 and {len(row) for row in table} == {21}
    fields: dict[str, Any] = {"subject": 'A "gate"\nand more', "body": "All tests pass.", "action_required": True}
    for repo in ("alpha", "beta"):
        write_memo(tmp_path / repo / "memos/inbox", NAME, to="director, strategist", **fields)
    with open_folders(tmp_path / "alpha", tmp_path / "beta") as (archive, shelf):
        write(archive, shelf, tmp_path / "out.csv", "csv", with_body=True)
    (row,) = rows(tmp_path / "out.csv")
    path = f"memos/inbox/{NAME}.openthing"
    assert (row["id"], row["from"], row["to"], row["chars"]) == (NAME, "engineer", "director; strategist", "15")
    assert row["subject"] == 'A "gate"\nand more' and row["copies"] == f"alpha/{path}; beta/{path}"
    assert row["recipients"] == "director: open; strategist: open"
    assert (row["parent"], row["body"]) == ("", "All tests pass.")
    tmp_path /= "two"
    for start in ["=", "+", "-", "@", "\t", "\n", "＝"]:
        evil = f"{start}HYPERLINK(1)"
        fields = {"subject": evil, "body": f"{evil}\t\n", "sender": evil, "thread_id": evil}
        write_memo(tmp_path / "repo/memos/inbox", NAME, metadata={"tags": [evil]}, **fields)
        colours: dict[str, Any] = {"subject": "a \x1b[2J b", "body": "c \x9b31m\td\n\x07", "sender": "e\x1b]0;f"}
        write_memo(tmp_path / "repo/memos/inbox", "two", **colours)
        export_repo(tmp_path / "repo", tmp_path / "out.csv", "csv", with_body=True)
        row = next(one for one in rows(tmp_path / "out.csv") if one["id"] == NAME)
        assert (row["subject"], row["body"]) == (f"'{evil}", f"'{evil}\t\n"), start
        assert all(not cell.startswith(("=", "+", "-", "@", "\t", "\n", "＝")) for cell in row.values()), start
        text = (tmp_path / "out.csv").read_text(encoding="utf-8")
        assert all(char.isprintable() or char in "\t\r\n" for char in text), start
        assert "[2J" in text and "\td" in text, start


def rows(target: Path) -> list[dict[str, Any]]:
    """Return the rows of a table by column."""
    return list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"), newline="")))


# The maildir as a folder


def test_unread_messages_are_new_and_the_others_say_how_far_they_are(tmp_path: Path) -> None:
    """`new/` knows no flags; in `cur/` they stand in order. Each file has the time of its memo, and is not of today."""
    asks, memos, asked = {"action_required": True}, tmp_path / "repo/memos", "2026-05-04-0900--a--b--answered"
    send(memos / "inbox", "2026-05-01-0900--a--b--unread", sent="2026-05-01T09:00:00-04:00", **asks)
    send(memos / "read", "2026-05-02-0900--a--b--read")
    send(memos / "read", "2026-05-03-0900--a--b--open", asked, **asks)
    send(memos / "archive", "2026-05-05-0900--b--a--answer", in_reply_to=asked)
    send(memos / "read", "2026-05-06-0900--a--b--done", metadata={"discharged": {"on": "2026-05-07"}}, **asks)
    export_repo(tmp_path / "repo", tmp_path / "mail", "maildir")
    in_order = sorted(messages(tmp_path / "mail"), key=lambda name: name.split("/")[1])
    found = [(name.split("/")[0], name.partition(":")[2]) for name in in_order]
    assert found == [("new", ""), ("cur", "2,S"), ("cur", "2,FS"), ("cur", "2,RS"), ("cur", "2,S"), ("cur", "2,S")]
    assert tree(tmp_path / "mail")[in_order[0]][1] == 1_777_640_400


def test_exporting_again_moves_what_was_read_and_removes_what_is_gone(tmp_path: Path) -> None:
    """The maildir is as if it had been written anew; nothing is there twice.

    An export that was interrupted is completed by the next: every message is whole, and what lay in `tmp/` is gone.
    """
    repo, mail = tmp_path / "repo", tmp_path / "mail"
    for day in (1, 2, 3):
        write_memo(repo / "memos/inbox", f"2026-05-0{day}-0900--engineer--director--gate", body=f"Day {day}.")
    with open_folders(repo) as (archive, shelf):
        write(archive, shelf, tmp_path / "whole", "maildir")
        with Shelf() as partly:
            for text in ("Day 1.", "Day 2."):
                partly.put(text.encode())
            with pytest.raises(KeyError):
                write(archive, partly, mail, "maildir")
        assert set(messages(mail)) & set(messages(tmp_path / "whole")) == set(messages(tmp_path / "whole")[:2])
        write(archive, shelf, mail, "maildir")
    assert tree(mail) == tree(tmp_path / "whole")
    assert [name.split("/")[0] for name in messages(mail)] == ["new"] * 3
    (repo / "memos/inbox/2026-05-02-0900--engineer--director--gate.openthing").unlink()
    (repo / "memos/read").mkdir()
    read = f"{NAME}.openthing"
    (repo / "memos/inbox" / read).rename(repo / "memos/read" / read)
    export_repo(repo, mail, "maildir")
    export_repo(repo, tmp_path / "anew", "maildir")
    assert sorted(name.split("/")[0] for name in messages(mail)) == ["cur", "new"]
    assert tree(mail) == tree(tmp_path / "anew")


def test_a_maildir_goes_into_its_own_or_an_empty_folder_and_not_through_a_link(repo: Path, tmp_path: Path) -> None:
    """Any other is refused untouched; what others put into ours stays; nothing outside of it is written."""
    (tmp_path / "empty").mkdir()
    export_repo(repo, tmp_path / "empty", "maildir")
    assert len(messages(tmp_path / "empty")) == 1
    theirs = write_text(tmp_path / "empty/cur/1777640400.V1I2.host:2,S", "Subject: mine\n\n")
    export_repo(repo, tmp_path / "empty", "maildir")
    assert theirs.read_text(encoding="utf-8") == "Subject: mine\n\n"
    write_text(tmp_path / "theirs/new/1777640400.V1I2.host", "Subject: mine\n\n")
    with pytest.raises(OutputError, match="not empty and not memosite's"):
        export_repo(repo, tmp_path / "theirs", "maildir")
    assert list(tree(tmp_path / "theirs")) == ["new/1777640400.V1I2.host"]
    with pytest.raises(OutputError, match="found a file"):
        export_repo(repo, write_text(tmp_path / "file", ""), "maildir")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("tmp", "new", "cur", MARKER):
        mail = tmp_path / f"mail-{name}"
        mail.mkdir()
        if name != MARKER:
            (mail / MARKER).touch()
        (mail / name).symlink_to(elsewhere if name != MARKER else elsewhere / "file")
        with pytest.raises(OutputError, match="symbolic links"):
            export_repo(repo, mail, "maildir")
    assert list(elsewhere.iterdir()) == []


# Memory


def test_an_export_holds_one_text_at_a_time(tmp_path: Path) -> None:
    """An archive of any size can be exported: here one of 4.6 MB in an eighth of that, in each format."""
    for minute in range(100):
        paragraph = f"Wörter der {minute}. Minute. " * 8
        name = f"2026-05-01-{minute // 60:02d}{minute % 60:02d}--a--b--long"
        write_memo(tmp_path / "repo/memos/read", name, body=f"{paragraph}\n" * 250)
    with open_folders(tmp_path / "repo") as (archive, shelf):
        total = sum(artifact.chars for artifact in archive.artifacts.values())
        assert total > 4_500_000
        for format_ in (*FORMS, "maildir"):
            tracemalloc.start()
            try:
                write(archive, shelf, tmp_path / format_, format_, with_body=True)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert 200_000 < peak < total / 8
