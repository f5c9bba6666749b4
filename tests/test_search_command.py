"""`memosite search` and `memosite export QUERY` as people and scripts use them."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.reading.archive import ArchiveHandle
from memosite.search import command
from memosite.search.match import LENGTH, make_excerpt, wanted_words
from memosite.search.whoosh.index import is_being_made, making_index, read_seal
from memosite.search_language import Analyzer, parse_query, prepare
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.repos import Repo
from tests.support.sites import built_files
from tests.support.waiting import wait_until

Capture = pytest.CaptureFixture[str]

TOKEN = "ghp_" + "wJq8Zt4Rk2Xv6Nc9Bm3Lf7Hs5Dg1Pa0Yu7Te"
"""What looks like a secret; in two parts, since hosts refuse commits with one."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Two memos."""
    name = "2026-05-01-1430--engineer--director--tides"
    write_memo(tmp_path / "memos/inbox", name, subject="Tide tables", body="High.")
    write_memo(tmp_path / "memos/read", "other", subject="Another", body="The ferry leaves at ebb.", to="all")
    return tmp_path


def fail(*_: object, **__: object) -> None:
    """What nobody is to ask for."""
    raise AssertionError("this was not to be asked")


def search(site: Path, *arguments: str) -> int:
    """Run the command."""
    return main(["search", "--site", str(site), "--cache", str(site / "cache"), *arguments])


def test_hits_say_how_far_they_are_and_who_owes_an_answer(site: Path, capsys: Capture) -> None:
    """By a scan and by the index, and anew when an answer comes."""
    asks = "2026-05-02-0900--engineer--keeper--ropes"
    write_memo(site / "memos/read", asks, subject="Ropes", to="keeper, director", action_required=True)
    write_text(site / "decisions/oak.md", "# Oak ropes\n\nStatus: accepted\n")
    for index in ("--no-index", "--index"):
        assert search(site, "--json", index, "ropes") == 0
        hits = {hit["kind"]: hit for hit in json.loads(capsys.readouterr().out)["hits"]}
        assert (hits["memo"]["status"], hits["memo"]["waits_for"]) == ("open", ["keeper", "director"])
        assert hits["memo"]["waits_for_total"] == 2
        assert (hits["document"]["status"], hits["document"]["waits_for"]) == ("accepted", [])
    assert search(site, "ropes") == 0
    told = capsys.readouterr().out
    assert "engineer to keeper, director · open · waits for keeper, director\n" in told and "· accepted\n" in told
    write_memo(site / "memos/read", "re", sender="keeper", to="engineer", in_reply_to=asks, subject="Fine")
    for index in ("--index", "--no-index"):
        assert search(site, "--json", index, "kind:memo ropes subject:ropes") == 0
        (hit,) = json.loads(capsys.readouterr().out)["hits"]
        assert hit["waits_for"] == ["director"]


def test_hits_are_told_to_people_and_to_machines(site: Path, capsys: Capture) -> None:
    """Words are marked, the number comes last; one JSON object; exit codes; hints, and an example where it is wrong."""
    assert search(site, "ferri") == 1
    assert capsys.readouterr().out == "no results; did you mean ferry?\n"
    assert search(site, "from:enginer") == 1
    told = capsys.readouterr()
    assert told.out == "no results; did you mean from:engineer?\n"
    assert told.err == "memosite: no item is from or to enginer: nobody in the archive has that name\n"
    assert search(site, "foo:bar") == 1
    assert "there is no filter foo: so it was searched as text; filters are subject:, from:" in capsys.readouterr().err
    assert search(site, "qqqqqqqq") == 1
    assert capsys.readouterr().out == "no results\n"
    assert search(site, "tide AND (ebb") == 2
    assert capsys.readouterr().err.splitlines() == [
        "memosite: this parenthesis is never closed", "  tide AND (ebb", "           ^",
        "  for example: (tide OR ebb) tables",
    ]  # fmt: skip
    assert search(site, "ferry OR ebb") == 0
    assert capsys.readouterr().out.splitlines() == [
        "Another", "  2026-05-01 · memo · engineer to all", "  The *ferry* leaves at *ebb*.",
        "  memos/other/index.html#p-20764c74", f"  {site.name}/memos/read/other.openthing", "", "1 result",
    ]  # fmt: skip
    assert search(site, "--json", "--base-url", "https://x.example/", "subject:tide") == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["v"], value["total"], value["query"]) == (1, 1, "subject:tide")
    assert value["hits"][0]["url"] == "https://x.example/memos/2026-05-01-1430--engineer--director--tides/"
    assert value["hits"][0]["date"] == "2026-05-01T14:30:00Z"
    assert value["hits"][0]["excerpt"] == [["High.", False]]
    assert search(site, "--limit", "1", "kind:memo") == 0
    assert capsys.readouterr().out.endswith("2 results, the first 1 shown (--limit N)\n")
    assert search(site, "--limit", "0", "kind:memo") == 2
    capsys.readouterr()
    assert search(site, "after:1d") == 0
    assert capsys.readouterr().err == "memosite: counted back from 2026-05-01, the newest date of the archive\n"
    assert search(site, "--quiet", "tide after:1d") == 0
    assert search(site, "--quiet", "ferri") == 1
    assert capsys.readouterr() == ("", "")


