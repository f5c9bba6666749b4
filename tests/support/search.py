"""What the tests of search share: archives as documents, the browser's answers, queries."""

import json
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from memosite.archive.model import Archive
from memosite.config.loading import load_config
from memosite.facts.values import Value
from memosite.reading.archive import open_archive
from memosite.search.answer import Search
from memosite.search.documents import Card, SearchDocument, TextOf, describe, documents
from memosite.search.whoosh.index import IndexSeal, making_index, newest_of, open_index, update_index
from memosite.search.whoosh.reader import IndexReader
from memosite.search_language import Analyzer
from memosite.store.shelf import Shelf
from tests.support.files import ROOT


class Read(Value):
    """An archive that was read, with what is searched of it and its texts."""

    archive: Archive
    cards: tuple[Card, ...]
    shelf: Shelf
    analyzer: Analyzer
    opened: ExitStack

    def index(self, cache: Path, text_of: TextOf | None = None, say: Callable[[str], object] = str) -> Search:
        """The index of the archive, brought up to date and open as long as the archive is."""
        with making_index(cache) as partial:
            assert partial is not None
            update_index(
                cache, partial, self.cards, text_of or self.shelf.text, self.analyzer, made_of=IndexSeal(), say=say
            )
        found = self.opened.enter_context(open_index(cache))
        assert found is not None
        return Search(index=IndexReader(index=found, newest=newest_of(self.cards), analyzer=self.analyzer))

    def documents(self) -> list[SearchDocument]:
        """All documents, in the order in which hits are shown."""
        found = (one for card in self.cards for one in documents(card, self.shelf.text))
        return sorted(found, key=lambda one: one.order)


@contextmanager
def reading(site: Path) -> Iterator[Read]:
    """Read a site for search."""
    analyzer = Analyzer()
    with open_archive(load_config(site)) as handle, ExitStack() as opened:
        archive, _ = handle.read()
        cards = tuple(describe(archive, artifact, analyzer) for artifact in archive.artifacts.values())
        yield Read(archive=archive, cards=cards, shelf=handle.shelf, analyzer=analyzer, opened=opened)


def browse(folder: Path, queries: Sequence[str], *, limit: int, whole: bool = False) -> list[dict[str, Any]]:
    """What the browser's searcher answers, in node: from pieces of files, or from whole ones, as from disk."""
    asked = json.dumps({"folder": str(folder / "search"), "limit": limit, "queries": queries, "whole": whole})
    done = subprocess.run(
        ["node", str(ROOT / "tests/search_node.js")],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


HAND_MADE = (
    *("hold", '"hold"', "barcode", '"barcode"', "subject:hold", "entry"),
    *("shelf", "holds shelf", "holds AND shelf", "holds OR shelf", "holds NOT shelf", "NOT shelf", "shel*"),
    *('"hold shelf"', '"the hold shelf"', '"shelf the hold"', "subject:holds", 'subject:"holds are open"'),
    *("subject:ho*", "from:director", "to:director", "with:director", "from:dir*", "to:all", "kind:memo", "kind:note"),
    *("kind:record", "kind:transcript", "kind:library", "kind:document", "system:memodef", "system:mem*"),
    *("system:wyren", "repo:catalogue", "box:inbox", "box:read", "box:archive", "is:open", "is:answered"),
    *("is:discharged", "is:broadcast", "is:unread", "NOT is:open kind:memo", "tag:budget", "status:superseded"),
    *("file:open_days.py", "file:ope* kind:transcript", "NOT file:open_days.py in:tools"),
    *("status:acc*", "thread:none", "in:tools", "in:tools the", "the NOT in:tools", "in:tools OR kind:note"),
    *("sent:2026", "sent:2026-05", "sent:2026-05-19", "sent:1999", "sent:[2026-04-01 TO 2026-04-30]"),
    *("sent:[* TO 2026-04]", "sent:[2026-05-20 TO *]", "sent:[* TO *]", "after:2026-05-01", "before:2026-05-01"),
    *("after:2w", "before:2w", "after:1d", "NOT sent:[* TO *]", "after:0d", "replace-stackmaster"),
    *("governance/decisions/2026-03-02-replace-stackmaster.md", "memos/inbox", "koha.example", "鐘楼", "図書館"),
    *("鐘*", "館", "ÉCOLE", "deadbeef", "49d4640", "0529110b93f4", "nothingatall", "zzz*", '"nothing at all"'),
    *("(from:director OR from:strategist) (money OR budget) NOT kind:note", "NOT (shelf OR holds)", "NOT NOT shelf"),
    *("a", "the", "the of and", "the OR of", "2026", "20*", "1", "(the", "shelf AND", "kind:nothing", '"', "* *", ""),
    "&&&",
)


def many_queries(read: Read, count: int) -> list[str]:
    """So many queries: those made by hand, then some made of what an archive holds; the same ones every time."""
    chance = random.Random(7)
    found = read.documents()
    words = [word for one in found for text in one.texts for word in text.split()[:200]]
    keys = [f"{name}:{value}" for one in found for name, value in one.keys]
    names = [name for one in found for name in one.names]
    queries = list(HAND_MADE)
    while len(queries) < count:
        one = chance.choice(found)
        text = (chance.choice(one.texts) or one.card.subject).split()
        start = chance.randrange(max(1, len(text)))
        phrase = " ".join(text[start : start + chance.randint(2, 4)]).replace('"', "")
        word = chance.choice(words)
        queries.append(
            chance.choice(
                (
                    f"{word} {chance.choice(words)}",
                    f'"{phrase}"',
                    f"{word[: chance.randint(2, 4)]}*",
                    f"{chance.choice(keys)} {word}",
                    f"{chance.choice(keys)} NOT {chance.choice(keys)}",
                    f"({word} OR {chance.choice(words)}) {chance.choice(keys)}",
                    chance.choice(names),
                    chance.choice(names)[: chance.randint(8, 30)],
                    f"{word} after:{chance.randint(1, 90)}d",
                )
            )
        )
    return queries
