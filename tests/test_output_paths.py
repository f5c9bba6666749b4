"""Commands that are told a file of an output, and no site: they find the site that it belongs to (SPEC 8)."""

from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.memos import write_memo
from tests.support.sites import build_site

FIRST = "2026-05-01-0900--engineer--director--gate"
SECOND = "2026-05-02-0900--director--engineer--gate-is-green"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A built site with a thread of two memos; the current folder is another one."""
    site, elsewhere = tmp_path / "organization", tmp_path / "elsewhere"
    folder = site / "governance/memos/inbox"
    write_memo(folder, FIRST, subject="Gate", body="Is the gate green?")
    write_memo(folder, SECOND, sender="director", to="engineer", subject="Gate is green", body="The gate is green.",
               sent="2026-05-02T09:00:00Z", in_reply_to=FIRST)  # fmt: skip
    build_site(site)
    elsewhere.mkdir()
    return site


@pytest.fixture(autouse=True)
def _elsewhere(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site.parent / "elsewhere")


def test_explain_finds_the_site_of_a_page(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By an absolute path, a relative one, a folder, and a file that is not there."""
    for path in (site / "_site/actions/index.html", "../organization/_site/actions/index.html",
                 "../organization/_site/actions/"):  # fmt: skip
        assert main(["explain", str(path)]) == 0
        assert "made as   actions" in capsys.readouterr().out
    assert main(["explain", str(site / "_site/actoins/index.html")]) == 2
    assert "did you mean actions/index.html?" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "thread", "cite"])
def test_others_find_the_site_of_a_page(command: str, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An item is named by its page."""
    assert main([command, str(site / f"_site/memos/{SECOND}/index.html")]) == 0
    assert "gate" in capsys.readouterr().out.lower()


def test_a_thread_is_named_by_its_page(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the path of the page, and by its address."""
    (page,) = (site / "_site/threads").glob("*/index.html")
    assert main(["thread", str(page)]) == 0
    said = capsys.readouterr().out
    assert SECOND in said
    assert main(["thread", f"https://memos.example/threads/{page.parent.name}/", "--site", str(site)]) == 0
    assert SECOND in capsys.readouterr().out


def test_a_site_that_is_named_wins(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is said is not guessed."""
    write_memo(tmp_path / "other/memos/inbox", "one")
    build_site(tmp_path / "other")
    assert main(["explain", str(site / "_site/actions/index.html"), "--site", str(tmp_path / "other")]) == 2
    assert "no file that the last build made" in capsys.readouterr().err


def test_an_output_elsewhere_is_found_by_the_memosite_yml_above_it(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of several outputs, the audience is that of the file's own."""
    (site / "memosite.yml").write_text("outputs: {internal: built/inside, public: built/outside}\n")
    for audience in ("internal", "public"):
        assert main(["build", str(site), "--audience", audience, "--quiet"]) == 0
    capsys.readouterr()
    for folder in ("inside", "outside"):
        assert main(["explain", str(site / f"built/{folder}/memos/{FIRST}/index.html")]) == 0
        assert f"made as   thread/{FIRST}" in capsys.readouterr().out


def test_a_copied_site_is_cited_by_itself(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no site folder above it."""
    copy = site.parent / "elsewhere/copied"
    (site / "_site").rename(copy)
    assert main(["cite", str(copy / f"memos/{FIRST}/index.html")]) == 0
    assert "Is the gate green?" in capsys.readouterr().out
    assert main(["explain", str(copy / "actions/index.html")]) == 2
