r"""What an archive is resolved from, and what of it may be in it: the policy, names that may not be mentioned, erasure.

Names of what is withheld are found in the bytes of files, however they are written:

    text ─► decoded, as readers see it (JSON escapes, %41, &#65;, \_) ─► names with their paths ─► places in the text

Whole names only: `…--gate` is not mentioned by `…--gate-two`. What nobody sees, such as a soft hyphen, and the end of a
line after a hyphen may be within. A name that is a plain word, as of `plan.openthing`, is one only with its suffix, in
`[[plan]]`, and as the value of a field for references: texts use the word.

Erasure takes the content off an artifact in all copies, in all sources (SPEC 9). Their facts stay, without content, and
so do address, thread, feed item and place. Of a list file only the entry loses it; the file that its entries share is
not published.
"""

import html
import json
import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from memosite.archive.history import History, file_key, key_of_file
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Record, Transcript
from memosite.config.schema import Config, Erasure
from memosite.facts import rules
from memosite.facts.contents import bare_envelope, without_content
from memosite.facts.findings import Finding, Rule
from memosite.facts.layout import CONFIG_NAME, matches_glob
from memosite.facts.names import BODY_SUFFIX, CATALOG_SUFFIX, ENVELOPE_SUFFIX, WITHHELD
from memosite.facts.parsed import Envelope, Parsed, RecordCard, RecordFile, RecordPart, Ref, SessionFile, Withheld
from memosite.facts.patterns import regex
from memosite.facts.values import Value, field, replace
from memosite.formats.system import FilePlace
from memosite.formats.systems import home_of
from memosite.store.shelf import Shelf

# What an archive is resolved from, and the policy that says what of it may be in the archive.


class Policy(Value):
    """What an archive may hold: the configuration that the gate decides by (SPEC 9).

    `published` are the digests of files of what is to be erased that were published before, by `kind/id`.
    """

    config: Config
    published: Mapping[str, Collection[str]] = field(default_factory=dict)

    @property
    def revises(self) -> bool:
        """Whether the gate may change anything after `resolve`; if not, sources are resolved once."""
        return self.config.audience != "internal" or bool(self.config.erase)

    def hides(self, source: str, path: str) -> bool:
        """Whether a glob of `withhold` matches a file."""
        is_public = self.config.audience != "internal"
        return is_public and any(is_match(pattern.glob, source, path) for pattern in self.config.withhold)


def is_match(glob: str, source: str, path: str) -> bool:
    """Whether a glob of `withhold` matches a file, by its path in the source, or with the source's name before.

    File systems compose characters as they like, so both sides are composed.
    """
    composed = unicodedata.normalize("NFC", glob)
    return any(matches_glob(unicodedata.normalize("NFC", one), composed) for one in (path, f"{source}/{path}"))


class Content(Value, kw_only=False):
    """All that an archive is resolved from: the facts of files, git histories by source, and the ledger to continue.

    `absent` are files, by source and path, that count as if they were not there, and `unnamed` ids that no setting
    may name. `unstored` are files of which the cache keeps nothing: those that are absent, and those of which only
    a part is left. `erased` are artifacts that were erased and are in no source any more.
    """

    facts: tuple[Parsed, ...]
    histories: Mapping[str, History]
    ledger: Ledger
    absent: frozenset[FilePlace] = frozenset()
    unstored: frozenset[FilePlace] = frozenset()
    unnamed: frozenset[str] = frozenset()
    erased: Mapping[Ref, Withheld] = field(default_factory=dict)


Change = Callable[[bytes, str], bytes | None]
"""Other bytes for a file of this name; None if they stay as they are."""


Reread = Callable[[Parsed, Change], Parsed | None]
"""Parses a file again with other bytes; None if they stay as they are."""


# Finds names in the bytes of files, however they are written, and puts `[withheld]` there (SPEC 9, audience).


_SUFFIXES = (ENVELOPE_SUFFIX, BODY_SUFFIX, ".md")


