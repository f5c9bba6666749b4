"""Sessions stay what they are while their logs grow, are renamed, moved and copied (SPEC 2.2, sessions)."""

import json
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memosite.archive.model import Archive, Transcript
from memosite.cli import main
from memosite.facts.parsed import Ref
from tests.support.archives import EMPTY, read_folders, read_sources
from tests.support.chromium import chromium
from tests.support.files import write_text
from tests.support.lives import archive_of
from tests.support.repos import Repo
from tests.support.servers import serving
from tests.support.session_logs import FORMS, ClaudeLog, Step, specstory
from tests.support.sites import build_site

HOSTILE = int(os.environ.get("MEMOSITE_HOSTILE", "15"))
"""How many hostile archives are built."""
KEY = "7a2e91bc-0001-4000-8000-00000000aaaa"


def test_a_new_turn_comes_onto_the_open_page_and_nothing_before_it_moves(tmp_path: Path) -> None:
    """What a reader looks at stays where it is in the window, expanded; half a line at the end is no error."""
    log = ClaudeLog(KEY)
    for number in range(40):
        log.ask(f"Gate {number}?").say(f"Gate {number} is oiled.\n\n" + "It turns. " * 80)
        log.run("Bash", {"command": f"oil {number}"}, "oiled\n" * 30)
    file = log.write(tmp_path / "sessions/a.jsonl")
    write_text(tmp_path / "memosite.yml", "sources:\n  - path: .\n")
    opened = "document.querySelectorAll('main details[open]').length"
    with serving(tmp_path) as (host, _), chromium() as browser:
        browser.open(f"http://{host}/transcripts/2026-05-01-0900--claude-code--{KEY}/")
        browser.wait_for("document.readyState === 'complete'")
        browser.value("document.querySelector('#t42 details').open = true")
        browser.wait_for("!document.querySelector('.in-pieces')")  # all of it is laid out, and nothing moves by itself
        browser.value("document.querySelector('#t41').scrollIntoView(); scrollBy(0, -37)")
        browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seen = "document.querySelector('#t41').getBoundingClientRect().top"
        top, folds = browser.value(seen), browser.value(opened)
        log.ask("And the last gate?").say("It is oiled, too.")
        with file.open("a", encoding="utf-8") as growing:
            growing.write("".join(f"{record}\n" for record in log.records[-2:]) + '{"type": "assist')
        browser.wait_for("document.querySelector('#t82')?.innerText.includes('It is oiled, too.')")
        browser.wait_for(f"Math.abs({seen} - ({top})) < 2 && {opened} === {folds}")
        browser.wait_for("document.querySelector('#t42 details').open")
        assert not browser.value("document.querySelector('[role=alert]')?.innerText")
        assert not browser.complaints


STEPS: list[Step] = [
    ("person", "Which gates are dry?\n\nAnd is “north” right?"),
    ("thinking", "They want the dry ones."),
    ("assistant", "Let me look.\n\nThen I shall know."),
    ("call", "Bash", "ls gates", "north: dry\nsouth: oiled with linseed and wax"),
    ("assistant", "The north gate is dry, as far as I can see it from here."),
    ("put", "a reminder of the day that nobody has typed"),
    ("person", "Then oil it, and tell me when you are done with that."),
    ("assistant", "It is oiled, and it turns as a gate should turn."),
    ("person", "Thank you very much for all of that."),
]
WAYS = [("", "first"), ("", "first"), ("", "second"), ("below/", "second"), ("below/", "third")]
"""Where the file is after each step: as it was, under another name, in another folder, under both."""


def prints(archive: Archive) -> tuple[Ref, list[str]]:
    """The only session of an archive, and the beginnings of the digests of its turns."""
    ((ref, one),) = ((ref, one) for ref, one in archive.artifacts.items() if isinstance(one, Transcript))
    assert one.log
    return ref, re.findall("[0-9a-f]{8}|-", one.log.prints)


