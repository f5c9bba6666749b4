"""Exports as mail: messages that any program reads back exactly, whatever the content, and mutt shows in threads."""

import mailbox
import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memosite.archive.lines import exported
from memosite.commands.export import export
from memosite.commands.export_forms import ANCESTORS, LOCAL_PART, Export, dot_atom, encode_body, encode_text
from tests.support.archives import open_folders
from tests.support.files import write_text
from tests.support.memos import send, write_memo
from tests.support.sites import EXAMPLE_SOURCES
from tests.support.terminal import Terminal

NAME = "2026-05-01-0900--engineer--director--gate"
DOMAIN = "test.example.org"


HOSTILE = {
    "newlines": "one\r\nBcc: everybody@example.org\r\n\r\nand a body",
    "separators": "one\u2028two\u2029three\u0085four\x1b[31mred\x07",
    "long": "A subject that goes on and on. " * 160,
    "one long word": "x" * 4_900,
    "right to left": "\u202eשלום עולם, gate\u202c",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈 " * 60,
    "an encoded word": "=?utf-8?q?not?= encoded =?utf-8?b?YQ==?=",
    "spaces": "  two  spaces   and\ttabs  ",
    "punctuation": "a, b; (c) <d@e> \"f\" \\g [h]: 'i'",
    "combining": "e\u0301" * 200,
}
"""Subjects that would break a header, a screen or a table."""


def export_mail(*roots: Path, target: Path, format_: str = "mbox", **naming: Any) -> None:
    """Read repos and export them as mail, by default as the archive `test` of example.org without an address."""
    with open_folders(*roots, aliases=naming.get("aliases", {})) as (archive, shelf):
        job = Export(
            archive=archive, shelf=shelf, with_body=True, base_url=naming.get("base_url"),
            archive_id=naming.get("archive_id", "test"), authority=naming.get("authority", "example.org,2026"),
        )  # fmt: skip
        export(job, format_, target)


def read_mail(path: Path) -> list[EmailMessage]:
    """Read an mbox or a maildir with the standard library, in order."""
    box = mailbox.Maildir(path, create=False) if path.is_dir() else mailbox.mbox(path, create=False)
    try:
        return [as_modern(box.get_bytes(key)) for key in sorted(box.keys())]
    finally:
        box.close()


def as_modern(data: bytes) -> EmailMessage:
    """Parse with the package's present rules, which decode headers."""
    return message_from_bytes(data, policy=policy.default)


def text_of(message: EmailMessage) -> str:
    """Return the text of a message, byte for byte."""
    payload = message.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode("utf-8")


def mail_of(tmp_path: Path, format_: str = "mbox", *, repo: str = "repo", **naming: Any) -> list[EmailMessage]:
    """Export a repo to the file or folder `out`, and read it back."""
    export_mail(tmp_path / repo, target=tmp_path / "out", format_=format_, **naming)
    return read_mail(tmp_path / "out")


def export_memo(tmp_path: Path, **fields: Any) -> EmailMessage:
    """Export an archive of one memo with these fields, and read it back."""
    write_memo(tmp_path / "repo/memos/inbox", NAME, **{"body": "All tests pass.", **fields})
    (message,) = mail_of(tmp_path)
    assert message.defects == []
    return message


def as_one_line(text: str) -> str:
    """Return a subject as a header can hold it."""
    return "".join(" " if char in "\r\n\t\x07\x1b\x85\u2028\u2029" else char for char in text)


# What comes back


@pytest.mark.parametrize("format_", ["mbox", "maildir"])
def test_every_artifact_of_the_example_comes_back_with_its_subject_and_texts(format_: str, tmp_path: Path) -> None:
    """Memos, notes, transcripts, documents and libraries; a library's text is what it lists."""
    export_mail(*EXAMPLE_SOURCES, target=tmp_path / "out", format_=format_)
    with open_folders(*EXAMPLE_SOURCES) as (archive, shelf):
        expected = {
            f"<{artifact.kind}/{artifact.id}@{DOMAIN}>": (
                artifact.subject or artifact.short_subject,
                "\n\n* * *\n\n".join(shelf.text(text.sha256) for text in artifact.texts),
            )
            for artifact in exported(archive)
            if artifact.kind != "library"
        }
    mails = read_mail(tmp_path / "out")
    found = {str(mail["Message-ID"]): (str(mail["Subject"]), text_of(mail)) for mail in mails}
    libraries = {id_: found.pop(id_) for id_ in list(found) if id_.startswith("<library/")}
    assert found == expected and len(expected) > 50
    assert [("handoff" in text, text.count("\n- ")) for _, text in libraries.values()] == [(True, 2)]


