"""Artifacts that are published without their content: what stays of them in everything that is made of an archive."""

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html

from memosite.cli import main
from memosite.facts.contents import bare_envelope, without_content
from memosite.facts.parsed import (
    BodyFile,
    DocumentHead,
    Envelope,
    LibraryCard,
    Organization,
    Parsed,
    RecordCard,
    Withheld,
)
from memosite.resolve import resolve
from tests.support.planted import LETTER, LIST, OLD, PLANTED, TALK, words_in, write_planted
from tests.support.sites import build_site

ERASED = Withheld(reason="erased", why="The writer asked for it", on="2026-05-20")
SECRET = Withheld(reason="secret", rules=("aws-access-key", "private-key"))
RESOLVE = "memosite.reading.reader.resolve"
FILES = {path for paths in PLANTED.values() for path in paths}
MEMO = "{http" + "s://memosite.invalid/ns/memo/1}"

PAGES = {
    "memo": f"memos/{LETTER}/",
    "legacy memo": f"memos/{OLD}/",
    "note": "notes/2026-05-04-0900--engineer--file--filed/",
    "transcript": f"transcripts/{TALK}/",
    "library": "libraries/forms/",
    "document": "documents/office.decisions.0001-casks.md/",
    "layer": "records/memory-layer/office.context.casks/",
    "store": "records/memory-store/office.decision.casks/",
    "mif": "records/mif/office.3b9f2c71-8d40-4e6a-a1c5-7f20d96b4e13/",
    "bullet": "records/wyren/office.decisions.5d2f3df5/",
}
"""The pages of all artifacts with planted words."""


