"""Drafts of memos (SPEC 8): what `reply` and `new` print is conformant, threads, and arrives where it should."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memosite.archive.model import Memo
from memosite.cli import main
from memosite.facts.names import make_id, read_stamped_name
from memosite.facts.times import read_moment
from tests.support.archives import read_folders
from tests.support.files import write_json, write_text
from tests.support.memos import send, write_body, write_legacy_memo, write_memo, write_note, write_org
from tests.support.repos import Repo
from tests.support.sites import build_site, tree_bytes

ASK = "2026-05-01-1000--director--engineer--gates"
MORE, LOST = "2026-05-02-1000--director--engineer--more", "2026-04-01-1000--engineer--director--lost"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Two repos, of the director and of the engineer, who has a memo."""
    office, yard = Repo(tmp_path / "site/office"), Repo(tmp_path / "site/yard")
    write_org(
        office.root,
        positions=[
            {"id": "director", "name": "Director", "x.position.working_directory": "../office"},
            {"id": "engineer", "name": "Engineer", "x.position.working_directory": "../yard"},
            {"id": "lawyer", "name": "Lawyer"},
        ],
    )
    send(yard.root / "memos/read", ASK, subject="Gates")
    send(office.root / "memos/read", "2026-04-01-1000--engineer--director--hello")
    for repo in (office, yard):
        repo.commit()
    return tmp_path / "site"


def draft(capsys: Capture, site: Path, *words: object, code: int = 0) -> Any:
    """What the command prints."""
    capsys.readouterr()
    assert main([*map(str, words), "--site", str(site)]) == code
    captured = capsys.readouterr()
    return json.loads(captured.out) if code == 0 else captured.err


def put(made: Any) -> list[Path]:
    """Write the files of a draft where it says, and give the paths of the envelopes."""
    for place in made["put"]:
        write_json(Path(place["envelope"]), made["envelope"])
        if "body_file" in place:
            write_text(Path(place["body_file"]), made["body_file"])
    return [Path(place["envelope"]) for place in made["put"]]


def write_to(capsys: Capture, site: Path, to: str, *words: str) -> Any:
    """What `new` prints for a memo of the director."""
    return draft(capsys, site, "new", "--from", "director", "--to", to, "--subject", "Hello", *words)


def answer(capsys: Capture, site: Path, memo: str, *words: object, code: int = 0) -> Any:
    """What `reply` prints for the engineer."""
    return draft(capsys, site, "reply", memo, "--from", "engineer", *words, code=code)


def memo_of(made: Any, *sources: Path) -> Memo:
    """The memo of a draft in an archive."""
    memo = read_folders(*sources).artifacts["memo", made["name"].removesuffix(".openthing")]
    assert isinstance(memo, Memo)
    return memo


def check(*files: Path) -> int:
    """What `check` says of files, where warnings are errors."""
    return main(["check", *map(str, files), "--fail-on", "warning"])


def test_a_reply_passes_check_threads_and_is_announced_once(site: Path, capsys: Capture) -> None:
    """From the memo to the feed of who gets it, under a name that says who wrote to whom when; no source is written."""
    output = build_site(site)
    before = (output / "positions/director/feed.xml").read_text()
    answer(capsys, site, ASK)
    sources = {path: data for path, data in tree_bytes(site).items() if not path.startswith(".memosite/")}
    draft(capsys, site, "new", "--from", "engineer", "--to", "director", "--subject", "Hello")
    made = answer(capsys, site, ASK[:20])
    assert {path: data for path, data in tree_bytes(site).items() if not path.startswith(".memosite/")} == sources
    name, sent = read_stamped_name(made["name"].removesuffix(".openthing")), read_moment(made["envelope"]["sent"])
    assert sent is not None and name.date is not None
    assert name.date.instant == sent.instant.replace(second=0)
    assert (name.sender, name.recipient, name.slug) == ("engineer", "director", "re-gates")
    envelope = made["envelope"]
    assert (envelope["from"], envelope["to"], envelope["subject"]) == ("engineer", "director", "re: Gates")
    assert (envelope["in_reply_to"], envelope["thread_id"]) == (f"{ASK}.openthing", ASK)
    assert envelope["action_required"] is False
    [file] = put(made)
    assert file.parent == site / "office/memos/inbox" and check(file) == 0
    build_site(site)
    after = (output / "positions/director/feed.xml").read_text()
    announced = f"new memo: memos/inbox/{made['name']}"
    assert (before.count(announced), after.count(announced)) == (0, 1)
    assert after.count("<item>") == before.count("<item>") + 1
    memo = memo_of(made, site / "office", site / "yard")
    assert (memo.parent, memo.thread, memo.findings) == (("memo", ASK), ASK, ())
    assert main(["check", str(site), "--fail-on", "warning"]) == 0


