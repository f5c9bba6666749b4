"""A second reader of stamps, written from SPEC 4 alone, agrees with memosite on what computers of many places write."""

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from memosite.citing import MISREAD
from memosite.cli import main
from memosite.formats.turns import local_time, parse_conversation
from tests.support.archives import read_folders, transcript_of
from tests.support.files import write_text
from tests.support.memos import write_transcript
from tests.support.repos import Repo
from tests.support.sites import build_site

Capture = pytest.CaptureFixture[str]

HEADING = re.compile(r"## (?:🧑|🤖) (\w+)(?: \*\(.*?\)\*)? <sub>(.+)</sub>")
AFTERNOON = ("pm", "p.m.", "午後", "下午", "오후")
FORENOON = ("am", "a.m.", "午前", "上午", "오전")
NIGHT = (23, 0, 1, 2)
FORMS = {  # what `toLocaleString()` writes: with the parts of a time, the hour of 12, and which half of the day it is
    "en-US": "{0.month}/{0.day}/{0.year}, {1}:{0:%M:%S} {2}M",
    "en-GB": "{0:%d/%m/%Y, %H:%M:%S}",
    "fr": "{0:%d/%m/%Y %H:%M:%S}",
    "de": "{0.day}.{0.month}.{0.year}, {0:%H:%M:%S}",
    "it": "{0.day}/{0.month}/{0.year}, {0:%H:%M:%S}",
    "es-MX": "{0.day}/{0.month}/{0.year}, {1}:{0:%M:%S} {3}.\u00a0m.",
    "nl": "{0.day}-{0.month}-{0.year}, {0:%H:%M:%S}",
    "da": "{0.day}.{0.month}.{0.year} {0:%H.%M.%S}",
    "ja": "{0.year}/{0.month}/{0.day} {0.hour}:{0:%M:%S}",
    "zh-TW": "{0.year}/{0.month}/{0.day} {4}午{1}:{0:%M:%S}",
    "ko": "{0.year}. {0.month}. {0.day}. 오{5} {1}:{0:%M:%S}",
    "sv": "{0:%Y-%m-%d %H:%M:%S}",
}
Turns = list[tuple[str, datetime]]


def stamp_in(order: str, text: str) -> datetime | None:
    """The time that a stamp tells if its date is in this order, else None; with dots or dashes no month is first."""
    if order == "mdy" and "/" not in text:
        return None
    one, two, three, hour, minute, second = (int(number) for number in re.findall(r"\d+", text))
    year, month, day = {"mdy": (three, one, two), "dmy": (three, two, one), "ymd": (one, two, three)}[order]
    plain = re.sub(r"\s", "", text.lower())
    half = [word for word in (*FORENOON, *AFTERNOON) if word in plain]
    if half:
        hour = hour % 12 + (12 if half[0] in AFTERNOON else 0)
    try:
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None


def longest_chain(stamps: Sequence[datetime | None]) -> list[int]:
    """The places of the most stamps, from the first on, that go back at most once, with the clocks; the earliest."""
    chains: dict[tuple[int, bool], list[int]] = {}  # the best from each place on, before and after the clocks' change
    hour = timedelta(hours=1)
    for place, stamp in reversed([(place, stamp) for place, stamp in enumerate(stamps) if stamp]):
        ahead = {key: (stamps[key[0]] or stamp) - stamp for key in chains}
        for is_changed in (True, False):
            after = [chains[key] for key in ahead if key[1] == is_changed and ahead[key] >= 0 * hour]
            if not is_changed and stamp.hour in NIGHT:
                back = (key for key in ahead if key[1] and -hour <= ahead[key] < 0 * hour)
                after += [chains[key] for key in back if (stamp + ahead[key]).hour in NIGHT]
            best = max(after, key=lambda chain: (len(chain), [-index for index in chain]), default=[])
            chains[place, is_changed] = [place, *best]
    return chains.get((0, False), [])


def naive_turns(body: str, started: datetime) -> Turns | None:
    """`(speaker, local time)` of each turn, or None if the form of the stamps is in doubt."""
    lines = body.split("\n")
    headings = [
        found.groups()
        for before, blank, line in zip(lines, lines[1:], lines[2:], strict=False)
        if before == "---" and not blank and (found := HEADING.fullmatch(line))
    ]
    readings: list[Turns] = []
    for order in ("mdy", "dmy", "ymd"):
        stamps = [stamp_in(order, stamp) for _speaker, stamp in headings]
        if stamps and stamps[0] and abs(stamps[0] - started) <= timedelta(hours=14.5):
            chain = ((headings[place][0], stamps[place]) for place in longest_chain(stamps))
            readings.append([(speaker, stamp) for speaker, stamp in chain if stamp])
    most = max(map(len, readings), default=0)
    best = [turns for turns in readings if len(turns) == most]
    if best and all(one == other for one, other in pairwise(best)):
        return best[0]
    return best[0] if best and re.search("[AP]M", headings[0][1]) else None


