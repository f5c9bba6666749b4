"""Artifacts without their content: what stays of them in all that is made of it; what `erase` names (SPEC 9)."""

import datetime as dt
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html

from memosite.build import build
from memosite.cli import main
from memosite.config.loading import load_config
from memosite.facts.contents import bare_envelope, without_content
from memosite.facts.errors import ConfigError
from memosite.facts.parsed import (
    BodyFile,
    DocumentHead,
    Envelope,
    LibraryCard,
    Organization,
    Parsed,
    RecordCard,
    SessionLog,
    Withheld,
)
from memosite.facts.values import Value
from memosite.remake.memory import Memory
from memosite.resolve import resolve
from tests.support.files import write_text
from tests.support.memos import write_memo, write_note
from tests.support.planted import AGAIN, BULLETS, CONFIG, LETTER, LIST, OLD, PLANTED, TALK, words_in, write_planted
from tests.support.repos import Repo
from tests.support.sites import build_site, file_states, tree_bytes

ERASED = Withheld(reason="erased", why="The writer asked for it", on="2026-05-20")
SECRET = Withheld(reason="secret", rules=("aws-access-key", "private-key"))
RESOLVE = "memosite.reading.reader.resolve"
FILES = {path for paths in PLANTED.values() for path in paths}
MEMO = "{http" + "s://memosite.invalid/ns/memo/1}"

PAGES = {
    "memo": f"memos/{LETTER}/", "legacy memo": f"memos/{OLD}/", "note": "notes/2026-05-04-0900--engineer--file--filed/",
    "transcript": f"transcripts/{TALK}/", "library": "libraries/forms/",
    "document": "documents/office.decisions.0001-casks.md/", "layer": "records/memory-layer/office.context.casks/",
    "store": "records/memory-store/office.decision.casks/",
    "mif": "records/mif/office.3b9f2c71-8d40-4e6a-a1c5-7f20d96b4e13/",
    "bullet": "records/wyren/office.decisions.5d2f3df5/",
}  # fmt: skip
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
def site(whole: Path) -> Path:
    """What is published without the content of what is planted."""
    folder = whole.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RESOLVE, bared(*FILES, LIST, withheld=ERASED))
        return build_site(folder, "--cache", folder / "cache", output=folder / "bare")


def page_of(folder: Path) -> Any:
    """The HTML of a page."""
    return html.fromstring((folder / "index.html").read_text(encoding="utf-8"))


def main_text(folder: Path) -> str:
    """What a page says, on one line."""
    return " ".join(page_of(folder).xpath("string(//main)").split())


def test_the_page_says_what_happened_why_and_since_when_and_lists_name_it_by_its_file(site: Path, whole: Path) -> None:
    """Who follows a link is told what to do, programs find the reason in twins."""
    for kind, path in PAGES.items():
        page = site / path
        text = main_text(page)
        for said in ("was erased.", "Since 2026-05-20", f"Reason {ERASED.why}", "ask those who publish this archive"):
            assert said in text
        assert list((whole / path).rglob("original*")) != [] and list(page.rglob("original*")) == []
        told = twin(site, path)
        assert told["withheld"] == {"reason": "erased", "why": ERASED.why, "on": ERASED.on, "rules": []}
        assert "body" not in told and told["sha256"] is None
        assert [copy["sha256"] for copy in told["copies"]] == [None] * len(told["copies"])
        markdown = (page / "index.md").read_text(encoding="utf-8")
        assert "Status: erased" in markdown.partition("---")[0] and "Since: 2026-05-20." in markdown
        if kind == "transcript":
            lines = (page / "turns.jsonl").read_text(encoding="utf-8").splitlines()
            assert [json.loads(line)["withheld"]["reason"] for line in lines] == ["erased"]
    assert len(set().union(*words_in(whole).values())) > 60 and words_in(site) == {}
    tree = page_of(site / "threads/2026-04-01-0900--director--engineer--earlier")
    assert tree.xpath("//ol[@class='tree']/li/a/text()") == ["Earlier", "Letter", "Reply"]
    assert tree.xpath("//ol[@class='tree']/li/@class") == ["depth-0 ghost", "depth-0 next", "depth-0 next"]
    assert "was erased" in tree.xpath(f"string(//section[@id='memo-{LETTER}'])")
    row = page_of(site / "timeline/2026/05").xpath(f"//a[contains(@href, '{LETTER}')]/..")[0]
    assert "erased" in row.xpath("string(span[@class='facts'])")
    told = twin(site, f"memos/{LETTER}/")
    assert (told["action"], told["replies"]) == ("discharged", ["memo/2026-05-02-0900--director--engineer--reply"])
    assert told["ghost_parent"] == "2026-04-01-0900--director--engineer--earlier"


