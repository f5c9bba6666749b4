"""`memosite verify FILE…`: every citation that memosite writes is read back, and put in the right tier (SPEC 7)."""

import hashlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memosite.cli import main
from memosite.quotes.citations import CONVERTED_ENDINGS, READERS, STRANGE_ENDINGS
from tests.support.files import write_text
from tests.support.memos import write_memo, write_org, write_transcript
from tests.support.quotations import Writer, altered
from tests.support.repos import Repo
from tests.support.sites import build_site

Capture = pytest.CaptureFixture[str]

LOAD = "2026-05-01-1430--engineer--the-load"
TALK = f"transcript/{LOAD}"
BODY = f"transcripts/engineer/{LOAD}.body.md"
PEOPLE = [{"position": "engineer", "session_arc": "arc-1"}, {"position": "director"}]


def talk(turns: list[str]) -> str:
    """A transcript in which User and Assistant take turns."""
    return "\n".join(f"## {'User' if not number % 2 else 'Assistant'}\n\n{text}\n" for number, text in enumerate(turns))


UNQUOTED = "the passage exists; no words were checked"
EDITORIAL = "exact except for marked editorial changes"

TURNS = [
    "How many barges are there, and when does the tide turn?",
    "There are 39 barges in the lock, and none of them may leave before noon.",
    *("Then write that down for the director, please.", "The lock keeper gets a copy of it before the evening."),
]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repo with a transcript, committed."""
    repo = Repo(tmp_path / "site/office")
    write_transcript(repo.root / "transcripts/engineer", LOAD, text=talk(TURNS), participants=PEOPLE)
    repo.commit("the load")
    return repo


class Desk:
    """Runs `cite` and `verify` on a site."""

    def __init__(self, site: Path, capsys: Capture) -> None:
        self.site, self.capsys = site, capsys

    def cite(self, *words: str, format_: str = "markdown") -> str:
        """What `cite` writes."""
        assert main(["cite", *words, "--format", format_, "--site", str(self.site)]) == 0
        return self.capsys.readouterr().out

    def verify(self, *words: object, code: int = 0) -> list[dict[str, Any]]:
        """The verdicts."""
        assert main(["verify", *map(str, words), "--json", "--site", str(self.site)]) == code
        found = json.loads(self.capsys.readouterr().out)
        assert isinstance(found, list)
        return found

    def lines(self, *words: object, code: int = 0) -> list[str]:
        """What people are shown."""
        assert main(["verify", *map(str, words), "--site", str(self.site)]) == code
        return self.capsys.readouterr().out.splitlines()

    def judged(self, ref: str, *changes: tuple[str, str], format_: str = "text") -> dict[str, Any]:
        """The verdict on a citation that was changed; what is changed must be there."""
        written = self.cite(ref, format_=format_)
        for old, new in changes:
            assert re.search(old, written), written
            written = re.sub(old, new, written, count=1)
        paper = write_text(self.site.parent / f"paper{SUFFIXES[format_]}", written)
        return self.verified(paper)

    def verified(self, *words: object) -> dict[str, Any]:
        """The only verdict."""
        code = main(["verify", *map(str, words), "--json", "--site", str(self.site)])
        [found] = json.loads(self.capsys.readouterr().out)
        assert code == int(not found["holds"])
        return dict(found)


@pytest.fixture
def desk(repo: Repo, capsys: Capture) -> Desk:
    """Cites and verifies what the repo holds."""
    return Desk(repo.root.parent, capsys)


SUFFIXES = {"markdown": ".md", "html": ".html", "bibtex": ".bib", "csl-json": ".json", "text": ".txt"}


def inside(format_: str, written: str) -> str:
    """Citations in a document of their format."""
    if format_ == "markdown":
        return f"# A paper\n\nAs was said:\n\n{written}\nAnd so on.\n"
    if format_ == "html":
        return f"<!doctype html>\n<title>A paper</title>\n<p>As was said:</p>\n{written}<p>And so on.</p>\n"
    return written


def test_every_citation_is_read_back(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In documents of each format, on their lines; also from standard input, where the format is told by what it is."""
    for format_, suffix in SUFFIXES.items():
        written = desk.cite(f"{LOAD}#t1", f"{LOAD}#t2-t3", LOAD, f"{LOAD}#t4", format_=format_)
        document = write_text(tmp_path / f"papers/{format_}/x{suffix}", inside(format_, written))
        found = desk.verify(document)
        assert [(one["ref"], one["tier"], one["check"], one["holds"]) for one in found] == [
            (f"{TALK}#t1", "exact", "right", True),
            (f"{TALK}#t2-t3", EDITORIAL, "right", True),  # both turns are quoted
            (TALK, UNQUOTED, "not checked", True),
            (f"{TALK}#t4", "exact", "right", True),
        ]
        text = document.read_text(encoding="utf-8").split("\n")
        assert all("sha256:" in text[one["line"] - 1] for one in found)
        written = desk.cite(f"{LOAD}#t2", format_=format_)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(written.encode())))
        assert [one["ref"] for one in desk.verify("-")] == [f"{TALK}#t2"]
    write_text(tmp_path / "papers/.git/x.md", "sha256:")
    found = desk.verify(tmp_path / "papers")  # of a folder all its documents, in order
    assert [Path(one["file"]).parent.name for one in found[::4]] == sorted(SUFFIXES)


