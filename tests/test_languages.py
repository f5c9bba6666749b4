"""Languages: the German catalogue is complete, a site can bring its own, and nothing but words changes."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import cast

import lxml.html
import pytest

from memosite.facts.errors import ConfigError
from memosite.facts.phrases import phrase, phrases
from memosite.facts.values import replace
from memosite.pages import Site
from memosite.plan.removed import GonePage
from memosite.render.catalogue import ENGLISH, PLACEHOLDER, Catalogue, po_entries, read_catalogue, translate_script
from memosite.render.renderer import Renderer
from memosite.render.theme import load_theme
from tests.support.files import ROOT, write_text
from tests.support.messages import marked_catalogue, messages, updated
from tests.support.pages import found
from tests.support.sites import build_site, built_example, built_from_nothing, copy_example, tree_bytes

GERMAN = ROOT / "languages/de.po"
ENTRIES = [entry for entry in po_entries(GERMAN.read_text(encoding="utf-8"), GERMAN.name) if entry.one]

SOURCES = ("governance", "catalogue", "website", "reading-room")
SITE = Site(title="", language="pl", base_url=None, generator="")
HEAD = 'msgid ""\nmsgstr ""\n'
POLISH = '"Plural-Forms: nplurals=3; plural=n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2;\\n"\n'


def test_german_texts_have_the_values_of_the_english_ones() -> None:
    """Each placeholder with its format; `scripts/messages` has nothing to add, to remove or to translate."""
    assert updated(GERMAN, messages()) == GERMAN.read_text(encoding="utf-8"), "run scripts/messages"
    assert [entry.one for entry in ENTRIES if not all(entry.texts)] == []
    for entry in ENTRIES:
        for english, german in zip((entry.one, entry.many or entry.one), entry.texts, strict=False):
            values = {match[0] for match in PLACEHOLDER.finditer(english)}
            assert values == {match[0] for match in PLACEHOLDER.finditer(german)}, entry
            assert re.findall(r"</?\w+", english) == re.findall(r"</?\w+", german), entry
            assert (english[:1] == " ", english[-1:] == " ") == (german[:1] == " ", german[-1:] == " "), entry


def with_language(site: Path, language: str) -> None:
    """Set the language of a copy of the example."""
    file = site / "memosite.yml"
    file.write_text(re.sub(r"language: \w+", f"language: {language}", file.read_text(encoding="utf-8")))


def test_a_build_after_a_change_of_language_is_that_of_a_new_site(tmp_path: Path) -> None:
    """There and back: pages that nothing else has changed are made again, in the other language."""
    site = shutil.copytree(built_example(), tmp_path / "site")
    english = tree_bytes(site / "_site")
    with_language(site, "de")
    build_site(site)
    home = (site / "_site/index.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in home and "Organisation</a>" in home
    assert tree_bytes(site / "_site") == built_from_nothing(site, tmp_path / "clean")
    with_language(site, "en")
    build_site(site)
    assert tree_bytes(site / "_site") == english


OWN_WORDS = re.compile("⟦[^⟦⟧]*⟧")
"""What is between two marks was translated; marks may be within others, and around links."""

ENGLISH_ONLY = {"spec", "health"}
"""The contract, and findings, which stay in English (docs/style.md)."""

CONTENT = (
    "//script|//style|//pre|//code"
    "|//*[contains(@class,'prose') or contains(@class,'cite') or contains(@class,'speech')]"
    "|//*[@dir='auto']|//*[contains(@class,'findings') or contains(@class,'history') or contains(@class,'fields')]"
    "|//svg//title|//*[contains(@class,'relationships')]|//details[summary='OPML']"
)
"""Elements with the words of people and of other systems."""


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in a language that puts every text between marks."""
    site = copy_example(tmp_path_factory.mktemp("marked") / "site")
    write_text(site / "theme/languages/en-XA.po", marked_catalogue("⟦", "⟧"))
    (site / "memosite.yml").write_text(f"{(site / 'memosite.yml').read_text()}\ntheme: theme\n")
    with_language(site, "en-XA")
    build_site(site)
    return site


VERDICTS = "//ul[@class='citations']//p[@class='facts']"
"""What `verify` says of citations: as findings, in English."""


