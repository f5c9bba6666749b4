"""Erasure: what `erase` names is published without its content from then on (SPEC 9)."""

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from lxml import etree, html

from memosite.build import build
from memosite.cli import main
from memosite.config.loading import load_config
from memosite.facts.errors import ConfigError
from memosite.remake.memory import Memory
from tests.support.files import write_text
from tests.support.memos import write_memo, write_note
from tests.support.planted import AGAIN, BULLETS, CONFIG, LETTER, PLANTED, TALK, words_in, write_planted
from tests.support.repos import Repo
from tests.support.sites import build_site, file_states, tree_bytes

NAMES = (*PLANTED, "record/office.decisions.5d2f3df5", "office.open-questions.13937b83")
"""Everything that holds a planted word."""
ENTITY = "zqentity"
"""The name of an entity in an erased record, of which the address of a page was made, which stays."""


def erase(site: Path, *names: str, more: str = "", config: str = CONFIG) -> None:
    """Write the configuration with these erased."""
    entries = "".join(f"  - {{id: {name}, why: The writer asked, on: 2026-05-20{more}}}\n" for name in names)
    write_text(site / "memosite.yml", config + (f"erase:\n{entries}" if names else ""))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The site with planted words, and enough memos for archive documents of feeds, before and after those."""
    folder = write_planted(tmp_path / "site")
    for day in (1, 9):
        for minute in range(40):
            name = f"2026-05-0{day}-08{minute:02d}--engineer--director--tide"
            write_memo(folder / "office/memos/read", name, sent=f"2026-05-0{day}T08:{minute:02d}:00Z")
    Repo(folder / "office", is_new=False).commit("tides", at=200)
    return folder


def twin(output: Path, page: str) -> Any:
    """The JSON of a page."""
    return json.loads((output / page / "index.json").read_text(encoding="utf-8"))


def text_of(output: Path, page: str) -> str:
    """What a page says, on one line."""
    tree: Any = html.fromstring((output / page / "index.html").read_text(encoding="utf-8"))
    return " ".join(str(tree.xpath("string(//main)")).split())


def guids(output: Path) -> dict[str, list[str | None]]:
    """The ids of the items of every feed and of every archive document, in their order."""
    documents = (path for path in sorted(output.rglob("*.xml")) if not path.name.startswith("sitemap"))
    return {
        path.relative_to(output).as_posix(): [item.findtext("guid") for item in etree.parse(path).iterfind(".//item")]
        for path in documents
    }


def test_nothing_of_the_content_is_left_and_any_build_gives_the_same(site: Path, tmp_path: Path) -> None:
    """Not in the output, not in the cache: built on, built anew over the ledger, or from the previous site."""
    output = build_site(site)
    assert len(set().union(*words_in(output).values())) > 60
    before = Path(shutil.copytree(output, tmp_path / "before"))
    order = guids(output)
    erase(site, *NAMES)
    build_site(site)
    assert words_in(output, but=[ENTITY]) == {}
    left = {path for path in words_in(output) if not path.startswith(f"entities/{ENTITY}")}
    assert left == {"archive/ledger.jsonl"}
    assert words_in(site / ".memosite", but=[ENTITY]) == {}
    anew = build_site(site, "--previous", before, "--cache", tmp_path / "cache", output=tmp_path / "anew")
    assert words_in(tmp_path / "cache", but=[ENTITY]) == {}
    assert tree_bytes(anew) == tree_bytes(output)
    shutil.rmtree(site / ".memosite")
    states = file_states(output)
    build_site(site)
    assert file_states(output) == states
    now = guids(output)
    assert {path: ids for path, ids in now.items() if "saved/" not in path} == {
        path: ids for path, ids in order.items() if "saved/" not in path
    }
    assert [path for path in now if path.startswith("feed-")] != []


def test_a_build_in_the_same_process_gives_the_same(site: Path, tmp_path: Path) -> None:
    """As in `serve`, which keeps what it has read."""

    def clock() -> dt.datetime:
        return dt.datetime(2026, 6, 1, tzinfo=dt.UTC)

    with Memory() as memory:
        build(load_config(site), clock=clock, memory=memory)
        before = Path(shutil.copytree(site / "_site", tmp_path / "before"))
        erase(site, *NAMES)
        build(load_config(site), clock=clock, memory=memory)
        memory.write()
    assert words_in(site / ".memosite", but=[ENTITY]) == {}
    anew = build_site(site, "--previous", before, output=tmp_path / "anew")
    assert tree_bytes(site / "_site") == tree_bytes(anew)


def test_search_finds_nothing_of_it_though_it_was_indexed(site: Path) -> None:
    """Also where a search made the index, and a build cleans it."""
    words = ["--site", str(site)]
    plain = CONFIG.replace('searches: {casks: "letter OR casks OR quince"}', "")
    erase(site, config=plain)
    assert main(["search", "quince", *words]) == 0
    erase(site, *NAMES, config=plain)
    build_site(site)
    assert not (site / ".memosite/search").exists()
    assert main(["search", "quince", *words]) == 1
    assert main(["search", "letter", *words]) == 0
    assert words_in(site / ".memosite", but=[ENTITY]) == {}


def test_addresses_of_its_other_pages_lead_to_it(site: Path) -> None:
    """Changes after receipt, captures side by side, turns."""
    output = build_site(site)
    changes, captures = output / f"memos/{LETTER}/changes", output / f"transcripts/{AGAIN}/captures"
    assert changes.is_dir()
    assert captures.is_dir()
    erase(site, *NAMES)
    build_site(site)
    for page in (changes, captures):
        assert 'http-equiv="refresh"' in (page / "index.html").read_text(encoding="utf-8")
    turns = (output / f"transcripts/{TALK}/turns.jsonl").read_text(encoding="utf-8")
    assert json.loads(turns)["withheld"]["on"] == "2026-05-20"


def test_what_was_removed_and_erased_keeps_its_place_in_archive_documents(site: Path) -> None:
    """Before, what is removed is not in them; once it is erased, its guid is there, and where git had it last."""
    output = build_site(site)
    feed = "positions/director/feed-1.xml"
    order = guids(output)[feed]
    (name,) = (one for one in order if one and one.endswith("2026-05-01-0807--engineer--director--tide"))
    file = site / "office/memos/read/2026-05-01-0807--engineer--director--tide.openthing"
    file.unlink()
    Repo(site / "office", is_new=False).commit("removed", at=300)
    build_site(site)
    assert guids(output)[feed] == [one for one in order if one != name]
    erase(site, file.stem)
    build_site(site)
    assert guids(output)[feed] == order
    item = next(one for one in etree.parse(output / feed).iterfind(".//item") if one.findtext("guid") == name)
    assert item.findtext("description") == f"new memo: memos/read/{file.name}"
    assert twin(output, f"memos/{file.stem}/")["notice"].startswith("The content of this memo was erased.")


# Digests


def test_digests_that_were_published_stay(site: Path) -> None:
    """They prove later what the content was; they are on the page and in its twin."""
    output = build_site(site)
    page = f"memos/{LETTER}/"
    was = twin(output, page)
    erase(site, f"memo/{LETTER}")
    for _ in range(2):
        build_site(site)
        now = twin(output, page)
        assert (now["sha256"], [one["sha256"] for one in now["copies"]]) == (
            was["sha256"], [one["sha256"] for one in was["copies"]],
        )  # fmt: skip
        write_text(site / "office/decisions/0002-more.md", "# More\n")
    assert was["sha256"] in text_of(output, page)


def test_the_digest_of_what_was_never_published_is_not(site: Path) -> None:
    """Neither of what was edited before it was erased, nor of what was there and built for the first time."""
    erase(site, *NAMES)
    assert twin(build_site(site), f"memos/{LETTER}/")["sha256"] is None
    erase(site)
    build_site(site)
    file = site / f"office/memos/inbox/{LETTER}.openthing"
    write_text(file, file.read_text(encoding="utf-8").replace("zqshort", "zqlater"))
    erase(site, *NAMES)
    build_site(site)
    now = twin(site / "_site", f"memos/{LETTER}/")
    assert now["sha256"] is None
    assert [one["sha256"] is None for one in now["copies"]] == [True, False]


def test_where_the_reason_is_a_secret_no_digest_stays(site: Path) -> None:
    """From the digest and the rest of a text, a short secret could be guessed."""
    output = build_site(site)
    digest = twin(output, f"memos/{LETTER}/")["sha256"]
    erase(site, f"memo/{LETTER}")
    build_site(site)
    erase(site, f"memo/{LETTER}", more=", secret: true")
    build_site(site)
    assert [path for path, data in tree_bytes(output).items() if digest.encode() in data] == []


# What becomes of it


def test_taking_the_entry_back_restores_it_at_the_same_address(site: Path) -> None:
    """Nothing was lost that is in the source. Only the sealed log, and the page that shows its root, tell of it."""
    output = build_site(site)
    before = tree_bytes(output)
    erase(site, *NAMES)
    build_site(site)
    erase(site)
    build_site(site)
    after = tree_bytes(output)
    assert {path for path in before | after if before.get(path) != after.get(path)} == {
        "archive/seals.jsonl",
        "health/index.html",
    }
    assert after["archive/seals.jsonl"].startswith(before["archive/seals.jsonl"])


def test_what_was_removed_before_says_that_it_was_erased(site: Path) -> None:
    """A memo that somebody replied to, one that nobody did, and a record."""
    output = build_site(site)
    old = "2026-05-03-0900--engineer--director--old-form"
    for path in (*PLANTED[f"memo/{LETTER}"], *PLANTED[f"memo/{old}"], *PLANTED["record/office.context.casks"]):
        (site / path).unlink()
    build_site(site)
    assert "2026-05-20" not in text_of(output, f"memos/{old}/")
    erase(site, f"memo/{LETTER}", old, "record/office.context.casks", f"transcript/{TALK}")
    build_site(site)
    for page in (f"memos/{LETTER}/", f"memos/{old}/", "records/memory-layer/office.context.casks/"):
        assert "was erased. Since 2026-05-20 Reason The writer asked" in text_of(output, page)
    assert "was erased" in text_of(output, f"memos/{LETTER}/changes/")
    assert main(["check", "--site", str(site)]) == 0


def test_an_entry_of_a_list_is_erased_and_those_beside_it_are_not(site: Path) -> None:
    """The file that they share is not published any more: each other entry has its own text as original."""
    output = build_site(site)
    page = "records/wyren/office.decisions.e48abbc6/"
    assert (output / page / "original.md").read_text(encoding="utf-8") == BULLETS
    whole = twin(output, page)["sha256"]
    erase(site, "record/office.decisions.5d2f3df5")
    build_site(site)
    assert "Two buckets for rain" in text_of(output, page)
    assert "zq" not in (output / page / "original.md").read_text(encoding="utf-8")
    now = twin(output, page)
    assert [one["sha256"] for one in now["copies"]] == [None]
    item = next(
        one
        for one in etree.parse(output / "systems/wyren/feed.xml").iterfind(".//item")
        if (one.findtext("guid") or "").endswith("e48abbc6")
    )
    enclosure = item.find("enclosure")
    assert enclosure is not None
    assert enclosure.get("length") == str((output / page / "original.md").stat().st_size)
    assert [path for path, data in tree_bytes(output / page).items() if whole.encode() in data] == []
    assert "zqcask" not in set().union(*words_in(output).values())
    assert "zqasks" in text_of(output, "records/wyren/office.open-questions.13937b83/")


def test_an_id_of_several_kinds_means_all_of_them_unless_the_kind_is_named(tmp_path: Path) -> None:
    """It is said, with how to name one."""
    name = "2026-05-01-0900--engineer--director--twice"
    write_memo(tmp_path / "desk/memos", name)
    write_note(tmp_path / "desk/notes/engineer", name)
    erase(tmp_path, name, config="sources: [{path: desk}]\n")
    output = build_site(tmp_path)
    assert "was erased" in text_of(output, f"memos/{name}/")
    assert "was erased" in text_of(output, f"notes/{name}/")
    assert f'erase names "{name}": it means memo/{name}, note/{name}' in text_of(output, "health/")
    erase(tmp_path, f"note/{name}", config="sources: [{path: desk}]\n")
    build_site(tmp_path)
    assert "was erased" not in text_of(output, f"memos/{name}/")
    assert "was erased" in text_of(output, f"notes/{name}/")


def test_a_name_that_nothing_has_is_an_error(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever mistypes an id must not believe that it is erased."""
    erase(site, "2026-05-01-0900--engineer--director--leter")
    build_site(site)
    assert main(["check", "--site", str(site)]) == 1
    assert 'erase names "2026-05-01-0900--engineer--director--leter": nothing of this id' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("entry", "error"),
    [
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
    ],
)
def test_an_entry_that_cannot_be_read_is_an_error(entry: str, error: str, tmp_path: Path) -> None:
    """It names the line and what was expected."""
    write_memo(tmp_path / "memos", "a")
    write_text(tmp_path / "memosite.yml", f"erase:\n  - {entry}\n")
    with pytest.raises(ConfigError) as raised:
        load_config(tmp_path)
    assert error in str(raised.value)


def test_an_internal_site_that_erases_something_shows_all_else(site: Path) -> None:
    """What only the public may not see, and what cannot be read, stays in it."""
    marked = "2026-05-03-0900--engineer--director--salaries"
    write_memo(site / "office/memos/read", marked, extra={"x.legal.confidentiality": "internal"})
    write_text(site / "office/memos/read/2026-05-03-1000--engineer--director--torn.openthing", "{")
    pages = {path for path in tree_bytes(build_site(site)) if path.endswith(".html")}
    erase(site, NAMES[0])
    assert pages <= set(tree_bytes(build_site(site)))
    assert marked in text_of(site / "_site", f"memos/{marked}")
