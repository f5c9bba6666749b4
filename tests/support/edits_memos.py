"""Edits of artifacts: what people and sessions do to memos and to what they refer to, and what they should not do."""

import os
import random
import shutil
from pathlib import Path

from tests.support.edits import edit, edit_file
from tests.support.files import write_json, write_text
from tests.support.memos import write_memo, write_note, write_org, write_transcript
from tests.support.organization import (
    DOCUMENTS,
    MISSING,
    SEATS,
    SESSION,
    SOURCES,
    WYREN,
    Organization,
    change_fields,
    field,
    mif,
    pick,
    talk,
)
from tests.support.stores import Stores

KEY = "AKIA" + "Z7QH3XWMK2TPLV5D"
"""In two parts, so that no scanner takes this file for a leak."""
KEY_FINGERPRINT = "4070d7dd26ce32fd"
"""Of the key in the document in which it is planted, as `memosite check` shows it."""


def _inbox(org: Organization, rng: random.Random) -> Path:
    return org.folder / rng.choice(SOURCES[:3]) / "memos/inbox"


def _reference(org: Organization, rng: random.Random) -> object:
    """What a memo may say that it replies to."""
    some = [f"{rng.choice(org.stems() or MISSING)}.openthing" for _ in range(2)]
    return rng.choice(
        [some[0], some[0], f"{some[0]} AND {some[1]}", some, some[0][:15], f"memos/read/{some[0]}", DOCUMENTS[0], None]
    )


def _text(org: Organization, rng: random.Random) -> str:
    named = rng.choice([*org.stems(), *MISSING, *DOCUMENTS, "2026-05-05-0900--engineer--talk", "decision.casks"])
    return f"A memo that names {named} and `{rng.choice(DOCUMENTS)}`.\n\n## Part {rng.randint(1, 3)}\n\n- one\n- two\n"


@edit(6)
def add_memo(org: Organization, rng: random.Random) -> str:
    """A memo arrives, often a reply, sometimes with an action or in the place of another."""
    sender, to = rng.sample((*SEATS, "newcomer"), 2)
    to = rng.choice([to, to, to, "all", f"{to}, {sender}", f"acme/{to}"])
    stamp = f"2026-06-{rng.randint(1, 28):02}-{rng.randint(900, 959):04}"
    stem = f"{stamp}--{sender}--{to[:8]}--added-{rng.randint(0, 999)}"
    extra: dict[str, object] = {"sent": f"2026-{rng.randint(5, 7):02}-{rng.randint(1, 28):02}T09:00:00Z"}
    if rng.random() < 0.2:
        extra["metadata"] = {"supersedes": f"{rng.choice(org.stems() or MISSING)}.openthing", "tags": ["added"]}
    if rng.random() < 0.1:
        extra["thread_id"] = rng.choice(("storm", "harvest"))
    reply = _reference(org, rng) if rng.random() < 0.6 else None
    write_memo(
        _inbox(org, rng), stem, sender=sender, to=to, in_reply_to=reply, action_required=rng.random() < 0.3,
        body=_text(org, rng), extra=extra,
    )  # fmt: skip
    return f"{stem} in reply to {reply}"


def _citation(org: Organization, rng: random.Random) -> str:
    """A citation of some memo, of a document or of a turn, as memosite writes it; many do not hold."""
    names = [f"memo/{stem}" for stem in (*org.stems(), *MISSING)]
    cited = rng.choice([*names, "transcript/2026-05-05-0900--engineer--talk#t1", "document/office.decisions.0001.md"])
    quote = rng.choice(("A memo that names", "One more.", "Nobody has said this."))
    digest = rng.choice(("0", "f")) * 64
    return f"> {quote}\n>\n> — engineer, [It](<x/>), `{cited}`, 2026-05-05T09:00:00Z, sha256:{digest}\n"


