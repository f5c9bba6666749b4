"""Finds the quotations of a manuscript, and appraises them by the sources: the words, and who said them (SPEC 7).

    blocks ─► block quotes ─────────────────────────► words, line, lead-in ─► speaker
           └► paragraphs ─► pairs of marks “ ” " " « » „ “ ‘ ’ <q> ─► sentence ─┘

Where it is open how far a quotation reaches, the longest is taken: what is checked is never less than what is quoted.

    quotation ─► candidates (`index`), oldest first ─► best tier ─► whose passage it is in ─► the speaker that is named

A quote is not its own witness: words that a passage only carries (tool output, pasted text, block quotes) are
*quoted in* it, and never prove who said them.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from operator import attrgetter
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from memosite.facts.patterns import regex
from memosite.facts.values import Value, replace
from memosite.quotes.blocks import (
    CITED,
    CLOSE,
    OPEN,
    WORDS,
    Block,
    bare,
    doubtful_marks,
    quoted_spans,
    without_marks_in_code,
)
from memosite.quotes.citations import is_source, named_in
from memosite.quotes.judge import judge, negates
from memosite.quotes.source import Source, Span, Tier, Verdict, beside, word_count

# Finds the quotations of a manuscript, with their lines, and whom the sentence around each names (SPEC 7).


LEAST: Final = 8
"""The least words of a quotation that is checked."""


_SENTENCE_END = regex(r"[.!?…][\"”’»)\]]*\s+(?=[^a-z\s])")


_ATTRIBUTION = regex(r"\s*(?:—|–|--|―)\s*\S")


_LINKED = regex(r"\s*[(<\[]*(?:https?://|[^\[\]\n]{1,300}\]\()")


_LINK_BEHIND = regex(r"[”\"’»)*_\s]{0,9}(?:[(<]*https?://|[(\[]{0,2}\[[^\[\]\n]{1,300}\]\()[^\s\"]{1,2000}")


_ADDRESS = regex(r"https?://[^\s<>\"]+|\d{4}-\d\d-\d\d-\d{4}--[\w.-]+", re.ASCII)


_TRAILING = ",;.:"


_REACH: Final = 2_000
"""The characters before and behind a quotation in which its sentence is looked for: else long texts take for ever."""


_SAYING = (
    r"(?:said|says|say|wrote|writes|write|replied|replies|answered|answers|noted|notes|argued|argues|added|adds"
    r"|stated|states|told|tells|asked|asks|reported|reports|explained|explains|put it|warned|insisted|concluded"
    r"|observed|remarked|declared|continued|recalled|admitted|announced)"
)


_INVERTED = (
    r"(?:said|says|wrote|writes|replied|answered|noted|argued|added|stated|explained|according to|in the words of|by)"
)


class Quotation(Value):
    """Words that a manuscript quotes, and what is around them.

    `context` is the sentence without the quotation, of a block quote what leads to it and what is below it.
    `speakers` are the positions that may be meant by it: one if it is clear, several if the sentence names more.
    `unread` says why nobody knows what readers see of the words.
    """

    text: str
    line: int
    is_block: bool
    context: str
    links: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    unread: str = ""


def find_quotations(blocks: Iterable[Block], *, positions: Collection[str]) -> tuple[Quotation, ...]:
    """The quotations that are checked, in their order. `positions` are the names that a speaker may have."""
    names = Names(positions)
    checked = (found for found in _all_quotations(list(blocks)) if word_count(found.text) >= LEAST)
    return tuple(replace(quotation, speakers=names.speakers(quotation.context)) for quotation in checked)


def _all_quotations(blocks: Sequence[Block]) -> Iterator[Quotation]:
    sources = {block.figure: block for block in blocks if block.figure and is_source(block)}
    for number, block in enumerate(blocks):
        if block.figure and sources.get(block.figure) is block:
            continue
        before = blocks[number - 1] if number else None
        after = blocks[number + 1] if number + 1 < len(blocks) else None
        if block.is_quote:
            yield _block_quotation(block, before, sources.get(block.figure) or after)
        else:
            yield from _inline_quotations(block)


def _block_quotation(block: Block, before: Block | None, after: Block | None) -> Quotation:
    """A block quote, without the line at its end that says where it is from."""
    rows = block.text.rstrip().split("\n")
    below = ""
    for number in range(len(rows) - 1, max(len(rows) - 4, 0), -1):
        if _ATTRIBUTION.match(rows[number]):
            below = " ".join(rows[number:])
            rows = rows[:number]
            break
    lead = before.text.rstrip() if before and not before.is_quote else ""
    lead = lead[_sentence_start(lead, len(lead)) :] if lead.endswith((":", ",", "—", "–")) else ""
    after = None if after and after.is_quote and not is_source(after) else after
    if after and not below and (_ATTRIBUTION.match(after.text) or _LINKED.match(after.text) or after.links):
        below = after.text
    beside = after.links if after else ()
    links = tuple(dict.fromkeys((*block.links, *beside, *named_in(below))))
    text = "\n".join(rows).strip().strip(OPEN + CLOSE)
    line = block.line_of(len(block.text) - len(block.text.lstrip()))
    context = f"{lead}\n{below}".strip()
    return Quotation(text=bare(text), line=line, is_block=True, context=context, links=links, unread=block.unread)


def _inline_quotations(block: Block) -> Iterator[Quotation]:
    text = without_marks_in_code(block.text)
    spans = [*quoted_spans(text)]
    doubted = [(*pair, True) for pair in _doubted(text, spans)]
    for begin, start, end, is_doubted in sorted([*((*span, False) for span in spans), *doubted]):
        quote = block.text[start:end].replace(OPEN, "“").replace(CLOSE, "”").strip().rstrip(_TRAILING)
        first, last = _sentence(text, begin, end)
        context = f"{text[first:begin]} … {text[end + 1 : last]}"
        line = block.line_of(start + len(text[start:end]) - len(text[start:end].lstrip()))
        behind = _LINK_BEHIND.match(text, end + 1)
        links = (*block.links, *named_in(context), *(named_in(behind[0]) if behind else ()))
        unread = block.unread or (_DOUBTED.format(text[begin]) if is_doubted else "")
        yield Quotation(text=quote, line=line, is_block=False, context=context.strip(), links=links, unread=unread)


_DOUBTED: Final = "{} may be a quotation mark, and what it quotes is not clear"


def _doubted(text: str, spans: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """What may be quotations, between two marks that were not read as such."""
    marks = [*doubtful_marks(text, spans)]
    for mark, end in pairwise(marks):
        before, after = beside(text, mark, mark + 1)
        if after.isalnum() or not before.isalnum():
            yield mark, mark + 1, end


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence that a quotation is in: to its end, or on if the sentence goes on behind it."""
    ends_itself = text[end - 1 : end] in tuple(".!?…") and not re.match(
        r".?[”\"’»]*[\s,—–-]+[a-z(]", text[end : end + 9]
    )
    if ends_itself:
        after = re.match(r".?[”\"’»]*\s*\(", text[end : end + 9])
        return _sentence_start(text, start), (text.find(")", end) + 1 or end + 1) if after else end + 1
    limit = min(end + _REACH, len(text))
    following = _SENTENCE_END.search(text, end + 1, limit)
    return _sentence_start(text, start), following.start() + 1 if following else limit


