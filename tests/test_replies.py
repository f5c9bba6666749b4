"""What references mean (SPEC 3, references): parents, ghosts, what is answered too, superseded or only linked."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.model import Archive
from memosite.facts.parsed import DocumentHead, Envelope, Ref
from tests.support.archives import findings, links, memo
from tests.support.facts import archive_of, envelope, facts, organization, text_of, transcript
from tests.support.references import naive_names

ASK = "2026-05-01-1430--engineer--director--gate"
ASK_TOO = "2026-05-01-1500--engineer--director--crane"
OTHER = "2026-05-01-1600--tester--engineer--buoy"
STAMP = "2026-05-01-1430"


def ask(stem: str = ASK, sender: str = "engineer", to: str | Sequence[str] = "director", **fields: Any) -> Envelope:
    """A memo that asks for something, sent when its name says."""
    known: dict[str, Any] = {"sender": sender, "to": to, "action_required": True}
    return envelope(stem, **known | {"sent": f"{stem[:10]}T{stem[11:13]}:{stem[13:15]}:00Z"} | fields)


def answer(*values: str, stem: str = "2026-05-09-0900--director--engineer--re", **fields: Any) -> Envelope:
    """The director's answer to what these values name."""
    known: dict[str, Any] = {"sender": "director", "to": "engineer", "sent": "2026-05-09T09:00:00Z"}
    return envelope(stem, **known | fields, in_reply_to=values)


def document(path: str, source: str = "repo") -> DocumentHead:
    """A document in memory."""
    return DocumentHead(file=facts(path, source=source), title=path, status=None, date=None, text=text_of(path))


def meaning(archive: Archive, id_: str = "2026-05-09-0900--director--engineer--re") -> tuple[Any, ...]:
    """Parent, missing parent, what is answered too, and everything linked, of the answer."""
    one = memo(archive, id_)
    return one.parent, one.ghost_parent, one.also_answers, set(links(archive, one.ref).values())


ASKED: Ref = ("memo", ASK)
TOO: Ref = ("memo", ASK_TOO)
BUOY: Ref = ("memo", OTHER)
GATE: Ref = ("document", "repo.decisions.0007-gate.md")
TALK: Ref = ("transcript", "2026-04-30-0900--engineer--talk")
GONE = "2026-04-01-0900--engineer--director--lost"


def test_a_reference_means() -> None:
    """Parent, ghost, what is answered too, and all that is linked."""
    for values, means in (
        # One
        ([f"{ASK}.openthing"], (ASKED, None, (), set())),
        (["2026-05-01-1430"], (ASKED, None, (), set())),
        (["see the 2026-05-01-1430 memo, please"], (ASKED, None, (), set())),
        ([f"Not in-reply-to {ASK}"], (None, None, (), set())),
        (["none"], (None, None, (), set())),
        (["the gate memo"], (None, None, (), set())),
        ([f"https://github.com/org/repo/blob/main/memos/{ASK}.openthing"], (ASKED, None, (), set())),
        # Several, in one value or a list
        ([f"2026-05-01-1430 AND memos/{ASK_TOO} (bundled response)"], (ASKED, None, (TOO,), {TOO})),
        ([ASK, ASK_TOO], (ASKED, None, (TOO,), {TOO})),
        ([f"{ASK}, {ASK}, {ASK_TOO}, {ASK_TOO}"], (ASKED, None, (TOO,), {TOO})),
        ([f"{ASK} (see {ASK_TOO})"], (ASKED, None, (), {TOO})),
        ([f"{ASK} (see {ASK_TOO}) and {ASK_TOO}"], (ASKED, None, (TOO,), {TOO})),
        ([f"{ASK} and {OTHER}"], (ASKED, None, (), {BUOY})),
        ([f"({ASK})", ASK_TOO], (ASKED, None, (TOO,), {TOO})),
        # What is missing
        ([GONE], (None, GONE, (), set())),
        ([f"{GONE}; {ASK}"], (None, GONE, (ASKED,), {ASKED})),
        ([f"{ASK}; {GONE}"], (ASKED, None, (), set())),
        (["gone.openthing", ASK], (ASKED, None, (), set())),
        ([GONE, ASK], (ASKED, None, (), set())),
        ([f"{GONE}; see {TALK[1]}", ASK, ASK_TOO], (ASKED, None, (TOO,), {TALK, TOO})),
        ([f"{GONE}; {ASK}", GONE], (None, GONE, (ASKED,), {ASKED})),
        (["gone"], (None, "gone", (), set())),
        (["gone.openthing, and lost.openthing"], (None, "gone", (), set())),
        # Documents and transcripts
        (["decisions/0007-gate.md"], (None, None, (), {GATE})),
        (["decisions/0007-gate"], (None, None, (), {GATE})),
        (["https://github.com/org/repo/blob/main/decisions/0007-gate.md"], (None, None, (), {GATE})),
        (["decisions/0009-none.md"], (None, None, (), set())),
        (["https://example.org/issues/7"], (None, None, (), set())),
        ([f"decisions/0007-gate.md, then {ASK}"], (ASKED, None, (), {GATE})),
        ([f"{TALK[1]}.openthing"], (None, None, (), {TALK})),
        ([f"{TALK[1]}.openthing and {ASK}"], (ASKED, None, (), {TALK})),
        # Itself
        (["2026-05-09-0900--director--engineer--re.openthing"], (None, None, (), set())),
        (["2026-05-09-0900"], (None, None, (), set())),
        ([f"2026-05-09-0900--director--engineer--re and {ASK}"], (ASKED, None, (), set())),
    ):
        archive = archive_of(
            ask(), ask(ASK_TOO), ask(OTHER, "tester", "engineer"), answer(*values), document("decisions/0007-gate.md"),
            transcript(TALK[1]),
        )  # fmt: skip
        assert meaning(archive) == means, values
        rules = {finding.rule.id for finding in findings(archive)} - {"position-unlisted"}
        assert rules == ({"ghost"} if means[1] else set())


