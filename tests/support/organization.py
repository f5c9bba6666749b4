"""A small organization with everything in it, which edits change: what is not on the disk of it is kept here.

- office, with git: an orgdef, memos in mailboxes, notes, a session captured twice, documents, a wyren list
- yard, with git: flat memos, memos in mailboxes, a memory-store, a memory-layer
- desk, without git: memos, a library, MIF records, documents
- spare, with git: memos; no source at first
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.files import write_json, write_text
from tests.support.memos import send, write_body, write_legacy_memo, write_memo, write_note, write_org, write_transcript
from tests.support.repos import Repo
from tests.support.stores import Stores

SOURCES = ("office", "yard", "desk", "spare")
REPOS = ("office", "yard", "spare")
SEATS = ("director", "engineer", "strategist", "porter")
"""Of these, no orgdef lists the last one."""
MISSING = tuple(f"2026-04-0{number}-0900--porter--engineer--missing-{number}" for number in range(1, 6))
"""Memos that others reply to; they arrive later, or never."""
DOCUMENTS = tuple(f"decisions/000{number}-plan.md" for number in range(1, 6))
"""Documents that memos mention; some are written later, some in two sources."""
SESSION = "0b5d7a52-95f1-4bd0-8f6e-2f6f3c0a1e11"
WYREN = "office/.wyren/memory.md"
_KEPT = {"_site", "_public", ".memosite", "theme", ".git"}

Settings = dict[str, Any]


class Organization:
    """A site folder. `undo` is what ends a state in which nothing can be built, before the next edit."""

    def __init__(self, folder: Path, settings: Settings | None = None) -> None:
        """Write the organization as it is at first."""
        self.folder = folder
        self.settings: Settings = {
            "title": "The harbour",
            "base_url": "https://archive.example.org/",
            "authority": "example.org,2026",
            "sources": [{"path": name} for name in SOURCES[:3]],
            "feeds": {"window": 50, "days": 0, "searches": {"plans": "plan OR gate"}},
            "theme": "theme",
            **(settings or {}),
        }
        self.hours = dict.fromkeys(REPOS, 0)
        self.removed: dict[Path, bytes] = {}
        self.foreign: dict[Path, bytes] = {}
        self.clock_jump = 0
        self.undo: list[tuple[str, Any]] = []
        self.other_cache = folder.parent / f"{folder.name}-other-cache"
        for part in ("static", "templates"):
            (folder / "theme" / part).mkdir(parents=True)
        _office(folder / "office")
        _yard(folder / "yard")
        _desk(folder / "desk")
        write_memo(folder / "spare/memos/inbox", "2026-05-09-0900--porter--director--spare", sender="porter")
        for name in REPOS:
            Repo(folder / name)
            self.commit(name, "begin")
        self.configure()

    # Files

    def configure(self) -> None:
        """Write memosite.yml; JSON is YAML."""
        write_text(self.folder / "memosite.yml", json.dumps(self.settings, indent=1) + "\n")

    def files(self) -> list[Path]:
        """All files of sources."""
        return sorted(path for path in self._found("**/*") if path.is_file() and not path.is_symlink())

    def memos(self) -> list[Path]:
        """The envelopes in folders of memos, also those that are no source now."""
        return sorted(path for path in self._found("memos/**/*.openthing") if path.is_file() and not path.is_symlink())

    def _found(self, pattern: str) -> Iterator[Path]:
        for source in SOURCES:
            for path in (self.folder / source).glob(pattern):
                if not _KEPT & set(path.relative_to(self.folder).parts):
                    yield path

    def name(self, path: Path) -> str:
        """A path as messages show it."""
        return path.relative_to(self.folder).as_posix()

    def stems(self) -> list[str]:
        """The names of all memos, each once."""
        return sorted({path.stem for path in self.memos()})

    # Git

    def repo(self, name: str) -> Repo:
        """A repo whose next commit comes after all before."""
        found = Repo(self.folder / name, is_new=False)
        self.hours[name] += 1
        found.hours = self.hours[name]
        return found

    def commit(self, name: str, what: str, *, who: str = "Ann Other") -> None:
        """Commit all that is in a repo's folder."""
        self.repo(name).commit(what, who=who)


def change_fields(path: Path, **fields: object) -> bool:
    """Change fields of an envelope; None removes one. False if it is no JSON object just now."""
    said = _envelope(path)
    if said is not None:
        write_json(path, {name: value for name, value in (said | fields).items() if value is not None})
    return said is not None


def field(path: Path, name: str) -> object:
    """A field of an envelope; None if it has none, or cannot be read."""
    return (_envelope(path) or {}).get(name)


def _envelope(path: Path) -> dict[str, object] | None:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    return said if isinstance(said, dict) else None


def pick(rng: random.Random, found: list[Path]) -> Path | None:
    """One of these, None if there is none."""
    return rng.choice(found) if found else None


# What is there at first


