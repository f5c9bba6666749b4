"""The rules for findings, except those of a single record system, which are in its folder.

Each rule has its clause, its meaning and its remedy; `findings` explains the severities. What is found of a secret is
kept here as a value, too; nothing here holds a secret.
"""

from collections.abc import Iterable

from memosite.facts.findings import Finding, Rule, error, note, rules_in, warning
from memosite.facts.values import Value

_MEMO = "memodef SCHEMA, memodef:Memo"
_TRANSCRIPT = "memodef SCHEMA, memodef:Transcript"

# Files that cannot be read as written
JSON_INVALID = error("json-invalid", "RFC 8259, 2; SPEC 2.2", hides_content=True)(
    "The file is not JSON; it is shown unchanged.", "Correct the JSON at this line."
)
JSON_NOT_OBJECT = error("json-not-object", "SPEC 2.2", hides_content=True)(
    "The file's JSON is not an object.", "Make the file one JSON object: { … }."
)
JSON_DUPLICATE_KEY = warning("json-duplicate-key", "RFC 8259, 4; SPEC 2.2")(
    "A key occurs twice in one object; the last one counts.", "Remove one of the two."
)
JSON_LENIENT = warning("json-lenient", "RFC 8259, 7; SPEC 2.2")("Invalid JSON, read anyway.", "Escape the character.")
UTF8_INVALID = error("utf8-invalid", "RFC 8259, 8.1; SPEC 2.2")(
    "Bytes that are not UTF-8, shown as U+FFFD.", "Save the file as UTF-8."
)
FILE_TOO_LARGE = error("file-too-large", "SPEC 9")(
    "The file is too large; it is skipped.", "Split the file, or move it out of these folders."
)
NAME_LONG = note("name-long", "SPEC 9")(
    "A name too long to show; its beginning and a hash are shown.", "Shorten the name."
)
FILE_BOUNDED = warning("file-bounded", "SPEC 9", of_whole_file=True)(
    "The file has too many entries; the rest is shown unchanged.", "Split the file."
)
FILE_UNREADABLE = warning("file-unreadable", "SPEC 9")(
    "The file could not be opened; it is skipped.", "Check the file's permissions."
)

# Memos and notes
FIELD_MISSING = error("field-missing", f"{_MEMO} and memodef:Transcript, MUST fields; SPEC 2.2")(
    "A required field is missing or empty.", "Add the field."
)
FIELD_TYPE = error("field-type", f"{_MEMO} and memodef:Transcript, field types; SPEC 2.2")(
    "A field has the wrong type.", "Write the type that the message names."
)
FIELD_RESERVED = error("field-reserved", "memodef SCHEMA, extensions; SPEC 2.2")(
    "A field in the reserved x.memodef.* namespace.", "Use your own domain: x.<domain>.<name>."
)
FIELD_SHOULD = warning("field-should", f"{_TRANSCRIPT}, SHOULD fields; SPEC 2.2")(
    "A recommended field is missing.", "Add the field."
)
DATE_INVALID = error("date-invalid", f"{_MEMO}, sent; SPEC 2.2")(
    "A date is not ISO 8601.", "Write it like 2026-05-01T14:30:00Z."
)
DATE_WITHOUT_ZONE = warning("date-without-zone", "SPEC 2.2")(
    "A time has no zone; it is read as UTC.", "End it with Z or an offset such as -04:00."
)
BODY_REF_PATH = warning("body-ref-path", f"{_MEMO}, body_ref SHOULD; SPEC 2.2")(
    "body_ref is not a bare file name.", "Put the body beside the envelope, and write its name alone."
)
BODY_REF_MISSING = warning("body-ref-missing", f"{_MEMO}, body_ref; SPEC 2.2")(
    "The file that body_ref names is missing.", "Add the file beside the envelope, or correct the name."
)
BODY_NOT_REFERENCED = warning("body-not-referenced", f"{_MEMO}, body_ref; SPEC 2.2")(
    "A body file has the envelope's name, but body_ref is missing.", "Add body_ref to the envelope, or rename the file."
)
BODY_SPLIT = warning("body-split", "memodef README, mark-as-read moves both; SPEC 2.2")(
    "Envelope and body are in two mailboxes.", "Move both to one mailbox with git mv."
)
BODY_WITHOUT_ENVELOPE = warning("body-without-envelope", f"{_MEMO}, body_ref; SPEC 2.2")(
    "No envelope names this .body.md file.", "Add the envelope, or remove the file."
)
REPLY_PATH = warning("reply-path", f"{_MEMO}, in_reply_to; SPEC 2.2")(
    "in_reply_to is not a bare file name.", "Write the parent's file name alone."
)
NOTE_ACTION = warning("note-action", "memodef SCHEMA 0.3, memos-to-file; SPEC 2.2")(
    "A note to file requests an action, but has no recipient.", "Send a memo to a position, or remove action_required."
)
NOTE_IN_MAILBOX = warning("note-in-mailbox", "memodef SCHEMA 0.3, memos-to-file; SPEC 2.2")(
    "A memo to file is in a mailbox.", "Move it to notes/<role>/."
)
NOTE_RECIPIENT = warning("note-recipient", "memodef SCHEMA 0.3, memos-to-file; SPEC 2.2")(
    "A memo below notes/ is addressed to somebody.", 'Write "to": "file", or move it to the recipient\'s memos/.'
)

