"""The commands for AI sessions: what they show, in which order, how they are asked, and their budgets (SPEC 8)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from memosite.agents import Answer, Entry, JsonForm, Part, TextForm, estimate, fit
from memosite.cli import main
from memosite.facts.errors import ConfigError
from memosite.facts.values import replace
from tests.support.files import write_text
from tests.support.memos import send, write_body, write_memo, write_note, write_org, write_transcript
from tests.support.repos import Repo
from tests.support.sites import build_site, shared_example

Capture = pytest.CaptureFixture[str]
TALK = "2026-05-03-1000--engineer--the-locks"
TURNS = """## User

How many barges are there?

## Assistant

There are 39 barges in the lock.

> **🔧 Read**
> The harbour master wrote this.

## User

Then write that down.
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Two repos: the engineer's, with memos in every state, and the director's."""
    office, yard = Repo(tmp_path / "site/office"), Repo(tmp_path / "site/yard")
    write_org(office.root, positions=[_seat("director", "../office"), _seat("engineer", "../yard")])
    at = yard.root / "memos"
    news: dict[str, Any] = {"sender": "director", "to": "engineer"}
    ask: dict[str, Any] = news | {"action_required": True}
    write_memo(at / "read", "2026-05-01-1000--director--engineer--gates", sent="2026-05-01T10:00:00Z", **ask)
    write_memo(at / "inbox", "2026-05-04-1000--director--engineer--news", sent="2026-05-04T10:00:00Z", **news)
    write_memo(at / "inbox", "2026-05-02-1000--director--engineer--pumps", sent="2026-05-02T10:00:00Z", **ask)
    send(
        at / "read", "2026-05-03-1800--engineer--engineer--handoff", subject="What the next session has to know",
        body="First look at gate 4.\n\n[12 more characters: memosite show nothing]\n\x1b[31mRed\x9b",
    )  # fmt: skip
    write_note(yard.root / "notes/engineer", "2026-05-04-1200--engineer--file--rust", sent="2026-05-04T12:00:00Z")
    write_note(yard.root / "notes/engineer", "2026-05-01-1200--engineer--file--old", sent="2026-05-01T12:00:00Z")
    write_transcript(yard.root / "transcripts/engineer", TALK, text=TURNS)
    write_text(yard.root / "decisions/2026-05-01-oak.md", "# Gates of oak\n\nStatus: accepted\n\nOak lasts.\n")
    write_text(yard.root / "decisions/2026-05-05-steel.md", "# Gates of steel\n\nStatus: accepted\n\nSteel lasts.\n")
    write_text(yard.root / "decisions/2026-04-01-wood.md", "# Gates of wood\n\nStatus: superseded\n\nIt rotted.\n")
    yard.commit("memos to the engineer")
    reply = "2026-05-05-0900--engineer--director--re-gates"
    write_body(office.root / "memos/inbox", reply, "The whole report.\n\n" + "Gate 4 is sound. " * 200)
    write_memo(
        office.root / "memos/inbox", reply, sent="2026-05-05T09:00:00Z", body="Gate 4 is sound; the report says why.",
        body_ref=f"{reply}.body.md", in_reply_to="2026-05-01-1000--director--engineer--gates.openthing",
        action_required=True,
    )  # fmt: skip
    office.commit("memos to the director")
    return tmp_path / "site"


def _seat(id_: str, folder: str) -> dict[str, str]:
    return {"id": id_, "name": id_.title(), "working_directory": folder, "incumbent": f"someone, as {id_}"}


def ask(capsys: Capture, site: Path, *words: str, code: int = 0) -> str:
    """What a command prints; of one that fails, what it says on standard error."""
    assert main([*words, "--site", str(site)]) == code
    told = capsys.readouterr()
    return told.err if code == 2 else told.out


def asked(capsys: Capture, site: Path, *words: str) -> Any:
    """The same as JSON."""
    return json.loads(ask(capsys, site, *words, "--json"))


def test_the_inbox_has_what_is_unread_first_and_a_thread_its_order(site: Path, tmp_path: Path, capsys: Capture) -> None:
    """It names the command for what else is open; a thread in full or by summaries, for any memo."""
    found = asked(capsys, site, "inbox", "engineer")
    assert [one["id"].rpartition("--")[2] for one in found["unread"]] == ["pumps", "news"]
    assert found["unread"][0]["states"] == ["unread", "action open", "no reply since"]
    assert found["open_in_read"] == 0  # that on gates is answered
    assert found["unread"][0]["summary"] == "The text of 2026-05-02-1000--director--engineer--pumps."
    send(site / "yard/memos/read", "2026-05-02-0900--director--engineer--paint", action_required=True)
    text = ask(capsys, site, "inbox", "engineer")
    line = "1 more waits for it, besides unread memos: memosite brief engineer --only to-do\n"
    assert line in text
    section = ask(capsys, site, *line.split()[-4:])
    assert "--paint; " in section and section.count("\n- ") == 1
    line = "1 more waits for it, in unread memos: memosite inbox engineer\n"
    assert line in section
    assert asked(capsys, site, "brief", "engineer", "--only", "to-do")["open_in_unread"] == 1
    text = ask(capsys, site, "inbox", "director")
    assert "Unread (1)" in text and "    Gate 4 is sound; the report says why.\n" in text
    assert "\x1b" not in text
    write_memo(tmp_path / "flat/memos", "2026-05-02-0900--engineer--director--paint", action_required=True)
    for words in (("inbox", "director"), ("brief", "director", "--only", "to-do")):
        assert "besides memos known to be unread" in ask(capsys, tmp_path / "flat", *words)
    assert "It is not known whether 1 memo was read" in ask(capsys, tmp_path / "flat", "inbox", "director")
    send(
        site / "office/memos/inbox",
        "2026-05-06-0900--engineer--director--more",
        in_reply_to="2026-05-05-1000--director--engineer--lost.openthing",
    )
    found = asked(capsys, site, "thread", "2026-05-05-0900", "--brief")
    assert [(one["depth"], one["summary"][:9]) for one in found["memos"]] == [(0, "The text "), (1, "Gate 4 is")]
    assert asked(capsys, site, "thread", "2026-05-05-0900")["memos"][1]["text"].startswith("The whole report.")
    missing = asked(capsys, site, "thread", "2026-05-06-0900")
    assert (missing["count"], missing["missing"]) == (1, 1)
    assert "; 1 memo and 1 missing\n" in ask(capsys, site, "thread", "2026-05-06-0900")
    assert missing["memos"][0]["states"] == ["missing memo"]


def test_who_is_in_one_repo_of_a_site_is_told_so(site: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers lack what others have; nothing is said where a site is named, or above is none of this folder."""
    said = "only this folder is read, which is part of a site; for all of that, add --site .."
    (site / "memosite.yml").write_text("sources: [{path: yard}, {path: office}]\n")
    (site / "apart").mkdir()
    for folder, words, is_said in (
        ("yard", (), True), ("yard/memos", (), True), ("yard", ("--site", ".."), False), ("yard", ("--quiet",), False),
        (".", (), False), ("apart", (), False),
    ):  # fmt: skip
        monkeypatch.chdir(site / folder)
        main(["inbox", "engineer", *words])
        assert (said in capsys.readouterr().err) == is_said, (folder, words)
    monkeypatch.chdir(site)
    main(["inbox", "engineer", "--site", "yard"])
    said = "only yard is read, which is part of a site; for all of that, name it with --site ."
    assert said in capsys.readouterr().err


