"""Where nobody can know whether a memo is read, no page and no command says that nothing is unread (SPEC 3, unread)."""

import json
from pathlib import Path

import pytest
from lxml import html

from memosite.cli import main
from tests.support.memos import write_memo, write_org
from tests.support.repos import Repo
from tests.support.sites import build_site

FLAT = "Not known of 1 memo whether it is read: 1 in memos/ without mailboxes, where git does not tell."


def told(capsys: pytest.CaptureFixture[str], site: Path, command: str) -> tuple[str, str]:
    """What a command says of the director's unread memos: as text, and of what is unknown as JSON."""
    assert main([command, "director", "--site", str(site)]) == 0
    text = capsys.readouterr().out
    assert main([command, "director", "--site", str(site), "--json"]) == 0
    return text, str(json.loads(capsys.readouterr().out)["unknown"])


def said(site: Path, path: str) -> str:
    """The text of a page."""
    return " ".join("".join(html.parse(site / "_site" / path).getroot().itertext()).split())


def test_a_flat_folder_without_git_tells_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither commands nor pages claim that nothing is unread; they say why."""
    write_memo(tmp_path / "office/memos", "one")
    for command in ("inbox", "brief"):
        text, unknown = told(capsys, tmp_path, command)
        assert "Nothing is known to be unread." in text and FLAT in text and unknown == FLAT
    build_site(tmp_path)
    assert f"No memos are known to be unread. {FLAT}" in said(tmp_path, "positions/director/index.html")
    rows = html.parse(tmp_path / "_site/org/index.html").xpath("//table[@class='seats glance']/tbody/tr[th='director']")
    assert [row.xpath("string(td[2])") for row in rows] == ["?"] and "? means: not known" in said(
        tmp_path, "org/index.html"
    )
    assert "Inbox ?" in said(tmp_path, "positions/director/index.html")
    home = said(tmp_path, "index.html")
    assert "Nothing is known to be waiting for director." in home and f"director: {FLAT}" in home


def test_what_git_or_a_mailbox_tells_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A commit is a receipt; `read/` is read."""
    write_memo(tmp_path / "plain/memos/read", "two")
    repo = Repo(tmp_path / "office")
    write_memo(repo.root / "memos", "one")
    repo.commit()
    text, unknown = told(capsys, tmp_path, "inbox")
    assert "Nothing is unread." in text and unknown == "None"
    build_site(tmp_path)
    assert "No unread memos." in said(tmp_path, "positions/director/index.html")
    assert "Nothing is waiting for director." in said(tmp_path, "index.html")


def test_a_broadcast_is_known_in_the_repo_of_a_position_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever has no repo, or no copy there, may have read it anywhere."""
    write_org(tmp_path / "yard", positions=["director", "engineer", {"id": "smith", "working_directory": "forge"}])
    write_memo(tmp_path / "yard/memos/inbox", "one", to="all")
    text, unknown = told(capsys, tmp_path, "inbox")
    assert unknown == "Not known of 1 memo whether it is read: 1 to all, without a repo of its own."
    assert "Nothing is known to be unread." in text and unknown in text
    write_memo(tmp_path / "forge/memos/read", "two", to="smith", sender="director")
    assert main(["inbox", "smith", "--site", str(tmp_path)]) == 0
    assert "1 to all, without a copy in its repo." in capsys.readouterr().out
    assert main(["inbox", "engineer", "--site", str(tmp_path)]) == 0
    assert "Nothing is unread." in capsys.readouterr().out
