"""Reads single values of memosite.yml that have a form of their own: addresses, ids, languages."""

import datetime as dt
import re
from urllib.parse import urlsplit

from memosite.config.schema import ConfigEntry, quote

BASE_URL_FORM = "an absolute http or https address without user, ? and #, such as https://archive.example.org/"
_WEB_FORM = "an http or https address with {path} in it, such as https://git.example.org/repo/blob/{ref}/{path}"

_ADDRESS_CHARACTERS = re.compile(r"[\w.~:/?#\[\]@!$&'()*+,;=%-]+", re.ASCII)


def _is_web_address(text: str) -> bool:
    if not _ADDRESS_CHARACTERS.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc and port_is_fine


def normalize_base_url(text: str) -> str | None:
    """The address with `/` at its end, None if it cannot be one (RFC 3986)."""
    if not _is_web_address(text) or "?" in text or "#" in text:
        return None
    return text if text.endswith("/") else text + "/"


def read_base_url(entry: ConfigEntry) -> str:
    """The address of the published site, with `/` at its end."""
    text = entry.text(BASE_URL_FORM)
    address = normalize_base_url(text)
    if address is None:
        raise entry.error(quote(text), BASE_URL_FORM)
    return address


def read_archive_id(entry: ConfigEntry) -> str:
    """The name of the archive in every id of a feed: characters that a tag URI may hold (RFC 4151)."""
    text = entry.text("an id")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", text):
        raise entry.error(quote(text), "at most 100 letters (A to Z), digits, . _ and -")
    return text


_DNS_NAME = r"[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*"
_AUTHORITY = re.compile(rf"(?:[a-z0-9._-]+@)?{_DNS_NAME},(\d{{4}})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)


def read_authority(entry: ConfigEntry) -> str:
    """The tagging entity of RFC 4151, in lower case: whose domain or address it is, and a date on which it was."""
    text = entry.text("an authority")
    match = _AUTHORITY.fullmatch(text) if len(text) <= 200 else None
    try:
        if match is not None and dt.date(int(match[1]), int(match[2] or 1), int(match[3] or 1)):
            return text
    except ValueError:
        pass
    advice = "write it in lower case" if _AUTHORITY.fullmatch(text.lower()[:200]) and text != text.lower() else ""
    raise entry.error(quote(text), 'a domain and a date, in lower case, such as "example.org,2026"', advice)


def read_language(entry: ConfigEntry) -> str:
    """The language of the site's texts; only the form is checked (BCP 47)."""
    text = entry.text("a language")
    if not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,8}", text):
        raise entry.error(quote(text), "a language tag (BCP 47) such as en or pt-BR")
    return text


def read_web(entry: ConfigEntry) -> str:
    """The address at which a source's files can be seen."""
    text = entry.text(_WEB_FORM)
    plain = text.replace("{ref}", "ref").replace("{path}", "path")
    host = [*text.split("/", 3), "", "", ""][2]
    if "{path}" not in text or "{" in host or not _is_web_address(plain):
        raise entry.error(quote(text), _WEB_FORM)
    return text
