"""The console of a stack: a shell to everybody, pages by a token that a script sends, made from calls of the API."""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.site import CLAUDE, KEY, Site, check, drop
from recollect.entrypoints.console.elsewhere import ConsoleElsewhere
from recollect.entrypoints.console.visit import FETCHED
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.credentials import token_credentials
from recollect.entrypoints.http.messages import Call
from recollect.settings import Settings


@contextmanager
def gateway(site: Site) -> Iterator[str]:
    """An HTTP API before the function: it knows one token, and refuses pages without it as AWS's does."""
    log = AccessLog("ERROR", io.StringIO(), "shell")
    console = ConsoleElsewhere(token_credentials(Settings.from_environment({})), log)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            known = self.headers.get("authorization") == f"Bearer {KEY}"
            if parts.path.startswith(f"{FETCHED}/") and not known:
                self._send(401, {"Content-Type": "application/json"}, b'{"message":"Unauthorized"}')
                return
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            call = Call(
                method=self.command,
                path=unquote(parts.path),
                query=parse_qsl(parts.query, keep_blank_values=True),
                headers={name.lower(): value for name, value in self.headers.items()},
                body=body,
                claims={"tenant": "acme", "scope": "recollect/admin"} if known else None,
                request_id="one",
            )
            answer = console.answer(call, site.url)
            content = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
            self._send(answer.status, dict(answer.headers), content)

        do_POST = do_GET

        def _send(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def shell(browser: Browser, site: Site) -> Iterator[Page]:
    with gateway(site) as url, browser.new_context(base_url=url, accept_downloads=True) as context:
        yield context.new_page()


def test_operations_there_show_how_far_a_job_has_come(shell: Page, site: Site) -> None:
    job = site.hold(5, 10)
    shell.goto("/console/operations")
    shell.get_by_label("Token").fill(KEY)
    shell.get_by_role("button", name="Sign in").click()
    bar = shell.get_by_role("progressbar", name="Progress of restore")
    expect(bar).to_have_js_property("value", 0.5)
    site.hold(10, 10, job)
    expect(bar).to_have_count(0, timeout=30_000)


def test_a_token_opens_the_pages_and_everything_works_there(shell: Page, site: Site) -> None:
    memory = site.remember("ulla", "Ulla lives in Lund")
    shell.goto("/console/users/ulla")
    check(shell)
    shell.get_by_label("Token").fill(KEY)
    shell.get_by_role("button", name="Sign in").click()
    shell.get_by_role("link", name="Ulla lives in Lund").click()
    expect(shell).to_have_url(f"{shell.url.partition('/console')[0]}/console/users/ulla/memories/{memory}")
    shell.get_by_role("link", name="Edit").click()
    shell.get_by_label("What is remembered").fill("Ulla lives in Malmö")
    shell.get_by_role("button", name="Save").click()
    expect(shell.get_by_role("status")).to_contain_text("The memory is changed")
    assert site.get(f"/v1/users/ulla/memories/{memory}")["content"] == "Ulla lives in Malmö"
    check(shell)
    shell.reload()
    expect(shell.get_by_role("heading", name="A memory")).to_be_visible()
    shell.go_back()
    expect(shell.get_by_role("heading", name="Edit a memory")).to_be_visible()
    shell.get_by_role("link", name="Import, export, erase").click()
    with shell.expect_download() as download:
        shell.get_by_role("link", name="Download").click()
    assert "Malmö" in download.value.path().read_text("utf-8")
    drop(shell, "conversations.json", CLAUDE)
    expect(shell.get_by_role("region", name="What it is")).to_contain_text("an export of Claude: 2 messages")
    shell.get_by_role("button", name="Import them").click()
    expect(shell.get_by_role("status")).to_contain_text("It is done: 2 are new")
    shell.get_by_role("button", name="Sign out").click()
    expect(shell.get_by_label("Token")).to_be_visible()


def test_what_is_too_long_to_be_sent_back_stays_in_its_form_there(shell: Page, site: Site) -> None:
    site.remember("vera", "Vera lives in Riga")
    shell.goto("/console/users/vera/new")
    shell.get_by_label("Token").fill(KEY)
    shell.get_by_role("button", name="Sign in").click()
    field = shell.get_by_label("What should be remembered")
    field.fill("& " * 60_000)
    shell.get_by_role("button", name="Save").click()
    expect(shell.get_by_role("alert")).to_contain_text("Make it shorter")
    expect(shell).to_have_title("Write a memory down · Recollect")
    assert len(field.input_value()) == 120_000


def test_an_unknown_token_leads_back_to_the_door(shell: Page, site: Site) -> None:
    site.remember("vera", "Vera lives in Riga")
    shell.goto("/console/users/vera")
    assert "Riga" not in shell.content()
    shell.get_by_label("Token").fill("another")
    shell.get_by_role("button", name="Sign in").click()
    expect(shell.get_by_label("Token")).to_have_value("")
    assert "Riga" not in shell.content()
    assert shell.evaluate("sessionStorage.getItem('recollect-token')") is None
