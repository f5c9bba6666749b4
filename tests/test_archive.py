"""Whole small repos, read as a build reads them: what spans files and folders (SPEC 2.2, 3 and 9)."""

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Memo
from memosite.cli import main
from memosite.facts.errors import MovedError, SourceError
from memosite.facts.parsed import Envelope, Fact, Kind
from memosite.reading.archive import read_source
from memosite.reading.reader import LineFinder, SourceReader
from memosite.resolve import resolve
from memosite.sources import listing as listing_module
from memosite.store.shelf import Shelf
from tests.support.archives import findings, folder_source, links, memo, read_folders, rules_found, transcript_of
from tests.support.facts import archive_of, envelope, no_line, organization
from tests.support.files import write_json, write_text
from tests.support.memos import write_body, write_legacy_memo, write_memo, write_note, write_org, write_transcript
from tests.support.random_facts import RULES, any_facts, distinct

ASKED = "2026-05-01-0900--engineer--director--gate"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty repo."""
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


def ids(archive: Archive, kind: Kind = "memo") -> set[str]:
    """The ids of one kind."""
    return {id_ for found, id_ in archive.artifacts if found == kind}


# Seen in real archives


def test_a_reply_finds_its_parent_however_it_names_it(repo: Path) -> None:
    """Path, no extension, prose behind it, in the metadata, in the legacy field of a typed memo; or it says none."""
    cases: list[tuple[dict[str, Any], str | None]] = [
        ({"in_reply_to": f"{ASKED}.openthing"}, ASKED),
        ({"in_reply_to": ASKED}, ASKED),
        ({"in_reply_to": f"s:\\org\\repo\\memos\\inbox\\{ASKED}.openthing"}, ASKED),
        ({"in_reply_to": f"../archive/{ASKED}.body.md"}, ASKED),
        ({"metadata": {"in_reply_to": f"memos/read/{ASKED} (the one of Friday), see there"}}, ASKED),
        ({"extra": {"x.memo.in_reply_to": ASKED}}, ASKED),
        ({"in_reply_to": ASKED, "extra": {"x.memo.in_reply_to": "something-else"}}, ASKED),
        ({"in_reply_to": f"Not in-reply-to {ASKED}; a new matter"}, None),
    ]
    for fields, parent in cases:
        write_memo(repo / "memos/archive", ASKED)
        write_memo(repo / "memos/inbox", "answer", **fields)
        archive = read_folders(repo)
        assert memo(archive, "answer").parent == (("memo", parent) if parent else None), fields
        assert memo(archive, "answer").ghost_parent is None and memo(archive, "answer").thread == (parent or "answer")
        assert "ghost" not in rules_found(archive), fields


def test_typed_and_legacy_memos_answer_each_other_and_findings_name_the_line_in_either_form(repo: Path) -> None:
    """Legacy memos are valid for ever; typed, legacy and in the metadata."""
    write_legacy_memo(repo / "memos/read", "old", action_required=True)
    write_memo(repo / "memos/read", "new", sender="director", to="engineer", in_reply_to="old.openthing")
    write_legacy_memo(repo / "memos/read", "newer", in_reply_to="new.openthing")
    archive = read_folders(repo)
    assert [entry.ref[1] for entry in archive.threads["old"].entries] == ["old", "new", "newer"]
    assert memo(archive, "old").action == "answered" and archive.findings == ()
    write_memo(repo / "memos", "a", in_reply_to="gone-a")
    write_legacy_memo(repo / "memos", "b", in_reply_to="gone-b")
    write_memo(repo / "memos", "c", metadata={"in_reply_to": "gone-c"})
    told = findings(read_folders(repo), "ghost")
    assert len(told) == 3
    for finding in told:
        lines = (repo / finding.location.path).read_text(encoding="utf-8").split("\n")
        assert finding.location.line is not None and "in_reply_to" in lines[finding.location.line - 1]


def test_body_and_body_file_are_both_kept(repo: Path) -> None:
    """Both may be long; the body file is what people read, the envelope's gives the summary, and may not be missing."""
    for name, body in (("m", "In short."), ("without", None)):
        write_memo(repo / "memos/inbox", name, body=body, body_ref=f"{name}.body.md")
        write_body(repo / "memos/inbox", name, "At length, with decisions/gate.md.\n")
    write_text(repo / "decisions/gate.md", "# Gate\n")
    archive = read_folders(repo)
    (variant,) = memo(archive, "m").variants
    assert variant.envelope.body is not None and variant.text is variant.body.text  # type: ignore[union-attr]
    assert memo(archive, "m").summary == "In short."
    assert links(archive, ("memo", "m")) == {"decisions/gate.md": ("document", "repo.decisions.gate.md")}
    (finding,) = archive.findings
    assert (finding.rule.id, finding.location.path) == ("field-missing", "memos/inbox/without.openthing")
    assert memo(archive, "without").summary == "At length, with decisions/gate.md."


