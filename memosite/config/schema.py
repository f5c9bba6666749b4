"""The schema of memosite.yml: configuration values, and readers of YAML entries that know their key and line.

Nothing is constructed from the YAML but texts, numbers and truth values that `ConfigEntry` reads off its nodes; so
each error can name file, line and key, what was found and what was expected. Aliases and tags are refused:
no setting needs them, and YAML bombs use them. The schema itself is SPEC 2.1.
"""

import datetime as dt
import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar, get_args
from urllib.parse import urlsplit

import yaml

from memosite.config import SECRETS_MODES, SecretsMode
from memosite.facts.characters import quote
from memosite.facts.errors import ConfigError
from memosite.facts.names import make_id
from memosite.facts.parsed import Discharge, Kind, Withheld
from memosite.facts.patterns import regex
from memosite.facts.times import read_moment
from memosite.facts.values import Value, field
from memosite.formats.yaml_text import StrictError, compose, line_of

# What may be published, as settings (SPEC 9): what is done about secrets, which are allowed, and what is erased.


_Word = TypeVar("_Word", bound=str)


class AllowedSecret(Value):
    """A secret that may be published: its fingerprint, and why. `line` is where memosite.yml has it."""

    fingerprint: str
    why: str
    line: int = 0


class SecretsConfig(Value):
    """What is done about secrets: artifacts without content, redacted texts, or an error; and the exceptions."""

    mode: SecretsMode = "withhold"
    allow: tuple[AllowedSecret, ...] = ()

    @property
    def fingerprints(self) -> frozenset[str]:
        """The fingerprints of the exceptions."""
        return frozenset(one.fingerprint for one in self.allow)


DEFAULT_SECRETS = SecretsConfig()
"""What is done about secrets unless memosite.yml says otherwise."""


class WithheldGlob(Value):
    """A glob of what only the audience `internal` sees. `line` is where memosite.yml has it."""

    glob: str
    line: int = 0


class Erasure(Value):
    """An artifact whose content is not to be published: its id, its kind if that is named, too, why, and since when.

    `is_secret` is whether the reason is a secret: then not even its digests are published. `line` is where
    memosite.yml has it.
    """

    id: str
    kind: Kind | None
    why: str
    on: str
    is_secret: bool = False
    line: int = 0

    @property
    def name(self) -> str:
        """The artifact as the configuration names it."""
        return f"{self.kind}/{self.id}" if self.kind else self.id

    def withheld(self, published: Collection[str] = ()) -> Withheld:
        """What its facts carry; `published` are the digests of its files that were published before."""
        hashes = () if self.is_secret else tuple(sorted(published))
        return Withheld(reason="erased", why=self.why, on=self.on, hashes=hashes, is_for_secret=self.is_secret)


def left_out_by(erasures: Iterable[Erasure], secrets: SecretsConfig) -> str:
    """By what content is left out, as one text: what is erased, and which secrets are found and allowed."""
    from memosite.secrets import DIGEST  # noqa: PLC0415 - it is read from files, and few commands need it

    return repr((sorted(entry.name for entry in erasures), secrets.mode, sorted(secrets.fingerprints), DIGEST))


# All settings of a site.


DOCUMENT_FOLDERS = ("decisions", "proposals", "adr", "doc/adr", "docs/adr", "docs/decisions", "doc/decisions")
DEFAULT_DOCUMENTS = tuple(f"{folder}/**/*.md" for folder in DOCUMENT_FOLDERS)
"""Where documents are that memos cite; `documents` adds to these."""

Audience = Literal["internal", "public"]
"""For whom an archive is read and a site is built."""

History = Literal["own", "enclosing"]
"""Whether the history of a source may also come from a repo that holds the site folder."""

Digest = Literal["daily", "weekly"]
"""The time that one digest covers."""