def test_feed_items_keep_guid_and_place_and_have_the_path_alone(site: Path, whole: Path) -> None:
    """A reader of the feed is woken by it as by any other, and once."""
    assert guids(site) == guids(whole) and sum(map(len, guids(site).values())) > 30

    def item_of(feed: str) -> Any:
        items = etree.parse(site / feed).findall("channel/item")
        return next(one for one in items if (one.findtext("guid") or "").endswith(f"memo/{LETTER}"))

    item, full = item_of("feed.xml"), item_of("positions/director/feed-full.xml")
    path = f"memos/inbox/{LETTER}.openthing"
    assert (item.findtext("title"), item.findtext("description")) == (path, f"new memo: {path}")
    assert item.findtext("link") == f"https://archive.example.org/memos/{LETTER}/"
    assert (item.findtext(f"{MEMO}path"), item.findtext(f"{MEMO}subject"), item.find("enclosure")) == (path, path, None)
    assert item.find(f"{MEMO}sha256").text is None
    content = full.findtext("{http://purl.org/rss/1.0/modules/content/}encoded")
    reason = "The content of this memo was erased. Since: 2026-05-20. Reason: The writer asked for it."
    assert content == f"new memo: {path}<br>\n<p>{reason}</p>\n"


@pytest.mark.usefixtures("site")
def test_search_and_exports_have_its_envelope_without_its_body(folder: Path, capfd: Any, monkeypatch: Any) -> None:
    """Its name, its people and its place, not its content; a line, a row, a message that says why it is empty."""
    monkeypatch.setattr(RESOLVE, bared(*FILES, LIST, withheld=ERASED))
    common = ["--site", str(folder), "--cache", str(folder / "cache")]
    for query in ("letter", "from:engineer to:director", "repo:yard", "box:inbox"):
        assert main(["search", query, "--json", *common]) == 0
        assert f"memos/{LETTER}/" in capfd.readouterr().out
    for query in ("quince", "tag:zqtag", "status:zqstatus", "zqoutput in:tools"):
        assert main(["search", query, *common]) == 1
    target = folder / "exports"
    target.mkdir()
    texts = {}
    for form in ("jsonl", "csv", "mbox"):
        words = ["export", "--format", form, "--with-body", "-o", str(target / form), "--site", str(folder)]
        assert main([*words, "--cache", str(folder / "cache")]) == 0
        texts[form] = (target / form).read_text(encoding="utf-8")
        assert LETTER in texts[form]
    assert words_in(target) == {}
    lines = {line["id"]: line for line in map(json.loads, texts["jsonl"].splitlines())}
    assert "body" not in lines[LETTER] and lines[LETTER]["withheld"]["reason"] == "erased"
    assert "was erased. Since: 2026-05-20. Reason: The writer asked for it." in texts["mbox"]


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
    SessionLog: {"system", "key", "agent", "parent", "forked_from", "position", "line"},
}  # fmt: skip
"""The fields of each fact that are not simply emptied. Whoever adds a field decides here whether it is content."""


class AnyValue(str):
    """A value that is as good for a test as any: a text, and as a list it is empty."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())


def filled(class_: type[Value]) -> Any:
    """A fact with a value in every field."""
    values: dict[str, Any] = {name: AnyValue(name) for name in class_.__struct_fields__}
    if class_ is Organization:
        values["rest"] = filled(LibraryCard)
    if class_ is Envelope:
        values["log"] = filled(SessionLog)
    return class_(**values)


@pytest.mark.parametrize("class_", [*KEPT], ids=lambda class_: class_.__name__)
def test_a_field_of_a_fact_is_emptied_unless_it_is_kept_on_purpose(class_: Any) -> None:
    """A new field must not be forgotten: it would be published."""
    fact = filled(class_)
    envelope = fact if class_ is Envelope else filled(Envelope)
    of_envelope: Any = bare_envelope(envelope, ERASED)
    bare: Any = {Envelope: of_envelope, SessionLog: of_envelope.log}.get(class_) or fact.without_content(ERASED)
    left = {name for name in class_.__struct_fields__ if getattr(bare, name) == getattr(fact, name)}
    assert left - KEPT[class_] == set()
    assert of_envelope.withheld == ERASED and (class_ is SessionLog or bare.withheld == ERASED)


NAMES = (*PLANTED, "record/office.decisions.5d2f3df5", "office.open-questions.13937b83")
"""Everything that holds a planted word."""
ENTITY = "zqentity"
"""The name of an entity in an erased record, of which the address of a page was made, which stays."""


def erase(site: Path, *names: str, more: str = "", config: str = CONFIG) -> None:
    """Write the configuration with these erased."""
    entries = "".join(f"  - {{id: {name}, why: The writer asked, on: 2026-05-20{more}}}\n" for name in names)
    write_text(site / "memosite.yml", config + (f"erase:\n{entries}" if names else ""))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with planted words, and enough memos for archive documents of feeds, before and after those; built."""
    folder = write_planted(tmp_path_factory.mktemp("planted") / "site")
    for day in (1, 9):
        for minute in range(40):
            name = f"2026-05-0{day}-08{minute:02d}--engineer--director--tide"
            write_memo(folder / "office/memos/read", name, sent=f"2026-05-0{day}T08:{minute:02d}:00Z")
    Repo(folder / "office", is_new=False).commit("tides", at=200)
    build_site(folder)
    return folder


