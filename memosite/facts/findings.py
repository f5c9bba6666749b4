"""Findings: what is wrong or odd about content, as data with a place and a remedy.

Every finding belongs to one rule of `RULES`, which gives its severity, its meaning, and the clause of the
specification it comes from. MUST broken is an error, SHOULD broken a warning, anything merely odd a note.
"""

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Severity(StrEnum):
    """How bad a finding is; the order of the members is the order of badness."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in a source: its name, the file's path relative to it, and a line (1 = first) if one is known."""

    source: str
    path: str
    line: int | None = None

    def __str__(self) -> str:
        """`source/path:line`, as editors understand it."""
        place = f"{self.source}/{self.path}" if self.source else self.path
        return f"{place}:{self.line}" if self.line else place


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that can be wrong: what it means, where it is written, what to do about it."""

    id: str
    severity: Severity
    meaning: str
    clause: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken or odd thing at one place. `message` says what was found and what was expected.

    `broken_clause` is the clause where it is not that of the rule: rules on fields are those of several formats.
    """

    rule: str
    location: Location
    message: str
    broken_clause: str = ""

    @property
    def severity(self) -> Severity:
        """The severity of the finding's rule."""
        return RULES[self.rule].severity

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return RULES[self.rule].remedy

    @property
    def clause(self) -> str:
        """Where what it breaks is written."""
        return self.broken_clause or RULES[self.rule].clause

    @property
    def sort_key(self) -> tuple[str, str, int, str, str]:
        """By place, then rule: the order of every listing."""
        where = self.location
        return (where.source, where.path, where.line or 0, self.rule, self.message)


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE
_MEMO = "memodef SCHEMA, memodef:Memo"
_TRANSCRIPT = "memodef SCHEMA, memodef:Transcript"
_MIF = "mnemonic-format, Validation Rules"
_STORE = "memory-store reference"

