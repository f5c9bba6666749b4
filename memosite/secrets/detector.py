"""Finds secrets in a text: what matches a rule, in it or in the texts within it, and is no placeholder."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from memosite.secrets.engine import ENCODED, Match, digest_rules, match_rules, read_rules
from memosite.secrets.layers import Layer, as_bytes, spaced, stack
from memosite.secrets.placeholders import is_placeholder

DEPTH = 3
"""How many layers there may be within a text, as base64 in a JSON text in base64."""

VERSION = 1
"""To be raised when other secrets are found by the same rules."""

GENERIC = "generic-"
"""How rules begin that know a secret by its surroundings; another rule on the same place says more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret in a text: its kind and where it is.

    `rule` is the stable name of the kind, such as `aws-access-key-id`; `start` and `end` are offsets of characters,
    start included, end excluded.
    """

    rule: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in a text, sorted and without overlaps.

    The place is that of the secret itself: the value, not its name; a whole block of a private key; a whole run of
    base64 that decodes to something with a secret; of a key that is wrapped or escaped, from its first to its last
    character.
    """
    return tuple(_merge(sorted(_find(text), key=lambda one: (one.start, -one.end, one.rule))))


def _find(text: str) -> Iterator[Secret]:
    layer: Layer | None = Layer(as_bytes(text))
    for _ in range(DEPTH + 1):
        if layer is None:
            return
        matches = {*match_rules(layer.data), *match_rules(spaced(layer.data))}
        yield from _secrets(matches, layer)
        layer = stack(layer, [(match.start, match.end) for match in matches if match.rule == ENCODED])


def _secrets(matches: Iterable[Match], layer: Layer) -> Iterator[Secret]:
    for match in matches:
        if match.rule == ENCODED:
            continue
        is_generic = match.rule.startswith(GENERIC)
        if is_placeholder(layer.data[match.start : match.end], is_generic=is_generic):
            continue
        place = layer.place(match.start, match.end)
        if place:
            yield Secret(rule=match.rule, start=place[0], end=place[1])


def _merge(found: Iterable[Secret]) -> Iterator[Secret]:
    """Join what overlaps, under the rule that says most: not a generic one, the longest, the first by name."""
    last: Secret | None = None
    best: Secret | None = None
    for one in found:
        if last is None or best is None or one.start >= last.end:
            if last:
                yield last
            last = best = one
            continue
        best = min(best, one, key=_rank)
        last = Secret(rule=best.rule, start=last.start, end=max(last.end, one.end))
    if last:
        yield last


def _rank(one: Secret) -> tuple[bool, int, str]:
    return one.rule.startswith(GENERIC), one.start - one.end, one.rule


class _Rules(Mapping[str, str]):
    """The rules, read when somebody asks for one."""

    def __getitem__(self, rule: str) -> str:
        return self._named()[rule]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named())

    def __len__(self) -> int:
        return len(self._named())

    @staticmethod
    @lru_cache(maxsize=1)
    def _named() -> Mapping[str, str]:
        return read_rules()


RULES: Mapping[str, str] = _Rules()
"""By rule, what people call the secret that it finds."""

DIGEST: str = digest_rules() + f"-{VERSION}"
"""What was found in a text stays true as long as this is the same."""
