"""A page of each class, made from the types of its fields, so that a new field is sampled by itself.

What a text has to be is known by the name of its field: a link, an anchor, the digest of a text, or else a few words.
"""

import hashlib
from collections.abc import Callable
from enum import EnumType
from functools import cache
from importlib import import_module
from itertools import count
from pkgutil import iter_modules
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from memosite import pages, plan
from memosite.archive.cite import Citation
from memosite.facts.times import Moment, read_moment
from memosite.facts.values import Value
from memosite.pages import Body, ListSection, Page, Reference, Site
from memosite.render.compiled import CompiledTemplates
from memosite.render.renderer import Renderer
from memosite.render.theme import Theme
from memosite.store.state import State

MEMO_TEXT = """\
# Two loads, the second one clean

We go. See [the plan](plan.md) and `2026-04-20-1655--catalogue--strategist--trial.openthing`.

| when | what |
|---|---|
| Sat 25, 09:00 | last export, checksums by telephone |

## What no-go means

```sh
load --file export.mrc --dry-run
```

> Count before the load and not after it.
"""
TALK = """\
# A session

---

## 🧑 User <sub>4/14/2026, 9:22:47 AM</sub>

Please water the plants.

> **🔧 Bash** <sub>4/14/2026, 9:22:50 AM</sub>
> ```
> water --all
> ```

> **🔧 Glob** <sub>4/14/2026, 9:22:51 AM</sub>

<ide_selection>The ficus is selected.</ide_selection>

---

## 🤖 Assistant *(sonnet-9)* <sub>4/14/2026, 9:23:01 AM</sub>

## Done

The cactus was left out.

---

## 🧑 User <sub>4/14/2026, 9:24:00 AM</sub>

Good.
"""
SITE = Site(title="Fernhill Library", language="en", base_url=None, generator="memosite 0.1.0", has_records=True)
STAMP = read_moment("2026-04-21T09:00:00-04:00")
CITATION = Citation(
    ref="memo/plan", url="https://archive.example.org/memos/plan/", title="Plan for [the] weekend",
    speaker="strategist (session-3)", time="2026-04-21T13:00:00Z", quote="Two *loads* […]", sha256="ab" * 32,
    note="raw",
)  # fmt: skip
TEXTS: dict[str, str] = {}
"""The texts that the pages name, by their digests."""

_TEXTS = {"shown_envelope", "other_envelope", "shown_body", "other_body", "before", "after"}
_SECTIONS = ("home", "org", "decisions", "actions", "timeline", "systems", "health", "search", "")
_GIVEN: dict[tuple[str, str], Any] = {
    ("", "site"): SITE,
    ("", "date"): STAMP,
    ("", "citation"): CITATION,
    ("", "canonical"): CITATION.url,
    ("", "path"): "memos/plan/index.html",
    ("", "root"): "../../",
    ("", "feeds"): (Reference(label="Memos to strategist", href="feed.xml"),),
    ("", "twins"): (Reference(label="json", href="index.json"), Reference(label="md", href="index.md")),
    ("NotFoundPage", "path"): "404.html",
    ("NotFoundPage", "root"): "/prefix/",
    ("NotFoundPage", "base_path"): "/prefix/",
    ("ContractSection", "is_below"): False,
    ("LaneMark", "lane"): 1,
    ("LaneMark", "answers"): (0,),
    ("Stream", "heading"): ListSection(heading="Sent", anchor="stream", rows=(), total=240, targets=("received",)),
}
"""What fields hold whose types do not say it, by class and name, or by name alone in every page."""
_numbers = count(1)
P = TypeVar("P", bound=Value)


def shelve(text: str) -> str:
    """Keep a text where the renderers of these tests read it, and give its digest."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    TEXTS[digest] = text
    return digest


def body(text: str, **changes: Any) -> Body:
    """A body of this text, Markdown unless said otherwise."""
    fields: dict[str, Any] = {"sha256": shelve(text), "form": "markdown", "chars": len(text)} | changes
    return Body(**fields)


def talk(text: str = TALK, **changes: Any) -> Body:
    """The body of a transcript."""
    return body(text, **{"form": "transcript", "started": "2026-04-14T13:22:47Z", "citation": CITATION} | changes)


def ref(label: str, href: str | None = "../x/index.html") -> Reference:
    """A reference with a tooltip."""
    return Reference(label=label, href=href, title=f"about {label}")


def sample(model: type[P], **given: Any) -> P:
    """A value of a class in which everything is there, but for the fields that are given."""
    hints = get_type_hints(model)
    names = model.__struct_fields__
    return model(**{name: given[name] if name in given else _field(model, name, hints[name]) for name in names})


def _field(model: type, name: str, hint: Any) -> Any:
    """What a field holds."""
    number, page = next(_numbers), issubclass(model, Page)
    known = _GIVEN.get((model.__name__, name), _GIVEN.get(("", name)) if page else None)
    if known is not None:
        return known
    if hint == Moment | None:
        return STAMP
    if hint == Body | None:
        return talk() if "Transcript" in model.__name__ else body(MEMO_TEXT, prefix=f"b{number}-")
    if model.__name__ == "CaptureSide" and name == "body":
        return shelve(TALK)
    if model.__name__ in {"VariantRow", "EditRow"} and name in _TEXTS:
        return shelve(f"{name} {number}.\nThe same.\n")
    if name == "section":
        return _SECTIONS[number % len(_SECTIONS)]
    if name == "kind" and page:
        return "memo" if model.__name__ == "WithheldPage" else model.__name__.removesuffix("Page").lower()
    return _value(name, hint)


def _value(name: str, hint: Any) -> Any:
    """A value of a type; of lists two entries, of some words one after the other."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return _value(name, next(part for part in parts if part is not type(None)))
    if origin is tuple:
        return tuple(_value(name, part) for part in ((parts[0],) * 2 if parts[-1] is ... else parts))
    if origin is Literal:
        return parts[next(_numbers) % len(parts)]
    if isinstance(hint, EnumType):
        return list(hint)[next(_numbers) % len(hint)]
    if hint is Reference:
        return ref(f"{name}-{next(_numbers)}")
    if issubclass(hint, Value):
        return STAMP if hint is Moment else sample(hint)
    if hint is str:
        return "../x/index.html" if name in {"href", "web", "original"} else f"{name}-{next(_numbers)}"
    return {bool: True, int: 3}[hint]


@cache
def page_classes() -> tuple[type[Page], ...]:
    """All classes that have a template of their own."""
    modules = [pages, *(import_module(f"{plan.__name__}.{module.name}") for module in iter_modules(plan.__path__))]
    found = {
        model for module in modules for model in vars(module).values()
        if isinstance(model, type) and issubclass(model, Page) and "template" in vars(model)
    }  # fmt: skip
    return tuple(sorted(found, key=lambda model: model.__name__))


def renderer_of(theme: Theme, text_of: Callable[[str], str], **settings: Any) -> Renderer:
    """A renderer for which templates that this run has compiled are compiled."""
    compiled = CompiledTemplates(theme, State(None))
    renderer = Renderer(theme, text_of, compiled=compiled, **settings)
    renderer.warm()
    compiled.write()
    return renderer


@cache
def sample_pages() -> tuple[Page, ...]:
    """One page of each class."""
    return tuple(sample(model) for model in page_classes())


def page_of(kind: type[P]) -> P:
    """The page of a class."""
    return next(page for page in sample_pages() if isinstance(page, kind))
