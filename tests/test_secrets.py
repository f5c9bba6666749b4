"""Secrets in texts: which are found, and where; what is none; and that it takes time linear in the length of a text."""

import base64
import hashlib
import html
import json
import os
import random
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise, product
from string import ascii_letters, digits
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.organization import artifacts
from memosite import secrets
from memosite.facts.patterns import regex
from memosite.run.workers import run
from memosite.secrets import DIGEST, engine, find_secrets
from tests.support.planted_secrets import (
    FORMS,
    HASHES,
    KINDS,
    PLACES,
    Maker,
    Place,
    Planted,
    is_covered,
    of_form,
    plant,
)
from tests.support.soaking import most

NEXT_LINES = (
    "aws_secret_access_key = x", "DB_HOST=x", "HOST=x", 'DB_HOST="x y"', "db_host: example", "db_host=example",
    "export DB_HOST=x", "client.secret.file: x.json", "userName: ann", "aws_keys:",
)  # fmt: skip


def redact(text: str, found: Sequence[engine.Match] | None = None) -> str:
    """The text with what is found replaced, as the gate does it."""
    for one in reversed(find_secrets(text) if found is None else found):
        text = f"{text[: one.start]}[REDACTED:{one.rule}]{text[one.end :]}"
    return text


@pytest.mark.parametrize("seed", most([309], in_soak=[*range(10), 309]))
def test_every_kind_is_found_in_every_place_that_can_hold_it(seed: int) -> None:
    """And nothing of the key remains once what is found is replaced."""
    pairs = list(plant(seed))
    missed = [f"{kind}, {place}" for kind, place, one in pairs if isinstance(one, Place) and not is_covered(one)]
    assert missed == []
    assert len(KINDS) >= 40 and len(pairs) == len(KINDS) * len(PLACES)


@pytest.mark.parametrize("seed", most([1], in_soak=[*range(20)]))
def test_keys_of_many_vendors_and_hashes_are_found_by_their_form_alone(seed: int) -> None:
    """Also bare, and where a memo or a transcript has them; hashes are not broken over lines."""
    places = ("memo text", "code fence", "tool output", "JSON in JSON", "base64 in a text", "split, \\n in JSON")
    for vendor, form in {**FORMS, **HASHES}.items():
        key = of_form(form, Maker(seed))
        assert redact(f"It is\n{key}\nfor now.").count(key[8:-4]) == 0, (vendor, key)
        missed = [
            place
            for place in places[: -1 if vendor in HASHES else None]
            if not is_covered(PLACES[place](Planted(key=key)))
        ]
        assert missed == [], (vendor, key)


def test_the_place_is_that_of_the_secret_itself_and_the_next_line_stays_whole() -> None:
    """Not of its name, nor of words around it; in files that assign names, quoted, within JSON."""
    for kind in KINDS:
        planted = KINDS[kind](Maker(7))
        text = f"The key is {planted.written()} and we use it.\n"
        (found,) = find_secrets(text)
        # a webhook's is its address
        assert text[found.start : found.end] in {planted.key, planted.before + planted.key}
        assert found.rule in engine.read_rules()
        assigned = KINDS[kind](Maker(5)).written()
        for indent, line in product(("", "  ", "> ", "# "), NEXT_LINES):
            text = f"{indent}{assigned}\n{indent}{line}\n"
            places = find_secrets(text)
            assert max(one.end for one in places) <= len(text) - len(line) - len(indent) - 2, line
            assert redact(text, places).endswith(f"\n{indent}{line}\n")
    first, second = (KINDS[kind](Maker(5)).key for kind in ("AWS access key id", "AWS secret access key"))
    text = f"[default]\naws_access_key_id = {first}\naws_secret_access_key = {second}\nDB_HOST=x\n"
    expected = "[default]\naws_access_key_id = *\naws_secret_access_key = *\nDB_HOST=x\n"
    for written, left in ((text, expected), (json.dumps({"body": text}), json.dumps({"body": expected}))):
        assert re.sub(r"\[REDACTED:[a-z0-9-]+\]", "*", redact(written)) == left


