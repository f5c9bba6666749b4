"""Groups artifacts, so that commands which show few of them need not look at all of them."""

import re
from collections import defaultdict
from collections.abc import Iterable

from memosite.archive.model import Artifact, Memo, Record
from memosite.facts.parsed import Ref
from memosite.formats.standing import sort_of

_HANDOFF = re.compile(r"hand-?(?:off|over)", re.IGNORECASE)


def group_artifacts(artifacts: Iterable[Artifact]) -> dict[str, tuple[Ref, ...]]:
    """The groups of `Archive.groups`, by name; `artifacts` are in order of arrival."""
    found: dict[str, list[Ref]] = defaultdict(list)
    for artifact in artifacts:
        for position in artifact.positions:
            found[f"position/{position}"].append(artifact.ref)
        if isinstance(artifact, Memo):
            if artifact.kind == "memo" and artifact.is_broadcast:
                found["broadcasts"].append(artifact.ref)
        elif sort_of(artifact) == "decision":
            found["decisions"].append(artifact.ref)
        elif isinstance(artifact, Record) and _HANDOFF.search(f"{artifact.card.type} {artifact.card.section}"):
            found["handoffs"].append(artifact.ref)
    return {name: tuple(found[name]) for name in sorted(found)}