@pytest.fixture
def tides(planted: Path, tmp_path: Path) -> Path:
    """A copy of it with all that the build has made."""
    return shutil.copytree(planted, tmp_path / "site")


@pytest.fixture
def unbuilt(planted: Path, tmp_path: Path) -> Path:
    """A copy of it that was never built."""
    return shutil.copytree(planted, tmp_path / "unbuilt", ignore=shutil.ignore_patterns("_site", ".memosite"))


def twin(output: Path, page: str) -> Any:
    """The JSON of a page."""
    return json.loads((output / page / "index.json").read_text(encoding="utf-8"))


def guids(output: Path) -> dict[str, list[str | None]]:
    """The ids of the items of every feed and of every archive document, in their order."""
    documents = (path for path in sorted(output.rglob("*.xml")) if not path.name.startswith("sitemap"))
    return {
        path.relative_to(output).as_posix(): [item.findtext("guid") for item in etree.parse(path).iterfind(".//item")]
        for path in documents
    }


def test_nothing_of_the_content_is_left_and_taking_it_back_restores_it(tides: Path, tmp_path: Path) -> None:
    """Not in the output, not in the cache: built on, built anew over the ledger, or from the previous site.

    Meanwhile an internal site shows all else, also what only the public may not see, and what cannot be read. Nothing
    was lost that is in the source. Only the sealed log, and the page that shows its root, tell of it afterwards.
    """
    output = tides / "_site"
    marked = "2026-05-03-0900--engineer--director--salaries"
    write_memo(tides / "office/memos/read", marked, extra={"x.legal.confidentiality": "internal"})
    write_text(tides / "office/memos/read/2026-05-03-1000--engineer--director--torn.openthing", "{")
    before = tree_bytes(build_site(tides))
    assert len(set().union(*words_in(output).values())) > 60
    previous = Path(shutil.copytree(output, tmp_path / "before"))
    order = guids(output)
    changes, captures = output / f"memos/{LETTER}/changes", output / f"transcripts/{AGAIN}/captures"
    assert changes.is_dir() and captures.is_dir()
    erase(tides, *NAMES)
    build_site(tides)
    for page in (changes, captures):  # the addresses of its other pages lead to it
        assert 'http-equiv="refresh"' in (page / "index.html").read_text(encoding="utf-8")
    turns = (output / f"transcripts/{TALK}/turns.jsonl").read_text(encoding="utf-8")
    assert json.loads(turns)["withheld"]["on"] == "2026-05-20"
    assert words_in(output, but=[ENTITY]) == {}
    left = {path for path in words_in(output) if not path.startswith(f"entities/{ENTITY}")}
    assert left == {"archive/ledger.jsonl"}
    assert words_in(tides / ".memosite", but=[ENTITY]) == {}
    anew = build_site(tides, "--previous", previous, "--cache", tmp_path / "cache", output=tmp_path / "anew")
    assert words_in(tmp_path / "cache", but=[ENTITY]) == {}
    assert tree_bytes(anew) == tree_bytes(output)
    shutil.rmtree(tides / ".memosite")
    states = file_states(output)
    build_site(tides)
    assert file_states(output) == states
    now = guids(output)
    assert {path: ids for path, ids in now.items() if "saved/" not in path} == {
        path: ids for path, ids in order.items() if "saved/" not in path
    }
    assert [path for path in now if path.startswith("feed-")] != []
    erase(tides, NAMES[0])
    assert {path for path in before if path.endswith(".html")} <= set(tree_bytes(build_site(tides)))
    assert marked in main_text(output / f"memos/{marked}")
    erase(tides)
    build_site(tides)
    after = tree_bytes(output)
    logged = {"archive/seals.jsonl", "health/index.html"}
    assert {path for path in before | after if before.get(path) != after.get(path)} == logged
    assert after["archive/seals.jsonl"].startswith(before["archive/seals.jsonl"])


