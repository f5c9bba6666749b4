"""`cite` and `verify` read a published site as they read the repos that it was built from (SPEC 7, verifying)."""

import json
from argparse import Namespace
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from memosite.citing import Sources
from memosite.cli import main
from memosite.commands.citing import opened_sources
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.servers import serve_folder
from tests.support.sites import build_site, copy_example

LOAD = "2026-05-01-1430--engineer--the-load"
TURNS = "## User\n\nWhen does the tide turn?\n\n## Assistant\n\nAt noon, and none of the 39 barges may leave before.\n"


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


def test_every_passage_is_the_same(example: Path) -> None:
    """Anchor, hash, speaker, time and address of all passages of all items."""
    count = 0
    with sources_of(example) as repos, sources_of(example / "_site") as site:
        broken = {name for name in repos.names if repos.item(name).why_not}
        assert set(site.names) == set(repos.names) - broken
        assert site.positions == repos.positions
        assert site.positions["local-history-archivist"] == "archivist"
        for name in site.names:
            ours, theirs = repos.item(name), site.item(name)
            assert [one.text for one in ours.bodies] == [one.text for one in theirs.bodies]
            assert ours.cite(None) == theirs.cite(None)
            for one, other in zip(ours.places(), theirs.places(), strict=True):
                assert ours.cite(one) == theirs.cite(other)
                count += 1
    assert count > 500


def cited(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `cite` writes."""
    assert main(["cite", *words, "--format", "markdown"]) == 0
    return capsys.readouterr().out


def test_over_http(example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its address: references, bare quotes, citations and manuscripts."""
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


def test_what_is_withheld_redacted_or_erased(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A site says why, as the repos do."""
    site = tmp_path / "site"
    write_transcript(site / "office/transcripts/engineer", LOAD, text=TURNS)
    write_memo(site / "office/memos", "2026-05-02-0901--a--b--erased", body="Nobody is to read this.")
    key = "AKIA" + "Z7QH3XWMK2TPLV5D"
    write_memo(site / "office/memos", "2026-05-02-0902--a--b--secret", body=f"The key is {key}.\n\nKeep it well.")
    write_text(
        site / "memosite.yml", 'erase:\n  - id: 2026-05-02-0901--a--b--erased\n    why: "old"\n    on: 2026-06-01\n'
    )
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


def test_a_damaged_site_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever was published there. Evidence has no file that a site names but originals, and the error is one line."""
    write_transcript(tmp_path / "office/transcripts/engineer", LOAD, text=TURNS)
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
