"""The first step of the gate: finds secrets in contents and names, and removes them before anything is kept (SPEC 9).

    bytes of a file, now or formerly ─► known scan, or scan now ─► bytes without secrets + hits ─► parse, shelf, cache

    hits of files, of former contents, of names ─┬─► findings
                                                 └─► withhold: facts without content; redact: texts; fail: an error

The first is the same whatever is done about secrets (`secrets.mode`), so caches hold no secrets, and stay valid when
the mode changes. The second is decided once all is read; nothing is scanned for it.

On a public site the findings are for its operator alone: whoever reads them could go to the repo and take the key. So
is what memosite.yml names in vain: a name of what is withheld may be in it. Commands report these findings all the
same.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from memosite.archive.history import History
from memosite.archive.model import Archive, Artifact
from memosite.config.schema import SecretsConfig
from memosite.facts import rules
from memosite.facts.contents import without_content
from memosite.facts.errors import SecretsError
from memosite.facts.file import File
from memosite.facts.findings import Finding
from memosite.facts.layout import CONFIG_NAME
from memosite.facts.names import blob_id
from memosite.facts.parsed import (
    BodyFile,
    Envelope,
    Organization,
    Parsed,
    RecordCard,
    RecordFile,
    SessionFile,
    Withheld,
)
from memosite.facts.patterns import regex
from memosite.facts.texts import listed
from memosite.facts.values import Value, field, replace
from memosite.formats.sessions.parsing import form_of
from memosite.reading.redaction import Span, decode, encode, find_spans, fingerprints, redact, within_records
from memosite.reading.scans import KnownScans, Scanned
from memosite.secrets import kind_of
from memosite.sources.listing import Listing, shown_path

# The first step of the gate: removes secrets from contents and names before anything of them is kept (SPEC 9).


class Screened(Value):
    """A file without secrets, what was found in it, and where: for whoever scans in another process."""

    file: File
    hits: tuple[rules.SecretHit, ...]
    scanned: Scanned


class Screen(Value, kw_only=False):
    """Screens what is read of one source: by what is known of former scans, and with exceptions by fingerprint."""

    scans: KnownScans = field(default_factory=KnownScans)
    allowed: frozenset[str] = frozenset()

    def file(self, file: File) -> Screened:
        """Remove secrets from a file.

        Called for each content that is read: a file of a source, a former content from git (under the path it had
        then), and a file that is checked without an archive. A cached parse result was parsed from screened bytes.
        """
        id_, text = blob_id(file.data), decode(file.data)
        spans = found = self.scans.spans(id_, text)
        if any("\n" in text[span.start : span.end] for span in found) and form_of(file):
            spans = within_records(text, found, is_json=not file.name.lower().endswith(".md"))
        hits = tuple(self._hits(file.name, text, spans)) if spans else ()
        removed = [span for span, hit in zip(spans, hits, strict=True) if not hit.is_allowed]
        data = encode(redact(text, removed)) if removed else file.data
        return Screened(
            file=replace(file, data=data, blob=id_, is_redacted=bool(removed)), hits=hits, scanned={id_: found}
        )

    def _hits(self, name: str, text: str, spans: Iterable[Span]) -> Iterator[rules.SecretHit]:
        line, counted = 1, 0
        for span, fingerprint in zip(spans, fingerprints(name, text, spans), strict=True):
            line += text.count("\n", counted, span.start)
            counted = span.start
            yield rules.SecretHit(
                rule=span.rule,
                line=line,
                last_line=line + text.count("\n", span.start, span.end),
                fingerprint=fingerprint,
                is_allowed=fingerprint in self.allowed,
            )

    def agrees(self, hits: Iterable[rules.SecretHit]) -> bool:
        """Whether a file with these hits would be screened as it was: what is allowed may have changed."""
        return all(hit.is_allowed == (hit.fingerprint in self.allowed) for hit in hits)

    def names(self, names: Iterable[str]) -> Mapping[str, str]:
        """Those of these names that hold a secret, each with the name as it may be shown."""
        distinct = sorted(set(names))
        lines = "\n".join(distinct)
        if not self.scans.spans(blob_id(encode(lines)), lines):
            return {}
        return {name: redact(name, spans) for name, spans in ((name, find_spans(name)) for name in distinct) if spans}


# Decides what is done about the secrets that were found, once all is read; nothing is scanned for it (SPEC 9).


_REDACTED = regex(r"\[REDACTED:([^\]]+)\]")


_COMMITS_NAMED = 3


def with_mode(
    facts: Iterable[Parsed], histories: Mapping[str, History], secrets: SecretsConfig
) -> tuple[tuple[Parsed, ...], Mapping[str, History]]:
    """What is resolved in a mode: facts with their findings on secrets, and histories.

    Raises `SecretsError` if the mode is to fail and a secret was found that is not allowed, unless in an earlier
    version alone: nothing of that is published in this mode.
    """
    read = tuple(facts)
    now = frozenset(one.fact.file.blob for one in read if isinstance(one.fact, Envelope | BodyFile | SessionFile))
    present = frozenset(finding for one in read for finding in one.findings if finding.rule == rules.SECRET_IN_NAME)
    found = [
        *(finding for name, history in histories.items() for finding in _in_versions(name, history, secrets, now)),
        *(finding for name, history in histories.items() for finding in _in_names(name, history, present)),
        *_in_vain(read, histories.values(), secrets),
    ]
    result = tuple(decided(one, secrets) for one in read)
    if found:
        result += (Parsed(source="", path="", findings=tuple(dict.fromkeys(found))),)
    places = rules.withheld_for_secrets(finding for one in result for finding in one.findings)
    if secrets.mode == "fail" and places:
        raise SecretsError(places)
    if secrets.mode != "redact":
        histories = {name: _without_secrets(history) for name, history in histories.items()}
    return result, histories


def without_hidden_names(listing: Listing, screen: Screen) -> Listing:
    """A listing without the files in whose names there are secrets; they are not read, only counted among findings."""
    named = [finding.location.path for finding in listing.findings]
    hidden = screen.names((*listing.candidates, *listing.others, *listing.images, *named))
    if not hidden:
        return listing
    kept = (finding for finding in listing.findings if finding.location.path not in hidden)
    names = tuple(dict.fromkeys(name_finding(listing.source.name, shown_path(name)) for name in hidden.values()))
    return replace(
        listing,
        candidates=tuple(path for path in listing.candidates if path not in hidden),
        others=listing.others.difference(hidden),
        records=listing.records.difference(hidden),
        sessions=listing.sessions.difference(hidden),
        images=tuple(path for path in listing.images if path not in hidden),
        findings=(*kept, *names),
    )


def name_finding(source: str, redacted: str) -> Finding:
    """The finding on a path with a secret in it, by the path without it."""
    message = f"{_kinds(redacted)} in the name of a file in this folder, which is not read"
    return rules.SECRET_IN_NAME.finding(message, source=source, path=redacted.rpartition("/")[0])


def _kinds(redacted: str) -> str:
    return ", ".join(dict.fromkeys(map(kind_of, _REDACTED.findall(redacted))))


def decided(one: Parsed, secrets: SecretsConfig) -> Parsed:
    """The result of a file as the mode has it. A file that is no part of the archive is published in no mode."""
    hits = _not_allowed(one.secrets)
    if not hits:
        return one
    is_withheld = secrets.mode != "redact" and one.fact is not None
    rule = rules.SECRET_WITHHELD if is_withheld else rules.SECRET_REDACTED
    found = (
        rule.finding(
            f"{kind_of(hit.rule)}, fingerprint {hit.fingerprint}", source=one.source, path=one.path, line=hit.line
        )
        for hit in hits
    )
    left = _without_content(one, hits) if is_withheld else one
    return replace(left, findings=(*left.findings, *found))


def _without_content(parsed: Parsed, hits: tuple[rules.SecretHit, ...]) -> Parsed:
    """A file's facts without content: of a list without that of the records that hold a secret.

    An organization is no artifact, and routes the memos of all others: its texts are redacted.
    """
    withheld = Withheld(reason="secret", rules=tuple(dict.fromkeys(kind_of(hit.rule) for hit in hits)))
    fact = parsed.fact
    if isinstance(fact, Organization):
        return parsed
    if isinstance(fact, SessionFile) and fact.guarded:
        return replace(parsed, fact=fact.without_secrets())
    if isinstance(fact, RecordFile) and fact.is_list:
        return replace(parsed, fact=_without_records(fact, hits, withheld))
    return without_content(parsed, withheld)


def _without_records(file: RecordFile, hits: tuple[rules.SecretHit, ...], withheld: Withheld) -> RecordFile:
    """A list file; a record of it goes to the line where the next one begins."""
    begins = sorted(one.line for one in (*file.records, file.rest) if one is not None and one.line is not None)

    def kept(record: RecordCard) -> RecordCard:
        begin = record.line or 1
        end = next((line for line in begins if line > begin), None)
        holds = any(hit.last_line >= begin and (end is None or hit.line < end) for hit in hits)
        return record.without_content(withheld) if holds else record

    return replace(file, records=tuple(map(kept, file.records)), rest=kept(file.rest) if file.rest else None)


def _not_allowed(hits: Iterable[rules.SecretHit]) -> tuple[rules.SecretHit, ...]:
    """The secrets that are not allowed."""
    return tuple(hit for hit in hits if not hit.is_allowed)


def _in_versions(source: str, history: History, secrets: SecretsConfig, now: frozenset[str]) -> Iterator[Finding]:
    """The findings on earlier versions that would be shown; `now` are the blob ids of contents that files have now.

    What several versions have in the same line is one finding.
    """
    rule = rules.SECRET_REDACTED if secrets.mode == "redact" else rules.SECRET_FORMERLY
    found: dict[tuple[str, rules.SecretHit], list[str]] = {}
    for blob, former in history.secrets.items():
        for hit in _not_allowed(former.hits) if blob not in now else ():
            found.setdefault((former.path, hit), []).append(blob)
    made = _commits_by_blob(history) if found else {}
    for (path, hit), blobs in found.items():
        commits = list(dict.fromkeys(made[blob][:8] for blob in blobs if blob in made))
        where = f" (commit{'s' if len(commits) > 1 else ''} {listed(commits, _COMMITS_NAMED)})" if commits else ""
        message = f"{kind_of(hit.rule)} in an earlier version{where}, fingerprint {hit.fingerprint}"
        yield rule.finding(message, source=source, path=path, line=hit.line)


def _commits_by_blob(history: History) -> Mapping[str, str]:
    """The first commit that made each content."""
    made: dict[str, str] = {}
    for events in history.events.values():
        for event in events:
            made.setdefault(event.after, event.commit)
    return made


def _in_names(source: str, history: History, present: frozenset[Finding]) -> Iterator[Finding]:
    """The findings on the names that git has; `present` are those on names that files have now."""
    for kind, name in history.names:
        if kind == "path":
            now = name_finding(source, name)
            if now not in present:
                message = f"{_kinds(name)} in a former name of a file in this folder, which is not shown"
                yield replace(now, rule=rules.SECRET_FORMERLY_IN_NAME, message=message)
        else:
            yield rules.SECRET_REDACTED.finding(f"in the name of an author of commits: {name}", source=source)


def _without_secrets(history: History) -> History:
    """A history without the former contents that hold a secret which is not allowed."""
    return history.without_blobs({blob for blob, former in history.secrets.items() if _not_allowed(former.hits)})


def _in_vain(facts: Iterable[Parsed], histories: Iterable[History], secrets: SecretsConfig) -> Iterator[Finding]:
    """The findings on exceptions that fit nothing."""
    if not secrets.allow:
        return
    former = (hit for history in histories for one in history.secrets.values() for hit in one.hits)
    used = {hit.fingerprint for hits in ((hit for parsed in facts for hit in parsed.secrets), former) for hit in hits}
    for exception in secrets.allow:
        if exception.fingerprint not in used:
            message = f'"{exception.fingerprint}" fits no secret'
            yield rules.SECRET_ALLOWED_IN_VAIN.finding(message, path=CONFIG_NAME, line=exception.line or None)


# Keeps what is for the operator alone out of what everybody may see: where which secret is (SPEC 9, secrets).


_RULES = frozenset((*rules.SECRET_RULES, rules.ERASE_UNKNOWN, rules.ERASE_AMBIGUOUS, rules.WITHHOLD_IN_VAIN))


def for_everybody(archive: Archive) -> Archive:
    """The archive with the findings for its operator apart, and with no kinds of secrets."""
    return replace(
        archive,
        findings=_published(archive.findings),
        for_operator=tuple(finding for finding in archive.findings if finding.rule in _RULES),
        artifacts=MappingProxyType({ref: _without(one) for ref, one in archive.artifacts.items()}),
    )


def _published(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.rule not in _RULES)


def _without(artifact: Artifact) -> Artifact:
    """An artifact without such findings and kinds; the same object if it has none."""
    withheld, published = artifact.withheld, _published(artifact.findings)
    if len(published) < len(artifact.findings):
        artifact = replace(artifact, findings=published)
    if withheld is not None and withheld.rules:
        artifact = replace(artifact, withheld=replace(withheld, rules=()))
    return artifact
