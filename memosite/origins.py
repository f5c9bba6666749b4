"""Where `cite` and `verify` find items: in repos with their former versions, or in a published site.

    archive/index.json ─► lines of each month ─► names ─► index.json of an item, or its line in a bundle ─► originals

Of a repo the archive has the items, and git what they were before. A published site, read in the order above, has no
former versions. What is published is not trusted: it may hold anything.
"""

import datetime as dt
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import unquote

from memosite.archive.cite import Citation, cite_whole, ref_named
from memosite.archive.lines import notice_on
from memosite.archive.model import Archive, Artifact, Copy, Memo, Record, Transcript, Variant
from memosite.archive.seals import SEALS_PATH
from memosite.archive.urls import artifact_page, record_page
from memosite.citing import ArchiveSources, Item, Place, Sources
from memosite.facts.characters import printable
from memosite.facts.errors import OutputError
from memosite.facts.file import File
from memosite.facts.json_text import clean_text, read_json_text
from memosite.facts.names import ENVELOPE_SUFFIX
from memosite.facts.parsed import BodyFile, Envelope, FileFacts, Participant, SessionFile, SessionLog, Withheld
from memosite.facts.times import read_moment
from memosite.facts.values import replace
from memosite.formats.adapters import parse
from memosite.formats.sessions.model import agent_of
from memosite.formats.sessions.parsing import parse as parse_log
from memosite.formats.sessions.places import place_of_log
from memosite.formats.turns import Turn, TurnBlock, TurnList, TurnPlace
from memosite.passages import MADE, OUTPUT, SourceBody, bodies_of, digests_of, log_bodies
from memosite.quotes.index import QuoteIndex
from memosite.reading.as_of import FormerContent, PastContents
from memosite.reading.published import PublishedSite
from memosite.reading.text_rows import TextRows
from memosite.store.shelf import Shelf

# Items of an archive that is read from its repos, with their former versions from git.


