"""The pages of threads: what sums a thread up, which texts are folded; and the lists of threads (SPEC 4)."""

import json
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from lxml import html

from memosite.archive.model import Memo
from memosite.config.loading import load_config
from memosite.facts.json_text import to_json
from memosite.facts.values import replace
from memosite.plan import context_of
from memosite.plan.threads import thread_twin
from tests.support.archives import open_folders, read_folders
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.pages import bad_links, found
from tests.support.sites import EXAMPLE, EXAMPLE_SOURCES, build_site, built_from_nothing, tree_bytes

MEGABYTE = 1_000_000


def words(node: Any) -> str:
    """The text of an element in one line."""
    return " ".join(node.text_content().split())


def write_thread(folder: Path, memos: Iterable[tuple[str, str, str, str, bool]]) -> None:
    """Memos of one thread, replies to the first: letter, sender, recipients, time, whether it asks for an action."""
    names: list[str] = []
    for letter, sender, to, sent, is_action in memos:
        stamp = sent.replace(":", "").replace("T", "-")
        names.append(f"{stamp}--{sender}--{to.split(',')[0]}--{letter}")
        write_memo(
            folder / "memos/read", names[-1], sender=sender, to=to.split(","), sent=f"{sent}:00Z", thread_id="talk",
            subject=f"Memo {letter}", action_required=is_action, body=f"The text of {letter}. " * 30,
            in_reply_to=f"{names[0]}.openthing" if len(names) > 1 else None,
        )  # fmt: skip


def page_of(folder: Path) -> Any:
    """The page of the thread, built."""
    site = build_site(folder)
    assert list(bad_links(site)) == []
    return html.parse(site / "threads/talk/index.html").getroot()


def test_a_thread_says_who_took_part_and_who_has_not_answered(tmp_path: Path) -> None:
    """From when to when, the median of the replies of each, and for whom which memo waits, the oldest first."""
    write_thread(
        tmp_path / "org",
        (
            ("a", "director", "engineer,tester", "2026-05-01T09:00", True),
            ("b", "engineer", "director", "2026-05-01T12:00", False),
            ("c", "engineer", "director", "2026-05-03T10:00", True),
            ("d", "director", "engineer", "2026-05-02T09:00", False),
            ("e", "clerk", "director", "2026-05-04T09:30", False),
        ),
    )
    page = page_of(tmp_path / "org")
    names, marks, arrows = read_lanes(page)
    letters = {href: href[-1] for href, *_ in marks}
    assert names == ["director", "engineer", "clerk"], "in order of time"
    assert [(letters[href], lane, state) for href, lane, _, state in marks] == [
        ("a", "director", "waiting"), ("b", "engineer", "sent"), ("d", "director", "sent"),
        ("c", "engineer", "waiting"), ("e", "clerk", "sent"),
    ]  # fmt: skip
    assert [place for _, _, place, _ in marks] == ["2.0%", "16.0%", "41.9%", "70.4%", "98.0%"], (
        "half by time, half by rank"
    )
    assert [(letters[one], letters[other]) for one, other in arrows] == [("a", "b"), ("a", "d"), ("a", "c"), ("a", "e")]
    assert "5 memos from 3 positions, 2026-05-01 to 2026-05-04" in words(page.find_class("envelope")[0])
    rows = [[words(cell) for cell in row] for row in page.find_class("took-part")[0].findall("tbody/tr")]
    assert rows == [
        ["director org", "2", "2026-05-01 to 2026-05-02", "", "1"],
        ["tester org", "", "", "", "1"],
        ["engineer org", "2", "2026-05-01 to 2026-05-03", "1 day", ""],
        ["clerk", "1", "2026-05-04", "3 days", ""],
    ], "the director's own second memo is no reply to the first"
    assert [words(item) for item in page.find_class("waits")[0].findall("ul/li")] == [
        "tester, since 2026-05-01: Memo a",
        "director, since 2026-05-03: Memo c",
    ]


