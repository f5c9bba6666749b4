"""Bodies: which file an envelope's text lies in, and what becomes of those that nobody names (SPEC 2.2)."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.parsed import BodyFile, Envelope, FileFacts
from memosite.resolve.identity import JoinedCopy, body_candidates, join_bodies
from tests.support.facts import body_file, envelope, no_line, transcript


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


# Where a body is sought


def test_a_body_is_sought_in_its_own_folder_then_in_the_sibling_mailboxes() -> None:
    """The pair is often split over two mailboxes."""
    found = body_candidates(envelope(path="repo/memos/read/m.openthing", body_ref="m.body.md"))
    assert found == (
        "repo/memos/read/m.body.md",
        "repo/memos/m.body.md",
        "repo/memos/inbox/m.body.md",
        "repo/memos/archive/m.body.md",
    )


def test_notes_and_transcripts_have_no_sibling_mailboxes() -> None:
    """Their bodies lie beside them."""
    assert body_candidates(transcript("t", body_ref="t.body.md")) == ("transcripts/engineer/t.body.md",)


def test_without_a_body_ref_the_file_of_its_name_is_sought() -> None:
    """`body` may be missing though the file is there."""
    assert body_candidates(envelope(path="memos/inbox/m.openthing"))[0] == "memos/inbox/m.body.md"


def test_a_memo_folder_of_an_orgdef_has_mailboxes_too() -> None:
    """Where x.org.memo_location says."""
    found = body_candidates(envelope(path="handoffs/read/m.openthing", body_ref="m.md"), memo_folders=("handoffs",))
    assert "handoffs/inbox/m.md" in found


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("../inbox/m.body.md", "memos/inbox/m.body.md"),
        ("..\\inbox\\m.body.md", "memos/inbox/m.body.md"),
        ("./m.body.md", "memos/read/m.body.md"),
        ("parts/m.body.md", "memos/read/parts/m.body.md"),
        ("C:\\org\\memos\\inbox\\m.body.md", "memos/read/m.body.md"),
        ("/srv/org/m.body.md", "memos/read/m.body.md"),
        ("file:///srv/org/m.body.md", "memos/read/m.body.md"),
        ("re: gate.body.md", "memos/read/re: gate.body.md"),
        ("m.html", "memos/read/m.html"),
    ],
)
def test_what_is_written_is_understood(written: str, found: str) -> None:
    """As a path from the envelope's folder, else by its base name."""
    assert body_candidates(envelope(path="memos/read/m.openthing", body_ref=written))[0] == found


@pytest.mark.parametrize(
    "written",
    ["../../etc/passwd", "../../../../etc/passwd", "/etc/passwd", "../../.env", "..", ".", "/", "\\", "a\0b", "../.."],
)
def test_nothing_outside_the_store_is_ever_sought(written: str) -> None:
    """A body_ref comes from anybody; a base name in the store is as far as it gets."""
    for candidate in body_candidates(envelope(path="org/memos/read/m.openthing", body_ref=written)):
        assert candidate.startswith("org/memos/") and ".." not in candidate.split("/") and "\0" not in candidate


@given(st.text(alphabet="./\\a:~\0 ", max_size=20), st.sampled_from(["memos/read/m", "a/notes/x/m", "docs/m", "m"]))
def test_whatever_is_written_stays_inside(written: str, path: str) -> None:
    """Any text gives paths that are normal, relative and below the envelope's store or folder."""
    folder = path.rpartition("/")[0]
    store = {"memos/read": "memos", "a/notes/x": "a/notes"}.get(folder, folder)
    for candidate in body_candidates(envelope(path=f"{path}.openthing", body_ref=written or None, stem="m")):
        parts = candidate.split("/")
        assert ".." not in parts and "." not in parts and "" not in parts
        assert candidate.startswith(f"{store}/") if store else len(parts) == 1


def test_beside_a_loose_envelope_only_its_own_folder_counts() -> None:
    """Files may be checked wherever they lie."""
    assert body_candidates(envelope(path="m.openthing", body_ref="x.md")) == ("x.md",)
    assert body_candidates(envelope(path="docs/m.openthing", body_ref="../x.md")) == ("docs/x.md",)


def test_an_envelope_is_no_body() -> None:
    """Neither itself nor another one."""
    assert body_candidates(envelope(path="memos/m.openthing", body_ref="m.openthing")) == ()
    assert body_candidates(envelope(path="memos/m.openthing", body_ref="../memos/x.OpenThing")) == ()


# Joining


