"""The index of quotes: which texts hold a quote or share a passage; rows per text that commands keep (SPEC 7)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import strategies as st

from memosite.cli import main
from memosite.config.loading import load_config
from memosite.facts.values import replace
from memosite.passages import texts_of
from memosite.quotes.index import (
    MOST_HOLDERS,
    MOST_PAIRED,
    QuoteIndex,
    Shared,
    changed_runs,
    common_pairs,
    common_runs,
    letters_of,
    make_row,
    pair_passages,
    share_row,
)
from memosite.quotes.source import bare_bytes, bare_words
from memosite.reading.archive import open_archive
from memosite.reading.text_rows import NAMES, QUOTES, RowKind, TextRows
from memosite.store.state import KEPT, TEXTS, State
from tests.support.files import write_text
from tests.support.fuzzing import fuzz
from tests.support.memos import write_memo, write_transcript
from tests.support.quotations import ALTERATIONS, Writer, altered
from tests.support.repos import Repo
from tests.support.sites import build_site

Key = TypeVar("Key")


def own_texts(writer: Writer, count: int) -> dict[str, str]:
    """Texts of their own words."""
    return {f"memo/{number}": writer.paragraph(6) for number in range(count)}


def sharing_pairs(rows: Mapping[Key, bytes]) -> list[tuple[Key, Key]]:
    """All pairs of texts that may share a passage of 20 words or more, by what is kept of each; in their order."""
    return list(common_pairs(common_runs(rows), rows))


def find_shared(texts: Mapping[Key, str]) -> list[tuple[Key, Key, Shared]]:
    """The passages of 20 words or more that texts share, as long as each can be, in the order of the texts."""
    rows = {key: share_row(text) for key, text in texts.items()}
    found = pair_passages(common_pairs(common_runs(rows), rows), texts.__getitem__)
    return [(*pair, passage) for pair, passages in found.items() for passage in passages]


def test_every_quote_of_four_words_or_more_is_found() -> None:
    """Among hundreds of texts, marked or not; with one word changed nearly always among the first five."""
    writer = Writer(1)
    texts = own_texts(writer, 300)
    texts |= {f"marked/{number}": writer.marked(writer.paragraph()) for number in range(100)}
    index = QuoteIndex.of(texts.items())
    keys = writer.chance.choices(sorted(texts), k=400)
    quotes = []
    for key in keys:
        words = texts[key].split()
        start = writer.chance.randrange(len(words) - 20)
        quotes.append(" ".join(words[start : start + writer.chance.randint(4, 20)]))
    for key, quote, found in zip(keys, quotes, index.find(quotes, limit=500), strict=True):
        shares = {one.key: one.share for one in found}
        assert shares[key] == found[0].share == 1, quote
    writer = Writer(2)
    texts = own_texts(writer, 300)
    keys = writer.chance.choices(sorted(texts), k=200)
    quotes = [altered(writer.part(texts[key], 12), "word", writer.chance) for key in keys]
    ranked = QuoteIndex.of(texts.items()).find(quotes, limit=300)
    ranks = [[one.key for one in some].index(key) for key, some in zip(keys, ranked, strict=True)]
    assert sum(rank < 5 for rank in ranks) >= 190


def test_what_cannot_be_found_finds_nothing_and_texts_without_the_letters_of_a_quote_are_left_out() -> None:
    """Nothing is lost, in the same order. Words of nobody, too few, none; a row depends on its text alone."""
    writer = Writer(6)
    texts = own_texts(writer, 200)
    texts |= {f"marked/{number}": writer.marked(writer.paragraph()) for number in range(50)}
    texts |= {f"foreign/{number}": f"ÉTÉ {writer.sentence()} Straße — 長い文" for number in range(20)}
    whole = QuoteIndex.of(texts.items())
    left = 0
    for key in writer.chance.choices(sorted(texts), k=20):
        quote = writer.part(texts[key], writer.chance.choice([3, 4, 8, 15]))
        for asked in (quote, quote.upper(), altered(quote, "word", writer.chance)):
            may_have = letters_of([asked])
            fewer = QuoteIndex.of((one, text) for one, text in texts.items() if may_have(text))
            assert fewer.find([asked], limit=300) == whole.find([asked], limit=300)
            left += len(fewer.rows)
    assert left < 60 * len(texts) * 2 / 3
    many = letters_of(texts.values())
    assert all(map(many, texts.values()))
    index = QuoteIndex.of([("a", "The load is two tons and no more."), ("b", ""), ("c", "one two")])
    assert index.find(["Nobody ever wrote these words", "two", ""]) == [(), (), ()]
    assert QuoteIndex.of([]).find(["The load is two"]) == [()]
    assert sharing_pairs({}) == []
    assert sharing_pairs({"a": share_row(""), "b": share_row("")}) == []
    assert letters_of(["", "two words"])("two words") is False
    # It is small, and can be kept: these bytes must not change without another `version` of `QUOTES`.
    writer = Writer(5)
    text = writer.paragraph(200)
    assert make_row(text) == make_row(text)
    assert len(make_row(text)) < 3 * len(bare_words(text))
    assert len(share_row(text)) < 2 * len(bare_words(text))
    assert make_row("**The** load is two tons.") == make_row("the LOAD is\ntwo tons")
    assert make_row("The load is two tons.").hex() == "4b1fcc6d"


LENGTHS = st.sampled_from(["a", "be", "letters", "marvelous", "cathedral", "ÉCOLES", "長", "İstanbul", "ΣΑΣ"])


@fuzz(st.tuples(*[st.lists(LENGTHS, max_size=60)] * 4, st.lists(LENGTHS, min_size=20, max_size=30)), examples=300)
def test_any_twenty_words_that_two_texts_share_pair_them(case: tuple[list[str], ...]) -> None:
    """Whatever the lengths of the words, and of those around them."""
    before, after, other_before, other_after, passage = case
    one, other = ", ".join((*before, *passage, *after)), " ".join((*other_before, *passage, *other_after))
    assert sharing_pairs({"one": share_row(one), "other": share_row(other)}) == [("one", "other")]
    assert bare_bytes(one) == [word.encode() for word in bare_words(one)]


@fuzz(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 5), st.booleans()), max_size=12), examples=100)
def test_what_is_updated_is_what_is_found_anew(edits: list[tuple[str, int, bool]]) -> None:
    """After texts came, changed and went, common runs are those of all texts; also where boilerplate becomes none."""
    writer = Writer(8)
    passages = [writer.paragraph(3) for _ in range(6)]
    rows: dict[str, bytes] = {}
    common: dict[int, list[str]] = {}
    for key, number, goes in edits:
        row = b"" if goes else share_row(f"{writer.sentence()} {passages[number]} {passages[number // 2]}")
        others = [rows.pop(key, b""), row]
        rows |= {} if goes else {key: row}
        common = changed_runs(common, rows, others)
        anew = common_runs(rows)
        assert {run: sorted(keys) for run, keys in common.items()} == {run: sorted(keys) for run, keys in anew.items()}
        assert common_pairs(common, sorted(rows)) == common_pairs(anew, sorted(rows))


def test_boilerplate_makes_no_pairs_and_the_same_word_over_and_over_ends() -> None:
    """A footer that more texts have than may share a run; what two of these share besides is found."""
    # What many texts share is paired with the first alone, so that pairs grow with the texts, not with their square.
    numbers = iter(range(100_000))
    footer, passage, *own = (" ".join(f"w{next(numbers)}" for _ in range(30)) for _ in range(MOST_HOLDERS + 10))
    texts = {number: f"{words}\n{footer}" for number, words in enumerate(own)}
    for number in (3, 30):
        texts[number] = f"{passage}\n{texts[number]}"
    assert sharing_pairs({number: share_row(text) for number, text in texts.items()}) == [(3, 30)]
    for count in (MOST_PAIRED, MOST_PAIRED + 1, MOST_HOLDERS):
        pairs = sharing_pairs({number: share_row(f"{passage} own{number}") for number in range(count)})
        assert len(pairs) == (28 if count == MOST_PAIRED else count - 1)
        assert {one for one, _ in pairs} == (set(range(7)) if count == MOST_PAIRED else {0})
    # Each pair takes linear time, however often words repeat.
    texts = {number: f"{'tide ' * (4_000 + number)} and {number}" for number in range(MOST_HOLDERS)}
    assert max(one.words for _, _, one in find_shared(texts)) >= 4_000


def slowly_found(one: list[str], other: list[str]) -> set[tuple[int, int, int]]:
    """Where each run of 20 same words or more begins in both, and its length, as long as it can be."""
    found: set[tuple[int, int, int]] = set()
    for start, word in enumerate(one):
        for place, same in enumerate(other):
            if word != same or (start and place and one[start - 1] == other[place - 1]):
                continue
            pairs = zip(one[start:], other[place:], strict=False)
            length = next((at for at, (left, right) in enumerate(pairs) if left != right), None)
            length = min(len(one) - start, len(other) - place) if length is None else length
            if length >= 20:
                found.add((start, place, length))
    return found


def test_what_all_texts_share_is_what_a_comparison_of_every_pair_finds() -> None:
    """With exactly the same beginnings and ends; passages of 19 words are none."""
    writer = Writer(7)
    texts = own_texts(writer, 24)
    keys = sorted(texts)
    for number in range(0, 24, 2):
        borrowed = writer.part(texts[keys[number]], writer.chance.choice([19, 20, 21, 45]))
        lender = keys[(number * 7 + 1) % 24]
        texts[lender] = f"{writer.sentence()} {borrowed.upper()}, — {writer.sentence()}\n{texts[lender]}"
    found: dict[tuple[str, str], set[tuple[int, int, int]]] = {}
    for key, other, shared in find_shared(texts):
        ours, theirs = texts[key][shared.start : shared.end], texts[other][shared.other_start : shared.other_end]
        assert bare_words(ours) == bare_words(theirs)
        begins = (len(bare_words(texts[key][: shared.start])), len(bare_words(texts[other][: shared.other_start])))
        found.setdefault((key, other), set()).add((*begins, shared.words))
    for number, key in enumerate(texts):
        for other in list(texts)[number + 1 :]:
            expected = slowly_found(bare_words(texts[key]), bare_words(texts[other]))
            assert found.get((key, other), set()) == expected
    assert len(found) > 5


WORDS = st.lists(st.sampled_from("ab"), max_size=60)


@fuzz(st.tuples(WORDS, WORDS, st.lists(st.sampled_from("abc"), max_size=40)), examples=200)
def test_shared_passages_of_texts_that_repeat_themselves(case: tuple[list[str], list[str], list[str]]) -> None:
    """Each that is found is really shared, and some is found if there is any."""
    one, other, passage = case
    texts = {"one": " ".join([*one, *passage, *one]), "other": " ".join([*other, *passage])}
    found = find_shared(texts)
    for _, _, shared in found:
        ours = texts["one"][shared.start : shared.end].split()
        assert ours == texts["other"][shared.other_start : shared.other_end].split()
        assert len(ours) == shared.words >= 20
    expected = slowly_found(texts["one"].split(), texts["other"].split())
    assert {(shared.start // 2, shared.other_start // 2, shared.words) for _, _, shared in found} == expected


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
        write_memo(repo.root / "memos/inbox", memo_name(number), body=f"{quoted}{writer.marked(text)}")
    turns = "".join(f"## User\n\n{text}\n\n## Assistant\n\n{writer.paragraph()}\n\n" for text in told[:4])
    write_transcript(repo.root / "transcripts/engineer", "2026-05-20-0900--engineer--talk", text=turns)
    write_text(repo.root / "decisions/0001-told.md", f"# Told\n\n{told[5]}\n")
    repo.commit()
    build_site(repo.root)
    build_site(repo.root)
    return repo.root


def memo_name(number: int) -> str:
    """The name of a memo."""
    return f"2026-05-{number + 1:02}-0900--engineer--director--told-{number}"


def kept_rows(site: Path, kind: RowKind = QUOTES) -> dict[str, bytes]:
    """The rows that are kept, by digest."""
    with State(site / ".memosite/internal") as state:
        return {str(digest): row for (_, digest), row in state[TEXTS].items(kind.name)}


def kept_items(site: Path) -> bytes:
    """The items of indexes, which name files."""
    with State(site / ".memosite/internal") as state:
        return b"".join(row for _, row in state[KEPT].items("items"))


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
    gone = site / f"memos/inbox/{memo_name(2)}.openthing"
    answer(site, "words that nobody here wrote", capsys)
    assert main(["why", str(next((site / "memos/inbox").glob("*.openthing"))), "--site", str(site)]) == 0
    before, named = kept_rows(site), kept_rows(site, NAMES)
    assert gone.name.encode() in kept_items(site)
    edited = site / "memos/inbox" / f"{memo_name(1)}.openthing"
    edited.write_text(edited.read_text().replace("The ", f"The key {AWS_KEY} and the ", 1))
    gone.unlink()
    assert main(["build", str(site), "--quiet"]) == 1
    assert len(before) == 14
    assert kept_rows(site).keys() < before.keys()
    assert kept_rows(site, NAMES).keys() < named.keys()
    assert gone.name.encode() not in kept_items(site)
    assert len(kept_rows(site)) == 12
    answer(site, "words that nobody here wrote", capsys)
    assert len(kept_rows(site)) == 12


def test_nothing_is_kept_where_something_is_erased(site: Path, capsys: Capture) -> None:
    """Neither rows nor items."""
    answer(site, "words that nobody here wrote", capsys)
    assert kept_rows(site) and kept_items(site)
    write_text(site / "memosite.yml", f"erase:\n  - id: memo/{memo_name(1)}\n    why: asked for\n    on: 2026-06-01\n")
    told = next(one for one in texts(site) if one.startswith("# Told")).split("\n\n")[1]
    quote = " ".join(told.split()[:10])
    assert answer(site, quote, capsys)[0] is True
    assert not kept_rows(site)
    assert not kept_items(site)


def test_rows_are_not_written_for_an_archive_that_is_kept_no_more(site: Path) -> None:
    """A build that withheld something meanwhile may have removed them on purpose."""
    with open_archive(load_config(site)) as handle:
        handle.recall()
        rows = handle.text_rows(QUOTES)
        write_memo(site / "memos/inbox", "2026-06-01-0900--engineer--director--new", body="New words.")
        build_site(site)
        _, known = rows.read(lambda: [("memo/a", ("0",), None)], lambda _: "four words are here")
        assert known.keys() == {"0"}
    assert not kept_rows(site)
