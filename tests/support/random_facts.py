"""Random facts of a small pool of names, so that they meet: for tests of whatever resolves them."""

from typing import Any

from hypothesis import strategies as st

from memosite.archive.model import SourceInfo
from memosite.facts.parsed import Fact, Parsed, Text
from memosite.resolve import ResolveRules
from tests.support.facts import body_file, envelope, parsed_of, text_of, transcript

STEMS = st.sampled_from(["m", "M", "n", "2026-05-01-0900--engineer--director--gate", "a b", "é"])
NAMES = st.sampled_from(["engineer", "director", "acme/engineer", "acme-tester", "all", "file", "", "Director", "../x"])

_NAMED = st.sampled_from(["gone", "2026-05-01-0900", "2026-05-01-0900--gone", "x.md", "t (see", "none"]) | STEMS
REFERENCES = st.lists(_NAMED | st.lists(_NAMED, max_size=3).map(" AND ".join), max_size=2).map(tuple)


@st.composite
def any_facts(draw: st.DrawFn) -> Fact:
    """An envelope or a body from a small pool of names, so that they meet."""
    stem, source = draw(STEMS), draw(st.sampled_from(["repo", "other"]))
    store = draw(
        st.sampled_from(["memos", "memos/inbox", "memos/read", "notes/engineer", "transcripts/tester", "docs"])
    )
    if draw(st.integers(0, 4)) == 0:
        return body_file(f"{store}/{stem}.body.md", draw(st.sampled_from(["one", "two"])), source=source)
    mentions = draw(st.lists(STEMS.map("{}.openthing".format), max_size=2))
    text: Text | None = draw(st.sampled_from([None, text_of("text", mentions=mentions, destinations=("../x", "a.md"))]))
    known: dict[str, Any] = {
        "path": f"{store}/{stem}.openthing",
        "source": source,
        "sent": draw(st.sampled_from(["2026-05-01T14:30:00Z", "2026-05-02", "soon", ""])),
        "content": draw(st.sampled_from(["1", "2"])),
        "body": text,
        "body_ref": draw(st.sampled_from([None, "m.body.md", "../../etc/passwd", "x"])),
    }
    if store.startswith("transcripts"):
        return transcript(stem, positions=draw(st.lists(NAMES, max_size=2)), related=tuple(mentions), **known)
    shape = draw(st.sampled_from(["typed", "typed", "legacy", "broken"]))
    said = shape != "broken"
    return envelope(
        stem,
        kind="note" if store.startswith("notes") else "memo",
        shape=shape,
        sender=draw(NAMES) if said else "",
        to=draw(st.lists(NAMES, max_size=3)) if said else (),
        in_reply_to=draw(REFERENCES),
        supersedes=draw(REFERENCES),
        thread_id=draw(st.sampled_from([None, None, "t", "T", " m ", "a/b"])),
        action_required=draw(st.booleans()),
        **known,
    )


def distinct(found: list[Fact]) -> list[Parsed]:
    """One fact a path, as in a folder."""
    by_path = {(one.source, one.path): one for one in map(parsed_of, found)}
    return list(by_path.values())


RULES = ResolveRules(
    sources=(SourceInfo(name="repo", web="https://example.org/{path}"), SourceInfo(name="other")),
    aliases={"director": "acme/director", "x": "y"},
    people=("director",),
)