# Transcripts
TRANSCRIPT_BODY = warning("transcript-body", f"{_TRANSCRIPT}, no body; SPEC 2.2")(
    "A transcript's envelope has a body of its own.", "Move the text to the file that body_ref names."
)
TRANSCRIPT_MEMO_FIELD = warning("transcript-memo-field", f"{_TRANSCRIPT}, no memo fields; SPEC 2.2")(
    "A transcript's envelope has a field that only memos have.",
    "Remove the field; name related memos in related_memos.",
)
TRANSCRIPT_FORM = warning("transcript-form", "SPEC 4")(
    "No turns were recognized in the body; it is shown as one block.",
    "Use ## User and ## Assistant headings, or correct started.",
)
TRANSCRIPT_STARTED = note("transcript-started", "SPEC 4")(
    "The first stamp is of another day than started, so times in UTC are unknown.", "Correct started."
)
TRANSCRIPT_PASSED = note("transcript-passed", "SPEC 4")(
    "A heading whose time is out of order does not begin a turn; it may be pasted.", "Check who says what."
)

# Session logs
SESSION_LINE = warning("session-line", "SPEC 2.2, sessions")(
    "A line of a session log is not a JSON object; it is shown unchanged.", "Remove or correct the line."
)
SESSION_HOME = warning("session-home", "SPEC 9, session logs")(
    "Session logs are beside credentials, as in a home folder; they are not read.",
    "Name the logs in sessions.include if they are to be published.",
)
SESSION_HASH = warning("session-hash", "SPEC 2.2, sessions")(
    "A session log has another hash than its checkpoint says.", "Ask who changed it."
)
SESSION_BEING_WRITTEN = note("session-being-written", "SPEC 2.2, sessions")(
    "The last line of a session log is not complete; it is not shown yet.", "Build again later."
)
SESSION_NOT_READ = note("session-not-read", "SPEC 2.2, sessions")(
    "Session logs are not read, or a checkpoint names files that are missing.",
    "To read those of tools' folders, set sessions: true in memosite.yml.",
)
SESSION_TIME = note("session-time", "SPEC 2.2, sessions")(
    "A time in a session log has no zone, or is not known.", "No fix needed."
)
SESSION_FORM = note("session-form", "SPEC 2.2, sessions")(
    "A session log in which no turn was found.", "Check the file, or leave it out."
)
SESSION_BOUNDS = note("session-bounds", "SPEC 9, session logs")(
    "A session log is too large; the rest is not shown.", "No fix needed; the file has it."
)

# Organizations, libraries, documents
ORG_FIELD = error("org-field", "orgdef SCHEMA, positions and relationships; SPEC 2.2")(
    "A position or relationship of an orgdef is invalid.", "Write the form that the message names."
)
ORG_DUPLICATE = warning("org-duplicate", "orgdef SCHEMA, positions; SPEC 2.2")(
    "Two positions of one orgdef have the same id.", "Give each position its own id."
)
CATALOG_FOREIGN = note("catalog-foreign", "SPEC 2.2")(
    "An .opencatalog that is neither an orgdef nor a memodef library; it is not shown.", "No fix needed."
)
FRONTMATTER_INVALID = warning("frontmatter-invalid", "SPEC 2.2")(
    "The frontmatter of a document is not valid YAML.", "Correct the YAML, or remove the --- lines."
)
FRONTMATTER_LATE = warning("frontmatter-late", "SPEC 2.2")(
    "A file's frontmatter is not at the beginning, or not between lines of ---.",
    "Write the fields between two lines ---, from line 1.",
)
OUTSIDE_CONVENTION = note("outside-convention", "SPEC 2.2")(
    "An envelope outside memos/, notes/ and transcripts/; it is not shown.",
    "Move it, or add it to include: in memosite.yml.",
)

