"""`memosite cite`: what is cited of repos, in which formats, by which references, and what cannot be cited (SPEC 7)."""

import hashlib
import json
from argparse import Namespace
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from memosite.citing import Sources
from memosite.cli import main
from memosite.commands.citing import opened_sources
from memosite.facts.values import replace
from memosite.passages import OUTPUT
from memosite.quotes.citations import read_bibtex, read_csl_json, read_html, read_markdown, read_plain
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.repos import Repo
from tests.support.servers import serve_folder
from tests.support.sites import build_site, copy_example

Capture = pytest.CaptureFixture[str]
AWS_KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
LOAD = "2026-05-01-1430--engineer--the-load"
TALK = f"transcript/{LOAD}"
TURNS = """## User

How many barges are there, and when does the tide turn?

## Assistant

There are 39 barges in the lock, and none of them may leave before noon.

> **🔧 Read**
> The harbour master wrote that every barge has to wait for the pilot boat.

<system-reminder>
The injected words of nobody at all are here as well.
</system-reminder>

## User

Then write that down for the director, please.
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repo with a transcript, committed an hour after the beginning."""
    repo = Repo(tmp_path / "office")
    write_transcript(repo.root / "transcripts/engineer", LOAD, text=TURNS)
    repo.commit("the load")
    return repo


def cite(repo: Repo, *words: str, code: int = 0) -> None:
    """Run the command on the repo."""
    assert main(["cite", *words, "--site", str(repo.root.parent)]) == code


def fields(capsys: Capture, repo: Repo, *words: str) -> dict[str, str]:
    """The fields of the one citation that is made."""
    cite(repo, *words, "--json")
    [found] = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_the_commit_is_the_one_of_the_content(repo: Repo, capsys: Capture) -> None:
    """Not of what was committed since, nor of a move; an edit that is not committed has none."""
    memos = "memos/inbox/2026-05-02-0900--engineer--director--noon.openthing"
    write_memo(repo.root / "memos/inbox", "2026-05-02-0900--engineer--director--noon", body="Nobody may leave.")
    first = repo.commit("noon")
    repo.move(memos, memos.replace("inbox", "read"))
    repo.commit("read")
    assert fields(capsys, repo, "memo/2026-05-02-0900")["commit"] == first
    body = repo.root / f"transcripts/engineer/{LOAD}.body.md"
    write_text(body, TURNS + "\n## Assistant\n\nIt is written.\n")
    assert fields(capsys, repo, f"{LOAD}#t2")["commit"] == ""
    edited = repo.commit("appended")
    assert fields(capsys, repo, f"{LOAD}#t2")["commit"] == edited


def test_pages_name_the_same_commits(repo: Repo, capsys: Capture) -> None:
    """Of a body file and of an envelope, after moves, merges and edits; of what is not committed none."""
    box, names = repo.root / "memos/inbox", [f"2026-05-0{day}-0900--engineer--director--noon" for day in range(2, 7)]
    body = f"transcripts/engineer/{LOAD}.body.md"
    for name in names[:3]:
        write_memo(box, name)
    write_text(repo.root / "docs/tides.md", "# Tides\n\nThey turn.\n")
    write_text(repo.root.parent / "memosite.yml", "documents: ['docs/*.md']\n")
    repo.commit("noon")
    write_text(repo.root / body, TURNS + "\n## Assistant\n\nIt is written.\n")
    repo.commit("appended")
    repo.git("checkout", "-q", "-b", "side")
    write_memo(box, names[3])
    repo.commit("on the side")
    repo.git("checkout", "-q", "-")
    write_memo(box, names[0], body="Edited.")
    repo.commit("edited")
    repo.git("merge", "-q", "--no-edit", "side")
    repo.move(f"memos/inbox/{names[1]}.openthing", f"memos/read/{names[1]}.openthing")
    repo.commit("read")
    write_memo(box, names[2], body="Edited, and not committed.")
    write_memo(box, names[4])
    output = build_site(repo.root.parent)
    pages = {page.parent.name: page for page in sorted(output.glob("[mtd]*s/*/index.html"))}
    commits = {one.ref: one.commit for page in pages.values() for one in read_html(page.read_text(encoding="utf-8"))}
    cited = {ref: fields(capsys, repo, ref)["commit"] for ref in commits}
    assert commits == cited
    assert [ref for ref, commit in commits.items() if not commit] == [f"memo/{names[2]}", f"memo/{names[4]}"]
    assert len(set(commits.values())) == 5
    assert any(ref.startswith("document/") for ref in commits)


