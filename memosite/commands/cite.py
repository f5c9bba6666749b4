"""`memosite cite` and `verify`: write citations of passages, and verify documents or what is published (SPEC 7)."""

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from memosite.archive.cite import Citation
from memosite.citing import Sources
from memosite.citing.making import Made, cite_quote, cite_reference
from memosite.commands.arguments import Tell
from memosite.commands.citing import opened_sources, verify_documents, verify_seal
from memosite.facts.characters import harmless, harmless_json, printable, printable_json
from memosite.facts.errors import ConfigError
from memosite.facts.values import as_dict
from memosite.quotes.forms import to_bibtex, to_csl_json, to_html

# `memosite cite`: writes citations of passages, with the hash that verifies them.


WRITERS: Final[dict[str, Callable[[Citation], str]]] = {
    "text": lambda citation: citation.text,
    "markdown": lambda citation: f"{citation.markdown}\n",
    "html": to_html,
    "bibtex": to_bibtex,
    "csl-json": to_csl_json,
}


def run_cite(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Show the citations that the command line asks for; whether there is one for each reference, or for the quote."""
    quote = options.quote.strip()
    if not options.references and not quote:
        raise ConfigError("cite: found no REF, expected one or --quote; for example: memosite cite 'transcript/ID#t12'")
    if quote and len(options.references) > 1:
        raise ConfigError(f"--quote: found {len(options.references)} REFs, expected one at most")
    with opened_sources(options) as sources:
        if options.references:
            is_one = len(options.references) == 1
            made = [_cited(sources, reference, quote, is_one=is_one) for reference in options.references]
        else:
            made = cite_quote(sources, quote)
    for problem in (line for one in made for line in one.problem):
        say(f"memosite: {printable(problem)}" if not problem.startswith(" ") else printable(problem))
    found = [one for one in made if one.citation]
    if found and not options.quiet:
        show(printable_json(list(map(_fields, found)), indent=2) if options.json else _shown(options, found))
    if len(found) > 1 and quote:
        say(f"memosite: {len(found)} sources hold this quote, the oldest first; cite the one you mean by its id")
    return len(found) == len(made)


def _cited(sources: Sources, reference: str, quote: str, *, is_one: bool) -> Made:
    """What is cited; of several references, one that means nothing is no reason not to write the others."""
    try:
        return cite_reference(sources, reference, quote)
    except ConfigError as error:
        if is_one:
            raise
        return Made(problem=(str(error),))


def _fields(made: Made) -> dict[str, Any]:
    fields: dict[str, Any] = {} if made.citation is None else as_dict(made.citation) | made.where
    if made.verdict:
        fields |= {"tier": made.verdict.tier.label, "details": list(made.verdict.details)}
        fields["quoted_in"] = made.is_carried
    return fields


def _shown(options: argparse.Namespace, made: Sequence[Made]) -> str:
    citations = [one.citation for one in made if one.citation]
    if options.format == "csl-json":
        items = [item for citation in citations for item in json.loads(to_csl_json(citation))]
        return harmless_json(json.dumps(items, ensure_ascii=False, indent=2))
    written = [WRITERS[options.format](citation).rstrip("\n") for citation in citations]
    if options.format != "bibtex":  # `verify` compares marks of direction, and reads them so
        written = [harmless(text, lambda char: f"&#x{ord(char):x};") for text in written]
    return ("\n" if options.format == "text" else "\n\n").join(written)


# Verifies documents by the archive, or what is published by a root that was kept elsewhere (SPEC 7).


def run_verify(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Verify what the command line names, and show what was found; whether it holds."""
    if options.seal is not None:
        if len(options.where) > 1:
            raise ConfigError(f"--seal: found {len(options.where)} sites, expected one at most")
        return verify_seal(options, next(iter(options.where), None), show)
    if not options.where:
        raise ConfigError("verify: found no FILE, expected documents, a folder, - for standard input, or --seal ROOT")
    return verify_documents(options, show, say)
