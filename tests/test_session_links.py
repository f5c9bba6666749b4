"""Sessions are tied to what names them, to the commits they made and to what they wrote (SPEC 2.2 and 3, sessions)."""

import datetime as dt
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.model import Archive, Record, Transcript
from memosite.cli import main
from memosite.facts.file import File
from memosite.facts.parsed import Ref, SessionFile, SessionLog
from memosite.facts.texts import find_sessions
from memosite.facts.values import replace
from memosite.formats.sessions.parsing import parse
from memosite.resolve.identity import CopyGroup, JoinedCopy
from memosite.resolve.records import SessionIndex
from memosite.resolve.sessions import tied_sessions
from memosite.sources.folder import repo_at
from memosite.sources.git import Repo as FoundRepo
from memosite.sources.objects import commit_cards
from tests.support.archives import read_folders
from tests.support.files import write_json, write_text
from tests.support.lives import archive_of
from tests.support.memos import write_memo, write_transcript
from tests.support.repos import Repo
from tests.support.session_logs import ClaudeLog
from tests.support.sites import build_site

FOUR = "7a2e91bc-0001-4000-8000-00000000aaaa"  # an id of chance
SEVEN = "019b8aa5-558a-77c0-938d-d5fbf2c9b91a"  # one that begins with a clock
BEGIN = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)


def sessions(archive: Archive) -> dict[str, Transcript]:
    """The session logs of an archive by their keys."""
    found = (one for one in archive.artifacts.values() if isinstance(one, Transcript) and one.log)
    return {one.log.key: one for one in found if one.log}


def led_to(folder: Path, text: str) -> list[str]:
    """The keys of the sessions that a memo with this text leads to."""
    write_memo(folder / "memos", "2026-05-02-0900--engineer-to-keeper--gate", body=text)
    archive = read_folders(folder)
    keys = {one.ref: key for key, one in sessions(archive).items()}
    memo: Ref = ("memo", "2026-05-02-0900--engineer-to-keeper--gate")
    return [keys[link.to] for link in archive.artifacts[memo].links if link.to in keys]


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (f"As session {FOUR} found.", [FOUR]),
        (f"As session {FOUR.upper()} found.", [FOUR]),
        (f"As `{FOUR}` and {SEVEN} found.", [FOUR, SEVEN]),
        ("[session 7a2e91bc…, turn 5]", [FOUR]),
        ("in `7a2e91bc`, (7a2e91bc0), 7a2e91b", [FOUR]),
        ("its end, 8000-00000000aaaa, and 7a2e91bc-0001", [FOUR, FOUR]),
        ("its end, 00000000aaaa, is enough", [FOUR]),
        ("019b8aa5 is a clock", []),
        ("Of the helper: 7a2e91bc-0001-4000-8000-00000000aaaa.agent-a5bdbc1.", [f"{FOUR}.agent-a5bdbc1"]),
        (f"no/{FOUR}/path, no {FOUR}.jsonl, no x{FOUR}, no {FOUR}-b", []),
    ],
)
def test_an_id_in_a_text_leads_to_the_session(tmp_path: Path, words: str, keys: list[str]) -> None:
    """By all of it, by its first 8 digits or more, or by its last group; not by a clock, nor within a longer word."""
    for key in (FOUR, SEVEN):
        ClaudeLog(key).ask().write(tmp_path / f"sessions/{key}.jsonl")
    helper = ClaudeLog(FOUR).add("user", "Look.", isSidechain=True, agentId="a5bdbc1")
    helper.write(tmp_path / "sessions/agent-a5bdbc1.jsonl")
    assert led_to(tmp_path, words) == keys


def test_two_sessions_with_one_beginning_are_told_apart_by_more_of_it(tmp_path: Path) -> None:
    """What fits two is no link."""
    other = FOUR.replace("0001", "0002")
    for key in (FOUR, other):
        ClaudeLog(key).ask().write(tmp_path / f"sessions/{key}.jsonl")
    assert led_to(tmp_path, f"7a2e91bc {other}") == [other]


