"""The gate: two filters that all content passes, for secrets, and for audience and erasure (SPEC 9).

    bytes of a file, now or formerly ─► screen ─► parse, shelf ─► resolve ─► revise ─┬─► cache, plan, search, export …
                                       (secrets)                   ▲   (audience,    │
                                                                   │     erasure)    │
                                                                   └── what is left ─┘

No command can skip them: `open_archive` is the only way to an archive, and applies both. The first is in `screen`, and
what is done about secrets, once all is read, in `modes`. The rules of the second are in `audience` and `erasure`.

`revise` takes nothing out of an archive: it takes it out of what the archive is resolved from, which is then resolved
again. So threads, missing memos, positions, counts, links, removals and findings are those of what is left, and
nothing that comes later has a rule of its own.

They filter the contents of files, present and former ones from git, and names: paths, and authors of commits.
"""

from collections.abc import Callable

from memosite.archive.model import Archive
from memosite.reading.audience import withhold
from memosite.reading.content import Content, Policy, Reread
from memosite.reading.erasure import erase
from memosite.store.shelf import Shelf

Step = Callable[[Content, Archive, Policy, Shelf, Reread], Content]
"""One of the rules of `revise`: gives the content that it leaves, the same object if it leaves all."""

_STEPS: tuple[Step, ...] = (withhold, erase)


def revise(content: Content, archive: Archive, policy: Policy, shelf: Shelf, reread: Reread) -> Content | None:
    """The content that a policy leaves, to be resolved again; None if the archive may stay as it is.

    `archive` is what the whole content gave: whether an artifact may be seen is decided of all its copies at once.
    Bytes are on the `shelf`; those that are changed are put there, by `reread` those of files.
    """
    left = content
    for step in _STEPS if policy.revises else ():
        left = step(left, archive, policy, shelf, reread)
    return None if left is content else left