def test_what_a_thread_says_of_replies_is_so_for_each_thread_of_the_example(example_site: Path) -> None:
    """Held against the archive: numbers, first and last, medians; and each picture draws its table."""
    archive = read_folders(*EXAMPLE_SOURCES, aliases=load_config(EXAMPLE).aliases)
    compared = 0
    for thread in archive.threads.values():
        memos = [one for ref in thread.memos if isinstance(one := archive.artifacts[ref], Memo)]
        if len(memos) < 2:
            continue
        tree = html.parse(example_site / f"threads/{thread.id}/index.html").getroot()
        shown = {
            words(row[0].find("a")): [words(cell) for cell in row[1:4]]
            for row in tree.find_class("took-part")[0].findall("tbody/tr")
        }
        for sender in {memo.sender_position or memo.sender for memo in memos}:
            sent = [memo for memo in memos if (memo.sender_position or memo.sender) == sender]
            days = sorted({memo.date.instant: memo.date.day for memo in sent if memo.date}.items())
            span = [day for _, day in (days[0], days[-1])]
            parents = [(archive.artifacts[memo.parent], memo) for memo in sent if memo.parent]
            times = [
                _seconds(parent.date, memo.date)
                for parent, memo in parents
                if isinstance(parent, Memo) and (parent.sender_position or parent.sender) != sender
            ]
            assert shown[archive.label(sender)][:2] == [str(len(sent)), " to ".join(dict.fromkeys(span))]
            assert _seconds_of(shown[archive.label(sender)][2]) == (None if not times else _rounded(median(times)))
            compared += 1
    assert compared > 20
    pages = [html.parse(one).getroot() for one in sorted((example_site / "threads").glob("*/index.html"))]
    drawn = [page for page in pages if page.find_class("lanes")]
    assert sum(map(check_lanes, drawn)) > 30
    assert {mark[3] for page in drawn for mark in read_lanes(page)[1]} == {"waiting", "missing", "sent"}


def _seconds(before: Any, after: Any) -> float:
    start, end = (datetime.fromisoformat(one.utc) for one in (before, after))
    return (end - start).total_seconds()