def test_of_two_captures_an_id_leads_to_the_agents_own_log(tmp_path: Path) -> None:
    """The record of a memory has both."""
    who = [{"position": "engineer", "session_arc": FOUR}]
    write_transcript(tmp_path / "transcripts", "2026-05-01-0900--engineer--gate", participants=who)
    ClaudeLog(FOUR).ask().write(tmp_path / "sessions/a.jsonl")
    assert led_to(tmp_path, FOUR) == [FOUR]


def bound(folder: Path) -> list[tuple[str, ...]]:
    """The keys of the sessions that each record of a folder has."""
    archive = read_folders(folder)
    keys = {one.ref: key for key, one in sessions(archive).items()}
    records = [one for one in archive.artifacts.values() if isinstance(one, Record)]
    return [tuple(keys[ref] for ref in one.sessions) for one in records]


def test_records_of_memories_lead_to_their_session(tmp_path: Path) -> None:
    """MIF and memory-layer name it in a field, wyren also by its first four digits; the turn is by wyren's count."""
    ClaudeLog(FOUR).ask().write(tmp_path / "sessions/a.jsonl")
    ClaudeLog(SEVEN).ask().write(tmp_path / "sessions/b.jsonl")
    head = "---\nid: 5f0c1d6e-7a6b-4c61-9a56-1f7f5f0f9a01\ntype: semantic\ncreated: 2026-05-01T10:00:00Z\n"
    head += f"provenance:\n  session_id: {FOUR}\n---\n"
    write_text(tmp_path / "gate.memory.md", f"{head}\n# Gate\n\nThe gate is oiled.\n")
    meta = {"created": "2026-05-01T10:00:00Z", "category": "context", "summary": "Gate", "session_id": "7a2e91bc"}
    write_json(tmp_path / ".claude/memory/context/gate.json", {"meta": meta, "content": {}})
    memory = "## Decisions\n\n- Oil the gate [session 7a2e…, turn 5]\n- Paint it [session 019b, turn 2]\n"
    write_text(tmp_path / ".wyren/memory.md", memory)
    assert sorted(bound(tmp_path)) == [(), (FOUR,), (FOUR,), (FOUR,)]
    records = [one for one in read_folders(tmp_path).artifacts.values() if isinstance(one, Record)]
    assert ("Turn", "5 by wyren's count") in [field for one in records for field in one.card.fields]


def naive(text: str, keys: Iterable[str]) -> set[str]:
    """The sessions that words name: read anew, word by word and key by key."""
    found = set()
    for word in text.split():
        name = word.strip(".,;:()[]`…").lower()
        digits = name.replace("-", "")
        if "-" in (name[:1], name[-1:]) or len(digits) < 8 or set(digits) - set("0123456789abcdef"):
            continue
        exact = [key for key in keys if key == name]
        begun = [key for key in keys if key.startswith(name) and not (key[14] == "7" and len(name) == 8)]
        ended = [key for key in keys if key.endswith(f"-{name}")]
        for some in (exact, begun, ended):
            if some:
                found |= {some[0]} if len(some) == 1 else set()
                break
    return found


def index_of(keys: Iterable[str]) -> SessionIndex:
    """An index of logs of these sessions."""
    groups = []
    for key in keys:
        fact = parse(File(source="quay", path=f"{key}.jsonl", data=ClaudeLog(key).ask().text.encode())).fact
        assert isinstance(fact, SessionFile)
        (log,) = fact.sessions
        group = CopyGroup(kind="transcript", stem="", sender="", to=(), sent="", instant=BEGIN, id=key)
        group.copies = (JoinedCopy(envelope=log, body=None),)
        groups.append(group)
    return SessionIndex(groups)


DIGIT = st.sampled_from("07a")
KEYS = st.builds(
    lambda a, version, b: f"7a2e91b{a}-000{b}-{version}000-8000-0000000000{a}{b}", DIGIT, st.sampled_from("47"), DIGIT
)


@given(
    st.sets(KEYS, min_size=1, max_size=5).flatmap(
        lambda keys: st.tuples(
            st.just(keys),
            st.lists(
                st.tuples(
                    st.sampled_from(sorted(keys)), st.integers(0, 28), st.integers(0, 36), st.sampled_from("([` …")
                ),
                max_size=8,
            ),
        )
    )
)
def test_a_second_reader_finds_the_same_sessions(case: tuple[set[str], list[tuple[str, int, int, str]]]) -> None:
    """Whatever pieces of ids are in a text."""
    keys, pieces = case
    text = " ".join(f"{sign}{key[begin:end]}{sign}" for key, begin, end, sign in pieces)
    index = index_of(keys)
    got = {ref[1] for word in find_sessions(text) if (ref := index.named(word))}
    assert got == naive(text, sorted(keys))