def quoting(desk: Desk, tmp_path: Path, quote: str, reference: str = f"{LOAD}#t2") -> Path:
    """A document with a citation whose quote was edited."""
    written = desk.cite(reference)
    _, _, below = written.partition("\n>\n")
    return write_text(tmp_path / "paper.md", f"> {quote}\n>\n{below}")


def test_verdicts_and_errors_are_for_people(desk: Desk, tmp_path: Path) -> None:
    """File, line, tier, what differs, a count, or what to do, printable; the beginning of an id is nothing's name."""
    paper = quoting(desk, tmp_path, "There are 38 barges in the lock, and none of them")
    assert desk.lines(paper, code=1) == [
        f"{paper}:3: changed: {TALK}#t2",
        "    There are [-39-] {+38+} barges in the lock, and none of them",
        "1 citation: 0 hold, 1 changed",
    ]
    assert desk.lines(paper, "--quiet", code=1) == []
    for quote, holds in (
        ("There are 39 barges […] none of them may leave before", True),
        ("Wholly other words", False),
    ):
        [found] = desk.verify(quoting(desk, tmp_path, quote), code=int(not holds))
        assert (found["tier"], found["holds"]) == (EDITORIAL if holds else "not found", holds)
    for name in ("a.md", "b.txt", "c.bib"):
        write_text(tmp_path / "papers" / name, "Nothing is cited here.\n")
    for words, count in (["papers"], 1), (["papers/c.bib"], 0), (["papers/a.md", "--quotes"], 0), (["papers/a.md"], 1):
        assert main(["verify", str(tmp_path / words[0]), *words[1:], "--site", str(desk.site)]) == 0
        printed = desk.capsys.readouterr()
        assert printed.err.count("add --quotes") == count
    assert printed.out == "0 citations: 0 hold\n"
    assert "a.md: found no citation of the archive in it" in printed.err
    assert printed.err.endswith("to check quotations without one, add --quotes\n")
    for asked, said in (
        (["verify"], "verify: found no FILE, expected documents"),
        (
            ["verify", str(tmp_path / "none.md")],
            "cannot be read (No such file or directory); name a file, a folder, or -",
        ),
        (["verify", "a", "b", "--seal", "0" * 64], "--seal: found 2 sites, expected one at most"),
        (["cite", "memo/\x1b[2J\r\u202ex"], "memo/"),
    ):
        assert main([*asked, "--site", str(desk.site)]) == 2
        told = desk.capsys.readouterr().err.strip()
        assert said in told and told.isprintable()
    written = desk.cite(f"{LOAD}#t2")
    [found] = desk.verify(write_text(tmp_path / "other.md", written.replace(LOAD, LOAD[:-2])), code=1)
    assert (found["tier"], f"such as {TALK}" in found["details"][0]) == ("not found", True)
    write_text(desk.site / "memosite.yml", f'erase:\n  - id: {LOAD}\n    why: "asked for"\n    on: 2026-06-01\n')
    [found] = desk.verify(write_text(tmp_path / "paper.md", written), code=1)
    assert found["tier"] == "not found"
    assert "was erased. Since: 2026-06-01. Reason: asked for." in found["details"][0]


def edit(repo: Repo, turns: list[str], *, is_committed: bool = True) -> None:
    """Another content of the transcript."""
    write_text(repo.root / BODY, talk(turns))
    if is_committed:
        repo.commit("edited")


def test_an_edited_turn_is_exact_in_its_version(desk: Desk, repo: Repo, tmp_path: Path) -> None:
    """Git has what the citation was made of, as what is quoted without one; `--strict` asks for more."""
    paper = write_text(tmp_path / "paper.md", desk.cite(f"{LOAD}#t2"))
    book = write_text(tmp_path / "book.md", "He said “There are 39 barges in the lock, and none of them may leave”.\n")
    first = repo.head
    edit(repo, [TURNS[0], TURNS[1].replace("39", "40"), *TURNS[2:]])
    for words in ((paper,), ("--quotes", book)):
        [found] = desk.verify(*words)
        assert (found["tier"], found["version"]) == ("exact", first)
        desk.verify(*words, "--strict", code=1)
    assert f"exact at {first[:7]}; changed since" in desk.lines(paper)[0]
    edit(repo, [TURNS[0], f"{TURNS[1]} I am sure.", *TURNS[2:]])
    [found] = desk.verify(paper, "--strict")
    assert (found["tier"], found["version"]) == ("exact", "")
    assert found["details"] == [f"the text around it was changed since {first[:7]}"]
    edit(repo, TURNS[2:])
    [found] = desk.verify(paper)
    assert (found["tier"], found["version"]) == ("exact", first)
    write_memo(repo.root / "memos/inbox", "2026-05-02-0900--engineer--director--noon")
    for file in (BODY, BODY.replace(".body.md", ".openthing")):
        (repo.root / file).unlink()
    repo.commit("removed")
    [found] = desk.verify(paper)
    assert (found["tier"], found["version"]) == ("exact", first)
    assert "it was removed on 2026-05-01" in found["details"][0]
    desk.verify(paper, "--strict", code=1)