class SourceConfig(Value):
    """One source, under a name of its own: a folder to read, or the address of a git repo.

    `root` is absolute and free of links; None if `git` says where the repo is. `ref` is the branch, tag or commit to
    read instead of the folder's present files; "" is no commit at all, as of a time before the first one. `include` and
    `exclude` are globs relative to the source (see `layout.matches_glob`). `web` is the address of a file of the
    source, with `{path}` and perhaps `{ref}`.
    """

    name: str
    root: Path | None = None
    git: str | None = None
    ref: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    web: str | None = None


class FeedsConfig(Value):
    """How much a feed holds: the newest `window` items, and those of `days` before the newest; `ttl` is in minutes.

    `full_content` publishes feeds with texts, for people, beside those that only notify; `digest` is the time that one
    digest covers. Every page is planned with it, so what only some pages need is not in it (`Config.searches`).
    """

    window: int = 50
    days: int = 30
    ttl: int = 5
    full_content: bool = True
    digest: Digest = "daily"

    @property
    def is_weekly(self) -> bool:
        """Whether a digest covers a week, and not a day."""
        return self.digest == "weekly"


class SessionsConfig(Value):
    """How session logs are read (SPEC 2.2, sessions).

    `is_all`: also those in the folders of tools. `include` are globs of further files, `positions` the positions whose
    sessions the files of a glob are, the first match counts. `person` is who typed, "" for nobody in particular;
    `thinking` is whether thoughts are published.
    """

    is_all: bool = False
    include: tuple[str, ...] = ()
    positions: tuple[tuple[str, str], ...] = ()
    person: str = ""
    thinking: bool = False


class Config(Value):
    """Everything a command needs to know of a site; all paths are absolute.

    `base_url` ends in `/`; `address` is that of memosite.yml, whatever the command line says. `aliases` maps a former
    name of a position to its present one, and that is never a former name itself. `people` are positions held by
    people; None leaves that to the program. `closed` holds actions that are done, by memo id. `searches` are saved
    queries by name. `withhold` are globs of what only the audience `internal` sees, and with `withhold_raw` transcripts
    that were not redacted are part of it. `outputs` are the output folders by audience if memosite.yml names several;
    `output` is that of this `audience`. `lean` bundles twins and originals; memosite.yml has it in `lean_line`. `file`
    is the memosite.yml that was read, None if there is none. `citations` are globs of manuscripts below `site`.
    """

    site: Path
    title: str
    sources: tuple[SourceConfig, ...]
    output: Path
    cache: Path
    base_url: str | None = None
    address: str | None = None
    archive_id: str = "archive"
    authority: str = "memosite.invalid,2026"
    language: str = "en"
    history: History = "own"
    aliases: Mapping[str, str] = field(default_factory=dict)
    people: tuple[str, ...] | None = None
    documents: tuple[str, ...] = DEFAULT_DOCUMENTS
    citations: tuple[str, ...] = ()
    closed: Mapping[str, Discharge] = field(default_factory=dict)
    feeds: FeedsConfig = FeedsConfig()
    searches: Mapping[str, str] = field(default_factory=dict)
    theme: Path | None = None
    audience: Audience = "internal"
    secrets: SecretsConfig = DEFAULT_SECRETS
    erase: tuple[Erasure, ...] = ()
    outputs: Mapping[Audience, Path] = field(default_factory=dict)
    withhold: tuple[WithheldGlob, ...] = ()
    withhold_raw: bool = True
    lean: bool = False
    lean_line: int = 0
    sessions: SessionsConfig = SessionsConfig()
    file: Path | None = None

    @property
    def written(self) -> tuple[Path, ...]:
        """The folders that memosite writes, whatever the audience: they are never read as sources."""
        return tuple(dict.fromkeys((self.output, *self.outputs.values(), self.cache)))


_TAG = "tag:yaml.org,2002:"
_WHOLE_NUMBER = regex(r"\d{1,9}", re.ASCII)
_BEFORE_TIME = regex(r"(?<=\d)[t ](?=\d)")


