"""[I/O] `memosite brief`, `inbox`, `show` and `thread`: open the archive, print what `agents/` answers."""

import argparse
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from memosite.agents.answer import Answer
from memosite.agents.budget import fit
from memosite.agents.forms import JsonForm, TextForm
from memosite.agents.items import Reader
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive, Artifact
from memosite.archive.named import ArchiveNames
from memosite.commands.withheld import check_command, named_audience, withheld_note
from memosite.config.loading import Config, load_config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.secret_rules import withheld_for_secrets
from memosite.facts.source_rules import failures
from memosite.reading.archive import open_archive
from memosite.reading.as_of import Past, past_of

Say = Callable[[str], None]


def run(options: argparse.Namespace, *, show: Say, say: Say) -> bool:
    """Print the answer; whether all sources could be read. Remotes are used as last fetched."""
    if options.budget < 0:
        raise ConfigError(f"--budget must be 0 (for everything) or more, not {options.budget}")
    if options.begin < 0:
        raise ConfigError(f"--from must be 0 or more, not {options.begin}")
    config = load_config(
        options.site_option or Path(),
        base_url=None,
        cache=options.cache,
        secrets=options.secrets,
        audience=options.audience,
    )
    past = past_of(config, options.as_of) if options.as_of else None
    with open_archive(past.config if past else config, use_network=False) as handle:
        archive = handle.recall(ledger=Ledger(audience=config.audience) if past else None)
        failed = (*failures(archive.all_findings), *(past.left_out_lines if past else ()))
        for one in failed:
            say(f"memosite: failed: {printable(one)}")
        if withheld := withheld_for_secrets(archive.all_findings):
            check = check_command(options, named_audience(options, config))
            say(f"memosite: {withheld_note(withheld, check)}")

        def text_of(digest: str) -> str:
            return handle.shelf.text(digest)

        try:
            answer = _ANSWERS[options.run](Reader(archive=archive, text_of=text_of, options=_same(options)), options)
        except ConfigError as error:
            later = _later(archive, past, config, options) if past else ""
            if not later:
                raise
            raise ConfigError(f"{options.reference}: {later}") from error
        if past:
            answer = replace(
                answer, lines=(*answer.lines, past.line), fields={**answer.fields, "as_of": dict(past.fields)}
            )
        written = fit(answer, options.budget or None, JsonForm() if options.json else TextForm())
    if not options.quiet:
        show(written)
    return not failed


def _later(then: Archive, past: Past, config: Config, options: argparse.Namespace) -> str:
    """What is said of an item that is known now, and of which nothing was known then; "" if none was asked for."""
    if "reference" not in options:
        return ""
    with open_archive(config, use_network=False) as handle, suppress(ConfigError):
        now = handle.recall()
        name, _ = ArchiveNames(now).find(options.reference)
        kind, _, id_ = name.partition("/")
        before = ArchiveNames(then)  # it may have been removed then, or missing
        if not (before.has(name) or before.missing(name) or before.missing(f"memo/{id_}")):
            known: Mapping[Any, Artifact] = now.artifacts
            received = [one.received for one in known[kind, id_].copies if one.received]
            first = min(received, key=lambda one: one.instant, default=None)
            came = f"; it came on {first.utc}" if first and first.instant > past.moment.instant else ""
            return f"{name} was not known as of {options.as_of}{came}; ask about a later time"
    return ""


def _same(options: argparse.Namespace) -> tuple[str, ...]:
    """The options that lead to the same archive, for further commands; tools know their site."""
    if options.is_tool:
        return ("--as-of", options.as_of) if options.as_of else ()
    known = (
        ("--site", options.site_option),
        ("--cache", options.cache),
        ("--secrets", options.secrets),
        ("--audience", options.audience),
        ("--as-of", options.as_of),
    )
    return tuple(word for name, value in known if value for word in (name, str(value)))


def _brief(reader: Reader, options: argparse.Namespace) -> Answer:
    from memosite.agents.brief import brief  # noqa: PLC0415 - each command imports what it needs

    return brief(reader, options.position, only=options.only, begin=options.begin or 1)


def _inbox(reader: Reader, options: argparse.Namespace) -> Answer:
    from memosite.agents.inbox import inbox  # noqa: PLC0415 - as above

    return inbox(reader, options.position, begin=options.begin or 1)


def _show(reader: Reader, options: argparse.Namespace) -> Answer:
    from memosite.agents.show import show  # noqa: PLC0415 - as above

    return show(reader, options.reference, only_head=options.head, turns=options.turns, begin=options.begin)


def _thread(reader: Reader, options: argparse.Namespace) -> Answer:
    from memosite.agents.thread import thread  # noqa: PLC0415 - as above

    return thread(reader, options.reference, is_brief=options.brief, begin=options.begin or 1)


_ANSWERS: dict[str, Callable[[Reader, argparse.Namespace], Answer]] = {
    "brief": _brief,
    "inbox": _inbox,
    "show": _show,
    "thread": _thread,
}
