"""Identity and copies (SPEC 3): which files are one artifact, who keeps an id, and that ids stay what they were."""

import hashlib
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memosite.archive.ledger import Ledger, parse_ledger
from memosite.facts.parsed import Discharge, Envelope, Fact
from tests.support.archives import findings, memo, rules_found, transcript_of
from tests.support.facts import archive_of, body_file, envelope, resolve_facts, transcript

elsewhere = partial(envelope, source="other")


def rival_id(stem: str, sender: str, to: str, sent: str) -> str:
    """The id of one that lost its name (SPEC 3)."""
    said = "\0".join((sender, to, sent)).encode()
    return f"{stem}~{hashlib.sha256(said).hexdigest()[:8]}"


def ids(*found: Fact, ledger: Ledger | None = None) -> set[str]:
    """The ids that are given."""
    return {id_ for _, id_ in archive_of(*found, ledger=ledger or Ledger()).artifacts}


def through_the_file(ledger: Ledger) -> Ledger:
    """A ledger as the next build reads it."""
    return parse_ledger(ledger.to_jsonl(), name="ledger")


def test_one_name_sender_recipient_and_time_are_one_artifact() -> None:
    """A broadcast has one copy per repo; folder, notation and accents are no part of identity."""
    archive = archive_of(envelope(path="memos/inbox/m.openthing"), elsewhere(path="memos/read/m.openthing"))
    boxes = [(copy.file.source, copy.mailbox) for copy in memo(archive, "m").copies]
    assert boxes == [("repo", "inbox"), ("other", "read")]
    assert archive.findings == () and len(memo(archive, "m").variants) == 1
    assert ids(envelope(path="memos/inbox/m.openthing")) == ids(envelope(path="memos/archive/m.openthing"))
    archive = archive_of(envelope(sent="2026-05-01T14:30:00Z"), elsewhere(sent="2026-05-01T14:30:00+00:00"))
    assert len(memo(archive, "m").copies) == 2
    assert len(archive_of(envelope("café"), elsewhere("cafe\u0301")).artifacts) == 1


def test_copies_that_differ_are_variants_with_a_finding() -> None:
    """The first of the sources is shown first, but a discharged one before it; bodies make variants, too."""
    archive = archive_of(envelope(content="old"), elsewhere(content="new"))
    found = memo(archive, "m")
    assert [variant.envelope.file.source for variant in found.variants] == ["repo", "other"]
    assert [copy.variant for copy in found.copies] == [0, 1]
    assert [finding.location.source for finding in findings(archive, "copies-differ")] == ["other"]
    archive = archive_of(envelope(content="old"), elsewhere(content="new", discharge=Discharge(by="director")))
    assert memo(archive, "m").variants[0].envelope.file.source == "other"
    read = envelope(path="memos/read/m.openthing", content="b")
    archive = archive_of(envelope(content="a"), read, elsewhere(content="a"))
    assert [copy.variant for copy in memo(archive, "m").copies] == [0, 1, 0]
    assert len(findings(archive, "copies-differ")) == 1
    here, there = envelope(body_ref="m.body.md"), elsewhere(body_ref="m.body.md")
    first, second = (body_file("memos/m.body.md", text, source="other") for text in ("one", "two"))
    archive = archive_of(here, body_file("memos/m.body.md", "one"), there, second)
    assert [variant.body.text.summary for variant in memo(archive, "m").variants if variant.body] == ["one", "two"]
    assert rules_found(archive) == {"copies-differ"}
    archive = archive_of(here, there, first)
    (variant,) = memo(archive, "m").variants
    assert variant.text is not None and variant.text.summary == "one"
    assert rules_found(archive) == {"body-ref-missing"}


def broken(stem: str, path: str, *, source: str = "repo") -> Envelope:
    """An envelope that cannot be read."""
    return envelope(stem, path, source=source, shape="broken", sender="", to=(), subject="", sent="", content=path)