@edit(3)
def cite(org: Organization, rng: random.Random) -> str:
    """A memo, a document or a manuscript cites what may be there; or the manuscript is gone again."""
    said, how = _citation(org, rng), rng.randrange(4)
    if how == 0:
        stem = f"2026-06-{rng.randint(1, 28):02}-1000--director--engineer--citing-{rng.randint(0, 9)}"
        write_memo(_inbox(org, rng), stem, sender="director", to="engineer", body=f"See:\n\n{said}")
    elif how == 1:
        write_text(org.folder / rng.choice(SOURCES[:3]) / "decisions/citing.md", f"# Citing\n\n{said}")
    else:
        org.settings["citations"] = ["book/**/*.md"]
        org.configure()
        write_text(org.folder / f"book/{rng.randint(0, 1)}.md", said * 2 if how == 2 else "Nothing.\n")
    return f"{how}: {said.splitlines()[-1]}"


@edit()
def reply_to_missing(org: Organization, rng: random.Random) -> str:
    """A reply arrives to a memo that no source has."""
    missing = rng.choice(MISSING)
    stem = f"2026-06-10-1000--director--porter--to-missing-{rng.randint(0, 99)}"
    write_memo(_inbox(org, rng), stem, sender="director", to="porter", in_reply_to=f"{missing}.openthing")
    return f"{stem} to {missing}"


@edit(3)
def missing_arrives(org: Organization, rng: random.Random) -> str:
    """What was missing is found, or turns out to be no memo."""
    missing, how = rng.choice(MISSING), rng.randrange(4)
    if how == 0:
        write_transcript(org.folder / "office/transcripts/engineer", missing, text=talk(2))
    elif how == 1:
        write_note(org.folder / "office/notes/engineer", missing, sender="porter")
    else:
        write_memo(_inbox(org, rng), missing, sender="porter", to="engineer", sent="2026-04-01T09:00:00Z")
    return f"{missing} as {('a transcript', 'a note', 'a memo', 'a memo')[how]}"


@edit(3)
def share_passage(org: Organization, rng: random.Random) -> str:
    """Words that several texts have: in a memo, in a talk, or in so many memos that they are boilerplate."""
    words = " ".join(f"passage{rng.randint(1, 3)} word{number}" for number in range(15))
    passage = " ".join(f"{word}-{rng.randint(1, 2)}" if rng.random() < 0.02 else word for word in words.split())
    stamp = f"2026-06-{rng.randint(1, 28):02}-{rng.randint(900, 959):04}"
    if rng.random() < 0.3:
        text = f"## User\n\nWrite this.\n\n## Assistant\n\n{passage}\n"
        write_transcript(
            org.folder / rng.choice(SOURCES[:3]) / "transcripts/engineer", f"{stamp}--engineer--said", text=text
        )
        return f"{stamp} in a talk"
    count = rng.choice([1, 1, 1, 9])
    for number in range(count):
        name = f"{stamp}--engineer--director--shares-{number}"
        write_memo(_inbox(org, rng), name, body=f"Memo {number} of {stamp}.\n\n> {passage}\n")
    return f"{stamp} in {count} memos"


@edit()
def broadcast(org: Organization, rng: random.Random) -> str:
    """A memo to all arrives in several sources."""
    stem = f"2026-06-12-0900--director--all--broadcast-{rng.randint(0, 9)}"
    for source in rng.sample(SOURCES, rng.randint(1, 4)):
        write_memo(
            org.folder / source / "memos/inbox", stem, sender="director", to="all", action_required=True,
            sent="2026-06-12T09:00:00Z",
        )  # fmt: skip
    return stem


@edit()
def chain(org: Organization, rng: random.Random) -> str:
    """A reply to a reply to a reply."""
    named, day = rng.choice(org.stems() or MISSING), rng.randint(1, 28)
    for number in range(8):
        stem = f"2026-07-{day:02}-1{number:03}--{SEATS[number % 2]}--{SEATS[1 - number % 2]}--chain"
        write_memo(
            _inbox(org, rng), stem, sender=SEATS[number % 2], to=SEATS[1 - number % 2], in_reply_to=f"{named}.openthing"
        )
        named = stem
    return f"eight memos, the last {named}"


