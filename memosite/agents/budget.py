"""Cuts an answer to a budget of tokens: the most important first, and everything that is cut is named.

The parts' titles come first, then entries by importance: the first few of each part, their texts, the next few. A
text is cut between paragraphs, lines or words. What is written then is estimated as a whole.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from memosite.agents.answer import Answer, Entry, Fitted, Part, ShownEntry, ShownPart
from memosite.agents.forms import Form
from memosite.agents.tokens import estimate
from memosite.facts.errors import ConfigError

_Unit = tuple[int, int]
"""An entry: the number of its part and its own, counted from 0."""

_LEAST_TEXT: Final = 30  # tokens: less than a line of a text says nothing
_LEAST_SHOWN: Final = 60  # characters of a text that is cut
_NOTICE: Final = 60  # tokens that the note on a text that is cut may take
_SHARE: Final = 3  # no text of a list takes more than this part of a budget
_MOST_CHARS: Final = 16  # of a text, for each token


def fit(answer: Answer, budget: int | None, form: Form) -> str:
    """An answer as it is written within a budget; all of it if that is None.

    Raises `ConfigError` if the budget has no room for the head and for what is not shown.
    """
    if budget is None:
        whole = _Choice({(at, one): entry.text() if entry.chars else None for at, one, entry in _numbered(answer)})
        return _written(answer, whole, answer.parts, None, form)
    parts = _parts_with_room(answer, budget, form)
    choice = _choose(answer, parts, budget, form)
    while True:
        text = _written(answer, choice, parts, budget, form)
        excess = estimate(text) - budget
        if excess <= 0:
            return text
        choice = choice.less(excess)


def _numbered(answer: Answer) -> Iterator[tuple[int, int, Entry]]:
    for at, part in enumerate(answer.parts):
        for one, entry in enumerate(part.entries):
            yield at, one, entry


def _parts_with_room(answer: Answer, budget: int, form: Form) -> tuple[Part, ...]:
    """The parts that have a title: as many, from the first one, as leave a quarter of the budget for entries.

    Those without entries make room first.
    """
    parts = answer.parts
    while True:
        least = estimate(_written(answer, _Choice({}), parts, budget, form))
        if least <= budget * 3 // 4 or (least <= budget and len(parts) == 1):
            return parts
        if not parts:
            if least > budget:
                raise ConfigError(f"--budget {budget}: the shortest answer has about {least} tokens; ask for more")
            return parts
        last = max((at for at, part in enumerate(parts) if not part.entries), default=len(parts) - 1)
        parts = parts[:last] + parts[last + 1 :]


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is shown: the entries by importance, each with as much of its text, None for none of it."""

    texts: Mapping[_Unit, str | None]
    order: tuple[_Unit, ...] = field(default=())

    def less(self, excess: int) -> "_Choice":
        """A little less than this: a shorter last text, or without it, or without the last entry."""
        texts, order = dict(self.texts), self.order
        last = order[-1]
        text = texts[last]
        if text is None:
            del texts[last]
        else:
            shorter = _cut_at(text, len(text) - 4 * excess)
            texts[last] = shorter if len(shorter) >= _LEAST_SHOWN else None
            if texts[last]:
                return _Choice(texts, order)
        return _Choice(texts, order[:-1])