# Commits


def committed(folder: Path) -> list[tuple[str, int, str, str]]:
    """The commits of the sessions of a folder: the key of the session, the turn, the subject, how it is known."""
    found = sessions(archive_of(*(Repo(path, is_new=False) for path in sorted(folder.iterdir()))))
    return [(key[:2], one.ordinal, one.subject, one.how) for key, session in found.items() for one in session.commits]


@pytest.fixture
def quay(tmp_path: Path) -> Repo:
    """A repo with a commit."""
    repo = Repo(tmp_path / "quay")
    repo.write("gate.txt", "dry\n")
    repo.commit("Start")
    return repo


def test_a_turn_has_the_commit_whose_hash_git_printed_in_it(quay: Repo) -> None:
    """If the repo has it, also where the log is in another source; not what a tool printed that committed nothing."""
    id_ = quay.commit("Hinges")
    log = ClaudeLog(FOUR).ask().say("I oil them.").commit(f"[main {id_[:7]}] Hinges\n 1 file changed")
    log.ask("And the lock?").commit("[main 1234567] Not here")
    log.run("Bash", {"command": "cat notes"}, f"[main {quay.commit('Other')[:7]}] Other")
    log.write(quay.root.parent / "logs/sessions/a.jsonl")
    assert committed(quay.root.parent) == [("7a", 2, "Hinges", "printed")]
    (session,) = sessions(archive_of(Repo(quay.root.parent / "logs", is_new=False), quay)).values()
    assert (session.commits[0].id, session.commits[0].source) == (id_, "quay")


@pytest.mark.parametrize(
    ("trailer", "is_tied"),
    [
        (f"Entire-Session: 2026-05-01-{FOUR}", True),
        (f"Agent-Session:{FOUR.upper()}", True),
        (f"Claude-Session: https://claude.ai/code/session_{FOUR}", False),
        (f"See session {FOUR}.", False),
        (f"Session: {FOUR} and more", False),
        (f"Session: {FOUR[:8]}", False),
    ],
)
def test_a_trailer_with_the_id_of_a_session_ties_a_commit_to_it(quay: Repo, trailer: str, is_tied: bool) -> None:
    """To no turn, since it names none; what names the session in a sentence, or in an address, is no trailer of it."""
    quay.commit(f"Oil the gate\n\nAs asked.\n\nSigned-off-by: Ann <ann@quay.example>\n{trailer}")
    ClaudeLog(FOUR).ask().write(quay.root / "sessions/a.jsonl")
    assert committed(quay.root.parent) == ([("7a", 0, "Oil the gate", "trailer")] if is_tied else [])


def test_a_trailer_with_a_checkpoint_ties_a_commit_to_the_turn_where_that_begins(quay: Repo) -> None:
    """A hash that was printed says more, so that is told of a commit that has both."""
    ids = [quay.commit(f"{what}\n\nEntire-Checkpoint: 01ab23cd45ef") for what in ("Gate", "Hinge")]
    ref: Ref = ("transcript", "a")
    found = repo_at(quay.root)
    assert isinstance(found, FoundRepo)
    cards = {"quay": {card.id: card for card in commit_cards(found, ids)}}
    cards["quay"][ids[1][:9]] = cards["quay"][ids[1]]
    log = SessionLog(
        system="codex", key=SEVEN, agent="Codex", checkpoints=((3, "01ab23cd45ef"),), commits=((5, ids[1][:9]),)
    )
    ClaudeLog(FOUR).ask().write(quay.root / "sessions/a.jsonl")
    (session,) = sessions(read_folders(quay.root)).values()
    (variant,) = session.variants
    made = replace(session, variants=(replace(variant, envelope=replace(variant.envelope, log=log)),))
    tied = tied_sessions({ref: made}, cards)[ref]
    assert isinstance(tied, Transcript)
    assert [(one.ordinal, one.subject, one.how) for one in tied.commits] == [
        (3, "Gate", "checkpoint"),
        (5, "Hinge", "printed"),
    ]


