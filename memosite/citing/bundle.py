"""[I/O] Writes an evidence packet: what verifies citations, for those who have neither memosite nor the repos (SPEC 7).

Each citation has a folder: the source text that was hashed, the turns around it, the originals, and their proofs from
the sealed log. `check.py` and README.txt say how to check them.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from memosite.archive.seals import SealLog, parse_seals, prove
from memosite.citing import Item, Sources
from memosite.citing.verifying import Checked
from memosite.facts.errors import ConfigError, OutputError

_README = """\
Evidence for citations of an archive of memos and transcripts.

verdicts.json   what was said of each citation, in their order; citation 1 is in the folder 1, and so on
SHA256SUMS      the SHA-256 of every file in these folders, and of verdicts.json
check.py        checks everything that is listed below; it needs Python 3.10 or later and nothing else

In each folder, as far as it is known:

source.txt      the source text: the bytes that the citation's sha256 is of. If it says "commit", the file had this
                text in that commit: git show COMMIT:PATH
source-t*.txt   of a range of turns: the source text of each. Then source.txt is the list of their hashes
around.md       the source text with what comes before and after it, to be read, not to be verified
original.*      the published originals, byte for byte; source.txt is a part of one of them (of a JSON file: of a
                string in it)
former.txt      the whole text that one of the files had in the commit that verdicts.json names as "version"
proof-*.json    that an original is sealed: its leaf in the sealed log, and the way up to the root

To check without any program of ours:

  sha256sum -c SHA256SUMS           nothing in this packet was changed since it was made
  sha256sum 1/source.txt            equals the sha256 in the citation
  python3 check.py [ROOT]           the same for all, and every proof; ROOT is a root of the sealed log that you kept
                                    elsewhere, or read on the health page of the archive: then each citation needs a
                                    proof that leads to it

A packet proves that these were the words of the source, and, with a root that was kept elsewhere, since when. It does
not prove that what they say is true.
"""

_CHECK = r'''"""Checks this packet: python3 check.py [ROOT]"""

import hashlib
import json
import pathlib
import sys


def sha(data):
    return hashlib.sha256(data).digest()


def tree_of(proof):
    """The root of the month's tree that a leaf leads to (RFC 6962)."""
    found, index, size = sha(b"\0" + proof["leaf"].encode()), proof["index"], proof["size"]
    beside = [bytes.fromhex(one) for one in proof["path"]]
    while size > 1:
        if index ^ 1 < size and beside:
            other = beside.pop(0)
            found = sha(b"\1" + (other + found if index & 1 else found + other))
        index, size = index >> 1, (size + 1) >> 1
    return found.hex()


here, faults, proven = pathlib.Path(__file__).resolve().parent, [], set()
root = "".join(sys.argv[1:]).lower()


def check_sums(_):
    """Every file in the folders of the citations has its line, and every line its file."""
    listed = dict(row.split("  ", 1)[::-1] for row in (here / "SHA256SUMS").read_text("utf-8").splitlines())
    for name, digest in listed.items():
        if not (here / name).is_file() or sha((here / name).read_bytes()).hex() != digest:
            faults.append(f"{name}: changed or removed")
    there = [path.relative_to(here).as_posix() for path in sorted(here.glob("[0-9]*/*"))]
    faults.extend(f"{name}: in no line of SHA256SUMS" for name in [*there, "verdicts.json"] if name not in listed)


def check_proof(path):
    """A proof is of the original beside it, and leads to its month, and from there to the root that was asked for."""
    name, proof = path.relative_to(here).as_posix(), json.loads(path.read_text("utf-8"))
    leaf, months = json.loads(proof["leaf"]), proof["months"]
    original = path.parent / path.name[len("proof-") : -len(".json")]
    if sha(original.read_bytes()).hex() != leaf["sha256"]:
        faults.append(f"{name}: the original is another one")
    if tree_of(proof) != months[0]["tree"]:
        faults.append(f"{name}: the leaf does not lead to its month")
    for before, month in zip([None, *months], months):
        said = f"{month['previous']} {month['tree']} {month['month']} {month['leaves']}"
        if sha(b"\2" + said.encode()).hex() != month["root"] or (before and before["root"] != month["previous"]):
            faults.append(f"{name}: the root of {month['month']} does not follow")
    if root and root not in [month["root"] for month in months]:
        faults.append(f"{name}: does not lead to that root")
    proven.add(path.parent.name)