def test_a_pair_split_over_two_mailboxes_is_joined(repo: Path) -> None:
    """Somebody moved only one of the two."""
    write_memo(repo / "memos/read", "m", body_ref="m.body.md")
    write_body(repo / "memos/inbox", "m")
    archive = read_folders(repo)
    assert memo(archive, "m").copies[0].body_path == "memos/inbox/m.body.md"
    assert memo(archive, "m").mailbox == "read" and rules_found(archive) == {"body-split"}
    assert memo(archive, "m").findings == archive.findings


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_body_without_a_sound_envelope_is_a_memo(repo: Path, *, is_broken: bool) -> None:
    """Its name tells who wrote to whom; what links to it finds it. A broken envelope is shown raw, never dropped."""
    write_body(repo / "memos/inbox", ASKED, "Is the gate green?\n")
    if is_broken:
        write_text(repo / f"memos/inbox/{ASKED}.openthing", '{"type": "memodef:Memo", ')
    write_memo(repo / "memos/read", "answer", in_reply_to=ASKED)
    archive = read_folders(repo)
    found = memo(archive, ASKED)
    assert (found.sender, found.summary, found.broken) == ("engineer", "Is the gate green?", is_broken)
    assert found.replies == (("memo", "answer"),)
    (finding,) = found.findings
    assert archive.findings == (finding,)
    assert finding.rule.id == ("json-invalid" if is_broken else "body-without-envelope")


def test_local_time_in_the_name_and_utc_in_sent_do_not_matter(repo: Path) -> None:
    """`sent` counts where it can be read, with its offset; else the name's stamp."""
    write_memo(repo / "memos", ASKED, sent="2026-05-01T09:00:00-04:00")
    write_memo(repo / "memos", "2026-05-01-1230--a--b--c", sent="2026-05-XX")
    dates = [(one.date.utc, one.date.zone == "-04:00") for one in read_folders(repo).artifacts.values() if one.date]
    assert dates == [("2026-05-01T12:30:00Z", False), ("2026-05-01T13:00:00Z", True)]


def test_a_comma_list_has_a_state_for_each_and_two_organizations_may_have_the_same_seats(tmp_path: Path) -> None:
    """One to oneself is in one's own inbox; names with the organization lead to its seat, bare ones to the union."""
    for name, box in [("a", "read"), ("b", "inbox")]:
        write_memo(tmp_path / name / f"memos/{box}", "m", to="alice, x/bob", action_required=True)
        write_memo(tmp_path / name / "memos/read", f"to-{name}", to={"a": "alice", "b": "bob"}[name])
    write_memo(tmp_path / "a" / "memos/read", "answer", sender="alice", to="engineer", in_reply_to="m")
    write_memo(tmp_path / "b" / "memos/inbox", "handoff", sender="engineer", to="engineer")
    write_org(tmp_path / "a/org", "x-org", positions=["alice", "bob", "engineer"])
    archive = read_folders(tmp_path / "a", tmp_path / "b")
    states = [(state.position, state.action, state.unread) for state in memo(archive, "m").recipients]
    assert states == [("alice", "answered", False), ("bob", "open", True)]
    assert memo(archive, "m").action == "open" and memo(archive, "handoff").positions == ("engineer",)
    assert memo(archive, "handoff").recipients[0].unread is True
    for name in ("memodef", "roledef"):
        write_org(tmp_path / name / "org", f"{name}-spec", positions=["strategist"])
        write_memo(tmp_path / name / "memos/inbox", f"to-{name}", to=f"{name}-strategist")
    write_memo(tmp_path / "memodef/memos/inbox", "to-whom", to="strategist")
    archive = read_folders(tmp_path / "memodef", tmp_path / "roledef")
    assert memo(archive, "to-memodef").recipients[0].position == "memodef-spec~strategist"
    assert archive.positions["memodef-spec~strategist"].repo == "memodef"
    assert memo(archive, "to-whom").recipients[0].position == "strategist"
    assert archive.positions["strategist"].union_of == ("memodef-spec~strategist", "roledef-spec~strategist")


