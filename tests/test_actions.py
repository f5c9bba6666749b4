"""Actions and mailboxes (SPEC 3): per recipient open, answered or discharged; and what is unread where."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.mailboxes import is_unread, mailbox_at
from memosite.archive.model import Action, Copy, RecipientState
from memosite.facts.parsed import Discharge, Envelope, Fact, Mailbox, Ref
from memosite.resolve.artifacts import Answering, least_done
from memosite.resolve.threads import ThreadNode, grow_forest
from tests.support.archives import findings, memo
from tests.support.facts import archive_of, body_file, envelope, facts, organization


def asked(stem: str = "m", to: str | Sequence[str] = "director", **fields: Any) -> Envelope:
    """A memo that asks for action."""
    return envelope(stem, to=to, action_required=True, **fields)


def reply(stem: str, to: str, sender: str, **fields: Any) -> Envelope:
    """A reply, later than what it answers."""
    return envelope(stem, in_reply_to=to, sender=sender, to="engineer", sent="2026-05-02T09:00:00Z", **fields)


def states(*found: Fact, **settings: Any) -> tuple[Action | None, list[tuple[str, Action | None]]]:
    """The state of memo `m`, and of each of its recipients."""
    one = memo(archive_of(*found, **settings), "m")
    return one.action, [(state.position, state.action) for state in one.recipients]


ROOTED = [envelope("root", sender="director"), asked("m", in_reply_to="root")]
ACME = organization("acme-org", "director")
UNION = [organization("x", "director"), organization("y", "director")]
BY_ALL: list[Fact] = [
    asked(to="all"), reply("a", "m", "b"), reply("c", "a", "d"), reply("e", "m", "b"), reply("f", "m", "engineer"),
]  # fmt: skip
CASES: dict[str, tuple[list[Fact], Action | None]] = {
    "lying in archive/ is not doneness": ([asked(path="memos/archive/m.openthing")], "open"),
    "what asks for nothing has no state": ([envelope("m", discharge=Discharge())], None),
    "a reply of the recipient": ([asked(), reply("a", "m", "director")], "answered"),
    "below a reply, in another thread": (
        [asked(), reply("a", "m", "tester"), reply("b", "a", "director", thread_id="elsewhere")], "answered"
    ),
    "a reply of somebody else": ([asked(), reply("a", "m", "tester")], "open"),
    "one beside it, or in its thread": (
        [*ROOTED, reply("a", "root", "director"), envelope("b", thread_id="root", sender="director")], "open"
    ),
    "under another name of the seat": ([asked(to="acme/director"), reply("a", "m", "acme-director"), ACME], "answered"),
    "to oneself": ([asked(to="engineer")], "open"),
    "to oneself, answered": ([asked(to="engineer"), reply("a", "m", "engineer")], "answered"),
    "one of two answered": ([asked(to=("director", "tester")), reply("a", "m", "tester")], "open"),
    "to all": ([asked(to="all")], "open"),
    "to all, answered by the sender": ([asked(to="all"), reply("a", "m", "engineer")], "open"),
    "to all, answered": (BY_ALL, "answered"),
    "to a union, answered by one of it": ([asked(), reply("a", "m", "y/director"), *UNION], "answered"),
    "to one of a union": ([asked(to="x/director"), reply("a", "m", "director"), *UNION], "open"),
    "to one, answered by the other": ([asked(to="x/director"), reply("a", "m", "y/director"), *UNION], "open"),
}  # fmt: skip


def test_a_memo_is_open_until_its_recipient_has_answered_it_or_anybody_closes_it() -> None:
    """Under any name, anywhere below; each recipient has a state, the memo's is the least done; notes ask nobody."""
    for case, (found, action) in CASES.items():
        assert states(*found)[0] == action, case
    assert states(*CASES["one of two answered"][0])[1] == [("director", "open"), ("tester", "answered")]
    assert states(*BY_ALL)[1] == [("all", "answered")]
    assert states(envelope("m", discharge=Discharge()))[1] == [("director", None)]
    assert memo(archive_of(*BY_ALL), "m").answers == 2
    found = [envelope("m", to="everybody"), reply("a", "m", "tester"), reply("b", "m", "director")]
    assert memo(archive_of(*found, aliases={"everybody": "all"}), "m").answers == 2
    found = [asked(content="1"), asked(content="2", source="other", discharge=Discharge(by="director"))]
    assert states(*found) == ("discharged", [("director", "discharged")])
    late = [asked(content="1", discharge=Discharge(by="a")), asked(content="2", source="other")]
    assert memo(archive_of(*late), "m").discharge == Discharge(by="a")
    assert states(asked(), closed={"m"})[0] == "discharged"
    archive = archive_of(asked(), closed={"x"})
    assert [(finding.rule.id, finding.location.path) for finding in findings(archive)] == [
        ("closed-unknown", "memosite.yml")
    ]
    archive = archive_of(asked(path="notes/a/m.openthing", kind="note", to="file"))
    assert memo(archive, "m", "note").action is None