READERS = {"text": read_plain, "markdown": read_markdown, "html": read_html, "bibtex": read_bibtex}


def test_ranges_quote_how_they_begin_and_end_and_words_of_tables_are_found(repo: Repo, capsys: Capture) -> None:
    """What is between is marked as left out; tables have no anchor, so all of the memo is cited. All of it verifies."""
    table = "| what | who |\n|---|---|\n| the long bridge is painted blue | the keeper |\n"
    memo = "2026-05-01-1500--engineer--director--noon"
    write_memo(repo.root / "memos/inbox", memo, body=f"First.\n\n{table}\nIt rained at noon.\n\nThe ferry came late.\n")
    site = repo.root.parent
    for quote in ("the long bridge is painted", "It rained at noon. The ferry came late."):
        found = fields(capsys, repo, "--quote", quote)
        assert (found["ref"], found["quote"]) == (f"memo/{memo}", quote)
        cite(repo, "--quote", quote, "--format", "markdown")
        write_text(site / "paper.md", capsys.readouterr().out)
        assert main(["verify", str(site / "paper.md"), "--site", str(site)]) == 0
        write_text(site / "book.md", f'The engineer writes: "{quote}"\n')
        assert main(["verify", "--quotes", str(site / "book.md"), "--site", str(site)]) == 0
        capsys.readouterr()
    site, talk = repo.root.parent, repo.root / f"transcripts/engineer/{LOAD}.body.md"
    found = fields(capsys, repo, f"{LOAD}#t1-t3")
    assert found["quote"] == (
        "How many barges are there, and when does the tide turn? […] There are 39 barges in the lock, and none of them "
        "may leave before noon. […] Then write that down for the director, please."
    )
    long = "\n\n".join(f"In year {year} the lock held {year} barges." for year in range(1700, 1720))
    write_text(talk, f"## User\n\n{long}\n\n## Assistant\n\n{long}\n")
    cite(repo, f"{LOAD}#t1-t2", "--format", "markdown")
    written = capsys.readouterr().out
    assert "> In year 1700 the lock held 1700 barges." in written
    first, last = written.splitlines()[0].replace("\\", "").split(" […] ")
    assert first.startswith("> In year 1700") and last.endswith("In year 1719 the lock held 1719 barges.")
    assert len(last) < 130 and f" {last}" in " ".join(long.replace("*", "").split())
    write_text(site / "paper.md", written)
    assert main(["verify", str(site / "paper.md"), "--site", str(site)]) == 0
    write_text(talk, f"## User\n\nOne.\n\n## Assistant\n\n## User\n\nThree.\n\n## Assistant\n\nThe key is {AWS_KEY}.\n")
    digests = "".join(f"{hashlib.sha256(words).hexdigest()}\n" for words in (b"\nOne.", b"\nThree."))
    capsys.readouterr()
    found = fields(capsys, repo, f"{LOAD}#t1-t3", "--secrets", "redact")
    assert found["sha256"] == hashlib.sha256(digests.encode()).hexdigest()
    cite(repo, f"{LOAD}#t2-t2", "--secrets", "redact", code=2)
    assert "has no passage #t2-t2" in capsys.readouterr().err
    cite(repo, f"{LOAD}#t3-t4", "--secrets", "redact", code=1)
    assert "a secret in it was redacted" in capsys.readouterr().err


