"""Whose console it is: keys and cookies, other tenants and users, forms of other sites, texts that would be markup."""

import io
import re

import pytest

from entrypoints.console.visiting import FORM, Visitor, one_memory, visible
from entrypoints.http.calling import ORIGIN, Caller, Laptop
from recollect.app import App
from recollect.entrypoints.console.endpoint import Console
from recollect.entrypoints.http.access_log import AccessLog
from recollect.entrypoints.http.messages import Call
from recollect.settings import Principal

ANNA = "/console/users/anna"
TOKEN = re.compile(r'name="form_token" value="([^"]*)"')


def memory_of(laptop: Laptop, key: str, content: str) -> str:
    answer = Caller(laptop).post("/v1/memories", {"user_id": "anna", "content": content}, authorization=f"Bearer {key}")
    return str(answer.json["id"])


def signed_in(laptop: Laptop, key: str) -> Visitor:
    visitor = Visitor(laptop)
    visitor.get("/console")
    assert visitor.post("/console/sign-in", key=key).status == 303
    return visitor


def test_a_stranger_sees_the_door_alone(guarded: Laptop) -> None:
    memory = memory_of(guarded, "key-a", "I live in Lyon")
    for path in ("/console", ANNA, f"{ANNA}/memories/{memory}", "/console/nowhere"):
        shown = Visitor(guarded, headers={"authorization": "Bearer key-x"}).get(path)
        assert (shown.status, "Sign in" in visible(shown)) == (401, True)
        assert "Lyon" not in shown.text


def test_an_unknown_key_opens_nothing(guarded: Laptop) -> None:
    visitor = Visitor(guarded)
    visitor.get("/console")
    refused = visitor.post("/console/sign-in", key="key-x")
    assert (refused.status, "The key is unknown" in visible(refused)) == (401, True)
    assert visitor.get("/console").status == 401


def test_who_signs_in_sees_their_tenant_until_they_sign_out(guarded: Laptop) -> None:
    memory_of(guarded, "key-a", "I live in Lyon")
    visitor = signed_in(guarded, "key-a")
    assert "I live in Lyon" in visible(visitor.get(ANNA))
    assert visitor.post("/console/sign-out").status == 303
    assert visitor.get(ANNA).status == 401


def test_the_cookie_is_for_no_script_and_no_other_site(guarded: Laptop) -> None:
    visitor = Visitor(guarded)
    visitor.get("/console")
    cookie = visitor.post("/console/sign-in", key="key-a").headers["set-cookie"]
    assert cookie.partition("; ")[2] == "Path=/console; HttpOnly; SameSite=Strict"
    assert "key-a" not in cookie
    secure = Visitor(guarded, headers={"x-forwarded-proto": "https"}).get("/console").headers["set-cookie"]
    assert secure.endswith("; Secure")


def test_another_tenants_objects_are_absent(guarded: Laptop) -> None:
    memory = memory_of(guarded, "key-a", "I live in Lyon")
    visitor = signed_in(guarded, "key-b")
    assert "anna" not in visible(visitor.get("/console"))
    assert "Nothing is remembered here" in visible(visitor.get(ANNA))
    for path in ("", "/edit", "/forget", "/undo/1"):
        assert visitor.get(f"{ANNA}/memories/{memory}{path}").status == 404
    assert visitor.post(f"{ANNA}/memories/{memory}/forget", version="1").status == 404
    assert visitor.post(f"{ANNA}/memories/{memory}/edit", version="1", content="mine").status == 404
    other = memory_of(guarded, "key-b", "I live in Bonn")
    assert visitor.get(f"{ANNA}/merge?memory={memory}&memory={other}").status == 404
    chosen = {"memory_0": other, "memory_1": memory, "version_0": "1", "version_1": "1", "words": memory}
    assert visitor.post(f"{ANNA}/merge", **chosen).status == 404
    assert Caller(guarded).get(f"/v1/users/anna/memories/{memory}", None, authorization="Bearer key-a").status == 200