def test_a_hostile_subject_is_one_header_and_comes_back_whole(tmp_path: Path) -> None:
    """Line ends and control characters become spaces; no header can be smuggled in.

    NUL and lone surrogates are U+FFFD since they were read; an empty subject is told by the name.
    """
    inbox = tmp_path / "repo/memos/inbox"
    for day, subject in enumerate(HOSTILE.values(), 1):
        write_memo(inbox, f"2026-05-{day:02d}-0900--a--b--odd", subject=subject, body="All tests pass.")
    write_memo(inbox, "2026-05-20-0901--a--b--the-gate", subject="  ", body="All tests pass.")
    known = '"catdef":"1.4","memodef":"0.4","type":"memodef:Memo","from":"a","to":"b","sent":"2026-05-21T09:00:00Z"'
    text = f'{{{known},"body":"All tests pass.","subject":"nul \\u0000 half \\ud83d end"}}'
    write_text(inbox / "2026-05-21-0900--a--b--odd.openthing", text)
    *found, blank, odd = mail_of(tmp_path)
    assert [one["Subject"] for one in found] == [as_one_line(one.replace("\r\n", "\n")) for one in HOSTILE.values()]
    assert blank["Subject"] == "The gate"
    assert re.fullmatch("nul \ufffd half \ufffd+ end", str(odd["Subject"]))
    for message in (*found, blank, odd):
        assert (message["Bcc"], message.defects, text_of(message)) == (None, [], "All tests pass.")
    lines = (tmp_path / "out").read_bytes().split(b"\n")
    assert max(map(len, lines)) <= 998 and all(len(line) <= 76 for line in lines if b"=?" in line)


BODIES = (
    *("From here on\n", "From here on\nFrom there\n>From both\n>>From all", "Straße " * 40 + "\nFrom now on\n"),
    *("x" * 74 + "ü From", "a long line " * 200 + "From the middle", "no newline at the end"),
    *("trailing spaces  \n\ttabs\t\n\n\n", "x" * 76, "ü" * 5_000, "\x1b[2J\x0c", ".\n..\nSubject: not one\n\n"),
)


def test_any_body_comes_back_exactly_and_starts_no_other_message(tmp_path: Path) -> None:
    """A `From ` line in a body neither splits the message nor is changed, whatever the dialect of the reader."""
    for day, text in enumerate(BODIES, 1):
        write_memo(tmp_path / "repo/memos/inbox", f"2026-05-{day:02d}-0900--engineer--director--gate", body=text)
    for format_ in ("mbox", "maildir"):
        export_mail(tmp_path / "repo", target=tmp_path / format_, format_=format_)
        assert [text_of(message) for message in read_mail(tmp_path / format_)] == list(BODIES)
    lines = (tmp_path / "mbox").read_bytes().split(b"\n")
    assert sum(bool(re.match(b">*From ", line)) for line in lines) == len(BODIES)
    assert max(len(line) for line in lines) <= 998


