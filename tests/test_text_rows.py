"""The index of quotes that commands keep: it finds what reading every text finds, and tells of no other text."""

import marshal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memosite.cli import main
from memosite.config.loading import load_config
from memosite.passages import texts_of
from memosite.quotes.index import make_row
from memosite.reading.archive import open_archive
from memosite.reading.text_rows import NAMES, QUOTES, RowKind, TextRows
from memosite.store.cache import read_signed, write_signed
from tests.support.files import write_text
from tests.support.memos import write_memo, write_transcript
from tests.support.quotations import ALTERATIONS, Writer, altered
from tests.support.repos import Repo
from tests.support.sites import build_site

AWS_KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with memos that quote each other, a transcript and a document; built twice, so that it is kept."""
    writer = Writer(11)
    repo = Repo(tmp_path / "site")
    told = [writer.paragraph() for _ in range(12)]
    for number, text in enumerate(told):
        quoted = f"> {told[number // 2]}\n\n" if number % 3 == 0 else ""
        write_memo(repo.root / "memos/inbox", name(number), body=f"{quoted}{writer.marked(text)}")
    turns = "".join(f"## User\n\n{text}\n\n## Assistant\n\n{writer.paragraph()}\n\n" for text in told[:4])
    write_transcript(repo.root / "transcripts/engineer", "2026-05-20-0900--engineer--talk", text=turns)
    write_text(repo.root / "decisions/0001-told.md", f"# Told\n\n{told[5]}\n")
    repo.commit()
    build_site(repo.root)
    build_site(repo.root)
    return repo.root


def name(number: int) -> str:
    """The name of a memo."""
    return f"2026-05-{number + 1:02}-0900--engineer--director--told-{number}"


def rows_file(site: Path) -> Path:
    """Where the index is."""
    return site / ".memosite/internal" / QUOTES.file


def kept_rows(site: Path, kind: RowKind = QUOTES) -> dict[str, bytes]:
    """The rows that are kept, by digest."""
    found: Any = marshal.loads(read_signed(site / ".memosite/internal" / kind.file) or b"")
    rows: dict[str, bytes] = found[3]
    return rows


def answer(site: Path, quote: str, capsys: Capture) -> tuple[bool, str]:
    """What the command says of a quote."""
    code = main(["cite", "--quote", quote, "--json", "--site", str(site)])
    return code == 0, "".join(capsys.readouterr())


def texts(site: Path) -> list[str]:
    """All texts of the archive, in its order."""
    with open_archive(load_config(site)) as handle:
        return [text for one in handle.recall().artifacts.values() for text in texts_of(one, handle.shelf.text)]


def test_kept_rows_find_what_reading_texts_finds(site: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """True quotes, altered ones and those of several sources; the same places in the same order."""
    writer = Writer(12)
    quotes = [writer.part(writer.chance.choice(texts(site)), words) for words in (4, 8, 12, 20) for _ in range(3)]
    quotes += [altered(one, how, writer.chance) or one for one, how in zip(quotes, ALTERATIONS * 2, strict=True)]
    quotes += ["nobody wrote this anywhere", "two words"]
    by_rows = [answer(site, one, capsys) for one in quotes]
    assert len(kept_rows(site)) == 14
    monkeypatch.setattr("memosite.reading.archive.ArchiveHandle.text_rows", lambda _, kind: TextRows(kind=kind))
    assert [answer(site, one, capsys) for one in quotes] == by_rows
    assert 10 < sum(found for found, _ in by_rows) < len(quotes)


def test_no_text_is_read_twice_for_its_row(site: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first quote makes all rows, the next none, and one after an edit that of the new text."""
    made: list[str] = []

    def count(text: str) -> bytes:
        made.append(text)
        return make_row(text)

    monkeypatch.setattr("memosite.commands.citing.QUOTES", replace(QUOTES, make_row=count))
    quote = "the new words that were added afterwards"
    assert answer(site, quote, capsys)[0] is False
    assert len(made) == 14
    assert answer(site, quote, capsys)[0] is False
    assert len(made) == 14
    write_memo(site / "memos/inbox", "2026-06-01-0900--engineer--director--new", body=f"Here are {quote}.")
    assert answer(site, quote, capsys)[0] is True
    assert made[14:] == [f"Here are {quote}."]


def test_rows_of_texts_that_are_not_published_any_more_are_removed_by_a_build(site: Path, capsys: Capture) -> None:
    """Whoever has a row can try out words: none stays of what was withheld, edited or removed; nor any name of it."""
    names = site / ".memosite/internal" / NAMES.file
    gone = site / f"memos/inbox/{name(2)}.openthing"
    answer(site, "words that nobody here wrote", capsys)
    assert main(["why", str(next((site / "memos/inbox").glob("*.openthing"))), "--site", str(site)]) == 0
    before, named = kept_rows(site), kept_rows(site, NAMES)
    assert gone.name.encode() in names.read_bytes()
    edited = site / "memos/inbox" / f"{name(1)}.openthing"
    edited.write_text(edited.read_text().replace("The ", f"The key {AWS_KEY} and the ", 1))
    gone.unlink()
    assert main(["build", str(site), "--quiet"]) == 1
    assert len(before) == 14
    assert kept_rows(site).keys() < before.keys()
    assert kept_rows(site, NAMES).keys() < named.keys()
    assert gone.name.encode() not in names.read_bytes()
    assert len(kept_rows(site)) == 12
    answer(site, "words that nobody here wrote", capsys)
    assert len(kept_rows(site)) == 12


def test_nothing_is_read_that_others_wrote_or_kept_where_something_is_erased(site: Path, capsys: Capture) -> None:
    """A damaged file, one that nobody signed and one of another version: rows are made again."""
    quote = " ".join(texts(site)[0].split("\n\n")[-1].split()[:10])
    found = answer(site, quote, capsys)
    whole = rows_file(site).read_bytes()
    for data in (b"", whole[:-1], whole[:40] + b"\0" + whole[41:], whole[32:]):
        rows_file(site).write_bytes(data)
        assert answer(site, quote, capsys) == found
        assert rows_file(site).read_bytes() == whole
    write_signed(rows_file(site), marshal.dumps((-1, "", [], {})))
    assert answer(site, quote, capsys) == found
    answer(site, "words that nobody here wrote", capsys)
    assert rows_file(site).is_file()
    write_text(site / "memosite.yml", f"erase:\n  - id: memo/{name(1)}\n    why: asked for\n    on: 2026-06-01\n")
    told = next(one for one in texts(site) if one.startswith("# Told")).split("\n\n")[1]
    quote = " ".join(told.split()[:10])
    assert answer(site, quote, capsys)[0] is True
    assert not rows_file(site).exists()


def test_rows_are_not_written_for_an_archive_that_is_kept_no_more(site: Path) -> None:
    """A build that withheld something meanwhile may have removed them on purpose."""
    with open_archive(load_config(site)) as handle:
        handle.recall()
        rows = handle.text_rows(QUOTES)
        write_memo(site / "memos/inbox", "2026-06-01-0900--engineer--director--new", body="New words.")
        build_site(site)
        _, known = rows.read(lambda: [("memo/a", ("0",), None)], lambda _: "four words are here")
        assert known.keys() == {"0"}
    assert not rows_file(site).exists()
