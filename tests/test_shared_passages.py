"""Passages of 20 words or more that texts share: links from each to the other, at turn and paragraph (SPEC 7)."""

import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from lxml import html

from memosite.cli import main
from memosite.plan.mentions import SHARED_SHOWN
from memosite.plan.shared_passages import MOST_PEOPLE, KnownPassages, SharedLink, find_shared_links
from memosite.quotes.index import MOST_HOLDERS
from memosite.remake.known_passages import read_known, write_known
from memosite.store.state import PASSAGES, RUNS, Row, Rows, State
from tests.support.archives import open_folders
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.pages import bad_links
from tests.support.sites import build_site, built_from_nothing, tree_bytes

AWS_KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
TALK, MEMO = "2026-05-01-1430--engineer--talk", "2026-05-01-1500--engineer--director--load"
QUOTING = "2026-05-03-0900--director--engineer--re-load"


def words(name: str, number: int = 25) -> str:
    """So many words that nothing else has."""
    return " ".join(f"{name}{place}" for place in range(number)) + "."


def talk(*turns: str) -> str:
    """A body with these turns of a session."""
    return "".join(f"## Assistant\n\n{text}\n\n" for text in turns)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A talk in which a memo is drafted, the memo, a reply that quotes it, and a document that quotes the talk."""
    site = tmp_path / "office"
    turns = talk("Hello.", f"{words('load')}\n\n{words('crane')}", words("tide"))
    write_transcript(site / "transcripts/engineer", TALK, text=turns, started="2026-05-01T14:30:00Z")
    said = f"Dear all.\n\n{words('LOAD')}\n\nYours.", f"You wrote:\n\n> {words('load')}\n\nNo."
    for name, day, text in ((MEMO, "01T15", said[0]), (QUOTING, "03T09", said[1])):
        write_memo(site / "memos/inbox", name, sent=f"2026-05-{day}:00:00Z", body=text)
    text = f"# Tide\n\nIt was said:\n\n*{words('tide')}*\n\n{words('own', 60)}\n"
    write_text(site / "decisions/0001-tide.md", f"---\ndate: 2026-05-04\n---\n{text}")
    return site


def links(*folders: Path, known: KnownPassages | None = None, jobs: int = 1) -> dict[str, list[SharedLink]]:
    """The shared passages of folders, by names."""
    with open_folders(*folders) as (archive, shelf):
        found = find_shared_links(archive, shelf.text, known or KnownPassages(), jobs=jobs)
    return {"/".join(ref): list(some) for ref, some in found.items()}


def said(found: dict[str, list[SharedLink]], name: str) -> list[tuple[str, str, str]]:
    """What is said of an artifact: what it is to others, and where these are."""
    return [(one.relation, "/".join(one.other), one.other_anchor) for one in found.get(name, [])]


def test_each_end_leads_to_the_other_also_by_several_processes(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the turn and the paragraph; most of the memo is in the talk, little of the document."""
    found = links(site)
    talk, memo, quoting = f"transcript/{TALK}", f"memo/{MEMO}", f"memo/{QUOTING}"
    document = "document/office.decisions.0001-tide.md"
    place = {name: found[name][0].anchor for name in (memo, quoting, document)}
    assert all(one.startswith("p-") for one in place.values())
    assert said(found, memo) == [("drafted in", talk, "t2"), ("quoted in", quoting, place[quoting])]
    assert said(found, quoting) == [("drafted in", talk, "t2"), ("quotes", memo, place[memo])]
    assert said(found, document) == [("quotes", talk, "t3")]
    assert sorted(said(found, talk)) == [
        ("draft of", memo, place[memo]),
        ("draft of", quoting, place[quoting]),
        ("quoted in", document, place[document]),
    ]
    assert [one.anchor for one in found[talk]] == ["t2", "t2", "t3"]
    assert {one.words for some in found.values() for one in some} == {25}
    monkeypatch.setattr("memosite.plan.shared_passages._CHARS", 4)  # so that these few texts are worth processes
    alone, together = KnownPassages(), KnownPassages()
    found = links(site, known=together, jobs=2)
    assert found == links(site, known=alone)
    assert found
    assert together == alone
    assert list(together.rows) == list(alone.rows)


