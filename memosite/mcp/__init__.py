"""The tools and resources that language models are offered, and the command that each tool is.

    request ─► tools / resources: the words of a command ─► answering: that command ─► its output

Each request runs a command as the command line does, which first looks whether its sources have changed: the server
itself knows nothing of the archive, and keeps nothing of it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

from memosite.agents import estimate
from memosite.agents.items import day_and_time, who_of
from memosite.archive.model import Archive
from memosite.commands.arguments import COMMANDS, Option
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.texts import counted, cut_line
from memosite.facts.times import asked_date
from memosite.facts.values import Value, replace

# The tools that models are offered: their descriptions, what they take, and the command that each of them is.


Arguments = Mapping[str, Any]


Type = Literal["string", "integer", "boolean", "array"]


_LONGEST: Final = 1_000
"""The most characters of an id, or of another text that an error may repeat."""


_PYTHON: Final[dict[Type, type]] = {"string": str, "integer": int, "boolean": bool, "array": list}


class Request(Value):
    """A command: its words, and what it is given on standard input.

    `budget` is what its answer is cut to, in tokens, if the command itself takes none; 0: nothing is cut.
    """

    words: tuple[str, ...]
    given: str = ""
    budget: int = 0


class Parameter(Value):
    """What a tool takes: the option of the command that it is; None if the tool itself knows what to do with it.

    With `is_given` the command reads the value from its standard input. With `is_budget` the server itself cuts the
    answer to it. `most` is how many characters a text may have that is not given so: an error repeats it.
    """

    name: str
    what: str
    option: Option | None = None
    is_required: bool = False
    is_given: bool = False
    is_budget: bool = False
    least: int = 0
    most: int = _LONGEST

    @property
    def type(self) -> Type:
        """The type of its value."""
        settings = self.option.settings if self.option else {}
        if settings.get("type") is int:
            return "integer"
        if settings.get("action") == "store_true":
            return "boolean"
        return "array" if settings.get("nargs") == "*" else "string"

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that it may have, if these are few."""
        return tuple(self.option.settings.get("choices", ())) if self.option else ()

    @property
    def schema(self) -> dict[str, object]:
        """As JSON Schema."""
        known: dict[str, object] = {"type": self.type, "description": self.what}
        known |= {"enum": list(self.choices)} if self.choices else {}
        known |= {"minimum": self.least} if self.type == "integer" else {}
        longest = {} if self.is_given or self.choices else {"maxLength": self.most}
        known |= longest if self.type == "string" else {}
        return known | ({"items": {"type": "string", **longest}} if self.type == "array" else {})

    def checked(self, value: object) -> Any:
        """The value, if it is as the schema has it. Raises `ConfigError`."""
        is_right = isinstance(value, _PYTHON[self.type]) and not (self.type == "integer" and isinstance(value, bool))
        if isinstance(value, list):
            is_right = is_right and all(isinstance(one, str) for one in value)
        if not is_right:
            raise ConfigError(f'"{self.name}": found {str(value)[:80]!r}, expected {_TYPES[self.type]}')
        texts = value if isinstance(value, list) else [value] if isinstance(value, str) and not self.is_given else []
        longest = max(map(len, texts), default=0)
        if longest > self.most:
            raise ConfigError(f'"{self.name}": found {longest:,} characters, expected {self.most:,} at most')
        if self.choices and value not in self.choices:
            raise ConfigError(f'"{self.name}": found {str(value)[:80]!r}, expected one of {", ".join(self.choices)}')
        if isinstance(value, int) and value < self.least:
            raise ConfigError(f'"{self.name}": found {value}, expected {self.least} or more')
        return value

    def words(self, value: Any) -> tuple[str, ...]:
        """The option with its value, as one word: whatever the value is, it is no further option.

        Nothing for an argument that is no option: the tool knows its place.
        """
        name = self.option.names[0] if self.option else ""
        if not name.startswith("-") or self.is_budget or value is False or value == "":
            return ()
        return (name,) if self.type == "boolean" else (f"{name}={'-' if self.is_given else value}",)


_TYPES: Final[dict[Type, str]] = {
    "string": "a text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list of texts",
}