def test_a_broken_copy_is_one_of_its_name_and_alone_it_is_kept_under_it() -> None:
    """Shown last, of several artifacts that of its own source; what a name tells makes no position."""
    archive = archive_of(broken("m", "memos/inbox/m.openthing"), elsewhere("m"))
    found = memo(archive, "m")
    assert not found.broken and [variant.envelope.shape for variant in found.variants] == ["typed", "broken"]
    assert archive.findings == ()
    rivals = [envelope("m"), elsewhere("m", sender="tester")]
    archive = archive_of(*rivals, broken("m", "memos/read/m.openthing", source="other"))
    assert [len(one.copies) for one in archive.memos()] == [1, 2]
    archive = archive_of(*rivals, broken("m", "memos/read/m.openthing", source="third"))
    assert len(archive.artifacts) == 3
    name = "2026-05-01-0900--engineer--director--gate"
    archive = archive_of(broken(name, f"memos/inbox/{name}.openthing"), envelope("other"))
    found = memo(archive, name)
    assert found.broken and (found.sender, found.to) == ("engineer", ("director",))
    assert found.positions == ("director", "engineer") and found.recipients[0].unread is True
    assert found.date is not None and found.date.origin == "name"
    name = "2026-05-01-0900--engineer--a-and-b--gate"
    archive = archive_of(broken(name, f"memos/{name}.openthing"))
    assert archive.positions == {} and memo(archive, name).recipients == ()
    path = "transcripts/tester/t.openthing"
    archive = archive_of(transcript("t", positions=(), path=path, shape="broken", sent=""), transcript("u"))
    assert transcript_of(archive, "t").broken and not transcript_of(archive, "u").broken
    assert transcript_of(archive, "t").role == "tester"


def test_a_body_without_envelope_is_a_copy_of_the_memo_elsewhere() -> None:
    """With the same text it is no variant, with another it is one; broken and bare copies tell nothing but the name."""
    sound: list[Fact] = [envelope(body_ref="m.body.md"), body_file("memos/m.body.md", "one")]
    archive = archive_of(*sound, body_file("memos/inbox/m.body.md", "one", source="other"))
    assert [copy.variant for copy in memo(archive, "m").copies] == [0, 0]
    archive = archive_of(*sound, body_file("memos/inbox/m.body.md", "two", source="other"))
    assert [copy.variant for copy in memo(archive, "m").copies] == [0, 1]
    assert rules_found(archive) == {"body-without-envelope"}
    name = "2026-05-01-0900--engineer--director--gate"
    text = body_file(f"memos/{name}.body.md", "text", source="other")
    archive = archive_of(broken(name, f"memos/{name}.openthing"), text)
    assert [len(one.copies) for one in archive.memos()] == [2]


def test_the_earliest_keeps_the_id_then_the_first_sender_and_case_tells_none_apart() -> None:
    """The others get `~` and 8 hex of SHA-256(from NUL to NUL sent), per kind; what has no time comes last."""
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"sender": "a"}, {"sender": "b"}),
        ({"to": "a"}, {"to": "b"}),
        ({"sender": "a", "to": "z"}, {"sender": "b", "to": "a"}),
        ({"sent": "2026-05-01T00:00:00Z"}, {"sent": "soon"}),
    ]
    for one, two in cases:
        for first, second in [("repo", "other"), ("other", "repo")]:
            archive = archive_of(envelope("m", source=first, **one), envelope("m", source=second, **two))
            assert memo(archive, "m").copies[0].file.source == first, one
    late = envelope("m", sender="a", to="b", sent="2026-05-02T00:00:00Z")
    early = elsewhere("m", sender="z", to="y", sent="2026-05-01T23:00:00-04:00")
    earliest = envelope("m", sender="z", to="y", sent="2026-05-01T23:00:00Z", source="third")
    rivals = (("a", "b", "2026-05-02T00:00:00Z"), ("z", "y", "2026-05-01T23:00:00-04:00"))
    assert ids(late, early, earliest) == {"m", *(rival_id("m", *rival) for rival in rivals)}
    archive = archive_of(late, early, earliest)
    assert memo(archive, "m").copies[0].file.source == "third"
    found = findings(archive, "id-collision")
    assert [finding.location.source for finding in found] == ["other", "repo"]
    assert all("third/memos/m.openthing" in finding.message for finding in found)
    archive = archive_of(envelope("m"), transcript("m"))
    assert set(archive.artifacts) == {("memo", "m"), ("transcript", "m")} and archive.findings == ()
    archive = archive_of(envelope("Gate", sender="b"), envelope("gate", sender="a"))
    rival = rival_id("Gate", "b", "director", "2026-05-01T14:30:00Z")
    assert set(archive.artifacts) == {("memo", "gate"), ("memo", rival)}
    three = ids(envelope("GATE"), envelope("Gate"), envelope("gate"))
    assert len({id_.casefold() for id_ in three}) == 3
    archive = archive_of(envelope("a b"), envelope("a/b".replace("/", "&")))
    assert len(archive.artifacts) == 2 and archive.findings == ()
    archive = archive_of(envelope("a\udcff", "memos/a"), envelope("a\udcfe", "memos/b"))
    assert len(archive.artifacts) == 2


