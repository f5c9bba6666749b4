"""Entries of list files in git: when each came, how it was updated, and when it went."""

import os
import random
import re
from pathlib import Path

import pytest

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Record
from memosite.cli import main
from memosite.facts.file import File
from memosite.facts.names import short_hash
from memosite.formats.system import RecordSystem
from memosite.formats.systems import split_file
from memosite.reading import versions
from memosite.reading.screen import Screen, Screened
from memosite.sources.folder import FolderSource, holding_repo
from tests.support.archives import EMPTY, folder_source, read_sources
from tests.support.pages import bad_links
from tests.support.repos import BEGIN, Repo
from tests.support.sites import build_site

HISTORIES = int(os.environ.get("MEMOSITE_HISTORIES", "6"))
"""How many random histories, and as many with branches, two readers have to agree on."""

SECRET = "AKIA" + "Z7QH3XWMK2TPLV5D"

MEMORY = ".wyren/memory.md"
OLDER = ".relay/memory.md"


def memory(*bullets: str, **sections: tuple[str, ...]) -> str:
    """A memory with these decisions, and bullets of further sections."""
    parts = {"Decisions": bullets} | {name.replace("_", " "): said for name, said in sections.items()}
    return "\n".join(f"## {name}\n" + "".join(f"- {one}\n" for one in said) for name, said in parts.items())


def remember(repo: Repo, *bullets: str, **sections: tuple[str, ...]) -> None:
    """Commit a memory with these bullets."""
    repo.write(MEMORY, memory(*bullets, **sections))
    repo.commit()


def source_of(repo: Repo) -> FolderSource:
    """A repo as a source, with its history."""
    return folder_source(repo.root, holding=holding_repo(repo.root, site=repo.root.parent))


def archive_of(repo: Repo, *, ledger: Ledger = EMPTY) -> Archive:
    """The archive of a repo."""
    return read_sources(source_of(repo), ledger=ledger)[0]


def entry(archive: Archive, title: str) -> Record:
    """The record with this title."""
    (found,) = (one for one in archive.artifacts.values() if isinstance(one, Record) and one.subject == title)
    return found


def told(archive: Archive, title: str) -> list[tuple[str, int]]:
    """The events of a record, with the hour of each."""
    life = entry(archive, title).copies[0].life
    assert life is not None
    return [(event.kind, hour_of(event.at.instant.timestamp())) for event in life.events if event.at]


def hour_of(seconds: float) -> int:
    """Hours since repos of tests begin."""
    return round((seconds - BEGIN) / 3600)


def dated(archive: Archive) -> dict[str, int | None]:
    """The hour that each record is dated, by its title."""
    records = (one for one in archive.artifacts.values() if isinstance(one, Record))
    return {one.subject: hour_of(one.date.instant.timestamp()) if one.date else None for one in records}


def key_of(said: str, section: str = "decisions") -> str:
    """The key of a bullet by its text without tags."""
    return f"{section}.{short_hash(said)}"


@pytest.fixture
def quay(tmp_path: Path) -> Repo:
    """A repo."""
    return Repo(tmp_path / "quay")


def test_a_bullet_has_the_date_of_the_commit_in_which_it_first_stood_there(quay: Repo) -> None:
    """Not of its file nor its last change; also from any name, in a fence, with other marks, line ends or order."""
    remember(quay, "Steel rope")
    remember(quay, "Green paint", "Steel rope")
    remember(quay, "Green paint")
    remember(quay, "Tar", "Green paint", "Steel rope")
    archive = archive_of(quay)
    assert dated(archive) == {"Steel rope": 1, "Green paint": 2, "Tar": 4}
    assert told(archive, "Steel rope") == [("received", 1), ("removed", 3), ("restored", 4)]
    quay = Repo(quay.root.parent / "renamed/quay")
    content = memory("Steel rope [session 7a2e, turn 1]", "Green paint", Open_questions=("Who has the key?",))
    quay.write("harbour/notes.md", content)
    quay.commit()
    quay.move("harbour/notes.md", MEMORY)
    quay.commit()
    text = "## Open questions\r\n\r\n* Who has the key?\r\n\r\n## Decisions\r\n* Green paint\r\n\r\n"
    quay.write(MEMORY, f"```markdown\r\n{text}* Steel rope [session 7a2e, turn 1]\r\n```\r\n")
    quay.commit()
    archive = archive_of(quay)
    assert dated(archive) == {"Steel rope": 1, "Green paint": 1, "Who has the key?": 1}
    assert told(archive, "Green paint") == [("received", 1), ("moved", 2)]


