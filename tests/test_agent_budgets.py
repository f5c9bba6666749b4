"""Budgets of the commands for AI sessions: never exceeded, what matters first, nothing cut in silence (SPEC 8)."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memosite.agents import Answer, Entry, JsonForm, Part, TextForm, estimate, fit
from memosite.cli import main
from memosite.facts.errors import ConfigError
from tests.support.sites import shared_example

WORDS = (
    *("gate", "Schleusentor", "шлюз", "水門", "2026-05-01-1430", "```", "\n", "\n\n", "\x1b[1m", "🚪"),
    *("- " * 9, "x" * 90),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
FORMS = (TextForm(), JsonForm())


def entry(number: int, text: str, rank: int = 0) -> Entry:
    """An entry that can be recognized in both forms."""
    return Entry(
        line=f"entry-{number}", fields={"id": f"entry-{number}"}, text=lambda: text, chars=len(text),
        more=f"memosite show entry-{number}", rank=rank,
    )  # fmt: skip


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    """Any answer: lists and texts, ranked or not."""
    numbers = iter(range(10_000))
    parts = []
    for at in range(draw(st.integers(0, 6))):
        texts = draw(st.lists(TEXTS, max_size=12))
        ranks = draw(st.permutations(range(len(texts))))
        parts.append(
            Part(
                name=f"part-{at}", title=f"Part {at}",
                entries=tuple(entry(next(numbers), text, rank) for text, rank in zip(texts, ranks, strict=True)),
                more=f"memosite brief --only part-{at}", step=draw(st.sampled_from((1, 5, 100))),
                is_list=draw(st.booleans()), empty="None.",
            )
        )  # fmt: skip
    return Answer(lines=("Head",), fields={"head": "Head"}, parts=tuple(parts), command="memosite brief x")


def shown_in(part: Part, text: str) -> list[Entry]:
    """The entries of a part that a written answer shows, by their numbers."""
    found = set(re.findall(r"entry-\d+(?=\n|\")", re.sub(r"show entry-\d+", "", text)))
    return [one for one in part.entries if one.line in found]


def told_tokens(text: str, form: Any) -> tuple[int, int | None]:
    """How many tokens a written answer says that it has, and that all of it has if it is cut."""
    if isinstance(form, JsonForm):
        tokens = json.loads(text)["tokens"]
        return tokens["estimated"], tokens.get("all")
    found = re.findall(r"^\[([\d,]+) tokens, estimated(?:; all of it about ([\d,]+))?", text, re.MULTILINE)
    spent, whole = (int(one.replace(",", "")) if one else None for one in found[-1])
    assert spent is not None
    return spent, whole


def answer_of(*parts: Part) -> Answer:
    """An answer of these parts alone."""
    return Answer(lines=("Head",), fields={}, parts=parts, command="memosite brief x")


@given(answers(), st.integers(1, 3_000), st.sampled_from(FORMS))
def test_no_answer_exceeds_its_budget(answer: Answer, budget: int, form: Any) -> None:
    """In either form; what is too small for any answer says how much it takes, and that much is enough."""
    try:
        text = fit(answer, budget, form)
    except ConfigError as error:
        least = int(re.findall(r"about (\d+) tokens", str(error))[0])
        assert budget < least
        text, budget = fit(answer, least, form), least
    assert estimate(text) <= budget
    spent, whole = told_tokens(text, form)
    assert whole is None or spent <= whole
    for part in answer.parts:
        shown = shown_in(part, text)
        if len(shown) < len(part.entries):
            told = json.loads(text)["not_shown"] if isinstance(form, JsonForm) else re.findall(r"not shown: (.*)", text)
            assert part.name in str(told) or part.title in str(told)
            left = sorted((one for one in part.entries if one not in shown), key=lambda one: one.rank)
            assert not shown or max(one.rank for one in shown) < left[0].rank


@given(answers(), st.sampled_from(FORMS))
def test_without_a_budget_everything_is_shown(answer: Answer, form: Any) -> None:
    """And nothing says that something is cut."""
    text = fit(answer, None, form)
    for part in answer.parts:
        assert shown_in(part, text) == list(part.entries)
    assert "not shown" not in text
    assert " more characters" not in text
    assert '"not_shown": []' in text or isinstance(form, TextForm)
    assert fit(answer, 10**6, TextForm()).count("\n") == fit(answer, None, TextForm()).count("\n")


@given(TEXTS.filter(len), st.integers(80, 600), st.sampled_from(FORMS))
def test_a_text_that_is_cut_says_how_much_is_left(text: str, budget: int, form: Any) -> None:
    """What is shown and what is left is all of it."""
    part = Part(name="body", title="Text", entries=(entry(1, text),), more="memosite show x", step=1, is_list=False)
    answer = answer_of(part)
    try:
        written = fit(answer, budget, JsonForm())
    except ConfigError:
        return
    for shown in json.loads(written).get("body", []):
        kept = shown.get("text", "")
        assert text.startswith(kept)
        assert len(kept) + shown.get("characters_left", 0) == len(text)
        assert shown.get("more", "").endswith(f"--from {len(kept)}" if kept and len(kept) < len(text) else "")
    assert estimate(fit(answer, budget, form)) <= budget


def test_no_command_exceeds_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them, about the example; what is cut says so, what has no room at all says how much it takes."""
    for words in (
        *(("brief", "director"), ("brief", "web-engineer"), ("inbox", "web-engineer")),
        *(("thread", "2026-05-22-1600"), ("thread", "2026-03-02-1015", "--brief")),
        *(
            ("show", one)
            for one in ("2026-04-14-0922--local", "2026-05-22-1600", "document/governance.decisions.fines")
        ),
        *(("show", "2026-05-22-1600", "--head"), ("show", "2026-04-14-0922--local", "--turns", "3-9")),
    ):
        for form in ((), ("--json",)):
            command = (*words, *form, "--site", str(shared_example()), "--budget")
            assert main([*command, "0"]) == 0
            whole = capsys.readouterr().out
            for budget in (60, 900):
                code = main([*command, str(budget)])
                told = capsys.readouterr()
                if code == 2:
                    assert budget < int(re.findall(r"about (\d+) tokens", told.err)[0]), words
                    continue
                assert (code, estimate(told.out.rstrip("\n")) <= budget) == (0, True), (words, budget)
                said = [re.sub(r'"tokens": .*', "", text) for text in (told.out, whole)]
                assert said[0] == said[1] or re.search(r'all of it about|"all": ', told.out), (words, budget)


