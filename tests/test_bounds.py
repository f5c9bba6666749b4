"""What one file publishes is bounded by its size, whatever is in it (SPEC 9)."""

import json
import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive
from memosite.facts.file import NAMED, POSITIONS, TURNS, most_turns
from memosite.facts.findings import Severity
from memosite.facts.values import replace
from memosite.formats import adapters
from memosite.formats.turns import parse_conversation
from memosite.markdown.html import to_html
from tests.support.archives import findings, read_folders, read_sources
from tests.support.files import write_text
from tests.support.memos import write_memo, write_org, write_transcript
from tests.support.sites import built_files, tree_bytes

TIMES = 20
FREE = 3_000_000
"""One file may publish at most 20 times its bytes and 3 MB."""


def test_a_long_name_stays_another_name_and_many_names_add_few_positions(tmp_path: Path) -> None:
    """Shown by its beginning, with a note. A memo of 2 kB to 500 names, that no orgdef lists, once became 14 MB."""
    for number in range(2):
        write_memo(tmp_path / "memos", f"2026-05-01-143{number}--a--b--m", sender="f" * 5_000 + str(number))
    archive = read_folders(tmp_path)
    senders = {memo.sender for memo in archive.memos()}
    assert len(senders) == 2 and all(len(sender) == adapters.NAME_CHARS for sender in senders)
    assert len(archive.positions) == 3
    messages = [finding.message for finding in findings(archive, "name-long")]
    assert messages == ['"from" has 5,001 characters, expected at most 1,000'] * 2
    assert all(finding.location.line for finding in findings(archive, "name-long"))
    write_org(tmp_path / "other", positions=[{"id": "p" * 500_000}])
    assert len(read_folders(tmp_path / "other").positions) == 1
    many = tmp_path / "many"
    names = [f"z{number}" for number in range(300)]
    write_org(many, positions=["z200"])
    write_memo(many / "memos", "m", to=",".join(names))
    write_transcript(many / "transcripts/a", "t", participants=[{"position": f"y{number}"} for number in range(99)])
    archive, _ = read_sources(many, ledger=Ledger(positions=("z250",)))
    assert set(archive.positions) == {"engineer", "a", *names[:NAMED], "z200", "z250", *(f"y{i}" for i in range(NAMED))}
    assert list(archive.memos()[0].to) == names


