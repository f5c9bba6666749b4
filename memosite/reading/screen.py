"""The first step of the gate: removes secrets from contents and names before anything of them is kept (SPEC 9).

    bytes of a file, now or formerly ─► known scan, or scan now ─► bytes without secrets + hits ─► parse, shelf, cache

It is the same whatever is done about secrets (`secrets.mode`): that is decided once all is read (`reading/modes.py`).
So caches hold no secrets, and stay valid when the mode changes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from memosite.facts.file import File
from memosite.facts.names import blob_id
from memosite.facts.secret_rules import SecretHit
from memosite.reading.redaction import Span, decode, encode, find_spans, fingerprints, redact
from memosite.reading.scans import KnownScans, Scanned


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """A file without secrets, what was found in it, and where: for whoever scans in another process."""

    file: File
    hits: tuple[SecretHit, ...]
    scanned: Scanned


@dataclass(frozen=True, slots=True)
class Screen:
    """Screens what is read of one source: by what is known of former scans, and with exceptions by fingerprint."""

    scans: KnownScans = field(default_factory=KnownScans)
    allowed: frozenset[str] = frozenset()

    def file(self, file: File) -> Screened:
        """Remove secrets from a file.

        Called for each content that is read: a file of a source, a former content from git (under the path it had
        then), and a file that is checked without an archive. A cached parse result was parsed from screened bytes.
        """
        id_, text = blob_id(file.data), decode(file.data)
        spans = self.scans.spans(id_, text)
        hits = tuple(self._hits(file.name, text, spans)) if spans else ()
        removed = [span for span, hit in zip(spans, hits, strict=True) if not hit.is_allowed]
        data = encode(redact(text, removed)) if removed else file.data
        return Screened(
            file=replace(file, data=data, blob=id_, is_redacted=bool(removed)), hits=hits, scanned={id_: spans}
        )

    def _hits(self, name: str, text: str, spans: Iterable[Span]) -> Iterator[SecretHit]:
        line, counted = 1, 0
        for span, fingerprint in zip(spans, fingerprints(name, text, spans), strict=True):
            line += text.count("\n", counted, span.start)
            counted = span.start
            yield SecretHit(
                rule=span.rule,
                line=line,
                last_line=line + text.count("\n", span.start, span.end),
                fingerprint=fingerprint,
                is_allowed=fingerprint in self.allowed,
            )

    def agrees(self, hits: Iterable[SecretHit]) -> bool:
        """Whether a file with these hits would be screened as it was: what is allowed may have changed."""
        return all(one.is_allowed == (one.fingerprint in self.allowed) for one in hits)

    def names(self, names: Iterable[str]) -> Mapping[str, str]:
        """Those of these names that hold a secret, each with the name as it may be shown."""
        distinct = sorted(set(names))
        listed = "\n".join(distinct)
        if not self.scans.spans(blob_id(encode(listed)), listed):
            return {}
        found = ((name, find_spans(name)) for name in distinct)
        return {name: redact(name, spans) for name, spans in found if spans}
