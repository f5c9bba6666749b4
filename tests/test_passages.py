"""Passages: what can be cited of an artifact, and the bytes of a file that its hash is made of (SPEC 7).

A second reader takes each passage's bytes out of the files of the sources by the words of docs/citations.md.
"""

import hashlib
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import strategies as st
from lxml import etree, html

from memosite import passages as passage_module
from memosite.archive.cite import range_digest
from memosite.archive.model import Artifact, Transcript
from memosite.archive.urls import page_of
from memosite.cli import main
from memosite.config.loading import load_config
from memosite.facts.parsed import Ref
from memosite.facts.values import replace
from memosite.markdown.html import to_html
from memosite.markdown.plain import read_places, read_spans
from memosite.passages import MADE, Passage, SourceBody, find_passage, passages_of
from memosite.reading.archive import open_archive
from memosite.store.shelf import Shelf
from tests.support.archives import open_folders
from tests.support.files import ROOT, write_json, write_text
from tests.support.fuzzing import fuzz
from tests.support.memos import write_body, write_memo, write_note, write_transcript
from tests.support.sites import EXAMPLE, EXAMPLE_SOURCES, build_site
from tests.support.stores import Stores
from tests.support.strict_html import passage_ids

STEM = "2026-05-01-0900--engineer--director--tides"
KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
"""In two parts, so that no scanner takes this file for a leak."""

BODY = "# Tides\n\nHigh at *nine*.\nLow at “three”.\n\n- one\n- zwölf\n\n```sh\nls  -l\n\ncd\n```\n"
PIECES = ["Tides", "High at *nine*.\nLow at “three”.", "one", "zwölf", "ls  -l\n\ncd"]

TALK = (
    "# Claude Code Transcript\n\nCaptured here.\n\n---\n\n## 🧑 User <sub>5/1/2026, 2:30:00 PM</sub>\n\n"
    "What is it?\n\n```\nsee\n```\n\nWhat is it?\n\n"
    "> **🔧 Bash** <sub>2:30:05 PM</sub>\n> ```\n> ls  -l\n>\n>   cd\n> ```\n>\n>Äh, no\n> space.\n\n"
    "<ide_selection>the _selected_\n\nlines</ide_selection>\n\n- a\n- b\n\n"
    "---\n\n## 🤖 Assistant *(model)* <sub>5/1/2026, 2:31:00 PM</sub>\n\n"
    "**Yes.** It is “so”.\n\n<system-reminder>be kind</system-reminder>\n"
    "> **🔧 Read**\n> one\n> two\n\n```\nnot closed\n\n"
    "---\n\n## 🧑 User <sub>5/1/2026, 2:32:00 PM</sub>\n\n\n"
    "---\n\n## 🤖 Assistant *(model)* <sub>5/1/2026, 2:33:00 PM</sub>\n\nWhat is it?"
)
"""A transcript with whatever a turn may hold; its last turn has no final line end."""


@contextmanager
def reading(*folders: Path) -> Iterator[Callable[..., list[Passage]]]:
    """Gives the passages of an artifact by its kind and id, or of all."""
    with open_folders(*folders) as (archive, shelf):

        def passages(ref: Ref | None = None) -> list[Passage]:
            found = [archive.artifacts[ref]] if ref else archive.artifacts.values()
            return [passage for artifact in found for passage in passages_of(artifact, shelf.text)]

        yield passages


