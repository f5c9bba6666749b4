"""Makes forge links to files and commits of a repo from its remote's address alone, without any request.

Known are GitHub, GitLab, Gitea and Forgejo (Codeberg), Bitbucket and sourcehut: by their own hosts, and by the first
part of a host's name where people run their own. User names and passwords in a remote's address are left out.
"""

import re
from urllib.parse import quote

from memosite.sources.git_urls import parse_git_url

_TEMPLATES = {
    "github": "/blob/{ref}/{path}",
    "gitlab": "/-/blob/{ref}/{path}",
    "gitea": "/src/commit/{ref}/{path}",
    "bitbucket": "/src/{ref}/{path}",
    "sourcehut": "/tree/{ref}/item/{path}",
}
_HOSTS = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "salsa.debian.org": "gitlab",
    "framagit.org": "gitlab",
    "invent.kde.org": "gitlab",
    "codeberg.org": "gitea",
    "gitea.com": "gitea",
    "bitbucket.org": "bitbucket",
    "git.sr.ht": "sourcehut",
}
_OWN = {"github": "github", "gitlab": "gitlab", "gitea": "gitea", "forgejo": "gitea"}
_ALIASES = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org"}
"""Hosts that take ssh at the port of https, and the hosts that they stand for."""

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_COMMIT_PAGES = (
    (re.compile(r"(https?://[^?#{}]+)/-/(?:blob|tree|raw)/[^?#]*"), "/-/commit/"),
    (re.compile(r"(https?://[^?#{}]+)/src/(?:branch|commit|tag)/[^?#]*"), "/commit/"),
    (re.compile(r"(https?://[^?#{}]+)/(?:blob|tree)/[^?#]*"), "/commit/"),
    (re.compile(r"(https?://[^?#{}]+)/src/[^?#]*"), "/commits/"),
)


def file_template(remote_url: str) -> str | None:
    """Where the forge of a remote shows its files, with `{ref}` and `{path}` to fill in; None for an unknown forge."""
    url = parse_git_url(remote_url)
    if url is None or url.protocol not in {"https", "http", "ssh", "git", "git+ssh", "ssh+git"}:
        return None
    host, _, port = url.host.partition(":")
    host = _ALIASES.get(host, host)
    forge = _HOSTS.get(host) or _OWN.get(host.partition(".")[0] if "." in host else "")
    path = _repo_path(url.path, forge or "")
    if forge is None or path is None or not _HOST.fullmatch(host) or (port and not port.isdecimal()):
        return None
    is_shown = host not in _HOSTS and url.protocol in {"https", "http"}  # the port of ssh is not that of the pages
    scheme = "http" if is_shown and url.protocol == "http" else "https"
    where = f"{host}:{port}" if is_shown and port else host
    return f"{scheme}://{where}/{path}{_TEMPLATES[forge]}"


def _repo_path(written: str, forge: str) -> str | None:
    """The path of a repo's page; only GitLab has groups within groups."""
    parts = written.strip("/").removesuffix(".git").split("/")
    if not all(parts) or any(part in {".", ".."} or not part.isprintable() for part in parts):
        return None
    if len(parts) < 2 or (len(parts) > 2 and forge != "gitlab"):
        return None
    return "/".join(quote(part, safe="~%-._") for part in parts)


def commit_url(template: str, commit: str) -> str | None:
    """Where a forge shows a commit, derived from its file template; None for an unknown form."""
    if not _COMMIT.fullmatch(commit):
        return None
    for form, page in _COMMIT_PAGES:
        match = form.fullmatch(template)
        if match is not None:
            return f"{match[1]}{page}{commit}"
    return None


def file_url(template: str, ref: str, path: str) -> str:
    """The address of a file; `ref` is a commit, or `HEAD` where none is known."""
    filled = template.replace("{ref}", quote(ref, safe="/-._~"))
    return filled.replace("{path}", quote(path.encode("utf-8", "replace"), safe="/-._~"))


def below(template: str, prefix: str) -> str:
    """The template for the files below a folder of the repo."""
    folder = quote(prefix.encode("utf-8", "surrogateescape"), safe="/-._~")
    return template.replace("{path}", f"{folder}/{{path}}") if prefix else template
