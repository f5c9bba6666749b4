"""The stable machine interface: one JSON object for each artifact; notices in the place of what is not published.

The fields and their order never change within a version; new fields are added before `body`. A file that cannot be
parsed has a page and findings, but no line.

The `body` is the text of the body file, if there is one, else the one inside the envelope. Where there are
both, the envelope's is usually a line or two that `summary` holds. If it is longer than a summary can be (240
characters), `body` begins with it, followed by a rule (`* * *`), so that nothing is lost; `chars` counts the body
file alone, as on the page. A library has no body.
"""

import json
from collections.abc import Iterable, Iterator

from memosite.archive.model import Archive, Artifact, Copy, Memo, Record, SessionCommit, Transcript
from memosite.archive.urls import absolute, page_of
from memosite.facts.characters import harmless_json, without_surrogates
from memosite.facts.parsed import FileFacts, Kind, SessionLog, Text, Withheld
from memosite.facts.phrases import joined, kind_word, phrase
from memosite.facts.texts import SUMMARY, cut_line
from memosite.facts.values import Value

VERSION = 1


RULE = "* * *"
"""What stands between the text of an envelope and that of its body file where both are given."""


SHARED_BYTES = 20_000
"""The longest file of many records that is published with each of them; real ones are far smaller."""


def exported(archive: Archive) -> Iterator[Artifact]:
    """The artifacts that have a line, in order of arrival: all but those whose file cannot be parsed."""
    for artifact in archive.artifacts.values():
        if not artifact.is_broken:
            yield artifact


def original_sha256(artifact: Artifact, file: FileFacts) -> str:
    """The digest of what is published as the original of an artifact's file.

    That is the file; of a bullet in a file longer than `SHARED_BYTES` its own text, since many bullets share it, and
    likewise of one in a file that holds another without its content.
    """
    card = artifact.card if isinstance(artifact, Record) else None
    is_own = card is not None and card.line is not None and (card.is_alone or file.bytes > SHARED_BYTES)
    if card is not None and card.text is not None and is_own:
        return card.text.sha256
    return file.sha256


def artifact_line(artifact: Artifact, archive: Archive, *, base_url: str | None) -> dict[str, object]:
    """The line of one artifact, without its body; the fields are those of SPEC 8, in its order.

    `url` is the page's address, or its folder (`memos/<id>/`, not encoded) for a site without one. `from`, `to` and
    `ghost_parent` are as written, null or empty where there is none; `date` and `received` are UTC. `recipients`
    and `action` are those of memos: notes have no action. `sha256` is of the published original; null of an artifact
    without content, which alone has `withheld`. Only what had other ids has `former`; only sessions have `session`.
    """
    memo = artifact if isinstance(artifact, Memo) else None
    ghost = archive.ghosts.get(memo.ghost_parent or "") if memo else None
    page = page_of(artifact)
    withheld: dict[str, object] = {"withheld": withheld_fields(artifact.withheld)} if artifact.withheld else {}
    if artifact.is_redacted:
        withheld["redacted"] = True
    if isinstance(artifact, Transcript) and artifact.log and not artifact.withheld:
        withheld["session"] = session_fields(artifact, artifact.log)
    if artifact.former and not artifact.withheld:
        withheld["former"] = list(artifact.former)
    return {
        "v": VERSION,
        "id": artifact.id,
        "kind": artifact.kind,
        "system": artifact.system,
        "url": absolute(base_url, page) if base_url else page,
        "subject": artifact.subject,
        "short_subject": artifact.short_subject,
        "summary": artifact.summary,
        "chars": artifact.chars,
        "from": (memo.sender or None) if memo else None,
        "to": list(memo.to) if memo else [],
        "date": artifact.date.utc if artifact.date else None,
        "offset": artifact.date.zone if artifact.date else None,
        "thread": memo.thread if memo else None,
        "parent": memo.parent[1] if memo and memo.parent else None,
        "ghost_parent": ghost.stem if ghost else memo.ghost_parent if memo else None,
        "mailbox": memo.mailbox if memo else None,
        "copies": [_copy(copy) for copy in artifact.copies],
        "action": memo.action if memo and memo.kind == "memo" else None,
        "recipients": [
            {"position": state.position, "action": state.action}
            for state in (memo.recipients if memo and memo.kind == "memo" else ())
        ],
        "positions": list(artifact.positions),
        "tags": list(artifact.tags),
        "findings": sorted({finding.rule.id for finding in artifact.findings}),
        "sha256": original_sha256(artifact, artifact.shown_file) or None,
    } | withheld


LISTED = 100
"""The most of each that a session did, in its line: files, commits, pull requests, sessions started."""


