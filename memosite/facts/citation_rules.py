"""The rules for citations of the archive, of which findings tell an author that a source has changed."""

from memosite.facts.findings import Rule, Severity

CITATION_BROKEN = Rule(
    id="citation-broken",
    severity=Severity.WARNING,
    meaning="A citation of this archive does not hold: the source was changed or removed.",
    clause="SPEC 7",
    remedy="Cite what the source says now; memosite verify shows the difference.",
)

MANUSCRIPT_UNREADABLE = Rule(
    id="manuscript-unreadable",
    severity=Severity.WARNING,
    meaning="A manuscript that `citations` names could not be read; its citations are not checked.",
    clause="SPEC 7",
    remedy="Install Pandoc for .docx, or save the file as Markdown or HTML.",
)

CITATION_RULES = (CITATION_BROKEN, MANUSCRIPT_UNREADABLE)
"""All of them, in this order."""