def test_room_is_shared_among_parts() -> None:
    """A few of each come before more of any; sections without entries make room; a cut summary names the whole text."""
    entries = [tuple(entry(at * 100 + one, "word " * 40) for one in range(50)) for at in range(3)]
    parts = (Part(name=f"p{at}", title=f"P{at}", entries=some, more="m") for at, some in enumerate(entries))
    value = json.loads(fit(answer_of(*parts), 1_500, JsonForm()))
    assert [len(value[f"p{at}"]) >= 5 for at in range(3)] == [True, True, True]
    assert all("text" in one for one in value["p0"][:5])
    alone = answer_of(Part(name="p", title="P", entries=(entry(1, "word " * 2_000),), more="m"))
    assert 850 <= estimate(fit(alone, 1_000, TextForm())) <= 1_000
    empty = [Part(name=f"e{at}", title=f"A section with nothing {at}", entries=(), more="m") for at in range(6)]
    full = Part(name="full", title="Waiting on others", entries=(entry(1, ""), entry(2, "")), more="m")
    text = fit(answer_of(*empty[:3], full, *empty[3:]), 75, TextForm())
    assert "Waiting on others (2)\n- " in text
    assert re.search(r"\[not shown: \d empty sections\]", text)
    cut = replace(entry(1, "word " * 500), is_summary=True, more="memosite show x")
    answer = answer_of(Part(name="p", title="P", entries=(cut,), more="m"))
    assert "more characters of the summary: memosite show x]" in fit(answer, 400, TextForm())
    assert json.loads(fit(answer, 400, JsonForm()))["p"][0]["more"] == "memosite show x"


TOKENS = {
    "": (0, 0),
    "The memo asks for a decision.": (6, 9),
    "2026-05-01-1430--engineer--director--gates": (15, 24),
    '{"kind": "memo", "unread": true}': (10, 18),
    "備忘錄": (2, 5),
    "Архив": (2, 4),
    "\n\n\n": (1, 1),
}
"""How many tokens a text has, at least and at most: what two makers' tokenizers count, a third less and more."""


@given(TEXTS, TEXTS)
def test_tokens_are_estimated_near_what_tokenizers_count(first: str, second: str) -> None:
    """An estimate grows with its text, so that a text can be cut where an estimate says."""
    assert {text: estimate(text) for text, (least, most) in TOKENS.items() if not least <= estimate(text) <= most} == {}
    sizes = estimate(first), estimate(second)
    assert max(sizes) - 1 <= estimate(first + second) <= sum(sizes) + 1
