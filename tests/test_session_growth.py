"""Sessions stay what they are while their logs grow, are renamed, moved and copied (SPEC 2.2, sessions)."""

import json
import re
from pathlib import Path

import pytest

from memosite.archive.model import Archive, Transcript
from memosite.cli import main
from memosite.facts.parsed import Ref
from tests.support.archives import EMPTY, read_folders, read_sources
from tests.support.chromium import chromium
from tests.support.files import write_text
from tests.support.repos import Repo
from tests.support.session_logs import FORMS, ClaudeLog, Step, specstory
from tests.support.sites import build_site
from tests.test_serve import serving

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
        browser.value("document.querySelector('#t41').scrollIntoView(); scrollBy(0, -37)")
        seen = "document.querySelector('#t41').getBoundingClientRect().top"
        top, folds = browser.value(seen), browser.value(opened)
        log.ask("And the last gate?").say("It is oiled, too.")
        with file.open("a", encoding="utf-8") as growing:
            growing.write("".join(f"{record}\n" for record in log.records[-2:]) + '{"type": "assist')
        browser.wait_for("document.querySelector('#t82')?.innerText.includes('It is oiled, too.')")
        browser.wait_for(f"Math.abs({seen} - ({top})) < 2")
        assert browser.value(opened) == folds and browser.value("document.querySelector('#t42 details').open")
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
    assert len(names) == 1 and len(before) >= 5
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
    assert compared.read_text().count("It is oiled, and it turns as a gate should turn.") == 2
    for page in pages.glob("*/index.json"):
        assert len(json.loads(page.read_text())["transcript"]["captures"]) == 1
