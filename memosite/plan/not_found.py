"""Plans the page that a server shows for an address that does not exist."""

from memosite.facts.phrases import phrase
from memosite.pages.models import NotFoundPage
from memosite.plan.context import Context


def plan_not_found(context: Context) -> NotFoundPage:
    """The one page with absolute paths: it is shown at any address."""
    base = context.site.base_url
    path = "/" + base.split("/", 3)[3] if base and base.count("/") >= 3 else "/"
    return NotFoundPage(site=context.site, path="404.html", root=path, title=phrase("Not found"), base_path=path)