def test_a_quote_or_a_short_reference_leads_to_its_source(repo: Repo, capsys: Capture) -> None:
    """Whatever means one item alone; else what is near is named. The oldest source comes first, carried words last."""
    # A few words, which no index has, are found by reading every text; who is told that too few are not there is told
    # the command that finds parts of words.
    assert fields(capsys, repo, LOAD, "--quote", "none of them may leave")["ref"] == f"{TALK}#t2"
    for quote in ("barges", "pilot boat", "none of them", "director, please", "write that down"):
        assert fields(capsys, repo, "--quote", quote)["ref"].startswith(TALK), quote
    cite(repo, f"{LOAD}#t2", "--quote", "none of them can leave", code=1)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "the quote is not in it: changed\n    none of them [-may-] {+can+} leave" in printed.err
    cite(repo, f"{LOAD}#t1", "--quote", "none of them may leave before noon", code=1)
    assert "not found" in capsys.readouterr().err
    cite(repo, "--quote", "harbour dues", code=1)
    said = capsys.readouterr().err
    assert "no source holds this quote, and something like it is looked for from 4 words on; see: memosite" in said
    assert "search '\"harbour dues\"'" in said
    cite(repo, "--quote", "arge", code=1)
    for written in (TALK, LOAD, "2026-05-01-14", "the-load", f"https://a.example/transcripts/{LOAD}/2/index.html"):
        assert fields(capsys, repo, f"{written}#t3")["ref"] == f"{TALK}#t3", written
    write_memo(repo.root / "memos/inbox", "2026-05-01-1500--engineer--director--noon", body="Noon.")
    for words, said in (
        (["2026-05-01-1431--engineer--the-loot"], f"expected an id of the archive, such as {TALK}"),
        (["2026-05-01"], "found 2 items of that name; write more of the id:\n  "),
        ([f"{LOAD}#t9"], "has no passage #t9; expected a turn from t1 to t3"),
        ([], "found no REF"),
        ([LOAD, "noon", "--quote", "x"], "found 2 REFs, expected one at most"),
    ):
        cite(repo, *words, code=2)
        assert said in capsys.readouterr().err
    carrying = "> There are 39 barges in the lock, and none of them may leave before noon.\n\nI agree."
    early, noon = "2026-04-30-0900--pilot--engineer--early", "2026-05-02-0900--engineer--director--noon"
    write_memo(repo.root / "memos/inbox", early, sent="2026-04-30T09:00:00Z", body=carrying)
    own = "There are 39 barges in the lock, and none of them may leave before noon. So be it."
    write_memo(repo.root / "memos/inbox", noon, sent="2026-05-02T09:00:00Z", body=own)
    cite(repo, "--quote", "39 barges in the lock, and none of them", "--json")
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert [one["ref"].partition("#")[0] for one in found] == [TALK, f"memo/{noon}", f"memo/{early}"]
    assert [one["quoted_in"] for one in found] == [False, False, True]
    assert "3 sources hold this quote" in printed.err
    cite(repo, "--quote", "38 barges in the lock, and none of them may leave before noon", code=1)
    assert "the nearest is in" in capsys.readouterr().err


def test_a_turn_is_cited_with_all_that_verifies_it_in_every_format(repo: Repo, capsys: Capture) -> None:
    """The hash is that of its lines in the file, the commit the one that gave the file its content."""
    found = fields(capsys, repo, f"{LOAD}#t2", "--base-url", "https://memos.example.org/")
    lines = "\n".join(TURNS.split("\n")[5:14])
    assert found == {
        "ref": f"{TALK}#t2", "url": f"https://memos.example.org/transcripts/{LOAD}/#t2", "title": f"About {LOAD}",
        "speaker": "engineer (arc-1)", "time": "2026-05-01T14:30:00Z",
        "quote": "There are 39 barges in the lock, and none of them may leave before noon.",
        "sha256": hashlib.sha256(lines.encode()).hexdigest(), "note": "", "commit": repo.head,
        "file": f"office/transcripts/engineer/{LOAD}.body.md", "part": "", "lines": [6, 14],
        "bytes": [len("\n".join(TURNS.split("\n")[:5])) + 1, len("\n".join(TURNS.split("\n")[:14]).encode())],
    }  # fmt: skip
    # Two citations in one answer are read back in their order.
    said = TURNS.split("\n")
    turns = ("\n".join(said[start:end]) for start, end in ((1, 3), (5, 14), (16, 18)))
    digests = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}\n" for text in turns)
    for name, read in {**READERS, "csl-json": read_csl_json}.items():
        cite(repo, f"{LOAD}#t2", f"{LOAD}#t1-t3", "--format", name)
        one, other = read(capsys.readouterr().out)
        assert (one.ref, one.commit, other.ref) == (f"{TALK}#t2", repo.head, f"{TALK}#t1-t3"), name
        assert one.quote == "There are 39 barges in the lock, and none of them may leave before noon."
        assert other.sha256 == hashlib.sha256(digests.encode()).hexdigest()
    # Tool output and injected text are quoted in a turn: the citation names no speaker.
    for words in ("every barge has to wait for the pilot boat", "injected words of nobody at all"):
        for asked in ([], [LOAD], [f"{LOAD}#t2"]):
            found = fields(capsys, repo, *asked, "--quote", words)
            assert (found["speaker"], bool(found["quoted_in"])) == ("", True)
            assert found["note"].startswith("quoted in a turn of engineer")