def _sentence_start(text: str, place: int) -> int:
    start = max(place - _REACH, 0)
    for match in _SENTENCE_END.finditer(text, start, place + 1):
        start = match.end() if match.end() <= place else start
    return start


_NAMED: Final = "\ue005"
"""Stands for a name."""


_NOUNS = "(?:words|memo|note|reply|answer|message|letter|report|question|statement|remark|turn)"


_FILLING = (
    "(?:a|an|the|this|that|our|his|her|their|in|of|from|by|and|but|then|so|as|again|later|first|finally|next|also|here"
    "|there|per|quoting|quote|von|aus|der|die|das|und|de|du|le|la|et"
    f"|{_NOUNS[3:-1]}|memos|notes|replies|answers|messages|letters|reports|questions)"
)


_TELLING = (
    f"(?:{_SAYING}|written|told|thinks|thought|believed|believes|claimed|claims|sagte|sagt|schrieb|schreibt|antwortete|meinte"
    "|fragte|erklärte|a dit|dit|écrit|a écrit|répond|a répondu)"
)


_BESIDE_VERB = (
    r"(?:\w+ly|also|then|later|had|has|have|once|again|first|himself|herself|themselves|even|just|now|here|did|who)"
)


_OBJECT = (
    r"(?:us|me|him|her|them|it|this|so|that|back|again|then|later|once|only|also|here|there|in|on|at|of|to|for|as|the|a"
    rf"|an|his|its|their|our|turn|session|transcript|follows|\w+ly|[a-z]*\d+|{_NOUNS}|{_NAMED}|{CITED})"
)


