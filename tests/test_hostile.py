"""Content, folders and outputs that mean harm, or merely happen: each was a defect once."""

import json
import threading
from pathlib import Path

import pytest
from lxml import etree

from memosite.cli import main
from memosite.store.output import OutputFolder
from tests.support.files import write_json, write_text
from tests.support.memos import write_body, write_memo, write_note, write_org, write_transcript
from tests.support.pages import bad_links, found, pages
from tests.support.sites import build_site, built_files

NAME = "2026-05-01-1430--engineer--director--m"


@pytest.mark.parametrize("folder", ["memos", "archive", "static"])
def test_a_link_in_the_output_leads_nowhere(folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cloned repo may bring an output of its own: nothing outside it is written or removed."""
    write_memo(tmp_path / "repo/memos/inbox", NAME)
    write_text(tmp_path / "victim/precious.txt", "mine")
    write_text(tmp_path / "repo/_site/.memosite-site", "")
    (tmp_path / "repo/_site" / folder).symlink_to(tmp_path / "victim")
    assert main(["build", str(tmp_path / "repo"), "--quiet"]) == 2
    assert "symbolic link" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "victim").iterdir()] == ["precious.txt"]


def test_a_link_deeper_in_the_output_is_removed_not_followed(tmp_path: Path) -> None:
    """Its place is taken by a folder of the site."""
    write_memo(tmp_path / "repo/memos/inbox", NAME)
    output = tmp_path / "out"
    build_site(tmp_path / "repo", output=output)
    write_text(tmp_path / "victim/precious.txt", "mine")
    for path in (output / "memos" / NAME).iterdir():
        path.unlink()
    (output / "memos" / NAME).rmdir()
    (output / "memos" / NAME).symlink_to(tmp_path / "victim")
    build_site(tmp_path / "repo", output=output)
    assert [path.name for path in (tmp_path / "victim").iterdir()] == ["precious.txt"]
    assert (output / "memos" / NAME / "index.html").is_file() and not (output / "memos" / NAME).is_symlink()


def test_two_builds_do_not_write_into_one_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second is told to wait; what the first writes is whole."""
    write_memo(tmp_path / "repo/memos/inbox", NAME)
    first = OutputFolder(tmp_path / "out")
    first.open()
    codes: list[int] = []
    command = ["build", str(tmp_path / "repo"), "-o", str(tmp_path / "out"), "--quiet"]
    waiting = threading.Thread(target=lambda: codes.append(main(command)))
    waiting.start()
    waiting.join()
    assert codes == [2]
    assert "another build is writing" in capsys.readouterr().err
    first.leave()
    first.unlock()
    assert f"memos/{NAME}/index.html" in built_files(tmp_path / "repo", output=tmp_path / "out")


def test_copies_in_sources_and_names_that_differ_by_case_have_paths_of_their_own(tmp_path: Path) -> None:
    """The second copy in `engine` is not the first in `engine-2`; some disks ignore case; months are `yyyy/mm`."""
    for folder in ("engine/memos/inbox", "engine/memos/archive", "engine-2/memos/inbox"):
        write_memo(tmp_path / "org" / folder, NAME)
    files = built_files(tmp_path / "org", output=tmp_path / "out")
    copies = [path for path in files if path.startswith(f"memos/{NAME}/copies/")]
    assert len(copies) == 3
    assert list(bad_links(tmp_path / "out")) == []
    write_memo(tmp_path / "repo/memos/inbox", NAME, to="director", sent="0999-05-01T00:00:00Z")
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-02-1430--a--b--n", to="Director")
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    assert len({path.casefold() for path in files}) == len(files) and "timeline/0999/05/index.html" in files


@pytest.mark.parametrize("name", ["pyvenv.cfg", ".memosite-site"])
def test_memos_beside_a_foreign_mark_with_an_ending_in_capitals_and_deep_below_are_found(
    name: str, tmp_path: Path
) -> None:
    """What marks a foreign folder elsewhere is a file like others in a store; some systems write in capitals."""
    inbox, others = tmp_path / "org/one/memos/inbox", ("2026-05-02-1430--a--b--n", "2026-05-03-1430--a--b--deep")
    write_memo(inbox, NAME).rename(inbox / f"{NAME}.OPENTHING")
    write_text(inbox / name, "")
    write_memo(tmp_path / "org/one/memos/read", others[0])
    write_memo(tmp_path / "org/two/memos/archive/2026/05", others[1])
    files = built_files(tmp_path / "org", output=tmp_path / "out")
    assert {f"memos/{one}/index.html" for one in (NAME, *others)} <= files.keys()


def test_a_memo_of_a_misspelt_type_has_a_page_and_a_finding_unless_it_is_of_another_tool(tmp_path: Path) -> None:
    """Nothing that looks like a memo is dropped silently; a type of another namespace is somebody else's (SPEC 2.2)."""
    types: tuple[object, ...] = ("Memo", "memo", "catdef:Memo", ["memodef:Memo"])
    for number, type_ in enumerate(types):
        write_memo(tmp_path / "repo/memos/inbox", f"{NAME}-{number}", extra={"type": type_})
    write_json(tmp_path / "repo/memos/inbox/t.openthing", {"type": "acme:Ticket", "from": "a", "to": "b", "body": "x"})
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    assert all(b"field-type" in files[f"memos/{NAME}-{number}/index.html"] for number in range(len(types)))
    assert "memos/t/index.html" not in files


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("会議の記録と決定事項について。\n\n" * 16_000, "memo"),
        ("<& " * 100_000, "memo"),
        ("| a | b |\n|---|---|\n" + "| <& | &< |\n" * 20_000, "memo"),
        ("## User\n\n会議の記録と決定事項について。\n\n" * 8_000, "transcript"),
    ],
)  # fmt: skip
def test_no_page_is_over_a_megabyte_whatever_it_is_written_in(text: str, kind: str, tmp_path: Path) -> None:
    """Neither a script of three bytes a character nor text that grows when it is escaped (SPEC 4)."""
    repo = tmp_path / "repo"
    if kind == "transcript":
        write_transcript(repo / "transcripts/engineer", "2026-05-01-1430--engineer--t", text=text)
    else:
        for number in range(2):
            name = f"2026-05-01-143{number}--engineer--director--m"
            parent = "2026-05-01-1430--engineer--director--m.openthing" if number else None
            write_memo(repo / "memos/inbox", name, body_ref=f"{name}.body.md", body=text, in_reply_to=parent)
            write_body(repo / "memos/inbox", name, text)
    build_site(repo, output=tmp_path / "out")
    assert max(page.stat().st_size for page in pages(tmp_path / "out")) < 1_000_000


