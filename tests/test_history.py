"""The life of files: what the history of real repos, made on the fly, tells of memos (SPEC 2.3)."""

import json
import shutil
from pathlib import Path

import pytest

from memosite.archive.history import file_key
from memosite.archive.model import Archive, Memo
from memosite.facts.file import File
from memosite.facts.parsed import FileFacts
from memosite.reading.screen import Screen
from memosite.resolve.lives import Lives
from memosite.sources.folder import holding_repo, repo_at
from memosite.sources.git import Repo as FoundRepo
from memosite.sources.history import read_history
from memosite.sources.objects import find_commits
from tests.support.lives import KEY, NAME, archive_of, history_of, life, put, words
from tests.support.repos import Repo


def memo(archive: Archive, name: str = NAME) -> Memo:
    """A memo of the archive."""
    found = archive.artifacts["memo", name]
    assert isinstance(found, Memo)
    return found


# One repo


def test_that_a_file_was_not_edited_is_told_without_reading_it(tmp_path: Path) -> None:
    """Of 10,000 files that did not change none is opened for it."""

    def never(_file: FileFacts) -> bytes:
        raise AssertionError

    repo = Repo(tmp_path / "repo")
    path = put(repo)
    repo.commit()
    file = File(source="repo", path=path, data=(repo.root / path).read_bytes()).facts
    found = Lives({"repo": history_of(repo)}, never).of(file)
    assert found is not None
    assert found.state == "committed"


def test_a_memo_is_received_read_and_archived(tmp_path: Path) -> None:
    """Each commit that adds or moves it is a step, with who did it and when."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit("receive", who="Ann")
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    repo.commit("read", who="Bo")
    repo.move(f"memos/read/{NAME}.openthing", f"memos/archive/{NAME}.openthing")
    last = repo.commit("archive", who="Cy")
    assert life(repo) == ["received inbox by Ann", "moved read by Bo", "moved archive by Cy"]
    event = history_of(repo).events[KEY][-1]
    assert event.commit == last
    assert event.at is not None and event.at.utc == "2026-05-01T04:46:40Z"


def test_a_memo_may_be_received_straight_into_read(tmp_path: Path) -> None:
    """No step is made up that no commit shows."""
    repo = Repo(tmp_path / "engine")
    put(repo, "memos/read")
    repo.commit(who="Ann")
    assert life(repo) == ["received read by Ann"]


def test_a_rename_with_an_edit_is_both(tmp_path: Path) -> None:
    """However much was edited: what a file is known by is its name, not its likeness."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit(who="Ann")
    (repo.root / f"memos/inbox/{NAME}.openthing").unlink()
    put(repo, "memos/read", subject="Another thing altogether", body="x" * 5000, to="all")
    repo.commit(who="Bo")
    assert life(repo) == ["received inbox by Ann", "moved read by Bo", "edited read by Bo"]


def test_an_edit_after_receipt_keeps_both_contents(tmp_path: Path) -> None:
    """The ids of the content before and after are those git gives."""
    repo = Repo(tmp_path / "engine")
    path = put(repo)
    repo.commit()
    before = repo.git("rev-parse", f"HEAD:{path}")
    put(repo, body="It is red.")
    repo.commit()
    after = repo.git("rev-parse", f"HEAD:{path}")
    edit = history_of(repo).events[KEY][-1]
    assert (edit.kind, edit.before, edit.after) == ("edited", before, after)


def test_a_removed_file_that_comes_back_is_restored(tmp_path: Path) -> None:
    """Removed and restored are two steps, and it counts as received once."""
    repo = Repo(tmp_path / "engine")
    path = put(repo)
    repo.commit()
    repo.git("rm", "--quiet", path)
    repo.commit()
    put(repo)
    repo.commit()
    assert [one.split()[0] for one in life(repo)] == ["received", "removed", "restored"]


