"""Pages, lists, feeds and search of sessions, as somebody uses them who asks what was done on a day (SPEC 4, 5, 8)."""

import json
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.archive.ledger import Ledger
from memosite.cli import main
from memosite.config.loading import load_config
from memosite.formats.sessions.model import Part, call_line
from memosite.plan import context_of
from memosite.plan.sessions import SessionsPage, plan_sessions
from tests.support.archives import open_folders
from tests.support.chromium import chromium
from tests.support.files import write_text
from tests.support.memos import send, write_org, write_transcript
from tests.support.pages import bad_links
from tests.support.search import browse
from tests.support.sessions import FOLDER, ID, SessionWriter
from tests.support.sites import build_site, shared_folder

MEMO = "2026-05-01-1405--engineer--director--tide-gate"
MAIN = f"2026-05-01-1400--claude-code--{ID}"
LATER_ID = "7a2f1d6e-0000-4c61-9a56-1f7f5f0f9a02"
LATER = f"2026-05-01-1400--claude-code--{LATER_ID}"
CHILD = f"2026-05-02-0900--claude-code--{ID}.agent-a1"
LONE = "2026-05-03-0800--codex--0199aaaa-0000-7000-8000-000000000001"
PARTS = ("timeline/sessions/1", "timeline/sessions/2")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def main_log() -> SessionWriter:
    """A session with all that a page shows: 9 turns, 4 of them of a person."""
    log = SessionWriter()
    log.ask("Which tide gate is open?\nThe north one leaks.")
    log.say("I look at both gates.")
    log.run(
        "Bash", {"command": "git commit -m 'Close the gate'", "description": "Commit"}, "[main 1a2b3c4d] Close the gate"
    )
    log.run("Write", {"file_path": f"{FOLDER}/memos/inbox/{MEMO}.openthing", "content": "{}"})
    log.run(
        "Edit",
        {"replace_all": True, "file_path": f"{FOLDER}/src/tide.py", "old_string": "zqold", "new_string": "zqnew"},
    )
    task = {"description": "Count the barges", "prompt": "Count them."}
    log.run("Task", task, "There are 39.", toolUseResult={"agentId": "a1"})
    log.add("pr-link", prUrl="https://forge.example/pulls/7")
    log.ask("<command-name>/cost</command-name>")
    log.add("system", subtype="compact_boundary")
    log.ask("Earlier the gate was opened.", isCompactSummary=True)
    asked = len(log.records)
    log.ask("Draw the zqwrong gate.")
    log.say("Here is the wrong one.")
    log.ask("Draw the right gate.", parentUuid=f"r{asked - 1}")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    log.ask([{"type": "text", "text": "As on this picture:"}, image])
    log.say("The right gate is drawn.")
    log.add("mode", mode="plan")
    return log


def later_log() -> SessionWriter:
    """A session that continues the first one: it has its first four records again."""
    log = SessionWriter(LATER_ID)
    log.records = [{**record, "sessionId": LATER_ID} for record in main_log().records[:2]]
    return log.ask("And the south gate?", timestamp="2026-05-01T15:00:00Z").say(
        "It is zqshut.", timestamp="2026-05-01T15:01:00Z"
    )


def codex_log(text: str) -> str:
    """A rollout of Codex in which a person says this, and Codex runs a command."""
    head = {"id": LONE.rpartition("--")[2], "timestamp": "2026-05-03T08:00:00Z", "cwd": "/srv/pier"}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    call = {
        "type": "function_call",
        "name": "shell",
        "call_id": "c",
        "arguments": '{"command": ["bash", "-lc", "ls pier"]}',
    }
    records = [("session_meta", head), ("response_item", said), ("response_item", call)]
    stamped = ({"timestamp": "2026-05-03T08:00:01Z", "type": type_, "payload": payload} for type_, payload in records)
    return "".join(f"{json.dumps(record)}\n" for record in stamped)


