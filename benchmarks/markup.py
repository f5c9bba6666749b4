"""Invents Markdown that has the markup of real memos, as often as they have it: README.md tells the figures."""

import json
import math
import random
from collections.abc import Callable
from itertools import accumulate

from benchmarks.words import Words

Mark = Callable[[list[str]], None]
"""Changes a word of a sentence, or some."""

Block = Callable[[], str]


class Prose:
    """Text of one random sequence. Sizes are in characters; texts end where they have at least that many."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.words = Words(rng)
        # How often each is in 10 kB: a sentence has two or three of them.
        marks: dict[Mark, float] = {
            self._comma: 50, self._code: 20, self._number: 20, self._possessive: 20, self._dash: 13, self._aside: 20,
            self._bold: 13, self._colon: 12, self._semicolon: 9, self._slash: 6, self._quotation_marks: 4,
            self._date: 3, self._arrow: 2, self._address: 1.4, self._path: 1.2, self._italic: 1.5, self._link: 1.7,
        }  # fmt: skip
        blocks: dict[Block, float] = {
            self.paragraph: 24, self._heading: 11.5, self._bullets: 4, self._numbered: 1.8, self._rule: 0.6,
            self._quotation: 0.7, self._pattern: 0.5, self._fence: 0.45, self._table: 0.45,
        }  # fmt: skip
        self._marks, self._mark_weights = list(marks), list(accumulate(marks.values()))
        self._blocks, self._block_weights = list(blocks), list(accumulate(blocks.values()))

    def title(self) -> str:
        """A subject or heading; some have a dash or colon in them."""
        words = self.words.some(3, 9)
        kind = self.rng.random()
        if kind < 0.3:
            words[len(words) // 2] += " —" if kind < 0.15 else ":"
        elif kind < 0.4:
            words.append(f"v0.{self.rng.randint(1, 20)}")
        return _sentence_case(words)

    def sentence(self) -> str:
        """A sentence, with none to five marks in it."""
        words = self.words.some(4, 25)
        for mark in self.rng.choices(self._marks, cum_weights=self._mark_weights, k=self.rng.randint(0, 5)):
            mark(words)
        return _sentence_case(words) + "."

    def paragraph(self) -> str:
        """A few sentences."""
        return " ".join(self.sentence() for _ in range(self.rng.randint(1, 4)))

    def remark(self, size: int) -> str:
        """Sentences alone."""
        text = self.sentence()
        while len(text) < size:
            text += " " + self.sentence()
        return text

    def markdown(self, size: int) -> str:
        """Paragraphs, headings, lists and all else; one text in six has the headings of a wiki."""
        heading = self._wiki_heading if self.rng.random() < 0.16 else self._heading
        blocks = [self.paragraph()]
        size -= len(blocks[0])
        while size > 0:
            (make,) = self.rng.choices(self._blocks, cum_weights=self._block_weights)
            blocks.append(heading() if make == self._heading else make())
            size -= len(blocks[-1]) + 2
        return "\n\n".join(blocks) + "\n"

    # Marks

    def _append(self, words: list[str], what: str) -> None:
        """Put punctuation behind a word that has none yet; the last has its full stop."""
        place = self.rng.randrange(len(words))
        if place + 1 < len(words) and words[place].isalpha():
            words[place] += what

    def _replace(self, words: list[str], what: str) -> None:
        words[self.rng.randrange(len(words))] = what

    def _wrap(self, words: list[str], sign: str) -> None:
        """Put signs around one to seven plain words."""
        begin = self.rng.randrange(len(words))
        phrase = " ".join(words[begin : begin + self.rng.randint(1, 7)])
        if phrase.replace(" ", "").isalpha():
            words[begin : begin + phrase.count(" ") + 1] = [f"{sign}{phrase}{sign}"]

    def _comma(self, words: list[str]) -> None:
        self._append(words, ",")

    def _colon(self, words: list[str]) -> None:
        self._append(words, ":")

    def _semicolon(self, words: list[str]) -> None:
        self._append(words, ";")

    def _dash(self, words: list[str]) -> None:
        self._append(words, " —")

    def _arrow(self, words: list[str]) -> None:
        self._append(words, " →")

    def _possessive(self, words: list[str]) -> None:
        self._append(words, "'s")

    def _slash(self, words: list[str]) -> None:
        self._append(words, f"/{self.words.one()}")

    def _number(self, words: list[str]) -> None:
        number = self.rng.randint(2, 400)
        self._replace(
            words, self.rng.choice((f"{number}", f"{number}", f"{number} %", f"v0.{number % 20}.{number % 7}"))
        )

    def _date(self, words: list[str]) -> None:
        self._replace(words, f"2025-{self.rng.randint(1, 12):02}-{self.rng.randint(1, 28):02}")

    def _code(self, words: list[str]) -> None:
        self._replace(words, f"`{self._quoted()}`")

    def _bold(self, words: list[str]) -> None:
        self._wrap(words, "**")

    def _italic(self, words: list[str]) -> None:
        self._wrap(words, "*")

    def _quotation_marks(self, words: list[str]) -> None:
        self._wrap(words, '"')

    def _aside(self, words: list[str]) -> None:
        words[-1] += f" ({self.words.phrase(1, 6)})"

    def _link(self, words: list[str]) -> None:
        self._replace(words, f"[{self.words.phrase(1, 3)}]({self.words.address()})")

    def _address(self, words: list[str]) -> None:
        self._replace(words, self.words.address())

    def _path(self, words: list[str]) -> None:
        self._replace(words, self.words.path())

    def _quoted(self) -> str:
        """What memos put into code spans: names, paths, fields, calls, placeholders, options, commits."""
        kind = self.rng.random()
        if kind < 0.11:
            return self.words.path()
        name = self.words.identifier()
        if kind < 0.34:
            return f"{name}: {self.words.one()}"
        if kind < 0.42:
            return f"x.{name.replace('_', '.')}"
        if kind < 0.50:
            return f"<{name.replace('_', '-')}>--<{self.words.one()}>.openthing"
        if kind < 0.56:
            return f"--{name.replace('_', '-')}"
        if kind < 0.60:
            return self.words.commit()
        return f"{name}()" if kind < 0.70 else name

    # Blocks

    def _heading(self) -> str:
        level = self.rng.choice(("#", "##", "##", "##", "##", "##", "##", "###"))
        before = self.rng.choice(("", "", "", "", "", "1. ", "§ ", "✅ "))
        return f"{level} {before}{self.title()}"

    def _wiki_heading(self) -> str:
        return f"== {self.title()} =="

    def _item(self) -> str:
        """An item of a list; nearly half begin with what they are about."""
        lead = self.words.phrase(2, 6).capitalize() if self.rng.random() < 0.42 else ""
        return (f"**{lead}** — " if lead else "") + " ".join(self.sentence() for _ in range(self.rng.randint(1, 2)))

    def _bullets(self) -> str:
        """A list; some of its items lie within others, and some lists follow a line without a blank one."""
        lines = [f"{'  ' if place % 5 == 3 else ''}- {self._item()}" for place in range(self.rng.randint(2, 5))]
        return "\n".join([f"{self.title()}:", *lines] if self.rng.random() < 0.1 else lines)

    def _numbered(self) -> str:
        return "\n".join(f"{place}. {self._item()}" for place in range(1, self.rng.randint(3, 6)))

    def _quotation(self) -> str:
        return "\n".join(f"> {self.sentence()}" for _ in range(self.rng.randint(1, 4)))

    def _pattern(self) -> str:
        """Placeholders that nobody put into a code span: HTML to a parser, and text to whoever wrote them."""
        names = (self.words.identifier().replace("_", "-") for _ in range(self.rng.randint(3, 5)))
        return f"{self.title()}: {'--'.join(f'<{name}>' for name in names)}"

    def _rule(self) -> str:
        return "---"

    def _table(self) -> str:
        rows = (f"| `{self.words.identifier()}` | {self.words.phrase(1, 5)} | {self.words.one()} |" for _ in range(3))
        return "\n".join(("| What | Where | State |", "|---|---|---|", *rows))

    def _fence(self) -> str:
        """Code: JSON, or without a language, in 85 of 100."""
        language = self.rng.choices(("json", "", "bash", "python", "yaml", "diff"), (42, 43, 7, 3, 3, 2))[0]
        if language == "json":
            made = {self.words.identifier(): self.words.phrase(1, 8) for _ in range(self.rng.randint(2, 9))}
            return f"```json\n{json.dumps(made, indent=2)}\n```"
        lines = (self._line(language) for _ in range(self.rng.randint(1, 10)))
        return "\n".join((f"```{language}", *lines, "```"))

    def _line(self, language: str) -> str:
        name, word = self.words.identifier(), self.words.one()
        return {
            "bash": f"{word} --{name.replace('_', '-')} {self.words.path()} | sort",
            "python": f"{name} = {word}({self.words.one()!r})  # {self.words.phrase(1, 5)}",
            "yaml": f"{name}: [{word}, {self.words.one()}]",
            "diff": f"{self.rng.choice('+- ')}{name} {word}",
        }.get(language, f"{self.words.path()}    {self.words.phrase(1, 6)}")


def length(rng: random.Random, *, median: int, spread: float, most: int) -> int:
    """The length of a text: half of all are shorter than the median, some many times longer."""
    return min(most, int(median * math.exp(rng.gauss(0, spread))))


def _sentence_case(words: list[str]) -> str:
    """The words as a sentence begins; names, paths and addresses stay as they are."""
    if words[0].rstrip(",;:—→ ").isalpha():
        words[0] = words[0].capitalize()
    return " ".join(words)