def test_a_revert_is_a_step_like_any_other(tmp_path: Path) -> None:
    """Marking as read is taken back: the memo is in the inbox again."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit()
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    repo.commit()
    repo.git("revert", "--no-edit", "HEAD", who="Bo", at=9)
    assert life(repo)[1:] == ["moved read by Ann Other", "moved inbox by Bo"]


def test_what_a_merge_brings_is_told_with_the_commit_that_made_it(tmp_path: Path) -> None:
    """The merge is named beside it; a merge that changes nothing of it is no step."""
    repo = Repo(tmp_path / "engine")
    repo.write("README.md", "engine")
    repo.write("memos/inbox/README.md", "put memos here")
    repo.commit()
    repo.git("checkout", "--quiet", "-b", "side")
    put(repo)
    made = repo.commit(who="Ann")
    repo.git("checkout", "--quiet", "main")
    repo.write("README.md", "engine, again")
    repo.commit()
    repo.git("merge", "--quiet", "--no-edit", "side", who="Merger", at=9)
    merge = repo.git("rev-parse", "HEAD")
    (event,) = history_of(repo).events[KEY]
    assert (event.who, event.commit, event.merge) == ("Ann", made, merge)
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    repo.commit(at=10)
    assert life(repo) == ["received inbox by Ann", "moved read by Ann Other"]


def test_a_merge_that_drops_the_other_side_leaves_no_trace_of_it(tmp_path: Path) -> None:
    """What never became part of the branch is not in the life of its files."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit(who="Ann")
    repo.git("checkout", "--quiet", "-b", "side")
    put(repo, body="Never mind.")
    repo.commit(who="Bo")
    repo.git("checkout", "--quiet", "main")
    repo.commit()
    repo.git("merge", "--quiet", "--no-edit", "--strategy=ours", "side", at=9)
    assert life(repo) == ["received inbox by Ann"]


def test_a_repo_that_is_tidied_up_keeps_its_lives(tmp_path: Path) -> None:
    """A store that moves into another folder takes the life of its memos along."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit(who="Ann")
    (repo.root / "office").mkdir()
    repo.git("mv", "memos", "office/memos")
    repo.commit(who="Bo")
    assert life(repo, f"office/{KEY}") == ["received inbox by Ann", "moved inbox by Bo"]
    assert life(repo) == []


# The work tree


def test_a_folder_that_had_the_memo_before_keeps_that_life_too(tmp_path: Path) -> None:
    """Received and removed there, then received elsewhere and moved back: all four steps are told."""
    repo = Repo(tmp_path / "engine")
    first = put(repo, "docs/memos/inbox")
    repo.commit(who="Ann")
    repo.git("rm", "--quiet", first)
    repo.commit(who="Bo")
    second = put(repo)
    repo.commit(who="Cy")
    repo.move(second, first)
    repo.commit(who="Di")
    steps = ["received inbox by Ann", "removed inbox by Bo", "received inbox by Cy", "moved inbox by Di"]
    assert life(repo, f"docs/{KEY}") == steps


def test_an_untracked_memo_is_delivered_and_not_yet_received(tmp_path: Path) -> None:
    """Nobody has committed it; git add alone is no receipt."""
    repo = Repo(tmp_path / "engine")
    repo.commit()
    put(repo, "memos")
    for _ in range(2):
        found = memo(archive_of(repo))
        assert found.copies[0].life is not None
        assert (found.copies[0].life.state, found.copies[0].life.events) == ("delivered", ())
        assert found.recipients[0].unread is True
        repo.git("add", "--all")
    repo.commit()
    assert memo(archive_of(repo)).recipients[0].unread is False


def test_what_is_not_committed_counts_and_is_said(tmp_path: Path) -> None:
    """A memo moved or edited in the work tree alone is where it lies, and its life says what is pending."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    put(repo, name=f"{NAME}-too")
    repo.commit()
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    put(repo, name=f"{NAME}-too", body="Edited.")
    archive = archive_of(repo)
    states = [one.life.state for name in (NAME, f"{NAME}-too") for one in memo(archive, name).copies if one.life]
    assert states == ["moved", "edited"]
    assert memo(archive).mailbox == "read"


def test_other_line_ends_in_the_work_tree_are_no_edit(tmp_path: Path) -> None:
    """A checkout may write CRLF; the content is the same."""
    repo = Repo(tmp_path / "engine")
    path = put(repo)
    repo.commit()
    file = repo.root / path
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    (copy,) = memo(archive_of(repo)).copies
    assert copy.life is not None and copy.life.state == "committed"


# Several repos, several builds


def test_two_repos_with_one_memo_tell_two_lives(tmp_path: Path) -> None:
    """A broadcast was read in one repo, and in the other it is still in the inbox."""
    engine, office = Repo(tmp_path / "engine"), Repo(tmp_path / "office")
    for repo, who in ((engine, "Ann"), (office, "Bo")):
        put(repo, to="all")
        repo.commit(who=who)
    engine.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    engine.commit(who="Ann")
    lives = {copy.file.source: copy.life for copy in memo(archive_of(engine, office)).copies}
    told = {source: [words(event) for event in life.events] for source, life in lives.items() if life}
    assert told == {"engine": ["received inbox by Ann", "moved read by Ann"], "office": ["received inbox by Bo"]}


