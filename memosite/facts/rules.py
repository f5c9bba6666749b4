"""The rules for findings, except those of a single record system, which are in its folder.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from memosite.facts.findings import Finding, Rule, Severity

# The rules for findings, except those on whole sources, on secrets, on citations, and those of a single record
# system.


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE


_MEMO = "memodef SCHEMA, memodef:Memo"


_TRANSCRIPT = "memodef SCHEMA, memodef:Transcript"


# Files that cannot be read as written
JSON_INVALID = Rule(
    id="json-invalid",
    severity=_E,
    hides_content=True,
    meaning="The file is not JSON; it is shown unchanged.",
    clause="RFC 8259, 2; SPEC 2.2",
    remedy="Correct the JSON at this line.",
)


JSON_NOT_OBJECT = Rule(
    id="json-not-object",
    severity=_E,
    hides_content=True,
    meaning="The file's JSON is not an object.",
    clause="SPEC 2.2",
    remedy="Make the file one JSON object: { … }.",
)


JSON_DUPLICATE_KEY = Rule(
    id="json-duplicate-key",
    severity=_W,
    meaning="A key occurs twice in one object; the last one counts.",
    clause="RFC 8259, 4; SPEC 2.2",
    remedy="Remove one of the two.",
)


JSON_LENIENT = Rule(
    id="json-lenient",
    severity=_W,
    meaning="Invalid JSON, read anyway.",
    clause="RFC 8259, 7; SPEC 2.2",
    remedy="Escape the character.",
)


UTF8_INVALID = Rule(
    id="utf8-invalid",
    severity=_E,
    meaning="Bytes that are not UTF-8, shown as U+FFFD.",
    clause="RFC 8259, 8.1; SPEC 2.2",
    remedy="Save the file as UTF-8.",
)


FILE_TOO_LARGE = Rule(
    id="file-too-large",
    severity=_W,
    meaning="The file is too large; it is skipped.",
    clause="SPEC 9",
    remedy="Split the file, or move it out of these folders.",
)


NAME_LONG = Rule(
    id="name-long",
    severity=_N,
    meaning="A name too long to show; its beginning and a hash are shown.",
    clause="SPEC 9",
    remedy="Shorten the name.",
)


FILE_BOUNDED = Rule(
    id="file-bounded",
    severity=_W,
    of_whole_file=True,
    meaning="The file has too many entries; the rest is shown unchanged.",
    clause="SPEC 9",
    remedy="Split the file.",
)


FILE_UNREADABLE = Rule(
    id="file-unreadable",
    severity=_W,
    meaning="The file could not be opened; it is skipped.",
    clause="SPEC 9",
    remedy="Check the file's permissions.",
)


# Memos and notes
FIELD_MISSING = Rule(
    id="field-missing",
    severity=_E,
    meaning="A required field is missing or empty.",
    clause=f"{_MEMO} and memodef:Transcript, MUST fields; SPEC 2.2",
    remedy="Add the field.",
)


FIELD_TYPE = Rule(
    id="field-type",
    severity=_E,
    meaning="A field has the wrong type.",
    clause=f"{_MEMO} and memodef:Transcript, field types; SPEC 2.2",
    remedy="Write the type that the message names.",
)


FIELD_RESERVED = Rule(
    id="field-reserved",
    severity=_E,
    meaning="A field in the reserved x.memodef.* namespace.",
    clause="memodef SCHEMA, extensions; SPEC 2.2",
    remedy="Use your own domain: x.<domain>.<name>.",
)


FIELD_SHOULD = Rule(
    id="field-should",
    severity=_W,
    meaning="A recommended field is missing.",
    clause=f"{_TRANSCRIPT}, SHOULD fields; SPEC 2.2",
    remedy="Add the field.",
)


DATE_INVALID = Rule(
    id="date-invalid",
    severity=_E,
    meaning="A date is not ISO 8601.",
    clause=f"{_MEMO}, sent; SPEC 2.2",
    remedy="Write it like 2026-05-01T14:30:00Z.",
)


DATE_WITHOUT_ZONE = Rule(
    id="date-without-zone",
    severity=_W,
    meaning="A time has no zone; it is read as UTC.",
    clause="SPEC 2.2",
    remedy="End it with Z or an offset such as -04:00.",
)


BODY_REF_PATH = Rule(
    id="body-ref-path",
    severity=_W,
    meaning="body_ref is not a bare file name.",
    clause=f"{_MEMO}, body_ref SHOULD; SPEC 2.2",
    remedy="Put the body beside the envelope, and write its name alone.",
)


BODY_REF_MISSING = Rule(
    id="body-ref-missing",
    severity=_W,
    meaning="The file that body_ref names is missing.",
    clause=f"{_MEMO}, body_ref; SPEC 2.2",
    remedy="Add the file beside the envelope, or correct the name.",
)


BODY_NOT_REFERENCED = Rule(
    id="body-not-referenced",
    severity=_W,
    meaning="A body file has the envelope's name, but body_ref is missing.",
    clause=f"{_MEMO}, body_ref; SPEC 2.2",
    remedy="Add body_ref to the envelope, or rename the file.",
)


BODY_SPLIT = Rule(
    id="body-split",
    severity=_W,
    meaning="Envelope and body are in two mailboxes.",
    clause="memodef README, mark-as-read moves both; SPEC 2.2",
    remedy="Move both to one mailbox with git mv.",
)


BODY_WITHOUT_ENVELOPE = Rule(
    id="body-without-envelope",
    severity=_W,
    meaning="No envelope names this .body.md file.",
    clause=f"{_MEMO}, body_ref; SPEC 2.2",
    remedy="Add the envelope, or remove the file.",
)


REPLY_PATH = Rule(
    id="reply-path",
    severity=_W,
    meaning="in_reply_to is not a bare file name.",
    clause=f"{_MEMO}, in_reply_to; SPEC 2.2",
    remedy="Write the parent's file name alone.",
)


NOTE_ACTION = Rule(
    id="note-action",
    severity=_W,
    meaning="A note to file requests an action, but has no recipient.",
    clause="memodef SCHEMA 0.3, memos-to-file; SPEC 2.2",
    remedy="Send a memo to a position, or remove action_required.",
)


NOTE_IN_MAILBOX = Rule(
    id="note-in-mailbox",
    severity=_W,
    meaning="A memo to file is in a mailbox.",
    clause="memodef SCHEMA 0.3, memos-to-file; SPEC 2.2",
    remedy="Move it to notes/<role>/.",
)


NOTE_RECIPIENT = Rule(
    id="note-recipient",
    severity=_W,
    meaning="A memo below notes/ is addressed to somebody.",
    clause="memodef SCHEMA 0.3, memos-to-file; SPEC 2.2",
    remedy='Write "to": "file", or move it to the recipient\'s memos/.',
)


# Transcripts
TRANSCRIPT_BODY = Rule(
    id="transcript-body",
    severity=_W,
    meaning="A transcript's envelope has a body of its own.",
    clause=f"{_TRANSCRIPT}, no body; SPEC 2.2",
    remedy="Move the text to the file that body_ref names.",
)


TRANSCRIPT_MEMO_FIELD = Rule(
    id="transcript-memo-field",
    severity=_W,
    meaning="A transcript's envelope has a field that only memos have.",
    clause=f"{_TRANSCRIPT}, no memo fields; SPEC 2.2",
    remedy="Remove the field; name related memos in related_memos.",
)


TRANSCRIPT_FORM = Rule(
    id="transcript-form",
    severity=_W,
    meaning="No turns were recognized in the body; it is shown as one block.",
    clause="SPEC 4",
    remedy="Use ## User and ## Assistant headings.",
)


# Organizations, libraries, documents
ORG_FIELD = Rule(
    id="org-field",
    severity=_E,
    meaning="A position or relationship of an orgdef is invalid.",
    clause="orgdef SCHEMA, positions and relationships; SPEC 2.2",
    remedy="Write the form that the message names.",
)


ORG_DUPLICATE = Rule(
    id="org-duplicate",
    severity=_W,
    meaning="Two positions of one orgdef have the same id.",
    clause="orgdef SCHEMA, positions; SPEC 2.2",
    remedy="Give each position its own id.",
)


CATALOG_FOREIGN = Rule(
    id="catalog-foreign",
    severity=_N,
    meaning="An .opencatalog that is neither an orgdef nor a memodef library; it is not shown.",
    clause="SPEC 2.2",
    remedy="No fix needed.",
)


FRONTMATTER_INVALID = Rule(
    id="frontmatter-invalid",
    severity=_W,
    meaning="The frontmatter of a document is not valid YAML.",
    clause="SPEC 2.2",
    remedy="Correct the YAML, or remove the --- lines.",
)


OUTSIDE_CONVENTION = Rule(
    id="outside-convention",
    severity=_N,
    meaning="An envelope outside memos/, notes/ and transcripts/; it is not shown.",
    clause="SPEC 2.2",
    remedy="Move it, or add it to include: in memosite.yml.",
)


# Rules that need the whole archive
ID_COLLISION = Rule(
    id="id-collision",
    severity=_W,
    meaning="Two different items have the same name.",
    clause="SPEC 3, identity",
    remedy="Rename one of the files.",
)


COPIES_DIFFER = Rule(
    id="copies-differ",
    severity=_W,
    meaning="Copies of one item differ.",
    clause="SPEC 3, copies",
    remedy="Make the copies identical.",
)


THREAD_CYCLE = Rule(
    id="thread-cycle",
    severity=_W,
    meaning="Replies form a loop, cut at the earliest memo.",
    clause="SPEC 3, threads",
    remedy="Correct one in_reply_to.",
)


REPLY_BEFORE_PARENT = Rule(
    id="reply-before-parent",
    severity=_W,
    meaning="A reply is dated before its parent.",
    clause="SPEC 3, threads",
    remedy="Correct one of the dates, or its zone.",
)


GHOST = Rule(
    id="ghost",
    severity=_N,
    meaning="Reply to a missing memo.",
    clause="SPEC 3, threads",
    remedy="Add its repo to the sources.",
)


STAMP_UNCLEAR = Rule(
    id="stamp-unclear",
    severity=_N,
    meaning="A time stamp is used as the name of a memo, but does not fit exactly one.",
    clause="SPEC 3, references",
    remedy="Write the memo's whole file name.",
)


POSITION_UNLISTED = Rule(
    id="position-unlisted",
    severity=_N,
    meaning="A position is in no orgdef.",
    clause="SPEC 3, positions",
    remedy="Add it to an orgdef, or an alias to memosite.yml.",
)


POSITION_AMBIGUOUS = Rule(
    id="position-ambiguous",
    severity=_N,
    meaning="A name fits several positions; it is kept as written.",
    clause="SPEC 3, positions",
    remedy="Write org/position, or add an alias to memosite.yml.",
)


DELIVERY_MISSING = Rule(
    id="delivery-missing",
    severity=_N,
    meaning="Memo not found in the recipient's repo.",
    clause="SPEC 3, positions",
    remedy="Copy it to that repo's memos/.",
)


DELIVERY_UNCOMMITTED = Rule(
    id="delivery-uncommitted",
    severity=_N,
    meaning="Memo delivered but never committed.",
    clause="SPEC 2.3",
    remedy="Commit it in that repo.",
)


NAME_DISAGREES = Rule(
    id="name-disagrees",
    severity=_N,
    meaning="The file name and the envelope name different senders or recipients; the envelope counts.",
    clause="memodef README, names; SPEC 2.2",
    remedy="Rename the file, unless it was already sent.",
)


DECISION_SUPERSEDED = Rule(
    id="decision-superseded",
    severity=_N,
    meaning="A memo or record cites a decision that is no longer in force.",
    clause="SPEC 2.2",
    remedy="Cite the decision that is in force in new memos and records.",
)


CLOSED_UNKNOWN = Rule(
    id="closed-unknown",
    severity=_N,
    meaning="actions.closed names an unknown memo.",
    clause="SPEC 2.1",
    remedy="Check the id in memosite.yml.",
)


ERASE_UNKNOWN = Rule(
    id="erase-unknown",
    severity=_E,
    meaning="erase names an unknown item; nothing is erased.",
    clause="SPEC 9",
    remedy="Check the id in memosite.yml.",
)


ERASE_AMBIGUOUS = Rule(
    id="erase-ambiguous",
    severity=_W,
    meaning="erase names an id that several items have; all of them are erased.",
    clause="SPEC 9",
    remedy="Write <kind>/<id> in memosite.yml.",
)


WITHHOLD_IN_VAIN = Rule(
    id="withhold-in-vain",
    severity=_W,
    meaning="A glob of withhold matches no file, neither present nor removed; it withholds nothing.",
    clause="SPEC 9",
    remedy="Write the glob relative to a source, or begin with its name.",
)


# Records of all systems
LEFT_ALONE = Rule(
    id="left-alone",
    severity=_N,
    meaning="File not in its memory system's format; it is not shown. One note for each folder.",
    clause="SPEC 2.2",
    remedy="No fix needed.",
)


ANCHORS_CUT = Rule(
    id="anchors-cut",
    severity=_N,
    meaning="Too many globs; the rest are ignored.",
    clause="SPEC 9",
    remedy="List the folders.",
)


# YAML
FRONTMATTER_DUPLICATE_KEY = Rule(
    id="frontmatter-duplicate-key",
    severity=_W,
    meaning="A key occurs twice in one mapping; the last one counts.",
    clause="YAML 1.2.2, 3.2.1.3",
    remedy="Remove one of the two.",
)


GENERAL = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""


# The rules for findings on whole sources, and on what of them is not read (SPEC 2.1, 2.3, 9).


FOLDER_TOO_LARGE = Rule(
    id="folder-too-large",
    severity=_W,
    meaning="A folder of a commit has too many files; it is skipped.",
    clause="SPEC 9",
    remedy="Move files that are not for the archive to another repo.",
)


HISTORY_UNREADABLE = Rule(
    id="history-unreadable",
    severity=_W,
    meaning="The git history of a source could not be read.",
    clause="SPEC 2.3",
    remedy="Run git fsck in the repo, and repair what it reports.",
)


SOURCE_FAILED = Rule(
    id="source-failed",
    severity=_E,
    meaning="A source or its history could not be read; its last good state is shown.",
    clause="SPEC 9",
    remedy="Run git fsck in the repo, or make it smaller.",
    fails_build=True,
)


LINK_NOT_FOLLOWED = Rule(
    id="link-not-followed",
    severity=_N,
    meaning="Symbolic link not followed.",
    clause="SPEC 9",
    remedy="Replace it with the file.",
)


SUBMODULE_NOT_READ = Rule(
    id="submodule-not-read",
    severity=_N,
    meaning="Submodule not read.",
    clause="SPEC 2.3",
    remedy="Add its repo to the sources.",
)


REMOTE_NOT_FETCHED = Rule(
    id="remote-not-fetched",
    severity=_E,
    meaning="A remote could not be fetched; its last good state is shown.",
    clause="SPEC 9",
    remedy="Check the address, the network and ssh-agent, then build again.",
    fails_build=True,
)


SOURCE_RULES = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""


def failures(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The findings that make a command fail whatever it fails on: sources that could not be read."""
    failed = (one for one in findings if one.rule.fails_build)
    return tuple(f"{one.location.source}: {one.message}" for one in sorted(failed, key=lambda one: one.sort_key))