def test_a_turn_that_closes_code_and_what_was_appended_change_nothing(desk: Desk, repo: Repo, tmp_path: Path) -> None:
    """Nobody can tell then whether what is between is an example: the version that had the turns is found."""
    open_ = [f"{TURNS[0]}\n```sh\nls", *TURNS[1:]]
    edit(repo, open_)
    first = repo.head
    paper = write_text(tmp_path / "paper.md", desk.cite(f"{LOAD}#t1", f"{LOAD}#t2", f"{LOAD}#t4"))
    edit(repo, [*open_, "Fine.\n```"])
    found = desk.verify(paper)
    assert [one["tier"] for one in found] == ["exact except for Markdown marks", "exact", "exact"]
    assert {one["version"] for one in found} <= {first, ""}
    edit(repo, TURNS)
    paper = write_text(tmp_path / "paper.md", desk.cite(LOAD, f"{LOAD}#t4", f"{LOAD}#t1-t4"))
    other = write_text(tmp_path / "other.md", desk.cite(f"{LOAD}#t2", f"{LOAD}#t2-t3"))
    edit(repo, [*TURNS, "Thank you."], is_committed=False)
    found = desk.verify(paper, "--strict")
    assert [(one["tier"], one["details"]) for one in found] == [
        (UNQUOTED, ["it was appended to since"]),
        ("exact", []),
        (EDITORIAL, ["the omitted words have a negation"]),  # of a range both ends are quoted
    ]
    edit(repo, ["Good morning.", "Good morning to you.", *TURNS], is_committed=False)
    found = desk.verify(other, "--strict")
    assert [(one["ref"], one["tier"], one["details"]) for one in found] == [
        (f"{TALK}#t4", "exact", ["#t2 is #t4 now, found by its hash"]),
        (f"{TALK}#t4-t5", EDITORIAL, ["#t2-t3 is #t4-t5 now, found by its hash"]),
    ]


def test_a_memo_that_was_edited_after_receipt(desk: Desk, repo: Repo, tmp_path: Path) -> None:
    """Its paragraphs and its whole, in the string of its JSON."""
    inbox, name = repo.root / "memos/inbox", "2026-05-02-0900--engineer--director--noon"
    bodies = ["First.\n\n| step | by |\n|---|---|\n| 1 | noon |\n", "First.\n\n== The ask ==\n\nLeave at **noon**.\n"]
    for day, body in enumerate(bodies, 3):
        write_memo(inbox, f"2026-05-0{day}-0900--engineer--director--noon", body=body)
    body = "Nobody may leave before noon.\n\nThe lock is open at 2.5 percent."
    write_memo(inbox, name, body=body)
    first = repo.commit("noon")
    output = build_site(desk.site)
    found = desk.verify(output / "memos", output / "transcripts", code=1)  # pages have style sheets
    assert (len({one["ref"] for one in found}), {one["tier"] for one in found if one["quote"]}) == (8, {"not checked"})
    narrow = desk.cite(name, "--quote", "The lock is open at 2.5 percent.")
    paper = write_text(tmp_path / "paper.md", f"{desk.cite(name)}\n\n{narrow}")
    assert [one["tier"] for one in desk.verify(paper)] == ["exact except for white space", "exact"]
    write_memo(inbox, name, body=body.replace("2.5", "3.5"))
    repo.commit("edited")
    assert [one["version"] for one in desk.verify(paper)] == [first, first]


CHANGES = ("nothing", "appended", "recaptured", "edited", "removed", "redacted", "a secret")
AWS_KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"


def changed(how: str, turns: list[str], at: int, writer: Writer) -> tuple[list[str], str, str]:
    """The turns after a change of one of them, whose first sentence is quoted; the anchor of that, and its tier."""
    anchor, before, after, said = f"t{at + 1}", turns[:at], turns[at + 1 :], turns[at]
    match how:
        case "nothing":
            return turns, anchor, "exact"
        case "appended":
            return [*turns, *(writer.paragraph() for _ in range(6))], anchor, "exact"
        case "recaptured":
            return [writer.paragraph(), writer.paragraph(), *turns], f"t{at + 3}", "exact"
        case "edited":
            first, _, rest = said.partition(". ")
            return [*before, f"{altered(first, 'number', writer.chance)}. {rest}", *after], anchor, "formerly"
        case "removed":
            return [*turns[: at - at % 2], *turns[at - at % 2 + 2 :]], anchor, "formerly"
        case "redacted":
            words = said.split(" ")
            return [*before, " ".join((words[0], "[REDACTED:name]", *words[2:])), *after], anchor, "formerly"
    # memosite takes the secret out: the turn has no hash any more, and what is quoted is still there
    return [*before, f"{said} The key is {AWS_KEY}.", *after], anchor, "exact"


