"""[I/O] Writes an organization as repos of memodef files, as plain folders or with git's history of them."""

import heapq
import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO

from benchmarks.as_capture import body_text
from benchmarks.organization import POSITIONS, REPOS, Artifact
from memosite.facts.values import replace

HEAD = {"catdef": "1.4", "memodef": "0.4.0"}
LEGACY = ("from", "to", "subject", "sent", "in_reply_to", "action_required", "body_ref")
ORGANIZATION = "org/mainland.opencatalog"


def write_site(site: Path, artifacts: Iterable[Artifact], *, with_git: bool) -> None:
    """Make a site folder: `memosite.yml` and a repo each of `REPOS`."""
    site.mkdir(parents=True)
    (site / "memosite.yml").write_text(_configuration())
    files = ((where, artifact) for artifact in artifacts for where in artifact.repos)
    _put(site / REPOS[0], ORGANIZATION, _organization())
    for repo in REPOS:
        (site / repo / "memos" / "inbox").mkdir(parents=True)
    if with_git:
        _commit_history(site, files)
    else:
        for repo, artifact in files:
            for path, data in files_of(artifact):
                _put(site / repo, path, data)


def add_to_site(site: Path, artifact: Artifact) -> None:
    """Deliver one more artifact, and commit it where there is git."""
    for repo in artifact.repos:
        for path, data in files_of(replace(artifact, box="inbox")):
            _put(site / repo, path, data)
        if (site / repo / ".git").exists():
            _git(site / repo, "add", "--all")
            _git(site / repo, "commit", "--quiet", "-m", f"receive {artifact.name}")


def files_of(artifact: Artifact) -> Iterator[tuple[str, bytes]]:
    """The files of an artifact: their paths in a repo, and what is in them."""
    folder = {"memo": f"memos/{artifact.box}", "note": f"notes/{artifact.sender}"}.get(artifact.kind)
    stem = f"{folder or f'transcripts/{artifact.sender}'}/{artifact.name}"
    envelope = _transcript(artifact) if artifact.kind == "transcript" else _memo(artifact)
    yield f"{stem}.openthing", (json.dumps(envelope, indent=2, ensure_ascii=False) + "\n").encode()
    if "body_ref" in envelope or "x.memo.body_ref" in envelope:
        yield f"{stem}.body.md", body_text(artifact).encode()


def _memo(artifact: Artifact) -> dict[str, object]:
    body = {"body_ref": f"{artifact.name}.body.md", "body": artifact.summary} if artifact.summary else {}
    memo: dict[str, object] = {
        "from": artifact.sender,
        "to": artifact.to,
        "subject": artifact.subject,
        "sent": f"{artifact.sent:%Y-%m-%dT%H:%M:%SZ}",
        **({"in_reply_to": f"{artifact.parent}.openthing"} if artifact.parent else {}),
        **({"thread_id": artifact.thread} if artifact.thread else {}),
        **({"action_required": True} if artifact.is_action else {}),
        **(body or {"body": artifact.text}),
    }
    if not artifact.is_legacy:
        return {**HEAD, "type": "memodef:Memo", **memo}
    thing = {"template": "memo", "fields": {"Title": artifact.subject}}
    return {
        "catdef": "1.4",
        "type": "thing",
        "thing": thing,
        **{f"x.memo.{name}": memo[name] for name in LEGACY if name in memo},
        "body": memo["body"],
    }


def _transcript(artifact: Artifact) -> dict[str, object]:
    return {
        **HEAD,
        "type": "memodef:Transcript",
        "participants": [
            {"position": artifact.sender, "session_arc": f"arc {artifact.sent:%Y-%m-%d}"},
            {"position": "director", "identity": "director@example.org"},
        ],
        "started": f"{artifact.turns[0].at:%Y-%m-%dT%H:%M:%SZ}",
        "ended": f"{artifact.turns[-1].at:%Y-%m-%dT%H:%M:%SZ}",
        "subject": artifact.subject,
        "transport": "vscode-claude-code",
        "capture_tool": "ccc-ninja@0.14.2",
        "capture_format": "markdown",
        "related_memos": [f"{artifact.parent}.openthing"] if artifact.parent else [],
        "body_ref": f"{artifact.name}.body.md",
        "metadata": {"redaction_status": "raw"},
    }