def test_nineteen_words_are_no_passage_and_a_session_that_reads_a_memo_quotes_it(tmp_path: Path) -> None:
    """Later, or without the memo's sender; captures of one session name each other already: the longest is linked."""
    passage = words("read")
    name = "2026-05-02-1000--director--engineer--note"
    ends = {"from": "director", "to": "engineer", "sent": "2026-05-02T10:00:00Z"}
    write_memo(tmp_path / "office/memos/inbox", name, body=passage, extra=ends)
    said_at = {"9:00:00": "Hello.", "11:00:00": passage}
    turns = (f"---\n\n## 🧑 User <sub>5/2/2026, {at} AM</sub>\n\n{text}\n\n" for at, text in said_at.items())
    talks = tmp_path / "office/transcripts"
    together = [{"position": "engineer"}, {"position": "director"}]
    times = {"d": "2026-05-02T09:00:00Z", "e": "2026-05-01T09:00:00Z"}
    write_transcript(talks / "director", "d", text="".join(turns), started=times["d"], participants=together)
    write_transcript(talks / "engineer", "e", text=talk(passage), started=times["e"])
    quoted = said(links(tmp_path / "office"), f"memo/{name}")
    relations = sorted((other, relation) for relation, other, _ in quoted)
    assert relations == [("transcript/d", "quoted in"), ("transcript/e", "quoted in")]
    for number, name in ((19, "less"), (20, "more")):
        for place in range(2):
            folder = tmp_path / name / "memos/inbox"
            write_memo(folder, f"2026-05-0{place + 1}-0900--a--b--{name}", body=f"Own {place} {words('same', number)}")
    assert links(tmp_path / "less") == {}
    assert len(links(tmp_path / "more")) == 2
    tmp_path = tmp_path / "captures"
    session = "0b5d7a52-95f1-4bd0-8f6e-2f6f3c0a1e11"
    for number in range(3):
        text = talk(words("said"), *(words(f"more{one}") for one in range(number)))
        folder, name = tmp_path / "office/transcripts/engineer", f"2026-05-01-140{number}--engineer--capture"
        write_transcript(folder, name, text=text, participants=[{"position": "engineer", "session_arc": session}])
    write_memo(tmp_path / "office/memos/inbox", MEMO, body=words("said"))
    found = links(tmp_path / "office")
    assert said(found, f"memo/{MEMO}") == [("drafted in", "transcript/2026-05-01-1402--engineer--capture", "t1")]
    assert len(found) == 2


def test_boilerplate_is_not_linked_and_a_long_list_is_cut_and_counted(tmp_path: Path) -> None:
    """A footer gives no links, a passage of twelve one to each; one page shows the first, its twin as many as fit."""
    for number in range(MOST_HOLDERS + 1):
        passage = words("claim") if number < 12 else ""
        name = f"2026-05-{number % 28 + 1:02}-{1000 + number}--engineer--director--{number}"
        body = f"{words(f'own{number}x')}\n\n{passage}\n\n{words('footer', 40)}"
        write_memo(tmp_path / "office/memos/inbox", name, body=body, sent=f"2026-05-01T09:{number:02}:00Z")
    found = links(tmp_path / "office")
    first = "memo/2026-05-01-1000--engineer--director--0"
    assert len(found) == 12
    assert [len(some) for name, some in found.items() if name != first] == [1] * 11
    assert {one.relation for one in found[first]} == {"quoted in"}
    passages = [words(f"one{number}x") for number in range(SHARED_SHOWN + 20)]
    folder = tmp_path / "long/memos/inbox"
    write_memo(folder, "2026-05-01-0900--a--b--first", body="\n\nfirst\n\n".join(passages))
    write_memo(folder, "2026-05-02-0900--a--b--second", body="\n\nsecond\n\n".join(passages))
    out = build_site(tmp_path / "long", output=tmp_path / "out")
    page = (out / "memos/2026-05-01-0900--a--b--first/index.html").read_text()
    assert page.count("Quoted in ") == SHARED_SHOWN
    assert f"Showing the first {SHARED_SHOWN} of {SHARED_SHOWN + 20}." in page
    twin = json.loads((out / "memos/2026-05-01-0900--a--b--first/index.json").read_text())
    assert twin["shared_total"] == SHARED_SHOWN + 20
    assert 50 < len(twin["shared"]) <= SHARED_SHOWN + 20


