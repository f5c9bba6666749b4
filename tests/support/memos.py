"""Writes memos, notes, transcripts and organizations as files, each conformant but for the fields that a test names."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.files import write_json, write_text


def write_memo(folder: Path, name: str, *, extra: Mapping[str, object] | None = None, **fields: object) -> Path:
    """Write a typed memo `<name>.openthing`; `sender` is its `from`, a field given as None is left out."""
    known: dict[str, object] = {
        "catdef": "1.4", "memodef": "0.4.0", "type": "memodef:Memo", "from": fields.pop("sender", "engineer"),
        "to": "director", "subject": f"About {name}", "sent": "2026-05-01T14:30:00Z", "body": f"The text of {name}.",
    }  # fmt: skip
    return _write_envelope(folder, name, known | fields | dict(extra or {}))


def send(folder: Path, *names: str, **fields: Any) -> list[Path]:
    """Write memos of which each is from, to and of the time that its name says, unless a field says otherwise.

    `2026-05-01-1430--engineer--director--casks` is from the engineer to the director, at 14:30 UTC.
    """
    return [write_memo(folder, name, **(_said_by_name(name) | fields)) for name in names]


def _said_by_name(name: str) -> dict[str, str]:
    stamp, sender, to, *_ = name.split("--")
    return {"sender": sender, "to": to, "sent": f"{stamp[:10]}T{stamp[11:13]}:{stamp[13:]}:00Z"}


def write_note(folder: Path, name: str, **fields: Any) -> Path:
    """Write a memo to file."""
    return write_memo(folder, name, **{"to": "file", **fields})


def write_legacy_memo(folder: Path, name: str, **fields: object) -> Path:
    """Write a memo in the `x.memo.*` form; `sender` is its `x.memo.from`."""
    said = {"from": fields.pop("sender", "engineer"), "to": "director", "sent": "2026-05-01T14:30:00Z"}
    said |= {"subject": f"About {name}"} | fields
    legacy = {f"x.memo.{field}": value for field, value in said.items()}
    return _write_envelope(folder, name, {"catdef": "1.4", "type": "thing", "body": f"The text of {name}."} | legacy)


def write_transcript(folder: Path, name: str, *, text: str = "## User\n\nHello.\n", **fields: object) -> Path:
    """Write a transcript's envelope and, unless `text` is empty, the body it names."""
    known: dict[str, object] = {
        "catdef": "1.4", "memodef": "0.4.0", "type": "memodef:Transcript", "subject": f"About {name}",
        "participants": [{"position": "engineer", "session_arc": "arc-1"}], "started": "2026-05-01T14:30:00Z",
        "body_ref": f"{name}.body.md", "transport": "terminal", "capture_tool": "capture",
        "capture_format": "markdown", "metadata": {"redaction_status": "redacted"},
    }  # fmt: skip
    if text:
        write_body(folder, name, text)
    return _write_envelope(folder, name, known | fields)


def write_body(folder: Path, name: str, text: str = "A long text.\n") -> Path:
    """Write `<name>.body.md`."""
    return write_text(folder / f"{name}.body.md", text)


def write_org(folder: Path, id_: str = "acme", *, positions: Iterable[object] = (), **fields: object) -> Path:
    """Write an orgdef; a position is its id alone, or an object."""
    seats = [{"id": one, "name": one.title()} if isinstance(one, str) else one for one in positions]
    known: dict[str, object] = {"type": "orgdef:Organization", "id": id_, "name": id_.title(), "positions": seats}
    return write_json(folder / f"{id_}-organization.openthing", known | fields)


def _write_envelope(folder: Path, name: str, fields: Mapping[str, object]) -> Path:
    return write_json(folder / f"{name}.openthing", {field: v for field, v in fields.items() if v is not None})
