"""What a command for AI sessions answers, as values; cuts it to a budget of tokens, and writes it as text or JSON.

    Archive ─► brief / inbox / show / thread ─► Answer ─► fit(budget) ─► Fitted ─► text or JSON

All of it is values: who offers it (commands, a server) opens the archive and prints.

What has room is chosen in an order: the parts' titles, then entries by importance, the first few of each part, their
texts, the next few. A text is cut between paragraphs, lines or words. What is written then is estimated as a whole.

Every model cuts texts into tokens in its own way, so the estimate counts what all of them do: short words whole,
numbers by three digits, marks one by one, a space with the word that follows. Over prose, JSON, code and ids it is
between 10 % below and 25 % above what the tokenizers of two makers count.

In an answer that is text, everything that people have written is within a line of an entry, or indented by four
spaces: nothing in it can pass for a line of memosite's own.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from memosite.facts.characters import printable, printable_json
from memosite.facts.errors import ConfigError
from memosite.facts.patterns import regex
from memosite.facts.texts import beginning, counted
from memosite.facts.values import Value, replace

# What a command answers, as values: a head, then parts with entries, each with what comes first if not all fits.


Fields = Mapping[str, object]


class Entry(Value):
    """One entry of a part: a line for people, the same as fields for programs, and a text that may be cut.

    `text` is loaded when there is room for it; `chars` is its length, `begin` how many characters of the whole come
    before it; below 0, so many of its own come before the whole's. `more` is the command that shows the whole text; of
    a summary, the text that it is one of. `rank` orders entries by importance, the least first. `is_news`: it asks
    nothing, so its text is the first to be cut.
    """

    line: str
    fields: Fields
    text: Callable[[], str] = lambda: ""
    text_name: str = "text"
    chars: int = 0
    begin: int = 0
    more: str = ""
    is_summary: bool = False
    is_news: bool = False
    rank: int = 0


class Part(Value):
    """Entries under a title. `name` is its key in JSON, `more` the command that shows this part alone.

    `gap_command` shows the entries from a number on (default: `more` with `--from N`). `step` entries are as important
    as the first: of several parts, so many of each come before further ones of any. `empty` is said where there are
    none. The entries of a list stand for something that has more text; else the texts are what was asked for. `first`
    is the number of the first entry, counted from 1: those before were skipped. Texts of a part with `is_whole` have
    room before all else but the first lines of parts with `is_due`.
    """

    name: str
    title: str
    entries: tuple[Entry, ...]
    more: str
    step: int = 5
    empty: str = ""
    is_list: bool = True
    is_whole: bool = False
    is_due: bool = False
    first: int = 1
    gap_command: Callable[[int], str] | None = None

    @property
    def total(self) -> int:
        """How many entries there are, with those that were skipped."""
        return len(self.entries) + self.first - 1


class Answer(Value):
    """What a command answers: `lines` are the head for people, `fields` for programs.

    `command` answers the same again; `options` are those that each command takes in addition, to find the archive.
    """

    lines: tuple[str, ...]
    fields: Fields
    parts: tuple[Part, ...]
    command: str
    options: str = ""


class ShownEntry(Value):
    """An entry as far as there is room: `text` is None if none of its text is shown."""

    entry: Entry
    number: int
    text: str | None = None

    @property
    def left(self) -> int:
        """How many characters of the text are not shown."""
        return self.entry.chars - len(self.text or "")

    @property
    def more(self) -> str:
        """The command that shows the rest of the text."""
        shown = self.entry.begin + len(self.text or "")
        return f"{self.entry.more} --from {shown}" if shown > 0 and not self.entry.is_summary else self.entry.more


class ShownPart(Value):
    """A part as far as there is room: `entries` in their order, and `gaps`: spans of numbers that are not shown."""

    part: Part
    entries: tuple[ShownEntry, ...] = ()
    gaps: tuple[tuple[int, int], ...] = ()

    def more(self, gap: tuple[int, int]) -> str:
        """The command that shows a gap."""
        if gap[0] == 1:
            return self.part.more
        return self.part.gap_command(gap[0]) if self.part.gap_command else f"{self.part.more} --from {gap[0]}"


class Fitted(Value):
    """An answer as far as there is room. `dropped` are parts of which nothing is shown, not even the title.

    `budget` is None if there is none; `spent` is the estimate of what is shown, in tokens.
    """

    answer: Answer
    parts: tuple[ShownPart, ...]
    dropped: tuple[Part, ...] = ()
    budget: int | None = None
    spent: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether anything is not shown."""
        return bool(self.dropped) or any(
            part.gaps or any(entry.left > 0 for entry in part.entries) for part in self.parts
        )

    @property
    def more(self) -> str:
        """The command that shows everything."""
        return f"{self.answer.command} --budget 0"

    @property
    def needed(self) -> int:
        """About how many tokens the whole answer has; what is not shown by its characters, for texts are not loaded."""
        missing = [entry for part in self.dropped for entry in part.entries]
        for part in self.parts:
            for begin, end in part.gaps:
                missing += part.part.entries[begin - part.part.first : end + 1 - part.part.first]
        left = sum(entry.left for part in self.parts for entry in part.entries)
        return self.spent + left // 4 + sum(len(entry.line) // 3 + entry.chars // 4 + 2 for entry in missing)