IDE = (
    "<ide_opened_file>The user opened the file lock gates and tide tables of the year in the editor. "
    "This may or may not be related to the current task.</ide_opened_file>"
)


@pytest.mark.parametrize("number", [2, MOST_PEOPLE + 1])
def test_what_a_harness_puts_into_turns_is_no_quotation(tmp_path: Path, number: int) -> None:
    """However many sessions have it; what people say beside it is one."""
    for one in range(number):
        quoted = words("quay") if one < 2 else ""
        text = talk(f"{IDE}\n\n{words(f'own{one}x')}\n\n{quoted}")
        name = f"2026-05-0{one + 1}-1430--engineer--talk-{one}"
        write_transcript(
            tmp_path / "office/transcripts/engineer", name, text=text, started=f"2026-05-0{one + 1}T14:30:00Z"
        )
    found = links(tmp_path / "office")
    assert {one.begins.split()[0] for some in found.values() for one in some} == {"quay0"} and len(found) == 2


def test_what_more_people_write_than_would_quote_is_no_quotation(tmp_path: Path) -> None:
    """One more makes it a form of words; as many texts of one person are quotations."""
    for people in (MOST_PEOPLE, MOST_PEOPLE + 1):
        for one in range(people):
            for sender, folder in ((f"seat{one}", f"several-{people}"), ("engineer", f"alone-{people}")):
                write_memo(
                    tmp_path / folder / "memos/inbox", f"2026-05-01-09{one:02}--{sender}--clerk--m{one}",
                    sender=sender, sent=f"2026-05-01T09:{one:02}:00Z", body=f"{words(f'own{one}x')}\n\n{words('form')}",
                )  # fmt: skip
    assert [bool(links(tmp_path / f"several-{people}")) for people in (MOST_PEOPLE, MOST_PEOPLE + 1)] == [True, False]
    assert len(links(tmp_path / f"alone-{MOST_PEOPLE + 1}")) == MOST_PEOPLE + 1


def test_pages_and_twins_have_both_ends(site: Path, tmp_path: Path) -> None:
    """No link leads nowhere, and the turn itself has them."""
    out = build_site(site, output=tmp_path / "out")
    assert not list(bad_links(out))
    memo = html.parse(out / f"memos/{MEMO}/index.html")
    section = memo.xpath("//h2[text()='Shared passages']/..")[0]
    hrefs = section.xpath(".//li/a/@href")
    assert hrefs[0] == f"../../transcripts/{TALK}/index.html#t2"
    own = section.xpath(".//span/a/@href")[0]
    assert "LOAD0 LOAD1" in memo.xpath(f"//*[@id='{own[1:]}']")[0].text_content()
    assert section.text_content().split()[2:4] == ["Drafted", "in"]
    page = html.parse(out / f"transcripts/{TALK}/index.html")
    turn = " ".join(page.xpath("//section[@id='t2']/p[@class='facts']")[0].text_content().split())
    assert turn.startswith("Draft of ")
    assert turn.count("Draft of") == 2
    assert not page.xpath("//section[@id='t1']/p[@class='facts']")
    twin = json.loads((out / f"memos/{MEMO}/index.json").read_text())
    there = {"with": f"transcript/{TALK}", "with_anchor": "t2"}
    assert twin["shared"][0] == {"relation": "drafted in", "anchor": own[1:], "words": 25, **there}
    assert twin["shared_total"] == 2
    assert "## Shared passages\n\n- Drafted in [" in (out / f"memos/{MEMO}/index.md").read_text()


def remembered(site: Path, audience: str = "internal") -> bytes:
    """What the cache holds of shared passages."""
    with State(site / f".memosite/{audience}") as state:
        rows = [row for table in (RUNS, PASSAGES) for row in state[table].items()]
    return b"\n".join(repr(key).encode() + data for key, data in rows)


