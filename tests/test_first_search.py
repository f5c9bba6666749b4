"""The first search of an archive: it answers at once, and the index is made meanwhile by a process of its own."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.search import command
from memosite.search.whoosh.index import is_being_made, making_index, read_seal
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.sites import built_files
from tests.support.waiting import wait_until


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Two memos, one of them too long to be indexed before an answer."""
    write_memo(tmp_path / "site/memos/inbox", "long", subject="Tides", body="tide and ebb\n\n" * 20_000)
    write_memo(tmp_path / "site/memos/inbox", "short", subject="Ferry", body="The ferry leaves at ebb.")
    return tmp_path / "site"


def search(site: Path, *arguments: str) -> int:
    """Run the command, with a cache beside the site."""
    return main(["search", "--site", str(site), "--cache", str(cache_of(site)), *arguments])


def cache_of(site: Path) -> Path:
    """The cache beside a site."""
    return site.parent / "cache"


def is_indexed(site: Path) -> bool:
    """Whether an index is in place, and nobody makes another one."""
    part = cache_of(site) / "internal"
    return read_seal(part / "search")[0] is not None and not is_being_made(part)


def test_the_first_search_answers_and_the_index_comes_later(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both give the same answer; nothing is said of it."""
    assert search(site, "ebb") == 0
    first = capsys.readouterr()
    wait_until(lambda: is_indexed(site))
    assert search(site, "ebb") == 0
    assert capsys.readouterr() == first
    assert first.err == ""


def test_with_no_index_none_is_made(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither by a search nor by an export, of little or much; the answers are the same."""
    assert search(site, "--no-index", "ebb") == 0
    scanned = capsys.readouterr().out
    options = ["--site", str(site), "--cache", str(cache_of(site)), "--no-index"]
    assert main(["export", "ferry", *options]) == 0
    assert '"id":"short"' in capsys.readouterr().out.replace(" ", "")
    (site / "memos/inbox/long.openthing").unlink()
    assert search(site, "--no-index", "ferry") == 0
    assert not cache_of(site).exists()
    write_memo(site / "memos/inbox", "long", subject="Tides", body="tide and ebb\n\n" * 20_000)
    capsys.readouterr()
    assert search(site, "--index", "ebb") == 0
    assert capsys.readouterr().out == scanned


def test_who_waits_for_the_index_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once, when there is none; without an index there is no score. It can be made without a query, too."""
    assert search(site, "--sort", "score", "--no-index", "ebb") == 2
    assert "--no-index" in capsys.readouterr().err
    assert search(site, "--sort", "score", "ebb") == 0
    assert capsys.readouterr().err == "memosite: --sort score waits for the search index\n"
    assert is_indexed(site)
    assert search(site, "--sort", "score", "ebb") == 0
    assert capsys.readouterr().err == ""
    shutil.rmtree(cache_of(site))
    assert search(site, "--index") == 0
    assert capsys.readouterr() == ("", "")
    assert is_indexed(site)
    assert search(site) == 2
    assert "found no QUERY" in capsys.readouterr().err


def test_an_old_index_answers_together_with_a_scan(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While somebody makes the next one."""
    assert search(site, "--index", "ferry") == 0
    write_memo(
        site / "memos/read", "newest", subject="Ferry timetable", body="Now at noon.", sent="2026-06-01T00:00:00Z"
    )
    capsys.readouterr()
    with making_index(cache_of(site) / "internal"):
        assert search(site, "ferry OR timetable") == 0
        assert [line for line in capsys.readouterr().out.splitlines() if line[:1].strip()] == [
            "Ferry timetable", "Ferry", "2 results",
        ]  # fmt: skip


def test_indexing_that_is_killed_begins_again(site: Path) -> None:
    """At the next search; the killed one's lock and files hold nobody off."""
    part = cache_of(site) / "internal"
    program = (
        "import os, sys; from pathlib import Path\n"
        "from memosite.search.whoosh.index import making_index\n"
        "with making_index(Path(sys.argv[1])) as partial:\n"
        "    (partial / 'MAIN_x.pst').write_text('half of it'); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(part)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (part / "search.partial").exists()
    assert search(site, "ebb") == 0
    wait_until(lambda: is_indexed(site))
    assert not (part / "search.partial").exists()


def test_what_is_erased_while_an_index_is_made_never_gets_into_it(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The build that erases removes what is half made; who makes it fails, and the next search makes another one."""
    write_text(site / "memosite.yml", "title: Archive\n")
    build = ["build", str(site), "-o", str(tmp_path / "out"), "--cache", str(cache_of(site)), "--quiet"]
    assert main(build) == 0
    index = command.Searchable.index

    def erase_meanwhile(*arguments: object, **named: object) -> None:
        write_text(site / "memosite.yml", "title: Archive\nerase: [{id: long, why: asked for, on: 2026-06-01}]\n")
        assert main(build) == 0
        index(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(command.Searchable, "index", erase_meanwhile)
    capsys.readouterr()
    assert search(site, "--index", "tide") == 2
    assert "what it omits changed while it was made" in capsys.readouterr().err
    monkeypatch.undo()
    assert not is_indexed(site)
    assert search(site, "--index", "ebb") == 0
    assert "short" in capsys.readouterr().out
    assert search(site, "--no-index", '"tide and ebb"') == 1


def test_a_cache_that_cannot_be_written_changes_no_answer(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Saved searches of a build find the same, with the same bytes; a search scans each time.

    Only who waits for an index is told.
    """
    searches = "feeds: {searches: {at-ebb: ebb, no-ferry: NOT ferry, prefix: 'tim* OR tid*'}}\n"
    write_text(site / "memosite.yml", f"title: Archive\n{searches}")
    expected = built_files(site, "--cache", tmp_path / "cache-one", output=tmp_path / "one")
    write_text(site / ".memosite", "no folder")
    assert built_files(site, output=tmp_path / "two") == expected
    arguments = ["search", "--site", str(site)]
    capsys.readouterr()
    for _ in range(2):
        assert main([*arguments, "ferry"]) == 0
    assert capsys.readouterr().err == ""
    assert main([*arguments, "--sort", "score", "ferry"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert main([*arguments, "--cache", str(tmp_path / "cache-one"), "--index", "ebb"]) == 0
    shutil.rmtree(tmp_path / "one")
    assert built_files(site, "--cache", tmp_path / "cache-one", output=tmp_path / "one") == expected


def test_who_indexes_runs_nothing_from_the_folder_of_the_user(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder may hold a `memosite` or a `json` of its own."""
    folder = tmp_path / "cloned"
    for name in ("json.py", "memosite/__init__.py", "memosite/__main__.py", "sitecustomize.py"):
        write_text(folder / name, f"open({str(tmp_path / 'executed')!r}, 'w').close()\n")
    monkeypatch.chdir(folder)
    assert search(site, "ebb") == 0
    wait_until(lambda: is_indexed(site))
    assert not (tmp_path / "executed").exists()