@pytest.mark.parametrize("is_in_git", [True, False], ids=["git", "no git"])
def test_citations_of_long_transcripts_stay_in_their_tier(is_in_git: bool, tmp_path: Path, capsys: Capture) -> None:
    """Whatever is done to a transcript since: half of the citations are in memos and turns that quote each other."""
    writer = Writer(7)
    root = tmp_path / "site/office"
    repo = Repo(root) if is_in_git else None
    names = [f"2026-05-{day:02}-0900--engineer--talk-{day}" for day in range(1, 8)]
    talks = {name: [writer.paragraph(3) for _ in range(40)] for name in names}
    for number, turns in enumerate(talks.values()):  # half of the turns are quoted: in the talk itself, or in the next
        others = talks[names[number - 1]]
        for step in range(5):
            turns[20 + 2 * step] = f"As was said:\n\n> {others[step]}\n\nAnd then:\n\n> {others[10 + step]}"
            turns[31 + 2 * step] = f"It was said here:\n\n> {turns[5 + step]}\n\nAnd:\n\n> {turns[15 + step]}"
    for name, turns in talks.items():
        write_transcript(root / "transcripts/engineer", name, text=talk(turns), participants=PEOPLE)
    if repo:
        repo.commit("talks")
    desk = Desk(tmp_path / "site", capsys)
    asked = [(name, at) for name in talks for at in range(2, 40)]
    papers = write_text(tmp_path / "paper.md", desk.cite(*(f"{name}#t{at + 1}" for name, at in asked)))
    wanted = []
    for number, (name, turns) in enumerate(talks.items()):
        how, new = CHANGES[number], turns
        cited = [at for other, at in asked if other == name]
        for at in reversed(cited[::3]) if how in CHANGES[3:] else cited[:1]:
            new = changed(how, new, at, writer)[0]
        write_text(root / f"transcripts/engineer/{name}.body.md", talk(new))
        for at in cited:
            _, anchor, tier = changed(how, turns, at, writer)
            if turns[at] in new:
                anchor = f"t{new.index(turns[at]) + 1}"
                tier = "exact" if is_in_git or anchor == f"t{at + 1}" else "found elsewhere"
            wanted.append((anchor, tier))
    if repo:
        repo.commit("changed")
    found = desk.verify(papers, "--secrets", "redact", code=0 if is_in_git else 1)
    secret = f"{names[-1]}#t3"
    assert main(["cite", secret, "--secrets", "redact", "--site", str(desk.site)]) == 1
    assert "a secret in it was redacted" in capsys.readouterr().err
    got = []
    for one in found:
        tier = "formerly" if one["version"] else one["tier"].partition(" except")[0]
        got.append((one["ref"].partition("#")[2], tier))
    assert len(found) == len(wanted) == 7 * 38
    if not is_in_git:
        wanted = [(anchor, "gone" if tier == "formerly" else tier) for anchor, tier in wanted]
        got = [(anchor, "gone" if tier in ("changed", "not found") else tier) for anchor, tier in got]
    assert got == wanted


MANUSCRIPT = f"""# A chapter

The engineer said: "There are 39 barges in the lock, and none of them may leave before noon."

The director said: "There are 39 barges in the lock, and none of them may leave before noon."

One hears that "none of them may leave before noon" is too short, but "How many barges are there, and when does the tide
turn" is not.

The engineer wrote: "There are 38 barges in the lock, and none of them may leave before noon."

> There are 39 barges in the lock, and none of them may leave before noon.

— [The load](https://memos.example.org/transcripts/{LOAD}/#t2)

“No word of this was ever written down by anybody in the archive at all.”
"""


def test_a_manuscript_is_checked(desk: Desk, tmp_path: Path) -> None:
    """Cited or not: the words, and who said them where the sentence says so; in a `.docx`, too."""
    # What differs is not sought in the next turn: its heading is nobody's words.
    write_org(desk.site / "office", positions=["engineer", "director"])
    paper = write_text(tmp_path / "book/one.md", MANUSCRIPT)
    said = desk.lines("--quotes", tmp_path / "book", code=1)
    assert said == [
        f"{paper}:3: exact, said by engineer: {TALK}#t2",
        f"{paper}:5: exact; said by engineer, not by director: {TALK}#t2",
        f"{paper}:7: exact except for white space, speaker not checked: {TALK}#t1",
        f"{paper}:10: changed: {TALK}#t2",
        "    There are [-39-] {+38+} barges in the lock, and none of them may leave before noon",
        f"{paper}:12: exact, said by engineer: {TALK}#t2",
        f"{paper}:16: not found",
        "6 quotations: 3 hold, 1 changed, 1 not found, 1 wrong speaker",
    ]
    written = "“There are 39 barges in the lock, and none of them may leave before the noon bell rings.”\n"
    assert desk.lines("--quotes", write_text(paper, written), code=1)[:2] == [
        f"{paper}:1: changed: {TALK}#t2",
        "    There are 39 barges in the lock, and none of them may leave before [-noon.-] {+the noon bell rings+}",
    ]
    written = f"The engineer said so.\n\n{desk.cite(f'{LOAD}#t2')}"
    paper = tmp_path / "paper.docx"
    subprocess.run(["pandoc", "-f", "markdown", "-o", str(paper)], input=written, text=True, check=True, timeout=600)
    assert [one["tier"] for one in desk.verify(paper)] == ["exact"]
    assert [one["tier"] for one in desk.verify("--quotes", paper)] == ["exact"]


