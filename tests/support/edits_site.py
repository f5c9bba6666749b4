"""Edits of what is around the sources: memosite.yml, theme, output folder, cache and clock."""

import os
import random
import shutil
from pathlib import Path

from tests.support.edits import edit
from tests.support.edits_memos import KEY_FINGERPRINT
from tests.support.organization import REPOS, SEATS, SOURCES, Organization, pick

_TEMPLATE = "{% extends 'base.html' %}{% block main %}<h1>{{ page.title }}</h1><p>NUMBER</p>{% endblock %}\n"


def _set(org: Organization, key: str, value: object) -> str:
    if value is None:
        org.settings.pop(key, None)
    else:
        org.settings[key] = value
    org.configure()
    return f"{key}: {value}"


@edit(4)
def set_value(org: Organization, rng: random.Random) -> str:
    """A plain setting is set to something else, or left out."""
    stems = org.stems() or ["none"]
    closed = {rng.choice(stems): {"on": "2026-06-20", "by": "director", "why": "overtaken"}}
    alias = {"aliases": {rng.choice(SEATS[2:]): "engineer", "newcomer": rng.choice(("porter", "chief"))}}
    choices: list[tuple[str, object]] = [
        ("title", f"Archive {rng.randint(0, 9)}"), ("base_url", f"https://archive{rng.randint(0, 2)}.example.org/"),
        ("base_url", None), ("language", rng.choice(("de", "pt-BR", None))),
        ("history", rng.choice(("enclosing", None))), ("archive_id", rng.choice(("harbour", None))),
        ("documents", rng.choice((["decisions/**/*.md"], ["memories/**"], None))), ("positions", alias),
        ("positions", {"people": [rng.choice(SEATS)]}), ("positions", None), ("actions", {"closed": closed}),
        ("actions", None), ("citations", rng.choice((["book/**/*.md"], ["**/*.md"], None))),
        ("withhold_raw", rng.choice((False, None))),
        ("withhold", rng.choice((["office/notes/**"], ["memos/read/**", "yard"], ["nothing/**"], None))),
    ]  # fmt: skip
    return _set(org, *rng.choice(choices))


@edit(2)
def set_feeds(org: Organization, rng: random.Random) -> str:
    """Feeds get another size or digest, and saved searches come and go."""
    feeds = dict(org.settings.get("feeds", {}))
    key, value = rng.choice(
        [
            ("window", rng.choice((50, 51))), ("days", rng.choice((0, 30))), ("full_content", rng.random() < 0.5),
            ("digest", rng.choice(("daily", "weekly"))), ("ttl", rng.choice((5, 60))),
            ("searches", {"plans": "plan OR gate"}), ("searches", {}),
            ("searches", {"mine": rng.choice(("is:open", "to:engineer", "barrel", "is:unread")), "all": "sent:2026"}),
        ]
    )  # fmt: skip
    return _set(org, "feeds", feeds | {key: value})


@edit(3)
def set_sources(org: Organization, rng: random.Random) -> str:
    """A source is added, removed, renamed, reordered, or read otherwise; or sources are discovered."""
    sources = [dict(one) for one in org.settings.get("sources", [])]
    how, one = rng.randrange(9), rng.choice(sources) if sources else {}
    left = [name for name in SOURCES if name not in {source.get("path") for source in sources}]
    if how in {0, 1} and left:
        sources.append({"path": rng.choice(left)})
    elif how == 2 and len(sources) > 1:
        sources.remove(one)
    elif how == 3 and one:
        one["name"] = rng.choice((f"{one.get('path', 'spec')}-renamed", str(one.get("path", "spec"))))
    elif how == 4:
        rng.shuffle(sources)
    elif how == 5 and one:
        one[rng.choice(("include", "exclude"))] = [rng.choice(("**/*.md", "memos/read/**", "notes/", "letters/**"))]
    elif how == 6 and one.get("path") in REPOS and org.repo(one["path"]).git("branch", "--list", "main"):
        one.pop("ref", None) if "ref" in one else one.update(ref="main")
    elif how == 7 and one:
        one["web"] = f"https://forge.example/{one.get('path', 'spec')}/{{ref}}/{{path}}"
    else:
        sources = [{"path": name} for name in SOURCES[: rng.randint(2, 4)]]
    names = [source.get("name", source.get("path")) for source in sources]
    return _set(org, "sources", sources) if len(set(names)) == len(names) else ""


