"""Judges the citations that an archive makes of itself, and those of manuscripts, by the archive as it is (SPEC 7).

    citations, found when a file was parsed ─► the artifact each one names ─► its passages ─► holds, broken, not judged

Only what is cited is cut into passages. Former versions are not looked into: `verify` says in which one a citation
held.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256

from memosite.archive.citations import CitationState, MadeCitation
from memosite.archive.lines import all_texts
from memosite.archive.model import Archive, Artifact, Document, Memo
from memosite.archive.notices import notice_on
from memosite.citing.archived import ArchiveSources
from memosite.citing.verifying import Checked, verify_citation
from memosite.citing.words import diff_lines
from memosite.facts.citation_rules import CITATION_BROKEN
from memosite.facts.errors import ConfigError
from memosite.facts.findings import Finding, Location
from memosite.facts.json_text import clean_text
from memosite.facts.parsed import FileFacts, LineOf, Ref
from memosite.facts.texts import cut_line
from memosite.facts.written import Written
from memosite.markdown.places import read_places
from memosite.passages.bodies import SourceBody, bodies_of

TextOf = Callable[[str], str]

_REDACTED = "secrets in it were redacted, so that its text cannot be compared"
_VERBATIM = "it is not cut into passages, so that its text cannot be compared"
_QUOTE, _SAID, _WRITTEN = 240, 300, 300


def citations_of(
    archive: Archive,
    manuscripts: Mapping[str, Iterable[Written]],
    text_of: TextOf,
    line_of: LineOf,
    *,
    base_url: str | None,
) -> tuple[MadeCitation, ...]:
    """All citations that memos, notes and documents make of the archive, in order of arrival; then of manuscripts.

    `manuscripts` are the citations of each, by the path that readers are shown.
    """
    judge = _Judge(archive, text_of, base_url)
    found: list[MadeCitation] = []
    for artifact in archive.artifacts.values():
        if isinstance(artifact, Memo | Document) and any(text.citations for text in all_texts(artifact)):
            found += _of_artifact(artifact, judge, text_of, line_of)
    for path, citations in manuscripts.items():
        for one in citations:
            found += judge.made(one, Location(source="", path=path, line=one.line), None, "")
    return tuple(found)


def with_citations(archive: Archive, citations: tuple[MadeCitation, ...], others: Iterable[Finding]) -> Archive:
    """The archive with its citations, with a finding on each of them that does not hold, and with other findings."""
    findings = {one: finding_on(one) for one in citations if one.state == "broken"}
    others = tuple(others)
    if not (findings or others):
        return replace(archive, citations=citations)
    artifacts = dict(archive.artifacts)
    for one, finding in findings.items():
        if one.by is not None:
            artifact = artifacts[one.by]
            artifacts[one.by] = replace(artifact, findings=_sorted((*artifact.findings, finding)))
    every = _sorted((*archive.findings, *findings.values(), *others))
    return replace(archive, citations=citations, artifacts=artifacts, findings=every)


def finding_on(citation: MadeCitation) -> Finding:
    """The finding on a citation that does not hold."""
    message = f"{citation.written}: {citation.said}; expected what is cited"
    return Finding(rule=CITATION_BROKEN, location=citation.location, message=message)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(set(findings), key=lambda one: one.sort_key))


def _of_artifact(artifact: Artifact, judge: "_Judge", text_of: TextOf, line_of: LineOf) -> Iterator[MadeCitation]:
    written = {text.sha256: text.citations for text in all_texts(artifact)}
    for body in bodies_of(artifact, text_of):
        citations = written.get(sha256(body.text.encode()).hexdigest(), ())
        if not citations:
            continue
        places, line_at = read_places(body.text), _lines(artifact, body, text_of, line_of)
        for one in citations:
            anchor = places.at_line(one.line) or ""
            where = Location(source=body.source, path=body.path, line=line_at(one.line))
            yield from judge.made(one, where, artifact.ref, body.prefix + anchor if anchor else "")


def _lines(artifact: Artifact, body: SourceBody, text_of: TextOf, line_of: LineOf) -> Callable[[int], int | None]:
    """From the lines of a body to those of its file; in JSON, to the line of the string."""
    if body.part:
        envelope = artifact.variants[0].envelope.file if isinstance(artifact, Memo) else None
        line = line_of(envelope, body.part.removeprefix("/")) if envelope else None
        return lambda _: line
    if not body.before:
        return lambda line: line
    original = clean_text(text_of(_file(artifact, body.path).sha256)).removeprefix("\ufeff").encode()
    before = original.count(b"\n", 0, body.before)
    return lambda line: before + line


def _file(artifact: Artifact, path: str) -> FileFacts:
    return next(copy.file for copy in artifact.copies if copy.file.path == path)


class _Judge:
    """Judges citations; each artifact that is cited is read once."""

    def __init__(self, archive: Archive, text_of: TextOf, base_url: str | None) -> None:
        self._sources = _AsItIs(archive, text_of, base_url=base_url)

    def made(self, one: Written, where: Location, by: Ref | None, anchor: str) -> Iterator[MadeCitation]:
        """A citation with its verdict; none if it is of another archive."""
        name = self._sources.named(one)
        if name is None and not self._sources.is_ours(one):
            return
        checked = verify_citation(one, self._sources)
        state, said = self._state(checked, name, one)
        artifact = self._sources.known(name) if name else None
        is_withheld = state == "not judged" and (artifact is None or artifact.withheld is not None)
        yield MadeCitation(
            location=where,
            by=by,
            by_anchor=anchor,
            to=artifact.ref if artifact else None,
            anchor=checked.ref.partition("#")[2] if artifact else "",
            written=cut_line(one.ref or one.url, _WRITTEN),
            quote="" if is_withheld else cut_line(one.quote, _QUOTE),  # nor do pages show what was erased
            state=state,
            said=cut_line(said, _SAID),
        )

    def _state(self, checked: Checked, name: str | None, one: Written) -> tuple[CitationState, str]:
        said = "; ".join(checked.details) if not checked.tier.holds and checked.details else checked.said
        said += "".join(f": {line.strip()}" for line in diff_lines(checked.changes, is_cut=checked.is_cut))
        if name is None:
            erased = self._sources.erased(one.ref.partition("#")[0])
            return ("not judged", erased) if erased else ("broken", said)
        if checked.holds():
            return "holds", said
        item = self._sources.item(name)
        if item.why_not:
            return "not judged", item.why_not
        if any(body.is_redacted for body in item.bodies):
            return "not judged", _REDACTED
        if not item.bodies:
            return "not judged", _VERBATIM
        return "broken", said


class _AsItIs(ArchiveSources):
    """Items of an archive by their whole names, for whoever sees this archive: nothing of git is said."""

    other_hash = "its source text is another one now"

    def named(self, one: Written) -> str | None:
        """The name of what a citation means; None if that is not in the archive."""
        try:
            return self.find(one.ref or one.url, is_exact=True)[0]
        except ConfigError:
            return None

    def is_ours(self, one: Written) -> bool:
        """Whether a citation of nothing that is known is one of this archive, as far as its address tells."""
        is_elsewhere = one.url.startswith(("http:", "https:")) and not (
            self.base_url and one.url.startswith(self.base_url)
        )
        return bool(one.ref) and not is_elsewhere

    def erased(self, name: str) -> str:
        """What happened to an artifact that was erased and is in no source any more; "" of any other."""
        kind, _, id_ = name.partition("/")
        for (known, other), withheld in self._archive.erased.items():
            notice = notice_on(known, withheld) if (known, other) == (kind, id_) else None
            if notice:
                return notice.reason
        return ""

    def missing(self, name: str) -> str:
        """Whether it was removed; not by which commit, which not everybody may know."""
        is_removed = any(name == "/".join(ref) for ref in self._archive.removed)
        return "it was removed" if is_removed else "nothing of this name is in the archive"

    def _named(self, said: str, written: str, *, is_exact: bool) -> str:  # noqa: ARG002 - names of citations are whole
        if self.has(said):
            return said
        raise ConfigError(self.missing(said))