def test_a_build_in_the_same_process_gives_the_same(unbuilt: Path, tmp_path: Path) -> None:
    """As in `serve`, which keeps what it has read."""

    def clock() -> dt.datetime:
        return dt.datetime(2026, 6, 1, tzinfo=dt.UTC)

    with Memory() as memory:
        build(load_config(unbuilt), clock=clock, memory=memory)
        before = Path(shutil.copytree(unbuilt / "_site", tmp_path / "before"))
        erase(unbuilt, *NAMES)
        build(load_config(unbuilt), clock=clock, memory=memory)
        memory.write()
    assert words_in(unbuilt / ".memosite", but=[ENTITY]) == {}
    anew = build_site(unbuilt, "--previous", before, output=tmp_path / "anew")
    assert tree_bytes(unbuilt / "_site") == tree_bytes(anew)


def test_digests_that_were_published_stay_but_for_a_secret_and_for_an_entry_of_a_list(tides: Path) -> None:
    """They prove later what the content was; they are on the page and in its twin.

    Unless the reason is a secret: from the digest and the rest of a text, a short one could be guessed. Nor is the
    file of a list published any more of which an entry is erased: each other entry has its own text as original.
    """
    output = tides / "_site"
    page, entry = f"memos/{LETTER}/", "records/wyren/office.decisions.e48abbc6/"
    was, whole = twin(output, page), twin(output, entry)["sha256"]
    assert (output / entry / "original.md").read_text(encoding="utf-8") == BULLETS
    erase(tides, f"memo/{LETTER}", "record/office.decisions.5d2f3df5")
    for _ in range(2):
        build_site(tides)
        now = twin(output, page)
        assert now["sha256"] == was["sha256"]
        assert [copy["sha256"] for copy in now["copies"]] == [copy["sha256"] for copy in was["copies"]]
        write_text(tides / "office/decisions/0002-more.md", "# More\n")
    assert was["sha256"] in main_text(output / page) and "Two buckets for rain" in main_text(output / entry)
    assert "zq" not in (output / entry / "original.md").read_text(encoding="utf-8")
    assert [copy["sha256"] for copy in twin(output, entry)["copies"]] == [None]
    items = etree.parse(output / "systems/wyren/feed.xml").iterfind(".//item")
    enclosure = next(item for item in items if (item.findtext("guid") or "").endswith("e48abbc6")).find("enclosure")
    assert enclosure is not None
    assert enclosure.get("length") == str((output / entry / "original.md").stat().st_size)
    assert [path for path, data in tree_bytes(output / entry).items() if whole.encode() in data] == []
    assert "zqcask" not in set().union(*words_in(output).values())
    assert "zqasks" in main_text(output / "records/wyren/office.open-questions.13937b83/")
    erase(tides, f"memo/{LETTER}", more=", secret: true")
    build_site(tides)
    assert [path for path, data in tree_bytes(output).items() if was["sha256"].encode() in data] == []


def test_search_finds_nothing_of_it_and_the_digest_of_what_was_never_published_is_not(unbuilt: Path) -> None:
    """Also where a search made the index; nor of what was edited before it was erased, or built for the first time."""
    words = ["--site", str(unbuilt)]
    plain = CONFIG.replace('searches: {casks: "letter OR casks OR quince"}', "")
    erase(unbuilt, config=plain)
    assert main(["search", "quince", *words]) == 0
    erase(unbuilt, *NAMES, config=plain)
    build_site(unbuilt)
    assert not (unbuilt / ".memosite/search").exists()
    assert main(["search", "quince", *words]) == 1 and main(["search", "letter", *words]) == 0
    assert words_in(unbuilt / ".memosite", but=[ENTITY]) == {}
    assert twin(unbuilt / "_site", f"memos/{LETTER}/")["sha256"] is None
    erase(unbuilt)
    build_site(unbuilt)
    file = unbuilt / f"office/memos/inbox/{LETTER}.openthing"
    write_text(file, file.read_text(encoding="utf-8").replace("zqshort", "zqlater"))
    erase(unbuilt, *NAMES)
    build_site(unbuilt)
    now = twin(unbuilt / "_site", f"memos/{LETTER}/")
    assert now["sha256"] is None and [one["sha256"] is None for one in now["copies"]] == [True, False]