_JSON = (ENVELOPE_SUFFIX, CATALOG_SUFFIX, ".json", ".jsonl")


_GENERIC = frozenset({"readme", "index", "config", "memory", "events", "organization", "org"})


_PLAIN_WORD = regex(r"[^\W\d_]*")


_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)


_LETTER = rf"[^\W_{_UNSPACED}]"
"""A letter or digit that a name would go on with; scripts without spaces between words have other words there."""


_BEFORE, _AFTER = rf"(?<!{_LETTER})(?<!{_LETTER}[~-])", rf"(?!{_LETTER}|~{_LETTER}|-+{_LETTER}|_+{_LETTER})"


_PATH_BEFORE = regex(r"(?:(?:[A-Za-z][\w+.-]*://|(?<!\w)[A-Za-z]:)?[^\s\"'<>()\[\]{}`|,;:]*[/\\])?\Z")


_PATH_AFTER = regex(r"(?:[/#?][\w./#?=&%~+:-]*[\w/])?/?")


_LOOK_BACK = 500


_FIELDS = (
    "in_reply_to|supersedes|superseded_by|related|related_memos|related_to|context_references|conflicts|depends_on"
    "|target|via|thread_id|session_id|body_ref"
)


_QUOTED = r'"(?>(?:[^"\\]|\\.)*)"'


_REFERENCE = regex(rf'"(?:[^"]*[^"A-Za-z])?(?:{_FIELDS})"\s*:\s*({_QUOTED}|\[(?>(?:[^\[\]{{}}"]|{_QUOTED})*)\])')


_STRING = regex(_QUOTED)


