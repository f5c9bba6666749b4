"""The forms of an export: JSON Lines, CSV, and mail, RFC 5322 messages with the archive's threads and dates.

Artifacts come in order of arrival and one at a time; memory holds one text, however large the archive. Equal archives
give equal bytes.

CSV is UTF-8 without byte-order mark, CRLF, a header row, lists joined by `; `. A spreadsheet must not run a memo's
text: one that looks like a formula gets a leading apostrophe (OWASP, CSV Injection).

Whatever the content, a message is valid: a name becomes an address whose domain can never exist (`.invalid`,
RFC 2606), a subject one line of encoded words (RFC 2047), and a text is encoded so that no line of it begins with
`From ` or `>From `. Hence nothing needs to be quoted, and an mbox reads the same as mboxo, mboxrd and by readers that
unquote nothing. `Status` and `X-Status` hold the flags, as mutt, Dovecot and Python understand them.
"""

import base64
import binascii
import csv
import datetime as dt
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from email.header import Header
from email.message import Message
from email.policy import compat32
from email.utils import format_datetime
from urllib.parse import quote

from memosite.archive.lines import artifact_line, body_texts, dump_line, exported, join_texts, notice_of, with_body
from memosite.archive.mailboxes import states_of
from memosite.archive.model import Archive, Artifact, Library, Memo, Transcript
from memosite.archive.urls import absolute, page_of
from memosite.facts.characters import harmless
from memosite.facts.names import short_hash
from memosite.facts.parsed import LibraryCard, Ref
from memosite.facts.patterns import regex
from memosite.facts.texts import cut_line, one_line
from memosite.facts.times import Moment
from memosite.facts.values import Value
from memosite.store.shelf import Shelf

# The flags of a message for mail readers: unread, flagged, answered.


def is_unread(artifact: Artifact) -> bool:
    """Whether any of its recipients has not read it yet; a broadcast counts by the furthest of its copies."""
    if not isinstance(artifact, Memo) or artifact.kind != "memo":
        return False
    return any(state.unread for state in artifact.recipients) or (artifact.is_broadcast and artifact.mailbox == "inbox")


def is_flagged(artifact: Artifact) -> bool:
    """Whether its action is still open."""
    return "open" in states_of(artifact)


def is_answered(artifact: Artifact) -> bool:
    """Whether its action was answered, and is not discharged yet."""
    return "answered" in states_of(artifact)


# The input of every exporter: the archive, its texts, and the names for ids and addresses.


class Export(Value):
    """One export. `archive_id` and `authority` are those of the configuration; `base_url` ends in `/`."""

    archive: Archive
    shelf: Shelf
    with_body: bool
    base_url: str | None
    archive_id: str
    authority: str

    def artifacts(self) -> Iterator[Artifact]:
        """What is exported, in order of arrival."""
        return exported(self.archive)

    def lines(self) -> Iterator[dict[str, object]]:
        """The line of each artifact (SPEC 8), with its body if asked for."""
        for artifact in self.artifacts():
            line = artifact_line(artifact, self.archive, base_url=self.base_url)
            if self.with_body and not artifact.withheld:
                line = with_body(line, join_texts(self.shelf.text(text.sha256) for text in body_texts(artifact)))
            yield line


# JSON Lines, the stable machine interface (SPEC 8), and CSV for spreadsheets (RFC 4180).


def json_lines(job: Export) -> Iterator[bytes]:
    """One line for each artifact, in UTF-8, each with a line feed."""
    return (f"{dump_line(line)}\n".encode() for line in job.lines())


COLUMNS = (
    *("id", "kind", "system", "url", "subject", "summary", "chars", "from", "to", "date", "thread", "parent"),
    *("ghost_parent", "mailbox", "copies", "action", "recipients", "positions", "tags", "findings", "sha256"),
)
"""The columns, in order; `body` follows if it is asked for."""


_FORMULA_STARTS = tuple("=+-@\t\n＝＋－＠")


def csv_rows(job: Export) -> Iterator[bytes]:
    """A header and one row for each artifact."""
    columns = (*COLUMNS, "body") if job.with_body else COLUMNS
    yield _row(columns)
    for line in job.lines():
        yield _row(_cell(line.get(column)) for column in columns)