class RepoSources(ArchiveSources):
    """Items of an archive; its texts are on the shelf."""

    def __init__(
        self,
        archive: Archive,
        shelf: Shelf,
        past: PastContents,
        *,
        base_url: str | None,
        built: PublishedSite,
        rows: TextRows | None = None,
    ) -> None:
        """Nothing is read yet but the archive; `built` is the site that was last built of it.

        Without `rows`, what is kept to find quotes, all texts are read for each.
        """
        super().__init__(archive, shelf.text, base_url=base_url)
        self._rows = rows
        self._built = built
        self._shelf = shelf
        self._past = past

    def index_for(self, quotes: Sequence[str]) -> QuoteIndex[tuple[str, int]]:
        """As `Sources` says; from kept rows that of all bodies, without their texts."""
        if self._rows is None:
            return super().index_for(quotes)
        items, rows = self._rows.read(self._digests, self._shelf.text)
        return QuoteIndex({(name, at): rows[one] for name, some, _ in items for at, one in enumerate(some)})

    def _digests(self) -> list[tuple[str, tuple[str, ...], None]]:
        return [(name, tuple(digests_of(self.artifact(name))), None) for name in self.names]

    def commit_of(self, item: Item, place: Place | None) -> str:
        """The commit that gave the file the text that a citation quotes; "" if none has it, or that is not known."""
        artifact = self.artifact(item.ref)
        body = item.bodies[place.body if place else -1] if item.bodies else None
        file = next((file for file in artifact.file_facts if body is None or file.path == body.path), None)
        if file is None or not file.blob:
            return ""
        return _known_commit(artifact, file) or self._past.commit_of(file.source, file.path, file.blob)

    def originals(self, item: Item) -> Iterator[tuple[str, bytes]]:
        """The originals of an artifact as they are published; those of its copies are equal."""
        from memosite.plan.artifact_page import originals  # noqa: PLC0415 - only for evidence

        for _, path, digest in originals(self.artifact(item.ref)):
            if "/copies/" not in path:
                yield path, self._shelf.get(digest)

    def seals(self) -> str:
        """The sealed log of the site that was last built."""
        return (self._built.read(SEALS_PATH) or b"").decode("utf-8", "replace")

    def former(self, item: Item) -> Iterator[Item]:
        """Former versions of an artifact, one for each former content of each of its files; and as it was misread."""
        if item.why_not:
            return
        for misread in item.misread():
            yield replace(misread, commit=self.commit_of(item, None))
        places = list(self._places_of(item))
        started = next((body.started for body in item.bodies), None) or self._started(places)
        for source, path, blob in places:
            for content in self._past.contents(source, path):
                if content.blob == blob:
                    continue
                if log := self._log(item):
                    yield from _log_version(item, log, source, path, content)
                    continue
                version = _version(item, source, path, content, started)
                yield version
                yield from version.misread()
        if log := self._log(item):
            yield from self._former_logs(item, log, {(source, path) for source, path, _ in places})

    def _former_logs(self, item: Item, log: SessionLog, known: Set[tuple[str, str]]) -> Iterator[Item]:
        """A session as files had it that are gone: its file may get another name as it is written anew."""
        for source, ending in dict.fromkeys((source, f".{path.rpartition('.')[2]}") for source, path in known):
            for path in self._past.removed(source, ending):
                if (source, path) not in known and place_of_log(path):
                    for content in self._past.contents(source, path):
                        yield from _log_version(item, log, source, path, content)

    def _log(self, item: Item) -> SessionLog | None:
        """Of a session log, which session it is."""
        artifact = self.artifact(item.ref) if self.has(item.ref) else None
        return artifact.log if isinstance(artifact, Transcript) else None

    def _started(self, places: Iterable[tuple[str, str, str]]) -> dt.datetime | None:
        """When a conversation began, as the newest of its former envelopes says."""
        envelopes = (place for place in places if place[1].endswith(ENVELOPE_SUFFIX))
        contents = (content for source, path, _ in envelopes for content in self._past.contents(source, path))
        fields = (read_json_text(content.text)[0] for content in contents)
        said = (
            read_moment(one["started"])
            for one in fields
            if isinstance(one, dict) and isinstance(one.get("started"), str)
        )
        return next((moment.instant for moment in said if moment), None)

    def _places_of(self, item: Item) -> Iterator[tuple[str, str, str]]:
        """The files of an artifact: source, path, and the id of what it holds now, "" if it is not there any more."""
        if self.has(item.ref):
            artifact = self.artifact(item.ref)
            yield from ((file.source, file.path, file.blob) for file in artifact.file_facts)
            if self._log(item):  # whose files are renamed as their titles change
                now = {file.place for file in artifact.file_facts}
                lives = ((copy.file.source, copy.life.events) for copy in artifact.copies if copy.life)
                before = dict.fromkeys((source, event.path) for source, events in lives for event in events)
                yield from ((*place, "") for place in before if place not in now)
            return
        removal = self._archive.removed[ref_named(item.ref)]
        path = removal.events[-1].path
        yield removal.source, path, ""
        yield removal.source, f"{path.removesuffix(ENVELOPE_SUFFIX)}.body.md", ""

    def removed(self, name: str) -> Item | None:
        """What was removed from its repo, so that only former versions have its text."""
        ref = ref_named(name)
        removal = self._archive.removed.get(ref)
        if removal is None or not removal.stem or ref in self._archive.erased:
            return None
        whole = Citation(ref=name, url="", title=removal.stem, speaker="", time="", quote="", sha256="")
        return Item(whole=whole, order=("", name), own_names=dict(self.positions))


def _known_commit(artifact: Artifact, file: FileFacts) -> str:
    """The commit as the archive has it, which asks no git; "" for an entry of a list, which has its own history."""
    if isinstance(artifact, Record) and artifact.card.line is not None:
        return ""
    copies = (copy for copy in artifact.copies if (copy.file.source, copy.body_path or copy.file.path) == file.place)
    return next((copy.life.commit for copy in copies if copy.life), "")