class Tool(Value):
    """A tool. `command` gives the command for its arguments: the name, and words that are no options."""

    name: str
    title: str
    what: str
    command: Callable[[Arguments], tuple[str, ...]]
    parameters: tuple[Parameter, ...]

    @property
    def schema(self) -> dict[str, object]:
        """What it takes, as JSON Schema."""
        return {
            "type": "object",
            "properties": {parameter.name: parameter.schema for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.is_required],
            "additionalProperties": False,
        }

    def request(self, arguments: Arguments) -> Request:
        """The command for these arguments. Raises `ConfigError` if they are not as the schema has them."""
        known = {one.name: one for one in self.parameters}
        for name in arguments:
            if name not in known:
                raise ConfigError(f'{self.name}: found "{str(name)[:80]}", expected {", ".join(known)}')
        for parameter in self.parameters:
            if parameter.is_required and arguments.get(parameter.name) in (None, "", []):
                raise ConfigError(f'{self.name}: found no "{parameter.name}", expected {parameter.what}')
        values = {name: known[name].checked(value) for name, value in arguments.items() if value is not None}
        options = [word for name, value in values.items() for word in known[name].words(value)]
        given = "".join(values.get(one.name, "") for one in self.parameters if one.is_given)
        name, *named = self.command(values)
        words = (*options, *(("--", *named) if named else ()))
        if "--" in named or any(word.endswith("=--") for word in words):
            raise ConfigError(f'{self.name}: found "--", expected a text')
        budget = sum(values.get(one.name, 0) for one in self.parameters if one.is_budget)
        return Request(words=(name, *words), given=given, budget=budget)


def _by(name: str, *parameters: str) -> Callable[[Arguments], tuple[str, ...]]:
    """A command of this name, with these parameters as its words."""
    return lambda values: (name, *(values[one] for one in parameters if one in values))


def _since(values: Arguments) -> tuple[str, ...]:
    """The command for what is new between two days: anything but a day could be a file, or a commit."""
    for name in ("since", "until"):
        expected = "expected a day, such as 2026-05-31"
        if values.get(name) and asked_date(written := values[name][:80], of=f"{name}:", expected=expected) is None:
            raise ConfigError(f'{name}: found "{printable(written)}", {expected}')
    return "diff", f"{values['since']}..{values.get('until', '')}"


def _tool(
    name: str, title: str, what: str, command: Callable[[Arguments], tuple[str, ...]], *parameters: Parameter
) -> Tool:
    return Tool(name=name, title=title, what=what, command=command, parameters=parameters)


def _option(
    command: str, option: str, what: str = "", *, name: str = "", least: int = 0, most: int = _LONGEST
) -> Parameter:
    """An option of a command as a parameter of a tool, by default with the command's own name and text for it."""
    known = COMMANDS[command].option(option)
    return Parameter(
        name=name or option.strip("-"),
        what=what or known.help,
        option=known,
        is_required=known.settings.get("required", False),
        least=least,
        most=most,
    )


_POSITION = Parameter(
    name="position", is_required=True, what="a position, by any of its names or their beginning, such as director"
)


_FROM = _option("brief", "--from", "go on at this entry, as the answer that was cut says")


_BUDGET = _option("brief", "--budget", "the most to answer, in tokens; 0: everything")


_CUT_TO = replace(_BUDGET, what="the most to answer, in tokens (default: 4000); 0: everything", is_budget=True)


_AS_OF = _option(
    "brief",
    "--as-of",
    "what could be known at the end of this day, such as 2026-05-01, or at this commit (default: now)",
    name="as_of",
)


_NEW = "only what arrived since a day (2026-05-01), or after a commit or an item: the last one that you have read"