# Estimates how many tokens a text costs a language model: the one estimate that all commands use.


_TOKEN: Final = regex(
    r"[A-Za-z]{1,8}|[0-9]{1,3}|\n\s*|[^\S\n]{2,}|(?P<mark>[!-/:-@\[-`{-~])(?P=mark){0,7}"
    r"|[\u0080-\u07ff]{1,2}|[^\x00-\u07ff]|[\x00-\x08\x0e-\x1b\x7f]"
)


def estimate(text: str) -> int:
    """About how many tokens a text has."""
    return len(_TOKEN.findall(text))


# Writes answers: as text for a session to read, or as one line of JSON. Both say the same.


class Form(Protocol):
    """A way of writing answers. The costs are in tokens, of what `write` adds for an entry or its text."""

    def write(self, fitted: Fitted) -> str:
        """The answer, without a line end."""

    def entry_cost(self, entry: Entry) -> int:
        """What an entry costs without its text."""

    def text_cost(self, text: str) -> int:
        """What a text costs."""


class TextForm:
    """Lines to read."""

    def write(self, fitted: Fitted) -> str:
        """The head, each part under its title, and in brackets what is not shown."""
        return "\n".join(_lines(fitted))

    def entry_cost(self, entry: Entry) -> int:
        """What the line costs."""
        return estimate(_line(entry)) + 1

    def text_cost(self, text: str) -> int:
        """What the indented text costs."""
        return estimate(_block(text)) + 1


def _lines(fitted: Fitted) -> Iterator[str]:
    yield from map(printable, fitted.answer.lines)
    for shown in fitted.parts:
        part = shown.part
        yield ""
        yield f"{printable(part.title)} ({part.total:,})" if part.is_list else printable(part.title)
        if not part.entries:
            yield f"  {part.empty}"
        yield from _part_lines(shown)
    yield ""
    if fitted.dropped:
        named = [f"{part.title} ({part.total:,})" for part in fitted.dropped if part.total]
        empty = len(fitted.dropped) - len(named)
        named += [counted(empty, "empty section")] if empty else []
        yield f"[not shown: {printable(', '.join(named))}]"
    whole = f"; all of it about {fitted.needed:,}: {fitted.more}" if fitted.is_cut else ""
    yield printable(f"[{fitted.spent:,} tokens, estimated{whole}]")
    if fitted.is_cut and fitted.answer.options:
        yield printable(f"[each command here takes {fitted.answer.options}]")


def _part_lines(shown: ShownPart) -> Iterator[str]:
    gaps = list(shown.gaps)
    for entry in shown.entries:
        while gaps and gaps[0][0] < entry.number:
            yield _gap_line(shown, gaps.pop(0))
        yield _line(entry.entry)
        if entry.text:
            yield _block(entry.text)
        if entry.left > 0 and (entry.text or not shown.part.is_list):
            of_what = " of the summary" if entry.entry.is_summary else ""
            yield printable(f"  [{entry.left:,} more characters{of_what}: {entry.more}]")
    for gap in gaps:
        yield _gap_line(shown, gap)
    without_text = sum(entry.text is None and entry.entry.chars > 0 for entry in shown.entries)
    if shown.part.is_list and without_text:
        yield f"  [{without_text:,} shown without their text: memosite show ID]"


def _gap_line(shown: ShownPart, gap: tuple[int, int]) -> str:
    return printable(f"  [{gap[1] - gap[0] + 1:,} not shown: {shown.more(gap)}]")


def _line(entry: Entry) -> str:
    return f"- {printable(entry.line)}"


def _block(text: str) -> str:
    return "\n".join(f"    {printable(line)}" for line in text.replace("\t", "  ").split("\n"))


class JsonForm:
    """One JSON object on one line."""

    def write(self, fitted: Fitted) -> str:
        """The fields of the head, a list for each part, and in `not_shown` what is missing of the lists."""
        value: dict[str, Any] = {"v": 1, **fitted.answer.fields}
        for shown in fitted.parts:
            value[shown.part.name] = [_fields(entry, is_list=shown.part.is_list) for entry in shown.entries]
        value["not_shown"] = [
            {"part": shown.part.name, "entries": gap[1] - gap[0] + 1, "command": shown.more(gap)}
            for shown in fitted.parts
            for gap in shown.gaps
        ]
        value["not_shown"] += [{"part": part.name, "entries": len(part.entries)} for part in fitted.dropped]
        tokens: dict[str, Any] = {"estimated": fitted.spent, "budget": fitted.budget}
        value["tokens"] = tokens | ({"all": fitted.needed, "command": fitted.more} if fitted.is_cut else {})
        if fitted.answer.options:
            value["options"] = fitted.answer.options
        return printable_json(value)

    def entry_cost(self, entry: Entry) -> int:
        """What the object costs."""
        return estimate(printable_json(dict(entry.fields))) + 2

    def text_cost(self, text: str) -> int:
        """What the text costs as a string with its name."""
        return estimate(printable_json(text)) + 5