def test_a_new_memo_begins_a_thread_and_names_are_ids_whatever_the_subject(site: Path, capsys: Capture) -> None:
    """An action is asked for only if that is said."""
    made = draft(
        capsys, site, "new", "--from", "director", "--to", "engineer", "--subject", "Paint\nthe  gates", "--action"
    )
    assert {"in_reply_to", "thread_id"}.isdisjoint(made["envelope"])
    assert made["envelope"]["subject"] == "Paint the gates"
    [file] = put(made)
    assert check(file) == 0
    memo = memo_of(made, site / "office", site / "yard")
    assert (memo.action, memo.thread) == ("open", memo.id)
    for number, (subject, expected) in enumerate((
        ("Re: RE:re[2]: Gates", "re: Gates"),
        ("Refunds", "re: Refunds"),
        ("Gates of oak last longer than gates of steel. " * 40, "re: Gates of oak last longer than gates of steel"),
        ("re: Gates", "re: Gates"),
    )):  # fmt: skip
        name = f"2026-05-02-1000--director--engineer--{number}"
        _plain(site / "yard/memos/read", name, subject=subject)
        assert answer(capsys, site, name)["envelope"]["subject"] == expected
    own = answer(capsys, site, ASK, "--subject", "RE: RE: mine")
    assert own["envelope"]["subject"] == "RE: RE: mine"
    odd = ("a--b", "…", "Łódź: 門 / Ворота", "x" * 400, "../../etc/passwd", "é" * 300, ".hidden.", "-- -", "a\0b")
    for subject in odd:
        made = draft(capsys, site, "new", "--from", "engineer", "--to", "director", f"--subject={subject}")
        stem = made["name"].removesuffix(".openthing")
        read = read_stamped_name(stem)
        assert make_id(stem) == stem
        assert (read.sender, read.recipient) == ("engineer", "director") and "--" not in read.slug
        assert check(*put(made)) == 0


def test_a_short_text_is_in_the_envelope_a_long_one_in_a_body_file(site: Path, tmp_path: Path, capsys: Capture) -> None:
    """With line feeds; one that cannot be used is named with its line; the envelope of a long one has a summary."""
    text, empty = tmp_path / "answer.md", write_text(tmp_path / "b.md", " \n")
    text.write_bytes("\ufeffGate 4 is sound.\r\n\r\nIt is of oak.\r\n".encode())
    made = answer(capsys, site, ASK, "--body", text)
    assert made["envelope"]["body"] == "Gate 4 is sound.\n\nIt is of oak."
    assert (made["body_file"], made["notes"]) == (None, [])
    text.write_bytes(b"one\ntwo \xff\n")
    said = {text: f"{text}:2: found what is not UTF-8", empty: "found no text", tmp_path: "cannot"}
    for file, expected in said.items():
        assert expected in answer(capsys, site, ASK, "--body", file, code=2)
    text = write_text(tmp_path / "answer.md", "# Gates\n\nGate 4 is sound.\n\n" + "It is of oak. " * 200)
    made = answer(capsys, site, ASK, "--body", text)
    assert made["envelope"]["body"].startswith("Gate 4 is sound. It is of oak.")
    assert len(made["envelope"]["body"]) < 300 and "--summary" in made["notes"][0]
    made = answer(capsys, site, ASK, "--body", text, "--summary", "All gates\nare sound.")
    assert (made["envelope"]["body"], made["notes"]) == ("All gates are sound.", [])
    assert made["envelope"]["body_ref"] == made["name"].replace(".openthing", ".body.md")
    [file] = put(made)
    assert check(file) == 0
    memo = memo_of(made, site / "office", site / "yard")
    assert memo.variants[0].text is not None
    assert (memo.variants[0].text.chars, memo.findings) == (len(text.read_text().rstrip("\n")) + 1, ())
    made = answer(capsys, site, ASK, "--body", write_text(tmp_path / "rules.md", "---\n" * 600))
    assert made["envelope"]["body"].strip() and check(*put(made)) == 0


def _plain(folder: Path, name: str, **fields: Any) -> None:
    write_memo(folder, name, sender="director", to="engineer", **fields)


def _reply_in_named_thread(folder: Path) -> None:
    first = "2026-05-01-0900--director--engineer--first"
    _plain(folder, first, thread_id="gates", sent="2026-05-01T09:00:00Z")
    _plain(folder, MORE, in_reply_to=f"{first}.openthing")


def _rivals(folder: Path) -> None:
    _plain(folder.parents[2] / "office/memos/read", MORE, sent="2026-05-01T08:00:00Z", subject="Another")
    _plain(folder, MORE)


