"""Random edits of a site: what people and sessions do to their repos, and what they should not do.

Each edit is one function of the site and a seeded generator; it returns what it did, for the message of a failure.
"""

import random
from collections.abc import Callable
from pathlib import Path

from tests.support.memos import write_memo

Edit = Callable[[Path, random.Random], str]

_SEATS = ("director", "engineer", "strategist", "all", "newcomer")
_TEMPLATE = "{% extends 'base.html' %}{% block main %}<h1>{{ page.title }}</h1><p>NUMBER</p>{% endblock %}\n"


def open_site(folder: Path) -> None:
    """Give a site a theme of its own, so that it can be changed."""
    for part in ("static", "templates"):
        (folder / "theme" / part).mkdir(parents=True)
    with (folder / "memosite.yml").open("a") as file:
        file.write("theme: theme\n")


def _memos(site: Path) -> list[Path]:
    return [path for path in _files(site) if path.name.endswith(".openthing")]


def _files(site: Path) -> list[Path]:
    kept = {"_site", ".memosite", "theme"}
    return sorted(path for path in site.glob("*/**/*") if path.is_file() and not kept & set(path.parts))


def add(site: Path, rng: random.Random) -> str:
    """A memo arrives, often a reply to one or two that are there; sometimes it supersedes one."""
    beside, other = rng.choice(_memos(site)), rng.choice(_memos(site))
    sender, to = rng.sample(_SEATS, 2)
    day, minute = rng.randint(1, 28), rng.randint(0, 59)
    stem = f"2026-06-{day:02}-09{minute:02}--{sender}--{to}--added-{rng.randint(0, 10**6)}"
    is_asked = rng.random() < 0.3
    several = f"{beside.name} AND {other.name}"
    named = rng.choice([beside.name, beside.name, several, other.name[:15], "decisions/0001.md"])
    parent = named if rng.random() < 0.6 else None
    inbox = rng.choice(sorted(site.glob("[!_]*/memos"))) / "inbox"
    body = f"A memo that says it, and that names {beside.name}.\n\n- one\n- two\n"
    sent = f"2026-06-{day:02}T09:{minute:02}:00Z"
    fields: dict[str, object] = {"subject": f"Something new on day {day}", "sent": sent, "body": body}
    if rng.random() < 0.2:
        fields["metadata"] = {"supersedes": other.name}
    write_memo(inbox, stem, sender=sender, to=to, action_required=is_asked, in_reply_to=parent, extra=fields)
    return f"add {stem}"


def move(site: Path, rng: random.Random) -> str:
    """A memo is read, or archived, with its body."""
    memo = rng.choice([path for path in _memos(site) if path.parent.parent.name == "memos"] or _memos(site))
    target = memo.parent.parent / rng.choice(("read", "archive", "inbox"))
    target.mkdir(exist_ok=True)
    for file in memo.parent.glob(f"{memo.stem}.*"):
        file.rename(target / file.name)
    return f"move {memo.name} to {target.name}"


def edit(site: Path, rng: random.Random) -> str:
    """Somebody changes a text."""
    file = rng.choice(_files(site))
    text = file.read_text(encoding="utf-8", errors="replace")
    words = text.split(" ")
    place = rng.randrange(len(words))
    words[place] += "x"
    file.write_text(" ".join(words), encoding="utf-8")
    return f"edit {file.relative_to(site)} at word {place}"


def delete(site: Path, rng: random.Random) -> str:
    """A file is removed."""
    file = rng.choice(_files(site))
    file.unlink()
    return f"delete {file.relative_to(site)}"


def corrupt(site: Path, rng: random.Random) -> str:
    """A file is cut in the middle, and ends in bytes that are no text."""
    file = rng.choice(_files(site))
    data = file.read_bytes()
    file.write_bytes(data[: rng.randrange(len(data) + 1)] + b"\xff\x00")
    return f"corrupt {file.relative_to(site)}"


def theme(site: Path, rng: random.Random) -> str:
    """The site's own theme says something else on one kind of page, or styles it otherwise."""
    folder = site / "theme"
    number = str(rng.randint(0, 10**6))
    if rng.random() < 0.5:
        (folder / "static" / "extra.css").write_text(f"/* {number} */\n")
    else:
        (folder / "templates" / "404.html").write_text(_TEMPLATE.replace("NUMBER", number))
    return f"theme {number}"


def configure(site: Path, rng: random.Random) -> str:
    """The configuration gets another title or address, or closes an action."""
    file = site / "memosite.yml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("title:", "base_url:"))]
    lines.insert(0, f"title: Archive {rng.randint(0, 9)}")
    if rng.random() < 0.5:
        lines.insert(0, f"base_url: https://archive{rng.randint(0, 3)}.example.org/")
    file.write_text("\n".join(lines) + "\n")
    return f"configure {lines[:2]}"


EDITS: tuple[Edit, ...] = (add, add, add, move, move, edit, edit, edit, delete, corrupt, theme, configure)
"""What happens often stands here more often."""