def test_commits_of_one_time_alone_are_no_sessions(quay: Repo) -> None:
    """However near they are."""
    quay.commit("Hinges", at="2026-05-01T09:01:00Z")
    ClaudeLog(FOUR).ask().say("I commit it.").write(quay.root / "sessions/a.jsonl")
    assert committed(quay.root.parent) == []


def test_the_page_shows_the_commit_at_its_turn(quay: Repo) -> None:
    """With its forge, escaped; pull requests and what was written are there, too, and in the JSON."""
    subject = "Oil <b>hinges</b> & locks"
    id_ = quay.commit(subject)
    log = ClaudeLog(FOUR, folder="/srv/quay").ask().commit(f"[main {id_[:7]}] {subject}")
    log.pull("https://forge.example/quay/pull/7").run(
        "Write", {"file_path": "/srv/quay/decisions/oil.md", "content": "Oil"}, "written"
    )
    log.write(quay.root / "sessions/a.jsonl")
    quay.write("decisions/oil.md", "# Oil the gate\n")
    quay.git("remote", "add", "origin", "https://github.com/quay/quay.git")
    write_text(quay.root.parent / "memosite.yml", "title: Quay\nsources:\n  - path: quay\n")
    build_site(quay.root.parent)
    (page,) = (quay.root.parent / "_site/transcripts").glob("*/index.html")
    html = page.read_text()
    assert f'href="https://github.com/quay/quay/commit/{id_}"' in html
    assert "Oil &lt;b&gt;hinges&lt;/b&gt; &amp; locks" in html
    assert 'href="https://forge.example/quay/pull/7"' in html
    twin = json.loads(page.with_suffix(".json").read_text())["session"]
    made = {"turn": 2, "commit": id_, "subject": subject, "source": "quay", "known_by": "printed"}
    assert twin["commits"] == [made]
    assert twin["items"] == [{"turn": 2, "item": "document/quay.decisions.oil.md"}]


# Why a line is there


def shown_by(folder: Path, place: str, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, list[str], str | None]]:
    """The sessions that `why` names for a line: the beginning of the id of each, what its turns show, the doubt."""
    assert main(["why", place, "--json", "--site", str(folder)]) == 0
    (chain,) = json.loads(capsys.readouterr().out)["chains"]
    return [
        (one["id"].split("--")[2][:2], [f"{turn['anchor']} {turn['shows']}" for turn in one["turns"]], one["uncertain"])
        for one in chain["sessions"]
    ]


def oiled(quay: Repo, message: str = "Oil the gate", *, at: str = "2026-05-01T09:03:00Z") -> str:
    """Commit a line of a file; the site is the folder above."""
    write_text(quay.root.parent / "memosite.yml", "sources:\n  - path: quay\n")
    quay.write("gate.txt", "oiled with linseed\n")
    return quay.commit(message, at=at)