def test_a_broadcast_is_one_memo_with_a_copy_per_repo(tmp_path: Path) -> None:
    """Answered once anybody has. A renamed seat is one position: an alias joins the names of old memos and new ones."""
    for name in "abc":
        write_memo(tmp_path / name / "memos/inbox", "m", to="all", action_required=True)
    write_memo(tmp_path / "a/memos/read", "answer", sender="bob", to="engineer", in_reply_to="m")
    write_memo(tmp_path / "b/memos/read", "old", to="oagp-implementer", action_required=True)
    write_memo(tmp_path / "b/memos/read", "new", sender="og-implementer", to="engineer", in_reply_to="old")
    archive = read_folders(*(tmp_path / name for name in "abc"), aliases={"oagp-implementer": "og-implementer"})
    one = memo(archive, "m")
    assert [copy.file.source for copy in one.copies] == ["a", "b", "c"] and one.is_broadcast
    assert (one.action, one.answers, one.positions) == ("answered", 1, ("engineer",))
    assert memo(archive, "old").action == "answered"
    assert archive.positions["og-implementer"].names == ("oagp-implementer", "og-implementer")


def test_transcripts_notes_and_what_they_relate_to(repo: Path) -> None:
    """A transcript hangs on by `related_memos`; a note is its role's, whoever wrote it; it has its findings."""
    write_memo(repo / "memos", ASKED)
    write_transcript(repo / "transcripts/tester", "talk", related_memos=[f"memos/{ASKED}.openthing", "gone.openthing"])
    write_note(repo / "notes/tester", "lesson", sender="engineer", in_reply_to=ASKED)
    write_transcript(repo / "transcripts/engineer", "silence", text="No turns at all.\n")
    archive = read_folders(repo)
    talk = transcript_of(archive, "talk")
    assert (talk.role, talk.related, talk.unresolved) == ("tester", (("memo", ASKED),), ("gone",))
    assert talk.positions == ("engineer", "tester") and "talk" not in archive.threads
    assert memo(archive, "lesson", "note").role == "tester" and memo(archive, "lesson", "note").thread == ASKED
    assert [finding.rule.id for finding in transcript_of(archive, "silence").findings] == ["transcript-form"]
    assert archive.findings == transcript_of(archive, "silence").findings


# Hostile files


@pytest.mark.parametrize(
    "body_ref", ["../../../secret.txt", "{tmp}/secret.txt", "../../.env", "link.body.md", "folder/m.body.md"]
)
def test_nothing_outside_the_store_is_ever_read(repo: Path, body_ref: str) -> None:
    """Neither by a path, nor through a link to a file or to a folder."""
    secret = write_text(repo.parent / "secret.txt", "hunter2\n")
    write_text(repo / ".env", "hunter2\n")
    write_text(repo.parent / "outside/m.body.md", "hunter2\n")
    write_memo(repo / "memos/inbox", "m", body_ref=body_ref.replace("{tmp}", repo.parent.as_posix()))
    (repo / "memos/inbox/link.body.md").symlink_to(secret)
    (repo / "memos/inbox/folder").symlink_to(repo.parent / "outside")
    (repo / "notes").symlink_to(repo.parent / "outside")
    with Shelf() as shelf:
        parsed = read_source(folder_source(repo).list_files(), shelf)
        assert not any(isinstance(one.fact, Envelope) and one.fact.stem != "m" for one in parsed)
    archive = read_folders(repo)
    assert "hunter2" not in repr(archive) and memo(archive, "m").variants[0].body is None
    assert "body-ref-missing" in rules_found(archive)
    named = [finding.location.path for finding in findings(archive, "link-not-followed")]
    assert named == ["memos/inbox/folder", "memos/inbox/link.body.md", "notes"]