@pytest.mark.parametrize("how", ["renamed", "renamed-and-edited", "older-removed-before", "older-kept", "two-at-once"])
def test_dates_are_followed_from_the_older_path(quay: Repo, how: str) -> None:
    """However the folder got its name of today."""
    quay.write(OLDER, memory("Steel rope"))
    quay.write("pier/" + OLDER, memory("Hemp rope"))
    quay.commit()
    quay.write(OLDER, memory("Steel rope", "Green paint"))
    quay.commit()
    if how == "older-removed-before":
        (quay.root / OLDER).unlink()
        quay.commit()
    elif how == "older-kept":
        (quay.root / MEMORY).parent.mkdir()
    else:
        quay.move(OLDER, MEMORY)
        if how == "two-at-once":
            quay.move("pier/" + OLDER, "pier/" + MEMORY)
    remember(quay, "Steel rope", "Green paint", *(["Tar"] if how != "renamed" else []))
    archive = archive_of(quay)
    lives = {
        one.subject: hour_of(one.date.instant.timestamp())
        for one in archive.artifacts.values()
        if isinstance(one, Record) and one.date and one.card.file.path == MEMORY
    }
    last = 4 if how == "older-removed-before" else 3
    assert lives == {"Steel rope": 1, "Green paint": 2} | ({"Tar": last} if how != "renamed" else {})
    if how == "two-at-once":
        assert told(archive, "Hemp rope") == [("received", 1), ("moved", 3)]


def test_moves_tags_and_comments_keep_the_date(quay: Repo) -> None:
    """In another section it has another key, and its former address leads to it; other tags are an edit."""
    remember(quay, "Tar", Open_questions=("Hemp rope",))
    _, ledger = read_sources(source_of(quay))
    remember(quay, "Tar", Rejected_paths=("Hemp rope",))
    archive, _ = read_sources(source_of(quay), ledger=ledger)
    moved = entry(archive, "Hemp rope")
    assert (moved.id, moved.former) == (
        f"quay.{key_of('Hemp rope', 'rejected-paths')}", (f"quay.{key_of('Hemp rope', 'open-questions')}",)
    )  # fmt: skip
    assert told(archive, "Hemp rope") == [("received", 1), ("moved", 2)]
    assert archive.removed == {}
    quay = Repo(quay.root.parent / "tagged/quay")
    remember(quay, "Steel rope [session current]", "Tar")
    remember(quay, "Steel rope [session 7a2e, turn 3]", "Tar")
    remember(quay, "Steel rope [session 7a2e, turn 3]", "Tar <!-- hot -->")
    archive = archive_of(quay)
    assert entry(archive, "Steel rope").id == f"quay.{key_of('Steel rope [session current]')}"
    assert told(archive, "Steel rope") == [("received", 1), ("edited", 2)]
    assert told(archive, "Tar") == [("received", 1), ("edited", 3)]
    assert entry(archive, "Tar").id == f"quay.{key_of('Tar')}"


def test_of_updates_each_takes_the_place_of_the_one_at_its_place(quay: Repo) -> None:
    """By what they follow, else by their order; one of another turn, section or commit is another record."""
    tagged = ("A [session 12e4, turn 1]", "B [session 12e4, turn 2]")
    remember(quay, *tagged, "C [raised session 12e4]", "D [session 12e4, turn 4]")
    scope = ("B2 [session 12e4, turn 2]",)
    remember(quay, "A2 [session 12e4, turn 11]", "C2 [raised session 12e4]", Scope_changes=scope)
    remember(quay, "A2 [session 12e4, turn 11]", "D2 [session 12e4, turn 4]")
    archive = archive_of(quay)
    assert {told(archive, title)[0] for title in ("A2", "D2")} == {("received", 2), ("received", 3)}
    gone = {key_of(said) for said in "ABCD"} | {key_of("C2"), key_of("B2", "scope-changes")}
    assert {id_ for _, id_ in archive.removed} == {f"quay.{key}" for key in gone}
    quay = Repo(quay.root.parent / "several/quay")
    tag = "[session 12e4, turn 36]"
    remember(quay, f"One {tag}", "Rope", f"Two {tag}", "Tar", f"Three {tag}", f"Four {tag}")
    remember(quay, "Rope", f"Second {tag}", "Tar", f"Third {tag}", f"Fourth {tag}")
    archive = archive_of(quay)
    now = {one.subject: one.id for one in archive.artifacts.values() if isinstance(one, Record)}
    assert [now[title] for title in ("Second", "Third", "Fourth")] == [
        f"quay.{key_of(said)}" for said in ("Two", "Three", "Four")
    ]
    assert [id_ for _, id_ in archive.removed] == [f"quay.{key_of('One')}"]