def test_the_nearest_body_wins() -> None:
    """One beside the envelope comes before one in another mailbox."""
    near, far = body_file("memos/read/m.body.md", "near"), body_file("memos/inbox/m.body.md", "far")
    joined, findings = join(envelope(path="memos/read/m.openthing", body_ref="m.body.md"), bodies=(far, near))
    assert joined["memos/read/m.openthing"].body == near
    assert findings == [("body-without-envelope", "memos/inbox/m.body.md", "no envelope names m.body.md")]


def test_a_split_pair_is_joined_with_a_finding() -> None:
    """The message names both folders."""
    body = body_file("memos/inbox/m.body.md")
    joined, findings = join(envelope(path="memos/read/m.openthing", body_ref="m.body.md"), bodies=(body,))
    assert joined["memos/read/m.openthing"].body == body
    assert findings == [
        ("body-split", "memos/read/m.openthing", "the envelope is in memos/read/, its body in memos/inbox/")
    ]


def test_a_split_over_a_flat_folder_and_a_mailbox_is_one_too() -> None:
    """A flat `memos/` counts as a mailbox."""
    _, findings = join(
        envelope(path="memos/m.openthing", body_ref="m.body.md"), bodies=(body_file("memos/inbox/m.body.md"),)
    )
    assert [rule for rule, _, _ in findings] == ["body-split"]


def test_a_body_of_another_source_is_never_taken() -> None:
    """Sources are worlds of their own here."""
    joined, findings = join(
        envelope(path="memos/m.openthing", body_ref="m.body.md"), bodies=(body_file("memos/m.body.md", source="other"),)
    )
    assert joined["memos/m.openthing"].body is None
    assert [rule for rule, _, _ in findings] == ["body-ref-missing", "body-without-envelope"]


def test_a_body_that_no_body_ref_names_is_joined_with_a_warning() -> None:
    """But not on a file that cannot be read: nobody knows what it names."""
    body = body_file("memos/m.body.md")
    joined, findings = join(envelope(path="memos/m.openthing"), bodies=(body,))
    assert joined["memos/m.openthing"].body == body and [rule for rule, _, _ in findings] == ["body-not-referenced"]
    joined, findings = join(envelope(path="memos/m.openthing", shape="broken"), bodies=(body,))
    assert joined["memos/m.openthing"].body == body and findings == []


def test_a_missing_body_says_at_which_line_it_is_named() -> None:
    """The line comes from the envelope, typed or legacy."""

    def legacy(_file: FileFacts, key: str) -> int | None:
        return 7 if key == "x.memo.body_ref" else None

    _, findings = join_bodies([envelope(body_ref="x.body.md")], {}, legacy)
    assert [(finding.rule.id, finding.location.line) for finding in findings] == [("body-ref-missing", 7)]


def test_two_envelopes_may_share_a_body() -> None:
    """It is used, and so no orphan."""
    body = body_file("memos/x.body.md")
    joined, findings = join(envelope("a", body_ref="x.body.md"), envelope("b", body_ref="x.body.md"), bodies=(body,))
    assert [copy.body for copy in joined.values()] == [body, body] and findings == []


# Bodies without envelopes


def test_an_orphan_becomes_a_bare_memo_with_what_its_name_tells() -> None:
    """Its kind is that of its store."""
    name = "2026-05-01-0900--engineer--director--gate"
    joined, findings = join(bodies=(body_file(f"memos/inbox/{name}.body.md"),))
    bare = joined[f"memos/inbox/{name}.body.md"].envelope
    assert (bare.kind, bare.shape, bare.stem, bare.sender, bare.to) == ("memo", "bare", name, "engineer", ("director",))
    assert [rule for rule, _, _ in findings] == ["body-without-envelope"]


def test_an_orphan_to_file_is_a_note_wherever_it_lies() -> None:
    """The name says so."""
    joined, _ = join(bodies=(body_file("memos/2026-05-01-0900--engineer--file--lesson.body.md"),))
    assert [copy.envelope.kind for copy in joined.values()] == ["note"]


def test_an_orphan_of_a_transcript_names_nobody() -> None:
    """The role in its name is no sender of a memo."""
    joined, _ = join(bodies=(body_file("transcripts/engineer/2026-05-01-0900--engineer--talk.body.md"),))
    (bare,) = [copy.envelope for copy in joined.values()]
    assert (bare.kind, bare.sender, bare.to) == ("transcript", "", ())


def test_other_files_that_nobody_names_are_left_alone() -> None:
    """Only a `.body.md` in a store is somebody's body."""
    joined, findings = join(bodies=(body_file("docs/x.body.md"), body_file("memos/readme.md")))
    assert joined == {} and findings == []
    joined, _ = join(bodies=(body_file("handoffs/x.body.md"),), memo_folders=("handoffs",))
    assert list(joined) == ["handoffs/x.body.md"]