def _rounded(seconds: float) -> int:
    size = next(size for size in (86_400, 3_600, 60) if seconds >= size)
    return int(seconds // size) * size


def _seconds_of(shown: str) -> int | None:
    if not shown:
        return None
    number, unit = shown.split()
    return int(number) * {"day": 86_400, "hour": 3_600, "minute": 60}[unit.removesuffix("s")]


def test_a_long_thread_is_folded_but_for_first_and_newest_and_branches_say_what_they_answer(tmp_path: Path) -> None:
    """The newest by date; others show their beginning. Five memos are not many. A chain says when."""
    days = ("01", "02", "07", "03", "04", "05")
    for count, expected in ((5, []), (6, ["b", "d", "e", "f"])):
        folder = tmp_path / str(count)
        memos = zip("abcdef", days, strict=True)
        write_thread(
            folder, [(letter, f"p{letter}", "director", f"2026-05-{day}T09:00", False) for letter, day in memos][:count]
        )
        page = page_of(folder)
        folded = page.xpath("//details[@class='fold' and not(@open)]")
        assert [words(one.getparent().find("header/h2/a"))[-1] for one in folded] == expected
        assert [words(one.find("summary"))[:14] for one in folded] == [f"The text of {letter}." for letter in expected]
    folder = tmp_path / "org/memos/read"
    chain = ("2026-05-01-0900--a--b--one", "2026-05-02-0900--b--a--two", "2026-05-03-0900--a--b--three")
    for name, parent in zip(chain, (None, *chain), strict=False):
        write_memo(
            folder, name, sender=name[17], to=name[20], sent=f"{name[:10]}T09:00:00Z", thread_id="talk",
            in_reply_to=f"{parent}.openthing" if parent else None,
        )  # fmt: skip
    write_memo(
        folder, "2026-05-09-0900--c--a--late", sender="c", to="a", sent="2026-05-09T09:00:00Z", thread_id="talk",
        in_reply_to=f"{chain[0]}.openthing",
    )  # fmt: skip
    page = page_of(tmp_path / "org")
    shown = [
        words(one).rpartition("· ")[2]
        for one in page.xpath("//section[starts-with(@class, 'member')]//p[@class='envelope']")
    ]
    assert shown[1:] == ["reply after 1 day", "reply after 1 day", f"reply to About {chain[0]} after 8 days"]
    assert [item.get("class") for item in page.xpath("//ol[@class='tree']/li")] == [
        "depth-0", "depth-1", "depth-1 next", "depth-1",
    ]  # fmt: skip


def test_many_who_took_part_are_folded_and_a_memo_without_a_reply_says_so(tmp_path: Path) -> None:
    """The memos come first: five positions fill half a screen, more are a line."""
    for people in (4, 5):
        org = tmp_path / f"org-{people}"
        first = "2026-05-01-0900--chief--director--start"
        write_memo(org / "memos/read", first, sender="chief", to=["director"], thread_id="talk")
        for number in range(people):
            write_memo(
                org / "memos/read", f"2026-05-02-090{number}--p{number}--chief--reply-{number}", sender=f"p{number}",
                to=["chief"], thread_id="talk", in_reply_to=f"{first}.openthing",
            )  # fmt: skip
        write_memo(org / "memos/read", "2026-05-01-1000--p1--chief--aside", sender="p1", to=["chief"], thread_id="talk")
        page = page_of(org)
        folded = page.xpath("//details[summary[starts-with(., 'Who took part')]]")
        (table,) = page.find_class("took-part")
        rows = len(table.findall("tbody/tr"))
        assert [words(one.find("summary")) for one in folded] == [f"Who took part {rows} positions"] * (rows > 5)
        assert (table.getparent().getparent() in folded) == (rows > 5)
        apart = [words(one.find("header/h2/a")) for one in page.find_class("member") if "no reply chain" in words(one)]
        assert apart == ["About 2026-05-01-1000--p1--chief--aside"]


def test_a_thread_of_hundreds_stays_in_bounds(tmp_path: Path) -> None:
    """Every part below a megabyte, the first with what sums up all of them; links between parts work."""
    people = [f"position-{number:03}" for number in range(60)]
    first = "2026-05-01-0000--x--director--m-0.openthing"
    for number in range(600):
        day, minute = f"2026-05-{1 + number // 60:02}", number % 60
        write_memo(
            tmp_path / "org/memos/read", f"{day}-{minute:04}--x--director--m-{number}", sender=people[minute],
            sent=f"{day}T09:{minute:02}:00Z", thread_id="talk", action_required=True, body="&<>" * 500,
            in_reply_to=first if number else None,
        )  # fmt: skip
    page = page_of(tmp_path / "org")
    pages = list((tmp_path / "org/_site/threads/talk").rglob("index.html"))
    assert len(pages) > 5 and max(one.stat().st_size for one in pages) < MEGABYTE
    assert len(page.find_class("took-part")[0].findall("tbody/tr")) == 20
    assert [len(html.parse(one).getroot().find_class("took-part")) for one in sorted(pages)].count(1) == 1
    assert all(check_lanes(html.parse(one).getroot()) == 60 for one in sorted(pages)[:2])
    assert len(read_lanes(page)[0]) == 8
    assert "20 of 61: those with most memos." in words(page.find_class("title")[0])
    assert "The oldest 10 of 600." in words(page.find_class("waits")[0])


def read_lanes(page: Any) -> tuple[list[str], list[tuple[str, str, str, str]], list[tuple[str, str]]]:
    """What a picture draws: its lanes; marks with link, lane, place and state; arrows between marks by their links."""
    (picture,) = page.find_class("lanes")
    (drawing,) = picture.findall("div/svg")
    assert all(one.get("class") == "end" for one in drawing.findall("text")), "no name is where arrows may cross it"
    names = [words(one) for one in picture.findall("div[@class='drawn']/ol/li")]
    heights = [one.get("y1") for one in drawing.find_class("lane")]
    at: dict[tuple[str, str], str] = {}
    marks = []
    for link in drawing.findall("a"):
        (circle,) = link.findall("circle")
        place = circle.get("cx"), circle.get("cy")
        marks.append((link.get("href"), names[heights.index(place[1])], place[0], circle.get("class")))
        assert at.setdefault(place, link.get("href")) == link.get("href"), "two marks are at one place"
    arrows = [
        (at[one.get("x1"), one.get("y1")], at[one.get("x2"), one.get("y2")]) for one in drawing.find_class("reply")
    ]
    return names, marks, arrows


def check_lanes(page: Any) -> int:
    """A picture draws its table: every mark, lane, state and reply, from left to right."""
    _, marks, arrows = read_lanes(page)
    rows = page.find_class("lanes")[0].findall(".//tbody/tr")
    links = [row.find("th/a").get("href") for row in rows]
    states = {"": "sent", "not answered yet": "waiting", "missing memo": "missing"}
    table = [(link, words(row[1]), states[words(row[5])]) for link, row in zip(links, rows, strict=True)]
    assert [(href, lane, state) for href, lane, _, state in marks] == table
    replies = [
        (links[int(one) - 1], href)
        for href, row in zip(links, rows, strict=True)
        for one in words(row[3]).split(", ")
        if one
    ]
    assert arrows == replies
    places = [float(place.rstrip("%")) for _, _, place, _ in marks]
    assert places == sorted(set(places)) and all(0 < place < 100 for place in places)
    dates = [row[2].find("time").get("datetime") for row in rows if len(row[2])]
    assert dates == sorted(dates)
    return len(marks)


# The lists of threads

THREADS, WAITING = "timeline/threads/index.html", "timeline/threads/waiting/index.html"


def write_named(
    site: Path, name: str, day: str, *, to: str = "director", sender: str = "engineer", **fields: Any
) -> None:
    """A memo of a day."""
    write_memo(site / "repo/memos/inbox", name, sender=sender, to=to, sent=f"{day}T09:00:00Z", subject=name, **fields)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An old thread that is active, a newer one that waits, one that waits longer; a memo that nobody answered."""
    site = tmp_path / "site"
    write_named(site, "oak", "2026-04-01")
    write_named(site, "oak-re", "2026-05-20", sender="director", to="engineer", in_reply_to="oak")
    write_named(site, "ash", "2026-05-02", action_required=True)
    write_named(site, "ash-re", "2026-05-03", in_reply_to="ash", to="clerk", sender="engineer")
    write_named(site, "elm", "2026-04-05", action_required=True, to="clerk")
    write_named(site, "elm-re", "2026-04-06", in_reply_to="elm")
    write_named(site, "fir", "2026-03-01", action_required=True)
    return site


def rows(output: Path, page: str) -> list[str]:
    """What each row of a list says."""
    tree = html.parse(output / page)
    return [" ".join(row.text_content().split()) for row in tree.xpath("//ol[@class='rows']/li")]


def test_threads_are_listed_by_their_newest_memo_and_by_what_waits_longest(site: Path) -> None:
    """With the number of memos, from when to when, of whom, and who has not answered; home leads there.

    By the oldest open action; a memo alone is no thread.
    """
    output = build_site(site)
    oak, ash, elm = rows(output, THREADS)
    assert oak == "2026-05-20 oak 2 memos, 2026-04-01 to 2026-05-20 · engineer, director"
    assert ash == "2026-05-03 ash open 18 days 2 memos, 2026-05-02 to 2026-05-03 · engineer · waiting for director"
    assert elm == "2026-04-06 elm open 45 days 2 memos, 2026-04-05 to 2026-04-06 · engineer · waiting for clerk"
    assert [row.split()[:2] for row in rows(output, WAITING)] == [["2026-04-05", "elm"], ["2026-05-02", "ash"]]
    said = " ".join(html.parse(output / WAITING).xpath("string(//header/p[@class='envelope'])").split())
    assert "They have 2 of 3 open actions; the others are in no thread yet." in said
    open_tab = html.parse(output / WAITING).xpath("//header[@class='title']//a/@href")
    assert len(html.parse((output / WAITING).parent / open_tab[0]).xpath("//li[contains(@class, 'row')]")) == 3
    assert "open action" not in html.parse(output / THREADS).xpath("string(//header[@class='title'])")
    home = html.parse(output / "index.html")
    assert found(home, "//a[starts-with(@href, 'timeline/threads/')]/@href") == [THREADS, WAITING]
    assert not list(bad_links(output))


def test_without_threads_the_list_says_so_and_a_thread_may_have_any_id(tmp_path: Path) -> None:
    """Home does not lead there then. Also the id of a part or of a list: it has its own page."""
    write_named(tmp_path / "site", "fir", "2026-03-01", action_required=True)
    output = build_site(tmp_path / "site")
    assert "No threads yet." in (output / THREADS).read_text()
    assert "Nobody owes an answer in a thread." in (output / WAITING).read_text()
    assert "They have 0 of" in (output / WAITING).read_text()
    assert "timeline/threads/" not in (output / "index.html").read_text()
    for id_ in ("waiting", "1"):
        write_named(tmp_path / "site", f"{id_}-a", "2026-03-01", thread_id=id_)
        write_named(tmp_path / "site", f"{id_}-b", "2026-03-02", thread_id=id_)
    build_site(tmp_path / "site")
    assert len(rows(output, THREADS)) == 2
    assert all((output / f"threads/{id_}/index.html").is_file() for id_ in ("waiting", "1"))
    assert not list(bad_links(output))


def test_a_part_is_made_again_when_one_of_its_threads_changes(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a reply, an answer, another name of a position; what comes later changes nothing of it but its own thread."""
    monkeypatch.setattr("memosite.plan.threads._SHOWN", 1)
    part = "timeline/threads/1/index.html"
    changes: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: write_named(site, "ash-yes", "2026-05-30", sender="director", to="engineer", in_reply_to="ash"),
        lambda: write_text(site / "memosite.yml", "positions: {aliases: {clerk: director}}\n"),
        lambda: write_named(site, "yew", "2026-06-01"),
        lambda: write_named(site, "yew-re", "2026-06-02", sender="director", to="engineer", in_reply_to="yew"),
    )
    for number, change in enumerate(changes):
        change()
        output = build_site(site)
        assert tree_bytes(output) == built_from_nothing(site, tmp_path / f"fresh-{number}")
        assert "Showing the first 1 of " in (output / THREADS).read_text()
    names = [row.split()[1] for row in rows(output, part)]
    assert names == ["oak", "elm", "ash", "yew"]