def test_of_two_wordings_the_one_committed_last_is_shown_first(tmp_path: Path) -> None:
    """Whichever source comes first."""
    engine, office = Repo(tmp_path / "engine"), Repo(tmp_path / "office")
    put(engine, body="Old.")
    engine.commit(at=1)
    put(office, body="New.")
    office.commit(at=5)
    for repos in ((engine, office), (office, engine)):
        assert memo(archive_of(*repos)).variants[0].envelope.file.source == "office"


def test_what_was_read_once_is_not_read_again(tmp_path: Path) -> None:
    """The second time only new commits are read, and the outcome is that of reading all."""
    repo, cache = Repo(tmp_path / "engine"), tmp_path / "cache.json"
    put(repo)
    repo.commit(who="Ann")
    assert history_of(repo, cache=cache) == history_of(repo)
    known = json.loads(cache.read_bytes())
    known["who"] = ["From the cache"]
    cache.write_text(json.dumps(known))
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    repo.commit(who="Bo")
    assert life(repo, cache=cache) == ["received inbox by From the cache", "moved read by Bo"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"name": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_cache_costs_only_time(tmp_path: Path, damage: bytes) -> None:
    """It is read again, and written anew."""
    repo, cache = Repo(tmp_path / "engine"), tmp_path / "cache.json"
    put(repo)
    repo.commit()
    cache.write_bytes(damage)
    assert history_of(repo, cache=cache) == history_of(repo)
    assert json.loads(cache.read_bytes())["head"] == repo.git("rev-parse", "HEAD")


def test_a_rebase_between_two_builds_is_noticed(tmp_path: Path) -> None:
    """What was rewritten is read again from the beginning."""
    repo, cache = Repo(tmp_path / "engine"), tmp_path / "cache.json"
    put(repo)
    repo.commit(who="Ann")
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    repo.commit(who="Ann")
    assert len(life(repo, cache=cache)) == 2
    repo.git("commit", "--quiet", "--amend", "--no-edit", "--author=Cy <cy@example.org>", who="Cy", at=7)
    assert life(repo, cache=cache) == ["received inbox by Ann", "moved read by Cy"] == life(repo)
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    assert life(repo, cache=cache) == ["received inbox by Ann"]


def test_a_branch_that_takes_over_another_line_is_read_again(tmp_path: Path) -> None:
    """The old head may come in as a merge's second parent: the branch's own line is then another one."""
    repo, cache = Repo(tmp_path / "engine"), tmp_path / "cache.json"
    repo.write("memos/inbox/README.md", "here")
    repo.commit()
    repo.git("branch", "other")
    put(repo)
    repo.commit(who="Ann")
    assert history_of(repo, cache=cache).events[KEY][0].merge == ""
    repo.git("checkout", "--quiet", "other")
    repo.write("README.md", "other")
    repo.commit()
    repo.git("merge", "--quiet", "--no-edit", "main", at=9)
    repo.git("branch", "--force", "main", "other")
    repo.git("checkout", "--quiet", "main")
    assert history_of(repo, cache=cache) == history_of(repo)
    assert history_of(repo).events[KEY][0].merge != ""


def test_a_merge_is_not_told_with_a_commit_that_an_earlier_one_brought(tmp_path: Path) -> None:
    """What a merge put back by itself is its own work, whether the rest comes from the cache or is read again."""
    repo, cache = Repo(tmp_path / "engine"), tmp_path / "cache.json"
    repo.write("README.md", "here")
    repo.commit()
    repo.git("checkout", "--quiet", "-b", "one")
    path = put(repo)
    repo.commit(who="Cass")
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", "one", at=5)
    repo.git("rm", "--quiet", path)
    repo.commit(who="Bo", at=6)
    history_of(repo, cache=cache)
    repo.git("checkout", "--quiet", "-b", "two")
    repo.write("README.md", "there")
    repo.commit(at=7)
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "--no-commit", "two")
    put(repo)
    repo.commit(who="Eve", at=8)
    assert life(repo)[-1] == "restored inbox by Eve"
    assert history_of(repo, cache=cache) == history_of(repo)