def test_what_is_restricted_says_so(tmp_path: Path, capsys: Capture) -> None:
    """Raw and confidential sources are marked; what is withheld, redacted, erased or removed cannot be cited."""
    repo = Repo(tmp_path / "office")
    memos = repo.root / "memos/inbox"
    raw = {"metadata": {"redaction_status": "raw", "retention_policy": "confidential"}}
    write_transcript(repo.root / "transcripts/engineer", LOAD, text=TURNS, **raw)
    write_memo(memos, "2026-05-02-0900--a--b--secret", body=f"The key is {AWS_KEY}. Keep it.")
    write_memo(memos, "2026-05-02-0901--a--b--erased", body="Nobody is to read this.")
    write_memo(memos, "2026-05-02-0902--a--b--removed", body="Nobody can read this.")
    repo.commit("all")
    (memos / "2026-05-02-0902--a--b--removed.openthing").unlink()
    repo.commit("removed")
    erase = "erase: [{id: 2026-05-02-0901--a--b--erased, why: asked for, on: 2026-06-01}]\n"
    write_text(tmp_path / "memosite.yml", erase)
    assert fields(capsys, repo, f"{LOAD}#t1")["note"] == "raw, confidential"
    cite(repo, "2026-05-02-0901--a--b--erased", code=1)
    assert "was erased. Since: 2026-06-01. Reason: asked for." in capsys.readouterr().err
    cite(repo, "2026-05-02-0900--a--b--secret", code=1)
    assert "is not published, because it holds a secret" in capsys.readouterr().err
    cite(repo, "2026-05-02-0900--a--b--secret", "--secrets", "redact", code=1)
    assert "secrets in it were redacted" in capsys.readouterr().err
    cite(repo, "2026-05-02-0902--a--b--removed", code=2)
    assert "it was removed on 2026-05-01, with commit" in capsys.readouterr().err
    cite(repo, f"{LOAD}#t1", "--audience", "public", code=2)
    assert LOAD not in capsys.readouterr().err.partition("such as")[2]


TIDES = "## User\n\nWhen does the tide turn?\n\n## Assistant\n\nAt noon, and none of the 39 barges may leave before.\n"


