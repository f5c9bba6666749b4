"""[I/O] `memosite reply` and `new`: read the clock and the text, print a draft as JSON; nothing is written."""

import argparse
import datetime as dt
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from memosite.agents.drafts import Draft, Drafting, Wanted
from memosite.agents.items import Reader
from memosite.agents.targets import Target
from memosite.commands.withheld import check_command, named_audience, withheld_note
from memosite.config.loading import Config, load_config
from memosite.facts.characters import printable, printable_json
from memosite.facts.errors import ConfigError
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX
from memosite.facts.secret_rules import withheld_for_secrets
from memosite.facts.source_rules import failures
from memosite.reading.archive import open_archive

Say = Callable[[str], None]


def run(options: argparse.Namespace, *, show: Say, say: Say) -> bool:
    """Print the draft; whether all sources could be read. Remotes are used as last fetched."""
    wanted = Wanted(
        sender=options.sender,
        to=options.to,
        subject=options.subject,
        body=_text(options.body) if options.body else "",
        summary=" ".join(options.summary.split()),
        is_action=options.action,
    )
    config = load_config(
        options.site_option or Path(),
        base_url=None,
        cache=options.cache,
        secrets=options.secrets,
        audience=options.audience,
    )
    with open_archive(config, use_network=False) as handle:
        archive = handle.recall()
        failed = failures(archive.all_findings)
        for one in failed:
            say(f"memosite: failed: {printable(one)}")
        if withheld := withheld_for_secrets(archive.all_findings):
            say(f"memosite: {withheld_note(withheld, check_command(options, named_audience(options, config)))}")
        reader = Reader(archive=archive, text_of=handle.shelf.text)
        drafting = Drafting(reader=reader, now=dt.datetime.now(dt.UTC), aliases=config.aliases)
        draft = drafting.reply(options.reference, wanted) if options.run == "reply" else drafting.new(wanted)
    notes = (*draft.notes, *_unreachable(draft, config))
    if not options.quiet:
        show(printable_json(_value(draft, config, notes), indent=2))
    return not failed


def _text(named: str) -> str:
    """The text of a file or of standard input, with line feeds alone. Raises `ConfigError` if it says nothing."""
    try:
        data = sys.stdin.buffer.read() if named == "-" else Path(named).read_bytes()
    except OSError as error:
        said = f"--body {named}: cannot be read ({error.strerror or error}); name a file, or - for standard input"
        raise ConfigError(said) from error
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"--body {named}:{line}: found what is not UTF-8, expected text") from error
    if not text.strip():
        raise ConfigError(f"--body {named}: found no text, expected that of the memo; without --body, none is needed")
    return text


def _value(draft: Draft, config: Config, notes: tuple[str, ...]) -> dict[str, object]:
    return {
        "v": 1,
        "name": f"{draft.name}{ENVELOPE_SUFFIX}",
        "envelope": draft.envelope,
        "body_file": draft.body,
        "put": [_place(draft, one, config) for one in draft.targets],
        "notes": notes,
    }


def _place(draft: Draft, target: Target, config: Config) -> dict[str, object]:
    """For whom a copy is, and the paths of its files: absolute where the repo is on this machine."""
    root = next((one.root for one in config.sources if one.name == target.repo), None)
    folder = f"{root or ''}/{target.folder}".lstrip("/" if root is None else "")
    paths = {"envelope": f"{folder}/{draft.name}{ENVELOPE_SUFFIX}"}
    if draft.body is not None:
        paths["body_file"] = f"{folder}/{draft.name}{BODY_SUFFIX}"
    return {"for": target.positions, "repo": target.repo, **paths}


def _unreachable(draft: Draft, config: Config) -> Iterator[str]:
    """Repos that are read without a checkout: what is put there has to be pushed."""
    remote = {one.name: one.git for one in config.sources if one.root is None}
    for repo in dict.fromkeys(target.repo for target in draft.targets):
        if repo in remote:
            yield f"{repo} is read without a checkout; the paths are those in a clone of it"