def bared(*paths: str, withheld: Withheld) -> Callable[..., Any]:
    """`resolve` as if these files, named with their sources, had no content."""

    def one(parsed: Parsed) -> Parsed:
        is_named = f"{parsed.source}/{parsed.path}" in paths
        return without_content(parsed, withheld) if is_named else parsed

    return lambda facts, *rest, **named: resolve([one(parsed) for parsed in facts], *rest, **named)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with planted words."""
    return write_planted(tmp_path_factory.mktemp("withheld"))


@pytest.fixture(scope="module")
def whole(folder: Path) -> Path:
    """What is published of it with all its content."""
    return build_site(folder, output=folder / "whole", base_url=None)


@pytest.fixture(scope="module")
def site(whole: Path) -> Iterator[Path]:
    """What is published without the content of what is planted, and as long as the tests run, whatever is read is."""
    folder = whole.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RESOLVE, bared(*FILES, LIST, withheld=ERASED))
        yield build_site(folder, "--cache", folder / "cache", output=folder / "bare")


def page_of(folder: Path) -> Any:
    """The HTML of a page."""
    return html.fromstring((folder / "index.html").read_text(encoding="utf-8"))


def main_text(folder: Path) -> str:
    """What a page says, on one line."""
    return " ".join(page_of(folder).xpath("string(//main)").split())


def test_no_word_of_the_content_is_published(site: Path, whole: Path) -> None:
    """Not on pages, in feeds, twins, search blocks, originals or the ledger; with the content, all of them are."""
    assert len(set().union(*words_in(whole).values())) > 60
    assert words_in(site) == {}


@pytest.mark.parametrize("kind", PAGES)
def test_the_page_says_what_happened_why_and_since_when(kind: str, site: Path) -> None:
    """Whoever follows a link to it is told what to do."""
    text = main_text(site / PAGES[kind])
    assert "was erased." in text
    assert "Since 2026-05-20" in text
    assert "Reason The writer asked for it" in text
    assert "ask those who publish this archive" in text


@pytest.mark.parametrize("kind", PAGES)
def test_there_is_no_original_and_the_twins_say_why(kind: str, site: Path, whole: Path) -> None:
    """Programs that ask for the twin find the reason in it."""
    page = site / PAGES[kind]
    assert list((whole / PAGES[kind]).rglob("original*")) != []
    assert list(page.rglob("original*")) == []
    twin = json.loads((page / "index.json").read_text(encoding="utf-8"))
    assert twin["withheld"] == {"reason": "erased", "why": ERASED.why, "on": ERASED.on, "rules": []}
    assert "body" not in twin
    assert twin["sha256"] is None
    assert [copy["sha256"] for copy in twin["copies"]] == [None] * len(twin["copies"])
    markdown = (page / "index.md").read_text(encoding="utf-8")
    assert "Status: erased" in markdown.partition("---")[0]
    assert "Since: 2026-05-20." in markdown


def test_a_transcript_answers_where_its_turns_were(site: Path) -> None:
    """Its file of turns has one line, which says why."""
    lines = (site / f"transcripts/{TALK}/turns.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["withheld"]["reason"] for line in lines] == ["erased"]


def test_lists_and_threads_name_it_by_its_file(site: Path) -> None:
    """The reply stays below it, with a link to it; the thread says why there is no text."""
    tree = page_of(site / "threads/2026-04-01-0900--director--engineer--earlier")
    assert tree.xpath("//ol[@class='tree']/li/a/text()") == ["Earlier", "Letter", "Reply"]
    assert tree.xpath("//ol[@class='tree']/li/@class") == ["depth-0 ghost", "depth-0 next", "depth-0 next"]
    assert "was erased" in tree.xpath(f"string(//section[@id='memo-{LETTER}'])")
    row = page_of(site / "timeline/2026/05").xpath(f"//a[contains(@href, '{LETTER}')]/..")[0]
    assert "erased" in row.xpath("string(span[@class='facts'])")


def test_a_reply_answers_it_all_the_same(site: Path) -> None:
    """Who asked whom, and whether it was answered or closed, is no content."""
    twin = json.loads((site / f"memos/{LETTER}/index.json").read_text(encoding="utf-8"))
    assert twin["action"] == "discharged"
    assert twin["replies"] == ["memo/2026-05-02-0900--director--engineer--reply"]
    assert twin["ghost_parent"] == "2026-04-01-0900--director--engineer--earlier"


def feeds(folder: Path) -> dict[str, list[Any]]:
    """The items of every RSS document by its path."""
    return {
        path.relative_to(folder).as_posix(): etree.parse(path).findall("channel/item")
        for path in sorted(folder.rglob("*.xml"))
        if path.name.startswith(("feed", "notes", "transcripts"))
    }


def test_feed_items_keep_guid_and_place_and_have_the_path_alone(site: Path, whole: Path) -> None:
    """A reader of the feed is woken by it as by any other, and once."""
    was, now = feeds(whole), feeds(site)
    assert {path: [item.findtext("guid") for item in items] for path, items in now.items()} == {
        path: [item.findtext("guid") for item in items] for path, items in was.items()
    }
    assert sum(len(items) for items in now.values()) > 30
    item = next(one for one in now["feed.xml"] if one.findtext("guid").endswith(f"memo/{LETTER}"))
    path = f"memos/inbox/{LETTER}.openthing"
    assert (item.findtext("title"), item.findtext("description")) == (path, f"new memo: {path}")
    assert item.findtext("link") == f"https://archive.example.org/memos/{LETTER}/"
    assert (item.findtext(f"{MEMO}path"), item.findtext(f"{MEMO}subject"), item.find("enclosure")) == (path, path, None)
    assert item.find(f"{MEMO}sha256").text is None
    full = next(one for one in now["positions/director/feed-full.xml"] if one.findtext("title") == path)
    content = full.findtext("{http://purl.org/rss/1.0/modules/content/}encoded")
    reason = "The content of this memo was erased. Since: 2026-05-20. Reason: The writer asked for it."
    assert content == f"new memo: {path}<br>\n<p>{reason}</p>\n"


@pytest.mark.parametrize("query", ["letter", "from:engineer to:director", "repo:yard", "box:inbox"])
@pytest.mark.usefixtures("site")
def test_search_finds_it_by_who_when_and_where(query: str, folder: Path, capfd: Any) -> None:
    """Its name, its people and its place are searched as always."""
    assert main(["search", query, "--json", "--site", str(folder), "--cache", str(folder / "cache")]) == 0
    assert f"memos/{LETTER}/" in capfd.readouterr().out


@pytest.mark.parametrize("query", ["quince", "tag:zqtag", "status:zqstatus", "zqoutput in:tools"])
@pytest.mark.usefixtures("site")
def test_search_does_not_find_its_content(query: str, folder: Path) -> None:
    """The index on disk is made of what is left."""
    assert main(["search", query, "--site", str(folder), "--cache", str(folder / "cache")]) == 1


@pytest.mark.parametrize("form", ["jsonl", "csv", "mbox"])
@pytest.mark.usefixtures("site")
def test_exports_have_it_without_its_body(form: str, folder: Path) -> None:
    """As any other it has a line, a row or a message; the message says why it is empty."""
    target = folder / "exports" / f"it.{form}"
    target.parent.mkdir(exist_ok=True)
    words = ["export", "--format", form, "--with-body", "-o", str(target), "--site", str(folder)]
    assert main([*words, "--cache", str(folder / "cache")]) == 0
    text = target.read_text(encoding="utf-8")
    assert words_in(target.parent) == {}
    assert LETTER in text
    if form == "jsonl":
        lines = {line["id"]: line for line in map(json.loads, text.splitlines())}
        assert "body" not in lines[LETTER]
        assert lines[LETTER]["withheld"]["reason"] == "erased"
    if form == "mbox":
        assert "was erased. Since: 2026-05-20. Reason: The writer asked for it." in text


def test_one_copy_with_a_secret_takes_the_content_off_all(folder: Path, monkeypatch: Any) -> None:
    """Also if the secret is in the body file alone: the envelope beside it is of the same memo."""
    body = f"office/memos/inbox/{LETTER}.body.md"
    monkeypatch.setattr(RESOLVE, bared(body, withheld=SECRET))
    output = build_site(folder, output=folder / "one")
    page = output / f"memos/{LETTER}"
    assert words_in(page) == {"index.html": {"zqlegacy"}}  # the subject of the next memo, which is published
    text = main_text(page)
    assert "is not published, because it holds a secret." in text
    assert "Kind of secret aws-access-key, private-key" in text
    assert "allow it in memosite.yml with a reason" in text
    assert (page / "copies").exists() is False
    health = words_in(output / "health")
    assert health.get("index.html", set()).isdisjoint({"zqprose", "zqafter", "zqsubject"})


KEPT: dict[type, set[str]] = {
    Envelope: {
        "kind", "shape", "file", "stem", "content_sha256", "sender", "to", "sent", "sent_text", "ended", "in_reply_to",
        "supersedes", "thread_id", "action_required", "body_ref", "discharge", "participants", "redaction_status",
    },
    LibraryCard: {"file", "id"},
    Organization: {"id", "name", "source", "path", "seats", "relationships", "memo_locations", "more_seats", "rest"},
    DocumentHead: {"file", "date", "text", "key"},
    BodyFile: {"file", "text"},
    RecordCard: {"system", "key", "file", "type", "line", "section", "created", "body_path", "is_rest"},
}  # fmt: skip
"""The fields of each fact that are not simply emptied. Whoever adds a field decides here whether it is content."""


class AnyValue(str):
    """A value that is as good for a test as any: a text, and as a list it is empty."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())


def filled(class_: type) -> Any:
    """A fact with a value in every field."""
    values: dict[str, Any] = {field.name: AnyValue(field.name) for field in fields(class_)}
    if class_ is Organization:
        values["rest"] = filled(LibraryCard)
    return class_(**values)


@pytest.mark.parametrize("class_", [*KEPT], ids=lambda class_: class_.__name__)
def test_a_field_of_a_fact_is_emptied_unless_it_is_kept_on_purpose(class_: type) -> None:
    """A new field must not be forgotten: it would be published."""
    fact = filled(class_)
    bare: Any = bare_envelope(fact, ERASED) if class_ is Envelope else fact.without_content(ERASED)
    left = {field.name for field in fields(class_) if getattr(bare, field.name) == getattr(fact, field.name)}
    assert left - KEPT[class_] == set()
    assert bare.withheld == ERASED