def test_a_folder_is_looked_through_for_every_format(desk: Desk, tmp_path: Path) -> None:
    """None of them passes unseen because only its folder was named."""
    [digest] = re.findall(r"sha256:[0-9a-f]{64}", desk.cite(f"{LOAD}#t2", format_="text"))
    endings = {*READERS, *STRANGE_ENDINGS} - {*CONVERTED_ENDINGS, ".bib", ".json", ".tex"}
    for ending in endings:
        write_text(tmp_path / f"book/of{ending}", f"“There are 38 barges in the lock” ({LOAD}#t2, {digest}).\n")
    said = desk.verify(tmp_path / "book", code=1)
    assert sorted(one["file"].rpartition("/of")[2] for one in said) == sorted(endings)
    assert {one["holds"] for one in said} == {False}


FRAGMENT = ":~:text=There%20are%2039%20barges%20%28in-,the%20lock,before%20noon."
WORDS = "There are 39 barges in the lock, and none of them may leave before noon."
LINKED = {
    "brackets.md": "> {words}\n\n— [The load](<{url}>){check}\n",
    "parentheses.md": "> {words}\n\n— [The load]({url}){check}\n",
    "bare.md": "> {words}\n\n— {url}{check}\n",
    "plain.txt": "engineer: “{words}”. The load. {url}.{check}\n",
    "page.html": '<blockquote cite="{url}"><p>{words}</p></blockquote><p>— <a href="{url}">The load</a>{check}</p>\n',
}


def test_a_link_that_marks_words_is_read_as_one_to_their_passage(desk: Desk, tmp_path: Path) -> None:
    """As the Cite dialog offers it; each quotation has the link of its own sentence; an address speaks no words."""
    for name, form in LINKED.items():
        digest = desk.cite(f"{LOAD}#t2", format_="csl-json").partition("sha256:")[2][:64]
        url = f"https://memos.example.org/transcripts/{LOAD}/#t2{FRAGMENT}"
        cited = form.format(words=WORDS, url=url, check=f", sha256:{digest}")
        [found] = desk.verify(write_text(tmp_path / name, cited))
        assert (found["ref"], found["tier"], found["details"]) == (f"{TALK}#t2", "exact", [])
        for anchor, said in (("t2", ("exact", "right")), ("t3", ("found elsewhere", "not checked"))):
            words = form if name != "plain.txt" else "So it was: “{words}” ({url})\n"
            linked = words.format(words=WORDS, url=url.replace("#t2", f"#{anchor}"), check="")
            paper = write_text(tmp_path / "quoted" / anchor / name, linked)
            [found] = desk.verify("--quotes", paper, code=int(anchor == "t3"))
            assert (found["tier"], found["check"]) == said
    base = f"https://memos.example.org/transcripts/{LOAD}/"
    write_org(desk.site / "office", positions=["engineer", "director"])
    words = f"“{TURNS[0]}” [so]({base}#t1). Then: “{TURNS[1]}” [and so](<{base}#t2>). See {base}#t3.\n"
    both = desk.verify("--quotes", write_text(tmp_path / "one.md", words))
    assert [(one["ref"], one["check"]) for one in both] == [(f"{TALK}#t1", "right"), (f"{TALK}#t2", "right")]
    [one] = desk.verify("--quotes", write_text(tmp_path / "two.md", f"In {LOAD}, as heard: “{TURNS[0]}”\n"))
    assert (one["tier"], one["check"]) == ("exact", "not checked")


NOON = "2026-05-02-0900--engineer--director--noon"
TOOL = "Every barge has to wait for the pilot boat today."
OTHERS = "The bridge was not safe at all in the spring"
ASKED = "Then write that down for the director, please."
SAID = [
    "How many barges are there, and when does the tide turn?",
    f"There are 39 barges in the lock, all told.\n\n> **🔧 Read**\n> {TOOL}\n\nSo they say.\n\n> {OTHERS}\n\nI agree.",
    ASKED,
    f"> **🔧 Read**\n> {ASKED} Now.\n\nThe lock keeper gets a copy of it. {TOOL}",
]
NOON_BODY = f"I think so.\n\n> {OTHERS}\n\nThe lock is open at 2.5 percent today."