_NO_SUBJECT = regex(
    r"(?:\b(?:whom|that|which|where|than|how|why|to|for|with|about|against|on|before|after)|\S what)"
    r"(?: the| our)? \Z"
)
"""What stands before a name that is not the one who spoke, or not these words."""


_OF = regex(r"\b(?:by|from|of|von|de)(?: the| our)? \Z")


_CLAUSE = regex(r"(?:after|when|before|once|because|if|since|while|until|although|though|what|whenever)\b")


_ALIKE = rf"(?:^|[.!?;,(|•”\"’»“„] ?)(?>(?:{_FILLING} )*)"


_WHO = r"(?: \([^()]*\))?"


_SAID_BEFORE: Final = (
    regex(rf"{_ALIKE}{_NAMED}{_WHO}(?:['’]s {_NOUNS})?[ ,{CITED}]*[:—][ ,]*\Z"),
    regex(rf"(?:according to|in the words of|as per|laut)(?: the| our)? {_NAMED}{_WHO}[ ,:]*\Z"),
    regex(
        rf"{_ALIKE}{_NAMED}['’]s {_NOUNS}(?: {CITED}|{_WHO})? (?:{_TELLING}|was|is|were|are|reads?)"
        rf"(?>(?: {_OBJECT})*)[ ,:—]*\Z"
    ),
)
"""How a text names who says the words behind it."""


_TOLD_BEFORE: Final = regex(
    rf"{_NAMED}{_WHO}(?:,[^,.;:!?]{{1,80}},)?(?>(?: {_BESIDE_VERB})*) {_TELLING}"
    rf"(?>(?: \([^()]*\)|,? {CITED}| {_OBJECT})*)(?P<end>[ ,:—]*)\Z"
)


_SAID_BEHIND: Final = (
    regex(
        rf"[ ,.!?…]*(?:as )?(?:{_INVERTED}|so|sagte|schrieb|meinte|dit|écrit|(?<=[,!?…—] ){_SAYING})"
        rf"(?: the| our| der| die)? {_NAMED}(?!['’]s)"
    ),
    regex(
        rf"[,!?…—]+ (?:as )?(?:the |our )?{_NAMED}{_WHO}(?>(?: {_BESIDE_VERB})*) {_TELLING}"
        r"(?! (?:that|nothing|so|it|this|about|which|what|no|not)\b)"
    ),
    regex(rf"— ?— ?(?>(?:{_FILLING} )*){_NAMED}{_WHO}(?= ?[,;:(\[]| (?:to|in|on|of|at|for)\b|\Z)"),
    regex(
        rf"[ ,.!?…]*[(\[—] ?(?:(?:said|says|so|by|from|thus|quoting|per) )*(?:the |our )?"
        rf"\[?{_NAMED}\]?(?:\([^()]*\))?{_WHO}"
        rf"(?: (?:to|in|on|of|at)\b[ \w{_NAMED}]{{0,60}})?[ ,;:]*(?:(?:in|see|from|at) )?"
        rf"(?:\[[^\[\]]*\]\([^()]*\)[ ,;:]*)?[\[(<]*(?:{CITED}|\Z)"
    ),
)
"""And the same of the words before it."""


_PLACED: Final = regex(rf" ?[(\[][^()\[\]{_NAMED}]*{CITED}[^()\[\]{_NAMED}]*[)\]]")


