"""What pages there are, and how long ones are split (SPEC 4)."""

import json
import re
from pathlib import Path
from typing import Any

from lxml import html

from memosite.pages import VERBATIM_CHARS, cut_text
from memosite.plan.page import in_parts, part_count, part_links, part_title
from memosite.render.renderer import PAGE_BYTES
from tests.support.memos import send, write_body, write_memo, write_transcript
from tests.support.pages import bad_links, found, pages
from tests.support.sites import build_site, built_files

MEGABYTE = 1_000_000


def test_a_verbatim_text_is_cut_at_line_ends_if_it_is_longer_than_a_part() -> None:
    """One of just that length is one part; a line without an end is cut where the part is full."""
    line, most = "word\n", VERBATIM_CHARS
    assert cut_text(line * (most // 5)) == [(0, most)] and most % 5 == 0
    assert cut_text(line * (most // 5) + "x") == [(0, most), (most, most + 1)]
    assert cut_text("a" + line * (most // 5)) == [(0, most - 4), (most - 4, most + 1)]
    assert cut_text("x" * (most + 1)) == [(0, most), (most, most + 1)]


def test_lists_and_threads_of_many_memos_are_split_and_full_parts_stay(tmp_path: Path) -> None:
    """Counted from the oldest, and the newest is shown; so one more memo touches one list page and not all."""
    repo, output = tmp_path / "repo", tmp_path / "out"
    for number in range(1_010):
        name = f"2026-05-{1 + number // 60:02d}-09{number % 60:02d}--engineer--director--memo-{number}"
        parent = "2026-05-01-0900--engineer--director--memo-0.openthing" if 0 < number < 510 else None
        send(repo / "memos/read", name, in_reply_to=parent, body="A sentence of ten words, said again. " * 40)
    before = built_files(repo, output=output)
    send(repo / "memos/read", *(f"2026-0{month}-01-0000--engineer--director--late" for month in (5, 6)))
    build_site(repo, output=output)
    assert max(page.stat().st_size for page in pages(output)) < MEGABYTE
    assert list(bad_links(output)) == []
    month = output / "timeline/2026/05"
    assert sorted(path.name for path in month.iterdir() if path.is_dir()) == ["1", "2", "3"]
    parts = [memo_links(month / name / "index.html") for name in ("1", "2", "3")]
    assert [len(part) for part in parts] == [500, 500, 11]
    assert len(set().union(*parts)) == 1_011
    assert memo_links(month / "index.html") == parts[2]
    for page in ("timeline/2026/05", "positions/director"):
        assert (output / page / "3/index.html").exists()
        for full in (f"{page}/1/index.html", f"{page}/2/index.html"):
            assert memo_links(output / full)
            assert before[full] == (output / full).read_bytes()
    thread = output / "threads/2026-05-01-0900--engineer--director--memo-0"
    of_thread = [thread / "index.html", *sorted(thread.glob("*/index.html"), key=lambda path: int(path.parent.name))]
    anchors = [id_ for part in of_thread for id_ in found(html.parse(part), "//*[starts-with(@id,'memo-')]/@id")]
    assert len(of_thread) > 1
    assert len(anchors) == len(set(anchors)) == 510


def memo_links(page: Path) -> set[str]:
    """The memos that a page's main part links to."""
    hrefs = found(html.parse(page), "//main//a/@href")
    return {match[1] for href in hrefs if (match := re.search(r"memos/([^/]+)/index\.html$", href))}


def test_transcripts_are_split_at_turns(tmp_path: Path) -> None:
    """Over a megabyte, and every turn keeps its anchor; of many short turns, what stands around a turn counts, too."""
    talk = "## User\n\na\n\n## Assistant\n\n字\n\n" * 2_000
    write_transcript(tmp_path / "repo/transcripts/engineer", "2026-05-01-1430--engineer--short", text=talk)
    turns = [f"## User\n\nQuestion {number}. " + "word " * 2000 for number in range(200)]
    write_transcript(tmp_path / "repo/transcripts/engineer", "2026-05-01-1430--engineer--long", text="\n\n".join(turns))
    build_site(tmp_path / "repo", output=tmp_path / "out")
    transcript = tmp_path / "out/transcripts/2026-05-01-1430--engineer--long"
    parts = [transcript / "index.html", *transcript.glob("*/index.html")]
    assert len(parts) > 2
    assert all(part.stat().st_size < MEGABYTE for part in parts)
    anchors = {id_ for part in parts for id_ in found(html.parse(part), "//*/@id") if re.fullmatch(r"t\d+", id_)}
    assert anchors == {f"t{number}" for number in range(1, 201)}
    index = found(html.parse(parts[0]), "//nav[@class='outline']//*/@id")
    assert [id_ for id_ in index if re.fullmatch(r"t\d+", id_)][-1] == "t200"
    assert list(bad_links(tmp_path / "out")) == []
    parts = list((tmp_path / "out/transcripts/2026-05-01-1430--engineer--short").rglob("index.html"))
    assert len(parts) > 3
    assert all(part.stat().st_size < MEGABYTE for part in parts)
    assert sum(len(found(html.parse(part), "//section/@id")) for part in parts) == 4_000


def test_two_captures_of_one_session_lead_to_each_other_and_notes_are_listed_by_who_held_a_seat(tmp_path: Path) -> None:
    """The session's UUID says so, and nothing less; its notes have a section of their own, the newest first."""
    folder = tmp_path / "repo/notes/engineer"
    for day, arc in ((1, "arc-1"), (2, "arc-1"), (3, "arc 2 / late")):
        name = f"2026-05-0{day}-0900--engineer--file--note-{day}"
        write_memo(folder, name, to="file", sent=f"2026-05-0{day}T09:00:00Z", metadata={"sender_session_arc": arc})
    uuid = "9103a7c6-fefb-412a-be0d-08c7a69eec20"
    folder = tmp_path / "repo/transcripts/engineer"
    for name, arc in (
        ("2026-05-01-1430--engineer--one", f"model-a, session {uuid}"),
        ("2026-05-01-1431--engineer--two", f"model-b {uuid.upper()}"),
        ("2026-05-01-1432--engineer--other", "model-a, session sidepanel.html"),
        ("2026-05-01-1433--engineer--same", "model-a, session sidepanel.html"),
    ):
        write_transcript(folder, name, participants=[{"position": "engineer", "session_arc": arc}])
    build_site(tmp_path / "repo", output=tmp_path / "out")

    def captures(name: str) -> list[str]:
        tree = html.parse(tmp_path / f"out/transcripts/2026-05-01-{name}/index.html")
        return found(tree, "//section[@class='captures']//a[@class='subject']/@href")

    assert captures("1430--engineer--one") == ["../2026-05-01-1431--engineer--two/index.html"]
    assert captures("1431--engineer--two") == ["../2026-05-01-1430--engineer--one/index.html"]
    assert captures("1432--engineer--other") == []
    tree = html.parse(tmp_path / "out/positions/engineer/index.html")
    assert found(tree, "//section[starts-with(@id, 'notes-')]/@id") == ["notes-2", "notes-1"]
    assert found(tree, "//section[@id='notes-1']/h2/text()")[0].strip() == "Notes of arc-1"
    assert len(found(tree, "//section[@id='notes-1']//li/a/@href")) == 2


def test_a_body_longer_than_a_page_is_cut_and_its_original_linked(tmp_path: Path) -> None:
    """Nothing is lost: the original is published whole."""
    name = "2026-05-01-1430--engineer--director--long"
    text = "word " * 400_000
    write_memo(tmp_path / "repo/memos/inbox", name, body_ref=f"{name}.body.md")
    write_body(tmp_path / "repo/memos/inbox", name, text)
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    page = files[f"memos/{name}/index.html"]
    assert len(page) < MEGABYTE
    assert b"original.body.md" in page
    assert files[f"memos/{name}/original.body.md"].decode() == text


def test_a_ghost_has_the_page_of_its_memo_and_a_thread_with_a_new_root_leads_on_from_its_old_address(
    tmp_path: Path,
) -> None:
    """The ghost says what its name says and who replies; when the memo comes, it takes the place."""
    parent = "2026-04-30-1100--director--engineer--please-open-the-gate"
    write_memo(
        tmp_path / "repo/memos/inbox", "2026-05-01-1430--engineer--director--done", in_reply_to=f"{parent}.openthing"
    )
    page = f"memos/{parent}/index.html"
    ghost = built_files(tmp_path / "repo", output=tmp_path / "out")[page].decode()
    assert "Please open the gate" in ghost
    assert "missing memo" in ghost
    write_memo(tmp_path / "repo/memos/read", parent, sender="director", to="engineer", subject="Please open the gate")
    assert "Please open the gate" in built_files(tmp_path / "repo", output=tmp_path / "out")[page].decode()
    repo = tmp_path / "rooted"
    write_memo(repo / "memos/read", "2026-05-02-0900--a--b--two", in_reply_to=None)
    write_memo(repo / "memos/read", "2026-05-03-0900--b--a--three", in_reply_to="2026-05-02-0900--a--b--two.openthing")
    before = built_files(repo, output=tmp_path / "out-rooted")
    write_memo(repo / "memos/read", "2026-05-02-0900--a--b--two", in_reply_to="2026-05-01-0900--b--a--one.openthing")
    write_memo(repo / "memos/read", "2026-05-01-0900--b--a--one", sent="2026-05-01T09:00:00Z")
    after = built_files(repo, output=tmp_path / "out-rooted")
    old, new = (f"threads/2026-05-0{day}-0900--{who}/index.html" for day, who in ((2, "a--b--two"), (1, "b--a--one")))
    assert old in before
    assert new in after
    assert b"2026-05-01-0900--b--a--one/index.html" in after[old]
    assert list(bad_links(tmp_path / "out-rooted")) == []


def test_twins_say_the_same_as_the_page(tmp_path: Path) -> None:
    """The JSON twin holds the line of the archive and the text. A thread of one is its memo's page."""
    name = "2026-05-01-1430--engineer--director--m"
    write_memo(tmp_path / "repo/memos/inbox", name, body="Some *text*.")
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    twin = json.loads(files[f"memos/{name}/index.json"])
    line = json.loads(files["archive/2026/05.jsonl"])
    assert {key: twin[key] for key in line} == line
    assert twin["body"] == "Some *text*."
    assert b"Some *text*." in files[f"memos/{name}/index.md"]
    assert not [path for path in files if path.startswith("threads/")]


def test_full_parts_stay_as_they_are_when_a_list_grows_and_are_linked_by_their_number() -> None:
    """They are cut from the oldest on; a list that fits its page has none. The first may be the page itself."""
    before, after = in_parts(range(1_001)), in_parts(range(1_002))
    assert before == [range(500), range(500, 1_000), range(1_000, 1_001)]
    assert before[:2] == after[:2]
    assert in_parts([]) == [()]
    assert [part_title("Health", number) for number in (None, 0, 2)] == ["Health", "Health", "Health, page 2"]
    links = part_links("health/2/", "health/", 2, 2, first="health/")
    assert [(one.label, one.href, one.is_current) for one in links] == [
        ("1", "../index.html", False), ("2", "index.html", True)
    ]  # fmt: skip
    assert (part_count(range(500)), part_count(range(501)), part_count(range(101), shown=100)) == (0, 2, 1)


def test_anchors_are_made_of_keys_and_stay_when_a_heading_has_another_word(tmp_path: Path) -> None:
    """Those of part pages, of a position and of digests were published when headings had other words."""
    repo = tmp_path / "repo"
    for number in range(501):
        day = f"2026-05-{number % 28 + 1:02}"
        fields: dict[str, Any] = {"sender": "a", "to": "b", "action_required": True, "sent": f"{day}T10:00:00Z"}
        write_memo(repo / "memos/inbox", f"m{number}", **fields)
    (tmp_path / "memosite.yml").write_text("sources: [{path: repo}]\nfeeds: {digest: daily}\n")
    site = build_site(tmp_path)

    def headings(page: str) -> dict[str, str]:
        tree: Any = html.fromstring((site / page).read_bytes())
        return {str(one.get("id")): one.xpath("string(h2)").split(" ")[0] for one in tree.xpath("//section[@id]")}

    assert headings("positions/b/1/index.html") == {"2026-05": "May"}
    assert '<span id="part-1"></span>' in (site / "positions/b/1/index.html").read_text()
    anchors = {str(one.get("id")) for one in html.parse(site / "positions/b/index.html").iter() if one.get("id")}
    assert {"inbox", "open-actions", "sent"} <= anchors
    assert headings("digests/2026-05-01/index.html") == {"memos": "Memos"}


HEAVY = {"list": "- a\n" * 55_000, "paragraphs": "a & b\n\n" * 30_000}


def test_a_heavy_turn_leaves_all_turns_on_their_page(tmp_path: Path) -> None:
    """With their anchors and citations; what is heaviest is shown as written, the rest as always."""
    folder = tmp_path / "quay/transcripts/engineer"
    heavy = {f"2026-05-01-1430--engineer--{kind}-of-{by}": (kind, by) for kind in HEAVY for by in ("User", "Assistant")}
    for name, (kind, speaker) in heavy.items():
        texts = ("So it *begins*.", HEAVY[kind], "- so\n- it\n- ends", "Yes.")
        write_transcript(folder, name, text="\n".join(f"## {speaker}\n\n{text}\n" for text in texts))
    output = build_site(tmp_path / "quay")
    for name, (kind, speaker) in heavy.items():
        written = (output / "transcripts" / name / "index.html").read_bytes()
        assert len(written) < PAGE_BYTES + 100_000
        page: Any = html.fromstring(written.decode())
        assert page.xpath("//section[contains(@class, 'turn')]/@id") == ["t1", "t2", "t3", "t4"]
        assert len(page.xpath("//section/*[contains(@class, 'cite')]//*[@class='check']")) == 4
        shown = "".join(page.xpath("//section[@id='t2']/div")[0].itertext())
        assert sum(map(str.isalnum, shown)) >= sum(map(str.isalnum, HEAVY[kind]))
        assert len(page.xpath("//*[@id='t3']//@id[starts-with(., 't3-p-')]")) == 3
        assert len(page.xpath("//*[@id='t1']//em")) == (0 if speaker == "User" else 1)
