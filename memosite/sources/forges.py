"""Addresses of repos: of remotes, without secrets; forge links to files and commits; why git failed, in our own words.

An address has one of the forms of git-fetch(1), GIT URLS. Only https, ssh and file are fetched (SPEC 2.3): other
protocols are not authenticated (git, http) or run a command that the URL names (ext). User names and passwords in an
address are never shown, nor is what git says itself: it names files of this machine.

The forges that are known are GitHub, GitLab, Gitea and Forgejo (Codeberg), Bitbucket and sourcehut: by their own hosts,
and by the first part of a host's name where people run their own. Nothing is requested.
"""

import re
from urllib.parse import quote, unquote

from memosite.facts.characters import masked
from memosite.facts.patterns import regex
from memosite.facts.values import Value

# Parses URLs of git remotes, decides which may be fetched, and shows them without secrets.


PROTOCOLS = ("https", "ssh", "file")
"""The protocols that are fetched from."""


FORM = "an https://, ssh:// or file:/// address, or git@host:path"


_URL = regex(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:(?P<user>[^/?#]*)@)?(?P<host>[^/@?#]*)(?P<path>/.*)?", re.DOTALL
)


_SCP = regex(r"(?:(?P<user>[^/:@]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^/:@\[\]]+):(?!:)(?P<path>.+)", re.DOTALL)


_HOST_AND_PORT = regex(r"(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?::[0-9]{1,5})?")


_USER = regex(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")


_SECRET = regex(r"(?<=://)\S*@")


_LOGIN = regex(r"(?<=//).*@", re.DOTALL)  # of what is no address, for a space or a missing colon


class GitUrl(Value):
    """The parts of a remote's address. `host` is in small letters, with a port if one is written; `path` as written.

    `user` is the part before `@`, with a password if there is one.
    """

    protocol: str
    host: str
    path: str
    user: str = ""


def parse_git_url(text: str) -> GitUrl | None:
    """The parts of an address with a protocol, or of `git@host:path`; None if it is neither."""
    match = _URL.fullmatch(text)
    protocol = match["scheme"].lower() if match else "ssh"
    match = match or (None if "://" in text else _SCP.fullmatch(text))
    if match is None:
        return None
    return GitUrl(protocol=protocol, host=match["host"].lower(), path=match["path"] or "", user=match["user"] or "")


def refusal(text: str) -> str | None:
    """Why an address may not be fetched, in words that show no password; None if it may."""
    url = parse_git_url(text)
    if url is None or not text.isprintable() or " " in text or text.startswith("-"):
        return f'"{_LOGIN.sub("", text)}"' if text.isprintable() else "an address with control characters"
    if url.protocol not in PROTOCOLS:
        return f"the protocol {url.protocol}"
    if url.protocol == "file":
        return None if not url.host and not url.user and len(url.path) > 1 else "a file address with a host"
    if ":" in url.user or (url.user and url.protocol == "https"):
        return "a user or password in the address"
    is_address = _HOST_AND_PORT.fullmatch(url.host) and (not url.user or _USER.fullmatch(url.user))
    if not is_address or not url.path.strip("/") or url.path.startswith("-"):
        return f'"{_LOGIN.sub("", text)}"'
    return None


def without_secrets(text: str) -> str:
    """An address, or a text with addresses, without the parts between `://` and `@`."""
    return _SECRET.sub("", text)


def repo_name(text: str) -> str:
    """The last part of an address, without `.git`: the default name of its source."""
    url = parse_git_url(text)
    parts = [part for part in unquote(url.path if url else text).split("/") if part not in {"", ".", "..", ".git"}]
    return parts[-1].removesuffix(".git") if parts else ""


# Says in our own words why git failed: git's messages name files of this machine, and pages are published.


_MEMORY = regex(rb"out of memory|cannot allocate memory|unable to (?:m|re|c)alloc", re.IGNORECASE)


_WORDS = (
    ("its host is not known", r"could not resolve|name or service not known|no address associated"),
    ("its host does not answer", r"refused|timed? ?out|no route|unreachable|(?:failed to|couldn't) connect|hung up"),
    ("the key of its host is not known", r"host key verification"),
    ("it asks for a login", r"authentication|read (?:username|password)|permission denied|prompts disabled|: 40[13]"),
    ("its certificate cannot be checked", r"certificate|\b(?:ssl|tls)\b"),
    ("it has no such branch or tag", r"remote ref|no such ref|unadvertised"),
    ("there is no repo", r"repository .*not found|not appear to be a git|does not exist|: 404|not a git repo"),
    ("its protocol is not allowed", r"transport .* not allowed"),
    ("its hashes are of another kind than before", r"mismatched algorithms"),
    ("it belongs to another user", r"dubious ownership"),
    ("its configuration cannot be used", r"bad config|config (?:value|file)|repository extension|repo version"),
    ("its objects are damaged or missing", r"corrupt|bad|malformed|inflate|unpack|read|missing|not a|object|damaged"),
)
"""Our words for what git says, the first that fit."""


def last_line(said: bytes) -> str:
    """Of what git said, the line that counts, as one line without passwords in URLs; for the terminal only."""
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    text = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
    said_so = masked(text.removeprefix("fatal: ").removeprefix("error: "))
    return without_secrets(said_so)[:300].strip()


def is_out_of_memory(said: bytes) -> bool:
    """Whether git failed for want of memory."""
    return _MEMORY.search(said) is not None


def in_our_words(said: bytes, command: str, code: int) -> str:
    """Why a command of git failed, without anything that git said itself."""
    text = said.decode("utf-8", "replace")
    words = next((words for words, pattern in _WORDS if re.search(pattern, text, re.IGNORECASE)), "")
    if words:
        return words
    return f"git {command} was ended by signal {-code}" if code < 0 else f"git {command} failed with exit code {code}"


# Makes forge links to files and commits of a repo from its remote's address alone, and reads such links.


class _Forge(Value):
    """How one kind of forge writes its addresses, after that of a repo.

    `files` is the template of a file, `form` what is before the path in such a template, whoever wrote it, `views`
    what is before it on the pages that show a file, and `commit` what is before a commit's id.
    """

    files: str
    form: re.Pattern[str]
    views: re.Pattern[str]
    commit: str


def _forge(files: str, form: str, views: str, commit: str) -> _Forge:
    """`form` and `views` are written with REF for a branch, tag or commit."""
    one_ref = r"((?:refs/(?:heads|tags)/)?[^/]+)"
    return _Forge(
        files=files,
        form=re.compile(rf"(https?://[^?#{{}}]+)/(?:{form.replace('REF', '[^/?#]+')})/([^?#]*)"),
        views=re.compile(rf"(?:{views.replace('REF', one_ref)})/(.+)"),
        commit=commit,
    )


_FORGES = {  # in the order in which forms are tried: each would take those of the forges before it
    "gitlab": _forge(
        "/-/blob/{ref}/{path}", "-/(?:blob|tree|raw)/REF", "(?:-/)?(?:blob|raw|tree|blame|edit)/REF", "/-/commit/"
    ),
    "gitea": _forge(
        "/src/commit/{ref}/{path}",
        "src/(?:branch|commit|tag)/REF",
        "(?:src|raw|blame|media)/(?:branch|commit|tag)/REF",
        "/commit/",
    ),
    "sourcehut": _forge("/tree/{ref}/item/{path}", "tree/REF/item", "tree/REF/item|(?:blob|blame)/REF", "/commit/"),
    "github": _forge("/blob/{ref}/{path}", "(?:blob|tree)/REF", "(?:blob|raw|tree|blame|edit)/REF", "/commit/"),
    "bitbucket": _forge("/src/{ref}/{path}", "src/REF", "(?:src|raw|annotate)/REF", "/commits/"),
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


_HOST = regex(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


_COMMIT = regex(r"[0-9a-f]{7,64}")


_WEB = regex(r"https?://", re.IGNORECASE)


_RAW = regex(r"raw\.githubusercontent\.com/([^/]+/[^/]+)/")


_PLACEHOLDER = regex(r"\{(ref|path)\}")


_REPO_PARTS = 2  # of the path of a repo: its owner and its name; GitLab has groups within groups


def file_template(remote_url: str) -> str | None:
    """Where the forge of a remote shows its files, with `{ref}` and `{path}` to fill in; None for an unknown forge."""
    url = parse_git_url(remote_url)
    if url is None or url.protocol not in {"https", "http", "ssh", "git", "git+ssh", "ssh+git"}:
        return None
    host, _, port = url.host.partition(":")
    host = _ALIASES.get(host, host)
    forge = _forge_at(host)
    path = _repo_path(url.path, forge or "")
    if forge is None or path is None or not _HOST.fullmatch(host) or (port and not port.isdecimal()):
        return None
    is_shown = host not in _HOSTS and url.protocol in {"https", "http"}  # the port of ssh is not that of the pages
    scheme = "http" if is_shown and url.protocol == "http" else "https"
    where = f"{host}:{port}" if is_shown and port else host
    return f"{scheme}://{where}/{path}{_FORGES[forge].files}"


def _forge_at(host: str) -> str | None:
    """The forge of a host by its name: a known one, or one whose first part says what people run there."""
    return _HOSTS.get(host) or _OWN.get(host.partition(".")[0] if "." in host else "")


def _repo_path(written: str, forge: str) -> str | None:
    """The path of a repo's page; only GitLab has groups within groups."""
    parts = written.partition("?")[0].strip("/").removesuffix(".git").split("/")  # what follows may be a token
    if not all(parts) or any(part in {".", ".."} or not part.isprintable() for part in parts):
        return None
    if len(parts) < _REPO_PARTS or (len(parts) > _REPO_PARTS and forge != "gitlab"):
        return None
    return "/".join(quote(part, safe="~%-._") for part in parts)


def commit_url(template: str, commit: str) -> str | None:
    """Where a forge shows a commit, derived from its file template; None for an unknown form."""
    if not _COMMIT.fullmatch(commit):
        return None
    for forge in _FORGES.values():
        match = forge.form.fullmatch(template)
        if match is not None:
            return f"{match[1]}{forge.commit}{commit}"
    return None


def file_url(template: str, ref: str, path: str) -> str:
    """The address of a file; `ref` is a commit, or `HEAD` where none is known."""
    filled = template.replace("{ref}", quote(ref, safe="/-._~"))
    return filled.replace("{path}", quote(path.encode("utf-8", "replace"), safe="/-._~"))


def below(template: str, prefix: str) -> str:
    """The template for the files below a folder of the repo."""
    folder = quote(prefix.encode("utf-8", "surrogateescape"), safe="/-._~")
    return template.replace("{path}", f"{folder}/{{path}}") if prefix else template


class ShownFile(Value):
    """The file that a page of a forge shows: its repo as a host and a path, a branch, tag or commit, and its path."""

    repo: str
    ref: str
    path: str


class RepoPages(Value):
    """The pages that show the files of a repo, or of a folder of it, as far as a template tells.

    `repo` is the host and path in small letters, `folder` the one that paths of the template begin in, with a slash.
    """

    repo: str
    folder: str
    views: re.Pattern[str]

    def file(self, rest: str) -> ShownFile | None:
        """The file that a page of this repo shows; `rest` is its address after that of the repo and a slash."""
        match = self.views.fullmatch(rest)
        if match is None:
            return None
        *refs, written = match.groups()
        path = unquote(written).rstrip("/")
        if not path.startswith(self.folder) or any(part in {"", ".", ".."} for part in path.split("/")):
            return None
        ref = unquote(next(filter(None, refs), ""))
        return ShownFile(repo=self.repo, ref=ref, path=path[len(self.folder) :])


def plain_address(url: str) -> str | None:
    """The host and path of a page on the web, as `repo_key` has them; None for anything else."""
    scheme = _WEB.match(url)
    host, slash, path = re.split("[?#]", url[scheme.end() :], maxsplit=1)[0].partition("/") if scheme else ("", "", "")
    if not slash or "@" in host:
        return None
    return _RAW.sub(r"github.com/\1/raw/", f"{host.lower().removeprefix('www.')}/{path}", count=1)


def repo_key(address: str) -> str:
    """A repo's address by which it is compared: forges take small and capital letters for the same."""
    return unquote(address).casefold()


def repo_pages(template: str) -> RepoPages | None:
    """The pages that a template stands for: all views of a known forge, else those of the template itself."""
    for forge in _FORGES.values():
        match = forge.form.fullmatch(template.partition("{path}")[0])
        if match is not None:
            return RepoPages(
                repo=repo_key(plain_address(match[1] + "/") or "").rstrip("/"),
                folder=unquote(match[2]),
                views=forge.views,
            )
    address = plain_address(template)
    first = _PLACEHOLDER.search(address) if address else None
    if address is None or first is None or "{path}" not in address:
        return None
    at = address.rfind("/", 0, first.start())
    parts = _PLACEHOLDER.split(address[at + 1 :])
    groups = {"ref": "([^/]+)", "path": "(.+)"}
    views = "".join(groups[part] if odd % 2 else re.escape(part) for odd, part in enumerate(parts))
    return RepoPages(repo=repo_key(address[:at]), folder="", views=re.compile(views))


def shown_file(url: str) -> ShownFile | None:
    """The file that a page of a known forge shows, whatever the repo; a GitLab repo within groups needs `/-/`."""
    address = plain_address(url)
    if address is None:
        return None
    host, *parts = address.split("/")
    forge = _forge_at(host.partition(":")[0])
    length = parts.index("-") if forge == "gitlab" and "-" in parts else _REPO_PARTS
    if forge is None or length < _REPO_PARTS or not all(parts[:length]):
        return None
    repo = repo_key("/".join((host, *parts[:length])))
    return RepoPages(repo=repo, folder="", views=_FORGES[forge].views).file("/".join(parts[length:]))
