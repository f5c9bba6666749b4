"""Turns of session logs are cited and verified: whose words they are, where, and by which bytes (SPEC 7)."""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.cli import main
from tests.support.files import ROOT, write_text
from tests.support.repos import Repo
from tests.support.session_logs import FORMS, SESSION, Step, claude_code, codex, specstory

Capture = pytest.CaptureFixture[str]
STEPS: list[Step] = [
    ("person", "Which casks are empty?\n\nAnd is “ö” right — or not?"),
    ("thinking", "They want the empty ones, every one of them."),
    ("assistant", "Let me look.\n\nThen I shall know."),
    ("call", "Bash", "ls casks", "oak: empty\nash: full of water and of rum and of tea"),
    ("put", "a reminder of the day that nobody here has typed"),
    ("assistant", "The oak one is empty, as far as I can see it from here."),
    ("person", "Thank you very much indeed for all of that."),
]
AGENTS = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "specstory": "Claude Code",
    "aider": "aider",
}
DOCUMENT = (ROOT / "docs/citations.md").read_text()
BY_HAND = {
    form: command.replace("\\|", "|")
    for form, command in re.findall(r"^\| ([^|`]+) \| `(.+)` \|$", DOCUMENT, re.MULTILINE)
}
"""Of each form the line of shell that the documentation gives."""
CALLED = {"claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "specstory": "SpecStory"}


def by_hand(form: str, said: dict[str, Any], file: Path, what: str = "") -> str:
    """The digest of a turn, as whoever has the file computes it: with the line of shell of docs/citations.md."""
    typed = "what a person typed, or aider asked" if "person" in said["speaker"] else "an answer"
    command = BY_HAND[what or (f"aider, {typed}" if form == "aider" else CALLED[form])]
    first, last = said["lines"]
    values = {
        "n": f"{first}",
        "m": f"{last}",
        "file": f"{file}",
        "id": said.get("record", ""),
        "PATH": os.environ["PATH"],
    }
    return subprocess.run(["sh", "-ec", command], env=values, capture_output=True, text=True, check=True).stdout[:64]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site with a log of each form, named as its form is."""
    folder = tmp_path_factory.mktemp("cited")
    for number, (form, (path, write)) in enumerate(FORMS.items()):
        write_text(folder / "desk" / path.format(form), write(STEPS, session=f"{number:04x}{SESSION[4:]}"))
    write_text(folder / "memosite.yml", "sources: [{path: desk}]\nbase_url: https://a.example.org/\n")
    assert main(["build", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture(scope="module")
def names(site: Path) -> dict[str, str]:
    """The names of the sessions by their forms."""
    twins = (json.loads(path.read_text()) for path in (site / "_site/transcripts").glob("*/index.json"))
    return {Path(twin["copies"][0]["path"]).stem: f"transcript/{twin['id']}" for twin in twins}


@pytest.fixture
def cite(capsys: Capture) -> Callable[..., list[dict[str, Any]]]:
    """Cites, and gives the fields of each citation."""

    def run(site: Path, *what: str) -> list[dict[str, Any]]:
        assert main(["cite", *what, "--site", str(site), "--json"]) == 0
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
        return found

    return run


def verified(capsys: Capture, folder: Path, text: str, site: Path, *options: str) -> list[dict[str, Any]]:
    """The verdicts on a document."""
    write_text(folder / "document.md", text)
    main(["verify", str(folder / "document.md"), "--site", str(site), "--json", *options])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def markdown_of(capsys: Capture, site: Path, *references: str) -> str:
    """Citations as Markdown."""
    capsys.readouterr()
    assert main(["cite", *references, "--site", str(site), "--format", "markdown"]) == 0
    return capsys.readouterr().out


def spoken(form: str) -> dict[str, str]:
    """Who is cited for which words of the steps."""
    model = {"codex": "", "aider": " (x)", "gemini": " (gemini-x)"}.get(form, " (claude-x)")
    person, agent = f"a person, in a session of {AGENTS[form]}", f"{AGENTS[form]}{model}"
    said = {"Which": person, "Let me": agent, "The oak": agent, "Thank": person}
    return said if form == "aider" else {**said, "reminder": ""}


def test_each_turn_is_cited_by_who_said_it_and_by_a_digest_that_a_line_of_shell_gives(
    site: Path, names: dict[str, str], cite: Callable[..., list[dict[str, Any]]]
) -> None:
    """A person as one of a session, an agent with its model, what a machine put there as nobody's words."""
    for form, name in names.items():
        folder = site / "_site/transcripts" / name.split("/")[1]
        page: Any = html.fromstring((folder / "index.html").read_text())
        turns = [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]
        for turn, (words, speaker) in zip(
            turns, sorted(spoken(form).items(), key=lambda one: order(one[0])), strict=True
        ):
            (said,) = cite(site, f"{name}#t{turn['ordinal']}")
            assert words in turn["text"] and said["speaker"] == speaker, form
            assert said["sha256"] == turn["sha256"] == by_hand(form, said, site / said["file"]), (form, words)
            assert (said["file"].startswith("desk/"), "bytes" in said, "part" in said) == (True, False, False)
            shown = page.xpath(f"//section[@id='t{turn['ordinal']}']/details[@class='cite']")[0]
            assert shown.xpath("string(.//span[@class='by'])") == speaker
            assert f"sha256:{said['sha256']}" in shown.xpath("string(.//code[@class='check'])")
        if form == "claude-code":
            (said,) = cite(site, f"{name}#t2.2")
            assert by_hand(form, said, site / said["file"], "what a tool put out, Claude Code") == said["sha256"]
        assert cite(site, f"{name}#t-{turns[0]['sha256'][:8]}")[0]["sha256"] == turns[0]["sha256"]


def order(words: str) -> int:
    """Where words are among the steps."""
    return next(number for number, step in enumerate(STEPS) if words in step[1])


def test_what_is_cited_is_verified_in_repos_and_in_every_published_site(
    site: Path, names: dict[str, str], tmp_path: Path, capsys: Capture
) -> None:
    """Turns, ranges, paragraphs, outputs of tools, all of a session: by its words and digests, without its original.

    What a published site does not have is not checked there.
    """
    anchors = ["", "#t1", "#t2", "#t3", "#t4", "#t1-t4", "#t2-t3"]
    parts = [f"{name}{anchor}" for name in names.values() for anchor in anchors]
    parts += [f"{name}#t2.2" for form, name in names.items() if form != "aider"]
    text = markdown_of(capsys, site, *parts)
    lean = tmp_path / "lean"
    write_text(lean / "memosite.yml", f"sources: [{{path: {site / 'desk'}}}]\nlean: true\n")
    assert main(["build", str(lean), "--quiet"]) == 0
    capsys.readouterr()
    for where in (site, site / "_site", lean / "_site"):
        found = verified(capsys, tmp_path, text, where)
        assert len(found) == len(parts), where
        odd = [one for one in found if not one["holds"] or one["version"]]  # of outputs, a site has the digests alone
        assert {(one["ref"].partition("#")[2], one["tier"]) for one in odd} <= {("t2.2", "not checked")}, where
        assert len(odd) == (0 if where == site else 4)
    forged = tmp_path / "forged"
    subprocess.run(["cp", "-r", str(site / "_site"), str(forged)], check=True)
    for file, before, after in (
        ("index.json", "The oak one is", "The ash one is"),
        ("turns.jsonl", '"sha256": "', '"sha256": "0'),
    ):
        there = forged / "transcripts" / names["codex" if file == "index.json" else "gemini"].split("/")[1] / file
        there.write_text(there.read_text().replace(before, after))
    bad = [
        one
        for one in verified(capsys, tmp_path, text, forged)
        if "no version that is known" in str(one["details"]) or not one["holds"]
    ]
    assert {(one["ref"].split("--")[1], one["holds"]) for one in bad} >= {("codex", False), ("gemini", True)}


def test_nobody_is_said_to_have_said_what_a_tool_put_out_or_a_machine_put_there(
    site: Path, names: dict[str, str], tmp_path: Path, capsys: Capture, cite: Callable[..., list[dict[str, Any]]]
) -> None:
    """Such words are quoted in a turn; whoever attributes them is wrong. What an agent said is found by itself."""
    name = names["claude-code"]
    (output,) = cite(site, f"{name}#t2.2")
    assert (output["speaker"], output["quote"]) == ("", "oak: empty ash: full of water and of rum and of tea")
    assert output["note"] == "raw, output of a tool, quoted in a turn of Claude Code claude-x"
    assert output["sha256"] == hashlib.sha256(STEPS[3][3].encode()).hexdigest() and output["lines"] == [5, 5]
    assert all(one["speaker"] == "" for one in cite(site, "--quote", "full of water and of rum and of tea"))
    assert {one["speaker"] for one in cite(site, "--quote", "as far as I can see it from here")} >= {"Codex"}
    quotes = (
        f"There stands “ash: full of water and of rum and of tea” [there](<{name}#t2.2>).\n\n"
        f"And “a reminder of the day that nobody here has typed” [here](<{name}#t3>).\n\n"
        "It says “The oak one is empty, as far as I can see it from here”.\n\n"
        f"And “every one of them is of iron, or so they say here”.\n"
    )
    for where in (site, site / "_site"):
        found = verified(capsys, tmp_path, quotes, where, "--quotes")
        held = [(one["holds"], one["quoted_in"]) for one in found]
        first = (True, True) if where == site else (False, False)  # of outputs a site has but the digests
        assert held == [first, (True, True), (True, False), (False, False)], where
    wrong = markdown_of(capsys, site, f"{name}#t3").replace("— [", "— Claude Code, [", 1)
    said = f"> a reminder of the day that nobody here has typed\n>\n> {wrong}"
    (found_,) = verified(capsys, tmp_path, said, site)
    assert not found_["holds"] and "quoted in #t3, not said by its speaker" in found_["details"]


def test_thoughts_and_inputs_of_tools_cannot_be_cited_and_anchors_are_those_of_the_page(
    site: Path, names: dict[str, str], capsys: Capture
) -> None:
    """What is cut is not its source, and has no digest. Each anchor that can be cited leads to its place."""
    name = names["claude-code"]
    page: Any = html.fromstring((site / "_site/transcripts" / name.split("/")[1] / "index.html").read_text())
    assert page.xpath("string(//*[@id='t2.2'])").count("ash: full of water")
    for anchor in ("t2.1", "t2.3", "t9"):
        assert main(["cite", f"{name}#{anchor}", "--site", str(site)]) == 2
        assert f"no passage #{anchor}" in capsys.readouterr().err


def test_an_output_that_is_cut_has_no_digest(tmp_path: Path, capsys: Capture) -> None:
    """20 kB of it are kept."""
    steps: list[Step] = [("person", "Go."), ("assistant", "I do."), ("call", "Bash", "x", "word " * 9_000)]
    write_text(tmp_path / "desk/sessions/a.jsonl", codex(steps))
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    assert main(["cite", f"transcript/2026-05-01-0900--codex--{SESSION}#t2.2", "--site", str(tmp_path)]) == 1
    assert "only its beginning is kept" in capsys.readouterr().err


def test_a_range_with_a_withheld_turn_cannot_be_cited(tmp_path: Path, capsys: Capture) -> None:
    """Nor can all of the session; the turns around it can."""
    steps = [*STEPS[:5], ("assistant", "It is " + "AKIA" + "Z7QH3XWMK2TPLV5D"), *STEPS[6:]]
    write_text(tmp_path / "desk/sessions/a.jsonl", claude_code(steps))
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    name = f"transcript/2026-05-01-0900--claude-code--{SESSION}"
    for reference, code in (
        (f"{name}#t1-t5", 1),
        (f"{name}#t4", 1),
        (name, 1),
        (f"{name}#t1-t2", 0),
        (f"{name}#t5", 0),
    ):
        assert main(["cite", reference, "--site", str(tmp_path)]) == code, reference
    assert "a turn of it is withheld" in capsys.readouterr().err


def test_a_citation_holds_when_the_log_is_rewritten_renamed_moved_or_longer(tmp_path: Path, capsys: Capture) -> None:
    """Of a rewritten file in a former version; the id is that of the session, wherever its file is."""
    repo = Repo(tmp_path / "desk")
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\nsessions: true\n")
    repo.write(".specstory/history/2026-05-01_09-00-00Z-casks.md", specstory(STEPS))
    other = f"9{SESSION[1:]}"
    repo.write("sessions/a.jsonl", codex(STEPS[:3], other))
    repo.commit()
    told, grown = f"transcript/2026-05-01-0900--specstory--{SESSION}", f"transcript/2026-05-01-0900--codex--{other}"
    text = markdown_of(capsys, tmp_path, f"{told}#t1", f"{told}#t4", f"{told}#t2-t4", f"{told}#t2.2", f"{grown}#t2")
    repo.write("sessions/a.jsonl", codex(STEPS, other))
    repo.commit()
    repo.git("mv", "sessions/a.jsonl", ".codex-b.jsonl")
    (repo.root / ".codex/sessions/2026").mkdir(parents=True)
    repo.git("mv", ".codex-b.jsonl", ".codex/sessions/2026/b.jsonl")
    repo.git("mv", ".specstory/history/2026-05-01_09-00-00Z-casks.md", ".specstory/history/2026-05-01_09-00-00Z-oak.md")
    repo.commit()
    found = verified(capsys, tmp_path, text, tmp_path)
    assert [(one["holds"], bool(one["version"])) for one in found] == [(True, False)] * 5
    again = [(kind, *(word.replace("oak", "elm").replace("ash", "box") for word in said)) for kind, *said in STEPS]
    repo.write(".specstory/history/2026-05-01_09-00-00Z-oak.md", specstory(again))
    repo.commit()
    found = verified(capsys, tmp_path, text, tmp_path)
    held = [(one["holds"], bool(one["version"])) for one in found]
    assert held == [(True, False), (True, True), (True, True), (True, True), (True, False)]
    assert "changed since" in found[1]["details"]
    (repo.root / ".specstory/history/2026-05-01_09-00-00Z-oak.md").rename(repo.root / "sessions/now.md")
    repo.commit()
    assert all(one["holds"] for one in verified(capsys, tmp_path, text, tmp_path))


def test_a_person_is_named_if_the_site_says_who_typed(
    tmp_path: Path, cite: Callable[..., list[dict[str, Any]]]
) -> None:
    """Nobody else is."""
    write_text(tmp_path / "desk/sessions/a.jsonl", codex(STEPS))
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\nsessions: {person: Ann}\n")
    name = f"transcript/2026-05-01-0900--codex--{SESSION}"
    said = [cite(tmp_path, f"{name}#t{number}")[0]["speaker"] for number in (1, 2, 3)]
    assert said == ["Ann, in a session of Codex", "Codex", ""]
    assert re.search("Ann, in a session of Codex, Codex", cite(tmp_path, f"{name}#t1-t3")[0]["speaker"])


def test_show_says_what_a_turn_is_and_an_output_is_shown_by_its_anchor(
    site: Path, names: dict[str, str], capsys: Capture
) -> None:
    """For people and for programs: who speaks, what nobody typed, which tools were called, and where it is."""
    name = names["claude-code"]
    assert main(["show", name, "--site", str(site)]) == 0
    said = capsys.readouterr().out
    assert "Bash #t2.2" in said and said.count("put there by a machine") == 1 and "every one of them" not in said
    assert main(["show", f"{name}#t2.2", "--site", str(site)]) == 0
    assert "ash: full of water" in capsys.readouterr().out
    assert main(["show", name, "--turns", "2-3", "--json", "--site", str(site)]) == 0
    answer, put = json.loads(capsys.readouterr().out)["turns"]
    assert (answer["kind"], answer["lines"], answer["tools"][0]["anchor"]) == ("assistant", [3, 3], "t2.2")
    assert (put["kind"], put["tools"], put["state"]) == ("system", [], None)


def test_what_a_page_offers_as_a_citation_verifies(tmp_path: Path, capsys: Capture) -> None:
    """The excerpt of an answer loses the numbers of lists, which are words of it: then no words are offered."""
    steps: list[Step] = [
        ("person", "What is left?"),
        ("assistant", "What is left:\n1. The oak casks are to be scrubbed.\n2. Then they dry for a week."),
        ("assistant", "The oak casks are dry."),
    ]
    write_text(tmp_path / "desk/sessions/a.jsonl", claude_code(steps))
    write_text(tmp_path / "memosite.yml", "sources: [{path: desk}]\n")
    assert main(["build", str(tmp_path), "--quiet"]) == 0
    (page,) = (tmp_path / "_site/transcripts").glob("*/index.html")
    offered = [one.text_content() for one in html.parse(page).xpath("//section[@id]/details[@class='cite']/p")]
    capsys.readouterr()
    found = verified(capsys, tmp_path, "\n\n".join(" ".join(one.split()) for one in offered), tmp_path)
    assert len(offered) == len(found) == 3 and all(one["holds"] for one in found)
    assert "The oak casks are dry." in offered[2] and "scrubbed" not in offered[1]