def test_rules_have_stable_names_and_two_keys_are_two_secrets() -> None:
    """Kebab-case; the digest tells when results have to be found again. What overlaps is one, of its own kind."""
    assert engine.read_rules()["aws-access-key-id"] == "AWS access key id"
    assert engine.read_rules()["github-app-token"] == "Github app token" and len(engine.read_rules()) > 400
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule) and name for rule, name in engine.read_rules().items())
    assert re.fullmatch(r"[0-9a-f]{24}-\d+", DIGEST)
    assert engine.ENCODED not in engine.read_rules()
    first, second = (KINDS[kind](Maker(1)).key for kind in ("npm token", "GitHub token, classic"))
    text = f"{first} {second}"
    assert [text[one.start : one.end] for one in find_secrets(text)] == [first, second]
    assert [one.rule for one in find_secrets(f"TOKEN={second}")] == ["github-pat"]


PASSWORD = "dTm9G2" + "Ww66Y19I"
AWS_SECRET = "Zq3/" + "8sLkVbN1xWc7RtYp0GhJ" + "+2mDfEaUoIiQw5Tz"
AROUND = (
    "+TOKEN={key}", "<password>{key}</password>", "password = &quot;{key}&quot;", "--password {key}",
    "The password is {key}.", "machine example.org login bob password {key}", "IDENTIFIED BY '{key}'",
    'PASSWORD: str = "{key}"', '{{"password": "{key}"}}', '"{{\\"password\\": \\"{key}\\"}}"', "X-Api-Key: {key}",
    "Server=db;User Id=sa;Password={key};", 'password = "k9#{key}!x&y"', "| secret | {key} |",
)  # fmt: skip
BESIDE = (
    "env:\n- name: DB_PASSWORD\n  value: {key}\n", "- name: api-key\n  value: '{key}'\n- name: x\n  value: y",
    '- name: "db.password"\r\n  value: "{key}"\r\n', '<add key="Password" value="{key}"/>',
    '{{"name": "DB_TOKEN", "value": "{key}"}}', '{{\n  "name": "DB_TOKEN",\n  "value": "{key}"\n}}',
    "> - name: DB_PASSWORD\n>   value: {key}\n", "+- name: SIGNING_KEY\n+  value: {key}\n",
    "  9→- name: DB_PASSWORD\n 10→  value: {key}\n", '{{"body": "- name: DB_SECRET\\n  value: {key}\\n-"}}',
    '{{"body": "{{\\"name\\": \\"DB_SECRET\\", \\"value\\": \\"{key}\\"}}"}}',
    "smtp://bob@example.org:{key}@mail.example.org",
    "smtps://bob@mail.example.org@relay:{key}@mail.example.org", "> password,user\n> {key},bob",
    "user,password\nbob,{key}\n", "Name;Login;Passwort\r\nBob;bob;{key}", "email,token,age\nbob@example.org,{key},41",
    '"username","db password"\n"bob","{key}"\n\nIt is ours, yes.', "login\tpassword\tnote\nbob\t{key}\tmine\n",
    "| user | password |\n|---|---|\n| bob | `{key}` |\n",
    ".example.org\tTRUE\t/\tFALSE\t1790000000\tsid\t{key}\n", "htpasswd -nbB bob {key}", "mysql -u root -p{key} memos",
    "openssl enc -d -pass pass:{key} -in x", "redis-cli -h db -a '{key}' ping",
)  # fmt: skip
AGAIN = (
    (PASSWORD, "DB_PASSWORD={key}\n\nPsql asks: type {key} at the prompt, or `{key}`, or “{key}”."),
    (PASSWORD, "I typed {key}.\n\nThe password is {key}.\nThen {key}!"),
    (PASSWORD, '{{"body": "password: {key}\\n\\n```\\n{key}\\n```\\tand %20{key}"}}'),
    (PASSWORD, "```\n> {key}\n```\n| secret | {key} |\n|---|---|\n| bob:{key} | **{key}** |"),
    (PASSWORD, "password={key}\nthen \x1b[31m{key}\x1b[0m and postgres://bob:{key}@db"),
    (AWS_SECRET, "aws_secret_access_key = {key}\n\n$ echo $AWS\n{key}\n"),
    ("/" + AWS_SECRET[1:], "aws_secret_access_key = {key}\n\nIt is {key}, yes."),
    ("k9#" + PASSWORD + "!x", 'password = "{key}"\n\nIt is {key}.'),
)
AFTER_AN_ID = (
    "{id}:{key}", "{id} {key}", "{id}\t{key}", "AWS_ID={id}, {key}.", '["{id}", "{key}"]', "| {id} | {key} |",
    "Access key ID,Secret access key\r\n{id},{key}\r\n", "`{id}` / `{key}`", "stored at vault/{id}/{key} now",
    "User Name,Access key ID,Secret access key\nbob,{id},{key}\n", '{{"body": "vault\\n{id}:{key}\\nend"}}',
)  # fmt: skip


