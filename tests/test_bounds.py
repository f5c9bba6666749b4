"""What one file publishes is bounded by its size, whatever is in it (SPEC 9)."""

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from memosite.archive.model import Archive
from memosite.facts.bounds import TURNS, most_turns
from memosite.formats import bounds
from memosite.formats.turns import parse_conversation
from tests.support.archives import findings, read_folders, read_sources
from tests.support.files import write_text
from tests.support.memos import write_memo, write_org, write_transcript
from tests.support.sites import built_files

TIMES = 20
FREE = 3_000_000
"""One file may publish at most 20 times its bytes and 3 MB."""


def published(site: Path, output: Path) -> dict[str, int]:
    """The size of every file of a site."""
    return {path: len(data) for path, data in built_files(site, output=output).items()}


def test_long_names_are_cut_wherever_they_are_shown(tmp_path: Path) -> None:
    """Ten memos from a position whose name has a megabyte: they once became a page of 12 MB."""
    for number in range(10):
        write_memo(tmp_path / "repo/memos/inbox", f"2026-05-01-143{number}--a--b--m", sender="f" * 1_000_000 + "!")
    sizes = published(tmp_path / "repo", tmp_path / "out")
    originals = sum(size for path, size in sizes.items() if path.endswith("original.openthing"))
    assert max(size for path, size in sizes.items() if "original" not in path) < 500_000
    assert sum(sizes.values()) - originals < FREE


def test_a_long_name_stays_another_name(tmp_path: Path) -> None:
    """Two names that begin alike are two positions; each is shown by its beginning, and a note says so."""
    for number in range(2):
        write_memo(tmp_path / "memos", f"2026-05-01-143{number}--a--b--m", sender="f" * 5_000 + str(number))
    archive = read_folders(tmp_path)
    senders = {memo.sender for memo in archive.memos()}
    assert len(senders) == 2 and all(len(sender) == bounds.NAME_CHARS for sender in senders)
    assert len(archive.positions) == 3
    messages = [finding.message for finding in findings(archive, "name-long")]
    assert messages == ['"from" has 5,001 characters, expected at most 1,000'] * 2
    assert all(finding.location.line for finding in findings(archive, "name-long"))


LONG = "x" * 20_000
HOLDERS: dict[str, Callable[[Path], object]] = {
    "memo": lambda folder: write_memo(
        folder / "memos", "m", to=LONG, subject=LONG, thread_id=LONG, in_reply_to=LONG, sent=LONG, action_required=True,
        metadata={"tags": [LONG], "discharged": {"by": LONG, "via": LONG}},
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
    as_they_are = ("memos/m/index.html", "documents/", "records/memory-layer/")
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


def test_records_that_had_a_page_keep_it(tmp_path: Path) -> None:
    """Whatever is written before them in the file; a note tells what has none."""
    old, new = [f"old {number}" for number in range(90)], [f"new {number}" for number in range(150)]
    write_text(tmp_path / ".wyren/memory.md", bullets(*old))
    first, ledger = read_sources(tmp_path)
    write_text(tmp_path / ".wyren/memory.md", bullets(*new[:60], *old))
    second, _ = read_sources(tmp_path, ledger=ledger)
    assert len(records(first)) == 90 and len(records(second)) == 150
    write_text(tmp_path / ".wyren/memory.md", bullets(*new, *old))
    third, _ = read_sources(tmp_path, ledger=ledger)
    found = records(third)
    assert records(first).items() <= found.items()
    assert len(found) == 191 and "The rest of memory.md" in found
    assert [one.message for one in findings(third, "file-bounded")] == [
        "it holds 240 records; those after the first 100 are shown as they are"
    ]


def test_a_transcript_of_many_turns_shows_the_rest_as_it_is(tmp_path: Path) -> None:
    """100,000 turns once became 157 MB. Of small turns fewer are shown one by one, so that the bound holds."""
    turns = [f"## User\n\n{number} & <more>\n" for number in range(4_000)]
    write_transcript(tmp_path / "repo/transcripts/a", "t", text="".join(turns))
    most = most_turns(len("".join(turns)))
    files = built_files(tmp_path / "repo", output=tmp_path / "out")
    pages = {path: data.decode() for path, data in files.items() if re.fullmatch(r"transcripts/t/.*index\.html", path)}
    texts = [pages[path] for path in sorted(pages, key=part)]
    ids = [id_ for text in texts for id_ in re.findall(r'<section class="turn[^"]*" id="t(\d+)"', text)]
    assert ids == [str(number) for number in range(1, most + 1)] and most < 4_000
    shown = "".join(unescape(text) for page in texts for text in VERBATIM.findall(page))
    assert shown == "".join(turns[most:])
    assert "it holds more than" in texts[0]
    assert sum(map(len, files.values())) < TIMES * len("".join(turns)) + FREE
    assert '<details class="cite">' in texts[0] and '<details class="cite">\n<summary>Cite</summary>' not in texts[-2]


def test_no_more_than_twenty_thousand_turns_are_read() -> None:
    """The last ends where it would end with another turn after it; the rest is the text from there on."""
    turns = [f"## User\n\nThis is turn {number} of a conversation.\n\n" for number in range(20_100)]
    found = parse_conversation("".join(turns), started=None)
    assert len(found.turns) == TURNS and found.turns[-1].text == "\nThis is turn 19999 of a conversation."
    assert found.rest == "".join(turns[TURNS:])
    assert not parse_conversation("".join(turns[:TURNS]), started=None).rest