class Names:
    """The names of positions, and whether a sentence says that one of them speaks."""

    def __init__(self, positions: Collection[str]) -> None:
        self.names = {folded_name(name): name for name in sorted(positions) if folded_name(name)}
        longest = sorted(self.names, key=len, reverse=True)
        self.any = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)") if longest else None

    def tellers(self, around: str) -> Iterator[str]:
        """Who is said to speak by what is right around a quote: before it, behind it, or below it after a dash.

        Whoever the sentence only mentions is none: who is asked, answered, or did not say it.
        """
        for line in around.split("\n") if self.any and WORDS in around else ():
            before, _, behind = re.sub(r"\s-{1,3}\s|-{2,3}|–|―", " — ", line).rpartition(WORDS)
            yield from self._before(before)
            if not re.match(r"[.!?…]\s*[A-Z]", behind):  # a sentence of its own
                yield from self._behind(behind)

    def _read(self, text: str) -> tuple[str, list[str]]:
        """A text with a character for each name, and the names."""
        folded = folded_name(text)
        return (self.any.sub(_NAMED, folded), self.any.findall(folded)) if self.any else (folded, [])

    def _before(self, text: str) -> Iterator[str]:
        read, found = self._read(text)
        for pattern in _SAID_BEFORE if found else ():
            if match := pattern.search(read):
                yield found[read.count(_NAMED, 0, match.start() + match[0].index(_NAMED))]
        for number, name in enumerate(re.finditer(_NAMED, read)):
            match, told = _TOLD_BEFORE.match(read, name.start()), read[: name.start()]
            if match is None or _NO_SUBJECT.search(told) or negates(match[0]):
                continue
            begun = max(map(told.rfind, ".!?;:,")) + 1
            clause = told[begun:].strip()
            is_told = "," not in match["end"] or not (
                _CLAUSE.match(clause) or (clause.startswith("as ") and " asked" in match[0])
            )
            if is_told and (not _OF.search(told) or re.fullmatch(f"(?>(?:{_FILLING} )*)", f"{clause} ")):
                yield found[number]
                if number and re.search(rf"{_NAMED}{_WHO},? (?:and|or|und)(?: the| our)? \Z", told):
                    yield found[number - 1]

    def _behind(self, text: str) -> Iterator[str]:
        read, found = self._read(text)
        read = _PLACED.sub("", read)
        for pattern in _SAID_BEHIND if found else ():
            if (match := pattern.match(read)) and not negates(match[0]):
                yield found[0]

    def speakers(self, context: str) -> tuple[str, ...]:
        """Who may be meant: the one that speaks, or all that are named."""
        if self.any is None:
            return ()
        text = folded_name(_ADDRESS.sub(" ", context))  # an id names positions, too
        named = [(match.start(), match.end(), self.names[folded_name(match[0])]) for match in self.any.finditer(text)]
        every = tuple(dict.fromkeys(name for _, _, name in named))
        if len(every) < 2:
            return every
        speaking = dict.fromkeys(name for start, end, name in named if _speaks(text, start, end))
        return tuple(speaking) or tuple(name for _, end, name in named if text[end : end + 1] == ":") or every


def _speaks(text: str, start: int, end: int) -> bool:
    """Whether a verb of saying is beside a name: "the director wrote", "said the director", "according to"."""
    after, before = text[end : end + 60], text[max(start - 40, 0) : start]
    if re.match(rf"(?:,[^,]{{0,40}},)?(?: \w+){{0,2}}? {_SAYING}(?!\w)|['’]s (?:words|memo|note|reply|answer)", after):
        return True
    return re.search(rf"(?<!\w){_INVERTED}(?: the| our)? $", before) is not None


def folded_name(name: str) -> str:
    """A name as it is compared."""
    return " ".join(re.sub(r"[-_\s*`]+", " ", name.lower()).split())


# Appraises the quotations of a manuscript by the sources that may hold them: the words, and who said them (SPEC 7).


_Key = TypeVar("_Key", bound=Hashable)


_start: Final = attrgetter("start")


SpeakerCheck: TypeAlias = Literal["right", "wrong", "not checked"]


class Voice(Value):
    """Who speaks from which character of a text to which, `is_carried` where the words are those of somebody else."""

    start: int
    end: int
    speaker: str
    is_carried: bool = False


