"""The file `llms.txt` of the site: every page with its first sentence, by tab, for programs that read documentation."""

from __future__ import annotations

import re

from website.navigation import ROOT, settings, tabs

FILE = ROOT / "docs" / "llms.txt"
BLOCK = re.compile(r"^---\n.*?\n---\n|^```.*?^```|<!--.*?-->", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
SENTENCE = re.compile(r".+?[.?!](?=\s|$)")


def first_sentence(page: str) -> str:
    """The first sentence of a page's prose, without markup for links; empty if the page has no prose."""
    for paragraph in re.split(r"\n\s*\n", BLOCK.sub("", page)):
        prose = " ".join(paragraph.split())
        if prose and not prose.startswith(("#", "|", "- ", "![", ">", "!!!")):
            plain = LINK.sub(r"\1", prose)
            sentence = SENTENCE.match(plain)
            return sentence[0] if sentence else plain.rstrip(":")
    return ""


def text() -> str:
    """The content of the file."""
    site = settings()
    lines = [f"# {site['site_name']}", "", f"> {site['site_description']}"]
    for tab, pages in tabs().items():
        lines += ["", f"## {tab}", ""]
        for title, file in pages:
            sentence = first_sentence((ROOT / "docs" / file).read_text("utf-8"))
            lines.append(f"- [{title}]({file.removesuffix('.md')}.html)" + (f": {sentence}" if sentence else ""))
    return "\n".join(lines) + "\n"
