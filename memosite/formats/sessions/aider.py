"""Reads aider's chat history: one Markdown file with a session for each run (SPEC 2.2, aider).

    lines ─► marks (starts of runs, `#### ` a person, `> ` aider itself) ─► runs ─► turns

aider ends each line that it marks with two blanks, except those within one of its own messages: only the first line of
such a message has a mark, and only the last one the blanks. So a model's `#### Heading` is no person's, and an error
that goes on over fifty lines is aider's. Formatters take the blanks away; then the mark alone decides.
"""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from memosite.facts.patterns import regex
from memosite.facts.phrases import phrase
from memosite.facts.values import Struct, field, replace
from memosite.formats.sessions.building import Conversation, Draft, Place, paths
from memosite.formats.sessions.marked import count_of, read_marked, thought, words_of
from memosite.formats.sessions.model import HARNESS, PERSON, Part, Problem, Session, TurnKind, cut
from memosite.formats.turns import Mark, fence_of, is_blank, outside_fences, trimmed

_RUN = regex(r"# aider chat started at ([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})[ \t\r]*")
_APPLIED = regex(r"Applied edit to (\S.*)")
_COMMIT = regex(r"Commit ([0-9a-f]{7,40})(?: .*)?")
_RUNNING = regex(r"Running (\S.*)")
_MODEL = regex(r"(?:Main model|Model): (\S{1,200})(?: .*)?")
_VERSION = regex(r"Aider v(\S{1,60})")
_FOLDER = regex(r"Git working dir: (\S.{0,1000})")
_COMMAND = ("/", "!")
_ASKING = regex(r"/(?:ask|code|architect)\s+(?=\S)")
_WATCHING = (
    'Find the "AI" comments below (marked with █)',
    "I've written your instructions in comments in the code and marked them",
)
"""How the prompts begin that aider writes itself where a person asked in a comment in the code."""
_SNIFFED_BYTES = 2**16
_BLANKS = "  "
_AGENT: Final = "aider"

_Kind: TypeAlias = Literal["run", "head", "tool"]


class _Marked(NamedTuple):
    """A line that aider marked: what it is, and the line behind it, or behind the last one of a message."""

    kind: _Kind
    end: int


class _Run(Struct, kw_only=True, eq=False):
    """A run while it is read: what aider prints is collected until something else follows."""

    talk: Conversation = field(default_factory=lambda: Conversation(_AGENT))
    printed: list[str] = field(default_factory=list)
    printed_at: int = 0
    model: str = ""
    version: str = ""
    folder: str = ""
    answer: str = ""
    asked: str = ""  # what is behind a command that asks: aider writes it again
    asked_manual: bool = False

    def flush(self) -> None:
        if self.printed:
            text, more = cut("\n".join(self.printed))
            part = Part(kind="context", line=self.printed_at + 1, name=_AGENT, text=text, more=more)
            self.talk.aside(part)
            self.printed = []


def matches(data: bytes) -> bool:
    """Whether this is a chat history of aider, by its beginning."""
    lines, _ = read_marked(data[:_SNIFFED_BYTES])
    found = [(number, None if _started(line) else fence_of(line)) for number, line in enumerate(lines)]
    marks = [mark for mark in found if mark[1] is not None or _started(lines[mark[0]])]
    return next(outside_fences(marks), None) is not None


def read(data: bytes, *, name: str = "") -> tuple[Session, ...]:  # noqa: ARG001 - all forms are asked alike
    """The runs of a chat history, in order; one without a turn is no artifact (SPEC 2.2, sessions).

    What is to be told of the whole file is told of the first run.

    Keys are the time of the start, as in a name: `2025-06-02T11-49-34`, then `…-2`. Who knows the source adds that.
    """
    lines, problems = read_marked(data)
    marked = _marked(lines)
    starts = [number for number, mark in marked.items() if mark.kind == "run"]
    if starts and any(not is_blank(line) for line in lines[: starts[0]]):
        message = "what is before the first run is not shown"
        problems.append(Problem(rule="session-form", line=1, message=message))
    for start in starts[:1]:
        message = "the runs of this chat begin at local times without a zone"
        problems.append(Problem(rule="session-time", line=start + 1, message=message))
    seen: Counter[str] = Counter()
    sessions: list[Session] = []
    for start, end in pairwise((*starts, len(lines))):
        written = _RUN.fullmatch(lines[start])
        stamp = written[1] if written else ""
        key = stamp.replace(" ", "T").replace(":", "-")
        seen[key] += 1
        session = _session(lines, start, end, marked)
        if not sessions:
            session = replace(session, problems=(*problems, *session.problems))
        key = key if seen[key] == 1 else f"{key}-{seen[key]}"
        sessions.append(replace(session, key=key, start=_started(lines[start]), start_text=stamp))
    return tuple(sessions)


