"""Finds the passages of 20 words or more that artifacts share, with a link from each to the other (SPEC 7).

    texts ─► rows, those of new texts ─► runs in common ─► pairs of texts ─► passages, those of changed pairs ─► links

What was found of unchanged texts is known from the last build: `KnownPassages`. It depends on the texts alone, so a
build that knows nothing finds the same.
"""

import datetime as dt
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypeVar
from zlib import crc32

from memosite.archive.model import UNDATED, Archive, Artifact, Memo, Transcript
from memosite.facts.parsed import Ref
from memosite.facts.texts import cut_line, one_line
from memosite.facts.values import Struct, Value, field
from memosite.formats.sessions.kept import read_conversation
from memosite.formats.turns import Turn, blocks
from memosite.passages import anchors_at, begins_of, prefixed_texts, turns_at
from memosite.plan.indexes import find_captures
from memosite.quotes.index import SHARED, Shared, changed_runs, common_pairs, common_runs, pair_passages, share_row
from memosite.run.workers import run

Relation: TypeAlias = Literal["drafted in", "quotes", "draft of", "quoted in"]
"""What the page of an artifact says of a passage and of where else it is."""

TextKey: TypeAlias = str
"""A text of an artifact: its name and number."""

TextOf: TypeAlias = Callable[[str], str]

Result = TypeVar("Result")


class Apply(Protocol):
    """Applies a pure function to texts, perhaps in several processes; the results come in the order of the keys."""

    def __call__(self, function: Callable[[TextKey], Result], keys: Iterable[TextKey]) -> Iterable[Result]:
        """Return the results."""
        ...


MOST_PEOPLE = 8
"""The most people in whose texts the same words stand before these are no quotation (SPEC 7, shared passages)."""


_EXCERPT = 90
_CHARS = 20_000
"""Of so many characters a text counts as several, when texts are divided among processes."""
_MANY = 4
"""If more than every so manieth text is new, runs in common are found anew, which then takes less time."""


class SharedLink(Value):
    """A passage that an artifact shares: where it is in it, how it begins, and where it is in the other one."""

    relation: Relation
    anchor: str
    words: int
    begins: str
    other: Ref
    other_anchor: str


class End(NamedTuple):
    """A passage in one of its two texts: the characters, the anchor, the time of the turn, if known, and its words."""

    start: int
    end: int
    anchor: str
    at: str
    begins: str


class Common(NamedTuple):
    """A passage that two texts share."""

    words: int
    one: End
    other: End


class KnownPassages(Struct, kw_only=True):
    """What was found last: of each text its SHA-256 and row, the runs in common, the passages of each pair."""

    rows: dict[TextKey, tuple[str, bytes]] = field(default_factory=dict)
    common: dict[int, list[TextKey]] = field(default_factory=dict)
    pairs: dict[tuple[TextKey, TextKey], tuple[str, tuple[Common, ...]]] = field(default_factory=dict)
    is_new: bool = False
    """Whether it differs from what was written last."""


class _Text(Value):
    """A text that may share passages; its `state` tells all that the anchors of its passages depend on."""

    artifact: Artifact
    sha256: str
    chars: int
    prefix: str
    started: dt.datetime | None
    conversation: str

    @property
    def state(self) -> str:
        return f"{self.conversation} {self.prefix} {self.started or ''}"

    def written(self, text_of: TextOf) -> str:
        """The text as its anchors count it."""
        return text_of(self.sha256).removeprefix("\ufeff")


