"""What may be seen of a file: takes the content off its facts, and decides whether everybody may see it (SPEC 9).

    fact ─► without_content ─► the same fact: its identity and address, its place in threads, feeds and lists
                               no subject, no text, no field of free words, no mention, no finding

So whatever is made of the facts (pages, feeds, twins, search, exports) cannot hold what must not be published. The
files' digests stay: they tell copies from rivals. `resolve` takes them off the artifact (`resolve/identity.py`).

One rule says who may see a file, as it is and as git has it from before: its marks. A mark is a field of JSON, at any
depth, or of the front matter of Markdown: `x.legal.confidentiality`, or `retention_policy`, which belongs into
`metadata`. The same names in other namespaces count, too, and a mark that cannot be understood says no. Where JSON or
YAML is broken, each of the two words is a mark unless a harmless value stands behind it.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from memosite.facts.file import File
from memosite.facts.names import CATALOG_SUFFIX, ENVELOPE_SUFFIX, read_names
from memosite.facts.parsed import Discharge, Envelope, Parsed, Participant, SessionFile, Withheld
from memosite.facts.patterns import regex
from memosite.facts.values import replace

# Takes the content off the facts of a file: what is left says who sent it to whom, when, where it is, and why.


_REDACTION_STATES = frozenset({"raw", "partial", "redacted"})


def without_content(parsed: Parsed, withheld: Withheld) -> Parsed:
    """The result of a file without its content, and without findings, which may quote it; nothing goes on the shelf."""
    fact = parsed.fact
    if isinstance(fact, Envelope):
        fact = bare_envelope(fact, withheld)
    elif isinstance(fact, SessionFile):
        fact = replace(fact, sessions=tuple(bare_envelope(one, withheld) for one in fact.sessions), guarded=())
    elif fact is not None:
        fact = fact.without_content(withheld)
    return replace(parsed, fact=fact, findings=(), shelve=())


def bare_envelope(envelope: Envelope, withheld: Withheld) -> Envelope:
    """An envelope without its content. What a reference says besides names goes, too."""
    return replace(
        envelope,
        subject="",
        in_reply_to=tuple(_names_only(envelope.in_reply_to)),
        supersedes=tuple(_names_only(envelope.supersedes)),
        body=None,
        discharge=Discharge() if envelope.discharge else None,
        session=None,
        participants=tuple(Participant(position=someone.position) for someone in envelope.participants),
        related=(),
        transport=None,
        capture_tool=None,
        redaction_status=envelope.redaction_status if envelope.redaction_status in _REDACTION_STATES else None,
        tags=(),
        extra="",
        log=envelope.log.without_content() if envelope.log else None,
        withheld=withheld,
    )


def _names_only(references: Iterable[str]) -> Iterator[str]:
    """References reduced to the names of memos in them, which mean the same as before (`facts/names.py`)."""
    for value in references:
        names = (name for name in read_names(value) if name.form != "document")
        yield " ".join(dict.fromkeys(f"({name.written})" if name.is_aside else name.written for name in names))


# Decides from the bytes of a file whether its artifact may be seen by everybody (SPEC 9, audience).


_CONFIDENTIALITY, _RETENTION = "confidentiality", "retention_policy"
_PRIVATE = ("confidential", "private", "ephemeral")
_JSON = (ENVELOPE_SUFFIX, CATALOG_SUFFIX, ".json")
_MARKS = (_CONFIDENTIALITY, _RETENTION, "\u0131", "\u0307")  # two letters that are like i, but for case
_LETTER = regex(r"\\u00[2-7]")
_WORD = regex(r"confidentiality|retention_policy", re.IGNORECASE)

_FIELD = regex(
    rf"(?<![\w-])(?:[\w-]+\.)*(?P<name>{_WORD.pattern})['\"]?[ \t]*:[ \t]*"
    r"(?P<value>\"[^\W\d][\w .-]*\"|'[^\W\d][\w .-]*'|[^\W\d](?:[\w .-]*[\w.-])?)[ \t\r]*(?=[,}\n]|[ \t]#|\Z)",
    re.IGNORECASE,
)

_ESCAPE = regex(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|U([0-9a-f]{8})|[ \t]*\n[ \t]*)", re.IGNORECASE)
_HEAD = regex(r"---[ \t]*\n(?P<fields>.*?)(?:(?:(?<=\n)|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)|\Z)", re.DOTALL)
_YAML_CHARS = 65_536
"""The longest YAML that is parsed; in a longer one every mark counts that is not plainly harmless."""

_TEXT, _NULL = "tag:yaml.org,2002:str", "tag:yaml.org,2002:null"


def is_confidential(file: File) -> bool:
    """Whether a file is marked as not for everybody; one of JSON that cannot be read counts as marked."""
    name = file.name.lower()
    if name.endswith(_JSON):
        return file.json.fields is None or (_may_be_marked(file.text) and _is_marked_json(file.text))
    if name.endswith(".jsonl"):
        return any(_may_be_marked(line) and _is_marked_json(line) for line in file.text.split("\n"))
    head = _HEAD.match(file.markdown)
    return head is not None and _is_marked_yaml(head["fields"])


def is_raw_transcript(file: File) -> bool:
    """Whether an envelope is that of a transcript that does not say that it was redacted."""
    fields = file.json.fields or {}
    metadata = fields.get("metadata")
    return not is_redacted(metadata.get("redaction_status") if isinstance(metadata, dict) else None)


def is_redacted(status: object) -> bool:
    """Whether a `redaction_status` says that a transcript may be read by everybody."""
    return isinstance(status, str) and status.strip().casefold() == "redacted"


def _may_be_marked(text: str) -> bool:
    """Whether a text of JSON may have a mark: most have none, and need not be parsed for it."""
    lowered = text.lower()
    return any(mark in lowered for mark in _MARKS) or _LETTER.search(lowered) is not None


def _is_marked_json(text: str) -> bool:
    """Whether any object of a JSON text has a mark. Of a key that is there twice each value counts."""
    found: list[bool] = []

    def look_at(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(_is_marked(pairs))
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=look_at, strict=False)
    except (ValueError, RecursionError):
        return _is_marked_text(text)
    return any(found)


def _is_marked(pairs: Iterable[tuple[str, object]]) -> bool:
    return any(_says_no(key.strip().casefold().rpartition(".")[2], value) for key, value in pairs)


def _is_marked_yaml(text: str) -> bool:
    """Whether a mapping of a YAML text has a mark, at any depth."""
    if not _WORD.search(text) and "\\" not in text:  # an escape may be a part of the word
        return False
    if len(text) > _YAML_CHARS:
        return _is_marked_text(text)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return _is_marked_text(text)
    if not isinstance(root, yaml.MappingNode):
        return _is_marked_text(text)
    return any(not isinstance(key, yaml.ScalarNode) or _is_marked([_pair(key, value)]) for key, value in _fields(root))


def _fields(root: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """All fields of all mappings, each mapping once however many aliases it has."""
    waiting, met = [root], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode) or id(node) in met:
            continue
        met.add(id(node))
        for child in node.value:
            if isinstance(node, yaml.MappingNode):
                yield child
                waiting += child
            else:
                waiting.append(child)


def _pair(key: yaml.ScalarNode, value: yaml.Node) -> tuple[str, object]:
    """A field as JSON would have it, as far as marks go: a text, null if that is written, anything else is a list."""
    if not isinstance(value, yaml.ScalarNode):
        return key.value, ()
    is_null = value.tag == _NULL and bool(value.value)
    return key.value, value.value if value.tag == _TEXT else None if is_null else ()


def _is_marked_text(text: str) -> bool:
    """Whether a text that cannot be parsed has the name of a mark without a harmless value behind it."""
    plain = _ESCAPE.sub(lambda found: _char(found[1] or found[2] or found[3]), text)
    harmless = {
        found.start("name")
        for found in _FIELD.finditer(plain)
        if not _says_no(found["name"].casefold(), found["value"].strip("\"'"))
    }
    return any(found.start() not in harmless for found in _WORD.finditer(plain))


def _char(code: str | None) -> str:
    """The character of an escape; none for the end of a line that goes on."""
    number = int(code or "0", 16)
    return chr(number) if 0 < number <= sys.maxunicode else ""


def _says_no(name: str, value: object) -> bool:
    """Whether a field is a mark; a value that is no text says no, but for a retention policy of null."""
    said = value.strip().casefold() if isinstance(value, str) else None
    if name == _CONFIDENTIALITY:
        return said != "public"
    return name == _RETENTION and value is not None and (said is None or said in _PRIVATE)