def _started(line: str) -> dt.datetime | None:
    """The local time of a line that begins a run, None if it is none."""
    if match := _RUN.fullmatch(line):
        with suppress(ValueError):  # 2025-13-45
            return dt.datetime.fromisoformat(match[1])
    return None


def _is_head(line: str) -> bool:
    return line.startswith("#### ") or line == "####"


def _is_quote(line: str) -> bool:
    return line.startswith("> ") or line == ">"


def _marked(lines: Sequence[str]) -> dict[int, _Marked]:
    """The lines that aider marked, in order, outside of fenced code of the model's."""
    message_ends = _message_ends(lines)
    found: dict[int, _Marked] = {}
    marks: list[Mark] = []
    is_raw = is_header = is_close = False  # two blanks were seen at a head; before any words of the run; behind a mark
    number = 0
    while number < len(lines):
        line, end = lines[number], number + 1
        kind: _Kind | None = None
        if _started(line):
            kind, is_header = "run", True
        elif _is_head(line) and (not is_raw or line.endswith(_BLANKS)):
            kind, is_header, is_raw = "head", False, is_raw or line.endswith(_BLANKS)
        elif _is_quote(line):
            kind = "tool"
            if not line.endswith(_BLANKS):
                end = _header_end(lines, number, is_raw=is_raw) if is_header else message_ends[number]
                if end == number + 1 and is_raw and not is_close:
                    kind = None  # a quote in an answer
        if kind is not None:
            found[number] = _Marked(kind, end)
            marks.append((number, None))
        elif not is_blank(line):
            is_header = False
            if fence := fence_of(line):
                marks.append((number, fence))
        is_close = kind is not None
        number = end
    return {number: found[number] for number in outside_fences(marks)}


def _header_end(lines: Sequence[str], start: int, *, is_raw: bool) -> int:
    """The line behind a message before the first words of a run: the command line, with all of its `--message`."""
    end, has_text = start + 1, False
    for number in range(start + 1, len(lines)):
        line = lines[number]
        is_head = _is_head(line) and (line.endswith(_BLANKS) or not (is_raw or has_text))
        if is_head or _is_quote(line) or _started(line):
            break
        if not is_blank(line):
            end, has_text = number + 1, True
    return end


def _message_ends(lines: Sequence[str]) -> list[int]:
    """For each line the line behind the message that begins there: the next one if it does not go on.

    It goes on if a line with two blanks at its end, behind which a paragraph ends, is before the next marked line that
    has them.
    """
    ends = [0] * len(lines)
    following: int | None = None
    for number in range(len(lines) - 1, -1, -1):
        ends[number] = following if following is not None else number + 1
        line = lines[number]
        if line.endswith(_BLANKS) or _started(line):
            after = lines[number + 1] if number + 1 < len(lines) else ""
            if _is_head(line) or _is_quote(line) or _started(line):
                following = None
            elif not is_blank(line) and (is_blank(after) or _is_head(after) or _is_quote(after)):
                following = number + 1
    return ends


def _session(lines: Sequence[str], start: int, end: int, marked: dict[int, _Marked]) -> Session:
    """The run of these lines, without its key and its time."""
    run = _Run()
    problems: list[Problem] = []
    number = start + 1
    while number < end and not run.talk.is_full(number + 1, problems):
        mark = marked.get(number)
        if mark is None:
            following = number
            while following < end and following not in marked:
                following += 1
            _answer(run, lines, number, following)
            number = following
        elif mark.kind == "tool":
            _printed(run, lines, number, mark.end)
            number = mark.end
        else:
            following = _block_end(lines, number, end, marked)
            _typed(run, lines, number, following)
            number = following
    run.talk.is_full(end, problems)
    run.flush()
    session = Session(
        system=_AGENT,
        key="",
        is_utc=False,
        version=run.version,
        folder=run.folder,
        attribution=phrase("Speakers are as the file marks them. Text from a script or a pasted file looks typed."),
        first_line=start + 1,
        last_line=min(end, count_of(lines)),
    )
    return run.talk.session(session, tuple(problems))


