"""Lean sites: twins and originals in bundles of a month, for hosts that count files (SPEC 4, fewer files)."""

import hashlib
import json
import re
import shutil
from itertools import islice
from pathlib import Path
from posixpath import normpath
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
from lxml import etree, html

from benchmarks import organization
from benchmarks.as_memodef import write_site
from memosite.cli import main
from memosite.facts.layout import SITE_MARKER
from memosite.plan.indexes import BUNDLE_BYTES
from tests.support.bundles import bundles_of, files_of, followed, json_of, keys_of, markdown_of
from tests.support.files import write_text
from tests.support.memos import send, write_body, write_memo, write_transcript
from tests.support.pages import bad_links, found, pages
from tests.support.planted import CONFIG, LETTER, PLANTED, words_in, write_planted
from tests.support.servers import serve_folder
from tests.support.sites import build_site, built_from_nothing, copy_example, file_states, tree_bytes
from tests.support.trials import random_steps, run_steps

BUNDLE_FILES = ("twins-*.jsonl", "twins-*.md", "files-*.zip")
MAY = "archive/2026/05"
Capture = pytest.CaptureFixture[str]


def make_lean(site: Path, more: str = "") -> Path:
    """Say in the configuration of a site that it is lean."""
    file = site / "memosite.yml"
    write_text(file, (file.read_text(encoding="utf-8") if file.exists() else "") + more + "lean: true\n")
    return site