def _version(item: Item, source: str, path: str, content: FormerContent, started: dt.datetime | None) -> Item:
    """An item as one of its files was before; without the text of the others."""
    text, part = content.text, ""
    if path.lower().endswith((ENVELOPE_SUFFIX, ".json")):
        fields = read_json_text(content.text)[0]
        written = fields.get("body", fields.get("x.memo.body", "")) if isinstance(fields, dict) else ""
        text, part = (clean_text(written) if isinstance(written, str) else ""), "/body"
    prefix = next((body.prefix for body in item.bodies if body.path == path), "")
    body = SourceBody(
        ref=ref_named(item.ref),
        text=text,
        source=source,
        path=path,
        part=part,
        prefix=prefix,
        is_conversation=item.ref.startswith("transcript/"),
        started=started,
    )
    digests = frozenset(sha256(one.encode("utf-8", "surrogatepass")).hexdigest() for one in (text, content.text))
    return replace(item, bodies=(body,), digests=digests, commit=content.commit)


def _log_version(item: Item, log: SessionLog, source: str, path: str, content: FormerContent) -> Iterator[Item]:
    """A session as its log was before; nothing if it was not in that."""
    parsed = parse_log(File(source=source, path=path, data=content.text.encode("utf-8", "surrogatepass")))
    texts = {sha256(one).hexdigest(): one for one in parsed.shelve}
    for one in parsed.fact.sessions if isinstance(parsed.fact, SessionFile) else ():
        if one.log and one.body and (one.log.system, one.log.key) == (log.system, log.key):
            bodies = tuple(log_bodies(ref_named(item.ref), one.body, one.file, lambda digest: texts[digest].decode()))
            digests = frozenset((one.body.sha256, sha256(content.text.encode("utf-8", "surrogatepass")).hexdigest()))
            yield replace(item, bodies=bodies, digests=digests, commit=content.commit)


# Items of a published site, in a folder or at an address: from its lines, its twins and its originals (SPEC 4).


_INDEX = "archive/index.json"


_AGAIN = "build the site again with this version of memosite"


