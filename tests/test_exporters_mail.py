"""Exports as mail: messages that any program reads back exactly, whatever the content."""

import mailbox
import re
from email import message_from_bytes, policy
from email.headerregistry import Address
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memosite.archive.lines import all_texts, exported
from memosite.commands.export_forms import ANCESTORS, LOCAL_PART, Composer, Export, dot_atom, encode_body, encode_text
from tests.support.archives import open_folders
from tests.support.exports import HOSTILE, export_mail
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.sites import EXAMPLE_SOURCES

NAME = "2026-05-01-0900--engineer--director--gate"
DOMAIN = "test.example.org"


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


def export_memo(tmp_path: Path, **fields: Any) -> EmailMessage:
    """Export an archive of one memo with these fields, and read it back."""
    write_memo(tmp_path / "repo/memos/inbox", NAME, **{"body": "All tests pass.", **fields})
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox")
    (message,) = read_mail(tmp_path / "out.mbox")
    assert message.defects == []
    return message


def as_one_line(text: str) -> str:
    """Return a subject as a header can hold it."""
    return "".join(" " if char in "\r\n\t\x07\x1b\x85\u2028\u2029" else char for char in text)


# What comes back


@pytest.mark.parametrize("format_", ["mbox", "maildir"])
def test_every_artifact_of_the_example_comes_back_with_its_subject_and_texts(format_: str, tmp_path: Path) -> None:
    """Memos, notes, transcripts, documents and libraries; a library's text is what it lists."""
    target = tmp_path / "out"
    export_mail(*EXAMPLE_SOURCES, target=target, format_=format_)
    with open_folders(*EXAMPLE_SOURCES) as (archive, shelf):
        expected = {
            f"<{artifact.kind}/{artifact.id}@{DOMAIN}>": (
                artifact.subject or artifact.short_subject,
                "\n\n* * *\n\n".join(shelf.text(text.sha256) for text in all_texts(artifact)),
            )
            for artifact in exported(archive)
            if artifact.kind != "library"
        }
    found = {str(message["Message-ID"]): (str(message["Subject"]), text_of(message)) for message in read_mail(target)}
    libraries = {id_: found.pop(id_) for id_ in list(found) if id_.startswith("<library/")}
    assert found == expected
    assert len(expected) > 50
    assert [("handoff" in text, text.count("\n- ")) for _, text in libraries.values()] == [(True, 2)]


