"""Judges which session made a commit, by what its transcript shows within its times.

git's own words in a tool call, [main 3a835a6] Subject ─┐
a commit in a tool call with its message ───────────────┼─► the best class that any session has
an edit of the file with the line in it ────────────────┘    one session in it: that one; several: uncertain
the commit's id, in any text ───────────────────────────► uncertain: whoever reads a log names it, too
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from memosite.archive.model import Transcript
from memosite.formats.turns import Turn, blocks
from memosite.sources.blame import CommitFacts

SLACK = dt.timedelta(minutes=5)
"""How far clocks and dates in whole minutes may differ."""
OPEN = dt.timedelta(hours=24)
"""How long a session may be that does not say when it ended."""
LAST_TURN = dt.timedelta(hours=2)
"""How long the last turn may go on."""

_SAID_BY_GIT = re.compile(r"\[[^\]\n]{1,200}? ([0-9a-f]{7,64})\] ([^\n]*)")
_EDITOR = re.compile(r"(?!todo).*(?:edit|write|patch|replace|create|insert)", re.IGNORECASE)
_SHELL = re.compile(r"bash|shell|terminal|command|exec", re.IGNORECASE)
_WRITING = re.compile(r"\bsed -i|\bperl -i|\btee\b|\bapply_patch\b|<<|>> ?")
"""What a shell does when it edits a file, and not when it prints it."""
_LEAST_SUBJECT, _LEAST_LINE = 8, 8


class Proof(IntEnum):
    """What a transcript shows of a commit, the best last."""

    NAMED = 1
    AMENDED = 2
    EDITED = 3
    COMMITTED = 4
    SAID_BY_GIT = 5


_WORDS = {
    Proof.NAMED: "names the commit",
    Proof.AMENDED: "made a commit with this message",
    Proof.EDITED: "edited the file, with this text",
    Proof.COMMITTED: "ran the commit",
    Proof.SAID_BY_GIT: "made the commit",
}
_DOUBTS = {
    Proof.NAMED: "it names the commit, but does not show that it made it",
    Proof.AMENDED: "its commit had another id; it may have been amended or rebased since",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is looked for: a commit, the names of the file, the lines that it wrote, and the commits around it.

    `nearby` are the first lines of messages by hash, of all commits of about that time.
    """

    commit: CommitFacts
    paths: tuple[str, ...]
    lines: tuple[str, ...]
    nearby: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A turn that shows something of a commit."""

    anchor: str
    proof: Proof

    @property
    def words(self) -> str:
        """What it shows."""
        return _WORDS[self.proof]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that made a commit, or may have: then `doubt` says why it is uncertain."""

    transcript: Transcript
    turns: tuple[ShownTurn, ...]
    doubt: str = ""

    @property
    def best(self) -> Proof:
        """The best that any turn shows."""
        return max(turn.proof for turn in self.turns)


def span_of(transcript: Transcript) -> tuple[dt.datetime, dt.datetime] | None:
    """From when to when a session may have made commits; None if it does not say when it began."""
    begin = transcript.variants[0].envelope.sent
    if begin is None:
        return None
    if transcript.ended:
        end = transcript.ended.instant + SLACK
    elif transcript.last_turn:
        end = transcript.last_turn.instant + LAST_TURN
    else:
        end = begin.instant + OPEN
    return begin.instant - SLACK, end


def is_within(transcript: Transcript, commit: CommitFacts) -> bool:
    """Whether a commit was written or committed within the times of a session."""
    span = span_of(transcript)
    return span is not None and any(span[0] <= moment <= span[1] for moment in commit.moments)


def session_of(transcript: Transcript, turns: Iterable[Turn], work: Work) -> Session | None:
    """What a transcript shows of a commit; None if it shows nothing."""
    shown = [ShownTurn(anchor=turn.anchor, proof=proof) for turn in turns if (proof := _proof(turn, work))]
    if not shown:
        return None
    if not is_within(transcript, work.commit):
        made = [turn for turn in shown if turn.proof == Proof.SAID_BY_GIT]
        doubt = "the commit is not within the times of this session"
        return Session(transcript=transcript, turns=tuple(made), doubt=doubt) if made else None
    best = max(turn.proof for turn in shown)
    kept = [turn for turn in shown if turn.proof > Proof.AMENDED] or [turn for turn in shown if turn.proof == best]
    return Session(transcript=transcript, turns=tuple(kept), doubt=_DOUBTS.get(best, ""))


def best_sessions(found: Sequence[Session]) -> list[Session]:
    """Of all sessions that show something of a commit those that show most; several are in doubt."""
    certain = [one for one in found if not one.doubt]
    if certain:
        best = max(one.best for one in certain)
        chosen = [one for one in certain if one.best == best]
        if len(chosen) == 1:
            return chosen
        return [replace(one, doubt=f"{len(chosen)} sessions show it") for one in chosen]
    best = max((one.best for one in found), default=Proof.NAMED)
    return [one for one in found if one.best == best]


def _proof(turn: Turn, work: Work) -> Proof | None:
    return max(_proofs(turn, work), default=None)


def _proofs(turn: Turn, work: Work) -> Iterator[Proof]:
    if names_commit(turn.text, work.commit.hash):
        yield Proof.NAMED
    for call in (block for block in blocks(turn.text) if block.kind == "tool"):
        is_shell = bool(_SHELL.search(call.name or ""))
        if is_shell:
            yield from _committed(call.text, work)
        is_editing = bool(_EDITOR.match(call.name or "")) or (is_shell and bool(_WRITING.search(call.text)))
        if is_editing and _edits(call.text, work) and _is_before(turn, work):
            yield Proof.EDITED


def _committed(text: str, work: Work) -> Iterator[Proof]:
    """What a call of a shell shows of making the commit: git's answer, or the command with the message."""
    subject = work.commit.subject
    said = [(id_, " ".join(words.split())) for id_, words in _SAID_BY_GIT.findall(text)]
    if any(work.commit.hash.startswith(id_) for id_, _ in said):
        yield Proof.SAID_BY_GIT
        return
    others = [id_ for id_, words in said if words == subject]
    if others:
        is_other = any(known.startswith(id_) for known in work.nearby for id_ in others)
        if not is_other:
            yield Proof.AMENDED
        return
    if len(subject) >= _LEAST_SUBJECT and "git commit" in text and subject in " ".join(text.split()):
        same = [id_ for id_, words in work.nearby.items() if words == subject and id_ != work.commit.hash]
        if not same:
            yield Proof.COMMITTED


def _edits(text: str, work: Work) -> bool:
    plain = text.replace("\\\\", "/").replace("\\", "/")
    if not any(re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w-])", plain) for path in work.paths):
        return False
    return any(_says(text, line.strip()) for line in work.lines)


def _says(text: str, line: str) -> bool:
    """Whether a call has a line, also as JSON writes it."""
    if sum(char.isalnum() for char in line) < _LEAST_LINE:
        return False
    return line in text or json.dumps(line, ensure_ascii=False)[1:-1] in text


def _is_before(turn: Turn, work: Work) -> bool:
    made = work.commit.committed
    return turn.at is None or made is None or turn.at <= made.instant + SLACK


def names_commit(text: str, hash_: str) -> bool:
    """Whether a text has the id of a commit, or seven or more characters of its beginning."""
    if hash_[:7] not in text:
        return False
    return any(hash_.startswith(word) for word in re.findall(r"(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])", text))
