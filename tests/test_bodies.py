"""What counts by where it lies, which file an envelope's text lies in, and bodies that nobody names (SPEC 2.2)."""

from collections.abc import Mapping

from hypothesis import example, given
from hypothesis import strategies as st

from memosite.archive.model import SourceInfo
from memosite.facts import rules
from memosite.facts.findings import Finding, Location
from memosite.facts.parsed import BodyFile, Envelope, FileFacts, Parsed
from memosite.resolve.identity import (
    Collected,
    JoinedCopy,
    body_candidates,
    collect,
    join_bodies,
    memo_folders,
    operational_place,
)
from tests.support.facts import body_file, envelope, no_line, organization, parsed_of


def join(
    *envelopes: Envelope, bodies: tuple[BodyFile, ...] = (), memo_folders: tuple[str, ...] = ()
) -> tuple[dict[str, JoinedCopy], list[tuple[str, str, str]]]:
    """The joined copies by path, and the findings as (rule, path, message)."""
    by_path: Mapping[tuple[str, str], BodyFile] = {(body.file.source, body.file.path): body for body in bodies}
    joined, findings = join_bodies(envelopes, by_path, no_line, memo_folders=memo_folders)
    return (
        {copy.envelope.file.path: copy for copy in joined},
        [(finding.rule.id, finding.location.path, finding.message) for finding in findings],
    )


def test_a_body_is_sought_where_it_may_be_and_facts_stand_in_the_order_of_the_sources() -> None:
    """However it is written; notes and transcripts have no mailboxes; unknown sources come last."""
    facts = [
        parsed_of(envelope("b", source="other")),
        parsed_of(envelope("b", source="unknown")),
        parsed_of(envelope("b")),
        parsed_of(envelope("a")),
    ]
    order = [("repo", "a"), ("repo", "b"), ("other", "b"), ("unknown", "b")]
    assert [(one.file.source, one.stem) for one in collected(*facts).envelopes] == order
    assert [(one.file.source, one.stem) for one in collected(*reversed(facts)).envelopes] == order
    odd = Finding(rule=rules.FILE_TOO_LARGE, location=Location(source="repo", path="memos/m.openthing"), message="x")
    assert collected(Parsed(source="repo", path="memos/m.openthing", findings=(odd,))).findings == (odd,)
    for path, written, expected in [
        # In its own folder, then in the sibling mailboxes: the pair is often split over two
        ("r/memos/read/m", "m.md", ("r/memos/read/m.md", "r/memos/m.md", "r/memos/inbox/m.md", "r/memos/archive/m.md")),
        ("memos/inbox/m", None, ("memos/inbox/m.body.md", "memos/m.body.md", "memos/read/m.body.md")),
        ("handoffs/read/m", "m.md", ("handoffs/read/m.md", "handoffs/m.md", "handoffs/inbox/m.md")),
        ("memos/archive/2026/m", "m.md", ("memos/archive/2026/m.md", "memos/m.md", "memos/inbox/m.md")),
        ("transcripts/a/m", "m.md", ("transcripts/a/m.md",)),
        ("notes/a/m", "m.md", ("notes/a/m.md",)),
        ("m", "x.md", ("x.md",)),
        ("docs/m", "../x.md", ("docs/x.md",)),
        # As a path from the envelope's folder, else by its base name
        ("memos/read/m", "../inbox/m.body.md", ("memos/inbox/m.body.md",)),
        ("memos/read/m", "..\\inbox\\m.body.md", ("memos/inbox/m.body.md",)),
        ("memos/read/m", "./m.body.md", ("memos/read/m.body.md",)),
        ("memos/read/m", "parts/m.body.md", ("memos/read/parts/m.body.md",)),
        ("memos/read/m", "C:\\org\\memos\\inbox\\m.body.md", ("memos/read/m.body.md",)),
        ("memos/read/m", "/srv/org/m.body.md", ("memos/read/m.body.md",)),
        ("memos/read/m", "file:///srv/org/m.body.md", ("memos/read/m.body.md",)),
        ("memos/read/m", "re: gate.body.md", ("memos/read/re: gate.body.md",)),
        ("memos/read/m", "m.html", ("memos/read/m.html",)),
    ]:
        found = body_candidates(envelope("m", f"{path}.openthing", body_ref=written), memo_folders=("handoffs",))
        assert found[: len(expected)] == expected
        assert (len(found) > 1) == ("memos/" in path or "handoffs/" in path)


