"""Two recordings compared turn by turn: variants of a transcript, and captures of one session side by side."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from memosite.formats.turns import Turn, TurnList, parse_conversation
from memosite.render.difference import TurnDiff, align, compare_turns
from tests.support.memos import write_transcript
from tests.support.pages import bad_links, found
from tests.support.sites import build_site, tree_bytes

UUID = "9103a7c6-fefb-412a-be0d-08c7a69eec20"
SESSION = [{"position": "engineer", "session_arc": f"model-9, session {UUID}"}]
NAMES = ("the other", "this one")
MEGABYTE = 1_000_000


def talk(*texts: str, model: str = "model-9") -> str:
    """A conversation in which a person and an assistant take turns."""
    speakers = ("🧑 User", f"🤖 Assistant *({model})*")
    turns = (f"---\n\n## {speakers[n % 2]} <sub>2026-05-01 16:00:00</sub>\n\n{text}\n" for n, text in enumerate(texts))
    return "\n".join(turns)


def parsed(*texts: str, model: str = "model-9") -> TurnList:
    """The same as turns."""
    return parse_conversation(talk(*texts, model=model), started=None)


def said(number: int) -> str:
    """The text of a turn, unlike that of any other."""
    return f"Turn {number} is about item {number * 7919}."


def texts_of(count: int) -> list[str]:
    """The texts of so many turns."""
    return [said(number) for number in range(count)]


def compared(old: TurnList, new: TurnList, limit: int = MEGABYTE) -> TurnDiff:
    """What differs between two recordings."""
    return compare_turns(old, new, names=NAMES, limit=limit)


words = st.lists(st.sampled_from(["", "a", "b", "c", "no", "yes", "again"]), max_size=12)
numbers = st.lists(st.integers(0, 15), max_size=12, unique=True)


@given(words, words)
def test_every_turn_of_both_comes_once_and_in_order(one: list[str], other: list[str]) -> None:
    """Whatever is repeated, empty or moved."""
    old, new = parsed(*one).turns, parsed(*other).turns
    pairs = list(align(old, new))
    assert tuple(left for left, _ in pairs if left) == old
    assert tuple(right for _, right in pairs if right) == new
    assert all(left or right for left, right in pairs)


def longest_common(one: Sequence[int], other: Sequence[int]) -> int:
    """The length of the longest common subsequence, by the book."""
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one, 1):
        for j, right in enumerate(other, 1):
            here = lengths[i - 1][j - 1] + 1 if left == right else 0
            lengths[i][j] = max(here, lengths[i - 1][j], lengths[i][j - 1])
    return lengths[-1][-1]


def equal_pairs(old: Sequence[Turn], new: Sequence[Turn]) -> int:
    """How many turns were found to have the same text."""
    return sum(
        left is not None and right is not None and left.digest == right.digest for left, right in align(old, new)
    )


@given(numbers, numbers)
def test_of_texts_that_are_unique_as_many_as_possible_are_found_again(one: list[int], other: list[int]) -> None:
    """Compared with the table of the textbook."""
    old, new = (parsed(*map(said, some)).turns for some in (one, other))
    assert equal_pairs(old, new) >= longest_common(one, other)


@given(words, st.integers(0, 12), words)
def test_what_is_appended_or_missing_moves_nothing_else(one: list[str], place: int, more: list[str]) -> None:
    """The turns before it and after it are the same, however often they repeat."""
    whole = parsed(*one, *more)
    assert equal_pairs(parsed(*one).turns, whole.turns) == len(one)
    without = [text for number, text in enumerate(one) if number != place]
    assert equal_pairs(parsed(*one).turns, parsed(*without).turns) >= min(len(one), len(without)) - 1


def test_turns_that_begin_alike_belong_together_and_what_differs_is_bounded() -> None:
    """However they are marked up, with turns left out; thousands that repeat, or long ones full of escapes."""
    old = parsed(*(f"**{said(number)}**\n\nAnd so on." for number in range(8)))
    new = parsed(*(f"{said(number)} And so on." for number in range(8) if number not in {3, 4}))
    pairs = [(left.ordinal, right.ordinal) for left, right in align(old.turns, new.turns) if left and right]
    assert pairs == [(1, 1), (2, 2), (3, 3), (6, 4), (7, 5), (8, 6)]
    for text in ("", "a", "x" * 100):
        found = compared(parsed(*[text, "b"] * 5_000), parsed("first", *["c", text] * 4_000, "last"))
        assert len(found.rows) <= 300 and found.left_out > 0
    left, right = (parsed(*(text * 20_000 + str(number) for number in range(30))) for text in ("&<", "<&"))
    found = compared(left, right, limit=100_000)
    assert found.bytes <= 100_000 and found.left_out > 0
    assert any(row.diff and row.diff.is_cut for row in found.rows)


def test_equal_turns_are_one_row_and_summaries_tell_the_rest() -> None:
    """Where one is the beginning of the other; else what changed, with its words, and what only one of them has."""
    summaries = {
        (97, 201): "The same up to turn 97; this one has 104 more.",
        (201, 97): "The same up to turn 97; the other has 104 more.",
        (1, 2): "The same up to turn 1; this one has 1 more.",
        (0, 2): "Different from the first turn; this one has 2 more.", (12, 12): "All turns are the same.",
        (1, 1): "The one turn is the same.", (0, 0): "Neither has turns, so their texts are compared.",
    }  # fmt: skip
    for (one, other), summary in summaries.items():
        assert compared(parsed(*texts_of(one)), parsed(*texts_of(other))).summary == summary
    old = texts_of(12)
    new = [*old[:4], "Turn 4 is", *old[5:8], *old[10:], "More."]
    assert compared(parsed(*old), parsed(*new)).summary == (
        "The same up to turn 4; after that, 1 turn differs, 2 turns are only in the other, 1 turn is only in this one."
    )
    found = compared(parsed(*texts_of(4)), parsed(*texts_of(4), model="model-10"))
    assert found.summary == "All turns are the same. Speaker, model or time differ in 2 turns."
    assert [row.kind for row in found.rows] == ["same", "heading", "same", "heading"]
    old, new = texts_of(6), texts_of(8)
    new[2] = new[2].replace("about", "on")
    found = compared(parsed(*old), parsed(*new))
    assert [(row.kind, row.left_label, row.right_label) for row in found.rows] == [
        ("same", "Turns 1 to 2", "Turns 1 to 2"), ("changed", "Turn 3", "Turn 3"),
        ("same", "Turns 4 to 6", "Turns 4 to 6"), ("right", "", "Turn 7"), ("right", "", "Turn 8"),
    ]  # fmt: skip
    changed = found.rows[1].diff
    assert changed is not None
    assert changed.lines[1:] == (
        ("del", (("-Turn 2 is ", False), ("about", True), (" item 15838.", False))),
        ("ins", (("+Turn 2 is ", False), ("on", True), (" item 15838.", False))),
    )
    left, right = (parse_conversation(text, started=None) for text in ("No turns.\n", "No turns here.\n"))
    found = compared(left, right)
    assert [(row.left_label, row.right_label) for row in found.rows] == [("Text before the turns",) * 2]
    assert found.rows[0].diff is not None


def variants(root: Path, one: str, other: str, **fields: object) -> html.HtmlElement:
    """Build a site in which two repos have a transcript in two forms, and give its page."""
    write_transcript(root / "site/first/transcripts/engineer", "talk", text=one)
    write_transcript(root / "site/second/transcripts/engineer", "talk", text=other, **fields)
    out = build_site(root / "site", output=root / "out")
    assert list(bad_links(out)) == []
    return html.parse(out / "transcripts/talk/index.html").getroot()


def section(tree: html.HtmlElement) -> str:
    """The words of the section on variants."""
    (whole,) = tree.xpath("//section[@class='variants']")
    return " ".join(whole.text_content().split())


def test_a_variant_is_compared_turn_by_turn(tmp_path: Path) -> None:
    """What is the same is said, and each line shown that only one has; where the envelope alone differs, no turn."""
    old, new = texts_of(6), texts_of(9)
    new[1] = "Something else.\n\nAltogether."
    tree = variants(tmp_path, talk(*old), talk(*new), transport="web")
    assert (
        "In second/transcripts/engineer/talk.openthing, compared with the text above: The same up to turn 1; "
        "after that, 1 turn differs, 3 turns are only in this variant."
    ) in section(tree)
    assert [h3.text_content() for h3 in tree.xpath("//section[@class='variants']//h3")] == [
        "Turn 2", *(f"Turn {number}, only in this variant" for number in (7, 8, 9)),
    ]  # fmt: skip
    assert tree.xpath("//section[@class='variants']/ul/li/text()") == ["Transport changed from “web” to “terminal”"]
    shown = {line[1:] for line in found(tree.getroottree(), "//section[@class='variants']//pre//span//text()")}
    differing = {line for text in set(old) ^ set(new) for line in text.splitlines() if line}
    assert differing <= shown
    assert not shown & (set(old) & set(new))
    tree = variants(tmp_path / "alone", talk(*texts_of(3)), talk(*texts_of(3)), transport="web")
    assert "compared with the text above: the same text." in section(tree)
    assert tree.xpath("//section[@class='variants']//h3") == []
    assert tree.xpath("//section[@class='variants']/ul/li/text()") == ["Transport changed from “web” to “terminal”"]


def test_long_comparisons_keep_every_page_under_a_megabyte(tmp_path: Path) -> None:
    """Variants in the room that the first part leaves; of captures what does not fit, or has no text, is said."""
    old = [f"{said(number)} " + "&word " * 1_000 for number in range(120)]
    new = [f"{said(number)} " + "<term> " * 1_000 for number in range(120)]
    tree = variants(tmp_path, talk(*old), talk(*new))
    assert "Different from the first turn; after that, 120 turns differ." in section(tree)
    pages = list((tmp_path / "out/transcripts/talk").rglob("index.html"))
    assert len(pages) > 2
    assert max(page.stat().st_size for page in pages) < MEGABYTE
    assert [b'class="variants"' in page.read_bytes() for page in sorted(pages)].count(True) == 1
    capture(tmp_path / "captured", "one", talk(*(f"{said(n)} " + "a & b\n" * 900 for n in range(60))))
    capture(tmp_path / "captured", "two", talk(*(f"{said(n)} " + "a < b\n" * 900 for n in range(60))), minute=31)
    capture(tmp_path / "captured", "none", "", minute=29)
    page = build_site(tmp_path / "captured", output=tmp_path / "out-captured") / "transcripts/two/captures/index.html"
    assert 150_000 < page.stat().st_size < MEGABYTE
    assert re.search(r"[1-9]\d* more turns or groups of equal turns not shown\.", page.read_text(encoding="utf-8"))
    assert "The text of the earlier capture is not in the archive." in page.read_text(encoding="utf-8")


def capture(repo: Path, name: str, text: str, *, minute: int = 30, **fields: object) -> None:
    """Write a capture of the session."""
    known = {"participants": SESSION, "started": f"2026-05-01T14:{minute}:00Z"} | fields
    write_transcript(repo / "transcripts/engineer", name, text=text, **known)


def test_two_captures_are_side_by_side_on_a_page_of_their_own(tmp_path: Path) -> None:
    """Both lead to it, and each turn on it leads to its transcript."""
    repo = tmp_path / "repo"
    capture(repo, "one", talk(*texts_of(97)))
    capture(repo, "two", talk(*texts_of(201)), minute=31)
    out = build_site(repo, output=tmp_path / "out")
    assert list(bad_links(out)) == []
    tree = html.parse(out / "transcripts/two/captures/index.html")
    assert found(tree, "//section[@id='with-one']/p/text()") == ["The same up to turn 97; this capture has 104 more."]
    first, *rest = tree.getroot().xpath("//table[@class='sides']/tbody/tr")
    assert first.xpath("td/p/a/@href") == ["../../one/index.html#t1", "../index.html#t1"]
    assert [row.xpath("td/p/a/@href") for row in rest] == [[f"../index.html#t{n}"] for n in range(98, 202)]
    assert [row.xpath("string(td[2]/pre)").strip() for row in rest] == [f"+{said(n)}" for n in range(97, 201)]
    for name, href in (("one", "../two/captures/index.html#with-one"), ("two", "captures/index.html#with-one")):
        page = html.parse(out / f"transcripts/{name}/index.html")
        assert found(page, "//section[@class='captures']/p//a/@href") == [href]
    assert not (out / "transcripts/one/captures").exists()


def test_each_column_has_the_lines_of_its_capture_and_the_page_keeps_its_address(tmp_path: Path) -> None:
    """What was replaced on the left, what replaced it on the right; made again when either changes.

    When nothing is left to compare with, the address leads on, and when the transcript is removed it says so.
    """
    repo, out = tmp_path / "repo", tmp_path / "out"
    file = out / "transcripts/two/captures/index.html"
    capture(repo, "one", talk(said(0), "First."))
    capture(repo, "two", talk(said(0), "First.\nNew words.\nLast."), minute=31)
    capture(repo, "three", talk(said(0)), minute=32, participants=None)
    build_site(repo, output=out)
    lines = [json.loads(line) for line in (out / "archive/ledger.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines if line["kind"] == "captures"] == ["transcript/two"]

    capture(repo, "one", talk(said(0), "First.\nOld words.\nLast."))
    after = tree_bytes(build_site(repo, output=out))
    (row,) = html.parse(file).getroot().xpath("//tr[@class='changed']")
    columns = [column.xpath("string(pre)").split("\n") for column in row.xpath("td")]
    assert [[line for line in column if line[1:].strip() and line[0] != "@"] for column in columns] == [
        [" First.", "-Old words.", " Last."], [" First.", "+New words.", " Last."]
    ]  # fmt: skip
    assert tree_bytes(build_site(repo, "--previous", out, output=tmp_path / "anew")) == after

    one = repo / "transcripts/engineer/one.openthing"
    one.write_bytes(one.read_bytes().replace(UUID.encode(), b"another"))
    build_site(repo, output=out)
    assert found(html.parse(file), "//main//a/@href") == ["../index.html"]
    for ending in ("openthing", "body.md"):
        (repo / f"transcripts/engineer/two.{ending}").unlink()
    build_site(repo, output=out)
    assert found(html.parse(file), "//h1/text()") == ["Removed"]


def test_many_captures_are_compared_with_the_last_ones_before_them(tmp_path: Path) -> None:
    """Each with at most five, and every link to a comparison leads to one."""
    for number in range(8):
        capture(tmp_path / "repo", f"capture-{number}", talk(*texts_of(number + 1)), minute=30 + number)
    out = build_site(tmp_path / "repo", output=tmp_path / "out")
    assert list(bad_links(out)) == []
    sections = [
        found(html.parse(out / f"transcripts/capture-{number}/captures/index.html"), "//main//section/@id")
        for number in range(1, 8)
    ]
    assert [len(one) for one in sections] == [1, 2, 3, 4, 5, 5, 5]
    assert sections[-1] == [f"with-capture-{number}" for number in (6, 5, 4, 3, 2)]
    for path in out.glob("transcripts/*/index.html"):
        for href in found(html.parse(path), "//section[@class='captures']/p//a/@href"):
            file, _, anchor = href.partition("#")
            assert anchor in found(html.parse(path.parent / file), "//section/@id")
