"""What pages tell of lives in git: life lines, changes, tombstones, the delivery audit, addresses that stay."""

import json
import random
from pathlib import Path

import pytest
from lxml import html

from memosite.commands.diff import diff
from memosite.facts.findings import Finding
from tests.support.lives import NAME, archive_of, commit_memo, put
from tests.support.memos import write_org
from tests.support.pages import bad_links, found
from tests.support.repos import Repo
from tests.support.sites import build_site


def words_of(page: Path) -> str:
    """What a page says, with single spaces."""
    return " ".join(html.parse(page).getroot().text_content().split())


def life_of(site: Path, name: str = NAME) -> list[str]:
    """The steps on the page of a memo, with single spaces."""
    tree = html.parse(site / f"memos/{name}/index.html")
    items = tree.xpath("//ol[@class='life']/li")
    assert isinstance(items, list)
    return [" ".join(item.text_content().split()) for item in items if not isinstance(item, str)]


def findings(rule: str, *repos: Repo) -> list[Finding]:
    """The findings of one rule over some repos."""
    return [finding for finding in archive_of(*repos).findings if finding.rule.id == rule]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """An empty repo of a site."""
    return Repo(tmp_path / "engine")


def test_a_memo_shows_its_life_line(repo: Repo, tmp_path: Path) -> None:
    """Sent, received, read: who, when, how long each step took, and in which commit."""
    received = commit_memo(repo, who="Ann")
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/read/{NAME}.openthing")
    repo.commit(who="Bo <script>")
    steps = life_of(build_site(tmp_path))
    assert steps[0] == "sent by engineer 2026-05-01 01:00 UTC"
    assert steps[1] == f"received by Ann 2026-05-01 02:46 UTC, after 1 hour · {received[:8]}"
    assert steps[2].startswith("read by Bo script 2026-05-01 03:46 UTC, after 1 hour")


def test_histories_of_many_copies_are_summarised_and_missing_ones_are_said(tmp_path: Path) -> None:
    """Of three repos they are shown; of four one line says how many, and the rest folds. Without git it says so."""
    for name in ("boat", "dock", "pier"):
        repo = Repo(tmp_path / name)
        commit_memo(repo, to="all", who="Ann")
    page = build_site(tmp_path) / f"memos/{NAME}/index.html"
    assert html.parse(page).xpath("//div[@class='rest']/section/details") == []
    repo = Repo(tmp_path / "quay")
    commit_memo(repo, to="all", folder="memos/read", who="Bo")
    put(Repo(tmp_path / "yard"), to="all")
    build_site(tmp_path)
    folded = html.parse(page).xpath("//div[@class='rest']/section/details")
    said = [one.findtext("summary") for one in folded]
    assert said == ["Received in 4 of 5 repos, read in 1", "5 files"]
    assert len(folded[0].xpath("h3")) == len(folded[1].xpath("ul/li")) == 5
    repo = Repo(tmp_path / "plain/engine", is_new=False)
    put(repo)
    site = build_site(tmp_path / "plain")
    assert "History not available: it is not a git repo." in words_of(site / f"memos/{NAME}/index.html")
    assert list(bad_links(site)) == []


def test_commits_and_copies_lead_to_the_forge(repo: Repo, tmp_path: Path) -> None:
    """Each step to its commit, a copy to the file as of the commit that put it there, a commit in a text as well."""
    repo.git("remote", "add", "origin", "https://somebody:s3cr3t-word@github.com/acme/engine.git")
    path = put(repo)
    commit = repo.commit()
    text = f"See `{commit[:9]}`, not `123456789`, `deadbeef1` or {commit[:10]}."
    later = commit_memo(repo, name=f"{NAME}-too", body=text)
    site = build_site(tmp_path)
    links = found(html.parse(site / f"memos/{NAME}/index.html"), "//main//a/@href")
    assert f"https://github.com/acme/engine/commit/{commit}" in links
    assert f"https://github.com/acme/engine/blob/{commit}/{path}" in links
    said = html.parse(site / f"memos/{NAME}-too/index.html")
    written = found(said, "//div[contains(@class, 'prose')]//a/@href")
    assert written == [f"https://github.com/acme/engine/commit/{commit}"]
    assert f"https://github.com/acme/engine/blob/{later}/memos/inbox/{NAME}-too.openthing" in found(said, "//a/@href")
    assert all("s3cr3t-word" not in file.read_text() for file in site.rglob("*") if file.is_file())