LONG = "x" * 20_000
HOLDERS: dict[str, Callable[[Path], object]] = {
    "memo": lambda folder: write_memo(
        folder / "memos", "m", sender=f"{LONG}!", to=LONG, subject=LONG, thread_id=LONG, in_reply_to=LONG, sent=LONG,
        action_required=True, metadata={"tags": [LONG], "discharged": {"by": LONG, "via": LONG}},
    ),
    "transcript": lambda folder: write_transcript(
        folder / "transcripts/a", "t", transport=LONG, capture_tool=LONG, related_memos=[LONG],
        participants=[{"position": LONG, "session_arc": LONG, "identity": LONG}],
    ),
    "orgdef": lambda folder: write_org(
        folder / "org", version=LONG,
        positions=[{"id": LONG, "name": LONG, "status": LONG, "incumbent": LONG, "role_definition": {"id": LONG}}],
        relationships=[{"type": LONG, "from": LONG, "to": LONG}],
    ),
    "library": lambda folder: write_text(
        folder / "memos/l.opencatalog",
        json.dumps({"type": "memodef:Library", "id": LONG, "name": LONG, "items": [{"id": LONG, "name": LONG}]}),
    ),
    "memory-layer": lambda folder: write_text(
        folder / ".claude/memory/context/m.json",
        json.dumps({"meta": {"category": "context", "session_id": LONG, "summary": LONG}, "content": {"status": LONG}}),
    ),
    "mif": lambda folder: write_text(
        folder / "m.memory.md",
        f"---\nid: 1\ntype: semantic\nstatus: {LONG}\nnamespace: {LONG}\ntags: [{LONG}]\nentities: [{{name: {LONG}}}]\n"
        f"relationships: [{{type: {LONG}, target: {LONG}}}]\n---\n\nText.\n",
    ),
    "document": lambda folder: write_text(
        folder / "decisions/d.md", f"---\nstatus: {LONG}\ntags: [{LONG}]\n---\n# {LONG}\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOLDERS)
def test_no_page_shows_a_long_name_whole(kind: str, tmp_path: Path) -> None:
    """Ids, senders, tags, statuses, entities, relations …: only what is shown as it is has them whole."""
    HOLDERS[kind](tmp_path / "repo")
    write_memo(tmp_path / "repo/memos", "another")
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    whole = {path for path, data in files.items() if b"x" * 6_000 in data and "original" not in path}
    as_they_are = ("memos/m/index.html", "documents/", "records/memory-layer/", "search/t0/e")
    assert {path for path in whole if not path.startswith(as_they_are)} == set()


def bullets(*names: str) -> str:
    """A wyren memory with these decisions."""
    return "## Decisions\n\n" + "".join(f"- Use {name} & <more>\n" for name in names)


def records(archive: Archive) -> dict[str, str]:
    """The ids of records by their titles."""
    return {one.subject: one.id for one in archive.artifacts.values() if one.kind == "record"}


def test_a_list_of_many_records_shows_the_first_hundred_and_the_rest_as_it_is(tmp_path: Path) -> None:
    """10,000 bullets in 40 kB once became 231 MB in 41,932 files."""
    path = write_text(tmp_path / "repo/.wyren/memory.md", bullets(*map(str, range(10_000))))
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    pages = [path for path in files if path.startswith("records/wyren/") and path.endswith("/index.html")]
    assert sum(map(len, files.values())) < TIMES * path.stat().st_size + FREE
    shown = [unescape(VERBATIM.findall(files[one].decode())[0]) for one in sorted(pages, key=part) if ".rest." in one]
    assert len(pages) == 100 + len(shown) and len(shown) > 1
    assert "".join(shown) == "".join(f"- Use {number} & <more>\n" for number in range(100, 10_000))


VERBATIM = re.compile(r'<pre class="verbatim" tabindex="0">\n(.*?)</pre>', re.DOTALL)


def part(path: str) -> int:
    """The number of a part of a page, of its first 1."""
    number = path.split("/")[-2]
    return int(number) if number.isdigit() else 1


def test_a_transcript_of_many_turns_shows_the_rest_as_it_is(tmp_path: Path) -> None:
    """100,000 once became 157 MB: fewer small ones are shown, 20,000 read, the last to where another would begin."""
    turns = [f"## User\n\n{number} & <more>\n" for number in range(6_000)]
    write_transcript(tmp_path / "repo/transcripts/a", "t", text="".join(turns))
    most = most_turns(len("".join(turns)))
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    pages = {path: data.decode() for path, data in files.items() if re.fullmatch(r"transcripts/t/.*index\.html", path)}
    texts = [pages[path] for path in sorted(pages, key=part)]
    ids = [id_ for text in texts for id_ in re.findall(r'<section class="turn[^"]*" id="t(\d+)"', text)]
    assert ids == [str(number) for number in range(1, most + 1)] and most < 6_000
    shown = "".join(unescape(text) for page in texts for text in VERBATIM.findall(page))
    assert shown == "".join(turns[most:])
    assert "It holds more than" in texts[0]
    assert sum(map(len, files.values())) < TIMES * len("".join(turns)) + FREE
    assert '<details class="cite">' in texts[0] and '<details class="cite">\n<summary>Cite</summary>' not in texts[-2]
    turns = [f"## User\n\nTurn {number} of a conversation that goes on and on.\n\n" for number in range(20_100)]
    found = parse_conversation("".join(turns), started=None)
    assert len(found.turns) == TURNS and found.turns[-1].text == "\nTurn 19999 of a conversation that goes on and on."
    assert found.rest == "".join(turns[TURNS:])
    assert not parse_conversation("".join(turns[:TURNS]), started=None).rest


def seats(count: int, **fields: object) -> list[dict[str, object]]:
    """Positions `p0`, `p1` and so on."""
    return [{"id": f"p{number}", **fields} for number in range(count)]


def test_many_positions_show_the_first_and_the_rest_as_it_is_and_no_feed_has_every_text(tmp_path: Path) -> None:
    """20,000 once became 80,029 files; one beyond the bound that a memo names is listed from the first build on."""
    path = write_org(tmp_path / "repo/org", positions=seats(900, description="What it does & more. " * 25))
    write_memo(tmp_path / "repo/memos/inbox", "2026-05-01-1430--p800--p1--first", sender="p800", to="p1")
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    pages = {one for one in files if re.fullmatch(r"positions/p\d+/index\.html", one)}
    assert pages == {f"positions/p{number}/index.html" for number in (*range(POSITIONS), 800)}
    parts = [one for one in files if re.fullmatch(r"libraries/rest\.acme-organization/.*index\.html", one)]
    shown = "".join(unescape(VERBATIM.findall(files[one].decode())[0]) for one in sorted(parts, key=part))
    written = path.read_text()
    assert len(parts) > 1 and shown == written[written.rindex("{", 0, written.index('"p500"')) :]
    assert b"libraries/rest.acme-organization/" in files["org/index.html"]
    assert b"shown unchanged" in files["health/index.html"]
    assert sum(map(len, files.values())) < TIMES * len(written) + FREE
    shutil.rmtree(tmp_path / "repo/.memosite")  # all is made again, over the ledger
    assert built_files(tmp_path / "repo", output=tmp_path / "out") == files
    path = write_org(tmp_path / "fed/org", positions=seats(400, description="x" * 500))
    text = "A word. " * 5_000
    for to in ("all", ",".join(f"p{number}" for number in range(400)), "p1"):
        write_memo(tmp_path / "fed/memos", f"to-{to[:3]}", to=to, body=text)
    files = built_files(tmp_path / "fed", output=tmp_path / "out-fed")
    feed = files["positions/p1/feed-full.xml"].decode()
    assert feed.count("A word. A word.") and feed.count("too long for a feed") == 2
    assert sum(map(len, files.values())) < TIMES * (path.stat().st_size + 3 * len(text)) + 4 * FREE


def test_records_and_positions_that_had_a_page_keep_it(tmp_path: Path) -> None:
    """Whatever comes before them in the file; a note tells what has none. Of tiny positions fewer get pages."""
    write_org(tmp_path / "org", positions=seats(90))
    first, ledger = read_sources(tmp_path / "org")
    write_org(tmp_path / "org", positions=[*({"id": f"new{number}"} for number in range(600)), *seats(120)])
    second, _ = read_sources(tmp_path / "org", ledger=ledger)
    kept = [id_ for id_ in second.positions if not id_.startswith("new")]
    assert set(kept) == set(first.positions) and len(kept) == 90
    assert 200 < len(second.positions) < POSITIONS
    assert [one.rule.severity for one in findings(second, "file-bounded")] == [Severity.WARNING]
    third, _ = read_sources(
        tmp_path / "org", ledger=replace(ledger, positions=tuple(f"new{number}" for number in range(600)))
    )
    assert "new599" in third.positions and ("library", "rest.acme-organization") in third.artifacts
    old, new = [f"old {number}" for number in range(90)], [f"new {number}" for number in range(150)]
    write_text(tmp_path / "list/.wyren/memory.md", bullets(*old))
    first, ledger = read_sources(tmp_path / "list")
    write_text(tmp_path / "list/.wyren/memory.md", bullets(*new[:60], *old))
    second, _ = read_sources(tmp_path / "list", ledger=ledger)
    assert len(records(first)) == 90 and len(records(second)) == 150
    write_text(tmp_path / "list/.wyren/memory.md", bullets(*new, *old))
    third, _ = read_sources(tmp_path / "list", ledger=ledger)
    found = records(third)
    assert records(first).items() <= found.items()
    assert len(found) == 191 and "The rest of memory.md" in found
    assert [one.message for one in findings(third, "file-bounded")] == [
        "it holds 240 records; those after the first 100 are shown unchanged"
    ]


@pytest.mark.parametrize("definition", ["[1]: http://" + "u" * 50_000, "[1]: /u '" + "t" * 50_000 + "'"])
def test_links_that_share_a_long_address_do_not_multiply_it(definition: str) -> None:
    """A text of 86 kB once took 1.2 GB of memory: its page is cut, but only once it is made."""
    text = definition + "\n\n" + "[1] " * 2_000
    assert len(to_html(text, links={})) < 30 * len(text)
    assert "a &amp; b" in to_html("[1]: http://u '" + "a & b'\n\n[1]", links={})


def _in_body(text: str) -> Callable[[Path], object]:
    return lambda folder: write_memo(folder / "memos", "m", body=text)


def _in_mif(head: str, text: str = "Text.") -> Callable[[Path], object]:
    known = "id: 1b4e28ba-2fa1-41d2-883f-0016d3cca427\ntype: semantic\nnamespace: a/b\ntitle: T\ncreated: 2026-05-02"
    return lambda folder: write_text(folder / "m.memory.md", f"---\n{known}\n{head}---\n\n{text}\n")


def _in_layer(content: object) -> Callable[[Path], object]:
    meta = {"created": "2026-05-02T10:00:00Z", "category": "context", "summary": "s", "session_id": "x"}
    path = ".claude/memory/context/m.json"
    return lambda folder: write_text(folder / path, json.dumps({"meta": meta, "content": content}))


def _in_talk(text: str, **fields: object) -> Callable[[Path], object]:
    return lambda folder: write_transcript(folder / "transcripts/a", "t" * 150, text=text, **fields)


def _in_org(**fields: Any) -> Callable[[Path], object]:
    return lambda folder: write_org(folder / "org", **fields)


def _in_document(text: str) -> Callable[[Path], object]:
    return lambda folder: write_text(folder / "decisions/d.md", text)


MANY = 6_000
ATTACKS: dict[str, Callable[[Path], object]] = {
    "headings": _in_body("# a\n" * MANY),
    "headings, all different": _in_document("".join(f"# {number:x}\n" for number in range(MANY))),
    "links": _in_body("[](b)" * MANY),
    "one address, linked to many times": _in_body("[1]: http://" + "u" * 20_000 + "\n\n" + "[1] " * MANY),
    "mentions": _in_body("another decisions/d.md\n" * MANY),
    "lists in lists": _in_document("- " * 3_000 + "a\n"),
    "quotes in quotes": _in_body(f"{'>' * 100}a\n\n" * 300),
    "tables": _in_document("|a|b|\n|-|-|\n|c|d|\n\n" * 1_500),
    "a wide table": _in_body("|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "|a|\n" * MANY),
    "code blocks": _in_document("```python\na\n```\n" * 2_000),
    "footnotes": _in_body("[^1]: " + "n " * 9_000 + "\n\n" + "[^1] " * MANY),
    "words, all different": _in_body(" ".join(f"{number:x}" for number in range(MANY))),
    "characters that HTML escapes": _in_document("&" * 9 * MANY),
    "empty turns": _in_talk("## User\n" * MANY),
    "turns, all different": _in_talk("".join(f"## User\n\n{number:x}\n" for number in range(MANY)), subject="s" * 200),
    "tool calls": _in_talk("## Assistant\n\n" + "> **🔧 B**\n\n" * MANY),
    "participants": _in_talk("## User\n\nx\n", participants=[{"position": f"y{number}"} for number in range(600)]),
    "related memos": _in_talk("## User\n\nx\n", related_memos=[f"2026-05-01-0900--a--b--{i}" for i in range(MANY)]),
    "tags": lambda folder: write_memo(folder / "memos", "m", metadata={"tags": [f"t{i}" for i in range(MANY)]}),
    "recipients": lambda folder: write_memo(folder / "memos", "m", to=",".join(f"z{i}" for i in range(600))),
    "positions": _in_org(positions=seats(1_000)),
    "positions with long ids": _in_org(positions=[{"id": f"p{i}{'x' * 190}"} for i in range(300)]),
    "relationships": _in_org(relationships=[{"type": f"x.{i}", "from": "a", "to": f"q{i}"} for i in range(MANY)]),
    "sections": lambda folder: write_text(
        folder / ".wyren/memory.md", "## Decisions\n" + "".join(f"## S{i}\n- {i:x}\n" for i in range(MANY))
    ),
    "entities": _in_mif("entities:\n" + "".join(f"- {{name: e{number}, type: T}}\n" for number in range(1_500))),
    "entities in a text": _in_mif("", "".join(f"@[[e{number}|T]]\n" for number in range(MANY))),
    "relations": _in_mif("", "".join(f"- relates-to [[i{number}]]\n" for number in range(MANY))),
    "keys": _in_layer({f"k{number}": 1 for number in range(MANY)}),
    "context references": _in_layer({"context_references": [f"r{number}" for number in range(MANY)]}),
}  # fmt: skip


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, int]:
    """The bytes of a repo with one memo, and the bytes of its site."""
    repo = tmp_path_factory.mktemp("calm") / "repo"
    write_memo(repo / "memos", "another")
    before = sum(map(len, tree_bytes(repo).values()))
    return before, sum(map(len, built_files(repo, output=repo.parent / "out").values()))


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_file_publishes_more_than_its_size_allows(calm: tuple[int, int], attack: str, tmp_path: Path) -> None:
    """What a site gains by one file is at most 20 times its bytes and 3 MB, whatever there is very much of.

    Tables of very many small positions take more: twice the 3 MB.
    """
    write_memo(tmp_path / "repo/memos", "another")
    ATTACKS[attack](tmp_path / "repo")
    added = sum(map(len, tree_bytes(tmp_path / "repo").values())) - calm[0]
    files = built_files(tmp_path / "repo", output=tmp_path / "with")
    free = 2 * FREE if attack.startswith("positions") else FREE
    assert sum(map(len, files.values())) - calm[1] <= TIMES * added + free
    assert max(len(data) for path, data in files.items() if path.endswith(".html")) < 1_000_000