def test_names_that_show_no_item_say_what_to_do(site: Path, capsys: Capture) -> None:
    """A thread, a missing or removed memo is said to be one; wrong names of items and positions name the nearest."""
    read, lost = site / "yard/memos/read", "2026-04-29-1000--director--engineer--lost"
    write_memo(read, "2026-05-02-0900--director--engineer--paint", thread_id="paint-2026")
    write_memo(read, "2026-05-02-0930--engineer--director--so", in_reply_to=f"{lost}.openthing")
    for name in ("paint-2026", "thread/paint-2026", "threads/paint-2026/"):
        told = ask(capsys, site, "show", name, code=2)
        assert told == f"memosite: {name}: it is a thread, expected an item; see: memosite thread paint-2026\n"
    gone = "memos/inbox/2026-05-04-1000--director--engineer--news.openthing"
    (site / "yard" / gone).unlink()
    Repo(site / "yard").commit("sent by mistake")
    missing = f"memo/{lost} is a missing memo: no source has it; replies to it: memo/2026-05-02-0930"
    for words, said in (
        (("show", lost[:15]), missing),
        (("show", f"memo/{lost[:15]}"), missing),
        (("reply", lost[:15], "--from", "engineer"), missing),
        (("show", lost), f"{lost}: it is a missing memo"),
        (("show", gone), "it was removed on"),
        (("show", "2026-05-03-1000--engineer--the-rocks"), "found no item of that name"),
        (("show", "2026-05-03-1000--engineer--the-rocks"), "such as transcript/" + TALK),
        (("show", "2026-05-03"), "found 2 items of that name; write more of the id:\n  "),
        (("thread", "2026-05"), "\n  memo/2026-05-01-1000--director--engineer--gates\n  "),
        (("inbox", "enginer"), "nearest is engineer; there are director, engineer"),
        (("inbox", "engineer", "--budget", "-1"), "must be 0 (for everything) or more, not -1"),
    ):
        assert said in ask(capsys, site, *words, code=2)
    for name in ("eng", "Engineer"):
        assert asked(capsys, site, "inbox", name)["position"] == "engineer"