def test_an_answer_too_is_a_link_both_ways_and_answers_what_was_asked() -> None:
    """Of the sender of the answer; a broadcast may be answered too, but not by its sender."""
    archive = archive_of(ask(), ask(ASK_TOO), answer(f"{ASK} AND memos/{ASK_TOO} (bundled response)"))
    one, too = memo(archive, ASK), memo(archive, ASK_TOO)
    assert (one.action, too.action) == ("answered", "answered")
    assert too.backlinks == too.also_answered_by == (("memo", "2026-05-09-0900--director--engineer--re"),)
    assert too.replies == () and too.thread == ASK_TOO
    beside = archive_of(ask(), ask(ASK_TOO), answer(f"{ASK} (with {ASK_TOO})"))
    assert memo(beside, ASK_TOO).action == "open" and memo(beside, ASK_TOO).also_answered_by == ()
    assert memo(beside, ASK_TOO).backlinks == (("memo", "2026-05-09-0900--director--engineer--re"),)
    found = [ask(), ask(ASK_TOO, to=("director", "tester")), answer(ASK, ASK_TOO)]
    below = envelope("2026-05-10--tester--director--ok", sender="tester", in_reply_to=found[-1].stem)
    assert [state.action for state in memo(archive_of(*found, below), ASK_TOO).recipients] == ["answered", "open"]
    call = ask(ASK_TOO, to="all")
    archive = archive_of(ask(), call, answer(ASK, ASK_TOO), answer(ASK_TOO, stem="again"))
    assert (memo(archive, ASK_TOO).action, memo(archive, ASK_TOO).answers) == ("answered", 1)
    own = archive_of(ask(), call, answer(ASK, ASK_TOO, sender="engineer"))
    assert (memo(own, ASK_TOO).action, memo(own, ASK_TOO).answers) == ("open", 0)
    assert memo(own, "2026-05-09-0900--director--engineer--re").also_answers == ()
    orgs = [organization("x", "director"), organization("y", "director")]
    archive = archive_of(ask(), ask(ASK_TOO), answer(ASK, ASK_TOO, sender="y/director"), *orgs)
    assert memo(archive, ASK_TOO).action == "answered"
    archive = archive_of(ask(), ask(ASK_TOO, to="x/director"), answer(ASK, ASK_TOO, sender="y/director"), *orgs)
    assert memo(archive, ASK_TOO).action == "open"