def test_an_update_keeps_id_and_date_and_has_an_edit(quay: Repo) -> None:
    """A bullet that, in one commit, takes the place of one of the same section, session and turn (SPEC 3).

    An update that an earlier build published as a record of its own stays the address of the bullet. A text that comes
    again beside its update is another record: the older one has the id of that text.
    """
    first, second, tag = "163 tests pass", "172 tests pass", "[session 12e4, turn 36]"
    remember(quay, f"{first} {tag}", "Tar [session 12e4, turn 9]")
    remember(quay, f"{second} [session 12e4, turn 36; updated ee77, turn 7]", "Tar [session 12e4, turn 9]")
    archive = archive_of(quay)
    ids = {said: f"quay.{key_of(said)}" for said in (first, second)}
    assert entry(archive, second).id == ids[first]
    assert told(archive, second) == [("received", 1), ("edited", 2)]
    assert told(archive, "Tar") == [("received", 1)]
    assert archive.removed == {}
    only_second = EMPTY.with_arrivals([("record", ids[second], "b")])
    assert entry(archive_of(quay, ledger=only_second), second).id == ids[second]
    both = EMPTY.with_arrivals([("record", ids[first], "a"), ("record", ids[second], "b")])
    archive = archive_of(quay, ledger=both)
    assert (entry(archive, second).id, entry(archive, second).former) == (ids[first], (ids[second],))
    remember(quay, first, f"{second} {tag}")
    archive = archive_of(quay)
    assert (entry(archive, second).id, entry(archive, first).id) == (ids[first], f"{ids[first]}-2")
    assert dated(archive) == {first: 3, second: 1}