def written(time: datetime, form: str) -> str:
    """A stamp as a computer of this place writes it."""
    is_late = time.hour >= 12
    halves = ("P", "p", "下", "후") if is_late else ("A", "a", "上", "전")
    return FORMS[form].format(time, time.hour % 12 or 12, *halves)


def turn(time: datetime, form: str, speaker: str, text: str) -> str:
    """A stamped turn as the capture tools write it."""
    return f"---\n\n## {'🧑' if speaker == 'User' else '🤖'} {speaker} <sub>{written(time, form)}</sub>\n\n{text}\n\n"


def conversation(random: Random, form: str, first: datetime, paste: bool) -> tuple[str, Turns]:
    """A body and its true turns; somebody may paste a transcript of his own computer, of whatever time, into one."""
    body, turns, time = "# Session\n\n", list[tuple[str, datetime]](), first
    for number in range(random.randint(4, 14)):
        speaker = ("User", "Assistant")[number % 2]
        turns.append((speaker, time))
        text = f"Said as number {number}."
        if paste and random.random() < 0.25:
            theirs = time + timedelta(minutes=random.randint(-3_000, 3_000))
            text += (
                "\n\n" + conversation(random, random.choice(list(FORMS)), theirs, paste=False)[0].partition("\n\n")[2]
            )
        body += turn(time, form, speaker, text)
        time += timedelta(seconds=random.choice([0, 5, 90, 4_000, 40_000]))
    return body, turns


def test_a_naive_reader_finds_the_same_turns_in_transcripts_of_all_places() -> None:
    """Speakers and local times, with pastes and without, at any day of a year and in any time zone."""
    random, doubtful = Random(37), 0
    for number in range(240):
        form = list(FORMS)[number % len(FORMS)]
        first = datetime(2026, 1, 1, 12, 30) + timedelta(minutes=random.randrange(500_000))
        started = first - timedelta(minutes=15 * random.randint(-44, 56))
        body, true = conversation(random, form, first, paste=number % 2 == 1)
        naive = naive_turns(body, started)
        found = parse_conversation(body, started=started)
        times = [(one.speaker, local_time(one.stamp, one.order)) for one in found.turns]
        assert times == (naive or []), (form, body)
        if number % 2 == 0:
            assert naive in (true, None), (form, body)
            doubtful += naive is None
    assert doubtful < 5


def body_of(*turns: tuple[str, str]) -> str:
    """A stamped body: of each turn the stamp and what was said, by user and assistant in turns."""
    speakers = ("🧑 User", "🤖 Assistant *(m)*")
    return "".join(
        f"---\n\n## {speakers[number % 2]} <sub>{stamp}</sub>\n\n{text}\n\n"
        for number, (stamp, text) in enumerate(turns)
    )


def read(*stamps: str, started: str = "") -> list[str]:
    """The local times of the turns of a body that has these stamps."""
    moment = datetime.fromisoformat(started) if started else None
    turns = parse_conversation(body_of(*((stamp, "Yes.") for stamp in stamps)), started=moment).turns
    return [f"{local_time(turn.stamp, turn.order)}" for turn in turns]


def test_the_form_that_fits_the_start_is_taken() -> None:
    """Else the one in which fewer stamps go back, or the American one; of what is in doubt nothing is read."""
    for started, month in (("2026-06-05T09:00", "06-05"), ("2026-05-06T09:00", "05-06")):
        assert read("5/6/2026, 9:00:00", started=started) == [f"2026-{month} 09:00:00"]
    assert read("5/6/2026, 23:59:00", "13/6/2026, 0:01:00") == ["2026-06-05 23:59:00", "2026-06-13 00:01:00"]
    american = "5/6/2026, 9:00:00 PM", "5/7/2026, 1:00:00 AM"
    assert (
        read(*american) == read(*american, started="2026-01-01T09:00") == ["2026-05-06 21:00:00", "2026-05-07 01:00:00"]
    )
    assert read("21/05/2026 9:00", started="2026-01-01T09:00") == ["2026-05-21 09:00:00"]  # can be nothing else
    for doubtful in ("05/06/2026, 21:00:00", "5/6/2026, 9:00:00 p. m.", "05/06/2026, 9:00:00 PM"):
        assert read(doubtful) == read(doubtful, started="2026-01-01T09:00") == []
    assert read("05/05/2026, 23:00:00", "06/05/2026, 01:00:00", started="2026-05-05T22:00") == []
    assert read("05/05/2026, 23:00:00", "05/05/2026, 23:30:00") == ["2026-05-05 23:00:00", "2026-05-05 23:30:00"]
    for stamp in (
        *("21.05.2026, 9:07:08 μ.μ.", "21. 5. 2026. 21:07:08", "21.5.2026 klo 21.07.08", "21:07:08 21/5/2026"),
        *(
            "2026-05-21 21 h 07 min 08 s",
            "2026年5月21日 下午9:07:08",
            "21\u200f/5\u200f/2026، 9:07:08 م",
            "2026/5/21 (21:07:08)",
        ),
    ):
        assert read(stamp) == ["2026-05-21 21:07:08"], stamp