def _choose(answer: Answer, parts: tuple[Part, ...], budget: int, form: Form) -> _Choice:
    """Entries by importance, as long as there is room."""
    room = budget - estimate(_written(answer, _Choice({}), parts, budget, form))
    texts: dict[_Unit, str | None] = {}
    order: list[_Unit] = []
    for unit, is_text in _by_importance(parts):
        part = parts[unit[0]]
        entry = part.entries[unit[1]]
        if not is_text:
            cost = form.entry_cost(entry) + _notice(part, entry)
            if cost > room:
                break
            texts[unit] = None
        elif entry.chars:
            room += _notice(part, entry)
            most = min(room, budget // _SHARE) if part.is_list else room
            text, cost = _text_for(entry, most, form)
            if not text:
                break
            texts[unit] = text
        else:
            continue
        order.append(unit)
        room -= cost
    for unit, shown in list(texts.items()):  # what the lists left: the texts that were cut first get more
        entry = parts[unit[0]].entries[unit[1]]
        if shown and len(shown) < entry.chars:
            longer, cost = _text_for(entry, room + form.text_cost(shown), form)
            if len(longer) > len(shown):
                room += form.text_cost(shown) - cost
                texts[unit] = longer
    return _Choice(texts, tuple(order))


def _notice(part: Part, entry: Entry) -> int:
    """What the note takes that the text of an entry is not shown; in a list, one note serves all."""
    return 0 if part.is_list or not entry.chars else _NOTICE


def _by_importance(parts: tuple[Part, ...]) -> Iterator[tuple[_Unit, bool]]:
    """Each entry, and again for its text, in rounds of each part's `step`."""
    queues = [[one for _, one in sorted((entry.rank, one) for one, entry in enumerate(part.entries))] for part in parts]
    begun = [0] * len(parts)
    while any(begin < len(queue) for begin, queue in zip(begun, queues, strict=True)):
        taken = [
            (at, one)
            for at, queue in enumerate(queues)
            for one in queue[begun[at] : begun[at] + parts[at].step]
        ]  # fmt: skip
        begun = [begin + part.step for begin, part in zip(begun, parts, strict=True)]
        yield from ((unit, False) for unit in taken)
        yield from ((unit, True) for unit in taken)


def _text_for(entry: Entry, room: int, form: Form) -> tuple[str, int]:
    """As much of a text as there is room for, and what that costs; "" if that is next to nothing."""
    whole = entry.text()
    if len(whole) <= _MOST_CHARS * room:
        cost = form.text_cost(whole)
        if cost <= room:
            return whole, cost
    room -= _NOTICE
    if room < _LEAST_TEXT:
        return "", 0
    low, high = 0, min(len(whole), _MOST_CHARS * room)
    while high - low > 4:
        middle = (low + high) // 2
        low, high = (middle, high) if form.text_cost(whole[:middle]) <= room else (low, middle)
    text = _cut_at(whole, low)
    return text, form.text_cost(text) + _NOTICE


def _cut_at(text: str, limit: int) -> str:
    """The beginning of a text, of at most so many characters, cut after a paragraph, a line or a word."""
    if limit <= 0:
        return ""
    if limit >= len(text):
        return text
    for mark in ("\n\n", "\n", " "):
        end = text.rfind(mark, 0, limit)
        if end > limit * 3 // 4:
            return text[: end + len(mark)]
    return text[:limit]


def _written(answer: Answer, choice: _Choice, parts: tuple[Part, ...], budget: int | None, form: Form) -> str:
    """The answer with what was chosen, and with the estimate of itself."""
    shown = tuple(_shown(at, part, choice) for at, part in enumerate(parts))
    dropped = tuple(part for part in answer.parts if part not in parts)
    fitted = Fitted(answer=answer, parts=shown, dropped=dropped, budget=budget)
    text = form.write(fitted)
    return form.write(replace(fitted, spent=estimate(text)))


def _shown(at: int, part: Part, choice: _Choice) -> ShownPart:
    entries = tuple(
        ShownEntry(entry=entry, number=part.first + one, text=choice.texts[at, one])
        for one, entry in enumerate(part.entries)
        if (at, one) in choice.texts
    )
    return ShownPart(part=part, entries=entries, gaps=tuple(_gaps(part, {entry.number for entry in entries})))


def _gaps(part: Part, shown: set[int]) -> Iterator[tuple[int, int]]:
    begin = None
    for number in range(part.first, part.first + len(part.entries) + 1):
        is_missing = number < part.first + len(part.entries) and number not in shown
        if is_missing and begin is None:
            begin = number
        elif not is_missing and begin is not None:
            yield begin, number - 1
            begin = None