def test_a_cache_that_came_along_with_a_clone_is_not_believed(tmp_path: Path) -> None:
    """It may tell anything; what is kept counts only for the folder it was made for."""
    repo, cache = Repo(tmp_path / "engine"), tmp_path / "cache.json"
    put(repo)
    repo.commit(who="Ann")
    history_of(repo, cache=cache)
    cache.write_text(cache.read_text().replace("Ann", "Eve"))
    repo.root.rename(tmp_path / "theirs")
    shutil.copytree(tmp_path / "theirs", repo.root)
    assert life(repo, cache=cache) == ["received inbox by Ann"]


@pytest.mark.parametrize("place", range(8))
def test_a_cache_with_a_wrong_value_in_it_is_not_used(tmp_path: Path, place: int) -> None:
    """Neither a list where a text should be, nor an id that is none, nor a step that does not exist."""
    repo, cache = Repo(tmp_path / "engine"), tmp_path / "cache.json"
    path = put(repo)
    repo.commit()
    history_of(repo, cache=cache)
    good = json.loads(cache.read_bytes())
    wrongs: tuple[object, ...] = (["x"], "\u00e9", {})
    for wrong in wrongs:
        step = list(good["events"][KEY][0])
        step[place] = wrong
        if place != 4 or wrong != "\u00e9":
            cache.write_text(json.dumps({**good, "events": {KEY: [step]}}))
            assert history_of(repo, cache=cache) == history_of(repo)
    cache.write_text(json.dumps({**good, "events": {KEY: []}}))
    assert [event.path for event in history_of(repo, cache=cache).events[KEY]] == [path]


def test_settings_that_bend_what_git_tells_do_not_count(tmp_path: Path) -> None:
    """Grafted parents and another encoding of what is printed."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit()
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    grafted = repo.commit()
    put(repo, name=f"{NAME}-too")
    repo.commit()
    plain = history_of(repo)
    (repo.root / ".git/info/grafts").write_text(f"{grafted}\n")
    assert history_of(repo) == plain
    repo.git("config", "i18n.logOutputEncoding", "UTF-16")
    assert history_of(repo) == plain


def test_a_branch_called_like_a_commit_is_none(tmp_path: Path) -> None:
    """A text that writes `abcdef1` means a commit that begins so."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    commit = repo.commit()
    repo.git("branch", "abcdef1")
    found = repo_at(repo.root)
    assert isinstance(found, FoundRepo)
    assert find_commits(found, ["abcdef1", commit[:9]]) == {commit[:9]: commit}


# What git cannot tell


def test_without_git_nothing_is_made_up(tmp_path: Path) -> None:
    """No steps, no dates, and the reason in words."""
    repo = Repo(tmp_path / "engine", is_new=False)
    put(repo, "memos")
    found = memo(archive_of(repo))
    assert found.copies[0].life is not None
    assert found.copies[0].life.why_not == "it is not a git repo"
    assert (found.copies[0].received, found.recipients[0].unread) == (None, None)


def test_a_repo_without_a_commit_has_no_history_yet(tmp_path: Path) -> None:
    """All in it is delivered, and not received."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    history = history_of(repo)
    assert (history.why_not, history.tree) == ("the repo has no commit yet", {})
    (copy,) = memo(archive_of(repo)).copies
    assert copy.life is not None and copy.life.state == "delivered"


def test_a_shallow_clone_has_no_history(tmp_path: Path) -> None:
    """Its first commit adds everything; taking that for receipt would be a date made up."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit()
    repo.commit()
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.root}", str(tmp_path / "clone"))
    (copy,) = memo(archive_of(Repo(tmp_path / "clone", is_new=False))).copies
    assert copy.life is not None
    assert (copy.life.why_not, copy.life.events) == ("the clone is shallow: its first commits are missing", ())
    assert copy.life.state == "committed"


def test_a_repo_that_merely_encloses_the_site_does_not_count(tmp_path: Path) -> None:
    """Unless the configuration says so, and then paths are those of the source."""
    outer = Repo(tmp_path / "outer")
    inner = Repo(tmp_path / "outer/site/engine", is_new=False)
    put(inner)
    outer.commit(who="Ann")
    (copy,) = memo(archive_of(inner, site=tmp_path / "outer/site")).copies
    assert copy.life is not None
    assert copy.life.why_not == "it is a folder inside another repo; set history: enclosing to use that one"
    holding = holding_repo(inner.root, site=tmp_path / "outer/site", enclosing=True)
    assert holding.repo is not None and holding.prefix == "site/engine/"
    assert list(read_history(holding.repo, Screen().names, prefix=holding.prefix).events) == [KEY]