@edit(2)
def fetch_source(org: Organization, rng: random.Random) -> str:
    """A source is fetched from a remote, or is no source any more; or the remote gets new commits."""
    remote, sources = org.folder.parent / f"{org.folder.name}-remote.git", list(org.settings.get("sources", []))
    spare = org.repo("spare")
    if not remote.exists():
        spare.git("init", "--quiet", "--bare", str(remote))
    if rng.random() < 0.7:
        spare.commit("published")
    spare.git("push", "--quiet", "--force", str(remote), "HEAD:refs/heads/main")
    others = [one for one in sources if "git" not in one]
    if others != sources and rng.random() < 0.4:
        return _set(org, "sources", others or None)
    if others == sources and sources:
        return _set(org, "sources", [*sources, {"git": f"file://{remote}", "ref": "main", "name": "fetched"}])
    return "pushed"


@edit(1)
def discover_sources(org: Organization, rng: random.Random) -> str:  # noqa: ARG001 - as every edit
    """Sources are found, not named."""
    return _set(org, "sources", None)


@edit(2)
def set_audience(org: Organization, rng: random.Random) -> str:
    """The site is for the public, for everybody within, or there is one for each."""
    how = rng.randrange(3)
    for key in ("audience", "output", "outputs"):
        org.settings.pop(key, None)
    if how == 1:
        return _set(org, "outputs", {"internal": "_site", "public": "_public"})
    if how == 2:
        org.settings["output"] = "_public"
        return _set(org, "audience", "public")
    return _set(org, "audience", None)


@edit(2)
def set_erase(org: Organization, rng: random.Random) -> str:
    """Something is erased, or published again."""
    names = [*org.stems(), "office.decisions.0001-plan.md", "2026-05-05-0900--engineer--talk", "desk.tide"]
    known = [one for one in names if one.isascii() and " " not in one]
    entry = {"id": rng.choice(known), "why": "asked for", "on": "2026-06-20", "secret": rng.random() < 0.3}
    return _set(org, "erase", [entry] if rng.random() < 0.7 else None)


@edit(2)
def set_secrets(org: Organization, rng: random.Random) -> str:
    """What is done about secrets, and which are none."""
    mode = rng.choice(("withhold", "redact", "redact", "fail"))
    fingerprint = rng.choice((KEY_FINGERPRINT, KEY_FINGERPRINT, "feb5a2eb8c8fd01a"))
    allowed = [{"fingerprint": fingerprint, "why": "revoked"}] if rng.random() < 0.5 else []
    if mode == "fail":
        org.undo.append(("secrets", org.settings.get("secrets")))
    return _set(org, "secrets", {"mode": mode, "allow": allowed})


@edit(1)
def break_configuration(org: Organization, rng: random.Random) -> str:
    """memosite.yml cannot be read for a while."""
    (org.folder / "memosite.yml").write_text(rng.choice(("title: [", "titel: x\n", "sources: [{path: nowhere}]\n")))
    org.undo.append(("configuration", None))
    return (org.folder / "memosite.yml").read_text()


@edit(3)
def change_theme(org: Organization, rng: random.Random) -> str:
    """The theme gets a file, another content of one, or loses one; or there is no theme."""
    folder, how, number = org.folder / "theme", rng.randrange(6), rng.randint(0, 99)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    if how == 0:
        (folder / "static" / f"extra{number % 3}.css").write_text(f"/* {number} */\n")
    elif how == 1:
        (folder / "static" / "memosite.css").write_text(f"/* {number} */\n")
    elif how == 2:
        (folder / "templates" / "404.html").write_text(_TEMPLATE.replace("NUMBER", str(number)))
    elif how == 3 and files:
        file = rng.choice(files)
        file.unlink()
        return f"without {org.name(file)}"
    elif how == 4 and files:
        file = rng.choice(files)
        data, found = file.read_bytes(), file.stat()
        file.write_bytes(data.replace(b"e", b"a", 1) if file.suffix == ".css" else data.replace(b"<p>", b"<b>", 1))
        os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
        return f"{org.name(file)} with its time"
    else:
        return _set(org, "theme", None if "theme" in org.settings else "theme")
    return str(number)


@edit(1)
def break_theme(org: Organization, rng: random.Random) -> str:
    """A template fails for a while."""
    file = org.folder / "theme/templates" / rng.choice(("memo.html", "home.html", "list.html"))
    file.write_text("{{ page.nothing }}")
    org.undo.append(("remove", file))
    return org.name(file)


def _outputs(org: Organization) -> list[Path]:
    return [path for name in ("_site", "_public") if (path := org.folder / name).is_dir()]


def _published(org: Organization) -> list[Path]:
    files = [path for folder in _outputs(org) for path in sorted(folder.rglob("*")) if path.is_file()]
    kept = {"ledger.jsonl", "seals.jsonl", ".memosite-site", ".gitignore"}
    return [path for path in files if path.name not in kept and path not in org.foreign]


