"""A file whose name was corrected stays what it is: its receipt, its citations, its thread (SPEC 2.3 and 3)."""

import json
import re
from pathlib import Path

import pytest

from memosite.cli import main
from memosite.facts.parsed import Discharge
from memosite.feeds.document import ReceivedItem
from memosite.watch.state import FeedState, open_state
from tests.support.archives import memo, rules_found
from tests.support.files import write_json
from tests.support.lives import archive_of, history_of, life, words
from tests.support.memos import send, write_body, write_transcript
from tests.support.pages import bad_links
from tests.support.repos import Repo
from tests.support.sites import build_site, tree_bytes
from tests.support.watches import watch

WRONG = "2026-05-01-0100--engineer--director--harbuor"
RIGHT = "2026-05-01-0100--engineer--director--harbour"
ANSWER = "2026-05-01-0500--director--engineer--re-harbour"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repo of a site with a memo whose name is wrong."""
    repo = Repo(tmp_path / "quay")
    send(repo.root / "memos/inbox", WRONG)
    repo.commit(who="Ann")
    return repo


def rename(repo: Repo, *, ending: str = ".openthing", box: str = "inbox") -> None:
    """Correct the name in git."""
    repo.move(f"memos/inbox/{WRONG}{ending}", f"memos/{box}/{RIGHT}{ending}")


def leads_to(site: Path, page: str) -> str | None:
    """Where a page leads on to."""
    match = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', (site / page / "index.html").read_text())
    return match[1] if match else None


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_memo_whose_name_is_corrected_keeps_its_receipt(repo: Repo, tmp_path: Path, *, is_committed: bool) -> None:
    """Its former address leads to it, whether a build published that or not, and when git has forgotten it, too."""
    published = build_site(tmp_path, output=tmp_path / "published")
    rename(repo)
    if is_committed:
        repo.commit(who="Bo")
    archive = archive_of(repo)
    (copy,) = memo(archive, RIGHT).copies
    assert copy.life is not None and copy.received is not None
    assert copy.received.utc == "2026-05-01T02:46:40Z"
    told = ["received inbox by Ann", "renamed inbox by Bo"]
    assert [words(event) for event in copy.life.events] == (told if is_committed else told[:1])
    assert copy.life.state == ("committed" if is_committed else "moved")
    assert archive.removed == {}
    for output in (published, tmp_path / "fresh"):
        build_site(tmp_path, output=output)
        assert leads_to(output, f"memos/{WRONG}") == f"../{RIGHT}/index.html"
        assert list(bad_links(output)) == []
    assert json.loads((published / f"memos/{WRONG}/index.json").read_text())["moved"] == f"../{RIGHT}/index.html"
    repo.commit()
    (repo.root / ".git").rename(tmp_path / "elsewhere")
    build_site(tmp_path, output=published)
    assert leads_to(published, f"memos/{WRONG}") == f"../{RIGHT}/index.html"


def test_names_are_followed_on_branches_and_over_several_steps(repo: Repo) -> None:
    """Also into another mailbox; what goes back to its first name has its whole history again."""
    repo.git("checkout", "--quiet", "-b", "spelling")
    rename(repo, box="read")
    repo.commit(who="Bo")
    repo.git("checkout", "--quiet", "main")
    repo.commit("other work")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "spelling", at=9)
    told = ["received inbox by Ann", "renamed read by Bo", "moved read by Bo"]
    assert life(repo, f"memos/{RIGHT}.openthing") == told
    repo.hours = 9
    repo.move(f"memos/read/{RIGHT}.openthing", f"memos/read/{WRONG}.openthing")
    repo.commit(who="Cy")
    assert life(repo, f"memos/{WRONG}.openthing") == [*told, "renamed read by Cy"]
    assert life(repo, f"memos/{RIGHT}.openthing") == []
    assert memo(archive_of(repo), WRONG).former == (RIGHT,)


def test_what_could_be_several_or_was_edited_is_not_guessed(repo: Repo) -> None:
    """Two that say the same, or one with other words, are removed, and others are received."""
    path = repo.root / f"memos/inbox/{WRONG}.openthing"
    for name in ("one", "two"):
        repo.write(f"memos/inbox/{name}.openthing", path.read_text())
    path.unlink()
    repo.commit(who="Bo")
    assert life(repo, "memos/one.openthing") == life(repo, "memos/two.openthing") == ["received inbox by Bo"]
    repo.git("rm", "--quiet", "memos/inbox/two.openthing")
    send(repo.root / "memos/inbox", RIGHT, body="Quite another text.")
    repo.commit(who="Cy")
    assert life(repo, f"memos/{RIGHT}.openthing") == ["received inbox by Cy"]
    assert set(archive_of(repo).removed) == {("memo", WRONG), ("memo", "two")}


def test_a_copy_of_what_is_still_there_has_not_its_history(repo: Repo) -> None:
    """Of a file that is no memo, and is not read; nor is a draft that became a body an edit after receipt."""
    text = (repo.root / f"memos/inbox/{WRONG}.openthing").read_text()
    repo.write(f"templates/{WRONG}.openthing", text)
    repo.write("draft.md", "A draft.\n")
    repo.commit()
    repo.write("draft.md", "A story.\n")
    repo.git("rm", "--quiet", f"memos/inbox/{WRONG}.openthing")
    repo.commit()
    repo.write(f"memos/inbox/{RIGHT}.openthing", text)
    (copy,) = memo(archive_of(repo), RIGHT).copies
    assert copy.life and (copy.life.state, copy.life.events) == ("delivered", ())
    repo.move("draft.md", f"memos/inbox/{RIGHT}.body.md")
    repo.commit(who="Cy")
    (copy,) = memo(archive_of(repo), RIGHT).copies
    assert copy.life and [words(event) for event in copy.life.events] == ["received inbox by Cy"]


def test_an_envelope_goes_with_its_body(repo: Repo) -> None:
    """A `body_ref` is corrected with the name, so that only the body keeps its content."""
    talk, corrected = "2026-05-01-0200--engineer--tlak", "2026-05-01-0200--engineer--talk"
    write_transcript(repo.root / "transcripts/engineer", talk)
    send(repo.root / "memos/inbox", WRONG, body_ref=f"{WRONG}.body.md")
    write_body(repo.root / "memos/inbox", WRONG, "A long story.\n")
    repo.commit(who="Bo")
    for folder, old, new in (("memos/inbox", WRONG, RIGHT), ("transcripts/engineer", talk, corrected)):
        for ending in (".openthing", ".body.md"):
            repo.move(f"{folder}/{old}{ending}", f"{folder}/{new}{ending}")
        envelope = repo.root / f"{folder}/{new}.openthing"
        envelope.write_text(envelope.read_text().replace(f"{old}.body.md", f"{new}.body.md"))
    repo.commit(who="Cy")
    archive = archive_of(repo)
    assert memo(archive, RIGHT).former == (WRONG,)
    assert archive.artifacts["transcript", corrected].former == (talk,)
    assert archive.removed == {}


def test_replies_and_citations_by_the_former_name_mean_the_memo(
    repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reply is in its thread, whose former address leads on; a citation holds, and a command finds it."""
    send(repo.root / "memos/inbox", ANSWER, in_reply_to=f"{WRONG}.openthing")
    repo.commit()
    output = build_site(tmp_path, base_url="https://quay.example/")
    assert main(["cite", f"memo/{WRONG}", "--site", str(tmp_path), "--format", "markdown"]) == 0
    (tmp_path / "citing.md").write_text(capsys.readouterr().out)
    rename(repo)
    repo.commit()
    build_site(tmp_path, base_url="https://quay.example/")
    for place in (tmp_path, output):
        assert main(["verify", str(tmp_path / "citing.md"), "--site", str(place)]) == 0
    archive = archive_of(repo)
    assert memo(archive, ANSWER).parent == ("memo", RIGHT)
    assert archive.ghosts == {}
    closing = archive_of(repo, closed={WRONG: Discharge(on="2026-05-20", by="director")})
    assert memo(closing, RIGHT).discharge and "closed-unknown" not in rules_found(closing)
    assert leads_to(output, f"threads/{WRONG}") == f"../{RIGHT}/index.html"


