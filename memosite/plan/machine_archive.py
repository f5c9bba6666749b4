"""Plans the archive for programs: `archive/index.json`, and every artifact as a line of JSON, a file a month."""

from collections.abc import Iterable, Mapping, Sequence

from memosite.archive.lines import artifact_line, dump_line, is_broken
from memosite.archive.model import Artifact
from memosite.archive.named import position_names
from memosite.archive.urls import archive_lines, bundle_files, bundle_twins, relative
from memosite.plan.context import Context
from memosite.plan.files import Written
from memosite.plan.twins import to_json


def archive_index(context: Context, months: Mapping[str, Sequence[Artifact]]) -> Written:
    """The index of the archive by month, with what its ids in feeds are made of."""
    archive, bundles = context.archive, _bundles_by_month(context)
    readable = {month: sum(not is_broken(one) for one in artifacts) for month, artifacts in months.items()}
    index = {
        "v": 1,
        "archive_id": context.archive_id,
        "authority": context.authority,
        "title": context.site.title,
        "generator": context.site.generator,
        "artifacts": len(archive.artifacts),
        "unreadable": len(archive.artifacts) - sum(readable.values()),
        "sources": [source.name for source in archive.sources],
        "positions": list(archive.positions),
        "position_names": dict(sorted(position_names(archive).items())),
        "months": [
            {"month": month, "artifacts": number, "lines": f"{month}.jsonl", **bundles.get(month, {})}
            for month, number in readable.items()
        ],
        "ledger": "ledger.jsonl",
        "seals": "seals.jsonl",
    }
    return Written(path="archive/index.json", data=to_json(index))


def _bundles_by_month(context: Context) -> dict[str, dict[str, list[dict[str, str]]]]:
    """The files of the bundles of each month, as the index has them."""
    found: dict[str, dict[str, list[dict[str, str]]]] = {}
    for bundle in dict.fromkeys(context.bundles.values()):
        files = {"json": bundle_twins(bundle, "json"), "md": bundle_twins(bundle, "md"), "files": bundle_files(bundle)}
        listed = found.setdefault(bundle.rpartition("/")[0], {"bundles": []})["bundles"]
        listed.append({name: relative("archive/", path) for name, path in files.items()})
    return found


def month_lines(context: Context, month: str, artifacts: Iterable[Artifact]) -> Written:
    """The readable artifacts of a month, in order of arrival."""
    lines = (
        dump_line(artifact_line(one, context.archive, base_url=context.site.base_url))
        for one in artifacts
        if not is_broken(one)
    )
    return Written(path=archive_lines(month), data="".join(f"{line}\n" for line in lines).encode())
