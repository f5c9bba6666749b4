"""Identity: which files are copies of one artifact, and which id each artifact has (SPEC 3, identity and copies)."""

import datetime as dt
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from memosite.archive.ledger import Ledger, identity_key
from memosite.archive.model import UNDATED, Variant
from memosite.facts import rules
from memosite.facts.findings import Finding, Location
from memosite.facts.names import make_id, read_stamped_name, short_hash
from memosite.facts.parsed import Envelope, Kind, Ref
from memosite.resolve.bodies import JoinedCopy
from memosite.resolve.withheld import alike
from memosite.run.recall import FORGETFUL, Recall


@dataclass(kw_only=True)
class CopyGroup:
    """The copies of one artifact, and the id they were given; `variants` are in display order.

    `plain` is the id that its name alone gives. It and `id` are set in each resolve, even if the group is memoized:
    memoized calls must get the id as a separate argument.
    """

    kind: Kind
    stem: str
    sender: str
    to: tuple[str, ...]
    sent: str
    instant: dt.datetime
    copies: tuple[JoinedCopy, ...] = ()
    variants: list[Variant] = field(default_factory=list)
    variant_of: list[int] = field(default_factory=list)
    plain: str = ""
    id: str = ""

    @property
    def ref(self) -> Ref:
        """The artifact's name in the archive."""
        return (self.kind, self.id)

    @cached_property
    def key(self) -> str:
        """The key that distinguishes it from other artifacts of its name."""
        is_speechless = bool(self.variants) and self.envelope.shape in {"broken", "bare"}
        return identity_key(self.stem, self.sender, ",".join(self.to), "?" if is_speechless else self.sent)

    @property
    def sent_at(self) -> dt.datetime:
        """When it was sent, as it says itself, else as its name's stamp does."""
        stamp = read_stamped_name(self.stem).date if self.instant == UNDATED else None
        return stamp.instant if stamp else self.instant

    @property
    def envelope(self) -> Envelope:
        """The envelope of the variant shown first."""
        return self.variants[0].envelope


LastChange = Callable[[JoinedCopy], float]
"""When a copy was last committed, in seconds; the beginning of time if that is not known."""


def _never(_copy: JoinedCopy) -> float:
    return float("-inf")


_Key = tuple[object, ...]


def group_copies(
    joined: Iterable[JoinedCopy], last_change: LastChange = _never, *, recall: Recall = FORGETFUL
) -> list[CopyGroup]:
    """Group the copies, in the order of the sources, and find the variants among the copies of each artifact."""
    found: dict[_Key, list[JoinedCopy]] = {}
    speechless: list[JoinedCopy] = []
    key_of = recall.calls(_key)
    for copy in joined:
        envelope = copy.envelope
        if envelope.shape in {"broken", "bare"}:
            speechless.append(copy)
        else:
            found.setdefault(key_of((envelope.file.source, envelope.file.path), envelope), []).append(copy)
    by_name = _by_name(found) if speechless else {}
    for copy in speechless:  # only their name is known: copies of the one artifact of that name
        name = _name(copy.envelope)
        for place in (name, (*name, copy.envelope.file.source)):
            if len(named := by_name.get(place, ())) == 1:
                found[next(iter(named))].append(copy)
                break
        else:
            found.setdefault(name, []).append(copy)
    grouped = recall.calls(_group)
    return [
        grouped(key, alike(tuple(copies)), tuple(map(last_change, copies)) if len(copies) > 1 else ())
        for key, copies in found.items()
    ]


def _by_name(found: Mapping[_Key, Iterable[JoinedCopy]]) -> dict[_Key, set[_Key]]:
    """The keys of artifacts by name, and by name and source."""
    by_name: dict[_Key, set[_Key]] = defaultdict(set)
    for key, copies in found.items():
        name = key[:2]
        by_name[name].add(key)
        for copy in copies:
            by_name[(*name, copy.envelope.file.source)].add(key)
    return by_name


def _name(envelope: Envelope) -> _Key:
    return (envelope.kind == "transcript", unicodedata.normalize("NFC", envelope.stem))


def _key(envelope: Envelope) -> _Key:
    """Copies are of one name, sender, recipient and time; `Z` and `+00:00` are one time."""
    sent = envelope.sent_text.strip()
    instant = envelope.sent.instant if envelope.sent else UNDATED
    return (*_name(envelope), _sender(envelope), envelope.to, sent if instant == UNDATED else instant)


def _sender(envelope: Envelope) -> str:
    if envelope.kind == "transcript":
        return ",".join(participant.position for participant in envelope.participants)
    return envelope.sender


def _group(copies: tuple[JoinedCopy, ...], changes: tuple[float, ...]) -> CopyGroup:
    """The group of these copies. `changes` are the times of their last commits, if there are several."""
    envelope = copies[0].envelope
    group = CopyGroup(
        kind=envelope.kind,
        stem=unicodedata.normalize("NFC", envelope.stem),
        sender=_sender(envelope),
        to=envelope.to,
        sent=envelope.sent_text.strip(),
        instant=envelope.sent.instant if envelope.sent else UNDATED,
        copies=copies,
    )
    _find_variants(group, changes)
    return group