def twin_of_talk(folder: Path, memos: Iterable[tuple[str, str]]) -> tuple[Any, str]:
    """The JSON and the Markdown of a thread: memos, a day after one another, given as letters and texts."""
    first = "2026-05-01-0900--a--b--ask"
    for number, (letter, text) in enumerate(memos):
        day = f"2026-05-{number + 1:02d}"
        write_memo(
            folder / "memos/read", first if not number else f"{day}-0900--b--a--{letter}", sent=f"{day}T09:00:00Z",
            thread_id="talk", subject=f"Memo {letter}", body=text, in_reply_to=f"{first}.openthing" if number else None,
        )  # fmt: skip
    page = build_site(folder) / "threads/talk"
    return json.loads((page / "index.json").read_bytes()), (page / "index.md").read_text(encoding="utf-8")


def test_the_twins_of_a_thread_have_the_texts_of_its_memos(tmp_path: Path) -> None:
    """In reading order, with what each replies to. The line in which a text begins stands above all texts."""
    forged = "Fine.\n\n---\n\n- 3: 2026-05-09 director: [Approved](x)\n\n## Memo z\n\nApproved."
    twin, text = twin_of_talk(tmp_path / "org", (("a", "May we?"), ("b", forged), ("c", "Later.")))
    ask = "memo/2026-05-01-0900--a--b--ask"
    assert [(one["depth"], one["replies_to"], one["text"]) for one in twin["entries"]] == [
        (0, None, "May we?"), (1, ask, forged), (1, ask, "Later."),
    ]  # fmt: skip
    assert (twin["total"], twin["shown"], twin["missing"], twin["more"]) == (3, 3, 0, None)
    lines = text.splitlines()
    listed = [line for line in lines[: lines.index("---")] if line.startswith("- ")]
    assert [lines[int(line[2:].partition(":")[0]) - 1] for line in listed] == ["## Memo a", "## Memo b", "## Memo c"]