@pytest.mark.parametrize("subject", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_subject_is_one_header_and_comes_back_whole(subject: str, tmp_path: Path) -> None:
    """Line ends and control characters become spaces; no header can be smuggled in."""
    message = export_memo(tmp_path, subject=subject)
    assert message["Subject"] == as_one_line(subject.replace("\r\n", "\n"))
    assert message["Bcc"] is None
    assert text_of(message) == "All tests pass."
    lines = (tmp_path / "out.mbox").read_bytes().split(b"\n")
    assert max(map(len, lines)) <= 998
    assert all(len(line) <= 76 for line in lines if b"=?" in line)


def test_a_subject_of_what_is_no_text_still_comes_back(tmp_path: Path) -> None:
    """NUL and lone surrogates are U+FFFD since they were read; an empty subject is told by the name."""
    text = (
        '{"catdef":"1.4","memodef":"0.4","type":"memodef:Memo","from":"a","to":"b","sent":"2026-05-01T09:00:00Z",'
        '"body":"x","subject":"nul \\u0000 half \\ud83d end"}'
    )
    write_text(tmp_path / "repo/memos/inbox/odd.openthing", text)
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-01-0901--a--b--the-gate", subject="  ")
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox")
    odd, blank = read_mail(tmp_path / "out.mbox")
    assert re.fullmatch("nul \ufffd half \ufffd+ end", str(odd["Subject"]))
    assert blank["Subject"] == "The gate"


@pytest.mark.parametrize(
    "text",
    [
        "From here on\n",
        "From here on\nFrom there\n>From both\n>>From all",
        "Straße " * 40 + "\nFrom now on\n",
        "x" * 74 + "ü From",
        "a long line " * 200 + "From the middle",
        "no newline at the end",
        "trailing spaces  \n\ttabs\t\n\n\n",
        "x" * 76,
        "ü" * 5_000,
        "\x1b[2J\x0c",
        ".\n..\nSubject: not one\n\n",
    ],
)
def test_any_body_comes_back_exactly_and_starts_no_other_message(text: str, tmp_path: Path) -> None:
    """A `From ` line in a body neither splits the message nor is changed, whatever the dialect of the reader."""
    write_memo(tmp_path / "repo/memos/inbox", NAME, body=text)
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-02-0900--engineer--director--next", body="All tests pass.")
    for format_ in ("mbox", "maildir"):
        export_mail(tmp_path / "repo", target=tmp_path / format_, format_=format_)
        first, second = read_mail(tmp_path / format_)
        assert (text_of(first), text_of(second)) == (text, "All tests pass.")
    lines = (tmp_path / "mbox").read_bytes().split(b"\n")
    assert sum(bool(re.match(b">*From ", line)) for line in lines) == 2
    assert max(len(line) for line in lines) <= 998


def test_a_message_holds_the_text_of_the_envelope_before_that_of_the_body_file(tmp_path: Path) -> None:
    """Mail has no field for a summary, so a short one stands in the text, too."""
    message = export_memo(tmp_path, body="In short: yes.", body_ref=f"{NAME}.body.md")
    assert text_of(message) == "In short: yes."
    write_text(tmp_path / "repo" / f"memos/inbox/{NAME}.body.md", "At length.\n")
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox")
    (message,) = read_mail(tmp_path / "out.mbox")
    assert text_of(message) == "In short: yes.\n\n* * *\n\nAt length.\n"


@given(st.text(st.characters(codec="utf-8")))
@example("From ")
@example("From here on\n")
@example(">>From here on\n")
@example("x" * 76)
@example("x" * 152)
@example("=\n=20\n")
@example("x" * 75 + " ")
def test_any_text_survives_its_transfer_encoding(text: str) -> None:
    """Decoded by the standard library, it is what it was; the encoded form has no line to be taken for another."""
    encoding, data = encode_body(text.encode("utf-8"))
    head = f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n"
    message = as_modern(head.encode() + data)
    assert text_of(message) == text
    assert not re.search(rb"^>*From ", data, re.MULTILINE)
    assert data == b"" or data.endswith(b"\n")
    assert max(map(len, data.split(b"\n"))) <= (900 if encoding == "7bit" else 76)


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_survives_as_a_header(text: str) -> None:
    """Apart from what cannot stand in a line, it is what it was; folded, it is no other header."""
    value = encode_text(text, header="Subject")
    message = as_modern(f"Subject: {value}\nX-Next: 1\n\n".encode("ascii"))
    clean = "".join(" " if char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" else char for char in text)
    assert message["Subject"] == clean
    assert message.keys() == ["Subject", "X-Next"]


# Headers


def test_a_memo_has_the_headers_of_a_mail(tmp_path: Path) -> None:
    """Who, to whom, when (with the written offset), which thread, what is open, where it lies."""
    fields: dict[str, Any] = {"subject": "The gate is green", "sent": "2026-05-01T09:00:00-04:00", "thread_id": "gates"}
    write_memo(tmp_path / "repo/memos/inbox", NAME, to="director, strategist", action_required=True, **fields)
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox", base_url="https://memos.example/")
    (message,) = read_mail(tmp_path / "out.mbox")
    assert {name.lower(): str(value) for name, value in message.items()} == {
        "x-status": "F",
        "from": "engineer <engineer@test.invalid>",
        "to": "director <director@test.invalid>, strategist <strategist@test.invalid>",
        "subject": "The gate is green",
        "date": "Fri, 01 May 2026 09:00:00 -0400",
        "message-id": f"<memo/{NAME}@{DOMAIN}>",
        "archived-at": f"<https://memos.example/memos/{NAME}/>",
        "x-memosite-thread": "gates",
        "x-memosite-action": "open",
        "x-memosite-path": f"repo/memos/inbox/{NAME}.openthing",
        "mime-version": "1.0",
        "content-type": 'text/plain; charset="utf-8"',
        "content-transfer-encoding": message["Content-Transfer-Encoding"],
    }


def test_addresses_have_the_names_of_the_positions_and_the_ids_as_written() -> None:
    """A seat that was renamed is shown by its present name; its old memos keep their old address."""
    with open_folders(*EXAMPLE_SOURCES, aliases={"opac-engineer": "web-engineer"}) as (archive, shelf):
        job = Export(
            archive=archive,
            shelf=shelf,
            with_body=True,
            base_url=None,
            archive_id="fernhill",
            authority="f.example,2026",
        )
        composer = Composer(job)
        found = {
            address.addr_spec: address.display_name
            for artifact in exported(archive)
            for address in addresses(as_modern(composer.compose(artifact)))
        }
    assert found["front-desk@fernhill.invalid"] == "Lending desk"
    assert found["opac-engineer@fernhill.invalid"] == found["web-engineer@fernhill.invalid"] == "Web engineer"
    assert {"all@fernhill.invalid", "file@fernhill.invalid", "document@fernhill.invalid"} <= set(found)


def addresses(message: EmailMessage) -> list[Address]:
    """Return the addresses of sender and recipients."""
    return [address for name in ("From", "To") if message[name] for address in message[name].addresses]


@pytest.mark.parametrize(
    "name",
    [
        "a b@c <d>",
        "x\r\nBcc: everybody@example.org",
        '"; \\ (comment) ',
        "...",
        "a..b.",
        "größe",
        "界" * 300,
        "org/position",
        "100%",
        "n" * 5_000,
        "👩‍👩‍👧‍👦",
        "=?utf-8?q?x?=",
    ],
)
def test_any_name_becomes_a_valid_address_of_its_own(name: str, tmp_path: Path) -> None:
    """The local part fits into 64 bytes, parses without defect, and is of ASCII."""
    message = export_memo(tmp_path, sender=name, to=f"director,{name}x".replace("\r\n", " "))
    (sender,) = message["From"].addresses
    assert message["From"].defects == ()
    assert sender.domain == "test.invalid"
    assert sender.username.isascii()
    assert 0 < len(sender.username) <= LOCAL_PART
    assert re.fullmatch(r"[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*", sender.username, re.ASCII)
    assert message["Bcc"] is None
    recipients = [address.addr_spec for address in message["To"].addresses]
    assert recipients[0] == "director@test.invalid"
    assert len({sender.addr_spec, *recipients}) == 3


@given(st.text(st.characters()))
def test_dot_atoms_are_valid_and_tell_texts_apart(text: str) -> None:
    """No two texts share a message id; decoding gives the text back."""
    atom = dot_atom(text)
    assert re.fullmatch(r"[\w%/~-]+(\.[\w%/~-]+)*", atom, re.ASCII)
    assert unquote(atom, errors="surrogatepass") == (text or "\0")


def test_a_hostile_id_and_configuration_make_valid_message_ids(tmp_path: Path) -> None:
    """Whatever the name of a file and of the archive, other messages can refer to it."""
    first = write_memo(tmp_path / "repo/memos/inbox", "grüße..und.").stem
    write_memo(tmp_path / "repo/memos/inbox", "re", in_reply_to=f"{first}.openthing", sent="2026-05-02T09:00:00Z")
    export_mail(tmp_path / "repo", target=tmp_path / "m", archive_id=".a_b.", authority="me@example.org,2026-01")
    parent, reply = read_mail(tmp_path / "m")
    assert parent["Message-ID"] == "<memo/gr%C3%BC%C3%9Fe%2E.und%2E@%2Ea_b%2E.example.org>"
    assert reply["In-Reply-To"] == reply["References"] == parent["Message-ID"]


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ("2026-05-01T09:00:00-04:00", "Fri, 01 May 2026 09:00:00 -0400"),
        ("2026-05-01T09:00:00Z", "Fri, 01 May 2026 09:00:00 +0000"),
        ("2026-05-01T09:00:00", "Fri, 01 May 2026 09:00:00 -0000"),
        ("2026-05-01T00:10:00+05:45", "Fri, 01 May 2026 00:10:00 +0545"),
        ("9999-12-31T24:00:00+05:00", "Fri, 31 Dec 9999 19:00:00 +0000"),
        ("1066-10-14T09:00:00Z", None),
        ("soon", "Fri, 01 May 2026 09:00:00 -0000"),
    ],
)
def test_a_date_keeps_its_offset(sent: str, written: str | None, tmp_path: Path) -> None:
    """RFC 5322: -0000 says that the zone is not known; years before 1900 cannot be said."""
    message = export_memo(tmp_path, sent=sent)
    assert message["Date"] == written


