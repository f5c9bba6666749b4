"""A site with an artifact of each kind, whose content is words that occur nowhere else, to look for them afterwards.

Each field of free words holds a word that begins with `zq`. What says who sent what to whom, when, and where its file
is does not: that is published also without the content.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from tests.support.files import write_json, write_text
from tests.support.memos import send, write_body, write_legacy_memo, write_memo, write_org, write_transcript
from tests.support.repos import Repo
from tests.support.stores import Stores

LETTER = "2026-05-01-0900--engineer--director--letter"
REPLY = "2026-05-02-0900--director--engineer--reply"
OLD = "2026-05-03-0900--engineer--director--old-form"
FILED = "2026-05-04-0900--engineer--file--filed"
TALK = "2026-05-05-0900--engineer--talk"
AGAIN = "2026-05-05-0930--engineer--talk-again"
LIST = "office/.wyren/memory.md"
BULLETS = (
    "## Decisions\n- One barrel zqbullet for zqcask each [session ab, turn 1]\n- Two buckets for rain\n\n"
    "## Open questions\n- Who zqasks?\n"
)
PLANTED: dict[str, tuple[str, ...]] = {
    f"memo/{LETTER}": (
        f"office/memos/inbox/{LETTER}.openthing",
        f"office/memos/inbox/{LETTER}.body.md",
        f"yard/memos/inbox/{LETTER}.openthing",
    ),
    f"memo/{OLD}": (f"office/memos/read/{OLD}.openthing",),
    f"note/{FILED}": (f"office/notes/engineer/{FILED}.openthing",),
    f"transcript/{TALK}": tuple(f"office/transcripts/engineer/{TALK}.{end}" for end in ("openthing", "body.md")),
    "library/forms": ("office/forms.opencatalog",),
    "document/office.decisions.0001-casks.md": ("office/decisions/0001-casks.md",),
    "record/office.context.casks": ("office/.claude/memory/context/casks.json",),
    "record/office.decision.casks": tuple(f"office/.memory/memory/decisions/casks.{end}" for end in ("json", "md")),
    "record/office.3b9f2c71-8d40-4e6a-a1c5-7f20d96b4e13": ("office/memories/casks.memory.md",),
}
"""The names of artifacts with planted words, each with its files."""

_PLANTED_IN = (Path(__file__), *(Path(__file__).parents[1] / name for name in ("test_withheld.py", "test_lean.py")))
_KNOWN = {word.encode() for path in _PLANTED_IN for word in re.findall("zq[a-z]{3,}", path.read_text(encoding="utf-8"))}
_WORDS = re.compile(b"|".join(sorted(_KNOWN, reverse=True)), re.IGNORECASE)  # others may be in any binary file
_UUID = "0b5d7a52-95f1-4bd0-8f6e-2f6f3c0a1e11"


def write_planted(site: Path, *, has_git: bool = True) -> Path:
    """Write the site: two sources, with a memo edited after receipt, and what refers to what is planted."""
    office, yard = site / "office", site / "yard"
    write_org(office / "org", positions=["engineer", "director"])
    _memos(office / "memos", yard / "memos")
    _transcripts(office / "transcripts/engineer")
    _records(office)
    write_text(
        office / "decisions/0001-casks.md",
        "---\nstatus: zqstatus\nid: casks-adr\ntags: [zqadrtag]\nzqkey: zqvalue\n---\n"
        "# zqtitle of casks\n\nzqdecided.\n",
    )
    write_json(
        office / "forms.opencatalog",
        {
            "catdef": "1.4", "type": "memodef:Library", "id": "forms", "name": "zqforms", "version": "zqversion",
            "description": "zqdescribed", "zqother": "zqothervalue",
            "items": [{"id": "zqitem", "name": "zqitemname", "description": "zqitemtext", "file": "zqfile.openthing"}],
        },
    )  # fmt: skip
    write_text(site / "memosite.yml", CONFIG)
    if has_git:
        _commit(office, yard)
    return site


CONFIG = """base_url: https://archive.example.org/
authority: "example.org,2026"
feeds: {full_content: true, searches: {casks: "letter OR casks OR quince"}}
sources:
  - path: office
  - path: yard