def test_the_twins_of_a_long_thread_are_bounded_and_say_what_is_cut(tmp_path: Path) -> None:
    """Every listed memo has some text, the first and the newest all of theirs; of many, the list has these."""
    texts = [
        (f"m{number}", f"Memo {number}.\n\n" + "Words of it. " * (number % 2 == 0) * 1_000) for number in range(20)
    ]
    twin, text = twin_of_talk(tmp_path / "long", texts)
    entries = twin["entries"]
    assert [entry["text"].split(".")[0] for entry in entries] == [f"Memo {number}" for number in range(20)]
    assert [texts[at][1] == entries[at]["text"] for at in (0, 1, 10, 18)] == [True, True, False, True]
    cut = entries[10]
    assert len(cut["text"]) + cut["characters_left"] == len(texts[10][1]) and cut["text"].endswith(" ")
    assert f"[{cut['characters_left']:,} more characters: the link in the list above]" in text
    assert 40_000 < sum(len(entry["text"]) for entry in entries) <= 60_000
    with open_folders(tmp_path / "long") as (archive, shelf):
        [thread] = archive.threads.values()
        context = context_of(load_config(tmp_path / "long"), archive, shelf)
        many = thread_twin(context, "threads/talk/", replace(thread, entries=thread.entries * 1_000))
    data = to_json(many.fields)
    listed = json.loads(data)["entries"]
    assert max(len(data), len(many.text)) < 100_000
    assert many.fields["more"] == {"left_out": 20_000 - len(listed), "all": "../../archive/index.json"}
    assert {one["id"][-2:] for one in listed} == {"sk", "19"}, "the first and the newest ones"


def test_the_twin_of_a_thread_has_no_text_of_what_was_erased(tmp_path: Path) -> None:
    """A notice is in its place."""
    twin_of_talk(tmp_path / "org", (("a", "May we?"), ("b", "Her home address.")))
    write_text(
        tmp_path / "org/memosite.yml",
        "title: Org\nerase:\n- {id: 2026-05-02-0900--b--a--b, why: asked for, on: 2026-06-01}\n",
    )
    page = build_site(tmp_path / "org") / "threads/talk"
    assert json.loads((page / "index.json").read_bytes())["entries"][1]["text"].startswith(
        "The content of this memo was"
    )
    assert not any(b"home address" in path.read_bytes() for path in page.iterdir() if path.is_file())