def _decimal(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9\s]", lambda one: f"&#{ord(one[0])};", text)


def _hexadecimal(text: str) -> str:
    return "".join(f"&#x{ord(one):02X};" for one in text)


def test_every_kind_is_found_in_entities_in_colours_in_paths_and_behind_digests() -> None:
    """As a fetched page or a terminal has it: before, after and inside of a key; whatever somebody calls it."""
    encoders: tuple[Callable[[str], str], ...] = (html.escape, _decimal, _hexadecimal)
    for kind in KINDS:
        planted = KINDS[kind](Maker(6))
        for encode in encoders:
            for text in (
                planted.written(),
                json.dumps({planted.name or "value": planted.written().removeprefix(f"{planted.name}=")}),
            ):
                left = html.unescape(redact(f"The page has <td>{encode(text)}</td> in it."))
                assert planted.key not in left
                assert json.dumps(planted.key)[1:-1] not in left or planted.key not in text
            named = json.dumps({planted.name: planted.key})
            assert not planted.name or planted.key not in html.unescape(redact(encode(named)))
        for escape in ["\x1b", "\\x1b", "\\u001b", "\\\\u001b", "\\033", "\\e"]:
            on, off, middle = f"{escape}[1;33m", f"{escape}[0m", len(planted.key) // 2
            coloured = f"{on}{planted.key}{off}"
            for written in (coloured, f"{planted.key[:middle]}{escape}[m{escape}[K{planted.key[middle:]}"):
                name = f"{escape}[32m{planted.name}{off}=" if planted.name else ""
                left = redact(f"$ env\n{name}{planted.before}{written}{planted.after}\nHOME=x")
                assert planted.key not in re.sub(re.escape(escape) + r"\[[0-9;]*[mK]", "", left)
                assert left.endswith("\nHOME=x")
    run = "7QMyMP6bWJVyWAXUoNJ7A1B2C3D4E5F6G7H8" + "Q9zRkWx2"
    digests = ("sha256: {key}", "sha256:{key}", "md5={key}", "sha512-{key}", "SHA1 {key}")
    paths = ("vault/{key}/one", "/{key}/", "https://s3.example.org/x/{run}/{key}?x=1", "a/{run}/{key}")
    tokens = ("GitHub token, classic", "Slack bot token", "npm token", "JSON web token")
    ids = ("AWS access key id", "AWS temporary key id", "Twilio key", "GitHub token, classic")
    for kind, text in (*product(tokens, digests), *product(ids, paths)):
        key = KINDS[kind](Maker(4)).key
        assert key not in redact(f"see {text.format(key=key, run=run)} for it"), (kind, text)