@edit_file(3)
def copy_memo(org: Organization, rng: random.Random, memo: Path) -> str:
    """A memo is copied to another source, as it is or with other words."""
    target = org.folder / rng.choice(SOURCES) / "memos" / rng.choice(("inbox", "read", "")) / memo.name
    if target == memo or target.exists():
        return ""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(memo, target)
    if rng.random() < 0.3:
        change_fields(target, body="Another text than elsewhere.")
    return f"{org.name(memo)} to {org.name(target)}"


@edit()
def equalize_copies(org: Organization, rng: random.Random) -> str:
    """All copies of a memo get the content of one of them."""
    several = [path for path in org.memos() if sum(other.name == path.name for other in org.memos()) > 1]
    memo = pick(rng, several)
    if memo is None:
        return ""
    for other in several:
        if other.name == memo.name and other != memo:
            shutil.copy(memo, other)
    return f"as {org.name(memo)}"


@edit_file()
def collide(org: Organization, rng: random.Random, memo: Path) -> str:
    """Another memo of the same name, from somebody else, in another source; or of a name that differs by case."""
    stem = rng.choice((memo.stem, memo.stem.upper(), memo.stem.replace("--", "-- ", 1)))
    write_memo(org.folder / rng.choice(SOURCES) / "memos/inbox", stem, sender="stranger", to=rng.choice(SEATS))
    return stem


@edit_file(5)
def move(org: Organization, rng: random.Random, memo: Path) -> str:
    """A memo is read or archived, mostly with its body."""
    folder = next(above for above in memo.parents if above.name == "memos")
    target = folder / rng.choice(("inbox", "read", "archive", ""))
    target.mkdir(exist_ok=True)
    together = memo.parent.glob(f"{memo.stem}.*") if rng.random() < 0.8 else [memo]
    for file in sorted(together):
        file.rename(target / file.name)
    return f"{org.name(memo)} to {target.name}"


@edit_file(4)
def edit_field(org: Organization, rng: random.Random, memo: Path) -> str:
    """A field of a memo is changed, added or removed."""
    name, value = rng.choice(
        [
            ("subject", f"Subject {rng.randint(0, 99)}. And so on"), ("to", rng.choice((*SEATS, "all", "newcomer"))),
            ("from", rng.choice(SEATS)), ("in_reply_to", _reference(org, rng)), ("sent", "yesterday"),
            ("sent", f"2026-05-{rng.randint(1, 28):02}T10:00:00-04:00"), ("action_required", rng.random() < 0.5),
            ("thread_id", rng.choice(("storm", "harvest", None))), ("body", _text(org, rng)),
            ("metadata", {"supersedes": f"{rng.choice(org.stems())}.openthing"}), ("metadata", None),
            ("metadata", {"discharged": {"on": "2026-06-20", "by": "director", "disposition": "done"}}),
            ("body_ref", rng.choice((f"{memo.stem}.body.md", "nothing.body.md", None))),
            ("x.legal.confidentiality", rng.choice(("confidential", "public", None))),
        ]
    )  # fmt: skip
    return f"{name}: {value} of {org.name(memo)}" if change_fields(memo, **{name: value}) else ""


@edit()
def supersede(org: Organization, rng: random.Random) -> str:
    """A chain of memos, each in the place of the one before."""
    named, minute = rng.choice(org.stems() or MISSING), rng.randint(100, 999)
    for number in range(rng.randint(1, 3)):
        stem = f"2026-07-02-0{minute}--director--engineer--instead-{number}"
        write_memo(
            _inbox(org, rng), stem, sender="director", to="engineer", action_required=True,
            sent=f"2026-07-02T0{number}:00:00Z", extra={"metadata": {"supersedes": [f"{named}.openthing"]}},
        )  # fmt: skip
        named = stem
    return f"{named} is the last"


