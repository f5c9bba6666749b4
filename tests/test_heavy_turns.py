"""Turns whose HTML takes many times the bytes of their text: a page has all of them, and stays under 1 MB (SPEC 4)."""

from pathlib import Path
from typing import Any

import pytest
from lxml import html

from memosite.render.renderer import PAGE_BYTES
from tests.support.memos import write_transcript
from tests.support.sites import build_site

NAME = "2026-05-01-1430--engineer--heavy"
HEAVY = {"list": "- a\n" * 55_000, "paragraphs": "a & b\n\n" * 30_000}


@pytest.mark.parametrize("speaker", ["User", "Assistant"])
@pytest.mark.parametrize("kind", HEAVY)
def test_a_heavy_turn_leaves_all_turns_on_their_page(kind: str, speaker: str, tmp_path: Path) -> None:
    """With their anchors and citations; what is heaviest is shown as written, the rest as always."""
    turns = [f"## {speaker}\n\n{text}\n" for text in ("So it *begins*.", HEAVY[kind], "- so\n- it\n- ends", "Yes.")]
    write_transcript(tmp_path / "quay/transcripts/engineer", NAME, text="\n".join(turns))
    output = build_site(tmp_path / "quay")
    written = (output / "transcripts" / NAME / "index.html").read_bytes()
    assert len(written) < PAGE_BYTES + 100_000
    page: Any = html.fromstring(written.decode())
    assert page.xpath("//section[contains(@class, 'turn')]/@id") == ["t1", "t2", "t3", "t4"]
    assert len(page.xpath("//section/*[contains(@class, 'cite')]//*[@class='check']")) == 4
    shown = "".join(page.xpath("//section[@id='t2']/div")[0].itertext())
    assert sum(map(str.isalnum, shown)) >= sum(map(str.isalnum, HEAVY[kind]))
    is_typed = speaker == "User"
    assert len(page.xpath("//*[@id='t3']//@id[starts-with(., 't3-p-')]")) == 3
    assert len(page.xpath("//*[@id='t1']//em")) == (0 if is_typed else 1)