class ConfigEntry(Value):
    """One place of a configuration: the keys that lead to it, the line it begins in, and what is written there.

    Its methods read it as the type they are named for, and raise `ConfigError` if it is another.
    """

    file: str
    key: str
    line: int
    node: yaml.Node

    def error(self, found: str, expected: str, advice: str = "") -> ConfigError:
        """The one-line error for this place."""
        subject = f"{self.key}: " if self.key else ""
        text = f"{self.file}:{self.line}: {subject}found {found}, expected {expected}"
        return ConfigError(f"{text}; {advice}" if advice else text)

    @property
    def found(self) -> str:
        """The value as error messages describe it."""
        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        kind = self.node.tag.removeprefix(_TAG)
        if kind == "null":
            return "nothing"
        words = {"int": "the number ", "float": "the number ", "bool": "the truth value ", "timestamp": "the date "}
        return words.get(kind, "") + quote(self.node.value)

    def fields(self, known: Collection[str]) -> dict[str, "ConfigEntry"]:
        """A mapping with keys of the schema; nothing at all counts as an empty one."""
        entries = self.entries("a mapping with " + ", ".join(known))
        for name, entry in entries.items():
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                advice = f'did you mean "{close[0]}"?' if close else ""
                raise entry.error("an unknown key", f"one of {', '.join(known)}", advice)
        return entries

    def entries(self, expected: str) -> dict[str, "ConfigEntry"]:
        """A mapping with any keys, each of them once; nothing at all counts as an empty one."""
        if self.found == "nothing":
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(self.found, expected)
        entries: dict[str, ConfigEntry] = {}
        for key, value in self.node.value:
            line = line_of(key.start_mark)
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigEntry(file=self.file, key=self.key, line=line, node=key).error(
                    "a list or mapping as a key", "a text", "put the key in quotes"
                )
            shown = key.value if re.fullmatch(r"[\w.-]+", key.value) else quote(key.value)
            below = f"{self.key}.{shown}" if self.key else shown
            entry = ConfigEntry(file=self.file, key=below, line=line, node=value)
            if not key.value.strip() or has_control_characters(key.value):
                raise entry.error("a key of nothing or with control characters", "a text as key")
            if key.value in entries:
                first = entries[key.value].line
                raise entry.error(f"the key twice, first in line {first}", "it once", "remove one of the two")
            entries[key.value] = entry
        return entries

    def items(self, expected: str) -> tuple["ConfigEntry", ...]:
        """The entries of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(self.found, expected)
        return tuple(
            ConfigEntry(file=self.file, key=f"{self.key}[{index}]", line=line_of(node.start_mark), node=node)
            for index, node in enumerate(self.node.value)
        )

    def path_text(self, expected: str) -> str:
        """A text as it is written; a folder's name may hold almost anything."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag != _TAG + "str":
            plain = isinstance(self.node, yaml.ScalarNode) and self.found != "nothing"
            raise self.error(self.found, expected, "put it in quotes to have it read as a text" if plain else "")
        value: str = self.node.value
        if not value.strip() or "\0" in value:
            raise self.error(quote(value), expected)
        return value

    def scalar(self, expected: str) -> str:
        """A text, also one of digits that is not in quotes, as it is written."""
        return self.node.value if isinstance(self.node, yaml.ScalarNode) else self.path_text(expected)

    def text(self, expected: str = "a text") -> str:
        """A text of one line, without white space around it."""
        value = self.path_text(expected).strip()
        if has_control_characters(value):
            raise self.error(quote(value), expected, "remove the line break or control character")
        return value

    def prose(self) -> str:
        """A text that may be folded over several lines, as one line."""
        value = " ".join(self.path_text("a text").split())
        if has_control_characters(value):
            raise self.error(quote(value), "a text", "remove the control character")
        return value

    def choice(self, words: Sequence[_Word]) -> _Word:
        """One of these words."""
        *others, last = words
        expected = f"{', '.join(others)} or {last}"
        text = self.text(expected)
        for word in words:
            if text == word:
                return word
        raise self.error(quote(text), expected)

    def texts(self, expected: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(item.text() for item in self.items(expected))

    def number(self, least: int, most: int) -> int:
        """A whole number between two bounds, both included."""
        is_number = self.node.tag == _TAG + "int" and _WHOLE_NUMBER.fullmatch(self.node.value)
        if not is_number or not least <= int(self.node.value) <= most:
            raise self.error(self.found, f"a whole number from {least} to {most}")
        return int(self.node.value)

    def flag(self) -> bool:
        """`true` or `false`, and none of YAML's other words for them."""
        if self.node.tag != _TAG + "bool" or self.node.value not in {"true", "false"}:
            raise self.error(self.found, "true or false")
        return bool(self.node.value == "true")

    def date(self) -> str:
        """An ISO 8601 date or time, in quotes or not, as a text with `T` before a time."""
        is_text = self.node.tag in {_TAG + "str", _TAG + "timestamp"}
        value = self.node.value.strip() if is_text else ""
        if read_moment(value) is None:
            raise self.error(self.found, "an ISO 8601 date", "write it like 2026-05-20")
        return _BEFORE_TIME.sub("T", value, count=1)


def has_control_characters(text: str) -> bool:
    """Whether a text holds control characters, line or paragraph separators, or halves of characters."""
    return any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text)


