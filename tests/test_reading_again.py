"""Who reads again in one process gets what reading anew would give, and opens only what changed."""

import datetime as dt
import mmap
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import memosite.sources.look as looking
from memosite.archive.history import History
from memosite.archive.ledger import Ledger
from memosite.build import build
from memosite.config.loading import load_config
from memosite.facts.parsed import Envelope, Parsed
from memosite.reading.inputs import compare_inputs
from memosite.reading.opening import open_sources
from memosite.reading.parse_cache import SourceCaches
from memosite.reading.reader import read_archive, rules_of
from memosite.remake.memory import Memory
from memosite.sources.folder import FolderSource
from memosite.sources.look import Look, Looks, look_at
from memosite.store.shelf import Shelf
from memosite.store.state import State
from tests.support.archives import folder_source
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo, write_org
from tests.support.repos import Repo
from tests.support.sites import EXAMPLE

STEPS = int(os.environ.get("MEMOSITE_EDITS", "16")) // 4
LATER = 4_000_000_000_000_000_000
"""A time from which all files were written long ago: when an inode changed cannot be set."""


class Reading:
    """Reads a site again and again, as a server does."""

    def __init__(self, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Begin with what a cache in the site holds."""
        self.site = site
        self.shelf = Shelf()
        self.known = SourceCaches(State(site / ".memosite"))
        self.opened: list[str] = []
        self._monkeypatch = monkeypatch

    def again(self) -> tuple[list[Parsed], dict[str, History]]:
        """What is read now, by one who knows what was read before."""
        looks = compare_inputs(load_config(self.site), "").looks
        return self._read(self.shelf, self.known, looks=looks)

    def anew(self, shelf: Shelf) -> tuple[list[Parsed], dict[str, History]]:
        """What is read now by somebody else."""
        return self._read(shelf, SourceCaches(), looks=None)

    def _read(self, shelf: Shelf, known: SourceCaches, **given: object) -> tuple[list[Parsed], dict[str, History]]:
        caught: list[tuple[list[Parsed], dict[str, History]]] = []
        config = load_config(self.site)

        def catch(facts: list[Parsed], _rules: object, ledger: Ledger, *_: object, **named: object) -> object:
            caught.append((facts, named["histories"]))  # type: ignore[arg-type] # as read_archive calls it
            return None, ledger

        def read_file(source: FolderSource, path: str) -> object:
            self.opened.append(path)
            return read_really(source, path)

        read_really = FolderSource.read_file
        with self._monkeypatch.context() as patched, open_sources(config) as opened:
            patched.setattr("memosite.reading.reader.resolve", catch)
            patched.setattr(FolderSource, "read_file", read_file)
            rules = rules_of(config, opened.infos)
            read_archive(opened.sources, rules, Ledger(), shelf, parsed=known, **given)  # type: ignore[arg-type]
        return caught[0]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Three repos: two with memos, of which one is in both, and one with a document and a record."""
    for name in ("engine", "harbour"):
        repo = Repo(tmp_path / name)
        write_memo(repo.root / "memos/inbox", "both", body_ref="both.body.md")
        repo.write("memos/inbox/both.body.md", "To both.")
        write_memo(repo.root / "memos/inbox", f"only-{name}")
        write_org(repo.root / "org")
        repo.commit()
    desk = Repo(tmp_path / "desk")
    desk.write("decisions/gate.md", "# Gate\n")
    desk.write("thoughts/one.md", "---\nid: one\ntype: semantic\ncreated: 2026-05-01T00:00:00Z\n---\n\nA thought.\n")
    desk.commit()
    write_text(tmp_path / "memosite.yml", "sources: [{path: engine}, {path: harbour}, {path: desk}]\n")
    return tmp_path


@contextmanager
def reading(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reading]:
    """One who reads again and again, and who has read once what another had written down."""
    before = Reading(site, monkeypatch)
    with before.shelf:
        before.again()
        before.known.write()
    found = Reading(site, monkeypatch)
    with found.shelf:
        found.again()
        found.opened.clear()
        yield found


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is recent."""
    monkeypatch.setattr("memosite.reading.reader.time.time_ns", lambda: LATER)


def digests(facts: list[Parsed]) -> set[str]:
    """What envelopes have put on the shelf."""
    envelopes = [one.fact for one in facts if isinstance(one.fact, Envelope)]
    return {one.file.sha256 for one in envelopes} | {one.body.sha256 for one in envelopes if one.body}


def check(found: Reading) -> None:
    """Read again, and compare with reading anew: facts in their order, histories, and bytes on the shelf."""
    facts, histories = found.again()
    with Shelf() as shelf:
        expected, past = found.anew(shelf)
        assert facts == expected
        assert histories == past
        assert {name: list(one.events) for name, one in histories.items()} == {
            name: list(one.events) for name, one in past.items()
        }
        assert {one: found.shelf.get(one) for one in digests(facts)} == {
            one: shelf.get(one) for one in digests(expected)
        }


def _memos(site: Path) -> list[Path]:
    return sorted(path for path in site.glob("*/memos/**/*") if path.is_file())


def _repo(site: Path, rng: random.Random) -> Repo:
    found = Repo(site / rng.choice(("engine", "harbour", "desk")), is_new=False)
    found.hours = rng.randint(1, 1000)
    return found


def _add(site: Path, rng: random.Random) -> None:
    name = f"m{rng.randint(0, 10**6)}"
    commits = [_repo(site, rng).git("rev-parse", "HEAD")[: rng.randint(6, 12)] for _ in range(2)]
    policy = rng.choice(("confidential", "public"))
    fields: dict[str, object] = {"body": f"See `{'` and `'.join(commits)}`.", "metadata": {"retention_policy": policy}}
    for place in rng.sample(("engine", "harbour"), rng.randint(1, 2)):
        write_memo(site / place / "memos/inbox", name, extra=fields)


def _edit(site: Path, rng: random.Random) -> None:
    file = rng.choice([*_memos(site), site / "desk/decisions/gate.md"])
    file.write_text(file.read_text().replace("e", "ee", 1))


def _move(site: Path, rng: random.Random) -> None:
    file = rng.choice(_memos(site))
    target = file.parent.parent / rng.choice(("inbox", "read", "archive"))
    target.mkdir(exist_ok=True)
    file.rename(target / file.name)


def _remove(site: Path, rng: random.Random) -> None:
    if len(_memos(site)) > 4:
        rng.choice(_memos(site)).unlink()


def _commit(site: Path, rng: random.Random) -> None:
    _repo(site, rng).commit()


def _rewrite(site: Path, rng: random.Random) -> None:
    _repo(site, rng).git("commit", "--quiet", "--amend", "--allow-empty", "-m", f"again {rng.random()}")


def _go_back(site: Path, rng: random.Random) -> None:
    repo = _repo(site, rng)
    if repo.git("rev-list", "--count", "HEAD") > "1":
        repo.git("reset", "--quiet", rng.choice(("--hard", "--soft")), "HEAD~1")


def _merge(site: Path, rng: random.Random) -> None:
    repo = _repo(site, rng)
    repo.commit()
    repo.git("branch", "--force", "side")
    write_memo(repo.root / "memos/inbox", f"main{rng.randint(0, 10**6)}")
    repo.commit()
    repo.git("switch", "--quiet", "side")
    write_memo(repo.root / "memos/inbox", f"side{rng.randint(0, 10**6)}")
    repo.commit(who="Bo")
    repo.git("switch", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")


def _nest(site: Path, rng: random.Random) -> None:
    folder = rng.choice(_memos(site)).parent / ".git"
    if folder.exists():
        shutil.rmtree(folder)
    else:
        folder.mkdir()


def _name_folder(site: Path, rng: random.Random) -> None:
    write_org(site / "harbour/org", memo_location=rng.choice(("<x>/post/", "memos", "letters")))
    write_json(site / "engine/post/odd.openthing", {"type": "memodef:Memo"})
    write_text(site / "engine/post/broken.openthing", "{")
    write_text(site / "engine/letters/bare.body.md", "Without an envelope.")


def _configure(site: Path, rng: random.Random) -> None:
    names = rng.sample(("engine", "harbour", "desk"), rng.randint(2, 3))
    sources = ", ".join(f"{{path: {name}{', exclude: [memos/read]' * rng.randint(0, 1)}}}" for name in names)
    documents = rng.choice(("decisions/**/*.md", "thoughts/**"))
    write_text(site / "memosite.yml", f"documents: ['{documents}']\nsources: [{sources}]\n")


DONE: tuple[Callable[[Path, random.Random], None], ...] = (
    *(_add, _add, _edit, _edit, _move, _move, _remove, _remove, _commit, _commit, _commit, _commit),
    *(_rewrite, _go_back, _merge, _nest, _name_folder, _configure),
)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("recent", [True, False])
def test_reading_again_gives_what_reading_anew_gives(
    seed: int, recent: bool, site: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Whatever is delivered, moved, committed, rewritten or configured in between."""
    if not recent:
        request.getfixturevalue("later")
    rng = random.Random(seed)
    with reading(site, monkeypatch) as found:
        for _ in range(STEPS):
            for _ in range(rng.randint(0, 2)):
                rng.choice(DONE)(site, rng)
            check(found)


@pytest.mark.usefixtures("later")
def test_only_what_changed_is_opened(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And git is not asked at all, as long as no commit, no edit and no mention is new.

    A history that is equal is the same object; also of a repo that has none, and is asked again each time.
    """
    with reading(site, monkeypatch) as found:
        facts, histories = found.again()
        write_memo(site / "engine/memos/inbox", "new")
        with monkeypatch.context() as patched:
            patched.setattr("memosite.run.processes.subprocess.Popen", None)
            again, past = found.again()
        assert found.opened == ["memos/inbox/new.openthing"]
        assert len(again) == len(facts) + 1
        assert all(past[name] is histories[name] for name in ("engine", "harbour", "desk"))
        Repo(site / "empty")
        write_memo(site / "empty/memos/inbox", "one")
        write_text(site / "memosite.yml", "sources: [{path: engine}, {path: harbour}, {path: desk}, {path: empty}]\n")
        _, histories = found.again()
        Repo(site / "engine", is_new=False).git("branch", "another")
        write_memo(site / "empty/memos/inbox", "two")
        _, after = found.again()
        assert after["empty"].why_not == "the repo has no commit yet"
        assert all(after[name] is histories[name] for name in histories)


def test_mentioned_commits_and_other_documents_are_found(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit is fetched after it was mentioned; what the configuration says of a source counts, too."""
    shutil.copytree(site / "engine", site.parent / "theirs")
    theirs = Repo(site.parent / "theirs", is_new=False)
    theirs.hours = 7
    commit = theirs.commit()
    write_memo(site / "engine/memos/inbox", "new", body=f"See `{commit[:9]}`.")
    with reading(site, monkeypatch) as found:
        assert found.again()[1]["engine"].commits == {}
        Repo(site / "engine", is_new=False).git("fetch", "--quiet", str(theirs.root), "main:theirs")
        assert found.again()[1]["engine"].commits == {commit[:9]: commit}
        check(found)
    write_text(site / "desk/words/plain.md", "# Words\n")
    with reading(site, monkeypatch) as found:
        write_text(site / "memosite.yml", f"documents: ['words/*.md']\n{(site / 'memosite.yml').read_text()}")
        facts, _ = found.again()
        assert [type(one.fact).__name__ for one in facts if one.path == "words/plain.md"] == ["DocumentHead"]
        check(found)


@pytest.mark.usefixtures("later")
def test_texts_outlive_a_file_and_unreadable_ones_are_tried_again(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other source's bytes are taken, though nobody read them yet; too many files may have been open once."""
    for name in ("engine", "harbour"):
        with reading(site, monkeypatch) as found:
            (site / name / "memos/inbox/both.body.md").unlink()
            (site / name / "memos/inbox/both.openthing").unlink()
            check(found)
        Repo(site / name, is_new=False).git("checkout", "--quiet", ".")
    with reading(site, monkeypatch) as found:
        write_memo(site / "engine/memos/inbox", "new")
        with monkeypatch.context() as patched:
            patched.setattr("memosite.sources.folder._read_whole", _fail)
            facts, _ = found.again()
            assert [one.findings[0].rule.id for one in facts if "new" in one.path] == ["file-unreadable"]
        check(found)


@pytest.mark.parametrize(
    "path", ["engine/memos/inbox/both.openthing", "desk/thoughts/one.md", "desk/decisions/gate.md"]
)
def test_a_second_write_within_one_tick_is_read(path: str, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mapped file is written without its size, times or inode changing: only its contents tell."""
    file = site / path
    (site / "harbour/org/x.md").write_text("--- id: type: created:")
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as mapped:
        mapped[-2:-1] = mapped[-2:-1]
        now = file.stat().st_ctime_ns
        monkeypatch.setattr("memosite.reading.reader.time.time_ns", lambda: now)  # however slow the machine is
        with reading(site, monkeypatch) as found:
            check(found)
            before = file.stat()
            mapped[-2:-1] = b"?"
            assert file.stat() == before
            check(found)


def _fail(*_: object) -> bytes:
    raise OSError(24, "Too many open files")


def test_a_look_tells_what_a_walk_of_the_disk_tells(tmp_path: Path) -> None:
    """Folders that are excluded, skipped, holes, links, or somebody else's, and one that has gone since."""
    site = tmp_path / "site"
    shutil.copytree(EXAMPLE, site)
    write_text(site / "odd/.memosite-site", "")
    write_memo(site / "odd/memos", "theirs")
    write_memo(site / "tests/memos", "sample")
    write_memo(site / "hole/memos", "another-source")
    write_memo(site / "secret/memos", "excluded")
    (site / "memos").symlink_to(site / "governance/memos")
    os.mkfifo(site / "odd.openthing")
    source = folder_source(site, exclude=("secret/**", "*.json"), holes=(site / "hole",), include=("**/*.txt",))
    look = look_at(str(site), include=source.include, exclude=source.exclude, holes=[str(site / "hole")])
    listing = source.list_files(look)
    assert listing == source.list_files()
    assert len(listing.candidates) > 50
    states = look.states()
    for path in (*listing.candidates, *listing.others):
        stamp = source.stamp(path)
        assert stamp is not None
        assert states[path] == stamp.token
    shutil.rmtree(site / "governance")
    assert source.list_files(look) == listing


ARRIVED = "2026-05-02-1430--a--b--later"


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of folders that were walked."""
    walked: list[str] = []
    walk = looking.look_at

    def look_at(root: str, **settings: tuple[str, ...]) -> Look:
        walked.append(Path(root).name)
        return walk(root, **settings)

    monkeypatch.setattr("memosite.sources.look.look_at", look_at)
    return walked


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two repos, with a memo each."""
    for repo in ("one", "two"):
        write_memo(tmp_path / repo / "memos/inbox", f"2026-05-01-1430--a--b--in-{repo}")
    return tmp_path


def rebuild(two: Path, memory: Memory, *changed: Path) -> int:
    """Build after these paths have changed, and give how many files were written besides `status.json`."""
    paths = frozenset(map(str, changed)) or None
    report = build(load_config(two), clock=lambda: dt.datetime.now(dt.UTC), memory=memory, changed=paths)
    return report.written - 1


def test_only_what_has_changed_is_walked(two: Path, looked_at: list[str]) -> None:
    """Whoever is told of every change knows how the rest lies there."""
    with Memory() as memory:
        rebuild(two, memory)
        assert looked_at == ["one", "two"]
        looked_at.clear()
        path = write_memo(two / "two/memos/inbox", ARRIVED)
        assert rebuild(two, memory, path) > 0
        assert looked_at == ["two"]
        looked_at.clear()
        rebuild(two, memory, two / "memosite.yml")  # it may have changed anything
        assert looked_at == ["one", "two"]


def test_a_change_that_nobody_told_of_is_found_afterwards(two: Path, looked_at: list[str]) -> None:
    """The system may lose events: what is believed is looked at when browsers have reloaded.

    A file of the site that was damaged meanwhile is made again by that next build, too.
    """
    with Memory() as memory:
        rebuild(two, memory)
        write_memo(two / "one/memos/inbox", ARRIVED, sent="2020-05-01T14:30:00Z")
        path = write_memo(two / "two/memos/inbox", ARRIVED.replace("later", "told"))
        rebuild(two, memory, path)
        assert looked_at == ["one", "two", "two"]
        page, home = two / f"_site/memos/{ARRIVED}", two / "_site/index.html"
        assert not page.exists()
        before = home.read_bytes()
        home.write_bytes(b"damaged")
        assert not memory.check()
        rebuild(two, memory, two / "one")
        assert page.exists()
        assert home.read_bytes() != b"damaged"
        assert len(home.read_bytes()) >= len(before)
        assert memory.check()


def test_looks_nobody_asks_for_are_let_go_and_a_folder_in_a_folder_is_part_of_both(two: Path, tmp_path: Path) -> None:
    """Another configuration looks at other folders, or otherwise; a change in an inner folder is one of both."""
    looks = Looks()
    for number in range(3):
        looks.forget([str(two / "one/file")])
        for repo in ("one", "two"):
            looks.look_at(str(two / repo), include=(), exclude=(f"{number}",), holes=())
    assert len(looks._known) == 3  # one of them is of the build before
    looks.forget([str(two / "one/file")])
    assert len(looks._known) == 1
    inner = tmp_path / "outer/inner"
    inner.mkdir(parents=True)
    looks = Looks()
    folders = {"include": (), "exclude": (), "holes": ()}
    before = [looks.look_at(str(root), **folders) for root in (inner.parent, inner)]
    looks.forget([f"{inner.parent}/file"])
    assert looks.look_at(str(inner), **folders) is before[1]
    assert looks.look_at(str(inner.parent), **folders) is not before[0]
    looks.forget([f"{inner}/file"])
    assert looks.look_at(str(inner), **folders) is not before[1]
