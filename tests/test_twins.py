"""Twins: what pages of transcripts, documents and records show is in their JSON and Markdown, too, within bounds."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import html

from memosite.archive.model import RecordLink
from memosite.facts.parsed import RecordEvent, Ref
from memosite.facts.times import read_moment
from memosite.facts.values import replace
from tests.support.files import write_text
from tests.support.lives import NAME, put
from tests.support.memos import write_memo, write_transcript
from tests.support.pages import found
from tests.support.record_pages import document, planned, record
from tests.support.repos import Repo
from tests.support.sites import build_site

LIST_BYTES = 16_000
UUID = "9103a7c6-fefb-412a-be0d-08c7a69eec20"


def turn(number: int, *, speaker: str = "🧑 User", text: str = "Hello.") -> str:
    """A turn, a minute after the one before it."""
    return f"---\n\n## {speaker} <sub>2026-05-01 {16 + number // 60}:{number % 60:02d}:00</sub>\n\n{text}\n\n"


def talk_of(*texts: str) -> str:
    """A conversation in which a person and an assistant take turns."""
    speakers = ("🧑 User", "🤖 Assistant *(model-9)*")
    return "".join(turn(number, speaker=speakers[number % 2], text=text) for number, text in enumerate(texts))


def built(repo: Path, text: str, **fields: object) -> Path:
    """Build a site with a transcript `talk`, and give its folder."""
    write_transcript(repo / "transcripts/engineer", "talk", text=text, **fields)
    return build_site(repo, output=repo.parent / "out") / "transcripts/talk"


def twin_of(page: Path) -> Any:
    """What the JSON of a transcript has besides that of all items."""
    return json.loads((page / "index.json").read_text(encoding="utf-8"))["transcript"]


def lines_of(page: Path) -> list[Any]:
    """All turns of a transcript, as the file of its turns has them."""
    return [json.loads(line) for line in (page / "turns.jsonl").read_text(encoding="utf-8").splitlines()]


def size(entries: Sequence[object]) -> int:
    """The bytes of a list in a twin."""
    return len(json.dumps(entries, indent=1, ensure_ascii=False).encode())


def test_a_turn_in_the_twin_is_the_turn_of_the_page(tmp_path: Path) -> None:
    """Ordinal, hash, speaker, model, time and tools of each, compared with the page and with a hash made here."""
    tool = "> **🔧 Bash** <sub>2026-05-01 16:01:30</sub>\n> ```\n> water --all\n> ```"
    texts = ["Please water the plants.", f"At once.\n\n{tool}\n\nDone.", "Thanks."]
    page = built(tmp_path / "repo", talk_of(*texts))
    twin = twin_of(page)
    tree = html.parse(page / "index.html")
    assert [one["ordinal"] for one in twin["turns"]] == [1, 2, 3]
    # The hash is over the lines after the heading, the blank one there included (SPEC 7).
    hashes = [hashlib.sha256(f"\n{text}".encode()).hexdigest() for text in texts]
    assert [one["sha256"] for one in twin["turns"]] == hashes
    assert [one["text"] for one in twin["turns"]] == [texts[0], "At once.\n\nDone.", texts[2]]
    assert [one["speaker"] for one in twin["turns"]] == found(tree, "//section[contains(@class, 'turn')]//h2/text()")
    assert [one["time"] for one in twin["turns"]] == found(tree, "//section/header//time/@datetime")
    assert [one["written"] for one in twin["turns"]] == found(tree, "//section/header//time/@title")
    assert [(one["model"], one["person"], one["tools"]) for one in twin["turns"]] == [
        (None, True, []), ("model-9", False, ["Bash"]), (None, True, []),
    ]  # fmt: skip
    assert twin["left_out"] == {} and lines_of(page) == twin["turns"]


def test_every_turn_is_listed_and_its_link_opens_it(tmp_path: Path) -> None:
    """The list in the JSON is bounded and says where all of them are; each link leads to the part with that turn."""
    page = built(tmp_path / "repo", talk_of(*(f"Turn {number}. " + "word " * 900 for number in range(150))))
    twin, lines = twin_of(page), lines_of(page)
    assert size(twin["turns"]) <= LIST_BYTES < size(lines)
    assert twin["turns_total"] == len(lines) == 150 == len(twin["turns"]) + twin["left_out"]["turns"]
    assert lines[: len(twin["turns"])] == twin["turns"] and (page / twin["all_turns"]).is_file()
    files = {line["href"].partition("#")[0] for line in lines}
    assert len(files) > 2
    anchors = {file: found(html.parse(page / file), "//section/@id") for file in files}
    for number, line in enumerate(lines, 1):
        file, _, anchor = line["href"].partition("#")
        assert anchor == f"t{number}" and anchor in anchors[file]
        assert len(line["text"]) <= 300 < line["chars"]
    tree = html.parse(page / "2/index.html")
    assert "../turns.jsonl" in found(tree, "//link[@type='application/jsonl']/@href")


def test_participants_captures_and_what_belongs_to_a_transcript(tmp_path: Path) -> None:
    """With session or identity, in JSON and in Markdown."""
    repo = tmp_path / "repo"
    participants = [
        {"position": "engineer", "session_arc": f"model-9, session {UUID}"},
        {"position": "director", "identity": "ada@harbour.example", "since": "April"},
    ]
    write_transcript(repo / "transcripts/engineer", "again", text="No turns.\n", participants=participants)
    write_memo(repo / "memos", "meanwhile", sent="2026-05-01T14:30:30Z")
    page = built(
        repo, talk_of("Hello.", "Hello."), participants=participants, related_memos=["meanwhile.openthing", "lost"]
    )
    twin = twin_of(page)
    assert twin["participants"] == [
        {"position": "engineer", "session_arc": f"model-9, session {UUID}", "identity": None, "extra": ""},
        {
            "position": "director",
            "session_arc": None,
            "identity": "ada@harbour.example",
            "extra": '{\n  "since": "April"\n}',
        },
    ]
    assert (twin["captures"], twin["side_by_side"]) == (["transcript/again"], ["captures/index.html#with-again"])
    assert (twin["related"], twin["unresolved"]) == (["memo/meanwhile"], ["lost"])
    assert (twin["written_during"], twin["last_turn"]) == (["memo/meanwhile"], "2026-05-01T14:31:00Z")
    head = (page / "index.md").read_text(encoding="utf-8").partition("\n---\n")[0].splitlines()
    assert f"Participants: engineer (model-9, session {UUID}), director (ada@harbour.example)" in head
    assert "Captures: transcript/again" in head and "Written-During: memo/meanwhile" in head
    assert "Turns: 2: see turns.jsonl" in head
    again = page.with_name("again")
    assert (twin_of(again)["turns"], twin_of(again)["all_turns"]) == ([], None), "a body of no known form is one text"
    assert not (again / "turns.jsonl").exists()
    assert "turns.jsonl" not in (again / "index.html").read_text(encoding="utf-8")


def test_lists_of_a_hostile_transcript_are_bounded(tmp_path: Path) -> None:
    """Thousands of participants and related memos, endless names, and quotes that JSON escapes."""
    page = built(
        tmp_path / "repo",
        talk_of(*['"\\' * 400] * 100).replace("Assistant", "A" * 5_000),
        participants=[{"position": f"p-{number}", "identity": "x" * 100} for number in range(2_000)],
        related_memos=[f"2026-05-01-0000--a--b--memo-{number}" for number in range(3_000)],
    )
    twin = twin_of(page)
    assert all(size(twin[name]) <= LIST_BYTES for name in ("participants", "unresolved", "turns"))
    assert twin["left_out"]["participants"] == 2_000 - len(twin["participants"]) > 0
    assert twin["left_out"]["unresolved"] == 3_000 - len(twin["unresolved"]) > 0
    assert max(len(line) for line in (page / "turns.jsonl").read_text(encoding="utf-8").splitlines()) < 2_000
    head = (page / "index.md").read_text(encoding="utf-8").partition("\n---\n")[0]
    assert all(len(line.encode()) <= LIST_BYTES + 100 for line in head.splitlines())
    assert re.search(r"^Participants: p-0 .*, and \d+ more$", head, re.MULTILINE)


def test_documents_have_status_and_date(tmp_path: Path) -> None:
    """In their own twins, and in those of the lists that they are in."""
    text = "# Dredging\n\n**Disposition:** Superseded by 0002\n**Decided:** 2026-05-03\n\nWe dredge.\n"
    write_text(tmp_path / "repo/decisions/0001.md", text)
    write_memo(tmp_path / "repo/memos", "m")
    out = build_site(tmp_path / "repo", output=tmp_path / "out")
    twin = json.loads((out / "documents/repo.decisions.0001.md/index.json").read_text())
    assert (twin["document"]["status"], twin["document"]["superseded"]) == ("Superseded by 0002", True)
    assert twin["date"] == "2026-05-03T00:00:00Z"
    head = (out / "documents/repo.decisions.0001.md/index.md").read_text()
    assert "\nStatus: Superseded by 0002\nDate: 2026-05-03\n" in head
    listed = json.loads((out / "decisions/index.json").read_text())["entries"]
    assert [one["status"] for one in listed] == ["Superseded by 0002"]
    assert "[Superseded by 0002]" in (out / "decisions/index.md").read_text()


def test_what_a_comment_holds_is_in_the_twins_and_not_on_the_page(tmp_path: Path) -> None:
    """Nor in its title or its summary. What an assistant wrote as a definition or a cell too many is on the page."""
    text = "# Dredging <!-- short title -->\n\n<!-- Replace\n\n- this ponder\n-->\nWe dredge.\n"
    write_text(tmp_path / "repo/decisions/0001.md", text)
    write_memo(tmp_path / "repo/memos", "2026-05-02-0900--clerk--warden--x", body="<!-- ponder -->\n\n[clerk]: yes\n")
    said = "[warden]: no\n[12:03]: shelved\n\n| who | vote |\n|---|---|\n| porter | no | until June |\n"
    page = built(tmp_path / "repo", talk_of("How did they vote?", said))
    for folder, shown in [
        ("documents/repo.decisions.0001.md", "We dredge."),
        ("memos/2026-05-02-0900--clerk--warden--x", "[clerk]: yes"),
    ]:
        item = page.parents[1] / folder
        html_page, twins = (
            (item / "index.html").read_text(),
            [(item / f"index.{end}").read_text() for end in ("json", "md")],
        )
        assert shown in html_page and "ponder" not in html_page and "short title" not in html_page
        assert all("ponder" in twin for twin in twins)
    seen = " ".join("".join(map(str, html.fromstring((page / "index.html").read_text()).itertext())).split())
    assert "[warden]: no [12:03]: shelved" in seen and "until June" in seen


def related(**changes: Any) -> Any:
    """A record with two relations and two events, one of each odd."""
    target: Ref = ("document", "quay.decisions.a.md")
    known: dict[str, Any] = {
        "relations": (
            RecordLink(predicate="affects", written="a.md", to=target, status="active", confidence="0.9", label="so"),
            RecordLink(predicate="depends_on", written="feature.[lost]", is_inverse=True),
        ),
        "history": (
            RecordEvent(record="x", event="created", at=read_moment("2026-05-01T09:00:00Z"), actor="engineer"),
            RecordEvent(record="x", event="moved", at=None, detail="to\n---\nStatus: forged"),
        ),
    }
    return record("decision.x", **known | changes)


def markdown(*artifacts: Any) -> str:
    """The Markdown of the record `decision.x`."""
    return str(planned(*artifacts)["records/memory-store/quay.decision.x/index.md"].data.decode())


def test_the_markdown_of_a_record_has_its_relations_and_events_within_bounds() -> None:
    """Above the rule, one a line, so that neither the text nor a detail can forge them; the JSON has what is more."""
    head, _, text = markdown(related(), document("a.md")).partition("\n---\n")
    assert text == "\nText of decision.x.\n"
    assert (
        "## Relations\n\n- affects [On a.md](../../../documents/quay.decisions.a.md/index.md) (active, 0.9) so\n"
        "- depends on feature.\\[lost\\] (stated in that record)\n\n"
        "## Recorded events\n\n- 2026-05-01 09:00 UTC created by engineer\n"
        "- no date moved: to --- Status: forged\n"
    ) in head
    assert "##" not in markdown(related(relations=(), history=()))
    one = related()
    many = replace(one, relations=one.relations[1:] * 2_000, history=one.history[1:] * 2_000)
    head = markdown(many).partition("\n---\n")[0]
    assert len(head.encode()) < 2 * LIST_BYTES + 1_000
    counted = re.findall(r"^- (\d+) more: see index\.json$", head, re.MULTILINE)
    shown = (head.count("- depends on"), head.count("- no date"))
    assert [int(number) + lines for number, lines in zip(counted, shown, strict=True)] == [2_000, 2_000]


def test_twins_have_the_history_that_pages_show(tmp_path: Path) -> None:
    """Each step of git's history in JSON and in Markdown, of memos and of entries of lists."""
    repo = Repo(tmp_path / "site/engine")
    put(repo)
    repo.write(".wyren/memory.md", "## Decisions\n- Weld it. [session 7a2e, turn 1]\n")
    repo.commit(at=0)
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    repo.write(".wyren/memory.md", "## Decisions\n- Weld it twice. [session 7a2e, turn 1]\n")
    moved = repo.commit(at=24)
    site = build_site(tmp_path / "site")
    [bullet] = (site / "records/wyren").iterdir()
    for page, told in ((site / f"memos/{NAME}", ["received", "moved"]), (bullet, ["received", "edited"])):
        twin = json.loads((page / "index.json").read_text())
        [life] = twin["life"]
        assert [step["event"] for step in life["steps"]] == told and life["steps"][-1]["commit"] == moved
        head = (page / "index.md").read_text().partition("\n---\n")[0]
        assert "## History" in head and f"commit {moved[:8]}" in head
