"""[I/O] `memosite brief`, `inbox`, `show` and `thread`: open the archive, print what `agents/` answers."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from memosite.agents.answer import Answer
from memosite.agents.budget import fit
from memosite.agents.forms import JsonForm, TextForm
from memosite.agents.items import Reader
from memosite.archive.ledger import Ledger
from memosite.commands.withheld import check_command, named_audience, withheld_note
from memosite.config.loading import load_config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.secret_rules import withheld_for_secrets
from memosite.facts.source_rules import failures
from memosite.reading.archive import open_archive
from memosite.reading.as_of import past_of

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

        answer = _ANSWERS[options.run](Reader(archive=archive, text_of=text_of, options=_same(options)), options)
        if past:
            answer = replace(
                answer, lines=(*answer.lines, past.line), fields={**answer.fields, "as_of": dict(past.fields)}
            )
        written = fit(answer, options.budget or None, JsonForm() if options.json else TextForm())
    if not options.quiet:
        show(written)
    return not failed


def _same(options: argparse.Namespace) -> tuple[str, ...]:
    """The options that lead to the same archive, for further commands."""
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