def text_of_file(data: bytes) -> bytes:
    """The text of a file, as docs/citations.md says."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd").encode()


def part_of(one: Passage, root: Path, page: Path) -> bytes:
    """The text that a passage's bytes are counted in; `page` is the folder of the artifact's page."""
    if one.part == MADE:
        return str(json.loads((page / "index.json").read_bytes())["body"]).encode()
    data = (root / one.source / one.path).read_bytes()
    if one.part:
        value = json.loads(data)[one.part[1:].replace("~1", "/").replace("~0", "~")]
        return text_of_file(re.sub("[\ud800-\udfff]", "\ufffd", value).encode())
    return text_of_file(data)


def check(one: Passage, root: Path, page: Path = ROOT) -> None:
    """A passage's bytes and hash are in the sources as it says."""
    data = part_of(one, root, page)[one.begin : one.end]
    assert data.decode() == one.text
    assert one.sha256 == (hashlib.sha256(data).hexdigest() if data else "")


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        (lambda data: data, True),
        (lambda data: data.replace(b"\n", b"\r\n"), True),
        (lambda data: data.replace(b"\n", b"\r"), True),
        (lambda data: b"\xef\xbb\xbf" + data, True),
        (lambda data: data.removesuffix(b"\n"), True),
        (lambda data: b"---\ntitle: x\n---\n" + data, True),
        (lambda data: b"\xe9\xff\0 first\n\n" + data, False),
        (lambda _: b"", False),
    ],
    ids=["plain", "CRLF", "CR", "BOM", "no final line end", "front matter", "no UTF-8", "empty"],
)
@pytest.mark.parametrize("of", ["memo", "document", "note"])
def test_passages_are_bytes_of_a_file(of: str, change: Callable[[bytes], bytes], is_same: bool, tmp_path: Path) -> None:
    """With LF, without a byte order mark; whatever is before the body."""
    path, ref = f"decisions/{STEM}.md", ("document", f"acme.decisions.{STEM}.md")
    if of != "document":
        path = {"memo": f"memos/read/{STEM}.body.md", "note": f"notes/engineer/{STEM}.body.md"}[of]
        folder, ref = (tmp_path / "acme" / path).parent, (of, STEM)
        (write_memo if of == "memo" else write_note)(folder, STEM, body="Short.", body_ref=f"{STEM}.body.md")
    write_text(tmp_path / "acme" / path, "").write_bytes(change(BODY.encode()))
    with reading(tmp_path / "acme") as passages:
        found = [one for one in passages(ref) if one.path == path]
    for one in found:
        assert (one.source, one.part) == ("acme", "")
        check(one, tmp_path)
    if is_same:
        assert [one.text for one in found] == PIECES
        assert [one.kind for one in found] == ["heading", "paragraph", "item", "item", "code"]
    assert len({one.anchor for one in found}) == len(found)