class Origin(Generic[_Key]):
    """A text that quotations are judged by, with its voices in order; turns of a transcript, or one of a memo."""

    def __init__(self, key: _Key, text: str, voices: Sequence[Voice]) -> None:
        """Nothing is prepared yet."""
        self.key = key
        self.voices = tuple(voices)
        self._text = text

    @cached_property
    def source(self) -> Source:
        """The text as it is searched, at any level."""
        return Source(self._text)

    def voices_at(self, spans: Sequence[Span]) -> list[Voice]:
        """Whose words are there, in order."""
        found: list[Voice] = []
        for start, end in spans:
            for voice in islice(self.voices, max(bisect_right(self.voices, start, key=_start) - 1, 0), None):
                if voice.start >= end:
                    break
                if word_count(self._text[max(start, voice.start) : min(end, voice.end)]):
                    found.append(voice)
        return found

    def own_verdicts(self, quote: str) -> Iterator[Verdict]:
        """Where the words are a speaker's own, although they may be first where somebody else's are carried."""
        for voice in self.voices:
            if not voice.is_carried:
                verdict = judge(quote, self._text[voice.start : voice.end])
                if verdict.tier.holds:
                    yield verdict.moved(voice.start)

    def carries(self, spans: Sequence[Span]) -> bool:
        """Whether words there are those of somebody else, or nobody's."""
        found = self.voices_at(spans)
        return not found or any(voice.is_carried for voice in found)


class Appraisal(Value, Generic[_Key]):
    """What is said of one quotation: where its words are, and whether the speaker is right.

    `key` is the source that the verdict is about, None if there is none; `speaker` is who speaks there, `quoted_in`
    says that the words are only carried there.
    """

    quotation: Quotation
    verdict: Verdict
    key: _Key | None = None
    speaker: str = ""
    quoted_in: bool = False
    check: SpeakerCheck = "not checked"

    @property
    def holds(self) -> bool:
        """Whether the words are there, and not those of another than the manuscript names."""
        return self.verdict.tier.holds and self.check != "wrong"


def appraise(quotation: Quotation, origins: Sequence[Origin[_Key]]) -> Appraisal[_Key]:
    """The appraisal by the sources that may hold a quotation, the oldest first.

    The origin is the first source that has the words as somebody's own, else the first that has them at all; a source
    with a better tier does not count for more, since later ones may have been copied from the manuscript.
    """
    found = [_of_source(quotation, origin) for origin in origins]
    held = [appraisal for appraisal in found if appraisal.verdict.tier.holds]
    if held:
        return min(held, key=lambda appraisal: appraisal.quoted_in)
    nearest = min(found, key=lambda appraisal: (appraisal.verdict.tier, appraisal.verdict.changed_words), default=None)
    return nearest or Appraisal(quotation=quotation, verdict=Verdict(tier=Tier.NOT_FOUND))


def _of_source(quotation: Quotation, origin: Origin[_Key]) -> Appraisal[_Key]:
    """By one source: the words of its own voices are looked for before those that it carries."""
    passages = [(voice.start, voice.end) for voice in origin.voices]
    verdict = judge(quotation.text, origin.source, passages)
    if verdict.tier.holds and len(origin.voices) > 1 and origin.carries(verdict.spans):
        verdict = next(origin.own_verdicts(quotation.text), verdict)
    voices = origin.voices_at(verdict.spans)
    return Appraisal(
        quotation=quotation,
        verdict=verdict,
        key=origin.key,
        speaker=next((voice.speaker for voice in voices if not voice.is_carried), ""),
        quoted_in=origin.carries(verdict.spans),
        check=_check(quotation, verdict, voices),
    )


def _check(quotation: Quotation, verdict: Verdict, voices: Sequence[Voice]) -> SpeakerCheck:
    """Whether the one position that the sentence names is the one that speaks."""
    speakers = {voice.speaker for voice in voices}
    if any(voice.is_carried for voice in voices):
        speakers.discard("")
    if len(quotation.speakers) != 1 or not verdict.tier.holds or not speakers:
        return "not checked"
    if speakers != set(quotation.speakers):
        return "wrong"
    return "not checked" if any(voice.is_carried for voice in voices) else "right"