def test_a_source_below_a_repo_of_the_site_has_that_history(tmp_path: Path) -> None:
    """A source may be a folder of a repo that lies at or below the site."""
    outer = Repo(tmp_path / "site")
    inner = Repo(tmp_path / "site/engine", is_new=False)
    put(inner)
    outer.commit(who="Ann")
    (copy,) = memo(archive_of(inner, site=tmp_path / "site")).copies
    assert copy.life is not None
    assert [words(event) for event in copy.life.events] == ["received inbox by Ann"]


def test_a_submodule_inside_a_source_has_a_history_of_its_own(tmp_path: Path) -> None:
    """The outer repo knows nothing of its files, and says so."""
    part, outer = Repo(tmp_path / "part"), Repo(tmp_path / "outer")
    put(part)
    part.commit()
    outer.git("submodule", "--quiet", "add", f"file://{part.root}", "teams/part")
    outer.commit()
    (copy,) = memo(archive_of(outer)).copies
    assert copy.life is not None and copy.life.why_not == "it is in a repo inside the source's repo"
    inside = Repo(tmp_path / "outer/teams/part", is_new=False)
    (copy,) = memo(archive_of(inside)).copies
    assert copy.life is not None and [event.kind for event in copy.life.events] == ["received"]


def test_a_repo_put_into_a_source_has_a_history_of_its_own(tmp_path: Path) -> None:
    """Also where it is no submodule: its files are not taken for delivered ones."""
    outer = Repo(tmp_path / "outer")
    outer.commit()
    inside = Repo(tmp_path / "outer/teams/part")
    put(inside, "memos")
    inside.commit()
    (copy,) = memo(archive_of(outer)).copies
    assert copy.life is not None and copy.life.why_not == "it is in a repo inside the source's repo"


def test_a_further_work_tree_has_the_history_of_its_branch(tmp_path: Path) -> None:
    """Git made its .git file, and the repo knows it."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit(who="Ann")
    repo.git("worktree", "add", "--quiet", "-b", "branch", str(tmp_path / "tree"))
    tree = Repo(tmp_path / "tree", is_new=False)
    tree.hours = 5
    tree.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    tree.commit(who="Bo")
    assert life(tree) == ["received inbox by Ann", "moved read by Bo"]
    assert life(repo) == ["received inbox by Ann"]


def test_a_repo_of_sha_256_is_read_like_any_other(tmp_path: Path) -> None:
    """Ids are longer, and the state of the work tree is compared in that hash."""
    repo = Repo(tmp_path / "engine", "--object-format=sha256")
    put(repo)
    repo.commit(who="Ann")
    (copy,) = memo(archive_of(repo)).copies
    assert copy.life is not None and copy.life.state == "committed"
    assert len(copy.life.events[0].commit) == 64


def test_a_repo_that_git_cannot_read_says_so(tmp_path: Path) -> None:
    """A damaged repo stops no build."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit()
    for file in sorted((repo.root / ".git/objects").rglob("*")):
        if file.is_file():
            file.chmod(0o644)
            file.write_bytes(b"")
    (copy,) = memo(archive_of(repo)).copies
    assert copy.life is not None and copy.life.why_not == "its HEAD leads to a missing commit"


def test_a_damaged_configuration_costs_nothing(tmp_path: Path) -> None:
    """Git does not read it."""
    repo = Repo(tmp_path / "engine")
    put(repo)
    repo.commit()
    (repo.root / ".git/config").write_text("no configuration [[[\n")
    assert history_of(repo).why_not == "" and life(repo)


# Names


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("memos/inbox/a.openthing", "memos/a.openthing"),
        ("memos/a.openthing", "memos/a.openthing"),
        ("docs/comms/archive/a.body.md", "docs/comms/a.body.md"),
        ("a.openthing", "a.openthing"),
        ("inbox/a.openthing", "a.openthing"),
        ("notes/engineer/a.openthing", "notes/engineer/a.openthing"),
    ],
)
def test_a_file_is_known_by_its_folder_without_the_mailbox(path: str, key: str) -> None:
    """So that it is one file wherever it is moved to."""
    assert file_key(path) == key


def test_odd_names_and_people_are_read_as_they_are(tmp_path: Path) -> None:
    """Line breaks in paths, separators in names of people, letters that are not ASCII."""
    repo = Repo(tmp_path / "engine")
    name = "2026-05-01-0100--ä\n\x01b--c"
    put(repo, name=name)
    repo.commit(who="Zoë \x1f O'Neil\t(desk)")
    assert life(repo, f"memos/{name}.openthing") == ["received inbox by Zoë O'Neil (desk)"]
