"""[I/O] The commands for AI sessions, `memosite brief` to `new`: print what `agents/` answers."""

import argparse
import datetime as dt
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memosite.agents import Answer, JsonForm, TextForm, fit
from memosite.agents.drafts import Draft, Drafting, Target, Wanted
from memosite.agents.items import Reader, Since, since_item
from memosite.archive.cite import ArchiveNames
from memosite.archive.ledger import Ledger
from memosite.archive.model import Archive
from memosite.commands.arguments import Tell
from memosite.commands.places import configured, site_words
from memosite.commands.report import say_lacking
from memosite.config.schema import DEFAULT_SECRETS, Config
from memosite.facts.characters import printable, printable_json
from memosite.facts.errors import ConfigError
from memosite.facts.names import BODY_SUFFIX, ENVELOPE_SUFFIX
from memosite.facts.texts import listed
from memosite.facts.values import replace
from memosite.reading.archive import loose_archive, open_archive
from memosite.sources.listing import Listing

if TYPE_CHECKING:
    from memosite.reading.as_of import Past

_SESSIONS = 5
"""How many sessions of one log are named."""


# `memosite brief`, `inbox`, `show` and `thread`: open the archive, print what `agents/` answers.


def run_answer(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Print the answer; whether all sources could be read. Remotes are used as last fetched.

    A session log is shown wherever it is: by itself, if it is not in the archive.
    """
    if options.budget < 0:
        raise ConfigError(f"--budget must be 0 (for everything) or more, not {options.budget}")
    if options.begin < 0:
        raise ConfigError(f"--from must be 0 or more, not {options.begin}")
    try:
        return _of_archive(options, show, say)
    except ConfigError:
        from memosite.commands.check import listing_of_log  # noqa: PLC0415 - most are asked about the archive

        is_open = options.run == "show" and not options.is_tool  # tools read the site alone
        listing = listing_of_log(Path(options.reference.partition("#")[0])) if is_open else None
        if listing is None:
            raise
        return _of_log(listing, options, show)


class _LogReader(Reader):
    """The archive of one session log: further commands name its file, with a session behind `#` if it has several."""

    file: str

    def command(self, *words: str) -> str:
        """A further command, without the options."""
        names = {"/".join(ref): ref[1] for ref in self.archive.artifacts}
        of = {name: self.file if len(names) == 1 else f"{self.file}#{id_}" for name, id_ in names.items()}
        return super().command(*(of.get(word, word) for word in words))


def _of_log(listing: Listing, options: argparse.Namespace, show: Tell) -> bool:
    """Print what is asked of a session log that is in no archive."""
    file, _, behind = options.reference.partition("#")
    secrets = replace(DEFAULT_SECRETS, mode=options.secrets or DEFAULT_SECRETS.mode)
    with loose_archive(listing, secrets) as (archive, _, shelf):
        ids = [ref[1] for ref in archive.artifacts]
        if not ids:
            raise ConfigError(f"{printable(file)}: found no turn in this session log")
        if len(ids) > 1 and not behind:
            some = listed([f"#{id_}" for id_ in ids], _SESSIONS)
            raise ConfigError(f"{printable(file)}: found {len(ids)} sessions in that file: {some}; write one behind it")
        of = argparse.Namespace(**{**vars(options), "reference": f"{ids[0]}#{behind}" if len(ids) == 1 else behind})
        answer = _answer(_LogReader(archive=archive, text_of=shelf.text, file=file), of, None)
        written = fit(answer, options.budget or None, JsonForm() if options.json else TextForm())
    if not options.quiet:
        show(written)
    return True


def _of_archive(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Print what is asked of the archive; whether all sources could be read."""
    config, past = configured(options), None
    if options.as_of:
        from memosite.reading.as_of import past_of  # noqa: PLC0415 - most ask about now

        past = past_of(config, options.as_of)
    with open_archive(past.config if past else config, use_network=False) as handle:
        archive = handle.recall(ledger=Ledger(audience=config.audience) if past else None)
        is_whole = say_lacking(archive, options, config, say, left_out=past.left_out_lines if past else ())
        try:
            answer = _answer(Reader(archive=archive, text_of=handle.shelf.text), options, config)
        except ConfigError as error:
            later = _later(archive, past, config, options) if past else ""
            if not later:
                raise
            raise ConfigError(f"{options.reference}: {later}") from error
        answer = replace(answer, options=_same(options))
        if past:
            answer = replace(
                answer, lines=(*answer.lines, past.line), fields={**answer.fields, "as_of": dict(past.fields)}
            )
        written = fit(answer, options.budget or None, JsonForm() if options.json else TextForm())
    if not options.quiet:
        show(written)
    return is_whole


def _later(then: Archive, past: "Past", config: Config, options: argparse.Namespace) -> str:
    """What is said of an item that is known now, and of which nothing was known then; "" if none was asked for."""
    if "reference" not in options:
        return ""
    with open_archive(config, use_network=False) as handle, suppress(ConfigError):
        artifact, _ = Reader(archive=handle.recall(), text_of=handle.shelf.text).find(options.reference)
        name = "/".join(artifact.ref)
        before = ArchiveNames(then)  # it may have been removed then, or missing
        if not (before.has(name) or before.missing(name) or before.missing(f"memo/{artifact.id}")):
            received = [copy.received for copy in artifact.copies if copy.received]
            first = min(received, key=lambda one: one.instant, default=None)
            came = f"; it came on {first.utc}" if first and first.instant > past.moment.instant else ""
            return f"{name} was not known as of {options.as_of}{came}; ask about a later time"
    return ""


def _same(options: argparse.Namespace) -> str:
    """The options that lead to the same archive, as they are typed for further commands; tools know their site."""
    as_of = [("--as-of", options.as_of)] if options.as_of else []
    known = as_of if options.is_tool else [*site_words(options), *as_of]
    return shlex.join(word for pair in known for word in pair)


def _since(reader: Reader, options: argparse.Namespace, config: Config | None) -> Since | None:
    """Since when things are to be shown: a date, a commit, else an item."""
    written = getattr(options, "since", "")
    if not written or config is None:
        return None
    from memosite.reading.as_of import since_when  # noqa: PLC0415 - as above

    moment, is_commit = since_when(config, written)
    if moment is None:
        return since_item(reader, written)
    return Since(written=written, begin=(moment.instant, moment.instant), is_after=is_commit)


def _answer(reader: Reader, options: argparse.Namespace, config: Config | None) -> Answer:
    from memosite.agents import shown  # noqa: PLC0415 - `why` and drafts need none of it

    match options.run:
        case "brief":
            return shown.brief(reader, options.position, only=options.only, begin=options.begin or 1)
        case "inbox":
            since = _since(reader, options, config)
            return shown.inbox(reader, options.position, begin=options.begin or 1, since=since)
        case "show":
            return shown.show(
                reader, options.reference, only_head=options.head, turns=options.turns, begin=options.begin
            )
    since = _since(reader, options, config)
    return shown.thread(reader, options.reference, is_brief=options.brief, begin=options.begin or 1, since=since)


# `memosite reply` and `new`: read the clock and the text, print a draft as JSON; nothing is written.


def run_draft(options: argparse.Namespace, show: Tell, say: Tell) -> bool:
    """Print the draft; whether all sources could be read. Remotes are used as last fetched."""
    wanted = Wanted(
        sender=options.sender,
        to=options.to,
        subject=options.subject,
        body=_text(options.body) if options.body else "",
        summary=" ".join(options.summary.split()),
        is_action=options.action,
    )
    config = configured(options)
    with open_archive(config, use_network=False) as handle:
        archive = handle.recall()
        is_whole = say_lacking(archive, options, config, say)
        reader = Reader(archive=archive, text_of=handle.shelf.text)
        drafting = Drafting(reader=reader, now=dt.datetime.now(dt.UTC), aliases=config.aliases)
        draft = drafting.reply(options.reference, wanted) if options.run == "reply" else drafting.new(wanted)
    notes = (*draft.notes, *_unreachable(draft, config))
    if not options.quiet:
        show(printable_json(_value(draft, config, notes), indent=2))
    return is_whole


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
        "put": [_place(draft, target, config) for target in draft.targets],
        "notes": notes,
    }


def _place(draft: Draft, target: Target, config: Config) -> dict[str, object]:
    """For whom a copy is, and the paths of its files: absolute where the repo is on this machine."""
    root = next((source.root for source in config.sources if source.name == target.repo), None)
    folder = f"{root or ''}/{target.folder}".lstrip("/" if root is None else "")
    paths = {"envelope": f"{folder}/{draft.name}{ENVELOPE_SUFFIX}"}
    if draft.body is not None:
        paths["body_file"] = f"{folder}/{draft.name}{BODY_SUFFIX}"
    return {"for": target.positions, "repo": target.repo, **paths}


def _unreachable(draft: Draft, config: Config) -> Iterator[str]:
    """Repos that are read without a checkout: what is put there has to be pushed."""
    remote = {source.name: source.git for source in config.sources if source.root is None}
    for repo in dict.fromkeys(target.repo for target in draft.targets):
        if repo in remote:
            yield f"{repo} is read without a checkout; the paths are those in a clone of it"