@edit_file()
def merge_threads(org: Organization, rng: random.Random, memo: Path) -> str:
    """The first memo of a thread becomes a reply to one of another thread, or no reply any more."""
    value = None if field(memo, "in_reply_to") else f"{rng.choice(org.stems())}.openthing"
    return f"{org.name(memo)} replies to {value}" if change_fields(memo, in_reply_to=value) else ""


@edit()
def rename_memo(org: Organization, rng: random.Random) -> str:
    """A file gets another name, and with it an artifact another id."""
    memo = pick(rng, org.memos())
    if memo is None or memo.with_name(f"{memo.stem[:60]}-x.openthing").exists():
        return ""
    memo.rename(memo.with_name(f"{memo.stem[:60]}-x.openthing"))
    return org.name(memo)


@edit_file(3, among=Organization.files)
def edit_word(org: Organization, rng: random.Random, file: Path) -> str:
    """Somebody changes a word in any file, or its text is cut."""
    words = file.read_text(encoding="utf-8", errors="replace").split(" ")
    place = rng.randrange(len(words))
    words[place] += "x"
    file.write_text(" ".join(words), encoding="utf-8")
    return f"{org.name(file)} at word {place}"


@edit_file(3)
def edit_body(org: Organization, rng: random.Random, memo: Path) -> str:
    """A body is written, changed, or removed, and its envelope is not; sometimes in another mailbox."""
    body = memo.with_name(f"{memo.stem}.body.md")
    if rng.random() < 0.3:
        body = memo.parent.parent / "archive" / body.name
    if body.exists() and rng.random() < 0.4:
        body.unlink()
        return f"without {org.name(body)}"
    write_text(body, _text(org, rng))
    return org.name(body)


@edit_file(2, among=Organization.files)
def corrupt(org: Organization, rng: random.Random, file: Path) -> str:
    """A file is cut in the middle, and ends in bytes that are no text."""
    data = file.read_bytes()
    org.removed[file] = data
    file.write_bytes(data[: rng.randrange(len(data) + 1)] + b"\xff\x00")
    return org.name(file)


@edit_file(2, among=Organization.files)
def delete(org: Organization, rng: random.Random, file: Path) -> str:  # noqa: ARG001 - as every edit
    """A file is removed."""
    org.removed[file] = file.read_bytes()
    file.unlink()
    return org.name(file)


@edit_file(3, among=lambda org: sorted(org.removed))
def restore(org: Organization, rng: random.Random, file: Path) -> str:  # noqa: ARG001 - as every edit
    """A file that was removed or broken is again what it was."""
    data = org.removed.pop(file)
    if file.is_dir() or file.is_symlink():
        return ""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return org.name(file)


@edit_file(3, among=lambda org: [file for file in org.files() if b"e" in file.read_bytes()])
def rewrite_unseen(org: Organization, rng: random.Random, file: Path) -> str:
    """The content changes, and neither size nor time of the file: only its inode tells, or when it changed."""
    data, found = file.read_bytes(), file.stat()
    place = rng.choice([at for at, byte in enumerate(data) if byte == ord("e")])
    changed = data[:place] + b"a" + data[place + 1 :]
    if rng.random() < 0.5:
        beside = file.with_name(f"{file.name}.new")
        beside.write_bytes(changed)
        beside.replace(file)
    else:
        file.write_bytes(changed)
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    return f"{org.name(file)} at {place}"


@edit_file(among=Organization.files)
def redate_file(org: Organization, rng: random.Random, file: Path) -> str:
    """A file gets a time in the future or in the past, with its content or with another."""
    if rng.random() < 0.5:
        file.write_bytes(file.read_bytes().replace(b"e", b"a", 1))
    second = rng.choice((4_000_000_000, 1_000_000_000, 1_777_600_000))
    os.utime(file, (second, second))
    return f"{org.name(file)} at {second}"