def test_what_is_no_regular_file_is_never_opened(repo: Path) -> None:
    """A pipe would wait for ever, a link is named; whether it was so, or became so after it was listed."""
    (repo / "memos").mkdir()
    (repo / "docs").mkdir()
    os.mkfifo(repo / "memos/pipe.openthing")
    (repo / "docs/link.openthing").symlink_to(write_memo(repo.parent / "outside", "m"))
    (repo / "docs/readme.md").symlink_to("/etc/passwd")  # nobody's business
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(repo / "memos")  # the path of a socket must be short
        try:
            listener.bind("socket.openthing")
        finally:
            os.chdir(here)
        archive = read_folders(repo)
    assert archive.artifacts == {}
    assert [(one.location.path, one.rule.id, one.message) for one in archive.findings][1:] == [
        (f"memos/{name}.openthing", "file-unreadable", "it is not a regular file") for name in ("pipe", "socket")
    ]
    first = archive.findings[0]
    assert (first.location.path, first.rule.id) == ("docs/link.openthing", "link-not-followed")
    source = folder_source(repo)
    messages = [getattr(source.read_file(path), "message", "") for path in ("memos/pipe.openthing", "docs/readme.md")]
    assert messages[0] == "it is not a regular file" and messages[1].startswith("it cannot be opened (")
    with pytest.raises(MovedError, match="x: moved or removed while it was read"):
        source.read_file("x")