MEMOS: dict[str, Callable[[Path], object]] = {
    "plain": lambda folder: _plain(folder, MORE),
    "spaced": lambda folder: _plain(folder, f"{MORE} (second try), with spaces"),
    "legacy": lambda folder: write_legacy_memo(folder, MORE, sender="director", to="engineer"),
    "bare": lambda folder: write_body(folder, MORE),
    "unstamped": lambda folder: _plain(folder, "note 4.5"),
    "accented": lambda folder: _plain(folder, "2026-05-02-1000--director--engineer--schlu\u0308ssel"),
    "named thread": lambda folder: _plain(folder, MORE, thread_id="The gates / of the yard"),
    "under missing": lambda folder: _plain(folder, MORE, in_reply_to=f"{LOST}.openthing"),
    "reply in named thread": _reply_in_named_thread,
    "rivals": _rivals,
}


@pytest.mark.parametrize("kind", MEMOS)
def test_a_reply_to_any_memo_joins_its_thread(site: Path, capsys: Capture, kind: str) -> None:
    """Whatever its name, its form or its thread; of memos of one name, each has its own replies."""
    MEMOS[kind](site / "yard/memos/read")
    sources = (site / "office", site / "yard")
    for memo in [one for one in read_folders(*sources).memos() if one.id != ASK]:
        made = answer(capsys, site, f"memo/{memo.id}", "--to", "director")
        put(made)
        reply = memo_of(made, *sources)
        assert (reply.parent, reply.thread) == (memo.ref, memo.thread)
        assert {finding.rule.id for finding in reply.findings} <= {"reply-path"} and make_id(reply.id) == reply.id


def test_a_thread_goes_on_when_its_missing_first_memo_is_found(site: Path, capsys: Capture) -> None:
    """It may name its thread otherwise; so a draft does not. A second draft of one minute is numbered."""
    MEMOS["under missing"](site / "yard/memos/read")
    made = answer(capsys, site, "2026-05-02-1000")
    put(made)
    assert "thread_id" not in made["envelope"]
    write_memo(site / "office/memos/read", LOST, sent="2026-04-01T10:00:00Z", thread_id="found-again")
    assert memo_of(made, site / "office", site / "yard").thread == "found-again"
    names = set()
    for _ in range(3):
        made = answer(capsys, site, ASK)
        put(made)
        names.add(made["name"])
    memos = [one for one in read_folders(site / "office", site / "yard").memos() if one.parent == ("memo", ASK)]
    assert (len(names), len(memos)) == (3, 3)


def test_one_who_replies_to_itself_writes_to_the_others(site: Path, capsys: Capture) -> None:
    """A further memo goes to those who got the first, a note after a note; positions are written as called now."""
    made = draft(capsys, site, "reply", ASK, "--from", "director")
    assert (made["envelope"]["to"], made["put"][0]["for"]) == ("engineer", ["engineer"])
    write_note(site / "yard/notes/yard-crew", "2026-05-03-1000--engineer--file--rust")
    made = answer(capsys, site, "note/2026-05-03")
    assert made["envelope"]["to"] == "file"
    [file] = put(made)
    assert file.parent == site / "yard/notes/yard-crew" and check(file) == 0
    write_text(site / "memosite.yml", "title: Lock\npositions: {aliases: {lock-engineer: engineer, boss: director}}\n")
    old = "2026-05-02-1000--boss--lock-engineer--old"
    write_memo(site / "yard/memos/inbox", old, sender="boss", to="lock-engineer")
    made = draft(capsys, site, "reply", "2026-05-02-1000", "--from", "lock-engineer")
    assert (made["envelope"]["from"], made["envelope"]["to"]) == ("engineer", "director")


def test_a_position_is_named_as_memos_name_it(tmp_path: Path, capsys: Capture) -> None:
    """Where two organizations have one of the same id, and where memos say the organization before it."""
    for name in ("lock", "mill"):
        write_org(tmp_path / name, f"{name}-org", positions=["strategist", "clerk"])
    write_memo(tmp_path / "lock/memos/inbox", "2026-05-01-1000--a--b--one", to="all")
    send(tmp_path / "mill/memos/inbox", "2026-05-02-1000--a--b--old", sender="lock-strategist", to="mill-strategist")
    write_memo(tmp_path / "mill/memos/inbox", "2026-05-02-1100--a--b--who", sender="strategist", to="mill-strategist")
    made = draft(capsys, tmp_path, "reply", "2026-05-02-1000", "--from", "mill-strategist")
    assert (made["envelope"]["from"], made["envelope"]["to"]) == ("mill-strategist", "lock-strategist")
    assert "lock-org~strategist" in made["notes"][-1]
    made = draft(capsys, tmp_path, "new", "--from", "mill-org~clerk", "--to", "mill-strategist", "--subject", "Hello")
    assert made["envelope"]["from"] == "mill-org/clerk"
    put(made)
    memo = memo_of(made, tmp_path / "lock", tmp_path / "mill")
    assert (memo.sender_position, memo.recipients[0].position) == ("mill-org~clerk", "mill-org~strategist")
    for words in (("--from", "strategist"), ("--from", "mill-strategist")):
        said = draft(capsys, tmp_path, "reply", "2026-05-02-1100", *words, code=2)
        assert "found 2 positions; name one of them:\n  lock-org~strategist\n  mill-org~strategist" in said