def clean_name(name: str) -> str:
    """A folder's name as the name of a source: with `-` for control characters, and never empty."""
    return "".join("-" if has_control_characters(char) else char for char in name).strip() or "archive"


def read_yaml(text: str, file: str) -> ConfigEntry | None:
    """The top of a YAML document, None if it holds nothing; `file` is its name in errors."""
    try:
        node = compose(text)
    except StrictError as error:
        raise ConfigError(f"{file}:{error.line}: {error}") from error
    return None if node is None else ConfigEntry(file=file, key="", line=line_of(node.start_mark), node=node)


# Reads single values of memosite.yml that have a form of their own: addresses, ids, languages.


BASE_URL_FORM = "an absolute http or https address without user, ? and #, such as https://archive.example.org/"
_WEB_FORM = "an http or https address with {path} in it, such as https://git.example.org/repo/blob/{ref}/{path}"
_ADDRESS_CHARACTERS = regex(r"[\w.~:/?#\[\]@!$&'()*+,;=%-]+", re.ASCII)


def _is_web_address(text: str) -> bool:
    if not _ADDRESS_CHARACTERS.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc and port_is_fine


def normalize_base_url(text: str) -> str | None:
    """The address with `/` at its end, None if it cannot be one (RFC 3986)."""
    if not _is_web_address(text) or "?" in text or "#" in text:
        return None
    return text if text.endswith("/") else text + "/"


def read_base_url(entry: ConfigEntry) -> str:
    """The address of the published site, with `/` at its end."""
    text = entry.text(BASE_URL_FORM)
    address = normalize_base_url(text)
    if address is None:
        raise entry.error(quote(text), BASE_URL_FORM)
    return address


def read_archive_id(entry: ConfigEntry) -> str:
    """The name of the archive in every id of a feed: characters that a tag URI may hold (RFC 4151)."""
    text = entry.text("an id")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", text):
        raise entry.error(quote(text), "at most 100 letters (A to Z), digits, . _ and -")
    return text