def session_fields(session: Transcript, log: SessionLog) -> dict[str, object]:
    """What the log of a session says of it; of each list the first, each with the turn in which that was done.

    `wrote` has paths below the `folder` of the session. `commits` have whole ids, with a `source`, if a repo of the
    archive has them, else the hashes that were printed; without a `turn`, if their messages alone name the session.
    """
    return {
        "key": log.key,
        "agent": log.agent,
        "models": list(log.models),
        "folder": log.folder or None,
        "branch": log.branch or None,
        "version": log.version or None,
        "turns": session.turns,
        "people": log.people,
        "tools": log.tools,
        "withheld": log.withheld,
        "started_by": session.parent[1] if session.parent else None,
        "continues": session.continued_from[1] if session.continued_from else None,
        "copied": session.copied,
        "started": [{"turn": turn, "id": ref[1]} for turn, ref in session.children[:LISTED]],
        "wrote": [{"turn": turn, "path": log.below(path)} for turn, path in log.wrote[:LISTED]],
        "items": [{"turn": turn, "item": "/".join(ref)} for turn, ref in session.wrote[:LISTED]],
        "commits": [_commit(one) for one in session.named_commits[:LISTED]],
        "pulls": [{"turn": turn, "url": address} for turn, address in log.pulls[:LISTED]],
    }


def _commit(one: SessionCommit) -> dict[str, object]:
    found = {"turn": one.ordinal or None, "commit": one.id, "subject": one.subject or None}
    return {**found, "source": one.source or None, "known_by": one.how}


def withheld_fields(withheld: Withheld) -> dict[str, object]:
    """Why an artifact is published without its content."""
    return {
        "reason": withheld.reason,
        "why": withheld.why or None,
        "on": withheld.on or None,
        "rules": list(withheld.rules),
    }


def _copy(copy: Copy) -> dict[str, object]:
    return {
        "source": without_surrogates(copy.file.source),
        "path": without_surrogates(copy.file.path),
        "mailbox": copy.mailbox,
        "sha256": copy.file.sha256 or None,
        "received": copy.received.utc if copy.received else None,
    }


def body_texts(artifact: Artifact) -> tuple[Text, ...]:
    """The texts that make up `body`: all of them, less an envelope's that is no longer than a summary."""
    texts = artifact.texts
    return texts[1:] if len(texts) > 1 and texts[0].chars <= SUMMARY else texts


def join_texts(texts: Iterable[str]) -> str:
    """Several texts of one artifact as one, with a rule between them; a single text as it is."""
    first, *others = [*texts] or [""]
    if not others:
        return first
    return f"\n\n{RULE}\n\n".join([first.rstrip("\n"), *others])


def with_body(line: dict[str, object], text: str) -> dict[str, object]:
    """The line with the text as its last field."""
    return {**line, "body": text}


def dump_line(line: dict[str, object]) -> str:
    """The line as JSON, without its line feed.

    What steers a terminal, or is the end of a line for some programs (U+0085, U+2028, U+2029), is escaped;
    lone surrogates become U+FFFD, so that any reader accepts it (RFC 7493, 2.1).
    """
    return harmless_json(json.dumps(line, ensure_ascii=False))


# Writes what stands in the place of a content that is not published: what happened, since when, what to do now.


_WHY_CHARS = 1_000


_NOT_PUBLISHED = phrase("Its subject, its text, its originals and its former versions are not published.")


_TO_PUBLISH_IT = joined(
    " ",
    (
        _NOT_PUBLISHED,
        phrase(
            "To publish it: replace the secret wherever it is used, then remove it from the source. "
            "If it is no secret, allow it in memosite.yml with a reason."
        ),
    ),
)


_TO_READ_IT = phrase(
    "Its address, its dates and its place in threads and feeds stay. "
    "If you need the content, ask those who publish this archive."
)


class Notice(Value):
    """What happened to a content, what is known of that as labels and values, and what can be done."""

    title: str
    facts: tuple[tuple[str, str], ...]
    advice: str

    @property
    def text(self) -> str:
        """The notice as one paragraph."""
        return joined(" ", (self.reason, self.advice))

    @property
    def reason(self) -> str:
        """What happened, when and why."""
        facts = (joined("", (label, ": ", value, ".")) for label, value in self.facts)
        return joined(" ", (self.title, *facts))


def notice_of(artifact: Artifact) -> Notice | None:
    """The notice on an artifact that is published without its content; None for any other."""
    return notice_on(artifact.kind, artifact.withheld)


def notice_on(kind: Kind, withheld: Withheld | None) -> Notice | None:
    """The notice on an artifact of this kind, also on one that is not there any more; None if nothing is withheld."""
    if withheld is None:
        return None
    if withheld.is_place_hidden:
        return Notice(
            title=phrase("The content of this {kind} is withheld.", kind=kind_word(kind)),
            facts=(),
            advice=_NOT_PUBLISHED,
        )
    is_erased = withheld.reason == "erased"
    if is_erased:
        title = phrase("The content of this {kind} was erased.", kind=kind_word(kind))
    else:
        title = phrase("The content of this {kind} is not published, because it holds a secret.", kind=kind_word(kind))
    return Notice(title=title, facts=tuple(_facts(withheld)), advice=_TO_READ_IT if is_erased else _TO_PUBLISH_IT)


def _facts(withheld: Withheld) -> Iterator[tuple[str, str]]:
    known = (
        (phrase("Since"), withheld.on),
        (phrase("Reason"), cut_line(withheld.why, _WHY_CHARS).rstrip(".")),
        (phrase("Kind of secret"), ", ".join(withheld.rules)),
    )
    return ((label, value) for label, value in known if value)
