"""What cites the archive: `/citations/`, "Cited by" on each page, and findings on what no longer holds (SPEC 7)."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.cli import main
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.sites import build_site, built_from_nothing, tree_bytes

LOAD = "2026-05-01-1430--engineer--the-load"
TALK = f"transcript/{LOAD}"
NOTE = "2026-05-03-0900--director--engineer--the-barges"
SAID = "There are 39 barges in the lock, and none of them may leave before noon."
PEOPLE = [{"position": "engineer", "session_arc": "arc-1"}, {"position": "director"}]


class Site:
    """A site with a transcript, a memo that cites one of its turns, and a book that does so, too."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.say(SAID)
        write_text(folder / "memosite.yml", 'title: Harbour\nsources: [{path: office}]\ncitations: ["book/**/*.md"]\n')
        self.cited = self.cite(f"{TALK}#t2", "--quote", SAID)
        self.write(f"The lock is full.\n\n{self.cited}\nSo we wait.\n")
        write_text(folder / "book/one.md", f"# One\n\n{self.cited}")

    def say(self, text: str) -> None:
        """Let the second turn of the transcript say this."""
        talk = f"## User\n\nHow many are there?\n\n## Assistant\n\n{text}\n"
        write_transcript(self.folder / "office/transcripts/engineer", LOAD, text=talk, participants=PEOPLE)

    def cite(self, *words: str) -> str:
        """What `cite` writes."""
        assert main(["cite", *words, "--format", "markdown", "--site", str(self.folder)]) == 0
        return self.capsys.readouterr().out

    def write(self, text: str) -> None:
        """Let the memo say this."""
        write_memo(self.folder / "office/memos/inbox", NOTE, sender="director", to="engineer", body=text)

    def check(self) -> list[tuple[str, str]]:
        """The files and messages of the findings on citations."""
        main(["check", str(self.folder), "--format", "json"])
        found = json.loads(self.capsys.readouterr().out)
        listed = found["findings"] if isinstance(found, dict) else found
        return [(one["path"], one["message"]) for one in listed if one["rule"] == "citation-broken"]

    def configure(self, text: str) -> None:
        """Add to the configuration."""
        with (self.folder / "memosite.yml").open("a") as file:
            file.write(text)

    def page(self, path: str) -> str:
        """A page of the site as it was built last."""
        return (self.folder / "_site" / path).read_text()


@pytest.fixture
def site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Site:
    """The site."""
    return Site(tmp_path / "site", capsys)


def test_all_citations_are_listed_at_both_ends_and_judged_again_after_an_edit(site: Site) -> None:
    """By paragraph or file and line, on the page and its twin; each incremental build is that from nothing."""
    build_site(site.folder)
    page = site.page("citations/index.html")
    assert "2 hold" in page and "do not hold" not in re.sub(r"<p class=.facts.>.*", "", page)
    assert re.search(rf'href="\.\./memos/{NOTE}/index\.html#p-[0-9a-f]{{8}}"', page)
    tree: Any = html.fromstring(page)
    links = tree.xpath("//ul[@class='citations']/li/p[1]/a[last()]")
    assert len(links) == 2 and all(link.text_content().endswith(", turn 2") for link in links)
    assert f'href="../transcripts/{LOAD}/index.html#t2"' in page and re.search(r"book/one\.md:\d", page)
    assert site.check() == []
    page = site.page(f"transcripts/{LOAD}/index.html")
    assert "Cited by" in page and 'href="index.html#t2"' in page
    listed = json.loads(site.page(f"transcripts/{LOAD}/index.json"))["cited_by"]
    told = [(one["by"], one["anchor"], one["state"]) for one in listed]
    assert told == [(f"memo/{NOTE}", "t2", "holds"), (None, "t2", "holds")]
    assert "Cited by" not in site.page(f"memos/{NOTE}/index.html")
    build_site(site.folder)
    edits: tuple[Callable[[], object], ...] = (
        lambda: site.say(SAID + " The keeper knows."),
        lambda: site.say("Nobody has counted them."),
        lambda: write_text(site.folder / "book/two.md", site.cited * 2),
        lambda: site.write("Nothing is cited here."),
        lambda: write_text(site.folder / "book/one.md", "# Nothing is cited here."),
        lambda: site.say(SAID),
    )
    for number, edit in enumerate(edits):
        edit()
        build_site(site.folder)
        assert tree_bytes(site.folder / "_site") == built_from_nothing(site.folder, site.folder.parent / f"{number}")


