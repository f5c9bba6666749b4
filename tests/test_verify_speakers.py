"""`memosite verify`: nobody is said to have said what another said, or what was only read in (SPEC 7, origin)."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from memosite.cli import main
from tests.support.files import write_text
from tests.support.memos import write_memo, write_org, write_transcript

LOAD = "2026-05-01-1430--engineer--the-load"
NOON = "2026-05-02-0900--engineer--director--noon"
TOOL = "Every barge has to wait for the pilot boat today."
OTHERS = "The bridge was not safe at all in the spring"
ASKED = "Then write that down for the director, please."
TURNS = [
    "How many barges are there, and when does the tide turn?",
    f"There are 39 barges in the lock, all told.\n\n> **🔧 Read**\n> {TOOL}\n\nSo they say.\n\n> {OTHERS}\n\nI agree.",
    ASKED,
    f"> **🔧 Read**\n> {ASKED} Now.\n\nThe lock keeper gets a copy of it. {TOOL}",
]
BODY = f"I think so.\n\n> {OTHERS}\n\nThe lock is open at 2.5 percent today."
SUFFIXES = {"text": ".txt", "markdown": ".md", "html": ".html", "bibtex": ".bib", "csl-json": ".json"}


class Desk:
    """Cites from a site, alters what was cited, and verifies it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.site, self.capsys = folder, folder / "site", capsys

    def judged(self, ref: str, *changes: tuple[str, str], format_: str = "text", quote: str = "") -> dict[str, Any]:
        """The verdict on a citation that was changed; what is changed must be there."""
        words = ["--quote", quote] if quote else []
        assert main(["cite", ref, *words, "--format", format_, "--site", str(self.site)]) == 0
        written = self.capsys.readouterr().out
        for old, new in changes:
            assert re.search(old, written), written
            written = re.sub(old, new, written, count=1)
        paper = write_text(self.folder / f"paper{SUFFIXES[format_]}", written)
        return self.verified(paper)

    def verified(self, *words: object) -> dict[str, Any]:
        """The only verdict."""
        code = main(["verify", *map(str, words), "--json", "--site", str(self.site)])
        [found] = json.loads(self.capsys.readouterr().out)
        assert code == int(not found["holds"])
        return dict(found)


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A talk of two positions with tool output and block quotes, and a memo with a block quote."""
    office = tmp_path / "site/office"
    text = "\n".join(f"## {('Assistant', 'User')[number % 2 == 0]}\n\n{turn}\n" for number, turn in enumerate(TURNS))
    people = [{"position": "engineer", "session_arc": "arc-1"}, {"position": "director"}]
    write_transcript(office / "transcripts/engineer", LOAD, text=text, participants=people)
    write_memo(office / "memos/inbox", NOON, body=BODY)
    write_org(office, positions=["engineer", "director"])
    return Desk(tmp_path, capsys)


def said(words: str) -> tuple[str, str]:
    """The change of what is quoted."""
    return "“.*”", f"“{words}”"


BOTH = r"engineer \(arc-1\), director"


def test_each_format_names_its_speaker(desk: Desk) -> None:
    """Another one is wrong in all of them; HTML names it before its link."""
    for format_ in SUFFIXES:
        assert desk.judged(f"{LOAD}#t2", format_=format_)["check"] == "right"
        found = desk.judged(f"{LOAD}#t2", (r"engineer \(arc(-|{-})1\)", "director"), format_=format_)
        assert (found["tier"], found["check"], found["holds"]) == ("exact", "wrong", False)


def test_a_citation_without_words_says_so(desk: Desk, tmp_path: Path) -> None:
    """Its source is what it was; that says nothing of words that stand elsewhere in the document."""
    assert main(["cite", f"{LOAD}#t2", "--format", "csl-json", "--site", str(desk.site)]) == 0
    [digest] = set(re.findall("sha256:[0-9a-f]{64}", desk.capsys.readouterr().out))
    words = f'The engineer said "nobody has to wait for it" (`transcript/{LOAD}#t2`, {digest}).\n'
    paper = write_text(tmp_path / "paper.md", words)
    assert main(["verify", str(paper), "--site", str(desk.site)]) == 0
    said = f"{paper}:1: exact; no words are quoted: transcript/{LOAD}#t2"
    assert desk.capsys.readouterr().out.splitlines()[0] == said


def test_a_whole_memo_has_its_sender(desk: Desk) -> None:
    """Also where it is cited without a passage."""
    assert desk.judged(NOON)["holds"]
    found = desk.judged(NOON, ("^engineer", "director"))
    assert (found["check"], found["holds"]) == ("wrong", False)
    assert "said by engineer, not by director" in found["details"]


def test_a_whole_transcript_has_the_speakers_of_its_turns(desk: Desk) -> None:
    """Its citation names all of them; who quotes a turn names its own, and nobody for tool output."""
    for speaker, words, check in (
        ("director", ASKED, "right"), ("engineer", ASKED, "wrong"),
        ("director", "The lock keeper gets a copy", "wrong"),
        ("engineer, director", ASKED, "right"), ("director", f"{ASKED} Now.", "wrong"),
    ):  # fmt: skip
        found = desk.judged(LOAD, (rf"^{BOTH}\.", f"{speaker}: “{words}”."))
        assert (found["tier"], found["check"]) == ("exact", check), (speaker, words)


def test_a_range_names_all_speakers_or_the_one_who_said_it(desk: Desk) -> None:
    """Not the first of them alone for the words of the second."""
    assert desk.judged(f"{LOAD}#t2-t3")["check"] != "wrong"
    for speaker, check in (("director", "right"), ("engineer", "wrong"), ("engineer, director", "right")):
        found = desk.judged(f"{LOAD}#t2-t3", (f"^{BOTH}", speaker), said(ASKED))
        assert (found["tier"], found["check"]) == ("exact", check)


def test_what_is_read_in_is_never_joined_to_what_was_said(desk: Desk) -> None:
    """By `[…]`, or as the words behind those of the speaker."""
    joined = desk.judged(f"{LOAD}#t2", said(f"39 barges in the lock […] {TOOL}"))
    assert (joined["quoted_in"], joined["check"], joined["holds"]) == (True, "wrong", False)
    behind = desk.judged(f"{LOAD}#t2", said(f"in the lock, all told.  > **🔧 Read** > {TOOL}"))
    assert (behind["quoted_in"], behind["holds"]) == (True, False)


def test_a_block_quote_is_quoted_in(desk: Desk) -> None:
    """It does not prove its speaker, in a turn or in a whole memo; nor does what begins before it."""
    for ref, words in ((f"{LOAD}#t2", OTHERS), (NOON, OTHERS), (NOON, f"I think so. {OTHERS}")):
        found = desk.judged(ref, said(words))
        assert (found["quoted_in"], found["check"], found["holds"]) == (True, "not checked", True)


def test_what_a_turn_begins_with_may_be_read_in(desk: Desk) -> None:
    """A passage of it, cited by its anchor, names no speaker; nor does one of a block quote."""
    read = hashlib.sha256(f"{ASKED} Now.".encode()).hexdigest()[:8]
    others = hashlib.sha256(OTHERS.encode()).hexdigest()[:8]
    for ref in (f"{LOAD}#t4-p-{read}", f"{LOAD}#t2.3-p-{others}", f"{NOON}#p-{others}"):
        found = desk.judged(ref, (r"\(quoted in a turn of engineer", r"\g<0>"))
        assert (found["quoted_in"], found["holds"]) == (True, True), ref


def test_what_misleads_readers_is_said(desk: Desk) -> None:
    """An address of something else, and another time; the words hold all the same."""
    for old, new, said in (
        (rf"memos/{NOON}/", "memos/2026-01-01-0000--a--b--c/", "its address leads to nothing in the archive"),
        (rf"memos/{NOON}/", f"transcripts/{LOAD}/#t1", f"its address leads to transcript/{LOAD}"),
        ("2026-05-01T", "2026-05-09T", "its time is 2026-05-01T"),
    ):
        found = desk.judged(NOON, (old, new), format_="csl-json")
        assert found["holds"]
        assert any(detail.startswith(said) for detail in found["details"]), found


def test_own_words_count_although_a_tool_had_them_before(desk: Desk) -> None:
    """In the same turn, in a range, in the whole."""
    for ref, change in ((f"{LOAD}#t4", said(TOOL)), (f"{LOAD}#t3-t4", said(TOOL))):
        found = desk.judged(ref, change)
        assert (found["quoted_in"], found["holds"]) == (False, True), ref


def test_the_passage_that_a_sentence_cites_decides(desk: Desk, tmp_path: Path) -> None:
    """Others may have said the same before, in the same talk."""
    again = "\n".join(f"## {name}\n\n{ASKED}\n" for name in ("User", "Assistant"))
    people = [{"position": "engineer", "session_arc": "arc-1"}, {"position": "director"}]
    write_transcript(desk.site / "office/transcripts/engineer", "2026-05-03-1430--engineer--again", text=again,
                     participants=people)  # fmt: skip
    url = "https://memos.example.org/transcripts/2026-05-03-1430--engineer--again/"
    for speaker, anchor, check in (
        ("director", "t1", "right"), ("engineer", "t2", "right"), ("engineer", "t1", "wrong"),
        ("director", "t2", "wrong"),
    ):  # fmt: skip
        words = f"The {speaker} said: “{ASKED}” [so]({url}#{anchor})\n"
        found = desk.verified("--quotes", write_text(tmp_path / "book.md", words))
        assert (found["tier"], found["check"], found["ref"][-3:]) == ("exact", check, f"#{anchor}")


def test_a_quotation_that_goes_on_into_tool_output_has_no_speaker(desk: Desk, tmp_path: Path) -> None:
    """It is quoted in the turn."""
    words = "The engineer said: “There are 39 barges in the lock, all told. **🔧 Read** Every barge has to wait”.\n"
    found = desk.verified("--quotes", write_text(tmp_path / "book.md", words))
    assert (found["quoted_in"], found["check"]) == (True, "not checked")