@pytest.mark.parametrize("form", FORMS)
def test_a_session_stays_what_it_is_while_its_file_grows_and_wanders(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its id stays; finished turns keep number and digest; what was cited at any step verifies at the end.

    Meanwhile the file is renamed, moved, and found twice, once as it was before. Forms that are one file are rewritten.
    """
    place, write = FORMS[form]
    repo, paper, ledger = Repo(tmp_path / "desk"), tmp_path / "paper.md", EMPTY
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    names, before, files = set[Ref](), list[str](), list[Path]()
    for number in range(1, len(STEPS) + 1):
        folder, name = WAYS[number % len(WAYS)]
        for file in files[-1:] if number % 3 else files:  # at times a former file stays, and is a beginning
            file.unlink(missing_ok=True)
        files = [repo.write(f"{folder}{place.format(name)}", write(STEPS[:number]))]
        if number == 4:
            files.append(repo.write(f"twice/{place.format(name)}", write(STEPS[:2])))
        archive, ledger = read_sources(repo.root, ledger=ledger)
        ref, now = prints(archive)
        names.add(ref)
        assert now[: len(before) - 1] == before[:-1]
        before = now
        repo.commit(f"Step {number}")
        cited = [f"{'/'.join(ref)}#t{at}" for at, print_ in enumerate(now, 1) if print_ != "-"]
        assert main(["cite", *cited[-2:], "--format", "markdown", "--site", str(tmp_path)]) == 0
        with paper.open("a", encoding="utf-8") as growing:
            growing.write(capsys.readouterr().out + "\n")
    files[0].rename(repo.root / place.format("last"))
    repo.commit("Renamed")
    after = archive_of(repo).artifacts[ref]
    assert len(names) == 1 and len(before) >= 5 and not after.former  # the name of a file is no id
    assert main(["verify", str(paper), "--json", "--site", str(tmp_path)]) == 0
    verdicts = json.loads(capsys.readouterr().out)
    assert len(verdicts) > 2 * len(STEPS) - 4 and all(one["holds"] and not one["version"] for one in verdicts)


def test_what_a_rewritten_file_changed_is_cited_as_a_former_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SpecStory writes its file anew, under the name of another title; what stayed is cited as it is."""
    repo, paper = Repo(tmp_path / "desk"), tmp_path / "paper.md"
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    file = repo.write(".specstory/history/2026-05-01_09-00-00Z-gates.md", specstory(STEPS))
    repo.commit("First")
    ref, _ = prints(read_folders(repo.root))
    name = "/".join(ref)
    assert main(["cite", f"{name}#t1", f"{name}#t3", "--format", "markdown", "--site", str(tmp_path)]) == 0
    paper.write_text(capsys.readouterr().out, encoding="utf-8")
    file.unlink()
    altered = [*STEPS[:4], ("assistant", "The north gate was dry."), *STEPS[5:]]
    repo.write(".specstory/history/2026-05-01_09-00-00Z-which-gates.md", specstory(altered))
    repo.commit("Again")
    assert prints(read_folders(repo.root))[0] == ref
    main(["verify", str(paper), "--json", "--site", str(tmp_path)])
    verdicts = json.loads(capsys.readouterr().out)
    assert [(bool(one["version"]), one["holds"]) for one in verdicts] == [(False, True), (True, True)]


def test_two_captures_by_different_tools_are_side_by_side(tmp_path: Path) -> None:
    """They are two transcripts, and the later one has a page that compares them."""
    for form in ("claude-code", "specstory"):
        place, write = FORMS[form]
        write_text(tmp_path / "desk" / place.format(form), write(STEPS))
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    pages = build_site(tmp_path) / "transcripts"
    assert len(list(pages.glob("*/index.html"))) == 2
    (compared,) = pages.glob("*/captures/index.html")
    said = compared.read_text()
    assert "The same up to turn 3; after that, 1 turn differs." in said  # each tool marks in its own way what it put in
    assert said.count("a reminder of the day that nobody has typed") == 2
    for page in pages.glob("*/index.json"):
        assert len(json.loads(page.read_text())["transcript"]["captures"]) == 1


# Hostile logs, through a whole build

EVIL = "<x-evil onclick=a()>"
TEXTS = (
    f"{EVIL}</x-evil><script>a()</script>",
    "## 🧑 User <sub>5/21/2026, 9:22:47 PM</sub>\n\nNot I.\n\n---\n\n## 🤖 Assistant <sub>5/21/2026, 9:22:48 PM</sub>",
    f"_**User (2026-05-01 09:00:00Z)**_\n\n<!-- Claude Code Session {KEY} -->\n\n_**Agent (x {EVIL})**_",
    "# aider chat started at 2026-05-01 09:00:00\n\n#### /run x\n> Commit 1234567 x",
    "> **🔧 Bash** <sub>now</sub>\n> [main 1234567] x\n\n</details></tool-use></think>",
    "\x00\x1b[31m\u202e\ufeff\ud800 ```\n~~~~\n" + "`" * 80,
    "[" * 200 + "](javascript:a()) ![x](data:text/html,x) [y](../../../../etc/passwd)",
    f"{KEY} {KEY.upper()} 7a2e91bc 2026-05-01-0900--claude-code--{KEY}",
    "",
    " \n" * 500,
)
IDS = (
    "",
    ".",
    "..",
    "../../evil",
    "/evil",
    "a" * 10_000,
    KEY,
    KEY.upper(),
    EVIL,
    "con",
    "a\x00b",
    "\ud800",
    "%2e%2e%2fevil",
)
KINDS = ("person", "assistant", "thinking", "put")


@st.composite
def hostile_steps(draw: st.DrawFn) -> list[Step]:
    """What nobody says; most in all places in which it may be said."""
    texts, kinds = st.sampled_from(TEXTS), st.sampled_from(KINDS)
    call = st.tuples(st.just("call"), texts, texts, texts)
    return draw(st.lists(st.one_of(st.tuples(kinds, texts), call), min_size=1, max_size=8))


@st.composite
def forged_records(draw: st.DrawFn) -> str:
    """Records of Claude Code with ids of others, parents in circles, and values that are of no such type."""
    odd: st.SearchStrategy[object] = st.one_of(
        st.sampled_from((*IDS, *TEXTS)), st.just([[[]]]), st.none(), st.integers(), st.just({"type": {}})
    )
    record = st.fixed_dictionaries(
        {
            "type": st.sampled_from(("user", "assistant", "system", "summary", "attachment", "pr-link", "ai-title")),
            "sessionId": st.sampled_from((KEY, *IDS)),
            "parentUuid": st.sampled_from(("a", "b", "c")),
            "uuid": st.sampled_from(("a", "b", "c")),
            "message": st.fixed_dictionaries(
                {
                    "role": st.just("user"),
                    "content": st.one_of(odd, st.lists(st.fixed_dictionaries({"type": odd, "text": odd}))),
                }
            ),
        },
        optional={
            "isSidechain": st.booleans(),
            "agentId": odd,
            "timestamp": st.sampled_from(("2026-05-01T09:00:00Z", "9999-99-99", "0001-01-01T00:00:00Z", EVIL)),
            "cwd": odd,
            "gitBranch": odd,
            "summary": odd,
            "leafUuid": odd,
            "prUrl": odd,
            "toolUseResult": odd,
        },
    )
    return "".join(f"{json.dumps(one)}\n" for one in draw(st.lists(record, min_size=1, max_size=12)))


def check_built(folder: Path) -> list[str]:
    """Build a site; nothing in it is what a log wrote as HTML, or outside of it. The pages of its transcripts."""
    write_text(folder / "memosite.yml", "sources: [{path: desk}]\n")
    outside = {path for path in folder.rglob("*") if "_site" not in path.parts and ".memosite" not in path.parts}
    site = build_site(folder)
    assert outside == {
        path for path in folder.rglob("*") if "_site" not in path.parts and ".memosite" not in path.parts
    }
    pages = []
    for page in site.rglob("*.html"):
        html = page.read_text()
        assert "<x-evil" not in html and not re.search(r"<script>a|href=.javascript:a|[\x00\x1b]", html), page
        pages += [html] if page.is_relative_to(site / "transcripts") else []
    assert not list(site.rglob("*evil*"))
    return pages


@given(steps=st.lists(hostile_steps(), min_size=5, max_size=5), session=st.sampled_from(IDS), forged=forged_records())
@settings(max_examples=HOSTILE, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
def test_hostile_logs_are_built_bounded_and_escaped(steps: list[list[Step]], session: str, forged: str) -> None:
    """Of all forms at once, beside the session that they imitate, which stays what it is."""
    with TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        for said, (form, (place, write)) in zip(steps, FORMS.items(), strict=True):
            text = write(said) if form == "aider" else write(said, session=session)
            (folder / "desk" / place.format(form)).parent.mkdir(parents=True, exist_ok=True)
            (folder / "desk" / place.format(form)).write_bytes(text.encode("utf-8", "surrogatepass"))
        write_text(folder / "desk/sessions/forged.jsonl", forged)
        ClaudeLog(KEY).ask().say("It is the true one.").write(folder / "desk/sessions/0-true.jsonl")
        pages = check_built(folder)
        assert any("It is the true one." in page for page in pages)


def test_logs_of_great_depth_and_length_are_bounded(tmp_path: Path) -> None:
    """Deep nesting, a long line, more turns than a session has: what is beyond is told, and is not shown."""
    deep = ClaudeLog(KEY).ask()
    deep.records.append('{"type":"user","uuid":"x","message":' + '{"content":' * 100_000 + "0" + "}" * 100_001)
    deep.say("x" * 3_000_000).run("Bash", {"command": "y" * 1_000_000}, "z" * 1_000_000).say("The end.")
    deep.write(tmp_path / "desk/sessions/deep.jsonl")
    long = ClaudeLog(KEY.replace("7", "8"))
    for number in range(20_100):
        long.say(f"{number}")
    long.write(tmp_path / "desk/sessions/long.jsonl")
    pages = check_built(tmp_path)
    assert any("The end." in page for page in pages) and not any("20050" in page for page in pages)
    assert sum(path.stat().st_size for path in (tmp_path / "_site").rglob("*")) < 60_000_000
