"""The archive that is kept for commands: the same as one that is read, never out of date, nobody else's."""

import multiprocessing
import pickle
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import memosite.search.blocks as blocks_module
from memosite.archive.ledger import LEDGER_PATH
from memosite.archive.model import Archive, Artifact, Memo, Transcript
from memosite.archive.snapshots import days_of
from memosite.cli import main
from memosite.config.loading import load_config
from memosite.facts.errors import MemositeError, OutputError, SourceError
from memosite.facts.parsed import Ref
from memosite.facts.values import replace
from memosite.reading.archive import ArchiveHandle, open_archive
from memosite.reading.keeping import Keeping
from memosite.reading.kept import Seal, is_kept, open_kept, seal_kept, write_kept
from memosite.search.documents import Card
from memosite.store.output import OutputFolder
from memosite.store.state import ANALYSES, FILE, KEPT, State
from tests.support.files import write_text
from tests.support.memos import write_memo
from tests.support.planted import CONFIG, PLANTED, write_planted
from tests.support.repos import Repo
from tests.support.sites import build_site, built_from_nothing, copy_example, tree_bytes


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with two memos, built twice: the first time its folder itself changes."""
    repo = Repo(tmp_path / "site")
    for name in ("one", "two"):
        write_memo(repo.root / "memos/inbox", f"2026-05-01-0900--engineer--director--{name}", body=f"zq{name}word")
    repo.commit()
    build_site(repo.root)
    build_site(repo.root)
    return repo.root


def part(site: Path, audience: str = "internal") -> Path:
    """The folder in which an archive is kept."""
    return site / ".memosite" / audience


def counts(site: Path) -> bool:
    """Whether what is kept counts now."""
    with State(part(site)) as state:
        keeping = Keeping(load_config(site), "internal", state, {})
        is_recalled = keeping.recalled() is not None
        keeping.close()
        return is_recalled


def bytes_kept(site: Path, audience: str = "internal") -> bytes:
    """All that is in the file that remembers, and beside it."""
    return b"".join(file.read_bytes() for file in part(site, audience).glob(f"{FILE}*"))


def values(archive: Archive) -> dict[str, Any]:
    """All that is in an archive, with the order of its mappings."""
    found = {name: getattr(archive, name) for name in Archive.__struct_fields__}
    return {name: list(one.items()) if isinstance(one, Mapping) else one for name, one in found.items()}


def words(site: Path, audience: str) -> set[bytes]:
    """The planted words in what is kept."""
    return set(re.findall(rb"zq(?:one|two)word", bytes_kept(site, audience)))


def test_what_is_kept_is_what_is_read(tmp_path: Path) -> None:
    """All values, in their order, texts and former contents; and one alone, or none, before and after all is loaded."""
    site = copy_example(tmp_path / "site")
    build_site(site)
    build_site(site)
    with open_archive(load_config(site)) as handle:
        artifacts = handle.recall().artifacts
        name = next(iter(read_again(site).artifacts))
        one = artifacts[name]
        assert ("memo", "none") not in artifacts
        assert artifacts.get(("memo", "none")) is None
        assert len(artifacts) == len(list(artifacts))
        assert artifacts[name] is one
        assert ("memo", "none") not in artifacts
        assert one == read_again(site).artifacts[name]
    config = load_config(site)
    assert counts(site)
    with open_archive(config) as kept, open_archive(config) as anew:
        recalled = kept.recall()
        archive, _ = anew.read()
        assert recalled.artifacts is not archive.artifacts
        assert values(recalled) == values(archive)
        assert dict(kept.days()) == days_of(archive)
        with_original = (one for one in archive.artifacts.values() if not (isinstance(one, Transcript) and one.log))
        wanted = {copy.file.sha256 for one in with_original for copy in one.copies}
        wanted |= {*archive.blobs.values()}
        assert len(wanted) > 50
        assert {one: kept.shelf.get(one) for one in wanted} == {one: anew.shelf.get(one) for one in wanted}


def read_again(site: Path) -> Archive:
    """The archive, read."""
    with open_archive(load_config(site)) as handle:
        return handle.read()[0]


def test_nothing_is_read_where_nothing_has_changed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No source is opened; the base URL is no part of an archive."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(ArchiveHandle, "read", fail)
    for base_url in (None, "https://example.org/"):
        with open_archive(load_config(site, base_url=base_url)) as handle:
            assert len(handle.recall().artifacts) == 2


def _add(site: Path) -> None:
    write_memo(site / "memos/inbox", "2026-05-02-0900--engineer--director--three")


def _keep_another(site: Path) -> None:
    """Write rows, and be killed before they are sealed."""
    with State(part(site)) as state:
        write_kept(state, read_again(site), token="another")


def _change_row(site: Path, key: tuple[str, ...], value: bytes) -> None:
    with closing(sqlite3.connect(part(site) / FILE, isolation_level=None)) as sql:
        assert sql.execute("UPDATE kept SET value = ? WHERE (field, kind, id) = (?, ?, ?)", (value, *key)).rowcount


@pytest.mark.parametrize(
    "change",
    [
        _add,
        _keep_another,
        lambda site: write_text(site / "memosite.yml", "positions: {aliases: {engineer: builder}}\n"),
        lambda site: write_text(ledger := site / "_site" / LEDGER_PATH, ledger.read_text() + "\n"),
        lambda site: (part(site) / FILE).unlink(),
        lambda site: _change_row(site, ("seal", "", ""), b"This is no seal."),
        lambda site: (part(site) / FILE).write_bytes(b"This is no database."),
    ],
)
def test_after_any_change_everything_is_read_and_kept_again(site: Path, change: Callable[[Path], None]) -> None:
    """What is recalled is what a reader would find."""
    assert counts(site)
    change(site)
    assert not counts(site)
    with open_archive(load_config(site)) as handle:
        assert values(handle.recall()) == values(read_again(site))
    assert counts(site)


def test_who_reads_goes_on_while_another_one_writes(site: Path) -> None:
    """It sees one moment. Of two that write at once, what counts was written by who began last, and seals it."""
    archive = read_again(site)
    with State(part(site)) as one, State(part(site)) as other:
        kept = open_kept(part(site))
        assert kept is not None
        seal = kept.seal
        kept.close()

        class Interrupted(dict[Ref, Artifact]):
            def items(self) -> Any:
                assert write_kept(other, archive, token="other")
                return super().items()

        assert not write_kept(one, replace(archive, artifacts=Interrupted(archive.artifacts)), token="one")
        for token, is_there in (("one", False), ("other", True)):
            seal_kept(one, Seal(token=token, inputs=seal.inputs, ledger=seal.ledger))
            assert is_kept(one, token) is is_there
    assert counts(site)
    with open_archive(load_config(site)) as handle:
        recalled = handle.recall()
        _add(site)
        build_site(site)
        assert len(recalled.artifacts) == 2
        assert all(one.copies for one in recalled.artifacts.values())
    with open_archive(load_config(site)) as handle:
        assert len(handle.recall().artifacts) == 3


def test_what_did_not_change_is_not_written_again(site: Path) -> None:
    """A build after one more memo writes its rows, and few others."""
    with State(part(site)) as state:
        before = dict(state[KEPT].items())
    _add(site)
    build_site(site)
    with State(part(site)) as state:
        after = dict(state[KEPT].items())
    changed = {key for key in after if before.get(key) != after[key]}
    names = {"2026-05-01-0900--engineer--director--one", "2026-05-01-0900--engineer--director--two"}
    assert any(str(key[2]).endswith("three") for key in changed)
    assert not [key for key in changed if key[2] in names and key[0] == "artifacts"]


@pytest.mark.parametrize("how", ["read-only", "another process writes"])
def test_where_nothing_can_be_written_everything_is_read(site: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """The next command reads it again; what was kept before never counts as what is now."""
    _add(site)
    with closing(sqlite3.connect(part(site) / FILE, isolation_level=None)) as other, monkeypatch.context() as patched:
        if how == "read-only":
            patched.setattr("memosite.store.state.os.access", lambda *_: False)
        else:
            patched.setattr("memosite.store.state.WAIT", 0.01)
            other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            with open_archive(load_config(site)) as handle:
                assert len(handle.recall().artifacts) == 3
            assert not counts(site)
    with open_archive(load_config(site)) as handle:
        assert len(handle.recall().artifacts) == 3
    assert counts(site)


def test_a_source_that_fails_is_tried_again(site: Path) -> None:
    """Nothing is kept of such an archive."""
    write_text(site / "memosite.yml", "sources: [{path: .}, {path: gone, ref: main}]\n")
    Repo(site / "gone").write("memos/inbox/x.openthing", "{}")
    Repo(site / "gone", is_new=False).commit()
    build_site(site)
    for pack in (site / "gone/.git/objects").glob("??/*"):
        pack.unlink()
    main(["check", str(site), "--quiet"])
    assert not counts(site)


class _Bomb:
    def __init__(self, ran: Path) -> None:
        self.ran = ran

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.mkdir, (self.ran,)


ARTIFACT = ("artifacts", "memo", "2026-05-01-0900--engineer--director--one")


def test_what_is_planted_would_run(site: Path, tmp_path: Path) -> None:
    """If this user signed it: the test below would notice."""
    with State(part(site)) as state, state.writing():
        state[KEPT].put([(ARTIFACT, b"p" + pickle.dumps(_Bomb(tmp_path / "ran")))])
    with open_archive(load_config(site)) as handle:
        list(handle.recall().artifacts.values())
    assert (tmp_path / "ran").exists()


def test_what_is_planted_is_not_read(site: Path, tmp_path: Path) -> None:
    """A cache may come with a cloned repo: a command says that it is removed, and the next one reads everything."""
    signed = next(iter(sqlite3.connect(part(site) / FILE).execute("SELECT value FROM kept WHERE field = 'alone'")))[0]
    for planted in (pickle.dumps(_Bomb(tmp_path / "ran")), signed):
        _change_row(site, ARTIFACT, planted)
        with pytest.raises(MemositeError, match="it was removed"), open_archive(load_config(site)) as handle:
            list(handle.recall().artifacts.values())
        with open_archive(load_config(site)) as handle:
            assert len(handle.recall().artifacts) == 2
        assert counts(site)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("field", ["keys", "artifacts", "positions", "alone"])
def test_an_archive_of_which_rows_are_missing_is_read_again(site: Path, field: str) -> None:
    """Whoever removes rows from the cache makes no command tell less."""
    with sqlite3.connect(part(site) / FILE) as sql:
        sql.execute("DELETE FROM kept WHERE rowid = (SELECT rowid FROM kept WHERE field = ?)", (field,))
    sql.close()
    with open_archive(load_config(site)) as handle:
        assert handle.recall() == read_again(site)


def test_a_link_is_not_followed(site: Path, tmp_path: Path) -> None:
    """What it leads to stays as it is."""
    precious = write_text(tmp_path / "precious", "text")
    (part(site) / FILE).unlink()
    (part(site) / FILE).symlink_to(precious)
    with pytest.raises(OutputError, match="found a symbolic link"):
        open_kept(part(site))
    assert main(["check", str(site), "--quiet"]) == 2
    assert precious.read_text() == "text"


def test_what_becomes_confidential_or_is_erased_is_not_kept(site: Path, tmp_path: Path) -> None:
    """Its words and its name, for the public; no digest of the sources tells of what is published, and so erased."""
    output, name = site.parent / "public", "2026-05-01-0900--engineer--director--one"
    build_site(site, "--audience", "public", output=output)
    assert b"zqoneword" in words(site, "public")
    write_memo(
        site / "memos/inbox", name, body="zqoneword", extra={"metadata": {"retention_policy": "confidential"}},
    )  # fmt: skip
    build_site(site, "--audience", "public", output=output)
    assert words(site, "public") == {b"zqtwoword"}
    assert b"--one" not in bytes_kept(site, "public")
    planted, name = write_planted(tmp_path / "planted"), next(iter(PLANTED))
    for erase, is_there in (("", True), (f"erase: [{{id: {name}, why: asked, on: 2026-05-20}}]\n", False)):
        write_text(planted / "memosite.yml", f"{CONFIG}{erase}")
        build_site(planted)
        with State(part(planted)) as state:
            assert bool(state[KEPT].count()) is is_there


def test_a_build_that_fails_leaves_no_process(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would go on holding the lock of the output."""
    monkeypatch.setattr("memosite.reading.keeping.write_kept", lambda *_, **__: time.sleep(900))
    _add(site)
    other = OutputFolder(site / "_site")
    other.open()
    assert main(["build", str(site), "--jobs", "2", "--quiet"]) == 2
    other.leave()
    other.unlock()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_process_beside_the_build_writes_it(site: Path, jobs: int) -> None:
    """With one job the build itself does."""
    _add(site)
    build_site(site, "--jobs", jobs)
    assert counts(site)