def test_what_arrived_since_a_day_a_commit_or_an_item_can_be_asked(tmp_path: Path, capsys: Capture) -> None:
    """By when it was committed: an old memo that came late is new. Of one commit, by their dates."""
    repo = Repo(tmp_path / "site/yard")
    write_org(repo.root, positions=[_seat("director", "../office"), _seat("engineer", "../yard")])
    at, names = repo.root / "memos/read", [f"2026-05-0{day}-1000--director--engineer--n{day}" for day in (1, 2, 3, 4)]

    def arrive(*days: int, at_: str) -> str:
        for day in days:
            reply: dict[str, Any] = {"in_reply_to": f"{names[0]}.openthing"} if day > 1 else {}
            write_memo(at, names[day - 1], sender="director", to="engineer", sent=f"2026-05-0{day}T10:00:00Z", **reply)
        return repo.commit("came", at=at_)

    first = arrive(1, 3, at_="2026-05-03T12:00:00Z")
    arrive(2, 4, at_="2026-05-06T12:00:00Z")
    for since, new in (
        ("2026-05-03", [1, 2, 3, 4]), ("2026-05-06", [2, 4]), ("2026-05-07", []), (first[:10], [2, 4]),
        (f"yard:{first}", [2, 4]), (names[0], [2, 3, 4]), (names[2], [2, 4]), (names[1], [4]),
    ):  # fmt: skip
        for words, part in ((("thread", names[0]), "memos"), (("inbox", "engineer"), "unread")):
            told = asked(capsys, tmp_path / "site", *words, "--since", since)
            assert sorted(one["id"] for one in told[part]) == [names[day - 1] for day in new], (words, since)
    assert "invalid date" in ask(capsys, tmp_path / "site", "thread", names[0], "--since", "2026-02-30", code=2)
    assert "found no item of that name" in ask(
        capsys, tmp_path / "site", "inbox", "engineer", "--since", "ffff", code=2
    )


def test_a_hand_off_is_whole_and_what_is_for_information_is_cut_first(site: Path, capsys: Capture) -> None:
    """Its end, where it says what is open, is what a successor has to do; what is due is named with it."""
    at = site / "yard/memos"
    done = "\n\n".join(f"Gate {number} was painted, and its lock was greased and closed." for number in range(100))
    send(at / "read", "2026-05-06-1800--engineer--engineer--handoff", subject="Hand-off",
         body=f"## Done\n\n{done}\n\n```\n# Code, no heading: open\n```\n\n"
         "## Open (for the next session)\n\n1. Drain lock 7.\n\n## With thanks\n\nTo all.")  # fmt: skip
    news = "\n\n".join(f"Barge {number} came and went again." for number in range(400))
    for barge in ("barges", "boats"):
        name = f"2026-05-07-1000--director--engineer--{barge}"
        write_text(at / f"inbox/{name}.body.md", "All of it.")
        write_memo(at / "inbox", name, sender="director", to="engineer", body=news, body_ref=f"{name}.body.md")
    said = ask(capsys, site, "brief", "engineer", "--budget", "2600")
    assert "    1. Drain lock 7." in said and estimate(said) < 2600 * 1.05
    assert "engineer--pumps" in said and "director--engineer--barges" in said
    assert "Barge 199" not in said
    small = ask(capsys, site, "brief", "engineer", "--budget", "1000")
    assert "engineer--pumps" in small and "Barge 1 " not in small
    assert "; first what is open: “Open (for the next session)”\n    ## Open (for the next session)\n" in small
    assert "    1. Drain lock 7.\n" in small and "# Code, no heading: open" not in small
    [begin] = re.findall(r"more characters: memosite show memo/\S+--handoff --from (\d+)\]", small)
    rest = asked(capsys, site, "show", "2026-05-06-1800--engineer--engineer--handoff", "--from", begin)["body"][0]
    shown = max(int(number) for number in re.findall(r"Gate (\d+) was painted, and its lock was greased", small))
    assert rest["text"].startswith(f"Gate {shown + 1} was painted")