@given(st.text(alphabet="./\\a:~\0 ", max_size=20), st.sampled_from(["memos/read/m", "a/notes/x/m", "docs/m", "m"]))
@example("../../etc/passwd", "memos/read/m")
@example("/etc/passwd", "memos/read/m")
@example("../../.env", "memos/read/m")
@example("..", "memos/read/m")
@example("a\0b", "memos/read/m")
def test_whatever_is_written_stays_inside(written: str, path: str) -> None:
    """Any text gives paths that are normal, relative and below the envelope's store or folder."""
    folder = path.rpartition("/")[0]
    store = {"memos/read": "memos", "a/notes/x": "a/notes"}.get(folder, folder)
    for candidate in body_candidates(envelope(path=f"{path}.openthing", body_ref=written or None, stem="m")):
        parts = candidate.split("/")
        assert ".." not in parts and "." not in parts and "" not in parts and "\0" not in candidate
        assert candidate.startswith(f"{store}/") if store else len(parts) == 1


def test_a_body_is_joined_with_a_finding_where_it_is_odd_and_never_from_another_source() -> None:
    """Sources are worlds of their own here, and the nearest body wins."""
    near, far = body_file("memos/read/m.body.md", "near"), body_file("memos/inbox/m.body.md", "far")
    joined, findings = join(envelope(path="memos/read/m.openthing", body_ref="m.body.md"), bodies=(far, near))
    assert joined["memos/read/m.openthing"].body == near
    assert findings == [("body-without-envelope", "memos/inbox/m.body.md", "no envelope names m.body.md")]
    joined, findings = join(
        envelope(path="memos/m.openthing", body_ref="m.body.md"), bodies=(body_file("memos/m.body.md", source="other"),)
    )
    assert joined["memos/m.openthing"].body is None
    assert [rule for rule, _, _ in findings] == ["body-ref-missing", "body-without-envelope"]
    body = body_file("memos/inbox/m.body.md")
    joined, findings = join(envelope(path="memos/read/m.openthing", body_ref="m.body.md"), bodies=(body,))
    assert joined["memos/read/m.openthing"].body == body
    assert findings == [
        ("body-split", "memos/read/m.openthing", "the envelope is in memos/read/, its body in memos/inbox/")
    ]
    _, findings = join(envelope(path="memos/m.openthing", body_ref="m.body.md"), bodies=(body,))
    assert [rule for rule, _, _ in findings] == ["body-split"]
    body = body_file("memos/m.body.md")
    joined, findings = join(envelope(path="memos/m.openthing"), bodies=(body,))
    assert joined["memos/m.openthing"].body == body and [rule for rule, _, _ in findings] == ["body-not-referenced"]
    joined, findings = join(envelope(path="memos/m.openthing", shape="broken"), bodies=(body,))
    assert joined["memos/m.openthing"].body == body and findings == []
    assert body_candidates(envelope(path="memos/m.openthing", body_ref="m.openthing")) == ()
    assert body_candidates(envelope(path="memos/m.openthing", body_ref="../memos/x.OpenThing")) == ()


