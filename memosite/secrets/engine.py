"""[I/O] Matches rules with Kingfisher: those of its catalog and those in `rules.yml`, in one pass and linear time.

Kingfisher compiles its rules in three seconds, and ours in seven. It keeps the result, which holds nothing that was
read, in the user's cache folder (`KF_RULE_CACHE_DIR`, else `kingfisher/` in `XDG_CACHE_HOME` or `~/.cache`), and loads
it in 0.3 s. Nothing is loaded before the first text is scanned, or somebody says that one will be (`loading_rules`).
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from memosite.facts.values import Value
from memosite.store.values import digest_of

if TYPE_CHECKING:
    from kingfisher_sdk import Rules, Scanner

OWN_RULES = Path(__file__).with_name("rules.yml")
ENCODED = "base64-of-text"
COOKIES = "cookies"
HEAD_OF_TABLE = "head-of-table"
UNSEEN = frozenset((ENCODED, COOKIES, HEAD_OF_TABLE))
"""The rules that find what may hold secrets: once it is decoded, in its pairs, in the lines after it. They are not
visible, so it is no secret itself."""

WINDOW = 64_000
"""Characters that are matched at once. Kingfisher's time is linear up to here: beyond, `password=` again and again took
four times as long for twice the length."""

OVERLAP = 16_000
"""Characters that two windows share: more than a key of 16,384 bits has."""

EDGE = 256
"""What ends or begins nearer to the edge of a window is taken from the other window, which shows more around it."""

HASH = "password-hash"

MANY = "many-secrets"
"""The rule of the rest of a text that has very many."""

GENERIC = "generic-"
"""How the names of rules begin that know a secret by what is around it, and not by a format of its own."""

PASSWORD = GENERIC + "password"
ASSIGNED = frozenset((PASSWORD, GENERIC + "assignment"))

COOKIE = GENERIC + "cookie"
CELL = GENERIC + "table-cell"
LISTED = GENERIC + "listed-password"
"""The rules of what is found where an unseen one matched; the last is that of a list of users with their passwords."""

_NAMES = {MANY: "Many secrets", COOKIE: "session cookie", CELL: "password, token or key in a table"}

_VELES = {
    "bitbucketcredentials": "bitbucket-credentials",
    "bitwardenoauth2access": "bitwarden-oauth-token",
    "circleciproject": "circleci-project-token",
    "cloudflareapitoken": "cloudflare-api-token",
    "codecatalystcredentials": "codecatalyst-credentials",
    "codecommitcredentials": "codecommit-credentials",
    "denopatorg": "deno-organization-token",
    "digitaloceanapikey": "digitalocean-pat",
    "grokxaiapikey": "xai-api-key",
    "hcpclientcredentials": "hcp-client-credentials",
    "herokuplatformkey": "heroku-api-key",
    "npmjsaccesstoken": "npm-access-token",
    "openrouter": "openrouter-api-key",
    "packagistorgreadtoken": "packagist-read-token",
    "packagistorgupdatetoken": "packagist-update-token",
    "packagistsecret": "packagist-secret",
    "postmanapikey": "postman-api-token",
    "postmancollectiontoken": "postman-collection-token",
    "sendgrid": "sendgrid-api-token",
    "slackappconfigaccesstoken": "slack-config-access-token",
    "slackappconfigrefreshtoken": "slack-config-refresh-token",
    "slackappleveltoken": "slack-app-token",
}
"""Names of words for the rules of a part of the catalog that joins them."""

_SPELLED = {"api": "API", "gcp": "GCP", "jwt": "JWT", "oauth": "OAuth", "pat": "PAT", "uri": "URI", "url": "URL"}


class Match(Value, kw_only=False):
    """A rule and the place of what it matched: of a secret, if it is no placeholder and nothing that is only decoded.

    `rule` is a stable name, such as `aws-access-key-id`; `start` and `end` are offsets of characters, start included,
    end excluded.
    """

    rule: str
    start: int
    end: int


def match_rules(data: bytes) -> Iterator[Match]:
    """Everything that a rule matches. `data` is ASCII without NUL, so that no other encoding is guessed.

    It is matched window by window. What is near an edge may be cut there; the other window has the whole of it.
    """
    step = WINDOW - OVERLAP
    for at in range(0, max(1, len(data) - OVERLAP), step):
        window = data[at : at + WINDOW]
        is_last = at + WINDOW >= len(data)
        for match in _match_window(window):
            is_cut_before = at > 0 and match.start < EDGE
            is_cut_behind = not is_last and match.end > WINDOW - EDGE and match.start >= step + EDGE
            if not is_cut_before and not is_cut_behind:
                yield Match(match.rule, at + match.start, at + match.end)


def _match_window(window: bytes) -> Iterator[Match]:
    for finding in _load()[1].scan(window + b"\n"):  # many rules ask for something after a key
        rule = _short(finding.rule_id)
        if finding.visible or rule in UNSEEN:
            place = finding.location
            yield Match(rule, place["start_offset"], min(place["end_offset"], len(window)))


@lru_cache(maxsize=1)
def read_rules() -> Mapping[str, str]:
    """The rules by their stable names, and what people call what they find; ours come first where both name one."""
    metadata = sorted(_load()[0].metadata(), key=lambda rule: rule["id"].startswith("memosite."))
    named = {_short(rule["id"]): rule for rule in metadata if rule["visible"]}
    names = {name: named[name]["name"] if name in ours() else _spelled(name) for name in sorted(named)}
    return names | _NAMES


@lru_cache(maxsize=1)
def ours() -> frozenset[str]:
    """The rules of `rules.yml`; where others find the same, their names are used."""
    ids = (rule["id"] for rule in _load()[0].metadata())
    return frozenset(_short(one) for one in ids if one.startswith("memosite."))


def digest_rules() -> str:
    """The digest of all rules: ours by their text, Kingfisher's by its version."""
    from importlib.metadata import version  # noqa: PLC0415 - a tenth of a command, and few scan anything

    return digest_of((OWN_RULES.read_bytes(), version("kingfisher-secret-scanner")))


_LOCK = Lock()


@contextmanager
def loading_rules() -> Iterator[None]:
    """Load the rules beside the work of the block, which Kingfisher does without the interpreter. Who scans waits.

    A process with a thread must not fork: in the block, only whoever has scanned something may. Blocks may be nested.
    """
    thread = Thread(target=_load_beside)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _load_beside() -> None:
    with suppress(Exception):  # who scans gets the error
        _load()


def _load() -> "tuple[Rules, Scanner]":
    with _LOCK:
        return _load_once()


@lru_cache(maxsize=1)
def _load_once() -> "tuple[Rules, Scanner]":
    import kingfisher_sdk  # noqa: PLC0415 - a command that reads nothing does not pay for it

    rules = kingfisher_sdk.Rules([OWN_RULES])
    return rules, kingfisher_sdk.Scanner(rules, base64=False)


@lru_cache(maxsize=1024)
def _short(rule_id: str) -> str:
    """The name of a rule without the catalog it is from: `github-pat` for `betterleaks.github-pat`."""
    name = re.sub(r"^(betterleaks\.|veles\.secrets/|memosite\.)", "", rule_id)
    another = r"\.[0-9]$" if rule_id.startswith("memosite.") else r"\.1$"
    return _VELES.get(name) or re.sub(another, "", name).replace(".", "-").replace("/", "-")


def _spelled(name: str) -> str:
    words = [_SPELLED.get(word, word) for word in name.split("-")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])