def test_a_brief_begins_with_the_hand_off_and_json_says_what_the_text_says(site: Path, capsys: Capture) -> None:
    """Every entry in the same order, whatever the cache knows; new is counted from the hand-off."""
    commands = (("brief", "engineer"), ("inbox", "director"), ("thread", "2026-05-01-1000--director"), ("show", TALK))
    read = [ask(capsys, site, *words) for words in commands]
    for words in (*commands, ("inbox", "engineer"), ("show", "2026-05-05-0900")):
        text = ask(capsys, site, *words, "--budget", "0")
        value = asked(capsys, site, *words, "--budget", "0")
        place = 0
        for part in [one for one in value.values() if isinstance(one, list)]:
            for entry in (one for one in part if isinstance(one, dict)):
                said = [entry[name] for name in ("thread", "id", "anchor") if name in entry][-1:]
                texts = [entry[name] for name in ("summary", "text") if name in entry]
                for word in (*said, *(line for one in texts for line in one.split("\n") if line.isprintable())):
                    place = text.index(word, place)
    main(["build", str(site), "--quiet"])
    for _ in range(2):
        assert [ask(capsys, site, *words) for words in commands] == read
    found = asked(capsys, site, "brief", "engineer")
    parts = [name for name in found if isinstance(found[name], list) and name not in {"names", "not_shown"}]
    assert parts == ["handoff", "unread", "to-do", "waiting", "new-decisions", "new-notes", "decisions", "threads"]
    assert found["handoff"][0]["summary"].startswith("First look at gate 4.")
    assert [one["short_subject"] for one in found["new-decisions"]] == ["Gates of steel"]
    assert [one["short_subject"] for one in found["decisions"]] == ["Gates of oak"]
    assert [one["id"].rpartition("--")[2] for one in found["new-notes"]] == ["rust"]
    assert [one["id"].rpartition("--")[2] for one in found["waiting"]] == ["re-gates"]
    assert [(one["memos"], one["newest"].rpartition("--")[2]) for one in found["threads"]] == [(2, "re-gates")]
    assert (found["held_by"], found["not_shown"], found["has_handoff"]) == ("someone, as engineer", [], True)
    text = ask(capsys, site, "brief", "engineer")
    for head in ("Unread memos (2)", "Newest hand-off to itself (1)", "since the hand-off of 2026-05-03"):
        assert head in text
    (site / "yard/memos/read/2026-05-03-1800--engineer--engineer--handoff.openthing").unlink()
    text = ask(capsys, site, "brief", "engineer")
    assert "No hand-off; its newest note instead (1)" in text and "since the note of 2026-05-04" in text
    told = asked(capsys, site, "brief", "engineer")
    assert told["has_handoff"] is False and [one["kind"] for one in told["handoff"]] == ["note"]
    assert "Newest hand-off to itself (0)" in ask(capsys, site, "brief", "director")
    name = "2026-05-06-1800--engineer--engineer--handoff"
    write_memo(site / "yard/memos/inbox", name, sent="2026-05-06T18:00:00Z", to="engineer")
    text = ask(capsys, site, "brief", "engineer")
    assert "Unread memos besides the hand-off (2)" in text and text.count(f"memo/{name};") == 1
    assert f"memo/{name};" in ask(capsys, site, "brief", "engineer", "--only", "unread")
    for path in (site / "yard/memos/inbox").glob("*--director--*"):
        path.rename(path.parents[1] / "read" / path.name)
    text = ask(capsys, site, "brief", "engineer")
    assert "Unread memos besides the hand-off (0)\n  Nothing else is unread.\n" in text