def words_of(text: str) -> str:
    """The words of a text in small letters, without signs."""
    return " ".join(re.findall(r"\w+", text.replace("\\n", " ").replace("_", " "))).casefold()


def untranslated(page: Path) -> set[str]:
    """What a page says that was not translated."""
    tree = lxml.html.fromstring(page.read_bytes())
    for element in cast("list[lxml.html.HtmlElement]", tree.xpath(f"{CONTENT} | {VERDICTS}")):
        element.drop_tree()
    texts = ["\x00".join(map(str, tree.itertext())), *found(tree, "//@aria-label|//@title|//@placeholder|//@abbr")]
    pieces: set[str] = set()
    for text in texts:
        said, count = text, 1
        while count:
            said, count = OWN_WORDS.subn("\x00", said)
        pieces.update(words_of(piece) for piece in re.split(r"[\x00·,:;()–…\n]", said))
    return {piece for piece in pieces if re.search(r"[a-z]{2}", piece)}


def test_what_a_page_says_is_translated_or_content(marked: Path) -> None:
    """So no text of memosite is forgotten: what has no marks is in the files of the example."""
    sources = [path for name in SOURCES for path in sorted((marked / name).rglob("*")) if path.is_file()]
    content = words_of("\n".join([f"{path} {path.read_text(errors='replace')}" for path in sources]))
    content += words_of((marked / "memosite.yml").read_text())
    said: dict[str, str] = {}
    for page in sorted((marked / "_site").rglob("*.html")):
        place = page.relative_to(marked / "_site")
        if place.parts[0] not in ENGLISH_ONLY:
            said |= {piece: str(place) for piece in untranslated(page) if piece not in content}
    assert {piece: place for piece, place in said.items() if not NAMES.fullmatch(piece)} == {}


NAMES = re.compile(
    r"[\d ]*utc|opml|json|markdown|memosite [\d ]+|rss2email|status json|\w+ opml|x memo.*|newsboat"
    r"|(?:wyren|mif|memory store|memory layer|product map)\b.*|archived|2w kind|.*kind memo|tools error|is open"
    r"|(?:since|from) [\dt ]+"
)
"""Names of formats and programs, times, records of memory systems by what these call them, and queries."""

ADDRESSES = "//@href|//@id|//@name|//@value|//@action|//@datetime|//@data-way|//@class"


def test_addresses_anchors_and_queries_are_the_same_in_every_language(marked: Path, example_site: Path) -> None:
    """Page by page; and so is all that programs read, byte by byte."""
    english = tree_bytes(example_site)
    other = tree_bytes(marked / "_site")
    assert english.keys() == other.keys()
    for name in english:
        if name.endswith(".html"):
            one, two = (found(lxml.html.fromstring(files[name]), ADDRESSES) for files in (english, other))
            assert sorted(one) == sorted(two), name
        elif not name.endswith((".xml", ".js", "feed.json", "notes.json", "transcripts.json")):
            assert english[name] == other[name], name
    guids = [re.findall(rb"<guid[^<]*|<description>new memo: [^<]*", files["feed.xml"]) for files in (english, other)]
    assert guids[0] == guids[1] != []


def test_a_site_brings_its_own_language(tmp_path: Path) -> None:
    """As a file of its theme; texts that it does not have stay in English."""
    site = copy_example(tmp_path / "site")
    write_text(site / "theme/languages/pl.po", f'{HEAD}{POLISH}\nmsgid "Timeline"\nmsgstr "Oś <czasu>"\n')
    (site / "memosite.yml").write_text(f"{(site / 'memosite.yml').read_text()}\ntheme: theme\n")
    with_language(site, "pl")
    page = (build_site(site) / "timeline/index.html").read_text(encoding="utf-8")
    assert ">Oś &lt;czasu&gt;</a>" in page and ">Decisions</a>" in page


def test_a_language_without_a_catalogue_takes_its_familys_and_one_with_an_error_is_refused() -> None:
    """The tag is shortened until there is a file, else English; with line, found and expected."""
    for source, message in [
        ('msgid "a"\nmsgstr "b\n', r"my\.po, line 2: found 'msgstr \"b', expected"),
        (
            '\nmsgid "since {date}"\nmsgstr "seit {day}"\n',
            r"my\.po, line 2: found the placeholder {day}, expected {date}",
        ),
        ('msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=import os;\\n"\n', r"my\.po: Plural-Forms: 'import os'"),
    ]:
        with pytest.raises(ConfigError, match=message):
            read_catalogue(source, "my.po")
    for language, word in [("de-AT", "Suche"), ("DE", "Suche"), ("pt-BR", "Search")]:
        assert load_theme(None, language).words.text("Search") == word