def _find_variants(group: CopyGroup, changes: tuple[float, ...]) -> None:
    """Find the variants. The first is a readable one: that with the latest commit, else with `discharged`.

    If neither decides, it is the first found (SPEC 3, copies).
    """
    found: dict[tuple[str, str | None], list[int]] = defaultdict(list)
    for index, key in enumerate(_variant_keys(group)):
        found[key].append(index)

    def rank(indexes: list[int]) -> tuple[bool, float, bool, int]:
        envelope = group.copies[indexes[0]].envelope
        changed = max(changes[index] for index in indexes) if len(found) > 1 else 0.0
        return (envelope.shape in {"broken", "bare"}, -changed, envelope.discharge is None, indexes[0])

    group.variant_of = [0] * len(group.copies)
    for number, indexes in enumerate(sorted(found.values(), key=rank)):
        copies = [group.copies[index] for index in indexes]
        body = next((copy.body for copy in copies if copy.body is not None), None)
        group.variants.append(Variant(envelope=copies[0].envelope, body=body))
        for index in indexes:
            group.variant_of[index] = number
    group.kind = group.envelope.kind


def _variant_keys(group: CopyGroup) -> list[tuple[str, str | None]]:
    """The keys of variants: the envelope's content, and the body.

    A copy without its body is no variant of its own beside one that has it, nor is a body without its envelope if
    another copy has the same body.
    """
    with_body: dict[str, tuple[str, str | None]] = {}
    of_body: dict[str, tuple[str, str | None]] = {}
    for copy in group.copies:
        if copy.body is not None and copy.envelope.shape not in {"broken", "bare"}:
            key = (copy.envelope.content_sha256, copy.body.text.sha256)
            with_body.setdefault(key[0], key)
            of_body.setdefault(copy.body.text.sha256, key)
    keys = []
    for copy in group.copies:
        content, body = copy.envelope.content_sha256, copy.body.text.sha256 if copy.body else None
        if body is None:
            keys.append(with_body.get(content, (content, None)))
        elif copy.envelope.shape == "bare":
            keys.append(of_body.get(body, ("", body)))
        else:
            keys.append((content, body))
    return keys


def assign_ids(groups: list[CopyGroup], ledger: Ledger) -> tuple[Finding, ...]:
    """Give each group its id; where several claim one, the ledger decides, else the earliest keeps it."""
    ids, keys = ledger.ids_by_key, ledger.keys_by_ref
    published = _published(ledger)
    claims: dict[tuple[Kind, str], list[CopyGroup]] = defaultdict(list)
    for group in groups:
        group.plain = make_id(group.stem)
        group.id = ids.get((group.kind, group.key), "") or group.plain
        claims[(group.kind, group.id.casefold())].append(group)
    taken = {*claims, *published}
    contested = [
        (claim, claimants)
        for claim, claimants in claims.items()
        if len(claimants) > 1 or claimants[0].id != published.get(claim, claimants[0].id)
    ]
    for claim, claimants in sorted(contested, key=lambda item: item[0]):
        rivals = sorted(claimants, key=lambda group: _precedence(group, ids, keys)) if len(claimants) > 1 else claimants
        is_taken = rivals[0].id != published.get(claim, rivals[0].id)  # by a removed artifact, in another case
        for loser in rivals if is_taken else rivals[1:]:
            loser.id = _other_id(loser, taken)
            taken.add((loser.kind, loser.id.casefold()))
    return tuple(_collisions(groups))


def _collisions(groups: Iterable[CopyGroup]) -> Iterator[Finding]:
    """A finding on each artifact that has another's name, whether it got its id now or in an earlier build."""
    by_name: dict[tuple[Kind, str], list[CopyGroup]] = {}
    for group in groups:
        by_name.setdefault((group.kind, group.plain.casefold()), []).append(group)
    for claim in sorted(claim for claim, rivals in by_name.items() if len(rivals) > 1):
        rivals = sorted(by_name[claim], key=lambda group: (group.id.casefold() != group.plain.casefold(), group.id))
        winner = rivals[0].envelope.file
        for loser in rivals[1:]:
            file = loser.envelope.file
            message = f"the name is also that of {winner.source}/{winner.path}, a different {loser.kind}"
            yield Finding(
                rule=rules.ID_COLLISION, location=Location(source=file.source, path=file.path), message=message
            )


def _published(ledger: Ledger) -> dict[tuple[Kind, str], str]:
    """Published ids by their casefolded form; of two ids with one form the first."""
    published: dict[tuple[Kind, str], str] = {}
    for arrival in ledger.arrivals:
        published.setdefault((arrival.kind, arrival.id.casefold()), arrival.id)
    return published


def _precedence(
    group: CopyGroup, ids: Mapping[tuple[Kind, str], str], keys: Mapping[Ref, str]
) -> tuple[bool, bool, dt.datetime, str, str, str, str]:
    """In the ledger under this id, in the ledger at all, else the smallest (sent, from, to)."""
    is_current = keys.get(group.ref) == group.key
    is_known = (group.kind, group.key) in ids
    return (not is_current, not is_known, group.instant, group.sender, ",".join(group.to), group.sent, group.stem)


def _other_id(group: CopyGroup, taken: set[tuple[Kind, str]]) -> str:
    """`~` and 8 hex of SHA-256(from NUL to NUL sent) (SPEC 3); again if that is taken too."""
    text = f"{group.sender}\0{','.join(group.to)}\0{group.sent}"
    id_ = group.plain
    while True:
        id_ = f"{id_}~{short_hash(text)}"
        if (group.kind, id_.casefold()) not in taken:
            return id_
        text += f"\0{group.stem}"  # same sender, recipient and time under names that differ by case alone


def variant_findings(groups: Iterable[CopyGroup]) -> Iterable[Finding]:
    """A finding for each further variant; unreadable ones have their own."""
    for group in groups:
        for variant in group.variants[1:]:
            if variant.envelope.shape in {"broken", "bare"}:
                continue
            file, other = variant.envelope.file, group.envelope.file
            message = f"its content differs from that of {other.source}/{other.path}"
            yield Finding(
                rule=rules.COPIES_DIFFER, location=Location(source=file.source, path=file.path), message=message
            )
