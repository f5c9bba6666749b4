"""Plans the files of the images that texts show, each once (SPEC 4)."""

from collections.abc import Iterator

from memosite.archive.urls import image_file
from memosite.plan.context import Context
from memosite.plan.files import Stored


def plan_images(context: Context) -> Iterator[Stored]:
    """The images of all artifacts."""
    images = (one for artifact in context.archive.artifacts.values() for one in artifact.images if one.sha256)
    found = {image_file(one.sha256, one.form): one.sha256 for one in images}
    yield from (Stored(path=path, sha256=digest) for path, digest in sorted(found.items()))