def test_what_is_not_committed_is_said_and_without_all_versions_no_date_is_invented(
    quay: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New bullets are delivered, updates edited, entries of removed files removed; of shallow clones nothing."""
    remember(quay, "A [session 12e4, turn 1]", "Tar", "Gone")
    quay.write(MEMORY, memory("Rope", "B [session 12e4, turn 1]", "Tar"))
    archive = archive_of(quay)
    lives = {title: entry(archive, title).copies[0].life for title in ("Rope", "B", "Tar")}
    assert [life.state if life else None for life in lives.values()] == ["delivered", "edited", "committed"]
    assert entry(archive, "B").id == f"quay.{key_of('A')}"
    assert dated(archive) == {"Rope": None, "B": 1, "Tar": 1}
    assert archive.removed == {}
    quay.write("notes.md", "Nothing here.")
    (quay.root / MEMORY).unlink()
    quay.commit()
    removed = {id_: [(one.kind, one.who) for one in life.events] for (_, id_), life in archive_of(quay).removed.items()}
    steps = [("received", "Ann Other"), ("removed", "Ann Other")]
    assert removed == {f"quay.{key_of(said)}": steps for said in ("A", "Tar", "Gone")}
    quay = Repo(tmp_path / "versions/quay")
    remember(quay, "Steel rope")
    blob = quay.git("rev-parse", f"HEAD:{MEMORY}")
    remember(quay, "Steel rope", "Tar")
    whole = {"Steel rope": 1, "Tar": 2}
    read = sum(len(quay.git("show", f"HEAD~{back}:{MEMORY}")) + 1 for back in range(2))
    for limit, expected in ((read, whole), (read - 1, dict.fromkeys(whole))):
        monkeypatch.setattr(versions, "VERSIONS_BYTES", limit)
        assert dated(archive_of(quay)) == expected
    monkeypatch.undo()
    quay.git("clone", "--quiet", "--depth=1", f"file://{quay.root}", str(tmp_path / "shallow"))
    (quay.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for repo in (quay, Repo(tmp_path / "shallow", is_new=False)):
        archive = archive_of(repo)
        assert dated(archive) == dict.fromkeys(whole)
        life = entry(archive, "Tar").copies[0].life
        assert life is not None and life.why_not


def test_pages_of_bullets_have_their_history_and_former_addresses_lead_on(quay: Repo) -> None:
    """As those of memos: who, when, in which commit; what was removed says when, and an update keeps its address."""
    site = quay.root.parent
    quay.write(MEMORY, memory("163 tests [session 12e4, turn 36]", "Hemp rope", Open_questions=("Who has the key?",)))
    quay.commit(who="Ada")
    output = build_site(site)
    quay.write(MEMORY, memory("172 tests [session 12e4, turn 36]", Rejected_paths=("Who has the key?",)))
    quay.commit(who="Bo")
    build_site(site)

    def page(key: str) -> str:
        return (output / f"records/wyren/quay.{key}/index.html").read_text()

    updated, removed = page(key_of("163 tests")), page(key_of("Hemp rope"))
    assert all(word in updated for word in ("172 tests", "committed", "edited", "Ada", "Bo", quay.head[:7]))
    words = ("This item was removed", "committed", "removed", "Ada", "Bo", quay.head[:7])
    assert all(word in removed for word in words)
    assert "rejected-paths" in page(key_of("Who has the key?", "open-questions"))
    assert list(bad_links(output)) == []


def test_each_version_passes_the_gate_and_is_split_once(quay: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next build takes it from the cache, under whatever version of the file it was."""
    screened: list[str] = []
    screen_file = Screen.file

    def screen(self: Screen, file: File) -> Screened:
        screened.append(file.data.decode())
        return screen_file(self, file)

    def split_screened(file: File, system: RecordSystem) -> object:
        assert SECRET.encode() not in file.data
        return split_file(file, system)

    monkeypatch.setattr(Screen, "file", screen)
    monkeypatch.setattr("memosite.reading.versions.split_file", split_screened)
    contents = [memory("Steel rope", *(f"{SECRET} {number}" for number in range(count))) for count in range(4)]
    for content in contents:
        quay.write(MEMORY, content)
        quay.commit()
    assert main(["build", str(quay.root.parent), "--quiet"]) == 1
    assert set(contents) <= set(screened)
    screened.clear()
    remember(quay, "Steel rope", "Tar")
    main(["build", str(quay.root.parent), "--quiet"])
    assert not set(contents) & set(screened)


TAG = re.compile(r" \[session (\w+), turn (\d+)[^\]]*\]$")


def naive_lives(repo: Repo) -> dict[str, tuple[int, list[int]]]:
    """For each bullet of HEAD the commit that it first stood in and those that changed it, by their hours.

    Reads every version line by line. A bullet is known by section and text; one that, in one commit,
    takes the place of a bullet of the same section, session and turn, is that bullet.
    """
    texts = naive_texts(repo)
    versions: dict[str, dict[tuple[str, str], str]] = {}
    born: dict[int, int] = {}
    changed: dict[int, list[int]] = {}
    last: dict[tuple[str, str], int] = {}
    for line in repo.git("log", "--topo-order", "--reverse", "--format=%H %ct %P").splitlines():
        commit, at, *parents = line.split()
        hour, now = hour_of(int(at)), naive_version(texts[commit])
        versions[commit] = now
        before = [versions[parent] for parent in parents]
        for bullet, tag in now.items():
            olds = [version.get(bullet) for version in before]
            if not any(old is not None for old in olds):
                gone = {one: old for version in before for one, old in version.items() if one not in now}
                replaced = [one for one, old in gone.items() if one[0] == bullet[0] and tag and old == tag]
                moved = [one for one in gone if one[1] == bullet[1]]
                known = last[(replaced or moved)[0]] if replaced or moved else last.get(bullet)
                life = len(born) if known is None else known
                if replaced or moved:
                    changed.setdefault(life, []).append(hour)
                born[life] = min(born.get(life, hour), hour)
                last[bullet] = life
    return {text: (born[last[section, text]], changed.get(last[section, text], [])) for section, text in now}


def naive_texts(repo: Repo) -> dict[str, str]:
    """The memory at each commit; git prints them all at once, each after a line that ends with its length."""
    names = [(commit, path) for commit in repo.git("rev-list", "HEAD").split() for path in (MEMORY, OLDER)]
    printed = repo.git("cat-file", "--batch", given="".join(f"{commit}:{path}\n" for commit, path in names)) + "\n"
    found: dict[str, str] = {}
    for commit, _ in names:
        head, _, printed = printed.partition("\n")
        size = 0 if head.endswith(" missing") else int(head.split()[-1]) + 1
        found[commit] = found.get(commit) or printed[:size]
        printed = printed[size:]
    return found


def naive_version(text: str) -> dict[tuple[str, str], str]:
    """The bullets of a memory: section and text, with session and turn."""
    found: dict[tuple[str, str], str] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith(("- ", "* ")):
            tag = TAG.search(line)
            found[section, TAG.sub("", line[2:])] = " ".join(tag.groups()) if tag else ""
    return found


class Distiller:
    """Changes a memory at random, as a team's distillers do; each text is used once, and each turn.

    With a `half` it touches only every other bullet, so that what two branches do can be merged.
    """

    def __init__(self, repo: Repo, seed: int) -> None:
        """Begin with an empty memory at the older path."""
        self.repo, self.random = repo, random.Random(seed)
        self.bullets: list[tuple[str, str, str]] = []
        self.removed: list[tuple[str, str, str]] = []
        self.path, self.mark, self.number = OLDER, "-", 0
        self.half: int | None = None

    def steps(self, count: int) -> None:
        """So many commits, in each of which several things may happen."""
        does = (self.add, self.add, self.add, self.reword, self.remove, self.again, self.move, self.shuffle)
        for _ in range(count):
            for _ in range(self.random.randint(1, 3)):
                self.random.choice(does)()
            self.mark = self.random.choice("-*")
            self.commit()

    def new(self) -> tuple[str, str]:
        """A text and a tag that nobody had."""
        self.number += 1 if self.half is None or self.number % 2 != self.half else 2
        return f"Fact {self.number}", f"[session 7a2e, turn {self.number}]" if self.random.random() < 0.7 else ""

    def any_place(self) -> int | None:
        """The place of a bullet that may be changed, if there is one."""
        places = [at for at, one in enumerate(self.bullets) if self.half in {None, int(one[1].split()[1]) % 2}]
        return self.random.choice(places) if places else None

    def add(self) -> None:
        """A new bullet."""
        section = self.random.choice(["Decisions", "Open questions", "Scope changes"])
        self.bullets.insert(self.random.randint(0, len(self.bullets)), (section, *self.new()))

    def reword(self) -> None:
        """Another text, with the same tag."""
        at = self.any_place()
        if at is not None:
            section, _, tag = self.bullets[at]
            self.bullets[at] = (section, self.new()[0], tag)

    def remove(self) -> None:
        """A bullet less."""
        at = self.any_place()
        if at is not None:
            self.removed.append(self.bullets.pop(at))

    def again(self) -> None:
        """One that was removed."""
        if self.removed:
            self.bullets.append(self.removed.pop())

    def move(self) -> None:
        """To a section that no bullet was in before."""
        at = self.any_place()
        if at is not None:
            self.bullets[at] = ("Live workarounds", *self.bullets[at][1:])

    def shuffle(self) -> None:
        """Another order."""
        self.random.shuffle(self.bullets)

    def text(self) -> str:
        """The memory as it is."""
        sections = dict.fromkeys(section for section, _, _ in self.bullets)
        return "\n".join(
            f"## {name}\n"
            + "".join(f"{self.mark} {said} {tag}".rstrip() + "\n" for part, said, tag in self.bullets if part == name)
            for name in sections
        )

    def commit(self) -> None:
        """Commit the memory."""
        self.repo.write(self.path, self.text() or "## Decisions\n")
        self.repo.commit()


def compare_with_naive(repo: Repo) -> int:
    """Hold the archive's dates and edits to those of the naive reader, and give the number of bullets."""
    archive, naive = archive_of(repo), naive_lives(repo)
    renamed = hour_of(int(repo.git("log", "-1", "--format=%ct", "--diff-filter=A", "--", MEMORY) or BEGIN))
    changes = {"edited", "moved"}
    found = {
        title: sorted(hour for kind, hour in told(archive, title) if kind in changes and hour != renamed)
        for title in dated(archive)
    }
    assert found == {title: sorted(hour for hour in hours if hour != renamed) for title, (_, hours) in naive.items()}
    assert dated(archive) == {title: born for title, (born, _) in naive.items()}
    return len(found)


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_naive_reader_of_each_commit_finds_the_same(quay: Repo, seed: int) -> None:
    """Bullets added, reworded, moved, removed, brought back; the file renamed; also of two branches that are merged."""
    distiller = Distiller(quay, seed)
    distiller.steps(12)
    quay.move(OLDER, MEMORY)
    distiller.path = MEMORY
    distiller.steps(12)
    assert compare_with_naive(quay) > 1
    quay = Repo(quay.root.parent / "branches/quay")
    distiller = Distiller(quay, seed)
    distiller.path = MEMORY
    distiller.steps(6)
    for number in range(3):
        base, distiller.removed, distiller.half = list(distiller.bullets), [], 0
        quay.git("checkout", "--quiet", "-b", f"work{number}")
        distiller.steps(2)
        theirs, distiller.bullets, distiller.removed, distiller.half = distiller.bullets, list(base), [], 1
        quay.git("checkout", "--quiet", "main")
        distiller.steps(1)
        ours = distiller.bullets
        new = [one for one in (*ours, *theirs) if one not in base]
        distiller.bullets = [one for one in base if one in ours and one in theirs] + new
        quay.git("merge", "--quiet", "--no-ff", "--no-commit", "--strategy=ours", f"work{number}")
        distiller.commit()
        distiller.half, distiller.removed = None, []
        distiller.steps(1)
    assert compare_with_naive(quay) > 1
