"""[I/O] Compares an archive at two times: dates, refs of one source, or two ledgers; tells of a week (SPEC 8)."""

import argparse
import datetime as dt
import json
from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from memosite.agents import estimate
from memosite.archive import snapshots
from memosite.archive.ledger import LEDGER_PATH, parse_ledger
from memosite.archive.mailboxes import action_word
from memosite.archive.model import Archive
from memosite.archive.snapshots import ArtifactState, Difference, HistoryStep, Snapshot, SnapshotKey
from memosite.commands.arguments import Tell
from memosite.commands.places import configured
from memosite.commands.report import say_withheld
from memosite.config import SecretsMode
from memosite.config.loading import load_config
from memosite.config.schema import Audience, Config
from memosite.facts.characters import printable, printable_json
from memosite.facts.errors import ConfigError
from memosite.facts.rules import withheld_for_secrets
from memosite.facts.texts import counted, listed
from memosite.facts.times import asked_date
from memosite.facts.values import replace
from memosite.plan.indexes import arrival_times
from memosite.plan.weeks import HEADINGS, Told, Week, find_weeks, told_of
from memosite.reading.archive import open_archive

_NAMED = 5


FORMS = "expected A..B: two dates (2026-05-01..2026-05-31), two refs of a source, or two ledgers; either may be empty"


Note = Callable[[Archive], object]
"""Told of each archive that is read."""


def run(options: argparse.Namespace, show: Tell, say: Tell) -> None:
    """Show what differs between the two ends that the command line names."""
    if options.budget < 0:
        raise ConfigError(f"--budget must be 0 (for everything) or more, not {options.budget}")
    if options.budget and options.format != "text":
        raise ConfigError(f"--budget: found --format {options.format}, expected text")
    withheld: dict[str, None] = {}

    def note(archive: Archive) -> None:
        withheld.update(dict.fromkeys(withheld_for_secrets(archive.all_findings)))

    if options.week is not None:
        show(_of_week(options, note))
    else:
        found = diff(
            options.between,
            site=options.site_option or Path(),
            cache=options.cache,
            source=options.source,
            secrets=options.secrets,
            note=note,
            audience=options.audience,
        )
        if options.budget:
            show(within_budget(_sections(found), options.between, options.budget))
        else:
            show({"text": to_text, "markdown": to_markdown, "json": to_json}[options.format](found))
    if withheld:
        say_withheld(tuple(withheld), options, configured(options), say)


def _ignore(_archive: Archive) -> None:
    """For who need not know."""


def diff(
    between: str,
    *,
    site: Path,
    cache: Path | None = None,
    source: str | None = None,
    secrets: SecretsMode | None = None,
    audience: Audience | None = None,
    note: Note = _ignore,
) -> Difference:
    """What differs between the two ends of `A..B`.

    Dates are days: from the beginning of A to the end of B. An empty A is the very beginning, an empty B is now.
    Raises `ConfigError` for anything but two ends of one kind, and for a source that is not there.
    """
    before, dots, after = between.partition("..")
    if not dots or (not before and not after) or ".." in after.strip("."):
        raise ConfigError(f'diff: found "{between}", {FORMS}')
    ends = [end for end in (before, after) if end]
    if all(Path(end).exists() for end in ends) and len(ends) == 2:
        return snapshots.compare(_published(Path(before)), _published(Path(after)))
    config = load_config(site, cache=cache, secrets=secrets, audience=audience)
    dates = [_day(end) for end in ends]
    if all(dates):
        begin, end = _day(before), _day(after)
        if begin and end and begin > end:
            raise ConfigError(f'diff: found "{between}", the second day before the first; expected {after}..{before}')
        return _between_days(config, begin, end, note)
    if any(dates):
        raise ConfigError(f'diff: found "{between}", one end a date and one not, {FORMS}')
    was = _at_ref(config, before, source, note) if before else {}
    now = _at_ref(config, after, source, note)
    if config.audience == "internal" or not before:
        return snapshots.compare(was, now)
    hidden = _withheld(config, before, source, was) | _withheld(config, after, source, now)
    return snapshots.compare(_without(was, hidden), _without(now, hidden))


def _day(written: str) -> dt.datetime | None:
    moment = asked_date(written, of="diff:", expected=FORMS)
    return moment.instant if moment else None


def _between_days(config: Config, begin: dt.datetime | None, end: dt.datetime | None, note: Note) -> Difference:
    with open_archive(config) as handle:
        archive = handle.recall()
        note(archive)
        until = end + dt.timedelta(days=1) if end else None
        refs = snapshots.may_differ(archive, handle.days(), begin, until)
        before = snapshots.snapshot_at(archive, begin, refs) if begin else {}
        after = snapshots.snapshot_at(archive, until, refs) if until else snapshots.snapshot_of(archive, refs)
    return snapshots.compare(before, after)