def _block_end(lines: Sequence[str], start: int, end: int, marked: dict[int, _Marked]) -> int:
    """The line behind what was typed at once: lines that follow each other, or that a formatter parted by one blank."""
    last = start
    is_whole = _is_whole(lines[start])
    while last + 1 < end:
        step = 1
        if is_blank(lines[last + 1]) and not is_whole and last + 2 < end and not _is_whole(lines[last + 2]):
            step = 2
        mark = marked.get(last + step)
        if mark is None or mark.kind != "head":
            break
        last += step
    return last + 1


def _is_whole(line: str) -> bool:
    """Whether what is typed on this line is a turn of its own: a command, nothing, or an answer to aider."""
    return line.startswith(("#### /", "#### !")) or line.rstrip() == "#### <blank>" or _is_confirmed(line)


def _is_confirmed(line: str) -> bool:
    _, choice, rest = line.partition("(Y)es/(N)o")
    return bool(choice) and ": " in rest


def _typed(run: _Run, lines: Sequence[str], start: int, end: int) -> None:
    """What has a person's mark: a person's words, unless it is a command, or aider wrote it."""
    run.flush()
    text = trimmed([line.removeprefix("#### ").removesuffix(_BLANKS) for line in lines[start:end]])
    if not text:
        return
    kind: TurnKind = "system" if _is_of_program(run, text) else "person"
    run.asked_manual = text.startswith("/help ")
    asking = _ASKING.match(text)
    run.asked = _bare(text[asking.end() :]) if asking else ""
    place = Place(line=start + 1, last_line=start + 1 + text.count("\n"))
    run.talk.say(Draft(kind=kind, speaker=PERSON if kind == "person" else HARNESS, place=place, text=text))


def _is_of_program(run: _Run, text: str) -> bool:
    """Whether nobody said this text: commands, answers to questions of aider's, and what aider asks in its own name.

    It asks so with its manual, when it watches comments, when its architect hands its answer on to its editor, and when
    it says again what was asked with a command.
    """
    if text.startswith(_COMMAND):
        return not _ASKING.match(text)
    return (
        run.asked_manual
        or text == "<blank>"
        or ("\n" not in text and _is_confirmed(text))
        or text.startswith(_WATCHING)
        or _bare(text) in (run.answer, run.asked)
    )


def _bare(text: str) -> str:
    """A text without what handing it on changes: blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def _printed(run: _Run, lines: Sequence[str], start: int, end: int) -> None:
    """A message of aider's: a call of one of its tools, else words that are kept until something else follows."""
    first = lines[start].removeprefix(">").removeprefix(" ")
    said = [line.removesuffix(_BLANKS) for line in (first, *lines[start + 1 : end])]
    line = said[0].strip()
    if match := _MODEL.fullmatch(line):
        run.model = match[1]
    elif match := _VERSION.fullmatch(line):
        run.version = match[1]
    elif match := _FOLDER.fullmatch(line):
        run.folder = match[1]
    if match := _APPLIED.fullmatch(line):
        wrote = paths([match[1].replace("\\", "/")])
        part = Part(kind="tool", line=start + 1, name="edit", text=match[1], result="", wrote=wrote)
    elif match := _COMMIT.fullmatch(line):
        part = Part(kind="tool", line=start + 1, name="commit", text=line[7:], result="", commits=(match[1],))
    elif match := _RUNNING.fullmatch(line):
        part = Part(kind="tool", line=start + 1, name="run", text=match[1], result="")
    else:
        run.printed_at = run.printed_at if run.printed else start
        run.printed += said
        return
    run.flush()
    run.talk.call(part, Place(line=start + 1), model=run.model)


def _answer(run: _Run, lines: Sequence[str], start: int, end: int) -> None:
    """What nobody marked: an answer of the model, with the thinking before it."""
    if thinking := thought(lines, start, end):
        run.flush()
        start = thinking.end
        if thinking.text:
            run.talk.think(thinking.text, Place(line=thinking.line), model=run.model)
    while start < end and is_blank(lines[start]):
        start += 1
    words = words_of(lines, start, end)
    if words.text:
        run.flush()
        place = Place(line=words.line, last_line=words.last_line)
        run.talk.answer(words.text, place, model=run.model)
        run.answer, run.asked, run.asked_manual = _bare(words.text), "", False
