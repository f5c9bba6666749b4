"""The gate: two filters that all content passes, for secrets, and for audience and erasure (SPEC 9).

    bytes of a file, now or formerly ─► screen ─► parse, shelf ─► resolve ─► revise ─┬─► cache, plan, search, export …
                                       (secrets)                   ▲   (audience,    │
                                                                   │     erasure)    │
                                                                   └── what is left ─┘

No command can skip them: `open_archive` is the only way to an archive, and applies both. They filter the contents of
files, present and former ones from git, and names: paths, and authors of commits. The first is in `screen`, with what
is done about secrets once all is read. The second is `revise`: the rules for the audience are here, those for erasure
in `withholding`.

`revise` takes nothing out of an archive: it takes it out of what the archive is resolved from, which is then resolved
again. So threads, missing memos, positions, counts, links, removals and findings are those of what is left, and
nothing that comes later has a rule of its own.

    marks, globs ─► artifacts, with all their files ─► names ─► facts, histories and ledger without either

An artifact is withheld as a whole if one of its files is. Whoever reads the result can be told nothing of it: it is not
there. What is left is rewritten where it mentions a name of that (`Mentions`), and parsed again.

A ledger is otherwise only appended to. What is left of it keeps its order and its ids; numbers have no gaps. Pages that
something withheld may have led to (positions, months, digests …) are forgotten unless the archive still has them, and
so are the full archive documents of feeds that it was in: they are cut anew.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import takewhile

from memosite.archive.history import History, LifeEvent, copy_key, file_key, key_of_file
from memosite.archive.ledger import LEAN, Arrival, Ledger, page_ref
from memosite.archive.model import Archive, Artifact, Document, Memo, Record, Transcript
from memosite.facts.contents import is_confidential, is_raw_transcript, is_redacted
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.layout import CONFIG_NAME, place_of
from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX, WITHHELD, make_id, stem_of
from memosite.facts.parsed import Envelope, FileFacts, LibraryCard, Organization, Parsed, RecordFile, Ref, SessionFile
from memosite.facts.rules import WITHHOLD_IN_VAIN
from memosite.facts.values import Value, replace
from memosite.formats.system import FilePlace
from memosite.formats.systems import owner_of
from memosite.reading.withholding import Content, Mentions, Policy, Reread, erase, fold, is_match
from memosite.resolve.identity import body_candidates, memo_folders
from memosite.resolve.lives import list_files
from memosite.store.shelf import Shelf

# Which former contents and events of files everybody may see, and how (SPEC 9, audience).


def since_hidden(events: Sequence[LifeEvent], is_hidden: Callable[[str], bool]) -> Sequence[LifeEvent]:
    """The events of a file after the last at a hidden path, as if it had come from nowhere then; all if none was."""
    start = max((number for number, event in enumerate(events, 1) if is_hidden(event.path)), default=0)
    if not start or start == len(events):
        return events[start:]
    commit = events[start].commit
    came = list(takewhile(lambda event: event.commit == commit, events[start:]))
    left = [replace(came[0], kind="received", after=came[-1].after), *events[start + len(came) :]]
    seen = {event.after for event in left}
    return tuple(replace(event, before=event.before if event.before in seen else "") for event in left)


def former_contents(
    history: History, artifacts: Iterable[Set[str]], mentions: Mentions, shelf: Shelf, *, were_hidden: Set[str]
) -> Mapping[str, str]:
    """The digests of former contents by blob id, for artifacts by the keys of their files.

    If one content was confidential then, the others of that artifact are left out, too: its body has no marks of its
    own. What mentions withheld names is rewritten. Of an artifact with a file that was at a withheld path, only the
    contents of that file are there, which `since_hidden` has left.
    """
    blobs: dict[str, str] = {}
    closed: set[str] = set()
    for keys in artifacts:
        paths = {
            blob: event.path
            for key in (keys & were_hidden or keys)
            for event in history.events.get(key, ())
            for blob in (event.before, event.after)
            if blob in history.blobs
        }
        files = [
            (blob, File(source="", path=path, data=shelf.get(history.blobs[blob]))) for blob, path in paths.items()
        ]
        if any(is_confidential(file) for _, file in files):
            closed.update(paths)
            continue
        for blob, file in files:
            data = mentions.without(file.data, file.name)
            blobs[blob] = history.blobs[blob] if data is None else shelf.put(data)
    return {blob: digest for blob, digest in blobs.items() if blob not in closed}


# Keeps a thread together that lost members: it is named by its earliest memo that is left (SPEC 9, audience).


def thread_ids(archive: Archive, hidden: Set[Ref], is_hidden_name: Callable[[str], bool]) -> dict[FilePlace, str]:
    """The thread ids that envelopes need, by file, so that what is left of each thread stays one."""
    found: dict[FilePlace, str] = {}
    for thread in archive.threads.values():
        left = [ref for ref in thread.memos if ref not in hidden]
        if len(left) > 1 and len(left) < len(thread.memos):
            for memo, name in _named(archive, left, is_hidden_name):
                found |= dict.fromkeys(memo.own_files, name)
    return found


def _named(archive: Archive, left: list[Ref], is_hidden_name: Callable[[str], bool]) -> Iterator[tuple[Memo, str]]:
    """The memos that need a thread id: of each tree that is left the root, unless the thread is named after it."""
    memos = [memo for ref in left if isinstance(memo := archive.artifacts[ref], Memo)]
    memos.sort(key=lambda memo: memo.sort_key)
    by_ref = {memo.ref: memo for memo in memos}
    trees: dict[object, list[Memo]] = {}
    known: dict[Ref, object] = {}
    for memo in memos:
        trees.setdefault(_tree_of(memo, by_ref, known), []).append(memo)
    if len(trees) == 1:  # one tree stays one thread by itself
        return

    def written(memo: Memo) -> str | None:
        name = memo.envelope.thread_id
        return name if name and name.strip() and not is_hidden_name(name) else None

    name = next((written(memo) for memo in memos if written(memo)), None) or memos[0].id
    for tree in trees.values():
        if any(map(written, tree)):  # it is the name of the whole tree
            continue
        for memo in tree:
            if memo.parent not in by_ref and not (memo is memos[0] and name == memo.id):
                yield memo, name


def _tree_of(memo: Memo, by_ref: Mapping[Ref, Memo], known: dict[Ref, object]) -> object:
    """What the tree of replies that a memo is in begins with: a memo, or one that is missing."""
    passed = []
    tree: object = None
    while tree is None:
        passed.append(memo.ref)
        parent = by_ref.get(memo.parent) if memo.parent else None
        if memo.ref in known:
            tree = known[memo.ref]
        elif parent is None:
            tree = memo.ghost_parent or memo.ref
        else:
            memo = parent
    known.update(dict.fromkeys(passed, tree))
    return tree


# Removes from a ledger what is withheld from now on: as if it had never been published (SPEC 9, audience).


def without(ledger: Ledger, refs: Set[Ref], is_named: Callable[[str], bool]) -> Ledger:
    """The ledger without these artifacts and whatever has a name of theirs; the same one if it knows none of it."""
    gone = {arrival.ref for arrival in ledger.arrivals if arrival.ref in refs or is_named(arrival.id)}
    others = (id_.partition("/")[2] or id_ for _, id_ in ledger.others)
    pages_named = (*others, *(id_ for id_, _ in ledger.threads), *ledger.positions, *ledger.entities)
    if not gone and not any(map(is_named, pages_named)):
        return ledger
    kept = [arrival for arrival in ledger.arrivals if arrival.ref not in gone]
    numbers = {one.number: number for number, one in enumerate(kept, 1)}
    known = {one.ref for one in kept}
    pages = {"/".join(ref) for ref in known}

    def renumbered(one: Arrival) -> Arrival:
        return replace(one, number=numbers[one.number])

    lost = {block.feed for block in ledger.blocks if not numbers.keys() >= set(block.items)}
    aliases = tuple((id_, to) for id_, to in ledger.aliases if to in known and not is_named(page_ref(id_)[1]))
    led = {id_ for id_, _ in aliases}
    return Ledger(
        arrivals=tuple(map(renumbered, kept)),
        renewals=tuple(renumbered(arrival) for arrival in ledger.renewals if arrival.ref in known),
        threads=tuple(
            (id_, ref)
            for id_, ref in ledger.threads
            if ref in known and not known.isdisjoint({("memo", id_), ("note", id_)})
        ),
        others=tuple((kind, id_) for kind, id_ in ledger.others if _stays(kind, id_, pages, led)),
        blocks=tuple(
            replace(block, items=tuple(numbers[item] for item in block.items))
            for block in ledger.blocks
            if block.feed not in lost
        ),
        aliases=aliases,
        audience=ledger.audience,
    )


def _stays(kind: str, id_: str, pages: Set[str], led: Set[str]) -> bool:
    """Whether a page is surely none of what is withheld: a saved search, a page beside one that stays.

    That a site is lean is no page at all.
    """
    if kind in {"changes", "captures"}:
        return id_ in pages
    return kind in {"saved", LEAN[0]} or (kind == "ghost" and id_ in led)


# Takes out of what an archive is resolved from all that only its owners may see (SPEC 9, audience).


_MEANT = (ENVELOPE_SUFFIX, CATALOG_SUFFIX)


def withhold(content: Content, archive: Archive, policy: Policy, shelf: Shelf, reread: Reread) -> Content:
    """The content that everybody may see; the same object if that is all of it, or if it is for those inside."""
    if policy.config.audience == "internal":
        return content
    decision = _decide(content, archive, policy)
    if in_vain := tuple(_in_vain(content, policy)):
        content = replace(content, facts=(*content.facts, Parsed(source="", path="", findings=in_vain)))
    removed = {name: _removed(name, history, policy, shelf) for name, history in content.histories.items()}
    on_sources = (finding.location for parsed in content.facts if not parsed.path for finding in parsed.findings)
    is_named = any(where.source and where.path for where in on_sources)
    if not (decision.files or any(removed.values()) or is_named or _was_hidden(content.histories, policy)):
        return content
    mentions = _mentions(archive, decision, removed)
    decision = _with_what_is_named_after_it(content, archive, decision, mentions)
    facts, rewritten = _facts(content, archive, decision, mentions, reread)
    seen = [one for ref, one in archive.artifacts.items() if ref not in decision.hidden]
    gone = {
        name: removed[name] | {file_key(path) for source, path in decision.files if source == name} for name in removed
    }
    return replace(
        content,
        facts=facts,
        histories={
            name: _history(name, content, seen, mentions, gone=gone[name], policy=policy, shelf=shelf)
            for name in content.histories
        },
        ledger=without(content.ledger, decision.hidden, lambda id_: fold(id_) in mentions.names),
        absent=decision.files,
        unstored=decision.files | rewritten,
        unnamed=mentions.names,
    )


def _in_vain(content: Content, policy: Policy) -> Iterator[Finding]:
    """The findings on globs that match nothing; whoever mistypes one must not believe that it withholds."""
    if not policy.config.withhold:
        return
    removed = {
        (source, event.path)
        for source, history in content.histories.items()
        for events in history.events.values()
        if events[-1].kind == "removed"
        for event in events
    }
    places = removed | {parsed.place for parsed in content.facts if parsed.path}
    for one in policy.config.withhold:
        if not any(is_match(one.glob, source, path) for source, path in places):
            yield WITHHOLD_IN_VAIN.finding(f'"{one.glob}" matches no file', path=CONFIG_NAME, line=one.line or None)


class _Decision(Value):
    """The files that are left out, and the artifacts that are withheld."""

    files: frozenset[FilePlace]
    hidden: frozenset[Ref]


def _decide(content: Content, archive: Archive, policy: Policy) -> _Decision:
    marked = {parsed.place for parsed in content.facts if parsed.path and _is_marked(parsed, policy)}
    hidden = [one for one in archive.artifacts.values() if _is_raw(one, policy) or not marked.isdisjoint(one.files)]
    folders = memo_folders(parsed.fact for parsed in content.facts if isinstance(parsed.fact, Organization))
    files = marked.union(*(_all_files(artifact, folders) for artifact in hidden))
    # Another artifact may have been in the same list file, and have no file left.
    hidden += [artifact for artifact in archive.artifacts.values() if files.issuperset(artifact.own_files)]
    return _Decision(files=frozenset(files), hidden=frozenset(artifact.ref for artifact in hidden))


def _is_marked(parsed: Parsed, policy: Policy) -> bool:
    """Whether a file is withheld by itself: by its marks, by a glob, or because nobody can tell."""
    fact = parsed.fact
    if parsed.is_confidential or policy.hides(parsed.source, parsed.path):
        return True
    if fact is None:
        return bool(parsed.findings) or parsed.path.lower().endswith(_MEANT)
    if isinstance(fact, Envelope):
        is_raw = fact.kind == "transcript" and policy.config.withhold_raw and not is_redacted(fact.redaction_status)
        return fact.shape == "broken" or is_raw
    if isinstance(fact, SessionFile):
        return policy.config.withhold_raw
    return isinstance(fact, LibraryCard) and fact.broken is not None


def _is_raw(artifact: Artifact, policy: Policy) -> bool:
    """Whether a transcript was not redacted; one without an envelope says nothing of it."""
    if not isinstance(artifact, Transcript) or not policy.config.withhold_raw:
        return False
    return not all(is_redacted(variant.envelope.redaction_status) for variant in artifact.variants)


def _all_files(artifact: Artifact, folders: tuple[str, ...]) -> Iterator[FilePlace]:
    """Also bodies that it may have named, and files that its record system keeps together."""
    yield from artifact.files
    for copy in artifact.copies:
        system = owner_of(copy.file.path) if isinstance(artifact, Record) else None
        yield from ((copy.file.source, path) for path in (system.together(copy.file.path) if system else ()))
    for variant in artifact.variants if isinstance(artifact, Memo | Transcript) else ():
        source = variant.envelope.file.source
        yield from ((source, path) for path in body_candidates(variant.envelope, memo_folders=folders))


# Names


def _mentions(archive: Archive, decision: _Decision, removed: Mapping[str, Set[str]]) -> Mentions:
    """The names of what is withheld that nothing has that everybody may see."""
    hidden = [archive.artifacts[ref] for ref in decision.hidden]
    seen = [one for ref, one in archive.artifacts.items() if ref not in decision.hidden]
    theirs = {fold(name) for artifact in seen for name in _names(artifact)}
    names = {name for artifact in hidden for name in _names(artifact)}
    names |= {name for keys in removed.values() for key in keys for name in _names_of_file(key)}
    names |= {name for _, path in decision.files if path.lower().endswith(_MEANT) for name in _names_of_file(path)}
    threads = {name for artifact in hidden for name in _thread_names(artifact)}
    threads -= {name for artifact in seen for name in _thread_names(artifact)}
    return Mentions({name for name in names | threads if name.strip() and fold(name) not in theirs}, theirs)


def _names(artifact: Artifact) -> Iterator[str]:
    yield from (artifact.id, *artifact.former)
    for _, path in artifact.files:
        yield from _names_of_file(path)
    if isinstance(artifact, Record):
        yield artifact.card.key
    elif isinstance(artifact, Document):
        yield from filter(None, (artifact.head.key,))


def _names_of_file(path: str) -> tuple[str, str]:
    stem = stem_of(path.rpartition("/")[2])
    return stem, make_id(stem)


def _thread_names(artifact: Artifact) -> Iterator[str]:
    if isinstance(artifact, Memo):
        for variant in artifact.variants:
            written = (variant.envelope.thread_id or "").strip()
            yield from (written, make_id(written)) if written else ()


def _with_what_is_named_after_it(
    content: Content, archive: Archive, decision: _Decision, mentions: Mentions
) -> _Decision:
    """With bodies that are left over and other files whose paths mention what is withheld."""
    files = decision.files | {one.place for one in content.facts if one.path and _is_named(one.path, mentions)}
    hidden = {ref for ref, one in archive.artifacts.items() if files.issuperset(one.own_files)}
    return _Decision(files=files, hidden=decision.hidden | hidden)


# Facts


def _facts(
    content: Content, archive: Archive, decision: _Decision, mentions: Mentions, reread: Reread
) -> tuple[tuple[Parsed, ...], frozenset[FilePlace]]:
    """What is left of the facts, and the files that were rewritten."""
    threads = thread_ids(archive, decision.hidden, mentions.in_text)
    facts: list[Parsed] = []
    rewritten: set[FilePlace] = set()
    left = {parsed.place for parsed in content.facts} - decision.files
    for parsed in content.facts:
        if parsed.place in decision.files:
            continue
        if not parsed.path:
            facts.append(_of_source(parsed, left, mentions))
            continue
        again = reread(parsed, mentions.without)
        if again is not None:
            rewritten.add(parsed.place)
            again = _as_meant(_as_in_git(again, parsed))
        facts.append(_in_thread(again or parsed, threads.get(parsed.place)))
    return tuple(facts), frozenset(rewritten)


def _of_source(parsed: Parsed, left: Set[FilePlace], mentions: Mentions) -> Parsed:
    """The findings on a source as a whole; those on files that are left out go with them."""

    def stays(finding: Finding) -> bool:
        where = finding.location
        if not where.source:  # of memosite.yml, which is the operator's
            return True
        return (not where.path or where.place in left) and not mentions.in_text(finding.message)

    return replace(parsed, findings=tuple(filter(stays, parsed.findings)))


def _as_meant(parsed: Parsed) -> Parsed:
    """A rewritten envelope is in no thread that is named `[withheld]`: there may be many of that name."""
    fact = parsed.fact
    if not isinstance(fact, Envelope) or WITHHELD not in (fact.thread_id or ""):
        return parsed
    return replace(parsed, fact=replace(fact, thread_id=None))


def _as_in_git(parsed: Parsed, former: Parsed) -> Parsed:
    """A rewritten file is no edited one: for git it is the file that it was."""
    fact, file = parsed.fact, getattr(former.fact, "file", None)
    if fact is None or isinstance(fact, Organization) or not isinstance(file, FileFacts):
        return parsed
    own = replace(fact.file, blob=file.blob)
    if isinstance(fact, SessionFile):
        fact = replace(fact, sessions=tuple(replace(one, file=own) for one in fact.sessions))
    if isinstance(fact, RecordFile):
        rest = fact.rest and replace(fact.rest, file=own)
        fact = replace(fact, records=tuple(replace(record, file=own) for record in fact.records), rest=rest)
    return replace(parsed, fact=replace(fact, file=own))


def _in_thread(parsed: Parsed, thread: str | None) -> Parsed:
    if thread is None or not isinstance(parsed.fact, Envelope):
        return parsed
    return replace(parsed, fact=replace(parsed.fact, thread_id=thread))


# Git


def _was_hidden(histories: Mapping[str, History], policy: Policy) -> bool:
    """Whether any file was at a path that is withheld."""
    return any(
        policy.hides(source, event.path)
        for source, history in histories.items()
        for events in history.events.values()
        for event in events
    )


def _removed(source: str, history: History, policy: Policy, shelf: Shelf) -> frozenset[str]:
    """The keys of removed files that are withheld, by what their last commit and their paths say."""
    gone = set()
    for key, events in history.events.items():
        if events[-1].kind != "removed":
            continue
        place = place_of(key)
        is_hidden = any(policy.hides(source, event.path) for event in events)
        if place is not None and key.endswith(ENVELOPE_SUFFIX):
            is_hidden = is_hidden or key in history.confidential
            is_hidden = is_hidden or (
                policy.config.withhold_raw and _was_raw(key, history.blobs.get(events[-1].before), shelf)
            )
        if is_hidden:
            gone.add(key)
    return frozenset(gone)


def _was_raw(key: str, digest: str | None, shelf: Shelf) -> bool:
    """Whether a removed file was that of a raw transcript, or nobody can tell."""
    if digest is None:
        return True
    file = File(source="", path=key, data=shelf.get(digest))
    place = place_of(key)
    is_transcript = (file.json.fields or {}).get("type") == "memodef:Transcript"
    return (is_transcript or (place is not None and place.store == "transcripts")) and is_raw_transcript(file)


def _history(
    source: str,
    content: Content,
    seen: Iterable[Artifact],
    mentions: Mentions,
    *,
    gone: Set[str],
    policy: Policy,
    shelf: Shelf,
) -> History:
    """What git knows of what is left. Of former contents only those that could have been read by everybody then."""
    history = content.histories[source]
    gone = set(gone)
    for one in list_files(history, (parsed for parsed in content.facts if parsed.source == source and parsed.path)):
        if file_key(one.path) in gone:  # with the names that a list had before
            gone |= {file_key(event.path) for event in one.events}
    gone |= {key for key in map(key_of_file, history.events) if _is_named(key, mentions)}
    events = {
        key: tuple(since_hidden(events, lambda path: policy.hides(source, path)))
        for key, events in history.events.items()
        if key_of_file(key) not in gone
    }
    were_hidden = {key for key, left in events.items() if len(left) < len(history.events[key])}
    tree = history.tree and {
        path: blob
        for path, blob in history.tree.items()
        if file_key(path) not in gone and not policy.hides(source, path)
    }
    history = replace(
        history, events={key: left for key, left in events.items() if left}, tree=tree, confidential=frozenset()
    )
    paths = ([path for name, path in artifact.files if name == source] for artifact in seen)
    keys = (frozenset((*map(file_key, some), *map(copy_key, some))) for some in paths)
    history = history.without_subjects(mentions.in_text)
    return replace(history, blobs=former_contents(history, keys, mentions, shelf, were_hidden=were_hidden))


def _is_named(path: str, mentions: Mentions) -> bool:
    """Whether a path mentions what is withheld, or is a further file of its name."""
    return mentions.in_text(path) or fold(stem_of(path.rpartition("/")[2])) in mentions.names


Step = Callable[[Content, Archive, Policy, Shelf, Reread], Content]
"""One of the rules of `revise`: gives the content that it leaves, the same object if it leaves all."""


_STEPS: tuple[Step, ...] = (withhold, erase)


def revise(content: Content, archive: Archive, policy: Policy, shelf: Shelf, reread: Reread) -> Content | None:
    """The content that a policy leaves, to be resolved again; None if the archive may stay as it is.

    `archive` is what the whole content gave: whether an artifact may be seen is decided of all its copies at once.
    Bytes are on the `shelf`; those that are changed are put there, by `reread` those of files.
    """
    left = content
    for step in _STEPS if policy.revises else ():
        left = step(left, archive, policy, shelf, reread)
    return None if left is content else left