def test_an_item_has_three_lines_a_summary_and_its_text_and_is_named_by_its_file(site: Path, capsys: Capture) -> None:
    """A text that is cut goes on by the command that is named; content cannot pass for lines of it."""
    text = ask(capsys, site, "show", "2026-05-05-0900", "--budget", "0")
    head = text.split("\n\n")[0].splitlines()
    assert len(head) == 3
    assert head[0].endswith("in office/memos/inbox/2026-05-05-0900--engineer--director--re-gates.openthing")
    assert head[1] == "engineer → director, 2026-05-05 09:00 +00:00; 3,419 characters; action open; no reply since"
    assert "replies to memo/2026-05-01-1000--director--engineer--gates" in head[2]
    assert "Summary\n- 37 characters\n    Gate 4 is sound; the report says why.\n" in text
    assert "The whole report." in text
    short = ask(capsys, site, "show", "2026-05-05-0900", "--head")
    assert "The whole report." not in short and "Gate 4 is sound; the report says why." in short
    words, text = ["show", "2026-05-05-0900"], ""
    for _ in range(50):
        found = asked(capsys, site, *words, "--budget", "900")["body"][0]
        text += found["text"]
        if "more" not in found:
            break
        words = found["more"].split()[1:]
    assert text == "The whole report.\n\n" + "Gate 4 is sound. " * 200
    text = ask(capsys, site, "show", "2026-05-03-1800", "--budget", "0")
    assert "    [12 more characters: memosite show nothing]\n    \\x1b[31mRed\\x9b\n" in text
    assert "\n[12" not in text and "\n  [12" not in text
    for named in ((TALK, "--turns", "2-3"), (f"{TALK}#t2-t3",)):
        turns = asked(capsys, site, "show", *named)["turns"]
        assert [one["anchor"] for one in turns] == ["t2", "t3"]
    [turn] = asked(capsys, site, "show", f"{TALK}#t2")["turns"]
    assert turn["text"].startswith("There are 39 barges in the lock.")
    assert len(asked(capsys, site, "show", TALK)["turns"]) == 3
    document = "yard.decisions.2026-05-01-oak.md"
    [passage] = asked(capsys, site, "show", f"{document}#gates-of-oak")["passage"]
    assert passage["text"] == "Gates of oak\n\nStatus: accepted\n\nOak lasts."
    assert "expected a range among 1-3" in ask(capsys, site, "show", TALK, "--turns", "4", code=2)
    assert "expected a transcript" in ask(capsys, site, "show", document, "--turns", "4", code=2)
    assert "one of its anchors: gates-of-oak" in ask(capsys, site, "show", f"{document}#steel", code=2)
    news = "2026-05-04-1000--director--engineer--news"
    for path in (
        f"yard/memos/inbox/{news}.openthing", f"memos/inbox/{news}.openthing", f"./memos/inbox/{news}.openthing",
        f"{site}/yard/memos/inbox/{news}.openthing", f"memos/read/{news}.openthing", f"memos/{news}/index.html",
    ):  # fmt: skip
        assert ask(capsys, site, "show", path, "--head").startswith(f"memo/{news}; "), path
    april, handoff = "governance.3b9f2c71-8d40-4e6a-a1c5-7f20d96b4e13", "catalogue.handoffs.after-the-county-file"
    for path, name in (
        ("decisions/fines-and-old-debts.md", "document/governance.decisions.fines-and-old-debts.md"),
        ("./decisions/fines-and-old-debts.md", "document/governance.decisions.fines-and-old-debts.md"),
        ("governance/memories/why-april-and-not-june.memory.md", f"record/{april}"),
        (f"{shared_example()}/catalogue/.claude/memory/handoffs/after-the-county-file.json", f"record/{handoff}"),
    ):
        assert ask(capsys, shared_example(), "show", path, "--head").startswith(f"{name}; "), path
    said = ask(capsys, shared_example(), "show", "reading-room/.wyren/memory.md", code=2)
    assert "found 13 items in that file; name one of them:\n  record/reading-room.decisions." in said
    assert "found no item of that name" in ask(capsys, shared_example(), "show", "website/pages/holds.md", code=2)