# Rules that need the whole archive
ID_COLLISION = warning("id-collision", "SPEC 3, identity")(
    "Two different items have the same name.", "Rename one of the files."
)
COPIES_DIFFER = warning("copies-differ", "SPEC 3, copies")("Copies of one item differ.", "Make the copies identical.")
THREAD_CYCLE = warning("thread-cycle", "SPEC 3, threads")(
    "Replies form a loop, cut at the earliest memo.", "Correct one in_reply_to."
)
REPLY_BEFORE_PARENT = warning("reply-before-parent", "SPEC 3, threads")(
    "A reply is dated before the memo that it replies to.", "Correct one of the dates, or its zone."
)
GHOST = note("ghost", "SPEC 3, threads")("Reply to a missing memo.", "Add its repo to the sources.")
STAMP_UNCLEAR = note("stamp-unclear", "SPEC 3, references")(
    "A time stamp is used as the name of a memo, but does not fit exactly one.", "Write the memo's whole file name."
)
POSITION_UNLISTED = note("position-unlisted", "SPEC 3, positions")(
    "A position is in no orgdef.", "Add it to an orgdef, or an alias to memosite.yml."
)
POSITION_AMBIGUOUS = note("position-ambiguous", "SPEC 3, positions")(
    "A name fits several positions; it is kept as written.", "Write org/position, or add an alias to memosite.yml."
)
DELIVERY_MISSING = note("delivery-missing", "SPEC 3, positions")(
    "Memo not found in the recipient's repo.", "Copy it to that repo's memos/."
)
DELIVERY_UNCOMMITTED = note("delivery-uncommitted", "SPEC 2.3")(
    "Memo delivered but never committed.", "Commit it in that repo."
)
NAME_DISAGREES = note("name-disagrees", "memodef README, names; SPEC 2.2")(
    "The file name and the envelope name different senders or recipients; the envelope counts.",
    "Rename the file, unless it was already sent.",
)
DECISION_SUPERSEDED = note("decision-superseded", "SPEC 2.2")(
    "A memo or record cites a decision that is no longer in force.",
    "Cite the decision that is in force in new memos and records.",
)
CLOSED_UNKNOWN = note("closed-unknown", "SPEC 2.1")(
    "actions.closed names an unknown memo.", "Check the id in memosite.yml."
)
ERASE_UNKNOWN = error("erase-unknown", "SPEC 9")(
    "erase names an unknown item; nothing is erased.", "Check the id in memosite.yml."
)
ERASE_AMBIGUOUS = warning("erase-ambiguous", "SPEC 9")(
    "erase names an id that several items have; all of them are erased.", "Write <kind>/<id> in memosite.yml."
)
WITHHOLD_IN_VAIN = warning("withhold-in-vain", "SPEC 9")(
    "A glob of withhold matches no file, neither present nor removed; it withholds nothing.",
    "Write the glob relative to a source, or begin with its name.",
)

# Records of all systems
LEFT_ALONE = note("left-alone", "SPEC 2.2")(
    "File not in its memory system's format; it is not shown. One note for each folder.", "No fix needed."
)
ANCHORS_CUT = note("anchors-cut", "SPEC 9")("Too many globs; the rest are ignored.", "List the folders.")

# YAML
FRONTMATTER_DUPLICATE_KEY = warning("frontmatter-duplicate-key", "YAML 1.2.2, 3.2.1.3")(
    "A key occurs twice in one mapping; the last one counts.", "Remove one of the two."
)

# Whole sources, and what of them is not read (SPEC 2.1, 2.3, 9)
FOLDER_TOO_LARGE = warning("folder-too-large", "SPEC 9")(
    "A folder of a commit has too many files; it is skipped.",
    "Move files that are not for the archive to another repo.",
)
HISTORY_UNREADABLE = warning("history-unreadable", "SPEC 2.3")(
    "The git history of a source could not be read.", "Run git fsck in the repo, and repair what it reports."
)
SOURCE_FAILED = error("source-failed", "SPEC 9", fails_build=True)(
    "A source or its history could not be read; its last good state is shown.",
    "Run git fsck in the repo, or make it smaller.",
)
LINK_NOT_FOLLOWED = note("link-not-followed", "SPEC 9")("Symbolic link not followed.", "Replace it with the file.")
SUBMODULE_NOT_READ = note("submodule-not-read", "SPEC 2.3")("Submodule not read.", "Add its repo to the sources.")
REMOTE_NOT_FETCHED = error("remote-not-fetched", "SPEC 9", fails_build=True)(
    "A remote could not be fetched; its last good state is shown.",
    "Check the address, the network and ssh-agent, then build again.",
)