def test_passwords_are_found_by_what_is_around_them_and_then_wherever_they_stand() -> None:
    """Its name beside it, or an id of AWS; what a tool prints again is found, a word or a part is not."""
    for text in [*AROUND, *BESIDE]:
        written = text.format(key=PASSWORD)
        assert PASSWORD not in redact(written)
        if text in BESIDE:
            (found,) = find_secrets(written)
            assert written[found.start : found.end] == PASSWORD
    for key, text in AGAIN:
        written = text.format(key=key)
        assert key not in redact(written) and key.strip("/") not in redact(written)
        assert len(find_secrets(written)) == written.count(key)
        assert len({one.rule for one in find_secrets(written)}) <= 2
    for text in AFTER_AN_ID:
        name = KINDS["AWS access key id"](Maker(4)).key
        for key in (AWS_SECRET, AWS_SECRET.replace("/", "k").replace("+", "L")):
            left = redact(text.format(id=name, key=key))
            assert name not in left and key not in left
            assert "[REDACTED:aws-secret-access-key]" in left
    for text, count in [
        ("postgres://app:director@db.example.org and the director said so", 1),
        ("postgres://app:Quarterly-Report@db.example.org and the Quarterly-Report", 1),
        ("https://bob:k2Jw9x@example.org, k2Jw9x", 1),
        (f"password={PASSWORD}, x{PASSWORD}, {PASSWORD}x, {PASSWORD.lower()}, {PASSWORD[:-1]}", 1),
    ]:
        assert len(find_secrets(text)) == count


def test_a_text_in_a_string_in_a_string_is_read_as_it_is_alone() -> None:
    """JSON within JSON, as tools hand it on, doubles backslashes each time; whatever the rule, however deep."""
    written = [(text.format(key=PASSWORD), PASSWORD) for text in (*AROUND, *BESIDE)]
    name = KINDS["AWS access key id"](Maker(4)).key
    written += [(text.format(id=name, key=AWS_SECRET), AWS_SECRET) for text in AFTER_AN_ID]
    for kind in KINDS:
        planted = KINDS[kind](Maker(11))
        key = re.split(r"\\n|\n", planted.key)[-2 if "\n" in planted.key or "\\n" in planted.key else 0]
        named = json.dumps({planted.name or "value": planted.before + planted.key + planted.after})
        written += [(planted.written(), key), (named, key)]
    for text, key in written:
        nested = text
        for depth in range(7):
            assert key not in redact(nested), (depth, text)
            nested = json.dumps({"result": nested} if depth % 2 else [nested])