def write_harbour(folder: Path) -> Path:
    """A source of two memos and four sessions, of which the engineer is the agent."""
    harbour = folder / "harbour"
    write_org(harbour / "org", positions=["engineer", {"id": "director", "name": "Director"}])
    send(harbour / "memos/inbox", MEMO, "2026-05-01-1500--director--engineer--thanks")
    main_log().write(harbour / "sessions/first.jsonl")
    later_log().write(harbour / "sessions/later.jsonl")
    child = SessionWriter(begin="2026-05-02T09", agent="a1").ask("Count them.").say("There are zqbarges.")
    child.write(harbour / "sessions/first/subagents/agent-a1.jsonl")
    (harbour / "sessions/pier.jsonl").write_text(codex_log("Is the pier zqlit?"), encoding="utf-8")
    config = "sources: [{path: harbour}]\nsessions: {positions: {'**/first*': engineer}, person: director}\n"
    (folder / "memosite.yml").write_text(config, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def folder() -> Path:
    """The harbour, built once. No test may change it."""
    return shared_folder(
        "session-pages", lambda folder: build_site(write_harbour(folder), base_url="https://quay.example/")
    )


def page(folder: Path, id_: str) -> Any:
    """The page of a session."""
    return html.parse(folder / f"_site/transcripts/{id_}/index.html").getroot()


def words(tree: Any, path: str) -> list[str]:
    """The words of elements."""
    return [" ".join(one.text_content().split()) for one in tree.xpath(path)]


def rows(file: Path) -> list[str]:
    """The rows of a list, each with what is said of it, without the line of its text."""
    page = html.parse(file).getroot()
    for line in page.xpath("//p[@class='line']"):
        line.drop_tree()
    return words(page, "//li[contains(@class, 'row')]")


def test_the_head_says_who_when_how_much_and_where(folder: Path) -> None:
    """No participants have to be named for that."""
    (head,) = words(page(folder, MAIN), "//p[@class='envelope']")
    assert head == (
        "engineer · Claude Code (model-9) · with director2026-05-01 14:00 to 14:18 UTC"
        "9 turns, 4 of them by a person, 4 tool callsin /srv/tides on branch main"
    )
    assert "No participants" not in head and "ongoing" not in head


def test_what_a_session_did_is_beside_it_with_the_turns(folder: Path) -> None:
    """Files it wrote lead to items, commits and pull requests are named, and so are its subagents."""
    tree = page(folder, MAIN)
    lists = {words(one, "h2")[0]: words(one, "ul/li") for one in tree.xpath("//div[@class='rest']/section[ul]")}
    assert lists["Files it wrote 2"] == [f"memos/inbox/{MEMO}.openthing t2", "src/tide.py t2"]
    assert lists["Commits"] == ["1a2b3c4d t2"]
    assert lists["Pull requests"] == ["https://forge.example/pulls/7 t2"]
    assert lists["Subagents"] == ["Count the barges t2"]
    assert f"../../memos/{MEMO}/index.html" in tree.xpath("//div[@class='rest']//li/a/@href")
    assert words(tree, "//p[@class='facts'][contains(., 'not shown')]") == [
        "1 record of a type that is not shown: mode 1"
    ]


def test_long_paths_are_told_apart_by_their_ends_and_break_behind_a_slash(tmp_path: Path) -> None:
    """Files outside of the session's folder are named below the one that all of them are in."""
    top = "/Users/somebody/Source/a-company-of-some-length/a-repo-of-some-length"
    log = SessionWriter()
    log.ask("Mend the pumps.")
    for name in ("pumps/north/valve.go", "pumps/south/valve.go", "docs/<b>.md"):
        path = f"{top}/packages/providers/{name}"
        log.run("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "done")
    log.write(tmp_path / "quay/sessions/first.jsonl")
    write_text(tmp_path / "memosite.yml", "sources: [{path: quay}]\nsessions: true\n")
    output = build_site(tmp_path)
    (one,) = (output / "transcripts").glob("*/index.html")
    tree = html.parse(one).getroot()
    (section,) = tree.xpath("//div[@class='rest']/section[h2[starts-with(., 'Files it wrote')]]")
    assert words(section, "p") == [f"in {top}/packages/providers/"]
    assert words(section, "ul/li") == ["pumps/north/valve.go t2", "pumps/south/valve.go t2", "docs/<b>.md t2"]
    assert "pumps/<wbr>north/<wbr>valve.go" in html.tostring(section, encoding="unicode")
    (file,) = tree.xpath("//ul[@class='copies']//code")
    assert len(file.xpath("wbr")) == file.text_content().count("/")
    assert words(tree, "//details[@class='tool']/summary/code") == [
        "…/pumps/north/valve.go", "…/pumps/south/valve.go", "…/providers/docs/<b>.md",
    ]  # fmt: skip


def test_a_folded_call_says_what_it_does_and_leads_to_what_it_started(folder: Path) -> None:
    """A command, a file, a task; never a brace."""
    tree = page(folder, MAIN)
    assert words(tree, "//section[@id='t2']//details[@class='tool']/summary") == [
        "Bash git commit -m 'Close the gate'",
        f"Write {FOLDER}/memos/inbox/{MEMO}.openthing",
        f"Edit {FOLDER}/src/tide.py",
        "Task Count the barges",
    ]
    (link,) = tree.xpath("//p[contains(@class, 'started')]/a/@href")
    assert link == f"../{CHILD}/index.html"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"timeout": 5, "cmd": "ls -l\\nrm x"}', "ls -l"),
        ('{"command": ["bash", "-lc", "make all"]}', "make all"),
        ('{"todos": [{"id": 1, "content": "Paint the buoy"}]}', "Paint the buoy"),
        ('{"note": "", "depth": 4, "where": "pier"}', "pier"),
        ('{"content": "a long text that is cut', "a long text that is cut"),
        ("*** Begin Patch\n*** Update File: src/tide.py\n@@", "Update File: src/tide.py"),
        ("\n  ls pier", "ls pier"),
        ("`src/tide.py`", "src/tide.py"),
        ("{}", ""),
        ("[" * 100_000, "[" * 199 + "…"),
        ('{"a":' * 100_000, ""),
    ],
)
def test_the_line_of_a_call_is_its_first_useful_value(text: str, line: str) -> None:
    """Whatever its input is."""
    assert call_line(Part(kind="tool", line=1, name="x", text=text)) == line


