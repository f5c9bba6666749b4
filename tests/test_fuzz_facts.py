"""Fuzzes the readers of single values: references, names, times, JSON, YAML, globs, addresses, words in texts.

None fails; what each finds is in the text, and of bounded length; what it makes is safe and stays as it is.
"""

import datetime as dt
import hashlib
import json
import re
from typing import Any

from hypothesis import strategies as st

from memosite.facts.findings import read_clause
from memosite.facts.json_text import clean_text, find_key_line, key_places, read_json_text
from memosite.facts.layout import matches_glob, memo_folder, place_of, sibling_folders
from memosite.facts.texts import (
    cut_line,
    describe_text,
    file_page_spans,
    find_destinations,
    find_mentions,
    line_of,
    one_line,
)
from memosite.facts.times import read_moment, read_stamp
from memosite.formats import yaml_text
from memosite.formats.systems import RECORD_IDS
from memosite.formats.yaml_text import read_frontmatter
from memosite.sources.forges import (
    file_template,
    file_url,
    in_our_words,
    last_line,
    parse_git_url,
    refusal,
    repo_name,
    repo_pages,
    shown_file,
    without_secrets,
)
from tests.support.fuzzing import fuzz
from tests.support.mutations import ODD_VALUES, as_bytes, mutated, mutated_json, mutated_lines, one_of