@given(st.lists(st.sampled_from(["m", "M", "n"]), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_ids_are_distinct_and_do_not_hang_on_the_order_of_reading(stems: list[str], random: "object") -> None:
    """Without a ledger they follow from the memos alone."""
    found = [
        envelope(stem, f"memos/{number}/{stem}.openthing", sender=f"s{number % 3}") for number, stem in enumerate(stems)
    ]
    before = archive_of(*found)
    random.shuffle(found)  # type: ignore[attr-defined] # what randoms() gives has it
    assert archive_of(*found) == before
    assert len({id_.casefold() for _, id_ in before.artifacts}) == len(before.artifacts)


def test_what_has_an_id_keeps_it_against_a_rival_and_equal_input_adds_nothing() -> None:
    """Even if that was sent earlier, or this was edited; of two that had one id in turn the last keeps it."""
    old, rival = envelope("m", sent="2026-05-02T00:00:00Z"), elsewhere("m", sent="2026-05-01T00:00:00Z")
    _, ledger = resolve_facts(old)
    assert memo(archive_of(old, rival), "m").copies[0].file.source == "other"
    archive, ledger = resolve_facts(old, rival, ledger=through_the_file(ledger))
    assert memo(archive, "m").copies[0].file.source == "repo"
    assert [one.number for one in ledger.arrivals] == [1, 2]
    early, late = envelope("m"), elsewhere("m", sent="2026-05-02T00:00:00Z")
    _, ledger = resolve_facts(early, late)
    assert ids(late, ledger=through_the_file(ledger)) == {rival_id("m", "engineer", "director", "2026-05-02T00:00:00Z")}
    _, ledger = resolve_facts(envelope("Gate"))
    rival_of_gate = rival_id("gate", "engineer", "director", "2026-05-01T14:30:00Z")
    assert ids(envelope("gate"), ledger=through_the_file(ledger)) == {rival_of_gate}
    _, ledger = resolve_facts(envelope("m", sent="2026-05-02T00:00:00Z"))
    edited = envelope("m", sent="2026-05-03T00:00:00Z")
    archive, ledger = resolve_facts(edited, ledger=through_the_file(ledger))
    assert set(archive.artifacts) == {("memo", "m")} and memo(archive, "m").arrival == 1
    rival = elsewhere("m", sent="2026-05-01T00:00:00Z")
    archive, _ = resolve_facts(edited, rival, ledger=through_the_file(ledger))
    assert memo(archive, "m").copies[0].file.source == "repo"
    old, new = envelope("m", sent="2026-05-01T00:00:00Z"), elsewhere("m", sent="2026-05-02T00:00:00Z")
    _, ledger = resolve_facts(old)
    _, ledger = resolve_facts(new, ledger=through_the_file(ledger))
    archive, _ = resolve_facts(old, new, ledger=through_the_file(ledger))
    assert memo(archive, "m").copies[0].file.source == "other"
    _, ledger = resolve_facts(broken("m", "memos/m.openthing"))
    archive, _ = resolve_facts(envelope("m"), ledger=through_the_file(ledger))
    assert set(archive.artifacts) == {("memo", "m")} and memo(archive, "m").arrival == 1
    other = envelope("m", "memos/read/m.openthing", sender="z")
    found = [envelope("m"), other, transcript("t"), envelope("n", in_reply_to="m")]
    archive, ledger = resolve_facts(*found)
    again, same = resolve_facts(*found, ledger=through_the_file(ledger))
    assert again == archive and same.to_jsonl() == ledger.to_jsonl()


@given(st.lists(st.tuples(st.sampled_from(["m", "M"]), st.integers(0, 5)), min_size=1, max_size=8, unique=True))
def test_ids_stay_what_they_were_whatever_arrives(arriving: list[tuple[str, int]]) -> None:
    """Memos arrive one after the other; what has an id never loses it to what comes."""
    found: list[Fact] = []
    ledger = Ledger()
    given_ids: dict[str, str] = {}
    for number, (stem, day) in enumerate(arriving):
        sent = f"2026-05-{20 - day:02}T00:00:00Z"
        found.append(envelope(stem, f"memos/{number}/{stem}.openthing", sent=sent))
        archive, ledger = resolve_facts(*found, ledger=through_the_file(ledger))
        now = {one.copies[0].file.path: one.id for one in archive.artifacts.values()}
        assert given_ids.items() <= now.items()
        given_ids = now