_TABLE = (
    # What cannot be read as it stands
    Rule(id="json-invalid", severity=_E, meaning="The file is not JSON.", clause="RFC 8259, 2; SPEC 2.2",
         remedy="Mend the JSON at the line named; until then the file is shown raw."),
    Rule(id="json-not-object", severity=_E, meaning="The file's JSON is not an object.",
         clause="SPEC 2.2", remedy="Such a file is one JSON object: { … }."),
    Rule(id="json-duplicate-key", severity=_W, meaning="A key stands twice in one object; the last one counts.",
         clause="RFC 8259, 4; SPEC 2.2", remedy="Remove one of the two."),
    Rule(id="json-lenient", severity=_W, meaning="Something JSON forbids, read all the same.",
         clause="RFC 8259, 7; SPEC 2.2", remedy="Write the character as an escape, or remove it."),
    Rule(id="utf8-invalid", severity=_E, meaning="Bytes that are not UTF-8; they are shown as U+FFFD.",
         clause="RFC 8259, 8.1; SPEC 2.2", remedy="Save the file as UTF-8."),
    Rule(id="file-too-large", severity=_W, meaning="The file is larger than memosite reads; it is left out.",
         clause="SPEC 9", remedy="Split it, or keep it outside memos/, notes/ and transcripts/."),
    Rule(id="file-unreadable", severity=_W, meaning="The file could not be opened; it is left out.",
         clause="SPEC 9", remedy="Check its permissions."),
    Rule(id="link-not-followed", severity=_N, meaning="A symbolic link where an envelope or a store would lie.",
         clause="SPEC 9", remedy="Put the file itself there; memosite reads nothing outside a source."),
    Rule(id="submodule-not-read", severity=_N, meaning="A submodule; what lies in it is no part of the commit read.",
         clause="SPEC 2.3", remedy="Add its own repo to the sources, if it holds anything of the archive."),
    Rule(id="remote-not-fetched", severity=_W, meaning="A remote could not be fetched; its last good state is shown.",
         clause="SPEC 2.3", remedy="Check address, network and ssh-agent; the next build tries again."),
    # Memos and notes
    Rule(id="field-missing", severity=_E, meaning="A required field is absent or empty.",
         clause=f"{_MEMO} and memodef:Transcript, MUST fields; SPEC 2.2", remedy="Add the field."),
    Rule(id="field-type", severity=_E, meaning="A field has the wrong type.",
         clause=f"{_MEMO} and memodef:Transcript, field types; SPEC 2.2",
         remedy="Give it the type named in the message."),
    Rule(id="field-reserved", severity=_E, meaning="A field of the reserved x.memodef.* namespace.",
         clause="memodef SCHEMA, extensions; SPEC 2.2", remedy="Use a domain of your own: x.<domain>.<name>."),
    Rule(id="field-should", severity=_W, meaning="A field that should be there is absent.",
         clause=f"{_TRANSCRIPT}, SHOULD fields; SPEC 2.2", remedy="Add the field."),
    Rule(id="date-invalid", severity=_E, meaning="A date that is not ISO 8601.",
         clause=f"{_MEMO}, sent; SPEC 2.2", remedy="Write it like 2026-05-01T14:30:00Z."),
    Rule(id="date-without-zone", severity=_W, meaning="A time without a zone; it is taken as UTC.",
         clause="SPEC 2.2", remedy="End it with Z or an offset such as -04:00."),
    Rule(id="body-ref-path", severity=_W, meaning="body_ref is not a bare file name.",
         clause=f"{_MEMO}, body_ref SHOULD; SPEC 2.2",
         remedy="Keep the body beside the envelope and name it without a folder."),
    Rule(id="body-ref-missing", severity=_W, meaning="The file that body_ref names is not there.",
         clause=f"{_MEMO}, body_ref; SPEC 2.2", remedy="Add the file beside the envelope, or mend the name."),
    Rule(id="body-not-referenced", severity=_W, meaning="A body file of the envelope's name, but no body_ref.",
         clause=f"{_MEMO}, body_ref; SPEC 2.2", remedy="Add body_ref to the envelope, or rename the file."),
    Rule(id="body-split", severity=_W, meaning="Envelope and body lie in two mailboxes.",
         clause="memodef README, mark-as-read moves both; SPEC 2.2", remedy="git mv the one after the other."),
    Rule(id="body-without-envelope", severity=_W, meaning="A .body.md that no envelope names.",
         clause=f"{_MEMO}, body_ref; SPEC 2.2", remedy="Add its envelope, or remove the file."),
    Rule(id="reply-path", severity=_W, meaning="in_reply_to is not a bare file name.",
         clause=f"{_MEMO}, in_reply_to; SPEC 2.2", remedy="Give the parent's file name alone."),
    Rule(id="note-action", severity=_W, meaning="A note to file asks for action; nobody receives it.",
         clause="memodef SCHEMA 0.3, memos-to-file; SPEC 2.2",
         remedy="Send a memo to a position, or drop action_required."),
    Rule(id="note-in-mailbox", severity=_W, meaning="A memo to file lies in a mailbox.",
         clause="memodef SCHEMA 0.3, memos-to-file; SPEC 2.2", remedy="Move it to notes/<role>/."),
    Rule(id="note-recipient", severity=_W, meaning="A memo below notes/ is addressed to somebody.",
         clause="memodef SCHEMA 0.3, memos-to-file; SPEC 2.2",
         remedy='Write "to": "file", or move it to the recipient\'s memos/.'),
    # Transcripts
    Rule(id="transcript-body", severity=_W, meaning="A transcript's envelope has a body of its own.",
         clause=f"{_TRANSCRIPT}, no body; SPEC 2.2", remedy="Remove body; the text belongs into body_ref."),
    Rule(id="transcript-memo-field", severity=_W, meaning="A transcript's envelope has a field of memos.",
         clause=f"{_TRANSCRIPT}, no memo fields; SPEC 2.2",
         remedy="Remove it; name related memos in related_memos."),
    Rule(id="transcript-form", severity=_W, meaning="The body fits no known form of turns; it is shown as one block.",
         clause="SPEC 4", remedy="Use ## User and ## Assistant headings, with or without times."),
    # Organizations, libraries, documents
    Rule(id="org-field", severity=_E, meaning="A position or relationship of an orgdef cannot be used.",
         clause="orgdef SCHEMA, positions and relationships; SPEC 2.2", remedy="Give it the form the message names."),
    Rule(id="org-duplicate", severity=_W, meaning="Two positions of one orgdef have one id.",
         clause="orgdef SCHEMA, positions; SPEC 2.2", remedy="Give each position an id of its own."),
    Rule(id="catalog-foreign", severity=_N, meaning="An .opencatalog that memosite does not show.",
         clause="SPEC 2.2", remedy="Nothing to do: it is neither an orgdef nor a memodef library."),
    Rule(id="frontmatter-invalid", severity=_W, meaning="The YAML at a document's head cannot be read.",
         clause="SPEC 2.2", remedy="Mend the YAML, or remove the --- lines."),
    Rule(id="outside-convention", severity=_N,
         meaning="An envelope outside memos/, notes/ and transcripts/; it is not part of the archive.",
         clause="SPEC 2.2", remedy="Move it, or name it under include: in memosite.yml."),
    # What only the whole archive shows
    Rule(id="id-collision", severity=_W, meaning="Two different artifacts have one name.",
         clause="SPEC 3, identity", remedy="Rename one of the files."),
    Rule(id="copies-differ", severity=_W, meaning="Copies of one artifact differ in content.",
         clause="SPEC 3, copies", remedy="Compare them on the page, and make them equal."),
    Rule(id="thread-cycle", severity=_W, meaning="Replies form a circle; it is cut at the earliest memo.",
         clause="SPEC 3, threads", remedy="Mend in_reply_to of one of them."),
    Rule(id="reply-before-parent", severity=_W, meaning="A reply is dated before the memo it answers.",
         clause="SPEC 3, threads", remedy="Check sent of both, and their zones."),
    Rule(id="ghost", severity=_N, meaning="A memo that is replied to is not in the archive.",
         clause="SPEC 3, threads", remedy="Add the repo that holds it to the sources, if there is one."),
    Rule(id="position-unlisted", severity=_N, meaning="A position that no orgdef lists.",
         clause="SPEC 3, positions", remedy="List it in an orgdef, or add an alias to memosite.yml."),
    Rule(id="position-ambiguous", severity=_N, meaning="A name that fits several positions; it stays as written.",
         clause="SPEC 3, positions", remedy="Write org/position, or add an alias to memosite.yml."),
    Rule(id="delivery-missing", severity=_N, meaning="A memo does not lie in the repo of whom it is sent to.",
         clause="SPEC 3, positions", remedy="Deliver it: put a copy into that repo's memos/."),
    Rule(id="delivery-uncommitted", severity=_N, meaning="A memo lies in a repo that goes on without committing it.",
         clause="SPEC 2.3", remedy="Commit it there: that is its receipt."),
    Rule(id="name-disagrees", severity=_N, meaning="A file's name says another sender or recipient than its envelope.",
         clause="memodef README, names; SPEC 2.2", remedy="The envelope counts; rename the file if it was never sent."),
    Rule(id="closed-unknown", severity=_N, meaning="actions.closed names a memo that is not in the archive.",
         clause="SPEC 2.1", remedy="Check the id in memosite.yml."),
    # Records of all systems
    Rule(id="left-alone", severity=_N, meaning="A file where another memory system keeps its own, but not of its form.",
         clause="SPEC 2.2", remedy="Nothing to do if another tool wrote it; it is no part of the archive."),
    Rule(id="anchors-cut", severity=_N, meaning="So many globs that the rest of them lead nowhere.",
         clause="SPEC 9", remedy="Write the folders of anchors out as far as they are known."),
    # memory-store
    Rule(id="store-left-alone", severity=_N,
         meaning="Files as in a memory-store, but no config.json that makes one; they are left alone.",
         clause="SPEC 2.2, memory-store",
         remedy="Nothing to do if another tool wrote them; else mend .memory/config.json."),
    Rule(id="store-version", severity=_W, meaning="A version of the storage that memosite does not know.",
         clause=f"{_STORE}, Config; SPEC 2.2", remedy="Check what is shown; memosite knows versions 4 and 5."),
    Rule(id="store-id", severity=_E, meaning="An id has not the form it must have, or does not fit the node's type.",
         clause=f"{_STORE}, Node kinds; SPEC 2.2", remedy="Write kind.slug, or rel.slug for a relation."),
    Rule(id="store-value", severity=_E, meaning="A word the storage does not know, or not for this kind of node.",
         clause=f"{_STORE}, Statuses, Stages, Relations; SPEC 2.2", remedy="Use one of those the message names."),
    Rule(id="store-hash", severity=_W, meaning="content_hash does not fit what it is made over.",
         clause="SPEC 2.2, memory-store",
         remedy="Compare with the last commit: the text was changed by hand, or damaged; then save it with the tool."),
    Rule(id="store-body-path", severity=_E, meaning="body_path leads out of the store, or to another name.",
         clause=f"{_STORE}, Sidecar fields; SPEC 2.2", remedy="Name the .md file beside the sidecar, as memory/….md."),
    Rule(id="store-body-missing", severity=_E, meaning="The body that a sidecar names is not there.",
         clause=f"{_STORE}, Storage layout; SPEC 2.2", remedy="Bring the file back, or mend body_path."),
    Rule(id="store-body-orphan", severity=_W, meaning="A body that no sidecar names; it is shown by itself.",
         clause=f"{_STORE}, Storage layout; SPEC 2.2", remedy="Bring its sidecar back, or remove the file."),
    Rule(id="store-conflict", severity=_E, meaning="Marks of an unresolved merge.",
         clause="SPEC 2.2, memory-store", remedy="Resolve the merge in this file."),
    Rule(id="store-event", severity=_E, meaning="A line of events.jsonl that cannot be used; the others count.",
         clause=f"{_STORE}, Events; SPEC 2.2", remedy="Mend or remove the line; blank lines too."),
    Rule(id="store-duplicate", severity=_E, meaning="Two nodes or relations of one store have one id, or say the same.",
         clause=f"{_STORE}, Node kinds; SPEC 2.2", remedy="Give each an id of its own, or remove one."),
    Rule(id="store-relation-end", severity=_E, meaning="A relation begins or ends at a node that is not there.",
         clause=f"{_STORE}, Relations; SPEC 2.2", remedy="Mend the id, or remove the relation."),
    Rule(id="store-superseded", severity=_W, meaning="What a node is superseded by is not there, not said, or not so.",
         clause=f"{_STORE}, Sidecar fields; SPEC 2.2", remedy="Name the node that took its place."),
    # memory-layer
    Rule(id="memory-layer-category", severity=_E, meaning="A category that memory-layer does not know.",
         clause="memory-layer format, required meta fields; SPEC 2.2",
         remedy="Write one of context, decisions, interfaces, handoffs."),
    Rule(id="memory-layer-folder", severity=_W, meaning="The category is not that of the folder.",
         clause="memory-layer format, directory structure; SPEC 2.2",
         remedy="Move the file to its category's folder, or mend meta.category."),
    Rule(id="memory-layer-reference", severity=_N, meaning="A context reference to what is not in the archive.",
         clause="memory-layer format, handoffs, context_references; SPEC 2.2",
         remedy="Nothing to do if it was cleaned up; else name the file without .json."),
    # wyren
    Rule(id="wyren-long", severity=_W, meaning="A memory of more than 60 lines.",
         clause="wyren memory.md schema, size budget; SPEC 2.2",
         remedy="Remove what is no longer true; keep lasting texts in broadcast/."),
    Rule(id="wyren-section-long", severity=_W, meaning="A section of more than 30 lines.",
         clause="wyren memory.md schema, hygiene rules; SPEC 2.2", remedy="Remove what is no longer true."),
    Rule(id="wyren-code", severity=_W, meaning="Code in a memory.",
         clause="wyren memory.md schema, hygiene rules; SPEC 2.2",
         remedy="Name the file by its path, and write down the conclusion alone."),
    Rule(id="wyren-conflict", severity=_W, meaning="Marks of an unresolved merge in a memory.",
         clause="SPEC 2.2, wyren", remedy="Resolve the merge, and keep each entry once."),
    Rule(id="wyren-fenced", severity=_N, meaning="The whole memory stands in a code fence.",
         clause="SPEC 2.2, wyren", remedy="Remove the fence's two lines, so that Markdown readers show the lists."),
    # mif
    Rule(id="mif-id", severity=_E, meaning="A record's id is missing or, in MIF 0.1, no lowercase UUID of version 4.",
         clause=f"{_MIF}, Required Checks 1; SPEC 2.2", remedy="Write a UUID, as uuidgen gives it, in lower case."),
    Rule(id="mif-id-form", severity=_W, meaning="The id of a MIF 1.0 record is no UUID.",
         clause="MIF 1.0, 4.1", remedy="Write a UUID, unless others refer to the id as it is."),
    Rule(id="mif-type", severity=_E, meaning="A record's type is missing, or none that MIF knows.",
         clause=f"{_MIF}, Required Checks 2; SPEC 2.2", remedy="Write semantic, episodic or procedural."),
    Rule(id="mif-namespace", severity=_E, meaning="A record's namespace is missing, or not namespace/scope.",
         clause=f"{_MIF}, Required Checks 3", remedy="Write it like decisions/project."),
    Rule(id="mif-created", severity=_E, meaning="A record's date of creation is missing, or not ISO 8601.",
         clause=f"{_MIF}, Required Checks 4; SPEC 2.2", remedy="Write it like 2026-01-24T10:30:00Z."),
    Rule(id="mif-title", severity=_E, meaning="A record has no title.",
         clause=f"{_MIF}, Required Checks 5", remedy="Add a title to the frontmatter."),
    Rule(id="mif-citation", severity=_E, meaning="A citation lacks its type, title or address, or has a wrong one.",
         clause=f"{_MIF}, Citation Checks 1 to 3", remedy="Give it what the message names."),
    Rule(id="mif-citation-detail", severity=_W, meaning="A detail of a citation has not the form it should have.",
         clause=f"{_MIF}, Citation Checks 4 to 6; MIF 1.0, 5.4.7", remedy="Write it as the message says."),
    Rule(id="mif-confidence", severity=_W, meaning="A confidence outside of 0.0 to 1.0.",
         clause=f"{_MIF}, Recommended Checks 1", remedy="Write a number from 0.0 to 1.0."),
    Rule(id="mif-valid-from", severity=_W, meaning="A fact is said to hold only after it was recorded.",
         clause=f"{_MIF}, Recommended Checks 2", remedy="Check valid_from and recorded_at."),
    Rule(id="mif-tag", severity=_W, meaning="A tag that is not lower case with hyphens.",
         clause=f"{_MIF}, Recommended Checks 3", remedy="Write it like access-control."),
    Rule(id="mif-code-path", severity=_W, meaning="The path of a code reference is not relative.",
         clause=f"{_MIF}, Recommended Checks 4", remedy="Write the path from the repo's root."),
    Rule(id="mif-date", severity=_W, meaning="A date or a duration that is not ISO 8601.",
         clause="mnemonic-format, Temporal Fields", remedy="Write it like 2026-01-24T10:30:00Z or P90D."),
    Rule(id="mif-field", severity=_W, meaning="A field of a record cannot be used as it stands; it is shown.",
         clause="mnemonic-format, Field Reference; SPEC 2.2", remedy="Give it the form the message names."),
    Rule(id="frontmatter-duplicate-key", severity=_W, meaning="A key stands twice in one mapping; the last one counts.",
         clause="YAML 1.2.2, 3.2.1.3", remedy="Remove one of the two."),
)  # fmt: skip

RULES = MappingProxyType({rule.id: rule for rule in _TABLE})
"""Every rule by its id, in the order of the table."""
