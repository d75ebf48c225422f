"""A real Chromium before the real server: one browser and one server process for all tests of this folder.

Where Chromium is missing they are left out; with RECOLLECT_REQUIRE_ENGINES=1 they fail. RECOLLECT_SCREENSHOTS=1 writes
the pictures of the pages anew.
"""

import os
import shutil
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from browser.driving import Driven
from browser.site import KEY, KEYS, Site, sign_in
from entrypoints.cli.running import Home, serving

CHROMIUM = "chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Without those of networking it asks for Google's hosts at every start."""
WIDE, NARROW = {"width": 1100, "height": 800}, {"width": 360, "height": 740}
MILLISECONDS = 30_000
REFUSED = ("401 (Unauthorized)", "404 (Not Found)", "422", "429", "503", "htmx:afterRequest", "htmx:sendAbort")
"""What Chromium says of a page that was refused as it should be, and htmx of a request that a newer one replaces."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = shutil.which(CHROMIUM)
    if path is None:
        if os.environ.get("RECOLLECT_REQUIRE_ENGINES") == "1":
            pytest.fail("Chromium is required here and is not installed", pytrace=False)
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with the keys of two tenants."""
    home = Home(tmp_path_factory.mktemp("console"))
    with (
        serving(home.environment(RECOLLECT_API_KEYS=KEYS)) as (address, _),
        httpx.Client(base_url=f"http://{address}", headers={"authorization": f"Bearer {KEY}"}, timeout=30) as api,
    ):
        yield Site(f"http://{address}", api, home)


@pytest.fixture(params=["wide", "narrow"])
def sized(request: pytest.FixtureRequest, browser: Browser, site: Site) -> Iterator[Page]:
    """A page on a desk by day, and one on a phone by night."""
    narrow = request.param == "narrow"
    yield from _page(request, browser, site, narrow=narrow)


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Browser, site: Site) -> Iterator[Page]:
    """A page of somebody who has signed in."""
    yield from _page(request, browser, site, narrow=False)


@pytest.fixture
def phone(request: pytest.FixtureRequest, browser: Browser, site: Site) -> Iterator[Page]:
    """The same on a phone by night."""
    yield from _page(request, browser, site, narrow=True)


def _page(request: pytest.FixtureRequest, browser: Browser, site: Site, *, narrow: bool) -> Iterator[Page]:
    with browser.new_context(
        base_url=site.url,
        viewport=NARROW if narrow else WIDE,  # type: ignore[arg-type] # a mapping of ours
        color_scheme="dark" if narrow else "light",
        accept_downloads=True,
    ) as context:
        context.set_default_timeout(MILLISECONDS)
        sign_in(context, site)
        driven = Driven(context)
        page = context.new_page()
        faults: list[str] = []
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        yield page
        driven.check(request.node)
        assert [one for one in faults if not any(code in one for code in REFUSED)] == []