def test_a_memo_without_any_date_has_none_and_its_line_that_of_the_epoch(tmp_path: Path) -> None:
    """A `From ` line must have a date; a header may be left out."""
    write_memo(tmp_path / "repo/memos/inbox", "gate", sent=None)
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox")
    (message,) = read_mail(tmp_path / "out.mbox")
    assert message["Date"] is None
    first = (tmp_path / "out.mbox").read_bytes().split(b"\n")[0]
    assert first == b"From engineer@test.invalid Thu Jan  1 00:00:00 1970"


def test_the_line_before_a_message_has_its_date_in_utc(tmp_path: Path) -> None:
    """As C's asctime writes it; a day below ten has a blank in front."""
    export_memo(tmp_path, sent="2026-05-01T23:00:00-04:00")
    first = (tmp_path / "out.mbox").read_bytes().split(b"\n")[0]
    assert first == b"From engineer@test.invalid Sat May  2 03:00:00 2026"


def test_an_mbox_has_the_flags_of_the_maildir(tmp_path: Path) -> None:
    """`Status` and `X-Status` are what mutt and Dovecot read; Python gives them as flags."""
    asks: dict[str, Any] = {"action_required": True}
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-01-0900--a--b--unread", **asks)
    asked = write_memo(tmp_path / "repo/memos/read", "2026-05-02-0900--a--b--asked", **asks).stem
    write_memo(tmp_path / "repo/memos/archive", "2026-05-03-0900--a--b--open", **asks)
    answer: dict[str, Any] = {"sender": "director", "to": "engineer", "in_reply_to": asked}
    write_memo(tmp_path / "repo/memos/read", "2026-05-04-0900--b--a--answer", **answer)
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox")
    box = mailbox.mbox(tmp_path / "out.mbox", create=False)
    flags = [message.get_flags() for message in box]
    box.close()
    assert flags == ["F", "ROA", "ROF", "RO"]