def test_an_edit_after_receipt_has_a_page_that_shows_it_and_what_was_removed_a_tombstone(
    repo: Repo, tmp_path: Path
) -> None:
    """Line by line, escaped; of a body without envelope once. Who removed it, and when, also if never published."""
    bare, removed = f"{NAME}-bare", f"{NAME}-removed"
    put(repo, body="It is green.")
    repo.write(f"memos/inbox/{bare}.body.md", "Green.\n")
    path = put(repo, name=removed)
    repo.commit(who="Ann")
    put(repo, body="It is <b>red</b>.")
    repo.write(f"memos/inbox/{bare}.body.md", "Red.\n")
    repo.git("rm", "--quiet", path)
    gone = repo.commit(who="Bo")
    site = build_site(tmp_path)
    page = site / f"memos/{NAME}/changes/index.html"
    assert '- "body": "It is green."' in words_of(page)
    assert '+ "body": "It is <b>red</b>."' in words_of(page)
    assert found(html.parse(page), "//b") == []
    tree = html.parse(site / f"memos/{NAME}/index.html")
    assert "changes/index.html#e1" in found(tree, "//ol[@class='life']//a/@href")
    assert "1 edit. As it is now" in words_of(site / f"memos/{bare}/changes/index.html")
    said = words_of(site / f"memos/{removed}/index.html")
    assert "This item was removed" in said
    assert f"removed by Bo 2026-05-01 03:46 UTC, after 1 hour · {gone[:8]}" in said
    assert "removed" in words_of(site / "index.html")
    assert list(bad_links(site)) == []


def test_a_confidential_memo_that_was_removed_is_not_named(repo: Repo, tmp_path: Path) -> None:
    """Its published address says only when it went; nor by diff, if one of two repos had it marked, or in capitals."""
    put(repo, name=f"{NAME}-stays")
    path = put(repo, **{"x.legal.confidentiality": "restricted"})
    repo.commit()
    published = build_site(tmp_path, output=tmp_path / "published")
    repo.git("rm", "--quiet", path)
    repo.commit()
    fresh = build_site(tmp_path, output=tmp_path / "fresh")
    assert not (fresh / f"memos/{NAME}").exists()
    assert all(f'{NAME}"' not in file.read_text() for file in fresh.rglob("*") if file.is_file())
    build_site(tmp_path, output=tmp_path / "published")
    page = published / f"memos/{NAME}/index.html"
    assert "This item was removed" in words_of(page)
    assert NAME not in page.read_text()
    two = tmp_path / "two"
    for number, metadata in enumerate(({}, {"retention_policy": "Confidential"})):
        repo = Repo(two / str(number))
        path = put(repo, metadata=metadata)
        commit_memo(repo, name="2026-05-01-0200--engineer--director--stays", at=0)
        repo.git("rm", "--quiet", path)
        repo.commit(at=80 - number)
    assert diff("2026-05-02..2026-05-30", site=two).gone == ()
    site = build_site(two)
    assert all(NAME.encode() not in file.read_bytes() for file in site.rglob("*") if file.is_file())
    (two / "memosite.yml").write_text('sources: [{path: "0"}]\n')
    assert [state.short_subject for state in diff("2026-05-02..2026-05-30", site=two).gone] == [NAME]


def test_a_name_that_changed_its_case_has_no_tombstone(repo: Repo, tmp_path: Path) -> None:
    """Many a disk and host cannot tell the two pages apart, and the tombstone would stand in the memo's place."""
    commit_memo(repo)
    repo.move(f"memos/inbox/{NAME}.openthing", f"memos/inbox/{NAME.upper()}.openthing")
    repo.commit()
    site = build_site(tmp_path)
    assert [page.name for page in (site / "memos").iterdir()] == [NAME.upper()]


def test_of_many_edits_the_last_ones_are_shown_and_the_rest_counted(repo: Repo, tmp_path: Path) -> None:
    """A step is timed from the one before it, shown or not; no number is that of what is shown alone."""
    for number in range(61):
        commit_memo(repo, body=f"It is {number}.")
    site = build_site(tmp_path)
    assert life_of(site)[0].startswith("sent by engineer")
    assert "2026-05-01 23:46 UTC, after 1 hour ·" in life_of(site)[1]
    assert "21 earlier steps not shown." in words_of(site / f"memos/{NAME}/index.html")
    assert "60 edits, the last 50 shown, oldest first." in words_of(site / f"memos/{NAME}/changes/index.html")


def test_the_home_shows_what_moved_and_a_seat_what_waits_longest(repo: Repo, tmp_path: Path) -> None:
    """Movements count from the last, never from today; what waits counts from when it was sent, as on all pages."""
    asked, old = "2026-03-01-0900--engineer--director--asked", "2026-04-01-0900--engineer--director--old"
    put(repo, name=asked, sent="2026-03-01T09:00:00Z", subject="Asked and answered", action_required=True)
    put(repo, name="2026-03-02-0900--director--engineer--answer", sent="2026-03-02T09:00:00Z", to="engineer",
        **{"from": "director", "in_reply_to": asked})  # fmt: skip
    commit_memo(repo, name=old, sent="2026-04-01T09:00:00Z", subject="Old news", at=0)
    commit_memo(repo, sent="2026-05-20T01:00:00Z", who="Ann", at=24 * 20)
    for number in range(5):  # what is among the newest is not said to have arrived, too
        put(repo, name=f"2026-05-2{number}-0900--engineer--director--new", sent=f"2026-05-2{number}T09:00:00Z")
    site = build_site(tmp_path)
    home = words_of(site / "index.html")
    assert "The gate received by Ann · engine" in home
    assert "Old news received" not in home
    seat = words_of(site / "positions/director/index.html")
    assert "Waiting longest: engineer, since 2026-04-01: Old news" in seat, "it says who waits"