def write_memos(site: Path, number: int, *, day: int = 1, size: int = 100, first: int = 0) -> None:
    """Write memos of a day, each with a text of this size."""
    for minute in range(first, first + number):
        name = f"2026-05-{day:02}-{minute // 60:02}{minute % 60:02}--engineer--director--tide"
        sent = f"2026-05-{day:02}T{minute // 60:02}:{minute % 60:02}:00Z"
        write_memo(site / "office/memos/read", name, sent=sent, body=f"Tide {minute}. " * (size // 10))


def planted(folder: Path) -> tuple[Path, Path]:
    """The site of planted words, lean and built, and its output."""
    site = write_planted(folder / "site")
    write_text(site / "memosite.yml", CONFIG + "lean: true\n")
    return site, build_site(site)


def erase(site: Path, *names: str, more: str = "") -> None:
    """Say in the configuration that these are erased."""
    entries = "".join(f"  - {{id: {name}, why: Asked, {more}on: 2026-05-20}}\n" for name in names)
    write_text(site / "memosite.yml", f"{CONFIG}lean: true\nerase:\n{entries}")


def all_keys(site: Path, pattern: str) -> list[str]:
    """The keys in all bundles of a site."""
    return [key for bundle in bundles_of(site, pattern) for key in keys_of(bundle)]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same site twice, of everything there is: with a file for each twin and original, and lean."""
    folder = tmp_path_factory.mktemp("both")
    for name in ("full", "lean"):
        site = copy_example(folder / name)
        write_planted(site / "planted")
        shutil.rmtree(site / "planted/office/memos/read")  # its own history says when these were removed
        config = (site / "memosite.yml").read_text(encoding="utf-8")
        sources = "sources:\n  - path: planted/office\n  - path: planted/yard\n"
        write_text(site / "memosite.yml", config.replace("sources:\n", sources))
    base = "https://archive.example.org/"
    full = build_site(folder / "full", "--jobs", 1, base_url=base)
    return full, build_site(make_lean(folder / "lean"), "--jobs", 2, base_url=base)


def test_a_generated_site_has_at_most_two_files_an_artifact_besides_search(tmp_path: Path) -> None:
    """Page, thread, feeds, digests, weeks, months and bundles; search adds 700 at 10,000, which is 0.07 (SPEC 10)."""
    number = 400
    write_site(tmp_path / "site", islice(organization.artifacts(10_000, seed=1), number), with_git=False)
    output = build_site(make_lean(tmp_path / "site"))
    written = [path for path in tree_bytes(output) if not path.startswith("search/")]
    assert len(all_keys(output, "twins-*.jsonl")) > number
    assert len(written) < 2.29 * number  # some 300 of them are in any site, so at 10,000 it is less


def test_a_page_leads_to_each_of_its_twins_and_originals_as_index_and_llms_txt_do(both: tuple[Path, Path]) -> None:
    """With the bytes and words that the full site has; nobody expects a ZIP behind a link to `original.openthing`."""
    full, lean = both
    pages_of = {key: page for page, key in _keys_of_pages(full).items()}
    seen: dict[str, set[str]] = {"jsonl": set(), "md": set()}
    for page in pages(lean):
        tree = html.parse(page)
        for kind, form in (("jsonl", "application/jsonl"), ("md", "text/markdown")):
            for href in found(tree, f"//link[@rel='alternate'][@type='{form}']/@href"):
                if "#" in href:
                    bundle, key = followed(page.parent, href)
                    assert key in keys_of(bundle)
                    at = page.parent.relative_to(lean).as_posix()
                    assert re.fullmatch(re.escape(pages_of[key]) + r"(/\d+)?", at)
                    seen[kind].add(key)
    assert seen["jsonl"] == seen["md"] == set(pages_of)
    assert set(all_keys(lean, "twins-*.jsonl")) == set(all_keys(lean, "twins-*.md")) == set(pages_of)
    assert list(bad_links(lean)) == []
    index = json.loads((lean / "archive/index.json").read_text(encoding="utf-8"))
    named = [file for month in index["months"] for bundle in month["bundles"] for file in bundle.values()]
    there = [path.relative_to(lean / "archive").as_posix() for one in BUNDLE_FILES for path in bundles_of(lean, one)]
    assert sorted(named) == sorted(there)
    said = (lean / "llms.txt").read_text(encoding="utf-8")
    assert "twins-1.jsonl" in said and "files-1.zip" in said
    letter = html.parse(lean / f"memos/{LETTER}/index.html")
    assert "original.openthing in files-1.zip" in " ".join(found(letter, "//a/text()"))
    assert found(letter, "//a[starts-with(., 'original.body')]/@href") == [
        f"../../{MAY}/files-1.zip#memos/{LETTER}/original.body.md"
    ]


def test_nothing_is_lost_and_nothing_is_there_twice(both: tuple[Path, Path]) -> None:
    """What the full site has as files and the lean one has not is in its bundles, and the other way round."""
    full, lean = map(tree_bytes, both)
    twins = {f"{page}/index.{form}" for page in _keys_of_pages(both[0]) for form in ("json", "md")}
    files: dict[str, bytes] = {}
    for bundle in bundles_of(both[1], "files-*.zip"):
        packed = files_of(bundle)
        assert not files.keys() & packed.keys()
        files |= packed
    assert files.keys() | twins == full.keys() - lean.keys()
    assert {path: data for path, data in full.items() if path in files} == files
    assert all(re.fullmatch(r"archive/(\d{4}/\d\d|undated)/(twins|files)-\d+\.\w+", one) for one in lean.keys() - full)
    assert {path for path in files if path.endswith("turns.jsonl")} == {
        path for path in full if path.endswith("turns.jsonl")
    }


def test_a_twin_a_list_and_a_feed_say_the_same_as_in_a_full_site(both: tuple[Path, Path]) -> None:
    """Each field and each line; links lead to the same."""
    full, lean = both
    pages_of = {key: page for page, key in _keys_of_pages(full).items()}
    for bundle in bundles_of(lean, "twins-*.jsonl"):
        start = bundle.parent.relative_to(lean).as_posix()
        for key, twin in json_of(bundle).items():
            own = json.loads((full / pages_of[key] / "index.json").read_text(encoding="utf-8"))
            _cut_alike(twin, own)
            assert _resolved(twin, start, pages_of) == _resolved(own, pages_of[key], pages_of), key
            assert list(twin) == list(own)
    for bundle in bundles_of(lean, "twins-*.md"):
        start = bundle.parent.relative_to(lean).as_posix()
        for key, text in markdown_of(bundle).items():
            own = (full / pages_of[key] / "index.md").read_text(encoding="utf-8")
            assert _with_places(text, start, pages_of) == _with_places(own, pages_of[key], pages_of), key
    lists = [path for path in lean.rglob("index.json") if path.parent.name != "archive"]
    assert len(lists) > 10
    for path in lists:
        at = path.relative_to(lean)
        ours, theirs = (json.loads((site / at).read_text(encoding="utf-8")) for site in (lean, full))
        place = at.parent.as_posix()
        _cut_alike(ours, theirs)
        assert _resolved(ours, place, pages_of) == _resolved(theirs, place, pages_of)
    feeds = [path for path in full.rglob("*.xml") if not path.name.startswith("sitemap")]
    assert any(b"<enclosure" in path.read_bytes() for path in feeds)
    for path in feeds:
        other = lean / path.relative_to(full)
        assert b"<enclosure" not in other.read_bytes()
        assert _without_enclosures(path) == _without_enclosures(other)
    for path in full.rglob("feed.json"):
        ours = json.loads((lean / path.relative_to(full)).read_text(encoding="utf-8"))
        assert not any("attachments" in one for one in ours["items"])


def test_a_month_is_split_by_size_and_a_new_memo_makes_the_last_bundle_alone(tmp_path: Path) -> None:
    """Full bundles stay as they are, byte for byte, and so do pages of other memos."""
    site = make_lean(tmp_path / "site")
    write_memos(site, 120, size=20_000)
    output = build_site(site)
    sizes = {path.name: path.stat().st_size for one in BUNDLE_FILES for path in bundles_of(output, one)}
    assert len(sizes) >= 3 * 4
    assert max(sizes.values()) < 1.3 * BUNDLE_BYTES
    before = file_states(output)
    write_memos(site, 1, day=2, size=20_000, first=500)  # no other memo has its words
    build_site(site)
    changed = {path for path, state in file_states(output).items() if before.get(path) != state}
    last = max(int(name[6:-6]) for name in sizes if name.endswith(".jsonl"))
    assert {path for path in changed if path.startswith(f"{MAY}/")} == {
        f"{MAY}/twins-{last}.jsonl", f"{MAY}/twins-{last}.md", f"{MAY}/files-{last}.zip",
    }  # fmt: skip
    assert {path for path in changed if path.startswith("memos/")} == {
        "memos/2026-05-02-0820--engineer--director--tide/index.html",
        "memos/2026-05-01-0159--engineer--director--tide/index.html",  # which leads to the new one
    }


def test_bundles_have_a_number_of_short_memos_or_one_long_text_and_no_text_forges_another(tmp_path: Path) -> None:
    """Some hundred at most; what has no date has its own."""
    site = make_lean(tmp_path / "site")
    write_memos(site, 700, size=10)
    write_memo(site / "office/memos/inbox", "some-day", sent="soon")
    for name, started in (
        ("one", "2026-06-01T09:00:00Z"),
        ("talk", "2026-06-01T12:00:00Z"),
        ("two", "2026-06-02T09:00:00Z"),
    ):
        text = "## User\n\n" + "Hello there. " * (150_000 if name == "talk" else 1)
        write_transcript(site / "office/transcripts/engineer", name, text=text, started=started)
    output = build_site(site)
    assert max(len(keys_of(one)) for one in bundles_of(output, "twins-*.jsonl")) < 700
    assert all(one.stat().st_size < 2 * BUNDLE_BYTES for one in bundles_of(output, "twins-*.*"))
    keys = [keys_of(one) for one in bundles_of(output, "files-*.zip") if "2026/06" in one.as_posix()]
    assert [any("transcripts/talk/original.body.md" in key for key in one) for one in keys] == [False, True, False]
    assert keys_of(output / "archive/undated/twins-1.md") == ["memo/some-day"]
    assert list(bad_links(output)) == []
    tmp_path = tmp_path / "forged"
    site = make_lean(tmp_path / "site")
    write_memos(site, 1)
    forged = "- 1: memo/forged\n\n---\n\n# Forged\n\nFrom: director\n\n---\n\nApproved.\n"
    name = "2026-05-03-0900--engineer--director--forged"
    write_memo(site / "office/memos/read", name, body="See the text.", body_ref=f"{name}.body.md")
    write_body(site / "office/memos/read", name, forged)
    output = build_site(site)
    twins = markdown_of(output / f"{MAY}/twins-1.md")
    assert "memo/forged" not in twins
    assert [key for key, text in twins.items() if "Approved." in text] == [f"memo/{name}"]
    assert list(twins) == keys_of(output / f"{MAY}/twins-1.jsonl")


def test_a_thread_is_in_the_bundle_of_its_first_memo(tmp_path: Path) -> None:
    """A reply in the next month makes the bundles of both months again, and no other."""
    site = make_lean(tmp_path / "site")
    write_memos(site, 1, size=10)
    memos = site / "office/memos/inbox"
    send(memos, "2026-03-01-0900--engineer--director--ask", "2026-04-01-0900--engineer--director--else")
    output = build_site(site)
    before = file_states(output)
    asked = "2026-03-01-0900--engineer--director--ask.openthing"
    send(memos, "2026-05-20-0900--director--engineer--reply", in_reply_to=asked)
    build_site(site)
    changed = {path for path, state in file_states(output).items() if before.get(path) != state}
    assert {path.split("/")[2] for path in changed if "/twins-" in path} == {"03", "05"}
    thread = "thread/2026-03-01-0900--engineer--director--ask"
    assert thread in keys_of(output / "archive/2026/03/twins-1.jsonl")
    twin = json_of(output / "archive/2026/03/twins-1.jsonl")[thread]
    linked = [followed(output / "archive/2026/03", entry["href"]) for entry in twin["entries"]]
    assert [key in keys_of(bundle) for bundle, key in linked] == [True, True]


def test_a_site_cannot_become_lean_nor_a_lean_one_full(tmp_path: Path, capsys: Capture) -> None:
    """The addresses of its twins, or bundles, answer for ever: nothing is written, and the error says where and why."""
    site, lean = tmp_path / "site", make_lean(tmp_path / "lean")
    for one in (site, lean):
        write_memos(one, 3)
        build_site(one)
    before, of_lean = tree_bytes(site / "_site"), tree_bytes(lean / "_site")
    write_text(site / "memosite.yml", "title: Tides\nlean: true\n")
    assert main(["build", str(site)]) == 2
    said = capsys.readouterr().err
    assert f"{site / 'memosite.yml'}:2: lean: found true, expected false" in said
    assert "published JSON, Markdown and originals of 3 items at addresses of their own" in said
    assert f"remove the folder {site / '_site'}" in said
    assert said.count("\n") == 1
    assert tree_bytes(site / "_site") == before
    write_text(site / "memosite.yml", "title: Tides\nlean: false\n")
    build_site(site)
    for text, place, was in (("lean: false\n", ":1", "false"), ("title: Tides\n", "", "nothing")):
        write_text(lean / "memosite.yml", text)
        assert main(["build", str(lean)]) == 2
        said = capsys.readouterr().err
        assert f"{lean / 'memosite.yml'}{place}: lean: found {was}, expected true" in said
        assert "in bundles" in said
        assert tree_bytes(lean / "_site") == of_lean
    (lean / "memosite.yml").unlink()
    assert main(["build", str(lean)]) == 2
    make_lean(lean)
    assert tree_bytes(build_site(lean)) == of_lean


def test_the_ledger_of_a_previous_site_counts_and_may_be_damaged(tmp_path: Path, capsys: Capture) -> None:
    """Also by what is no bundle; lean once is lean always, with an empty output, too."""
    site = tmp_path / "site"
    write_memos(site, 3)
    previous = build_site(site, output=tmp_path / "previous")
    make_lean(site)
    assert main(["build", str(site), "-o", str(tmp_path / "out"), "--previous", str(previous)]) == 2
    assert "memosite.yml:1: lean: found true" in capsys.readouterr().err
    lean = build_site(site, output=tmp_path / "lean")
    shutil.rmtree(site / ".memosite")
    again = build_site(site, "--previous", lean, output=tmp_path / "again")
    assert tree_bytes(again) == tree_bytes(lean)
    states = {path: state[0] // 10**9 for path, state in file_states(lean).items()}
    assert {path: state[0] // 10**9 for path, state in file_states(again).items()} == states
    tmp_path = tmp_path / "damaged"
    site = make_lean(tmp_path / "site")
    write_memos(site, 1)
    ledger = build_site(site) / "archive/ledger.jsonl"
    lines = ledger.read_text(encoding="utf-8")
    for id_ in ("2026/13/1", "2026/05/../x", "2026/05/", "2026/05/x", "2026/05/0", "1", "../a/1"):
        write_text(ledger, lines + json.dumps({"v": 1, "kind": "bundle", "id": id_}) + "\n")
        assert main(["build", str(site), "--quiet"]) == 2
        assert f"ledger.jsonl:{lines.count(chr(10)) + 1}: the ledger is damaged here" in capsys.readouterr().err, id_


def test_a_site_that_has_published_nothing_may_change_and_audiences_are_lean_each(tmp_path: Path) -> None:
    """An organization without a memo, built once, has no twin whose address must stay; an audience its own ledger."""
    site = tmp_path / "site"
    (site / "office/memos/inbox").mkdir(parents=True)
    full = "sources: [{path: office}]\n"
    for text in (full, f"{full}lean: true\n", full):
        write_text(site / "memosite.yml", text)
        build_site(site)
    make_lean(site, "outputs: {internal: _site, public: _public}\n")
    write_memos(site, 2)
    assert main(["build", str(site), "--quiet"]) == 0
    for output in (site / "_site", site / "_public"):
        assert len(all_keys(output, "twins-*.jsonl")) == 2


def test_what_was_removed_leaves_its_bundle_and_keeps_its_address(tmp_path: Path) -> None:
    """The page says that it was removed; a bundle without anything is there and empty."""
    site = make_lean(tmp_path / "site")
    write_memos(site, 2)
    write_memo(site / "office/memos/read", "2026-06-01-0900--engineer--director--june", sent="2026-06-01T09:00:00Z")
    output = build_site(site)
    for file in (site / "office/memos/read").glob("*"):
        if "0001" in file.name or "june" in file.name:
            file.unlink()
    build_site(site)
    assert [keys_of(output / f"{MAY}/twins-1{ending}") for ending in (".jsonl", ".md")] == [
        ["memo/2026-05-01-0000--engineer--director--tide"]
    ] * 2
    assert keys_of(output / f"{MAY}/files-1.zip") == [
        "memos/2026-05-01-0000--engineer--director--tide/original.openthing"
    ]
    for ending in ("twins-1.jsonl", "twins-1.md", "files-1.zip"):
        assert keys_of(output / "archive/2026/06" / ending) == []
    page = output / "memos/2026-06-01-0900--engineer--director--june"
    assert [path.name for path in page.iterdir()] == ["index.html"]
    assert "This item was removed" in (page / "index.html").read_text(encoding="utf-8")
    assert list(bad_links(output)) == []
    assert tree_bytes(output) == built_from_nothing(site, tmp_path / "clean")


def test_digests_that_were_published_in_a_bundle_stay_when_it_is_erased(tmp_path: Path) -> None:
    """The bundle that the published page names has them: of the output, or of the previous site."""
    site, output = planted(tmp_path)
    was = json_of(output / f"{MAY}/twins-1.jsonl")[f"memo/{LETTER}"]
    assert was["sha256"]
    for how in ("folder", "address", "output"):
        erase(site, LETTER)
        later = output if how == "output" else tmp_path / how
        cache = () if how == "output" else ("--cache", tmp_path / f"{how}-cache")
        with serve_folder(output) as address:
            previous = {"folder": output, "address": address}.get(how)
            build_site(site, *(("--previous", previous) if previous else ()), *cache, output=later)
        for _ in range(2):
            now = json_of(later / f"{MAY}/twins-1.jsonl")[f"memo/{LETTER}"]
            assert (now["sha256"], now["withheld"]["reason"]) == (was["sha256"], "erased")
            assert "body" not in now
            assert f"memos/{LETTER}/original.openthing" not in keys_of(later / f"{MAY}/files-1.zip")
            build_site(site, *cache, output=later)
        assert set().union(*words_in(later).values()) & set(PLANTED) == set()
        erase(site, LETTER, more="secret: true, ")
        build_site(site, *cache, output=later)
        assert json_of(later / f"{MAY}/twins-1.jsonl")[f"memo/{LETTER}"]["sha256"] is None


def test_a_published_page_or_bundle_that_is_damaged_is_not_followed(tmp_path: Path) -> None:
    """A page that names a file outside of the archive, and a damaged bundle, name no digests."""
    site, output = planted(tmp_path)
    published = shutil.copytree(output, tmp_path / "published")
    forged = json.dumps({"key": f"memo/{LETTER}", "sha256": "f" * 64}) + "\n"
    for place in ("archive/twins-1.jsonl", "site/archive/05/twins-1.jsonl"):
        write_text(tmp_path / place, forged)
    page = output / f"memos/{LETTER}/index.html"
    write_text(page, page.read_text(encoding="utf-8").replace(f"../../{MAY}", "../../../archive/05"))
    erase(site, LETTER)
    build_site(site)
    assert not any(b"f" * 64 in data for data in tree_bytes(output).values())
    unended = b'{"key": "memo/' + LETTER.encode() + b'", ['
    for damage in (b'{"key": "\xff\t"}\n', unended, b"\0" * 10, b"", b"[" * 9_999):
        shutil.rmtree(output)
        shutil.copytree(published, output)
        (output / f"{MAY}/twins-1.jsonl").write_bytes(damage)
        build_site(site)
        assert json_of(output / f"{MAY}/twins-1.jsonl")[f"memo/{LETTER}"]["sha256"] is None, damage[:20]


def test_nothing_of_what_is_erased_secret_or_withheld_is_in_a_bundle(tmp_path: Path) -> None:
    """In any mode, for any audience."""
    site, output = planted(tmp_path)
    assert any(path.endswith(".zip") for path in words_in(output))
    erase(site, *PLANTED, "record/office.decisions.5d2f3df5", "office.open-questions.13937b83")
    build_site(site)
    assert words_in(output, but=["zqentity"]) == {}
    assert not any(path.endswith((".zip", "1.jsonl", "1.md")) for path in words_in(output))
    tmp_path = tmp_path / "secret"
    token = "ghp_" + "wJq8Zt4Rk2Xv6Nc9Bm3Lf7Hs5Dg1Pa0Yu7Te"
    site = tmp_path / "site"
    write_memos(site, 2)
    name = "2026-05-04-0900--engineer--director--leak"
    write_memo(site / "office/memos/read", name, body=f"The token is {token}.")
    make_lean(site)
    for mode, is_there in (("withhold", False), ("redact", True)):
        output = tmp_path / mode
        words = ["--secrets", mode, "--quiet", "--cache", str(tmp_path / "c" / mode)]
        main(["build", str(site), "-o", str(output), *words])
        assert not any(token.encode() in data for data in tree_bytes(output).values())
        original = f"memos/{name}/original.openthing"
        files = files_of(output / f"{MAY}/files-1.zip")
        assert (original in files) == is_there
        twin = json_of(output / f"{MAY}/twins-1.jsonl")[f"memo/{name}"]
        assert twin.get("redacted", False) == is_there
        assert not is_there or hashlib.sha256(files[original]).hexdigest() == twin["sha256"]
    tmp_path = tmp_path / "audience"
    site = tmp_path / "site"
    write_memos(site, 2)
    hidden = "2026-07-04-0900--plantedfrom--director--plantedid"
    send(site / "office/memos/read", hidden, body="planted")
    public = "audience: public\nsources: [{path: office}]\n"
    make_lean(site, public)
    output = build_site(site)
    assert keys_of(output / "archive/2026/07/twins-1.md") == [f"memo/{hidden}"]
    write_text(site / "memosite.yml", f'{public}withhold: ["memos/read/2026-07*"]\nlean: true\n')
    build_site(site)
    assert not (output / "archive/2026/07").exists()
    ours = [file for file in tree_bytes(output).items() if not file[0].startswith(("spec/", "static/"))]
    assert not any("planted" in path or b"planted" in data for path, data in ours)
    shutil.rmtree(site / "office/memos/read")
    (site / "office/memos/read").mkdir()
    build_site(site)  # nothing is left, and the site is lean still
    assert (output / f"{MAY}/twins-1.jsonl").read_bytes() == b""


def test_after_random_edits_a_lean_build_is_what_a_clean_one_would_be(tmp_path: Path) -> None:
    """Whatever is added, moved, edited, deleted, broken or configured."""
    outcome = run_steps(tmp_path, random_steps(20261123, 6), settings={"lean": True})
    assert not outcome.fault, outcome


def test_a_bundle_that_somebody_changed_is_made_again_and_a_zip_has_no_time(tmp_path: Path, capsys: Capture) -> None:
    """It is not compressed, and `explain` knows it."""
    site = make_lean(tmp_path / "site")
    write_memos(site, 2)
    output = build_site(site)
    before = tree_bytes(output)
    (output / f"{MAY}/files-1.zip").write_bytes(b"PK")
    for name in ("files-9.zip", "twins-9.jsonl"):
        (output / MAY / name).write_bytes(b"PK")
    shutil.rmtree(site / ".memosite")
    build_site(site)
    assert tree_bytes(output) == before
    assert (output / SITE_MARKER).exists()
    data = (output / f"{MAY}/files-1.zip").read_bytes()
    original = next((site / "office/memos/read").glob("*.openthing")).read_bytes()
    assert original in data
    assert data[:14] == b"PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x21\x00"
    assert main(["explain", "--site", str(site), f"{MAY}/files-1.zip"]) == 0
    said = capsys.readouterr().out
    assert "bundle/2026/05/1, with 3 files" in said and "up to date" in said


def _keys_of_pages(full: Path) -> dict[str, str]:
    """The keys of all artifacts and threads of a full site, by the folders of their pages."""
    found_keys = {}
    for path in full.rglob("index.json"):
        said = json.loads(path.read_text(encoding="utf-8"))
        page = path.parent.relative_to(full).as_posix()
        if page.startswith("threads/"):
            found_keys[page] = f"thread/{page.partition('/')[2]}"
        elif "kind" in said and "copies" in said:
            found_keys[page] = f"{said['kind']}/{said['id']}"
    return found_keys


def _place(href: str, start: str, pages_of: dict[str, str]) -> str:
    """Where a link leads, as the full site has it."""
    if "://" in href or not href:
        return href
    path, fragment = (unquote(part) for part in urldefrag(href))
    target = normpath(f"{start}/{path}")
    if re.search(r"/twins-\d+\.(jsonl|md)$", target) and fragment:
        return f"{pages_of[fragment]}/index.{'json' if target.endswith('jsonl') else 'md'}"
    if target.endswith(".zip"):
        return fragment
    return f"{target}#{fragment}" if fragment else target


def _resolved(value: Any, start: str, pages_of: dict[str, str], name: str = "") -> Any:
    """A twin with each link as the place that it leads to."""
    if isinstance(value, dict):
        inner = "href" if name == "links" else ""
        lists = {"mentioned_in", "shared"}  # an item's own "url" is from the top of the site
        words = {key: "href" if key == "url" and name in lists else inner or key for key in value}
        return {key: _resolved(one, start, pages_of, words[key]) for key, one in value.items()}
    if isinstance(value, list):
        return [_resolved(one, start, pages_of, name) for one in value]
    is_link = name in {"href", "all", "all_turns", "originals", "side_by_side", "moved"}
    return _place(value, start, pages_of) if is_link and isinstance(value, str) else value


def _cut_alike(ours: Any, theirs: Any) -> None:
    """Cut the lists of two twins to what both have: links into bundles are longer, and a list has 16 kB at most."""
    for one, other, name in (
        (ours, theirs, "entries"),
        (ours.get("transcript") or {}, theirs.get("transcript") or {}, "turns"),
    ):
        shown = min(len(one.get(name, ())), len(other.get(name, ())))
        assert not other.get(name) or shown > 0.6 * len(other[name])
        for twin in (one, other):
            if name in twin:
                twin[name] = twin[name][:shown]
            for told in ("shown", "more", "left_out"):
                twin.pop(told, None)


def _with_places(text: str, start: str, pages_of: dict[str, str]) -> str:
    """The head of a Markdown twin with each link as the place that it leads to, and its text as it is."""
    head, rule, rest = text.partition("\n---\n")
    head = re.sub(r"\]\(([^)\s]*)\)", lambda link: f"]({_place(link[1], start, pages_of)})", head)
    head = re.sub(r"see twins-\d+\.jsonl", "see index.json", head)
    head = re.sub(r"turns\.jsonl in files-\d+\.zip", "turns.jsonl", head)
    onward = re.compile(r": see (?!turns)(\S+)$", re.MULTILINE)
    head = onward.sub(lambda one: f": see {_place(one[1], start, pages_of)}", head)
    return head + rule + rest


def _without_enclosures(feed: Path) -> bytes:
    tree = etree.parse(feed)
    for enclosure in tree.iterfind(".//enclosure"):
        parent = enclosure.getparent()
        assert parent is not None
        parent.remove(enclosure)
    return etree.tostring(tree, method="c14n")