@edit()
def replace_by_odd(org: Organization, rng: random.Random) -> str:
    """A link, a pipe or a folder is in the place of a file, or a link to a folder beside it."""
    file, how = pick(rng, org.memos()), rng.randrange(4)
    if file is None:
        return ""
    org.removed[file] = file.read_bytes()
    file.unlink()
    if how == 0:
        other = pick(rng, org.memos())
        file.symlink_to(other or "/nonexistent")
    elif how == 1:
        os.mkfifo(file)
    elif how == 2:
        (file / "inside").mkdir(parents=True)
    else:
        (file.parent / f"linked-{rng.randint(0, 9)}").symlink_to(org.folder / "spare", target_is_directory=True)
    org.undo.append(("odd", file))
    return f"{org.name(file)}: {('a link', 'a pipe', 'a folder', 'a linked folder')[how]}"


@edit(1)
def plant_repo(org: Organization, rng: random.Random) -> str:
    """A folder of memos becomes a repo of its own, or is none any more."""
    folder = org.folder / rng.choice(SOURCES[:3]) / "memos/inbox/.git"
    if folder.exists():
        shutil.rmtree(folder)
        return f"not {org.name(folder)}"
    folder.mkdir(parents=True)
    return org.name(folder)


@edit(3)
def write_document(org: Organization, rng: random.Random) -> str:
    """A document is written, changed or removed: what mentions it finds it, finds two, or none."""
    file = org.folder / rng.choice(SOURCES[:3]) / rng.choice(DOCUMENTS)
    if file.exists() and rng.random() < 0.4:
        file.unlink()
        return f"without {org.name(file)}"
    status = rng.choice(("accepted", "proposed", "rejected"))
    write_text(file, f"# Plan {rng.randint(0, 9)}\n\nStatus: {status}\n\nOn {rng.choice(org.stems() or MISSING)}.\n")
    return org.name(file)


@edit(3)
def write_talk(org: Organization, rng: random.Random) -> str:
    """A transcript grows, is captured again, or relates to other memos."""
    minute = rng.choice(("00", "30", "45"))
    name = f"2026-05-05-09{minute}--engineer--talk"
    fields = {"related_memos": rng.sample(org.stems(), min(2, len(org.stems())))} if rng.random() < 0.5 else {}
    session = rng.choice((SESSION, SESSION, "another"))
    write_transcript(
        org.folder / "office/transcripts/engineer", name, text=talk(rng.randint(1, 4)),
        participants=[{"position": rng.choice(SEATS), "session_arc": session}], **fields,
    )  # fmt: skip
    return f"{name} of {session}"


@edit(2)
def edit_list(org: Organization, rng: random.Random) -> str:
    """A wyren list gets an entry, an update of one, or loses one; or the list moves to the older path."""
    file = org.folder / WYREN
    if not file.exists():
        write_text(file, "## Decisions\n")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    bullets = [place for place, line in enumerate(lines) if line.startswith("- ")]
    if bullets and rng.random() < 0.3:
        del lines[rng.choice(bullets)]
    elif bullets and rng.random() < 0.4:
        lines[rng.choice(bullets)] = f"- Updated {rng.randint(0, 99)} [session ab, turn 1; updated cd, turn 3]"
    else:
        named, session = rng.choice(org.stems() or MISSING), rng.choice("abc")
        lines.append(f"- On {named} [session {session}, turn {rng.randint(1, 9)}]")
    write_text(file, "\n".join(lines) + "\n")
    return lines[-1]