@pytest.mark.parametrize("written", [BODY, BODY.replace("\n", "\r\n"), "\ufeff" + BODY, "a\0b\ud800\n", "\t"])
@pytest.mark.parametrize("field", ["body", "x.memo.body"])
def test_a_body_in_json_is_the_decoded_string(field: str, written: str, tmp_path: Path) -> None:
    """Made LF as files are; its part is named by a JSON pointer."""
    path = write_memo(tmp_path / "acme/memos/read", STEM, body=None)
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: written}))
    with reading(tmp_path / "acme") as passages:
        found = passages(("memo", STEM))
    assert {one.part for one in found} <= {f"/{field}"}
    assert bool(found) == bool(written.strip())
    for one in found:
        check(one, tmp_path)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with a repo of bodies in all their places, and its site."""
    folder = tmp_path_factory.mktemp("odd")
    acme = folder / "acme"
    write_transcript(acme / "transcripts/engineer", "talk", text=TALK)
    write_transcript(acme / "transcripts/engineer", "plain", text="Intro.\n\n## User\n\nA.\n\n## Assistant\n\n- b\n")
    write_transcript(acme / "transcripts/engineer", "windows", text=TALK.replace("\n", "\r\n"))
    write_transcript(acme / "transcripts/engineer", "none", text="No turns.\n")
    write_transcript(acme / "transcripts/engineer", "inline", text="", body="## User\n\nIn *it*.\n", body_ref="gone.md")
    long = "".join(f"Passage {number} of {number}: {'word ' * 40}\n\n" for number in range(1_400))
    turns = ("## User\n\nAgain.\n\n## Assistant\n\nYes.\n\n" + f"- {'word ' * 60}\n" * 9 + "\n") * 90
    write_transcript(acme / "transcripts/engineer", "parts", text=f"{turns}## Assistant\n\n{long}\n{turns}")
    write_memo(acme / "memos/read", "long", body="a\n\n" * 90_000)
    write_memo(acme / "memos/read", "deep", body="> " * 60 + "a")
    write_memo(acme / "memos/read", "a~b", body="Short.", body_ref="a~b.body.md")
    write_body(acme / "memos/read", "a~b", f"---\ntitle: x\n---\n{BODY}")
    write_text(acme / "memos/read/broken.openthing", '{"type": "memodef:Memo", ')
    memory = "- One line [x]\n- Two\n  lines\n  - and deeper\n\n## Gotchas\n\n- Three (s1)\n"
    write_text(acme / ".wyren/memory.md", f"# Memory\n\n## Decisions\n\n{memory}")
    write_text(acme / ".wyren/broadcast/all.md", f"---\nname: x\n---\n{BODY}")
    meta = {"category": "decisions", "created": "2026-05-01", "summary": "A", "session_id": "s"}
    write_json(acme / ".claude/memory/decisions/text.json", {"meta": meta, "content": BODY})
    made = {"why": "It *is*.", "how": [1]}
    write_json(acme / ".claude/memory/decisions/object.json", {"meta": meta, "content": made})
    stores = Stores(acme)
    stores.config()
    stores.node("fact.tides", body=BODY)
    head = 'id: "0b5f4f0e-9c9b-4a93-8a3c-2f1f1f1f1f1f"\ntype: semantic\ncreated: 2026-05-01T10:00:00Z'
    write_text(acme / "memories/tide.memory.md", f"---\n{head}\n---\n{BODY}")
    return folder, build_site(folder, output=folder / "out", base_url="https://a.example/")


def page_ids(site: Path, artifact: Artifact) -> set[str]:
    """The ids of the bodies of a page and its parts, those of footnotes apart."""
    found: set[str] = set()
    folder = site / page_of(artifact)
    for page in [folder / "index.html", *folder.glob("[0-9]*/index.html")]:
        tree = html.parse(page).getroot()
        inside = "//*[contains(concat(' ', @class, ' '), ' prose ') or @class='turns']"
        found |= set(tree.xpath(f"{inside}/descendant-or-self::*/@id"))
    return {id_ for id_ in found if not re.search(r"fn(ref)?\.\d+$", id_)}


def all_anchors(passages: list[Passage]) -> set[str]:
    """Their anchors, the second ones of turns too."""
    return {one.anchor for one in passages} | {one.also for one in passages if one.also}


def test_every_body_has_its_passages_where_they_say_with_the_anchors_of_the_page(odd: tuple[Path, Path]) -> None:
    """One is found without its text again; those of transcripts are of turns and of what they hold."""
    folder, site = odd
    found = []
    with open_folders(folder / "acme") as (archive, shelf):
        for artifact in archive.artifacts.values():
            passages = list(passages_of(artifact, shelf.text))
            assert all_anchors(passages) == page_ids(site, artifact), artifact.ref
            if artifact.id == "parts":
                assert len(list((site / page_of(artifact)).glob("[0-9]*"))) > 2
            assert len(all_anchors(passages)) == len(passages) + sum(bool(one.also) for one in passages)
            for one in passages[:: 1 + len(passages) // 50]:
                found.append(one)
                check(one, folder, site / page_of(artifact))
                assert find_passage(artifact, one.anchor, shelf.text) == one
                assert not one.also or find_passage(artifact, one.also, shelf.text) == one
    parts = {(one.ref[1].rpartition(".")[2], one.part) for one in found if one.ref[0] == "record"}
    assert {part for _, part in parts} == {"", "/content", MADE}
    assert ("object", MADE) in parts and ("text", "/content") in parts and ("tides", "") in parts
    texts = {(one.text, one.part) for one in found if one.path == ".wyren/memory.md"}
    assert ("One line [x]", "") in texts and ("Two\nlines", MADE) in texts
    with reading(folder / "acme") as of:
        turns = {one.anchor: one for one in of(("transcript", "talk"))}
        windows = of(("transcript", "windows"))
    assert [replace(one, ref=("transcript", "talk"), path="") for one in windows] == [
        replace(one, path="") for one in turns.values()
    ]
    said = [(re.sub(r"-[0-9a-f]{8}", "", one.anchor), one.text) for one in turns.values() if one.kind != "turn"]
    assert said == [
        ("preamble-claude-code-transcript", "Claude Code Transcript"), ("preamble-p", "Captured here."),
        ("t1-p", "What is it?"), ("t1-c", "see"), ("t1-p-2", "What is it?"), ("t1.2-c", "ls  -l\n>\n>   cd"),
        ("t1.2-p", "Äh, no\n> space."), ("t1.3-p", "the _selected_"), ("t1.3-p", "lines"), ("t1.4-p", "a"),
        ("t1.4-p", "b"), ("t2-p", "**Yes.** It is “so”."), ("t2.2-p", "be kind"), ("t2.3-p", "one\n> two"),
        ("t2.4-c", "not closed"), ("t4-p", "What is it?"),
    ]  # fmt: skip
    assert (turns["t3"].sha256, turns["t3"].also, turns["t3"].begin) == ("", "", turns["t3"].end)
    assert turns["t4"].also == f"t-{turns['t4'].sha256[:8]}"


def test_what_is_shown_verbatim_or_withheld_has_no_passages(odd: tuple[Path, Path], tmp_path: Path) -> None:
    """Nor has what cannot be parsed."""
    folder, _ = odd
    with reading(folder / "acme") as passages:
        for ref in (("memo", "long"), ("memo", "deep"), ("memo", "broken"), ("transcript", "none")):
            assert passages(ref) == []
    write_memo(tmp_path / "site/acme/memos/read", STEM, body=f"The key is {KEY}.\n\nNothing else.")
    with of_site(tmp_path / "site") as found:
        assert found == []


@contextmanager
def of_site(site: Path, **options: Any) -> Iterator[list[Passage]]:
    """The passages of a site, read as its commands do."""
    with Shelf() as shelf, open_archive(load_config(site, **options), shelf=shelf) as handle:
        archive, _ = handle.read()
        yield [one for artifact in archive.artifacts.values() for one in passages_of(artifact, shelf.text)]


def test_a_memo_with_a_body_file_has_both_texts_and_a_redaction_no_hash(tmp_path: Path) -> None:
    """Those of its envelope begin with `summary.`."""
    write_memo(tmp_path / "acme/memos/read", STEM, body="High at nine.", body_ref=f"{STEM}.body.md")
    write_body(tmp_path / "acme/memos/read", STEM, "High at nine.\n")
    name = hashlib.sha256(b"High at nine.").hexdigest()[:8]
    with reading(tmp_path / "acme") as passages:
        expected = [(f"summary.p-{name}", "/body", "tides.openthing"), (f"p-{name}", "", "tides.body.md")]
        assert [(one.anchor, one.part, one.path.rpartition("--")[2]) for one in passages(("memo", STEM))] == expected
    tmp_path = tmp_path / "redacted"
    # Others of the same file have theirs, of the true source; and the words alone are no redaction.
    acme = tmp_path / "site/acme"
    write_memo(acme / "memos/read", STEM, body=f"The key is {KEY}.\n\nNothing else.\n\n- see\n  {KEY}")
    write_memo(acme / "memos/read", "other", body="It says [REDACTED:aws-access-key-id].")
    talk = f"## User\n\nWhich?\n\n## Assistant\n\nThis:\n\n```\n{KEY}\n```\n\nThat is all.\n\n## User\n\nThank you.\n"
    write_transcript(acme / "transcripts/engineer", "talk", text=talk)
    with of_site(tmp_path / "site", secrets="redact") as found:
        hidden = {one.text for one in found if not one.sha256}
        assert all(one.sha256 == hashlib.sha256(one.text.encode()).hexdigest() for one in found if one.sha256)
        assert {one.text for one in found if one.sha256} == {
            *("Nothing else.", "It says [REDACTED:aws-access-key-id].", "Which?", "\nWhich?", "This:", "That is all."),
            *("\nThank you.", "Thank you."),
        }
        assert len(hidden) == 4 and all("[REDACTED:aws-access-key-id]" in text for text in hidden)
        assert not any(one.also for one in found if not one.sha256)


def test_anchors_are_equal_on_pages_in_twins_hits_and_feeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever a place within an item is named, it is a passage's."""
    site = build_site(EXAMPLE, "--cache", tmp_path / "cache", output=tmp_path / "out", base_url="https://a.example/")
    known: dict[str, set[str]] = {}
    with open_archive(load_config(EXAMPLE, cache=tmp_path / "cache")) as handle:
        archive, shelf = handle.recall(), handle.shelf
        for artifact in archive.artifacts.values():
            passages = list(passages_of(artifact, shelf.text))
            known[page_of(artifact)] = all_anchors(passages)
            shown, is_log = page_ids(site, artifact), isinstance(artifact, Transcript) and artifact.log
            silent = shown - known[page_of(artifact)] if is_log else set()  # calls of tools that put nothing out
            assert all(re.fullmatch(r"t\d+\.\d+", id_) for id_ in silent)
            assert known[page_of(artifact)] == shown - silent
            lines = site / page_of(artifact) / "turns.jsonl"
            turns = [one for one in passages if one.kind == "turn"]
            told = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
            assert [(f"#{one.anchor}", one.sha256 or None) for one in turns] == [
                (re.sub("^[^#]*", "", turn["href"]), turn["sha256"]) for turn in told
            ]
    assert main(["search", "photographs", "--site", str(EXAMPLE), "--cache", str(tmp_path / "cache"), "--json"]) == 0
    places = [hit["url"] for hit in json.loads(capsys.readouterr().out)["hits"]]
    for path in site.rglob("*"):
        if path.name in {"index.json", "index.md"} or path.suffix == ".xml":
            places += re.findall(r"[\w./:-]*#(?:[pct]-[0-9a-f]{8}|t\d+)[\w.-]*", path.read_text())
            if path.suffix == ".xml":
                etree.parse(path)
    named = [re.search(r"((?:memos|notes|transcripts|documents)/[^/#]+/)[^#]*#(.+)", place) for place in places]
    found = [(match[1], match[2]) for match in named if match]
    assert len(found) > 5
    assert [place for place in found if place[1] not in known[place[0]]] == []


