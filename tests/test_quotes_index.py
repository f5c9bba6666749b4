"""The index of quotes: which of many texts hold a quote, which share a passage; rows per text (SPEC 7)."""

from hypothesis import strategies as st

from memosite.quotes.index import MOST_HOLDERS, QuoteIndex, make_row, shared_passages
from memosite.quotes.words import bare_words
from tests.support.fuzzing import fuzz
from tests.support.quotations import Writer, altered


def texts_of(writer: Writer, count: int) -> dict[str, str]:
    """Texts of their own words."""
    return {f"memo/{number}": writer.paragraph(6) for number in range(count)}


def test_every_quote_of_four_words_or_more_is_found() -> None:
    """In the text that has it, with all of its runs, marks and line ends or not; among hundreds of texts."""
    writer = Writer(1)
    texts = texts_of(writer, 300)
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
        assert shares[key] == 1, quote


def test_a_quote_with_one_word_changed_still_finds_its_source() -> None:
    """Though hundreds of texts have most of the same words: nearly always among the first five."""
    writer = Writer(2)
    texts = texts_of(writer, 300)
    keys = writer.chance.choices(sorted(texts), k=200)
    quotes = [altered(writer.part(texts[key], 12), "word", writer.chance) for key in keys]
    found = QuoteIndex.of(texts.items()).find(quotes, limit=300)
    ranks = [[one.key for one in some].index(key) for key, some in zip(keys, found, strict=True)]
    assert sum(rank < 5 for rank in ranks) >= 190


def test_what_cannot_be_found_finds_nothing() -> None:
    """Words of nobody, too few words, no words; an empty index."""
    index = QuoteIndex.of([("a", "The load is two tons and no more."), ("b", ""), ("c", "one two")])
    assert index.find(["Nobody ever wrote these words", "two", ""]) == [(), (), ()]
    assert QuoteIndex.of([]).find(["The load is two"]) == [()]
    assert QuoteIndex.of([]).pairs() == []
    assert index.sharing(make_row("")) == ()


def slowly_shared(one: list[str], other: list[str], least: int) -> set[int]:
    """The places of the words of the one that are in a run of so many words of the other: every pair is compared."""
    found: set[int] = set()
    for start in range(len(one) - least + 1):
        if any(one[start : start + least] == other[place : place + least] for place in range(len(other) - least + 1)):
            found |= set(range(start, start + least))
    return found


def test_texts_that_share_twenty_words_are_paired() -> None:
    """All pairs that a comparison of every pair finds, each with its ranges."""
    writer = Writer(3)
    texts = texts_of(writer, 40)
    keys = sorted(texts)
    for number in range(0, 40, 3):
        borrowed = writer.part(texts[keys[number]], writer.chance.choice([19, 20, 21, 40]))
        lender = keys[(number * 7 + 1) % 40]
        texts[lender] = f"{writer.sentence()} {borrowed.upper()}, {writer.sentence()}\n{texts[lender]}"
    index = QuoteIndex.of(texts.items())
    pairs = set(index.pairs())
    for number, key in enumerate(texts):
        assert key in index.sharing(index.rows[key])
        for other in list(texts)[number + 1 :]:
            words = [bare_words(texts[one]) for one in (key, other)]
            expected = slowly_shared(words[0], words[1], 20)
            found = shared_passages(texts[key], texts[other])
            assert sum(one.words for one in found) == len(expected)
            assert not expected or ((key, other) in pairs and other in index.sharing(index.rows[key]))
            for one in found:
                ours, theirs = texts[key][one.start : one.end], texts[other][one.other_start : one.other_end]
                assert bare_words(ours) == bare_words(theirs)
                assert len(bare_words(ours)) == one.words >= 20
    assert len(pairs) > 5


def test_boilerplate_makes_no_pairs() -> None:
    """A footer that more texts have than may share a run; what two of these share besides is found."""
    numbers = iter(range(100_000))
    footer, passage, *own = (" ".join(f"w{next(numbers)}" for _ in range(30)) for _ in range(MOST_HOLDERS + 10))
    texts = {number: f"{words}\n{footer}" for number, words in enumerate(own)}
    for number in (3, 30):
        texts[number] = f"{passage}\n{texts[number]}"
    index = QuoteIndex.of(texts.items())
    assert index.pairs() == [(3, 30)]
    assert index.sharing(index.rows[3]) == (3, 30)


def test_a_row_depends_on_its_text_alone() -> None:
    """It is small, and can be kept: these bytes must not change without `VERSION`."""
    writer = Writer(5)
    text = writer.paragraph(200)
    assert make_row(text) == make_row(text)
    assert len(make_row(text)) < 4 * len(bare_words(text))
    assert make_row("**The** load is two tons.") == make_row("the LOAD is\ntwo tons")
    assert make_row("The load is two tons.").hex() == ROW


ROW = "040000004b1fcc6d"

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=60)


@fuzz(st.tuples(WORDS, WORDS), examples=200)
def test_shared_passages_of_texts_that_repeat_themselves(case: tuple[list[str], list[str]]) -> None:
    """Those that the second implementation finds begin and end where it says; each is really shared."""
    one, other = case
    found = shared_passages(" ".join(one), " ".join(other), least=5)
    expected = slowly_shared(one, other, 5)
    text, text2 = " ".join(one), " ".join(other)
    covered: set[int] = set()
    for shared in found:
        ours = text[shared.start : shared.end].split()
        assert ours == text2[shared.other_start : shared.other_end].split()
        places = set(range(shared.start // 2, shared.end // 2 + 1))
        assert not covered & places
        covered |= places
    assert covered <= expected
    assert bool(covered) == bool(expected)


def test_a_text_that_is_one_word_is_compared() -> None:
    """A million times the same word, in both."""
    found = shared_passages("a " * 100_000, "a " * 60_000)
    assert found[0].words == 60_000
