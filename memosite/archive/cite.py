"""Makes and writes citations of artifacts and of turns, and finds what a reference means (SPEC 7).

A citation names what is cited (`transcript/<id>#t12`), who said it and when, a quote, the URL, and the SHA-256
of the source text, which lets readers verify it without this site.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from hashlib import sha256
from heapq import nlargest
from typing import Final, cast
from urllib.parse import unquote, urlsplit

from memosite.archive.lines import notice_on
from memosite.archive.model import Archive, Artifact, Memo, Transcript
from memosite.archive.urls import FOLDERS
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import Envelope, FileFacts, Kind, Participant, Ref
from memosite.facts.patterns import regex
from memosite.facts.texts import SUMMARY, TABLE_RULE, cut_line, first_words, plain_line
from memosite.facts.values import Value

# Writes citations of artifacts and of turns: a link, Markdown and plain text (SPEC 7).


_MARKS: Final = regex(r"([\\`*_\[\]<>#|~&])")


_QUOTED: Final = 400  # characters of source that a quote is taken from


_LAST: Final = 120  # characters of the end of a range that are quoted


_CUT: Final = " […]"


class Citation(Value):
    """The fields of a citation. `url` is absolute, or a path within the site if the site has no base URL.

    `ref` is `<kind>/<id>` with the anchor of a turn; `sha256` is that of the source text, 64 hex digits. `note` is a
    warning about the source: that it is raw, or confidential. `commit` is where the source has this text, if known.
    """

    ref: str
    url: str
    title: str
    speaker: str
    time: str
    quote: str
    sha256: str
    note: str = ""
    commit: str = ""

    @property
    def text(self) -> str:
        """The citation as one line of plain text."""
        said = ": ".join(part for part in (self.speaker, f"“{self.quote}”" if self.quote else "") if part)
        parts = (said, f"{self.title} ({self.ref})", self.time, self.url, self.check)
        return " ".join(". ".join(part for part in parts if part).split())

    @property
    def markdown(self) -> str:
        """The citation as Markdown: the quote, below it who, where and when."""
        where = f"[{_escaped(self.title)}](<{self.url}>)"
        parts = [_escaped(self.speaker), where, f"`{self.ref}`", _escaped(self.time), _escaped(self.check)]
        line = f"— {', '.join(part for part in parts if part)}"
        return f"> {_escaped(self.quote)}\n>\n> {line}" if self.quote else line

    @property
    def check(self) -> str:
        """The digest that verifies the source, the commit that has it, and the warning about it."""
        commit = f", commit {self.commit}" if self.commit else ""
        return f"sha256:{self.sha256}{commit}" + (f" ({self.note})" if self.note else "")


def range_source(digests: Iterable[str]) -> str:
    """What is hashed of a range of turns: the digests of its turns, a line each.

    So a page can tell it from what it says of each turn, and whoever has the digests can check it with `sha256sum`.
    """
    return "".join(f"{digest}\n" for digest in digests)


def range_digest(digests: Iterable[str]) -> str:
    """The SHA-256 by which a range of turns is cited."""
    return sha256(range_source(digests).encode()).hexdigest()


def quote_of(text: str) -> str:
    """The first words of a text as a citation quotes them; omissions are marked as an editor marks them."""
    words = first_words(text[:_QUOTED])
    is_cut = len(text) > _QUOTED or len(words) >= SUMMARY - 1 or words.endswith("…")
    return f"{words.removesuffix('…').rstrip()}{_CUT}" if words and is_cut else words


def quote_of_range(texts: Sequence[str]) -> str:
    """What a citation quotes of a range, of what is said in its turns: all if that is short, else its ends."""
    said = list(filter(None, (plain_line(text) for text in texts if len(text) <= _QUOTED)))
    whole = f"{_CUT} ".join(said)
    if len(said) == len(texts) and len(whole) <= SUMMARY:
        return whole
    end = plain_line(texts[-1][-_QUOTED:])
    if len(end) > _LAST:
        end = end[-_LAST:].partition(" ")[2]
    return f"{quote_of(texts[0]).removesuffix(_CUT)}{_CUT} {end}"


def _escaped(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))


# Makes the citation of a whole artifact, from which those of its passages are made (SPEC 7).


_WARNINGS = ("confidential", "private", "ephemeral")


def cite_whole(artifact: Artifact, url: str) -> Citation:
    """How a whole artifact is cited; the hash is that of the text people read, else of the file."""
    texts = artifact.texts
    return Citation(
        ref=f"{artifact.kind}/{artifact.id}",
        url=url,
        title=artifact.short_subject,
        speaker=cut_line(", ".join(_speakers(artifact)), 200),
        time=artifact.date.utc if artifact.date else "",
        quote="" if isinstance(artifact, Transcript) else _quote((texts and texts[0].opening) or artifact.summary),
        sha256=texts[-1].sha256 if texts else artifact.shown_file.sha256,
        note=_note(artifact.envelope) if isinstance(artifact, Memo | Transcript) else "",
    )


def _quote(opening: str) -> str:
    """How a text begins as a quote; none of a table, of which the lines are gone: that would not verify."""
    return "" if TABLE_RULE.search(opening) else opening.replace("…", " […]")


def _speakers(artifact: Artifact) -> Iterable[str]:
    if isinstance(artifact, Memo):
        session = artifact.envelope.session
        yield f"{artifact.author} ({session})" if session and artifact.sender else artifact.author
    elif isinstance(artifact, Transcript) and artifact.envelope.log:
        yield artifact.envelope.log.agent
    elif isinstance(artifact, Transcript):
        yield from map(called, artifact.envelope.participants)
    else:
        yield artifact.copies[0].file.source


def called(participant: Participant) -> str:
    """A participant of a conversation: the position, and the session or person who held it."""
    who = ", ".join(part for part in (participant.session_arc, participant.identity) if part)
    return f"{participant.position} ({who})" if who else participant.position


def participants(archive: Archive, transcript: Transcript) -> tuple[tuple[Participant, ...], tuple[Participant, ...]]:
    """Which participants of a conversation are people, and which are models, as far as orgdef or envelope say."""
    people: list[Participant] = []
    models: list[Participant] = []
    if transcript.log and transcript.log.person:
        people.append(Participant(position=transcript.log.person))
    for participant in transcript.envelope.participants:
        position = archive.positions.get(archive.position_of.get(participant.position, ""))
        is_person = (position is not None and position.is_person) or not participant.session_arc
        (people if is_person else models).append(participant)
    return tuple(people), tuple(models)


def _note(envelope: Envelope) -> str:
    """What must be known of a source before it is quoted: that it is raw, or not for everybody."""
    kept = envelope.extra[:4_000].casefold()
    words = [word for word in _WARNINGS if f'"{word}"' in kept]
    return ", ".join(["raw"] * (envelope.redaction_status == "raw") + words)


# Finds what a reference means: a name, an id or the beginning of one, a part of it, the address of a page, a file.


_KIND_OF: Final = {folder: kind for kind, folder in FOLDERS.items()}


_PAGE: Final = regex(rf"(?:^|/)(?:(?P<folder>{'|'.join(_KIND_OF)})|records/[^/]+)/(?P<id>[^/#]+)")


_MESSAGE: Final = regex(r"(?P<stem>[^/]+?)(?:\.body\.md|\.openthing)$")


_SESSION: Final = regex(r"[0-9a-f]{8}[0-9a-f-]+(?:\.agent-[\w-]+)?")
"""The whole id of a session, as its log has it: those of its subagents begin with it."""


_SHOWN, _COMPARED = 10, 100


def several_found(what: str, names: Sequence[str], advice: str) -> str:
    """What is said of a reference that means several things: which they are, one a line, of many the first."""
    lines = [*names[:_SHOWN], *([f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else [])]
    return "\n  ".join((f"found {len(names)} {what}; {advice}:", *lines))


def position_names(archive: Archive) -> dict[str, str]:
    """From all names of positions, as orgdefs and memos write them, to their ids."""
    known = {name: id_ for id_, seat in archive.positions.items() for name in (id_, seat.name, *seat.names)}
    return {**known, **archive.position_of}


class Named(ABC):
    """Artifacts by their names, `<kind>/<id>`."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The names of all artifacts, the oldest first."""

    @property
    def unordered(self) -> Sequence[str]:
        """The same names in any order: of a kept archive, ordering them by date loads every artifact."""
        return self.names

    def has(self, name: str) -> bool:
        """Whether there is an artifact of this name."""
        return name in self.names

    @property
    def renamed(self) -> Mapping[str, str]:
        """From names that artifacts had before to those they have."""
        return {}

    def at_file(self, path: str, *, is_known: bool) -> Sequence[str]:  # noqa: ARG002 - others know
        """The names of the artifacts in a file; if its path may be the address of a page, only what has its name."""
        return ()

    def missing(self, name: str) -> str:  # noqa: ARG002 - others know
        """Why there is nothing of a name that is not in `names`; "" if that is not known."""
        return ""

    def find(self, written: str, *, is_exact: bool = False) -> tuple[str, str]:
        """The name of the artifact and the anchor that a reference means.

        If it has to be exact, only whole names and ids count.
        Raises `ConfigError` if it means nothing, or several artifacts.
        """
        said, _, anchor = written.partition("#")
        if "/" in said and not _is_name(said):
            said = self._addressed(said, written, is_exact=is_exact)
        return self._named(said.strip("/"), written, is_exact=is_exact), unquote(anchor).partition(":~:")[0]

    def _addressed(self, said: str, written: str, *, is_exact: bool) -> str:
        """The name or id that the address of a page or the path of a file stands for; itself if it is neither."""
        page = _PAGE.search(unquote(urlsplit(said).path))
        named = f"{_KIND_OF[page['folder']] if page['folder'] else 'record'}/{page['id']}" if page else said
        if is_exact or self.has(named):
            return named
        found = self.at_file(said, is_known=page is not None)
        if len(found) > 1:
            raise ConfigError(f"{written}: {several_found('items in that file', found, 'name one of them')}")
        message = _MESSAGE.search(said)
        return found[0] if found else message["stem"] if message else named

    def _named(self, said: str, written: str, *, is_exact: bool) -> str:
        if self.has(said):
            return said
        names = self.unordered
        folded = said.casefold()
        ids = {name: name.casefold().partition("/")[2] for name in names}
        same = [name for name in names if folded in (name.casefold(), ids[name])]
        if not same and _SESSION.fullmatch(folded):
            same = [name for name in names if ids[name].endswith(f"--{folded}")]
        begun = [name for name in names if name.casefold().startswith(folded) or ids[name].startswith(folded)]
        held = [name for name in names if folded in name.casefold()]
        former = self._renamed_from(folded) if not same else []
        for found in (same, former) if is_exact else (same, former, begun, held):
            if len(found) == 1:
                return found[0]
            if found and said:
                several = set(found)
                some = [name for name in self.names if name in several]
                said = several_found("items of that name", some, "write more of the id")
                raise ConfigError(f"{written}: {said}")
        if why := self.missing(said):
            raise ConfigError(f"{written}: {why}")
        near = nearest(said, self.names)
        raise ConfigError(
            f"{written}: found no item of that name, expected an id of the archive, such as {near}"
            if near
            else f"{written}: found no item at all; is this the folder of a site? Name it with --site"
        )

    def _renamed_from(self, folded: str) -> list[str]:
        were = (now for name, now in self.renamed.items() if folded in (was := name.casefold(), was.partition("/")[2]))
        return list(dict.fromkeys(were))