@pytest.fixture
def talked(tmp_path: Path, capsys: Capture) -> Desk:
    """A talk of two positions with tool output and block quotes, and a memo with a block quote."""
    office = tmp_path / "site/office"
    write_transcript(office / "transcripts/engineer", LOAD, text=talk(SAID), participants=PEOPLE)
    write_memo(office / "memos/inbox", NOON, body=NOON_BODY)
    write_org(office, positions=["engineer", "director"])
    return Desk(tmp_path / "site", capsys)


def said(words: str) -> tuple[str, str]:
    """The change of what is quoted."""
    return "“.*”", f"“{words}”"


BOTH = r"engineer \(arc-1\), director"


def test_each_format_and_each_whole_names_its_speakers(talked: Desk, tmp_path: Path) -> None:
    """Another one is wrong in all of them; HTML names it before its link."""
    assert main(["cite", f"{LOAD}#t2", "--format", "csl-json", "--site", str(talked.site)]) == 0
    [digest] = set(re.findall("sha256:[0-9a-f]{64}", talked.capsys.readouterr().out))
    for quoted, told in (("", UNQUOTED), (' "nobody has to wait for it"', "changed")):
        paper = write_text(tmp_path / "paper.md", f"The engineer said{quoted} (`transcript/{LOAD}#t2`, {digest}).\n")
        assert main(["verify", str(paper), "--site", str(talked.site)]) == bool(quoted)
        assert talked.capsys.readouterr().out.splitlines()[0] == f"{paper}:1: {told}: transcript/{LOAD}#t2"
    for format_ in SUFFIXES:
        assert talked.judged(f"{LOAD}#t2", format_=format_)["check"] == "right"
        found = talked.judged(f"{LOAD}#t2", (r"engineer \(arc(-|{-})1\)", "director"), format_=format_)
        assert (found["tier"], found["check"], found["holds"]) == ("exact", "wrong", False)
        assert "said by engineer (arc-1), not by director" in found["details"] or format_ == "html"
    # A memo its sender, a transcript and a range those of their turns; an address of something else, another time.
    assert talked.judged(NOON)["holds"]
    found = talked.judged(NOON, ("^engineer", "director"))
    assert (found["check"], found["holds"]) == ("wrong", False)
    assert "said by engineer, not by director" in found["details"]
    for speaker, words, check in (
        ("director", ASKED, "right"), ("engineer", ASKED, "wrong"),
        ("director", "The lock keeper gets a copy", "wrong"),
        ("engineer, director", ASKED, "right"), ("director", f"{ASKED} Now.", "wrong"),
    ):  # fmt: skip
        found = talked.judged(LOAD, (rf"^{BOTH}\.", f"{speaker}: “{words}”."))
        assert (found["tier"], found["check"]) == ("exact", check), (speaker, words)
    assert talked.judged(f"{LOAD}#t2-t3")["check"] != "wrong"
    for speaker, check in (("director", "right"), ("engineer", "wrong"), ("engineer, director", "right")):
        found = talked.judged(f"{LOAD}#t2-t3", (f"^{BOTH}", speaker), said(ASKED))
        assert (found["tier"], found["check"]) == ("exact", check)
    for old, new, told in (
        (rf"memos/{NOON}/", "memos/2026-01-01-0000--a--b--c/", "its address leads to nothing in the archive"),
        (rf"memos/{NOON}/", f"transcripts/{LOAD}/#t1", f"its address leads to transcript/{LOAD}"),
        ("2026-05-01T", "2026-05-09T", "its time is 2026-05-01T"),
    ):
        found = talked.judged(NOON, (old, new), format_="csl-json")
        assert found["holds"]
        assert any(detail.startswith(told) for detail in found["details"]), found