def test_a_citation_that_no_longer_holds_is_a_finding(site: Site) -> None:
    """Of the memo at the line of its body, of manuscript and document at their own line; also of what is gone."""
    text = f"---\ntitle: Locks\n---\n# Locks\n\n{site.cited}"
    write_text(site.folder / "office/decisions/0001-locks.md", text)
    site.say(SAID.replace("39", "38"))
    found = site.check()
    assert [path.rpartition("/")[2] for path, _ in found] == ["one.md", "0001-locks.md", f"{NOTE}.openthing"]
    expected = f'citation of {TALK}#t2 does not hold: changed, the source has "38", not "39"'
    assert [message for _, message in found] == [expected] * 3
    main(["check", str(site.folder), "--format", "text"])
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "sha256:" in one)
    assert f"0001-locks.md:{line}" in site.capsys.readouterr().out
    build_site(site.folder)
    assert "3 do not hold" in site.page("citations/index.html")
    assert "citation-broken" in site.page(f"memos/{NOTE}/index.html")
    assert "citation-broken" in site.page("health/index.html")
    for path in (site.folder / "office/transcripts/engineer").iterdir():
        path.unlink()
    assert len(site.check()) == 3


def test_what_differs_is_marked_on_pages_and_told_in_words_by_findings(site: Site) -> None:
    """Whatever the words are: marks of a diff and of HTML in them are words; of many differences the first are told."""
    begin, end = "We counted the boats in the lock at nine,", "and all of them may leave before noon if the gate opens."
    for said, cited, differs, told in (
        ("38 barges", "39 barges", ["-38", "+39"], 'the source has "38", not "39"'),
        ("38 old barges", "38 barges", ["-old"], 'the source also has "old"'),
        ("38 barges", "38 <b>old</b> barges", ["+<b>old</b>"], 'the source does not have "<b>old</b>"'),
        ("[-38-] barges", "{+39+} barges", ["-[-38-]", "+{+39+}"], 'the source has "[-38-]", not "{+39+}"'),
    ):
        site.say(f"{begin} {cited} {end}")
        written = site.cite(f"{TALK}#t2", "--quote", f"{begin} {cited} {end}")
        site.say(f"{begin} {said} {end}")
        site.write(written)
        write_text(site.folder / "book/one.md", "# Nothing is cited here.")
        build_site(site.folder)
        for path in ("citations/index.html", f"transcripts/{LOAD}/index.html"):
            tree: Any = html.fromstring(site.page(path))
            (row,) = tree.xpath("//ul[@class='citations']/li")
            marks = row.xpath("./p[@class='facts differs']/*[self::del or self::ins]")
            assert [f"{'-' if one.tag == 'del' else '+'}{one.text}" for one in marks] == differs, path
            assert row.text_content().split()[:3] == ["does", "not", "hold"]
        ((_, message),) = site.check()
        assert message == f"citation of {TALK}#t2 does not hold: changed, {told}"
        health: Any = html.fromstring(site.page("health/index.html"))
        assert message[1:] in " ".join(health.text_content().split())


def test_a_citation_of_a_passage_that_is_not_there_leads_to_the_item_and_says_so(site: Site) -> None:
    """A link to an anchor that no page has would show the head of the page, as if that were meant."""
    elsewhere = re.sub(r"sha256:[0-9a-f]+", f"sha256:{'0' * 64}", site.cited.replace("#t2", "#t9").replace("39", "38"))
    site.write(f"The lock is full.\n\n{elsewhere}\n")
    build_site(site.folder)
    for path in ("citations/index.html", f"transcripts/{LOAD}/index.html"):
        page = site.page(path)
        assert "has no #t9" in page and 'index.html#t9"' not in page and 'href="#t9"' not in page, path
    assert f'transcripts/{LOAD}/index.html#t2"' in site.page("citations/index.html"), "that of the book is there"


def test_a_digest_of_something_else_is_no_citation_and_every_command_knows_its_address(site: Site) -> None:
    """Neither a container's nor another archive's; a search, which knows no address, keeps the same findings."""
    digest = "sha256:" + "0" * 64
    other = site.cited.replace(LOAD, "2026-01-01-0900--a--b").replace("(<", "(<https://memos.example.net/")
    site.write(f"Pulled registry.example.org/lock@{digest}.\n\nSee https://example.net/x {digest}\n\n{other}\n")
    assert site.check() == []
    build_site(site.folder)
    assert "1 hold" in site.page("citations/index.html")
    site.configure("base_url: https://memos.example.org/\n")
    invented = site.cited.replace(LOAD, "2026-01-01-0900--a--b").replace("(<", "(<https://memos.example.org/")
    site.write(f"See this:\n\n{invented}\n")
    build_site(site.folder)
    site.write(f"See:\n\n{invented}\n")
    main(["search", "lock", "--site", str(site.folder)])
    site.capsys.readouterr()
    assert len(site.check()) == 1