def _at_ref(config: Config, ref: str, name: str | None, note: Note) -> dict[SnapshotKey, ArtifactState]:
    """The archive with one source as of a ref; "" is as the configuration has it."""
    names = [source.name for source in config.sources]
    if name is None and len(names) > 1:
        raise ConfigError(f"diff: refs are those of one source; name it with --source, one of {', '.join(names)}")
    chosen = name or names[0]
    if chosen not in names:
        raise ConfigError(f'diff: --source "{chosen}": found no such source, expected one of {", ".join(names)}')
    if ref:
        sources = (replace(one, ref=ref) if one.name == chosen else one for one in config.sources)
        config = replace(config, sources=tuple(sources))
    with open_archive(config) as handle:
        archive = handle.read()[0] if ref else handle.recall()
        note(archive)
        states = snapshots.snapshot_of(archive)
    return {key: state for key, state in states.items() if any(source == chosen for source, _ in state.boxes)}


def _withheld(config: Config, ref: str, name: str | None, seen: Collection[SnapshotKey]) -> set[SnapshotKey]:
    """What is there at a ref for those inside only: nobody else may be told of it at the other end, either."""
    return set(_at_ref(replace(config, audience="internal"), ref, name, _ignore)).difference(seen)


def _without(states: Mapping[SnapshotKey, ArtifactState], hidden: Container[SnapshotKey]) -> Snapshot:
    return {key: state for key, state in states.items() if key not in hidden}