def _row(cells: Iterable[str]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue().encode("utf-8", "replace")


def _cell(value: object) -> str:
    text = "; ".join(map(_entry, value)) if isinstance(value, list) else "" if value is None else str(value)
    text = harmless(text.replace("\r\n", "\n").replace("\r", "\n"), lambda _: "\ufffd")
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _entry(value: object) -> str:
    """An entry of a list: a copy as `source/path`, a recipient as `position: action`, anything else as it is."""
    match value:
        case {"source": source, "path": path}:
            return f"{source}/{path}"
        case {"position": position, "action": action}:
            return f"{position}: {action}" if action else str(position)
    return str(value)


# Composes artifacts as mail: RFC 5322 messages with the threads, addresses and dates of the archive.


ANCESTORS = 50
"""The most ancestors that `References` names, the nearest ones. Each of them names its own."""


SUBJECT = 20_000
"""The longest subject, in characters."""


LOCAL_PART = 64
"""The longest local part of an address, in bytes (RFC 5321, 4.5.3.1.1)."""


_NAME = 100


_WORD = 900


_WIDTH = 76


# Headers are folded here: the package would put a long id on a line of its own, which some programs do not read.
_POLICY = compat32.clone(max_line_length=None, mangle_from_=False)


_PLAIN = regex(rf"(?!.*=\?)(?:[!-~]{{1,{_WORD}}}(?: [!-~]{{1,{_WORD}}})*)?")


_OUTER_DOT = regex(r"^\.|\.$|\.(?=\.)")


_CUT_ESCAPE = regex(r"%.?$")


_FROM_LINE = regex(rb"^>*From ", re.MULTILINE)


_SEVEN_BIT = regex(rb"(?>(?:[\t -~]{0,900}+\n)*)")


_QUOTED_LINE = 76


class Composer:
    """Writes the messages of one archive. Message ids and addresses are made from its id and authority."""

    def __init__(self, job: Export) -> None:
        """Prepare for this export."""
        self._job = job
        self._archive = job.archive
        self._domain = dot_atom(f"{job.archive_id}.invalid")
        host = job.authority.partition(",")[0].rpartition("@")[2]
        self._id_domain = dot_atom(f"{job.archive_id}.{host}")
        self._joined_threads = _threads_with_several_roots(job.archive)

    def compose(self, artifact: Artifact) -> bytes:
        """The message of an artifact, with LF line ends; its last line ends in one."""
        encoding, body = encode_body(self._text(artifact).encode("utf-8"))
        message = Message(policy=_POLICY)
        for name, value in self._headers(artifact):
            if value:
                message[name] = value
        message["MIME-Version"] = "1.0"
        message["Content-Type"] = "text/plain; charset=utf-8"
        message["Content-Transfer-Encoding"] = encoding
        return message.as_bytes(policy=_POLICY) + body

    def sender_address(self, artifact: Artifact) -> str:
        """The address in `From`, without the name."""
        return self._address(_sender(self._archive, artifact))

    def message_id(self, ref: Ref | tuple[str, str]) -> str:
        """The id of an artifact's or a ghost's message."""
        return f"<{dot_atom('/'.join(ref))}@{self._id_domain}>"

    def _headers(self, artifact: Artifact) -> list[tuple[str, str | None]]:
        memo = artifact if isinstance(artifact, Memo) else None
        ancestors = self._ancestors(memo) if memo else ()
        file = artifact.shown_file
        url = absolute(self._job.base_url, page_of(artifact)) if self._job.base_url else ""
        subject = artifact.subject if artifact.subject.strip() else artifact.short_subject
        replied = memo is not None and (memo.parent or memo.ghost_parent)
        return [
            ("From", self._mailbox(_sender(self._archive, artifact))),
            ("To", ",\n ".join(map(self._mailbox, _recipients(self._archive, artifact)))),
            ("Subject", encode_text(subject[:SUBJECT], header="Subject")),
            ("Date", format_date(artifact.date) if artifact.date else None),
            ("Message-ID", self.message_id(artifact.ref)),
            ("In-Reply-To", ancestors[-1] if replied else None),
            ("References", "\n ".join(ancestors)),
            ("Archived-At", f"<{url}>" if url else None),
            ("X-Memosite-Thread", encode_text(memo.thread, header="X-Memosite-Thread") if memo else None),
            ("X-Memosite-Action", memo.action if memo else None),
            ("X-Memosite-Path", encode_text(f"{file.source}/{file.path}", header="X-Memosite-Path")),
        ]

    def _text(self, artifact: Artifact) -> str:
        notice = notice_of(artifact)
        if notice is not None:
            return f"{notice.text}\n"
        if isinstance(artifact, Library):
            return _catalog(artifact.card)
        return join_texts(self._job.shelf.text(text.sha256) for text in artifact.texts)

    def _address(self, name: str) -> str:
        local = dot_atom(name)
        if len(local) > LOCAL_PART:
            local = f"{_CUT_ESCAPE.sub('', local[: LOCAL_PART - 9])}-{short_hash(name)}"
        return f"{local}@{self._domain}"

    def _mailbox(self, name: str) -> str:
        """An address, with the name of the position that the written name refers to."""
        position = self._archive.positions.get(self._archive.position_of.get(name, name))
        shown = cut_line(position.name if position else name, _NAME) or name
        return f"{_phrase(shown)} <{self._address(name)}>"

    def _ancestors(self, memo: Memo) -> tuple[str, ...]:
        """The message ids of what a memo replies to, the nearest last.

        If a thread has several memos that reply to nothing, the thread itself is their ancestor, so that mail
        readers keep them together (SPEC 3, threads).
        """
        found: list[str] = []
        while memo.parent and len(found) < ANCESTORS:
            found.append(self.message_id(memo.parent))
            parent = self._archive.artifacts[memo.parent]
            if not isinstance(parent, Memo):
                break
            memo = parent
        if len(found) < ANCESTORS and not memo.parent:
            thread = memo.thread
            if memo.ghost_parent:
                ghost = self._archive.ghosts[memo.ghost_parent]
                found.append(self.message_id((ghost.kind, ghost.id)))
                thread = ghost.thread
            if thread in self._joined_threads:
                found.append(self.message_id(("thread", thread)))
        return tuple(reversed(found))


def _threads_with_several_roots(archive: Archive) -> frozenset[str]:
    return frozenset(
        thread.id
        for thread in archive.threads.values()
        if sum(1 for entry in thread.entries if entry.depth == 0 and entry.continued_from is None) > 1
    )


def _sender(archive: Archive, artifact: Artifact) -> str:
    """The sender as written; for a transcript the position whose session it records; the kind if nobody is named."""
    match artifact:
        case Memo():
            return artifact.author
        case Transcript():
            return archive.label(artifact.role) if artifact.role else "unknown"
    return artifact.kind


def _recipients(archive: Archive, artifact: Artifact) -> tuple[str, ...]:
    """The recipients as written; for a transcript its other participants."""
    match artifact:
        case Memo():
            return artifact.to
        case Transcript():
            return tuple(archive.label(position) for position in artifact.positions if position != artifact.role)
    return ()


def _catalog(card: LibraryCard) -> str:
    """A library as text: what it is, and a line for each of its items."""
    items = (f"- {item.name}" + (f" ({item.file})" if item.file else "") for item in card.items)
    described = zip(items, (one_line(item.description) for item in card.items), strict=True)
    listed = (f"{item}: {description}" if description else item for item, description in described)
    return "\n".join(part for part in (card.description, "", *listed)) + "\n"


def dot_atom(text: str) -> str:
    """A text as a dot-atom (RFC 5322, 3.2.3): other characters are percent-encoded; never empty."""
    return _OUTER_DOT.sub("%2E", quote(text, safe="/", errors="surrogatepass")) or "%00"


def encode_text(text: str, *, header: str) -> str:
    """A text as the value of an unstructured header, folded: in encoded words unless it is plain ASCII.

    Control characters and line separators become spaces: no header can be injected, nor a terminal written to.
    """
    line = "".join(" " if unicodedata.category(char) in _NOT_IN_A_LINE else char for char in text)
    line = line.encode("utf-8", "replace").decode("utf-8")
    if not _PLAIN.fullmatch(line):
        return Header(line, "utf-8", header_name=header).encode(maxlinelen=_WIDTH)
    return Header(line, header_name=header).encode(maxlinelen=_WIDTH) if " " in line else line


_NOT_IN_A_LINE = frozenset({"Cc", "Zl", "Zp"})


def _phrase(name: str) -> str:
    """A display name before an address (RFC 5322, 3.2.5): quoted, or in encoded words."""
    if _PLAIN.fullmatch(name):
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return encode_text(name, header="From")


def format_date(moment: Moment) -> str | None:
    """A moment in mail's date form, with its written offset; `-0000` if none was (RFC 5322, 3.3).

    None before the year 1900, which mail dates cannot express.
    """
    if moment.instant.year < 1900:
        return None
    if moment.offset is None:
        return format_datetime(moment.instant.replace(tzinfo=None))
    zone = dt.timezone(dt.timedelta(minutes=moment.offset))
    try:
        return format_datetime(moment.instant.astimezone(zone))
    except OverflowError:
        return format_datetime(moment.instant)


def encode_body(data: bytes) -> tuple[str, bytes]:
    """The transfer encoding that fits a text, and the text in it; every line, also the last, ends in LF (RFC 2045).

    As it is, if it is printable ASCII; else quoted-printable or base64, whichever is shorter. Only base64 is left
    where a line of the text or of its quoted form begins with `From ` or `>From `.
    """
    if _SEVEN_BIT.fullmatch(data) and not _FROM_LINE.search(data):
        return "7bit", data
    based = base64.encodebytes(data)
    quoted = binascii.b2a_qp(data)
    if not quoted.endswith(b"\n"):
        quoted += b"=\n"
    is_too_long = len(quoted) - quoted.rfind(b"\n", 0, -1) - 2 > _QUOTED_LINE
    if is_too_long or len(quoted) > len(based) or _FROM_LINE.search(quoted):
        return "base64", based
    return "quoted-printable", quoted


# An mbox: all messages in one file, each after a `From ` line.


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def mbox_messages(job: Export) -> Iterator[bytes]:
    """All messages, in order of arrival."""
    composer = Composer(job)
    for artifact in job.artifacts():
        # ctime() gives the names of C's asctime, whatever the locale
        date = (artifact.date.instant if artifact.date else _EPOCH).ctime()
        yield f"From {composer.sender_address(artifact)} {date}\n{_status(artifact)}".encode("ascii")
        yield composer.compose(artifact)
        yield b"\n"


def _status(artifact: Artifact) -> str:
    marks = ("A" if is_answered(artifact) else "") + ("F" if is_flagged(artifact) else "")
    status = "" if is_unread(artifact) else "Status: RO\n"
    return status + (f"X-Status: {marks}\n" if marks else "")