def test_where_the_input_is_the_file_alone_its_name_is_the_line() -> None:
    """As SpecStory tells of a file that was written."""
    part = Part(kind="tool", line=1, name="Write", text="```python\nTIDE = 1\n```", wrote=("src/tide.py",))
    assert call_line(part) == "src/tide.py"


def test_what_nobody_typed_is_folded_and_says_what_it_is(folder: Path) -> None:
    """A command, a summary, what was taken back; a compaction is a line, an image is named."""
    tree = page(folder, MAIN)
    folded = words(tree, "//details[@class='folded']/summary")
    assert folded == [
        "put in by the program: /cost",
        "summary of what was before: Earlier the gate was opened.",
        "taken back: Draw the zqwrong gate.",
        "taken back: Here is the wrong one.",
    ]
    assert words(tree, "//p[contains(@class, 'mark')]") == [
        "From here the agent worked from a summary of what was before."
    ]
    rows = words(tree, "//figure//tbody/tr/th")
    assert "Put in by the program" in rows and "Machines" not in rows
    assert words(tree, "//dl[@class='details']/dt[.='Redaction']/following-sibling::dd[1]") == ["not redacted"]
    assert "[image, PNG, 70 B]" in words(tree, "//p")
    assert words(tree, "//nav[@class='outline']//li/a") == [
        "1 · 14:00 Which tide gate is open? The north one leaks.",
        "5 · 14:14 Draw the zqwrong gate.",
        "7 · 14:16 Draw the right gate.",
        "8 · 14:17 As on this picture:",
    ]


def test_a_subagent_is_named_as_its_call_says_and_leads_to_the_turn_that_started_it(folder: Path) -> None:
    """What it was asked for is not folded away."""
    tree = page(folder, CHILD)
    assert words(tree, "//h1") == ["Count the barges"]
    (notice,) = tree.xpath("//p[@class='notice']/a")
    assert (notice.text, notice.get("href")) == ("Which tide gate is open?", f"../{MAIN}/index.html#t2")
    assert tree.xpath("boolean(//section[@id='t1']/details[@open])")


