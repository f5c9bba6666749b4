"""[I/O] What was found of shared passages last, as rows of the file that remembers.

They have the words of no text, but how passages begin. Each build leaves those of its own archive as soon as it has
read it, and none of what is not in that any more.
"""

import marshal
from collections import defaultdict

from memosite.plan.shared_passages import Common, End, KnownPassages, TextKey
from memosite.quotes.index import pack_runs, unpack_runs
from memosite.store.state import PASSAGES, RUNS, State


def read_known(state: State) -> KnownPassages:
    """What the last build found; nothing if there was none, or none of this program."""
    known = KnownPassages()
    common: defaultdict[int, list[TextKey]] = defaultdict(list)
    with state.reading():
        runs, passages = state[RUNS].items(), state[PASSAGES].items()
    if not state.is_kept:
        return known
    for (sha256, key), data in runs:
        row, shared = marshal.loads(data)  # noqa: S302 - signed by this user
        known.rows[str(key)] = str(sha256), row
        for run in unpack_runs(shared):
            common[run].append(str(key))
    for (one, other), data in passages:
        of, some = marshal.loads(data)  # noqa: S302 - as above
        found = tuple(Common(words, End(*here), End(*there)) for words, here, there in some)
        known.pairs[str(one), str(other)] = of, found
    known.common = dict(common)
    return known


def write_known(state: State, known: KnownPassages) -> None:
    """Write what is known, if it is new: the rows of texts and pairs that changed."""
    if not known.is_new:
        return
    shared: defaultdict[TextKey, list[int]] = defaultdict(list)
    for run, keys in known.common.items():
        for key in keys:
            shared[key].append(run)
    runs = (
        ((sha256, key), marshal.dumps((row, pack_runs(shared.get(key, ()))), 2))
        for key, (sha256, row) in known.rows.items()
    )
    passages = (
        (pair, marshal.dumps((of, [(each.words, tuple(each.one), tuple(each.other)) for each in some]), 2))
        for pair, (of, some) in known.pairs.items()
    )
    with state.writing():
        state[RUNS].replace(runs)
        state[PASSAGES].replace(passages)
    known.is_new = False