def test_a_public_site_names_neither_manuscripts_nor_what_it_withholds(site: Site) -> None:
    """Of a manuscript whose citation does not hold, the operator is told; what is withheld judges nobody."""
    configuration = (site.folder / "memosite.yml").read_text()
    site.configure('audience: public\nwithhold: ["transcripts/**"]\n')
    build_site(site.folder)
    assert not [name for name, data in tree_bytes(site.folder / "_site").items() if LOAD.encode() in data]
    write_text(site.folder / "memosite.yml", configuration + "audience: public\nwithhold_raw: false\n")
    site.say("Nobody has counted them.")
    assert {path for path, _ in site.check()} >= {"book/one.md"}
    build_site(site.folder)
    assert not [name for name, data in tree_bytes(site.folder / "_site").items() if b"book/one" in data]


def test_an_erased_source_is_not_judged(site: Site) -> None:
    """What was erased can be neither confirmed nor denied: that is no fault of who cites it."""
    build_site(site.folder)
    site.configure(f"erase: [{{id: {LOAD}, why: it was wrong, on: 2026-05-20}}]\n")
    assert site.check() == []
    build_site(site.folder)
    assert "2 not judged" in site.page("citations/index.html")
    for page in ("citations", f"transcripts/{LOAD}"):
        assert "not judged" in site.page(f"{page}/index.html") and "39 barges" not in site.page(f"{page}/index.html")
    assert "39 barges" not in site.page(f"transcripts/{LOAD}/index.json")


def test_long_lists_are_split_and_a_manuscript_is_screened_like_a_source(site: Site) -> None:
    """500 a page, of what is cited the newest 200, of a manuscript 1,000; a key in a quote is nowhere."""
    write_text(site.folder / "book/one.md", "\n".join([site.cited] * 1_100))
    build_site(site.folder)
    assert "1,001 hold" in site.page("citations/index.html")
    counts = [site.page(f"citations/{part}").count("<blockquote") for part in ("index.html", "2/index.html")]
    assert counts == [500, 500] and site.page("citations/3/index.html").count("<blockquote") == 1
    page = site.page(f"transcripts/{LOAD}/index.html")
    assert "Showing the newest 200 of 1001" in page
    assert max(map(len, (page, *(site.page(f"citations/{one}index.html") for one in ("", "2/"))))) < 1_000_000
    assert len(site.page(f"transcripts/{LOAD}/index.json")) < 40_000
    key = "AKIA" + "Z7QH3XWMK2TPLV5D"
    write_text(site.folder / "book/one.md", site.cited.replace("39 barges", f"39 barges {key}"))
    build_site(site.folder)
    files = [*(site.folder / "_site").rglob("*"), *(site.folder / ".memosite").rglob("*")]
    assert not [path for path in files if path.is_file() and key.encode() in path.read_bytes()]
    assert "39 barges" in site.page("citations/index.html") and "book/one.md" in site.page("citations/index.html")


def test_a_word_document_is_a_manuscript(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through Pandoc; where that is not installed, or cannot read one, a finding says so; the others are checked."""
    paper = site.folder / "book/paper.docx"
    text = f"The engineer said so.\n\n{site.cited}"
    subprocess.run(["pandoc", "-f", "markdown", "-o", str(paper)], input=text, text=True, check=True, timeout=600)
    site.configure('citations: ["book/*"]\n')
    configuration = (site.folder / "memosite.yml").read_text().replace('citations: ["book/**/*.md"]\n', "")
    write_text(site.folder / "memosite.yml", configuration)
    without = site.folder.parent / "bin"
    without.mkdir()
    (without / "git").symlink_to(shutil.which("git") or "")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(without))
        build_site(site.folder)
        main(["check", str(site.folder), "--format", "text"])
        assert "book/paper.docx:1: warning: pandoc cannot be run" in site.capsys.readouterr().out
        assert "2 hold" in site.page("citations/index.html") and "manuscript-unreadable" in site.page(
            "health/index.html"
        )
    build_site(site.folder)
    page = site.page("citations/index.html")
    assert "3 hold" in page and re.search(r"book/paper\.docx:\d+", page)
    assert "manuscript-unreadable" not in site.page("health/index.html")
    site.say(SAID.replace("39", "38"))
    assert "book/paper.docx" in {path for path, _ in site.check()}
    write_text(paper, "This is no ZIP file.")
    main(["check", str(site.folder), "--format", "text"])
    assert "book/paper.docx:1: warning: pandoc cannot read it" in site.capsys.readouterr().out
    assert len(site.check()) == 2