def _fields(shown: ShownEntry, *, is_list: bool) -> dict[str, object]:
    entry = shown.entry
    found = dict(entry.fields)
    if shown.text is not None:
        found[entry.text_name] = shown.text
    if shown.left > 0:
        found |= {"characters_left": shown.left} | ({} if is_list and not shown.text else {"more": shown.more})
    return found


# Cuts an answer to a budget of tokens: the most important first, and everything that is cut is named.


_Unit = tuple[int, int]
"""An entry: the number of its part and its own, counted from 0."""


_LEAST_TEXT: Final = 30  # tokens: less than a line of a text says nothing


_LEAST_SHOWN: Final = 60  # characters of a text that is cut


_NOTICE: Final = 60  # tokens that the note on a text that is cut may take


_SHARE: Final = 3  # no text of a list takes more than this part of a budget


_NEWS_SHARE: Final = 12  # and none that asks nothing more than this, as long as others need room


_MOST_CHARS: Final = 16  # of a text, for each token


def fit(answer: Answer, budget: int | None, form: Form) -> str:
    """An answer as it is written within a budget; all of it if that is None.

    Raises `ConfigError` if the budget has no room for the head and for what is not shown.
    """
    if budget is None:
        whole = {
            (at, number): entry.text() if entry.chars else None
            for at, part in enumerate(answer.parts)
            for number, entry in enumerate(part.entries)
        }
        return _written(answer, _Choice(whole), answer.parts, None, form)
    parts = _parts_with_room(answer, budget, form)
    choice = _choose(answer, parts, budget, form)
    while True:
        text = _written(answer, choice, parts, budget, form)
        excess = estimate(text) - budget
        if excess <= 0:
            return text
        choice = choice.less(excess)


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


class _Choice(Value, kw_only=False):
    """What is shown: the entries by importance, each with as much of its text, None for none of it."""

    texts: Mapping[_Unit, str | None]
    order: tuple[_Unit, ...] = ()

    def less(self, excess: int) -> "_Choice":
        """A little less than this: a shorter last text, or without it, or without the last entry."""
        texts, order = dict(self.texts), self.order
        last = order[-1]
        text = texts[last]
        if text is None:
            del texts[last]
        else:
            shorter = beginning(text, len(text) - 4 * excess)
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
            share = budget // (_NEWS_SHARE if entry.is_news else _SHARE)
            most = min(room, share) if part.is_list and not part.is_whole else room
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
    """Each entry, and again for its text, in rounds of each part's `step`.

    Before them: the first entries of what is due, and with their texts those that are to be read whole.
    """
    rounds: dict[int, list[_Unit]] = {}
    for at, part in enumerate(parts):
        for place, (_, number) in enumerate(sorted((entry.rank, number) for number, entry in enumerate(part.entries))):
            rounds.setdefault(place // part.step, []).append((at, number))
    first = rounds.get(0, []) if any(part.is_whole for part in parts) else []
    whole = [unit for unit in first if parts[unit[0]].is_whole]
    lines = [*whole, *(unit for unit in first if parts[unit[0]].is_due)]
    yield from ((unit, False) for unit in lines)
    yield from ((unit, True) for unit in whole)
    for _, taken in sorted(rounds.items()):
        yield from ((unit, False) for unit in taken if unit not in lines)
        yield from ((unit, True) for unit in taken if unit not in whole)


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
    text = beginning(whole, low)
    return text, form.text_cost(text) + _NOTICE


def _written(answer: Answer, choice: _Choice, parts: tuple[Part, ...], budget: int | None, form: Form) -> str:
    """The answer with what was chosen, and with the estimate of itself."""
    shown = tuple(_shown(at, part, choice) for at, part in enumerate(parts))
    dropped = tuple(part for part in answer.parts if part not in parts)
    fitted = Fitted(answer=answer, parts=shown, dropped=dropped, budget=budget)
    return form.write(replace(fitted, spent=estimate(form.write(fitted))))


def _shown(at: int, part: Part, choice: _Choice) -> ShownPart:
    entries = tuple(
        ShownEntry(entry=entry, number=part.first + one, text=choice.texts[at, one])
        for one, entry in enumerate(part.entries)
        if (at, one) in choice.texts
    )
    return ShownPart(part=part, entries=entries, gaps=tuple(_gaps(part, {entry.number for entry in entries})))


def _gaps(part: Part, shown: set[int]) -> Iterator[tuple[int, int]]:
    begin = part.first
    for number in (*sorted(shown), part.total + 1):
        if begin < number:
            yield begin, number - 1
        begin = number + 1