def find_shared_links(
    archive: Archive, text_of: TextOf, known: KnownPassages, *, jobs: int = 1
) -> dict[Ref, tuple[SharedLink, ...]]:
    """For each artifact that shares a passage, its links, in the order of its text; `known` is brought up to date.

    Many new texts are looked through by `jobs` processes.
    """
    texts = dict(_texts(archive))

    def apply(function: Callable[[TextKey], Result], keys: Iterable[TextKey]) -> Iterable[Result]:
        return run(function, keys, jobs=jobs, weight=lambda key: 1 + texts[key].chars // _CHARS)

    _update_runs(texts, text_of, known, apply)
    pairs = _update_pairs(texts, text_of, known, apply)
    found: defaultdict[Ref, list[tuple[TextKey, int, SharedLink]]] = defaultdict(list)
    for (key, other_key), every in pairs.items():
        one, other = texts[key], texts[other_key]
        passages = _own_words(one, other, every)
        shares = _share(passages, 0, one), _share(passages, 1, other)
        for passage in passages:
            relation, inverse = _relations(_Side(one, passage.one, shares[0]), _Side(other, passage.other, shares[1]))
            found[one.artifact.ref].append((key, passage.one.start, _link(relation, passage, other.artifact.ref)))
            turned = Common(passage.words, passage.other, passage.one)
            found[other.artifact.ref].append((other_key, passage.other.start, _link(inverse, turned, one.artifact.ref)))
    return {ref: tuple(link for *_, link in sorted(some, key=lambda one: one[:2])) for ref, some in found.items()}


def _own_words(one: _Text, other: _Text, passages: Iterable[Common]) -> tuple[Common, ...]:
    """What two texts share but for turns that were copied from an older session, and between a session and its own."""
    families = [item.parent or item.ref for item in (one.artifact, other.artifact) if isinstance(item, Transcript)]
    if len(families) > len(set(families)):
        return ()
    return tuple(
        passage for passage in passages if not (_is_copied(one, passage.one) or _is_copied(other, passage.other))
    )


def _is_copied(text: _Text, end: End) -> bool:
    copied = text.artifact.copied if isinstance(text.artifact, Transcript) else 0
    return copied > 0 and end.anchor[1:].isdigit() and int(end.anchor[1:]) <= copied


def _texts(archive: Archive) -> Iterator[tuple[TextKey, _Text]]:
    """The texts that may share passages, the oldest first; of several captures of a session those of the longest."""
    known = archive.artifacts
    left_out = set()
    for ref, others in find_captures(known.values()).items():
        if ref != max((ref, *others), key=lambda one: (known[one].chars, one)):
            left_out.add(ref)
    for artifact in sorted(known.values(), key=lambda one: (one.date is None, one.sort_key)):
        if artifact.ref in left_out:
            continue
        is_dated = artifact.date is not None and artifact.date.origin == "field"
        started = artifact.date.instant if isinstance(artifact, Transcript) and artifact.date and is_dated else None
        for number, (text, prefix) in enumerate(prefixed_texts(artifact)):
            yield (
                f"{artifact.kind}/{artifact.id}#{number}",
                _Text(
                    artifact=artifact,
                    sha256=text.sha256,
                    chars=text.chars,
                    prefix=prefix,
                    started=started,
                    conversation=text.conversation,
                ),
            )


def _update_runs(texts: Mapping[TextKey, _Text], text_of: TextOf, known: KnownPassages, apply: Apply) -> None:
    gone = known.rows.keys() - texts.keys()
    new = [key for key, text in texts.items() if known.rows.get(key, ("",))[0] != text.sha256]
    rows_of_new = apply(lambda key: share_row(texts[key].written(text_of)), new)
    found = dict(zip(new, rows_of_new, strict=True))
    rows = {key: found[key] if key in found else known.rows[key][1] for key in texts}
    if new or gone:
        is_little = (len(new) + len(gone)) * _MANY < len(rows)
        others = [known.rows[key][1] for key in (*gone, *new) if key in known.rows]
        others += found.values()
        known.common = changed_runs(known.common, rows, others) if is_little else common_runs(rows)
        known.is_new = True
    known.rows = {key: (texts[key].sha256, row) for key, row in rows.items()}


def _update_pairs(
    texts: Mapping[TextKey, _Text], text_of: TextOf, known: KnownPassages, apply: Apply
) -> dict[tuple[TextKey, TextKey], tuple[Common, ...]]:
    """The pairs of texts that share passages, with these: those of changed pairs are looked for."""
    pairs = {
        pair: runs
        for pair, runs in common_pairs(_quotable(known.common, texts), texts).items()
        if texts[pair[0]].artifact is not texts[pair[1]].artifact
    }
    states = {
        (one, other): f"{texts[one].state} {texts[other].state} {crc32(repr(runs).encode()):08x}"
        for (one, other), runs in pairs.items()
    }
    changed = {pair: runs for pair, runs in pairs.items() if known.pairs.get(pair, ("",))[0] != states[pair]}
    found = pair_passages(changed, lambda key: texts[key].written(text_of), apply=apply)
    placed = _placed(found, texts, text_of)
    known.is_new = known.is_new or bool(changed) or known.pairs.keys() != pairs.keys()
    known.pairs = {pair: (states[pair], placed[pair] if pair in placed else known.pairs[pair][1]) for pair in pairs}
    return {pair: passages for pair, (_, passages) in known.pairs.items() if passages}


def _quotable(common: Mapping[int, list[TextKey]], texts: Mapping[TextKey, _Text]) -> dict[int, list[TextKey]]:
    """The runs of words without those that stand in texts of too many people: tools write them, and nobody quotes."""
    return {
        run: keys
        for run, keys in common.items()
        if len(keys) <= MOST_PEOPLE or len({_voice(texts[key].artifact) for key in keys}) <= MOST_PEOPLE
    }


def _voice(artifact: Artifact) -> str | Ref:
    """Whose words a text has: its author's; each session with its subagents, and each repo, counts as somebody."""
    if isinstance(artifact, Memo):
        return artifact.sender_position or artifact.author
    if isinstance(artifact, Transcript):
        return artifact.parent or artifact.ref
    return artifact.copies[0].file.source


def _placed(
    found: Mapping[tuple[TextKey, TextKey], Iterable[Shared]], texts: Mapping[TextKey, _Text], text_of: TextOf
) -> dict[tuple[TextKey, TextKey], tuple[Common, ...]]:
    """Passages with their anchors: each text is read once."""
    spans: defaultdict[TextKey, dict[tuple[int, int], None]] = defaultdict(dict)
    for (one, other), passages in found.items():
        for passage in passages:
            spans[one][passage.start, passage.end] = None
            spans[other][passage.other_start, passage.other_end] = None
    ends = {key: dict(zip(some, _ends(texts[key], list(some), text_of), strict=True)) for key, some in spans.items()}
    placed = {}
    for (one, other), passages in found.items():
        sides = (
            (each.words, ends[one][each.start, each.end], ends[other][each.other_start, each.other_end])
            for each in passages
        )
        placed[one, other] = tuple(Common(words, here, there) for words, here, there in sides if here and there)
    return placed


def _ends(text: _Text, spans: list[tuple[int, int]], text_of: TextOf) -> Iterator[End | None]:
    """These passages of a text with their anchors; None for what a machine put into a session, which nobody says."""
    written = text.written(text_of)
    starts = [start for start, _ in spans]
    begins = [cut_line(one_line(written[start : min(end, start + 4 * _EXCERPT)]), _EXCERPT) for start, end in spans]
    spoken = [True] * len(spans)
    if isinstance(text.artifact, Transcript):
        known = read_conversation(text_of(text.conversation), started=text.started)
        turns = turns_at(written, known, starts)
        put = _put_into(known.turns, begins_of(written, known), spans)
        spoken = [
            (turn is None or turn.kind not in ("system", "summary")) and _is_said(written, *span, put)
            for turn, span in zip(turns, spans, strict=True)
        ]
        anchors = [(turn.anchor, turn.at.isoformat() if turn.at else "") if turn else ("", "") for turn in turns]
    else:
        anchors = [(anchor, "") for anchor in anchors_at(written, starts, prefix=text.prefix)]
    for (start, end), (anchor, at), said, is_spoken in zip(spans, anchors, begins, spoken, strict=True):
        yield End(start, end, anchor, at, said) if is_spoken else None


def _is_said(written: str, start: int, end: int, put: Sequence[tuple[int, int]]) -> bool:
    """Whether a passage is still long enough without what a harness put there."""
    number, at, is_whole = 0, start, True
    for place in range(bisect_right(put, start, key=itemgetter(1)), len(put)):
        begin, until = put[place]
        if begin >= end:
            break
        number += len(written[at : max(at, begin)].split())
        at, is_whole = min(until, end), False
    return is_whole or number + len(written[at:end].split()) >= SHARED


def _put_into(turns: Sequence[Turn], begins: Sequence[int], spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Which characters a harness put into the turns of these passages, alone, or before or among a person's words."""
    touched = {
        place
        for start, end in spans
        for place in range(max(0, bisect_right(begins, start) - 1), bisect_left(begins, end))
    }
    found: list[tuple[int, int]] = []
    for place in sorted(touched):
        turn, at = turns[place], begins[place]
        if turn.kind in ("system", "summary"):
            found.append((at, at + len(turn.text)))
        elif turn.place and turn.place.words_from:
            found.append((at, at + turn.place.words_from))
        elif "<" in turn.text:
            lines = list(accumulate((len(line) + 1 for line in turn.text.split("\n")), initial=at))
            found += [(lines[one.start], lines[one.end]) for one in blocks(turn.text) if one.kind == "aside"]
    return found


def _share(passages: Iterable[Common], which: Literal[0, 1], text: _Text) -> float:
    """How much of a text the passages are, from 0 to 1; what is in several of them counts once."""
    ends = sorted((one.one if which == 0 else one.other)[:2] for one in passages)
    covered = last = 0
    for start, end in ends:
        covered += max(0, end - max(start, last))
        last = max(last, end)
    return covered / max(text.chars, 1)


class _Side(NamedTuple):
    """One of two texts: a passage in it, and how much of it all passages are that the two share."""

    text: _Text
    end: End
    share: float


def _relations(one: _Side, other: _Side) -> tuple[Relation, Relation]:
    """What the one is to the other, and the other to the one. The later one has the words from the earlier one."""
    is_first = _is_first(one, other)
    earlier, later = (one, other) if is_first else (other, one)
    is_draft = isinstance(earlier.text.artifact, Transcript) and not isinstance(later.text.artifact, Transcript)
    if is_draft and later.share >= 1 / 2:
        return ("draft of", "drafted in") if is_first else ("drafted in", "draft of")
    return ("quoted in", "quotes") if is_first else ("quotes", "quoted in")


def _is_first(one: _Side, other: _Side) -> bool:
    """Whether the one had the words first."""
    if _has_read(one.text.artifact, other.text.artifact):
        return False
    if _has_read(other.text.artifact, one.text.artifact):
        return True
    times = [_time(one), _time(other)]
    if any(at is not None and at.time() == dt.time() for at in times):  # a day is all that is known
        times = [at and at.replace(hour=0, minute=0) for at in times]
    keys = [
        (at is None, at or UNDATED, not isinstance(side.text.artifact, Transcript), side.text.artifact.sort_key)
        for at, side in zip(times, (one, other), strict=True)
    ]
    return keys[0] <= keys[1]


def _has_read(artifact: Artifact, memo: Artifact) -> bool:
    """Whether a conversation had words from a memo for certain, since the memo's sender took no part in it."""
    if not (isinstance(artifact, Transcript) and isinstance(memo, Memo)):
        return False
    return bool(memo.sender_position and artifact.positions) and memo.sender_position not in artifact.positions


def _time(side: _Side) -> dt.datetime | None:
    """When a passage was written, by the minute: names of files have no seconds."""
    date = side.text.artifact.date
    at = dt.datetime.fromisoformat(side.end.at) if side.end.at else date.instant if date else None
    return at.replace(second=0, microsecond=0) if at else None


def _link(relation: Relation, passage: Common, other: Ref) -> SharedLink:
    return SharedLink(
        relation=relation,
        anchor=passage.one.anchor,
        words=passage.words,
        begins=passage.one.begins,
        other=other,
        other_anchor=passage.other.anchor,
    )
