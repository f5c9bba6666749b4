"""Writes answers: as text for a session to read, or as one line of JSON. Both say the same.

In the text, everything that people have written is within a line of an entry, or indented by four spaces: nothing in
it can pass for a line of memosite's own.
"""

from collections.abc import Iterator
from typing import Any, Protocol

from memosite.agents.answer import Entry, Fitted, ShownEntry, ShownPart
from memosite.agents.tokens import estimate
from memosite.facts.characters import printable, printable_json

_INDENT = "\n    "


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
        named = [f"{one.title} ({one.total:,})" for one in fitted.dropped if one.total]
        empty = len(fitted.dropped) - len(named)
        named += [f"{empty} empty {'section' if empty == 1 else 'sections'}"] if empty else []
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
    if shown.part.is_list and shown.without_text:
        yield f"  [{shown.without_text:,} shown without their text: memosite show ID]"


def _gap_line(shown: ShownPart, gap: tuple[int, int]) -> str:
    return printable(f"  [{gap[1] - gap[0] + 1:,} not shown: {shown.more(gap)}]")


def _line(entry: Entry) -> str:
    return f"- {printable(entry.line)}"


def _block(text: str) -> str:
    return "    " + _INDENT.join(map(printable, text.replace("\t", "  ").split("\n")))


class JsonForm:
    """One JSON object on one line."""

    def write(self, fitted: Fitted) -> str:
        """The fields of the head, a list for each part, and in `not_shown` what is missing of the lists."""
        value: dict[str, Any] = {"v": 1, **fitted.answer.fields}
        for shown in fitted.parts:
            value[shown.part.name] = [_fields(one, is_list=shown.part.is_list) for one in shown.entries]
        value["not_shown"] = [
            {"part": shown.part.name, "entries": gap[1] - gap[0] + 1, "command": shown.more(gap)}
            for shown in fitted.parts
            for gap in shown.gaps
        ]
        value["not_shown"] += [{"part": one.name, "entries": len(one.entries)} for one in fitted.dropped]
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