def test_what_is_removed_under_another_name_is_known_by_both(repo: Repo, tmp_path: Path) -> None:
    """Home tells of it once."""
    send(repo.root / "memos/inbox", ANSWER)
    rename(repo)
    repo.commit()
    repo.git("rm", "--quiet", f"memos/inbox/{RIGHT}.openthing")
    repo.commit()
    output = build_site(tmp_path)
    for name in (WRONG, RIGHT):
        assert "This item was removed" in (output / f"memos/{name}/index.html").read_text()
    assert WRONG not in (output / "index.html").read_text()


def test_documents_keep_their_history_and_lead_on(repo: Repo, tmp_path: Path) -> None:
    """A decision gets another name, or another folder."""
    repo.write("decisions/0001-crame.md", "# Crane\n\nStatus: accepted\n")
    repo.commit(who="Bo")
    output = build_site(tmp_path)
    repo.move("decisions/0001-crame.md", "docs/adr/0001-crane.md")
    repo.commit(who="Cy")
    build_site(tmp_path)
    assert leads_to(output, "documents/quay.decisions.0001-crame.md") == "../quay.docs.adr.0001-crane.md/index.html"
    assert [words(one) for one in history_of(repo).events["docs/adr/0001-crane.md"]] == [
        "received flat by Bo", "renamed flat by Cy",
    ]  # fmt: skip