def test_open_is_less_done_than_answered_than_discharged() -> None:
    """The degrees in their order."""
    cases: list[tuple[list[Action | None], Action | None]] = [
        ([], None),
        ([None], None),
        (["discharged", "answered"], "answered"),
        (["answered", "open", "discharged"], "open"),
        (["discharged"], "discharged"),
    ]
    for actions, state in cases:
        assert least_done(RecipientState(position="p", action=action) for action in actions) == state, actions


@given(st.lists(st.tuples(st.integers(-1, 8), st.sampled_from(["a", "b", None])), min_size=1, max_size=9))
def test_who_replied_is_found_as_by_walking_the_tree(drawn: list[tuple[int, str | None]]) -> None:
    """The index over the walk tells the same as asking each memo for its ancestors."""
    refs: list[Ref] = [("memo", str(number)) for number in range(len(drawn))]
    parents = [refs[parent] if 0 <= parent < number else None for number, (parent, _) in enumerate(drawn)]
    senders = dict(zip(refs, (sender for _, sender in drawn), strict=True))
    forest = grow_forest(ThreadNode(ref=ref, parent=parent) for ref, parent in zip(refs, parents, strict=True))
    replies = Answering(forest, senders, {}, {})

    def is_below(ref: Ref, top: Ref) -> bool:
        parent = parents[int(ref[1])]
        return parent is not None and (parent == top or is_below(parent, top))

    for top in refs:
        below = {senders[ref] for ref in refs if is_below(ref, top)}
        assert [replies.has_answer(top, by=who) for who in ("a", "b")] == ["a" in below, "b" in below]
        assert replies.count_answering(top, but="a") == len(below - {"a", None})


# Mailboxes


def copies(*places: tuple[str, Mailbox | None]) -> tuple[Copy, ...]:
    """Copies in (source, mailbox)."""
    return tuple(
        Copy(file=facts(f"memos/{number}", source=source), mailbox=mailbox)
        for number, (source, mailbox) in enumerate(places)
    )


def test_a_memo_is_unread_in_the_inbox_of_its_recipient_and_a_note_is_in_none() -> None:
    """Copies in their repo count, else all; flat is not known; a bare body is delivered, though its envelope is not."""
    cases: list[tuple[list[tuple[str, Mailbox]], bool | None, Mailbox]] = [
        ([("r", "inbox")], True, "inbox"), ([("r", "read")], False, "read"), ([("r", "archive")], False, "archive"),
        ([("r", "flat")], None, "flat"), ([("r", "inbox"), ("r", "read")], False, "read"),
        ([("r", "flat"), ("r", "inbox")], True, "inbox"), ([("r", "inbox"), ("other", "archive")], True, "inbox"),
        ([("other", "read")], False, "read"),
    ]  # fmt: skip
    for places, unread, mailbox in cases:
        found = copies(*places)
        assert is_unread(found, "r") is unread and mailbox_at(found, "r") == mailbox, places
    archive = archive_of(
        envelope("x", to="a"),
        envelope("y", to="b", source="other"),
        envelope("m", "memos/inbox/m.openthing", to=("a", "b")),
        envelope("m", "memos/read/m.openthing", to=("a", "b"), source="other"),
    )
    one = memo(archive, "m")
    assert [(state.position, state.unread) for state in one.recipients] == [("a", True), ("b", False)]
    assert one.mailbox == "inbox"
    archive = archive_of(envelope("m", "memos/inbox/m.openthing", kind="note", to="file"))
    assert memo(archive, "m", "note").mailbox is None and memo(archive, "m", "note").copies[0].mailbox is None
    name = "2026-05-01-0900--engineer--director--gate"
    archive = archive_of(body_file(f"memos/inbox/{name}.body.md"), envelope("x", "memos/read/x.openthing"))
    assert memo(archive, name).mailbox == "inbox" and memo(archive, name).recipients[0].unread is True