PARTS = (
    *("Yes.", "- a\n- b", "# Why", "```\ncode\n```", "```\nopen", "> **🔧 Bash**\n> ls", "<a-b>c</a-b>"),
    "早上 “好”",
)
TURNS = st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("\n\n".join), min_size=1, max_size=5)


def talk(turns: list[str]) -> str:
    """A transcript of these turns."""
    return "".join(
        f"---\n\n## 🤖 Assistant <sub>5/1/2026, 2:{number + 10}:00 PM</sub>\n\n{text}\n\n"
        for number, text in enumerate(turns)
    )


CLOSED = TURNS.map(lambda turns: [text.replace("```\nopen", "open") for text in turns])


@fuzz(st.tuples(CLOSED, CLOSED, TURNS).map(list), examples=250)
def test_passages_of_any_transcript_are_bytes_of_it_and_stay_when_turns_are_appended(case: list[list[str]]) -> None:
    """In order, each within its turn; anchors, bytes and hashes are the same then: a citation stays valid."""
    before = list(places(talk(case[0])))
    assert list(places(talk([*case[0], *case[1]])))[: len(before)] == before
    text, inside = talk(case[2]), (0, 0)
    for one in places(text):
        assert text.encode()[one.begin : one.end].decode() == one.text
        inside = (one.begin, one.end) if one.kind == "turn" else inside
        assert inside[0] <= one.begin <= one.end <= inside[1]