def test_what_deliveries_and_names_get_wrong_is_found(repo: Repo, tmp_path: Path) -> None:
    """To the last commit, not to today; sender's copies are said to be; broadcasts are due in each repo but its own."""
    put(repo)
    repo.hours = 24 * 5
    repo.git("commit", "--quiet", "--allow-empty", "-m", "work")
    assert findings("delivery-uncommitted", repo) == []
    repo.hours = 24 * 8
    repo.git("commit", "--quiet", "--allow-empty", "-m", "work")
    (finding,) = findings("delivery-uncommitted", repo)
    assert finding.message == "sent 2026-05-01; engine was committed to 8 days later, still without it"
    put(repo)
    put(repo, name="2026-05-02-0100--director--engineer--wrong-way")
    put(repo, name="2026-05-02-0100--nobody--noone--fine")
    messages = [finding.message for finding in findings("name-disagrees", repo)]
    assert messages == [
        'the file name has from "director", the envelope "engineer"',
        'the file name has to "engineer", the envelope "director"',
    ]
    office, engine, _ = repos = [Repo(tmp_path / "three" / name) for name in ("office", "engine", "desk")]
    held = (("director", "office"), ("engineer", "engine"), ("clerk", "desk"))
    seats = [{"id": seat, "name": seat, "x.position.working_directory": f"/srv/{name}"} for seat, name in held]
    write_org(office.root / "org", positions=seats)
    put(engine, "memos/read")
    put(office, name=f"{NAME}-delivered")
    for one in (office, engine):
        put(one, name="2026-05-01-0100--engineer--all--fire-drill", to="all")
    assert [finding.message for finding in findings("delivery-missing", *repos)] == [
        'to "director", whose repo is office; found only the sender\'s copy in engine',
        "a broadcast, but no copy in desk",
    ]


class Moves:
    """Random moves in the lives of memos in two repos, and what is in them."""

    def __init__(self, root: Path, seed: int) -> None:
        """Two repos, with a few memos to begin with."""
        self.random = random.Random(seed)
        self.repos = [Repo(root / name) for name in ("engine", "office")]
        self.made = 0
        for repo in self.repos:
            self.deliver(repo)

    def memos(self, repo: Repo) -> list[str]:
        """The paths of the memos in a repo, as they lie there."""
        return sorted(path.relative_to(repo.root).as_posix() for path in (repo.root / "memos").rglob("*.openthing"))

    def deliver(self, repo: Repo) -> None:
        """A new memo, which may answer another one."""
        self.made += 1
        others = self.memos(repo) if self.made > 2 else []
        fields = {"in_reply_to": Path(self.random.choice(others)).name} if others else {}
        name = f"2026-05-{1 + self.made % 28:02d}-0100--engineer--director--number-{self.made}"
        put(repo, self.random.choice(["memos", "memos/inbox"]), name, body=f"token-{self.made}-end", **fields)

    def step(self) -> None:
        """One move."""
        repo = self.random.choice(self.repos)
        kind = self.random.choice(["deliver", "commit", "commit", "move", "move", "move", "edit", "remove", "copy"])
        paths = self.memos(repo)
        if kind == "deliver" or not paths:
            self.deliver(repo)
        elif kind == "commit":
            repo.commit()
        else:
            self.change(kind, repo, self.random.choice(paths))

    def change(self, kind: str, repo: Repo, path: str) -> None:
        """One move of one memo."""
        file, name = repo.root / path, Path(path).name
        if kind == "move":
            target = repo.root / self.random.choice(["memos/inbox", "memos/read", "memos/archive", "memos"]) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            file.replace(target)
        elif kind == "edit":
            envelope_ = json.loads(file.read_text())
            file.write_text(json.dumps(envelope_ | {"tags": [str(self.random.random())]}))
        elif kind == "remove":
            file.unlink()
        else:
            other = self.repos[self.repos[0] is repo]
            other.write(f"memos/inbox/{name}", file.read_text())

    def present(self) -> set[str]:
        """The names of all memos that lie anywhere."""
        return {Path(path).stem for repo in self.repos for path in self.memos(repo)}


def test_after_200_random_moves_every_address_still_answers(tmp_path: Path) -> None:
    """With the memo it always had, or a tombstone; whatever any build on the way has published."""
    moves = Moves(tmp_path, seed=4)
    published: set[str] = set()
    for number in range(200):
        moves.step()
        if number % 25 == 24:
            site = build_site(tmp_path)
            pages = {path.relative_to(site).as_posix() for path in site.rglob("index.html")}
            assert published <= pages
            published |= pages
    assert list(bad_links(site)) == []
    names = {page.split("/")[1] for page in published if page.startswith("memos/")}
    assert len(names) > 30
    present = moves.present()
    assert names - present, "nothing was removed for good: the test shows less than it should"
    for name in names:
        said = words_of(site / f"memos/{name}/index.html")
        token = f"token-{name.rpartition('-')[2]}-end"
        assert (token in said) == (name in present)
        kicker = found(html.parse(site / f"memos/{name}/index.html"), "//p[@class='kicker']/text()")
        assert (kicker[0] in {"removed", "missing memo"}) == (name not in present)