PLURAL = """
msgid "{n} file"
msgid_plural "{n} files"
msgstr[0] "{n} plik"
msgstr[1] "{n} pliki"
msgstr[2] "{n} plików"
"""


def test_a_language_has_the_plural_forms_that_it_needs() -> None:
    """In phrases, in templates and in scripts."""
    for number, text in [(1, "1 plik"), (2, "2 pliki"), (5, "5 plików"), (22, "22 pliki")]:
        words = read_catalogue(HEAD + POLISH + PLURAL, "pl.po")
        assert words.translated(phrases("{n} file", "{n} files", number)) == text
        template = (
            f"{{% set n = {number} %}}{{% trans n %}}{{{{ n }}}} file{{% pluralize %}}{{{{ n }}}} files{{% endtrans %}}"
        )
        assert of_template(template, words) == text, number
        assert of_script(f"const n = {number}; _n(n, `${{n}} file`, `${{n}} files`)", words) == text


def of_template(source: str, words: Catalogue) -> str:
    """What a template gives in a language."""
    theme = replace(load_theme(None), templates={"gone.html": source}, words=words)
    page = GonePage(site=SITE, path="a/index.html", root="../", title="", id="")
    return Renderer(theme, str).render(page).decode().strip()


def of_script(source: str, words: Catalogue) -> str:
    """What a script gives in a language."""
    script = f"process.stdout.write(String(eval({translate_script(source, words)!r})))"
    return subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True).stdout


def test_scripts_say_their_words_in_the_language(tmp_path: Path) -> None:
    """As literals of the same kind; phrases say their values, and what is missing stays in English."""
    words = read_catalogue(
        'msgid "Copy"\nmsgstr "\\"Kopie\\""\n\nmsgid "Built {day}"\nmsgstr "`${day}` {day}\\\\ gebaut"\n', "de.po"
    )
    assert of_script('_("Copy")', words) == '"Kopie"'
    assert of_script("const day = 3; _(`Built ${day}`)", words) == "`$3` 3\\ gebaut"
    assert translate_script('a_("Copy"); b._("Copy"); _("Other")', words) == 'a_("Copy"); b._("Copy"); "Other"'
    words = read_catalogue('msgid "{one} to <b>{other}</b>"\nmsgstr "an <b>{other}</b>: {one}"\n', "de.po")
    source = "{% trans one='<1>', other='&' %}{{ one }} to <b>{{ other }}</b>{% endtrans %}"
    assert of_template(source, words) == "an <b>&amp;</b>: &lt;1&gt;"
    assert of_template(source, ENGLISH) == "&lt;1&gt; to <b>&amp;</b>"
    words = read_catalogue(
        'msgid "1,234"\nmsgstr "1.234"\n\nmsgid "{number:,} of {what}"\nmsgstr "von {what}: {number:,}"\n\n'
        'msgid "memos"\nmsgstr "Memos"\n',
        "my.po",
    )
    whole = phrase("{number:,} of {what}", number=12_000, what=phrase("memos"))
    assert whole == "12,000 of memos"
    assert words.translated((whole, "memos")) == ("von Memos: 12.000", "memos")
    assert ENGLISH.translated(whole) is whole
    words = read_catalogue(
        '#, fuzzy\nmsgid "a"\nmsgstr "x"\n\nmsgid "b"\nmsgstr ""\n\nmsgid "c"\nmsgstr "z"\n', "my.po"
    )
    assert [words.text(text) for text in "abc"] == ["a", "b", "z"]
    write_text(tmp_path / "languages/de.po", 'msgid "Search"\nmsgstr "Finden"\n')
    theme = load_theme(tmp_path, "de")
    assert (theme.words.text("Search"), theme.words.text("Actions")) == ("Finden", "Aufgaben")
    assert theme.digest != load_theme(None, "de").digest != load_theme(None).digest