def test_a_position_of_two_organizations_has_to_be_told_apart(tmp_path: Path, capsys: Capture) -> None:
    """By what writes; a question by the shared id is answered for both, by organization, then what is said by it alone.

    That is shown with neither alone, and is not kept quiet.
    """
    site = tmp_path / "site"
    for id_ in ("lock-org", "mill-org"):
        write_org(site / "repo", id_, positions=["warden", "keeper"])
    at = site / "repo/memos/inbox"
    write_memo(at, "plain", sender="lock-org/keeper", to="warden")
    write_memo(at, "qualified", sender="lock-org/keeper", to="lock-org/warden")
    write_memo(at, "aground", sender="lock-org/keeper", to="mill-org/warden", action_required=True)
    write_memo(at, "to-itself", sender="lock-org/warden", to="lock-org/warden", sent="2026-04-01T09:00:00Z")
    write_note(site / "repo/notes/warden", "handoff", sender="mill-org/warden", sent="2026-05-03T09:00:00Z")
    for name in ("warden", "Warden", "ward"):
        told = json.loads(ask(capsys, site, "inbox", name, "--json"))
        assert told["position"] == "warden" and told["stands_for"] == ["lock-org~warden", "mill-org~warden"]
        assert [(one["id"], one["position"]) for one in told["unread"]] == [
            *(("qualified", "lock-org~warden"), ("to-itself", "lock-org~warden")),
            *(("aground", "mill-org~warden"), ("plain", "warden")),
        ]
    told = json.loads(ask(capsys, site, "brief", "warden", "--json"))
    assert [(one["id"], one["position"]) for one in told["handoff"]] == [
        *(("to-itself", "lock-org~warden"), ("handoff", "mill-org~warden"))
    ]
    said = ask(capsys, site, "brief", "warden")
    assert "stands for lock-org/warden, mill-org/warden" in said and "- mill-org/warden: 2026-05-01 14:30" in said
    for command in (
        ["new", "--from", "warden", "--to", "all", "--subject", "x"],
        ["reply", "plain", "--from", "warden"],
    ):
        said = ask(capsys, site, *command, code=2)
        assert "--from warden: found 2 positions; name one of them:\n  lock-org~warden\n  mill-org~warden" in said
    said = ask(capsys, site, "inbox", "miller", code=2)
    assert "there are lock-org~keeper, lock-org~warden, mill-org~keeper, mill-org~warden\n" in said
    for name in ("lock-org~warden", "lock-org/warden"):
        told = json.loads(ask(capsys, site, "inbox", name, "--json"))
        assert [one["id"] for one in told["unread"]] == ["qualified", "to-itself"]
        assert told["shared_name"]["items"] == 2
    assert told["shared_name"]["command"] == "memosite search with:warden"
    assert "plain" in ask(capsys, site, "search", "with:warden")
    assert "Not shown: 2 by the name warden, which others share: memosite search with:warden" in ask(
        capsys, site, "brief", "mill/warden"
    )


def test_a_brief_and_the_page_of_decisions_have_one_rule(site: Path, capsys: Capture) -> None:
    """Indexes and proposals are no decisions, and what is in force is in force on both."""
    proposal = "# Gates of glass\n\nStatus: accepted\n"
    write_text(site / "yard/decisions/README.md", "# Decisions\n\nStatus: accepted\n")
    write_text(site / "yard/decisions/0000-template.md", "# Title\n\nStatus: accepted\n")
    write_text(site / "yard/proposals/glass.md", proposal)
    write_text(site / "yard/decisions/2026-04-02-iron.md", "# Gates of iron\n\nStatus: accepted; awaiting director\n")
    write_text(site / "yard/decisions/2026-04-03-tin.md", "# Gates of tin\n\nStatus: stale\n")
    found = asked(capsys, site, "brief", "engineer")
    told = {one["short_subject"] for part in ("decisions", "new-decisions") for one in found[part]}
    assert told == {"Gates of oak", "Gates of steel"}
    output = build_site(site)
    in_force = html.parse(output / "decisions/in-force/index.html").getroot()
    assert {str(one) for one in in_force.xpath("//a[@class='subject']/text()")} == told
    pending = html.parse(output / "decisions/pending/index.html").getroot()
    assert "Gates of iron" in pending.xpath("//a[@class='subject']/text()")
    assert "Gates of iron" in html.parse(output / "index.html").xpath("//section[@id='waiting']//a/text()")