@given(st.text(st.characters(codec="utf-8")))
@example("From ")
@example("From here on\n")
@example(">>From here on\n")
@example("x" * 76)
@example("x" * 152)
@example("=\n=20\n")
@example("x" * 75 + " ")
def test_any_text_survives_its_transfer_encoding_and_as_a_header(text: str) -> None:
    """It is what it was, but for what no line can hold; no line is taken for another, no header for a next one."""
    encoding, data = encode_body(text.encode("utf-8"))
    head = f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n"
    message = as_modern(head.encode() + data)
    assert text_of(message) == text
    assert not re.search(rb"^>*From ", data, re.MULTILINE) and (data == b"" or data.endswith(b"\n"))
    assert max(map(len, data.split(b"\n"))) <= (900 if encoding == "7bit" else 76)
    value = encode_text(text, header="Subject")
    message = as_modern(f"Subject: {value}\nX-Next: 1\n\n".encode("ascii"))
    clean = "".join(" " if char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" else char for char in text)
    assert message["Subject"] == clean and message.keys() == ["Subject", "X-Next"]


# Headers


def test_a_memo_has_the_headers_of_a_mail_and_the_texts_of_envelope_and_body_file(tmp_path: Path) -> None:
    """Who, to whom, when, which thread, what is open, where it is; the envelope's text comes first."""
    fields: dict[str, Any] = {"subject": "The gate is green", "sent": "2026-05-01T09:00:00-04:00", "thread_id": "gates"}
    write_memo(tmp_path / "repo/memos/inbox", NAME, to="director, strategist", action_required=True, **fields)
    (message,) = mail_of(tmp_path, base_url="https://memos.example/")
    assert {name.lower(): str(value) for name, value in message.items()} == {
        "x-status": "F", "from": "engineer <engineer@test.invalid>",
        "to": "director <director@test.invalid>, strategist <strategist@test.invalid>", "subject": "The gate is green",
        "date": "Fri, 01 May 2026 09:00:00 -0400", "message-id": f"<memo/{NAME}@{DOMAIN}>",
        "archived-at": f"<https://memos.example/memos/{NAME}/>", "x-memosite-thread": "gates",
        "x-memosite-action": "open", "x-memosite-path": f"repo/memos/inbox/{NAME}.openthing", "mime-version": "1.0",
        "content-type": 'text/plain; charset="utf-8"',
        "content-transfer-encoding": message["Content-Transfer-Encoding"],
    }  # fmt: skip
    message = export_memo(tmp_path, body="In short: yes.", body_ref=f"{NAME}.body.md")
    assert text_of(message) == "In short: yes."
    write_text(tmp_path / "repo" / f"memos/inbox/{NAME}.body.md", "At length.\n")
    (message,) = mail_of(tmp_path)
    assert text_of(message) == "In short: yes.\n\n* * *\n\nAt length.\n"


def test_addresses_have_the_names_of_the_positions_and_the_ids_as_written(tmp_path: Path) -> None:
    """A seat that was renamed is shown by its present name; its old memos keep their old address."""
    naming: dict[str, Any] = {"archive_id": "fernhill", "aliases": {"opac-engineer": "web-engineer"}}
    export_mail(*EXAMPLE_SOURCES, target=tmp_path / "out.mbox", **naming)
    written = [m[name] for m in read_mail(tmp_path / "out.mbox") for name in ("From", "To") if m[name]]
    found = {address.addr_spec: address.display_name for header in written for address in header.addresses}
    assert found["front-desk@fernhill.invalid"] == "Lending desk"
    assert found["opac-engineer@fernhill.invalid"] == found["web-engineer@fernhill.invalid"] == "Web engineer"
    assert {"all@fernhill.invalid", "file@fernhill.invalid", "document@fernhill.invalid"} <= set(found)


ODD_NAMES = (
    *("a b@c <d>", "x\r\nBcc: everybody@example.org", '"; \\ (comment) ', "...", "a..b.", "größe", "界" * 300),
    *("org/position", "100%", "n" * 5_000, "👩‍👩‍👧‍👦", "=?utf-8?q?x?="),
)


def test_any_name_becomes_a_valid_address_of_its_own(tmp_path: Path) -> None:
    """The local part fits into 64 bytes, parses without defect, and is of ASCII."""
    for name in ODD_NAMES:
        message = export_memo(tmp_path, sender=name, to=f"director,{name}x".replace("\r\n", " "))
        (sender,) = message["From"].addresses
        assert message["From"].defects == (), name
        assert sender.domain == "test.invalid", name
        assert sender.username.isascii(), name
        assert 0 < len(sender.username) <= LOCAL_PART, name
        assert re.fullmatch(r"[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*", sender.username, re.ASCII)
        assert message["Bcc"] is None, name
        recipients = [address.addr_spec for address in message["To"].addresses]
        assert recipients[0] == "director@test.invalid", name
        assert len({sender.addr_spec, *recipients}) == 3, name


@given(st.text(st.characters()))
def test_dot_atoms_are_valid_and_tell_texts_apart(text: str) -> None:
    """No two texts share a message id; decoding gives the text back."""
    atom = dot_atom(text)
    assert re.fullmatch(r"[\w%/~-]+(\.[\w%/~-]+)*", atom, re.ASCII)
    assert unquote(atom, errors="surrogatepass") == (text or "\0")


def test_a_date_keeps_its_offset(tmp_path: Path) -> None:
    """RFC 5322: -0000 says that the zone is not known; years before 1900 cannot be said.

    The line before a message has its date in UTC, as C's asctime writes it: a day below ten has a blank in front.
    """
    for sent, written, line in [
        ("2026-05-01T09:00:00-04:00", "Fri, 01 May 2026 09:00:00 -0400", "Fri May  1 13:00:00 2026"),
        ("2026-05-01T23:00:00-04:00", "Fri, 01 May 2026 23:00:00 -0400", "Sat May  2 03:00:00 2026"),
        ("2026-05-01T09:00:00Z", "Fri, 01 May 2026 09:00:00 +0000", "Fri May  1 09:00:00 2026"),
        ("2026-05-01T09:00:00", "Fri, 01 May 2026 09:00:00 -0000", "Fri May  1 09:00:00 2026"),
        ("2026-05-01T00:10:00+05:45", "Fri, 01 May 2026 00:10:00 +0545", "Thu Apr 30 18:25:00 2026"),
        ("9999-12-31T24:00:00+05:00", "Fri, 31 Dec 9999 19:00:00 +0000", "Fri Dec 31 19:00:00 9999"),
        ("1066-10-14T09:00:00Z", None, ""),
        ("soon", "Fri, 01 May 2026 09:00:00 -0000", "Fri May  1 09:00:00 2026"),
    ]:
        assert export_memo(tmp_path, sent=sent)["Date"] == written
        first = (tmp_path / "out").read_bytes().split(b"\n")[0].decode()
        assert first == f"From engineer@test.invalid {line}" or not line, sent


def test_an_mbox_has_the_flags_of_the_maildir_and_a_memo_without_any_date_the_epoch(tmp_path: Path) -> None:
    """`Status` and `X-Status`, which mutt and Dovecot read; names of files and archive make valid ids."""
    memos, asked = tmp_path / "repo/memos", "2026-05-02-0900--a--b--asked"
    send(memos / "inbox", "2026-05-01-0900--a--b--unread", action_required=True)
    send(memos / "read", asked, action_required=True)
    send(memos / "archive", "2026-05-03-0900--a--b--open", action_required=True)
    send(memos / "read", "2026-05-04-0900--b--a--answer", in_reply_to=asked)
    export_mail(tmp_path / "repo", target=tmp_path / "out")
    box = mailbox.mbox(tmp_path / "out", create=False)
    flags = [message.get_flags() for message in box]
    box.close()
    assert flags == ["F", "ROA", "ROF", "RO"]
    tmp_path /= "two"
    write_memo(tmp_path / "repo/memos/inbox", "gate", sent=None)
    (message,) = mail_of(tmp_path)
    assert message["Date"] is None
    assert (tmp_path / "out").read_bytes().startswith(b"From engineer@test.invalid Thu Jan  1 00:00:00 1970\n")
    odd = write_memo(tmp_path / "odd/memos/inbox", "grüße..und.").stem
    write_memo(tmp_path / "odd/memos/inbox", "re", in_reply_to=f"{odd}.openthing", sent="2026-05-02T09:00:00Z")
    parent, reply = mail_of(tmp_path, repo="odd", archive_id=".a_b.", authority="me@example.org,2026-01")
    assert parent["Message-ID"] == "<memo/gr%C3%BC%C3%9Fe%2E.und%2E@%2Ea_b%2E.example.org>"
    assert reply["In-Reply-To"] == reply["References"] == parent["Message-ID"]


# Threads


def references(message: EmailMessage) -> list[str]:
    """Return the subject lines' short names in `References`: what stands between `--` and `@`."""
    return re.findall(r"<([^@>]+)@", str(message["References"] or ""))


def test_a_reply_refers_to_its_chain_up_to_a_ghost_and_joined_memos_to_their_thread(tmp_path: Path) -> None:
    """By the id that the ghost's memo would have; a long chain is cut to the nearest ancestors."""
    ghost = "2026-04-30-0900--director--engineer--lost"
    parent, count = f"{ghost}.openthing", ANCESTORS + 5
    names = [f"2026-05-01-{number // 60:02d}{number % 60:02d}--a--b--re" for number in range(count)]
    for name in names:
        parent = send(tmp_path / "repo/memos/inbox", name, in_reply_to=parent)[0].name
    messages = mail_of(tmp_path)
    found = [references(message) for message in messages]
    assert found[2] == [f"memo/{ghost}", f"memo/{names[0]}", f"memo/{names[1]}"]
    assert messages[2]["In-Reply-To"] == f"<memo/{names[1]}@{DOMAIN}>"
    assert [len(chain) for chain in found] == [min(number + 1, ANCESTORS) for number in range(count)]
    assert found[-1][-1] == f"memo/{names[-2]}"
    inbox, first = tmp_path / "two/memos/inbox", "2026-05-01-0900--a--b--one"
    send(inbox, first, "2026-05-02-0900--a--b--two", thread_id="gates")
    send(inbox, "2026-05-03-0900--b--a--re", in_reply_to=first)
    send(inbox, "2026-05-04-0900--a--b--lone", thread_id="alone")
    told = [(references(message), message["In-Reply-To"]) for message in mail_of(tmp_path, repo="two")]
    reply = (["thread/gates", f"memo/{first}"], f"<memo/{first}@{DOMAIN}>")
    assert told == [(["thread/gates"], None), (["thread/gates"], None), reply, ([], None)]


# In mutt: what a mail reader shows that has only the headers to go by

MUTTRC = """\
set ascii_chars
set sort=threads
set index_format="%C|%Z|%F|%s"
set status_format="READY %m"
set folder="."
set record=""
set mbox=""
set sleep_time=0
unset beep
unset mark_old
"""


def shown_by_mutt(box: Path, *, count: int) -> list[str]:
    """Open a mailbox of so many messages in mutt, and give the lines of its index."""
    (box.parent / "muttrc").write_text(MUTTRC, encoding="utf-8")
    command = ["mutt", "-n", "-F", "muttrc", "-R", "-f", box.name]
    environment = {"HOME": str(box.parent), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    with Terminal(command, folder=box.parent, environment=environment) as terminal:
        shown = terminal.wait_for(
            lambda lines: f"READY {count}" in lines and sum("|" in line for line in lines) == count
        )
        terminal.press("x")
        assert terminal.finish() == 0
    return [line.strip() for line in shown if "|" in line]


def write_conversation(repo: Path) -> None:
    """Write a memo with replies, two memos under a ghost, and two memos that a thread id joins."""
    engineer, director = "engineer--director", "director--engineer"
    first, yes = f"2026-05-01-0900--{engineer}--first", f"2026-05-01-1000--{director}--yes"
    read, asks = repo / "memos/read", {"action_required": True}
    send(read, first, subject="First", **asks)
    send(read, yes, subject="Yes", in_reply_to=first)
    send(repo / "memos/inbox", f"2026-05-01-1100--{engineer}--when", subject="When?", in_reply_to=yes, **asks)
    send(read, f"2026-05-01-1200--{engineer}--also", subject="Grüße, 2", in_reply_to=first, **asks)
    for hour in (10, 11):
        lost = {"in_reply_to": "2026-05-01-0900--x--y--lost.openthing"}
        send(read, f"2026-05-02-{hour}00--{engineer}--lost", subject=f"Lost {hour}", **lost)
        send(read, f"2026-05-03-{hour}00--{engineer}--gate", subject=f"Gate {hour}", thread_id="gates")


TREE = ["First", "|->Yes", "| `->When?", "`->Grüße, 2", "-->Lost 10", "`->Lost 11", "-->Gate 10", "`->Gate 11"]


@pytest.mark.parametrize("format_", ["mbox", "maildir"])
def test_mutt_shows_the_threads_and_what_is_new_open_and_answered(format_: str, tmp_path: Path) -> None:
    """The tree of the archive, drawn by a mail reader that has only the headers to go by."""
    write_conversation(tmp_path / "repo")
    export_mail(tmp_path / "repo", target=tmp_path / format_, format_=format_)
    shown = shown_by_mutt(tmp_path / format_, count=8)
    flags, senders, subjects = zip(*(line.split("|", 3)[1:] for line in shown), strict=True)
    assert subjects[0] == "First" and list(subjects) == TREE
    assert senders[:3] == ("engineer", "director", "engineer")
    new = "N !" if format_ == "mbox" else "N"  # `new/` knows no flags
    assert [flag.strip() for flag in flags] == ["r", "", new, "!", "", "", "", ""]


@pytest.mark.parametrize("format_", ["mbox", "maildir"])
def test_mutt_reads_every_message_of_a_hostile_archive(format_: str, tmp_path: Path) -> None:
    """Nothing splits a message in two, ends the index, or writes over the screen."""
    for day, subject in enumerate(HOSTILE.values(), 1):
        fields = {"sender": f"{subject[:40]},", "subject": subject, "body": subject}
        send(tmp_path / "repo/memos/inbox", f"2026-05-{day:02d}-0900--a--b--odd", **fields)
    export_mail(tmp_path / "repo", target=tmp_path / format_, format_=format_)
    shown = shown_by_mutt(tmp_path / format_, count=len(HOSTILE))
    assert [line.split("|")[0].strip() for line in shown] == [str(n) for n in range(1, len(HOSTILE) + 1)]
    assert shown[0].endswith("|one Bcc: everybody@example.org  and a body")