def test_an_unchanged_archive_is_not_read_again(site: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index alone gives the same answers, hints and JSON; every change makes the archive be read."""
    asked = (["ferry"], ["ferri"], ["--json", "is:open OR tide"], ["--base-url", "https://x.example/", "ebb"])
    search(site, "ferry")
    capsys.readouterr()
    first = []
    for arguments in asked:
        write_memo(site / "memos/inbox", "another")
        first.append((search(site, *arguments), capsys.readouterr()))
    monkeypatch.setattr("memosite.reading.reader.read_archive", fail)
    assert [(search(site, *arguments), capsys.readouterr()) for arguments in asked] == first
    write_memo(site / "memos/inbox", "third")
    with pytest.raises(AssertionError, match="not to be asked"):
        search(site, "ferry")


def test_what_git_received_is_no_longer_unread(tmp_path: Path, capsys: Capture) -> None:
    """A memo in a flat folder is unread until it is committed, whether or not it was added."""
    repo = Repo(tmp_path)
    repo.commit()
    write_memo(tmp_path / "memos", "one")
    assert search(tmp_path, "is:unread") == 0
    repo.git("add", "--all", "memos")
    assert search(tmp_path, "is:unread") == 0
    repo.git("commit", "--quiet", "-m", "one")
    assert search(tmp_path, "is:unread") == 1
    assert "no results" in capsys.readouterr().out


def test_excerpts_show_where_the_words_stand_as_plain_text_and_no_search_waits_for_the_network(
    tmp_path: Path, capsys: Capture
) -> None:
    """Marks say nothing, escapes are shown; a remote counts as it was last fetched, and only once must be."""
    for text, query, expected in [
        ("The ferry leaves at ebb.", "ferry", "The [ferry] leaves at ebb."),
        ("The ferry leaves at ebb.", '"leaves at"', "The ferry [leaves] [at] ebb."),
        ("leaves at ebb, leaves on", '"leaves on"', "leaves at ebb, [leaves] [on]"),
        ("readArchive", "archive", "[readArchive]"),
        ("夜の鐘楼です", "鐘楼", "夜の[鐘楼]です"),
        ("ÉCOLE de la mer", "ecol*", "[ÉCOLE] de la mer"),
        ("nothing here", "ferry", "nothing here"),
        ("", "ferry", ""),
        ("x " * 300 + "ferry" + " y" * 300, "ferry", "… " + "x " * 19 + "[ferry]" + " y" * 98 + " …"),
        ("ferry a NOT b", "ferry NOT b", "[ferry] a NOT b"),
    ]:
        analyzer = Analyzer()
        pieces = make_excerpt(
            [("", prepare(text).strip())], wanted_words(parse_query(query, analyzer)), analyzer
        ).pieces
        assert "".join(f"[{piece.text}]" if piece.is_marked else piece.text for piece in pieces) == expected
        assert sum(len(piece.text) for piece in pieces) <= LENGTH + 10
    origin = Repo(tmp_path / "origin")
    write_memo(origin.root / "memos/inbox", "one")
    origin.commit()
    site = tmp_path / "site"
    write_text(site / "memosite.yml", f"sources: [{{git: 'file://{origin.root}'}}]\n")
    assert search(site, "text") == 0
    write_memo(origin.root / "memos/inbox", "two")
    origin.commit()
    capsys.readouterr()
    assert search(site, "text") == 0
    assert capsys.readouterr().out.endswith("1 result\n")
    assert main(["check", "--site", str(site), "--cache", str(site / "cache"), "--quiet"]) == 0  # it fetches
    assert search(site, "--quiet", "two") == 0
    plain = tmp_path / "plain"
    body = "---\nid: x\n---\n## Ferry\n\n**The** [ferry](https://x.example/) *is* 2\\* at `__ebb__`:\n\n- | a | b |"
    write_memo(plain / "memos/inbox", "one", body=body)
    write_memo(plain / "memos/inbox", "evil", subject="Tide \x1b[2J", body="tide \x1b]0;title\x07 \u202e end")
    assert search(plain, "ferry") == 0
    assert capsys.readouterr().out.splitlines()[2] == "  *Ferry* The *ferry* is 2* at __ebb__: | a | b |"
    assert search(plain, "tide") == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\u202e" not in said


def test_an_export_of_a_query_holds_what_it_finds_and_asks_the_index_alone(site: Path, capsys: Capture) -> None:
    """By the same engine; a query that cannot be read is refused."""
    common = ["export", "--site", str(site), "--cache", str(site / "cache")]
    assert main([*common, "ferry"]) == 0
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == ["other"]
    assert main([*common, "(ferry"]) == 2
    assert "never closed" in capsys.readouterr().err
    assert main([*common, "qqqqqqqq", "--format", "mbox"]) == 0
    assert capsys.readouterr().out == ""

    def export(*arguments: str) -> list[str]:
        common = ["export", "ferry", "--site", str(site), "--cache", str(site / "cache")]
        assert main([*common, "--base-url", "https://example.org/a/", *arguments]) == 0
        return capsys.readouterr().out.splitlines()

    scanned = export("--no-index")
    assert search(site, "--index") == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memosite.search.command.searchable", fail)
        assert export() == scanned
        assert [json.loads(line)["url"] for line in scanned] == ["https://example.org/a/memos/other/"]
    write_memo(site / "memos/inbox", "third", body="The ferry again.")
    assert {json.loads(line)["id"] for line in export()} == {"other", "third"}


def test_what_is_withheld_is_forgotten_by_searches_and_by_builds(tmp_path: Path, capsys: Capture) -> None:
    """Whoosh keeps words of deleted documents; a hint would repeat them, and the cache would hold them."""
    folder, name = tmp_path / "desk/memos/inbox", "2026-05-01-0900--engineer--director--reef"
    write_memo(folder, "2026-05-01-0800--engineer--director--calm", body="Nothing new.")
    write_memo(folder, name, body="The zqunicorn is here.")
    for _ in range(2):
        assert search(tmp_path, "zqunicorn") == 0
    write_memo(folder, name, body=f"The zqunicorn is here. {TOKEN}")
    capsys.readouterr()
    assert search(tmp_path, "zqunicom") == 1
    assert "unicorn" not in capsys.readouterr().out
    files = [path for path in (tmp_path / ".memosite").rglob("*") if path.is_file()]
    assert not [path for path in files if b"zqunicorn" in path.read_bytes()]
    tmp_path = tmp_path / "built"
    write_memo(tmp_path / "desk/memos/inbox", name, body="The zqunicorn is here.")
    assert search(tmp_path, "zqunicorn") == 0
    write_memo(tmp_path / "desk/memos/inbox", name, body=f"The zqunicorn is here. {TOKEN}")
    assert main(["build", str(tmp_path), "--quiet"]) == 1
    assert not (tmp_path / ".memosite/internal/search").exists()
    tmp_path = tmp_path / "public"
    write_text(tmp_path / "memosite.yml", "audience: public\n")
    name, folder = "2026-05-01-0900--engineer--director--reef", tmp_path / "desk/memos/inbox"
    write_memo(folder, name, body="The reef.")
    assert search(tmp_path, "reef") == 0
    write_memo(folder, name, body="The reef.", extra={"x.legal.confidentiality": "internal"})
    assert search(tmp_path, "reef") == 1


@pytest.fixture
def tides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two memos, one of them too long to be indexed before an answer."""
    monkeypatch.setattr(command, "LITTLE", 2_000)
    write_memo(tmp_path / "site/memos/inbox", "long", subject="Tides", body="tide and ebb\n\n" * 300)
    write_memo(tmp_path / "site/memos/inbox", "short", subject="Ferry", body="The ferry leaves at ebb.")
    return tmp_path / "site"


def is_indexed(site: Path) -> bool:
    """Whether an index is in place, and nobody makes another one."""
    part = site / "cache/internal"
    return read_seal(part / "search")[0] is not None and not is_being_made(part)


def test_the_first_search_answers_and_the_index_comes_later(tides: Path, capsys: Capture) -> None:
    """With the same answer; an old index answers together with a scan, while somebody makes the next one."""
    assert search(tides, "ebb") == 0
    first = capsys.readouterr()
    wait_until(lambda: is_indexed(tides))
    assert search(tides, "ebb") == 0
    assert capsys.readouterr() == (first.out, "")
    lacking = "memosite: the search index lacks 2 items: this search reads their texts, and a process adds them\n"
    assert first.err == lacking
    assert search(tides, "--index", "ferry") == 0
    write_memo(
        tides / "memos/read", "newest", subject="Ferry timetable", body="Now at noon.", sent="2026-06-01T00:00:00Z"
    )
    capsys.readouterr()
    with making_index(tides / "cache/internal"):
        assert search(tides, "ferry OR timetable") == 0
        said = capsys.readouterr()
        assert [line for line in said.out.splitlines() if line[:1].strip()] == ["Ferry timetable", "Ferry", "2 results"]
        assert "the search index lacks 1 item" in said.err  # little as it is, the other one adds it


def test_searches_at_once_or_in_a_row_start_one_maker(tides: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the moment it was started until it ends, if it was killed, too; none if the index was made meanwhile."""
    started: list[int] = []

    def start(_words: object, *, holding: Sequence[int]) -> None:
        started.append(os.dup(holding[0]))  # as a process that inherits the lock, and has not begun to run

    monkeypatch.setattr("memosite.commands.search.start_detached", start)
    assert [search(tides, word) for word in ("ebb", "ferry", "ebb")] == [0, 0, 0]
    assert len(started) == 1
    os.close(started[0])
    assert search(tides, "ebb") == 0
    os.close(started[1])
    find = command.Searchable.search

    def make_meanwhile(self: command.Searchable) -> object:
        monkeypatch.undo()
        assert search(tides, "--index") == 0
        monkeypatch.setattr("memosite.commands.search.start_detached", start)
        return find(self)

    monkeypatch.setattr(command.Searchable, "search", make_meanwhile)
    monkeypatch.setattr(command, "LITTLE", 2_000)
    assert search(tides, "ebb") == 0
    assert len(started) == 2


def test_who_waited_for_the_index_makes_no_second_one(tides: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is the archive read again."""
    wait = making_index

    @contextmanager
    def wait_until_made(cache: Path) -> Iterator[Path | None]:
        monkeypatch.setattr("memosite.commands.search.making_index", wait)
        assert search(tides, "--index") == 0
        monkeypatch.setattr(command.Searchable, "index", None)
        monkeypatch.setattr(ArchiveHandle, "recall", None)
        with wait(cache) as partial:
            yield partial

    monkeypatch.setattr("memosite.commands.search.making_index", wait_until_made)
    assert search(tides, "--sort", "score", "ebb") == 0


def test_with_no_index_none_is_made_and_who_waits_for_one_is_told(tides: Path, capsys: Capture) -> None:
    """By no command, with the same answers; told once; it can be made without a query, and else there is no score."""
    assert search(tides, "--no-index", "ebb") == 0
    scanned = capsys.readouterr().out
    options = ["--site", str(tides), "--cache", str(tides / "cache"), "--no-index"]
    assert main(["export", "ferry", *options]) == 0
    assert '"id":"short"' in capsys.readouterr().out.replace(" ", "")
    (tides / "memos/inbox/long.openthing").unlink()
    assert search(tides, "--no-index", "ferry") == 0
    assert not (tides / "cache").exists()
    write_memo(tides / "memos/inbox", "long", subject="Tides", body="tide and ebb\n\n" * 300)
    capsys.readouterr()
    assert search(tides, "--index", "ebb") == 0
    assert capsys.readouterr().out == scanned
    shutil.rmtree(tides / "cache")
    assert search(tides, "--sort", "score", "--no-index", "ebb") == 2
    assert "--no-index" in capsys.readouterr().err
    assert search(tides, "--sort", "score", "ebb") == 0
    assert capsys.readouterr().err == "memosite: --sort score waits for the search index\n"
    assert is_indexed(tides)
    assert search(tides, "--sort", "score", "ebb") == 0
    assert capsys.readouterr().err == ""
    shutil.rmtree(tides / "cache")
    assert search(tides, "--index") == 0
    assert capsys.readouterr() == ("", "")
    assert is_indexed(tides)
    assert search(tides) == 2
    assert "found no QUERY" in capsys.readouterr().err


def test_indexing_that_is_killed_begins_again(tides: Path) -> None:
    """At the next search; the killed one's lock and files hold nobody off."""
    part = tides / "cache/internal"
    program = (
        "import os, sys; from pathlib import Path\n"
        "from memosite.search.whoosh.index import making_index\n"
        "with making_index(Path(sys.argv[1])) as partial:\n"
        "    (partial / 'MAIN_x.pst').write_text('half of it'); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(part)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (part / "search.partial").exists()
    assert search(tides, "ebb") == 0
    wait_until(lambda: is_indexed(tides))
    assert not (part / "search.partial").exists()


def test_what_is_erased_while_an_index_is_made_never_gets_into_it(
    tides: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The build that erases removes what is half made; who makes it fails, and the next search makes another one."""
    write_text(tides / "memosite.yml", "title: Archive\n")
    build = ["build", str(tides), "-o", str(tmp_path / "out"), "--cache", str(tides / "cache"), "--quiet"]
    assert main(build) == 0
    index = command.Searchable.index

    def erase_meanwhile(*arguments: object, **named: object) -> None:
        write_text(tides / "memosite.yml", "title: Archive\nerase: [{id: long, why: asked for, on: 2026-06-01}]\n")
        assert main(build) == 0
        index(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(command.Searchable, "index", erase_meanwhile)
    capsys.readouterr()
    assert search(tides, "--index", "tide") == 2
    assert "what it omits changed while it was made" in capsys.readouterr().err
    monkeypatch.undo()
    assert not is_indexed(tides)
    assert search(tides, "--index", "ebb") == 0
    assert "short" in capsys.readouterr().out
    assert search(tides, "--no-index", '"tide and ebb"') == 1


def test_a_cache_that_cannot_be_written_changes_no_answer(tides: Path, tmp_path: Path, capsys: Capture) -> None:
    """Saved searches of a build find the same, with the same bytes; a search scans each time."""
    searches = "feeds: {searches: {at-ebb: ebb, no-ferry: NOT ferry, prefix: 'tim* OR tid*'}}\n"
    write_text(tides / "memosite.yml", f"title: Archive\n{searches}")
    expected = built_files(tides, "--cache", tmp_path / "cache-one", output=tmp_path / "one")
    write_text(tides / ".memosite", "no folder")
    assert built_files(tides, output=tmp_path / "two") == expected
    arguments = ["search", "--site", str(tides)]
    capsys.readouterr()
    for _ in range(2):
        assert main([*arguments, "ferry"]) == 0
    assert capsys.readouterr().err == ""
    assert main([*arguments, "--sort", "score", "ferry"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert main([*arguments, "--cache", str(tmp_path / "cache-one"), "--index", "ebb"]) == 0
    shutil.rmtree(tmp_path / "one")
    assert built_files(tides, "--cache", tmp_path / "cache-one", output=tmp_path / "one") == expected


def test_indexing_runs_nothing_of_a_users_folder(tides: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may hold a `memosite` or a `json` of its own."""
    folder = tmp_path / "cloned"
    for name in ("json.py", "memosite/__init__.py", "memosite/__main__.py", "sitecustomize.py"):
        write_text(folder / name, f"open({str(tmp_path / 'executed')!r}, 'w').close()\n")
    monkeypatch.chdir(folder)
    assert search(tides, "ebb") == 0
    wait_until(lambda: is_indexed(tides))
    assert not (tmp_path / "executed").exists()
