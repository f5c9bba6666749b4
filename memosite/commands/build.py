"""[I/O] `memosite build`: builds a site, shows its progress, and sums up what it did."""

import argparse
import contextlib
import datetime as dt
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from memosite.build import build
from memosite.commands.places import shown_path, site_folder
from memosite.commands.report import fails
from memosite.commands.summary import summary
from memosite.commands.withheld import check_command, named_audience, withheld_lines
from memosite.config.loading import Config, load_config
from memosite.config.schema import Audience
from memosite.facts.errors import ConfigError
from memosite.remake.report import BuildReport
from memosite.run.progress import Profile, shown, silent
from memosite.run.workers import default_jobs

if TYPE_CHECKING:
    from memosite.run.workers import Run


def run(options: argparse.Namespace, *, show: Callable[[str], None], say: Callable[[str], None]) -> bool:
    """Build the site, or each of several outputs; whether nothing failed or was withheld, and findings are fine."""
    are_fine = [_build(options, config, show, say) for config in _configs(options)]
    return all(are_fine)


def _configs(options: argparse.Namespace) -> list[Config]:
    """A configuration for each audience to build for: all that memosite.yml has an output for, unless one is named."""
    first = load(options, options.audience)
    if options.audience is not None or len(first.outputs) < 2:
        return [first]
    if options.previous is not None:
        raise ConfigError(
            f"--previous {options.previous}: expected --audience with it, since there are several outputs"
        )
    return [load(options, audience) for audience in first.outputs]


def load(options: argparse.Namespace, audience: Audience | None) -> Config:
    """The configuration of the site that a command line names, for an audience."""
    return load_config(
        site_folder(options),
        output=options.output,
        base_url=options.base_url,
        cache=options.cache,
        secrets=options.secrets,
        audience=audience,
    )


def _build(
    options: argparse.Namespace, config: Config, show: Callable[[str], None], say: Callable[[str], None]
) -> bool:
    """Build one output; whether nothing failed or was withheld for a secret, and findings are below what fails."""
    elsewhere = _elsewhere(options.cluster)
    with contextlib.nullcontext(silent) if options.quiet else shown() as told:
        profile = Profile(told)
        report = build(
            config,
            clock=now,
            jobs=_jobs(options.jobs),
            run_elsewhere=elsewhere,
            previous=options.previous,
            progress=profile,
        )
    if not options.quiet:
        show(sum_up(report, config, options))
    else:
        for line in withheld_lines(report.withheld, check_command(options, named_audience(options, config))):
            say(f"memosite: {line}")
    if options.profile:
        show("\n".join(profile.lines()))
    return not report.failed and not report.withheld and not fails(report.findings, options.fail_on)


def now() -> dt.datetime:
    """The current time of this machine's clock."""
    return dt.datetime.now(dt.UTC)


def sum_up(report: BuildReport, config: Config, options: argparse.Namespace) -> str:
    """The summary of a build, with the path of the home page and the command that names every finding."""
    return summary(
        report,
        index=shown_path(config.output / "index.html"),
        check=check_command(options, named_audience(options, config)),
        audience=config.audience if config.outputs or config.audience != "internal" else "",
        is_seen=sys.stdout.isatty(),
    )


def _jobs(wanted: int | None) -> int:
    if wanted is not None and wanted < 1:
        raise ConfigError(f"--jobs must be 1 or more, not {wanted}")
    return wanted or default_jobs()


def _elsewhere(cluster: str | None) -> "Run | None":
    if cluster is None:
        return None
    from memosite.run.cluster import cluster_at  # noqa: PLC0415 - Dask need not be installed

    return cluster_at(cluster).run