@pytest.fixture(scope="module", params=[False, True], ids=["files", "lean"])
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration, built."""
    site = copy_example(tmp_path_factory.mktemp("published") / "site")
    if request.param:
        with (site / "memosite.yml").open("a", encoding="utf-8") as config:
            config.write("\nlean: true\n")
    build_site(site, base_url="https://memos.example.org/")
    return site


def sources_of(site: Path) -> AbstractContextManager[Sources]:
    """What the commands read of a site."""
    base = "https://memos.example.org/"
    return opened_sources(
        Namespace(site=None, site_option=site, cache=None, secrets=None, audience=None, base_url=base)
    )


def cited(capsys: Capture, *words: str) -> str:
    """What `cite` writes."""
    assert main(["cite", *words, "--format", "markdown"]) == 0
    return capsys.readouterr().out


def test_every_passage_is_the_same_and_over_http(example: Path, tmp_path: Path, capsys: Capture) -> None:
    """Anchor, hash, speaker, time and address of all; by its address references, quotes, citations, manuscripts."""
    count = 0
    with sources_of(example) as repos, sources_of(example / "_site") as site:
        broken = {name for name in repos.names if repos.item(name).why_not}
        assert set(site.names) == set(repos.names) - broken
        assert site.positions == repos.positions
        assert site.positions["local-history-archivist"] == "archivist"
        for name in site.names:
            ours, theirs = repos.item(name), site.item(name)
            words = [[one.text for one in item.bodies if one.part != OUTPUT] for item in (ours, theirs)]
            assert words[0] == words[1]  # of what tools put out a site has the digests
            assert ours.cite(None) == theirs.cite(None)
            for one, other in zip(ours.places(), theirs.places(), strict=True):
                cited_here, cited_there = ours.cite(one), theirs.cite(other)
                is_output = "output of a tool" in cited_here.note
                assert cited_there == (replace(cited_here, quote="") if is_output else cited_here)
                count += 1
    assert count > 500
    paper, book = tmp_path / "paper.md", tmp_path / "book.md"
    write_text(book, "He writes: “39 photographs that share a barcode with another one, in albums 11”.\n")
    with serve_folder(example / "_site") as address:
        write_text(paper, cited(capsys, "2026-04-14-0922--local-history-archivist#t2", "--site", address))
        assert cited(capsys, "--quote", "39 photographs that share a barcode", "--site", address)
        assert main(["verify", str(paper), "--json", "--site", address]) == 0
        [found] = json.loads(capsys.readouterr().out)
        assert (found["holds"], found["check"]) == (True, "right")
        assert main(["verify", "--quotes", str(book), "--site", address]) == 0
        write_text(paper, paper.read_text(encoding="utf-8").replace("Good morning", "Good evening"))
        assert main(["verify", str(paper), "--site", address]) == 1
        assert "[-morning.-] {+evening.+}" in capsys.readouterr().out


TWIN, BODY = (f"transcripts/{LOAD}/{name}" for name in ("index.json", "original.body.md"))
DAMAGES = [
    ("archive/index.json", "", "archive/index.json cannot be read"),
    ("archive/index.json", '{"months": [{"month": "2026/05"}]}', "archive/index.json cannot be read (KeyError"),
    ("archive/index.json", '{"months": [{"month": "a", "lines": "../../x"}]}', "expected one within the site"),
    (TWIN, "[]", f"transcript/{LOAD} cannot be read"),
    (TWIN, None, "though archive/index.json leads to it; build the site again"),
    (BODY, None, "found no original.body.md"),
    (f"transcripts/{LOAD}/original.openthing", "{", "its original cannot be parsed"),
]


def test_what_is_withheld_or_damaged_on_a_site_says_so(tmp_path: Path, capsys: Capture) -> None:
    """A site says why, as the repos do."""
    site = tmp_path / "site"
    write_transcript(site / "office/transcripts/engineer", LOAD, text=TIDES)
    write_memo(site / "office/memos", "2026-05-02-0901--a--b--erased", body="Nobody is to read this.")
    key = "AKIA" + "Z7QH3XWMK2TPLV5D"
    write_memo(site / "office/memos", "2026-05-02-0902--a--b--secret", body=f"The key is {key}.\n\nKeep it well.")
    write_text(site / "memosite.yml", "erase: [{id: 2026-05-02-0901--a--b--erased, why: old, on: 2026-06-01}]\n")
    assert main(["build", str(site), "--quiet", "--secrets", "redact"]) == 0
    for place in (site, site / "_site"):
        for words, said in (
            (["2026-05-02-0901--a--b--erased"], "was erased. Since: 2026-06-01. Reason: old."),
            (["2026-05-02-0902--a--b--secret"], "secrets in it were redacted"),
            (["secret", "--quote", "The key is"], "a secret in it was redacted"),
        ):
            assert main(["cite", *words, "--site", str(place), "--secrets", "redact"]) == 1
            assert said in capsys.readouterr().err
        assert main(["cite", "secret", "--quote", "Keep it well", "--site", str(place), "--secrets", "redact"]) == 0
        assert key not in capsys.readouterr().out
    tmp_path = tmp_path / "damaged"
    # Whatever was published there. Evidence has no file that a site names but originals, and the error is one line.
    write_transcript(tmp_path / "office/transcripts/engineer", LOAD, text=TIDES)
    output = build_site(tmp_path)
    paper = write_text(tmp_path / "paper.md", cited(capsys, f"{LOAD}#t1", "--site", str(output)))
    for path, data, said in DAMAGES:
        whole = (output / path).read_bytes()
        (output / path).unlink()
        if data is not None:
            write_text(output / path, data)
        assert main(["cite", f"transcript/{LOAD}#t1", "--site", str(output)]) in {1, 2}
        printed = capsys.readouterr()
        assert said in printed.err
        assert printed.out == ""
        (output / path).write_bytes(whole)
    fields = json.loads((output / TWIN).read_text())
    for name in ("source.txt", "a%0Ab", "original%1B[2J", ".."):
        write_text(output / TWIN, json.dumps({**fields, "originals": [*fields["originals"], name]}))
        assert main(["verify", str(paper), "--site", str(output), "--bundle", str(tmp_path / "packet")]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert line.isprintable()


def test_json_names_where_to_look_and_one_bad_reference_stops_no_other(repo: Repo, capsys: Capture) -> None:
    """File, lines and bytes have the digest; what means nothing is named, and the exit code is 1."""
    references = [f"{LOAD}#t1", f"{LOAD}#t99", f"{LOAD}#t2", "memo/nothing"]
    assert main(["cite", *references, "--json", "--site", str(repo.root.parent)]) == 1
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert [one["ref"].partition("#")[2] for one in found] == ["t1", "t2"]
    assert f"{LOAD}#t99: " in printed.err and "memo/nothing: " in printed.err
    for one in found:
        data = (repo.root.parent / one["file"]).read_bytes()
        (begin, end), (first, last) = one["bytes"], one["lines"]
        assert (hashlib.sha256(data[begin:end]).hexdigest(), one["part"]) == (one["sha256"], "")
        assert data[begin:end] == b"\n".join(data.split(b"\n")[first - 1 : last])
    assert main(["cite", "memo/nothing", "--site", str(repo.root.parent)]) == 2