def test_values_are_looked_for_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: of a word of the text, only those are compared that begin like it."""
    compared = 0

    def count(text: str, core: str, at: int) -> bool:
        nonlocal compared
        compared += 1
        return text.startswith(core, at)

    monkeypatch.setattr(secrets, "_is_whole", count)
    seeded = random.Random(1)
    words = ["".join(seeded.choices(ascii_letters + digits, k=11)) + "7a" for _ in range(900)]
    text = "\n".join((*(f"ftp://ann:{word}@files.example" for word in words), *words * 20))
    found = [engine.Match("generic-x", place.start(1), place.end(1)) for place in re.finditer(r"ann:(\w+)@", text)]
    assert len(list(secrets.find_repeats(text, found))) == 900 * 21
    assert compared <= 900 * 21 * 1.1


def _digests() -> Iterator[str]:
    chance = random.Random(3)
    for _ in range(20):
        data = chance.randbytes(40)
        sha1, sha256, sha512 = (getattr(hashlib, name)(data).hexdigest() for name in ("sha1", "sha256", "sha512"))
        yield from (sha1, sha256, sha512, f"sha256:{sha256}", f"commit {sha1}", f"tree {sha1}\nparent {sha1}")
        yield from (f"index {sha1[:10]}..{sha1[20:30]} 100644", f"secret.txt: sha256={sha256}")
        yield f"- uses: actions/checkout@{sha1} # v4"
        yield f"image: registry.example.org/memos@sha256:{sha256}"
        yield f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"'
        yield f"token.py,sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},120"
        yield f"session_id: {uuid.UUID(bytes=data[:16])}"
        yield f'{{"sessionId": "{uuid.UUID(bytes=data[:16])}", "uuid": "{uuid.UUID(bytes=data[16:32])}"}}'
        yield f"![](data:image/png;base64,{base64.b64encode(chance.randbytes(3000)).decode()})"
        yield f"![](data:image/png;base64,{base64.b64encode(bytes(900) + chance.randbytes(900)).decode()})"
        yield f"{sha256}  a.tar.gz\n{sha1}  b.tar.gz\n"


HARMLESS = (
    "2026-05-01T09:00:00Z and 2026-05-01-0900",
    "2026-05-01-0900--ledger-validator--harbour-strategist--secret-gate.openthing",
    "transcripts/2026-05-01-token-budget/part-2.transcript",
    "urn:memo:acme/engineer:2026-05-01-0900--engineer--director--api-key-rotation",
    "The password is in the vault; the token is expired; the secret is safe with us.",
    "Ask for the API key: the director has it. Token: see the vault. password: required",
    "password = get_password(user)\ntoken = response.json()['token']\nsecret: Optional[str] = None",
    "api_key=os.environ['API_KEY'], password=settings.DB_PASSWORD, token=${TOKEN}, secret=$(cat secret)",
    "TOKEN=${{ secrets.GITHUB_TOKEN }}\nPASSWORD={{ vault_password }}\nSECRET=%(secret)s\nKEY=$API_KEY",
    "api_key: YOUR_API_KEY, password=changeme, token: <token>, secret=xxxxxxxxxxxx, password: ****************",
    "AKIA" + "IOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY are in Amazon's documentation.",
    "sk-" + "x" * 48 + ", ghp_" + "x" * 36 + ", xoxb-your-token-here",
    "[REDACTED:aws-access-key-id] password = [REDACTED:generic-assignment] https://u:[REDACTED:x]@example.org",
    "https://user:password@example.org and postgres://postgres:postgres@localhost/memos",
    "-----BEGIN PRIVATE KEY----- stands at its beginning, -----END PRIVATE KEY----- at its end. " * 3,
    "-----BEGIN PUBLIC KEY-----\nMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk3mQ8vQ0bV5s7r4a9cW2yX1n6h8j0kLmPqRsTuVwXy ann@example.org",
    "max_tokens=100000, token_count: 12345678, next_page_token, csrf_token, tokens: 8000000",
    "const TOKEN_TYPE = 'K8S_VOLUME_TYPE'; secret = utf8_to_utf16; token = AUTH0_TOKEN",
    "- name: DB_PASSWORD\n  value: /run/secrets/db-password\n- name: TOKEN\n  value: required",
    "- name: DB_PASSWORD\n  valueFrom: {secretKeyRef: {name: x9Kq2LmZ7w, key: p4Vr8TnB1y}}\n",
    "- name: TOKEN_URL\n  value: a9Xk2LmZ7wQ\n- name: DB_PASSWORD\n  value: $(DB_PASSWORD)\n",
    "https://example.org/@ann:2026/x@y and ssh://git@example.org:22/x@y and https://example.org:8080/@ann",
    "| token | meaning |\n|---|---|\n| secret | description-of-it |",
    "https://example.org/2026/05/01/how-to-store-a-password-in-a-vault?utm_source=token-letter#secret",
    "basic authentication, bearer of bad news, authorization: required-by-the-director",
    "The quick brown fox; dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw== is base64 of prose.",
    "Cookie: theme=dark; consent=accepted-by-everybody; SameSite=Strict; sid=$SESSION; other=${{OTHER}}",
    "docker run -p 8080:80 -p 127.0.0.1:9090:90 registry.example.org/memos:2026-05-01; docker login -p $PASSWORD",
    "| user | password | token |\n|---|---|---|\n| ann | in the vault | expired-by-then |\n| bob | required | --blue |",
    "We asked for user, password, and host, of which\nnobody, somebody1, and the director knew.",
    "user,password\nann,<password>\nbob,$PASSWORD\neve,********\n",
    "secret,\n\ntoken,\npassword,x\n,,,\n\n",
    "memosite/secrets.py:1234:note:unused-argument:see-the-manual and localhost:8080:web:static:/srv/files",
    '{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"}',
    "In awk, $1 and $2 are fields, $6 the last; {{SHA}} and {SHA} are names; $2y$ begins a hash of bcrypt.",
    "E" + "AAAA" * 30 + " | " + "deadbeef" * 8,
)


def test_what_only_looks_like_a_secret_is_none() -> None:
    """Digests, ids, pinned actions, images, dates, names, placeholders, documented examples, prose; generated memos."""
    for text in (*HARMLESS, *_digests(), *map(repr, islice(artifacts(300, seed=1), 300))):
        assert [(text[one.start : one.end], one.rule) for one in find_secrets(text)] == [], text


PIECES = st.sampled_from(
    [kind(Maker(2)).written() for kind in KINDS.values()]
    + ["\n", "\\n", "\\", " ", "=", '"', "\\u0041", "%41", "%2", "/", ":", "@", ".", "é", "\0", "\ud800", "password="]
    + ["-----BEGIN PRIVATE KEY-----", "[REDACTED:x]", "https://a:", "QUtJQQ==", "xoxb-", "a" * 40, "Zm9vYmFy" * 5]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join))
def test_any_text_has_places_in_order_and_none_are_left_once_they_are_replaced(text: str) -> None:
    """Whatever the text, also one that is no text."""
    found = find_secrets(text)
    places = [place for one in found for place in (one.start, one.end)]
    assert places == sorted(places)
    assert all(0 <= one.start < one.end <= len(text) for one in found) and find_secrets(redact(text)) == ()


HOSTILE = (
    "a", "AKIA", "password=", 'password = "x" ', "a\\/", "%41", "\\u0041", "\\", "\\n0a", "a1\n", "\n", "%", "QUFB",
    "-----BEGIN RSA PRIVATE KEY-----\n", "https://a:b", "curl -H ", "ghp_", "QUtJ\n", "a.", "=", "\\\n1", "aaaaaaaaa/",
    "&#65;", "&quot;", "a&#65;\n1", "&", "\x1b[0m", "\x1b[", "\\u001b[0m",
    '"".join(["a","', '["a","b"].join("")', "<th>password</th>", "<table><tr><th>user<th>password</tr>", "<td>",
    "a,password\n", "user,password\na,b\n", "Cookie: a=b;", "curl -b a=", '\\\\"', "\\\\\\n0a",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_text_twice_as_long_is_twice_the_work(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in characters that are matched; the engine itself has linear time by its construction."""
    counts = []
    for length in (100_000, 200_000):
        matched = 0

        def count(data: bytes) -> Iterator[engine.Match]:
            nonlocal matched
            matched += len(data)
            return engine.match_rules(data)

        monkeypatch.setattr(secrets, "match_rules", count)
        find_secrets(unit * (length // len(unit)))
        counts.append(matched)
    assert counts[1] <= 2.2 * counts[0] and counts[1] <= 200_000 * 2 * (secrets.DEPTH + 1) * 1.5


def test_the_rest_of_a_text_of_very_many_secrets_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a text would take minutes, and nobody reads thousands of findings. Nothing of the rest is published."""
    matched = 0

    def count(data: bytes) -> Iterator[engine.Match]:
        nonlocal matched
        for one in engine.match_rules(data):
            matched += 1
            yield one

    monkeypatch.setattr(secrets, "match_rules", count)
    seeded = random.Random(1)
    words = ["".join(seeded.choices(ascii_letters + digits, k=12)) for _ in range(9000)]
    text = "\n".join(f"ftp://ann:{word}@files.example" for word in words)
    found = find_secrets(text)
    assert (found[-1].rule, found[-1].end) == (engine.MANY, len(text))
    assert matched < 3 * secrets.MOST
    left = text[: found[0].start] + "".join(text[a.end : b.start] for a, b in pairwise(found))
    assert not any(word in left for word in words)
    assert engine.read_rules()[engine.MANY]


def test_the_engine_matches_no_more_than_a_window_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a window, its time was seen to grow faster than the text."""
    lengths = []

    def record(window: bytes) -> Iterator[engine.Match]:
        lengths.append(len(window))
        return iter(())

    monkeypatch.setattr(engine, "_match_window", record)
    assert list(engine.match_rules(b"password=" * 100_000)) == [] and max(lengths) == engine.WINDOW
    assert sum(lengths) <= 1.4 * 900_000


@pytest.mark.parametrize("kind", ["AWS access key id", "Mailgun key", "RSA private key"])
@pytest.mark.parametrize("edge", [engine.WINDOW, engine.WINDOW - engine.OVERLAP])
def test_keys_at_the_edge_of_a_window_are_found_whole(kind: str, edge: int) -> None:
    """Nothing is cut, and nothing is found twice; a digest is not cut into halves, which have the length of keys."""
    key = KINDS[kind](Maker(3)).key
    for before in range(edge - len(key) - 300, edge + 300, most(51, in_soak=17)):
        text = " " * before + key + " " * 70_000
        assert [(one.start, one.end) for one in find_secrets(text)] == [(before, before + len(key))]
    for before in range(edge - 80, edge + 10, most(6, in_soak=2)):
        digest = hashlib.sha256(bytes(before)).hexdigest()
        assert find_secrets("twilio and mailgun " + " " * (before - 19) + digest + " " * 70_000) == ()


def _giving_back(tree: Any) -> Iterator[str]:
    """The repetitions without a small bound in a parsed pattern that can give back what they took."""
    for operation, argument in tree:
        if str(operation) == "ATOMIC_GROUP":  # its last repetition gives nothing back
            *before, (_, last) = argument
            is_last = str(argument[-1][0]) == "MAX_REPEAT"
            yield from _giving_back([*before, *last[2]] if is_last else argument)
            continue
        if str(operation) in {"MAX_REPEAT", "MIN_REPEAT"} and argument[1] > 100:
            yield f"{operation} {argument}"
        parts = argument if isinstance(argument, tuple | list) else [argument]
        for part in parts:
            for inner in part if isinstance(part, list) else [part]:
                if type(inner).__name__ == "SubPattern":
                    yield from _giving_back(inner)


def test_no_pattern_of_ours_can_backtrack_far() -> None:
    """Kingfisher's engine cannot; Python's can, unless repetitions are bounded or give nothing back."""
    from re import _parser  # type: ignore[attr-defined]

    values = [value for one in vars(secrets).values() for value in (one if isinstance(one, tuple) else [one])]
    patterns = [value for value in values if isinstance(value, re.Pattern | type(regex("")))]
    assert len(patterns) > 30
    for pattern in patterns:
        assert list(_giving_back(_parser.parse(pattern.pattern))) == [], pattern.pattern
    assert list(_giving_back(_parser.parse(r"(?:a|b+)*c")))  # the check can fail
    assert list(_giving_back(_parser.parse(r"x(?:[ab]+|d)")))
    assert not list(_giving_back(_parser.parse(r"x(?:[ab]++|d{0,3})*+")))


def test_rules_are_loaded_beside_other_work_and_an_error_for_who_scans_if_they_cannot_be() -> None:
    """Not before a text is scanned; who scans meanwhile waits; no thread is left after it, so that one may fork."""
    key = KINDS["npm token"](Maker(1)).key
    program = f"""
import sys, threading
from memosite.secrets import find_secrets
from memosite.secrets.engine import loading_rules
assert "kingfisher_sdk" not in sys.modules
with loading_rules(), loading_rules():
    assert threading.active_count() > 1
    [found] = find_secrets({key!r})
assert found.rule == "npm-access-token"
assert threading.active_count() == 1
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    program = """
import sys
from memosite.secrets import find_secrets
from memosite.secrets.engine import loading_rules
sys.modules["kingfisher_sdk"] = None
with loading_rules():
    pass
try:
    find_secrets("text")
except ImportError:
    print("told")
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("told\n", "")


def test_a_secret_that_two_rules_find_has_the_same_name_in_every_process() -> None:
    """The order of sets, which differs from process to process, decides nothing."""
    key = Maker(4).uuid()
    text = f'"NextToken": "{key}"\n\nThen use `--next-token {key}`, or {key}.\n'
    program = f"from memosite.secrets import find_secrets; print(find_secrets({text!r}))"
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1


def test_secrets_are_found_in_forked_processes() -> None:
    """Rules that are loaded before the processes are forked are theirs, too."""
    keys = [KINDS["npm token"](Maker(seed)).key for seed in range(4)]
    assert find_secrets(keys[0])
    expected = [(engine.Match(rule="npm-access-token", start=0, end=40),)] * 4
    assert list(run(find_secrets, keys, jobs=2, weight=lambda _: 10**9)) == expected