def test_a_stamp_of_several_memos_means_the_one_of_the_same_source_and_positions_or_is_no_name() -> None:
    """Whichever of the two wrote it; copies are one, a note is meant if no memo is; else the names after it count."""
    back = f"{STAMP}--director--engineer--back"
    others = [
        ask(f"{STAMP}--tester--director--x", "tester"),
        ask(f"{STAMP}--engineer--tester--y", to="tester"),
        ask(f"{STAMP}--engineer--director--z", source="other"),
    ]
    assert meaning(archive_of(ask(), *others, answer(STAMP))) == (ASKED, None, (), set())
    assert meaning(archive_of(ask(back, "director", "engineer"), *others, answer(STAMP)))[0] == ("memo", back)
    copies = archive_of(ask(), ask(source="other"), ask(path=f"memos/read/{ASK}.openthing", content="2"), answer(STAMP))
    assert meaning(copies)[0] == ASKED
    stem = f"{STAMP}--engineer--file--n"
    note = envelope(stem, f"notes/engineer/{stem}.openthing", kind="note", to="file")
    assert meaning(archive_of(note, answer(STAMP)))[0] == ("note", note.stem)
    assert meaning(archive_of(note, ask(), answer(STAMP)))[0] == ASKED
    for named, count in (
        ([], "no memo's name begins"),
        ([f"{STAMP}--engineer--director--a", f"{STAMP}--engineer--director--b"], "the names of 2 memos begin"),
        ([f"{STAMP}--tester--director--a", f"{STAMP}--tester--director--b"], "the names of 2 memos begin"),
    ):
        memos = [ask(stem, stem.split("--")[1]) for stem in named]
        archive = archive_of(*memos, ask(ASK_TOO), answer(STAMP, ASK_TOO))
        assert meaning(archive) == (TOO, None, (), set())
        (told,) = findings(archive, "stamp-unclear")
        assert (told.severity, told.message) == ("note", f'{count} with "{STAMP}", expected one')
        alone = archive_of(*memos, answer(STAMP))
        assert meaning(alone) == (None, None, (), set()) and not alone.ghosts


def test_a_whole_value_that_is_a_files_name_counts() -> None:
    """Whatever it holds; as a path, too. A missing memo may have such a name, and a URL names the file in its repo."""
    for value in ("a b", "a b.openthing", "memos/a b.openthing", "s:\\memos\\a b.openthing"):
        assert meaning(archive_of(envelope("a b"), answer(value)))[0][1].startswith("a-b-")
    assert meaning(archive_of(answer("a b.openthing")))[:2] == (None, "b")
    archive = archive_of(ask(), answer(f"memos/{GONE} what's new.openthing"))
    assert [ghost.stem for ghost in archive.ghosts.values()] == [f"{GONE} what's new"]
    assert meaning(archive_of(ask(), answer(f"memos/{ASK} what's new.openthing")))[:2] == (ASKED, None)
    assert meaning(archive_of(ask(), answer(f"{GONE} and gate")))[:2] == (None, GONE)
    here, there = ask(sender="a"), ask(sender="b", source="other")
    url = f"https://github.com/org/other/blob/main/memos/{ASK}.openthing"
    archive = archive_of(here, there, answer(url))
    parent = memo(archive, "2026-05-09-0900--director--engineer--re").parent
    assert parent is not None and memo(archive, parent[1]).sender == "b"


def test_an_action_is_superseded_by_a_later_memo_of_its_sender_that_says_so_and_by_nothing_else() -> None:
    """By stamp, prose or path; it names both ends, and a reply of a recipient or a discharge is more."""
    later = ask(ASK_TOO, supersedes=f"memos/{ASK}.openthing")
    archive = archive_of(ask(), later)
    one = memo(archive, ASK)
    assert (one.action, one.superseded_by, one.backlinks) == ("superseded", (TOO,), (TOO,))
    assert memo(archive, ASK_TOO).supersedes == (ASKED,) and memo(archive, ASK_TOO).action == "open"
    assert memo(archive_of(ask(), later, answer(ASK)), ASK).action == "answered"
    assert memo(archive_of(ask(), later, closed={ASK}), ASK).action == "discharged"
    asked = ask(to=("director", "tester"))
    both = memo(archive_of(asked, later, answer(ASK)), ASK)
    assert [state.action for state in both.recipients] == ["answered", "superseded"] and both.action == "superseded"
    for later in (
        ask(ASK_TOO, "director", "engineer", supersedes=ASK),
        ask("2026-04-01-0900--engineer--director--early", supersedes=ASK),
        envelope("undated", sender="engineer", sent="", supersedes=ASK),
        ask(ASK_TOO, supersedes="none"),
        ask(ASK_TOO, supersedes="the gate memo"),
    ):
        assert memo(archive_of(ask(), later), ASK).action == "open"
    for value in (ASK, "2026-05-01-1430", f"the ask {ASK}, which is moot", f"x/{ASK}.body.md"):
        assert memo(archive_of(ask(), ask(ASK_TOO, supersedes=value)), ASK).superseded_by == (TOO,)


