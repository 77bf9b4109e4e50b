"""What pages show of devices and servers is run, with the devices that they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.compare import compare
from tests.docs.pages import PAGES, alone, blocks_of, name_of
from tests.docs.run import Session

SHOWN = [page for page in PAGES if any(block.servers for block in blocks_of(page)) and not alone(page)]


@pytest.mark.parametrize("page", SHOWN, ids=name_of)
@pytest.mark.covers("pages:servers")
def test_page_says_what_happens(page: Path, tmp_path: Path) -> None:
    compare(page, Session.begin(tmp_path, page), False, servers=True)
