"""Lists that go on: each link leads to what follows, nothing is shown twice, and nothing is left out.

Those of jobs and of a context's lines are walked beside the rest of theirs (`test_tenant`, `test_asking`).
"""

import re
from collections.abc import Callable
from html import unescape

import pytest

from entrypoints.console.visiting import Visitor
from entrypoints.http.calling import Caller

_MOST_PAGES = 12


def walked(visitor: Visitor, path: str, found: str, link: str = "") -> list[list[str]]:
    """What each page has of a pattern, as far as the links lead that have `link` in their address."""
    pages: list[list[str]] = []
    for _ in range(_MOST_PAGES):
        shown = visitor.get(path)
        assert shown.status == 200, shown.text
        pages.append(re.findall(found, shown.text))
        following = re.findall(rf'rel="next" href="([^"]*{link}[^"]*)"', shown.text)
        if not following:
            return pages
        path = unescape(following[0])
    raise AssertionError(f"more than {_MOST_PAGES} pages")


def users(caller: Caller) -> None:
    for n in range(103):
        caller.added("I sail", user=f"user-{n}")
    caller.post("/v1/jobs/reconcile?wait=true", {})


def rejections(caller: Caller) -> None:
    for one in caller.added(*(f"I own boat {n}" for n in range(53))):
        assert caller.delete(f"/v1/users/anna/events/{one}?reject=true").status == 204


@pytest.mark.parametrize(
    ("fill", "path", "found", "sizes"),
    [
        (users, "/console", r'href="/console/users/(user-\d+)"', [100, 3]),
        (rejections, "/console/users/anna/data", r'action="/console/users/anna/rejections/([^"]+)"', [50, 3]),
    ],
    ids=["users", "rejections"],
)
def test_a_list_is_walked_to_its_end(
    caller: Caller, visitor: Visitor, fill: Callable[[Caller], None], path: str, found: str, sizes: list[int]
) -> None:
    fill(caller)
    pages = walked(visitor, path, found)
    assert [len(page) for page in pages] == sizes
    assert len({one for page in pages for one in page}) == sum(sizes)


def test_all_that_was_left_out_of_a_context_is_walked(caller: Caller, visitor: Visitor) -> None:
    caller.put("/v1/rules", {"context": {"total": 50, "recent": 5, "important": 2}}, if_match="*")
    for start in (0, 60):
        caller.added(*(f"boat number {n} sails" for n in range(start, start + 60)))
    asked = {"user_id": "anna", "input": "Which boat sails?", "explain": True, "web_search": "never"}
    left = caller.post("/v1/context", asked).json["diagnostics"]["left_out"]
    assert len(left) > 50, "a page has fifty"
    pages = walked(visitor, "/console/users/anna/ask?q=Which+boat+sails%3F", r'/records/([^"]+)"', "out=")
    assert len(pages) == 2
    assert {one["id"] for one in left} <= {one for page in pages for one in page}
