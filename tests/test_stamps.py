"""A second reader of stamps, written from SPEC 4 alone, agrees with memosite on transcripts as computers of many places write them."""

import re
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

HEADING = re.compile(r"## (?:🧑|🤖) (\w+)(?: \*\(.*?\)\*)? <sub>(.+)</sub>")
AFTERNOON = ("pm", "p.m.", "午後", "下午", "오후")


def stamp_in(order, text):
    """The time that a stamp tells if its date is in this order (`mdy`, `dmy`, `ymd`), else None."""
    one, two, three, hour, minute, second = (int(number) for number in re.findall(r"\d+", text))
    year, month, day = {"mdy": (three, one, two), "dmy": (three, two, one), "ymd": (one, two, three)}[order]
    half = [word for word in ("am", "a.m.", "午前", "上午", "오전", *AFTERNOON) if word in text.lower()]
    if half:
        hour = hour % 12 + (12 if half[0] in AFTERNOON else 0)
    try:
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None


def longest_chain(stamps):
    """The places of the most stamps, from the first on, that do not go back; of several such chains the one of earlier places."""
    chains = {}
    for place in reversed(range(len(stamps))):
        after = [chains[later] for later in chains if stamps[place] and stamps[later] >= stamps[place]]
        if stamps[place]:
            chains[place] = [place, *max(after, key=lambda chain: (len(chain), [-index for index in chain]), default=[])]
    return chains.get(0, [])


def naive_turns(body, started):
    """`(speaker, local time)` of each turn, or None if the form of the stamps is in doubt."""
    lines = body.split("\n")
    headings = [
        found.groups()
        for before, blank, line in zip(lines, lines[1:], lines[2:], strict=False)
        if before == "---" and not blank and (found := HEADING.fullmatch(line))
    ]
    readings = []
    for order in ("mdy", "dmy", "ymd"):
        stamps = [stamp_in(order, stamp) for _speaker, stamp in headings]
        if stamps and stamps[0] and abs(stamps[0] - started) <= timedelta(hours=14.5):
            readings.append([(headings[place][0], stamps[place]) for place in longest_chain(stamps)])
    most = max(map(len, readings), default=0)
    best = [turns for turns in readings if len(turns) == most]
    if best and all(one == other for one, other in pairwise(best)):
        return best[0]
    return best[0] if best and re.search("[AP]M", headings[0][1]) else None