def test_why_names_the_turn_that_printed_the_hash(quay: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """However late the commit's date is; a session that goes on from that one, or that copies it, shows nothing."""
    id_ = oiled(quay, at="2026-07-01T00:00:00Z")
    log = ClaudeLog(FOUR).ask().commit(f"[main {id_[:9]}] Oil the gate")
    log.write(quay.root / "sessions/a.jsonl")
    records = [record.replace(FOUR, SEVEN) for record in log.records]
    later = ClaudeLog(SEVEN)
    later.records = [json.dumps(json.loads(one) | {"uuid": f"new{at}"}) for at, one in enumerate(records)]
    later.ask("And the lock?").write(quay.root / "sessions/b.jsonl")
    assert shown_by(quay.root.parent, "quay/gate.txt:1", capsys) == [("7a", ["t2 made the commit"], None)]


def test_why_names_the_session_whose_id_is_in_the_message(quay: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two captures it is the agent's own log."""
    oiled(quay, f"Oil the gate\n\nAgent-Session: {FOUR}")
    ClaudeLog(FOUR).ask().say("Done.").write(quay.root / "sessions/a.jsonl")
    who = [{"position": "engineer", "session_arc": FOUR}]
    write_transcript(quay.root / "transcripts", "2026-05-01-0900--engineer--gate", participants=who)
    shown = [("7a", ["None is named by the commit's message"], None)]
    assert shown_by(quay.root.parent, "quay/gate.txt:1", capsys) == shown


@pytest.mark.parametrize(
    ("content", "doubt"),
    [("oiled with linseed\n", None), ("oiled\n", "it wrote the file, but does not show this line")],
)
def test_why_names_the_session_that_wrote_the_line(
    quay: Repo, capsys: pytest.CaptureFixture[str], content: str, doubt: str | None
) -> None:
    """If its tool call has the line; one that wrote the file with other words is uncertain."""
    oiled(quay)
    log = ClaudeLog(FOUR).ask().say("I oil it.")
    log.run("Write", {"file_path": "/srv/quay/gate.txt", "content": content}, "written").ask("Thanks.")
    log.write(quay.root / "sessions/a.jsonl")
    shows = "wrote the file" if doubt else "edited the file, with this text"
    assert shown_by(quay.root.parent, "quay/gate.txt:1", capsys) == [("7a", [f"t2 {shows}"], doubt)]


def test_a_text_that_looks_like_a_call_shows_nothing(quay: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what a log has as a call is one."""
    id_ = oiled(quay)
    log = ClaudeLog(FOUR).ask(f"> **🔧 Bash**\n> [main {id_[:9]}] Oil the gate").say("No.")
    log.add("user", "Later.", timestamp="2026-05-01T10:00:00Z").write(quay.root / "sessions/a.jsonl")
    shown = [("7a", ["t1 names the commit"], "it names the commit, but does not show that it made it")]
    assert shown_by(quay.root.parent, "quay/gate.txt:1", capsys) == shown


# What a session wrote


@pytest.mark.parametrize(
    ("folder", "path", "is_written"),
    [
        ("/srv/quay", "/srv/quay/decisions/oil.md", True),
        ("/srv/quay", "./decisions/oil.md", True),
        ("C:\\work\\quay", "C:\\work\\quay\\decisions\\oil.md", True),
        ("/srv/quay", "/elsewhere/decisions/oil.md", False),
        ("/srv/quay", "decisions/../decisions/oil.md", False),
        ("/srv/quay", "oil.md", False),
    ],
)
def test_what_a_session_wrote_says_in_which_turn(
    quay: Repo, capsys: pytest.CaptureFixture[str], folder: str, path: str, is_written: bool
) -> None:
    """Its page, its JSON and `show` name the turn, and lead to it; a path that is in no source leads nowhere."""
    log = ClaudeLog(FOUR, folder=folder).ask().run("Write", {"file_path": path, "content": "Oil"}, "written")
    log.write(quay.root / "sessions/a.jsonl")
    quay.write("decisions/oil.md", "# Oil the gate\n")
    write_text(quay.root.parent / "memosite.yml", "sources:\n  - path: quay\n")
    site = build_site(quay.root.parent)
    session = f"transcript/2026-05-01-0900--claude-code--{FOUR}"
    (file,) = (site / "documents").glob("*/index.html")
    page, twin = file.read_text(), json.loads(file.with_suffix(".json").read_text())
    assert twin.get("written_by", []) == ([{"session": session, "turn": 2}] if is_written else [])
    assert (f"{session.split('/')[1]}/#t2" in page or f"{session.split('/')[1]}/index.html#t2" in page) == is_written
    assert main(["show", "document/quay.decisions.oil.md", "--site", str(quay.root.parent)]) == 0
    assert (f"written during {session}#t2" in capsys.readouterr().out) == is_written


def test_what_was_sent_while_a_session_went_on_is_not_what_it_wrote(tmp_path: Path) -> None:
    """Nothing is tied by time alone: one position may have several sessions at once."""
    desk = tmp_path / "desk"
    ClaudeLog(FOUR).ask("Which gate?").say("The north one.").write(desk / "sessions/a.jsonl")
    write_memo(desk / "memos", "2026-05-01-0901--engineer-to-keeper--gate", sent="2026-05-01T09:00:30Z")
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\nsessions: {positions: {'sessions/**': engineer}}\n")
    site = build_site(tmp_path)
    (twin,) = (json.loads(path.read_text()) for path in site.glob("transcripts/*/index.json"))
    assert twin["positions"] == ["engineer"] and twin["transcript"]["written_during"] == []
