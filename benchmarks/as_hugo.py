"""[I/O] Writes the same texts for other tools: as a Hugo site, and as bare HTML pages for Pagefind alone."""

import html
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from benchmarks.as_capture import body_text
from benchmarks.organization import Artifact

THEME = Path(__file__).parent / "hugo"


def write_hugo(folder: Path, artifacts: Iterable[Artifact]) -> None:
    """Make a Hugo site: the theme, and a Markdown file each artifact."""
    shutil.copytree(THEME, folder)
    for artifact in artifacts:
        add_to_hugo(folder, artifact)


def add_to_hugo(folder: Path, artifact: Artifact) -> None:
    """Write an artifact as Hugo content: front matter and Markdown."""
    people = [artifact.sender, *([artifact.to] if artifact.kind == "memo" else [])]
    front = {
        "title": artifact.subject,
        "date": f"{artifact.sent:%Y-%m-%dT%H:%M:%SZ}",
        "positions": people,
        "months": [f"{artifact.sent:%Y-%m}"],
    }
    path = folder / "content" / f"{artifact.kind}s" / f"{artifact.name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{json.dumps(front, indent=1)}\n\n{_texts(artifact)}")


def write_bare_pages(folder: Path, artifacts: Iterable[Artifact]) -> None:
    """Make a page each artifact, of nothing but its subject and text: all that a search needs."""
    for artifact in artifacts:
        title, texts = html.escape(artifact.subject), html.escape(_texts(artifact))
        body = "".join(f"<p>{text}</p>\n" for text in texts.split("\n\n"))
        path = folder / f"{artifact.kind}s" / artifact.name / "index.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
        path.write_text(f"{head}<body><h1>{title}</h1>\n{body}</body></html>\n")


def _texts(artifact: Artifact) -> str:
    return "\n\n".join(filter(None, (artifact.summary, body_text(artifact))))