def test_what_is_read_in_or_quoted_is_never_joined_to_what_was_said(talked: Desk, tmp_path: Path) -> None:
    """By `[…]`, or behind the words of the speaker; a block quote does not prove its speaker; own words count."""
    joined = talked.judged(f"{LOAD}#t2", said(f"39 barges in the lock […] {TOOL}"))
    assert (joined["quoted_in"], joined["check"], joined["holds"]) == (True, "wrong", False)
    [told] = talked.judged(f"{LOAD}#t2", said(TOOL))["details"]
    assert told == "quoted in #t2, not said by its speaker"
    for words, holds in (("It says", True), ("The engineer said", False), ("As read, the engineer's answer is", False)):
        [digest] = re.findall("sha256:[0-9a-f]{64}", talked.cite(f"{LOAD}#t2"))
        text = f"{words} “{TOOL}” (transcript/{LOAD}#t2, {digest}).\n"
        found = talked.verified(write_text(tmp_path / "paper.md", text))
        assert (found["quoted_in"], found["holds"]) == (True, holds)
    behind = talked.judged(f"{LOAD}#t2", said(f"in the lock, all told.  > **🔧 Read** > {TOOL}"))
    assert (behind["quoted_in"], behind["holds"]) == (True, False)
    words = "The engineer said: “There are 39 barges in the lock, all told. **🔧 Read** Every barge has to wait”.\n"
    found = talked.verified("--quotes", write_text(tmp_path / "book.md", words))
    assert (found["quoted_in"], found["check"]) == (True, "not checked")
    for ref, words in ((f"{LOAD}#t2", OTHERS), (NOON, OTHERS), (NOON, f"I think so. {OTHERS}")):
        found = talked.judged(ref, said(words))
        assert (found["quoted_in"], found["check"], found["holds"]) == (True, "not checked", True)
    read, others = (hashlib.sha256(text.encode()).hexdigest()[:8] for text in (f"{ASKED} Now.", OTHERS))
    for ref in (f"{LOAD}#t4-p-{read}", f"{LOAD}#t2.3-p-{others}", f"{NOON}#p-{others}"):
        found = talked.judged(ref, (r"\(quoted in a turn of engineer", r"\g<0>"))
        assert (found["quoted_in"], found["holds"]) == (True, True), ref
    for ref in (f"{LOAD}#t4", f"{LOAD}#t3-t4"):
        found = talked.judged(ref, said(TOOL))
        assert (found["quoted_in"], found["holds"]) == (False, True), ref


def test_the_passage_that_a_sentence_cites_decides(talked: Desk, tmp_path: Path) -> None:
    """Others may have said the same before, in the same talk."""
    again, folder = "2026-05-03-1430--engineer--again", talked.site / "office/transcripts/engineer"
    write_transcript(folder, again, text=talk([ASKED, ASKED]), participants=PEOPLE)
    url = f"https://memos.example.org/transcripts/{again}/"
    for speaker, anchor, check in (
        ("director", "t1", "right"), ("engineer", "t2", "right"), ("engineer", "t1", "wrong"),
        ("director", "t2", "wrong"),
    ):  # fmt: skip
        words = f"The {speaker} said: “{ASKED}” [so]({url}#{anchor})\n"
        found = talked.verified("--quotes", write_text(tmp_path / "book.md", words))
        assert (found["tier"], found["check"], found["ref"][-3:]) == ("exact", check, f"#{anchor}")


def test_a_citation_that_is_not_whole_is_one_and_says_what_is_missing(desk: Desk, tmp_path: Path) -> None:
    """A digest in capitals is one; cut, false or left out it is named; so is another site, also without a reference."""
    [digest] = set(re.findall("sha256:([0-9a-f]{64})", desk.cite(f"{LOAD}#t2")))
    words, url = TURNS[1].rstrip("."), f"https://memos.example.org/transcripts/{LOAD}/#t2"
    cut, other = "its hash is cut to 12 of 64 digits", ", and begins otherwise than that of the source"
    write_text(desk.site / "memosite.yml", "base_url: https://memos.example.org/\n")
    for locator, said in (
        (f"{TALK}#t2, sha256:{digest.upper()}", []),
        (f"{TALK}#t2, sha256:{digest[:12]}", [cut]),
        (f"{TALK}#t2, sha256:{'0' * 12}", [cut + other]),
        (f"{TALK}#t2", ["it names no hash, so that a later change of its source would not be seen"]),
        (f"[x]({url}), sha256:{digest}", []),
        (f"[x]({url.replace('memos.', 'evil.')}), sha256:{digest}", ["its address is on another site"]),
    ):
        for quote, holds in ((words, True), (words.replace("39", "93"), False)):
            found = desk.verified(write_text(tmp_path / "paper.md", f"He said “{quote}” ({locator}).\n"))
            assert (found["holds"], found["details"]) == (holds, said if holds else found["details"])
    for locator, holds in ((f"{TALK}#t2, sha256:{digest[:12]}", True), (f"{TALK}#t2, sha256:{'0' * 12}", False)):
        found = desk.verified(write_text(tmp_path / "paper.md", f"See {locator}.\n"))
        assert (found["holds"], found["tier"]) == (holds, UNQUOTED if holds else "changed")
    assert not desk.verified(write_text(tmp_path / "paper.md", f"See {TALK}#t99.\n"))["holds"]
    empty = write_text(tmp_path / "empty.md", f"Nothing is cited here; {TALK} is only named.\n")
    for options, code in (((), 0), (("--require",), 1)):
        assert main(["verify", str(empty), *options, "--site", str(desk.site)]) == code
        assert "found no citation of the archive in it" in desk.capsys.readouterr().err


