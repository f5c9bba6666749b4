"""Says in our own words why git failed: git's messages name files of this machine, and pages are published."""

import re

from memosite.facts.characters import masked
from memosite.sources.git_urls import without_secrets

_MEMORY = re.compile(rb"out of memory|cannot allocate memory|unable to (?:m|re|c)alloc", re.IGNORECASE)

_WORDS = (
    ("its host is not known", r"could not resolve|name or service not known|no address associated"),
    ("its host does not answer", r"refused|timed? ?out|no route|unreachable|(?:failed to|couldn't) connect|hung up"),
    ("the key of its host is not known", r"host key verification"),
    ("it asks for a login", r"authentication|read (?:username|password)|permission denied|prompts disabled|: 40[13]"),
    ("its certificate cannot be checked", r"certificate|\b(?:ssl|tls)\b"),
    ("it has no such branch or tag", r"remote ref|no such ref|unadvertised"),
    ("there is no repo", r"repository .*not found|not appear to be a git|does not exist|: 404|not a git repo"),
    ("its protocol is not allowed", r"transport .* not allowed"),
    ("its hashes are of another kind than before", r"mismatched algorithms"),
    ("it belongs to another user", r"dubious ownership"),
    ("its configuration cannot be used", r"bad config|config (?:value|file)|repository extension|repo version"),
    ("its objects are damaged or missing", r"corrupt|bad|malformed|inflate|unpack|read|missing|not a|object|damaged"),
)
"""Our words for what git says, the first that fit."""


def last_line(said: bytes) -> str:
    """Of what git said, the line that counts, as one line without passwords in URLs; for the terminal only."""
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    text = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
    said_so = masked(text.removeprefix("fatal: ").removeprefix("error: "))
    return without_secrets(said_so)[:300].strip()


def is_out_of_memory(said: bytes) -> bool:
    """Whether git failed for want of memory."""
    return _MEMORY.search(said) is not None


def in_our_words(said: bytes, command: str, code: int) -> str:
    """Why a command of git failed, without anything that git said itself."""
    text = said.decode("utf-8", "replace")
    words = next((words for words, pattern in _WORDS if re.search(pattern, text, re.IGNORECASE)), "")
    if words:
        return words
    return f"git {command} was ended by signal {-code}" if code < 0 else f"git {command} failed with exit code {code}"