def test_another_user_is_absent_for_who_speaks_for_one(app: App, caller: Caller) -> None:
    memory = one_memory(caller, "I live in Lyon")

    def console(subject: str) -> Console:
        principal = Principal("local", subject=subject, limited_to_subject=True)
        return Console.over(app, lambda _call: principal, AccessLog("INFO", io.StringIO(), "console"))

    bert, anna = console("bert"), console("anna")
    assert bert.answer(Call(method="GET", path="/console")).headers["Location"] == "/console/users/bert"
    for path in (ANNA, f"{ANNA}/timeline", f"{ANNA}/memories/{memory}", f"{ANNA}/decisions", f"{ANNA}/import"):
        assert bert.answer(Call(method="GET", path=path)).status == 404
        assert anna.answer(Call(method="GET", path=path)).status == 200


def test_a_form_of_another_browser_or_another_site_changes_nothing(caller: Caller, laptop: Laptop) -> None:
    memory = one_memory(caller, "I live in Lyon")
    path = f"{ANNA}/memories/{memory}/forget"
    victim, other = Visitor(laptop), Visitor(laptop)
    own, foreign = (TOKEN.findall(one.get(path).text)[0] for one in (victim, other))
    headers = {"cookie": victim.cookie, "content-type": FORM, "host": "localhost:8700", "origin": ORIGIN}

    def sent(token: str, **changed: str) -> int:
        return laptop.send("POST", path, f"form_token={token}&version=1".encode(), {**headers, **changed}).status

    refused = [
        sent(foreign),
        sent(""),
        sent(own, origin="http://evil.example"),
        sent(own, **{"sec-fetch-site": "cross-site"}),
        sent(own, cookie=""),
        sent(own, cookie=other.cookie),
    ]
    assert refused == [403] * 6
    assert caller.get(f"/v1/users/anna/memories/{memory}").status == 200
    assert sent(own) == 303


def test_nothing_is_changed_by_opening_a_page(caller: Caller, visitor: Visitor) -> None:
    memory = one_memory(caller, "I live in Lyon")
    for path in (f"{ANNA}/memories/{memory}/forget?version=1", f"{ANNA}/erase", f"{ANNA}/memories/{memory}/undo/1"):
        visitor.get(path)
    assert caller.get(f"/v1/users/anna/memories/{memory}").json["version"] == 1


@pytest.mark.parametrize(
    ("content", "escaped"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;"),
        ('"><img src=x onerror=alert(1)>', "&lt;img"),
        ("{{ 7*7 }}", "{{ 7*7 }}"),
        ("</textarea><b>x", "&lt;/textarea&gt;"),
    ],
)
def test_what_was_said_is_text_on_every_page(caller: Caller, visitor: Visitor, content: str, escaped: str) -> None:
    memory = one_memory(caller, content)
    (event,) = caller.added(content)
    pages = [
        ANNA,
        f"{ANNA}/memories/{memory}",
        f"{ANNA}/memories/{memory}/edit",
        f"{ANNA}/memories/{memory}/forget",
        f"{ANNA}/timeline",
        f"{ANNA}/events/{event}",
    ]
    for path in pages:
        shown = visitor.get(path).text
        assert escaped in shown, path
        assert "<script>alert" not in shown
        assert "<img" not in shown


def test_controls_of_direction_are_named_and_texts_stand_by_themselves(caller: Caller, visitor: Visitor) -> None:
    one_memory(caller, "invoice\u202etxt.exe")
    shown = visitor.get(ANNA).text
    assert "\u202e" not in shown
    assert '<bdi dir="auto">invoice<span class="control" title="A control of direction">U+202E</span>' in shown


def test_pages_may_load_nothing_from_elsewhere(visitor: Visitor) -> None:
    shown = visitor.get("/console")
    policy = shown.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert shown.headers["cache-control"] == "no-store"
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", shown.text)
    assert not re.findall(r" (?:style|on[a-z]+)=", shown.text)


def test_htmx_is_the_pinned_file(visitor: Visitor) -> None:
    """htmx.org 2.0.11 from npm, 0BSD; docs/dependencies.md names the hash."""
    import hashlib
    from importlib.resources import files

    script = files("recollect.entrypoints.console") / "static" / "htmx.min.js"
    digest = hashlib.sha256(script.read_bytes()).hexdigest()
    assert digest == "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
    assert visitor.get("/console/static/htmx.min.js").status == 200
    assert visitor.get("/console/static/../endpoint.py").status == 404