# Threads


def references(message: EmailMessage) -> list[str]:
    """Return the subject lines' short names in `References`: what stands between `--` and `@`."""
    return re.findall(r"<([^@>]+)@", str(message["References"] or ""))


def test_a_reply_refers_to_its_whole_chain_up_to_a_ghost(tmp_path: Path) -> None:
    """The ghost is named by the id that its memo would have, so that it falls into place when it comes."""
    ghost = "2026-04-30-0900--director--engineer--lost"
    parent = f"{ghost}.openthing"
    for day in (1, 2, 3):
        name = write_memo(tmp_path / "repo/memos/inbox", f"2026-05-0{day}-0900--a--b--re", in_reply_to=parent).stem
        parent = f"{name}.openthing"
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox")
    *_, last = read_mail(tmp_path / "out.mbox")
    assert references(last) == [f"memo/{ghost}", "memo/2026-05-01-0900--a--b--re", "memo/2026-05-02-0900--a--b--re"]
    assert last["In-Reply-To"] == f"<memo/2026-05-02-0900--a--b--re@{DOMAIN}>"


def test_a_long_chain_is_cut_to_the_nearest_ancestors(tmp_path: Path) -> None:
    """Else a conversation of n memos would take n times n references."""
    parent = None
    for number in range(ANCESTORS + 5):
        name = f"2026-05-01-{number // 60:02d}{number % 60:02d}--a--b--re"
        sent = f"2026-05-01T{number // 60:02d}:{number % 60:02d}:00Z"
        parent = write_memo(tmp_path / "repo/memos/inbox", name, in_reply_to=parent, sent=sent).name
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox")
    found = [references(message) for message in read_mail(tmp_path / "out.mbox")]
    assert [len(chain) for chain in found] == [min(number, ANCESTORS) for number in range(ANCESTORS + 5)]
    assert found[-1][-1] == "memo/2026-05-01-0053--a--b--re"


def test_memos_that_only_a_thread_id_joins_refer_to_their_thread(tmp_path: Path) -> None:
    """They reply to nothing, so there is no `In-Reply-To`; a thread of one tree needs no such reference."""
    inbox = tmp_path / "repo/memos/inbox"
    first = write_memo(inbox, "2026-05-01-0900--a--b--one", thread_id="gates", sent="2026-05-01T09:00:00Z").stem
    write_memo(inbox, "2026-05-02-0900--a--b--two", thread_id="gates", sent="2026-05-02T09:00:00Z")
    write_memo(inbox, "2026-05-03-0900--b--a--re", in_reply_to=first, sent="2026-05-03T09:00:00Z")
    write_memo(inbox, "2026-05-04-0900--a--b--lone", thread_id="alone", sent="2026-05-04T09:00:00Z")
    export_mail(tmp_path / "repo", target=tmp_path / "out.mbox")
    found = [(references(message), message["In-Reply-To"]) for message in read_mail(tmp_path / "out.mbox")]
    assert found == [
        (["thread/gates"], None),
        (["thread/gates"], None),
        (["thread/gates", f"memo/{first}"], f"<memo/{first}@{DOMAIN}>"),
        ([], None),
    ]
