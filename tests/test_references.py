"""References: which artifact a name stands for, seen from where it is written (SPEC 3, references)."""

from memosite.facts.parsed import Ref
from memosite.resolve.identity import CopyGroup, assign_ids, group_copies, join_bodies
from memosite.resolve.threads import MESSAGES, NameIndex, ghost_refs
from tests.support.archives import EMPTY, memo, transcript_of
from tests.support.facts import archive_of, envelope, no_line, transcript


def grouped(*envelopes: object) -> list[CopyGroup]:
    """Groups that have their ids."""
    joined, _ = join_bodies(envelopes, {}, no_line)  # type: ignore[arg-type] # they are envelopes
    groups = group_copies(joined)
    assign_ids(groups, EMPTY)
    return groups


def rival_of(groups: list[CopyGroup], sender: str) -> Ref:
    """The ref of the one from this sender."""
    return next(group.ref for group in groups if group.sender == sender)


def test_a_name_binds_to_the_artifact_of_its_own_source() -> None:
    """Else to the plain one."""
    groups = grouped(envelope(sender="a"), envelope(sender="b", source="other"))
    index = NameIndex(groups)
    assert index.find("m", source="repo") == rival_of(groups, "a") == ("memo", "m")
    assert index.find("m", source="other") == rival_of(groups, "b") != ("memo", "m")
    assert index.find("m", source="third") == ("memo", "m")


def test_a_copy_in_the_own_source_is_enough() -> None:
    """Copies of a broadcast lie in many repos."""
    groups = grouped(
        envelope(sender="a"), envelope(sender="b", source="other"), envelope(sender="b", path="memos/m", source="third")
    )
    assert NameIndex(groups).find("m", source="third") == rival_of(groups, "b")


def test_a_name_is_found_in_either_unicode_form() -> None:
    """The reference may be composed and the file's name not."""
    index = NameIndex(grouped(envelope("cafe\u0301")))
    assert index.find("caf\u00e9", source="repo") == index.find("cafe\u0301", source="repo") is not None


def test_names_are_not_guessed() -> None:
    """Case counts, and so does the whole name."""
    index = NameIndex(grouped(envelope("2026-05-01-1430--a--b--gate")))
    assert index.find("2026-05-01-1430--A--b--gate", source="repo") is None
    assert index.find("2026-05-01-1430--a--b", source="repo") is None


def test_an_id_stands_for_its_artifact_if_no_file_is_called_so() -> None:
    """An id with `~` can be named."""
    groups = grouped(envelope(sender="a"), envelope(sender="b", source="other"))
    kind, id_ = rival_of(groups, "b")
    assert NameIndex(groups).find(id_, source="repo") == (kind, id_)


def test_only_the_kinds_asked_for_are_found() -> None:
    """A memo and a transcript may have one name; messages come first."""
    index = NameIndex(grouped(transcript("m"), envelope("m", source="other")))
    assert index.find("m", source="repo") == ("transcript", "m")
    assert index.find("m", source="third") == ("memo", "m")
    assert index.find("m", source="repo", kinds=MESSAGES) == ("memo", "m")


def test_nothing_refers_to_itself_if_it_can_mean_another() -> None:
    """A reply saved under the name of what it answers."""
    archive = archive_of(envelope(sender="a"), envelope(sender="b", source="other", in_reply_to="m"))
    (reply,) = [one for one in archive.memos() if one.sender == "b"]
    assert reply.parent == ("memo", "m") and not archive.ghosts
    assert NameIndex(grouped(envelope())).find("m", source="repo", but=("memo", "m")) == ("memo", "m")


def test_any_variant_may_name_the_parent() -> None:
    """The one shown first need not."""
    archive = archive_of(envelope("a"), envelope("b", content="1"), envelope("b", source="other", in_reply_to="a"))
    assert memo(archive, "b").parent == ("memo", "a")


def test_ghosts_have_ids_of_their_own() -> None:
    """Two references that clean up to almost the same id, and a memo that has it."""
    missing: dict[Ref, str] = {("memo", "1"): "gate", ("memo", "2"): "Gate", ("memo", "3"): "gate"}
    assert ghost_refs(missing, [("memo", "GATE")]) == {
        "Gate": ("memo", "Gate~ghost"),
        "gate": ("memo", "gate~ghost~ghost"),
    }


def test_related_memos_are_found_like_any_reference() -> None:
    """What is not there is named, and a transcript is not related to itself."""
    archive = archive_of(
        envelope("a"), transcript("t", related=("a", "gone", "t", "a")), transcript("t", source="other", content="x")
    )
    found = transcript_of(archive, "t")
    assert found.related == (("memo", "a"),)
    assert found.unresolved == ("gone",)