def test_a_text_is_found_in_its_file_by_its_digest(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In any form, without the cache of what was parsed; an error says what to do where no file has it any more."""
    name = "2026-05-02-0900--engineer--director--three"
    write_memo(site / "memos/inbox", name, body="zqsummary\r\nin short", body_ref=f"{name}.body.md")
    write_text(site / f"memos/inbox/{name}.body.md", "\ufeffzqthree\r\nin a file\r\n")
    monkeypatch.setattr("memosite.reading.parse_cache.RECENT", 0)  # else what was written just now is read again
    build_site(site)
    with open_archive(load_config(site)) as handle:
        memo = handle.recall().artifacts["memo", name]
        assert isinstance(memo, Memo)
        variant = memo.variants[0]
        assert variant.envelope.body is not None
        assert variant.body is not None
        assert handle.shelf.text(variant.envelope.body.sha256) == "zqsummary\nin short"
        assert handle.shelf.text(variant.body.text.sha256) == "zqthree\nin a file\n"
        assert "_caches" not in vars(handle)
    write_memo(site / "memos/inbox", "2026-05-03-0900--engineer--director--four", body="three")
    with open_archive(load_config(site)) as handle:
        handle.recall()
    with open_archive(load_config(site)) as handle:
        archive = handle.recall()
        memo = next(one for one in archive.artifacts.values() if one.id.endswith("four"))
        assert isinstance(memo, Memo)
        text = next(text for variant in memo.variants if (text := variant.text) is not None)
        write_memo(site / "memos/inbox", "2026-05-03-0900--engineer--director--four", body="another one")
        with pytest.raises(SourceError, match="run the command again"):
            handle.shelf.get(text.sha256)


FIRST, SECOND, THIRD = (f"2026-05-0{day}-1430--a--b--{name}" for day, name in enumerate(("one", "two", "three"), 1))


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A site of two memos that was built."""
    two = tmp_path / "site"
    write_memo(two / "memos/inbox", FIRST, body="About the quay.")
    write_memo(two / "memos/inbox", SECOND, body="About the zeppelin.")
    build_site(two)
    return two


def analyses(two: Path) -> dict[tuple[str | int, ...], bytes]:
    """The analyses in the cache."""
    with State(two / ".memosite/internal") as state:
        return dict(state[ANALYSES].items())


def kept(two: Path) -> list[str]:
    """The blocks of which there are analyses."""
    return sorted({str(block) for block, _ in analyses(two)})


def words_analyzed(two: Path) -> bytes:
    """All that is in the cache of them."""
    with State(two / ".memosite/internal") as state:
        words = b"".join(data for _, data in state[ANALYSES].items())
    left = b"".join(file.read_bytes() for file in (two / ".memosite/internal").glob("state.sqlite*"))
    return words + b"".join(word for word in (b"quay", b"zeppelin") if word in left)


@pytest.fixture
def analyzed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of what is analyzed."""
    found: list[str] = []
    find: Callable[..., object] = blocks_module._find

    def noted(card: Card, **options: object) -> object:
        found.append(card.id)
        return find(card, **options)

    monkeypatch.setattr(blocks_module, "_find", noted)
    return found


def test_what_is_in_the_last_block_is_not_analyzed_again(two: Path, analyzed: list[str], tmp_path: Path) -> None:
    """A build of another process analyzes what is new, and makes the files that a clean build makes."""
    write_memo(two / "memos/inbox", THIRD)
    build_site(two, "--jobs", 1)
    assert analyzed == [THIRD]
    assert tree_bytes(two / "_site") == built_from_nothing(two, tmp_path / "clean")


def test_only_what_this_program_wrote_counts(
    two: Path, analyzed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise all is analyzed, and the files are the same."""
    known = analyses(two)
    with monkeypatch.context() as patched:
        patched.setattr("memosite.store.state.program_digest", lambda: "another")
        with State(two / ".memosite/internal") as state, state.writing():
            state[ANALYSES].put([(key, b"not for this program") for key in known])
    write_memo(two / "memos/inbox", THIRD)
    build_site(two, "--jobs", 1)
    assert sorted(analyzed) == [FIRST, SECOND, THIRD]
    assert tree_bytes(two / "_site") == built_from_nothing(two, tmp_path / "clean")


def test_what_is_removed_is_in_no_row(two: Path) -> None:
    """Neither the words of a memo that is gone nor those of a text that was changed."""
    assert b"quay" in words_analyzed(two) and b"zeppelin" in words_analyzed(two)
    write_memo(two / "memos/inbox", FIRST, body="About the pier.")
    (two / f"memos/inbox/{SECOND}.openthing").unlink()
    build_site(two)
    assert b"pier" in words_analyzed(two)
    assert b"quay" not in words_analyzed(two) and b"zeppelin" not in words_analyzed(two)


def test_only_the_last_block_is_kept(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When another one is the last, the rows of the former go with their words."""
    monkeypatch.setattr(blocks_module, "TAIL", 2)
    write_memo(two / "memos/inbox", THIRD, body="About the lighthouse.")
    build_site(two, "--jobs", 1)
    assert kept(two) == ["t1"]
    (two / f"memos/inbox/{THIRD}.openthing").unlink()
    build_site(two, "--jobs", 1)
    assert kept(two) == []
