"""Fuzzes what reads values and files: references, times, JSON, YAML, addresses; feeds, configurations, ledgers, caches.

Each is read, or refused in one line; what is found is in the text, and of bounded length.
"""

import datetime as dt
import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from memosite.archive.ledger import LEDGER_PATH, parse_ledger
from memosite.commands.diff import diff, to_json, to_markdown, to_text
from memosite.config.loading import load_config
from memosite.config.schema import has_control_characters
from memosite.facts import json_text, texts
from memosite.facts.errors import ConfigError, MemositeError, OutputError, StateError
from memosite.facts.findings import read_clause
from memosite.facts.json_text import clean_text, find_key_line, key_places, read_json_text
from memosite.facts.layout import CONFIG_NAME, matches_glob, memo_folder, place_of, sibling_folders
from memosite.facts.times import read_moment, read_stamp
from memosite.feeds.document import FeedDocument, ReceivedItem, Rejected, read_document
from memosite.feeds.document import refusal as item_refusal
from memosite.fetch import Failed, Fetched
from memosite.formats import yaml_text
from memosite.formats.systems import RECORD_IDS
from memosite.formats.yaml_text import read_frontmatter
from memosite.remake.manifest import (
    BuildSeal,
    Made,
    Manifest,
    ManifestOutput,
    read_manifest,
    read_seal,
    read_states,
    read_status,
    write_manifest,
)
from memosite.search.whoosh import index
from memosite.sources import forges
from memosite.store.state import State
from memosite.watch.deliver import AnnouncedMemo, as_json
from memosite.watch.policy import Bounds, archive_address, publisher_problem, walk
from memosite.watch.state import FeedState, open_state, read_state
from tests.support.feeds.publisher import FEED, Publisher
from tests.support.fuzzing import LEDGER_LINES, fuzz, jsonl, scratch
from tests.support.mutations import ODD_VALUES, as_bytes, mutated, mutated_json, mutated_lines, one_of
from tests.support.sites import EXAMPLE

