"""Invents an organization: memos with replies and threads, broadcasts, notes, transcripts, the same for the same seed.

The shape is that of real archives: two memos in five have their text in a file beside them, over half are replies, one
in a hundred goes to all and lies in every repo; 8 % of artifacts are notes, 2 % transcripts, 3 % in the legacy form.
Texts are as long as real ones, and have their markup (`markup.py`).
"""

import datetime as dt
import random
import re
from collections import deque
from collections.abc import Iterator
from itertools import chain, count
from typing import Literal

from benchmarks.conversations import Turn, converse
from benchmarks.markup import Prose, length
from memosite.facts.values import Value, replace

REPOS = ("harbour", "ledger", "orchard", "workshop", "signals", "kitchen")
POSITIONS = tuple(f"{repo}-{role}" for repo in REPOS for role in ("strategist", "engineer", "maintainer", "validator"))
BEGIN = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
SPAN = dt.timedelta(days=625)
"""All artifacts are of this time, be they many or few: months get longer, not more."""

RECENT = 40
"""A reply answers one of so many last memos."""

Kind = Literal["memo", "note", "transcript"]
Box = Literal["inbox", "read", "archive"]


class Artifact(Value):
    """A memo, note or transcript before it has a form.

    `name` is the file's without extension; `to` a position, "all" or "file"; `text` is Markdown, in a file beside the
    envelope if there is a `summary`. `parent` is the name of the memo that is answered, `thread` an explicit id.
    """

    kind: Kind
    name: str
    sender: str
    to: str
    subject: str
    sent: dt.datetime
    text: str = ""
    summary: str = ""
    parent: str = ""
    thread: str = ""
    box: Box = "inbox"
    is_action: bool = False
    is_legacy: bool = False
    turns: tuple[Turn, ...] = ()

    @property
    def repos(self) -> tuple[str, ...]:
        """The repos that it lies in: the recipient's, all for a broadcast, its own for what is filed."""
        if self.to == "all":
            return REPOS
        return ((self.to if self.kind == "memo" else self.sender).split("-")[0],)


class _Author:
    """Writes one artifact after the other."""

    def __init__(self, seed: int, step: dt.timedelta) -> None:
        self.rng = random.Random(seed)
        self.prose = Prose(self.rng)
        self._step = step
        self._recent: deque[Artifact] = deque(maxlen=RECENT)

    def write(self, number: int) -> Artifact:
        """The next artifact."""
        kind = self.rng.random()
        if kind < 0.02:
            return self.transcript(number, self._time(number))
        if kind < 0.10:
            return self._note(number, self._time(number))
        return self._memo(number)

    def reply(self, number: int) -> Artifact:
        """A memo from one seat to another that answers one of those before it."""
        return replace(self._memo(number, is_reply=True), is_legacy=False, box="inbox")

    def _time(self, number: int) -> dt.datetime:
        return (BEGIN + (number + 1) * self._step).replace(microsecond=0)

    def transcript(self, number: int, sent: dt.datetime) -> Artifact:
        """A conversation between a person and a position, about the last memo."""
        sender, subject = self.rng.choice(POSITIONS), self.prose.title()
        return Artifact(
            kind="transcript",
            name=_name(sent, sender, subject, number),
            sender=sender,
            to="",
            subject=subject,
            sent=sent,
            parent=self._recent[-1].name if self._recent else "",
            turns=tuple(converse(self.prose, sent)),
        )

    def _note(self, number: int, sent: dt.datetime) -> Artifact:
        sender, subject = self.rng.choice(POSITIONS), self.prose.title()
        return Artifact(
            kind="note",
            name=_name(sent, f"{sender}--file", subject, number),
            sender=sender,
            to="file",
            subject=subject,
            sent=sent,
            text=self._text(),
        )

    def _memo(self, number: int, *, is_reply: bool = False) -> Artifact:
        rng, sent = self.rng, self._time(number)
        sender, to = rng.sample(POSITIONS, 2)
        if not is_reply and rng.random() < 0.01:
            to = "all"
        parent = rng.choice(self._recent) if self._recent and (is_reply or rng.random() < 0.55) else None
        subject = "Re: " + parent.subject.removeprefix("Re: ") if parent else self.prose.title()
        thread = parent.thread if parent else f"thread-{number}" if rng.random() < 0.1 else ""
        memo = Artifact(
            kind="memo",
            name=_name(sent, f"{sender}--{to}", subject, number),
            sender=sender,
            to=to,
            subject=subject,
            sent=sent,
            text=self._text(),
            summary=self.prose.remark(length(rng, median=380, spread=0.7, most=1_400)) if rng.random() < 0.4 else "",
            parent=parent.name if parent else "",
            thread=thread,
            box=rng.choices(("inbox", "read", "archive"), (1, 5, 4))[0],
            is_action=rng.random() < 0.3,
            is_legacy=rng.random() < 0.03,
        )
        self._recent.append(memo)
        return memo

    def _text(self) -> str:
        return self.prose.markdown(length(self.rng, median=4_500, spread=0.65, most=30_000))


def artifacts(size: int, *, seed: int) -> Iterator[Artifact]:
    """The artifacts of an organization that has `size` of them after two years; then replies to its memos, for ever."""
    author = _Author(seed, SPAN / max(1, size))
    return chain(map(author.write, range(size)), map(author.reply, count(size)))


def transcripts(size: int, *, seed: int) -> Iterator[Artifact]:
    """So many conversations, one a day."""
    author = _Author(seed, dt.timedelta(days=1))
    return (author.transcript(number, BEGIN + number * dt.timedelta(days=1)) for number in range(size))


def _name(sent: dt.datetime, who: str, subject: str, number: int) -> str:
    slug = "-".join(re.findall(r"[a-z0-9]+", subject.removeprefix("Re: ").lower())[:6])
    return f"{sent:%Y-%m-%d-%H%M}--{who}--{slug}-{number}"