def _office(root: Path) -> None:
    write_org(
        root / "org",
        positions=[
            {"id": "director", "name": "Director", "incumbent": {"kind": "human", "name": "Dora"}},
            {"id": "engineer", "name": "Engineer", "relationships": [{"type": "reports_to", "target": "director"}],
             "x.position.working_directory": "/home/any/yard"},
            {"id": "strategist", "name": "Strategist", "status": "vacant"},
        ],
    )  # fmt: skip
    first = "2026-05-01-0900--director--engineer--gate"
    asks = f"Please see {DOCUMENTS[0]} and {DOCUMENTS[1]}, and `spare`."
    send(root / "memos/read", first, action_required=True, body=asks)
    second = "2026-05-02-0900--engineer--director--gate-again"
    body = f"See {first}.openthing and [the plan]({DOCUMENTS[2]})."
    send(root / "memos/inbox", second, in_reply_to=f"{first}.openthing", body=body, body_ref=f"{second}.body.md")
    write_body(root / "memos/inbox", second, f"# The gate\n\nAs {DOCUMENTS[0]} says.\n\n- one\n- two\n")
    lost = {"in_reply_to": f"{MISSING[0]}.openthing", "action_required": True}
    send(root / "memos/archive", "2026-05-03-0900--porter--director--lamp", **lost)
    send(root / "memos/inbox", "2026-05-04-0900--director--all--everybody", action_required=True)
    write_legacy_memo(root / "memos/read", "2026-05-04-1000--engineer--director--old", sent="2026-05-04T10:00:00Z")
    write_note(root / "notes/engineer", "2026-05-05-0900--engineer--file--note", body=f"See {MISSING[1]}.openthing.")
    for number, minute in enumerate(("00", "30")):
        write_transcript(
            root / "transcripts/engineer", f"2026-05-05-09{minute}--engineer--talk", text=talk(number + 1),
            participants=[{"position": "engineer", "session_arc": SESSION}], started=f"2026-05-05T09:{minute}:00Z",
            ended="2026-05-05T11:00:00Z", related_memos=[f"{first}.openthing"],
        )  # fmt: skip
    for document in DOCUMENTS[:2]:
        write_text(root / document, f"# Plan {document}\n\nStatus: accepted\n\nSince {first}.openthing.\n")
    write_text(
        root / ".wyren/memory.md",
        "## Decisions\n- One barrel [session ab, turn 1]\n"
        "- See 2026-05-05-0900--engineer--talk [session ab, turn 2]\n\n"
        "## Open questions\n- Who closes the gate?\n",
    )


def talk(turns: int) -> str:
    """The text of a transcript."""
    return "".join(f"## User\n\nQuestion {n}.\n\n## Assistant\n\nAnswer {n}: the plan.\n\n" for n in range(turns))


def _yard(root: Path) -> None:
    said = {"in_reply_to": "2026-05-01-0900", "body": f"Under {DOCUMENTS[3]}."}
    send(root / "memos", "2026-05-06-0900--strategist--engineer--flat", **said)
    send(root / "memos/inbox", "2026-05-04-0900--director--all--everybody", action_required=True)
    stores = Stores(root)
    stores.config()
    stores.node("decision.casks", "# Casks\n\nFor 2026-05-05-0900--engineer--talk.\n")
    stores.node("question.tide", "Which tide?\n")
    stores.relation("question.tide", "affects", "decision.casks")
    event = '{"event":"created","id":"decision.casks","actor":"engineer","timestamp":"2026-05-06T10:00:00Z"}\n'
    stores.put(".memory/events.jsonl", event)
    write_json(
        root / ".claude/memory/context/casks.json",
        {"meta": {"created": "2026-05-06T09:00:00Z", "category": "context", "summary": "Casks", "session_id": SESSION},
         "content": {"context_references": ["ropes"]}},
    )  # fmt: skip


def _desk(root: Path) -> None:
    former = {"supersedes": "2026-05-06-0900--strategist--engineer--flat"}
    send(root / "memos/inbox", "2026-05-07-0900--engineer--strategist--desk", metadata=former)
    write_text(root / "memories/tide.memory.md", mif("tide", "The tide is high, see [[ebb]]."))
    write_text(root / DOCUMENTS[1], f"# The desk's plan\n\nSee {MISSING[2]}.openthing.\n")
    write_json(
        root / "forms.opencatalog",
        {"catdef": "1.4", "type": "memodef:Library", "id": "forms", "name": "Forms", "version": "1",
         "items": [{"id": "gate", "name": "Gate form", "file": "2026-05-01-0900--director--engineer--gate.openthing"}]},
    )  # fmt: skip


def mif(id_: str, text: str) -> str:
    """A MIF record."""
    return (
        f"---\nid: {id_}\ntype: semantic\nnamespace: harbour/project\ncreated: 2026-05-07T09:00:00Z\n"
        f'title: "About {id_}"\ntags: [tide]\n---\n\n# {id_}\n\n{text} By @[[Dora|Person]].\n\n'
        "## Relationships\n\n- relates-to [[ebb]]\n"
    )