"""


def _memos(office: Path, yard: Path) -> None:
    extra = {
        "x.acme.colour": "zqextra",
        "metadata": {
            "tags": ["zqtag"], "session_arc": "zqsession", "zqmeta": "zqmetavalue",
            "discharged": {"on": "2026-05-20", "by": "zqbywhom", "via": "zqvia", "disposition": "zqdisposition"},
        },
    }  # fmt: skip
    for folder, subject in ((office, "zqsubject zqshort"), (yard, "zqsubject zqvariant")):
        write_memo(
            folder / "inbox", LETTER, subject=subject, body="zqsummary zqinline", body_ref=f"{LETTER}.body.md",
            in_reply_to="zqprose before 2026-04-01-0900--director--engineer--earlier.openthing zqafter",
            action_required=True, sent="2026-05-01T09:00:00Z", extra=extra,
        )  # fmt: skip
    text = f"# zqheading\n\nzqbody, `zqcode` quince, [zqlink](https://zqhost.example/), {FILED}.\n"
    write_body(office / "inbox", LETTER, text)
    write_memo(
        office / "read", REPLY, sender="director", to="engineer", subject="Reply", sent="2026-05-02T09:00:00Z",
        in_reply_to=f"{LETTER}.openthing", body=f"To {LETTER}.openthing#heading, and see decisions/0001-casks.md.",
    )  # fmt: skip
    write_legacy_memo(office / "read", OLD, subject="zqlegacy", body="zqoldbody", sent="2026-05-03T09:00:00Z")
    send(office.parent / "notes/engineer", FILED, subject="zqnote", body="zqnotebody")


def _transcripts(folder: Path) -> None:
    for name, minute in ((TALK, "00"), (AGAIN, "30")):
        write_transcript(
            folder, name, started=f"2026-05-05T09:{minute}:00Z", ended="2026-05-05T10:00:00Z",
            subject="zqtalk" if name == TALK else "The same again",
            transport="zqtransport" if name == TALK else "terminal",
            capture_tool="zqtool" if name == TALK else "tablet",
            related_memos=[f"{REPLY}.openthing", "zqrelated.openthing"] if name == TALK else [],
            participants=[
                {"position": "engineer", "session_arc": f"{_UUID}{' zqarc' if name == TALK else ''}"}
                | ({"identity": "zqidentity", "zqmore": "zqmorevalue"} if name == TALK else {})
            ],
            text="## User\n\nzqasked.\n\n## Assistant\n\nzqsaid.\n\n> **🔧 Bash**\n>\n> ```\n> zqoutput\n> ```\n"
            if name == TALK else "## User\n\nOther words.\n",
        )  # fmt: skip


def _records(office: Path) -> None:
    meta = {"created": "2026-05-06T09:00:00Z", "category": "context", "summary": "zqlayer", "session_id": "zqsession"}
    content = {"zqfield": "zqcontent", "context_references": ["zqreference"]}
    write_json(office / ".claude/memory/context/casks.json", {"meta": meta, "content": content})
    stores = Stores(office)
    stores.config()
    stores.node(
        "decision.casks", "# zqnode\n\nzqnodetext.\n", title="zqnodetitle", tags=["zqnodetag"], status="active",
        superseded_by=None, evidence=[{"kind": "file", "id": "zqevidence"}],
    )  # fmt: skip
    event = '{"event":"zqevent","id":"decision.casks","actor":"zqactor","timestamp":"2026-05-06T10:00:00Z"'
    stores.put(".memory/events.jsonl", event + ',"payload":{"title":"zqpayload"}}\n')
    stores.node("decision.buckets", "Buckets.\n")
    stores.relation("decision.buckets", "affects", "decision.casks")
    write_text(
        office / "memories/casks.memory.md",
        "---\nid: 3b9f2c71-8d40-4e6a-a1c5-7f20d96b4e13\ntype: semantic\nnamespace: zqspace/project\n"
        'created: 2026-05-07T09:00:00Z\ntitle: "zqmif"\ntags: [zqmiftag]\nzqfront: zqfrontvalue\n'
        "citations:\n  - type: documentation\n    title: zqcited\n    url: https://zqcited.example/\n---\n\n"
        "# zqmif\n\nzqmiftext of @[[zqentity|Person]].\n\n## Relationships\n\n- relates-to [[zqtarget]]\n",
    )
    write_text(office / ".wyren/memory.md", BULLETS)


def _commit(office: Path, yard: Path) -> None:
    """Commit all, and before it a memo with another subject and text."""
    letter = office / f"memos/inbox/{LETTER}.openthing"
    now = letter.read_text(encoding="utf-8")
    letter.write_text(now.replace("zqshort", "zqformer"), encoding="utf-8")
    for root in (office, yard):
        Repo(root).commit()
    letter.write_text(now, encoding="utf-8")
    Repo(office, is_new=False).commit("edited", at=5)


def words_in(*folders: Path, but: Iterable[str] = ()) -> dict[str, set[str]]:
    """The planted words in all files below some folders, but compiled templates; `but` are words that may be there."""
    found: dict[str, set[str]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            read = path.read_bytes() if path.is_file() and path.suffix != ".compiled" else b""
            words = {word.decode().lower() for word in _WORDS.findall(read + path.name.encode())} - set(but)
            if words:
                found[path.relative_to(folder).as_posix()] = words
    return found