def test_one_text_more_writes_its_row_and_those_that_share_with_it(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one less removes them: what was found before is there as it was left."""
    (tmp_path / "cache").mkdir()
    written: list[str | int] = []
    inbox = site / "memos/inbox"

    put = Rows.put

    def noted(rows: Rows, some: Iterable[Row]) -> None:
        kept = list(some)
        written.extend(key[-1] for key, _ in kept)
        put(rows, kept)

    def left() -> list[str]:
        with State(tmp_path / "cache") as state:
            known = read_known(state)
            assert not known.is_new
            assert links(site, known=known) == links(site)
            written.clear()
            with monkeypatch.context() as patched:
                patched.setattr(Rows, "put", noted)
                write_known(state, known)
            assert not known.is_new
        with State(tmp_path / "cache") as state:
            again = read_known(state)
        assert (again.rows, again.pairs) == (known.rows, known.pairs)
        assert {run: sorted(keys) for run, keys in again.common.items()} == {
            run: sorted(keys) for run, keys in known.common.items()
        }
        return sorted(map(str, written))

    assert len(left()) > 4
    assert left() == []
    write_memo(inbox, "2026-06-01-0900--a--b--alone", body=words("alone"))
    assert left() == ["memo/2026-06-01-0900--a--b--alone#0"]
    write_memo(inbox, "2026-06-02-0900--a--b--other", body=words("alone"))
    more = [f"memo/2026-06-0{day}-0900--a--b--{name}#0" for day, name in ((1, "alone"), (2, "other"))]
    assert left() == sorted([*more, more[1]])
    (inbox / "2026-06-02-0900--a--b--other.openthing").unlink()
    assert left() == more[:1]


def test_nothing_leads_to_what_is_withheld(site: Path, tmp_path: Path) -> None:
    """With a secret in it, or confidential: no page of the others names it, and neither does the cache, even later."""
    build_site(site)
    assert b"LOAD3" in remembered(site)
    memo = site / "memos/inbox" / f"{MEMO}.openthing"
    memo.write_text(memo.read_text().replace("Dear all.", f"The key is {AWS_KEY}."))
    assert main(["build", str(site), "--quiet"]) == 1
    assert b"LOAD3" not in remembered(site) and MEMO.encode() not in remembered(site)
    write_text(site / "memosite.yml", "audience: public\nwithhold: ['transcripts/**']\n")
    assert main(["build", str(site), "-o", str(tmp_path / "out"), "--quiet"]) == 1
    files = tree_bytes(tmp_path / "out")
    data = b"".join(files.values()) + remembered(site, "public")
    assert not [path for path in files if not path.startswith("spec/") and b"Shared passages" in files[path]]
    assert b"crane3" not in data and TALK.encode() not in data


def test_what_was_found_before_changes_nothing(site: Path, tmp_path: Path) -> None:
    """After texts came, changed, moved in time and went; also where the file of the last build is damaged."""
    known = KnownPassages()
    inbox = site / "memos/inbox"

    def add() -> None:
        for number in range(10):
            write_memo(inbox, f"2026-06-0{number}-0900--a--b--new", body=words("load"))

    def edit() -> None:
        memo = inbox / f"{QUOTING}.openthing"
        memo.write_text(memo.read_text().replace("load12", "other"))

    def redate() -> None:
        memo = inbox / f"{MEMO}.openthing"
        memo.write_text(memo.read_text().replace("2026-05-01T15", "2026-04-01T15"))

    def remove() -> None:
        for path in inbox.glob("*--new.openthing"):
            path.unlink()

    seen = []
    for change in (None, add, edit, redate, remove):
        if change:
            change()
        found = links(site, known=known)
        assert found == links(site)
        seen.append(found)
        build_site(site)
        assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "anew")
    assert all(one != other for one, other in pairwise(seen))
    (site / ".memosite/internal/state.sqlite").write_bytes(b"damaged")
    add()
    build_site(site)
    assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "anew")