# Secrets (SPEC 9)
_WAY_OUT = "Rotate the key, then redact it or allow its fingerprint in memosite.yml."
SECRET_WITHHELD = error("secret-withheld", "SPEC 9")(
    "A secret in a file; the item is published without its content.", _WAY_OUT
)
SECRET_REDACTED = error("secret-redacted", "SPEC 9")("A secret, published as [REDACTED:rule].", _WAY_OUT)
SECRET_FORMERLY = warning("secret-formerly", "SPEC 9")(
    "A secret in an earlier version of a file; that version is not shown.",
    "Rotate the key, then rewrite the repo's history or allow the fingerprint.",
)
SECRET_IN_NAME = error("secret-in-name", "SPEC 9")(
    "A secret in the name of a file or folder, which is not read.", "Rotate the key, then rename the file."
)
SECRET_FORMERLY_IN_NAME = warning("secret-formerly-in-name", "SPEC 9")(
    "A secret in a former name of a file, which is not shown.", "Rotate the key, then rewrite the repo's history."
)
SECRET_ALLOWED_IN_VAIN = note("secret-allowed-in-vain", "SPEC 9")(
    "secrets.allow has a fingerprint that fits no secret.", "Remove the entry from secrets.allow."
)
SECRET_RULES = tuple(rule for rule in rules_in(globals()) if rule.id.startswith("secret-"))

# Citations of the archive, of which findings tell an author that a source has changed
CITATION_BROKEN = warning("citation-broken", "SPEC 7")(
    "A citation of this archive does not hold: the source was changed or removed.",
    "Cite what the source says now; memosite verify shows the difference.",
)
MANUSCRIPT_UNREADABLE = warning("manuscript-unreadable", "SPEC 7")(
    "A manuscript that `citations` names could not be read; its citations are not checked.",
    "Install Pandoc for .docx, .odt, .epub, or save it as HTML.",
)

GENERAL = rules_in(globals())
"""All of them, in this order."""

_WITHHOLDING = (SECRET_WITHHELD, SECRET_IN_NAME)


class SecretHit(Value):
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
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        if finding.rule in _WITHHOLDING:
            by_file.setdefault(finding.location.place, []).append(finding)
    return tuple(
        f"{found[0].location}: {found[0].message.partition(', fingerprint ')[0]}"
        + (f", and {len(found) - 1} more" if len(found) > 1 else "")
        for found in by_file.values()
    )


def unread_files(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The files that are too large to be read, each with its size, and how many session logs are left, and why.

    Nothing of them is in the archive.
    """
    findings = tuple(findings)
    found = (finding for finding in findings if finding.rule == FILE_TOO_LARGE)
    files = (f"{one.location}: {one.message}" for one in sorted(found, key=lambda finding: finding.sort_key))
    return (*files, *unread_logs(findings), *unread_logs(findings, SESSION_HOME))


def unread_logs(findings: Iterable[Finding], rule: Rule = SESSION_NOT_READ) -> tuple[str, ...]:
    """The session logs that are left for this reason, by source and tool: how many, and what reads them."""
    left = (one for one in findings if one.rule == rule and not one.location.path)
    return tuple(f"{one.location.source}: {one.message}" for one in sorted(left, key=lambda finding: finding.sort_key))


def redacted_places(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The file of each secret that is redacted in one; an author's name, which is in none, is not counted."""
    found = (finding.location for finding in findings if finding.rule == SECRET_REDACTED and finding.location.path)
    return tuple(f"{where.source}/{where.path}" for where in found)


def failures(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The findings that make a command fail whatever it fails on: sources that could not be read."""
    failed = sorted((finding for finding in findings if finding.rule.fails_build), key=lambda finding: finding.sort_key)
    return tuple(f"{finding.location.source}: {finding.message}" for finding in failed)


SESSION_RULES = {
    rule.id: rule
    for rule in (
        *(SESSION_LINE, SESSION_HOME, SESSION_HASH, SESSION_BEING_WRITTEN, SESSION_NOT_READ),
        *(SESSION_TIME, SESSION_FORM, SESSION_BOUNDS),
    )
}
"""The rules on session logs, by name: readers of single forms name them."""