class SiteSources(Sources):
    """Items of a published site."""

    def __init__(self, site: PublishedSite, *, base_url: str = "") -> None:
        """Nothing is read yet."""
        self._site = site
        self.base_url = base_url
        self._items: dict[str, Item] = {}
        self._zip: tuple[str, dict[str, bytes]] = ("", {})
        self._bundle: tuple[str, dict[str, dict[str, Any]]] = ("", {})

    @property
    def names(self) -> Sequence[str]:
        """The names of all items, the oldest first."""
        return list(self._lines)

    @cached_property
    def renamed(self) -> Mapping[str, str]:
        """From names that items had before to those they have."""
        return {
            f"{line['kind']}/{id_}": name for name, (_, line) in self._lines.items() for id_ in line.get("former") or ()
        }

    @cached_property
    def positions(self) -> Mapping[str, str]:
        """From the names of positions to their ids; sites of earlier versions have the ids alone."""
        ids, names = self._index.get("positions"), self._index.get("position_names")
        if isinstance(names, dict):
            return {name: str(id_) for name, id_ in names.items()}
        return {str(one): str(one) for one in ids} if isinstance(ids, list) else {}

    def former(self, item: Item) -> Iterator[Item]:
        """An item as it was misread: a site has no former versions."""
        return item.misread()

    def originals(self, item: Item) -> Iterator[tuple[str, bytes]]:
        """The originals of an item."""
        twin = self._twin(item.ref)
        for href in twin["originals"]:
            if "copies/" not in href:
                file = unquote(href.partition("#")[2] or href).rpartition("/")[2]
                if not (file.startswith("original") and file.isprintable()):  # it becomes the name of a file
                    raise self._odd(f"found the original {printable(file)}, expected another name")
                yield _page(twin) + file, self._original(twin["folder"], href)

    def seals(self) -> str:
        """The sealed log."""
        return (self._read(SEALS_PATH) or b"").decode("utf-8", "replace")

    def item(self, name: str) -> Item:
        """The item of a name."""
        if name not in self._items:
            try:
                self._items[name] = self._made(name, self._twin(name))
            except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
                raise self._odd(f"{name} cannot be read ({type(error).__name__}: {error})") from error
        return self._items[name]

    # What is published

    def _read(self, path: str) -> bytes | None:
        """A file of the site. What the site itself names leads nowhere else."""
        if path.startswith("/") or "\\" in path or ".." in path.split("/"):
            raise self._odd(f"found the path {path}, expected one within the site")
        return self._site.read(path)

    def _json(self, data: bytes, path: str) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._odd(f"{path} cannot be read ({error})") from error

    def _odd(self, said: str) -> OutputError:
        """The error for what no site has that this version built."""
        return OutputError(f"{self._site.name}: {said}; {_AGAIN}")

    @cached_property
    def _index(self) -> dict[str, Any]:
        data = self._read(_INDEX)
        if data is None:
            raise OutputError(f"{self._site.name}: found no {_INDEX}, expected a site that memosite built")
        found = self._json(data, _INDEX)
        return found if isinstance(found, dict) else {}

    @cached_property
    def _lines(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Each item's month, as the index names it, and its line."""
        found: list[tuple[str, dict[str, Any]]] = []
        try:
            for month in self._index.get("months") or ():
                path = f"archive/{month['lines']}"
                rows = filter(None, (self._read(path) or b"").decode("utf-8", "replace").split("\n"))
                found += ((str(month["month"]), self._json(row.encode(), path)) for row in rows)
            found.sort(key=lambda row: (str(row[1].get("date") or "9999"), str(row[1].get("id"))))
            return {f"{line['kind']}/{line['id']}": (month, line) for month, line in found}
        except (KeyError, TypeError, AttributeError) as error:
            raise self._odd(f"{_INDEX} cannot be read ({type(error).__name__}: {error})") from error

    def _twin(self, name: str) -> dict[str, Any]:
        month, line = self._lines[name]
        bundles = (row.get("bundles") or () for row in self._index["months"] if row["month"] == month)
        for bundle in next(bundles, ()):
            path = f"archive/{bundle['json']}"
            if self._bundle[0] != path:
                rows = filter(None, (self._read(path) or b"").split(b"\n"))
                self._bundle = (path, {twin["key"]: twin for twin in (self._json(row, path) for row in rows)})
            if name in self._bundle[1]:
                return {**self._bundle[1][name], "folder": path.rpartition("/")[0] + "/"}
        page = _page(line)
        data = self._read(f"{page}index.json")
        if data is None:
            raise self._odd(f"found no {page}index.json, though {_INDEX} leads to it")
        return {**self._json(data, f"{page}index.json"), "folder": page}

    def _original(self, folder: str, href: str) -> bytes:
        """An original, from its file or from the ZIP that it is in."""
        path, _, member = href.partition("#")
        path = folder + unquote(path)
        data = self._zipped(path).get(unquote(member)) if member else self._read(path)
        if data is None:
            raise self._odd(f"found no {unquote(href)} in {folder}")
        return data

    def _zipped(self, path: str) -> dict[str, bytes]:
        if self._zip[0] != path:
            try:
                with zipfile.ZipFile(io.BytesIO(self._read(path) or b"")) as whole:
                    stored = [one for one in whole.infolist() if one.compress_type == zipfile.ZIP_STORED]
                    self._zip = (path, {one.filename: whole.read(one) for one in stored})
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
                raise self._odd(f"{path} cannot be read ({error})") from error
        return self._zip[1]

    # Items

    def _made(self, name: str, twin: Mapping[str, Any]) -> Item:
        order = (str(twin["date"] or "9999"), str(twin["id"]))
        whole = Citation(
            ref=name,
            url=str(twin["url"]),
            title=str(twin["short_subject"]),
            speaker=", ".join(dict.fromkeys(str(one["source"]) for one in twin["copies"][:1])),
            time=str(twin["date"] or ""),
            quote=str(twin.get("opening") or twin["summary"]).replace("…", " […]"),
            sha256=str(twin["sha256"] or ""),
        )
        if twin.get("withheld"):
            said = twin["withheld"]
            withheld = Withheld(
                reason="erased" if said["reason"] == "erased" else "secret",
                why=str(said["why"] or ""),
                on=str(said["on"] or ""),
                rules=tuple(map(str, said["rules"])),
            )
            notice = notice_on(twin["kind"], withheld)
            return Item(whole=whole, order=order, why_not=notice.reason if notice else "it is withheld")
        if twin["kind"] == "transcript" and not twin["originals"]:
            return self._session(whole, order, twin)
        if twin["kind"] in {"memo", "note", "transcript"}:
            return self._letter(whole, order, twin)
        if twin["kind"] == "library":  # it has no text of its own
            return Item(whole=whole, order=order, digests=frozenset({whole.sha256}))
        text = str(twin.get("body") or "")
        digest = sha256(text.encode()).hexdigest()
        body = SourceBody(
            ref=(twin["kind"], twin["id"]),
            text=text.removeprefix("\ufeff"),
            source=whole.speaker,
            path=str(twin["copies"][0]["path"]),
            part=MADE,
            is_redacted=bool(twin.get("redacted")),
        )
        digests = frozenset({digest, whole.sha256})
        return Item(whole=replace(whole, sha256=digest), order=order, bodies=(body,), digests=digests)

    def _session(self, whole: Citation, order: tuple[str, str], twin: Mapping[str, Any]) -> Item:
        """A session of a log, whose original is not published: its words and what `turns.jsonl` says of its turns."""
        body, said, copy = str(twin.get("body") or ""), twin["transcript"], twin["copies"][0]
        rows = self._original(twin["folder"], said["all_turns"]).decode("utf-8", "replace") if said["all_turns"] else ""
        turns = tuple(_turns_said(body, (json.loads(row) for row in rows.split("\n") if row)))
        source = SourceBody(
            ref=(twin["kind"], twin["id"]),
            text=body,
            source=str(copy["source"]),
            path=str(copy["path"]),
            is_conversation=True,
            is_redacted=bool(twin.get("redacted")),
            known=TurnList(form="session", preamble="", turns=turns),
        )
        has_outputs = any(turn.after for turn in turns)
        others = (replace(source, text="", part=OUTPUT, is_conversation=False),) if has_outputs else ()
        digest = sha256(body.encode()).hexdigest()
        agent = str((twin.get("session") or {}).get("agent") or agent_of(str(twin["system"])))
        cited = replace(whole, sha256=digest, speaker=agent, quote="", note="raw")
        people = tuple(Participant(position=str(one)) for one in (said.get("person"),) if one)
        return Item(
            whole=cited,
            order=order,
            bodies=(source, *others),
            digests=frozenset({digest, whole.sha256}) - {""},
            people=people,
        )

    def _letter(self, whole: Citation, order: tuple[str, str], twin: Mapping[str, Any]) -> Item:
        """A memo, note or transcript, as its originals say."""
        copy = twin["copies"][0]
        texts: dict[str, str] = {}
        hrefs = [one for one in twin["originals"] if "/copies/" not in one and not one.startswith("copies/")]
        files: list[Envelope | BodyFile] = []
        for number, href in enumerate(hrefs[:2]):
            data = self._original(twin["folder"], href)
            path = copy["path"] if not number or not copy["path"].endswith(".openthing") else (
                f"{copy['path'].removesuffix('.openthing')}.body.md"
            )  # fmt: skip
            file = File(source=copy["source"], path=path, data=data, is_redacted=bool(twin.get("redacted")))
            parsed = parse(file)
            kept = {sha256(one).hexdigest(): one for one in (data, *parsed.shelve)}
            texts |= {digest: one.decode("utf-8", "replace") for digest, one in kept.items()}
            if isinstance(parsed.fact, Envelope | BodyFile):
                files.append(parsed.fact)
        envelope = next((one for one in files if isinstance(one, Envelope)), None)
        body = next((one for one in files if isinstance(one, BodyFile)), None)
        if envelope is None and body is not None:  # a body that has no envelope
            said, sender = body.file, str(twin["from"] or "")
            envelope = Envelope(
                kind=twin["kind"], shape="bare", file=said, stem=twin["id"], content_sha256=said.sha256, sender=sender
            )
        if envelope is None or envelope.shape == "broken":
            return Item(whole=whole, order=order, why_not="its original cannot be parsed; there is no text to cite")
        artifact = _artifact(twin, Variant(envelope=envelope, body=body))
        participants = envelope.participants if isinstance(artifact, Transcript) else ()
        cited = cite_whole(artifact, whole.url)
        return Item(
            whole=replace(cited, time=whole.time),
            order=order,
            bodies=tuple(bodies_of(artifact, texts.__getitem__)),
            digests=frozenset({*texts, cited.sha256}),
            people=tuple(participant for participant in participants if not participant.session_arc),
            models=tuple(participant for participant in participants if participant.session_arc),
            position=str(twin["from"] or "") if isinstance(artifact, Memo) else "",
            own_names=dict(self.positions),
        )


def _artifact(twin: Mapping[str, Any], variant: Variant) -> Memo | Transcript:
    """An artifact with what citations need of it."""
    said = {name: twin[name] for name in ("kind", "id", "system", "subject", "short_subject", "summary", "chars")}
    said |= {"date": None, "arrival": 0, "variants": (variant,)}
    said["copies"] = (Copy(file=variant.envelope.file, mailbox=None),)
    if twin["kind"] == "transcript":
        return Transcript(**said, role=None, ended=None)
    sender = variant.envelope.sender or str(twin["from"] or "")
    return Memo(**said, sender=sender, to=(), sender_position=None, recipients=(), mailbox=None, thread="")


def _turns_said(body: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[Turn]:
    """The turns of a session: their words are in its body, each behind a line, as many as `turns.jsonl` says.

    A digest that is not that of the words tells nothing of them: a site may say what it likes.
    """
    line = at = 1
    for row in rows:
        text, moment = body[at : at + int(row["chars"])], read_moment(str(row["time"] or ""))
        digest, ordinal = sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), int(row["ordinal"])
        first, last = row["lines"]
        yield Turn(
            ordinal=ordinal,
            kind=row["kind"],
            speaker=str(row["speaker"]),
            model=row["model"],
            stamp=row["written"],
            order=None,
            at=moment.instant if moment else None,
            line=line,
            text=text,
            digest=digest if digest == row["sha256"] else "",
            anchor=f"t{ordinal}",
            hash_anchor=None,
            after=tuple(map(_output_said, row.get("outputs") or ())),
            place=TurnPlace(
                line=int(first),
                last_line=int(last),
                record=str(row["record"] or ""),
                state=row["state"] or "",
                words_from=int(row.get("words_from") or 0),
            ),
        )
        at += len(text) + 2
        line += text.count("\n") + 2


def _output_said(said: Mapping[str, Any]) -> TurnBlock:
    """What a tool put out: its page has it, programs are told where it is, and its digest."""
    return TurnBlock(
        kind="tool",
        name=str(said["tool"]),
        stamp=None,
        text="",
        start=0,
        end=0,
        line=int(said["line"]),
        is_cut=not said["sha256"],
        anchor=str(said["anchor"]),
        digest=str(said["sha256"] or ""),
    )


def _page(line: Mapping[str, Any]) -> str:
    """The folder of an item's page in the site."""
    if line["kind"] == "record":
        return record_page(line["system"], line["id"])
    return artifact_page((line["kind"], line["id"]))