def test_mentions_make_links_and_nothing_else() -> None:
    """No parent, no ghost and no answer; nor does what is superseded, but is no earlier memo of the sender."""
    body = text_of(f"As to {ASK} and {GONE}", mentions=(ASK, GONE))
    archive = archive_of(ask(), answer(body=body), transcript("t", related=(ASK, GONE)))
    assert meaning(archive) == (None, None, (), {ASKED}) and not archive.ghosts
    assert memo(archive, ASK).action == "open" and memo(archive, ASK).also_answered_by == ()
    later = answer(supersedes=(ASK, "decisions/0007-gate.md"))
    archive = archive_of(ask(), later, document("decisions/0007-gate.md"))
    assert set(links(archive, ("memo", later.stem)).values()) == {ASKED, GATE}
    assert memo(archive, later.stem).supersedes == ()


POOL: Mapping[str, tuple[str, str]] = {
    ASK: ("engineer", "director"), ASK_TOO: ("engineer", "director"), OTHER: ("tester", "engineer"),
    "gate": ("tester", "director"), f"{STAMP}--tester--director--x": ("tester", "director"),
}  # fmt: skip
WORDS = st.one_of(
    st.builds("{}{}".format, st.sampled_from([*POOL, GONE, "lost", "0007-gate", "0008-gone", TALK[1]]),
              st.sampled_from(["", ".openthing", ".md"])),
    st.sampled_from(["2026-05-01-1430", "2026-05-01-1600", "2026-05-09-0900", "AND", "(", ")", ",", "none"]),
)  # fmt: skip


def naive_meaning(value: str) -> tuple[Any, ...]:
    """What a value means for the director's answer, as the rules of SPEC 3 say one after the other."""
    parent: Ref | None = None
    ghost: str | None = None
    guess: str | None = None
    also, linked = [], []
    for form, stem, is_aside in naive_names(value):
        to: Ref | None = None
        if form == "stamp":
            named = [one for one in (*POOL, "2026-05-09-0900--director--engineer--re") if one.startswith(stem)]
            if len(named) > 1:
                named = [one for one in named if POOL[one] in {("engineer", "director"), ("director", "engineer")}]
            if len(named) != 1 or named[0] not in POOL:
                continue
            to = ("memo", named[0])
        elif stem == "0007-gate" and (form == "document" or value == stem):  # its extension may be left out
            to = GATE
        elif stem in POOL:
            to = ("memo", stem)
        elif stem == TALK[1]:
            to = TALK
        if to is None and parent is None and ghost is None:
            ghost = stem if form == "stamped" else None
            guess = guess or (stem if form == "file" else None)
        elif to is None:
            guess = guess or (stem if form == "file" else None)
        elif to[0] == "memo" and parent is None and ghost is None:
            parent = to
        elif to != parent:
            linked.append(to)
            if to[0] == "memo" and not is_aside and POOL[to[1]][1] == "director":
                also.append(to)
    return parent, None if parent else ghost or guess, tuple(dict.fromkeys(also)), set(linked)


@given(st.lists(WORDS, max_size=5))
def test_references_mean_what_the_second_reading_says(words: list[str]) -> None:
    """Whatever stands in them, in whatever order."""
    value = " ".join(words)
    memos = [ask(stem, *ends, sent="2026-05-01T09:00:00Z") for stem, ends in POOL.items()]
    archive = archive_of(*memos, answer(value), document("decisions/0007-gate.md"), transcript(TALK[1]))
    assert meaning(archive) == naive_meaning(value)