def test_a_pasted_transcript_with_later_stamps_hides_no_turn_after_it(tmp_path: Path) -> None:
    """Where headings are passed over, a note says so and where; also of a paste from before."""
    real = [(f"5/20/2026, 4:03:{second:02} PM", f"Real {second}.") for second in range(0, 60, 10)]
    for hour, name in ((11, "later"), (3, "earlier")):
        paste = body_of(*((f"5/20/2026, {hour}:00:0{second} PM", "Old.") for second in range(2)))
        text = body_of(*real).replace("Real 20.", f"Look:\n\n{paste}")
        write_transcript(tmp_path / "transcripts/clerk", name, text=text, started="2026-05-20T16:03:00Z")
    write_transcript(tmp_path / "transcripts/clerk", "calm", text=body_of(*real), started="2026-05-20T16:03:00Z")
    archive = read_folders(tmp_path)
    for name in ("later", "earlier", "calm"):
        transcript = transcript_of(archive, name)
        assert transcript.variants[0].text and transcript.variants[0].text.turns == 6
        notes = [(one.rule.id, one.location.line) for one in transcript.findings]
        assert notes == ([] if name == "calm" else [("transcript-passed", 21)])


def test_findings_say_which_stamps_are_in_doubt(tmp_path: Path) -> None:
    """One for each transcript; without any, the times in UTC are known."""
    for name, stamp in (("doubt", "05/06/2026, 9:00"), ("alone", "21/05/2026, 9:00"), ("fits", "12/06/2026, 23:00")):
        text = body_of((stamp, "Asked."), (stamp, "Answered."))
        write_transcript(tmp_path / "transcripts/clerk", name, text=text, started="2026-06-12T22:00:00Z")
    archive = read_folders(tmp_path)
    found = {
        name: [one.rule.id for one in transcript_of(archive, name).findings] for name in ("doubt", "alone", "fits")
    }
    assert found == {"doubt": ["transcript-form"], "alone": ["transcript-started"], "fits": []}
    assert transcript_of(archive, "fits").last_turn


def test_every_part_of_a_site_reads_a_transcript_by_the_same_form(tmp_path: Path, capsys: Capture) -> None:
    """Page, list of turns, search and citations name the same speaker; what was cited by a former reading says so."""
    name = "2026-06-12-2359--clerk--night"
    turns = [("12/06/2026, 23:59:50", "Is the door locked?"), ("12/06/2026, 23:59:58", "Yes, it is.")]
    turns += [("13/06/2026, 00:00:10", "Then open the door."), ("13/06/2026, 00:00:20", "I will not.")]
    repo = Repo(tmp_path / "site/office")
    text = body_of(*turns)
    write_transcript(repo.root / "transcripts/clerk", name, text=text, started="2026-06-12T22:59:50Z")
    write_transcript(repo.root / "transcripts/clerk", "calm")
    repo.commit("night")
    site = build_site(repo.root)
    page = (site / f"transcripts/{name}/index.html").read_text()
    assert "2026-06-13 00:00:10" in page and "23:00:20 UTC" in page and "2026-12" not in page
    rows = [json.loads(row) for row in (site / f"transcripts/{name}/turns.jsonl").read_text().splitlines()]
    assert [row["time"] for row in rows][2:] == ["2026-06-12T23:00:10Z", "2026-06-12T23:00:20Z"]
    argument = ("--site", str(repo.root.parent))
    assert main(["search", "open", "--json", *argument]) == 0
    assert '#t3"' in capsys.readouterr().out
    assert main(["cite", name, "--quote", "Then open the door.", *argument]) == 0
    assert "#t3" in capsys.readouterr().out
    former = text[text.index("Yes, it is.") :].strip()
    digest = hashlib.sha256(f"\n{former}".encode()).hexdigest()
    paper = write_text(
        tmp_path / "paper.txt",
        f"engineer (arc-1): “Then open the door.”. Night (transcript/{name}#t2). sha256:{digest}\n",
    )
    assert main(["verify", str(paper), "--json", *argument]) == 0
    [verdict] = json.loads(capsys.readouterr().out)
    assert (verdict["holds"], verdict["version"] != "", verdict["details"]) == (True, True, [MISREAD])
    assert main(["cite", f"{name}#t3", "--format", "text", *argument]) == 0
    write_text(paper, capsys.readouterr().out)
    (repo.root / f"transcripts/clerk/{name}.openthing").unlink()
    (repo.root / f"transcripts/clerk/{name}.body.md").unlink()
    repo.commit("removed")
    assert main(["verify", str(paper), "--json", *argument]) == 0
    [verdict] = json.loads(capsys.readouterr().out)
    assert verdict["holds"] and verdict["tier"] == "exact"