NAMES_WRITTEN = [
    "2026-05-01-1430--engineer--director--gate-is-green.openthing",
    "memos/inbox/2026-05-01-1430--a--b--c.openthing (and 2026-05-02-0900), see [x](decisions/0001.md)",
    "Not in-reply-to 2026-05-01-1430--a--b--c",
    "file:///C:/orgs/a/memos/x.body.md, https://a.example/o/r/blob/main/memos/x.openthing#L7",
    "_2026-05-01-1430--a--b--re:-gate._ «y.md» AND s:\\projects\\z.openthing",
    "decision.tide-tables 4d1e8f2a-0c4b-4e0e-9a53-0d6c1e1f2a3b `1a2b3c4` notes/pilot/x",
]
PIECES = (
    *("2026-05-01-1430", "--", ".openthing", ".body.md", ".md", "/", "\\", "://", "(", ")", "[", "](", "`", "_", ":"),
)
LINES = mutated_lines(NAMES_WRITTEN, PIECES)
MOMENTS = [
    *("2026-05-01T14:30:00-04:00", "2026-05-01", "20260501T143000Z", "2026-W18-5", "2026-05-01 14:30:00.123456 +0200"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-05-01-1430"),
]
OBJECTS: list[Any] = [
    {"type": "memodef:Memo", "to": ["a", {"b": [1, 2]}], "metadata": {"discharged": {"on": "2026-05-01"}}, "n": 1.5},
    {"a": {"a": {"a": [[[], {}]]}}, "b": '"a": 1', "": None},
]
HEADS = [
    "---\ntitle: A\ntags: [a, b]\nrelated:\n  - to: x\n    why: |\n      y\n---\n# B\n",
    "---\n? [a]\n: b\n'c': \"d\\ud800\"\n<<: {e: f}\n---\ng\n",
    "---\nid: x: y\nnote: @z\n- a\nq: &a [*a]\n!!python/object:os.system x: 1\n...\nrest",
]
GLOBS = [
    ("decisions/**/*.md", "decisions/a/b.md"),
    ("[!a-z]?/*", "A1/x"),
    ("**/a/**/b*c*", "x/a/y/bxcx"),
    ("a/", "a/b/c"),
]
ADDRESSES = [
    *(
        "https://user:secret@git.example:8443/a/b.git",
        "git@host.example:a/b.git",
        "ssh://git@[::1]:22/a",
        "file:///srv/a",
    ),
    *(
        "https://github.com/o/r/blob/main/memos/x%20y.openthing#L7-L9",
        "ext::sh -c x",
        "https://gitlab.example/a/-/blob/b/c",
    ),
]
FAILURES = [
    "fatal: unable to access 'https://u:p@h.example/': Could not resolve host",
    "error: object file .git/objects/aa is empty\nfatal: loose object is corrupt",
]


@fuzz(mutated_lines([*MOMENTS, "May 1"], ["T", "Z", "+", "-", ":", "24", "60", "٣", ".", ","]), examples=150)
def test_a_time_is_read_or_it_is_none(text: str) -> None:
    """With an instant that can be written and read again."""
    for moment in (read_moment(text), read_stamp(text)):
        if moment is not None:
            again = read_moment(moment.utc)
            assert again is not None and abs(again.instant - moment.instant) < dt.timedelta(milliseconds=1)
            assert moment.day and moment.local


@fuzz(mutated_json(OBJECTS), examples=100)
def test_the_places_of_keys_are_found(value: Any) -> None:
    """Of whatever is JSON, and of no other text; what Python writes is read as it was meant."""
    text = json.dumps(value)
    read, problems = read_json_text(text)
    lines = text.count("\n") + 1
    assert all(1 <= (problem.line or 1) <= lines for problem in problems)
    assert problems or read == value
    if not problems and isinstance(read, dict):
        assert {path[0] for path, _ in key_places(text) if len(path) == 1} == set(read)


@fuzz(mutated([as_bytes(value) for value in (*OBJECTS, list(ODD_VALUES))]), examples=150)
def test_damaged_json_is_a_problem_on_one_of_its_lines(data: bytes) -> None:
    """Whatever is found is text that can be written, and a key is on a line that is there."""
    text = data.decode("utf-8", "replace")
    value, problems = read_json_text(text)
    lines = text.count("\n") + 1
    assert all(1 <= (problem.line or 1) <= lines and problem.message.isprintable() for problem in problems)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    assert all(0 <= offset <= len(text) for _, offset in key_places(text))
    assert 1 <= (find_key_line(text, ("a", "b")) or 1) <= lines


@fuzz(
    mutated_lines(
        HEADS, [*"{}[]", "- ", "? ", ": ", "& ", "*a", "!!", "|\n", ">-\n", "%YAML 1.2", "---", "...", "\u2028", "\x85"]
    ),
    examples=200,
)
def test_yaml_heads_are_read_or_reported(text: str) -> None:
    """By both readers; nothing of the text after them is lost."""
    text = clean_text(text)
    matter = read_frontmatter(text)
    assert text.endswith(matter.body)
    last = text.count("\n") + 1
    assert matter.problem is None or 1 <= (matter.problem.line or 0) <= last
    for name in matter.fields:
        matter.text(name).encode("utf-8")
        matter.list(name)
    head = yaml_text.split_head(text)
    if head is not None:
        assert text.endswith(head.body)
        read = yaml_text.read_yaml(head.source, line=head.line)
        assert all(1 <= (problem.line or 1) <= last and problem.message.isprintable() for problem in read.problems)
        assert all(1 <= line <= last for line in read.lines.values())
        json.dumps(read.fields, ensure_ascii=False).encode("utf-8")


MARKS = [*"ab.- /\\:_`()[]<>~\n", ".md", ".openthing", "2026-05-01-1430--a--b--gate", "s:/", "](", "]: "]


@fuzz(LINES | mutated_lines(HEADS, PIECES) | st.lists(st.sampled_from(MARKS)).map("".join), examples=250)
def test_what_a_text_mentions_is_in_it(text: str) -> None:
    """Mentions and destinations as they are written, each once, mentions apart; a summary on one line."""
    text = clean_text(text)
    known, data = describe_text(text, RECORD_IDS)
    assert data.decode() == text and known.chars == len(text)
    assert known.sha256 == hashlib.sha256(data).hexdigest() and (known, data) == describe_text(text, RECORD_IDS)
    mentions, destinations = find_mentions(text, RECORD_IDS), find_destinations(text)
    assert destinations == known.destinations
    assert all(found and found in text for found in (*mentions, *destinations))
    assert len(set(mentions)) == len(mentions) and len(set(destinations)) == len(destinations)
    assert sum(map(len, mentions)) <= len(text)
    assert len(known.summary) <= 241 and known.summary == one_line(known.summary)
    assert all(0 <= start < end <= len(text) for start, end in file_page_spans(text))
    for limit in (1, 2, 10):
        assert len(cut_line(text, limit)) <= limit + 1


@fuzz(
    one_of(GLOBS).flatmap(
        lambda pair: st.tuples(*(mutated_lines([one], ["*", "**", "?", "[", "]", "!", "-", "/"]) for one in pair))
    ),
    examples=150,
)
def test_globs_match_or_do_not(pair: tuple[str, str]) -> None:
    """Any text is a glob, and one without signs matches itself."""
    pattern, path = pair
    matches_glob(path, pattern)
    place_of(path)
    sibling_folders(path)
    memo_folder(path)
    if pattern and not re.search(r"[*?\[\]]", pattern) and not re.search(r"^/|/$|//|(^|/)\.(/|$)", pattern):
        assert matches_glob(pattern, pattern)


@fuzz(
    mutated_lines(ADDRESSES, ["@", ":", "//", "%", "#", "?", "[", "]", "-", ".git", "blob/", "ext::"]),
    examples=150,
    known=["https:// user:secret@git.example/a.git", "https//user:secret@git.example/a.git"],
)
def test_addresses_are_read_or_refused(text: str) -> None:
    """And shown without what is between `://` and `@`."""
    parse_git_url(text)
    reason = refusal(text)
    assert reason is None or reason.isprintable()
    assert "secret@" not in (reason or "") or "//" not in text.partition("secret@")[0]
    assert not re.search(r"://\S*@", without_secrets(text))
    assert "/" not in repo_name(text)
    shown_file(text)
    template = file_template(text)
    if template is not None:
        repo_pages(template)
        assert "{" not in file_url(template, "HEAD", text)
    line_of(text)
    assert "; ".join(cited.written for cited in read_clause(text)) == text


BIDI = "fatal: bad ref \u202egnp.exe\u2028".encode()


@fuzz(mutated([said.encode() for said in FAILURES]), examples=60, known=[BIDI])
def test_what_git_says_is_told_in_our_words(said: bytes) -> None:
    """On one line, and never with a password."""
    for words in (last_line(said), in_our_words(said, "log", 128)):
        assert len(words) <= 300 and words.isprintable()
        assert not re.search(r"://\S*@", words)