def _is_name(said: str) -> bool:
    return said.partition("/")[0] in {*FOLDERS, "record"} and said.count("/") == 1


def nearest(said: str, names: Sequence[str]) -> str:
    """The name that is most like another one, "" if there are none at all."""
    ids = {name.partition("/")[2] or name: name for name in names}
    wanted = said.rpartition("/")[2]
    pieces = _pieces(wanted)
    some = nlargest(_COMPARED, ids, key=lambda id_: len(pieces & _pieces(id_)))  # comparing letter by letter is slow
    close = get_close_matches(wanted, some, n=1, cutoff=0.0)
    return ids[close[0]] if close else ""


def _pieces(text: str) -> set[str]:
    folded = text.casefold()
    return {folded[at : at + 3] for at in range(len(folded))}


class ArchiveNames(Named):
    """The artifacts of an archive; of one that is kept, no more than their names are loaded."""

    def __init__(self, archive: Archive, kinds: Collection[str] = ()) -> None:
        """Nothing is looked at yet; of several kinds, only these."""
        self._archive = archive
        self._kinds = kinds

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of all artifacts, in order of arrival."""
        return ["/".join(ref) for ref in self._archive.artifacts if not self._kinds or ref[0] in self._kinds]

    @cached_property
    def renamed(self) -> Mapping[str, str]:
        """From names that artifacts had before to those they have."""
        return names_now(self._archive)

    def has(self, name: str) -> bool:
        """Whether there is an artifact of this name: only that one is loaded."""
        return ref_named(name) in self._archive.artifacts

    def at_file(self, path: str, *, is_known: bool) -> Sequence[str]:
        """The names of the artifacts in a file; if its path may be the address of a page, only what has its name.

        A memo moves to another mailbox when it is read: its file may also be named as it was before.
        """
        message = _MESSAGE.search(path)
        stem = message["stem"] if message else path.rpartition("/")[2].partition(".")[0]
        near = [name for name in self.unordered if stem.casefold() in name.casefold()]
        found = [name for name in near if self._is_in(name, path)]
        if found or message or is_known:
            return found or [name for name in near if message and name.partition("/")[2] == stem]
        return [name for name in self.names if self._is_in(name, path)]

    def _is_in(self, name: str, path: str) -> bool:
        return any(is_at(copy.file, path) for copy in self._archive.artifacts[ref_named(name)].copies)

    def missing(self, name: str) -> str:
        """What became of an artifact that was there, or what is known of a missing memo or a thread of this name."""
        if found := what_became(self._archive, name):
            return found
        if found := _of_ghosts(self._archive, name.partition("/")[2] or name):
            return found
        thread = name.removeprefix("threads/").removeprefix("thread/")
        is_thread = thread in self._archive.threads
        return f"it is a thread, expected an item; see: memosite thread {thread}" if is_thread else ""


def _of_ghosts(archive: Archive, written: str) -> str:
    """What is known of the missing memo of an id or its beginning, "" if there is none."""
    folded = written.casefold()
    begun = [id_ for id_ in archive.ghosts if folded and id_.casefold().startswith(folded)]
    if written in archive.ghosts:
        begun = [written]
    if len(begun) > 1:
        return several_found("missing memos of that name", begun, "write more of the id")
    for id_ in begun:
        ghost = archive.ghosts[id_]
        replies = ", ".join("/".join(ref) for ref in ghost.replies[:_SHOWN])
        what = "it is a missing memo" if id_ == written else f"{ghost.kind}/{id_} is a missing memo"
        return f"{what}: no source has it; replies to it: {replies}"
    return ""


def is_at(file: FileFacts, path: str) -> bool:
    """Whether a path means a file: from the file's source on, from further up, or from a folder in it."""
    whole, written = f"/{file.source}/{file.path}", path.removeprefix("./").lstrip("/")
    return "/" in written and (whole.endswith(f"/{written}") or f"/{written}".endswith(whole))


def names_now(archive: Archive) -> dict[str, str]:
    """From names, `<kind>/<id>`, that artifacts had before to those they have."""
    return {"/".join(was): "/".join(now) for was, now in archive.renamed.items()}


def ref_named(name: str) -> Ref:
    """The ref that a name, `<kind>/<id>`, would have; of another kind it is in no archive."""
    kind, _, id_ = name.partition("/")
    return cast("Kind", kind), id_


def what_became(archive: Archive, name: str) -> str:
    """What became of an artifact that was there, "" if that is not known."""
    for (kind, id_), removal in archive.removed.items():
        if name in (f"{kind}/{id_}", id_):
            last = removal.events[-1]
            on = f" on {last.at.utc[:10]}" if last.at else ""
            return f"it was removed{on}, with commit {last.commit[:8]}; look for it there: git show {last.commit}^"
    for (kind, id_), withheld in archive.erased.items():
        if name in (f"{kind}/{id_}", id_):
            notice = notice_on(kind, withheld)
            return notice.reason if notice else ""
    return ""