def places(text: str) -> Iterator[Passage]:
    """The passages of a transcript that is in no archive."""
    body = SourceBody(ref=("transcript", "t"), text=text, source="", path="", is_conversation=True)
    yield from passage_module._passages(body, passage_module._places(body))


DOCUMENT = (ROOT / "docs/citations.md").read_text()


def test_the_commands_of_the_documentation_verify_what_they_say() -> None:
    """Run by a shell, without memosite; and the hashes are those of passages, or of two turns."""
    for commands, shown in re.findall(r"^```sh\n(.*?)^```\n\n```text\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL):
        done = subprocess.run(["sh", "-ec", commands], cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout == shown
        with reading(*EXAMPLE_SOURCES) as passages:
            found = list(passages())
        turns = [one.sha256 for one in found if one.kind == "turn"]
        hashes = {one.sha256 for one in found} | set(map(range_digest, pairwise(turns)))
        told = re.findall(r"^([0-9a-f]{64})  -$", shown, re.MULTILINE)
        assert told and (set(told) <= hashes or "mktemp" in commands)  # of files that they write themselves
        known = {(one.anchor, one.begin, one.end) for one in found}
        assert {("t2", 847, 1449), ("t2-p-da8ca292", 1361, 1449), ("p-26a8d16e", 413, 470)} <= known
        assert all(str(number) in DOCUMENT for number in (847, 1449, 1361, 413, 470))


def shown(text: str) -> list[tuple[str, str]]:
    """The passages of a text: kind and source."""
    return [(one.kind, text[one.begin : one.end]) for one in read_spans(text)]


SHAPES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "nothing": ("", []),
    "blank lines": ("\n  \n\n", []),
    "a paragraph": ("  One,\n  two.  \n", [("paragraph", "One,\n  two.")]),
    "no final line end": ("One", [("paragraph", "One")]),
    "headings": (
        "# A b ##\n\nSet\nhere\n---\n\n== C ==\n\n## # ##\n\n##\n",
        [("heading", "A b"), ("heading", "Set\nhere"), ("heading", "C"), ("heading", "#"), ("paragraph", "")],
    ),
    "a list": (
        "- one\n  goes on\n\n  more\n- two\n  1. deep\n",
        [("item", "one\n  goes on"), ("paragraph", "more"), ("item", "two"), ("item", "deep")],
    ),
    "a list without its indent": ("- one\ngoes on\n", [("item", "one\ngoes on")]),
    "lists that begin with a list": ("- - a\n  - b\n", [("item", "a"), ("item", "a"), ("item", "b")]),
    "empty items": ("-\n- \n-\n  a\n", [("item", ""), ("item", ""), ("item", "a")]),
    "items that begin with other blocks": (
        "- ***\n  a\n- ```\n  ```\n  b\n- | c |\n  |---|\n\n  d\n- > > e\n",
        [
            *[("item", "a"), ("paragraph", "a"), ("item", "b"), ("code", ""), ("paragraph", "b")],
            *[("item", ""), ("paragraph", "d"), ("item", "e"), ("paragraph", "e")],
        ],
    ),
    "tasks": ("- [ ] open\n- [x] done\n", [("item", "[ ] open"), ("item", "[x] done")]),
    "an item that is a heading": ("- # A\n  b\n", [("item", "A"), ("heading", "A"), ("paragraph", "b")]),
    "an item that is code": (
        "- ```\n  a\n    b\n  ```\n",
        [("item", "a\n    b"), ("code", "a\n    b")],
    ),
    "an item that is a quote": ("- > a\n  > b\n", [("item", "a\n  > b"), ("paragraph", "a\n  > b")]),
    "a quote": ("> a\n> b\n>\n> - c\n", [("paragraph", "a\n> b"), ("item", "c")]),
    "a quote that goes on without its mark": ("> a\nb\n", [("paragraph", "a\nb")]),
    "code": ("```py\n\n  a\n\n\n```\n~~~\n~~~\n", [("code", "\n  a\n\n"), ("code", "")]),
    "code that is not closed": ("```\na\n\nb\n", [("code", "a\n\nb")]),
    "code by indentation": ("    a\n\n      b\n\nc\n", [("code", "a\n\n      b"), ("paragraph", "c")]),
    "code behind a tab": ("\ta\n\tb\n", [("code", "a\n\tb")]),
    "code in a quote": ("> ```\n>   a\n> b\n> ```\n", [("code", "  a\n> b")]),
    "an indented fence": ("  ```\n  a\n b\n  ```\n", [("code", "a\n b")]),
    "a table": ("| a | b |\n|---|---|\n| c | d |\n\ne\n", [("paragraph", "e")]),
    "HTML": ("<div>\n<b>a</b>\n\n<!-- c -->\n", [("paragraph", "<div>\n<b>a</b>"), ("paragraph", "<!-- c -->")]),
    "footnotes": (
        "a[^1]\n\n[^1]: note\n\n    more\n\nb\n",
        [("paragraph", "a[^1]"), ("paragraph", "note"), ("paragraph", "more"), ("paragraph", "b")],
    ),
    "a footnote in an item": ("- [^1]: note\n\n  b\n", [("item", "note"), ("paragraph", "note"), ("paragraph", "b")]),
    "definitions": ("[a]: https://a.example\n\n[a] b\n", [("paragraph", "[a] b")]),
    "definitions that are text": (
        "> [k]: b\n>  [l]:\n> 'd'\n> [m]: f\n>\n> [m] - g\n\n- [n]: i\n  j\n",
        [("paragraph", "[k]: b\n>  [l]:\n> 'd'"), ("paragraph", "[m] - g"), ("item", "[n]: i"), ("paragraph", "j")],
    ),
    "comments over several blocks": (
        "<!-- a\n\n# b\n- c\n\nd --> e\n",
        [("paragraph", "<!-- a"), ("heading", "b"), ("item", "c"), ("paragraph", "d --> e")],
    ),
    "odd spaces": ("\u00a0\na\u00a0\n\u00a0\n", [("paragraph", "a")]),
    "what no page may hold": ("a\x01\x7fb\n", [("paragraph", "a\x01\x7fb")]),
    "a byte order mark": ("\ufeff# a\n", [("heading", "a")]),
    "another script": ("- 早上 *好*\n- שלום\n", [("item", "早上 *好*"), ("item", "שלום")]),
}  # fmt: skip
"""Bodies with the passages that they have."""


def test_the_source_of_a_passage_is_what_its_block_holds_and_its_anchor_that_of_the_page() -> None:
    """From its first character to its last, whatever is appended; where a body is verbatim, there are none."""
    for text, expected in SHAPES.values():
        assert shown(text) == expected
        assert {one.anchor for one in read_spans(text)} == passage_ids(text) == read_places(text).anchors
    first = hashlib.sha256(b"a\nb").hexdigest()[:8]
    for text in (
        *("```\na\nb\n```", "```\na\nb", "```\na\nb\n\nmore", "    a\n    b\n\n    more", "> ~~~\n> a\n> b\n> ~~~"),
    ):
        assert [one.anchor for one in read_spans(text)] == [f"c-{first}"]
    assert [one.anchor for one in read_spans("```\na\nb\n```\n" * 2)] == [f"c-{first}", f"c-{first}-2"]
    assert "id=" not in to_html("a\n\n```\nb\n```", links={})
    assert read_spans("> " * 50 + "a") == ()
    assert read_spans("[" * 400_000) == ()
    for name, (text, _) in SHAPES.items():
        for more, _ in SHAPES.values() if name != "code that is not closed" else ():
            before = read_spans(f"{text}\n\n# End")
            assert read_spans(f"{text}\n\n# End\n\n{more}")[: len(before)] == before


def test_passages_of_a_transcript_are_found_one_by_one_and_in_linear_time() -> None:
    """Of a transcript, no other turn's blocks are read; unknown anchors are none's."""
    text = talk([f"Turn {number}.\n\n- it" for number in range(40)])
    body = SourceBody(ref=("transcript", "t"), text=text, source="", path="", is_conversation=True)
    every = list(places(text))
    with patch("memosite.markdown.plain.read_spans", wraps=read_spans) as read:
        for one in every:
            assert one in passage_module._passages(body, passage_module._places(body, one.anchor))
            assert read.call_count <= 1
            read.reset_mock()
        for anchor in ("t0", "t41", "t1-", "x", "t-00000000", "t" + "9" * 5_000, "t٣"):
            assert not [one for one in passage_module._places(body, anchor) if one.anchor == anchor]
    # In quadratic time this would not end; letters take two bytes, so that no shortcut is taken.
    said = "é" * 60
    turns = (
        f"## {'User' if number % 2 else 'Assistant'}\n\n{number} {said}\n\n> **🔧 B**\n> é\n\n"
        for number in range(10_000)
    )
    found = list(places("".join(turns)))
    assert [sum(one.kind == kind for one in found) for kind in ("turn", "paragraph")] == [10_000, 20_000]
    # In quadratic time this would not end.
    assert len(read_spans("a\n\n- b\n\n```\nc\n```\n\n" * 4_000)) == 12_000
    assert len(read_spans("- a\n" * 30_000)) == 30_000