def test_several_recipients_are_named_and_served(site: Path, capsys: Capture) -> None:
    """Each once, one memo with a copy in each repo, and who has no repo is said; `all` and `file` stand alone."""
    words = ("new", "--from", "lawyer", "--subject", "Hello")
    made = draft(capsys, site, *words, "--to", "engineer, director,engineer,")
    assert made["envelope"]["to"] == "engineer, director" and "--engineer-and-director--" in made["name"]
    assert [place["repo"] for place in made["put"]] == ["yard", "office"]
    for to, said in (("all,director", "for nobody else"), (" , ", "found no position"), ("engineer,nobody", "no such")):
        assert said in draft(capsys, site, *words, "--to", to, code=2)
    made = write_to(capsys, site, "all")
    assert [place["for"] for place in made["put"]] == [["engineer"]] and "lawyer" in made["notes"][-1]
    made = draft(capsys, site, *words, "--to", "all")
    assert [place["repo"] for place in made["put"]] == ["office", "yard"] and check(*put(made)) == 0
    assert len(memo_of(made, site / "office", site / "yard").copies) == 2


def test_memos_go_where_the_others_are(tmp_path: Path, capsys: Capture) -> None:
    """Into a flat folder, into a folder that the organization names, into a folder below the top of the repo."""
    root = tmp_path / "lock"
    seats = ["director", "engineer", "clerk", "keeper"]
    write_org(root, positions=seats, **{"x.org.memo_location": "<working_directory>/handoffs/"})
    write_memo(root / "memos", "2026-05-02-1000--a--b--one", to="engineer")
    write_memo(root / "teams/desk/memos/read", "2026-05-02-1000--a--b--two", to="clerk")
    write_memo(root / "handoffs/archive", "2026-05-02-1000--a--b--three", to="keeper")
    where = {"engineer": "lock/memos", "clerk": "lock/teams/desk/memos/inbox", "keeper": "lock/handoffs/inbox"}
    for position, folder in where.items():
        made = write_to(capsys, tmp_path, position)
        [file] = put(made)
        assert file.parent == tmp_path / folder
        assert memo_of(made, root).findings == ()


def test_a_repo_without_a_checkout_is_named(site: Path, tmp_path: Path, capsys: Capture) -> None:
    """The paths are those in a clone of it."""
    sources = f"sources:\n  - path: {site}/office\n  - git: file://{site}/yard\n    name: yard\n"
    write_text(tmp_path / "away/memosite.yml", f"title: Lock\n{sources}")
    build_site(tmp_path / "away")
    made = write_to(capsys, tmp_path / "away", "engineer")
    assert made["put"][0]["envelope"] == f"memos/inbox/{made['name']}"
    assert made["notes"][-1].startswith("yard is read without a checkout")


def test_doubts_and_errors_are_said(site: Path, capsys: Capture) -> None:
    """Another position, a memo of the future; errors name the option: what was found, expected, and is to be done."""
    made = draft(capsys, site, "reply", ASK, "--from", "lawyer")
    assert f"lawyer is neither sender nor recipient of memo/{ASK}" in made["notes"]
    later = "2999-01-01-0000--director--engineer--later"
    _plain(site / "yard/memos/inbox", later, sent="2999-01-01T00:00:00Z")
    made = answer(capsys, site, later)
    assert any("dated 2999-01-01T00:00:00Z, after this reply" in note for note in made["notes"])
    write_text(site / "yard/decisions/oak.md", "# Oak\n")
    new, reply = ("new", "--from", "engineer", "--to"), ("--from", "engineer")
    for words, said in (
        (("reply", ASK, "--from", "engneer"), "--from engneer: found no such position, nearest is engineer"),
        (("reply", "2026-05-01-1001", *reply), "found no item of that name"),
        (("reply", "document/yard.decisions.oak.md", *reply), "found a document, expected a memo or a note"),
        ((*new, "director", "--subject", " "), "--subject: found no text"),
        ((*new, "file", "--subject", "x", "--action"), "--action: a note to file"),
    ):
        assert said in draft(capsys, site, *words, code=2)
