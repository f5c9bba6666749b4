"""Reads the YAML at the head of a Markdown file as plain text: no types, no tags, no aliases (SPEC 2.2, 9).

Types would turn `version: 1.10` into 1.1 and `status: on` into true; tags and aliases allow attacks.
Where the YAML is broken, its `key: value` lines are recovered.
"""

import re
from dataclasses import dataclass, field

import yaml

from memosite.facts.json_text import clean_text, shown

FRONTMATTER_CHARS = 16_384
"""The longest frontmatter that is read, in characters."""

FRONTMATTER_DEPTH = 20
"""How deep lists and mappings may be nested."""

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)
_KEY_LINE = re.compile(r"""["']?(?P<key>[\w .-]{1,100}?)["']?[ \t]*:(?:[ \t]+(?P<value>\S.*)|[ \t]*)""")
_NULLS = frozenset({"null", "~"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """The fields at a text's head, by key in lower case, the text after them, and the line and kind of a fault."""

    body: str
    fields: dict[str, object] = field(default_factory=dict)
    problem: tuple[int, str] | None = None

    def text(self, name: str) -> str:
        """A field that is one text; "" if it is absent, null or anything else."""
        value = self.fields.get(name)
        return "" if not isinstance(value, str) or value.lower() in _NULLS else clean_text(value)

    def list(self, name: str) -> tuple[str, ...]:
        """A field that is a list of texts, or one text with commas; each once."""
        value = self.fields.get(name)
        entries = value if isinstance(value, list) else self.text(name).split(",")
        texts = (clean_text(entry).strip() for entry in entries if isinstance(entry, str))
        return tuple(dict.fromkeys(text for text in texts if text))


def read_frontmatter(text: str) -> Frontmatter:
    """Split a text (LF line ends) into its frontmatter and its body. Never raises.

    What is between two `---` lines is frontmatter only if it is a mapping, or clearly meant to be one.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Frontmatter(body=text)
    source, body = text[opening.end() : closing.start()], text[closing.end() :]
    if not source.strip():
        return Frontmatter(body=body)
    if len(source) > FRONTMATTER_CHARS:
        if not _is_meant(source[:FRONTMATTER_CHARS]):
            return Frontmatter(body=text)
        problem = (1, f"the frontmatter is longer than {FRONTMATTER_CHARS} characters; it was not read")
        return Frontmatter(body=body, problem=problem)
    try:
        value = _load(source)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if not _is_meant(source):
            return Frontmatter(body=text)
        return Frontmatter(body=body, fields=_recover(source), problem=_problem(source, error))
    if not isinstance(value, dict):
        return Frontmatter(body=text)
    return Frontmatter(body=body, fields={str(key).lower(): entry for key, entry in value.items()})


class _Loader(yaml.BaseLoader):
    """YAML as texts, lists and mappings; anything else is refused."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call] # types-pyyaml leaves it out
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.composer.ComposerError(None, None, "anchors and aliases are not read", event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise yaml.composer.ComposerError(None, None, "tags are not read", event.start_mark)
        if self._depth >= FRONTMATTER_DEPTH:
            raise yaml.composer.ComposerError(
                None, None, f"nested deeper than {FRONTMATTER_DEPTH} levels", event.start_mark
            )
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _load(source: str) -> object:
    loader = _Loader(source)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _is_meant(source: str) -> bool:
    """Whether the first line that is not empty is a `key:`, so that this was meant to be frontmatter."""
    lines = (line for line in source.split("\n") if line.strip() and not line.startswith("#"))
    return _KEY_LINE.fullmatch(next(lines, "")) is not None


def _recover(source: str) -> dict[str, object]:
    """The `key: value` lines, without values that are not plain text in YAML."""
    found: dict[str, object] = {}
    for line in source.split("\n"):
        match = _KEY_LINE.fullmatch(line)
        value = match["value"].strip() if match and match["value"] else ""
        if match is None or not value or value[0] in "{&*!|>%@`":
            continue
        entry: object = value.strip("'\"")
        if value.startswith("["):
            entry = [part.strip(" '\"") for part in value.strip("[]").split(",")]
        found.setdefault(match["key"].lower(), entry)
    return found


def _problem(source: str, error: Exception) -> tuple[int, str]:
    """The line, counted by LF as everywhere (YAML also counts NEL, LS and PS), and what is wrong there."""
    if isinstance(error, yaml.reader.ReaderError):
        index, reason = error.position, f"a character YAML forbids (U+{error.character:04X})"
    else:
        mark = getattr(error, "problem_mark", None)
        index, reason = (mark.index if mark else 0), getattr(error, "problem", None) or "it cannot be read"
    return source.count("\n", 0, index) + 2, f"the frontmatter is not YAML: {shown(str(reason), 120)}"