def _organization() -> bytes:
    positions = [
        {
            "type": "orgdef:Position",
            "id": position,
            "name": position.replace("-", " ").capitalize(),
            "status": "staffed",
            "x.position.working_directory": f"../../{position.split('-')[0]}",
        }
        for position in (*POSITIONS, "director")
    ]
    relations = [{"type": "reports_to", "from": position, "to": POSITIONS[0]} for position in POSITIONS[1:]]
    head = {"catdef": "1.4", "orgdef": "1.0.0", "type": "orgdef:Organization", "id": "mainland", "version": "1.0.0"}
    value = {**head, "name": "Mainland", "relationships": relations, "items": positions}
    return (json.dumps(value, indent=2) + "\n").encode()


def _configuration() -> str:
    sources = "".join(f"  - path: {repo}\n" for repo in REPOS)
    head = (
        'title: Mainland\nbase_url: https://archive.example.org/\narchive_id: mainland\nauthority: "example.org,2026"\n'
    )
    return f"{head}sources:\n{sources}"


def _put(repo: Path, path: str, data: bytes) -> None:
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_bytes(data)


def _commit_history(site: Path, files: Iterable[tuple[str, Artifact]]) -> None:
    """Give each repo its history: what arrives is received, and later moved to the mailbox in which it lies now."""
    importers: dict[str, subprocess.Popen[bytes]] = {}
    for repo in REPOS:
        _git(site / repo, "init", "--quiet", "--initial-branch=main")
        command = ["git", "fast-import", "--quiet", "--done"]
        importers[repo] = subprocess.Popen(command, cwd=site / repo, stdin=subprocess.PIPE)
    streams = {repo: importer.stdin for repo, importer in importers.items() if importer.stdin}
    moves: list[tuple[datetime, str, str, tuple[tuple[str, str], ...]]] = []
    _commit(streams[REPOS[0]], "found the organization", 0, [_added(ORGANIZATION, _organization())])
    for repo, artifact in files:
        while moves and moves[0][0] <= artifact.sent:
            _move(streams, *heapq.heappop(moves))
        arrived = replace(artifact, box="inbox")
        added = list(files_of(arrived))
        what = f"receive {artifact.name}"
        _commit(streams[repo], what, _seconds(artifact.sent), [_added(path, data) for path, data in added])
        if artifact.box != "inbox":
            pairs = tuple((path, path.replace("memos/inbox/", f"memos/{artifact.box}/")) for path, _ in added)
            heapq.heappush(moves, (artifact.sent + timedelta(days=1), repo, artifact.name, pairs))
    while moves:
        _move(streams, *heapq.heappop(moves))
    for repo, importer in importers.items():
        importer.communicate(b"done\n")
        if importer.returncode:
            raise SystemExit(f"git fast-import failed in {site / repo}")
        _git(site / repo, "reset", "--quiet", "--hard")


def _move(
    streams: dict[str, IO[bytes]], at: datetime, repo: str, name: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    changes = [f'R "{old}" "{new}"\n'.encode() for old, new in pairs]
    _commit(streams[repo], f"read {name}", _seconds(at), changes)


def _commit(stream: IO[bytes], what: str, at: int, changes: list[bytes]) -> None:
    head = f"commit refs/heads/main\ncommitter Courier <courier@example.org> {at} +0000\ndata {len(what)}\n{what}\n"
    stream.write(head.encode() + b"".join(changes))


def _added(path: str, data: bytes) -> bytes:
    return f'M 100644 inline "{path}"\ndata {len(data)}\n'.encode() + data + b"\n"


def _seconds(at: datetime) -> int:
    return int(at.timestamp())


def _git(repo: Path, *arguments: str) -> None:
    """Run git without anybody's configuration."""
    names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _COURIER.items()}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **names}
    subprocess.run(["git", *arguments], cwd=repo, env=environment, check=True)


_COURIER = {"NAME": "Courier", "EMAIL": "courier@example.org"}