def test_a_missing_body_and_an_orphan_are_told_of() -> None:
    """The line comes from the envelope, typed or legacy; a body that two share is no orphan."""

    def legacy(_file: FileFacts, key: str) -> int | None:
        return 7 if key == "x.memo.body_ref" else None

    _, missing = join_bodies([envelope(body_ref="x.body.md")], {}, legacy)
    assert [(finding.rule.id, finding.location.line) for finding in missing] == [("body-ref-missing", 7)]
    body = body_file("memos/x.body.md")
    joined, others = join(envelope("a", body_ref="x.body.md"), envelope("b", body_ref="x.body.md"), bodies=(body,))
    assert [copy.body for copy in joined.values()] == [body, body] and others == []
    # Its kind is that of its store, or of its name; one of a transcript names nobody, other files are left alone.
    name = "2026-05-01-0900--engineer--director--gate"
    joined, findings = join(bodies=(body_file(f"memos/inbox/{name}.body.md"),))
    bare = joined[f"memos/inbox/{name}.body.md"].envelope
    assert (bare.kind, bare.shape, bare.stem, bare.sender, bare.to) == ("memo", "bare", name, "engineer", ("director",))
    assert [rule for rule, _, _ in findings] == ["body-without-envelope"]
    joined, _ = join(bodies=(body_file("memos/2026-05-01-0900--engineer--file--lesson.body.md"),))
    assert [copy.envelope.kind for copy in joined.values()] == ["note"]
    joined, _ = join(bodies=(body_file("transcripts/engineer/2026-05-01-0900--engineer--talk.body.md"),))
    (bare,) = [copy.envelope for copy in joined.values()]
    assert (bare.kind, bare.sender, bare.to) == ("transcript", "", ())
    joined, findings = join(bodies=(body_file("docs/x.body.md"), body_file("memos/readme.md")))
    assert joined == {} and findings == []
    joined, _ = join(bodies=(body_file("handoffs/x.body.md"),), memo_folders=("handoffs",))
    assert list(joined) == ["handoffs/x.body.md"]


SOURCES = (SourceInfo(name="repo"), SourceInfo(name="other", include=("docs/comms/**/*.openthing",)))


def collected(*parsed: Parsed, is_loose: bool = False) -> Collected:
    """What is collected from two sources."""
    return collect(parsed, SOURCES, is_loose=is_loose)


def test_envelopes_elsewhere_are_named_in_a_note_and_loose_files_count_anywhere() -> None:
    """And nothing else is said of them."""
    for path in ["m.openthing", "docs/m.openthing", "memos.openthing", "handoffs/m.openthing"]:
        odd = Finding(rule=rules.FIELD_MISSING, location=Location(source="repo", path=path), message="x")
        found = collected(Parsed(source="repo", path=path, fact=envelope(path=path), findings=(odd,)))
        assert found.envelopes == ()
        assert [(finding.rule.id, finding.location.path) for finding in found.findings] == [
            ("outside-convention", path)
        ]
    assert len(collected(parsed_of(envelope(path="m.openthing")), is_loose=True).envelopes) == 1
    there = parsed_of(envelope(path="docs/comms/a/m.openthing", source="other"))
    here = parsed_of(envelope(path="docs/comms/a/m.openthing"))
    assert [one.file.source for one in collected(there, here).envelopes] == ["other"]
    org = parsed_of(organization(memo_locations=("<working_directory>/handoffs/inbox/",), source="other"))
    memo = parsed_of(envelope(path="a/handoffs/inbox/m.openthing"))
    found = collected(org, memo)
    assert len(found.envelopes) == 1 and found.memo_folders == ("handoffs",)
    two = organization(memo_locations=("<repo>/handoffs/", "<repo>/memos/", "post"))
    assert memo_folders([two]) == ("handoffs", "post")
    place = operational_place("docs/comms/m.openthing", memo_folders=(), include=("docs/comms/*",))
    assert place is not None and (place.store, place.folder, place.mailbox) == ("memos", "docs/comms", "flat")
    place = operational_place("notes/a/m.openthing", memo_folders=(), include=("notes/**",))
    assert place is not None and place.store == "notes"
    assert operational_place("docs/m.openthing", memo_folders=(), include=()) is None