def test_continued_sessions_are_a_chain_and_copied_turns_lead_to_their_first_place(folder: Path) -> None:
    """Both ways."""
    newer, older = page(folder, LATER), page(folder, MAIN)
    assert "4 turns, 2 of them copied, 2 of them by a person" in words(newer, "//p[@class='envelope']")[0]
    assert words(newer, "//nav[@class='chain']//li") == ["Continues Which tide gate is open?"]
    assert words(older, "//nav[@class='chain']//li") == ["Continued in Which tide gate is open?"]
    copied = newer.xpath("//section[@id='t2']//p[contains(., 'Copied from')]/a/@href")
    assert copied == [f"../{MAIN}/index.html#t2"]


def test_the_page_of_an_item_says_in_which_turn_its_file_was_written(folder: Path) -> None:
    """That of no other item does."""
    tree = html.parse(folder / f"_site/memos/{MEMO}/index.html").getroot()
    (link,) = tree.xpath("//dt[.='Written during']/following-sibling::dd[1]/a")
    assert (link.text, link.get("href")) == (
        "Which tide gate is open?, turn 2",
        f"../../transcripts/{MAIN}/index.html#t2",
    )
    other = html.parse(folder / "_site/memos/2026-05-01-1500--director--engineer--thanks/index.html")
    assert not other.xpath("//dt[.='Written during']")


def test_lists_have_a_row_for_each_session_and_none_for_a_subagent(folder: Path) -> None:
    """Those of its source say what was done in it."""
    site = folder / "_site"
    (counts,) = words(html.parse(site / "index.html").getroot(), "//p[@class='envelope']")
    assert "4 transcripts (3 of them sessions, 1 of a subagent)" in counts
    for file in ("index.html", "timeline/2026/05/index.html", "positions/engineer/index.html"):
        said = " ".join(rows(site / file))
        assert "Which tide gate is open?" in said and "Count the barges" not in said
        assert "Claude Code session · 9 turns" in said
    told = [
        "2026-05-03 08:00 UTC Is the pier zqlit? 2 turns Codex 1 turn by a person · 1 tool call",
        (
            "2026-05-01 14:00 UTC Which tide gate is open? 4 turns "
            "Claude Code, model-9 lasted 1 hour · 2 turns by a person"
        ),
        (
            "2026-05-01 14:00 UTC Which tide gate is open? 9 turns engineer · Claude Code, model-9 lasted 18 minutes · "
            "4 turns by a person · 4 tool calls · 1 subagent · 1 commit · "
            "wrote 2026-05-01-1405--engineer--director--ti…, tide.py"
        ),
    ]
    assert rows(site / "sessions/harbour/index.html") == told
    whole = html.parse(site / "sessions/index.html").getroot()
    assert [one.replace(" · harbour", "") for one in rows(site / "sessions/index.html")] == told
    (head,) = words(whole, "//header/p[@class='envelope']")
    assert head == (
        "3 sessions with AI agents, as the agents logged them. The person in them is director. "
        "Subagents are on the page of the session that started them."
    )
    assert words(whole, "//select[@id='way']/option") == ["all", "Claude Code (2)", "Codex (1)"]
    assert "../../sessions/index.html" in html.parse(site / f"memos/{MEMO}/index.html").xpath("//nav//a/@href")


def test_the_list_is_filtered_by_agent_and_words(folder: Path) -> None:
    """Months without a row that is left are not shown."""
    page = folder / "_site/sessions/index.html"
    seen = "[...document.querySelectorAll('.row')].filter((row) => row.offsetParent).length"
    choose = "(() => {{ const way = document.getElementById('way'); way.value = {!r};"
    choose += " way.dispatchEvent(new Event('change')); return way.value; }})()"
    type_ = "(() => {{ const box = document.getElementById('filter'); box.value = {!r};"
    type_ += " box.dispatchEvent(new Event('input')); return box.value; }})()"
    with chromium() as browser:
        browser.open(page.as_uri())
        found = [browser.value(seen)]
        for action in (choose.format("Codex"), type_.format("tide"), choose.format(""), type_.format("subagent")):
            browser.value(action)
            found.append(browser.value(seen))
        assert found == [3, 1, 0, 2, 1] and browser.complaints == []
        browser.value(type_.format("nowhere"))
        assert browser.value("[...document.querySelectorAll('.list')].every((one) => !one.offsetParent)")