TOOLS: Final = (
    _tool(
        "brief",
        "Brief a position",
        "Start here when you take over a position, or if asked what a position is busy with, has to do or waits "
        "for, or which decisions concern it: its newest hand-off, unread memos, open actions to it and from it, new "
        "and standing decisions, its threads. The most important comes first.",
        _by("brief", "position"),
        _POSITION,
        _option("brief", "--only", "one section alone, with all its entries", name="section"),
        _FROM,
        _BUDGET,
        _AS_OF,
    ),
    _tool(
        "inbox",
        "Unread memos",
        "The memos that a position has not read, those that ask it to do something first. For all that it has to "
        "do, also in memos that it has read, use brief.",
        _by("inbox", "position"),
        _POSITION,
        _option("inbox", "--since", _NEW),
        _FROM,
        _BUDGET,
        _AS_OF,
    ),
    _tool(
        "show",
        "Read one item",
        "Read one memo, note, transcript, session, decision or record whose id you know: who wrote it to whom, its "
        "state, what it answers and what answers it, and its text. To find an id, use search.",
        _by("show", "id"),
        Parameter(
            name="id",
            is_required=True,
            what="an id or its beginning, such as 2026-05-01-1430; with #t12 or another anchor for a passage",
        ),
        _option("show", "--head", "only who, when, state and summary, no text"),
        _option("show", "--turns"),
        _option("show", "--from", "go on at this character of the text"),
        _BUDGET,
        _AS_OF,
    ),
    _tool(
        "thread",
        "Read a thread",
        "The memos of a thread in reading order, with who answered whom and the state of "
        "each action. By default a line and a summary for each memo.",
        _by("thread", "id"),
        Parameter(name="id", is_required=True, what="a thread, or one of its memos, by its id or its beginning"),
        _option("thread", "--since", _NEW),
        _option("thread", "--brief", "summaries and no texts (default: true)", name="summaries"),
        _FROM,
        _BUDGET,
        _AS_OF,
    ),
    _tool(
        "search",
        "Search everything",
        "Find items by words, people or dates when you do not know their ids: who decided or said something, when "
        "a word was first used, what is open. All words must be there. Fields narrow it: from:engineer to:director "
        "with:NAME kind:memo|note|transcript|record|document is:open is:unread after:2026-05-01 before:2w "
        "of sessions with agents: system:codex model:NAME branch:NAME file:src/x.py in:tools; "
        'thread:ID repo:NAME; "a phrase", prefix*, OR, NOT, parentheses. For the exact words of a quotation, use cite.',
        _by("search", "query"),
        Parameter(name="query", is_required=True, what='such as: from:engineer "tide tables" after:2w', most=4_000),
        _option("search", "--limit", least=1),
        _option("search", "--sort", "date: newest first; score: best first"),
        _CUT_TO,
        _AS_OF,
    ),
    _tool(
        "cite",
        "Cite a passage",
        "Make a citation that can be verified later, with the hash of the cited words: of a passage that you "
        "name, or of the passage that has the words of a quotation (so it also tells who said or wrote these words, "
        "and where). Use it whenever you quote the archive.",
        lambda values: ("cite", *values.get("references", ())),
        _option("cite", "references", "ids or their beginnings with an anchor, such as 2026-05-01-1430#t12"),
        _option("cite", "--quote", "the words to quote; alone: find where they are from", most=20_000),
        _option("cite", "--format", "how to write it (default: text)"),
        _CUT_TO,
    ),
    _tool(
        "verify",
        "Verify citations and quotations",
        "Check a text that quotes or cites the archive, such as your own report before you send it: whether each "
        "citation still holds, or, with quotations, whether the archive has the quoted words and who said them.",
        lambda _: ("verify", "-"),
        Parameter(name="text", is_given=True, is_required=True, what="the text itself, in Markdown or HTML"),
        _option(
            "verify",
            "--quotes",
            "check each quotation of 8 or more words, cited or not, instead of the citations",
            name="quotations",
        ),
        _CUT_TO,
    ),
    _tool(
        "new_since",
        "What is new since a day",
        "What has changed in the whole organization since a day, or between two days: new and removed items, "
        "memos that were read or archived, actions that were answered or closed. For one position, use brief. Where an "
        "answer says memosite diff A..B, call this tool with since A and until B.",
        _since,
        Parameter(name="since", is_required=True, what="the first day, such as 2026-05-01"),
        Parameter(name="until", what="the last day (default: now)"),
        _BUDGET,
    ),
    _tool(
        "reply",
        "Draft a memo",
        "Draft a reply to a memo, or a new memo if no id is given: a valid envelope with reference, thread and "
        "file name, and the paths where it has to be put. Nothing is written or sent: put the files there yourself.",
        lambda values: ("reply", values["id"]) if values.get("id") else ("new",),
        Parameter(name="id", what="the memo to reply to, by its id or its beginning; none: a new memo"),
        _option("reply", "--from", "the position that you write for"),
        _option(
            "reply",
            "--to",
            "positions with commas, all, or file for a note (default of a reply: the sender of the memo)",
        ),
        _option("reply", "--subject", "the subject (default of a reply: re: that of the memo)"),
        replace(_option("reply", "--body", "the text, in Markdown"), is_given=True),
        _option("reply", "--summary", "of a long text: one to three sentences for the envelope", most=20_000),
        _option("reply", "--action", "whether it asks to do something"),
        replace(_CUT_TO, what="the most to answer, in tokens (default: 20000); 0: everything"),
    ),
)
"""All tools, in the order in which they are listed."""


DEFAULTS: Final[Mapping[str, Arguments]] = {
    "thread": {"summaries": True},
    **{name: {"budget": 4_000} for name in ("search", "cite", "verify", "new_since")},
    "reply": {"budget": 20_000},  # a draft is of use as a whole
}
"""What tools are given unless they are told otherwise."""


def request_for(name: str, arguments: Arguments) -> Request:
    """The command that a tool is with these arguments. Raises `ConfigError`."""
    tool = next((one for one in TOOLS if one.name == name), None)
    if tool is None:
        raise ConfigError(f"{name[:80]}: found no such tool, expected one of {', '.join(one.name for one in TOOLS)}")
    return tool.request({**DEFAULTS.get(name, {}), **arguments})


