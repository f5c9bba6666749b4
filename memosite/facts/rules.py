"""The rules for findings, except those on whole sources and those of a single record system.

Each rule has its meaning, its clause and its remedy; `findings` explains the severities.
"""

from memosite.facts.findings import Rule, Severity

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE
_MEMO = "memodef SCHEMA, memodef:Memo"
_TRANSCRIPT = "memodef SCHEMA, memodef:Transcript"

# Citations
CITATION_BROKEN = Rule(
    id="citation-broken",
    severity=_W,
    meaning="A citation of this archive that does not hold: the source says something else now, or is gone.",
    clause="SPEC 7",
    remedy="Run memosite verify on the file: it says when the citation held. Cite what the source says now.",
)

MANUSCRIPT_UNREADABLE = Rule(
    id="manuscript-unreadable",
    severity=_W,
    meaning="A manuscript that `citations` names could not be read; its citations are not checked.",
    clause="SPEC 7",
    remedy="Install Pandoc for .docx, or save the file as Markdown or HTML.",
)

# Files that cannot be read as written
JSON_INVALID = Rule(
    id="json-invalid",
    severity=_E,
    hides_content=True,
    meaning="The file is not JSON.",
    clause="RFC 8259, 2; SPEC 2.2",
    remedy="Mend the JSON at the line named; until then the file is shown raw.",
)
JSON_NOT_OBJECT = Rule(
    id="json-not-object",
    severity=_E,
    hides_content=True,
    meaning="The file's JSON is not an object.",
    clause="SPEC 2.2",
    remedy="Such a file is one JSON object: { … }.",
)
JSON_DUPLICATE_KEY = Rule(
    id="json-duplicate-key",
    severity=_W,
    meaning="A key stands twice in one object; the last one counts.",
    clause="RFC 8259, 4; SPEC 2.2",
    remedy="Remove one of the two.",
)
JSON_LENIENT = Rule(
    id="json-lenient",
    severity=_W,
    meaning="Something JSON forbids, read all the same.",
    clause="RFC 8259, 7; SPEC 2.2",
    remedy="Write the character as an escape, or remove it.",
)
UTF8_INVALID = Rule(
    id="utf8-invalid",
    severity=_E,
    meaning="Bytes that are not UTF-8; they are shown as U+FFFD.",
    clause="RFC 8259, 8.1; SPEC 2.2",
    remedy="Save the file as UTF-8.",
)
FILE_TOO_LARGE = Rule(
    id="file-too-large",
    severity=_W,
    meaning="The file is larger than memosite reads; it is left out.",
    clause="SPEC 9",
    remedy="Split it, or keep it outside memos/, notes/ and transcripts/.",
)
NAME_LONG = Rule(
    id="name-long",
    severity=_N,
    meaning="A name too long to be shown; its beginning and a hash are shown.",
    clause="SPEC 9",
    remedy="Shorten it.",
)
FILE_BOUNDED = Rule(
    id="file-bounded",
    severity=_W,
    of_whole_file=True,
    meaning="The file holds more than is shown one by one; the rest of it is shown as it is.",
    clause="SPEC 9",
    remedy="Split it.",
)
FILE_UNREADABLE = Rule(
    id="file-unreadable",
    severity=_W,
    meaning="The file could not be opened; it is left out.",
    clause="SPEC 9",
    remedy="Check its permissions.",
)