_DNS_NAME = r"[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*"
_AUTHORITY = regex(rf"(?:[a-z0-9._-]+@)?{_DNS_NAME},(\d{{4}})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)


def read_authority(entry: ConfigEntry) -> str:
    """The tagging entity of RFC 4151, in lower case: whose domain or address it is, and a date on which it was."""
    text = entry.text("an authority")
    match = _AUTHORITY.fullmatch(text) if len(text) <= 200 else None
    try:
        if match is not None and dt.date(int(match[1]), int(match[2] or 1), int(match[3] or 1)):
            return text
    except ValueError:
        pass
    advice = "write it in lower case" if _AUTHORITY.fullmatch(text.lower()[:200]) and text != text.lower() else ""
    raise entry.error(quote(text), 'a domain and a date, in lower case, such as "example.org,2026"', advice)


def read_language(entry: ConfigEntry) -> str:
    """The language of the site's texts; only the form is checked (BCP 47)."""
    text = entry.text("a language")
    if not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,8}", text):
        raise entry.error(quote(text), "a language tag (BCP 47) such as en or pt-BR")
    return text


def read_web(entry: ConfigEntry) -> str:
    """The address at which a source's files can be seen."""
    text = entry.text(_WEB_FORM)
    plain = text.replace("{ref}", "ref").replace("{path}", "path")
    host = [*text.split("/", 3), "", "", ""][2]
    if "{path}" not in text or "{" in host or not _is_web_address(plain):
        raise entry.error(quote(text), _WEB_FORM)
    return text


# Reads the setting `erase`: what is published without its content (SPEC 9).


_KINDS: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}
_ID = f"an id as in the address of a page, or <kind>/<id> with one of {', '.join(_KINDS)}"


def read_erase(entry: ConfigEntry) -> tuple[Erasure, ...]:
    """What is erased, each artifact once."""
    found: dict[str, Erasure] = {}
    for item in entry.items("a list of {id, why, on}"):
        erasure = _erasure(item)
        if erasure.name in found:
            raise item.error(f"{quote(erasure.name)} twice", "it once", "remove one of the two")
        found[erasure.name] = erasure
    return tuple(found.values())


def _erasure(entry: ConfigEntry) -> Erasure:
    fields = entry.fields(("id", "why", "on", "secret"))
    for name in ("id", "why", "on"):
        if name not in fields:
            raise entry.error(f"no {name}", "{id, why, on}, such as {id: …, why: asked for, on: 2026-05-20}")
    text = fields["id"].text(_ID)
    kind, slash, id_ = unicodedata.normalize("NFC", text).rpartition("/")
    if (slash and kind not in _KINDS) or any(make_id(part) != part for part in id_.split("~")):
        raise fields["id"].error(quote(text), _ID)
    return Erasure(
        id=id_,
        kind=_KINDS.get(kind),
        why=fields["why"].prose(),
        on=fields["on"].date()[:10],
        is_secret="secret" in fields and fields["secret"].flag(),
        line=entry.line,
    )


# Reads `secrets` of memosite.yml: what is done about secrets, and which are allowed and why (SPEC 9).


_FINGERPRINT = regex(r"[0-9a-f]{16}")
_FINGERPRINT_FORM = "16 hex digits, as memosite check shows"


def read_secrets(entry: ConfigEntry) -> SecretsConfig:
    """The mode and the exceptions; each has a reason."""
    fields = entry.fields(("mode", "allow"))
    default = SecretsConfig()
    items = fields["allow"].items("a list of {fingerprint, why}") if "allow" in fields else ()
    return SecretsConfig(
        mode=fields["mode"].choice(SECRETS_MODES) if "mode" in fields else default.mode,
        allow=tuple(map(_allowed, items)),
    )


def _allowed(entry: ConfigEntry) -> AllowedSecret:
    fields = entry.fields(("fingerprint", "why"))
    for name, expected in (("fingerprint", _FINGERPRINT_FORM), ("why", "the reason why it may be published")):
        if name not in fields:
            raise entry.error(f"no {name}", expected, f"add {name}:")
    fingerprint = fields["fingerprint"].scalar(_FINGERPRINT_FORM)
    if not _FINGERPRINT.fullmatch(fingerprint):
        raise fields["fingerprint"].error(quote(fingerprint), _FINGERPRINT_FORM)
    return AllowedSecret(fingerprint=fingerprint, why=fields["why"].prose(), line=entry.line)
