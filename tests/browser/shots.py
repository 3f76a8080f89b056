"""Take pictures of pages. `make screenshots` takes those of the documentation; a folder as argument takes all."""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pausepoint.http.headers import security_headers
from tests.browser.gallery import PAGES
from tests.support.chromium import chromium, prefer, resize
from tests.support.pages import PAGE_TYPE, Asked, Sent, served

if TYPE_CHECKING:
    from selenium import webdriver

DOCS: Final = Path(__file__).parents[2] / "docs/img"
PHONE: Final = 390
NARROW: Final = 320
DESKTOP: Final = 1100
PICTURES: Final = {
    "approval": ("pending", PHONE, "light"),
    "pending": ("pending-nested", DESKTOP, "light"),
    "in-doubt": ("in-doubt", PHONE, "light"),
    "done": ("done", PHONE, "light"),
    "dark": ("pending", PHONE, "dark"),
    "phone": ("pending-hostile", NARROW, "light"),
}
"""The pictures of the documentation: a page, the width of the window in CSS pixels, a colour scheme."""


def answer(asked: Asked) -> Sent:
    """Serve the gallery's pages by name, with the headers that they have in production."""
    make = PAGES.get(asked.target.strip("/").partition("?")[0])
    headers = {**security_headers(), "Content-Type": PAGE_TYPE}
    return Sent(200, headers, make()) if make else Sent(404, headers, "")


def take(browser: webdriver.Chrome, address: str, width: int, scheme: str) -> bytes:
    """Return a picture of a whole page as PNG."""
    prefer(browser, scheme)
    resize(browser, width, 800)
    browser.get(address)
    size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": width, "height": min(size["height"], 6000), "scale": 1.5 if width <= PHONE else 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    return base64.b64decode(shot["data"])


def main(folder: Path | None = None) -> None:
    """Take the documentation's pictures, or every page at two widths and in both schemes into a folder."""
    everything = {
        f"{name}-{width}-{scheme}": (name, width, scheme)
        for name in PAGES
        for width in (NARROW, DESKTOP)
        for scheme in ("light", "dark")
    }
    target = folder or DOCS
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as profile, served(answer) as server, chromium(Path(profile)) as browser:
        for file, (page, width, scheme) in (everything if folder else PICTURES).items():
            (target / f"{file}.png").write_bytes(take(browser, f"{server.url}/{page}", width, scheme))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