@edit(2)
def edit_records(org: Organization, rng: random.Random) -> str:
    """A record of another memory system is written, or linked to an artifact."""
    stores, how, text = Stores(org.folder / "yard"), rng.randrange(5), _text(org, rng)
    if how == 0:
        stores.node(f"decision.{rng.choice(('casks', 'ropes'))}", text, status=rng.choice(("active", "superseded")))
    elif how == 1:
        to = rng.choice(("decision.ropes", "decision.x"))
        stores.relation("decision.casks", rng.choice(("affects", "related_to")), to)
    elif how == 2:
        events = org.folder / "yard/.memory/events.jsonl"
        line = '{"event":"updated","id":"decision.casks","actor":"porter","timestamp":"2026-06-06T10:00:00Z"}\n'
        write_text(events, (events.read_text(errors="replace") if events.exists() else "") + line)
    elif how == 3:
        file = org.folder / "desk/memories" / rng.choice(("tide.memory.md", "ebb.memory.md"))
        write_text(file, mif(rng.choice(("tide", "ebb")), text))
    else:
        meta = {"created": "2026-05-06T09:00:00Z", "category": "context", "summary": text[:40], "session_id": SESSION}
        folder = org.folder / "yard/.claude/memory" / rng.choice(("context", "decisions"))
        write_json(folder / f"{rng.choice(('ropes', 'casks'))}.json", {"meta": meta, "content": {"text": text}})
    return ("node", "relation", "event", "mif", "layer")[how]


@edit(2)
def plant_secret(org: Organization, rng: random.Random) -> str:
    """A key gets into a memo, a document or a transcript, or out of the memo again."""
    how = rng.randrange(3)
    if how == 0:
        write_text(org.folder / "desk" / DOCUMENTS[4], f"# Keys\n\nThe key is {KEY}.\n")
    elif how == 1:
        memo = pick(rng, org.memos())
        return f"in {org.name(memo)}" if memo and change_fields(memo, body=f"The key is\n{KEY}, as asked.") else ""
    else:
        held = [file for file in org.files() if KEY.encode() in file.read_bytes()]
        for file in held:
            file.write_bytes(file.read_bytes().replace(KEY.encode(), b"in the vault"))
        return f"out of {len(held)} files"
    return "in a document"


@edit(3)
def edit_organization(org: Organization, rng: random.Random) -> str:
    """A seat is renamed, filled, moved, added or removed."""
    file = org.folder / "office/org/acme-organization.openthing"
    seats = field(file, "positions")
    if not isinstance(seats, list) or not all(isinstance(one, dict) for one in seats):
        write_org(file.parent, positions=SEATS[:3])
        return "written anew"
    how, seat = rng.randrange(8), rng.choice(seats) if seats else {}
    if how == 0:
        seat["id"] = rng.choice((*SEATS, "chief", "maker"))
    elif how == 1:
        seat["name"] = f"The {rng.choice(('Director', 'Maker', 'Guard'))}"
    elif how == 2:
        seat["incumbent"] = rng.choice(("Dora", {"kind": "human", "name": "Emil"}, {"kind": "ai", "name": "e-5"}))
    elif how == 3:
        seat["x.position.working_directory"] = f"C:\\any\\{rng.choice(SOURCES)}"
    elif how == 4:
        seat["relationships"] = [{"type": rng.choice(("reports_to", "peer_of", "x.any")), "target": rng.choice(SEATS)}]
    elif how == 5:
        seats.append({"id": rng.choice((*SEATS, "cook", "new-seat")), "name": "Another"})
    elif how == 6 and len(seats) > 1:
        seats.remove(seat)
    else:
        seat["role_definition"] = {"id": rng.choice(("newcomer", "porter", "stranger"))}
    change_fields(file, positions=seats)
    return ("id", "name", "incumbent", "repo", "relationship", "added", "removed", "role")[how]


@edit()
def second_organization(org: Organization, rng: random.Random) -> str:
    """Another organization has the same positions, or not any more; or memos are elsewhere."""
    file = org.folder / "desk/org/harbour-organization.openthing"
    if file.exists() and rng.random() < 0.5:
        file.unlink()
        return "gone"
    fields = {"x.org.memo_location": rng.choice(("letters", "<x>/post/"))} if rng.random() < 0.4 else {}
    write_org(file.parent, "harbour", positions=rng.sample((*SEATS, "cook"), 2), **fields)
    write_memo(org.folder / "desk/letters", "2026-05-08-0900--director--engineer--letter", sender="director")
    return str(fields)