def cut_answer(text: str, budget: int) -> tuple[str, str]:
    """An answer within a budget of tokens, and beside it the estimate and what is not shown; with 0 nothing is cut.

    Shown are its first paragraphs, else its first lines, and the last, which counts them.
    """
    if not budget or not text:
        return text, ""
    mark = "\n\n" if "\n\n" in text else "\n"
    *pieces, last = text.split(mark)
    last = last[: 2 * budget]  # one piece may be longer than any budget
    room = budget - estimate(last) - _NOTE
    shown = 0
    for piece in pieces:
        room -= estimate(piece[: 16 * budget]) + 1
        if room < 0:
            break
        shown += 1
    left = len(pieces) - shown
    kept = mark.join((*pieces[:shown], last))
    of = counted(left, "part" if len(mark) > 1 else "line", ",")
    whole = f"; {of} not shown; all of it about {len(text) // 3:,}: budget 0" if len(kept) < len(text) else ""
    return kept, f"[about {estimate(kept):,} tokens, estimated{whole}]"


_NOTE: Final = 40
"""Tokens that the note takes that says what is not shown."""


# The resources that models are offered: positions, threads, memos and transcripts, by addresses of their own.


PAGE: Final = 100
"""How many resources are listed at once."""


SCHEME: Final = "memosite://"


TEMPLATES: Final = {
    "position": ("What a position has to know and to do: its brief", ("brief",)),
    "thread": ("The memos of a thread in reading order, with their summaries", ("thread", "--brief")),
    "memo": ("A memo: who wrote it to whom, its state, its text", ("show",)),
    "transcript": ("A transcript or a session with an agent, turn by turn", ("show",)),
}
"""The kinds of resources, what each of them is, and the command that shows one."""
_ITEMS: Final = ("memo", "transcript")


class Listed(Value):
    """A resource in a list."""

    address: str
    title: str
    what: str


def listed(archive: Archive, cursor: str | None) -> tuple[Sequence[Listed], str | None]:
    """The resources after one, or from the beginning, and the last of them if there are more.

    Positions come first, then threads, memos and transcripts, the newest first. Raises `ConfigError` if the one is not
    there.
    """
    names = _names(archive)
    if cursor is not None and not any(address_of(*name) == cursor for name in names):
        raise ConfigError(
            f"{cursor[:200]}: found no such resource any more, expected a cursor of this list; begin anew"
        )
    page = list(islice(names, PAGE + 1))
    more = address_of(*page[PAGE - 1]) if len(page) > PAGE else None
    return [_listed(archive, *name) for name in page[:PAGE]], more


def _names(archive: Archive) -> Iterator[tuple[str, str]]:
    """The kinds and ids of all resources; no more than these is loaded of an archive that is kept."""
    yield from (("position", id_) for id_, one in archive.positions.items() if not one.union_of)
    yield from (("thread", id_) for id_ in reversed(tuple(archive.threads)))
    for of in _ITEMS:
        yield from ((kind, id_) for kind, id_ in reversed(tuple(archive.artifacts)) if kind == of)


def address_of(kind: str, id_: str) -> str:
    """The address of a resource."""
    return f"{SCHEME}{kind}/{quote(id_, safe='~')}"


def _listed(archive: Archive, kind: str, id_: str) -> Listed:
    address = address_of(kind, id_)
    if kind == "position":
        position = archive.positions[id_]
        return Listed(address=address, title=cut_line(position.name, 100), what=f"position {id_}")
    if kind == "thread":
        count = len(archive.threads[id_].entries)
        return Listed(address=address, title=archive.thread_label(id_), what=f"thread of {count}")
    item = archive.artifacts[("transcript", id_) if kind == "transcript" else ("memo", id_)]
    return Listed(address=address, title=item.short_subject, what=f"{kind}, {day_and_time(item.date)}, {who_of(item)}")


def request_of(address: str) -> Request:
    """The command that shows a resource. Raises `ConfigError`."""
    kind, _, id_ = address.removeprefix(SCHEME).partition("/")
    if not address.startswith(SCHEME) or kind not in TEMPLATES or not id_:
        forms = ", ".join(f"{SCHEME}{kind}/ID" for kind in TEMPLATES)
        raise ConfigError(f"{address[:200]}: found no such resource, expected one of {forms}")
    name = unquote(id_)
    if len(name) > _LONGEST:
        raise ConfigError(f"{address[:200]}: found {len(name):,} characters, expected {_LONGEST:,} at most")
    return Request(words=(*TEMPLATES[kind][1], "--", f"{kind}/{name}" if kind in _ITEMS else name))