def test_what_was_removed_before_says_that_it_was_erased_and_keeps_its_place_in_archive_documents(tides: Path) -> None:
    """A memo that somebody replied to, one that nobody did, a record; with the guid, and where git had it last."""
    output, feed = tides / "_site", "positions/director/feed-1.xml"
    order = guids(output)[feed]
    (name,) = (guid for guid in order if guid and guid.endswith("2026-05-01-0807--engineer--director--tide"))
    file = tides / "office/memos/read/2026-05-01-0807--engineer--director--tide.openthing"
    file.unlink()
    Repo(tides / "office", is_new=False).commit("removed", at=300)
    old = "2026-05-03-0900--engineer--director--old-form"
    removed = {"memo/" + LETTER: f"memos/{LETTER}/", f"memo/{old}": f"memos/{old}/"}
    removed["record/office.context.casks"] = "records/memory-layer/office.context.casks/"
    for path in (path for id_ in removed for path in PLANTED[id_]):
        (tides / path).unlink()
    build_site(tides)
    gone = {guid for guid in order if guid and guid.endswith((LETTER, old))} | {name}
    assert guids(output)[feed] == [guid for guid in order if guid not in gone]
    assert "2026-05-20" not in main_text(output / removed[f"memo/{old}"])
    erase(tides, file.stem, f"memo/{LETTER}", old, "record/office.context.casks", f"transcript/{TALK}")
    build_site(tides)
    assert guids(output)[feed] == order
    item = next(one for one in etree.parse(output / feed).iterfind(".//item") if one.findtext("guid") == name)
    assert item.findtext("description") == f"new memo: memos/read/{file.name}"
    assert twin(output, f"memos/{file.stem}/")["notice"].startswith("The content of this memo was erased.")
    for page in removed.values():
        assert "was erased. Since 2026-05-20 Reason The writer asked" in main_text(output / page)
    assert "was erased" in main_text(output / f"memos/{LETTER}/changes/")
    assert main(["check", "--site", str(tides)]) == 0


def test_an_id_without_its_kind_means_all_of_that_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is said, with how to name one. A name that nothing has is an error, as is an entry that cannot be read."""
    for entry, error in [
        ("{id: x, why: y}", "erase[0]: found no on, expected {id, why, on}"),
        ("{why: y, on: 2026-05-20}", "erase[0]: found no id, expected {id, why, on}"),
        ("{id: a/b, why: y, on: 2026-05-20}", 'erase[0].id: found "a/b", expected an id as in the address of a page'),
        ("{id: memos/x/, why: y, on: 2026-05-20}", 'erase[0].id: found "memos/x/", expected an id as in the address'),
        ("{id: x, why: y, on: May}", 'erase[0].on: found "May", expected an ISO 8601 date'),
        (
            "{id: x, why: y, on: 2026-05-20, secret: yes}",
            'erase[0].secret: found the truth value "yes", expected true or false',
        ),
        ("{id: x, why: y, on: 2026-05-20}\n  - {id: x, why: z, on: 2026-05-20}", 'erase[1]: found "x" twice'),
        ("x", 'erase[0]: found "x", expected a mapping with id, why, on, secret'),
    ]:
        write_memo(tmp_path / "memos", "a")
        write_text(tmp_path / "memosite.yml", f"erase:\n  - {entry}\n")
        with pytest.raises(ConfigError) as raised:
            load_config(tmp_path)
        assert error in str(raised.value)
    shutil.rmtree(tmp_path / "memos")
    name = "2026-05-01-0900--engineer--director--twice"
    write_memo(tmp_path / "desk/memos", name)
    write_note(tmp_path / "desk/notes/engineer", name)
    erase(tmp_path, name, config="sources: [{path: desk}]\n")
    output = build_site(tmp_path)
    assert "was erased" in main_text(output / f"memos/{name}/")
    assert "was erased" in main_text(output / f"notes/{name}/")
    assert f'Erase names "{name}": it means memo/{name}, note/{name}' in main_text(output / "health/")
    erase(tmp_path, f"note/{name}", config="sources: [{path: desk}]\n")
    build_site(tmp_path)
    assert "was erased" not in main_text(output / f"memos/{name}/")
    assert "was erased" in main_text(output / f"notes/{name}/")
    erase(tmp_path, f"{name}x", config="sources: [{path: desk}]\n")
    build_site(tmp_path)
    assert main(["check", "--site", str(tmp_path)]) == 1
    assert f'erase names "{name}x": nothing of this id' in capsys.readouterr().out