def test_a_record_that_is_called_like_its_file_leads_on(repo: Repo, tmp_path: Path) -> None:
    """What a memory-layer keeps has no other id; a note that is archived there has another, too."""
    folder = ".claude/memory/context"
    said = {"meta": {"created": "2026-05-01T09:00:00Z", "category": "context", "summary": "Tides"}, "content": "High."}
    write_json(repo.root / folder / "tieds.json", said)
    repo.commit()
    output = build_site(tmp_path)
    repo.move(f"{folder}/tieds.json", f"{folder}/tides.json")
    repo.commit()
    build_site(tmp_path)
    records = "records/memory-layer/quay"
    assert leads_to(output, f"{records}.context.tieds") == "../quay.context.tides/index.html"
    repo.move(f"{folder}/tides.json", ".claude/memory/archive/context/tides.json")
    repo.commit()
    build_site(tmp_path)
    for name in ("tieds", "tides"):
        assert leads_to(output, f"{records}.context.{name}") == "../quay.archive.context.tides/index.html"


def test_watch_does_not_announce_a_memo_again_under_another_name(repo: Repo, tmp_path: Path) -> None:
    """The feed says under which ids it was before; who has not seen these sees a new memo."""
    output = build_site(tmp_path)
    feed, seen, late = output / "positions/director/feed.xml", tmp_path / "seen.sqlite", tmp_path / "late.sqlite"
    announced = watch(feed, "--once", "--since", "all", "--state", seen, folder=tmp_path).stdout
    assert announced == f"new memo: memos/inbox/{WRONG}.openthing\n"
    rename(repo)
    send(repo.root / "memos/inbox", "2026-05-02-0100--engineer--director--new")
    repo.commit()
    build_site(tmp_path)
    new = "new memo: memos/inbox/2026-05-02-0100--engineer--director--new.openthing\n"
    assert watch(feed, "--once", "--state", seen, folder=tmp_path).stdout == new
    assert RIGHT in watch(feed, "--once", "--since", "all", "--state", late, folder=tmp_path).stdout


def test_a_memo_that_still_waits_is_announced_once_by_its_new_name(tmp_path: Path) -> None:
    """It keeps its place and its tries; the former guid stays known, should a server show an older feed again."""
    state = open_state(tmp_path / "state.sqlite")
    feed = FeedState(address="feed")
    a, other = ReceivedItem(guid="a", path="a"), ReceivedItem(guid="z", path="z")
    b, c = (ReceivedItem(guid=one, path=one, memo=(("former", said),)) for one, said in (("b", "a"), ("c", "a b")))
    state.commit(feed, [(a, "pending"), (other, "pending")], 1.0)
    for item in (b, c, a, c):
        assert (item, "pending") not in state.commit(feed, [(item, "pending")], 2.0)
    assert [one.item.guid for one in state.pending("feed", 9)] == ["c", "z"]
    assert state.unknown("feed", ["a", "b", "c", "d"]) == {"d"}
    state.close()


def test_the_former_name_of_what_is_withheld_is_in_no_public_file(repo: Repo, tmp_path: Path) -> None:
    """Marked, then renamed, as the guide advises; also if another memo mentions the former name."""
    send(repo.root / "memos/inbox", WRONG, extra={"x.legal.confidentiality": "restricted"})
    send(repo.root / "memos/inbox", ANSWER, body=f"As {WRONG}.openthing says.")
    repo.commit()
    rename(repo)
    repo.commit()
    output = build_site(tmp_path, "--audience", "public")
    assert (output / f"memos/{ANSWER}/index.html").exists()
    assert all(name.encode() not in file for file in tree_bytes(output).values() for name in (WRONG, RIGHT))


def test_what_is_erased_by_its_former_id_is_erased(repo: Repo, tmp_path: Path) -> None:
    """It was published by that; whoever corrects the name afterwards does not bring it back."""
    (tmp_path / "memosite.yml").write_text(f"erase: [{{id: {WRONG}, why: a wish, on: 2026-05-20}}]\n")
    rename(repo)
    repo.commit()
    output = build_site(tmp_path)
    assert "a wish" in (output / f"memos/{RIGHT}/index.html").read_text()
    assert all(f"The text of {WRONG}".encode() not in file for file in tree_bytes(output).values())