_HEAD = regex(r"\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)


_HEAD_REFERENCE = regex(
    rf"^[ \t]*(?:-[ \t]+)?[\"']?(?:[\w.:-]*[_.:-])?(?:{_FIELDS})[\"']?[ \t]*:"
    r"(\s*\[[^\[\]]*\]|[^\n]*(?:\n[ \t]*-[ \t]+[^\n]+(?<!:)$)*)",
    re.MULTILINE,
)


_ENTRY = regex(r"[^\s,\[\]\"'-][^,\[\]\"'\n]*")


_URN = regex(r"urn:[\w-]+:")


_WIKI_LINK = regex(r"\[\[[ \t]*([^\[\]|#\n]{1,200})(?:[|#][^\[\]\n]*)?\]\]")


_JSON_ESCAPE = regex(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[0-9a-fA-F]{4}|\\[^u]", re.DOTALL)


_BYTE = r"%[89abAB][0-9a-fA-F]"


_OTHER_ESCAPE = regex(
    rf"%[0-7][0-9a-fA-F]|%[cdCD][0-9a-fA-F]{_BYTE}|%[eE][0-9a-fA-F](?:{_BYTE}){{2}}|%[fF][0-4](?:{_BYTE}){{3}}"
    r"|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});|\\[!-/:-@\[-`{-~]"
)


_HYPHENS = "\u2010\u2011\u2012\u2212\ufe63\uff0d"


_UNSEEN = regex(
    rf"[{_HYPHENS}]|[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\x1b\[[0-9;?]*[A-Za-z]"
    r"|(?:(?<=\w-)|(?<=\w--))\r?\n[ \t>]*(?=[\w-])|(?<=\w)\r?\n[ \t>]*(?=--\w)"
)
"""What is not seen, other hyphens, and the end of a line at a hyphen."""


_ODD = regex(rf"%[0-9c-fC-F][0-9a-fA-F]|\\u|&[#a-zA-Z]|\\[_.~-]|\w--?\\r?\\?n|\\n[ >]*--\w|{_UNSEEN.pattern}")
"""What may hide a name from a search in the text as it is written."""


def fold(name: str) -> str:
    """A name as it is compared: file systems and people do not keep case and composition apart."""
    return unicodedata.normalize("NFC", name).casefold()


def is_telling(name: str) -> bool:
    """Whether a name is more than a word that texts use anyway."""
    return _PLAIN_WORD.fullmatch(name) is None and fold(name) not in _GENERIC


class Mentions:
    """The names that may not be mentioned. `decoys` are names that may, and that have such a name in them."""

    def __init__(self, names: Iterable[str], decoys: Iterable[str] = ()) -> None:
        """Look for these names, which are not empty."""
        written = list(names)
        self.names = frozenset(map(fold, written))
        forms = {form for name in written for form in _forms(name)}
        folded = set(map(fold, forms))
        self._rough = _pattern(forms)
        seen = {form for name in decoys if self._rough.search(fold(name)) for form in _forms(name)}
        seen = {form for form in seen if fold(form) not in folded}
        self._decoys = frozenset(map(fold, seen))
        self._exact = re.compile(f"{_BEFORE}(?:{_pattern(forms | seen).pattern}){_AFTER}", re.IGNORECASE)
        self._words = frozenset(name for name in self.names if not is_telling(name))

    def in_text(self, text: str) -> bool:
        """Whether a short text, such as a path, has one of the names in it."""
        return any(True for _ in self._spans(text))

    def without(self, data: bytes, name: str) -> bytes | None:
        """The bytes of a file of this name with `[withheld]` for each of the names; None if it has none of them."""
        text = data.decode("utf-8", "surrogateescape")
        is_json = name.lower().endswith(_JSON)
        spans = set(self._references(text, is_json=is_json)) if self._words else set()
        if self._rough.search(text) or _ODD.search(text):
            base = (_JSON_ESCAPE,) if is_json else ()
            for layers in _LAYERS:
                spans |= self._decoded_spans(text, base, layers)
        if not spans:
            return None
        parts, at = [], 0
        for start, end in sorted(spans):
            if start >= at:
                parts += [text[at:start], WITHHELD]
            at = max(at, end)
        return "".join((*parts, text[at:])).encode("utf-8", "surrogateescape")

    def _decoded_spans(
        self, text: str, base: Sequence[re.Pattern[str]], layers: Sequence[re.Pattern[str]]
    ) -> set[tuple[int, int]]:
        """Where the names are in what is below these layers; nowhere if one of those after the base is not there."""
        maps, plain = [], text
        for layer in (*base, *layers):
            if layer in layers and not layer.search(plain):
                return set()
            plain, places = _decode(plain, layer)
            maps.append(places)
        found = set()
        for start, end in self._spans(plain):
            for places in reversed(maps):
                start, end = places.start(start), places.end(end)  # noqa: PLW2901 - one layer after the other
            found.add((start, end))
        return found

    def _spans(self, plain: str) -> Iterator[tuple[int, int]]:
        """Where the names are, each with the path or address that it is the end of."""
        for link in _WIKI_LINK.finditer(plain) if self._words else ():
            if self._is_word(link[1]):
                yield link.span()
        for match in self._exact.finditer(plain):
            if match[0].startswith("[[") or fold(match[0]) in self._decoys:
                continue
            least = max(0, match.start() - _LOOK_BACK)
            before = _PATH_BEFORE.search(plain, least, match.start())
            after = _PATH_AFTER.match(plain, match.end())
            yield (before.start() if before else match.start()), (after.end() if after else match.end())

    def _references(self, text: str, *, is_json: bool) -> Iterator[tuple[int, int]]:
        """The plain words among the values of fields for references, of JSON or at the head of a text."""
        if is_json:
            for field in _REFERENCE.finditer(text):
                for string in _STRING.finditer(text, *field.span(1)):
                    if self._is_word(_unquoted(string[0])):
                        yield string.start() + 1, string.end() - 1
            return
        head = _HEAD.match(text)
        for field in _HEAD_REFERENCE.finditer(text, 0, head.end()) if head else ():
            for entry in _ENTRY.finditer(text, *field.span(1)):
                if self._is_word(entry[0]):
                    yield entry.start(), entry.start() + len(entry[0].rstrip())

    def _is_word(self, value: str) -> bool:
        """Whether a value is a withheld name that is a plain word, maybe as a URN."""
        value = fold(value).strip()
        return _URN.sub("", value, count=1) in self._words


def _unquoted(string: str) -> str:
    try:
        return str(json.loads(string, strict=False))
    except ValueError:
        return ""


def _forms(name: str) -> Iterator[str]:
    """How a name is written: as it is and folded, with its suffix, and in both compositions of Unicode."""
    composed = {unicodedata.normalize("NFC", name), fold(name)}
    for form in composed | {unicodedata.normalize("NFD", one) for one in composed}:
        if is_telling(name):
            yield form
        else:
            yield f"[[{form}"
        if fold(name) not in _GENERIC:
            yield from (f"{form}{suffix}" for suffix in _SUFFIXES)


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """One pattern for many words, the longest first, in which common beginnings are written once."""
    tree: dict[str, dict] = {}  # type: ignore[type-arg] # it is recursive
    for word in words:
        node = tree
        for char in word:
            node = node.setdefault(char, {})
        node[""] = {}
    return re.compile(_branch(tree) if tree else r"(?!)", re.IGNORECASE)


def _branch(tree: dict[str, dict]) -> str:  # type: ignore[type-arg] # it is recursive
    """The pattern of a tree of characters; without recursion, since names are long."""
    done: dict[int, str] = {}
    waiting = [tree]
    while waiting:
        node = waiting[-1]
        missing = [below for char, below in node.items() if char and id(below) not in done]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        parts = [re.escape(char) + done[id(below)] for char, below in sorted(node.items()) if char]
        inner = parts[0] if len(parts) == 1 and "" not in node else f"(?:{'|'.join(parts)})"
        done[id(node)] = "" if not parts else f"{inner}?" if "" in node else inner
    return done[id(tree)]


class _Places(Value, kw_only=False):
    """Where the pieces of a decoded text are in the text that it was decoded from."""

    decoded: list[int]
    written: list[int]
    is_escape: list[bool]

    def start(self, place: int) -> int:
        """The place in the written text at which a character begins."""
        piece = bisect_right(self.decoded, place) - 1
        return self.written[piece] + (0 if self.is_escape[piece] else place - self.decoded[piece])

    def end(self, place: int) -> int:
        """The place in the written text after the character before a place."""
        piece = bisect_right(self.decoded, place - 1) - 1
        return self.written[piece + 1] if self.is_escape[piece] else self.start(place - 1) + 1


def _decode(text: str, escape: re.Pattern[str]) -> tuple[str, _Places]:
    pieces: list[str] = []
    places = _Places([], [], [])
    size = at = 0

    def add(piece: str, written: int, *, is_escape: bool) -> None:
        nonlocal size
        if piece:
            pieces.append(piece)
            places.decoded.append(size)
            places.written.append(written)
            places.is_escape.append(is_escape)
            size += len(piece)

    for match in escape.finditer(text):
        add(text[at : match.start()], at, is_escape=False)
        add(_read_escape(match[0]), match.start(), is_escape=True)
        at = match.end()
    add(text[at:], at, is_escape=False)
    places.decoded.append(size)
    places.written.append(len(text))
    places.is_escape.append(False)
    return "".join(pieces), places


def _read_escape(written: str) -> str:
    """The character of an escape; itself if it is none."""
    if written.startswith("%"):
        return unquote(written)
    if written.startswith("&"):
        return html.unescape(written)
    if not written.startswith("\\"):
        return "-" if written in _HYPHENS else ""
    try:
        return str(json.loads(f'"{written}"'))
    except ValueError:
        return written[1:]


_DECODED = (
    (),
    (_OTHER_ESCAPE,),
    (_OTHER_ESCAPE, _OTHER_ESCAPE),
    (_JSON_ESCAPE,),
    (_JSON_ESCAPE, _OTHER_ESCAPE),
    (_JSON_ESCAPE, _JSON_ESCAPE),
    (_JSON_ESCAPE, _JSON_ESCAPE, _JSON_ESCAPE),
)


_LAYERS = (*_DECODED, *((*layers, _UNSEEN) for layers in _DECODED))
"""How texts are decoded, those of JSON after its escapes: JSON may hold Markdown and JSON, Markdown may hold JSON."""


# Erasure: takes the content of what `erase` names out of what an archive is resolved from (SPEC 9).


_Entries = Mapping[FilePlace, Mapping[int, Withheld]]
"""Erased entries of list files, by the lines at which they begin."""


_Sessions = Mapping[FilePlace, Mapping[str, Withheld]]
"""Erased sessions of logs, by their keys."""


def erase(content: Content, archive: Archive, policy: Policy, _shelf: Shelf, _reread: Reread) -> Content:
    """The content without that of erased artifacts."""
    if not policy.config.erase:
        return content
    erased, findings = _erased(policy, content.ledger, archive)
    there = {ref: withheld for ref, withheld in erased.items() if ref in archive.artifacts}
    whole: dict[FilePlace, Withheld] = {}
    entries: dict[FilePlace, dict[int, Withheld]] = defaultdict(dict)
    sessions: dict[FilePlace, dict[str, Withheld]] = defaultdict(dict)
    for ref, withheld in there.items():
        artifact = archive.artifacts[ref]
        for place in artifact.files:
            if isinstance(artifact, Transcript) and artifact.log:
                sessions[place][artifact.log.key] = withheld
            elif isinstance(artifact, Record) and artifact.card.line is not None:
                entries[place][artifact.card.line] = withheld
            else:
                whole[place] = withheld
    facts = tuple(_without(parsed, whole, entries, sessions) for parsed in content.facts)
    if findings:
        facts += (Parsed(source="", path="", findings=findings),)
    forgotten = whole.keys() | sessions.keys()
    return replace(
        content,
        facts=facts,
        histories={source: _forget(history, source, forgotten) for source, history in content.histories.items()},
        unstored=content.unstored | forgotten | entries.keys() | _beside(content.facts, whole),
        erased={ref: withheld for ref, withheld in erased.items() if ref not in there},
    )


# What is named


def _erased(policy: Policy, ledger: Ledger, archive: Archive) -> tuple[dict[Ref, Withheld], tuple[Finding, ...]]:
    """The artifacts that entries name, and findings on entries that name none, or several.

    Those of an audience that does not see everything name no artifact: a log may be public.
    """
    known = _known(ledger, archive)
    erased: dict[Ref, Withheld] = {}
    findings = []
    for entry in policy.config.erase:
        refs = [ref for ref in known.get(entry.id, ()) if entry.kind in {None, ref[0]}]
        if not refs:
            findings.append(_finding(rules.ERASE_UNKNOWN, entry, "nothing of this id is known"))
        if len({kind for kind, _ in refs}) > 1:
            is_whole = policy.config.audience == "internal"
            names = ", ".join(sorted("/".join(ref) for ref in refs)) if is_whole else "items of several kinds"
            findings.append(_finding(rules.ERASE_AMBIGUOUS, entry, f"it means {names}"))
        for ref in refs:
            now = _present(ref, ledger, archive)
            erased[now] = entry.withheld(policy.published.get("/".join(now), ()))
    return erased, tuple(findings)


def _finding(rule: Rule, entry: Erasure, what: str) -> Finding:
    return rule.finding(f'erase names "{entry.name}": {what}', path=CONFIG_NAME, line=entry.line or None)


def _known(ledger: Ledger, archive: Archive) -> dict[str, list[Ref]]:
    """Everything by its id: what is there, what was published, what git says was removed, what is missing."""
    missing = ((ghost.kind, ghost.id) for ghost in archive.ghosts.values())
    refs = dict.fromkeys(
        (*archive.artifacts, *ledger.numbers, *archive.removed, *ledger.ghosts, *missing, *archive.renamed)
    )
    known: dict[str, list[Ref]] = defaultdict(list)
    for kind, id_ in refs:
        known[id_].append((kind, id_))
    return known


def _present(ref: Ref, ledger: Ledger, archive: Archive) -> Ref:
    """The artifact that a former id leads to now; the id itself if it leads nowhere."""
    if ref in archive.artifacts:
        return ref
    if now := archive.renamed.get(ref):
        return now
    key = ledger.keys_by_ref.get(ref)
    present = {ledger.keys_by_ref.get(there): there for there in archive.artifacts} if key else {}
    return present.get(key, ref)


# What loses its content


def _without(parsed: Parsed, whole: Mapping[FilePlace, Withheld], entries: _Entries, sessions: _Sessions) -> Parsed:
    if parsed.place in whole:
        return without_content(parsed, whole[parsed.place])
    if parsed.place in sessions and isinstance(parsed.fact, SessionFile):
        return _without_sessions(parsed, parsed.fact, sessions[parsed.place])
    if parsed.place in entries and isinstance(parsed.fact, RecordFile):
        return _without_entries(parsed, parsed.fact, entries[parsed.place])
    return parsed


def _without_sessions(parsed: Parsed, file: SessionFile, erased: Mapping[str, Withheld]) -> Parsed:
    """The result of a log without what these sessions say, and without findings, which may be on them."""

    def left(envelope: Envelope) -> Envelope:
        log = envelope.log
        withheld = erased.get(log.key) if log else None
        if withheld:  # the other turns and the digest of the file would let a short one be guessed
            return bare_envelope(envelope, replace(withheld, hashes=()))
        return replace(envelope, log=replace(log, is_alone=True)) if log else envelope

    return replace(parsed, fact=replace(file, sessions=tuple(map(left, file.sessions)), guarded=()), findings=())


def _without_entries(parsed: Parsed, file: RecordFile, erased: Mapping[int, Withheld]) -> Parsed:
    """The result of a list file without what these entries say, and without the findings on them."""
    records = tuple(_entry(card, erased) for card in file.records)
    rest = _rest(file.rest, erased) if file.rest else None
    begins = sorted(card.line for card in file.records if card.line is not None)
    findings = tuple(finding for finding in parsed.findings if _entry_line(finding, begins) not in erased)
    return replace(parsed, fact=replace(file, records=records, rest=rest), findings=findings)


def _entry(card: RecordCard, erased: Mapping[int, Withheld]) -> RecordCard:
    withheld = erased.get(card.line or 0)
    return card.without_content(withheld) if withheld else replace(card, is_alone=True)


def _rest(rest: RecordCard, erased: Mapping[int, Withheld]) -> RecordCard:
    """The rest of a list, which is one text: it has none if an erased entry is in it."""
    inside = [withheld for line, withheld in erased.items() if line >= (rest.line or 0)]
    return rest.without_content(inside[0]) if inside else replace(rest, is_alone=True)


def _entry_line(finding: Finding, begins: list[int]) -> int:
    """The line of the entry that a finding is about, 0 if it is about none."""
    at = bisect_right(begins, finding.location.line or 0)
    return begins[at - 1] if at else 0


def _beside(facts: Iterable[Parsed], places: Collection[FilePlace]) -> frozenset[FilePlace]:
    """The files that tell of erased records besides their own: those of the same store."""
    stores = {(source, home) for source, path in places if (home := home_of(path))}
    parts = (parsed.place for parsed in facts if stores and isinstance(parsed.fact, RecordPart))
    return frozenset(place for place in parts if (place[0], home_of(place[1])) in stores)


def _forget(history: History, source: str, places: Collection[FilePlace]) -> History:
    """A history without the former contents of these files, unless other files have had them, too.

    Subjects of commits may name what is erased, so there are none.
    """
    keys = {file_key(path) for of, path in places if of == source}
    own, others = set[str](), set[str]()
    for key, events in history.events.items():
        (own if key_of_file(key) in keys else others).update(
            blob for event in events for blob in (event.before, event.after)
        )
    return history.without_blobs(own - others).without_subjects(lambda _: True)