# Memos and notes
FIELD_MISSING = Rule(
    id="field-missing",
    severity=_E,
    meaning="A required field is absent or empty.",
    clause=f"{_MEMO} and memodef:Transcript, MUST fields; SPEC 2.2",
    remedy="Add the field.",
)
FIELD_TYPE = Rule(
    id="field-type",
    severity=_E,
    meaning="A field has the wrong type.",
    clause=f"{_MEMO} and memodef:Transcript, field types; SPEC 2.2",
    remedy="Give it the type named in the message.",
)
FIELD_RESERVED = Rule(
    id="field-reserved",
    severity=_E,
    meaning="A field of the reserved x.memodef.* namespace.",
    clause="memodef SCHEMA, extensions; SPEC 2.2",
    remedy="Use a domain of your own: x.<domain>.<name>.",
)
FIELD_SHOULD = Rule(
    id="field-should",
    severity=_W,
    meaning="A field that should be there is absent.",
    clause=f"{_TRANSCRIPT}, SHOULD fields; SPEC 2.2",
    remedy="Add the field.",
)
DATE_INVALID = Rule(
    id="date-invalid",
    severity=_E,
    meaning="A date that is not ISO 8601.",
    clause=f"{_MEMO}, sent; SPEC 2.2",
    remedy="Write it like 2026-05-01T14:30:00Z.",
)
DATE_WITHOUT_ZONE = Rule(
    id="date-without-zone",
    severity=_W,
    meaning="A time without a zone; it is taken as UTC.",
    clause="SPEC 2.2",
    remedy="End it with Z or an offset such as -04:00.",
)
BODY_REF_PATH = Rule(
    id="body-ref-path",
    severity=_W,
    meaning="body_ref is not a bare file name.",
    clause=f"{_MEMO}, body_ref SHOULD; SPEC 2.2",
    remedy="Keep the body beside the envelope and name it without a folder.",
)
BODY_REF_MISSING = Rule(
    id="body-ref-missing",
    severity=_W,
    meaning="The file that body_ref names is not there.",
    clause=f"{_MEMO}, body_ref; SPEC 2.2",
    remedy="Add the file beside the envelope, or mend the name.",
)
BODY_NOT_REFERENCED = Rule(
    id="body-not-referenced",
    severity=_W,
    meaning="A body file of the envelope's name, but no body_ref.",
    clause=f"{_MEMO}, body_ref; SPEC 2.2",
    remedy="Add body_ref to the envelope, or rename the file.",
)
BODY_SPLIT = Rule(
    id="body-split",
    severity=_W,
    meaning="Envelope and body lie in two mailboxes.",
    clause="memodef README, mark-as-read moves both; SPEC 2.2",
    remedy="git mv the one after the other.",
)
BODY_WITHOUT_ENVELOPE = Rule(
    id="body-without-envelope",
    severity=_W,
    meaning="A .body.md that no envelope names.",
    clause=f"{_MEMO}, body_ref; SPEC 2.2",
    remedy="Add its envelope, or remove the file.",
)
REPLY_PATH = Rule(
    id="reply-path",
    severity=_W,
    meaning="in_reply_to is not a bare file name.",
    clause=f"{_MEMO}, in_reply_to; SPEC 2.2",
    remedy="Give the parent's file name alone.",
)
NOTE_ACTION = Rule(
    id="note-action",
    severity=_W,
    meaning="A note to file asks for action; nobody receives it.",
    clause="memodef SCHEMA 0.3, memos-to-file; SPEC 2.2",
    remedy="Send a memo to a position, or drop action_required.",
)
NOTE_IN_MAILBOX = Rule(
    id="note-in-mailbox",
    severity=_W,
    meaning="A memo to file lies in a mailbox.",
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
    remedy="Remove body; the text belongs into body_ref.",
)
TRANSCRIPT_MEMO_FIELD = Rule(
    id="transcript-memo-field",
    severity=_W,
    meaning="A transcript's envelope has a field of memos.",
    clause=f"{_TRANSCRIPT}, no memo fields; SPEC 2.2",
    remedy="Remove it; name related memos in related_memos.",
)
TRANSCRIPT_FORM = Rule(
    id="transcript-form",
    severity=_W,
    meaning="The body fits no known form of turns; it is shown as one block.",
    clause="SPEC 4",
    remedy="Use ## User and ## Assistant headings, with or without times.",
)

# Organizations, libraries, documents
ORG_FIELD = Rule(
    id="org-field",
    severity=_E,
    meaning="A position or relationship of an orgdef cannot be used.",
    clause="orgdef SCHEMA, positions and relationships; SPEC 2.2",
    remedy="Give it the form the message names.",
)
ORG_DUPLICATE = Rule(
    id="org-duplicate",
    severity=_W,
    meaning="Two positions of one orgdef have one id.",
    clause="orgdef SCHEMA, positions; SPEC 2.2",
    remedy="Give each position an id of its own.",
)
CATALOG_FOREIGN = Rule(
    id="catalog-foreign",
    severity=_N,
    meaning="An .opencatalog that memosite does not show.",
    clause="SPEC 2.2",
    remedy="Nothing to do: it is neither an orgdef nor a memodef library.",
)
FRONTMATTER_INVALID = Rule(
    id="frontmatter-invalid",
    severity=_W,
    meaning="The YAML at a document's head cannot be read.",
    clause="SPEC 2.2",
    remedy="Mend the YAML, or remove the --- lines.",
)
OUTSIDE_CONVENTION = Rule(
    id="outside-convention",
    severity=_N,
    meaning="An envelope outside memos/, notes/ and transcripts/; it is not part of the archive.",
    clause="SPEC 2.2",
    remedy="Move it, or name it under include: in memosite.yml.",
)