# The rules for citations of the archive, of which findings tell an author that a source has changed.


CITATION_BROKEN = Rule(
    id="citation-broken",
    severity=Severity.WARNING,
    meaning="A citation of this archive does not hold: the source was changed or removed.",
    clause="SPEC 7",
    remedy="Cite what the source says now; memosite verify shows the difference.",
)


MANUSCRIPT_UNREADABLE = Rule(
    id="manuscript-unreadable",
    severity=Severity.WARNING,
    meaning="A manuscript that `citations` names could not be read; its citations are not checked.",
    clause="SPEC 7",
    remedy="Install Pandoc for .docx, or save the file as Markdown or HTML.",
)


CITATION_RULES = (CITATION_BROKEN, MANUSCRIPT_UNREADABLE)
"""All of them, in this order."""


# The rules for findings on secrets, and what was found as values; nothing here holds a secret (SPEC 9).


_WAY_OUT = "Rotate the key, then redact it or allow its fingerprint in memosite.yml."


SECRET_WITHHELD = Rule(
    id="secret-withheld",
    severity=Severity.ERROR,
    meaning="A secret in a file; the item is published without its content.",
    clause="SPEC 9",
    remedy=_WAY_OUT,
)


SECRET_REDACTED = Rule(
    id="secret-redacted",
    severity=Severity.ERROR,
    meaning="A secret, published as [REDACTED:rule].",
    clause="SPEC 9",
    remedy=_WAY_OUT,
)


