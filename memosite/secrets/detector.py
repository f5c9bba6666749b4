"""Finds secrets in a text: what matches a rule, in it or in the texts within it, and is no placeholder.

The value of such a secret is one wherever else it stands in the text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from memosite.secrets.engine import ENCODED, GENERIC, MANY, WINDOW, Match, digest_rules, match_rules, ours, read_rules
from memosite.secrets.layers import Layer, as_bytes, end_of_word, spaced, stack
from memosite.secrets.placeholders import is_placeholder
from memosite.secrets.repeats import find_repeats

DEPTH = 3
"""How many layers there may be within a text, as base64 in a JSON text in base64."""

ROUNDS = 4
"""How often what is left is looked at again; the second time, nothing new is found but in the oddest texts."""

MOST = 1_000
"""So many secrets in a text are no accident: the rest of it counts as one, and is not matched. Thousands in each window
would take a hundred times as long."""

VERSION = 8
"""To be raised when other secrets are found by the same rules."""


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
    found: list[Secret] = []
    for _ in range(ROUNDS):
        more = list(_merge(_find(text)))
        if not more:
            break
        more = list(_merge((*more, *_repeats(text, more))))
        found += more
        text = _without(text, more)
    return tuple(_merge(found))


def _repeats(text: str, found: Iterable[Secret]) -> Iterator[Secret]:
    """Where else in the text a value stands that was found."""
    for rule, start, end in find_repeats(text, ((one.rule, one.start, one.end) for one in found)):
        yield Secret(rule=rule, start=start, end=end)


def _without(text: str, found: Iterable[Secret]) -> str:
    """The text with stars for what was found: what touched it may be told apart now."""
    parts, done = [], 0
    for one in found:
        parts += [text[done : one.start], "*" * (one.end - one.start)]
        done = one.end
    return "".join((*parts, text[done:]))


def _find(text: str) -> Iterator[Secret]:
    written = as_bytes(text)
    layer: Layer | None = Layer(written)
    for _ in range(DEPTH + 1):
        if layer is None:
            return
        matches = {*_matches(layer.data, layer.data), *_matches(spaced(layer.data), layer.data)}
        yield from _secrets(matches, layer, written)
        layer = stack(layer, [(match.start, match.end) for match in matches if match.rule == ENCODED])


def _matches(data: bytes, written: bytes) -> Iterator[Match]:
    """What rules match in `data`, and is no placeholder in it as `written`; from the `MOST`th on, all the rest."""
    found = 0
    for match in match_rules(data):
        if match.rule != ENCODED:
            if is_placeholder(written, match.start, match.end, rule=match.rule):
                continue
            found += 1
        yield match
        if found == MOST:  # matches come in the order of windows, and in any order within one
            yield Match(MANY, max(0, match.start - WINDOW), len(data))
            return


def _secrets(matches: Iterable[Match], layer: Layer, text: bytes) -> Iterator[Secret]:
    for match in matches:
        place = None if match.rule == ENCODED else layer.place(match.start, match.end)
        if place:
            start, end = place
            is_generic = match.rule.startswith(GENERIC)
            yield Secret(rule=match.rule, start=start, end=end if is_generic else end_of_word(text, end))


def _merge(found: Iterable[Secret]) -> Iterator[Secret]:
    """Join what overlaps, under the rule that says most: not a generic one, the longest, one of ours."""
    last: Secret | None = None
    best: Secret | None = None
    for one in sorted(found, key=lambda one: (one.start, -one.end, one.rule)):
        if last is None or best is None or one.start >= last.end:
            if last:
                yield last
            last = best = one
            continue
        best = min(best, one, key=_rank)
        last = Secret(rule=best.rule, start=last.start, end=max(last.end, one.end))
    if last:
        yield last


def _rank(one: Secret) -> tuple[bool, int, bool, str]:
    return one.rule.startswith(GENERIC), one.start - one.end, one.rule not in ours(), one.rule


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