def _published(place: Path) -> dict[SnapshotKey, ArtifactState]:
    """What a ledger names, a file or in a published site; with the machine's archive beside it, if that is there."""
    file = place / LEDGER_PATH if place.is_dir() else place
    try:
        ledger = parse_ledger(file.read_text(encoding="utf-8"), name=str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read as a ledger ({error})") from error
    return snapshots.snapshot_of_lines((arrival.ref for arrival in ledger.arrivals), _lines(file.parent))


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*/*.jsonl")) + sorted(folder.glob("undated.jsonl")):
        try:
            values = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigError(f"{file}: found what is not lines of JSON, expected what memosite wrote") from error
        yield from (value for value in values if isinstance(value, dict))


# As text, Markdown and JSON


def to_text(found: Difference) -> str:
    """For a terminal: what is new, gone or moved, and how actions changed."""
    return _text(_sections(found))


def within_budget(sections: "_Sections", between: str, budget: int) -> str:
    """The same within a budget of tokens: of each section the newest, as many of one as of another.

    Raises `ConfigError` if not even the number of each has room.
    """
    shown = range(max((len(lines) for _, lines in sections), default=0) + 1)
    most = bisect_right(shown, budget, key=lambda count: estimate(_cut(sections, count, between))) - 1
    if most < 0:
        least = estimate(_cut(sections, 0, between))
        raise ConfigError(f"--budget {budget}: the shortest answer has about {least} tokens; ask for more")
    return _cut(sections, most, between)


_Sections = list[tuple[str, list[str]]]


def _sections(found: Difference) -> _Sections:
    """What differs, as headings with lines, the oldest first."""
    return [
        (f"{len(found.new)} new", [_entry(state, *_since_new(state)) for state in found.new]),
        (f"{len(found.gone)} removed", list(map(_entry, found.gone))),
        (f"{len(found.moved)} moved", list(map(_step, found.moved))),
        (counted(len(found.actions), "action"), list(map(_step, found.actions))),
    ]


def _cut(sections: _Sections, count: int, between: str) -> str:
    """The last lines of each section, with a note on those before."""
    left = {heading: max(0, len(lines) - count) for heading, lines in sections}
    cut = [
        (heading, [*([f"[{left[heading]} earlier not shown]"] if left[heading] else []), *lines[left[heading] :]])
        for heading, lines in sections
    ]
    more = ""
    if not count and any(left.values()):
        more = f"; some of each from --budget {estimate(_cut(sections, 1, between))} on"
    whole = f"{more}; all of it: memosite diff {between} --budget 0" if any(left.values()) else ""
    text = _text(cut)
    return f"{text}\n\n[about {estimate(text)} tokens, estimated{whole}]"


def _text(sections: _Sections) -> str:
    parts = ("\n  ".join((heading, *map(printable, lines))) for heading, lines in sections if lines)
    return "\n\n".join(parts) or "no difference"


def _entry(state: ArtifactState, *since: str) -> str:
    who = f"{state.who.line()}: " if state.who else ""
    return f"{state.day or 'no date   '}  {who}{state.short_subject}  ({'; '.join(('/'.join(state.key), *since))})"


def _since_new(state: ArtifactState) -> Iterator[str]:
    """What became of a new memo by the end: where it was read or archived, and how far its action is."""
    yield from (f"{box} in {source}" for source, box in state.boxes if box in {"read", "archive"})
    if state.action:
        yield f"action {action_word(state.action)}"


def _step(step: HistoryStep) -> str:
    where = f"{step.source}, " if step.source else ""
    change = f"{action_word(step.before)} -> {action_word(step.after)}"
    return f"{change}  {step.state.short_subject}  ({where}{'/'.join(step.state.key)})"


def to_markdown(found: Difference) -> str:
    """The same as lists below headings, each with its page in the site."""
    lists = {
        "New": ["; ".join((_item(state), *map(_escaped, _since_new(state)))) for state in found.new],
        "Removed": list(map(_item, found.gone)),
        "Moved": list(map(_moved, found.moved)),
        "Actions": list(map(_moved, found.actions)),
    }
    lines = [line for heading, items in lists.items() if items for line in (f"## {heading}", "", *items, "")]
    return "\n".join(map(printable, lines)).rstrip() or "No difference."


def _item(state: ArtifactState) -> str:
    who = f"{_escaped(state.who.line())}: " if state.who else ""
    return f"- {state.day} {who}{_link(state)}"


def _moved(step: HistoryStep) -> str:
    where = f" in {step.source}" if step.source else ""
    return f"- {action_word(step.before)} → {action_word(step.after)}{where}: {_link(step.state)}"


def _link(state: ArtifactState) -> str:
    return f"[{_escaped(state.short_subject)}](<{state.page}>)" if state.page else _escaped(state.short_subject)


def _escaped(text: str) -> str:
    """An untrusted text, escaped for Markdown."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|~!" else char for char in text)


def to_json(found: Difference) -> str:
    """The same for machines."""
    value = {
        "v": 1,
        "new": [
            _object(state) | {"mailboxes": dict(state.boxes), "action": state.action or None} for state in found.new
        ],
        "gone": [_object(state) for state in found.gone],
        "moved": [
            _object(step.state) | {"source": step.source, "before": step.before, "after": step.after}
            for step in found.moved
        ],
        "actions": [_object(step.state) | {"before": step.before, "after": step.after} for step in found.actions],
    }
    return printable_json(value, indent=1)


def _object(state: ArtifactState) -> dict[str, object]:
    return {
        "kind": state.key[0],
        "id": state.key[1],
        "subject": state.short_subject,
        "from": state.sender or None,
        "to": list(state.to),
        "date": state.date or None,
        "page": state.page or None,
    }


# What a week tells, as its page does


def _of_week(options: argparse.Namespace, note: Note) -> str:
    """What was decided, asked and answered in a week. Raises `ConfigError` for one without news."""
    if options.between or options.source:
        raise ConfigError(f"--week: found {options.between or '--source'} with it, expected it alone")
    config = configured(options)
    with open_archive(config) as handle:
        archive = handle.recall()
        note(archive)
        times = arrival_times(archive.artifacts.values())
        weeks = {week.id: week for week in find_weeks(archive, times)}
        newest = max(weeks.values(), key=lambda week: week.first, default=None)
        week = newest if options.week == "newest" else weeks.get(options.week)
        if week is None:
            hint = f"expected one with news, such as {newest.id}" if newest else "nothing in this archive has a date"
            raise ConfigError(f"--week {options.week}: {hint}")
        told = [_TheTold(archive, one, week) for one in told_of(archive, times, week)]
    lists = {heading: [one for one in told if one.told.what == what] for what, heading in HEADINGS.items()}
    title = f"Week {week.id}, {week.span}{f', nothing has arrived since {week.rests}' if week.rests else ''}"
    if options.format == "json":
        head = {"v": 1, "week": week.id, "first": week.first.isoformat(), "is_running": week.is_running}
        return printable_json(head | {"told": [one.fields() for one in told]}, indent=1)
    if options.format == "markdown":
        parts = [f"## {heading}\n\n" + "\n".join(one.item() for one in some) for heading, some in lists.items() if some]
        return "\n\n".join((f"# {title}", *parts))
    sections = [(f"{heading} ({len(some)})", [one.line() for one in some]) for heading, some in lists.items()]
    if options.budget:
        return within_budget(sections, f"--week {week.id}", options.budget)
    return f"{title}\n\n{_text(sections)}"


class _TheTold:
    """An item of a week, as text, Markdown and JSON."""

    def __init__(self, archive: Archive, told: Told, week: Week) -> None:
        self.told = told
        self._waits = "not answered yet by" if week.is_running else "not answered by the end of the week:"
        [self.state] = snapshots.snapshot_of(archive, [told.artifact.ref]).values()
        self._names = [archive.label(name) if told.what == "waits" else name for name in told.names]
        self._answers = ["/".join(ref) for ref in told.answers]
        self._successor = "/".join(told.successor) if told.successor else ""

    @property
    def _notes(self) -> Iterator[str]:
        if self.told.standing:
            yield f"{self.told.standing}{f' by {self._successor}' if self._successor else ''}"
        if self._names:
            names = listed(self._names, _NAMED)
            yield f"{self._waits if self.told.what == 'waits' else 'decided by'} {names}"
        if self._answers:
            yield f"answers {listed(self._answers, _NAMED)}"

    def line(self) -> str:
        return "  ".join(filter(None, (_entry(self.state, *self._notes), self.told.artifact.excerpt)))

    def item(self) -> str:
        notes = "".join(f"; {_escaped(note)}" for note in self._notes)
        line = self.told.artifact.excerpt
        return printable(f"{_item(self.state)}{notes}{f' – {_escaped(line)}' if line else ''}")

    def fields(self) -> dict[str, object]:
        said = {"told": self.told.what, "names": self._names, "answers": self._answers}
        stands = {"standing": self.told.standing or None, "successor": self._successor or None}
        return _object(self.state) | said | stands | {"line": self.told.artifact.excerpt}