def test_a_title_keeps_its_date_on_a_line_and_two_logs_without_a_history_say_so_once(tmp_path: Path) -> None:
    """A session without words is called as its agent and its time; the other log has the same session."""
    log = SessionWriter().ask("<command-name>/cost</command-name>").say("Nobody asked.")
    for name in ("first", "second"):
        log.write(tmp_path / f"quay/sessions/{name}.jsonl")
        log.say("More.")
    write_text(tmp_path / "memosite.yml", "sources: [{path: quay}]\nsessions: true\n")
    (path,) = (build_site(tmp_path) / "transcripts").glob("*/index.html")
    tree = html.parse(path).getroot()
    assert words(tree, "//h1[time='2026-05-01']") == ["Claude Code, 2026-05-01 14:00"]
    assert words(tree, "//section[@class='lives']/p") == ["History not available: it is not a git repo."]


def test_the_months_at_the_top_of_the_list_follow_its_filter(tmp_path: Path) -> None:
    """They count what is shown, lead to no section that is hidden, and come back."""
    main_log().write(tmp_path / "quay/sessions/first.jsonl")
    write_text(tmp_path / "quay/sessions/pier.jsonl", codex_log("Is the pier lit?"))
    june = codex_log("And in June?").replace("2026-05", "2026-06").replace("0199aaaa", "0199bbbb")
    write_text(tmp_path / "quay/sessions/june.jsonl", june)
    write_text(tmp_path / "memosite.yml", "sources: [{path: quay}]\nsessions: true\n")
    seen = """[...document.querySelectorAll(".contents li")].filter((one) => one.offsetParent).map((one) => [
      one.innerText, document.getElementById(one.querySelector("a").hash.slice(1)).offsetParent !== null])"""
    choose = "(() => {{ const way = document.getElementById('way'); way.value = {!r};"
    choose += " way.dispatchEvent(new Event('change')); return {}; }})()"
    with chromium() as browser:
        browser.open((build_site(tmp_path) / "sessions/index.html").as_uri())
        every = [["June 2026 1", True], ["May 2026 2", True]]
        assert browser.value(seen) == every
        assert browser.value(choose.format("Codex", seen)) == [["June 2026 1", True], ["May 2026 1", True]]
        assert browser.value(choose.format("Claude Code", seen)) == [["May 2026 1", True]]
        assert browser.value(choose.format("", seen)) == every and browser.complaints == []


