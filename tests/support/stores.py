"""Writes the files of memory-stores into a folder, each with the hash that it has to have."""

import hashlib
import json
from pathlib import Path
from typing import Any

from memosite.facts.file import File
from memosite.facts.json_text import find_key_line
from memosite.formats import adapters
from memosite.formats.memory_store.join import JoinedStores, join_stores

Entry = dict[str, Any]
"""A JSON object of a store."""


def seal(values: Entry, body: str | None = None) -> Entry:
    """The same values with the hash that SPEC 2.2 describes, made here without memosite."""
    bare = {name: value for name, value in values.items() if name != "content_hash"}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if body is not None:
        text += "\n" + body.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return {**values, "content_hash": f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"}


class Stores:
    """A folder with files of stores in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, path: str, content: str | bytes | Entry) -> None:
        """Write one file."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content, indent=2, ensure_ascii=False) if isinstance(content, dict) else content
        target.write_bytes(text.encode() if isinstance(text, str) else text)

    def config(self, store: str = ".memory", version: int = 5) -> None:
        """Write the file that makes a store."""
        project = {"id": "project.harbour", "name": "The harbour"}
        self.put(f"{store}/config.json", {"version": version, "project": project})

    def node(self, id_: str, body: str = "It is so.\n", *, at: str = "", store: str = ".memory", **others: Any) -> None:
        """Write a node that is as it should be, but for what is said otherwise."""
        kind, _, slug = id_.partition(".")
        place = f"memory/{at or f'{kind}s/{slug}'}"
        values = {
            "id": id_, "type": kind, "status": "open" if kind == "question" else "active",
            "title": slug.replace("-", " ").capitalize(), "body_path": f"{place}.md",
            "created_at": "2026-05-01T10:00:00+02:00", "updated_at": "2026-05-01T10:00:00+02:00",
        }  # fmt: skip
        self.put(f"{store}/{place}.json", seal({**values, **others}, body))
        self.put(f"{store}/{place}.md", body.encode())

    def relation(self, sender: str, predicate: str, to: str, *, name: str = "", **others: Any) -> None:
        """Write a relation."""
        slug = name or f"{sender}-{predicate}-{to}".replace(".", "-").replace("_", "-")
        values = {
            "id": f"rel.{slug}", "from": sender, "predicate": predicate, "to": to, "status": "active",
            "created_at": "2026-05-01T10:00:00Z", "updated_at": "2026-05-01T10:00:00Z",
        }  # fmt: skip
        self.put(f".memory/relations/{slug}.json", seal({**values, **others}))

    def join(self, *, is_loose: bool = False, only: str = "") -> JoinedStores:
        """Read every file, or those whose path holds a text, and join what they are parts of."""
        data = {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"), reverse=True)
            if path.is_file() and only in path.as_posix()
        }
        parsed = [adapters.parse(File(source="harbour", path=path, data=one)) for path, one in data.items()]
        return join_stores(
            parsed,
            lambda file, key: find_key_line(data[file.path].decode("utf-8", "replace"), (key,)),
            lambda file: data[file.path],
            is_loose=is_loose,
        )