NAMES_WRITTEN = [
    "2026-05-01-1430--engineer--director--gate-is-green.openthing",
    "memos/inbox/2026-05-01-1430--a--b--c.openthing (and 2026-05-02-0900), see [x](decisions/0001.md)",
    "Not in-reply-to 2026-05-01-1430--a--b--c",
    "file:///C:/orgs/a/memos/x.body.md, https://a.example/o/r/blob/main/memos/x.openthing#L7",
    "_2026-05-01-1430--a--b--re:-gate._ «y.md» AND s:\\projects\\z.openthing",
    "decision.tide-tables 4d1e8f2a-0c4b-4e0e-9a53-0d6c1e1f2a3b `1a2b3c4` notes/pilot/x",
]
PIECES = (
    *("2026-05-01-1430", "--", ".openthing", ".body.md", ".md", "/", "\\", "://", "(", ")", "[", "](", "`", "_", ":"),
)
LINES = mutated_lines(NAMES_WRITTEN, PIECES)
MOMENTS = [
    *("2026-05-01T14:30:00-04:00", "2026-05-01", "20260501T143000Z", "2026-W18-5", "2026-05-01 14:30:00.123456 +0200"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-05-01-1430"),
]
OBJECTS: list[Any] = [
    {"type": "memodef:Memo", "to": ["a", {"b": [1, 2]}], "metadata": {"discharged": {"on": "2026-05-01"}}, "n": 1.5},
    {"a": {"a": {"a": [[[], {}]]}}, "b": '"a": 1', "": None},
]
HEADS = [
    "---\ntitle: A\ntags: [a, b]\nrelated:\n  - to: x\n    why: |\n      y\n---\n# B\n",
    "---\n? [a]\n: b\n'c': \"d\\ud800\"\n<<: {e: f}\n---\ng\n",
    "---\nid: x: y\nnote: @z\n- a\nq: &a [*a]\n!!python/object:os.system x: 1\n...\nrest",
]
GLOBS = [
    ("decisions/**/*.md", "decisions/a/b.md"),
    ("[!a-z]?/*", "A1/x"),
    ("**/a/**/b*c*", "x/a/y/bxcx"),
    ("a/", "a/b/c"),
]
ADDRESSES = [
    *("https://user:secret@git.example:8443/a/b.git", "git@host.example:a/b.git", "ssh://git@[::1]:22/a"),
    *("file:///srv/a", "https://github.com/o/r/blob/main/memos/x%20y.openthing#L7-L9", "ext::sh -c x"),
    "https://gitlab.example/a/-/blob/b/c",
]
FAILURES = [
    "fatal: unable to access 'https://u:p@h.example/': Could not resolve host",
    "error: object file .git/objects/aa is empty\nfatal: loose object is corrupt",
]


@fuzz(mutated_lines([*MOMENTS, "May 1"], ["T", "Z", "+", "-", ":", "24", "60", "٣", ".", ","]), examples=150)
def test_a_time_is_read_or_it_is_none(text: str) -> None:
    """With an instant that can be written and read again."""
    for moment in (read_moment(text), read_stamp(text)):
        if moment is not None:
            again = read_moment(moment.utc)
            assert again is not None and abs(again.instant - moment.instant) < dt.timedelta(milliseconds=1)
            assert moment.day and moment.local


@fuzz(mutated_json(OBJECTS), examples=100)
def test_the_places_of_keys_are_found(value: Any) -> None:
    """Of whatever is JSON, and of no other text; what Python writes is read as it was meant."""
    text = json.dumps(value)
    read, problems = read_json_text(text)
    lines = text.count("\n") + 1
    assert all(1 <= (problem.line or 1) <= lines for problem in problems)
    assert problems or read == value
    if not problems and isinstance(read, dict):
        assert {path[0] for path, _ in key_places(text) if len(path) == 1} == set(read)


def _finite(value: Any) -> Any:
    """The value with null for what no JSON can say: infinity, and what is no number."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case list() | tuple():
            return [_finite(one) for one in value]
        case dict():
            return {key: _finite(one) for key, one in value.items()}
        case _:
            return value


_NUMBERS = st.floats() | st.integers() | st.from_regex(r"-?[0-9]{1,30}", fullmatch=True).map(json_text.NumberText)


@fuzz(
    mutated_json([*OBJECTS, list(ODD_VALUES)])
    | st.lists(_NUMBERS | st.text(alphabet="\ud800\udfff:1e+,[ "))
    | _NUMBERS,
    examples=300,
    known=[1e16, [-2.5e-7, ":1e5"], 6.1e-05, 123456789012345678.0, json_text.NumberText("1e999"), {"\ud800": "\udfff"}],
)
def test_files_are_written_as_python_writes_json(value: Any) -> None:
    """With whatever numbers and texts, though native code writes and indents it."""
    value = _finite(value)
    written = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    assert json_text.to_json(value) == written.encode("utf-8", "replace")
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert json_text.to_json_line(value) == line.encode("utf-8", "replace")


@fuzz(mutated([as_bytes(value) for value in (*OBJECTS, list(ODD_VALUES))]), examples=150)
def test_damaged_json_is_a_problem_on_one_of_its_lines(data: bytes) -> None:
    """Whatever is found is text that can be written, and a key is on a line that is there."""
    text = data.decode("utf-8", "replace")
    value, problems = read_json_text(text)
    lines = text.count("\n") + 1
    assert all(1 <= (problem.line or 1) <= lines and problem.message.isprintable() for problem in problems)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    assert all(0 <= offset <= len(text) for _, offset in key_places(text))
    assert 1 <= (find_key_line(text, ("a", "b")) or 1) <= lines


@fuzz(
    mutated_lines(
        HEADS, [*"{}[]", "- ", "? ", ": ", "& ", "*a", "!!", "|\n", ">-\n", "%YAML 1.2", "---", "...", "\u2028", "\x85"]
    ),
    examples=200,
)
def test_yaml_heads_are_read_or_reported(text: str) -> None:
    """By both readers; nothing of the text after them is lost."""
    text = clean_text(text)
    matter = read_frontmatter(text)
    assert text.endswith(matter.body)
    last = text.count("\n") + 1
    assert matter.problem is None or 1 <= (matter.problem.line or 0) <= last
    for name in matter.fields:
        matter.text(name).encode("utf-8")
        matter.list(name)
    head = yaml_text.split_head(text)
    if head is not None:
        assert text.endswith(head.body)
        read = yaml_text.read_yaml(head.source, line=head.line)
        assert all(1 <= (problem.line or 1) <= last and problem.message.isprintable() for problem in read.problems)
        assert all(1 <= line <= last for line in read.lines.values())
        json.dumps(read.fields, ensure_ascii=False).encode("utf-8")


MARKS = [*"ab.- /\\:_`()[]<>~\n", ".md", ".openthing", "2026-05-01-1430--a--b--gate", "s:/", "](", "]: "]


@fuzz(LINES | mutated_lines(HEADS, PIECES) | st.lists(st.sampled_from(MARKS)).map("".join), examples=250)
def test_what_a_text_mentions_is_in_it(text: str) -> None:
    """Mentions and destinations as they are written, each once, mentions apart; a summary on one line."""
    text = clean_text(text)
    known, data = texts.describe_text(text, RECORD_IDS)
    assert data.decode() == text and known.chars == len(text)
    assert known.sha256 == hashlib.sha256(data).hexdigest() and (known, data) == texts.describe_text(text, RECORD_IDS)
    mentions, destinations = texts.find_mentions(text, RECORD_IDS), texts.find_destinations(text)
    assert destinations == known.destinations
    assert all(found and found in text for found in (*mentions, *destinations))
    assert len(set(mentions)) == len(mentions) and len(set(destinations)) == len(destinations)
    assert sum(map(len, mentions)) <= len(text)
    assert len(known.summary) <= 241 and known.summary == texts.one_line(known.summary)
    assert all(0 <= start < end <= len(text) for start, end in texts.file_page_spans(text))
    for limit in (1, 2, 10):
        assert len(texts.cut_line(text, limit)) <= limit + 1


@fuzz(
    one_of(GLOBS).flatmap(
        lambda pair: st.tuples(*(mutated_lines([one], ["*", "**", "?", "[", "]", "!", "-", "/"]) for one in pair))
    ),
    examples=150,
)
def test_globs_match_or_do_not(pair: tuple[str, str]) -> None:
    """Any text is a glob, and one without signs matches itself."""
    pattern, path = pair
    matches_glob(path, pattern)
    place_of(path)
    sibling_folders(path)
    memo_folder(path)
    if pattern and not re.search(r"[*?\[\]]", pattern) and not re.search(r"^/|/$|//|(^|/)\.(/|$)", pattern):
        assert matches_glob(pattern, pattern)


@fuzz(
    mutated_lines(ADDRESSES, ["@", ":", "//", "%", "#", "?", "[", "]", "-", ".git", "blob/", "ext::"]),
    examples=150,
    known=["https:// user:secret@git.example/a.git", "https//user:secret@git.example/a.git"],
)
def test_addresses_are_read_or_refused(text: str) -> None:
    """And shown without what is between `://` and `@`."""
    forges.parse_git_url(text)
    reason = forges.refusal(text)
    assert reason is None or reason.isprintable()
    assert "secret@" not in (reason or "") or "//" not in text.partition("secret@")[0]
    assert not re.search(r"://\S*@", forges.without_secrets(text))
    assert "/" not in forges.repo_name(text)
    forges.shown_file(text)
    template = forges.file_template(text)
    if template is not None:
        forges.repo_pages(template)
        assert "{" not in forges.file_url(template, "HEAD", text)
    texts.line_of(text)
    assert "; ".join(cited.written for cited in read_clause(text)) == text


BIDI = "fatal: bad ref \u202egnp.exe\u2028".encode()


@fuzz(mutated([said.encode() for said in FAILURES]), examples=60, known=[BIDI])
def test_what_git_says_is_told_in_our_words(said: bytes) -> None:
    """On one line, and never with a password."""
    for words in (forges.last_line(said), forges.in_our_words(said, "log", 128)):
        assert len(words) <= 300 and words.isprintable()
        assert not re.search(r"://\S*@", words)


ADDRESS = "https://memos.example/positions/director/feed.xml"
PUBLISHER = Publisher(states=["inbox", "read"] * 30)
FEEDS = [PUBLISHER.document(FEED) or b"", *(PUBLISHER.document(f"feed-{number}.xml") or b"" for number in (1, 2))]
FEEDS = [data for data in FEEDS if data]
FEED_WORDS = (
    *(b"<item> </item> <guid> <![CDATA[ ]]> <!-- --> &amp; &#0; &x; <memo:path> ../ xmlns:memo= <rss>").split(),
    *(b"<?x ?>", b"<!DOCTYPE x>", b'<atom:link rel="prev-archive" href="//["/>', b'encoding="UTF-16"'),
)
CONFIGS = [
    (EXAMPLE / CONFIG_NAME).read_text("utf-8"),
    (
        "title: A\nbase_url: https://a.example/b/\nsources:\n  - git: https://a.example/b.git\n    ref: main\n"
        "    name: b\n    include: ['**/*.md']\n  - path: .\n    web: https://a.example/{path}\nhistory: enclosing\n"
    ),
    (
        "feeds: {window: 50, days: 30, ttl: 5, full_content: true, digest: weekly, searches: {open: 'is:open to:a'}}\n"
        "positions: {aliases: {a: b, b: c}, people: [d]}\ndocuments: ['docs/**/*.md']\ntheme: .\nlanguage: en\n"
    ),
]
CONFIG_WORDS = (
    *("- ", ": ", "&a ", "*a", "!!python/object:x ", "|\n  ", "? ", "<<: ", "[", "{", "}"),
    *("path: ..", "1e5", "git: ext::x"),
)
MACHINE_LINES = [
    {"kind": "memo", "id": "2026-05-01-1430--a--b--c", "subject": "S", "from": "a", "to": ["b"],
     "copies": [{"source": "s"}]},
    {"kind": "document", "id": "y", "title": "T", "sent": "2026-05-01T14:30:00Z", "url": "documents/y/index.html"},
]  # fmt: skip


@fuzz(mutated(FEEDS, FEED_WORDS), examples=300)
def test_a_feed_is_read_whole_or_rejected(data: bytes) -> None:
    """And what is read of it can be passed on as one line, or is refused."""
    found = read_document(data)
    assert read_document(data) == found
    if isinstance(found, Rejected):
        assert found.reason.isprintable()
        return
    assert len({item.guid for item in found.items}) == len(found.items)
    for item in found.items:
        check_item(item)
    check_walk(found, data)


def check_item(item: ReceivedItem) -> None:
    """An item that is not refused names a path within the repo, and goes into a line of JSON."""
    if item_refusal(item) is not None:
        return
    assert item.path and not item.path.startswith("/") and ".." not in item.path.split("/")
    line = as_json(AnnouncedMemo(feed=ADDRESS, item=item, path=item.path))
    assert "\n" not in line and json.loads(line)["path"] == item.path


def check_walk(found: FeedDocument, data: bytes) -> None:
    """A walk through archives that are all this document ends, and only ever asks the feed's own server."""
    asked: list[str] = []

    def get(address: str) -> Fetched:
        asked.append(address)
        return Fetched(address=address, data=data)

    for address in (ADDRESS, "file:///srv/site/positions/director/feed.xml"):
        archive_address(found, address)
        walked = walk(found, address, unknown=frozenset, get=get, bounds=Bounds(archives=5))
        assert isinstance(walked, Failed) or len(walked) >= len(found.items)
    assert all(one.startswith(("https://memos.example/", "file:///srv/site/")) for one in asked)


@fuzz(mutated([b'{"built": "2026-05-01T14:30:00+00:00", "pages": 3}', b"{}", b"[]"]), examples=100)
def test_a_publishers_status_is_read_or_is_a_problem(data: bytes) -> None:
    """Whatever it says of its time."""
    said = publisher_problem(data, dt.datetime(2026, 5, 1, tzinfo=dt.UTC), 3600)
    assert said is None or said.isprintable()


def _good_state() -> bytes:
    with scratch() as folder:
        state = open_state(folder / "state")
        item = ReceivedItem(guid="g", path="memos/x.openthing", memo=(("from", "a"),))
        state.commit(FeedState(address="feed", is_known=True, etag="e"), [(item, "pending")], 1.0)
        state.close()
        return (folder / "state").read_bytes()


STATE_OF_WATCH = _good_state()
DAMAGED_STATES = [
    STATE_OF_WATCH.replace(b"CREATE TABLE feeds", b"CREATE TABLE\x82feeds"),
    STATE_OF_WATCH.replace(b'["memos', b"[[memos"),
]


@fuzz(
    mutated([STATE_OF_WATCH], [b"SQLite format 3\0", b"\0" * 100, b"[1]", b"feeds"]), examples=60, known=DAMAGED_STATES
)
def test_a_damaged_state_of_a_watch_is_an_error(data: bytes) -> None:
    """Or it is read: damage that the database does not see looks like content."""
    with scratch() as folder:
        (folder / "state").write_bytes(data)
        for opening in (read_state, open_state):
            try:
                state = opening(folder / "state")
            except StateError as error:
                assert str(folder) in str(error)
                continue
            try:
                for address in state.addresses():
                    state.feed(address)
                    state.counts(address)
                    state.pending(address, 10)
            except StateError:
                pass
            finally:
                state.close()


@fuzz(
    mutated_lines(CONFIGS, CONFIG_WORDS).map(lambda text: text.encode("utf-8", "replace"))
    | mutated([text.encode() for text in CONFIGS]),
    examples=200,
)
def test_a_configuration_is_read_or_an_error_of_one_line(data: bytes) -> None:
    """That names the file and its line."""
    with scratch() as folder:
        for name in ("governance", "catalogue", "website", "reading-room"):
            (folder / name / "memos/inbox").mkdir(parents=True)
        (folder / CONFIG_NAME).write_bytes(data)
        try:
            config = load_config(folder)
        except ConfigError as error:
            assert str(error).isprintable() and CONFIG_NAME in str(error)
        else:
            assert config.sources and not has_control_characters(config.title)


LEDGERS = mutated_json([LEDGER_LINES]).map(jsonl) | mutated([jsonl(LEDGER_LINES)])


@fuzz(LEDGERS, examples=200)
def test_a_ledger_is_read_or_refused(data: bytes) -> None:
    """One that is read is written as it was, goes on from there, and can be written to disk."""
    text = data.decode("utf-8", "replace")
    try:
        ledger = parse_ledger(text, name="ledger.jsonl")
    except OutputError as error:
        assert str(error).startswith("ledger.jsonl:") and "\n" not in str(error)
        return
    assert ledger.to_jsonl().startswith(text)
    more = ledger.with_arrivals([("memo", "new", "k")]).with_pages([("t", ("memo", "new"))], ["p"]).to_jsonl()
    assert parse_ledger(more, name="again").to_jsonl() == more
    assert parse_ledger(more, name="again", known=ledger) == parse_ledger(more, name="again")
    more.encode("utf-8")


ODD_LINES = [
    b"\xff",
    b"[" * 100_000,
    *(b'{"kind": "memo", "id": "a", "%s": 1}' % name for name in (b"to", b"copies", b"date")),
]


@fuzz(
    st.tuples(LEDGERS, mutated_json([MACHINE_LINES]).map(jsonl) | mutated([jsonl(MACHINE_LINES)])),
    examples=80,
    known=[(b'{"v": 1, "n": 1, "kind": "memo", "id": "a", "key": "k"}', lines) for lines in ODD_LINES],
)
def test_published_archives_are_compared_or_refused(case: tuple[bytes, bytes]) -> None:
    """By their ledgers, and by the machine's archive beside them."""
    ledger, lines = case
    with scratch() as folder:
        for name, data in (("old", jsonl(LEDGER_LINES)), ("new", ledger)):
            file = folder / name / LEDGER_PATH
            file.parent.mkdir(parents=True)
            file.write_bytes(data)
        (folder / "new/archive/2026").mkdir()
        (folder / "new/archive/2026/05.jsonl").write_bytes(lines)
        try:
            found = diff(f"{folder / 'old'}..{folder / 'new'}", site=folder)
        except MemositeError as error:
            assert str(folder / "new") in str(error)
            return
        for shown in (to_text(found), to_markdown(found), to_json(found)):
            shown.encode("utf-8")


STATE = (10, 20, 30)


def _remembered(folder: Path) -> Path:
    """A file that remembers a manifest."""
    output = ManifestOutput(path="a", fingerprint="f", state=STATE)
    manifest = Manifest(common={"theme": "x"})
    manifest.units.note("thread/a", Made(given="g", reads=(), outputs=(output,)))
    folder.mkdir(exist_ok=True)
    with State(folder) as state:
        write_manifest(state, "x", manifest, BuildSeal(inputs="i", kinds={"memo": 1}), STATE)
    return folder / "state.sqlite"


@fuzz(st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=20), examples=100)
def test_a_manifest_in_a_damaged_file_is_as_it_was_or_none(changes: list[tuple[int, int]]) -> None:
    """Whichever bytes are others."""
    with scratch() as folder:
        file = _remembered(folder / "part")
        data = bytearray(file.read_bytes())
        for place, byte in changes:
            data[place % len(data)] = byte
        file.write_bytes(data)
        with State(folder / "part") as state:
            manifest = read_manifest(state, "x")
            assert [made.outputs[0].state for made in manifest.units.values()] in ([], [STATE])
            assert read_seal(state, "x").inputs in ("", "i")
            assert read_status(state, "x") in (None, STATE)
            assert dict(read_states(state, "x")) in ({}, {"a": STATE})


@fuzz(mutated([b'{"version": 1, "inputs": "i", "newest": null, "files": {}}', b"{}"]), examples=60)
def test_a_damaged_search_index_is_made_anew(data: bytes) -> None:
    """Its seal says nothing that is believed."""
    with scratch() as folder:
        (folder / "seal.json").write_bytes(data)
        assert index.read_seal(folder)[0] is None