WORDS = (
    *("gate", "Schleusentor", "шлюз", "水門", "2026-05-01-1430", "```", "\n", "\n\n", "\x1b[1m", "🚪"),
    *("- " * 9, "x" * 90),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
FORMS = (TextForm(), JsonForm())


def entry(number: int, text: str, rank: int = 0) -> Entry:
    """An entry that can be recognized in both forms."""
    return Entry(
        line=f"entry-{number}", fields={"id": f"entry-{number}"}, text=lambda: text, chars=len(text),
        more=f"memosite show entry-{number}", rank=rank,
    )  # fmt: skip


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """Any answer: lists and texts, ranked or not."""
    numbers = iter(range(10_000))
    parts = []
    for at in range(draw(st.integers(0, 6))):
        texts = draw(st.lists(TEXTS, max_size=12))
        ranks = draw(st.permutations(range(len(texts))))
        parts.append(
            Part(
                name=f"part-{at}", title=f"Part {at}",
                entries=tuple(entry(next(numbers), text, rank) for text, rank in zip(texts, ranks, strict=True)),
                more=f"memosite brief --only part-{at}", step=draw(st.sampled_from((1, 5, 100))),
                is_list=draw(st.booleans()), empty="None.",
            )
        )  # fmt: skip
    return Answer(lines=("Head",), fields={"head": "Head"}, parts=tuple(parts), command="memosite brief x")


def shown_in(part: Part, text: str) -> list[Entry]:
    """The entries of a part that a written answer shows, by their numbers."""
    found = set(re.findall(r"entry-\d+(?=\n|\")", re.sub(r"show entry-\d+", "", text)))
    return [one for one in part.entries if one.line in found]


def told_tokens(text: str, form: Any) -> tuple[int, int | None]:
    """How many tokens a written answer says that it has, and that all of it has if it is cut."""
    if isinstance(form, JsonForm):
        tokens = json.loads(text)["tokens"]
        return tokens["estimated"], tokens.get("all")
    found = re.findall(r"^\[([\d,]+) tokens, estimated(?:; all of it about ([\d,]+))?", text, re.MULTILINE)
    spent, whole = (int(one.replace(",", "")) if one else None for one in found[-1])
    assert spent is not None
    return spent, whole


def answer_of(*parts: Part) -> Answer:
    """An answer of these parts alone."""
    return Answer(lines=("Head",), fields={}, parts=parts, command="memosite brief x")


@given(answers(), st.integers(1, 3_000), st.sampled_from(FORMS))
def test_no_answer_exceeds_its_budget(answer: Answer, budget: int, form: Any) -> None:
    """In either form; what is too small for any answer says how much it takes, and that much is enough."""
    try:
        text = fit(answer, budget, form)
    except ConfigError as error:
        least = int(re.findall(r"about (\d+) tokens", str(error))[0])
        assert budget < least
        text, budget = fit(answer, least, form), least
    assert estimate(text) <= budget
    spent, whole = told_tokens(text, form)
    assert whole is None or spent <= whole
    for part in answer.parts:
        shown = shown_in(part, text)
        if len(shown) < len(part.entries):
            told = json.loads(text)["not_shown"] if isinstance(form, JsonForm) else re.findall(r"not shown: (.*)", text)
            assert part.name in str(told) or part.title in str(told)
            left = sorted((one for one in part.entries if one not in shown), key=lambda one: one.rank)
            assert not shown or max(one.rank for one in shown) < left[0].rank


@given(answers(), st.sampled_from(FORMS))
def test_without_a_budget_everything_is_shown(answer: Answer, form: Any) -> None:
    """And nothing says that something is cut."""
    text = fit(answer, None, form)
    for part in answer.parts:
        assert shown_in(part, text) == list(part.entries)
    assert "not shown" not in text and " more characters" not in text
    assert '"not_shown": []' in text or isinstance(form, TextForm)
    assert fit(answer, 10**6, TextForm()).count("\n") == fit(answer, None, TextForm()).count("\n")


@given(TEXTS.filter(len), st.integers(80, 600), st.sampled_from(FORMS))
def test_a_text_that_is_cut_says_how_much_is_left(text: str, budget: int, form: Any) -> None:
    """What is shown and what is left is all of it."""
    part = Part(name="body", title="Text", entries=(entry(1, text),), more="memosite show x", step=1, is_list=False)
    answer = answer_of(part)
    try:
        written = fit(answer, budget, JsonForm())
    except ConfigError:
        return
    for shown in json.loads(written).get("body", []):
        kept = shown.get("text", "")
        assert text.startswith(kept) and len(kept) + shown.get("characters_left", 0) == len(text)
        assert shown.get("more", "").endswith(f"--from {len(kept)}" if kept and len(kept) < len(text) else "")
    assert estimate(fit(answer, budget, form)) <= budget


def test_no_command_exceeds_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them, about the example; what is cut says so, what has no room at all says how much it takes."""
    for words in (
        *(("brief", "director"), ("brief", "web-engineer"), ("inbox", "web-engineer")),
        *(("thread", "2026-05-22-1600"), ("thread", "2026-03-02-1015", "--brief")),
        *(
            ("show", one)
            for one in ("2026-04-14-0922--local", "2026-05-22-1600", "document/governance.decisions.fines")
        ),
        *(("show", "2026-05-22-1600", "--head"), ("show", "2026-04-14-0922--local", "--turns", "3-9")),
    ):
        for form in ((), ("--json",)):
            command = (*words, *form, "--site", str(shared_example()), "--budget")
            assert main([*command, "0"]) == 0
            whole = capsys.readouterr().out
            for budget in (60, 900):
                code = main([*command, str(budget)])
                told = capsys.readouterr()
                if code == 2:
                    assert budget < int(re.findall(r"about (\d+) tokens", told.err)[0]), words
                    continue
                assert (code, estimate(told.out.rstrip("\n")) <= budget) == (0, True), (words, budget)
                said = [re.sub(r'"tokens": .*', "", text) for text in (told.out, whole)]
                assert said[0] == said[1] or re.search(r'all of it about|"all": ', told.out), (words, budget)


def test_room_is_shared_among_parts() -> None:
    """A few of each come before more of any; sections without entries make room; a cut summary names the whole text."""
    entries = [tuple(entry(at * 100 + one, "word " * 40) for one in range(50)) for at in range(3)]
    parts = (Part(name=f"p{at}", title=f"P{at}", entries=some, more="m") for at, some in enumerate(entries))
    value = json.loads(fit(answer_of(*parts), 1_500, JsonForm()))
    assert [len(value[f"p{at}"]) >= 5 for at in range(3)] == [True, True, True]
    assert all("text" in one for one in value["p0"][:5])
    alone = answer_of(Part(name="p", title="P", entries=(entry(1, "word " * 2_000),), more="m"))
    assert 850 <= estimate(fit(alone, 1_000, TextForm())) <= 1_000
    empty = [Part(name=f"e{at}", title=f"A section with nothing {at}", entries=(), more="m") for at in range(6)]
    full = Part(name="full", title="Waiting on others", entries=(entry(1, ""), entry(2, "")), more="m")
    text = fit(answer_of(*empty[:3], full, *empty[3:]), 75, TextForm())
    assert "Waiting on others (2)\n- " in text and re.search(r"\[not shown: \d empty sections\]", text)
    cut = replace(entry(1, "word " * 500), is_summary=True, more="memosite show x")
    answer = answer_of(Part(name="p", title="P", entries=(cut,), more="m"))
    assert "more characters of the summary: memosite show x]" in fit(answer, 400, TextForm())
    assert json.loads(fit(answer, 400, JsonForm()))["p"][0]["more"] == "memosite show x"


TOKENS = {
    "": (0, 0), "The memo asks for a decision.": (6, 9), "2026-05-01-1430--engineer--director--gates": (15, 24),
    '{"kind": "memo", "unread": true}': (10, 18), "備忘錄": (2, 5), "Архив": (2, 4), "\n\n\n": (1, 1),
}  # fmt: skip
"""How many tokens a text has, at least and at most: what two makers' tokenizers count, a third less and more."""


@given(TEXTS, TEXTS)
def test_tokens_are_estimated_near_what_tokenizers_count(first: str, second: str) -> None:
    """An estimate grows with its text, so that a text can be cut where an estimate says."""
    assert {text: estimate(text) for text, (least, most) in TOKENS.items() if not least <= estimate(text) <= most} == {}
    sizes = estimate(first), estimate(second)
    assert max(sizes) - 1 <= estimate(first + second) <= sum(sizes) + 1