def test_a_long_list_of_all_sessions_has_every_one_in_its_parts_at_addresses_no_source_can_have(tmp_path: Path) -> None:
    """Two sources of 300 sessions each have no parts, all together two; a source may be called as a part is."""
    run = "# aider chat started at 2026-05-{:02} 08:{:02}:{:02}\n\n#### Count {}\n\nDone.\n\n"
    for source in ("1", "2"):
        runs = (run.format(number // 60 + 1, number % 60, int(source), f"{source}.{number}") for number in range(300))
        write_text(tmp_path / source / "sessions/history.md", "".join(runs))
    (tmp_path / "memosite.yml").write_text("sources: [{path: '1'}, {path: '2'}]\n", encoding="utf-8")
    with open_folders(tmp_path / "1", tmp_path / "2") as (archive, shelf):
        planned = list(plan_sessions(context_of(load_config(tmp_path), archive, shelf), Ledger()))
    pages = {one.path: one for one in planned if isinstance(one, SessionsPage)}
    assert set(pages) == {f"{name}/index.html" for name in ("sessions", "sessions/1", "sessions/2", *PARTS)}
    hrefs = {path: [row.href for month in one.months for row in month.rows] for path, one in pages.items()}
    assert sorted(map(len, hrefs.values())) == [100, 300, 300, 500, 500]
    assert len({href for name in PARTS for href in hrefs[f"{name}/index.html"]}) == 600


def test_sessions_have_feeds_of_their_own_and_are_in_no_other(folder: Path) -> None:
    """By source, and by position; a subagent is announced by nobody."""
    site = folder / "_site"
    found = {file.relative_to(site).as_posix(): file.read_text(encoding="utf-8") for file in site.rglob("*.xml")}
    assert {name for name, text in found.items() if f"/{MAIN}" in text and "<channel>" in text} == {
        "sessions/harbour/feed.xml",
        "positions/engineer/sessions.xml",
    }
    assert not any(CHILD in text for text in found.values() if "<channel>" in text)
    assert "<dc:creator>Codex</dc:creator>" in found["sessions/harbour/feed.xml"]
    listed = html.parse(site / "feeds/index.html").xpath("//a/@href")
    assert {"../sessions/harbour/feed.xml", "../positions/engineer/sessions.xml"} <= set(listed)


QUERIES = {
    "zqbarges": {CHILD},
    "system:codex": {LONE},
    "model:model-9 zqshut": {LATER},
    "branch:main kind:transcript": {MAIN, LATER, CHILD},
    "file:src/tide.py": {MAIN},
    "file:tide.py in:tools zqnew": {MAIN},
    "zqnew": set(),
    "file:tide.py zqwrong": set(),
    "leaks": {MAIN},
    "leaks NOT file:tide.py": {MAIN},
}


def test_sessions_are_found_by_what_their_logs_say(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """On the command line and in the browser; copied turns once, where they were said; output only with in:tools."""
    for query, expected in QUERIES.items():
        main(["search", query, "--json", "--site", str(folder), "--no-index"])
        assert {hit["id"] for hit in json.loads(capfd.readouterr().out)["hits"]} == expected, query
    answers = browse(folder / "_site", [*QUERIES], limit=50)
    found = [{hit[1] for hit in answer["hits"]} for answer in answers]
    assert dict(zip(QUERIES, found, strict=True)) == QUERIES


def test_machines_are_told_the_same(folder: Path) -> None:
    """In JSON and in lines by its fields, in Markdown with who spoke."""
    here = folder / f"_site/transcripts/{MAIN}"
    said = json.loads((here / "index.json").read_text(encoding="utf-8"))["session"]
    assert said["agent"] == "Claude Code" and said["turns"] == 9 and said["people"] == 4 and said["tools"] == 4
    assert said["wrote"][1] == {"turn": 2, "path": "src/tide.py"}
    assert said["items"] == [{"turn": 2, "item": f"memo/{MEMO}"}]
    assert [one["commit"] for one in said["commits"]] == ["1a2b3c4d"] and said["started"] == [{"turn": 2, "id": CHILD}]
    text = (here / "index.md").read_text(encoding="utf-8")
    assert "Agent: Claude Code\nModels: model-9\nFolder: /srv/tides\nBranch: main\n" in text
    assert (
        "\n## t2, Claude Code, model-9, 2026-05-01T14:01:00.000Z\n\nI look at both gates.\n\n- Bash: git commit" in text
    )
    assert "- [Sessions in harbour](sessions/harbour/index.md)" in (folder / "_site/llms.txt").read_text(
        encoding="utf-8"
    )
    lines = (folder / "_site/archive/2026/05.jsonl").read_text(encoding="utf-8").splitlines()
    sessions = {line["id"]: line.get("session") for line in map(json.loads, lines)}
    assert sessions[MAIN] == said and sessions[MEMO] is None
    assert sessions[CHILD]["started_by"] == MAIN and sessions[LATER]["continues"] == MAIN


def test_no_link_is_dead_and_no_log_is_published(folder: Path) -> None:
    """Also of copies, of which there are none on the site."""
    site = folder / "_site"
    assert [*bad_links(site)] == []
    assert not [*site.glob("transcripts/*/original*"), *site.glob("transcripts/*/copies")]


def test_a_turn_with_a_secret_is_withheld_and_says_so(tmp_path: Path) -> None:
    """All others are there, and the copy of the log beside it is no link."""
    log = (
        SessionWriter()
        .ask("Use this: aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxRfiCYzqKq81Lmvp4Z")
        .say("Thank you.")
    )
    log.write(tmp_path / "sessions/a.jsonl")
    log.write(tmp_path / "sessions/b.jsonl")
    assert main(["build", str(tmp_path), "--quiet"]) == 1
    output = tmp_path / "_site"
    tree = html.parse(output / f"transcripts/{MAIN}/index.html").getroot()
    assert words(tree, "//section[@id='t1']//p") == ["Withheld: a secret is in this turn."]
    assert "Thank you." in words(tree, "//section[@id='t2']")[0]
    assert [*bad_links(output)] == []
    assert not [file for file in output.rglob("*") if file.is_file() and b"wJalrXUtnFEMIK7MDENG" in file.read_bytes()]


def test_two_logs_of_one_session_and_a_capture_of_it_are_compared_turn_by_turn(tmp_path: Path) -> None:
    """Whatever each tool calls the speakers."""
    SessionWriter().ask("Which gate?").say("The north one.").ask("Sure?").write(tmp_path / "sessions/one.jsonl")
    SessionWriter().ask("Which gate?").say("The south one.").ask("Sure?").write(tmp_path / "sessions/two.jsonl")
    people = [{"position": "engineer", "session_arc": ID}, {"position": "director", "identity": "Ann"}]
    text = "## User\n\nWhich gate?\n\n## Assistant\n\nThe north one.\n"
    write_transcript(
        tmp_path / "transcripts/engineer", "2026-05-01-1400--engineer--gate", text=text, participants=people
    )
    output = build_site(tmp_path)
    tree = page(tmp_path, MAIN)
    assert words(tree, "//section[@class='variants']//summary") == [
        "The same up to turn 1; after that, 1 turn differs."
    ]
    assert words(tree, "//section[@class='captures']/h2") == ["Another capture of this session"]
    (sides,) = output.glob("transcripts/*/captures/index.html")
    (said,) = words(html.parse(sides).getroot(), "//section[@id]/p")
    assert said == "The same up to turn 2; the earlier capture has 1 more."


def test_home_says_which_logs_are_there_and_how_they_are_read(tmp_path: Path) -> None:
    """Where there is nothing else; what was a list of sessions once has a page all the same."""
    main_log().write(tmp_path / ".claude/projects/tides/first.jsonl")
    output = build_site(tmp_path)
    (said,) = words(html.parse(output / "index.html").getroot(), "//section[@id='unread-logs']")
    assert "1 session log of claude-code not read" in said and "sessions: true" in said
    (tmp_path / "memosite.yml").write_text("sessions: true\n", encoding="utf-8")
    build_site(tmp_path)
    (listed,) = output.glob("sessions/*/index.html")
    assert len(rows(listed)) == 1
    feeds = html.parse(output / "feeds/index.html").getroot()
    assert "the archive has session logs alone" in " ".join(words(feeds, "//p[@class='empty']"))
    assert "sessions/" in feeds.xpath("string(//pre//*[@data-of='feed'])"), "the feed of everything is empty"
    (tmp_path / "memosite.yml").write_text("sessions: false\n", encoding="utf-8")
    build_site(tmp_path)
    assert rows(listed) == [] and "No sessions any more." in listed.read_text(encoding="utf-8")


def test_what_a_session_publishes_is_bounded_by_its_words(tmp_path: Path) -> None:
    """Whatever its tools put out: 4 times its words and 200 kB."""
    log = SessionWriter()
    for number in range(58):
        log.ask(f"Is buoy {number} lit?") if number % 2 else log.run("Bash", {"command": "ls <buoys>"}, "<&> " * 5_000)
    log.write(tmp_path / "sessions/a.jsonl")
    page_folder = build_site(tmp_path) / f"transcripts/{MAIN}"
    published = sum(file.stat().st_size for file in page_folder.rglob("*") if file.is_file())
    assert published <= 4 * 29 * 18 + 200_000