SECRET_FORMERLY = Rule(
    id="secret-formerly",
    severity=Severity.WARNING,
    meaning="A secret in an earlier version of a file; that version is not shown.",
    clause="SPEC 9",
    remedy="Rotate the key, then rewrite the repo's history or allow the fingerprint.",
)


SECRET_IN_NAME = Rule(
    id="secret-in-name",
    severity=Severity.ERROR,
    meaning="A secret in the name of a file or folder, which is not read.",
    clause="SPEC 9",
    remedy="Rotate the key, then rename the file.",
)


SECRET_FORMERLY_IN_NAME = Rule(
    id="secret-formerly-in-name",
    severity=Severity.WARNING,
    meaning="A secret in a former name of a file, which is not shown.",
    clause="SPEC 9",
    remedy="Rotate the key, then rewrite the repo's history.",
)


SECRET_ALLOWED_IN_VAIN = Rule(
    id="secret-allowed-in-vain",
    severity=Severity.NOTE,
    meaning="secrets.allow has a fingerprint that fits no secret.",
    clause="SPEC 9",
    remedy="Remove the entry from secrets.allow.",
)


SECRET_RULES = (
    SECRET_WITHHELD,
    SECRET_REDACTED,
    SECRET_FORMERLY,
    SECRET_IN_NAME,
    SECRET_FORMERLY_IN_NAME,
    SECRET_ALLOWED_IN_VAIN,
)
"""All of them, in this order."""


_WITHHOLDING = frozenset({SECRET_WITHHELD.id, SECRET_IN_NAME.id})


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretHit:
    """A secret that was found in a file: by which rule, in which lines, and how it can be allowed.

    The `fingerprint` is made of its place, never of the secret.
    """

    rule: str
    line: int
    last_line: int
    fingerprint: str
    is_allowed: bool = False


def withheld_for_secrets(findings: Iterable[Finding]) -> tuple[str, ...]:
    """What is not published for a secret: each file with its first line and kind, in the order of their places."""
    by_file: dict[tuple[str, str], list[Finding]] = {}
    for one in sorted(findings, key=lambda one: one.sort_key):
        if one.rule.id in _WITHHOLDING:
            by_file.setdefault((one.location.source, one.location.path), []).append(one)
    return tuple(_first_of(found) for found in by_file.values())


def _first_of(found: list[Finding]) -> str:
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0].location}: {found[0].message.partition(', fingerprint ')[0]}{more}"


def redacted_places(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The file of each secret that is redacted in one; an author's name, which is in none, is not counted."""
    found = (one.location for one in findings if one.rule.id == SECRET_REDACTED.id and one.location.path)
    return tuple(f"{where.source}/{where.path}" for where in found)
