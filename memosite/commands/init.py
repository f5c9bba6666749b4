"""[I/O] Writes a first memosite.yml: what discovery finds, with every other setting as a comment.

Names are written down because discovery makes them from folders, which get renamed; `archive_id` and
`authority` because feed ids are made of them and must never change (SPEC 2.1).
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import yaml

from memosite.commands.arguments import Tell
from memosite.commands.places import shown_path
from memosite.config.loading import CACHE_NAME, OUTPUT_NAME, discover, walk
from memosite.config.schema import FeedsConfig, SourceConfig, clean_name, has_control_characters
from memosite.facts import rules
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError
from memosite.facts.file import File
from memosite.facts.layout import CONFIG_NAME
from memosite.facts.parsed import Organization
from memosite.formats import orgdef

_ORGDEF_LIMIT = 4 << 20
_LONGEST_LINE = 1 << 30


def run(options: argparse.Namespace, show: Tell, _say: Tell) -> None:
    """Write the configuration of the folder that the command line names."""
    path = write_config(options.folder)
    if not options.quiet:
        show(f"wrote {shown_path(path)}; now: memosite serve {shown_path(path.parent)}")


def write_config(folder: Path) -> Path:
    """Write memosite.yml into a folder and return its path.

    Raises `ConfigError` if there is one already, if nothing is found to write down, or if it cannot be written;
    `SourceError` if the folder cannot be searched.
    """
    site = folder.resolve()
    file = folder / CONFIG_NAME
    if file.exists() or file.is_symlink():
        raise _exists(file)
    if not site.is_dir():
        raise ConfigError(f"{printable(str(folder))}: found no such folder, expected the one to describe")
    ignore = (site / OUTPUT_NAME, site / CACHE_NAME)
    sources = discover(site, ignore=ignore)
    title = _organization_name(site, ignore=ignore) or clean_name(site.name)
    text = _compose(title=title, site=site, sources=sources)
    try:
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise _exists(file) from error
    except OSError as error:
        raise ConfigError(f"{printable(str(file))}: cannot be written ({error.strerror})") from error
    return file


def _exists(file: Path) -> ConfigError:
    return ConfigError(f"{printable(str(file))}: found one already, expected none; edit it, or remove it first")


def _organization_name(site: Path, *, ignore: Sequence[Path]) -> str | None:
    """The name that the orgdefs below a folder agree on; None if they are several organizations, or none."""
    names = {
        name
        for folder in walk(site, ignore=ignore)
        if folder.parts[-1:] == ("org",)
        for file in folder.files
        if (name := _name_in(site.joinpath(*folder.parts, file)))
    }
    return names.pop() if len(names) == 1 else None


def _name_in(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            data = stream.read(_ORGDEF_LIMIT + 1)
    except OSError:
        return None
    file = File(source="", path=path.name, data=data)
    if len(data) > _ORGDEF_LIMIT or not orgdef.matches(file):
        return None
    parsed = orgdef.parse(file)
    fact = parsed.fact
    is_named = isinstance(fact, Organization) and not any(
        finding.rule == rules.FIELD_MISSING for finding in parsed.findings
    )
    name = " ".join(fact.name.split()) if isinstance(fact, Organization) and is_named else ""
    return None if has_control_characters(name) else name


def _scalar(text: str) -> str:
    """A text as YAML on one line, in quotes where it needs them."""
    style = None if text.isprintable() else '"'
    dumped: str = yaml.safe_dump(text, default_style=style, allow_unicode=True, width=_LONGEST_LINE)
    return dumped.removesuffix("\n").removesuffix("\n...")


def _source_lines(site: Path, source: SourceConfig) -> str:
    root = source.root or site  # what is discovered is a folder
    lines = f"  - path: {_scalar(root.relative_to(site).as_posix())}\n"
    if source.name != clean_name(root.name):
        lines += f"    name: {_scalar(source.name)}\n"
    if source.ref:
        lines += f"    ref: {_scalar(source.ref)}\n"
    return lines


def _compose(*, title: str, site: Path, sources: Sequence[SourceConfig]) -> str:
    feeds = FeedsConfig()
    return f"""\
# What memosite reads and how it names it. Run `memosite build` in this folder.
# A line that begins with # and no space is a setting with its default or an example: remove the # to use it.

title: {_scalar(title)}

# Where the site will be. Without it, feeds carry no links, only paths and ids.
#base_url: https://archive.example.org/

# Every id in a feed is made of these two; these are the defaults. Before you publish for the
# first time, choose your own: a name, and a domain or mail address of yours, in lower case, with a year in which it
# is yours. Once feeds are published never change either, or every memo reaches its readers again.
archive_id: archive
authority: "memosite.invalid,2026"

#language: en

# The folders to read, relative to this file; they may be outside this folder. An entry can also have name:,
# include: and exclude: (lists of globs, besides what is found by convention), and web: (the address of a file of
# the repo, such as https://git.example.org/repo/blob/{{ref}}/{{path}}); ref: reads a branch, tag or commit instead of
# the files as they are, and git: in the place of path: a repo by its address (https, ssh or file).
sources:
{"".join(_source_lines(site, source) for source in sources)}
# Session logs of agents: those that SpecStory and Entire commit are read in any case; this reads the folders of Claude
# Code, Codex, aider and Gemini CLI, too.
#sessions: true

# Whose history counts: that of the sources' own repos.
#history: own

# Former names of positions, and positions held by people besides those that an orgdef says are.
#positions:
#  aliases: {{former-name: present-name}}
#  people: [director]

# Markdown files that memos cite, besides those in decisions/, proposals/ and ADR folders.
#documents: ["rulings/**/*.md"]

# Manuscripts whose citations of the archive are listed and checked, by paths below this folder.
#citations: ["book/**/*.md"]

# Actions that are done although no memo says so, by the memo's id.
#actions:
#  closed:
#    2026-05-01-1430--director--engineer--an-example: {{on: 2026-05-20, by: director, why: "overtaken"}}

# The newest items a feed holds, and those of how many days; ttl in minutes; full-text feeds, for people, beside
# those that only notify; a digest for each day (daily) or week (weekly).
#feeds: {{window: {feeds.window}, days: {feeds.days}, ttl: {feeds.ttl}, full_content: true, digest: {feeds.digest}}}

# A folder whose templates and static files replace the bundled ones.
#theme: theme

# Who may see the site: internal, which is everything in the sources, or public. Globs name what is never public, by
# paths in a source, or with the source's name before them; with withhold_raw, nor are transcripts whose
# metadata.redaction_status is not redacted.
#audience: internal
#withhold: ["personnel/**"]
#withhold_raw: true

# What is done about keys and passwords in the sources: withhold, redact or fail. memosite check shows the fingerprint
# of each; one that is no secret, or an old one, can be allowed.
#secrets:
#  mode: withhold
#  allow:
#    - {{fingerprint: "0123456789abcdef", why: "revoked on 20 May"}}

# What is published without its content, by the id in the address of its page; its address and its place stay.
#erase:
#  - {{id: 2026-05-01-1430--director--engineer--another-example, why: "asked for", on: 2026-05-20}}

# Fewer files, for hosts that count them: some two an item in the place of six. Decide before you publish; a published
# site stays as it is.
#lean: false

# Where the site is written. To build one for each audience, in the place of output:
# outputs: {{internal: _site, public: _public}}
#output: {OUTPUT_NAME}
"""
