"""Commands that are told a file of an output, and no site: they find the site that it belongs to (SPEC 8)."""

import shutil
from pathlib import Path

import pytest

from memosite.cli import main
from tests.support.memos import send, write_memo
from tests.support.sites import build_site

Capture = pytest.CaptureFixture[str]
FIRST = "2026-05-01-0900--engineer--director--gate"
SECOND = "2026-05-02-0900--director--engineer--gate-is-green"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site with a thread of two memos."""
    site = tmp_path_factory.mktemp("paths") / "organization"
    folder = site / "governance/memos/inbox"
    send(folder, FIRST, subject="Gate", body="Is the gate green?")
    send(folder, SECOND, subject="Gate is green", body="The gate is green.", in_reply_to=FIRST)
    build_site(site)
    (site.parent / "elsewhere").mkdir()
    return site


@pytest.fixture(autouse=True)
def _elsewhere(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder is another one."""
    monkeypatch.chdir(site.parent / "elsewhere")


def test_explain_show_thread_and_cite_find_the_site_of_a_page_also_of_a_copy_or_of_several_outputs(
    site: Path, tmp_path: Path, capsys: Capture
) -> None:
    """By any path or address; a site that is named wins; the audience is that of the file's own output."""
    page = site / "_site/actions/index.html"
    for path in (page, "../organization/_site/actions/index.html", "../organization/_site/actions/"):
        assert main(["explain", str(path)]) == 0
        assert "made as   actions" in capsys.readouterr().out
    assert main(["explain", str(site / "_site/actoins/index.html")]) == 2
    assert "did you mean actions/index.html?" in capsys.readouterr().err
    write_memo(tmp_path / "memos/inbox", "one")
    build_site(tmp_path)
    assert main(["explain", str(page), "--site", str(tmp_path)]) == 2
    assert "no file that the last build made" in capsys.readouterr().err
    other = shutil.copytree(site, site.parent / "with-two", ignore=shutil.ignore_patterns("_site", ".memosite"))
    (other / "memosite.yml").write_text("outputs: {internal: built/inside, public: built/outside}\n")
    for audience, folder in (("internal", "inside"), ("public", "outside")):
        build_site(other, "--audience", audience)
        assert main(["explain", str(other / f"built/{folder}/memos/{FIRST}/index.html")]) == 0
        assert f"made as   thread/{FIRST}" in capsys.readouterr().out
    copy = shutil.copytree(site / "_site", site.parent / "elsewhere/copied")
    assert main(["cite", str(copy / f"memos/{FIRST}/index.html")]) == 0
    assert "Is the gate green?" in capsys.readouterr().out
    assert main(["explain", str(copy / "actions/index.html")]) == 2
    memo = site / f"_site/memos/{SECOND}/index.html"
    (thread,) = (site / "_site/threads").glob("*/index.html")
    address = f"https://memos.example/threads/{thread.parent.name}/"
    named = [(command, memo) for command in ("show", "thread", "cite")]
    for words in (*named, ("thread", thread), ("thread", address, "--site", site)):
        assert main(list(map(str, words))) == 0
        assert "gate is green" in capsys.readouterr().out.lower()