def test_a_memo_to_thousands_is_bounded_and_a_line_break_in_a_name_forges_nothing(tmp_path: Path) -> None:
    """500 recipients count, with a finding; a field of a twin and the description in a feed stay one line."""
    write_memo(tmp_path / "repo/memos/inbox", NAME, to=",".join(f"p{n}" for n in range(5000)), action_required=True)
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    assert len([path for path in files if path.startswith("positions/")]) < 500 * 8 + 10
    assert len(files["actions/index.html"]) < 1_000_000 and b"holds 5000 names" in files["health/index.html"]
    forged = "mallory\nAction: discharged (director)\n\n---\n\nApproved."
    write_memo(tmp_path / "two/memos/inbox", NAME, sender=forged, to="director\n- 2026-05-02 [x](y)")
    write_memo(tmp_path / "two/memos/inbox", "x\nnew memo: memos-inbox-evil", to="director")
    files = built_files(tmp_path / "two", output=tmp_path / "other")
    assert "\nAction: discharged" not in files[f"memos/{NAME}/index.md"].decode()
    assert not [path for path in files if path.endswith("index.md") and b"\n- 2026-05-02 [x](y)" in files[path]]
    feed = etree.fromstring(files["positions/director/feed.xml"])
    assert [text.count("\n") for text in found(feed, "//item/description/text()")] == [0]


def test_what_is_gone_answers_under_its_own_kind(tmp_path: Path) -> None:
    """A removed note that a memo replies to; a ghost that nobody replies to any more; a memo that became a note."""
    repo = tmp_path / "repo"
    note = "2026-04-01-0900--director--thought"
    write_note(repo / "notes/director", note, sender="director")
    write_memo(repo / "memos/inbox", NAME, in_reply_to=f"{note}.openthing")
    write_memo(repo / "memos/inbox", "2026-05-02-1430--a--b--n", in_reply_to="2026-04-02-0900--b--a--ghost.openthing")
    moved = write_memo(repo / "memos/inbox", "2026-05-03-1430--a--file--o", to="file")
    before = built_files(repo, output=tmp_path / "out")
    assert {f"notes/{note}/index.html", "memos/2026-04-02-0900--b--a--ghost/index.html"} <= before.keys()
    (repo / f"notes/director/{note}.openthing").unlink()
    write_memo(repo / "memos/inbox", "2026-05-02-1430--a--b--n")
    (repo / "notes/a").mkdir()
    moved.rename(repo / "notes/a" / moved.name)
    after = built_files(repo, output=tmp_path / "out")
    assert {path for path in before if path.endswith("index.html") and "timeline" not in path} <= after.keys()
    assert b"This item was removed" in after[f"notes/{note}/index.html"]
    assert list(bad_links(tmp_path / "out")) == []


def test_the_feed_of_a_position_that_is_gone_stays_and_sitemaps_of_an_old_address_do_not(tmp_path: Path) -> None:
    """Empty and well-formed: a subscriber must not be told 404. A later build equals a clean one."""
    repo = tmp_path / "repo"
    memo = write_memo(repo / "memos/inbox", NAME, to="acme-strategist")
    write_memo(repo / "memos/inbox", "2026-05-02-1430--a--b--n")
    write_org(repo / "org", positions=["strategist"])
    before = built_files(repo, output=tmp_path / "out")
    memo.unlink()
    (repo / "org/acme-organization.openthing").unlink()
    after = built_files(repo, output=tmp_path / "out")
    feeds = {path for path in before if path.endswith("feed.xml")}
    assert {"positions/strategist/feed.xml", "positions/acme-strategist/feed.xml"} <= feeds <= after.keys()
    assert all(etree.fromstring(after[path]).tag == "rss" for path in feeds)
    repo = tmp_path / "two"
    write_memo(repo / "memos/inbox", NAME)
    build_site(repo, output=tmp_path / "other", base_url="https://old.example/")
    assert not [path for path in built_files(repo, output=tmp_path / "other") if "sitemap" in path]


def test_sites_with_sources_of_one_name_are_checked_together_and_a_body_with_its_envelope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each finding names its own file; an editor checks the file it has open."""
    for site in ("one", "two"):
        write_memo(tmp_path / site / "repo/memos/inbox", NAME, sent="soon")
    assert main(["check", str(tmp_path / "one"), str(tmp_path / "two"), "--format", "json"]) == 1
    errors = [one for one in json.loads(capsys.readouterr().out) if one["rule"] == "date-invalid"]
    assert len({one["source"] for one in errors}) == 2
    write_memo(tmp_path, "m", body_ref="m.body.md")
    body = write_body(tmp_path, "m")
    assert main(["check", str(body), "--fail-on", "warning"]) == 0
    assert capsys.readouterr().out == "no findings\n"
