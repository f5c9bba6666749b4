"""Who wrote an item to whom is the same on pages, in twins, feeds, mail, search, diff and the answers for sessions."""

import json
from email import message_from_string
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.files import write_text
from tests.support.sites import build_site

ID = "2026-05-01-1430--desk--all--keys"
MANY = list("abcdefg")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site with a memo that names nobody as its author, and seven recipients."""
    site = tmp_path_factory.mktemp("who")
    memo = {"catdef": "1.4", "memodef": "0.4.0", "type": "memodef:Memo", "to": MANY, "subject": "Keys of the door"}
    text = json.dumps(memo | {"sent": "2026-05-01T14:30:00Z", "body": "They hang in the hall."})
    write_text(site / f"desk/memos/inbox/{ID}.openthing", text)
    write_text(site / "memosite.yml", "sources: [{path: desk}]\nbase_url: https://example.org/\narchive_id: hall\n")
    build_site(site)
    return site


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command prints; `diff` and `show` end with 0."""
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_commands_and_twins_name_the_first_four_of_many_and_say_how_many_more(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And that the author is unknown, where the memo names none."""
    who = "unknown to a, b, c, d and 3 more"
    assert who in printed(capsys, "search", "hall", "--site", site)
    assert f"{who}: Keys of the door" in printed(capsys, "diff", "2026-04-01..2026-06-01", "--site", site)
    assert f"{who}: [Keys of the door]" in (site / "_site/timeline/2026/05/index.md").read_text()
    for command in (("show", ID), ("inbox", "a")):
        assert who.replace(" to ", " → ") in printed(capsys, *command, "--site", site)


def test_pages_feeds_and_mail_say_that_the_author_is_unknown(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A list, the page itself, its Markdown, the feed and the header of a mail."""
    built = site / "_site"
    assert "From: unknown\nTo: a, b, c, d, e, f, g\n" in (built / f"memos/{ID}/index.md").read_text()
    for page in (f"memos/{ID}/index.html", "timeline/2026/05/index.html", "positions/a/index.html"):
        text = (built / page).read_text()
        assert ">unknown<" in text and "nobody" not in text
    assert "<dc:creator>unknown</dc:creator>" in (built / "feed.xml").read_text()
    mail = printed(capsys, "export", "--format", "mbox", "--site", site).partition("\n")[2]
    assert str(message_from_string(mail)["From"]).startswith('"unknown" <')
