"""Prints the items of the feed at an address as JSON, as feedparser reads them; a file keeps its validators."""

import json
import sys
from pathlib import Path

import feedparser

address, file = sys.argv[1], Path(sys.argv[2])
known = json.loads(file.read_text()) if file.exists() else {}
feed = feedparser.parse(address, etag=known.get("etag"), modified=known.get("modified"))
if feed.bozo:
    sys.exit(f"feedparser: {feed.bozo_exception}")
file.write_text(json.dumps({"etag": feed.get("etag"), "modified": feed.get("modified")}))
items = [
    {"guid": one.id, "path": one.memo_path, "title": one.title}
    | {"line": one.content[0].value if "content" in one else one.summary}
    for one in feed.entries
]
print(json.dumps(items))
