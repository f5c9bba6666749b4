"""The lists of threads: last active first, waiting longest first, and all of them in order of arrival (SPEC 4)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html as lxml_html

from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.pages import bad_links, found
from tests.support.sites import build_site, built_from_nothing, tree_bytes

THREADS, WAITING = "timeline/threads/index.html", "timeline/threads/waiting/index.html"


def write(site: Path, name: str, day: str, *, to: str = "director", sender: str = "engineer", **fields: Any) -> None:
    """A memo of a day."""
    write_memo(site / "repo/memos/inbox", name, sender=sender, to=to, sent=f"{day}T09:00:00Z", subject=name, **fields)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """An old thread that is active, a newer one that waits, one that waits longer; a memo that nobody answered."""
    site = tmp_path / "site"
    write(site, "oak", "2026-04-01")
    write(site, "oak-re", "2026-05-20", sender="director", to="engineer", in_reply_to="oak")
    write(site, "ash", "2026-05-02", action_required=True)
    write(site, "ash-re", "2026-05-03", in_reply_to="ash", to="clerk", sender="engineer")
    write(site, "elm", "2026-04-05", action_required=True, to="clerk")
    write(site, "elm-re", "2026-04-06", in_reply_to="elm")
    write(site, "fir", "2026-03-01", action_required=True)
    return site


def rows(output: Path, page: str) -> list[str]:
    """What each row of a list says."""
    tree = lxml_html.parse(output / page)
    return [" ".join(row.text_content().split()) for row in tree.xpath("//ol[@class='rows']/li")]


def test_threads_are_listed_by_their_newest_memo(site: Path) -> None:
    """With the number of memos, from when to when, of whom, and who has not answered; home leads there."""
    output = build_site(site)
    oak, ash, elm = rows(output, THREADS)
    assert oak == "2026-05-20 oak 2 memos, 2026-04-01 to 2026-05-20 · engineer, director"
    assert ash == "2026-05-03 ash open 18 days 2 memos, 2026-05-02 to 2026-05-03 · engineer · waiting for director"
    assert elm == "2026-04-06 elm open 45 days 2 memos, 2026-04-05 to 2026-04-06 · engineer · waiting for clerk"
    home = lxml_html.parse(output / "index.html")
    assert found(home, "//a[starts-with(@href, 'timeline/threads/')]/@href") == [THREADS, WAITING]
    assert not list(bad_links(output))


def test_what_waits_longest_comes_first(site: Path) -> None:
    """By the oldest open action; a memo alone is no thread."""
    dates = [(row.split()[0], row.split()[1]) for row in rows(build_site(site), WAITING)]
    assert dates == [("2026-04-05", "elm"), ("2026-05-02", "ash")]


def test_without_threads_the_list_says_so(tmp_path: Path) -> None:
    """And home does not lead there."""
    write(tmp_path / "site", "fir", "2026-03-01", action_required=True)
    output = build_site(tmp_path / "site")
    assert "No threads yet." in (output / THREADS).read_text()
    assert "Nobody owes an answer in a thread." in (output / WAITING).read_text()
    assert "timeline/threads/" not in (output / "index.html").read_text()


def test_a_thread_may_have_any_id(tmp_path: Path) -> None:
    """Also that of a part or of a list: it has its own page."""
    for id_ in ("waiting", "1"):
        write(tmp_path / "site", f"{id_}-a", "2026-03-01", thread_id=id_)
        write(tmp_path / "site", f"{id_}-b", "2026-03-02", thread_id=id_)
    output = build_site(tmp_path / "site")
    assert len(rows(output, THREADS)) == 2
    assert all((output / f"threads/{id_}/index.html").is_file() for id_ in ("waiting", "1"))
    assert not list(bad_links(output))


def test_a_part_is_made_again_when_one_of_its_threads_changes(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a reply, an answer, another name of a position; what comes later changes nothing of it but its own thread."""
    monkeypatch.setattr("memosite.plan.threads._SHOWN", 1)
    part = "timeline/threads/1/index.html"
    changes: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: write(site, "ash-yes", "2026-05-30", sender="director", to="engineer", in_reply_to="ash"),
        lambda: write_text(site / "memosite.yml", "positions: {aliases: {clerk: director}}\n"),
        lambda: write(site, "yew", "2026-06-01"),
        lambda: write(site, "yew-re", "2026-06-02", sender="director", to="engineer", in_reply_to="yew"),
    )
    for number, change in enumerate(changes):
        change()
        output = build_site(site)
        assert tree_bytes(output) == built_from_nothing(site, tmp_path / f"fresh-{number}")
        assert "Showing the first 1 of " in (output / THREADS).read_text()
    names = [row.split()[1] for row in rows(output, part)]
    assert names == ["oak", "elm", "ash", "yew"]
