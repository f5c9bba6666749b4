"""A second reader of stamps, written from SPEC 4 alone, agrees with memosite on what computers of many places write."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

from memosite.formats.turns import local_time, parse_conversation

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