# Rules that need the whole archive
ID_COLLISION = Rule(
    id="id-collision",
    severity=_W,
    meaning="Two different artifacts have one name.",
    clause="SPEC 3, identity",
    remedy="Rename one of the files.",
)
COPIES_DIFFER = Rule(
    id="copies-differ",
    severity=_W,
    meaning="Copies of one artifact differ in content.",
    clause="SPEC 3, copies",
    remedy="Compare them on the page, and make them equal.",
)
THREAD_CYCLE = Rule(
    id="thread-cycle",
    severity=_W,
    meaning="Replies form a circle; it is cut at the earliest memo.",
    clause="SPEC 3, threads",
    remedy="Mend in_reply_to of one of them.",
)
REPLY_BEFORE_PARENT = Rule(
    id="reply-before-parent",
    severity=_W,
    meaning="A reply is dated before the memo it answers.",
    clause="SPEC 3, threads",
    remedy="Check sent of both, and their zones.",
)
GHOST = Rule(
    id="ghost",
    severity=_N,
    meaning="A memo that is replied to is not in the archive.",
    clause="SPEC 3, threads",
    remedy="Add the repo that holds it to the sources, if there is one.",
)
STAMP_UNCLEAR = Rule(
    id="stamp-unclear",
    severity=_N,
    meaning="A stamp stands for a memo, but not for exactly one of the archive.",
    clause="SPEC 3, references",
    remedy="Give the memo's whole file name.",
)
POSITION_UNLISTED = Rule(
    id="position-unlisted",
    severity=_N,
    meaning="A position that no orgdef lists.",
    clause="SPEC 3, positions",
    remedy="List it in an orgdef, or add an alias to memosite.yml.",
)
POSITION_AMBIGUOUS = Rule(
    id="position-ambiguous",
    severity=_N,
    meaning="A name that fits several positions; it stays as written.",
    clause="SPEC 3, positions",
    remedy="Write org/position, or add an alias to memosite.yml.",
)
DELIVERY_MISSING = Rule(
    id="delivery-missing",
    severity=_N,
    meaning="A memo does not lie in the repo of whom it is sent to.",
    clause="SPEC 3, positions",
    remedy="Deliver it: put a copy into that repo's memos/.",
)
DELIVERY_UNCOMMITTED = Rule(
    id="delivery-uncommitted",
    severity=_N,
    meaning="A memo lies in a repo that goes on without committing it.",
    clause="SPEC 2.3",
    remedy="Commit it there: that is its receipt.",
)
NAME_DISAGREES = Rule(
    id="name-disagrees",
    severity=_N,
    meaning="A file's name says another sender or recipient than its envelope.",
    clause="memodef README, names; SPEC 2.2",
    remedy="The envelope counts; rename the file if it was never sent.",
)
CLOSED_UNKNOWN = Rule(
    id="closed-unknown",
    severity=_N,
    meaning="actions.closed names a memo that is not in the archive.",
    clause="SPEC 2.1",
    remedy="Check the id in memosite.yml.",
)
ERASE_UNKNOWN = Rule(
    id="erase-unknown",
    severity=_E,
    meaning="erase names what is neither in the sources nor published before: nothing is erased.",
    clause="SPEC 9",
    remedy="Check the id in memosite.yml.",
)
ERASE_AMBIGUOUS = Rule(
    id="erase-ambiguous",
    severity=_W,
    meaning="erase names an id that artifacts of several kinds have: all of them are erased.",
    clause="SPEC 9",
    remedy="Write <kind>/<id> in memosite.yml.",
)
WITHHOLD_IN_VAIN = Rule(
    id="withhold-in-vain",
    severity=_W,
    meaning="A glob of withhold matches no file that is read, and none that was removed: it withholds nothing.",
    clause="SPEC 9",
    remedy="Check the glob in memosite.yml: it is relative to a source, or begins with the source's name.",
)

# Records of all systems
LEFT_ALONE = Rule(
    id="left-alone",
    severity=_N,
    meaning="Files where another memory system keeps its own, but not of its form; one note for each folder.",
    clause="SPEC 2.2",
    remedy="Nothing to do if another tool wrote them; they are no part of the archive.",
)
ANCHORS_CUT = Rule(
    id="anchors-cut",
    severity=_N,
    meaning="So many globs that the rest of them lead nowhere.",
    clause="SPEC 9",
    remedy="Write the folders of anchors out as far as they are known.",
)

# YAML
FRONTMATTER_DUPLICATE_KEY = Rule(
    id="frontmatter-duplicate-key",
    severity=_W,
    meaning="A key stands twice in one mapping; the last one counts.",
    clause="YAML 1.2.2, 3.2.1.3",
    remedy="Remove one of the two.",
)

GENERAL = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All of them, in this order."""
