"""What a command answers, as values: a head, then parts with entries, each with what comes first if not all fits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Fields = Mapping[str, object]


def _no_text() -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a part: a line for people, the same as fields for programs, and a text that may be cut.

    `text` is loaded when there is room for it; `chars` is its length, `begin` how many characters of the whole come
    before it. `more` is the command that shows the whole text; of a summary, the text that it is one of. `rank` orders
    entries by importance, the least first.
    """

    line: str
    fields: Fields
    text: Callable[[], str] = _no_text
    text_name: str = "text"
    chars: int = 0
    begin: int = 0
    more: str = ""
    is_summary: bool = False
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Entries under a title. `name` is its key in JSON, `more` the command that shows this part alone.

    `gap_command` shows the entries from a number on (default: `more` with `--from N`). `step` entries are as important
    as the first: of several parts, so many of each come before further ones of any. `empty` is said where there are
    none. The entries of a list stand for something that has more text; else the texts are what was asked for. `first`
    is the number of the first entry, counted from 1: those before were skipped.
    """

    name: str
    title: str
    entries: tuple[Entry, ...]
    more: str
    step: int = 5
    empty: str = ""
    is_list: bool = True
    first: int = 1
    gap_command: Callable[[int], str] | None = None

    @property
    def total(self) -> int:
        """How many entries there are, with those that were skipped."""
        return len(self.entries) + self.first - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command answers: `lines` are the head for people, `fields` for programs.

    `command` answers the same again; `options` are those that each command takes in addition, to find the archive.
    """

    lines: tuple[str, ...]
    fields: Fields
    parts: tuple[Part, ...]
    command: str
    options: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEntry:
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
        return f"{self.entry.more} --from {shown}" if shown and not self.entry.is_summary else self.entry.more


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPart:
    """A part as far as there is room: `entries` in their order, and `gaps`: spans of numbers that are not shown."""

    part: Part
    entries: tuple[ShownEntry, ...] = ()
    gaps: tuple[tuple[int, int], ...] = ()

    @property
    def without_text(self) -> int:
        """How many entries are shown without any of their text."""
        return sum(entry.text is None and entry.entry.chars > 0 for entry in self.entries)

    def more(self, gap: tuple[int, int]) -> str:
        """The command that shows a gap."""
        if gap[0] == 1:
            return self.part.more
        return self.part.gap_command(gap[0]) if self.part.gap_command else f"{self.part.more} --from {gap[0]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
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
