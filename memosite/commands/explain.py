"""[I/O] `memosite explain`: says what a file of the site was made of, whether it is stale, and why."""

import argparse
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import unquote, urlsplit

from memosite.commands.arguments import Tell
from memosite.commands.places import configured
from memosite.commands.report import limited
from memosite.config.loading import load_contract
from memosite.config.schema import Config
from memosite.facts.characters import printable
from memosite.facts.errors import ConfigError, StateError
from memosite.facts.texts import counted
from memosite.plan import plan_site
from memosite.plan.traced import Digests, TracedRead
from memosite.reading.archive import open_archive
from memosite.reading.published import known_seals
from memosite.remake.making import common_digests
from memosite.remake.manifest import Made, Manifest, key_of, read_manifest
from memosite.remake.memory import STATUS_PATH
from memosite.remake.stale import WHOLE, decide, shown_read
from memosite.render.theme import load_theme
from memosite.store.cache import open_part
from memosite.store.output import OutputFolder
from memosite.store.state import State

_SHOWN = 40
"""The most reads that are listed."""


def run_explain(options: argparse.Namespace, show: Tell, _say: Tell) -> None:
    """Explain the file that the command line names."""
    show("\n".join(map(printable, explain(configured(options, output=options.output), options.path))))


def explain(config: Config, path: str) -> list[str]:
    """Lines about an output, named by its path in the site, on disk, or its address.

    Raises `ConfigError` if it is no file of the site, `StateError` if nothing is known of the last build.
    """
    cache = open_part(config.cache, config.audience)
    with State(cache) as state:
        manifest = read_manifest(state, key_of(config.output))
    if not manifest.units:
        raise StateError(f"{config.output}: no record of a build; run memosite build first")
    wanted = _in_site(config, path)
    if wanted == STATUS_PATH:
        return [f"{STATUS_PATH} shows when and from what the site was built; every build writes it"]
    name, made = _maker_of(manifest, wanted)
    return [
        f"made as   {name}, with {counted(len(made.outputs), 'file')}",
        *_shown_reads(manifest.reads_of(made) if made.reads is not None else None),
        f"now       {_reason(config, manifest, name) or 'up to date; the next build keeps it'}",
    ]


def _in_site(config: Config, path: str) -> str:
    """The path of a file in the site; a folder means its page."""
    if "://" in path:
        base = urlsplit(config.base_url or "").path or "/"
        try:
            found = unquote(urlsplit(path).path).removeprefix(base)
        except ValueError as error:
            raise ConfigError(f"{path}: no address ({error}), expected that of a page of the site") from error
    elif (named := Path(path).resolve()).is_relative_to(config.output):
        found = named.relative_to(config.output).as_posix()
        found = f"{found}/" if Path(path).is_dir() else found
    else:
        found = path.removeprefix("/")
    return f"{found}index.html" if found == "" or found.endswith("/") else found


def _maker_of(manifest: Manifest, path: str) -> tuple[str, Made]:
    for wanted in (path, f"{path}/index.html"):
        for name, made in manifest.units.items():
            if any(output.path == wanted and output.state is not None for output in made.outputs):
                return name, made
    near = get_close_matches(path, [output.path for made in manifest.units.values() for output in made.outputs], n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ConfigError(f"{path}: no file that the last build made, expected a path in the site{hint}")


def _shown_reads(reads: Sequence[TracedRead] | None) -> list[str]:
    if reads is None:
        return ["of        the whole archive"]
    found = sorted(map(shown_read, reads))
    counts = Counter(mapping for mapping, _ in reads)
    lines = [f"of        {', '.join(f'{number} {name}' for name, number in sorted(counts.items())) or 'itself alone'}"]
    return [*lines, *(f"          {line}" for line in limited(found, _SHOWN))]


def _reason(config: Config, manifest: Manifest, name: str) -> str:
    """Why the unit is stale; "" if it is up to date."""
    theme, output = load_theme(config.theme, config.language), OutputFolder(config.output)
    with open_archive(config) as handle:
        archive, ledger = handle.read()
        seals = known_seals(config, None, ledger)
        site = plan_site(
            config, archive, ledger, handle.shelf, static=theme.static, contract=load_contract(), seals=seals
        )
        units = [unit for unit in site.units if unit.name == name]
        if not units:
            return "outdated: what it showed was removed"
        digests = Digests(site.context)
        common = common_digests(site.context, digests, theme=theme.digest)
        [decision] = decide(units, manifest, common=common, digests=digests, is_there=output.is_as_left)
    return decision.why if decision.why in {"", WHOLE} else f"outdated: {decision.why}"