def test_a_file_too_large_is_left_out_with_a_finding(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is read; a file of just the limit is not too large."""
    write_memo(repo / "memos", "small")
    size = write_memo(repo / "memos", "large", body="x" * 3000).stat().st_size
    for limit, expected, found in ((size, {"small", "large"}, set()), (size - 1, {"small"}, {"file-too-large"})):
        monkeypatch.setattr(listing_module, "FILE_LIMIT", limit)
        archive = read_folders(repo)
        assert ids(archive) == expected and rules_found(archive) == found


def test_a_build_names_the_files_that_are_too_large(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As errors, each time: a transcript that is not there must not be one line among hundreds of warnings."""
    monkeypatch.setattr(listing_module, "FILE_LIMIT", 900)
    write_transcript(repo / "transcripts/engineer", "2026-05-01-0900--engineer--long", text="## User\n\n" + "x" * 3000)
    for _ in range(2):  # the second finds the site up to date
        assert main(["build", str(repo), "--fail-on", "error"]) == 1
        printed = capsys.readouterr().out
        file = f"{repo.name}/transcripts/engineer/2026-05-01-0900--engineer--long.body.md"
        assert f"not read  {file}: it has 3009 bytes; files" in printed and "findings  1 error" in printed
    assert main(["check", str(repo)]) == 1 and "error: it has 3009 bytes" in capsys.readouterr().out


def test_too_many_files_and_a_missing_source_stop_the_build(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With advice, and not with a full memory; what is missing is the environment's fault."""
    monkeypatch.setattr(listing_module, "FILES_LIMIT", 3)
    for number in range(4):
        write_text(repo / f"{number}.txt", "x")
    with pytest.raises(SourceError, match="more than 3 files"):
        folder_source(repo).list_files()
    (repo / "3.txt").unlink()
    assert folder_source(repo).list_files().candidates == ()
    with pytest.raises(SourceError, match="cannot be read"):
        folder_source(repo / "nothing").list_files()


def test_a_folder_that_cannot_be_listed_is_named(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never dropped silently. File names that are not UTF-8 are read; the archive holds none: nobody could write it."""
    write_memo(repo / "closed/memos", "n")
    write_memo(repo / "memos", "m", body_ref=None)
    (repo / "memos/m.openthing").rename(repo / "memos" / os.fsdecode(b"m\xff.openthing"))
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    archive = read_folders(repo)
    (one,) = archive.artifacts.values()
    json.dumps(repr(one), ensure_ascii=False).encode("utf-8")
    assert one.copies[0].file.path == "memos/m\ufffd.openthing" and one.chars > 0
    assert ("closed", "file-unreadable") in [(one.location.path, one.rule.id) for one in findings(archive)]


# What is read, and what is not


SAMPLES = ("conformance", "fixtures", "templates", "proposed-templates", "examples", "tests")
NOBODYS = (".git", "node_modules", ".venv", "__pycache__", ".memosite")


def test_only_the_stores_of_the_source_itself_are_read(repo: Path) -> None:
    """No samples at any depth, environments or sites, and nothing that is excluded; but what hidden folders hold."""
    for folder in ("", ".team", "drafts", *NOBODYS, *SAMPLES, *(f"a/b/{sample}" for sample in SAMPLES)):
        write_memo(repo / folder / "memos", f"in-{folder.replace('/', '-')}")
    for marker in ("pyvenv.cfg", ".memosite-site"):
        write_memo(repo / f"with-{marker}" / "memos", marker)
        write_text(repo / f"with-{marker}" / marker, "")
    write_memo(repo / "memos/old", "old")
    assert ids(read_folders(repo)) == {"in-", "in-.team", "in-drafts", "old"}
    assert ids(read_folders(folder_source(repo, exclude=("memos/old/**", "drafts/")))) == {"in-", "in-.team"}
    for folder in SAMPLES:
        assert ids(read_folders(repo / folder)) == {f"in-{folder}"}


def test_sources_in_one_another_are_holes(repo: Path) -> None:
    """Each file belongs to the innermost source, also if that is given by another path."""
    write_memo(repo / "memos", "outer")
    write_memo(repo / "inner/memos", "inner")
    (repo.parent / "way").symlink_to(repo)
    outer = folder_source(repo, holes=(repo.parent / "way/inner", repo.parent / "elsewhere"))
    archive = read_folders(outer, repo / "inner")
    assert [[copy.file.source for copy in one.copies] for one in archive.artifacts.values()] == [["inner"], ["repo"]]


def test_include_reads_envelopes_with_their_bodies_outside_the_stores(repo: Path) -> None:
    """Broken ones too; what is not included is named in a note."""
    write_memo(repo / "docs/comms", "m", body_ref="m.body.md")
    write_body(repo / "docs/comms", "m", "At length.\n")
    write_memo(repo / "docs/comms", "with-text", body_ref="text.txt")
    write_text(repo / "docs/comms/text.txt", "As text.\n")
    write_text(repo / f"docs/comms/{ASKED}.openthing", "{")
    write_memo(repo / "docs/other", "n")
    archive = read_folders(folder_source(repo, include=("docs/comms/**/*.openthing",)))
    assert ids(archive) == {"m", "with-text", ASKED} and memo(archive, ASKED).broken
    assert memo(archive, "with-text").copies[0].body_path == "docs/comms/text.txt"
    text = memo(archive, "m").variants[0].text
    assert text is not None and text.summary == "At length." and memo(archive, "m").mailbox == "flat"
    assert rules_found(archive) == {"json-invalid", "outside-convention"}


@pytest.mark.parametrize("key", [None, "path", "convention"])
def test_a_memo_location_is_a_store_with_mailboxes_in_every_source(tmp_path: Path, key: str | None) -> None:
    """Bodies, split pairs, orphans and broken envelopes are found there as below memos/; an object may say where."""
    governance, engine = tmp_path / "governance", tmp_path / "engine"
    location = "<working_directory>/handoffs/"
    fields: dict[str, Any] = {"x.org.memo_location": {key: location} if key else location}
    write_org(governance / "org", positions=["engineer", "director"], **fields)
    write_memo(engine / "handoffs/read", "m", body_ref="m.body.md")
    write_body(engine / "handoffs/inbox", "m", "At length.\n")
    write_body(engine / "handoffs/inbox", ASKED)
    write_text(engine / "handoffs/inbox/broken.openthing", "{")
    archive = read_folders(governance, engine)
    assert ids(archive) == {"m", ASKED, "broken"} and memo(archive, "broken").broken
    assert (memo(archive, "m").mailbox, memo(archive, ASKED).mailbox) == ("read", "inbox")
    assert memo(archive, "m").copies[0].body_path == "handoffs/inbox/m.body.md"
    assert rules_found(archive) == {"body-split", "body-without-envelope", "json-invalid"}
    assert read_folders(engine).artifacts == {}


def test_documents_are_sought_at_each_working_root_and_links_to_files_lead_to_the_web(repo: Path) -> None:
    """A folder without a store has none, an envelope's body is none; only to files that are there, by no link."""
    write_memo(repo / "teams/a/memos", "m")
    for path in ("decisions/x.md", "teams/a/decisions/y.md", "teams/b/decisions/z.md", "teams/a/docs/adr/1.md"):
        write_text(repo / path, "# Title\n")
    write_memo(repo / "decisions", "beside", body_ref="beside.body.md")
    write_body(repo / "decisions", "beside")
    expected = {"decisions.x.md", "teams.a.decisions.y.md", "teams.a.docs.adr.1.md"}
    assert ids(read_folders(repo), "document") == {f"repo.{path}" for path in expected}
    write_text(repo / "src/gate.py", "")
    (repo / "etc").symlink_to("/etc")
    write_memo(repo / "memos", "m", body="[a](src/gate.py) [b](src/gone.py) [c](etc/passwd) [d](../src/)")
    archive = read_folders(repo, web={"repo": "https://git.example.org/{path}"})
    forge = "https://git.example.org"
    assert links(archive, ("memo", "m")) == {"src/gate.py": f"{forge}/src/gate.py", "../src/": f"{forge}/src"}
    source = folder_source(repo)
    named = ("src/gate.py", "src/../src", "etc/passwd", "a\0b", "")
    assert [path for path in named if source.has_file(path)] == ["src/gate.py"]


def test_other_tools_files_are_left_alone_and_candidates_read_in_the_order_of_their_paths(repo: Path) -> None:
    """Formats are told by shape; whatever the disk's order."""
    write_json(repo / "memos/settings.openthing", {"type": "thing", "name": "x"})
    write_text(repo / "memos/readme.md", "# Memos\n")
    write_text(repo / "memos/.gitkeep", "")
    archive = read_folders(repo)
    assert archive.artifacts == {} and archive.findings == ()
    for name in ("b", "a", "c"):
        write_memo(repo / "memos" / name, name)
    with Shelf() as shelf:
        listing = folder_source(repo).list_files()
        parsed = SourceReader(listing.source, shelf).candidates(listing)
        assert [one.path for one in parsed] == list(listing.candidates) == sorted(listing.candidates)
        (first, *_) = (one.fact for one in parsed if isinstance(one.fact, Envelope))
        assert LineFinder(shelf)(first.file, "subject") is not None
        assert shelf.text(first.file.sha256).startswith("{")


# Whatever is in the files


@given(st.lists(any_facts(), max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_resolve_never_raises_and_every_file_lands_once(found: list[Fact], random: "object") -> None:
    """Whatever the files say, in whatever order they are read; and building again changes nothing."""
    parsed = distinct([*found, organization("acme", "engineer", "director", "tester")])
    archive, ledger = resolve(parsed, RULES, Ledger(), no_line)
    random.shuffle(parsed)  # type: ignore[attr-defined] # what randoms() gives has it
    assert resolve(parsed, RULES, Ledger(), no_line)[0] == archive
    again, same = resolve(parsed, RULES, ledger, no_line)
    assert again == archive and same == ledger
    landed = [(copy.file.source, copy.file.path) for one in archive.artifacts.values() for copy in one.copies]
    noted = [(one.location.source, one.location.path) for one in findings(archive, "outside-convention")]
    envelopes = [(one.source, one.path) for one in parsed if isinstance(one.fact, Envelope)]
    assert len(set(landed)) == len(landed) and sorted(set(envelopes) - set(landed)) == sorted(noted)
    _check_whole(archive)


def _check_whole(archive: Archive) -> None:
    """Everything in an archive that names something names something that is there."""
    assert [*archive.artifacts] == [(artifact.kind, artifact.id) for artifact in archive.artifacts.values()]
    assert [one.arrival for one in archive.artifacts.values()] == list(range(1, len(archive.artifacts) + 1))
    threaded = [ref for thread in archive.threads.values() for ref in thread.memos]
    assert sorted(threaded) == sorted(one.ref for one in archive.memos())
    for one in archive.artifacts.values():
        assert {link.to for link in one.links if link.to} | set(one.backlinks) <= set(archive.artifacts)
        assert set(one.positions) <= set(archive.positions) and set(one.findings) <= set(archive.findings)
        if isinstance(one, Memo):
            _check_memo(archive, one)


def _check_memo(archive: Archive, one: Memo) -> None:
    assert one.thread in archive.threads and one.ref in archive.threads[one.thread].memos
    assert one.parent is None or one.ref in memo(archive, one.parent[1], one.parent[0]).replies
    assert one.ghost_parent is None or one.ref in archive.ghosts[one.ghost_parent].replies
    assert {copy.variant for copy in one.copies} == set(range(len(one.variants)))
    assert {state.position for state in one.recipients} - {"all"} <= set(archive.positions)


def test_a_pool_of_files_makes_an_archive_to_look_at() -> None:
    """The checks above see what they are for."""
    archive = archive_of(envelope("a"), envelope("b", in_reply_to="a"), envelope("c", in_reply_to="gone"))
    _check_whole(archive)
    assert len(archive.threads) == 2 and len(archive.ghosts) == 1
    assert read_folders().artifacts == {}