@edit(3)
def change_output(org: Organization, rng: random.Random) -> str:
    """Somebody edits, empties, removes or replaces files of the site."""
    files = [pick(rng, _published(org)) for _ in range(rng.randint(1, 3))]
    for file in files:
        if file is None:
            return ""
        how = rng.randrange(5)
        if not file.exists() or how == 0:
            file.unlink(missing_ok=True)
        elif how == 1:
            file.write_bytes(b"")
        elif how == 2:
            file.write_bytes(file.read_bytes()[::-1])
        elif how == 3:
            file.unlink()
            file.symlink_to("/etc/hostname")
        elif file.parent not in _outputs(org):
            shutil.rmtree(file.parent)
    org.foreign = {path: data for path, data in org.foreign.items() if path.exists()}
    return ", ".join(org.name(file) for file in files if file)


@edit(1)
def plant_in_output(org: Organization, rng: random.Random) -> str:
    """A file of somebody else is put into the site, which stays."""
    for folder in _outputs(org):
        file = folder / rng.choice(("_headers", "memos/letter.txt", "CNAME"))
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
        org.foreign[file] = b"mine"
    return ", ".join(org.name(file) for file in sorted(org.foreign))


@edit(2)
def keep_copy_of_output(org: Organization, rng: random.Random) -> str:
    """The site is copied somewhere, or what was copied takes its place, with its older ledger."""
    kept, site = org.folder.parent / f"{org.folder.name}-kept", org.folder / "_site"
    if kept.exists() and rng.random() < 0.6:
        shutil.rmtree(site, ignore_errors=True)
        shutil.move(kept, site)
        org.foreign = {path: data for path, data in org.foreign.items() if path.exists() and site in path.parents}
        return "put back"
    if not site.exists():
        return ""
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(site, kept)
    return "copied"


@edit(1)
def lose_output(org: Organization, rng: random.Random) -> str:
    """The site is removed, but its ledger is not; or it is removed as a whole."""
    site = org.folder / "_site"
    if not site.exists():
        return ""
    how = rng.randrange(2)
    for entry in sorted(site.iterdir()):
        if how or entry.name not in {"archive", ".memosite-site"}:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if how:
        site.rmdir()
    org.foreign = {path: data for path, data in org.foreign.items() if path.exists()}
    return ("without its ledger", "as a whole")[how] if how else "but its ledger"


@edit(3)
def damage_cache(org: Organization, rng: random.Random) -> str:
    """The cache is removed, or files of it are cut, spoiled or removed."""
    cache = rng.choice((org.folder / ".memosite", org.other_cache))
    files = [path for path in sorted(cache.rglob("*")) if path.is_file()]
    if not files or rng.random() < 0.2:
        shutil.rmtree(cache, ignore_errors=True)
        return f"without {cache.name}"
    chosen = rng.sample(files, min(len(files), rng.randint(1, 4)))
    for file in chosen:
        data, how = file.read_bytes(), rng.randrange(3)
        place = rng.randrange(len(data) + 1)
        if how == 0:
            file.unlink()
        elif how == 1:
            file.write_bytes(data[:place])
        else:
            file.write_bytes(data[:place] + os.urandom(4) + data[place + 4 :])
    return ", ".join(file.relative_to(org.folder.parent).as_posix() for file in chosen)


@edit(1)
def block_cache(org: Organization, rng: random.Random) -> str:  # noqa: ARG001 - as every edit
    """The cache cannot be written for a while: something is in its place."""
    cache, kept = org.folder / ".memosite", org.folder.parent / f"{org.folder.name}-cache"
    if cache.exists():
        shutil.move(cache, kept)
        org.undo.append(("move", (kept, cache)))
    cache.write_text("not a folder")
    org.undo.append(("remove", cache))
    return "a file"


@edit(2)
def jump_clock(org: Organization, rng: random.Random) -> str:
    """The machine's clock is wrong from now on, or right again."""
    org.clock_jump = rng.choice((0, 0, -86_400, -1, 3, 3_600, 864_000))
    return f"{org.clock_jump} s"


def undo_last(org: Organization) -> None:
    """End what keeps everything from being built, and what stands in the way of other edits."""
    while org.undo:
        what, of = org.undo.pop()
        if what == "odd" and (of.is_symlink() or of.is_fifo() or of.is_dir()):
            shutil.rmtree(of) if of.is_dir() and not of.is_symlink() else of.unlink()
        elif what == "remove":
            of.unlink(missing_ok=True)
        elif what == "move" and not of[1].exists():
            shutil.move(*of)
        elif what in {"secrets", "feeds"}:
            _set(org, what, of)
        elif what == "configuration":
            org.configure()