def test_a_wrong_place_is_a_verdict_of_its_own(desk: Desk, tmp_path: Path) -> None:
    """An anchor that never had the hash; a link to another turn is named, also one without a host."""
    [digest] = set(re.findall("sha256:[0-9a-f]{64}", desk.cite(f"{LOAD}#t2")))
    write_text(desk.site / "memosite.yml", "base_url: https://memos.example.org/\n")
    page = f"https://memos.example.org/transcripts/{LOAD}/"
    elsewhere = "its hash is that of #t2, and of no version of {} that is known"
    for quote, tier in ((TURNS[1].rstrip("."), "exact"), ("", UNQUOTED), (TURNS[0].rstrip("."), "changed")):
        for locator, wrong, told in (
            (f"{TALK}#t3, {digest}", "#t3", elsewhere),
            (f"{TALK}#t99, {digest}", "#t99", elsewhere),
            (f"[x]({page}#t3), {digest}", "#t3", elsewhere),
            (f"[x]({page}#t3), {TALK}#t2, {digest}", "", "its address leads to #t3"),
            (f"[x](<{page}#t3>), {TALK}#t2, {digest}", "", "its address leads to #t3"),
            (f"[x](../transcripts/{LOAD}/#t3), {TALK}#t2, {digest}", "", "its address leads to #t3"),
            (f"[x](../memos/2026-01-01-0000--a--b--c/), {TALK}#t2, {digest}", "", "leads to nothing in the archive"),
            (f"[x]({page}#t2), {TALK}#t2-t3", "", ""),
            (f"[x](notes.md#t3), {TALK}#t2, {digest}", "", ""),
        ):
            words = f"She said “{quote}” ({locator}).\n" if quote else f"See {locator}.\n"
            found = desk.verified(write_text(tmp_path / "paper.md", words))
            wanted = "found elsewhere" if wrong and tier != "changed" else tier
            assert found["tier"] in (wanted, "not found" if tier == "changed" else wanted), (locator, found)
            if found["holds"] or wrong:
                assert told.format(wrong) in "; ".join(found["details"]), (locator, found)


def test_keys_of_pandoc_in_markdown_are_looked_up_in_the_bibliography_of_its_head(desk: Desk, tmp_path: Path) -> None:
    """Also keys that an author chose; without the file, only those that `cite` writes tell what they cite."""
    entry = desk.cite(f"{LOAD}#t2", format_="bibtex")
    [key] = re.findall(r"@misc\{(.+),", entry)
    write_text(tmp_path / "refs.bib", entry.replace(key, "load"))
    words = TURNS[1].rstrip(".")
    for head, name, quote, details in (
        ("---\ntitle: x\nbibliography: refs.bib\n---\n", "load", words, []),
        ("---\nbibliography:\n  - refs.bib\n---\n", "load", words, []),
        ("", f"{{{key}}}", words, ["its hash is cut to 8 of 64 digits"]),
        ("---\nbibliography: refs.bib\n---\n", "load", f"{words} and more", None),
        ("", f"{{{key}}}", f"{words} and more", None),
    ):
        found = desk.verified(write_text(tmp_path / "paper.md", f"{head}\nShe said “{quote}” [see @{name}, p. 3].\n"))
        assert found["holds"] == (details is not None) and found["ref"] == f"{TALK}#t2"
        assert details is None or found["details"] == details


def test_the_passage_that_a_locator_cites_decides_who_said_it(talked: Desk, tmp_path: Path) -> None:
    """As a link does, also in the second capture of a session; words of another passage are found elsewhere."""
    again = "2026-05-04-1430--engineer--again"
    write_transcript(talked.site / "office/transcripts/engineer", again, text=talk(SAID[::-1]), participants=PEOPLE)
    words = next(one for one in SAID if len(one.split()) >= 8).rstrip(".")
    at = SAID[::-1].index(next(one for one in SAID if one.startswith(words))) + 1
    speaker = ("director", "engineer")[(at + 1) % 2]
    for where, anchor, tier, check in (
        (again, f"t{at}", "exact", "right"),
        (again, f"t{at % 2 + 1}", "found elsewhere", None),
    ):
        text = f"The {speaker} said: “{words}” (transcript/{where}#{anchor}).\n"
        found = talked.verified("--quotes", write_text(tmp_path / "book.md", text))
        assert (found["tier"], check in (None, found["check"])) == (tier, True), found
        assert ("which the sentence cites" in str(found["details"])) == (tier == "found elsewhere")


def test_what_is_to_be_verified_is_looked_at_before_an_archive_is_read(
    repo: Repo, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is not there is named at once; of a folder of several places it is said that all of them are read."""
    other = Repo(repo.root.parent / "yard")
    write_memo(other.root / "memos/inbox", "2026-05-01-1500--engineer--director--noon", body="Noon.")
    other.commit("noon")
    monkeypatch.chdir(repo.root.parent)
    assert main(["verify", "nofile.md"]) == 2
    assert capsys.readouterr().err.startswith("memosite: nofile.md: cannot be read (No such file or directory)")
    write_text(Path("paper.md"), "Nothing is cited.\n")
    assert main(["verify", "paper.md"]) == 0
    told = "memosite: reads 2 sources found in this folder, which has no memosite.yml; name a site with --site"
    assert capsys.readouterr().err.splitlines()[0] == told
    for words in (["--quiet"], ["--site", "office"]):
        assert main(["verify", "paper.md", *words]) == 0
        assert told not in capsys.readouterr().err