def check_citations(_):
    """The source text of each citation has the hash that it names; of what is asked to be sealed, there is a proof."""
    for number, verdict in enumerate(json.loads((here / "verdicts.json").read_text("utf-8")), 1):
        source = here / str(number) / "source.txt"
        if not source.is_file():
            faults.extend([f"{number}: has no source text"] if verdict["holds"] else [])
            continue
        if verdict["sha256"] and sha(source.read_bytes()).hex() != verdict["sha256"]:
            faults.append(f"{number}: the source text has another hash than the citation")
        turns = sorted(source.parent.glob("source-t*.txt"), key=lambda path: int(path.stem[len("source-t") :]))
        if turns and [sha(turn.read_bytes()).hex() for turn in turns] != source.read_text("utf-8").split():
            faults.append(f"{number}: the turns have other hashes than source.txt lists")
        if root and str(number) not in proven:
            faults.append(f"{number}: nothing proves it by that root")


steps = [(check_sums, here / "SHA256SUMS"), *((check_proof, one) for one in sorted(here.glob("*/proof-*.json")))]
for step, path in [*steps, (check_citations, here / "verdicts.json")]:
    try:
        step(path)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        faults.append(f"{path.relative_to(here)}: cannot be checked ({type(error).__name__}: {error})")
shown = ("".join(one if one.isprintable() else ascii(one)[1:-1] for one in fault) for fault in faults)
print("\n".join(shown) or "verified: every hash and every proof holds")
sys.exit(bool(faults))
'''


def write_bundle(folder: Path, checked: Sequence[tuple[Checked, dict[str, object]]], sources: Sources) -> None:
    """Write the packet of these verdicts, each with its fields, to a folder that is not there yet, or empty.

    Raises `ConfigError` if it holds anything, `OutputError` if it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"--bundle {folder}: found something there, expected a new or empty folder")
    log = parse_log(sources.seals())
    sums: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (one, _) in enumerate(checked, 1):
            for name, data in _files(one, sources, log):
                path = folder / str(number) / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(data)
                sums.append(f"{hashlib.sha256(data).hexdigest()}  {number}/{name}\n")
        verdicts = f"{json.dumps([fields for _, fields in checked], indent=2)}\n"
        sums.append(f"{hashlib.sha256(verdicts.encode()).hexdigest()}  verdicts.json\n")
        texts = {"README.txt": _README, "check.py": _CHECK, "verdicts.json": verdicts, "SHA256SUMS": "".join(sums)}
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{error.filename or folder}: cannot be written ({error.strerror})") from error


def parse_log(text: str) -> SealLog:
    """The sealed log; an empty one if it is damaged, since then it proves nothing."""
    try:
        return parse_seals(text)
    except ValueError:
        return SealLog()


def _files(one: Checked, sources: Sources, log: SealLog) -> Iterator[tuple[str, bytes]]:
    name = one.ref.partition("#")[0]
    if one.source:
        yield "source.txt", one.source.encode("utf-8", "surrogatepass")
    for anchor, text in one.turns:
        yield f"source-{anchor}.txt", text.encode("utf-8", "surrogatepass")
    if one.version and one.former:
        yield "former.txt", one.former.encode("utf-8", "surrogatepass")
    if name not in sources.names:
        return
    item = sources.item(name)
    if item.why_not:
        return
    around = _around(item, one)
    if around:
        yield "around.md", around.encode("utf-8", "surrogatepass")
    latest = log.latest()
    for path, data in sources.originals(item):
        file = path.rpartition("/")[2]
        yield file, data
        leaf = latest.get(path)
        proof = prove(log, leaf.number) if leaf and leaf.sha256 == hashlib.sha256(data).hexdigest() else None
        if proof:
            yield f"proof-{file}.json", f"{json.dumps(proof.as_fields(), indent=1)}\n".encode()


def _around(item: Item, one: Checked) -> str:
    """A turn with the one before it and the one after it; of another text, all of it."""
    place = item.place(one.ref.partition("#")[2]) if "#" in one.ref else None
    body = item.bodies[place.body] if place else next(iter(item.bodies), None)
    if place is None or body is None or not body.is_conversation:
        return body.text if body else ""
    spans = item.turn_spans
    held = [at for at, (_, start, end) in enumerate(spans) if start < place.end and place.start < end]
    if not held:
        return body.text[place.start : place.end]
    before, after = max(held[0] - 1, 0), min(held[-1] + 1, len(spans) - 1)
    start = body.text.rfind("\n## ", 0, spans[before][1]) + 1
    return body.text[start : spans[after][2]] + "\n"
